/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Converts rows of tests/abi to bytes and back: the input format of the ioctl and write targets. */
#include "device.h"

enum { ROW_CMD = 1, ROW_AT = 2, ROW_FRAME = 4, ROW_DRIVER = 8, ROW_CLOSES = 16, ROW_WHICH = 6 };
enum {
	ATTR_WORD,
	ATTR_SMALL,
	ATTR_OUT,
	ATTR_INPUT,
	ATTR_KINDS = 4,
	ATTR_RESERVED = 0x40,
	ATTR_OPTIONAL = 0x80
};

struct out {
	uint8_t *p;
	size_t n, room;
};

static void put(struct out *o, const void *p, size_t n)
{
	if (o->n + n <= o->room)
		memcpy(o->p + o->n, p, n);
	o->n += n;
}

static void put8(struct out *o, uint8_t v)
{
	put(o, &v, sizeof(v));
}

static void put16(struct out *o, uint16_t v)
{
	put(o, &v, sizeof(v));
}

static void put_attr(struct out *o, const struct attr *a)
{
	uint8_t flags =
		(uint8_t)((a->optional ? ATTR_OPTIONAL : 0) | (a->reserved ? ATTR_RESERVED : 0));

	if (a->in)
		put8(o, flags | ATTR_INPUT);
	else if (a->data >= OUT && a->data < OUT_END)
		put8(o, flags | ATTR_OUT);
	else if (a->data < 256)
		put8(o, flags | ATTR_SMALL);
	else
		put8(o, flags | ATTR_WORD);
	put16(o, a->id);
	put16(o, a->len);
	if (a->reserved)
		put16(o, a->reserved);
	if (a->in)
		put(o, a->in, a->len);
	else if (a->data >= OUT && a->data < OUT_END)
		put16(o, (uint16_t)(a->data - OUT));
	else if (a->data < 256)
		put8(o, (uint8_t)a->data);
	else
		put(o, &a->data, sizeof(a->data));
}

static unsigned int attrs(const struct ioctl_row *r)
{
	unsigned int n = 0;

	while (n < NATTRS && (n < r->nattr || r->attr[n].id || r->attr[n].len || r->attr[n].data))
		n++;
	return n;
}

size_t fz_ioctl_write(const struct ioctl_row *r, uint8_t *p, size_t room)
{
	struct out o = {p, 0, room};
	bool frame = r->length || r->num_attrs || r->reserved1 || r->reserved2;

	put8(&o, (uint8_t)((r->cmd ? ROW_CMD : 0) | (r->at ? ROW_AT : 0) | (frame ? ROW_FRAME : 0) |
			   (r->driver_id ? ROW_DRIVER : 0) | (r->closes ? ROW_CLOSES : 0) |
			   r->which << ROW_WHICH));
	put16(&o, r->object);
	put16(&o, r->method);
	put8(&o, (uint8_t)attrs(r));
	if (r->cmd)
		put(&o, &r->cmd, sizeof(r->cmd));
	if (r->at)
		put(&o, &r->at, sizeof(r->at));
	if (frame) {
		put16(&o, r->length);
		put16(&o, r->num_attrs);
		put8(&o, (uint8_t)(r->reserved1 != 0));
		put8(&o, (uint8_t)(r->reserved2 != 0));
	}
	if (r->driver_id)
		put(&o, &r->driver_id, sizeof(r->driver_id));
	for (unsigned int i = 0; i < attrs(r); i++)
		put_attr(&o, &r->attr[i]);
	return o.n <= room ? o.n : 0;
}

/*
 * libFuzzer learns addresses of this process from comparisons. The device would take them for the
 * program's: so an input may only use addresses of the arenas, or unmapped ones.
 */
static uint64_t tame(uint64_t v)
{
	if (v >> 44 && v < UINT64_C(1) << 47 && (v < MEM || v > NOWHERE + (1 << 20)))
		return NOWHERE + (v & 0xfff);
	return v;
}

static void tame_all(void *p, size_t len, size_t step)
{
	uint64_t v;

	for (size_t at = 0; at + sizeof(v) <= len; at += step) {
		memcpy(&v, (uint8_t *)p + at, sizeof(v));
		v = tame(v);
		memcpy((uint8_t *)p + at, &v, sizeof(v));
	}
}

/* Largest input of a call: it lies in one page with its header and attributes. */
#define INPUT_MAX 3000

static void read_attr(struct fz *f, struct attr *a, struct fz_store *s)
{
	uint8_t kind = fz_u8(f);

	a->optional = kind & ATTR_OPTIONAL;
	a->id = fz_u16(f);
	a->len = fz_u16(f);
	if (kind & ATTR_RESERVED)
		a->reserved = fz_u16(f);
	switch (kind % ATTR_KINDS) {
	case ATTR_SMALL:
		a->data = fz_u8(f);
		break;
	case ATTR_OUT:
		a->data = OUT + fz_u16(f) % (OUT_END - OUT + 64);
		break;
	case ATTR_INPUT:
		if (a->len <= INPUT_MAX - s->used) {
			a->in = s->b + s->used;
			fz_bytes(f, s->b + s->used, a->len);
			tame_all(s->b + s->used, a->len, 8);
			s->used += (a->len + 7u) & ~7u;
			break;
		} /* fall through */
	default:
		a->data = tame(fz_u64(f));
		break;
	}
}

void fz_ioctl_read(struct fz *f, struct ioctl_row *r, struct fz_store *s)
{
	uint8_t flags = fz_u8(f);

	*r = (struct ioctl_row){.what = "", .rule = ""};
	s->used = 0;
	r->which = (enum which)(flags >> ROW_WHICH) % 3;
	r->closes = flags & ROW_CLOSES;
	r->object = fz_u16(f);
	r->method = fz_u16(f);
	r->nattr = fz_u8(f) % (NATTRS + 1);
	if (flags & ROW_CMD)
		r->cmd = fz_u32(f);
	if (flags & ROW_AT)
		r->at = tame(fz_u64(f));
	if (flags & ROW_FRAME) {
		r->length = fz_u16(f);
		r->num_attrs = fz_u16(f);
		r->reserved1 = fz_u8(f);
		r->reserved2 = fz_u8(f);
	}
	if (flags & ROW_DRIVER)
		r->driver_id = fz_u32(f);
	for (unsigned int i = 0; i < r->nattr; i++)
		read_attr(f, &r->attr[i], s);
}

/* ---- write(2) */

enum { MAX_WORDS = sizeof(((struct write_row *)0)->words) / 4 };

size_t fz_written_write(const struct write_row *r, uint8_t *p, size_t room)
{
	struct out o = {p, 0, room};

	put8(&o, (uint8_t)((r->at ? ROW_AT : 0) | (r->count ? ROW_FRAME : 0) |
			   (r->closes ? ROW_CLOSES : 0) | r->which << ROW_WHICH));
	put8(&o, (uint8_t)r->nwords);
	if (r->at)
		put(&o, &r->at, sizeof(r->at));
	if (r->count)
		put16(&o, (uint16_t)r->count);
	put(&o, r->words, r->nwords * 4);
	return o.n <= room ? o.n : 0;
}

void fz_written_read(struct fz *f, struct write_row *r)
{
	uint8_t flags = fz_u8(f);

	*r = (struct write_row){.what = "", .rule = ""};
	r->which = (enum which)(flags >> ROW_WHICH) % 3;
	r->closes = flags & ROW_CLOSES;
	r->nwords = fz_u8(f) % (MAX_WORDS + 1);
	if (flags & ROW_AT)
		r->at = tame(fz_u64(f));
	if (flags & ROW_FRAME)
		r->count = fz_u16(f);
	fz_bytes(f, r->words, r->nwords * 4);
	tame_all(r->words, r->nwords * 4, 4);
}
