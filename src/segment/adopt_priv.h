/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by adopt.c, adopt_own.c, adopt_move.c and adopt_calls.c. */
#ifndef SOFTHCA_SEGMENT_ADOPT_PRIV_H
#define SOFTHCA_SEGMENT_ADOPT_PRIV_H

#include "segment/adopt.h"

#include <errno.h>
#include <sys/types.h>

struct seg_ring;

/* A new epoch: threads that noted an older one may still use what was taken away before. */
uint64_t adopt_mark(struct seg *s);
/* A thread of the slot's process that noted an older epoch (its ring entry), or NULL. */
struct seg_ring *adopt_user(struct seg *s, uint32_t slot, uint64_t epoch);
/* Frees a chunk that nobody uses. */
void adopt_chunk_drop(struct seg *s, uint32_t chunk);
/* True: the chunk is free. False: a thread may still copy to it; try again later. */
bool adopt_chunk_free(struct seg *s, uint32_t chunk);

/* ---- adopt_move.c */

/*
 * Pages in the pool. `park` is their former private mapping, emptied and moved aside: it keeps an
 * address range and the flags, so that moving it back restores the mapping as it was.
 */
struct adopt_piece {
	uint64_t va;
	uint64_t offset; /* offset of the piece's bytes in the segment */
	uint8_t *park;
	uint32_t len;  /* `len` before it was given back */
	uint32_t size; /* what it was */
	uint32_t done; /* bytes that are back, or that were not ours any more; their park is gone */
	bool leaving;
	struct adopt_key key;
};

static inline uint8_t *adopt_pool_of(const struct seg *s, const struct adopt_piece *p)
{
	return s->base + p->offset;
}

/*
 * 0: the pages are in the pool, which is mapped in their place. -EBUSY: the program or another
 * process uses them just now, or has changed their mapping since it was watched; else not possible.
 * Copies by other processes wait until adopt_others_in(), so that a caller that takes several
 * pieces waits only once for copies in progress.
 */
int adopt_piece_take(struct seg *s, const struct adopt_piece *p);
void adopt_others_in(struct seg *s);
/*
 * The way back; the program's system calls are waited for, at most *calls_ns, which this reduces.
 * 0, -EBUSY, -ENOMEM; -ESTALE: the mapping has changed since it was watched. Copies by other
 * processes wait until adopt_others_in().
 */
int adopt_piece_return(struct seg *s, const struct adopt_piece *p, uint64_t *calls_ns);
/* Waits for threads of other processes that may use what they have looked up. */
bool adopt_wait_for_threads(struct seg *s, uint64_t ns);
/* The child's part of fork. */
void adopt_move_forked(const struct adopt_piece *p);

/* ---- adopt_maps.c */

/*
 * A file of /proc, open for as long as memory may be adopted: no descriptor may be free later, or
 * /proc not be visible. `pid`: whose it is.
 */
struct adopt_kept {
	int fd, pid;
	dev_t dev;
	ino_t ino;
};
void adopt_keep_open(struct adopt_kept *k, const char *path, int flags);
/* False in a child, and if the program has put another file in its place. */
bool adopt_is_kept(const struct adopt_kept *k);
/* In a child: closes its copy. */
void adopt_keep_drop(struct adopt_kept *k);

/* ---- adopt_look.c */

/* A cause that passes: the same question may have an answer later. */
static inline bool adopt_passes(long r)
{
	return r == -EMFILE || r == -ENFILE || r == -ENOMEM || r == -EAGAIN || r == -EINTR;
}

/* May a driver, or a file that is read past the cache, keep pages of this process? */
enum adopt_pins {
	ADOPT_PINS_NOT,
	ADOPT_PINS,
	ADOPT_PINS_UNKNOWN, /* now */
};
enum adopt_pins adopt_look_pins(void);
/* Keeps the list of descriptors open; a child drops its parent's. */
void adopt_look_keep(void);
void adopt_look_forked(void);
/* Is the address space limited? Parked pages would count. */
bool adopt_look_limited(void);
enum adopt_sleep {
	ADOPT_SLEEP_NONE,
	ADOPT_SLEEP_CALL,    /* a thread sleeps in a call with an address in the range */
	ADOPT_SLEEP_SHARED,  /* ... and the call waits for a futex that is not private */
	ADOPT_SLEEP_UNSEEN,  /* it cannot be seen now */
	ADOPT_SLEEP_UNKNOWN, /* the kernel does not say */
};
/*
 * `shared`: called for each wait for a shared futex. NULL: stop at the first sleeper found. `s`:
 * has the spare descriptor, or NULL.
 */
enum adopt_sleep adopt_look_asleep(struct seg *s, uint64_t lo, uint64_t hi,
				   void (*shared)(void *arg, uint64_t word), void *arg);

/* ---- adopt_calls.c: pages that are being moved, and system calls that use them */

/* Pages [lo, hi) are about to be moved. False: a system call of the program uses them. */
bool adopt_window_open(uint64_t lo, uint64_t hi);
void adopt_window_close(void);
/*
 * From now on calls that change mappings of [lo, hi) are noticed. False: such a call is in
 * progress. What was read of the mappings since is true in a window if nothing has changed.
 */
bool adopt_watch(uint64_t lo, uint64_t hi);
bool adopt_watch_changed(void);
/* How often pages were taken. */
extern _Atomic uint32_t adopt_taken;
void adopt_calls_forked(void);

#endif
