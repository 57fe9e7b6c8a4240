/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A small printf without state, malloc and locks. Traces call it, also inside a signal handler. */
#include "util/fmt.h"

#include <stdbool.h>
#include <string.h>

struct out {
	char *buf;
	size_t n, size;
};

struct spec {
	bool alt, zero, left;
	size_t width, precision; /* precision SIZE_MAX: none */
	int size;                /* size of the argument in bytes */
};

static void put(struct out *o, char c)
{
	if (o->n + 1 < o->size)
		o->buf[o->n++] = c;
}

static void pad(struct out *o, char c, size_t have, size_t want)
{
	for (; have < want; have++)
		put(o, c);
}

static void put_text(struct out *o, const struct spec *s, const char *text, size_t len)
{
	if (!s->left)
		pad(o, ' ', len, s->width);
	for (size_t i = 0; i < len; i++)
		put(o, text[i]);
	if (s->left)
		pad(o, ' ', len, s->width);
}

static void put_number(struct out *o, const struct spec *s, uint64_t v, unsigned int base,
		       bool upper, bool negative)
{
	const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
	char text[32], *p = text + sizeof(text);
	const char *sign = negative ? "-" : s->alt && base == 16 && v ? "0x" : "";
	size_t nsign = strlen(sign), n;

	do
		*--p = digits[v % base];
	while (v /= base);
	n = (size_t)(text + sizeof(text) - p);
	if (s->zero && !s->left) {
		for (size_t i = 0; i < nsign; i++)
			put(o, sign[i]);
		pad(o, '0', n + nsign, s->width);
		for (size_t i = 0; i < n; i++)
			put(o, p[i]);
		return;
	}
	p -= nsign;
	memcpy(p, sign, nsign);
	put_text(o, s, p, n + nsign);
}

static size_t number(const char **f)
{
	size_t n = 0;

	while (**f >= '0' && **f <= '9')
		n = n * 10 + (size_t)(*(*f)++ - '0');
	return n;
}

/* Flags, width and lengths up to the conversion's letter. */
static const char *parse(const char *f, struct spec *s, va_list *ap)
{
	*s = (struct spec){.precision = SIZE_MAX, .size = sizeof(int)};
	for (;; f++) {
		if (*f == '#')
			s->alt = true;
		else if (*f == '0')
			s->zero = true;
		else if (*f == '-')
			s->left = true;
		else
			break;
	}
	s->width = number(&f);
	if (*f == '.') {
		f++;
		if (*f == '*') {
			int n = va_arg(*ap, int);

			s->precision = n < 0 ? SIZE_MAX : (size_t)n;
			f++;
		} else {
			s->precision = number(&f);
		}
	}
	for (; *f == 'l' || *f == 'z' || *f == 'j' || *f == 'h'; f++)
		if (*f != 'h')
			s->size = 8;
	return f;
}

static int64_t signed_arg(const struct spec *s, va_list *ap)
{
	return s->size == 8 ? va_arg(*ap, long long) : va_arg(*ap, int);
}

static uint64_t unsigned_arg(const struct spec *s, va_list *ap)
{
	return s->size == 8 ? va_arg(*ap, unsigned long long) : va_arg(*ap, unsigned int);
}

static bool convert(struct out *o, struct spec *s, char c, va_list *ap)
{
	const char *text;
	int64_t v;
	char ch;

	switch (c) {
	case 'd':
	case 'i':
		v = signed_arg(s, ap);
		put_number(o, s, v < 0 ? -(uint64_t)v : (uint64_t)v, 10, false, v < 0);
		return true;
	case 'u':
		put_number(o, s, unsigned_arg(s, ap), 10, false, false);
		return true;
	case 'x':
	case 'X':
		put_number(o, s, unsigned_arg(s, ap), 16, c == 'X', false);
		return true;
	case 'p':
		s->alt = true;
		put_number(o, s, (uintptr_t)va_arg(*ap, void *), 16, false, false);
		return true;
	case 'c':
		ch = (char)va_arg(*ap, int);
		put_text(o, s, &ch, 1);
		return true;
	case 's':
		text = va_arg(*ap, const char *);
		if (!text)
			text = "(null)";
		put_text(o, s, text, strnlen(text, s->precision));
		return true;
	case '%':
		put(o, '%');
		return true;
	}
	return false;
}

size_t fmt_v(char *buf, size_t size, const char *f, va_list args)
{
	struct out o = {.buf = buf, .size = size};
	struct spec s;
	va_list ap;

	va_copy(ap, args);
	for (; *f; f++) {
		if (*f != '%') {
			put(&o, *f);
			continue;
		}
		f = parse(f + 1, &s, &ap);
		if (!*f || !convert(&o, &s, *f, &ap))
			break;
	}
	va_end(ap);
	buf[o.n] = '\0';
	return o.n;
}

size_t fmt(char *buf, size_t size, const char *f, ...)
{
	va_list ap;
	size_t n;

	va_start(ap, f);
	n = fmt_v(buf, size, f, ap);
	va_end(ap);
	return n;
}
