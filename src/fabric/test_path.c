/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Paths that are found, cached, and not used any more after a change. */
#include "fabric/test_net.h"
#include "fabric/test_topo.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fabric/count.h"
#include "fabric/path.h"
#include "hw/hca.h"
#include "hw/port.h"
#include "subnet/subnet.h"

static void a_way_names_its_ports(void **state)
{
	struct fab_path p;

	for (uint32_t i = 0; i < 2; i++) { /* first found, then from the cache */
		fab_path(&net, net_port(H1, 1), net_lid(H2), &p);
		assert_int_equal(p.to, net_port(H2, 1));
		assert_int_equal(p.lost, FAB_ARRIVES);
		assert_int_equal(p.mtu, 4096);
		assert_int_equal(p.n, 4);
		assert_int_equal(p.more, 0);
		assert_int_equal(p.enforce, 0);
		assert_int_equal(p.cable[0].out, net_port(H1, 1));
		assert_int_equal(p.cable[0].in, net_port(S0, 1));
		assert_int_equal(p.cable[3].out, net_port(S2, 2));
		assert_int_equal(p.cable[3].in, net_port(H2, 1));
	}
	assert_true(fab_path_passes(&net, &p, &(struct fab_pkts){.payload = 4096}));
	assert_false(fab_path_passes(&net, &p, &(struct fab_pkts){.payload = 4097}));
}

static uint32_t to_h2(void)
{
	return fab_route(&net, net_port(H1, 1), net_lid(H2));
}

static void no_change_meets_an_old_way(void **state)
{
	uint32_t h2 = net_port(H2, 1), sw = fab_node(&net, S1)->sw;
	uint32_t port = fab_lft_get(&net, sw, net_lid(H2));

	assert_int_equal(to_h2(), h2);
	assert_int_equal(fab_port_set_state(&net, net_port(S1, 2), IB_PORT_INIT), 0);
	assert_int_equal(to_h2(), SEG_NONE);
	assert_int_equal(fab_port_set_state(&net, net_port(S1, 2), IB_PORT_ACTIVE), 0);
	assert_int_equal(to_h2(), h2);
	fab_lft_set(&net, sw, net_lid(H2), FAB_LFT_NONE);
	fab_moved(&net);
	assert_int_equal(to_h2(), SEG_NONE);
	fab_lft_set(&net, sw, net_lid(H2), port);
	fab_moved(&net);
	assert_int_equal(to_h2(), h2);
	hw_port(&net, h2)->lid = 99;
	fab_port_changed(&net, h2, FAB_CHANGED_LID);
	/* no table has this LID */
	assert_int_equal(fab_route(&net, net_port(H1, 1), 99), SEG_NONE);
	assert_int_equal(fab_sm_sweep(&net), 0);
	assert_int_equal(to_h2(), h2);
}

static void nor_one_that_another_process_has_made(void **state)
{
	int status;
	pid_t pid;

	assert_int_equal(to_h2(), net_port(H2, 1));
	pid = fork();
	if (!pid)
		_exit(to_h2() != net_port(H2, 1) || fab_unplug(&net, net_port(S2, 2)));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(to_h2(), SEG_NONE);
}

/* More paths than the cache holds, from threads that overwrite each other's. */
#define MANY_LIDS 3000
static void *many_ways(void *arg)
{
	uint32_t from = net_port(H1, 1);
	uintptr_t wrong = 0;

	for (uint32_t i = 0; i < 20 * MANY_LIDS; i++) {
		uint32_t lid = i * 7 % MANY_LIDS;
		struct fab_path p;

		fab_path(&net, from, lid, &p);
		wrong += p.dlid != lid || p.from != from ||
			 p.to != (lid == net_lid(H1)   ? from
				  : lid == net_lid(H2) ? net_port(H2, 1)
				  : lid == net_lid(S0) ? net_port(S0, 0)
				  : lid == net_lid(S1) ? net_port(S1, 0)
				  : lid == net_lid(S2) ? net_port(S2, 0)
						       : SEG_NONE);
		wrong += p.to == net_port(H2, 1) && p.cable[3].in != p.to;
	}
	return (void *)wrong;
}

static void threads_do_not_mix_ways_up(void **state)
{
	pthread_t t[3];

	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&t[i], NULL, many_ways, NULL), 0);
	for (uint32_t i = 0; i < 3; i++) {
		void *wrong;

		assert_int_equal(pthread_join(t[i], &wrong), 0);
		assert_null(wrong);
	}
}

static void what_a_switch_does_not_know(void **state)
{
	uint32_t sw = fab_node(&net, S0)->sw;
	struct fab_path p;

	fab_path(&net, net_port(H1, 1), 4711, &p);
	assert_int_equal(p.lost, FAB_LOST_RELAY);
	assert_int_equal(p.n, 1);
	fab_path(&net, net_port(H1, 1), 0xffff, &p);
	assert_int_equal(p.lost, FAB_LOST_RELAY);
	/* The table names a port that the switch does not have. */
	fab_lft_set(&net, sw, net_lid(H2), NET_PORTS + 1);
	fab_moved(&net);
	fab_path(&net, net_port(H1, 1), net_lid(H2), &p);
	assert_int_equal(p.lost, FAB_LOST_RELAY);
	/* The table names the switch itself, which has another LID. */
	fab_lft_set(&net, sw, net_lid(H2), 0);
	fab_moved(&net);
	fab_path(&net, net_port(H1, 1), net_lid(H2), &p);
	assert_int_equal(p.lost, FAB_LOST_AWAY);
	/* The table leads to an adapter that has another LID. */
	fab_lft_set(&net, sw, net_lid(S2), 1);
	fab_moved(&net);
	fab_path(&net, net_port(S1, 0), net_lid(S2), &p);
	assert_int_equal(p.to, net_port(S2, 0));
	fab_lft_set(&net, fab_node(&net, S1)->sw, net_lid(S2), 1);
	fab_moved(&net);
	fab_path(&net, net_port(S1, 0), net_lid(S2), &p);
	assert_int_equal(p.lost, FAB_LOST_AWAY);
	assert_int_equal(p.n, 2);
}

static void nothing_leaves_a_port_that_is_down(void **state)
{
	struct fab_path p;

	assert_int_equal(fab_port_set_state(&net, net_port(H1, 1), IB_PORT_DOWN), 0);
	fab_path(&net, net_port(H1, 1), net_lid(H2), &p);
	assert_int_equal(p.lost, FAB_LOST_UNSENT);
	fab_path_count(&net, &p, &(struct fab_pkts){.n = 1, .words = 10});
	assert_int_equal(fab_counted(&net, net_port(H1, 1), HW_CTR_XMIT_PKTS), 0);
	assert_int_equal(fab_counted(&net, net_port(H1, 1), HW_CTR_XMIT_DISCARDS), 0);
	fab_path(&net, net_port(H2, 1), net_lid(S1), &p);
	assert_int_equal(p.to, net_port(S1, 0));
	fab_path(&net, SEG_NONE, 1, &p);
	assert_int_equal(p.lost, FAB_LOST_UNSENT);
}

static void inside_the_adapter(void **state)
{
	struct fab_path p;

	fab_path(&net, net_port(H1, 1), net_lid(H1), &p);
	assert_int_equal(p.to, p.from);
	assert_int_equal(p.n, 0);
	fab_path_count(&net, &p, &(struct fab_pkts){.n = 2, .words = 10, .multicast = true});
	assert_int_equal(fab_counted(&net, net_port(H1, 1), HW_CTR_XMIT_PKTS), 2);
	assert_int_equal(fab_counted(&net, net_port(H1, 1), HW_CTR_RCV_DATA), 10);
	assert_int_equal(fab_counted(&net, net_port(H1, 1), HW_CTR_RCV_MCAST), 2);
	assert_int_equal(fab_counted(&net, net_port(S0, 1), HW_CTR_RCV_PKTS), 0);
}

/* More cables than a cached path holds. */
static void long_ways_count_too(void **state)
{
	struct fab_path p;
	uint32_t to, from;
	struct tt b;

	tt_init(&b, 20);
	for (uint32_t i = 0; i < 18; i++)
		tt_switch(&b);
	for (uint32_t i = 0; i + 1 < 18; i++)
		tt_cable(&b, i, i + 1);
	tt_ca(&b, 0);
	tt_ca(&b, 17);
	memset(&net, 0, sizeof(net));
	assert_int_equal(seg_create(&net, "test"), 0);
	assert_int_equal(fab_build(&net, &b.t, &tt_options), 0);
	from = hw_hca(&net, 1)->port[0];
	to = hw_hca(&net, 2)->port[0];
	fab_path(&net, from, hw_port(&net, to)->lid, &p);
	assert_int_equal(p.to, to);
	assert_int_equal(p.more, 1);
	fab_path_count(&net, &p, &(struct fab_pkts){.n = 1, .words = 10});
	assert_int_equal(fab_counted(&net, to, HW_CTR_RCV_DATA), 10);
	for (uint32_t i = 1; i <= 18; i++) {
		const struct fab_node *n = fab_node(&net, i);
		uint64_t sum = 0;

		for (uint32_t k = 1; k <= n->nports; k++)
			sum += fab_counted(&net, n->port0 + k, HW_CTR_XMIT_PKTS);
		assert_int_equal(sum, 1);
	}
	tt_free(&b);
}

/* Tables may contain loops. */
static void a_loop_ends(void **state)
{
	struct fab_path p;
	struct tt b;

	tt_ring(&b, 3, 1);
	memset(&net, 0, sizeof(net));
	assert_int_equal(seg_create(&net, "test"), 0);
	assert_int_equal(fab_build(&net, &b.t, &tt_options), 0);
	for (uint32_t i = 1; i <= 3; i++) {
		const struct fab_node *n = fab_node(&net, i);

		for (uint32_t k = 1; k <= 2; k++) {
			uint32_t peer = fab_peer(&net, n->port0 + k);

			if (hw_port(&net, peer)->node == i % 3 + 1)
				fab_lft_set(&net, n->sw, 500, k);
		}
		fab_switch(&net, n->sw)->linear_top = 600;
	}
	fab_moved(&net);
	fab_path(&net, hw_hca(&net, 1)->port[0], 500, &p);
	assert_int_equal(p.to, SEG_NONE);
	tt_free(&b);
}

/* SMPs are counted where they leave; a port keeps the counts of its earlier cables. */
static void smps_are_counted_over_changing_cables(void **state)
{
	uint32_t h1 = net_port(H1, 1), s0 = net_port(S0, 1), s2 = net_port(S2, 2);
	uint64_t h1_had = fab_counted(&net, h1, HW_CTR_XMIT_PKTS);
	uint64_t s0_had = fab_counted(&net, s0, HW_CTR_RCV_PKTS);
	uint64_t s0_words = fab_counted(&net, s0, HW_CTR_RCV_DATA);

	for (int i = 0; i < 3; i++)
		fab_count_mad(&net, h1, s0, NULL);
	assert_int_equal(fab_counted(&net, h1, HW_CTR_XMIT_PKTS), h1_had + 3);
	assert_int_equal(fab_counted(&net, s0, HW_CTR_RCV_PKTS), s0_had + 3);
	assert_int_equal(fab_counted(&net, s0, HW_CTR_RCV_DATA), s0_words + 3 * FAB_MAD_WORDS);
	for (int i = 0; i < 5; i++)
		fab_count_mad(&net, s2, net_port(H2, 1), NULL);
	assert_int_equal(fab_unplug(&net, h1), 0);
	assert_int_equal(fab_unplug(&net, s2), 0);
	assert_int_equal(fab_counted(&net, s0, HW_CTR_RCV_PKTS), s0_had + 3);
	assert_int_equal(fab_plug(&net, s2, s0), 0);
	assert_int_equal(fab_counted(&net, s0, HW_CTR_RCV_PKTS), s0_had + 3);
	fab_count_mad(&net, s2, s0, NULL);
	fab_count_mad(&net, h1, s0, NULL); /* no cable is there any more */
	assert_int_equal(fab_counted(&net, s0, HW_CTR_RCV_PKTS), s0_had + 4);
	assert_int_equal(fab_counted(&net, h1, HW_CTR_XMIT_PKTS), h1_had + 4);
}

#define T(f) cmocka_unit_test_setup_teardown(f, net_managed, net_drop)
#define OWN(f) cmocka_unit_test_setup_teardown(f, NULL, net_drop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_way_names_its_ports),
		T(no_change_meets_an_old_way),
		T(nor_one_that_another_process_has_made),
		T(threads_do_not_mix_ways_up),
		T(what_a_switch_does_not_know),
		T(nothing_leaves_a_port_that_is_down),
		T(inside_the_adapter),
		T(smps_are_counted_over_changing_cables),
		OWN(long_ways_count_too),
		OWN(a_loop_ends),
	};

	return cmocka_run_group_tests_name("path", tests, NULL, NULL);
}
