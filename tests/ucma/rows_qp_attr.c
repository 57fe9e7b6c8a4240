// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* INIT_QP_ATTR: each state of an id, each state of a QP. */
#include "ucma.h"
#include "states.h"

const struct row qp_attr_rows[] = {
	{"a new id", "ucma_get_ctx_dev", 0, IDLE,
	 "init_qp_attr A reset\n"
	 "init_qp_attr A init\n"
	 "init_qp_attr A rtr\n"
	 "init_qp_attr A rts\n"
	 "init_qp_attr A sqd\n"
	 "init_qp_attr A sqe\n"
	 "init_qp_attr A err\n"},
	{"bound", "cma_ib_init_qp_attr: whatever the QP state is", 0, BOUND,
	 "init_qp_attr A reset\n"
	 "init_qp_attr A init\n"
	 "init_qp_attr A rtr\n"
	 "init_qp_attr A rts\n"
	 "init_qp_attr A sqd\n"
	 "init_qp_attr A sqe\n"
	 "init_qp_attr A err\n"},
	{"bound to any address", "ucma_get_ctx_dev", 0, BOUND_ANY,
	 "init_qp_attr A reset\n"
	 "init_qp_attr A init\n"
	 "init_qp_attr A rtr\n"
	 "init_qp_attr A rts\n"
	 "init_qp_attr A sqd\n"
	 "init_qp_attr A sqe\n"
	 "init_qp_attr A err\n"},
	{"resolved", "cma_ib_init_qp_attr", 0, RESOLVED,
	 "init_qp_attr A reset\n"
	 "init_qp_attr A init\n"
	 "init_qp_attr A rtr\n"
	 "init_qp_attr A rts\n"
	 "init_qp_attr A sqd\n"
	 "init_qp_attr A sqe\n"
	 "init_qp_attr A err\n"},
	{"routed", "cma_ib_init_qp_attr", 0, ROUTED,
	 "init_qp_attr A reset\n"
	 "init_qp_attr A init\n"
	 "init_qp_attr A rtr\n"
	 "init_qp_attr A rts\n"
	 "init_qp_attr A sqd\n"
	 "init_qp_attr A sqe\n"
	 "init_qp_attr A err\n"},
	{"a listener", "cm_init_qp_init_attr: state is LISTEN", 0, LISTENING,
	 "init_qp_attr A reset\n"
	 "init_qp_attr A init\n"
	 "init_qp_attr A rtr\n"
	 "init_qp_attr A rts\n"
	 "init_qp_attr A sqd\n"
	 "init_qp_attr A sqe\n"
	 "init_qp_attr A err\n"},
	{"connecting", "ib_cm_init_qp_attr: REQ_SENT", 0, CONNECTING,
	 "init_qp_attr A reset\n"
	 "init_qp_attr A init\n"
	 "init_qp_attr A rtr\n"
	 "init_qp_attr A rts\n"
	 "init_qp_attr A sqd\n"
	 "init_qp_attr A sqe\n"
	 "init_qp_attr A err\n"},
	{"a request", "ib_cm_init_qp_attr: MRA_REQ_SENT", 0, CONNECTING,
	 "init_qp_attr S reset\n"
	 "init_qp_attr S init\n"
	 "init_qp_attr S rtr\n"
	 "init_qp_attr S rts\n"
	 "init_qp_attr S sqd\n"
	 "init_qp_attr S sqe\n"
	 "init_qp_attr S err\n"},
	{"an answer", "ib_cm_init_qp_attr: MRA_REP_SENT", 0, ANSWERED,
	 "init_qp_attr A reset\n"
	 "init_qp_attr A init\n"
	 "init_qp_attr A rtr\n"
	 "init_qp_attr A rts\n"
	 "init_qp_attr A sqd\n"
	 "init_qp_attr A sqe\n"
	 "init_qp_attr A err\n"},
	{"answered", "ib_cm_init_qp_attr: REP_SENT", 0, ANSWERED,
	 "init_qp_attr S reset\n"
	 "init_qp_attr S init\n"
	 "init_qp_attr S rtr\n"
	 "init_qp_attr S rts\n"
	 "init_qp_attr S sqd\n"
	 "init_qp_attr S sqe\n"
	 "init_qp_attr S err\n"},
	{"established", "ib_cm_init_qp_attr: ESTABLISHED", 0, CONNECTED,
	 "init_qp_attr A reset\n"
	 "init_qp_attr A init\n"
	 "init_qp_attr A rtr\n"
	 "init_qp_attr A rts\n"
	 "init_qp_attr A sqd\n"
	 "init_qp_attr A sqe\n"
	 "init_qp_attr A err\n"},
	{"the established server", "ib_cm_init_qp_attr: ESTABLISHED", 0, CONNECTED,
	 "init_qp_attr S reset\n"
	 "init_qp_attr S init\n"
	 "init_qp_attr S rtr\n"
	 "init_qp_attr S rts\n"
	 "init_qp_attr S sqd\n"
	 "init_qp_attr S sqe\n"
	 "init_qp_attr S err\n"},
	{"told to leave", "ib_cm_init_qp_attr: DREQ_RCVD", 0, LEFT,
	 "init_qp_attr S reset\n"
	 "init_qp_attr S init\n"
	 "init_qp_attr S rtr\n"
	 "init_qp_attr S rts\n"
	 "init_qp_attr S sqd\n"
	 "init_qp_attr S sqe\n"
	 "init_qp_attr S err\n"},
	{"disconnected", "ib_cm_init_qp_attr: TIMEWAIT", 0, DISCONNECTED,
	 "init_qp_attr A reset\n"
	 "init_qp_attr A init\n"
	 "init_qp_attr A rtr\n"
	 "init_qp_attr A rts\n"
	 "init_qp_attr A sqd\n"
	 "init_qp_attr A sqe\n"
	 "init_qp_attr A err\n"},
	{"rejected", "ib_cm_init_qp_attr: IDLE", 0, CONNECTING,
	 "reject S\n"
	 "get\n"
	 "init_qp_attr A init\n"
	 "init_qp_attr S init\n"},
	{"a new id of UDP", "ucma_get_ctx_dev", 0, UD_IDLE,
	 "init_qp_attr U reset\n"
	 "init_qp_attr U init\n"
	 "init_qp_attr U rtr\n"
	 "init_qp_attr U rts\n"
	 "init_qp_attr U sqd\n"
	 "init_qp_attr U sqe\n"
	 "init_qp_attr U err\n"},
	{"UDP, bound", "cma_set_default_qkey: 0x01234567", 0, UD_BOUND,
	 "init_qp_attr U reset\n"
	 "init_qp_attr U init\n"
	 "init_qp_attr U rtr\n"
	 "init_qp_attr U rts\n"
	 "init_qp_attr U sqd\n"
	 "init_qp_attr U sqe\n"
	 "init_qp_attr U err\n"},
	{"UDP, routed", "cma_ib_init_qp_attr", 0, UD_ROUTED,
	 "init_qp_attr U reset\n"
	 "init_qp_attr U init\n"
	 "init_qp_attr U rtr\n"
	 "init_qp_attr U rts\n"
	 "init_qp_attr U sqd\n"
	 "init_qp_attr U sqe\n"
	 "init_qp_attr U err\n"},
	{"UDP, a request", "cma_ib_init_qp_attr", 0, UD_CONNECTING,
	 "init_qp_attr V reset\n"
	 "init_qp_attr V init\n"
	 "init_qp_attr V rtr\n"
	 "init_qp_attr V rts\n"
	 "init_qp_attr V sqd\n"
	 "init_qp_attr V sqe\n"
	 "init_qp_attr V err\n"},
	{"UDP, connecting", "cma_ib_init_qp_attr", 0, UD_CONNECTING,
	 "init_qp_attr U reset\n"
	 "init_qp_attr U init\n"
	 "init_qp_attr U rtr\n"
	 "init_qp_attr U rts\n"
	 "init_qp_attr U sqd\n"
	 "init_qp_attr U sqe\n"
	 "init_qp_attr U err\n"},
	{"UDP, accepted", "cma_ib_init_qp_attr", 0, UD_CONNECTING,
	 "accept V qp_num=0x22\n"
	 "get\n"
	 "init_qp_attr U init\n"
	 "init_qp_attr U rtr\n"
	 "init_qp_attr U rts\n"
	 "init_qp_attr V init\n"},
	{"port space IB with UD", "cma_set_default_qkey", 0, NOTHING,
	 "create U ib qp_type=4\n"
	 "bind U me:p1\n"
	 "init_qp_attr U init\n"},
	{"a QP of UC", "cm_init_qp_rtr_attr, cm_init_qp_rts_attr: RC's attributes are left out", 0,
	 NOTHING,
	 "create@2 L ib qp_type=3\n"
	 "bind L me:p1\n"
	 "listen L\n"
	 "create A ib qp_type=3\n"
	 "resolve A me:p1\n"
	 "get\n"
	 "route A\n"
	 "get\n"
	 "connect A\n"
	 "get@2 S\n"
	 "accept S qp_num=0x22\n"
	 "get\n"
	 "init_qp_attr A init\n"
	 "init_qp_attr A rtr\n"
	 "init_qp_attr A rts\n"},
	{"no resources for RDMA",
	 "cm_init_qp_init_attr: no remote read without responder_resources", 0, SERVER ROUTED,
	 "connect A resources=0 depth=0\n"
	 "get@2 S\n"
	 "accept S resources=0 depth=0 qp_num=0x22\n"
	 "get\n"
	 "init_qp_attr A init\n"
	 "init_qp_attr A rtr\n"
	 "init_qp_attr A rts\n"
	 "init_qp_attr S init\n"
	 "init_qp_attr S rtr\n"
	 "init_qp_attr S rts\n"},
	{"resources of both sides", "cm_req_handler, cm_rep_handler: each side's own", 0,
	 SERVER ROUTED,
	 "connect A resources=3 depth=5 retry=2 rnr=4\n"
	 "get@2 S\n"
	 "init_qp_attr S rtr\n"
	 "init_qp_attr S rts\n"
	 "accept S resources=2 depth=1 rnr=6 qp_num=0x22\n"
	 "get\n"
	 "init_qp_attr A rtr\n"
	 "init_qp_attr A rts\n"
	 "init_qp_attr S rtr\n"
	 "init_qp_attr S rts\n"},
	{"a timeout that was set", "rdma_init_qp_attr: timeout_set", 0, SERVER ROUTED,
	 "set_option A 0 3 u8:9\n"
	 "connect A\n"
	 "get@2 S\n"
	 "accept S qp_num=0x22\n"
	 "get\n"
	 "init_qp_attr A rts\n"
	 "init_qp_attr S rts\n"},
	{"a timeout set before the route",
	 "cma_resolve_iboe_route: [RoCE] the path's lifetime is one less", ROCE_ONLY,
	 SERVER RESOLVED,
	 "set_option A 0 3 u8:9\n"
	 "route A\n"
	 "get\n"
	 "query_route A\n"
	 "connect A\n"
	 "get@2 S\n"
	 "accept S qp_num=0x22\n"
	 "get\n"
	 "init_qp_attr A rts\n"
	 "init_qp_attr S rts\n"},
	{"a type of service", "cma_resolve_iboe_route: [RoCE] traffic class", ROCE_ONLY,
	 SERVER RESOLVED,
	 "set_option A 0 0 u8:0x68\n"
	 "route A\n"
	 "get\n"
	 "query_route A\n"
	 "connect A\n"
	 "get@2 S\n"
	 "query_route S\n"
	 "accept S qp_num=0x22\n"
	 "get\n"
	 "init_qp_attr A rtr\n"
	 "init_qp_attr S rtr\n"},
	{"QP state 7", "ucma_init_qp_attr: IB_QPS_ERR", 0, BOUND, "init_qp_attr A 7\n"},
	{"QP state 0xffffffff", "ucma_init_qp_attr", 0, BOUND, "init_qp_attr A 0xffffffff\n"},
	{"QP state 7 of no id", "ucma_init_qp_attr: the state comes first", 0, NOTHING,
	 "init_qp_attr 77 7\n"},
	{"no such id", "ucma_get_ctx", 0, NOTHING, "init_qp_attr 77 init\n"},
	{"the id of another file", "ucma_get_ctx", 0, BOUND, "init_qp_attr@2 A init\n"},
	{"an answer of 143 bytes", "ucma_init_qp_attr: out_len", 0, BOUND,
	 "init_qp_attr A init out=143\n"},
	{"no room, no id", "ucma_init_qp_attr: out_len comes first", 0, NOTHING,
	 "init_qp_attr 77 init out=0\n"},
	{"more room", "ucma_init_qp_attr writes the structure", 0, BOUND,
	 "init_qp_attr A init out=256\n"},
	{"a bad answer's address", "copy_to_user()", 0, BOUND,
	 "init_qp_attr A init response=nowhere\n"},
	{"a short command", "copy_from_user()", 0, BOUND, "init_qp_attr A init cut=16 in=8\n"},
};
ROWS_END(qp_attr);
