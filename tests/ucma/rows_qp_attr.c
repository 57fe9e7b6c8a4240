// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* INIT_QP_ATTR: each state of an id, each state of a QP. */
#include "ucma.h"
#include "states.h"

const struct row qp_attr_rows[] = {
	{"a new id", "ucma_get_ctx_dev", 0, IDLE,
	 "init_qp_attr A reset -> EINVAL\n"
	 "init_qp_attr A init -> EINVAL\n"
	 "init_qp_attr A rtr -> EINVAL\n"
	 "init_qp_attr A rts -> EINVAL\n"
	 "init_qp_attr A sqd -> EINVAL\n"
	 "init_qp_attr A sqe -> EINVAL\n"
	 "init_qp_attr A err -> EINVAL\n"},
	{"bound", "cma_ib_init_qp_attr: whatever the QP state is", 0, BOUND,
	 "init_qp_attr A reset -> 0 mask=39 state=0 qpport=1\n"
	 "init_qp_attr A init -> 0 mask=39 state=1 qpport=1\n"
	 "init_qp_attr A rtr -> 0 mask=39 state=2 rqpsn=* qpport=1\n"
	 "init_qp_attr A rts -> 0 mask=39 state=3 qpport=1\n"
	 "init_qp_attr A sqd -> 0 mask=39 state=4 qpport=1\n"
	 "init_qp_attr A sqe -> 0 mask=39 state=5 qpport=1\n"
	 "init_qp_attr A err -> 0 mask=39 state=6 qpport=1\n"},
	{"bound to any address", "ucma_get_ctx_dev", 0, BOUND_ANY,
	 "init_qp_attr A reset -> EINVAL\n"
	 "init_qp_attr A init -> EINVAL\n"
	 "init_qp_attr A rtr -> EINVAL\n"
	 "init_qp_attr A rts -> EINVAL\n"
	 "init_qp_attr A sqd -> EINVAL\n"
	 "init_qp_attr A sqe -> EINVAL\n"
	 "init_qp_attr A err -> EINVAL\n"},
	{"resolved", "cma_ib_init_qp_attr", 0, RESOLVED,
	 "init_qp_attr A reset -> 0 mask=39 state=0 qpport=1\n"
	 "init_qp_attr A init -> 0 mask=39 state=1 qpport=1\n"
	 "init_qp_attr A rtr -> 0 mask=39 state=2 rqpsn=* qpport=1\n"
	 "init_qp_attr A rts -> 0 mask=39 state=3 qpport=1\n"
	 "init_qp_attr A sqd -> 0 mask=39 state=4 qpport=1\n"
	 "init_qp_attr A sqe -> 0 mask=39 state=5 qpport=1\n"
	 "init_qp_attr A err -> 0 mask=39 state=6 qpport=1\n"},
	{"routed", "cma_ib_init_qp_attr", 0, ROUTED,
	 "init_qp_attr A reset -> 0 mask=39 state=0 qpport=1\n"
	 "init_qp_attr A init -> 0 mask=39 state=1 qpport=1\n"
	 "init_qp_attr A rtr -> 0 mask=39 state=2 rqpsn=* qpport=1\n"
	 "init_qp_attr A rts -> 0 mask=39 state=3 qpport=1\n"
	 "init_qp_attr A sqd -> 0 mask=39 state=4 qpport=1\n"
	 "init_qp_attr A sqe -> 0 mask=39 state=5 qpport=1\n"
	 "init_qp_attr A err -> 0 mask=39 state=6 qpport=1\n"},
	{"a listener", "cm_init_qp_init_attr: state is LISTEN", 0, LISTENING,
	 "init_qp_attr A reset -> EINVAL\n"
	 "init_qp_attr A init -> EINVAL\n"
	 "init_qp_attr A rtr -> EINVAL\n"
	 "init_qp_attr A rts -> EINVAL\n"
	 "init_qp_attr A sqd -> EINVAL\n"
	 "init_qp_attr A sqe -> EINVAL\n"
	 "init_qp_attr A err -> EINVAL\n"},
	{"connecting", "ib_cm_init_qp_attr: REQ_SENT", 0, CONNECTING,
	 "init_qp_attr A reset -> EINVAL\n"
	 "init_qp_attr A init -> 0 mask=39 state=1 access=e qpport=1\n"
	 "init_qp_attr A rtr -> EINVAL\n"
	 "init_qp_attr A rts -> EINVAL\n"
	 "init_qp_attr A sqd -> EINVAL\n"
	 "init_qp_attr A sqe -> EINVAL\n"
	 "init_qp_attr A err -> EINVAL\n"},
	{"a request", "ib_cm_init_qp_attr: MRA_REQ_SENT", 0, CONNECTING,
	 "init_qp_attr S reset -> EINVAL\n"
	 "init_qp_attr S init -> 0 mask=39 state=1 access=e qpport=1\n"
	 "init_qp_attr S rtr -> 0 mask=129181 state=2 mtu=5 rqpsn=* dest=11 [roce:port=1 dgid=map "
	 "sgid=map flowlabel=* hop=64|ib:dlid=own rate=17 port=1] destrdatomic=1\n"
	 "init_qp_attr S rts -> 0 mask=12e01 state=3 sqpsn=* rdatomic=1 timeout=[roce:19|ib:16] "
	 "retry=7 rnr=7\n"
	 "init_qp_attr S sqd -> EINVAL\n"
	 "init_qp_attr S sqe -> EINVAL\n"
	 "init_qp_attr S err -> EINVAL\n"},
	{"an answer", "ib_cm_init_qp_attr: MRA_REP_SENT", 0, ANSWERED,
	 "init_qp_attr A reset -> EINVAL\n"
	 "init_qp_attr A init -> 0 mask=39 state=1 access=e qpport=1\n"
	 "init_qp_attr A rtr -> 0 mask=129181 state=2 mtu=5 rqpsn=* dest=22 [roce:port=1 dgid=map "
	 "sgid=map flowlabel=* hop=64|ib:dlid=own rate=17 port=1] destrdatomic=1\n"
	 "init_qp_attr A rts -> 0 mask=12e01 state=3 sqpsn=* rdatomic=1 timeout=[roce:19|ib:16] "
	 "retry=7 rnr=7\n"
	 "init_qp_attr A sqd -> EINVAL\n"
	 "init_qp_attr A sqe -> EINVAL\n"
	 "init_qp_attr A err -> EINVAL\n"},
	{"an answer that was rejected after it", "ib_cm_init_qp_attr: IDLE", 0, ANSWERED,
	 "reject S -> 0\n"
	 "get -> REJECTED A status=28 data=148:\n"
	 "init_qp_attr A init -> EINVAL\n"
	 "init_qp_attr A rtr -> EINVAL\n"
	 "init_qp_attr A rts -> EINVAL\n"},
	{"answered", "ib_cm_init_qp_attr: REP_SENT", 0, ANSWERED,
	 "init_qp_attr S reset -> EINVAL\n"
	 "init_qp_attr S init -> 0 mask=39 state=1 access=e qpport=1\n"
	 "init_qp_attr S rtr -> 0 mask=129181 state=2 mtu=5 rqpsn=* dest=11 [roce:port=1 dgid=map "
	 "sgid=map flowlabel=* hop=64|ib:dlid=own rate=17 port=1] destrdatomic=1\n"
	 "init_qp_attr S rts -> 0 mask=12e01 state=3 sqpsn=* rdatomic=1 timeout=[roce:19|ib:16] "
	 "retry=7 rnr=7\n"
	 "init_qp_attr S sqd -> EINVAL\n"
	 "init_qp_attr S sqe -> EINVAL\n"
	 "init_qp_attr S err -> EINVAL\n"},
	{"established", "ib_cm_init_qp_attr: ESTABLISHED", 0, CONNECTED,
	 "init_qp_attr A reset -> EINVAL\n"
	 "init_qp_attr A init -> 0 mask=39 state=1 access=e qpport=1\n"
	 "init_qp_attr A rtr -> 0 mask=129181 state=2 mtu=5 rqpsn=* dest=22 [roce:port=1 dgid=map "
	 "sgid=map flowlabel=* hop=64|ib:dlid=own rate=17 port=1] destrdatomic=1\n"
	 "init_qp_attr A rts -> 0 mask=12e01 state=3 sqpsn=* rdatomic=1 timeout=[roce:19|ib:16] "
	 "retry=7 rnr=7\n"
	 "init_qp_attr A sqd -> EINVAL\n"
	 "init_qp_attr A sqe -> EINVAL\n"
	 "init_qp_attr A err -> EINVAL\n"},
	{"the established server", "ib_cm_init_qp_attr: ESTABLISHED", 0, CONNECTED,
	 "init_qp_attr S reset -> EINVAL\n"
	 "init_qp_attr S init -> 0 mask=39 state=1 access=e qpport=1\n"
	 "init_qp_attr S rtr -> 0 mask=129181 state=2 mtu=5 rqpsn=* dest=11 [roce:port=1 dgid=map "
	 "sgid=map flowlabel=* hop=64|ib:dlid=own rate=17 port=1] destrdatomic=1\n"
	 "init_qp_attr S rts -> 0 mask=12e01 state=3 sqpsn=* rdatomic=1 timeout=[roce:19|ib:16] "
	 "retry=7 rnr=7\n"
	 "init_qp_attr S sqd -> EINVAL\n"
	 "init_qp_attr S sqe -> EINVAL\n"
	 "init_qp_attr S err -> EINVAL\n"},
	{"told to leave", "ib_cm_init_qp_attr: DREQ_RCVD", 0, LEFT,
	 "init_qp_attr S reset -> EINVAL\n"
	 "init_qp_attr S init -> EINVAL\n"
	 "init_qp_attr S rtr -> EINVAL\n"
	 "init_qp_attr S rts -> EINVAL\n"
	 "init_qp_attr S sqd -> EINVAL\n"
	 "init_qp_attr S sqe -> EINVAL\n"
	 "init_qp_attr S err -> EINVAL\n"},
	{"disconnected", "ib_cm_init_qp_attr: TIMEWAIT", 0, DISCONNECTED,
	 "init_qp_attr A reset -> EINVAL\n"
	 "init_qp_attr A init -> EINVAL\n"
	 "init_qp_attr A rtr -> EINVAL\n"
	 "init_qp_attr A rts -> EINVAL\n"
	 "init_qp_attr A sqd -> EINVAL\n"
	 "init_qp_attr A sqe -> EINVAL\n"
	 "init_qp_attr A err -> EINVAL\n"},
	{"rejected", "ib_cm_init_qp_attr: IDLE", 0, CONNECTING,
	 "reject S -> 0\n"
	 "get -> REJECTED A status=28 data=148:\n"
	 "init_qp_attr A init -> EINVAL\n"
	 "init_qp_attr S init -> EINVAL\n"},
	{"a new id of UDP", "ucma_get_ctx_dev", 0, UD_IDLE,
	 "init_qp_attr U reset -> EINVAL\n"
	 "init_qp_attr U init -> EINVAL\n"
	 "init_qp_attr U rtr -> EINVAL\n"
	 "init_qp_attr U rts -> EINVAL\n"
	 "init_qp_attr U sqd -> EINVAL\n"
	 "init_qp_attr U sqe -> EINVAL\n"
	 "init_qp_attr U err -> EINVAL\n"},
	{"UDP, bound", "cma_set_default_qkey: 0x01234567", 0, UD_BOUND,
	 "init_qp_attr U reset -> 0 mask=71 state=0 qkey=1234567 qpport=1\n"
	 "init_qp_attr U init -> 0 mask=71 state=1 qkey=1234567 qpport=1\n"
	 "init_qp_attr U rtr -> 0 mask=71 state=2 qkey=1234567 rqpsn=* qpport=1\n"
	 "init_qp_attr U rts -> 0 mask=71 state=3 qkey=1234567 qpport=1\n"
	 "init_qp_attr U sqd -> 0 mask=71 state=4 qkey=1234567 qpport=1\n"
	 "init_qp_attr U sqe -> 0 mask=71 state=5 qkey=1234567 qpport=1\n"
	 "init_qp_attr U err -> 0 mask=71 state=6 qkey=1234567 qpport=1\n"},
	{"UDP, routed", "cma_ib_init_qp_attr", 0, UD_ROUTED,
	 "init_qp_attr U reset -> 0 mask=71 state=0 qkey=1234567 qpport=1\n"
	 "init_qp_attr U init -> 0 mask=71 state=1 qkey=1234567 qpport=1\n"
	 "init_qp_attr U rtr -> 0 mask=71 state=2 qkey=1234567 rqpsn=* qpport=1\n"
	 "init_qp_attr U rts -> 0 mask=71 state=3 qkey=1234567 qpport=1\n"
	 "init_qp_attr U sqd -> 0 mask=71 state=4 qkey=1234567 qpport=1\n"
	 "init_qp_attr U sqe -> 0 mask=71 state=5 qkey=1234567 qpport=1\n"
	 "init_qp_attr U err -> 0 mask=71 state=6 qkey=1234567 qpport=1\n"},
	{"UDP, a request", "cma_ib_init_qp_attr", 0, UD_CONNECTING,
	 "init_qp_attr V reset -> 0 mask=71 state=0 qkey=1234567 qpport=1\n"
	 "init_qp_attr V init -> 0 mask=71 state=1 qkey=1234567 qpport=1\n"
	 "init_qp_attr V rtr -> 0 mask=71 state=2 qkey=1234567 rqpsn=* qpport=1\n"
	 "init_qp_attr V rts -> 0 mask=71 state=3 qkey=1234567 qpport=1\n"
	 "init_qp_attr V sqd -> 0 mask=71 state=4 qkey=1234567 qpport=1\n"
	 "init_qp_attr V sqe -> 0 mask=71 state=5 qkey=1234567 qpport=1\n"
	 "init_qp_attr V err -> 0 mask=71 state=6 qkey=1234567 qpport=1\n"},
	{"UDP, connecting", "cma_ib_init_qp_attr", 0, UD_CONNECTING,
	 "init_qp_attr U reset -> 0 mask=71 state=0 qkey=1234567 qpport=1\n"
	 "init_qp_attr U init -> 0 mask=71 state=1 qkey=1234567 qpport=1\n"
	 "init_qp_attr U rtr -> 0 mask=71 state=2 qkey=1234567 rqpsn=* qpport=1\n"
	 "init_qp_attr U rts -> 0 mask=71 state=3 qkey=1234567 qpport=1\n"
	 "init_qp_attr U sqd -> 0 mask=71 state=4 qkey=1234567 qpport=1\n"
	 "init_qp_attr U sqe -> 0 mask=71 state=5 qkey=1234567 qpport=1\n"
	 "init_qp_attr U err -> 0 mask=71 state=6 qkey=1234567 qpport=1\n"},
	{"UDP, accepted", "cma_ib_init_qp_attr", 0, UD_CONNECTING,
	 "accept V qp_num=0x22 -> 0\n"
	 "get -> ESTABLISHED U qpn=22 qkey=1234567 data=136: [roce:port=1 dgid=map sgid=map "
	 "flowlabel=* hop=64|ib:dlid=own rate=17 port=1]\n"
	 "init_qp_attr U init -> 0 mask=71 state=1 qkey=1234567 qpport=1\n"
	 "init_qp_attr U rtr -> 0 mask=71 state=2 qkey=1234567 rqpsn=* qpport=1\n"
	 "init_qp_attr U rts -> 0 mask=71 state=3 qkey=1234567 qpport=1\n"
	 "init_qp_attr V init -> 0 mask=71 state=1 qkey=1234567 qpport=1\n"},
	{"port space IB with UD", "cma_set_default_qkey", 0, NOTHING,
	 "create U ib qp_type=4 -> 0\n"
	 "bind U me:p1 -> 0\n"
	 "init_qp_attr U init -> 0 mask=71 state=1 qkey=1234567 qpport=1\n"},
	{"a QP of UC", "cm_init_qp_rtr_attr, cm_init_qp_rts_attr: RC's attributes are left out", 0,
	 NOTHING,
	 "create@2 L ib qp_type=3 -> 0\n"
	 "bind L me:p1 -> 0\n"
	 "listen L -> 0\n"
	 "create A ib qp_type=3 -> 0\n"
	 "resolve A me:p1 -> 0\n"
	 "get -> ADDR_RESOLVED A\n"
	 "route A -> 0\n"
	 "get -> ROUTE_RESOLVED A\n"
	 "connect A -> 0\n"
	 "get@2 S -> CONNECT_REQUEST L id=S qpn=11 data=56: resources=1 depth=1 flow=1 retry=7 "
	 "rnr=7\n"
	 "accept S qp_num=0x22 -> 0\n"
	 "get -> CONNECT_RESPONSE A qpn=22 data=196: resources=1 depth=1 flow=1 rnr=7\n"
	 "init_qp_attr A init -> 0 mask=39 state=1 access=e qpport=1\n"
	 "init_qp_attr A rtr -> 0 mask=101181 state=2 mtu=5 rqpsn=* dest=22 [roce:port=1 dgid=map "
	 "sgid=map flowlabel=* hop=64|ib:dlid=own rate=17 port=1]\n"
	 "init_qp_attr A rts -> 0 mask=10001 state=3 sqpsn=*\n"},
	{"no resources for RDMA",
	 "cm_init_qp_init_attr: no remote read without responder_resources", 0, SERVER ROUTED,
	 "connect A resources=0 depth=0 -> 0\n"
	 "get@2 S -> CONNECT_REQUEST L id=S qpn=11 data=56: flow=1 retry=7 rnr=7\n"
	 "accept S resources=0 depth=0 qp_num=0x22 -> 0\n"
	 "get -> CONNECT_RESPONSE A qpn=22 data=196: flow=1 rnr=7\n"
	 "init_qp_attr A init -> 0 mask=39 state=1 access=2 qpport=1\n"
	 "init_qp_attr A rtr -> 0 mask=129181 state=2 mtu=5 rqpsn=* dest=22 [roce:port=1 dgid=map "
	 "sgid=map flowlabel=* hop=64|ib:dlid=own rate=17 port=1]\n"
	 "init_qp_attr A rts -> 0 mask=12e01 state=3 sqpsn=* timeout=[roce:19|ib:16] retry=7 "
	 "rnr=7\n"
	 "init_qp_attr S init -> 0 mask=39 state=1 access=2 qpport=1\n"
	 "init_qp_attr S rtr -> 0 mask=129181 state=2 mtu=5 rqpsn=* dest=11 [roce:port=1 dgid=map "
	 "sgid=map flowlabel=* hop=64|ib:dlid=own rate=17 port=1]\n"
	 "init_qp_attr S rts -> 0 mask=12e01 state=3 sqpsn=* timeout=[roce:19|ib:16] retry=7 "
	 "rnr=7\n"},
	{"resources of both sides", "cm_req_handler, cm_rep_handler: each side's own", 0,
	 SERVER ROUTED,
	 "connect A resources=3 depth=5 retry=2 rnr=4 -> 0\n"
	 "get@2 S -> CONNECT_REQUEST L id=S qpn=11 data=56: resources=5 depth=3 flow=1 retry=2 "
	 "rnr=4\n"
	 "init_qp_attr S rtr -> 0 mask=129181 state=2 mtu=5 rqpsn=* dest=11 [roce:port=1 dgid=map "
	 "sgid=map flowlabel=* hop=64|ib:dlid=own rate=17 port=1] destrdatomic=5\n"
	 "init_qp_attr S rts -> 0 mask=12e01 state=3 sqpsn=* rdatomic=3 timeout=[roce:19|ib:16] "
	 "retry=2 rnr=4\n"
	 "accept S resources=2 depth=1 rnr=6 qp_num=0x22 -> 0\n"
	 "get -> CONNECT_RESPONSE A qpn=22 data=196: resources=1 depth=2 flow=1 rnr=6\n"
	 "init_qp_attr A rtr -> 0 mask=129181 state=2 mtu=5 rqpsn=* dest=22 [roce:port=1 dgid=map "
	 "sgid=map flowlabel=* hop=64|ib:dlid=own rate=17 port=1] destrdatomic=1\n"
	 "init_qp_attr A rts -> 0 mask=12e01 state=3 sqpsn=* rdatomic=2 timeout=[roce:19|ib:16] "
	 "retry=2 rnr=6\n"
	 "init_qp_attr S rtr -> 0 mask=129181 state=2 mtu=5 rqpsn=* dest=11 [roce:port=1 dgid=map "
	 "sgid=map flowlabel=* hop=64|ib:dlid=own rate=17 port=1] destrdatomic=2\n"
	 "init_qp_attr S rts -> 0 mask=12e01 state=3 sqpsn=* rdatomic=1 timeout=[roce:19|ib:16] "
	 "retry=2 rnr=4\n"},
	{"a timeout that was set", "rdma_init_qp_attr: timeout_set", 0, SERVER ROUTED,
	 "set_option A 0 3 u8:9 -> 0\n"
	 "connect A -> 0\n"
	 "get@2 S -> CONNECT_REQUEST L id=S qpn=11 data=56: resources=1 depth=1 flow=1 retry=7 "
	 "rnr=7\n"
	 "accept S qp_num=0x22 -> 0\n"
	 "get -> CONNECT_RESPONSE A qpn=22 data=196: resources=1 depth=1 flow=1 rnr=7\n"
	 "init_qp_attr A rts -> 0 mask=12e01 state=3 sqpsn=* rdatomic=1 timeout=9 retry=7 rnr=7\n"
	 "init_qp_attr S rts -> 0 mask=12e01 state=3 sqpsn=* rdatomic=1 timeout=[roce:19|ib:16] "
	 "retry=7 rnr=7\n"},
	{"a timeout set before the route",
	 "cma_resolve_iboe_route: the path's lifetime is one less; cma_query_ib_route does not use "
	 "it",
	 0, SERVER RESOLVED,
	 "set_option A 0 3 u8:9 -> 0\n"
	 "route A -> 0\n"
	 "get -> ROUTE_RESOLVED A\n"
	 "query_route A -> 0 src=me:* dst=me:p1 guid=own port=1 paths=1 [[roce:dgid=map sgid=map "
	 "flowlabel=* reversible=1 mtu=5 pkey=ffff hop=64 mtusel=2 ratesel=2 lifesel=2 "
	 "life=8|ib:dgid=gid0 sgid=gid0 dlid=own slid=own reversible=1 mtu=5 pkey=ffff mtusel=2 "
	 "ratesel=2 rate=17 lifesel=2]]\n"
	 "connect A -> 0\n"
	 "get@2 S -> CONNECT_REQUEST L id=S qpn=11 data=56: resources=1 depth=1 flow=1 retry=7 "
	 "rnr=7\n"
	 "accept S qp_num=0x22 -> 0\n"
	 "get -> CONNECT_RESPONSE A qpn=22 data=196: resources=1 depth=1 flow=1 rnr=7\n"
	 "init_qp_attr A rts -> 0 mask=12e01 state=3 sqpsn=* rdatomic=1 timeout=9 retry=7 rnr=7\n"
	 "init_qp_attr S rts -> 0 mask=12e01 state=3 sqpsn=* rdatomic=1 timeout=[rxe:15|mlx5:16] "
	 "retry=7 rnr=7\n"},
	{"a type of service",
	 "cma_resolve_iboe_route: the traffic class; cma_query_ib_route: a QoS class for the SA", 0,
	 SERVER RESOLVED,
	 "set_option A 0 0 u8:0x68 -> 0\n"
	 "route A -> 0\n"
	 "get -> ROUTE_RESOLVED A\n"
	 "query_route A -> 0 src=me:* dst=me:p1 guid=own port=1 paths=1 [[roce:dgid=map sgid=map "
	 "flowlabel=* reversible=1 mtu=5 pkey=ffff hop=64 tclass=104 mtusel=2 ratesel=2 lifesel=2 "
	 "life=18|ib:dgid=gid0 sgid=gid0 dlid=own slid=own reversible=1 mtu=5 pkey=ffff mtusel=2 "
	 "ratesel=2 rate=17 lifesel=2]]\n"
	 "connect A -> 0\n"
	 "get@2 S -> CONNECT_REQUEST L id=S qpn=11 data=56: resources=1 depth=1 flow=1 retry=7 "
	 "rnr=7\n"
	 "query_route S -> 0 src=me:p1 dst=me:* guid=own port=1 paths=1 [[roce:dgid=map sgid=map "
	 "flowlabel=* reversible=1 mtu=5 pkey=ffff hop=64 tclass=104 mtusel=2 ratesel=2 lifesel=2 "
	 "life=18|ib:dgid=gid0 sgid=gid0 dlid=own slid=own reversible=1 mtu=5 pkey=ffff mtusel=2 "
	 "ratesel=2 rate=17 lifesel=2 life=15]]\n"
	 "accept S qp_num=0x22 -> 0\n"
	 "get -> CONNECT_RESPONSE A qpn=22 data=196: resources=1 depth=1 flow=1 rnr=7\n"
	 "init_qp_attr A rtr -> 0 mask=129181 state=2 mtu=5 rqpsn=* dest=22 [roce:port=1 dgid=map "
	 "sgid=map flowlabel=* hop=64 tclass=104|ib:dlid=own rate=17 port=1] destrdatomic=1\n"
	 "init_qp_attr S rtr -> 0 mask=129181 state=2 mtu=5 rqpsn=* dest=11 [roce:port=1 dgid=map "
	 "sgid=map flowlabel=* hop=64 tclass=104|ib:dlid=own rate=17 port=1] destrdatomic=1\n"},
	{"QP state 7", "ucma_init_qp_attr: IB_QPS_ERR", 0, BOUND, "init_qp_attr A 7 -> EINVAL\n"},
	{"QP state 0xffffffff", "ucma_init_qp_attr", 0, BOUND,
	 "init_qp_attr A 0xffffffff -> EINVAL\n"},
	{"QP state 7 of no id", "ucma_init_qp_attr: the state comes first", 0, NOTHING,
	 "init_qp_attr 77 7 -> EINVAL\n"},
	{"no such id", "ucma_get_ctx", 0, NOTHING, "init_qp_attr 77 init -> ENOENT\n"},
	{"the id of another file", "ucma_get_ctx", 0, BOUND, "init_qp_attr@2 A init -> EINVAL\n"},
	{"an answer of 143 bytes", "ucma_init_qp_attr: out_len", 0, BOUND,
	 "init_qp_attr A init out=143 -> ENOSPC\n"},
	{"no room, no id", "ucma_init_qp_attr: out_len comes first", 0, NOTHING,
	 "init_qp_attr 77 init out=0 -> ENOSPC\n"},
	{"more room", "ucma_init_qp_attr writes the structure", 0, BOUND,
	 "init_qp_attr A init out=256 -> 0 mask=39 state=1 qpport=1\n"},
	{"a bad answer's address", "copy_to_user()", 0, BOUND,
	 "init_qp_attr A init response=nowhere -> EFAULT\n"},
	{"a short command", "copy_from_user()", 0, BOUND,
	 "init_qp_attr A init cut=16 in=8 -> EFAULT\n"},
};
ROWS_END(qp_attr);
