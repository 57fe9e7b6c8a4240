/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Forwarding of subnet management packets: IBA 14.2.2, and the rules of smi.c (Linux). */
#include "fabric/test_net.h"
#include "hw/port.h"
#include "subnet/subnet.h"

static uint8_t mad[MAD_SIZE];

/* A packet as it leaves its sender: smi_handle_dr_smp_send() has set the hop pointer to 1. */
static struct fab_smp path(uint32_t hops, const uint8_t *ports)
{
	memset(mad, 0, sizeof(mad));
	LAYOUT_SET(mad_hdr, mad, mgmt_class, MAD_CLASS_SUBN_DR);
	LAYOUT_SET(smp, mad, dr_slid, MAD_LID_PERMISSIVE);
	LAYOUT_SET(smp, mad, dr_dlid, MAD_LID_PERMISSIVE);
	LAYOUT_SET(smp, mad, hop_cnt, hops);
	LAYOUT_SET(smp, mad, hop_ptr, 1);
	if (hops)
		memcpy(mad + SMP_INITIAL_PATH + 1, ports, hops);
	return (struct fab_smp){.mad = mad, .slid = MAD_LID_PERMISSIVE, .dlid = MAD_LID_PERMISSIVE};
}

static void answer_it(void)
{
	LAYOUT_SET(smp, mad, d, 1);
}

static void a_path_leads_hop_by_hop_and_back(void **state)
{
	static const uint8_t ports[] = {1, 2, 2, 2}, in[] = {0, 1, 1, 1, 1};
	const struct {
		uint32_t hops, end;
	} rows[] = {{1, net_port(S0, 1)},
		    {2, net_port(S1, 1)},
		    {3, net_port(S2, 1)},
		    {4, net_port(H2, 1)}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fab_smp p = path(rows[i].hops, ports);

		assert_int_equal(fab_smp_send(&net, net_port(H1, 1), &p), rows[i].end);
		assert_int_equal(LAYOUT_GET(smp, mad, hop_ptr), rows[i].hops + 1);
		assert_memory_equal(mad + SMP_RETURN_PATH, in, rows[i].hops + 1);
		answer_it();
		assert_int_equal(fab_smp_answer(&net, rows[i].end, &p), net_port(H1, 1));
		assert_int_equal(LAYOUT_GET(smp, mad, hop_ptr), 0);
		assert_int_equal(p.slid, MAD_LID_PERMISSIVE);
	}
}

static void bad_paths_are_lost(void **state)
{
	static const struct {
		const char *name;
		uint32_t hops;
		uint8_t ports[4];
	} rows[] = {
		{"no cable", 2, {1, 3}},
		{"no such port", 2, {1, 5}},
		{"the switch itself", 2, {1, 0}},
		{"through an adapter", 4, {1, 1, 1, 2}},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fab_smp p = path(rows[i].hops, rows[i].ports);

		if (fab_smp_send(&net, net_port(H1, 1), &p) != SEG_NONE)
			fail_msg("%s", rows[i].name);
	}
}

static void unreasonable_pointers_are_lost(void **state)
{
	static const uint8_t ports[] = {1, 2};
	static const struct {
		uint8_t cnt, ptr, d;
	} rows[] = {{2, 0, 0}, {2, 4, 0}, {64, 1, 0}, {2, 4, 1}, {64, 1, 1}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fab_smp p = path(2, ports);

		LAYOUT_SET(smp, mad, hop_cnt, rows[i].cnt);
		LAYOUT_SET(smp, mad, hop_ptr, rows[i].ptr);
		LAYOUT_SET(smp, mad, d, rows[i].d);
		if (fab_smp_send(&net, net_port(H1, 1), &p) != SEG_NONE)
			fail_msg("row %zu", i);
	}
}

static void links_need_to_be_up_and_no_more(void **state)
{
	static const uint8_t ports[] = {1, 2, 2};
	struct fab_smp p = path(3, ports);

	assert_int_equal(hw_port(&net, net_port(S1, 2))->state, IB_PORT_INIT);
	assert_int_equal(fab_smp_send(&net, net_port(H1, 1), &p), net_port(S2, 1));
	assert_int_equal(fab_unplug(&net, net_port(S1, 2)), 0);
	p = path(3, ports);
	assert_int_equal(fab_smp_send(&net, net_port(H1, 1), &p), SEG_NONE);
}

static void loops_end(void **state)
{
	uint8_t ports[63];
	struct fab_smp p;

	for (uint32_t i = 0; i < sizeof(ports); i++)
		ports[i] = i & 1 ? 2 : 1; /* S0, S1, S0... */
	p = path(63, ports);
	assert_int_equal(fab_smp_send(&net, net_port(H1, 1), &p), net_port(S0, 2));
	answer_it();
	assert_int_equal(fab_smp_answer(&net, net_port(S0, 2), &p), net_port(H1, 1));
}

static void by_lid_switches_answer_where_it_came_in(void **state)
{
	struct fab_smp p = path(0, NULL);

	LAYOUT_SET(mad_hdr, mad, mgmt_class, MAD_CLASS_SUBN_LID);
	p.slid = net_lid(H1);
	p.dlid = net_lid(S2);
	assert_int_equal(fab_smp_send(&net, net_port(H1, 1), &p), net_port(S2, 1));
	assert_int_equal(fab_smp_answer(&net, net_port(S2, 1), &p), net_port(H1, 1));
	assert_int_equal(p.slid, net_lid(S2));
	p.slid = net_lid(H1);
	p.dlid = net_lid(H2);
	assert_int_equal(fab_smp_send(&net, net_port(H1, 1), &p), net_port(H2, 1));
	p.dlid = 77;
	assert_int_equal(fab_smp_send(&net, net_port(H1, 1), &p), SEG_NONE);
}

/* By LID to S1, then directed out of its port 2 to S2, and on to h2. */
static void a_directed_part_may_begin_where_a_lid_leads(void **state)
{
	static const uint8_t ports[] = {2, 2};
	struct fab_smp p = path(2, ports);

	LAYOUT_SET(smp, mad, dr_slid, net_lid(H1));
	LAYOUT_SET(smp, mad, hop_ptr, 0);
	p.slid = net_lid(H1);
	p.dlid = net_lid(S1);
	assert_int_equal(fab_smp_send(&net, net_port(H1, 1), &p), net_port(H2, 1));
	assert_int_equal(LAYOUT_GET(smp, mad, hop_ptr), 3);
	answer_it();
	assert_int_equal(fab_smp_answer(&net, net_port(H2, 1), &p), net_port(H1, 1));
	assert_int_equal(LAYOUT_GET(smp, mad, hop_ptr), 0);
	assert_int_equal(p.slid, net_lid(S1));
	assert_int_equal(p.dlid, net_lid(H1));
	/* A directed part cannot begin at an adapter. */
	p = path(1, ports);
	LAYOUT_SET(smp, mad, dr_slid, net_lid(H1));
	LAYOUT_SET(smp, mad, hop_ptr, 0);
	p.dlid = net_lid(H2);
	assert_int_equal(fab_smp_send(&net, net_port(H1, 1), &p), SEG_NONE);
}

/* Directed to S0, from there by LID to h2, and back along the same path. */
static void a_lid_may_lead_on_from_a_directed_part(void **state)
{
	static const uint8_t ports[] = {1};
	struct fab_smp p = path(1, ports);

	LAYOUT_SET(smp, mad, dr_dlid, net_lid(H2));
	assert_int_equal(fab_smp_send(&net, net_port(H1, 1), &p), net_port(H2, 1));
	assert_int_equal(p.slid, net_lid(S0));
	assert_int_equal(LAYOUT_GET(smp, mad, hop_ptr), 2);
	answer_it();
	assert_int_equal(fab_smp_answer(&net, net_port(H2, 1), &p), net_port(H1, 1));
	assert_int_equal(LAYOUT_GET(smp, mad, hop_ptr), 0);
}

static uint32_t hops;
static void count(struct seg *s, uint32_t out, uint32_t in, void *arg)
{
	assert_int_equal(fab_peer(s, out), in);
	hops++;
}

static void every_cable_is_told_of(void **state)
{
	static const uint8_t ports[] = {1, 2};
	struct fab_smp p = path(2, ports);

	hops = 0;
	p.hop = count;
	LAYOUT_SET(smp, mad, dr_dlid, net_lid(H2));
	assert_int_equal(fab_smp_send(&net, net_port(H1, 1), &p), net_port(H2, 1));
	assert_int_equal(hops, 4);
}

#define BARE(f) cmocka_unit_test_setup_teardown(f, net_bare, net_drop)
#define MANAGED(f) cmocka_unit_test_setup_teardown(f, net_managed, net_drop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		BARE(a_path_leads_hop_by_hop_and_back),
		BARE(bad_paths_are_lost),
		BARE(unreasonable_pointers_are_lost),
		BARE(links_need_to_be_up_and_no_more),
		BARE(loops_end),
		MANAGED(by_lid_switches_answer_where_it_came_in),
		MANAGED(a_directed_part_may_begin_where_a_lid_leads),
		MANAGED(a_lid_may_lead_on_from_a_directed_part),
		MANAGED(every_cable_is_told_of),
	};

	return cmocka_run_group_tests_name("subnet-smi", tests, NULL, NULL);
}
