/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Inside hex.c: the bytes that one line of a dump has. */
#ifndef SOFTHCA_CLI_HEX_LINE_H
#define SOFTHCA_CLI_HEX_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HEX_LINE_BYTES 65536u /* a whole command may be one line */

struct hex_line {
	size_t n;
	bool has_offset;
	uint64_t offset;
	/* text around the data: its length before it, and where it goes on (0: nothing does) */
	size_t before, after;
	uint8_t bytes[HEX_LINE_BYTES];
};

/*
 * Does the text have data? `loose`: also behind any word that ends with a colon; otherwise only at
 * the start, behind an offset, or as a row of 16 bytes.
 */
bool hex_line_read(const char *text, bool loose, struct hex_line *l);

#endif
