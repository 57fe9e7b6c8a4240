/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns what a patched site does before and after the engine (patch.h). Compiled for general
 * registers only: the program's vector registers are live. Calls stack.c and uar.c, compiled
 * likewise, and nothing of libc.
 */
#include "shim/patch.h"
#include "shim/shim.h"
#include "shim/stack.h"
#include "util/sys.h"

#define SYNC_SIGNALS                                                   \
	(UINT64_C(1) << (SIGSEGV - 1) | UINT64_C(1) << (SIGBUS - 1) |  \
	 UINT64_C(1) << (SIGILL - 1) | UINT64_C(1) << (SIGFPE - 1) |   \
	 UINT64_C(1) << (SIGTRAP - 1) | UINT64_C(1) << (SIGABRT - 1) | \
	 UINT64_C(1) << (SIGSYS - 1))

static inline void unblock(const struct patch_frame *f)
{
	sys_raw(SYS_rt_sigprocmask, SIG_SETMASK, (long)&f->mask, 0, 8, 0, 0);
}

void *patch_enter(struct patch_frame *f)
{
	const struct trap_op *op = *(const struct trap_op *const *)(f->ret + PATCH_RET_TO_OP);
	uint64_t block = ~SYNC_SIGNALS;
	uintptr_t page;
	char *top;

	f->addr = trap_addr(f->g, op);
	f->uar = uar_lookup(f->addr, &page);
	if (f->uar == SEG_NONE || (f->addr & 7))
		return NULL;
	f->value = (uint64_t)*trap_greg(f->g, op->reg);
	if (sys_raw(SYS_rt_sigprocmask, SIG_BLOCK, (long)&block, (long)&f->mask, 8, 0, 0) < 0)
		return NULL;
	top = stack_get(&f->stack);
	if (!top) {
		unblock(f);
		return NULL;
	}
	return (void *)((uintptr_t)(top - patch_xbytes) & ~(uintptr_t)63);
}

void patch_leave(struct patch_frame *f)
{
	stack_put(f->stack);
	unblock(f);
}
