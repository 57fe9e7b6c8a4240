/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The differences of the transports: one row each, by qp->st. Code of the engine asks the row, and
 * never which transport it is. A send queue at work has its row in eng_run.transport, looked up
 * under sq_lock: before it the QP may become another one.
 */
#ifndef SOFTHCA_ENGINE_TRANSPORT_H
#define SOFTHCA_ENGINE_TRANSPORT_H

#include "engine/priv.h"
#include "engine/qp.h"

/* Octets of headers (IBA 5.2); the ICRC is with them. */
enum {
	HDR_BASE = 8 + 12 + 4, /* LRH, BTH, ICRC */
	HDR_GRH = 40,
	HDR_DETH = 8,
	HDR_XRCETH = 4,
	HDR_RETH = 16,
	HDR_ATOMICETH = 28,
	HDR_AETH = 4,
	HDR_ATOMICACKETH = 8,
	HDR_IMM = 4, /* ImmDt, IETH */
};

struct eng_transport {
	const char *name;

	/* The WQE. */
	uint64_t opcodes; /* 1 << WQE_OP_*: what it accepts */
	enum eng_out (*execute)(struct eng_run *r);
	/* Behind the control segment comes, at most one of both: */
	bool av;        /* an address vector, which names the other end; without it the QPC does */
	bool names_srq; /* the segment that names the responder's SRQ */

	/* The packets. */
	uint32_t headers; /* octets in each packet of a request, without a GRH */
	bool one_packet;  /* a message is one packet, whatever the MTU */
	bool shown;       /* in captures: the form of its packets is published */
	uint8_t pkt;      /* PKT_RC...: the transport in the BTH's opcode */

	/*
	 * The other end. peer(): the QP, and its port, if packets get there. accepts(): under that
	 * QP's lock, does it take this request? execute() of datagrams needs neither.
	 */
	enum prm_st responder; /* the service of its QP */
	struct hw_qp *(*peer)(struct eng_run *r, uint32_t *port);
	bool (*accepts)(struct eng_run *r, struct hw_qp *peer, uint32_t port);

	/*
	 * Do acknowledgements get back from `port`? The path goes into r->back. NULL: nothing is
	 * acknowledged, so there are no retries and no errors of the responder (eng_acks()).
	 */
	bool (*back)(struct eng_run *r, const struct hw_qp *peer, uint32_t port);
	bool psn; /* the responder executes requests in the order of their PSNs only */

	/* A failure. */
	bool sqer;            /* of a WQE: stops the send queue only */
	bool stays;           /* of a request, at the responder: does nothing to its QP */
	uint32_t event_queue; /* PRM_EVENT_QUEUE_* of its events */
};

/* By enum prm_st. A number that is no transport has an empty row, which accepts no WQE. */
#define ENG_TRANSPORTS (HW_ST_DCT + 1)
extern const struct eng_transport eng_transports[ENG_TRANSPORTS];

static inline bool eng_acks(const struct eng_transport *t)
{
	return t->back;
}

static inline bool eng_accepts(const struct eng_transport *t, uint32_t opcode)
{
	return opcode < 64 && t->opcodes >> opcode & 1;
}

static inline const struct eng_transport *eng_transport(const struct hw_qp *qp)
{
	return &eng_transports[qp->st % ENG_TRANSPORTS];
}

/* Bytes of the control segment and the transport's own; 0: the WQE has less. */
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

/* Do packets by this address vector have a GRH? */
static inline bool eng_av_grh(const uint8_t *av)
{
	return LAYOUT_GET(wqe_av, av, ext) && LAYOUT_GET(wqe_av, av, grh);
}

/* Under the lock of r->dest's QP: does it exist, and does it receive from this transport? */
static inline bool eng_is_responder(const struct eng_run *r, const struct hw_qp *peer)
{
	return seg_owner(r->s, SEG_T_QP, r->dest) != SEG_OWNER_FREE &&
	       peer->st == r->transport->responder && qp_receives(peer);
}

/* The number of the other end of the WQE in work; written before anything of that QP is looked at.
 */
static inline uint32_t qp_target(const struct hw_qp *qp)
{
	return eng_transport(qp)->av ? atomic_load(&qp->ud_dest) : qp->dest_qpn;
}

#endif
