/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How the command of `run` has ended, and why, for programs: the file of --report. `softhca world
 * --all` reads it.
 */
#ifndef SOFTHCA_CLI_OUTCOME_H
#define SOFTHCA_CLI_OUTCOME_H

#include <stdbool.h>
#include <sys/types.h>

struct json_object;
struct pair;
struct sup;

struct outcome {
	int status; /* result of waitpid */
	bool timed_out;
	const struct pair *pair;   /* NULL: it was one command */
	bool opened;               /* a process has opened a device */
	struct json_object *stood; /* where processes were when the time was over; NULL: nobody
				      has looked */
};

/*
 * Writes it. `before` and `after`: as use_counts() makes them, NULL: unknown. Releases o->stood. 0;
 * PROG_FAILED after a message.
 */
int outcome_write(const char *file, struct outcome *o, struct json_object *before,
		  struct json_object *after);
/*
 * An array of lines: where each process of the fabric is, its system call and what its queues wait
 * for; without any, where process `command` is. `sup` NULL: its fabric is another one's. (stood.c)
 */
struct json_object *stood_at(struct sup *sup, pid_t command);

#endif
