/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Generators: the number of nodes and cables, connections as documented, and the same result each
 * time.
 */
#include "topo/test.h"

#include <errno.h>

static struct topo t;

static void make(const char *spec)
{
	char err[TOPO_ERR];

	topo_free(&t);
	assert_true(topo_is_generator(spec));
	if (topo_generate(spec, &t, err) < 0)
		fail_msg("%s: %s", spec, err);
}

static int drop(void **state)
{
	topo_free(&t);
	return 0;
}

static uint32_t count(enum topo_type type)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t.nnodes; i++)
		n += t.node[i].type == type;
	return n;
}

/* Number of nodes that the first one reaches. */
static uint32_t reach(void)
{
	uint32_t *queue = calloc(t.nnodes, sizeof(*queue)), n = 1;
	bool *seen = calloc(t.nnodes, sizeof(*seen));

	seen[0] = true;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t p = 1; p <= t.node[queue[i]].nports; p++) {
			uint32_t to = t.node[queue[i]].port[p].peer_node;

			if (to != TOPO_NONE && !seen[to]) {
				seen[to] = true;
				queue[n++] = to;
			}
		}
	free(queue);
	free(seen);
	return n;
}

static const struct {
	const char *spec;
	uint32_t cas, switches;
} sizes[] = {
	{"fat-tree:1:36", 36, 1},
	{"fat-tree:2:36", 648, 54},
	{"fat-tree:2:36:100", 100, 9},
	{"fat-tree:2:4:1", 1, 2},
	{"fat-tree:3:4", 16, 20},
	{"fat-tree:4:4", 32, 56},
	{"fat-tree:3:36:1008", 1008, 164},
	{"fat-tree:3:36:5184", 5184, 738},
	{"fat-tree:3:36", 11664, 1620},
	{"fat-tree:3:36:1000", 1000, 164},
	{"fat-tree:3:8:40", 40, 12 + 12 + 8},
	{"ring:1", 1, 1},
	{"ring:2", 2, 2},
	{"ring:8", 8, 8},
	{"ring:3:5", 15, 3},
	{"star:254", 254, 1},
	{"torus:4x4", 16, 16},
	{"torus:2x3x4", 24, 24},
	{"torus:2x3x4:2", 48, 24},
	{"torus:3x2:2", 12, 6},
	{"torus:1x1x1", 1, 1},
	{"random:1:0", 1, 1},
	{"random:100:42", 100, 13},
	{"random:5000:18446744073709551615", 5000, 625},
};

static void test_sizes(void **state)
{
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		make(sizes[i].spec);
		if (count(TOPO_CA) != sizes[i].cas || count(TOPO_SWITCH) != sizes[i].switches)
			fail_msg("%s: %u HCAs, %u switches", sizes[i].spec, count(TOPO_CA),
				 count(TOPO_SWITCH));
		assert_int_equal(reach(), t.nnodes);
		assert_int_equal(t.nhosts, sizes[i].cas);
		t_round_trip(&t);
	}
}

/* The hosts' names and GUIDs are those of a fabric without a topology. */
static void test_identities(void **state)
{
	make("ring:3");
	assert_string_equal(t.host[0], "h1");
	assert_string_equal(t.host[2], "h3");
	assert_string_equal(t.node[1].desc, "h1 mlx5_0");
	assert_true(t.node[1].guid == 0x5a17ca0300010000);
	assert_true(t.node[1].port[1].guid == 0x5a17ca0300010000);
	assert_string_equal(t.node[0].desc, "s1");
}

/* In a full tree every level has as many cables up as down. */
static void test_full_bisection(void **state)
{
	uint32_t up[4] = {0};

	make("fat-tree:3:8");
	for (uint32_t i = 0; i < t.nnodes; i++) {
		const struct topo_node *n = &t.node[i];

		for (uint32_t p = 1; n->type == TOPO_SWITCH && p <= 8; p++) {
			const struct topo_node *m;

			assert_int_not_equal(n->port[p].peer_node, TOPO_NONE);
			m = &t.node[n->port[p].peer_node];
			up[n->desc[1] - '0'] += m->type == TOPO_SWITCH && m->desc[1] > n->desc[1];
		}
	}
	assert_int_equal(up[1], 128);
	assert_int_equal(up[2], 128);
	assert_int_equal(up[3], 0);
}

/* Dimension-ordered routing needs the same port for the same direction everywhere. */
static void test_torus_ports(void **state)
{
	make("torus:3x4x5");
	for (uint32_t i = 0; i < t.nnodes; i++)
		for (uint32_t p = 1; t.node[i].type == TOPO_SWITCH && p <= 6; p++)
			assert_int_equal(t.node[i].port[p].peer_port, p % 2 ? p + 1 : p - 1);
}

static void test_same_input_same_output(void **state)
{
	char *one, *two;

	make("random:64:7");
	one = t_written(&t, topo_write_ibnetdiscover);
	make("random:64:7");
	two = t_written(&t, topo_write_ibnetdiscover);
	assert_string_equal(one, two);
	free(two);
	make("random:64:8");
	two = t_written(&t, topo_write_ibnetdiscover);
	assert_string_not_equal(one, two);
	free(one);
	free(two);
}

static const struct {
	const char *spec, *why;
} bad[] = {
	{"ring:", "ring:: the form is ring:N[:HCAS]"},
	{"ring:x", "ring:x: the form is ring:N[:HCAS]"},
	{"ring:4:", "ring:4:: the form is ring:N[:HCAS]"},
	{"ring:4x", "ring:4x: the form is ring:N[:HCAS]"},
	{"ring:0", "ring:0: N must be a number from 1 to 49151"},
	{"ring:4:241", "ring:4:241: HCAS must be a number from 1 to 240"},
	{"ring:49151", "ring:49151: a subnet has 49151 LIDs, too few for these nodes"},
	{"star:255", "star:255: N must be a number from 1 to 254"},
	{"torus:4", "torus:4: the form is torus:XxY[:HCAS]"},
	{"torus:4x4x4x4", "torus:4x4x4x4: the form is torus:XxYxZ[:HCAS]"},
	{"torus:65535x65535x65535",
	 "torus:65535x65535x65535: a subnet has 49151 LIDs, too few for these nodes"},
	{"random:5", "random:5: the form is random:NODES:SEED"},
	{"random:5:99999999999999999999",
	 "random:5:99999999999999999999: SEED must be a number from 0 to 18446744073709551615"},
	{"fat-tree:2", "fat-tree:2: the form is fat-tree:LEVELS:RADIX[:HCAS]"},
	{"fat-tree:2:5", "fat-tree:2:5: switches of a fat tree have an even number of ports"},
	{"fat-tree:9:36", "fat-tree:9:36: LEVELS must be a number from 1 to 8"},
	{"fat-tree:2:4:9",
	 "fat-tree:2:4:9: 2 levels of switches with 4 ports connect 8 HCAs at most"},
	{"fat-tree:8:254:10", "a subnet has 49151 LIDs, too few for these nodes"},
	{"fat-tree:4:64", "fat-tree:4:64: a subnet has 49151 LIDs: 2097152 HCAs do not fit"},
};

static void test_refused(void **state)
{
	char err[TOPO_ERR];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		topo_free(&t);
		assert_int_equal(topo_load(bad[i].spec, &t, err), -EINVAL);
		assert_string_equal(err, bad[i].why);
	}
	assert_false(topo_is_generator("ring"));
	assert_false(topo_is_generator("./ring:4"));
	assert_false(topo_is_generator("rings:4"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_identities),
		cmocka_unit_test(test_full_bisection),
		cmocka_unit_test(test_torus_ports),
		cmocka_unit_test(test_same_input_same_output),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, drop);
}
