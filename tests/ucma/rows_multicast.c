// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* JOIN_IP_MCAST, JOIN_MCAST and LEAVE_MCAST. */
#include "ucma.h"
#include "states.h"

const struct row multicast_rows[] = {
	{"join: a bound id", "rdma_join_multicast", 0, UD_BOUND,
	 "join U mc:0 as=M -> 0\n"
	 "get -> MULTICAST_JOIN M qpn=ffffff qkey=1234567 [roce:port=1 dgid=::ffff:239.1.2.3 "
	 "sgid=map hop=64|ib:dlid=mc rate=17 port=1 dgid=ff12:4001:ffff::f01:203 sgid=gid0]\n"
	 "leave M -> 0 reported=1\n"},
	{"join: a resolved id", "rdma_join_multicast: ADDR_RESOLVED", 0, UD_RESOLVED,
	 "join U mc:0 as=M -> 0\n"
	 "get -> MULTICAST_JOIN M qpn=ffffff qkey=1234567 [roce:port=1 dgid=::ffff:239.1.2.3 "
	 "sgid=map hop=64|ib:dlid=mc rate=17 port=1 dgid=ff12:4001:ffff::f01:203 sgid=gid0]\n"
	 "leave M -> 0 reported=1\n"},
	{"join: send only", "ucma_process_join: SENDONLY_FULLMEMBER", 0, UD_BOUND,
	 "join U mc:0 as=M join_flags=1 -> 0\n"
	 "get -> MULTICAST_JOIN M qpn=ffffff qkey=1234567 [roce:port=1 dgid=::ffff:239.1.2.3 "
	 "sgid=map hop=64|ib:dlid=mc rate=17 port=1 dgid=ff12:4001:ffff::f01:203 sgid=gid0]\n"
	 "leave M -> 0 reported=1\n"},
	{"join: flag 2", "ucma_process_join: join_flags", 0, UD_BOUND,
	 "join U mc:0 join_flags=2 -> EINVAL\n"},
	{"join: flag 0xffff", "ucma_process_join: join_flags", 0, UD_BOUND,
	 "join U mc:0 join_flags=0xffff -> EINVAL\n"},
	{"join: twice the same group", "rdma_join_multicast: each is one", 0, UD_BOUND,
	 "join U mc:0 as=M -> 0\n"
	 "join U mc:0 as=N -> 0\n"
	 "get -> MULTICAST_JOIN M qpn=ffffff qkey=1234567 [roce:port=1 dgid=::ffff:239.1.2.3 "
	 "sgid=map hop=64|ib:dlid=mc rate=17 port=1 dgid=ff12:4001:ffff::f01:203 sgid=gid0]\n"
	 "get -> MULTICAST_JOIN N qpn=ffffff qkey=1234567 [roce:port=1 dgid=::ffff:239.1.2.3 "
	 "sgid=map hop=64|ib:dlid=mc rate=17 port=1 dgid=ff12:4001:ffff::f01:203 sgid=gid0]\n"
	 "leave M -> 0 reported=1\n"
	 "leave N -> 0 reported=1\n"},
	{"join: two groups", "rdma_join_multicast", 0, UD_BOUND,
	 "join U mc:0 as=M -> 0\n"
	 "get -> MULTICAST_JOIN M qpn=ffffff qkey=1234567 [roce:port=1 dgid=::ffff:239.1.2.3 "
	 "sgid=map hop=64|ib:dlid=mc rate=17 port=1 dgid=ff12:4001:ffff::f01:203 sgid=gid0]\n"
	 "join U mc2:0 as=N -> 0\n"
	 "get -> MULTICAST_JOIN N qpn=ffffff qkey=1234567 [roce:port=1 dgid=::ffff:239.1.2.4 "
	 "sgid=map hop=64|ib:dlid=mc rate=17 port=1 dgid=ff12:4001:ffff::f01:204 sgid=gid0]\n"
	 "leave N -> 0 reported=1\n"
	 "leave M -> 0 reported=1\n"},
	{"join: a new id", "ucma_get_ctx_dev", 0, UD_IDLE, "join U mc:0 -> EINVAL\n"},
	{"join: bound to any address", "ucma_get_ctx_dev", 0, UD_IDLE,
	 "bind U any:p1 -> 0\n"
	 "join U mc:0 -> EINVAL\n"},
	{"join: a routed id", "rdma_join_multicast: ADDR_BOUND or ADDR_RESOLVED", 0, UD_ROUTED,
	 "join U mc:0 -> EINVAL\n"},
	{"join: a listener", "rdma_join_multicast", 0, UD_BOUND,
	 "listen U -> 0\n"
	 "join U mc:0 -> EINVAL\n"},
	{"join: an id of TCP", "rdma_join_multicast: UD alone", 0, BOUND,
	 "join A mc:0 -> EINVAL\n"},
	{"join: port space IB with UD", "rdma_join_multicast", 0, NOTHING,
	 "create U ib qp_type=4 -> 0\n"
	 "bind U me:p1 -> 0\n"
	 "join U mc:0 as=M -> 0\n"
	 "get -> MULTICAST_JOIN M qpn=ffffff qkey=1234567 [roce:port=1 dgid=::ffff:239.1.2.3 "
	 "sgid=map hop=64|ib:dlid=mc rate=17 port=1 dgid=ff12:401b:ffff::f01:203 sgid=gid0]\n"},
	{"join: a unicast address", "cma_set_mgid: it is not looked at", 0, UD_BOUND,
	 "join U nobody:0 as=M -> 0\n"
	 "get -> MULTICAST_JOIN M qpn=ffffff qkey=1234567 [roce:port=1 dgid=::ffff:203.0.113.7 "
	 "sgid=map hop=64|ib:dlid=mc rate=17 port=1 dgid=ff12:4001:ffff::b00:7107 sgid=gid0]\n"},
	{"join: any address", "cma_iboe_join_multicast: cma_zero_addr()", ROCE_ONLY, UD_BOUND,
	 "join U any:0 -> EINVAL\n"},
	{"join: the loopback address", "cma_iboe_set_mgid: cma_any_addr(), MGID 0", ROCE_ONLY,
	 UD_BOUND,
	 "join U lo:0 as=M -> 0\n"
	 "get -> MULTICAST_JOIN M qpn=ffffff qkey=1234567 port=1 dgid=0 sgid=map hop=64\n"},
	{"join: an IPv6 group",
	 "cma_iboe_join_multicast: RoCE v2 has IPv4 alone; cma_set_mgid: ipv6_ib_mc_map()", 0,
	 UD_BOUND, "join U mc6:0 as=M -> [roce:errno 524|ib:0]\n"},
	{"join: an MGID of the SA", "cma_iboe_join_multicast: RoCE v2 has IPv4 alone", ROCE_ONLY,
	 UD_BOUND, "join U sa6:0 -> errno 524\n"},
	{"join: AF_IB, a GID that is no group",
	 "cma_iboe_join_multicast: RoCE v2 has IPv4 alone; the SA refuses it later", 0, UD_BOUND,
	 "join U ib0:0 as=M -> [roce:errno 524|ib:0]\n"},
	{"join: an IPv6 group, its event", "cma_make_mc_event: the group's MLID, rate and GRH",
	 IB_ONLY, UD_BOUND,
	 "join U mc6:0 as=M -> 0\n"
	 "get -> MULTICAST_JOIN M qpn=ffffff qkey=1234567 dlid=mc rate=17 port=1 "
	 "dgid=ff12:6001:ffff::1:2 sgid=gid0\n"
	 "leave M -> 0 reported=1\n"},
	{"join: AF_IB, its event", "cma_ib_mc_handler: what the SA refuses is EINVAL", IB_ONLY,
	 UD_BOUND,
	 "join U ib0:0 as=M -> 0\n"
	 "get -> MULTICAST_ERROR M status=-22\n"
	 "leave M -> 0 reported=1\n"},
	{"join: any address on InfiniBand", "cma_set_mgid: MGID 0, the SA picks one", IB_ONLY,
	 UD_BOUND,
	 "join U any:0 as=M -> 0\n"
	 "wait -> 0\n"
	 "leave M -> 0 reported=0\n"},
	{"join: the loopback address on InfiniBand", "cma_set_mgid: MGID 0", IB_ONLY, UD_BOUND,
	 "join U lo:0 as=M -> 0\n"
	 "wait -> 0\n"
	 "leave M -> 0 reported=0\n"},
	{"join: an id of the loopback address",
	 "cma_iboe_join_multicast: no interface; cma_join_ib_multicast: no broadcast group", 0,
	 UD_IDLE,
	 "resolve U lo:p1 -> 0\n"
	 "get -> ADDR_RESOLVED U\n"
	 "join U mc:0 -> [roce:ENODEV|ib:EADDRNOTAVAIL]\n"},
	{"join: family 0", "ucma_join_multicast: rdma_addr_size_kss()", 0, UD_BOUND,
	 "join U family:0 -> EINVAL\n"},
	{"join: family UNIX", "ucma_join_multicast", 0, UD_BOUND, "join U family:1 -> EINVAL\n"},
	{"join: size one less", "ucma_process_join: addr_size", 0, UD_BOUND,
	 "join U mc:0 addr_size=15 -> EINVAL\n"},
	{"join: size 0", "ucma_process_join: addr_size", 0, UD_BOUND,
	 "join U mc:0 addr_size=0 -> EINVAL\n"},
	{"join: no such id", "ucma_get_ctx", 0, NOTHING, "join 77 mc:0 -> ENOENT\n"},
	{"join: no such id, flag 2", "ucma_process_join: the flags come first", 0, NOTHING,
	 "join 77 mc:0 join_flags=2 -> EINVAL\n"},
	{"join: the id of another file", "ucma_get_ctx", 0, UD_BOUND, "join@2 U mc:0 -> EINVAL\n"},
	{"join: an answer of 3 bytes", "ucma_process_join: out_len", 0, UD_BOUND,
	 "join U mc:0 out=3 -> ENOSPC\n"},
	{"join: no room, family 0", "ucma_join_multicast: the family comes first", 0, NOTHING,
	 "join 77 family:0 out=0 -> EINVAL\n"},
	{"join: no room, size 0", "ucma_process_join: out_len comes first", 0, NOTHING,
	 "join 77 mc:0 addr_size=0 out=0 -> ENOSPC\n"},
	{"join: a bad answer's address", "ucma_process_join: it leaves again, without event", 0,
	 UD_BOUND,
	 "join U mc:0 response=nowhere -> EFAULT\n"
	 "quiet -> quiet\n"
	 "join U mc:0 as=M -> 0\n"
	 "get -> MULTICAST_JOIN M qpn=ffffff qkey=1234567 [roce:port=1 dgid=::ffff:239.1.2.3 "
	 "sgid=map hop=64|ib:dlid=mc rate=17 port=1 dgid=ff12:4001:ffff::f01:203 sgid=gid0]\n"},
	{"join: a short command", "copy_from_user()", 0, UD_BOUND,
	 "join U mc:0 cut=40 in=32 -> EFAULT\n"},
	{"join: uid 0 of the group", "ucma_create_uevent: uid of the group; ctx->uid decides", 0,
	 UD_BOUND,
	 "join U mc:0 as=M uid=0 -> 0\n"
	 "get -> MULTICAST_JOIN uid=0 id=M qpn=ffffff qkey=1234567\n"},
	{"join: uid 0 of the id", "ucma_event_handler: no event", 0, NOTHING,
	 "create U udp uid=0 -> 0\n"
	 "bind U me:p1 -> 0\n"
	 "join U mc:0 as=M -> 0\n"
	 "quiet -> quiet\n"
	 "leave M -> 0 reported=0\n"},
	{"join: the Q_Key of the id", "cma_set_default_qkey: 0x01234567", 0, UD_BOUND,
	 "join U mc:0 as=M -> 0\n"
	 "get -> MULTICAST_JOIN M qpn=ffffff qkey=1234567 [roce:port=1 dgid=::ffff:239.1.2.3 "
	 "sgid=map hop=64|ib:dlid=mc rate=17 port=1 dgid=ff12:4001:ffff::f01:203 sgid=gid0]\n"
	 "init_qp_attr U init -> 0 mask=71 state=1 qkey=1234567 qpport=1\n"},
	{"join_ip: a bound id", "ucma_join_ip_multicast", 0, UD_BOUND,
	 "join_ip U mc:0 as=M -> 0\n"
	 "get -> MULTICAST_JOIN M qpn=ffffff qkey=1234567 [roce:port=1 dgid=::ffff:239.1.2.3 "
	 "sgid=map hop=64|ib:dlid=mc rate=17 port=1 dgid=ff12:4001:ffff::f01:203 sgid=gid0]\n"
	 "leave M -> 0 reported=1\n"},
	{"join_ip: family 0", "ucma_join_ip_multicast: rdma_addr_size_in6()", 0, UD_BOUND,
	 "join_ip U family:0 -> EINVAL\n"},
	{"join_ip: AF_IB does not fit", "rdma_addr_size_in6", 0, UD_BOUND,
	 "join_ip U ib0:0 -> EINVAL\n"},
	{"join_ip: an answer of 3 bytes", "ucma_process_join: out_len", 0, UD_BOUND,
	 "join_ip U mc:0 out=3 -> ENOSPC\n"},
	{"join_ip: no such id", "ucma_get_ctx", 0, NOTHING, "join_ip 77 mc:0 -> ENOENT\n"},
	{"join_ip: the id of another file", "ucma_get_ctx", 0, UD_BOUND,
	 "join_ip@2 U mc:0 -> EINVAL\n"},
	{"join_ip: an id of TCP", "rdma_join_multicast: UD alone", 0, BOUND,
	 "join_ip A mc:0 -> EINVAL\n"},
	{"join_ip: a short command", "copy_from_user()", 0, UD_BOUND,
	 "join_ip U mc:0 cut=40 in=32 -> EFAULT\n"},
	{"leave: the event was not read", "ucma_cleanup_mc_events", 0, UD_BOUND,
	 "join U mc:0 as=M -> 0\n"
	 "wait -> 0\n"
	 "leave M -> 0 reported=0\n"
	 "poll -> -\n"},
	{"leave: events of the group", "ucma_leave_multicast: the group's, not the id's", 0,
	 UD_RESOLVED,
	 "join U mc:0 as=M -> 0\n"
	 "get -> MULTICAST_JOIN M qpn=ffffff qkey=1234567 [roce:port=1 dgid=::ffff:239.1.2.3 "
	 "sgid=map hop=64|ib:dlid=mc rate=17 port=1 dgid=ff12:4001:ffff::f01:203 sgid=gid0]\n"
	 "leave M -> 0 reported=1\n"
	 "destroy U -> 0 reported=2\n"},
	{"leave: twice", "xa_load(): ENOENT", 0, UD_BOUND,
	 "join U mc:0 as=M -> 0\n"
	 "get -> MULTICAST_JOIN M qpn=ffffff qkey=1234567 [roce:port=1 dgid=::ffff:239.1.2.3 "
	 "sgid=map hop=64|ib:dlid=mc rate=17 port=1 dgid=ff12:4001:ffff::f01:203 sgid=gid0]\n"
	 "leave M -> 0 reported=1\n"
	 "leave M -> ENOENT\n"},
	{"leave: no such group", "xa_load(): ENOENT", 0, NOTHING, "leave 77 -> ENOENT\n"},
	{"leave: the number of the id", "groups have numbers of their own", 0, UD_BOUND,
	 "leave U -> ENOENT\n"},
	{"leave: from another file", "ucma_leave_multicast: EINVAL", 0, UD_BOUND,
	 "join U mc:0 as=M -> 0\n"
	 "get -> MULTICAST_JOIN M qpn=ffffff qkey=1234567 [roce:port=1 dgid=::ffff:239.1.2.3 "
	 "sgid=map hop=64|ib:dlid=mc rate=17 port=1 dgid=ff12:4001:ffff::f01:203 sgid=gid0]\n"
	 "leave@2 M -> EINVAL\n"
	 "leave M -> 0 reported=1\n"},
	{"leave: an answer of 3 bytes", "ucma_leave_multicast: out_len", 0, UD_BOUND,
	 "join U mc:0 as=M -> 0\n"
	 "get -> MULTICAST_JOIN M qpn=ffffff qkey=1234567 [roce:port=1 dgid=::ffff:239.1.2.3 "
	 "sgid=map hop=64|ib:dlid=mc rate=17 port=1 dgid=ff12:4001:ffff::f01:203 sgid=gid0]\n"
	 "leave M out=3 -> ENOSPC\n"
	 "leave M -> 0 reported=1\n"},
	{"leave: no room, no group", "ucma_leave_multicast: out_len comes first", 0, NOTHING,
	 "leave 77 out=0 -> ENOSPC\n"},
	{"leave: a bad answer's address", "ucma_leave_multicast: the group is gone all the same", 0,
	 UD_BOUND,
	 "join U mc:0 as=M -> 0\n"
	 "get -> MULTICAST_JOIN M qpn=ffffff qkey=1234567 [roce:port=1 dgid=::ffff:239.1.2.3 "
	 "sgid=map hop=64|ib:dlid=mc rate=17 port=1 dgid=ff12:4001:ffff::f01:203 sgid=gid0]\n"
	 "leave M response=nowhere -> EFAULT\n"
	 "leave M -> ENOENT\n"},
	{"leave: a short command", "copy_from_user()", 0, UD_BOUND,
	 "leave 77 cut=16 in=8 -> EFAULT\n"},
	{"leave: after the id has gone", "ucma_cleanup_multicast", 0, UD_BOUND,
	 "join U mc:0 as=M -> 0\n"
	 "get -> MULTICAST_JOIN M qpn=ffffff qkey=1234567 [roce:port=1 dgid=::ffff:239.1.2.3 "
	 "sgid=map hop=64|ib:dlid=mc rate=17 port=1 dgid=ff12:4001:ffff::f01:203 sgid=gid0]\n"
	 "destroy U -> 0 reported=1\n"
	 "leave M -> ENOENT\n"},
	{"groups have numbers of their own", "multicast_table", 0, UD_BOUND,
	 "join U mc:0 as=M -> 0\n"
	 "number M -> 0\n"
	 "join U mc2:0 as=N -> 0\n"
	 "number N -> 1\n"},
	{"destroy: events of the id and of the group", "ucma_get_event: both count", 0, UD_BOUND,
	 "join U mc:0 as=M -> 0\n"
	 "get -> MULTICAST_JOIN M qpn=ffffff qkey=1234567 [roce:port=1 dgid=::ffff:239.1.2.3 "
	 "sgid=map hop=64|ib:dlid=mc rate=17 port=1 dgid=ff12:4001:ffff::f01:203 sgid=gid0]\n"
	 "destroy U -> 0 reported=1\n"},
};
ROWS_END(multicast);
