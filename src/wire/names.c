/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds the names of values in all tables. Called by `softhca decode`. */
#include "wire/names.h"

#include "wire/mad/names.h"
#include "wire/prm/prm.h"
#include "wire/wqe/cqe.h"
#include "wire/wqe/eqe.h"
#include "wire/wqe/tm.h"
#include "wire/wqe/wqe.h"

/* A field for whose values a function returns names; "?": the value has none. */
#define CODE(l, f, names)                              \
	{                                              \
		&layout_##l, LF_##l##_##f##_BIT, names \
	}
static const struct {
	const struct layout *l;
	uint32_t bit;
	const char *(*name)(uint8_t value);
} codes[] = {
	CODE(wqe_ctrl, opcode, wqe_opcode_name),     CODE(cqe64, send_opcode, wqe_opcode_name),
	CODE(err_cqe, send_opcode, wqe_opcode_name), CODE(err_cqe, syndrome, cqe_syndrome_name),
	CODE(eqe, event_type, eqe_type_name),
};

#define CQE_NAMED(N)                         \
	N(cqe64, opcode, CQE_V_OPCODE)       \
	N(cqe64, format, CQE_V_FORMAT)       \
	N(err_cqe, opcode, CQE_V_OPCODE)     \
	N(tm_cqe, opcode, CQE_V_OPCODE)      \
	N(tm_cqe, app_op, CQE_V_TM)          \
	N(tmh_cqe, opcode, CQE_V_OPCODE)     \
	N(tmh_cqe, app_op, CQE_V_TM)         \
	N(tmh_cqe, tmh_opcode, TMH_V_OPCODE) \
	N(wqe_tm, opcode, WQE_V_TM)
static const struct layout_named cqe_named[] = {CQE_NAMED(LAYOUT_NAMED_ROW){NULL, 0, NULL}};

const char *wire_value_name(const struct layout *l, uint32_t bit, uint64_t v)
{
	const char *name;

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (codes[i].l == l && codes[i].bit == bit) {
			name = codes[i].name((uint8_t)v);
			return *name == '?' ? NULL : name;
		}
	name = layout_value_name(cqe_named, l, bit, v);
	if (!name)
		name = prm_value_name(l, bit, v);
	return name ? name : mad_value_name(l, bit, v);
}
