/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns the tables of the WQE and CQE layouts and the names of their codes. Data only. */
#include "wire/ib_event.h"
#include "wire/wqe/cqe.h"
#include "wire/wqe/eqe.h"
#include "wire/wqe/tm.h"
#include "wire/wqe/wqe.h"

LAYOUT_TABLE(wqe_ctrl, WQE_L_ctrl)
LAYOUT_TABLE(wqe_raddr, WQE_L_raddr)
LAYOUT_TABLE(wqe_atomic, WQE_L_atomic)
LAYOUT_TABLE(wqe_atomic32, WQE_L_atomic32)
LAYOUT_TABLE(wqe_data, WQE_L_data)
LAYOUT_TABLE(wqe_umr, WQE_L_umr)
LAYOUT_TABLE(wqe_klm, WQE_L_klm)
LAYOUT_TABLE(wqe_repeat, WQE_L_repeat)
LAYOUT_TABLE(wqe_repeat_ent, WQE_L_repeat_ent)
LAYOUT_TABLE(wqe_mmo, WQE_L_mmo)
LAYOUT_TABLE(wqe_psv, WQE_L_psv)
LAYOUT_TABLE(wqe_bsf, WQE_L_bsf)
LAYOUT_TABLE(wqe_bsf_inl, WQE_L_bsf_inl)
LAYOUT_TABLE(wqe_crypto_bsf, WQE_L_crypto_bsf)
LAYOUT_TABLE(wqe_tm, WQE_L_tm)
LAYOUT_TABLE(tmh, WQE_L_tmh)
LAYOUT_TABLE(rvh, WQE_L_rvh)
LAYOUT_TABLE(tm_cqe, CQE_L_tm)
LAYOUT_TABLE(tmh_cqe, CQE_L_tmh)
LAYOUT_TABLE(wqe_av, WQE_L_av)
LAYOUT_TABLE(wqe_srq_next, WQE_L_srq_next)
LAYOUT_TABLE(ib_grh, WQE_L_grh)
LAYOUT_TABLE(cqe64, CQE_L_cqe64)
LAYOUT_TABLE(mini_hash, CQE_L_mini_hash)
LAYOUT_TABLE(mini_csum, CQE_L_mini_csum)
LAYOUT_TABLE(err_cqe, CQE_L_err)
LAYOUT_TABLE(sigerr_cqe, CQE_L_sigerr)

#define IB_EVENT_ROW(nr, name) [nr] = #name,
static const char *const events[] = {IB_EVENTS(IB_EVENT_ROW)};

const char *ib_event_name(uint32_t type)
{
	return type < sizeof(events) / sizeof(events[0]) ? events[type] : "?";
}

struct code_name {
	uint8_t nr;
	const char *name;
};

#define CODE_ROW(nr, name) {(nr), #name},
static const struct code_name opcodes[] = {WQE_OPCODES(CODE_ROW)};
static const struct code_name eqe_types[] = {EQE_TYPES(CODE_ROW)};
static const struct code_name syndromes[] = {CQE_SYNDROMES(CODE_ROW)};

static const char *code_name(const struct code_name *t, size_t n, uint8_t nr)
{
	for (size_t i = 0; i < n; i++)
		if (t[i].nr == nr)
			return t[i].name;
	return "?";
}

const char *wqe_opcode_name(uint8_t opcode)
{
	return code_name(opcodes, sizeof(opcodes) / sizeof(opcodes[0]), opcode);
}

const char *eqe_type_name(uint8_t type)
{
	return code_name(eqe_types, sizeof(eqe_types) / sizeof(eqe_types[0]), type);
}

const char *cqe_syndrome_name(uint8_t syndrome)
{
	return code_name(syndromes, sizeof(syndromes) / sizeof(syndromes[0]), syndrome);
}
