/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the meaning of the instructions that programs ring with: Zydis decodes, this reduces to
 * struct trap_op. Pure; called by trap.c on the engine's stack.
 */
#include "shim/trap.h"

#include <Zydis/Zydis.h>
#include <errno.h>
#include <string.h>

/* Plain moves, by mnemonic. Everything else that touches memory is refused. */
enum move_class { MOVE_NONE, MOVE_INT, MOVE_VEC, MOVE_VEC_HIGH, MOVE_EXTRACT, MOVE_EXTEND };

static enum move_class move_class(ZydisMnemonic m)
{
	switch (m) {
	case ZYDIS_MNEMONIC_MOV:
	case ZYDIS_MNEMONIC_MOVNTI:
	case ZYDIS_MNEMONIC_MOVDIRI:
	case ZYDIS_MNEMONIC_MOVBE:
		return MOVE_INT;
	case ZYDIS_MNEMONIC_MOVZX:
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD:
		return MOVE_EXTEND;
#define BOTH(name)                  \
	case ZYDIS_MNEMONIC_##name: \
	case ZYDIS_MNEMONIC_V##name:
		BOTH(MOVUPS)
		BOTH(MOVUPD)
		BOTH(MOVAPS)
		BOTH(MOVAPD) BOTH(MOVDQA) BOTH(MOVDQU) BOTH(MOVNTDQ) BOTH(MOVNTPS) BOTH(MOVNTPD)
			BOTH(MOVQ) BOTH(MOVD) BOTH(MOVLPS) BOTH(MOVLPD) BOTH(MOVSS) BOTH(MOVSD)
				BOTH(LDDQU) BOTH(MOVNTDQA) case ZYDIS_MNEMONIC_VMOVDQA32
		    : case ZYDIS_MNEMONIC_VMOVDQA64 : case ZYDIS_MNEMONIC_VMOVDQU8
		    : case ZYDIS_MNEMONIC_VMOVDQU16 : case ZYDIS_MNEMONIC_VMOVDQU32
		    : case ZYDIS_MNEMONIC_VMOVDQU64 : return MOVE_VEC;
		BOTH(MOVHPS) BOTH(MOVHPD) return MOVE_VEC_HIGH;
#undef BOTH
	case ZYDIS_MNEMONIC_VEXTRACTF128:
	case ZYDIS_MNEMONIC_VEXTRACTI128:
	case ZYDIS_MNEMONIC_VEXTRACTF32X4:
	case ZYDIS_MNEMONIC_VEXTRACTI32X4:
	case ZYDIS_MNEMONIC_VEXTRACTF64X2:
	case ZYDIS_MNEMONIC_VEXTRACTI64X2:
	case ZYDIS_MNEMONIC_VEXTRACTF64X4:
	case ZYDIS_MNEMONIC_VEXTRACTI64X4:
	case ZYDIS_MNEMONIC_VEXTRACTF32X8:
	case ZYDIS_MNEMONIC_VEXTRACTI32X8:
		return MOVE_EXTRACT;
	default:
		return MOVE_NONE;
	}
}

static bool gpr_number(ZydisRegister r, uint8_t *n, bool *high8)
{
	ZydisRegister wide = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);

	*high8 = r >= ZYDIS_REGISTER_AH && r <= ZYDIS_REGISTER_BH;
	if (wide < ZYDIS_REGISTER_RAX || wide > ZYDIS_REGISTER_R15)
		return false;
	*n = (uint8_t)(wide - ZYDIS_REGISTER_RAX);
	return true;
}

static bool vec_number(ZydisRegister r, uint8_t *n)
{
	ZydisRegisterClass c = ZydisRegisterGetClass(r);

	if (c != ZYDIS_REGCLASS_XMM && c != ZYDIS_REGCLASS_YMM && c != ZYDIS_REGCLASS_ZMM)
		return false;
	*n = (uint8_t)ZydisRegisterGetId(r);
	return true;
}

static bool address_register(ZydisRegister r, uint8_t *n)
{
	bool high8;

	if (r == ZYDIS_REGISTER_NONE) {
		*n = TRAP_NOREG;
		return true;
	}
	if (r == ZYDIS_REGISTER_RIP) {
		*n = TRAP_RIP;
		return true;
	}
	return gpr_number(r, n, &high8);
}

/* FS and GS have bases that we do not know here: nobody maps a UAR relative to them. */
static int decode_mem(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *o,
		      struct trap_op *op)
{
	const ZydisDecodedOperandMem *m = &o->mem;

	if (m->segment == ZYDIS_REGISTER_FS || m->segment == ZYDIS_REGISTER_GS ||
	    !address_register(m->base, &op->base) || !address_register(m->index, &op->index))
		return -EINVAL;
	op->scale = m->scale;
	op->disp = m->disp.has_displacement ? m->disp.value : 0;
	op->addr32 = in->address_width == 32;
	op->size = (uint8_t)(o->size / 8);
	return op->size ? 0 : -EINVAL;
}

static int decode_string(const ZydisDecodedInstruction *in, struct trap_op *op)
{
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_MOVSB:
	case ZYDIS_MNEMONIC_MOVSW:
	case ZYDIS_MNEMONIC_MOVSD:
	case ZYDIS_MNEMONIC_MOVSQ:
		op->kind = TRAP_MOVS;
		break;
	case ZYDIS_MNEMONIC_STOSB:
	case ZYDIS_MNEMONIC_STOSW:
	case ZYDIS_MNEMONIC_STOSD:
	case ZYDIS_MNEMONIC_STOSQ:
		op->kind = TRAP_STOS;
		break;
	default:
		return -EINVAL;
	}
	if (in->address_width != 64 || (in->attributes & ZYDIS_ATTRIB_HAS_SEGMENT_FS) ||
	    (in->attributes & ZYDIS_ATTRIB_HAS_SEGMENT_GS))
		return -EINVAL;
	op->size = (uint8_t)(in->operand_width / 8);
	op->rep = in->attributes &
		  (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);
	return 0;
}

static int decode_store(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *o,
			struct trap_op *op)
{
	const ZydisDecodedOperand *src = &o[1];
	enum move_class c = move_class(in->mnemonic);

	if (src->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && c == MOVE_INT) {
		op->kind = TRAP_ST_IMM;
		op->imm = src->imm.value.u;
		return 0;
	}
	if (src->type != ZYDIS_OPERAND_TYPE_REGISTER)
		return -EINVAL;
	if (c == MOVE_INT) {
		op->kind = TRAP_ST_REG;
		op->swap = in->mnemonic == ZYDIS_MNEMONIC_MOVBE;
		return gpr_number(src->reg.value, &op->reg, &op->high8) ? 0 : -EINVAL;
	}
	if (c == MOVE_NONE || c == MOVE_EXTEND || !vec_number(src->reg.value, &op->reg))
		return -EINVAL;
	op->kind = TRAP_ST_VEC;
	if (c == MOVE_VEC_HIGH)
		op->shift = 8;
	if (c == MOVE_EXTRACT)
		op->shift = (uint8_t)(o[2].imm.value.u * op->size % (src->size / 8));
	return 0;
}

static int decode_load(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *o,
		       struct trap_op *op)
{
	enum move_class c = move_class(in->mnemonic);

	if (o[0].type != ZYDIS_OPERAND_TYPE_REGISTER)
		return -EINVAL;
	if (c == MOVE_INT || c == MOVE_EXTEND) {
		op->kind = TRAP_LD_REG;
		op->ld_size = (uint8_t)(o[0].size / 8);
		return gpr_number(o[0].reg.value, &op->reg, &op->high8) ? 0 : -EINVAL;
	}
	if (c != MOVE_VEC || !vec_number(o[0].reg.value, &op->reg))
		return -EINVAL;
	/* movlps and movlpd keep the upper half; with VEX they take it from a third register */
	if (in->mnemonic == ZYDIS_MNEMONIC_VMOVLPS || in->mnemonic == ZYDIS_MNEMONIC_VMOVLPD)
		return -EINVAL;
	op->kind = TRAP_LD_VEC;
	op->vex = in->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY;
	op->ld_size = in->mnemonic == ZYDIS_MNEMONIC_MOVLPS || in->mnemonic == ZYDIS_MNEMONIC_MOVLPD
			      ? 8
			      : (uint8_t)(o[0].size / 8);
	return 0;
}

static int decode_mask(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *mem,
		       struct trap_op *op)
{
	if (in->encoding != ZYDIS_INSTRUCTION_ENCODING_EVEX ||
	    in->avx.mask.reg == ZYDIS_REGISTER_NONE || in->avx.mask.reg == ZYDIS_REGISTER_K0)
		return 0;
	if (op->kind != TRAP_ST_VEC || !mem->element_size)
		return -EINVAL;
	op->mask = (uint8_t)(in->avx.mask.reg - ZYDIS_REGISTER_K0);
	op->elem = (uint8_t)(mem->element_size / 8);
	return 0;
}

/* An opmask is listed between destination and source. */
static int drop_mask_operand(ZydisDecodedOperand *o, int n)
{
	int kept = 0;

	for (int i = 0; i < n; i++)
		if (o[i].encoding != ZYDIS_OPERAND_ENCODING_MASK)
			o[kept++] = o[i];
	return kept;
}

int trap_decode(const uint8_t *code, size_t len, struct trap_op *op)
{
	ZydisDecodedOperand o[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in;
	ZydisDecoder dec;
	int m = -1, n, r;

	memset(op, 0, sizeof(*op));
	if (!ZYAN_SUCCESS(
		    ZydisDecoderInit(&dec, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) ||
	    !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&dec, code, len, &in, o)))
		return -EINVAL;
	op->len = in.length;
	if (in.meta.category == ZYDIS_CATEGORY_STRINGOP)
		return decode_string(&in, op);
	n = drop_mask_operand(o, in.operand_count_visible);
	for (int i = 0; i < n; i++)
		if (o[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
			m = i;
	if (m < 0)
		return -EINVAL;
	r = decode_mem(&in, &o[m], op);
	if (r)
		return r;
	if (in.mnemonic == ZYDIS_MNEMONIC_MOVDIR64B) {
		op->kind = TRAP_MOVDIR64B;
		return m == 1 && gpr_number(o[0].reg.value, &op->reg, &op->high8) ? 0 : -EINVAL;
	}
	if (in.mnemonic == ZYDIS_MNEMONIC_XCHG) {
		op->kind = TRAP_XCHG;
		return gpr_number(o[!m].reg.value, &op->reg, &op->high8) ? 0 : -EINVAL;
	}
	r = m == 0 ? decode_store(&in, o, op) : m == 1 ? decode_load(&in, o, op) : -EINVAL;
	return r ? r : decode_mask(&in, &o[m], op);
}
