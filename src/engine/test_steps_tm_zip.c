/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A sender of several messages and a rendezvous by one doorbell is killed, or stopped, at each
 * marked step (POINT()), and the XRQ's CQ has compression: each message has its completions once,
 * or it is absent.
 */
#include "engine/test_steps.h"
#include "hw/qp.h"
#include "engine/test_tm.h"
#include "engine/test_zip.h"

#define MESSAGES (RECEIVES + 2)
#define FIRST 16 /* the length of the first one; each is a byte longer than that before it */

static struct z_cq z;
static uint32_t seen[16], others; /* completions by app_op, and those of other QPs */

static void setup_mixed(struct scene *x)
{
	struct t_sge to = t_own(x->b, 4096, 4096);

	LAYOUT_SET(qpc, x->b->hw->qpc, offload_type, 1);
	x->b->hw->cqn_rcv = x->e->p.b->cq.cqn; /* not the XRQ's */
	tm_entry(tm_make(x->e->p.t, &x->srq, &x->b->cq), 0, 5, &to);
	z_make(&z, x->e->p.t, &x->b->cq, PRM_MINI_CQE_CSUM_STRIDX, Z_LINUX);
	for (uint32_t i = RECEIVES; i < MESSAGES; i++)
		t_srq_post(&x->srq, x->b->key, x->b->mem, 64);
	memset(seen, 0, sizeof(seen));
	others = 0;
}

static void post(struct t_qp *c, const struct tm_msg *m, uint32_t len)
{
	t_post_quiet(c, &(struct t_wr){.opcode = MLX5_OPCODE_SEND, .inl = m->b, .inl_len = len});
}

/* The program sleeps until the first message; four wait; the rendezvous; one more. */
static void send_mixed(struct scene *x, struct t_qp *c)
{
	struct tm_msg none = tm_header(TMH_NO_TAG, 0), offer = tm_header(TMH_RNDV, 5);

	t_recv_at(c, 8192, 64);
	LAYOUT_SET(rvh, offer.b + 16, va, (uintptr_t)c->mem);
	LAYOUT_SET(rvh, offer.b + 16, rkey, c->key);
	LAYOUT_SET(rvh, offer.b + 16, len, 3000);
	for (uint32_t i = 0; i < MESSAGES; i++) {
		if (i == MESSAGES - 1)
			post(c, &offer, 32);
		post(c, &none, FIRST + i);
	}
	t_ring(c);
}

static void read_all(void)
{
	struct mlx5_cqe64 c;

	while (z_poll(&z, &c)) {
		const uint8_t *b = (const uint8_t *)&c;
		uint32_t op = LAYOUT_GET32(cqe64, b, app_op), opcode = c.op_own >> 4;

		if (opcode == MLX5_CQE_REQ) {
			others++;
			continue;
		}
		if (opcode == MLX5_CQE_RESP_ERR) /* of a receive in hand */
			continue;
		assert_int_equal(LAYOUT_GET(cqe64, b, app), CQE_APP_TAG_MATCHING);
		if (op == CQE_TM_NO_TAG)
			assert_int_equal(be32toh(c.byte_cnt), FIRST + seen[op]);
		seen[op]++;
	}
}

static const struct scenario mixed = {
	"mixed with compression", PRM_ST_RC, true, setup_mixed, send_mixed, NULL};

static void receiver_ends(struct scene *x)
{
	static bool to_error;

	to_error = !to_error;
	assert_int_equal(eng_qp_set_state(seg_of(x), x->b->qpn,
					  to_error ? PRM_QP_STATE_ERR : PRM_QP_STATE_RST),
			 0);
	assert_false(cq_waits(seg_of(x), x->b->cq.cqn));
}

static void check(struct scene *x, bool whole, uint32_t sent)
{
	const struct hw_tm *tm = seg_at(seg_of(x), SEG_T_TM, x->srq.hw->tm);
	uint32_t taken;

	read_all();
	taken = seen[CQE_TM_CONSUMED];
	assert_int_equal(others, sent);
	assert_true(taken <= 1 && seen[CQE_TM_NO_TAG] <= MESSAGES);
	assert_int_equal(seen[CQE_TM_EXPECTED], taken);
	if (whole)
		assert_int_equal(taken + seen[CQE_TM_NO_TAG], 1 + MESSAGES);
	assert_true(!whole || sent || z.sessions == 1);
	assert_int_equal(HW_TM_KIND(tm->tag[0].state), taken ? HW_TM_FREE : HW_TM_POSTED);
	assert_int_equal(x->b->cq.hw->lock.word, 0);
	assert_int_equal(x->b->hw->rq_lock.word, 0);
	assert_false(cq_waits(seg_of(x), x->b->cq.cqn));
	complete_another(x);
	read_all();
	assert_int_equal(others, sent + 1);
}

static bool stopped_at(uint32_t n, void (*meanwhile)(struct scene *x))
{
	struct scene x = {.is = &mixed};

	scene_stop(&x, n);
	meanwhile(&x);
	scene_go_on(&x, SIGCONT);
	settle(&x);
	check(&x, meanwhile == complete_another, meanwhile == complete_another);
	scene_end(&x);
	return x.stopped;
}

static bool killed_at(uint32_t n)
{
	struct scene x = {.is = &mixed};
	int status;

	scene_start(&x, "kill", n);
	status = reap(x.e);
	settle(&x);
	check(&x, !status, 0);
	scene_free(&x);
	return WIFSIGNALED(status);
}

static void at_every_step_do(const char *what, void (*meanwhile)(struct scene *x))
{
	const char *from = getenv("STEP_FROM");
	uint32_t n = from ? (uint32_t)atoi(from) : 1;

	for (; meanwhile ? stopped_at(n, meanwhile) : killed_at(n); n++)
		assert_true(n < 2 * MAX_STEPS);
	print_message("%s at %u steps\n", what, n - 1);
	assert_true(n > 100);
}

static void killed(void **state)
{
	at_every_step_do("killed", NULL);
}

static void stopped(void **state)
{
	at_every_step_do("stopped", complete_another);
}

static void beside_the_receivers_end(void **state)
{
	at_every_step_do("receiver ended", receiver_ends);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(killed),
		cmocka_unit_test(stopped),
		cmocka_unit_test(beside_the_receivers_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
