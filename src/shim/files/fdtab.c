/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the fd table and the open files it refers to. Called by the descriptor wrappers; calls
 * attach.c to tell the supervisor and uverbs that a file has ended.
 */
#include "shim/files/fdtab.h"
#include "fabric/fabric.h"
#include "shim/attach.h"
#include "shim/files/paths.h"
#include "shim/shim.h"
#include "util/sys.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

struct fdtab_chunk *_Atomic fdtab_root[FDTAB_CHUNKS];
struct shim_file fdtab_private = {.refs = 1, .state = SHIM_FILE_USED, .minor = NODE_NONE};

/*
 * Open files, in chained blocks that are never freed. The first block is static data, so that a
 * leak checker finds memory of uverbs in a program that ends without closing.
 */
#define BLOCK_FILES 63
struct block {
	struct block *next;
	struct shim_file file[BLOCK_FILES];
};
static struct block first_block;
static struct block *_Atomic blocks = &first_block;

static void *pages(size_t len)
{
	long p = sys_call(SYS_mmap, NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	return p < 0 && p > -4096 ? NULL : (void *)p;
}

static _Atomic(struct shim_file *) *slot_of(int fd, bool make)
{
	struct fdtab_chunk *_Atomic *root, *c, *none = NULL;

	if ((unsigned int)fd >= FDTAB_MAX)
		return NULL;
	root = &fdtab_root[(unsigned int)fd / FDTAB_CHUNK];
	c = atomic_load_explicit(root, memory_order_acquire);
	if (!c && make) {
		c = pages(sizeof(*c));
		if (!c)
			return NULL;
		if (!atomic_compare_exchange_strong(root, &none, c)) {
			sys_call(SYS_munmap, c, sizeof(*c));
			c = none;
		}
	}
	return c ? &c->file[(unsigned int)fd % FDTAB_CHUNK] : NULL;
}

static bool ref_unless_zero(struct shim_file *f)
{
	uint32_t n = atomic_load_explicit(&f->refs, memory_order_relaxed);

	do {
		if (!n)
			return false;
	} while (!atomic_compare_exchange_weak(&f->refs, &n, n + 1));
	return true;
}

struct shim_file *fdtab_get(int fd)
{
	struct shim_file *f;

	while ((f = fdtab_peek(fd))) {
		if (!ref_unless_zero(f))
			/* being removed: the entry is gone, or belongs to another file by now */
			continue;
		if (fdtab_peek(fd) == f)
			return f;
		fdtab_put(f);
	}
	return NULL;
}

void fdtab_put(struct shim_file *f)
{
	int saved = errno;

	if (!f)
		return;
	if (atomic_fetch_sub(&f->refs, 1) == 1) {
		shim_file_ended(f);
		atomic_store_explicit(&f->state, SHIM_FILE_FREE, memory_order_release);
	}
	errno = saved;
}

static struct shim_file *fdtab_claim(struct shim_file *f)
{
	uint32_t want = SHIM_FILE_FREE;

	if (!atomic_compare_exchange_strong(&f->state, &want, SHIM_FILE_USED))
		return NULL;
	f->kind = 0;
	f->file = SEG_NONE;
	f->gen = 0;
	f->minor = NODE_NONE;
	f->accmode = O_RDWR;
	f->opener = 0;
	f->obj = NULL;
	f->dev = 0;
	f->ino = 0;
	f->pages = 0;
	f->pages_fd = -1;
	atomic_store_explicit(&f->refs, 1, memory_order_release);
	return f;
}

struct shim_file *fdtab_new(void)
{
	struct shim_file *f;
	struct block *b;

	for (b = atomic_load(&blocks); b; b = b->next)
		for (unsigned int i = 0; i < BLOCK_FILES; i++)
			if ((f = fdtab_claim(&b->file[i])))
				return f;
	b = pages(sizeof(*b));
	if (!b)
		return NULL;
	f = fdtab_claim(&b->file[0]);
	b->next = atomic_load(&blocks);
	while (!atomic_compare_exchange_weak(&blocks, &b->next, b))
		;
	return f;
}

int fdtab_set(int fd, struct shim_file *f)
{
	_Atomic(struct shim_file *) *slot = slot_of(fd, f != NULL);

	if (!slot)
		return f ? -ENOMEM : 0;
	fdtab_put(atomic_exchange(slot, f));
	return 0;
}

struct shim_file *fdtab_take_closing(int fd)
{
	_Atomic(struct shim_file *) *slot;

	if (!fdtab_peek(fd) || !shim_owns_tables())
		return NULL;
	slot = slot_of(fd, false);
	return slot ? atomic_exchange(slot, NULL) : NULL;
}

void fdtab_put_closed(struct shim_file *f)
{
	fdtab_put(f);
}

struct shim_file *fdtab_find(dev_t dev, ino_t ino)
{
	for (struct block *b = atomic_load(&blocks); b; b = b->next)
		for (unsigned int i = 0; i < BLOCK_FILES; i++) {
			struct shim_file *f = &b->file[i];

			if (f->ino != ino || f->dev != dev || !ref_unless_zero(f))
				continue;
			if (f->ino == ino && f->dev == dev)
				return f;
			fdtab_put(f);
		}
	return NULL;
}

long fdtab_next(unsigned int from, unsigned int to)
{
	if (to >= FDTAB_MAX)
		to = FDTAB_MAX - 1;
	for (unsigned int fd = from; fd <= to; fd++) {
		if (!atomic_load_explicit(&fdtab_root[fd / FDTAB_CHUNK], memory_order_acquire)) {
			fd |= FDTAB_CHUNK - 1;
			continue;
		}
		if (fdtab_peek((int)fd))
			return fd;
	}
	return -1;
}

void fdtab_each_uverbs(void (*fn)(struct uv_file *f))
{
	for (struct block *b = atomic_load(&blocks); b; b = b->next)
		for (unsigned int i = 0; i < BLOCK_FILES; i++) {
			struct shim_file *f = &b->file[i];

			if (atomic_load(&f->refs) && f->kind == SEG_FILE_UVERBS && f->obj)
				fn(f->obj);
		}
}

int fdtab_hide(int fd)
{
	atomic_fetch_add(&fdtab_private.refs, 1);
	return fdtab_set(fd, &fdtab_private);
}

void fdtab_unhide(int fd)
{
	if (fdtab_peek(fd) == &fdtab_private)
		fdtab_set(fd, NULL);
}

bool fdtab_fix_stat(int fd, struct stat *st)
{
	struct shim_file *f = fdtab_peek(fd) ? shim_file_get(fd) : NULL;
	bool node = f && f->minor != NODE_NONE;

	if (node) {
		st->st_mode = node_mode(f->minor);
		st->st_rdev = node_rdev(f->minor);
		st->st_size = 0;
		st->st_blocks = 0;
		st->st_nlink = 1;
	}
	fdtab_put(f);
	return node;
}

bool fdtab_fix_statx(int fd, struct statx *stx)
{
	struct shim_file *f = fdtab_peek(fd) ? shim_file_get(fd) : NULL;
	bool node = f && f->minor != NODE_NONE;

	if (node) {
		stx->stx_mode = (uint16_t)node_mode(f->minor);
		stx->stx_rdev_major = gnu_dev_major(node_rdev(f->minor));
		stx->stx_rdev_minor = gnu_dev_minor(node_rdev(f->minor));
		stx->stx_size = 0;
		stx->stx_blocks = 0;
		stx->stx_nlink = 1;
	}
	fdtab_put(f);
	return node;
}

/* The child has one thread, in fork(): only references of descriptors and mappings remain valid. */
void fdtab_forked(void)
{
	for (struct block *b = atomic_load(&blocks); b; b = b->next)
		for (unsigned int i = 0; i < BLOCK_FILES; i++)
			atomic_store(&b->file[i].refs, b->file[i].pages ? 1 : 0);
	atomic_store(&fdtab_private.refs, 1);
	for (long fd = fdtab_next(0, FDTAB_MAX); fd >= 0;
	     fd = fdtab_next((unsigned int)fd + 1, FDTAB_MAX))
		atomic_fetch_add(&fdtab_peek((int)fd)->refs, 1);
	for (struct block *b = atomic_load(&blocks); b; b = b->next)
		for (unsigned int i = 0; i < BLOCK_FILES; i++)
			if (!atomic_load(&b->file[i].refs))
				atomic_store(&b->file[i].state, SHIM_FILE_FREE);
}
