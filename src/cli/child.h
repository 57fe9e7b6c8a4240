/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What `run` gives to its command: the environment with the preloaded library, and exec. */
#ifndef SOFTHCA_CLI_CHILD_H
#define SOFTHCA_CLI_CHILD_H

#include <signal.h>
#include <sys/resource.h>
#include "cli/cli.h"

#include <sys/types.h>

/* What this program changes for itself and the command must not inherit. */
struct child_state {
	sigset_t mask;
	struct sigaction chld, pipe, xfsz;
	struct rlimit nofile;
	mode_t umask;
};

/* Put ourselves into the state that a supervisor wants: signals of interest in *handled blocked. */
void child_save_state(struct child_state *st, const sigset_t *handled);
void child_restore_state(const struct child_state *st);

/*
 * Set the environment of the command: SOFTHCA_*, LD_PRELOAD, ASAN_OPTIONS. `dir`: the fabric's
 * directory (a link to the library is made there when its own path cannot be in LD_PRELOAD).
 * 0; PROG_FAILED after a message.
 */
int child_environment(const struct cli_options *o, const char *dir, const char *host);
/* Says so on standard error when a program cannot have the preloaded library in it (elf.c). */
void child_check_program(const char *command);
/* Never returns: exec, or exit with CLI_NOT_FOUND or CLI_CANNOT_RUN after a message. */
void child_exec(char **argv) __attribute__((noreturn));

#endif
