/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef SOFTHCA_UCMA_TRACE_H
#define SOFTHCA_UCMA_TRACE_H

#include "ucma/abi.h"

/* A command of `len` bytes (header first), its result (0 or -errno) and `n` bytes of response. */
void ucma_trace(const void *in, size_t len, int result, const void *out, size_t n);

#endif
