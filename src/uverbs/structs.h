/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The structures of the uapi headers as data, for traces. mkstructs makes the tables at build time.
 */
#ifndef SOFTHCA_UVERBS_STRUCTS_H
#define SOFTHCA_UVERBS_STRUCTS_H

#include <stdint.h>

struct uv_member {
	uint32_t name; /* offset in uv_names */
	uint16_t offset, size;
	uint16_t elem; /* bytes of an array's element; `size` if not an array */
	int16_t sub;   /* index of its structure; -1: none */
	int16_t be;    /* a big-endian number */
};

struct uv_struct {
	uint32_t name;
	uint16_t first, n; /* range in uv_members */
	uint16_t size;
};

extern const struct uv_member uv_members[];
extern const struct uv_struct uv_structs[]; /* sorted by name */
extern const unsigned int uv_nstructs;
extern const char uv_names[];

#endif
