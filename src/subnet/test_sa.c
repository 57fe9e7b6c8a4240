/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The answers of the built-in SA, and the paths of multicast packets afterwards. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "fabric/path.h"
#include "subnet/sa.h"
#include "fabric/test_topo.h"
#include "hw/port.h"
#include "segment/proc.h"
#include "subnet/subnet.h"

static struct seg seg;
static struct tt topo;
static struct fab_sa_answer ans;
static uint8_t req[MAD_SIZE];
static uint32_t from, sm; /* the requester's port, the manager's port */

static uint32_t port_of(uint32_t node, uint32_t num)
{
	return fab_node_port(fab_node(&seg, node + 1), num);
}

static struct hw_port *at(uint32_t port)
{
	return seg_at(&seg, SEG_T_PORT, port);
}

/* A root (node 0), three leaves with two adapters each (nodes 4 to 9). */
static int make(void **state)
{
	memset(&seg, 0, sizeof(seg));
	tt_tree2(&topo, 1, 3, 2);
	assert_int_equal(seg_create(&seg, "test"), 0);
	assert_int_equal(fab_build(&seg, &topo.t, &tt_options), 0);
	sm = fab_subnet(&seg)->sm_port;
	from = port_of(4, 1);
	memset(req, 0, sizeof(req));
	return 0;
}

static int drop(void **state)
{
	fab_sa_free(&ans);
	seg_unmap(&seg);
	tt_free(&topo);
	return 0;
}

static void *record(void)
{
	return req + SA_DATA;
}

static uint32_t ask(uint32_t attr, uint32_t method, uint64_t mask)
{
	fab_sa_free(&ans);
	LAYOUT_SET(mad_hdr, req, base_version, 1);
	LAYOUT_SET(mad_hdr, req, mgmt_class, MAD_CLASS_SA);
	LAYOUT_SET(mad_hdr, req, class_version, 2);
	LAYOUT_SET(mad_hdr, req, method, method);
	LAYOUT_SET(mad_hdr, req, attr_id, attr);
	LAYOUT_SET(sa_hdr, req, comp_mask, mask);
	assert_int_equal(fab_sa(&seg, sm, from, req, &ans), FAB_MAD_REPLY);
	if (method != MAD_METHOD_SET)
		assert_int_equal(LAYOUT_GET(mad_hdr, ans.mad, method), method | 0x80);
	else
		assert_int_equal(LAYOUT_GET(mad_hdr, ans.mad, method), MAD_METHOD_GET_RESP);
	return LAYOUT_GET32(mad_hdr, ans.mad, status);
}

static uint32_t table(uint32_t attr, uint64_t mask)
{
	assert_int_equal(ask(attr, MAD_METHOD_GET_TABLE, mask), 0);
	assert_true(ans.rmpp);
	return ans.len ? ans.len / (8 * LAYOUT_GET32(sa_hdr, ans.mad, attr_offset)) : 0;
}

/* ---- requests */

static void nobody_but_the_managers_port_answers(void **state)
{
	LAYOUT_SET(mad_hdr, req, class_version, 2);
	LAYOUT_SET(mad_hdr, req, method, MAD_METHOD_GET);
	assert_int_equal(fab_sa(&seg, port_of(5, 1), from, req, &ans), FAB_MAD_PASS);
	fab_issm_set(&seg, port_of(5, 1), true);
	assert_int_equal(fab_sa(&seg, sm, from, req, &ans), FAB_MAD_PASS);
}

static void what_is_no_request_is_not_answered(void **state)
{
	LAYOUT_SET(mad_hdr, req, class_version, 2);
	LAYOUT_SET(mad_hdr, req, method, MAD_METHOD_SEND);
	assert_int_equal(fab_sa(&seg, sm, from, req, &ans), FAB_MAD_CONSUMED);
	LAYOUT_SET(mad_hdr, req, method, MAD_METHOD_GET_RESP);
	assert_int_equal(fab_sa(&seg, sm, from, req, &ans), FAB_MAD_PASS);
}

/* C15-0.1.5 */
static void a_wrong_key_is_not_answered_and_none_is_told(void **state)
{
	LAYOUT_SET(mad_hdr, req, class_version, 2);
	LAYOUT_SET(mad_hdr, req, method, MAD_METHOD_GET);
	LAYOUT_SET(sa_hdr, req, sm_key, 7);
	assert_int_equal(fab_sa(&seg, sm, from, req, &ans), FAB_MAD_CONSUMED);
	LAYOUT_SET(sa_hdr, req, sm_key, FAB_SA_KEY);
	assert_int_equal(ask(SA_ATTR_SM_INFO_RECORD, MAD_METHOD_GET, 0), 0);
	assert_int_equal(LAYOUT_GET(sa_hdr, ans.mad, sm_key), 0);
}

static void statuses_say_what_is_wrong(void **state)
{
	assert_int_equal(ask(0x7777, MAD_METHOD_GET, 0), MAD_STATUS_BAD_ATTR);
	assert_int_equal(ask(SA_ATTR_NODE_RECORD, MAD_METHOD_SET, 0), MAD_STATUS_BAD_ATTR);
	assert_int_equal(ask(SA_ATTR_NODE_RECORD, MAD_METHOD_GET, 0), SA_STATUS_TOO_MANY_RECORDS);
	LAYOUT_SET(node_record, record(), lid, 99);
	assert_int_equal(ask(SA_ATTR_NODE_RECORD, MAD_METHOD_GET, 1), SA_STATUS_NO_RECORDS);
	assert_int_equal(table(SA_ATTR_NODE_RECORD, 1), 0);
	LAYOUT_SET(mad_hdr, req, class_version, 1);
	LAYOUT_SET(mad_hdr, req, method, MAD_METHOD_GET);
	fab_sa_free(&ans);
	assert_int_equal(fab_sa(&seg, sm, from, req, &ans), FAB_MAD_REPLY);
	assert_int_equal(LAYOUT_GET(mad_hdr, ans.mad, status), MAD_STATUS_BAD_VERSION);
	assert_int_equal(ask(MAD_ATTR_CLASS_PORT_INFO, MAD_METHOD_GET_TABLE, 0),
			 SA_STATUS_REQ_INVALID);
	assert_int_equal(ask(MAD_ATTR_CLASS_PORT_INFO, MAD_METHOD_GET, 0), 0);
	assert_int_equal(LAYOUT_GET(class_port_info, ans.mad + SA_DATA, class_version), 2);
}

/* ---- records */

static void tables_are_complete(void **state)
{
	assert_int_equal(table(SA_ATTR_NODE_RECORD, 0), 10);
	assert_int_equal(table(SA_ATTR_SWITCH_INFO_RECORD, 0), 4);
	assert_int_equal(table(SA_ATTR_PORT_INFO_RECORD, 0), 6 + 4 * (TT_RADIX + 1));
	assert_int_equal(table(SA_ATTR_LINK_RECORD, 0), 2 * 9);
	assert_int_equal(table(SA_ATTR_LFT_RECORD, 0), 4);
	assert_int_equal(table(SA_ATTR_GUID_INFO_RECORD, 0), 10);
	assert_int_equal(table(SA_ATTR_SM_INFO_RECORD, 0), 1);
	assert_int_equal(table(SA_ATTR_MFT_RECORD, 0), 0);
	assert_int_equal(table(SA_ATTR_SL2VL_RECORD, 0), 6 + 4 * (TT_RADIX + 1) * (TT_RADIX + 1));
	assert_int_equal(table(SA_ATTR_VL_ARB_RECORD, 0), 2 * (6 + 4 * (TT_RADIX + 1)));
	assert_int_equal(ask(SA_ATTR_PKEY_TABLE_RECORD, MAD_METHOD_GET_TABLE, 0),
			 SA_STATUS_REQ_INVALID);
	LAYOUT_SET(sa_hdr, req, sm_key, FAB_SA_KEY);
	assert_true(table(SA_ATTR_PKEY_TABLE_RECORD, 0) >= 10);
	assert_int_equal(table(SA_ATTR_PATH_RECORD, 0), 10 * 10);
}

static void a_node_is_found_by_its_name_and_guid(void **state)
{
	memcpy((uint8_t *)record() + NODE_RECORD_DESC, "node 6", 6);
	assert_int_equal(ask(SA_ATTR_NODE_RECORD, MAD_METHOD_GET, 1 << 14), 0);
	assert_int_equal(LAYOUT_GET(node_record, ans.mad + SA_DATA, lid), at(port_of(6, 1))->lid);
	memset(record(), 0, SA_DATA_SIZE);
	LAYOUT_SET(node_info, LAYOUT_IN(node_record, node_info, record()), port_guid,
		   at(port_of(7, 1))->guid);
	assert_int_equal(ask(SA_ATTR_NODE_RECORD, MAD_METHOD_GET, 1 << 8), 0);
	assert_int_equal(LAYOUT_GET(node_record, ans.mad + SA_DATA, lid), at(port_of(7, 1))->lid);
}

static void the_manager_is_found_by_its_bit(void **state)
{
	LAYOUT_SET(port_info, LAYOUT_IN(port_info_record, port_info, record()), capability_mask,
		   FAB_CAP_IS_SM);
	assert_int_equal(table(SA_ATTR_PORT_INFO_RECORD, 1 << 7), 0);
	LAYOUT_SET(mad_hdr, req, attr_mod, 0x80000000);
	assert_int_equal(table(SA_ATTR_PORT_INFO_RECORD, 1 << 7), 1);
	assert_int_equal(LAYOUT_GET(port_info_record, ans.data, lid), at(sm)->lid);
}

/* ---- paths */

enum { DGID = 1 << 2, SGID = 1 << 3, DLID = 1 << 4, SLID = 1 << 5, PKEY = 1 << 13 };

static void ask_path(uint32_t a, uint32_t b)
{
	LAYOUT_SET(path_record, record(), slid, at(a)->lid);
	LAYOUT_SET(path_record, record(), dlid, at(b)->lid);
	memcpy(LAYOUT_IN(path_record, sgid, record()), at(a)->gid[0], 16);
	memcpy(LAYOUT_IN(path_record, dgid, record()), at(b)->gid[0], 16);
}

static void a_path_is_as_its_way_is(void **state)
{
	uint32_t a = port_of(4, 1), b = port_of(9, 1), up = at(port_of(3, 1))->peer;
	const uint8_t *r = ans.mad + SA_DATA;

	ask_path(a, b);
	assert_int_equal(ask(SA_ATTR_PATH_RECORD, MAD_METHOD_GET, SGID | DGID), 0);
	assert_int_equal(LAYOUT_GET(path_record, r, slid), at(a)->lid);
	assert_int_equal(LAYOUT_GET(path_record, r, dlid), at(b)->lid);
	assert_int_equal(LAYOUT_GET(path_record, r, mtu), IBV_MTU_4096);
	assert_int_equal(LAYOUT_GET(path_record, r, rate), 17); /* 200 Gb/s */
	assert_int_equal(LAYOUT_GET(path_record, r, reversible), 1);
	assert_int_equal(LAYOUT_GET(path_record, r, pkey), 0xffff);
	/* a link with a small MTU in the middle */
	at(up)->active_mtu = IBV_MTU_1024;
	at(up)->width = 1;
	at(up)->speed = 4;
	assert_int_equal(ask(SA_ATTR_PATH_RECORD, MAD_METHOD_GET, SLID | DLID), 0);
	assert_int_equal(LAYOUT_GET(path_record, r, mtu), IBV_MTU_1024);
	assert_int_equal(LAYOUT_GET(path_record, r, rate), 3); /* 10 Gb/s */
	LAYOUT_SET(path_record, record(), mtu_selector, SA_SEL_GREATER);
	LAYOUT_SET(path_record, record(), mtu, IBV_MTU_1024);
	assert_int_equal(ask(SA_ATTR_PATH_RECORD, MAD_METHOD_GET, SLID | DLID | 3 << 16),
			 SA_STATUS_NO_RECORDS);
	LAYOUT_SET(path_record, record(), mtu_selector, SA_SEL_LESS);
	LAYOUT_SET(path_record, record(), mtu, IBV_MTU_2048);
	assert_int_equal(ask(SA_ATTR_PATH_RECORD, MAD_METHOD_GET, SLID | DLID | 3 << 16), 0);
	LAYOUT_SET(path_record, record(), mtu, 9);
	assert_int_equal(ask(SA_ATTR_PATH_RECORD, MAD_METHOD_GET, SLID | DLID | 3 << 16),
			 SA_STATUS_REQ_INVALID);
}

/* ib_sa_path_rec_get() of rdma_cm asks for a service: what is not distinguished fits all. */
static void a_path_is_for_every_service(void **state)
{
	ask_path(port_of(4, 1), port_of(9, 1));
	LAYOUT_SET(path_record, record(), service_id, UINT64_C(0x1060000 + 5000));
	LAYOUT_SET(path_record, record(), tclass, 8);
	LAYOUT_SET(path_record, record(), qos_class, 3);
	assert_int_equal(
		ask(SA_ATTR_PATH_RECORD, MAD_METHOD_GET, 1 << 0 | 1 << 1 | 0xc | 1 << 10 | 1 << 14),
		0);
}

static void no_way_is_no_path(void **state)
{
	ask_path(port_of(4, 1), port_of(9, 1));
	/* packets back from the last leaf are lost */
	fab_lft_set(&seg, fab_node(&seg, 4)->sw, at(port_of(4, 1))->lid, FAB_LFT_NONE);
	assert_int_equal(ask(SA_ATTR_PATH_RECORD, MAD_METHOD_GET, SLID | DLID),
			 SA_STATUS_NO_RECORDS);
	LAYOUT_SET(path_record, record(), dlid, 77);
	assert_int_equal(ask(SA_ATTR_PATH_RECORD, MAD_METHOD_GET, SLID | DLID),
			 SA_STATUS_NO_RECORDS);
	memset(LAYOUT_IN(path_record, dgid, record()), 1, 16);
	assert_int_equal(ask(SA_ATTR_PATH_RECORD, MAD_METHOD_GET, SGID | DGID),
			 SA_STATUS_REQ_INVALID_GID);
	ask_path(port_of(4, 1), port_of(5, 1));
	LAYOUT_SET(path_record, record(), slid, at(port_of(6, 1))->lid);
	assert_int_equal(ask(SA_ATTR_PATH_RECORD, MAD_METHOD_GET, SGID | SLID | DGID),
			 SA_STATUS_REQ_INVALID);
	LAYOUT_SET(path_record, record(), pkey, 0x8123);
	assert_int_equal(ask(SA_ATTR_PATH_RECORD, MAD_METHOD_GET, SGID | DGID | PKEY),
			 SA_STATUS_NO_RECORDS);
}

/* ---- groups */

#define JOIN 0x10003u
#define CREATE (JOIN | 1 << 2 | 1 << 6 | 1 << 7 | 1 << 12 | 1 << 13)

static const uint8_t mgid[16] = {0xff, 0x12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9};

static uint32_t group(uint32_t port, uint32_t method, uint32_t state, uint64_t mask)
{
	memset(record(), 0, SA_DATA_SIZE);
	memcpy(LAYOUT_IN(mc_member_record, mgid, record()), mgid, 16);
	memcpy(LAYOUT_IN(mc_member_record, port_gid, record()), at(port)->gid[0], 16);
	LAYOUT_SET(mc_member_record, record(), join_state, state);
	LAYOUT_SET(mc_member_record, record(), pkey, 0xffff);
	LAYOUT_SET(mc_member_record, record(), qkey, 0x1234);
	from = port;
	return ask(SA_ATTR_MC_MEMBER_RECORD, method, mask);
}

static uint32_t ports_with(uint32_t mlid)
{
	uint32_t n = 0;

	seg_for_each_live (&seg, SEG_T_SWITCH, i) {
		const struct fab_mft *t = seg_at(&seg, SEG_T_MFT, i);

		for (uint32_t k = 0; k < 4; k++)
			n += (uint32_t)__builtin_popcountll(t->mask[mlid - FAB_MLID_FIRST][k]);
	}
	return n;
}

struct reach {
	uint32_t to;
	bool found;
};

static void look(struct seg *s, uint32_t port, void *arg)
{
	struct reach *r = arg;

	r->found |= port == r->to;
}

static bool reach(uint32_t a, uint32_t mlid, uint32_t b)
{
	const struct fab_pkts k = {0};
	struct reach r = {.to = b};

	fab_mcast(&seg, a, mlid, &k, false, look, &r);
	return r.found;
}

static void members_reach_each_other_and_nobody_else(void **state)
{
	const uint32_t a = port_of(4, 1), b = port_of(6, 1), c = port_of(8, 1);
	uint32_t mlid;

	assert_int_equal(group(a, MAD_METHOD_SET, SA_JOIN_FULL, CREATE), 0);
	mlid = LAYOUT_GET32(mc_member_record, ans.mad + SA_DATA, mlid);
	assert_int_equal(mlid, FAB_MLID_FIRST);
	assert_int_equal(LAYOUT_GET(mc_member_record, ans.mad + SA_DATA, mtu), IBV_MTU_4096);
	assert_int_equal(LAYOUT_GET(mc_member_record, ans.mad + SA_DATA, mtu_selector), 2);
	assert_int_equal(ports_with(mlid), 1); /* only the port itself, on its leaf */
	assert_int_equal(group(b, MAD_METHOD_SET, SA_JOIN_FULL, JOIN), 0);
	assert_int_equal(LAYOUT_GET(mc_member_record, ans.mad + SA_DATA, mlid), mlid);
	assert_int_equal(LAYOUT_GET(mc_member_record, ans.mad + SA_DATA, qkey), 0x1234);
	assert_int_equal(ports_with(mlid), 6); /* two leaves and the root, two ports each */
	assert_true(reach(a, mlid, b));
	assert_true(reach(b, mlid, a));
	assert_false(reach(a, mlid, a));
	assert_false(reach(a, mlid, c));
	assert_false(reach(a, mlid + 1, b));
	/* a send-only member receives nothing */
	assert_int_equal(group(c, MAD_METHOD_SET, SA_JOIN_SEND_ONLY, JOIN), 0);
	assert_true(reach(c, mlid, a));
	assert_false(reach(a, mlid, c));
	assert_int_equal(group(c, MAD_METHOD_DELETE, SA_JOIN_SEND_ONLY, JOIN), 0);
	assert_int_equal(ports_with(mlid), 6);
	assert_int_equal(table(SA_ATTR_MFT_RECORD, 0), 3 * (TT_RADIX / 16 + 1));
	/* a cable is pulled, and comes back */
	assert_int_equal(fab_unplug(&seg, port_of(2, 1)), 0);
	assert_false(reach(a, mlid, b));
	assert_int_equal(fab_plug(&seg, port_of(2, 1), port_of(0, 2)), 0);
	assert_int_equal(fab_sm_sweep(&seg), 0);
	assert_true(reach(a, mlid, b));
	/* leaving prunes the tree; the last full member ends the group */
	assert_int_equal(group(b, MAD_METHOD_DELETE, SA_JOIN_FULL, JOIN), 0);
	assert_int_equal(ports_with(mlid), 1);
	assert_int_equal(group(a, MAD_METHOD_DELETE, SA_JOIN_FULL, JOIN), 0);
	assert_int_equal(ports_with(mlid), 0);
	assert_int_equal(table(SA_ATTR_MC_MEMBER_RECORD, 0), 0);
}

/* Between the cable's move and the next sweep, the tree still uses that cable. */
static void an_adapter_where_the_tree_led_on_is_no_switch(void **state)
{
	const uint32_t a = port_of(4, 1), b = port_of(5, 1), c = port_of(6, 1);

	assert_int_equal(fab_unplug(&seg, port_of(1, 1)), 0);
	assert_int_equal(fab_unplug(&seg, port_of(9, 1)), 0);
	assert_int_equal(fab_plug(&seg, port_of(1, 1), port_of(9, 1)), 0);
	assert_int_equal(group(a, MAD_METHOD_SET, SA_JOIN_FULL, CREATE), 0);
	assert_int_equal(group(b, MAD_METHOD_SET, SA_JOIN_FULL, JOIN), 0);
	assert_int_equal(group(c, MAD_METHOD_SET, SA_JOIN_FULL, JOIN), 0);
	assert_true(reach(a, FAB_MLID_FIRST, b));
	assert_false(reach(a, FAB_MLID_FIRST, c));
}

/* The last row of the table belongs to the highest group. */
static void all_groups_have_their_rows(void **state)
{
	struct fab_mft *t = seg_at(&seg, SEG_T_MFT, fab_node(&seg, 1)->sw);
	const uint32_t positions = TT_RADIX / 16 + 1;

	fab_subnet(&seg)->mc_top = FAB_MLIDS + 1;
	t[1].mask[0][0] = 2; /* a row of the next switch */
	assert_int_equal(table(SA_ATTR_MFT_RECORD, 0), positions);
	t[0].mask[FAB_MLIDS - 1][0] = 2;
	assert_int_equal(table(SA_ATTR_MFT_RECORD, 0), positions * (1 + FAB_MLIDS / 32));
	/* also for a single group */
	fab_subnet(&seg)->mc_top = 2;
	t[0].mask[FAB_MLIDS - 1][0] = 0;
	t[0].mask[0][0] = 2;
	assert_int_equal(table(SA_ATTR_MFT_RECORD, 0), 2 * positions);
}

/* An earlier manager may have set another subnet prefix. */
static void any_prefix_of_the_subnet_joins(void **state)
{
	const uint32_t a = port_of(4, 1), sm = fab_subnet(&seg)->sm_port;
	const uint64_t prefix = UINT64_C(0xfec0000000001234);

	be64_store(at(a)->gid[0], prefix);
	assert_int_equal(group(a, MAD_METHOD_SET, SA_JOIN_FULL, CREATE), SA_STATUS_REQ_INVALID_GID);
	at(sm)->gid_prefix = prefix;
	assert_int_equal(group(a, MAD_METHOD_SET, SA_JOIN_FULL, CREATE), 0);
}

/* o15-0.1.5, o15-0.1.9, o15-0.1.14, o15-0.2.1, o15-0.2.4 */
static void bad_joins_and_leaves_are_refused(void **state)
{
	const uint32_t a = port_of(4, 1), b = port_of(6, 1);

	assert_int_equal(group(a, MAD_METHOD_SET, SA_JOIN_FULL, JOIN & ~1u),
			 SA_STATUS_REQ_INSUFFICIENT_COMPONENTS);
	assert_int_equal(group(a, MAD_METHOD_SET, SA_JOIN_FULL, JOIN),
			 SA_STATUS_REQ_INSUFFICIENT_COMPONENTS);
	assert_int_equal(group(a, MAD_METHOD_SET, SA_JOIN_NON, CREATE), SA_STATUS_REQ_INVALID);
	assert_int_equal(group(a, MAD_METHOD_DELETE, SA_JOIN_FULL, JOIN), SA_STATUS_REQ_INVALID);
	assert_int_equal(group(a, MAD_METHOD_SET, SA_JOIN_FULL, CREATE), 0);
	assert_int_equal(group(b, MAD_METHOD_SET, 0, JOIN), SA_STATUS_REQ_INVALID);
	LAYOUT_SET(mc_member_record, record(), join_state, SA_JOIN_FULL);
	LAYOUT_SET(mc_member_record, record(), qkey, 1);
	assert_int_equal(ask(SA_ATTR_MC_MEMBER_RECORD, MAD_METHOD_SET, JOIN | 1 << 2),
			 SA_STATUS_REQ_INVALID);
	LAYOUT_SET(mc_member_record, record(), rate_selector, SA_SEL_GREATER);
	LAYOUT_SET(mc_member_record, record(), rate, 17);
	assert_int_equal(ask(SA_ATTR_MC_MEMBER_RECORD, MAD_METHOD_SET, JOIN | 3 << 8),
			 SA_STATUS_REQ_INVALID);
	/* refused: another kind of membership, or a request from another port */
	assert_int_equal(group(a, MAD_METHOD_DELETE, SA_JOIN_NON, JOIN), SA_STATUS_REQ_INVALID);
	assert_int_equal(group(a, MAD_METHOD_DELETE, SA_JOIN_FULL | SA_JOIN_NON, JOIN),
			 SA_STATUS_REQ_INVALID);
	memcpy(LAYOUT_IN(mc_member_record, port_gid, record()), at(a)->gid[0], 16);
	LAYOUT_SET(mc_member_record, record(), join_state, SA_JOIN_FULL);
	from = b;
	assert_int_equal(ask(SA_ATTR_MC_MEMBER_RECORD, MAD_METHOD_DELETE, JOIN),
			 SA_STATUS_REQ_INVALID);
	((uint8_t *)LAYOUT_IN(mc_member_record, port_gid, record()))[0] = 0xff;
	assert_int_equal(ask(SA_ATTR_MC_MEMBER_RECORD, MAD_METHOD_SET, JOIN),
			 SA_STATUS_REQ_INVALID_GID);
	/* a port with a smaller MTU */
	at(b)->active_mtu = IBV_MTU_256;
	assert_int_equal(group(b, MAD_METHOD_SET, SA_JOIN_FULL, JOIN), SA_STATUS_REQ_INVALID);
}

/* A group is not made if there is no space for its first member. */
static void a_group_without_room_for_members_is_none(void **state)
{
	uint32_t i, n = 0;

	while (!seg_alloc(&seg, SEG_T_MCMEM, SEG_OWNER_DEVICE, &i))
		n++;
	assert_true(n > 0);
	assert_int_equal(group(port_of(4, 1), MAD_METHOD_SET, SA_JOIN_FULL, CREATE),
			 SA_STATUS_NO_RESOURCES);
	assert_int_equal(seg_next(&seg, SEG_T_MCGRP, SEG_OWNER_ANY, 0), SEG_NONE);
}

/*
 * A process that dies midway leaves a group without members, a member without group, or half a
 * record. The next one that takes the lock removes these, whether it joins or not.
 */
static void what_a_dead_process_was_making_is_gone(void **state, bool joins)
{
	struct seg_lock *l = &fab_subnet(&seg)->lock;
	uint32_t slot, gen, i, r;

	assert_int_equal(seg_alloc(&seg, SEG_T_SAREC, SEG_OWNER_DEVICE, &r), 0);
	assert_int_equal(group(port_of(4, 1), MAD_METHOD_SET, SA_JOIN_FULL, CREATE), 0);
	assert_int_equal(seg_alloc_at(&seg, SEG_T_MCGRP, SEG_OWNER_DEVICE, 2), 0);
	fab_subnet(&seg)->mc_top = 3;
	assert_int_equal(seg_alloc(&seg, SEG_T_MCMEM, SEG_OWNER_DEVICE, &i), 0);
	assert_int_equal(seg_proc_register(&seg, SEG_NONE, 1, 1, &slot, &gen), 0);
	assert_int_equal(seg_lock(&seg, l, SEG_LOCK_CTRL_NS), 0);
	/* the lock word of that process */
	l->word = (gen & 0x7f) << 24 | (slot + 1);
	seg_proc(&seg, slot)->state = SEG_PROC_DEAD;
	if (!joins)
		assert_int_equal(fab_sm_sweep(&seg), 0);
	assert_int_equal(group(port_of(6, 1), MAD_METHOD_SET, SA_JOIN_FULL, JOIN), 0);
	assert_null(seg_live(&seg, SEG_T_MCGRP, 2));
	assert_null(seg_live(&seg, SEG_T_MCMEM, i));
	assert_null(seg_live(&seg, SEG_T_SAREC, r));
	assert_true(reach(port_of(4, 1), FAB_MLID_FIRST, port_of(6, 1)));
}

static void a_join_repairs_what_a_dead_process_left(void **state)
{
	what_a_dead_process_was_making_is_gone(state, true);
}

static void a_sweep_repairs_what_a_dead_process_left(void **state)
{
	what_a_dead_process_was_making_is_gone(state, false);
}

static void an_mgid_is_made_when_none_is_given(void **state)
{
	group(port_of(4, 1), MAD_METHOD_SET, SA_JOIN_FULL, CREATE);
	memset(LAYOUT_IN(mc_member_record, mgid, record()), 0, 16);
	assert_int_equal(ask(SA_ATTR_MC_MEMBER_RECORD, MAD_METHOD_SET, CREATE), 0);
	assert_int_equal(ans.mad[SA_DATA], 0xff);
	assert_int_equal(ans.mad[SA_DATA + 2], 0xa0);
	assert_int_equal(LAYOUT_GET(mc_member_record, ans.mad + SA_DATA, mlid), FAB_MLID_FIRST + 1);
}

static void members_are_told_to_the_trusted_only(void **state)
{
	group(port_of(4, 1), MAD_METHOD_SET, SA_JOIN_FULL, CREATE);
	group(port_of(6, 1), MAD_METHOD_SET, SA_JOIN_FULL, JOIN);
	assert_int_equal(table(SA_ATTR_MC_MEMBER_RECORD, 1), 1);
	assert_int_equal(LAYOUT_GET(mc_member_record, ans.data, join_state), 0);
	LAYOUT_SET(sa_hdr, req, sm_key, FAB_SA_KEY);
	assert_int_equal(table(SA_ATTR_MC_MEMBER_RECORD, 1), 2);
	assert_int_equal(LAYOUT_GET(mc_member_record, ans.data, join_state), SA_JOIN_FULL);
	assert_int_equal(table(SA_ATTR_MC_MEMBER_RECORD, 3), 1);
}

static void a_path_to_a_group_is_the_groups(void **state)
{
	group(port_of(4, 1), MAD_METHOD_SET, SA_JOIN_FULL, CREATE);
	memset(record(), 0, SA_DATA_SIZE);
	memcpy(LAYOUT_IN(path_record, dgid, record()), mgid, 16);
	assert_int_equal(ask(SA_ATTR_PATH_RECORD, MAD_METHOD_GET, DGID), 0);
	assert_int_equal(LAYOUT_GET(path_record, ans.mad + SA_DATA, dlid), FAB_MLID_FIRST);
}

/* ---- records that clients store */

static void services_are_kept_until_they_are_deleted_or_their_lease_ends(void **state)
{
	LAYOUT_SET(service_record, record(), service_id, 5);
	memcpy(LAYOUT_IN(service_record, gid, record()), at(from)->gid[0], 16);
	assert_int_equal(ask(SA_ATTR_SERVICE_RECORD, MAD_METHOD_SET, 1), SA_STATUS_REQ_INVALID);
	assert_int_equal(ask(SA_ATTR_SERVICE_RECORD, MAD_METHOD_SET, 3), 0);
	assert_int_equal(LAYOUT_GET(service_record, ans.mad + SA_DATA, lease), UINT32_MAX);
	assert_int_equal(LAYOUT_GET(service_record, ans.mad + SA_DATA, pkey), 0xffff);
	assert_int_equal(ask(SA_ATTR_SERVICE_RECORD, MAD_METHOD_SET, 3), 0); /* again */
	assert_int_equal(table(SA_ATTR_SERVICE_RECORD, 0), 1);
	LAYOUT_SET(service_record, record(), service_id, 6);
	LAYOUT_SET(service_record, record(), lease, 0);
	assert_int_equal(ask(SA_ATTR_SERVICE_RECORD, MAD_METHOD_SET, 3 | 1 << 4), 0);
	assert_int_equal(table(SA_ATTR_SERVICE_RECORD, 0), 1);
	assert_int_equal(ask(SA_ATTR_SERVICE_RECORD, MAD_METHOD_DELETE, 3), SA_STATUS_NO_RECORDS);
	LAYOUT_SET(service_record, record(), service_id, 5);
	assert_int_equal(ask(SA_ATTR_SERVICE_RECORD, MAD_METHOD_GET, 1), 0);
	assert_int_equal(ask(SA_ATTR_SERVICE_RECORD, MAD_METHOD_DELETE, 3), 0);
	assert_int_equal(ask(SA_ATTR_SERVICE_RECORD, MAD_METHOD_GET, 1), SA_STATUS_NO_RECORDS);
}

static void subscriptions_are_kept_and_taken_back(void **state)
{
	LAYOUT_SET(inform_info, record(), is_generic, 1);
	LAYOUT_SET(inform_info, record(), trap_num, 64);
	LAYOUT_SET(inform_info, record(), subscribe, 1);
	assert_int_equal(ask(MAD_ATTR_INFORM_INFO, MAD_METHOD_SET, 0), 0);
	memset(record(), 0, SA_DATA_SIZE);
	assert_int_equal(table(SA_ATTR_INFORM_INFO_RECORD, 0), 1);
	assert_memory_equal(ans.data, at(from)->gid[0], 16);
	LAYOUT_SET(inform_info, record(), is_generic, 1);
	LAYOUT_SET(inform_info, record(), trap_num, 64);
	LAYOUT_SET(inform_info, record(), qpn, 1);
	assert_int_equal(ask(MAD_ATTR_INFORM_INFO, MAD_METHOD_SET, 0), 0);
	assert_int_equal(ask(MAD_ATTR_INFORM_INFO, MAD_METHOD_SET, 0), SA_STATUS_REQ_INVALID);
	LAYOUT_SET(inform_info, record(), trap_num, 257);
	LAYOUT_SET(inform_info, record(), subscribe, 1);
	assert_int_equal(ask(MAD_ATTR_INFORM_INFO, MAD_METHOD_SET, 0), SA_STATUS_REQ_INVALID);
	assert_int_equal(ask(MAD_ATTR_INFORM_INFO, MAD_METHOD_GET, 0), MAD_STATUS_BAD_ATTR);
}

#define T(f) cmocka_unit_test_setup_teardown(f, make, drop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(nobody_but_the_managers_port_answers),
		T(what_is_no_request_is_not_answered),
		T(a_wrong_key_is_not_answered_and_none_is_told),
		T(statuses_say_what_is_wrong),
		T(tables_are_complete),
		T(a_node_is_found_by_its_name_and_guid),
		T(the_manager_is_found_by_its_bit),
		T(a_path_is_as_its_way_is),
		T(a_path_is_for_every_service),
		T(a_path_is_for_every_service),
		T(no_way_is_no_path),
		T(members_reach_each_other_and_nobody_else),
		T(an_adapter_where_the_tree_led_on_is_no_switch),
		T(all_groups_have_their_rows),
		T(any_prefix_of_the_subnet_joins),
		T(bad_joins_and_leaves_are_refused),
		T(a_group_without_room_for_members_is_none),
		T(a_join_repairs_what_a_dead_process_left),
		T(a_sweep_repairs_what_a_dead_process_left),
		T(an_mgid_is_made_when_none_is_given),
		T(members_are_told_to_the_trusted_only),
		T(a_path_to_a_group_is_the_groups),
		T(services_are_kept_until_they_are_deleted_or_their_lease_ends),
		T(subscriptions_are_kept_and_taken_back),
	};

	return cmocka_run_group_tests_name("sa", tests, NULL, NULL);
}
