/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `run --pair SERVER`: a server, and when it is ready the command, which is its client. */
#ifndef SOFTHCA_CLI_PAIR_H
#define SOFTHCA_CLI_PAIR_H

#include <signal.h>
#include <stdbool.h>
#include "cli/cli.h"

enum pair_stage { PAIR_SERVER, PAIR_BOTH };

/* What `run` reads of it; shared memory, because both ends are children of another process. */
struct pair {
	volatile enum pair_stage stage;
	struct pair_end {
		volatile bool ended, stopped; /* stopped: because the other end has failed */
		volatile int status;          /* result of waitpid */
	} server, client;
};

/* NULL: there is no memory. */
struct pair *pair_new(void);
/*
 * In a child of `run`, in the command's environment: runs both. Ends like the end that has failed,
 * or with 0.
 */
void pair_run(const struct cli_options *o, struct pair *p) __attribute__((noreturn));
/* "the server: exit status 3"; "" when both have ended well. */
void pair_text(const struct pair *p, char *text, size_t size);

#endif
