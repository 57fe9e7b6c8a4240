/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sweeps of the built-in subnet manager over subnets of all shapes, and after changes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "subnet/mad.h"
#include "fabric/test_topo.h"
#include "hw/port.h"
#include "subnet/subnet.h"
#include "util/clock.h"
#include "util/test_time.h"

static struct seg seg;
static struct tt topo;

static void build(const struct fab_options *o)
{
	memset(&seg, 0, sizeof(seg));
	assert_int_equal(seg_create(&seg, "test"), 0);
	assert_int_equal(fab_build(&seg, &topo.t, o), 0);
}

static int drop(void **state)
{
	if (seg.hdr)
		seg_unmap(&seg);
	tt_free(&topo);
	memset(&seg, 0, sizeof(seg));
	topo = (struct tt){0};
	return 0;
}

/* Node i of the description is node i + 1 of the segment. */
static uint32_t port_of(uint32_t node, uint32_t num)
{
	return fab_node_port(fab_node(&seg, node + 1), num);
}

static uint32_t lid_of(uint32_t node)
{
	const struct fab_node *n = fab_node(&seg, node + 1);

	return hw_port(&seg, n->port0 + (n->type != FAB_SWITCH))->lid;
}

static void count_hop(struct seg *s, uint32_t out, uint32_t in, void *arg)
{
	++*(uint32_t *)arg;
}

static uint32_t hops(uint32_t from, uint32_t to)
{
	const struct fab_node *n = fab_node(&seg, from + 1);
	uint32_t count = 0;

	if (fab_walk(&seg, n->port0 + (n->type != FAB_SWITCH), lid_of(to), IB_PORT_ACTIVE,
		     count_hop, &count) == SEG_NONE)
		return 0;
	return count;
}

static void all_reach_all(void)
{
	for (uint32_t i = 0; i < topo.t.nnodes; i++)
		for (uint32_t k = 0; k < topo.t.nnodes; k++)
			if (i != k && !hops(i, k))
				fail_msg("no way from node %u to node %u", i, k);
}

/*
 * ---- an independent check for credit loops: each cable that packets between adapters use waits
 * for the next one
 */

#define MAX_PORTS 4096

static uint8_t waits[MAX_PORTS][MAX_PORTS / 8];
static uint8_t seen[MAX_PORTS];
static uint32_t last;

static void note_wait(struct seg *s, uint32_t out, uint32_t in, void *arg)
{
	assert_true(out < MAX_PORTS);
	if (last != SEG_NONE)
		waits[last][out / 8] |= (uint8_t)(1 << out % 8);
	last = out;
}

static bool loop_from(uint32_t port)
{
	seen[port] = 1;
	for (uint32_t k = 0; k < MAX_PORTS; k++)
		if (waits[port][k / 8] >> k % 8 & 1 && (seen[k] == 1 || (!seen[k] && loop_from(k))))
			return true;
	seen[port] = 2;
	return false;
}

static bool may_block(void)
{
	memset(waits, 0, sizeof(waits));
	memset(seen, 0, sizeof(seen));
	for (uint32_t i = 0; i < topo.t.nnodes; i++)
		for (uint32_t k = 0; k < topo.t.nnodes; k++) {
			if (topo.t.node[i].type != TOPO_CA || topo.t.node[k].type != TOPO_CA)
				continue;
			last = SEG_NONE;
			fab_walk(&seg, port_of(i, 1), lid_of(k), IB_PORT_ACTIVE, note_wait, NULL);
		}
	for (uint32_t i = 0; i < MAX_PORTS; i++)
		if (!seen[i] && loop_from(i))
			return true;
	return false;
}

/* ---- shapes */

static void a_tree_has_the_shortest_ways(void **state)
{
	tt_tree2(&topo, 4, 6, 4);
	build(&tt_options);
	all_reach_all();
	assert_false(may_block());
	assert_int_equal(fab_subnet(&seg)->sm_updn, 0);
	assert_int_equal(hops(10, 11), 2);
	assert_int_equal(hops(10, 33), 4);
}

static void a_tree_of_three_levels_has_the_shortest_ways(void **state)
{
	tt_tree3(&topo, 3, 4, 9);
	build(&tt_options);
	all_reach_all();
	assert_false(may_block());
	assert_int_equal(fab_subnet(&seg)->sm_updn, 0);
	assert_int_equal(hops(topo.t.nnodes - 1, topo.t.nnodes - 36), 6);
}

static void ways_are_spread_over_cables(void **state)
{
	uint32_t used[5] = {0};

	tt_tree2(&topo, 4, 2, 8);
	build(&tt_options);
	/* from the first leaf to the adapters of the second */
	for (uint32_t ca = 14; ca < 22; ca++)
		used[fab_lft_get(&seg, 5, lid_of(ca))]++;
	for (uint32_t root = 1; root <= 4; root++)
		assert_int_equal(used[root], 2);
}

static void cables_side_by_side_share_the_ways(void **state)
{
	uint32_t used[4] = {0};

	tt_init(&topo, 8);
	tt_switch(&topo);
	tt_switch(&topo);
	for (int i = 0; i < 3; i++)
		tt_cable(&topo, 0, 1);
	for (uint32_t i = 0; i < 6; i++)
		tt_ca(&topo, i / 3);
	build(&tt_options);
	all_reach_all();
	for (uint32_t ca = 5; ca < 8; ca++)
		used[fab_lft_get(&seg, 1, lid_of(ca))]++;
	for (uint32_t port = 1; port <= 3; port++)
		assert_int_equal(used[port], 1);
}

static void a_short_ring_has_the_shortest_ways(void **state)
{
	tt_ring(&topo, 3, 2);
	build(&tt_options);
	all_reach_all();
	assert_false(may_block());
	assert_int_equal(fab_subnet(&seg)->sm_updn, 0);
}

static void a_ring_goes_up_and_down(void **state)
{
	tt_ring(&topo, 6, 2);
	build(&tt_options);
	all_reach_all();
	assert_false(may_block());
	assert_int_equal(fab_subnet(&seg)->sm_updn, 1);
}

static void tori_go_up_and_down(void **state)
{
	tt_torus(&topo, 4, 4, 1, 1);
	build(&tt_options);
	all_reach_all();
	assert_false(may_block());
	assert_int_equal(fab_subnet(&seg)->sm_updn, 1);
	drop(NULL);
	tt_torus(&topo, 3, 3, 3, 1);
	build(&tt_options);
	all_reach_all();
	assert_false(may_block());
}

static void a_ring_without_adapters_in_the_middle_of_nothing(void **state)
{
	tt_ring(&topo, 8, 0);
	build(&tt_options);
	all_reach_all();
	assert_int_equal(fab_subnet(&seg)->sm_updn, 0); /* no switch could block */
}

/* Random switches, with twice as many cables as a tree. */
static void any_shape_is_reachable_and_does_not_block(void **state)
{
	uint32_t r = 1;

	for (int round = 0; round < 8; round++) {
		uint32_t n = 12;

		tt_init(&topo, 3 * n);
		for (uint32_t i = 0; i < n; i++) {
			tt_switch(&topo);
			r = r * 1664525 + 1013904223;
			if (i)
				tt_cable(&topo, i, (r >> 8) % i);
		}
		for (uint32_t i = 0; i < n; i++) {
			uint32_t to;

			r = r * 1664525 + 1013904223;
			to = (r >> 8) % n;
			if (to != i)
				tt_cable(&topo, i, to);
		}
		for (uint32_t i = 0; i < 2 * n; i++)
			tt_ca(&topo, i % n);
		build(&tt_options);
		all_reach_all();
		assert_false(may_block());
		drop(NULL);
	}
	tt_init(&topo, 1);
}

static void parts_without_a_way_come_up_each_for_itself(void **state)
{
	tt_init(&topo, 7);
	tt_switch(&topo);
	tt_switch(&topo);
	for (uint32_t i = 0; i < 4; i++)
		tt_ca(&topo, i / 2);
	tt_node(&topo, TOPO_CA, 1);
	build(&tt_options);
	assert_int_equal(hops(2, 3), 2);
	assert_int_equal(hops(4, 5), 2);
	assert_int_equal(hops(2, 4), 0);
	assert_int_equal(hw_port(&seg, port_of(4, 1))->state, IB_PORT_ACTIVE);
	assert_int_equal(hw_port(&seg, port_of(6, 1))->state, IB_PORT_DOWN);
	assert_int_equal(lid_of(6), 0);
}

static void two_adapters_need_no_switch(void **state)
{
	tt_init(&topo, 2);
	tt_node(&topo, TOPO_CA, 1);
	tt_ca(&topo, 0);
	build(&tt_options);
	assert_int_equal(lid_of(0), 1);
	assert_int_equal(lid_of(1), 2);
	assert_int_equal(hops(0, 1), 1);
	assert_int_equal(hops(1, 0), 1);
}

static void nothing_at_all_is_a_subnet_too(void **state)
{
	tt_init(&topo, 1);
	tt_node(&topo, TOPO_CA, 1);
	build(&tt_options);
	assert_int_equal(fab_subnet(&seg)->sm_port, SEG_NONE);
}

/* ---- LIDs */

static void wanted_lids_are_kept_and_the_second_of_two_equal_ones_is_not(void **state)
{
	tt_ring(&topo, 1, 0);
	tt_free(&topo);
	tt_init(&topo, 5);
	tt_switch(&topo);
	for (uint32_t i = 0; i < 4; i++)
		topo.t.node[tt_ca(&topo, 0)].port[1].lid = (uint32_t[]){7, 7, 1, FAB_LIDS}[i];
	topo.t.node[0].port[0].lid = 100;
	build(&tt_options);
	assert_int_equal(lid_of(0), 100);
	assert_int_equal(lid_of(1), 7);
	assert_int_equal(lid_of(2), 2);
	assert_int_equal(lid_of(3), 1);
	assert_int_equal(lid_of(4), 3);
	assert_int_equal(fab_switch(&seg, 1)->linear_top, 100);
	all_reach_all();
}

static void a_port_may_have_many_lids(void **state)
{
	uint32_t a, b, used[3] = {0};

	tt_init(&topo, 5);
	tt_switch(&topo);
	tt_switch(&topo);
	tt_cable(&topo, 0, 1);
	tt_cable(&topo, 0, 1);
	a = tt_ca(&topo, 0);
	b = tt_ca(&topo, 1);
	tt_ca(&topo, 1);
	topo.t.node[b].port[1].lmc = 2;
	build(&tt_options);
	assert_int_equal(lid_of(b) % 4, 0);
	for (uint32_t k = 0; k < 4; k++) {
		assert_int_equal(fab_route(&seg, port_of(a, 1), lid_of(b) + k), port_of(b, 1));
		used[fab_lft_get(&seg, 1, lid_of(b) + k)]++;
	}
	assert_int_equal(used[1], 2);
	assert_int_equal(used[2], 2);
	all_reach_all();
}

static void lids_that_are_used_up_are_an_error(void **state)
{
	tt_init(&topo, 4);
	tt_switch(&topo);
	for (uint32_t i = 0; i < 3; i++)
		topo.t.node[tt_ca(&topo, 0)].port[1].lmc = 7;
	build(&tt_options);
	for (uint32_t i = 0; i < 3; i++)
		((struct hw_port *)seg_at(&seg, SEG_T_PORT, port_of(i + 1, 1)))->lmc = 15;
	seg_for_each_live (&seg, SEG_T_PORT, i)
		((struct hw_port *)seg_at(&seg, SEG_T_PORT, i))->lid = 0;
	assert_int_equal(fab_sm_sweep(&seg), -ENOSPC);
}

/* ---- changes */

static void ways_avoid_a_cable_that_was_pulled(void **state)
{
	uint32_t lid;

	tt_ring(&topo, 4, 1);
	build(&tt_options);
	lid = lid_of(5);
	fab_sm_sweep(&seg);
	assert_int_equal(fab_subnet(&seg)->sm_dirty, 0);
	/* the first cable, between the first two switches */
	assert_int_equal(fab_unplug(&seg, port_of(0, 1)), 0);
	assert_int_equal(fab_subnet(&seg)->sm_dirty, 1);
	assert_int_equal(fab_sm_sweep(&seg), 0);
	all_reach_all();
	assert_int_equal(hops(4, 5), 5);
	assert_int_equal(lid_of(5), lid);
	assert_int_equal(fab_subnet(&seg)->sm_updn, 0); /* a row of switches has no cycle */
	assert_int_equal(fab_plug(&seg, port_of(0, 1), port_of(1, 1)), 0);
	assert_int_equal(hw_port(&seg, port_of(0, 1))->state, IB_PORT_INIT);
	assert_int_equal(fab_sm_sweep(&seg), 0);
	assert_int_equal(hw_port(&seg, port_of(0, 1))->state, IB_PORT_ACTIVE);
	all_reach_all();
	assert_int_equal(hops(4, 5), 3);
}

static void an_adapter_that_comes_back_has_its_lid(void **state)
{
	uint32_t lid, sw;

	tt_ring(&topo, 1, 0);
	tt_free(&topo);
	tt_init(&topo, 5);
	tt_switch(&topo);
	tt_ca(&topo, 0);
	tt_ca(&topo, 0);
	tt_node(&topo, TOPO_CA, 1);
	build(&tt_options);
	lid = lid_of(2);
	sw = hw_port(&seg, port_of(2, 1))->peer;
	assert_int_equal(fab_unplug(&seg, port_of(2, 1)), 0);
	assert_int_equal(fab_sm_sweep(&seg), 0);
	assert_int_equal(fab_lft_get(&seg, 1, lid), FAB_LFT_NONE);
	assert_int_equal(hops(1, 2), 0);
	/* Another adapter in its place gets another LID. */
	assert_int_equal(fab_plug(&seg, port_of(3, 1), sw), 0);
	assert_int_equal(fab_sm_sweep(&seg), 0);
	assert_int_not_equal(lid_of(3), lid);
	assert_int_equal(hops(1, 3), 2);
	assert_int_equal(fab_unplug(&seg, sw), 0);
	assert_int_equal(fab_plug(&seg, port_of(2, 1), sw), 0);
	assert_int_equal(fab_sm_sweep(&seg), 0);
	assert_int_equal(lid_of(2), lid);
	assert_int_equal(hops(1, 2), 2);
}

static void the_manager_moves_when_its_link_is_gone(void **state)
{
	struct hw_port *p;

	tt_ring(&topo, 2, 1);
	build(&tt_options);
	p = seg_at(&seg, SEG_T_PORT, port_of(2, 1));
	assert_int_equal(fab_subnet(&seg)->sm_port, port_of(2, 1));
	assert_int_equal(p->cap_mask & 2, 2);
	assert_int_equal(fab_unplug(&seg, port_of(2, 1)), 0);
	assert_int_equal(fab_sm_sweep(&seg), 0);
	assert_int_equal(p->cap_mask & 2, 0);
	assert_int_equal(fab_subnet(&seg)->sm_port, port_of(3, 1));
	assert_int_equal(hw_port(&seg, port_of(3, 1))->cap_mask & 2, 2);
	assert_int_equal(hw_port(&seg, port_of(3, 1))->sm_lid, lid_of(3));
}

/* Without a link of an adapter the manager runs on a switch, and only as long as that. */
static void the_manager_leaves_a_switch_for_an_adapter(void **state)
{
	uint32_t sm, own, far;

	tt_ring(&topo, 2, 1);
	build(&tt_options);
	assert_int_equal(fab_unplug(&seg, port_of(2, 1)), 0);
	assert_int_equal(fab_unplug(&seg, port_of(3, 1)), 0);
	assert_int_equal(fab_sm_sweep(&seg), 0);
	sm = fab_subnet(&seg)->sm_port;
	own = fab_node(&seg, 1)->port0;
	assert_int_equal(sm, own);
	assert_int_equal(hw_port(&seg, sm)->cap_mask & FAB_CAP_IS_SM, FAB_CAP_IS_SM);
	far = port_of(1, 3);
	assert_int_equal(fab_plug(&seg, port_of(3, 1), far), 0);
	assert_int_equal(fab_sm_sweep(&seg), 0);
	assert_int_equal(fab_subnet(&seg)->sm_port, port_of(3, 1));
	assert_int_equal(hw_port(&seg, own)->cap_mask & FAB_CAP_IS_SM, 0);
	assert_int_equal(hw_port(&seg, port_of(3, 1))->cap_mask & FAB_CAP_IS_SM, FAB_CAP_IS_SM);
	assert_int_equal(hw_port(&seg, port_of(3, 1))->sm_lid, lid_of(3));
	/* It does not leave an adapter for another one: all ports would get another SM's LID. */
	assert_int_equal(fab_plug(&seg, port_of(2, 1), port_of(0, 3)), 0);
	assert_int_equal(fab_sm_sweep(&seg), 0);
	assert_int_equal(fab_subnet(&seg)->sm_port, port_of(3, 1));
}

static void without_a_manager_ports_stay_in_init(void **state)
{
	struct fab_options o = tt_options;

	o.no_sm = 1;
	tt_ring(&topo, 2, 1);
	build(&o);
	assert_int_equal(fab_sm_sweep(&seg), 0);
	assert_int_equal(hw_port(&seg, port_of(2, 1))->state, IB_PORT_INIT);
	assert_int_equal(lid_of(2), 0);
}

static void the_smaller_mtu_of_a_cable_counts(void **state)
{
	struct hw_port *a, *b;

	tt_init(&topo, 2);
	tt_node(&topo, TOPO_CA, 1);
	tt_node(&topo, TOPO_CA, 1);
	build(&tt_options);
	a = seg_at(&seg, SEG_T_PORT, port_of(0, 1));
	b = seg_at(&seg, SEG_T_PORT, port_of(1, 1));
	b->max_mtu = IBV_MTU_2048;
	assert_int_equal(fab_plug(&seg, port_of(0, 1), port_of(1, 1)), 0);
	assert_int_equal(fab_sm_sweep(&seg), 0);
	assert_int_equal(a->active_mtu, IBV_MTU_2048);
	assert_int_equal(b->active_mtu, IBV_MTU_2048);
}

/* ---- another manager */

static uint32_t ask(uint32_t port, uint32_t method, uint32_t mod, uint8_t *out)
{
	uint8_t in[MAD_SIZE] = {0};

	LAYOUT_SET(mad_hdr, in, base_version, 1);
	LAYOUT_SET(mad_hdr, in, mgmt_class, MAD_CLASS_SUBN_LID);
	LAYOUT_SET(mad_hdr, in, class_version, 1);
	LAYOUT_SET(mad_hdr, in, method, method);
	LAYOUT_SET(mad_hdr, in, attr_id, SMP_ATTR_SM_INFO);
	LAYOUT_SET(mad_hdr, in, attr_mod, mod);
	memset(out, 0, MAD_SIZE);
	return fab_mad(&seg, port, 1, in, out);
}

static void sminfo_is_a_masters_at_its_port_only(void **state)
{
	uint8_t out[MAD_SIZE];
	uint32_t sm;
	uint64_t count;

	tt_ring(&topo, 2, 1);
	build(&tt_options);
	sm = fab_subnet(&seg)->sm_port;
	assert_int_equal(ask(port_of(3, 1), MAD_METHOD_GET, 0, out), FAB_MAD_PASS);
	assert_int_equal(ask(sm, MAD_METHOD_GET, 0, out), FAB_MAD_REPLY);
	assert_int_equal(LAYOUT_GET(mad_hdr, out, status), 0);
	assert_int_equal(LAYOUT_GET(mad_hdr, out, method), MAD_METHOD_GET_RESP);
	assert_int_equal(LAYOUT_GET(sm_info, out + SMP_DATA, guid), hw_port(&seg, sm)->guid);
	assert_int_equal(LAYOUT_GET(sm_info, out + SMP_DATA, sm_state), 3);
	assert_int_equal(LAYOUT_GET(sm_info, out + SMP_DATA, priority), 0);
	count = LAYOUT_GET(sm_info, out + SMP_DATA, act_count);
	ask(sm, MAD_METHOD_GET, 0, out);
	assert_true(LAYOUT_GET(sm_info, out + SMP_DATA, act_count) > count);
	/* IBA 14.4.1: a master accepts only HANDOVER and ACKNOWLEDGE */
	ask(sm, MAD_METHOD_SET, 3, out);
	assert_int_equal(LAYOUT_GET(mad_hdr, out, status), MAD_STATUS_BAD_VALUE);
	ask(sm, MAD_METHOD_SET, 2, out);
	assert_int_equal(LAYOUT_GET(mad_hdr, out, status), 0);
	assert_true(fab_sm_here(&seg, sm));
	/* answers to other requests are for the host's agents */
	assert_int_equal(ask(sm, MAD_METHOD_GET_RESP, 0, out), FAB_MAD_PASS);
	/* no other manager can take the subnet */
	assert_int_equal(ask(sm, MAD_METHOD_SET, 1, out), FAB_MAD_REPLY);
	assert_int_equal(LAYOUT_GET(mad_hdr, out, status), MAD_STATUS_BAD_VALUE);
	assert_true(fab_sm_here(&seg, sm));
	hw_port(&seg, port_of(3, 1))->cap_mask |= FAB_CAP_IS_SM;
	assert_int_equal(ask(sm, MAD_METHOD_SET, 1, out), FAB_MAD_REPLY);
	assert_int_equal(LAYOUT_GET(mad_hdr, out, status), 0);
	assert_false(fab_sm_here(&seg, sm));
	assert_int_equal(ask(sm, MAD_METHOD_GET, 0, out), FAB_MAD_PASS);
	assert_int_equal(hw_port(&seg, sm)->cap_mask & FAB_CAP_IS_SM, 0);
}

/* MADs reach a switch by any of its ports. */
static void a_manager_on_a_switch_answers(void **state)
{
	uint8_t out[MAD_SIZE];
	uint32_t sm;

	tt_ring(&topo, 2, 1);
	build(&tt_options);
	fab_unplug(&seg, port_of(2, 1));
	fab_unplug(&seg, port_of(3, 1));
	assert_int_equal(fab_sm_sweep(&seg), 0);
	sm = fab_subnet(&seg)->sm_port;
	for (uint32_t num = 0; num < 3; num++) {
		assert_true(fab_sm_here(&seg, sm + num));
		assert_int_equal(ask(sm + num, MAD_METHOD_GET, 0, out), FAB_MAD_REPLY);
		assert_int_equal(LAYOUT_GET(mad_hdr, out, status), 0);
		assert_int_equal(LAYOUT_GET(sm_info, out + SMP_DATA, guid),
				 hw_port(&seg, sm)->guid);
		assert_int_equal(ask(sm + num, MAD_METHOD_TRAP, 0, out), FAB_MAD_REPLY);
		assert_int_equal(LAYOUT_GET(mad_hdr, out, method), MAD_METHOD_TRAP_REPRESS);
	}
	assert_int_equal(ask(port_of(1, 1), MAD_METHOD_GET, 0, out), FAB_MAD_PASS);
}

static void the_manager_leaves_for_programs_and_comes_back_after_the_last(void **state)
{
	uint32_t sm, other, lid;

	tt_ring(&topo, 2, 1);
	build(&tt_options);
	sm = fab_subnet(&seg)->sm_port;
	other = port_of(3, 1);
	fab_issm_set(&seg, other, true);
	assert_int_equal(hw_port(&seg, sm)->cap_mask & FAB_CAP_IS_SM, 0);
	assert_int_equal(hw_port(&seg, other)->cap_mask & FAB_CAP_IS_SM, FAB_CAP_IS_SM);
	fab_issm_set(&seg, sm, true);
	/* The built-in SM does nothing now; the other manager's settings stay. */
	assert_int_equal(fab_unplug(&seg, other), 0);
	assert_int_equal(fab_subnet(&seg)->sm_dirty, 0);
	assert_int_equal(fab_plug(&seg, other, port_of(1, 3)), 0);
	assert_int_equal(fab_sm_sweep(&seg), 0);
	assert_int_equal(hw_port(&seg, other)->state, IB_PORT_INIT);
	lid = 77;
	hw_port(&seg, other)->lid = lid;
	fab_issm_set(&seg, other, false);
	assert_false(fab_sm_here(&seg, sm));
	fab_issm_set(&seg, sm, false);
	assert_true(fab_sm_here(&seg, sm));
	assert_int_equal(fab_subnet(&seg)->sm_dirty, 1);
	assert_int_equal(fab_sm_sweep(&seg), 0);
	assert_int_equal(hw_port(&seg, other)->state, IB_PORT_ACTIVE);
	assert_int_equal(hw_port(&seg, other)->lid, lid);
	assert_int_equal(hw_port(&seg, sm)->cap_mask & FAB_CAP_IS_SM, FAB_CAP_IS_SM);
	all_reach_all();
}

/* The lock's holder looks like a stopped process: nothing is known of it. */
static void a_stopped_holder_of_the_lock_is_not_waited_for(void **state)
{
	long start = test_sleeps();
	struct fab_subnet *sub;
	uint32_t sm, other;

	tt_ring(&topo, 2, 1);
	build(&tt_options);
	sub = fab_subnet(&seg);
	sm = sub->sm_port;
	other = port_of(3, 1);
	fab_unplug(&seg, other);
	fab_plug(&seg, other, port_of(1, 3));
	assert_int_equal(sub->sm_dirty, 1);
	sub->lock.word = 1;
	assert_int_equal(fab_sm_sweep(&seg), -ETIMEDOUT);
	assert_int_equal(sub->sm_dirty, 1); /* the sweep is still to be made */
	fab_issm_set(&seg, other, true);
	assert_false(fab_issm_retry(&seg));
	assert_true(fab_sm_here(&seg, sm));
	assert_true(test_sleeps() - start < TEST_SHORT);
	sub->lock.word = 0;
	assert_true(fab_issm_retry(&seg));
	assert_false(fab_sm_here(&seg, sm));
	assert_int_equal(hw_port(&seg, other)->cap_mask & FAB_CAP_IS_SM, FAB_CAP_IS_SM);
	/* on and off again before it could be handled */
	sub->lock.word = 1;
	fab_issm_set(&seg, other, false);
	fab_issm_set(&seg, other, true);
	sub->lock.word = 0;
	assert_true(fab_issm_retry(&seg));
	assert_int_equal(hw_port(&seg, other)->cap_mask & FAB_CAP_IS_SM, FAB_CAP_IS_SM);
}

static void a_trap_to_the_manager_is_not_repeated(void **state)
{
	uint8_t out[MAD_SIZE];

	tt_ring(&topo, 2, 1);
	build(&tt_options);
	assert_int_equal(ask(fab_subnet(&seg)->sm_port, MAD_METHOD_TRAP, 0, out), FAB_MAD_REPLY);
	assert_int_equal(LAYOUT_GET(mad_hdr, out, method), MAD_METHOD_TRAP_REPRESS);
}

#define T(f) cmocka_unit_test_teardown(f, drop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_tree_has_the_shortest_ways),
		T(a_tree_of_three_levels_has_the_shortest_ways),
		T(ways_are_spread_over_cables),
		T(cables_side_by_side_share_the_ways),
		T(a_short_ring_has_the_shortest_ways),
		T(a_ring_goes_up_and_down),
		T(tori_go_up_and_down),
		T(a_ring_without_adapters_in_the_middle_of_nothing),
		T(any_shape_is_reachable_and_does_not_block),
		T(parts_without_a_way_come_up_each_for_itself),
		T(two_adapters_need_no_switch),
		T(nothing_at_all_is_a_subnet_too),
		T(wanted_lids_are_kept_and_the_second_of_two_equal_ones_is_not),
		T(a_port_may_have_many_lids),
		T(lids_that_are_used_up_are_an_error),
		T(ways_avoid_a_cable_that_was_pulled),
		T(an_adapter_that_comes_back_has_its_lid),
		T(the_manager_leaves_a_switch_for_an_adapter),
		T(a_manager_on_a_switch_answers),
		T(the_manager_moves_when_its_link_is_gone),
		T(without_a_manager_ports_stay_in_init),
		T(the_smaller_mtu_of_a_cable_counts),
		T(sminfo_is_a_masters_at_its_port_only),
		T(the_manager_leaves_for_programs_and_comes_back_after_the_last),
		T(a_stopped_holder_of_the_lock_is_not_waited_for),
		T(a_trap_to_the_manager_is_not_repeated),
	};

	return cmocka_run_group_tests_name("sm", tests, NULL, NULL);
}
