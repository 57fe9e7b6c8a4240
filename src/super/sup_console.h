/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The console's commands, which run in the supervisor: one line each, as in ibsim's console.
 * sup_console.c finds and runs them; sup_console_show.c has those that only show information.
 */
#ifndef SOFTHCA_SUPER_SUP_CONSOLE_H
#define SOFTHCA_SUPER_SUP_CONSOLE_H

#include <stdio.h>
#include "super/supervisor.h"

/* State that the console keeps between commands. */
struct sup_console {
	char (*id)[65];     /* per SEG_T_NODE: its name in the file; NULL: ibnetdiscover's name */
	uint32_t *previous; /* per SEG_T_PORT: peer of its cable before Unlink; 0 none */
	uint32_t verbose;
};

/* A running command. */
struct con {
	struct sup *sup;
	FILE *out;
	char *args;       /* the text after the command's name */
	char reason[512]; /* reason of the failure */
};

/* A node, and one of its ports or all. */
struct con_target {
	struct fab_node *node;
	uint32_t idx;      /* SEG_T_NODE */
	uint32_t num;      /* SEG_NONE: none was named */
	const char *given; /* the name */
};

/* Sets the reason, without a newline. Returns -1. */
int con_fail(struct con *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Parses `"name"[port]` and moves c->args behind it. 0, -1. */
int con_target(struct con *c, struct con_target *t);
/* Returns a node's name. */
const char *con_id(const struct con *c, uint32_t node, char id[24]);
/* A number (decimal, 0x); false: there is none. */
bool con_number(char **s, uint64_t *v);

int con_dump(struct con *c);
int con_route(struct con *c);
int con_attached(struct con *c);
int con_performance_set(struct con *c);

#endif
