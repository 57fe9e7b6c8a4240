/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the ring of captured packets. Writers: the engine and umad, in any process, also in a trap;
 * the reader: `softhca pcap`.
 */
#include "hw/cap.h"

#include <errno.h>
#include <string.h>
#include "util/clock.h"
#include "util/sys.h"

#define STUCK_NS NSEC_PER_SEC /* a writer that takes longer counts as dead */

static struct seg_cap *ctl(const struct seg *s)
{
	return seg_at(s, SEG_T_CAP, 1);
}

static struct seg_cap_rec *slot(const struct seg *s, uint64_t pos)
{
	return seg_at(s, SEG_T_CAPREC, (uint32_t)(pos % CAP_SLOTS));
}

/* ---- writers */

struct seg_cap_rec *cap_get(const struct seg *s, uint64_t *had)
{
	struct seg_cap *c = ctl(s);
	uint64_t pos = atomic_load(&c->head);

	for (;;) {
		struct seg_cap_rec *r = slot(s, pos);
		uint64_t want = pos / CAP_SLOTS * 2;
		uint64_t turn = atomic_load_explicit(&r->turn, memory_order_acquire);

		if (turn == want) {
			*had = want;
			if (atomic_compare_exchange_weak(&c->head, &pos, pos + 1))
				return r;
			continue;
		}
		if (turn < want) {
			atomic_fetch_add(&c->lost, 1);
			return NULL;
		}
		pos = atomic_load(&c->head);
	}
}

void cap_put(struct seg_cap_rec *r, uint64_t turn)
{
	/* The turn has changed: the reader has given this slot up. */
	atomic_compare_exchange_strong(&r->turn, &turn, turn + 1);
}

void cap_rule(const struct seg *s, const char *text)
{
	uint64_t turn;
	struct seg_cap_rec *rec = cap_get(s, &turn);
	struct timespec ts;

	if (!rec)
		return;
	clock_gettime(CLOCK_REALTIME, &ts);
	rec->pkt = (struct pkt){
		.mark = PKT_RULE,
		.time_ns = (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec,
		.kept = (uint32_t)strnlen(text, PKT_MAX_PAYLOAD - 1),
	};
	memcpy(rec->payload, text, rec->pkt.kept);
	rec->payload[rec->pkt.kept] = '\0';
	cap_put(rec, turn);
}

uint32_t cap_snap(const struct seg *s, uint32_t len)
{
	uint32_t snap = atomic_load_explicit(&ctl(s)->snap, memory_order_relaxed);

	if (snap > PKT_MAX_PAYLOAD)
		snap = PKT_MAX_PAYLOAD;
	return len < snap ? len : snap;
}

/* ---- the reader */

const struct seg_cap_rec *cap_first(struct seg *s)
{
	struct seg_cap *c = ctl(s);

	for (;;) {
		uint64_t pos = atomic_load(&c->tail), want = pos / CAP_SLOTS * 2;
		struct seg_cap_rec *r = slot(s, pos);
		uint64_t turn = atomic_load_explicit(&r->turn, memory_order_acquire);

		if (turn == want + 1)
			return r;
		if (pos >= atomic_load(&c->head))
			return NULL;
		if (c->stuck_at != pos + 1) {
			c->stuck_at = pos + 1;
			c->stuck_since = clock_now_ns();
			return NULL;
		}
		if (clock_now_ns() - c->stuck_since < STUCK_NS)
			return NULL;
		/* The writer of this slot is dead: skip the slot. */
		if (atomic_compare_exchange_strong(&r->turn, &want, want + 2)) {
			atomic_store(&c->tail, pos + 1);
			atomic_fetch_add(&c->lost, 1);
		}
	}
}

void cap_next(struct seg *s)
{
	struct seg_cap *c = ctl(s);
	uint64_t pos = atomic_load(&c->tail);

	atomic_store_explicit(&slot(s, pos)->turn, pos / CAP_SLOTS * 2 + 2, memory_order_release);
	atomic_store(&c->tail, pos + 1);
}

bool cap_empty(const struct seg *s)
{
	return atomic_load(&ctl(s)->tail) >= atomic_load(&ctl(s)->head);
}

uint64_t cap_lost(struct seg *s)
{
	return atomic_exchange(&ctl(s)->lost, 0);
}

static void cap_drain(struct seg *s)
{
	while (cap_first(s))
		cap_next(s);
	cap_lost(s);
}

int cap_start(struct seg *s, uint32_t snap)
{
	struct seg_cap *c = ctl(s);
	uint32_t was = atomic_load(&c->reader);

	if (was && sys_raw(SYS_kill, (long)was, 0, 0, 0, 0, 0) != -ESRCH)
		return -EBUSY;
	if (!atomic_compare_exchange_strong(&c->reader, &was, (uint32_t)sys_getpid()))
		return -EBUSY;
	cap_drain(s);
	atomic_store(&c->snap, snap);
	atomic_store(&s->hdr->capture, 1);
	return 0;
}

void cap_stop(struct seg *s)
{
	atomic_store(&s->hdr->capture, 0);
}

void cap_finish(struct seg *s)
{
	struct seg_cap *c = ctl(s);

	cap_stop(s);
	cap_drain(s);
	atomic_store(&c->reader, 0);
}
