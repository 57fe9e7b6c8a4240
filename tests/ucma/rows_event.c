// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* GET_EVENT and poll. */
#include "ucma.h"
#include "states.h"

const struct row event_rows[] = {
	{"an event", "ucma_get_event", 0, IDLE,
	 "resolve A me:p1 -> 0\n"
	 "get -> ADDR_RESOLVED A\n"},
	{"no event, O_NONBLOCK", "ucma_get_event: EAGAIN", 0, NOTHING,
	 "nonblock -> 0\n"
	 "getnow -> EAGAIN\n"},
	{"an event, O_NONBLOCK", "ucma_get_event", 0, IDLE,
	 "nonblock -> 0\n"
	 "resolve A me:p1 -> 0\n"
	 "get -> ADDR_RESOLVED A\n"
	 "getnow -> EAGAIN\n"},
	{"poll before, with, after an event", "ucma_poll", 0, IDLE,
	 "poll -> -\n"
	 "resolve A me:p1 -> 0\n"
	 "wait -> 0\n"
	 "poll -> IN RDNORM\n"
	 "get -> ADDR_RESOLVED A\n"
	 "poll -> -\n"},
	{"a call that waits", "ucma_get_event: wait_event_interruptible()", 0, IDLE,
	 "getting -> 0\n"
	 "resolve A me:p1 -> 0\n"
	 "got -> ADDR_RESOLVED A\n"},
	{"a call that waits, and a signal", "ucma_get_event: ERESTARTSYS, without SA_RESTART", 0,
	 IDLE,
	 "getting -> 0\n"
	 "interrupt -> 0\n"
	 "got -> EINTR\n"},
	{"a call that waits while the id goes", "ucma_get_event: no event, no end", 0, IDLE,
	 "getting -> 0\n"
	 "destroy A -> 0 reported=0\n"
	 "quiet -> quiet\n"
	 "interrupt -> 0\n"
	 "got -> EINTR\n"},
	{"an answer of the older structure", "ucma_get_event: without reserved and ECE", 0, IDLE,
	 "resolve A me:p1 -> 0\n"
	 "get out=324 -> ADDR_RESOLVED A wrote=324\n"},
	{"an answer of the older structure, padded", "ucma_get_event: min_t()", 0, IDLE,
	 "resolve A me:p1 -> 0\n"
	 "get out=328 -> ADDR_RESOLVED A wrote=328\n"},
	{"an answer without half of the ECE", "ucma_get_event: min_t()", 0, IDLE,
	 "resolve A me:p1 -> 0\n"
	 "get out=332 -> ADDR_RESOLVED A wrote=332\n"},
	{"an answer that is too short", "ucma_get_event: ENOSPC, the event stays", 0, IDLE,
	 "resolve A me:p1 -> 0\n"
	 "get out=323 -> ENOSPC\n"
	 "get -> ADDR_RESOLVED A\n"},
	{"an answer of no bytes", "ucma_get_event: ENOSPC", 0, IDLE,
	 "resolve A me:p1 -> 0\n"
	 "get out=0 -> ENOSPC\n"},
	{"too short, no event, O_NONBLOCK", "ucma_get_event: the length comes first", 0, NOTHING,
	 "nonblock -> 0\n"
	 "getnow out=0 -> ENOSPC\n"},
	{"more room", "ucma_get_event: min_t()", 0, IDLE,
	 "resolve A me:p1 -> 0\n"
	 "get out=512 -> ADDR_RESOLVED A\n"},
	{"a bad answer's address", "ucma_get_event: the event stays", 0, IDLE,
	 "resolve A me:p1 -> 0\n"
	 "get response=nowhere -> EFAULT\n"
	 "poll -> IN RDNORM\n"
	 "get -> ADDR_RESOLVED A\n"
	 "destroy A -> 0 reported=1\n"},
	{"a bad answer's address, no event, O_NONBLOCK", "ucma_get_event: EAGAIN comes first", 0,
	 NOTHING,
	 "nonblock -> 0\n"
	 "getnow response=nowhere -> EAGAIN\n"},
	{"a short command", "copy_from_user()", 0, IDLE,
	 "resolve A me:p1 -> 0\n"
	 "get cut=12 in=4 -> EFAULT\n"
	 "get -> ADDR_RESOLVED A\n"},
	{"a short command, no event", "ucma_get_event: copy_from_user() before the wait", 0,
	 NOTHING, "getnow cut=12 in=4 -> EFAULT\n"},
	{"order of events of one id", "ucma_event_handler: list_add_tail()", 0, SERVER ROUTED,
	 "connect A -> 0\n"
	 "get@2 S -> CONNECT_REQUEST L id=S qpn=11 data=56: resources=1 depth=1 flow=1 retry=7 "
	 "rnr=7\n"
	 "accept S qp_num=0x22 -> 0\n"
	 "wait -> 0\n"
	 "reject S -> 0\n"
	 "get -> CONNECT_RESPONSE A qpn=22 data=196: resources=1 depth=1 flow=1 rnr=7\n"},
	{"order of events of two ids", "ucma_event_handler: one list for a file", 0, IDLE,
	 "create B -> 0\n"
	 "resolve A me:p1 -> 0\n"
	 "wait -> 0\n"
	 "resolve B me:p2 -> 0\n"
	 "get -> ADDR_RESOLVED A\n"
	 "get -> ADDR_RESOLVED B\n"},
	{"events of another file", "ucma_event_handler: ctx->file", 0, IDLE,
	 "create@2 B -> 0\n"
	 "resolve A me:p1 -> 0\n"
	 "resolve B me:p2 -> 0\n"
	 "get@2 -> ADDR_RESOLVED B\n"
	 "get -> ADDR_RESOLVED A\n"},
	{"a uid of 0 gets no events", "ucma_event_handler: ctx->uid", 0, NOTHING,
	 "create A tcp uid=0 -> 0\n"
	 "resolve A me:p1 -> 0\n"
	 "quiet -> quiet\n"
	 "route A -> 0\n"},
	{"a uid of all ones", "ucma_create_uevent: resp.uid", 0, NOTHING,
	 "create A tcp uid=0xffffffffffffffff -> 0\n"
	 "resolve A me:p1 -> 0\n"
	 "get -> ADDR_RESOLVED uid=ffffffffffffffff id=A\n"},
	{"requests of a listener without uid", "ucma_connect_event_handler: any uid", 0, NOTHING,
	 "create@2 L tcp uid=0 -> 0\n"
	 "bind L me:p1 -> 0\n"
	 "listen L -> 0\n"
	 "create A tcp -> 0\n"
	 "resolve A me:p1 -> 0\n"
	 "get -> ADDR_RESOLVED A\n"
	 "route A -> 0\n"
	 "get -> ROUTE_RESOLVED A\n"
	 "connect A -> 0\n"
	 "get@2 S -> CONNECT_REQUEST uid=0 id=S qpn=11 data=56: resources=1 depth=1 flow=1 retry=7 "
	 "rnr=7\n"},
	{"the backlog counts unread requests",
	 "ucma_connect_event_handler: atomic_add_unless(); ucma_get_event gives one back", 0,
	 NOTHING,
	 "create@2 L tcp -> 0\n"
	 "bind L me:p1 -> 0\n"
	 "listen L 1 -> 0\n"
	 "create A tcp -> 0\n"
	 "resolve A me:p1 -> 0\n"
	 "get -> ADDR_RESOLVED A\n"
	 "route A -> 0\n"
	 "get -> ROUTE_RESOLVED A\n"
	 "connect A -> 0\n"
	 "wait@2 -> 0\n"
	 "create@3 B tcp -> 0\n"
	 "resolve B me:p1 -> 0\n"
	 "get@3 -> ADDR_RESOLVED B\n"
	 "route B -> 0\n"
	 "get@3 -> ROUTE_RESOLVED B\n"
	 "connect B qp_num=0x12 -> 0\n"
	 "quiet@3 -> quiet\n"
	 "get@2 S -> CONNECT_REQUEST L id=S qpn=11 data=56: resources=1 depth=1 flow=1 retry=7 "
	 "rnr=7\n"
	 "poll@2 -> -\n"},
	{"a client that goes leaves its unread request, which fills the backlog",
	 "ucma_event_handler: a REJ to an id without uid; ucma_get_event", 0, NOTHING,
	 "create@2 L tcp -> 0\n"
	 "bind L me:p1 -> 0\n"
	 "listen L 1 -> 0\n"
	 "create A tcp -> 0\n"
	 "resolve A me:p1 -> 0\n"
	 "get -> ADDR_RESOLVED A\n"
	 "route A -> 0\n"
	 "get -> ROUTE_RESOLVED A\n"
	 "connect A -> 0\n"
	 "wait@2 -> 0\n"
	 "close -> 0\n"
	 "create@3 B tcp -> 0\n"
	 "resolve B me:p1 -> 0\n"
	 "get@3 -> ADDR_RESOLVED B\n"
	 "route B -> 0\n"
	 "get@3 -> ROUTE_RESOLVED B\n"
	 "connect B qp_num=0x12 -> 0\n"
	 "quiet@3 -> quiet\n"
	 "get@2 S -> CONNECT_REQUEST L id=S qpn=11 data=56: resources=1 depth=1 flow=1 retry=7 "
	 "rnr=7\n"
	 "accept S -> EINVAL\n"
	 "poll@2 -> -\n"},
	{"a client that is stopped keeps the server waiting", "cm_mra_handler: MRA_REP_RCVD", 0,
	 CONNECTING,
	 "accept S qp_num=0x22 -> 0\n"
	 "quiet@2 -> quiet\n"
	 "get -> CONNECT_RESPONSE A qpn=22 data=196: resources=1 depth=1 flow=1 rnr=7\n"
	 "quiet@2 -> quiet\n"
	 "accept A valid=0 -> 0\n"
	 "get@2 -> ESTABLISHED S\n"},
	{"a server that is stopped keeps the client waiting",
	 "cma_ib_handler: no DREP before its time", 0, CONNECTED,
	 "disconnect A -> 0\n"
	 "quiet -> quiet\n"
	 "get@2 -> DISCONNECTED S\n"
	 "quiet -> quiet\n"
	 "disconnect S -> 0\n"
	 "get -> DISCONNECTED A\n"},
	{"a request that found the backlog full is sent again",
	 "cm_destroy_id: ENOMEM resets to IDLE without REJ, the client's REQ is retried after 4 s",
	 SLOW, NOTHING,
	 "create@2 L tcp -> 0\n"
	 "bind L me:p1 -> 0\n"
	 "listen L 1 -> 0\n"
	 "create A tcp -> 0\n"
	 "resolve A me:p1 -> 0\n"
	 "get -> ADDR_RESOLVED A\n"
	 "route A -> 0\n"
	 "get -> ROUTE_RESOLVED A\n"
	 "connect A -> 0\n"
	 "wait@2 -> 0\n"
	 "create@3 B tcp -> 0\n"
	 "resolve B me:p1 -> 0\n"
	 "get@3 -> ADDR_RESOLVED B\n"
	 "route B -> 0\n"
	 "get@3 -> ROUTE_RESOLVED B\n"
	 "connect B qp_num=0x12 -> 0\n"
	 "quiet@3 -> quiet\n"
	 "get@2 S -> CONNECT_REQUEST L id=S qpn=11 data=56: resources=1 depth=1 flow=1 retry=7 "
	 "rnr=7\n"
	 "get@2 T -> CONNECT_REQUEST L id=T qpn=12 data=56: resources=1 depth=1 flow=1 retry=7 "
	 "rnr=7\n"
	 "accept T qp_num=0x33 -> 0\n"
	 "get@3 -> CONNECT_RESPONSE B qpn=33 data=196: resources=1 depth=1 flow=1 rnr=7\n"},
	{"events_reported of a listener",
	 "ucma_get_event counts for the listener, not for the new id", 0, CONNECTING,
	 "destroy L -> 0 reported=1\n"
	 "destroy S -> 0 reported=0\n"
	 "destroy A -> 0 reported=2\n"},
	{"events_reported of an accepted id", "ucma_get_event", 0, DISCONNECTED,
	 "destroy S -> 0 reported=2\n"
	 "destroy A -> 0 reported=4\n"
	 "destroy L -> 0 reported=1\n"},
};
ROWS_END(event);
