/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Scatter to CQE through libmlx5: a short payload is not in the program's buffer before
 * ibv_poll_cq(), which copies it there; a reader of the CQ itself finds it in the entry.
 * MLX5_SCATTER_TO_CQE=0 and the flags of mlx5dv_create_qp() turn it off.
 */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <infiniband/mlx5dv.h>

#include "rc.h"

#define MEM 4096
#define MARK 0xee
#define FROM 2048 /* where the sender's bytes are */
#define BITS (MLX5_INLINE_SCATTER_32 | MLX5_INLINE_SCATTER_64)

static const uint32_t lengths[] = {0, 1, 31, 32, 33, 63, 64, 65};

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_mr *mr;
static uint8_t *mem;

struct end {
	struct ibv_cq *cq;
	struct mlx5dv_cq dv;
	uint32_t ci; /* of entries that this program has looked at */
	struct ibv_srq *srq;
	struct ibv_qp *qp;
};

struct how {
	enum ibv_qp_type type;
	uint16_t cqe_bytes;
	bool srq, sig_all, off; /* off: by the environment */
	uint32_t flags;         /* MLX5DV_QP_CREATE_* */
};

static void end_make(struct end *e, const struct how *h)
{
	struct ibv_cq_init_attr_ex cq = {.cqe = 63};
	struct mlx5dv_cq_init_attr dv = {.comp_mask = MLX5DV_CQ_INIT_ATTR_MASK_CQE_SIZE,
					 .cqe_size = h->cqe_bytes};
	struct mlx5dv_obj obj = {.cq = {.out = &e->dv}};
	struct ibv_srq_init_attr srq = {.attr = {.max_wr = 16, .max_sge = 2}};
	struct ibv_qp_init_attr_ex init = {.qp_type = h->type,
					   .cap = {16, 16, 2, 2, 64},
					   .comp_mask = IBV_QP_INIT_ATTR_PD,
					   .pd = pd,
					   .sq_sig_all = h->sig_all};
	struct mlx5dv_qp_init_attr attr = {.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS,
					   .create_flags = h->flags};
	struct ibv_cq_ex *ex = mlx5dv_create_cq(ctx, &cq, &dv);

	memset(e, 0, sizeof(*e));
	need(!!ex, "a CQ");
	e->cq = obj.cq.in = ibv_cq_ex_to_cq(ex);
	need(!mlx5dv_init_obj(&obj, MLX5DV_OBJ_CQ) && e->dv.cqe_size == h->cqe_bytes,
	     "the CQ's entries");
	init.send_cq = init.recv_cq = e->cq;
	if (h->srq)
		init.srq = e->srq = ibv_create_srq(pd, &srq);
	need(!h->srq || e->srq, "an SRQ");
	e->qp = h->flags ? mlx5dv_create_qp(ctx, &init, &attr) : ibv_create_qp_ex(ctx, &init);
	need(!!e->qp, "a QP");
}

static void end_drop(struct end *e)
{
	need(!ibv_destroy_qp(e->qp) && (!e->srq || !ibv_destroy_srq(e->srq)) &&
		     !ibv_destroy_cq(e->cq),
	     "clean-up");
}

/* The next entry, which the program owns; nothing is taken from the CQ. */
static const struct mlx5_cqe64 *look(struct end *e)
{
	uint32_t i = e->ci++;
	const struct mlx5_cqe64 *c =
		(const void *)((uint8_t *)e->dv.buf +
			       (size_t)(i & (e->dv.cqe_cnt - 1)) * e->dv.cqe_size + e->dv.cqe_size -
			       64);

	while (mlx5dv_get_cqe_opcode((void *)c) == MLX5_CQE_INVALID ||
	       mlx5dv_get_cqe_owner((void *)c) != !!(i & e->dv.cqe_cnt))
		__asm__ volatile("" ::: "memory");
	return c;
}

static void done(struct end *e, uint32_t len, enum ibv_wc_opcode opcode)
{
	struct ibv_wc wc;

	need(ibv_poll_cq(e->cq, 1, &wc) == 1 && wc.status == IBV_WC_SUCCESS && wc.opcode == opcode,
	     "a completion");
	need(wc.byte_len == len || opcode == IBV_WC_SEND || opcode == IBV_WC_RDMA_WRITE,
	     "its length");
}

static void is_marked(const uint8_t *at, uint32_t n, const char *what)
{
	for (uint32_t i = 0; i < n; i++)
		need(at[i] == MARK, what);
}

/* The buffer has two pieces: the first 5 bytes, and the others at 512. */
static bool is_there(const uint8_t *from, uint32_t len)
{
	uint32_t head = len < 5 ? len : 5;

	return !memcmp(mem, from, head) && !memcmp(mem + 512, from + head, len - head);
}

/*
 * The entry and the buffer before the program polls, and the buffer afterwards. libmlx5 before
 * version 64 copies answers from one byte before an entry of 128 bytes ("Fix inline-scatter source
 * address on 128B CQE REQ completions" in rdma-core), from a card's entry, too.
 */
static void arrives(struct end *e, uint32_t len, uint32_t most, enum ibv_wc_opcode opcode)
{
	const struct mlx5_cqe64 *c = look(e);
	uint8_t bits = !len || len > most ? 0
		       : most == 64       ? MLX5_INLINE_SCATTER_64
					  : MLX5_INLINE_SCATTER_32;
	const uint8_t *from = mem + FROM;
	uint32_t head = len < 5 ? len : 5;

	need((c->op_own & BITS) == bits, "the format of the CQE");
	if (bits) {
		need(!memcmp(bits == MLX5_INLINE_SCATTER_64 ? c - 1 : c, from, len),
		     "the payload in the CQE");
		is_marked(mem, 1024, "a buffer that nobody has written before the program polls");
	}
	done(e, len, opcode);
	need(is_there(from, len) || (bits == MLX5_INLINE_SCATTER_64 && opcode == IBV_WC_RDMA_READ &&
				     is_there((const uint8_t *)(c - 1) - 1, len)),
	     "the payload after the program has polled");
	is_marked(mem + head, 512 - head, "the rest of the first piece");
	is_marked(mem + 512 + len - head, 512 - len + head, "the rest of the second piece");
}

static void post(struct end *e, enum ibv_wr_opcode opcode, uint32_t len)
{
	struct ibv_sge from = {(uintptr_t)mem + FROM, len, mr->lkey};
	struct ibv_sge to[2] = {{(uintptr_t)mem, 5, mr->lkey},
				{(uintptr_t)mem + 512, len - 5, mr->lkey}};
	bool reads = opcode == IBV_WR_RDMA_READ;
	struct ibv_send_wr wr = {.opcode = opcode,
				 .sg_list = reads ? to : &from,
				 .num_sge = reads ? 1 + (len > 5) : len != 0,
				 .imm_data = htobe32(77),
				 .send_flags = IBV_SEND_SIGNALED,
				 .wr.rdma = {(uintptr_t)mem + FROM, mr->rkey}},
			   *bad;

	if (reads && len < 5)
		to[0].length = len;
	need(!ibv_post_send(e->qp, &wr, &bad), "ibv_post_send");
}

static void post_receive(struct end *e)
{
	struct ibv_sge to[2] = {{(uintptr_t)mem, 5, mr->lkey},
				{(uintptr_t)mem + 512, 500, mr->lkey}};
	struct ibv_recv_wr wr = {.sg_list = to, .num_sge = 2}, *bad;

	need(!(e->srq ? ibv_post_srq_recv(e->srq, &wr, &bad) : ibv_post_recv(e->qp, &wr, &bad)),
	     "a receive");
}

/* Its answer is not scattered: the byte order in a CQE is not known. */
static void fetch_and_add(struct end *a)
{
	struct ibv_sge to = {(uintptr_t)mem, 8, mr->lkey};
	struct ibv_send_wr wr = {.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
				 .sg_list = &to,
				 .num_sge = 1,
				 .send_flags = IBV_SEND_SIGNALED,
				 .wr.atomic = {(uintptr_t)mem + FROM, 0, 0, mr->rkey}},
			   *bad;

	const struct mlx5_cqe64 *c;

	memset(mem, MARK, 1024);
	need(!ibv_post_send(a->qp, &wr, &bad), "an atomic");
	c = look(a);
	need(!(c->op_own & BITS), "the format of an atomic's CQE");
	done(a, 8, IBV_WC_FETCH_ADD);
	need(!memcmp(mem, mem + FROM, 8), "the answer of an atomic");
}

static void to_rts(struct ibv_qp *qp, uint32_t peer, enum ibv_qp_type type)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_RTR,
				.path_mtu = IBV_MTU_1024,
				.dest_qp_num = peer,
				.ah_attr = {.dlid = rc_lid(ctx), .port_num = 1}};

	rc_init(qp, type == IBV_QPT_UC ? IBV_ACCESS_REMOTE_WRITE
				       : IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
	if (type == IBV_QPT_RC) {
		rc_connect(qp, peer, rc_lid(ctx), IBV_MTU_1024);
		return;
	}
	need(!ibv_modify_qp(qp, &a,
			    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				    IBV_QP_RQ_PSN),
	     "RTR of a UC QP");
	a.qp_state = IBV_QPS_RTS;
	need(!ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_SQ_PSN), "RTS of a UC QP");
}

static void run(const struct how *h)
{
	uint32_t room = h->cqe_bytes == 128 ? 64 : 32;
	bool on = !h->off && !(h->flags & MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE);
	bool reads = on && h->type == IBV_QPT_RC &&
		     (h->sig_all || h->flags & MLX5DV_QP_CREATE_ALLOW_SCATTER_TO_CQE);
	struct end a, b;

	end_make(&a, h);
	end_make(&b, h);
	to_rts(a.qp, b.qp->qp_num, h->type);
	to_rts(b.qp, a.qp->qp_num, h->type);
	for (uint32_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		for (int imm = 0; imm < 2; imm++) {
			memset(mem, MARK, 1024);
			post_receive(&b);
			post(&a, imm ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND, lengths[i]);
			arrives(&b, lengths[i], on ? room : 0, IBV_WC_RECV);
			look(&a);
			done(&a, lengths[i], IBV_WC_SEND);
		}
		if (h->type != IBV_QPT_RC || !lengths[i])
			continue;
		memset(mem, MARK, 1024);
		post(&a, IBV_WR_RDMA_READ, lengths[i]);
		arrives(&a, lengths[i], reads ? room : 0, IBV_WC_RDMA_READ);
	}
	if (h->type == IBV_QPT_RC)
		fetch_and_add(&a);
	end_drop(&a);
	end_drop(&b);
}

int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	const uint32_t off = MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE;
	const uint32_t allow = MLX5DV_QP_CREATE_ALLOW_SCATTER_TO_CQE;

	ctx = list && list[0] ? ibv_open_device(list[0]) : NULL;
	need(ctx && (pd = ibv_alloc_pd(ctx)), "opening the first device");
	ibv_free_device_list(list);
	mem = aligned_alloc(4096, MEM);
	need(mem && (mr = ibv_reg_mr(pd, mem, MEM,
				     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
					     IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)),
	     "memory");
	for (uint32_t i = 0; i < MEM - FROM; i++)
		mem[FROM + i] = (uint8_t)(i * 5 + 1);
	for (uint16_t bytes = 64; bytes <= 128; bytes += 64) {
		for (int i = 0; i < 8; i++)
			run(&(struct how){.type = i & 1 ? IBV_QPT_UC : IBV_QPT_RC,
					  .cqe_bytes = bytes,
					  .srq = i & 2 && !(i & 1),
					  .sig_all = i & 4});
		run(&(struct how){.type = IBV_QPT_RC, .cqe_bytes = bytes, .flags = allow});
		run(&(struct how){
			.type = IBV_QPT_RC, .cqe_bytes = bytes, .sig_all = true, .flags = off});
		need(!setenv("MLX5_SCATTER_TO_CQE", "0", 1), "setenv");
		run(&(struct how){
			.type = IBV_QPT_RC, .cqe_bytes = bytes, .sig_all = true, .off = true});
		need(!unsetenv("MLX5_SCATTER_TO_CQE"), "unsetenv");
	}
	need(!ibv_dereg_mr(mr) && !ibv_dealloc_pd(pd) && !ibv_close_device(ctx), "closing");
	free(mem);
	return 0;
}
