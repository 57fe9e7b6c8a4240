/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Signature keys (mlx5dv_wr_set_mkey_sig_block(3), mlx5dv_mkey_check(3)): their format (BSF), start
 * values (PSV), and the memory behind a range of them. Crypto keys have the same, with a BSF of
 * crypto (crypto.c).
 * Called by mkey.c, xlt.c and umr.c. sig_copy.c moves the data.
 *
 * Inferred, as no document says it: each transfer starts with the tags in the BSF, and a block's
 * number is its place in the key; a transfer begins at the start of a block.
 */
#include "engine/keys/keys.h"
#include "engine/keys/sig.h"

#include "hw/flags.h"
#include "hw/obj.h"
#include "hw/qp.h"
#include "util/point.h"

#include <errno.h>

/* bs_to_bs_selector() in rdma-core's providers/mlx5/qp.c */
static const uint32_t block_sizes[] = {[1] = 512, [2] = 520, [3] = 4096, [4] = 4160, [6] = 4048};

uint32_t sig_block_size(uint32_t code)
{
	return code < sizeof(block_sizes) / sizeof(block_sizes[0]) ? block_sizes[code] : 0;
}

static bool parse_crc(struct sig_domain *d, uint32_t bfs)
{
	bool zero = bfs & WQE_BFS_SEED_0;

	if (!(bfs & WQE_BFS_REPEAT) || bfs & 0xc)
		return false;
	d->bytes = 4;
	d->seed = zero ? 0 : (uint64_t)UINT32_MAX << 32;
	switch (bfs & WQE_BFS_CRC) {
	case WQE_BFS_CRC32:
		d->kind = SIG_CRC32;
		return true;
	case WQE_BFS_CRC32C:
		d->kind = SIG_CRC32C;
		return true;
	case WQE_BFS_CRC64:
		d->kind = SIG_CRC64;
		d->bytes = 8;
		d->seed = zero ? 0 : UINT64_MAX;
		return true;
	default:
		return false;
	}
}

static bool parse_dif(struct sig_domain *d, const uint8_t *inl)
{
	uint8_t type = LAYOUT_GET8(wqe_bsf_inl, inl, sig_type);

	if (!LAYOUT_GET(wqe_bsf_inl, inl, valid) || !LAYOUT_GET(wqe_bsf_inl, inl, refresh) ||
	    !LAYOUT_GET(wqe_bsf_inl, inl, repeat) || (type != WQE_DIF_CRC && type != WQE_DIF_IPCS))
		return false;
	d->kind = SIG_DIF;
	d->bytes = 8;
	d->seed = LAYOUT_GET(wqe_bsf_inl, inl, seed) ? UINT64_C(0xffff) << 48 : 0;
	d->is_ip = type == WQE_DIF_IPCS;
	d->app = (uint16_t)LAYOUT_GET(wqe_bsf_inl, inl, apptag);
	d->app_checked = (uint16_t)LAYOUT_GET(wqe_bsf_inl, inl, app_bitmask);
	d->ref = LAYOUT_GET32(wqe_bsf_inl, inl, reftag);
	d->inc_ref = LAYOUT_GET(wqe_bsf_inl, inl, inc_reftag);
	d->escape_app = LAYOUT_GET(wqe_bsf_inl, inl, apptag_escape);
	d->escape_appref = LAYOUT_GET(wqe_bsf_inl, inl, appref_escape);
	return true;
}

static bool parse_domain(struct sig_domain *d, uint32_t block, uint32_t bfs, uint32_t psv,
			 const uint8_t *inl)
{
	if (!block)
		return false;
	d->block = block;
	d->psv = psv;
	return bfs ? parse_crc(d, bfs) : parse_dif(d, inl);
}

/* Bit i of the mask stands for byte i of the number. */
static uint64_t byte_mask(uint32_t mask)
{
	uint64_t v = 0;

	for (uint32_t i = 0; i < 8; i++)
		v |= (uint64_t)(mask >> i & 1 ? 0xff : 0) << 8 * i;
	return v;
}

static bool parse_sig(const uint8_t bsf[WQE_BSF_BYTES], uint32_t size, struct sig_key *k)
{
	uint32_t mem = LAYOUT_GET32(wqe_bsf, bsf, mem_bs);
	uint32_t wire = LAYOUT_GET32(wqe_bsf, bsf, wire_bs);

	k->same = LAYOUT_GET(wqe_bsf, bsf, sbs);
	k->check = byte_mask(LAYOUT_GET32(wqe_bsf, bsf, check_byte_mask));
	k->longest = LAYOUT_GET(wqe_bsf, bsf, raw_data_size);
	if (!mem && !wire && !k->same)
		return true;
	if (LAYOUT_GET(wqe_bsf, bsf, bsf_size) != size)
		return false;
	if (k->same)
		k->copy = byte_mask(wire);
	if (mem && !parse_domain(&k->mem, sig_block_size(mem), LAYOUT_GET32(wqe_bsf, bsf, m_bfs),
				 LAYOUT_GET32(wqe_bsf, bsf, m_psv), bsf + WQE_BSF_MEM_INL))
		return false;
	if ((k->same || wire) &&
	    !parse_domain(&k->wire, sig_block_size(k->same ? mem : wire),
			  LAYOUT_GET32(wqe_bsf, bsf, w_bfs), LAYOUT_GET32(wqe_bsf, bsf, w_psv),
			  bsf + WQE_BSF_WIRE_INL))
		return false;
	return !k->same || k->mem.kind == k->wire.kind;
}

static bool is_crypto(const uint8_t *bsf)
{
	return LAYOUT_GET(wqe_crypto_bsf, bsf, type) == WQE_BSF_TYPE_CRYPTO;
}

bool sig_parse(const uint8_t *bsf, uint32_t entries, struct sig_key *k)
{
	const uint8_t *second = entries > HW_BSF_ENTRIES ? bsf + WQE_BSF_BYTES : NULL;
	bool both = second && is_crypto(second);
	const uint8_t *crypto = both ? second : is_crypto(bsf) ? bsf : NULL;
	uint32_t size = both ? WQE_BSF_SIG_AND_CRYPTO : WQE_BSF_WITH_INLINE;

	*k = (struct sig_key){0};
	if (second && !both && (crypto || LAYOUT_GET(wqe_crypto_bsf, second, bsf_size)))
		return false;
	if (crypto && (LAYOUT_GET(wqe_crypto_bsf, crypto, bsf_size) != size ||
		       !crypto_parse(crypto, &k->crypto)))
		return false;
	if (crypto != bsf && !parse_sig(bsf, size, k))
		return false;
	if (crypto && (crypto == bsf || k->crypto.longest < k->longest))
		k->longest = k->crypto.longest;
	return true;
}

struct hw_obj *sig_obj(struct seg *s, enum hw_obj_kind kind, uint32_t idx, uint32_t pdn)
{
	struct hw_obj *o = hw_obj(s, idx);

	return o && __atomic_load_n(&o->flags, __ATOMIC_ACQUIRE) & HW_F_READY && o->kind == kind &&
			       o->ref[0].idx == pdn
		       ? o
		       : NULL;
}

static bool psv_read(struct seg *s, uint32_t pdn, struct sig_domain *d)
{
	const struct hw_obj *o = d->bytes ? sig_obj(s, HW_OBJ_PSV, d->psv, pdn) : NULL;

	if (o)
		d->first = atomic_load_explicit(&o->psv, memory_order_relaxed);
	return o || !d->bytes;
}

enum eng_why sig_open(struct seg *s, const struct hw_mkey *mk, struct sig_key *k)
{
	uint8_t bsf[HW_BSF_MAX * HW_KLM_BYTES];

	for (uint32_t i = 0; i < mk->bsf_max; i++) {
		const uint8_t *e = hw_klm_entry(s, mk, mk->klm_max + i);

		if (!e)
			return ENG_W_LKEY;
		memcpy(bsf + i * HW_KLM_BYTES, e, HW_KLM_BYTES);
	}
	if (!mk->bsf_max || !sig_parse(bsf, mk->bsf_max, k))
		return ENG_W_LKEY;
	if (mk->crypto && !k->crypto.unit) /* mlx5dv_wr_set_mkey_crypto(3): it must be configured */
		return ENG_W_CRYPTO_KEY;
	return psv_read(s, mk->pdn, &k->mem) && psv_read(s, mk->pdn, &k->wire) ? ENG_W_NONE
									       : ENG_W_SIG_PSV;
}

void sig_load(struct seg *s, const struct hw_mkey *mk, const uint8_t *bsf, uint32_t entries)
{
	for (uint32_t i = 0; i < mk->bsf_max; i++) {
		uint8_t *to = hw_klm_entry(s, mk, mk->klm_max + i);

		if (i < entries)
			memcpy(to, bsf + i * HW_KLM_BYTES, HW_KLM_BYTES);
		else
			memset(to, 0, HW_KLM_BYTES);
	}
}

/* Is offset `data` the start of a block on both sides? */
static bool block_begins(const struct sig_key *k, uint64_t data)
{
	return !(k->mem.bytes && data % k->mem.block) && !(k->wire.bytes && data % k->wire.block);
}

enum eng_why sig_add(struct seg *s, struct eng_sgl *l, const struct hw_mkey *mk,
		     const struct sig_key *k, uint64_t addr, uint64_t len, uint32_t qpn,
		     uint32_t access)
{
	uint64_t off = addr - mk->start, end = off + len, from, to;
	enum eng_why why;

	if (access & HW_ACC_ATOMIC)
		return ENG_W_LKEY_ACCESS;
	if (end < off)
		return ENG_W_LKEY_RANGE;
	from = sig_data(&k->wire, off);
	to = sig_data(&k->wire, end);
	if (!block_begins(k, from) || off != sig_place(&k->wire, from) || to > k->longest ||
	    to > mk->len || sig_place(&k->mem, to) > mk->len)
		return ENG_W_LKEY_RANGE;
	from = sig_place(&k->mem, from);
	to = sig_place(&k->mem, to);
	why = xlt_check(s, mk, mk->start + from, to - from, qpn, access);
	if (!why && k->crypto.unit)
		why = k->crypto.on_wire ? crypto_check(s, mk, &k->crypto, off, end - off)
					: crypto_check(s, mk, &k->crypto, from, to - from);
	if (why)
		return why;
	if (l->sig != ENG_SIG_CRYPTO)
		l->sig = k->crypto.unit ? ENG_SIG_CRYPTO : ENG_SIG_ONLY;
	return sgl_add_special(l, (struct mem_slot){ENG_SLOT_SIG, mk->key}, off, end - off)
		       ? ENG_W_WQE_MALFORMED
		       : ENG_W_NONE;
}

enum eng_out sig_set_psv(struct eng_run *r)
{
	const uint8_t *seg = r->wqe + WQE_SEG;
	struct hw_obj *o;

	r->why = ENG_W_WQE_MALFORMED;
	if (r->bytes != 2 * WQE_SEG)
		return ENG_FAILED;
	/*
	 * GATE_BUSY: until the PSV is set, eng_psv_quiesce() waits for this thread, even if it is
	 * stopped.
	 */
	if (!gate_pass(&r->ring->gate, GATE_BUSY))
		return ENG_AGAIN;
	o = sig_obj(r->s, HW_OBJ_PSV, LAYOUT_GET32(wqe_psv, seg, psv_index), r->qp->pdn);
	POINT("psv-found");
	if (o)
		atomic_store_explicit(&o->psv, LAYOUT_GET(wqe_psv, seg, transient_signature),
				      memory_order_relaxed);
	gate_reset(&r->ring->gate); /* a BUSY gate cannot be shut, so reset it */
	POINT("psv-set");
	r->why = o ? ENG_W_NONE : ENG_W_SIG_PSV;
	return o ? ENG_DONE : ENG_FAILED;
}

struct psv_users {
	struct running running; /* first */
	struct seg *s;
	uint32_t pdn;
};

static bool uses_psv(const struct running *it, uint32_t qpn)
{
	const struct psv_users *u = (const struct psv_users *)it;
	const struct hw_qp *qp = hw_qp(u->s, qpn);

	return qp && qp->pdn == u->pdn;
}

static uint32_t minds_for_psv(const struct running *it, uint32_t slot)
{
	return 0;
}

int eng_psv_quiesce(struct seg *s, uint32_t idx)
{
	const struct hw_obj *o = seg_at(s, SEG_T_OBJ, idx);
	struct running it = {0, uses_psv, minds_for_psv};
	struct psv_users u;

	if (!o)
		return -EINVAL;
	it.epoch = running_mark(s);
	u = (struct psv_users){.running = it, .s = s, .pdn = o->ref[0].idx};
	return running_wait(s, &u.running, SEG_LOCK_CTRL_NS);
}
