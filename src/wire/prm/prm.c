/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns the tables of the PRM layouts and the names of opcodes and values. Data only. */
#include "wire/prm/prm.h"
#include "wire/for_tests.h"

#define PRM_TABLE(l, bytes) LAYOUT_NEST_TABLE(l, PRM_L_##l)
PRM_LAYOUTS(PRM_TABLE)

#define PRM_ROW(l, bytes) &layout_##l,
const struct layout *const prm_layouts[] = {PRM_LAYOUTS(PRM_ROW) NULL};

const struct layout_named prm_named[] = {PRM_NAMED(LAYOUT_NAMED_ROW){NULL, 0, NULL}};

static const struct prm_variant variants[] = {
	{&layout_hca_cap_union, 0x00, &layout_cmd_hca_cap},
	{&layout_hca_cap_union, 0x02, &layout_odp_cap},
	{&layout_hca_cap_union, 0x03, &layout_atomic_caps},
	{&layout_hca_cap_union, 0x0c, &layout_qos_cap},
	{&layout_hca_cap_union, 0x0f, &layout_device_mem_cap},
	{&layout_hca_cap_union, 0x1a, &layout_crypto_caps},
	{&layout_hca_cap_union, 0x20, &layout_cmd_hca_cap_2},
};

const struct layout *prm_variant(const struct layout *open, const void *in)
{
	uint32_t selector = LAYOUT_GET32(cmd_in, in, op_mod) >> 1;

	for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]); i++)
		if (variants[i].open == open && variants[i].selector == selector)
			return variants[i].is;
	return NULL;
}

const char *prm_value_name(const struct layout *l, uint32_t bit, uint64_t v)
{
	const char *name;

	if (l == &layout_cmd_in && bit == LF_cmd_in_opcode_BIT) {
		name = prm_opcode_name((uint16_t)v);
		return *name == '?' ? NULL : name;
	}
	return layout_value_name(prm_named, l, bit, v);
}

#define PRM_OP_ROW(nr, name) {nr, #name},
static const struct {
	uint16_t opcode;
	const char *name;
} prm_ops[] = {PRM_OPCODES(PRM_OP_ROW)};

bool prm_opcode_at(size_t n, uint16_t *opcode)
{
	if (n >= sizeof(prm_ops) / sizeof(prm_ops[0]))
		return false;
	*opcode = prm_ops[n].opcode;
	return true;
}

const char *prm_opcode_name(uint16_t opcode)
{
	for (size_t i = 0; i < sizeof(prm_ops) / sizeof(prm_ops[0]); i++)
		if (prm_ops[i].opcode == opcode)
			return prm_ops[i].name;
	return "?";
}
