/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A command as a trace line: its fields by the layouts of its row, its result, and for a refusal
 * the field, its bit, its value and the allowed values. Called by exec.c when the topic is on.
 */
#include "fw/priv.h"

#include <errno.h>
#include "fabric/fabric.h"
#include "hw/hca.h"
#include "util/clock.h"
#include "util/fmt.h"
#include "util/log.h"
#include "util/rec.h"
#include "wire/prm/cmd_hdr.h"
#include "wire/prm/hca_cap.h"
#include "wire/prm/opcodes.h"
#include "wire/prm/prm.h"

/* How many bytes are shown of a command that this firmware does not know. */
#define UNKNOWN_BYTES 64u

static const struct layout *trace_variant(void *ctx, const struct layout *inner)
{
	return prm_variant(inner, ctx);
}

/* The object that follows the command's own layout; returns its bytes. */
static uint32_t rec_body(struct rec *r, const struct fw_call *k, const uint8_t *p, uint32_t len,
			 bool output)
{
	uint32_t head = !k->cmd ? 0 : output ? k->cmd->out->bytes : k->cmd->in->bytes;
	const struct layout *l = k->cmd ? fw_command_body(k->cmd->opcode, k->in, output) : NULL;

	if (!l || len <= head)
		return 0;
	rec_group(r, l->name, "{");
	layout_rec(r, l, p + head, len - head, &(struct layout_rec){.name = prm_value_name});
	rec_group_end(r, "}");
	return l->bytes < len - head ? l->bytes : len - head;
}

static void rec_input(struct rec *r, const struct fw_call *k, const void *in, uint32_t inlen)
{
	uint32_t known = k->cmd ? k->cmd->in->bytes : 0;
	char device[FAB_HCA_NAME];
	const struct layout_rec how = {
		.open = k->cmd ? trace_variant : NULL,
		.name = prm_value_name,
		.ctx = (void *)(uintptr_t)in,
		.from = r->json ? 0 : LF_cmd_in_uid_BIT, /* the opcode is already shown by name */
	};

	rec_group(r, "in", "(");
	if (r->options & LOG_OBJECTS)
		rec_s(r, "device", fab_hca_name(k->s, k->hca, device));
	if (k->cmd) {
		layout_rec(r, k->cmd->in, in, inlen, &how);
	} else {
		layout_rec(r, &layout_cmd_in, in, inlen, &how);
		known = inlen < LAYOUT_SZ(cmd_in) ? inlen : LAYOUT_SZ(cmd_in);
		if (inlen - known > UNKNOWN_BYTES && !r->json)
			inlen = known + UNKNOWN_BYTES;
	}
	known += rec_body(r, k, in, inlen, false);
	if (inlen > known)
		rec_bytes(r, "rest", (const uint8_t *)in + known, inlen - known);
	if (k->c->mem) {
		rec_group(r, "pages", "{");
		rec_u(r, "slot", k->c->mem->mem.slot);
		rec_x(r, "addr", k->c->mem->va);
		rec_x(r, "len", k->c->mem->len);
		rec_group_end(r, "}");
	}
	rec_group_end(r, ")");
}

static bool trace_any_set(const uint8_t *p, uint32_t n)
{
	while (n && !*p)
		p++, n--;
	return n;
}

/* The value of the capability behind the refusal. */
static void rec_cap(struct rec *r, const struct fw_call *k, const struct layout_field *cap)
{
	uint8_t in[LAYOUT_SZ(query_hca_cap_in)] = {0}, out[LAYOUT_SZ(query_hca_cap_out)] = {0};
	struct fw_call q = *k;

	q.in = in;
	q.out = out;
	q.op_mod = 0;
	if (!cap || fw_cmd_query_hca_cap(&q))
		return;
	rec_group(r, "caps", " (");
	rec_u(r, cap->name,
	      layout_get(LAYOUT_IN(query_hca_cap_out, capability, out), cap->bit, cap->width));
	rec_group_end(r, ")");
}

bool fw_find_field(const struct fw_call *k, const char *field, uint32_t inlen, uint32_t *bit,
		   uint32_t *width)
{
	const struct layout *body;

	if (!k->cmd)
		return false;
	if (layout_find(k->cmd->in, field, bit, width))
		return true;
	body = fw_command_body(k->cmd->opcode, k->in, false);
	if (!body || inlen < k->cmd->in->bytes + body->bytes ||
	    !layout_find(body, field, bit, width))
		return false;
	*bit += k->cmd->in->bytes * 8;
	return true;
}

/* How many bytes there are, and how many there have to be in which part. */
static void rec_length(struct rec *r, const struct fw_call *k, uint32_t inlen)
{
	const struct layout *body = fw_command_body(k->cmd->opcode, k->in, false);
	uint32_t head = k->cmd->in->bytes;
	char text[192];

	if (r->json) {
		rec_u(r, "inlen_needed", head + k->rest);
		return;
	}
	fmt(text, sizeof(text), " (%u bytes in, %llu needed: %s has %u, %s %llu)", inlen,
	    (unsigned long long)(head + k->rest), k->cmd->in->name, head,
	    body ? body->name : "the rest", (unsigned long long)k->rest);
	rec_say(r, "", "", text);
}

/* The place and value of the refused bits. */
static void rec_where(struct rec *r, const struct fw_call *k, const struct fw_refusal *f,
		      uint32_t inlen, uint32_t outlen, int32_t reserved_bit)
{
	uint32_t bit, width;
	char text[96] = "";

	rec_say(r, "field", ": ", f->field);
	if (reserved_bit >= 0) {
		bit = (uint32_t)reserved_bit & ~31u;
		width = 32;
	} else if (!fw_find_field(k, f->field, inlen, &bit, &width)) {
		width = 0;
	}
	if (r->json) {
		if (reserved_bit >= 0)
			rec_u(r, "reserved_bit", (uint32_t)reserved_bit);
		if (width) {
			rec_u(r, "bit", bit);
			rec_u(r, "width", width);
			rec_u(r, "value", layout_get(k->in, bit, width));
		}
		rec_u(r, "inlen", inlen);
		rec_u(r, "outlen", outlen);
		return;
	}
	if (reserved_bit >= 0)
		fmt(text, sizeof(text), " reserved bit 0x%x (dword 0x%x = 0x%08llx)",
		    (unsigned int)reserved_bit, bit / 8,
		    (unsigned long long)layout_get(k->in, bit, width));
	else if (width)
		fmt(text, sizeof(text), " (bit 0x%x, width %u) = %#llx", bit, width,
		    (unsigned long long)layout_get(k->in, bit, width));
	else if (k->cmd && !k->rest)
		fmt(text, sizeof(text), " (%u of %u bytes in, %u of %u out)", inlen,
		    k->cmd->in->bytes, outlen, k->cmd->out->bytes);
	rec_say(r, "", "", text);
}

static void rec_refusal(struct rec *r, const struct fw_call *k, const struct fw_refusal *f,
			uint32_t inlen, uint32_t outlen, int32_t reserved_bit)
{
	char text[48], users[128];

	rec_group(r, "refused", "");
	if (r->json) {
		rec_code(r, "status", f->status, fw_status_name(f->status));
		rec_u(r, "syndrome", f->syndrome);
	} else {
		fmt(text, sizeof(text), "(0x%x) syndrome 0x%x", f->status, f->syndrome);
		rec_say(r, "", fw_status_name(f->status), text);
	}
	rec_where(r, k, f, inlen, outlen, reserved_bit);
	if (f->status == FW_BAD_INPUT_LEN && k->rest)
		rec_length(r, k, inlen);
	if (f->reason)
		rec_say(r, "reason", ": ", f->reason);
	if (fw_users(k, f, users, sizeof(users)))
		rec_say(r, "users", "; ", users);
	rec_say(r, "allowed", "; allowed: ", f->allowed);
	rec_cap(r, k, f->cap);
	rec_group_end(r, "");
}

void fw_trace(const struct fw_call *k, uint16_t opcode, uint32_t inlen, uint32_t outlen,
	      enum fw_r result, int32_t reserved_bit, uint64_t since)
{
	struct rec r;
	char name[32];

	fmt(name, sizeof(name), prm_opcode_name(opcode)[0] == '?' ? "%s(0x%x)" : "%s",
	    prm_opcode_name(opcode), opcode);
	rec_begin(&r, LOG_FW, name, since);
	r.failed = result != FW_R_NONE;
	rec_input(&r, k, k->in, inlen);
	if (result == FW_R_NONE && k->cmd && trace_any_set(k->out, outlen)) {
		rec_group(&r, "out", " -> ");
		layout_rec(&r, k->cmd->out, k->out, outlen,
			   &(struct layout_rec){.open = trace_variant,
						.name = prm_value_name,
						.ctx = (void *)(uintptr_t)k->in});
		rec_body(&r, k, k->out, outlen, true);
		rec_group_end(&r, "");
	}
	if (r.json && k->cmd && k->cmd->obj && result == FW_R_NONE) {
		rec_s(&r, "object", k->cmd->obj);
		rec_u(&r, "id", k->obj);
	}
	rec_say(&r, "result", " = ",
		result == FW_R_ERRNO  ? log_errno_name(-k->err)
		: result == FW_R_NONE ? "OK"
		: r.json              ? "refused"
				      : "");
	if (result != FW_R_NONE && result != FW_R_ERRNO)
		rec_refusal(&r, k, result == FW_R_FAULT ? k->fault : fw_refusal(result), inlen,
			    outlen, reserved_bit);
	rec_end(&r);
}
