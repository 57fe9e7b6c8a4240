// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* QUERY_ROUTE and QUERY. */
#include "ucma.h"
#include "states.h"

const struct row query_rows[] = {
	{"query_route: a new id", "ucma_query_route: no device", 0, IDLE,
	 "query_route A -> 0 src=0 dst=0\n"},
	{"query_route: bound",
	 "ucma_copy_iboe_route: [RoCE] GIDs of the addresses; ucma_copy_ib_route: of the device", 0,
	 BOUND,
	 "query_route A -> 0 src=me:p1 dst=any:0 guid=own port=1 [[roce:dgid=::ffff:0.0.0.0 "
	 "sgid=map|ib:dgid=0 sgid=gid0] pkey=ffff]\n"},
	{"query_route: bound to any address", "ucma_query_route: no device", 0, BOUND_ANY,
	 "query_route A -> 0 src=any:p1 dst=any:0\n"},
	{"query_route: resolved", "ucma_query_route: no path yet", 0, RESOLVED,
	 "query_route A -> 0 src=me:* dst=me:p1 guid=own port=1 [[roce:dgid=map "
	 "sgid=map|ib:dgid=gid0 sgid=gid0] pkey=ffff]\n"},
	{"query_route: routed", "ib_copy_path_rec_to_user", 0, ROUTED,
	 "query_route A -> 0 src=me:* dst=me:p1 guid=own port=1 paths=1 [[roce:dgid=map sgid=map "
	 "flowlabel=* reversible=1 mtu=5 pkey=ffff hop=64 mtusel=2 ratesel=2 lifesel=2 "
	 "life=18|ib:dgid=gid0 sgid=gid0 dlid=own slid=own reversible=1 mtu=5 pkey=ffff mtusel=2 "
	 "ratesel=2 rate=17 lifesel=2]]\n"},
	{"query_route: a request's id", "cma_ib_new_conn_id: the path of the request", 0,
	 CONNECTING,
	 "query_route S -> 0 src=me:p1 dst=me:* guid=own port=1 paths=1 [[roce:dgid=map sgid=map "
	 "flowlabel=* reversible=1 mtu=5 pkey=ffff hop=64 mtusel=2 ratesel=2 lifesel=2 "
	 "life=18|ib:dgid=gid0 sgid=gid0 dlid=own slid=own reversible=1 mtu=5 pkey=ffff mtusel=2 "
	 "ratesel=2 rate=17 lifesel=2 life=15]]\n"},
	{"query_route: established", "ucma_query_route", 0, CONNECTED,
	 "query_route A -> 0 src=me:* dst=me:p1 guid=own port=1 paths=1 [[roce:dgid=map sgid=map "
	 "flowlabel=* reversible=1 mtu=5 pkey=ffff hop=64 mtusel=2 ratesel=2 lifesel=2 "
	 "life=18|ib:dgid=gid0 sgid=gid0 dlid=own slid=own reversible=1 mtu=5 pkey=ffff mtusel=2 "
	 "ratesel=2 rate=17 lifesel=2]]\n"},
	{"query_route: a UDP request's id", "cma_ib_new_udp_id: no path", 0, UD_CONNECTING,
	 "query_route V -> 0 src=me:p1 dst=me:* guid=own port=1 [[roce:dgid=map sgid=map|ib:dgid=0 "
	 "sgid=gid0] pkey=ffff]\n"},
	{"query_route: IPv6", "ucma_query_route", V6, IDLE,
	 "resolve A me6:p1 -> 0\n"
	 "get -> ADDR_RESOLVED A\n"
	 "route A -> 0\n"
	 "get -> ROUTE_RESOLVED A\n"
	 "query_route A -> 0 src=me6:* dst=me6:p1 guid=own port=1 paths=1 [[roce:dgid=me6 sgid=me6 "
	 "flowlabel=* reversible=1 mtu=5 pkey=ffff hop=64 mtusel=2 ratesel=2 lifesel=2 "
	 "life=18|ib:dgid=gid0 sgid=gid0 dlid=own slid=own reversible=1 mtu=5 pkey=ffff mtusel=2 "
	 "ratesel=2 rate=17 lifesel=2]]\n"},
	{"query_route: without the index of the device",
	 "ucma_query_route: out_len up to ibdev_index", 0, ROUTED,
	 "query_route A out=200 -> 0 src=me:* dst=me:p1 guid=own port=1 paths=1 [[roce:dgid=map "
	 "sgid=map flowlabel=* reversible=1 mtu=5 pkey=ffff hop=64 mtusel=2 ratesel=2 lifesel=2 "
	 "life=18|ib:dgid=gid0 sgid=gid0 dlid=own slid=own reversible=1 mtu=5 pkey=ffff mtusel=2 "
	 "ratesel=2 rate=17 lifesel=2]] wrote=200\n"},
	{"query_route: half of the index", "ucma_query_route: min_t()", 0, ROUTED,
	 "query_route A out=202 -> 0 src=me:* dst=me:p1 guid=own port=1 paths=1 [[roce:dgid=map "
	 "sgid=map flowlabel=* reversible=1 mtu=5 pkey=ffff hop=64 mtusel=2 ratesel=2 lifesel=2 "
	 "life=18|ib:dgid=gid0 sgid=gid0 dlid=own slid=own reversible=1 mtu=5 pkey=ffff mtusel=2 "
	 "ratesel=2 rate=17 lifesel=2]] wrote=202\n"},
	{"query_route: less than the older structure", "ucma_query_route: out_len", 0, ROUTED,
	 "query_route A out=199 -> ENOSPC\n"},
	{"query_route: no room", "ucma_query_route: out_len", 0, ROUTED,
	 "query_route A out=0 -> ENOSPC\n"},
	{"query_route: more room", "ucma_query_route: min_t()", 0, ROUTED,
	 "query_route A out=256 -> 0 src=me:* dst=me:p1 guid=own port=1 paths=1 [[roce:dgid=map "
	 "sgid=map flowlabel=* reversible=1 mtu=5 pkey=ffff hop=64 mtusel=2 ratesel=2 lifesel=2 "
	 "life=18|ib:dgid=gid0 sgid=gid0 dlid=own slid=own reversible=1 mtu=5 pkey=ffff mtusel=2 "
	 "ratesel=2 rate=17 lifesel=2]]\n"},
	{"query_route: no room, no id", "ucma_query_route: out_len comes first", 0, NOTHING,
	 "query_route 77 out=0 -> ENOSPC\n"},
	{"query_route: no such id", "ucma_get_ctx", 0, NOTHING, "query_route 77 -> ENOENT\n"},
	{"query_route: the id of another file", "ucma_get_ctx", 0, IDLE,
	 "query_route@2 A -> EINVAL\n"},
	{"query_route: a bad answer's address", "copy_to_user()", 0, IDLE,
	 "query_route A response=nowhere -> EFAULT\n"},
	{"query_route: a short command", "copy_from_user()", 0, IDLE,
	 "query_route A cut=16 in=8 -> EFAULT\n"},
	{"query_route: without an option",
	 "older libraries leave it out: copy_from_user() takes all the same", 0, IDLE,
	 "query_route A in=12 cut=20 -> EFAULT\n"},
	{"query_route: an option", "ucma_query_route does not look at it", 0, IDLE,
	 "query_route A option=7 -> 0 src=0 dst=0\n"},
	{"query addr: a new id", "ucma_query_addr: sizes 0", 0, IDLE,
	 "query_addr A -> 0 src=0:0 dst=0:0\n"},
	{"query addr: resolved", "ucma_query_addr", 0, RESOLVED,
	 "query_addr A -> 0 src=16:me:* dst=16:me:p1 guid=own port=1[roce:|ib: pkey=ffff]\n"},
	{"query addr: established", "ucma_query_addr", 0, CONNECTED,
	 "query_addr A -> 0 src=16:me:* dst=16:me:p1 guid=own port=1[roce:|ib: pkey=ffff]\n"
	 "query_addr S -> 0 src=16:me:p1 dst=16:me:* guid=own port=1[roce:|ib: pkey=ffff]\n"},
	{"query addr: a listener", "ucma_query_addr", 0, LISTENING,
	 "query_addr A -> 0 src=16:me:p1 dst=16:any:0 guid=own port=1[roce:|ib: pkey=ffff]\n"},
	{"query addr: without the index of the device",
	 "ucma_query_addr: out_len up to ibdev_index", 0, RESOLVED,
	 "query_addr A out=272 -> 0 src=16:me:* dst=16:me:p1 guid=own port=1[roce:|ib: pkey=ffff] "
	 "wrote=272\n"},
	{"query addr: one byte less", "ucma_query_addr: out_len", 0, RESOLVED,
	 "query_addr A out=271 -> ENOSPC\n"},
	{"query addr: no room", "ucma_query_addr: out_len", 0, RESOLVED,
	 "query_addr A out=0 -> ENOSPC\n"},
	{"query addr: more room", "ucma_query_addr: min_t()", 0, RESOLVED,
	 "query_addr A out=512 -> 0 src=16:me:* dst=16:me:p1 guid=own port=1[roce:|ib: "
	 "pkey=ffff]\n"},
	{"query addr: no room, no id", "ucma_query: the id comes first", 0, NOTHING,
	 "query_addr 77 out=0 -> ENOENT\n"},
	{"query addr: the id of another file", "ucma_get_ctx", 0, IDLE,
	 "query_addr@2 A -> EINVAL\n"},
	{"query addr: a bad answer's address", "copy_to_user()", 0, IDLE,
	 "query_addr A response=nowhere -> EFAULT\n"},
	{"query addr: a short command", "copy_from_user()", 0, IDLE,
	 "query_addr A cut=16 in=8 -> EFAULT\n"},
	{"query path: a new id", "ucma_query_path: no paths", 0, IDLE,
	 "query_path A -> 0 paths=0\n"},
	{"query path: resolved", "ucma_query_path: no paths", 0, RESOLVED,
	 "query_path A -> 0 paths=0\n"},
	{"query path: routed", "ib_sa_pack_path", 0, ROUTED,
	 "query_path A -> 0 paths=1 [flags=2b [roce:dgid=map sgid=map flowlabel=* hop=64 "
	 "reversible=1 pkey=ffff mtusel=2 mtu=5 ratesel=2 lifesel=2 life=18|ib:dgid=gid0 sgid=gid0 "
	 "dlid=own slid=own reversible=1 pkey=ffff mtusel=2 mtu=5 ratesel=2 rate=17 lifesel=2]]\n"},
	{"query path: a request's id", "cma_ib_new_conn_id", 0, CONNECTING,
	 "query_path S -> 0 paths=1 [flags=2b [roce:dgid=map sgid=map service=106:p1 flowlabel=* "
	 "hop=64 reversible=1 pkey=ffff mtusel=2 mtu=5 ratesel=2 lifesel=2 life=18|ib:dgid=gid0 "
	 "sgid=gid0 service=106:p1 dlid=own slid=own reversible=1 pkey=ffff mtusel=2 mtu=5 "
	 "ratesel=2 rate=17 lifesel=2 life=15]]\n"},
	{"query path: room for the header alone", "ucma_query_path: as many as fit", 0, ROUTED,
	 "query_path A out=8 -> 0 paths=1\n"},
	{"query path: room for half a path", "ucma_query_path: as many as fit", 0, ROUTED,
	 "query_path A out=40 -> 0 paths=1\n"},
	{"query path: room for one path", "ucma_query_path", 0, ROUTED,
	 "query_path A out=80 -> 0 paths=1 [flags=2b [roce:dgid=map sgid=map flowlabel=* hop=64 "
	 "reversible=1 pkey=ffff mtusel=2 mtu=5 ratesel=2 lifesel=2 life=18|ib:dgid=gid0 sgid=gid0 "
	 "dlid=own slid=own reversible=1 pkey=ffff mtusel=2 mtu=5 ratesel=2 rate=17 lifesel=2]]\n"},
	{"query path: less than the header", "ucma_query_path: out_len", 0, ROUTED,
	 "query_path A out=7 -> ENOSPC\n"},
	{"query path: a bad answer's address", "copy_to_user()", 0, ROUTED,
	 "query_path A response=nowhere -> EFAULT\n"},
	{"query path: no such id", "ucma_get_ctx", 0, NOTHING, "query_path 77 -> ENOENT\n"},
	{"query gid: a new id", "ucma_query_gid: AF_IB without GIDs", 0, IDLE,
	 "query_gid A -> 0 src=48:ib:0/106:0&0,pkey=0 dst=48:ib:0/106:0&0,pkey=0\n"},
	{"query gid: bound", "rdma_read_gids", 0, BOUND,
	 "query_gid A -> 0 src=48:ib:[roce:map|ib:gid0]/106:p1&0[roce:,pkey=0|ib:] "
	 "dst=48:ib:[roce:::ffff:0.0.0.0|ib:0]/106:0&0[roce:,pkey=0|ib:] guid=own port=1[roce:|ib: "
	 "pkey=ffff]\n"},
	{"query gid: bound to any address", "rdma_read_gids: no device", 0, BOUND_ANY,
	 "query_gid A -> 0 src=48:ib:0/106:p1&0,pkey=0 dst=48:ib:0/106:0&0,pkey=0\n"},
	{"query gid: resolved", "rdma_read_gids", 0, RESOLVED,
	 "query_gid A -> 0 src=48:ib:[roce:map|ib:gid0]/106:*&0[roce:,pkey=0|ib:] "
	 "dst=48:ib:[roce:map|ib:gid0]/106:p1&0[roce:,pkey=0|ib:] guid=own port=1[roce:|ib: "
	 "pkey=ffff]\n"},
	{"query gid: established", "rdma_read_gids", 0, CONNECTED,
	 "query_gid A -> 0 src=48:ib:[roce:map|ib:gid0]/106:*&0[roce:,pkey=0|ib:] "
	 "dst=48:ib:[roce:map|ib:gid0]/106:p1&0[roce:,pkey=0|ib:] guid=own port=1[roce:|ib: "
	 "pkey=ffff]\n"
	 "query_gid S -> 0 src=48:ib:[roce:map|ib:gid0]/106:p1&0[roce:,pkey=0|ib:] "
	 "dst=48:ib:[roce:map|ib:gid0]/106:*&0[roce:,pkey=0|ib:] guid=own port=1[roce:|ib: "
	 "pkey=ffff]\n"},
	{"query gid: UDP", "rdma_get_service_id", 0, UD_RESOLVED,
	 "query_gid U -> 0 src=48:ib:[roce:map|ib:gid0]/111:*&0[roce:,pkey=0|ib:] "
	 "dst=48:ib:[roce:map|ib:gid0]/111:p1&0[roce:,pkey=0|ib:] guid=own port=1[roce:|ib: "
	 "pkey=ffff]\n"},
	{"query gid: bound to AF_IB", "ucma_query_gid: the address itself", 0, IDLE,
	 "bind A ibany:p1 -> 0\n"
	 "query_gid A -> 0 src=48:ib:0/106:p1 dst=48:ib:0/0:0&0,pkey=0\n"},
	{"query gid: without the index of the device", "ucma_query_gid: out_len up to ibdev_index",
	 0, RESOLVED,
	 "query_gid A out=272 -> 0 src=48:ib:[roce:map|ib:gid0]/106:*&0[roce:,pkey=0|ib:] "
	 "dst=48:ib:[roce:map|ib:gid0]/106:p1&0[roce:,pkey=0|ib:] guid=own port=1[roce:|ib: "
	 "pkey=ffff] wrote=272\n"},
	{"query gid: one byte less", "ucma_query_gid: out_len", 0, RESOLVED,
	 "query_gid A out=271 -> ENOSPC\n"},
	{"query gid: a bad answer's address", "copy_to_user()", 0, IDLE,
	 "query_gid A response=nowhere -> EFAULT\n"},
	{"query: option 3", "ucma_query: ENOSYS", 0, IDLE, "query_addr A option=3 -> ENOSYS\n"},
	{"query: option 0xffffffff", "ucma_query: ENOSYS", 0, IDLE,
	 "query_addr A option=0xffffffff -> ENOSYS\n"},
	{"query: option 3 of no id", "ucma_query: the id comes first", 0, NOTHING,
	 "query_addr 77 option=3 -> ENOENT\n"},
};
ROWS_END(query);
