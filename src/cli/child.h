/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The command that `run` starts: its environment with the preloaded library, and exec. */
#ifndef SOFTHCA_CLI_CHILD_H
#define SOFTHCA_CLI_CHILD_H

#include <limits.h>
#include <signal.h>
#include <sys/resource.h>
#include "cli/cli.h"

#include <sys/types.h>

/* State that this program changes for itself and that the command must not inherit. */
struct child_state {
	sigset_t mask;
	struct sigaction chld, pipe, xfsz;
	struct rlimit nofile;
	mode_t umask;
};

/* Set up signals for a supervisor: block those of interest in *handled. */
void child_save_state(struct child_state *st, const sigset_t *handled);
void child_restore_state(const struct child_state *st);

/*
 * Set the environment of the command: SOFTHCA_*, LD_PRELOAD, ASAN_OPTIONS. `dir`: the fabric's
 * directory (a link to the library is made there when its own path cannot be in LD_PRELOAD).
 * 0; PROG_FAILED after a message.
 */
int child_environment(const struct cli_options *o, const char *dir, const char *host);
/*
 * The reason why the library cannot be preloaded into the command, or NULL (elf.c). `name`: the
 * command, or the interpreter of a script.
 */
const char *child_why_not(const char *command, char name[PATH_MAX]);
/* Never returns: exec, or exit with CLI_NOT_FOUND or CLI_CANNOT_RUN after a message. */
void child_exec(char **argv) __attribute__((noreturn));

#endif
