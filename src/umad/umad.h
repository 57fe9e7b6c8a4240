/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The umad character device. All state is in the segment (seg_file, SEG_T_AGENT, SEG_T_MSEND, the
 * file's event queue), so a file works in whatever process has a descriptor of it.
 *
 * A MAD is finished in its sender's write(): the adapter's agents answer there, and other
 * processes' agents get it into their queues. Functions return what the system call would, >= 0 or
 * -errno. Called by the shim with all asynchronous signals blocked; the supervisor calls
 * umad_file_gone().
 */
#ifndef SOFTHCA_UMAD_UMAD_H
#define SOFTHCA_UMAD_UMAD_H

#include <stdbool.h>
#include <sys/types.h>
#include "segment/seg.h"

struct umad_file {
	struct seg *s;
	uint32_t file, gen; /* SEG_T_FILE */
};

long umad_ioctl(const struct umad_file *f, unsigned long cmd, void *arg);
ssize_t umad_write(const struct umad_file *f, const void *buf, size_t count);
/* `fd`: the FIFO; waits with the signal mask given (as uv_event_read()). */
ssize_t umad_read(const struct umad_file *f, int fd, void *buf, size_t count, bool nonblock,
		  const void *sigmask);

/*
 * Repeats or gives up what this process sent and nobody answered in time. The next deadline
 * (clock_now_ns) or UINT64_MAX. Called by the device thread; a send that makes the deadline earlier
 * rouses it.
 */
uint64_t umad_run_due(struct seg *s);
/* The same for what dead processes have left in files that live on, and for nodes' notices. Called
 * by the supervisor. */
uint64_t umad_run_orphans(struct seg *s);
/* Has this process ever sent what may time out? Then it needs a device thread. */
bool umad_has_deadlines(void);
/* The last reference is gone: its agents and sends go. */
void umad_file_gone(struct seg *s, uint32_t file);

#endif
