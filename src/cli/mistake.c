/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the messages for options that getopt refuses: argp does not tell an unknown option from one
 * without its value. options.c calls it.
 */
#include "cli/mistake.h"

#include <stdio.h>
#include <string.h>
#include "util/suggest.h"
#include "super/program.h"

/* The commands that have an option of this name: "; it is one of up, run", or "". */
static void name_owners(const char *name, size_t n, char *text, size_t size)
{
	const char *sep = "; it is one of ";
	const struct cli_verb *v;
	struct cli_option o;
	size_t len = 0;

	*text = 0;
	for (size_t k = 0; (v = cli_verb(k)) != NULL; k++)
		for (size_t i = 0; options_next(v->bit, &i, &o);)
			if (!strncmp(o.name, name, n) && !o.name[n] && len < size) {
				len += (size_t)snprintf(text + len, size - len, "%s%s", sep,
							v->name);
				sep = ", ";
			}
}

static void say_unknown(const struct cli_verb *v, const char *name, size_t n)
{
	struct suggest s;
	struct cli_option o;
	char hint[256];

	name_owners(name, n, hint, sizeof(hint));
	suggest_begin(&s, name, n);
	for (size_t i = 0; !*hint && options_next(v->bit, &i, &o);)
		suggest_add(&s, o.name);
	if (s.best)
		snprintf(hint, sizeof(hint), "; did you mean '--%s'?", s.best);
	prog_fail("unknown option '--%.*s'%s (softhca %s --help)", (int)n, name, hint, v->name);
}

/* `word` is "--NAME..."; true after a message, if it is wrong. */
static bool long_mistake(const struct cli_verb *v, const char *word)
{
	size_t n = strcspn(word + 2, "="), count = 0;
	struct cli_option o, found = {.name = NULL};
	bool value = word[2 + n], exact = false;

	for (size_t i = 0; !exact && options_next(v->bit, &i, &o);)
		if (!strncmp(o.name, word + 2, n)) {
			count++;
			found = o;
			exact = !o.name[n];
		}
	if (!count)
		say_unknown(v, word + 2, n);
	else if (!exact && count > 1)
		prog_fail("'--%.*s' is the beginning of several options (softhca %s --help)",
			  (int)n, word + 2, v->name);
	else if (value && !found.arg)
		prog_fail("--%s takes no value", found.name);
	else if (!value && found.value)
		prog_fail("--%s needs a value: --%s %s", found.name, found.name, found.arg);
	else
		return false;
	return true;
}

/* `word` is "-x...", several options in one. */
static bool short_mistake(const struct cli_verb *v, const char *word)
{
	struct cli_option o;
	bool known;

	for (const char *c = word + 1; *c; c++) {
		known = false;
		for (size_t i = 0; !known && options_next(v->bit, &i, &o);)
			known = o.short_key == *c;
		if (!known)
			prog_fail("unknown option '-%c' (softhca %s --help)", *c, v->name);
		else if (o.arg && !c[1])
			prog_fail("-%c needs a value: -%c %s", *c, *c, o.arg);
		else if (o.arg)
			return false;
		else
			continue;
		return true;
	}
	return false;
}

static bool is_mistake(const struct cli_verb *v, const char *word)
{
	if (!word || word[0] != '-' || !word[1])
		return false;
	return word[1] == '-' ? long_mistake(v, word) : short_mistake(v, word);
}

void mistake_say(const struct cli_verb *v, char **argv, int next)
{
	/* getopt has stepped over the wrong word, unless more option letters follow in it. */
	if (next > 1 && is_mistake(v, argv[next - 1]))
		return;
	if (!is_mistake(v, argv[next]))
		prog_fail("'%s' is not understood (softhca %s --help)",
			  argv[next > 1 ? next - 1 : next], v->name);
}
