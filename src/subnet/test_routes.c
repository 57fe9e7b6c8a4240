/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Forwarding tables of shortest paths, beside those of a slow and plain search: one switch after
 * the other, after any cables have gone and come back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "fabric/test_topo.h"
#include "hw/port.h"
#include "subnet/sma.h"
#include "subnet/subnet.h"

#define SWITCHES 200
#define PORTS 64

static struct seg seg;
static struct tt topo;
static uint32_t nodes[SWITCHES], nsw;
static uint32_t tier[SWITCHES], nth[SWITCHES];
static struct fab_sm_kept kept;
static uint32_t hops[SWITCHES];
static uint8_t want[SWITCHES][1 << 12];
static uint32_t random_state;

static uint32_t any(uint32_t n)
{
	random_state = random_state * 1664525 + 1013904223;
	return (random_state >> 8) % n;
}

static uint32_t number(uint32_t node)
{
	for (uint32_t i = 0; i < nsw; i++)
		if (nodes[i] == node)
			return i;
	return SWITCHES;
}

/* The switch behind a port; SWITCHES: there is none. */
static uint32_t behind[SWITCHES][PORTS];
/* LIDs of the adapters at a switch. */
static uint32_t lids[SWITCHES][PORTS], nlids[SWITCHES];

static void look(void)
{
	memset(nlids, 0, sizeof(nlids));
	memset(behind, 0xff, sizeof(behind));
	seg_for_each_live (&seg, SEG_T_PORT, i) {
		const struct hw_port *p = hw_port(&seg, i);
		uint32_t peer = fab_peer(&seg, i), at;

		if (peer == SEG_NONE)
			continue;
		at = number(hw_port(&seg, peer)->node);
		if (fab_node(&seg, p->node)->type == FAB_SWITCH)
			behind[number(p->node)][p->num] = at;
		else
			lids[at][nlids[at]++] = p->lid;
	}
}

static void distances(uint32_t to)
{
	uint32_t queue[SWITCHES], head = 0, tail = 0;

	memset(hops, 0xff, sizeof(hops));
	hops[to] = 0;
	queue[tail++] = to;
	for (; head < tail; head++) {
		uint32_t i = queue[head];

		for (uint32_t p = 1; p <= fab_node(&seg, nodes[i])->nports; p++) {
			uint32_t n = behind[i][p];

			if (n >= SWITCHES || hops[n] != UINT32_MAX)
				continue;
			hops[n] = hops[i] + 1;
			queue[tail++] = n;
		}
	}
}

/* The ports of shortest paths to the measured switch. */
static uint32_t choices(uint32_t from, uint32_t *port)
{
	uint32_t n = 0;

	for (uint32_t p = 1; p <= fab_node(&seg, nodes[from])->nports; p++) {
		uint32_t next = behind[from][p];

		if (next < SWITCHES && hops[from] != UINT32_MAX && hops[next] + 1 == hops[from])
			port[n++] = p;
	}
	return n;
}

/* Distances to the switches with adapters, and the numbers of these. */
static void find_tiers(void)
{
	uint32_t n = 0, others = 0;

	memset(tier, 0, sizeof(tier));
	for (uint32_t from = 0; from < nsw; from++) {
		nth[from] = nlids[from] ? n++ : others++;
		if (nlids[from])
			continue;
		tier[from] = UINT32_MAX;
		distances(from);
		for (uint32_t to = 0; to < nsw; to++)
			if (nlids[to] && hops[to] < tier[from])
				tier[from] = hops[to];
		if (tier[from] == UINT32_MAX)
			tier[from] = 0;
	}
}

static void lead(uint32_t lid, uint32_t from, const uint32_t *port, uint32_t n, uint32_t *turn)
{
	want[from][lid] = n ? (uint8_t)port[*turn] : FAB_LFT_NONE;
	if (n)
		*turn = (*turn + 1) % n;
}

/* The model has no paths of a switch to its own ends. */
static bool own(uint32_t sw, uint32_t lid)
{
	bool is = hw_port(&seg, fab_node(&seg, nodes[sw])->port0)->lid == lid;

	for (uint32_t i = 0; i < nlids[sw]; i++)
		is = is || lids[sw][i] == lid;
	return is;
}

static void route_to(uint32_t to)
{
	distances(to);
	for (uint32_t from = 0; from < nsw; from++) {
		uint32_t port[PORTS], n = choices(from, port), turn = 0;

		if (from == to)
			continue;
		turn = nth[to];
		for (uint32_t k = 0; n > 1 && k < tier[from]; k++)
			turn /= n;
		turn = n ? turn % n : 0;
		for (uint32_t i = 0; i < nlids[to]; i++)
			lead(lids[to][i], from, port, n, &turn);
		lead(hw_port(&seg, fab_node(&seg, nodes[to])->port0)->lid, from, port, n, &turn);
	}
}

static void compare(void)
{
	assert_int_equal(fab_sm_sweep_kept(&seg, &kept), 0);
	if (fab_subnet(&seg)->sm_updn)
		return;
	look();
	find_tiers();
	memset(want, FAB_LFT_NONE, sizeof(want));
	for (uint32_t to = 0; to < nsw; to++)
		route_to(to);
	for (uint32_t i = 0; i < nsw; i++)
		for (uint32_t lid = 1; lid < sizeof(want[i]); lid++)
			if (!own(i, lid))
				assert_int_equal(
					fab_lft_get(&seg, fab_node(&seg, nodes[i])->sw, lid),
					want[i][lid]);
}

static void build(void)
{
	memset(&seg, 0, sizeof(seg));
	assert_int_equal(seg_create(&seg, "test"), 0);
	assert_int_equal(fab_build(&seg, &topo.t, &tt_options), 0);
	nsw = 0;
	seg_for_each_live (&seg, SEG_T_NODE, i)
		if (fab_node(&seg, i)->type == FAB_SWITCH)
			nodes[nsw++] = i;
	assert_true(nsw <= SWITCHES);
}

static int drop(void **state)
{
	fab_sm_forget(&kept);
	seg_unmap(&seg);
	tt_free(&topo);
	return 0;
}

/* Pull cables between switches and of adapters, a few at a time, and plug them again. */
static void pull(uint32_t seed)
{
	uint32_t pulled[3], peer[3];

	random_state = seed;
	compare();
	for (uint32_t round = 0; round < 4; round++) {
		uint32_t n = 1 + any(3);

		for (uint32_t k = 0; k < n; k++) {
			do {
				pulled[k] = 1 + any(seg_table(&seg, SEG_T_PORT)->high - 1);
				peer[k] = hw_port(&seg, pulled[k]) ? fab_peer(&seg, pulled[k])
								   : SEG_NONE;
			} while (peer[k] == SEG_NONE);
			assert_int_equal(fab_unplug(&seg, pulled[k]), 0);
		}
		compare();
		for (uint32_t k = 0; k < n; k++)
			assert_int_equal(fab_plug(&seg, pulled[k], peer[k]), 0);
		compare();
	}
}

static void two_levels(void **state)
{
	tt_tree2(&topo, 3, 5, 4);
	build();
	pull(1);
}

/* A search covers 64 switches at a time (wave.h); here are more. */
static void three_levels(void **state)
{
	tt_tree3(&topo, 4, 9, 8);
	build();
	assert_true(nsw > 64);
	pull(2);
}

/* Another manager's change is undone although no cable and no LID has changed. */
static void changed_by_another(void **state)
{
	uint8_t block[64] = {0};
	struct fab_mad_call call = {.s = &seg, .data = block};

	tt_tree2(&topo, 3, 5, 4);
	build();
	compare();
	call.port = fab_node(&seg, nodes[0])->port0;
	assert_int_equal(sma_get_lft(&call), MAD_STATUS_OK);
	block[1] ^= 1;
	assert_int_equal(sma_set_lft(&call), MAD_STATUS_OK);
	compare();
	compare();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(two_levels, drop),
		cmocka_unit_test_teardown(three_levels, drop),
		cmocka_unit_test_teardown(changed_by_another, drop),
	};

	return cmocka_run_group_tests_name("routes", tests, NULL, NULL);
}
