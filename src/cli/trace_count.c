/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns the table of `softhca trace -c`. */
#include "cli/trace_count.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include "util/cleanup.h"
#include "util/clock.h"

struct row {
	uint64_t calls, errors, ns;
	const char *name; /* in key */
	char key[];       /* topic, NUL, name, NUL */
};

static int by_key(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return strcmp(x->key, y->key) ?: strcmp(x->name, y->name);
}

static struct row *row_new(const char *topic, const char *name)
{
	size_t n = strlen(topic) + 1, size = n + strlen(name) + 1;
	struct row *r = calloc(1, sizeof(*r) + size);

	if (!r)
		return NULL;
	memcpy(r->key, topic, n);
	strcpy(r->key + n, name);
	r->name = r->key + n;
	return r;
}

bool trace_count(struct trace_counts *t, const char *topic, const char *name, bool failed,
		 uint64_t ns)
{
	struct row *r = row_new(topic, name), **found = r ? tsearch(r, &t->tree, by_key) : NULL;

	if (!found) {
		free(r);
		return false;
	}
	if (*found != r)
		free(r);
	else
		t->n++;
	(*found)->calls++;
	(*found)->errors += failed;
	(*found)->ns += ns;
	return true;
}

/* ---- order */

static uint64_t mean(const struct row *r)
{
	return r->calls ? r->ns / r->calls : 0;
}

static uint64_t value(const struct row *r, enum trace_sort by)
{
	switch (by) {
	case TRACE_SORT_CALLS:
		return r->calls;
	case TRACE_SORT_ERRORS:
		return r->errors;
	case TRACE_SORT_MEAN:
		return mean(r);
	case TRACE_SORT_TIME:
		return r->ns;
	case TRACE_SORT_NAME:
		break;
	}
	return 0;
}

/* The largest first; equal ones by calls, then by name. */
static int compare(const void *a, const void *b, void *arg)
{
	const struct row *x = *(struct row *const *)a, *y = *(struct row *const *)b;
	enum trace_sort by = *(enum trace_sort *)arg;
	uint64_t v = value(x, by), w = value(y, by);

	if (v != w)
		return v < w ? 1 : -1;
	if (by != TRACE_SORT_NAME && x->calls != y->calls)
		return x->calls < y->calls ? 1 : -1;
	return by == TRACE_SORT_NAME ? strcmp(x->name, y->name) ?: strcmp(x->key, y->key)
				     : by_key(x, y);
}

struct list {
	struct row **at;
	size_t n;
};

static void collect(const void *node, VISIT which, void *arg)
{
	struct list *l = arg;

	if (which == postorder || which == leaf)
		l->at[l->n++] = *(struct row *const *)node;
}

/* ---- output */

static void write_row(FILE *f, const struct row *r, uint64_t total)
{
	char errors[24] = "";

	if (r->errors)
		snprintf(errors, sizeof(errors), "%" PRIu64, r->errors);
	fprintf(f, "%6.2f %11.6f %11.3f %9" PRIu64 " %9s  %-8s %s\n",
		total ? 100.0 * (double)r->ns / (double)total : 0.0,
		(double)r->ns / (double)NSEC_PER_SEC, (double)mean(r) / NSEC_PER_USEC, r->calls,
		errors, r->key, *r->name ? r->name : "(text)");
}

static void write_table(FILE *f, const struct list *l)
{
	static const char line[] = "------ ----------- ----------- --------- ---------  -------- "
				   "----------------\n";
	struct row *sum = row_new("total", "");

	if (!sum)
		return;
	for (size_t i = 0; i < l->n; i++) {
		sum->calls += l->at[i]->calls;
		sum->errors += l->at[i]->errors;
		sum->ns += l->at[i]->ns;
	}
	fprintf(f, "%% time     seconds  usecs/call     calls    errors  topic    name\n%s", line);
	for (size_t i = 0; i < l->n; i++)
		write_row(f, l->at[i], sum->ns);
	fputs(line, f);
	fprintf(f, "100.00 %11.6f %11.3f %9" PRIu64 " %9" PRIu64 "  total\n",
		(double)sum->ns / (double)NSEC_PER_SEC, (double)mean(sum) / NSEC_PER_USEC,
		sum->calls, sum->errors);
	free(sum);
}

static void write_json(FILE *f, const struct list *l)
{
	struct json_object *o = json_object_new_object(), *a = json_object_new_array();

	for (size_t i = 0; i < l->n; i++) {
		const struct row *r = l->at[i];
		struct json_object *j = json_object_new_object();
		char seconds[40];

		json_object_object_add(j, "topic", json_object_new_string(r->key));
		json_object_object_add(j, "name", json_object_new_string(r->name));
		json_object_object_add(j, "calls", json_object_new_uint64(r->calls));
		json_object_object_add(j, "errors", json_object_new_uint64(r->errors));
		snprintf(seconds, sizeof(seconds), "%.9f", (double)r->ns / (double)NSEC_PER_SEC);
		json_object_object_add(j, "seconds", json_object_new_double_s(0, seconds));
		json_object_array_add(a, j);
	}
	json_object_object_add(o, "counts", a);
	fprintf(f, "%s\n",
		json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN |
							  JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(o);
}

void trace_counts_write(const struct trace_counts *t, FILE *f, enum trace_sort by, bool json)
{
	struct list l = {.at = calloc(t->n + 1, sizeof(*l.at))};

	if (!l.at)
		return;
	twalk_r(t->tree, collect, &l);
	qsort_r(l.at, l.n, sizeof(*l.at), compare, &by);
	if (json)
		write_json(f, &l);
	else
		write_table(f, &l);
	free(l.at);
}

void trace_counts_free(struct trace_counts *t)
{
	tdestroy(t->tree, free);
	t->tree = NULL;
}
