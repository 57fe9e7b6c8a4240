// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* LISTEN. */
#include "ucma.h"
#include "states.h"

const struct row listen_rows[] = {
	{"listen: bound", "rdma_listen", 0, BOUND,
	 "listen A -> 0\n"
	 "query_addr A -> 0 src=16:me:p1 dst=16:any:0 guid=own port=1[roce:|ib: pkey=ffff]\n"},
	{"listen: bound to any address", "cma_listen_on_all", 0, BOUND_ANY,
	 "listen A -> 0\n"
	 "query_addr A -> 0 src=16:any:p1 dst=16:any:0\n"},
	{"listen: a new id", "rdma_listen: binds it to any address and port", 0, IDLE,
	 "listen A -> 0\n"
	 "query_addr A -> 0 src=16:any:* dst=16:any:0\n"},
	{"listen: a new id of UDP", "rdma_listen", 0, UD_IDLE,
	 "listen U -> 0\n"
	 "query_addr U -> 0 src=16:any:* dst=16:any:0\n"},
	{"listen: twice", "rdma_listen: state is LISTEN, rdma_bind_addr() refuses", 0, LISTENING,
	 "listen A -> EINVAL\n"},
	{"listen: backlog 0", "ucma_listen: max_backlog", 0, BOUND, "listen A 0 -> 0\n"},
	{"listen: backlog 1", "ucma_listen", 0, BOUND, "listen A 1 -> 0\n"},
	{"listen: backlog 0xffffffff", "ucma_listen: max_backlog", 0, BOUND,
	 "listen A 0xffffffff -> 0\n"},
	{"listen: a resolved id", "rdma_listen: state is ADDR_RESOLVED", 0, RESOLVED,
	 "listen A -> EINVAL\n"},
	{"listen: a connecting id", "rdma_listen: state is CONNECT", 0, CONNECTING,
	 "listen A -> EINVAL\n"},
	{"listen: a request's id", "rdma_listen: state is CONNECT", 0, CONNECTING,
	 "listen S -> EINVAL\n"},
	{"listen: an established id", "rdma_listen: state is CONNECT", 0, CONNECTED,
	 "listen A -> EINVAL\n"},
	{"listen: two ids that reuse the port", "rdma_listen: cma_check_port() without reuse", 0,
	 IDLE,
	 "set_option A 0 1 int:1 -> 0\n"
	 "bind A me:p1 -> 0\n"
	 "create B -> 0\n"
	 "set_option B 0 1 int:1 -> 0\n"
	 "bind B me:p1 -> 0\n"
	 "listen A -> EADDRINUSE\n"
	 "listen B -> EADDRINUSE\n"},
	{"listen: two ids that reuse, any address", "cma_check_port: EADDRNOTAVAIL", 0, IDLE,
	 "set_option A 0 1 int:1 -> 0\n"
	 "bind A any:p1 -> 0\n"
	 "create B -> 0\n"
	 "set_option B 0 1 int:1 -> 0\n"
	 "bind B any:p1 -> 0\n"
	 "listen A -> EADDRNOTAVAIL\n"},
	{"listen: the second that reuses, after the first is gone", "rdma_listen", 0, IDLE,
	 "set_option A 0 1 int:1 -> 0\n"
	 "bind A me:p1 -> 0\n"
	 "create B -> 0\n"
	 "set_option B 0 1 int:1 -> 0\n"
	 "bind B me:p1 -> 0\n"
	 "destroy B -> 0 reported=0\n"
	 "listen A -> 0\n"},
	{"listen: loopback", "cma_listen_on_all", 0, IDLE,
	 "bind A lo:p1 -> 0\n"
	 "listen A -> 0\n"},
	{"listen: any IPv6 address", "cma_listen_on_all", 0, IDLE,
	 "bind A any6:p1 -> 0\n"
	 "listen A -> 0\n"},
	{"listen: any GID", "cma_listen_on_dev: AF_IB and rdma_cap_ib_cm()", 0, IDLE,
	 "bind A ibany:p1 -> 0\n"
	 "listen A -> 0\n"},
	{"listen: any IPv6 alone and any IPv4", "cma_ib_listen: one service of the CM, shared", 0,
	 BOUND_ANY,
	 "create B -> 0\n"
	 "set_option B 0 2 int:1 -> 0\n"
	 "bind B any6:p1 -> 0\n"
	 "listen A -> 0\n"
	 "listen B -> 0\n"},
	{"listen: two ports", "cma_ib_listen", 0, LISTENING,
	 "create B -> 0\n"
	 "bind B me:p2 -> 0\n"
	 "listen B -> 0\n"},
	{"listen: TCP and UDP on one port", "service ids have the port space", 0, LISTENING,
	 "create B udp -> 0\n"
	 "bind B me:p1 -> 0\n"
	 "listen B -> 0\n"},
	{"listen: after a failed resolve", "addr_handler: back to ADDR_BOUND", 0, IDLE,
	 "resolve A neighbour:p1 timeout_ms=1 src=any:p2 -> 0\n"
	 "get -> ADDR_ERROR A status=-110\n"
	 "listen A -> 0\n"},
	{"listen: no such id", "ucma_get_ctx", 0, NOTHING, "listen 77 -> ENOENT\n"},
	{"listen: the id of another file", "ucma_get_ctx", 0, BOUND, "listen@2 A -> EINVAL\n"},
	{"listen: a short command", "copy_from_user()", 0, BOUND,
	 "listen A cut=12 in=4 -> EFAULT\n"},
};
ROWS_END(listen);
