/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The memory that inputs can reach: the arenas of the rows' world. Another mapped address in an
 * input counts as unmapped. The other side of a copy is this process's own memory: the stack and
 * living blocks of the heap. The linker replaces the functions of these names. Not instrumented for
 * coverage: inputs would learn addresses from the comparisons.
 */
#include <errno.h>
#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <string.h>
#include "../abi/abi.h"
#include "fuzz.h"

static const struct {
	uint64_t at, len;
	bool writable;
} arenas[] = {
	{MEM, MEM_LEN, true},
	{IN, IN_END - IN, true},
	{OUT, OUT_END - OUT, true},
	{RDONLY, 4096, false},
};

static bool in_arena(uint64_t at, uint64_t len, bool write)
{
	for (size_t i = 0; i < sizeof(arenas) / sizeof(arenas[0]); i++)
		if (at >= arenas[i].at && len <= arenas[i].len &&
		    at - arenas[i].at <= arenas[i].len - len)
			return !write || arenas[i].writable;
	return false;
}

extern const char __executable_start[], _end[];

/* Only the sanitizer knows where its heap is: that of clang 21 is not at a fixed address. */
static bool in_heap(void *p)
{
	char name[1];
	void *block;
	size_t size;

	return !strcmp(__asan_locate_address(p, name, sizeof(name), &block, &size), "heap");
}

static bool is_ours(const void *p, size_t len)
{
	static __thread uintptr_t low, high;
	uintptr_t at = (uintptr_t)p;
	pthread_attr_t a;
	void *stack;
	size_t size;

	if (!high) {
		pthread_getattr_np(pthread_self(), &a);
		pthread_attr_getstack(&a, &stack, &size);
		pthread_attr_destroy(&a);
		low = (uintptr_t)stack;
		high = low + size;
	}
	if ((at < low || at >= high) &&
	    (at < (uintptr_t)__executable_start || at >= (uintptr_t)_end) && !in_heap((void *)at))
		return false;
	return !__asan_region_is_poisoned((void *)at, len);
}

static bool allowed(const void *p, size_t len, bool write)
{
	return in_arena((uintptr_t)p, len, write) || is_ours(p, len);
}

int __wrap_mem_guarded_copy(void *dst, const void *src, size_t len);
int __wrap_mem_guarded_copy(void *dst, const void *src, size_t len)
{
	if (!len)
		return 0;
	if (!allowed(dst, len, true) || !allowed(src, len, false))
		return -EFAULT;
	memmove(dst, src, len);
	return 0;
}

int __real_mem_guarded_cas(void *p, uint32_t size, uint64_t *old, uint64_t next);
int __wrap_mem_guarded_cas(void *p, uint32_t size, uint64_t *old, uint64_t next);
int __wrap_mem_guarded_cas(void *p, uint32_t size, uint64_t *old, uint64_t next)
{
	return allowed(p, size, true) ? __real_mem_guarded_cas(p, size, old, next) : -EFAULT;
}

/* The kernel checks memory when it is registered. */
static uint64_t visible(uint64_t addr, uint64_t len)
{
	uint64_t top = UINT64_C(1) << 47;

	if (addr + len < addr || addr + len > top || !len)
		return addr; /* refused before its memory is checked */
	return addr >= MEM && addr < NOWHERE && len < NOWHERE - addr ? addr
								     : NOWHERE + (addr & 4095);
}

struct uv_file;
int __real_uv_umem_get(struct uv_file *f, uint64_t addr, uint64_t len, uint32_t access);
int __wrap_uv_umem_get(struct uv_file *f, uint64_t addr, uint64_t len, uint32_t access);
int __wrap_uv_umem_get(struct uv_file *f, uint64_t addr, uint64_t len, uint32_t access)
{
	return __real_uv_umem_get(f, visible(addr, len), len, access);
}

int __real_uv_umem_check(uint64_t addr, uint64_t len, uint32_t access);
int __wrap_uv_umem_check(uint64_t addr, uint64_t len, uint32_t access);
int __wrap_uv_umem_check(uint64_t addr, uint64_t len, uint32_t access)
{
	return __real_uv_umem_check(visible(addr, len), len, access);
}
