/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the summary of a command's use of the adapters. The counts come from the supervisor's
 * status; if the fabric was up before, the summary shows how much the command added.
 */
#include "cli/use.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>
#include "cli/cli.h"
#include "super/program.h"
#include "super/supervisor.h"
#include "util/cleanup.h"

static void add(struct json_object *to, const char *key, uint64_t n)
{
	struct json_object *was;

	if (json_object_object_get_ex(to, key, &was))
		n += json_object_get_uint64(was);
	json_object_object_add(to, key, json_object_new_uint64(n));
}

static uint64_t get(struct json_object *o, const char *key)
{
	return json_object_get_uint64(json_object_object_get(o, key));
}

/* Adds the counts in use[which] to `to`; the keys begin with the object's name. */
static void add_kinds(struct json_object *to, struct json_object *use, const char *which)
{
	struct json_object *o = json_object_object_get(use, which);
	char key[512];

	if (!o)
		return;
	json_object_object_foreach(o, name, n)
	{
		snprintf(key, sizeof(key), "%s %s", which, name);
		add(to, key, json_object_get_uint64(n));
	}
}

static void add_ports(struct json_object *to, struct json_object *host)
{
	struct json_object *hcas = json_object_object_get(host, "hcas");

	for (size_t i = 0; i < json_object_array_length(hcas); i++) {
		struct json_object *ports =
			json_object_object_get(json_object_array_get_idx(hcas, i), "ports");

		for (size_t k = 0; k < json_object_array_length(ports); k++) {
			struct json_object *p = json_object_array_get_idx(ports, k);

			add(to, "sent", get(p, "xmit_packets"));
			add(to, "received", get(p, "rcv_packets"));
			add(to, "discarded", get(p, "xmit_discards"));
		}
	}
}

struct json_object *use_counts(struct json_object *hosts)
{
	struct json_object *to = hosts ? json_object_new_object() : NULL;

	for (size_t i = 0; hosts && i < json_object_array_length(hosts); i++) {
		struct json_object *host = json_object_array_get_idx(hosts, i), *use;

		add_ports(to, host);
		if (!json_object_object_get_ex(host, "use", &use))
			continue;
		add(to, "doorbells", get(use, "doorbells"));
		add(to, "commands", get(use, "commands"));
		add(to, "calls_refused", get(use, "calls_refused"));
		add(to, "cqs_failed", get(use, "cqs_failed"));
		add_kinds(to, use, "made");
		add_kinds(to, use, "refused");
		add_kinds(to, use, "errors");
		add_kinds(to, use, "lost");
		add_kinds(to, use, "causes");
	}
	json_object_put(hosts);
	return to;
}

struct json_object *use_of_sup(struct sup *sup)
{
	struct json_object *hosts = json_object_new_array();

	seg_for_each_live (&sup->seg, SEG_T_HOST, i)
		if (sup_host_used(sup, i))
			json_object_array_add(hosts, sup_status_host(sup, i));
	return use_counts(hosts);
}

static uint64_t since(struct json_object *before, struct json_object *after, const char *key)
{
	return get(after, key) - get(before, key);
}

/* Prints ", KIND n" for each kind of `which` that happened n > 0 times. Returns if any did. */
static bool print_kinds(FILE *f, struct json_object *before, struct json_object *after,
			const char *which, const char *as, const char *sep)
{
	size_t len = strlen(which);
	bool any = false;

	json_object_object_foreach(after, key, n)
	{
		if (strncmp(key, which, len) || key[len] != ' ' || !json_object_get_uint64(n) ||
		    !since(before, after, key))
			continue;
		fprintf(f, "%s%s%s %" PRIu64, any ? ", " : sep, as, key + len + 1,
			since(before, after, key));
		any = true;
	}
	return any;
}

/* The same for a count that has no kinds. */
static bool print_count(FILE *f, struct json_object *before, struct json_object *after,
			const char *key, const char *as, bool any)
{
	uint64_t n = since(before, after, key);

	if (n)
		fprintf(f, "%s%s %" PRIu64, any ? ", " : "", as, n);
	return n;
}

/* A line for each cause, with how often it came. */
static void say_causes(const char *verb, struct json_object *before, struct json_object *after)
{
	static const char which[] = "causes ";

	json_object_object_foreach(after, key, n)
	{
		uint64_t times;

		if (strncmp(key, which, sizeof(which) - 1) || !json_object_get_uint64(n))
			continue;
		times = since(before, after, key);
		if (times == 1)
			prog_fail("%s: %s", verb, key + sizeof(which) - 1);
		else if (times)
			prog_fail("%s: %s (%" PRIu64 " times)", verb, key + sizeof(which) - 1,
				  times);
	}
}

/* One line: its parts are written into a buffer, because prog_fail() prints a whole line. */
static void say_summary(const char *verb, struct json_object *b, struct json_object *a)
{
	char text[800] = "";
	FILE *f = fmemopen(text, sizeof(text) - 1, "w");
	bool any = false;

	prog_fail("%s: packets: %" PRIu64 " sent, %" PRIu64 " received", verb, since(b, a, "sent"),
		  since(b, a, "received"));
	prog_fail("%s: doorbells: %" PRIu64, verb, since(b, a, "doorbells"));
	prog_fail("%s: commands: %" PRIu64, verb, since(b, a, "commands"));
	prog_fail("%s: QPs made: %" PRIu64, verb, since(b, a, "made qp"));
	if (!f)
		return;
	any = print_kinds(f, b, a, "errors", "", "");
	any = print_kinds(f, b, a, "lost", "", any ? ", " : "") || any;
	any = print_kinds(f, b, a, "refused", "refused command ", any ? ", " : "") || any;
	any = print_count(f, b, a, "calls_refused", "refused call", any) || any;
	any = print_count(f, b, a, "cqs_failed", "CQ in error", any) || any;
	print_count(f, b, a, "discarded", "discarded packet", any);
	fclose(f);
	prog_fail("%s: errors: %s", verb, *text ? text : "none");
	say_causes(verb, b, a);
}

static const char *why_none(struct json_object *before, struct json_object *after)
{
	return since(before, after, "made qp")    ? "QPs were made, but not used"
	       : since(before, after, "commands") ? "a device was opened, but no QP made"
						  : "no device was opened";
}

int use_end(const struct cli_options *o, bool well, struct json_object *before,
	    struct json_object *after)
{
	int r = 0;

	if (!after)
		r = prog_fail("%s: the fabric has ended before its packets could be counted",
			      o->verb);
	else if (o->summary)
		say_summary(o->verb, before, after);
	if (after && o->require_traffic && well && !since(before, after, "sent") &&
	    !since(before, after, "received")) {
		prog_fail("%s: no packet went through an adapter (%s): did the command use another "
			  "transport? See softhca-recipes(7)",
			  o->verb, why_none(before, after));
		r = CLI_NO_TRAFFIC;
	}
	json_object_put(before);
	json_object_put(after);
	return o->require_traffic ? r : 0;
}
