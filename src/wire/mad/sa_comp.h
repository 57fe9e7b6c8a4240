/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the bits of a ComponentMask stand for, record by record. Called by the SA and by traces. */
#ifndef SOFTHCA_WIRE_MAD_SA_COMP_H
#define SOFTHCA_WIRE_MAD_SA_COMP_H

#include "wire/mad/sa.h"

struct sa_component {
	const char *name; /* NULL: reserved */
	uint16_t bit;     /* from the begin of the record */
	uint16_t width;   /* more than 64: a GID, a table, a text */
};

struct sa_record {
	uint16_t attr_id; /* enum sa_attr */
	const struct sa_component *component;
	uint32_t n; /* the bits of the mask */
};

/* NULL: no such record. */
const struct sa_record *sa_record(uint16_t attr_id);
/*
 * Are all components of the mask the same in both records? Reserved ones are. Selectors are
 * compared as numbers: whoever means "greater than" leaves them and their values out of the mask.
 */
bool sa_match(const struct sa_record *r, uint64_t mask, const void *want, const void *have);

#endif
