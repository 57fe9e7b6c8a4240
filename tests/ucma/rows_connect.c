// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* CONNECT, ACCEPT, REJECT, DISCONNECT and NOTIFY. */
#include "ucma.h"
#include "states.h"

const struct row connect_rows[] = {
	{"connect: a routed id", "rdma_connect_ece", 0, ROUTED, "connect A -> 0\n"},
	{"connect: twice", "rdma_connect_locked: state is CONNECT", 0, CONNECTING,
	 "connect A -> EINVAL\n"},
	{"connect: parameters that are not valid", "ucma_connect: conn_param.valid", 0, ROUTED,
	 "connect A valid=0 -> EINVAL\n"
	 "connect A -> 0\n"},
	{"connect: valid is 255", "ucma_connect: any value but 0", 0, ROUTED,
	 "connect A valid=255 -> 0\n"},
	{"connect: a new id", "ucma_get_ctx_dev: no device", 0, IDLE, "connect A -> EINVAL\n"},
	{"connect: a bound id", "rdma_connect_locked: state is ADDR_BOUND", 0, BOUND,
	 "connect A -> EINVAL\n"},
	{"connect: an id that is bound to any address", "ucma_get_ctx_dev: no device", 0, BOUND_ANY,
	 "connect A -> EINVAL\n"},
	{"connect: a resolved id", "rdma_connect_locked: state is ADDR_RESOLVED", 0, RESOLVED,
	 "connect A -> EINVAL\n"},
	{"connect: a listener", "rdma_connect_locked: state is LISTEN", 0, LISTENING,
	 "connect A -> EINVAL\n"},
	{"connect: a request's id", "rdma_connect_locked: state is CONNECT", 0, CONNECTING,
	 "connect S -> EINVAL\n"},
	{"connect: an established id", "rdma_connect_locked: state is CONNECT", 0, CONNECTED,
	 "connect A -> EINVAL\n"},
	{"connect: a disconnected id", "rdma_connect_locked: state is DISCONNECT", 0, DISCONNECTED,
	 "connect A -> EINVAL\n"},
	{"connect: no such id", "ucma_get_ctx", 0, NOTHING, "connect 77 -> ENOENT\n"},
	{"connect: no such id and parameters that are not valid", "ucma_connect: they come first",
	 0, NOTHING, "connect 77 valid=0 -> EINVAL\n"},
	{"connect: the id of another file", "ucma_get_ctx", 0, ROUTED, "connect@2 A -> EINVAL\n"},
	{"connect: without the ECE", "ucma_connect: in_len up to reserved", 0, SERVER ROUTED,
	 "connect A in=280 cut=288 vendor=5 mod=6 -> 0\n"
	 "get@2 S -> CONNECT_REQUEST L id=S qpn=11 data=56: resources=1 depth=1 flow=1 retry=7 "
	 "rnr=7\n"},
	{"connect: with half of the ECE", "ucma_connect: offsetofend(ece) <= in_size", 0,
	 SERVER ROUTED,
	 "connect A in=284 cut=292 vendor=5 mod=6 -> 0\n"
	 "get@2 S -> CONNECT_REQUEST L id=S qpn=11 data=56: resources=1 depth=1 flow=1 retry=7 "
	 "rnr=7\n"},
	{"connect: a shorter command", "ucma_connect: in_len", 0, ROUTED,
	 "connect A in=279 -> EINVAL\n"},
	{"connect: no command at all", "ucma_connect: in_len", 0, ROUTED,
	 "connect A in=0 -> EINVAL\n"},
	{"connect: a longer command", "ucma_connect: min_t()", 0, ROUTED,
	 "connect A at=0x300000100000 in=400 len=408 -> 0\n"},
	{"connect: a short command at the end of memory", "ucma_connect: in_len comes first", 0,
	 ROUTED, "connect A in=200 cut=208 -> EINVAL\n"},
	{"connect: a reserved word", "ucma_connect does not look at it", 0, ROUTED,
	 "connect A reserved=5 -> 0\n"},
	{"connect: with the ECE", "ib_send_cm_req: CM_REQ_VENDOR_ID, attribute modifier", 0,
	 SERVER ROUTED,
	 "connect A vendor=0x15b3 mod=0x12345678 -> 0\n"
	 "get@2 S -> CONNECT_REQUEST L id=S qpn=11 data=56: resources=1 depth=1 flow=1 retry=7 "
	 "rnr=7 vendor=15b3 mod=12345678\n"},
	{"connect: a vendor of more than 24 bits", "cm_format_req: CM_REQ_VENDOR_ID has 24 bits", 0,
	 SERVER ROUTED,
	 "connect A vendor=0xff15b3 mod=0xffffffff -> 0\n"
	 "get@2 S -> CONNECT_REQUEST L id=S qpn=11 data=56: resources=1 depth=1 flow=1 retry=7 "
	 "rnr=7 vendor=ff15b3 mod=ffffffff\n"},
	{"connect: private data", "cma_format_hdr: 36 bytes of 92 are the CMA's", 0, SERVER ROUTED,
	 "connect A data=hello -> 0\n"
	 "get@2 S -> CONNECT_REQUEST L id=S qpn=11 data=56:hello resources=1 depth=1 flow=1 "
	 "retry=7 rnr=7\n"},
	{"connect: 56 bytes of private data", "cma_connect_ib: IB_CM_REQ_PRIVATE_DATA_SIZE", 0,
	 SERVER ROUTED,
	 "connect A data=#56 -> 0\n"
	 "get@2 S -> CONNECT_REQUEST L id=S qpn=11 data=56:#56 resources=1 depth=1 flow=1 retry=7 "
	 "rnr=7\n"},
	{"connect: 57 bytes of private data", "cm_validate_req_param: more than 92", 0, ROUTED,
	 "connect A data=#57 -> EINVAL\n"
	 "query_addr A -> 0 src=16:me:* dst=16:me:p1 guid=own port=1[roce:|ib: pkey=ffff]\n"
	 "connect A data=#56 -> 0\n"},
	{"connect: 255 bytes of private data", "cma_connect_ib: check_add_overflow()", 0, ROUTED,
	 "connect A data=#255 -> EINVAL\n"},
	{"connect: 219 bytes of private data",
	 "cma_connect_ib: 219 + 36 does not overflow, cm_validate_req_param refuses", 0, ROUTED,
	 "connect A data=#219 -> EINVAL\n"},
	{"connect: numbers of the parameters",
	 "cma_connect_ib, cm_format_req_event: resources and depth change places", 0, SERVER ROUTED,
	 "connect A qp_num=0x123456 resources=3 depth=5 flow=0 retry=2 rnr=4 srq=1 -> 0\n"
	 "get@2 S -> CONNECT_REQUEST L id=S qpn=123456 data=56: srq=1 resources=5 depth=3 retry=2 "
	 "rnr=4\n"},
	{"connect: numbers that are too large",
	 "cma_connect_ib: min_t(7); ucma_copy_conn_param: 24 bits", 0, SERVER ROUTED,
	 "connect A qp_num=0xff123456 resources=255 depth=254 flow=255 retry=255 rnr=255 srq=255 "
	 "qkey=0x55 -> 0\n"
	 "get@2 S -> CONNECT_REQUEST L id=S qpn=123456 data=56: srq=1 resources=254 depth=255 "
	 "flow=1 retry=7 rnr=7\n"},
	{"connect: QP 0", "the number is the program's", 0, SERVER ROUTED,
	 "connect A qp_num=0 -> 0\n"
	 "get@2 S -> CONNECT_REQUEST L id=S data=56: resources=1 depth=1 flow=1 retry=7 rnr=7\n"},
	{"connect: an unconnected QP type", "cm_validate_req_param: RC, UC, XRC_INI", 0, NOTHING,
	 "create A ib qp_type=10 -> 0\n"
	 "resolve A me:p1 -> 0\n"
	 "get -> ADDR_RESOLVED A\n"
	 "route A -> 0\n"
	 "get -> ROUTE_RESOLVED A\n"
	 "connect A -> EINVAL\n"},
	{"connect: UC in port space IB", "cm_validate_req_param", 0, NOTHING,
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
	 "rnr=7\n"},
	{"connect: RC to a listener of UC", "cma_ib_check_req_qp_type: REJ", 0, NOTHING,
	 "create@2 L ib qp_type=3 -> 0\n"
	 "bind L me:p1 -> 0\n"
	 "listen L -> 0\n"
	 "create A ib qp_type=2 -> 0\n"
	 "resolve A me:p1 -> 0\n"
	 "get -> ADDR_RESOLVED A\n"
	 "route A -> 0\n"
	 "get -> ROUTE_RESOLVED A\n"
	 "connect A -> 0\n"
	 "get -> REJECTED A status=28 data=148:\n"},
	{"connect: RC to a listener of any QP type", "cma_ib_check_req_qp_type: !qp_type", 0,
	 NOTHING,
	 "create@2 L ib qp_type=0 -> 0\n"
	 "bind L me:p1 -> 0\n"
	 "listen L -> 0\n"
	 "create A ib qp_type=2 -> 0\n"
	 "resolve A me:p1 -> 0\n"
	 "get -> ADDR_RESOLVED A\n"
	 "route A -> 0\n"
	 "get -> ROUTE_RESOLVED A\n"
	 "connect A -> 0\n"
	 "get@2 S -> CONNECT_REQUEST L id=S qpn=11 data=56: resources=1 depth=1 flow=1 retry=7 "
	 "rnr=7\n"},
	{"connect: nobody listens", "cm_match_req: REJ invalid service ID", 0, ROUTED,
	 "connect A -> 0\n"
	 "get -> REJECTED A status=8 data=148:\n"},
	{"connect: nobody listens, again", "rdma_connect_locked: state stays CONNECT", 0, ROUTED,
	 "connect A -> 0\n"
	 "get -> REJECTED A status=8 data=148:\n"
	 "connect A -> EINVAL\n"
	 "resolve A me:p1 -> EINVAL\n"},
	{"connect: the listener of the other port space", "service ids have the port space", 0,
	 UD_SERVER ROUTED,
	 "connect A -> 0\n"
	 "get -> REJECTED A status=8 data=148:\n"},
	{"connect: UDP", "cma_resolve_ib_udp: SIDR_REQ", 0, UD_SERVER UD_ROUTED,
	 "connect U -> 0\n"
	 "get@2 V -> CONNECT_REQUEST L id=V data=180:\n"},
	{"connect: UDP, private data", "cma_resolve_ib_udp: 36 bytes of 216 are the CMA's", 0,
	 UD_SERVER UD_ROUTED,
	 "connect U data=#180 -> 0\n"
	 "get@2 V -> CONNECT_REQUEST L id=V data=180:#180\n"},
	{"connect: UDP, 181 bytes of private data",
	 "ib_send_cm_sidr_req: IB_CM_SIDR_REQ_PRIVATE_DATA_SIZE", 0, UD_ROUTED,
	 "connect U data=#181 -> EINVAL\n"
	 "connect U data=#180 -> 0\n"},
	{"connect: UDP, 255 bytes of private data", "cma_resolve_ib_udp: check_add_overflow()", 0,
	 UD_ROUTED, "connect U data=#255 -> EINVAL\n"},
	{"connect: UDP with the ECE", "cma_resolve_ib_udp: SIDR_REQ has none", 0,
	 UD_SERVER UD_ROUTED,
	 "connect U vendor=5 mod=6 -> 0\n"
	 "get@2 V -> CONNECT_REQUEST L id=V data=180:\n"},
	{"connect: UDP, nobody listens",
	 "cm_sidr_req_handler: IB_SIDR_UNSUPPORTED, cma_sidr_rep_handler: UNREACHABLE", 0,
	 UD_ROUTED,
	 "connect U -> 0\n"
	 "get -> UNREACHABLE U status=1 data=136:\n"},
	{"connect: UDP, only TCP listens", "cm_find_listen", 0, SERVER UD_ROUTED,
	 "connect U -> 0\n"
	 "get -> UNREACHABLE U status=1 data=136:\n"},
	{"accept: a request", "rdma_accept_ece: REP", 0, CONNECTING,
	 "accept S qp_num=0x22 -> 0\n"
	 "get -> CONNECT_RESPONSE A qpn=22 data=196: resources=1 depth=1 flow=1 rnr=7\n"},
	{"accept: twice", "ib_send_cm_rep: state is REP_SENT; rdma_accept rejects", SLOW,
	 CONNECTING,
	 "accept S qp_num=0x22 -> 0\n"
	 "get -> CONNECT_RESPONSE A qpn=22 data=196: resources=1 depth=1 flow=1 rnr=7\n"
	 "accept S qp_num=0x22 -> EINVAL\n"
	 "get -> REJECTED A status=28 data=148:\n"},
	{"accept: an answer", "rdma_accept: cma_rep_recv() sends the RTU", 0, ANSWERED,
	 "accept A valid=0 -> 0\n"
	 "get@2 -> ESTABLISHED S\n"},
	{"accept: an answer twice",
	 "ib_send_cm_rtu: state is ESTABLISHED; rdma_accept's REJ is refused, too", 0, ANSWERED,
	 "accept A valid=0 -> 0\n"
	 "get@2 -> ESTABLISHED S\n"
	 "accept A valid=0 -> EINVAL\n"
	 "quiet@2 -> quiet\n"},
	{"accept: an answer with parameters",
	 "ib_send_cm_rep: state is MRA_REP_SENT; rdma_accept rejects", 0, ANSWERED,
	 "accept A -> EINVAL\n"
	 "get@2 -> REJECTED S status=28 data=148:\n"},
	{"accept: a request without parameters",
	 "ib_send_cm_rtu: state is MRA_REQ_SENT; rdma_accept rejects", 0, CONNECTING,
	 "accept S valid=0 -> EINVAL\n"
	 "get -> REJECTED A status=28 data=148:\n"},
	{"accept: before the answer", "ib_send_cm_rtu: state is REQ_SENT; rdma_accept rejects",
	 SLOW, CONNECTING,
	 "accept A valid=0 -> EINVAL\n"
	 "quiet@2 -> quiet\n"
	 "accept S qp_num=0x22 -> 0\n"},
	{"accept: a new id", "ucma_get_ctx_dev", 0, IDLE, "accept A -> EINVAL\n"},
	{"accept: a bound id", "rdma_accept: state is ADDR_BOUND", 0, BOUND,
	 "accept A -> EINVAL\n"},
	{"accept: a routed id", "rdma_accept: state is ROUTE_RESOLVED", 0, ROUTED,
	 "accept A -> EINVAL\n"},
	{"accept: a listener", "rdma_accept: state is LISTEN", 0, LISTENING,
	 "accept A -> EINVAL\n"},
	{"accept: a listener on any address", "ucma_get_ctx_dev: no device", 0, BOUND_ANY,
	 "listen A -> 0\n"
	 "accept A -> EINVAL\n"},
	{"accept: a disconnected id", "rdma_accept: state is DISCONNECT", 0, DISCONNECTED,
	 "accept S -> EINVAL\n"},
	{"accept: no such id", "ucma_get_ctx", 0, NOTHING, "accept 77 -> ENOENT\n"},
	{"accept: the id of another file", "ucma_get_ctx", 0, CONNECTING, "accept@1 S -> EINVAL\n"},
	{"accept: without the ECE", "ucma_accept: in_len up to reserved", 0, CONNECTING,
	 "accept S in=288 cut=296 vendor=5 mod=6 -> 0\n"
	 "get -> CONNECT_RESPONSE A qpn=22 data=196: resources=1 depth=1 flow=1 rnr=7\n"},
	{"accept: a shorter command", "ucma_accept: in_len", 0, CONNECTING,
	 "accept S in=287 -> EINVAL\n"
	 "accept S -> 0\n"},
	{"accept: a longer command", "ucma_accept: min_t()", 0, CONNECTING,
	 "accept S at=0x300000100000 in=400 len=408 -> 0\n"},
	{"accept: with the ECE", "cm_format_rep: CM_REP_VENDOR_ID", 0, CONNECTING,
	 "accept S vendor=0x1215b3 mod=0x12345678 -> 0\n"
	 "get -> CONNECT_RESPONSE A qpn=22 data=196: resources=1 depth=1 flow=1 rnr=7 "
	 "vendor=1215b3 mod=12345678\n"},
	{"accept: a vendor of more than 24 bits", "cm_format_rep", 0, CONNECTING,
	 "accept S vendor=0x3f1215b3 mod=7 -> 0\n"
	 "get -> CONNECT_RESPONSE A qpn=22 data=196: resources=1 depth=1 flow=1 rnr=7 "
	 "vendor=1215b3 mod=7\n"},
	{"accept: private data", "ib_send_cm_rep", 0, CONNECTING,
	 "accept S data=welcome -> 0\n"
	 "get -> CONNECT_RESPONSE A qpn=22 data=196:welcome resources=1 depth=1 flow=1 rnr=7\n"},
	{"accept: 196 bytes of private data", "ib_send_cm_rep: IB_CM_REP_PRIVATE_DATA_SIZE", 0,
	 CONNECTING,
	 "accept S data=#196 -> 0\n"
	 "get -> CONNECT_RESPONSE A qpn=22 data=196:#196 resources=1 depth=1 flow=1 rnr=7\n"},
	{"accept: 197 bytes of private data", "ib_send_cm_rep; rdma_accept rejects", 0, CONNECTING,
	 "accept S data=#197 -> EINVAL\n"
	 "get -> REJECTED A status=28 data=148:\n"},
	{"accept: numbers of the parameters",
	 "cma_accept_ib, cm_format_rep_event: resources and depth change places", 0, CONNECTING,
	 "accept S qp_num=0x123456 resources=3 depth=5 flow=0 retry=2 rnr=4 srq=1 -> 0\n"
	 "get -> CONNECT_RESPONSE A qpn=123456 data=196: srq=1 resources=5 depth=3 rnr=4\n"},
	{"accept: numbers that are too large", "cma_accept_ib: min_t(7)", 0, CONNECTING,
	 "accept S qp_num=0xff123456 resources=255 depth=254 flow=255 retry=255 rnr=255 srq=255 "
	 "qkey=5 -> 0\n"
	 "get -> CONNECT_RESPONSE A qpn=123456 data=196: srq=1 resources=254 depth=255 flow=1 "
	 "rnr=7\n"},
	{"accept: the QP number of the client",
	 "cm_insert_remote_qpn: both have one node GUID, so the answer is stale: REJ 10", 0,
	 CONNECTING,
	 "accept S qp_num=0x11 -> 0\n"
	 "get@2 -> REJECTED S status=10 data=148:\n"
	 "quiet -> quiet\n"},
	{"accept: uid 0", "ucma_event_handler: no event for ids without uid", 0, CONNECTING,
	 "accept S uid=0 qp_num=0x22 -> 0\n"
	 "get -> CONNECT_RESPONSE A qpn=22 data=196: resources=1 depth=1 flow=1 rnr=7\n"
	 "accept A valid=0 -> 0\n"
	 "quiet@2 -> quiet\n"
	 "disconnect A -> 0\n"
	 "quiet@2 -> quiet\n"},
	{"accept: the uid of the events", "ucma_accept: uid after rdma_accept_ece()", 0, CONNECTING,
	 "accept S uid=0x77 qp_num=0x22 -> 0\n"
	 "get -> CONNECT_RESPONSE A qpn=22 data=196: resources=1 depth=1 flow=1 rnr=7\n"
	 "accept A valid=0 -> 0\n"
	 "get@2 -> ESTABLISHED uid=77 id=S\n"},
	{"accept: the uid is kept without parameters", "ucma_accept: only conn_param.valid sets it",
	 0, ANSWERED,
	 "accept A valid=0 uid=0x99 -> 0\n"
	 "get@2 -> ESTABLISHED S\n"
	 "disconnect S -> 0\n"
	 "get -> DISCONNECTED A\n"},
	{"accept: after the client has gone", "ib_send_cm_rep: state is IDLE", 0, CONNECTING,
	 "destroy A -> 0 reported=2\n"
	 "quiet@2 -> quiet\n"
	 "accept S -> EINVAL\n"},
	{"accept: UDP", "cma_send_sidr_rep: Q_Key 0x01234567", 0, UD_CONNECTING,
	 "accept V qp_num=0x22 -> 0\n"
	 "get -> ESTABLISHED U qpn=22 qkey=1234567 data=136: [roce:port=1 dgid=map sgid=map "
	 "flowlabel=* hop=64|ib:dlid=own rate=17 port=1]\n"},
	{"accept: UDP without parameters", "rdma_accept: cma_send_sidr_rep()", 0, UD_CONNECTING,
	 "accept V valid=0 -> 0\n"
	 "get -> ESTABLISHED U qkey=1234567 data=136: [roce:port=1 dgid=map sgid=map flowlabel=* "
	 "hop=64|ib:dlid=own rate=17 port=1]\n"},
	{"accept: UDP, a Q_Key", "ucma_copy_conn_param: only AF_IB takes it", 0, UD_CONNECTING,
	 "accept V qp_num=0x22 qkey=0x11111111 -> 0\n"
	 "get -> ESTABLISHED U qpn=22 qkey=1234567 data=136: [roce:port=1 dgid=map sgid=map "
	 "flowlabel=* hop=64|ib:dlid=own rate=17 port=1]\n"},
	{"accept: UDP twice", "cm_send_sidr_rep_locked: state is IDLE", 0, UD_CONNECTING,
	 "accept V qp_num=0x22 -> 0\n"
	 "get -> ESTABLISHED U qpn=22 qkey=1234567 data=136: [roce:port=1 dgid=map sgid=map "
	 "flowlabel=* hop=64|ib:dlid=own rate=17 port=1]\n"
	 "accept V qp_num=0x22 -> EINVAL\n"},
	{"accept: UDP, 136 bytes of private data", "IB_CM_SIDR_REP_PRIVATE_DATA_SIZE", 0,
	 UD_CONNECTING,
	 "accept V data=#136 -> 0\n"
	 "get -> ESTABLISHED U qpn=22 qkey=1234567 data=136:#136 [roce:port=1 dgid=map sgid=map "
	 "flowlabel=* hop=64|ib:dlid=own rate=17 port=1]\n"},
	{"accept: UDP, 137 bytes of private data", "cm_send_sidr_rep_locked; rdma_accept rejects",
	 0, UD_CONNECTING,
	 "accept V data=#137 -> EINVAL\n"
	 "get -> UNREACHABLE U status=2 data=136:\n"},
	{"accept: UDP with the ECE", "cm_format_sidr_rep has it; the event does not", 0,
	 UD_CONNECTING,
	 "accept V vendor=0x1234 mod=5 -> 0\n"
	 "get -> ESTABLISHED U qpn=22 qkey=1234567 data=136: [roce:port=1 dgid=map sgid=map "
	 "flowlabel=* hop=64|ib:dlid=own rate=17 port=1]\n"},
	{"accept: UDP, the asking side", "cma_send_sidr_rep: state is SIDR_REQ_SENT or IDLE", 0,
	 UD_CONNECTING, "accept U -> EINVAL\n"},
	{"reject: a request", "ib_send_cm_rej", 0, CONNECTING,
	 "reject S -> 0\n"
	 "get -> REJECTED A status=28 data=148:\n"},
	{"reject: with private data", "ib_send_cm_rej", 0, CONNECTING,
	 "reject S no -> 0\n"
	 "get -> REJECTED A status=28 data=148:no\n"},
	{"reject: 148 bytes of private data", "IB_CM_REJ_PRIVATE_DATA_SIZE", 0, CONNECTING,
	 "reject S #148 -> 0\n"
	 "get -> REJECTED A status=28 data=148:#148\n"},
	{"reject: 149 bytes of private data", "cm_send_rej_locked", 0, CONNECTING,
	 "reject S #149 -> EINVAL\n"
	 "reject S -> 0\n"},
	{"reject: reason 28", "ucma_reject: consumer defined", 0, CONNECTING,
	 "reject S reason=28 -> 0\n"
	 "get -> REJECTED A status=28 data=148:\n"},
	{"reject: reason 35", "ucma_reject: vendor option not supported", 0, CONNECTING,
	 "reject S reason=35 -> 0\n"
	 "get -> REJECTED A status=35 data=148:\n"},
	{"reject: reason 1", "ucma_reject: EINVAL", 0, CONNECTING,
	 "reject S reason=1 -> EINVAL\n"
	 "reject S reason=255 -> EINVAL\n"
	 "accept S qp_num=0x22 -> 0\n"},
	{"reject: reason 1, no such id", "ucma_reject: the reason comes first", 0, NOTHING,
	 "reject 77 reason=1 -> EINVAL\n"
	 "reject 77 -> ENOENT\n"},
	{"reject: reserved bytes", "ucma_reject does not look at them", 0, CONNECTING,
	 "reject S reserved=5 -> 0\n"},
	{"reject: twice", "cm_send_rej_locked: state is IDLE", 0, CONNECTING,
	 "reject S -> 0\n"
	 "reject S -> EINVAL\n"
	 "get -> REJECTED A status=28 data=148:\n"},
	{"reject: then accept", "ib_send_cm_rep: state is IDLE", 0, CONNECTING,
	 "reject S -> 0\n"
	 "accept S -> EINVAL\n"},
	{"reject: an answer", "cm_send_rej_locked: REP_RCVD", 0, ANSWERED,
	 "reject A sorry -> 0\n"
	 "get@2 -> REJECTED S status=28 data=148:sorry\n"},
	{"reject: an established id", "cm_send_rej_locked: state is ESTABLISHED", 0, CONNECTED,
	 "reject A -> EINVAL\n"
	 "reject S -> EINVAL\n"},
	{"reject: by the side that asked", "cm_send_rej_locked: REQ_SENT", SLOW, CONNECTING,
	 "reject A -> 0\n"
	 "quiet@2 -> quiet\n"
	 "accept S -> 0\n"},
	{"reject: a new id", "ucma_get_ctx_dev", 0, IDLE, "reject A -> EINVAL\n"},
	{"reject: a bound id", "rdma_reject: no CM id", 0, BOUND, "reject A -> EINVAL\n"},
	{"reject: a listener", "cm_send_rej_locked: state is LISTEN", 0, LISTENING,
	 "reject A -> EINVAL\n"},
	{"reject: a routed id", "rdma_reject: no CM id", 0, ROUTED, "reject A -> EINVAL\n"},
	{"reject: the id of another file", "ucma_get_ctx", 0, CONNECTING, "reject@1 S -> EINVAL\n"},
	{"reject: a short command", "copy_from_user()", 0, CONNECTING,
	 "reject S cut=16 in=8 -> EFAULT\n"},
	{"reject: UDP", "cma_send_sidr_rep: IB_SIDR_REJECT", 0, UD_CONNECTING,
	 "reject V -> 0\n"
	 "get -> UNREACHABLE U status=2 data=136:\n"},
	{"reject: UDP with private data", "cma_send_sidr_rep", 0, UD_CONNECTING,
	 "reject V no -> 0\n"
	 "get -> UNREACHABLE U status=2 data=136:no\n"},
	{"reject: UDP, 137 bytes of private data", "cm_send_sidr_rep_locked", 0, UD_CONNECTING,
	 "reject V #137 -> EINVAL\n"
	 "reject V -> 0\n"},
	{"reject: UDP, reason 35", "rdma_reject: SIDR_REP has no such reason", 0, UD_CONNECTING,
	 "reject V reason=35 -> 0\n"
	 "get -> UNREACHABLE U status=2 data=136:\n"},
	{"reject: UDP twice", "cm_send_sidr_rep_locked: state is IDLE", 0, UD_CONNECTING,
	 "reject V -> 0\n"
	 "reject V -> EINVAL\n"},
	{"disconnect: an established id", "ib_send_cm_dreq", 0, CONNECTED,
	 "disconnect A -> 0\n"
	 "get@2 -> DISCONNECTED S\n"
	 "disconnect S -> 0\n"
	 "get -> DISCONNECTED A\n"},
	{"disconnect: by the server", "ib_send_cm_dreq", 0, CONNECTED,
	 "disconnect S -> 0\n"
	 "get -> DISCONNECTED A\n"
	 "disconnect A -> 0\n"
	 "get@2 -> DISCONNECTED S\n"},
	{"disconnect: both at once", "cm_dreq_handler: DREQ_SENT", 0, CONNECTED,
	 "disconnect A -> 0\n"
	 "disconnect S -> 0\n"
	 "get -> DISCONNECTED A\n"
	 "get@2 -> DISCONNECTED S\n"},
	{"disconnect: twice", "rdma_disconnect: failures are not told", 0, CONNECTED,
	 "disconnect A -> 0\n"
	 "disconnect A -> 0\n"
	 "get@2 -> DISCONNECTED S\n"},
	{"disconnect: the answer twice", "rdma_disconnect: failures are not told", 0, DISCONNECTED,
	 "disconnect S -> 0\n"
	 "disconnect A -> 0\n"},
	{"disconnect: a connecting id", "rdma_disconnect: nothing is sent", 0, CONNECTING,
	 "disconnect A -> 0\n"
	 "disconnect S -> 0\n"
	 "accept S qp_num=0x22 -> 0\n"
	 "get -> CONNECT_RESPONSE A qpn=22 data=196: resources=1 depth=1 flow=1 rnr=7\n"},
	{"disconnect: an answered id", "rdma_disconnect: nothing is sent", 0, ANSWERED,
	 "disconnect A -> 0\n"
	 "quiet@2 -> quiet\n"},
	{"disconnect: a new id", "ucma_get_ctx_dev", 0, IDLE, "disconnect A -> EINVAL\n"},
	{"disconnect: a bound id", "rdma_disconnect: no CM id", 0, BOUND,
	 "disconnect A -> EINVAL\n"},
	{"disconnect: a routed id", "rdma_disconnect: no CM id", 0, ROUTED,
	 "disconnect A -> EINVAL\n"},
	{"disconnect: a listener", "rdma_disconnect: nothing is sent", 0, LISTENING,
	 "disconnect A -> 0\n"},
	{"disconnect: a listener on any address", "ucma_get_ctx_dev", 0, BOUND_ANY,
	 "listen A -> 0\n"
	 "disconnect A -> EINVAL\n"},
	{"disconnect: a rejected id", "rdma_disconnect: nothing is sent", 0, CONNECTING,
	 "reject S -> 0\n"
	 "get -> REJECTED A status=28 data=148:\n"
	 "disconnect A -> 0\n"},
	{"disconnect: UDP", "rdma_disconnect: nothing is sent", 0, UD_CONNECTING,
	 "disconnect U -> 0\n"
	 "disconnect V -> 0\n"},
	{"disconnect: no such id", "ucma_get_ctx", 0, NOTHING, "disconnect 77 -> ENOENT\n"},
	{"disconnect: the id of another file", "ucma_get_ctx", 0, CONNECTED,
	 "disconnect@2 A -> EINVAL\n"},
	{"disconnect: a short command", "copy_from_user()", 0, CONNECTED,
	 "disconnect A cut=10 in=2 -> EFAULT\n"},
	{"notify: COMM_EST of the server that waits for the RTU", "cm_establish: REP_SENT", 0,
	 ANSWERED,
	 "notify S 4 -> 0\n"
	 "get@2 -> ESTABLISHED S\n"},
	{"notify: COMM_EST of an established id", "cm_establish: EISCONN", 0, CONNECTED,
	 "notify A 4 -> EISCONN\n"
	 "notify S 4 -> EISCONN\n"},
	{"notify: COMM_EST of a connecting id", "cm_establish: EINVAL", 0, CONNECTING,
	 "notify A 4 -> EINVAL\n"
	 "notify S 4 -> EINVAL\n"},
	{"notify: COMM_EST of a disconnected id", "cm_establish: EINVAL", 0, DISCONNECTED,
	 "notify A 4 -> EINVAL\n"},
	{"notify: PATH_MIG of an established id", "cm_migrate: LAP_UNINIT", 0, CONNECTED,
	 "notify A 6 -> 0\n"
	 "notify A 6 -> 0\n"},
	{"notify: PATH_MIG_ERR of an established id", "ib_cm_notify: EINVAL", 0, CONNECTED,
	 "notify A 7 -> EINVAL\n"},
	{"notify: PATH_MIG of a connecting id", "cm_migrate", 0, CONNECTING,
	 "notify A 6 -> EINVAL\n"},
	{"notify: another event", "ib_cm_notify: EINVAL", 0, CONNECTED,
	 "notify A 0 -> EINVAL\n"
	 "notify A 9 -> EINVAL\n"
	 "notify A 0xffffffff -> EINVAL\n"},
	{"notify: a new id", "ucma_notify: no device", 0, IDLE, "notify A 4 -> EINVAL\n"},
	{"notify: a bound id", "rdma_notify: no CM id", 0, BOUND, "notify A 4 -> EINVAL\n"},
	{"notify: a listener", "cm_establish: EINVAL", 0, LISTENING, "notify A 4 -> EINVAL\n"},
	{"notify: UDP", "cm_establish: EINVAL", 0, UD_CONNECTING,
	 "notify U 4 -> EINVAL\n"
	 "notify V 4 -> EINVAL\n"},
	{"notify: no such id", "ucma_get_ctx", 0, NOTHING, "notify 77 4 -> ENOENT\n"},
	{"notify: the id of another file", "ucma_get_ctx", 0, CONNECTED,
	 "notify@2 A 4 -> EINVAL\n"},
	{"notify: a short command", "copy_from_user()", 0, CONNECTED,
	 "notify A 4 cut=12 in=4 -> EFAULT\n"},
};
ROWS_END(connect);
