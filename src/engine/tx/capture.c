/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shows the data path as packets, for a capture. The engine moves messages as a whole; this file
 * makes the packets that a link would have carried, of the path's MTU and with sequence numbers,
 * and their answers. Called by rc.c and ud.c while cap_on(), with their locks held. Never waits:
 * packets that do not fit are counted as lost.
 *
 * DC is left out: its packet format is not published.
 */
#include "engine/path/link.h"
#include "engine/tx/tx.h"
#include "engine/base/transport.h"
#include "hw/hca.h"
#include "hw/port.h"
#include "hw/qp_state.h"
#include "hw/cap.h"
#include "wire/prm/qp.h"

#include <time.h>

#define PSN_MASK 0xffffffu

static uint64_t real_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

/* Copies the next `len` bytes of a message, as many as the capture keeps and can read. */
static uint32_t copy_payload(struct seg *s, struct eng_cursor *at, uint32_t len, uint8_t *to)
{
	uint32_t keep = cap_snap(s, len), done = 0;
	struct eng_cursor c = *at;

	while (done < keep) {
		struct mem_slot mem;
		struct mem_vec v;

		if (cursor_piece(s, &c, keep - done, &mem, &v) || !v.len ||
		    mem_read(s, mem, v.va, to + done, v.len))
			break;
		done += (uint32_t)v.len;
		cursor_advance(&c, v.len);
	}
	cursor_advance(at, len);
	return done;
}

static void capture_send(struct seg *s, struct pkt *p, struct eng_cursor *at)
{
	uint64_t turn;
	struct seg_cap_rec *rec = cap_get(s, &turn);

	if (!rec) {
		if (at)
			cursor_advance(at, p->payload);
		return;
	}
	p->kept = at ? copy_payload(s, at, p->payload, rec->payload) : 0;
	p->time_ns = real_now();
	rec->pkt = *p;
	cap_put(rec, turn);
}

static uint16_t pkey_of(const struct hw_port *p, uint32_t index)
{
	return p && index < HW_PKEYS ? p->pkey[index] : 0;
}

/* Fill in the addresses of a connected QP's packets. False: there are none. */
static bool address(const struct eng_run *r, const struct hw_qp *qp, uint32_t dest, struct pkt *p)
{
	const struct hw_qp_path *w = qp == r->qp ? r->own : r->theirs;
	const struct hw_port *port = hw_port(r->s, w->port);

	if (!port || !r->transport->shown)
		return false;
	*p = (struct pkt){
		.pkey = pkey_of(port, w->pkey_index),
		.port = (uint8_t)port->num,
		.dest_qpn = dest,
		.flags = mig_requests(qp, w) ? 0 : PKT_F_STAYS,
	};
	return r->link->frame(port, qp, w, p);
}

/* The opcode for packet i of n: the opcodes of one kind follow each other. */
static uint8_t place(uint8_t first, uint8_t only, uint32_t i, uint32_t n)
{
	if (n == 1)
		return only;
	return (uint8_t)(first + (!i ? 0 : i + 1 < n ? 1 : 2));
}

static uint8_t request_opcode(const struct eng_run *r, const struct eng_op *op, uint32_t i,
			      uint32_t n)
{
	bool last = i + 1 == n;
	uint8_t o;

	if (op->kind == ENG_K_WRITE) {
		o = place(PKT_WRITE_FIRST, PKT_WRITE_ONLY, i, n);
		return (uint8_t)(o + (last && op->imm));
	}
	o = place(PKT_SEND_FIRST, PKT_SEND_ONLY, i, n);
	if (last && op->cqe == CQE_RESP_SEND_INV)
		return n == 1 ? PKT_SEND_ONLY_INV : PKT_SEND_LAST_INV;
	return (uint8_t)(o + (last && op->imm));
}

static void fill_rdma(const struct eng_run *r, const struct eng_op *op, struct pkt *p)
{
	const uint8_t *ra = r->wqe + r->hdr;

	if (op->kind == ENG_K_SEND)
		return;
	p->va = LAYOUT_GET(wqe_raddr, ra, va);
	p->rkey = LAYOUT_GET32(wqe_raddr, ra, rkey);
	p->dma_len = (uint32_t)r->local.len;
	p->swap_add = r->atomic.operand;
	p->compare = r->atomic.compare;
}

void eng_capture_request(struct eng_run *r, const struct eng_op *op)
{
	uint32_t mtu = r->qp->mtu, n = eng_npkts(r->local.len, mtu);
	struct eng_cursor at = {.l = &r->local};
	const struct eng_transport *t = r->transport;
	uint64_t left = r->local.len;
	uint8_t flags;
	struct pkt p;

	/* The WQE was parked for a lock, not for an answer, so this is no retransmission. */
	if (atomic_load(&r->qp->park) == HW_PARK_LOCK || !address(r, r->qp, r->dest, &p))
		return;
	flags = p.flags;
	if (t->names_srq)
		p.srqn = LAYOUT_GET32(wqe_xrc, r->wqe + WQE_SEG, xrc_srqn);
	fill_rdma(r, op, &p);
	p.imm = r->imm;
	p.psn = r->qp->next_send_psn;
	p.mark = r->lost ? PKT_LOST : PKT_PASSES;
	if (op->kind == ENG_K_READ || op->kind == ENG_K_ATOMIC) {
		p.opcode = t->pkt | (op->kind == ENG_K_READ ? PKT_READ_REQUEST
				     : r->atomic.add        ? PKT_FETCH_ADD
							    : PKT_COMPARE_SWAP);
		p.flags |= PKT_F_ACK_REQ;
		capture_send(r->s, &p, NULL);
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		p.opcode = t->pkt | request_opcode(r, op, i, n);
		p.payload = (uint32_t)(left < mtu ? left : mtu);
		p.psn = (r->qp->next_send_psn + i) & PSN_MASK;
		p.flags = flags;
		if (r->land && i >= r->land)
			p.mark = PKT_LOST;
		if (i + 1 == n)
			p.flags |=
				(r->se ? PKT_F_SOLICITED : 0) | (eng_acks(t) ? PKT_F_ACK_REQ : 0);
		capture_send(r->s, &p, &at);
		left -= p.payload;
	}
}

/* The AETH syndrome for the outcome of a request; 0: the responder does not answer. */
static uint32_t syndrome(const struct eng_run *r, enum eng_out out)
{
	if (out == ENG_DONE)
		return PKT_SYND_ACK;
	if (out == ENG_RNR)
		return PKT_SYND_RNR_NAK | (r->rnr_timer & 0x1f);
	if (out != ENG_FAILED)
		return 0;
	switch (eng_failures[r->why].syndrome) {
	case CQE_SYND_REMOTE_INVAL_REQ:
		return PKT_SYND_NAK_INVALID;
	case CQE_SYND_REMOTE_ACCESS:
		return PKT_SYND_NAK_ACCESS;
	case CQE_SYND_REMOTE_OP:
		return PKT_SYND_NAK_OPERATION;
	default:
		return 0;
	}
}

static void read_response(struct eng_run *r, struct pkt *p, uint32_t psn, uint32_t n)
{
	struct eng_cursor at = {.l = r->late ? &r->remote : &r->local};
	uint64_t left = r->local.len;

	for (uint32_t i = 0; i < n; i++) {
		p->opcode =
			r->transport->pkt | place(PKT_READ_RESP_FIRST, PKT_READ_RESP_ONLY, i, n);
		p->payload = (uint32_t)(left < r->qp->mtu ? left : r->qp->mtu);
		p->psn = (psn + i) & PSN_MASK;
		capture_send(r->s, p, &at);
		left -= p->payload;
	}
}

void eng_capture_answer(struct eng_run *r, const struct eng_op *op, const struct hw_qp *peer,
			uint32_t psn, enum eng_out out)
{
	uint32_t n = eng_npkts(r->local.len, r->qp->mtu), synd = syndrome(r, out);
	struct pkt p;

	if (!synd || !eng_acks(r->transport) || !address(r, peer, r->qpn, &p))
		return;
	p.psn = psn;
	p.syndrome = synd;
	p.msn = peer->msn;
	p.mark = r->mute ? PKT_LOST : PKT_PASSES;
	if (op->kind == ENG_K_READ && (out == ENG_DONE || r->part)) {
		read_response(r, &p, psn, out == ENG_DONE ? n : r->part);
		if (out == ENG_DONE)
			return;
	}
	p.payload = 0;
	p.psn = (psn + r->part) & PSN_MASK;
	p.opcode = r->transport->pkt | PKT_ACK;
	if (out == ENG_DONE && op->kind == ENG_K_ATOMIC) {
		p.opcode = r->transport->pkt | PKT_ATOMIC_ACK;
		p.compare = r->was; /* the word is in the host's byte order, as adapters answer */
	} else if (out == ENG_DONE) {
		p.psn = (psn + n - 1) & PSN_MASK;
	}
	capture_send(r->s, &p, NULL);
}

void eng_capture_ud(struct eng_run *r, const struct eng_op *op, const uint8_t *av, uint32_t qkey)
{
	struct eng_cursor at = {.l = &r->local};
	struct pkt p;

	if (atomic_load(&r->qp->park) == HW_PARK_LOCK || !r->port)
		return;
	p = (struct pkt){
		.pkey = pkey_of(r->port, r->own->pkey_index),
		.port = (uint8_t)r->port->num,
		.opcode = r->transport->pkt | (op->imm ? PKT_SEND_ONLY_IMM : PKT_SEND_ONLY),
		.flags = r->se ? PKT_F_SOLICITED : 0,
		.mark = r->lost ? PKT_LOST : PKT_PASSES,
		.dest_qpn = LAYOUT_GET32(wqe_av, av, dqpn),
		.src_qpn = r->qpn,
		.qkey = qkey,
		.psn = r->qp->next_send_psn,
		.imm = r->imm,
		.payload = (uint32_t)r->local.len,
	};
	if (r->link->frame_av(r->port, r->qp, av, &p))
		capture_send(r->s, &p, &at);
}
