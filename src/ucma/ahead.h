/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers that came with an event (struct ucma_answer), so that a process need not ask for them.
 * They are valid while the id's counter in the process's slot (seg_slot.changes) has the value that
 * came with the event.
 */
#ifndef SOFTHCA_UCMA_AHEAD_H
#define SOFTHCA_UCMA_AHEAD_H

#include <stdatomic.h>
#include "segment/slot.h"
#include "ucma/abi.h"

#define UCMA_AHEAD_IDS SLOT_CHANGES

/*
 * The answers of one id. Nobody waits while `busy` is set: its holder may not exist after a fork.
 */
struct ucma_ahead_id {
	_Atomic uint32_t busy;
	uint32_t changes; /* of the event */
	uint32_t file, gen, id, len;
	_Alignas(8) uint8_t bytes[UCMA_AHEAD_MAX];
};

struct ucma_ahead { /* of a process; zeroed: empty */
	struct ucma_ahead_id ids[UCMA_AHEAD_IDS];
};

/* An id of a file in this process, and a value of its counter in seg_slot.changes, old or new. */
struct ucma_whose {
	uint32_t file, gen, id, changes;
};

/* Keeps the answers that came with an event; those of the id's previous event are dropped. */
void ucma_ahead_put(struct ucma_ahead *a, struct ucma_whose w, const void *bytes, size_t len);
/*
 * Copies an answer to `out` and returns its length. 0: the answer is missing, out of date, or too
 * long.
 */
size_t ucma_ahead_get(struct ucma_ahead *a, struct ucma_whose w, uint32_t cmd, uint32_t key,
		      void *out, size_t room);

#endif
