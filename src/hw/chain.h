/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A chain holds bytes of any length in pieces of SEG_T_EVBUF: appended at the end, read in order.
 * Long MADs are kept in chains while they are sent or put together. The callers' locks allow one
 * user at a time. Reading a chain that a dying process may be freeing gives wrong bytes or an
 * error, never memory outside SEG_T_EVBUF.
 */
#ifndef SOFTHCA_HW_CHAIN_H
#define SOFTHCA_HW_CHAIN_H

#include "hw/evq.h"

struct seg_chain {
	uint32_t head, tail; /* SEG_T_EVBUF indices; 0: none */
	uint32_t prev;       /* the piece before the tail */
	uint32_t len;        /* bytes */
	uint32_t owner;      /* owner of the pieces: they are freed with it, not here */
};

/* Append `len` bytes. -ENOSPC: what the chain already has stays. */
int chain_append(struct seg *s, uint32_t owner, struct seg_chain *c, const void *from, uint32_t n);
/* The same from a program's memory. Also -EFAULT. */
int chain_append_user(struct seg *s, uint32_t owner, struct seg_chain *c, const void *from,
		      uint32_t n);
/* Is there space for n bytes now? */
bool chain_fits(const struct seg *s, size_t n);
/* Shorten the chain, by at most EVQ_PIECE bytes. */
void chain_cut(struct seg *s, struct seg_chain *c, uint32_t len);
void chain_free(struct seg *s, struct seg_chain *c);

struct chain_pos {
	uint32_t piece, off;
};
/* Walk to byte `at`. -EIO: the chain is shorter. */
int chain_seek(struct seg *s, const struct seg_chain *c, uint32_t at, struct chain_pos *pos);
/* Read `n` bytes from *pos and advance it. 0 or -EIO. */
int chain_read(struct seg *s, struct chain_pos *pos, void *to, uint32_t n);
/* Overwrite the first bytes of the chain, at most one piece. */
void chain_rewrite(struct seg *s, const struct seg_chain *c, const void *from, uint32_t n);

#endif
