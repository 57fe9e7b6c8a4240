/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Between the files of this folder only. */
#ifndef SOFTHCA_UMAD_PRIV_H
#define SOFTHCA_UMAD_PRIV_H

#include <rdma/ib_user_mad.h>
#include "segment/hw.h"
#include "segment/mad.h"
#include "segment/proc.h"
#include "umad/umad.h"
#include "wire/mad/mad.h"

#define UMAD_HDR sizeof(struct ib_user_mad_hdr)
#define UMAD_HDR_OLD sizeof(struct ib_user_mad_hdr_old)

static_assert(UMAD_HDR == sizeof(((struct mad_send *)0)->hdr), "mad_send keeps the header");

/* The SEG_T_PORT index of an open file; SEG_NONE when the file is gone. */
uint32_t umad_port(const struct umad_file *f);
size_t umad_hdr_size(const struct seg_file *sf);

/* A MAD on its way. */
struct umad_pkt {
	uint32_t from;    /* SEG_T_PORT */
	uint32_t qpn;     /* of both ends */
	uint32_t dst_qpn; /* as asked for */
	uint32_t pkey_index;
	uint16_t slid, dlid;
	uint8_t sl;
	bool grh;
	uint8_t hop_limit, traffic_class;
	uint32_t flow_label;
	uint8_t sgid[16], dgid[16];
	/* The send that an answer most likely belongs to; SEG_NONE unknown. */
	uint32_t send, send_gen;
	uint8_t mad[MAD_SIZE];
};

/* ---- agent.c */
/* The live agent (index, generation), or NULL. */
struct mad_agent *umad_agent(struct seg *s, uint32_t idx, uint32_t gen);
/* Agent `id` of a file; *idx its number. NULL: none. */
struct mad_agent *umad_agent_of(const struct umad_file *f, uint32_t id, uint32_t *idx);
/* Who gets this MAD at that port: *idx, or NULL. */
struct mad_agent *umad_agent_find(struct seg *s, uint32_t port, const uint8_t *mad, uint32_t *idx);
bool umad_kernel_rmpp(const struct mad_agent *a);

/* ---- send.c */
/* Sends of an agent are taken back, without a word to its reader. */
void umad_sends_cancel(struct seg *s, uint32_t file, uint32_t agent);
/* The send that this answer belongs to is taken; false: there is none. */
bool umad_send_match(struct seg *s, uint32_t agent, const struct mad_agent *a,
		     const struct umad_pkt *p);

/* ---- route.c */
/* From its port to wherever it leads: an agent inside an adapter, one of a program, or nowhere. */
void umad_route(struct seg *s, struct umad_pkt *p);
/*
 * A directed-route SMP leaves its port (smi.c, smi_handle_dr_smp_send(), and what
 * handle_outgoing_dr_smp() makes of it): -EINVAL no such path; 1 it is for this node, and dealt
 * with; 0 it goes out.
 */
int umad_direct(struct seg *s, struct umad_pkt *p, const struct mad_agent *a);

/* ---- recv.c */
/* A MAD into the queue of an agent's file. 0 or -errno. */
int umad_deliver(struct seg *s, const struct mad_agent *a, const struct umad_pkt *p);
/* The header of a MAD that was not answered. */
int umad_deliver_timeout(struct seg *s, const struct mad_agent *a, const struct mad_send *m);

#endif
