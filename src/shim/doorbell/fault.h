/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shared by fault.c (executes a store), decode.c (recognises it), uar.c and devthread.c.
 */
#ifndef SOFTHCA_SHIM_DOORBELL_FAULT_H
#define SOFTHCA_SHIM_DOORBELL_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>
#include "segment/seg.h"

enum trap_kind {
	TRAP_ST_REG,    /* reg -> memory */
	TRAP_ST_IMM,    /* imm -> memory */
	TRAP_ST_VEC,    /* vector register -> memory, perhaps masked */
	TRAP_XCHG,      /* reg <-> memory: memory reads as 0 */
	TRAP_LD_REG,    /* memory -> reg: reads as 0 */
	TRAP_LD_VEC,    /* memory -> vector register: reads as 0 */
	TRAP_MOVS,      /* string copy; the device page may be either side */
	TRAP_STOS,      /* string fill */
	TRAP_MOVDIR64B, /* 64 bytes, source is `mem`, destination address in reg */
};

#define TRAP_NOREG 0xff
#define TRAP_RIP 0xfe
#define TRAP_INSN_MAX 15

/* One instruction, decoded. Registers are machine numbers 0..15 (vector 0..31). */
struct trap_op {
	uint8_t len;  /* bytes of the instruction */
	uint8_t kind; /* enum trap_kind */
	uint8_t size; /* bytes stored or loaded; string operations: of one element */
	uint8_t reg;
	uint8_t base, index, scale; /* memory operand; TRAP_NOREG, TRAP_RIP */
	uint8_t shift;              /* ST_REG: 8 for ah..bh; ST_VEC: byte offset in the register */
	bool high8;                 /* reg is ah..bh */
	bool swap;                  /* movbe */
	bool addr32;                /* 32-bit addresses */
	bool rep;
	bool vex;        /* LD_VEC: also clears the bits above */
	uint8_t ld_size; /* LD_REG: bytes of the register written (4 clears the upper half) */
	uint8_t mask;    /* opmask register 1..7, 0 none */
	uint8_t elem;    /* bytes per mask bit */
	bool plain;      /* mov of a 64-bit register: may be patched, see patch.h */
	int64_t disp;
	uint64_t imm;
};

/* Returns the saved copy of machine register n. */
static inline greg_t *trap_greg(greg_t *gregs, uint8_t n)
{
	static const uint8_t at[16] = {
		REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
		REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
	};

	return &gregs[at[n]];
}

/* The address of the memory operand. */
static inline uintptr_t trap_addr(greg_t *g, const struct trap_op *op)
{
	uint64_t a = (uint64_t)op->disp;

	if (op->base == TRAP_RIP)
		a += (uint64_t)g[REG_RIP] + op->len;
	else if (op->base != TRAP_NOREG)
		a += (uint64_t)*trap_greg(g, op->base);
	if (op->index != TRAP_NOREG)
		a += (uint64_t)*trap_greg(g, op->index) * op->scale;
	return op->addr32 ? (uint32_t)a : a;
}

/* Loads the decoder, on the control path, before the first doorbell. 0, -ELIBACC. */
int trap_decode_init(void);
/* 0, or -EINVAL: this instruction cannot be emulated here. Needs about 2 KiB of stack. */
int trap_decode(const uint8_t *code, size_t len, struct trap_op *op);

/* ---- uar.c */
/* The segment, from the first attach or mapping on. */
void uar_know(struct seg *s);
struct seg *uar_seg(void);
/* Poll mode: hand every value found in a mapped page to the engine; true if there was one. */
bool uar_poll(struct seg *s);
bool uar_any(void); /* is a page mapped? */
void uar_forked(void);

/* ---- mode.c */
/* Are doorbells polled, in this process? Chosen at the first call, in the first open of a device.
 */
bool uar_poll_mode(void);
/* Is that certain before? Then a trap needs no preparation. */
bool uar_never_traps(void);

/* ---- fault.c */
void trap_init(void);
/*
 * Give a store of a whole qword to the engine, by patched code: on an engine stack, asynchronous
 * signals blocked.
 */
void trap_store_qword(struct seg *s, uint32_t uar, uintptr_t addr, uint64_t be);

/* ---- devthread.c */
void devthread_forked(void);

/* ---- sig.c */
void sig_forked(void);

#endif
