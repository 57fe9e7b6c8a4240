/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A doorbell that finds no receive posted waits for one while others want its processor (ready.c).
 * The clock decides what it sees: each look takes `step`, a long time when others run meanwhile.
 */
#include "engine/test.h"
#include "hw/qp.h"
#include "hw/qp_state.h"
#include "hw/srq.h"
#include "segment/proc.h"
#include "util/sys.h"
#include <pthread.h>

#define CROWDED (20 * NSEC_PER_USEC) /* longer than a sched_yield() alone */
#define RNR_10_US 1                  /* codes of RNR timers */
#define RNR_655_MS 0

static uint64_t step, begun;
static unsigned int looks;
static unsigned int posts_at; /* at this number of looks the receiver posts; 0: never */
static unsigned int ends_at;  /* at this number of looks another thread destroys the QP */
static struct t_qp *sender, *receiver;
static uint64_t (*was_clock)(void);

static uint64_t crowd_clock(void)
{
	if (++looks == posts_at)
		t_recv_at(receiver, 0, 8);
	if (looks == ends_at) /* its number is used again, by a QP that is parked likewise */
		sender->hw->gen++;
	return t_now += step;
}

static int setup(void **state)
{
	struct t_pair *p;
	int rc = t_pair_setup(state);

	p = *state;
	p->t->s.may_wait = true;
	p->b->hw->min_rnr_nak = RNR_10_US;
	p->a->hw->rnr_retry = 7;
	sender = p->a;
	receiver = p->b;
	step = CROWDED;
	looks = posts_at = ends_at = 0;
	t_now = (begun += 2) * NSEC_PER_SEC; /* what an earlier test has seen is too old */
	was_clock = eng_clock;
	eng_clock = crowd_clock;
	return rc;
}

static int teardown(void **state)
{
	eng_clock = was_clock;
	return t_pair_teardown(state);
}

static void send_x(struct t_qp *q)
{
	t_post(q, &(struct t_wr){
			  .opcode = MLX5_OPCODE_SEND, .fm_ce_se = T_SIG, .inl = "x", .inl_len = 1});
}

static bool device_thread_knows(struct t_pair *p)
{
	return atomic_exchange(&seg_proc(&p->t->s, p->t->s.self)->parked, 0);
}

static void sends_itself_what_waits(void **state)
{
	struct t_pair *p = *state;

	device_thread_knows(p);
	posts_at = 10;
	send_x(p->a);
	t_received(p->b, MLX5_CQE_RESP_SEND, 1, 0);
	t_expect_done(p->a, MLX5_OPCODE_SEND, 0);
	assert_int_equal(p->a->hw->park, HW_PARK_NO);
	assert_false(device_thread_knows(p));
}

/* At most a time slice for a message in the same process, and none for later posts behind it. */
static void gives_up_after_a_slice(void **state)
{
	struct t_pair *p = *state;
	uint64_t t = t_now;

	send_x(p->a);
	assert_uint_in_range(t_now - t, 4 * NSEC_PER_MSEC, 5 * NSEC_PER_MSEC);
	assert_int_equal(p->a->hw->park, HW_PARK_RNR);
	assert_true(device_thread_knows(p));
	t = t_now;
	send_x(p->a);
	assert_true(t_now - t < NSEC_PER_MSEC);
	assert_int_equal(p->a->hw->park, HW_PARK_RNR);
	assert_true(device_thread_knows(p));
	t_recv_at(p->b, 0, 8);
	t_recv_at(p->b, 64, 8);
	t_now += NSEC_PER_MSEC;
	atomic_store(&seg_proc(&p->t->s, p->t->s.self)->parked, 1);
	eng_run_due(&p->t->s);
	t_received(p->b, MLX5_CQE_RESP_SEND, 1, 0);
	t_received(p->b, MLX5_CQE_RESP_SEND, 1, 1);
}

static void returns_if_nobody_wants_the_processor(void **state)
{
	struct t_pair *p = *state;
	uint64_t t = t_now;

	step = 1;
	send_x(p->a);
	assert_true(t_now - t < NSEC_PER_USEC);
	assert_int_equal(p->a->hw->park, HW_PARK_RNR);
	assert_true(device_thread_knows(p));
}

static void returns_if_the_timer_is_long(void **state)
{
	struct t_pair *p = *state;
	uint64_t t = t_now;

	p->b->hw->min_rnr_nak = RNR_655_MS;
	send_x(p->a);
	assert_true(t_now - t < NSEC_PER_MSEC);
	assert_true(device_thread_knows(p));
}

/* Each attempt waits for the RNR timer and uses up a retry, as on the device thread. */
static void retries_are_counted(void **state)
{
	struct t_pair *p = *state;

	p->a->hw->rnr_retry = 2;
	send_x(p->a);
	t_expect_error(p->a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_RNR_RETRY_EXC_ERR, 0);
	assert_int_equal(p->a->hw->state, PRM_QP_STATE_ERR);
}

/* What is done for another QP is left to the device thread of its process. */
static void ends_with_the_qp(void **state)
{
	struct t_pair *p = *state;
	uint64_t t = t_now;

	ends_at = 10;
	send_x(p->a);
	assert_true(t_now - t < NSEC_PER_MSEC);
	assert_int_equal(p->a->hw->park, HW_PARK_RNR);
	assert_true(device_thread_knows(p));
}

static void polled_doorbells_do_not_wait(void **state)
{
	struct t_pair *p = *state;
	uint64_t t = t_now;

	p->t->s.may_wait = false;
	send_x(p->a);
	assert_true(t_now - t < NSEC_PER_MSEC);
	assert_true(device_thread_knows(p));
}

/* ---- an SRQ: whoever finds that receives were posted wakes a thread that waits for them */

static _Atomic bool woken;

static void *sleeper(void *arg)
{
	struct hw_srq *srq = arg;

	do
		atomic_store(&srq->awaited, 1);
	while (sys_futex_wait(&srq->awaited, 1, 60 * NSEC_PER_SEC));
	atomic_store(&woken, true);
	return NULL;
}

static void receives_wake_a_sleeper(void **state)
{
	struct t_pair *p = *state;
	struct t_srq srq = {0};
	struct t_qp *a = t_qp_make(p->t, 0, PRM_ST_RC, NULL), *b;
	pthread_t t;

	t_srq_make(p->t, &srq, p->t->pd[1]);
	b = t_qp_make(p->t, 1, PRM_ST_RC, &srq);
	t_connect(a, b);
	atomic_store(&woken, false);
	assert_int_equal(pthread_create(&t, NULL, sleeper, srq.hw), 0);
	for (int i = 0; i < 2 || !atomic_load(&woken); i++) {
		t_srq_post(&srq, b->key, b->mem, 64);
		t_srq_post(&srq, b->key, b->mem, 64);
		for (int n = 0; n < 2; n++) {
			send_x(a);
			assert_non_null(t_poll(&b->cq));
			assert_non_null(t_poll(&a->cq));
		}
	}
	assert_int_equal(pthread_join(t, NULL), 0);
	t_qp_free(a);
	t_qp_free(b);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(sends_itself_what_waits),
		T(gives_up_after_a_slice),
		T(returns_if_nobody_wants_the_processor),
		T(returns_if_the_timer_is_long),
		T(retries_are_counted),
		T(ends_with_the_qp),
		T(polled_doorbells_do_not_wait),
		T(receives_wake_a_sleeper),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
