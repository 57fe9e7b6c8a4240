/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which notices the built-in SA reports to which subscribers, and until when. */
#include <stdint.h>

#include <string.h>

#include "fabric/notice.h"
#include "fabric/test_topo.h"
#include "hw/port.h"
#include "subnet/sa.h"
#include "subnet/subnet.h"
#include "util/test_cmocka.h"

static struct seg seg;
static struct tt topo;
static uint8_t req[MAD_SIZE];
static uint32_t from, other, sm; /* ports: the subscriber's, another adapter's, the manager's */

/* The MAD that was sent last, and the number of all. */
static uint8_t sent[MAD_SIZE];
static uint32_t nsent, sent_to;

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
	from = port_of(5, 1);
	other = port_of(9, 1);
	memset(req, 0, sizeof(req));
	return 0;
}

static int drop(void **state)
{
	seg_unmap(&seg);
	tt_free(&topo);
	return 0;
}

static uint32_t ask(uint32_t attr, uint32_t method, uint64_t mask)
{
	struct fab_sa_answer a = {0};
	uint32_t status;

	LAYOUT_SET(mad_hdr, req, base_version, 1);
	LAYOUT_SET(mad_hdr, req, mgmt_class, MAD_CLASS_SA);
	LAYOUT_SET(mad_hdr, req, class_version, 2);
	LAYOUT_SET(mad_hdr, req, method, method);
	LAYOUT_SET(mad_hdr, req, attr_id, attr);
	LAYOUT_SET(sa_hdr, req, comp_mask, mask);
	assert_int_equal(fab_sa(&seg, sm, from, req, &a), FAB_MAD_REPLY);
	status = LAYOUT_GET32(mad_hdr, a.mad, status);
	fab_sa_free(&a);
	return status;
}

/* InformInfo for a trap of any source. */
static uint8_t *info(uint32_t trap)
{
	uint8_t *d = req + SA_DATA;

	memset(d, 0, SA_DATA_SIZE);
	LAYOUT_SET(inform_info, d, lid_range_begin, 0xffff);
	LAYOUT_SET(inform_info, d, is_generic, 1);
	LAYOUT_SET(inform_info, d, subscribe, 1);
	LAYOUT_SET(inform_info, d, type, 0xffff);
	LAYOUT_SET(inform_info, d, trap_num, trap);
	LAYOUT_SET(inform_info, d, producer_type, 0xffffff);
	return d;
}

static uint32_t set(void)
{
	return ask(MAD_ATTR_INFORM_INFO, MAD_METHOD_SET, 0);
}

static void take(struct seg *s, uint32_t port, uint32_t dlid, const uint8_t *mad)
{
	if (LAYOUT_GET(mad_hdr, mad, mgmt_class) != MAD_CLASS_SA)
		return;
	assert_int_equal(port, sm);
	memcpy(sent, mad, MAD_SIZE);
	sent_to = dlid;
	nsent++;
}

/* Sends what is due, and what was sent before and waits, too. */
static uint32_t reports(void)
{
	nsent = 0;
	seg_for_each_live (&seg, SEG_T_NOTICE, i)
		((struct fab_notice *)seg_at(&seg, SEG_T_NOTICE, i))->due = 0;
	fab_notices_run(&seg, take);
	return nsent;
}

static const uint8_t *notice(void)
{
	return sent + SA_DATA;
}

static bool answer(uint32_t port, uint64_t tid)
{
	struct fab_sa_answer a;
	uint8_t mad[MAD_SIZE];

	memcpy(mad, sent, MAD_SIZE);
	LAYOUT_SET(mad_hdr, mad, method, MAD_METHOD_REPORT_RESP);
	LAYOUT_SET(mad_hdr, mad, tid, tid);
	return fab_sa(&seg, sm, port, mad, &a) == FAB_MAD_CONSUMED;
}

/* A trap of another adapter's agent arrives at the manager. */
static void trap(uint32_t num, uint32_t type)
{
	uint8_t mad[MAD_SIZE] = {0}, out[MAD_SIZE], *d = mad + SMP_DATA;

	LAYOUT_SET(mad_hdr, mad, mgmt_class, MAD_CLASS_SUBN_LID);
	LAYOUT_SET(mad_hdr, mad, class_version, 1);
	LAYOUT_SET(mad_hdr, mad, method, MAD_METHOD_TRAP);
	LAYOUT_SET(mad_hdr, mad, attr_id, MAD_ATTR_NOTICE);
	LAYOUT_SET(notice, d, is_generic, 1);
	LAYOUT_SET(notice, d, type, type);
	LAYOUT_SET(notice, d, producer_type, 1);
	LAYOUT_SET(notice, d, trap_num, num);
	LAYOUT_SET(notice, d, issuer_lid, at(other)->lid);
	assert_int_equal(fab_mad(&seg, sm, (uint16_t)at(other)->lid, mad, out), FAB_MAD_REPLY);
	assert_int_equal(LAYOUT_GET(mad_hdr, out, method), MAD_METHOD_TRAP_REPRESS);
}

/* ---- what is reported */

static void a_trap_is_forwarded_with_its_issuer(void **state)
{
	info(TRAP_LOCAL_CHANGES);
	assert_int_equal(set(), 0);
	trap(TRAP_LOCAL_CHANGES, NOTICE_TYPE_INFO);
	assert_int_equal(reports(), 1);
	assert_int_equal(sent_to, at(from)->lid);
	assert_int_equal(LAYOUT_GET(mad_hdr, sent, class_version), 2);
	assert_int_equal(LAYOUT_GET(mad_hdr, sent, method), MAD_METHOD_REPORT);
	assert_int_equal(LAYOUT_GET(mad_hdr, sent, attr_id), MAD_ATTR_NOTICE);
	assert_int_equal(LAYOUT_GET(notice, notice(), trap_num), TRAP_LOCAL_CHANGES);
	assert_int_equal(LAYOUT_GET(notice, notice(), issuer_lid), at(other)->lid);
	assert_memory_equal(LAYOUT_IN(notice, issuer_gid, notice()), at(other)->gid[0], 16);
}

static void nobody_hears_what_he_has_not_asked_for(void **state)
{
	trap(TRAP_LOCAL_CHANGES, NOTICE_TYPE_INFO);
	assert_int_equal(reports(), 0);
	info(TRAP_SYSTEM_GUID);
	assert_int_equal(set(), 0);
	trap(TRAP_LOCAL_CHANGES, NOTICE_TYPE_INFO);
	assert_int_equal(reports(), 0);
}

/* IBA 13.4.8.3: every component of InformInfo may name one source or kind, or any. */
static void components_choose(void **state)
{
	static const struct {
		uint32_t first, last, type, producer;
		bool gid, hears;
	} rows[] = {
		{0xffff, 0, 0xffff, 0xffffff, false, true},
		{0xffff, 0, NOTICE_TYPE_INFO, 1, false, true},
		{0xffff, 0, NOTICE_TYPE_URGENT, 1, false, false},
		{0xffff, 0, 0xffff, 2, false, false},
		{1, 5, 0xffff, 0xffffff, false, false}, /* `other` has LID 6 */
		{1, 6, 0xffff, 0xffffff, false, true},
		{6, 0, 0xffff, 0xffffff, false, true},
		{0, 0, 0xffff, 0xffffff, true, true}, /* a GID: the range counts for nothing */
	};

	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint8_t *d = info(0xffff);

		LAYOUT_SET(inform_info, d, lid_range_begin, rows[i].first);
		LAYOUT_SET(inform_info, d, lid_range_end, rows[i].last);
		LAYOUT_SET(inform_info, d, type, rows[i].type);
		LAYOUT_SET(inform_info, d, producer_type, rows[i].producer);
		if (rows[i].gid)
			memcpy(LAYOUT_IN(inform_info, gid, d), at(other)->gid[0], 16);
		assert_int_equal(set(), 0);
		trap(TRAP_LOCAL_CHANGES, NOTICE_TYPE_INFO);
		assert_int_equal(reports(), rows[i].hears);
		LAYOUT_SET(inform_info, d, subscribe, 0);
		LAYOUT_SET(inform_info, d, qpn, 1);
		assert_int_equal(set(), 0);
		assert_int_equal(reports(), 0);
	}
}

static void ports_come_and_go(void **state)
{
	uint32_t leaf = fab_peer(&seg, other);

	info(TRAP_OUT_OF_SERVICE);
	assert_int_equal(set(), 0);
	assert_int_equal(fab_unplug(&seg, other), 0);
	assert_int_equal(fab_sm_sweep(&seg), 0);
	assert_int_equal(reports(), 1);
	assert_int_equal(LAYOUT_GET(notice, notice(), trap_num), TRAP_OUT_OF_SERVICE);
	assert_int_equal(LAYOUT_GET(notice, notice(), type), NOTICE_TYPE_SM);
	assert_int_equal(LAYOUT_GET(notice, notice(), producer_type), 4);
	assert_memory_equal(LAYOUT_IN(notice_64_67, gid, notice()), at(other)->gid[0], 16);
	assert_memory_equal(LAYOUT_IN(notice, issuer_gid, notice()), at(sm)->gid[0], 16);
	assert_true(answer(from, LAYOUT_GET(mad_hdr, sent, tid)));
	info(TRAP_IN_SERVICE);
	assert_int_equal(set(), 0);
	assert_int_equal(fab_sm_sweep(&seg), 0);
	assert_int_equal(reports(), 0);
	assert_int_equal(fab_plug(&seg, other, leaf), 0);
	assert_int_equal(fab_sm_sweep(&seg), 0);
	assert_int_equal(reports(), 1);
	assert_int_equal(LAYOUT_GET(notice, notice(), trap_num), TRAP_IN_SERVICE);
}

/* osm_drop_mgr.c */
static void a_port_out_of_service_is_no_subscriber(void **state)
{
	uint32_t leaf = fab_peer(&seg, from);

	info(TRAP_LOCAL_CHANGES);
	assert_int_equal(set(), 0);
	assert_int_equal(fab_unplug(&seg, from), 0);
	assert_int_equal(fab_sm_sweep(&seg), 0);
	assert_int_equal(fab_plug(&seg, from, leaf), 0);
	assert_int_equal(fab_sm_sweep(&seg), 0);
	trap(TRAP_LOCAL_CHANGES, NOTICE_TYPE_INFO);
	assert_int_equal(reports(), 0);
}

#define JOIN 0x130c7 /* components of a join that makes a group */

static void member(uint32_t port, uint32_t state)
{
	uint8_t *r = req + SA_DATA;

	memset(r, 0, SA_DATA_SIZE);
	memcpy(LAYOUT_IN(mc_member_record, mgid, r), "\xff\x12\x40\x1b\xff\xff", 6);
	memcpy(LAYOUT_IN(mc_member_record, port_gid, r), at(port)->gid[0], 16);
	LAYOUT_SET(mc_member_record, r, pkey, 0xffff);
	LAYOUT_SET(mc_member_record, r, join_state, state);
}

static void groups_come_and_go(void **state)
{
	info(0xffff);
	assert_int_equal(set(), 0);
	member(from, 1);
	assert_int_equal(ask(SA_ATTR_MC_MEMBER_RECORD, MAD_METHOD_SET, JOIN), 0);
	assert_int_equal(reports(), 1);
	assert_int_equal(LAYOUT_GET(notice, notice(), trap_num), TRAP_MCAST_CREATED);
	assert_memory_equal(LAYOUT_IN(notice_64_67, gid, notice()), req + SA_DATA, 16);
	assert_true(answer(from, LAYOUT_GET(mad_hdr, sent, tid)));
	assert_int_equal(ask(SA_ATTR_MC_MEMBER_RECORD, MAD_METHOD_SET, JOIN), 0);
	assert_int_equal(reports(), 0);
	assert_int_equal(ask(SA_ATTR_MC_MEMBER_RECORD, MAD_METHOD_DELETE, JOIN), 0);
	assert_int_equal(reports(), 1);
	assert_int_equal(LAYOUT_GET(notice, notice(), trap_num), TRAP_MCAST_DELETED);
}

/* The repair reports `expected`, once. */
static void repaired(uint32_t expected)
{
	sa_groups_repair(&seg);
	assert_int_equal(reports(), 1);
	assert_int_equal(LAYOUT_GET(notice, notice(), trap_num), expected);
	assert_true(answer(from, LAYOUT_GET(mad_hdr, sent, tid)));
	sa_groups_repair(&seg);
	assert_int_equal(reports(), 0);
}

/* A process that is killed after it has changed a group has told nobody. */
static void what_a_dead_process_has_not_told(void **state)
{
	struct fab_mcgrp *g = NULL;

	info(0xffff);
	assert_int_equal(set(), 0);
	member(from, 1);
	assert_int_equal(ask(SA_ATTR_MC_MEMBER_RECORD, MAD_METHOD_SET, JOIN), 0);
	assert_int_equal(reports(), 1);
	assert_true(answer(from, LAYOUT_GET(mad_hdr, sent, tid)));
	seg_for_each_live (&seg, SEG_T_MCGRP, i)
		g = seg_at(&seg, SEG_T_MCGRP, i);
	assert_non_null(g);
	g->told = 0;
	repaired(TRAP_MCAST_CREATED);
	seg_for_each_live (&seg, SEG_T_MCMEM, i)
		((struct fab_mcmem *)seg_at(&seg, SEG_T_MCMEM, i))->join_state = 0;
	repaired(TRAP_MCAST_DELETED);
}

/* ---- until when */

static void sent_until_the_subscriber_answers(void **state)
{
	uint64_t tid;

	info(TRAP_LOCAL_CHANGES);
	assert_int_equal(set(), 0);
	trap(TRAP_LOCAL_CHANGES, NOTICE_TYPE_INFO);
	assert_int_equal(reports(), 1);
	tid = LAYOUT_GET(mad_hdr, sent, tid);
	assert_false(answer(from, tid + 1));
	assert_false(answer(other, tid));
	assert_int_equal(reports(), 1);
	assert_int_equal(LAYOUT_GET(mad_hdr, sent, tid), tid);
	assert_true(answer(from, tid));
	assert_int_equal(reports(), 0);
	assert_false(answer(from, tid));
}

/* One send and OpenSM's three repetitions; the subscription stays. */
static void a_silent_subscriber_is_told_four_times(void **state)
{
	info(TRAP_LOCAL_CHANGES);
	assert_int_equal(set(), 0);
	trap(TRAP_LOCAL_CHANGES, NOTICE_TYPE_INFO);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(reports(), 1);
	assert_int_equal(reports(), 0);
	seg_for_each_live (&seg, SEG_T_NOTICE, i)
		fail();
	trap(TRAP_LOCAL_CHANGES, NOTICE_TYPE_INFO);
	assert_int_equal(reports(), 1);
}

static void no_report_after_the_end_of_a_subscription(void **state)
{
	uint8_t *d = info(TRAP_LOCAL_CHANGES);

	assert_int_equal(set(), 0);
	trap(TRAP_LOCAL_CHANGES, NOTICE_TYPE_INFO);
	LAYOUT_SET(inform_info, d, subscribe, 0);
	LAYOUT_SET(inform_info, d, qpn, 1);
	assert_int_equal(set(), 0);
	assert_int_equal(reports(), 0);
}

/* A program there may be a subscriber; other requests of that kind are nobody's. */
static void a_report_to_the_managers_port_is_for_programs(void **state)
{
	struct fab_sa_answer a;

	from = sm;
	info(TRAP_LOCAL_CHANGES);
	assert_int_equal(set(), 0);
	trap(TRAP_LOCAL_CHANGES, NOTICE_TYPE_INFO);
	assert_int_equal(reports(), 1);
	assert_int_equal(sent_to, at(sm)->lid);
	assert_int_equal(fab_sa(&seg, sm, sm, sent, &a), FAB_MAD_PASS);
	assert_true(answer(sm, LAYOUT_GET(mad_hdr, sent, tid)));
	assert_int_equal(reports(), 0);
}

/* A program subscribes a thousand times and never answers: notices remain for MAD traps. */
static void silent_subscribers_leave_room_for_traps(void **state)
{
	const struct seg_table_hdr *h = seg_table(&seg, SEG_T_NOTICE);
	uint8_t *d = info(TRAP_LOCAL_CHANGES);
	uint32_t live;

	for (uint32_t i = 0; i < 1000; i++) {
		LAYOUT_SET(inform_info, d, lid_range_end, i);
		assert_int_equal(set(), 0);
	}
	for (uint32_t i = 0; i <= h->capacity / 1000; i++)
		trap(TRAP_LOCAL_CHANGES, NOTICE_TYPE_INFO);
	live = h->live;
	assert_uint_in_range(live, 1, h->capacity / 4 * 3);
	fab_notice_local(&seg, other, 0);
	assert_int_equal(h->live, live + 1);
}

/* ---- partitions, o13-14.1.1 and o13-17.1 */

static void other_partitions_are_not_heard(void **state)
{
	uint8_t *d = info(TRAP_LOCAL_CHANGES);

	assert_int_equal(set(), 0);
	LAYOUT_SET(inform_info, d, lid_range_begin, at(other)->lid);
	assert_int_equal(set(), 0);
	at(other)->pkey[0] = 0x8001;
	trap(TRAP_LOCAL_CHANGES, NOTICE_TYPE_INFO);
	assert_int_equal(reports(), 0);
	assert_int_equal(set(), SA_STATUS_REQ_INVALID);
	/* The subscription to a source's LID ends; the one to all sources does not. */
	at(other)->pkey[0] = 0xffff;
	trap(TRAP_LOCAL_CHANGES, NOTICE_TYPE_INFO);
	assert_int_equal(reports(), 1);
	memcpy(LAYOUT_IN(inform_info, gid, d), at(other)->gid[0], 16);
	d[15] ^= 0x55;
	assert_int_equal(set(), SA_STATUS_REQ_INVALID);
}

#define T(f) cmocka_unit_test_setup_teardown(f, make, drop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_trap_is_forwarded_with_its_issuer),
		T(nobody_hears_what_he_has_not_asked_for),
		T(components_choose),
		T(ports_come_and_go),
		T(a_port_out_of_service_is_no_subscriber),
		T(groups_come_and_go),
		T(what_a_dead_process_has_not_told),
		T(sent_until_the_subscriber_answers),
		T(a_silent_subscriber_is_told_four_times),
		T(no_report_after_the_end_of_a_subscription),
		T(a_report_to_the_managers_port_is_for_programs),
		T(silent_subscribers_leave_room_for_traps),
		T(other_partitions_are_not_heard),
	};

	return cmocka_run_group_tests_name("inform", tests, NULL, NULL);
}
