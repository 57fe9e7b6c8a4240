/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the path of a MAD: out of its port, through the fabric, to the agent that takes it, and its
 * answer back, all in the sender's thread. The rules at the destination port are those of
 * ib_mad_recv_done() in mad.c.
 */
#include "umad/priv.h"

#include <errno.h>
#include <string.h>
#include "fabric/count.h"
#include "fabric/eth.h"
#include "fabric/fabric.h"
#include "subnet/mad.h"
#include "fabric/notice.h"
#include "fabric/path.h"
#include "fault/fault.h"
#include "hw/hca.h"
#include "hw/port.h"
#include "subnet/subnet.h"
#include "util/fmt.h"
#include "util/log.h"
#include "wire/ib/pkey.h"

/* ---- at the destination port */

/* mad.c, validate_mad() */
static bool route_valid(const struct umad_pkt *p)
{
	uint32_t class = LAYOUT_GET32(mad_hdr, p->mad, mgmt_class);

	if (LAYOUT_GET(mad_hdr, p->mad, base_version) != MAD_BASE_VERSION)
		return false;
	if (mad_is_smi(class))
		return p->qpn == 0;
	if (class == MAD_CLASS_CM &&
	    LAYOUT_GET(mad_hdr, p->mad, attr_id) != MAD_ATTR_CLASS_PORT_INFO &&
	    LAYOUT_GET(mad_hdr, p->mad, method) != MAD_METHOD_SEND)
		return false;
	return p->qpn != 0;
}

/*
 * Index of the sender's P_Key in the receiver's table: the same partition, at least one full
 * member.
 */
static bool pkey_arrives(const struct hw_port *from, const struct hw_port *to, uint32_t *index)
{
	uint16_t sent = *index < HW_PKEYS ? from->pkey[*index] : 0;

	for (uint32_t i = 0; i < HW_PKEYS; i++)
		if (ib_pkey_match(sent, to->pkey[i])) {
			*index = i;
			return true;
		}
	return false;
}

void umad_lost(struct seg *s, const struct umad_pkt *p, const char *why)
{
	if (TRACE_ON(LOG_MAD))
		umad_trace(s, "lost", p->from, p, why);
}

/* Give a MAD to a program's agent: mad.c, ib_mad_complete_recv(). */
static void give(struct seg *s, uint32_t idx, struct mad_agent *a, struct umad_pkt *p)
{
	bool active = LAYOUT_GET(mad_rmpp, p->mad, flags) & MAD_RMPP_ACTIVE;
	bool rmpp = active && mad_has_rmpp(LAYOUT_GET32(mad_hdr, p->mad, mgmt_class));
	uint64_t send = 0;

	if (active && umad_kernel_rmpp(a))
		umad_rmpp_arrived(s, idx, a, p);
	else if (mad_is_response(p->mad) && !umad_send_match(s, idx, a, p, &send) && !rmpp)
		umad_lost(s, p, "an answer to no request");
	else if (umad_req_keep(p))
		umad_lost(s, p, "no room to remember the request");
	/* no space: the send is answered all the same */
	else if (umad_deliver(s, a, p, send) == -ETIMEDOUT)
		umad_req_reopen(p);
	umad_send_done(s, send);
}

/* Turn *p into the answer to itself, with a new header, leaving the port that it arrived at. */
static void turn(struct seg *s, uint32_t port, struct umad_pkt *p)
{
	uint32_t slid = p->slid;
	uint8_t gid[16];

	p->from = port;
	p->slid = fab_port_addr(s, port);
	p->dlid = slid;
	memcpy(gid, p->dgid, 16);
	memcpy(p->dgid, p->sgid, 16);
	memcpy(p->sgid, gid, 16);
}

void umad_answer(struct seg *s, uint32_t port, const struct umad_pkt *p, const uint8_t *mad)
{
	struct umad_pkt back = *p;

	turn(s, port, &back);
	back.turns++;
	memcpy(back.mad, mad, MAD_SIZE);
	umad_route(s, &back);
}

/* mad.c, generate_unmatched_resp() */
static bool route_refuse(struct seg *s, struct umad_pkt *p)
{
	uint64_t method = LAYOUT_GET(mad_hdr, p->mad, method);

	if (method != MAD_METHOD_GET && method != MAD_METHOD_SET) {
		umad_lost(s, p, "nobody is registered for it");
		return false;
	}
	LAYOUT_SET(mad_hdr, p->mad, method, MAD_METHOD_GET_RESP);
	LAYOUT_SET(mad_hdr, p->mad, status, MAD_STATUS_BAD_ATTR);
	if (LAYOUT_GET(mad_hdr, p->mad, mgmt_class) == MAD_CLASS_SUBN_DR)
		LAYOUT_SET(smp, p->mad, d, 1);
	return true;
}

static void bad_pkey(struct seg *s, uint32_t port, const struct umad_pkt *p)
{
	const struct fab_bad_key k = {
		.lid1 = p->slid,
		.lid2 = p->dlid,
		.key = p->pkey_index < HW_PKEYS ? hw_port(s, p->from)->pkey[p->pkey_index] : 0,
		.sl = p->sl & 0xf,
		.qp1 = p->qpn,
		.qp2 = p->dst_qpn & 0xffffff,
		.gid1 = p->grh ? p->sgid : NULL,
		.gid2 = p->grh ? p->dgid : NULL,
	};

	fab_count(s, port, HW_CTR_PKEY_VIOL, 1);
	fab_notice_key(s, port, TRAP_BAD_PKEY, &k);
}

/*
 * The values that the receiver takes from the headers: ib_init_ah_attr_from_wc() of verbs.c reads
 * traffic class and flow label from a GRH's first word, which is zero before an IPv4 header.
 */
static void read_headers(const struct hw_port *to, struct umad_pkt *p)
{
	p->sl = umad_arriving_sl(to, p->gid_kind, p->sl);
	if (umad_over_ipv4(p)) {
		p->traffic_class = 0;
		p->flow_label = 0;
	}
}

static void lost_pkey(struct seg *s, uint32_t port, const struct umad_pkt *p)
{
	const struct hw_port *from = hw_port(s, p->from);
	char text[FAB_PORT_NAME + 80], name[FAB_PORT_NAME];

	fmt(text, sizeof(text), "at port %s, inwards: its table has no match for P_Key 0x%x",
	    fab_port_name(s, port, name), p->pkey_index < HW_PKEYS ? from->pkey[p->pkey_index] : 0);
	umad_lost(s, p, text);
}

/* Does the port let it in? */
static bool enters(struct seg *s, uint32_t port, struct umad_pkt *p)
{
	if (p->dst_qpn != p->qpn || !route_valid(p)) {
		umad_lost(s, p, "not for this queue pair");
		return false;
	}
	if (!umad_gid_arrives(hw_port(s, port), p)) {
		umad_lost(s, p, "the GID is not that of the port");
		return false;
	}
	read_headers(hw_port(s, port), p);
	if (!p->qpn)
		p->pkey_index = 0;
	else if (!pkey_arrives(hw_port(s, p->from), hw_port(s, port), &p->pkey_index)) {
		bad_pkey(s, port, p);
		lost_pkey(s, port, p);
		return false;
	}
	return true;
}

bool umad_take(struct seg *s, uint32_t port, struct umad_pkt *p)
{
	uint8_t out[MAD_SIZE];
	struct mad_agent *a;
	uint32_t idx;
	bool reply;

	switch (fab_mad(s, port, (uint16_t)p->slid, p->mad, out)) {
	case FAB_MAD_REPLY:
		memcpy(p->mad, out, MAD_SIZE);
		return true;
	case FAB_MAD_CONSUMED:
		umad_seen(s, "taken without an answer", port, p);
		return false;
	case FAB_MAD_PASS:
		break;
	}
	if (umad_rmpp_own(s, port, p))
		return false;
	if (umad_sa(s, port, p, &reply))
		return reply;
	a = umad_agent_find(s, port, p->mad, &idx);
	if (a) {
		give(s, idx, a, p);
		return false;
	}
	if (umad_kernel(s, port, p))
		return false;
	if (!mad_is_response(p->mad))
		return route_refuse(s, p);
	umad_lost(s, p, "an answer to nobody");
	return false;
}

/* As umad_take(). */
static bool arrive(struct seg *s, uint32_t port, struct umad_pkt *p)
{
	bool reply;

	if (!enters(s, port, p))
		return false;
	if ((fault_waits(s, HW_AT_MAD) || fault_waits(s, HW_AT_CM)) &&
	    umad_fault(s, port, p, &reply))
		return reply;
	return umad_take(s, port, p);
}

/*
 * The port that a GMP reaches by the forwarding tables, as data does. A MAD from a port to itself
 * is not counted.
 */
static uint32_t carry_gmp(struct seg *s, const struct umad_pkt *p)
{
	const struct hw_port *from = hw_port(s, p->from);
	struct fab_pkts k = {.n = 1,
			     .words = p->grh ? FAB_MAD_GRH_WORDS : FAB_MAD_WORDS,
			     .payload = MAD_SIZE,
			     .pkey = p->pkey_index < HW_PKEYS ? from->pkey[p->pkey_index] : 0};
	char text[FAB_PORT_NAME + 80];
	struct fab_path path;

	fab_path(s, p->from, p->dlid, &path);
	if (path.to != p->from)
		fab_path_count(s, &path, &k);
	if (fab_path_passes(s, &path, &k))
		return path.to;
	if (TRACE_ON(LOG_MAD)) {
		fab_path_say(s, &path, &k, text, sizeof(text));
		umad_lost(s, p, text);
	}
	return SEG_NONE;
}

static void lost_smp(struct seg *s, const struct umad_pkt *p, const struct fab_smp *smp)
{
	char text[FAB_PORT_NAME + 120], name[FAB_PORT_NAME];

	if (!TRACE_ON(LOG_MAD))
		return;
	fmt(text, sizeof(text), "at port %s, %s", fab_port_name(s, smp->lost_at, name),
	    smp->lost_why ? smp->lost_why : "inwards: a link is down");
	umad_lost(s, p, text);
}

/* The port that a MAD reaches from its port or, with `at` (where an SMP ended), as the answer. */
static uint32_t carry(struct seg *s, struct umad_pkt *p, uint32_t at)
{
	struct fab_smp smp = {.mad = p->mad,
			      .slid = (uint16_t)p->slid,
			      .dlid = (uint16_t)p->dlid,
			      .hop = fab_count_mad,
			      .lost_at = p->from};
	uint32_t port;

	umad_leaves(s, p);
	if (p->qpn) {
		port = carry_gmp(s, p);
	} else {
		port = at == SEG_NONE ? fab_smp_send(s, p->from, &smp)
				      : fab_smp_answer(s, at, &smp);
		p->slid = smp.slid;
		p->dlid = smp.dlid;
	}
	if (port == SEG_NONE && !p->qpn)
		lost_smp(s, p, &smp);
	return port;
}

/* The answer of `port` leaves. */
static void go_back(struct seg *s, uint32_t port, struct umad_pkt *p)
{
	if (p->qpn)
		turn(s, port, p);
	p->from = port;
	port = carry(s, p, port);
	if (port != SEG_NONE)
		arrive(s, port, p);
}

/* Bring the MAD to its destination, and the answer back, if the port has one. */
void umad_route(struct seg *s, struct umad_pkt *p)
{
	uint32_t port = carry(s, p, SEG_NONE);

	if (port != SEG_NONE && arrive(s, port, p))
		go_back(s, port, p);
}

void umad_late(struct seg *s, const struct cm_pkt *pkt)
{
	struct umad_pkt p;

	if (!hw_port(s, pkt->port) || !hw_port(s, pkt->from))
		return;
	umad_pkt_of(pkt, pkt->from, &p);
	p.qpn = pkt->qpn;
	if (umad_take(s, pkt->port, &p))
		go_back(s, pkt->port, &p);
}

/* ---- directed routes */

/* smi.c, smi_handle_dr_smp_send() for a channel adapter; false: the SMP is discarded. */
static bool direct_step(uint8_t *mad, uint32_t port_num)
{
	uint64_t ptr = LAYOUT_GET(smp, mad, hop_ptr), cnt = LAYOUT_GET(smp, mad, hop_cnt);
	bool back = LAYOUT_GET(smp, mad, d);
	bool open = (back ? LAYOUT_GET(smp, mad, dr_slid) : LAYOUT_GET(smp, mad, dr_dlid)) ==
		    MAD_LID_PERMISSIVE;

	if (cnt >= MAD_MAX_HOPS)
		return false;
	if (!back) {
		if (cnt && !ptr) {
			LAYOUT_SET(smp, mad, hop_ptr, 1);
			return mad[SMP_INITIAL_PATH + 1] == port_num;
		}
		if (ptr && ptr < cnt)
			return false;
		if (ptr != cnt)
			return ptr == cnt + 1;
		LAYOUT_SET(smp, mad, hop_ptr, ptr + 1);
		return open;
	}
	if (cnt && ptr == cnt + 1) {
		LAYOUT_SET(smp, mad, hop_ptr, cnt);
		return mad[SMP_RETURN_PATH + cnt] == port_num;
	}
	if (ptr >= 2 && ptr <= cnt)
		return false;
	if (ptr == 1)
		LAYOUT_SET(smp, mad, hop_ptr, 0);
	return ptr == 1 ? open : !ptr;
}

/* smi_check_local_smp(), smi_check_local_returning_smp() */
static bool is_local(const uint8_t *mad)
{
	uint64_t ptr = LAYOUT_GET(smp, mad, hop_ptr), cnt = LAYOUT_GET(smp, mad, hop_cnt);

	return LAYOUT_GET(smp, mad, d) ? !ptr : ptr == cnt + 1;
}

int umad_direct(struct seg *s, struct umad_pkt *p, const struct mad_agent *a)
{
	bool back = LAYOUT_GET(smp, p->mad, d);
	bool starts = (back ? LAYOUT_GET(smp, p->mad, dr_dlid)
			    : LAYOUT_GET(smp, p->mad, dr_slid)) == MAD_LID_PERMISSIVE;
	uint16_t slid = LAYOUT_GET16(smp, p->mad, dr_slid);
	struct umad_pkt in = *p;
	uint8_t out[MAD_SIZE];
	uint32_t idx;

	if (starts && !direct_step(p->mad, hw_port(s, p->from)->num))
		return -EINVAL;
	if (!is_local(p->mad))
		return 0;
	umad_leaves(s, p);
	/* mad.c, local_completions(): such a MAD has no source; an answer needs no open request. */
	in.qpn = 0;
	in.slid = MAD_LID_PERMISSIVE;
	in.sl = 0;
	in.grh = false;
	memcpy(in.mad, p->mad, MAD_SIZE);
	switch (fab_mad(s, p->from, slid, p->mad, out)) {
	case FAB_MAD_REPLY:
		memcpy(in.mad, out, MAD_SIZE);
		umad_deliver(s, a, &in, 0);
		break;
	case FAB_MAD_CONSUMED:
		break;
	case FAB_MAD_PASS:
		a = umad_agent_find(s, p->from, p->mad, &idx);
		if (a)
			umad_deliver(s, a, &in, 0);
		break;
	}
	return 1;
}
