/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Atomics: reads their operands and computes the new value of the word. Called by rc.c under the
 * responder's rq_lock; calls mem_atomic(), which makes it one step for the whole fabric.
 *
 * Words are in the host's byte order, and so are answers of 8 bytes (atomic_req_8B_endianness_mode
 * 1); answers of 4 bytes are big-endian in any mode, as are the operands in a WQE.
 */
#include "engine/move/move.h"

#include <errno.h>

static uint32_t parse_plain(struct eng_run *r, const uint8_t *seg)
{
	struct eng_atomic *a = &r->atomic;

	if (LAYOUT_GET(wqe_ctrl, r->wqe, opmod))
		return 0;
	a->size = 8;
	a->operand = LAYOUT_GET(wqe_atomic, seg, swap_add);
	a->compare = LAYOUT_GET(wqe_atomic, seg, compare);
	a->compare_mask = UINT64_MAX;
	a->mask = a->add ? 0 : UINT64_MAX;
	return r->hdr + 2 * WQE_SEG;
}

static uint32_t parse_masked_8(struct eng_run *r, const uint8_t *seg)
{
	struct eng_atomic *a = &r->atomic;

	a->size = 8;
	a->operand = LAYOUT_GET(wqe_atomic, seg, swap_add);
	if (a->add) {
		a->mask = LAYOUT_GET(wqe_atomic, seg, compare);
		return r->hdr + 2 * WQE_SEG;
	}
	a->compare = LAYOUT_GET(wqe_atomic, seg, compare);
	a->mask = LAYOUT_GET(wqe_atomic, seg + WQE_SEG, swap_add);
	a->compare_mask = LAYOUT_GET(wqe_atomic, seg + WQE_SEG, compare);
	return r->hdr + 3 * WQE_SEG;
}

static uint32_t parse_masked_4(struct eng_run *r, const uint8_t *seg)
{
	struct eng_atomic *a = &r->atomic;

	a->size = 4;
	a->operand = LAYOUT_GET(wqe_atomic32, seg, swap_add);
	a->compare = LAYOUT_GET(wqe_atomic32, seg, compare);
	a->mask = a->add ? a->compare : LAYOUT_GET(wqe_atomic32, seg, swap_mask);
	a->compare_mask = LAYOUT_GET(wqe_atomic32, seg, compare_mask);
	return r->hdr + 2 * WQE_SEG;
}

uint32_t atomic_parse(struct eng_run *r)
{
	const uint8_t *seg = r->wqe + r->hdr + WQE_SEG;
	uint32_t off;

	r->atomic.add = r->opcode == WQE_OP_ATOMIC_FA || r->opcode == WQE_OP_ATOMIC_MASKED_FA;
	if (r->opcode == WQE_OP_ATOMIC_CS || r->opcode == WQE_OP_ATOMIC_FA)
		off = parse_plain(r, seg);
	else if (LAYOUT_GET(wqe_ctrl, r->wqe, opmod) == WQE_OPMOD_ATOMIC64)
		off = parse_masked_8(r, seg);
	else if (LAYOUT_GET(wqe_ctrl, r->wqe, opmod) == WQE_OPMOD_ATOMIC32)
		off = parse_masked_4(r, seg);
	else
		off = 0;
	return off <= r->bytes ? off : 0;
}

/* A set bit in the mask ends a field: carries stop there. */
static uint64_t next_value(uint64_t was, const void *arg)
{
	const struct eng_atomic *a = arg;
	uint64_t ends = a->mask;

	if (a->add)
		return ((was & ~ends) + (a->operand & ~ends)) ^ ((was ^ a->operand) & ends);
	if ((was ^ a->compare) & a->compare_mask)
		return was;
	return (was & ~a->mask) | (a->operand & a->mask);
}

int atomic_perform(struct eng_run *r)
{
	int rc;

	/* An indirect key may have split the word into pieces. */
	if (r->remote.n != 1 || r->remote.mem[0].slot >= ENG_SLOT_SIG ||
	    r->remote.v[0].va % r->atomic.size) {
		r->why = ENG_W_REMOTE_ALIGN;
		return 0;
	}
	if (__builtin_expect(r->remote.odp != 0, 0))
		odp_page_in(r->s, &r->remote, r->atomic.size);
	mem_gate = &r->ring->gate;
	rc = mem_atomic(r->s, r->remote.mem[0], r->remote.v[0].va, r->atomic.size, next_value,
			&r->atomic, &r->was);
	mem_gate = NULL;
	if (!rc && r->atomic.size == 4)
		r->was = __builtin_bswap32((uint32_t)r->was);
	return rc;
}
