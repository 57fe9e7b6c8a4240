/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The states of all fabrics, as their supervisors report them. `list` and `status` use it. */
#ifndef SOFTHCA_CLI_FABRICS_H
#define SOFTHCA_CLI_FABRICS_H

#include <inttypes.h>
#include <json-c/json.h>
#include "super/runtime.h"

/*
 * An array of them, sorted by name, in *out. Sweeps what killed supervisors left. `arg`: enum
 * link_status; `host`: NULL, or fabrics without this host are left out. 0; PROG_FAILED after a
 * message for each fabric that does not answer; the others are in *out.
 */
int fabrics_ask(struct runtime *rt, const char *verb, uint32_t arg, const char *host,
		struct json_object **out);
/* The state of one, or NULL and *err. */
struct json_object *fabric_ask(struct runtime *rt, const char *name, uint32_t arg, const char *host,
			       int *err);
/* Members of an object; "" and 0 if they are missing. */
const char *fabric_str(struct json_object *o, const char *key);
uint64_t fabric_num(struct json_object *o, const char *key);
/* Prints the list on standard output, each value on a line of its own, and releases it. */
void fabric_print_json(struct json_object *o);

#endif
