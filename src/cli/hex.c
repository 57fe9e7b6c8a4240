/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads hexadecimal dumps from any source. decode.c calls it. */
#include "cli/hex.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "util/bits.h"
#include "util/cleanup.h"

#define BLOCK_MAX (16u << 20) /* bytes of one dump */
#define PAD 3u                /* see struct hex_block */
#define LINE_BYTES 65536u     /* per line: a whole command may be one line */

struct line {
	size_t n;
	bool has_offset;
	uint64_t offset;
	uint8_t bytes[LINE_BYTES];
};

static void line_copy(struct line *to, const struct line *from)
{
	memcpy(to, from, offsetof(struct line, bytes) + from->n);
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
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
	for (size_t i = 0; i < len; i++) {
		int d = hex_digit(s[i]);

		if (s[i] == ':' && high < 0 && n && i + 1 < len)
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

/* Data tokens from s on. `colon`: the offset ended with a colon, so two blanks end the data. */
static void read_tokens(const char *s, bool colon, struct line *l)
{
	l->n = 0;
	for (s = skip_space(s); *s;) {
		size_t len = token_length(s), got;

		got = len ? token_bytes(s, len, l->bytes + l->n, sizeof(l->bytes) - l->n) : 0;
		if (!got)
			return;
		l->n += got;
		s += len;
		if (colon && s[0] == ' ' && s[1] == ' ' && l->n)
			return;
		s = skip_space(s);
	}
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
static void strip_bare_offset(const char *s, struct line *l)
{
	size_t first, len;
	const char *rest;
	struct line data;

	s = skip_space(s);
	first = token_length(s);
	rest = skip_space(s + first);
	len = token_length(rest);
	if (first < 6 || first > 8 || !len || len == first || !offset_of(s, first, &l->offset))
		return;
	read_tokens(rest, false, &data);
	if (!data.n)
		return;
	memcpy(l->bytes, data.bytes, data.n);
	l->n = data.n;
	l->has_offset = true;
}

/*
 * The data of a line: at its start, or after a word that ends with a colon; if several places are
 * possible, the one with most bytes.
 */
static bool hex_read_line(const char *text, struct line *best)
{
	const char *s = skip_space(text);
	struct line l;

	best->n = 0;
	best->has_offset = false;
	read_tokens(s, false, best);
	strip_bare_offset(s, best);
	for (; *s; s = skip_space(s)) {
		size_t len = strcspn(s, " \t\r\n");

		if (len && s[len - 1] == ':') {
			l.has_offset = offset_of(s, len - 1, &l.offset);
			read_tokens(s + len, true, &l);
			/* Some dumps end with an offset alone. */
			if (l.n > best->n || (l.n && l.n == best->n && l.has_offset))
				line_copy(best, &l);
		}
		s += len;
		if (!*s)
			break;
	}
	/*
	 * Words like "dead" or a single number are no dump; a short line of a dump has its offset.
	 */
	return best->n >= 4 || (best->n && best->has_offset);
}

/* ---- blocks */

static int hex_add(struct hex_input *in, const struct line *l, bool begin, unsigned int number)
{
	struct hex_block *b;

	if (begin) {
		b = realloc(in->blocks, (in->n + 1) * sizeof(*b));
		if (!b)
			return -ENOMEM;
		in->blocks = b;
		b += in->n++;
		*b = (struct hex_block){.line = number};
	}
	b = &in->blocks[in->n - 1];
	if (b->n + l->n > b->cap) {
		size_t cap = (b->cap + l->n) * 2;
		uint8_t *p;

		if (cap > BLOCK_MAX)
			return -EFBIG;
		p = realloc(b->bytes, cap + PAD);
		if (!p)
			return -ENOMEM;
		b->bytes = p;
		b->cap = cap;
	}
	memcpy(b->bytes + b->n, l->bytes, l->n);
	b->n += l->n;
	memset(b->bytes + b->n, 0, PAD);
	return 0;
}

struct hints {
	enum hex_kind kind;
	uint16_t opcode;
	bool entry, mailbox;
};

static void look_for_hints(const char *text, struct hints *h)
{
	const char *paren = strstr(text, "(0x");

	if (strstr(text, "start dump") || strstr(text, "end dump")) {
		*h = (struct hints){0};
	} else if (strstr(text, "command block:")) {
		h->mailbox = true;
	} else if (strstr(text, "INPUT") || strstr(text, "OUTPUT")) {
		h->kind = strstr(text, "INPUT") ? HEX_INPUT : HEX_OUTPUT;
		h->opcode = paren ? (uint16_t)strtoul(paren + 1, NULL, 16) : 0;
		h->entry = strstr(text, "dump command ") && !strstr(text, "dump command data ");
	} else if (strstr(text, "MAD") || strstr(text, "mad:")) {
		h->kind = HEX_MAD;
	} else if (strcasestr(text, "eqe")) {
		h->kind = HEX_EQE;
	} else if (strcasestr(text, "cqe") || strstr(text, "completion with error")) {
		h->kind = HEX_CQE;
	} else if (strcasestr(text, "wqe") || strstr(text, "Error SQ") ||
		   strstr(text, "Error RQ")) {
		h->kind = HEX_WQE;
	}
}

/* hexdump ends with an offset one past the last byte. */
static bool hex_is_end(const struct hex_block *b, const struct line *l)
{
	return !l->has_offset && l->n == 4 && b->n < UINT32_MAX && be32_load(l->bytes) == b->n;
}

/*
 * struct mlx5_cmd_layout and struct mlx5_cmd_prot_block of mlx5_core: the first 16 bytes of the
 * input or output are in the queue entry, the rest in mailboxes of 512 bytes.
 */
static int hex_join(struct hex_input *in)
{
	enum { ENTRY = 64, LENGTH = 4, INLINE = 16, OUT_LENGTH = 56, OUT_INLINE = 32, BOX = 512 };
	struct hex_block *to = NULL;
	size_t kept = 0, want = 0;

	for (size_t i = 0; i < in->n; i++) {
		struct hex_block *b = &in->blocks[i];
		bool out = b->hint == HEX_OUTPUT;

		if (b->mailbox && to) {
			size_t room = want > to->n ? want - to->n : 0, n = b->n < BOX ? b->n : BOX;
			uint8_t *p = realloc(to->bytes, to->n + (n < room ? n : room) + PAD);

			if (!p)
				return -ENOMEM;
			to->bytes = p;
			memcpy(p + to->n, b->bytes, n < room ? n : room);
			to->n += n < room ? n : room;
			memset(to->bytes + to->n, 0, PAD);
			free(b->bytes);
			continue;
		}
		in->blocks[kept] = *b;
		to = NULL;
		if (b->entry && b->n == ENTRY) {
			to = &in->blocks[kept];
			want = be32_load(to->bytes + (out ? OUT_LENGTH : LENGTH));
			memmove(to->bytes, to->bytes + (out ? OUT_INLINE : INLINE), 16);
			to->n = want < 16 ? want : 16;
			memset(to->bytes + to->n, 0, PAD);
		}
		kept++;
	}
	in->n = kept;
	return 0;
}

int hex_read(FILE *f, struct hex_input *in)
{
	_cleanup_free_ char *text = NULL;
	struct hints h = {0};
	struct line l;
	size_t size = 0;
	bool inside = false;
	unsigned int number = 0;
	int r = 0;

	in->blocks = NULL;
	in->n = 0;
	while (!r && getline(&text, &size, f) >= 0) {
		char *bar = strpbrk(text, "|>");

		number++;
		if (bar)
			*bar = '\0'; /* the character column of a dump */
		if (!hex_read_line(text, &l)) {
			if (bar)
				*bar = '|';
			inside = inside && !*skip_space(text); /* an empty line does not end one */
			look_for_hints(text, &h);
			if (in->text)
				in->text(in->ctx, text);
			continue;
		}
		/* "... completion with error: 00000000 ..." contains both. */
		look_for_hints(text, &h);
		if (l.has_offset && !l.offset && !h.mailbox)
			inside = false;
		if (inside && hex_is_end(&in->blocks[in->n - 1], &l))
			continue;
		r = hex_add(in, &l, !inside, number);
		if (!r && !inside) {
			struct hex_block *b = &in->blocks[in->n - 1];

			b->hint = h.kind;
			b->opcode = h.opcode;
			b->entry = h.entry && !h.mailbox;
			b->mailbox = h.mailbox;
			h = (struct hints){0};
		}
		inside = true;
	}
	if (!r)
		r = hex_join(in);
	if (!r && ferror(f))
		r = -errno;
	return r;
}

void hex_free(struct hex_input *in)
{
	for (size_t i = 0; i < in->n; i++)
		free(in->blocks[i].bytes);
	free(in->blocks);
	in->blocks = NULL;
	in->n = 0;
}
