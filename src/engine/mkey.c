/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memory keys and lists of memory. Owns the checks of lkeys and rkeys; calls segment/mem.h. Called
 * by the requester and responder code with a send queue's lock held: that lock is what keeps a key
 * registered (eng_mkey_quiesce waits for it), so nothing is written to the key.
 */
#include "engine/internal.h"

#include <errno.h>

static_assert(sizeof(struct iovec) == sizeof(struct mem_vec), "a vector of our own is an iovec");
static_assert(ENG_MAX_SG + 2 <= MEM_MAX_VEC, "a list fits one call");

int sgl_add(struct eng_sgl *l, struct mem_slot mem, uint64_t va, uint64_t len)
{
	uint32_t i = l->n;

	if (!len)
		return 0;
	if (i >= ENG_MAX_SG)
		return -E2BIG;
	l->v[i] = (struct mem_vec){va, len};
	l->mem[i] = mem;
	if (mem.slot != l->mem[0].slot || mem.gen != l->mem[0].gen)
		l->mixed = true;
	l->n = i + 1;
	l->len += len;
	return 0;
}

enum eng_why sgl_add_key(struct seg *s, struct eng_sgl *l, uint32_t key, uint64_t addr,
			 uint64_t len, uint32_t pdn, uint32_t qpn, uint32_t access)
{
	struct hw_mkey *mk = hw_mkey(s, key);

	if (!mk || !atomic_load_explicit(&mk->valid, memory_order_acquire) || mk->key != key ||
	    mk->pdn != pdn || (mk->qpn != 0xffffff && mk->qpn != qpn))
		return ENG_W_LKEY;
	if ((mk->access & access) != access)
		return ENG_W_LKEY_ACCESS;
	if (mk->length64 ? addr + len < addr
			 : addr < mk->start || len > mk->len || addr - mk->start > mk->len - len)
		return ENG_W_LKEY_RANGE;
	return sgl_add(l, mk->mem, mk->va + (addr - mk->start), len) ? ENG_W_WQE_MALFORMED
								     : ENG_W_NONE;
}

enum eng_why sgl_from_wqe(struct eng_run *r, uint32_t off, uint32_t access)
{
	struct mem_slot self = mem_self(r->s);

	sgl_init(&r->local);
	while (off < r->bytes) {
		const uint8_t *seg = r->wqe + off;
		uint32_t n = (uint32_t)LAYOUT_GET(wqe_data, seg, byte_count);
		enum eng_why why;

		if (LAYOUT_GET(wqe_data, seg, inline_seg)) {
			/* A source only; its bytes are in our copy of the WQE. */
			if (access & HW_ACC_LOCAL_WRITE || n > r->bytes - off - WQE_INLINE_HDR ||
			    sgl_add(&r->local, self, (uintptr_t)seg + WQE_INLINE_HDR, n))
				return ENG_W_WQE_MALFORMED;
			off += (n + WQE_INLINE_HDR + WQE_SEG - 1) / WQE_SEG * WQE_SEG;
			continue;
		}
		why = sgl_add_key(r->s, &r->local, (uint32_t)LAYOUT_GET(wqe_data, seg, lkey),
				  LAYOUT_GET(wqe_data, seg, addr), n ? n : UINT64_C(1) << 31,
				  r->qp->pdn, r->qpn, access);
		if (why)
			return why;
		off += WQE_SEG;
	}
	return ENG_W_NONE;
}

void sgl_trim(struct eng_sgl *l, uint64_t len)
{
	uint64_t have = 0;

	if (l->len <= len)
		return;
	for (uint32_t i = 0; i < l->n; i++) {
		if (have + l->v[i].len >= len) {
			l->v[i].len = len - have;
			l->n = l->v[i].len ? i + 1 : i;
			break;
		}
		have += l->v[i].len;
	}
	l->len = len;
}

/* Lists that touch several processes' memory: piece by piece. */
static int copy_pieces(struct seg *s, struct eng_sgl *dst, struct eng_sgl *src)
{
	uint32_t i = 0, j = 0;
	uint64_t di = 0, sj = 0;

	while (i < dst->n && j < src->n) {
		uint64_t left_d = dst->v[i].len - di, left_s = src->v[j].len - sj;
		uint64_t n = left_d < left_s ? left_d : left_s;
		struct mem_vec to = {dst->v[i].va + di, n}, from = {src->v[j].va + sj, n};
		int rc = mem_copy(s, dst->mem[i], &to, 1, src->mem[j], &from, 1);

		if (rc)
			return rc;
		di += n;
		sj += n;
		if (di == dst->v[i].len) {
			i++;
			di = 0;
		}
		if (sj == src->v[j].len) {
			j++;
			sj = 0;
		}
	}
	return 0;
}

int sgl_copy(struct seg *s, struct eng_sgl *dst, struct eng_sgl *src)
{
	if (!src->len)
		return 0;
	sgl_trim(dst, src->len);
	if (src->mixed || dst->mixed)
		return copy_pieces(s, dst, src);
	if (mem_is_self(s, src->mem[0]))
		return mem_writev(s, dst->mem[0], dst->v, dst->n, (const struct iovec *)src->v,
				  src->n);
	if (mem_is_self(s, dst->mem[0]))
		return mem_readv(s, src->mem[0], src->v, src->n, (const struct iovec *)dst->v,
				 dst->n);
	return mem_copy(s, dst->mem[0], dst->v, dst->n, src->mem[0], src->v, src->n);
}

bool sgl_faults(struct seg *s, const struct eng_sgl *l)
{
	for (uint32_t i = 0; i < l->n; i++) {
		uint64_t end = l->v[i].va + l->v[i].len;
		uint8_t byte;

		for (uint64_t va = l->v[i].va; va < end; va = (va | 0xfff) + 1)
			if (mem_read(s, l->mem[i], va, &byte, 1) == -EFAULT)
				return true;
	}
	return false;
}

static bool dying(struct seg *s, const struct hw_mkey *one, uint32_t pdn)
{
	if (one)
		return one->pdn == pdn;
	seg_for_each_live (s, SEG_T_MKEY, i) {
		const struct hw_mkey *mk = seg_at(s, SEG_T_MKEY, i);

		if (mk->pdn == pdn && !atomic_load_explicit(&mk->valid, memory_order_relaxed))
			return true;
	}
	return false;
}

/*
 * Could the holder of this QP's send queue be using a dying key: of its own protection domain or,
 * as a responder's, of its peer's? `mk` NULL: any that is not valid.
 */
static bool may_use(struct seg *s, const struct hw_qp *qp, const struct hw_mkey *mk)
{
	uint32_t to = qp->st == HW_ST_UD ? atomic_load(&qp->ud_dest) : qp->dest_qpn;
	const struct hw_qp *peer = hw_qp(s, to);
	uint32_t srqn = qp->st == HW_ST_XRC ? atomic_load(&qp->xrc_srqn)
			: peer              ? peer->srqn
					    : SEG_NONE;
	const struct hw_srq *srq = srqn == SEG_NONE ? NULL : hw_srq(s, srqn);

	return dying(s, mk, qp->pdn) || (peer && dying(s, mk, peer->pdn)) ||
	       (srq && dying(s, mk, srq->pdn));
}

struct quiesce {
	struct running running; /* first */
	struct seg *s;
	const struct hw_mkey *mk;
	uint64_t end; /* one deadline for all: a stopped process may hold many queues */
	int rc;
};

static void quiesce_queue(struct running *it, uint32_t qpn)
{
	struct quiesce *q = (struct quiesce *)it;
	struct hw_qp *qp = hw_qp(q->s, qpn);
	uint64_t now;
	int r;

	if (!qp || !atomic_load(&qp->sq_lock.word) || !may_use(q->s, qp, q->mk))
		return;
	now = clock_now_ns();
	r = seg_lock(q->s, &qp->sq_lock, now < q->end ? q->end - now : 0);
	if (r < 0) {
		q->rc = r;
		return;
	}
	if (r == SEG_LOCK_INHERITED)
		sq_inherited(q->s, qp, qpn);
	seg_unlock(q->s, &qp->sq_lock);
}

int eng_mkey_quiesce(struct seg *s, uint32_t mkey_idx)
{
	struct quiesce q = {.running.look = quiesce_queue,
			    .s = s,
			    .mk = mkey_idx == SEG_NONE ? NULL : seg_at(s, SEG_T_MKEY, mkey_idx),
			    .end = clock_now_ns() + SEG_LOCK_CTRL_NS};

	if (!q.mk && mkey_idx != SEG_NONE)
		return -EINVAL;
	/* The caller has cleared `valid`. Whoever looked at it before holds a send queue now; when
	 * each of those has been free once, nobody uses the key any more. */
	atomic_thread_fence(memory_order_seq_cst);
	running_each(s, &q.running);
	return q.rc;
}
