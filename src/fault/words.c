/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The names that values of rules may have. Not in the preloaded library. */
#include "fault/rows.h"
#include "hw/service.h"
#include "util/cleanup.h"
#include "wire/prm/cmd_hdr.h"
#include "wire/prm/opcodes.h"

#include <infiniband/verbs.h>
#include <string.h>

static const struct {
	const char *name;
	uint64_t n;
} statuses[] = {
#define STATUS(prefix, word, n) {#word, n},
	PRM_V_STATUS(STATUS)
#undef STATUS
};

static const struct {
	const char *name;
	uint64_t n;
	bool recv; /* a receive can end with it, by itself; else a send */
} wcs[] = {
	{"LOC_LEN_ERR", IBV_WC_LOC_LEN_ERR, false},
	{"LOC_QP_OP_ERR", IBV_WC_LOC_QP_OP_ERR, false},
	{"LOC_PROT_ERR", IBV_WC_LOC_PROT_ERR, false},
	{"MW_BIND_ERR", IBV_WC_MW_BIND_ERR, false},
	{"BAD_RESP_ERR", IBV_WC_BAD_RESP_ERR, false},
	{"REM_INV_REQ_ERR", IBV_WC_REM_INV_REQ_ERR, false},
	{"REM_ACCESS_ERR", IBV_WC_REM_ACCESS_ERR, false},
	{"REM_OP_ERR", IBV_WC_REM_OP_ERR, false},
	{"RETRY_EXC_ERR", IBV_WC_RETRY_EXC_ERR, false},
	{"RNR_RETRY_EXC_ERR", IBV_WC_RNR_RETRY_EXC_ERR, false},
	{"REM_ABORT_ERR", IBV_WC_REM_ABORT_ERR, false},
	{"LOC_LEN_ERR", IBV_WC_LOC_LEN_ERR, true},
	{"LOC_PROT_ERR", IBV_WC_LOC_PROT_ERR, true},
	{"LOC_ACCESS_ERR", IBV_WC_LOC_ACCESS_ERR, true},
};

static const struct {
	const char *name;
	uint64_t n;
	enum fault_value of;
} events[] = {
	{"QP_FATAL", IBV_EVENT_QP_FATAL, FAULT_V_QP_EVENT},
	{"QP_REQ_ERR", IBV_EVENT_QP_REQ_ERR, FAULT_V_QP_EVENT},
	{"QP_ACCESS_ERR", IBV_EVENT_QP_ACCESS_ERR, FAULT_V_QP_EVENT},
	{"PATH_MIG_ERR", IBV_EVENT_PATH_MIG_ERR, FAULT_V_QP_EVENT},
	{"SRQ_ERR", IBV_EVENT_SRQ_ERR, FAULT_V_SRQ_EVENT},
	{"WQ_FATAL", IBV_EVENT_WQ_FATAL, FAULT_V_WQ_EVENT},
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
	case FAULT_V_WC:
	case FAULT_V_RECV_WC:
		for (size_t i = 0; i < ARRAY_SIZE(wcs); i++)
			if (wcs[i].recv == (v == FAULT_V_RECV_WC))
				each(ctx, wcs[i].name, wcs[i].n);
		break;
	case FAULT_V_TYPE:
		for (uint32_t st = 0; st <= HW_ST_DCT; st++)
			if (hw_service(st)->name[0] != '?')
				each(ctx, hw_service(st)->name, st);
		break;
	case FAULT_V_QP_EVENT:
	case FAULT_V_SRQ_EVENT:
	case FAULT_V_WQ_EVENT:
		for (size_t i = 0; i < ARRAY_SIZE(events); i++)
			if (events[i].of == v)
				each(ctx, events[i].name, events[i].n);
		break;
	case FAULT_V_NONE:
	case FAULT_V_MAYBE_TIME:
	case FAULT_V_NUMBER:
	case FAULT_V_TIME:
	case FAULT_V_ENTRY:
	case FAULT_V_TEXT:
		break;
	}
}
