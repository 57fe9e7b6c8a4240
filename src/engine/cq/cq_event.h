/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What cq.c and cq_event.c have in common. All of it is called with the CQ's lock. */
#ifndef SOFTHCA_ENGINE_CQ_EVENT_H
#define SOFTHCA_ENGINE_CQ_EVENT_H

#include "hw/cq.h"

#define CQ_COUNTER 0xffffffu /* indices in doorbell records have 24 bits */

/*
 * `n` CQEs from index `at` on are written: count them, and note the event that they cause. True: an
 * event was noted and must be paid. A thread that takes the lock over does the same; the second of
 * the two finds it done.
 */
bool cq_count(struct seg *s, struct hw_cq *cq, uint32_t at, uint32_t n, bool solicited);
/* The last holder died. If it died between the index and the event: notes the event. */
void cq_repair_event(struct seg *s, struct hw_cq *cq);

#endif
