/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Transports without answers: datagrams, and UC. */
#include "engine/test.h"
#include "hw/port.h"
#include "hw/qctr.h"
#include "hw/qp.h"
#include "hw/qp_state.h"
#include <infiniband/verbs.h>

/* ---- UD */

static struct t_qp *ud_make(struct tb *t, uint32_t side)
{
	struct t_qp *q = t_qp_make(t, side, PRM_ST_UD, NULL);

	t_rts(q, q);
	return q;
}

static void av_to(struct mlx5_wqe_av *av, struct t_qp *to)
{
	memset(av, 0, sizeof(*av));
	av->key.qkey.qkey = htobe32(to->hw->qkey);
	av->dqp_dct = htobe32(MLX5_EXTENDED_UD_AV | to->qpn);
	av->stat_rate_sl = 3;
	av->rlid = htobe16((uint16_t)hw_port(&to->t->s, to->hw->path[0].port)->lid);
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
	assert_int_equal(be32toh(c->imm_inval_pkey), 0); /* index of the P_Key */
	assert_int_equal(b->mem[0], 0xcc);               /* no GRH: its place is not written */
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
	/* A GRH with another port's GID. */
	av.rgid[15] ^= 1;
	t_recv_at(b, 0, 100);
	ud_send(a, &av, MLX5_OPCODE_SEND, "lost");
	t_assert_empty(&b->cq);
	/* Without a LID, packets stay in their port, which does not have the GID. */
	av.rgid[15] ^= 1;
	av.rlid = 0;
	ud_send(a, &av, MLX5_OPCODE_SEND, "lost");
	t_assert_empty(&b->cq);
	t_qp_free(a);
	t_qp_free(b);
}

/* Datagrams that are dropped silently: the sender completes all the same. */
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
	fab_port_set_state(&t->s, t->port[1], IB_PORT_DOWN);
	ud_send(a, &good, MLX5_OPCODE_SEND, "port is down");
	fab_port_set_state(&t->s, t->port[1], IB_PORT_ACTIVE);
	for (uint32_t i = 0; i < 6; i++)
		assert_non_null(t_poll(&a->cq));
	t_assert_empty(&b->cq);
	/* The Q_Key that means "use the QP's own". */
	av = good;
	av.key.qkey.qkey = htobe32(0x80000000);
	ud_send(a, &av, MLX5_OPCODE_SEND, "ok");
	t_received(b, MLX5_CQE_RESP_SEND, 42, 0);
	t_qp_free(a);
	t_qp_free(b);
}

/* The sender's errors stop only its sends: SQER, and back to RTS. */
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
	assert_int_equal(a->hw->state, PRM_QP_STATE_SQER);
	ud_send(a, &av, MLX5_OPCODE_SEND, "flushed");
	t_expect_error(a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_WR_FLUSH_ERR, 2);
	av_to(&av, a);
	ud_send(b, &av, MLX5_OPCODE_SEND, "receives still");
	t_received(a, MLX5_CQE_RESP_SEND, 54, 0);
	t_expect_done(b, MLX5_OPCODE_SEND, 0);
	assert_int_equal(eng_qp_set_state(&t->s, a->qpn, PRM_QP_STATE_RTS), 0);
	t_recv_at(b, 0, 100);
	av_to(&av, b);
	ud_send(a, &av, MLX5_OPCODE_SEND, "again");
	t_received(b, MLX5_CQE_RESP_SEND, 45, 0);
	t_qp_free(a);
	t_qp_free(b);
}

/* Class D of rxe_resp.c (RESPST_ERR_LENGTH): dropped, and the next message gets the receive. */
static void ud_receive_too_short(void **state)
{
	struct tb *t = *state;
	struct t_qp *a = ud_make(t, 0), *b = ud_make(t, 1);
	struct mlx5_wqe_av av;
	struct hw_qctr *c = t_counters(t, b);

	av_to(&av, b);
	t_recv_at(b, 0, 42);
	t_recv_at(b, 64, 43);
	ud_send(a, &av, MLX5_OPCODE_SEND, "abc");
	t_expect_done(a, MLX5_OPCODE_SEND, 0);
	t_assert_empty(&b->cq);
	assert_int_equal(b->hw->state, PRM_QP_STATE_RTS);
	assert_int_equal(c->n[HW_QC_RESP_LOCAL_LENGTH_ERROR], 1);
	ud_send(a, &av, MLX5_OPCODE_SEND, "ab");
	t_received(b, MLX5_CQE_RESP_SEND, 42, 0);
	ud_send(a, &av, MLX5_OPCODE_SEND, "abc");
	t_received(b, MLX5_CQE_RESP_SEND, 43, 1);
	assert_memory_equal(b->mem + 64 + 40, "abc", 3);
	t_qp_free(a);
	t_qp_free(b);
}

/* Class E: a receive of an SRQ cannot stay in the queue, so it completes with an error. */
static void ud_shared_receive_too_short(void **state)
{
	struct tb *t = *state;
	struct t_srq srq;
	struct t_qp *a = ud_make(t, 0), *b;
	struct mlx5_wqe_av av;

	t_srq_make(t, &srq, t->pd[1]);
	b = t_qp_make(t, 1, PRM_ST_UD, &srq);
	t_rts(b, b);
	av_to(&av, b);
	t_srq_post(&srq, b->key, b->mem, 42);
	ud_send(a, &av, MLX5_OPCODE_SEND, "abc");
	t_expect_done(a, MLX5_OPCODE_SEND, 0);
	t_expect_error(b, MLX5_CQE_RESP_ERR, MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR, 0);
	t_qp_free(a);
	t_qp_free(b);
}

/* ---- UC */

static void uc_is_not_answered(void **state)
{
	struct tb *t = *state;
	struct t_qp *a = t_qp_make(t, 0, PRM_ST_UC, NULL), *b = t_qp_make(t, 1, PRM_ST_UC, NULL);
	struct t_sge sge = t_own(a, 0, 8);
	struct t_wr wr = {.opcode = MLX5_OPCODE_SEND, .fm_ce_se = T_SIG, .sge = &sge, .nsge = 1};

	t_connect(a, b);
	t_post(a, &wr); /* no receive is posted */
	t_expect_done(a, MLX5_OPCODE_SEND, 0);
	t_recv_at(b, 0, 8);
	t_post(a, &wr);
	t_received(b, MLX5_CQE_RESP_SEND, 8, 0);
	t_expect_done(a, MLX5_OPCODE_SEND, 1);
	wr.opcode = MLX5_OPCODE_RDMA_READ;
	t_post(a, &wr);
	t_expect_error(a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR, 2);
	assert_int_equal(a->hw->state, PRM_QP_STATE_SQER);
	t_qp_free(a);
	t_qp_free(b);
}

/*
 * A request that UC refuses is dropped, and both ends go on: a wrong key takes no receive, a
 * receive that is too short stays (RESPST_ERR_RKEY_VIOLATION and RESPST_ERR_LENGTH of rxe_resp.c
 * without an SRQ, there classes E and D; `drop` and `rewind` of hfi1_uc_rcv()).
 */
static void uc_drops_what_it_refuses(void **state)
{
	struct tb *t = *state;
	struct t_qp *a = t_qp_make(t, 0, PRM_ST_UC, NULL), *b = t_qp_make(t, 1, PRM_ST_UC, NULL);
	struct t_sge sge = t_own(a, 0, 8);
	struct t_wr wr = {.opcode = MLX5_OPCODE_RDMA_WRITE,
			  .fm_ce_se = T_SIG,
			  .sge = &sge,
			  .nsge = 1,
			  .raddr = (uintptr_t)b->mem,
			  .rkey = b->key ^ 1};

	t_connect(a, b);
	t_recv_at(b, 0, 4);
	t_post(a, &wr);
	t_expect_done(a, MLX5_OPCODE_RDMA_WRITE, 0);
	wr.opcode = MLX5_OPCODE_RDMA_WRITE_IMM;
	t_post(a, &wr);
	t_expect_done(a, MLX5_OPCODE_RDMA_WRITE_IMM, 1);
	wr.opcode = MLX5_OPCODE_SEND;
	t_post(a, &wr);
	t_expect_done(a, MLX5_OPCODE_SEND, 2);
	t_assert_empty(&b->cq);
	assert_int_equal(t_event(t, b->evq), -1);
	assert_int_equal(b->hw->state, PRM_QP_STATE_RTS);
	sge.len = 4;
	t_post(a, &wr);
	t_received(b, MLX5_CQE_RESP_SEND, 4, 0);
	t_expect_done(a, MLX5_OPCODE_SEND, 3);
	t_qp_free(a);
	t_qp_free(b);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, tb_setup, tb_teardown)
	const struct CMUnitTest tests[] = {
		T(ud_without_grh),
		T(ud_with_grh),
		T(ud_drops),
		T(ud_sender_errors),
		T(ud_receive_too_short),
		T(uc_is_not_answered),
		T(uc_drops_what_it_refuses),
		T(ud_shared_receive_too_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
