/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds hexadecimal dumps in lines from any source, and puts their bytes together. Which bytes a
 * line has: hex_line.c. decode_run.c calls it.
 */
#include "cli/hex.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cli/hex_line.h"
#include "util/bits.h"
#include "util/num.h"

#define BLOCK_MAX (16u << 20) /* bytes of one dump */
#define PAD 3u                /* see struct hex_block */
#define HINT_LINES 4u         /* a heading is forgotten after so many other lines */

/* ---- blocks */

static int hex_add(struct hex_reader *in, const struct hex_line *l, bool begin, unsigned int number)
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

/* ---- headings */

static void look_for_hints(const char *text, struct hex_hints *h)
{
	const char *paren = strstr(text, "(0x");

	if (strstr(text, "start dump") || strstr(text, "end dump")) {
		*h = (struct hex_hints){0};
	} else if (strstr(text, "command block:")) {
		h->mailbox = true;
	} else if (strstr(text, "INPUT") || strstr(text, "OUTPUT")) {
		h->kind = strstr(text, "INPUT") ? HEX_INPUT : HEX_OUTPUT;
		h->opcode = paren ? (uint16_t)num_in_base(paren + 1, 16, NULL) : 0;
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
	} else if (++h->age < HINT_LINES) {
		return;
	} else {
		*h = (struct hex_hints){0};
	}
	h->age = 0;
}

/* hexdump ends with an offset one past the last byte. */
static bool hex_is_end(const struct hex_block *b, const struct hex_line *l)
{
	return !l->has_offset && l->n == 4 && b->n < UINT32_MAX && be32_load(l->bytes) == b->n;
}

/*
 * struct mlx5_cmd_layout and struct mlx5_cmd_prot_block of mlx5_core: the first 16 bytes of the
 * input or output are in the queue entry, the rest in mailboxes of 512 bytes.
 */
static int hex_join(struct hex_reader *in)
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

/* ---- lines */

static void drop_blocks(struct hex_reader *r)
{
	for (size_t i = 0; i < r->n; i++)
		free(r->blocks[i].bytes);
	r->n = 0;
}

static int deliver(struct hex_reader *r)
{
	int rc = hex_join(r);

	for (size_t i = 0; !rc && i < r->n; i++)
		r->block(r->ctx, &r->blocks[i]);
	drop_blocks(r);
	r->inside = false;
	return rc;
}

/* A command's dump is complete when mlx5_core says so, any other one when something else follows.
 */
static bool is_complete(const struct hex_reader *r, const char *text)
{
	bool command = false;

	for (size_t i = 0; i < r->n; i++)
		command = command || r->blocks[i].entry || r->blocks[i].mailbox;
	return !command || strstr(text, "start dump") || strstr(text, "end dump");
}

static int on_text(struct hex_reader *r, char *text)
{
	int rc = 0;

	if (!*(text + strspn(text, " \t\r\n")))
		return 0; /* an empty line does not end a dump */
	r->inside = false;
	if (r->n && is_complete(r, text))
		rc = deliver(r);
	look_for_hints(text, &r->hints);
	r->text(r->ctx, text);
	return rc;
}

/*
 * Does a new dump begin with these bytes? A line with offset 0 begins one, but not if a CQE is
 * still incomplete: then the 0 is the rank that `srun -l` puts before each line.
 */
static bool begins(const struct hex_reader *r, const struct hex_line *l)
{
	const struct hex_block *b = r->n ? &r->blocks[r->n - 1] : NULL;

	if (!r->inside || !b)
		return true;
	if (!l->has_offset || l->offset || r->hints.mailbox)
		return false;
	return !(b->hint == HEX_CQE && b->n < 64);
}

/* A completion with error has 64 bytes, and those who watch a log want to see it at once. */
static bool is_whole_cqe(const struct hex_block *b)
{
	return b->hint == HEX_CQE && b->n >= 64 && b->n % 64 == 0 &&
	       (b->bytes[b->n - 1] >> 4 == 0xd || b->bytes[b->n - 1] >> 4 == 0xe);
}

static int on_data(struct hex_reader *r, const struct hex_line *l, bool in_log, unsigned int number)
{
	bool begin = begins(r, l);
	struct hex_block *b;
	int rc = 0;

	if (!begin && hex_is_end(&r->blocks[r->n - 1], l))
		return 0;
	if (begin && r->n && is_complete(r, ""))
		rc = deliver(r);
	if (!rc)
		rc = hex_add(r, l, begin, number);
	if (rc)
		return rc;
	b = &r->blocks[r->n - 1];
	if (begin) {
		b->hint = r->hints.kind;
		b->opcode = r->hints.opcode;
		b->entry = r->hints.entry && !r->hints.mailbox;
		b->mailbox = r->hints.mailbox;
		r->hints = (struct hex_hints){0};
	}
	b->in_log = b->in_log || in_log;
	r->inside = true;
	return is_whole_cqe(b) ? deliver(r) : 0;
}

int hex_feed(struct hex_reader *r, char *text, bool in_log, unsigned int number)
{
	bool hinted = r->hints.kind || r->hints.mailbox || r->inside;
	char *bar = strpbrk(text, "|>"), saved = bar ? *bar : '\0';
	struct hex_line *l;
	int rc = 0;

	if (!r->scratch)
		r->scratch = malloc(sizeof(*r->scratch));
	if (!r->scratch)
		return -ENOMEM;
	l = r->scratch;
	if (bar)
		*bar = '\0'; /* the character column of a dump */
	if (!hex_line_read(text, hinted || !in_log, l)) {
		if (bar)
			*bar = saved;
		return on_text(r, text);
	}
	/* "... completion with error: 00000000 ..." contains both. */
	if (l->before) {
		saved = text[l->before];
		text[l->before] = '\0';
		if (!r->inside || strstr(text, "completion with error"))
			rc = on_text(r, text);
		text[l->before] = saved;
	}
	if (!rc)
		rc = on_data(r, l, in_log, number);
	if (!rc && l->after)
		rc = on_text(r, text + l->after);
	return rc;
}

int hex_flush(struct hex_reader *r)
{
	int rc = r->n ? deliver(r) : 0;

	r->hints = (struct hex_hints){0};
	return rc;
}

void hex_finish(struct hex_reader *r)
{
	drop_blocks(r);
	free(r->blocks);
	free(r->scratch);
	r->blocks = NULL;
	r->scratch = NULL;
}
