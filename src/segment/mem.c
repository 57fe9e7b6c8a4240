/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns copies between address spaces. The engine accesses every byte of a program through it; calls
 * the kernel below libc, and memfd.c when process_vm_* is refused. Runs in traps and never
 * allocates.
 *
 * A foreign slot is checked before each access and marked in_flight during it, so that an exec
 * waits for the copy and the new image is never written (seg_proc_exec_begin). The kernel's own
 * mark of the end (seg_proc_life_ended) keeps a process that has got the pid from being written,
 * even while the supervisor is late.
 */
#include "segment/mem.h"
#include "segment/adopt.h"
#include "segment/memfd.h"
#include "segment/proc.h"
#include "util/clock.h"
#include "util/point.h"
#include "util/sys.h"

#include <assert.h>

static_assert(sizeof(struct mem_vec) == sizeof(struct iovec) &&
		      offsetof(struct mem_vec, len) == offsetof(struct iovec, iov_len),
	      "a mem_vec is passed to the kernel as an iovec");

#define BOUNCE 4096
#define MOVING_NS NSEC_PER_MSEC /* longer than it takes to move a few pieces */
#define PAGE UINT64_C(4096)
/* process_vm_rw_single_vec() pins 1024 pages before it copies the first byte. */
#define TOUCH_MAX (512 * PAGE)
#define STRING_MIN 256 /* mem_guard.S copies more than this by the string instruction */

static uint64_t total(const struct mem_vec *v, unsigned int n)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < n; i++)
		sum += v[i].len;
	return sum;
}

/*
 * The stores of one string instruction may become visible in any order, but all before the store of
 * the last bytes, which programs poll. A copy by the kernel stays one system call.
 */
static int copy_last_last(void *dst, const void *src, uint64_t n)
{
	int r;

	if (n <= STRING_MIN || !mem_guard_armed)
		return mem_guarded_copy(dst, src, n);
	r = mem_guarded_copy(dst, src, n - 8);
	return r ? r : mem_guarded_copy((uint8_t *)dst + n - 8, (const uint8_t *)src + n - 8, 8);
}

/* Copy within this process. `write`: from the iovecs into the vectors, else the reverse. */
static int mem_copy_own(const struct mem_vec *v, unsigned int nv, const struct iovec *io,
			unsigned int nio, bool write)
{
	uint64_t voff = 0, iooff = 0;
	unsigned int i = 0, k = 0;
	int r;

	while (i < nv && k < nio) {
		uint64_t n = v[i].len - voff, m = io[k].iov_len - iooff;
		void *theirs = (void *)(uintptr_t)(v[i].va + voff);
		void *ours = (void *)((uintptr_t)io[k].iov_base + iooff);

		if (n > m)
			n = m;
		r = write ? copy_last_last(theirs, ours, n) : copy_last_last(ours, theirs, n);
		if (r)
			return r;
		voff += n;
		iooff += n;
		if (voff == v[i].len)
			i++, voff = 0;
		if (iooff == io[k].iov_len)
			k++, iooff = 0;
	}
	return 0;
}

/* Puts the rest of a list after `skip` bytes into `out`; returns its length. */
static unsigned int rest_of(const struct iovec *v, unsigned int n, uint64_t skip, struct iovec *out)
{
	unsigned int k = 0;

	for (unsigned int i = 0; i < n; i++) {
		if (skip >= v[i].iov_len) {
			skip -= v[i].iov_len;
			continue;
		}
		out[k].iov_base = (void *)((uintptr_t)v[i].iov_base + skip);
		out[k++].iov_len = v[i].iov_len - skip;
		skip = 0;
	}
	return k;
}

/* Cuts a list to `len` bytes; returns its new length. */
static unsigned int mem_cut(struct iovec *v, unsigned int n, uint64_t len)
{
	for (unsigned int i = 0; i < n; i++) {
		if (v[i].iov_len >= len) {
			v[i].iov_len = len;
			return i + 1;
		}
		len -= v[i].iov_len;
	}
	return n;
}

/* The local and the remote list of one system call. */
struct sides {
	const struct iovec *rv, *io;
	unsigned int nv, nio;
};

/* The gate can hold the shorter list, so that list passes through it. */
static long call_gated(long nr, uint32_t pid, const struct sides *x, struct seg_gate *g)
{
	bool theirs = x->nv <= x->nio;
	const struct iovec *v = theirs ? x->rv : x->io;
	unsigned int n = theirs ? x->nv : x->nio;
	long r;

	g->v[0].iov_base = v[0].iov_base;
	for (unsigned int i = 1; i < n; i++)
		g->v[i] = v[i];
	if (!gate_pass(g, v[0].iov_len))
		return -ECANCELED;
	POINT("mem-gated");
	r = sys_raw(nr, pid, (long)(theirs ? x->io : g->v), x->nio, (long)(theirs ? g->v : x->rv),
		    x->nv, 0);
	return r == -EINVAL && gate_word(g) & GATE_REVOKED ? -ECANCELED : r;
}

static long mem_call(long nr, uint32_t pid, const struct sides *x, struct seg_gate *g)
{
	if (__builtin_expect(g != NULL, 0))
		return call_gated(nr, pid, x, g);
	return sys_raw(nr, pid, (long)x->io, x->nio, (long)x->rv, x->nv, 0);
}

/*
 * The part that one call cannot copy: lists longer than a gate, and the rest when the kernel
 * stopped short, at an unmapped page or at its limit of 2 GiB per call. Continuing there tells the
 * two apart.
 */
static __attribute__((noinline)) int copy_pieces(long nr, uint32_t pid, const struct mem_job *j,
						 uint64_t done, uint64_t len)
{
	const struct iovec *v = (const struct iovec *)j->v;
	struct iovec rv[MEM_MAX_VEC], rio[MEM_MAX_VEC];

	while (done < len) {
		struct sides x = {rv, rio, rest_of(v, j->nv, done, rv),
				  rest_of(j->io, j->nio, done, rio)};
		long r;

		if (j->gate && x.nv > GATE_VECS && x.nio > GATE_VECS) {
			x.nv = GATE_VECS;
			x.nio = mem_cut(rio, x.nio, total((struct mem_vec *)rv, x.nv));
		}
		r = mem_call(nr, pid, &x, j->gate);
		if (r == -ECANCELED || r == -ESRCH || (r < 0 && !done))
			return (int)r;
		if (r <= 0)
			return r == -ESRCH || r == -EPERM ? (int)r : -EFAULT;
		done += (uint64_t)r;
	}
	return 0;
}

/*
 * 0, -EFAULT, -ECANCELED, or the error of a refusal. -ESRCH does not mean that the process is gone:
 * its first thread may have no memory any more while others still use it.
 */
static int copy_vm(const struct seg_proc *p, const struct mem_job *j)
{
	long nr = j->write ? SYS_process_vm_writev : SYS_process_vm_readv, r = 0;
	struct sides x = {(const struct iovec *)j->v, j->io, j->nv, j->nio};
	uint64_t len = __builtin_expect(j->touch, 0) ? j->io->iov_len : total(j->v, j->nv);

	if (!j->gate || x.nv <= GATE_VECS || x.nio <= GATE_VECS)
		r = mem_call(nr, p->pid, &x, j->gate);
	if (__builtin_expect(r >= 0 && (uint64_t)r == len, 1))
		return 0;
	if (r >= 0)
		r = copy_pieces(nr, p->pid, j, (uint64_t)r, len);
	return r == -EINVAL || r == -ENOMEM ? -EFAULT /* lengths that exceed the address space */
					    : (int)r;
}

/*
 * A pid of another namespace may be another process here, so never use it. `refused` says that some
 * process was refused, perhaps not this one, so only a descriptor at hand is better than trying.
 */
static int copy_live(struct seg *s, struct mem_slot m, const struct seg_proc *p,
		     const struct mem_job *j)
{
	bool by_pid = p->pid_ns == s->pid_ns;
	int r = -ENOENT;

	if (!by_pid || atomic_load_explicit(&p->refused, memory_order_relaxed))
		r = memfd_copy(s, m, j);
	if (r == -ENOENT)
		r = by_pid ? copy_vm(p, j) : -EPERM;
	if (__builtin_expect(sys_refused(r) || r == -ESRCH, 0))
		r = memfd_refused(s, m, r, j);
	return r;
}

static bool may_copy(const struct seg_proc *p)
{
	return atomic_load(&p->state) == SEG_PROC_LIVE && !seg_proc_life_ended(p);
}

/* The process is moving pages (adopt_own.c): a few microseconds, unless it has been stopped. */
static __attribute__((noinline)) int wait_for_moves(struct seg_proc *p)
{
	uint64_t end = clock_now_ns() + MOVING_NS;

	do {
		atomic_fetch_sub(&p->in_flight, 1);
		while (atomic_load(&p->moving) && may_copy(p)) {
			if (clock_now_ns() >= end)
				return -ETIMEDOUT;
			sys_call(SYS_sched_yield);
		}
		if (!may_copy(p))
			return -ESRCH;
		atomic_fetch_add(&p->in_flight, 1);
	} while (atomic_load(&p->moving));
	return 0;
}

static int copy_to_live(struct seg *s, struct mem_slot m, struct seg_proc *p,
			const struct mem_job *j)
{
	int r = 0;

	atomic_fetch_add(&p->in_flight, 1);
	if (__builtin_expect(atomic_load(&p->moving) != 0, 0))
		r = wait_for_moves(p);
	if (r)
		return r;
	r = may_copy(p) ? copy_live(s, m, p, j) : -ESRCH;
	atomic_fetch_sub(&p->in_flight, 1);
	return r;
}

static int copy_foreign(struct seg *s, struct mem_slot m, const struct mem_job *j)
{
	struct seg_proc *p = seg_proc(s, m.slot);
	int r, mark;

	if (!p || p->gen != m.gen)
		return -ESRCH;
	/* The kernel reads or writes memory of this process, too. */
	mark = adopt_call_begin_v(j->io, j->nio);
	r = copy_to_live(s, m, p, j);
	adopt_call_end(mark);
	return r;
}

/* Does a copy touch device memory, or adopted memory? */
static bool is_shared(const struct seg *s, const struct mem_job *j, bool *pool)
{
	bool shared = false;

	*pool = false;
	for (unsigned int i = 0; i < j->nv + j->nio; i++) {
		uint64_t va = i < j->nv ? j->v[i].va : (uintptr_t)j->io[i - j->nv].iov_base;
		uint64_t len = i < j->nv ? j->v[i].len : j->io[i - j->nv].iov_len;

		if (__builtin_expect(!mem_in_segment(s, va, len), 1))
			continue;
		if (adopt_in_pool(s, va, len))
			*pool = true;
		else
			shared = true;
	}
	return shared;
}

/*
 * Always by process_vm_writev(2): process_vm_readv(2) would refuse a source in the segment, whose
 * mapping says PROT_WRITE alone.
 */
static int copy_vm_own(const struct seg_proc *p, const struct mem_job *j)
{
	const struct mem_job turned = {(const struct mem_vec *)j->io,
				       (const struct iovec *)j->v,
				       j->nio,
				       j->nv,
				       true,
				       j->gate};

	return copy_vm(p, j->write ? j : &turned);
}

/*
 * Others have a part in bytes of the segment (device memory): the kernel copies these, as the copy
 * of a thread that is stopped can then be revoked. If the host refuses that, the thread is waited
 * for, as with a change of the device's state. Adopted memory is copied here: if the gate was shut
 * meanwhile, it may have been moved already, and the copy is to be made again.
 */
static __attribute__((noinline)) int copy_own_gated(struct seg *s, const struct mem_job *j)
{
	bool pool;
	const struct seg_proc *p = is_shared(s, j, &pool) ? seg_proc(s, s->self) : NULL;
	int r = p ? copy_vm_own(p, j) : 0;

	if (p && !sys_refused(r) && r != -ESRCH)
		return r;
	if (!gate_pass(j->gate, p ? GATE_BUSY : pool ? GATE_POOL : GATE_OWN))
		return -ECANCELED;
	r = mem_copy_own(j->v, j->nv, j->io, j->nio, j->write);
	if (p)
		gate_reset(j->gate); /* no revoker could shut the gate meanwhile */
	else if (pool && !gate_pass(j->gate, 0))
		r = -ECANCELED;
	return r;
}

static inline int copy_own(struct seg *s, const struct mem_job *j)
{
	return __builtin_expect(!j->gate, 1) ? mem_copy_own(j->v, j->nv, j->io, j->nio, j->write)
					     : copy_own_gated(s, j);
}

static int copy(struct seg *s, struct mem_slot m, const struct mem_job *j)
{
	if (j->nv > MEM_MAX_VEC || j->nio > MEM_MAX_VEC)
		return -EINVAL;
	return mem_is_self(s, m) ? copy_own(s, j) : copy_foreign(s, m, j);
}

int mem_readv(struct seg *s, struct mem_slot m, const struct mem_vec *from, unsigned int nfrom,
	      const struct iovec *to, unsigned int nto)
{
	return copy(s, m, &(struct mem_job){from, to, nfrom, nto, false, mem_gate});
}

int mem_writev(struct seg *s, struct mem_slot m, const struct mem_vec *to, unsigned int nto,
	       const struct iovec *from, unsigned int nfrom)
{
	return copy(s, m, &(struct mem_job){to, from, nto, nfrom, true, mem_gate});
}

int mem_read(struct seg *s, struct mem_slot m, uint64_t va, void *dst, size_t len)
{
	struct mem_vec v = {va, len};
	struct iovec io = {dst, len};
	const struct mem_job j = {&v, &io, 1, 1, false, mem_gate};

	return mem_is_self(s, m) ? copy_own(s, &j) : copy_foreign(s, m, &j);
}

int mem_write(struct seg *s, struct mem_slot m, uint64_t va, const void *src, size_t len)
{
	struct mem_vec v = {va, len};
	struct iovec io = {(void *)(uintptr_t)src, len};
	const struct mem_job j = {&v, &io, 1, 1, true, mem_gate};

	return mem_is_self(s, m) ? copy_own(s, &j) : copy_foreign(s, m, &j);
}

/* The bytes from `va` on that one access brings: by process_vm_readv(2) many pages. */
static uint64_t touch_size(struct seg *s, struct mem_slot m, uint64_t va)
{
	const struct seg_proc *p = seg_proc(s, m.slot);
	bool one = mem_is_self(s, m) || !p || p->pid_ns != s->pid_ns ||
		   atomic_load_explicit(&p->refused, memory_order_relaxed);

	return (one ? PAGE : TOUCH_MAX) - va % PAGE;
}

void mem_touch(struct seg *s, struct mem_slot m, uint64_t va, uint64_t len)
{
	uint64_t size, end = va + len;
	uint8_t byte;

	do {
		struct iovec io = {&byte, len != 0};
		struct mem_vec v = {va, 0};
		const struct mem_job j = {&v, &io, 1, 1, .touch = true};

		size = touch_size(s, m, va);
		v.len = size < end - va ? size : end - va;
		if (mem_is_self(s, m) ? mem_guarded_copy(&byte, (void *)(uintptr_t)va, io.iov_len)
				      : copy_foreign(s, m, &j))
			return;
		va += v.len;
	} while (va < end);
}

/* Cuts [off, off + len) out of a list into `out`; returns the number of vectors. */
static unsigned int slice(const struct mem_vec *v, unsigned int n, uint64_t off, uint64_t len,
			  struct mem_vec *out)
{
	unsigned int k = 0;

	for (unsigned int i = 0; i < n && len; i++) {
		uint64_t m;

		if (off >= v[i].len) {
			off -= v[i].len;
			continue;
		}
		m = v[i].len - off;
		if (m > len)
			m = len;
		out[k].va = v[i].va + off;
		out[k++].len = m;
		len -= m;
		off = 0;
	}
	return k;
}

static __attribute__((noinline)) int copy_bounced(struct seg *s, struct mem_slot dst,
						  const struct mem_vec *to, unsigned int nto,
						  struct mem_slot src, const struct mem_vec *from,
						  unsigned int nfrom)
{
	struct mem_vec part[MEM_MAX_VEC];
	uint64_t len = total(from, nfrom);
	uint8_t buf[BOUNCE];

	for (uint64_t off = 0; off < len;) {
		uint64_t n = len - off < BOUNCE ? len - off : BOUNCE;
		struct iovec io = {buf, n};
		int r;

		r = mem_readv(s, src, part, slice(from, nfrom, off, n, part), &io, 1);
		if (!r)
			r = mem_writev(s, dst, part, slice(to, nto, off, n, part), &io, 1);
		if (r)
			return r;
		off += n;
	}
	return 0;
}

int mem_copy(struct seg *s, struct mem_slot dst, const struct mem_vec *to, unsigned int nto,
	     struct mem_slot src, const struct mem_vec *from, unsigned int nfrom)
{
	if (nto > MEM_MAX_VEC || nfrom > MEM_MAX_VEC)
		return -EINVAL;
	if (mem_is_self(s, src))
		return mem_writev(s, dst, to, nto, (const struct iovec *)from, nfrom);
	if (mem_is_self(s, dst))
		return mem_readv(s, src, from, nfrom, (const struct iovec *)to, nto);
	return copy_bounced(s, dst, to, nto, src, from, nfrom);
}

int mem_read_be32(struct seg *s, struct mem_slot m, uint64_t va, uint32_t *v)
{
	struct mem_vec at = mem_record(va);
	uint8_t got[8];
	int r;

	/* Guarded, 4 bytes are one load (mem_guard.S). */
	if (mem_is_self(s, m) && mem_guard_armed)
		at = (struct mem_vec){va, 4};
	if (mem_is_self(s, m))
		r = mem_guarded_copy(got, (const void *)(uintptr_t)at.va, at.len);
	else
		r = mem_read(s, m, at.va, got, at.len);
	if (!r)
		*v = be32_load(got + (va - at.va));
	return r;
}

int mem_write_be32(struct seg *s, struct mem_slot m, uint64_t va, uint32_t v)
{
	v = __builtin_bswap32(v);
	return mem_write(s, m, va, &v, 4);
}
