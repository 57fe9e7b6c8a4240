/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shared by the tests of indirect keys: lists are written with rdma-core's structures, as libmlx5
 * does.
 */
#ifndef SOFTHCA_ENGINE_TEST_KEYS_H
#define SOFTHCA_ENGINE_TEST_KEYS_H

#include "engine/test.h"
#include "hw/mkey.h"
#include "wire/prm/mkey.h"

#define ALL (HW_ACC_LOCAL_WRITE | HW_ACC_REMOTE_READ | HW_ACC_REMOTE_WRITE | HW_ACC_ATOMIC)

struct klm {
	uint32_t key;
	uint64_t addr;
	uint32_t len;
};

static inline void entry_set(struct mlx5_wqe_umr_klm_seg *e, const struct klm *k)
{
	e->byte_count = htobe32(k->len);
	e->mkey = htobe32(k->key);
	e->address = htobe64(k->addr);
}

static inline void key_open(struct hw_mkey *mk, uint64_t start, uint64_t len, uint32_t access)
{
	LAYOUT_SET(mkc, mk->mkc, start_addr, start);
	LAYOUT_SET(mkc, mk->mkc, len, len);
	eng_mkey_fields(mk);
	mk->access = access | HW_ACC_LOCAL_READ;
	atomic_store(&mk->free, 0);
}

static inline uint32_t list_key(struct tb *t, uint32_t pd, uint32_t mode, const struct klm *list,
				uint32_t n, uint64_t start, uint64_t len)
{
	struct hw_mkey *mk = t_indirect_key(t, pd, mode, n);

	for (uint32_t i = 0; i < n; i++)
		entry_set((void *)hw_klm_entry(&t->s, mk, i), &list[i]);
	mk->klm_n = n;
	key_open(mk, start, len, ALL);
	return mk->key;
}

static inline uint32_t strided_key(struct t_qp *q, uint32_t side, uint32_t turns, uint32_t len,
				   uint32_t stride)
{
	struct hw_mkey *mk = t_indirect_key(q->t, q->t->pd[side], PRM_MKC_KLM, 4);
	struct mlx5_wqe_umr_repeat_block_seg *h = (void *)hw_klm_entry(&q->t->s, mk, 0);
	struct mlx5_wqe_umr_repeat_ent_seg *e = (void *)hw_klm_entry(&q->t->s, mk, 1);

	h->op = htobe32(0x400);
	h->byte_count = htobe32(2 * len);
	h->repeat_count = htobe32(turns);
	h->num_ent = htobe16(2);
	for (uint32_t i = 0; i < 2; i++) {
		e[i].stride = htobe16((uint16_t)stride);
		e[i].byte_count = htobe16((uint16_t)len);
		e[i].memkey = htobe32(q->key);
		e[i].va = htobe64((uintptr_t)q->mem + i * 0x8000);
	}
	mk->klm_n = 3;
	key_open(mk, 0, (uint64_t)turns * 2 * len, ALL);
	return mk->key;
}

static inline void transfer(struct t_pair *p, uint8_t opcode, uint32_t lkey, uint64_t addr,
			    uint32_t len, uint32_t rkey, uint64_t raddr)
{
	struct t_sge sge = {lkey, addr, len};
	struct t_wr wr = {.opcode = opcode,
			  .fm_ce_se = T_SIG,
			  .raddr = raddr,
			  .rkey = rkey,
			  .sge = &sge,
			  .nsge = 1};

	t_expect_done(p->a, opcode, t_post(p->a, &wr));
}

/* ---- UMRs, in rdma-core's structures, as libmlx5 writes them */

#define ANY_QP 0xffffff00u

struct umr {
	struct mlx5_wqe_umr_ctrl_seg ctrl;
	struct mlx5_wqe_mkey_context_seg mkc;
	struct mlx5_wqe_umr_klm_seg list[8];
};
#define HEAD offsetof(struct umr, list)

#define MASK(m) ((uint64_t)MLX5_WQE_UMR_CTRL_MKEY_MASK_##m)
#define FLAG(f) MLX5_WQE_UMR_CTRL_FLAG_##f
#define ACCESS(a) MLX5_WQE_MKEY_CONTEXT_ACCESS_FLAGS_##a

/* As set_bind_wr() of libmlx5: a type 2 window with number `tag` over one region. */
static inline struct umr bind_to(uint8_t tag, uint32_t qpn, uint32_t key, void *addr, uint32_t len)
{
	struct umr u = {0};

	u.ctrl.flags = FLAG(INLINE) | FLAG(TRNSLATION_OFFSET) | FLAG(CHECK_FREE);
	u.ctrl.klm_octowords = htobe16(4);
	u.ctrl.mkey_mask =
		htobe64(MASK(FREE) | MASK(MKEY) | MASK(QPN) | MASK(LEN) | MASK(START_ADDR) |
			MASK(ACCESS_LOCAL_WRITE) | MASK(ACCESS_REMOTE_READ) |
			MASK(ACCESS_REMOTE_WRITE) | MASK(ACCESS_ATOMIC));
	u.mkc.qpn_mkey = htobe32(qpn << 8 | tag);
	u.mkc.access_flags = ACCESS(REMOTE_WRITE) | ACCESS(REMOTE_READ);
	u.mkc.start_addr = htobe64((uintptr_t)addr);
	u.mkc.len = htobe64(len);
	entry_set(&u.list[0], &(struct klm){key, (uintptr_t)addr, len});
	return u;
}

static inline struct umr unbind(void)
{
	struct umr u = {0};

	u.ctrl.flags = FLAG(INLINE) | FLAG(TRNSLATION_OFFSET) | FLAG(CHECK_QPN);
	u.ctrl.mkey_mask = htobe64(MASK(FREE) | MASK(MKEY) | MASK(QPN));
	u.mkc.qpn_mkey = htobe32(ANY_QP);
	u.mkc.free = MLX5_WQE_MKEY_CONTEXT_FREE;
	return u;
}

/* Post a UMR of `bytes` of u that changes the key. Returns the WQE's index. */
static inline uint32_t change(struct t_qp *q, uint32_t key, const struct umr *u, uint32_t bytes)
{
	struct t_wr wr = {.opcode = MLX5_OPCODE_UMR,
			  .fm_ce_se = T_SIG,
			  .imm = key,
			  .raw = u,
			  .raw_len = bytes};

	return t_post(q, &wr);
}

#endif
