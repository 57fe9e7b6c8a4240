/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `softhca decode`: MADs, as they are in umad's buffers, captures and dumps. */
#include "cli/decode.h"

#include <stdio.h>
#include <string.h>
#include "cli/explain.h"
#include "wire/mad/names.h"

#define UMAD_HDR 64 /* size of struct ib_user_mad, before the MAD that a program wrote or read */

static bool mad_is_one(const uint8_t *p)
{
	uint32_t class_version = LAYOUT_GET32(mad_hdr, p, class_version);

	return LAYOUT_GET(mad_hdr, p, base_version) == MAD_BASE_VERSION &&
	       *mad_class_name(LAYOUT_GET32(mad_hdr, p, mgmt_class)) != '?' &&
	       *mad_method_name(LAYOUT_GET32(mad_hdr, p, method)) != '?' &&
	       (class_version == 1 || class_version == 2) && !be16_load(p + 18);
}

bool decode_is_mad(const uint8_t *p, size_t n)
{
	return (n && n % MAD_SIZE == 0 && mad_is_one(p)) ||
	       (n == UMAD_HDR + MAD_SIZE && mad_is_one(p + UMAD_HDR));
}

static void decode_mad_text(struct json_object *o, const struct mad_part *part, const uint8_t *mad)
{
	const struct mad_attr_info *a = part->attr;
	const char *from = (const char *)mad + part->at + a->text;
	char text[MAD_SIZE + 1] = "";
	struct json_object *e;

	if (!a->text_name || part->at + a->text + a->text_len > MAD_SIZE || !*from)
		return;
	memcpy(text, from, a->text_len);
	/* JSON is UTF-8; these bytes may be anything. */
	for (char *c = text; *c; c++)
		if ((unsigned char)*c >= 0x80)
			*c = '?';
	e = json_object_new_object();
	json_object_object_add(e, "bit", json_object_new_uint64((part->at + a->text) * 8));
	json_object_object_add(e, "name", json_object_new_string(a->text_name));
	json_object_object_add(e, "text",
			       json_object_new_string_len(text, (int)strnlen(text, a->text_len)));
	json_object_array_add(json_object_object_get(o, "fields"), e);
}

/* The consumer's bytes in a message of the CM. */
static void decode_mad_data(struct json_object *o, const struct mad_part *part, const uint8_t *mad)
{
	const struct mad_attr_info *a = part->attr;

	if (a->info)
		decode_bytes(o, "additional_information", mad + part->at + a->info,
			     a->data - a->info, part->at + a->info);
	if (a->data)
		decode_bytes(o, "private_data", mad + part->at + a->data, CM_MSG_SIZE - a->data,
			     part->at + a->data);
}

static void put_path(struct json_object *o, const uint8_t *mad)
{
	uint64_t hops = LAYOUT_GET(smp, mad, hop_cnt);

	if (LAYOUT_GET(mad_hdr, mad, mgmt_class) != MAD_CLASS_SUBN_DR || hops >= MAD_MAX_HOPS)
		return;
	decode_bytes(o, "initial_path", mad + SMP_INITIAL_PATH, hops + 1, SMP_INITIAL_PATH);
	decode_bytes(o, "return_path", mad + SMP_RETURN_PATH, hops + 1, SMP_RETURN_PATH);
}

static void decode_one(struct json_object *list, const uint8_t *mad, size_t bytes)
{
	struct mad_part part[MAD_MAX_PARTS];
	uint32_t n = mad_parts(mad, part);
	uint16_t status = LAYOUT_GET16(mad_hdr, mad, status);
	uint32_t class = LAYOUT_GET32(mad_hdr, mad, mgmt_class);
	struct json_object *o, *means;
	char title[64], prefix[64];

	o = decode_part(list, "mad", mad_title(mad, title, sizeof(title)), bytes);
	for (uint32_t i = 0; i < n; i++) {
		const struct mad_part *p = &part[i];

		snprintf(prefix, sizeof(prefix), "%s%s", p->header ? "" : p->name,
			 p->header ? "" : ".");
		if (p->layout)
			decode_fields(o, p->layout, mad + p->at, p->bytes, p->at, prefix);
		if (p->attr)
			decode_mad_text(o, p, mad);
		if (p->attr)
			decode_mad_data(o, p, mad);
	}
	put_path(o, mad);
	if (mad_is_smi(class))
		status &= (uint16_t)~MAD_STATUS_D;
	if (!status)
		return;
	means = json_object_new_array();
	explain_mad_status(means, class, status);
	json_object_object_add(o, "meanings", means);
}

bool decode_mads(struct json_object *list, const uint8_t *p, size_t n)
{
	uint8_t mad[MAD_SIZE];

	if (n == UMAD_HDR + MAD_SIZE && !mad_is_one(p)) {
		p += UMAD_HDR;
		n -= UMAD_HDR;
	}
	if (n < LAYOUT_SZ(mad_hdr))
		return false;
	for (size_t at = 0; at < n; at += MAD_SIZE) {
		size_t len = n - at < MAD_SIZE ? n - at : MAD_SIZE;

		memset(mad, 0, sizeof(mad));
		memcpy(mad, p + at, len);
		decode_one(list, mad, len);
	}
	return true;
}
