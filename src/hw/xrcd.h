/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* XRC domains. hw/flags.h says who may write which field. */
#ifndef SOFTHCA_HW_XRCD_H
#define SOFTHCA_HW_XRCD_H

#include "segment/seg.h"

struct hw_xrcd {
	uint32_t gen, flags;
	uint32_t hca, uid;
	_Atomic uint32_t refs; /* SRQs and QPs of this domain */
	/*
	 * The file that names a domain shared by open files: device, inode, and birth time of the
	 * inode, because an inode number may be reused. `keyed` is stored last.
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
