/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `softhca decode`: dumps of command inputs and outputs, WQEs, CQEs, EQEs and MADs as named fields,
 * and the meaning of errors in them. The tables of layouts have all that is needed, so a new layout
 * is decoded without new code. decode_run.c reads the input and calls it.
 */
#include "cli/decode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/card.h"
#include "cli/explain.h"
#include "fw/fw.h"
#include "util/cleanup.h"
#include "wire/names.h"
#include "wire/prm/cmd_hdr.h"
#include "wire/prm/eq.h"
#include "wire/prm/prm.h"
#include "wire/wqe/cqe.h"
#include "wire/wqe/eqe.h"
#include "wire/wqe/tm.h"
#include "wire/wqe/wqe.h"

/* ---- parts */

struct json_object *decode_part(struct json_object *list, const char *kind, const char *name,
				size_t bytes)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "kind", json_object_new_string(kind));
	json_object_object_add(o, "name", json_object_new_string(name));
	json_object_object_add(o, "bytes", json_object_new_uint64(bytes));
	json_object_object_add(o, "fields", json_object_new_array());
	json_object_array_add(list, o);
	return o;
}

struct walk {
	struct json_object *o;
	const struct layout *top;
	const struct layout *head; /* cmd_in or cmd_out, if `top` begins with it; else NULL */
	char path[256];            /* names of the enclosing fields: "qpc." */
	size_t base;
	const void *in; /* the command's input, for places whose layout it decides; NULL */
};

/* The fields of cmd_in and cmd_out are those of every command. */
static const char *decode_code_name(const struct walk *w, const struct layout *l, uint32_t bit,
				    uint64_t value)
{
	const char *name = wire_value_name(l, bit, value);

	return !name && w->head && l == w->top ? wire_value_name(w->head, bit, value) : name;
}

static struct json_object *decode_entry(struct walk *w, const char *list, uint32_t bit)
{
	struct json_object *e = json_object_new_object();

	json_object_object_add(e, "bit", json_object_new_uint64(w->base * 8 + bit));
	json_object_array_add(json_object_object_get(w->o, list), e);
	return e;
}

static void decode_on_field(void *ctx, const struct layout *l, const struct layout_field *f,
			    uint32_t bit, uint64_t value)
{
	struct walk *w = ctx;
	struct json_object *e = decode_entry(w, "fields", bit);
	const char *code = decode_code_name(w, l, f->bit, value);
	char name[320];

	snprintf(name, sizeof(name), "%s%s", w->path, f->name);
	json_object_object_add(e, "width", json_object_new_uint64(f->width));
	json_object_object_add(e, "name", json_object_new_string(name));
	json_object_object_add(e, "value", json_object_new_uint64(value));
	if (code)
		json_object_object_add(e, "value_name", json_object_new_string(code));
}

static void decode_on_enter(void *ctx, const struct layout_place *place, uint32_t bit)
{
	struct walk *w = ctx;
	size_t n = strlen(w->path);

	snprintf(w->path + n, sizeof(w->path) - n, "%s.", place->name);
}

static void decode_on_leave(void *ctx, const struct layout_place *place)
{
	struct walk *w = ctx;
	size_t n = strlen(w->path), m = strlen(place->name) + 1;

	if (n >= m)
		w->path[n - m] = '\0';
}

static void on_reserved(void *ctx, uint32_t bit, uint32_t value)
{
	struct walk *w = ctx;
	struct json_object *e;

	if (!json_object_object_get(w->o, "reserved"))
		json_object_object_add(w->o, "reserved", json_object_new_array());
	e = decode_entry(w, "reserved", bit);
	json_object_object_add(e, "value", json_object_new_uint64(value));
}

static const struct layout *on_open(void *ctx, const struct layout *inner)
{
	static const uint8_t general[LAYOUT_SZ(cmd_in)];
	const struct walk *w = ctx;

	return prm_variant(inner, w->in ? w->in : general);
}

static void walk_layout(struct walk *w, const uint8_t *p, size_t n)
{
	static const struct layout_walker walker = {
		.field = decode_on_field,
		.enter = decode_on_enter,
		.leave = decode_on_leave,
		.reserved = on_reserved,
		.open = on_open,
	};

	n = (n + 3) & ~(size_t)3;
	layout_walk(w->top, p, n > UINT32_MAX ? UINT32_MAX : (uint32_t)n, &walker, w);
}

void decode_layout(struct json_object *o, const struct layout *l, const uint8_t *p, size_t n,
		   size_t base, const char *name)
{
	struct walk w = {.o = o, .top = l, .base = base};

	if (name)
		snprintf(w.path, sizeof(w.path), "%s.", name);
	walk_layout(&w, p, n);
}

void decode_fields(struct json_object *o, const struct layout *l, const uint8_t *p, size_t n,
		   size_t base, const char *prefix)
{
	static const struct layout_walker walker = {
		.field = decode_on_field,
		.enter = decode_on_enter,
		.leave = decode_on_leave,
	};
	struct walk w = {.o = o, .top = l, .base = base};

	snprintf(w.path, sizeof(w.path), "%s", prefix);
	layout_walk(l, p, (uint32_t)n, &walker, &w);
}

void decode_bytes(struct json_object *o, const char *name, const uint8_t *p, size_t n, size_t base)
{
	struct json_object *e = json_object_new_object();
	_cleanup_free_ char *hex = malloc(n * 2 + 1);

	if (!hex) {
		json_object_put(e);
		return;
	}
	for (size_t i = 0; i < n; i++)
		snprintf(hex + i * 2, 3, "%02x", p[i]);
	hex[n * 2] = '\0';
	json_object_object_add(e, "bit", json_object_new_uint64(base * 8));
	json_object_object_add(e, "name", json_object_new_string(name));
	json_object_object_add(e, "data", json_object_new_string(hex));
	json_object_array_add(json_object_object_get(o, "fields"), e);
}

static void put_note(struct json_object *o, const char *text)
{
	json_object_object_add(o, "note", json_object_new_string(text));
}

/* ---- commands */

static const struct layout *command_layout(uint16_t opcode, bool output)
{
	const struct layout *in, *out;

	return !fw_command_layouts(opcode, &in, &out) ? NULL : output ? out : in;
}

static bool all_zero(const uint8_t *p, size_t n)
{
	while (n && !*p)
		p++, n--;
	return !n;
}

/* The data behind the command's layout: an object, a list, or surplus bytes. */
static void rest(struct json_object *o, const struct layout *l, const uint8_t *p, size_t n,
		 const struct layout *body)
{
	size_t at = l->bytes;

	if (body && n > at) {
		decode_layout(o, body, p + at, n - at, at, body->name);
		at += body->bytes;
	}
	if (n > at && !all_zero(p + at, n - at))
		decode_bytes(o, "rest", p + at, n - at, at);
}

static bool decode_input(struct json_object *list, const uint8_t *p, size_t n)
{
	uint16_t opcode;
	const struct layout *l;
	struct json_object *o;

	if (n < LAYOUT_SZ(cmd_in))
		return false;
	opcode = LAYOUT_GET16(cmd_in, p, opcode);
	l = command_layout(opcode, false);
	o = decode_part(list, "input", fw_opcode_name(opcode), n);
	if (!l)
		put_note(o, "the layout of this command is unknown: header and bytes");
	else if (n < l->bytes)
		put_note(o, "shorter than the command");
	l = l ? l : &layout_cmd_in;
	walk_layout(&(struct walk){.o = o, .top = l, .head = &layout_cmd_in, .in = p}, p, n);
	rest(o, l, p, n, fw_command_body(opcode, p, false));
	return true;
}

static bool decode_output(struct json_object *list, const uint8_t *p, size_t n, uint16_t opcode)
{
	const struct layout *l = opcode ? command_layout(opcode, true) : NULL;
	struct json_object *o, *means;

	if (n < 8)
		return false;
	o = decode_part(list, "output", opcode ? fw_opcode_name(opcode) : "?", n);
	if (!l)
		put_note(o, opcode ? "the layout of this command is unknown: header and bytes"
				   : "the command is unknown (--out=COMMAND): header and bytes");
	l = l ? l : &layout_cmd_out;
	walk_layout(&(struct walk){.o = o, .top = l, .head = &layout_cmd_out}, p, n);
	rest(o, l, p, n, NULL);
	if (!p[0])
		return true;
	means = json_object_new_array();
	explain_status(means, p[0]);
	explain_syndrome(means, be32_load(p + 4));
	explain_card_syndrome(means, be32_load(p + 4));
	json_object_object_add(o, "meanings", means);
	return true;
}

/* ---- CQEs and EQEs */

static const char *cqe_name(unsigned int opcode)
{
	const char *name = wire_value_name(&layout_cqe64, LF_cqe64_opcode_BIT, opcode);

	return name ? name : "?";
}

static bool is_error(const uint8_t *c)
{
	unsigned int opcode = LAYOUT_GET32(err_cqe, c, opcode);

	return (opcode == CQE_REQ_ERR || opcode == CQE_RESP_ERR) &&
	       *cqe_syndrome_name(LAYOUT_GET8(err_cqe, c, syndrome)) != '?';
}

/* One to three rows of 16 bytes, the last of them that of a completion with error. */
static bool is_last_rows(const uint8_t *p, size_t n)
{
	uint8_t whole[64] = {0};

	if (n != 16 && n != 32 && n != 48)
		return false;
	memcpy(whole + sizeof(whole) - n, p, n);
	return is_error(whole);
}

/* vendor_err and the send queue's opcode are those of the card that wrote the CQE. */
static void explain_error_cqe(struct json_object *o, const uint8_t *c)
{
	bool sent = LAYOUT_GET32(err_cqe, c, opcode) == CQE_REQ_ERR;
	const char *op = sent ? wqe_opcode_name(LAYOUT_GET8(err_cqe, c, send_opcode)) : "RECV";
	const struct explain_seen seen = {.has_vendor = true,
					  .vendor_err = LAYOUT_GET8(err_cqe, c, vendor_err),
					  .roce = true,
					  .op = *op == '?' ? NULL : op};
	struct json_object *means = json_object_new_array();

	explain_cqe(means, LAYOUT_GET8(err_cqe, c, syndrome), &seen);
	json_object_object_add(o, "meanings", means);
}

static const struct layout *tag_matching_cqe(const uint8_t *c)
{
	switch (LAYOUT_GET(tm_cqe, c, app_op)) {
	case CQE_TM_APPEND:
	case CQE_TM_REMOVE:
	case CQE_TM_NOOP:
		return &layout_tm_cqe;
	case CQE_TM_UNEXPECTED:
	case CQE_TM_NO_TAG:
		return &layout_cqe64;
	default:
		return &layout_tmh_cqe;
	}
}

static const struct layout *cqe_layout(const uint8_t *c, unsigned int opcode)
{
	if (opcode == CQE_REQ_ERR || opcode == CQE_RESP_ERR)
		return &layout_err_cqe;
	if (opcode == CQE_SIG_ERR)
		return &layout_sigerr_cqe;
	return LAYOUT_GET(cqe64, c, app) == CQE_APP_TAG_MATCHING ? tag_matching_cqe(c)
								 : &layout_cqe64;
}

/* Scatter to CQE: where the payload is; CQE_FORMAT_NO_DATA: it is elsewhere. */
static uint32_t payload_format(const uint8_t *c)
{
	return LAYOUT_GET32(cqe64, c, opcode) > CQE_RESP_SEND_INV
		       ? CQE_FORMAT_NO_DATA
		       : LAYOUT_GET32(cqe64, c, format) % CQE_FORMAT_COMPRESSED;
}

static void one_cqe(struct json_object *list, const uint8_t *c, const char *note)
{
	unsigned int opcode = LAYOUT_GET32(cqe64, c, opcode);
	bool error = opcode == CQE_REQ_ERR || opcode == CQE_RESP_ERR;
	struct json_object *o = decode_part(list, "cqe", cqe_name(opcode), note ? 16 : 64);
	uint32_t format = note ? CQE_FORMAT_NO_DATA : payload_format(c);
	uint8_t fields[64];

	if (format == CQE_FORMAT_DATA_32)
		note = "the first 32 bytes are the payload (scatter to CQE)";
	else if (format == CQE_FORMAT_DATA_64)
		note = "the payload is in the 64 bytes in front (scatter to CQE)";
	if (note)
		put_note(o, note);
	memcpy(fields, c, sizeof(fields));
	if (format == CQE_FORMAT_DATA_32)
		memset(fields, 0, cqe_format_room(format));
	decode_layout(o, cqe_layout(c, opcode), fields, 64, 0, NULL);
	if (error)
		explain_error_cqe(o, c);
}

/*
 * A compressed session of which `p` has n bytes: the arrays of mini CQEs stand in the entries 1, 8,
 * 16... A dump does not tell their format: the first word is a checksum and a counter, or a hash.
 */
static size_t session(struct json_object *list, const uint8_t *p, size_t n)
{
	uint32_t cqes = LAYOUT_GET32(cqe64, p, byte_cnt);

	for (uint32_t i = 0; i < cqes; i++) {
		size_t at = (i < 8 ? 1 : i / 8 * 8) * (size_t)64 + i % 8 * 8;

		if (at + LAYOUT_SZ(mini_csum) > n)
			break;
		decode_layout(decode_part(list, "mini CQE", "", LAYOUT_SZ(mini_csum)),
			      &layout_mini_csum, p + at, LAYOUT_SZ(mini_csum), 0, NULL);
	}
	return cqes ? (size_t)cqes * 64 : 64;
}

static bool is_session(const uint8_t *c)
{
	uint32_t opcode = LAYOUT_GET32(cqe64, c, opcode);

	return LAYOUT_GET(cqe64, c, format) == CQE_FORMAT_COMPRESSED && opcode <= CQE_RESP_SEND_INV;
}

/* Is it the first half of an entry of 128 bytes? */
static bool is_front(const uint8_t *p)
{
	return all_zero(p, 64) || payload_format(p + 64) == CQE_FORMAT_DATA_64;
}

static bool decode_cqe(struct json_object *list, const uint8_t *p, size_t n)
{
	uint8_t whole[64] = {0};

	/* The log lacks the first rows of this CQE; its last row tells the error. */
	if (is_last_rows(p, n)) {
		memcpy(whole + sizeof(whole) - n, p, n);
		one_cqe(list, whole, "the last row alone, the others are missing");
		return true;
	}
	if (n < LAYOUT_SZ(cqe64))
		return false;
	/* The second half of an entry of 128 bytes; several entries one after the other. */
	for (size_t at = n == 128 && is_front(p) ? 64 : 0; at < n && n - at >= 64;) {
		one_cqe(list, p + at, NULL);
		at += is_session(p + at) ? session(list, p + at, n - at) : 64;
	}
	return true;
}

/* The layout of an event's data. */
static const struct layout *eqe_data(uint64_t type)
{
	switch (type) {
	case PRM_EVENT_COMP:
		return &layout_eqe_comp;
	case PRM_EVENT_CQ_ERROR:
		return &layout_eqe_cq_err;
	case PRM_EVENT_PORT_CHANGE:
		return &layout_eqe_port;
	case PRM_EVENT_DCT_DRAINED:
		return &layout_eqe_dct;
	default:
		return &layout_eqe_qp_srq;
	}
}

static bool decode_eqe(struct json_object *list, const uint8_t *p, size_t n)
{
	uint8_t type, head[LAYOUT_SZ(eqe)];
	struct json_object *o;

	if (n < LAYOUT_SZ(eqe))
		return false;
	type = LAYOUT_GET8(eqe, p, event_type);
	o = decode_part(list, "eqe", eqe_type_name(type), LAYOUT_SZ(eqe));
	memcpy(head, p, sizeof(head));
	memset(head + EQE_DATA, 0, layout_eqe_comp.bytes);
	decode_layout(o, &layout_eqe, head, sizeof(head), 0, NULL);
	decode_layout(o, eqe_data(type), p + EQE_DATA, layout_eqe_comp.bytes, EQE_DATA,
		      eqe_data(type)->name);
	return true;
}

/* ---- recognising the kind of the bytes */

static bool is_error_cqe(const uint8_t *p, size_t n)
{
	return (n == 64 || n == 128) && is_error(p + n - 64);
}

/*
 * Without a heading a row is taken for a completion only if cards are known to report these two
 * numbers together.
 */
static bool is_likely_row(const uint8_t *p, size_t n)
{
	return is_last_rows(p, n) && p[n - 10] && card_vendor_err_find(p[n - 9], p[n - 10]);
}

static bool is_cqe(const uint8_t *p, size_t n)
{
	return n && n % 64 == 0 && n <= 1024 && LAYOUT_GET(cqe64, p + n - 64, qpn) &&
	       *cqe_name(LAYOUT_GET32(cqe64, p + n - 64, opcode)) != '?';
}

static bool is_input(const uint8_t *p, size_t n)
{
	return n >= LAYOUT_SZ(cmd_in) && !be16_load(p + 4) &&
	       *fw_opcode_name(LAYOUT_GET16(cmd_in, p, opcode)) != '?';
}

static bool is_output(const uint8_t *p, size_t n)
{
	return n >= 8 && *fw_status_name(p[0]) != '?' && !p[1] && !p[2] && !p[3] &&
	       (p[0] ? be32_load(p + 4) != 0 : n > 8 && !be32_load(p + 4));
}

/* Many bytes can be a work request; these have no reserved bit set, and an opmod that exists. */
static bool is_likely_wqe(const uint8_t *p, size_t n)
{
	return decode_is_wqe(p, n) && n % 16 == 0 && !(p[7] >> 6) &&
	       (!p[0] || p[0] == 8 || p[0] == 9);
}

static enum hex_kind guess(const struct hex_block *b)
{
	if (b->hint)
		return b->hint;
	if (is_error_cqe(b->bytes, b->n) || (b->in_log && is_likely_row(b->bytes, b->n)))
		return HEX_CQE;
	/* Without a heading, other bytes in a log may be anything: do not guess. */
	if (b->in_log)
		return HEX_UNKNOWN;
	if (decode_is_mad(b->bytes, b->n))
		return HEX_MAD;
	if (is_input(b->bytes, b->n))
		return HEX_INPUT;
	if (is_likely_wqe(b->bytes, b->n))
		return HEX_WQE;
	if (is_cqe(b->bytes, b->n) || is_likely_row(b->bytes, b->n))
		return HEX_CQE;
	return is_output(b->bytes, b->n) ? HEX_OUTPUT : HEX_UNKNOWN;
}

bool decode_block(struct json_object *list, const struct hex_block *b, enum hex_kind kind,
		  uint16_t opcode)
{
	switch (kind ? kind : guess(b)) {
	case HEX_UNKNOWN:
		return false;
	case HEX_INPUT:
		return decode_input(list, b->bytes, b->n);
	case HEX_OUTPUT:
		return decode_output(list, b->bytes, b->n, opcode ? opcode : b->opcode);
	case HEX_WQE:
		return decode_wqes(list, b->bytes, b->n);
	case HEX_CQE:
		return decode_cqe(list, b->bytes, b->n);
	case HEX_MAD:
		return decode_mads(list, b->bytes, b->n);
	case HEX_EQE:
		return decode_eqe(list, b->bytes, b->n);
	}
	return false;
}
