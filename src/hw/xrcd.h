/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* XRC domains. Who may write what: hw/flags.h. */
#ifndef SOFTHCA_HW_XRCD_H
#define SOFTHCA_HW_XRCD_H

#include "segment/seg.h"

struct hw_xrcd {
	uint32_t gen, flags;
	uint32_t hca, uid;
	_Atomic uint32_t refs; /* SRQs and QPs in it */
	/*
	 * The file that stands for it, of a domain that open files share: device, inode, and the
	 * inode's birth, as a number may come back when the file is gone. `keyed` is stored last.
	 */
	uint32_t dev_major, dev_minor;
	uint64_t ino, born;
	_Atomic uint32_t keyed;
} SEG_ELEM;

static inline struct hw_xrcd *hw_xrcd(const struct seg *s, uint32_t i)
{
	return seg_live(s, SEG_T_XRCD, i);
}

#endif
