/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `softhca top`: shows a fabric live, on a terminal, or as pages one behind the other. */
#include "cli/top.h"

#include <string.h>
#include <unistd.h>
#include "cli/watch.h"
#include "super/program.h"
#include "util/clock.h"

static bool print_page(struct top_sample *t, const struct top_view *v, bool first)
{
	struct top_page p;
	bool ok = top_page(t, v, &p);

	if (ok && !first)
		putchar('\n');
	for (size_t i = 0; ok && i < p.n; i++)
		puts(p.line[i].text);
	top_page_free(&p);
	return ok;
}

static void print_json(struct top_sample *t, const struct top_view *v)
{
	struct json_object *o = top_json(t, v);

	puts(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN |
						       JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(o);
}

static bool never(void *ctx)
{
	return false;
}

/* A page for each interval, until a signal comes or the fabric ends. */
static int batch(struct seg *s, const struct cli_options *o, const struct top_view *v)
{
	struct top_sample last = {0}, now;
	uint64_t step = (uint64_t)(v->interval * (double)NSEC_PER_SEC);
	sigset_t set, old;
	bool ok = top_sample(s, NULL, &last);

	watch_signals(&set, &old);
	for (uint32_t n = 0; ok && (!o->watch.times || n < o->watch.times); n++) {
		if (watch_until(s, &set, never, NULL, last.ns + step))
			break;
		ok = top_sample(s, &last, &now);
		if (!ok)
			break;
		top_sample_free(&last);
		last = now;
		if (o->json)
			print_json(&last, v);
		else
			ok = print_page(&last, v, !n);
		if (fflush(stdout))
			break;
	}
	top_sample_free(&last);
	return ok ? 0 : prog_fail("top: out of memory");
}

int cli_top(struct cli_options *o)
{
	struct top_view v = {.interval = o->watch.delay ? o->watch.delay / 1000.0 : 1,
			     .sort = (enum top_sort)o->watch.sort,
			     .reverse = o->watch.reverse,
			     .all = o->all};
	struct seg s = {0};
	int r;

	if (o->argc)
		o->fabric = o->argv[0];
	if (o->watch.filter)
		snprintf(v.filter, sizeof(v.filter), "%s", o->watch.filter);
	r = watch_begin(o, &s);
	if (r)
		return r;
	v.fabric = s.hdr->name;
	if (o->watch.batch || o->json || !isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO))
		r = batch(&s, o, &v);
	else
		r = top_screen(&s, &v, o->watch.times);
	seg_unmap(&s);
	return r;
}
