/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A sender is stopped at each marked step (POINT()), and its receiver gives commands about the
 * queues meanwhile: each command is done, and nothing of what came before is lost.
 */
#include "engine/test_steps.h"

/* ---- the CQ is resized */

static bool resized_at(const struct scenario *is, uint32_t n)
{
	uint8_t *next = aligned_alloc(4096, 64 << 7);
	struct t_cq *cq;
	struct mlx5_cqe64 *c;
	uint32_t received = 0, events;
	bool late;
	struct scene x = {.is = is};
	struct seg *s;

	scene_stop(&x, n);
	s = seg_of(&x);
	cq = &x.b->cq;
	memset(next, 0xf0, 64 << 7); /* opcode 15 */
	assert_int_equal(eng_cq_resize(s, cq->cqn, mem_self(s), (uintptr_t)next, 7, 64), 0);
	while ((c = t_poll(cq)) && mlx5dv_get_cqe_opcode(c) != MLX5_CQE_RESIZE_CQ)
		received += mlx5dv_get_cqe_opcode(c) == MLX5_CQE_RESP_SEND;
	/* An event that moderation delays need not come any more when its CQE is polled. */
	late = received && cq->hw->moder;
	cq->buf = next;
	cq->log_size = 7;
	scene_go_on(&x, SIGCONT);
	settle(&x);
	while ((c = t_poll(cq)))
		received += mlx5dv_get_cqe_opcode(c) == MLX5_CQE_RESP_SEND;
	assert_int_equal(received, 1);
	events = count_events(&x, cq->evq[0], 0);
	assert_true(events == 1 || (!events && late));
	goes_on(&x);
	scene_end(&x);
	free(next);
	return x.stopped;
}

static void resized_beside_one_stopped_at_every_step(void **state)
{
	at_every_step("CQ resized", resized_at);
}

/* ---- the limit of the SRQ is armed */

static bool armed_at(const struct scenario *is, uint32_t n)
{
	struct scene x = {.is = is};

	scene_stop(&x, n);
	if (is->srq)
		assert_int_equal(eng_srq_arm_limit(seg_of(&x), x.srq.srqn, 1), 0);
	scene_go_on(&x, SIGCONT);
	scene_end(&x);
	return x.stopped && is->srq;
}

static void armed_beside_one_stopped_at_every_step(void **state)
{
	for (uint32_t i = 0; i < nscenarios; i++) {
		uint32_t n = 1;

		if (!scenarios[i].srq || scenarios[i].check != check_send)
			continue;
		for (; armed_at(&scenarios[i], n); n++)
			assert_true(n < MAX_STEPS);
		print_message("%s: limit armed at %u steps\n", scenarios[i].name, n - 1);
	}
}

/* ---- the QP and the CQ are destroyed */

static bool destroyed_at(const struct scenario *is, uint32_t n)
{
	struct scene x = {.is = is};
	struct seg *s;

	scene_stop(&x, n);
	s = seg_of(&x);
	assert_int_equal(eng_qp_quiesce(s, x.b->qpn), 0);
	assert_int_equal(eng_cq_quiesce(s, x.b->cq.cqn), 0);
	seg_free(s, SEG_T_CQ, x.b->cq.cqn);
	count_cqes(&x, MLX5_CQE_RESP_SEND);
	scene_go_on(&x, SIGCONT);
	t_assert_empty(&x.b->cq);
	assert_int_equal(count_events(&x, x.b->cq.evq[0], 0), 0);
	assert_int_equal(t_rq_lock(x.b)->word, 0);
	assert_int_equal(x.b->cq.hw->lock.word, 0);
	scene_end(&x);
	return x.stopped;
}

static void destroyed_beside_one_stopped_at_every_step(void **state)
{
	at_every_step("QP and CQ destroyed", destroyed_at);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(resized_beside_one_stopped_at_every_step),
		cmocka_unit_test(armed_beside_one_stopped_at_every_step),
		cmocka_unit_test(destroyed_beside_one_stopped_at_every_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
