/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns `softhca check`: runs the command with the topic `check` (run.c, trace.c), takes its reports
 * (check/check.h), gives each its rule's row and the names of its calls, and prints it once.
 */
#include "cli/check.h"

#include <errno.h>
#include <fnmatch.h>
#include <json-c/json.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/symbols.h"
#include "hw/told.h"
#include "super/program.h"
#include "util/cleanup.h"
#include "util/suggest.h"

#define WHERE_MAX 1200 /* bytes of a stack, as it tells reports apart */

struct seen {
	char *what; /* rule and calls */
	uint64_t n;
};

struct suppression {
	char rule[48];
	char calls[200]; /* "": any */
	uint64_t n;
};

struct check_reader {
	pthread_mutex_t lock; /* the reader's thread and the one that runs the command */
	struct symbols *symbols;
	enum check_level shown;
	struct json_object *all; /* the file of --json, or NULL */
	struct seen *seen;
	size_t nseen;
	struct suppression *away;
	size_t naway;
	uint64_t n[CHECK_LEVEL_COUNT], suppressed, unread;
};

static const struct check_rule *rule_of(const char *name)
{
	const struct check_rule *r;

	for (unsigned int i = 0; name && (r = check_rule_at(i)); i++)
		if (!strcmp(r->name, name))
			return r;
	return NULL;
}

static int unknown_rule(const char *file, unsigned int line, const char *name)
{
	const struct check_rule *r;
	struct suggest s;

	suggest_begin(&s, name, strlen(name));
	for (unsigned int i = 0; (r = check_rule_at(i)); i++)
		suggest_add(&s, r->name);
	return prog_fail("check: %s:%u: '%s' is no rule%s%s%s (softhca check --list)", file, line,
			 name, s.best ? "; did you mean '" : "", s.best ? s.best : "",
			 s.best ? "'?" : "");
}

/* ---- suppressions: a rule, or *, and a pattern that a call or its module fits */

static int read_suppression(struct check_reader *c, const char *file, unsigned int line, char *text)
{
	struct suppression s = {0}, *more;
	char *rule = strtok(text, " \t\n"), *calls = strtok(NULL, " \t\n");

	if (!rule || *rule == '#')
		return 0;
	if (strcmp(rule, "*") && !rule_of(rule))
		return unknown_rule(file, line, rule);
	if (strtok(NULL, " \t\n"))
		return prog_fail("check: %s:%u: a rule and one pattern are allowed", file, line);
	if (calls && strlen(calls) >= sizeof(s.calls))
		return prog_fail("check: %s:%u: the pattern is too long", file, line);
	snprintf(s.rule, sizeof(s.rule), "%s", rule);
	snprintf(s.calls, sizeof(s.calls), "%s", calls ? calls : "");
	more = realloc(c->away, (c->naway + 1) * sizeof(s));
	if (!more)
		return prog_fail("check: out of memory");
	c->away = more;
	c->away[c->naway++] = s;
	return 0;
}

static int read_suppressions(struct check_reader *c, const char *path)
{
	FILE *f = fopen(path, "re");
	char line[512];
	int r = 0;

	if (!f)
		return prog_fail("check: cannot read %s: %s", path, strerror(errno));
	for (unsigned int n = 1; !r && fgets(line, sizeof(line), f); n++)
		r = read_suppression(c, path, n, line);
	if (!r && ferror(f))
		r = prog_fail("check: cannot read %s: %s", path, strerror(errno));
	fclose(f);
	return r;
}

/* ---- calls */

/* The device itself, and the kernel's return from its handler. */
static bool is_ours(const struct symbol *s)
{
	return !strncmp(s->module, "libsofthca.so", 13) || !strcmp(s->function, "__restore_rt") ||
	       !*s->module;
}

/* Libraries between a program and the device. */
static bool is_between(const struct symbol *s)
{
	static const char *const libs[] = {"libmlx5", "libibverbs", "librdmacm", "libc.so"};

	for (size_t i = 0; i < ARRAY_SIZE(libs); i++)
		if (!strncmp(s->module, libs[i], strlen(libs[i])))
			return true;
	return is_ours(s);
}

struct stack {
	struct symbol at[64];
	size_t n;
};

static void find_stack(struct check_reader *c, struct json_object *list, struct stack *t)
{
	size_t n = list ? json_object_array_length(list) : 0;
	bool inner = true;

	t->n = 0;
	for (size_t i = 0; i < n && t->n < ARRAY_SIZE(t->at); i++) {
		size_t found = symbols_find(
			c->symbols, json_object_get_string(json_object_array_get_idx(list, i)),
			&t->at[t->n], ARRAY_SIZE(t->at) - t->n);

		inner = inner && is_ours(&t->at[t->n]);
		t->n += inner ? 0 : found;
	}
	/* What precedes main() says nothing. */
	for (size_t i = 0; i < t->n; i++)
		if (!strcmp(t->at[i].function, "main"))
			t->n = i + 1;
}

static bool is_suppressed(struct check_reader *c, const char *rule, const struct stack *stacks,
			  size_t n)
{
	for (size_t i = 0; i < c->naway; i++) {
		struct suppression *s = &c->away[i];
		bool fits = !*s->calls;

		if (strcmp(s->rule, "*") && strcmp(s->rule, rule))
			continue;
		for (size_t k = 0; k < n; k++)
			for (size_t j = 0; j < stacks[k].n && !fits; j++)
				fits = !fnmatch(s->calls, stacks[k].at[j].function, 0) ||
				       !fnmatch(s->calls, stacks[k].at[j].module, 0);
		if (!fits)
			continue;
		s->n++;
		return true;
	}
	return false;
}

/* ---- reports */

enum { STACK_HERE, STACK_POSTED, STACK_MADE, STACKS };
static const struct {
	const char *name, *title;
} stack_rows[STACKS] = {
	[STACK_HERE] = {"here", "at"},
	[STACK_POSTED] = {"posted", "the work request was posted at"},
	[STACK_MADE] = {"made", "the object was made at"},
};

/* Is it the first with this rule and these calls? Else it is counted. */
static bool is_first(struct check_reader *c, const char *what)
{
	struct seen *more;

	for (size_t i = 0; i < c->nseen; i++)
		if (!strcmp(c->seen[i].what, what)) {
			c->seen[i].n++;
			return false;
		}
	more = realloc(c->seen, (c->nseen + 1) * sizeof(*more));
	if (!more)
		return true;
	c->seen = more;
	c->seen[c->nseen] = (struct seen){strdup(what), 1};
	if (!c->seen[c->nseen].what)
		return true;
	c->nseen++;
	return true;
}

/* Reports with the same words but other numbers, from the same calls of the program, are one. */
static void name_report(const char *rule, const struct stack *stacks, const char *text,
			char what[WHERE_MAX])
{
	size_t n = (size_t)snprintf(what, WHERE_MAX, "%s", rule);
	bool known = false;

	for (size_t k = 0; k < STACKS; k++)
		for (size_t i = 0; i < stacks[k].n && n < WHERE_MAX; i++) {
			const struct symbol *s = &stacks[k].at[i];

			if (is_between(s))
				continue;
			n += (size_t)snprintf(what + n, WHERE_MAX - n, " %s(%s)", s->module,
					      s->source);
			known = true;
		}
	if (!known && n < WHERE_MAX)
		snprintf(what + n, WHERE_MAX - n, " %s", text);
}

static void print_stack(const char *title, const struct stack *t)
{
	if (!t->n)
		return;
	fprintf(stderr, "    %s\n", title);
	for (size_t i = 0; i < t->n; i++) {
		const struct symbol *s = &t->at[i];

		if (*s->source)
			fprintf(stderr, "        %s (%s)\n", *s->function ? s->function : "?",
				s->source);
		else if (*s->function)
			fprintf(stderr, "        %s (in %.*s)\n", s->function,
				(int)strcspn(s->module, "+"), s->module);
		else
			fprintf(stderr, "        %s\n", s->module);
	}
}

static void print_report(const struct check_rule *rule, struct json_object *o, const char *text,
			 const struct stack *stacks)
{
	struct json_object *pid = json_object_object_get(o, "pid"),
			   *tid = json_object_object_get(o, "tid");

	fprintf(stderr, "softhca: check: %s %s: %s\n", check_level_words[rule->level], rule->name,
		text);
	if (pid)
		fprintf(stderr, "    process %d, thread %d\n", json_object_get_int(pid),
			json_object_get_int(tid));
	for (size_t k = 0; k < STACKS; k++)
		print_stack(stack_rows[k].title, &stacks[k]);
	fprintf(stderr, "    rule: %s (%s)\n    hint: %s\n", rule->what, rule->source, rule->hint);
}

static void add_stack(struct json_object *o, const char *name, const struct stack *t)
{
	struct json_object *list;

	/* The modules' names are in the list that this one replaces. */
	if (!t->n) {
		json_object_object_del(o, name);
		return;
	}
	list = json_object_new_array();
	for (size_t i = 0; i < t->n; i++) {
		const struct symbol *s = &t->at[i];
		struct json_object *f = json_object_new_object();

		json_object_object_add(
			f, "module",
			json_object_new_string_len(s->module, (int)strcspn(s->module, "+")));
		if (*s->function)
			json_object_object_add(f, "function", json_object_new_string(s->function));
		if (*s->source)
			json_object_object_add(f, "source", json_object_new_string(s->source));
		json_object_array_add(list, f);
	}
	json_object_object_add(o, name, list);
}

/* Completes the report and keeps it for the file. */
static void keep_report(struct check_reader *c, const struct check_rule *rule,
			struct json_object *o, const struct stack *stacks)
{
	json_object_object_del(o, "topic");
	json_object_object_del(o, "what");
	json_object_object_add(o, "rule", json_object_new_string(rule->name));
	json_object_object_add(o, "level", json_object_new_string(check_level_words[rule->level]));
	json_object_object_add(o, "source", json_object_new_string(rule->source));
	json_object_object_add(o, "hint", json_object_new_string(rule->hint));
	for (size_t k = 0; k < STACKS; k++)
		add_stack(o, stack_rows[k].name, &stacks[k]);
	json_object_array_add(c->all, json_object_get(o));
}

/* Under the lock. */
static void take_report(struct check_reader *c, struct json_object *o)
{
	static struct stack stacks[STACKS]; /* too large for a stack */
	const char *text = json_object_get_string(json_object_object_get(o, "text"));
	const struct check_rule *rule =
		rule_of(json_object_get_string(json_object_object_get(o, "what")));
	char what[WHERE_MAX];

	if (!rule || !text) {
		c->unread++;
		return;
	}
	for (size_t k = 0; k < STACKS; k++)
		find_stack(c, json_object_object_get(o, stack_rows[k].name), &stacks[k]);
	if (is_suppressed(c, rule->name, stacks, STACKS)) {
		c->suppressed++;
		return;
	}
	name_report(rule->name, stacks, text, what);
	if (!is_first(c, what))
		return;
	c->n[rule->level]++;
	if (rule->level >= c->shown)
		print_report(rule, o, text, stacks);
	if (c->all)
		keep_report(c, rule, o, stacks);
}

void check_line(void *reader, const char *line)
{
	struct check_reader *c = reader;
	struct json_object *o = json_tokener_parse(line);

	pthread_mutex_lock(&c->lock);
	if (o)
		take_report(c, o);
	else
		c->unread++;
	pthread_mutex_unlock(&c->lock);
	json_object_put(o);
}

static void take_left(void *reader, const char *text)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "what",
			       json_object_new_string(check_rule_at(CHECK_R_LEAK)->name));
	json_object_object_add(o, "text", json_object_new_string(text));
	take_report(reader, o);
	json_object_put(o);
}

void check_left(struct check_reader *c, const struct seg *s)
{
	pthread_mutex_lock(&c->lock);
	hw_told_each(s, HW_TOLD_LEFT, take_left, c);
	pthread_mutex_unlock(&c->lock);
}

/* ---- the command */

static void reader_free(struct check_reader *c)
{
	symbols_destroy(c->symbols);
	json_object_put(c->all);
	for (size_t i = 0; i < c->nseen; i++)
		free(c->seen[i].what);
	free(c->seen);
	free(c->away);
	free(c);
}

struct check_reader *check_begin(const struct cli_options *o)
{
	struct check_reader *c = calloc(1, sizeof(*c));

	if (!c) {
		prog_fail("check: out of memory");
		return NULL;
	}
	pthread_mutex_init(&c->lock, NULL);
	c->symbols = symbols_create();
	c->shown = o->check.shown;
	if (o->check.json_file)
		c->all = json_object_new_array();
	if (!o->check.suppress || !read_suppressions(c, o->check.suppress))
		return c;
	reader_free(c);
	return NULL;
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static void summary(const struct check_reader *c)
{
	uint64_t hidden = 0;

	for (size_t i = 0; i < c->shown; i++)
		hidden += c->n[i];
	fprintf(stderr, "softhca: check: %llu error%s, %llu warning%s, %llu note%s",
		(unsigned long long)c->n[CHECK_ERROR], plural(c->n[CHECK_ERROR]),
		(unsigned long long)c->n[CHECK_WARNING], plural(c->n[CHECK_WARNING]),
		(unsigned long long)c->n[CHECK_NOTE], plural(c->n[CHECK_NOTE]));
	if (hidden)
		fprintf(stderr, " (%llu not shown: -W note)", (unsigned long long)hidden);
	if (c->suppressed)
		fprintf(stderr, ", %llu suppressed", (unsigned long long)c->suppressed);
	if (c->unread)
		fprintf(stderr, ", %llu lines that are no reports", (unsigned long long)c->unread);
	fputc('\n', stderr);
}

int check_end(struct check_reader *c, const struct cli_options *o)
{
	int r = 0;

	if (!c)
		return 0;
	summary(c);
	if (c->all && json_object_to_file_ext(o->check.json_file, c->all, JSON_C_TO_STRING_PRETTY))
		r = prog_fail("check: cannot write %s: %s", o->check.json_file, strerror(errno));
	for (size_t i = o->check.fail_on; !r && o->check.fail_exit && i < CHECK_LEVEL_COUNT; i++)
		if (c->n[i])
			r = (int)o->check.fail_exit;
	reader_free(c);
	return r;
}

static int list_rules(void)
{
	const struct check_rule *r;

	for (unsigned int i = 0; (r = check_rule_at(i)); i++)
		printf("%-20s %-8s %s\n", r->name, check_level_words[r->level], r->what);
	return 0;
}

int cli_check(struct cli_options *o)
{
	if (o->list)
		return o->argc ? prog_fail("check: --list takes no command") : list_rules();
	if (!o->argc)
		return prog_fail("check: the command is missing (softhca check --help)");
	o->check.on = true;
	return cli_run(o);
}
