/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared receive queues, datagrams, and completion queues: arming, overrun, sizes, resizing. */
#include "engine/test.h"
#include <infiniband/verbs.h>

/* ---- SRQ */

struct srq_bed {
	struct tb *t;
	struct t_srq srq;
	struct t_qp *a[2], *b[2]; /* the b's share the SRQ */
};

static int srq_setup(void **state)
{
	struct srq_bed *p = calloc(1, sizeof(*p));

	p->t = tb_create();
	t_srq_make(p->t, &p->srq, p->t->pd[1]);
	for (int i = 0; i < 2; i++) {
		p->a[i] = t_qp_make(p->t, 0, HW_ST_RC, NULL);
		p->b[i] = t_qp_make(p->t, 1, HW_ST_RC, &p->srq);
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
	assert_int_equal(p->a[0]->hw->park, HW_PARK_RNR);
}

/* Many more than the queue has places, the list relinked as libmlx5 does on completion. */
static void srq_goes_round(void **state)
{
	struct srq_bed *p = *state;
	uint32_t tail = 15u * 5 & 15; /* the last of the list: 16 steps of 5 */
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

/* A cyclic one is taken in its own order, whatever its next segments say. */
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
	assert_int_equal(p->srq.hw->lwm, 0);
	assert_int_equal(eng_srq_arm_limit(&p->t->s, p->srq.srqn, 3), 0);
	assert_int_equal(t_event(p->t, evq), IBV_EVENT_SRQ_LIMIT_REACHED); /* low already */
}

static void srq_last_wqe(void **state)
{
	struct srq_bed *p = *state;

	t_srq_post(&p->srq, p->b[0]->key, p->b[0]->mem, 64);
	assert_int_equal(eng_qp_set_state(&p->t->s, p->b[0]->qpn, HW_QPS_ERR), 0);
	assert_int_equal(t_event(p->t, p->b[0]->evq), IBV_EVENT_QP_LAST_WQE_REACHED);
	t_ring(p->b[0]);
	assert_int_equal(t_event(p->t, p->b[0]->evq), -1);
	t_assert_empty(&p->b[0]->cq); /* the SRQ's receives stay */
	send_inline(p->a[1], "other");
	t_received(p->b[1], MLX5_CQE_RESP_SEND, 5, 0);
}

/* Taken for a message whose CQ is locked by somebody else: not lost, used by the next attempt. */
static void srq_wqe_in_hand(void **state)
{
	struct srq_bed *p = *state;
	struct hw_cq *cq = p->b[0]->cq.hw;

	t_srq_post(&p->srq, p->b[0]->key, p->b[0]->mem, 64);
	t_srq_post(&p->srq, p->b[0]->key, p->b[0]->mem, 64);
	assert_int_equal(seg_lock(&p->t->s, &cq->lock, 0), 0);
	send_inline(p->a[0], "wait");
	assert_int_equal(p->a[0]->hw->park, HW_PARK_LOCK);
	assert_int_equal(p->b[0]->hw->rx_srq_wqe, 1);
	assert_int_equal(p->srq.hw->consumed, 1);
	seg_unlock(&p->t->s, &cq->lock);
	t_now += 2000000;
	eng_run_due(&p->t->s);
	t_received(p->b[0], MLX5_CQE_RESP_SEND, 4, 0);
	assert_int_equal(p->srq.hw->consumed, 1);
	assert_int_equal(p->b[0]->hw->rx_srq_wqe, 0);
	/* And given back by a reset. */
	assert_int_equal(seg_lock(&p->t->s, &cq->lock, 0), 0);
	send_inline(p->a[0], "wait");
	assert_int_equal(p->srq.hw->consumed, 2);
	seg_unlock(&p->t->s, &cq->lock);
	assert_int_equal(eng_qp_quiesce(&p->t->s, p->b[0]->qpn), 0);
	assert_int_equal(p->srq.hw->consumed, 1);
	send_inline(p->a[1], "next");
	t_received(p->b[1], MLX5_CQE_RESP_SEND, 4, 5);
}

/* ---- UD */

static struct t_qp *ud_make(struct tb *t, uint32_t side)
{
	struct t_qp *q = t_qp_make(t, side, HW_ST_UD, NULL);

	t_rts(q, q);
	return q;
}

static void av_to(struct mlx5_wqe_av *av, struct t_qp *to)
{
	memset(av, 0, sizeof(*av));
	av->key.qkey.qkey = htobe32(to->hw->qkey);
	av->dqp_dct = htobe32(MLX5_EXTENDED_UD_AV | to->qpn);
	av->stat_rate_sl = 3;
	av->rlid = htobe16((uint16_t)hw_port(&to->t->s, to->hw->port)->lid);
}

static void ud_send(struct t_qp *q, const struct mlx5_wqe_av *av, uint8_t opcode, const char *text)
{
	t_post(q, &(struct t_wr){.opcode = opcode,
				 .fm_ce_se = T_SIG,
				 .av = av,
				 .imm = 0xabcd,
				 .inl = text,
				 .inl_len = (uint32_t)strlen(text)});
}

static void ud_without_grh(void **state)
{
	struct tb *t = *state;
	struct t_qp *a = ud_make(t, 0), *b = ud_make(t, 1);
	struct mlx5_wqe_av av;
	struct mlx5_cqe64 *c;

	av_to(&av, b);
	memset(b->mem, 0xcc, 100);
	t_recv_at(b, 0, 100);
	t_recv_at(b, 0, 100);
	ud_send(a, &av, MLX5_OPCODE_SEND, "datagram");
	c = t_received(b, MLX5_CQE_RESP_SEND, 48, 0);
	assert_int_equal(be32toh(c->flags_rqpn), 3u << 24 | a->qpn);
	assert_int_equal(be16toh(c->slid), hw_port(&t->s, t->port[0])->lid);
	assert_int_equal(be32toh(c->imm_inval_pkey), 0); /* the P_Key's index */
	assert_int_equal(b->mem[0], 0xcc);               /* no GRH: its place is left alone */
	assert_int_equal(b->mem[39], 0xcc);
	assert_memory_equal(b->mem + 40, "datagram\xcc", 9);
	t_expect_done(a, MLX5_OPCODE_SEND, 0);
	ud_send(a, &av, MLX5_OPCODE_SEND_IMM, "imm");
	c = t_received(b, MLX5_CQE_RESP_SEND_IMM, 43, 1);
	assert_int_equal(be32toh(c->imm_inval_pkey), 0xabcd);
	t_qp_free(a);
	t_qp_free(b);
}

static void ud_with_grh(void **state)
{
	struct tb *t = *state;
	struct t_qp *a = ud_make(t, 0), *b = ud_make(t, 1);
	struct hw_port *pa = hw_port(&t->s, t->port[0]), *pb = hw_port(&t->s, t->port[1]);
	struct t_sge to[2] = {t_own(b, 0, 30), t_own(b, 1000, 60)};
	struct mlx5_wqe_av av;
	struct mlx5_cqe64 *c;
	struct ibv_grh grh;

	av_to(&av, b);
	av.grh_gid_fl = htobe32(1u << 30 | 0x12345);
	av.tclass = 0x21;
	av.hop_limit = 64;
	memcpy(av.rgid, pb->gid[0], 16);
	t_recv(b, to, 2); /* the GRH lies across two buffers */
	ud_send(a, &av, MLX5_OPCODE_SEND, "with grh.");
	c = t_received(b, MLX5_CQE_RESP_SEND, 49, 0);
	assert_int_equal(be32toh(c->flags_rqpn) >> 28 & 3, 1);
	memcpy(&grh, b->mem, 30);
	memcpy((uint8_t *)&grh + 30, b->mem + 1000, 10);
	assert_int_equal(be32toh(grh.version_tclass_flow), 6u << 28 | 0x21 << 20 | 0x12345);
	assert_int_equal(be16toh(grh.paylen), 24 + 12);
	assert_int_equal(grh.next_hdr, 0x1b);
	assert_int_equal(grh.hop_limit, 64);
	assert_memory_equal(&grh.sgid, pa->gid[0], 16);
	assert_memory_equal(&grh.dgid, pb->gid[0], 16);
	assert_memory_equal(b->mem + 1010, "with grh.", 9);
	/* A GRH for somebody else. */
	av.rgid[15] ^= 1;
	t_recv_at(b, 0, 100);
	ud_send(a, &av, MLX5_OPCODE_SEND, "lost");
	t_assert_empty(&b->cq);
	/* No LID, but the GID finds the port. */
	av.rgid[15] ^= 1;
	av.rlid = 0;
	ud_send(a, &av, MLX5_OPCODE_SEND, "by gid");
	t_received(b, MLX5_CQE_RESP_SEND, 46, 1);
	t_qp_free(a);
	t_qp_free(b);
}

/* What is dropped without a word: the sender completes all the same. */
static void ud_drops(void **state)
{
	struct tb *t = *state;
	struct t_qp *a = ud_make(t, 0), *b = ud_make(t, 1);
	struct mlx5_wqe_av good, av;

	av_to(&good, b);
	ud_send(a, &good, MLX5_OPCODE_SEND, "no receive");
	t_expect_done(a, MLX5_OPCODE_SEND, 0);
	t_recv_at(b, 0, 100);
	av = good;
	av.key.qkey.qkey = htobe32(0x22222222);
	ud_send(a, &av, MLX5_OPCODE_SEND, "wrong Q_Key");
	av = good;
	av.dqp_dct = htobe32(MLX5_EXTENDED_UD_AV | 0xfffff0);
	ud_send(a, &av, MLX5_OPCODE_SEND, "wrong QP");
	av = good;
	av.rlid = htobe16(999);
	ud_send(a, &av, MLX5_OPCODE_SEND, "wrong LID");
	av = good;
	av.rlid = htobe16((uint16_t)hw_port(&t->s, t->port[0])->lid);
	ud_send(a, &av, MLX5_OPCODE_SEND, "wrong port");
	hw_port(&t->s, t->port[1])->pkey[0] = 0x1234;
	ud_send(a, &good, MLX5_OPCODE_SEND, "wrong P_Key");
	hw_port(&t->s, t->port[1])->pkey[0] = 0xffff;
	hw_port(&t->s, t->port[1])->state = HW_PORT_DOWN;
	ud_send(a, &good, MLX5_OPCODE_SEND, "port is down");
	hw_port(&t->s, t->port[1])->state = HW_PORT_ACTIVE;
	for (uint32_t i = 0; i < 6; i++)
		assert_non_null(t_poll(&a->cq));
	t_assert_empty(&b->cq);
	/* The Q_Key "of my QP". */
	av = good;
	av.key.qkey.qkey = htobe32(0x80000000);
	ud_send(a, &av, MLX5_OPCODE_SEND, "ok");
	t_received(b, MLX5_CQE_RESP_SEND, 42, 0);
	t_qp_free(a);
	t_qp_free(b);
}

/* Errors of the sender stop its sends only: SQER, and back to RTS. */
static void ud_sender_errors(void **state)
{
	struct tb *t = *state;
	struct t_qp *a = ud_make(t, 0), *b = ud_make(t, 1);
	struct t_sge big = t_own(a, 0, 4097);
	struct mlx5_wqe_av av;

	av_to(&av, b);
	t_recv_at(a, 0, 100);
	t_post(a, &(struct t_wr){.opcode = MLX5_OPCODE_SEND, .av = &av, .sge = &big, .nsge = 1});
	t_expect_error(a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR, 0);
	assert_int_equal(a->hw->state, HW_QPS_SQER);
	ud_send(a, &av, MLX5_OPCODE_SEND, "flushed");
	t_expect_error(a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_WR_FLUSH_ERR, 2);
	av_to(&av, a);
	ud_send(b, &av, MLX5_OPCODE_SEND, "receives still");
	t_received(a, MLX5_CQE_RESP_SEND, 54, 0);
	t_expect_done(b, MLX5_OPCODE_SEND, 0);
	assert_int_equal(eng_qp_set_state(&t->s, a->qpn, HW_QPS_RTS), 0);
	t_recv_at(b, 0, 100);
	av_to(&av, b);
	ud_send(a, &av, MLX5_OPCODE_SEND, "again");
	t_received(b, MLX5_CQE_RESP_SEND, 45, 0);
	t_qp_free(a);
	t_qp_free(b);
}

static void ud_receive_too_short(void **state)
{
	struct tb *t = *state;
	struct t_qp *a = ud_make(t, 0), *b = ud_make(t, 1);
	struct mlx5_wqe_av av;

	av_to(&av, b);
	t_recv_at(b, 0, 42);
	ud_send(a, &av, MLX5_OPCODE_SEND, "abc");
	t_expect_done(a, MLX5_OPCODE_SEND, 0);
	t_expect_error(b, MLX5_CQE_RESP_ERR, MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR, 0);
	assert_int_equal(b->hw->state, HW_QPS_ERR);
	t_qp_free(a);
	t_qp_free(b);
}

/* ---- UC */

static void uc_is_not_answered(void **state)
{
	struct tb *t = *state;
	struct t_qp *a = t_qp_make(t, 0, HW_ST_UC, NULL), *b = t_qp_make(t, 1, HW_ST_UC, NULL);
	struct t_sge sge = t_own(a, 0, 8);
	struct t_wr wr = {.opcode = MLX5_OPCODE_SEND, .fm_ce_se = T_SIG, .sge = &sge, .nsge = 1};

	t_connect(a, b);
	t_post(a, &wr); /* no receive */
	t_expect_done(a, MLX5_OPCODE_SEND, 0);
	t_recv_at(b, 0, 8);
	t_post(a, &wr);
	t_received(b, MLX5_CQE_RESP_SEND, 8, 0);
	t_expect_done(a, MLX5_OPCODE_SEND, 1);
	wr.opcode = MLX5_OPCODE_RDMA_READ;
	t_post(a, &wr);
	t_expect_error(a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR, 2);
	assert_int_equal(a->hw->state, HW_QPS_SQER);
	t_qp_free(a);
	t_qp_free(b);
}

/* ---- CQ */

static void arm_on(struct t_qp *q, uint32_t uar, uint32_t sn, uint32_t cmd)
{
	uint32_t word = sn << 28 | cmd << 24 | (q->cq.ci & 0xffffff);
	__be32 db[2] = {htobe32(word), htobe32(q->cq.cqn)};
	uint64_t be;

	q->cq.dbr[T_ARM] = htobe32(word);
	memcpy(&be, db, 8);
	eng_uar_write(&q->t->s, uar, 0x20, be);
}

static void arm(struct t_qp *q, uint32_t sn, uint32_t cmd)
{
	arm_on(q, T_UAR, sn, cmd);
}

static void nop(struct t_qp *q)
{
	t_post(q, &(struct t_wr){.opcode = MLX5_OPCODE_NOP, .fm_ce_se = T_SIG});
}

static void armed_fires_once(void **state)
{
	struct t_pair *p = *state;

	nop(p->a);
	assert_int_equal(t_event(p->t, p->a->cq.evq[0]), -1); /* not armed */
	assert_non_null(t_poll(&p->a->cq));
	arm_on(p->a, T_UAR + 1, 0, 0); /* not the CQ's uar_page: nothing */
	nop(p->a);
	assert_int_equal(t_event(p->t, p->a->cq.evq[0]), -1);
	assert_non_null(t_poll(&p->a->cq));
	arm(p->a, 0, 0);
	assert_int_equal(t_event(p->t, p->a->cq.evq[0]), -1);
	nop(p->a);
	assert_int_equal(t_event(p->t, p->a->cq.evq[0]), 0);
	nop(p->a);
	assert_int_equal(t_event(p->t, p->a->cq.evq[0]), -1);
	/* A completion beyond the consumer, after the one that the event was for: at once. */
	arm(p->a, 1, 0);
	assert_int_equal(t_event(p->t, p->a->cq.evq[0]), 0);
	nop(p->a);
	assert_int_equal(t_event(p->t, p->a->cq.evq[0]), -1);
}

/* Poll mode finds the record and the store; the second one does not arm again. */
static void same_arm_twice(void **state)
{
	struct t_pair *p = *state;

	arm(p->a, 0, 0);
	nop(p->a);
	assert_int_equal(t_event(p->t, p->a->cq.evq[0]), 0);
	arm(p->a, 0, 0);
	nop(p->a);
	assert_int_equal(t_event(p->t, p->a->cq.evq[0]), -1);
}

/* ib_send_lat -e: arms before it polls, and takes each event for one completion. */
static void armed_before_polling(void **state)
{
	struct t_pair *p = *state;

	arm(p->a, 0, 0);
	for (uint32_t i = 1; i < 80; i++) {
		nop(p->a);
		assert_int_equal(t_event(p->t, p->a->cq.evq[0]), 0);
		arm(p->a, i, 0);
		assert_int_equal(t_event(p->t, p->a->cq.evq[0]), -1);
		assert_non_null(t_poll(&p->a->cq));
	}
}

/* One completion for each event: the rest is announced when armed again. */
static void polls_one_then_arms(void **state)
{
	struct t_pair *p = *state;
	uint32_t sn = 0;

	for (int i = 0; i < 4; i++)
		nop(p->a);
	arm(p->a, sn++, 0);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(t_event(p->t, p->a->cq.evq[0]), 0);
		assert_non_null(t_poll(&p->a->cq));
		arm(p->a, sn++, 0);
	}
	assert_int_equal(t_event(p->t, p->a->cq.evq[0]), -1);
	nop(p->a);
	assert_int_equal(t_event(p->t, p->a->cq.evq[0]), 0);
}

static void armed_for_solicited(void **state)
{
	struct t_pair *p = *state;
	struct t_wr wr = {.opcode = MLX5_OPCODE_SEND, .inl = "x", .inl_len = 1};

	for (int i = 0; i < 4; i++)
		t_recv_at(p->b, 0, 8);
	arm(p->b, 0, 1);
	t_post(p->a, &wr);
	assert_int_equal(t_event(p->t, p->b->cq.evq[0]), -1);
	wr.fm_ce_se = T_SOL;
	t_post(p->a, &wr);
	assert_int_equal(t_event(p->t, p->b->cq.evq[0]), 0);
	/* Both unseen, one of them solicited, but announced. */
	arm(p->b, 1, 1);
	assert_int_equal(t_event(p->t, p->b->cq.evq[0]), -1);
	assert_non_null(t_poll(&p->b->cq));
	assert_non_null(t_poll(&p->b->cq));
	wr.fm_ce_se = 0;
	t_post(p->a, &wr);
	arm(p->b, 2, 1); /* an unseen one, but not solicited */
	assert_int_equal(t_event(p->t, p->b->cq.evq[0]), -1);
	wr.fm_ce_se = T_SOL;
	t_post(p->a, &wr);
	assert_int_equal(t_event(p->t, p->b->cq.evq[0]), 0);
	t_recv_at(p->b, 0, 8);
	t_recv_at(p->b, 0, 8);
	t_post(p->a, &wr);
	arm(p->b, 3, 1); /* a solicited one that came unarmed */
	assert_int_equal(t_event(p->t, p->b->cq.evq[0]), 0);
	arm(p->b, 4, 1);
	/* An error counts as solicited. */
	assert_int_equal(eng_qp_set_state(&p->t->s, p->b->qpn, HW_QPS_ERR), 0);
	assert_int_equal(t_event(p->t, p->b->cq.evq[0]), 0);
}

static void cq_overrun(void **state)
{
	struct t_pair *p = *state;
	struct t_wr wr = {.opcode = MLX5_OPCODE_NOP, .fm_ce_se = T_SIG};

	for (int i = 0; i < 1 << T_CQ_LOG; i++)
		t_post(p->a, &wr);
	assert_int_equal(p->a->cq.hw->state, 0);
	assert_int_equal(t_event(p->t, p->a->cq.evq[1]), -1);
	t_post(p->a, &wr);
	assert_int_equal(p->a->cq.hw->state, HW_CQ_ERR_OVERRUN);
	assert_int_equal(t_event(p->t, p->a->cq.evq[1]), IBV_EVENT_CQ_ERR);
	assert_int_equal(p->a->hw->state, HW_QPS_ERR);
	assert_int_equal(t_event(p->t, p->a->evq), IBV_EVENT_QP_FATAL);
	assert_int_equal(t_event(p->t, p->a->cq.evq[1]), -1);
	/* What was there is whole. */
	for (uint32_t i = 0; i < 1u << T_CQ_LOG; i++)
		t_expect_done(p->a, MLX5_OPCODE_NOP, i);
	/* A responder whose CQ is broken. */
	t_post(p->b, &(struct t_wr){.opcode = MLX5_OPCODE_SEND, .inl = "x", .inl_len = 1});
	assert_int_equal(p->b->hw->park, HW_PARK_RETRY); /* a is in ERR */
}

static void responders_cq_overrun(void **state)
{
	struct t_pair *p = *state;

	for (int i = 0; i < 1 << T_CQ_LOG; i++)
		nop(p->b);
	t_recv_at(p->b, 0, 8);
	t_post(p->a, &(struct t_wr){.opcode = MLX5_OPCODE_SEND, .inl = "x", .inl_len = 1});
	t_expect_error(p->a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_REMOTE_OP_ERR, 0);
	assert_int_equal(t_event(p->t, p->b->cq.evq[1]), IBV_EVENT_CQ_ERR);
	assert_int_equal(t_event(p->t, p->b->evq), IBV_EVENT_QP_FATAL);
	assert_int_equal(p->b->hw->state, HW_QPS_ERR);
}

static void cqe_of_128_bytes(void **state)
{
	struct t_pair *p = *state;
	struct t_cq big;

	t_cq_make(p->t, &big, 2, 128);
	p->a->hw->cqn_snd = big.cqn;
	for (uint32_t i = 0; i < 20; i++) {
		struct mlx5_cqe64 *c;

		nop(p->a);
		c = t_poll(&big);
		assert_non_null(c);
		assert_int_equal(be16toh(c->wqe_counter), i);
	}
	for (uint32_t i = 0; i < 4; i++)
		for (uint32_t b = 0; b < 64; b++)
			assert_int_equal(big.buf[i * 128 + b], 0xf0);
}

static void resize(void **state)
{
	struct t_pair *p = *state;
	struct t_cq *cq = &p->a->cq;
	struct mlx5_cqe64 *c;
	struct t_cq next = *cq;

	for (int i = 0; i < 5; i++)
		nop(p->a);
	for (int i = 0; i < 3; i++)
		assert_non_null(t_poll(cq));
	next.log_size = 1;
	assert_int_equal(eng_cq_resize(&p->t->s, cq->cqn, mem_self(&p->t->s), 0, 1, 64), -ENOSPC);
	next.log_size = 7;
	next.buf = aligned_alloc(4096, 64 << 7);
	memset(next.buf, 0xf0, 64 << 7);
	assert_int_equal(
		eng_cq_resize(&p->t->s, cq->cqn, mem_self(&p->t->s), (uintptr_t)next.buf, 7, 64),
		0);
	nop(p->a);
	/* The old buffer ends with the notice... */
	t_expect_done(p->a, MLX5_OPCODE_NOP, 3);
	t_expect_done(p->a, MLX5_OPCODE_NOP, 4);
	c = t_poll(cq);
	assert_non_null(c);
	assert_int_equal(mlx5dv_get_cqe_opcode(c), MLX5_CQE_RESIZE_CQ);
	t_assert_empty(cq);
	/* ...and the new one goes on after its index. */
	next.ci = cq->ci;
	c = t_poll(&next);
	assert_non_null(c);
	assert_int_equal(be16toh(c->wqe_counter), 5);
	for (uint32_t i = 0; i < 300; i++) {
		nop(p->a);
		c = t_poll(&next);
		assert_non_null(c);
		assert_int_equal(be16toh(c->wqe_counter), 6 + i);
	}
	free(next.buf);
}

/* The CQ's lock is held by somebody for long: the WQE is not executed twice, its CQE comes later.
 */
static void completion_owed(void **state)
{
	struct t_pair *p = *state;
	struct t_wr wr = {.opcode = MLX5_OPCODE_RDMA_WRITE,
			  .fm_ce_se = T_SIG,
			  .raddr = (uintptr_t)p->b->mem,
			  .rkey = p->b->key,
			  .inl = "once",
			  .inl_len = 4};

	assert_int_equal(seg_lock(&p->t->s, &p->a->cq.hw->lock, 0), 0);
	t_post(p->a, &wr);
	assert_memory_equal(p->b->mem, "once", 4);
	assert_int_equal(p->a->hw->park, HW_PARK_LOCK);
	p->b->mem[0] = 'O';
	seg_unlock(&p->t->s, &p->a->cq.hw->lock);
	t_now += 2000000;
	assert_int_equal(eng_run_due(&p->t->s), UINT64_MAX);
	t_expect_done(p->a, MLX5_OPCODE_RDMA_WRITE, 0);
	assert_int_equal(p->b->mem[0], 'O');
}

int main(void)
{
#define P(f) cmocka_unit_test_setup_teardown(f, t_pair_setup, t_pair_teardown)
#define S(f) cmocka_unit_test_setup_teardown(f, srq_setup, srq_teardown)
#define T(f) cmocka_unit_test_setup_teardown(f, tb_setup, tb_teardown)
	const struct CMUnitTest tests[] = {
		S(srq_follows_the_list),
		S(srq_goes_round),
		S(srq_that_is_cyclic),
		S(srq_limit),
		S(srq_last_wqe),
		S(srq_wqe_in_hand),
		T(ud_without_grh),
		T(ud_with_grh),
		T(ud_drops),
		T(ud_sender_errors),
		T(ud_receive_too_short),
		T(uc_is_not_answered),
		P(armed_fires_once),
		P(same_arm_twice),
		P(armed_before_polling),
		P(polls_one_then_arms),
		P(armed_for_solicited),
		P(cq_overrun),
		P(responders_cq_overrun),
		P(cqe_of_128_bytes),
		P(resize),
		P(completion_owed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
