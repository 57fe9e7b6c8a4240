/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rdma_cm character device, in the process that has it open. Its state is the supervisor's
 * (src/cma): a write(2) becomes a request over the process's connection. Events are in the file's
 * queue (hw/evq.h), where this process takes them. Called by the shim while no handler of the
 * program may run.
 */
#ifndef SOFTHCA_UCMA_UCMA_H
#define SOFTHCA_UCMA_UCMA_H

#include <stdbool.h>
#include <sys/types.h>
#include "segment/suplink.h"
#include "ucma/ahead.h"

struct ucma_file {
	struct link *link;
	struct seg *s;
	struct ucma_ahead *ahead; /* of the process */
	uint32_t file, gen;       /* SEG_T_FILE */
	int fd;                   /* a descriptor of it */
};

struct ucma_wait { /* for evq_wait() */
	struct seg_evq *q;
	uint32_t seen;
	bool locked;
};

/*
 * A write(2). ucma_try() does what this process can do alone, and never waits. UCMA_DONE: *ret is
 * what write(2) returns; UCMA_ASK: call ucma_ask(), which waits for the supervisor's answer;
 * UCMA_WAIT: there is no event, call evq_wait() with *w, then begin again.
 */
enum ucma_next { UCMA_DONE, UCMA_ASK, UCMA_WAIT };
enum ucma_next ucma_try(const struct ucma_file *f, const void *buf, size_t count, ssize_t *ret,
			struct ucma_wait *w);
/* `fd_of`: what a descriptor of this process is (MIGRATE_ID). */
enum ucma_next ucma_ask(const struct ucma_file *f, const void *buf, size_t count,
			void (*fd_of)(int fd, struct ucma_fd *out), ssize_t *ret);

/*
 * Nobody writes events any more, and a killed supervisor tells nobody: wakes all who wait for one
 * in files that this process has opened. They find that there is no connection.
 */
void ucma_lost(struct seg *s);

#endif
