/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Faults on purpose: the options --inject, --inject-file, --seed, what is said at the end of a
 * command, and `softhca inject`, which changes the rules of a fabric that is up.
 */
#include "cli/cli.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>
#include "cli/client.h"
#include "fault/rows.h"
#include "super/program.h"
#include "util/cleanup.h"
#include "util/num.h"

/* Where the mistake is, under the rule, and what may stand there. `from`: a place in a file. */
static int fault_wrong(const char *verb, const char *from, const char *rule,
		       const struct fault_mistake *m)
{
	prog_fail("%s: %s: %s", verb, from, m->text);
	fprintf(stderr, "  %s\n  %*s^\n", rule, (int)m->at, "");
	if (*m->allowed)
		fprintf(stderr, "  allowed: %s\n", m->allowed);
	return PROG_FAILED;
}

static int fault_option(struct cli_options *o, const char *from, const char *rule)
{
	struct fab_options *fab = &o->fab;
	struct fault_mistake m;
	struct hw_fault *more;

	if (fab->nfaults == HW_FAULTS)
		return prog_fail("%s: %s: more than %d rules", o->verb, from, HW_FAULTS);
	more = reallocarray(fab->faults, fab->nfaults + 1, sizeof(*more));
	if (!more)
		return prog_fail("%s: no memory", o->verb);
	fab->faults = more;
	if (fault_parse(rule, &more[fab->nfaults], &m) < 0)
		return fault_wrong(o->verb, from, rule, &m);
	fab->nfaults++;
	return 0;
}

int inject_option(struct cli_options *o, const char *rule)
{
	return fault_option(o, "--inject", rule);
}

/* A rule on each line; blank ones and those with a # are left out. */
int inject_file(struct cli_options *o, const char *path)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "re") : stdin;
	char from[512], *line = NULL;
	size_t size = 0, number = 0;
	ssize_t n;
	int r = 0;

	if (!f)
		return prog_fail("%s: --inject-file: %s: %s", o->verb, path, strerror(errno));
	while (!r && (n = getline(&line, &size, f)) >= 0) {
		char *rule = line + strspn(line, " \t");

		number++;
		while (n && strchr(" \t\r\n", line[n - 1]))
			line[--n] = '\0';
		if (!*rule || *rule == '#')
			continue;
		snprintf(from, sizeof(from), "%s:%zu", path, number);
		r = fault_option(o, from, rule);
	}
	if (!r && ferror(f))
		r = prog_fail("%s: --inject-file: %s: %s", o->verb, path, strerror(errno));
	free(line);
	if (f != stdin)
		fclose(f);
	return r;
}

/* Without --seed another one each time. */
void inject_prepare(struct cli_options *o)
{
	uint64_t seed = 0;

	if (o->seed_given || !o->fab.nfaults)
		return;
	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != (ssize_t)sizeof(seed))
		seed = (uint64_t)getpid();
	o->fab.fault_seed = seed & UINT32_MAX; /* short enough to be typed */
}

/* ---- at the end of a command */

int inject_end(const struct cli_options *o, struct json_object *faults, bool well)
{
	size_t n = faults ? json_object_array_length(faults) : 0;
	bool drawn = false, unused = false;

	for (size_t i = 0; i < n; i++) {
		struct json_object *f = json_object_array_get_idx(faults, i);
		const char *rule = json_object_get_string(json_object_object_get(f, "rule"));
		uint64_t fired = json_object_get_uint64(json_object_object_get(f, "fired"));

		drawn |= strstr(rule, ":p=") || strstr(rule, ",p=");
		unused |= !fired;
		if (fired)
			fprintf(stderr, "softhca: inject: fired %llu x: %s\n",
				(unsigned long long)fired, rule);
		else
			fprintf(stderr, "softhca: inject: never fired: %s\n", rule);
	}
	if (drawn)
		fprintf(stderr, "softhca: inject: --seed %llu\n",
			(unsigned long long)o->fab.fault_seed);
	json_object_put(faults);
	return well && unused && !o->unused_ok ? CLI_UNUSED : 0;
}

/* ---- softhca inject [FABRIC] add RULE... | list | remove N... */

static int send_rule(const struct cli_options *o, const char *rule)
{
	struct link_msg m = {.op = LINK_FAULT};
	struct fault_mistake wrong;
	struct hw_fault *f = malloc(sizeof(*f));
	int sock, r = f ? fault_parse(rule, f, &wrong) : -ENOMEM;

	free(f);
	if (r == -EINVAL)
		return fault_wrong("inject", "add", rule, &wrong);
	sock = r ? PROG_FAILED : client_connect(o, "inject");
	if (sock == PROG_FAILED)
		return PROG_FAILED;
	r = client_send_more(sock, &m, rule, strlen(rule) + 1);
	close(sock);
	if (r == -ENOSPC)
		return prog_fail("inject: the fabric has %d rules already", HW_FAULTS);
	if (r < 0)
		return prog_fail("inject: the fabric does not answer: %s", strerror(-r));
	printf("%u\n", m.arg);
	return 0;
}

static int send_remove(const struct cli_options *o, const char *text)
{
	struct link_msg m = {.op = LINK_FAULT};
	const char *end;
	uint64_t n = num_decimal(text, &end);
	int sock, r;

	if (end == text || *end || !n || n > HW_FAULTS)
		return prog_fail("inject: '%s' is not a rule's number (softhca inject list)", text);
	sock = client_connect(o, "inject");
	if (sock == PROG_FAILED)
		return PROG_FAILED;
	m.arg = (uint32_t)n;
	r = client_send_more(sock, &m, "", 0);
	close(sock);
	if (r == -ENOENT)
		return prog_fail("inject: there is no rule %llu", (unsigned long long)n);
	return r < 0 ? prog_fail("inject: the fabric does not answer: %s", strerror(-r)) : 0;
}

static int list_rules(const struct cli_options *o)
{
	struct link_msg m = {.op = LINK_STATUS, .arg = LINK_STATUS_NO_HOSTS};
	int sock = client_connect(o, "inject"), err;
	struct json_object *all, *faults = NULL;

	if (sock == PROG_FAILED)
		return PROG_FAILED;
	all = client_status(sock, &m, &err);
	close(sock);
	if (!all)
		return prog_fail("inject: the fabric does not answer: %s", strerror(-err));
	json_object_object_get_ex(all, "faults", &faults);
	if (o->json)
		puts(json_object_to_json_string_ext(faults, JSON_C_TO_STRING_PRETTY));
	for (size_t i = 0; !o->json && i < json_object_array_length(faults); i++) {
		struct json_object *f = json_object_array_get_idx(faults, i);

		printf("%3s  fired %s of %s  %s\n",
		       json_object_get_string(json_object_object_get(f, "number")),
		       json_object_get_string(json_object_object_get(f, "fired")),
		       json_object_get_string(json_object_object_get(f, "seen")),
		       json_object_get_string(json_object_object_get(f, "rule")));
	}
	json_object_put(all);
	return 0;
}

int cli_inject(struct cli_options *o)
{
	static const struct {
		const char *name;
		int (*each)(const struct cli_options *o, const char *arg);
	} rows[] = {{"add", send_rule}, {"remove", send_remove}, {"list", NULL}};
	int at = 0, r = 0;

	for (size_t tries = 0; tries < 2; tries++, at++) {
		for (size_t i = 0; at < o->argc && i < ARRAY_SIZE(rows); i++) {
			if (strcmp(o->argv[at], rows[i].name))
				continue;
			if (!rows[i].each && at + 1 < o->argc)
				return prog_fail("inject: list takes no arguments");
			if (!rows[i].each)
				return list_rules(o);
			if (at + 1 == o->argc)
				return prog_fail("inject: %s wants a rule%s", rows[i].name,
						 rows[i].each == send_remove ? "'s number" : "");
			while (!r && ++at < o->argc)
				r = rows[i].each(o, o->argv[at]);
			return r;
		}
		if (!at && o->fabric)
			break;
		if (!at)
			o->fabric = o->argv[at];
	}
	return prog_fail("inject: add, list or remove is missing: softhca inject %s add RULE",
			 o->fabric ? o->fabric : "FABRIC");
}
