/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tag lists of XRQs with tag matching. hw/flags.h says who may write which field. */
#ifndef SOFTHCA_HW_TM_H
#define SOFTHCA_HW_TM_H

#include "segment/seg.h"

#include <stdatomic.h>

#define HW_TM_LOG_LIST 7 /* capability log_tag_matching_list_sz */

/*
 * hw_tm_tag.state: the kind (2 bits), a version (14), the QP that has taken the entry (24), the
 * number of its append (24). Each change is a compare-and-swap that raises the version, so that a
 * stopped thread's late one fails.
 */
enum { HW_TM_FREE, HW_TM_POSTED, HW_TM_TAKEN, HW_TM_FETCHED };
#define HW_TM_KIND(w) ((uint32_t)(w)&3)
#define HW_TM_QPN(w) ((uint32_t)((w) >> 16) & 0xffffff)
#define HW_TM_SEQ(w) ((uint32_t)((w) >> 40))
#define HW_TM_AFTER(a, b) ((int32_t)(((a) - (b)) << 8) > 0) /* of two numbers of appends */
#define HW_TM_FAR 0x7fffffu
#define HW_TM_RENUMBER 0x100000u /* after so many appends, old entries get new numbers */

static inline uint64_t hw_tm_state(uint64_t was, uint32_t kind, uint32_t qpn, uint32_t seq)
{
	return (uint64_t)seq << 40 | (uint64_t)(qpn & 0xffffff) << 16 | ((was + 4) & 0xfffc) | kind;
}

struct hw_tm_tag {
	_Atomic uint64_t state;
	uint64_t tag, mask; /* as in the WQE */
	uint64_t addr;
	uint32_t lkey, len; /* of its data segment */
	uint32_t fetched;   /* bytes that a rendezvous has brought; FETCHED */
};

/*
 * hw_tm.sync: unexpected messages as the device counts them (16 bits) and as the program does (16);
 * which claims are in work (4); a version, for claims that a stopped thread would make late (4);
 * entries up to this number may be taken (24).
 */
#define HW_TM_CLAIMS 4
#define HW_TM_VERSION (UINT64_C(1) << 36)
#define HW_TM_HW(w) ((uint32_t)(w)&0xffff)
#define HW_TM_SW(w) ((uint32_t)((w) >> 16) & 0xffff)
#define HW_TM_CLAIM(k) (UINT64_C(1) << (32 + (k)))
#define HW_TM_CLAIMED(w) ((uint32_t)((w) >> 32) & 0xf)
#define HW_TM_SYNCED(w) ((uint32_t)((w) >> 40))

/*
 * Commands of the list change it under the send queue's lock of the QP that they come by. The
 * oldest entry that matches is taken. Entries may be taken that came when program and device had
 * counted as many unexpected messages, and none was being delivered.
 */
struct hw_tm {
	uint32_t gen, flags;
	uint32_t hca;
	uint32_t srqn, srq_gen; /* of its XRQ */
	uint32_t log_size;
	uint32_t next; /* the entry of the next append (append_next_index) */
	_Atomic uint32_t seq;
	_Atomic uint64_t sync;
	_Atomic uint32_t claim[HW_TM_CLAIMS]; /* the QP that receives an unexpected message */
	struct hw_tm_tag tag[1 << HW_TM_LOG_LIST];
} SEG_ELEM;

/* Numbers begin with gen, so that a stopped thread's late step does not fit a later list. */
static inline void hw_tm_begin(struct hw_tm *tm)
{
	uint32_t seq = tm->gen * 4099 & 0xffffff;

	atomic_store(&tm->seq, seq);
	atomic_store(&tm->sync, (uint64_t)seq << 40 | (tm->gen & 0xf) * HW_TM_VERSION);
	for (uint32_t i = 0; i < 1u << HW_TM_LOG_LIST; i++)
		atomic_store(&tm->tag[i].state, hw_tm_state(tm->gen * 16, HW_TM_FREE, 0, seq));
}

static inline struct hw_tm *hw_tm(const struct seg *s, uint32_t i)
{
	return i ? seg_live(s, SEG_T_TM, i) : NULL;
}

#endif
