/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The threads of another process, in /proc. Shared by look.c and proc.c. */
#ifndef SOFTHCA_SEGMENT_LOOK_H
#define SOFTHCA_SEGMENT_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct seg;

/*
 * Opens a file of /proc as openat(2) does, also at the limit of descriptors: the process keeps a
 * spare one from look_begin() on. look_close() takes it back.
 */
int look_open(struct seg *s, const char *path, int flags);
void look_close(struct seg *s, int fd);
void look_begin(struct seg *s);
void look_end(struct seg *s);

/*
 * Calls `each` with "/proc/<pid>/task/<tid>" until it returns false. 0, or the kernel's error
 * (-ENOENT, -ESRCH: no such process; -EACCES...). Raw system calls, no allocation. `s` NULL: no
 * spare descriptor. No file is open when `each` is called.
 */
int look_threads(struct seg *s, uint32_t pid, bool (*each)(const char *thread, void *arg),
		 void *arg);

#endif
