/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Hot doorbell sites jump into the engine instead of trapping.
 *
 * A site is a plain `mov %r64, (mem)`. After PATCH_TRAPS traps a `jmp rel32` replaces it, which
 * changes only bytes of the mov. If the mov is shorter than the jump, the bytes after the mov stay
 * and serve as the last ones of the jump, so they decide where the stub must lie. All other
 * instructions are unchanged, for threads that stand there and for code that jumps there (libmlx5's
 * BlueFlame copy jumps to the sfence after the mov). Trapping is always right: if anything is
 * unexpected (operand, address, mapping, system call), the site or this one store traps.
 *
 * site    jmp stub                stub    call patch_entry (patch.S), all registers kept
 *                                         patch_enter()   is it a UAR? an engine stack
 *                                         patch_ring()    on that stack, vector state saved
 *                                         patch_leave()
 *                                 done:   jmp behind the mov
 *                                 slow:   the original mov, which may trap; jmp behind the mov
 *
 * patch.c has the states; patch_enter.c, stack.c and uar.c are compiled for general registers only,
 * because they run with the program's vector registers live.
 */
#ifndef SOFTHCA_SHIM_DOORBELL_PATCH_H
#define SOFTHCA_SHIM_DOORBELL_PATCH_H

#include <signal.h>
#include "shim/doorbell/fault.h"

#define PATCH_TRAPS 32
#define PATCH_CODE 9 /* bytes compared: REX, opcode, ModRM, SIB, disp32 (and next bytes) */

/* The data that patch_entry keeps on the program's stack; patch.S knows the offsets. */
struct patch_frame {
	greg_t g[16];  /* REG_R8 .. REG_RSP, as trap_addr() takes them */
	uint64_t mask; /* the kernel's signal mask to restore */
	uintptr_t addr;
	uint64_t value;
	uint32_t uar;
	uint16_t stack; /* number of the engine stack, for stack_put() */
	bool blocked;   /* signals are blocked, and `mask` is the mask to restore */
	uint64_t flags;
	uintptr_t ret; /* return address in the stub */
};

/* ---- patch.c, on the control path or inside the trap */
void patch_init(void);
bool patch_is_plain(const struct trap_op *op, const uint8_t *code);
/* The original instruction at a site that is, or is being, patched. NULL: read the code. */
const struct trap_op *patch_op(uintptr_t rip);
/* Did the first byte of a patch in progress raise this signal? */
bool patch_at_hlt(uintptr_t rip);
/* A plain store has trapped and is done: count it, and patch the site when it is hot. */
void patch_trapped(uintptr_t rip, const struct trap_op *op);
/*
 * A fault for the program, raised by the copy of its instruction in a stub: report the site's
 * address.
 */
void patch_own_fault(const siginfo_t *si, ucontext_t *uc);
/* For other changes of code (libc.c). May code be changed, and will every thread see it? */
bool patch_can(void);
bool patch_sync(void);
/* A page at `from` or, at steps, above, below from + window; NULL: no room. */
uint8_t *patch_page(uintptr_t from, uint32_t window);
/* Is [from, to) in one private mapping of a file that can be read and executed? */
bool patch_is_file_code(uintptr_t from, uintptr_t to);
/* Around a fork: prevents a copy in the middle of a change. */
void patch_forking(void);
void patch_forked(void);

/* ---- patch.S, patch_enter.c */
void patch_entry(void);
/* The place where a stub keeps its site's operand, relative to the return address. */
#define PATCH_RET_TO_OP 53
/* Start of the engine's stack, below the room for the vector state; NULL: take the slow path. */
void *patch_enter(struct patch_frame *f);
void patch_ring(struct patch_frame *f);
void patch_leave(struct patch_frame *f);
/* XSAVE: the components to keep, their size, and whether XSAVEC is available. */
extern uint64_t patch_xmask;
extern uint32_t patch_xbytes;
extern bool patch_xsavec;
/*
 * The vector registers are kept by plain moves instead, and x87 and MMX registers, which nothing in
 * the engine uses, not at all: XSAVEC and XRSTOR take a third of a small message's time.
 */
extern bool patch_moves;

#endif
