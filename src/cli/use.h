/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How much a command has used the adapters: run's --summary and --require-traffic. */
#ifndef SOFTHCA_CLI_USE_H
#define SOFTHCA_CLI_USE_H

#include <stdbool.h>

struct cli_options;
struct json_object;
struct sup;

/*
 * Counts of hosts as one object: name to number. `hosts`: the array of a status; it is released.
 * NULL stays NULL.
 */
struct json_object *use_counts(struct json_object *hosts);
/* The counts of all used hosts; called by the supervisor, which needs no connection. */
struct json_object *use_of_sup(struct sup *sup);
/*
 * Called at the end of a command. Prints the summary if --summary is given. Returns 0; with
 * --require-traffic also CLI_NO_TRAFFIC (only if the command ended well), or PROG_FAILED if the
 * fabric has ended. `before` NULL: all counts were 0. `after` NULL: the fabric has ended. Releases
 * both.
 */
int use_end(const struct cli_options *o, bool well, struct json_object *before,
	    struct json_object *after);

#endif
