/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers that came with an event (struct ucma_answer), so that a process need not ask for them.
 * Only the process that has opened a file writes to it (ib_safe_file_access()): an id changes by
 * this process's commands, which drop its answers, or the change comes with an event.
 */
#ifndef SOFTHCA_UCMA_AHEAD_H
#define SOFTHCA_UCMA_AHEAD_H

#include <stdatomic.h>
#include "ucma/abi.h"

#define UCMA_AHEAD_IDS 64

/* The answers of one id. Nobody waits for `busy`: its holder may be missing after a fork. */
struct ucma_ahead_id {
	_Atomic uint32_t busy;
	_Atomic uint32_t turn; /* counts commands that change an id of this place */
	uint32_t stored;       /* `turn` when these answers came */
	uint32_t file, gen, id, len;
	_Alignas(8) uint8_t bytes[UCMA_AHEAD_MAX];
};

struct ucma_ahead {            /* of a process; zeroed: empty */
	_Atomic uint32_t turn; /* counts commands that change any id */
	struct ucma_ahead_id ids[UCMA_AHEAD_IDS];
};

/* An id of a file, in this process. */
struct ucma_whose {
	uint32_t file, gen, id;
};

/* Before GET_EVENT, for ucma_ahead_put(). */
uint32_t ucma_ahead_turn(const struct ucma_ahead *a);
/*
 * What came with an event, in place of what came with the id's event before. Nothing when a command
 * has changed an id since `turn`.
 */
void ucma_ahead_put(struct ucma_ahead *a, struct ucma_whose w, uint32_t turn, const void *bytes,
		    size_t len);
/* Before and after a command that changes the id. */
void ucma_ahead_drop(struct ucma_ahead *a, uint32_t id);
/* The length of the answer, which is in `out`; 0: it is not known, or there is too little room. */
size_t ucma_ahead_get(struct ucma_ahead *a, struct ucma_whose w, uint32_t cmd, uint32_t key,
		      void *out, size_t room);

#endif
