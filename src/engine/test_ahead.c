/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A sender in another process reads the WQEs of an SRQ ahead: it finds what is posted, in order. */
#include "engine/test_procs.h"
#include "hw/cq.h"
#include "hw/qp_state.h"
#include "hw/rq_ahead.h"
#include "hw/srq.h"
#include "util/for_tests.h"
#include "util/point.h"

#define PLACES 16
#define MSG 64
#define KEPT(srq) ((uint32_t)((srq)->kept >> 32) & 0xffff)

/* The receiver in this process, and its SRQ. */
static struct ahead {
	struct bed *e;
	struct t_qp *b;
	struct t_srq srq;
	uint8_t *mem; /* of the messages, and its key */
	uint32_t key;
	char spec[32]; /* where the child stops */
} * bed;

static int ahead_setup(void **state)
{
	struct ahead *x = calloc(1, sizeof(*x));
	void *p;

	bed_setup(&p);
	x->e = p;
	t_srq_make(x->e->p.t, &x->srq, x->e->p.t->pd[1]);
	x->b = t_qp_make(x->e->p.t, 1, PRM_ST_RC, &x->srq);
	x->mem = (uint8_t *)x->b->mem;
	x->key = x->b->key;
	*state = bed = x;
	return 0;
}

static int ahead_teardown(void **state)
{
	struct ahead *x = *state;
	void *p = x->e;

	t_qp_free(x->b);
	free(x);
	return bed_teardown(&p);
}

/* Sends a message for each byte that the parent writes; its content is its number. */
static void child_sends(struct bed *e)
{
	struct t_qp *c = t_qp_make(e->p.t, 0, PRM_ST_RC, NULL);
	char text[2] = "a";

	t_rts(c, bed->b);
	e->board->qpn = c->qpn;
	e->board->key = e->p.t->s.self;
	tell(e->tell[1]);
	CHECK(!bed->spec[0] || point_set(bed->spec));
	for (; await(e->go[0]); text[0]++) {
		t_post(c, &(struct t_wr){.opcode = MLX5_OPCODE_SEND, .inl = text, .inl_len = 1});
		for (int i = 0; i < 50 && t_park(c) == HW_PARK_LOCK; i++) {
			t_now += 2000000;
			eng_run_due(&e->p.t->s);
		}
		tell(e->tell[1]);
	}
}

static void start_sender(struct ahead *x, const char *spec)
{
	struct t_qp peer;

	snprintf(x->spec, sizeof(x->spec), "%s", spec);
	spawn(x->e, child_sends);
	assert_true(await(x->e->tell[0]));
	peer = (struct t_qp){.qpn = x->e->board->qpn,
			     .hw = seg_live(&x->e->p.t->s, SEG_T_QP, x->e->board->qpn)};
	t_rts(x->b, &peer);
}

static struct mlx5_wqe_srq_next_seg *wqe(struct ahead *x, uint32_t i)
{
	return (void *)(x->srq.buf + (i << x->srq.log_stride));
}

/* Post WQE `at`, for message number `n`; `next` follows it. */
static void post(struct ahead *x, uint32_t at, uint32_t n, uint32_t next)
{
	x->srq.head = at;
	wqe(x, at)->next_wqe_index = htobe16((uint16_t)next);
	t_srq_post(&x->srq, x->key, x->mem + n * MSG, MSG);
}

static void message(struct ahead *x)
{
	tell(x->e->go[1]);
	assert_true(await(x->e->tell[0]));
}

/* Message `n` came in WQE `at`. */
static void came(struct ahead *x, uint32_t n, uint32_t at)
{
	t_received(x->b, MLX5_CQE_RESP_SEND, 1, at);
	assert_int_equal(x->mem[n * MSG], 'a' + n);
}

/* Reading ahead keeps WQEs that follow each other in memory, and stops where the list jumps. */
static void the_list_is_followed(void **state)
{
	static const uint32_t order[] = {0, 1, 2, 7, 8, 9, 3, 12, 13, 5};
	const uint32_t n = sizeof(order) / sizeof(order[0]);
	struct ahead *x = *state;

	for (uint32_t i = 0; i < n; i++)
		post(x, order[i], i, i + 1 < n ? order[i + 1] : 15);
	start_sender(x, "");
	message(x);
	came(x, 0, 0);
	assert_int_equal(KEPT(x->srq.hw), 3);
	for (uint32_t i = 1; i < n; i++) {
		message(x);
		came(x, i, order[i]);
	}
	EXPECT_OK(x->e);
}

/* A WQE that is posted again at the same place is a new one. */
static void a_place_is_used_again(void **state)
{
	struct ahead *x = *state;

	x->srq.hw->wq_type = 1; /* a ring */
	for (uint32_t i = 0; i < PLACES; i++)
		post(x, i, i, 0);
	start_sender(x, "");
	for (uint32_t i = 0; i < 40; i++) {
		message(x);
		came(x, i, i % PLACES);
		if (i + PLACES < 40)
			post(x, i % PLACES, i + PLACES, 0);
	}
	EXPECT_OK(x->e);
}

/* The last posted WQE may be linked when the next one is posted. */
static void the_last_link_comes_late(void **state)
{
	struct ahead *x = *state;

	for (uint32_t i = 0; i < 3; i++)
		post(x, i, i, i + 1);
	start_sender(x, "");
	message(x);
	came(x, 0, 0);
	wqe(x, 2)->next_wqe_index = htobe16(9);
	post(x, 9, 3, 10);
	for (uint32_t i = 1; i < 4; i++) {
		message(x);
		came(x, i, i < 3 ? i : 9);
	}
	EXPECT_OK(x->e);
}

/* SRQs with high numbers have no place for what is read ahead. */
static void without_a_place_they_come_one_by_one(void **state)
{
	struct ahead *x = *state;

	seg_table(&x->e->p.t->s, SEG_T_SRQAHEAD)->capacity = x->srq.srqn;
	for (uint32_t i = 0; i < 4; i++)
		post(x, i, i, i + 1);
	start_sender(x, "");
	for (uint32_t i = 0; i < 4; i++) {
		message(x);
		came(x, i, i);
		assert_int_equal(KEPT(x->srq.hw), 0);
	}
	EXPECT_OK(x->e);
}

/* A receive that a QP returns to the list comes before those that are kept. */
static void one_goes_back(void **state)
{
	struct ahead *x = *state;
	struct seg *s = &x->e->p.t->s;
	struct t_qp *d = t_qp_make(x->e->p.t, 1, PRM_ST_RC, &x->srq);

	for (uint32_t i = 0; i < 4; i++)
		post(x, i, i, i + 1);
	start_sender(x, "");
	message(x);
	came(x, 0, 0);
	assert_int_equal(KEPT(x->srq.hw), 3);
	t_set_srq_wqe(d, &x->srq,
		      12); /* a receive taken elsewhere in the list, and never completed */
	post(x, 12, 1, 13);
	*x->srq.dbr = htobe32(--x->srq.posted);
	assert_int_equal(eng_qp_quiesce(s, d->qpn), 0);
	message(x);
	came(x, 1, 12);
	EXPECT_OK(x->e);
	t_qp_free(d);
}

/*
 * A sender is stopped before it reads ahead, and another one takes over. When the first goes on, it
 * does not change what the other keeps, whatever the program's memory contains by then.
 */
static void a_late_reader_changes_nothing(void **state)
{
	struct ahead *x = *state;
	struct hw_rq_ahead *kept = seg_at(&x->e->p.t->s, SEG_T_SRQAHEAD, x->srq.srqn), was;
	struct t_qp *first_b = x->b;
	struct bed first;
	int status;

	x->srq.hw->wq_type = 1;
	for (uint32_t i = 0; i < PLACES; i++)
		post(x, i, i, 0);
	start_sender(x, "srq-ahead-none:stop:1");
	first = *x->e;
	tell(first.go[1]);
	assert_int_equal(waitpid(first.pid, &status, WUNTRACED), first.pid);
	assert_true(WIFSTOPPED(status));
	x->b = t_qp_make(x->e->p.t, 1, PRM_ST_RC, &x->srq);
	start_sender(x, "");
	message(x);
	came(x, 0, 0);
	was = *kept;
	assert_int_equal(KEPT(x->srq.hw), 8);
	memset(x->srq.buf, 0xff, PLACES * MSG);
	kill(first.pid, SIGCONT);
	assert_true(await(first.tell[0]));
	assert_memory_equal(kept, &was, sizeof(was));
	t_received(first_b, MLX5_CQE_RESP_SEND, 1, 1);
	EXPECT_OK(x->e);
	assert_int_equal(reap(&first), 0);
	t_qp_free(first_b);
}

int main(void)
{
#define A(f) cmocka_unit_test_setup_teardown(f, ahead_setup, ahead_teardown)
	const struct CMUnitTest tests[] = {
		A(the_list_is_followed),          A(a_place_is_used_again),
		A(the_last_link_comes_late),      A(one_goes_back),
		A(a_late_reader_changes_nothing), A(without_a_place_they_come_one_by_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
