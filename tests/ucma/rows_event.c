// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* GET_EVENT and poll. */
#include "ucma.h"
#include "states.h"

const struct row event_rows[] = {
	{"an event", "ucma_get_event", 0, IDLE,
	 "resolve A me:p1\n"
	 "get\n"},
	{"no event, O_NONBLOCK", "ucma_get_event: EAGAIN", 0, NOTHING,
	 "nonblock\n"
	 "getnow\n"},
	{"an event, O_NONBLOCK", "ucma_get_event", 0, IDLE,
	 "nonblock\n"
	 "resolve A me:p1\n"
	 "get\n"
	 "getnow\n"},
	{"poll before, with, after an event", "ucma_poll", 0, IDLE,
	 "poll\n"
	 "resolve A me:p1\n"
	 "wait\n"
	 "poll\n"
	 "get\n"
	 "poll\n"},
	{"a call that waits", "ucma_get_event: wait_event_interruptible()", 0, IDLE,
	 "getting\n"
	 "resolve A me:p1\n"
	 "got\n"},
	{"a call that waits, and a signal", "ucma_get_event: ERESTARTSYS, without SA_RESTART", 0,
	 IDLE,
	 "getting\n"
	 "interrupt\n"
	 "got\n"},
	{"a call that waits while the id goes", "ucma_get_event: no event, no end", 0, IDLE,
	 "getting\n"
	 "destroy A\n"
	 "quiet\n"
	 "interrupt\n"
	 "got\n"},
	{"an answer of the older structure", "ucma_get_event: without reserved and ECE", 0, IDLE,
	 "resolve A me:p1\n"
	 "get out=324\n"},
	{"an answer of the older structure, padded", "ucma_get_event: min_t()", 0, IDLE,
	 "resolve A me:p1\n"
	 "get out=328\n"},
	{"an answer without half of the ECE", "ucma_get_event: min_t()", 0, IDLE,
	 "resolve A me:p1\n"
	 "get out=332\n"},
	{"an answer that is too short", "ucma_get_event: ENOSPC, the event stays", 0, IDLE,
	 "resolve A me:p1\n"
	 "get out=323\n"
	 "get\n"},
	{"an answer of no bytes", "ucma_get_event: ENOSPC", 0, IDLE,
	 "resolve A me:p1\n"
	 "get out=0\n"},
	{"too short, no event, O_NONBLOCK", "ucma_get_event: the length comes first", 0, NOTHING,
	 "nonblock\n"
	 "getnow out=0\n"},
	{"more room", "ucma_get_event: min_t()", 0, IDLE,
	 "resolve A me:p1\n"
	 "get out=512\n"},
	{"a bad answer's address", "ucma_get_event: the event stays", 0, IDLE,
	 "resolve A me:p1\n"
	 "get response=nowhere\n"
	 "poll\n"
	 "get\n"
	 "destroy A\n"},
	{"a bad answer's address, no event, O_NONBLOCK", "ucma_get_event: EAGAIN comes first", 0,
	 NOTHING,
	 "nonblock\n"
	 "getnow response=nowhere\n"},
	{"a short command", "copy_from_user()", 0, IDLE,
	 "resolve A me:p1\n"
	 "get cut=12 in=4\n"
	 "get\n"},
	{"a short command, no event", "ucma_get_event: copy_from_user() before the wait", 0,
	 NOTHING, "getnow cut=12 in=4\n"},
	{"order of events of one id", "ucma_event_handler: list_add_tail()", 0, SERVER ROUTED,
	 "connect A\n"
	 "get@2 S\n"
	 "accept S qp_num=0x22\n"
	 "wait\n"
	 "reject S\n"
	 "get\n"},
	{"order of events of two ids", "ucma_event_handler: one list for a file", 0, IDLE,
	 "create B\n"
	 "resolve A me:p1\n"
	 "wait\n"
	 "resolve B me:p2\n"
	 "get\n"
	 "get\n"},
	{"events of another file", "ucma_event_handler: ctx->file", 0, IDLE,
	 "create@2 B\n"
	 "resolve A me:p1\n"
	 "resolve B me:p2\n"
	 "get@2\n"
	 "get\n"},
	{"a uid of 0 gets no events", "ucma_event_handler: ctx->uid", 0, NOTHING,
	 "create A tcp uid=0\n"
	 "resolve A me:p1\n"
	 "quiet\n"
	 "route A\n"},
	{"a uid of all ones", "ucma_create_uevent: resp.uid", 0, NOTHING,
	 "create A tcp uid=0xffffffffffffffff\n"
	 "resolve A me:p1\n"
	 "get\n"},
	{"requests of a listener without uid", "ucma_connect_event_handler: any uid", 0, NOTHING,
	 "create@2 L tcp uid=0\n"
	 "bind L me:p1\n"
	 "listen L\n"
	 "create A tcp\n"
	 "resolve A me:p1\n"
	 "get\n"
	 "route A\n"
	 "get\n"
	 "connect A\n"
	 "get@2 S\n"},
	{"the backlog counts unread requests",
	 "ucma_connect_event_handler: atomic_add_unless(); ucma_get_event gives one back", 0,
	 NOTHING,
	 "create@2 L tcp\n"
	 "bind L me:p1\n"
	 "listen L 1\n"
	 "create A tcp\n"
	 "resolve A me:p1\n"
	 "get\n"
	 "route A\n"
	 "get\n"
	 "connect A\n"
	 "wait@2\n"
	 "create@3 B tcp\n"
	 "resolve B me:p1\n"
	 "get@3\n"
	 "route B\n"
	 "get@3\n"
	 "connect B qp_num=0x12\n"
	 "quiet@3\n"
	 "get@2 S\n"
	 "poll@2\n"},
	{"a request that found the backlog full is sent again",
	 "cm_destroy_id: ENOMEM resets to IDLE without REJ, the client's REQ is retried after 4 s",
	 SLOW, NOTHING,
	 "create@2 L tcp\n"
	 "bind L me:p1\n"
	 "listen L 1\n"
	 "create A tcp\n"
	 "resolve A me:p1\n"
	 "get\n"
	 "route A\n"
	 "get\n"
	 "connect A\n"
	 "wait@2\n"
	 "create@3 B tcp\n"
	 "resolve B me:p1\n"
	 "get@3\n"
	 "route B\n"
	 "get@3\n"
	 "connect B qp_num=0x12\n"
	 "quiet@3\n"
	 "get@2 S\n"
	 "get@2 T\n"
	 "accept T qp_num=0x33\n"
	 "get@3\n"},
	{"events_reported of a listener",
	 "ucma_get_event counts for the listener, not for the new id", 0, CONNECTING,
	 "destroy L\n"
	 "destroy S\n"
	 "destroy A\n"},
	{"events_reported of an accepted id", "ucma_get_event", 0, DISCONNECTED,
	 "destroy S\n"
	 "destroy A\n"
	 "destroy L\n"},
};
ROWS_END(event);
