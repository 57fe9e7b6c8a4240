/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Copies through the mem descriptor that a process left with the supervisor. Shared by mem.c and
 * memfd.c.
 */
#ifndef SOFTHCA_SEGMENT_MEMFD_H
#define SOFTHCA_SEGMENT_MEMFD_H

#include "segment/mem.h"
#include "segment/proc.h"

/* One copy, with the parameters of mem_readv() and mem_writev(). */
struct mem_job {
	const struct mem_vec *v;
	const struct iovec *io;
	unsigned int nv, nio;
	bool write;
	struct seg_gate *gate; /* NULL: none */
	bool touch;            /* mem_touch(): only the beginning of the memory is read */
};

/* -ENOENT: no descriptor of (slot, gen) at hand. Otherwise as mem_readv(). */
int memfd_copy(struct seg *s, struct mem_slot m, const struct mem_job *j);
/*
 * For a copy that process_vm_* refused with `err`, or may not try. Results as mem_readv():
 * -ETIMEDOUT when mem_fetch() must fetch the descriptor first.
 */
int memfd_refused(struct seg *s, struct mem_slot m, int err, const struct mem_job *j);
/* In a fork child: drops the fetch that a thread of the parent was making. */
void memfd_forked(struct seg *s);

#endif
