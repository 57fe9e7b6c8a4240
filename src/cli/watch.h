/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Watching a fabric from outside: its memory, and the wait until a signal or the fabric's end. */
#ifndef SOFTHCA_CLI_WATCH_H
#define SOFTHCA_CLI_WATCH_H

#include <signal.h>
#include "cli/cli.h"
#include "segment/seg.h"

/* Maps the segment of the fabric that the options name. 0; PROG_FAILED after a message. */
int watch_begin(const struct cli_options *o, struct seg *s);
/* Blocks the signals that end a command, and SIGCHLD. */
void watch_signals(sigset_t *set, sigset_t *old);
/* Has the fabric ended? */
bool watch_over(const struct seg *s);
/* Returns when such a signal comes, when the fabric ends, or `stuck` says so. */
void watch_wait(const struct seg *s, const sigset_t *set, bool (*stuck)(void *ctx), void *ctx);
/* The same; returns false when the time `until` (clock_now_ns()) comes first. */
bool watch_until(const struct seg *s, const sigset_t *set, bool (*stuck)(void *ctx), void *ctx,
		 uint64_t until);

#endif
