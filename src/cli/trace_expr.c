/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the argument of -e: topics, and names of commands and methods behind "cmd=". options.c and
 * trace.c use it; complete.c asks for the names.
 */
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "util/suggest.h"
#include "mlx5/mlx5.h"
#include "super/program.h"
#include "ucma/abi.h"
#include "util/cleanup.h"
#include "util/log.h"
#include "uverbs/uverbs.h"
#include "wire/prm/opcodes.h"

#define DEFAULT_TOPICS \
	(LOG_UVERBS | LOG_FW | LOG_DOORBELL | LOG_CQE | LOG_EVENT | LOG_CM | LOG_INJECT)
#define NAME_MAX_LEN 96

/* ---- names of commands */

#define OPCODE_NAME(number, name) #name,
static const char *const opcodes[] = {PRM_OPCODES(OPCODE_NAME)};

struct names {
	void (*each)(void *ctx, const char *name);
	void *ctx;
};

/* A method or write command; some have the name of a firmware command. */
static void pass_method(void *ctx, const char *name)
{
	const struct names *n = ctx;

	for (size_t i = 0; i < ARRAY_SIZE(opcodes); i++)
		if (!strcmp(opcodes[i], name))
			return;
	n->each(n->ctx, name);
}

void trace_expr_names(void (*each)(void *ctx, const char *name), void *ctx)
{
	struct names n = {each, ctx};

	for (size_t i = 0; i < ARRAY_SIZE(opcodes); i++)
		each(ctx, opcodes[i]);
	uv_each_name(&mlx5_driver, pass_method, &n);
	each(ctx, "mmap");
	for (uint32_t i = 0; i < ucma_nrows; i++)
		if (ucma_rows[i].name)
			each(ctx, ucma_rows[i].name);
}

struct lookup {
	const char *word;
	size_t len;
	bool found;
	unsigned int cost; /* edit distance of the best guess so far */
	char best[NAME_MAX_LEN];
};

static void look(void *ctx, const char *name)
{
	struct lookup *l = ctx;
	struct suggest s;

	l->found |= strlen(name) == l->len && !strncmp(name, l->word, l->len);
	suggest_begin(&s, l->word, l->len);
	suggest_add(&s, name);
	if (strlen(name) == l->len && !strncasecmp(name, l->word, l->len)) { /* in small letters */
		s.best = name;
		s.cost = 0;
	}
	if (!s.best || (l->best[0] && s.cost >= l->cost))
		return;
	l->cost = s.cost;
	snprintf(l->best, sizeof(l->best), "%s", name);
}

static int add_name(struct trace_expr *e, const char *verb, const char *option, const char *word,
		    size_t len)
{
	struct lookup l = {.word = word, .len = len};
	size_t n = strlen(e->names);

	trace_expr_names(look, &l);
	if (!l.found)
		return prog_fail("%s: %s: '%.*s' is not the name of a command or method%s%s%s",
				 verb, option, (int)len, word, l.best[0] ? "; did you mean '" : "",
				 l.best, l.best[0] ? "'?" : "");
	if (n + len + 2 > sizeof(e->names))
		return prog_fail("%s: %s: too many names", verb, option);
	snprintf(e->names + n, sizeof(e->names) - n, "%s%.*s",
		 n && e->names[n - 1] != '!' ? "," : "", (int)len, word);
	return 0;
}

static int add_names(struct trace_expr *e, const char *verb, const char *option, const char *arg)
{
	bool all_but = *arg == '!';
	int r = 0;

	if (e->names[0] && (e->names[0] == '!') != all_but)
		return prog_fail("%s: %s: names to trace and names to leave out exclude each other",
				 verb, option);
	if (all_but && !e->names[0])
		strcpy(e->names, "!");
	for (const char *s = arg + all_but; !r;) {
		size_t n = strcspn(s, ",");

		r = add_name(e, verb, option, s, n);
		if (!s[n])
			break;
		s += n + 1;
	}
	return r;
}

/* ---- topics */

static int no_topic(const char *verb, const char *option, const char *word, size_t len)
{
	struct suggest s;

	suggest_begin(&s, word, len);
	for (unsigned int bit = 0; bit < 30; bit++)
		if (*log_topic_name(1u << bit) != '?')
			suggest_add(&s, log_topic_name(1u << bit));
	return prog_fail("%s: %s: '%.*s' is not one of uverbs, fw, doorbell, cqe, event, cm, mad, "
			 "mem, shim, link, all%s%s%s",
			 verb, option, (int)len, word, s.best ? "; did you mean '" : "",
			 s.best ? s.best : "", s.best ? "'?" : "");
}

static int add_topics(struct trace_expr *e, const char *verb, const char *option, const char *arg)
{
	bool all_but = *arg == '!';
	uint32_t bits = 0, one;

	for (const char *s = arg + all_but;;) {
		size_t n = strcspn(s, ",");

		one = log_topic_bits(s, n);
		if (!one)
			return no_topic(verb, option, s, n);
		bits |= one;
		if (!s[n])
			break;
		s += n + 1;
	}
	if (!all_but)
		e->topics |= bits;
	else
		e->topics = (e->given ? e->topics : ~0u) & ~bits;
	e->given = true;
	return 0;
}

int trace_expr_add(struct trace_expr *e, const char *verb, const char *option, const char *arg)
{
	return strncmp(arg, "cmd=", 4) ? add_topics(e, verb, option, arg)
				       : add_names(e, verb, option, arg + 4);
}

void trace_expr_topics(const struct trace_expr *e, char *text, size_t size)
{
	bool only_named = e->names[0] && e->names[0] != '!';
	uint32_t topics = e->given ? e->topics : only_named ? LOG_NAMED : DEFAULT_TOPICS;
	size_t n = 0;

	*text = '\0';
	for (unsigned int bit = 0; bit < 30 && n < size; bit++)
		if (topics & 1u << bit && *log_topic_name(1u << bit) != '?')
			n += (size_t)snprintf(text + n, size - n, "%s%s", n ? "," : "",
					      log_topic_name(1u << bit));
}

void trace_expr_options(const struct cli_watch *w, char text[LOG_OPTIONS_MAX])
{
	static const struct {
		uint32_t bit;
		const char *word;
	} words[] = {
		{LOG_FAILED, "failed "}, {LOG_GOOD, "good "},       {LOG_COUNTED, "counted "},
		{LOG_BARE, "bare "},     {LOG_OBJECTS, "objects "},
	};

	*text = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (w->options & words[i].bit)
			strcat(text, words[i].word);
	if (w->expr.names[0]) {
		strcat(text, "cmd=");
		strcat(text, w->expr.names);
	}
}
