/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shared by the tests of signature keys: formats as libmlx5 writes them (mlx5_umr_fill_sig_bsf()),
 * and signatures computed bit by bit.
 */
#ifndef SOFTHCA_ENGINE_TEST_SIG_H
#define SOFTHCA_ENGINE_TEST_SIG_H

#include "engine/test_keys.h"
#include "hw/flags.h"
#include "hw/mkey.h"
#include "hw/obj.h"

enum f_kind { F_NONE, F_DIF, F_CSUM, F_CRC32, F_CRC32C, F_CRC64 };

/* One side's format. */
struct fmt {
	enum f_kind kind;
	uint32_t bs;            /* index in f_sizes */
	bool ones;              /* the seed is all ones */
	uint16_t app, app_free; /* application tag; which of its bits are not checked */
	uint32_t ref;
	uint8_t flags; /* of a reference tag: F_INC... */
};
enum { F_INC = 0x40, F_ESC_APP = 1, F_ESC_APPREF = 2 };

static const struct {
	uint32_t bytes;
	uint8_t code;
} f_sizes[] = {{512, 1}, {520, 2}, {4096, 3}, {4160, 4}, {4048, 6}};

#define F_KLMS 4
#define F_KEY_AT 0x10000 /* offset of the key's memory in its QP's memory */
#define F_KEY_LEN 0x8000

struct sig_umr {
	struct mlx5_wqe_umr_ctrl_seg ctrl;
	struct mlx5_wqe_mkey_context_seg mkc;
	struct mlx5_wqe_umr_klm_seg list[F_KLMS];
	uint8_t bsf[64];
	uint8_t more[16];
};
#define F_UMR (uint32_t) offsetof(struct sig_umr, more)

/* A signature key, its PSVs (memory, wire) and its formats. */
struct skey {
	struct t_qp *q;
	struct hw_mkey *mk;
	uint32_t psv[2];
	struct fmt mem, wire;
	uint8_t check, copy;
	bool same;
};

static inline uint32_t f_bytes(const struct fmt *f)
{
	return f->kind == F_NONE ? 0 : f->kind == F_CRC32 || f->kind == F_CRC32C ? 4 : 8;
}

static inline uint32_t f_block(const struct fmt *f)
{
	return f_sizes[f->bs].bytes;
}

/* Length of `n` bytes of data with the signatures of its blocks. */
static inline uint32_t f_len(const struct fmt *f, uint32_t n)
{
	return n + n / f_block(f) * f_bytes(f);
}

static inline uint64_t f_crc(uint64_t poly, uint64_t v, const uint8_t *p, uint32_t n)
{
	for (; n; n--, p++) {
		v ^= *p;
		for (int i = 0; i < 8; i++)
			v = v >> 1 ^ (v & 1 ? poly : 0);
	}
	return v;
}

static inline uint16_t f_guard(const struct fmt *f, const uint8_t *p, uint32_t n)
{
	uint32_t v = f->ones ? 0xffff : 0;

	for (uint32_t i = 0; i < n; i++) {
		if (f->kind == F_CSUM) {
			v += i % 2 ? p[i] : (uint32_t)p[i] << 8;
			v = (v & 0xffff) + (v >> 16);
			continue;
		}
		v ^= (uint32_t)p[i] << 8;
		for (int b = 0; b < 8; b++)
			v = v << 1 ^ (v & 0x8000 ? 0x18bb7 : 0);
	}
	return (uint16_t)(f->kind == F_CSUM ? ~v : v);
}

/* The bytes of the signature of block `i`. */
static inline void f_sign(const struct fmt *f, uint32_t i, const uint8_t *p, uint8_t *to)
{
	uint32_t n = f_block(f);
	uint64_t v;

	if (f->kind == F_DIF || f->kind == F_CSUM) {
		be32_store(to, (uint32_t)f_guard(f, p, n) << 16 | f->app);
		be32_store(to + 4, f->ref + (f->flags & F_INC ? i : 0));
		return;
	}
	if (f->kind == F_CRC64)
		v = ~f_crc(0x9a6c9329ac4bc9b5, f->ones ? UINT64_MAX : 0, p, n);
	else
		v = ~f_crc(f->kind == F_CRC32 ? 0xedb88320 : 0x82f63b78, f->ones ? UINT32_MAX : 0,
			   p, n);
	memcpy(to, &v, f_bytes(f));
}

/* Writes what data looks like on that side, with signatures. Returns the length. */
static inline uint32_t f_image(const struct fmt *f, const uint8_t *data, uint32_t n, uint8_t *to)
{
	uint32_t block = f_block(f), at = 0;

	if (!f->kind) {
		memcpy(to, data, n);
		return n;
	}
	for (uint32_t i = 0; i < n; i += block) {
		uint32_t m = n - i < block ? n - i : block;

		memcpy(to + at, data + i, m);
		at += m;
		if (m == block) {
			f_sign(f, i / block, data + i, to + at);
			at += f_bytes(f);
		}
	}
	return at;
}

static inline uint32_t psv_make(struct tb *t, uint32_t pd)
{
	struct hw_obj *o;
	uint32_t i;

	assert_int_equal(seg_alloc(&t->s, SEG_T_OBJ, T_OWNER, &i), 0);
	o = seg_at(&t->s, SEG_T_OBJ, i);
	o->kind = HW_OBJ_PSV;
	o->flags = HW_F_READY;
	o->ref[0] = (struct hw_objref){SEG_T_PD, pd};
	return i;
}

static inline void skey_make(struct skey *k, struct t_qp *q, uint32_t side)
{
	k->q = q;
	k->mk = t_indirect_key(q->t, q->t->pd[side], PRM_MKC_KLM, F_KLMS + HW_BSF_ENTRIES);
	k->mk->klm_max = F_KLMS;
	k->mk->bsf_max = HW_BSF_ENTRIES;
	for (uint32_t i = 0; i < 2; i++)
		k->psv[i] = psv_make(q->t, q->t->pd[side]);
}

static inline uint32_t bfs_of(const struct fmt *f, uint8_t inl[16])
{
	static const uint8_t crc[] = {[F_CRC32] = 0x20, [F_CRC32C] = 0x40, [F_CRC64] = 0x50};

	if (f->kind >= F_CRC32)
		return (uint32_t)(crc[f->kind] | 2 | !f->ones) << 24;
	inl[0] = 0xc0;
	be32_store(inl + 4, f->ref);
	inl[2] = (uint8_t)(f->app >> 8);
	inl[3] = (uint8_t)f->app;
	inl[8] = f->kind == F_DIF ? 1 : 2;
	inl[9] = 0x80 | (f->ones ? 8 : 0);
	inl[13] = f->flags;
	inl[14] = (uint8_t)(~f->app_free >> 8);
	inl[15] = (uint8_t)~f->app_free;
	return 0;
}

static inline void bsf_of(const struct skey *k, uint8_t bsf[64])
{
	uint32_t w = 0, m = 0;

	memset(bsf, 0, 64);
	bsf[0] = 2 << 6 | (k->same ? 1 << 4 : 0);
	bsf[1] = k->check;
	be32_store(bsf + 4, UINT32_MAX);
	if (k->mem.kind) {
		m = bfs_of(&k->mem, bsf + 48) | k->psv[0];
		bsf[3] = f_sizes[k->mem.bs].code;
	}
	if (k->wire.kind) {
		w = bfs_of(&k->wire, bsf + 32) | k->psv[1];
		bsf[2] = k->same ? k->copy : f_sizes[k->wire.bs].code;
	}
	be32_store(bsf + 8, w);
	be32_store(bsf + 12, m);
}

/* The UMR that gives the key its formats and `len` bytes at F_KEY_AT, in two parts. */
static inline struct sig_umr umr_of(const struct skey *k, uint32_t len)
{
	uint64_t at = (uintptr_t)k->q->mem + F_KEY_AT;
	struct sig_umr u = {0};

	u.ctrl.flags = FLAG(INLINE);
	u.ctrl.klm_octowords = htobe16(F_KLMS);
	u.ctrl.translation_offset = htobe16(HW_BSF_ENTRIES); /* bsf_octowords */
	u.ctrl.mkey_mask = htobe64(MASK(FREE) | MASK(MKEY) | MASK(LEN) | MASK(ACCESS_LOCAL_WRITE) |
				   MASK(ACCESS_REMOTE_READ) | MASK(ACCESS_REMOTE_WRITE) |
				   MASK(ACCESS_ATOMIC) | MASK(SIG_ERR) | MASK(BSF_ENABLE));
	u.mkc.qpn_mkey = htobe32(ANY_QP);
	u.mkc.access_flags =
		ACCESS(LOCAL_WRITE) | ACCESS(REMOTE_WRITE) | ACCESS(REMOTE_READ) | ACCESS(ATOMIC);
	u.mkc.flags_pd = htobe32(1u << 30);
	u.mkc.len = htobe64(len);
	entry_set(&u.list[0], &(struct klm){k->q->key, at, 1001});
	entry_set(&u.list[1], &(struct klm){k->q->key, at + 1001, len - 1001});
	bsf_of(k, u.bsf);
	return u;
}

static inline uint32_t post_raw(struct t_qp *q, uint8_t opcode, uint32_t imm, const void *raw,
				uint32_t bytes)
{
	return t_post(q, &(struct t_wr){.opcode = opcode,
					.fm_ce_se = T_SIG,
					.imm = imm,
					.raw = raw,
					.raw_len = bytes});
}

struct set_psv {
	uint32_t index;
	uint32_t syndrome;
	uint64_t start;
};

static inline void psv_set(struct t_qp *q, uint32_t psv, const struct fmt *f)
{
	struct set_psv w = {.index = htobe32(psv)};
	uint64_t ones = f->ones ? UINT64_MAX : 0;

	w.start = htobe64(f->kind == F_CRC64   ? ones
			  : f->kind >= F_CRC32 ? ones << 32
					       : ones << 48 | (uint64_t)f->app << 32 | f->ref);
	t_expect_done(q, MLX5_OPCODE_SET_PSV, post_raw(q, MLX5_OPCODE_SET_PSV, 0, &w, sizeof(w)));
}

/* As mlx5dv_wr_mkey_configure() and its setters do it. */
static inline void skey_configure(struct skey *k, uint32_t len)
{
	struct sig_umr u = umr_of(k, len);

	t_expect_done(k->q, MLX5_OPCODE_UMR,
		      post_raw(k->q, MLX5_OPCODE_UMR, k->mk->key, &u, F_UMR));
	if (k->mem.kind)
		psv_set(k->q, k->psv[0], &k->mem);
	if (k->wire.kind)
		psv_set(k->q, k->psv[1], &k->wire);
}

/*
 * The length of `n` bytes of data: in memory (mem_len), on the wire and in data segments
 * (wire_len).
 */
static inline uint32_t mem_len(const struct skey *k, uint32_t n)
{
	return f_len(&k->mem, n);
}
static inline uint32_t wire_len(const struct skey *k, uint32_t n)
{
	return f_len(&k->wire, n);
}

#endif
