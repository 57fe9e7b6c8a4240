/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the changes of libc's code (libc.h), and what such a call does: as the wrappers of adopt.c,
 * on the caller's stack. Runs inside of the allocator and of thread exit: no lock of shim_enter(),
 * no allocation, no wrapper.
 *
 * Everything that is unexpected (another libc, an allocator with system calls of its own, code that
 * cannot be written) leaves libc as it is, and libc_hook() says no.
 */
#include "shim/libc.h"
#include "shim/adopt.h"
#include "shim/doorbell/patch.h"
#include "shim/shim.h"
#include "segment/pin.h"
#include "util/log.h"
#include "util/sys.h"
#include "util/tls.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/mman.h>

#define PAGE UINT64_C(4096)
#define END (UINT64_C(1) << 47) /* of a program's addresses */
#define STUB 64
#define BELOW UINT64_C(0x10000000) /* stubs keep away from libraries that may come to lie here */

/* The allocator of a sanitizer, which has system calls of its own. */
extern size_t __sanitizer_get_allocated_size(const volatile void *p) __attribute__((weak));

static struct fn {
	const char *name;
	long nr;
	uint8_t *code;
	uint8_t *site;
} fns[] = {
	{"munmap", SYS_munmap, NULL, NULL},   {"mremap", SYS_mremap, NULL, NULL},
	{"madvise", SYS_madvise, NULL, NULL}, {"mprotect", SYS_mprotect, NULL, NULL},
	{"brk", SYS_brk, NULL, NULL},
};
#define FNS (sizeof(fns) / sizeof(fns[0]))

static TLS_IE uint32_t noted;

void libc_noted(void)
{
	noted++;
}

static uint64_t page_end(uint64_t at, uint64_t len)
{
	return (at + len + PAGE - 1) & ~(PAGE - 1);
}

static bool is_range(uint64_t at, uint64_t len)
{
	return !(at % PAGE) && len && len < END && at < END - len;
}

bool libc_put_off(long nr, const long a[6], long *r)
{
	uint64_t at = (uint64_t)a[0], len = (uint64_t)a[1];

	switch (nr) {
	case SYS_mmap:
		if (a[3] & MAP_FIXED_NOREPLACE && is_range(at, len))
			pin_make_room(at, page_end(at, len));
		else if (a[3] & MAP_FIXED && is_range(at, len))
			pin_replaced(at, page_end(at, len));
		return false;
	case SYS_mremap:
		if (is_range(at, len))
			pin_replaced(at, page_end(at, len));
		at = (uint64_t)a[4];
		len = (uint64_t)a[2];
		if (a[3] & MREMAP_FIXED && is_range(at, len))
			pin_replaced(at, page_end(at, len));
		return false;
	case SYS_munmap:
		*r = 0;
		return is_range(at, len) && pin_unmap(at, page_end(at, len));
	default:
		return false;
	}
}

long libc_call(const long a[6], unsigned long nr)
{
	struct shim_change c;
	long r;

	noted++;
	shim_change_begin(&c, (long)nr, a);
	if (!libc_put_off((long)nr, a, &r))
		r = sys_raw((long)nr, a[0], a[1], a[2], a[3], a[4], a[5]);
	shim_change_end(&c);
	return r;
}

/* ---- finding the places */

void libc_look_up(void)
{
	void *libc = fns[0].code ? NULL : dlopen("libc.so.6", RTLD_NOLOAD | RTLD_LAZY);

	for (struct fn *f = fns; libc && f < fns + FNS; f++)
		f->code = dlsym(libc, f->name);
	if (libc)
		dlclose(libc);
}

static bool find(void)
{
	for (struct fn *f = fns; f < fns + FNS; f++) {
		long at = f->code ? libc_site(f->code, LIBC_LOOK, (uint32_t)f->nr) : -1;

		if (!f->code)
			return false;
		if (at >= 0 && libc_in_block((uintptr_t)f->code + (uintptr_t)at))
			f->site = f->code + at;
	}
	return true;
}

/* With strict overcommit, glibc replaces free pages of arenas by mmap(), which is not changed. */
static bool replaces_pages(void)
{
	int fd = sys_openat(AT_FDCWD, "/proc/sys/vm/overcommit_memory", O_RDONLY | O_CLOEXEC, 0);
	char c = '2';

	if (fd >= 0) {
		sys_read(fd, &c, 1);
		sys_close(fd);
	}
	return c != '0' && c != '1';
}

/* ---- the stubs */

static uint8_t *put(uint8_t *to, const void *bytes, size_t n)
{
	memcpy(to, bytes, n);
	return to + n;
}

static int32_t distance(const uint8_t *from, const uint8_t *to)
{
	return (int32_t)(to - (from + LIBC_MOV));
}

static void write_stub(uint8_t *p, const struct fn *f)
{
	uintptr_t entry = (uintptr_t)libc_entry;
	uint32_t nr = (uint32_t)f->nr;
	const uint8_t *back = f->site + LIBC_MOV + LIBC_SYSCALL;
	uint8_t *stub = p;
	int32_t rel;

	p = put(p, "\x48\x8d\x64\x24\x80", 5); /* lea -128(%rsp), %rsp: the red zone */
	p = put(p, "\x68", 1);                 /* push $nr */
	p = put(p, &nr, 4);
	p = put(p, "\xff\x15", 2); /* call *entry(%rip) */
	rel = (int32_t)(stub + STUB - 8 - (p + 4));
	p = put(p, &rel, 4);
	p = put(p, "\x48\x8d\xa4\x24\x88\0\0\0", 8); /* lea 136(%rsp), %rsp */
	rel = distance(p, back);
	p = put(p, "\xe9", 1);
	put(p, &rel, 4);
	put(stub + STUB - 8, &entry, 8);
}

static uint8_t *make_stubs(void)
{
	uintptr_t from = ((uintptr_t)fns[0].code & ~(PAGE - 1)) - BELOW;
	uint8_t *p = patch_page(from, (uint32_t)BELOW / 2);

	if (!p)
		return NULL;
	for (size_t i = 0; i < FNS; i++)
		if (fns[i].site)
			write_stub(p + i * STUB, &fns[i]);
	if (!sys_call(SYS_mprotect, p, PAGE, PROT_READ | PROT_EXEC))
		return p;
	sys_munmap(p, PAGE);
	return NULL;
}

/* ---- the change */

/* One store of the block that has the mov; false: it is not what it was. */
static bool store_block(uint8_t *site, const uint8_t jmp[LIBC_MOV])
{
	uint8_t *block = (uint8_t *)((uintptr_t)site & ~(uintptr_t)(LIBC_BLOCK - 1));
	uint64_t was[2], now[2];
	bool done;

	memcpy(was, block, LIBC_BLOCK);
	memcpy(now, block, LIBC_BLOCK);
	memcpy((uint8_t *)now + (site - block), jmp, LIBC_MOV);
	__asm__ volatile("lock cmpxchg16b %1"
			 : "=@ccz"(done), "+m"(*(uint64_t(*)[2])block), "+a"(was[0]), "+d"(was[1])
			 : "b"(now[0]), "c"(now[1])
			 : "memory");
	return done;
}

static bool change_one(const struct fn *f, const uint8_t *stub)
{
	int32_t rel = distance(f->site, stub);
	uint8_t jmp[LIBC_MOV] = {0xe9};

	memcpy(jmp + 1, &rel, 4);
	return store_block(f->site, jmp);
}

/* All of them are on a few neighbouring pages: libc's other code there is executed meanwhile. */
static bool change(const uint8_t *stubs)
{
	uintptr_t from = UINTPTR_MAX, to = 0, at;
	bool done = true;

	for (const struct fn *f = fns; f < fns + FNS; f++) {
		at = (uintptr_t)f->site & ~(PAGE - 1);
		if (f->site && at < from)
			from = at;
		if (f->site && at + PAGE > to)
			to = at + PAGE;
	}
	if (!patch_is_file_code(from, to) ||
	    sys_call(SYS_mprotect, from, to - from, PROT_READ | PROT_WRITE | PROT_EXEC))
		return false;
	for (size_t i = 0; i < FNS; i++)
		if (fns[i].site)
			done &= change_one(&fns[i], stubs + i * STUB);
	sys_call(SYS_mprotect, from, to - from, PROT_READ | PROT_EXEC);
	return done;
}

/* ---- does it work? */

static bool seen(long r, uint32_t before)
{
	return r != -1 && noted != before;
}

/*
 * Calls libc's functions as libc does. This also accepts hooks of other libraries (UCX, Open MPI)
 * that end in syscall(). Calls of brk() would race with the allocator.
 */
static bool works(void)
{
	void *p = sys_mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint32_t n;
	bool ok;

	if (sys_is_err(p))
		return false;
	n = noted;
	ok = seen(((int (*)(void *, size_t, int))fns[2].code)(p, PAGE, MADV_NORMAL), n);
	n = noted;
	ok &= seen(((int (*)(void *, size_t, int))fns[3].code)(p, PAGE, PROT_READ), n);
	n = noted;
	ok &= seen((long)((void *(*)(void *, size_t, size_t, int, ...))fns[1].code)(
			   p, PAGE, PAGE, MREMAP_MAYMOVE, NULL),
		   n);
	n = noted;
	return seen(((int (*)(void *, size_t))fns[0].code)(p, PAGE), n) && ok;
}

/* Returns NULL, or the reason of the failure. */
static const char *hook(void)
{
	uint8_t *stubs;

	if (__sanitizer_get_allocated_size)
		return "the allocator of a sanitizer";
	if (replaces_pages())
		return "strict overcommit";
	if (!find())
		return "functions not found";
	if (!fns[FNS - 1].site)
		return "brk has other code";
	if (!patch_can())
		return "code is not to be changed";
	stubs = make_stubs();
	if (!stubs)
		return "no room near libc";
	if (!change(stubs))
		return "code cannot be written";
	if (!patch_sync())
		return "no membarrier";
	return works() ? NULL : "a call was not seen";
}

bool libc_hook(void)
{
	static enum { NEW, GOOD, BAD } state;
	const char *why;

	if (state == NEW) {
		why = hook();
		state = why ? BAD : GOOD;
		TRACE(LOG_SHIM, "libc's calls: %s", why ? why : "seen");
	}
	return state == GOOD;
}
