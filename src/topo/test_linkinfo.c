/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The output of iblinkinfo: with and without -l, parts of it, errors and their places. */
#include "topo/test.h"

#include <errno.h>

static struct topo t;

static void parse(const char *text)
{
	t_parse(&t, text);
}

static int drop(void **state)
{
	topo_free(&t);
	return 0;
}

static const char cas[] =
	"CA: node2 HCA-1:\n"
	"      0x0002c90300a1b2e1      6    1[  ] ==( 4X  10.0 Gbps (FDR10) Active/  LinkUp)==>"
	"      13    4[  ] \"MF0;sw1:SX6036/U1\" ( )\n"
	"      0x0002c90300a1b2e2      1    2[  ] ==( 4X          10.0 Gbps Active/  LinkUp)==>"
	"      13    3[  ] \"MF0;sw1:SX6036/U1\" ( )\n"
	"CA: node1: \"x\" HCA-1:\n"
	"      0x0002c90300a1b2c1      4    1[  ] ==( 4X       14.0625 Gbps Active/  LinkUp)==>"
	"      13    1[ 7] \"MF0;sw1:SX6036/U1\" ( Could be 25.78125 Gbps)\n";

static const char a_switch[] =
	"Switch: 0x0f45214030011220 MF0;sw1:SX6036/U1:\n"
	"          13    1[ 7] ==( 4X       14.0625 Gbps Active/  LinkUp)==>"
	"       4    1[  ] \"node1: \"x\" HCA-1\" ( )\n"
	"          13    2[  ] ==(                Down/ Polling)==>"
	"             [  ] \"\" ( )\n"
	"          13    3[  ] ==( 4X          10.0 Gbps Active/  LinkUp) (HOQ:0 VL_Stall:0)==>"
	"       1    2[  ] \"node2 HCA-1\" ( )\n"
	"          13    4[  ] ==( 4X  10.0 Gbps (FDR10) Active/  LinkUp)==>"
	"       6    1[  ] \"node2 HCA-1\" ( )\n"
	"          13    5[  ] ==( 4X 2.5 Gbps Init/  LinkUp)==>"
	"      \"Port not available\"\n"
	"          13   36[  ] ==(                Down/ Polling)==>"
	"             [  ] \"\" ( )\n";

/* -l: a line has everything but the kind of its node. */
static const char lines[] = "0x0002c90300a1b2e1 \"                   node2 HCA-1\"      6    1[  ] "
			    "==( 4X         25.78 Gbps Active/  LinkUp)==>"
			    "  0x0f45214030011220     13    1[  ] \"sw \"1\"\" ( )\n"
			    "0x0002c90300a1b2e2 \"                   node2 HCA-1\"      1    2[  ] "
			    "==( 4X        106.25 Gbps Active/  LinkUp)==>"
			    "  0x0f45214030011220     13    2[  ] \"sw \"1\"\" ( )\n"
			    "0x0f45214030011220 \"                        sw \"1\"\"     13    1[  "
			    "] ==( 4X         25.78 Gbps Active/  LinkUp)==>"
			    "  0x0002c90300a1b2e1      6    1[  ] \"node2 HCA-1\" ( )\n"
			    "0x0f45214030011220 \"                        sw \"1\"\"     13    2[  "
			    "] ==( 4X        106.25 Gbps Active/  LinkUp)==>"
			    "  0x0002c90300a1b2e2      1    2[  ] \"node2 HCA-1\" ( )\n"
			    "0x0f45214030011220 \"                        sw \"1\"\"     13    8[  "
			    "] ==(                Down/ Polling)==>"
			    "             [  ] \"\" ( )\n";

static void rate(const struct topo_port *p, uint32_t width, uint32_t speed)
{
	assert_int_equal(p->width, width);
	assert_int_equal(p->speed, speed);
}

static void is_cable(uint32_t a, uint32_t ap, uint32_t c, uint32_t cp)
{
	assert_int_equal(t.node[a].port[ap].peer_node, c);
	assert_int_equal(t.node[a].port[ap].peer_port, cp);
}

static void test_nodes(void **state)
{
	char text[4096];

	snprintf(text, sizeof(text), "ibwarn: [1] x\r\n%s%s", cas, a_switch);
	parse(text);
	assert_int_equal(t.nnodes, 3);
	assert_int_equal(t.node[0].type, TOPO_CA);
	assert_int_equal(t.node[0].nports, 2);
	assert_string_equal(t.node[0].desc, "node2 HCA-1");
	assert_true(t.node[0].guid == 0x2c90300a1b2e1);
	assert_true(t.node[0].port[2].guid == 0x2c90300a1b2e2);
	assert_int_equal(t.node[0].port[1].lid, 6);
	assert_int_equal(t.node[0].port[2].lid, 1);
	is_cable(0, 1, 2, 4);
	is_cable(0, 2, 2, 3);
	assert_string_equal(t.node[1].desc, "node1: \"x\" HCA-1");
	assert_int_equal(t.node[1].nports, 1);
	assert_int_equal(t.node[2].type, TOPO_SWITCH);
	assert_int_equal(t.node[2].nports, 36);
	assert_true(t.node[2].guid == 0xf45214030011220);
	assert_int_equal(t.node[2].port[0].lid, 13);
	is_cable(2, 1, 1, 1);
	assert_int_equal(t.node[2].port[2].peer_node, TOPO_NONE);
	assert_int_equal(t.node[2].port[5].peer_node, TOPO_NONE);
	rate(&t.node[2].port[1], 2, 16);
	rate(&t.node[2].port[3], 2, 4);
	rate(&t.node[2].port[4], 2, 8);
	assert_int_equal(t.nhosts, 2);
}

static void test_lines(void **state)
{
	parse(lines);
	assert_int_equal(t.nnodes, 2);
	assert_int_equal(t.node[0].type, TOPO_CA);
	assert_int_equal(t.node[0].nports, 2);
	assert_int_equal(t.node[1].type, TOPO_SWITCH);
	assert_int_equal(t.node[1].nports, 8);
	assert_string_equal(t.node[1].desc, "sw \"1\"");
	is_cable(0, 1, 1, 1);
	is_cable(0, 2, 1, 2);
	rate(&t.node[0].port[1], 2, 32);
	rate(&t.node[0].port[2], 2, 128);
}

/* --switches-only and --cas-only: the other nodes are known from the other ends. */
static void test_one_end(void **state)
{
	parse(a_switch);
	assert_int_equal(t.nnodes, 3);
	assert_string_equal(t.node[1].desc, "node1: \"x\" HCA-1");
	assert_int_equal(t.node[1].type, TOPO_CA);
	assert_int_equal(t.node[1].port[1].lid, 4);
	is_cable(0, 1, 1, 1);
	is_cable(0, 3, 2, 2);
	parse(cas);
	assert_int_equal(t.nnodes, 3);
	assert_int_equal(t.node[2].type, TOPO_SWITCH);
	assert_int_equal(t.node[2].nports, 4);
	assert_int_equal(t.node[2].port[0].lid, 13);
	assert_string_equal(t.node[2].desc, "MF0;sw1:SX6036/U1");
	is_cable(0, 1, 2, 4);
	is_cable(1, 1, 2, 1);
}

/* The heading of old versions has no colon behind its first word. */
static void test_old_heading(void **state)
{
	parse("Switch 0x0008f10400411a08 sLB-24:\n"
	      "      18    1[  ]  ==( 4X 5.0 Gbps  Active /  LinkUp)==>      16    1[  ] \"n1 "
	      "HCA-1\" ("
	      "  )\nSwitch 0x8 \"A\"\n");
	assert_int_equal(t.nnodes, 3);
	assert_true(t.node[0].guid == 0x8f10400411a08);
	assert_string_equal(t.node[0].desc, "sLB-24");
	rate(&t.node[0].port[1], 2, 2);
	assert_int_equal(t.node[1].nports, 8);
	is_cable(0, 1, 2, 1);
}

/* Two adapters, and no subnet manager yet: LIDs are 0. */
static void test_no_lids(void **state)
{
	parse("CA: a x:\n  0x1  0  1[  ] ==( 1X 5.0 Gbps Initialize/LinkUp)==>  0  2[  ] \"b\" ( "
	      ")\n"
	      "CA: b:\n  0x20 0  2[  ] ==( 1X 5.0 Gbps Initialize/LinkUp)==>  0  1[  ] \"a x\" ( "
	      ")\n");
	assert_int_equal(t.nnodes, 2);
	is_cable(0, 1, 1, 2);
	rate(&t.node[0].port[1], 1, 2);
	assert_int_equal(t.node[0].port[1].lid, 0);
}

#define L(rest) "CA: a:\n0x1 1 1[  ] ==( 1X 5.0 Gbps Active/ LinkUp)" rest

static const struct {
	const char *text, *why;
} bad[] = {
	{"Switch: x:\n", "f:1:9: the switch's GUID is missing"},
	{"Switch: 0x12 a\n", "f:1:15: ':' is missing after the description"},
	{"  0x1 1 1[  ] ==( x)==> [  ]\n", "f:1:3: a port's line without the heading of its node "
					   "(Switch: GUID NAME:, CA: NAME:) before "
					   "it"},
	{"CA: a:\n0x1 1 1[  ] up\n", "f:2:4: '==(' and '==>' of a line of iblinkinfo are missing"},
	{"CA: a:\n0x1 1 [  ] ==()==>\n", "f:2:7: the port's number is missing"},
	{"CA: a:\n0x1 1 5[  ] ==()==> [\n",
	 "f:2:1: \"H-0000000000000001\" has 5 ports: an adapter has "
	 "at most 4"},
	{L("==> 2 1[  ] b\n"), "f:2:56: a description in quotes is missing"},
	{L("==> 2[\n"), "f:2:49: the port's number is missing"},
	{L("==> 1 1[  ] \"a\"\n"),
	 "f:2:48: port 1 of \"H-0000000000000001\" is connected to itself"},
	{L("==> 2 1[  ] \"b\"\n") L("==> 2 1[  ] \"b\"\n"),
	 "f:4:1: node \"H-0000000000000001\" is already defined (line 2)"},
	{L("==> 2 1[  ] \"b\"\n") "CA: b:\n0x2 2 1[  ] ==()==> 3 1[  ] \"c\"\n",
	 "f:2:1: port 1 of \"H-0000000000000002\" is connected to port 1 of \"H-0000000000100000\" "
	 "(line 4)"},
	{"CA: a:\n0x1 0 1[  ] ==()==> 0 2[  ] \"a\"\n",
	 "f:2:21: without LIDs: no line says that port 2 of a node \"a\" has this cable"},
	/* After a node of another format. */
	{"Swich 4 \"A\"\n 1 1[  ] ==()==> 2 1[  ] \"b\"\n",
	 "f:1:1: 'Swich' does not start a line of a topology; did you mean 'Switch'?\n"
	 "f:2:2: a port's line without the heading of its node (Switch: GUID NAME:, CA: NAME:) "
	 "before "
	 "it"},
	/* Two of the same kind cannot be told apart. */
	{"CA: a:\n0x1 0 1[  ] ==()==> 0 1[  ] \"a\"\nCA: a:\n0x2 0 1[  ] ==()==> 0 1[  ] \"a\"\n"
	 "CA: a:\n0x3 0 1[  ] ==()==> 0 1[  ] \"a\"\n",
	 "f:2:21: without LIDs \"a\" may be 2 nodes: start a subnet manager, or use ibnetdiscover\n"
	 "f:4:21: without LIDs \"a\" may be 2 nodes: start a subnet manager, or use ibnetdiscover\n"
	 "f:6:21: without LIDs \"a\" may be 2 nodes: start a subnet manager, or use ibnetdiscover"},
};

static void test_refused(void **state)
{
	char err[TOPO_ERR];
	struct topo none;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(topo_parse("f", bad[i].text, strlen(bad[i].text), &none, err),
				 -EINVAL);
		assert_string_equal(err, bad[i].why);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nodes),       cmocka_unit_test(test_lines),
		cmocka_unit_test(test_one_end),     cmocka_unit_test(test_no_lids),
		cmocka_unit_test(test_old_heading), cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, drop);
}
