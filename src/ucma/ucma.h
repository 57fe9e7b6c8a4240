/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rdma_cm character device, in the process that has it open. Its state is the supervisor's
 * (src/cma): a write(2) becomes a request over the process's connection. Functions return what the
 * system call would. Called by the shim with all asynchronous signals blocked.
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
};

/*
 * `fd_of`: what a descriptor of this process is (MIGRATE_ID). GET_EVENT on an empty file waits with
 * the signal mask given unless `nonblock`.
 */
ssize_t ucma_write(const struct ucma_file *f, const void *buf, size_t count, bool nonblock,
		   const void *sigmask, void (*fd_of)(int fd, struct ucma_fd *out));

#endif
