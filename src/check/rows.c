/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The rows of rows.h. */
#include "check/rows.h"

#include <stddef.h>

#define WORD(id, word) [CHECK_##id] = #word,
const char *const check_level_words[CHECK_LEVEL_COUNT] = {CHECK_LEVELS(WORD)};

#define ROW(id, name, level, what, source, hint) \
	[CHECK_R_##id] = {name, CHECK_##level, what, source, hint},
static const struct check_rule rules[CHECK_R_COUNT] = {CHECK_RULES(ROW)};

const struct check_rule *check_rule_at(unsigned int n)
{
	return n < CHECK_R_COUNT ? &rules[n] : NULL;
}
