/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Other processes, as /proc shows them. For who.c and proc.c. */
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
/*
 * Is each thread stopped by a signal or a tracer, outside of system calls? *ran: the same in two
 * calls if no thread has run between them.
 */
bool look_all_stopped(struct seg *s, uint32_t pid, uint64_t *ran);

/* The content of the stat file of a process or thread. */
struct look_stat {
	char state;
	bool ends; /* it executes no further instruction of its program */
	uint64_t threads, start;
};
/* That of a process's first thread. 0 or -errno. */
int look_stat(struct seg *s, uint32_t pid, struct look_stat *f);
/*
 * 0 and *start; -ESRCH: only its zombie is left, or it is dying and no thread runs any more;
 * -ENOENT: not there or hidden (hidepid); -EIO.
 */
int look_start_time(struct seg *s, uint32_t pid, uint64_t *start);

#endif
