/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the processes of a fabric share about MADs: who is registered for which, and what was sent
 * and waits for an answer. Owned by the umad file (SEG_T_FILE index + 1), so that both go with it.
 * Worked on by src/umad.
 */
#ifndef SOFTHCA_SEGMENT_MAD_H
#define SOFTHCA_SEGMENT_MAD_H

#include "segment/seg.h"

#define MAD_AGENT_METHODS 128

struct mad_agent { /* SEG_T_AGENT */
	uint32_t gen;
	_Atomic uint32_t ready; /* stored last: until then nobody finds it */
	uint32_t file, file_gen;
	uint32_t port;       /* SEG_T_PORT */
	uint32_t id;         /* in its file */
	uint32_t qpn;        /* 0 SMI, 1 GSI */
	uint32_t mgmt_class; /* 0: receives answers only */
	uint32_t class_version;
	uint32_t oui;
	uint32_t rmpp_version;
	uint32_t flags; /* IB_USER_MAD_USER_RMPP */
	uint64_t methods[MAD_AGENT_METHODS / 64];
} SEG_ELEM;

/*
 * The high half of an agent's transaction IDs says which agent: 24 bits, as the kernel's, the low
 * ones its index (SEG_T_AGENT has 64 Ki elements), the others of its generation.
 */
static inline uint32_t mad_agent_tid(uint32_t idx, uint32_t gen)
{
	return (gen & 0xff) << 16 | idx;
}

enum mad_send_state { MAD_SEND_NEW, MAD_SEND_WAITS, MAD_SEND_TAKEN };

struct mad_send { /* SEG_T_MSEND */
	uint32_t gen;
	_Atomic uint32_t state; /* enum mad_send_state. Who makes it TAKEN ends it and frees it. */
	uint32_t agent, agent_gen;
	uint32_t slot, slot_gen; /* the process that raises the time-out */
	uint32_t port;
	uint32_t timeout_ms, retries_left;
	_Atomic uint64_t deadline; /* clock_now_ns() */
	uint8_t hdr[64];           /* struct ib_user_mad_hdr as written */
	uint8_t mad[256];
} SEG_ELEM;

#endif
