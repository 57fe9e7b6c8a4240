/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The uverbs character device: what the shim calls for a virtual file. Every function returns what
 * the system call would: >= 0, or -errno (the shim turns that into -1 and errno). Called with all
 * asynchronous signals blocked, on the program's stack, from any thread.
 */
#ifndef SOFTHCA_UVERBS_UVERBS_H
#define SOFTHCA_UVERBS_UVERBS_H

#include <poll.h>
#include <sys/mman.h>
#include <sys/types.h>
#include "segment/link.h"

struct uv_driver;
struct uv_file;       /* an open /dev/infiniband/uverbsN: handles, context */
struct uv_event_file; /* an async event or completion channel fd */

/* The process's attachment: one per process, made by the shim. */
struct uv_system {
	struct seg *seg;
	struct link *link;
	const struct uv_driver *driver;
	bool memlock_enforce; /* --memlock enforce */
	/*
	 * The shim's part: give a new virtual file to the fd table, so that read/poll/close of `fd`
	 * reach us. kind says how; obj is a struct uv_event_file * for ASYNC and COMP (and driver
	 * kinds). 0 or -errno; on failure the caller closes fd.
	 */
	int (*fd_publish)(int fd, enum seg_file_kind kind, uint32_t file, uint32_t gen, void *obj);
	/* fd -> object, only if it is one of ours of that kind; NULL otherwise. */
	void *(*fd_lookup)(int fd, enum seg_file_kind kind);
	/*
	 * A driver's device page in the program: mmap of length len, at addr hint/flags as mmap(2).
	 * `uar` SEG_T_UAR index whose stores must reach eng_uar_write (trap or poll); prot as
	 * asked. Returns the address or MAP_FAILED with *err = -errno.
	 */
	void *(*uar_mmap)(void *addr, size_t len, int prot, int flags, uint32_t uar, int *err);
	/*
	 * Does this process still map that UAR anywhere? A UAR whose handle is gone is given back
	 * when its last mapping is (as the kernel counts them). NULL: unknown, kept until close.
	 */
	bool (*uar_mapped)(uint32_t uar);
};

/* open(2) of uverbsN: `hca` SEG_T_HCA index; file/gen from link_open_file. */
int uv_open(struct uv_system *sys, uint32_t hca, uint32_t file, uint32_t gen, struct uv_file **out);
/*
 * The last descriptor of this file in this process was closed. `last`: it was the last reference
 * anywhere, hardware objects have been reaped by the supervisor; else they live on with the other
 * holders. Frees the local side only.
 */
void uv_release(struct uv_file *f, bool last);

long uv_ioctl(struct uv_file *f, unsigned long cmd, void *arg);
ssize_t uv_write(struct uv_file *f, const void *buf, size_t count);
void *uv_mmap(struct uv_file *f, void *addr, size_t len, int prot, int flags, off_t off, int *err);

/* Readable files. `fd` is the caller's descriptor; nonblock: its O_NONBLOCK flag. Blocking waits in
 * poll(2), signals unblocked. */
ssize_t uv_event_read(struct uv_event_file *e, int fd, void *buf, size_t count, bool nonblock,
		      const void *sigmask_to_wait_with);
void uv_event_release(struct uv_event_file *e, bool last);

#endif
