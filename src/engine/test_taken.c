/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keys that are taken away from their users: the work request that does it waits, nobody waits for
 * a waiting thread, and a thread whose copy was revoked repeats it.
 */
#include "engine/test_keys.h"
#include "engine/tx/tx.h"
#include "engine/test_procs.h"
#include "hw/mkey.h"
#include "hw/qp_state.h"
#include "util/sys.h"
#include "wire/prm/mkey.h"

#include <infiniband/verbs.h>
#include <pthread.h>
#include <sched.h>

#define LEN 128
#define CHANGES 3000

/* A bound key over the QP's memory, for any QP of its domain. */
static struct hw_mkey *bound_key(struct t_qp *q)
{
	struct hw_mkey *mk = t_indirect_key(q->t, t_pdn(q), PRM_MKC_KLM, 4);

	entry_set((void *)hw_klm_entry(&q->t->s, mk, 0),
		  &(struct klm){q->key, (uintptr_t)q->mem, LEN});
	mk->klm_n = 1;
	key_open(mk, (uintptr_t)q->mem, LEN, ALL);
	mk->en_rinval = 1;
	LAYOUT_SET(mkc, mk->mkc, en_rinval, 1);
	LAYOUT_SET(mkc, mk->mkc, free, 0);
	return mk;
}

static struct umr rebind(struct t_qp *q, struct hw_mkey *mk)
{
	struct umr u = bind_to(mk->key & 0xff, 0xffffff, q->key, q->mem + 4096, LEN);

	u.ctrl.flags = FLAG(INLINE) | FLAG(TRNSLATION_OFFSET);
	return u;
}

static void later(struct t_pair *p)
{
	t_now += 2 * NSEC_PER_MSEC;
	eng_run_due(&p->t->s);
}

/* The list of a key stays as it is until its users have left; new users find no key. */
static void a_change_waits_for_users(void **state)
{
	struct t_pair *p = *state;
	struct hw_mkey *mk = bound_key(p->b);
	struct umr u = rebind(p->b, mk);
	struct seg_ring *user = running_enter(&p->t->s, p->a->qpn);
	uint8_t was[HW_KLM_BYTES];
	uint32_t at;

	memcpy(was, hw_klm_entry(&p->t->s, mk, 0), sizeof(was));
	at = change(p->b, mk->key, &u, HEAD + 64);
	for (int i = 0; i < 3; i++) {
		t_assert_empty(&p->b->cq);
		assert_int_equal(mk->free, 1);
		assert_memory_equal(hw_klm_entry(&p->t->s, mk, 0), was, sizeof(was));
		later(p);
	}
	running_leave(user);
	later(p);
	t_expect_done(p->b, MLX5_OPCODE_UMR, at);
	assert_int_equal(mk->free, 0);
	assert_memory_equal(hw_klm_entry(&p->t->s, mk, 0), &u.list[0], sizeof(was));
	assert_true(!t_waits_for_key(p->b));
}

/* Any thread of its domain may use a bound key; binding a key that was free waits for nobody. */
static void a_free_key_has_no_users(void **state)
{
	struct t_pair *p = *state;
	struct hw_mkey *mk = bound_key(p->b);
	struct umr u = rebind(p->b, mk);
	struct seg_ring *user = running_enter(&p->t->s, p->a->qpn);

	atomic_store(&mk->free, 1);
	t_expect_done(p->b, MLX5_OPCODE_UMR, change(p->b, mk->key, &u, HEAD + 64));
	running_leave(user);
}

static void send_with_invalidate_waits_for_users(void **state)
{
	struct t_pair *p = *state;
	struct hw_mkey *mk = bound_key(p->b);
	struct seg_ring *user = running_enter(&p->t->s, p->b->qpn);
	struct t_sge sge = t_own(p->a, 0, 16);
	struct t_wr wr = {.opcode = MLX5_OPCODE_SEND_INVAL,
			  .fm_ce_se = T_SIG,
			  .imm = mk->key,
			  .sge = &sge,
			  .nsge = 1};
	struct mlx5_cqe64 *c;
	uint32_t at;

	t_recv_at(p->b, 8192, 64);
	at = t_post(p->a, &wr);
	for (int i = 0; i < 3; i++) {
		t_assert_empty(&p->a->cq);
		t_assert_empty(&p->b->cq);
		assert_int_equal(mk->free, 1);
		later(p);
	}
	running_leave(user);
	later(p);
	t_expect_done(p->a, MLX5_OPCODE_SEND_INVAL, at);
	c = t_received(p->b, MLX5_CQE_RESP_SEND_INV, 16, 0);
	assert_int_equal(be32toh(c->imm_inval_pkey), mk->key);
	assert_memory_equal(p->b->mem + 8192, p->a->mem, 16);
}

/* Nobody waits for a waiting change: the key can be destroyed meanwhile. */
static void a_key_goes_while_it_is_changed(void **state)
{
	struct t_pair *p = *state;
	struct hw_mkey *mk = bound_key(p->b);
	struct umr u = rebind(p->b, mk);
	struct seg_ring *user = running_enter(&p->t->s, p->a->qpn);
	uint32_t at = change(p->b, mk->key, &u, HEAD + 64);

	t_assert_empty(&p->b->cq);
	running_leave(user);
	atomic_store(&mk->valid, 0);
	assert_int_equal(eng_mkey_quiesce(&p->t->s, mk->key >> 8), 0);
	later(p);
	t_expect_error(p->b, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_MW_BIND_ERR, at);
}

static void a_change_that_waits_is_flushed(void **state)
{
	struct t_pair *p = *state;
	struct hw_mkey *mk = bound_key(p->b);
	struct umr u = rebind(p->b, mk);
	struct seg_ring *user = running_enter(&p->t->s, p->a->qpn);
	uint32_t at = change(p->b, mk->key, &u, HEAD + 64);

	t_assert_empty(&p->b->cq);
	running_leave(user);
	assert_int_equal(eng_qp_set_state(&p->t->s, p->b->qpn, PRM_QP_STATE_ERR), 0);
	t_expect_error(p->b, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_WR_FLUSH_ERR, at);
	assert_true(!t_waits_for_key(p->b));
	assert_int_equal(mk->free, 1);
}

/* Two threads; each changes a key of the domain that the other works in. */
struct changer {
	struct t_pair *p;
	struct t_qp *q;
	struct hw_mkey *mk;
	uint32_t parked;
};

static void *changes(void *arg)
{
	struct changer *c = arg;

	for (int i = 0; i < CHANGES; i++) {
		struct umr u = rebind(c->q, c->mk);
		uint64_t end = clock_now_ns() + 60 * NSEC_PER_SEC;
		uint32_t at = change(c->q, c->mk->key, &u, HEAD + 64);
		struct mlx5_cqe64 *cqe = t_poll(&c->q->cq);

		c->parked += !cqe;
		for (; !cqe && clock_now_ns() < end; cqe = t_poll(&c->q->cq)) {
			sched_yield();
			sq_resume(&c->p->t->s, c->q->qpn);
		}
		if (!cqe || cqe->op_own >> 4 != MLX5_CQE_REQ ||
		    be16toh(cqe->wqe_counter) != (at & 0xffff))
			return "no good completion";
	}
	return NULL;
}

static void two_who_wait_do_not_wait_for_each_other(void **state)
{
	struct t_pair *p = *state;
	struct changer c[2] = {{p, p->b, bound_key(p->b), 0}, {p, p->a, bound_key(p->a), 0}};
	pthread_t t[2];
	void *why[2];

	eng_clock = clock_now_ns;
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&t[i], NULL, changes, &c[i]), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_join(t[i], &why[i]), 0);
	eng_clock = t_clock;
	assert_ptr_equal(why[0], NULL);
	assert_ptr_equal(why[1], NULL);
	/* A thread is parked only if the other one was preempted while working. */
	assert_true(c[0].parked + c[1].parked < CHANGES / 2);
}

/* ---- gates that are shut at any moment */

struct shutter {
	struct seg_gate *gate;
	_Atomic uint32_t stop, times;
};

/* Shuts a gate as gate_shut() does, but for a running thread: that must continue unharmed. */
static void *shuts(void *arg)
{
	struct shutter *x = arg;

	while (!x->stop) {
		uint64_t was = gate_word(x->gate);

		if (was < GATE_BUSY &&
		    __atomic_compare_exchange_n(&x->gate->v[0].iov_len, &was, was | GATE_REVOKED,
						false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			x->times++;
		for (int i = 0; i < 50; i++)
			sys_cpu_relax();
	}
	return NULL;
}

static void one_of_each(struct t_pair *p, uint32_t i)
{
	uint32_t at = 4 * (i % 64), len = 4 + i % 60;
	uint64_t adds[2] = {htobe64(1), 0};
	struct t_sge sge = t_own(p->a, at, len), answer = t_own(p->a, 8192, 8);
	struct t_wr send = {.opcode = MLX5_OPCODE_SEND, .fm_ce_se = T_SIG, .sge = &sge, .nsge = 1};
	struct t_wr add = {.opcode = MLX5_OPCODE_ATOMIC_FA,
			   .fm_ce_se = T_SIG,
			   .raddr = (uintptr_t)p->b->mem + 8192,
			   .rkey = p->b->key,
			   .operands = adds,
			   .operands_len = sizeof(adds),
			   .sge = &answer,
			   .nsge = 1};
	uint64_t was;

	memset(p->b->mem, 0, 512);
	t_recv_at(p->b, 0, 64);
	t_expect_done(p->a, MLX5_OPCODE_SEND, t_post(p->a, &send));
	t_received(p->b, MLX5_CQE_RESP_SEND, len, i & 0xffff);
	assert_memory_equal(p->b->mem, p->a->mem + at, len);
	transfer(p, MLX5_OPCODE_RDMA_WRITE, p->a->key, (uintptr_t)p->a->mem + at, len, p->b->key,
		 (uintptr_t)p->b->mem + 256);
	assert_memory_equal(p->b->mem + 256, p->a->mem + at, len);
	transfer(p, MLX5_OPCODE_RDMA_READ, p->a->key, (uintptr_t)p->a->mem + 4096, len, p->b->key,
		 (uintptr_t)p->b->mem + 256);
	assert_memory_equal(p->a->mem + 4096, p->a->mem + at, len);
	t_expect_done(p->a, MLX5_OPCODE_ATOMIC_FA, t_post(p->a, &add));
	memcpy(&was, p->a->mem + 8192, sizeof(was));
	assert_true(was == i);
}

static void what_is_taken_back_is_done_anew_once(void **state)
{
	struct t_pair *p = *state;
	struct seg_ring *mine = running_enter(&p->t->s, p->a->qpn);
	struct shutter x = {.gate = &mine->gate};
	pthread_t t;

	running_leave(mine);
	memset(p->b->mem + 8192, 0, 8);
	assert_int_equal(pthread_create(&t, NULL, shuts, &x), 0);
	for (uint32_t i = 0; i < 3000 || x.times < 100; i++)
		one_of_each(p, i);
	x.stop = 1;
	assert_int_equal(pthread_join(t, NULL), 0);
}

/* ---- users in another process that is stopped or dead */

static void child_uses_and_stops(struct bed *e)
{
	running_enter(&e->p.t->s, e->p.a->qpn);
	tell(e->tell[1]);
	raise(SIGSTOP);
	await(e->go[0]);
}

static void nobody_waits_for_the_stopped(void **state)
{
	struct bed *e = *state;
	struct t_pair *p = &e->p;
	struct hw_mkey *mk = bound_key(p->b);
	struct umr u = rebind(p->b, mk);
	uint32_t at;

	spawn(e, child_uses_and_stops);
	assert_true(await(e->tell[0]));
	assert_int_equal(waitpid(e->pid, NULL, WUNTRACED), e->pid);
	at = change(p->b, mk->key, &u, HEAD + 64);
	later(p);
	t_expect_done(p->b, MLX5_OPCODE_UMR, at);
	kill(e->pid, SIGKILL);
	reap(e);
	t_expect_done(p->b, MLX5_OPCODE_UMR, change(p->b, mk->key, &u, HEAD + 64));
}

/* A stopped process holds the lock. */
static void child_holds_the_lock_and_stops(struct bed *e)
{
	running_enter(&e->p.t->s, e->p.a->qpn);
	CHECK(!seg_lock(&e->p.t->s, t_rq_lock(e->p.b), 0));
	tell(e->tell[1]);
	raise(SIGSTOP);
	await(e->go[0]);
}

static void an_error_does_not_wait_for_the_stopped(void **state)
{
	struct bed *e = *state;
	struct t_pair *p = &e->p;
	long t;

	spawn(e, child_holds_the_lock_and_stops);
	assert_true(await(e->tell[0]));
	assert_int_equal(waitpid(e->pid, NULL, WUNTRACED), e->pid);
	t = test_sleeps();
	assert_int_equal(eng_qp_set_state(&p->t->s, p->b->qpn, PRM_QP_STATE_ERR), 0);
	assert_true(test_sleeps() - t < TEST_SHORT);
	assert_int_equal(t_state(p->b), PRM_QP_STATE_ERR);
	kill(e->pid, SIGKILL);
	reap(e);
	assert_int_equal(eng_qp_set_state(&p->t->s, p->b->qpn, PRM_QP_STATE_RST), 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, t_pair_setup, t_pair_teardown)
	const struct CMUnitTest tests[] = {
		T(a_change_waits_for_users),
		T(a_free_key_has_no_users),
		T(send_with_invalidate_waits_for_users),
		T(a_key_goes_while_it_is_changed),
		T(a_change_that_waits_is_flushed),
		T(two_who_wait_do_not_wait_for_each_other),
		T(what_is_taken_back_is_done_anew_once),
		BED_TEST(nobody_waits_for_the_stopped),
		BED_TEST(an_error_does_not_wait_for_the_stopped),
	};

	return cmocka_run_group_tests_name("engine taken", tests, NULL, NULL);
}
