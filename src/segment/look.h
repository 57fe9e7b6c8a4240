/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Between look.c and proc.c: the threads of another process, in /proc. */
#ifndef SOFTHCA_SEGMENT_LOOK_H
#define SOFTHCA_SEGMENT_LOOK_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Calls `each` with "/proc/<pid>/task/<tid>" until it says false. 0, or what the kernel answers
 * (-ENOENT, -ESRCH: no such process; -EACCES...). Raw system calls, no allocation.
 */
int look_each_thread(uint32_t pid, bool (*each)(const char *thread, void *arg), void *arg);

#endif
