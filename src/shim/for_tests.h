/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Exported for tests alone: the code of the layers does not call these. */
#ifndef SOFTHCA_SHIM_FOR_TESTS_H
#define SOFTHCA_SHIM_FOR_TESTS_H

#include <stdint.h>

/* A doorbell without a signal frame, for code that knows the UAR (`be`: the value as in memory). */
void trap_ring(uint32_t uar, uint32_t offset, uint64_t be);

#endif
