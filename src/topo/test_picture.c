/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Levels of switches, states of cables, and the text for Graphviz. */
#include "topo/test.h"

#include <infiniband/verbs.h>
#include "fabric/fabric.h"
#include "hw/fab.h"
#include "subnet/subnet.h"
#include "topo/snapshot.h"

static struct topo t;
static struct picture p;

static void make(const char *spec)
{
	char err[TOPO_ERR];

	if (topo_generate(spec, &t, err) < 0)
		fail_msg("%s", err);
	assert_int_equal(picture_init(&p, &t), 0);
}

static void parse(const char *text)
{
	char err[TOPO_ERR];

	if (topo_parse("test", text, strlen(text), &t, err) < 0)
		fail_msg("%s", err);
	assert_int_equal(picture_init(&p, &t), 0);
}

static void finish(void)
{
	picture_finish(&p);
	topo_free(&t);
}

static char *dot(uint32_t max_hosts)
{
	const struct dot_options o = {.max_hosts = max_hosts};
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_int_equal(picture_write_dot(f, &p, &o), 0);
	fclose(f);
	return text;
}

static void test_levels(void **state)
{
	static const struct {
		const char *spec;
		uint32_t levels, top; /* and nodes of the highest one */
	} want[] = {{"star:3", 2, 1},     {"fat-tree:2:8", 3, 4}, {"fat-tree:3:4", 4, 4},
		    {"torus:3x3", 0, 0},  {"ring:5", 0, 0},       {"ring:2", 0, 0},
		    {"random:20:1", 0, 0}};

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		uint32_t n = 0;

		make(want[i].spec);
		assert_int_equal(p.levels, want[i].levels);
		for (uint32_t k = 0; k < t.nnodes && p.levels; k++) {
			assert_int_equal(!p.node[k].level, t.node[k].type == TOPO_CA);
			n += p.node[k].level == p.levels - 1;
		}
		assert_int_equal(n, want[i].top);
		finish();
	}
}

/* A manager's server at a spine makes no leaf of it. */
static void test_server_at_a_spine(void **state)
{
	parse("Switch 4 \"L1\"\n[1] \"a\"[1]\n[2] \"S\"[1]\n"
	      "Switch 4 \"L2\"\n[1] \"b\"[1]\n[2] \"S\"[2]\n"
	      "Switch 4 \"L3\"\n[1] \"c\"[1]\n[2] \"S\"[3]\n"
	      "Switch 4 \"S\"\n[1] \"L1\"[2]\n[2] \"L2\"[2]\n[3] \"L3\"[2]\n[4] \"d\"[1]\n"
	      "Hca 1 \"a\"\n[1] \"L1\"[1]\nHca 1 \"b\"\n[1] \"L2\"[1]\n"
	      "Hca 1 \"c\"\n[1] \"L3\"[1]\nHca 1 \"d\"\n[1] \"S\"[4]\n");
	assert_int_equal(p.levels, 3);
	assert_int_equal(p.node[3].level, 2);
	finish();
}

static void test_names_and_numbers(void **state)
{
	char *text;

	make("star:3");
	strcpy(t.node[0].desc, "a \"b\\");
	text = dot(3);
	assert_non_null(strstr(text, "label=\"a \\\"b\\\\\""));
	assert_non_null(
		strstr(text, "\tn0 -- n2 [penwidth=1, taillabel=\"2\", headlabel=\"1\"];\n"));
	assert_non_null(strstr(text, "{ rank=same; n1; n2; n3; }"));
	free(text);
	strcpy(t.node[0].desc, "a\n\x1b\x7f&\xc3\xa9\xe9");
	text = dot(3);
	assert_non_null(strstr(text, "label=\"a   &#38;\xc3\xa9&#233;\""));
	free(text);
	text = dot(2);
	assert_non_null(strstr(text, "label=\"3 hosts\\nh1 ... h3\""));
	assert_non_null(strstr(text, "[penwidth=2, taillabel=\"1-3\", label=\"3 cables\"];\n"));
	assert_null(strstr(text, "n2 ["));
	free(text);
	finish();
}

/* A pulled cable is there as long as both of its ports are free. */
static void test_pulled(void **state)
{
	static const struct fab_options options = {.model = HW_CX6,
						   .caps.link_speed = 64,
						   .caps.link_width = 2,
						   .caps.max_mtu = IBV_MTU_4096,
						   .caps.pci_device = 0x101b,
						   .no_sm = 1};
	struct seg seg = {0};
	uint32_t *pulled, a, b, c;
	struct topo now;

	make("star:3");
	picture_finish(&p);
	assert_int_equal(seg_create(&seg, "test"), 0);
	assert_int_equal(fab_build(&seg, &t, &options), 0);
	topo_free(&t);
	pulled = calloc(seg_table(&seg, SEG_T_PORT)->high, sizeof(*pulled));
	assert_int_equal(topo_snapshot_picture(&seg, pulled, &now, &p), 0);
	assert_int_equal(now.nhosts, 3);
	assert_string_equal(now.host[now.node[2].host], "h2");
	assert_int_equal(picture_cable(&p, 2, 1), PICTURE_INIT);
	picture_finish(&p);
	topo_free(&now);

	a = fab_node(&seg, 1)->port0 + 1; /* of the switch */
	b = hw_port(&seg, a)->peer;
	assert_int_equal(fab_unplug(&seg, a), 0);
	pulled[a] = b;
	pulled[b] = a;
	assert_int_equal(topo_snapshot_picture(&seg, pulled, &now, &p), 0);
	assert_int_equal(picture_cable(&p, 0, 1), PICTURE_PULLED);
	assert_int_equal(picture_cable(&p, 1, 1), PICTURE_PULLED);
	assert_int_equal(picture_port(&p, 1, 1)->state, 1);
	picture_finish(&p);
	topo_free(&now);

	/* The host's port gets another cable. */
	c = fab_node(&seg, 1)->port0 + 2;
	assert_int_equal(fab_unplug(&seg, c), 0);
	assert_int_equal(fab_plug(&seg, b, c), 0);
	assert_int_equal(topo_snapshot_picture(&seg, pulled, &now, &p), 0);
	assert_int_equal(now.node[0].port[1].peer_node, TOPO_NONE);
	assert_int_equal(now.node[1].port[1].peer_port, 2);
	picture_finish(&p);
	topo_free(&now);
	free(pulled);
	seg_unmap(&seg);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_server_at_a_spine),
		cmocka_unit_test(test_names_and_numbers),
		cmocka_unit_test(test_pulled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
