/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A receiver, and a subscriber of DEVX events, is killed at each marked step (POINT()) of what it
 * does. Afterwards its sender has what hardware would give it, others continue, and nothing of the
 * dead process is left.
 */
#include "engine/test_procs.h"
#include "engine/tx/tx.h"
#include "hw/cq.h"
#include "hw/evsub.h"
#include "hw/qp.h"
#include "hw/qp_state.h"
#include "util/for_tests.h"
#include "util/point.h"
#include "wire/prm/eq.h"

#include <infiniband/verbs.h>

#define RECEIVES 4
#define SENDS 2
#define MAX_STEPS 200

struct scenario {
	const char *name;
	void (*body)(struct bed *e); /* the child */
	void (*before)(struct bed *e);
	void (*after)(struct bed *e);
};

/* Shared with the child: the parent needs it after the death, whenever that comes. */
static struct shared {
	uint32_t slot, cqn, evq[4];
} * shared;
static char spec[32];

static void arm(struct t_qp *q, uint32_t sn)
{
	uint32_t word = sn % 4 << 28 | (q->cq.ci & 0xffffff);
	__be32 db[2] = {htobe32(word), htobe32(q->cq.cqn)};
	uint64_t be;

	q->cq.dbr[T_ARM] = htobe32(word);
	memcpy(&be, db, 8);
	eng_uar_write(&q->t->s, T_UAR, 0x20, be);
}

static void ready(struct bed *e)
{
	shared->slot = e->p.t->s.self;
	tell(e->tell[1]);
	CHECK(await(e->go[0]));
	CHECK(point_set(spec));
}

/* ---- the receiver */

static void child_receives(struct bed *e)
{
	struct t_qp *b = child_qp(e, PRM_ST_RC, NULL);
	struct seg *s = &e->p.t->s;

	shared->cqn = b->cq.cqn;
	shared->evq[0] = b->cq.evq[0];
	shared->evq[1] = b->cq.evq[1];
	shared->evq[2] = b->evq;
	for (uint32_t i = 0; i < RECEIVES; i++)
		t_recv_at(b, i * 64, 64);
	t_rts(b, e->p.a);
	ready(e);
	arm(b, 0); /* a CQE is unseen, so arming raises an event at once */
	CHECK(t_event(b->t, b->cq.evq[0]) == 0);
	for (uint32_t i = 0; i < SENDS; i++)
		CHECK(t_poll(&b->cq));
	arm(b, 1);
	CHECK(t_event(b->t, b->cq.evq[0]) < 0);
	CHECK(!eng_qp_set_state(s, b->qpn, PRM_QP_STATE_ERR));
	CHECK(t_event(b->t, b->cq.evq[0]) == 0);
	for (uint32_t i = SENDS; i < RECEIVES; i++)
		CHECK(t_poll(&b->cq));
	eng_qp_event(s, b->hw, b->qpn, IBV_EVENT_QP_FATAL);
	CHECK(t_event(b->t, b->evq) == IBV_EVENT_QP_FATAL);
	CHECK(!eng_qp_set_state(s, b->qpn, PRM_QP_STATE_RST));
}

static void send_to_child(struct bed *e, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		t_post(e->p.a, &(struct t_wr){.opcode = MLX5_OPCODE_SEND,
					      .fm_ce_se = T_SIG,
					      .inl = "x",
					      .inl_len = 1});
}

static void before_receives(struct bed *e)
{
	connect_to_child(e);
	send_to_child(e, SENDS);
	for (uint32_t i = 0; i < SENDS; i++)
		t_expect_done(e->p.a, MLX5_OPCODE_SEND, i);
}

/* A dead process does not answer senders. The locks of its objects can be taken, to free them. */
static void after_receives(struct bed *e)
{
	struct seg *s = &e->p.t->s;

	send_to_child(e, 1);
	for (int i = 0; i < 20 && e->p.a->hw->park; i++) {
		t_now += 100000000;
		eng_run_due(s);
	}
	t_expect_error(e->p.a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR, SENDS);
	t_assert_empty(&e->p.a->cq);
	assert_int_equal(eng_qp_quiesce(s, e->board->qpn), 0);
	assert_int_equal(eng_cq_quiesce(s, shared->cqn), 0);
	assert_int_equal(hw_qp(s, e->board->qpn)->rq_lock.word, 0);
	assert_int_equal(hw_qp(s, e->board->qpn)->sq_lock.word, 0);
	assert_int_equal(hw_cq(s, shared->cqn)->lock.word, 0);
}

/* ---- a subscriber */

static struct seg_evsub subscription(struct bed *e, uint32_t evq)
{
	return (struct seg_evsub){
		.hca = e->p.a->hw->hca,
		.key = PRM_EVENT_WQ_ACCESS_ERROR | PRM_EVENT_QUEUE_QP << 16,
		.id = e->p.a->qpn,
		.evq = evq,
		.evq_gen = ((struct seg_evq *)seg_at(&e->p.t->s, SEG_T_EVQ, evq))->gen};
}

static void raise_one(struct bed *e)
{
	eng_qp_event(&e->p.t->s, e->p.a->hw, e->p.a->qpn, IBV_EVENT_QP_ACCESS_ERR);
}

static uint32_t count_events(struct bed *e, uint32_t evq, int type)
{
	uint32_t n = 0;

	for (int got; (got = t_event(e->p.t, evq)) >= 0; n++)
		assert_int_equal(got, type);
	return n;
}

static void child_subscribes(struct bed *e)
{
	struct seg_evsub sub = subscription(e, shared->evq[0]);
	uint32_t idx[3];

	ready(e);
	for (int i = 0; i < 3; i++) {
		sub.omit = i == 1;
		CHECK(!evsub_add(&e->p.t->s, &sub, &idx[i]));
	}
	raise_one(e);
	for (int i = 0; i < 3; i++)
		CHECK(t_event(e->p.t, shared->evq[0]) == 0);
	evsub_drop(&e->p.t->s, idx[1]);
	evsub_drop(&e->p.t->s, idx[0]);
}

/* One process subscribes before the child does, another one after the child's death. */
static void before_subscribes(struct bed *e)
{
	struct seg_evsub sub = subscription(e, shared->evq[1]);
	uint32_t idx;

	assert_int_equal(evsub_add(&e->p.t->s, &sub, &idx), 0);
}

/* The other subscribers get every event that the QP's own file gets, whenever the child died. */
static void after_subscribes(struct bed *e)
{
	struct seg_evsub sub = subscription(e, shared->evq[2]);
	struct seg *s = &e->p.t->s;
	uint32_t idx, n, left = 0;

	n = count_events(e, e->p.a->evq, IBV_EVENT_QP_ACCESS_ERR);
	assert_uint_in_range(n, 0, 1);
	assert_int_equal(count_events(e, shared->evq[1], 0), n);
	evsub_file_gone(s, shared->evq[0]);
	assert_int_equal(seg_next(s, SEG_T_EVSUB, shared->evq[0] + 1, 0), SEG_NONE);
	assert_int_equal(evsub_add(s, &sub, &idx), 0);
	raise_one(e);
	assert_int_equal(count_events(e, e->p.a->evq, IBV_EVENT_QP_ACCESS_ERR), 1);
	assert_int_equal(count_events(e, shared->evq[1], 0), 1);
	assert_int_equal(count_events(e, shared->evq[2], 0), 1);
	seg_for_each_live (s, SEG_T_EVSUB, i)
		left++;
	assert_int_equal(left, 2);
}

/* ---- all */

static const struct scenario scenarios[] = {
	{"receiver", child_receives, before_receives, after_receives},
	{"subscriber", child_subscribes, before_subscribes, after_subscribes},
};

static void others_go_on(struct bed *e)
{
	struct t_qp *c = t_qp_make(e->p.t, 0, PRM_ST_RC, NULL);

	t_connect(c, e->p.b);
	t_recv_at(e->p.b, 0, 64);
	t_post(c, &(struct t_wr){.opcode = MLX5_OPCODE_SEND, .inl = "y", .inl_len = 1});
	t_received(e->p.b, MLX5_CQE_RESP_SEND, 1, 0);
	t_qp_free(c);
}

/* Marks the child dead and repairs, as the supervisor does after a death. */
static void see_death(struct bed *e)
{
	struct seg *s = &e->p.t->s;

	seg_proc(s, shared->slot)->state = SEG_PROC_DEAD;
	eng_proc_died(s, shared->slot);
	evq_repair(s);
	/* The event of the parent's QP was raised outside the data path. */
	park_rouse(s, s->self);
	eng_run_due(s);
}

/* Checks that nothing of the dead process's event files is left. */
static void close_files(struct bed *e)
{
	struct seg *s = &e->p.t->s;

	for (int i = 0; i < 4; i++) {
		if (!shared->evq[i])
			continue;
		evq_close(s, shared->evq[i]);
		assert_int_equal(seg_next(s, SEG_T_EVREC, shared->evq[i] + 1, 0), SEG_NONE);
		assert_int_equal(seg_next(s, SEG_T_EVBUF, shared->evq[i] + 1, 0), SEG_NONE);
	}
}

/* Kill the child at its n-th step. False: it has fewer. */
static bool killed_at(const struct scenario *is, uint32_t n)
{
	struct bed *e;
	void *state;
	int status;

	snprintf(spec, sizeof(spec), "*:kill:%u", n);
	bed_setup(&state);
	e = state;
	memset(shared, 0, sizeof(*shared));
	if (is->body == child_subscribes)
		for (int i = 0; i < 3; i++)
			shared->evq[i] = t_evq(e->p.t);
	spawn(e, is->body);
	if (is->body == child_subscribes)
		assert_true(await(e->tell[0]));
	is->before(e);
	tell(e->go[1]);
	status = reap(e);
	assert_true(WIFSIGNALED(status) || !status);
	see_death(e);
	is->after(e);
	others_go_on(e);
	close_files(e);
	bed_teardown(&state);
	return WIFSIGNALED(status);
}

static void killed_at_every_step(void **state)
{
	const char *only = getenv("STEP_SCENARIO"), *from = getenv("STEP_FROM");

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	assert_true(shared != MAP_FAILED);
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
		uint32_t n = from ? (uint32_t)atoi(from) : 1;

		if (only && strcmp(only, scenarios[i].name))
			continue;
		for (; killed_at(&scenarios[i], n); n++)
			assert_true(n < MAX_STEPS);
		print_message("%s: killed at %u steps\n", scenarios[i].name, n - 1);
		assert_true(n > 5);
	}
	munmap(shared, sizeof(*shared));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(killed_at_every_step)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
