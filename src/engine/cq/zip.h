/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CQE compression, called by cq.c under the CQ's lock. */
#ifndef SOFTHCA_ENGINE_ZIP_H
#define SOFTHCA_ENGINE_ZIP_H

#include "engine/cq/cq.h"
#include "hw/cq.h"
#include "hw/zip.h"

/* The index after the last completion, whether it waits or is written. */
uint32_t zip_end(const struct seg *s, const struct hw_cq *cq);
static inline uint32_t zip_waiting(const struct seg *s, const struct hw_cq *cq)
{
	return zip_end(s, cq) - atomic_load(&cq->pi);
}
/* May the completion wait? If others wait already: does it fit into one session with them? */
bool zip_fits(const struct seg *s, const struct hw_cq *cq, const struct eng_cqe *c);
/*
 * zip_keep() stores a completion that waits; zip_count() counts it, if that one is stored and not
 * counted. A thread that takes the lock over calls zip_count(), too, after resp_mark_written(). A
 * late call counts nothing, as another one's receive may not be marked. `gate`: the gate for the
 * copy, or NULL.
 */
int zip_keep(struct seg *s, const struct hw_cq *cq, const struct eng_cqe *c, struct seg_gate *gate);
void zip_count(const struct seg *s, const struct hw_cq *cq, uint32_t at);
/* Must the waiting completions be written now? */
bool zip_full(const struct seg *s, const struct hw_cq *cq);

/* The waiting completions to be written next: a single one, or a session of n. */
struct zip_next {
	uint32_t at, n;
	bool solicited;
	uint8_t cqe[64]; /* the completion, or the session's title */
	uint8_t mini[HW_ZIP_MAX][8];
};
/* False: none waits. */
bool zip_next(const struct seg *s, const struct hw_cq *cq, struct zip_next *x);
/*
 * The last bytes, with the owner bit, are a vector of their own, and each vector may be a system
 * call (memfd.c): with the WQE's counter they differ from what was there before.
 */
#define ZIP_LAST 4
/* Write it, what makes it visible last. 0 or a mem_* error. */
int zip_write(struct seg *s, const struct hw_cq *cq, const struct zip_next *x,
	      struct seg_gate *gate);
/* Did a holder that died or was stopped write it? 0: no; 1: yes; or a mem_* error. */
int zip_written(struct seg *s, const struct hw_cq *cq, const struct zip_next *x);
void zip_created(const struct seg *s, const struct hw_cq *cq);
/* The completion `index` if it is still kept, else NULL. */
const uint8_t *zip_kept(const struct seg *s, const struct hw_cq *cq, uint32_t index);

#endif
