/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * MMO: a send queue copies memory of its own protection domain (mlx5dv_wr_memcpy(3)). Called by
 * sq.c between running_enter() and running_leave(). Nothing leaves the adapter: there is no peer,
 * no packet and no PSN.
 *
 * A wrong WQE fails as any other requester's does; which error a card gives for wrong lengths is
 * inferred.
 */
#include "engine/base/cause_text.h"
#include "engine/move/move.h"
#include "hw/qp.h"

/* Looks up the memory of the data segment at `off`. */
static enum eng_why mmo_memory(struct eng_run *r, uint32_t off, uint32_t access, struct eng_sgl *l)
{
	const uint8_t *seg = r->wqe + off;
	uint64_t n = LAYOUT_GET(wqe_data, seg, byte_count);

	sgl_init(l);
	if (LAYOUT_GET(wqe_data, seg, inline_seg))
		return ENG_W_WQE_MALFORMED;
	cause_note.room = UINT64_C(1) << HW_LOG_MAX_MMO;
	if (!n || n > cause_note.room)
		return ENG_W_LENGTH;
	return sgl_add_key(r->s, l, LAYOUT_GET32(wqe_data, seg, lkey),
			   LAYOUT_GET(wqe_data, seg, addr), n, r->qp->pdn, r->qpn, access);
}

static enum eng_why mmo_check(struct eng_run *r)
{
	enum eng_why why;

	if (!r->qp->mmo)
		return ENG_W_OPCODE;
	if (r->bytes != WQE_MMO_BYTES || LAYOUT_GET(wqe_ctrl, r->wqe, opmod) != WQE_OPMOD_MMO_DMA)
		return ENG_W_WQE_MALFORMED;
	why = mmo_memory(r, WQE_MMO_SRC, HW_ACC_LOCAL_READ, &r->local);
	if (!why)
		why = sgl_scatter_why(mmo_memory(r, WQE_MMO_DEST, HW_ACC_LOCAL_WRITE, &r->remote));
	cause_note.room = r->remote.len;
	if (!why && r->remote.len < r->local.len)
		why = ENG_W_LENGTH;
	return why;
}

enum eng_out mmo_execute(struct eng_run *r)
{
	int rc;

	r->why = mmo_check(r);
	if (r->why)
		return ENG_FAILED;
	rc = sgl_copy_gated(r, &r->remote, &r->local);
	if (rc == -ECANCELED)
		return ENG_AGAIN;
	if (rc == -ETIMEDOUT)
		return ENG_LOCKED;
	if (rc) {
		r->why = ENG_W_LOCAL_FAULT;
		return ENG_FAILED;
	}
	r->byte_cnt = (uint32_t)r->local.len;
	return ENG_DONE;
}
