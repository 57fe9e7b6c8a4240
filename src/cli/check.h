/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `softhca check`: the reports of a command's processes, as they come, and what they come to. */
#ifndef SOFTHCA_CLI_CHECK_H
#define SOFTHCA_CLI_CHECK_H

#include "check/rows.h"
#include "cli/cli.h"

struct check_reader;

/* Reads the options --suppress, --json. NULL after a message. */
struct check_reader *check_begin(const struct cli_options *o);
/* A line of the command's trace, in any thread, one at a time. */
void check_line(void *reader, const char *line);
/* What programs of a fabric that ends have left. */
void check_left(struct check_reader *c, const struct seg *s);
/*
 * The command has ended: says how much was found. The exit status that --fail-exit asks for; 0: the
 * command's own; PROG_FAILED after a message. Frees the reader.
 */
int check_end(struct check_reader *c, const struct cli_options *o);

#endif
