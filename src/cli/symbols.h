/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names and source lines of addresses in files, for reports. With libdw; without, files alone. */
#ifndef SOFTHCA_CLI_SYMBOLS_H
#define SOFTHCA_CLI_SYMBOLS_H

#include <stddef.h>

struct symbols;

/* Memory is short: the program ends. */
struct symbols *symbols_create(void);
void symbols_destroy(struct symbols *s);

struct symbol {
	char function[160]; /* "": unknown */
	char source[200];   /* "FILE:LINE", or "" */
	const char *module; /* base name of the file; in `where` */
};
/*
 * `where`: "FILE+0xOFFSET", an offset in the file: the address behind an instruction that calls. An
 * empty one is unknown. Puts the functions that are there into `to`, inlined ones first; returns
 * their number, from 1 to `max`.
 */
size_t symbols_find(struct symbols *s, const char *where, struct symbol *to, size_t max);

#endif
