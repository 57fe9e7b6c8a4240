/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The engine: work requests, receives, doorbell records and doorbells of living queue pairs (RC,
 * with an SRQ that matches tags, UC, UD, XRC), as raw or nearly right bytes. The engine may only
 * access memory of keys and queues, which wqe_guard.c checks.
 */
#include "engine/test_tm.h"
#include "hw/flags.h"
#include "hw/mkey.h"
#include "hw/obj.h"
#include "hw/port.h"
#include "hw/qp.h"
#include "hw/qp_state.h"
#include "hw/srq.h"
#include "hw/evq.h"
#include "fuzz.h"
#include "wire/prm/dct.h"
#include "wire/prm/mkey.h"
#include "wire/prm/qp.h"

#include <stdarg.h>

#define OPS 64
#define DC_KEY UINT64_C(0x1122334455667788)
enum { QPS = 12, DCI = 10, DCT = 11, SRQS = 3, CQS = QPS + 1, LISTS = 6, NKEYS = QPS + 3 + LISTS };

/*
 * wqe_guard.c: the arena has all mappings of the test bed, pages apart. wqe_arena_allow() adds
 * unmapped pages that a key covers: the engine may try them, and gets an error.
 */
void wqe_arena_allow(const void *p, size_t len);
extern const uint64_t wqe_arena, wqe_arena_len;

static struct tb *bed;
static struct t_qp *qp[QPS];
static struct t_srq srq[SRQS];
static struct t_cq xrc_cq;
static uint32_t keys[NKEYS];
static uint32_t psv, dek;

/* ---- the initial state, restored before each input */

enum { SAVED_MAX = 512 };
static struct {
	void *at, *copy;
	size_t len;
} saved[SAVED_MAX];
static unsigned int nsaved;

static void save(void *at, size_t len)
{
	fz_check(nsaved < SAVED_MAX);
	saved[nsaved].at = at;
	saved[nsaved].len = len;
	saved[nsaved].copy = malloc(len);
	memcpy(saved[nsaved++].copy, at, len);
}

static void save_table(enum seg_table_id t)
{
	seg_for_each_live (&bed->s, t, i)
		save(seg_at(&bed->s, t, i), seg_table(&bed->s, t)->elem_size);
}

static void save_all(void)
{
	static const enum seg_table_id all[] = {SEG_T_QP,  SEG_T_CQ,   SEG_T_SRQ,  SEG_T_MKEY,
						SEG_T_KLM, SEG_T_PORT, SEG_T_PROC, SEG_T_EVQ,
						SEG_T_OBJ, SEG_T_TM};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		save_table(all[i]);
	for (unsigned int i = 0; i < QPS; i++) {
		save(qp[i], sizeof(*qp[i]));
		save(qp[i]->sq, WQE_BB << T_SQ_LOG);
		save(qp[i]->rq, 1u << (T_RQ_LOG + T_RQ_STRIDE_LOG));
		save(qp[i]->dbr, 64);
		save(qp[i]->mem, 1024);
		save(qp[i]->cq.buf, qp[i]->cq.cqe_bytes << T_CQ_LOG);
		save(qp[i]->cq.dbr, 64);
	}
	for (unsigned int i = 0; i < SRQS; i++) {
		save(&srq[i], sizeof(srq[i]));
		save(srq[i].buf, 4096);
		save(srq[i].dbr, 64);
	}
	save(&xrc_cq, sizeof(xrc_cq));
	save(xrc_cq.buf, 64 << T_CQ_LOG);
	save(xrc_cq.dbr, 64);
}

static void drain(uint32_t evq)
{
	while (t_event(bed, evq) >= 0)
		;
}

static void restore_all(void)
{
	for (unsigned int i = 0; i < QPS; i++) {
		drain(qp[i]->evq);
		drain(qp[i]->cq.evq[0]);
		drain(qp[i]->cq.evq[1]);
	}
	drain(xrc_cq.evq[0]);
	drain(xrc_cq.evq[1]);
	for (unsigned int i = 0; i < nsaved; i++)
		memcpy(saved[i].at, saved[i].copy, saved[i].len);
	t_now = 1000000;
	bed->s.polled = false;
}

/* ---- the queue pairs: each even one is connected to the next */

static void make_xrc(struct t_qp *target)
{
	struct hw_srq *hw;

	target->hw->xrcd = 7;
	target->hw->no_rq = target->hw->no_sq = 1;
	t_srq_make(bed, &srq[1], bed->pd[1]);
	t_cq_make(bed, &xrc_cq, T_CQ_LOG, 64);
	hw = srq[1].hw;
	hw->type = HW_SRQ_XRC;
	hw->hca = target->hw->hca;
	hw->xrcd = 7;
	hw->cqn = xrc_cq.cqn;
	hw->flags = HW_F_READY;
}

/* An equal part of 4 KiB of QP 1's memory, and an unmapped one. */
static void bind_parts(struct hw_mkey *mk)
{
	struct mlx5_wqe_umr_klm_seg *e;

	for (uint32_t i = 0; i < 2; i++) {
		e = (void *)hw_klm_entry(&bed->s, mk, i);
		e->mkey = htobe32(keys[1]);
		e->address = htobe64((uintptr_t)qp[1]->mem + i * (T_MEM - 2048));
	}
	LAYOUT_SET(mkc, mk->mkc, access_mode_1_0, PRM_MKC_KSM);
	LAYOUT_SET(mkc, mk->mkc, start_addr, (uintptr_t)qp[1]->mem);
	LAYOUT_SET(mkc, mk->mkc, len, 8192);
	LAYOUT_SET(mkc, mk->mkc, rr, 1);
	LAYOUT_SET(mkc, mk->mkc, rw, 1);
	LAYOUT_SET(mkc, mk->mkc, lw, 1);
	LAYOUT_SET(mkc, mk->mkc, a, 1);
	eng_mkey_fields(mk);
	mk->klm_n = 2;
	mk->free = 0;
}

/* Blocks of 512 bytes: T10-DIF in memory, and CRC-32C on the wire. */
static void good_bsf(uint8_t bsf[WQE_BSF_BYTES])
{
	memset(bsf, 0, WQE_BSF_BYTES);
	LAYOUT_SET(wqe_bsf, bsf, bsf_size, WQE_BSF_WITH_INLINE);
	LAYOUT_SET(wqe_bsf, bsf, check_byte_mask, 0xff);
	LAYOUT_SET(wqe_bsf, bsf, raw_data_size, UINT32_MAX);
	LAYOUT_SET(wqe_bsf, bsf, wire_bs, 1);
	LAYOUT_SET(wqe_bsf, bsf, mem_bs, 1);
	LAYOUT_SET(wqe_bsf, bsf, w_bfs, WQE_BFS_CRC32C | WQE_BFS_REPEAT);
	LAYOUT_SET(wqe_bsf, bsf, w_psv, psv);
	LAYOUT_SET(wqe_bsf, bsf, m_psv, psv);
	LAYOUT_SET(wqe_bsf_inl, bsf + WQE_BSF_MEM_INL, valid, 1);
	LAYOUT_SET(wqe_bsf_inl, bsf + WQE_BSF_MEM_INL, refresh, 1);
	LAYOUT_SET(wqe_bsf_inl, bsf + WQE_BSF_MEM_INL, repeat, 1);
	LAYOUT_SET(wqe_bsf_inl, bsf + WQE_BSF_MEM_INL, sig_type, WQE_DIF_CRC);
	LAYOUT_SET(wqe_bsf_inl, bsf + WQE_BSF_MEM_INL, inc_reftag, 1);
}

/* Units of 520 bytes, which ciphertext stealing ends. */
static void good_crypto(uint8_t bsf[WQE_BSF_BYTES], uint8_t order)
{
	memset(bsf, 0, WQE_BSF_BYTES);
	LAYOUT_SET(wqe_crypto_bsf, bsf, bsf_size, WQE_BSF_SIG_AND_CRYPTO);
	LAYOUT_SET(wqe_crypto_bsf, bsf, type, WQE_BSF_TYPE_CRYPTO);
	LAYOUT_SET(wqe_crypto_bsf, bsf, enc_order, order);
	LAYOUT_SET(wqe_crypto_bsf, bsf, raw_data_size, UINT32_MAX);
	LAYOUT_SET(wqe_crypto_bsf, bsf, bs_pointer, 2);
	LAYOUT_SET(wqe_crypto_bsf, bsf, dek_pointer, dek);
}

static uint32_t new_obj(enum hw_obj_kind kind)
{
	struct hw_obj *o;
	uint32_t i;

	fz_check(!seg_alloc(&bed->s, SEG_T_OBJ, T_OWNER, &i));
	o = seg_at(&bed->s, SEG_T_OBJ, i);
	o->kind = kind;
	o->ref[0].idx = bed->pd[1];
	((struct hw_dek *)o->ctx)->bytes = 16;
	return i;
}

/* A signature key over two parts of QP 1's memory; with `crypto` they are encrypted. */
static void sign(struct hw_mkey *mk, bool crypto)
{
	uint32_t entries = crypto ? HW_BSF_MAX : HW_BSF_ENTRIES;
	struct mlx5_wqe_umr_klm_seg *e;
	uint8_t bsf[2 * WQE_BSF_BYTES];

	for (uint32_t i = 0; i < 2; i++) {
		e = (void *)hw_klm_entry(&bed->s, mk, i);
		e->mkey = htobe32(keys[1]);
		e->byte_count = htobe32(1600 + i * 160);
		e->address = htobe64((uintptr_t)qp[1]->mem + i * 4096);
	}
	mk->klm_max -= entries;
	mk->bsf_max = (uint8_t)entries;
	good_bsf(bsf);
	if (crypto)
		LAYOUT_SET(wqe_bsf, bsf, bsf_size, WQE_BSF_SIG_AND_CRYPTO);
	good_crypto(bsf + WQE_BSF_BYTES, WQE_CRYPTO_MEMORY_SIGNATURE);
	for (uint32_t i = 0; i < entries; i++)
		memcpy(hw_klm_entry(&bed->s, mk, mk->klm_max + i), bsf + i * HW_KLM_BYTES,
		       HW_KLM_BYTES);
	LAYOUT_SET(mkc, mk->mkc, bsf_en, 1);
	LAYOUT_SET(mkc, mk->mkc, crypto_en, crypto);
	LAYOUT_SET(mkc, mk->mkc, len, 3360);
	LAYOUT_SET(mkc, mk->mkc, rr, 1);
	LAYOUT_SET(mkc, mk->mkc, rw, 1);
	LAYOUT_SET(mkc, mk->mkc, lw, 1);
	eng_mkey_fields(mk);
	mk->klm_n = 2;
	mk->free = 0;
}

static void up(void)
{
	static const enum prm_st st[QPS] = {PRM_ST_RC,  PRM_ST_RC,  PRM_ST_RC,  PRM_ST_RC,
					    PRM_ST_UC,  PRM_ST_UC,  PRM_ST_UD,  PRM_ST_UD,
					    PRM_ST_XRC, PRM_ST_XRC, PRM_ST_DCI, HW_ST_DCT};

	bed = tb_create();
	t_srq_make(bed, &srq[0], bed->pd[1]);
	t_srq_make(bed, &srq[2], bed->pd[1]);
	for (unsigned int i = 0; i < QPS; i++) {
		qp[i] = t_qp_make(bed, i % 2, st[i], i == 3 ? &srq[0] : i == DCT ? &srq[2] : NULL);
		keys[i] = qp[i]->key;
	}
	tm_make(bed, &srq[0], &qp[3]->cq);
	LAYOUT_SET(qpc, qp[3]->hw->qpc, offload_type, 1);
	make_xrc(qp[9]);
	qp[0]->hw->mmo = qp[3]->hw->mmo = qp[DCI]->hw->mmo = 1;
	for (unsigned int i = 0; i < DCI; i += 2)
		t_connect(qp[i], qp[i + 1]);
	fz_check(!eng_qp_set_state(&bed->s, qp[DCI]->qpn, PRM_QP_STATE_RTS));
	qp[DCT]->hw->no_rq = qp[DCT]->hw->no_sq = 1;
	LAYOUT_SET(dctc, qp[DCT]->hw->qpc, dc_access_key, DC_KEY);
	atomic_store(&qp[DCT]->hw->state, PRM_QP_STATE_RTR);
	/* A key with an unmapped end, one that exceeds its mapping, a read-only one. */
	keys[QPS] = t_key(bed, bed->pd[0], qp[0]->mem + T_MEM - 64, 4096,
			  HW_ACC_LOCAL_WRITE | HW_ACC_REMOTE_WRITE | HW_ACC_REMOTE_READ);
	keys[QPS + 1] = t_key(bed, bed->pd[1], qp[1]->mem + T_MEM - 64, 4096,
			      HW_ACC_LOCAL_WRITE | HW_ACC_REMOTE_WRITE | HW_ACC_REMOTE_READ |
				      HW_ACC_ATOMIC);
	keys[QPS + 2] = t_key(bed, bed->pd[1], qp[1]->mem, 4096, HW_ACC_REMOTE_READ);
	/* Free lists at both ends, for UMRs; the key with equal parts is bound. */
	for (unsigned int i = 0; i < LISTS; i++)
		keys[QPS + 3 + i] = t_indirect_key(bed, bed->pd[i % 2], PRM_MKC_KLM, 70)->key;
	bind_parts(hw_mkey(&bed->s, keys[QPS + 3 + LISTS - 1]));
	psv = new_obj(HW_OBJ_PSV);
	dek = new_obj(HW_OBJ_DEK);
	sign(hw_mkey(&bed->s, keys[QPS + 3 + 1]), false);
	sign(hw_mkey(&bed->s, keys[QPS + 3 + 3]), true);
	seg_for_each_live (&bed->s, SEG_T_HCA, i)
		hw_hca(&bed->s, i)->model = HW_CX7; /* several units in a transfer */
	wqe_arena_allow(qp[0]->mem + T_MEM, 4096);
	wqe_arena_allow(qp[1]->mem + T_MEM, 4096);
	save_all();
}

/* ---- calls of programs */

static uint32_t a_key(struct fz *f, unsigned int own)
{
	uint8_t b = fz_u8(f);

	if (b < 128)
		return keys[own];
	if (b < 250) /* with a variant that a UMR may have set */
		return hw_mkey(&bed->s, keys[b % NKEYS])->key;
	return fz_u32(f);
}

static uint64_t an_address(struct fz *f, unsigned int of)
{
	uint8_t b = fz_u8(f);

	if (b < 128)
		return (uintptr_t)qp[of]->mem + fz_u16(f);
	if (b < 200)
		return (uintptr_t)qp[of]->mem + T_MEM - fz_u8(f);
	if (b < 250)
		return (uintptr_t)qp[b % QPS]->mem + fz_u32(f) % T_MEM;
	return fz_u64(f);
}

static uint32_t a_length(struct fz *f)
{
	uint8_t b = fz_u8(f);

	if (b < 200)
		return b;
	if (b < 250)
		return fz_u16(f);
	return fz_u32(f);
}

static unsigned int sges(struct fz *f, struct t_sge *s, unsigned int max, unsigned int own)
{
	unsigned int n = fz_u8(f) % (max + 1);

	for (unsigned int i = 0; i < n; i++) {
		s[i].key = a_key(f, own);
		s[i].addr = an_address(f, own);
		s[i].len = a_length(f);
	}
	return n;
}

enum { UMR_MAX = 48 + 64 + 16 * 16 + 2 * WQE_BSF_BYTES };

/* A BSF that is right but for some bytes. */
static void a_bsf(struct fz *f, uint8_t *to, uint32_t entries)
{
	uint8_t what = fz_u8(f);

	good_bsf(to);
	if (entries == HW_BSF_MAX) {
		LAYOUT_SET(wqe_bsf, to, bsf_size, WQE_BSF_SIG_AND_CRYPTO);
		good_crypto(to + WQE_BSF_BYTES, what >> 4 & 3);
	}
	for (uint32_t n = what % 4; n; n--) {
		uint8_t at = fz_u8(f) % (entries * HW_KLM_BYTES);

		to[at] = fz_u8(f);
	}
}

/* A UMR after its control segment, nearly as libmlx5 makes it. Returns its length. */
static uint32_t umr_body(struct fz *f, unsigned int own, uint8_t body[UMR_MAX])
{
	struct mlx5_wqe_umr_ctrl_seg *c = (void *)body;
	struct mlx5_wqe_mkey_context_seg *mkc = (void *)(c + 1);
	struct mlx5_wqe_umr_klm_seg *e = (void *)(mkc + 1);
	uint8_t n = fz_u8(f) % 17, shape = fz_u8(f);
	uint32_t entries;

	memset(body, 0, UMR_MAX);
	c->flags = fz_u8(f);
	c->klm_octowords = htobe16(shape & 1 ? fz_u16(f) : n);
	c->mkey_mask = htobe64(shape & 2 ? fz_u64(f) : 0x203c6041);
	if (shape & 4)
		fz_bytes(f, (uint8_t *)mkc, sizeof(*mkc));
	mkc->access_flags = fz_u8(f);
	mkc->qpn_mkey = htobe32(0xffffff00 | fz_u8(f));
	mkc->start_addr = htobe64(shape & 8 ? an_address(f, own) : 0);
	mkc->len = htobe64(fz_u32(f));
	for (unsigned int i = 0; i < n; i++) {
		e[i].byte_count = htobe32(shape & 16 ? fz_u32(f) : a_length(f));
		e[i].mkey = htobe32(a_key(f, own));
		e[i].address = htobe64(an_address(f, own));
	}
	if (shape & 32) {
		struct mlx5_wqe_umr_repeat_block_seg *r = (void *)e;

		r->op = htobe32(0x400);
		r->repeat_count = htobe32(fz_u16(f));
		r->num_ent = htobe16(fz_u8(f));
	}
	if (!(shape & 64))
		return 48 + 64 + n * 16u;
	c->flags |= 0x80;
	c->flags &= 0xef;
	entries = n % 2 ? HW_BSF_MAX : HW_BSF_ENTRIES;
	c->translation_offset = htobe16((uint16_t)entries);
	c->mkey_mask |= htobe64(WQE_UMR_BSF_ENABLE | WQE_UMR_SIG_ERR);
	mkc->flags_pd |= htobe32(1u << 30);
	a_bsf(f, (uint8_t *)(e + n), entries);
	return 48 + 64 + n * 16u + entries * HW_KLM_BYTES;
}

/* A command of the tag list. Returns its length. */
static uint32_t tm_body(struct fz *f, unsigned int own, uint8_t body[UMR_MAX])
{
	uint8_t b = fz_u8(f);

	memset(body, 0, 48);
	if (b & 128) {
		fz_bytes(f, body, 48);
		return 48;
	}
	LAYOUT_SET(wqe_tm, body, opcode, b & 3);
	LAYOUT_SET(wqe_tm, body, cqe_req, !(b & 4));
	LAYOUT_SET(wqe_tm, body, sw_cnt_valid, b >> 3 & 1);
	LAYOUT_SET(wqe_tm, body, index, fz_u8(f));
	LAYOUT_SET(wqe_tm, body, sw_cnt, fz_u8(f));
	LAYOUT_SET(wqe_tm, body, tag, fz_u8(f));
	LAYOUT_SET(wqe_tm, body, mask, b & 16 ? 0 : UINT64_MAX);
	be32_store(body + 32, a_length(f));
	LAYOUT_SET(wqe_data, body + 32, lkey, a_key(f, own));
	LAYOUT_SET(wqe_data, body + 32, addr, an_address(f, own));
	return b & 64 ? 16 : (b & 3) == WQE_TM_APPEND ? 48 : 32;
}

/* The data that a rendezvous offers. */
static void offer(struct fz *f, unsigned int own, uint8_t *rvh)
{
	LAYOUT_SET(rvh, rvh, rkey, a_key(f, own));
	LAYOUT_SET(rvh, rvh, va, an_address(f, own));
	LAYOUT_SET(rvh, rvh, len, a_length(f));
}

/* The segments behind the control segment (UMR, MMO...), or the operands of an atomic. */
static void request_body(struct fz *f, unsigned int i, uint8_t flags, struct t_wr *wr,
			 uint8_t body[UMR_MAX], uint8_t operands[32])
{
	if (wr->opcode == MLX5_OPCODE_UMR) {
		wr->imm = a_key(f, i);
		wr->raw_len = umr_body(f, i, body);
		wr->raw = body;
		if (flags & 8)
			wr->raw = NULL;
	} else if (wr->opcode == MLX5_OPCODE_MMO) {
		wr->opmod = flags & 8 ? fz_u8(f) : WQE_OPMOD_MMO_DMA;
		wr->raw_len = flags & 16 ? 0 : 16;
		fz_bytes(f, body, wr->raw_len);
		wr->raw = body;
	} else if (wr->opcode == MLX5_OPCODE_TAG_MATCHING) {
		wr->raw_len = tm_body(f, i, body);
		wr->raw = body;
	} else if (wr->opcode == MLX5_OPCODE_SET_PSV) {
		fz_bytes(f, body, 16);
		if (!(flags & 8))
			be32_store(body, psv);
		wr->raw_len = 16;
		wr->raw = body;
	} else if (flags & 4 || wr->opcode == MLX5_OPCODE_ATOMIC_CS ||
		   wr->opcode == MLX5_OPCODE_ATOMIC_FA) {
		if (flags & 8)
			wr->opmod = fz_u8(f);
		wr->operands = operands;
		wr->operands_len = flags & 16 ? 32 : 16;
		fz_bytes(f, operands, wr->operands_len);
	}
}

static void post(struct fz *f, unsigned int i, bool ring)
{
	static const uint8_t often[] = {
		MLX5_OPCODE_SEND,           MLX5_OPCODE_SEND_IMM,  MLX5_OPCODE_RDMA_WRITE,
		MLX5_OPCODE_RDMA_WRITE_IMM, MLX5_OPCODE_RDMA_READ, MLX5_OPCODE_ATOMIC_CS,
		MLX5_OPCODE_ATOMIC_FA,      MLX5_OPCODE_NOP,       MLX5_OPCODE_UMR,
		MLX5_OPCODE_SEND_INVAL,     MLX5_OPCODE_MMO,       MLX5_OPCODE_SET_PSV};
	uint8_t flags = fz_u8(f), inl[256], operands[32];
	_Alignas(8) uint8_t body[UMR_MAX];
	struct mlx5_wqe_av av = {0};
	struct t_sge sge[8];
	struct t_wr wr = {.fm_ce_se = fz_u8(f), .sge = sge};
	uint32_t len;

	wr.opcode = fz_u8(f);
	if (!(flags & 1))
		wr.opcode = often[wr.opcode % sizeof(often)];
	if (flags & 2)
		wr.imm = fz_u32(f);
	wr.raddr = an_address(f, i ^ 1);
	wr.rkey = a_key(f, i ^ 1);
	if (wr.opcode == MLX5_OPCODE_SEND_INVAL)
		wr.imm = wr.rkey;
	request_body(f, i, flags, &wr, body, operands);
	if (qp[i]->hw->st == PRM_ST_DCI && wr.opcode != MLX5_OPCODE_MMO) {
		av.dqp_dct = htobe32(qp[DCT]->qpn | MLX5_EXTENDED_UD_AV);
		av.rlid = htobe16((uint16_t)atomic_load(&hw_port(&bed->s, bed->port[1])->lid));
		be64_store(&av.key, flags & 32 ? fz_u64(f) : DC_KEY);
		wr.av = &av;
	}
	if (qp[i]->hw->st == PRM_ST_UD) {
		fz_bytes(f, &av, flags & 32 ? sizeof(av) : 0);
		if (!(flags & 32)) {
			av.key.qkey.qkey = htobe32(0x11111111);
			av.dqp_dct = htobe32(qp[i ^ 1]->qpn | MLX5_EXTENDED_UD_AV);
			av.rlid = htobe16((uint16_t)hw_qp_path(qp[i]->hw)->dlid);
		}
		wr.av = &av;
	}
	if (qp[i]->hw->st == PRM_ST_XRC)
		wr.xrc_srqn = fz_u8(f) < 200 ? srq[1].srqn : fz_u32(f);
	if (flags & 64) {
		len = fz_u8(f);
		fz_bytes(f, inl, len);
		if (len >= 32 && inl[0] == TMH_RNDV)
			offer(f, i, inl + LAYOUT_SZ(tmh));
		wr.inl = inl;
		wr.inl_len = len;
	} else {
		wr.nsge = sges(f, sge, 8, i);
	}
	if (ring)
		t_post(qp[i], &wr);
	else
		t_post_quiet(qp[i], &wr);
}

/* Raw bytes over a part of a queue, or of a doorbell record. */
static void scribble(struct fz *f, void *p, size_t len)
{
	size_t at = fz_u16(f) % len, n = fz_u8(f);

	if (n > len - at)
		n = len - at;
	fz_bytes(f, (uint8_t *)p + at, n);
}

static struct t_cq *a_cq(unsigned int n)
{
	return n % CQS < QPS ? &qp[n % CQS]->cq : &xrc_cq;
}

static void receive(struct fz *f, unsigned int i)
{
	struct t_sge sge[4];
	unsigned int n = sges(f, sge, 4, i);

	t_recv(qp[i], sge, n);
}

static void reconnect(unsigned int i, bool records)
{
	struct seg *s = &bed->s;

	if (eng_qp_set_state(s, qp[i]->qpn, PRM_QP_STATE_RST))
		return;
	if (!records)
		memset(qp[i]->dbr, 0, 8);
	qp[i]->sq_pi = qp[i]->rq_pi = 0;
	eng_qp_set_state(s, qp[i]->qpn, PRM_QP_STATE_INIT);
	eng_qp_set_state(s, qp[i]->qpn, PRM_QP_STATE_RTR);
	eng_qp_set_state(s, qp[i]->qpn, PRM_QP_STATE_RTS);
}

static void one(struct fz *f)
{
	uint8_t op = fz_u8(f), who = fz_u8(f);
	unsigned int i = who % QPS;
	struct t_cq *cq = a_cq(who);
	struct seg *s = &bed->s;

	switch (op % 16) {
	case 0:
	case 1:
		post(f, i, true);
		break;
	case 2:
		post(f, i, false);
		break;
	case 3:
		eng_ring_sq(s, qp[i]->qpn);
		break;
	case 4:
		receive(f, i);
		break;
	case 5:
		/* A program does not leave the queue when it follows its own list. */
		srq[who % SRQS].head %= 16;
		t_srq_post(&srq[who % SRQS], a_key(f, 3), (void *)(uintptr_t)an_address(f, 3),
			   a_length(f));
		break;
	case 6:
		scribble(f, qp[i]->sq, WQE_BB << T_SQ_LOG);
		break;
	case 7:
		scribble(f, qp[i]->rq, 1u << (T_RQ_LOG + T_RQ_STRIDE_LOG));
		break;
	case 8:
		scribble(f, srq[who % SRQS].buf, 4096);
		break;
	case 9:
		scribble(f, who & 0x40 ? (void *)cq->dbr : (void *)qp[i]->dbr, 8);
		break;
	case 10:
		t_now += (uint64_t)fz_u8(f) << (who % 28);
		eng_run_due(s);
		break;
	case 11:
		eng_arm_cq(s, cq->cqn, fz_u32(f));
		break;
	case 12:
		eng_uar_write(s, who & 0x80 ? fz_u8(f) : T_UAR, fz_u16(f) % 4096, fz_u64(f));
		break;
	case 13:
		if (i == DCT)
			break; /* it has no states */
		s->polled = who & 0x40;
		if (who & 0x80)
			reconnect(i, who & 0x20);
		else
			eng_qp_set_state(s, qp[i]->qpn, (enum prm_qp_state)(fz_u8(f) % 7));
		break;
	case 14:
		for (unsigned int n = fz_u8(f); n && t_poll(cq); n--)
			;
		break;
	default:
		if (who & 0x80)
			eng_srq_arm_limit(s, srq[who % SRQS].srqn, fz_u8(f));
		else
			eng_poll_doorbells(s);
		break;
	}
}

/* Check that no lock is left, and that states are valid. */
static void check(void)
{
	for (unsigned int i = 0; i < QPS; i++) {
		fz_check(!atomic_load(&qp[i]->hw->sq_lock.word));
		fz_check(!atomic_load(&qp[i]->hw->rq_lock.word));
		fz_check(!atomic_load(&qp[i]->cq.hw->lock.word));
		fz_check(atomic_load(&qp[i]->hw->state) <= PRM_QP_STATE_ERR);
	}
	for (unsigned int i = 0; i < SRQS; i++)
		fz_check(!atomic_load(&srq[i].hw->lock.word));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fz f = {data, size};

	if (!bed)
		up();
	fz_cover_from_here();
	for (int n = 0; n < OPS && f.n; n++)
		one(&f);
	check();
	restore_all();
	return 0;
}
