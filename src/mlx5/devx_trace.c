/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Firmware commands in DEVX attributes, as part of a trace line. Called by uverbs. */
#include "mlx5/priv.h"
#include "util/rec.h"
#include "wire/prm/cmd_hdr.h"

void mlx5_show_cmd_in(struct rec *r, const char *name, const uint8_t *p, size_t len)
{
	uint16_t opcode = LAYOUT_GET16(cmd_in, p, opcode);
	const struct layout *in = NULL, *out;

	rec_about(r, fw_opcode_name(opcode));
	rec_group(r, name, "{");
	rec_code(r, "opcode", opcode, fw_opcode_name(opcode));
	/*
	 * In text, the firmware's own trace line has the rest; commands that the driver refused
	 * never get there.
	 */
	if (r->json || !fw_command_layouts(opcode, &in, &out))
		rec_bytes(r, "bytes", p, len);
	else
		rec_u(r, "len", len);
	rec_group_end(r, "}");
}

void mlx5_show_cmd_out(struct rec *r, const char *name, const uint8_t *p, size_t len)
{
	uint8_t status = LAYOUT_GET8(cmd_out, p, status);
	uint32_t syndrome = LAYOUT_GET32(cmd_out, p, syndrome);
	const struct fw_refusal *f = status ? fw_refusal_find(syndrome) : NULL;

	rec_group(r, name, "{");
	rec_code(r, "status", status, fw_status_name(status));
	rec_x(r, "syndrome", syndrome);
	if (f) {
		rec_s(r, "field", f->field);
		rec_s(r, "reason", f->text);
	}
	if (r->json)
		rec_bytes(r, "bytes", p, len);
	else
		rec_u(r, "len", len);
	rec_group_end(r, "}");
}
