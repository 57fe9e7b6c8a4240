/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the table of doorbell sites and changes the program's code (patch.h). Runs inside the trap:
 * on the engine's stack, asynchronous signals blocked, raw system calls only. One thread patches at
 * a time; the others go on trapping.
 *
 * SITE_COLD	counts its traps
 * SITE_BUSY	bytes are changing; the first may be hlt, whose fault is this store
 * SITE_HOT	jumps. Other code may come to lie there (dlclose): the bytes tell, see patch_op().
 * SITE_REFUSED	traps for ever
 */
#include "check/check.h"
#include "shim/doorbell/patch.h"
#include "shim/shim.h"
#include "shim/signals/sig.h"
#include "shim/doorbell/stack.h"
#include "segment/mem.h"
#include "util/log.h"
#include "util/num.h"
#include "util/sys.h"

#include <assert.h>
#include <linux/membarrier.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE UINT64_C(4096)
#define SITES 64
#define JMP 5
#define HLT 0xf4 /* privileged: #GP, SIGSEGV with SI_KERNEL */

enum { SITE_COLD, SITE_BUSY, SITE_HOT, SITE_REFUSED };

static struct site {
	_Atomic uintptr_t rip; /* 0: free; all entries behind it are free, too */
	_Atomic uint32_t state, count;
	uint8_t code[PATCH_CODE]; /* the program's original bytes */
	uint8_t jmp[JMP];
	struct trap_op op;
	uint8_t *stub;
} sites[SITES];

static_assert(offsetof(struct patch_frame, g[REG_RSP]) == 120 &&
		      offsetof(struct patch_frame, g[REG_RDI]) == 64 &&
		      offsetof(struct patch_frame, flags) == 160 &&
		      offsetof(struct patch_frame, ret) == 168,
	      "patch.S");

static _Atomic uint32_t patch_lock;
static bool patch_on;

uint64_t patch_xmask;
uint32_t patch_xbytes;
bool patch_xsavec;
bool patch_moves;

/* ---- what the processor and the kernel must have */

static void cpuid(uint32_t leaf, uint32_t sub, uint32_t r[4])
{
	__asm__("cpuid" : "=a"(r[0]), "=b"(r[1]), "=c"(r[2]), "=d"(r[3]) : "a"(leaf), "c"(sub));
}

/* XCR0: x87, SSE, AVX, the three parts of AVX-512. */
#define X_AVX512 UINT64_C(0xe7)

/* AVX-512 with masks of 64 bits, XGETBV of what is in use, and nothing that is not known here. */
static bool can_move(void)
{
	uint32_t r[4];

	cpuid(0xd, 1, r);
	if (patch_xmask != X_AVX512 || !(r[0] & 1u << 2))
		return false;
	cpuid(7, 0, r);
	return r[1] & 1u << 16 && r[1] & 1u << 30;
}

/*
 * Finds out how to save all registers but PKRU and the AMX tiles, which the engine never touches.
 */
static bool find_xsave(void)
{
	const uint64_t leave = UINT64_C(1) << 9 | UINT64_C(1) << 17 | UINT64_C(1) << 18;
	uint32_t r[4], lo, hi, plain = 576, compact = 576;

	cpuid(0, 0, r);
	if (r[0] < 0xd)
		return false;
	cpuid(1, 0, r);
	if (!(r[2] & 1u << 27)) /* OSXSAVE */
		return false;
	__asm__("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
	patch_xmask = ((uint64_t)hi << 32 | lo) & ~leave;
	for (uint32_t i = 2; i < 63; i++) {
		if (!(patch_xmask & UINT64_C(1) << i))
			continue;
		cpuid(0xd, i, r);
		if (r[1] + r[0] > plain)
			plain = r[1] + r[0];
		if (r[2] & 2)
			compact = (compact + 63) & ~63u;
		compact += r[0];
	}
	cpuid(0xd, 1, r);
	patch_xsavec = r[0] & 2;
	patch_xbytes = plain > compact ? plain : compact;
	patch_moves = can_move();
	return patch_xbytes <= STACK_XSAVE_BYTES;
}

static long membarrier(int cmd)
{
	return sys_raw(SYS_membarrier, cmd, 0, 0, 0, 0, 0);
}

/* Make every thread of this process execute a serialising instruction. */
bool patch_sync(void)
{
	long r = membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE);

	if (r == -EPERM) { /* not registered */
		membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE);
		r = membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE);
	}
	return r == 0;
}

bool patch_can(void)
{
	const char *s = getenv(SHIM_ENV_PATCH);

	/* No stack is found through changed code. */
	return !CHECK_ON() && (!s || strcmp(s, "0") != 0);
}

/* Registering is cheap while there is one thread; later it waits for an RCU period. */
void patch_init(void)
{
	static _Atomic bool done;

	if (atomic_exchange(&done, true) || !patch_can() || !find_xsave())
		return;
	patch_on = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE) == 0;
}

/* ---- sites */

static struct site *patch_find(uintptr_t rip)
{
	for (struct site *s = sites; s < sites + SITES; s++) {
		uintptr_t at = atomic_load_explicit(&s->rip, memory_order_acquire);

		if (at == rip)
			return s;
		if (!at)
			break;
	}
	return NULL;
}

bool patch_is_plain(const struct trap_op *op, const uint8_t *code)
{
	return op->kind == TRAP_ST_REG && op->size == 8 && op->base != TRAP_RIP && !op->addr32 &&
	       (code[0] & 0xf8) == 0x48 && code[1] == 0x89;
}

/*
 * Both a store that faulted before the change and one that met hlt arrive here. With hlt in place,
 * ignore the site's state: after a bare fork system call the child's code and this table may be
 * from different instants.
 */
const struct trap_op *patch_op(uintptr_t rip)
{
	struct site *s = patch_find(rip);
	uint8_t now[JMP];
	uint32_t state;

	if (!s)
		return NULL;
	state = atomic_load_explicit(&s->state, memory_order_acquire);
	if (state == SITE_BUSY)
		return &s->op;
	if (mem_guarded_copy(now, (const void *)rip, JMP))
		return NULL;
	if (now[0] == HLT)
		return &s->op;
	if (state != SITE_HOT)
		return NULL;
	if (!memcmp(now, s->jmp, JMP))
		return &s->op;
	atomic_store(&s->count, 0);
	atomic_compare_exchange_strong(&s->state, &state, SITE_COLD);
	return NULL;
}

bool patch_at_hlt(uintptr_t rip)
{
	return patch_op(rip) != NULL;
}

void patch_own_fault(const siginfo_t *si, ucontext_t *uc)
{
	greg_t *rip = &uc->uc_mcontext.gregs[REG_RIP];

	for (struct site *s = sites; si->si_code > 0 && s < sites + SITES && s->rip; s++)
		if (atomic_load_explicit(&s->state, memory_order_acquire) == SITE_HOT &&
		    ((uintptr_t)*rip & ~(PAGE - 1)) == (uintptr_t)s->stub)
			*rip = (greg_t)s->rip;
}

/* ---- where the site is */

struct mapping {
	uintptr_t from, to;
	uint64_t dev, inode;
	bool patchable; /* private, readable and executable, of a file */
	int prot;
};

/* 7f12-7f34 r-xp 00008000 fe:01 1234   /usr/lib/... */
static void parse_line(const char *p, struct mapping *m)
{
	const char *perm;

	m->from = num_in_base(p, 16, &p);
	m->to = num_in_base(p + 1, 16, &p);
	perm = ++p;
	num_in_base(p + 5, 16, &p);
	m->dev = num_in_base(p + 1, 16, &p) << 32;
	m->dev |= num_in_base(p + 1, 16, &p);
	m->inode = num_decimal(p + 1, &p);
	m->patchable = perm[0] == 'r' && perm[2] == 'x' && perm[3] == 'p' && m->inode;
	m->prot = PROT_READ | PROT_EXEC | (perm[1] == 'w' ? PROT_WRITE : 0);
}

/* Finds the mappings of the site and of this library. */
static bool find_mappings(uintptr_t rip, struct mapping *site, struct mapping *own)
{
	char buf[4096];
	int fd = sys_openat(AT_FDCWD, "/proc/thread-self/maps", O_RDONLY | O_CLOEXEC, 0);
	size_t have = 0;
	long n;

	if (fd < 0)
		return false;
	while ((n = sys_read(fd, buf + have, sizeof(buf) - 1 - have)) > 0) {
		char *line = buf, *end;

		have += (size_t)n;
		buf[have] = 0;
		while ((end = strchr(line, '\n'))) {
			struct mapping m;

			parse_line(line, &m);
			if (rip >= m.from && rip < m.to)
				*site = m;
			if ((uintptr_t)patch_entry >= m.from && (uintptr_t)patch_entry < m.to)
				*own = m;
			line = end + 1;
		}
		have -= (size_t)(line - buf);
		memmove(buf, line, have);
		if (have == sizeof(buf) - 1) /* no line is that long */
			break;
	}
	sys_close(fd);
	return site->to && own->to;
}

/* ---- the stub */

static uint8_t *page_at(uintptr_t addr)
{
	void *p = sys_mmap((void *)addr, PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (sys_is_err(p))
		return NULL;
	if ((uintptr_t)p == addr)
		return p;
	sys_munmap(p, PAGE); /* an older kernel takes the address only as a hint */
	return NULL;
}

uint8_t *patch_page(uintptr_t from, uint32_t window)
{
	uint8_t *p = NULL;

	for (uint32_t at = 0; !p && at + PAGE <= window - PAGE; at += window / 16)
		p = page_at(from + at);
	return p;
}

bool patch_is_file_code(uintptr_t from, uintptr_t to)
{
	struct mapping m = {0}, own = {0};

	return find_mappings(from, &m, &own) && m.patchable && to <= m.to;
}

/*
 * The jump may only change bytes of the mov. If the mov is shorter than five bytes, the bytes after
 * it are the last ones of the jump and limit the stub's place to a window of 64 KiB or 16 MiB. For
 * longer ones the window is 2 GiB, but the stub keeps away from neighbours of the code that may
 * want to grow.
 */
static uint8_t *page_near(const struct site *s)
{
	uint32_t fixed = s->op.len < JMP ? (uint32_t)(JMP - s->op.len) : 1;
	uint32_t high = s->op.len < JMP ? 0 : 0xf0000000, window = UINT32_C(1) << (32 - 8 * fixed);
	uintptr_t from;

	if (s->op.len < JMP)
		memcpy((uint8_t *)&high + 4 - fixed, s->code + s->op.len, fixed);
	from = s->rip + JMP + (uintptr_t)(intptr_t)(int32_t)high;
	from = (from + PAGE - 1) & ~(PAGE - 1);
	return patch_page(from, window);
}

static uint8_t *patch_put(uint8_t *to, const void *bytes, size_t n)
{
	memcpy(to, bytes, n);
	return to + n;
}

/* Encodes a jmp or call to `to`. */
static uint8_t *put_jmp(uint8_t *to, uintptr_t target)
{
	int32_t rel = (int32_t)(target - ((uintptr_t)to + JMP));

	*to = 0xe9;
	return patch_put(to + 1, &rel, 4);
}

static const uint8_t skip_redzone[] = {0x48, 0x8d, 0x64, 0x24, 0x80};
static const uint8_t unskip_redzone[] = {0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0};

/* Offsets are those of patch.h and patch.S: return address 11, slow path 24, operand 64. */
static void write_stub(const struct site *s)
{
	const struct trap_op *op = &s->op;
	uintptr_t entry = (uintptr_t)patch_entry, back = s->rip + op->len;
	uint8_t *p = patch_put(s->stub, skip_redzone, sizeof(skip_redzone));

	p = patch_put(p, "\xff\x15\x2d\0\0\0", 6); /* call *56-11(%rip) */
	p = patch_put(p, unskip_redzone, sizeof(unskip_redzone));
	p = put_jmp(p, back);
	p = patch_put(p, unskip_redzone, sizeof(unskip_redzone));
	p = patch_put(p, s->code, op->len);
	put_jmp(p, back);
	patch_put(s->stub + 56, &entry, 8);
	patch_put(s->stub + 64, &op, 8);
}

static bool make_stub(struct site *s)
{
	if (s->stub) /* the same code has been mapped at the same address again */
		return true;
	s->stub = page_near(s);
	if (!s->stub)
		return false;
	write_stub(s);
	if (sys_raw(SYS_mprotect, (long)s->stub, PAGE, PROT_READ | PROT_EXEC, 0, 0, 0) == 0)
		return true;
	sys_munmap(s->stub, PAGE);
	s->stub = NULL;
	return false;
}

/* ---- the change */

static void set_code(struct site *s, const uint8_t *from, size_t first, size_t last)
{
	volatile uint8_t *code = (volatile uint8_t *)s->rip;

	for (size_t i = first; i <= last; i++)
		code[i] = from[i];
}

/*
 * The pages are writable. The trap executes the store of a thread that meets hlt, so an
 * interruption half-way (a failing membarrier, a fork) leaves a site that works: SITE_BUSY for
 * good.
 */
static void write_jmp(struct site *s)
{
	static const uint8_t hlt = HLT;
	int32_t rel = (int32_t)((uintptr_t)s->stub - (s->rip + JMP));
	size_t last = (s->op.len < JMP ? s->op.len : JMP) - 1u;

	s->jmp[0] = 0xe9;
	patch_put(s->jmp + 1, &rel, 4);
	atomic_store(&s->state, SITE_BUSY);
	set_code(s, &hlt, 0, 0);
	if (!patch_sync())
		return;
	set_code(s, s->jmp, 1, last);
	if (!patch_sync())
		return;
	set_code(s, s->jmp, 0, 0);
	patch_sync();
	atomic_store(&s->state, SITE_HOT);
}

/* The last bytes of a jump in place of a short mov are those behind it: this may be its neighbour.
 */
static bool is_in_jump(uintptr_t rip)
{
	for (const struct site *s = sites; s < sites + SITES && s->rip; s++) {
		uint32_t state = atomic_load(&s->state);

		if ((state == SITE_HOT || state == SITE_BUSY) && rip > s->rip && rip < s->rip + JMP)
			return true;
	}
	return false;
}

/* Returns NULL, or the reason of the failure. */
static const char *patch_site(struct site *s)
{
	struct mapping m = {0}, own = {0};
	uintptr_t first = s->rip & ~(PAGE - 1), end = (s->rip + JMP + PAGE - 1) & ~(PAGE - 1);

	if (!find_mappings(s->rip, &m, &own))
		return "mapping not found";
	if (!m.patchable)
		return "not code of a file";
	if (end - first != PAGE) /* a fork could copy the code without the table */
		return "on two pages";
	if (m.dev == own.dev && m.inode == own.inode)
		return "own code";
	if (is_in_jump(s->rip))
		return "bytes of another one's jump";
	if (!patch_sync())
		return "no membarrier";
	sig_note_caught();
	if (!make_stub(s))
		return "no room for a stub near it";
	if (sys_raw(SYS_mprotect, (long)first, (long)(end - first), m.prot | PROT_WRITE, 0, 0, 0) <
	    0)
		return "code cannot be made writable";
	write_jmp(s);
	sys_raw(SYS_mprotect, (long)first, (long)(end - first), m.prot, 0, 0, 0);
	return NULL;
}

/*
 * Under the lock: reads the site's present code. The old stub stays, since a thread may still be in
 * it.
 */
static void renew(struct site *s, uintptr_t rip, const struct trap_op *op, const uint8_t *code)
{
	s->op = *op;
	s->stub = NULL;
	memcpy(s->code, code, sizeof(s->code));
	atomic_store(&s->count, 1);
	atomic_store_explicit(&s->rip, rip, memory_order_release);
}

static void patch_add(uintptr_t rip, const struct trap_op *op, const uint8_t *code)
{
	for (struct site *s = sites; s < sites + SITES; s++) {
		if (s->rip == rip)
			return;
		if (!s->rip) {
			renew(s, rip, op, code);
			return;
		}
	}
}

static void hot(struct site *s, const struct trap_op *op, const uint8_t *code)
{
	const char *why;

	if (atomic_load(&s->state) != SITE_COLD)
		return;
	if (memcmp(s->code, code, sizeof(s->code))) { /* not the code whose traps were counted */
		renew(s, s->rip, op, code);
		return;
	}
	why = patch_site(s);
	if (why)
		atomic_store(&s->state, SITE_REFUSED);
	TRACE(LOG_SHIM, "doorbell at %p: %s", (void *)s->rip, why ? why : "patched");
}

void patch_trapped(uintptr_t rip, const struct trap_op *op)
{
	uint8_t code[PATCH_CODE];
	struct site *s;

	if (!patch_on)
		return;
	s = patch_find(rip);
	if (s && (atomic_load(&s->state) != SITE_COLD ||
		  atomic_fetch_add(&s->count, 1) + 1 < PATCH_TRAPS))
		return;
	if (atomic_exchange_explicit(&patch_lock, 1, memory_order_acquire))
		return;
	if (mem_guarded_copy(code, (const void *)rip, sizeof(code)))
		; /* the last bytes of the mapping: too short to compare */
	else if (code[0] == HLT)
		; /* see patch_op() */
	else if (s)
		hot(s, op, code);
	else
		patch_add(rip, op, code);
	atomic_store_explicit(&patch_lock, 0, memory_order_release);
}

void patch_forking(void)
{
	while (atomic_exchange_explicit(&patch_lock, 1, memory_order_acquire))
		sys_raw(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
}

/* In the parent and in the child. */
void patch_forked(void)
{
	atomic_store(&patch_lock, 0);
}

/* From a handler on its alternate stack: see disarm_alt_stack() in fault.c. */
static void ring_off_alt_stack(struct patch_frame *f)
{
	stack_t alt, off = {.ss_flags = SS_DISABLE};

	sys_raw(SYS_sigaltstack, 0, (long)&alt, 0, 0, 0, 0);
	sys_raw(SYS_sigaltstack, (long)&off, 0, 0, 0, 0, 0);
	trap_store_qword(uar_seg(), f->uar, f->addr, f->value);
	alt.ss_flags &= ~SS_ONSTACK;
	sys_raw(SYS_sigaltstack, (long)&alt, 0, 0, 0, 0, 0);
}

/*
 * The kernel delivers a fault of a guarded copy at the top of an armed alternate stack, so that
 * stack must not contain frames that we return through.
 */
void patch_ring(struct patch_frame *f)
{
	if (__builtin_expect((uintptr_t)f->g[REG_RSP] - sig_alt.base < sig_alt.size, 0))
		ring_off_alt_stack(f);
	else
		trap_store_qword(uar_seg(), f->uar, f->addr, f->value);
}
