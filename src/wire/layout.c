/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Walks the tables of layouts: reserved bits, names of fields and of values. Called by the firmware
 * and traces. */
#include "wire/layout.h"

/* A command has at most 0x110 bytes; the mask of named bits is on the stack. */
#define LAYOUT_MASK_BYTES 0x150u

/*
 * Sets the bits of one field. Fields never cross a dword (64-bit fields start at one), so a loop
 * over bytes suffices.
 */
static void mask_field(uint8_t *mask, uint32_t nbytes, uint32_t bit, uint32_t width)
{
	for (uint32_t b = bit; b < bit + width && b / 8 < nbytes;) {
		if (b % 8 == 0 && bit + width - b >= 8) {
			mask[b / 8] = 0xff;
			b += 8;
		} else {
			mask[b / 8] |= (uint8_t)(0x80u >> (b % 8));
			b++;
		}
	}
}

static void mask_layout(const struct layout *l, uint8_t *mask, uint32_t nbytes, uint32_t byte)
{
	for (uint32_t i = 0; i < l->nfields; i++)
		mask_field(mask, nbytes, byte * 8 + l->fields[i].bit, l->fields[i].width);
	for (uint32_t i = 0; i < l->nplaces; i++)
		mask_layout(l->places[i].inner, mask, nbytes, byte + l->places[i].byte);
}

int32_t layout_reserved_set(const struct layout *l, const void *p, uint32_t bytes)
{
	uint8_t mask[LAYOUT_MASK_BYTES] = {0};
	const uint8_t *in = p;

	if (bytes > l->bytes)
		bytes = l->bytes;
	if (BUG_ON(bytes > sizeof(mask)))
		bytes = sizeof(mask);
	mask_layout(l, mask, bytes, 0);
	for (uint32_t i = 0; i < bytes; i++) {
		uint8_t bad = in[i] & (uint8_t)~mask[i];

		if (bad)
			return (int32_t)(i * 8) + __builtin_clz(bad) - 24;
	}
	return -1;
}

static bool find_in(const struct layout *l, const char *name, size_t n, const char *field,
		    uint32_t byte, uint32_t *bit, uint32_t *width)
{
	if (strlen(l->name) == n && !memcmp(l->name, name, n))
		for (uint32_t i = 0; i < l->nfields; i++)
			if (!strcmp(l->fields[i].name, field)) {
				*bit = byte * 8 + l->fields[i].bit;
				*width = l->fields[i].width;
				return true;
			}
	for (uint32_t i = 0; i < l->nplaces; i++)
		if (find_in(l->places[i].inner, name, n, field, byte + l->places[i].byte, bit,
			    width))
			return true;
	return false;
}

bool layout_find(const struct layout *l, const char *dotted, uint32_t *bit, uint32_t *width)
{
	const char *dot = strchr(dotted, '.');
	size_t n = dot ? (size_t)(dot - dotted) : 0;

	if (!dot)
		return false;
	if (find_in(l, dotted, n, dot + 1, 0, bit, width))
		return true;
	if (n < 3 || memcmp(dot - 3, "_in", 3))
		return false;
	return find_in(l, l->name, strlen(l->name), dot + 1, 0, bit, width);
}

const char *layout_value_name(const struct layout_named *t, const struct layout *l, uint32_t bit,
			      uint64_t v)
{
	for (; t->l; t++)
		if (t->l == l && t->bit == bit)
			for (const struct layout_value *n = t->values; n->name; n++)
				if (n->value == v)
					return n->name;
	return NULL;
}
