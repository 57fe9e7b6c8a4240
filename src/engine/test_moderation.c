/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Moderation of completion events, with a fake clock. Nothing here sleeps. */
#include "engine/test.h"
#include "hw/cq.h"
#include "hw/qp_state.h"
#include "segment/proc.h"

#define US UINT64_C(1000)
#define PERIOD_US 100
#define COUNT 4

static uint32_t sn;

static void arm_for(struct t_qp *q, uint32_t cmd)
{
	uint32_t word = sn++ % 4 << 28 | cmd << 24 | (q->cq.ci & 0xffffff);
	__be32 db[2] = {htobe32(word), htobe32(q->cq.cqn)};
	uint64_t be;

	q->cq.dbr[T_ARM] = htobe32(word);
	memcpy(&be, db, 8);
	eng_uar_write(&q->t->s, T_UAR, 0x20, be);
}

static void arm(struct t_qp *q)
{
	arm_for(q, 0);
}

static void nops(struct t_qp *q, int n)
{
	while (n--)
		t_post(q, &(struct t_wr){.opcode = MLX5_OPCODE_NOP, .fm_ce_se = T_SIG});
}

static void poll_all(struct t_qp *q)
{
	while (t_poll(&q->cq))
		;
}

static bool event_of(struct t_qp *q)
{
	return t_event(q->t, q->cq.evq[0]) == 0;
}

/* The device thread's work; when it would work again, counted from now. */
static uint64_t run(struct t_qp *q)
{
	uint64_t due = eng_run_due(&q->t->s);

	return due == UINT64_MAX ? due : due - t_now;
}

/* Moderates a's CQ, whose last event is now: the first after a long time is never delayed. */
static struct t_qp *moderated(struct t_pair *p, uint32_t flags)
{
	struct t_qp *q = p->a;

	sn = 0;
	eng_cq_moderate(&q->t->s, q->cq.cqn, PERIOD_US | COUNT * HW_CQ_MOD_COUNT | flags);
	arm(q);
	nops(q, 1);
	if (!(flags & HW_CQ_MOD_FROM_CQE)) {
		assert_true(event_of(q));
		assert_int_equal(run(q), UINT64_MAX);
	} else {
		assert_false(event_of(q));
		t_now += PERIOD_US * US;
		run(q);
		assert_true(event_of(q));
	}
	poll_all(q);
	assert_int_equal(run(q), UINT64_MAX);
	return q;
}

static void comes_with_the_count(void **state)
{
	struct t_qp *q = moderated(*state, 0);

	for (int round = 0; round < 3; round++) {
		arm(q);
		nops(q, COUNT - 1);
		run(q);
		assert_false(event_of(q));
		nops(q, 1);
		assert_true(event_of(q));
		poll_all(q);
		assert_false(event_of(q));
	}
}

static void comes_when_the_timer_ends(void **state)
{
	struct t_qp *q = moderated(*state, 0);

	arm(q);
	t_now += 30 * US;
	nops(q, 1);
	assert_int_equal(run(q), (PERIOD_US - 30) * US);
	t_now += (PERIOD_US - 30) * US - 1;
	assert_int_equal(run(q), 1);
	assert_false(event_of(q));
	t_now++;
	assert_int_equal(run(q), UINT64_MAX);
	assert_true(event_of(q));
	run(q);
	assert_false(event_of(q));
}

/* The device thread is late: who completes next raises the event. */
static void comes_with_a_late_completion(void **state)
{
	struct t_qp *q = moderated(*state, 0);

	arm(q);
	nops(q, 1);
	t_now += PERIOD_US * US;
	nops(q, 1);
	assert_true(event_of(q));
	assert_int_equal(run(q), UINT64_MAX);
	assert_false(event_of(q));
}

/* The timer ended long ago: nothing is delayed. */
static void the_first_one_is_not_delayed(void **state)
{
	struct t_qp *q = moderated(*state, 0);

	t_now += PERIOD_US * US;
	arm(q);
	assert_false(event_of(q));
	nops(q, 1);
	assert_true(event_of(q));
}

/* Each completion restarts the timer: a busy CQ has its event by the count, an idle one by time. */
static void the_timer_restarts_with_each_cqe(void **state)
{
	struct t_qp *q = moderated(*state, HW_CQ_MOD_FROM_CQE);

	arm(q);
	for (int i = 0; i < COUNT - 1; i++) {
		nops(q, 1);
		t_now += (PERIOD_US - 1) * US;
		assert_int_equal(run(q), US);
		assert_false(event_of(q));
	}
	t_now += US;
	run(q);
	assert_true(event_of(q));
	poll_all(q);
	arm(q);
	nops(q, COUNT - 1);
	assert_false(event_of(q));
	nops(q, 1);
	assert_true(event_of(q));
}

/* Completions that arrived before the CQ was armed count for its event, too. */
static void armed_with_completions(void **state)
{
	struct t_qp *q = moderated(*state, 0);

	nops(q, COUNT - 1);
	arm(q);
	assert_false(event_of(q));
	assert_int_equal(run(q), PERIOD_US * US);
	nops(q, 1);
	assert_true(event_of(q));
	poll_all(q);
	nops(q, COUNT);
	assert_false(event_of(q)); /* not armed */
	arm(q);
	assert_true(event_of(q));
}

/* What the program polls after it has armed needs no event, and the CQ stays armed. */
static void polled_before_the_timer_ends(void **state)
{
	struct t_qp *q = moderated(*state, 0);

	arm(q);
	nops(q, 2);
	poll_all(q);
	t_now += PERIOD_US * US;
	assert_int_equal(run(q), UINT64_MAX);
	assert_false(event_of(q));
	nops(q, 1);
	assert_true(event_of(q));
}

/* A program that polls one completion per event gets as many events. */
static void polls_one_then_arms(void **state)
{
	struct t_qp *q = moderated(*state, 0);

	nops(q, COUNT);
	for (int i = 0; i < COUNT; i++) {
		arm(q);
		t_now += PERIOD_US * US;
		run(q);
		assert_true(event_of(q));
		assert_non_null(t_poll(&q->cq));
	}
	arm(q);
	t_now += PERIOD_US * US;
	assert_int_equal(run(q), UINT64_MAX);
	assert_false(event_of(q));
}

/* After an arm that replaces one, the device thread is woken again. */
static void armed_again_meanwhile(void **state)
{
	struct t_qp *q = moderated(*state, 0);

	for (int i = 0; i < 3; i++) {
		arm(q);
		nops(q, 1);
		run(q);
		poll_all(q);
		arm(q);
		t_now += PERIOD_US / 4 * US;
		run(q);
		nops(q, 1);
		t_now += PERIOD_US * US;
		run(q);
		assert_true(event_of(q));
		poll_all(q);
	}
}

static void solicited(struct t_pair *p, uint32_t ce_se)
{
	t_recv_at(p->b, 0, 8);
	t_post(p->a, &(struct t_wr){.opcode = MLX5_OPCODE_SEND,
				    .fm_ce_se = (uint8_t)ce_se,
				    .inl = "x",
				    .inl_len = 1});
}

/* The count is that of all CQEs, the event that of a solicited one. */
static void armed_for_solicited(void **state)
{
	struct t_pair *p = *state;
	struct t_qp *q = p->b;

	sn = 0;
	eng_cq_moderate(&q->t->s, q->cq.cqn, PERIOD_US | 3 * HW_CQ_MOD_COUNT);
	arm(q);
	solicited(p, 0);
	assert_true(event_of(q));
	poll_all(q);
	arm_for(q, 1);
	solicited(p, 0);
	t_now += PERIOD_US * US;
	assert_int_equal(run(q), UINT64_MAX);
	assert_false(event_of(q)); /* the timer is over, and nothing solicited has come */
	solicited(p, T_SOL);
	assert_true(event_of(q));
	poll_all(q);
	arm_for(q, 1);
	solicited(p, T_SOL);
	solicited(p, 0);
	assert_false(event_of(q));
	solicited(p, 0);
	assert_true(event_of(q));
}

static void solicited_breaks_moderation(void **state)
{
	struct t_pair *p = *state;
	struct t_qp *q = p->b;

	sn = 0;
	eng_cq_moderate(&q->t->s, q->cq.cqn,
			PERIOD_US | COUNT * HW_CQ_MOD_COUNT | HW_CQ_MOD_SE_BREAKS);
	arm(q);
	solicited(p, 0);
	assert_true(event_of(q));
	poll_all(q);
	arm(q);
	solicited(p, 0);
	assert_false(event_of(q));
	solicited(p, T_SOL);
	assert_true(event_of(q));
}

/* A command changes the moderation while an event is delayed. */
static void changed_meanwhile(void **state)
{
	struct t_qp *q = moderated(*state, 0);

	arm(q);
	nops(q, 2);
	assert_int_equal(run(q), PERIOD_US * US);
	eng_cq_moderate(&q->t->s, q->cq.cqn, 10 | COUNT * HW_CQ_MOD_COUNT);
	assert_int_equal(run(q), 10 * US);
	eng_cq_moderate(&q->t->s, q->cq.cqn, 10 | 2 * HW_CQ_MOD_COUNT);
	assert_int_equal(run(q), UINT64_MAX);
	assert_true(event_of(q));
	poll_all(q);
	arm(q);
	nops(q, 1);
	assert_false(event_of(q));
	eng_cq_moderate(&q->t->s, q->cq.cqn, 0); /* before the device thread looked */
	run(q);
	assert_true(event_of(q));
	poll_all(q);
	arm(q);
	nops(q, 1);
	assert_true(event_of(q));
}

/* The device thread waits for the end of a long timer when the next event is delayed by less. */
static void changed_while_watched(void **state)
{
	struct t_qp *q = moderated(*state, 0);
	struct seg *s = &q->t->s;
	uint32_t wake;

	arm(q);
	nops(q, 1);
	assert_int_equal(run(q), PERIOD_US * US);
	nops(q, COUNT - 1);
	assert_true(event_of(q));
	poll_all(q);
	wake = atomic_load(&seg_proc(s, s->self)->wake);
	eng_cq_moderate(s, q->cq.cqn, 10 | COUNT * HW_CQ_MOD_COUNT);
	assert_int_not_equal(atomic_load(&seg_proc(s, s->self)->wake), wake);
	assert_int_equal(run(q), UINT64_MAX);
	wake = atomic_load(&seg_proc(s, s->self)->wake);
	arm(q);
	nops(q, 1);
	assert_int_not_equal(atomic_load(&seg_proc(s, s->self)->wake), wake);
	assert_int_equal(run(q), 10 * US);
}

/* Another thread holds the CQ's lock when the timer ends. */
static void locked_when_the_timer_ends(void **state)
{
	struct t_qp *q = moderated(*state, 0);

	arm(q);
	nops(q, 1);
	run(q);
	t_now += PERIOD_US * US;
	assert_int_equal(seg_lock(&q->t->s, &q->cq.hw->lock, 0), 0);
	assert_int_equal(run(q), UINT64_MAX);
	assert_true(event_of(q));
	seg_unlock(&q->t->s, &q->cq.hw->lock);
}

static void nops_polled(struct t_qp *q, int n)
{
	nops(q, n);
	while (n--)
		assert_non_null(t_poll(&q->cq));
}

/* 32-bit indices wrap while the program never arms. */
static void after_many_completions(void **state)
{
	struct t_qp *q = ((struct t_pair *)*state)->a;
	uint32_t first = q->cq.hw->pi;

	sn = 0;
	eng_cq_moderate(&q->t->s, q->cq.cqn, PERIOD_US | COUNT * HW_CQ_MOD_COUNT);
	for (uint32_t i = 1; i < 600; i++) {
		/* The same index in doorbell records. */
		q->cq.hw->pi = q->cq.ci = first + (i << 24);
		nops_polled(q, 1);
		if (i % 150)
			continue;
		arm(q);
		nops_polled(q, 1);
		assert_true(event_of(q)); /* more have come since the last event than the count */
		arm(q);
		nops_polled(q, COUNT - 1);
		assert_false(event_of(q));
		nops_polled(q, 1);
		assert_true(event_of(q));
	}
}

int main(void)
{
#define P(f) cmocka_unit_test_setup_teardown(f, t_pair_setup, t_pair_teardown)
	const struct CMUnitTest tests[] = {
		P(comes_with_the_count),
		P(comes_when_the_timer_ends),
		P(comes_with_a_late_completion),
		P(the_first_one_is_not_delayed),
		P(the_timer_restarts_with_each_cqe),
		P(armed_with_completions),
		P(polled_before_the_timer_ends),
		P(polls_one_then_arms),
		P(armed_again_meanwhile),
		P(armed_for_solicited),
		P(solicited_breaks_moderation),
		P(changed_meanwhile),
		P(changed_while_watched),
		P(locked_when_the_timer_ends),
		P(after_many_completions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
