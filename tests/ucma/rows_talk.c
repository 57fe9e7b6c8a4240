// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Whole conversations, event by event. */
#include "ucma.h"
#include "states.h"

const struct row talk_rows[] = {
	{"TCP: connect, accept, leave, time-wait", "cma_ib_handler; cm_enter_timewait", SLOW,
	 NOTHING,
	 "create@2 L tcp -> 0\n"
	 "bind L me:p1 -> 0\n"
	 "listen L 4 -> 0\n"
	 "create@1 A tcp -> 0\n"
	 "resolve A me:p1 -> 0\n"
	 "get -> ADDR_RESOLVED A\n"
	 "query_addr A -> 0 src=16:me:* dst=16:me:p1 guid=own port=1[roce:|ib: pkey=ffff]\n"
	 "route A -> 0\n"
	 "get -> ROUTE_RESOLVED A\n"
	 "query_route A -> 0 src=me:* dst=me:p1 guid=own port=1 paths=1 [[roce:dgid=map sgid=map "
	 "flowlabel=* reversible=1 mtu=5 pkey=ffff hop=64 mtusel=2 ratesel=2 lifesel=2 "
	 "life=18|ib:dgid=gid0 sgid=gid0 dlid=own slid=own reversible=1 mtu=5 pkey=ffff mtusel=2 "
	 "ratesel=2 rate=17 lifesel=2]]\n"
	 "connect A qp_num=0x11 data=hello -> 0\n"
	 "get@2 S -> CONNECT_REQUEST L id=S qpn=11 data=56:hello resources=1 depth=1 flow=1 "
	 "retry=7 rnr=7\n"
	 "query_addr S -> 0 src=16:me:p1 dst=16:me:* guid=own port=1[roce:|ib: pkey=ffff]\n"
	 "accept S qp_num=0x22 data=welcome -> 0\n"
	 "get -> CONNECT_RESPONSE A qpn=22 data=196:welcome resources=1 depth=1 flow=1 rnr=7\n"
	 "accept A valid=0 -> 0\n"
	 "get@2 -> ESTABLISHED S\n"
	 "disconnect A -> 0\n"
	 "get@2 -> DISCONNECTED S\n"
	 "disconnect S -> 0\n"
	 "get -> DISCONNECTED A\n"
	 "get@1 -> TIMEWAIT_EXIT A\n"
	 "get@2 -> TIMEWAIT_EXIT S\n"
	 "destroy A -> 0 reported=5\n"
	 "destroy S -> 0 reported=3\n"
	 "destroy L -> 0 reported=1\n"},
	{"TCP: the server leaves first", "cma_ib_handler", SLOW, CONNECTED,
	 "disconnect S -> 0\n"
	 "get -> DISCONNECTED A\n"
	 "disconnect A -> 0\n"
	 "get@2 -> DISCONNECTED S\n"
	 "get@2 -> TIMEWAIT_EXIT S\n"
	 "get@1 -> TIMEWAIT_EXIT A\n"},
	{"TCP: two connections to one listener", "cma_find_listener", 0, SERVER,
	 "create@1 A tcp -> 0\n"
	 "resolve A me:p1 -> 0\n"
	 "get -> ADDR_RESOLVED A\n"
	 "route A -> 0\n"
	 "get -> ROUTE_RESOLVED A\n"
	 "create@1 B tcp -> 0\n"
	 "resolve B me:p1 -> 0\n"
	 "get -> ADDR_RESOLVED B\n"
	 "route B -> 0\n"
	 "get -> ROUTE_RESOLVED B\n"
	 "connect A qp_num=0x11 -> 0\n"
	 "get@2 S -> CONNECT_REQUEST L id=S qpn=11 data=56: resources=1 depth=1 flow=1 retry=7 "
	 "rnr=7\n"
	 "connect B qp_num=0x12 -> 0\n"
	 "get@2 T -> CONNECT_REQUEST L id=T qpn=12 data=56: resources=1 depth=1 flow=1 retry=7 "
	 "rnr=7\n"
	 "accept T qp_num=0x23 -> 0\n"
	 "get@1 -> CONNECT_RESPONSE B qpn=23 data=196: resources=1 depth=1 flow=1 rnr=7\n"
	 "accept S qp_num=0x22 -> 0\n"
	 "get@1 -> CONNECT_RESPONSE A qpn=22 data=196: resources=1 depth=1 flow=1 rnr=7\n"
	 "accept A valid=0 -> 0\n"
	 "get@2 -> ESTABLISHED S\n"
	 "accept B valid=0 -> 0\n"
	 "get@2 -> ESTABLISHED T\n"
	 "disconnect B -> 0\n"
	 "get@2 -> DISCONNECTED T\n"
	 "disconnect S -> 0\n"
	 "get@1 -> DISCONNECTED A\n"},
	{"TCP: both ids in one file", "ucma_event_handler", 0, NOTHING,
	 "create L tcp -> 0\n"
	 "bind L me:p1 -> 0\n"
	 "listen L -> 0\n"
	 "create A tcp -> 0\n"
	 "resolve A me:p1 -> 0\n"
	 "get -> ADDR_RESOLVED A\n"
	 "route A -> 0\n"
	 "get -> ROUTE_RESOLVED A\n"
	 "connect A -> 0\n"
	 "get S -> CONNECT_REQUEST L id=S qpn=11 data=56: resources=1 depth=1 flow=1 retry=7 "
	 "rnr=7\n"
	 "accept S qp_num=0x22 -> 0\n"
	 "get -> CONNECT_RESPONSE A qpn=22 data=196: resources=1 depth=1 flow=1 rnr=7\n"
	 "accept A valid=0 -> 0\n"
	 "get -> ESTABLISHED S\n"
	 "disconnect A -> 0\n"
	 "get -> DISCONNECTED S\n"
	 "disconnect S -> 0\n"
	 "get -> DISCONNECTED A\n"},
	{"TCP: a listener on any address", "cma_listen_on_dev: each device has an id of its own", 0,
	 NOTHING,
	 "create@2 L tcp -> 0\n"
	 "bind L any:p1 -> 0\n"
	 "listen L -> 0\n"
	 "create@1 A tcp -> 0\n"
	 "resolve A me:p1 -> 0\n"
	 "get -> ADDR_RESOLVED A\n"
	 "route A -> 0\n"
	 "get -> ROUTE_RESOLVED A\n"
	 "connect A -> 0\n"
	 "get@2 S -> CONNECT_REQUEST L id=S qpn=11 data=56: resources=1 depth=1 flow=1 retry=7 "
	 "rnr=7\n"
	 "query_addr S -> 0 src=16:me:p1 dst=16:me:* guid=own port=1[roce:|ib: pkey=ffff]\n"
	 "query_addr L -> 0 src=16:any:p1 dst=16:any:0\n"
	 "query_route S -> 0 src=me:p1 dst=me:* guid=own port=1 paths=1 [[roce:dgid=map sgid=map "
	 "flowlabel=* reversible=1 mtu=5 pkey=ffff hop=64 mtusel=2 ratesel=2 lifesel=2 "
	 "life=18|ib:dgid=gid0 sgid=gid0 dlid=own slid=own reversible=1 mtu=5 pkey=ffff mtusel=2 "
	 "ratesel=2 rate=17 lifesel=2 life=15]]\n"
	 "accept S qp_num=0x22 -> 0\n"
	 "get -> CONNECT_RESPONSE A qpn=22 data=196: resources=1 depth=1 flow=1 rnr=7\n"},
	{"TCP: a listener on any IPv6 address, an IPv4 client",
	 "cma_match_private_data: afonly is off", 0, NOTHING,
	 "create@2 L tcp -> 0\n"
	 "bind L any6:p1 -> 0\n"
	 "listen L -> 0\n"
	 "create@1 A tcp -> 0\n"
	 "resolve A me:p1 -> 0\n"
	 "get -> ADDR_RESOLVED A\n"
	 "route A -> 0\n"
	 "get -> ROUTE_RESOLVED A\n"
	 "connect A -> 0\n"
	 "get@2 S -> CONNECT_REQUEST L id=S qpn=11 data=56: resources=1 depth=1 flow=1 retry=7 "
	 "rnr=7\n"
	 "query_addr S -> 0 src=16:me:p1 dst=16:me:* guid=own port=1[roce:|ib: pkey=ffff]\n"
	 "accept S qp_num=0x22 -> 0\n"
	 "get -> CONNECT_RESPONSE A qpn=22 data=196: resources=1 depth=1 flow=1 rnr=7\n"},
	{"TCP: a listener on any IPv6 address alone, an IPv4 client", "cma_match_private_data: REJ",
	 0, NOTHING,
	 "create@2 L tcp -> 0\n"
	 "set_option L 0 2 int:1 -> 0\n"
	 "bind L any6:p1 -> 0\n"
	 "listen L -> 0\n"
	 "create@1 A tcp -> 0\n"
	 "resolve A me:p1 -> 0\n"
	 "get -> ADDR_RESOLVED A\n"
	 "route A -> 0\n"
	 "get -> ROUTE_RESOLVED A\n"
	 "connect A -> 0\n"
	 "get -> REJECTED A status=28 data=148:\n"},
	{"TCP: IPv6", "cma_format_hdr", V6, NOTHING,
	 "create@2 L tcp -> 0\n"
	 "bind L me6:p1 -> 0\n"
	 "listen L -> 0\n"
	 "create@1 A tcp -> 0\n"
	 "resolve A me6:p1 -> 0\n"
	 "get -> ADDR_RESOLVED A\n"
	 "route A -> 0\n"
	 "get -> ROUTE_RESOLVED A\n"
	 "connect A data=six -> 0\n"
	 "get@2 S -> CONNECT_REQUEST L id=S qpn=11 data=56:six resources=1 depth=1 flow=1 retry=7 "
	 "rnr=7\n"
	 "query_addr S -> 0 src=28:me6:p1 dst=28:me6:* guid=own port=1[roce:|ib: pkey=ffff]\n"
	 "accept S qp_num=0x22 -> 0\n"
	 "get -> CONNECT_RESPONSE A qpn=22 data=196: resources=1 depth=1 flow=1 rnr=7\n"
	 "accept A valid=0 -> 0\n"
	 "get@2 -> ESTABLISHED S\n"},
	{"TCP: link-local addresses", "cma_is_req_ipv6_ll", LL6, NOTHING,
	 "create@2 L tcp -> 0\n"
	 "bind L ll6:p1 -> 0\n"
	 "listen L -> 0\n"
	 "create@1 A tcp -> 0\n"
	 "resolve A ll6:p1 -> 0\n"
	 "get -> ADDR_RESOLVED A\n"
	 "route A -> 0\n"
	 "get -> ROUTE_RESOLVED A\n"
	 "connect A -> 0\n"
	 "get@2 S -> CONNECT_REQUEST L id=S qpn=11 data=56: resources=1 depth=1 flow=1 retry=7 "
	 "rnr=7\n"
	 "query_addr S -> 0 src=28:ll6:p1 dst=28:ll6:* guid=own port=1[roce:|ib: pkey=ffff]\n"},
	{"TCP: an IPv6 listener, an IPv4 client of the same port", "cma_match_private_data: REJ",
	 V6, NOTHING,
	 "create@2 L tcp -> 0\n"
	 "bind L me6:p1 -> 0\n"
	 "listen L -> 0\n"
	 "create@1 A tcp -> 0\n"
	 "resolve A me:p1 -> 0\n"
	 "get -> ADDR_RESOLVED A\n"
	 "route A -> 0\n"
	 "get -> ROUTE_RESOLVED A\n"
	 "connect A -> 0\n"
	 "get -> REJECTED A status=28 data=148:\n"},
	{"TCP: a client of the loopback address",
	 "cma_bind_loopback; cma_resolve_iboe_route: ENODEV", ROCE_ONLY, SERVER,
	 "create@1 A tcp -> 0\n"
	 "resolve A lo:p1 -> 0\n"
	 "get -> ADDR_RESOLVED A\n"
	 "route A -> ENODEV\n"},
	{"TCP: rejected", "rdma_reject: status 28", 0, CONNECTING,
	 "reject S sorry -> 0\n"
	 "get -> REJECTED A status=28 data=148:sorry\n"
	 "disconnect A -> 0\n"
	 "destroy A -> 0 reported=3\n"
	 "destroy S -> 0 reported=0\n"},
	{"TCP: rejected, then accepted on another id", "cm_req_handler", 0, CONNECTING,
	 "reject S -> 0\n"
	 "get -> REJECTED A status=28 data=148:\n"
	 "create@1 B tcp -> 0\n"
	 "resolve B me:p1 -> 0\n"
	 "get -> ADDR_RESOLVED B\n"
	 "route B -> 0\n"
	 "get -> ROUTE_RESOLVED B\n"
	 "connect B -> 0\n"
	 "get@2 T -> CONNECT_REQUEST L id=T qpn=11 data=56: resources=1 depth=1 flow=1 retry=7 "
	 "rnr=7\n"
	 "accept T qp_num=0x22 -> 0\n"
	 "get -> CONNECT_RESPONSE B qpn=22 data=196: resources=1 depth=1 flow=1 rnr=7\n"},
	{"TCP: rejected with reason 35", "rdma_reject_ece: vendor option not supported", 0,
	 CONNECTING,
	 "reject S reason=35 -> 0\n"
	 "get -> REJECTED A status=35 data=148:\n"},
	{"TCP: nobody listens", "cm_match_req: IB_CM_REJ_INVALID_SERVICE_ID", 0, ROUTED,
	 "connect A -> 0\n"
	 "get -> REJECTED A status=8 data=148:\n"},
	{"TCP: the same QP twice",
	 "cm_match_req, cm_insert_remote_qpn: REJ stale connection, DREQ for the older one", 0,
	 CONNECTED,
	 "create@1 B tcp -> 0\n"
	 "resolve B me:p1 -> 0\n"
	 "get -> ADDR_RESOLVED B\n"
	 "route B -> 0\n"
	 "get -> ROUTE_RESOLVED B\n"
	 "connect B qp_num=0x11 -> 0\n"
	 "get@1 -> REJECTED B status=10 data=148:\n"
	 "get@1 -> DISCONNECTED A\n"
	 "quiet@2 -> quiet\n"
	 "disconnect A -> 0\n"
	 "get@2 -> DISCONNECTED S\n"},
	{"TCP: the client goes while its request waits",
	 "ucma_event_handler: the request has no uid, so no event", 0, SERVER ROUTED,
	 "connect A -> 0\n"
	 "wait@2 -> 0\n"
	 "destroy A -> 0 reported=2\n"
	 "get@2 S -> CONNECT_REQUEST L id=S qpn=11 data=56: resources=1 depth=1 flow=1 retry=7 "
	 "rnr=7\n"
	 "quiet@2 -> quiet\n"
	 "accept S -> EINVAL\n"
	 "destroy S -> 0 reported=0\n"},
	{"TCP: the client rejects the answer", "cma_ib_handler", 0, ANSWERED,
	 "reject A sorry -> 0\n"
	 "get@2 -> REJECTED S status=28 data=148:sorry\n"
	 "destroy S -> 0 reported=1\n"},
	{"TCP: an answer to a server that has left", "cm_destroy_id: REJ", 0, ANSWERED,
	 "destroy S -> 0 reported=0\n"
	 "get -> REJECTED A status=28 data=148:\n"},
	{"UDP: request and answer", "cma_sidr_rep_handler", 0, NOTHING,
	 "create@2 L udp -> 0\n"
	 "bind L me:p1 -> 0\n"
	 "listen L -> 0\n"
	 "create@1 U udp -> 0\n"
	 "resolve U me:p1 -> 0\n"
	 "get -> ADDR_RESOLVED U\n"
	 "route U -> 0\n"
	 "get -> ROUTE_RESOLVED U\n"
	 "connect U data=hello -> 0\n"
	 "get@2 V -> CONNECT_REQUEST L id=V data=180:hello\n"
	 "query_addr V -> 0 src=16:me:p1 dst=16:me:* guid=own port=1[roce:|ib: pkey=ffff]\n"
	 "accept V qp_num=0x22 data=welcome -> 0\n"
	 "get -> ESTABLISHED U qpn=22 qkey=1234567 data=136:welcome [roce:port=1 dgid=map sgid=map "
	 "flowlabel=* hop=64|ib:dlid=own rate=17 port=1]\n"
	 "query_addr U -> 0 src=16:me:* dst=16:me:p1 guid=own port=1[roce:|ib: pkey=ffff]\n"
	 "init_qp_attr U init -> 0 mask=71 state=1 qkey=1234567 qpport=1\n"
	 "disconnect U -> 0\n"
	 "destroy V -> 0 reported=0\n"
	 "destroy U -> 0 reported=3\n"
	 "destroy L -> 0 reported=1\n"},
	{"UDP: rejected", "cma_sidr_rep_handler: UNREACHABLE, status 2", 0, UD_CONNECTING,
	 "reject V sorry -> 0\n"
	 "get -> UNREACHABLE U status=2 data=136:sorry\n"},
	{"UDP: nobody listens", "cma_sidr_rep_handler: UNREACHABLE, status 1", 0, UD_ROUTED,
	 "connect U -> 0\n"
	 "get -> UNREACHABLE U status=1 data=136:\n"},
	{"UDP: the request's id is destroyed", "cm_destroy_id: IB_SIDR_REJECT", 0, UD_CONNECTING,
	 "destroy V -> 0 reported=0\n"
	 "get -> UNREACHABLE U status=2 data=136:\n"},
	{"UDP: the server's file is closed", "cm_destroy_id: IB_SIDR_REJECT", 0, UD_CONNECTING,
	 "close@2 -> 0\n"
	 "get -> UNREACHABLE U status=2 data=136:\n"},
	{"UDP: the client goes", "the server is not told", 0, UD_CONNECTING,
	 "destroy U -> 0 reported=2\n"
	 "quiet@2 -> quiet\n"
	 "accept V -> 0\n"},
	{"UDP: a listener and a client on the same id's file", "ucma_event_handler", 0, NOTHING,
	 "create L udp -> 0\n"
	 "bind L me:p1 -> 0\n"
	 "listen L -> 0\n"
	 "create U udp -> 0\n"
	 "resolve U me:p1 -> 0\n"
	 "get -> ADDR_RESOLVED U\n"
	 "route U -> 0\n"
	 "get -> ROUTE_RESOLVED U\n"
	 "connect U -> 0\n"
	 "get V -> CONNECT_REQUEST L id=V data=180:\n"
	 "accept V qp_num=0x22 -> 0\n"
	 "get -> ESTABLISHED U qpn=22 qkey=1234567 data=136: [roce:port=1 dgid=map sgid=map "
	 "flowlabel=* hop=64|ib:dlid=own rate=17 port=1]\n"},
	{"IB: port space IB with RC", "cma_ib_listen: service of RDMA_PS_IB", 0, NOTHING,
	 "create@2 L ib qp_type=2 -> 0\n"
	 "bind L me:p1 -> 0\n"
	 "listen L -> 0\n"
	 "create@1 A ib qp_type=2 -> 0\n"
	 "resolve A me:p1 -> 0\n"
	 "get -> ADDR_RESOLVED A\n"
	 "query_gid A -> 0 src=48:ib:[roce:map|ib:gid0]/13f:*&0[roce:,pkey=0|ib:] "
	 "dst=48:ib:[roce:map|ib:gid0]/13f:p1&0[roce:,pkey=0|ib:] guid=own port=1[roce:|ib: "
	 "pkey=ffff]\n"
	 "route A -> 0\n"
	 "get -> ROUTE_RESOLVED A\n"
	 "connect A -> 0\n"
	 "get@2 S -> CONNECT_REQUEST L id=S qpn=11 data=56: resources=1 depth=1 flow=1 retry=7 "
	 "rnr=7\n"
	 "accept S qp_num=0x22 -> 0\n"
	 "get -> CONNECT_RESPONSE A qpn=22 data=196: resources=1 depth=1 flow=1 rnr=7\n"
	 "accept A valid=0 -> 0\n"
	 "get@2 -> ESTABLISHED S\n"},
	{"IB: port space IB with UD", "cma_resolve_ib_udp", 0, NOTHING,
	 "create@2 L ib qp_type=4 -> 0\n"
	 "bind L me:p1 -> 0\n"
	 "listen L -> 0\n"
	 "create@1 U ib qp_type=4 -> 0\n"
	 "resolve U me:p1 -> 0\n"
	 "get -> ADDR_RESOLVED U\n"
	 "route U -> 0\n"
	 "get -> ROUTE_RESOLVED U\n"
	 "connect U -> 0\n"
	 "get@2 V -> CONNECT_REQUEST L id=V data=180:\n"
	 "accept V qp_num=0x22 -> 0\n"
	 "get -> ESTABLISHED U qpn=22 qkey=1234567 data=136: [roce:port=1 dgid=map sgid=map "
	 "flowlabel=* hop=64|ib:dlid=own rate=17 port=1]\n"},
	{"a host that is not there: no neighbour", "process_one_req: ETIMEDOUT", 0, IDLE,
	 "resolve A neighbour:p1 timeout_ms=100 -> 0\n"
	 "get -> ADDR_ERROR A status=-110\n"},
};
ROWS_END(talk);
