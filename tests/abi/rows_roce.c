/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Address handles and paths of QPs on an Ethernet port: what the core checks and how it finds the
 * MAC address (verbs.c, addr.c). The GID table of a host of its own: 0 and 1 link-local, 2 and 3
 * 127.1.0.1, each as RoCE v1 and v2. Linux 6.1 with rxe gave these errnos for handles and paths by
 * RoCE v2.
 */
#include "forms.h"
#include <infiniband/verbs.h>

/* GIDs that no other port has, and those of multicast groups. */
#define LOCAL                         \
	{                             \
		0xfe, 0x80, [15] = 99 \
	}
#define GLOBAL                                   \
	{                                        \
		0x20, 0x01, 0x0d, 0xb8, [15] = 1 \
	}
#define IP4(d)                                  \
	{                                       \
		[10] = 0xff, 0xff, 127, 1, 0, d \
	}
#define GROUP4                                  \
	{                                       \
		[10] = 0xff, 0xff, 239, 1, 2, 3 \
	}
#define GROUP6                       \
	{                            \
		0xff, 0x0e, [15] = 1 \
	}

#define AH(room, index, ...)                                                    \
	RUN_UHW(C(CREATE_AH), create_ah, 4, NO_UHW, room, .pd_handle = PD,      \
		.attr = {.is_global = 1,                                        \
			 .port_num = 1,                                         \
			 .grh = {.sgid_index = (index), .dgid = __VA_ARGS__}}), \
		.link = ON_ETH
#define AH_DONE                                                                           \
	{                                                                                 \
		"it goes", "", 0, RUN(C(DESTROY_AH), destroy_ah, 0, NEXT), .link = ON_ETH \
	}

#define TO_INIT (IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)
#define TO_RTR                                                                          \
	(IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | \
	 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)
#define RTR(mask, ...)                                                                     \
	RUN(C(MODIFY_QP), modify_qp, 0, .qp_handle = NEXT, .qp_state = IBV_QPS_RTR,        \
	    .attr_mask = TO_RTR | (mask), .path_mtu = IBV_MTU_1024, .dest_qp_num = QPN,    \
	    .max_dest_rd_atomic = 1, .min_rnr_timer = 12, .alt_port_num = 1, __VA_ARGS__), \
		.more = true, .link = ON_ETH
#define DEST(index, ...) \
	.dest = {.is_global = 1, .port_num = 1, .sgid_index = (index), .dgid = __VA_ARGS__}
#define ALT .alt_dest = {.is_global = 1, .port_num = 1, .dgid = LOCAL}

const struct ioctl_row roce_rows[] = {
	{"address handle without a GID", "verbs.c rdma_check_ah_attr: RDMA_AH_ATTR_TYPE_ROCE",
	 EINVAL,
	 RUN_UHW(C(CREATE_AH), create_ah, 4, NO_UHW, AV_RESP, .pd_handle = PD,
		 .attr = {.dlid = 1, .port_num = 1}),
	 .link = ON_ETH},
	{"address handle of an empty entry", "cache.c rdma_get_gid_attr", ENODATA,
	 AH(AV_RESP, 4, LOCAL)},
	{"address handle of no entry", "cache.c rdma_get_gid_attr", EINVAL, AH(AV_RESP, 16, LOCAL),
	 .driver = true},
	{"address handle, RoCE v1: nobody is asked", "verbs.c ib_resolve_unicast_gid_dmac", 0,
	 AH(AV_RESP, 0, LOCAL), .more = true},
	AH_DONE,
	{"address handle without room for the MAC address", "mlx5/ah.c mlx5_ib_create_ah: outlen",
	 EINVAL, AH(9, 0, LOCAL)},
	{"address handle with just that room", "mlx5/ah.c mlx5_ib_create_ah: min_resp_len", 0,
	 AH(10, 0, LOCAL), .more = true},
	AH_DONE,
	{"address handle, RoCE v2, of nobody", "addr.c process_one_req: -ETIMEDOUT", ETIMEDOUT,
	 AH(AV_RESP, 1, LOCAL)},
	{"address handle without a route", "addr.c addr6_resolve: ENETUNREACH", ENETUNREACH,
	 AH(AV_RESP, 1, GLOBAL)},
	{"address handle of the own IPv4 address", "addr.c rdma_addr_find_l2_eth_by_grh", 0,
	 AH(AV_RESP, 3, IP4(1)), .more = true},
	AH_DONE,
	{"address handle of the own IPv4 address, RoCE v1", "addr.c rdma_addr_find_l2_eth_by_grh",
	 0, AH(AV_RESP, 2, IP4(1)), .more = true},
	AH_DONE,
	{"address handle of an IPv4 address of nobody", "addr.c process_one_req: -ETIMEDOUT",
	 ETIMEDOUT, AH(AV_RESP, 3, IP4(99))},
	{"address handle of 0.0.0.0", "addr.c rdma_set_src_addr_rcu: rdma_find_ndev_for_src_ip_rcu",
	 ENODEV, AH(AV_RESP, 3, {[10] = 0xff, 0xff})},
	{"address handle of all hosts", "the broadcast MAC address", 0,
	 AH(AV_RESP, 3, {[10] = 0xff, 0xff, 255, 255, 255, 255}), .more = true},
	AH_DONE,
	{"address handle of fe80:0:0:1::1", "addr.c addr6_resolve: only fe80::/64 is on the link",
	 ENETUNREACH, AH(AV_RESP, 1, {0xfe, 0x80, [7] = 1, [15] = 1})},
	{"address handle of ::", "addr.c addr6_resolve: ENETUNREACH", ENETUNREACH,
	 AH(AV_RESP, 1, {0})},
	{"address handle from IPv4 to IPv6", "addr.c rdma_resolve_ip: sa_family", EINVAL,
	 AH(AV_RESP, 3, LOCAL)},
	{"address handle from IPv6 to IPv4", "addr.c rdma_resolve_ip: sa_family", EINVAL,
	 AH(AV_RESP, 1, IP4(1))},
	{"address handle of an IPv4 group", "verbs.c ib_resolve_eth_dmac: ip_eth_mc_map", 0,
	 AH(AV_RESP, 3, GROUP4), .more = true},
	AH_DONE,
	{"address handle of an IPv6 group", "verbs.c ib_resolve_eth_dmac: ipv6_eth_mc_map", 0,
	 AH(AV_RESP, 0, GROUP6), .more = true},
	AH_DONE,

	{"QP", "", 0, RUN_UHW(C(CREATE_QP), create_qp, RESP(create_qp), QP_UHW, 40, QP_REQ),
	 .more = true, .link = ON_ETH},
	{"QP to INIT", "", 0,
	 RUN(C(MODIFY_QP), modify_qp, 0, .qp_handle = NEXT, .qp_state = IBV_QPS_INIT,
	     .attr_mask = TO_INIT, .port_num = 1),
	 .more = true, .link = ON_ETH},
	{"QP to RTR without a GID", "verbs.c rdma_check_ah_attr: RDMA_AH_ATTR_TYPE_ROCE", EINVAL,
	 RTR(0, .dest = {.dlid = 1, .port_num = 1})},
	{"QP to RTR by an empty entry", "cache.c rdma_get_gid_attr", ENODATA,
	 RTR(0, DEST(4, LOCAL))},
	{"QP to RTR by no entry", "cache.c rdma_get_gid_attr", EINVAL, RTR(0, DEST(16, LOCAL)),
	 .driver = true},
	{"QP to RTR to nobody", "addr.c process_one_req: -ETIMEDOUT", ETIMEDOUT,
	 RTR(0, DEST(1, LOCAL))},
	{"QP to RTR without a route", "addr.c addr6_resolve: ENETUNREACH", ENETUNREACH,
	 RTR(0, DEST(1, GLOBAL))},
	{"QP to RTR from IPv4 to IPv6", "addr.c rdma_resolve_ip: sa_family", EINVAL,
	 RTR(0, DEST(3, LOCAL))},
	{"QP to RTR with an alternate path", "verbs.c _ib_modify_qp: rdma_protocol_ib", EINVAL,
	 RTR(IBV_QP_ALT_PATH, DEST(0, LOCAL), ALT)},
	{"QP to RTR", "", 0, RTR(0, DEST(3, IP4(1)))},
	{"its path", "", 0,
	 RUN(C(QUERY_QP), query_qp, RESP(query_qp), .qp_handle = NEXT, .attr_mask = IBV_QP_AV),
	 .more = true, .link = ON_ETH},
	{"QP destroyed", "", 0, RUN(C(DESTROY_QP), destroy_qp, 4, .qp_handle = NEXT),
	 .link = ON_ETH},
};
ROWS_END(roce_rows);
