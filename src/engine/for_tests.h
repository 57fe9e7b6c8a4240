/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Exported for tests alone: the code of the layers does not call these. */
#ifndef SOFTHCA_ENGINE_FOR_TESTS_H
#define SOFTHCA_ENGINE_FOR_TESTS_H

#include "engine/engine.h"

/* The first half of eng_qp_event(): notes the event and does not raise it. */
void eng_qp_event_note(struct seg *s, struct hw_qp *qp, uint32_t qpn, uint32_t ib_event_type);
/*
 * How long the specification lets a QP wait for an acknowledgement after so many retries;
 * UINT64_MAX: for ever.
 */
uint64_t park_ack_ns(const struct hw_qp_path *w, uint32_t retries);

#endif
