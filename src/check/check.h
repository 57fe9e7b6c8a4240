/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reports of `softhca check`: trace lines of the topic `check`, which the command reads, completes
 * by the rule's row and by symbols, and prints. The device finds them where it knows most; without
 * the topic each place costs one branch.
 *
 * Context: any, also inside a trapped doorbell.
 */
#ifndef SOFTHCA_CHECK_CHECK_H
#define SOFTHCA_CHECK_CHECK_H

#include <stdbool.h>
#include <stdint.h>
#include "check/rows.h"
#include "util/log.h"

#define CHECK_ON() TRACE_ON(LOG_CHECK)

#define CHECK_FRAMES 24
struct check_stack {
	uint32_t n; /* 0: unknown */
	uint64_t at[CHECK_FRAMES];
};

/* Once, where dlopen() is allowed: what unwinding needs is loaded. */
void check_prepare(void);
/* The calls that lead here, through signal frames, the innermost first. */
void check_stack_take(struct check_stack *t);

/* This thread goes on with a work request that was posted there; NULL: it is unknown where. */
void check_posted(const struct check_stack *t);

/* What a report is about. A member that is 0 or NULL is unknown. */
struct check_about {
	const char *kind;               /* "QP", "CQ", ... */
	uint32_t number;                /* its number */
	uint64_t key;                   /* reports of a rule that differ in it, or in `number` */
	const struct check_stack *made; /* where the object was made */
	bool elsewhere;                 /* this thread is not the one that did it */
};

/* Reports a broken rule, once for each `about`. The text is one sentence without its end. */
void check_say(enum check_rule_id rule, const struct check_about *a, const char *f, ...)
	__attribute__((format(printf, 3, 4)));

/* A CQ that this thread arms although completions lie in it. */
struct check_armed {
	uint32_t cqn, ci; /* ci: 24 bits */
	uint64_t record;  /* the address of the consumer index, big-endian, in this process */
};
void check_arms(const struct check_armed *a);
/* The next CQ that this thread has armed so, from *i on, which it then forgets. False: none. */
bool check_armed_next(unsigned int *i, struct check_armed *a);

#endif
