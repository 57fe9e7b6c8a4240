/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns the guess at a misspelt name. The parsers of commands and options call it. */
#include "util/suggest.h"

#include <string.h>

enum { LONGEST = 32 }; /* longer words are not compared */

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* The number of letters to insert, delete, replace or swap with their neighbour. */
static unsigned int distance(const char *a, size_t na, const char *b, size_t nb)
{
	unsigned int d[LONGEST + 1][LONGEST + 1];

	for (size_t i = 0; i <= na; i++)
		for (size_t j = 0; j <= nb; j++) {
			if (!i || !j) {
				d[i][j] = (unsigned int)(i + j);
				continue;
			}
			d[i][j] = least(least(d[i - 1][j], d[i][j - 1]) + 1,
					d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
		}
	return d[na][nb];
}

void suggest_begin(struct suggest *s, const char *word, size_t len)
{
	/* A third of the word may be wrong; more, and the guess would be arbitrary. */
	*s = (struct suggest){.word = word, .len = len, .cost = (unsigned int)(len + 2) / 3 + 1};
}

void suggest_add(struct suggest *s, const char *name)
{
	size_t n = strlen(name);
	unsigned int cost;

	if (s->len < 2 || s->len > LONGEST || n > LONGEST)
		return;
	/* The beginning of a name is nearer than any misspelling. */
	cost = strncmp(name, s->word, s->len) ? distance(s->word, s->len, name, n) : 0;
	if (cost < s->cost && cost < n) {
		s->best = name;
		s->cost = cost;
	}
}
