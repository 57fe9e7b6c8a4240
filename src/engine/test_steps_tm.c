/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A sender of tagged messages is stopped at each marked step (POINT()) of what it does; another
 * message comes to the same list, or its receiver is reset. When it goes on, counts and entries
 * agree with the completions.
 */
#include "engine/test_steps.h"
#include "segment/rank.h"
#include "engine/cq/cq.h"
#include "engine/test_tm.h"
#include "util/for_tests.h"

static uint32_t seen[16]; /* completions by app_op */
static uint32_t removed;  /* REMOVEs that succeeded */

static void count(struct t_cq *cq)
{
	const uint8_t *c;

	while ((c = (const uint8_t *)t_poll(cq)))
		if (LAYOUT_GET(cqe64, c, app) == CQE_APP_TAG_MATCHING) {
			seen[LAYOUT_GET(cqe64, c, app_op)]++;
			removed += LAYOUT_GET(cqe64, c, app_op) == CQE_TM_REMOVE &&
				   LAYOUT_GET(tm_cqe, c, success);
		}
}

static void another_message(struct scene *x)
{
	struct t_qp *c = t_qp_make(x->e->p.t, 0, PRM_ST_RC, NULL);
	struct t_qp *d = t_qp_make(x->e->p.t, 1, PRM_ST_RC, &x->srq);

	t_connect(c, d);
	tm_send(c, TMH_EAGER, 7, "y");
	run_out(x, c);
	t_qp_free(c);
	t_qp_free(d);
}

/* The program removes the entry, and is not held up. */
static void entry_removed(struct scene *x)
{
	struct t_qp *c = t_qp_make(x->e->p.t, 1, PRM_ST_RC, &x->srq);
	struct t_qp *d = t_qp_make(x->e->p.t, 1, PRM_ST_RC, &x->srq);
	uint8_t raw[32] = {0};

	t_connect(c, d);
	LAYOUT_SET(wqe_tm, raw, opcode, WQE_TM_REMOVE);
	LAYOUT_SET(wqe_tm, raw, cqe_req, 1);
	t_post(c, &(struct t_wr){.opcode = WQE_OP_TAG_MATCHING, .raw = raw, .raw_len = 32});
	run_out(x, c);
	count(&x->b->cq);
	assert_int_equal(seen[CQE_TM_REMOVE], 1);
	t_qp_free(c);
	t_qp_free(d);
}

static void receiver_to_error(struct scene *x)
{
	assert_int_equal(eng_qp_set_state(seg_of(x), x->b->qpn, PRM_QP_STATE_ERR), 0);
}

static void receiver_to_reset(struct scene *x)
{
	eng_qp_set_state(seg_of(x), x->b->qpn, PRM_QP_STATE_RST);
}

static void check(struct scene *x, void (*meanwhile)(struct scene *x))
{
	const struct hw_tm *tm = seg_at(seg_of(x), SEG_T_TM, x->srq.hw->tm);
	uint32_t taken, others = meanwhile == another_message;

	count(&x->b->cq);
	taken = seen[CQE_TM_CONSUMED_MSG] + seen[CQE_TM_CONSUMED];
	assert_int_equal(seen[CQE_TM_EXPECTED], seen[CQE_TM_CONSUMED]);
	if (others) /* the sender went on and received its FINs */
		assert_int_equal(x->e->board->received, seen[CQE_TM_EXPECTED]);
	if (others)
		assert_int_equal(taken + seen[CQE_TM_UNEXPECTED], 2);
	else if (meanwhile == entry_removed)
		assert_int_equal(taken + seen[CQE_TM_UNEXPECTED], 1);
	else
		assert_true(taken + seen[CQE_TM_UNEXPECTED] <= 1);
	assert_int_equal(HW_TM_HW(tm->sync), seen[CQE_TM_UNEXPECTED]);
	assert_int_equal(HW_TM_CLAIMED(tm->sync), 0);
	for (int i = 0; i < HW_TM_CLAIMS; i++)
		assert_int_equal(tm->claim[i], 0);
	/* A REMOVE that failed promises the entry's completion. */
	if (meanwhile == entry_removed)
		assert_int_equal(removed, !taken);
	assert_int_equal(HW_TM_KIND(tm->tag[0].state),
			 taken || removed ? HW_TM_FREE : HW_TM_POSTED);
	assert_int_equal(t_srq_wqe(x->b), 0);
	assert_true(x->srq.hw->consumed == seen[CQE_TM_UNEXPECTED] ||
		    meanwhile == receiver_to_error); /* a move to ERR flushes the receive in hand */
}

/* The same for a killed sender, whose message may have come or not. */
static void check_killed(struct scene *x)
{
	const struct hw_tm *tm = seg_at(seg_of(x), SEG_T_TM, x->srq.hw->tm);
	uint32_t taken;

	count(&x->b->cq);
	taken = seen[CQE_TM_CONSUMED_MSG] + seen[CQE_TM_CONSUMED];
	assert_int_equal(seen[CQE_TM_EXPECTED], seen[CQE_TM_CONSUMED]);
	assert_true(taken + seen[CQE_TM_UNEXPECTED] <= 1);
	assert_int_equal(HW_TM_KIND(tm->tag[0].state), taken ? HW_TM_FREE : HW_TM_POSTED);
	assert_int_equal(x->srq.hw->consumed, seen[CQE_TM_UNEXPECTED] + (t_srq_wqe(x->b) != 0));
	assert_int_equal(HW_TM_HW(tm->sync), seen[CQE_TM_UNEXPECTED]);
	assert_int_equal(HW_TM_CLAIMED(tm->sync), 0);
	for (int i = 0; i < HW_TM_CLAIMS; i++)
		assert_int_equal(tm->claim[i], 0);
}

/* Another QP completes to the CQ so often that each entry is written again. */
static void go_round(struct scene *x)
{
	struct t_qp *q = x->e->p.a;

	t_set_cq(q, &x->b->cq, NULL);
	for (uint32_t i = 0; i <= 1u << T_CQ_LOG; i++) {
		t_post(q, &(struct t_wr){.opcode = MLX5_OPCODE_NOP, .fm_ce_se = T_SIG});
		run_out(x, q);
		count(&x->b->cq);
	}
}

static void die_after_a_round(struct scene *x)
{
	go_round(x);
	scene_go_on(x, SIGKILL);
	settle(x);
}

/* The CQ's lock is not free when the receiver's device thread looks. */
static void die_while_the_cq_is_locked(struct scene *x)
{
	struct seg *s = seg_of(x);
	struct t_cq *cq = &x->b->cq;
	struct cq_held h;

	scene_go_on(x, SIGKILL);
	seg_proc(s, x->e->board->key)->state = SEG_PROC_DEAD;
	assert_int_equal(cq_lock(s, cq->hw, cq->cqn, &h), 0);
	rank_drops(&cq->hw->lock); /* as if another thread had it */
	eng_proc_died(s, x->e->board->key);
	eng_run_due(s);
	cq_unlock(s, &h);
	for (int i = 0; i < 4; i++) {
		t_now += 20000000;
		eng_run_due(s);
	}
}

static bool stopped_at(const struct scenario *is, uint32_t n, void (*meanwhile)(struct scene *x))
{
	struct scene x = {.is = is};

	memset(seen, 0, sizeof(seen));
	removed = 0;
	scene_stop(&x, n);
	meanwhile(&x);
	scene_go_on(&x, SIGCONT);
	settle(&x);
	check(&x, meanwhile);
	scene_end(&x);
	return x.stopped;
}

static bool killed_at(const struct scenario *is, uint32_t n, void (*die)(struct scene *x))
{
	struct scene x = {.is = is};

	memset(seen, 0, sizeof(seen));
	removed = 0;
	scene_stop(&x, n);
	die(&x);
	check_killed(&x);
	scene_end(&x);
	return x.stopped;
}

static void at_each(const char *what,
		    bool (*one)(const struct scenario *is, uint32_t n, void (*f)(struct scene *x)),
		    void (*f)(struct scene *x))
{
	const char *only = getenv("STEP_SCENARIO"), *from = getenv("STEP_FROM");
	uint32_t rows = 0;

	for (size_t i = 0; i < nscenarios; i++) {
		uint32_t n = from ? (uint32_t)atoi(from) : 1;

		if (!scenarios[i].tags || (only && strcmp(only, scenarios[i].name)))
			continue;
		rows++;
		for (; one(&scenarios[i], n, f); n++) {
			print_message("%s %s %u\n", scenarios[i].name, what, n);
			assert_true(n < MAX_STEPS);
		}
		print_message("%s: %u steps, %s\n", scenarios[i].name, n - 1, what);
		assert_true(n > 20);
	}
	assert_true(rows);
}

static void another_message_comes(void **state)
{
	at_each("another message", stopped_at, another_message);
}

static void its_entry_is_removed(void **state)
{
	at_each("entry removed", stopped_at, entry_removed);
}

static void the_receiver_fails(void **state)
{
	at_each("receiver to ERR", stopped_at, receiver_to_error);
}

static void the_receiver_is_reset(void **state)
{
	at_each("receiver to RESET", stopped_at, receiver_to_reset);
}

static void killed_after_the_cq_went_round(void **state)
{
	at_each("killed after a round", killed_at, die_after_a_round);
}

static void killed_while_the_cq_is_locked(void **state)
{
	at_each("killed, the CQ is locked", killed_at, die_while_the_cq_is_locked);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(another_message_comes),
		cmocka_unit_test(its_entry_is_removed),
		cmocka_unit_test(the_receiver_fails),
		cmocka_unit_test(the_receiver_is_reset),
		cmocka_unit_test(killed_after_the_cq_went_round),
		cmocka_unit_test(killed_while_the_cq_is_locked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
