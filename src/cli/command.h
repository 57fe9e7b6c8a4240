/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The command of `run` as a child process: its signals, its stops, its end, its time limit. */
#ifndef SOFTHCA_CLI_COMMAND_H
#define SOFTHCA_CLI_COMMAND_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct child_state;
struct cli_options;

struct command {
	int fd; /* signalfd(2) of the signals below */
	pid_t pid;
	bool ended;
	bool alone; /* no process that the command started is our child any more */
	bool hurry; /* a signal came after the command's end: do not wait for its descendants */
	bool asked; /* to end: by a signal that we have passed on */
	int status; /* result of waitpid */
	struct pair *pair; /* with --pair; NULL */
};

/* The signals that command_read() handles; they must be blocked. */
void command_signals(sigset_t *set);
/* Watch for these signals. 0; PROG_FAILED after a message. */
int command_init(struct command *c, const sigset_t *handled);
/*
 * `netns`: the network namespace that it enters, -1 none. 0; PROG_FAILED after a message. With
 * --timeout its orphans become our children.
 */
int command_start(struct command *c, const struct cli_options *o, const struct child_state *st,
		  int netns);
/* The signalfd is readable. */
void command_read(struct command *c);
/* Waits until a signal comes or the time has come (clock_now_ns). */
void command_wait(struct command *c, uint64_t deadline);
/* End as the command did: returns its exit status, or its signal ends this process. */
int command_end_like(int status, const struct child_state *st);

/*
 * Sends a signal, 0 none, to all descendants of this process but `except` (0: all). Returns how
 * many there are. (tree.c)
 */
unsigned int tree_signal(int sig, pid_t except);
/* All descendants of this process, at most `room`; how many. */
unsigned int tree_pids(pid_t *pids, unsigned int room);

#endif
