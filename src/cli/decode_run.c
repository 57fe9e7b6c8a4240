/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The input of `softhca decode`, line by line: dumps go to decode.c, other lines to report_form.c;
 * what they say is explained once, and counted. decode_cli.c and the fuzzer call it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cli/decode.h"
#include "cli/explain.h"
#include "cli/report.h"
#include "util/cleanup.h"

#define TOLD_MAX 4096 /* different explanations that are remembered */
#define JOIN_MAX 1024 /* characters of a line that the next line may continue */

/* An explanation that was given. */
struct told {
	char *key; /* its JSON */
	struct json_object *o;
	const char *file;
	unsigned int line, count;
};

struct decode {
	struct decode_options o;
	struct json_object *parts, *means; /* all of them, for JSON */
	struct told *told;
	size_t ntold, found;
	struct hex_reader hex;
	/* the input */
	const char *name, *looks;
	unsigned int line;
	char broken[JOIN_MAX];   /* the beginning of a message that the next line continues */
	bool in_log;             /* it had a prefix */
	char before[JOIN_MAX];   /* the last line, if no form matched */
	bool more;               /* it does not end there */
	struct report_fact held; /* of the line `before`, as the next line may tell more of it */
	bool holds;
	size_t held_rank;
	unsigned int held_line;
	int error;
	size_t unknown_bytes;
	unsigned int unknown_line;
};

/* ---- explanations */

static void print_place(const struct decode *d, unsigned int line)
{
	if (d->name)
		printf("%s:%u:\n", d->name, line);
	else
		printf("line %u:\n", line);
}

static struct told *told_find(struct decode *d, const char *key)
{
	for (size_t i = 0; i < d->ntold; i++)
		if (!strcmp(d->told[i].key, key))
			return &d->told[i];
	return NULL;
}

/* Remembers an explanation. NULL: it is new and there is no room; else it may have been given. */
static struct told *told_add(struct decode *d, struct json_object *o, const char *key)
{
	struct told *t = told_find(d, key);

	if (t || d->ntold == TOLD_MAX)
		return t;
	t = &d->told[d->ntold];
	*t = (struct told){.key = strdup(key), .file = d->name, .line = d->line};
	if (!t->key)
		return NULL;
	t->o = json_object_get(o);
	d->ntold++;
	return t;
}

/* The objects that one error names differ, the explanation does not. */
static struct told *tell(struct decode *d, struct json_object *o)
{
	static const char *const objects[] = {"qpn", "cqn", "remote", "local", "peer"};
	struct json_object *kept[ARRAY_SIZE(objects)] = {NULL};
	struct told *t;

	for (size_t i = 0; i < ARRAY_SIZE(objects); i++) {
		kept[i] = json_object_get(json_object_object_get(o, objects[i]));
		json_object_object_del(o, objects[i]);
	}
	t = told_add(d, o, json_object_to_json_string(o));
	for (size_t i = 0; i < ARRAY_SIZE(objects); i++)
		if (kept[i])
			json_object_object_add(o, objects[i], kept[i]);
	if (t)
		t->count++;
	d->found++;
	return t;
}

static bool is_new(const struct told *t)
{
	return !t || t->count == 1;
}

static void tell_fact(struct decode *d, const struct report_fact *fact)
{
	struct json_object *list = json_object_new_array();
	bool placed = false;

	decode_fact(list, fact);
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *o = json_object_array_get_idx(list, i);

		if (!is_new(tell(d, o)))
			continue;
		if (d->o.json) {
			json_object_array_add(d->means, json_object_get(o));
			continue;
		}
		if (!placed)
			print_place(d, d->line);
		placed = true;
		explain_print_one(o, "");
	}
	if (placed)
		fflush(stdout);
	json_object_put(list);
}

/* ---- parts */

static void print_part(struct decode *d, struct json_object *part)
{
	struct json_object *means = json_object_object_get(part, "meanings");

	decode_print(part);
	for (size_t i = 0; means && i < json_object_array_length(means); i++) {
		struct json_object *o = json_object_array_get_idx(means, i);
		struct told *t = tell(d, o);

		if (is_new(t))
			explain_print_one(o, "  ");
		else
			printf("  %s %s: explained at line %u\n",
			       json_object_get_string(json_object_object_get(o, "kind")),
			       json_object_get_string(json_object_object_get(o, "name")), t->line);
	}
}

/* No other line belongs to the one that is held. */
static void end_of_hold(struct decode *d)
{
	unsigned int line = d->line;

	if (!d->holds)
		return;
	d->holds = false;
	d->before[0] = '\0';
	d->line = d->held_line;
	tell_fact(d, &d->held);
	d->line = line;
}

static void on_block(void *ctx, const struct hex_block *b)
{
	struct decode *d = ctx;
	struct json_object *list = json_object_new_array();

	end_of_hold(d);
	if (!decode_block(list, b, d->o.kind, d->o.opcode) && !d->unknown_bytes) {
		d->unknown_bytes = b->n;
		d->unknown_line = b->line;
	}
	d->found += json_object_array_length(list);
	if (!d->o.json && json_object_array_length(list) && (b->in_log || d->name))
		print_place(d, b->line);
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *part = json_object_array_get_idx(list, i);

		if (!d->o.json) {
			print_part(d, part);
			continue;
		}
		json_object_object_add(part, "line", json_object_new_uint64(b->line));
		json_object_array_add(d->parts, json_object_get(part));
	}
	if (!d->o.json)
		fflush(stdout);
	json_object_put(list);
}

/* ---- lines */

/* Tries a text that may be continued: with nothing behind it, as if its number were 0. */
static void end_of_join(struct decode *d)
{
	char text[JOIN_MAX + 8];
	struct report_fact fact;
	size_t rank;
	bool more;

	end_of_hold(d);
	if (d->more) {
		snprintf(text, sizeof(text), "%s (0x0)", d->before);
		if (report_match(d->o.forms, text, &fact, &rank, &more))
			tell_fact(d, &fact);
	}
	d->more = false;
	d->before[0] = '\0';
}

static void on_text(void *ctx, char *text)
{
	struct decode *d = ctx;
	const char *start = report_skip_rank(text), *rest = start + strspn(start, " \t");
	struct report_fact alone, joined;
	size_t rank = SIZE_MAX, joined_rank = SIZE_MAX;
	char both[2 * JOIN_MAX];
	bool more, unused;

	if (*d->before && strlen(rest) < JOIN_MAX) {
		snprintf(both, sizeof(both), "%s %s", d->before, rest);
		if (!report_match(d->o.forms, both, &joined, &joined_rank, &unused))
			joined_rank = SIZE_MAX;
	}
	if (!report_match(d->o.forms, text, &alone, &rank, &more))
		rank = SIZE_MAX;
	if (!d->looks)
		d->looks = report_looks_like(d->o.forms, text);
	if (d->holds ? joined_rank + 1 == d->held_rank : joined_rank < rank) {
		d->before[0] = '\0';
		d->more = d->holds = false;
		tell_fact(d, &joined);
		return;
	}
	end_of_join(d);
	if (rank != SIZE_MAX && alone.kind == REPORT_PART && !d->looks)
		d->looks = alone.about;
	if (rank != SIZE_MAX && alone.waits && strlen(rest) < JOIN_MAX) {
		snprintf(d->before, sizeof(d->before), "%s", rest);
		d->held = alone;
		d->held_rank = rank;
		d->held_line = d->line;
		d->holds = true;
	} else if (rank != SIZE_MAX) {
		tell_fact(d, &alone);
	} else if (strlen(rest) < JOIN_MAX) {
		snprintf(d->before, sizeof(d->before), "%s", rest);
		d->more = more;
	}
}

static void take_message(struct decode *d, char *text, bool prefixed)
{
	int r = hex_feed(&d->hex, text, prefixed, d->line);

	if (r && !d->error)
		d->error = r;
}

static void end_of_break(struct decode *d)
{
	char text[sizeof(d->broken)];

	if (!*d->broken)
		return;
	memcpy(text, d->broken, sizeof(text));
	d->broken[0] = '\0';
	take_message(d, text, d->in_log);
	d->in_log = false;
}

/* A mail may have broken a line into several. */
static void on_message(void *ctx, char *text, bool prefixed)
{
	struct decode *d = ctx;
	size_t n = strlen(d->broken), more;

	/* A logger may have put a prefix before the rest of a broken line: skip it. */
	if (n)
		text += report_skip_rank(text) - text;
	more = strlen(text);

	if (!n && !report_soft_break(text)) {
		take_message(d, text, prefixed);
		return;
	}
	if (n + more >= sizeof(d->broken)) {
		end_of_break(d);
		take_message(d, text, prefixed);
		return;
	}
	memcpy(d->broken + n, text, more + 1);
	d->in_log = d->in_log || prefixed;
	if (report_soft_break(d->broken))
		d->broken[n + more - 1] = '\0';
	else
		end_of_break(d);
}

int decode_read(struct decode *d, FILE *f, const char *name)
{
	_cleanup_free_ char *line = NULL;
	size_t size = 0;
	int r;

	d->name = name;
	d->line = 0;
	d->looks = NULL;
	d->error = 0;
	while (!d->error && !ferror(stdout) && getline(&line, &size, f) >= 0) {
		d->line++;
		report_line(d->o.lines, line, on_message, d);
	}
	end_of_break(d);
	r = hex_flush(&d->hex);
	end_of_join(d);
	if (ferror(f))
		return -errno;
	return d->error ? d->error : r;
}

/* ---- all of it */

size_t decode_found(const struct decode *d)
{
	return d->found;
}

bool decode_unknown(const struct decode *d, size_t *bytes, unsigned int *line)
{
	*bytes = d->unknown_bytes;
	*line = d->unknown_line;
	return d->unknown_bytes != 0;
}

const char *decode_looks_like(const struct decode *d)
{
	return d->looks;
}

static void print_counts(const struct decode *d, FILE *out)
{
	for (size_t i = 0; i < d->ntold; i++) {
		const struct told *t = &d->told[i];

		if (t->count < 2)
			continue;
		fprintf(out, "%u times: %s %s, first at %s%sline %u\n", t->count,
			json_object_get_string(json_object_object_get(t->o, "kind")),
			json_object_get_string(json_object_object_get(t->o, "name")),
			t->file ? t->file : "", t->file ? " " : "", t->line);
	}
}

void decode_summary(struct decode *d, FILE *out)
{
	struct json_object *top;

	if (!d->o.json) {
		print_counts(d, out);
		return;
	}
	for (size_t i = 0; i < d->ntold; i++) {
		const struct told *t = &d->told[i];

		if (t->file)
			json_object_object_add(t->o, "file", json_object_new_string(t->file));
		json_object_object_add(t->o, "line", json_object_new_uint64(t->line));
		json_object_object_add(t->o, "count", json_object_new_uint64(t->count));
	}
	top = json_object_new_object();
	json_object_object_add(top, "parts", json_object_get(d->parts));
	json_object_object_add(top, "meanings", json_object_get(d->means));
	fprintf(out, "%s\n",
		json_object_to_json_string_ext(top, JSON_C_TO_STRING_PLAIN |
							    JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(top);
}

struct decode *decode_create(const struct decode_options *o)
{
	struct decode *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->o = *o;
	d->parts = json_object_new_array();
	d->means = json_object_new_array();
	d->told = calloc(TOLD_MAX, sizeof(*d->told));
	d->hex = (struct hex_reader){.text = on_text, .block = on_block, .ctx = d};
	if (d->told)
		return d;
	decode_destroy(d);
	return NULL;
}

void decode_destroy(struct decode *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->ntold; i++) {
		free(d->told[i].key);
		json_object_put(d->told[i].o);
	}
	free(d->told);
	hex_finish(&d->hex);
	json_object_put(d->means);
	json_object_put(d->parts);
	free(d);
}
