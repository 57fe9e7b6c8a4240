/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * UMR: work requests that change memory keys. They bind and invalidate memory windows, and set
 * lists of mlx5dv keys. Called by sq.c between running_enter() and running_leave(), which keeps the
 * key from being destroyed (eng_mkey_quiesce). The firmware owns `valid`, this file owns `free`.
 *
 * A key is made free first, until it has no users as it was; only then it is changed, and the work
 * request completed. If that takes long the request waits at the head of its queue; hw_qp.took says
 * that it has begun.
 */
#include "engine/keys/keys.h"
#include "engine/keys/sig.h"
#include "hw/qp.h"
#include "hw/mkey.h"
#include "util/point.h"
#include "wire/prm/mkey.h"

#include <errno.h>

#define FIELD(mask, f)                                       \
	{                                                    \
		(mask), LF_mkc_##f##_BIT, LF_mkc_##f##_WIDTH \
	}
/* Context fields that a WQE may change, by bit of its mask. */
static const struct umr_field {
	uint32_t mask;
	uint16_t bit, width;
} fields[] = {
	FIELD(WQE_UMR_LEN, len),
	FIELD(WQE_UMR_PAGE_SIZE, log_page_size),
	FIELD(WQE_UMR_START_ADDR, start_addr),
	FIELD(WQE_UMR_EN_RINVAL, en_rinval),
	FIELD(WQE_UMR_SIG_ERR, expected_sigerr_count),
	FIELD(WQE_UMR_BSF_ENABLE, bsf_en),
	FIELD(WQE_UMR_MKEY, mkey_7_0),
	FIELD(WQE_UMR_QPN, qpn),
	FIELD(WQE_UMR_LR, lr),
	FIELD(WQE_UMR_LW, lw),
	FIELD(WQE_UMR_RR, rr),
	FIELD(WQE_UMR_RW, rw),
	FIELD(WQE_UMR_A, a),
	FIELD(WQE_UMR_FREE, free),
};

#define MKC(f) LAYOUT_GET(mkc, mk->mkc, f)
#define MKC32(f) LAYOUT_GET32(mkc, mk->mkc, f)

void eng_mkey_fields(struct hw_mkey *mk)
{
	mk->access = (MKC(lr) ? HW_ACC_LOCAL_READ : 0) | (MKC(lw) ? HW_ACC_LOCAL_WRITE : 0) |
		     (MKC(rr) ? HW_ACC_REMOTE_READ : 0) | (MKC(rw) ? HW_ACC_REMOTE_WRITE : 0) |
		     (MKC(a) ? HW_ACC_ATOMIC : 0);
	mk->mode = (uint32_t)(MKC(access_mode_4_2) << 2 | MKC(access_mode_1_0));
	/* keys of device memory are zero-based: their start is a place in the BAR */
	mk->start = mk->mode == PRM_MKC_MEMIC ? 0 : MKC(start_addr);
	mk->len = MKC(len);
	mk->length64 = MKC32(length64);
	mk->qpn = MKC32(qpn);
	mk->key = (mk->key & ~0xffu) | MKC32(mkey_7_0);
	mk->umr_en = MKC32(umr_en);
	mk->en_rinval = MKC32(en_rinval);
	mk->log_entity = MKC32(log_page_size);
	mk->slow = mk->mode > PRM_MKC_MTT || mk->umr_en;
	mk->bsf = (uint8_t)MKC(bsf_en);
	mk->crypto = (uint8_t)MKC(crypto_en);
}

/* Does the key exist, is it of this QP's protection domain, and may UMRs change it? */
static bool umr_is_ours(const struct eng_run *r, const struct hw_mkey *mk)
{
	return mk && atomic_load_explicit(&mk->valid, memory_order_acquire) && mk->umr_en &&
	       mk->pdn == r->qp->pdn;
}

static enum eng_why check_key(const struct eng_run *r, const struct hw_mkey *mk, const uint8_t *u)
{
	uint64_t mask = LAYOUT_GET(wqe_umr, u, mkey_mask);
	bool is_free;

	if (!umr_is_ours(r, mk))
		return ENG_W_BIND_KEY;
	if (!(mask & WQE_UMR_MKEY) && mk->key != r->imm)
		return ENG_W_BIND_KEY;
	is_free = atomic_load(&mk->free);
	/*
	 * libmlx5 sets the bit for LOCAL_INV and, with the same bytes, for a bind of length 0
	 * (set_umr_control_seg()). An unbound window belongs to no QP: then the bind is an error by
	 * IBA o10-37.2.40 (rxe_check_bind_mw()). A SEND with invalidate leaves the QP's number in
	 * the key. mlx5dv's keys are usable by any QP.
	 */
	if (LAYOUT_GET(wqe_umr, u, check_qpn) &&
	    (is_free || (mk->qpn != r->qpn && mk->qpn != 0xffffff)))
		return ENG_W_BIND_KEY;
	if (is_free ? LAYOUT_GET(wqe_umr, u, fail_if_free)
		    : LAYOUT_GET(wqe_umr, u, fail_if_not_free))
		return ENG_W_BIND_STATE;
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		mask &= ~(uint64_t)fields[i].mask;
	return mask ? ENG_W_WQE_MALFORMED : ENG_W_NONE;
}

/* Copy the `n` entries to the key's blocks. */
static enum eng_why load_list(struct eng_run *r, struct hw_mkey *mk, const uint8_t *u, uint32_t n)
{
	uint32_t bytes = n * HW_KLM_BYTES;
	enum eng_why why;

	if (LAYOUT_GET(wqe_umr, u, inline_list)) {
		if (r->bytes < WQE_UMR_LIST + bytes)
			return ENG_W_WQE_MALFORMED;
		for (uint32_t i = 0; i < n; i++)
			memcpy(hw_klm_entry(r->s, mk, i), r->wqe + WQE_UMR_LIST + i * HW_KLM_BYTES,
			       HW_KLM_BYTES);
		return ENG_W_NONE;
	}
	why = sgl_from_wqe(r, WQE_UMR_LIST, HW_ACC_LOCAL_READ, UINT64_MAX);
	if (why)
		return why;
	sgl_trim(&r->local, bytes);
	if (r->local.len < bytes)
		return ENG_W_WQE_MALFORMED;
	sgl_init(&r->remote);
	for (uint32_t i = 0; i < n; i += HW_KLM_PER_BLOCK) {
		uint32_t m = n - i < HW_KLM_PER_BLOCK ? n - i : HW_KLM_PER_BLOCK;

		sgl_add(&r->remote, mem_self(r->s), (uintptr_t)hw_klm_entry(r->s, mk, i),
			m * HW_KLM_BYTES);
	}
	return sgl_copy(r->s, &r->remote, &r->local) ? ENG_W_LOCAL_FAULT : ENG_W_NONE;
}

/* Signatures below signatures are not supported; a list with them is refused. */
static bool signed_part(const struct eng_run *r, uint32_t key)
{
	const struct hw_mkey *to = hw_mkey(r->s, key);

	return to && to->key == key && to->bsf;
}

static bool strided_fits(const struct eng_run *r, const struct hw_mkey *mk, const uint8_t *head,
			 uint32_t n)
{
	uint32_t num = LAYOUT_GET32(wqe_repeat, head, num_ent);
	uint64_t sum = 0;

	if (num >= n || !LAYOUT_GET(wqe_repeat, head, repeat_count))
		return false;
	for (uint32_t i = 1; i <= num; i++) {
		const uint8_t *e = hw_klm_entry(r->s, mk, i);

		if (signed_part(r, LAYOUT_GET32(wqe_repeat_ent, e, mkey)))
			return false;
		sum += LAYOUT_GET(wqe_repeat_ent, e, byte_count);
	}
	return sum == LAYOUT_GET(wqe_repeat, head, byte_count);
}

/*
 * Is the list well-formed? A card looks at the keys that it names, their ranges and rights when it
 * is used only: rdma-unit-test saw windows bound beside the region (introspection_mlx5.h,
 * BufferMwTest and UnsignaledBindError).
 */
static bool list_fits(const struct eng_run *r, const struct hw_mkey *mk, uint32_t n)
{
	const uint8_t *e = hw_klm_entry(r->s, mk, 0);

	if (mk->mode == PRM_MKC_KLM && LAYOUT_GET(wqe_repeat, e, op) == WQE_REPEAT_OP)
		return strided_fits(r, mk, e, n);
	for (uint32_t i = 0; i < n; i++)
		if (signed_part(r, LAYOUT_GET32(wqe_klm, hw_klm_entry(r->s, mk, i), mkey)))
			return false;
	return true;
}

/* Make the new context from the old one and the WQE. */
static void new_context(const struct hw_mkey *mk, const uint8_t *u, const uint8_t *wqe_mkc,
			uint8_t *mkc)
{
	uint64_t mask = LAYOUT_GET(wqe_umr, u, mkey_mask);

	memcpy(mkc, mk->mkc, sizeof(mk->mkc));
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (mask & fields[i].mask)
			layout_set(mkc, fields[i].bit, fields[i].width,
				   layout_get(wqe_mkc, fields[i].bit, fields[i].width));
}

/* The BSFs in the WQE, behind an inline list of `n` entries; NULL: none, *why if it is wrong. */
static const uint8_t *bsf_of(const struct eng_run *r, const struct hw_mkey *mk, uint32_t n,
			     enum eng_why *why)
{
	const uint8_t *u = r->wqe + WQE_SEG;
	uint32_t entries = LAYOUT_GET32(wqe_umr, u, translation_offset);
	uint32_t off = WQE_UMR_LIST + n * HW_KLM_BYTES;
	struct sig_key k;

	*why = ENG_W_NONE;
	if (!entries)
		return NULL;
	*why = ENG_W_WQE_MALFORMED;
	if (LAYOUT_GET(wqe_umr, u, translation_offset_en) || entries % HW_BSF_ENTRIES ||
	    !LAYOUT_GET(wqe_umr, u, inline_list) || entries > mk->bsf_max ||
	    r->bytes < off + entries * HW_KLM_BYTES || !sig_parse(r->wqe + off, entries, &k) ||
	    (k.crypto.unit && !mk->crypto))
		return NULL;
	*why = ENG_W_NONE;
	return r->wqe + off;
}

/* All checks before the key is touched; sets *to to the new key, except its list. */
static enum eng_why check_change(struct eng_run *r, const struct hw_mkey *mk, struct hw_mkey *to)
{
	const uint8_t *u = r->wqe + WQE_SEG;
	uint32_t n = LAYOUT_GET32(wqe_umr, u, klm_octowords);
	enum eng_why why;

	*to = *mk;
	new_context(mk, u, r->wqe + WQE_UMR_MKC, to->mkc);
	eng_mkey_fields(to);
	bsf_of(r, mk, n, &why);
	if (why || (to->bsf && !mk->bsf_max))
		return ENG_W_WQE_MALFORMED;
	if (hw_mkey_indirect(mk) ? n > mk->klm_max : n || to->len > mk->len)
		return ENG_W_BIND_LIST;
	return ENG_W_NONE;
}

static enum eng_why change(struct eng_run *r, struct hw_mkey *mk, const struct hw_mkey *to)
{
	const uint8_t *u = r->wqe + WQE_SEG;
	uint32_t n = LAYOUT_GET32(wqe_umr, u, klm_octowords);
	enum eng_why why;
	const uint8_t *bsf = bsf_of(r, mk, n, &why);

	atomic_store(&mk->free, 1);
	if (LAYOUT_GET(wqe_umr, u, mkey_mask) & WQE_UMR_SIG_ERR)
		atomic_store(&mk->sig_told, 0);
	if (n) {
		why = load_list(r, mk, u, n);
		if (!why && !list_fits(r, mk, n))
			why = ENG_W_BIND_LIST;
		atomic_store(&mk->klm_n, why ? 0 : n);
		if (why)
			return why;
	}
	if (bsf)
		sig_load(r->s, mk, bsf, LAYOUT_GET32(wqe_umr, u, translation_offset));
	memcpy(mk->mkc, to->mkc, sizeof(mk->mkc));
	eng_mkey_fields(mk);
	atomic_store_explicit(&mk->free, LAYOUT_GET32(mkc, to->mkc, free), memory_order_release);
	return ENG_W_NONE;
}

/*
 * Make the key free and wait until it has no users. It may be destroyed meanwhile: the caller
 * checks.
 */
static enum eng_out take_away(struct eng_run *r, struct hw_mkey *mk)
{
	bool first = !r->qp->took;

	/*
	 * Check the gate first: it may have been shut to take the responder's lock over, and
	 * mkey_wait() would open it again.
	 */
	if (!gate_pass(&r->ring->gate, GATE_BUSY))
		return ENG_AGAIN;
	if (first) {
		atomic_store(&mk->free, 1);
		LAYOUT_SET(mkc, mk->mkc, free, 1);
		r->qp->took = running_mark(r->s);
	}
	POINT("key-taken");
	return mkey_wait(r, mk, first ? SEG_LOCK_DATA_NS : 0) ? ENG_LOCKED : ENG_DONE;
}

enum eng_out umr_execute(struct eng_run *r)
{
	struct hw_mkey *mk = hw_mkey(r->s, r->imm), to;
	enum eng_out out = ENG_DONE;

	if (r->bytes < WQE_UMR_LIST)
		r->why = ENG_W_WQE_MALFORMED;
	else if (r->qp->took)
		r->why = umr_is_ours(r, mk) ? ENG_W_NONE : ENG_W_BIND_KEY;
	else
		r->why = check_key(r, mk, r->wqe + WQE_SEG);
	if (!r->why)
		r->why = check_change(r, mk, &to);
	if (r->why)
		return ENG_FAILED;
	if (r->qp->took || !atomic_load(&mk->free))
		out = take_away(r, mk);
	if (out != ENG_DONE)
		return out;
	/*
	 * GATE_BUSY: while the key changes, eng_mkey_quiesce() waits for this thread, even if it is
	 * stopped.
	 */
	if (!gate_pass(&r->ring->gate, GATE_BUSY))
		return ENG_AGAIN;
	r->why = umr_is_ours(r, mk) ? change(r, mk, &to) : ENG_W_BIND_KEY;
	POINT("key-changed");
	gate_reset(&r->ring->gate); /* a BUSY gate cannot be shut, so reset it */
	return r->why ? ENG_FAILED : ENG_DONE;
}

bool umr_may_invalidate(struct eng_run *r)
{
	const struct hw_mkey *mk = hw_mkey(r->s, r->imm);

	return r->qp->took || (xlt_key(r->s, r->imm, r->to.pdn, r->dest) && mk->en_rinval);
}

enum eng_out umr_invalidate(struct eng_run *r)
{
	struct hw_mkey *mk = hw_mkey(r->s, r->imm);

	return mk ? take_away(r, mk) : ENG_DONE;
}
