/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* getdents64() and its raw form. */
#ifndef SOFTHCA_SHIM_FILES_WALK_H
#define SOFTHCA_SHIM_FILES_WALK_H

#include <sys/types.h>

/* Shows device nodes among n bytes of entries of the directory `fd`. Returns n. */
ssize_t walk_fix_entries(int fd, void *buf, ssize_t n);

#endif
