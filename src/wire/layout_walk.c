/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Walks the bytes of a layout by its table, for traces and for `softhca decode`. Nothing here
 * depends on a field, so a field added to a layout is shown.
 */
#include "util/rec.h"
#include "wire/layout.h"

/* The field or nested layout that begins first at or after `bit`. */
static bool next_item(const struct layout *l, uint32_t bit, const struct layout_field **f,
		      const struct layout_place **s)
{
	uint32_t best = UINT32_MAX;

	*f = NULL;
	*s = NULL;
	for (uint32_t i = 0; i < l->nfields; i++)
		if (l->fields[i].bit >= bit && l->fields[i].bit < best) {
			best = l->fields[i].bit;
			*f = &l->fields[i];
		}
	for (uint32_t i = 0; i < l->nplaces; i++)
		if (l->places[i].byte * 8 >= bit && l->places[i].byte * 8 < best) {
			best = l->places[i].byte * 8;
			*f = NULL;
			*s = &l->places[i];
		}
	return best != UINT32_MAX;
}

static bool layout_any_set(const uint8_t *p, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++)
		if (p[i])
			return true;
	return false;
}

struct walk {
	const struct layout_walker *w;
	void *ctx;
	const uint8_t *base;
	uint32_t bytes;
	uint32_t seen; /* dwords before this bit are already checked for reserved bits */
};

static const struct layout *inner_of(const struct walk *k, const struct layout_place *s)
{
	const struct layout *l = k->w->open ? k->w->open(k->ctx, s->inner) : NULL;

	return l ? l : s->inner;
}

/* The bits of the dword at `bit` that fields of a layout at `byte` cover. */
static uint32_t covered(const struct walk *k, const struct layout *l, uint32_t byte, uint32_t bit)
{
	uint32_t mask = 0;

	for (uint32_t i = 0; i < l->nfields; i++) {
		uint32_t first = byte * 8 + l->fields[i].bit, width = l->fields[i].width;

		if (width == 64 && (first == bit || first + 32 == bit))
			return UINT32_MAX;
		if (width <= 32 && first / 32 == bit / 32)
			mask |= (uint32_t)(bits_max(width) << (32 - first % 32 - width));
	}
	for (uint32_t i = 0; i < l->nplaces; i++) {
		uint32_t at = byte + l->places[i].byte;

		if (bit / 8 >= at && bit / 8 < at + l->places[i].inner->bytes)
			mask |= covered(k, inner_of(k, &l->places[i]), at, bit);
	}
	return mask;
}

static void reserved_until(struct walk *k, const struct layout *top, uint32_t bit)
{
	if (!k->w->reserved)
		return;
	for (; k->seen < bit && k->seen / 8 + 4 <= k->bytes; k->seen += 32) {
		uint32_t v = be32_load(k->base + k->seen / 8) & ~covered(k, top, 0, k->seen);

		if (v)
			k->w->reserved(k->ctx, k->seen, v);
	}
}

static void walk(struct walk *k, const struct layout *top, const struct layout *l, uint32_t byte)
{
	const struct layout_field *f;
	const struct layout_place *s;

	for (uint32_t bit = 0; next_item(l, bit, &f, &s);) {
		uint32_t at = byte * 8 + (f ? f->bit : s->byte * 8);
		uint32_t len;
		uint64_t v;

		reserved_until(k, top, at & ~31u);
		if (!f) {
			bit = s->byte * 8 + 1;
			if (byte + s->byte >= k->bytes)
				continue;
			len = k->bytes - byte - s->byte;
			if (!layout_any_set(k->base + byte + s->byte,
					    len < s->inner->bytes ? len : s->inner->bytes))
				continue;
			k->w->enter(k->ctx, s, at);
			walk(k, top, inner_of(k, s), byte + s->byte);
			reserved_until(k, top, at + s->inner->bytes * 8);
			k->w->leave(k->ctx, s);
			continue;
		}
		bit = f->bit + 1;
		/* reads whole dwords only */
		if (at / 32 * 4 + (f->width == 64 ? 8 : 4) > k->bytes)
			continue;
		v = layout_get(k->base, at, f->width);
		if (v || k->w->all)
			k->w->field(k->ctx, l, f, at, v);
	}
}

void layout_walk(const struct layout *l, const void *p, uint32_t bytes,
		 const struct layout_walker *w, void *ctx)
{
	struct walk k = {
		.w = w, .ctx = ctx, .base = p, .bytes = bytes < l->bytes ? bytes : l->bytes};

	walk(&k, l, l, 0);
	reserved_until(&k, l, k.bytes * 8);
}

struct rec_walk {
	struct rec *r;
	const struct layout_rec *how;
};

static const struct layout *rec_open(void *ctx, const struct layout *inner)
{
	const struct layout_rec *how = ((struct rec_walk *)ctx)->how;

	return how->open ? how->open(how->ctx, inner) : NULL;
}

static void rec_field(void *ctx, const struct layout *l, const struct layout_field *f, uint32_t bit,
		      uint64_t value)
{
	struct rec_walk *k = ctx;
	const char *name;

	if (bit < k->how->from)
		return;
	name = k->how->name ? k->how->name(l, f->bit, value) : NULL;
	if (name)
		rec_code(k->r, f->name, value, name);
	else
		rec_x(k->r, f->name, value);
}

static void rec_enter(void *ctx, const struct layout_place *place, uint32_t bit)
{
	rec_group(((struct rec_walk *)ctx)->r, place->name, "{");
}

static void rec_leave(void *ctx, const struct layout_place *place)
{
	rec_group_end(((struct rec_walk *)ctx)->r, "}");
}

void layout_rec(struct rec *r, const struct layout *l, const void *p, uint32_t bytes,
		const struct layout_rec *how)
{
	static const struct layout_walker w = {
		.field = rec_field,
		.enter = rec_enter,
		.leave = rec_leave,
		.open = rec_open,
	};

	layout_walk(l, p, bytes, &w, &(struct rec_walk){r, how});
}
