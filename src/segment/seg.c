/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the segment's layout (hw/tables.c defines its tables), its creation and its mapping. Calls
 * the kernel only, below libc. The supervisor (seg_create) and suplink.c (seg_map) call it.
 */
#include "segment/seg.h"
#include "segment/look.h"
#include "segment/proc.h"
#include "segment/table.h"
#include "util/sys.h"

#include <assert.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define SEG_PAGE UINT64_C(4096)
#define ROOM (UINT64_C(4) << 30)
#define SEG_SEALS (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW)

static_assert(sizeof(struct seg_table_hdr) == 64, "a header per cache line");

static uint64_t page_up(uint64_t n)
{
	return (n + SEG_PAGE - 1) & ~(SEG_PAGE - 1);
}

/* The header that this build gives a segment (except name and pid): others must have the same. */
static void layout(struct seg_hdr *h)
{
	uint64_t off = page_up(sizeof(*h));

	memset(h, 0, sizeof(*h));
	h->magic = SEG_MAGIC;
	h->layout_version = SEG_LAYOUT_VERSION;
	h->hdr_size = sizeof(*h);
	for (unsigned int t = 0; t < SEG_T_COUNT; t++) {
		struct seg_table_hdr *d = &h->table[t];

		d->capacity = seg_table_rows[t].capacity;
		d->elem_size = seg_table_rows[t].elem_size;
		d->first = seg_table_rows[t].first;
		d->hint = d->first;
		d->owner_off = off;
		off = page_up(off + 4 * (uint64_t)d->capacity);
		d->used_off = off;
		off = page_up(off + 4 * (uint64_t)SEG_BLOCKS(d->capacity));
		d->elems_off = off;
		off = page_up(off + (uint64_t)d->capacity * d->elem_size);
	}
	h->size = off;
}

/*
 * After mlockall(MCL_FUTURE) a new mapping is locked: one of this size is refused to an ordinary
 * user, and for root it fills its file. A mapping that grows is locked only if it was
 * (vma_to_resize() and move_vma(), mm/mremap.c), so the first page is mapped and unlocked alone.
 * Elsewhere it is mapped at once: memcheck takes what mremap() adds for memory that is not there.
 */
static void *map_unlocked(uint64_t size, int prot, int flags, int fd, void *at)
{
	void *first, *p;

	flags |= MAP_NORESERVE;
	first = sys_mmap(NULL, SEG_PAGE, prot, flags, fd, 0);
	if (sys_is_err(first))
		return first;
	/* a locked page cannot be given back: EINVAL (madvise_dontneed_free_valid_vma()) */
	if (sys_call(SYS_madvise, first, SEG_PAGE, MADV_DONTNEED) != -EINVAL) {
		sys_munmap(first, SEG_PAGE);
		return sys_mmap(at, size, prot, flags | (at ? MAP_FIXED : 0), fd, 0);
	}
	sys_call(SYS_munlock, first, SEG_PAGE);
	p = (void *)sys_call(SYS_mremap, first, SEG_PAGE, size,
			     MREMAP_MAYMOVE | (at ? MREMAP_FIXED : 0), at);
	if (!sys_is_err(p))
		return p;
	sys_munmap(first, SEG_PAGE);
	/* A filter may refuse mremap(). */
	return sys_mmap(at, size, prot, flags | (at ? MAP_FIXED : 0), fd, 0);
}

/*
 * Leaves room between the segment and what is mapped already. Libraries that are loaded later, as
 * libmlx5 is, go there: the stub of a patched doorbell needs free memory within 2 GiB of them.
 *
 * All memory that can be written can be read, too. But valgrind's search for leaks reads mappings
 * that say PROT_READ, and would give each hole of this one a page.
 */
static void *map_apart(int fd, uint64_t size)
{
	uint8_t *all = map_unlocked(size + ROOM, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, NULL);
	bool is_room = !sys_is_err(all);
	void *p = map_unlocked(size, PROT_WRITE, MAP_SHARED, fd, is_room ? all : NULL);

	if (is_room && sys_is_err(p))
		sys_munmap(all, size + ROOM);
	else if (is_room)
		sys_munmap(all + size, ROOM);
	return p;
}

static int seg_map_file(struct seg *s, int fd, uint64_t size)
{
	void *p = map_apart(fd, size);

	if (sys_is_err(p))
		return (int)(intptr_t)p;
	/* A program's core dump would otherwise fill the holes of the whole fabric. */
	sys_madvise(p, size, MADV_DONTDUMP);
	memset(s, 0, sizeof(*s));
	s->base = p;
	s->hdr = p;
	s->size = size;
	s->self = SEG_NONE;
	s->pid_ns = seg_pid_ns();
	s->fd = sys_fd_high(fd);
	return 0;
}

int seg_create(struct seg *s, const char *name)
{
	struct seg_hdr h;
	struct rlimit lim;
	int fd, r;

	layout(&h);
	h.supervisor_pid = (uint32_t)sys_getpid();
	strncpy(h.name, name, sizeof(h.name) - 1);
	/* Checked first: ftruncate() beyond the limit would also raise SIGXFSZ. */
	if (!getrlimit(RLIMIT_FSIZE, &lim) && lim.rlim_cur != RLIM_INFINITY &&
	    lim.rlim_cur < h.size)
		return -EFBIG;
	fd = (int)sys_raw(SYS_memfd_create, (long)"softhca-segment",
			  MFD_ALLOW_SEALING | MFD_CLOEXEC, 0, 0, 0, 0);
	if (fd < 0)
		return fd;
	r = (int)sys_raw(SYS_ftruncate, fd, (long)h.size, 0, 0, 0, 0);
	if (!r)
		r = sys_fcntl(fd, F_ADD_SEALS, SEG_SEALS);
	if (!r)
		r = seg_map_file(s, fd, h.size);
	if (r) {
		sys_close(fd);
		return r;
	}
	*s->hdr = h;
	return 0;
}

/* Offsets are those of index 0, so that nobody subtracts `base`. */
static void shift(struct seg_table_hdr *h, uint32_t base)
{
	h->base = base;
	h->capacity += base;
	h->first += base;
	h->hint += base;
	h->elems_off -= (uint64_t)base * h->elem_size;
	h->owner_off -= sizeof(uint32_t) * (uint64_t)base;
	h->used_off -= sizeof(uint32_t) * (uint64_t)(base / SEG_BLOCK);
}

void seg_shift(struct seg *s, enum seg_table_id t, uint32_t base)
{
	shift(seg_table(s, t), base);
}

/* Is it a segment, and one that this build understands? */
static int check(int fd, uint64_t *size)
{
	struct seg_hdr have, want;
	ssize_t n = sys_pread(fd, &have, sizeof(have), 0);
	int seals;

	if (n < (ssize_t)offsetof(struct seg_hdr, table) || have.magic != SEG_MAGIC)
		return -EPROTO;
	layout(&want);
	if (have.layout_version != want.layout_version || have.hdr_size != want.hdr_size ||
	    n != sizeof(have) || have.size != want.size)
		return -EPROTONOSUPPORT;
	for (unsigned int t = 0; t < SEG_T_COUNT; t++) {
		const struct seg_table_hdr *a = &have.table[t];
		struct seg_table_hdr *b = &want.table[t];

		shift(b, a->base);
		if (a->capacity != b->capacity || a->elem_size != b->elem_size ||
		    a->elems_off != b->elems_off || a->owner_off != b->owner_off ||
		    a->used_off != b->used_off || a->first != b->first)
			return -EPROTONOSUPPORT;
	}
	/* If the file could shrink, an access could raise SIGBUS while we hold locks. */
	seals = sys_fcntl(fd, F_GET_SEALS, 0);
	if (sys_raw(SYS_lseek, fd, 0, SEEK_END, 0, 0, 0) != (long)want.size ||
	    (!sys_refused(seals) && (seals < 0 || (seals & SEG_SEALS) != SEG_SEALS)))
		return -EPROTO;
	*size = want.size;
	return 0;
}

int seg_map(struct seg *s, int fd)
{
	uint64_t size;
	int r = check(fd, &size);

	if (!r)
		r = seg_map_file(s, fd, size);
	if (r)
		sys_close(fd);
	return r;
}

void seg_unmap(struct seg *s)
{
	if (!s->base)
		return;
	sys_munmap(s->base, s->size);
	sys_fd_drop(s->fd);
	look_end(s);
	for (unsigned int i = 0; i < SEG_MEMFDS; i++) {
		uint64_t key = atomic_load(&s->memfd[i].key);

		if (key)
			sys_fd_drop(SEG_MEMFD_FD(key));
	}
	memset(s, 0, sizeof(*s));
	s->self = SEG_NONE;
	s->fd = -1;
}
