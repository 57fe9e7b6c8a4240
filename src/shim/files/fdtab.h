/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The table of our descriptors. An entry refers to an open file (struct shim_file), counted: one
 * reference per descriptor, one per call in progress, so that a close in one thread does not pull
 * the file from under an ioctl in another, and one for all its mapped pages. Looking a descriptor
 * up takes two loads and no lock; all changes are made by compare-and-swap, because wrappers also
 * run in signal handlers.
 *
 * A vfork child changes nothing here: it runs on its parent's memory but has its own descriptors.
 */
#ifndef SOFTHCA_SHIM_FILES_FDTAB_H
#define SOFTHCA_SHIM_FILES_FDTAB_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include "segment/proc.h"

/* shim_file.kind, behind those of enum seg_file_kind: sockets, see netlink.h and nlroute.h */
#define SHIM_NETLINK 0x100u
#define SHIM_ROUTE 0x101u

enum shim_file_state { SHIM_FILE_FREE, SHIM_FILE_USED };

struct shim_file {
	_Atomic uint32_t
		refs; /* descriptors, calls in progress, mappings; 0: being released, or free */
	_Atomic uint32_t state; /* enum shim_file_state; memory is reused, never given back */
	uint32_t kind;          /* enum seg_file_kind; 0 not known yet (inherited, see attach.c) */
	uint32_t file, gen;     /* SEG_T_FILE */
	uint32_t minor;         /* NODE_NONE for event files */
	int accmode;            /* O_RDONLY, O_WRONLY, O_RDWR as opened */
	int opener;             /* pid and effective uid at open(2); 0: opened elsewhere */
	uint32_t opener_euid;
	void *obj; /* uv_file or uv_event_file; NULL: opened by another process, passed to us */
	dev_t dev; /* the kernel object behind it */
	ino_t ino;
	/*
	 * Used by uar.c: the number of mapped doorbell pages of this file. While it is not 0, they
	 * hold a reference and a descriptor of our own that keeps the file open, as a mapping does.
	 */
	uint32_t pages;
	int pages_fd;
};

#define FDTAB_CHUNK 4096u
#define FDTAB_CHUNKS 1024u
#define FDTAB_MAX (FDTAB_CHUNK * FDTAB_CHUNKS) /* a descriptor beyond is not tracked */

struct fdtab_chunk {
	struct shim_file *_Atomic file[FDTAB_CHUNK];
};
extern struct fdtab_chunk *_Atomic fdtab_root[FDTAB_CHUNKS];
/* Marks the library's own descriptors, which the program must neither use nor close. */
extern struct shim_file fdtab_private;

/* The entry, without a reference: only tells whether there is one. */
static inline struct shim_file *fdtab_peek(int fd)
{
	struct fdtab_chunk *c;

	if ((unsigned int)fd >= FDTAB_MAX)
		return NULL;
	c = atomic_load_explicit(&fdtab_root[(unsigned int)fd / FDTAB_CHUNK], memory_order_acquire);
	if (__builtin_expect(!c, 1))
		return NULL;
	return atomic_load_explicit(&c->file[(unsigned int)fd % FDTAB_CHUNK], memory_order_acquire);
}

/* Is fd a file that is not the kernel's? Sockets of NETLINK_ROUTE are. */
static inline bool fdtab_not_kernels(int fd)
{
	const struct shim_file *f = fdtab_peek(fd);

	return __builtin_expect(f != NULL, 0) && f->kind != SHIM_ROUTE;
}

/* The entry with a reference, or NULL. */
struct shim_file *fdtab_get(int fd);
/*
 * Drop a reference; NULL is allowed. The last one ends the open file: the supervisor is told, the
 * local part freed. Keeps errno.
 */
void fdtab_put(struct shim_file *f);

/* A new open file with one reference; NULL without memory. */
struct shim_file *fdtab_new(void);
/*
 * Makes fd refer to f and takes over the caller's reference; a former entry is dropped. 0 or -errno
 * (the caller keeps the reference). f NULL: fd is now a foreign file's.
 */
int fdtab_set(int fd, struct shim_file *f);
/*
 * libc is about to close a file: take the entry out before the number can be reused. NULL when not
 * ours (or in a vfork child). Give it to fdtab_put_closed() afterwards.
 */
struct shim_file *fdtab_take_closing(int fd);
void fdtab_put_closed(struct shim_file *f);
/* Another open file of this process with the same kernel object, with a reference; or NULL. */
struct shim_file *fdtab_find(dev_t dev, ino_t ino);
/* Lowest tracked descriptor in [from, to], or -1. */
long fdtab_next(unsigned int from, unsigned int to);

/* Calls a function for every open command file that has a uv_file. */
struct uv_file;
void fdtab_each_uverbs(void (*fn)(struct uv_file *f));

/* The library's own descriptors (sys_fd_kept of util/sys.h). */
int fdtab_hide(int fd);
void fdtab_unhide(int fd);

/* Command files are character devices for the program: true if fd was one. */
bool fdtab_fix_stat(int fd, struct stat *st);
bool fdtab_fix_statx(int fd, struct statx *stx);

/*
 * After fork, in the child: drops references of calls in progress in threads that do not exist
 * here.
 */
void fdtab_forked(void);

#endif
