/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Indirect memory keys: lists of other keys (KLM), of equal parts of keys (KSM), strided lists; and
 * copies between lists that are not plain memory. Called by mkey.c with the send queue's lock held,
 * which keeps all keys of the protection domain registered. A UMR may change a key's list at any
 * time: every entry is read once and checked.
 */
#include "engine/keys/keys.h"
#include "engine/keys/sig.h"
#include "hw/memic.h"
#include "hw/mkey.h"
#include "wire/prm/mkey.h"

#include <errno.h>

/*
 * An access with more pieces than this becomes one entry of a list, which is looked up during the
 * copy.
 */
#define EXPAND_MAX 8
/*
 * Number of pieces that are checked before the copy; a wrong one after them stops the copy midway.
 */
#define CHECK_MAX 4096

const struct hw_mkey *xlt_key(struct seg *s, uint32_t key, uint32_t pdn, uint32_t qpn)
{
	const struct hw_mkey *mk = hw_mkey(s, key);

	if (!mk || !atomic_load_explicit(&mk->valid, memory_order_acquire) || mk->key != key ||
	    mk->pdn != pdn || atomic_load_explicit(&mk->free, memory_order_acquire) ||
	    (qpn != ENG_ANY_QP && mk->qpn != 0xffffff && mk->qpn != qpn))
		return NULL;
	return mk;
}

/* Device memory lies in the segment, which every process has mapped for itself. NULL: no memory. */
static void xlt_place(struct seg *s, const struct hw_mkey *mk, uint64_t addr, struct mem_slot *mem,
		      uint64_t *va)
{
	const struct hw_memic *m = mk && mk->mode == PRM_MKC_MEMIC ? hw_memic(s, mk->memic) : NULL;

	if (!mk) {
		*mem = (struct mem_slot){ENG_SLOT_VOID, 0};
		*va = 0;
		return;
	}
	*mem = m ? mem_self(s) : mk->mem;
	*va = (m ? (uintptr_t)hw_membank_at(s, m->bank, mk->va) : mk->va) + (addr - mk->start);
}

/* A part of another key. */
struct part {
	uint32_t key;
	uint64_t addr, len;
};

static bool ksm_part(struct seg *s, const struct hw_mkey *mk, uint64_t off, struct part *p)
{
	uint64_t size = UINT64_C(1) << mk->log_entity, i = off >> mk->log_entity;
	const uint8_t *e = i < atomic_load(&mk->klm_n) ? hw_klm_entry(s, mk, (uint32_t)i) : NULL;

	if (!e)
		return false;
	p->key = LAYOUT_GET32(wqe_klm, e, mkey);
	p->addr = LAYOUT_GET(wqe_klm, e, addr) + (off & (size - 1));
	p->len = size - (off & (size - 1));
	return true;
}

static bool strided_part(struct seg *s, const struct hw_mkey *mk, const uint8_t *head, uint64_t off,
			 struct part *p)
{
	uint64_t round = LAYOUT_GET(wqe_repeat, head, byte_count);
	uint32_t n = LAYOUT_GET32(wqe_repeat, head, num_ent);
	uint64_t turn = round ? off / round : UINT64_MAX;

	if (turn >= LAYOUT_GET(wqe_repeat, head, repeat_count) || n >= atomic_load(&mk->klm_n))
		return false;
	off -= turn * round;
	for (uint32_t i = 1; i <= n; i++) {
		const uint8_t *e = hw_klm_entry(s, mk, i);
		uint64_t len = e ? LAYOUT_GET(wqe_repeat_ent, e, byte_count) : 0;

		if (off >= len) {
			off -= len;
			continue;
		}
		p->key = LAYOUT_GET32(wqe_repeat_ent, e, mkey);
		p->addr = LAYOUT_GET(wqe_repeat_ent, e, va) +
			  turn * LAYOUT_GET(wqe_repeat_ent, e, stride) + off;
		p->len = len - off;
		return true;
	}
	return false;
}

static bool klm_part(struct seg *s, const struct hw_mkey *mk, uint64_t off, struct part *p)
{
	const uint8_t *e = hw_klm_entry(s, mk, 0);
	uint32_t n = atomic_load(&mk->klm_n);

	if (n && e && LAYOUT_GET(wqe_repeat, e, op) == WQE_REPEAT_OP)
		return strided_part(s, mk, e, off, p);
	for (uint32_t i = 0; i < n && (e = hw_klm_entry(s, mk, i)); i++) {
		uint64_t len = LAYOUT_GET(wqe_klm, e, byte_count);

		if (off >= len) {
			off -= len;
			continue;
		}
		p->key = LAYOUT_GET32(wqe_klm, e, mkey);
		p->addr = LAYOUT_GET(wqe_klm, e, addr) + off;
		p->len = len - off;
		return true;
	}
	return false;
}

enum eng_why xlt_leaf(struct seg *s, const struct hw_mkey **key, uint64_t *at, uint64_t *len,
		      uint32_t qpn, uint32_t access)
{
	const struct hw_mkey *mk = *key;

	for (uint32_t depth = 0; hw_mkey_indirect(mk); depth++) {
		uint64_t off = mk->length64 ? *at : *at - mk->start;
		struct part p;

		if (depth == HW_MAX_INDIRECTION ||
		    !(mk->mode == PRM_MKC_KSM ? ksm_part(s, mk, off, &p)
					      : klm_part(s, mk, off, &p)))
			return ENG_W_LKEY_RANGE;
		if (*len > p.len)
			*len = p.len;
		if (p.key == HW_KEY_DUMP_FILL) {
			*key = NULL;
			return ENG_W_NONE;
		}
		mk = xlt_key(s, p.key, mk->pdn, qpn);
		if (!mk || mk->bsf) /* signatures below signatures are not supported */
			return ENG_W_LKEY;
		if ((mk->access & access) != access)
			return ENG_W_LKEY_ACCESS;
		*at = p.addr;
		if (!xlt_in_range(mk, *at, *len))
			return ENG_W_LKEY_RANGE;
	}
	*key = mk;
	return ENG_W_NONE;
}

enum eng_why xlt_resolve(struct seg *s, const struct hw_mkey *mk, uint64_t addr, uint64_t *len,
			 uint32_t qpn, uint32_t access, struct mem_slot *mem, uint64_t *va)
{
	enum eng_why why = xlt_leaf(s, &mk, &addr, len, qpn, access);

	if (!why)
		xlt_place(s, mk, addr, mem, va);
	return why;
}

/* The access rights needed of keys below the named one: these are always local. */
static uint32_t access_below(uint32_t access)
{
	return access & (HW_ACC_LOCAL_WRITE | HW_ACC_REMOTE_WRITE | HW_ACC_ATOMIC)
		       ? HW_ACC_LOCAL_WRITE
		       : HW_ACC_LOCAL_READ;
}

enum eng_why xlt_check(struct seg *s, const struct hw_mkey *mk, uint64_t addr, uint64_t len,
		       uint32_t qpn, uint32_t access)
{
	enum eng_why why = ENG_W_NONE;

	for (uint32_t i = 0; i < CHECK_MAX && len && !why; i++) {
		struct mem_slot mem;
		uint64_t part = len, va;

		why = xlt_resolve(s, mk, addr, &part, qpn, access_below(access), &mem, &va);
		addr += part;
		len -= part;
	}
	return why;
}

/* sgl_add_special() of memory that `leaf` leads to. */
static void add_piece(struct eng_sgl *l, const struct hw_mkey *leaf, struct mem_slot mem,
		      uint64_t va, uint64_t len)
{
	l->mixed = true;
	if (leaf && leaf->odp)
		odp_add(l, leaf, mem, va, len);
	else
		sgl_add(l, mem, va, len);
}

enum eng_why xlt_add(struct seg *s, struct eng_sgl *l, const struct hw_mkey *mk, uint64_t addr,
		     uint64_t len, uint32_t qpn, uint32_t access)
{
	uint32_t n = l->n, below = access_below(access);
	uint64_t had = l->len, part, va;
	bool late = false, odp = false;
	struct mem_slot mem;
	enum eng_why why;
	struct sig_key k;
	int rc;

	if (atomic_load_explicit(&mk->free, memory_order_acquire))
		return ENG_W_LKEY;
	if (mk->bsf) {
		why = sig_open(s, mk, &k);
		if (why || sig_has_any(&k))
			return why ? why : sig_add(s, l, mk, &k, addr, len, qpn, access);
		if (!xlt_in_range(mk, addr, len))
			return ENG_W_LKEY_RANGE;
	}
	for (uint32_t i = 0; i < CHECK_MAX && (part = len - (l->len - had)) > 0; i++) {
		const struct hw_mkey *leaf = mk;
		uint64_t at = addr + (l->len - had);

		why = xlt_leaf(s, &leaf, &at, &part, qpn, below);
		if (why)
			return why;
		xlt_place(s, leaf, at, &mem, &va);
		odp = odp || (leaf && leaf->odp);
		late = late || i == EXPAND_MAX || l->n == ENG_MAX_SG;
		if (late)
			l->len += part;
		else
			add_piece(l, leaf, mem, va, part);
	}
	if (!late)
		return ENG_W_NONE;
	l->n = n;
	l->len = had;
	mem = (struct mem_slot){ENG_SLOT_KEY, mk->key};
	rc = odp ? odp_add(l, mk, mem, addr, len) : sgl_add_special(l, mem, addr, len);
	l->mixed = true;
	return rc ? ENG_W_WQE_MALFORMED : ENG_W_NONE;
}

int cursor_piece(struct seg *s, const struct eng_cursor *c, uint64_t want, struct mem_slot *mem,
		 struct mem_vec *v)
{
	const struct hw_mkey *mk;

	if (c->i >= c->l->n)
		return -ENOENT;
	*mem = c->l->mem[c->i];
	*v = (struct mem_vec){c->l->v[c->i].va + c->off, c->l->v[c->i].len - c->off};
	if (v->len > want)
		v->len = want;
	if (mem->slot == ENG_SLOT_SIG)
		return -EFAULT;
	if (mem->slot != ENG_SLOT_KEY)
		return 0;
	/* The key was checked when it was added; it may have changed since. */
	mk = hw_mkey(s, mem->gen);
	if (!mk || mk->key != mem->gen || !atomic_load(&mk->valid) || atomic_load(&mk->free) ||
	    xlt_resolve(s, mk, v->va, &v->len, ENG_ANY_QP, 0, mem, &v->va))
		return -EFAULT;
	return 0;
}

void cursor_advance(struct eng_cursor *c, uint64_t n)
{
	while (n && c->i < c->l->n) {
		uint64_t left = c->l->v[c->i].len - c->off;

		if (n < left) {
			c->off += n;
			return;
		}
		n -= left;
		c->i++;
		c->off = 0;
	}
}

/* Adjoining pieces in one process's memory: as many as fit into one call. */
struct batch {
	struct mem_slot mem;
	uint32_t n;
	uint64_t len;
	struct mem_vec v[ENG_MAX_SG];
};

static int batch_take(struct seg *s, const struct eng_cursor *from, uint64_t most, struct batch *b)
{
	struct eng_cursor c = *from;
	struct mem_slot mem;
	struct mem_vec v;
	int rc = 0;

	b->n = 0;
	b->len = 0;
	while (b->n < ENG_MAX_SG && b->len < most) {
		rc = cursor_piece(s, &c, most - b->len, &mem, &v);
		if (rc || (b->n && (mem.slot != b->mem.slot || mem.gen != b->mem.gen)))
			break;
		b->mem = mem;
		b->v[b->n++] = v;
		b->len += v.len;
		cursor_advance(&c, v.len);
	}
	return b->n ? 0 : -EFAULT;
}

static void batch_trim(struct batch *b, uint64_t len)
{
	while (b->len > len) {
		uint64_t over = b->len - len, last = b->v[b->n - 1].len;
		uint64_t cut = over < last ? over : last;

		b->v[b->n - 1].len -= cut;
		b->len -= cut;
		if (!b->v[b->n - 1].len)
			b->n--;
	}
}

static int zero(struct seg *s, const struct batch *b)
{
	static const uint8_t zeroes[4096];
	int rc = 0;

	for (uint32_t i = 0; i < b->n; i++)
		for (uint64_t at = 0; !rc && at < b->v[i].len; at += sizeof(zeroes)) {
			uint64_t n = b->v[i].len - at;

			rc = mem_write(s, b->mem, b->v[i].va + at, zeroes,
				       n < sizeof(zeroes) ? n : sizeof(zeroes));
		}
	return rc;
}

int xlt_copy(struct seg *s, const struct eng_sgl *dst, const struct eng_sgl *src)
{
	struct eng_cursor d = {.l = dst}, f = {.l = src};
	struct batch to, from;
	int rc = 0;

	for (uint64_t left = src->len; left && !rc; left -= to.len) {
		rc = batch_take(s, &d, left, &to);
		if (!rc)
			rc = batch_take(s, &f, to.len, &from);
		if (rc)
			return rc;
		batch_trim(&to, from.len);
		if (to.mem.slot != ENG_SLOT_VOID && from.mem.slot != ENG_SLOT_VOID)
			rc = mem_copy(s, to.mem, to.v, to.n, from.mem, from.v, from.n);
		else if (to.mem.slot != ENG_SLOT_VOID)
			rc = zero(s, &to);
		cursor_advance(&d, to.len);
		cursor_advance(&f, to.len);
	}
	return rc;
}
