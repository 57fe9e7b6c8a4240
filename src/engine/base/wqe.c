/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the WQEs of a send queue and its doorbell record. Called with sq_lock held, by traces
 * without.
 */
#include "engine/base/base.h"
#include "hw/qp.h"

int sq_read_pi(struct seg *s, const struct hw_qp *qp, uint32_t *pi)
{
	int rc = mem_read_be32(s, qp->dbr_mem, qp->dbr_va + 4, pi);

	*pi &= 0xffff;
	return rc;
}

int sq_read_wqe(struct seg *s, const struct hw_qp *qp, uint32_t ci, uint32_t off, void *dst,
		uint32_t len)
{
	uint64_t size = (uint64_t)WQE_BB << qp->sq_log_size;
	uint64_t at = ((uint64_t)ci * WQE_BB + off) & (size - 1);
	uint32_t first = at + len > size ? (uint32_t)(size - at) : len;
	int rc = mem_read(s, qp->mem, qp->sq_va + at, dst, first);

	if (!rc && first < len)
		rc = mem_read(s, qp->mem, qp->sq_va, (uint8_t *)dst + first, len - first);
	return rc;
}

int sq_fetch(struct eng_run *r, uint32_t pi)
{
	int rc = sq_read_wqe(r->s, r->qp, r->ci, 0, r->wqe, WQE_BB);
	uint32_t ds;

	r->nbb = 1;
	if (rc)
		return rc;
	r->opcode = LAYOUT_GET32(wqe_ctrl, r->wqe, opcode);
	r->ce = LAYOUT_GET32(wqe_ctrl, r->wqe, ce);
	r->se = LAYOUT_GET(wqe_ctrl, r->wqe, se);
	r->imm = LAYOUT_GET32(wqe_ctrl, r->wqe, imm);
	ds = LAYOUT_GET32(wqe_ctrl, r->wqe, ds);
	r->bytes = ds * WQE_SEG;
	if (!ds || LAYOUT_GET(wqe_ctrl, r->wqe, qpn) != r->qpn)
		return ENG_W_WQE_MALFORMED;
	r->nbb = (r->bytes + WQE_BB - 1) / WQE_BB;
	if (r->nbb > ((pi - r->ci) & 0xffff)) {
		r->nbb = (pi - r->ci) & 0xffff;
		return ENG_W_WQE_MALFORMED;
	}
	if (r->bytes > WQE_BB)
		rc = sq_read_wqe(r->s, r->qp, r->ci, WQE_BB, r->wqe + WQE_BB, r->bytes - WQE_BB);
	return rc;
}
