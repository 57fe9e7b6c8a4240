/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a program passes by a pointer, read as the kernel reads it: a bad pointer is an error and no
 * crash. Some programs pass bad ones on purpose, to ask whether memory can be read.
 */
#ifndef SOFTHCA_SHIM_GIVEN_H
#define SOFTHCA_SHIM_GIVEN_H

#include "segment/mem.h"
#include "util/sys.h"

#include <string.h>

/*
 * Copies `n` bytes, at most a page. False: they cannot be read. Before the process opens a device
 * nothing catches a fault, and process_vm_readv(2) may be forbidden in a program that does no RDMA.
 */
static inline bool given(void *to, const void *from, size_t n)
{
	const uintptr_t page = ~(uintptr_t)4095, first = (uintptr_t)from, last = first + n - 1;

	if (mem_guard_armed)
		return !mem_guarded_copy(to, from, n);
	/*
	 * Check a word of the object itself: memcheck knows that it is initialised, but not the
	 * rest of its page.
	 */
	if (last < first || !sys_page_readable(first & ~(uintptr_t)3) ||
	    ((first ^ last) & page && !sys_page_readable(last & page)))
		return false;
	memcpy(to, from, n);
	return true;
}

#endif
