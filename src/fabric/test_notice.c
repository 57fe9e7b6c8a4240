/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Notices: which are sent, and until when. */
#include "fabric/test_net.h"
#include "fabric/for_tests.h"

#include "fabric/notice.h"
#include "hw/port.h"

static uint8_t sent[4][MAD_SIZE];
static uint32_t nsent, sent_from[4];

static void take(struct seg *s, uint32_t port, uint32_t dlid, const uint8_t *mad)
{
	if (nsent < 4) {
		memcpy(sent[nsent], mad, MAD_SIZE);
		sent_from[nsent] = port;
	}
	nsent++;
}

static uint64_t run(void)
{
	nsent = 0;
	return fab_notices_run(&net, take);
}

static const uint8_t *notice(uint32_t i)
{
	return sent[i] + SMP_DATA;
}

/* Give each node a LID, and the manager's LID. */
static int tell_lids(void **state)
{
	if (net_bare(state))
		return -1;
	for (uint32_t node = H1; node <= H2; node++) {
		struct hw_port *p = net_at(net_port(node, node == H1 || node == H2));

		p->lid = node + 10;
		p->sm_lid = 11;
		p->subnet_timeout = 18;
	}
	return 0;
}

static void a_link_is_told_by_its_switches(void **state)
{
	run();
	assert_int_equal(nsent, 0);
	assert_int_equal(fab_unplug(&net, net_port(S1, 2)), 0);
	assert_true(fab_subnet(&net)->notices);
	run();
	assert_int_equal(nsent, 2);
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t node = sent_from[i] == net_port(S1, 0) ? S1 : S2;

		assert_int_equal(sent_from[i], net_port(node, 0));
		assert_int_equal(LAYOUT_GET(mad_hdr, sent[i], mgmt_class), MAD_CLASS_SUBN_LID);
		assert_int_equal(LAYOUT_GET(mad_hdr, sent[i], method), MAD_METHOD_TRAP);
		assert_int_equal(LAYOUT_GET(mad_hdr, sent[i], attr_id), MAD_ATTR_NOTICE);
		assert_int_equal(LAYOUT_GET(notice, notice(i), is_generic), 1);
		assert_int_equal(LAYOUT_GET(notice, notice(i), type), NOTICE_TYPE_URGENT);
		assert_int_equal(LAYOUT_GET(notice, notice(i), producer_type), NODE_TYPE_SWITCH);
		assert_int_equal(LAYOUT_GET(notice, notice(i), trap_num), TRAP_LINK_STATE);
		assert_int_equal(LAYOUT_GET(notice, notice(i), issuer_lid), node + 10);
		assert_int_equal(LAYOUT_GET(notice_128, notice(i), lid), node + 10);
	}
}

static void adapters_do_not_tell_of_their_links(void **state)
{
	assert_int_equal(fab_unplug(&net, net_port(H1, 1)), 0);
	run();
	assert_int_equal(nsent, 1);
	assert_int_equal(sent_from[0], net_port(S0, 0));
}

static void without_a_manager_nothing_is_kept(void **state)
{
	net_at(net_port(S1, 0))->sm_lid = 0;
	fab_notice_link(&net, net_port(S1, 2));
	net_at(net_port(S2, 0))->lid = 0;
	fab_notice_link(&net, net_port(S2, 2));
	run();
	assert_int_equal(nsent, 0);
}

static void repress(uint32_t port, const uint8_t *trap, uint32_t tid_add)
{
	uint8_t mad[MAD_SIZE], out[MAD_SIZE];

	memcpy(mad, trap, MAD_SIZE);
	LAYOUT_SET(mad_hdr, mad, method, MAD_METHOD_TRAP_REPRESS);
	LAYOUT_SET(mad_hdr, mad, tid, LAYOUT_GET(mad_hdr, trap, tid) + tid_add);
	assert_int_equal(fab_mad(&net, port, 11, mad, out), FAB_MAD_CONSUMED);
}

/* IBA 13.4.9: sent again and again, until repressed by its transaction ID. */
static void repeated_until_repressed(void **state)
{
	uint8_t trap[MAD_SIZE];

	net_at(net_port(S1, 0))->subnet_timeout = 0; /* 4 us */
	fab_notice_link(&net, net_port(S1, 2));
	assert_true(run() != UINT64_MAX);
	assert_int_equal(nsent, 1);
	memcpy(trap, sent[0], MAD_SIZE);
	repress(net_port(S1, 1), trap, 1);
	repress(net_port(S2, 1), trap, 0);
	while (!nsent || LAYOUT_GET(mad_hdr, sent[0], tid) != LAYOUT_GET(mad_hdr, trap, tid) ||
	       nsent > 1)
		run();
	repress(net_port(S1, 1), trap, 0);
	assert_int_equal(run(), UINT64_MAX);
	assert_int_equal(nsent, 0);
}

static void in_vain_it_ends(void **state)
{
	uint32_t n = 0;

	net_at(net_port(S1, 0))->subnet_timeout = 0;
	fab_notice_link(&net, net_port(S1, 2));
	while (run() != UINT64_MAX)
		n += nsent;
	assert_uint_in_range(n, 2, 20);
	assert_int_equal(seg_table(&net, SEG_T_NOTICE)->live, 0);
}

/* A notice is not sent before its time; the same change again makes no second notice. */
static void no_faster_than_subnet_timeout(void **state)
{
	fab_notice_link(&net, net_port(S1, 2));
	run();
	run();
	assert_int_equal(nsent, 0);
	fab_notice_link(&net, net_port(S1, 1));
	assert_int_equal(seg_table(&net, SEG_T_NOTICE)->live, 1);
	run();
	assert_int_equal(nsent, 1);
}

/* Another process has deleted the notice and begun a new one in its element. */
static void what_is_being_made_anew_is_left_alone(void **state)
{
	struct fab_notice *n;
	uint32_t i;

	assert_int_equal(seg_alloc(&net, SEG_T_NOTICE, SEG_OWNER_DEVICE, &i), 0);
	n = seg_at(&net, SEG_T_NOTICE, i);
	n->ready = 1; /* its old `ready` was read; the other fields are the new notice's */
	run();
	assert_int_equal(nsent, 0);
}

/*
 * Any number of packets with a wrong key causes one notice per SubnetTimeout, even if the manager
 * represses each at once.
 */
static void wrong_keys_are_told_once_in_subnet_timeout(void **state)
{
	const struct fab_bad_key k = {.lid1 = 1, .lid2 = 2, .key = 0x8001};
	uint32_t p = net_port(H1, 1);
	struct fab_notice *n;
	uint8_t trap[MAD_SIZE];

	fab_notice_key(&net, p, TRAP_BAD_PKEY, &k);
	run();
	assert_int_equal(nsent, 1);
	memcpy(trap, sent[0], MAD_SIZE);
	fab_notice_key(&net, p, TRAP_BAD_PKEY, &k);
	assert_false(fab_subnet(&net)->notices); /* the supervisor is not woken */
	repress(p, trap, 0);
	fab_notice_key(&net, p, TRAP_BAD_PKEY, &k);
	run();
	assert_int_equal(nsent, 0);
	/* then it is sent once more, and deleted when repressed */
	n = seg_at(&net, SEG_T_NOTICE, seg_next(&net, SEG_T_NOTICE, SEG_OWNER_ANY, 0));
	n->due = 1;
	run();
	assert_int_equal(nsent, 1);
	assert_int_equal(LAYOUT_GET(notice, notice(0), trap_num), TRAP_BAD_PKEY);
	repress(p, trap, 0);
	n->due = 1;
	run();
	assert_int_equal(nsent, 0);
	assert_int_equal(seg_table(&net, SEG_T_NOTICE)->live, 0);
}

static void a_wrong_mkey_is_told(void **state)
{
	uint8_t mad[MAD_SIZE] = {0}, out[MAD_SIZE];
	uint32_t p = net_port(H1, 1);
	const uint8_t *n = notice(0);

	net_at(p)->mkey = 0x77;
	net_at(p)->mkey_protect = 2;
	LAYOUT_SET(mad_hdr, mad, base_version, 1);
	LAYOUT_SET(mad_hdr, mad, class_version, 1);
	LAYOUT_SET(mad_hdr, mad, mgmt_class, MAD_CLASS_SUBN_DR);
	LAYOUT_SET(mad_hdr, mad, method, MAD_METHOD_GET);
	LAYOUT_SET(mad_hdr, mad, attr_id, SMP_ATTR_PORT_INFO);
	LAYOUT_SET(mad_hdr, mad, attr_mod, 1);
	LAYOUT_SET(smp, mad, mkey, 0x66);
	LAYOUT_SET(smp, mad, hop_cnt, 40);
	LAYOUT_SET(smp, mad, dr_slid, MAD_LID_PERMISSIVE);
	mad[SMP_RETURN_PATH + 1] = 7;
	assert_int_equal(fab_mad(&net, p, 0xffff, mad, out), FAB_MAD_CONSUMED);
	run();
	assert_int_equal(nsent, 1);
	assert_int_equal(LAYOUT_GET(smp, sent[0], mkey), 0x77);
	assert_int_equal(LAYOUT_GET(notice, n, trap_num), TRAP_BAD_MKEY);
	assert_int_equal(LAYOUT_GET(notice, n, type), NOTICE_TYPE_SECURITY);
	assert_int_equal(LAYOUT_GET(notice, n, producer_type), NODE_TYPE_CA);
	assert_int_equal(LAYOUT_GET(notice_256, n, mkey), 0x66);
	assert_int_equal(LAYOUT_GET(notice_256, n, method), MAD_METHOD_GET);
	assert_int_equal(LAYOUT_GET(notice_256, n, attr_id), SMP_ATTR_PORT_INFO);
	assert_int_equal(LAYOUT_GET(notice_256, n, attr_mod), 1);
	assert_int_equal(LAYOUT_GET(notice_256, n, dr_notice), 1);
	assert_int_equal(LAYOUT_GET(notice_256, n, dr_path_truncated), 1);
	assert_int_equal(LAYOUT_GET(notice_256, n, dr_hop_count), 30);
	assert_int_equal(n[NOTICE_256_RETURN_PATH + 1], 7);
}

/* The number, type and one detail of each kind of notice. */
static void makers(void **state)
{
	static const uint8_t gid[16] = {0xfe, 0x80};
	const struct fab_bad_key k = {
		.lid1 = 1, .lid2 = 2, .key = 0x8001, .sl = 3, .qp1 = 4, .qp2 = 5, .gid1 = gid};
	uint32_t p = net_port(H1, 1);
	const uint8_t *n = notice(0);

	fab_notice_key(&net, p, TRAP_BAD_PKEY, &k);
	run();
	assert_int_equal(LAYOUT_GET(notice, n, trap_num), TRAP_BAD_PKEY);
	assert_int_equal(LAYOUT_GET(notice, n, type), NOTICE_TYPE_SECURITY);
	assert_int_equal(LAYOUT_GET(notice_257_258, n, key), 0x8001);
	assert_int_equal(LAYOUT_GET(notice_257_258, n, lid2), 2);
	assert_int_equal(LAYOUT_GET(notice_257_258, n, qp2), 5);
	assert_memory_equal(n + LP_notice_257_258_gid1, gid, 16);
	fab_notice_local(&net, p, 0);
	run();
	assert_int_equal(LAYOUT_GET(notice, n, trap_num), TRAP_LOCAL_CHANGES);
	assert_int_equal(LAYOUT_GET(notice_144, n, capability_mask), net_at(p)->cap_mask);
	assert_int_equal(LAYOUT_GET(notice_144, n, other_local_changes), 0);
	fab_notice_local(&net, p, FAB_LOCAL_NODE_DESC);
	run();
	assert_int_equal(LAYOUT_GET(notice_144, n, node_desc_change), 1);
	assert_int_equal(LAYOUT_GET(notice_144, n, other_local_changes), 1);
	fab_notice_sys_guid(&net, p);
	run();
	assert_int_equal(LAYOUT_GET(notice, n, trap_num), TRAP_SYSTEM_GUID);
	assert_int_equal(LAYOUT_GET(notice_145, n, system_guid), fab_node(&net, H1)->sys_guid);
	fab_notice_port(&net, net_port(S1, 3), TRAP_BUFFER_OVERRUN);
	run();
	assert_int_equal(LAYOUT_GET(notice, n, trap_num), TRAP_BUFFER_OVERRUN);
	assert_int_equal(LAYOUT_GET(notice_129_131, n, port), 3);
	assert_int_equal(sent_from[0], net_port(S1, 0));
}

#define T(f) cmocka_unit_test_setup_teardown(f, tell_lids, net_drop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_link_is_told_by_its_switches),
		T(adapters_do_not_tell_of_their_links),
		T(without_a_manager_nothing_is_kept),
		T(repeated_until_repressed),
		T(in_vain_it_ends),
		T(no_faster_than_subnet_timeout),
		T(what_is_being_made_anew_is_left_alone),
		T(wrong_keys_are_told_once_in_subnet_timeout),
		T(a_wrong_mkey_is_told),
		T(makers),
	};

	return cmocka_run_group_tests_name("fabric-notice", tests, NULL, NULL);
}
