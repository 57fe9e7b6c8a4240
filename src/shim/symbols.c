/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns the table of wrapped symbols and finds the definition behind each. Called by every wrapper.
 */
#include "shim/wrap.h"

#include <dlfcn.h>
#include <errno.h>

#pragma weak dlvsym /* glibc's alone */

const struct shim_sym_row shim_syms[SYM_COUNT] = {
#define SYM(name, kind, why) [SYM_##name] = {#name, #kind, why},
#include "shim/symbols.h"
#undef SYM
};

void *_Atomic shim_next_tab[SYM_COUNT];

/* For a name that this libc does not have (closefrom before glibc 2.34). */
static long next_missing(void)
{
	errno = ENOSYS;
	return -1;
}

/*
 * Find all of them at start-up. Later, dlsym() may wait for another thread's dlopen(), which a
 * signal handler or a fork child must not do, and it takes away the message that the program's
 * dlerror() is about to ask for.
 */
void shim_next_find_all(void)
{
	for (int i = 0; i < SYM_COUNT; i++)
		shim_next(i);
	dlerror(); /* clear the error that a missing symbol has left */
}

/*
 * dlsym() does not allocate when it finds the name, so a malloc that itself opens files can call
 * us. No lock: two threads find the same address.
 */
void *shim_next_find(enum shim_sym i)
{
	static const char *const old[] = {"GLIBC_2.2.5", "GLIBC_2.4"};
	int saved = errno;
	void *p = dlsym(RTLD_NEXT, shim_syms[i].name);

	/* Functions that libc keeps only for old programs have no default version. */
	for (size_t v = 0; !p && dlvsym && v < sizeof(old) / sizeof(old[0]); v++)
		p = dlvsym(RTLD_NEXT, shim_syms[i].name, old[v]);
	if (!p)
		p = (void *)next_missing;
	atomic_store_explicit(&shim_next_tab[i], p, memory_order_relaxed);
	errno = saved;
	return p;
}
