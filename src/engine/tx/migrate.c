/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Automatic path migration (IBA 17.2.8): the states migrated, rearm and armed, and the move to the
 * alternate path. Called by rc.c for requests and answers, by sq.c after the last retry, by the
 * firmware for commands.
 *
 * One word of the QP (hw_qp.mig) has the state and says which of two paths is in use, so that one
 * compare-and-swap migrates, in whatever thread: nobody finds half a path.
 */
#include "engine/tx/tx.h"
#include "engine/base/words.h"
#include "engine/base/qp.h"
#include "fabric/fabric.h"
#include "hw/port.h"
#include "util/point.h"

#include <infiniband/verbs.h>

#define MARK_SHIFT 32

static const struct hw_qp_path *alternate(const struct hw_qp *qp, uint64_t w)
{
	return &qp->path[!(w & HW_MIG_PATH)];
}

static bool change(struct hw_qp *qp, uint64_t *was, uint64_t to)
{
	return atomic_compare_exchange_strong(&qp->mig, was, to);
}

void mig_finish(struct seg *s, struct hw_qp *qp, uint32_t qpn)
{
	uint64_t w = atomic_load(&qp->mig);

	if (!(w & HW_MIG_NOTING))
		return;
	/* Several threads may finish the same migration; event_note_once() notes one event. */
	event_note_once(s, qp, qpn, IBV_EVENT_PATH_MIG, (uint32_t)(w >> MARK_SHIFT));
	POINT("mig-noted");
	change(qp, &w, (uint32_t)w & ~(uint32_t)HW_MIG_NOTING);
	eng_qp_event_pay(s, qp, qpn);
}

/* Migrates to the alternate path. False: the word has changed since `w` was read. */
static bool move(struct seg *s, struct hw_qp *qp, uint32_t qpn, uint64_t w, uint32_t tried)
{
	uint64_t mark = event_mark(qp, IBV_EVENT_PATH_MIG);
	uint32_t to = (uint32_t)w &
		      ~(uint32_t)(HW_MIG_STATE | HW_MIG_TRIED | HW_MIG_REFUSED | HW_MIG_HELD);

	to = (to ^ HW_MIG_PATH) | HW_MIG_MOVED | HW_MIG_NOTING | tried;
	POINT("mig-begin");
	if (!change(qp, &w, to | mark << MARK_SHIFT))
		return false;
	POINT("mig-moved");
	TRACE(LOG_CQE, "QP 0x%x: migrated to its alternate path", qpn);
	/* If this thread stops or dies here, the device thread raises the event. */
	park_rouse(s, qp->mem.slot);
	POINT("mig-roused");
	mig_finish(s, qp, qpn);
	return true;
}

/*
 * Would packets that `from` sends on its path `w`, and that arrive at port `at`, come by the
 * alternate path `alt`?
 */
static bool mig_fits(const struct eng_run *r, const struct hw_qp_path *alt, uint32_t at,
		     const struct hw_qp *from, const struct hw_qp_path *w)
{
	const struct hw_port *p = hw_port(r->s, w->port);
	uint32_t bits = way_path_bits(from, w), lid;

	if (!p || alt->port != at || !alt->grh != !w->grh)
		return false;
	if (w->grh &&
	    (w->sgid_index >= hw_port_gids(p) || memcmp(hw_gid(p, w->sgid_index), alt->dgid, 16)))
		return false;
	lid = atomic_load_explicit(&p->lid, memory_order_relaxed) | (bits & ((1u << p->lmc) - 1));
	return (lid & 0xffff) == (alt->dlid & 0xffff) || (alt->grh && !alt->dlid);
}

/* Path Migration Request Error (IBA 11.6.3.1), once until the next command. */
static void mig_refuse(struct seg *s, struct hw_qp *qp, uint32_t qpn)
{
	uint64_t w = atomic_load(&qp->mig);

	if (w & HW_MIG_REFUSED)
		return;
	TRACE(LOG_CQE, "QP 0x%x: refuses to migrate, the request is not from its alternate path",
	      qpn);
	event_note_once(s, qp, qpn, IBV_EVENT_PATH_MIG_ERR, event_mark(qp, IBV_EVENT_PATH_MIG_ERR));
	POINT("mig-refused");
	change(qp, &w, w | HW_MIG_REFUSED);
	eng_qp_event_pay(s, qp, qpn);
}

/*
 * hfi1_ruc_check_hdr(): in state armed, a packet with MigReq is dropped if it did not come by the
 * alternate path. The event is IBA's rule.
 */
bool mig_request(struct eng_run *r, struct hw_qp *peer, uint32_t port)
{
	for (;;) {
		uint64_t w = atomic_load(&peer->mig);
		const struct hw_qp_path *alt = alternate(peer, w);

		if (w & HW_MIG_NOTING) {
			mig_finish(r->s, peer, r->dest);
			continue;
		}
		if ((w & HW_MIG_STATE) != HW_MIG_ARMED || !mig_requests(r->qp, r->own))
			return true;
		if (w & HW_MIG_HELD)
			return false; /* drop it; the requester repeats it */
		if (mig_fits(r, alt, port, r->qp, r->own) && way_pkey_match(r, alt)) {
			if (move(r->s, peer, r->dest, w, 0))
				return true;
			continue;
		}
		if (resp_busy(peer)) {
			mig_refuse(r->s, peer, r->dest);
			resp_busy_end();
		}
		return false;
	}
}

void mig_met(struct hw_qp *qp, bool requests)
{
	uint64_t w = atomic_load(&qp->mig);

	while (!requests && (w & HW_MIG_STATE) == HW_MIG_REARM)
		if (change(qp, &w, w ^ HW_MIG_REARM ^ HW_MIG_ARMED))
			return;
}

/* An answer with MigReq must come by the alternate path, too, if r->qp is armed. */
bool mig_answer_comes(struct eng_run *r, const struct hw_qp *peer)
{
	uint64_t w = atomic_load(&r->qp->mig);

	if ((w & HW_MIG_STATE) != HW_MIG_ARMED || !mig_requests(peer, r->theirs))
		return r->back.to == r->own->port;
	if (w & HW_MIG_HELD)
		return false;
	if (mig_fits(r, alternate(r->qp, w), r->back.to, peer, r->theirs))
		return true;
	mig_refuse(r->s, r->qp, r->qpn);
	return false;
}

void mig_answer(struct eng_run *r, const struct hw_qp *peer)
{
	bool requests = mig_requests(peer, r->theirs);
	uint64_t w = atomic_load(&r->qp->mig);

	/* A command may have changed the paths since mig_answer_comes() compared them. */
	if ((w & (HW_MIG_STATE | HW_MIG_HELD)) == HW_MIG_ARMED && requests &&
	    mig_fits(r, alternate(r->qp, w), r->back.to, peer, r->theirs))
		move(r->s, r->qp, r->qpn, w, 0);
	while ((w = atomic_load(&r->qp->mig)) & HW_MIG_TRIED)
		if (change(r->qp, &w, w & ~(uint64_t)HW_MIG_TRIED))
			break;
	mig_met(r->qp, requests);
}

/*
 * hfi1_restart_rc(): an armed QP migrates and then has all its retries again. It is inferred from
 * ibv_get_async_event(3) that PATH_MIG_ERR also reports an alternate path without answers.
 */
bool mig_retries_end(struct eng_run *r)
{
	uint64_t w = atomic_load(&r->qp->mig);

	while ((w & HW_MIG_STATE) == HW_MIG_ARMED && alternate(r->qp, w)->port != SEG_NONE) {
		if (w & HW_MIG_HELD || move(r->s, r->qp, r->qpn, w, HW_MIG_TRIED))
			return true;
		w = atomic_load(&r->qp->mig);
	}
	if (hw_qp_path(r->qp) != r->own) /* the QP has migrated because its peer asked for it */
		return true;
	if (w & (HW_MIG_STATE | HW_MIG_TRIED) && (w & HW_MIG_STATE) != HW_MIG_REARM)
		eng_qp_event(r->s, r->qp, r->qpn, IBV_EVENT_PATH_MIG_ERR);
	return false;
}

static uint64_t held_word(uint64_t w)
{
	w = (uint32_t)w & ~(uint32_t)(HW_MIG_TRIED | HW_MIG_REFUSED);
	return (uint32_t)(w + HW_MIG_SEQ) | HW_MIG_HELD;
}

struct hw_qp_path *eng_mig_hold(struct seg *s, struct hw_qp *qp, uint32_t qpn, void **ads)
{
	uint64_t w;
	bool used;

	do {
		mig_finish(s, qp, qpn);
		w = atomic_load(&qp->mig);
	} while (w & HW_MIG_NOTING || !change(qp, &w, held_word(w)));
	POINT("mig-held");
	used = w & HW_MIG_PATH;
	*ads = way_ads_of(qp, !used);
	if (w & HW_MIG_MOVED) {
		qp->path[!used] = qp->path[used];
		memcpy(*ads, way_ads(qp, &qp->path[used]), LAYOUT_SZ(ads));
		atomic_fetch_and(&qp->mig, ~(uint64_t)HW_MIG_MOVED);
	}
	return &qp->path[!used];
}

void eng_mig_end(struct seg *s, struct hw_qp *qp, uint32_t qpn, uint32_t to)
{
	uint64_t w = atomic_load(&qp->mig), next;

	do {
		while ((w & HW_MIG_STATE) == HW_MIG_ARMED && to == HW_MIG_MIGRATED &&
		       alternate(qp, w)->port != SEG_NONE) {
			if (move(s, qp, qpn, w, 0))
				return;
			w = atomic_load(&qp->mig);
		}
		next = w & ~(uint64_t)HW_MIG_HELD;
		if (to != ENG_MIG_KEEP)
			next = (next & ~(uint64_t)HW_MIG_STATE) | to;
	} while (!change(qp, &w, next));
}

void mig_reset(struct hw_qp *qp)
{
	atomic_store(&qp->mig,
		     (uint32_t)(atomic_load(&qp->mig) / HW_MIG_SEQ + 1) * (uint64_t)HW_MIG_SEQ &
			     UINT32_MAX);
	qp->path[1].port = SEG_NONE;
	memset(way_ads_of(qp, true), 0, LAYOUT_SZ(ads));
}
