/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the wrappers of calls that change what adopted pages (segment/adopt.h) are, and do nothing
 * else here: the pages are given back first, so that the call finds the program's own mapping.
 * Without adopted pages each costs one load.
 */
#include "segment/adopt.h"
#include "shim/adopt.h"
#include "shim/attach.h"
#include "shim/given.h"
#include "shim/shim.h"
#include "shim/wrap.h"
#include "util/clock.h"
#include "util/num.h"
#include "util/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>

/* A vfork child must not change its parent's tables. */
void shim_keep_out(const void *addr, size_t len)
{
	if (__builtin_expect(adopt_any(), 0) && shim_owns_tables())
		adopt_keep_out(addr, len);
}

/* The heap from the address on that brk() is to set. */
static int change_heap(uintptr_t to)
{
	uintptr_t end = (uintptr_t)sys_call(SYS_brk, 0);

	return to && to < end ? adopt_change_begin((void *)to, end - to) : -1;
}

static void drop_range(void *addr, size_t len, int advice)
{
	uint64_t in_page = ADOPT_PAGE - 1;

	if (__builtin_expect(adopt_any(), 0) && advice == MADV_DONTNEED && shim_owns_tables() &&
	    !((uintptr_t)addr & in_page))
		adopt_drop(addr, (len + in_page) & ~in_page);
}

static int change_range(long addr, long len)
{
	return adopt_change_begin((void *)addr, (size_t)len);
}

void shim_change_begin(struct shim_change *c, long nr, const long a[6])
{
	*c = (struct shim_change){-1, -1};
	if (__builtin_expect(!atomic_load_explicit(&adopt_may, memory_order_relaxed), 1) ||
	    (adopt_any() && !shim_owns_tables()))
		return;
	switch (nr) {
	case SYS_mmap:
		if (a[3] & MAP_FIXED)
			c->mark = change_range(a[0], a[1]);
		break;
	case SYS_madvise:
		drop_range((void *)a[0], (size_t)a[1], (int)a[2]);
		c->mark = change_range(a[0], a[1]);
		break;
	case SYS_munmap:
	case SYS_mprotect:
		c->mark = change_range(a[0], a[1]);
		break;
	case SYS_mremap:
		c->mark = change_range(a[0], a[1] ? a[1] : a[2]);
		if (a[3] & MREMAP_FIXED)
			c->mark2 = change_range(a[4], a[2]);
		break;
	case SYS_brk:
		c->mark = change_heap((uintptr_t)a[0]);
		break;
	}
}

void shim_change_end(const struct shim_change *c)
{
	adopt_call_end(c->mark2);
	adopt_call_end(c->mark);
}

static void shim_adopt_never(void)
{
	if (__builtin_expect(atomic_load(&adopt_may) != 0, 0) && shim_owns_tables())
		adopt_never();
}

#define WRAP_RANGE(name, params, args)    \
	WRAP(int, name, params)           \
	{                                 \
		shim_keep_out(addr, len); \
		return NEXT(name) args;   \
	}
WRAP_RANGE(posix_madvise, (void *addr, size_t len, int advice), (addr, len, advice))
WRAP_RANGE(mprotect, (void *addr, size_t len, int prot), (addr, len, prot))
WRAP_RANGE(pkey_mprotect, (void *addr, size_t len, int prot, int key), (addr, len, prot, key))
WRAP_RANGE(mlock, (const void *addr, size_t len), (addr, len))
WRAP_RANGE(mlock2, (const void *addr, size_t len, unsigned int flags), (addr, len, flags))
WRAP_RANGE(munlock, (const void *addr, size_t len), (addr, len))
WRAP_RANGE(remap_file_pages, (void *addr, size_t len, int prot, size_t off, int flags),
	   (addr, len, prot, off, flags))

WRAP(int, madvise, (void *addr, size_t len, int advice))
{
	drop_range(addr, len, advice);
	shim_keep_out(addr, len);
	return NEXT(madvise)(addr, len, advice);
}

/*
 * Large blocks bypass the stream's buffer: the kernel gets the program's memory. Small blocks are
 * frequent; while adoption is off they cost a jump.
 */
#define WRAP_STREAM(name, params, args, bytes)                                                   \
	WRAP(size_t, name, params)                                                               \
	{                                                                                        \
		if (__builtin_expect(!atomic_load_explicit(&adopt_on, memory_order_relaxed), 1)) \
			return NEXT(name) args;                                                  \
		return ADOPT_CALL(p, bytes, NEXT(name) args);                                    \
	}
WRAP_STREAM(fread, (void *p, size_t size, size_t n, FILE *f), (p, size, n, f), size *n)
WRAP_STREAM(fread_unlocked, (void *p, size_t size, size_t n, FILE *f), (p, size, n, f), size *n)
WRAP_STREAM(__fread_chk, (void *p, size_t room, size_t size, size_t n, FILE *f),
	    (p, room, size, n, f), size *n)
WRAP_STREAM(__fread_unlocked_chk, (void *p, size_t room, size_t size, size_t n, FILE *f),
	    (p, room, size, n, f), size *n)
WRAP_STREAM(fwrite, (const void *p, size_t size, size_t n, FILE *f), (p, size, n, f), size *n)
WRAP_STREAM(fwrite_unlocked, (const void *p, size_t size, size_t n, FILE *f), (p, size, n, f),
	    size *n)

/* mlock2(2) for one line of /proc/self/maps: "start-end ..." in hexadecimal. */
static void lock_line(const char *line, const struct seg *s, unsigned int flags)
{
	uint64_t from = num_in_base(line, 16, &line);
	uint64_t to = num_in_base(line + (*line == '-'), 16, NULL);

	/* mlockall() ignores what cannot be locked, too (apply_mlockall_flags(), mm/mlock.c). */
	if (to <= (uintptr_t)s->base || from >= (uintptr_t)s->base + s->size)
		sys_call(SYS_mlock2, from, to - from, flags);
}

/* `flags`: of mlock2(2). */
static void lock_all_but(const struct seg *s, unsigned int flags)
{
	int fd = sys_openat(AT_FDCWD, "/proc/thread-self/maps", O_RDONLY | O_CLOEXEC, 0);
	char buf[1024], line[40];
	size_t len = 0;
	long n;

	if (fd < 0)
		return;
	/* The rest of a line, behind the addresses, is not kept. */
	while ((n = sys_call(SYS_read, fd, buf, sizeof(buf))) > 0)
		for (long i = 0; i < n; i++) {
			if (buf[i] == '\n') {
				line[len] = '\0';
				lock_line(line, s, flags);
				len = 0;
			} else if (len < sizeof(line) - 1) {
				line[len++] = buf[i];
			}
		}
	sys_close(fd);
}

/* Does the program without the segment fit into its limit? */
static bool rest_fits(const struct seg *s)
{
	int fd = sys_openat(AT_FDCWD, "/proc/thread-self/statm", O_RDONLY | O_CLOEXEC, 0);
	struct rlimit lim;
	char buf[128];
	long n;

	if (fd < 0)
		return false;
	n = sys_call(SYS_read, fd, buf, sizeof(buf) - 1);
	sys_close(fd);
	if (n <= 0 || sys_call(SYS_prlimit64, 0, RLIMIT_MEMLOCK, NULL, &lim) < 0)
		return false;
	buf[n] = '\0';
	return lim.rlim_cur && num_decimal(buf, NULL) * ADOPT_PAGE - s->size <= lim.rlim_cur;
}

/*
 * The segment is a mapping that the program does not have on a card: locked, it would be filled to
 * its last page, or be refused for its size. It is locked on fault, which fills nothing, for a
 * moment.
 */
int shim_mlockall(int flags, int (*next)(int))
{
	struct seg *s = shim_segment();

	if (!s || !(flags & MCL_CURRENT) || (flags & ~(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT)))
		return next(flags);
	if (next(flags | MCL_ONFAULT) == 0) {
		sys_call(SYS_munlock, s->base, s->size);
		if (flags & MCL_ONFAULT)
			return 0;
		lock_all_but(s, 0);
		return flags & MCL_FUTURE ? next(MCL_FUTURE) : 0;
	}
	if (errno != ENOMEM || !rest_fits(s))
		return -1;
	lock_all_but(s, flags & MCL_ONFAULT ? MLOCK_ONFAULT : 0);
	return flags & MCL_FUTURE ? next(flags & ~MCL_CURRENT) : 0;
}

WRAP(int, mlockall, (int flags))
{
	shim_adopt_never();
	return shim_mlockall(flags, NEXT(mlockall));
}

/* ---- copies from and to another process, which may be moving its pages (MPI between neighbours)
 */

#define MOVE_NS (20 * NSEC_PER_USEC) /* about how long a process's pages are being moved */

/* Do not block signals while waiting: the other process may be stopped while it moves pages. */
static bool copy_begin(struct shim_vm *v, struct seg *s, uint32_t pid)
{
	struct timespec nap = {0, MOVE_NS};
	int r;

	for (;; sys_call(SYS_nanosleep, &nap, NULL)) {
		shim_enter(&v->old);
		r = eng_copy_begin(s, pid, &v->copy);
		if (r > 0)
			return true;
		shim_leave(&v->old);
		if (!r)
			return false;
	}
}

void shim_vm_begin(struct shim_vm *v, pid_t pid, const struct iovec *own, unsigned long n)
{
	struct seg *s = shim_adopting();

	v->on = false;
	v->mark = s ? adopt_call_begin_v(own, n) : -1;
	if (s && pid > 0 && pid != sys_getpid() && shim_owns_tables())
		v->on = copy_begin(v, s, (uint32_t)pid);
}

void shim_vm_end(struct shim_vm *v)
{
	int saved = errno;

	if (v->on) {
		eng_copy_end(&v->copy);
		shim_leave(&v->old);
	}
	adopt_call_end(v->mark);
	errno = saved;
}

/* Costs two loads and a jump while no process of the fabric has adoption on. */
#define WRAP_VM(name)                                                                          \
	WRAP(ssize_t, name,                                                                    \
	     (pid_t pid, const struct iovec *own, unsigned long n, const struct iovec *theirs, \
	      unsigned long m, unsigned long flags))                                           \
	{                                                                                      \
		struct shim_vm v;                                                              \
		ssize_t r;                                                                     \
                                                                                               \
		if (__builtin_expect(!shim_adopting(), 1))                                     \
			return NEXT(name)(pid, own, n, theirs, m, flags);                      \
		shim_vm_begin(&v, pid, own, n);                                                \
		r = NEXT(name)(pid, own, n, theirs, m, flags);                                 \
		shim_vm_end(&v);                                                               \
		return r;                                                                      \
	}
WRAP_VM(process_vm_readv)
WRAP_VM(process_vm_writev)

static void keep_out_of_heap(const void *to)
{
	const char *end;

	if (__builtin_expect(!adopt_any(), 1))
		return;
	end = (const char *)sys_call(SYS_brk, 0);
	if ((const char *)to < end)
		shim_keep_out(to, (size_t)(end - (const char *)to));
}

WRAP(int, brk, (void *to))
{
	keep_out_of_heap(to);
	return NEXT(brk)(to);
}

WRAP(void *, sbrk, (intptr_t by))
{
	if (by < 0 && adopt_any())
		keep_out_of_heap((const char *)sys_call(SYS_brk, 0) + by);
	return NEXT(sbrk)(by);
}

/* _Fork() is fork() without the pthread_atfork() handlers. */
WRAP(pid_t, _Fork, (void))
{
	pid_t pid;

	adopt_forking();
	pid = NEXT(_Fork)();
	if (pid)
		adopt_fork_done();
	else
		adopt_forked();
	return pid;
}

/* A fork by system call: no handler runs. clone3's flags are its struct's first word. */
static bool forks(long nr, const long a[6])
{
	uint64_t flags;

	switch (nr) {
#ifdef SYS_fork
	case SYS_fork:
		return true;
#endif
	case SYS_clone:
		return !(a[0] & 0x100); /* CLONE_VM */
#ifdef SYS_clone3
	case SYS_clone3:
		return given(&flags, (const void *)a[0], sizeof(flags)) && !(flags & 0x100);
#endif
	default:
		return false;
	}
}

/*
 * Called before a system call made by syscall(). True: call shim_adopt_forked() afterwards, in
 * parent and child.
 */
bool shim_adopt_syscall(long nr, const long a[6])
{
	if (__builtin_expect(!atomic_load(&adopt_may), 1))
		return false;
	switch (nr) {
	case SYS_madvise:
		drop_range((void *)a[0], (size_t)a[1], (int)a[2]);
		/* fallthrough */
	case SYS_mprotect:
	case SYS_mlock:
	case SYS_mlock2:
	case SYS_munlock:
	case SYS_mbind:
	case SYS_remap_file_pages:
#ifdef SYS_pkey_mprotect
	case SYS_pkey_mprotect:
#endif
		shim_keep_out((void *)a[0], (size_t)a[1]);
		return false;
	case SYS_brk:
		if (a[0])
			keep_out_of_heap((void *)a[0]);
		return false;
	case SYS_mlockall:
#ifdef SYS_userfaultfd
	case SYS_userfaultfd:
#endif
#ifdef SYS_io_uring_setup
	case SYS_io_uring_setup:
#endif
	case SYS_io_setup:
		shim_adopt_never();
		return false;
	default:
		if (!forks(nr, a))
			return false;
		adopt_forking();
		return true;
	}
}

void shim_adopt_forked(long r)
{
	if (r)
		adopt_fork_done();
	else
		adopt_forked();
}
