/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Scope clean-up (STYLE.md 10): define and assign in one statement, give away by take_*(). */
#ifndef SOFTHCA_UTIL_CLEANUP_H
#define SOFTHCA_UTIL_CLEANUP_H

#include <stdlib.h>
#include <unistd.h>

static inline void cleanup_freep(void *p)
{
	free(*(void **)p);
}

static inline void cleanup_closep(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

#define _cleanup_(f) __attribute__((cleanup(f)))
#define _cleanup_free_ _cleanup_(cleanup_freep)
#define _cleanup_close_ _cleanup_(cleanup_closep)

static inline int take_fd(int *fd)
{
	int r = *fd;
	*fd = -1;
	return r;
}

#define take_ptr(p)                        \
	({                                 \
		__typeof__(p) *_pp = &(p); \
		__typeof__(p) _r = *_pp;   \
		*_pp = NULL;               \
		_r;                        \
	})

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#endif
