/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One line when the command of `run`, or a program that it started, could not see the adapters. */
#ifndef SOFTHCA_CLI_LOST_H
#define SOFTHCA_CLI_LOST_H

#include <stdbool.h>
#include "cli/cli.h"

struct lost {
	const struct cli_options *o;
	const char *dir; /* the fabric's */
	int notes;       /* segment/note.h; < 0: none arrive */
};

/* The caller calls this before the command starts. `dir`: the fabric's directory. */
void lost_begin(struct lost *l, const struct cli_options *o, const char *dir);
/*
 * The caller calls this after the command's end, with its wait status. `joined`: a process has
 * opened a device.
 */
void lost_end(struct lost *l, bool joined, int status);
/* For a command that nobody waits for: reports, before it starts, what is already known to fail. */
void lost_at_once(const struct cli_options *o);

#endif
