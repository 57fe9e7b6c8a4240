// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* CONNECT, ACCEPT, REJECT, DISCONNECT and NOTIFY. */
#include "ucma.h"
#include "states.h"

const struct row connect_rows[] = {
	{"connect: a routed id", "rdma_connect_ece", 0, ROUTED, "connect A\n"},
	{"connect: twice", "rdma_connect_locked: state is CONNECT", 0, CONNECTING, "connect A\n"},
	{"connect: parameters that are not valid", "ucma_connect: conn_param.valid", 0, ROUTED,
	 "connect A valid=0\n"
	 "connect A\n"},
	{"connect: valid is 255", "ucma_connect: any value but 0", 0, ROUTED,
	 "connect A valid=255\n"},
	{"connect: a new id", "ucma_get_ctx_dev: no device", 0, IDLE, "connect A\n"},
	{"connect: a bound id", "rdma_connect_locked: state is ADDR_BOUND", 0, BOUND,
	 "connect A\n"},
	{"connect: an id that is bound to any address", "ucma_get_ctx_dev: no device", 0, BOUND_ANY,
	 "connect A\n"},
	{"connect: a resolved id", "rdma_connect_locked: state is ADDR_RESOLVED", 0, RESOLVED,
	 "connect A\n"},
	{"connect: a listener", "rdma_connect_locked: state is LISTEN", 0, LISTENING,
	 "connect A\n"},
	{"connect: a request's id", "rdma_connect_locked: state is CONNECT", 0, CONNECTING,
	 "connect S\n"},
	{"connect: an established id", "rdma_connect_locked: state is CONNECT", 0, CONNECTED,
	 "connect A\n"},
	{"connect: a disconnected id", "rdma_connect_locked: state is DISCONNECT", 0, DISCONNECTED,
	 "connect A\n"},
	{"connect: no such id", "ucma_get_ctx", 0, NOTHING, "connect 77\n"},
	{"connect: no such id and parameters that are not valid", "ucma_connect: they come first",
	 0, NOTHING, "connect 77 valid=0\n"},
	{"connect: the id of another file", "ucma_get_ctx", 0, ROUTED, "connect@2 A\n"},
	{"connect: without the ECE", "ucma_connect: in_len up to reserved", 0, SERVER ROUTED,
	 "connect A in=280 cut=288 vendor=5 mod=6\n"
	 "get@2 S\n"},
	{"connect: with half of the ECE", "ucma_connect: offsetofend(ece) <= in_size", 0,
	 SERVER ROUTED,
	 "connect A in=284 cut=292 vendor=5 mod=6\n"
	 "get@2 S\n"},
	{"connect: a shorter command", "ucma_connect: in_len", 0, ROUTED, "connect A in=279\n"},
	{"connect: no command at all", "ucma_connect: in_len", 0, ROUTED, "connect A in=0\n"},
	{"connect: a longer command", "ucma_connect: min_t()", 0, ROUTED,
	 "connect A at=0x500000100000 in=400 len=408\n"},
	{"connect: a short command at the end of memory", "ucma_connect: in_len comes first", 0,
	 ROUTED, "connect A in=200 cut=208\n"},
	{"connect: a reserved word", "ucma_connect does not look at it", 0, ROUTED,
	 "connect A reserved=5\n"},
	{"connect: with the ECE", "ib_send_cm_req: CM_REQ_VENDOR_ID, attribute modifier", 0,
	 SERVER ROUTED,
	 "connect A vendor=0x15b3 mod=0x12345678\n"
	 "get@2 S\n"},
	{"connect: a vendor of more than 24 bits", "cm_format_req: CM_REQ_VENDOR_ID has 24 bits", 0,
	 SERVER ROUTED,
	 "connect A vendor=0xff15b3 mod=0xffffffff\n"
	 "get@2 S\n"},
	{"connect: private data", "cma_format_hdr: 36 bytes of 92 are the CMA's", 0, SERVER ROUTED,
	 "connect A data=hello\n"
	 "get@2 S\n"},
	{"connect: 56 bytes of private data", "cma_connect_ib: IB_CM_REQ_PRIVATE_DATA_SIZE", 0,
	 SERVER ROUTED,
	 "connect A data=#56\n"
	 "get@2 S\n"},
	{"connect: 57 bytes of private data", "cm_validate_req_param: more than 92", 0, ROUTED,
	 "connect A data=#57\n"
	 "query_addr A\n"
	 "connect A data=#56\n"},
	{"connect: 255 bytes of private data", "cma_connect_ib: check_add_overflow()", 0, ROUTED,
	 "connect A data=#255\n"},
	{"connect: 219 bytes of private data",
	 "cma_connect_ib: 219 + 36 does not overflow, cm_validate_req_param refuses", 0, ROUTED,
	 "connect A data=#219\n"},
	{"connect: numbers of the parameters",
	 "cma_connect_ib, cm_format_req_event: resources and depth change places", 0, SERVER ROUTED,
	 "connect A qp_num=0x123456 resources=3 depth=5 flow=0 retry=2 rnr=4 srq=1\n"
	 "get@2 S\n"},
	{"connect: numbers that are too large",
	 "cma_connect_ib: min_t(7); ucma_copy_conn_param: 24 bits", 0, SERVER ROUTED,
	 "connect A qp_num=0xff123456 resources=255 depth=254 flow=255 retry=255 rnr=255 srq=255 "
	 "qkey=0x55\n"
	 "get@2 S\n"},
	{"connect: QP 0", "the number is the program's", 0, SERVER ROUTED,
	 "connect A qp_num=0\n"
	 "get@2 S\n"},
	{"connect: an unconnected QP type", "cm_validate_req_param: RC, UC, XRC_INI", 0, NOTHING,
	 "create A ib qp_type=10\n"
	 "resolve A me:p1\n"
	 "get\n"
	 "route A\n"
	 "get\n"
	 "connect A\n"},
	{"connect: UC in port space IB", "cm_validate_req_param", 0, NOTHING,
	 "create@2 L ib qp_type=3\n"
	 "bind L me:p1\n"
	 "listen L\n"
	 "create A ib qp_type=3\n"
	 "resolve A me:p1\n"
	 "get\n"
	 "route A\n"
	 "get\n"
	 "connect A\n"
	 "get@2 S\n"},
	{"connect: RC to a listener of UC", "cma_ib_check_req_qp_type: REJ", 0, NOTHING,
	 "create@2 L ib qp_type=3\n"
	 "bind L me:p1\n"
	 "listen L\n"
	 "create A ib qp_type=2\n"
	 "resolve A me:p1\n"
	 "get\n"
	 "route A\n"
	 "get\n"
	 "connect A\n"
	 "get\n"},
	{"connect: RC to a listener of any QP type", "cma_ib_check_req_qp_type: !qp_type", 0,
	 NOTHING,
	 "create@2 L ib qp_type=0\n"
	 "bind L me:p1\n"
	 "listen L\n"
	 "create A ib qp_type=2\n"
	 "resolve A me:p1\n"
	 "get\n"
	 "route A\n"
	 "get\n"
	 "connect A\n"
	 "get@2 S\n"},
	{"connect: nobody listens", "cm_match_req: REJ invalid service ID", 0, ROUTED,
	 "connect A\n"
	 "get\n"},
	{"connect: nobody listens, again", "rdma_connect_locked: state stays CONNECT", 0, ROUTED,
	 "connect A\n"
	 "get\n"
	 "connect A\n"
	 "resolve A me:p1\n"},
	{"connect: the listener of the other port space", "service ids have the port space", 0,
	 UD_SERVER ROUTED,
	 "connect A\n"
	 "get\n"},
	{"connect: UDP", "cma_resolve_ib_udp: SIDR_REQ", 0, UD_SERVER UD_ROUTED,
	 "connect U\n"
	 "get@2 V\n"},
	{"connect: UDP, private data", "cma_resolve_ib_udp: 36 bytes of 216 are the CMA's", 0,
	 UD_SERVER UD_ROUTED,
	 "connect U data=#180\n"
	 "get@2 V\n"},
	{"connect: UDP, 181 bytes of private data",
	 "ib_send_cm_sidr_req: IB_CM_SIDR_REQ_PRIVATE_DATA_SIZE", 0, UD_ROUTED,
	 "connect U data=#181\n"
	 "connect U data=#180\n"},
	{"connect: UDP, 255 bytes of private data", "cma_resolve_ib_udp: check_add_overflow()", 0,
	 UD_ROUTED, "connect U data=#255\n"},
	{"connect: UDP with the ECE", "cma_resolve_ib_udp: SIDR_REQ has none", 0,
	 UD_SERVER UD_ROUTED,
	 "connect U vendor=5 mod=6\n"
	 "get@2 V\n"},
	{"connect: UDP, nobody listens",
	 "cm_sidr_req_handler: IB_SIDR_UNSUPPORTED, cma_sidr_rep_handler: UNREACHABLE", 0,
	 UD_ROUTED,
	 "connect U\n"
	 "get\n"},
	{"connect: UDP, only TCP listens", "cm_find_listen", 0, SERVER UD_ROUTED,
	 "connect U\n"
	 "get\n"},
	{"accept: a request", "rdma_accept_ece: REP", 0, CONNECTING,
	 "accept S qp_num=0x22\n"
	 "get\n"},
	{"accept: twice", "ib_send_cm_rep: state is REP_SENT; rdma_accept rejects", 0, CONNECTING,
	 "accept S qp_num=0x22\n"
	 "get\n"
	 "accept S qp_num=0x22\n"
	 "get\n"},
	{"accept: an answer", "rdma_accept: cma_rep_recv() sends the RTU", 0, ANSWERED,
	 "accept A valid=0\n"
	 "get@2\n"},
	{"accept: an answer twice",
	 "ib_send_cm_rtu: state is ESTABLISHED; rdma_accept's REJ is refused, too", 0, ANSWERED,
	 "accept A valid=0\n"
	 "get@2\n"
	 "accept A valid=0\n"
	 "quiet@2\n"},
	{"accept: an answer with parameters",
	 "ib_send_cm_rep: state is MRA_REP_SENT; rdma_accept rejects", 0, ANSWERED,
	 "accept A\n"
	 "get@2\n"},
	{"accept: a request without parameters",
	 "ib_send_cm_rtu: state is MRA_REQ_SENT; rdma_accept rejects", 0, CONNECTING,
	 "accept S valid=0\n"
	 "get\n"},
	{"accept: before the answer", "ib_send_cm_rtu: state is REQ_SENT; rdma_accept rejects", 0,
	 CONNECTING,
	 "accept A valid=0\n"
	 "quiet@2\n"
	 "accept S qp_num=0x22\n"},
	{"accept: a new id", "ucma_get_ctx_dev", 0, IDLE, "accept A\n"},
	{"accept: a bound id", "rdma_accept: state is ADDR_BOUND", 0, BOUND, "accept A\n"},
	{"accept: a routed id", "rdma_accept: state is ROUTE_RESOLVED", 0, ROUTED, "accept A\n"},
	{"accept: a listener", "rdma_accept: state is LISTEN", 0, LISTENING, "accept A\n"},
	{"accept: a listener on any address", "ucma_get_ctx_dev: no device", 0, BOUND_ANY,
	 "listen A\n"
	 "accept A\n"},
	{"accept: a disconnected id", "rdma_accept: state is DISCONNECT", 0, DISCONNECTED,
	 "accept S\n"},
	{"accept: no such id", "ucma_get_ctx", 0, NOTHING, "accept 77\n"},
	{"accept: the id of another file", "ucma_get_ctx", 0, CONNECTING, "accept@1 S\n"},
	{"accept: without the ECE", "ucma_accept: in_len up to reserved", 0, CONNECTING,
	 "accept S in=288 cut=296 vendor=5 mod=6\n"
	 "get\n"},
	{"accept: a shorter command", "ucma_accept: in_len", 0, CONNECTING,
	 "accept S in=287\n"
	 "accept S\n"},
	{"accept: a longer command", "ucma_accept: min_t()", 0, CONNECTING,
	 "accept S at=0x500000100000 in=400 len=408\n"},
	{"accept: with the ECE", "cm_format_rep: CM_REP_VENDOR_ID", 0, CONNECTING,
	 "accept S vendor=0x1215b3 mod=0x12345678\n"
	 "get\n"},
	{"accept: a vendor of more than 24 bits", "cm_format_rep", 0, CONNECTING,
	 "accept S vendor=0x3f1215b3 mod=7\n"
	 "get\n"},
	{"accept: private data", "ib_send_cm_rep", 0, CONNECTING,
	 "accept S data=welcome\n"
	 "get\n"},
	{"accept: 196 bytes of private data", "ib_send_cm_rep: IB_CM_REP_PRIVATE_DATA_SIZE", 0,
	 CONNECTING,
	 "accept S data=#196\n"
	 "get\n"},
	{"accept: 197 bytes of private data", "ib_send_cm_rep; rdma_accept rejects", 0, CONNECTING,
	 "accept S data=#197\n"
	 "get\n"},
	{"accept: numbers of the parameters",
	 "cma_accept_ib, cm_format_rep_event: resources and depth change places", 0, CONNECTING,
	 "accept S qp_num=0x123456 resources=3 depth=5 flow=0 retry=2 rnr=4 srq=1\n"
	 "get\n"},
	{"accept: numbers that are too large", "cma_accept_ib: min_t(7)", 0, CONNECTING,
	 "accept S qp_num=0xff123456 resources=255 depth=254 flow=255 retry=255 rnr=255 srq=255 "
	 "qkey=5\n"
	 "get\n"},
	{"accept: uid 0", "ucma_event_handler: no event for ids without uid", 0, CONNECTING,
	 "accept S uid=0 qp_num=0x22\n"
	 "get\n"
	 "accept A valid=0\n"
	 "quiet@2\n"
	 "disconnect A\n"
	 "quiet@2\n"},
	{"accept: the uid of the events", "ucma_accept: uid after rdma_accept_ece()", 0, CONNECTING,
	 "accept S uid=0x77 qp_num=0x22\n"
	 "get\n"
	 "accept A valid=0\n"
	 "get@2\n"},
	{"accept: the uid is kept without parameters", "ucma_accept: only conn_param.valid sets it",
	 0, ANSWERED,
	 "accept A valid=0 uid=0x99\n"
	 "get@2\n"
	 "disconnect S\n"
	 "get\n"},
	{"accept: after the client has gone", "ib_send_cm_rep: state is IDLE", 0, CONNECTING,
	 "destroy A\n"
	 "quiet@2\n"
	 "accept S\n"},
	{"accept: UDP", "cma_send_sidr_rep: Q_Key 0x01234567", 0, UD_CONNECTING,
	 "accept V qp_num=0x22\n"
	 "get\n"},
	{"accept: UDP without parameters", "rdma_accept: cma_send_sidr_rep()", 0, UD_CONNECTING,
	 "accept V valid=0\n"
	 "get\n"},
	{"accept: UDP, a Q_Key", "ucma_copy_conn_param: only AF_IB takes it", 0, UD_CONNECTING,
	 "accept V qp_num=0x22 qkey=0x11111111\n"
	 "get\n"},
	{"accept: UDP twice", "cm_send_sidr_rep_locked: state is IDLE", 0, UD_CONNECTING,
	 "accept V qp_num=0x22\n"
	 "get\n"
	 "accept V qp_num=0x22\n"},
	{"accept: UDP, 136 bytes of private data", "IB_CM_SIDR_REP_PRIVATE_DATA_SIZE", 0,
	 UD_CONNECTING,
	 "accept V data=#136\n"
	 "get\n"},
	{"accept: UDP, 137 bytes of private data", "cm_send_sidr_rep_locked; rdma_accept rejects",
	 0, UD_CONNECTING,
	 "accept V data=#137\n"
	 "get\n"},
	{"accept: UDP with the ECE", "cm_format_sidr_rep has it; the event does not", 0,
	 UD_CONNECTING,
	 "accept V vendor=0x1234 mod=5\n"
	 "get\n"},
	{"accept: UDP, the asking side", "cma_send_sidr_rep: state is SIDR_REQ_SENT or IDLE", 0,
	 UD_CONNECTING, "accept U\n"},
	{"reject: a request", "ib_send_cm_rej", 0, CONNECTING,
	 "reject S\n"
	 "get\n"},
	{"reject: with private data", "ib_send_cm_rej", 0, CONNECTING,
	 "reject S no\n"
	 "get\n"},
	{"reject: 148 bytes of private data", "IB_CM_REJ_PRIVATE_DATA_SIZE", 0, CONNECTING,
	 "reject S #148\n"
	 "get\n"},
	{"reject: 149 bytes of private data", "cm_send_rej_locked", 0, CONNECTING,
	 "reject S #149\n"
	 "reject S\n"},
	{"reject: reason 28", "ucma_reject: consumer defined", 0, CONNECTING,
	 "reject S reason=28\n"
	 "get\n"},
	{"reject: reason 35", "ucma_reject: vendor option not supported", 0, CONNECTING,
	 "reject S reason=35\n"
	 "get\n"},
	{"reject: reason 1", "ucma_reject: EINVAL", 0, CONNECTING,
	 "reject S reason=1\n"
	 "reject S reason=255\n"
	 "accept S qp_num=0x22\n"},
	{"reject: reason 1, no such id", "ucma_reject: the reason comes first", 0, NOTHING,
	 "reject 77 reason=1\n"
	 "reject 77\n"},
	{"reject: reserved bytes", "ucma_reject does not look at them", 0, CONNECTING,
	 "reject S reserved=5\n"},
	{"reject: twice", "cm_send_rej_locked: state is IDLE", 0, CONNECTING,
	 "reject S\n"
	 "reject S\n"
	 "get\n"},
	{"reject: then accept", "ib_send_cm_rep: state is IDLE", 0, CONNECTING,
	 "reject S\n"
	 "accept S\n"},
	{"reject: an answer", "cm_send_rej_locked: REP_RCVD", 0, ANSWERED,
	 "reject A sorry\n"
	 "get@2\n"},
	{"reject: an established id", "cm_send_rej_locked: state is ESTABLISHED", 0, CONNECTED,
	 "reject A\n"
	 "reject S\n"},
	{"reject: by the side that asked", "cm_send_rej_locked: REQ_SENT", 0, CONNECTING,
	 "reject A\n"
	 "quiet@2\n"
	 "accept S\n"},
	{"reject: a new id", "ucma_get_ctx_dev", 0, IDLE, "reject A\n"},
	{"reject: a bound id", "rdma_reject: no CM id", 0, BOUND, "reject A\n"},
	{"reject: a listener", "cm_send_rej_locked: state is LISTEN", 0, LISTENING, "reject A\n"},
	{"reject: a routed id", "rdma_reject: no CM id", 0, ROUTED, "reject A\n"},
	{"reject: the id of another file", "ucma_get_ctx", 0, CONNECTING, "reject@1 S\n"},
	{"reject: a short command", "copy_from_user()", 0, CONNECTING, "reject S cut=16 in=8\n"},
	{"reject: UDP", "cma_send_sidr_rep: IB_SIDR_REJECT", 0, UD_CONNECTING,
	 "reject V\n"
	 "get\n"},
	{"reject: UDP with private data", "cma_send_sidr_rep", 0, UD_CONNECTING,
	 "reject V no\n"
	 "get\n"},
	{"reject: UDP, 137 bytes of private data", "cm_send_sidr_rep_locked", 0, UD_CONNECTING,
	 "reject V #137\n"
	 "reject V\n"},
	{"reject: UDP, reason 35", "rdma_reject: SIDR_REP has no such reason", 0, UD_CONNECTING,
	 "reject V reason=35\n"
	 "get\n"},
	{"reject: UDP twice", "cm_send_sidr_rep_locked: state is IDLE", 0, UD_CONNECTING,
	 "reject V\n"
	 "reject V\n"},
	{"disconnect: an established id", "ib_send_cm_dreq", 0, CONNECTED,
	 "disconnect A\n"
	 "get@2\n"
	 "disconnect S\n"
	 "get\n"},
	{"disconnect: by the server", "ib_send_cm_dreq", 0, CONNECTED,
	 "disconnect S\n"
	 "get\n"
	 "disconnect A\n"
	 "get@2\n"},
	{"disconnect: both at once", "cm_dreq_handler: DREQ_SENT", 0, CONNECTED,
	 "disconnect A\n"
	 "disconnect S\n"
	 "get\n"
	 "get@2\n"},
	{"disconnect: twice", "rdma_disconnect: failures are not told", 0, CONNECTED,
	 "disconnect A\n"
	 "disconnect A\n"
	 "get@2\n"},
	{"disconnect: the answer twice", "rdma_disconnect: failures are not told", 0, DISCONNECTED,
	 "disconnect S\n"
	 "disconnect A\n"},
	{"disconnect: a connecting id", "rdma_disconnect: nothing is sent", 0, CONNECTING,
	 "disconnect A\n"
	 "disconnect S\n"
	 "accept S qp_num=0x22\n"
	 "get\n"},
	{"disconnect: an answered id", "rdma_disconnect: nothing is sent", 0, ANSWERED,
	 "disconnect A\n"
	 "quiet@2\n"},
	{"disconnect: a new id", "ucma_get_ctx_dev", 0, IDLE, "disconnect A\n"},
	{"disconnect: a bound id", "rdma_disconnect: no CM id", 0, BOUND, "disconnect A\n"},
	{"disconnect: a routed id", "rdma_disconnect: no CM id", 0, ROUTED, "disconnect A\n"},
	{"disconnect: a listener", "rdma_disconnect: nothing is sent", 0, LISTENING,
	 "disconnect A\n"},
	{"disconnect: a listener on any address", "ucma_get_ctx_dev", 0, BOUND_ANY,
	 "listen A\n"
	 "disconnect A\n"},
	{"disconnect: a rejected id", "rdma_disconnect: nothing is sent", 0, CONNECTING,
	 "reject S\n"
	 "get\n"
	 "disconnect A\n"},
	{"disconnect: UDP", "rdma_disconnect: nothing is sent", 0, UD_CONNECTING,
	 "disconnect U\n"
	 "disconnect V\n"},
	{"disconnect: no such id", "ucma_get_ctx", 0, NOTHING, "disconnect 77\n"},
	{"disconnect: the id of another file", "ucma_get_ctx", 0, CONNECTED, "disconnect@2 A\n"},
	{"disconnect: a short command", "copy_from_user()", 0, CONNECTED,
	 "disconnect A cut=10 in=2\n"},
	{"notify: COMM_EST of the server that waits for the RTU", "cm_establish: REP_SENT", 0,
	 ANSWERED,
	 "notify S 4\n"
	 "get@2\n"},
	{"notify: COMM_EST of an established id", "cm_establish: EISCONN", 0, CONNECTED,
	 "notify A 4\n"
	 "notify S 4\n"},
	{"notify: COMM_EST of a connecting id", "cm_establish: EINVAL", 0, CONNECTING,
	 "notify A 4\n"
	 "notify S 4\n"},
	{"notify: COMM_EST of a disconnected id", "cm_establish: EINVAL", 0, DISCONNECTED,
	 "notify A 4\n"},
	{"notify: PATH_MIG of an established id", "cm_migrate: LAP_UNINIT", 0, CONNECTED,
	 "notify A 7\n"
	 "notify A 7\n"},
	{"notify: PATH_MIG of a connecting id", "cm_migrate", 0, CONNECTING, "notify A 7\n"},
	{"notify: another event", "ib_cm_notify: EINVAL", 0, CONNECTED,
	 "notify A 0\n"
	 "notify A 9\n"
	 "notify A 0xffffffff\n"},
	{"notify: a new id", "ucma_notify: no device", 0, IDLE, "notify A 4\n"},
	{"notify: a bound id", "rdma_notify: no CM id", 0, BOUND, "notify A 4\n"},
	{"notify: a listener", "cm_establish: EINVAL", 0, LISTENING, "notify A 4\n"},
	{"notify: UDP", "cm_establish: EINVAL", 0, UD_CONNECTING,
	 "notify U 4\n"
	 "notify V 4\n"},
	{"notify: no such id", "ucma_get_ctx", 0, NOTHING, "notify 77 4\n"},
	{"notify: the id of another file", "ucma_get_ctx", 0, CONNECTED, "notify@2 A 4\n"},
	{"notify: a short command", "copy_from_user()", 0, CONNECTED, "notify A 4 cut=12 in=4\n"},
};
ROWS_END(connect);
