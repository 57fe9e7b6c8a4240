// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* CREATE_ID and DESTROY_ID. */
#include "ucma.h"
#include "states.h"

const struct row id_rows[] = {
	{"create: TCP", "ucma_create_id", 0, NOTHING,
	 "create A tcp\n"
	 "query_addr A\n"},
	{"create: UDP", "ucma_create_id", 0, NOTHING,
	 "create A udp\n"
	 "query_addr A\n"},
	{"create: IPoIB", "ucma_create_id", 0, NOTHING,
	 "create A ipoib\n"},
	{"create: IB with RC", "ucma_get_qp_type: qp_type is the caller's", 0, NOTHING,
	 "create A ib qp_type=2\n"},
	{"create: IB with UD", "ucma_get_qp_type", 0, NOTHING,
	 "create A ib qp_type=4\n"},
	{"create: IB with UC", "ucma_get_qp_type", 0, NOTHING,
	 "create A ib qp_type=3\n"},
	{"create: IB with XRC_INI", "ucma_get_qp_type", 0, NOTHING,
	 "create A ib qp_type=9\n"},
	{"create: IB with QP type 255", "ucma_get_qp_type: it is not looked at", 0, NOTHING,
	 "create A ib qp_type=255\n"},
	{"create: TCP with QP type UD", "ucma_get_qp_type: qp_type is for IB alone", 0, NOTHING,
	 "create A tcp qp_type=4\n"},
	{"create: port space 0", "ucma_get_qp_type", 0, NOTHING,
	 "create A 0\n"},
	{"create: port space 1", "ucma_get_qp_type", 0, NOTHING,
	 "create A 1\n"},
	{"create: port space SDP", "ucma_get_qp_type: SDP is the kernel's own", 0, NOTHING,
	 "create A ps=0x0001\n"},
	{"create: port space 0x0100", "ucma_get_qp_type", 0, NOTHING,
	 "create A 0x100\n"},
	{"create: port space 0xffff", "ucma_get_qp_type", 0, NOTHING,
	 "create A 0xffff\n"},
	{"create: reserved bytes", "ucma_create_id does not look at them", 0, NOTHING,
	 "create A tcp reserved=255\n"},
	{"create: uid 0", "ucma_create_id", 0, NOTHING,
	 "create A tcp uid=0\n"},
	{"create: uid of all ones", "ucma_create_id", 0, NOTHING,
	 "create A tcp uid=0xffffffffffffffff\n"},
	{"create: an answer of 3 bytes", "ucma_create_id: out_len", 0, NOTHING,
	 "create A out=3\n"},
	{"create: an answer of no bytes", "ucma_create_id: out_len", 0, NOTHING,
	 "create A out=0\n"},
	{"create: room for a longer answer", "ucma_create_id writes 4 bytes", 0, NOTHING,
	 "create A out=64\n"},
	{"create: no room and a bad port space", "ucma_create_id: out_len comes first", 0, NOTHING,
	 "create A 1 out=0\n"},
	{"create: a bad answer's address", "ucma_create_id: copy_to_user()", 0, NOTHING,
	 "create A response=nowhere\n"
	 "create A\n"
	 "query_addr A\n"},
	{"create: a read-only answer", "ucma_create_id: copy_to_user()", 0, NOTHING,
	 "create A response=rdonly\n"},
	{"create: a kernel address for the answer", "ucma_create_id: copy_to_user()", 0, NOTHING,
	 "create A response=kernel\n"},
	{"create: a bad port space and a bad answer", "ucma_get_qp_type comes first", 0, NOTHING,
	 "create A 1 response=nowhere\n"},
	{"create: twice on a file", "ucma_alloc_ctx", 0, NOTHING,
	 "create A\n"
	 "create B udp\n"
	 "destroy A\n"
	 "destroy B\n"},
	{"destroy: a new id", "ucma_destroy_id", 0, IDLE,
	 "destroy A\n"},
	{"destroy: twice", "_ucma_find_context", 0, IDLE,
	 "destroy A\n"
	 "destroy A\n"},
	{"destroy: no such id", "_ucma_find_context: ENOENT", 0, NOTHING,
	 "destroy 77\n"},
	{"destroy: id 0xffffffff", "_ucma_find_context: ENOENT", 0, NOTHING,
	 "destroy 0xffffffff\n"},
	{"destroy: the id of another file", "_ucma_find_context: EINVAL", 0, IDLE,
	 "destroy@2 A\n"
	 "destroy A\n"},
	{"destroy: a reserved word", "ucma_destroy_id does not look at it", 0, IDLE,
	 "destroy A reserved=5\n"},
	{"destroy: an answer of 3 bytes", "ucma_destroy_id: out_len", 0, IDLE,
	 "destroy A out=3\n"
	 "destroy A\n"},
	{"destroy: room for a longer answer", "ucma_destroy_id writes 4 bytes", 0, IDLE,
	 "destroy A out=64\n"},
	{"destroy: a bad answer's address", "ucma_destroy_id: the id is gone all the same", 0, IDLE,
	 "destroy A response=nowhere\n"
	 "destroy A\n"},
	{"destroy: a short command", "copy_from_user()", 0, IDLE,
	 "destroy A cut=16 in=8\n"},
	{"destroy: no room, no id", "ucma_destroy_id: out_len comes first", 0, NOTHING,
	 "destroy 77 out=0\n"},
	{"destroy: a bound id", "ucma_destroy_id", 0, BOUND,
	 "destroy A\n"
	 "create B\n"
	 "bind B me:p1\n"},
	{"destroy: one event was read", "ucma_get_event: events_reported", 0, RESOLVED,
	 "destroy A\n"},
	{"destroy: two events were read", "ucma_get_event: events_reported", 0, ROUTED,
	 "destroy A\n"},
	{"destroy: an unread event goes with the id", "ucma_cleanup_ctx_events", 0, IDLE,
	 "resolve A me:p1\n"
	 "wait\n"
	 "destroy A\n"
	 "poll\n"},
	{"destroy: a listener", "ucma_destroy_id", 0, LISTENING,
	 "destroy A\n"},
	{"destroy: while the address is looked up", "cma_cancel_operation: rdma_addr_cancel", 0, IDLE,
	 "resolve A neighbour:p1 timeout_ms=60000\n"
	 "destroy A\n"
	 "poll\n"},
	{"destroy: an id that sent a request", "cm_destroy_id: REJ timeout to the server", 0, CONNECTING,
	 "destroy A\n"
	 "get@2\n"},
	{"destroy: a request that was read", "cm_destroy_id: REJ consumer", 0, CONNECTING,
	 "destroy S\n"
	 "get\n"},
	{"destroy: an id with an answer", "cm_destroy_id: REJ consumer", 0, ANSWERED,
	 "destroy A\n"
	 "get@2\n"},
	{"destroy: an established id", "cm_destroy_id: DREQ", 0, CONNECTED,
	 "destroy A\n"
	 "get@2\n"
	 "destroy S\n"},
	{"destroy: the server's established id", "cm_destroy_id: DREQ", 0, CONNECTED,
	 "destroy S\n"
	 "get\n"
	 "destroy A\n"},
	{"destroy: a listener with a connection", "ids of accepted requests live on", 0, CONNECTED,
	 "destroy L\n"
	 "disconnect A\n"
	 "get@2\n"},
	{"destroy: a listener with a request that was read", "its id is the program's", 0, CONNECTING,
	 "destroy L\n"
	 "accept S qp_num=0x22\n"
	 "get\n"},
	{"destroy: a listener with a request that was not read", "ucma_cleanup_ctx_events", 0, SERVER ROUTED,
	 "connect A\n"
	 "wait@2\n"
	 "destroy L\n"
	 "get\n"},
	{"destroy: after both have left", "cm_destroy_id: timewait", 0, DISCONNECTED,
	 "destroy A\n"
	 "destroy S\n"},
	{"close: the file of a client that waits", "ucma_close", 0, CONNECTING,
	 "close\n"
	 "get@2\n"},
	{"close: the file of a server that has a request", "ucma_close", 0, CONNECTING,
	 "close@2\n"
	 "get\n"},
	{"close: the file of an established client", "ucma_close", 0, CONNECTED,
	 "close\n"
	 "get@2\n"},
	{"close: the file of an established server", "ucma_close", 0, CONNECTED,
	 "close@2\n"
	 "get\n"},
	{"close: the file of a server whose request was not read", "ucma_close", 0, SERVER ROUTED,
	 "connect A\n"
	 "wait@2\n"
	 "close@2\n"
	 "get\n"},
	{"close: while the address is looked up", "ucma_close", 0, IDLE,
	 "resolve A neighbour:p1 timeout_ms=60000\n"
	 "close\n"},
	{"close: the port is free", "cma_release_port", 0, LISTENING,
	 "close\n"
	 "create B\n"
	 "bind B me:p1\n"
	 "listen B\n"},
};
ROWS_END(id);
