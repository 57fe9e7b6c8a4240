/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The memory that the engine may reach in the WQE target: mappings of the test bed, which are in an
 * arena with inaccessible pages between them, and unmapped pages that a key covers (the engine gets
 * an error). Access to anything else is a bug of the engine. The linker replaces the functions of
 * these names. Not instrumented for coverage.
 */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>
#include "fuzz.h"

void wqe_arena_allow(const void *p, size_t len);
extern const uint64_t wqe_arena, wqe_arena_len;
/* Where no sanitizer has its heap: those of clang 17 and newer have it from 0x500000000000 on. */
const uint64_t wqe_arena = UINT64_C(0x310000000000), wqe_arena_len = 64 << 20;

enum { MAPS = 256 };
static struct {
	uint64_t at, len;
	bool there;
} maps[MAPS];
static unsigned int nmaps;
static uint64_t next;

static void add(uint64_t at, uint64_t len, bool there)
{
	fz_check(nmaps < MAPS);
	maps[nmaps].at = at;
	maps[nmaps].len = len;
	maps[nmaps++].there = there;
}

void wqe_arena_allow(const void *p, size_t len)
{
	add((uintptr_t)p, len, false);
}

void *__real_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off);
void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off);
void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
	void *p;

	if (addr || fd >= 0)
		return __real_mmap(addr, len, prot, flags, fd, off);
	if (!next) {
		p = __real_mmap((void *)(uintptr_t)wqe_arena, wqe_arena_len, PROT_NONE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE,
				-1, 0);
		fz_check(p == (void *)(uintptr_t)wqe_arena);
		next = wqe_arena + 4096;
	}
	len = (len + 4095) & ~(size_t)4095;
	p = (void *)(uintptr_t)next;
	fz_check(next + len + 8192 < wqe_arena + wqe_arena_len && !mprotect(p, len, prot));
	add(next, len, true);
	next += len + 8192;
	return p;
}

/*
 * 1: accessible; 0: an error for the engine; does not return on a bug. Memory outside the arena is
 * the engine's own.
 */
static int reach(const void *p, size_t len)
{
	uint64_t at = (uintptr_t)p;
	unsigned int i;

	if (at < wqe_arena || at >= wqe_arena + wqe_arena_len)
		return at >> 40 != wqe_arena >> 40;
	for (i = 0; i < nmaps; i++)
		if (at >= maps[i].at && at < maps[i].at + maps[i].len)
			break;
	fz_check(i < nmaps);
	if (!maps[i].there)
		return 0;
	if (at + len <= maps[i].at + maps[i].len)
		return 1;
	/* Across the end of a mapping: only where a key continues. */
	for (unsigned int k = 0; k < nmaps; k++)
		if (!maps[k].there && maps[k].at == maps[i].at + maps[i].len)
			return 0;
	fz_check(!"the engine stays inside a mapping");
	return 0;
}

int __real_mem_guarded_copy(void *dst, const void *src, size_t len);
int __wrap_mem_guarded_copy(void *dst, const void *src, size_t len);
int __wrap_mem_guarded_copy(void *dst, const void *src, size_t len)
{
	if (!len)
		return 0;
	if (!reach(dst, len) || !reach(src, len))
		return -EFAULT;
	memmove(dst, src, len);
	return 0;
}

int __real_mem_guarded_cas(void *p, uint32_t size, uint64_t *old, uint64_t to);
int __wrap_mem_guarded_cas(void *p, uint32_t size, uint64_t *old, uint64_t to);
int __wrap_mem_guarded_cas(void *p, uint32_t size, uint64_t *old, uint64_t to)
{
	return reach(p, size) ? __real_mem_guarded_cas(p, size, old, to) : -EFAULT;
}
