/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How a wrapper is written, and what the files of this folder share.
 *
 * 	WRAP(int, access, (const char *path, int mode))
 * 	{
 * 		...
 * 		return NEXT(access)(path, mode);
 * 	}
 *
 * The function is called wrap_access in C and `access` for the linker: no clash with the headers'
 * prototypes, their _FILE_OFFSET_BITS redirections or fortified inlines. The name must have its row
 * in symbols.h, else NEXT() does not compile and the symbol is not exported.
 *
 * A wrapper forwards to the next definition of its OWN name, and calls no other wrapper. Another
 * preloaded library may then implement any name by any other: a call goes down the libraries name
 * by name as it would without us, and ends where it would end without us. Code that several names
 * share is a function that is given the next definition. tests/shim/symbols.py checks the source,
 * tests/shim/preloads.py runs programs over libraries that swap all names.
 */
#ifndef SOFTHCA_SHIM_WRAP_H
#define SOFTHCA_SHIM_WRAP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum shim_sym {
#define SYM(name, kind, why) SYM_##name,
#include "shim/symbols.h"
#undef SYM
	SYM_COUNT
};

struct shim_sym_row {
	const char *name, *kind, *why;
};
extern const struct shim_sym_row shim_syms[SYM_COUNT];

/* The next definition of each symbol, found once. Works before our constructor. */
extern void *_Atomic shim_next_tab[SYM_COUNT];
void *shim_next_find(enum shim_sym i);
void shim_next_find_all(void);

static inline void *shim_next(enum shim_sym i)
{
	void *p = atomic_load_explicit(&shim_next_tab[i], memory_order_relaxed);

	return __builtin_expect(p != NULL, 1) ? p : shim_next_find(i);
}

#define WRAP(ret, name, params)                                                             \
	ret wrap_##name params __asm__(#name) __attribute__((visibility("default"), used)); \
	ret wrap_##name params
#define NEXT(name) ((__typeof__(&wrap_##name))shim_next(SYM_##name))

#endif
