/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A sender is stopped at each marked step (POINT()): others continue in time, and when it goes on
 * it finds what they have finished for it.
 */
#include "engine/test_steps.h"
#include "engine/tx/tx.h"
#include "hw/qp.h"
#include "util/for_tests.h"

#include <pthread.h>
#include <semaphore.h>

/* A datagram from another sender to the same QP. */
static void other_datagram(struct scene *x)
{
	struct t_qp *c = t_qp_make(x->e->p.t, 0, PRM_ST_UD, NULL);

	t_rts(c, x->b);
	send_datagram(x, c);
	run_out(x, c);
	assert_uint_in_range(x->b->hw->rq_ci, 1, 2);
	t_qp_free(c);
}

/*
 * Other users of the CQ and the SRQ continue while one is stopped, at once or after its lock's
 * time.
 */
static void others_go_on(struct scene *x)
{
	struct t_qp *c, *d;

	complete_another(x);
	if (x->is->st == PRM_ST_UD)
		other_datagram(x);
	if (!x->is->srq)
		return;
	c = t_qp_make(x->e->p.t, 0, PRM_ST_RC, NULL);
	d = t_qp_make(x->e->p.t, 1, PRM_ST_RC, &x->srq);
	t_connect(c, d);
	t_post(c, &(struct t_wr){.opcode = MLX5_OPCODE_SEND, .inl = "y", .inl_len = 1});
	for (int i = 0; i < 20 && !(d->cq.hw->pi & 0xffffff); i++) {
		t_now += 2000000;
		eng_run_due(seg_of(x));
	}
	assert_non_null(t_poll(&d->cq));
	t_qp_free(c);
	t_qp_free(d);
}

/* Each message arrives once, with one event for the one arm. */
static void check_stopped(struct scene *x)
{
	struct mlx5_cqe64 *c;
	uint32_t sent = 0, received = 0;

	while ((c = t_poll(&x->b->cq))) {
		received += mlx5dv_get_cqe_opcode(c) == MLX5_CQE_RESP_SEND;
		sent += mlx5dv_get_cqe_opcode(c) == MLX5_CQE_REQ;
	}
	assert_int_equal(sent, 1);
	assert_int_equal(received, x->is->st == PRM_ST_UD ? 2 : 1);
	assert_int_equal(count_events(x, x->b->cq.evq[0], 0), 1);
	if (x->is->srq)
		assert_int_equal(x->srq.hw->consumed, 2);
	else
		assert_int_equal(x->b->hw->rq_ci, received);
	assert_int_equal(x->b->hw->rx_srq_wqe, 0);
	if (x->is->check == check_limit) {
		assert_int_equal(hw_srq_limit(x->srq.hw), 0);
		assert_int_equal(count_events(x, x->srq_evq, IBV_EVENT_SRQ_LIMIT_REACHED), 1);
	}
}

static bool stopped_at(const struct scenario *is, uint32_t n)
{
	struct scene x = {.is = is};

	scene_stop(&x, n);
	others_go_on(&x);
	scene_go_on(&x, SIGCONT);
	settle(&x);
	check_stopped(&x);
	goes_on(&x);
	scene_end(&x);
	return x.stopped;
}

static void stopped_at_every_step(void **state)
{
	at_every_step("stopped", stopped_at);
}

/* ---- stopped while the receiver's CQ is full, which has room when it goes on */

static bool overrun_stopped_at(const struct scenario *is, uint32_t n)
{
	struct scene x = {.is = is};
	uint32_t failed;

	scene_stop(&x, n);
	failed = hw_cq_error(x.b->cq.hw);
	while (t_poll(&x.b->cq))
		;
	if (!failed)
		complete_another(&x);
	scene_go_on(&x, SIGCONT);
	settle(&x);
	assert_int_equal(hw_cq_error(x.b->cq.hw), failed);
	assert_int_equal(count_events(&x, x.b->cq.evq[1], IBV_EVENT_CQ_ERR), !!failed);
	assert_int_equal(count_cqes(&x, MLX5_CQE_RESP_SEND), !failed);
	assert_int_equal(x.b->cq.hw->lock.word, 0);
	scene_end(&x);
	return x.stopped;
}

static void overrun_stopped_at_every_step(void **state)
{
	static const struct scenario is = {.st = PRM_ST_RC, .setup = setup_full, .act = send_one};
	const char *from = getenv("STEP_FROM");
	uint32_t n = from ? (uint32_t)atoi(from) : 1;

	for (; overrun_stopped_at(&is, n); n++)
		assert_true(n < MAX_STEPS);
	print_message("CQ overrun: stopped at %u steps\n", n - 1);
	assert_true(n > 5);
}

/* ---- stopped, taken over from, and beside another thread of its process when it goes on */

static const char *const sibling_at[] = {"cq-locked", "recv-written", "resp-locked"};

static struct {
	uint32_t n;       /* step at which the first thread is stopped */
	const char *name; /* point at which the second waits for the first */
	pthread_t first, second;
	bool started, waits;
	sem_t there, on;
	uint32_t held[3];
} sib;

/* Reads the words of the locks that the second thread may hold. */
static void locks_of(const struct scene *x, uint32_t w[3])
{
	w[0] = x->b->hw->rq_lock.word;
	w[1] = x->b->cq.hw->lock.word;
	w[2] = x->is->srq ? x->srq.hw->lock.word : 0;
}

/*
 * Checks that this process still holds each lock that it held: only the second thread may release
 * it.
 */
static void still_held(struct scene *x)
{
	uint32_t slot = x->e->p.t->s.self, now[3];

	locks_of(x, now);
	for (int i = 0; i < 3; i++)
		CHECK((sib.held[i] & 0xffff) != slot + 1 || (now[i] & 0xffff) == slot + 1);
}

static void *second_sends(void *arg)
{
	struct t_qp *c = arg;

	scene->is->act(scene, c);
	for (int i = 0; i < 50 && c->hw->park == HW_PARK_LOCK; i++) {
		t_now += 2000000;
		sq_resume(seg_of(scene), c->qpn);
	}
	if (!sib.waits)
		sem_post(&sib.there);
	return NULL;
}

static struct t_qp *sibling_qp;

static void at_point(const char *name)
{
	if (!sib.started && !--sib.n) {
		sib.started = true;
		raise(SIGSTOP);
		CHECK(!pthread_create(&sib.second, NULL, second_sends, sibling_qp));
		sem_wait(&sib.there);
	} else if (sib.started && !sib.waits && !pthread_equal(pthread_self(), sib.first) &&
		   !strcmp(name, sib.name)) {
		sib.waits = true;
		locks_of(scene, sib.held);
		sem_post(&sib.there);
		sem_wait(&sib.on);
	}
}

static void child_with_sibling(struct bed *e)
{
	struct t_qp *c = t_qp_make(e->p.t, 0, scene->is->st, NULL);

	sibling_qp = t_qp_make(e->p.t, 0, scene->is->st, NULL);
	t_rts(c, scene->b);
	t_rts(sibling_qp, scene->b);
	e->board->qpn = c->qpn;
	e->board->key = e->p.t->s.self;
	sib.first = pthread_self();
	tell(e->tell[1]);
	CHECK(await(e->go[0]));
	point_hook = at_point;
	scene->is->act(scene, c);
	if (sib.waits) {
		still_held(scene);
		sem_post(&sib.on);
	}
	if (sib.started)
		pthread_join(sib.second, NULL);
	point_hook = NULL;
	for (int i = 0; i < 50 && c->hw->park == HW_PARK_LOCK; i++) {
		t_now += 2000000;
		sq_resume(seg_of(scene), c->qpn);
	}
}

static bool beside_a_sibling(const struct scenario *is, uint32_t n, const char *name)
{
	struct scene x = {.is = is};
	struct mlx5_cqe64 *c;
	int status, over = 0;
	uint32_t received = 0;
	void *state;

	sib.n = n;
	sib.name = name;
	sib.started = sib.waits = false;
	sem_init(&sib.there, 0, 0);
	sem_init(&sib.on, 0, 0);
	bed_setup(&state);
	x.e = state;
	scene_setup(&x, child_with_sibling);
	tell(x.e->go[1]);
	assert_int_equal(waitpid(x.e->pid, &status, WUNTRACED), x.e->pid);
	over = !WIFSTOPPED(status);
	others_go_on(&x);
	if (!over) {
		kill(x.e->pid, SIGCONT);
		assert_int_equal(waitpid(x.e->pid, &status, 0), x.e->pid);
	}
	assert_int_equal(status, 0);
	settle(&x);
	while ((c = t_poll(&x.b->cq)))
		received += mlx5dv_get_cqe_opcode(c) == MLX5_CQE_RESP_SEND;
	assert_int_equal(received, over ? 2 : 3);
	assert_int_equal(x.b->hw->rq_ci, received);
	assert_int_equal(count_events(&x, x.b->cq.evq[0], 0), 1);
	goes_on(&x);
	scene_end(&x);
	return !over;
}

static void stopped_beside_a_sibling(void **state)
{
	const char *only = getenv("STEP_SCENARIO"), *from = getenv("STEP_FROM");

	for (size_t i = 0; i < nscenarios; i++)
		for (size_t k = 0; k < sizeof(sibling_at) / sizeof(sibling_at[0]); k++) {
			uint32_t n = from ? (uint32_t)atoi(from) : 1;

			if (scenarios[i].act != send_datagram ||
			    (only && strcmp(only, sibling_at[k])))
				continue;
			for (; beside_a_sibling(&scenarios[i], n, sibling_at[k]); n++)
				assert_true(n < MAX_STEPS);
			print_message("%s: stopped at %u steps beside another at %s\n",
				      scenarios[i].name, n - 1, sibling_at[k]);
		}
}

/* ---- stopped, and another sender has taken over and died when it goes on */

/* A third sender's datagram arrives in time, although two senders are stopped. */
static void third_datagram(struct scene *x)
{
	struct t_qp *c = t_qp_make(x->e->p.t, 0, PRM_ST_UD, NULL);

	t_rts(c, x->b);
	send_datagram(x, c);
	run_out(x, c);
	t_qp_free(c);
}

static pid_t start_child(struct scene *x, const char *spec)
{
	snprintf(x->spec, sizeof(x->spec), "%s", spec);
	spawn(x->e, child);
	assert_true(await(x->e->tell[0]));
	return x->e->pid;
}

/* A first sender that is stopped at a step: its process, its slot, and what it is told by (*go). */
static pid_t stop_first(struct scene *x, struct bed *e, const char *spec, uint32_t *slot, int *go)
{
	int status;
	pid_t pid;

	x->e = e;
	snprintf(x->spec, sizeof(x->spec), "%s", spec);
	scene_setup(x, child);
	tell(x->e->go[1]);
	pid = x->e->pid;
	*slot = x->e->board->key;
	*go = x->e->go[1];
	close(x->e->tell[0]);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	return pid;
}

/*
 * The first sender is stopped at `stop`, the second takes over from it and is killed at `die` of
 * its own receive; then the first continues. No receive completes twice, and none is lost.
 */
static void succeeded(const struct scenario *is, const char *stop, const char *die)
{
	struct scene x = {.is = is, .e = NULL};
	uint32_t slot[2], seen = 0;
	struct mlx5_cqe64 *c;
	int status, go;
	pid_t first;
	void *state;

	bed_setup(&state);
	first = stop_first(&x, state, stop, &slot[0], &go);
	complete_another(&x);
	start_child(&x, die);
	slot[1] = x.e->board->key;
	tell(x.e->go[1]);
	assert_true(WIFSIGNALED(reap(x.e)));
	seg_proc(seg_of(&x), slot[1])->state = SEG_PROC_DEAD;
	kill(first, SIGCONT);
	assert_int_equal(waitpid(first, &status, 0), first);
	assert_int_equal(status, 0);
	close(go);
	settle(&x);
	x.e->board->key = slot[0];
	settle(&x);
	while ((c = t_poll(&x.b->cq)))
		if (mlx5dv_get_cqe_opcode(c) == MLX5_CQE_RESP_SEND)
			assert_int_equal(be16toh(c->wqe_counter), seen++);
	assert_int_equal(seen, 2);
	assert_int_equal(atomic_load(&x.b->hw->rq_ci), 2);
	assert_int_equal(count_events(&x, x.b->cq.evq[0], 0), 1);
	goes_on(&x);
	scene_free(&x);
}

static void a_late_intent_leaves_the_next_one(void **state)
{
	static const struct scenario is = {"datagram", PRM_ST_UD, false, NULL, send_datagram, NULL};

	succeeded(&is, "recv-intending:stop:1", "recv-committed:kill:1");
	succeeded(&is, "recv-intending:stop:1", "recv-written:kill:1");
}

/* ---- one sender is stopped; the second, which takes over from it or tries to, is stopped or dies
 */

static const struct {
	const char *at; /* of the first */
	bool srq;
} pairs[] = {{"resp-locked", false}, {"srq-ahead-none", true}, {"srq-ahead", true},
	     {"srq-noted", true},    {"recv-intent", false},   {"recv-written", true}};

static bool both_stopped(bool srq, const char *first, const char *how, uint32_t n)
{
	struct scenario is = {"datagram", PRM_ST_UD, srq, NULL, send_datagram, NULL};
	struct scene x = {.is = &is};
	uint32_t received = 0, slot[2];
	struct mlx5_cqe64 *c;
	char spec[sizeof(x.spec)];
	int status, go, over, killed;
	pid_t pid;
	void *state;

	bed_setup(&state);
	snprintf(spec, sizeof(spec), "%s:stop:1", first);
	pid = stop_first(&x, state, spec, &slot[0], &go);
	snprintf(spec, sizeof(spec), "*:%s:%u", how, n);
	start_child(&x, spec);
	slot[1] = x.e->board->key;
	tell(x.e->go[1]);
	assert_int_equal(waitpid(x.e->pid, &status, WUNTRACED), x.e->pid);
	over = WIFEXITED(status);
	killed = WIFSIGNALED(status);
	if (killed)
		seg_proc(seg_of(&x), slot[1])->state = SEG_PROC_DEAD;
	complete_another(&x);
	third_datagram(&x);
	kill(pid, SIGCONT);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	if (!over && !killed) {
		kill(x.e->pid, SIGCONT);
		assert_int_equal(waitpid(x.e->pid, &status, 0), x.e->pid);
		assert_int_equal(status, 0);
	}
	close(go);
	close(x.e->go[1]);
	close(x.e->tell[0]);
	for (int i = 0; i < 2; i++) {
		x.e->board->key = slot[i];
		settle(&x);
	}
	while ((c = t_poll(&x.b->cq)))
		received += mlx5dv_get_cqe_opcode(c) == MLX5_CQE_RESP_SEND;
	assert_true(received == 3 || (killed && received == 2));
	assert_int_equal(count_events(&x, x.b->cq.evq[0], 0), 1);
	assert_int_equal(srq ? x.srq.hw->consumed : x.b->hw->rq_ci, received);
	assert_int_equal(x.b->hw->rx_srq_wqe, 0);
	goes_on(&x);
	scene_free(&x);
	return !over;
}

static void two_at_every_step(const char *how)
{
	const char *only = getenv("STEP_SCENARIO"), *from = getenv("STEP_FROM");

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		uint32_t n = from ? (uint32_t)atoi(from) : 1;

		if (only && strcmp(only, pairs[i].at))
			continue;
		/* from adopted memory nothing is read ahead */
		if (getenv("STEP_NEAR") && !strncmp(pairs[i].at, "srq-ahead", 9))
			continue;
		for (; both_stopped(pairs[i].srq, pairs[i].at, how, n); n++)
			assert_true(n < MAX_STEPS);
		print_message("%s: one stopped at %s, another, by %s, at %u steps\n",
			      pairs[i].srq ? "datagram to an SRQ" : "datagram", pairs[i].at, how,
			      n - 1);
		assert_true(n > 5);
	}
}

static void two_stopped_at_every_step(void **state)
{
	two_at_every_step("stop");
}

/* It may have taken a lock over, and not yet have made the first one's stores fail. */
static void the_second_is_killed_at_every_step(void **state)
{
	two_at_every_step("kill");
}

/*
 * The first sender is stopped at `stop`; the second may take a lock over, and dies at `die`; the
 * heir is stopped at `begun`, and there it is when the first continues, and ends. Then the heir
 * continues. No receive completes twice, and none is lost.
 */
static void first_ends_before_its_heir(const char *stop, const char *die, const char *begun)
{
	static const struct scenario is = {"datagram", PRM_ST_UD, false, NULL, send_datagram, NULL};
	struct scene x = {.is = &is};
	struct mlx5_cqe64 *c;
	uint32_t slot, seen = 0;
	int status, go;
	pid_t first;
	void *state;

	bed_setup(&state);
	first = stop_first(&x, state, stop, &slot, &go);
	if (die) {
		start_child(&x, die);
		tell(x.e->go[1]);
		assert_int_equal(reap(x.e), SIGKILL);
		seg_proc(seg_of(&x), x.e->board->key)->state = SEG_PROC_DEAD;
	}
	start_child(&x, begun);
	tell(x.e->go[1]);
	assert_int_equal(waitpid(x.e->pid, &status, WUNTRACED), x.e->pid);
	assert_true(WIFSTOPPED(status));
	kill(first, SIGCONT);
	assert_int_equal(waitpid(first, &status, 0), first);
	assert_int_equal(status, 0);
	close(go);
	kill(x.e->pid, SIGCONT);
	assert_int_equal(reap(x.e), 0);
	settle(&x);
	x.e->board->key = slot;
	settle(&x);
	while ((c = t_poll(&x.b->cq)))
		assert_int_equal(be16toh(c->wqe_counter), seen++);
	assert_int_equal(seen, 2);
	assert_int_equal(atomic_load(&x.b->hw->rq_ci), 2);
	assert_int_equal(t_rq_lock(x.b)->word, 0);
	assert_int_equal(count_events(&x, x.b->cq.evq[0], 0), 1);
	goes_on(&x);
	scene_free(&x);
}

static const char *const held_at[] = {"resp-locked:stop:1", "recv-intent:stop:1",
				      "recv-written:stop:1", "recv-committed:stop:1",
				      "resp-stepped:stop:1"};

static void a_receive_is_counted_by_who_wrote_it_or_the_heir(void **state)
{
	for (size_t i = 0; i < sizeof(held_at) / sizeof(held_at[0]); i++) {
		first_ends_before_its_heir(held_at[i], NULL, "resp-stolen:stop:1");
		first_ends_before_its_heir(held_at[i], NULL, "resp-locked:stop:1");
	}
}

static void a_dead_second_leaves_no_stores_to_the_first(void **state)
{
	for (size_t i = 0; i < sizeof(held_at) / sizeof(held_at[0]); i++)
		first_ends_before_its_heir(held_at[i], "resp-stolen:kill:1", "resp-locked:stop:1");
}

/* ---- stopped, and its receiver is reset meanwhile */

/* Receives from before the reset have complete CQEs, and no CQE follows the reset. */
static void check_reset(struct scene *x, uint32_t received)
{
	const struct hw_qp *b = x->b->hw;

	t_assert_empty(&x->b->cq);
	assert_int_equal(b->state, PRM_QP_STATE_RST);
	assert_int_equal(b->rq_ci, 0);
	assert_int_equal(b->rx_srq_wqe, 0);
	assert_int_equal((uint32_t)b->rx_intent, 0);
	assert_int_equal(b->rx_n & 0xffff, 0);
	assert_int_equal(b->msn & 0xffffff, 0);
	assert_int_equal(b->next_rcv_psn, 0xabc);
	assert_int_equal(b->rq_lock.word, 0);
	assert_int_equal(x->b->cq.hw->lock.word, 0);
	if (x->is->srq) {
		assert_int_equal(x->srq.hw->lock.word, 0);
		assert_int_equal(x->srq.hw->consumed, received);
	}
}

static bool reset_at(const struct scenario *is, uint32_t n)
{
	struct scene x = {.is = is};
	uint32_t received;
	long t;

	scene_stop(&x, n);
	t = test_sleeps();
	assert_int_equal(eng_qp_set_state(seg_of(&x), x.b->qpn, PRM_QP_STATE_RST), 0);
	assert_true(test_sleeps() - t < TEST_SHORT);
	x.b->hw->next_rcv_psn = 0xabc; /* set the PSN, as a transition to RTR does */
	received = count_cqes(&x, MLX5_CQE_RESP_SEND);
	assert_uint_in_range(received, 0, 1);
	scene_go_on(&x, SIGCONT);
	settle(&x);
	check_reset(&x, received);
	scene_end(&x);
	return x.stopped;
}

static void reset_beside_one_stopped_at_every_step(void **state)
{
	const char *from = getenv("STEP_FROM");

	for (size_t i = 0; i < nscenarios; i++) {
		uint32_t n = from ? (uint32_t)atoi(from) : 1;

		if (scenarios[i].check != check_send)
			continue;
		for (; reset_at(&scenarios[i], n); n++)
			assert_true(n < MAX_STEPS);
		print_message("%s: reset at %u steps\n", scenarios[i].name, n - 1);
	}
}

/* ---- stopped, and its receiver gets a command meanwhile, which does not end the connection */

static bool commanded_at(const struct scenario *is, uint32_t n)
{
	struct scene x = {.is = is};

	scene_stop(&x, n);
	assert_int_equal(eng_qp_set_state(seg_of(&x), x.b->qpn, PRM_QP_STATE_RTS), 0);
	scene_go_on(&x, SIGCONT);
	settle(&x);
	assert_int_equal(count_cqes(&x, MLX5_CQE_RESP_SEND), 1);
	/* Both ends still agree on the PSN. UC accepts any. */
	if (is->st == PRM_ST_RC)
		assert_int_equal(hw_qp(seg_of(&x), x.b->hw->dest_qpn)->next_send_psn,
				 x.b->hw->next_rcv_psn);
	scene_end(&x);
	return x.stopped;
}

static void commands_beside_one_stopped_at_every_step(void **state)
{
	for (size_t i = 0; i < nscenarios; i++) {
		if (scenarios[i].check != check_send)
			continue;
		for (uint32_t n = 1; commanded_at(&scenarios[i], n); n++)
			assert_true(n < MAX_STEPS);
	}
}

/* ---- stopped, and another thread has its receiver's lock for longer than the sender waits */

static void send_two(struct scene *x, struct t_qp *c)
{
	send_one(x, c);
	tell(x->e->tell[1]);
	CHECK(await(x->e->go[0]));
	send_one(x, c);
}

/* The receiver has the first message, and the second one follows in sequence. */
static void the_psn_is_stored_later(void **state)
{
	static const struct scenario is = {.st = PRM_ST_RC, .act = send_two};
	struct scene x = {.is = &is, .spec = "recv-committed:stop:1"};
	struct seg_lock *l;
	void *e;

	bed_setup(&e);
	x.e = e;
	scene_setup(&x, child);
	tell(x.e->go[1]);
	assert_int_equal(waitpid(x.e->pid, &x.status, WUNTRACED), x.e->pid);
	assert_true(WIFSTOPPED(x.status));
	assert_int_equal(eng_qp_set_state(seg_of(&x), x.b->qpn, PRM_QP_STATE_RTS), 0);
	l = &x.b->hw->rq_lock;
	assert_int_equal(seg_lock(seg_of(&x), l, 0), 0);
	kill(x.e->pid, SIGCONT);
	assert_true(await(x.e->tell[0]));
	seg_unlock(seg_of(&x), l);
	tell(x.e->go[1]);
	assert_int_equal(waitpid(x.e->pid, &x.status, 0), x.e->pid);
	assert_int_equal(x.status, 0);
	settle(&x);
	assert_int_equal(count_cqes(&x, MLX5_CQE_RESP_SEND), 2);
	assert_int_equal(hw_qp(seg_of(&x), x.b->hw->dest_qpn)->next_send_psn,
			 x.b->hw->next_rcv_psn);
	scene_end(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stopped_at_every_step),
		cmocka_unit_test(overrun_stopped_at_every_step),
		cmocka_unit_test(stopped_beside_a_sibling),
		cmocka_unit_test(a_late_intent_leaves_the_next_one),
		cmocka_unit_test(two_stopped_at_every_step),
		cmocka_unit_test(the_second_is_killed_at_every_step),
		cmocka_unit_test(a_receive_is_counted_by_who_wrote_it_or_the_heir),
		cmocka_unit_test(a_dead_second_leaves_no_stores_to_the_first),
		cmocka_unit_test(commands_beside_one_stopped_at_every_step),
		cmocka_unit_test(the_psn_is_stored_later),
		cmocka_unit_test(reset_beside_one_stopped_at_every_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
