/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the work of a patched site before and after the engine (patch.h). Compiled for general
 * registers only, because the program's vector registers are live. Calls stack.c and uar.c,
 * compiled likewise, and no libc function.
 */
#include "shim/doorbell/patch.h"
#include "shim/shim.h"
#include "shim/signals/sig.h"
#include "shim/doorbell/stack.h"
#include "util/sys.h"

static bool block(struct patch_frame *f)
{
	uint64_t set = sig_kept_out();

	f->blocked = !sys_raw(SYS_rt_sigprocmask, SIG_BLOCK, (long)&set, (long)&f->mask, 8, 0, 0);
	return f->blocked;
}

static void unblock(const struct patch_frame *f)
{
	if (f->blocked)
		sys_raw(SYS_rt_sigprocmask, SIG_SETMASK, (long)&f->mask, 0, 8, 0, 0);
}

/*
 * No handler of the program may run inside the engine: it could ring, or leave by siglongjmp(). If
 * the program has none, no signal is blocked. The stack is taken first: a thread that installs a
 * handler sees that it is in use and waits (sig_note_handler).
 */
static void *enter(struct patch_frame *f)
{
	uint32_t n;
	void *top = stack_get(&n);

	f->blocked = false;
	f->stack = (uint16_t)n;
	if (!top)
		return NULL;
	stack_open(n);
	if (!sig_handlers() || block(f))
		return top;
	stack_put(n);
	return NULL;
}

void *patch_enter(struct patch_frame *f)
{
	const struct trap_op *op = *(const struct trap_op *const *)(f->ret + PATCH_RET_TO_OP);
	uintptr_t page;
	char *top;

	f->addr = trap_addr(f->g, op);
	f->uar = uar_lookup(f->addr, &page);
	if (f->uar == SEG_NONE || (f->addr & 7))
		return NULL;
	f->value = (uint64_t)*trap_greg(f->g, op->reg);
	top = enter(f);
	return top ? (void *)((uintptr_t)(top - patch_xbytes) & ~(uintptr_t)63) : NULL;
}

void patch_leave(struct patch_frame *f)
{
	stack_put(f->stack);
	unblock(f);
}
