/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The umad character device. All state is in the segment (seg_file, SEG_T_AGENT, SEG_T_MSEND, the
 * file's event queue), so a file works in any process that has a descriptor of it.
 *
 * A MAD is finished in its sender's write(): the adapter's agents answer there, and other
 * processes' agents get it into their queues. Functions return what the system call would, >= 0 or
 * -errno. The shim calls them with all asynchronous signals blocked; the supervisor calls
 * umad_file_gone().
 */
#ifndef SOFTHCA_UMAD_UMAD_H
#define SOFTHCA_UMAD_UMAD_H

#include <stdbool.h>
#include <sys/types.h>
#include "cm/cm.h"
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
 * Repeat or give up this process's sends without an answer in time. Returns the next deadline
 * (clock_now_ns) or UINT64_MAX. The device thread calls it; a send with an earlier deadline wakes
 * that thread.
 */
uint64_t umad_run_due(struct seg *s);
/*
 * The same for sends of dead processes in files that are still open, and for nodes' notices. The
 * supervisor calls it.
 */
uint64_t umad_run_orphans(struct seg *s);
/* Has this process ever made a send that may time out? Then it needs a device thread. */
bool umad_has_deadlines(void);
/* The file's last reference is gone: free its agents and sends. */
void umad_file_gone(struct seg *s, uint32_t file);

/* ---- GMPs of the kernel: the connection manager's, and its requests to the SA (CM_KERNEL_TID) */
/*
 * Send from QP1. What comes back, and any MAD of class 7 that no program has registered for, is
 * given to seg.gmp in the process that carries it. May wait for locks where the SA answers.
 */
void umad_gmp_send(struct seg *s, const struct cm_pkt *pkt);
/*
 * Where the SA is slow (HW_SET_SA_MS) its requests are given to seg.gmp, too, and the supervisor
 * calls umad_sa_late() when the answer is due. May wait for locks.
 */
bool umad_is_sa_request(const struct cm_pkt *pkt);
void umad_sa_late(struct seg *s, const struct cm_pkt *pkt);
/* A MAD that a fault has held up (late_ns) arrives. May wait for locks, too. */
void umad_late(struct seg *s, const struct cm_pkt *pkt);

#endif
