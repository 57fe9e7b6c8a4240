/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * CQE compression: what an adapter keeps of a CQ that has it. hw/flags.h says who may write which
 * field; the CQ's lock guards all of it.
 */
#ifndef SOFTHCA_HW_ZIP_H
#define SOFTHCA_HW_ZIP_H

#include "segment/seg.h"

/* CQEs of one session; its mini arrays and its title fit one gated copy (segment/gate.h). */
#define HW_ZIP_MAX 32
/* More than one session, because the CQE behind a full one is kept before that is written. */
#define HW_ZIP_KEPT 64

struct hw_zip_cqe {
	uint8_t b[64];
	_Atomic uint32_t index; /* in the CQ, free running; written last */
	uint32_t pad;
};

/* The file owns it until its CQ refers to it, then the device does, and it is freed with the CQ. */
struct hw_zip {
	uint32_t gen, flags;
	uint32_t hca;
	uint32_t format; /* enum prm_mini_cqe_format */
	uint32_t cqn, cq_gen;
	/*
	 * [cq] Index behind the last CQE kept. Those from hw_cq.pi on wait: the program does not
	 * see them yet.
	 */
	_Atomic uint32_t end;
	struct hw_zip_cqe cqe[HW_ZIP_KEPT]; /* [cq] index % HW_ZIP_KEPT */
} SEG_ELEM;

static inline struct hw_zip *hw_zip(const struct seg *s, uint32_t i)
{
	return seg_live(s, SEG_T_ZIP, i);
}

#endif
