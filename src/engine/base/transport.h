/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The differences between transports: one row each, selected by qp->st. The engine's code asks the
 * row, never which transport it is. A running send queue has its row in eng_run.transport, looked
 * up under sq_lock, because before that the QP number may be reused. What a send queue does with a
 * message is in sender.h.
 */
#ifndef SOFTHCA_ENGINE_TRANSPORT_H
#define SOFTHCA_ENGINE_TRANSPORT_H

#include "engine/base/base.h"
#include "engine/base/qp.h"
#include "wire/pkt/pkt.h"

/* Octets of packet headers (IBA 5.2), including the ICRC. */
enum {
	HDR_LRH = LAYOUT_SZ(lrh),
	HDR_BASE = LAYOUT_SZ(bth) + PKT_ICRC,
	HDR_DETH = LAYOUT_SZ(deth),
	HDR_XRCETH = LAYOUT_SZ(xrceth),
	HDR_RETH = LAYOUT_SZ(reth),
	HDR_ATOMICETH = LAYOUT_SZ(atomic_eth),
	HDR_AETH = LAYOUT_SZ(aeth),
	HDR_ATOMICACKETH = LAYOUT_SZ(atomic_ack_eth),
	HDR_IMM = LAYOUT_SZ(pkt_word), /* ImmDt, IETH */
};

struct eng_transport {
	/* The WQE. */
	uint64_t opcodes; /* the opcodes that it accepts, as bits 1 << WQE_OP_* */
	/* At most one of these segments follows the control segment: */
	bool av;        /* an address vector that names the other end; otherwise the QPC names it */
	bool names_srq; /* a segment that names the responder's SRQ */

	/* The packets. */
	uint32_t headers; /* octets of headers in each request packet, from the BTH on */
	bool one_packet;  /* a message is a single packet, whatever the MTU */
	bool shown;       /* captures show it: its packet format is published */
	uint8_t pkt;      /* PKT_RC...: transport part of the BTH's opcode */

	enum prm_st responder; /* service type of the other end's QP */
	bool acks;             /* acknowledgements, so retries, and errors from the responder */
	bool psn;              /* the responder executes requests only in the order of their PSNs */

	/* After a failure: */
	bool streams;         /* a failed WQE may stop only its stream (dc_stream_stops()) */
	bool sqer;            /* a failed WQE stops only the send queue (SQER) */
	bool stays;           /* a failed request does not change the state of the responder's QP */
	uint32_t event_queue; /* PRM_EVENT_QUEUE_* of its QPs' events */
};

/* Indexed by enum prm_st. A number without a transport has an empty row, which accepts no WQE. */
#define ENG_TRANSPORTS (HW_ST_DCT + 1)
extern const struct eng_transport eng_transports[ENG_TRANSPORTS];

static inline bool eng_acks(const struct eng_transport *t)
{
	return t->acks;
}

static inline bool eng_accepts(const struct eng_transport *t, uint32_t opcode)
{
	return opcode < 64 && t->opcodes >> opcode & 1;
}

static inline const struct eng_transport *eng_transport(const struct hw_qp *qp)
{
	return &eng_transports[qp->st % ENG_TRANSPORTS];
}

/* Bytes of the control segment and the transport's own segment; 0: the WQE is shorter. */
static inline uint32_t eng_wqe_header(const struct eng_run *r)
{
	const struct eng_transport *t = r->transport;
	uint32_t bytes = WQE_SEG;

	if (t->names_srq)
		bytes += LAYOUT_SZ(wqe_xrc);
	if (!t->av)
		return bytes;
	if (r->bytes < WQE_SEG + WQE_AV_COMPACT)
		return 0;
	bytes += LAYOUT_GET(wqe_av, r->wqe + WQE_SEG, ext) ? LAYOUT_SZ(wqe_av) : WQE_AV_COMPACT;
	return r->bytes < bytes ? 0 : bytes;
}

/* The offset of the data segments of a SEND, WRITE or READ; 0: it is none, or is too short. */
static inline uint32_t eng_wqe_data(const struct eng_run *r)
{
	uint32_t kind = eng_op(r->opcode)->kind, hdr = eng_wqe_header(r);

	if (!hdr || (kind != ENG_K_SEND && kind != ENG_K_WRITE && kind != ENG_K_READ))
		return 0;
	return kind == ENG_K_SEND ? hdr : hdr + WQE_SEG;
}

/* Under the lock of r->dest's QP: does the QP exist, and does it receive from this transport? */
static inline bool eng_is_responder(const struct eng_run *r, const struct hw_qp *peer)
{
	return seg_owner(r->s, SEG_T_QP, r->dest) != SEG_OWNER_FREE &&
	       peer->st == r->transport->responder && qp_receives(peer);
}

/* QP number of the other end of the current WQE; stored before anything of that QP is read. */
static inline uint32_t qp_target(const struct hw_qp *qp)
{
	return eng_transport(qp)->av ? atomic_load(&qp->ud_dest) : qp->dest_qpn;
}

#endif
