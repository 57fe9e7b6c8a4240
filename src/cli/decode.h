/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Inside `softhca decode`: a part of a dump becomes a JSON object, from which the text is made. */
#ifndef SOFTHCA_CLI_DECODE_H
#define SOFTHCA_CLI_DECODE_H

#include <json-c/json.h>
#include <stdio.h>
#include "cli/hex.h"
#include "wire/layout.h"

/*
 * Puts the set fields of a layout into o's "fields", and set bits outside them into "reserved".
 * `base`: bytes from the start of the dump; `name`: prefix of its fields, or NULL.
 */
void decode_layout(struct json_object *o, const struct layout *l, const uint8_t *p, size_t n,
		   size_t base, const char *name);
/* Prints only the fields; `prefix` stands before each field's name. */
void decode_fields(struct json_object *o, const struct layout *l, const uint8_t *p, size_t n,
		   size_t base, const char *prefix);
void decode_bytes(struct json_object *o, const char *name, const uint8_t *p, size_t n, size_t base);
/* All work requests in n bytes, each an object of `list`. False: the bytes are no work requests. */
bool decode_wqes(struct json_object *list, const uint8_t *p, size_t n);
/* Can the bytes be a work request? */
bool decode_is_wqe(const uint8_t *p, size_t n);
/* All MADs in n bytes, or the one behind umad's header. False: too few bytes. */
bool decode_mads(struct json_object *list, const uint8_t *p, size_t n);
bool decode_is_mad(const uint8_t *p, size_t n);
/*
 * Decodes a dump and adds its parts to `list`. HEX_UNKNOWN: guess the kind. `opcode`: the command
 * that made an output; 0: the one that the dump names. False: the bytes are not of this kind.
 */
bool decode_block(struct json_object *list, const struct hex_block *b, enum hex_kind kind,
		  uint16_t opcode);
/* Prints one decoded part as text, without the meanings of its values. */
void decode_print(struct json_object *o);

struct report_fact;
/* Adds the meanings of what a log says. (decode_fact.c) */
void decode_fact(struct json_object *list, const struct report_fact *fact);

/* ---- decode_run.c */

struct decode;

struct report_reader;
struct report_forms;

struct decode_options {
	bool json;
	enum hex_kind kind; /* kind of the dumps, or HEX_UNKNOWN */
	uint16_t opcode;    /* see decode_block() */
	/* the caller's */
	struct report_reader *lines;
	struct report_forms *forms;
};

/* NULL: no memory. */
struct decode *decode_create(const struct decode_options *o);
void decode_destroy(struct decode *d);
/*
 * Reads a file to its end; prints each explanation as soon as it has it, unless JSON is wanted. 0
 * or -errno. `name`: printed before line numbers; NULL: it is the only file.
 */
int decode_read(struct decode *d, FILE *f, const char *name);
/* Number of things that were explained. */
size_t decode_found(const struct decode *d);
/* The first bytes of no known kind: their number and line; false: there were none. */
bool decode_unknown(const struct decode *d, size_t *bytes, unsigned int *line);
/* If nothing was found in the last file: the kind of file that it looks like. NULL: unknown. */
const char *decode_looks_like(const struct decode *d);
/* Everything as JSON, or how often equal errors came. */
void decode_summary(struct decode *d, FILE *out);
struct json_object *decode_part(struct json_object *list, const char *kind, const char *name,
				size_t bytes);

#endif
