/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Calls code with known values in every register, flag and byte of the red zone. */
#ifndef SOFTHCA_TESTS_TRAP_PATCH_RUN_H
#define SOFTHCA_TESTS_TRAP_PATCH_RUN_H

#include <stdint.h>

/* Machine numbers of the registers. */
enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15 };

/* Layout known to patch_run.S. */
struct run {
	uint64_t g[16]; /* general registers; RSP is not loaded */
	uint64_t flags;
	void *code;       /* the function; it must be a leaf that only stores */
	uint64_t red[16]; /* the red zone below the stack pointer */
	uint64_t k[8];
	uint8_t vec[32][64]; /* vector registers, as far as the CPU has them */
	uint64_t narrow;     /* the processor knows that registers 0 to 15 end after 128 bits */
};

void run_site(struct run *r);
/* The stack pointer during the code, for a call of run_site() from the caller's frame. */
uint64_t run_rsp(void);

#endif
