/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The built-in subnet manager at size: processor time of making a subnet, and of the sweep after a
 * cable between switches has gone, and has come back; how evenly the cables of smaller subnets are
 * used (worst_load()). Beside it a checksum of all forwarding tables: two builds that route alike
 * print the same.
 *
 *	subnet [TOPOLOGY...]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <infiniband/verbs.h>

#include "hw/fab.h"
#include "subnet/subnet.h"
#include "topo/topo.h"

#define ROUNDS 5
#define LOAD_NODES 3000 /* the most nodes of a topology whose cables are counted */

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static uint64_t checksum(struct seg *s)
{
	uint64_t sum = 0xcbf29ce484222325;

	seg_for_each_live (s, SEG_T_SWITCH, i)
		for (uint32_t lid = 0; lid <= fab_switch(s, i)->linear_top; lid++)
			sum = (sum ^ fab_lft_get(s, i, lid)) * 0x100000001b3;
	return sum;
}

/*
 * Packets from each switch with adapters to each adapter: the number on the most used cable between
 * switches, divided by the mean of all such cables that carry any.
 */
static double worst_load(struct seg *s)
{
	uint64_t sum = 0, max = 0, used = 0;
	uint32_t *load = calloc(seg_table(s, SEG_T_PORT)->high, sizeof(*load));

	seg_for_each_live (s, SEG_T_PORT, a) {
		const struct hw_port *from = hw_port(s, a);
		uint32_t first = fab_peer(s, a);

		if (!load || fab_node(s, from->node)->type == FAB_SWITCH || first == SEG_NONE)
			continue;
		seg_for_each_live (s, SEG_T_PORT, b) {
			uint32_t at = first, lid = hw_port(s, b)->lid;

			if (fab_node(s, hw_port(s, b)->node)->type == FAB_SWITCH)
				continue;

			while (fab_node(s, hw_port(s, at)->node)->type == FAB_SWITCH) {
				const struct fab_node *n = fab_node(s, hw_port(s, at)->node);
				uint32_t num = fab_lft_get(s, n->sw, lid);

				if (!num || num > n->nports)
					break;
				load[n->port0 + num]++;
				at = fab_peer(s, n->port0 + num);
			}
		}
	}
	seg_for_each_live (s, SEG_T_PORT, i) {
		uint32_t peer = fab_peer(s, i);

		if (!load || !load[i] || fab_node(s, hw_port(s, peer)->node)->type != FAB_SWITCH)
			continue;
		sum += load[i];
		used++;
		max = load[i] > max ? load[i] : max;
	}
	free(load);
	return used ? (double)max * (double)used / (double)sum : 0;
}

/* The n-th cable between two switches; SEG_NONE: there are fewer. */
static uint32_t cable(struct seg *s, uint32_t n)
{
	seg_for_each_live (s, SEG_T_PORT, i) {
		uint32_t peer = fab_peer(s, i);

		if (peer == SEG_NONE || peer < i ||
		    fab_node(s, hw_port(s, i)->node)->type != FAB_SWITCH ||
		    fab_node(s, hw_port(s, peer)->node)->type != FAB_SWITCH)
			continue;
		if (!n--)
			return i;
	}
	return SEG_NONE;
}

static double sweep(struct seg *s, struct fab_sm_kept *kept)
{
	double t = cpu_ms();

	if (fab_sm_sweep_kept(s, kept))
		exit(1);
	return cpu_ms() - t;
}

static void measure(const char *spec)
{
	struct fab_sm_kept kept = {0};
	const struct fab_options o = {.model = HW_CX6,
				      .caps.link_speed = 64,
				      .caps.link_width = 2,
				      .caps.max_mtu = IBV_MTU_4096,
				      .kept = &kept};
	struct seg s = {0};
	struct topo t;
	char err[TOPO_ERR];
	double made, gone = 1e9, back = 1e9, load = 0, ms;
	uint64_t sum;

	if (topo_generate(spec, &t, err) || seg_create(&s, "bench")) {
		fprintf(stderr, "subnet: %s\n", err);
		exit(2);
	}
	made = cpu_ms();
	if (fab_build(&s, &t, &o))
		exit(1);
	made = cpu_ms() - made;
	sum = checksum(&s);
	if (t.nnodes < LOAD_NODES)
		load = worst_load(&s);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		uint32_t port = cable(&s, 7 * i), peer;

		if (port == SEG_NONE)
			break;
		peer = fab_peer(&s, port);
		fab_unplug(&s, port);
		ms = sweep(&s, &kept);
		gone = ms < gone ? ms : gone;
		sum = sum * 31 + checksum(&s);
		fab_plug(&s, port, peer);
		ms = sweep(&s, &kept);
		back = ms < back ? ms : back;
	}
	printf("%-16s %6u nodes  made %7.1f ms  cable gone %7.1f ms, back %7.1f ms  load %4.2f  "
	       "tables %016llx%s\n",
	       spec, t.nnodes, made, gone, back, load, (unsigned long long)sum,
	       fab_subnet(&s)->sm_updn ? "  up/down" : "");
	fab_sm_forget(&kept);
	seg_unmap(&s);
	topo_free(&t);
}

int main(int argc, char **argv)
{
	static char *const usual[] = {"fat-tree:2:36", "fat-tree:3:16", "fat-tree:3:26",
				      "fat-tree:3:42", "torus:8x8x8",   "ring:64"};

	if (argc > 1)
		for (int i = 1; i < argc; i++)
			measure(argv[i]);
	else
		for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
			measure(usual[i]);
	return 0;
}
