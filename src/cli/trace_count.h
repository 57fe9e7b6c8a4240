/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The counts of a trace: calls, errors and time by topic and name. trace_read.c fills it. */
#ifndef SOFTHCA_CLI_TRACE_COUNT_H
#define SOFTHCA_CLI_TRACE_COUNT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "cli/cli.h"

struct trace_counts {
	void *tree; /* tsearch(3) */
	size_t n;
};

/* False: no memory. */
bool trace_count(struct trace_counts *t, const char *topic, const char *name, bool failed,
		 uint64_t ns);
/* Writes the table, or JSON. */
void trace_counts_write(const struct trace_counts *t, FILE *f, enum trace_sort by, bool json);
void trace_counts_free(struct trace_counts *t);

#endif
