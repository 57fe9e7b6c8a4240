/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns copies inside our own memory at addresses that nobody vouches for. The copy itself is in
 * mem_guard.S; where that or its fault handler is missing, the kernel copies for us.
 */
#include "segment/mem.h"
#include "util/sys.h"

#include <ucontext.h>

bool mem_guard_armed;

static int kernel_copy(void *dst, const void *src, size_t len)
{
	int pid = sys_getpid();

	while (len) {
		struct iovec to = {dst, len}, from = {(void *)(uintptr_t)src, len};
		long r = sys_raw(SYS_process_vm_readv, pid, (long)&to, 1, (long)&from, 1, 0);

		if (r <= 0)
			return -EFAULT;
		dst = (uint8_t *)dst + r;
		src = (const uint8_t *)src + r;
		len -= (size_t)r;
	}
	return 0;
}

#if defined(__x86_64__)

int mem_guard_copy(void *dst, const void *src, size_t len);
extern const char mem_guard_end[], mem_guard_fault[];

int mem_guarded_copy(void *dst, const void *src, size_t len)
{
	if (__builtin_expect(!mem_guard_armed, 0))
		return kernel_copy(dst, src, len);
	return mem_guard_copy(dst, src, len);
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

bool mem_guard_fixup(void *ucontext)
{
	return false;
}

#endif
