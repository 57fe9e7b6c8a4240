/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The payer of an async event or a DEVX event is stopped or killed at each marked step (POINT()),
 * while others pay the same event and the next: each subscriber has each event once.
 */
#include "engine/test_steps.h"
#include "engine/cq/cq.h"
#include "hw/qp.h"
#include "engine/for_tests.h"
#include "util/for_tests.h"

#include <sys/eventfd.h>

/* ---- a raiser of a DEVX event is stopped, which others raise for it, and again */

static uint32_t stop_in;
static struct evsub_debt first_debt;

static void stop_at(const char *name)
{
	if (!--stop_in)
		raise(SIGSTOP);
}

static struct evsub_debt note_devx(struct scene *x)
{
	struct hw_cq *cq = x->b->cq.hw;

	atomic_store(&cq->armed, (atomic_load(&cq->armed) | HW_CQ_OWES_DEVX) + HW_CQ_ARM_SEQ);
	return (struct evsub_debt){.word = &cq->armed,
				   .bit = HW_CQ_OWES_DEVX,
				   .table = SEG_T_CQ,
				   .idx = x->b->cq.cqn,
				   .gen = cq->gen,
				   .unit = HW_CQ_ARM_SEQ,
				   .serial = atomic_load(&cq->armed) / HW_CQ_ARM_SEQ};
}

static void raise_devx(struct scene *x, const struct evsub_debt *debt)
{
	const uint8_t eqe[EVSUB_EQE] = {0};

	evsub_raise_owed(seg_of(x), x->b->cq.hw->hca, PRM_EVENT_COMP, x->b->cq.cqn, eqe, debt);
}

/* Makes two connected QPs for one case; the events are those of x->b. */
static void begin(struct scene *x)
{
	void *state;

	x->eventfd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	bed_setup(&state);
	x->e = state;
	x->b = x->e->p.a;
	scene = x;
}

/* begin() with subscribers to a DEVX event, which is noted and not yet raised. */
static void begin_devx(struct scene *x)
{
	begin(x);
	setup_devx(x);
	first_debt = note_devx(x);
}

static void end(struct scene *x)
{
	void *state = x->e;

	close(x->eventfd);
	bed_teardown(&state);
}

static void child_raises(struct bed *e)
{
	point_hook = stop_at;
	raise_devx(scene, &first_debt);
}

static bool raiser_stopped_at(uint32_t n)
{
	struct scene x = {0};
	struct evsub_debt second;
	uint64_t signals = 0;
	int status, over;

	begin_devx(&x);
	stop_in = n;
	spawn(x.e, child_raises);
	assert_int_equal(waitpid(x.e->pid, &status, WUNTRACED), x.e->pid);
	over = !WIFSTOPPED(status);
	raise_devx(&x, &first_debt);
	second = note_devx(&x);
	if (!over) {
		kill(x.e->pid, SIGCONT);
		assert_int_equal(waitpid(x.e->pid, &status, 0), x.e->pid);
	}
	assert_int_equal(status, 0);
	raise_devx(&x, &second);
	evsub_signal_own(seg_of(&x));
	assert_int_equal(x.b->cq.hw->armed & HW_CQ_OWES_DEVX, 0);
	assert_int_equal(count_events(&x, x.subq[0], 0), 1); /* at most one without data */
	assert_int_equal(count_events(&x, x.subq[1], 0), 2);
	assert_int_equal(read(x.eventfd, &signals, 8), 8);
	assert_int_equal(signals, 2);
	/* No subscription owes an event. */
	for (int i = 0; i < 3; i++)
		assert_int_equal(
			((struct seg_evsub *)seg_at(seg_of(&x), SEG_T_EVSUB, x.sub[i]))->owed &
				EVSUB_OWED,
			0);
	raise_devx(&x, NULL);
	assert_int_equal(count_events(&x, x.subq[0], 0), 1);
	assert_int_equal(count_events(&x, x.subq[1], 0), 1);
	close(x.e->go[1]);
	close(x.e->tell[0]);
	end(&x);
	return !over;
}

static void devx_raiser_stopped_at_every_step(void **state)
{
	at_each_step("DEVX event: stopped", 5, raiser_stopped_at);
}

/* ---- a raiser is stopped with the chain, and another one is killed at each step */

static struct evsub_debt second_debt;

static void stop_with_the_chain(const char *name)
{
	if (!strcmp(name, "evsub-noted"))
		raise(SIGSTOP);
}

static void child_keeps_the_chain(struct bed *e)
{
	point_hook = stop_with_the_chain;
	raise_devx(scene, &first_debt);
}

static void child_raises_around(struct bed *e)
{
	e->board->key = e->p.t->s.self;
	CHECK(point_set(scene->spec));
	raise_devx(scene, &second_debt);
}

/* Notes another event for the same chain of subscribers. */
static struct evsub_debt note_other(struct scene *x)
{
	struct hw_qp *qp = x->b->hw;
	_Atomic uint32_t *word = hw_event(&qp->async, IBV_EVENT_COMM_EST);

	atomic_store(word, HW_EV_SEQ | HW_EV_OWES_DEVX);
	return (struct evsub_debt){.word = word,
				   .bit = HW_EV_OWES_DEVX,
				   .table = SEG_T_QP,
				   .idx = x->b->qpn,
				   .gen = qp->gen,
				   .unit = HW_EV_SEQ,
				   .serial = 1};
}

static bool killed_around_at(uint32_t n, bool goes_on_first)
{
	struct scene x = {0};
	int status, go, ended;
	uint64_t signals = 0;
	pid_t first;

	snprintf(x.spec, sizeof(x.spec), "*:kill:%u", n);
	begin_devx(&x);
	second_debt = note_other(&x);
	spawn(x.e, child_keeps_the_chain);
	first = x.e->pid;
	go = x.e->go[1];
	close(x.e->tell[0]);
	assert_int_equal(waitpid(first, &status, WUNTRACED), first);
	assert_true(WIFSTOPPED(status));
	spawn(x.e, child_raises_around);
	ended = reap(x.e);
	seg_proc(seg_of(&x), x.e->board->key)->state = SEG_PROC_DEAD;
	evq_repair(seg_of(&x));
	for (int i = 0; i < 2; i++) {
		if (i != goes_on_first) {
			raise_devx(&x, &first_debt);
			raise_devx(&x, &second_debt);
			continue;
		}
		kill(first, SIGCONT);
		assert_int_equal(waitpid(first, &status, 0), first);
		assert_int_equal(status, 0);
	}
	evsub_signal_own(seg_of(&x));
	assert_int_equal(atomic_load(second_debt.word) & HW_EV_OWES_DEVX, 0);
	assert_int_equal(x.b->cq.hw->armed & HW_CQ_OWES_DEVX, 0);
	assert_int_equal(count_events(&x, x.subq[1], 0), 2);
	assert_int_equal(count_events(&x, x.subq[0], 0), 1); /* at most one without data */
	assert_int_equal(read(x.eventfd, &signals, 8), 8);
	assert_int_equal(signals, 2);
	close(go);
	end(&x);
	return WIFSIGNALED(ended);
}

static void killed_around_a_stopped_raiser(void **state)
{
	const char *from = getenv("STEP_FROM");

	for (int late = 0; late < 2; late++) {
		uint32_t n = from ? (uint32_t)atoi(from) : 1;

		for (; killed_around_at(n, late); n++)
			assert_true(n < MAX_STEPS);
		print_message("DEVX event around a stopped raiser: killed at %u steps\n", n - 1);
		assert_true(n > 5);
	}
}

/* ---- two finish the event of a stopped raiser, and one of them is killed before its record */

static pid_t helper;
static uint32_t helper_slot;

static void stop_while_raising(const char *name)
{
	if (!strcmp(name, "evsub-raising"))
		raise(SIGSTOP);
}

static void child_stops_raising(struct bed *e)
{
	point_hook = stop_while_raising;
	raise_devx(scene, &first_debt);
}

static uint32_t claims;

static void wait_with_claim(const char *name)
{
	if (strcmp(name, "evq-claimed") || --claims)
		return;
	tell(scene->e->tell[1]);
	await(scene->e->go[0]);
}

static void child_waits_with_claim(struct bed *e)
{
	e->board->key = e->p.t->s.self;
	point_hook = wait_with_claim;
	raise_devx(scene, &first_debt);
}

/*
 * At this point the second thread has found the claim of the first, or believes that all is done.
 */
static void kill_the_helper(const char *name)
{
	int status;

	if (!helper || (strcmp(name, "evsub-busy") && strcmp(name, "evsub-paid")))
		return;
	kill(helper, SIGKILL);
	assert_int_equal(waitpid(helper, &status, 0), helper);
	helper = 0;
	seg_proc(seg_of(scene), helper_slot)->state = SEG_PROC_DEAD;
}

static void helper_killed_with_claim(uint32_t nth)
{
	struct scene x = {0};
	int status, go[2], told;
	uint64_t signals = 0;
	pid_t first;

	begin_devx(&x);
	claims = nth;
	spawn(x.e, child_stops_raising);
	first = x.e->pid;
	go[0] = x.e->go[1];
	close(x.e->tell[0]);
	assert_int_equal(waitpid(first, &status, WUNTRACED), first);
	assert_true(WIFSTOPPED(status));
	spawn(x.e, child_waits_with_claim);
	helper = x.e->pid;
	go[1] = x.e->go[1];
	told = x.e->tell[0];
	assert_true(await(told));
	helper_slot = x.e->board->key;
	point_hook = kill_the_helper;
	raise_devx(&x, &first_debt);
	point_hook = NULL;
	assert_int_equal(helper, 0);
	evq_repair(seg_of(&x));
	kill(first, SIGCONT);
	assert_int_equal(waitpid(first, &status, 0), first);
	assert_int_equal(status, 0);
	evsub_signal_own(seg_of(&x));
	assert_int_equal(x.b->cq.hw->armed & HW_CQ_OWES_DEVX, 0);
	assert_int_equal(count_events(&x, x.subq[0], 0), 1);
	assert_int_equal(count_events(&x, x.subq[1], 0), 1);
	assert_int_equal(read(x.eventfd, &signals, 8), 8);
	assert_int_equal(signals, 1);
	close(go[0]);
	close(go[1]);
	close(told);
	end(&x);
}

static void one_of_two_helpers_is_killed(void **state)
{
	for (uint32_t n = 1; n <= 2; n++)
		helper_killed_with_claim(n);
}

/* ---- the same with an async event */

static void pay_async(struct scene *x)
{
	eng_qp_event_pay(seg_of(x), x->b->hw, x->b->qpn);
}

static void note_async(struct scene *x)
{
	eng_qp_event_note(seg_of(x), x->b->hw, x->b->qpn, IBV_EVENT_QP_ACCESS_ERR);
}

static void child_pays(struct bed *e)
{
	point_hook = stop_at;
	pay_async(scene);
}

static bool payer_stopped_at(uint32_t n)
{
	struct scene x = {0};
	uint64_t signals = 0;
	int status, over;

	begin(&x);
	subscribe(&x, x.b->hw->hca, PRM_EVENT_WQ_ACCESS_ERROR | PRM_EVENT_QUEUE_QP << 16, x.b->qpn);
	note_async(&x);
	stop_in = n;
	spawn(x.e, child_pays);
	assert_int_equal(waitpid(x.e->pid, &status, WUNTRACED), x.e->pid);
	over = !WIFSTOPPED(status);
	event_pay(seg_of(&x), SEG_T_QP, x.b->qpn, true);
	note_async(&x);
	if (!over) {
		kill(x.e->pid, SIGCONT);
		assert_int_equal(waitpid(x.e->pid, &status, 0), x.e->pid);
	}
	assert_int_equal(status, 0);
	assert_true(event_pay(seg_of(&x), SEG_T_QP, x.b->qpn, true));
	evsub_signal_own(seg_of(&x));
	assert_int_equal(count_events(&x, x.b->evq, IBV_EVENT_QP_ACCESS_ERR), 2);
	assert_int_equal(count_events(&x, x.subq[0], 0), 1); /* at most one without data */
	assert_int_equal(count_events(&x, x.subq[1], 0), 2);
	assert_int_equal(read(x.eventfd, &signals, 8), 8);
	assert_int_equal(signals, 2);
	close(x.e->go[1]);
	close(x.e->tell[0]);
	end(&x);
	return !over;
}

static void async_payer_stopped_at_every_step(void **state)
{
	at_each_step("async event: stopped", 5, payer_stopped_at);
}

/* ---- a sender is stopped behind its completion, whose event moderation delays */

/* As soon as the device thread was woken, the event comes in time. False: there is no such step. */
static bool moderated_stopped_at(uint32_t n, uint32_t *woken)
{
	static const struct scenario is = {
		.st = PRM_ST_RC, .setup = setup_moderated, .act = send_one};
	struct scene x = {.is = &is};
	struct seg_proc *me;
	uint32_t events = 0;

	scene_stop(&x, n);
	me = seg_proc(seg_of(&x), seg_of(&x)->self);
	if (atomic_load(&me->parked)) {
		++*woken;
		eng_run_due(seg_of(&x)); /* waits for the lock of a stopped holder, or takes it */
		t_now += 2000000;
		eng_run_due(seg_of(&x));
		events = count_events(&x, x.b->cq.evq[0], 0);
		assert_int_equal(events, 1);
	}
	scene_go_on(&x, SIGCONT);
	settle(&x);
	assert_int_equal(events + count_events(&x, x.b->cq.evq[0], 0), 1);
	goes_on(&x);
	scene_end(&x);
	return x.stopped;
}

static void moderated_stopped_at_every_step(void **state)
{
	const char *from = getenv("STEP_FROM");
	uint32_t n = from ? (uint32_t)atoi(from) : 1, woken = 0;

	for (; moderated_stopped_at(n, &woken); n++)
		assert_true(n < MAX_STEPS);
	print_message("moderated: stopped at %u steps, behind %u the event is on its way\n", n - 1,
		      woken);
	assert_true(n > 5 && woken > 2);
}

/* ---- completions come while the device thread looks at a CQ whose event moderation delays */

static uint32_t look_at;
static bool in_hook;

static void complete_at_look(const char *name)
{
	if (in_hook || !look_at || strncmp(name, "cq-mode", 7) || --look_at)
		return;
	in_hook = true; /* the sender goes by other points of this name */
	t_post(scene->b, &(struct t_wr){.opcode = MLX5_OPCODE_NOP, .fm_ce_se = T_SIG});
	in_hook = false;
}

static void arm_moderated(struct scene *x, uint32_t word)
{
	const __be32 db[2] = {htobe32(word | (x->b->cq.ci & 0xffffff)), htobe32(x->b->cq.cqn)};
	uint64_t be;

	x->b->cq.dbr[T_ARM] = db[0];
	memcpy(&be, db, 8);
	eng_uar_write(seg_of(x), T_UAR, 0x20, be);
}

/* False: the device thread has no such step. `polled`: the first completion needs no event. */
static bool completed_at_look(uint32_t n, bool polled)
{
	struct scene x = {0};
	uint32_t events = 0;

	begin(&x);
	look_at = n;
	setup_moderated(&x);
	arm_moderated(&x, 0);
	t_post(x.b, &(struct t_wr){.opcode = MLX5_OPCODE_NOP, .fm_ce_se = T_SIG});
	eng_run_due(seg_of(&x)); /* watches it */
	if (polled)
		assert_non_null(t_poll(&x.b->cq));
	t_now += 2000000;
	point_hook = complete_at_look;
	seg_proc(seg_of(&x), seg_of(&x)->self)->parked = 1;
	for (int i = 0; i < 3; i++) {
		eng_run_due(seg_of(&x));
		events += count_events(&x, x.b->cq.evq[0], 0);
		t_now += 2000000;
	}
	point_hook = NULL;
	assert_int_equal(events, polled && look_at ? 0 : 1);
	assert_int_equal(x.b->cq.hw->lock.word, 0);
	end(&x);
	return !look_at;
}

static void completed_at_each_look(void **state)
{
	for (int polled = 0; polled < 2; polled++) {
		uint32_t n = 1;

		for (; completed_at_look(n, polled); n++)
			assert_true(n < MAX_STEPS);
		assert_true(n > 2);
	}
}

/* ---- the device thread has no lock while it looks, as it may be stopped there */

static uint32_t looks;

static void lock_is_free(const char *name)
{
	looks += !strncmp(name, "cq-mode", 7);
	assert_int_equal(scene->b->cq.hw->lock.word, 0);
}

static void looks_without_a_lock(void **state)
{
	struct scene x = {0};

	begin(&x);
	setup_moderated(&x);
	arm_moderated(&x, 0);
	t_post(x.b, &(struct t_wr){.opcode = MLX5_OPCODE_NOP, .fm_ce_se = T_SIG});
	looks = 0;
	point_hook = lock_is_free;
	eng_run_due(seg_of(&x));
	t_now += 2000000;
	eng_run_due(seg_of(&x));
	point_hook = NULL;
	assert_true(looks > 2);
	assert_int_equal(count_events(&x, x.b->cq.evq[0], 0), 1);
	end(&x);
}

/* ---- the program arms, and has its event, after the device thread has read the older record */

static void arm_and_complete(const char *name)
{
	const uint32_t word = 1u << 28;

	if (strcmp(name, "cq-arm-read") != 0 || scene->b->cq.dbr[T_ARM] == htobe32(word))
		return;
	scene->b->cq.dbr[T_ARM] = htobe32(word);
	eng_arm_cq(seg_of(scene), scene->b->cq.cqn, word);
	t_post(scene->b, &(struct t_wr){.opcode = MLX5_OPCODE_NOP, .fm_ce_se = T_SIG});
	t_expect_done(scene->b, MLX5_OPCODE_NOP, 1);
}

static void one_event_of_an_arm_beside_a_look(void **state)
{
	struct scene x = {0};

	begin(&x);
	scene->b->cq.dbr[T_ARM] = htobe32(0);
	eng_arm_cq(seg_of(&x), x.b->cq.cqn, 0);
	t_post(x.b, &(struct t_wr){.opcode = MLX5_OPCODE_NOP, .fm_ce_se = T_SIG});
	t_expect_done(x.b, MLX5_OPCODE_NOP, 0);
	assert_int_equal(count_events(&x, x.b->cq.evq[0], 0), 1);
	point_hook = arm_and_complete;
	park_rouse(seg_of(&x), seg_of(&x)->self);
	eng_run_due(seg_of(&x));
	point_hook = NULL;
	assert_int_equal(count_events(&x, x.b->cq.evq[0], 0), 1);
	t_post(x.b, &(struct t_wr){.opcode = MLX5_OPCODE_NOP, .fm_ce_se = T_SIG});
	t_expect_done(x.b, MLX5_OPCODE_NOP, 2);
	assert_int_equal(count_events(&x, x.b->cq.evq[0], 0), 0);
	end(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(devx_raiser_stopped_at_every_step),
		cmocka_unit_test(killed_around_a_stopped_raiser),
		cmocka_unit_test(one_of_two_helpers_is_killed),
		cmocka_unit_test(async_payer_stopped_at_every_step),
		cmocka_unit_test(moderated_stopped_at_every_step),
		cmocka_unit_test(completed_at_each_look),
		cmocka_unit_test(looks_without_a_lock),
		cmocka_unit_test(one_event_of_an_arm_beside_a_look),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
