/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Any bytes as the input of `softhca decode`. The JSON is whole, the text has no control characters
 * for a terminal, and both find the same; if nothing is found, nothing is printed.
 */
#include "fuzz.h"

#include <json-c/json.h>
#include "cli/decode.h"
#include "cli/report.h"

static struct report_reader *lines;
static struct report_forms *forms;

/* Returns the output, and how much was found. */
static char *run(const uint8_t *data, size_t size, bool json, enum hex_kind kind, size_t *found)
{
	const struct decode_options o = {
		.json = json, .kind = kind, .lines = lines, .forms = forms};
	struct decode *d = decode_create(&o);
	FILE *f = fmemopen((void *)data, size, "r"), *saved = stdout;
	char *text = NULL;
	size_t n = 0;

	fz_check(d && f);
	stdout = open_memstream(&text, &n);
	fz_check(stdout);
	fz_check(!decode_read(d, f, NULL));
	*found = decode_found(d);
	decode_summary(d, stdout);
	fclose(stdout);
	stdout = saved;
	fclose(f);
	decode_destroy(d);
	return text;
}

static void check_meanings(struct json_object *list)
{
	for (size_t i = 0; list && i < json_object_array_length(list); i++) {
		struct json_object *o = json_object_array_get_idx(list, i);
		const char *kind = json_object_get_string(json_object_object_get(o, "kind"));

		fz_check(kind && json_object_object_get(o, "name"));
		fz_check(json_object_object_get(o, "value") || !strcmp(kind, "message"));
	}
}

static void check_json(const char *text, size_t found)
{
	struct json_object *o = json_tokener_parse(text),
			   *parts = json_object_object_get(o, "parts");
	struct json_object *means = json_object_object_get(o, "meanings");

	fz_check(o && parts && means);
	fz_check(found || !json_object_array_length(parts));
	fz_check(found || !json_object_array_length(means));
	check_meanings(means);
	for (size_t i = 0; i < json_object_array_length(parts); i++)
		check_meanings(
			json_object_object_get(json_object_array_get_idx(parts, i), "meanings"));
	json_object_put(o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Most inputs tell by themselves what they are. */
	enum hex_kind kind = size && data[size - 1] <= HEX_MAD ? data[size - 1] : HEX_UNKNOWN;
	size_t in_json, in_text;
	char *text;

	if (!lines) {
		lines = report_reader_create();
		forms = report_forms_create();
	}
	if (!size)
		return 0;
	text = run(data, size, true, kind, &in_json);
	check_json(text, in_json);
	free(text);
	text = run(data, size, false, kind, &in_text);
	fz_check(!!in_json == !!in_text);
	fz_check(in_text || !*text);
	for (const char *s = text; *s; s++)
		fz_check(*s == '\n' || (unsigned char)*s >= ' ');
	free(text);
	return 0;
}
