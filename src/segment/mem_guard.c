/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns copies inside this process at addresses that may be bad. The copy itself is in mem_guard.S;
 * without it or its fault handler the kernel makes the copy.
 */
#include "segment/mem.h"
#include "segment/adopt.h"
#include "util/sys.h"

#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

#define PAGE UINT64_C(4096)

bool mem_guard_armed;

static long populate_call(uint64_t from, uint64_t len, bool write)
{
	return sys_raw(SYS_madvise, (long)from, (long)len,
		       write ? MADV_POPULATE_WRITE : MADV_POPULATE_READ, 0, 0, 0);
}

int mem_populate(uint64_t from, uint64_t len, bool write)
{
	int mark = adopt_call_begin((void *)(uintptr_t)from, len);
	long r = populate_call(from, len, write);
	uint8_t here;

	adopt_call_end(mark);
	/*
	 * EINVAL has three causes: wrong protection, device memory (which cannot be pinned either),
	 * or a kernel before 5.14, which refuses every address, also the own stack.
	 */
	if (sys_refused(r) ||
	    (r == -EINVAL && populate_call((uintptr_t)&here & ~(PAGE - 1), PAGE, false) == -EINVAL))
		return MEM_UNKNOWN;
	return r ? -EFAULT : 0;
}

static int usable(const void *p, size_t len, bool write)
{
	uintptr_t from = (uintptr_t)p & ~(PAGE - 1), to = (uintptr_t)p + len;

	return to < from ? -EFAULT : mem_populate(from, to - from, write);
}

/*
 * A container may refuse process_vm_* even on the own process: check, then copy. A page that is
 * unmapped in between, or that cannot be checked, crashes the program, as its own access would.
 */
static int checked_copy(void *dst, const void *src, size_t len)
{
	/* The kernel populates no page for reading where a mapping says PROT_WRITE alone. */
	if ((usable(src, len, false) < 0 && usable(src, len, true) < 0) ||
	    usable(dst, len, true) < 0)
		return -EFAULT;
	memcpy(dst, src, len);
	return 0;
}

/* By this thread's number: a first thread that has ended has no memory. */
static long own_vm(int call, void *here, const void *there, size_t len)
{
	struct iovec local = {here, len}, remote = {(void *)(uintptr_t)there, len};

	return sys_call(call, sys_call(SYS_gettid), &local, 1, &remote, 1, 0);
}

/*
 * A source in the segment: readv refuses it, because its mapping says PROT_WRITE alone. To the
 * program's memory it is readv again: of that memcheck knows that it initializes.
 */
static long copy_by_stack(void *dst, const void *src, size_t len)
{
	uint8_t here[256] = {0};
	long n = own_vm(SYS_process_vm_writev, (void *)(uintptr_t)src, here,
			len < sizeof(here) ? len : sizeof(here));

	return n > 0 ? own_vm(SYS_process_vm_readv, dst, here, (size_t)n) : n;
}

static int kernel_copy(void *dst, const void *src, size_t len)
{
	while (len) {
		long r = own_vm(SYS_process_vm_readv, dst, src, len);

		if (r == -EFAULT)
			r = copy_by_stack(dst, src, len);
		if (sys_refused(r))
			return checked_copy(dst, src, len);
		if (r <= 0)
			return -EFAULT;
		dst = (uint8_t *)dst + r;
		src = (const uint8_t *)src + r;
		len -= (size_t)r;
	}
	return 0;
}

/*
 * Without a handler: check, then access; if the check is impossible, let the kernel read and write.
 */
static int checked_cas(void *p, uint32_t size, uint64_t *old, uint64_t next)
{
	uint64_t was = 0;
	int r;

	if (!usable(p, size, true)) {
		if (size == 8) {
			__atomic_compare_exchange_n((uint64_t *)p, old, next, false,
						    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
			return 0;
		}
		was = *old;
		__atomic_compare_exchange_n((uint32_t *)p, (uint32_t *)&was, (uint32_t)next, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
		*old = was;
		return 0;
	}
	r = kernel_copy(&was, p, size);
	if (!r && was == *old)
		r = kernel_copy(p, &next, size);
	*old = was;
	return r;
}

#if defined(__x86_64__)

int mem_guard_copy(void *dst, const void *src, size_t len);
int mem_guard_cas4(void *p, uint64_t *old, uint64_t next);
int mem_guard_cas8(void *p, uint64_t *old, uint64_t next);
extern const char mem_guard_end[], mem_guard_fault[];

int mem_guarded_copy(void *dst, const void *src, size_t len)
{
	if (__builtin_expect(!mem_guard_armed, 0))
		return kernel_copy(dst, src, len);
	return mem_guard_copy(dst, src, len);
}

int mem_guarded_cas(void *p, uint32_t size, uint64_t *old, uint64_t next)
{
	if (__builtin_expect(!mem_guard_armed, 0))
		return checked_cas(p, size, old, next);
	return size == 8 ? mem_guard_cas8(p, old, next) : mem_guard_cas4(p, old, next);
}

bool mem_guard_fixup(void *ucontext)
{
	ucontext_t *uc = ucontext;
	uintptr_t ip = (uintptr_t)uc->uc_mcontext.gregs[REG_RIP];

	if (ip < (uintptr_t)mem_guard_copy || ip >= (uintptr_t)mem_guard_end)
		return false;
	uc->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)mem_guard_fault;
	return true;
}

#else

int mem_guarded_copy(void *dst, const void *src, size_t len)
{
	return kernel_copy(dst, src, len);
}

int mem_guarded_cas(void *p, uint32_t size, uint64_t *old, uint64_t next)
{
	return checked_cas(p, size, old, next);
}

bool mem_guard_fixup(void *ucontext)
{
	return false;
}

#endif
