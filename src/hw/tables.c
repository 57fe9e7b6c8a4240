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
#include "segment/slot.h"
#include "segment/table.h"

#include <assert.h>

#define K 1024u
#define M (1024u * 1024u)

/* About 5.8 GiB in all, sparse; SUPPORT.md 1 and test_table.c contain the number, too. */
#define ROW(id, type, capacity, first) [SEG_T_##id] = {(capacity), sizeof(struct type), (first)},
const struct seg_table_row seg_table_rows[SEG_T_COUNT] = {SEG_TABLES(ROW)};

#define CHECK_ELEM(id, type, capacity, first) \
	static_assert(sizeof(struct type) % 64 == 0, #type " wants SEG_ELEM");
SEG_TABLES(CHECK_ELEM)
static_assert(4 * K * HW_MCG_TAGS >= 64 * K, "each attachment has a tag");
