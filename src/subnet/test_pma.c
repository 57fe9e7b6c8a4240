/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The performance management agent: which port and counters a MAD means, and the effect of a Set.
 */
#include "fabric/test_net.h"

#include "fabric/count.h"
#include "hw/port.h"

static uint8_t out[MAD_SIZE];

static uint16_t ask(uint32_t port, uint32_t attr, uint32_t method, uint32_t select,
		    uint32_t counters, uint32_t counters2)
{
	uint8_t mad[MAD_SIZE] = {0};

	LAYOUT_SET(mad_hdr, mad, base_version, 1);
	LAYOUT_SET(mad_hdr, mad, class_version, 1);
	LAYOUT_SET(mad_hdr, mad, mgmt_class, MAD_CLASS_PERF);
	LAYOUT_SET(mad_hdr, mad, method, method);
	LAYOUT_SET(mad_hdr, mad, attr_id, attr);
	LAYOUT_SET(port_counters, mad + PMA_DATA, port_select, select);
	LAYOUT_SET(port_counters, mad + PMA_DATA, counter_select, counters);
	if (attr == PMA_ATTR_PORT_COUNTERS_EXT)
		LAYOUT_SET(port_counters_ext, mad + PMA_DATA, counter_select2, counters2);
	else
		LAYOUT_SET(port_counters, mad + PMA_DATA, counter_select2, counters2);
	assert_int_equal(fab_mad(&net, port, 1, mad, out), FAB_MAD_REPLY);
	return LAYOUT_GET16(mad_hdr, out, status);
}

static uint16_t get(uint32_t port, uint32_t select)
{
	return ask(port, PMA_ATTR_PORT_COUNTERS, MAD_METHOD_GET, select, 0, 0);
}

static uint16_t get_ext(uint32_t port, uint32_t select)
{
	return ask(port, PMA_ATTR_PORT_COUNTERS_EXT, MAD_METHOD_GET, select, 0, 0);
}

#define OLD(field) LAYOUT_GET(port_counters, out + PMA_DATA, field)
#define EXT(field) LAYOUT_GET(port_counters_ext, out + PMA_DATA, field)

static void every_port_of_a_switch(void **state)
{
	uint32_t p0 = net_port(S1, 0);

	for (uint32_t n = 0; n <= NET_PORTS; n++)
		fab_count(&net, net_port(S1, n), HW_CTR_RCV_RELAY, 10 + n);
	for (uint32_t n = 0; n <= NET_PORTS; n++) {
		assert_int_equal(get(p0, n), MAD_STATUS_OK);
		assert_int_equal(OLD(rcv_switch_relay_errors), 10 + n);
		assert_int_equal(OLD(port_select), n);
	}
	assert_int_equal(get(p0, NET_PORTS + 1), MAD_STATUS_BAD_VALUE);
	assert_int_equal(get(p0, PMA_PORT_ALL), MAD_STATUS_OK);
	assert_int_equal(OLD(rcv_switch_relay_errors), 11 + 12 + 13 + 14);
	assert_int_equal(get_ext(p0, PMA_PORT_ALL), MAD_STATUS_OK);
	assert_int_equal(EXT(rcv_switch_relay_errors), 11 + 12 + 13 + 14);
}

/* process_pma_cmd() of mlx5: port 0 means the port that received the MAD. */
static void ports_of_an_adapter(void **state)
{
	uint32_t p = net_port(H1, 1);

	fab_count(&net, p, HW_CTR_XMIT_WAIT, 5);
	assert_int_equal(get(p, 0), MAD_STATUS_OK);
	assert_int_equal(OLD(xmit_wait), 5);
	assert_int_equal(get(p, 1), MAD_STATUS_OK);
	assert_int_equal(OLD(xmit_wait), 5);
	assert_int_equal(get(p, 2), MAD_STATUS_BAD_VALUE);
}

static void narrow_counters_stop_and_wide_ones_go_on(void **state)
{
	uint32_t p = net_port(H1, 1);

	for (uint32_t i = 0; i < HW_CTR_STORED; i++)
		fab_count(&net, p, i, UINT64_C(0x100000001));
	assert_int_equal(get(p, 1), MAD_STATUS_OK);
	assert_int_equal(OLD(symbol_errors), 0xffff);
	assert_int_equal(OLD(link_error_recovery), 0xff);
	assert_int_equal(OLD(link_downed), 0xff);
	assert_int_equal(OLD(rcv_errors), 0xffff);
	assert_int_equal(OLD(rcv_remote_phys_errors), 0xffff);
	assert_int_equal(OLD(xmit_discards), 0xffff);
	assert_int_equal(OLD(xmit_constraint_errors), 0xff);
	assert_int_equal(OLD(rcv_constraint_errors), 0xff);
	assert_int_equal(OLD(local_link_integrity), 0xf);
	assert_int_equal(OLD(excessive_buffer_overrun), 0xf);
	assert_int_equal(OLD(vl15_dropped), 0xffff);
	assert_int_equal(OLD(qp1_dropped), 0xffff);
	assert_int_equal(OLD(xmit_data), 0xffffffff);
	assert_int_equal(OLD(rcv_pkts), 0xffffffff);
	assert_int_equal(OLD(xmit_wait), 0xffffffff);
	assert_int_equal(get_ext(p, 1), MAD_STATUS_OK);
	assert_int_equal(EXT(xmit_data), 0x100000001);
	assert_int_equal(EXT(symbol_errors), 0x100000001);
	assert_int_equal(EXT(qp1_dropped), 0x100000001);
	assert_int_equal(EXT(ucast_xmit_pkts), 0);
	assert_int_equal(EXT(mcast_rcv_pkts), 0x100000001);
	fab_count(&net, p, HW_CTR_XMIT_DATA, UINT64_MAX);
	assert_int_equal(get_ext(p, 1), MAD_STATUS_OK);
	assert_int_equal(EXT(xmit_data), 0x100000000);
}

/* Each bit of CounterSelect and CounterSelect2 resets its own counter and no other. */
static void reset_by_mask(void **state)
{
	uint32_t p = net_port(S0, 1), p0 = net_port(S0, 0);

	for (uint32_t bit = 0; bit < 18; bit++) {
		uint8_t before[MAD_SIZE];
		uint32_t changed = 0;

		for (uint32_t i = 0; i < HW_CTR_STORED; i++)
			fab_count(&net, p, i, 3);
		get(p0, 1);
		memcpy(before, out, sizeof(out));
		assert_int_equal(ask(p0, PMA_ATTR_PORT_COUNTERS, MAD_METHOD_SET, 1,
				     bit < 16 ? 1u << bit : 0, bit < 16 ? 0 : 1u << (bit - 16)),
				 MAD_STATUS_OK);
		for (uint32_t i = 0; i < layout_port_counters.nfields; i++) {
			const struct layout_field *f = &layout_port_counters.fields[i];
			uint64_t was = layout_get(before + PMA_DATA, f->bit, f->width);
			uint64_t is = layout_get(out + PMA_DATA, f->bit, f->width);

			if (was != is) {
				assert_int_equal(is, 0);
				assert_int_equal(was % 3, 0);
				changed++;
			}
		}
		assert_int_equal(changed, 1);
	}
}

static void reset_of_the_wide_ones(void **state)
{
	uint32_t p = net_port(H2, 1);

	for (uint32_t i = 0; i < HW_CTR_STORED; i++)
		fab_count(&net, p, i, 5);
	assert_int_equal(ask(p, PMA_ATTR_PORT_COUNTERS_EXT, MAD_METHOD_SET, 1, 1 << 4 | 1 << 7,
			     1 << 2 | 1 << 13),
			 MAD_STATUS_OK);
	assert_int_equal(EXT(ucast_xmit_pkts), 0);
	assert_int_equal(EXT(ucast_rcv_pkts), 0);
	assert_int_equal(EXT(mcast_rcv_pkts), 0);
	assert_int_equal(EXT(mcast_xmit_pkts), 5);
	assert_int_equal(EXT(link_downed), 0);
	assert_int_equal(EXT(qp1_dropped), 0);
	assert_int_equal(EXT(vl15_dropped), 5);
	fab_count(&net, p, HW_CTR_XMIT_PKTS, 7);
	get_ext(p, 1);
	assert_int_equal(EXT(ucast_xmit_pkts), 7);
	/* Narrow data counters have a base of their own; error counters are shared. */
	get(p, 1);
	assert_int_equal(OLD(xmit_pkts), 5 + 7);
	assert_int_equal(OLD(link_downed), 0);
	assert_int_equal(OLD(vl15_dropped), 5);
	/* Sets all ports of the node. */
	assert_int_equal(ask(p, PMA_ATTR_PORT_COUNTERS, MAD_METHOD_SET, PMA_PORT_ALL, 0xffff, 3),
			 MAD_STATUS_OK);
	get(p, 1);
	assert_int_equal(OLD(link_downed) | OLD(xmit_data) | OLD(xmit_wait) | OLD(qp1_dropped), 0);
}

static void details_are_parts_of_the_sums(void **state)
{
	uint32_t p = net_port(S0, 2), p0 = net_port(S0, 0);

	fab_count(&net, p, HW_CTR_XMIT_DISCARDS, 7);
	fab_count(&net, p, HW_CTR_XMIT_MTU, 3);
	fab_count(&net, p, HW_CTR_XMIT_INACTIVE, 4);
	fab_count(&net, p, HW_CTR_RCV_RELAY, 9);
	fab_count(&net, p, HW_CTR_RCV_LOOPING, 2);
	assert_int_equal(ask(p0, PMA_ATTR_PORT_XMIT_DISCARD_DETAILS, MAD_METHOD_GET, 2, 0, 0), 0);
	assert_int_equal(
		LAYOUT_GET(port_xmit_discard_details, out + PMA_DATA, neighbor_mtu_discards), 3);
	assert_int_equal(LAYOUT_GET(port_xmit_discard_details, out + PMA_DATA, inactive_discards),
			 4);
	assert_int_equal(ask(p0, PMA_ATTR_PORT_RCV_ERROR_DETAILS, MAD_METHOD_GET, 2, 0, 0), 0);
	assert_int_equal(LAYOUT_GET(port_rcv_error_details, out + PMA_DATA, dlid_mapping_errors),
			 7);
	assert_int_equal(LAYOUT_GET(port_rcv_error_details, out + PMA_DATA, looping_errors), 2);
	assert_int_equal(ask(p0, PMA_ATTR_PORT_RCV_ERROR_DETAILS, MAD_METHOD_SET, 2, 1 << 3, 0), 0);
	assert_int_equal(LAYOUT_GET(port_rcv_error_details, out + PMA_DATA, dlid_mapping_errors),
			 0);
	assert_int_equal(LAYOUT_GET(port_rcv_error_details, out + PMA_DATA, looping_errors), 2);
	get(p0, 2);
	assert_int_equal(OLD(rcv_switch_relay_errors), 9);
}

/* perfquery reads it before it shows or resets counters. */
static void class_port_info(void **state)
{
	assert_int_equal(ask(net_port(S0, 0), MAD_ATTR_CLASS_PORT_INFO, MAD_METHOD_GET, 0, 0, 0),
			 MAD_STATUS_OK);
	assert_int_equal(LAYOUT_GET(class_port_info, out + PMA_DATA, cap_mask),
			 PMA_CAP_ALL_PORT_SELECT | PMA_CAP_EXT | PMA_CAP_XMIT_WAIT |
				 PMA_CAP_QP1_DROPPED);
	assert_int_equal(LAYOUT_GET(class_port_info, out + PMA_DATA, cap_mask2),
			 PMA_CAP2_EXT_ERRORS);
}

static void mads_are_72_words(void **state)
{
	fab_count_mad(&net, net_port(H1, 1), net_port(S0, 1), NULL);
	get(net_port(S0, 0), 1);
	assert_int_equal(OLD(rcv_data), 72);
	assert_int_equal(OLD(rcv_pkts), 1);
	assert_int_equal(OLD(xmit_pkts), 0);
}

#define T(f) cmocka_unit_test_setup_teardown(f, net_managed, net_drop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(every_port_of_a_switch),
		T(ports_of_an_adapter),
		T(narrow_counters_stop_and_wide_ones_go_on),
		T(reset_by_mask),
		T(reset_of_the_wide_ones),
		T(details_are_parts_of_the_sums),
		T(class_port_info),
		T(mads_are_72_words),
	};

	return cmocka_run_group_tests_name("pma", tests, NULL, NULL);
}
