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
	bool in_log;        /* the dump's lines begin with a logger's prefix */
	/* part of mlx5_core's full dump: a queue entry, and the mailboxes that continue it */
	bool entry, mailbox;
};

struct hex_line;

/* Facts about a dump that the lines before it contain. */
struct hex_hints {
	enum hex_kind kind;
	uint16_t opcode;
	bool entry, mailbox;
	unsigned int age; /* lines of text since then */
};

/* Takes the lines of an input one by one, and gives dumps as soon as they are complete. */
struct hex_reader {
	/* called for what is no data: whole lines, and text around data */
	void (*text)(void *ctx, char *text);
	void (*block)(void *ctx, const struct hex_block *b);
	void *ctx;
	/* private */
	struct hex_block *blocks;
	size_t n;
	struct hex_hints hints;
	struct hex_line *scratch;
	bool inside;
};

/* 0 or -errno (-EFBIG: larger than any dump). `in_log`: see struct hex_block. */
int hex_feed(struct hex_reader *r, char *text, bool in_log, unsigned int number);
/* The input has ended. 0 or -errno. */
int hex_flush(struct hex_reader *r);
void hex_finish(struct hex_reader *r);

#endif
