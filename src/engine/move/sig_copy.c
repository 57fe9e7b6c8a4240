/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Moves data through signature keys: reads, checks, makes and writes the signatures of its blocks,
 * and reports wrong ones. Called by sgl_copy_gated() with no CQ's lock held.
 *
 * A wrong signature does not fail the transfer. The first one of a key since its last configuration
 * is reported by a CQE: in the requester's send CQ if the key is in its WQE, else in the CQ of the
 * responder's receives (inferred: mlx5_parse_cqe() of libmlx5 takes it from any).
 */
#include "engine/move/move.h"
#include "engine/keys/sig.h"

#include "hw/qp.h"
#include "util/point.h"
#include "util/sums.h"
#include "wire/pkt/crc.h"
#include "wire/wqe/tm.h"

#include <errno.h>

#define CHUNK 2048

/* The position of a transfer on one side of a key: in which block, and where in it. */
struct place {
	uint64_t block; /* its number */
	uint32_t done;  /* bytes of its data */
	uint64_t sum;
};

struct sig_err {
	uint16_t syndrome; /* CQE_SIG_*; 0: no error */
	uint8_t domain;
	uint64_t expected, actual, offset;
};

/* A transfer through one key. */
struct flow {
	struct seg *s;
	const struct hw_mkey *mk;
	uint32_t key;
	struct sig_key k;
	bool out;    /* to the wire */
	uint64_t at; /* in the key's memory */
	struct place mem, wire;
	uint64_t in; /* the signature read with the current block */
	/* A signature on the wire, in pieces: `moved` bytes of it. */
	bool in_sig;
	uint32_t moved;
	uint8_t sig[SIG_MAX_BYTES];
	struct sig_err err;
	struct crypto_flow *crypto; /* NULL: the key has none */
};

static uint64_t sum_start(const struct sig_domain *d, uint64_t block)
{
	uint64_t v = block ? d->seed : d->first;

	return d->kind == SIG_DIF ? v >> 48 : d->kind == SIG_CRC64 ? v : v >> 32;
}

static uint64_t sum_words(uint64_t sum, const uint8_t *p, uint32_t n, uint32_t done)
{
	if (done % 2 && n) {
		uint8_t low[2] = {0, *p};

		sum = sum_ip((uint16_t)sum, low, 2);
		p++;
		n--;
	}
	return sum_ip((uint16_t)sum, p, n);
}

static void sum_add(const struct sig_domain *d, struct place *at, const uint8_t *p, uint32_t n)
{
	switch (d->kind) {
	case SIG_DIF:
		at->sum = d->is_ip ? sum_words(at->sum, p, n, at->done)
				   : sum_t10dif((uint16_t)at->sum, p, n);
		break;
	case SIG_CRC32:
		at->sum = crc32_add((uint32_t)at->sum, p, n);
		break;
	case SIG_CRC32C:
		at->sum = sum_crc32c((uint32_t)at->sum, p, n);
		break;
	case SIG_CRC64:
		at->sum = sum_crc64(at->sum, p, n);
		break;
	default:
		return;
	}
	at->done += n;
}

/* The signature of the complete block. SPDK's accel_mlx5 shows that a card inverts CRC-32C. */
static uint64_t sum_end(const struct sig_domain *d, const struct place *at)
{
	uint64_t guard = d->is_ip ? ~at->sum & 0xffff : at->sum;

	if (d->kind == SIG_DIF)
		return guard << 48 | (uint64_t)d->app << 32 |
		       (uint32_t)(d->ref + (d->inc_ref ? at->block : 0));
	return d->kind == SIG_CRC64 ? ~at->sum : (uint64_t) ~(uint32_t)at->sum << 32;
}

/*
 * The bytes of a signature: T10-DIF is big-endian; CRCs are little-endian, as iSCSI has them and
 * SPDK's accel_mlx5 finds CRC-32C.
 */
static void sig_encode(const struct sig_domain *d, uint64_t v, uint8_t *b)
{
	if (d->kind == SIG_DIF)
		be64_store(b, v);
	for (uint32_t i = 0; i < d->bytes && d->kind != SIG_DIF; i++)
		b[i] = (uint8_t)(v >> (64 - 8 * d->bytes + 8 * i));
}

static uint64_t sig_decode(const struct sig_domain *d, const uint8_t *b)
{
	uint64_t v = 0;

	if (d->kind == SIG_DIF)
		return be64_load(b);
	for (uint32_t i = 0; i < d->bytes; i++)
		v |= (uint64_t)b[i] << (64 - 8 * d->bytes + 8 * i);
	return v;
}

static uint32_t left(const struct sig_domain *d, const struct place *at)
{
	return d->bytes ? d->block - at->done : UINT32_MAX;
}

static bool is_full(const struct sig_domain *d, const struct place *at)
{
	return d->bytes && at->done == d->block;
}

static void next_block(const struct sig_domain *d, struct place *at)
{
	at->block++;
	at->done = 0;
	at->sum = sum_start(d, at->block);
}

/* Is the block excepted from checks by its tags (T10 SBC-3, application tag 0xffff)? */
static bool escapes(const struct sig_domain *d, uint64_t v)
{
	bool app = (v >> 32 & 0xffff) == 0xffff;

	return d->kind == SIG_DIF && app &&
	       (d->escape_app || (d->escape_appref && (uint32_t)v == UINT32_MAX));
}

/* Checks a block and records its first error: guard, then application tag, then reference tag. */
static void sig_check(struct flow *f, const struct sig_domain *d, const struct place *at, bool cut)
{
	uint64_t actual = sum_end(d, at), wrong = (f->in ^ actual) & f->k.check;
	bool dif = d->kind == SIG_DIF;

	if (dif)
		wrong &= ~((uint64_t)(uint16_t)~d->app_checked << 32);
	if (f->err.syndrome || !(wrong || (cut && f->k.check)) || (!cut && escapes(d, f->in)))
		return;
	f->err = (struct sig_err){
		.syndrome = cut || !dif || wrong >> 48 ? CQE_SIG_GUARD
			    : wrong >> 32              ? CQE_SIG_APPTAG
						       : CQE_SIG_REFTAG,
		.domain = d == &f->k.mem ? CQE_SIG_MEMORY : CQE_SIG_WIRE,
		.expected = f->in,
		.actual = actual,
		.offset = at->block * ((uint64_t)d->block + d->bytes),
	};
}

/* The signature of the output's block. */
static uint64_t sig_make(const struct flow *f, const struct sig_domain *d, const struct place *at)
{
	uint64_t v = sum_end(d, at);

	return f->k.same ? (f->in & f->k.copy) | (v & ~f->k.copy) : v;
}

/* Moves bytes between `p` and one side of a key, as the flow's direction says. */
typedef int flow_mover(struct flow *f, uint8_t *p, uint32_t n);

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* The same through the key's crypto, which collects whole data units. */
static int flow_crypt(struct flow *f, uint8_t *p, uint32_t n, flow_mover *move)
{
	struct crypto_flow *c = f->crypto;
	int rc = 0;

	while (n && !rc) {
		bool begins = !c->len;
		uint32_t m;

		if (begins && !crypto_next(c))
			return -EFAULT;
		if (begins && f->out) {
			rc = move(f, c->unit, c->len);
			if (rc)
				return rc;
			crypto_unit(c);
		}
		m = least(n, c->len - c->done);
		if (f->out)
			memcpy(p, c->unit + c->done, m);
		else
			memcpy(c->unit + c->done, p, m);
		c->done += m;
		p += m;
		n -= m;
		if (c->done < c->len)
			continue;
		if (!f->out) {
			crypto_unit(c);
			rc = move(f, c->unit, c->len);
		}
		c->len = 0;
	}
	return rc;
}

/* Read or write the key's memory. The key was checked when it was added; it may have changed. */
static int flow_memory_raw(struct flow *f, uint8_t *p, uint32_t n)
{
	while (n) {
		uint64_t part = n, va;
		struct mem_slot mem;
		int rc = 0;

		if (f->mk->key != f->key || !atomic_load(&f->mk->valid) ||
		    atomic_load(&f->mk->free) ||
		    xlt_resolve(f->s, f->mk, f->mk->start + f->at, &part, ENG_ANY_QP, 0, &mem, &va))
			return -EFAULT;
		if (mem.slot != ENG_SLOT_VOID)
			rc = f->out ? mem_read(f->s, mem, va, p, part)
				    : mem_write(f->s, mem, va, p, part);
		else if (f->out)
			memset(p, 0, part);
		if (rc)
			return rc;
		f->at += part;
		p += part;
		n -= (uint32_t)part;
	}
	return 0;
}

static int flow_memory(struct flow *f, uint8_t *p, uint32_t n)
{
	return f->crypto && !f->k.crypto.on_wire ? flow_crypt(f, p, n, flow_memory_raw)
						 : flow_memory_raw(f, p, n);
}

/* A block in memory ends: its signature is read and checked, or made and written. */
static int memory_ends(struct flow *f)
{
	const struct sig_domain *d = &f->k.mem;
	uint8_t b[SIG_MAX_BYTES];
	int rc;

	if (!f->out)
		sig_encode(d, sig_make(f, d, &f->mem), b);
	rc = flow_memory(f, b, d->bytes);
	if (rc)
		return rc;
	if (f->out) {
		f->in = sig_decode(d, b);
		sig_check(f, d, &f->mem, false);
	}
	next_block(d, &f->mem);
	return 0;
}

/* Called when all bytes of a signature on the wire were moved. */
static int wire_ends(struct flow *f, bool cut)
{
	const struct sig_domain *d = &f->k.wire;

	f->in_sig = false;
	if (f->out)
		return 0;
	if (cut && !f->moved) {
		/* no signature came: the block is not checked, as test_mlx5_mkey.py expects */
		f->in = sum_end(d, &f->wire);
	} else {
		f->in = sig_decode(d, f->sig);
		sig_check(f, d, &f->wire, cut);
	}
	next_block(d, &f->wire);
	return is_full(&f->k.mem, &f->mem) ? memory_ends(f) : 0;
}

/* Data was moved: do blocks end here? */
static int data_ends(struct flow *f)
{
	const struct sig_domain *d = &f->k.wire;
	bool wire = is_full(d, &f->wire);
	int rc = 0;

	/*
	 * A block that comes from the wire ends in memory only after its signature has arrived,
	 * which may be copied.
	 */
	if (is_full(&f->k.mem, &f->mem) && (f->out || !wire))
		rc = memory_ends(f);
	if (!wire || rc)
		return rc;
	f->in_sig = true;
	f->moved = 0;
	memset(f->sig, 0, sizeof(f->sig));
	if (f->out) {
		sig_encode(d, sig_make(f, d, &f->wire), f->sig);
		next_block(d, &f->wire);
	}
	return 0;
}

static int move_sig(struct flow *f, uint8_t *p, uint32_t n)
{
	if (f->out)
		memcpy(p, f->sig + f->moved, n);
	else
		memcpy(f->sig + f->moved, p, n);
	f->moved += n;
	return f->moved == f->k.wire.bytes ? wire_ends(f, false) : 0;
}

static int move_data(struct flow *f, uint8_t *p, uint32_t n)
{
	int rc = flow_memory(f, p, n);

	if (rc)
		return rc;
	sum_add(&f->k.mem, &f->mem, p, n);
	sum_add(&f->k.wire, &f->wire, p, n);
	return data_ends(f);
}

/* Move `n` bytes as they are on the wire, from or to `p`. */
static int flow_move(struct flow *f, uint8_t *p, uint32_t n)
{
	int rc = 0;

	while (n && !rc) {
		uint32_t m = least(
			n, f->in_sig ? f->k.wire.bytes - f->moved
				     : least(left(&f->k.mem, &f->mem), left(&f->k.wire, &f->wire)));

		rc = f->in_sig ? move_sig(f, p, m) : move_data(f, p, m);
		p += m;
		n -= m;
	}
	return rc;
}

static int flow_wire(struct flow *f, uint8_t *p, uint32_t n)
{
	return f->crypto && f->k.crypto.on_wire ? flow_crypt(f, p, n, flow_move)
						: flow_move(f, p, n);
}

/* `n` bytes from byte `wire` on of a key with crypto, as they are on the wire. */
static bool flow_open_crypto(struct flow *f, struct crypto_flow *c, uint64_t wire, uint64_t n)
{
	uint64_t end = sig_place(&f->k.mem, sig_data(&f->k.wire, wire + n));

	f->crypto = c;
	return c &&
	       (f->k.crypto.on_wire
			? crypto_open(c, f->s, f->mk, &f->k.crypto, f->out, wire, n)
			: crypto_open(c, f->s, f->mk, &f->k.crypto, f->out, f->at, end - f->at));
}

static int flow_open(struct flow *f, struct seg *s, uint32_t key, uint64_t wire, bool out)
{
	uint64_t data;

	*f = (struct flow){.s = s, .mk = hw_mkey(s, key), .key = key, .out = out};
	if (!f->mk || f->mk->key != key || !atomic_load(&f->mk->valid) ||
	    atomic_load(&f->mk->free) || sig_open(s, f->mk, &f->k))
		return -EFAULT;
	data = sig_data(&f->k.wire, wire);
	f->at = sig_place(&f->k.mem, data);
	f->mem.block = f->k.mem.bytes ? data / f->k.mem.block : 0;
	f->wire.block = f->k.wire.bytes ? data / f->k.wire.block : 0;
	f->mem.sum = sum_start(&f->k.mem, f->mem.block);
	f->wire.sum = sum_start(&f->k.wire, f->wire.block);
	return 0;
}

static void report_cqe(const struct flow *f, uint32_t qpn, struct eng_cqe *c)
{
	memset(c, 0, sizeof(*c));
	LAYOUT_SET(sigerr_cqe, c->b, expected_trans_sig, f->err.expected >> 32);
	LAYOUT_SET(sigerr_cqe, c->b, actual_trans_sig, f->err.actual >> 32);
	LAYOUT_SET(sigerr_cqe, c->b, expected_ref_tag, f->err.expected & UINT32_MAX);
	LAYOUT_SET(sigerr_cqe, c->b, actual_ref_tag, f->err.actual & UINT32_MAX);
	LAYOUT_SET(sigerr_cqe, c->b, syndrome, f->err.syndrome);
	LAYOUT_SET(sigerr_cqe, c->b, domain, f->err.domain);
	LAYOUT_SET(sigerr_cqe, c->b, mkey, f->key);
	LAYOUT_SET(sigerr_cqe, c->b, sig_err_offset, f->err.offset);
	LAYOUT_SET(sigerr_cqe, c->b, qpn, qpn);
	LAYOUT_SET(sigerr_cqe, c->b, opcode, CQE_SIG_ERR);
}

/*
 * False: another process has taken the key away, and may have configured it or made another one at
 * its place. While this thread changes the key, eng_mkey_quiesce() waits for it,
 * even if it is stopped.
 */
static bool note_told(struct eng_run *r, struct hw_mkey *mk)
{
	if (!gate_pass(&r->ring->gate, GATE_BUSY))
		return false;
	atomic_store_explicit(&mk->sig_told, 1, memory_order_relaxed);
	gate_reset(&r->ring->gate); /* a BUSY gate cannot be shut, so reset it */
	return true;
}

/* 0, -ETIMEDOUT or -ECANCELED. A CQ that cannot take the CQE fails, and says so itself. */
static int report(struct eng_run *r, const struct flow *f, bool local)
{
	struct hw_mkey *mk = hw_mkey(r->s, f->key);
	struct eng_cqe c;
	int rc;

	if (!mk || atomic_load_explicit(&mk->sig_told, memory_order_relaxed))
		return 0;
	TRACE(LOG_CQE,
	      "mkey 0x%x: wrong signature (syndrome 0x%x) of the block at %llu in the %s domain",
	      f->key, f->err.syndrome, (unsigned long long)f->err.offset,
	      f->err.domain == CQE_SIG_MEMORY ? "memory" : "wire");
	report_cqe(f, local ? r->qpn : r->dest, &c);
	mem_gate = NULL;
	rc = cq_push(r->s, local ? r->qp->cqn_snd : r->to.cqn, &c, true);
	POINT("sig-reported");
	mem_gate = &r->ring->gate;
	if (rc) /* a CQ in error, or whose owner is gone, has not received the report */
		return rc == -ETIMEDOUT ? rc : 0;
	/* Note this after the CQE: if this process dies before, nobody has been told. */
	return note_told(r, mk) ? 0 : -ECANCELED;
}

/* One of the two lists of a copy, and the key in which it is. */
struct end {
	struct eng_cursor c;
	bool out, local, open;
	struct crypto_flow *crypto; /* room for a key that has crypto; NULL: the list has none */
	struct flow f;
};

static int end_close(struct eng_run *r, struct end *e)
{
	int rc = 0;

	if (!e->open)
		return 0;
	e->open = false;
	if (!e->out && e->f.in_sig) /* the message ends before its signature */
		rc = wire_ends(&e->f, true);
	if (rc || !e->f.err.syndrome)
		return rc;
	/*
	 * Set this before the report, which is not repeated if this WQE is executed again. Wrong
	 * signatures in data that the peer of a rendezvous reads do not stop our queue.
	 */
	if (e->local && r->app_op != CQE_TM_CONSUMED && LAYOUT_GET(qpc, r->qp->qpc, drain_sigerr))
		r->qp->sq_drain = 1;
	return report(r, &e->f, e->local);
}

/* Moves a part of the list that is not a signature key. */
static int plain(struct eng_run *r, struct end *e, uint8_t *p, uint64_t *n)
{
	struct mem_slot mem;
	struct mem_vec v;
	int rc = cursor_piece(r->s, &e->c, *n, &mem, &v);

	if (rc)
		return -EFAULT;
	*n = v.len;
	if (mem.slot == ENG_SLOT_VOID) {
		if (e->out)
			memset(p, 0, v.len);
		return 0;
	}
	return e->out ? mem_read(r->s, mem, v.va, p, v.len) : mem_write(r->s, mem, v.va, p, v.len);
}

static int keyed(struct eng_run *r, struct end *e, uint8_t *p, uint64_t *n)
{
	const struct eng_sgl *l = e->c.l;
	uint64_t rest = l->v[e->c.i].len - e->c.off;
	int rc = 0;

	if (!e->c.off)
		rc = flow_open(&e->f, r->s, l->mem[e->c.i].gen, l->v[e->c.i].va, e->out);
	if (!rc && !e->c.off && e->f.k.crypto.unit &&
	    !flow_open_crypto(&e->f, e->crypto, l->v[e->c.i].va, rest))
		rc = -EFAULT;
	if (rc)
		return rc;
	e->open = true;
	if (*n > rest)
		*n = rest;
	rc = flow_wire(&e->f, p, (uint32_t)*n);
	return rc || *n < rest ? rc : end_close(r, e);
}

/* Move the next `n` bytes of the message between a list and `p`. */
static int end_move(struct eng_run *r, struct end *e, uint8_t *p, uint64_t n)
{
	int rc = 0;

	while (n && !rc) {
		uint64_t m = n;

		if (e->c.i >= e->c.l->n)
			return -EFAULT;
		rc = e->c.l->mem[e->c.i].slot == ENG_SLOT_SIG ? keyed(r, e, p, &m)
							      : plain(r, e, p, &m);
		cursor_advance(&e->c, m);
		p += m;
		n -= m;
	}
	return rc;
}

/* The two lists of sig_copy(). */
struct ends {
	struct eng_sgl *dst, *src;
	struct end to, from;
};

static int copy(struct eng_run *r, struct ends *e)
{
	/* r->copied counts packets, whose length is a power of two. */
	uint32_t most = r->qp->mtu && r->qp->mtu < CHUNK ? r->qp->mtu : CHUNK;
	uint8_t buf[CHUNK];
	int rc = 0;

	for (uint64_t rest = e->src->len, n; rest && !rc; rest -= n) {
		n = rest < most ? rest : most;
		rc = end_move(r, &e->from, buf, n);
		e->src->fault = rc == -EFAULT;
		if (rc)
			return rc;
		rc = end_move(r, &e->to, buf, n);
		e->dst->fault = rc == -EFAULT;
		r->copied += rc ? 0 : n;
	}
	return rc ? rc : end_close(r, &e->to);
}

/*
 * A crypto_flow needs much stack, so copy_crypto_to() and copy_crypto_from() have a frame each, for
 * one list.
 */
__attribute__((noinline)) static int copy_crypto_to(struct eng_run *r, struct ends *e)
{
	struct crypto_flow c;

	e->to.crypto = &c;
	return copy(r, e);
}

__attribute__((noinline)) static int copy_crypto(struct eng_run *r, struct ends *e)
{
	struct crypto_flow c;

	e->from.crypto = &c;
	return e->dst->sig == ENG_SIG_CRYPTO ? copy_crypto_to(r, e) : copy(r, e);
}

int sig_copy(struct eng_run *r, struct eng_sgl *dst, struct eng_sgl *src)
{
	bool own = r->opcode == WQE_OP_MMO;
	struct ends e = {
		.dst = dst,
		.src = src,
		.from = {.c = {.l = src}, .out = true, .local = own || src == &r->local},
		.to = {.c = {.l = dst}, .local = own || dst == &r->local},
	};

	r->copied = 0;
	sgl_trim(dst, src->len);
	if (src->sig == ENG_SIG_CRYPTO)
		return copy_crypto(r, &e);
	return dst->sig == ENG_SIG_CRYPTO ? copy_crypto_to(r, &e) : copy(r, &e);
}
