// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Every row of every table, on the machine's first adapter. Under `softhca run` the device is
 * softhca's; on a machine with an adapter the same program asks the kernel.
 *
 *   ucma_rows check [-a ADDRESS] [-q] [PART...]    run, compare; the status says whether all agree
 *   ucma_rows record [-a ADDRESS] [-q] [PART...]   run, print each row with the answers it got
 *   ucma_rows print [-a ADDRESS] [-q] [PART...]    run, print each step and its answer in a line
 *   ucma_rows list [PART...]                       print names, flags and rules
 *
 * With PART only rows whose "TABLE: NAME" has it; with -q no SLOW ones.
 */
#include "ucma.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_TEXT = 2048, SKIP = 77 /* for meson */ };

static bool record, print, list, quick;
static unsigned int rows, steps, refused, wrong, skipped;

TABLES(TABLE_EXTERN)

static const struct table {
	const char *name;
	const struct row *row;
	const unsigned int *count;
} tables[] = {
#define TABLE(name) {#name, name##_rows, &name##_count},
	TABLES(TABLE)};

/* `[roce:X|ib:Y]` and `[rxe:X|mlx5:Y]` in an expected answer stand for one of the two. */
static const struct choice {
	const char *first, *second;
} choices[] = {{"[roce:", "|ib:"}, {"[rxe:", "|mlx5:"}};

static bool takes_first(const struct choice *c)
{
	return c == &choices[0] ? world.roce : !strcmp(world.device, "rxe0");
}

static const struct choice *choice_at(const char *s)
{
	for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++)
		if (!strncmp(s, choices[i].first, strlen(choices[i].first)))
			return &choices[i];
	return NULL;
}

static void expand(const char *from, size_t n, char *to, size_t room)
{
	const struct choice *in = NULL, *new;
	bool second = false;
	size_t used = 0;

	for (size_t i = 0; i < n && used + 1 < room; i++) {
		new = in ? NULL : choice_at(from + i);
		if (new) {
			in = new;
			second = false;
			i += strlen(in->first) - 1;
		} else if (in && !second && !strncmp(from + i, in->second, strlen(in->second))) {
			second = true;
			i += strlen(in->second) - 1;
		} else if (in && second && from[i] == ']') {
			in = NULL;
		} else if (!in || second == !takes_first(in)) {
			to[used++] = from[i];
		}
	}
	to[used] = '\0';
}

/* A line of a script: the step, and what is expected after its arrow. */
static bool line_run(const struct table *t, const struct row *r, const char *line, size_t n)
{
	char text[MAX_TEXT], want[MAX_TEXT] = "", answer[MAX_TEXT] = "";
	const char *arrow;
	bool same;

	snprintf(text, sizeof(text), "%.*s", (int)n, line);
	arrow = strstr(text, " -> ");
	if (arrow) {
		expand(arrow + 4, strlen(arrow + 4), want, sizeof(want));
		text[arrow - text] = '\0';
	}
	step_run(text, answer, sizeof(answer));
	same = arrow && !strcmp(answer, want);
	steps++;
	refused += answer[0] == 'E';
	if (record)
		printf("  %s -> %.*s\n", text, same ? (int)(n - strlen(text) - 4) : MAX_TEXT,
		       same ? line + strlen(text) + 4 : answer);
	if (print)
		printf("%s: %s: %s\t%s\n", t->name, r->what, text, answer);
	if (!record && !print && !same)
		printf("FAILED %s: %s: `%s`: %s, not %s (%s)\n", t->name, r->what, text, answer,
		       want, r->rule);
	return same;
}

static bool script_run(const struct table *t, const struct row *r, const char *script)
{
	bool ok = true;

	while (*script) {
		size_t n = strcspn(script, "\n");

		if (n)
			ok = line_run(t, r, script, n) && ok;
		script += n + (script[n] == '\n');
	}
	return ok;
}

static const char *reason_to_skip(const struct row *r)
{
	if (r->flags & ROCE_ONLY && !world.roce)
		return "RoCE only";
	if (r->flags & IB_ONLY && world.roce)
		return "InfiniBand only";
	if (r->flags & ROOT && geteuid())
		return "needs privileges";
	if (r->flags & USER && !world_opens_as_nobody())
		return "the device is its owner's alone";
	if (r->flags & V6 && !world.have6)
		return "no IPv6 address";
	if (r->flags & LL6 && !world.have6_local)
		return "no link-local address";
	if (r->flags & RXE && strcmp(world.device, "rxe0") != 0)
		return "an answer of rxe or of the recording machine";
	if (r->flags & SLOW && quick)
		return "slow";
	return NULL;
}

static void print_head(const struct table *t, const struct row *r)
{
	static const char *const names[] = {"ROCE_ONLY", "IB_ONLY", "RXE", "ROOT",
					    "USER",      "SLOW",    "V6",  "LL6"};

	printf("%s: %s |", t->name, r->what);
	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (r->flags & 1u << i)
			printf(" %s", names[i]);
	printf("%s | %s\n", strstr(r->script, "[roce:") ? " LINK" : "", r->rule);
}

static void row_run(const struct table *t, const struct row *r)
{
	const char *why = reason_to_skip(r);
	bool ok;

	rows++;
	if (list || record)
		print_head(t, r);
	if (list)
		return;
	if (why) {
		skipped++;
		if (record)
			printf("  skipped: %s\n", why);
		return;
	}
	world_row(rows);
	ok = script_run(t, r, r->from);
	if (record)
		printf("  --\n");
	ok = script_run(t, r, r->script) && ok;
	if (!world_row_end()) {
		ok = false;
		printf("FAILED %s: %s: an id is left (ucma_close)\n", t->name, r->what);
	}
	wrong += !ok;
	fflush(stdout);
}

static bool wanted(const struct table *t, const struct row *r, char **part, int n)
{
	char name[256];

	snprintf(name, sizeof(name), "%s: %s", t->name, r->what);
	for (int i = 0; i < n; i++)
		if (strstr(name, part[i]))
			return true;
	return !n;
}

int main(int argc, char **argv)
{
	const char *address = NULL;
	int first, option;

	while ((option = getopt(argc, argv, "a:q")) != -1) {
		if (option == 'a')
			address = optarg;
		quick = quick || option == 'q';
	}
	first = optind + 1;
	if (first > argc) {
		fprintf(stderr,
			"usage: ucma_rows check|record|print|list [-a ADDRESS] [-q] [PART...]\n");
		return 2;
	}
	record = !strcmp(argv[optind], "record");
	print = !strcmp(argv[optind], "print");
	list = !strcmp(argv[optind], "list");
	if (!list && access("/dev/infiniband/rdma_cm", F_OK)) {
		printf("skipped: there is no /dev/infiniband/rdma_cm yet\n");
		return SKIP;
	}
	if (!list)
		world_make(address);
	world.patience = record ? 30000 : 60000;
	for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++)
		for (unsigned int i = 0; i < *tables[t].count; i++)
			if (wanted(&tables[t], &tables[t].row[i], argv + first, argc - first))
				row_run(&tables[t], &tables[t].row[i]);
	printf("%u rows, %u calls, %u of them to be refused, %u rows wrong, %u skipped\n", rows,
	       steps, refused, wrong, skipped);
	return wrong && !print;
}
