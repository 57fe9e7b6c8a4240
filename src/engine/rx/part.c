/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Parts of messages: how many whole packets go before the one that fails. Called by rc.c and resp.c
 * after a failure, by sq.c and state.c when a send queue gets no answers.
 */
#include "engine/rx/rx.h"
#include "engine/path/cause.h"
#include "engine/base/transport.h"

#define FM_SMALL 1 /* MLX5_WQE_CTRL_INITIATOR_SMALL_FENCE: not for READs */

uint64_t part_bytes(const struct eng_run *r, uint32_t n)
{
	return (uint64_t)n * r->qp->mtu;
}

uint32_t part_fitting(struct eng_run *r, uint64_t len, eng_fits *fits, const void *arg)
{
	uint32_t n = 0, none = eng_npkts(len, r->qp->mtu);
	struct cause_note whole = cause_note; /* of the message, not of parts that are tried */

	while (none - n > 1) {
		uint32_t k = n + (none - n) / 2;

		if (fits(r, part_bytes(r, k), arg))
			n = k;
		else
			none = k;
	}
	if (n)
		fits(r, part_bytes(r, n), arg);
	cause_note = whole;
	return n;
}

uint32_t part_copied(const struct eng_run *r)
{
	return r->qp->mtu ? (uint32_t)(r->copied / r->qp->mtu) : 0;
}

uint64_t part_message(const struct eng_run *r, uint32_t off)
{
	uint64_t len = 0;

	while (off < r->bytes) {
		const uint8_t *seg = r->wqe + off;
		uint32_t n = LAYOUT_GET32(wqe_data, seg, byte_count);
		bool is_inline = LAYOUT_GET(wqe_data, seg, inline_seg);

		len += is_inline ? n : wqe_data_len(seg);
		off += is_inline ? wqe_inline_size(n) : WQE_SEG;
	}
	return len;
}

/* The PSNs that a request takes: those of a READ are of its answer. */
static uint32_t psns(const struct eng_run *r)
{
	uint32_t off = eng_wqe_header(r);

	switch (eng_op(r->opcode)->kind) {
	case ENG_K_ATOMIC:
		return 1;
	case ENG_K_WRITE:
	case ENG_K_READ:
		off += WQE_SEG;
		break;
	case ENG_K_SEND:
		break;
	default:
		return 0;
	}
	return eng_npkts(part_message(r, off), r->qp->mtu);
}

void part_pass_sent(struct seg *s, struct hw_qp *qp, uint32_t qpn)
{
	uint32_t pi = atomic_load(&qp->sq_pi), n = 0;
	bool reads = false; /* for whose answers a fence waits */
	struct eng_run r;

	eng_run_begin(&r, s, qp, qpn);
	r.transport = eng_transport(qp);
	for (r.ci = atomic_load(&qp->sq_ci) & 0xffff; r.ci != pi; r.ci = (r.ci + r.nbb) & 0xffff) {
		enum eng_kind kind;

		if (sq_fetch(&r, pi) || (reads && LAYOUT_GET(wqe_ctrl, r.wqe, fm) > FM_SMALL))
			break;
		kind = (enum eng_kind)eng_op(r.opcode)->kind;
		reads = reads || kind == ENG_K_READ || kind == ENG_K_ATOMIC;
		n += psns(&r);
	}
	qp->next_send_psn = (qp->next_send_psn + n) & 0xffffff;
}
