// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Rows of InfiniBand ports only: AF_IB, the port space IPoIB. Read in the source, not recorded. */
#include "ucma.h"
#include "states.h"

const struct row ib_rows[] = {
	{"AF_IB: resolve", "cma_resolve_ib_dev: the source is the port's GID", IB_ONLY, IDLE,
	 "resolve A ib0:p1 -> 0\n"
	 "get -> ADDR_RESOLVED A\n"
	 "query_addr A -> 0 src=48:ib:gid0/106:* dst=48:ib:gid0/106:p1 guid=own port=1 pkey=ffff\n"
	 "query_gid A -> 0 src=48:ib:gid0/106:* dst=48:ib:gid0/106:p1 guid=own port=1 pkey=ffff\n"
	 "query_path A -> 0 paths=0\n"},
	{"AF_IB: resolve with a source", "rdma_bind_addr_dst", IB_ONLY, IDLE,
	 "resolve A ib0:p1 src=ib0:p2 -> 0\n"
	 "get -> ADDR_RESOLVED A\n"
	 "query_addr A -> 0 src=48:ib:gid0/106:p2 dst=48:ib:gid0/106:p1 guid=own port=1 "
	 "pkey=ffff\n"},
	{"AF_IB: resolve with a source of another port space", "cma_select_ib_ps: EPROTONOSUPPORT",
	 IB_ONLY, IDLE, "resolve A ib0:p1 src=ib0/udp:p2 -> EPROTONOSUPPORT\n"},
	{"AF_IB: resolve with an IPv4 source", "resolve_prepare_src: cma_family() differs", IB_ONLY,
	 IDLE, "resolve A ib0:p1 src=me:p2 -> EINVAL\n"},
	{"AF_IB: resolve, the port space IB", "cma_select_ib_ps: mask 0 means IB", IB_ONLY, NOTHING,
	 "create A ib qp_type=2 -> 0\n"
	 "resolve A ib0/ib:p1 -> 0\n"
	 "get -> ADDR_RESOLVED A\n"
	 "query_addr A -> 0 src=48:ib:gid0/13f:* dst=48:ib:gid0/13f:p1 guid=own port=1 "
	 "pkey=ffff\n"},
	{"AF_IB: resolve a GID of the subnet that nobody has",
	 "cma_resolve_ib_dev: the prefix is the port's", IB_ONLY, IDLE,
	 "resolve A ibstranger:p1 -> 0\n"
	 "get -> ADDR_RESOLVED A\n"
	 "query_addr A -> 0 src=48:ib:gid0/106:* dst=48:ib:fe80::dead/106:p1 guid=own port=1 "
	 "pkey=ffff\n"},
	{"AF_IB: the route to a GID that nobody has",
	 "cma_query_handler: the SA's refusal is EINVAL; the id is resolved as before", IB_ONLY,
	 IDLE,
	 "resolve A ibstranger:p1 -> 0\n"
	 "get -> ADDR_RESOLVED A\n"
	 "route A -> 0\n"
	 "get -> ROUTE_ERROR A status=-22\n"
	 "query_path A -> 0 paths=0\n"
	 "route A -> 0\n"
	 "get -> ROUTE_ERROR A status=-22\n"},
	{"AF_IB: route", "cma_resolve_ib_route", IB_ONLY, IDLE,
	 "resolve A ib0:p1 -> 0\n"
	 "get -> ADDR_RESOLVED A\n"
	 "route A -> 0\n"
	 "get -> ROUTE_RESOLVED A\n"
	 "query_path A -> 0 paths=1 [flags=2b dgid=gid0 sgid=gid0 dlid=own slid=own reversible=1 "
	 "pkey=ffff mtusel=2 mtu=5 ratesel=2 rate=17 lifesel=2]\n"},
	{"AF_IB: an address and a port in use", "cma_check_port: EADDRINUSE, EADDRNOTAVAIL",
	 IB_ONLY, IDLE,
	 "bind A ib0:p1 -> 0\n"
	 "create B -> 0\n"
	 "bind B ib0:p1 -> EADDRINUSE\n"
	 "bind B ibany:p1 -> EADDRNOTAVAIL\n"
	 "bind B ib0:p2 -> 0\n"},
	{"AF_IB: the port of an IPv4 address",
	 "cma_check_port: other families are other addresses, any address is everybody's", IB_ONLY,
	 BOUND,
	 "create B -> 0\n"
	 "bind B ibany:p1 -> EADDRNOTAVAIL\n"
	 "bind B ib0:p1 -> 0\n"},
	{"AF_IB: the port space is the service's",
	 "cma_select_ib_ps: an id of IB with a service of TCP takes TCP's port", IB_ONLY, BOUND,
	 "create B ib qp_type=2 -> 0\n"
	 "bind B ibany/tcp:p1 -> EADDRNOTAVAIL\n"
	 "bind B ibany/ib:p1 -> 0\n"},
	{"AF_IB: a conversation",
	 "cma_user_data_offset: no header, all 92 bytes are the program's; cma_save_ib_info",
	 IB_ONLY, IB_SERVER IB_ROUTED,
	 "connect A -> 0\n"
	 "get@2 S -> CONNECT_REQUEST L id=S qpn=11 data=92: resources=1 depth=1 flow=1 retry=7 "
	 "rnr=7\n"
	 "query_addr S -> 0 src=48:ib:gid0/106:p1 dst=48:ib:gid0/0:0&0 guid=own port=1 pkey=ffff\n"
	 "query_addr L -> 0 src=48:ib:gid0/106:p1 dst=48:ib:0/0:0&0,pkey=0 guid=own port=1 "
	 "pkey=ffff\n"
	 "query_path S -> 0 paths=1 [flags=2b dgid=gid0 sgid=gid0 service=106:p1 dlid=own slid=own "
	 "reversible=1 pkey=ffff mtusel=2 mtu=5 ratesel=2 rate=17 lifesel=2 life=15]\n"
	 "accept S qp_num=0x22 -> 0\n"
	 "get -> CONNECT_RESPONSE A qpn=22 data=196: resources=1 depth=1 flow=1 rnr=7\n"
	 "accept A valid=0 -> 0\n"
	 "get@2 -> ESTABLISHED S\n"
	 "disconnect A -> 0\n"
	 "get@2 -> DISCONNECTED S\n"
	 "disconnect S -> 0\n"
	 "get -> DISCONNECTED A\n"},
	{"AF_IB: a listener on any GID", "cma_listen_on_dev", IB_ONLY, IB_ROUTED,
	 "create@2 L tcp -> 0\n"
	 "bind L ibany:p1 -> 0\n"
	 "listen L -> 0\n"
	 "connect A -> 0\n"
	 "get@2 S -> CONNECT_REQUEST L id=S qpn=11 data=92: resources=1 depth=1 flow=1 retry=7 "
	 "rnr=7\n"
	 "query_addr S -> 0 src=48:ib:gid0/106:p1 dst=48:ib:gid0/0:0&0 guid=own port=1 "
	 "pkey=ffff\n"},
	{"AF_IB: private data", "cma_format_hdr: its version, 0, is written over the first byte",
	 IB_ONLY, IB_SERVER IB_ROUTED,
	 "connect A data=xyz -> 0\n"
	 "get@2 S -> CONNECT_REQUEST L id=S qpn=11 data=92:\\00yz resources=1 depth=1 flow=1 "
	 "retry=7 rnr=7\n"},
	{"AF_IB: private data that looks like the header of IPv6",
	 "cma_get_net_dev: the second byte, e, says version 6; REJ", IB_ONLY, IB_SERVER IB_ROUTED,
	 "connect A data=hello -> 0\n"
	 "get -> REJECTED A status=28 data=148:\n"},
	{"AF_IB: 93 bytes of private data", "cm_validate_req_param: more than 92", IB_ONLY,
	 IB_SERVER IB_ROUTED,
	 "connect A data=#93 -> EINVAL\n"
	 "connect A data=#92 -> 0\n"
	 "wait@2 -> 0\n"},
	{"AF_IB: a listener of IPv4", "cma_match_private_data: the header says version 0; REJ",
	 IB_ONLY, SERVER IB_ROUTED,
	 "connect A -> 0\n"
	 "get -> REJECTED A status=28 data=148:\n"},
	{"AF_IB: a listener on any IPv6 address",
	 "cma_match_net_dev: a request without an interface is for AF_IB alone; REJ", IB_ONLY,
	 IB_ROUTED,
	 "create@2 L tcp -> 0\n"
	 "bind L any6:p1 -> 0\n"
	 "listen L -> 0\n"
	 "connect A -> 0\n"
	 "get -> REJECTED A status=28 data=148:\n"},
	{"AF_IB: nobody listens", "cm_match_req", IB_ONLY, IB_ROUTED,
	 "connect A -> 0\n"
	 "get -> REJECTED A status=8 data=148:\n"},
	{"AF_IB: UDP", "cma_save_ib_info: a SIDR_REQ has no path; 216 bytes are the program's",
	 IB_ONLY, IB_UD_CONNECTING,
	 "query_addr V -> 0 src=48:ib:gid0/111:p1 dst=48:ib:0/0:0&0,pkey=0 guid=own port=1 "
	 "pkey=ffff\n"
	 "accept V qp_num=0x22 -> 0\n"
	 "get -> ESTABLISHED U qpn=22 qkey=1234567 data=136: dlid=own rate=17 port=1\n"},
	{"AF_IB: UDP, a Q_Key", "ucma_copy_conn_param: AF_IB takes it", IB_ONLY, IB_UD_CONNECTING,
	 "accept V qp_num=0x22 qkey=0x11111111 -> 0\n"
	 "get -> ESTABLISHED U qpn=22 qkey=11111111 data=136: dlid=own rate=17 port=1\n"},
	{"AF_IB: UDP, a Q_Key that is not the asking side's",
	 "cma_sidr_rep_handler: cma_set_qkey() refuses", IB_ONLY, IB_UD_CONNECTING,
	 "init_qp_attr U init -> 0 mask=71 state=1 qkey=1234567 qpport=1\n"
	 "accept V qp_num=0x22 qkey=0x11111111 -> 0\n"
	 "get -> ADDR_ERROR U status=-22 data=136:\n"},
	{"AF_IB: UDP, a Q_Key that is not the id's",
	 "cma_send_sidr_rep: cma_set_qkey() refuses, rdma_accept rejects", IB_ONLY,
	 IB_UD_CONNECTING,
	 "init_qp_attr V init -> 0 mask=71 state=1 qkey=1234567 qpport=1\n"
	 "accept V qp_num=0x22 qkey=0x11111111 -> EINVAL\n"
	 "get -> UNREACHABLE U status=2 data=136:\n"},
	{"AF_IB: a group of an id that is bound to a GID",
	 "cma_join_ib_multicast: the broadcast group is not known", IB_ONLY, NOTHING,
	 "create U udp -> 0\n"
	 "bind U ib0/udp:p1 -> 0\n"
	 "join U mc:0 -> EADDRNOTAVAIL\n"},
	{"IPoIB: bind", "cma_acquire_dev_by_src_ip", IB_ONLY, NOTHING,
	 "create U ipoib -> 0\n"
	 "bind U me:p1 -> 0\n"
	 "query_addr U -> 0 src=16:me:p1 dst=16:any:0 guid=own port=1 pkey=ffff\n"},
	{"IPoIB: the Q_Key", "cma_set_default_qkey: that of the broadcast group", IB_ONLY, NOTHING,
	 "create U ipoib -> 0\n"
	 "bind U me:p1 -> 0\n"
	 "init_qp_attr U init -> 0 mask=71 state=1 qkey=b1b qpport=1\n"},
	{"IPoIB: a group",
	 "cma_join_ib_multicast: Q_Key and rate are the broadcast group's, the MGID is that of "
	 "IPoIB",
	 IB_ONLY, NOTHING,
	 "create U ipoib -> 0\n"
	 "bind U me:p1 -> 0\n"
	 "join U mc:0 as=M -> 0\n"
	 "get -> MULTICAST_JOIN M qpn=ffffff qkey=b1b dlid=mc rate=3 port=1 "
	 "dgid=ff12:401b:ffff::f01:203 sgid=gid0\n"
	 "leave M -> 0 reported=1\n"},
	{"IPoIB: a conversation", "cma_send_sidr_rep: the Q_Key is the broadcast group's", IB_ONLY,
	 NOTHING,
	 "create@2 L ipoib -> 0\n"
	 "bind L me:p1 -> 0\n"
	 "listen L -> 0\n"
	 "create U ipoib -> 0\n"
	 "resolve U me:p1 -> 0\n"
	 "get -> ADDR_RESOLVED U\n"
	 "query_gid U -> 0 src=48:ib:gid0/2:*&0 dst=48:ib:gid0/2:p1&0 guid=own port=1 pkey=ffff\n"
	 "route U -> 0\n"
	 "get -> ROUTE_RESOLVED U\n"
	 "connect U data=hello -> 0\n"
	 "get@2 V -> CONNECT_REQUEST L id=V data=180:hello\n"
	 "accept V qp_num=0x22 -> 0\n"
	 "get -> ESTABLISHED U qpn=22 qkey=b1b data=136: dlid=own rate=17 port=1\n"},
};
ROWS_END(ib);
