/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What has failed at an adapter, and why, in words with values: `softhca status -j`, top and the
 * summary of `softhca run` show it. Written only where something has failed. A process that dies
 * while it writes leaves an entry that nobody reads.
 */
#ifndef SOFTHCA_HW_TOLD_H
#define SOFTHCA_HW_TOLD_H

#include "segment/seg.h"

#define HW_TOLD_TEXT 360
#define HW_TOLDS 16

/* The kinds, each with the word that starts its lines. */
#define HW_TOLD_KINDS(X)                                                                \
	X(FAILED, failed)   /* a completion with error */                               \
	X(DROPPED, dropped) /* a message whose sender has a completion without error */ \
	X(IGNORED, ignored) /* a doorbell that the queue does not obey */               \
	X(REFUSED, refused) /* a call */                                                \
	X(UNDONE, undone)   /* a QP has ended before its work was done, or has begun */ \
	X(LEFT, left)       /* objects that a process had when it ended */
#define HW_TOLD_ID(id, word) HW_TOLD_##id,
enum hw_told_kind { HW_TOLD_KINDS(HW_TOLD_ID) HW_TOLD_COUNT };
extern const char *const hw_told_words[HW_TOLD_COUNT];

enum { HW_TOLD_FREE, HW_TOLD_WRITING, HW_TOLD_READY };

struct hw_tolds { /* SEG_T_TOLD, with the index of its SEG_T_HCA; never claimed */
	_Atomic uint64_t n[HW_TOLD_COUNT]; /* all of a kind, also those that found no entry */
	struct hw_told {
		_Atomic uint32_t state;
		uint32_t kind;
		_Atomic uint64_t n;
		uint64_t key; /* what differs has another one */
		char text[HW_TOLD_TEXT];
	} told[HW_TOLDS];
} SEG_ELEM;

static inline struct hw_tolds *hw_tolds(const struct seg *s, uint32_t hca)
{
	return seg_at(s, SEG_T_TOLD, hca);
}

/* A key that depends on all of these. */
uint64_t hw_told_key(const uint64_t *v, size_t n);
/* Counts it: how often it has happened; 0: nobody has told it, so call hw_tell() with its text. */
uint64_t hw_told(const struct seg *s, uint32_t hca, enum hw_told_kind kind, uint64_t key);
/* Tells what hw_told() has counted. */
void hw_tell(const struct seg *s, uint32_t hca, enum hw_told_kind kind, uint64_t key,
	     const char *text);
/* Counts and tells a text of less than HW_TOLD_TEXT bytes, whose words are the key. */
void hw_tell_words(const struct seg *s, uint32_t hca, enum hw_told_kind kind, const char *text);
/* The next text that is there from entry *i on, which becomes the one behind it; NULL: none. */
const struct hw_told *hw_told_next(const struct hw_tolds *t, unsigned int *i);
/* Calls `each` with every text of a kind, of all adapters. */
void hw_told_each(const struct seg *s, enum hw_told_kind kind,
		  void (*each)(void *ctx, const char *text), void *ctx);

#endif
