/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The text of a part in `softhca decode`, made from a part's JSON object. */
#include "cli/decode.h"

#include <stdio.h>

static void print_bits(struct json_object *e)
{
	uint64_t width = json_object_get_uint64(json_object_object_get(e, "width"));
	char text[16] = "";

	if (width)
		snprintf(text, sizeof(text), "+%u", (unsigned int)width);
	printf("  0x%04llx %-4s ",
	       (unsigned long long)json_object_get_uint64(json_object_object_get(e, "bit")), text);
}

/* The text comes from a user's file: no control characters to a terminal. */
static void print_text(const char *text)
{
	putchar('"');
	for (; *text; text++)
		putchar((unsigned char)*text < ' ' || *text == 0x7f ? '?' : *text);
	putchar('"');
}

static void print_field(struct json_object *e)
{
	uint64_t v = json_object_get_uint64(json_object_object_get(e, "value"));
	const char *data = json_object_get_string(json_object_object_get(e, "data"));
	const char *text = json_object_get_string(json_object_object_get(e, "text"));
	const char *code = json_object_get_string(json_object_object_get(e, "value_name"));

	print_bits(e);
	printf("%s = ", json_object_get_string(json_object_object_get(e, "name")));
	if (text)
		print_text(text);
	else if (data)
		for (size_t i = 0; data[i]; i += 2)
			printf("%s%.2s", i && i % 64 == 0 ? "\n               " : "", data + i);
	else
		printf(v < 10 ? "%llu" : "0x%llx", (unsigned long long)v);
	printf(code ? " %s\n" : "\n", code);
}

void decode_print(struct json_object *o)
{
	struct json_object *fields = json_object_object_get(o, "fields");
	struct json_object *reserved = json_object_object_get(o, "reserved");
	const char *note = json_object_get_string(json_object_object_get(o, "note"));

	printf("%s %s, %llu bytes%s%s\n", json_object_get_string(json_object_object_get(o, "name")),
	       json_object_get_string(json_object_object_get(o, "kind")),
	       (unsigned long long)json_object_get_uint64(json_object_object_get(o, "bytes")),
	       note ? ": " : "", note ? note : "");
	for (size_t i = 0; i < json_object_array_length(fields); i++)
		print_field(json_object_array_get_idx(fields, i));
	for (size_t i = 0; reserved && i < json_object_array_length(reserved); i++) {
		struct json_object *e = json_object_array_get_idx(reserved, i);

		print_bits(e);
		printf("(no name) 0x%08llx of this dword\n",
		       (unsigned long long)json_object_get_uint64(
			       json_object_object_get(e, "value")));
	}
}
