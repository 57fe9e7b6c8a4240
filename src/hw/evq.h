/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Event queues behind the readable files (completion channels, async events, DEVX, later umad).
 * The records are here; the file is a FIFO that gets a byte with each and is empty without any.
 * Pushed by any process of the fabric, also in a trap.
 */
#ifndef SOFTHCA_HW_EVQ_H
#define SOFTHCA_HW_EVQ_H

#include "segment/seg.h"
#include "segment/lock.h"

enum { EVQ_DEAD = 1, EVQ_CLEARED };    /* seg_evq.dead */
enum { EVQ_LAZY = 1, EVQ_PUBLISHING }; /* seg_evq.lazy */
enum { EVQ_ASK = 1, EVQ_ASK_REPAIR };  /* seg_evq.asked */

struct seg_evq { /* SEG_T_EVQ: same index and generation as its SEG_T_FILE entry */
	uint32_t gen;
	uint32_t flags;
	struct seg_lock lock;    /* of readers; pushing takes none */
	_Atomic uint64_t newest; /* generation and index of the record pushed last */
	uint64_t known;          /* readers: as far as `after` goes */
	uint64_t head;           /* readers: the oldest */
	_Atomic uint32_t count;
	uint32_t max; /* more are dropped (and `dropped` counts them); 0: no limit */
	_Atomic uint32_t dropped;
	_Atomic uint32_t dead; /* the device is gone: readers get EIO, at once or at the end */
	/*
	 * Futex word: +1 with each event. A blocking read(2) waits on it: read it, evq_pop(), then
	 * evq_wait().
	 */
	_Atomic uint32_t wake;
	_Atomic uint32_t silent; /* the last byte could not be written */
	_Atomic uint32_t lost;   /* an event was lost, and readers are to be told: -EOVERFLOW */
	_Atomic uint64_t bytes;  /* of data in the queue */
	/*
	 * The FIFO gets bytes only while somebody waits for it in the kernel (`pollers`). For files
	 * whose every poll goes through evq_poll_begin(); evq_publish() ends it for good. What a
	 * killed poller leaves behind is a byte too many.
	 */
	_Atomic uint32_t lazy;
	_Atomic uint32_t pollers;
	_Atomic uint32_t sleepers; /* at `wake`; too many when one was killed */
	_Atomic uint32_t byte;     /* the FIFO may have as many */
	_Atomic uint32_t drains;   /* times that the FIFO was emptied */
	_Atomic uint32_t told;     /* `drains` + 1: a byte was written since, and is there */
	_Atomic uint32_t asked;    /* whoever has the lock next: do FIFO and queue agree? */
	_Atomic uint32_t reader;   /* the thread that took last (evq_ease()); 0: forgotten */
	_Atomic uint32_t room;     /* futex word: +1 when a crowded queue is nearly empty */
	_Atomic uint32_t easers;   /* at `room`; too many when one was killed */
} SEG_ELEM;

/* What an event is about, so that destroying the object can take its unread events back. */
struct seg_evsrc {
	uint32_t table; /* enum seg_table_id; SEG_T_COUNT: no object (port events) */
	uint32_t idx;
	uint32_t gen;
	uint32_t counter; /* which of the object's `reported` counters a read adds 1 to: 0 comp, 1
			     async */
};

struct seg_evrec { /* SEG_T_EVREC */
	uint32_t gen;
	uint32_t serial;        /* of the debt that it pays */
	_Atomic uint64_t state; /* evq.c */
	_Atomic uint64_t next;  /* generation and index of the one before; taken: the end */
	struct seg_evsrc src;
	uint64_t cookie; /* user_handle, or what the reader's file wants */
	uint32_t type;   /* async: IBV event type as in the uapi; else 0 */
	uint32_t extra;
	uint32_t data;  /* SEG_T_EVBUF index of the first piece, 0 none */
	uint32_t len;   /* bytes of data */
	uint32_t lent;  /* until it is in the queue, the data is somebody else\'s */
	uint32_t after; /* readers: index of the one pushed after it */
} SEG_ELEM;

#define EVQ_PIECE 248
struct seg_evdata { /* SEG_T_EVBUF: what comes with a record, in pieces */
	uint32_t gen;
	uint32_t next;
	uint8_t bytes[EVQ_PIECE];
} SEG_ELEM;

/*
 * The queue of a new event file: its own index and generation, owner file + 1. By whoever makes the
 * file (the supervisor), once the FIFO is there. 0, -EBUSY, -EINVAL.
 */
int evq_open(struct seg *s, uint32_t file, uint32_t max);
/* From the beginning: see seg_evq.lazy. */
void evq_set_lazy(struct seg *s, uint32_t file);
/* Free the queue and every record in it; with the file's last reference. Idempotent. */
void evq_close(struct seg *s, uint32_t file);

/*
 * Queue a copy of (src, cookie, type, extra) and wake readers: a byte into the FIFO
 * `<dir>/ev/<idx>.<gen>` and the futex. Takes no lock. 0; -ENOENT no such queue, or a dead one
 * (file closed: not an error for the device); -ENOSPC dropped.
 */
int evq_push(struct seg *s, uint32_t evq, uint32_t gen, struct seg_evsrc src, uint64_t cookie,
	     uint32_t type, uint32_t extra);
/*
 * The same for an event whose source has noted that it is owed (hw_cq.armed, hw_evtarget.owed,
 * seg_evsub.owed): the note goes when the record is in the queue, and nothing is done when it is
 * gone already. `data`, `len`: as below, or NULL, 0. Besides: -EBUSY, somebody alive is paying, and
 * the note stays. `overtake`: look whether that one runs, and if not do it for him.
 */
int evq_push_owed(struct seg *s, uint32_t evq, uint32_t gen, struct seg_evsrc src, uint64_t cookie,
		  uint32_t type, const void *data, uint32_t len, bool overtake);
/* The same with pieces as of evq_push_pieces(). Besides: -EALREADY, somebody else has paid. */
int evq_push_owed_pieces(struct seg *s, uint32_t evq, uint32_t gen, struct seg_evsrc src,
			 uint32_t head, uint32_t len);
/* The same with a copy of `len` bytes, for evq_data(). */
int evq_push_data(struct seg *s, uint32_t evq, uint32_t gen, struct seg_evsrc src, uint64_t cookie,
		  const void *data, uint32_t len);
/* The same with data that is there already, in pieces of the queue's owner (file + 1): the queue's
 * from then on; the caller's still when this fails. */
int evq_push_pieces(struct seg *s, uint32_t evq, uint32_t gen, struct seg_evsrc src,
		    uint64_t cookie, uint32_t head, uint32_t len);
/*
 * Take the oldest whose source still lives. `fd`: the caller's FIFO descriptor, drained under the
 * queue's lock when the queue is empty afterwards. 0 and *rec; -EAGAIN empty; -EIO empty and dead;
 * -ENOENT no such queue; -ETIMEDOUT. Adds 1 to the source's `reported` counter. The queue is the
 * truth, the byte a hint: a reader that got -EAGAIN polls again.
 */
int evq_pop(struct seg *s, uint32_t evq, uint32_t gen, int fd, struct seg_evrec *rec);
/*
 * For a reader with `room` bytes who gets `fixed` bytes and the record's data. Besides the answers
 * of evq_pop(): -EMSGSIZE, it does not fit and stays; -EOVERFLOW, once after a loss. The data is
 * the caller's now: evq_data(), then evq_data_free().
 */
int evq_take(struct seg *s, uint32_t evq, uint32_t gen, int fd, size_t fixed, size_t room,
	     struct seg_evrec *rec);
/*
 * A reader that got -EAGAIN, or -ETIMEDOUT (`locked`), sleeps until something happened since it saw
 * `seen` in q->wake, with the program's signal mask (NULL: its own). 0: look again; -EINTR. A
 * signal with SA_RESTART goes on waiting, as in a read(2), which poll(2) on the FIFO could not do.
 */
int evq_wait(struct seg_evq *q, uint32_t seen, bool locked, const void *sigmask);
/* A copy of the oldest's first `n` bytes of data, and the record, which stays. -EAGAIN: empty. */
int evq_peek(struct seg *s, uint32_t evq, uint32_t gen, void *data, uint32_t n,
	     struct seg_evrec *rec);
/* Put back, at the head, what evq_take() has taken. 0 or -errno: its data is the caller's still. */
int evq_untake(struct seg *s, uint32_t evq, uint32_t gen, const struct seg_evrec *rec);
/* The piece at index `at` (rec->data, then each *next), at most EVQ_PIECE bytes; NULL at the end.
 */
const uint8_t *evq_data(struct seg *s, uint32_t at, uint32_t *next);
void evq_data_free(struct seg *s, const struct seg_evrec *rec);
/* An event could not be queued (no room): the next read says so. Never waits. */
void evq_lost(struct seg *s, uint32_t evq, uint32_t gen);
/* Drop unread events of a source that is being destroyed. */
void evq_purge(struct seg *s, uint32_t evq, uint32_t gen, uint32_t table, uint32_t idx);
/* Would a read give something, or an error? Without a lock. */
bool evq_ready(const struct seg *s, const struct seg_evq *q);
/*
 * Before a thread waits for the FIFO in the kernel, and after it. begin: 0 it may, the FIFO will
 * tell; 1 there is something already (no end then); -ENOENT. Takes no lock.
 */
int evq_poll_begin(struct seg *s, uint32_t evq, uint32_t gen);
void evq_poll_end(struct seg *s, uint32_t evq, uint32_t gen);
/* In a fork child: what its parent's thread is counted in stays the parent's. And how often. */
void evq_forked(void);
uint32_t evq_forks(void);
/*
 * Does a living process stand with the lock of the queue that this file's index had before? What it
 * does to that queue when it goes on would be done to the next one.
 */
bool evq_is_held(struct seg *s, uint32_t file);
/* From now on the FIFO always tells: somebody waits for it whom we do not see. Never waits. */
void evq_publish(struct seg *s, uint32_t evq, uint32_t gen);
/* While this thread has a descriptor of that queue's FIFO at hand, its pushes need not open one;
 * fd -1: no more. */
void evq_hint(uint32_t evq, uint32_t gen, int fd);
/*
 * Whoever has filled this queue by what it did waits for the thread that reads it, if that is
 * another one: until most is read, EVQ_EASE_NS at most, and not again if it has read nothing. With
 * signals as the program has them.
 */
#define EVQ_CROWDED 256
#define EVQ_EASE_NS (250 * NSEC_PER_MSEC)
void evq_ease(struct seg *s, uint32_t evq, uint32_t gen);
/* The device is gone: readers get EIO once they have read what is there; wakes them. */
void evq_kill(struct seg *s, uint32_t evq, uint32_t gen);
/* The same, and what is there goes too. */
void evq_clear(struct seg *s, uint32_t evq, uint32_t gen);
/* The FIFO gets a byte if there is something to read: for who could not write it (LINK_WAKE). */
void evq_wake(struct seg *s, uint32_t evq, uint32_t gen);
/*
 * Finish what dead processes have left half done in any queue: bytes that are owed, bytes too many.
 * By the supervisor, when it has marked a process as dead. Takes no lock that somebody alive holds.
 */
void evq_repair(struct seg *s);
void evq_path(const struct seg *s, uint32_t evq, uint32_t gen, char path[320]);

#endif
