/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns the table of refusals and of status codes, and looks them up. Called by all layers above. */
#include "fw/priv.h"

#include <errno.h>
#include "util/cleanup.h"
#include "wire/prm/opcodes.h"
#include "wire/prm/prm.h"

/* The texts of a row; `text` is all of it in one line. */
#define SAYS(line, why, what, ...) .text = line, .reason = why, .allowed = what, __VA_ARGS__
#define CAP(f)                                                                                   \
	.cap = &(const struct layout_field)                                                      \
	{                                                                                        \
		.name = #f, .bit = LF_cmd_hca_cap_##f##_BIT, .width = LF_cmd_hca_cap_##f##_WIDTH \
	}
#define ALLOWED(what, ...) SAYS(what, NULL, what, __VA_ARGS__)
#define BECAUSE(why, what, ...) SAYS(why "; allowed: " what, why, what, __VA_ARGS__)
#define NO_SUCH(object)                            \
	SAYS("no such " object, "no such " object, \
	     "the number of one that exists, made under this uid")
#define UNKNOWN(thing) SAYS("no such " thing, "no such " thing, "one that this device has")
#define IN_USE(why) SAYS(why, why, "one that nothing refers to any more")
#define MUST_BE_0(why, ...) SAYS(why, why, "0", __VA_ARGS__)

#define REFUSAL_ROW(row, syn, st, fld, says) \
	[FW_R_##row] = {.syndrome = (syn), .status = FW_##st, .field = (fld), .name = #row, says},
static const struct fw_refusal refusals[FW_R_COUNT] = {FW_REFUSALS(REFUSAL_ROW)};

const struct fw_refusal *fw_refusal(enum fw_r r)
{
	return &refusals[r];
}

const struct fw_refusal *fw_refusal_find(uint32_t syndrome)
{
	for (unsigned int r = FW_R_NONE + 1; r < FW_R_COUNT; r++)
		if (refusals[r].syndrome == syndrome)
			return &refusals[r];
	return NULL;
}

const struct fw_refusal *fw_refusal_at(unsigned int n)
{
	return n + 1 < FW_R_COUNT ? &refusals[n + 1] : NULL;
}

/* The errno of the kernel's driver (cmd_status_to_err() in mlx5/core/cmd.c). */
static const struct {
	uint8_t status;
	int err;
} statuses[] = {
	{FW_OK, 0},
	{FW_INT_ERR, -EIO},
	{FW_BAD_OP, -EINVAL},
	{FW_BAD_PARAM, -EINVAL},
	{FW_BAD_SYS_STATE, -EIO},
	{FW_BAD_RES, -EINVAL},
	{FW_RES_BUSY, -EBUSY},
	{FW_EXCEED_LIM, -ENOMEM},
	{FW_BAD_RES_STATE, -EINVAL},
	{FW_BAD_INDEX, -EINVAL},
	{FW_NO_RESOURCES, -EAGAIN},
	{FW_BAD_INPUT_LEN, -EIO},
	{FW_BAD_OUTPUT_LEN, -EIO},
	{FW_BAD_QP_STATE, -EINVAL},
	{FW_BAD_PKT, -EINVAL},
	{FW_BAD_SIZE_OUTS_CQES, -EINVAL},
};

int fw_status_to_errno(uint8_t status)
{
	for (size_t i = 0; i < ARRAY_SIZE(statuses); i++)
		if (statuses[i].status == status)
			return statuses[i].err;
	return -EIO;
}

const char *fw_status_name(uint8_t status)
{
	const char *name = prm_value_name(&layout_cmd_out, LF_cmd_out_status_BIT, status);

	return name ? name : "?";
}

const char *fw_opcode_name(uint16_t opcode)
{
	return prm_opcode_name(opcode);
}
