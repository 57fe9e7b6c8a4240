/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The subnet management agents: the rules of each attribute (IBA 14.2.4, 14.2.5), one row each. */
#include "fabric/test_net.h"

#include "fabric/count.h"
#include "hw/hca.h"
#include "hw/port.h"

static uint8_t in[MAD_SIZE], out[MAD_SIZE];
static uint64_t key; /* M_Key of the requests */

static enum fab_mad_result smp(uint32_t port, uint32_t method, uint32_t attr, uint32_t mod)
{
	LAYOUT_SET(mad_hdr, in, base_version, 1);
	LAYOUT_SET(mad_hdr, in, mgmt_class, MAD_CLASS_SUBN_LID);
	LAYOUT_SET(mad_hdr, in, class_version, 1);
	LAYOUT_SET(mad_hdr, in, method, method);
	LAYOUT_SET(mad_hdr, in, attr_id, attr);
	LAYOUT_SET(mad_hdr, in, attr_mod, mod);
	LAYOUT_SET(smp, in, mkey, key);
	return fab_mad(&net, port, 1, in, out);
}

/* Returns the status; the attribute is in out and, for a Set() that follows, in `in`. */
static uint32_t get(uint32_t port, uint32_t attr, uint32_t mod)
{
	memset(in, 0, sizeof(in));
	assert_int_equal(smp(port, MAD_METHOD_GET, attr, mod), FAB_MAD_REPLY);
	memcpy(in + SMP_DATA, out + SMP_DATA, SMP_DATA_SIZE);
	return LAYOUT_GET32(mad_hdr, out, status);
}

static uint32_t set(uint32_t port, uint32_t attr, uint32_t mod)
{
	assert_int_equal(smp(port, MAD_METHOD_SET, attr, mod), FAB_MAD_REPLY);
	assert_int_equal(LAYOUT_GET(mad_hdr, out, method), MAD_METHOD_GET_RESP);
	return LAYOUT_GET32(mad_hdr, out, status);
}

/* A port of h1 with LIDs: PortInfo can be read and written back. */
static uint32_t managed(void)
{
	uint32_t p = net_port(H1, 1);

	net_at(p)->lid = 1;
	net_at(p)->sm_lid = 1;
	return p;
}

/* ---- attributes and modifiers of each kind of node */

static void every_node_has_its_attributes(void **state)
{
	static const struct {
		uint32_t attr, mod, ca, sw; /* status of Get */
	} rows[] = {
		{SMP_ATTR_NODE_DESC, 0, 0, 0},
		{SMP_ATTR_NODE_INFO, 0, 0, 0},
		{SMP_ATTR_SWITCH_INFO, 0, MAD_STATUS_BAD_ATTR, 0},
		{SMP_ATTR_GUID_INFO, 0, 0, 0},
		{SMP_ATTR_GUID_INFO, 1, MAD_STATUS_BAD_VALUE, MAD_STATUS_BAD_VALUE},
		{SMP_ATTR_PORT_INFO, 0, 0, 0},
		{SMP_ATTR_PORT_INFO, 1, 0, 0},
		{SMP_ATTR_PORT_INFO, 0x80000001, 0, 0},
		{SMP_ATTR_PORT_INFO, 4, MAD_STATUS_BAD_VALUE, 0},
		{SMP_ATTR_PORT_INFO, 5, MAD_STATUS_BAD_VALUE, MAD_STATUS_BAD_VALUE},
		{SMP_ATTR_PORT_INFO, 0x101, MAD_STATUS_BAD_VALUE, MAD_STATUS_BAD_VALUE},
		{SMP_ATTR_PKEY_TABLE, 0, 0, 0},
		{SMP_ATTR_PKEY_TABLE, 3, 0, 0},
		{SMP_ATTR_PKEY_TABLE, 4, MAD_STATUS_BAD_VALUE, MAD_STATUS_BAD_VALUE},
		{SMP_ATTR_PKEY_TABLE, 0x40000, 0, 0},
		{SMP_ATTR_PKEY_TABLE, 0x50000, 0, MAD_STATUS_BAD_VALUE},
		{SMP_ATTR_SL2VL, 0, 0, 0},
		{SMP_ATTR_SL2VL, 0x0404, 0, 0},
		{SMP_ATTR_SL2VL, 0x0501, 0, MAD_STATUS_BAD_VALUE},
		{SMP_ATTR_SL2VL, 0x0105, 0, MAD_STATUS_BAD_VALUE},
		{SMP_ATTR_VL_ARB, 0x10001, 0, 0},
		{SMP_ATTR_VL_ARB, 0x30004, 0, 0},
		{SMP_ATTR_VL_ARB, 0x20001, MAD_STATUS_BAD_VALUE, MAD_STATUS_BAD_VALUE},
		{SMP_ATTR_VL_ARB, 0x00001, MAD_STATUS_BAD_VALUE, MAD_STATUS_BAD_VALUE},
		{SMP_ATTR_VL_ARB, 0x10005, 0, MAD_STATUS_BAD_VALUE},
		{SMP_ATTR_LFT, 0, MAD_STATUS_BAD_ATTR, 0},
		{SMP_ATTR_LFT, 767, MAD_STATUS_BAD_ATTR, 0},
		{SMP_ATTR_LFT, 768, MAD_STATUS_BAD_ATTR, MAD_STATUS_BAD_VALUE},
		{SMP_ATTR_RFT, 0, MAD_STATUS_BAD_ATTR, MAD_STATUS_BAD_ATTR},
		{SMP_ATTR_MFT, 0, MAD_STATUS_BAD_ATTR, 0},
		{SMP_ATTR_MFT, 31, MAD_STATUS_BAD_ATTR, 0},
		{SMP_ATTR_MFT, 32, MAD_STATUS_BAD_ATTR, MAD_STATUS_BAD_VALUE},
		{SMP_ATTR_MFT, 0x10000000, MAD_STATUS_BAD_ATTR, MAD_STATUS_BAD_VALUE},
		{SMP_ATTR_LED_INFO, 0, 0, 0},
		{SMP_ATTR_MLNX_EXT_PORT_INFO, 1, 0, 0},
		{SMP_ATTR_MLNX_EXT_PORT_INFO, 5, MAD_STATUS_BAD_VALUE, MAD_STATUS_BAD_VALUE},
		{SMP_ATTR_VENDOR_DIAG, 0, MAD_STATUS_BAD_ATTR, MAD_STATUS_BAD_ATTR},
		{0x1234, 0, MAD_STATUS_BAD_ATTR, MAD_STATUS_BAD_ATTR},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint32_t ca = get(net_port(H1, 1), rows[i].attr, rows[i].mod);
		uint32_t sw = get(net_port(S1, 1), rows[i].attr, rows[i].mod);

		if (ca != rows[i].ca || sw != rows[i].sw)
			fail_msg("attribute %#x modifier %#x: %#x %#x", rows[i].attr, rows[i].mod,
				 ca, sw);
	}
}

static void what_cannot_be_set(void **state)
{
	static const uint32_t attrs[] = {SMP_ATTR_NODE_DESC, SMP_ATTR_NODE_INFO, SMP_ATTR_RFT};

	for (size_t i = 0; i < sizeof(attrs) / sizeof(attrs[0]); i++)
		assert_int_equal(set(net_port(S1, 1), attrs[i], 0), MAD_STATUS_BAD_ATTR);
	LAYOUT_SET(mad_hdr, in, class_version, 2);
	assert_int_equal(fab_mad(&net, net_port(S1, 1), 1, in, out), FAB_MAD_REPLY);
	assert_int_equal(LAYOUT_GET(mad_hdr, out, status), MAD_STATUS_BAD_VERSION);
}

static void node_info_tells_where_it_was_asked(void **state)
{
	assert_int_equal(get(net_port(S1, 2), SMP_ATTR_NODE_INFO, 0), 0);
	assert_int_equal(LAYOUT_GET(node_info, out + SMP_DATA, node_type), NODE_TYPE_SWITCH);
	assert_int_equal(LAYOUT_GET(node_info, out + SMP_DATA, local_port), 2);
	assert_int_equal(LAYOUT_GET(node_info, out + SMP_DATA, num_ports), NET_PORTS);
	assert_int_equal(LAYOUT_GET(node_info, out + SMP_DATA, port_guid),
			 net_at(net_port(S1, 0))->guid);
}

/* ---- PortInfo: one component written, the status, and its value afterwards */

struct row {
	const char *name;
	uint32_t bit, width;
	uint64_t value;
	uint32_t status;
	uint64_t then;
};
#define F(f) #f, LF_port_info_##f##_BIT, LF_port_info_##f##_WIDTH
#define BAD MAD_STATUS_BAD_VALUE

static const struct row port_rows[] = {
	{F(mkey), 5, 0, 5},
	{F(gid_prefix), 0xfec0ULL << 48, 0, 0xfec0ULL << 48},
	{F(lid), 7, 0, 7},
	{F(lid), 0xbfff, 0, 0xbfff},
	{F(lid), 0, BAD, 1},
	{F(lid), 0xc000, BAD, 1},
	{F(master_sm_lid), 9, 0, 9},
	{F(master_sm_lid), 0, BAD, 1},
	{F(master_sm_lid), 0xffff, BAD, 1},
	{F(capability_mask), 0, 0, 0x2651e848},
	{F(diag_code), 3, 0, 0},
	{F(mkey_lease_period), 10, 0, 10},
	{F(link_width_enabled), 1, 0, 1},
	{F(link_width_enabled), 0, 0, 3},
	{F(link_width_enabled), 255, 0, 3},
	{F(link_width_enabled), 8, BAD, 3},
	{F(link_width_supported), 1, 0, 3},
	{F(link_width_active), 1, 0, 2},
	{F(port_state), IB_PORT_INIT, BAD, IB_PORT_INIT},
	{F(port_state), IB_PORT_ARMED, 0, IB_PORT_ARMED},
	{F(port_state), IB_PORT_ACTIVE, BAD, IB_PORT_INIT},
	{F(port_state), IB_PORT_DOWN, 0, IB_PORT_INIT}, /* and up again */
	{F(port_state), 5, BAD, IB_PORT_INIT},
	{F(port_phys_state), IB_PHYS_DISABLED, 0, IB_PHYS_DISABLED},
	{F(port_phys_state), IB_PHYS_SLEEP, 0, IB_PHYS_SLEEP},
	{F(port_phys_state), IB_PHYS_POLLING, 0, IB_PHYS_LINK_UP},
	{F(port_phys_state), 4, BAD, IB_PHYS_LINK_UP},
	{F(link_down_default), IB_PHYS_SLEEP, 0, IB_PHYS_SLEEP},
	{F(link_down_default), 0, 0, IB_PHYS_POLLING},
	{F(link_down_default), 3, BAD, IB_PHYS_POLLING},
	{F(mkey_protect_bits), 0, 0, 0},
	{F(lmc), 3, 0, 3},
	{F(link_speed_enabled), 1, 0, 1},
	{F(link_speed_enabled), 0, 0, 7},
	{F(link_speed_enabled), 15, 0, 7},
	{F(link_speed_enabled), 8, BAD, 7},
	{F(link_speed_ext_enabled), 2, 0, 2},
	{F(link_speed_ext_enabled), 0, 0, 7},
	{F(link_speed_ext_enabled), 30, 0, 30},
	{F(link_speed_ext_enabled), 31, 0, 7},
	{F(link_speed_ext_enabled), 8, BAD, 7},
	{F(neighbor_mtu), 1, 0, 1},
	{F(neighbor_mtu), 0, BAD, 5},
	{F(neighbor_mtu), 6, BAD, 5},
	{F(master_sm_sl), 3, 0, 3},
	{F(vl_cap), 1, 0, 3},
	{F(init_type), 2, 0, 2},
	{F(vl_high_limit), 7, 0, 7},
	{F(vl_arb_high_cap), 1, 0, 8},
	{F(mtu_cap), 1, 0, 5},
	{F(vl_stall_count), 7, 0, 7},
	{F(hoq_life), 0x12, 0, 0x12},
	{F(operational_vls), 1, 0, 1},
	{F(operational_vls), 0, 0, 3},
	{F(operational_vls), 4, BAD, 3},
	{F(partition_enforce_in), 1, 0, 0}, /* for switches only */
	{F(mkey_violations), 9, 0, 9},
	{F(pkey_violations), 0, 0, 0},
	{F(qkey_violations), 9, 0, 9},
	{F(guid_cap), 1, 0, 8},
	{F(client_reregister), 1, 0, 1}, /* set in the answer only */
	{F(mcast_pkey_trap_suppr), 1, 0, 1},
	{F(subnet_timeout), 12, 0, 12},
	{F(resp_time_value), 1, 0, 16},
	{F(local_phys_errors), 8, 0, 8},
	{F(overrun_errors), 8, 0, 8},
	{F(capability_mask2), 0, 0, PORT_CAP2_LINK_SPEED_HDR},
};

static const struct row switch_rows[] = {
	{F(mkey), 5, 0, 0}, /* belongs to the switch's port 0 */
	{F(lid), 7, 0, 0},
	{F(lid), 0xffff, 0, 0},
	{F(subnet_timeout), 12, 0, 0},
	{F(partition_enforce_in), 1, 0, 1},
	{F(partition_enforce_out), 1, 0, 1},
	{F(filter_raw_in), 1, 0, 1},
	{F(filter_raw_out), 1, 0, 1},
	{F(vl_cap), 1, 0, 4},
	{F(operational_vls), 4, 0, 4},
	{F(port_state), IB_PORT_ARMED, 0, IB_PORT_ARMED},
	{F(client_reregister), 1, 0, 0},
};

static void check_row(const struct row *r, uint32_t port, uint32_t mod)
{
	uint32_t status;

	assert_int_equal(get(port, SMP_ATTR_PORT_INFO, mod), 0);
	/* as in OpenSM, the states are not written back */
	LAYOUT_SET(port_info, in + SMP_DATA, port_state, 0);
	LAYOUT_SET(port_info, in + SMP_DATA, port_phys_state, 0);
	layout_set(in + SMP_DATA, r->bit, r->width, r->value);
	status = set(port, SMP_ATTR_PORT_INFO, mod);
	if (status != r->status)
		fail_msg("%s = %#lx: status %#x", r->name, (long)r->value, status);
	if (status)
		get(port, SMP_ATTR_PORT_INFO, mod);
	if (layout_get(out + SMP_DATA, r->bit, r->width) != r->then)
		fail_msg("%s = %#lx: then %#lx", r->name, (long)r->value,
			 (long)layout_get(out + SMP_DATA, r->bit, r->width));
}

static void port_info_rows(void **state)
{
	for (size_t i = 0; i < sizeof(port_rows) / sizeof(port_rows[0]); i++) {
		net_drop(state);
		net_bare(state);
		check_row(&port_rows[i], managed(), i & 1);
	}
	for (size_t i = 0; i < sizeof(switch_rows) / sizeof(switch_rows[0]); i++) {
		net_drop(state);
		net_bare(state);
		check_row(&switch_rows[i], net_port(S1, 1), 2);
	}
}

static void reregistration_is_not_remembered(void **state)
{
	uint32_t p = managed();

	check_row(&(struct row){F(client_reregister), 1, 0, 1}, p, 0);
	assert_int_equal(get(p, SMP_ATTR_PORT_INFO, 0), 0);
	assert_int_equal(LAYOUT_GET(port_info, out + SMP_DATA, client_reregister), 0);
}

/* A base port 0 has a LID, and no link: components of a link have no effect. */
static void base_port0_takes_its_lid(void **state)
{
	const struct hw_port *p0 = net_at(net_port(S1, 0));

	memset(in, 0, sizeof(in));
	LAYOUT_SET(port_info, in + SMP_DATA, lid, 12);
	LAYOUT_SET(port_info, in + SMP_DATA, master_sm_lid, 3);
	LAYOUT_SET(port_info, in + SMP_DATA, lmc, 2);
	assert_int_equal(set(net_port(S1, 1), SMP_ATTR_PORT_INFO, 0), 0);
	assert_int_equal(p0->lid, 12);
	assert_int_equal(p0->sm_lid, 3);
	assert_int_equal(p0->lmc, 0);
	assert_int_equal(p0->state, IB_PORT_ACTIVE);
	assert_int_equal(p0->active_mtu, IBV_MTU_4096);
}

/* ---- links */

static void disabling_a_port_takes_both_ends_down(void **state)
{
	uint32_t p = managed(), peer = net_port(S0, 1);
	const struct fab_switch *sw = fab_switch(&net, fab_node(&net, S0)->sw);

	atomic_store(&((struct fab_switch *)sw)->state_change, 0);
	check_row(&(struct row){F(port_phys_state), IB_PHYS_DISABLED, 0, IB_PHYS_DISABLED}, p, 0);
	assert_int_equal(net_at(p)->state, IB_PORT_DOWN);
	assert_int_equal(net_at(peer)->state, IB_PORT_DOWN);
	assert_int_equal(net_at(peer)->phys_state, IB_PHYS_POLLING);
	assert_int_equal(fab_peer(&net, p), SEG_NONE);
	assert_int_equal(sw->state_change, 1);
	/* A port that polls alone stays down until its peer polls, too. */
	assert_int_equal(fab_link_set(&net, peer, IB_PHYS_POLLING), 0);
	assert_int_equal(net_at(peer)->state, IB_PORT_DOWN);
	check_row(&(struct row){F(port_phys_state), IB_PHYS_POLLING, 0, IB_PHYS_LINK_UP}, p, 0);
	assert_int_equal(net_at(p)->state, IB_PORT_INIT);
	assert_int_equal(net_at(peer)->state, IB_PORT_INIT);
	assert_int_equal(fab_peer(&net, p), peer);
}

static void links_train_to_the_best_of_both(void **state)
{
	static const struct {
		uint8_t wa, wb, sa, sb;
		uint32_t width, speed; /* 0: no link */
	} rows[] = {
		{3, 3, 0x77, 0x77, 2, 64}, {1, 3, 0x77, 0x77, 1, 64}, {3, 3, 0x77, 0x37, 2, 32},
		{3, 3, 0x77, 0x07, 2, 4},  {3, 3, 0x71, 0x07, 2, 1},  {18, 19, 1, 1, 2, 1},
		{17, 19, 1, 1, 16, 1},     {11, 11, 1, 1, 8, 1},      {1, 2, 0x77, 0x77, 0, 0},
		{3, 3, 0x70, 0x07, 0, 0},
	};
	uint32_t a = net_port(H1, 1), b = net_port(S0, 1);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct hw_port *pa = net_at(a), *pb = net_at(b);

		pa->width_en = rows[i].wa;
		pb->width_en = rows[i].wb;
		pa->speed_en = rows[i].sa;
		pb->speed_en = rows[i].sb;
		assert_int_equal(fab_link_set(&net, b, IB_PHYS_POLLING), 0);
		if (pa->state != (rows[i].width ? IB_PORT_INIT : IB_PORT_DOWN))
			fail_msg("row %zu: state %u", i, pa->state);
		if (!rows[i].width)
			continue;
		assert_int_equal(pa->width, rows[i].width);
		assert_int_equal(pb->speed, rows[i].speed);
	}
}

static void switches_remember_that_a_link_has_moved(void **state)
{
	uint32_t p = net_port(S1, 0);

	assert_int_equal(get(p, SMP_ATTR_SWITCH_INFO, 0), 0);
	assert_int_equal(LAYOUT_GET(switch_info, out + SMP_DATA, port_state_change), 1);
	LAYOUT_SET(switch_info, in + SMP_DATA, port_state_change, 0);
	assert_int_equal(set(p, SMP_ATTR_SWITCH_INFO, 0), 0);
	assert_int_equal(LAYOUT_GET(switch_info, out + SMP_DATA, port_state_change), 1);
	LAYOUT_SET(switch_info, in + SMP_DATA, port_state_change, 1);
	assert_int_equal(set(p, SMP_ATTR_SWITCH_INFO, 0), 0);
	assert_int_equal(LAYOUT_GET(switch_info, out + SMP_DATA, port_state_change), 0);
	assert_int_equal(fab_unplug(&net, net_port(S1, 2)), 0);
	assert_int_equal(get(p, SMP_ATTR_SWITCH_INFO, 0), 0);
	assert_int_equal(LAYOUT_GET(switch_info, out + SMP_DATA, port_state_change), 1);
}

/* ---- tables */

static void switch_info_rows(void **state)
{
	static const struct {
		uint32_t bit, width;
		uint64_t value;
		uint32_t status;
		uint64_t then;
	} rows[] = {
#define SW(f) LF_switch_info_##f##_BIT, LF_switch_info_##f##_WIDTH
		{SW(linear_fdb_cap), 1, 0, FAB_LIDS},
		{SW(mcast_fdb_cap), 1, 0, FAB_MLIDS},
		{SW(linear_fdb_top), 100, 0, 100},
		{SW(linear_fdb_top), 0xc000, BAD, 0},
		{SW(mcast_fdb_top), 0xc3ff, 0, 0xc3ff},
		{SW(mcast_fdb_top), 0xc400, BAD, 0},
		{SW(default_port), 3, 0, 3},
		{SW(default_mcast_primary_port), 3, 0, 3},
		{SW(default_mcast_not_primary_port), 3, 0, 3},
		{SW(life_time_value), 18, 0, 18},
		{SW(partition_enforce_cap), 0, 0, HW_PKEYS},
		{SW(enhanced_port0), 1, 0, 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		net_drop(state);
		net_bare(state);
		assert_int_equal(get(net_port(S1, 0), SMP_ATTR_SWITCH_INFO, 0), 0);
		layout_set(in + SMP_DATA, rows[i].bit, rows[i].width, rows[i].value);
		if (set(net_port(S1, 0), SMP_ATTR_SWITCH_INFO, 0) != rows[i].status)
			fail_msg("row %zu", i);
		get(net_port(S1, 0), SMP_ATTR_SWITCH_INFO, 0);
		if (layout_get(out + SMP_DATA, rows[i].bit, rows[i].width) != rows[i].then)
			fail_msg("row %zu", i);
	}
}

/* Each table keeps what was written; the tables beside it do not change. */
static void tables_keep_what_is_set(void **state)
{
	const struct {
		uint32_t port, attr, mod, other_mod, bytes;
	} rows[] = {
		{net_port(S1, 1), SMP_ATTR_LFT, 5, 6, 64},
		{net_port(S1, 1), SMP_ATTR_MFT, 3, 4, 64},
		{net_port(H1, 1), SMP_ATTR_PKEY_TABLE, 0, 0, 32},
		{net_port(S1, 1), SMP_ATTR_PKEY_TABLE, 0x20000, 0x30000, 32},
		{net_port(H1, 1), SMP_ATTR_SL2VL, 0, 0, 8},
		{net_port(S1, 1), SMP_ATTR_SL2VL, 0x0102, 0x0201, 8},
		{net_port(H1, 1), SMP_ATTR_VL_ARB, 0x10000, 0x30000, 16},
		{net_port(S1, 1), SMP_ATTR_VL_ARB, 0x30002, 0x30001, 16},
	};
	uint8_t was[64];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		get(rows[i].port, rows[i].attr, rows[i].other_mod);
		memcpy(was, out + SMP_DATA, sizeof(was));
		memset(in + SMP_DATA, 0, SMP_DATA_SIZE);
		for (uint32_t k = 0; k < rows[i].bytes; k++)
			in[SMP_DATA + k] = (uint8_t)(k + 1);
		assert_int_equal(set(rows[i].port, rows[i].attr, rows[i].mod), 0);
		get(rows[i].port, rows[i].attr, rows[i].mod);
		for (uint32_t k = 0; k < 64; k++)
			if (out[SMP_DATA + k] != (k < rows[i].bytes ? k + 1 : 0))
				fail_msg("row %zu byte %u: %u", i, k, out[SMP_DATA + k]);
		get(rows[i].port, rows[i].attr, rows[i].other_mod);
		if (rows[i].mod != rows[i].other_mod && memcmp(was, out + SMP_DATA, sizeof(was)))
			fail_msg("row %zu: neighbour", i);
	}
	assert_int_equal(fab_lft_get(&net, fab_node(&net, S1)->sw, 5 * 64 + 3), 4);
}

static void guids_make_gids(void **state)
{
	uint32_t p = net_port(H1, 1);
	const struct hw_port *port = net_at(p);
	uint64_t own = port->guid;

	assert_int_equal(get(p, SMP_ATTR_GUID_INFO, 0), 0);
	LAYOUT_ITEM_SET(guid_info, in + SMP_DATA, guid, 0, 1); /* the port's own GUID: stays */
	LAYOUT_ITEM_SET(guid_info, in + SMP_DATA, guid, 2, 0x1234);
	assert_int_equal(set(p, SMP_ATTR_GUID_INFO, 0), 0);
	assert_int_equal(LAYOUT_ITEM_GET(guid_info, out + SMP_DATA, guid, 0), own);
	assert_int_equal(be64_load(port->gid[2]), port->gid_prefix);
	assert_int_equal(be64_load(port->gid[2] + 8), 0x1234);
}

/* ---- M_Key: what a wrong key allows, by protection bits (IBA 14.2.4.1) */

static void mkey_rows(void **state)
{
	static const struct {
		uint32_t protect;
		bool get, shown;
	} rows[] = {{0, true, true}, {1, true, false}, {2, false, false}, {3, false, false}};
	uint32_t p = managed();
	struct hw_port *port = net_at(p);

	port->mkey = 0x77;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		port->mkey_protect = (uint8_t)rows[i].protect;
		memset(in, 0, sizeof(in));
		key = 0x66;
		assert_int_equal(smp(p, MAD_METHOD_GET, SMP_ATTR_PORT_INFO, 0),
				 rows[i].get ? FAB_MAD_REPLY : FAB_MAD_CONSUMED);
		if (rows[i].get)
			assert_int_equal(LAYOUT_GET(port_info, out + SMP_DATA, mkey),
					 rows[i].shown ? 0x77 : 0);
		atomic_store(&fab_ctr(&net, p)->n[HW_CTR_MKEY_VIOL], 0);
		assert_int_equal(smp(p, MAD_METHOD_SET, SMP_ATTR_PORT_INFO, 0), FAB_MAD_CONSUMED);
		assert_int_equal(fab_counted(&net, p, HW_CTR_MKEY_VIOL), 1);
		key = 0x77;
		assert_int_equal(get(p, SMP_ATTR_PORT_INFO, 0), 0);
		assert_int_equal(LAYOUT_GET(port_info, out + SMP_DATA, mkey), 0x77);
	}
	key = 0;
}

static void a_lease_runs_out(void **state)
{
	uint32_t p = managed();
	struct hw_port *port = net_at(p);

	port->mkey = 0x77;
	port->mkey_protect = 2;
	port->mkey_lease = 1;
	key = 0x66;
	assert_int_equal(smp(p, MAD_METHOD_GET, SMP_ATTR_NODE_INFO, 0), FAB_MAD_CONSUMED);
	assert_true(port->mkey_until);
	/* The right key stops the lease timer. */
	key = 0x77;
	assert_int_equal(get(p, SMP_ATTR_NODE_INFO, 0), 0);
	assert_false(port->mkey_until);
	key = 0x66;
	assert_int_equal(smp(p, MAD_METHOD_GET, SMP_ATTR_NODE_INFO, 0), FAB_MAD_CONSUMED);
	port->mkey_until = 1; /* a time in the past */
	assert_int_equal(get(p, SMP_ATTR_NODE_INFO, 0), 0);
	assert_int_equal(port->mkey_protect, 0);
	key = 0;
}

/* The M_Key of a switch is port 0's, and protects the whole switch. */
static void a_switch_has_one_mkey(void **state)
{
	net_at(net_port(S1, 0))->mkey = 0x77;
	net_at(net_port(S1, 0))->mkey_protect = 2;
	key = 0;
	assert_int_equal(smp(net_port(S1, 2), MAD_METHOD_GET, SMP_ATTR_LFT, 0), FAB_MAD_CONSUMED);
	assert_int_equal(smp(net_port(S1, 2), MAD_METHOD_TRAP_REPRESS, 2, 0), FAB_MAD_CONSUMED);
	assert_int_equal(fab_counted(&net, net_port(S1, 0), HW_CTR_MKEY_VIOL), 2);
}

/* An SA record has no SMP, and so no key. */
static void records_show_no_key(void **state)
{
	uint8_t d[SMP_DATA_SIZE];
	uint32_t p = managed();

	net_at(p)->mkey = 0x77;
	assert_int_equal(fab_sma_get(&net, p, SMP_ATTR_PORT_INFO, 0, d), 0);
	assert_int_equal(LAYOUT_GET(port_info, d, mkey), 0);
	assert_int_equal(LAYOUT_GET(port_info, d, lid), 1);
}

#define T(f) cmocka_unit_test_setup_teardown(f, net_bare, net_drop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(every_node_has_its_attributes),
		T(what_cannot_be_set),
		T(node_info_tells_where_it_was_asked),
		T(port_info_rows),
		T(reregistration_is_not_remembered),
		T(base_port0_takes_its_lid),
		T(disabling_a_port_takes_both_ends_down),
		T(links_train_to_the_best_of_both),
		T(switches_remember_that_a_link_has_moved),
		T(switch_info_rows),
		T(tables_keep_what_is_set),
		T(guids_make_gids),
		T(mkey_rows),
		T(a_lease_runs_out),
		T(a_switch_has_one_mkey),
		T(records_show_no_key),
	};

	return cmocka_run_group_tests_name("subnet-sma", tests, NULL, NULL);
}
