/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `softhca explain`. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/cli.h"
#include "cli/decode.h"
#include "cli/explain.h"
#include "cli/failed.h"
#include "cli/report.h"
#include "super/program.h"
#include "util/num.h"

static int unknown(const char *word, bool number, uint64_t n)
{
	char like[256];

	explain_suggest(word, like, sizeof(like));
	if (number && n > UINT16_MAX)
		prog_fail(
			"explain: %s is not a softhca syndrome and is not known from public logs: "
			"the command status beside it says more",
			word);
	else if (*like)
		prog_fail("explain: '%s' is unknown; like it: %s", word, like);
	else
		prog_fail("explain: '%s' is unknown (softhca explain --list)", word);
	return CLI_UNKNOWN;
}

static void list_word(void *ctx, const char *kind, const char *word)
{
	printf("%-20s %s\n", kind, word);
}

/* A whole message, as a log has it. */
static int by_message(struct json_object *list, const char *text)
{
	size_t n = json_object_array_length(list), rank;
	struct report_forms *forms;
	struct report_fact fact;
	bool more;

	if (!strchr(text, ' '))
		return 0;
	forms = report_forms_create();
	if (forms && report_match(forms, text, &fact, &rank, &more))
		decode_fact(list, &fact);
	report_forms_destroy(forms);
	return (int)(json_object_array_length(list) - n);
}

int cli_explain(struct cli_options *o)
{
	struct json_object *list = json_object_new_array();
	int r = 0;

	if (o->list)
		explain_each_word(list_word, NULL);
	else if (!o->argc)
		r = prog_fail("explain: WHAT... is missing (softhca explain --help)");
	for (int i = 0; i < o->argc; i++) {
		const char *word = o->argv[i];
		uint64_t n;
		const char *end;
		bool number;

		errno = 0;
		n = num_in_base(word, strncasecmp(word, "0x", 2) ? 10 : 16, &end);
		number = isdigit((unsigned char)*word) && !*end && !errno;
		if (!(number ? explain_by_number(list, n) + explain_failed_word(list, word)
			     : explain_by_name(list, word)) &&
		    !by_message(list, word))
			r = unknown(word, number, n);
	}
	if (json_object_array_length(list) && o->json)
		printf("%s\n",
		       json_object_to_json_string_ext(
			       list, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
	else
		explain_print(list, "");
	json_object_put(list);
	return r;
}
