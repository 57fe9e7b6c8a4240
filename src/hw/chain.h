/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Bytes of any length in pieces of SEG_T_EVBUF, made at the end and read in order: long MADs while
 * they are sent and put together. One user at a time (the callers' locks); whoever reads what a
 * dying process may be freeing gets other bytes or an error, never another's memory.
 */
#ifndef SOFTHCA_HW_CHAIN_H
#define SOFTHCA_HW_CHAIN_H

#include "hw/evq.h"

struct seg_chain {
	uint32_t head, tail; /* SEG_T_EVBUF indices, 0 none */
	uint32_t prev;       /* the one before tail */
	uint32_t len;        /* bytes */
	uint32_t owner; /* of the pieces; when it goes they go, and are nobody's here to free */
};

/* -ENOSPC; what is in the chain already stays. */
int chain_append(struct seg *s, uint32_t owner, struct seg_chain *c, const void *from, uint32_t n);
/* The same from a program's memory: also -EFAULT. */
int chain_append_user(struct seg *s, uint32_t owner, struct seg_chain *c, const void *from,
		      uint32_t n);
/* Is there room for that many bytes now? */
bool chain_fits(const struct seg *s, size_t n);
/* Make it shorter, by at most EVQ_PIECE bytes. */
void chain_cut(struct seg *s, struct seg_chain *c, uint32_t len);
void chain_free(struct seg *s, struct seg_chain *c);

struct chain_pos {
	uint32_t piece, off;
};
/* The place of byte `at`: walks there. -EIO: there is none. */
int chain_seek(struct seg *s, const struct seg_chain *c, uint32_t at, struct chain_pos *pos);
/* `n` bytes from there on, and the place behind them. 0 or -EIO. */
int chain_read(struct seg *s, struct chain_pos *pos, void *to, uint32_t n);
/* Its first bytes, at most those of one piece, again. */
void chain_rewrite(struct seg *s, const struct seg_chain *c, const void *from, uint32_t n);

#endif
