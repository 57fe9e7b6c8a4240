/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The engine between processes: peers that die at bad moments. */
#include "engine/test_procs.h"
#include "engine/test_tm.h"
#include "engine/base/qp.h"
#include "engine/rx/tm.h"
#include "hw/cq.h"
#include "hw/mkey.h"
#include "hw/qp_state.h"
#include "hw/srq.h"
#include <infiniband/verbs.h>

static void child_dies(struct bed *e)
{
	struct t_qp *b = child_qp(e, PRM_ST_RC, NULL);

	t_recv_at(b, 0, 100);
	t_rts(b, e->p.a);
	tell(e->tell[1]);
	await(e->go[0]);
	raise(SIGKILL);
}

static void peer_killed(void **state)
{
	struct bed *e = *state;

	spawn(e, child_dies);
	connect_to_child(e);
	tell(e->go[1]);
	reap(e);
	t_post(e->p.a, &(struct t_wr){.opcode = MLX5_OPCODE_SEND, .inl = "x", .inl_len = 1});
	t_assert_empty(&e->p.a->cq);
	for (int i = 0; i < 3; i++) {
		t_now += 100000000;
		eng_run_due(&e->p.t->s);
	}
	t_expect_error(e->p.a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR, 0);
}

static void child_dies_with_keys(struct bed *e)
{
	struct t_qp *b = child_qp(e, PRM_ST_RC, NULL);

	b->hw->born = 2;
	hw_mkey(&e->p.t->s, b->key)->born = 1;
	e->board->a_key =
		t_key(e->p.t, t_pdn(b), b->mem, 4096, HW_ACC_REMOTE_WRITE | HW_ACC_REMOTE_READ);
	hw_mkey(&e->p.t->s, e->board->a_key)->born = 3;
	t_rts(b, e->p.a);
	tell(e->tell[1]);
	await(e->go[0]);
	raise(SIGKILL);
}

/* Before anybody reaps it: objects go newest first. */
static void killed_with_keys(struct bed *e, uint32_t opcode, bool newer)
{
	struct t_qp *a = e->p.a;
	struct t_sge sge;

	spawn(e, child_dies_with_keys);
	connect_to_child(e);
	tell(e->go[1]);
	reap(e);
	sge = t_own(a, 0, 8);
	t_post(a, &(struct t_wr){.opcode = opcode,
				 .fm_ce_se = T_SIG,
				 .sge = &sge,
				 .nsge = 1,
				 .raddr = e->board->mem,
				 .rkey = newer ? e->board->a_key : e->board->key});
	if (newer) {
		t_expect_error(a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR, 0);
		return;
	}
	t_assert_empty(&a->cq);
	for (int i = 0; i < 3; i++) {
		t_now += 100000000;
		eng_run_due(&e->p.t->s);
	}
	t_expect_error(a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR, 0);
}

static void a_killed_peers_newer_key_refuses(void **state)
{
	killed_with_keys(*state, MLX5_OPCODE_RDMA_WRITE, true);
}

static void a_killed_peers_newer_key_refuses_reads(void **state)
{
	killed_with_keys(*state, MLX5_OPCODE_RDMA_READ, true);
}

static void a_killed_peers_newer_qp_does_not_answer(void **state)
{
	killed_with_keys(*state, MLX5_OPCODE_RDMA_WRITE, false);
}

/* Make the CQE of b's receive 0 as the dying process left it. */
static void half_receive(struct bed *e, bool counted_by_cq)
{
	struct seg *s = &e->p.t->s;
	struct t_qp *b = e->p.b;
	struct cq_held h;
	struct eng_cqe c;

	CHECK(!resp_lock(s, b->hw, b->qpn));
	cqe_init(&c, CQE_RESP_SEND, b->hw, b->qpn, 0);
	LAYOUT_SET(cqe64, c.b, byte_cnt, 3);
	CHECK(!cq_begin(s, b->cq.cqn, &c, &h));
	resp_intent(b->hw, b->cq.cqn, h.pi);
	CHECK(!cq_write(s, &h, &c));
	if (counted_by_cq) { /* in resp_complete()'s order */
		resp_written(s, b->hw, b->cq.cqn, h.pi, c.b);
		cq_commit(s, &h, false);
	}
	raise(SIGKILL);
}

static void child_dies_before_cq_counts(struct bed *e)
{
	half_receive(e, false);
}

static void child_dies_before_rq_counts(struct bed *e)
{
	half_receive(e, true);
}

static void after_half_receive(struct bed *e)
{
	t_post(e->p.a, &(struct t_wr){.opcode = MLX5_OPCODE_SEND, .inl = "next", .inl_len = 4});
	assert_int_equal(e->p.a->hw->park, HW_PARK_NO);
	/* The program sees each receive once. */
	t_received(e->p.b, MLX5_CQE_RESP_SEND, 3, 0);
	t_received(e->p.b, MLX5_CQE_RESP_SEND, 4, 1);
	t_assert_empty(&e->p.b->cq);
	assert_memory_equal(e->p.b->mem + 100, "next", 4);
	assert_int_equal((uint32_t)e->p.b->hw->rx_intent, 0);
}

static void killed_in_a_receive(void **state)
{
	struct bed *e = *state;

	t_recv_at(e->p.b, 0, 100);
	t_recv_at(e->p.b, 100, 100);
	spawn(e, child_dies_before_cq_counts);
	reap(e);
	after_half_receive(e);
}

static void killed_in_a_receive_later(void **state)
{
	struct bed *e = *state;

	t_recv_at(e->p.b, 0, 100);
	t_recv_at(e->p.b, 100, 100);
	spawn(e, child_dies_before_rq_counts);
	reap(e);
	after_half_receive(e);
}

/* A command repairs the queue: it does not flush the receive that the dead sender completed. */
static void killed_in_a_receive_then_err(void **state)
{
	struct bed *e = *state;

	t_recv_at(e->p.b, 0, 100);
	t_recv_at(e->p.b, 100, 100);
	spawn(e, child_dies_before_rq_counts);
	reap(e);
	assert_int_equal(eng_qp_set_state(&e->p.t->s, e->p.b->qpn, PRM_QP_STATE_ERR), 0);
	t_received(e->p.b, MLX5_CQE_RESP_SEND, 3, 0);
	t_expect_error(e->p.b, MLX5_CQE_RESP_ERR, MLX5_CQE_SYNDROME_WR_FLUSH_ERR, 1);
	t_assert_empty(&e->p.b->cq);
}

/* The child dies before it writes anything: the receive is still posted. */
static void child_dies_before_cqe(struct bed *e)
{
	CHECK(!resp_lock(&e->p.t->s, e->p.b->hw, e->p.b->qpn));
	resp_intent(e->p.b->hw, e->p.b->cq.cqn, atomic_load(&e->p.b->cq.hw->pi));
	CHECK(!seg_lock(&e->p.t->s, &e->p.b->cq.hw->lock, 0));
	raise(SIGKILL);
}

static void killed_before_the_cqe(void **state)
{
	struct bed *e = *state;

	t_recv_at(e->p.b, 0, 100);
	spawn(e, child_dies_before_cqe);
	reap(e);
	t_post(e->p.a, &(struct t_wr){.opcode = MLX5_OPCODE_SEND, .inl = "next", .inl_len = 4});
	t_received(e->p.b, MLX5_CQE_RESP_SEND, 4, 0);
	t_assert_empty(&e->p.b->cq);
}

/* Another process that takes the dead one's lock over finds the CQ's memory out of reach. */
static void child_uses_the_cq(struct bed *e)
{
	struct eng_cqe c;

	cqe_init(&c, CQE_REQ, e->p.b->hw, e->p.b->qpn, 0);
	for (int i = 0; i < 2; i++)
		CHECK(cq_push(&e->p.t->s, e->p.b->cq.cqn, &c, false) == -ETIMEDOUT);
}

static void pages_move_after_a_kill(struct bed *e)
{
	struct seg_proc *self = seg_proc(&e->p.t->s, e->p.t->s.self);

	t_recv_at(e->p.b, 0, 100);
	t_recv_at(e->p.b, 100, 100);
	spawn(e, child_dies_before_cq_counts);
	reap(e);
	atomic_store(&self->moving, 1);
	spawn(e, child_uses_the_cq);
	EXPECT_OK(e);
	atomic_store(&self->moving, 0);
}

static void killed_before_pages_move(void **state)
{
	struct bed *e = *state;

	pages_move_after_a_kill(e);
	after_half_receive(e);
}

/* The device thread repairs the CQ, though its lock is free. */
static void killed_before_pages_move_and_nobody_follows(void **state)
{
	struct bed *e = *state;

	pages_move_after_a_kill(e);
	eng_run_due(&e->p.t->s);
	assert_int_equal(atomic_load(&e->p.b->cq.hw->pi) & 0xffffff, 1);
}

static void child_dies_with_an_intent(struct bed *e)
{
	struct t_qp *b = e->p.b;

	CHECK(!resp_lock(&e->p.t->s, b->hw, b->qpn));
	resp_intent(b->hw, b->cq.cqn, atomic_load(&b->cq.hw->pi));
	raise(SIGKILL);
}

/* Who gets the lock and cannot repair has it no more: its unlock changes nothing. */
static void unlocked_after_a_failure(void **state)
{
	struct bed *e = *state;
	struct t_qp *b = e->p.b;
	struct seg *s = &e->p.t->s;
	uint64_t intent;

	spawn(e, child_dies_with_an_intent);
	reap(e);
	assert_int_equal(seg_lock(s, &b->cq.hw->lock, 0), 0);
	intent = b->hw->rx_intent;
	assert_int_equal(resp_lock(s, b->hw, b->qpn), -ETIMEDOUT);
	resp_unlock(s, b->hw);                              /* as after a late PSN */
	assert_true((b->hw->rx_intent ^ intent) << 8 == 0); /* but for its tag */
	seg_unlock(s, &b->cq.hw->lock);
	assert_int_equal(resp_lock(s, b->hw, b->qpn), 0);
	assert_int_equal((uint32_t)b->hw->rx_intent, 0);
	resp_unlock(s, b->hw);
}

static void child_dies_with_an_entry(struct bed *e)
{
	CHECK(!seg_lock(&e->p.t->s, &e->p.b->hw->rq_lock, 0));
	raise(SIGKILL);
}

/* Who inherits the lock with its gate shut does nothing; the device thread repairs. */
static void inherited_with_a_shut_gate(void **state)
{
	struct bed *e = *state;
	struct t_qp *b = e->p.b;
	struct seg *s = &e->p.t->s;
	struct t_sge to = t_own(b, 4096, 64);
	struct seg_ring *ring;
	struct t_srq srq;
	struct hw_tm *tm;

	t_srq_make(e->p.t, &srq, e->p.t->pd[1]);
	tm = tm_make(e->p.t, &srq, &b->cq);
	tm_entry(tm, 0, 5, &to);
	b->hw->srqn = srq.srqn;
	b->hw->rx_srqn = srq.srqn;
	b->hw->rx_srq_wqe = 1 + TM_NOTE;
	tm->tag[0].state = hw_tm_state(tm->tag[0].state, HW_TM_TAKEN, b->qpn, 1);
	spawn(e, child_dies_with_an_entry);
	reap(e);
	ring = running_enter(s, e->p.a->qpn);
	ring->gate.v[0].iov_len |= GATE_REVOKED;
	assert_int_equal(resp_lock(s, b->hw, b->qpn), -ECANCELED);
	running_leave(ring);
	assert_int_equal(HW_TM_KIND(tm->tag[0].state), HW_TM_TAKEN);
	eng_run_due(s);
	assert_int_equal(HW_TM_KIND(tm->tag[0].state), HW_TM_POSTED);
	assert_int_equal(b->hw->rx_srq_wqe, 0);
	assert_int_equal((uint32_t)b->hw->rx_intent, 0);
	assert_int_equal(b->hw->rq_lock.word, 0);
}

static void child_dies_with_sq(struct bed *e)
{
	CHECK(!seg_lock(&e->p.t->s, &e->p.a->hw->sq_lock, 0));
	raise(SIGKILL);
}

/* The send queue's state is lost with its holder: the QP enters ERR and raises an event. */
static void killed_with_the_send_queue(void **state)
{
	struct bed *e = *state;

	t_recv_at(e->p.a, 0, 8);
	spawn(e, child_dies_with_sq);
	reap(e);
	t_post(e->p.a, &(struct t_wr){.opcode = MLX5_OPCODE_NOP, .fm_ce_se = T_SIG});
	t_expect_error(e->p.a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_WR_FLUSH_ERR, 0);
	t_expect_error(e->p.a, MLX5_CQE_RESP_ERR, MLX5_CQE_SYNDROME_WR_FLUSH_ERR, 0);
	assert_int_equal(t_event(e->p.t, e->p.a->evq), IBV_EVENT_QP_FATAL);
}

static struct t_srq dead_srq;

static void child_dies_with_srq(struct bed *e)
{
	struct hw_qp *b = e->p.b->hw;

	CHECK(!seg_lock(&e->p.t->s, &dead_srq.hw->lock, 0));
	b->rx_srqn = dead_srq.srqn;
	b->rx_srq_wqe = dead_srq.hw->head + 1;
	raise(SIGKILL);
}

static void child_dies_with_both(struct bed *e)
{
	CHECK(!seg_lock(&e->p.t->s, &e->p.b->hw->rq_lock, 0));
	child_dies_with_srq(e);
}

/* Makes an SRQ with three receives for b and a second pair; `child` dies at work on it. */
static struct t_pair kill_with_srq(struct bed *e, void (*child)(struct bed *e))
{
	struct t_pair o = {.t = e->p.t};

	t_srq_make(o.t, &dead_srq, o.t->pd[1]);
	e->p.b->hw->srqn = dead_srq.srqn;
	o.a = t_qp_make(o.t, 0, PRM_ST_RC, NULL);
	o.b = t_qp_make(o.t, 1, PRM_ST_RC, &dead_srq);
	t_connect(o.a, o.b);
	for (int i = 0; i < 3; i++)
		t_srq_post(&dead_srq, o.b->key, o.b->mem, 64);
	spawn(e, child);
	reap(e);
	return o;
}

static void send_to_srq(const struct t_pair *o)
{
	t_post(o->a, &(struct t_wr){.opcode = MLX5_OPCODE_SEND, .inl = "x", .inl_len = 1});
}

static void drop(struct t_pair *o)
{
	t_qp_free(o->a);
	t_qp_free(o->b);
}

/* The QP for which the WQE was taken continues first; it finds the WQE without reading the SRQ. */
static void killed_with_the_srq_by_its_qp(void **state)
{
	struct bed *e = *state;
	struct t_pair o = kill_with_srq(e, child_dies_with_both);

	assert_int_equal(eng_qp_set_state(&e->p.t->s, e->p.b->qpn, PRM_QP_STATE_ERR), 0);
	assert_int_equal(dead_srq.hw->consumed, 1);
	send_to_srq(&o);
	t_received(o.b, MLX5_CQE_RESP_SEND, 1, 5);
	drop(&o);
}

/* Another QP continues with the SRQ; the WQE that was taken for b remains b's. */
static void killed_with_the_srq(void **state)
{
	struct bed *e = *state;
	struct t_pair o = kill_with_srq(e, child_dies_with_srq);

	send_to_srq(&o);
	t_received(o.b, MLX5_CQE_RESP_SEND, 1, 5);
	t_post(e->p.a, &(struct t_wr){.opcode = MLX5_OPCODE_SEND, .inl = "y", .inl_len = 1});
	t_received(e->p.b, MLX5_CQE_RESP_SEND, 1, 0);
	drop(&o);
}

/*
 * One sender dies when its receive is completed, before it clears the note; the program posts the
 * WQE again, and another sender dies with the SRQ.
 */
static void child_dies_with_a_written_receive(struct bed *e)
{
	struct t_qp *b = e->p.b;

	CHECK(!resp_lock(&e->p.t->s, b->hw, b->qpn));
	CHECK(resp_note(b->hw, dead_srq.hw->head + 1, dead_srq.srqn));
	resp_intent(b->hw, b->cq.cqn, atomic_load(&b->cq.hw->pi));
	resp_written(&e->p.t->s, b->hw, b->cq.cqn, 0, NULL);
	CHECK(!seg_lock(&e->p.t->s, &dead_srq.hw->lock, 0));
	raise(SIGKILL);
}

/* The WQE is at the head: it is not taken. */
static void killed_with_the_srq_beside_a_late_note(void **state)
{
	struct bed *e = *state;
	struct t_pair o = kill_with_srq(e, child_dies_with_a_written_receive);

	send_to_srq(&o);
	t_received(o.b, MLX5_CQE_RESP_SEND, 1, 0);
	assert_int_equal(eng_qp_set_state(&e->p.t->s, e->p.b->qpn, PRM_QP_STATE_ERR), 0);
	assert_int_equal(e->p.b->hw->rx_srq_wqe, 0);
	assert_int_equal(dead_srq.hw->consumed, 1);
	t_assert_empty(&e->p.b->cq);
	drop(&o);
}

/* The first to take the lock may be a thread that sets a limit: the WQE stays taken. */
static void killed_with_the_srq_before_a_limit(void **state)
{
	struct bed *e = *state;
	uint32_t first;

	t_srq_make(e->p.t, &dead_srq, e->p.t->pd[1]);
	for (int i = 0; i < 3; i++)
		t_srq_post(&dead_srq, e->p.b->key, e->p.b->mem, 64);
	first = be16toh(((struct mlx5_wqe_srq_next_seg *)dead_srq.buf)->next_wqe_index);
	for (uint32_t cyclic = 0; cyclic < 2; cyclic++) {
		dead_srq.hw->wq_type = cyclic;
		dead_srq.hw->head = dead_srq.hw->consumed = 0;
		spawn(e, child_dies_with_srq);
		reap(e);
		assert_int_equal(eng_srq_arm_limit(&e->p.t->s, dead_srq.srqn, 1), 0);
		assert_int_equal(dead_srq.hw->consumed, 1);
		assert_int_equal(dead_srq.hw->head, cyclic ? 1 : first);
	}
}

/* ---- an SRQ of which every WQE is in hand */

static void child_dies_with_the_lock(struct bed *e)
{
	CHECK(!seg_lock(&e->p.t->s, &dead_srq.hw->lock, 0));
	raise(SIGKILL);
}

static void child_stops_with_the_lock(struct bed *e)
{
	CHECK(!seg_lock(&e->p.t->s, &dead_srq.hw->lock, 0));
	raise(SIGSTOP);
}

/* b has the WQE at the head in hand since the last round, and nothing is posted. */
static void in_hand(struct bed *e, uint32_t cyclic)
{
	struct t_qp *b = e->p.b;

	t_srq_make(e->p.t, &dead_srq, e->p.t->pd[1]);
	dead_srq.hw->wq_type = (uint16_t)cyclic;
	for (int i = 0; i < 16; i++)
		t_srq_post(&dead_srq, b->key, b->mem, 64);
	dead_srq.hw->consumed = 16;
	dead_srq.hw->dbr_seen = 16;
	b->hw->srqn = dead_srq.srqn;
	b->hw->rx_srqn = dead_srq.srqn;
	b->hw->rx_srq_wqe = 1;
}

static void still_in_hand(struct bed *e)
{
	assert_int_equal(eng_srq_arm_limit(&e->p.t->s, dead_srq.srqn, 0), 0);
	assert_int_equal(dead_srq.hw->consumed, 16);
	assert_int_equal(dead_srq.hw->head, 0);
	assert_int_equal(e->p.b->hw->rx_srq_wqe, 1);
}

static void killed_with_an_srq_in_hand(void **state)
{
	struct bed *e = *state;

	for (uint32_t cyclic = 0; cyclic < 2; cyclic++) {
		in_hand(e, cyclic);
		spawn(e, child_dies_with_the_lock);
		reap(e);
		still_in_hand(e);
	}
}

static void stopped_with_an_srq_in_hand(void **state)
{
	struct bed *e = *state;
	int status;

	for (uint32_t cyclic = 0; cyclic < 2; cyclic++) {
		in_hand(e, cyclic);
		spawn(e, child_stops_with_the_lock);
		assert_int_equal(waitpid(e->pid, &status, WUNTRACED), e->pid);
		still_in_hand(e);
		kill(e->pid, SIGKILL);
		reap(e);
	}
}

/* ---- a limit that the heir of the lock cannot check */

/* One receive was taken, and the limit was to be checked next. */
static void child_dies_before_the_limit(struct bed *e)
{
	CHECK(!seg_lock(&e->p.t->s, &dead_srq.hw->lock, 0));
	dead_srq.hw->head = 5;
	dead_srq.hw->consumed = 1;
	raise(SIGKILL);
}

static void child_inherits_the_lock(struct bed *e)
{
	eng_srq_arm_limit(&e->p.t->s, dead_srq.srqn, 3);
}

/* The SRQ's memory is out of reach for the heir: the device thread of its process looks. */
static void killed_before_the_limit_and_pages_move(void **state)
{
	struct bed *e = *state;
	struct seg *s = &e->p.t->s;
	struct seg_proc *self = seg_proc(s, s->self);
	uint32_t evq = t_evq(e->p.t);

	t_srq_make(e->p.t, &dead_srq, e->p.t->pd[1]);
	dead_srq.hw->async.evq_gen = *(uint32_t *)seg_at(s, SEG_T_EVQ, evq);
	atomic_store(&dead_srq.hw->async.evq, evq);
	for (int i = 0; i < 3; i++)
		t_srq_post(&dead_srq, e->p.b->key, e->p.b->mem, 64);
	assert_int_equal(eng_srq_arm_limit(s, dead_srq.srqn, 3), 0);
	spawn(e, child_dies_before_the_limit);
	reap(e);
	atomic_store(&self->moving, 1);
	spawn(e, child_inherits_the_lock);
	EXPECT_OK(e);
	atomic_store(&self->moving, 0);
	assert_int_equal(t_event(e->p.t, evq), -1);
	eng_run_due(s);
	assert_int_equal(t_event(e->p.t, evq), IBV_EVENT_SRQ_LIMIT_REACHED);
	eng_run_due(s);
	assert_int_equal(t_event(e->p.t, evq), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BED_TEST(peer_killed),
		BED_TEST(a_killed_peers_newer_key_refuses),
		BED_TEST(a_killed_peers_newer_key_refuses_reads),
		BED_TEST(a_killed_peers_newer_qp_does_not_answer),
		BED_TEST(killed_in_a_receive),
		BED_TEST(killed_in_a_receive_later),
		BED_TEST(killed_in_a_receive_then_err),
		BED_TEST(killed_before_the_cqe),
		BED_TEST(killed_before_pages_move),
		BED_TEST(killed_before_pages_move_and_nobody_follows),
		BED_TEST(inherited_with_a_shut_gate),
		BED_TEST(unlocked_after_a_failure),
		BED_TEST(killed_with_the_send_queue),
		BED_TEST(killed_with_the_srq),
		BED_TEST(killed_with_the_srq_by_its_qp),
		BED_TEST(killed_with_the_srq_beside_a_late_note),
		BED_TEST(killed_with_the_srq_before_a_limit),
		BED_TEST(killed_with_an_srq_in_hand),
		BED_TEST(stopped_with_an_srq_in_hand),
		BED_TEST(killed_before_the_limit_and_pages_move),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
