/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shares of open files in common objects. hw/flags.h says who may write which field. */
#ifndef SOFTHCA_HW_SHARE_H
#define SOFTHCA_HW_SHARE_H

#include "hw/evtarget.h"
#include "segment/seg.h"

/*
 * The share of an open file in an object that lives as long as any file shares it (XRC domains by
 * inode, XRC target QPs). One of the sharers owns the object; ownership passes on when that one
 * closes. Made and ended under hw_hca.share_lock.
 */
struct hw_share {
	uint32_t gen, flags;
	uint32_t hca;
	uint32_t table, idx;      /* SEG_T_XRCD or SEG_T_QP */
	uint32_t slot;            /* process whose device thread pays owed events */
	struct hw_evtarget async; /* of a shared QP: the queue for its events */
} SEG_ELEM;

#endif
