/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a send queue does with a message: one row for each transport, beside that of transport.h. */
#ifndef SOFTHCA_ENGINE_SENDER_H
#define SOFTHCA_ENGINE_SENDER_H

#include "engine/base/transport.h"

struct eng_sender {
	enum eng_out (*execute)(struct eng_run *r);
	/*
	 * The other end. peer(): finds the QP, and its port, if packets get there. accepts(): under
	 * that QP's lock, does it take this request? execute() of datagrams needs neither.
	 */
	struct hw_qp *(*peer)(struct eng_run *r, uint32_t *port);
	bool (*accepts)(struct eng_run *r, struct hw_qp *peer, uint32_t port);
	/*
	 * Do acknowledgements return from `port`? Sets r->back. NULL: the transport has none
	 * (eng_acks()).
	 */
	bool (*back)(struct eng_run *r, const struct hw_qp *peer, uint32_t port);
};

extern const struct eng_sender eng_senders[ENG_TRANSPORTS];

static inline const struct eng_sender *eng_sender(const struct hw_qp *qp)
{
	return &eng_senders[qp->st % ENG_TRANSPORTS];
}

#endif
