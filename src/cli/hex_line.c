/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The bytes that one line of a dump has. hex.c calls it. */
#include "cli/hex_line.h"

#include <ctype.h>
#include <string.h>

enum { ROW = 16, WORDS = 4 };

static int hex_digit(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

/*
 * Colons may stand between pairs only; three pairs are a clock, six an address of Ethernet, and no
 * dump.
 */
static bool colons_fit(const char *s, size_t len)
{
	size_t groups = (len + 1) / 3;

	if (!memchr(s, ':', len))
		return true;
	for (size_t i = 0; i < len; i++)
		if ((s[i] == ':') != (i % 3 == 2))
			return false;
	return len % 3 == 2 && groups > 3 && groups != 6;
}

/*
 * A token of hex digits, with 0x or colons between its parts; returns bytes, 0: it is no such
 * token.
 */
static size_t token_bytes(const char *s, size_t len, uint8_t *out, size_t room)
{
	size_t n = 0;
	int high = -1;

	if (len > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
		s += 2;
		len -= 2;
	}
	if (!colons_fit(s, len))
		return 0;
	for (size_t i = 0; i < len; i++) {
		int d = hex_digit(s[i]);

		if (s[i] == ':')
			continue;
		if (d < 0)
			return 0;
		if (high < 0) {
			high = d;
			continue;
		}
		if (n == room)
			return 0;
		out[n++] = (uint8_t)(high << 4 | d);
		high = -1;
	}
	return high < 0 ? n : 0;
}

static size_t token_length(const char *s)
{
	return strcspn(s, " \t\r\n,;{}[]()|<>\"'");
}

static const char *skip_space(const char *s)
{
	return s + strspn(s, " \t\r\n,;{}\"'");
}

/*
 * Data tokens from s on; returns where they end. `colon`: the offset ended with a colon, so two
 * blanks end the data.
 */
static const char *read_tokens(const char *s, bool colon, struct hex_line *l)
{
	l->n = 0;
	for (s = skip_space(s); *s;) {
		size_t len = token_length(s), got;

		got = len ? token_bytes(s, len, l->bytes + l->n, sizeof(l->bytes) - l->n) : 0;
		if (!got)
			return s;
		l->n += got;
		s += len;
		if (colon && s[0] == ' ' && s[1] == ' ' && l->n)
			return s + strlen(s);
		s = skip_space(s);
	}
	return s;
}

/* "00000010:" and "010:" are offsets, "kernel:" and "error:" labels. */
static bool offset_of(const char *s, size_t len, uint64_t *v)
{
	if (!len || len > 16)
		return false;
	*v = 0;
	for (size_t i = 0; i < len; i++) {
		int d = hex_digit(s[i]);

		if (d < 0)
			return false;
		*v = *v << 4 | (unsigned int)d;
	}
	return true;
}

/*
 * od and hexdump write the offset without a colon: it is the first token, if that is wider or
 * narrower than all that follow.
 */
static void strip_bare_offset(const char *s, struct hex_line *l)
{
	size_t first, len;
	const char *rest;

	s = skip_space(s);
	first = token_length(s);
	rest = skip_space(s + first);
	len = token_length(rest);
	if (first < 6 || first > 8 || !len || len == first || !offset_of(s, first, &l->offset))
		return;
	l->has_offset = true;
	read_tokens(rest, false, l);
	if (l->n)
		return;
	l->has_offset = false;
	read_tokens(s, false, l);
}

/* ---- rows of 16 bytes, as drivers and libraries print them */

struct run {
	size_t from, to, count, width; /* characters, tokens, and digits of each */
};

/* Is a token of `width` digits here? It may touch other text behind it, but not letters or digits.
 */
static bool is_group(const char *s, size_t width)
{
	for (size_t i = 0; i < width; i++)
		if (hex_digit(s[i]) < 0)
			return false;
	return !isalnum((unsigned char)s[width]) && !strchr(":.-_", s[width] ? s[width] : ' ');
}

/* The last run of at least 16 bytes in groups of `width` digits. */
static bool find_run(const char *text, size_t width, struct run *found)
{
	struct run run = {.width = width};
	size_t need = ROW * 2 / width;
	bool any = false;

	for (size_t i = 0; text[i];) {
		bool start = !i || isspace((unsigned char)text[i - 1]);

		if (!start || !is_group(text + i, width)) {
			if (!isspace((unsigned char)text[i]))
				run.count = 0;
			i++;
			continue;
		}
		if (!run.count)
			run.from = i;
		i += width;
		run.count++;
		run.to = i;
		if (run.count >= need) {
			*found = run;
			any = true;
		}
		if (!isspace((unsigned char)text[i]))
			run.count = 0;
	}
	return any;
}

/* The offset before a run: a token of digits with a colon. */
static bool row_offset(const char *text, struct run *run, struct hex_line *l)
{
	size_t end = run->from, begin;

	while (end && isspace((unsigned char)text[end - 1]))
		end--;
	if (!end || text[end - 1] != ':')
		return false;
	end--;
	for (begin = end; begin && !isspace((unsigned char)text[begin - 1]);)
		begin--;
	if (!offset_of(text + begin, end - begin, &l->offset))
		return false;
	l->before = begin;
	return true;
}

/* Finds a row of data between other text. False: the line has no row, or no other text. */
static bool read_row(const char *text, struct hex_line *l)
{
	struct run run = {0};
	size_t skip, blank = strspn(text, " \t");

	if (!find_run(text, 8, &run) && !find_run(text, 2, &run))
		return false;
	l->before = run.from;
	l->has_offset = row_offset(text, &run, l);
	if (!l->has_offset && run.from == blank && !text[run.to + strspn(text + run.to, " \t")])
		return false; /* the line is data alone */
	/* The bytes of a row: the first 16 after an offset, the last 16 of a line without one. */
	skip = l->has_offset ? 0 : run.count % (ROW * 2 / run.width);
	l->n = 0;
	for (const char *s = text + run.from; s < text + run.to && l->n < sizeof(l->bytes);) {
		s += strspn(s, " \t");
		if (skip)
			skip--;
		else
			l->n += token_bytes(s, run.width, l->bytes + l->n, sizeof(l->bytes) - l->n);
		s += run.width;
		if (l->has_offset && l->n == ROW)
			break;
	}
	/* Behind a row, after a blank, is its column of characters. */
	l->after = text[run.to] && !isspace((unsigned char)text[run.to]) ? run.to : 0;
	return l->n >= ROW;
}

static size_t no_text_before(const char *text, size_t before)
{
	return strspn(text, " \t") >= before ? 0 : before;
}

/* Data behind a word that ends with a colon; of several places the one with most bytes. */
static bool read_labelled(const char *text, bool loose, struct hex_line *best)
{
	const char *s = skip_space(text), *place = NULL;
	size_t most = best->n;
	uint64_t offset;

	for (; *s; s = skip_space(s)) {
		size_t len = strcspn(s, " \t\r\n");

		if (len && s[len - 1] == ':') {
			bool has = offset_of(s, len - 1, &offset);
			const char *end = (has || loose) ? read_tokens(s + len, true, best) : NULL;

			/* Some dumps end with an offset alone. */
			if (end && (has || !*end) &&
			    (best->n > most || (best->n && best->n == most && has))) {
				most = best->n;
				place = s;
			}
		}
		s += len;
	}
	if (!place)
		return false;
	read_tokens(place + strcspn(place, " \t\r\n"), true, best);
	best->has_offset = offset_of(place, strcspn(place, " \t\r\n") - 1, &best->offset);
	best->before = (size_t)(place - text);
	return true;
}

bool hex_line_read(const char *text, bool loose, struct hex_line *l)
{
	l->n = l->before = l->after = 0;
	if (read_row(text, l)) {
		l->before = no_text_before(text, l->before);
		return true;
	}
	l->before = l->after = 0;
	l->has_offset = false;
	read_tokens(text, false, l);
	strip_bare_offset(text, l);
	if (!read_labelled(text, loose, l)) {
		l->has_offset = false;
		read_tokens(text, false, l);
		strip_bare_offset(text, l);
	}
	l->before = no_text_before(text, l->before);
	/* Words like "dead" or a single number are no dump; a short line of a dump has its offset.
	 */
	return l->n >= 4 || (l->n && l->has_offset);
}
