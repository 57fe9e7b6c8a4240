/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Worlds: hosts that a program meets elsewhere. Each is a row of one table (worlds.c): what it
 * sets, what it needs, why a program fails there. A fabric may have several. For the supervisor and
 * the command line.
 */
#ifndef SOFTHCA_WORLD_WORLD_H
#define SOFTHCA_WORLD_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include "hw/setting.h"

#define WORLD_SETS 8
#define WORLD_ERR 256

enum world_link { WORLD_ANY_LINK, WORLD_IB, WORLD_ETH };

/* What a fabric must have, beside the usual host with one adapter of one port. */
struct world_needs {
	enum world_link link;
	uint32_t hosts, hcas,
		ports; /* at least; 0: one. Of adapters each host, of ports each adapter */
};

struct world_row {
	const char *name, *group;
	struct world_needs needs;
	struct {
		enum hw_setting what;
		uint32_t value;
	} set[WORLD_SETS];  /* up to HW_SET_NONE */
	const char *what;   /* what differs there, for a list */
	const char *why;    /* what programs do wrong */
	const char *source; /* a public case: "vllm#44919"; NULL: none */
};

/* The row at i; NULL: there are no more. */
const struct world_row *world_row(size_t i);

#define WORLD_VALUE 16
/* A setting's name, as "gid-types", and its value in words, or as a number in `buf`. */
const char *world_setting(enum hw_setting what);
const char *world_value(enum hw_setting what, uint32_t value, char buf[WORLD_VALUE]);
/* Its values have no words. */
bool world_is_number(enum hw_setting what);

/*
 * Adds the worlds of a list of names, "a,b"; one that is there already is added once. 0; -EINVAL:
 * `err` has the reason, *unknown and *len the name that no world has (NULL: that is not the
 * reason).
 */
int world_add(struct hw_world *w, const char *names, const char **unknown, size_t *len,
	      char err[WORLD_ERR]);
/* Adds the worlds of another list. 0; -EINVAL: `err` has the reason. */
int world_join(struct hw_world *w, const struct hw_world *more, char err[WORLD_ERR]);
/*
 * Sets the values that the rows in `w` demand, and what all of them need. 0; -EINVAL: two
 * contradict each other, `err` says which and in what.
 */
int world_settle(struct hw_world *w, struct world_needs *needs, char err[WORLD_ERR]);

/* The names of its worlds, "a,b"; "" for none. Returns buf. */
#define WORLD_NAMES 512
char *world_names(const struct hw_world *w, char buf[WORLD_NAMES]);

#endif
