/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A sender of several messages by one doorbell is killed, or stopped, at each marked step
 * (POINT()), and the receiver's CQ has compression: each message is whole or absent, none comes
 * twice, and the CQ continues to work.
 */
#include "engine/test_steps.h"
#include "engine/test_zip.h"
#include "util/for_tests.h"

#define MESSAGES (RECEIVES + 2)

static struct z_cq z;
static uint32_t received, others; /* messages, and other completions */
static uint8_t seen[64 << T_CQ_LOG];
static uint32_t nseen; /* entries */
/* The CQ's buffer, and the one that it gets by a resize. */
#define LARGER 7
static uint8_t *first_buf, larger[64 << LARGER] __attribute__((aligned(4096)));

static void setup_zip(struct scene *x)
{
	z_make(&z, x->e->p.t, &x->b->cq, PRM_MINI_CQE_HASH, Z_LINUX);
	received = others = nseen = 0;
	first_buf = x->b->cq.buf;
	memset(larger, 0xf1, sizeof(larger));
	/* Arm again: the earlier arm was for the CQ before it had compression. */
	atomic_store(&x->b->cq.hw->armed, HW_CQ_ANY);
	for (uint32_t i = RECEIVES; i < MESSAGES; i++)
		t_recv_at(x->b, i * 64, 64);
}

/*
 * The CQ is armed for the first message. The next three can share a session; another differs; the
 * last one waits until the sender does something else.
 */
static void send_burst(struct scene *x, struct t_qp *c)
{
	for (uint32_t i = 0; i < MESSAGES; i++)
		t_post_quiet(c, &(struct t_wr){.opcode = i == 4 ? MLX5_OPCODE_SEND_IMM
								: MLX5_OPCODE_SEND,
					       .inl = "xxxxxx",
					       .inl_len = i + 1});
	t_post_quiet(c, &(struct t_wr){.opcode = MLX5_OPCODE_NOP});
	t_ring(c);
}

/* Messages come in order: 1, 2... bytes long. */
static void read_all(void)
{
	struct mlx5_cqe64 c;

	while (z_poll(&z, &c)) {
		if (c.op_own >> 4 == MLX5_CQE_RESIZE_CQ) {
			z.cq->buf = larger;
			z.cq->log_size = LARGER;
			continue;
		}
		if (c.op_own >> 4 == MLX5_CQE_REQ) {
			others++;
			continue;
		}
		assert_int_equal(be16toh(c.wqe_counter), received);
		assert_int_equal(be32toh(c.byte_cnt), ++received);
	}
}

/*
 * The program reads the CQ while the sender is gone or stopped: these entries must not change
 * later.
 */
static void look(void)
{
	read_all();
	nseen = z.cq->ci;
	assert_uint_in_range(nseen, 0, (1 << T_CQ_LOG) - 1);
	memcpy(seen, z.cq->buf, nseen * 64);
}

static const struct scenario burst = {
	"burst with compression", PRM_ST_RC, false, setup_zip, send_burst, NULL};

static void check(struct scene *x, bool whole, uint32_t sent)
{
	uint32_t n;

	assert_memory_equal(seen, first_buf, nseen * 64);
	read_all();
	assert_int_equal(others, sent);
	assert_true(received <= MESSAGES && (!whole || received == MESSAGES));
	assert_int_equal(t_rq_ci(x->b), received);
	assert_int_equal(count_events(x, x->b->cq.evq[0], 0), received || sent);
	assert_int_equal(x->b->cq.hw->lock.word, 0);
	assert_int_equal(t_rq_lock(x->b)->word, 0);
	assert_false(cq_waits(seg_of(x), x->b->cq.cqn));
	n = received;
	complete_another(x);
	read_all();
	assert_int_equal(received, n);
	assert_int_equal(others, sent + 1);
}

static bool killed_at(uint32_t n)
{
	struct scene x = {.is = &burst};
	int status;

	scene_start(&x, "kill", n);
	status = reap(x.e);
	look();
	settle(&x);
	check(&x, !status, 0);
	scene_free(&x);
	return WIFSIGNALED(status);
}

static void killed_at_every_step(void **state)
{
	at_each_step("killed", 30, killed_at);
}

/* The program resizes the CQ, which takes its lock from the stopped one. */
static void resize(struct scene *x)
{
	struct seg *s = seg_of(x);

	assert_int_equal(eng_cq_resize(s, x->b->cq.cqn, mem_self(s), (uintptr_t)larger, LARGER, 64),
			 0);
}

/* Shuts the senders' gates, as happens before a key of the program ends. */
static void shut_gates(struct scene *x)
{
	eng_mkey_quiesce(seg_of(x), x->b->key >> 8);
}

static bool stopped_at(uint32_t n, void (*meanwhile)(struct scene *x))
{
	struct scene x = {.is = &burst};

	scene_stop(&x, n);
	look();
	meanwhile(&x);
	assert_memory_equal(seen, first_buf, nseen * 64);
	scene_go_on(&x, SIGCONT);
	if (x.stopped) {
		settle(&x);
		check(&x, true, meanwhile == complete_another);
	}
	scene_end(&x);
	return x.stopped;
}

/* Others use the CQ while the sender is stopped; then it dies. */
static bool killed_later_at(uint32_t n)
{
	struct scene x = {.is = &burst};

	scene_stop(&x, n);
	look();
	complete_another(&x);
	look();
	complete_another(&x);
	scene_go_on(&x, SIGKILL);
	settle(&x);
	check(&x, !x.stopped, 2);
	scene_end(&x);
	return x.stopped;
}

static void killed_later_at_every_step(void **state)
{
	at_each_step("stopped and killed", 30, killed_later_at);
}

/* ---- a second sender, to another QP of the CQ, which dies when it has kept a CQE */

#define SECOND 2 /* its messages */

static struct t_qp *second; /* who receives them */

static void child_dies_with_one_kept(struct bed *e)
{
	struct t_qp *c = t_qp_make(e->p.t, 0, PRM_ST_RC, NULL);

	t_rts(c, second);
	e->board->qpn = c->qpn;
	tell(e->tell[1]);
	CHECK(await(e->go[0]));
	CHECK(point_set("zip-kept:kill:1"));
	for (int i = 0; i < SECOND; i++)
		t_post_quiet(c,
			     &(struct t_wr){.opcode = MLX5_OPCODE_SEND, .inl = "y", .inl_len = 1});
	t_ring(c);
}

static void second_dies(struct scene *x)
{
	struct bed *e = x->e, first = *e;
	struct t_qp peer;

	second = t_qp_make(e->p.t, 1, PRM_ST_RC, NULL);
	t_set_cq(second, NULL, &x->b->cq);
	spawn(e, child_dies_with_one_kept);
	assert_true(await(e->tell[0]));
	peer = (struct t_qp){.qpn = e->board->qpn,
			     .hw = seg_live(seg_of(x), SEG_T_QP, e->board->qpn)};
	t_rts(second, &peer);
	for (uint32_t i = 0; i < SECOND; i++)
		t_recv_at(second, i * 64, 64);
	tell(e->go[1]);
	assert_int_equal(reap(e), SIGKILL);
	*e = first;
}

/* Its receive is completed once: with the message, or flushed. */
static void check_second(struct scene *x, bool whole)
{
	uint32_t first = 0, done = 0, flushed = 0;
	struct mlx5_cqe64 c;

	assert_int_equal(eng_qp_set_state(seg_of(x), second->qpn, PRM_QP_STATE_ERR), 0);
	while (z_poll(&z, &c)) {
		uint32_t opcode = c.op_own >> 4, qpn = be32toh(c.sop_drop_qpn) & 0xffffff;

		first += qpn == x->b->qpn && opcode != MLX5_CQE_RESP_ERR;
		done += qpn == second->qpn && opcode == MLX5_CQE_RESP_SEND;
		flushed += qpn == second->qpn && opcode == MLX5_CQE_RESP_ERR;
	}
	assert_int_equal(done + flushed, SECOND);
	assert_int_equal(done, 1);
	assert_true(!whole || first == MESSAGES);
	assert_false(cq_waits(seg_of(x), x->b->cq.cqn));
}

static bool overtaken_at(uint32_t n)
{
	struct scene x = {.is = &burst};

	scene_stop(&x, n);
	complete_another(&x);
	second_dies(&x);
	scene_go_on(&x, SIGCONT);
	settle(&x);
	check_second(&x, true);
	t_qp_free(second);
	scene_end(&x);
	return x.stopped;
}

/* The CQ's lock goes from a stopped sender to one that dies; then the first continues. */
static void overtaken_by_one_that_dies(void **state)
{
	at_each_step("overtaken", 30, overtaken_at);
}

static void at_every_step_do(void (*meanwhile)(struct scene *x))
{
	uint32_t n = 1;

	for (; stopped_at(n, meanwhile); n++)
		assert_true(n < MAX_STEPS);
	print_message("stopped at %u steps\n", n - 1);
	assert_true(n > 30);
}

/* Another completion comes to the CQ meanwhile and takes its lock over from the stopped sender. */
static void stopped_at_every_step(void **state)
{
	at_every_step_do(complete_another);
}

static void resized_beside_one_stopped_at_every_step(void **state)
{
	at_every_step_do(resize);
}

static void keys_revoked_beside_one_stopped_at_every_step(void **state)
{
	at_every_step_do(shut_gates);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(killed_at_every_step),
		cmocka_unit_test(killed_later_at_every_step),
		cmocka_unit_test(stopped_at_every_step),
		cmocka_unit_test(overtaken_by_one_that_dies),
		cmocka_unit_test(resized_beside_one_stopped_at_every_step),
		cmocka_unit_test(keys_revoked_beside_one_stopped_at_every_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
