/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Topology files: both formats and their odd forms, errors and their places, and round trips. */
#include "topo/test.h"
#include "topo/for_tests.h"

#include <errno.h>

static struct topo t;

static void parse(const char *text)
{
	t_parse(&t, text);
}

static void refused(const char *text, const char *why)
{
	char err[TOPO_ERR];
	struct topo bad;

	assert_int_equal(topo_parse("f", text, strlen(text), &bad, err), -EINVAL);
	assert_string_equal(err, why);
	assert_null(bad.node);
}

static int drop(void **state)
{
	topo_free(&t);
	return 0;
}

/* As ibnetdiscover prints it, with all kinds of nodes. */
static const char dump[] =
	"#\n# Topology file: generated on Tue Mar  3 12:00:00 2020\n#\n"
	"# Initiated from node 0002c90300a1b2c0 port 0002c90300a1b2c1\n"
	"\nvendid=0x2c9\ndevid=0xc738\nsysimgguid=0xf45214030011220\n"
	"switchguid=0xf45214030011220(f45214030011220)\n"
	"Switch\t36 \"S-0f45214030011220\"\t\t# \"MF0;sw1:SX6036/U1\" enhanced port 0 lid 3 lmc 0\n"
	"[1]\t\"H-0002c90300a1b2c0\"[1](2c90300a1b2c1) \t\t# \"node1 HCA-1\" lid 4 4xFDR\n"
	"[2]\t\"H-0002c90300a1b2d0\"[1](2c90300a1b2d1) \t\t# \"node2 HCA-1\" lid 5 4xFDR10\n"
	"[18]\t\"R-0002c90300000100\"[7](2c90300000107) \t\t# \"edge router\" lid 9 12xEDR\n"
	"[36]\t\"H-0002c90300a1b2c0\"[2](2c90300a1b2c2) \t\t# \"node1 HCA-1\" lid 6 1xSDR\n"
	"\nvendid=0x2c9\ndevid=0x1003\nsysimgguid=0x2c90300a1b2c3\ncaguid=0x2c90300a1b2c0\n"
	"Ca\t2 \"H-0002c90300a1b2c0\"\t\t# \"node1 HCA-1\"\n"
	"[1](2c90300a1b2c1) \t\"S-0f45214030011220\"[1]\t\t# lid 4 lmc 0 \"MF0;sw1:SX6036/U1\" lid "
	"3 "
	"4xFDR\n"
	"[2](2c90300a1b2c2) \t\"S-0f45214030011220\"[36]\t\t# lid 6 lmc 1 \"MF0;sw1:SX6036/U1\" "
	"lid 3 "
	"1xSDR\n"
	"\nvendid=0x2c9\ndevid=0x1003\nsysimgguid=0x2c90300a1b2d3\ncaguid=0x2c90300a1b2d0\n"
	"Ca\t1 \"H-0002c90300a1b2d0\"\t\t# \"node2 HCA-1\"\n"
	"[1](2c90300a1b2d1) \t\"S-0f45214030011220\"[2]\t\t# lid 5 lmc 0 \"MF0;sw1:SX6036/U1\" lid "
	"3 "
	"4xFDR10\n"
	"\nvendid=0x2c9\ndevid=0x200\nrtguid=0x2c90300000100\n"
	"Rt\t8 \"R-0002c90300000100\"\t\t# \"edge router\"\n"
	"[7](2c90300000107) \t\"S-0f45214030011220\"[18]\t\t# lid 9 lmc 0 \"MF0;sw1:SX6036/U1\" "
	"lid 3 "
	"12xEDR\n";

static void test_ibnetdiscover(void **state)
{
	const struct topo_node *n;

	parse(dump);
	assert_int_equal(t.nnodes, 4);
	n = &t.node[0];
	assert_int_equal(n->type, TOPO_SWITCH);
	assert_int_equal(n->nports, 36);
	assert_true(n->guid == 0xf45214030011220 && n->sys_guid == n->guid);
	assert_true(n->port[0].guid == n->guid);
	assert_int_equal(n->vendor_id, 0x2c9);
	assert_int_equal(n->device_id, 0xc738);
	assert_int_equal(n->enhanced_port0, 1);
	assert_int_equal(n->port[0].lid, 3);
	assert_int_equal(n->host, TOPO_NONE);
	assert_string_equal(n->desc, "MF0;sw1:SX6036/U1");
	assert_string_equal(n->id, "S-0f45214030011220");
	assert_int_equal(n->port[1].width, 2);
	assert_int_equal(n->port[1].speed, 16);
	assert_int_equal(n->port[2].speed, 8);
	assert_int_equal(n->port[18].width, 8);
	assert_int_equal(n->port[18].speed, 32);
	assert_int_equal(n->port[36].width, 1);
	assert_int_equal(n->port[36].speed, 1);
	assert_int_equal(n->port[36].peer_node, 1);
	assert_int_equal(n->port[36].peer_port, 2);
	assert_int_equal(n->port[3].peer_node, TOPO_NONE);
	n = &t.node[1];
	assert_int_equal(n->type, TOPO_CA);
	assert_true(n->port[2].guid == 0x2c90300a1b2c2);
	assert_int_equal(n->port[2].lid, 6);
	assert_int_equal(n->port[2].lmc, 1);
	assert_int_equal(t.node[3].type, TOPO_ROUTER);
	assert_int_equal(t.node[3].host, TOPO_NONE);
	/* GUIDs of ports without a cable follow the GUIDs of connected ones. */
	assert_true(t.node[3].port[8].guid == 0x2c90300000108);
	assert_int_equal(t.nhosts, 2);
	assert_string_equal(t.host[0], "node1");
	assert_string_equal(t.host[t.node[2].host], "node2");
}

/* Output of ibnetdiscover -g and -f, carriage returns, error messages, unknown rates, indents. */
static void test_odd_forms(void **state)
{
	parse("ibwarn: [77] _do_madrpc: send failed; Invalid argument\r\n"
	      "\r\nChassis 1 (guid 0x8f10400411a08)\r\n\r\n# Spine Nodes\r\n"
	      "Non-Chassis Nodes\r\nHostname: x\r\n"
	      "vendid=0x8f1\r\ndevid=0x5a30\r\nsysimgguid=0x1\t\t# Chassis 1\r\n"
	      "switchguid=0x8f10400411a08(8f10400411a08)\t# sLB-24 line 1\r\n"
	      "  Switch  24 \"S-0008f10400411a08\"  # \"a \"b\" c\" base port 0 lid 7 lmc 0\r\n"
	      "[24][ext 3]\t\"H-0002c90200247010\"[1](2c90200247011)\t# \"x\" lid 12 ??FDR slot "
	      "3\r\n"
	      "[23][ext 4]\t\"S-0008f10400411a08\"[22][ext 5]\t# \"a \"b\" c\" lid 7 4x???\r\n"
	      "# in between\r\n"
	      "[22][ext 5]\t\"S-0008f10400411a08\"[23][ext 4]\t# \"a \"b\" c\" lid 7 4x???\r\n"
	      "\r\nCa 1 \"H-0002c90200247010\"\r\n"
	      "[1]\t\"S-0008f10400411a08\"[24]\t# lid 12 lmc 0 \"a\" lid 7 4xFDR s=4 w=2 v=3\r\n");
	assert_string_equal(t.node[0].desc, "a \"b\" c");
	assert_int_equal(t.node[0].enhanced_port0, 0);
	assert_int_equal(t.node[0].port[24].width, 2);
	assert_int_equal(t.node[0].port[24].speed, 16);
	assert_int_equal(t.node[0].port[22].peer_port, 23);
	assert_int_equal(t.node[0].port[22].speed, 0);
	assert_int_equal(t.node[0].port[22].width, 2);
	assert_string_equal(t.node[1].desc, "H-0002c90200247010");
	assert_true(t.node[1].port[1].guid == 0x2c90200247011);
}

static void test_all_rates(void **state)
{
	static const char *const width[] = {"1x", "2x", "4x", "8x", "12x"};
	static const uint32_t width_code[] = {1, 16, 2, 4, 8};
	static const char *const speed[] = {"SDR", "DDR", "QDR", "FDR10", "FDR",
					    "EDR", "HDR", "NDR", "XDR"};
	char text[512];

	for (int w = 0; w < 5; w++)
		for (int s = 0; s < 9; s++) {
			snprintf(text, sizeof(text),
				 "Ca 1 \"a\"\n[1] \"b\"[1] # lid 1 lmc 0 \"b\" lid 2 %s%s\n"
				 "Ca 1 \"b\"\n[1] \"a\"[1] # lid 2 lmc 0 \"a\" lid 1 %s%s\n",
				 width[w], speed[s], width[w], speed[s]);
			parse(text);
			assert_int_equal(t.node[0].port[1].width, width_code[w]);
			assert_int_equal(t.node[0].port[1].speed, 1u << s);
		}
}

/* One end of a cable says QDR if its vendor attribute could not be read. */
static void test_fdr10_at_one_end(void **state)
{
	parse("Ca 1 \"a\"\n[1] \"b\" # lid 1 lmc 0 \"b\" lid 2 4xQDR\n"
	      "Ca 1 \"b\"\n[1] \"a\" # lid 2 lmc 0 \"a\" lid 1 4xFDR10\n");
	assert_int_equal(t.node[0].port[1].speed, 8);
	assert_int_equal(t.node[1].port[1].speed, 8);
}

/* The sample file of ibsim. */
static void test_ibsim_net(void **state)
{
	parse("# comment\n\nSwitch\t8 \"Switch1\"\n[1]\t\"Hca1\"[1]\n[2]\t\"Hca2\"[2]\n"
	      "[3]\t\"Switch2\"[3] w=3\n[4]\t\"Switch2\"[4]\t s=0 e=3 w=10\n\n"
	      "Switch 8 \"Switch2\"\n[3]\t\"Switch1\"[3] w=2\n[4]\t\"Switch1\"[4] e=1\n\n"
	      "Hca\t2 \"Hca1\"\n[1]\t\"Switch1\"[1]\n\nHca\t2 \"Hca2\"\n[2]\t\"Switch1\"[2]\n");
	assert_int_equal(t.nnodes, 4);
	/* GUIDs as ibsim counts them. */
	assert_true(t.node[0].guid == 0x200000 && t.node[1].guid == 0x200001);
	assert_true(t.node[2].guid == 0x100000 && t.node[3].guid == 0x100003);
	assert_true(t.node[3].port[1].guid == 0x100004 && t.node[3].port[2].guid == 0x100005);
	assert_true(t.node[1].port[0].guid == 0x200001);
	assert_string_equal(t.node[2].desc, "Hca1");
	assert_string_equal(t.node[2].id, "Hca1");
	assert_string_equal(t.host[0], "Hca1");
	assert_int_equal(t.node[0].port[1].width, 0);
	assert_int_equal(t.node[0].port[3].width, 2); /* the best width of both ends */
	assert_int_equal(t.node[0].port[4].width, 8);
	assert_int_equal(t.node[0].port[4].speed, 16);
	assert_string_equal(t.node[1].id, "Switch2");
}

static void test_ibsim_words(void **state)
{
	parse("switchguid=0x1000\nhcaguids=0x2000\nvendid=0x8f1\nsysimgguid=0x77\nwidth=8\nspeed="
	      "2\n"
	      "pdebug=1\nSwitch 4 \"A\" # first one base port 0 lid 3 lmc 1\n"
	      "[1] \"B\"\nswitchguid+0x10\ncaguid=0x2000\nrtguid=0x3000\n"
	      "Ca 1 \"B\" # \"\"\n[1] \"A\"[1]\nextspeed=4\nRt 1 \"C\"\n[1] \"D\"[2]\n"
	      "Switch 4 \"D\"\n[2] \"C\"\n");
	assert_true(t.node[0].guid == 0x1000 && t.node[0].sys_guid == 0x77);
	assert_int_equal(t.node[0].vendor_id, 0x8f1);
	assert_int_equal(t.node[0].port[0].lid, 3);
	assert_int_equal(t.node[0].port[0].lmc, 1);
	assert_string_equal(t.node[0].desc, "first one");
	assert_int_equal(t.node[0].port[1].width, 8);
	assert_int_equal(t.node[0].port[1].speed, 2);
	assert_true(t.node[1].guid == 0x2000 && !t.node[1].sys_guid);
	assert_int_equal(t.node[1].vendor_id, 0);
	assert_string_equal(t.node[1].desc, "B");
	assert_true(t.node[2].guid == 0x3000);
	assert_int_equal(t.node[2].port[1].speed, 64);
	assert_true(t.node[3].guid == 0x1010);
}

/* Modules, and cables that use an alias of a port. */
static void test_ibsim_modules(void **state)
{
	parse("module=\"left\"\nSwitch 4 \"sw\"\n[1] \"ca\"\n[2] \"right#sw\"[3]\n@[4] \"up\"\nCa "
	      "1 \"ca\"\n[1] \"sw\"\n"
	      "module = \"right\"\nSwitch 4 \"sw\"\n[2] \"left@up\"\n[3] \"left#sw\"[2]\n"
	      "module=\"left\"\n"
	      "Ca 1 \"none\"\n");
	assert_int_equal(t.nnodes, 4);
	assert_string_equal(t.node[0].id, "left#sw");
	assert_string_equal(t.node[2].id, "right#sw");
	assert_int_equal(t.node[2].port[2].peer_node, 0);
	assert_int_equal(t.node[2].port[2].peer_port, 4);
	assert_int_equal(t.node[0].port[4].peer_node, 2);
	assert_int_equal(t.node[0].port[4].peer_port, 2);
}

static void test_hosts(void **state)
{
	char text[4096], *p = text;

	p += sprintf(p,
		     "Ca 1 \"H-0000000000000001\" # \"n1 mlx5_0\"\n"
		     "Ca 1 \"H-0000000000000002\" # \"n2 mlx5_0\"\n"
		     "Ca 1 \"H-0000000000000003\" # \"n1 mlx5_1\"\n"
		     "Ca 1 \"H-0000000000000004\" # \"\"\n"
		     "Ca 1 \"H-0000000000000005\" # \"../x y\"\n"
		     "Ca 1 \"H-0000000000000006\" # \"node_name_that_is_too_long_for_a_host x\"\n");
	for (int i = 0; i < 17; i++)
		p += sprintf(p, "Ca 1 \"H-%016x\" # \"MT25408 ConnectX\"\n", 0x100 + i);
	parse(text);
	assert_int_equal(t.nhosts, 2 + 3 + 17);
	assert_string_equal(t.host[0], "n1");
	assert_string_equal(t.host[1], "n2");
	assert_int_equal(t.node[2].host, 0);
	assert_string_equal(t.host[2], "H-0000000000000004");
	assert_string_equal(t.host[3], "H-0000000000000005");
	assert_string_equal(t.host[4], "H-0000000000000006");
	assert_string_equal(t.host[21], "H-0000000000000110");
	/* Up to sixteen CAs belong to one host. */
	p[-1] = 0;
	*(strrchr(text, '\n') + 1) = '#';
	parse(text);
	assert_string_equal(t.host[5], "MT25408");
	assert_int_equal(t.nhosts, 6);
	assert_int_equal(t.node[21].host, 5);
}

static const struct topo_ip *only_ip(uint32_t node, uint32_t port, uint32_t len)
{
	const struct topo_ip *found = NULL;

	for (uint32_t i = 0; i < t.nips; i++)
		if (t.ip[i].node == node && t.ip[i].port == port && t.ip[i].addr.len == len) {
			assert_null(found);
			found = &t.ip[i];
		}
	return found;
}

static void assert_ip(uint32_t node, uint32_t port, uint32_t len, const char *text, uint32_t prefix)
{
	const struct topo_ip *ip = only_ip(node, port, len);
	char buf[TOPO_ADDR_TEXT];

	assert_non_null(ip);
	assert_string_equal(topo_addr_text(&ip->addr, buf), text);
	assert_int_equal(ip->addr.prefix, prefix);
}

/* Other programs that read these formats take the lines for comments. */
static void test_addresses(void **state)
{
	parse("Ca 2 \"A\"\n#ip[2]\t10.0.0.7/8 # first\n#ip[1] 127.9.0.1,fd00::1\n"
	      "Switch 1 \"S\"\n# ip[1] 10.0.0.1\nCa 1 \"B\"\n#ip 1\n#ip[1] "
	      "10.0.0.8,fd00:1::2/48\n");
	assert_int_equal(t.nips, 5);
	assert_ip(0, 2, 4, "10.0.0.7", 8);
	assert_ip(0, 1, 4, "127.9.0.1", 16);
	assert_ip(0, 1, 16, "fd00::1", 64);
	assert_ip(2, 1, 4, "10.0.0.8", 24);
	assert_ip(2, 1, 16, "fd00:1::2", 48);
}

static const struct {
	const char *text, *why;
} bad[] = {
	{"", "f: there are no nodes"},
	{"# only this\n", "f: there are no nodes"},
	{"Swich 4 \"A\"\n",
	 "f:1:1: 'Swich' does not start a line of a topology; did you mean 'Switch'?"},
	{"Cax 1 \"A\"\n", "f:1:1: 'Cax' does not start a line of a topology; did you mean 'Ca'?"},
	{"widths=3\n",
	 "f:1:1: 'widths' does not start a line of a topology; did you mean 'width'?"},
	{"Switches 4 \"A\"\n",
	 "f:1:1: 'Switches' does not start a line of a topology; did you mean 'Switch'?"},
	{"Ca-1 \"A\"\n", "f:1:1: 'Ca-1' does not start a line of a topology"},
	{"include_b \"b\"\n",
	 "f:1:1: 'include_b' does not start a line of a topology; did you mean 'include'?"},
	{"\n  blah=3", "f:2:3: 'blah' does not start a line of a topology"},
	{"Switch \"A\"\n", "f:1:8: the number of ports is missing"},
	{"Switch 0 \"A\"\n", "f:1:8: the number of ports is 0: it must be from 1 to 254"},
	{"Switch 300 \"A\"\n", "f:1:8: the number of ports is 300: it must be from 1 to 254"},
	{"Switch 4 A\n", "f:1:10: the node's name in quotes is missing"},
	{"Switch 4 \"A\n", "f:1:10: the quote after the node's name is missing"},
	{"Switch 4 \"\"\n", "f:1:10: an empty name"},
	{"Switch 4 \"A@B\"\n", "f:1:10: a node's name has no '@'"},
	{"Switch 4 \"A\" x\n", "f:1:14: unexpected 'x' after the name of a node"},
	{"Switch 4 \"A\" # \"x\n", "f:1:16: the quote after the description is missing"},
	{"Switch 4 \"A\" # \"x\" base port 0 lid 50000 lmc 0\n",
	 "f:1:36: the LID is 50000: it must be from 0 to 49151"},
	{"Switch 4 \"A\" # \"x\" base port 0 lid 5 lmc 8\n",
	 "f:1:42: the LMC is 8: it must be from 0 to 7"},
	{"Ca 5 \"A\"\n", "f:1:1: \"A\" has 5 ports: an adapter has at most 4"},
	{"Ca 1 \"A\"\nCa 1 \"A\"\n", "f:2:1: node \"A\" is already defined (line 1)"},
	{"# of ibdiagnet\nSTART_NODES\nNodeDesc,NumPorts\n",
	 "f:2:7: this is ibdiagnet's .db_csv file: use its .lst file instead"},
	{"[1] \"A\"\n", "f:1:1: a port's line without a node's line before it"},
	{"Ca 2 \"A\"\n[3] \"B\"\n", "f:2:2: the port's number is 3: it must be from 1 to 2"},
	{"Ca 2 \"A\"\n[0] \"B\"\n", "f:2:2: the port's number is 0: it must be from 1 to 2"},
	{"Ca 2 \"A\"\n[x] \"B\"\n", "f:2:2: the port's number is missing"},
	{"Ca 2 \"A\"\n[1 \"B\"\n", "f:2:3: ']' is missing after the port's number"},
	{"Ca 2 \"A\"\n[1](xyz) \"B\"\n", "f:2:5: the port's GUID is missing"},
	{"Ca 2 \"A\"\n[1](12345678123456789)\n", "f:2:5: the port's GUID is too large"},
	{"Ca 2 \"A\"\n[1](12 \"B\"\n", "f:2:7: ')' is missing"},
	{"Ca 2 \"A\"\n[1] B\n", "f:2:5: the name of the other end in quotes is missing"},
	{"Ca 2 \"A\"\n[1] \"B\"[0]\n",
	 "f:2:9: the number of the other port is 0: it must be from 1 to 255"},
	{"Ca 2 \"A\"\n[1] \"B\" q=1\n", "f:2:9: 'q=1' is not an option of a port (w=, s=, e=)"},
	{"Ca 2 \"A\"\n[1] \"B\" w=32\n",
	 "f:2:11: the mask of widths is 32: it must be from 1 to 31"},
	{"Ca 2 \"A\"\n[1] \"B\" w=2x\n", "f:2:12: unexpected 'x' after a number"},
	{"Ca 2 \"A\"\n[1] \"B\" # lid 1 lmc 0 \"B\" lid 2 4xABC\n",
	 "f:2:33: \"ABC\" is not a link speed"},
	{"Ca 2 \"A\"\n[1] \"B\"\n", "f:2:5: there is no node \"B\""},
	{"Ca 2 \"A\"\n[1] \"x@B\"\n", "f:2:5: there is no alias \"x@B\""},
	{"Ca 2 \"A\"\n[1] \"B\"[2]\nCa 1 \"B\"\n", "f:2:5: \"B\" has no port 2 (it has 1)"},
	{"Ca 2 \"A\"\n[1] \"B\"[1]\nCa 1 \"B\"\n",
	 "f:2:1: port 1 of \"B\" does not mention this cable"},
	{"Ca 2 \"A\"\n[1] \"B\"[1]\n[2] \"B\"[1]\nCa 1 \"B\"\n[1] \"A\"[1]\n",
	 "f:3:1: port 1 of \"B\" is connected to port 1 of \"A\" (line 5)"},
	{"Ca 2 \"A\"\n[1] \"A\"[1]\n", "f:2:5: port 1 of \"A\" is connected to itself"},
	{"Ca 2 \"A\"\n[1] \"A\"[2]\n[1] \"A\"[2]\n",
	 "f:3:1: port 1 of \"A\" already has a line (2)"},
	{"Ca 2 \"A\"\n@[1] \"x\"\n@[2] \"x\"\n", "f:3:6: alias \"@x\" is already defined (line 2)"},
	{"Ca 2 \"A\"\n@[1] \"x\"\nSwitch 2 \"B\"\n[1] \"@x\"\n[2] \"@x\"\n",
	 "f:5:5: \"@x\" is already connected (line 4)"},
	{"Ca 1 \"A\"\n[1] \"B\" w=1\nCa 1 \"B\"\n[1] \"A\" w=2\n",
	 "f:2:1: port 1 of \"B\", the other end (line 4), has another width"},
	{"Ca 1 \"A\"\n[1] \"B\" # \"B\" lid 1 4xEDR\nCa 1 \"B\"\n[1] \"A\" # \"A\" lid 1 4xHDR\n",
	 "f:2:1: port 1 of \"B\", the other end (line 4), has another speed"},
	{"Ca 1 \"H-0000000000000001\"\nSwitch 1 \"S-0000000000000001\"\n",
	 "f:2:1: another node has the GUID 0x0000000000000001 of \"S-0000000000000001\""},
	{"switchguid=0x5(9)\nSwitch 1 \"A\"\nswitchguid=0x6(9)\nSwitch 1 \"B\"\n",
	 "f:4:1: another port has the GUID 0x0000000000000009 of port 0 of \"B\""},
	{"switchguid 5\n", "f:1:12: '=' or '+' is missing"},
	{"vendid 5\n", "f:1:8: '=' is missing"},
	{"vendid=0x1000000\n", "f:1:8: the vendor's id is 16777216: it must be from 0 to 16777215"},
	{"width=32\n", "f:1:7: the mask of widths is 32: it must be from 0 to 31"},
	{"module=x\n", "f:1:8: the module's name in quotes is missing"},
	{"include \"/etc/passwd\"\n", "f:1:9: nothing can be included here"},
	{"#ip[1] 10.0.0.1\n", "f:1:5: addresses without an adapter's line before them"},
	{"Switch 1 \"A\"\n#ip[1] 10.0.0.1\n",
	 "f:2:5: addresses without an adapter's line before them"},
	{"Ca 1 \"A\"\n#ip[2] 10.0.0.1\n", "f:2:5: the port's number is 2: it must be from 1 to 1"},
	{"Ca 1 \"A\"\n#ip[1 10.0.0.1\n", "f:2:6: ']' is missing after the port's number"},
	{"Ca 1 \"A\"\n#ip[1]\n", "f:2:7: '' is not ADDRESS[/PREFIX]"},
	{"Ca 1 \"A\"\n#ip[1] 10.0.0\n", "f:2:8: '10.0.0' is not ADDRESS[/PREFIX]"},
	{"Ca 1 \"A\"\n#ip[1] 10.0.0.1/33\n", "f:2:8: '10.0.0.1/33' is not ADDRESS[/PREFIX]"},
	{"Ca 1 \"A\"\n#ip[1] 10.0.0.1/0\n", "f:2:8: '10.0.0.1/0' is not ADDRESS[/PREFIX]"},
	{"Ca 1 \"A\"\n#ip[1] 10.0.0.1,\n", "f:2:17: '' is not ADDRESS[/PREFIX]"},
	{"Ca 1 \"A\"\n#ip[1] 10.0.0.1 x\n", "f:2:17: unexpected text after the addresses"},
	{"Ca 1 \"A\"\n#ip[1] 10.0.0.1,10.0.0.1/8\n",
	 "f:2:17: another port has the address 10.0.0.1"},
	{"Ca 2 \"A\"\n#ip[1] fd00::1\n#ip[2] fd00:0::1/60\n",
	 "f:3:8: another port has the address fd00::1"},
	{"#link eth\n", "f:1:7: a link layer without an adapter's line before it"},
	{"Switch 1 \"A\"\n#link eth\n", "f:2:7: a link layer without an adapter's line before it"},
	{"Ca 1 \"A\"\n#link ether\n", "f:2:7: 'ether' is not a link layer (ib, eth)"},
	{"Ca 1 \"A\"\n#link\t\n", "f:2:7: '' is not a link layer (ib, eth)"},
	{"Ca 1 \"A\"\n#link eth ib\n", "f:2:11: unexpected text after the link layer"},
	{"Switch 1 \"S\"\n[1] \"A\"\nCa 1 \"A\"\n[1] \"S\"\n#link eth # x\n",
	 "f:2:1: \"A\" has Ethernet ports: a cable joins InfiniBand ports"},
	{"Ca 1 \"A\"\n#link eth\n[1] \"S\"\nSwitch 1 \"S\"\n[1] \"A\"\n",
	 "f:3:1: \"A\" has Ethernet ports: a cable joins InfiniBand ports"},
	{"do Dump\n", "f:1:4: put commands into a script for softhca console"},
};

static void test_refused(void **state)
{
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		refused(bad[i].text, bad[i].why);
}

/* Each error once, at its own line; nothing that only follows from another error. */
static const struct {
	const char *text, *why;
} several[] = {
	/* lines and what they say together */
	{"Switch 4 \"A\"\n[1] \"B\"\n[2] \"C\" q=1\n[9] \"D\"\n[3] \"E\"\nCa 1 \"B\"\n[1] "
	 "\"A\"[1]\nCa 1 "
	 "\"C\"\n[1] \"A\"[2]\nCa 1 \"D\"\n[1] \"A\"[4]\nblah\n",
	 "f:3:9: 'q=1' is not an option of a port (w=, s=, e=)\n"
	 "f:4:2: the port's number is 9: it must be from 1 to 4\n"
	 "f:5:5: there is no node \"E\"\n"
	 "f:12:1: 'blah' does not start a line of a topology"},
	/* a node's line: the lines of its ports are read, its neighbours find it */
	{"Swich 4 \"A\"\n[1] \"B\"\n[2] B\nCa 9 \"B\"\n[1] \"A\"[1]\nCa x \"C\"\n[1] \"A\"[3]\nCa "
	 "1\n[1] \"A\"[4]\n",
	 "f:1:1: 'Swich' does not start a line of a topology; did you mean 'Switch'?\n"
	 "f:3:5: the name of the other end in quotes is missing\n"
	 "f:4:1: \"B\" has 9 ports: an adapter has at most 4\n"
	 "f:6:4: the number of ports is missing\n"
	 "f:8:5: the node's name in quotes is missing"},
	/* which may be any: names that are not there may be its name */
	{"Ca 1 B\nSwitch 2 \"A\"\n[1] \"B\"\n[2] \"C\"\n",
	 "f:1:6: the node's name in quotes is missing"},
	{"Ca 1 \"A\"\nCa 1 \"A\"\n[1] \"S\"\nSwitch 2 \"S\"\n[1] \"A\"\n[2] \"X\"\nx\n",
	 "f:2:1: node \"A\" is already defined (line 1)\n"
	 "f:6:5: there is no node \"X\"\n"
	 "f:7:1: 'x' does not start a line of a topology"},
	/* a missing node once, both ends of a cable once */
	{"Switch 4 \"A\"\n[1] \"X\"\n[2] \"X\"[2]\n[3] \"B\" w=1\n[4] \"C\"\nCa 1 \"B\"\n[1] "
	 "\"A\"[3] w=2\nCa 1 "
	 "\"C\"\n",
	 "f:2:5: there is no node \"X\"\n"
	 "f:4:1: port 1 of \"B\", the other end (line 7), has another width\n"
	 "f:5:1: port 1 of \"C\" does not mention this cable"},
	{"Ca 1 \"H-0000000000000001\"\nSwitch 1 \"S-0000000000000001\"\nRt 1 "
	 "\"R-0000000000000001\"\n",
	 "f:2:1: another node has the GUID 0x0000000000000001 of \"S-0000000000000001\"\n"
	 "f:3:1: another node has the GUID 0x0000000000000001 of \"R-0000000000000001\""},
	{"Ca 1 \"A\"\n[1] "
	 "\"1234567890123456789012345678901234567890123456789012345678901234@x\"\nx\n",
	 "f:2:5: a name has at most 64 characters\n"
	 "f:3:1: 'x' does not start a line of a topology"},
	{"vendid 5\nCa 1 \"A\"\n#ip[2] x\n#link e\n",
	 "f:1:8: '=' is missing\n"
	 "f:3:5: the port's number is 2: it must be from 1 to 1\n"
	 "f:4:7: 'e' is not a link layer (ib, eth)"},
	/* each independent mistake of one line */
	{"Swich 300 A lid\n",
	 "f:1:1: 'Swich' does not start a line of a topology; did you mean 'Switch'?\n"
	 "f:1:7: the number of ports is 300: it must be from 1 to 254\n"
	 "f:1:11: the node's name in quotes is missing\n"
	 "f:1:13: unexpected 'lid' after the name of a node"},
	{"Switch x \"A\" # \"a\" base port 0 lid 99999 lmc 9\n",
	 "f:1:8: the number of ports is missing\n"
	 "f:1:36: the LID is 99999: it must be from 0 to 49151\n"
	 "f:1:46: the LMC is 9: it must be from 0 to 7"},
	{"Ca 1 \"B\"\n[2] B w=99 q=1 s=9 # lid 99999 lmc 8 \"A\" 4xfoo\n",
	 "f:2:2: the port's number is 2: it must be from 1 to 1\n"
	 "f:2:5: the name of the other end in quotes is missing\n"
	 "f:2:9: the mask of widths is 99: it must be from 1 to 31\n"
	 "f:2:12: 'q=1' is not an option of a port (w=, s=, e=)\n"
	 "f:2:18: the mask of speeds is 9: it must be from 0 to 7\n"
	 "f:2:26: the LID is 99999: it must be from 0 to 49151\n"
	 "f:2:36: the LMC is 8: it must be from 0 to 7"},
	/* and not what only follows from another */
	{"Ca 2 \"A\"\n[1] \"B w=2\n[1 \"B\"[1]\n[1](x \"B\"\n[2] \"A\" that is not known\n",
	 "f:2:5: the quote after the name of the other end is missing\n"
	 "f:3:3: ']' is missing after the port's number\n"
	 "f:4:5: the port's GUID is missing\n"
	 "f:5:9: 'that' is not an option of a port (w=, s=, e=)"},
	{"{ XX\n{ CA x\n",
	 "f:1:3: 'XX' is not a type of node (CA, SW, Rt)\nf:2:6: 'Ports:' is missing"},
};

static void test_all_errors(void **state)
{
	for (size_t i = 0; i < sizeof(several) / sizeof(several[0]); i++)
		refused(several[i].text, several[i].why);
}

/* A report has an end. */
static void test_many_errors(void **state)
{
	char text[2000] = "", err[TOPO_ERR];
	struct topo none;
	size_t lines = 0;

	for (int i = 0; i < 120; i++)
		strcat(text, "what ever\n");
	assert_int_equal(topo_parse("f", text, strlen(text), &none, err), -EINVAL);
	for (const char *s = err; *s; s++)
		lines += *s == '\n';
	assert_int_equal(lines, TOPO_ERRORS);
	assert_string_equal(strrchr(err, '\n'), "\nand 100 more errors");
	text[210] = 0;
	assert_int_equal(topo_parse("f", text, strlen(text), &none, err), -EINVAL);
	assert_string_equal(strrchr(err, '\n'), "\nand 1 more error");
}

static void test_no_text(void **state)
{
	char err[TOPO_ERR];
	struct topo none;

	assert_int_equal(topo_parse("f", "Ca 1\n\0\n", 7, &none, err), -EINVAL);
	assert_string_equal(err, "f:1:5: the node's name in quotes is missing\n"
				 "f:2:1: a zero byte: this is not a text file");
	assert_int_equal(topo_parse("f", "#\n#\0\n", 5, &none, err), -EINVAL);
	assert_string_equal(err, "f:2:2: a zero byte: this is not a text file");
	assert_int_equal(topo_load("/nowhere/at/all", &none, err), -ENOENT);
	assert_string_equal(err, "cannot read /nowhere/at/all: No such file or directory");
}

static void put(const char *dir, const char *name, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void test_include(void **state)
{
	char dir[] = "/tmp/softhca-topo-XXXXXX", path[128], why[256], err[TOPO_ERR];

	assert_non_null(mkdtemp(dir));
	put(dir, "a", "include \"b\"\nSwitch 4 \"A\"\n[1] \"B\"\n");
	put(dir, "b", "Ca 1 \"B\"\n[1] \"A\"\n");
	snprintf(path, sizeof(path), "%s/a", dir);
	topo_free(&t);
	assert_int_equal(topo_load(path, &t, err), 0);
	assert_int_equal(t.nnodes, 2);
	topo_free(&t);
	put(dir, "b", "\nCa 1 \"B\"\n[1] \"C\"\n");
	assert_int_equal(topo_load(path, &t, err), -EINVAL);
	snprintf(why, sizeof(why), "%s/b:3:5: there is no node \"C\"", dir);
	assert_string_equal(err, why);
	put(dir, "b", "include \"a\"\n");
	assert_int_equal(topo_load(path, &t, err), -EINVAL);
	snprintf(why, sizeof(why), "%s/b:1:9: files are included more than 9 levels deep", dir);
	assert_string_equal(err, why);
	/* A file that cannot be read may have had the missing nodes. */
	put(dir, "b", "include \"c\"\n");
	assert_int_equal(topo_load(path, &t, err), -EINVAL);
	snprintf(why, sizeof(why), "%s/b:1:9: cannot read c: No such file or directory", dir);
	assert_string_equal(err, why);
	/* Each level includes two: the end of one is the end of all. */
	put(dir, "b", "include \"b\"\ninclude \"b\"\n");
	assert_int_equal(topo_load(path, &t, err), -EINVAL);
	assert_null(strchr(err, '\n'));
	snprintf(why, sizeof(why), "rm -r %s", dir);
	assert_int_equal(system(why), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ibnetdiscover), cmocka_unit_test(test_odd_forms),
		cmocka_unit_test(test_all_rates),     cmocka_unit_test(test_fdr10_at_one_end),
		cmocka_unit_test(test_ibsim_net),     cmocka_unit_test(test_ibsim_words),
		cmocka_unit_test(test_ibsim_modules), cmocka_unit_test(test_hosts),
		cmocka_unit_test(test_addresses),     cmocka_unit_test(test_refused),
		cmocka_unit_test(test_all_errors),    cmocka_unit_test(test_many_errors),
		cmocka_unit_test(test_no_text),       cmocka_unit_test(test_include),
	};

	return cmocka_run_group_tests(tests, NULL, drop);
}
