/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared receive queues: order, limits, and receives taken but not completed. */
#include "engine/test.h"
#include "hw/cq.h"
#include "hw/qp.h"
#include "hw/qp_state.h"
#include "hw/srq.h"
#include <infiniband/verbs.h>
#include <pthread.h>
#include <semaphore.h>

struct srq_bed {
	struct tb *t;
	struct t_srq srq;
	struct t_qp *a[2], *b[2]; /* both b use the SRQ */
};

static int srq_setup(void **state)
{
	struct srq_bed *p = calloc(1, sizeof(*p));

	p->t = tb_create();
	t_srq_make(p->t, &p->srq, p->t->pd[1]);
	for (int i = 0; i < 2; i++) {
		p->a[i] = t_qp_make(p->t, 0, PRM_ST_RC, NULL);
		p->b[i] = t_qp_make(p->t, 1, PRM_ST_RC, &p->srq);
		t_connect(p->a[i], p->b[i]);
	}
	*state = p;
	return 0;
}

static int srq_teardown(void **state)
{
	struct srq_bed *p = *state;

	for (int i = 0; i < 2; i++) {
		t_qp_free(p->a[i]);
		t_qp_free(p->b[i]);
	}
	tb_destroy(p->t);
	free(p);
	return 0;
}

static void send_inline(struct t_qp *q, const char *text)
{
	t_post(q, &(struct t_wr){.opcode = MLX5_OPCODE_SEND,
				 .inl = text,
				 .inl_len = (uint32_t)strlen(text)});
}

static void srq_follows_the_list(void **state)
{
	struct srq_bed *p = *state;
	static const uint32_t order[4] = {0, 5, 10, 15};

	for (int i = 0; i < 4; i++)
		t_srq_post(&p->srq, p->b[0]->key, p->b[0]->mem + i * 64, 64);
	for (int i = 0; i < 4; i++) {
		struct t_qp *to = p->b[i & 1];

		send_inline(p->a[i & 1], "hello");
		t_received(to, MLX5_CQE_RESP_SEND, 5, order[i]);
		assert_memory_equal(p->b[0]->mem + i * 64, "hello", 5);
	}
	/* Empty: RNR. */
	send_inline(p->a[0], "late");
	t_assert_empty(&p->b[0]->cq);
	assert_int_equal(t_park(p->a[0]), HW_PARK_RNR);
}

/* Many more messages than places; the list is relinked as libmlx5 does on completion. */
static void srq_goes_round(void **state)
{
	struct srq_bed *p = *state;
	uint32_t tail = 15u * 5 & 15; /* the last entry of the list: 16 steps of 5 */
	uint32_t order = 0;

	for (uint32_t i = 0; i < 15; i++)
		t_srq_post(&p->srq, p->b[0]->key, p->b[0]->mem, 64);
	for (uint32_t i = 0; i < 70000; i++) {
		struct mlx5_wqe_srq_next_seg *n = (void *)(p->srq.buf + (tail << 6));
		struct mlx5_cqe64 *c;

		send_inline(p->a[0], "x");
		c = t_poll(&p->b[0]->cq);
		assert_non_null(c);
		if (i < 16)
			assert_int_equal(be16toh(c->wqe_counter), order);
		order = (order + 5) & 15;
		n->next_wqe_index = c->wqe_counter;
		tail = be16toh(c->wqe_counter);
		t_srq_post(&p->srq, p->b[0]->key, p->b[0]->mem, 64);
	}
}

/* A cyclic SRQ is used in order, whatever its next segments contain. */
static void srq_that_is_cyclic(void **state)
{
	struct srq_bed *p = *state;

	p->srq.hw->wq_type = 1;
	for (uint32_t i = 0; i < 15; i++) {
		p->srq.head = i;
		t_srq_post(&p->srq, p->b[0]->key, p->b[0]->mem + i * 64, 64);
	}
	for (uint32_t i = 0; i < 70000; i++) {
		send_inline(p->a[0], "hello");
		t_received(p->b[0], MLX5_CQE_RESP_SEND, 5, i & 15);
		if (i < 15)
			assert_memory_equal(p->b[0]->mem + i * 64, "hello", 5);
		p->srq.head = (i + 15) & 15;
		t_srq_post(&p->srq, p->b[0]->key, p->b[0]->mem, 64);
	}
}

static void srq_limit(void **state)
{
	struct srq_bed *p = *state;
	uint32_t evq = t_evq(p->t);

	p->srq.hw->async.evq_gen = *(uint32_t *)seg_at(&p->t->s, SEG_T_EVQ, evq);
	atomic_store(&p->srq.hw->async.evq, evq);
	for (int i = 0; i < 4; i++)
		t_srq_post(&p->srq, p->b[0]->key, p->b[0]->mem, 64);
	assert_int_equal(eng_srq_arm_limit(&p->t->s, p->srq.srqn, 3), 0);
	send_inline(p->a[0], "1");
	assert_int_equal(t_event(p->t, evq), -1);
	send_inline(p->a[0], "2");
	assert_int_equal(t_event(p->t, evq), IBV_EVENT_SRQ_LIMIT_REACHED);
	send_inline(p->a[0], "3");
	assert_int_equal(t_event(p->t, evq), -1); /* one shot */
	assert_int_equal(hw_srq_limit(p->srq.hw), 0);
	assert_int_equal(eng_srq_arm_limit(&p->t->s, p->srq.srqn, 3), 0);
	/* already below the limit */
	assert_int_equal(t_event(p->t, evq), IBV_EVENT_SRQ_LIMIT_REACHED);
}

static void srq_last_wqe(void **state)
{
	struct srq_bed *p = *state;

	t_srq_post(&p->srq, p->b[0]->key, p->b[0]->mem, 64);
	assert_int_equal(eng_qp_set_state(&p->t->s, p->b[0]->qpn, PRM_QP_STATE_ERR), 0);
	assert_int_equal(t_event(p->t, p->b[0]->evq), IBV_EVENT_QP_LAST_WQE_REACHED);
	t_ring(p->b[0]);
	assert_int_equal(t_event(p->t, p->b[0]->evq), -1);
	t_assert_empty(&p->b[0]->cq); /* the receives of the SRQ stay */
	send_inline(p->a[1], "other");
	t_received(p->b[1], MLX5_CQE_RESP_SEND, 5, 0);
}

/* A receive taken for a message whose CQ is locked is not lost: the next attempt uses it. */
static void srq_wqe_in_hand(void **state)
{
	struct srq_bed *p = *state;
	struct hw_cq *cq = p->b[0]->cq.hw;

	t_srq_post(&p->srq, p->b[0]->key, p->b[0]->mem, 64);
	t_srq_post(&p->srq, p->b[0]->key, p->b[0]->mem, 64);
	assert_int_equal(seg_lock(&p->t->s, &cq->lock, 0), 0);
	send_inline(p->a[0], "wait");
	assert_int_equal(t_park(p->a[0]), HW_PARK_LOCK);
	assert_int_equal(t_srq_wqe(p->b[0]), 1);
	assert_int_equal(p->srq.hw->consumed, 1);
	seg_unlock(&p->t->s, &cq->lock);
	t_now += 2000000;
	eng_run_due(&p->t->s);
	t_received(p->b[0], MLX5_CQE_RESP_SEND, 4, 0);
	assert_int_equal(p->srq.hw->consumed, 1);
	assert_int_equal(t_srq_wqe(p->b[0]), 0);
	/* A reset returns the receive to its SRQ, too. */
	assert_int_equal(seg_lock(&p->t->s, &cq->lock, 0), 0);
	send_inline(p->a[0], "wait");
	assert_int_equal(p->srq.hw->consumed, 2);
	seg_unlock(&p->t->s, &cq->lock);
	assert_int_equal(eng_qp_quiesce(&p->t->s, p->b[0]->qpn), 0);
	assert_int_equal(p->srq.hw->consumed, 1);
	send_inline(p->a[1], "next");
	t_received(p->b[1], MLX5_CQE_RESP_SEND, 4, 5);
}

/* ---- a holder that waits for a processor, longer than a message waits for it */

struct holder {
	struct seg *s;
	struct seg_lock *l;
	pthread_t t;
	sem_t has;
};

static void *holds(void *arg)
{
	const struct timespec nap = {0, 10 * SEG_LOCK_DATA_NS};
	struct holder *h = arg;

	if (!seg_lock(h->s, h->l, 0))
		sem_post(&h->has);
	nanosleep(&nap, NULL); /* longer than the others may wait */
	seg_unlock(h->s, h->l);
	return NULL;
}

static void holder_waits(struct holder *h, struct srq_bed *p)
{
	*h = (struct holder){.s = &p->t->s, .l = &p->srq.hw->lock};
	sem_init(&h->has, 0, 0);
	assert_int_equal(pthread_create(&h->t, NULL, holds, h), 0);
	sem_wait(&h->has);
}

static void an_arm_waits_for_a_holder(void **state)
{
	struct srq_bed *p = *state;
	struct holder h;

	holder_waits(&h, p);
	assert_int_equal(eng_srq_arm_limit(&p->t->s, p->srq.srqn, 3), 0);
	pthread_join(h.t, NULL);
}

/* The receive in hand is not lost. */
static void a_reset_waits_for_a_holder(void **state)
{
	struct srq_bed *p = *state;
	struct hw_cq *cq = p->b[0]->cq.hw;
	struct holder h;

	t_srq_post(&p->srq, p->b[0]->key, p->b[0]->mem, 64);
	assert_int_equal(seg_lock(&p->t->s, &cq->lock, 0), 0);
	send_inline(p->a[0], "wait");
	assert_int_equal(p->srq.hw->consumed, 1);
	seg_unlock(&p->t->s, &cq->lock);
	holder_waits(&h, p);
	assert_int_equal(eng_qp_quiesce(&p->t->s, p->b[0]->qpn), 0);
	pthread_join(h.t, NULL);
	assert_int_equal(p->srq.hw->consumed, 0);
	send_inline(p->a[1], "next");
	t_received(p->b[1], MLX5_CQE_RESP_SEND, 4, 0);
}

/* Whoever was stopped with the SRQ that had the number before finds other words. */
static void a_number_used_anew(void **state)
{
	struct srq_bed *p = *state;
	struct hw_srq *srq = p->srq.hw, was = *srq;

	seg_free(&p->t->s, SEG_T_SRQ, p->srq.srqn);
	assert_int_equal(seg_alloc_at(&p->t->s, SEG_T_SRQ, T_OWNER, p->srq.srqn), 0);
	eng_srq_created(srq);
	assert_int_not_equal(srq->turn, was.turn);
	assert_int_not_equal(srq->lwm, was.lwm);
	assert_int_not_equal(srq->kept, was.kept);
	assert_int_not_equal(srq->lock.inherited, was.lock.inherited);
	assert_int_equal(hw_srq_limit(srq), 0);
	assert_int_equal(srq->lwm & (HW_LWM_OWES | HW_LWM_OWES_DEVX), 0);
}

/* The same of a QP's responder: all of its words, and the lock itself. */
static void a_qp_number_used_anew(void **state)
{
	struct srq_bed *p = *state;
	struct hw_qp *qp = p->b[1]->hw, was = *qp;

	seg_free(&p->t->s, SEG_T_QP, p->b[1]->qpn);
	assert_int_equal(seg_alloc_at(&p->t->s, SEG_T_QP, T_OWNER, p->b[1]->qpn), 0);
	eng_qp_created(qp);
	assert_int_not_equal(qp->rx_turn, was.rx_turn);
	assert_int_not_equal(qp->msn, was.msn);
	assert_int_not_equal(qp->rx_srqn >> 24, was.rx_srqn >> 24);
	assert_int_not_equal(qp->rx_n, was.rx_n);
	assert_int_not_equal(qp->rx_intent >> 56, was.rx_intent >> 56);
	assert_int_not_equal(qp->mig, was.mig);
	assert_int_not_equal(qp->rq_lock.inherited, was.rq_lock.inherited);
}

int main(void)
{
#define S(f) cmocka_unit_test_setup_teardown(f, srq_setup, srq_teardown)
	const struct CMUnitTest tests[] = {
		S(srq_follows_the_list),
		S(srq_goes_round),
		S(srq_that_is_cyclic),
		S(srq_limit),
		S(srq_last_wqe),
		S(srq_wqe_in_hand),
		S(a_number_used_anew),
		S(a_qp_number_used_anew),
		S(an_arm_waits_for_a_holder),
		S(a_reset_waits_for_a_holder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
