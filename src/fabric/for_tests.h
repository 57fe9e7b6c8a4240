/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Exported for tests alone: the code of the layers does not call these. */
#ifndef SOFTHCA_FABRIC_FOR_TESTS_H
#define SOFTHCA_FABRIC_FOR_TESTS_H

#include <stddef.h>
#include "segment/seg.h"

/*
 * Mask of a list for a machine of `ncpus` possible CPUs: groups of 32 bits, the highest first, the
 * first one as wide as its bits need (the kernel's %*pb). 0, -EINVAL (not a list), -ENOSPC.
 */
int cpumask_from_list(const char *list, unsigned int ncpus, char *mask, size_t size);
void fab_notice_sys_guid(struct seg *s, uint32_t port); /* 145 */

#endif
