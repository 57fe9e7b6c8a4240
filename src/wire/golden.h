/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The types of the golden vectors (golden_*.h). */
#ifndef SOFTHCA_WIRE_GOLDEN_H
#define SOFTHCA_WIRE_GOLDEN_H

#include <stddef.h>
#include <stdint.h>

struct golden_field {
	const char *name;
	uint64_t value;
};

#endif
