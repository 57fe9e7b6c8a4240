/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Registered memory: is it mapped, is it writable if needed, and does it fit into the limit of
 * locked memory? The device accesses the pages when it needs them, and they stay where they are
 * until the registration ends (segment/pin.h). Called by the MR handlers and by drivers (umems,
 * queue buffers).
 */
#include <linux/capability.h>
#include <sys/ioctl.h>
#include "fault/fault.h"
#include "segment/adopt.h"
#include "segment/pin.h"
#include "uverbs/priv.h"
#include "util/num.h"
#include "util/sys.h"

#define PAGE UINT64_C(4096)
/* Ranges up to this size are checked page by page; larger ones by mapping. */
#define UMEM_POPULATE_MAX (UINT64_C(256) << 10)

static const uint32_t write_access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				     IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND;

static uint64_t page_down(uint64_t a)
{
	return a & ~(PAGE - 1);
}

static uint64_t umem_page_up(uint64_t a)
{
	return page_down(a + PAGE - 1);
}

static int populate(uint64_t from, uint64_t to, bool write)
{
	return mem_populate(from, to - from, write);
}

/* A line of /proc/self/maps, as far as it is read: "from-to rwxp ...". */
struct maps_line {
	uint64_t from, to;
	uint32_t field; /* 0, 1: an address; 2: the protection; more: the rest */
	bool r, w;
};
enum { MAPS_READ = 2, MAPS_WRITE = 3, MAPS_REST = 4 };

/* Read one character; true: the line's protection is now known. */
static bool maps_char(struct maps_line *l, char c)
{
	uint64_t *number = l->field ? &l->to : &l->from;

	if (c == '\n') {
		*l = (struct maps_line){0};
	} else if (l->field < MAPS_READ) {
		if (c == '-' || c == ' ')
			l->field++;
		else
			*number = *number << 4 | num_digit(c);
	} else if (l->field == MAPS_READ) {
		l->r = c == 'r';
		l->field++;
	} else if (l->field == MAPS_WRITE) {
		l->w = c == 'w';
		l->field++;
		return true;
	}
	return false;
}

/* Check the list of mappings as text, in ascending order: lines after the range are not read. */
static int read_maps(int fd, uint64_t from, uint64_t to, bool write)
{
	struct maps_line l = {0};
	char buf[4096];
	ssize_t n;

	while ((n = sys_read(fd, buf, sizeof(buf))) > 0)
		for (ssize_t i = 0; i < n; i++) {
			if (!maps_char(&l, buf[i]) || l.to <= from)
				continue;
			if (l.from > from || !(write ? l.w : l.r))
				return -EFAULT;
			from = l.to;
			if (from >= to)
				return 0;
		}
	return n < 0 ? MEM_UNKNOWN : -EFAULT;
}

/* A query for one mapping, for kernels that have it (6.11); not in Debian 12's headers. */
struct map_query {
	uint64_t size, flags, addr;
	uint64_t from, to, prot; /* output; prot: 1 readable, 2 writable */
	uint64_t page_size, offset, inode;
	uint32_t dev[2], name_size, build_id_size;
	uint64_t name, build_id;
};
#define MAP_QUERY _IOWR('f', 17, struct map_query)

static int query_maps(int fd, uint64_t from, uint64_t to, bool write)
{
	struct map_query q = {.size = sizeof(q)};
	long r;

	while (from < to) {
		q.addr = from;
		q.flags = 0;
		r = sys_call(SYS_ioctl, fd, MAP_QUERY, &q);
		if (r)
			return r == -ENOENT ? -EFAULT : MEM_UNKNOWN;
		if (!(q.prot & (write ? 2 : 1)) || q.to <= from)
			return -EFAULT;
		from = q.to;
	}
	return 0;
}

/*
 * Is every page of the range in a mapping with that protection? MEM_UNKNOWN: cannot be found out.
 */
static int check_maps(uint64_t from, uint64_t to, bool write)
{
	int fd = sys_openat(AT_FDCWD, "/proc/thread-self/maps", O_RDONLY | O_CLOEXEC, 0);
	int r = MEM_UNKNOWN;

	if (fd < 0)
		return r;
	r = query_maps(fd, from, to, write);
	if (r == MEM_UNKNOWN)
		r = read_maps(fd, from, to, write);
	sys_close(fd);
	return r;
}

/*
 * MADV_POPULATE_* tells whether pages are usable, and makes them present, as pinning does; for a
 * large untouched range that would take the memory and time to be saved here, so there the list of
 * mappings tells (and, for memory that cannot be pinned, the first and last page). If both fail,
 * msync(MS_ASYNC), which writes nothing, reports gaps. If the host allows no check, the memory
 * counts as good.
 */
static int check_still(uint64_t from, uint64_t to, bool write)
{
	int r;

	if (to - from <= UMEM_POPULATE_MAX) {
		r = populate(from, to, write);
		if (r != MEM_UNKNOWN)
			return r;
	}
	r = check_maps(from, to, write);
	if (r == MEM_UNKNOWN && sys_call(SYS_msync, from, to - from, MS_ASYNC) == -ENOMEM)
		r = -EFAULT;
	if (r >= 0)
		r = populate(from, from + PAGE, write);
	if (r >= 0)
		r = populate(to - PAGE, to, write);
	return r < 0 ? r : 0;
}

/* Pages that are being moved (segment/adopt.h) have another protection meanwhile. */
static int check_mapped(uint64_t from, uint64_t to, bool write)
{
	int mark = adopt_call_begin((void *)(uintptr_t)from, to - from), r;

	r = check_still(from, to, write);
	adopt_call_end(mark);
	return r;
}

/*
 * Count registered memory (--memlock) in whole pages: 0, or -ENOMEM if the limit is enforced and
 * exceeded.
 */
static int umem_account(struct uv_file *f, uint64_t bytes)
{
	struct seg_proc *p = seg_proc(f->seg, f->seg->self);
	struct seg_file *sf = seg_file(f->seg, f->file);

	if (p) {
		uint64_t now = atomic_fetch_add(&p->pinned, bytes) + bytes;
		uint64_t limit = atomic_load(&p->memlock), all = f->sys->memlock_all;

		if (hw_fault_memlock(&limit) && (!all || limit < all))
			all = limit + !limit;

		if ((all && now > all) ||
		    (f->sys->memlock_enforce && now > limit && !uv_capable(CAP_IPC_LOCK))) {
			atomic_fetch_sub(&p->pinned, bytes);
			/* as can_do_mlock() */
			return uv_no(limit || all ? -ENOMEM : -EPERM, "beyond RLIMIT_MEMLOCK");
		}
	}
	if (sf)
		atomic_fetch_add(&sf->pinned, bytes);
	atomic_fetch_add(&f->pinned, bytes);
	return 0;
}

static void umem_unaccount(struct uv_file *f, uint64_t bytes)
{
	struct seg_proc *p = seg_proc(f->seg, f->seg->self);
	struct seg_file *sf = seg_file(f->seg, f->file);

	/* A fork child may release memory that its parent registered, and that it never counted. */
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
	uint64_t from = page_down(addr), to = umem_page_up(addr + len);
	int r = -EFAULT;

	if (to <= UINT64_C(1) << 47)
		r = check_mapped(from, to, access & write_access);
	return r ? uv_no(r, "some of the memory is not mapped, or not writable though it is to be")
		 : 0;
}

static uint64_t pin_owner(const struct uv_file *f)
{
	return (uint64_t)f->gen << 32 | (f->file + 1);
}

int uv_umem_get(struct uv_file *f, uint64_t addr, uint64_t len, uint32_t access)
{
	uint64_t from = page_down(addr), to = umem_page_up(addr + len);
	int r;

	if (addr + len < addr || to < addr + len)
		return uv_no(-EINVAL, "address and length wrap");
	if (to == from || (to - from) / PAGE > UINT32_MAX)
		return uv_no(-EINVAL, "the memory is empty, or too large");
	r = umem_account(f, to - from);
	if (r)
		return r;
	r = uv_umem_check(addr, len, access);
	if (r)
		umem_unaccount(f, to - from);
	else
		pin_get(from, to, pin_owner(f));
	return r;
}

void uv_umem_put(struct uv_file *f, uint64_t addr, uint64_t len)
{
	uint64_t from = page_down(addr), to = umem_page_up(addr + len);

	umem_unaccount(f, to - from);
	pin_put(from, to, pin_owner(f));
}

void uv_umem_put_all(const struct uv_file *f)
{
	pin_put_all(pin_owner(f));
}
