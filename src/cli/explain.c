/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Looks numbers and names up in all tables. explain_cli.c and decode_fact.c call it. */
#include "cli/explain.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fw/fw.h"
#include "util/cleanup.h"
#include "wire/ib_event.h"
#include "wire/mad/names.h"
#include "wire/prm/opcodes.h"
#include "wire/prm/prm.h"
#include "wire/wqe/cqe.h"

void explain_put(struct json_object *o, const char *key, const char *text)
{
	json_object_object_add(o, key, json_object_new_string(text));
}

/*
 * The text shows numbers with this userdata in decimal, others in hexadecimal. No object and no
 * array has any: json_object_put() of json-c 0.19 takes theirs for a parent that is being freed.
 */
static const char decimal[] = "decimal";

void explain_put_number(struct json_object *o, const char *key, uint64_t value, bool in_decimal)
{
	struct json_object *number = json_object_new_uint64(value);

	json_object_set_userdata(number, in_decimal ? (void *)decimal : NULL, NULL);
	json_object_object_add(o, key, number);
}

static const struct kind {
	const char *name;
	bool decimal;
} kinds[] = {
	[EXPLAIN_SYNDROME] = {"syndrome of softhca"},
	[EXPLAIN_STATUS] = {"command status"},
	[EXPLAIN_CQE] = {"CQE syndrome"},
	[EXPLAIN_VENDOR_ERR] = {"vendor_err"},
	[EXPLAIN_MAD] = {"MAD status"},
	[EXPLAIN_WC] = {"wc status", true},
	[EXPLAIN_ERRNO] = {"errno", true},
	[EXPLAIN_OPCODE] = {"command opcode"},
	[EXPLAIN_CARD] = {"card syndrome"},
	[EXPLAIN_EVENT] = {"event", true},
	[EXPLAIN_HEALTH] = {"health syndrome"},
	[EXPLAIN_CQ_ERROR] = {"CQ error syndrome"},
	[EXPLAIN_OLD_CARD] = {"older card"},
	[EXPLAIN_CALL] = {"failed call", true},
	[EXPLAIN_TIMEOUT] = {"command timeout"},
	[EXPLAIN_QP_ERROR] = {"QP error"},
	[EXPLAIN_CM] = {"rdma_cm event", true},
	[EXPLAIN_MAD_ERROR] = {"MAD error", true},
	[EXPLAIN_OPENSM] = {"OpenSM error"},
	[EXPLAIN_FIELD] = {"field"},
	[EXPLAIN_LAYOUT] = {"layout"},
	[EXPLAIN_ATTR] = {"QP attribute"},
	[EXPLAIN_TERM] = {"term"},
	[EXPLAIN_CAUSE] = {"cause"},
	[EXPLAIN_MESSAGE] = {"message"},
};

struct json_object *explain_meaning(struct json_object *list, enum explain_kind kind,
				    uint64_t value, const char *name)
{
	struct json_object *o = json_object_new_object();

	explain_put(o, "kind", kinds[kind].name);
	if (kind != EXPLAIN_CAUSE && kind != EXPLAIN_TERM && kind != EXPLAIN_MESSAGE)
		explain_put_number(o, "value", value, kinds[kind].decimal);
	explain_put(o, "name", name);
	json_object_array_add(list, o);
	return o;
}

/* ---- by number */

/* The layout of a structure that follows a command's own fields, by the field's name. */
static const struct layout *layout_of(const char *field)
{
	size_t n = strcspn(field, ".");

	for (const struct layout *const *l = prm_layouts; *l; l++)
		if (strlen((*l)->name) == n && !strncmp((*l)->name, field, n))
			return *l;
	return NULL;
}

static void add_refusal(struct json_object *list, const struct fw_refusal *f)
{
	uint32_t opcode = f->syndrome >> 8, bit, width;
	struct json_object *o = explain_meaning(list, EXPLAIN_SYNDROME, f->syndrome, f->name);
	const struct layout *in, *out;
	char text[128];

	if (opcode < 0xf000 && fw_command_layouts((uint16_t)opcode, &in, &out)) {
		explain_put(o, "command", fw_opcode_name((uint16_t)opcode));
		if (!layout_find(in, f->field, &bit, &width))
			in = layout_of(f->field);
		if (in && layout_find(in, f->field, &bit, &width)) {
			explain_put_number(o, "bit", bit, false);
			explain_put_number(o, "width", width, true);
			explain_put(o, "of", in->name);
		}
	} else {
		explain_put(o, "command", "any");
	}
	explain_put(o, "field", f->field);
	if (f->reason)
		explain_put(o, "reason", f->reason);
	explain_put(o, "allowed", f->allowed);
	snprintf(text, sizeof(text), "%s (0x%x)", fw_status_name(f->status), f->status);
	explain_put(o, "status", text);
	explain_put(o, "errno", strerrorname_np(-fw_status_to_errno(f->status)));
}

int explain_syndrome(struct json_object *list, uint32_t syndrome)
{
	const struct fw_refusal *f = syndrome ? fw_refusal_find(syndrome) : NULL;

	if (f)
		add_refusal(list, f);
	return f != NULL;
}

int explain_status(struct json_object *list, uint8_t status)
{
	for (const struct explain_status *s = explain_statuses; s->means; s++) {
		struct json_object *o;
		int err = -fw_status_to_errno(status);

		if (s->status != status)
			continue;
		o = explain_meaning(list, EXPLAIN_STATUS, status, fw_status_name(status));
		explain_put(o, "means", s->means);
		explain_put(o, "cause", s->cause);
		/* The kernel's driver and libmlx5 map a status to the same errno. */
		explain_put(o, "errno", err ? strerrorname_np(err) : "0");
		explain_put(o, "DEVX", err ? "EREMOTEIO, with this status in the output" : "0");
		return 1;
	}
	return 0;
}

static const struct explain_wc *wc_row(int wc)
{
	for (const struct explain_wc *w = explain_wcs; w->means; w++)
		if (w->wc == wc)
			return w;
	return NULL;
}

/* `cause` is of all operations; with a known one, the likely causes of it are enough. */
static void put_operation(struct json_object *o, const char *cause, const struct explain_seen *seen)
{
	if (seen && seen->op)
		explain_put(o, "operation", seen->op);
	else
		explain_put(o, "cause", cause);
}

int explain_cqe(struct json_object *list, uint8_t syndrome, const struct explain_seen *seen)
{
	for (const struct explain_cqe *c = explain_cqes; c->means; c++) {
		const struct explain_wc *w = wc_row(c->wc);
		struct json_object *o;
		char text[64];

		if (c->syndrome != syndrome)
			continue;
		o = explain_meaning(list, EXPLAIN_CQE, syndrome, cqe_syndrome_name(syndrome));
		explain_put(o, "means", c->means);
		put_operation(o, c->cause, seen);
		snprintf(text, sizeof(text), "IBV_WC_%s (%d)", w ? w->name : "?", c->wc);
		explain_put(o, "wc_status", text);
		explain_put_vendor_errs(o, syndrome, seen);
		explain_put_steps(o, c->wc, seen);
		return 1;
	}
	return 0;
}

static void add_mad_status(struct json_object *list, const struct mad_status_info *s)
{
	struct json_object *o = explain_meaning(list, EXPLAIN_MAD, s->status, s->name);

	explain_put(o, "class", s->mgmt_class ? mad_class_name(s->mgmt_class) : "any");
	explain_put(o, "means", s->means);
	if (*s->cause)
		explain_put(o, "cause", s->cause);
}

int explain_mad_status(struct json_object *list, uint32_t mgmt_class, uint16_t status)
{
	const struct mad_status_info *s[4];
	uint32_t n = mad_status_find(mgmt_class, status, s, 4);

	for (uint32_t i = 0; i < n; i++)
		add_mad_status(list, s[i]);
	return (int)n;
}

int explain_wc_status(struct json_object *list, int wc, const struct explain_seen *seen)
{
	const struct explain_wc *w = wc_row(wc);
	struct json_object *o;
	char text[64];

	if (!w)
		return 0;
	snprintf(text, sizeof(text), "IBV_WC_%s", w->name);
	o = explain_meaning(list, EXPLAIN_WC, (uint64_t)wc, text);
	explain_put(o, "means", w->means);
	for (const struct explain_cqe *c = explain_cqes; c->means; c++)
		if (c->wc == wc) {
			put_operation(o, c->cause, seen);
			snprintf(text, sizeof(text), "%s (0x%x)", cqe_syndrome_name(c->syndrome),
				 c->syndrome);
			explain_put(o, "cqe_syndrome", text);
			explain_put_vendor_errs(o, c->syndrome, seen);
		}
	explain_put_steps(o, wc, seen);
	return 1;
}

int explain_errno(struct json_object *list, int err)
{
	int found = 0;

	for (const struct explain_errno *e = explain_errnos; e->means; e++) {
		struct json_object *o;

		if (e->err != err)
			continue;
		o = explain_meaning(list, EXPLAIN_ERRNO, (uint64_t)err, strerrorname_np(err));
		explain_put(o, "at", e->where);
		explain_put(o, "means", e->means);
		explain_put(o, "cause", e->cause);
		found++;
	}
	return found;
}

/* The layouts of a command and of what is in it: each has its fields in an explanation of its own.
 */
static void put_layouts(struct json_object *o, const struct layout *in, const struct layout *out)
{
	struct json_object *a = json_object_new_array();
	const struct layout *const both[] = {in, out};
	char text[160];

	for (size_t i = 0; i < 2; i++) {
		snprintf(text, sizeof(text), "%s, 0x%x bytes: softhca explain %s", both[i]->name,
			 both[i]->bytes, both[i]->name);
		json_object_array_add(a, json_object_new_string(text));
		for (uint32_t k = 0; k < both[i]->nplaces; k++) {
			const struct layout_place *p = &both[i]->places[k];

			snprintf(text, sizeof(text), "  %s at byte 0x%x: softhca explain %s",
				 p->name, p->byte, p->inner->name);
			json_object_array_add(a, json_object_new_string(text));
		}
	}
	json_object_object_add(o, "layouts", a);
}

static int explain_opcode(struct json_object *list, uint32_t opcode)
{
	const struct layout *in, *out;
	struct json_object *o;
	bool known;

	if (opcode > UINT16_MAX || fw_opcode_name((uint16_t)opcode)[0] == '?')
		return 0;
	known = fw_command_layouts((uint16_t)opcode, &in, &out);
	o = explain_meaning(list, EXPLAIN_OPCODE, opcode, fw_opcode_name((uint16_t)opcode));
	explain_put(o, "here",
		    known ? "executed by softhca's firmware"
			  : "not executed by softhca's firmware: BAD_OP");
	if (known)
		put_layouts(o, in, out);
	return 1;
}

int explain_by_number(struct json_object *list, uint64_t n)
{
	int found = 0;

	if (n > UINT32_MAX)
		return 0;
	found += explain_syndrome(list, (uint32_t)n);
	found += explain_card_syndrome(list, (uint32_t)n);
	if (n <= UINT8_MAX) {
		found += explain_status(list, (uint8_t)n);
		found += explain_cqe(list, (uint8_t)n, NULL);
		found += explain_vendor_err(list, (uint32_t)n);
	}
	if (n <= INT16_MAX) {
		found += explain_wc_status(list, (int)n, NULL);
		found += explain_errno(list, (int)n);
	}
	for (uint32_t i = 0; mad_status_at(i); i++)
		if (n && mad_status_at(i)->status == n) {
			add_mad_status(list, mad_status_at(i));
			found++;
		}
	return found + explain_opcode(list, (uint32_t)n);
}

/* ---- by name */

/* Compares the name with or without the prefix and suffix of constants. */
static bool explain_named(const char *word, const char *prefix, const char *name,
			  const char *suffix)
{
	size_t n;

	if (!strncasecmp(word, prefix, strlen(prefix)))
		word += strlen(prefix);
	n = strlen(name);
	if (strncasecmp(word, name, n))
		return false;
	return !word[n] || !strcasecmp(word + n, suffix);
}

/* All refusals whose field this is. */
static int explain_refusals_of(struct json_object *list, const char *field)
{
	const struct fw_refusal *f;
	int found = 0;

	for (unsigned int n = 0; (f = fw_refusal_at(n)); n++)
		if (!strcasecmp(field, f->field)) {
			add_refusal(list, f);
			found++;
		}
	return found;
}

int explain_by_name(struct json_object *list, const char *word)
{
	const struct fw_refusal *f;
	uint32_t mads = 0;
	uint16_t op;
	int found = explain_refusals_of(list, word);

	for (unsigned int n = 0; (f = fw_refusal_at(n)); n++)
		if (explain_named(word, "FW_R_", f->name, "") && strcasecmp(word, f->field)) {
			add_refusal(list, f);
			found++;
		}
	for (const struct explain_status *s = explain_statuses; s->means; s++)
		if (explain_named(word, "FW_", fw_status_name(s->status), "_ERR") ||
		    explain_named(word, "MLX5_CMD_STAT_", s->kernel, ""))
			found += explain_status(list, s->status);
	for (const struct explain_cqe *c = explain_cqes; c->means; c++)
		if (explain_named(word, "CQE_SYND_", cqe_syndrome_name(c->syndrome), "_ERR") ||
		    explain_named(word, "MLX5_CQE_SYNDROME_", c->kernel, ""))
			found += explain_cqe(list, c->syndrome, NULL);
	for (const struct mad_status_info *m; (m = mad_status_at(mads)); mads++)
		if (m->status && (explain_named(word, "MAD_STATUS_", m->name, "") ||
				  explain_named(word, "SA_STATUS_", m->name, "") ||
				  explain_named(word, "IB_SA_MAD_STATUS_", m->name, ""))) {
			add_mad_status(list, m);
			found++;
		}
	for (int e = 1; e < 134; e++)
		if (strerrorname_np(e) && !strcasecmp(word, strerrorname_np(e)))
			found += explain_errno(list, e);
	for (size_t n = 0; prm_opcode_at(n, &op); n++)
		if (explain_named(word, "MLX5_CMD_OP_", fw_opcode_name(op), ""))
			found += explain_opcode(list, op);
	return found + explain_word(list, word);
}

/* ---- output */

static void print_member(const char *indent, const char *key, struct json_object *v)
{
	if (json_object_is_type(v, json_type_array)) {
		for (size_t i = 0; i < json_object_array_length(v); i++)
			printf("%s  %-10s %s\n", indent, i ? "" : key,
			       json_object_get_string(json_object_array_get_idx(v, i)));
	} else if (json_object_is_type(v, json_type_int)) {
		printf(json_object_get_userdata(v) == decimal ? "%s  %-10s %llu\n"
							      : "%s  %-10s 0x%llx\n",
		       indent, key, (unsigned long long)json_object_get_uint64(v));
	} else {
		printf("%s  %-10s %s\n", indent, key, json_object_get_string(v));
	}
}

void explain_print_one(struct json_object *o, const char *indent)
{
	struct json_object *value = json_object_object_get(o, "value");
	const char *name = json_object_get_string(json_object_object_get(o, "name"));

	printf("%s%s %s", indent, json_object_get_string(json_object_object_get(o, "kind")), name);
	/* A failed call's 0: the line does not tell the errno. */
	if (value && strcmp(name, EXPLAIN_UNTOLD) &&
	    (json_object_get_uint64(value) || !json_object_object_get(o, "error")))
		printf(json_object_get_userdata(value) == decimal ? " (%llu)" : " (0x%llx)",
		       (unsigned long long)json_object_get_uint64(value));
	putchar('\n');
	json_object_object_foreach(o, key, v)
	{
		if (strcmp(key, "kind") && strcmp(key, "value") && strcmp(key, "name"))
			print_member(indent, key, v);
	}
}

void explain_print(struct json_object *list, const char *indent)
{
	for (size_t i = 0; i < json_object_array_length(list); i++)
		explain_print_one(json_object_array_get_idx(list, i), indent);
}
