// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* MIGRATE_ID. */
#include "ucma.h"
#include "states.h"

const struct row migrate_rows[] = {
	{"a new id", "ucma_migrate_id", 0, IDLE,
	 "migrate@2 A f1 -> 0 reported=0\n"
	 "destroy A -> 0 reported=0\n"},
	{"then the old file knows it no more", "ucma_get_ctx", 0, IDLE,
	 "migrate@2 A f1 -> 0 reported=0\n"
	 "bind@1 A me:p1 -> EINVAL\n"
	 "bind@2 A me:p1 -> 0\n"},
	{"a resolved id: what was read", "resp.events_reported", 0, RESOLVED,
	 "migrate@2 A f1 -> 0 reported=1\n"
	 "route A -> 0\n"
	 "get@2 -> ROUTE_RESOLVED A\n"
	 "destroy A -> 0 reported=2\n"},
	{"events go with it", "list_move_tail()", 0, IDLE,
	 "resolve A me:p1 -> 0\n"
	 "wait -> 0\n"
	 "migrate@2 A f1 -> 0 reported=0\n"
	 "poll@1 -> -\n"
	 "get@2 -> ADDR_RESOLVED A\n"},
	{"events of others stay", "list_move_tail() of its own", 0, IDLE,
	 "create B -> 0\n"
	 "resolve A me:p1 -> 0\n"
	 "wait -> 0\n"
	 "resolve B me:p2 -> 0\n"
	 "migrate@2 A f1 -> 0 reported=0\n"
	 "get@2 -> ADDR_RESOLVED A\n"
	 "get@1 -> ADDR_RESOLVED B\n"},
	{"events go behind those of the new file", "list_splice_tail()", 0, IDLE,
	 "create@2 B -> 0\n"
	 "resolve B me:p2 -> 0\n"
	 "wait@2 -> 0\n"
	 "resolve A me:p1 -> 0\n"
	 "wait@1 -> 0\n"
	 "migrate@2 A f1 -> 0 reported=0\n"
	 "get@2 -> ADDR_RESOLVED B\n"
	 "get@2 -> ADDR_RESOLVED A\n"},
	{"to the same file", "ucma_migrate_id: nothing forbids it", 0, IDLE,
	 "resolve A me:p1 -> 0\n"
	 "wait -> 0\n"
	 "migrate@1 A f1 -> 0 reported=0\n"
	 "get@1 -> ADDR_RESOLVED A\n"},
	{"a listener: requests that were not read go with it",
	 "conn_req_ctx stays with the old file", 0, SERVER ROUTED,
	 "connect A -> 0\n"
	 "wait@2 -> 0\n"
	 "migrate@3 L f2 -> 0 reported=0\n"
	 "get@3 S -> CONNECT_REQUEST L id=S qpn=11 data=56: resources=1 depth=1 flow=1 retry=7 "
	 "rnr=7\n"
	 "number S -> 2\n"
	 "accept@2 S -> 0\n"},
	{"a listener: requests to come go to the new file",
	 "ucma_connect_event_handler: listen_ctx->file", 0, SERVER ROUTED,
	 "migrate@3 L f2 -> 0 reported=0\n"
	 "connect A -> 0\n"
	 "get@3 S -> CONNECT_REQUEST L id=S qpn=11 data=56: resources=1 depth=1 flow=1 retry=7 "
	 "rnr=7\n"
	 "accept@3 S -> 0\n"},
	{"a request's id", "ucma_migrate_id", 0, CONNECTING,
	 "migrate@3 S f2 -> 0 reported=0\n"
	 "accept S qp_num=0x22 -> 0\n"
	 "get -> CONNECT_RESPONSE A qpn=22 data=196: resources=1 depth=1 flow=1 rnr=7\n"
	 "accept A valid=0 -> 0\n"
	 "get@3 -> ESTABLISHED S\n"},
	{"an established id", "ucma_migrate_id", 0, CONNECTED,
	 "migrate@3 A f1 -> 0 reported=3\n"
	 "disconnect S -> 0\n"
	 "get@3 -> DISCONNECTED A\n"
	 "disconnect A -> 0\n"
	 "get@2 -> DISCONNECTED S\n"},
	{"then the old file is closed", "ucma_close: the id is the new file's", 0, BOUND,
	 "migrate@2 A f1 -> 0 reported=0\n"
	 "close@1 -> 0\n"
	 "listen A -> 0\n"},
	{"while the address is looked up", "ucma_migrate_id", 0, IDLE,
	 "resolve A neighbour:p1 timeout_ms=1 -> 0\n"
	 "migrate@2 A f1 -> 0 reported=0\n"
	 "get@2 -> ADDR_ERROR A status=-110\n"},
	{"a descriptor that is not open", "fdget(): ENOENT", 0, IDLE,
	 "migrate@2 A 999 -> ENOENT\n"},
	{"descriptor -1", "fdget(): ENOENT", 0, IDLE, "migrate@2 A 0xffffffff -> ENOENT\n"},
	{"a descriptor of another file", "ucma_migrate_id: f_op", 0, IDLE,
	 "migrate@2 A 1 -> EINVAL\n"},
	{"no such id", "ucma_get_ctx", 0, NOTHING,
	 "open -> 0\n"
	 "migrate@2 77 f1 -> ENOENT\n"},
	{"the id is not the descriptor's", "ucma_get_ctx", 0, IDLE,
	 "open@3 -> 0\n"
	 "migrate@2 A f3 -> EINVAL\n"},
	{"a bad answer's address", "ucma_migrate_id: it has moved all the same", 0, IDLE,
	 "migrate@2 A f1 response=nowhere -> EFAULT\n"
	 "bind@1 A me:p1 -> EINVAL\n"
	 "bind@2 A me:p1 -> 0\n"},
	{"no room for the answer", "ucma_migrate_id does not look at out_len", 0, IDLE,
	 "migrate@2 A f1 out=0 -> EFAULT\n"
	 "bind@2 A me:p1 -> 0\n"},
	{"a short command", "copy_from_user()", 0, IDLE, "migrate@2 A f1 cut=16 in=8 -> EFAULT\n"},
	{"back again", "ucma_migrate_id", 0, IDLE,
	 "migrate@2 A f1 -> 0 reported=0\n"
	 "migrate@1 A f2 -> 0 reported=0\n"
	 "bind A me:p1 -> 0\n"},
	{"a group's events", "ucma_migrate_id moves ctx's events", 0, UD_BOUND,
	 "join U mc:0 as=M -> 0\n"
	 "wait -> 0\n"
	 "migrate@2 U f1 -> 0 reported=0\n"
	 "get@2 -> MULTICAST_JOIN M qpn=ffffff qkey=1234567 [roce:port=1 dgid=::ffff:239.1.2.3 "
	 "sgid=map hop=64|ib:dlid=mc rate=17 port=1 dgid=ff12:4001:ffff::f01:203 sgid=gid0]\n"
	 "leave@2 M -> 0 reported=1\n"},
	{"a group after its id has moved", "ucma_leave_multicast: mc->ctx->file", 0, UD_BOUND,
	 "join U mc:0 as=M -> 0\n"
	 "get -> MULTICAST_JOIN M qpn=ffffff qkey=1234567 [roce:port=1 dgid=::ffff:239.1.2.3 "
	 "sgid=map hop=64|ib:dlid=mc rate=17 port=1 dgid=ff12:4001:ffff::f01:203 sgid=gid0]\n"
	 "migrate@2 U f1 -> 0 reported=1\n"
	 "leave@1 M -> EINVAL\n"
	 "leave@2 M -> 0 reported=1\n"},
};
ROWS_END(migrate);
