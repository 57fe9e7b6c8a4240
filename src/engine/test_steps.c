/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A sender is killed at each marked step (POINT()) of what it does to its receiver, one after the
 * other: rows list the steps of a scenario in order. Afterwards the receiver has what hardware
 * would give it: the whole message with one event or nothing, a whole failure or none; and it
 * continues to work.
 */
#include "engine/test_procs.h"
#include "hw/cq.h"
#include "hw/qp.h"
#include "hw/qp_state.h"
#include "hw/srq.h"
#include "hw/evsub.h"
#include "util/point.h"
#include "wire/prm/dct.h"
#include "wire/prm/eq.h"

#include <infiniband/verbs.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/eventfd.h>

#define RECEIVES 4
#define MAX_STEPS 200

struct scene;

struct scenario {
	const char *name;
	enum prm_st st;
	bool srq;
	void (*setup)(struct scene *x);
	void (*act)(struct scene *x, struct t_qp *c); /* run in the child */
	void (*check)(struct scene *x, bool whole);   /* whole: the child survived */
};

struct scene {
	struct bed *e;
	const struct scenario *is;
	struct t_qp *b; /* the receiver's QP */
	struct t_srq srq;
	uint32_t srq_evq, sub[3], subq[2];
	int eventfd;
	uint32_t sn;
	char spec[32];
};

static struct scene *scene; /* for the child */

static struct seg *seg_of(const struct scene *x)
{
	return &x->e->p.t->s;
}

static void arm(struct scene *x)
{
	uint32_t word = x->sn++ % 4 << 28 | (x->b->cq.ci & 0xffffff);
	__be32 db[2] = {htobe32(word), htobe32(x->b->cq.cqn)};
	uint64_t be;

	x->b->cq.dbr[T_ARM] = htobe32(word);
	memcpy(&be, db, 8);
	eng_uar_write(seg_of(x), T_UAR, 0x20, be);
}

static uint32_t count_events(struct scene *x, uint32_t evq, int type)
{
	uint32_t n = 0;
	int got;

	while ((got = t_event(x->e->p.t, evq)) >= 0)
		n += got == type;
	return n;
}

static uint32_t count_cqes(struct scene *x, uint8_t opcode)
{
	struct mlx5_cqe64 *c;
	uint32_t n = 0;

	while ((c = t_poll(&x->b->cq)))
		n += mlx5dv_get_cqe_opcode(c) == opcode;
	return n;
}

/* ---- what the child does */

static void send_one(struct scene *x, struct t_qp *c)
{
	t_post(c, &(struct t_wr){.opcode = MLX5_OPCODE_SEND, .inl = "x", .inl_len = 1});
}

static void send_datagram(struct scene *x, struct t_qp *c)
{
	struct mlx5_wqe_av av = {.key.qkey.qkey = htobe32(0x11111111),
				 .dqp_dct = htobe32(x->b->qpn | 1u << 31),
				 .rlid = htobe16((uint16_t)c->hw->dlid)};

	t_post(c, &(struct t_wr){.opcode = MLX5_OPCODE_SEND, .av = &av, .inl = "x", .inl_len = 1});
}

static void write_badly(struct scene *x, struct t_qp *c)
{
	t_post(c, &(struct t_wr){.opcode = MLX5_OPCODE_RDMA_WRITE,
				 .raddr = (uintptr_t)x->b->mem,
				 .rkey = x->b->key ^ 0xff,
				 .inl = "x",
				 .inl_len = 1});
}

static void child(struct bed *e)
{
	enum prm_st st = scene->is->st;
	struct t_qp *c = t_qp_make(e->p.t, 0, st == HW_ST_DCT ? PRM_ST_DCI : st, NULL);

	t_rts(c, scene->b);
	e->board->qpn = c->qpn;
	e->board->key = e->p.t->s.self;
	tell(e->tell[1]);
	CHECK(await(e->go[0]));
	CHECK(point_set(scene->spec));
	scene->is->act(scene, c);
	/* Acts as the child's device thread. */
	for (int i = 0; i < 50 && c->hw->park == HW_PARK_LOCK; i++) {
		t_now += 2000000;
		eng_run_due(&e->p.t->s);
	}
}

/* To a DCT, with a wrong access key. */
static void send_badly(struct scene *x, struct t_qp *c)
{
	struct mlx5_wqe_av av = {.key.dc_key = htobe64(1),
				 .dqp_dct = htobe32(x->b->qpn | 1u << 31),
				 .rlid = htobe16((uint16_t)c->hw->dlid)};

	t_post(c, &(struct t_wr){.opcode = MLX5_OPCODE_SEND, .av = &av, .inl = "x", .inl_len = 1});
}

/* ---- what is right afterwards */

static void check_send(struct scene *x, bool whole)
{
	uint32_t n = count_cqes(x, MLX5_CQE_RESP_SEND);

	assert_int_equal(count_events(x, x->b->cq.evq[0], 0), n);
	if (whole)
		assert_int_equal(n, 1);
	else
		assert_true(n <= 1);
	assert_int_equal(x->is->srq ? x->srq.hw->consumed - !!x->b->hw->rx_srq_wqe
				    : atomic_load(&x->b->hw->rq_ci),
			 n);
	assert_int_equal(count_events(x, x->b->evq, -1), 0);
}

static void check_limit(struct scene *x, bool whole)
{
	uint32_t fired = !hw_srq_limit(x->srq.hw);

	check_send(x, whole);
	assert_int_equal(fired, x->srq.hw->consumed > 0);
	assert_int_equal(count_events(x, x->srq_evq, IBV_EVENT_SRQ_LIMIT_REACHED), fired);
}

static void check_comm_est(struct scene *x, bool whole)
{
	uint32_t n = count_cqes(x, MLX5_CQE_RESP_SEND);

	assert_int_equal(count_events(x, x->b->cq.evq[0], 0), n);
	assert_int_equal(count_events(x, x->b->evq, IBV_EVENT_COMM_EST),
			 x->b->hw->comm_est ? 1 : 0);
	assert_int_equal(x->b->hw->comm_est == 2, whole || x->b->hw->comm_est);
}

static void check_failure(struct scene *x, bool whole)
{
	bool failed = x->b->hw->state == PRM_QP_STATE_ERR;
	struct mlx5_cqe64 *c;
	uint32_t n = 0;

	for (; (c = t_poll(&x->b->cq)); n++) {
		assert_int_equal(mlx5dv_get_cqe_opcode(c), MLX5_CQE_RESP_ERR);
		assert_int_equal(be16toh(c->wqe_counter), n);
	}
	assert_true(failed || !whole);
	assert_int_equal(n, failed ? RECEIVES : 0);
	assert_int_equal(count_events(x, x->b->cq.evq[0], 0), failed);
	assert_int_equal(count_events(x, x->b->evq, IBV_EVENT_QP_ACCESS_ERR), failed);
	assert_int_equal(x->b->hw->rx_fail, 0);
}

static void check_srq_failure(struct scene *x, bool whole)
{
	bool failed = x->b->hw->state == PRM_QP_STATE_ERR;
	uint32_t access = 0, last = 0;
	int got;

	while ((got = t_event(x->e->p.t, x->b->evq)) >= 0) {
		access += got == IBV_EVENT_QP_ACCESS_ERR;
		last += got == IBV_EVENT_QP_LAST_WQE_REACHED;
	}
	assert_true(failed || !whole);
	assert_int_equal(access, failed);
	assert_int_equal(last, failed);
}

static void check_overrun(struct scene *x, bool whole)
{
	assert_true(!whole || x->b->hw->state == PRM_QP_STATE_ERR);
	assert_int_equal(count_events(x, x->b->cq.evq[1], IBV_EVENT_CQ_ERR),
			 hw_cq_error(x->b->cq.hw) ? 1 : 0);
	assert_int_equal(count_events(x, x->b->evq, IBV_EVENT_QP_FATAL),
			 x->b->hw->state == PRM_QP_STATE_ERR);
	x->b->cq.hw->state = 0;
}

static void check_devx(struct scene *x, bool whole)
{
	uint32_t n = count_cqes(x, MLX5_CQE_RESP_SEND);
	uint64_t signals = 0;

	evsub_signal_own(seg_of(x));
	assert_int_equal(count_events(x, x->b->cq.evq[0], 0), n);
	assert_int_equal(count_events(x, x->subq[0], 0), n);
	assert_int_equal(count_events(x, x->subq[1], 0), n);
	if (read(x->eventfd, &signals, 8) != 8)
		signals = 0;
	assert_int_equal(signals, n);
}

static void check_key(struct scene *x, bool whole)
{
	uint32_t n = !x->b->hw->key_armed;
	uint64_t signals = 0;

	evsub_signal_own(seg_of(x));
	assert_true(n || !whole);
	assert_int_equal(count_events(x, x->subq[0], 0), n);
	assert_int_equal(count_events(x, x->subq[1], 0), n);
	assert_int_equal(count_events(x, x->b->evq, -1), 0);
	if (read(x->eventfd, &signals, 8) != 8)
		signals = 0;
	assert_int_equal(signals, n);
}

/* ---- scenes */

static void setup_limit(struct scene *x)
{
	struct hw_srq *srq = x->srq.hw;

	x->srq_evq = t_evq(x->e->p.t);
	srq->async.evq_gen = ((struct seg_evq *)seg_at(seg_of(x), SEG_T_EVQ, x->srq_evq))->gen;
	atomic_store(&srq->async.evq, x->srq_evq);
	assert_int_equal(eng_srq_arm_limit(seg_of(x), x->srq.srqn, RECEIVES), 0);
}

static void setup_rtr(struct scene *x)
{
	atomic_store(&x->b->hw->state, PRM_QP_STATE_RTR);
}

static void setup_full(struct scene *x)
{
	for (int i = 0; i < 1 << T_CQ_LOG; i++)
		t_post(x->b, &(struct t_wr){.opcode = MLX5_OPCODE_NOP, .fm_ce_se = T_SIG});
	count_events(x, x->b->cq.evq[0], 0);
}

static void subscribe(struct scene *x, uint32_t hca, uint32_t key, uint32_t id)
{
	struct seg *s = seg_of(x);
	struct seg_evsub sub = {.hca = hca, .key = key, .id = id, .object = 0x5000};

	for (int i = 0; i < 3; i++) {
		if (i < 2)
			x->subq[i] = t_evq(x->e->p.t);
		sub.evq = x->subq[i & 1];
		sub.evq_gen = ((struct seg_evq *)seg_at(s, SEG_T_EVQ, sub.evq))->gen;
		sub.omit = i == 0;
		sub.eventfd = i == 2 ? x->eventfd + 1 : 0;
		assert_int_equal(evsub_add(s, &sub, &x->sub[i]), 0);
	}
}

static void setup_devx(struct scene *x)
{
	subscribe(x, x->b->cq.hw->hca, PRM_EVENT_COMP, x->b->cq.cqn);
}

static void setup_dct(struct scene *x)
{
	struct hw_qp *dct = x->b->hw;

	LAYOUT_SET(dctc, dct->qpc, dc_access_key, 2);
	dct->no_rq = dct->no_sq = 1;
	dct->comm_est = 2;
	atomic_store(&dct->key_armed, 1);
	atomic_store(&dct->state, PRM_QP_STATE_RTR);
	subscribe(x, dct->hca, PRM_EVENT_DCT_KEY_VIOLATION | PRM_EVENT_QUEUE_DCT << 16, x->b->qpn);
}

static const struct scenario scenarios[] = {
	{"send", PRM_ST_RC, false, NULL, send_one, check_send},
	{"send on UC", PRM_ST_UC, false, NULL, send_one, check_send},
	{"datagram", PRM_ST_UD, false, NULL, send_datagram, check_send},
	{"send to an SRQ", PRM_ST_RC, true, NULL, send_one, check_send},
	{"SRQ limit", PRM_ST_RC, true, setup_limit, send_one, check_limit},
	{"first message in RTR", PRM_ST_RC, false, setup_rtr, send_one, check_comm_est},
	{"bad request", PRM_ST_RC, false, NULL, write_badly, check_failure},
	{"bad request, SRQ", PRM_ST_RC, true, NULL, write_badly, check_srq_failure},
	{"CQ overrun", PRM_ST_RC, false, setup_full, send_one, check_overrun},
	{"DEVX subscribers", PRM_ST_RC, false, setup_devx, send_one, check_devx},
	{"wrong access key", HW_ST_DCT, true, setup_dct, send_badly, check_key},
};

static void scene_setup(struct scene *x, void (*body)(struct bed *e))
{
	struct bed *e = x->e;
	struct t_qp peer;

	if (x->is->srq)
		t_srq_make(e->p.t, &x->srq, e->p.t->pd[1]);
	x->b = t_qp_make(e->p.t, 1, x->is->st, x->is->srq ? &x->srq : NULL);
	x->eventfd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	scene = x;
	spawn(e, body);
	assert_true(await(e->tell[0]));
	peer = (struct t_qp){.qpn = e->board->qpn, .hw = hw_qp(seg_of(x), e->board->qpn)};
	t_rts(x->b, &peer);
	for (uint32_t i = 0; i < RECEIVES; i++)
		if (x->is->srq)
			t_srq_post(&x->srq, x->b->key, x->b->mem, 64);
		else
			t_recv_at(x->b, i * 64, 64);
	arm(x);
	if (x->is->setup)
		x->is->setup(x);
}

/* Do what the supervisor and the device thread do after a death. */
static void settle(struct scene *x)
{
	struct seg *s = seg_of(x);
	uint32_t slot = x->e->board->key;

	seg_proc(s, slot)->state = SEG_PROC_DEAD;
	eng_proc_died(s, slot);
	evq_repair(s);
	for (int i = 0; i < 4; i++) {
		eng_run_due(s);
		t_now += 20000000;
	}
}

/* The receiver's queues are unlocked, and its CQ works. */
static void goes_on(struct scene *x)
{
	struct t_qp *q = x->e->p.a;

	assert_int_equal(x->b->hw->rq_lock.word, 0);
	assert_int_equal(x->b->cq.hw->lock.word, 0);
	assert_int_equal((uint32_t)x->b->hw->rx_intent, 0);
	assert_int_equal(x->b->cq.hw->armed & (HW_CQ_OWES | HW_CQ_OWES_DEVX), 0);
	while (t_poll(&x->b->cq))
		;
	q->hw->cqn_snd = x->b->cq.cqn;
	arm(x);
	assert_int_equal(t_event(x->e->p.t, x->b->cq.evq[0]), -1);
	t_post(q, &(struct t_wr){.opcode = MLX5_OPCODE_NOP, .fm_ce_se = T_SIG});
	assert_non_null(t_poll(&x->b->cq));
	t_assert_empty(&x->b->cq);
	assert_int_equal(t_event(x->e->p.t, x->b->cq.evq[0]), 0);
	assert_int_equal(t_event(x->e->p.t, x->b->cq.evq[0]), -1);
}

/* The receiver's device thread looks at its queues while the sender is stopped. */
static void look_and_kill(struct scene *x)
{
	siginfo_t si;

	assert_int_equal(waitid(P_PID, (id_t)x->e->pid, &si, WSTOPPED | WEXITED | WNOWAIT), 0);
	if (si.si_code != CLD_STOPPED)
		return;
	for (int i = 0; i < 2; i++) {
		atomic_store(&seg_proc(seg_of(x), seg_of(x)->self)->parked, 1);
		eng_run_due(seg_of(x));
		t_now += 20000000;
	}
	kill(x->e->pid, SIGKILL);
}

/* Kill the child at its n-th step. False: it has fewer. */
static bool killed_at(const struct scenario *is, uint32_t n, bool looked)
{
	struct scene x = {.is = is};
	void *state;
	int status;

	snprintf(x.spec, sizeof(x.spec), "*:%s:%u", looked ? "stop" : "kill", n);
	bed_setup(&state);
	x.e = state;
	scene_setup(&x, child);
	tell(x.e->go[1]);
	if (looked)
		look_and_kill(&x);
	status = reap(x.e);
	settle(&x);
	is->check(&x, !status);
	goes_on(&x);
	close(x.eventfd);
	t_qp_free(x.b);
	bed_teardown(&state);
	return WIFSIGNALED(status);
}

static void kill_at_every_step(bool looked)
{
	const char *only = getenv("STEP_SCENARIO"), *from = getenv("STEP_FROM");

	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
		uint32_t n = from ? (uint32_t)atoi(from) : 1;

		if (only && strcmp(only, scenarios[i].name))
			continue;
		for (; killed_at(&scenarios[i], n, looked); n++)
			assert_true(n < MAX_STEPS);
		print_message("%s: killed at %u steps%s\n", scenarios[i].name, n - 1,
			      looked ? " after a look" : "");
		assert_true(n > 5);
	}
}

static void killed_at_every_step(void **state)
{
	kill_at_every_step(false);
}

/* What a debt's payer has done is not done again for the dead. */
static void looked_at_and_killed_at_every_step(void **state)
{
	kill_at_every_step(true);
}

/* ---- stopped */

/* A datagram from another sender to the same QP. */
static void other_datagram(struct scene *x)
{
	struct t_qp *c = t_qp_make(x->e->p.t, 0, PRM_ST_UD, NULL);

	t_rts(c, x->b);
	send_datagram(x, c);
	for (int i = 0; i < 20 && c->hw->park; i++) {
		t_now += 2000000;
		eng_run_due(seg_of(x));
	}
	assert_int_equal(c->hw->park, HW_PARK_NO);
	assert_in_range(x->b->hw->rq_ci, 1, 2);
	t_qp_free(c);
}

/*
 * Other users of the CQ and the SRQ continue while one is stopped, at once or after its lock's
 * time.
 */
static void others_go_on(struct scene *x)
{
	struct t_qp *q = x->e->p.a, *c, *d;
	struct seg *s = seg_of(x);

	q->hw->cqn_snd = x->b->cq.cqn;
	t_post(q, &(struct t_wr){.opcode = MLX5_OPCODE_NOP, .fm_ce_se = T_SIG});
	for (int i = 0; i < 20 && q->hw->park; i++) {
		t_now += 2000000;
		eng_run_due(s);
	}
	assert_int_equal(q->hw->park, HW_PARK_NO);
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
		eng_run_due(s);
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
	int status, over = 0;
	void *state;

	snprintf(x.spec, sizeof(x.spec), "*:stop:%u", n);
	bed_setup(&state);
	x.e = state;
	scene_setup(&x, child);
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
	check_stopped(&x);
	goes_on(&x);
	close(x.e->go[1]);
	close(x.e->tell[0]);
	close(x.eventfd);
	t_qp_free(x.b);
	bed_teardown(&state);
	return !over;
}

static void stopped_at_every_step(void **state)
{
	const char *only = getenv("STEP_SCENARIO"), *from = getenv("STEP_FROM");

	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
		uint32_t n = from ? (uint32_t)atoi(from) : 1;

		if (scenarios[i].st == PRM_ST_UC ||
		    (scenarios[i].check != check_send && scenarios[i].check != check_limit) ||
		    (only && strcmp(only, scenarios[i].name)))
			continue;
		for (; stopped_at(&scenarios[i], n); n++)
			assert_true(n < MAX_STEPS);
		print_message("%s: stopped at %u steps\n", scenarios[i].name, n - 1);
	}
}

/* Let another completion of the receiver come first; takes the CQ over from a stopped sender. */
static void complete_another(struct scene *x)
{
	struct t_qp *q = x->e->p.a;

	q->hw->cqn_snd = x->b->cq.cqn;
	t_post(q, &(struct t_wr){.opcode = MLX5_OPCODE_NOP, .fm_ce_se = T_SIG});
	for (int i = 0; i < 20 && q->hw->park; i++) {
		t_now += 2000000;
		eng_run_due(seg_of(x));
	}
	assert_int_equal(q->hw->park, HW_PARK_NO);
}

/* ---- stopped while the receiver's CQ is full, which has room when it goes on */

static bool overrun_stopped_at(const struct scenario *is, uint32_t n)
{
	struct scene x = {.is = is};
	int status, over;
	uint32_t failed;
	void *state;

	snprintf(x.spec, sizeof(x.spec), "*:stop:%u", n);
	bed_setup(&state);
	x.e = state;
	scene_setup(&x, child);
	tell(x.e->go[1]);
	assert_int_equal(waitpid(x.e->pid, &status, WUNTRACED), x.e->pid);
	over = !WIFSTOPPED(status);
	failed = hw_cq_error(x.b->cq.hw);
	while (t_poll(&x.b->cq))
		;
	if (!failed)
		complete_another(&x);
	if (!over) {
		kill(x.e->pid, SIGCONT);
		assert_int_equal(waitpid(x.e->pid, &status, 0), x.e->pid);
	}
	assert_int_equal(status, 0);
	settle(&x);
	assert_int_equal(hw_cq_error(x.b->cq.hw), failed);
	assert_int_equal(count_events(&x, x.b->cq.evq[1], IBV_EVENT_CQ_ERR), !!failed);
	assert_int_equal(count_cqes(&x, MLX5_CQE_RESP_SEND), !failed);
	assert_int_equal(x.b->cq.hw->lock.word, 0);
	close(x.e->go[1]);
	close(x.e->tell[0]);
	close(x.eventfd);
	t_qp_free(x.b);
	bed_teardown(&state);
	return !over;
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

/* ---- stopped in an atomic, whose word's lock others need, too */

static void add_one(struct t_qp *from, struct t_qp *to)
{
	uint64_t adds[2] = {htobe64(1), 0};
	struct t_sge answer = t_own(from, 512, 8);

	t_post(from, &(struct t_wr){.opcode = MLX5_OPCODE_ATOMIC_FA,
				    .fm_ce_se = T_SIG,
				    .raddr = (uintptr_t)to->mem,
				    .rkey = to->key,
				    .operands = adds,
				    .operands_len = sizeof(adds),
				    .sge = &answer,
				    .nsge = 1});
}

static void act_add(struct scene *x, struct t_qp *c)
{
	add_one(c, x->b);
}

static bool atomic_stopped_at(uint32_t n)
{
	static const struct scenario is = {.st = PRM_ST_RC, .act = act_add};
	struct scene x = {.is = &is};
	struct t_pair *p;
	uint64_t sum[2];
	int status, over;
	void *state;

	snprintf(x.spec, sizeof(x.spec), "*:stop:%u", n);
	bed_setup(&state);
	x.e = state;
	p = &x.e->p;
	scene_setup(&x, child);
	memset(x.b->mem, 0, 8);
	memset(p->b->mem, 0, 8);
	tell(x.e->go[1]);
	assert_int_equal(waitpid(x.e->pid, &status, WUNTRACED), x.e->pid);
	over = !WIFSTOPPED(status);
	/* Another word, but the same place in its page. */
	add_one(p->a, p->b);
	for (int i = 0; i < 20 && p->a->hw->park; i++) {
		t_now += 2000000;
		eng_run_due(seg_of(&x));
	}
	assert_int_equal(p->a->hw->park, HW_PARK_NO);
	assert_non_null(t_poll(&p->a->cq));
	if (!over) {
		kill(x.e->pid, SIGCONT);
		assert_int_equal(waitpid(x.e->pid, &status, 0), x.e->pid);
	}
	assert_int_equal(status, 0);
	memcpy(&sum[0], x.b->mem, 8);
	memcpy(&sum[1], p->b->mem, 8);
	assert_int_equal(sum[0], 1);
	assert_int_equal(sum[1], 1);
	assert_int_equal(mem_word_lock(seg_of(&x), (uintptr_t)x.b->mem)->word, 0);
	close(x.e->go[1]);
	close(x.e->tell[0]);
	close(x.eventfd);
	t_qp_free(x.b);
	bed_teardown(&state);
	return !over;
}

static void atomic_stopped_at_every_step(void **state)
{
	const char *from = getenv("STEP_FROM");
	uint32_t n = from ? (uint32_t)atoi(from) : 1;

	for (; atomic_stopped_at(n); n++)
		assert_true(n < MAX_STEPS);
	print_message("atomic: stopped at %u steps\n", n - 1);
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

/* The lock words that the second thread may hold. */
static void locks_of(const struct scene *x, uint32_t w[3])
{
	w[0] = x->b->hw->rq_lock.word;
	w[1] = x->b->cq.hw->lock.word;
	w[2] = x->is->srq ? x->srq.hw->lock.word : 0;
}

/* Each that this process has: nobody but the second thread has let go of it. */
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
	close(x.e->go[1]);
	close(x.e->tell[0]);
	close(x.eventfd);
	t_qp_free(x.b);
	bed_teardown(&state);
	return !over;
}

static void stopped_beside_a_sibling(void **state)
{
	const char *only = getenv("STEP_SCENARIO"), *from = getenv("STEP_FROM");

	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
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

/* It comes in time although two senders are stopped. */
static void third_datagram(struct scene *x)
{
	struct t_qp *c = t_qp_make(x->e->p.t, 0, PRM_ST_UD, NULL);

	t_rts(c, x->b);
	send_datagram(x, c);
	for (int i = 0; i < 20 && c->hw->park; i++) {
		t_now += 2000000;
		eng_run_due(seg_of(x));
	}
	assert_int_equal(c->hw->park, HW_PARK_NO);
	t_qp_free(c);
}

static pid_t start_child(struct scene *x, const char *spec)
{
	snprintf(x->spec, sizeof(x->spec), "%s", spec);
	spawn(x->e, child);
	assert_true(await(x->e->tell[0]));
	return x->e->pid;
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
	x.e = state;
	snprintf(x.spec, sizeof(x.spec), "%s", stop);
	scene_setup(&x, child);
	tell(x.e->go[1]);
	first = x.e->pid;
	slot[0] = x.e->board->key;
	go = x.e->go[1];
	close(x.e->tell[0]);
	assert_int_equal(waitpid(first, &status, WUNTRACED), first);
	assert_true(WIFSTOPPED(status));
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
	close(x.eventfd);
	t_qp_free(x.b);
	bed_teardown(&state);
}

static void a_late_intent_leaves_the_next_one(void **state)
{
	static const struct scenario is = {"datagram", PRM_ST_UD, false, NULL, send_datagram, NULL};

	succeeded(&is, "recv-intending:stop:1", "recv-committed:kill:1");
	succeeded(&is, "recv-intending:stop:1", "recv-written:kill:1");
}

/* ---- one sender is stopped, and so is the second, which has taken over from it or tries to */

static const char *const first_at[] = {"resp-locked", "srq-noted", "recv-intent", "recv-written",
				       "cq-unlock"};

static bool both_stopped(bool srq, const char *first, uint32_t n)
{
	struct scenario is = {"datagram", PRM_ST_UD, srq, NULL, send_datagram, NULL};
	struct scene x = {.is = &is};
	uint32_t received = 0, slot[2];
	struct mlx5_cqe64 *c;
	int status, go, over;
	pid_t pid;
	void *state;

	bed_setup(&state);
	x.e = state;
	snprintf(x.spec, sizeof(x.spec), "%s:stop:1", first);
	scene_setup(&x, child);
	tell(x.e->go[1]);
	pid = x.e->pid;
	slot[0] = x.e->board->key;
	go = x.e->go[1];
	close(x.e->tell[0]);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	snprintf(x.spec, sizeof(x.spec), "*:stop:%u", n);
	spawn(x.e, child);
	assert_true(await(x.e->tell[0]));
	slot[1] = x.e->board->key;
	tell(x.e->go[1]);
	assert_int_equal(waitpid(x.e->pid, &status, WUNTRACED), x.e->pid);
	over = !WIFSTOPPED(status);
	complete_another(&x);
	third_datagram(&x);
	kill(pid, SIGCONT);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	if (!over) {
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
	assert_int_equal(received, 3);
	assert_int_equal(count_events(&x, x.b->cq.evq[0], 0), 1);
	assert_int_equal(srq ? x.srq.hw->consumed : x.b->hw->rq_ci, 3);
	assert_int_equal(x.b->hw->rx_srq_wqe, 0);
	goes_on(&x);
	close(x.eventfd);
	t_qp_free(x.b);
	bed_teardown(&state);
	return !over;
}

static void two_stopped_at_every_step(void **state)
{
	const char *only = getenv("STEP_SCENARIO"), *from = getenv("STEP_FROM");

	for (size_t i = 0; i < 2 * sizeof(first_at) / sizeof(first_at[0]); i++) {
		const char *first = first_at[i / 2];
		uint32_t n = from ? (uint32_t)atoi(from) : 1;
		bool srq = i % 2;

		if ((!srq && !strcmp(first, "srq-noted")) || (only && strcmp(only, first)))
			continue;
		for (; both_stopped(srq, first, n); n++)
			assert_true(n < MAX_STEPS);
		print_message("%s: one stopped at %s, another at %u steps\n",
			      srq ? "datagram to an SRQ" : "datagram", first, n - 1);
		assert_true(n > 5);
	}
}

/* ---- stopped, and its receiver is reset meanwhile */

/* Receives from before the reset are complete, and none follow. */
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
	int status, over = 0;
	uint32_t received;
	void *state;
	uint64_t t;

	snprintf(x.spec, sizeof(x.spec), "*:stop:%u", n);
	bed_setup(&state);
	x.e = state;
	scene_setup(&x, child);
	tell(x.e->go[1]);
	assert_int_equal(waitpid(x.e->pid, &status, WUNTRACED), x.e->pid);
	over = !WIFSTOPPED(status);
	t = clock_now_ns();
	assert_int_equal(eng_qp_set_state(seg_of(&x), x.b->qpn, PRM_QP_STATE_RST), 0);
	assert_true(clock_now_ns() - t < SEG_LOCK_CTRL_NS);
	x.b->hw->next_rcv_psn = 0xabc; /* as a transition to RTR does */
	received = count_cqes(&x, MLX5_CQE_RESP_SEND);
	assert_in_range(received, 0, 1);
	if (!over) {
		kill(x.e->pid, SIGCONT);
		assert_int_equal(waitpid(x.e->pid, &status, 0), x.e->pid);
	}
	assert_int_equal(status, 0);
	settle(&x);
	check_reset(&x, received);
	close(x.e->go[1]);
	close(x.e->tell[0]);
	close(x.eventfd);
	t_qp_free(x.b);
	bed_teardown(&state);
	return !over;
}

static void reset_beside_one_stopped_at_every_step(void **state)
{
	const char *from = getenv("STEP_FROM");

	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
		uint32_t n = from ? (uint32_t)atoi(from) : 1;

		if (scenarios[i].check != check_send)
			continue;
		for (; reset_at(&scenarios[i], n); n++)
			assert_true(n < MAX_STEPS);
		print_message("%s: reset at %u steps\n", scenarios[i].name, n - 1);
	}
}

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

static void child_raises(struct bed *e)
{
	point_hook = stop_at;
	raise_devx(scene, &first_debt);
}

static bool raiser_stopped_at(uint32_t n)
{
	struct scene x = {.eventfd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
	struct evsub_debt second;
	uint64_t signals = 0;
	int status, over;
	void *state;

	bed_setup(&state);
	x.e = state;
	x.b = x.e->p.a;
	scene = &x;
	setup_devx(&x);
	first_debt = note_devx(&x);
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
	assert_int_equal(count_events(&x, x.subq[0], 0), 1); /* without data: one at a time */
	assert_int_equal(count_events(&x, x.subq[1], 0), 2);
	assert_int_equal(read(x.eventfd, &signals, 8), 8);
	assert_int_equal(signals, 2);
	/* Nothing is left at the subscribers. */
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
	close(x.eventfd);
	bed_teardown(&state);
	return !over;
}

static void devx_raiser_stopped_at_every_step(void **state)
{
	uint32_t n = 1;

	for (; raiser_stopped_at(n); n++)
		assert_true(n < MAX_STEPS);
	print_message("DEVX event: stopped at %u steps\n", n - 1);
	assert_true(n > 5);
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

/* Another debt for an event of the same chain. */
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
	struct scene x = {.eventfd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
	int status, go, ended;
	uint64_t signals = 0;
	pid_t first;
	void *state;

	snprintf(x.spec, sizeof(x.spec), "*:kill:%u", n);
	bed_setup(&state);
	x.e = state;
	x.b = x.e->p.a;
	scene = &x;
	setup_devx(&x);
	first_debt = note_devx(&x);
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
	assert_int_equal(count_events(&x, x.subq[0], 0), 1); /* without data: one at a time */
	assert_int_equal(read(x.eventfd, &signals, 8), 8);
	assert_int_equal(signals, 2);
	close(go);
	close(x.eventfd);
	bed_teardown(&state);
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

/* Here the second one has found the claim of the first, or thinks that all is done. */
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
	struct scene x = {.eventfd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
	int status, go[2], told;
	uint64_t signals = 0;
	pid_t first;
	void *state;

	bed_setup(&state);
	x.e = state;
	x.b = x.e->p.a;
	scene = &x;
	setup_devx(&x);
	first_debt = note_devx(&x);
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
	close(x.eventfd);
	bed_teardown(&state);
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
	struct scene x = {.eventfd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
	uint64_t signals = 0;
	int status, over;
	void *state;

	bed_setup(&state);
	x.e = state;
	x.b = x.e->p.a;
	scene = &x;
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
	assert_int_equal(count_events(&x, x.subq[0], 0), 1); /* without data: one at a time */
	assert_int_equal(count_events(&x, x.subq[1], 0), 2);
	assert_int_equal(read(x.eventfd, &signals, 8), 8);
	assert_int_equal(signals, 2);
	close(x.e->go[1]);
	close(x.e->tell[0]);
	close(x.eventfd);
	bed_teardown(&state);
	return !over;
}

static void async_payer_stopped_at_every_step(void **state)
{
	const char *from = getenv("STEP_FROM");
	uint32_t n = from ? (uint32_t)atoi(from) : 1;

	for (; payer_stopped_at(n); n++)
		assert_true(n < MAX_STEPS);
	print_message("async event: stopped at %u steps\n", n - 1);
	assert_true(n > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(killed_at_every_step),
		cmocka_unit_test(looked_at_and_killed_at_every_step),
		cmocka_unit_test(stopped_at_every_step),
		cmocka_unit_test(overrun_stopped_at_every_step),
		cmocka_unit_test(atomic_stopped_at_every_step),
		cmocka_unit_test(stopped_beside_a_sibling),
		cmocka_unit_test(a_late_intent_leaves_the_next_one),
		cmocka_unit_test(two_stopped_at_every_step),
		cmocka_unit_test(devx_raiser_stopped_at_every_step),
		cmocka_unit_test(killed_around_a_stopped_raiser),
		cmocka_unit_test(one_of_two_helpers_is_killed),
		cmocka_unit_test(async_payer_stopped_at_every_step),
		cmocka_unit_test(reset_beside_one_stopped_at_every_step)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
