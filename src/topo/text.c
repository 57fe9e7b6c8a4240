/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns the cursor in a line of a topology file. The parser calls it. */
#include "topo/text.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include "util/num.h"

struct topo_where text_at(const struct topo_text *x, const char *p)
{
	return (struct topo_where){x->file, x->lineno, (uint32_t)(p - x->line) + 1};
}

int text_error(struct topo_text *x, const char *fmt, ...)
{
	struct topo_where at = text_at(x, x->p);
	char why[TOPO_ERR / 2];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	return build_error(x->b, &at, "%s", why);
}

void text_blanks(struct topo_text *x)
{
	while (*x->p == ' ' || *x->p == '\t')
		x->p++;
}

bool text_skip(struct topo_text *x, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(x->p, word, n))
		return false;
	x->p += n;
	return true;
}

void text_skip_word(struct topo_text *x)
{
	x->p += strcspn(x->p, " \t");
}

static int digits(struct topo_text *x, const char *what, unsigned int base, uint64_t *v)
{
	const char *start = x->p;

	*v = 0;
	for (; num_digit(*x->p) < base; x->p++) {
		uint64_t more;

		if (__builtin_mul_overflow(*v, base, &more) ||
		    __builtin_add_overflow(more, num_digit(*x->p), v)) {
			x->p = (char *)start;
			return text_error(x, "%s is too large", what);
		}
	}
	return x->p > start ? 0 : text_error(x, "%s is missing", what);
}

int text_hex(struct topo_text *x, const char *what, uint64_t *v)
{
	if (x->p[0] == '0' && (x->p[1] == 'x' || x->p[1] == 'X'))
		x->p += 2;
	return digits(x, what, 16, v);
}

int text_number(struct topo_text *x, const char *what, uint64_t min, uint64_t max, uint64_t *v)
{
	char *start = x->p;
	int r;

	if (x->p[0] == '0' && (x->p[1] == 'x' || x->p[1] == 'X'))
		r = text_hex(x, what, v);
	else
		r = digits(x, what, 10, v);
	if (r || (*v >= min && *v <= max))
		return r;
	x->p = start;
	return text_error(x, "%s is %llu: it must be from %llu to %llu", what,
			  (unsigned long long)*v, (unsigned long long)min, (unsigned long long)max);
}

char *text_quoted(struct topo_text *x, const char *what)
{
	char *start, *quote;

	if (*x->p != '"') {
		text_error(x, "%s in quotes is missing", what);
		return NULL;
	}
	start = x->p + 1;
	quote = memchr(start, '"', (size_t)(x->end - start));
	if (!quote) {
		text_error(x, "the quote after %s is missing", what);
		return NULL;
	}
	*quote = 0;
	x->p = quote + 1;
	return start;
}
