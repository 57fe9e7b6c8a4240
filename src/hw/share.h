/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parts of open files in what they share. Who may write what: hw/flags.h. */
#ifndef SOFTHCA_HW_SHARE_H
#define SOFTHCA_HW_SHARE_H

#include "hw/evtarget.h"
#include "segment/seg.h"

/*
 * An open file's part in something that outlives its maker as long as anybody shares it (verbs' XRC
 * domains by inode, XRC target QPs): the element belongs to one of the sharers, and passes to
 * another when that one goes. Made and ended under hw_hca.share_lock.
 */
struct hw_share {
	uint32_t gen, flags;
	uint32_t hca;
	uint32_t table, idx;      /* SEG_T_XRCD or SEG_T_QP */
	uint32_t slot;            /* whose device thread pays the events that are owed */
	struct hw_evtarget async; /* of a QP */
} SEG_ELEM;

#endif
