/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The SA's alias GUIDs, MultiPathRecords, and IPoIB's broadcast group. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "fabric/test_topo.h"
#include "hw/port.h"
#include "subnet/sa.h"
#include "subnet/subnet.h"

static struct seg seg;
static struct tt topo;
static struct fab_sa_answer ans;
static uint8_t req[MAD_SIZE];
static uint32_t ca[6], sm; /* the adapters' ports, the manager's */

static struct hw_port *at(uint32_t port)
{
	return seg_at(&seg, SEG_T_PORT, port);
}

static int build(bool ipoib)
{
	struct fab_options o = tt_options;

	memset(&seg, 0, sizeof(seg));
	tt_tree2(&topo, 2, 3, 2);
	o.ipoib = ipoib;
	assert_int_equal(seg_create(&seg, "test"), 0);
	assert_int_equal(fab_build(&seg, &topo.t, &o), 0);
	sm = fab_subnet(&seg)->sm_port;
	for (uint32_t i = 0; i < 6; i++)
		ca[i] = fab_node_port(fab_node(&seg, 1 + 5 + i), 1);
	memset(req, 0, sizeof(req));
	return 0;
}

/* Two roots (nodes 0, 1), three leaves with two adapters each (nodes 5 to 10). */
static int make(void **state)
{
	return build(false);
}

static int make_ipoib(void **state)
{
	return build(true);
}

static int drop(void **state)
{
	fab_sa_free(&ans);
	seg_unmap(&seg);
	tt_free(&topo);
	return 0;
}

static uint8_t *record(void)
{
	return req + SA_DATA;
}

static enum fab_mad_result send(uint32_t from, uint32_t attr, uint32_t method, uint64_t mask)
{
	fab_sa_free(&ans);
	LAYOUT_SET(mad_hdr, req, base_version, 1);
	LAYOUT_SET(mad_hdr, req, mgmt_class, MAD_CLASS_SA);
	LAYOUT_SET(mad_hdr, req, class_version, 2);
	LAYOUT_SET(mad_hdr, req, method, method);
	LAYOUT_SET(mad_hdr, req, attr_id, attr);
	LAYOUT_SET(sa_hdr, req, comp_mask, mask);
	return fab_sa(&seg, sm, from, req, &ans);
}

static uint32_t ask(uint32_t attr, uint32_t method, uint64_t mask)
{
	assert_int_equal(send(ca[0], attr, method, mask), FAB_MAD_REPLY);
	return LAYOUT_GET32(mad_hdr, ans.mad, status);
}

/* ---- alias GUIDs */

#define GIR(i) (UINT64_C(3) | UINT64_C(1) << (4 + (i))) /* LID, block, and GUID i */

static uint32_t guid(uint32_t method, uint32_t port, uint32_t i, uint64_t value)
{
	memset(record(), 0, SA_DATA_SIZE);
	LAYOUT_SET(guid_info_record, record(), lid, at(port)->lid);
	be64_store(record() + 8 + 8 * i, value);
	return ask(SA_ATTR_GUID_INFO_RECORD, method, GIR(i));
}

static uint64_t answered(uint32_t i)
{
	return be64_load(ans.mad + SA_DATA + 8 + 8 * i);
}

static void an_alias_is_in_the_tables_of_its_port(void **state)
{
	uint8_t smp[MAD_SIZE] = {0}, out[MAD_SIZE];

	assert_int_equal(guid(MAD_METHOD_SET, ca[3], 2, 0x1234), 0);
	assert_int_equal(LAYOUT_GET(mad_hdr, ans.mad, method), MAD_METHOD_GET_RESP);
	assert_int_equal(answered(0), at(ca[3])->guid);
	assert_int_equal(answered(2), 0x1234);
	assert_int_equal(be64_load(at(ca[3])->gid[2]), at(ca[3])->gid_prefix);
	assert_int_equal(fab_port_by_gid(&seg, at(ca[3])->gid[2]), ca[3]);
	LAYOUT_SET(mad_hdr, smp, mgmt_class, MAD_CLASS_SUBN_LID);
	LAYOUT_SET(mad_hdr, smp, class_version, 1);
	LAYOUT_SET(mad_hdr, smp, method, MAD_METHOD_GET);
	LAYOUT_SET(mad_hdr, smp, attr_id, SMP_ATTR_GUID_INFO);
	assert_int_equal(fab_mad(&seg, ca[3], 1, smp, out), FAB_MAD_REPLY);
	assert_int_equal(be64_load(out + SMP_DATA + 16), 0x1234);
	assert_int_equal(guid(MAD_METHOD_DELETE, ca[3], 2, 0), 0);
	assert_int_equal(answered(2), 0);
	assert_int_equal(be64_load(at(ca[3])->gid[2] + 8), 0);
}

static void the_sa_chooses_a_guid_and_keeps_to_it(void **state)
{
	uint64_t was;

	assert_int_equal(guid(MAD_METHOD_SET, ca[3], 1, 0), 0);
	was = answered(1);
	assert_int_equal(was >> 40, 0x1405);
	assert_int_equal(guid(MAD_METHOD_SET, ca[3], 1, 0), 0);
	assert_int_equal(answered(1), was);
	assert_int_equal(guid(MAD_METHOD_SET, ca[2], 1, 0), 0);
	assert_int_not_equal(answered(1), was);
	assert_int_equal(guid(MAD_METHOD_DELETE, ca[3], 1, 0), 0);
	assert_int_equal(guid(MAD_METHOD_SET, ca[3], 1, 0), 0);
	assert_int_equal(answered(1), was);
	/* Somebody else has it meanwhile. */
	assert_int_equal(guid(MAD_METHOD_DELETE, ca[3], 1, 0), 0);
	assert_int_equal(guid(MAD_METHOD_SET, ca[4], 5, was), 0);
	assert_int_equal(guid(MAD_METHOD_SET, ca[3], 1, 0), 0);
	assert_true(answered(1) && answered(1) != was);
}

static void a_guid_has_one_place(void **state)
{
	assert_int_equal(guid(MAD_METHOD_SET, ca[3], 2, 0x1234), 0);
	assert_int_equal(guid(MAD_METHOD_SET, ca[2], 2, 0x1234), 0);
	assert_int_equal(answered(2), 0);
	assert_int_equal(guid(MAD_METHOD_SET, ca[3], 3, 0x1234), 0);
	assert_int_equal(answered(3), 0);
	assert_int_equal(guid(MAD_METHOD_SET, ca[2], 2, at(ca[1])->guid), 0);
	assert_int_equal(answered(2), 0);
	/* Twice in one request. */
	memset(record(), 0, SA_DATA_SIZE);
	LAYOUT_SET(guid_info_record, record(), lid, at(ca[4])->lid);
	be64_store(record() + 8 + 8 * 4, 0x77);
	be64_store(record() + 8 + 8 * 6, 0x77);
	assert_int_equal(ask(SA_ATTR_GUID_INFO_RECORD, MAD_METHOD_SET, GIR(4) | GIR(6)), 0);
	assert_int_equal(answered(4), 0x77);
	assert_int_equal(answered(6), 0);
}

static void guids_that_cannot_be_changed(void **state)
{
	uint8_t r[SA_DATA_SIZE];

	assert_int_equal(guid(MAD_METHOD_SET, ca[3], 0, 7), SA_STATUS_REQ_INVALID);
	assert_int_equal(guid(MAD_METHOD_DELETE, ca[3], 0, 0), SA_STATUS_REQ_INVALID);
	assert_int_equal(ask(SA_ATTR_GUID_INFO_RECORD, MAD_METHOD_SET, 1),
			 SA_STATUS_REQ_INSUFFICIENT_COMPONENTS);
	LAYOUT_SET(guid_info_record, record(), block_num, 1);
	assert_int_equal(ask(SA_ATTR_GUID_INFO_RECORD, MAD_METHOD_SET, GIR(1)),
			 SA_STATUS_NO_RECORDS);
	LAYOUT_SET(guid_info_record, record(), block_num, 0);
	LAYOUT_SET(guid_info_record, record(), lid, 0x777);
	assert_int_equal(ask(SA_ATTR_GUID_INFO_RECORD, MAD_METHOD_SET, GIR(1)),
			 SA_STATUS_NO_RECORDS);
	/* A port has joined a group by its alias GUID, so that GUID cannot be deleted. */
	assert_int_equal(guid(MAD_METHOD_SET, ca[0], 2, 0x1234), 0);
	memset(r, 0, sizeof(r));
	memcpy(r, "\xff\x12\x40\x1b\xff\xff", 6);
	memcpy(r + 16, at(ca[0])->gid[2], 16);
	LAYOUT_SET(mc_member_record, r, pkey, 0xffff);
	LAYOUT_SET(mc_member_record, r, join_state, 1);
	memcpy(record(), r, sizeof(r));
	assert_int_equal(ask(SA_ATTR_MC_MEMBER_RECORD, MAD_METHOD_SET, 0x130c7), 0);
	assert_int_equal(guid(MAD_METHOD_DELETE, ca[0], 2, 0), SA_STATUS_REQ_DENIED);
	/* Another partition gets no answer. */
	at(ca[3])->pkey[0] = 0x8001;
	memset(record(), 0, SA_DATA_SIZE);
	LAYOUT_SET(guid_info_record, record(), lid, at(ca[3])->lid);
	assert_int_equal(send(ca[0], SA_ATTR_GUID_INFO_RECORD, MAD_METHOD_SET, GIR(2)),
			 FAB_MAD_CONSUMED);
	assert_int_equal(fab_subnet(&seg)->lock.word, 0);
}

/* ---- MultiPathRecord */

#define COUNTS (UINT64_C(1) << 19 | UINT64_C(1) << 20)
#define NUMB (UINT64_C(1) << 6)

/* From the first `n` adapters to the last `m`. */
static void multi(uint32_t n, uint32_t m)
{
	uint8_t *gid = record() + MULTI_PATH_GIDS;

	memset(record(), 0, SA_DATA_SIZE);
	LAYOUT_SET(mad_rmpp, req, flags, MAD_RMPP_ACTIVE);
	LAYOUT_SET(multi_path_record, record(), sgid_count, n);
	LAYOUT_SET(multi_path_record, record(), dgid_count, m);
	for (uint32_t i = 0; i < n; i++, gid += 16)
		memcpy(gid, at(ca[i])->gid[0], 16);
	for (uint32_t i = 0; i < m; i++, gid += 16)
		memcpy(gid, at(ca[6 - m + i])->gid[0], 16);
}

static uint32_t paths(uint64_t mask)
{
	assert_int_equal(ask(SA_ATTR_MULTI_PATH_RECORD, MAD_METHOD_GET_MULTI, mask), 0);
	assert_true(ans.rmpp);
	assert_int_equal(LAYOUT_GET(mad_hdr, ans.mad, attr_id), SA_ATTR_PATH_RECORD);
	assert_int_equal(LAYOUT_GET(mad_hdr, ans.mad, method), MAD_METHOD_GET_MULTI | 0x80);
	return ans.len / LAYOUT_SZ(path_record);
}

static uint32_t lid_of(uint32_t i, bool dst)
{
	const uint8_t *r = ans.data + i * LAYOUT_SZ(path_record);

	return dst ? LAYOUT_GET32(path_record, r, dlid) : LAYOUT_GET32(path_record, r, slid);
}

static void every_pair_has_a_path(void **state)
{
	multi(2, 3);
	assert_int_equal(paths(COUNTS), 6);
	for (uint32_t i = 0; i < 6; i++) {
		assert_int_equal(lid_of(i, false), at(ca[i / 3])->lid);
		assert_int_equal(lid_of(i, true), at(ca[3 + i % 3])->lid);
	}
	assert_memory_equal(LAYOUT_IN(path_record, dgid, ans.data), at(ca[3])->gid[0], 16);
	LAYOUT_SET(multi_path_record, record(), numb_path, 4);
	assert_int_equal(paths(COUNTS | NUMB), 4);
}

static void paths_are_as_the_request_wants_them(void **state)
{
	multi(1, 2);
	LAYOUT_SET(multi_path_record, record(), mtu_selector, SA_SEL_GREATER);
	LAYOUT_SET(multi_path_record, record(), mtu, 5);
	assert_int_equal(paths(COUNTS | 3 << 10), 0);
	LAYOUT_SET(multi_path_record, record(), mtu_selector, SA_SEL_EXACTLY);
	LAYOUT_SET(multi_path_record, record(), mtu, at(ca[0])->active_mtu);
	assert_int_equal(paths(COUNTS | 3 << 10), 2);
	LAYOUT_SET(multi_path_record, record(), sl, 3);
	assert_int_equal(paths(COUNTS | 1 << 9), 0);
	LAYOUT_SET(multi_path_record, record(), pkey, 0x8001);
	assert_int_equal(paths(COUNTS | 1 << 7), 0);
}

/* Two of two sources and destinations: they have no end in common, in any order of the GIDs. */
static void two_paths_for_migration(void **state)
{
	uint8_t gid[16], *first = record() + MULTI_PATH_GIDS;
	uint32_t was[2];

	multi(2, 2);
	LAYOUT_SET(multi_path_record, record(), numb_path, 2);
	assert_int_equal(paths(COUNTS | NUMB), 2);
	assert_int_not_equal(lid_of(0, false), lid_of(1, false));
	assert_int_not_equal(lid_of(0, true), lid_of(1, true));
	was[0] = lid_of(0, true);
	was[1] = lid_of(1, true);
	memcpy(gid, first, 16);
	memcpy(first, first + 16, 16);
	memcpy(first + 16, gid, 16);
	assert_int_equal(paths(COUNTS | NUMB), 2);
	assert_int_equal(lid_of(0, true), was[0]);
	assert_int_equal(lid_of(1, true), was[1]);
}

static void requests_for_paths_that_are_wrong(void **state)
{
	static const struct {
		uint64_t mask;
		uint32_t n, m, status;
	} rows[] = {
		{0, 1, 1, SA_STATUS_REQ_INSUFFICIENT_COMPONENTS},
		{UINT64_C(1) << 19, 1, 1, SA_STATUS_REQ_INSUFFICIENT_COMPONENTS},
		{COUNTS | 1 << 16, 1, 1, SA_STATUS_REQ_INSUFFICIENT_COMPONENTS},
		{COUNTS | 3 << 12, 1, 1, SA_STATUS_REQ_INVALID}, /* rate 0 */
		{COUNTS | 3 << 10, 1, 1, SA_STATUS_REQ_INVALID}, /* MTU 0 */
		{COUNTS, 0, 1, SA_STATUS_REQ_INVALID},
		{COUNTS, 1, 0, SA_STATUS_REQ_INVALID},
	};

	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		multi(rows[i].n, rows[i].m);
		assert_int_equal(ask(SA_ATTR_MULTI_PATH_RECORD, MAD_METHOD_GET_MULTI, rows[i].mask),
				 rows[i].status);
	}
	multi(1, 1);
	record()[MULTI_PATH_GIDS + 15] ^= 0x55;
	assert_int_equal(ask(SA_ATTR_MULTI_PATH_RECORD, MAD_METHOD_GET_MULTI, COUNTS),
			 SA_STATUS_REQ_INVALID_GID);
	multi(1, 1);
	LAYOUT_SET(mad_rmpp, req, flags, 0);
	assert_int_equal(ask(SA_ATTR_MULTI_PATH_RECORD, MAD_METHOD_GET_MULTI, COUNTS),
			 SA_STATUS_REQ_INVALID);
	assert_int_equal(ask(SA_ATTR_MULTI_PATH_RECORD, MAD_METHOD_GET, COUNTS),
			 MAD_STATUS_BAD_ATTR);
	/* More GIDs than a MAD can have. */
	multi(1, 1);
	LAYOUT_SET(multi_path_record, record(), sgid_count, 255);
	assert_int_not_equal(ask(SA_ATTR_MULTI_PATH_RECORD, MAD_METHOD_GET_MULTI, COUNTS), 0);
}

/* ---- IPoIB's broadcast group */

static void the_broadcast_group_needs_no_members(void **state)
{
	const uint8_t *r = ans.mad + SA_DATA;
	uint64_t join = 0x10083; /* no values: the group has them */

	memset(record(), 0, SA_DATA_SIZE);
	memcpy(record(), "\xff\x12\x40\x1b\xff\xff\0\0\0\0\0\0\xff\xff\xff\xff", 16);
	assert_int_equal(ask(SA_ATTR_MC_MEMBER_RECORD, MAD_METHOD_GET, 1), 0);
	assert_int_equal(LAYOUT_GET(mc_member_record, r, qkey), 0x0b1b);
	assert_int_equal(LAYOUT_GET(mc_member_record, r, mtu), 4);
	assert_int_equal(LAYOUT_GET(mc_member_record, r, rate), 3);
	assert_int_equal(LAYOUT_GET(mc_member_record, r, mlid), 0xc000);
	assert_int_equal(LAYOUT_GET(mc_member_record, r, pkey), 0xffff);
	memcpy(record() + 16, at(ca[0])->gid[0], 16);
	LAYOUT_SET(mc_member_record, record(), pkey, 0xffff);
	LAYOUT_SET(mc_member_record, record(), join_state, 1);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(ask(SA_ATTR_MC_MEMBER_RECORD, MAD_METHOD_SET, join), 0);
		assert_int_equal(LAYOUT_GET(mc_member_record, r, qkey), 0x0b1b);
		assert_int_equal(ask(SA_ATTR_MC_MEMBER_RECORD, MAD_METHOD_DELETE, join), 0);
		sa_groups_repair(&seg);
	}
	assert_int_equal(ask(SA_ATTR_MC_MEMBER_RECORD, MAD_METHOD_GET, 1), 0);
}

static void without_the_wish_there_is_no_group(void **state)
{
	assert_int_equal(ask(SA_ATTR_MC_MEMBER_RECORD, MAD_METHOD_GET, 0), SA_STATUS_NO_RECORDS);
}

#define T(f) cmocka_unit_test_setup_teardown(f, make, drop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(an_alias_is_in_the_tables_of_its_port),
		T(the_sa_chooses_a_guid_and_keeps_to_it),
		T(a_guid_has_one_place),
		T(guids_that_cannot_be_changed),
		T(every_pair_has_a_path),
		T(paths_are_as_the_request_wants_them),
		T(two_paths_for_migration),
		T(requests_for_paths_that_are_wrong),
		cmocka_unit_test_setup_teardown(the_broadcast_group_needs_no_members, make_ipoib,
						drop),
		T(without_the_wish_there_is_no_group),
	};

	return cmocka_run_group_tests_name("sa_more", tests, NULL, NULL);
}
