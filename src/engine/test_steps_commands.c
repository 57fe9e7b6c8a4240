/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A sender is stopped at each marked step (POINT()), and its receiver gives commands about the
 * queues meanwhile: each command is done, and nothing of what came before is lost.
 */
#include "engine/test_steps.h"

/* ---- a scene with a stopped sender */

/* False: the sender was not stopped, as it has fewer steps. */
static bool stop_at(struct scene *x, const struct scenario *is, uint32_t n, void **state)
{
	int status;

	*x = (struct scene){.is = is};
	snprintf(x->spec, sizeof(x->spec), "*:stop:%u", n);
	bed_setup(state);
	x->e = *state;
	scene_setup(x, child);
	tell(x->e->go[1]);
	assert_int_equal(waitpid(x->e->pid, &status, WUNTRACED), x->e->pid);
	if (WIFSTOPPED(status))
		return true;
	assert_int_equal(status, 0);
	return false;
}

static void go_on(struct scene *x)
{
	int status;

	kill(x->e->pid, SIGCONT);
	assert_int_equal(waitpid(x->e->pid, &status, 0), x->e->pid);
	assert_int_equal(status, 0);
}

static void scene_end(struct scene *x, void **state)
{
	close(x->e->go[1]);
	close(x->e->tell[0]);
	close(x->eventfd);
	t_qp_free(x->b);
	bed_teardown(state);
}

/* ---- the CQ is resized */

static bool resized_at(const struct scenario *is, uint32_t n)
{
	uint8_t *next = aligned_alloc(4096, 64 << 7);
	struct t_cq *cq;
	struct mlx5_cqe64 *c;
	uint32_t received = 0;
	struct scene x;
	void *state;
	bool stopped = stop_at(&x, is, n, &state);
	struct seg *s = seg_of(&x);

	cq = &x.b->cq;
	memset(next, 0xf0, 64 << 7); /* opcode 15 */
	assert_int_equal(eng_cq_resize(s, cq->cqn, mem_self(s), (uintptr_t)next, 7, 64), 0);
	while ((c = t_poll(cq)) && mlx5dv_get_cqe_opcode(c) != MLX5_CQE_RESIZE_CQ)
		received += mlx5dv_get_cqe_opcode(c) == MLX5_CQE_RESP_SEND;
	cq->buf = next;
	cq->log_size = 7;
	if (stopped)
		go_on(&x);
	settle(&x);
	while ((c = t_poll(cq)))
		received += mlx5dv_get_cqe_opcode(c) == MLX5_CQE_RESP_SEND;
	assert_int_equal(received, 1);
	assert_int_equal(count_events(&x, cq->evq[0], 0), 1);
	goes_on(&x);
	scene_end(&x, &state);
	free(next);
	return stopped;
}

static void resized_beside_one_stopped_at_every_step(void **state)
{
	at_every_step("CQ resized", resized_at);
}

/* ---- the limit of the SRQ is armed */

static bool armed_at(const struct scenario *is, uint32_t n)
{
	struct scene x;
	void *state;
	bool stopped = stop_at(&x, is, n, &state);

	if (is->srq)
		assert_int_equal(eng_srq_arm_limit(seg_of(&x), x.srq.srqn, 1), 0);
	if (stopped)
		go_on(&x);
	scene_end(&x, &state);
	return stopped && is->srq;
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
	struct scene x;
	void *state;
	bool stopped = stop_at(&x, is, n, &state);
	struct seg *s = seg_of(&x);

	assert_int_equal(eng_qp_quiesce(s, x.b->qpn), 0);
	assert_int_equal(eng_cq_quiesce(s, x.b->cq.cqn), 0);
	seg_free(s, SEG_T_CQ, x.b->cq.cqn);
	count_cqes(&x, MLX5_CQE_RESP_SEND);
	if (stopped)
		go_on(&x);
	t_assert_empty(&x.b->cq);
	assert_int_equal(count_events(&x, x.b->cq.evq[0], 0), 0);
	assert_int_equal(x.b->hw->rq_lock.word, 0);
	assert_int_equal(x.b->cq.hw->lock.word, 0);
	scene_end(&x, &state);
	return stopped;
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
