/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The rows of transport.h. Data only. */
#include "engine/base/base.h"
#include "engine/base/transport.h"
#include "wire/pkt/pkt.h"
#include "wire/prm/eq.h"

#define OP(name) (UINT64_C(1) << WQE_OP_##name)

/* Opcodes not listed here are refused: TSO, FMR... have no capability bit either. */
#define OPS_DATAGRAM (OP(NOP) | OP(SEND) | OP(SEND_IMM))
#define OPS_KEYS (OP(UMR) | OP(SET_PSV))
#define OPS_UNRELIABLE (OPS_DATAGRAM | OP(RDMA_WRITE) | OP(RDMA_WRITE_IMM) | OPS_KEYS)
#define OPS_ATOMIC (OP(ATOMIC_CS) | OP(ATOMIC_FA) | OP(ATOMIC_MASKED_CS) | OP(ATOMIC_MASKED_FA))
#define OPS_RELIABLE (OPS_UNRELIABLE | OP(SEND_INVAL) | OP(RDMA_READ) | OPS_ATOMIC)
#define OPS_COPYING (OPS_RELIABLE | OP(MMO))
#define OPS_RC (OPS_COPYING | OP(TAG_MATCHING))

const struct eng_transport eng_transports[ENG_TRANSPORTS] = {
	[PRM_ST_RC] =
		{
			.opcodes = OPS_RC,
			.headers = HDR_BASE,
			.shown = true,
			.pkt = PKT_RC,
			.responder = PRM_ST_RC,
			.psn = true,
			.acks = true,
			.event_queue = PRM_EVENT_QUEUE_QP,
		},
	[PRM_ST_UC] =
		{
			.opcodes = OPS_UNRELIABLE,
			.headers = HDR_BASE,
			.shown = true,
			.pkt = PKT_UC,
			.responder = PRM_ST_UC,
			.sqer = true,
			.event_queue = PRM_EVENT_QUEUE_QP,
		},
	[PRM_ST_UD] =
		{
			.opcodes = OPS_DATAGRAM,
			.av = true,
			.headers = HDR_BASE + HDR_DETH,
			.one_packet = true,
			.shown = true,
			.pkt = PKT_UD,
			.responder = PRM_ST_UD,
			.sqer = true,
			.event_queue = PRM_EVENT_QUEUE_QP,
		},
	[PRM_ST_XRC] =
		{
			.opcodes = OPS_RELIABLE,
			.names_srq = true,
			.headers = HDR_BASE + HDR_XRCETH,
			.shown = true,
			.pkt = PKT_XRC,
			.responder = PRM_ST_XRC,
			.psn = true,
			.acks = true,
			.event_queue = PRM_EVENT_QUEUE_QP,
		},
	[PRM_ST_DCI] =
		{
			.opcodes = OPS_COPYING,
			.av = true,
			.headers = HDR_BASE,
			.responder = HW_ST_DCT,
			.streams = true,
			.acks = true,
			.event_queue = PRM_EVENT_QUEUE_QP,
		},
	[HW_ST_DCT] =
		{
			/* has no send queue */
			.stays = true,
			.event_queue = PRM_EVENT_QUEUE_DCT,
		},
};
