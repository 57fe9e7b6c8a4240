/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shared receive queues: WQEs read ahead, taken and given back, the limit event, and the repair of
 * a queue whose holder died or is stopped. Owns hw_srq.lock. Called by resp.c under a responder's
 * rq_lock, and by the firmware.
 */
#include "engine/rx/rx.h"
#include "engine/rx/tm.h"
#include "hw/qp.h"
#include "hw/srq.h"
#include "util/point.h"
#include "wire/prm/rmp_srq.h"

#include <errno.h>
#include <infiniband/verbs.h>

static_assert(offsetof(struct hw_srq, head) % 8 == 0 &&
		      offsetof(struct hw_srq, consumed) == offsetof(struct hw_srq, head) + 4,
	      "an SRQ's position is one word");

#define POS_HEAD(pos) ((uint32_t)(pos)&0xffff)
#define POS_TURN UINT64_C(0xffff0000)
#define POS_CONSUMED(pos) ((uint32_t)((pos) >> 32))

static uint64_t srq_pos(const struct hw_srq *srq)
{
	return __atomic_load_n((const uint64_t *)&srq->head, __ATOMIC_ACQUIRE);
}

/* One store: a process killed here leaves the old position or the new one. False: the lock was
 * taken over from us. */
static bool srq_move(struct hw_srq *srq, uint64_t from, uint32_t head, uint32_t consumed)
{
	uint64_t to = (uint64_t)consumed << 32 | (from & POS_TURN) | (head & 0xffff);

	return __atomic_compare_exchange_n((uint64_t *)&srq->head, &from, to, false,
					   __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

#define KEPT_FIRST(kept) ((uint32_t)(kept))
#define KEPT_N(kept) ((uint32_t)((kept) >> 32) & 0xffff)
#define KEPT_TAG (UINT64_C(1) << 48)

static uint64_t srq_kept(const struct hw_srq *srq)
{
	return __atomic_load_n(&srq->kept, __ATOMIC_ACQUIRE);
}

/* Makes a new holder drop the WQEs that the last one kept, or was about to keep. */
static void srq_drop_kept(struct hw_srq *srq)
{
	uint64_t was = srq_kept(srq);

	while (!__atomic_compare_exchange_n(&srq->kept, &was, (was & ~(KEPT_TAG - 1)) + KEPT_TAG,
					    false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		;
}

/*
 * How many WQEs are posted. The doorbell record is read only when the known WQEs are used up, when
 * the exact number matters, or when the known number is wrong, because a stopped thread stored an
 * old one.
 */
static int srq_posted(struct seg *s, struct hw_srq *srq, uint16_t *posted)
{
	uint32_t dbr;
	int rc;

	*posted = (uint16_t)(srq->dbr_seen - srq->consumed);
	if (*posted && *posted <= 1u << srq->log_size && !hw_srq_limit(srq))
		return 0;
	rc = mem_read_be32(s, srq->dbr_mem, srq->dbr_va, &dbr);
	if (!rc)
		srq->dbr_seen = dbr;
	*posted = (uint16_t)(dbr - srq->consumed);
	return rc;
}

/*
 * Raises the limit event if fewer WQEs are left than the limit. `seen`: hw_srq.lwm as it was read
 * before they were counted. From this store on the event is owed; a thread that was stopped with
 * the lock finds a changed word.
 */
static void srq_check_limit(struct seg *s, struct hw_srq *srq, uint32_t srqn, uint32_t seen,
			    uint32_t posted)
{
	const uint32_t owes = HW_LWM_OWES | HW_LWM_OWES_DEVX, more = owes | HW_LWM_LOOK;
	uint32_t limit = seen / HW_LWM_LIMIT & 0xffff, now = seen;

	if (!limit || posted >= limit)
		return;
	do
		if ((now ^ seen) & ~more)
			return;
	while (!atomic_compare_exchange_weak(&srq->lwm, &now,
					     (now / HW_LWM_SEQ * HW_LWM_SEQ | owes) + HW_LWM_SEQ));
	POINT("srq-limit-fired");
	event_pay(s, SEG_T_SRQ, srqn, false);
}

/*
 * Are fewer WQEs left than the limit, although nobody takes one now? If the number cannot be read,
 * the device thread of the SRQ's process checks later.
 */
static void srq_see_limit(struct seg *s, struct hw_srq *srq, uint32_t srqn)
{
	uint32_t lwm = atomic_load(&srq->lwm);
	uint16_t posted;

	if (!(lwm / HW_LWM_LIMIT & 0xffff))
		return;
	if (srq_posted(s, srq, &posted)) {
		atomic_fetch_or(&srq->lwm, HW_LWM_LOOK);
		park_rouse(s, srq->mem.slot);
		return;
	}
	if (lwm & HW_LWM_LOOK &&
	    !atomic_compare_exchange_strong(&srq->lwm, &(uint32_t){lwm}, lwm & ~HW_LWM_LOOK))
		return;
	srq_check_limit(s, srq, srqn, lwm, posted);
}

/*
 * Is no WQE posted? Then the one at the head is still in hand from the last round. The doorbell
 * record as it was last read tells that: whoever takes a WQE has read of it there before.
 */
static bool srq_is_empty(struct seg *s, const struct hw_srq *srq)
{
	uint16_t posted = (uint16_t)(srq->dbr_seen - srq->consumed);
	uint32_t dbr;

	if (posted && posted <= 1u << srq->log_size)
		return false;
	return mem_read_be32(s, srq->dbr_mem, srq->dbr_va, &dbr)
		       ? !posted
		       : (uint16_t)dbr == (uint16_t)srq->consumed;
}

/*
 * Returns the QP that has noted the WQE at the head as taken, or NULL. A QP that writes or has
 * written the CQE of its receive took this WQE in an earlier round, and the WQE is posted again.
 */
static struct hw_qp *srq_taker(struct seg *s, const struct hw_srq *srq, uint32_t srqn)
{
	if (srq_is_empty(s, srq))
		return NULL;
	seg_for_each_live (s, SEG_T_QP, i) {
		struct hw_qp *qp = seg_at(s, SEG_T_QP, i);
		bool writes = resp_writes(qp); /* read before the note, which a QP clears first */

		if (!writes && (qp->rx_srqn & 0xffffff) == srqn && qp->rx_srq_wqe == srq->head + 1u)
			return qp;
	}
	return NULL;
}

/* The hold of an SRQ's lock, and its words as last seen or stored. */
struct srq_held {
	struct qheld q; /* the first */
	uint64_t kept;
	uint64_t pos; /* after a take-over srq_move() from it fails */
};

/* A stopped holder can no longer move the queue. */
static void srq_retag(void *o)
{
	struct hw_srq *srq = o;

	POINT("srq-stolen");
	__atomic_fetch_add(&srq->turn, 1, __ATOMIC_SEQ_CST);
}

/*
 * A QP notes the WQE that it takes before the queue moves on. Move the queue on for a dead QP; the
 * thread of a stopped one will clear its note, so clear it.
 */
static void srq_repair(struct seg *s, struct hw_srq *srq, uint32_t srqn, int how)
{
	uint32_t mask = (1u << srq->log_size) - 1, to;
	uint64_t pos = srq_pos(srq);
	struct hw_qp *qp = srq_taker(s, srq, srqn);
	uint8_t next[WQE_SEG];
	int rc = how == QLOCK_STOLEN;

	srq_drop_kept(srq);
	to = POS_HEAD(pos) + 1;
	if (qp && !rc && srq->wq_type == PRM_WQ_LINKED_LIST) {
		rc = mem_read(s, srq->mem, srq->va + ((uint64_t)POS_HEAD(pos) << srq->log_stride),
			      next, sizeof(next));
		to = LAYOUT_GET32(wqe_srq_next, next, next_wqe_index);
	}
	if (qp && rc)
		resp_unnote(qp);
	else if (qp)
		srq_move(srq, pos, to & mask, POS_CONSUMED(pos) + 1);
	srq_see_limit(s, srq, srqn);
	event_pay(s, SEG_T_SRQ, srqn, false);
}

static int srq_begin(struct seg *s, void *o, uint32_t srqn, struct qheld *q, int how);

/* Holders only read, through a gate or into their own memory, so any stopped one loses the lock. */
static const struct qlock srq_qlock = {
	.lock = offsetof(struct hw_srq, lock),
	.note = offsetof(struct hw_srq, ring),
	.retag = srq_retag,
	.begin = srq_begin,
};

static int srq_begin(struct seg *s, void *o, uint32_t srqn, struct qheld *q, int how)
{
	struct srq_held *h = (struct srq_held *)q;
	struct hw_srq *srq = o;

	POINT("srq-got");
	if (how)
		srq_repair(s, srq, srqn, how);
	if (!qlock_note(s, &srq_qlock, srq, q))
		return -ETIMEDOUT;
	h->pos = srq_pos(srq);
	h->kept = srq_kept(srq);
	/* If the lock was lost meanwhile, these words may belong to the new holder. */
	return qlock_is_ours(s, &srq_qlock, srq, q) ? 0 : -ETIMEDOUT;
}

static void srq_unlock(struct seg *s, struct hw_srq *srq, const struct srq_held *h)
{
	qlock_unlock(s, &srq_qlock, srq, &h->q);
}

static int srq_lock(struct seg *s, struct hw_srq *srq, uint32_t srqn, struct srq_held *h)
{
	return qlock_queue(s, &srq_qlock, srq, srqn, &h->q);
}

/* Stores that `n` WQEs are kept. False: the lock was taken over from this thread. */
static bool srq_keep(struct hw_srq *srq, struct srq_held *h, uint32_t first, uint32_t n)
{
	uint64_t to = (h->kept & ~(KEPT_TAG - 1)) | (uint64_t)n << 32 | first;

	if (!__atomic_compare_exchange_n(&srq->kept, &(uint64_t){h->kept}, to, false,
					 __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		return false;
	h->kept = to;
	return true;
}

void srq_settle(struct seg *s, const struct hw_qp *qp)
{
	uint32_t srqn = qp->rx_srqn & 0xffffff;
	struct hw_srq *srq = qp->rx_srq_wqe ? hw_srq(s, srqn) : NULL;
	struct srq_held h;

	if (srq && !srq_lock(s, srq, srqn, &h))
		srq_unlock(s, srq, &h);
}

bool srq_adopt(struct seg *s, struct hw_srq *srq, uint32_t srqn)
{
	bool look = atomic_load(&srq->lwm) & HW_LWM_LOOK;
	struct srq_held h;

	if (!qlock_adopt(s, &srq_qlock, srq, srqn, &h.q, look)) {
		if (look)
			srq_see_limit(s, srq, srqn);
		srq_unlock(s, srq, &h);
	}
	return !(atomic_load(&srq->lwm) & HW_LWM_LOOK);
}

static uint32_t srq_head(const struct hw_srq *srq, uint64_t pos)
{
	return (srq->wq_type == PRM_WQ_CYCLIC ? POS_CONSUMED(pos) : POS_HEAD(pos)) &
	       ((1u << srq->log_size) - 1);
}

/* Called under the SRQ's lock: give the WQE in r->rx to the QP. */
static int srq_note_taken(struct eng_run *r, struct hw_srq *srq, struct hw_qp *qp, uint64_t pos,
			  uint32_t lwm, uint16_t posted)
{
	uint32_t mask = (1u << srq->log_size) - 1;
	uint32_t head = srq_head(srq, pos);
	uint32_t next = srq->wq_type == PRM_WQ_CYCLIC
				? head + 1
				: LAYOUT_GET32(wqe_srq_next, r->rx, next_wqe_index);

	if (!resp_note(qp, head + 1, r->to.srqn))
		return -ETIMEDOUT;
	POINT("srq-noted");
	if (!srq_move(srq, pos, next & mask, POS_CONSUMED(pos) + 1)) {
		resp_note(qp, 0, r->to.srqn);
		return -ETIMEDOUT;
	}
	POINT("srq-taken");
	srq_check_limit(r->s, srq, r->to.srqn, lwm, posted - 1u);
	return 0;
}

/* How many of the `n` WQEs at `wqe`, from index `head` on, follow each other in the list. */
static uint32_t srq_in_turn(const struct hw_srq *srq, const uint8_t *wqe, uint32_t head, uint32_t n)
{
	uint32_t i = 1;

	if (!n || srq->wq_type == PRM_WQ_CYCLIC)
		return n;
	while (i < n && LAYOUT_GET32(wqe_srq_next, wqe + ((i - 1) << srq->log_stride),
				     next_wqe_index) == head + i)
		i++;
	return i;
}

/*
 * As rq_fetch_ahead(): doorbell record and WQEs from the head on in one call. The last posted WQE
 * is not kept: a program may link it when it posts its successor.
 */
static int srq_fetch_ahead(struct eng_run *r, struct hw_srq *srq, struct srq_held *h, uint8_t *wqe,
			   uint16_t *posted)
{
	uint32_t head = srq_head(srq, h->pos), size = 1u << srq->log_size;
	uint32_t n = HW_RX_AHEAD >> srq->log_stride, bytes = HW_RX_AHEAD;
	struct mem_vec from[2] = {mem_record(srq->dbr_va),
				  {srq->va + ((uint64_t)head << srq->log_stride), 0}};
	uint8_t dbr[8];
	struct iovec to[2] = {{dbr, from[0].len}, {wqe, 0}};
	int rc;

	if (n > size - head)
		n = size - head;
	if (n)
		bytes = n << srq->log_stride;
	from[1].len = to[1].iov_len = bytes;
	if (!srq_keep(srq, h, 0, 0))
		return -ETIMEDOUT;
	POINT("srq-ahead-none");
	/*
	 * The copy goes to the segment, so it passes this thread's gate: it must not happen after
	 * the lock was taken over.
	 */
	mem_gate = &r->ring->gate;
	rc = mem_readv(r->s, srq->mem, from, 2, to, 2);
	mem_gate = NULL;
	if (rc)
		return rc;
	srq->dbr_seen = mem_record_value(dbr, srq->dbr_va);
	*posted = (uint16_t)(srq->dbr_seen - POS_CONSUMED(h->pos));
	if (!*posted)
		return -ENOENT;
	if (n >= *posted)
		n = *posted - 1u;
	POINT("srq-ahead");
	return srq_keep(srq, h, POS_CONSUMED(h->pos), srq_in_turn(srq, wqe, head, n)) ? 0
										      : -ETIMEDOUT;
}

/* Under the SRQ's lock, for a queue in another process: the WQE at the head, to r->rx. */
static int srq_read_kept(struct eng_run *r, struct hw_srq *srq, struct srq_held *h, uint32_t bytes,
			 uint16_t *posted)
{
	struct hw_rq_ahead *ahead = seg_at(r->s, SEG_T_SRQAHEAD, r->to.srqn);
	uint32_t at = POS_CONSUMED(h->pos) - KEPT_FIRST(h->kept);
	int rc;

	if (at < KEPT_N(h->kept)) {
		rc = srq_posted(r->s, srq, posted);
	} else {
		rc = srq_fetch_ahead(r, srq, h, ahead->wqe, posted);
		at = 0;
	}
	if (!rc && !*posted)
		rc = -ENOENT;
	if (!rc)
		memcpy(r->rx, ahead->wqe + (at << srq->log_stride), bytes);
	return rc;
}

/* One WQE as it is now. */
static int srq_read_wqe(struct eng_run *r, const struct hw_srq *srq, uint32_t idx, uint32_t bytes)
{
	uint64_t va = srq->va + ((uint64_t)idx << srq->log_stride);
	const uint8_t *near = mem_is_self(r->s, srq->mem)
				      ? NULL
				      : adopt_near(r->s, srq->buf_umem, srq->mem, va, bytes);

	if (!near)
		return mem_read(r->s, srq->mem, va, r->rx, bytes);
	memcpy(r->rx, near, bytes);
	return 0;
}

/*
 * The same in this process or in adopted memory, without a place for what is read ahead, or with
 * the doorbell record in yet another process.
 */
static int srq_read_next(struct eng_run *r, struct hw_srq *srq, struct srq_held *h, uint32_t bytes,
			 uint16_t *posted)
{
	int rc;

	if (KEPT_N(h->kept)) /* indices wrap: no kept WQE may be skipped */
		srq_keep(srq, h, 0, 0);
	rc = srq_posted(r->s, srq, posted);
	if (!rc && !*posted)
		rc = -ENOENT;
	return rc ? rc : srq_read_wqe(r, srq, srq_head(srq, h->pos), bytes);
}

/* Are WQEs read ahead? Not while they can be read without a system call. */
static bool srq_reads_ahead(struct eng_run *r, const struct hw_srq *srq)
{
	return !mem_is_self(r->s, srq->mem) && srq->mem.slot == srq->dbr_mem.slot &&
	       srq->mem.gen == srq->dbr_mem.gen &&
	       r->to.srqn < seg_table(r->s, SEG_T_SRQAHEAD)->capacity &&
	       !adopt_near(r->s, srq->buf_umem, srq->mem, srq->va, 1);
}

static int srq_take(struct eng_run *r, struct hw_srq *srq, struct hw_qp *qp, uint32_t bytes)
{
	uint32_t lwm, seen = srq->dbr_seen;
	uint16_t posted = 0;
	struct srq_held h;
	int rc = srq_lock(r->s, srq, r->to.srqn, &h);

	if (rc < 0)
		return rc;
	POINT("srq-locked");
	lwm = atomic_load(&srq->lwm);
	if (srq_reads_ahead(r, srq))
		rc = srq_read_kept(r, srq, &h, bytes, &posted);
	else
		rc = srq_read_next(r, srq, &h, bytes, &posted);
	if (!rc)
		rc = srq_note_taken(r, srq, qp, h.pos, lwm, posted);
	srq_unlock(r->s, srq, &h);
	if (!rc && posted > 1 && seen != srq->dbr_seen)
		ready_tell(srq);
	return rc;
}

/* Called under the SRQ's lock: put WQE `idx` back as the next. False: the lock was taken over. */
static bool srq_put_back(struct seg *s, struct hw_srq *srq, uint32_t idx, struct srq_held *h)
{
	uint32_t before = POS_CONSUMED(h->pos) - 1;
	uint8_t next[2];
	int rc;

	if (!srq_keep(srq, h, 0, 0))
		return false;
	if (srq->wq_type ==
	    PRM_WQ_CYCLIC) /* in a ring only the WQE that was taken last can go back */
		return idx != (before & ((1u << srq->log_size) - 1)) ||
		       srq_move(srq, h->pos, idx, before);
	be16_store(next, (uint16_t)POS_HEAD(h->pos));
	mem_gate = h->q.gate;
	rc = mem_write(s, srq->mem, srq->va + ((uint64_t)idx << srq->log_stride) + 2, next, 2);
	mem_gate = NULL;
	POINT("srq-relinked");
	return rc ? rc != -ECANCELED && rc != -ETIMEDOUT : srq_move(srq, h->pos, idx, before);
}

#define RETURN_TRIES 3 /* attempts, each of which takes the lock anew */

/* Gives a receive back to its SRQ. False: this QP still has it. */
static bool srq_give_back(struct seg *s, struct hw_qp *qp, bool command)
{
	uint32_t srqn = resp_noted_srqn(), idx = resp_noted() - 1;
	struct hw_srq *srq = hw_srq(s, srqn);
	bool back = !srq;
	struct srq_held h;

	for (int i = 0; i < RETURN_TRIES && !back; i++) {
		if (command ? qlock_ctrl(s, &srq_qlock, srq, srqn, &h.q, SEG_LOCK_CTRL_NS)
			    : srq_lock(s, srq, srqn, &h))
			break;
		back = srq_put_back(s, srq, idx, &h);
		/* Store this before other threads take the lock. */
		if (back)
			resp_note(qp, 0, srqn);
		srq_unlock(s, srq, &h);
	}
	if (!srq)
		resp_note(qp, 0, srqn);
	return back;
}

int srq_fetch(struct eng_run *r, struct hw_qp *qp, struct eng_recv *rv)
{
	struct hw_srq *srq = hw_srq(r->s, r->to.srqn);
	uint32_t bytes;
	int rc;

	if (!srq)
		return -ENOENT;
	if (__builtin_expect(atomic_load(&srq->state), 0))
		return -EIO;
	if (resp_noted() & TM_NOTE) /* a rendezvous owes a completion */
		return -ETIMEDOUT;
	bytes = 1u << srq->log_stride;
	if (bytes > HW_RX_AHEAD)
		bytes = HW_RX_AHEAD;
	/* A receive of another SRQ, taken for a message that was never repeated: give it back. */
	if (resp_noted() && resp_noted_srqn() != r->to.srqn && !srq_give_back(r->s, qp, false))
		return -ETIMEDOUT;
	if (resp_noted()) /* it was taken at an earlier attempt and not completed */
		rc = mem_read(r->s, srq->mem,
			      srq->va + ((uint64_t)(resp_noted() - 1) << srq->log_stride), r->rx,
			      bytes);
	else
		rc = srq_take(r, srq, qp, bytes);
	if (rc)
		return rc;
	/* The next segment is there in cyclic queues, too (rmpc.basic_cyclic_rcv_wqe is 0). */
	rv->seg = r->rx + WQE_SEG;
	rv->nseg = (bytes - WQE_SEG) / WQE_SEG;
	rv->index = resp_noted() - 1;
	rv->pdn = srq->pdn;
	rv->from_srq = true;
	return 0;
}

bool srq_return(struct seg *s, struct hw_qp *qp)
{
	return srq_give_back(s, qp, false);
}

void resp_return_srq(struct seg *s, struct hw_qp *qp)
{
	if (resp_noted() && !srq_give_back(s, qp, true))
		resp_note(qp, 0, resp_noted_srqn());
}

void eng_srq_created(struct hw_srq *srq)
{
	/* A thread that was stopped with an earlier SRQ of this number must find changed words. */
	srq->turn = (uint16_t)(srq->gen << 8);
	srq->lock.inherited = (uint16_t)(srq->gen << 8);
	srq->kept = srq->gen * KEPT_TAG;
	atomic_fetch_or(&srq->lwm, srq->gen * HW_LWM_SEQ);
}

int eng_srq_arm_limit(struct seg *s, uint32_t srqn, uint32_t lwm)
{
	struct hw_srq *srq = hw_srq(s, srqn);
	uint32_t was, now;
	struct srq_held h;
	int rc;

	if (!srq)
		return -EINVAL;
	rc = qlock_ctrl(s, &srq_qlock, srq, srqn, &h.q, SEG_LOCK_CTRL_NS);
	if (rc)
		return rc;
	was = atomic_load(&srq->lwm);
	do
		now = (was & ~(HW_LWM_LIMIT * UINT32_C(0xffff) | HW_LWM_LOOK)) | lwm * HW_LWM_LIMIT;
	while (!atomic_compare_exchange_weak(&srq->lwm, &was, now));
	srq_see_limit(s, srq, srqn);
	srq_unlock(s, srq, &h);
	return 0;
}
