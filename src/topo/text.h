/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A line of a topology file as the parser reads it: a cursor, and functions that read small items.
 * The text is the parser's own copy and may be changed.
 */
#ifndef SOFTHCA_TOPO_TEXT_H
#define SOFTHCA_TOPO_TEXT_H

#include "topo/build.h"

struct topo_text {
	struct topo_build *b;
	char *line, *p, *end; /* *end is 0 */
	char *limit;          /* the end of the file's text */
	uint32_t file, lineno;
};

struct topo_where text_at(const struct topo_text *x, const char *p);
/* Reports an error at the cursor. Returns -EINVAL. */
int text_error(struct topo_text *x, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void text_blanks(struct topo_text *x);
/* If this comes next, move the cursor past it. */
bool text_skip(struct topo_text *x, const char *word);
/*
 * A number: decimal or 0x..., or hexadecimal in any case. `what` names it in errors. 0, -EINVAL.
 */
int text_number(struct topo_text *x, const char *what, uint64_t min, uint64_t max, uint64_t *v);
int text_hex(struct topo_text *x, const char *what, uint64_t *v);
/* After an error: move the cursor past the word, so that the rest of the line can be checked. */
void text_skip_word(struct topo_text *x);
/* "..." in quotes: zero-terminated in place. NULL after an error. */
char *text_quoted(struct topo_text *x, const char *what);

#endif
