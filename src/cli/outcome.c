/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns the file of `run --report`: one JSON object. Called by run.c when the command has ended. */
#include "cli/outcome.h"

#include <errno.h>
#include <json-c/json.h>
#include <string.h>
#include <sys/wait.h>
#include "cli/pair.h"
#include "cli/use.h"
#include "hw/told.h"
#include "super/program.h"
#include "util/cleanup.h"

#define CAUSES "causes "

/* Those of one kind of hw_told_words, with how often they came. */
static void add_kind(struct json_object *list, struct json_object *before,
		     struct json_object *after, enum hw_told_kind told)
{
	const char *kind = hw_told_words[told];
	struct json_object *found = json_object_new_array();
	size_t n = strlen(kind);

	json_object_object_foreach(after, key, v)
	{
		const char *text = key + sizeof(CAUSES) - 1;
		uint64_t times = json_object_get_uint64(v) -
				 json_object_get_uint64(json_object_object_get(before, key));
		struct json_object *o;

		if (strncmp(key, CAUSES, sizeof(CAUSES) - 1) || strncmp(text, kind, n) ||
		    text[n] != ':' || !times)
			continue;
		o = json_object_new_object();
		json_object_object_add(o, "cause", json_object_new_string(text));
		json_object_object_add(o, "times", json_object_new_uint64(times));
		json_object_array_add(found, o);
	}
	/* A program goes on after many a refusal, up to the last one; other failures begin with the
	 * first. */
	for (size_t i = 0, all = json_object_array_length(found); i < all; i++) {
		size_t at = told == HW_TOLD_REFUSED ? all - 1 - i : i;

		json_object_array_add(list, json_object_get(json_object_array_get_idx(found, at)));
	}
	json_object_put(found);
}

/* What explains a failure best comes first; what a process has left is no cause. */
static struct json_object *causes(struct json_object *before, struct json_object *after)
{
	static const enum hw_told_kind order[] = {HW_TOLD_FAILED, HW_TOLD_REFUSED, HW_TOLD_DROPPED,
						  HW_TOLD_IGNORED, HW_TOLD_UNDONE};
	struct json_object *list = json_object_new_array();

	for (size_t i = 0; after && i < ARRAY_SIZE(order); i++)
		add_kind(list, before, after, order[i]);
	return list;
}

int outcome_write(const char *file, struct outcome *o, struct json_object *before,
		  struct json_object *after)
{
	struct json_object *r = json_object_new_object();
	char text[160];
	int bad;

	if (!o->timed_out && WIFEXITED(o->status))
		json_object_object_add(r, "status", json_object_new_int(WEXITSTATUS(o->status)));
	if (!o->timed_out && WIFSIGNALED(o->status))
		json_object_object_add(r, "signal", json_object_new_int(WTERMSIG(o->status)));
	json_object_object_add(r, "timed_out", json_object_new_boolean(o->timed_out));
	json_object_object_add(r, "opened", json_object_new_boolean(o->opened));
	if (o->pair) {
		pair_text(o->pair, text, sizeof(text));
		json_object_object_add(r, "pair", json_object_new_string(text));
	}
	json_object_object_add(r, "causes", causes(before, after));
	json_object_object_add(r, "stood", o->stood ? o->stood : json_object_new_array());
	o->stood = NULL;
	bad = json_object_to_file_ext(file, r, JSON_C_TO_STRING_PRETTY);
	json_object_put(r);
	return bad ? prog_fail("cannot write %s: %s", file, strerror(errno)) : 0;
}
