/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the GMPs of the kernels of hosts: out of their ports, and to them. What they mean is the
 * connection manager's (src/cm), which runs in the supervisor.
 */
#include "umad/priv.h"

#include <string.h>
#include "fabric/eth.h"
#include "segment/suplink.h"

void umad_pkt_of(const struct cm_pkt *pkt, uint32_t from, struct umad_pkt *p)
{
	*p = (struct umad_pkt){
		.from = from,
		.qpn = 1,
		.dst_qpn = pkt->qpn,
		.pkey_index = pkt->pkey_index,
		.slid = pkt->slid,
		.dlid = pkt->dlid,
		.sl = pkt->sl,
		.grh = pkt->grh,
		.gid_kind = pkt->gid_kind,
		.hop_limit = pkt->hop_limit,
		.traffic_class = pkt->traffic_class,
		.flow_label = pkt->flow_label,
		.send = SEG_NONE,
		.again = pkt->again,
		.turns = pkt->turns,
	};
	memcpy(p->sgid, pkt->sgid, 16);
	memcpy(p->dgid, pkt->dgid, 16);
	memcpy(p->mad, pkt->mad, MAD_SIZE);
}

void umad_gmp_send(struct seg *s, const struct cm_pkt *pkt)
{
	const struct hw_port *from = hw_port(s, pkt->port);
	struct umad_pkt p;

	if (!from)
		return;
	umad_pkt_of(pkt, pkt->port, &p);
	if (!p.slid)
		p.slid = fab_port_addr(s, pkt->port);
	/* An id may use a GID that has gone: nothing leaves by it (inferred from del_gid()). */
	if (hw_port_is_eth(from) &&
	    (!p.grh || fab_gid_find(from, p.sgid, p.gid_kind) < 0 ||
	     umad_eth_dest(s, pkt->port, p.gid_kind, p.sgid, p.dgid, &p.dlid)))
		return;
	umad_route(s, &p);
}

/* ib_cm registers for method Send of class version 2 (cm.c, cm_add_one()); it asks the SA. */
static bool for_kernel(const uint8_t *mad)
{
	uint64_t class = LAYOUT_GET(mad_hdr, mad, mgmt_class);

	if (class == MAD_CLASS_CM)
		return LAYOUT_GET(mad_hdr, mad, method) == MAD_METHOD_SEND &&
		       LAYOUT_GET(mad_hdr, mad, class_version) == 2;
	return class == MAD_CLASS_SA && mad_is_response(mad) &&
	       LAYOUT_GET(mad_hdr, mad, tid) >> 32 == CM_KERNEL_TID;
}

void umad_to_supervisor(struct seg *s, uint32_t port, const struct umad_pkt *p, uint64_t late_ns)
{
	struct cm_pkt pkt = {
		.port = port,
		.from = p->from,
		.slid = p->slid,
		.dlid = p->dlid,
		.sl = p->sl,
		.qpn = p->qpn,
		.pkey_index = (uint16_t)p->pkey_index,
		.grh = p->grh,
		.gid_kind = p->gid_kind,
		.hop_limit = p->hop_limit,
		.traffic_class = p->traffic_class,
		.flow_label = p->flow_label,
		.again = p->again,
		.late_ns = late_ns,
		.turns = p->turns,
	};

	pkt.answer_hops = umad_answer_hops(hw_port(s, port), p->gid_kind, p->sgid);
	memcpy(pkt.sgid, p->sgid, 16);
	memcpy(pkt.dgid, p->dgid, 16);
	memcpy(pkt.mad, p->mad, MAD_SIZE);
	if (s->gmp)
		s->gmp(s, &pkt);
	else
		link_gmp(s, &pkt, sizeof(pkt));
}

bool umad_kernel(struct seg *s, uint32_t port, const struct umad_pkt *p)
{
	if (!for_kernel(p->mad))
		return false;
	umad_seen(s, "taken by the connection manager", port, p);
	umad_to_supervisor(s, port, p, 0);
	return true;
}
