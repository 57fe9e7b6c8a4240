/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The library's variables in the environments that a program makes for others (`run --keep-env`).
 * Everything is raw and allocates nothing: it also runs in vfork children.
 */
#ifndef SOFTHCA_SHIM_ENVIRON_H
#define SOFTHCA_SHIM_ENVIRON_H

#include <alloca.h>
#include <stdbool.h>
#include <stddef.h>

/* Variables whose value is a list to which the library adds an item. */
enum environ_list { ENVIRON_PRELOAD, ENVIRON_ASAN, ENVIRON_LISTS };

struct environ_plan {
	size_t words;                     /* of the environment, without its end */
	size_t at[ENVIRON_LISTS];         /* where the list stands; SIZE_MAX: nowhere */
	const char *value[ENVIRON_LISTS]; /* of `length` bytes; NULL: it has our item */
	size_t length[ENVIRON_LISTS];
	bool all; /* also the variables of the fabric */
	size_t size;
};

/* The variable that an environment lacks; NULL: none, or that cannot be known (a bad pointer). */
const char *environ_missing(char *const envp[]);
/* Is another environment to be given to a new program? `is_spawn`: by posix_spawn(). */
bool environ_plan(bool is_spawn, char *const envp[], struct environ_plan *p);
/* That environment, in p->size bytes of room. */
char *const *environ_make(const struct environ_plan *p, char *const envp[], void *room);

/* `envp`, or that environment on the caller's stack. */
#define ENVIRON_KEPT(is_spawn, envp)                                       \
	({                                                                 \
		char *const *const given_ = (envp);                        \
		struct environ_plan plan_;                                 \
                                                                           \
		environ_plan(is_spawn, given_, &plan_)                     \
			? environ_make(&plan_, given_, alloca(plan_.size)) \
			: given_;                                          \
	})

#endif
