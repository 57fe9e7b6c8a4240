/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How long messages without acknowledgement wait for a lock: as long as its holder runs, however
 * slowly, and not for one that is stopped. The test's clock passes only in pass().
 */
#include "engine/for_tests.h"
#include "engine/tx/tx.h"
#include "engine/test_procs.h"
#include "hw/port.h"
#include "hw/qp.h"
#include "hw/qp_state.h"
#include "hw/srq.h"

#define LONG_NS (20 * ENG_PATIENCE_NS) /* a machine that stands still for a while */

struct dgram {
	struct t_qp *a, *b;
	struct mlx5_wqe_av av;
};

static const enum prm_st unacked[] = {PRM_ST_UC, PRM_ST_UD};

static void pass(struct bed *e, uint64_t ns)
{
	t_now += ns;
	eng_run_due(&e->p.t->s);
}

static void make(struct bed *e, enum prm_st st, struct dgram *d)
{
	struct tb *t = e->p.t;

	d->a = t_qp_make(t, 0, st, NULL);
	d->b = t_qp_make(t, 1, st, NULL);
	t_connect(d->a, d->b);
	memset(&d->av, 0, sizeof(d->av));
	d->av.key.qkey.qkey = htobe32(d->b->hw->qkey);
	d->av.dqp_dct = htobe32(MLX5_EXTENDED_UD_AV | d->b->qpn);
	d->av.rlid = htobe16((uint16_t)hw_port(&t->s, d->b->hw->path[0].port)->lid);
	t_recv_at(d->b, 0, 64);
	t_recv_at(d->b, 64, 64);
}

static void drop(struct dgram *d)
{
	t_qp_free(d->a);
	t_qp_free(d->b);
}

static void send_x(struct dgram *d)
{
	t_post(d->a, &(struct t_wr){.opcode = MLX5_OPCODE_SEND,
				    .fm_ce_se = T_SIG,
				    .av = d->a->hw->st == PRM_ST_UD ? &d->av : NULL,
				    .inl = "x",
				    .inl_len = 1});
}

static void arrived(struct dgram *d, uint32_t n)
{
	uint32_t grh = d->a->hw->st == PRM_ST_UD ? ENG_GRH_BYTES : 0;

	t_received(d->b, MLX5_CQE_RESP_SEND, 1 + grh, n);
}

/* Holds each lock that a delivery takes for a while, one after the other; the holder runs. */
static void waits_for_a_slow_holder(void **state)
{
	struct bed *e = *state;
	struct seg *s = &e->p.t->s;

	for (int i = 0; i < 4; i++) {
		struct seg_lock *l;
		struct dgram d;

		make(e, unacked[i % 2], &d);
		l = i < 2 ? &d.b->hw->rq_lock : &d.b->cq.hw->lock;
		assert_int_equal(seg_lock(s, l, 0), 0);
		send_x(&d);
		t_assert_empty(&d.a->cq);
		pass(e, LONG_NS);
		pass(e, LONG_NS);
		t_assert_empty(&d.a->cq);
		seg_unlock(s, l);
		pass(e, NSEC_PER_MSEC);
		arrived(&d, 0);
		t_expect_done(d.a, MLX5_OPCODE_SEND, 0);
		drop(&d);
	}
}

static void waits_for_a_slow_holder_of_the_srq(void **state)
{
	struct bed *e = *state;
	struct t_srq srq;
	struct dgram d;

	t_srq_make(e->p.t, &srq, e->p.t->pd[1]);
	make(e, PRM_ST_UD, &d);
	d.b->hw->srqn = srq.srqn;
	t_srq_post(&srq, d.b->key, d.b->mem, 64);
	assert_int_equal(seg_lock(&e->p.t->s, &srq.hw->lock, 0), 0);
	send_x(&d);
	pass(e, LONG_NS);
	t_assert_empty(&d.a->cq);
	seg_unlock(&e->p.t->s, &srq.hw->lock);
	pass(e, NSEC_PER_MSEC);
	t_expect_done(d.a, MLX5_OPCODE_SEND, 0);
	arrived(&d, 0);
	drop(&d);
}

/* A thread that is lost (in a frozen container) keeps nobody for ever. */
static void does_not_wait_for_ever(void **state)
{
	struct bed *e = *state;
	struct dgram d;

	make(e, PRM_ST_UD, &d);
	assert_int_equal(seg_lock(&e->p.t->s, &d.b->hw->rq_lock, 0), 0);
	send_x(&d);
	pass(e, SEG_LOCK_HUNG_NS - 1);
	t_assert_empty(&d.a->cq);
	pass(e, 2 * NSEC_PER_MSEC);
	t_expect_done(d.a, MLX5_OPCODE_SEND, 0);
	seg_unlock(&e->p.t->s, &d.b->hw->rq_lock);
	t_assert_empty(&d.b->cq);
	drop(&d);
}

/* ---- the holder is another process */

static struct seg_lock *kept;

static void child_keeps_the_lock(struct bed *e)
{
	CHECK(!seg_lock(&e->p.t->s, kept, 0));
	tell(e->tell[1]);
	CHECK(await(e->go[0]));
	seg_unlock(&e->p.t->s, kept);
}

static void keep(struct bed *e, struct seg_lock *l)
{
	kept = l;
	spawn(e, child_keeps_the_lock);
	assert_true(await(e->tell[0]));
}

static void stop_child(struct bed *e)
{
	int status;

	assert_int_equal(kill(e->pid, SIGSTOP), 0);
	assert_int_equal(waitpid(e->pid, &status, WUNTRACED), e->pid);
	assert_true(WIFSTOPPED(status));
}

static void continue_child(struct bed *e)
{
	int status;

	assert_int_equal(kill(e->pid, SIGCONT), 0);
	assert_int_equal(waitpid(e->pid, &status, WCONTINUED), e->pid);
	assert_true(WIFCONTINUED(status));
}

static void release(struct bed *e)
{
	tell(e->go[1]);
	EXPECT_OK(e);
}

/* A stopped peer gets no datagrams, and does not delay the sender for ever. */
static void is_dropped_beside_a_stopped_holder(void **state)
{
	struct bed *e = *state;

	for (int i = 0; i < 2; i++) {
		struct dgram d;

		make(e, unacked[i], &d);
		keep(e, &d.b->hw->rq_lock);
		stop_child(e);
		send_x(&d);
		pass(e, ENG_PATIENCE_NS / 2);
		t_assert_empty(&d.a->cq);
		pass(e, ENG_PATIENCE_NS / 2);
		pass(e, ENG_PATIENCE_NS / 2);
		t_expect_done(d.a, MLX5_OPCODE_SEND, 0);
		assert_int_equal(d.a->hw->park, HW_PARK_NO);
		continue_child(e);
		release(e);
		t_assert_empty(&d.b->cq);
		/* The next datagram has the same patience again. */
		send_x(&d);
		t_expect_done(d.a, MLX5_OPCODE_SEND, unacked[i] == PRM_ST_UD ? 2 : 1);
		assert_non_null(t_poll(&d.b->cq));
		drop(&d);
	}
}

/* The patience counts while the holder is stopped, not while it waits for a processor. */
static void a_short_stop_costs_nothing(void **state)
{
	struct bed *e = *state;

	for (int i = 0; i < 2; i++) {
		struct dgram d;

		make(e, unacked[i], &d);
		keep(e, &d.b->hw->rq_lock);
		send_x(&d);
		pass(e, LONG_NS);
		stop_child(e);
		pass(e, NSEC_PER_MSEC);
		t_assert_empty(&d.a->cq);
		pass(e, ENG_PATIENCE_NS / 2);
		t_assert_empty(&d.a->cq);
		continue_child(e);
		pass(e, ENG_PATIENCE_NS / 2);
		t_assert_empty(&d.a->cq);
		release(e);
		pass(e, NSEC_PER_MSEC);
		arrived(&d, 0);
		t_expect_done(d.a, MLX5_OPCODE_SEND, 0);
		drop(&d);
	}
}

/* Whether the holder is stopped cannot be seen (another PID namespace): it keeps its lock. */
static void an_unseen_holder_is_waited_for(void **state)
{
	struct bed *e = *state;
	struct seg *s = &e->p.t->s;

	for (int i = 0; i < 4; i++) {
		struct dgram d;
		uint32_t word, slot;

		make(e, unacked[i % 2], &d);
		keep(e, i < 2 ? &d.b->hw->rq_lock : &d.b->cq.hw->lock);
		assert_true(seg_lock_holder(s, kept, &word, &slot));
		seg_proc(s, slot)->pid_ns++;
		send_x(&d);
		pass(e, ENG_PATIENCE_NS);
		pass(e, ENG_PATIENCE_NS);
		t_assert_empty(&d.a->cq);
		assert_int_equal(atomic_load(&kept->word) & SEG_LOCK_OWNER, word & SEG_LOCK_OWNER);
		release(e);
		pass(e, NSEC_PER_MSEC);
		arrived(&d, 0);
		t_expect_done(d.a, MLX5_OPCODE_SEND, 0);
		drop(&d);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BED_TEST(waits_for_a_slow_holder),    BED_TEST(waits_for_a_slow_holder_of_the_srq),
		BED_TEST(does_not_wait_for_ever),     BED_TEST(is_dropped_beside_a_stopped_holder),
		BED_TEST(a_short_stop_costs_nothing), BED_TEST(an_unseen_holder_is_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
