/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The threads of another process, in /proc. Shared by look.c and proc.c. */
#ifndef SOFTHCA_SEGMENT_LOOK_H
#define SOFTHCA_SEGMENT_LOOK_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Calls `each` with "/proc/<pid>/task/<tid>" until it returns false. 0, or the kernel's error
 * (-ENOENT, -ESRCH: no such process; -EACCES...). Raw system calls, no allocation.
 */
int look_each_thread(uint32_t pid, bool (*each)(const char *thread, void *arg), void *arg);

#endif
