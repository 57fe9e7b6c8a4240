/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns chains of bytes. Calls table.c and, for a program's memory, mem.c; called by src/umad. */
#include "hw/chain.h"
#include "segment/mem.h"

#include <errno.h>
#include <string.h>

static int chain_copy_own(void *dst, const void *src, size_t n)
{
	memcpy(dst, src, n);
	return 0;
}

/* The piece that the next byte goes to; NULL: no space. */
static struct seg_evdata *open_piece(struct seg *s, uint32_t owner, struct seg_chain *c)
{
	struct seg_evdata *d;
	uint32_t i;

	if (c->len % EVQ_PIECE)
		return seg_live(s, SEG_T_EVBUF, c->tail);
	if (seg_alloc_begin(s, SEG_T_EVBUF, &i))
		return NULL;
	c->owner = owner;
	if (c->len) {
		d = seg_live(s, SEG_T_EVBUF, c->tail);
		if (!d) {
			seg_free(s, SEG_T_EVBUF, i);
			return NULL;
		}
		d->next = i;
	} else {
		c->head = i;
	}
	c->prev = c->tail;
	c->tail = i;
	/* from here on evq_close() finds the piece through the chain */
	seg_alloc_end(s, SEG_T_EVBUF, owner, i);
	return seg_at(s, SEG_T_EVBUF, i);
}

static int append(struct seg *s, uint32_t owner, struct seg_chain *c, const uint8_t *from,
		  uint32_t n, int (*copy)(void *dst, const void *src, size_t n))
{
	while (n) {
		struct seg_evdata *d = open_piece(s, owner, c);
		uint32_t at = c->len % EVQ_PIECE, k = EVQ_PIECE - at;
		int err;

		if (!d)
			return -ENOSPC;
		if (k > n)
			k = n;
		err = copy(d->bytes + at, from, k);
		/* also after a failed copy: the piece is part of the chain and is freed with it */
		c->len += k;
		if (err)
			return -EFAULT;
		from += k;
		n -= k;
	}
	return 0;
}

int chain_append(struct seg *s, uint32_t owner, struct seg_chain *c, const void *from, uint32_t n)
{
	return append(s, owner, c, from, n, chain_copy_own);
}

int chain_append_user(struct seg *s, uint32_t owner, struct seg_chain *c, const void *from,
		      uint32_t n)
{
	return append(s, owner, c, from, n, mem_guarded_copy);
}

static uint32_t pieces(uint32_t len)
{
	return (uint32_t)(((uint64_t)len + EVQ_PIECE - 1) / EVQ_PIECE);
}

bool chain_fits(const struct seg *s, size_t n)
{
	const struct seg_table_hdr *h = seg_table(s, SEG_T_EVBUF);

	return n / EVQ_PIECE < h->capacity - atomic_load(&h->live);
}

void chain_cut(struct seg *s, struct seg_chain *c, uint32_t len)
{
	if (len >= c->len)
		return;
	if (pieces(len) < pieces(c->len)) {
		seg_free_of(s, SEG_T_EVBUF, c->owner, c->tail);
		c->tail = c->prev;
	}
	c->len = len;
}

void chain_free(struct seg *s, struct seg_chain *c)
{
	uint32_t i = c->head, next;

	for (uint32_t n = pieces(c->len); n && i; n--, i = next)
		if (!evq_data(s, i, &next))
			break;
		else
			seg_free_of(s, SEG_T_EVBUF, c->owner, i);
	*c = (struct seg_chain){0};
}

int chain_seek(struct seg *s, const struct seg_chain *c, uint32_t at, struct chain_pos *pos)
{
	uint32_t i = c->head, next = 0;

	for (uint32_t n = at / EVQ_PIECE; n; n--, i = next)
		if (!evq_data(s, i, &next))
			return -EIO;
	*pos = (struct chain_pos){i, at % EVQ_PIECE};
	return 0;
}

int chain_read(struct seg *s, struct chain_pos *pos, void *to, uint32_t n)
{
	uint8_t *out = to;

	while (n) {
		uint32_t next = 0, k = EVQ_PIECE - pos->off;
		const uint8_t *d = evq_data(s, pos->piece, &next);

		if (!d || pos->off >= EVQ_PIECE)
			return -EIO;
		if (k > n)
			k = n;
		memcpy(out, d + pos->off, k);
		out += k;
		n -= k;
		pos->off += k;
		if (pos->off == EVQ_PIECE)
			*pos = (struct chain_pos){next, 0};
	}
	return 0;
}

void chain_rewrite(struct seg *s, const struct seg_chain *c, const void *from, uint32_t n)
{
	struct seg_evdata *d = c->head ? seg_live(s, SEG_T_EVBUF, c->head) : NULL;

	if (d && n <= c->len && n <= EVQ_PIECE)
		memcpy(d->bytes, from, n);
}
