/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The one attribute in sysfs that programs can write, an adapter's node_desc. */
#ifndef SOFTHCA_SHIM_FILES_STORE_H
#define SOFTHCA_SHIM_FILES_STORE_H

#include <stdbool.h>
#include <stdint.h>

/* Has the path, which may be relative, the name of such a file? */
bool store_is(const char *mapped);
/* The descriptor for an open(2) for writing, -errno, or STORE_OTHER: not a file of our tree. */
#define STORE_OTHER INT32_MIN
int store_open(int dirfd, const char *mapped, int flags);
/* Before a read: what has been written so far is stored. */
void store_settle(void);

#endif
