/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the components of SA records: the meaning of each bit of a ComponentMask, in order (IBA
 * 15.2.5, tables of components). Reserved components have a number, too.
 */
#include "wire/mad/sa_comp.h"

#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define OWN(l, f)                                            \
	{                                                    \
#f, LF_##l##_##f##_BIT, LF_##l##_##f##_WIDTH \
	}
#define INNER(l, s, f)                                                          \
	{                                                                       \
#f, LP_##l##_##s * 8 + LF_##s##_##f##_BIT, LF_##s##_##f##_WIDTH \
	}
#define PLACE(l, s, inner)                                 \
	{                                                  \
#s, LP_##l##_##s * 8, LAYOUT_SZ(inner) * 8 \
	}

static const struct sa_component node_record[] = {
	OWN(node_record, lid),
	{NULL, 0, 0},
	INNER(node_record, node_info, base_version),
	INNER(node_record, node_info, class_version),
	INNER(node_record, node_info, node_type),
	INNER(node_record, node_info, num_ports),
	INNER(node_record, node_info, system_guid),
	INNER(node_record, node_info, node_guid),
	INNER(node_record, node_info, port_guid),
	INNER(node_record, node_info, partition_cap),
	INNER(node_record, node_info, device_id),
	INNER(node_record, node_info, revision),
	INNER(node_record, node_info, local_port),
	INNER(node_record, node_info, vendor_id),
	{"NodeDescription", NODE_RECORD_DESC * 8, 64 * 8},
};

static const struct sa_component port_info_record[] = {
	OWN(port_info_record, lid),
	OWN(port_info_record, port_num),
	OWN(port_info_record, options),
	INNER(port_info_record, port_info, mkey),
	INNER(port_info_record, port_info, gid_prefix),
	INNER(port_info_record, port_info, lid),
	INNER(port_info_record, port_info, master_sm_lid),
	INNER(port_info_record, port_info, capability_mask),
	INNER(port_info_record, port_info, diag_code),
	INNER(port_info_record, port_info, mkey_lease_period),
	INNER(port_info_record, port_info, local_port),
	INNER(port_info_record, port_info, link_width_enabled),
	INNER(port_info_record, port_info, link_width_supported),
	INNER(port_info_record, port_info, link_width_active),
	INNER(port_info_record, port_info, link_speed_supported),
	INNER(port_info_record, port_info, port_state),
	INNER(port_info_record, port_info, port_phys_state),
	INNER(port_info_record, port_info, link_down_default),
	INNER(port_info_record, port_info, mkey_protect_bits),
	{NULL, 0, 0},
	INNER(port_info_record, port_info, lmc),
	INNER(port_info_record, port_info, link_speed_active),
	INNER(port_info_record, port_info, link_speed_enabled),
	INNER(port_info_record, port_info, neighbor_mtu),
	INNER(port_info_record, port_info, master_sm_sl),
	INNER(port_info_record, port_info, vl_cap),
	INNER(port_info_record, port_info, init_type),
	INNER(port_info_record, port_info, vl_high_limit),
	INNER(port_info_record, port_info, vl_arb_high_cap),
	INNER(port_info_record, port_info, vl_arb_low_cap),
	INNER(port_info_record, port_info, init_type_reply),
	INNER(port_info_record, port_info, mtu_cap),
	INNER(port_info_record, port_info, vl_stall_count),
	INNER(port_info_record, port_info, hoq_life),
	INNER(port_info_record, port_info, operational_vls),
	INNER(port_info_record, port_info, partition_enforce_in),
	INNER(port_info_record, port_info, partition_enforce_out),
	INNER(port_info_record, port_info, filter_raw_in),
	INNER(port_info_record, port_info, filter_raw_out),
	INNER(port_info_record, port_info, mkey_violations),
	INNER(port_info_record, port_info, pkey_violations),
	INNER(port_info_record, port_info, qkey_violations),
	INNER(port_info_record, port_info, guid_cap),
	INNER(port_info_record, port_info, client_reregister),
	INNER(port_info_record, port_info, mcast_pkey_trap_suppr),
	INNER(port_info_record, port_info, subnet_timeout),
	{NULL, 0, 0},
	INNER(port_info_record, port_info, resp_time_value),
	INNER(port_info_record, port_info, local_phys_errors),
	INNER(port_info_record, port_info, overrun_errors),
	INNER(port_info_record, port_info, max_credit_hint),
	{NULL, 0, 0},
	INNER(port_info_record, port_info, link_round_trip),
	INNER(port_info_record, port_info, capability_mask2),
	INNER(port_info_record, port_info, link_speed_ext_active),
	INNER(port_info_record, port_info, link_speed_ext_supported),
	{NULL, 0, 0},
	INNER(port_info_record, port_info, link_speed_ext_enabled),
};

static const struct sa_component sl2vl_record[] = {
	OWN(sl2vl_record, lid), OWN(sl2vl_record, in_port_num),    OWN(sl2vl_record, out_port_num),
	{NULL, 0, 0},           PLACE(sl2vl_record, sl2vl, sl2vl),
};

static const struct sa_component switch_info_record[] = {
	OWN(switch_info_record, lid),
	{NULL, 0, 0},
	INNER(switch_info_record, switch_info, linear_fdb_cap),
	INNER(switch_info_record, switch_info, random_fdb_cap),
	INNER(switch_info_record, switch_info, mcast_fdb_cap),
	INNER(switch_info_record, switch_info, linear_fdb_top),
	INNER(switch_info_record, switch_info, default_port),
	INNER(switch_info_record, switch_info, default_mcast_primary_port),
	INNER(switch_info_record, switch_info, default_mcast_not_primary_port),
	INNER(switch_info_record, switch_info, life_time_value),
	INNER(switch_info_record, switch_info, port_state_change),
	INNER(switch_info_record, switch_info, optimized_sl2vl),
	INNER(switch_info_record, switch_info, lids_per_port),
	INNER(switch_info_record, switch_info, partition_enforce_cap),
	INNER(switch_info_record, switch_info, inbound_enforce_cap),
	INNER(switch_info_record, switch_info, outbound_enforce_cap),
	INNER(switch_info_record, switch_info, filter_raw_inbound_cap),
	INNER(switch_info_record, switch_info, filter_raw_outbound_cap),
	INNER(switch_info_record, switch_info, enhanced_port0),
	{NULL, 0, 0},
	INNER(switch_info_record, switch_info, mcast_fdb_top),
};

static const struct sa_component lft_record[] = {
	OWN(lft_record, lid),
	OWN(lft_record, block_num),
	{NULL, 0, 0},
	PLACE(lft_record, lft_block, lft_block),
};

static const struct sa_component mft_record[] = {
	OWN(mft_record, lid), OWN(mft_record, position),
	{NULL, 0, 0},         OWN(mft_record, block_num),
	{NULL, 0, 0},         PLACE(mft_record, mft_block, mft_block),
};

static const struct sa_component sm_info_record[] = {
	OWN(sm_info_record, lid),
	{NULL, 0, 0},
	INNER(sm_info_record, sm_info, guid),
	INNER(sm_info_record, sm_info, sm_key),
	INNER(sm_info_record, sm_info, act_count),
	INNER(sm_info_record, sm_info, priority),
	INNER(sm_info_record, sm_info, sm_state),
};

static const struct sa_component link_record[] = {
	OWN(link_record, from_lid),
	OWN(link_record, from_port),
	OWN(link_record, to_port),
	OWN(link_record, to_lid),
};

static const struct sa_component guid_info_record[] = {
	OWN(guid_info_record, lid),
	OWN(guid_info_record, block_num),
	{NULL, 0, 0},
	{NULL, 0, 0},
	INNER(guid_info_record, guid_info, guid_0),
	INNER(guid_info_record, guid_info, guid_1),
	INNER(guid_info_record, guid_info, guid_2),
	INNER(guid_info_record, guid_info, guid_3),
	INNER(guid_info_record, guid_info, guid_4),
	INNER(guid_info_record, guid_info, guid_5),
	INNER(guid_info_record, guid_info, guid_6),
	INNER(guid_info_record, guid_info, guid_7),
};

static const struct sa_component service_record[] = {
	OWN(service_record, service_id),
	PLACE(service_record, gid, ib_gid),
	OWN(service_record, pkey),
	{NULL, 0, 0},
	OWN(service_record, lease),
	PLACE(service_record, key, ib_gid),
	{"ServiceName", SERVICE_RECORD_NAME * 8, 64 * 8},
	OWN(service_record, data8_0),
	OWN(service_record, data8_1),
	OWN(service_record, data8_2),
	OWN(service_record, data8_3),
	OWN(service_record, data8_4),
	OWN(service_record, data8_5),
	OWN(service_record, data8_6),
	OWN(service_record, data8_7),
	OWN(service_record, data8_8),
	OWN(service_record, data8_9),
	OWN(service_record, data8_10),
	OWN(service_record, data8_11),
	OWN(service_record, data8_12),
	OWN(service_record, data8_13),
	OWN(service_record, data8_14),
	OWN(service_record, data8_15),
	OWN(service_record, data16_0),
	OWN(service_record, data16_1),
	OWN(service_record, data16_2),
	OWN(service_record, data16_3),
	OWN(service_record, data16_4),
	OWN(service_record, data16_5),
	OWN(service_record, data16_6),
	OWN(service_record, data16_7),
	OWN(service_record, data32_0),
	OWN(service_record, data32_1),
	OWN(service_record, data32_2),
	OWN(service_record, data32_3),
	OWN(service_record, data64_0),
	OWN(service_record, data64_1),
};

static const struct sa_component pkey_table_record[] = {
	OWN(pkey_table_record, lid),
	OWN(pkey_table_record, block_num),
	OWN(pkey_table_record, port_num),
	{NULL, 0, 0},
	PLACE(pkey_table_record, pkey_table, pkey_table),
};

static const struct sa_component path_record[] = {
	{"service_id_msb", 0, 32},
	{"service_id_lsb", 32, 32},
	PLACE(path_record, dgid, ib_gid),
	PLACE(path_record, sgid, ib_gid),
	OWN(path_record, dlid),
	OWN(path_record, slid),
	OWN(path_record, raw_traffic),
	{NULL, 0, 0},
	OWN(path_record, flow_label),
	OWN(path_record, hop_limit),
	OWN(path_record, tclass),
	OWN(path_record, reversible),
	OWN(path_record, numb_path),
	OWN(path_record, pkey),
	OWN(path_record, qos_class),
	OWN(path_record, sl),
	OWN(path_record, mtu_selector),
	OWN(path_record, mtu),
	OWN(path_record, rate_selector),
	OWN(path_record, rate),
	OWN(path_record, packet_life_time_selector),
	OWN(path_record, packet_life_time),
	OWN(path_record, preference),
};

static const struct sa_component vl_arb_record[] = {
	OWN(vl_arb_record, lid),
	OWN(vl_arb_record, port_num),
	OWN(vl_arb_record, block_num),
	{NULL, 0, 0},
	PLACE(vl_arb_record, vl_arb, vl_arb),
};

static const struct sa_component mc_member_record[] = {
	PLACE(mc_member_record, mgid, ib_gid),
	PLACE(mc_member_record, port_gid, ib_gid),
	OWN(mc_member_record, qkey),
	OWN(mc_member_record, mlid),
	OWN(mc_member_record, mtu_selector),
	OWN(mc_member_record, mtu),
	OWN(mc_member_record, tclass),
	OWN(mc_member_record, pkey),
	OWN(mc_member_record, rate_selector),
	OWN(mc_member_record, rate),
	OWN(mc_member_record, packet_life_time_selector),
	OWN(mc_member_record, packet_life_time),
	OWN(mc_member_record, sl),
	OWN(mc_member_record, flow_label),
	OWN(mc_member_record, hop_limit),
	OWN(mc_member_record, scope),
	OWN(mc_member_record, join_state),
	OWN(mc_member_record, proxy_join),
};

static const struct sa_component multi_path_record[] = {
	OWN(multi_path_record, raw_traffic),
	{NULL, 0, 0},
	OWN(multi_path_record, flow_label),
	OWN(multi_path_record, hop_limit),
	OWN(multi_path_record, tclass),
	OWN(multi_path_record, reversible),
	OWN(multi_path_record, numb_path),
	OWN(multi_path_record, pkey),
	OWN(multi_path_record, qos_class),
	OWN(multi_path_record, sl),
	OWN(multi_path_record, mtu_selector),
	OWN(multi_path_record, mtu),
	OWN(multi_path_record, rate_selector),
	OWN(multi_path_record, rate),
	OWN(multi_path_record, packet_life_time_selector),
	OWN(multi_path_record, packet_life_time),
	OWN(multi_path_record, service_id_msb),
	OWN(multi_path_record, independence_selector),
	{NULL, 0, 0},
	OWN(multi_path_record, sgid_count),
	OWN(multi_path_record, dgid_count),
	{"service_id_lsb", 17 * 8, 7 * 8},
};

static const struct sa_component inform_info_record[] = {
	PLACE(inform_info_record, subscriber_gid, ib_gid),
	OWN(inform_info_record, subscriber_enum),
	{NULL, 0, 0},
	{"gid", (LP_inform_info_record_inform_info + LP_inform_info_gid) * 8, 128},
	INNER(inform_info_record, inform_info, lid_range_begin),
	INNER(inform_info_record, inform_info, lid_range_end),
	{NULL, 0, 0},
	INNER(inform_info_record, inform_info, is_generic),
	INNER(inform_info_record, inform_info, subscribe),
	INNER(inform_info_record, inform_info, type),
	INNER(inform_info_record, inform_info, trap_num),
	INNER(inform_info_record, inform_info, qpn),
	{NULL, 0, 0},
	INNER(inform_info_record, inform_info, resp_time_value),
	{NULL, 0, 0},
	INNER(inform_info_record, inform_info, producer_type),
};

static const struct sa_record records[] = {
	{SA_ATTR_NODE_RECORD, node_record, COUNT(node_record)},
	{SA_ATTR_PORT_INFO_RECORD, port_info_record, COUNT(port_info_record)},
	{SA_ATTR_SL2VL_RECORD, sl2vl_record, COUNT(sl2vl_record)},
	{SA_ATTR_SWITCH_INFO_RECORD, switch_info_record, COUNT(switch_info_record)},
	{SA_ATTR_LFT_RECORD, lft_record, COUNT(lft_record)},
	{SA_ATTR_MFT_RECORD, mft_record, COUNT(mft_record)},
	{SA_ATTR_SM_INFO_RECORD, sm_info_record, COUNT(sm_info_record)},
	{SA_ATTR_LINK_RECORD, link_record, COUNT(link_record)},
	{SA_ATTR_GUID_INFO_RECORD, guid_info_record, COUNT(guid_info_record)},
	{SA_ATTR_SERVICE_RECORD, service_record, COUNT(service_record)},
	{SA_ATTR_PKEY_TABLE_RECORD, pkey_table_record, COUNT(pkey_table_record)},
	{SA_ATTR_PATH_RECORD, path_record, COUNT(path_record)},
	{SA_ATTR_VL_ARB_RECORD, vl_arb_record, COUNT(vl_arb_record)},
	{SA_ATTR_MC_MEMBER_RECORD, mc_member_record, COUNT(mc_member_record)},
	{SA_ATTR_MULTI_PATH_RECORD, multi_path_record, COUNT(multi_path_record)},
	{SA_ATTR_INFORM_INFO_RECORD, inform_info_record, COUNT(inform_info_record)},
};

const struct sa_record *sa_record(uint16_t attr_id)
{
	for (size_t i = 0; i < COUNT(records); i++)
		if (records[i].attr_id == attr_id)
			return &records[i];
	return NULL;
}

static bool sa_comp_same(const struct sa_component *c, const uint8_t *a, const uint8_t *b)
{
	if (c->bit % 8 == 0 && c->width % 8 == 0)
		return !memcmp(a + c->bit / 8, b + c->bit / 8, c->width / 8);
	return layout_get(a, c->bit, c->width) == layout_get(b, c->bit, c->width);
}

bool sa_match(const struct sa_record *r, uint64_t mask, const void *want, const void *have)
{
	for (uint32_t i = 0; i < r->n && i < 64; i++)
		if ((mask >> i & 1) && r->component[i].name &&
		    !sa_comp_same(&r->component[i], want, have))
			return false;
	return true;
}
