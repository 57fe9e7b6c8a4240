/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A guess at the name that a user meant by a word that is none. */
#ifndef SOFTHCA_UTIL_SUGGEST_H
#define SOFTHCA_UTIL_SUGGEST_H

#include <stddef.h>

struct suggest {
	const char *word;
	size_t len;
	const char *best;  /* the nearest name until now, or NULL */
	unsigned int cost; /* the edits between the word and it */
};

/* Begins a search for names like the first `len` characters of `word`. */
void suggest_begin(struct suggest *s, const char *word, size_t len);
/* Considers one name; `best` may point to it afterwards. */
void suggest_add(struct suggest *s, const char *name);

#endif
