/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A topology becomes a subnet in a segment, and is read back unchanged. */
#include "topo/test.h"

#include <infiniband/verbs.h>
#include "fabric/fabric.h"
#include "fabric/ifaddr.h"
#include "hw/hca.h"
#include "hw/port.h"
#include "subnet/subnet.h"
#include "topo/for_tests.h"
#include "topo/snapshot.h"

static const struct fab_options options = {.model = HW_CX6,
					   .caps.link_speed = 64,
					   .caps.link_width = 2,
					   .caps.max_mtu = IBV_MTU_4096,
					   .caps.pci_device = 0x101b,
					   .no_sm = 1};
/* Values that fab_build() chooses. */
static const struct topo_defaults defaults = {
	.vendor_id = 0x2c9, .ca_id = 0x101b, .switch_id = 0xd2f0, .width = 2, .speed = 64};

static void load(const char *spec, struct topo *t)
{
	char err[TOPO_ERR];

	if (topo_generate(spec, t, err) < 0)
		fail_msg("%s", err);
	topo_fill(t, &defaults);
}

/* Compares them as text, without the hosts' names, which a subnet does not keep. */
static void assert_same(const struct topo *a, const struct topo *b)
{
	char *one = t_written(a, topo_write_ibnetdiscover);
	char *two = t_written(b, topo_write_ibnetdiscover);

	assert_string_equal(one, two);
	free(one);
	free(two);
}

static void test_read_back(void **state)
{
	static const char *const specs[] = {"ring:4", "star:3", "fat-tree:2:8", "torus:3x3",
					    "random:30:3"};

	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		struct topo t, now;
		struct seg seg = {0};

		load(specs[i], &t);
		assert_int_equal(seg_create(&seg, "test"), 0);
		assert_int_equal(fab_build(&seg, &t, &options), 0);
		assert_int_equal(topo_snapshot(&seg, &now), 0);
		assert_same(&t, &now);
		topo_free(&t);
		topo_free(&now);
		seg_unmap(&seg);
	}
}

/* Pulled cables and links that are down are left out; LIDs are the present ones. */
static void test_as_it_is_now(void **state)
{
	struct seg seg = {0};
	struct topo t, now;
	struct fab_node *n;

	load("ring:3", &t);
	assert_int_equal(seg_create(&seg, "test"), 0);
	assert_int_equal(fab_build(&seg, &t, &options), 0);
	n = fab_node(&seg, 1);
	assert_int_equal(fab_unplug(&seg, n->port0 + 1), 0);
	hw_port(&seg, n->port0)->lid = 77;
	strcpy(n->desc, "a\n\x7f\x1b[1m");
	assert_int_equal(topo_snapshot(&seg, &now), 0);
	assert_string_equal(now.node[0].desc, "a   [1m");
	assert_int_equal(now.node[0].port[1].peer_node, TOPO_NONE);
	assert_int_equal(now.node[t.node[0].port[1].peer_node].port[2].peer_node, TOPO_NONE);
	assert_int_equal(now.node[0].port[2].peer_node, t.node[0].port[2].peer_node);
	assert_int_equal(now.node[0].port[0].lid, 77);
	topo_free(&t);
	topo_free(&now);
	seg_unmap(&seg);
}

/* A fabric from a topology, whose system GUIDs are those of the nodes. */
static void built(const char *text, const struct fab_options *o, struct topo *t, struct seg *seg)
{
	char err[TOPO_ERR];

	assert_int_equal(topo_parse("f", text, strlen(text), t, err), 0);
	topo_fill(t, &defaults);
	for (uint32_t i = 0; i < t->nnodes; i++)
		t->node[i].sys_guid = t->node[i].guid;
	assert_int_equal(seg_create(seg, "test"), 0);
	assert_int_equal(fab_build(seg, t, o), 0);
}

/* The fabric's snapshot is the topology: returns its number of addresses. Ends both. */
static uint32_t written_again(struct topo *t, struct seg *seg)
{
	struct topo now;
	uint32_t nips;

	assert_int_equal(topo_snapshot(seg, &now), 0);
	nips = now.nips;
	assert_same(t, &now);
	topo_free(t);
	topo_free(&now);
	seg_unmap(seg);
	return nips;
}

static void test_routers(void **state)
{
	static const char text[] =
		"Switch 4 \"S-0000000000000001\" # \"s\"\n[1] \"H-0000000000000002\"\n"
		"[2] \"R-0000000000000003\"[2]\n"
		"Ca 1 \"H-0000000000000002\" # \"n1 x\"\n[1] \"S-0000000000000001\"\n"
		"Rt 2 \"R-0000000000000003\" # \"r\"\n"
		"[2] \"S-0000000000000001\"[2]\n";
	struct topo t;
	struct seg seg = {0};

	built(text, &options, &t, &seg);
	assert_int_equal(fab_host_by_name(&seg, "n1"), hw_hca(&seg, fab_node(&seg, 2)->hca)->host);
	written_again(&t, &seg);
}

/* Addresses that were given, and no others. */
static void test_addresses(void **state)
{
	static const char text[] =
		"Switch 2 \"S-0000000000000001\" # \"s\"\n"
		"Ca 2 \"H-0000000000000002\" # \"n1 x\"\n#ip[2] 10.0.0.2/8,fd00::2\n"
		"Ca 1 \"H-0000000000000008\" # \"n2 x\"\n#ip[1] fd00::8/48\n";
	struct topo t;
	struct seg seg = {0};

	built(text, &options, &t, &seg);
	for (uint32_t i = 0; i < t.nips; i++) {
		const struct topo_ip *ip = &t.ip[i];

		assert_int_equal(fab_if_set(&seg, fab_node(&seg, ip->node + 1)->port0 + ip->port,
					    ip->addr.ip, ip->addr.len, ip->addr.prefix),
				 0);
	}
	assert_int_equal(written_again(&t, &seg), 3);
}

/* A port whose own address was deleted, with and without others beside it. */
static void test_no_address(void **state)
{
	static const char text[] = "Ca 2 \"H-0000000000000002\" # \"n1 x\"\n"
				   "#ip[1] none\n#ip[2] none,fd00::2/64\n"
				   "Ca 1 \"H-0000000000000008\" # \"n2 x\"\n#ip[1] 10.0.0.2/8\n";
	static const uint8_t own[2][4] = {{127, 1, 0, 1}, {127, 2, 0, 1}};
	static const uint8_t six[16] = {0xfd, [15] = 2}, ten[4] = {10, 0, 0, 2};
	struct topo t;
	struct seg seg = {0};
	uint32_t a, b;

	built(text, &options, &t, &seg);
	a = fab_node(&seg, 1)->port0 + 1;
	b = fab_node(&seg, 2)->port0 + 1;
	assert_int_equal(fab_if_del(&seg, a, own[0], 4, 0), 0);
	assert_int_equal(fab_if_del(&seg, a + 1, own[1], 4, 0), 0);
	assert_int_equal(fab_if_add(&seg, a + 1, six, 16, 64), 0);
	assert_int_equal(fab_if_set(&seg, b, ten, 4, 8), 0);
	assert_int_equal(written_again(&t, &seg), 4);
}

static void test_vlans(void **state)
{
	static const char text[] = "Ca 1 \"H-0000000000000002\" # \"n1 x\"\n#link eth\n"
				   "#ip[1] 10.0.0.1/8\n#ip[1.100] 10.1.0.1,fd01::1/64\n"
				   "#ip[1.4094] none\n";
	static const uint8_t ip[3][16] = {{10, 0, 0, 1}, {10, 1, 0, 1}, {0xfd, 1, [15] = 1}};
	struct topo t;
	struct seg seg = {0};
	struct fab_options o = options;
	uint32_t at;

	o.if_mtu = 1500;
	built(text, &o, &t, &seg);
	at = fab_node(&seg, 1)->port0 + 1;
	assert_int_equal(fab_if_set(&seg, at, ip[0], 4, 8), 0);
	assert_int_equal(fab_vlan_add(&seg, at, 100), 0);
	assert_int_equal(fab_vlan_add(&seg, at, 4094), 0);
	at = fab_at_by_vlan(&seg, at, 100);
	assert_int_equal(fab_if_set(&seg, at, ip[1], 4, 24), 0);
	assert_int_equal(fab_if_set(&seg, at, ip[2], 16, 64), 0);
	written_again(&t, &seg);
}

/* Adapters of both link layers, each by its line; the option is for those without one. */
static void test_link_layers(void **state)
{
	static const char text[] = "Switch 2 \"S-0000000000000001\" # \"s\"\n"
				   "[1] \"H-0000000000000002\"\n"
				   "Ca 1 \"H-0000000000000002\" # \"n1 x\"\n"
				   "#linked\n#link ib # not Ethernet\n"
				   "[1] \"S-0000000000000001\"\n"
				   "Ca 2 \"H-0000000000000008\" # \"n1 y\"\n#link\teth\n"
				   "Ca 1 \"H-0000000000000010\" # \"n2 y\"\n";
	static const uint32_t links[2][4] = {{HW_LINK_IB, HW_LINK_IB, HW_LINK_ETH, HW_LINK_IB},
					     {HW_LINK_IB, HW_LINK_IB, HW_LINK_ETH, HW_LINK_ETH}};

	for (int eth = 0; eth < 2; eth++) {
		struct fab_options o = options;
		struct topo t, now;
		struct seg seg = {0};
		char err[TOPO_ERR];

		o.link = eth ? HW_LINK_ETH : HW_LINK_IB;
		o.if_mtu = 1500;
		o.no_sm = 0;
		assert_int_equal(topo_parse("f", text, strlen(text), &t, err), 0);
		topo_fill(&t, &defaults);
		assert_int_equal(seg_create(&seg, "test"), 0);
		assert_int_equal(fab_build(&seg, &t, &o), 0);
		assert_int_equal(fab_subnet(&seg)->sm_state, FAB_SM_MASTER);
		for (uint32_t i = 0; i < t.nnodes; i++) {
			const struct fab_node *n = fab_node(&seg, i + 1);
			const struct hw_port *p = hw_port(&seg, n->port0 + 1);

			assert_int_equal(p->link, links[eth][i]);
			/* the last adapter has no cable, which InfiniBand needs */
			assert_int_equal(p->state, i == 3 && !eth ? IB_PORT_DOWN : IB_PORT_ACTIVE);
		}
		assert_int_equal(topo_snapshot(&seg, &now), 0);
		assert_int_equal(now.node[2].link, TOPO_LINK_ETH);
		assert_int_equal(now.node[3].link, eth ? TOPO_LINK_ETH : TOPO_LINK_DEFAULT);
		topo_free(&t);
		topo_free(&now);
		seg_unmap(&seg);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read_back),   cmocka_unit_test(test_as_it_is_now),
		cmocka_unit_test(test_routers),     cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_no_address),  cmocka_unit_test(test_vlans),
		cmocka_unit_test(test_link_layers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
