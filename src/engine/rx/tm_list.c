/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tag matching: commands that change an XRQ's list, and the count of unexpected messages that
 * decides which entries may be matched. Called by sq.c under a send queue's lock, and by tm.c.
 */
#include "engine/rx/tm.h"
#include "engine/rx/rx.h"
#include "engine/base/qp.h"
#include "hw/srq.h"
#include "hw/tm.h"
#include "util/point.h"
#include "wire/wqe/tm.h"

#include <errno.h>

struct hw_tm *tm_of(const struct seg *s, uint32_t srqn)
{
	const struct hw_srq *srq = srqn == SEG_NONE ? NULL : hw_srq(s, srqn);

	return srq ? hw_tm(s, srq->tm) : NULL;
}

struct hw_tm_tag *tm_tag_at(struct hw_tm *tm, uint32_t idx)
{
	return &tm->tag[idx & ((1u << tm->log_size) - 1)];
}

/* ---- counts of unexpected messages */

/* If the program and the device have counted the same messages, entries may be matched. */
static uint64_t agreed(const struct hw_tm *tm, uint64_t w)
{
	if (HW_TM_HW(w) != HW_TM_SW(w) || HW_TM_CLAIMED(w))
		return w;
	return (w & 0xffffffffff) | (uint64_t)(atomic_load(&tm->seq) & 0xffffff) << 40;
}

/* Takes over the program's count of unexpected messages from a command. */
static void synchronize(struct hw_tm *tm, bool valid, uint32_t sw)
{
	uint64_t was = atomic_load(&tm->sync), to;

	do {
		to = valid ? (was & ~UINT64_C(0xffff0000)) | (uint64_t)(sw & 0xffff) << 16 : was;
		to = agreed(tm, to);
	} while (!atomic_compare_exchange_strong(&tm->sync, &was, to));
}

void tm_claim_end(struct hw_tm *tm, const struct hw_qp *qp, uint32_t k, bool written)
{
	uint64_t was = atomic_load(&tm->sync), to;

	do {
		to = (was & ~(0xf * HW_TM_VERSION)) | ((was + HW_TM_VERSION) & 0xf * HW_TM_VERSION);
		if (was & HW_TM_CLAIM(k)) {
			to = was & ~(HW_TM_CLAIM(k) | UINT64_C(0xffff));
			to = agreed(tm, to | ((HW_TM_HW(was) + written) & 0xffff));
		}
		if (!resp_is_ours(qp))
			return;
	} while (!atomic_compare_exchange_strong(&tm->sync, &was, to));
	POINT("tm-counted");
	if (resp_is_ours(qp))
		atomic_store(&tm->claim[k], 0);
}

int tm_claim_begin(struct hw_tm *tm, uint32_t qpn)
{
	for (int k = 0; k < HW_TM_CLAIMS; k++)
		if (atomic_compare_exchange_strong(&tm->claim[k], &(uint32_t){0}, qpn))
			return k;
	return -1;
}

/* ---- commands of the list */

/*
 * Renumbers the posted entries with numbers in (down_to, from]: they become `from`, `from` - 1 and
 * so on. It starts with the newest, so that the order is right at every moment. Returns how many.
 */
static uint32_t raise(struct hw_tm *tm, uint32_t from, uint32_t down_to)
{
	uint32_t n = 0, last = (from + 1) & 0xffffff;

	for (;; n++) {
		struct hw_tm_tag *t = NULL;
		uint64_t newest = 0;

		for (uint32_t i = 0; i < 1u << tm->log_size; i++) {
			uint64_t st = atomic_load(&tm->tag[i].state);

			if (HW_TM_KIND(st) != HW_TM_POSTED || !HW_TM_AFTER(last, HW_TM_SEQ(st)) ||
			    !HW_TM_AFTER(HW_TM_SEQ(st), down_to) ||
			    (t && HW_TM_AFTER(HW_TM_SEQ(newest), HW_TM_SEQ(st))))
				continue;
			t = &tm->tag[i];
			newest = st;
		}
		if (!t)
			return n;
		last = HW_TM_SEQ(newest);
		atomic_compare_exchange_strong(&t->state, &newest,
					       hw_tm_state(newest, HW_TM_POSTED, 0, from - n));
	}
}

/*
 * Numbers can be compared only within HW_TM_FAR, so entries that stay in the list move up behind
 * the newer ones. Entries that may not be matched yet go first: none may fall below the number up
 * to which entries may be matched.
 */
static void renumber(struct hw_tm *tm, uint32_t seq)
{
	uint64_t sync = atomic_load(&tm->sync), to;
	uint32_t synced = HW_TM_SYNCED(sync), n = raise(tm, seq, synced);

	do
		to = (sync & 0xffffffffff) | (uint64_t)((seq - n) & 0xffffff) << 40;
	while (HW_TM_SYNCED(sync) == synced &&
	       !atomic_compare_exchange_strong(&tm->sync, &sync, to));
	synced = HW_TM_SYNCED(atomic_load(&tm->sync));
	raise(tm, synced, synced - HW_TM_FAR);
}

static uint32_t append(struct eng_run *r, struct hw_tm *tm)
{
	const uint8_t *seg = r->wqe + WQE_SEG, *data = seg + LAYOUT_SZ(wqe_tm);
	uint32_t idx = tm->next & ((1u << tm->log_size) - 1);
	uint32_t seq = (atomic_load(&tm->seq) + 1) & 0xffffff;
	struct hw_tm_tag *t = &tm->tag[idx];
	uint64_t was;

	if (seq % HW_TM_RENUMBER == 0)
		renumber(tm, atomic_load(&tm->seq));
	was = atomic_load(&t->state);
	t->tag = LAYOUT_GET(wqe_tm, seg, tag);
	t->mask = LAYOUT_GET(wqe_tm, seg, mask);
	t->addr = LAYOUT_GET(wqe_data, data, addr);
	t->lkey = LAYOUT_GET32(wqe_data, data, lkey);
	t->len = LAYOUT_GET32(wqe_data, data, byte_count);
	tm->next = LAYOUT_GET32(wqe_tm, seg, index);
	while (!atomic_compare_exchange_strong(&t->state, &was,
					       hw_tm_state(was, HW_TM_POSTED, 0, seq)))
		;
	atomic_store(&tm->seq, seq);
	return idx;
}

/* Removes an entry. -EAGAIN: a message has taken it, but may still fail and return it. */
static int removed(struct hw_tm *tm, uint32_t idx)
{
	struct hw_tm_tag *t = tm_tag_at(tm, idx);
	uint64_t was = atomic_load(&t->state);

	while (HW_TM_KIND(was) == HW_TM_POSTED)
		if (atomic_compare_exchange_strong(&t->state, &was,
						   hw_tm_state(was, HW_TM_FREE, 0, HW_TM_SEQ(was))))
			return 1;
	return HW_TM_KIND(was) == HW_TM_FREE ? 0 : -EAGAIN;
}

/*
 * The same, after the message in hand of the QP that has the entry: its sender ends it, or is dead
 * or stopped and loses the lock, and with it the entry.
 */
static int removed_in_turn(struct eng_run *r, struct hw_tm *tm, uint32_t idx)
{
	uint32_t qpn = HW_TM_QPN(atomic_load(&tm_tag_at(tm, idx)->state));
	struct hw_qp *qp;
	int ok = removed(tm, idx);

	if (ok >= 0)
		return ok;
	qp = hw_qp(r->s, qpn);
	if (!qp || resp_lock(r->s, qp, qpn))
		return ok;
	resp_unlock(r->s, qp);
	return removed(tm, idx);
}

/* The answer, kept in byte_cnt until the CQE is written: the entry's index and success. */
#define ANSWER(idx, ok) ((uint32_t)(idx) | (uint32_t)(ok) << 16)
#define TOLD 0x80000000u /* the requester's CQE is written */

enum eng_out tm_execute(struct eng_run *r)
{
	const uint8_t *seg = r->wqe + WQE_SEG;
	struct hw_tm *tm = tm_of(r->s, r->qp->srqn);
	uint32_t op, idx, need = WQE_SEG + LAYOUT_SZ(wqe_tm);
	int ok = 1;

	r->why = ENG_W_OPCODE;
	if (!tm)
		return ENG_FAILED;
	r->why = ENG_W_WQE_MALFORMED;
	if (r->bytes < need)
		return ENG_FAILED;
	op = LAYOUT_GET32(wqe_tm, seg, opcode);
	if (op == WQE_TM_APPEND)
		need += LAYOUT_SZ(wqe_data);
	if (op > WQE_TM_REMOVE || r->bytes < need)
		return ENG_FAILED;
	if (op == WQE_TM_APPEND &&
	    HW_TM_KIND(atomic_load(&tm_tag_at(tm, tm->next)->state)) == HW_TM_POSTED)
		return ENG_FAILED;
	r->why = ENG_W_NONE;
	idx = LAYOUT_GET32(wqe_tm, seg, index);
	if (op == WQE_TM_APPEND)
		idx = append(r, tm);
	else if (op == WQE_TM_REMOVE)
		ok = removed_in_turn(r, tm, idx);
	if (ok < 0) /* wait: programs take a failed REMOVE as a promise of the entry's completion */
		return ENG_LOCKED;
	synchronize(tm, LAYOUT_GET(wqe_tm, seg, sw_cnt_valid), LAYOUT_GET32(wqe_tm, seg, sw_cnt));
	r->byte_cnt = ANSWER(idx, ok);
	return ENG_DONE;
}

/* The one in the XRQ's CQ. */
static int told(struct seg *s, struct hw_qp *qp, uint32_t qpn, uint32_t ci, const uint8_t *wqe,
		uint32_t done)
{
	static const uint8_t ops[] = {[WQE_TM_NOP] = CQE_TM_NOOP,
				      [WQE_TM_APPEND] = CQE_TM_APPEND,
				      [WQE_TM_REMOVE] = CQE_TM_REMOVE};
	const struct hw_tm *tm = tm_of(s, qp->srqn);
	const struct hw_srq *srq = tm ? hw_srq(s, qp->srqn) : NULL;
	uint64_t w = tm ? atomic_load(&tm->sync) : 0;
	/*
	 * Count messages with open claims, too: they may hold back a new entry, and the program
	 * must see that its own count differs.
	 */
	int open = __builtin_popcount(HW_TM_CLAIMED(w));
	struct eng_cqe c;

	if (!srq || !LAYOUT_GET(wqe_tm, wqe + WQE_SEG, cqe_req))
		return 0;
	cqe_init(&c, CQE_NO_PACKET, qp, qpn, ci);
	LAYOUT_SET(cqe64, c.b, srqn_uidx, srq->user_index & 0xffffff);
	LAYOUT_SET(cqe64, c.b, app, CQE_APP_TAG_MATCHING);
	LAYOUT_SET(cqe64, c.b, app_op, ops[LAYOUT_GET(wqe_tm, wqe + WQE_SEG, opcode) % 3]);
	LAYOUT_SET(cqe64, c.b, app_info, done & 0xffff);
	LAYOUT_SET(tm_cqe, c.b, success, done >> 16 & 1);
	LAYOUT_SET(tm_cqe, c.b, hw_phase_cnt, (HW_TM_HW(w) + (uint32_t)open) & 0xffff);
	return cq_push(s, srq->cqn, &c, false);
}

int tm_complete(struct seg *s, struct hw_qp *qp, uint32_t qpn, uint32_t ci, const uint8_t *wqe,
		uint32_t *done)
{
	struct eng_cqe c;
	int rc;

	if (LAYOUT_GET32(wqe_ctrl, wqe, ce) >= WQE_CE_ALWAYS && !(*done & TOLD)) {
		cqe_init(&c, CQE_REQ, qp, qpn, ci);
		LAYOUT_SET(cqe64, c.b, send_opcode, WQE_OP_TAG_MATCHING);
		rc = cq_push(s, qp->cqn_snd, &c, false);
		if (rc)
			return rc;
		*done |= TOLD;
	}
	return told(s, qp, qpn, ci, wqe, *done);
}
