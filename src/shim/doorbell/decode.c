/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the meaning of the instructions that ring doorbells: Zydis decodes, this file reduces the
 * result to struct trap_op. Pure; fault.c calls it on the engine's stack.
 *
 * dlopen() loads Zydis before the first doorbell: the preloaded library must load where Zydis is
 * not found (musl's loader does not search Debian's directories), and must not use another Zydis of
 * the program.
 */
#include "shim/doorbell/fault.h"
#include "util/cleanup.h"
#include "util/fmt.h"

#include <Zydis/Zydis.h>
#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#define FUNCTIONS(F)                   \
	F(DecoderInit)                 \
	F(DecoderDecodeFull)           \
	F(RegisterGetLargestEnclosing) \
	F(RegisterGetClass)            \
	F(RegisterGetId)

static struct {
#define F(name) __typeof__(&Zydis##name) name;
	FUNCTIONS(F)
#undef F
} zydis;

int trap_decode_init(void)
{
	char name[32];
	void *lib;

	if (__atomic_load_n(&zydis.RegisterGetId, __ATOMIC_ACQUIRE))
		return 0;
	/* The macros have other types in other releases. */
	fmt(name, sizeof(name), "libZydis.so.%u.%u", (unsigned)ZYDIS_VERSION_MAJOR(ZYDIS_VERSION),
	    (unsigned)ZYDIS_VERSION_MINOR(ZYDIS_VERSION));
	lib = dlopen(name, RTLD_NOW | RTLD_LOCAL);
#define F(name)                                                              \
	{                                                                    \
		void *p = lib ? dlsym(lib, "Zydis" #name) : NULL;            \
                                                                             \
		if (!p)                                                      \
			return -ELIBACC;                                     \
		__atomic_store_n((void **)&zydis.name, p, __ATOMIC_RELEASE); \
	}
	FUNCTIONS(F)
#undef F
	return 0;
}

/* Plain moves, by mnemonic. Every other instruction that accesses memory is refused. */
enum move_class { MOVE_NONE, MOVE_INT, MOVE_VEC, MOVE_VEC_HIGH, MOVE_EXTRACT, MOVE_EXTEND };

#define ROW(name, class)                            \
	{                                           \
		ZYDIS_MNEMONIC_##name, MOVE_##class \
	}
#define BOTH(name, class) ROW(name, class), ROW(V##name, class)
static const struct {
	uint16_t mnemonic;
	uint16_t class;
} moves[] = {
	ROW(MOV, INT),
	ROW(MOVNTI, INT),
	ROW(MOVDIRI, INT),
	ROW(MOVBE, INT),
	ROW(MOVZX, EXTEND),
	ROW(MOVSX, EXTEND),
	ROW(MOVSXD, EXTEND),
	BOTH(MOVUPS, VEC),
	BOTH(MOVUPD, VEC),
	BOTH(MOVAPS, VEC),
	BOTH(MOVAPD, VEC),
	BOTH(MOVDQA, VEC),
	BOTH(MOVDQU, VEC),
	BOTH(MOVNTDQ, VEC),
	BOTH(MOVNTPS, VEC),
	BOTH(MOVNTPD, VEC),
	BOTH(MOVQ, VEC),
	BOTH(MOVD, VEC),
	BOTH(MOVLPS, VEC),
	BOTH(MOVLPD, VEC),
	BOTH(MOVSS, VEC),
	BOTH(MOVSD, VEC),
	BOTH(LDDQU, VEC),
	BOTH(MOVNTDQA, VEC),
	ROW(VMOVDQA32, VEC),
	ROW(VMOVDQA64, VEC),
	ROW(VMOVDQU8, VEC),
	ROW(VMOVDQU16, VEC),
	ROW(VMOVDQU32, VEC),
	ROW(VMOVDQU64, VEC),
	BOTH(MOVHPS, VEC_HIGH),
	BOTH(MOVHPD, VEC_HIGH),
	ROW(VEXTRACTF128, EXTRACT),
	ROW(VEXTRACTI128, EXTRACT),
	ROW(VEXTRACTF32X4, EXTRACT),
	ROW(VEXTRACTI32X4, EXTRACT),
	ROW(VEXTRACTF64X2, EXTRACT),
	ROW(VEXTRACTI64X2, EXTRACT),
	ROW(VEXTRACTF64X4, EXTRACT),
	ROW(VEXTRACTI64X4, EXTRACT),
	ROW(VEXTRACTF32X8, EXTRACT),
	ROW(VEXTRACTI32X8, EXTRACT),
};
#undef BOTH
#undef ROW

static enum move_class move_class(ZydisMnemonic m)
{
	for (size_t i = 0; i < ARRAY_SIZE(moves); i++)
		if (moves[i].mnemonic == m)
			return moves[i].class;
	return MOVE_NONE;
}

static bool gpr_number(ZydisRegister r, uint8_t *n, bool *high8)
{
	ZydisRegister wide = zydis.RegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);

	*high8 = r >= ZYDIS_REGISTER_AH && r <= ZYDIS_REGISTER_BH;
	if (wide < ZYDIS_REGISTER_RAX || wide > ZYDIS_REGISTER_R15)
		return false;
	*n = (uint8_t)(wide - ZYDIS_REGISTER_RAX);
	return true;
}

static bool vec_number(ZydisRegister r, uint8_t *n)
{
	ZydisRegisterClass c = zydis.RegisterGetClass(r);

	if (c != ZYDIS_REGCLASS_XMM && c != ZYDIS_REGCLASS_YMM && c != ZYDIS_REGCLASS_ZMM)
		return false;
	*n = (uint8_t)zydis.RegisterGetId(r);
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

/* The bases of FS and GS are unknown here; no program maps a UAR relative to them. */
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
		    zydis.DecoderInit(&dec, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) ||
	    !ZYAN_SUCCESS(zydis.DecoderDecodeFull(&dec, code, len, &in, o)))
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
