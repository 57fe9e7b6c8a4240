/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * CQE compression through libmlx5: mlx5dv_create_cq() with each format and size of entries, and
 * programs that read the CQ themselves (mlx5dv_init_obj()), as DPDK and UCX do, in their order.
 * ibv_poll_cq() of libmlx5 does not read sessions, so only single messages go through it.
 */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <infiniband/mlx5dv.h>

#include "rc.h"

#define BURST 24
/* Enough for a test: libmlx5 reuses a place in the receive queue only after ibv_poll_cq(). */
#define RECEIVES 1024
#define MEM 65536
#define LENGTH(i) (100 + (i)) /* longer than what lies in a CQE, which is not compressed */

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_mr *mr;
static char *mem;

static struct ibv_qp *qp_to_init(struct ibv_cq *send, struct ibv_cq *recv)
{
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC,
					.send_cq = send,
					.recv_cq = recv,
					.cap = {BURST, RECEIVES, 1, 1, 0}};
	struct ibv_qp *qp = ibv_create_qp(pd, &init);

	need(!!qp, "QP");
	rc_init(qp, 0);
	return qp;
}

static void connect_to(struct ibv_qp *qp, struct ibv_qp *peer)
{
	rc_connect(qp, peer->qp_num, rc_lid(ctx), IBV_MTU_1024);
}

static struct ibv_cq *cq_with(uint32_t format, uint16_t bytes)
{
	struct ibv_cq_init_attr_ex attr = {.cqe = 63};
	struct mlx5dv_cq_init_attr dv = {.comp_mask = MLX5DV_CQ_INIT_ATTR_MASK_COMPRESSED_CQE |
						      MLX5DV_CQ_INIT_ATTR_MASK_CQE_SIZE,
					 .cqe_comp_res_format = (uint8_t)format,
					 .cqe_size = bytes};
	struct ibv_cq_ex *cq = mlx5dv_create_cq(ctx, &attr, &dv);

	return cq ? ibv_cq_ex_to_cq(cq) : NULL;
}

/* n messages of growing lengths by one doorbell. */
static void send_burst(struct ibv_qp *from, struct ibv_qp *to, uint32_t n)
{
	struct ibv_sge sge[BURST], room = {(uintptr_t)mem, 1024, mr->lkey};
	struct ibv_recv_wr rwr = {.sg_list = &room, .num_sge = 1}, *rbad;
	struct ibv_send_wr wr[BURST], *bad;

	for (uint32_t i = 0; i < n; i++) {
		need(!ibv_post_recv(to, &rwr, &rbad), "ibv_post_recv");
		sge[i] = (struct ibv_sge){(uintptr_t)mem + 2048, LENGTH(i), mr->lkey};
		wr[i] = (struct ibv_send_wr){.next = i + 1 < n ? &wr[i + 1] : NULL,
					     .opcode = IBV_WR_SEND,
					     .sg_list = &sge[i],
					     .num_sge = 1,
					     .send_flags = i + 1 < n ? 0 : IBV_SEND_SIGNALED};
	}
	need(!ibv_post_send(from, wr, &bad), "ibv_post_send");
}

static void sent(struct ibv_cq *cq)
{
	struct ibv_wc wc;
	int n;

	while (!(n = ibv_poll_cq(cq, 1, &wc)))
		;
	need(n == 1 && wc.status == IBV_WC_SUCCESS, "the sender's completion");
}

static struct mlx5_cqe64 *at(const struct mlx5dv_cq *cq, uint32_t index)
{
	uint8_t *e = (uint8_t *)cq->buf + (size_t)(index & (cq->cqe_cnt - 1)) * cq->cqe_size;

	return (void *)(e + cq->cqe_size - 64);
}

/*
 * Read what one burst has left from entry *ci on, as DPDK does: a session's title, then its arrays
 * of mini CQEs, whose entries are made invalid.
 */
static uint32_t read_burst(const struct mlx5dv_cq *cq, uint32_t *ci, uint32_t n)
{
	uint32_t sessions = 0, got = 0;

	while (got < n) {
		struct mlx5_cqe64 *c = at(cq, *ci);
		uint32_t k = 1;

		need(mlx5dv_get_cqe_opcode(c) == MLX5_CQE_RESP_SEND &&
			     mlx5dv_get_cqe_owner(c) == !!(*ci & cq->cqe_cnt),
		     "an entry that is the program's");
		if (mlx5dv_get_cqe_format(c) != 3) {
			need(be32toh(c->byte_cnt) == LENGTH(got), "the length of a single CQE");
		} else {
			k = be32toh(c->byte_cnt);
			sessions++;
		}
		for (uint32_t i = 0; k > 1 && i < k; i++) {
			const uint8_t *mini =
				(uint8_t *)at(cq, *ci + (i < 8 ? 1 : i / 8 * 8)) + i % 8 * 8;
			uint32_t len;

			memcpy(&len, mini + 4, 4);
			need(be32toh(len) == LENGTH(got + i), "the length of a mini CQE");
		}
		for (uint32_t i = 1; i < k; i++)
			at(cq, *ci + i)->op_own = MLX5_CQE_INVALID << 4;
		*ci += k;
		got += k;
	}
	need(mlx5dv_get_cqe_opcode(at(cq, *ci)) == MLX5_CQE_INVALID ||
		     mlx5dv_get_cqe_owner(at(cq, *ci)) != !!(*ci & cq->cqe_cnt),
	     "nothing more");
	cq->dbrec[0] = htobe32(*ci & 0xffffff);
	return sessions;
}

static void bursts(uint32_t format, uint16_t bytes)
{
	struct ibv_cq *cq = cq_with(format, bytes), *scq = ibv_create_cq(ctx, 64, NULL, NULL, 0);
	struct mlx5dv_cq dv;
	struct mlx5dv_obj obj = {.cq = {.in = cq, .out = &dv}};
	uint32_t ci = 0, sessions = 0;
	struct ibv_qp *a, *b;

	need(cq && scq && !mlx5dv_init_obj(&obj, MLX5DV_OBJ_CQ), "a CQ with compression");
	need(dv.cqe_size == bytes, "its entries' size");
	a = qp_to_init(scq, scq);
	b = qp_to_init(scq, cq);
	connect_to(a, b);
	connect_to(b, a);
	for (uint32_t i = 0; i < 60; i++) {
		uint32_t n = 1 + i * 5 % BURST;

		send_burst(a, b, n);
		sent(scq);
		sessions += read_burst(&dv, &ci, n);
	}
	need(sessions >= 50, "compressed sessions");
	need(!ibv_destroy_qp(a) && !ibv_destroy_qp(b) && !ibv_destroy_cq(cq) &&
		     !ibv_destroy_cq(scq),
	     "clean-up");
}

/* One message at a time through ibv_poll_cq() and ibv_start_poll(). */
static void single(void)
{
	struct ibv_cq *cq = cq_with(MLX5DV_CQE_RES_FORMAT_HASH, 64),
		      *scq = ibv_create_cq(ctx, 64, NULL, NULL, 0);
	struct ibv_qp *a, *b;
	struct ibv_wc wc;

	need(cq && scq, "CQs");
	a = qp_to_init(scq, scq);
	b = qp_to_init(scq, cq);
	connect_to(a, b);
	connect_to(b, a);
	for (int i = 0; i < 200; i++) {
		send_burst(a, b, 1);
		sent(scq);
		need(ibv_poll_cq(cq, 1, &wc) == 1 && wc.status == IBV_WC_SUCCESS &&
			     wc.byte_len == LENGTH(0) && wc.qp_num == b->qp_num,
		     "a single completion");
	}
	need(!ibv_destroy_qp(a) && !ibv_destroy_qp(b) && !ibv_destroy_cq(cq) &&
		     !ibv_destroy_cq(scq),
	     "clean-up");
}

int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct mlx5dv_context caps = {.comp_mask = MLX5DV_CONTEXT_MASK_CQE_COMPRESION};
	static const uint32_t formats[] = {MLX5DV_CQE_RES_FORMAT_HASH, MLX5DV_CQE_RES_FORMAT_CSUM,
					   MLX5DV_CQE_RES_FORMAT_CSUM_STRIDX};
	uint32_t all = 0;

	ctx = list && list[0] ? ibv_open_device(list[0]) : NULL;
	need(ctx && (pd = ibv_alloc_pd(ctx)), "opening the first device");
	ibv_free_device_list(list);
	mem = aligned_alloc(4096, MEM);
	need(mem && (mr = ibv_reg_mr(pd, mem, MEM, IBV_ACCESS_LOCAL_WRITE)), "memory");
	memset(mem, 0, MEM);
	need(!mlx5dv_query_device(ctx, &caps) && caps.cqe_comp_caps.max_num == 32 &&
		     caps.flags & MLX5DV_CONTEXT_FLAGS_CQE_128B_COMP,
	     "capabilities");
	for (int i = 0; i < 3; i++) {
		all |= formats[i];
		bursts(formats[i], 64);
		bursts(formats[i], 128);
	}
	need(caps.cqe_comp_caps.supported_format == all, "formats");
	need(!cq_with(MLX5DV_CQE_RES_FORMAT_HASH | MLX5DV_CQE_RES_FORMAT_CSUM, 64) &&
		     errno == EINVAL,
	     "two formats are refused");
	single();
	need(!ibv_dereg_mr(mr) && !ibv_dealloc_pd(pd) && !ibv_close_device(ctx), "closing");
	free(mem);
	return 0;
}
