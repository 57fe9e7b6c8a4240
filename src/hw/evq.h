/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The event queues behind readable files (completion channels, async events, DEVX, umad). The
 * records are here; the file is a FIFO that gets one byte per record, for those who wait for that,
 * and is empty when there is no record. Any process of the fabric pushes records, in a trap too.
 */
#ifndef SOFTHCA_HW_EVQ_H
#define SOFTHCA_HW_EVQ_H

#include "segment/seg.h"
#include "segment/lock.h"

enum { EVQ_DEAD = 1, EVQ_CLEARED };                         /* seg_evq.dead */
enum { EVQ_LAZY = 1, EVQ_PUBLISHING };                      /* seg_evq.lazy */
enum { EVQ_ASK = 1, EVQ_ASK_REPAIR = 2, EVQ_ASK_DROP = 4 }; /* seg_evq.asked */

struct seg_evq { /* SEG_T_EVQ: same index and generation as its SEG_T_FILE entry */
	uint32_t gen;
	uint32_t flags;
	struct seg_lock lock;    /* for readers; pushing takes no lock */
	_Atomic uint64_t newest; /* generation and index of the record pushed last */
	uint64_t known;          /* for readers: the newest record that is linked by `after` */
	uint64_t head;           /* for readers: the oldest record */
	_Atomic uint32_t count;
	uint32_t max; /* limit: further records are dropped and counted in `dropped`; 0: no limit */
	_Atomic uint32_t dropped;
	/* the device is gone: readers get EIO, at once or after the last record */
	_Atomic uint32_t dead;
	/*
	 * Futex word, incremented by each event. For a blocking read(2): load it, evq_take(),
	 * evq_wait().
	 */
	_Atomic uint32_t wake;
	_Atomic uint32_t silent; /* the last byte could not be written */
	_Atomic uint32_t lost;   /* an event was lost: the next read says -EOVERFLOW */
	_Atomic uint64_t bytes;  /* bytes of data in the queue */
	/*
	 * The FIFO gets bytes only while `pollers` counts a thread that waits for it in the kernel.
	 * For files whose polls all go through evq_poll_begin(); evq_publish() ends this mode for
	 * good. A killed poller stays counted, which costs a needless byte.
	 */
	_Atomic uint32_t lazy;
	_Atomic uint32_t pollers;
	_Atomic uint32_t sleepers; /* threads that wait on `wake`; too many after one was killed */
	_Atomic uint32_t byte;     /* upper bound of the bytes in the FIFO */
	_Atomic uint32_t drains;   /* +1 before and after emptying the FIFO */
	/* `drains` + 1: a byte was written since the last drain, and is there */
	_Atomic uint32_t told;
	/* request to the lock's next holder: check that FIFO and queue agree */
	_Atomic uint32_t asked;
	_Atomic uint32_t reader; /* the thread that took a record last (evq_ease()); 0: forgotten */
	_Atomic uint32_t room;   /* futex word, incremented when a crowded queue is nearly empty */
	_Atomic uint32_t easers; /* threads that wait on `room`; too many after one was killed */
} SEG_ELEM;

/* The object that an event is about: destroying the object drops its unread events. */
struct seg_evsrc {
	uint32_t table; /* enum seg_table_id; SEG_T_COUNT: no object (port events) */
	uint32_t idx;
	uint32_t gen;
	/* which `reported` counter of the object a read increments: 0 comp, 1 async */
	uint32_t counter;
};

struct seg_evrec { /* SEG_T_EVREC */
	uint32_t gen;
	uint32_t serial;        /* serial number of the debt that the record pays */
	_Atomic uint64_t state; /* evq.c */
	/* generation and index of the record before; the stack ends at one that was taken */
	_Atomic uint64_t next;
	struct seg_evsrc src;
	uint64_t cookie; /* user_handle, or what the kind of file needs */
	uint32_t type;   /* async: event type of the uapi; else 0 */
	uint32_t extra;
	uint32_t data;  /* SEG_T_EVBUF index of the first piece; 0: none */
	uint32_t len;   /* bytes of data */
	uint32_t lent;  /* the data has another owner until the record is in the queue */
	uint32_t after; /* for readers: index of the record pushed after this one */
} SEG_ELEM;

#define EVQ_PIECE 248
struct seg_evdata { /* SEG_T_EVBUF: the data of a record, in pieces */
	uint32_t gen;
	uint32_t next;
	uint8_t bytes[EVQ_PIECE];
} SEG_ELEM;

/*
 * The name of an event file's FIFO in `<dir>/ev`: index, generation, and what a kernel shows in
 * /proc/self/fd: an anonymous inode in brackets, or a node of /dev/infiniband (`node`: its number).
 */
#define EVQ_NAME 48
void evq_name(char name[EVQ_NAME], uint32_t evq, uint32_t gen, uint32_t kind, uint32_t node);

/*
 * Open the queue of a new event file: it has the file's index and generation, and owner file + 1.
 * Called by the maker of the file (the supervisor), after making the FIFO. 0, -EBUSY, -EINVAL.
 */
int evq_open(struct seg *s, uint32_t file, uint32_t max);
/* Make the queue lazy from the beginning: see seg_evq.lazy. */
void evq_set_lazy(struct seg *s, uint32_t file);
/* Free the queue and every record in it, when the file's last reference goes. Idempotent. */
void evq_close(struct seg *s, uint32_t file);

/*
 * Queue a record with (src, cookie, type, extra) and wake readers: write a byte to the FIFO
 * (evq_name()) and change the futex. Takes no lock. 0; -ENOENT no such queue, or a dead
 * one (the file is closed: not an error for the device); -ENOSPC dropped.
 */
int evq_push(struct seg *s, uint32_t evq, uint32_t gen, struct seg_evsrc src, uint64_t cookie,
	     uint32_t type, uint32_t extra);
/*
 * The same for an event that its source has noted as owed (hw_cq.armed, hw_evtarget.events,
 * seg_evsub.owed). Clears the note when the record is in the queue; does nothing if the note is
 * already cleared. `data`, `len`: as below, or NULL and 0. Also -EBUSY: a living process is paying,
 * and the note stays. `overtake`: pay in its place if that process does not run.
 */
int evq_push_owed(struct seg *s, uint32_t evq, uint32_t gen, struct seg_evsrc src, uint64_t cookie,
		  uint32_t type, const void *data, uint32_t len, bool overtake);
/* The same with data in pieces, as in evq_push_pieces(). Also -EALREADY: another one has paid. */
int evq_push_owed_pieces(struct seg *s, uint32_t evq, uint32_t gen, struct seg_evsrc src,
			 uint32_t head, uint32_t len);
/* The same with a copy of `len` bytes of data, for evq_data(). */
int evq_push_data(struct seg *s, uint32_t evq, uint32_t gen, struct seg_evsrc src, uint64_t cookie,
		  const void *data, uint32_t len);
/* The same without source or cookie; *ref names the record for the next two. */
int evq_push_named(struct seg *s, uint32_t evq, uint32_t gen, const void *data, uint32_t len,
		   uint64_t *ref);
/* Has no reader taken the record yet? */
bool evq_waits(const struct seg *s, uint64_t ref);
/* Drop the record, wherever it stands. False: a reader has it. Never waits. */
bool evq_drop(struct seg *s, uint32_t evq, uint32_t gen, uint64_t ref);
/*
 * The same with data that already lies in pieces of the queue's owner (file + 1). They belong to
 * the queue afterwards, or still to the caller if this fails.
 */
int evq_push_pieces(struct seg *s, uint32_t evq, uint32_t gen, struct seg_evsrc src,
		    uint64_t cookie, uint32_t head, uint32_t len);
/*
 * Take the oldest record whose source still lives, for a reader whose buffer of `room` bytes gets
 * `fixed` bytes and the record's data. `fd`: the caller's FIFO descriptor, drained under the
 * queue's lock when the queue is empty afterwards. 0 and *rec; -EAGAIN empty; -EIO empty and dead;
 * -ENOENT no such queue; -ETIMEDOUT; -EMSGSIZE the data does not fit and the record stays;
 * -EOVERFLOW once after a loss. Increments the source's `reported` counter. The queue decides, the
 * byte is a hint: a reader that got -EAGAIN polls again. The caller owns the data: evq_data(), then
 * evq_data_free().
 */
int evq_take(struct seg *s, uint32_t evq, uint32_t gen, int fd, size_t fixed, size_t room,
	     struct seg_evrec *rec);
/*
 * For a reader that got -EAGAIN, or -ETIMEDOUT (`locked`): sleep until something has happened since
 * q->wake was `seen`, with the program's signal mask (NULL: the present one). 0: read again;
 * -EINTR. A signal with SA_RESTART resumes the wait as in read(2), which poll(2) on the FIFO could
 * not do.
 */
int evq_wait(struct seg_evq *q, uint32_t seen, bool locked, const void *sigmask);
/*
 * Copy the first `n` bytes of the oldest record's data, and the record, which stays. -EAGAIN:
 * empty.
 */
int evq_peek(struct seg *s, uint32_t evq, uint32_t gen, void *data, uint32_t n,
	     struct seg_evrec *rec);
/*
 * Put the record that evq_take() has taken back at the head. On -errno the caller still owns its
 * data.
 */
int evq_untake(struct seg *s, uint32_t evq, uint32_t gen, const struct seg_evrec *rec);
/* The piece at index `at` (rec->data, then each *next), at most EVQ_PIECE bytes; NULL at the end.
 */
const uint8_t *evq_data(struct seg *s, uint32_t at, uint32_t *next);
void evq_data_free(struct seg *s, const struct seg_evrec *rec);
/* Note that an event could not be queued for lack of space: the next read says so. Never waits. */
void evq_lost(struct seg *s, uint32_t evq, uint32_t gen);
/*
 * Drop unread events of a source that is being destroyed. The types that they had, as bits; an
 * event without a type counts as 0.
 */
uint32_t evq_purge(struct seg *s, uint32_t evq, uint32_t gen, uint32_t table, uint32_t idx);
/* Would a read return a record or an error? Takes no lock. */
bool evq_ready(const struct seg *s, const struct seg_evq *q);
/*
 * Called before and after a thread waits for the FIFO in the kernel. begin: 0 wait, the FIFO will
 * have a byte; 1 there is something to read (do not call end); -ENOENT. Takes no lock.
 */
int evq_poll_begin(struct seg *s, uint32_t evq, uint32_t gen);
void evq_poll_end(struct seg *s, uint32_t evq, uint32_t gen);
/* In a fork child: forget that the parent's thread is counted as poller, and how often. */
void evq_forked(void);
uint32_t evq_forks(void);
/*
 * Is a living process still inside the lock of the earlier queue of this file's index? When it goes
 * on, it would change the next queue.
 */
bool evq_is_held(struct seg *s, uint32_t file);
/* Give the FIFO a byte for each event from now on: somebody may wait for it unseen. Never waits. */
void evq_publish(struct seg *s, uint32_t evq, uint32_t gen);
/*
 * While this thread has a descriptor of the queue's FIFO, its pushes use that one. fd -1: no more.
 */
void evq_hint(uint32_t evq, uint32_t gen, int fd);
/*
 * The thread whose work has filled this queue waits for the thread that reads it, if that is
 * another one: until most is read, at most EVQ_EASE_NS, and not again if nothing was read. Signals
 * are as the program has set them.
 */
#define EVQ_CROWDED 256
#define EVQ_EASE_NS (250 * NSEC_PER_MSEC)
void evq_ease(struct seg *s, uint32_t evq, uint32_t gen);
/* The device is gone: readers get EIO after the last record. Wakes them. */
void evq_kill(struct seg *s, uint32_t evq, uint32_t gen);
/* The same, and drop the records. */
void evq_clear(struct seg *s, uint32_t evq, uint32_t gen);
/* Write a byte if there is something to read, on behalf of a process that could not (LINK_WAKE). */
void evq_wake(struct seg *s, uint32_t evq, uint32_t gen);
/*
 * Finish what dead processes left undone in any queue: missing bytes and stray bytes. The
 * supervisor calls it after it has marked a process as dead. Takes no lock that a living process
 * holds.
 */
void evq_repair(struct seg *s);

#endif
