/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The uverbs character device: the functions that the shim calls for a virtual file. Each returns
 * what the system call would: >= 0, or -errno (the shim turns that into -1 and errno). Called with
 * all asynchronous signals blocked, on the program's stack, from any thread.
 */
#ifndef SOFTHCA_UVERBS_UVERBS_H
#define SOFTHCA_UVERBS_UVERBS_H

#include <poll.h>
#include <sys/mman.h>
#include <sys/types.h>
#include "segment/suplink.h"

struct uv_driver;
struct uv_api;        /* methods of the core and the driver, combined */
struct uv_file;       /* an open /dev/infiniband/uverbsN: handles, context */
struct uv_event_file; /* an async event or completion channel fd */

/*
 * The connection between a process and uverbs: one per process, made by the shim.
 *
 * Lock order: a file's mutex (inside uverbs) before the shim's fd table lock. The callbacks below
 * are called with the file's mutex held; the shim must hold no lock of its own when it calls uv_*.
 */
struct uv_system {
	struct seg *seg;
	struct link *link;
	const struct uv_driver *driver;
	bool memlock_enforce; /* --memlock enforce */
	/* a limit of locked bytes that binds every process, whatever its rights; 0: none */
	uint64_t memlock_all;
	bool no_ioctl;      /* a kernel from before the methods: ENOTTY */
	bool no_ex;         /* and from before the extended commands: ENOSYS */
	struct uv_api *api; /* private to uverbs, NULL at first; made at the first uv_open() */
	/* link_open_file and link_file_closed, as pointers so that unit tests need no supervisor */
	int (*open_file)(struct link *l, enum seg_file_kind kind, uint32_t hca, uint32_t port,
			 uint32_t *file, uint32_t *gen, int *fd);
	int (*file_closed)(struct link *l, uint32_t file, uint32_t gen);
	/*
	 * Implemented by the shim: add a new virtual file to the fd table, so that read, poll and
	 * close of `fd` reach uverbs. `kind` says how; obj is a struct uv_event_file * for ASYNC
	 * and COMP (and driver kinds). 0 or -errno; on failure the caller closes fd. Called last,
	 * after the call that makes the fd has succeeded: until then fd is a plain descriptor.
	 */
	int (*fd_publish)(int fd, enum seg_file_kind kind, uint32_t file, uint32_t gen, void *obj);
	/* The object of an fd, if it is a virtual file of that kind; else NULL. */
	void *(*fd_lookup)(int fd, enum seg_file_kind kind);
	/*
	 * Map a driver's device page: length len, addr and flags as in mmap(2), prot as requested.
	 * `uar`: SEG_T_UAR index whose stores must reach eng_uar_write (trap or poll); SEG_NONE: a
	 * page whose stores do nothing. Returns the address or MAP_FAILED with *err = -errno.
	 */
	void *(*uar_mmap)(void *addr, size_t len, int prot, int flags, uint32_t uar, int *err);
	/*
	 * Does this process still map that UAR? A UAR without a handle is freed with its last
	 * mapping (as the kernel counts them). NULL: unknown, keep it until close.
	 */
	bool (*uar_mapped)(uint32_t uar);
};

/* open(2) of uverbsN: `hca` SEG_T_HCA index; file/gen from link_open_file. */
int uv_open(struct uv_system *sys, uint32_t hca, uint32_t file, uint32_t gen, struct uv_file **out);
/*
 * Called when this process's last descriptor of the file is closed. `last`: it was the last
 * reference anywhere, and the supervisor has reaped the hardware objects; else they stay with the
 * other holders. Frees only local memory.
 */
void uv_release(struct uv_file *f, bool last);

/*
 * Called in a fork child for every open file (pthread_atfork): the mutex may have been held by a
 * thread that does not exist here. Afterwards parent and child each have a copy of handles and
 * contexts over the same hardware objects: what one destroys the other finds gone (ENOENT from the
 * hardware tables).
 */
void uv_forked(struct uv_file *f);

/*
 * The names of all methods and write commands of a driver, as traces write them. -ENOMEM, -EINVAL
 * (a contradiction in the tables).
 */
int uv_each_name(const struct uv_driver *d, void (*each)(void *ctx, const char *name), void *ctx);

long uv_ioctl(struct uv_file *f, unsigned long cmd, void *arg);
ssize_t uv_write(struct uv_file *f, const void *buf, size_t count);
void *uv_mmap(struct uv_file *f, void *addr, size_t len, int prot, int flags, off_t off, int *err);

/*
 * Readable files. `fd`: the caller's descriptor; nonblock: its O_NONBLOCK flag. Never blocks: after
 * -EAGAIN or -ETIMEDOUT a blocking reader calls evq_wait() with *w, then reads again. Called with
 * signals blocked. Any number of threads; e lives until the calls that the shim has begun are done.
 */
struct uv_event_wait {
	struct seg_evq *q;
	uint32_t seen;
	bool locked;
};
ssize_t uv_event_read(struct uv_event_file *e, int fd, void *buf, size_t count, bool nonblock,
		      struct uv_event_wait *w);
/* The same for an event file made by another process, or by this one before exec. */
ssize_t uv_event_read_passed(struct uv_system *sys, enum seg_file_kind kind, uint32_t file,
			     uint32_t gen, int fd, void *buf, size_t count, bool nonblock,
			     struct uv_event_wait *w);
/*
 * Called when the program closes this process's last descriptor of it (not for a failed publish).
 */
void uv_event_release(struct uv_event_file *e, bool last);

#endif
