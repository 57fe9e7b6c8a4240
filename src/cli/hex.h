/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Hexadecimal dumps in common forms: plain, xxd, od, hexdump -C, the kernel's print_hex_dump and
 * mlx5_core's cmd dumps, libmlx5's and DPDK's of error CQEs, also with log prefixes.
 */
#ifndef SOFTHCA_CLI_HEX_H
#define SOFTHCA_CLI_HEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The kind of the bytes. */
enum hex_kind { HEX_UNKNOWN, HEX_INPUT, HEX_OUTPUT, HEX_WQE, HEX_CQE, HEX_EQE, HEX_MAD };

/* Bytes of one dump: lines of data without other lines in between. */
struct hex_block {
	uint8_t *bytes; /* three zero bytes follow the last byte, because input may end within a
			   dword */
	size_t n, cap;
	unsigned int line;  /* line of the input, from 1 */
	enum hex_kind hint; /* the kind that the preceding lines tell */
	uint16_t opcode;    /* opcode of a command's dump, 0 unknown */
	/* part of mlx5_core's full dump: a queue entry, and the mailboxes that continue it */
	bool entry, mailbox;
};

struct hex_input {
	struct hex_block *blocks;
	size_t n;
	/* called for lines that are no data */
	void (*text)(void *ctx, const char *line);
	void *ctx;
};

/* 0 or -errno (-EFBIG: larger than any dump). Call hex_free() in any case. */
int hex_read(FILE *f, struct hex_input *in);
void hex_free(struct hex_input *in);

#endif
