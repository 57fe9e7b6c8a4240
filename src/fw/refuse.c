/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns the table of refusals and of status codes. Data, and look-ups for everybody above. */
#include "fw/cmd.h"

#include <errno.h>
#include "util/cleanup.h"

#define REFUSAL_ROW(row, syn, st, fld, txt) \
	[FW_R_##row] = {.syndrome = (syn),  \
			.status = FW_##st,  \
			.field = (fld),     \
			.text = (txt),      \
			.name = #row},
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

static const char separator[] = "; allowed: ";

static bool begins(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

const char *fw_refusal_allowed(const struct fw_refusal *f)
{
	const char *also = strstr(f->text, separator);
	size_t n = strlen(f->name);

	if (also)
		return also + strlen(separator);
	if (begins(f->text, "no such "))
		return f->status == FW_BAD_PARAM
			       ? "one that this device has"
			       : "the number of one that exists, made under this uid";
	if (n > 7 && !strcmp(f->name + n - 7, "_IN_USE"))
		return "one that nothing refers to any more";
	if (begins(f->text, "cap ") || begins(f->text, "caps "))
		return "0";
	return f->text;
}

size_t fw_refusal_reason(const struct fw_refusal *f)
{
	const char *also = strstr(f->text, separator);

	return also                               ? (size_t)(also - f->text)
	       : fw_refusal_allowed(f) == f->text ? 0
						  : strlen(f->text);
}

/* errno as the kernel's driver answers (cmd_status_to_err in mlx5/core/cmd.c). */
static const struct {
	uint8_t status;
	const char *name;
	int err;
} statuses[] = {
	{FW_OK, "OK", 0},
	{FW_INT_ERR, "INT_ERR", -EIO},
	{FW_BAD_OP, "BAD_OP", -EINVAL},
	{FW_BAD_PARAM, "BAD_PARAM", -EINVAL},
	{FW_BAD_SYS_STATE, "BAD_SYS_STATE", -EIO},
	{FW_BAD_RES, "BAD_RES", -EINVAL},
	{FW_RES_BUSY, "RES_BUSY", -EBUSY},
	{FW_EXCEED_LIM, "EXCEED_LIM", -ENOMEM},
	{FW_BAD_RES_STATE, "BAD_RES_STATE", -EINVAL},
	{FW_BAD_INDEX, "BAD_INDEX", -EINVAL},
	{FW_NO_RESOURCES, "NO_RESOURCES", -EAGAIN},
	{FW_BAD_INPUT_LEN, "BAD_INPUT_LEN", -EIO},
	{FW_BAD_OUTPUT_LEN, "BAD_OUTPUT_LEN", -EIO},
	{FW_BAD_QP_STATE, "BAD_QP_STATE", -EINVAL},
	{FW_BAD_PKT, "BAD_PKT", -EINVAL},
	{FW_BAD_SIZE_OUTS_CQES, "BAD_SIZE_OUTS_CQES", -EINVAL},
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
	for (size_t i = 0; i < ARRAY_SIZE(statuses); i++)
		if (statuses[i].status == status)
			return statuses[i].name;
	return "?";
}

bool fw_status_at(unsigned int n, uint8_t *status)
{
	if (n >= ARRAY_SIZE(statuses))
		return false;
	*status = statuses[n].status;
	return true;
}

const char *fw_opcode_name(uint16_t opcode)
{
	return prm_opcode_name(opcode);
}
