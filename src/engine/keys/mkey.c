/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memory keys and lists of memory. Owns the checks of lkeys and rkeys; calls segment/mem.h. Called
 * by requester and responder code between running_enter() and running_leave(): this keeps a key
 * registered (eng_mkey_quiesce() waits for it), so nothing is written to the key.
 */
#include "engine/keys/keys.h"
#include "engine/base/cause_text.h"
#include "engine/base/transport.h"
#include "hw/mkey.h"
#include "hw/qp_state.h"
#include "hw/srq.h"
#include "segment/near.h"
#include "wire/prm/mkey.h"

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

void sgl_skip(struct eng_sgl *l, uint64_t n)
{
	for (uint32_t i = 0; i < l->n && n; i++) {
		uint64_t cut = l->v[i].len < n ? l->v[i].len : n;

		l->v[i].va += cut;
		l->v[i].len -= cut;
		l->len -= cut;
		n -= cut;
	}
	while (l->n && !l->v[0].len) {
		l->n--;
		memmove(l->v, l->v + 1, l->n * sizeof(l->v[0]));
		memmove(l->mem, l->mem + 1, l->n * sizeof(l->mem[0]));
		memmove(l->odp_key, l->odp_key + 1, l->n * sizeof(l->odp_key[0]));
		l->odp >>= 1;
	}
}

int sgl_add_special(struct eng_sgl *l, struct mem_slot mem, uint64_t va, uint64_t len)
{
	l->mixed = true;
	return sgl_add(l, mem, va, len);
}

/*
 * A reserved key number. By ibv_alloc_null_mr(3) the null key is an lkey only, but perftest's
 * --use-null-mr lets the other end WRITE to it and READ from it (set_up_connection() in its
 * perftest_communication.c), which presumes that cards allow that.
 */
static enum eng_why add_special(struct eng_sgl *l, uint32_t key, uint64_t len, uint32_t access)
{
	if (key != HW_KEY_DUMP_FILL || access & HW_ACC_ATOMIC)
		return ENG_W_LKEY;
	return sgl_add_special(l, (struct mem_slot){ENG_SLOT_VOID, 0}, 0, len) ? ENG_W_WQE_MALFORMED
									       : ENG_W_NONE;
}

static inline enum eng_why add_key(struct seg *s, struct eng_sgl *l, uint32_t key, uint64_t addr,
				   uint64_t len, uint32_t pdn, uint32_t qpn, uint32_t access)
{
	struct hw_mkey *mk = hw_mkey(s, key);

	running_uses_key(key);
	if (!mk)
		return add_special(l, key, len, access);
	if (!atomic_load_explicit(&mk->valid, memory_order_acquire) || mk->key != key ||
	    mk->pdn != pdn || (mk->qpn != 0xffffff && mk->qpn != qpn))
		return ENG_W_LKEY;
	if ((mk->access & access) != access)
		return ENG_W_LKEY_ACCESS;
	/* With signatures, lengths on the wire and in memory differ: the range is checked later. */
	if (!xlt_in_range(mk, addr, len) && !mk->bsf)
		return ENG_W_LKEY_RANGE;
	if (mk->slow) {
		if (running_last.used)
			running_any_key(running_last.used);
		return xlt_add(s, l, mk, addr, len, qpn, access);
	}
	if (__builtin_expect(mk->odp != HW_ODP_NONE, 0))
		return odp_add(l, mk, mk->mem, mk->va + (addr - mk->start), len)
			       ? ENG_W_WQE_MALFORMED
			       : ENG_W_NONE;
	/* Plain instructions of a stopped thread cannot be revoked, so these do no atomics. */
	if (!mem_is_self(s, mk->mem) && (!(access & HW_ACC_ATOMIC) || near_ready()))
		return adopt_add(s, l, mk, mk->va + (addr - mk->start), len, access);
	return sgl_add(l, mk->mem, mk->va + (addr - mk->start), len) ? ENG_W_WQE_MALFORMED
								     : ENG_W_NONE;
}

enum eng_why sgl_add_key(struct seg *s, struct eng_sgl *l, uint32_t key, uint64_t addr,
			 uint64_t len, uint32_t pdn, uint32_t qpn, uint32_t access)
{
	enum eng_why why = add_key(s, l, key, addr, len, pdn, qpn, access);

	if (__builtin_expect(why, 0)) {
		cause_note.key = key;
		cause_note.pdn = pdn;
		cause_note.qpn = qpn;
		cause_note.access = access;
		cause_note.addr = addr;
		cause_note.len = len;
	}
	return why;
}

enum eng_why sgl_from_wqe(struct eng_run *r, uint32_t off, uint32_t access, uint64_t most)
{
	struct mem_slot self = mem_self(r->s);

	sgl_init(&r->local);
	while (off < r->bytes && r->local.len < most) {
		const uint8_t *seg = r->wqe + off;
		uint32_t n = LAYOUT_GET32(wqe_data, seg, byte_count);
		uint64_t len = wqe_data_len(seg), room = most - r->local.len;
		enum eng_why why;

		if (LAYOUT_GET(wqe_data, seg, inline_seg)) {
			/*
			 * Inline data is a source only; its bytes are in the engine's copy of the
			 * WQE.
			 */
			if (access & HW_ACC_LOCAL_WRITE || n > r->bytes - off - WQE_INLINE_HDR ||
			    sgl_add(&r->local, self, (uintptr_t)seg + WQE_INLINE_HDR, n))
				return ENG_W_WQE_MALFORMED;
			off += wqe_inline_size(n);
			continue;
		}
		why = sgl_add_key(r->s, &r->local, LAYOUT_GET32(wqe_data, seg, lkey),
				  LAYOUT_GET(wqe_data, seg, addr), len < room ? len : room,
				  r->qp->pdn, r->qpn, access);
		if (why)
			return access & HW_ACC_LOCAL_WRITE ? sgl_scatter_why(why) : why;
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

int sgl_copy(struct seg *s, struct eng_sgl *dst, struct eng_sgl *src)
{
	if (!src->len)
		return 0;
	sgl_trim(dst, src->len);
	if (src->mixed || dst->mixed)
		return xlt_copy(s, dst, src);
	if (mem_is_self(s, src->mem[0]))
		return mem_writev(s, dst->mem[0], dst->v, dst->n, (const struct iovec *)src->v,
				  src->n);
	if (mem_is_self(s, dst->mem[0]))
		return mem_readv(s, src->mem[0], src->v, src->n, (const struct iovec *)dst->v,
				 dst->n);
	return mem_copy(s, dst->mem[0], dst->v, dst->n, src->mem[0], src->v, src->n);
}

bool sgl_unreadable(struct seg *s, const struct eng_sgl *l)
{
	struct eng_cursor c = {.l = l};
	struct mem_slot mem;
	struct mem_vec v;
	uint8_t byte;
	int rc;

	while (!(rc = cursor_piece(s, &c, UINT64_MAX, &mem, &v))) {
		for (uint64_t va = v.va; va < v.va + v.len && mem.slot != ENG_SLOT_VOID;
		     va = (va | 0xfff) + 1)
			if (mem_read(s, mem, va, &byte, 1) == -EFAULT)
				return true;
		cursor_advance(&c, v.len);
	}
	return rc == -EFAULT;
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
 * May the thread that works on this send queue be using key `mk`: one of the QP's protection domain
 * or, because it also acts for the responder, of the peer's? `mk` NULL: any invalid key.
 */
static bool may_use(struct seg *s, const struct hw_qp *qp, const struct hw_mkey *mk)
{
	const struct hw_qp *peer = hw_qp(s, qp_target(qp));
	uint32_t srqn = eng_transport(qp)->names_srq ? atomic_load(&qp->xrc_srqn)
			: peer                       ? peer->srqn
						     : SEG_NONE;
	const struct hw_srq *srq = srqn == SEG_NONE ? NULL : hw_srq(s, srqn);

	return dying(s, mk, qp->pdn) || (peer && dying(s, mk, peer->pdn)) ||
	       (srq && dying(s, mk, srq->pdn));
}

/* The key whose users quiesce() waits for, as running_wait() needs it. */
struct key_users {
	struct running running; /* first */
	struct seg *s;
	const struct hw_mkey *mk;
};

static bool uses_key(const struct running *it, uint32_t qpn)
{
	const struct key_users *u = (const struct key_users *)it;
	const struct hw_qp *qp = hw_qp(u->s, qpn);

	return qp && may_use(u->s, qp, u->mk);
}

/* May the key lead to memory of that process? An indirect one names keys of its own domain. */
static bool leads_to(struct seg *s, const struct hw_mkey *mk, uint32_t slot)
{
	if (!hw_mkey_indirect(mk))
		return mk->mem.slot == slot;
	seg_for_each_live (s, SEG_T_MKEY, i) {
		const struct hw_mkey *to = seg_at(s, SEG_T_MKEY, i);

		if (to->pdn == mk->pdn && to->mem.slot == slot)
			return true;
	}
	return false;
}

/* A queue whose state changes uses no key. */
static uint32_t minds_for_key(const struct running *it, uint32_t slot)
{
	const struct key_users *u = (const struct key_users *)it;

	return !u->mk || leads_to(u->s, u->mk, slot) ? GATE_MINDS_OWN : 0;
}

static bool holds_key(const struct running *it, uint32_t key)
{
	const struct key_users *u = (const struct key_users *)it;
	const struct hw_mkey *mk = hw_mkey(u->s, key);

	if (u->mk)
		return mk == u->mk;
	return !mk || mk->key != key || !atomic_load_explicit(&mk->valid, memory_order_relaxed);
}

static struct key_users users_of(struct seg *s, const struct hw_mkey *mk, uint64_t epoch)
{
	bool direct = mk && !hw_mkey_indirect(mk);
	struct running it = {epoch,  uses_key, minds_for_key, direct ? mk->mem.slot : SEG_NONE,
			     direct, holds_key};

	return (struct key_users){.running = it, .s = s, .mk = mk};
}

/* Waits for the users of keys that the caller has already made unusable. */
static int quiesce(struct seg *s, const struct hw_mkey *mk, uint64_t ns)
{
	struct key_users u = users_of(s, mk, running_mark(s));

	return running_wait(s, &u.running, ns);
}

int mkey_wait(struct eng_run *r, const struct hw_mkey *mk, uint64_t ns)
{
	struct key_users u = users_of(r->s, mk, r->qp->took);

	return running_wait_outside(r->s, r->ring, &u.running, ns);
}

int eng_mkey_quiesce(struct seg *s, uint32_t mkey_idx)
{
	const struct hw_mkey *mk = seg_at(s, SEG_T_MKEY, mkey_idx);

	return mk ? quiesce(s, mk, SEG_LOCK_CTRL_NS) : -EINVAL;
}

int eng_mkey_quiesce_all(struct seg *s, uint64_t ns)
{
	return quiesce(s, NULL, ns);
}
