/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `softhca world --all`: a run of the command in each world (worlds.c), and what became of it. */
#ifndef SOFTHCA_CLI_WORLDS_H
#define SOFTHCA_CLI_WORLDS_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include "cli/cli.h"
#include "world/world.h"

#define WORLDS_DEFAULT "default" /* the usual host */
#define WORLDS_SKIP 77           /* exit status of a command that lacks something, as automake's */
#define WORLDS_OUTPUT (1u << 20) /* bytes of a command's output that are kept, the last ones */

enum worlds_result {
	WORLDS_PASSED,
	WORLDS_UNUSED, /* passed, and opened no adapter */
	WORLDS_SKIPPED,
	WORLDS_FAILED,
	WORLDS_HUNG,
	WORLDS_RESULTS
};

struct worlds_run {
	const struct world_row *row; /* NULL: the usual host */
	char unfit[WORLD_UNFIT];     /* why it is not run; "": it is */
	pid_t pid;                   /* of its `softhca run`; 0: not started, or it has ended */
	int out;                     /* what it prints, a pipe; -1 */
	int report;                  /* its --report, a memfd; -1 */
	char *text;                  /* what it has printed */
	size_t len;
	bool cut; /* more than that */
	uint64_t began, ended;
	bool done;
	int waited; /* result of waitpid */
	/* by worlds_judge() */
	enum worlds_result result;
	int status, signal;        /* -1, 0: it has none */
	char *last;                /* the last line that the command has printed */
	char *said;                /* the last line of softhca itself; NULL: none */
	struct json_object *known; /* the report; NULL: there is none */
	const char *cause;         /* what softhca knows of the failure; NULL: nothing */
	bool usual_bad;            /* the usual host fails as well */
};

/* Does the exit status of `world --all` tell of it? */
static inline bool worlds_bad(const struct worlds_run *w)
{
	return w->result == WORLDS_FAILED || w->result == WORLDS_HUNG;
}
/* Is the world the cause, as far as can be told? */
static inline bool worlds_blamed(const struct worlds_run *w)
{
	return worlds_bad(w) && w->row && !w->usual_bad;
}
const char *worlds_name(const struct worlds_run *w);
/* Finds out what became of a run that is done. */
void worlds_judge(struct worlds_run *w);
void worlds_print(const struct worlds_run *w, int width, bool verbose);
void worlds_print_sum(const struct worlds_run *w, size_t n);
/*
 * 0; PROG_FAILED after a message. "-" is standard output. `output`: with what the commands have
 * printed.
 */
int worlds_write_json(const char *file, const struct worlds_run *w, size_t n, bool output);
int worlds_write_junit(const char *file, const struct cli_options *o, const struct worlds_run *w,
		       size_t n);

#endif
