/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Inside `softhca decode`: a part of a dump becomes a JSON object, from which the text is made. */
#ifndef SOFTHCA_CLI_DECODE_H
#define SOFTHCA_CLI_DECODE_H

#include <json-c/json.h>
#include "wire/layout.h"

/*
 * Puts the set fields of a layout into o's "fields", and set bits outside them into "reserved".
 * `base`: bytes from the start of the dump; `name`: prefix of its fields, or NULL.
 */
void decode_layout(struct json_object *o, const struct layout *l, const uint8_t *p, size_t n,
		   size_t base, const char *name);
/* Only the fields, their names behind `prefix`. */
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
/* The text of one part. */
void decode_print(struct json_object *o);
struct json_object *decode_part(struct json_object *list, const char *kind, const char *name,
				size_t bytes);

#endif
