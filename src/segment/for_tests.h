/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Exported for tests alone: the code of the layers does not call these. */
#ifndef SOFTHCA_SEGMENT_FOR_TESTS_H
#define SOFTHCA_SEGMENT_FOR_TESTS_H

#include "segment/seg.h"

/* What has the lock that mem_atomic() takes; it takes it over from a stopped holder (qlock.h). */
struct seg_word *mem_word(const struct seg *s, uint64_t va);

#endif
