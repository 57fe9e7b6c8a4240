/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The names that values of rules may have. Not in the preloaded library. */
#include "fault/rows.h"
#include "util/cleanup.h"
#include "wire/prm/cmd_hdr.h"
#include "wire/prm/opcodes.h"

#include <string.h>

static const struct {
	const char *name;
	uint64_t n;
} statuses[] = {
#define STATUS(prefix, word, n) {#word, n},
	PRM_V_STATUS(STATUS)
#undef STATUS
};

void fault_value_names(enum fault_value v, void (*each)(void *ctx, const char *name, uint64_t n),
		       void *ctx)
{
	uint16_t op;

	switch (v) {
	case FAULT_V_ERRNO:
		for (int e = 1; e < 134; e++)
			if (strerrorname_np(e))
				each(ctx, strerrorname_np(e), (uint64_t)e);
		break;
	case FAULT_V_STATUS:
		for (size_t i = 0; i < ARRAY_SIZE(statuses); i++)
			each(ctx, statuses[i].name, statuses[i].n);
		break;
	case FAULT_V_OPCODE:
		for (size_t i = 0; prm_opcode_at(i, &op); i++)
			each(ctx, prm_opcode_name(op), op);
		break;
	case FAULT_V_NONE:
	case FAULT_V_NUMBER:
	case FAULT_V_TIME:
	case FAULT_V_ENTRY:
	case FAULT_V_TEXT:
		break;
	}
}
