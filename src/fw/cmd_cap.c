/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Capabilities and identity: QUERY_HCA_CAP, QUERY_ADAPTER, QUERY_ISSI, QUERY_SPECIAL_CONTEXTS, NOP.
 * All answers come from the capability table and the HCA's element. Called by exec.c.
 */
#include "fw/priv.h"
#include "hw/tm.h"

#include <string.h>
#include "hw/memic.h"
#include "hw/mkey.h"
#include "hw/port.h"
#include "hw/qp_limits.h"
#include "util/cleanup.h"
#include "wire/prm/hca_cap.h"
#include "wire/prm/qos.h"
#include "wire/prm/qp.h"
#include "wire/prm/vport.h"

#define CAP(f, v) LAYOUT_SET(cmd_hca_cap, cap, f, (v))

/* Fields that are not set stay 0: off, or none. */
static void cap_general(const struct fw_call *k, void *cap)
{
	const struct hw_caps *c = k->caps;
	bool eth = fw_is_eth(k), tags = c->srq && c->tags && !eth;

	CAP(vhca_id, k->hca->vhca_id & 0xffff);
	CAP(log_max_srq_sz, c->log_max_srq_sz);
	CAP(log_max_qp_sz, c->log_max_qp_sz);
	CAP(log_max_qp, c->log_max_qp);
	CAP(log_max_srq, c->log_max_srq);
	CAP(log_max_cq_sz, c->log_max_cq_sz);
	CAP(log_max_cq, c->log_max_cq);
	CAP(log_max_eq_sz, 22);
	CAP(log_max_mkey, c->log_max_mkey);
	CAP(log_max_eq, c->log_max_eq);
	CAP(log_max_mrw_sz, 64);
	CAP(log_max_klm_list_size, c->log_max_klm_list_size);
	CAP(log_max_ra_req_qp, c->log_max_ra_req_qp);
	CAP(log_max_ra_res_qp, c->log_max_ra_res_qp);
	CAP(gid_table_size, 0); /* code n: 8 << n entries */
	/* code n: 128 << n entries; those from HW_PKEYS on are invalid keys */
	CAP(pkey_table_size, 0);
	CAP(local_ca_ack_delay, c->local_ca_ack_delay);
	CAP(stat_rate_support, c->stat_rate_support);
	CAP(port_type, eth);
	CAP(roce, eth);
	CAP(rts2rts_qp_udp_sport, eth);
	CAP(roce_accl, eth);
	CAP(cc_query_allowed, eth);
	CAP(pg, c->odp);
	CAP(pkv, 1);
	CAP(qkv, 1);
	CAP(apm, 1);
	CAP(device_memory, c->memic);
	CAP(num_ports, k->hca->nports);
	CAP(log_max_msg, c->log_max_msg);
	CAP(cqe_version, c->cqe_version);
	CAP(max_indirection, c->max_indirection);
	CAP(fixed_buffer_size, 1); /* KSM */
	CAP(imaicl, c->mw);
	CAP(null_mkey, 1);
	CAP(dump_fill_mkey, 1);
	CAP(relaxed_ordering_write, 1);
	CAP(relaxed_ordering_read, 1);
	CAP(relaxed_ordering_write_umr, 1);
	CAP(relaxed_ordering_read_umr, 1);
	CAP(atomic, c->atomic_operations != 0);
	CAP(qos, 1);
	CAP(event_cap, c->event_cap);
	CAP(sho, 1);
	CAP(sigerr_cqe, 1);
	CAP(sigerr_domain_and_sig_type, 1);
	CAP(drain_sigerr, 1);
	CAP(sig_block_4048, 1);
	CAP(sig_crc32c, 1);
	CAP(sig_crc64_xp10, 1);
	CAP(log_max_bsf_list_size, fw_has_crypto(k) ? 3 : 2); /* log2 of HW_BSF_* */
	CAP(crypto, fw_has_crypto(k));
	CAP(aes_xts_single_block_le_tweak, fw_has_crypto(k) && !hw_hca_multi_block(k->hca));
	CAP(aes_xts_multi_block_be_tweak, fw_has_crypto(k) && hw_hca_multi_block(k->hca));
	CAP(qpc_extension, 1);
	CAP(dma_mmo_qp, 1);
	CAP(log_dma_mmo_max_size, HW_LOG_MAX_MMO);
	CAP(general_obj_types, fw_gobj_types(k));
	CAP(cqe_128_always, c->cqe_128_always);
	CAP(sctr_data_cqe, 1);
	CAP(dc_req_scat_data_cqe, 1);
	CAP(cqe_compression, 1);
	CAP(cqe_compression_128, 1);
	CAP(mini_cqe_resp_stride_index, 1);
	CAP(cqe_compression_max_num, c->cqe_compression_max_num);
	CAP(cq_oi, 1);
	CAP(cq_resize, 1);
	CAP(cq_moderation, 1);
	CAP(cq_period_start_from_cqe, 1);
	CAP(scqe_break_moderation, 1);
	CAP(cq_eq_remap, 1);
	CAP(vport_counters, 1);
	CAP(ud, 1);
	CAP(uc, 1);
	CAP(rc, c->rc);
	CAP(xrc, c->srq && c->rc);
	CAP(log_max_mcg, c->log_max_mcg);
	CAP(max_qp_mcg, c->max_qp_mcg);
	CAP(block_lb_mc, 1);
	CAP(dct, c->srq && c->rc);
	CAP(tag_matching, tags);
	CAP(rndv_offload_rc, tags);
	CAP(log_tag_matching_list_sz, tags ? HW_TM_LOG_LIST : 0);
	CAP(log_max_xrq, c->log_max_xrq);
	CAP(log_max_dci_stream_channels, HW_LOG_MAX_DCI_STREAMS);
	CAP(log_max_dci_errored_streams, HW_LOG_MAX_DCI_ERRORED);
	CAP(ece_support, 1);
	CAP(log_max_ra_req_dc, c->log_max_ra_req_qp);
	CAP(log_max_ra_res_dc, c->log_max_ra_res_qp);
	CAP(max_qp_cnt, 255);
	CAP(out_of_seq_cnt, 1);
	CAP(retransmission_q_counters, 1);
	CAP(enhanced_error_q_counters, 1);
	CAP(rts2rts_qp_counters_set_id, 1);
	CAP(log_max_xrcd, c->log_max_xrcd);
	CAP(uar_4k, 1);
	CAP(uar_sz, 5);
	CAP(log_pg_sz, c->log_pg_sz);
	CAP(log_bf_reg_size, c->log_bf_reg_size);
	CAP(max_wqe_sz_sq, c->max_wqe_sz_sq);
	CAP(max_wqe_sz_rq, c->max_wqe_sz_rq);
	CAP(log_max_pd, c->log_max_pd);
	CAP(log_max_rmp, c->log_max_srq);
	CAP(log_max_transport_domain, c->log_max_obj);
	CAP(log_max_rq, c->log_max_obj);
	CAP(log_max_sq, c->log_max_obj);
	CAP(log_max_tir, c->log_max_obj);
	CAP(log_max_tis, c->log_max_obj);
	CAP(log_max_rqt, c->log_max_obj);
	CAP(log_max_rqt_size, c->log_max_rqt_size);
	CAP(log_max_tis_per_sq, 0);
	CAP(log_max_wq_sz, c->log_max_srq_sz);
	CAP(log_max_uctx, c->log_max_uctx);
	CAP(log_max_umem, c->log_max_umem);
	CAP(max_num_eqs, c->num_comp_vectors);
	CAP(device_frequency_mhz, c->device_frequency_khz / 1000);
	CAP(device_frequency_khz, c->device_frequency_khz);
	CAP(num_of_uars_per_page, 1);
}

#undef CAP
#define CAP(f, v) LAYOUT_SET(atomic_caps, cap, f, (v))

/*
 * Values are in host byte order. The pci fields are 0, as no value goes over a bus to other
 * devices.
 */
static void cap_atomic(const struct fw_call *k, void *cap)
{
	CAP(atomic_req_8B_endianness_mode, 1);
	CAP(supported_atomic_req_8B_endianness_mode_1, 1);
	CAP(atomic_operations, k->caps->atomic_operations);
	CAP(atomic_size_qp, k->caps->atomic_size_qp);
	CAP(atomic_size_dc, k->caps->atomic_size_qp);
}

static void cap_qos(const struct fw_call *k, void *cap)
{
	LAYOUT_SET(qos_cap, cap, packet_pacing, 1);
	LAYOUT_SET(qos_cap, cap, packet_pacing_burst_bound, 1);
	LAYOUT_SET(qos_cap, cap, packet_pacing_typical_size, 1);
	LAYOUT_SET(qos_cap, cap, packet_pacing_uid, 1);
	LAYOUT_SET(qos_cap, cap, nic_sq_scheduling, 1);
	LAYOUT_SET(qos_cap, cap, nic_bw_share, 1);
	LAYOUT_SET(qos_cap, cap, nic_rate_limit, 1);
	LAYOUT_SET(qos_cap, cap, nic_qp_scheduling, 1);
	LAYOUT_SET(qos_cap, cap, log_max_qos_nic_queue_group, k->caps->log_max_obj);
	LAYOUT_SET(qos_cap, cap, max_tsar_bw_share, k->caps->max_tsar_bw_share);
	/* element types TSAR and queue group */
	LAYOUT_SET(qos_cap, cap, nic_element_type, 1 << 0 | 1 << 4);
	LAYOUT_SET(qos_cap, cap, nic_tsar_type, 1 << 0); /* DWRR */
	LAYOUT_SET(qos_cap, cap, packet_pacing_max_rate, k->caps->pp_max_rate);
	LAYOUT_SET(qos_cap, cap, packet_pacing_min_rate, k->caps->pp_min_rate);
	LAYOUT_SET(qos_cap, cap, packet_pacing_rate_table_size, k->caps->pp_table_size);
}

static void cap_roce(const struct fw_call *k, void *cap)
{
	if (!fw_is_eth(k))
		return;
	LAYOUT_SET(roce_cap, cap, sw_r_roce_src_udp_port, 1);
	LAYOUT_SET(roce_cap, cap, l3_type,
		   1 << (1 + PRM_ROCE_L3_IPV4) | 1 << (1 + PRM_ROCE_L3_IPV6));
	LAYOUT_SET(roce_cap, cap, roce_version, 1 << PRM_ROCE_VERSION_1 | 1 << PRM_ROCE_VERSION_2);
	LAYOUT_SET(roce_cap, cap, r_roce_dest_udp_port, PRM_ROCE_DPORT);
	LAYOUT_SET(roce_cap, cap, r_roce_max_src_udp_port, UINT16_MAX);
	LAYOUT_SET(roce_cap, cap, r_roce_min_src_udp_port, PRM_ROCE_MIN_SPORT);
	LAYOUT_SET(roce_cap, cap, roce_address_table_size,
		   hw_port_gids(hw_port(k->s, k->hca->port[0])));
}

static void cap_event(const struct fw_call *k, void *cap)
{
	const struct hw_caps *c = k->caps;
	uint8_t *p = cap;

	for (size_t i = 0; i < ARRAY_SIZE(c->user_affiliated_events); i++) {
		be64_store(p + LF_device_event_cap_user_affiliated_events_0_BIT / 8 + i * 8,
			   c->user_affiliated_events[i]);
		be64_store(p + LF_device_event_cap_user_unaffiliated_events_0_BIT / 8 + i * 8,
			   c->user_unaffiliated_events[i]);
	}
}

/*
 * As ConnectX-6 says (tests/cards/facts.md). UC has none on any card: mlx5_ib
 * internal_fill_odp_caps() does not look at it.
 */
static void cap_odp(const struct fw_call *k, void *cap)
{
	static const uint32_t services[] = {LP_odp_cap_rc_odp_caps, LP_odp_cap_xrc_odp_caps,
					    LP_odp_cap_dc_odp_caps};
	void *ud = LAYOUT_IN(odp_cap, ud_odp_caps, cap);

	if (!k->caps->odp)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(services); i++) {
		void *c = (uint8_t *)cap + services[i];

		LAYOUT_SET(odp_per_transport_service_cap, c, send, 1);
		LAYOUT_SET(odp_per_transport_service_cap, c, receive,
			   services[i] != LP_odp_cap_xrc_odp_caps);
		LAYOUT_SET(odp_per_transport_service_cap, c, write, 1);
		LAYOUT_SET(odp_per_transport_service_cap, c, read, 1);
		LAYOUT_SET(odp_per_transport_service_cap, c, atomic, k->caps->odp_atomic);
		LAYOUT_SET(odp_per_transport_service_cap, c, srq_receive, 1);
	}
	LAYOUT_SET(odp_per_transport_service_cap, ud, send, 1);
}

/* memic_operations stays 0: no address at which a store is an atomic operation can be made. */
static void cap_device_mem(const struct fw_call *k, void *cap)
{
	if (!k->caps->memic)
		return;
	LAYOUT_SET(device_mem_cap, cap, memic, 1);
	LAYOUT_SET(device_mem_cap, cap, log_min_memic_alloc_size, 6);
	LAYOUT_SET(device_mem_cap, cap, log_max_memic_addr_alignment, HW_MEMIC_LOG_ALIGN);
	LAYOUT_SET(device_mem_cap, cap, memic_bar_start_addr, HW_MEMIC_BAR_START);
	LAYOUT_SET(device_mem_cap, cap, memic_bar_size, HW_MEMIC_BAR_SIZE);
	LAYOUT_SET(device_mem_cap, cap, max_memic_size, HW_MEMIC_SIZE);
}

/* One import KEK and one credential (cmd_crypto.c): the logarithms of both counts are 0. */
static void cap_crypto(const struct fw_call *k, void *cap)
{
	if (!fw_has_crypto(k))
		return;
	LAYOUT_SET(crypto_caps, cap, log_max_num_deks, k->caps->log_max_obj);
	if (!fw_wraps_keys(k))
		return;
	LAYOUT_SET(crypto_caps, cap, wrapped_crypto_operational, 1);
	LAYOUT_SET(crypto_caps, cap, wrapped_import_method, PRM_CRYPTO_IMPORT_AES_XTS);
	LAYOUT_SET(crypto_caps, cap, num_nv_import_keks, 1);
	LAYOUT_SET(crypto_caps, cap, num_nv_credentials, 1);
}

/*
 * The capability groups that programs ask for. A group without a filler is all zero, as none of it
 * is supported; a group not listed is refused, as a card refuses an unknown one.
 */
static const struct {
	uint16_t group;
	const char *name;
	void (*fill)(const struct fw_call *k, void *cap);
} groups[] = {
	{0x00, "general", cap_general},
	{0x01, "ethernet", NULL},
	{0x02, "odp", cap_odp},
	{0x03, "atomic", cap_atomic},
	{0x04, "roce", cap_roce},
	{0x05, "ipoib", NULL},
	{0x07, "nic flow table", NULL},
	{0x08, "esw flow table", NULL},
	{0x09, "eswitch", NULL},
	{0x0c, "qos", cap_qos},
	{0x0f, "device memory", cap_device_mem},
	{0x14, "device event", cap_event},
	{0x1a, "crypto", cap_crypto},
	{0x20, "general 2", NULL},
};

enum fw_r fw_cmd_query_hca_cap(struct fw_call *k)
{
	void *cap = LAYOUT_IN(query_hca_cap_out, capability, k->out);

	if (LAYOUT_GET(query_hca_cap_in, k->in, other_function) ||
	    LAYOUT_GET(query_hca_cap_in, k->in, function_id))
		return FW_R_CAP_FUNCTION;
	/*
	 * op_mod is group << 1 | (1: current, 0: maximum); both are equal, as nothing can be
	 * configured.
	 */
	k->obj = k->op_mod >> 1;
	for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
		if (groups[i].group != k->obj)
			continue;
		if (groups[i].fill)
			groups[i].fill(k, cap);
		return FW_R_NONE;
	}
	return FW_R_CAP_GROUP;
}

enum fw_r fw_cmd_query_adapter(struct fw_call *k)
{
	void *p = LAYOUT_IN(query_adapter_out, query_adapter_struct, k->out);
	char *psid = LAYOUT_IN(query_adapter_param_block, vsd_contd_psid, p);

	LAYOUT_SET(query_adapter_param_block, p, ieee_vendor_id, k->caps->vendor_id);
	LAYOUT_SET(query_adapter_param_block, p, vsd_vendor_id, k->caps->pci_vendor);
	memcpy(psid, k->caps->board_id, strnlen(k->caps->board_id, 16));
	return FW_R_NONE;
}

enum fw_r fw_cmd_query_issi(struct fw_call *k)
{
	LAYOUT_SET(query_issi_out, k->out, current_issi, 1);
	LAYOUT_SET(query_issi_out, k->out, supported_issi_dw0, 1 << 1);
	return FW_R_NONE;
}

enum fw_r fw_cmd_query_special_contexts(struct fw_call *k)
{
	/* The reserved lkey names physical memory, which nobody can use here. */
	LAYOUT_SET(query_special_contexts_out, k->out, dump_fill_mkey, HW_KEY_DUMP_FILL);
	LAYOUT_SET(query_special_contexts_out, k->out, null_mkey, HW_KEY_NULL);
	return FW_R_NONE;
}

enum fw_r fw_cmd_nop(struct fw_call *k)
{
	return FW_R_NONE;
}
