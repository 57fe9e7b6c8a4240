/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Waits for a receiver that has nothing posted. With more polling threads than processors, a sender
 * that goes on polling takes the time in which the receiver would post. So where other threads want
 * its processor, the thread that rings sleeps for a while and sends the message itself. Called by
 * sq.c without locks.
 *
 * Nobody tells when receives are posted to an SRQ: the sleepers look in turn, each after a longer
 * time, and the first that finds receives wakes the next one.
 */
#include "engine/rx/rx.h"
#include "engine/base/transport.h"
#include "hw/srq.h"
#include "util/sys.h"
#include "util/tls.h"

#define GIVE_NS (128 * NSEC_PER_MSEC) /* what one message gives away, as 64 threads take turns */
#define OWN_NS (4 * NSEC_PER_MSEC)    /* the same if the receiver may be this very thread */
#define FORGET_NS NSEC_PER_SEC        /* the QP may be another one, or far behind the message */
#define NAP_NS (50 * NSEC_PER_USEC)   /* the first sleep; it doubles each time */
#define NAP_MAX_NS NSEC_PER_MSEC      /* also the longest RNR timer for which a post waits */
#define CROWD_NS (50 * NSEC_PER_MSEC) /* for how long the answer of is_crowded() holds */
#define ALONE_NS NSEC_PER_USEC        /* a sched_yield() that switches to nobody is shorter */

static TLS_IE uint64_t crowded_until;

/* The message for which this thread has waited last, and for how long. */
static TLS_IE struct {
	uint32_t qpn, wqe;
	uint64_t ns, last;
} given;

/* Do other threads want this processor? */
static bool is_crowded(uint64_t *now)
{
	uint64_t before = *now;

	if (before < crowded_until)
		return true;
	sys_call(SYS_sched_yield);
	*now = eng_clock();
	if (*now - before < ALONE_NS)
		return false;
	crowded_until = *now + CROWD_NS;
	return true;
}

static struct hw_srq *srq_of(const struct seg *s, const struct hw_qp *qp)
{
	const struct hw_qp *peer = hw_qp(s, qp_target(qp));

	return peer && peer->srqn != SEG_NONE ? hw_srq(s, peer->srqn) : NULL;
}

void ready_tell(struct hw_srq *srq)
{
	uint32_t was = 1;

	if (atomic_load_explicit(&srq->awaited, memory_order_relaxed) &&
	    sys_futex_wake(&srq->awaited, 1) <= 0)
		atomic_compare_exchange_strong(&srq->awaited, &was, 0);
}

static void nap(struct seg *s, const struct hw_qp *qp, uint64_t ns)
{
	struct hw_srq *srq = srq_of(s, qp);
	struct timespec ts = {0, (long)ns};

	if (!srq) {
		sys_call(SYS_nanosleep, &ts, NULL);
		return;
	}
	atomic_store(&srq->awaited, 1);
	sys_futex_wait(&srq->awaited, 1, ns);
}

static bool is_waiting(const struct hw_qp *qp)
{
	return atomic_load_explicit(&qp->park, memory_order_relaxed) == HW_PARK_RNR;
}

/* How long this thread may wait for the message that the QP sends now: later posts wait no more. */
static uint64_t left_to_give(struct seg *s, const struct hw_qp *qp, uint32_t qpn, uint64_t now)
{
	const struct hw_qp *peer = hw_qp(s, qp_target(qp));
	uint64_t all = peer && !mem_is_self(s, peer->mem) ? GIVE_NS : OWN_NS;
	uint32_t wqe = atomic_load(&qp->sq_ci);

	if (given.qpn != qpn || given.wqe != wqe || now - given.last >= FORGET_NS) {
		given.qpn = qpn;
		given.wqe = wqe;
		given.ns = 0;
	}
	return given.ns < all ? all - given.ns : 0;
}

void ready_await(struct seg *s, const struct hw_qp *qp, uint32_t qpn,
		 void (*retry)(struct seg *s, uint32_t qpn))
{
	uint64_t now = eng_clock(), first = now, end = now + left_to_give(s, qp, qpn, now),
		 ns = NAP_NS, due;
	uint32_t gen = qp->gen; /* the number may be another process's QP after a sleep */
	struct hw_srq *srq;

	while (qp->gen == gen && is_waiting(qp) && now < end && is_crowded(&now)) {
		due = atomic_load(&qp->park_deadline);
		if (due > now + NAP_MAX_NS)
			break;
		nap(s, qp, due > now + ns ? due - now : ns);
		now = eng_clock();
		if (now >= due && qp->gen == gen)
			retry(s, qpn);
		ns = 2 * ns < NAP_MAX_NS ? 2 * ns : NAP_MAX_NS;
	}
	given.ns += now - first;
	given.last = now;
	srq = srq_of(s, qp);
	if (is_waiting(qp))
		park_rouse(s, qp->mem.slot);
	else if (srq && now > first)
		ready_tell(srq);
}
