/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns what `softhca check` says of a queue pair that is set up: settings that an adapter takes and
 * that do not do what the program needs. Called by cmd_qp_state.c.
 */
#include "check/check.h"
#include "fw/priv.h"
#include "hw/cq.h"
#include "hw/qp.h"
#include "hw/service.h"
#include "wire/prm/qp.h"

#define QPC(qp, f) LAYOUT_GET32(qpc, (qp)->qpc, f)
#define LONG_S 3600u /* seconds without an answer that nobody waits for on purpose */

static void check_timeout(const struct hw_qp *qp, const struct check_about *a)
{
	uint32_t timeout = hw_qp_path(qp)->ack_timeout;
	/* IBTA 1.4, 9.7.6.1.3: the time-out is 4.096 us * 2^timeout, and an adapter may take four.
	 */
	uint64_t s = (UINT64_C(4096) << timeout) / 1000000000 * (1 + qp->retry_count);

	if (!timeout)
		check_say(CHECK_R_TIMEOUT_ZERO, a,
			  "QP 0x%x: timeout is 0: a request whose answer is lost waits for ever",
			  a->number);
	else if (s >= LONG_S)
		check_say(CHECK_R_TIMEOUT_LONG, a,
			  "QP 0x%x: timeout %u and retry_cnt %u: a dead peer is noticed after %llu "
			  "minutes at the earliest",
			  a->number, timeout, qp->retry_count, (unsigned long long)(s / 60));
}

/* READs and atomics: what an end may have outstanding, and what the other end keeps answers for. */
static void check_reads(const struct hw_qp *from, uint32_t qpn, const struct hw_qp *to,
			uint32_t to_qpn, const struct check_about *a)
{
	uint32_t most = 1u << QPC(from, log_sra_max), kept = 1u << QPC(to, log_rra_max);

	/* A value of 1 may stand for none. */
	if (most > 1 && most > kept)
		check_say(CHECK_R_READS, a,
			  "QP 0x%x has max_rd_atomic %u, its peer, QP 0x%x, max_dest_rd_atomic %u",
			  qpn, most, to_qpn, kept);
}

/*
 * Receives that the program has asked for, at least, of all QPs that complete into this CQ: the
 * driver makes their number a power of 2, from 4 on.
 */
static uint64_t least_receives(const struct seg *s, uint32_t cqn, uint32_t *qps)
{
	uint64_t n = 0;

	*qps = 0;
	seg_for_each_live (s, SEG_T_QP, i) {
		const struct hw_qp *qp = hw_qp(s, i);

		if (!qp || qp->cqn_rcv != cqn || qp->srqn != SEG_NONE || qp->no_rq)
			continue;
		n += qp->rq_log_size > 2 ? (1u << qp->rq_log_size) / 2 + 1 : 1;
		++*qps;
	}
	return n;
}

static void check_cq(const struct seg *s, const struct hw_qp *qp)
{
	const struct hw_cq *cq = hw_cq(s, qp->cqn_rcv);
	const struct check_about a = {.kind = "CQ", .number = qp->cqn_rcv};
	uint32_t qps;
	uint64_t n = cq ? least_receives(s, qp->cqn_rcv, &qps) : 0;

	if (cq && n > 1u << cq->log_size)
		check_say(CHECK_R_CQ_SMALL, &a,
			  "CQ 0x%x has %u entries, and the receive queues of %u QPs that complete "
			  "into it have room for %llu or more",
			  qp->cqn_rcv, 1u << cq->log_size, qps, (unsigned long long)n);
}

void fw_check_ready(struct seg *s, const struct hw_qp *qp, uint32_t qpn)
{
	const struct check_about a = {.kind = "QP", .number = qpn};
	const struct hw_qp *peer;

	if (qp->dest_qpn == qpn)
		return; /* a queue of the driver's own, as for tag matching */
	check_cq(s, qp);
	if (hw_service(qp->st)->st != PRM_ST_RC)
		return;
	check_timeout(qp, &a);
	peer = hw_qp(s, qp->dest_qpn);
	if (!peer || peer->st != qp->st || peer->dest_qpn != qpn)
		return;
	check_reads(qp, qpn, peer, qp->dest_qpn, &a);
	if (atomic_load(&peer->state) == PRM_QP_STATE_RTS)
		check_reads(peer, qp->dest_qpn, qp, qpn, &a);
}
