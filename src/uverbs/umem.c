/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Registered memory: is it there, may it be written, and does it fit under the limit on locked
 * memory. Nothing is really pinned: the device reaches the pages when it needs them. Called by the
 * MR handlers and by drivers (umems, queue buffers).
 */
#include <linux/capability.h>
#include "uverbs/priv.h"
#include "util/sys.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

#define PAGE UINT64_C(4096)
/* Ranges up to this are checked page by page; of larger ones the ends. */
#define UMEM_POPULATE_MAX (UINT64_C(256) << 10)

static const uint32_t write_access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				     IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND;

static uint64_t page_down(uint64_t a)
{
	return a & ~(PAGE - 1);
}

static uint64_t page_up(uint64_t a)
{
	return page_down(a + PAGE - 1);
}

static int populate_call(uint64_t from, uint64_t len, bool write)
{
	return sys_madvise((void *)(uintptr_t)from, len,
			   write ? MADV_POPULATE_WRITE : MADV_POPULATE_READ);
}

enum { UMEM_UNKNOWN = 1 };

/* -EFAULT when a page may not be used that way; UMEM_UNKNOWN: this kernel cannot tell. */
static int populate(uint64_t from, uint64_t to, bool write)
{
	uint8_t here;
	int r = populate_call(from, to - from, write);

	/*
	 * EINVAL is the answer for wrong protection, for device memory (which cannot be pinned
	 * either), and of kernels before 5.14 for everything: those refuse our own stack too.
	 */
	if (r == -EINVAL && populate_call(page_down((uintptr_t)&here), PAGE, false) == -EINVAL)
		return UMEM_UNKNOWN;
	return r ? -EFAULT : 0;
}

/*
 * msync(MS_ASYNC) writes nothing: it looks at each mapping once, so 1 GiB costs what 4 KiB costs,
 * and reports any gap. What it cannot tell is protection. MADV_POPULATE_* can, at the price of
 * making the pages present; that is what pinning does as well, but for a large range of untouched
 * memory it would take the memory and the time that we are here to save, so of those the first and
 * the last page stand for the rest (a wrong one in between is an error at the time of access).
 */
static int check_mapped(uint64_t from, uint64_t to, bool write)
{
	int r;

	if (to - from <= UMEM_POPULATE_MAX) {
		r = populate(from, to, write);
		if (r != UMEM_UNKNOWN)
			return r;
	}
	if (sys_call(SYS_msync, from, to - from, MS_ASYNC))
		return -EFAULT;
	r = populate(from, from + PAGE, write);
	if (!r)
		r = populate(to - PAGE, to, write);
	return r < 0 ? r : 0;
}

int uv_account(struct uv_file *f, uint64_t bytes)
{
	struct seg_proc *p = seg_proc(f->seg, f->seg->self);
	struct seg_file *sf = seg_file(f->seg, f->file);

	if (p) {
		uint64_t now = atomic_fetch_add(&p->pinned, bytes) + bytes;
		uint64_t limit = atomic_load(&p->memlock);

		if (f->sys->memlock_enforce && now > limit && !uv_capable(CAP_IPC_LOCK)) {
			atomic_fetch_sub(&p->pinned, bytes);
			return limit ? -ENOMEM : -EPERM; /* as can_do_mlock() */
		}
	}
	if (sf)
		atomic_fetch_add(&sf->pinned, bytes);
	atomic_fetch_add(&f->pinned, bytes);
	return 0;
}

void uv_unaccount(struct uv_file *f, uint64_t bytes)
{
	struct seg_proc *p = seg_proc(f->seg, f->seg->self);
	struct seg_file *sf = seg_file(f->seg, f->file);

	/* A fork child may give back what its parent registered: it never counted it. */
	if (bytes > atomic_load(&f->pinned))
		bytes = atomic_load(&f->pinned);
	if (p)
		atomic_fetch_sub(&p->pinned, bytes);
	if (sf)
		atomic_fetch_sub(&sf->pinned, bytes);
	atomic_fetch_sub(&f->pinned, bytes);
}

int uv_umem_check(uint64_t addr, uint64_t len, uint32_t access)
{
	uint64_t from = page_down(addr), to = page_up(addr + len);

	if (to > UINT64_C(1) << 47)
		return -EFAULT;
	return check_mapped(from, to, access & write_access);
}

int uv_umem_get(struct uv_file *f, uint64_t addr, uint64_t len, uint32_t access)
{
	uint64_t from = page_down(addr), to = page_up(addr + len);
	int r;

	if (addr + len < addr || to < addr + len)
		return -EINVAL;
	if (to == from || (to - from) / PAGE > UINT32_MAX)
		return -EINVAL;
	r = uv_account(f, to - from);
	if (r)
		return r;
	r = uv_umem_check(addr, len, access);
	if (r)
		uv_unaccount(f, to - from);
	return r;
}

void uv_umem_put(struct uv_file *f, uint64_t addr, uint64_t len)
{
	uv_unaccount(f, page_up(addr + len) - page_down(addr));
}
