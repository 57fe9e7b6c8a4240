/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Users of a key that goes away: queues that run meanwhile, and stopped owners. */
#include "engine/test_procs.h"
#include "engine/keys/keys.h"
#include "hw/mkey.h"
#include "hw/qp.h"
#include "hw/qp_state.h"
#include "hw/srq.h"
#include <infiniband/verbs.h>
#include <pthread.h>

/* A key that a thread may be using is not freed; one without users is. */
static void child_stops_with_sq(struct bed *e)
{
	struct seg_ring *running = running_enter(&e->p.t->s, e->p.a->qpn);

	CHECK(!seg_lock(&e->p.t->s, &e->p.a->hw->sq_lock, 0));
	tell(e->tell[1]);
	await(e->go[0]);
	seg_unlock(&e->p.t->s, &e->p.a->hw->sq_lock);
	running_leave(running);
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
	/* A requester may use its peer's keys, too. */
	atomic_store(&hw_mkey(&e->p.t->s, key)->valid, 0);
	assert_int_equal(eng_mkey_quiesce_all(&e->p.t->s, 0), -ETIMEDOUT);
	tell(e->go[1]);
	assert_int_equal(eng_mkey_quiesce(&e->p.t->s, key >> 8), 0);
	assert_int_equal(e->p.a->hw->sq_lock.word, 0);
	reap(e);
}

/* A thread that stays in a copy, with the key of its peer noted. */
static void child_stays_with_a_key(struct bed *e)
{
	running_no_keys(running_enter(&e->p.t->s, e->p.a->qpn));
	running_uses_key(e->p.b->key);
	tell(e->tell[1]);
	await(e->go[0]);
	running_leave(running_last.used);
}

static void only_users_of_a_key_are_waited_for(void **state)
{
	struct bed *e = *state;
	struct seg *s = &e->p.t->s;
	uint32_t other = t_key(e->p.t, e->p.b->hw->pdn, e->p.b->mem, 8, 0), key = e->p.b->key;

	spawn(e, child_stays_with_a_key);
	assert_true(await(e->tell[0]));
	atomic_store(&hw_mkey(s, other)->valid, 0);
	assert_int_equal(eng_mkey_quiesce(s, other >> 8), 0);
	assert_int_equal(eng_mkey_quiesce_all(s, 0), 0);
	atomic_store(&hw_mkey(s, key)->valid, 0);
	assert_int_equal(eng_mkey_quiesce_all(s, 0), -ETIMEDOUT);
	tell(e->go[1]);
	assert_int_equal(eng_mkey_quiesce(s, key >> 8), 0);
	assert_int_equal(reap(e), 0);
}

/* More keys than have room: any may be among them. */
static void too_many_keys_are_any(void **state)
{
	struct bed *e = *state;
	struct seg *s = &e->p.t->s;
	struct seg_ring *own = running_enter(s, e->p.a->qpn);
	uint32_t last = e->p.b->key;

	running_no_keys(own);
	for (uint32_t i = 0; i < SEG_RING_KEYS; i++)
		running_uses_key(e->p.a->key);
	assert_int_equal(eng_mkey_quiesce_all(s, 0), 0);
	running_uses_key(last);
	atomic_store(&hw_mkey(s, last)->valid, 0);
	assert_int_equal(eng_mkey_quiesce_all(s, 0), -ETIMEDOUT);
	running_leave(own);
	assert_int_equal(eng_mkey_quiesce_all(s, 0), 0);
}

/*
 * Queues that cannot use the key cause no wait; nor do stopped threads, whose copies are revoked,
 * or dead ones.
 */
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

static void quiesce_soon(struct bed *e, uint32_t key)
{
	long t = test_sleeps();

	atomic_store(&hw_mkey(&e->p.t->s, key)->valid, 0);
	assert_int_equal(eng_mkey_quiesce(&e->p.t->s, key >> 8), 0);
	assert_true(test_sleeps() - t < TEST_SHORT);
}

static void keys_and_stopped_queues(void **state)
{
	static const enum prm_st st[] = {PRM_ST_RC, PRM_ST_UC, PRM_ST_UD, PRM_ST_UD};
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
	quiesce_soon(e, other);
	quiesce_soon(e, far);
	/* The last one sends to a QP whose SRQ is of that protection domain. */
	stuck[3]->hw->ud_dest = e->p.b->qpn;
	e->p.b->hw->srqn = srq.srqn;
	assert_int_equal(eng_mkey_quiesce_all(s, 0), -ETIMEDOUT);
	kill(e->pid, SIGSTOP);
	assert_int_equal(waitpid(e->pid, NULL, WUNTRACED), e->pid);
	quiesce_soon(e, far);
	kill(e->pid, SIGCONT);
	tell(e->go[1]);
	assert_int_equal(reap(e), 0);
	quiesce_soon(e, far);
	for (int i = 0; i < 4; i++)
		t_qp_free(stuck[i]);
}

/* Per kind of QP: the protection domain whose keys a thread that works on it may use. */
static const struct kind {
	const char *name;
	enum prm_st st;
	bool target_now; /* the WQE names the target */
	bool srq;        /* and the SRQ */
} kinds[] = {
	{"RC", PRM_ST_RC, false, false},  {"UC", PRM_ST_UC, false, false},
	{"UD", PRM_ST_UD, true, false},   {"DCI", PRM_ST_DCI, true, false},
	{"XRC", PRM_ST_XRC, false, true},
};

static uint32_t dead_key_of(struct bed *e, uint32_t *pd)
{
	uint32_t key;

	assert_int_equal(seg_alloc(&e->p.t->s, SEG_T_PD, T_OWNER, pd), 0);
	key = t_key(e->p.t, *pd, e->p.a->mem, 8, 0);
	atomic_store(&hw_mkey(&e->p.t->s, key)->valid, 0);
	return key;
}

/* Checks whether the end of a key of domain *pd waits for the thread. */
static void is_user(const struct kind *k, const char *what, struct bed *e, uint32_t *pd, bool want)
{
	uint32_t was = *pd, key = dead_key_of(e, pd);
	int rc = eng_mkey_quiesce_all(&e->p.t->s, 0);

	atomic_store(&hw_mkey(&e->p.t->s, key)->valid, 1);
	*pd = was;
	if (rc != (want ? -ETIMEDOUT : 0))
		fail_msg("%s, a key of its %s: %d", k->name, what, rc);
}

static void users_of_every_kind(void **state)
{
	struct bed *e = *state;
	struct seg *s = &e->p.t->s;
	struct t_qp *peer = e->p.b, *q;
	uint32_t nobodys = 0;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const struct kind *k = &kinds[i];
		struct seg_ring *ring;
		struct t_srq srq;

		q = t_qp_make(e->p.t, 0, k->st, NULL);
		t_srq_make(e->p.t, &srq, e->p.t->pd[1]);
		*(k->target_now ? (uint32_t *)&q->hw->ud_dest : &q->hw->dest_qpn) = peer->qpn;
		q->hw->xrc_srqn = k->srq ? srq.srqn : 0;
		ring = running_enter(s, q->qpn);
		is_user(k, "own domain", e, &q->hw->pdn, true);
		is_user(k, "peer's domain", e, &peer->hw->pdn, true);
		is_user(k, "SRQ's domain", e, &srq.hw->pdn, k->srq);
		is_user(k, "neighbour's domain", e, &nobodys, false);
		running_leave(ring);
		is_user(k, "domain when it has left", e, &q->hw->pdn, false);
		t_qp_free(q);
	}
}

#define THREADS (SEG_RINGS + 8)

struct crowd {
	struct bed *e;
	_Atomic uint32_t entered, leave;
};

static void *in_and_out(void *arg)
{
	struct crowd *c = arg;
	struct seg_ring *ring = running_enter(&c->e->p.t->s, c->e->p.a->qpn);

	c->entered++;
	while (!c->leave)
		sched_yield();
	running_leave(ring);
	return NULL;
}

/* Threads that find no free entry wait for one, so no thread works unlisted. */
static void more_threads_than_entries(void **state)
{
	struct bed *e = *state;
	struct seg *s = &e->p.t->s;
	struct crowd c = {.e = e};
	struct running it = {0};
	pthread_t t[THREADS];

	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&t[i], NULL, in_and_out, &c), 0);
	while (c.entered < SEG_RINGS)
		sched_yield();
	it.epoch = running_mark(s);
	assert_int_equal(running_wait(s, &it, 0), -ETIMEDOUT);
	assert_int_equal(c.entered, SEG_RINGS);
	c.leave = 1;
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(t[i], NULL), 0);
	assert_int_equal(c.entered, THREADS);
	assert_int_equal(running_wait(s, &it, 0), 0);
}

/* Nobody waits for threads that start after the change, are between WQEs, or wait themselves. */
static void who_is_waited_for(void **state)
{
	struct bed *e = *state;
	struct seg *s = &e->p.t->s;
	struct running it = {0}, none = {0};
	struct seg_ring *before = running_enter(s, e->p.a->qpn), *after;

	it.epoch = running_mark(s);
	after = running_enter(s, e->p.b->qpn);
	assert_int_equal(running_wait(s, &it, 0), -ETIMEDOUT);
	running_again(s, before);
	assert_int_equal(running_wait(s, &it, 0), 0);
	it.epoch = running_mark(s);
	running_again(s, after);
	assert_int_equal(running_wait_outside(s, before, &it, 0), 0);
	/*
	 * The wait has entered `before` again, so its thread may have looked at its queue before
	 * this mark.
	 */
	none.epoch = running_mark(s);
	assert_int_equal(running_wait_outside(s, after, &none, 0), -ETIMEDOUT);
	running_leave(before);
	assert_int_equal(running_wait_outside(s, after, &none, 0), 0);
	running_leave(after);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BED_TEST(key_in_use),
		BED_TEST(only_users_of_a_key_are_waited_for),
		BED_TEST(too_many_keys_are_any),
		BED_TEST(more_threads_than_entries),
		BED_TEST(who_is_waited_for),
		BED_TEST(users_of_every_kind),
		BED_TEST(keys_and_stopped_queues),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
