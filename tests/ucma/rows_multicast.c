// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* JOIN_IP_MCAST, JOIN_MCAST and LEAVE_MCAST. */
#include "ucma.h"
#include "states.h"

const struct row multicast_rows[] = {
	{"join: a bound id", "rdma_join_multicast", 0, UD_BOUND,
	 "join U mc:0 as=M\n"
	 "get\n"
	 "leave M\n"},
	{"join: a resolved id", "rdma_join_multicast: ADDR_RESOLVED", 0, UD_RESOLVED,
	 "join U mc:0 as=M\n"
	 "get\n"
	 "leave M\n"},
	{"join: send only", "ucma_process_join: SENDONLY_FULLMEMBER", 0, UD_BOUND,
	 "join U mc:0 as=M join_flags=1\n"
	 "get\n"
	 "leave M\n"},
	{"join: flag 2", "ucma_process_join: join_flags", 0, UD_BOUND,
	 "join U mc:0 join_flags=2\n"},
	{"join: flag 0xffff", "ucma_process_join: join_flags", 0, UD_BOUND,
	 "join U mc:0 join_flags=0xffff\n"},
	{"join: twice the same group", "rdma_join_multicast: each is one", 0, UD_BOUND,
	 "join U mc:0 as=M\n"
	 "join U mc:0 as=N\n"
	 "get\n"
	 "get\n"
	 "leave M\n"
	 "leave N\n"},
	{"join: two groups", "rdma_join_multicast", 0, UD_BOUND,
	 "join U mc:0 as=M\n"
	 "get\n"
	 "join U mc2:0 as=N\n"
	 "get\n"
	 "leave N\n"
	 "leave M\n"},
	{"join: a new id", "ucma_get_ctx_dev", 0, UD_IDLE, "join U mc:0\n"},
	{"join: bound to any address", "ucma_get_ctx_dev", 0, UD_IDLE,
	 "bind U any:p1\n"
	 "join U mc:0\n"},
	{"join: a routed id", "rdma_join_multicast: ADDR_BOUND or ADDR_RESOLVED", 0, UD_ROUTED,
	 "join U mc:0\n"},
	{"join: a listener", "rdma_join_multicast", 0, UD_BOUND,
	 "listen U\n"
	 "join U mc:0\n"},
	{"join: an id of TCP", "rdma_join_multicast: UD alone", 0, BOUND, "join A mc:0\n"},
	{"join: port space IB with UD", "rdma_join_multicast", 0, NOTHING,
	 "create U ib qp_type=4\n"
	 "bind U me:p1\n"
	 "join U mc:0 as=M\n"
	 "get\n"},
	{"join: a unicast address", "cma_set_mgid: it is not looked at", 0, UD_BOUND,
	 "join U nobody:0 as=M\n"
	 "get\n"},
	{"join: any address",
	 "cma_iboe_join_multicast: cma_zero_addr(); [InfiniBand] a group that the SA picks",
	 ROCE_ONLY, UD_BOUND, "join U any:0\n"},
	{"join: the loopback address", "cma_iboe_set_mgid: cma_any_addr(), MGID 0", ROCE_ONLY,
	 UD_BOUND,
	 "join U lo:0 as=M\n"
	 "get\n"},
	{"join: an IPv6 group", "cma_iboe_join_multicast: [RoCE v2] ENOTSUPP; [InfiniBand] joins",
	 ROCE_ONLY, UD_BOUND, "join U mc6:0\n"},
	{"join: an MGID of the SA", "cma_set_mgid", ROCE_ONLY, UD_BOUND, "join U sa6:0\n"},
	{"join: AF_IB", "cma_iboe_join_multicast: [RoCE v2] ENOTSUPP", ROCE_ONLY, UD_BOUND,
	 "join U ib0:0\n"},
	{"join: family 0", "ucma_join_multicast: rdma_addr_size_kss()", 0, UD_BOUND,
	 "join U family:0\n"},
	{"join: family UNIX", "ucma_join_multicast", 0, UD_BOUND, "join U family:1\n"},
	{"join: size one less", "ucma_process_join: addr_size", 0, UD_BOUND,
	 "join U mc:0 addr_size=15\n"},
	{"join: size 0", "ucma_process_join: addr_size", 0, UD_BOUND, "join U mc:0 addr_size=0\n"},
	{"join: no such id", "ucma_get_ctx", 0, NOTHING, "join 77 mc:0\n"},
	{"join: no such id, flag 2", "ucma_process_join: the flags come first", 0, NOTHING,
	 "join 77 mc:0 join_flags=2\n"},
	{"join: the id of another file", "ucma_get_ctx", 0, UD_BOUND, "join@2 U mc:0\n"},
	{"join: an answer of 3 bytes", "ucma_process_join: out_len", 0, UD_BOUND,
	 "join U mc:0 out=3\n"},
	{"join: no room, family 0", "ucma_join_multicast: the family comes first", 0, NOTHING,
	 "join 77 family:0 out=0\n"},
	{"join: no room, size 0", "ucma_process_join: out_len comes first", 0, NOTHING,
	 "join 77 mc:0 addr_size=0 out=0\n"},
	{"join: a bad answer's address", "ucma_process_join: it leaves again, without event", 0,
	 UD_BOUND,
	 "join U mc:0 response=nowhere\n"
	 "quiet\n"
	 "join U mc:0 as=M\n"
	 "get\n"},
	{"join: a short command", "copy_from_user()", 0, UD_BOUND, "join U mc:0 cut=40 in=32\n"},
	{"join: uid 0 of the group", "ucma_create_uevent: uid of the group; ctx->uid decides", 0,
	 UD_BOUND,
	 "join U mc:0 as=M uid=0\n"
	 "get\n"},
	{"join: uid 0 of the id", "ucma_event_handler: no event", 0, NOTHING,
	 "create U udp uid=0\n"
	 "bind U me:p1\n"
	 "join U mc:0 as=M\n"
	 "quiet\n"
	 "leave M\n"},
	{"join: the Q_Key of the id", "cma_set_default_qkey: 0x01234567", 0, UD_BOUND,
	 "join U mc:0 as=M\n"
	 "get\n"
	 "init_qp_attr U init\n"},
	{"join_ip: a bound id", "ucma_join_ip_multicast", 0, UD_BOUND,
	 "join_ip U mc:0 as=M\n"
	 "get\n"
	 "leave M\n"},
	{"join_ip: family 0", "ucma_join_ip_multicast: rdma_addr_size_in6()", 0, UD_BOUND,
	 "join_ip U family:0\n"},
	{"join_ip: AF_IB does not fit", "rdma_addr_size_in6", 0, UD_BOUND, "join_ip U ib0:0\n"},
	{"join_ip: an answer of 3 bytes", "ucma_process_join: out_len", 0, UD_BOUND,
	 "join_ip U mc:0 out=3\n"},
	{"join_ip: no such id", "ucma_get_ctx", 0, NOTHING, "join_ip 77 mc:0\n"},
	{"join_ip: the id of another file", "ucma_get_ctx", 0, UD_BOUND, "join_ip@2 U mc:0\n"},
	{"join_ip: an id of TCP", "rdma_join_multicast: UD alone", 0, BOUND, "join_ip A mc:0\n"},
	{"join_ip: a short command", "copy_from_user()", 0, UD_BOUND,
	 "join_ip U mc:0 cut=40 in=32\n"},
	{"leave: the event was not read", "ucma_cleanup_mc_events", 0, UD_BOUND,
	 "join U mc:0 as=M\n"
	 "wait\n"
	 "leave M\n"
	 "poll\n"},
	{"leave: events of the group", "ucma_leave_multicast: the group's, not the id's", 0,
	 UD_RESOLVED,
	 "join U mc:0 as=M\n"
	 "get\n"
	 "leave M\n"
	 "destroy U\n"},
	{"leave: twice", "xa_load(): ENOENT", 0, UD_BOUND,
	 "join U mc:0 as=M\n"
	 "get\n"
	 "leave M\n"
	 "leave M\n"},
	{"leave: no such group", "xa_load(): ENOENT", 0, NOTHING, "leave 77\n"},
	{"leave: the number of the id", "groups have numbers of their own", 0, UD_BOUND,
	 "leave U\n"},
	{"leave: from another file", "ucma_leave_multicast: EINVAL", 0, UD_BOUND,
	 "join U mc:0 as=M\n"
	 "get\n"
	 "leave@2 M\n"
	 "leave M\n"},
	{"leave: an answer of 3 bytes", "ucma_leave_multicast: out_len", 0, UD_BOUND,
	 "join U mc:0 as=M\n"
	 "get\n"
	 "leave M out=3\n"
	 "leave M\n"},
	{"leave: no room, no group", "ucma_leave_multicast: out_len comes first", 0, NOTHING,
	 "leave 77 out=0\n"},
	{"leave: a bad answer's address", "ucma_leave_multicast: the group is gone all the same", 0,
	 UD_BOUND,
	 "join U mc:0 as=M\n"
	 "get\n"
	 "leave M response=nowhere\n"
	 "leave M\n"},
	{"leave: a short command", "copy_from_user()", 0, UD_BOUND, "leave 77 cut=16 in=8\n"},
	{"leave: after the id has gone", "ucma_cleanup_multicast", 0, UD_BOUND,
	 "join U mc:0 as=M\n"
	 "get\n"
	 "destroy U\n"
	 "leave M\n"},
	{"groups have numbers of their own", "multicast_table", 0, UD_BOUND,
	 "join U mc:0 as=M\n"
	 "number M\n"
	 "join U mc2:0 as=N\n"
	 "number N\n"},
	{"destroy: events of the id and of the group", "ucma_get_event: both count", 0, UD_BOUND,
	 "join U mc:0 as=M\n"
	 "get\n"
	 "destroy U\n"},
};
ROWS_END(multicast);
