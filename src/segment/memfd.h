/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Between mem.c and memfd.c: copies through the mem descriptor that a process left behind. */
#ifndef SOFTHCA_SEGMENT_MEMFD_H
#define SOFTHCA_SEGMENT_MEMFD_H

#include "segment/mem.h"
#include "segment/proc.h"

/* One copy, as mem_readv() and mem_writev() are given it. */
struct mem_job {
	const struct mem_vec *v;
	const struct iovec *io;
	unsigned int nv, nio;
	bool write;
	struct seg_gate *gate; /* NULL: none */
};

/* -ENOENT: we hold no descriptor of (slot, gen). Else as mem_readv(). */
int memfd_copy(struct seg *s, struct mem_slot m, const struct mem_job *j);
/*
 * process_vm_* refused us with `err`, or may not be tried. As mem_readv(): -ETIMEDOUT when the
 * descriptor is still to be fetched, which mem_fetch() does.
 */
int memfd_refused(struct seg *s, struct mem_slot m, int err, const struct mem_job *j);
/* In a fork child: what a thread of the parent was at is not ours. */
void memfd_forked(struct seg *s);

#endif
