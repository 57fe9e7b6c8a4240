/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The meaning of the bits of a ComponentMask, for each SA record. Called by the SA and by traces.
 */
#ifndef SOFTHCA_WIRE_MAD_SA_COMP_H
#define SOFTHCA_WIRE_MAD_SA_COMP_H

#include "wire/mad/sa.h"

struct sa_component {
	const char *name; /* NULL: reserved */
	uint16_t bit;     /* from the start of the record */
	uint16_t width;   /* more than 64 bits: a GID, a table or a text */
};

struct sa_record {
	uint16_t attr_id; /* enum sa_attr */
	const struct sa_component *component;
	uint32_t n; /* number of bits in the mask */
};

/* The components of an SA record; NULL: no such record. */
const struct sa_record *sa_record(uint16_t attr_id);
/*
 * Are all components in the mask equal in both records? Reserved ones count as equal. Selectors are
 * compared as numbers: callers that mean "greater than" leave the selector and its value out of the
 * mask.
 */
bool sa_match(const struct sa_record *r, uint64_t mask, const void *want, const void *have);

#endif
