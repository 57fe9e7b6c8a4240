// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* MIGRATE_ID. */
#include "ucma.h"
#include "states.h"

const struct row migrate_rows[] = {
	{"a new id", "ucma_migrate_id", 0, IDLE,
	 "migrate@2 A f1\n"
	 "destroy A\n"},
	{"then the old file knows it no more", "ucma_get_ctx", 0, IDLE,
	 "migrate@2 A f1\n"
	 "bind@1 A me:p1\n"
	 "bind@2 A me:p1\n"},
	{"a resolved id: what was read", "resp.events_reported", 0, RESOLVED,
	 "migrate@2 A f1\n"
	 "route A\n"
	 "get@2\n"
	 "destroy A\n"},
	{"events go with it", "list_move_tail()", 0, IDLE,
	 "resolve A me:p1\n"
	 "wait\n"
	 "migrate@2 A f1\n"
	 "poll@1\n"
	 "get@2\n"},
	{"events of others stay", "list_move_tail() of its own", 0, IDLE,
	 "create B\n"
	 "resolve A me:p1\n"
	 "wait\n"
	 "resolve B me:p2\n"
	 "migrate@2 A f1\n"
	 "get@2\n"
	 "get@1\n"},
	{"events go behind those of the new file", "list_splice_tail()", 0, IDLE,
	 "create@2 B\n"
	 "resolve B me:p2\n"
	 "wait@2\n"
	 "resolve A me:p1\n"
	 "wait@1\n"
	 "migrate@2 A f1\n"
	 "get@2\n"
	 "get@2\n"},
	{"to the same file", "ucma_migrate_id: nothing forbids it", 0, IDLE,
	 "resolve A me:p1\n"
	 "wait\n"
	 "migrate@1 A f1\n"
	 "get@1\n"},
	{"a listener: requests that were not read go with it",
	 "conn_req_ctx stays with the old file", 0, SERVER ROUTED,
	 "connect A\n"
	 "wait@2\n"
	 "migrate@3 L f2\n"
	 "get@3 S\n"
	 "number S\n"
	 "accept@2 S\n"},
	{"a listener: requests to come go to the new file",
	 "ucma_connect_event_handler: listen_ctx->file", 0, SERVER ROUTED,
	 "migrate@3 L f2\n"
	 "connect A\n"
	 "get@3 S\n"
	 "accept@3 S\n"},
	{"a request's id", "ucma_migrate_id", 0, CONNECTING,
	 "migrate@3 S f2\n"
	 "accept S qp_num=0x22\n"
	 "get\n"
	 "accept A valid=0\n"
	 "get@3\n"},
	{"an established id", "ucma_migrate_id", 0, CONNECTED,
	 "migrate@3 A f1\n"
	 "disconnect S\n"
	 "get@3\n"
	 "disconnect A\n"
	 "get@2\n"},
	{"then the old file is closed", "ucma_close: the id is the new file's", 0, BOUND,
	 "migrate@2 A f1\n"
	 "close@1\n"
	 "listen A\n"},
	{"while the address is looked up", "ucma_migrate_id", 0, IDLE,
	 "resolve A neighbour:p1 timeout_ms=1\n"
	 "migrate@2 A f1\n"
	 "get@2\n"},
	{"a descriptor that is not open", "fdget(): ENOENT", 0, IDLE, "migrate@2 A 999\n"},
	{"descriptor -1", "fdget(): ENOENT", 0, IDLE, "migrate@2 A 0xffffffff\n"},
	{"a descriptor of another file", "ucma_migrate_id: f_op", 0, IDLE, "migrate@2 A 1\n"},
	{"no such id", "ucma_get_ctx", 0, NOTHING,
	 "open\n"
	 "migrate@2 77 f1\n"},
	{"the id is not the descriptor's", "ucma_get_ctx", 0, IDLE,
	 "open@3\n"
	 "migrate@2 A f3\n"},
	{"a bad answer's address", "ucma_migrate_id: it has moved all the same", 0, IDLE,
	 "migrate@2 A f1 response=nowhere\n"
	 "bind@1 A me:p1\n"
	 "bind@2 A me:p1\n"},
	{"no room for the answer", "ucma_migrate_id does not look at out_len", 0, IDLE,
	 "migrate@2 A f1 out=0\n"
	 "bind@2 A me:p1\n"},
	{"a short command", "copy_from_user()", 0, IDLE, "migrate@2 A f1 cut=16 in=8\n"},
	{"back again", "ucma_migrate_id", 0, IDLE,
	 "migrate@2 A f1\n"
	 "migrate@1 A f2\n"
	 "bind A me:p1\n"},
	{"a group's events", "ucma_migrate_id moves ctx's events", 0, UD_BOUND,
	 "join U mc:0 as=M\n"
	 "wait\n"
	 "migrate@2 U f1\n"
	 "get@2\n"
	 "leave@2 M\n"},
	{"a group after its id has moved", "ucma_leave_multicast: mc->ctx->file", 0, UD_BOUND,
	 "join U mc:0 as=M\n"
	 "get\n"
	 "migrate@2 U f1\n"
	 "leave@1 M\n"
	 "leave@2 M\n"},
};
ROWS_END(migrate);
