/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the trapped doorbell: a store to a UAR page faults, is decoded, carried out against the
 * engine and skipped. The signal entry (stack.S) calls sig_dispatch() on the program's current
 * stack; it uses a few hundred bytes there and continues on an engine stack. No malloc, no stdio,
 * no libc call that the program could have replaced.
 */
#include "shim/shim.h"
#include "shim/doorbell/patch.h"
#include "shim/signals/sig.h"
#include "shim/doorbell/stack.h"
#include "shim/doorbell/fault.h"
#include "engine/engine.h"
#include "segment/adopt.h"
#include "segment/mem.h"
#include "shim/for_tests.h"
#include "util/log.h"
#include "util/sys.h"
#include "util/tls.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#define PAGE UINT64_C(4096)
#define UAR_CQ_DB 0x20
#define UAR_BF 0x800
#define FLAG_DF 0x400 /* direction flag: string operations go down */

/* ---- stores become doorbells */

/*
 * The parts of a doorbell that is written in pieces (two halves in 32-bit code), until the last
 * byte arrives.
 */
static TLS_IE struct {
	uintptr_t addr;
	uint64_t value;
} partial;

/* A BlueFlame copy writes a whole WQE: only the first qword of each 64 bytes can be a doorbell. */
static bool rings(uint32_t off)
{
	return off == UAR_CQ_DB || (off >= UAR_BF && off % 64 == 0);
}

/*
 * Give a store of n bytes at `off` of a UAR page to the engine. Bit i of valid: byte i is stored.
 */
static void trap_store(struct seg *s, uint32_t uar, uintptr_t page, uint32_t off,
		       const uint8_t *data, uint32_t n, uint64_t valid)
{
	for (uint32_t i = 0; i < n;) {
		uint32_t q = (off + i) & ~7u, skip = (off + i) & 7, len = 8 - skip;
		uint64_t v = 0, have;

		if (len > n - i)
			len = n - i;
		have = (valid >> i) & ((UINT64_C(1) << len) - 1);
		if (!rings(q) || !have || q + 8 > PAGE) {
			i += len;
			continue;
		}
		if (partial.addr == page + q)
			v = partial.value;
		for (uint32_t b = 0; b < len; b++)
			if (have & (UINT64_C(1) << b))
				((uint8_t *)&v)[skip + b] = data[i + b];
		partial.addr = page + q;
		partial.value = v;
		if (skip + len == 8 && (have >> (len - 1))) {
			partial.addr = 0;
			eng_uar_write(s, uar, q, v);
		}
		i += len;
	}
}

/* ---- registers in the interrupted context */

static inline greg_t *greg(ucontext_t *uc, uint8_t n)
{
	return trap_greg(uc->uc_mcontext.gregs, n);
}

static uint64_t reg_read(ucontext_t *uc, const struct trap_op *op)
{
	uint64_t v = (uint64_t)*greg(uc, op->reg);

	return op->high8 ? v >> 8 : v;
}

static void reg_write(ucontext_t *uc, const struct trap_op *op, unsigned int size, uint64_t v)
{
	char *r = (char *)greg(uc, op->reg);

	if (size == 4)
		*greg(uc, op->reg) = (greg_t)(uint32_t)v;
	else
		memcpy(r + op->high8, &v, size);
}

static uintptr_t mem_addr(ucontext_t *uc, const struct trap_op *op)
{
	return trap_addr(uc->uc_mcontext.gregs, op);
}

/* Where the XSAVE area keeps each component, from CPUID; 0: the CPU has none. */
static struct {
	uint32_t ymm_hi, opmask, zmm_hi, zmm_16;
} xs;

static uint32_t xsave_offset(uint32_t component)
{
	uint32_t a = 0xd, b, c = component, d;

	__asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	return a ? b : 0;
}

void trap_init(void)
{
	uint32_t a = 0, b, c = 0, d;

	__asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	if (a < 0xd)
		return;
	xs.ymm_hi = xsave_offset(2);
	xs.opmask = xsave_offset(5);
	xs.zmm_hi = xsave_offset(6);
	xs.zmm_16 = xsave_offset(7);
}

/*
 * Returns `bytes` at `offset` of a component; NULL when the component is in its initial state
 * (zeroes) or absent.
 */
static uint8_t *xs_area(ucontext_t *uc, unsigned int component, uint32_t offset)
{
	uint8_t *fp = (uint8_t *)uc->uc_mcontext.fpregs;
	uint32_t magic;
	uint64_t bv;

	if (!fp)
		return NULL;
	memcpy(&magic, fp + 464, 4);
	if (magic != 0x46505853) /* no XSAVE: the legacy area alone */
		return component == 1 ? fp + offset : NULL;
	memcpy(&bv, fp + 512, 8);
	return offset && (bv & (UINT64_C(1) << component)) ? fp + offset : NULL;
}

/* Finds where the parts of vector register n are saved, and their sizes. Returns their number. */
static unsigned int vec_parts(ucontext_t *uc, uint8_t n, uint8_t *part[3], uint8_t bytes[3])
{
	if (n >= 16) {
		part[0] = xs_area(uc, 7, xs.zmm_16);
		if (part[0])
			part[0] += (n - 16) * 64;
		bytes[0] = 64;
		return 1;
	}
	part[0] = xs_area(uc, 1, 160);
	part[1] = xs_area(uc, 2, xs.ymm_hi);
	part[2] = xs_area(uc, 6, xs.zmm_hi);
	bytes[0] = bytes[1] = 16;
	bytes[2] = 32;
	for (int i = 0; i < 3; i++)
		if (part[i])
			part[i] += n * bytes[i];
	return 3;
}

static void vec_read(ucontext_t *uc, uint8_t n, uint8_t out[64])
{
	uint8_t *part[3], bytes[3];
	unsigned int parts = vec_parts(uc, n, part, bytes);

	for (unsigned int i = 0; i < parts; out += bytes[i++]) {
		if (part[i])
			memcpy(out, part[i], bytes[i]);
		else
			memset(out, 0, bytes[i]);
	}
}

static void vec_zero(ucontext_t *uc, uint8_t n, uint32_t len)
{
	uint8_t *part[3], bytes[3];
	unsigned int parts = vec_parts(uc, n, part, bytes);

	for (unsigned int i = 0; i < parts && len; i++) {
		uint32_t k = len < bytes[i] ? len : bytes[i];

		if (part[i])
			memset(part[i], 0, k);
		len -= k;
	}
}

/* Which bytes a masked store writes. */
static uint64_t valid_bytes(ucontext_t *uc, const struct trap_op *op)
{
	uint8_t *k = xs_area(uc, 5, xs.opmask);
	uint64_t m = 0, v = 0;

	if (!op->mask)
		return ~UINT64_C(0);
	if (k)
		memcpy(&m, k + op->mask * 8, 8);
	for (unsigned int i = 0; i * op->elem < op->size; i++)
		if (m & (UINT64_C(1) << i))
			v |= ((UINT64_C(1) << op->elem) - 1) << (i * op->elem);
	return v;
}

/* ---- one instruction */

/* -EAGAIN: the address is no UAR after all. -EFAULT: the other operand faults. */
static int run_simple(struct seg *s, ucontext_t *uc, const struct trap_op *op)
{
	uint8_t data[64];
	uintptr_t page, addr = mem_addr(uc, op);
	uint32_t uar = uar_lookup(addr, &page);
	uint64_t v;

	if (uar == SEG_NONE)
		return -EAGAIN;
	switch (op->kind) {
	case TRAP_LD_REG:
		reg_write(uc, op, op->ld_size, 0);
		return 0;
	case TRAP_LD_VEC:
		vec_zero(uc, op->reg, op->vex ? 64 : op->ld_size);
		return 0;
	case TRAP_ST_VEC: {
		uint8_t whole[64];

		vec_read(uc, op->reg, whole);
		memcpy(data, whole + op->shift, op->size);
		break;
	}
	default:
		v = op->kind == TRAP_ST_IMM ? op->imm : reg_read(uc, op);
		if (op->swap)
			v = __builtin_bswap64(v) >> (64 - 8 * op->size);
		memcpy(data, &v, 8);
	}
	if (op->kind == TRAP_XCHG)
		reg_write(uc, op, op->size, 0);
	trap_store(s, uar, page, (uint32_t)(addr - page), data, op->size, valid_bytes(uc, op));
	return 0;
}

static int run_movdir64b(struct seg *s, ucontext_t *uc, const struct trap_op *op)
{
	uint8_t data[64];
	uintptr_t page, addr = (uintptr_t)*greg(uc, op->reg);
	uint32_t uar = uar_lookup(addr, &page);

	if (uar == SEG_NONE)
		return -EAGAIN;
	if (mem_guarded_copy(data, (void *)mem_addr(uc, op), sizeof(data)))
		return -EFAULT;
	trap_store(s, uar, page, (uint32_t)(addr - page), data, sizeof(data), ~UINT64_C(0));
	return 0;
}

/*
 * String operations, element by element as the CPU does, while both operands are accessible; the
 * registers always hold the remaining work. 0: finished. 1: progress; let it fault again, or go on.
 */
static int run_string(struct seg *s, ucontext_t *uc, const struct trap_op *op)
{
	greg_t *g = uc->uc_mcontext.gregs;
	int64_t step = g[REG_EFL] & FLAG_DF ? -(int64_t)op->size : op->size;
	bool moved = false;

	while (!op->rep || g[REG_RCX]) {
		uintptr_t page, from, to = (uintptr_t)g[REG_RDI];
		uint32_t uar = uar_lookup(to, &page);
		uint64_t v = (uint64_t)g[REG_RAX];

		if (op->kind == TRAP_MOVS) {
			bool load = uar_lookup((uintptr_t)g[REG_RSI], &from) != SEG_NONE;

			if (uar == SEG_NONE && !load)
				return moved ? 1 : -EAGAIN;
			v = 0;
			if (!load && mem_guarded_copy(&v, (void *)g[REG_RSI], op->size))
				return moved ? 1 : -EFAULT;
			if (uar == SEG_NONE && mem_guarded_copy((void *)to, &v, op->size))
				return moved ? 1 : -EFAULT;
			g[REG_RSI] += step;
		} else if (uar == SEG_NONE) {
			return moved ? 1 : -EAGAIN;
		}
		if (uar != SEG_NONE)
			trap_store(s, uar, page, (uint32_t)(to - page), (uint8_t *)&v, op->size,
				   ~UINT64_C(0));
		g[REG_RDI] += step;
		moved = true;
		if (!op->rep)
			return 0;
		g[REG_RCX]--;
	}
	return 0;
}

/* ---- decoded instructions, kept */

/*
 * Entries are written once and never change: code is recognised by address and bytes, so patched
 * code is just another entry. When a row is full, each decoding costs 0.3 us.
 */
#define CACHE_ROWS 128
#define CACHE_WAYS 4
enum { ENTRY_FREE, ENTRY_BUSY, ENTRY_READY };

static struct trap_entry {
	_Atomic uint32_t state;
	uintptr_t rip;
	uint8_t code[TRAP_INSN_MAX];
	struct trap_op op;
} cache[CACHE_ROWS][CACHE_WAYS];

static struct trap_entry *cache_row(uintptr_t rip)
{
	return cache[(rip ^ rip >> 7 ^ rip >> 14) % CACHE_ROWS];
}

static const struct trap_op *cache_find(uintptr_t rip)
{
	struct trap_entry *e = cache_row(rip);

	for (int i = 0; i < CACHE_WAYS; i++, e++)
		if (atomic_load_explicit(&e->state, memory_order_acquire) == ENTRY_READY &&
		    e->rip == rip && !memcmp(e->code, (const void *)rip, e->op.len))
			return &e->op;
	return NULL;
}

static void cache_add(uintptr_t rip, const uint8_t *code, const struct trap_op *op)
{
	struct trap_entry *e = cache_row(rip);

	for (int i = 0; i < CACHE_WAYS; i++, e++) {
		uint32_t free = ENTRY_FREE;

		if (!atomic_compare_exchange_strong(&e->state, &free, ENTRY_BUSY))
			continue;
		e->rip = rip;
		memcpy(e->code, code, op->len);
		e->op = *op;
		atomic_store_explicit(&e->state, ENTRY_READY, memory_order_release);
		return;
	}
}

/* The instruction may be the last of its page: do not read beyond it. */
static int fetch_and_decode(uintptr_t rip, struct trap_op *op)
{
	uint8_t code[TRAP_INSN_MAX];
	size_t n = sizeof(code), here = PAGE - rip % PAGE;

	if (mem_guarded_copy(code, (void *)rip, n)) {
		n = here < n ? here : 0;
		if (!n || mem_guarded_copy(code, (void *)rip, n))
			return -EFAULT;
	}
	if (trap_decode(code, n, op))
		return -EINVAL;
	op->plain = patch_is_plain(op, code);
	cache_add(rip, code, op);
	return 0;
}

/* ---- on the engine's stack */

struct trap_run {
	ucontext_t *uc;
	struct seg *seg;
	bool hlt; /* at a site that is being patched: the store has not been executed yet */
	bool done;
};

static void fault_refused(const ucontext_t *uc, const char *why)
{
	TRACE(LOG_DOORBELL, "store to a UAR at %p %s: left to the program as its own fault",
	      (void *)uc->uc_mcontext.gregs[REG_RIP], why);
}

/*
 * Disarm the program's alternate stack while we run elsewhere: the kernel would deliver a fault of
 * a guarded copy at its top, over the frame that we return through. sigreturn arms it again.
 */
static void disarm_alt_stack(const ucontext_t *uc)
{
	stack_t off = {.ss_flags = SS_DISABLE};

	if (uc->uc_stack.ss_size && !(uc->uc_stack.ss_flags & SS_DISABLE))
		sys_raw(SYS_sigaltstack, (long)&off, 0, 0, 0, 0, 0);
}

/* A fork child has no memory slot until it asks for one; a doorbell may be its first use. */
static void have_slot(struct seg *s)
{
	struct uv_system *sys;

	if (__builtin_expect(s->self == SEG_NONE, 0))
		shim_attach(&sys);
}

/* A patched site stores to memory that is no UAR. */
static int store_elsewhere(ucontext_t *uc, const struct trap_op *op)
{
	uint64_t v = reg_read(uc, op);

	return mem_guarded_copy((void *)mem_addr(uc, op), &v, sizeof(v));
}

static void trap_run(void *arg)
{
	struct trap_run *t = arg;
	ucontext_t *uc = t->uc;
	uintptr_t rip = (uintptr_t)uc->uc_mcontext.gregs[REG_RIP];
	const struct trap_op *op;
	struct trap_op fresh;
	int r;

	disarm_alt_stack(uc);
	op = patch_op(rip);
	if (!op)
		op = cache_find(rip);
	if (!op) {
		if (fetch_and_decode(rip, &fresh)) {
			if (patch_op(rip)) { /* the site has just changed: execute it again */
				t->done = true;
				return;
			}
			fault_refused(uc, "by an instruction that is not a plain store or load");
			return;
		}
		op = &fresh;
	}
	have_slot(t->seg);
	if (op->kind == TRAP_MOVS || op->kind == TRAP_STOS)
		r = run_string(t->seg, uc, op);
	else if (op->kind == TRAP_MOVDIR64B)
		r = run_movdir64b(t->seg, uc, op);
	else
		r = run_simple(t->seg, uc, op);
	if (r == -EAGAIN && t->hlt) {
		/* the program's own fault occurs again after the patch */
		if (!store_elsewhere(uc, op))
			uc->uc_mcontext.gregs[REG_RIP] += op->len;
		t->done = true;
		return;
	}
	if (r < 0) {
		fault_refused(uc, "with another operand that faults");
		return;
	}
	if (r == 0)
		uc->uc_mcontext.gregs[REG_RIP] += op->len;
	devthread_if_parked();
	if (op->plain)
		patch_trapped(rip, op);
	t->done = true;
}

void trap_store_qword(struct seg *s, uint32_t uar, uintptr_t addr, uint64_t be)
{
	int saved = errno;
	uintptr_t page = addr & ~(PAGE - 1);

	have_slot(s);
	trap_store(s, uar, page, (uint32_t)(addr - page), (uint8_t *)&be, sizeof(be), ~UINT64_C(0));
	devthread_if_parked();
	errno = saved;
}

void trap_forking(void)
{
	patch_forking();
}

void trap_fork_done(void)
{
	patch_forked();
}

void trap_forked(void)
{
	patch_forked();
	sig_forked();
	uar_forked();
	stack_forked();
	devthread_forked();
}

/* True: the fault was a doorbell, and the instruction has been executed. */
static bool trap_handle(siginfo_t *si, void *ucontext)
{
	ucontext_t *uc = ucontext;
	struct trap_run t = {.uc = uc, .seg = uar_seg()};
	int saved = errno;
	uintptr_t page;
	uint32_t n;
	void *top;

	if (si->si_code <= 0 || si->si_signo != SIGSEGV)
		return false;
	t.hlt = si->si_code == SI_KERNEL && patch_at_hlt((uintptr_t)uc->uc_mcontext.gregs[REG_RIP]);
	if (!t.hlt && uar_lookup((uintptr_t)si->si_addr, &page) == SEG_NONE)
		return false;
	top = stack_get(&n);
	if (!top)
		return false;
	stack_open(n);
	stack_call(&t, trap_run, top);
	stack_put(n);
	if (!t.done && uc->uc_stack.ss_size) /* the program's handler finds its stack armed */
		sys_raw(SYS_sigaltstack, (long)&uc->uc_stack, 0, 0, 0, 0, 0);
	errno = saved;
	return t.done;
}

void sig_dispatch(int sig, siginfo_t *si, void *uc, struct sig_jump *j, void *sp)
{
	if (si->si_code > 0 && sig == SIGSEGV && adopt_fault((uintptr_t)si->si_addr))
		return;
	if (si->si_code > 0 && mem_guard_fixup(uc))
		return;
	if (trap_handle(si, uc))
		return;
	patch_own_fault(si, uc);
	sig_chain(sig, si, uc, sp, j);
}

/* ---- without a signal frame */

struct trap_call {
	struct seg *seg;
	uint64_t be;
	uint32_t uar, offset;
	stack_t alt;
};

static void trap_ring_run(void *arg)
{
	struct trap_call *c = arg;
	stack_t off = {.ss_flags = SS_DISABLE};

	sys_raw(SYS_sigaltstack, 0, (long)&c->alt, 0, 0, 0, 0);
	if (!(c->alt.ss_flags & SS_DISABLE))
		sys_raw(SYS_sigaltstack, (long)&off, 0, 0, 0, 0, 0);
	have_slot(c->seg);
	eng_uar_write(c->seg, c->uar, c->offset, c->be);
}

void trap_ring(uint32_t uar, uint32_t offset, uint64_t be)
{
	struct trap_call c = {.seg = uar_seg(), .be = be, .uar = uar, .offset = offset};
	int saved = errno;
	sigset_t old;
	uint32_t n;
	void *top;

	if (!c.seg)
		return;
	sig_block_all(&old);
	top = stack_get(&n);
	if (top) {
		stack_call(&c, trap_ring_run, top);
		stack_put(n);
		c.alt.ss_flags &= ~SS_ONSTACK;
		if (!(c.alt.ss_flags & SS_DISABLE))
			sys_raw(SYS_sigaltstack, (long)&c.alt, 0, 0, 0, 0, 0);
	}
	sig_restore(&old);
	errno = saved;
}
