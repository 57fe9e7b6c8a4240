/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The services of queue pairs (qpc.st), a row each: what a QP of one is, has and may, as firmware,
 * driver and listings ask it. How one sends and receives is in engine/base/transport.c and
 * engine/tx/sender.c.
 */
#ifndef SOFTHCA_HW_SERVICE_H
#define SOFTHCA_HW_SERVICE_H

#include "hw/qp_state.h"

#include <stdbool.h>
#include <stdint.h>

struct hw_service {
	const char *name; /* "?" of a number that is no service */
	uint8_t st;       /* enum prm_st */
	/* Numbers of enum ib_qp_type (uapi): of a QP, and of one that is made without a send queue.
	 */
	uint8_t ib_type, ib_target;

	/* Making. */
	bool made;      /* CREATE_QP makes it */
	bool unbounded; /* also on adapters of UC and UD only (cap rc is 0) */
	bool apart;     /* the driver's QPs name no PD, CQ or UAR of a program's */
	bool no_queue;  /* has no receive queue of its own, only that of SRQs */
	bool no_rq;     /* names no SRQ either: its requests do (XRC), or nothing comes (DCI) */
	bool xrc;       /* in an XRC domain, of no context */
	bool streams;   /* a DC initiator: streams (mlx5dv_create_qp(3)) */

	/* Connecting. */
	/*
	 * The QPC names the other end's QP: PSNs, path migration. Only these may set
	 * qpc.drain_sigerr (inferred: the services that verbs lead from SQD to RTS).
	 */
	bool connected;
	bool datagram;   /* one packet to whoever the WQE names; the QPC has no path */
	bool gids;       /* on an Ethernet port the QPC's path always has GIDs */
	uint8_t options; /* the service whose optional attributes of MODIFY_QP it has */

	/* Requests and answers that only some have. */
	bool tags;        /* tag matching (IBV_TM_CAP_RC) */
	bool copies;      /* MMO copies */
	bool udp_sport;   /* mlx5dv_modify_qp_udp_sport(3) */
	bool qos_answers; /* a queue group of the responder */
	bool short_in;    /* the driver asks for received payloads in CQEs */
	bool short_back;  /* the same of answers to READs */
};

/* Never NULL: what is no service has no `made`. By enum prm_st, and by enum ib_qp_type. */
const struct hw_service *hw_service(uint32_t st);
const struct hw_service *hw_service_ib(uint32_t ib_type);

#endif
