/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What queries show. Numbers that depend on the firmware's or the machine's size (QPs, keys,
 * vectors) are not compared: doc/SUPPORT.md, section 2.
 */
#include "cards.h"

static struct ibv_device_attr_ex x;

#define SHOW(fact, member, value)                                         \
	check(fact, #member, text("0x%llx", (unsigned long long)(value)), \
	      text("0x%llx", (unsigned long long)(x.member)))
#define PORT(fact, member, value)                                         \
	check(fact, #member, text("0x%llx", (unsigned long long)(value)), \
	      text("0x%llx", (unsigned long long)(ad.port.member)))

static void limits(void)
{
	SHOW(show_queues, orig_attr.max_qp_wr, 32768);
	SHOW(show_queues, orig_attr.max_sge, 30);
	SHOW(show_queues, orig_attr.max_sge_rd, 30);
	SHOW(show_queues, orig_attr.max_cqe, 4194303);
	SHOW(show_queues, orig_attr.max_srq_wr, 32767);
	SHOW(show_queues, orig_attr.max_srq_sge, 31);
	SHOW(show_reads, orig_attr.max_qp_rd_atom, 16);
	SHOW(show_reads, orig_attr.max_qp_init_rd_atom, 16);
	SHOW(show_reads, orig_attr.max_res_rd_atom,
	     x.orig_attr.max_qp_rd_atom * x.orig_attr.max_qp);
	SHOW(show_mcast, orig_attr.max_mcast_qp_attach, 240);
	SHOW(show_mcast, orig_attr.max_total_mcast_qp_attach,
	     x.orig_attr.max_mcast_qp_attach * x.orig_attr.max_mcast_grp);
	SHOW(show_ah, orig_attr.max_ah, INT32_MAX);
	SHOW(show_ack_delay, orig_attr.local_ca_ack_delay, 16);
	SHOW(show_memory, orig_attr.max_mr_size, UINT64_MAX);
	SHOW(show_memory, orig_attr.page_size_cap, ~UINT64_C(0xfff));
	SHOW(show_memory, max_dm_size, 131072);
	SHOW(show_pkeys, orig_attr.max_pkeys, 128);
	SHOW(show_atomic, orig_attr.atomic_cap, IBV_ATOMIC_HCA);
	SHOW(show_none, orig_attr.max_ee, 0);
	SHOW(show_none, orig_attr.max_rdd, 0);
	SHOW(show_none, orig_attr.max_raw_ipv6_qp, 0);
	SHOW(show_none, orig_attr.max_fmr, 0);
	SHOW(show_ids, orig_attr.vendor_id, 0x2c9);
	SHOW(show_ids, orig_attr.hw_ver, 0);
	SHOW(show_ids, orig_attr.phys_port_cnt, 1);
	SHOW(show_clock, completion_timestamp_mask, INT64_MAX);
	SHOW(show_moderation, cq_mod_caps.max_cq_count, 65535);
	SHOW(show_moderation, cq_mod_caps.max_cq_period, 4095);
}

static void flags(void)
{
	const uint64_t all = IBV_DEVICE_BAD_PKEY_CNTR | IBV_DEVICE_BAD_QKEY_CNTR |
			     IBV_DEVICE_AUTO_PATH_MIG | IBV_DEVICE_CHANGE_PHY_PORT |
			     IBV_DEVICE_PORT_ACTIVE_EVENT | IBV_DEVICE_SYS_IMAGE_GUID |
			     IBV_DEVICE_RC_RNR_NAK_GEN | IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_XRC |
			     IBV_DEVICE_MEM_MGT_EXTENSIONS | IBV_DEVICE_MEM_WINDOW_TYPE_2B;
	/* Of services that softhca does not have: doc/SUPPORT.md, section 2. */
	const uint64_t others = IBV_DEVICE_UD_IP_CSUM | IBV_DEVICE_MANAGED_FLOW_STEERING |
				IBV_DEVICE_RAW_IP_CSUM | IBV_DEVICE_RAW_SCATTER_FCS;
	uint64_t have = (uint32_t)x.orig_attr.device_cap_flags;

	/* IBV_DEVICE_* has no names for the kernel's bits 22 and from 26 on. */
	check(show_flags, "device_cap_flags", text("0x%llx", (unsigned long long)all),
	      text("0x%llx", (unsigned long long)(have & 0x03bfffff & ~others)));
}

static void paging(void)
{
	const uint32_t xrc = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ |
			     IBV_ODP_SUPPORT_SRQ_RECV;

	/* Whether atomics are among them depends on the card. */
	SHOW(show_odp, odp_caps.general_caps, IBV_ODP_SUPPORT | IBV_ODP_SUPPORT_IMPLICIT);
	SHOW(show_odp_rc, odp_caps.per_transport_caps.rc_odp_caps & ~IBV_ODP_SUPPORT_ATOMIC,
	     xrc | IBV_ODP_SUPPORT_RECV);
	SHOW(show_odp_uc, odp_caps.per_transport_caps.uc_odp_caps, 0);
	SHOW(show_odp_ud, odp_caps.per_transport_caps.ud_odp_caps, IBV_ODP_SUPPORT_SEND);
	SHOW(show_odp_xrc, xrc_odp_caps & ~IBV_ODP_SUPPORT_ATOMIC, xrc);
}

static void infiniband(void)
{
	SHOW(show_tm, tm_caps.max_num_tags, 127);
	SHOW(show_tm, tm_caps.max_ops, 32768);
	SHOW(show_tm, tm_caps.max_sge, 1);
	SHOW(show_tm, tm_caps.max_rndv_hdr_size, 64);
	SHOW(show_tm, tm_caps.flags, IBV_TM_CAP_RC);
	SHOW(show_no_raw, tso_caps.max_tso, 0);
	SHOW(show_no_raw, rss_caps.max_rwq_indirection_tables, 0);
	SHOW(show_no_raw, rss_caps.rx_hash_function, 0);
	SHOW(show_no_raw, max_wq_type_rq, 0);
	SHOW(show_no_raw, raw_packet_caps, 0);
	SHOW(show_no_raw, packet_pacing_caps.qp_rate_limit_max, 0);
	PORT(show_port, max_mtu, IBV_MTU_4096);
	PORT(show_port, max_msg_sz, 0x40000000);
	PORT(show_vl, max_vl_num, 4);
	PORT(show_pkeys, pkey_tbl_len, 128);
	PORT(show_gids, gid_tbl_len, 8);
	PORT(show_port, lmc, 0);
	PORT(show_port, sm_sl, 0);
	PORT(show_port, init_type_reply, 0);
	PORT(show_sm, subnet_timeout, 18);
}

static void ethernet(void)
{
	SHOW(show_tm_eth, tm_caps.max_num_tags, 0);
	SHOW(show_tm_eth, tm_caps.flags, 0);
	PORT(show_port, max_mtu, IBV_MTU_4096);
	PORT(show_port, max_msg_sz, 0x40000000);
	PORT(show_eth, max_vl_num, 0);
	PORT(show_eth, pkey_tbl_len, 1);
	PORT(show_eth, lid, 0);
	PORT(show_eth, sm_lid, 0);
	PORT(show_eth, lmc, 0);
	PORT(show_eth, subnet_timeout, 0);
	PORT(show_eth, port_cap_flags, 0x04010000);
	PORT(show_eth, port_cap_flags2, 0);
}

void shows_group(void)
{
	if (!ad.mlx5)
		return skip(show_queues, "the numbers are mlx5's");
	NEED(!ibv_query_device_ex(ad.ctx, NULL, &x));
	limits();
	flags();
	paging();
	if (ad.ethernet)
		ethernet();
	else
		infiniband();
}
