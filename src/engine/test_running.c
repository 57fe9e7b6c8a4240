/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who uses a key that goes: queues that run meanwhile, and owners that are stopped. */
#include "engine/test_procs.h"
#include <infiniband/verbs.h>

/* A key that a stopped process may be using is not given up; one that nobody uses is. */
static void child_stops_with_sq(struct bed *e)
{
	_Atomic uint32_t *running = running_enter(&e->p.t->s, e->p.a->qpn);

	CHECK(!seg_lock(&e->p.t->s, &e->p.a->hw->sq_lock, 0));
	tell(e->tell[1]);
	await(e->go[0]);
	seg_unlock(&e->p.t->s, &e->p.a->hw->sq_lock);
	running_leave(&e->p.t->s, running);
	await(e->go[0]);
}

static void key_in_use(void **state)
{
	struct bed *e = *state;
	uint32_t pd, other, key;

	assert_int_equal(seg_alloc(&e->p.t->s, SEG_T_PD, T_OWNER, &pd), 0);
	other = t_key(e->p.t, pd, e->p.a->mem, 8, 0);
	key = e->p.b->key;
	spawn(e, child_stops_with_sq);
	assert_true(await(e->tell[0]));
	atomic_store(&hw_mkey(&e->p.t->s, other)->valid, 0);
	assert_int_equal(eng_mkey_quiesce(&e->p.t->s, other >> 8), 0);
	/* The peer's keys, too, are in a requester's hands. */
	atomic_store(&hw_mkey(&e->p.t->s, key)->valid, 0);
	tell(e->go[1]);
	assert_int_equal(eng_mkey_quiesce(&e->p.t->s, key >> 8), 0);
	assert_int_equal(e->p.a->hw->sq_lock.word, 0);
	reap(e);
}

/* Several stuck queues cost one deadline; those that cannot use the key cost nothing. */
static struct t_qp *stuck[4];

static void child_holds_queues(struct bed *e)
{
	for (int i = 0; i < 4; i++) {
		running_enter(&e->p.t->s, stuck[i]->qpn);
		CHECK(!seg_lock(&e->p.t->s, &stuck[i]->hw->sq_lock, 0));
	}
	tell(e->tell[1]);
	await(e->go[0]);
}

static int64_t quiesce_ms(struct bed *e, uint32_t key, int want)
{
	uint64_t t = clock_now_ns();

	atomic_store(&hw_mkey(&e->p.t->s, key)->valid, 0);
	assert_int_equal(eng_mkey_quiesce(&e->p.t->s, key >> 8), want);
	return (int64_t)((clock_now_ns() - t) / NSEC_PER_MSEC);
}

static void keys_and_stopped_queues(void **state)
{
	static const enum hw_qp_st st[] = {HW_ST_RC, HW_ST_UC, HW_ST_UD, HW_ST_UD};
	struct bed *e = *state;
	struct seg *s = &e->p.t->s;
	uint32_t pd, pd2, other, far;
	struct t_srq srq;

	assert_int_equal(seg_alloc(s, SEG_T_PD, T_OWNER, &pd), 0);
	assert_int_equal(seg_alloc(s, SEG_T_PD, T_OWNER, &pd2), 0);
	other = t_key(e->p.t, pd, e->p.a->mem, 8, 0);
	far = t_key(e->p.t, pd2, e->p.a->mem, 8, 0);
	t_srq_make(e->p.t, &srq, pd2);
	for (int i = 0; i < 4; i++) {
		stuck[i] = t_qp_make(e->p.t, 0, st[i], NULL);
		stuck[i]->hw->ud_dest = e->p.a->qpn;
		stuck[i]->hw->dest_qpn = e->p.a->qpn;
	}
	spawn(e, child_holds_queues);
	assert_true(await(e->tell[0]));
	assert_true(quiesce_ms(e, other, 0) < 500);
	assert_true(quiesce_ms(e, far, 0) < 500);
	/* The last one sends to a QP with an SRQ of that protection domain. */
	stuck[3]->hw->ud_dest = e->p.b->qpn;
	e->p.b->hw->srqn = srq.srqn;
	tell(e->go[1]);
	assert_int_equal(reap(e), 0);
	quiesce_ms(e, far, 0);
	assert_int_equal(stuck[3]->hw->sq_lock.inherited, 1);
	assert_int_equal(stuck[2]->hw->sq_lock.inherited, 0);
	for (int i = 0; i < 4; i++)
		t_qp_free(stuck[i]);
}

struct seen {
	struct running it;
	uint32_t want, times;
};

static void saw(struct running *it, uint32_t qpn)
{
	struct seen *x = (struct seen *)it;

	x->times += qpn == x->want;
}

/* Threads that find no free entry are not overlooked: then every queue is looked at. */
static void more_threads_than_entries(void **state)
{
	struct bed *e = *state;
	struct seg *s = &e->p.t->s;
	struct seen x = {.it.look = saw, .want = e->p.b->qpn};
	_Atomic uint32_t *entry[SEG_RINGS + 1];

	for (int i = 0; i < SEG_RINGS; i++)
		entry[i] = running_enter(s, e->p.a->qpn);
	running_each(s, &x.it);
	assert_int_equal(x.times, 0);
	entry[SEG_RINGS] = running_enter(s, e->p.b->qpn);
	running_each(s, &x.it);
	assert_int_equal(x.times, 1);
	for (int i = 0; i <= SEG_RINGS; i++)
		running_leave(s, entry[i]);
	running_each(s, &x.it);
	assert_int_equal(x.times, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BED_TEST(key_in_use),
		BED_TEST(more_threads_than_entries),
		BED_TEST(keys_and_stopped_queues),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
