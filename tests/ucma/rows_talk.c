// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Whole conversations, event by event. */
#include "ucma.h"
#include "states.h"

const struct row talk_rows[] = {
	{"TCP: connect, accept, leave, time-wait", "cma_ib_handler; cm_enter_timewait", SLOW,
	 NOTHING,
	 "create@2 L tcp\n"
	 "bind L me:p1\n"
	 "listen L 4\n"
	 "create@1 A tcp\n"
	 "resolve A me:p1\n"
	 "get\n"
	 "query_addr A\n"
	 "route A\n"
	 "get\n"
	 "query_route A\n"
	 "connect A qp_num=0x11 data=hello\n"
	 "get@2 S\n"
	 "query_addr S\n"
	 "accept S qp_num=0x22 data=welcome\n"
	 "get\n"
	 "accept A valid=0\n"
	 "get@2\n"
	 "disconnect A\n"
	 "get@2\n"
	 "disconnect S\n"
	 "get\n"
	 "get@1\n"
	 "get@2\n"
	 "destroy A\n"
	 "destroy S\n"
	 "destroy L\n"},
	{"TCP: the server leaves first", "cma_ib_handler", SLOW, CONNECTED,
	 "disconnect S\n"
	 "get\n"
	 "disconnect A\n"
	 "get@2\n"
	 "get@2\n"
	 "get@1\n"},
	{"TCP: two connections to one listener", "cma_find_listener", 0, SERVER,
	 "create@1 A tcp\n"
	 "resolve A me:p1\n"
	 "get\n"
	 "route A\n"
	 "get\n"
	 "create@1 B tcp\n"
	 "resolve B me:p1\n"
	 "get\n"
	 "route B\n"
	 "get\n"
	 "connect A qp_num=0x11\n"
	 "get@2 S\n"
	 "connect B qp_num=0x12\n"
	 "get@2 T\n"
	 "accept T qp_num=0x23\n"
	 "get@1\n"
	 "accept S qp_num=0x22\n"
	 "get@1\n"
	 "accept A valid=0\n"
	 "get@2\n"
	 "accept B valid=0\n"
	 "get@2\n"
	 "disconnect B\n"
	 "get@2\n"
	 "disconnect S\n"
	 "get@1\n"},
	{"TCP: both ids in one file", "ucma_event_handler", 0, NOTHING,
	 "create L tcp\n"
	 "bind L me:p1\n"
	 "listen L\n"
	 "create A tcp\n"
	 "resolve A me:p1\n"
	 "get\n"
	 "route A\n"
	 "get\n"
	 "connect A\n"
	 "get S\n"
	 "accept S qp_num=0x22\n"
	 "get\n"
	 "accept A valid=0\n"
	 "get\n"
	 "disconnect A\n"
	 "get\n"
	 "disconnect S\n"
	 "get\n"},
	{"TCP: a listener on any address", "cma_listen_on_dev: each device has an id of its own", 0,
	 NOTHING,
	 "create@2 L tcp\n"
	 "bind L any:p1\n"
	 "listen L\n"
	 "create@1 A tcp\n"
	 "resolve A me:p1\n"
	 "get\n"
	 "route A\n"
	 "get\n"
	 "connect A\n"
	 "get@2 S\n"
	 "query_addr S\n"
	 "query_addr L\n"
	 "query_route S\n"
	 "accept S qp_num=0x22\n"
	 "get\n"},
	{"TCP: a listener on any IPv6 address, an IPv4 client",
	 "cma_match_private_data: afonly is off", 0, NOTHING,
	 "create@2 L tcp\n"
	 "bind L any6:p1\n"
	 "listen L\n"
	 "create@1 A tcp\n"
	 "resolve A me:p1\n"
	 "get\n"
	 "route A\n"
	 "get\n"
	 "connect A\n"
	 "get@2 S\n"
	 "query_addr S\n"
	 "accept S qp_num=0x22\n"
	 "get\n"},
	{"TCP: a listener on any IPv6 address alone, an IPv4 client", "cma_match_private_data: REJ",
	 0, NOTHING,
	 "create@2 L tcp\n"
	 "set_option L 0 2 int:1\n"
	 "bind L any6:p1\n"
	 "listen L\n"
	 "create@1 A tcp\n"
	 "resolve A me:p1\n"
	 "get\n"
	 "route A\n"
	 "get\n"
	 "connect A\n"
	 "get\n"},
	{"TCP: IPv6", "cma_format_hdr", V6, NOTHING,
	 "create@2 L tcp\n"
	 "bind L me6:p1\n"
	 "listen L\n"
	 "create@1 A tcp\n"
	 "resolve A me6:p1\n"
	 "get\n"
	 "route A\n"
	 "get\n"
	 "connect A data=six\n"
	 "get@2 S\n"
	 "query_addr S\n"
	 "accept S qp_num=0x22\n"
	 "get\n"
	 "accept A valid=0\n"
	 "get@2\n"},
	{"TCP: link-local addresses", "cma_is_req_ipv6_ll", 0, NOTHING,
	 "create@2 L tcp\n"
	 "bind L ll6:p1\n"
	 "listen L\n"
	 "create@1 A tcp\n"
	 "resolve A ll6:p1\n"
	 "get\n"
	 "route A\n"
	 "get\n"
	 "connect A\n"
	 "get@2 S\n"
	 "query_addr S\n"},
	{"TCP: an IPv6 listener, an IPv4 client of the same port", "cma_match_private_data: REJ",
	 V6, NOTHING,
	 "create@2 L tcp\n"
	 "bind L me6:p1\n"
	 "listen L\n"
	 "create@1 A tcp\n"
	 "resolve A me:p1\n"
	 "get\n"
	 "route A\n"
	 "get\n"
	 "connect A\n"
	 "get\n"},
	{"TCP: a client of the loopback address",
	 "cma_bind_loopback; cma_resolve_iboe_route: [RoCE] ENODEV", ROCE_ONLY, SERVER,
	 "create@1 A tcp\n"
	 "resolve A lo:p1\n"
	 "get\n"
	 "route A\n"},
	{"TCP: rejected", "rdma_reject: status 28", 0, CONNECTING,
	 "reject S sorry\n"
	 "get\n"
	 "disconnect A\n"
	 "destroy A\n"
	 "destroy S\n"},
	{"TCP: rejected, then accepted on another id", "cm_req_handler", 0, CONNECTING,
	 "reject S\n"
	 "get\n"
	 "create@1 B tcp\n"
	 "resolve B me:p1\n"
	 "get\n"
	 "route B\n"
	 "get\n"
	 "connect B\n"
	 "get@2 T\n"
	 "accept T qp_num=0x22\n"
	 "get\n"},
	{"TCP: rejected with reason 35", "rdma_reject_ece: vendor option not supported", 0,
	 CONNECTING,
	 "reject S reason=35\n"
	 "get\n"},
	{"TCP: nobody listens", "cm_match_req: IB_CM_REJ_INVALID_SERVICE_ID", 0, ROUTED,
	 "connect A\n"
	 "get\n"},
	{"TCP: the same QP twice", "cm_insert_remote_qpn: REJ stale connection", 0, CONNECTED,
	 "create@1 B tcp\n"
	 "resolve B me:p1\n"
	 "get\n"
	 "route B\n"
	 "get\n"
	 "connect B qp_num=0x11\n"
	 "get@1\n"
	 "get@2\n"},
	{"TCP: the same QP again after it has left",
	 "cm_insert_remote_qpn: time-wait, REJ stale connection", 0, DISCONNECTED,
	 "create@1 B tcp\n"
	 "resolve B me:p1\n"
	 "get\n"
	 "route B\n"
	 "get\n"
	 "connect B qp_num=0x11\n"
	 "get@1\n"},
	{"TCP: the client goes while its request waits",
	 "ucma_event_handler: the request has no uid, so no event", 0, SERVER ROUTED,
	 "connect A\n"
	 "wait@2\n"
	 "destroy A\n"
	 "get@2 S\n"
	 "quiet@2\n"
	 "accept S\n"
	 "destroy S\n"},
	{"TCP: the client rejects the answer", "cma_ib_handler", 0, ANSWERED,
	 "reject A sorry\n"
	 "get@2\n"
	 "destroy S\n"},
	{"TCP: an answer to a server that has left", "cm_destroy_id: REJ", 0, ANSWERED,
	 "destroy S\n"
	 "get\n"},
	{"UDP: request and answer", "cma_sidr_rep_handler", 0, NOTHING,
	 "create@2 L udp\n"
	 "bind L me:p1\n"
	 "listen L\n"
	 "create@1 U udp\n"
	 "resolve U me:p1\n"
	 "get\n"
	 "route U\n"
	 "get\n"
	 "connect U data=hello\n"
	 "get@2 V\n"
	 "query_addr V\n"
	 "accept V qp_num=0x22 data=welcome\n"
	 "get\n"
	 "query_addr U\n"
	 "init_qp_attr U init\n"
	 "disconnect U\n"
	 "destroy V\n"
	 "destroy U\n"
	 "destroy L\n"},
	{"UDP: rejected", "cma_sidr_rep_handler: UNREACHABLE, status 2", 0, UD_CONNECTING,
	 "reject V sorry\n"
	 "get\n"},
	{"UDP: nobody listens", "cma_sidr_rep_handler: UNREACHABLE, status 1", 0, UD_ROUTED,
	 "connect U\n"
	 "get\n"},
	{"UDP: the request's id is destroyed", "cm_destroy_id: IB_SIDR_REJECT", 0, UD_CONNECTING,
	 "destroy V\n"
	 "get\n"},
	{"UDP: the server's file is closed", "cm_destroy_id: IB_SIDR_REJECT", 0, UD_CONNECTING,
	 "close@2\n"
	 "get\n"},
	{"UDP: the client goes", "the server is not told", 0, UD_CONNECTING,
	 "destroy U\n"
	 "quiet@2\n"
	 "accept V\n"},
	{"UDP: a listener and a client on the same id's file", "ucma_event_handler", 0, NOTHING,
	 "create L udp\n"
	 "bind L me:p1\n"
	 "listen L\n"
	 "create U udp\n"
	 "resolve U me:p1\n"
	 "get\n"
	 "route U\n"
	 "get\n"
	 "connect U\n"
	 "get V\n"
	 "accept V qp_num=0x22\n"
	 "get\n"},
	{"IB: port space IB with RC", "cma_ib_listen: service of RDMA_PS_IB", 0, NOTHING,
	 "create@2 L ib qp_type=2\n"
	 "bind L me:p1\n"
	 "listen L\n"
	 "create@1 A ib qp_type=2\n"
	 "resolve A me:p1\n"
	 "get\n"
	 "query_gid A\n"
	 "route A\n"
	 "get\n"
	 "connect A\n"
	 "get@2 S\n"
	 "accept S qp_num=0x22\n"
	 "get\n"
	 "accept A valid=0\n"
	 "get@2\n"},
	{"IB: port space IB with UD", "cma_resolve_ib_udp", 0, NOTHING,
	 "create@2 L ib qp_type=4\n"
	 "bind L me:p1\n"
	 "listen L\n"
	 "create@1 U ib qp_type=4\n"
	 "resolve U me:p1\n"
	 "get\n"
	 "route U\n"
	 "get\n"
	 "connect U\n"
	 "get@2 V\n"
	 "accept V qp_num=0x22\n"
	 "get\n"},
	{"a host that is not there: no neighbour", "process_one_req: ETIMEDOUT", 0, IDLE,
	 "resolve A neighbour:p1 timeout_ms=100\n"
	 "get\n"},
};
ROWS_END(talk);
