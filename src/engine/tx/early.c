/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns what a card does without a fence (IBA 10.8.3.3), where the world wants it: a request behind
 * a READ or an atomic leaves before the answer to that one has come, so it has the memory's old
 * content. The data of such a request is read early and put into its WQE as inline data; a thread
 * that dies or stops in between forgets it, which is as legal. Called by sq.c, between fetching a
 * WQE and executing it.
 */
#include "engine/tx/tx.h"
#include "engine/base/ring.h"
#include "engine/base/qp.h"
#include "engine/base/transport.h"

#include <string.h>

/* The offset of its data segments, if it is a request that reads memory, without a fence; 0. */
static uint32_t data_of(const struct eng_run *r)
{
	if (LAYOUT_GET(wqe_ctrl, r->wqe, fm) || r->opcode == WQE_OP_SEND_INVAL ||
	    eng_op(r->opcode)->kind == ENG_K_READ)
		return 0;
	return eng_wqe_data(r);
}

/* Has this thread read the data of the WQE at r->ci? Then it becomes inline data. */
static void early_take(struct eng_run *r)
{
	uint32_t off = r->early && r->early_ci == r->ci ? data_of(r) : 0;
	uint8_t *seg = r->wqe + off;

	if (!off || off + WQE_INLINE_HDR + r->early > ENG_MAX_WQE)
		return;
	LAYOUT_SET(wqe_data, seg, inline_seg, 1);
	LAYOUT_SET(wqe_data, seg, byte_count, r->early);
	memcpy(seg + WQE_INLINE_HDR, r->early_data, r->early);
	r->bytes = off + wqe_inline_size(r->early);
}

/* The data that r->wqe sends from `off` on, if it is plain memory; false: it is not. */
static bool early_read(struct eng_run *r, uint32_t off, uint8_t *data)
{
	const struct eng_sgl *l = &r->local;

	if (sgl_from_wqe(r, off, HW_ACC_LOCAL_READ, UINT64_MAX) || !l->len ||
	    l->len > ENG_EARLY_MAX)
		return false;
	for (uint32_t i = 0; i < l->n; i++) {
		struct mem_slot mem = l->mem[l->mixed ? i : 0];

		if (mem.slot >= ENG_SLOT_SIG || mem_read(r->s, mem, l->v[i].va, data, l->v[i].len))
			return false;
		data += l->v[i].len;
	}
	return true;
}

void early_step(struct eng_run *r, uint32_t pi)
{
	struct eng_run next;
	enum eng_kind kind = (enum eng_kind)eng_op(r->opcode)->kind;
	uint32_t off;

	early_take(r);
	if (kind != ENG_K_READ && kind != ENG_K_ATOMIC)
		return;
	r->early = 0;
	eng_run_begin(&next, r->s, r->qp, r->qpn);
	next.transport = r->transport;
	next.ci = (r->ci + r->nbb) & 0xffff;
	if (next.ci == pi || sq_fetch(&next, pi))
		return;
	off = eng_accepts(r->transport, next.opcode) ? data_of(&next) : 0;
	if (!off || off > next.bytes)
		return;
	running_any_key(r->ring);
	if (!early_read(&next, off, r->early_data))
		return;
	r->early = (uint32_t)next.local.len;
	r->early_ci = next.ci;
}
