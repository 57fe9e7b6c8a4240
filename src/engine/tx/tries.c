/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * When a WQE that could not be sent is tried again, and how often. Called by sq.c, and by rc.c and
 * ud.c for a lock at the peer.
 */
#include "engine/for_tests.h"
#include "engine/tx/tx.h"
#include "engine/base/qp.h"
#include "hw/cq.h"
#include "hw/port.h"
#include "hw/qctr.h"
#include "hw/qp_state.h"
#include "hw/srq.h"
#include "hw/world.h"
#include "util/bits.h"

/* Worlds that work late (HW_SET_PACE). */
#define LATE_NS NSEC_PER_MSEC
#define SINGLE_NS (200 * NSEC_PER_USEC)
#define BATCH_NS (4 * NSEC_PER_MSEC)

bool park_ready(struct hw_qp *qp)
{
	return atomic_load_explicit(&qp->park, memory_order_relaxed) == HW_PARK_NO ||
	       eng_clock() >= atomic_load(&qp->park_deadline);
}

/* Is a process stopped without which nothing can be delivered to the peer? */
static bool waits_for_stopped(struct seg *s, const struct hw_qp *peer)
{
	const struct hw_cq *cq = hw_cq(s, peer->cqn_rcv);
	const struct hw_srq *srq = peer->srqn != SEG_NONE ? hw_srq(s, peer->srqn) : NULL;

	return seg_lock_stopped(s, &peer->rq_lock) || (cq && seg_lock_stopped(s, &cq->lock)) ||
	       (srq && seg_lock_stopped(s, &srq->lock)) || mem_fetch_stopped(s, peer->mem);
}

bool park_patience_ends(struct seg *s, struct hw_qp *qp, const struct hw_qp *peer)
{
	bool again = atomic_load_explicit(&qp->park, memory_order_relaxed) == HW_PARK_LOCK;
	bool ends = false;
	uint64_t now = eng_clock();

	if (!waits_for_stopped(s, peer))
		qp->stopped_since = 0;
	else if (!again || !qp->stopped_since)
		qp->stopped_since = now;
	else if (now - qp->stopped_since >= ENG_PATIENCE_NS)
		ends = true;
	ends |= again && now - qp->locked_since >= SEG_LOCK_HUNG_NS;
	if (ends) { /* the next member of a group has a patience of its own */
		qp->stopped_since = 0;
		qp->locked_since = now;
	}
	return ends;
}

/*
 * A number of nanoseconds below `n` that is the same in each run: of the queue and how far it is.
 */
static uint64_t some_ns(const struct hw_qp *qp, uint32_t qpn, uint64_t n)
{
	uint64_t x = ((uint64_t)qpn << 32 | atomic_load(&qp->sq_rung)) ^
		     (uint64_t)atomic_load(&qp->sq_ci) << 20;

	return bits_mix(x) % n;
}

void park_late(struct seg *s, struct hw_qp *qp, uint32_t qpn, uint32_t pend)
{
	uint64_t now = eng_clock(), due;

	if (s->pace == HW_PACE_BATCHES)
		due = now - now % BATCH_NS + BATCH_NS;
	else
		due = now + some_ns(qp, qpn, s->pace == HW_PACE_LATE ? LATE_NS : SINGLE_NS);
	/* What already waits is not put off again. */
	if (!(atomic_load(&qp->flush_pending) & pend))
		atomic_store(&qp->late_until, due);
	park_pending(s, qp, pend);
}

uint64_t park_rnr_ns(uint32_t timer)
{
	/* IBTA table 45 (RNR timers), in units of 10 us. */
	static const uint32_t tens_of_us[32] = {
		65536, 1,    2,    3,    4,    6,     8,     12,    16,    24,   32,
		48,    64,   96,   128,  192,  256,   384,   512,   768,   1024, 1536,
		2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};

	return tens_of_us[timer & 31] * UINT64_C(10000);
}

uint64_t park_ack_ns(const struct hw_qp_path *w, uint32_t retries)
{
	uint32_t shift = w->ack_timeout + w->log_rtm * retries;

	return !w->ack_timeout ? UINT64_MAX : UINT64_C(4096) << (shift < 50 ? shift : 50);
}

/*
 * RoCE, as ConnectX-5 and -6 were measured (rdma-fault-characterization, ack_timeout and
 * live_peer): 4 to 8 adaptive retransmissions, then time-outs, one fewer than retry_cnt, each as if
 * `timeout` were at least 16. Both ends of the ranges there (3.5 to 3.9 s with retry_cnt 7, 1.35 to
 * 1.51 s with 3) give two nominal time-outs for each, and the adaptive ones together 0.4 s; that
 * they double is inferred, and what retry_cnt 0 (no adaptive one) and 1 do.
 */
#define ROCE_LEAST_TIMEOUT 16
#define ROCE_ADAPTS 7u
#define ROCE_ADAPT_NS UINT64_C(3000000)

static bool adapts(const struct seg *s, const struct hw_qp *qp)
{
	const struct hw_qp_path *w = hw_qp_path(qp);
	const struct hw_port *p = hw_port(s, w->port);

	return p && hw_port_is_eth(p) && !s->plain_timers && w->ack_timeout;
}

void park_tries_begin(const struct seg *s, struct hw_qp *qp, uint32_t ci)
{
	bool adaptive = adapts(s, qp);

	qp->cur_wqe = ci;
	qp->rnr_left = qp->rnr_retry;
	qp->retries_left = qp->retry_count;
	if (adaptive)
		qp->retries_left -= qp->retry_count < 2 ? qp->retry_count : 2;
	qp->adapts_left = adaptive && qp->retry_count ? ROCE_ADAPTS : 0;
}

bool park_adapted(const struct seg *s, struct hw_qp *qp)
{
	if (!qp->adapts_left)
		return false;
	eng_count(s, qp, HW_QC_ROCE_ADP_RETRANS);
	if (!--qp->adapts_left)
		eng_count(s, qp, HW_QC_ROCE_ADP_RETRANS_TO);
	return true;
}

void park_answered(const struct seg *s, struct hw_qp *qp)
{
	/* 0: eng_requesters() has roused it, and no timer has ended */
	if (atomic_load(&qp->park_deadline) && !park_adapted(s, qp))
		eng_count(s, qp, HW_QC_LOCAL_ACK_TIMEOUT_ERR);
}

uint64_t park_try_ns(const struct seg *s, const struct hw_qp *qp)
{
	struct hw_qp_path w = *hw_qp_path(qp);
	uint64_t ns;

	if (qp->adapts_left)
		return ROCE_ADAPT_NS << (ROCE_ADAPTS - qp->adapts_left);
	if (!adapts(s, qp))
		return park_ack_ns(&w, qp->retry_count - qp->retries_left);
	if (w.ack_timeout < ROCE_LEAST_TIMEOUT)
		w.ack_timeout = ROCE_LEAST_TIMEOUT;
	ns = park_ack_ns(&w, 0);
	return ns > UINT64_MAX / 2 ? UINT64_MAX : 2 * ns;
}
