/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the list of the segment's tables and their capacities. seg.c reads it, and knows no other
 * type of element than its own.
 */
#include "hw/cap.h"
#include "hw/cq.h"
#include "hw/evq.h"
#include "hw/evsub.h"
#include "hw/fab.h"
#include "hw/fault.h"
#include "hw/hca.h"
#include "hw/mad.h"
#include "hw/mcg.h"
#include "hw/memic.h"
#include "hw/mkey.h"
#include "hw/obj.h"
#include "hw/pd.h"
#include "hw/port.h"
#include "hw/qctr.h"
#include "hw/qp.h"
#include "hw/rq_ahead.h"
#include "hw/share.h"
#include "hw/srq.h"
#include "hw/tm.h"
#include "hw/told.h"
#include "hw/uar.h"
#include "hw/umem.h"
#include "hw/use.h"
#include "hw/xrcd.h"
#include "hw/zip.h"
#include "segment/adopt.h"
#include "segment/mem.h"
#include "segment/proc.h"
#include "segment/rank.h"
#include "segment/slot.h"
#include "segment/table.h"

#include <assert.h>

#define K 1024u
#define M (1024u * 1024u)

/* About 5.8 GiB in all, sparse; SUPPORT.md 1 and test_table.c contain the number, too. */
#define ROW(id, type, capacity, first) [SEG_T_##id] = {(capacity), sizeof(struct type), (first)},
const struct seg_table_row seg_table_rows[SEG_T_COUNT] = {SEG_TABLES(ROW)};

/* The order of locks. A thread has one of each row at most. */
#define LOCK(id, type, lock)                                             \
	{                                                                \
		SEG_T_##id, offsetof(struct type, lock), #type "." #lock \
	}
const struct seg_lock_row seg_lock_rows[] = {
	LOCK(HCA, hw_hca, reap_lock),
	LOCK(HCA, hw_hca, share_lock),
	LOCK(HCA, hw_hca, lock),
	LOCK(MSEND, mad_send, pump),
	LOCK(SUBNET, fab_subnet, lock),
	LOCK(NODE, fab_node, lock),
	LOCK(SUBNET, fab_subnet, link_lock),
	LOCK(MRECV, mad_recv, lock),
	LOCK(QP, hw_qp, sq_lock),
	LOCK(QP, hw_qp, rq_lock),
	LOCK(SRQ, hw_srq, lock),
	LOCK(WORD, seg_word, lock),
	LOCK(CQ, hw_cq, lock),
	LOCK(EVTAB, seg_evhash, lock),
	LOCK(EVTAB, seg_evhash, around),
	LOCK(EVQ, seg_evq, lock),
	{0},
};

#define CHECK_ELEM(id, type, capacity, first) \
	static_assert(sizeof(struct type) % 64 == 0, #type " wants SEG_ELEM");
SEG_TABLES(CHECK_ELEM)
static_assert(4 * K * HW_MCG_TAGS >= 64 * K, "each attachment has a tag");
