/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One field list per wire layout (STYLE.md 13). A layout is written once, as
 *
 *	#define PRM_L_create_cq_out(F) \
 *		F(create_cq_out, status, 0x00, 8)      \
 *		F(create_cq_out, syndrome, 0x20, 32)   \
 *		F(create_cq_out, cqn, 0x48, 24)
 *	LAYOUT(create_cq_out, 0x10, PRM_L_create_cq_out)      // size in BYTES
 *
 * F(layout, field, bit offset, width in bits) in the PRM's notation: bits count from the most
 * significant bit of the first big-endian dword. A fifth argument, LAYOUT_HEX, is for traces.
 * Layout and field names are the field's own: those of the PRM as `mlx5_ifc` spells them
 * (qpc.log_sq_size, create_qp_in.opcode, mkc.start_addr...). A structure inside a structure is a
 * layout of its own. A list with such places takes a second macro, and is declared by LAYOUT_NEST:
 *
 *	#define PRM_L_create_qp_in(F, S) \
 *		F(create_qp_in, opcode, 0x00, 16)         \
 *		S(create_qp_in, qpc, qpc, 0x18)
 *	LAYOUT_NEST(create_qp_in, 0x110, PRM_L_create_qp_in)
 *
 * S(outer, name, inner layout, byte offset). LAYOUT_IN(create_qp_in, qpc, in) points to it.
 *
 * What a list yields: offset and width constants, compile-time checks (inside the layout, no dword
 * crossing, 64-bit fields dword-aligned), the accessors
 *	LAYOUT_GET(layout, ptr, field)           -> uint64_t
 *	LAYOUT_GET32, _GET16, _GET8              the same as uint32_t, uint16_t, uint8_t
 *	LAYOUT_SET(layout, ptr, field, value)    a value that does not fit is a bug; cut off
 *	LAYOUT_SZ(layout)                        bytes
 * and a table (struct layout) for traces, reserved-bit checks and the self-test.
 *
 * Values that have names stand beside the layout, once for code and for every printer:
 *
 *	#define PRM_V_WQ_TYPE(V) V(PRM_WQ, LINKED_LIST, 0) V(PRM_WQ, CYCLIC, 1)
 *	LAYOUT_ENUM(prm_wq_type, PRM_V_WQ_TYPE)       // PRM_WQ_LINKED_LIST, PRM_WQ_CYCLIC
 *	#define PRM_NAMED_RMP_SRQ(N) N(wq, wq_type, PRM_V_WQ_TYPE)
 *
 * V(prefix, name, value); N(layout, field, list of values).
 */
#ifndef SOFTHCA_WIRE_LAYOUT_H
#define SOFTHCA_WIRE_LAYOUT_H

#include <assert.h>
#include "util/bits.h"
#include "util/bug.h"

struct layout_field {
	const char *name;
	uint32_t bit;
	uint32_t width;
	bool hex; /* a key, mask, number or name: traces show it in hexadecimal */
};

struct layout;

struct layout_place {
	const char *name;
	uint32_t byte;
	const struct layout *inner;
};

struct layout {
	const char *name;
	uint32_t bytes;
	uint32_t nfields;
	const struct layout_field *fields; /* in the order of the list */
	uint32_t nplaces;
	const struct layout_place *places;
};

#define LAYOUT__ENUM(l, f, b, w, ...) LF_##l##_##f##_BIT = (b), LF_##l##_##f##_WIDTH = (w),
#define LAYOUT__CHECK(l, f, b, w, ...)                                                           \
	static_assert((w) >= 1 &&                                                                \
			      ((w) <= 32 ? ((b) % 32) + (w) <= 32 : (w) == 64 && (b) % 32 == 0), \
		      #l "." #f " crosses a dword");                                             \
	static_assert((b) + (w) <= LAYOUT_SZ(l) * 8, #l "." #f " is outside the layout");
#define LAYOUT__ROW(l, f, b, w, ...) {#f, (b), (w), (__VA_ARGS__ + 0) != 0},
/* The fifth argument of F for fields that traces show in hexadecimal. */
#define LAYOUT_HEX 1

/* Declares the constants of a layout; in a header. */
#define LAYOUT(l, nbytes, list)                                 \
	enum { LF_##l##_BYTES = (nbytes), list(LAYOUT__ENUM) }; \
	list(LAYOUT__CHECK) extern const struct layout layout_##l;

/* Defines the table of a layout; in exactly one .c file. */
#define LAYOUT_TABLE(l, list)                                                       \
	static const struct layout_field layout_fields_##l[] = {list(LAYOUT__ROW)}; \
	const struct layout layout_##l = {                                          \
		#l,                                                                 \
		LF_##l##_BYTES,                                                     \
		sizeof(layout_fields_##l) / sizeof(layout_fields_##l[0]),           \
		layout_fields_##l,                                                  \
		0,                                                                  \
		NULL};

/* Declares constants for single fields of a layout that is not described as a whole. */
#define LAYOUT_FIELDS(list) enum { list(LAYOUT__ENUM) };

#define LAYOUT__NONE(...)
#define LAYOUT__PLACE_ENUM(l, name, inner, byte) LP_##l##_##name = (byte),
#define LAYOUT__PLACE_CHECK(l, name, inner, byte)                                   \
	static_assert((byte) % 4 == 0 && (byte) + LAYOUT_SZ(inner) <= LAYOUT_SZ(l), \
		      #l "." #name " is outside the layout");
#define LAYOUT__PLACE_ROW(l, name, inner, byte) {#name, (byte), &layout_##inner},

/* As LAYOUT and LAYOUT_TABLE, for lists with nested layouts, list(F, S). */
#define LAYOUT_NEST(l, nbytes, list)                                                \
	enum { LF_##l##_BYTES = (nbytes), list(LAYOUT__ENUM, LAYOUT__PLACE_ENUM) }; \
	list(LAYOUT__CHECK, LAYOUT__PLACE_CHECK) extern const struct layout layout_##l;

#define LAYOUT_NEST_TABLE(l, list)                                                                 \
	static const struct layout_field layout_fields_##l[] = {list(LAYOUT__ROW, LAYOUT__NONE)};  \
	static const struct layout_place layout_places_##l[] = {                                   \
		list(LAYOUT__NONE, LAYOUT__PLACE_ROW)};                                            \
	const struct layout layout_##l = {#l,                                                      \
					  LF_##l##_BYTES,                                          \
					  sizeof(layout_fields_##l) / sizeof(struct layout_field), \
					  layout_fields_##l,                                       \
					  sizeof(layout_places_##l) / sizeof(struct layout_place), \
					  layout_places_##l};

/* Declares an enumeration from a list of values; used in headers. */
#define LAYOUT__VALUE(prefix, name, v) prefix##_##name = (v),
#define LAYOUT_ENUM(e, list) enum e { list(LAYOUT__VALUE) };

struct layout_value {
	const char *name; /* NULL: end of the list */
	uint64_t value;
};

/* The names of the values of a field. */
struct layout_named {
	const struct layout *l;
	uint32_t bit;
	const struct layout_value *values;
};

/* Build the rows of a struct layout_named table: one value, and one list of values. */
#define LAYOUT__VALUE_ROW(prefix, name, v) {#name, (v)},
#define LAYOUT_NAMED_ROW(layout, f, list)           \
	{&layout_##layout, LF_##layout##_##f##_BIT, \
	 (const struct layout_value[]){list(LAYOUT__VALUE_ROW){NULL, 0}}},

/* The name of a value of the field at `bit` of `l`; the table ends with l NULL. NULL: no name. */
const char *layout_value_name(const struct layout_named *t, const struct layout *l, uint32_t bit,
			      uint64_t v);

/*
 * Declares a second name for a field (a union in the PRM), after LAYOUT. The table has no row for
 * it.
 */
#define LAYOUT_ALIAS(l, alias, f)                                \
	enum {                                                   \
		LF_##l##_##alias##_BIT = LF_##l##_##f##_BIT,     \
		LF_##l##_##alias##_WIDTH = LF_##l##_##f##_WIDTH, \
	};

#define LAYOUT_SZ(l) ((uint32_t)LF_##l##_BYTES)

static inline uint64_t layout_get(const void *p, unsigned int bit, unsigned int width)
{
	return width == 64 ? bits_get64(p, bit) : bits_get32(p, bit, width);
}

static inline void layout_set(void *p, unsigned int bit, unsigned int width, uint64_t v)
{
	if (BUG_ON(v > bits_max(width)))
		v &= bits_max(width);
	if (width == 64)
		bits_set64(p, bit, v);
	else
		bits_set32(p, bit, width, (uint32_t)v);
}

#define LAYOUT_GET(l, p, f) layout_get((p), LF_##l##_##f##_BIT, LF_##l##_##f##_WIDTH)
/* Typed accessors: a field that is wider than the type does not compile. */
#define LAYOUT__FITS(l, f, bits) (0 * sizeof(char[LF_##l##_##f##_WIDTH <= (bits) ? 1 : -1]))
#define LAYOUT__GET(l, p, f, bits)                                                    \
	((uint##bits##_t)(bits_get32((p), LF_##l##_##f##_BIT, LF_##l##_##f##_WIDTH) + \
			  LAYOUT__FITS(l, f, bits)))
#define LAYOUT_GET32(l, p, f) LAYOUT__GET(l, p, f, 32)
#define LAYOUT_GET16(l, p, f) LAYOUT__GET(l, p, f, 16)
#define LAYOUT_GET8(l, p, f) LAYOUT__GET(l, p, f, 8)
#define LAYOUT_SET(l, p, f, v) layout_set((p), LF_##l##_##f##_BIT, LF_##l##_##f##_WIDTH, (v))

/* LAYOUT_IN(create_qp_in, qpc, ptr) points to a nested layout (drops const: void *). */
#define LAYOUT_IN(l, inner, p) ((void *)((uintptr_t)(p) + LP_##l##_##inner))

/*
 * The first set bit of `p` (at most `bytes` of it) that no field of the layout or its nested
 * layouts covers; -1: all reserved bits are zero.
 */
int32_t layout_reserved_set(const struct layout *l, const void *p, uint32_t bytes);
/*
 * Find the field "layout.field" in `l` or one of its nested layouts (the first that matches). The
 * name before the dot may be another command's ("rst2init_qp_in.qpn" in init2rtr_qp_in): then the
 * field of that name in this command. False: not found.
 */
bool layout_find(const struct layout *l, const char *dotted, uint32_t *bit, uint32_t *width);
/*
 * Walks the set bits in `bytes` of p, in order; the functions get bit offsets from p. Skips fields
 * that are zero, unless `all` returns true for them, and nested layouts without a set bit.
 * `reserved` gets the set bits of a dword that no field covers. Bytes after the layout are not
 * read.
 */
struct layout_walker {
	void (*field)(void *ctx, const struct layout *l, const struct layout_field *f, uint32_t bit,
		      uint64_t value);
	void (*enter)(void *ctx, const struct layout_place *place, uint32_t bit);
	void (*leave)(void *ctx, const struct layout_place *place);
	void (*reserved)(void *ctx, uint32_t bit, uint32_t value); /* may be NULL */
	/*
	 * Returns the layout to use in place of `inner`, whose contents depend on the command;
	 * NULL: `inner` itself. The pointer may be NULL.
	 */
	const struct layout *(*open)(void *ctx, const struct layout *inner);
	bool all;
};
void layout_walk(const struct layout *l, const void *p, uint32_t bytes,
		 const struct layout_walker *w, void *ctx);

struct rec;
/*
 * The same as members of a trace line: field=value, nested={...}; fields before bit `from` are left
 * out. `open` as above; `name` returns a value's name, or NULL.
 */
struct layout_rec {
	const struct layout *(*open)(void *ctx, const struct layout *inner);
	const char *(*name)(const struct layout *l, uint32_t bit, uint64_t v);
	void *ctx;
	uint32_t from;
};
void layout_rec(struct rec *r, const struct layout *l, const void *p, uint32_t bytes,
		const struct layout_rec *how);

#endif
