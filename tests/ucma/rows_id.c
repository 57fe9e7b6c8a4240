// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* CREATE_ID and DESTROY_ID. */
#include "ucma.h"
#include "states.h"

const struct row id_rows[] = {
	{"create: TCP", "ucma_create_id", 0, NOTHING,
	 "create A tcp -> 0\n"
	 "query_addr A -> 0 src=0:0 dst=0:0\n"},
	{"create: UDP", "ucma_create_id", 0, NOTHING,
	 "create A udp -> 0\n"
	 "query_addr A -> 0 src=0:0 dst=0:0\n"},
	{"create: IPoIB", "ucma_create_id", 0, NOTHING, "create A ipoib -> 0\n"},
	{"create: IB with RC", "ucma_get_qp_type: qp_type is the caller's", 0, NOTHING,
	 "create A ib qp_type=2 -> 0\n"},
	{"create: IB with UD", "ucma_get_qp_type", 0, NOTHING, "create A ib qp_type=4 -> 0\n"},
	{"create: IB with UC", "ucma_get_qp_type", 0, NOTHING, "create A ib qp_type=3 -> 0\n"},
	{"create: IB with XRC_INI", "ucma_get_qp_type", 0, NOTHING, "create A ib qp_type=9 -> 0\n"},
	{"create: IB with QP type 255", "ucma_get_qp_type: it is not looked at", 0, NOTHING,
	 "create A ib qp_type=255 -> 0\n"},
	{"create: TCP with QP type UD", "ucma_get_qp_type: qp_type is for IB alone", 0, NOTHING,
	 "create A tcp qp_type=4 -> 0\n"},
	{"create: port space 0", "ucma_get_qp_type", 0, NOTHING, "create A 0 -> EINVAL\n"},
	{"create: port space 1", "ucma_get_qp_type", 0, NOTHING, "create A 1 -> EINVAL\n"},
	{"create: port space SDP", "ucma_get_qp_type: SDP is the kernel's own", 0, NOTHING,
	 "create A ps=0x0001 -> EINVAL\n"},
	{"create: port space 0x0100", "ucma_get_qp_type", 0, NOTHING, "create A 0x100 -> EINVAL\n"},
	{"create: port space 0xffff", "ucma_get_qp_type", 0, NOTHING,
	 "create A 0xffff -> EINVAL\n"},
	{"create: reserved bytes", "ucma_create_id does not look at them", 0, NOTHING,
	 "create A tcp reserved=255 -> 0\n"},
	{"create: uid 0", "ucma_create_id", 0, NOTHING, "create A tcp uid=0 -> 0\n"},
	{"create: uid of all ones", "ucma_create_id", 0, NOTHING,
	 "create A tcp uid=0xffffffffffffffff -> 0\n"},
	{"create: an answer of 3 bytes", "ucma_create_id: out_len", 0, NOTHING,
	 "create A out=3 -> ENOSPC\n"},
	{"create: an answer of no bytes", "ucma_create_id: out_len", 0, NOTHING,
	 "create A out=0 -> ENOSPC\n"},
	{"create: room for a longer answer", "ucma_create_id writes 4 bytes", 0, NOTHING,
	 "create A out=64 -> 0\n"},
	{"create: no room and a bad port space", "ucma_create_id: out_len comes first", 0, NOTHING,
	 "create A 1 out=0 -> ENOSPC\n"},
	{"create: a bad answer's address", "ucma_create_id: copy_to_user()", 0, NOTHING,
	 "create A response=nowhere -> EFAULT\n"
	 "create A -> 0\n"
	 "query_addr A -> 0 src=0:0 dst=0:0\n"},
	{"create: a read-only answer", "ucma_create_id: copy_to_user()", 0, NOTHING,
	 "create A response=rdonly -> EFAULT\n"},
	{"create: a kernel address for the answer", "ucma_create_id: copy_to_user()", 0, NOTHING,
	 "create A response=kernel -> EFAULT\n"},
	{"create: a bad port space and a bad answer", "ucma_get_qp_type comes first", 0, NOTHING,
	 "create A 1 response=nowhere -> EINVAL\n"},
	{"create: twice on a file", "ucma_alloc_ctx", 0, NOTHING,
	 "create A -> 0\n"
	 "create B udp -> 0\n"
	 "destroy A -> 0 reported=0\n"
	 "destroy B -> 0 reported=0\n"},
	{"destroy: a new id", "ucma_destroy_id", 0, IDLE, "destroy A -> 0 reported=0\n"},
	{"destroy: twice", "_ucma_find_context", 0, IDLE,
	 "destroy A -> 0 reported=0\n"
	 "destroy A -> ENOENT\n"},
	{"destroy: no such id", "_ucma_find_context: ENOENT", 0, NOTHING, "destroy 77 -> ENOENT\n"},
	{"destroy: id 0xffffffff", "_ucma_find_context: ENOENT", 0, NOTHING,
	 "destroy 0xffffffff -> ENOENT\n"},
	{"destroy: the id of another file", "_ucma_find_context: EINVAL", 0, IDLE,
	 "destroy@2 A -> EINVAL\n"
	 "destroy A -> 0 reported=0\n"},
	{"destroy: a reserved word", "ucma_destroy_id does not look at it", 0, IDLE,
	 "destroy A reserved=5 -> 0 reported=0\n"},
	{"destroy: an answer of 3 bytes", "ucma_destroy_id: out_len", 0, IDLE,
	 "destroy A out=3 -> ENOSPC\n"
	 "destroy A -> 0 reported=0\n"},
	{"destroy: room for a longer answer", "ucma_destroy_id writes 4 bytes", 0, IDLE,
	 "destroy A out=64 -> 0 reported=0\n"},
	{"destroy: a bad answer's address", "ucma_destroy_id: the id is gone all the same", 0, IDLE,
	 "destroy A response=nowhere -> EFAULT\n"
	 "destroy A -> ENOENT\n"},
	{"destroy: a short command", "copy_from_user()", 0, IDLE,
	 "destroy A cut=16 in=8 -> EFAULT\n"},
	{"destroy: no room, no id", "ucma_destroy_id: out_len comes first", 0, NOTHING,
	 "destroy 77 out=0 -> ENOSPC\n"},
	{"destroy: a bound id", "ucma_destroy_id", 0, BOUND,
	 "destroy A -> 0 reported=0\n"
	 "create B -> 0\n"
	 "bind B me:p1 -> 0\n"},
	{"destroy: one event was read", "ucma_get_event: events_reported", 0, RESOLVED,
	 "destroy A -> 0 reported=1\n"},
	{"destroy: two events were read", "ucma_get_event: events_reported", 0, ROUTED,
	 "destroy A -> 0 reported=2\n"},
	{"destroy: an unread event goes with the id", "ucma_cleanup_ctx_events", 0, IDLE,
	 "resolve A me:p1 -> 0\n"
	 "wait -> 0\n"
	 "destroy A -> 0 reported=0\n"
	 "poll -> -\n"},
	{"destroy: a listener", "ucma_destroy_id", 0, LISTENING, "destroy A -> 0 reported=0\n"},
	{"destroy: while the address is looked up", "cma_cancel_operation: rdma_addr_cancel", 0,
	 IDLE,
	 "resolve A neighbour:p1 timeout_ms=60000 -> 0\n"
	 "destroy A -> 0 reported=0\n"
	 "poll -> -\n"},
	{"destroy: an id that sent a request", "cm_destroy_id: REJ timeout to the server", 0,
	 CONNECTING,
	 "destroy A -> 0 reported=2\n"
	 "quiet@2 -> quiet\n"
	 "accept S -> EINVAL\n"},
	{"destroy: a request that was read", "cm_destroy_id: REJ consumer", 0, CONNECTING,
	 "destroy S -> 0 reported=0\n"
	 "get -> REJECTED A status=28 data=148:\n"},
	{"destroy: an id with an answer", "cm_destroy_id: REJ consumer", 0, ANSWERED,
	 "destroy A -> 0 reported=3\n"
	 "get@2 -> REJECTED S status=28 data=148:\n"},
	{"destroy: an established id", "cm_destroy_id: DREQ", 0, CONNECTED,
	 "destroy A -> 0 reported=3\n"
	 "get@2 -> DISCONNECTED S\n"
	 "destroy S -> 0 reported=2\n"},
	{"destroy: the server's established id", "cm_destroy_id: DREQ", 0, CONNECTED,
	 "destroy S -> 0 reported=1\n"
	 "get -> DISCONNECTED A\n"
	 "destroy A -> 0 reported=4\n"},
	{"destroy: a listener with a connection", "ids of accepted requests live on", 0, CONNECTED,
	 "destroy L -> 0 reported=1\n"
	 "disconnect A -> 0\n"
	 "get@2 -> DISCONNECTED S\n"},
	{"destroy: a listener with a request that was read", "its id is the program's", 0,
	 CONNECTING,
	 "destroy L -> 0 reported=1\n"
	 "accept S qp_num=0x22 -> 0\n"
	 "get -> CONNECT_RESPONSE A qpn=22 data=196: resources=1 depth=1 flow=1 rnr=7\n"},
	{"destroy: a listener with a request that was not read", "ucma_cleanup_ctx_events", 0,
	 SERVER ROUTED,
	 "connect A -> 0\n"
	 "wait@2 -> 0\n"
	 "destroy L -> 0 reported=0\n"
	 "get -> REJECTED A status=28 data=148:\n"},
	{"destroy: after both have left", "cm_destroy_id: timewait", 0, DISCONNECTED,
	 "destroy A -> 0 reported=4\n"
	 "destroy S -> 0 reported=2\n"},
	{"close: the file of a client that waits",
	 "ucma_event_handler: the request has no uid, so no event", 0, CONNECTING,
	 "close -> 0\n"
	 "quiet@2 -> quiet\n"},
	{"close: the file of a server that has a request", "ucma_close", 0, CONNECTING,
	 "close@2 -> 0\n"
	 "get -> REJECTED A status=28 data=148:\n"},
	{"close: the file of an established client", "ucma_close", 0, CONNECTED,
	 "close -> 0\n"
	 "get@2 -> DISCONNECTED S\n"},
	{"close: the file of an established server", "ucma_close", 0, CONNECTED,
	 "close@2 -> 0\n"
	 "get -> DISCONNECTED A\n"},
	{"close: the file of a server whose request was not read", "ucma_close", 0, SERVER ROUTED,
	 "connect A -> 0\n"
	 "wait@2 -> 0\n"
	 "close@2 -> 0\n"
	 "get -> REJECTED A status=28 data=148:\n"},
	{"close: the file of a server that has accepted",
	 "cm_destroy_id: MRA_REP_RCVD sends REJ; cm_rej_handler: MRA_REP_SENT", 0, ANSWERED,
	 "close@2 -> 0\n"
	 "get -> REJECTED A status=28 data=148:\n"
	 "accept A valid=0 -> EINVAL\n"},
	{"close: the file of a client that was accepted",
	 "cm_destroy_id: MRA_REP_SENT sends REJ; cm_rej_handler: MRA_REP_RCVD", 0, ANSWERED,
	 "close -> 0\n"
	 "get@2 -> REJECTED S status=28 data=148:\n"},
	{"close: the file of a client that has not read the answer",
	 "cm_destroy_id: MRA_REP_SENT sends REJ", 0, CONNECTING,
	 "accept S qp_num=0x22 -> 0\n"
	 "wait -> 0\n"
	 "close -> 0\n"
	 "get@2 -> REJECTED S status=28 data=148:\n"},
	{"close: the file of a server that was told to leave",
	 "cm_destroy_id: DREQ_RCVD sends DREP", 0, LEFT,
	 "close@2 -> 0\n"
	 "get -> DISCONNECTED A\n"},
	{"close: the file of a server that has not read that it is to leave",
	 "cm_destroy_id: DREQ_RCVD sends DREP", 0, CONNECTED,
	 "disconnect A -> 0\n"
	 "wait@2 -> 0\n"
	 "close@2 -> 0\n"
	 "get -> DISCONNECTED A\n"},
	{"close: the file of a client that has asked to leave", "cm_destroy_id: DREQ_SENT", 0, LEFT,
	 "close -> 0\n"
	 "disconnect S -> 0\n"
	 "quiet@2 -> quiet\n"
	 "destroy S -> 0 reported=2\n"},
	{"close: while the address is looked up", "ucma_close", 0, IDLE,
	 "resolve A neighbour:p1 timeout_ms=60000 -> 0\n"
	 "close -> 0\n"},
	{"close: the port is free", "cma_release_port", 0, LISTENING,
	 "close -> 0\n"
	 "create B -> 0\n"
	 "bind B me:p1 -> 0\n"
	 "listen B -> 0\n"},
};
ROWS_END(id);
