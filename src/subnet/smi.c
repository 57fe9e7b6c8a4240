/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the forwarding of subnet management packets: by LID, and hop by hop along the path in a
 * directed-route packet, whose hop pointer and return path it maintains (IBA 14.2.2). Calls the
 * segment only; src/umad calls it, in the sender's thread.
 *
 * Links only need to be up: VL15 works without a subnet manager.
 */
#include "fabric/count.h"
#include "fabric/fabric.h"

#include "hw/port.h"
#include "subnet/subnet.h"
#include "wire/mad/mad.h"

/* Where a packet continues from a node: a port (from 1 on), or one of these. */
enum { LOST = -1, HERE = -2, BY_LID = -3 };

struct way {
	struct seg *s;
	struct fab_smp *p;
	/* Element 0 of each table. Their data about a subnet never moves. */
	const struct hw_port *ports;
	const struct fab_node *nodes;
	struct fab_ctr *ctrs;
	uint32_t via; /* SEG_T_PORT index of the port where the packet last arrived */
};

static bool is_open(const uint8_t *lid)
{
	return be16_load(lid) == MAD_LID_PERMISSIVE;
}

static uint8_t *path_field(uint8_t *mad, uint32_t bit)
{
	return mad + bit / 8;
}
#define HOP_PTR(mad) (*path_field((mad), LF_smp_hop_ptr_BIT))
#define HOP_CNT(mad) (*path_field((mad), LF_smp_hop_cnt_BIT))
#define DR_SLID(mad) path_field((mad), LF_smp_dr_slid_BIT)
#define DR_DLID(mad) path_field((mad), LF_smp_dr_dlid_BIT)

/* Outbound; `in`: the port of this node where it arrived, 0: by LID. C14-9 */
static int forth(uint8_t *mad, bool is_switch, uint32_t in)
{
	uint32_t ptr = HOP_PTR(mad), cnt = HOP_CNT(mad);

	if (ptr == cnt + 1)
		return HERE;
	if (ptr > cnt)
		return LOST;
	if (ptr == cnt) {
		if (cnt)
			mad[SMP_RETURN_PATH + ptr] = (uint8_t)in;
		HOP_PTR(mad) = (uint8_t)(ptr + 1);
		return is_open(DR_DLID(mad)) ? HERE : is_switch ? BY_LID : LOST;
	}
	/* If it arrived by LID, its directed part starts here; else its sender has started it. */
	if (!is_switch || (!ptr && in))
		return LOST;
	if (ptr)
		mad[SMP_RETURN_PATH + ptr] = (uint8_t)in;
	HOP_PTR(mad) = (uint8_t)(ptr + 1);
	return mad[SMP_INITIAL_PATH + ptr + 1] ? mad[SMP_INITIAL_PATH + ptr + 1] : LOST;
}

/* Inbound, back to the requester. C14-13 */
static int back(uint8_t *mad, bool is_switch, bool made_here)
{
	uint32_t ptr = HOP_PTR(mad), cnt = HOP_CNT(mad);

	if (!ptr)
		return HERE;
	if (ptr > cnt + 1)
		return LOST;
	HOP_PTR(mad) = (uint8_t)(ptr - 1);
	if (ptr == 1)
		return is_open(DR_SLID(mad)) ? HERE : is_switch ? BY_LID : LOST;
	if (ptr <= cnt && !is_switch)
		return LOST;
	if (ptr == cnt + 1 && !is_switch && !made_here)
		return LOST;
	return mad[SMP_RETURN_PATH + ptr - 1] ? mad[SMP_RETURN_PATH + ptr - 1] : LOST;
}

static int next_port(uint8_t *mad, bool is_switch, uint32_t in, bool made_here)
{
	if (HOP_CNT(mad) >= MAD_MAX_HOPS)
		return LOST;
	if (LAYOUT_GET(smp, mad, d))
		return back(mad, is_switch, made_here);
	return forth(mad, is_switch, in);
}

static void passed(struct seg *s, uint32_t out, uint32_t in, void *arg)
{
	struct way *w = arg;

	w->via = in;
	if (w->p->hop)
		w->p->hop(s, out, in, w->p->arg);
}

static uint32_t smi_lost(struct way *w, uint32_t at, const char *why)
{
	w->p->lost_at = at;
	w->p->lost_why = why;
	return SEG_NONE;
}

/* By LID: the port where it arrives; on a switch not its port 0. */
static uint32_t by_lid(struct way *w, uint32_t from, uint16_t dlid)
{
	uint32_t at;

	w->via = SEG_NONE;
	at = fab_walk(w->s, from, dlid, IB_PORT_INIT, passed, w);
	if (at == SEG_NONE)
		smi_lost(w, w->via == SEG_NONE ? from : w->via,
			 "inwards: no route to its LID from there, or a link on it is down");
	return at == SEG_NONE || w->via == SEG_NONE ? at : w->via;
}

static uint32_t over_link(struct way *w, uint32_t out)
{
	const struct hw_port *p = &w->ports[out];
	uint32_t at = atomic_load_explicit(&p->peer, memory_order_acquire);

	if (at == SEG_NONE || p->phys_state != IB_PHYS_LINK_UP ||
	    w->ports[at].phys_state != IB_PHYS_LINK_UP)
		return smi_lost(w, out, "outwards: its link is down");
	if (w->p->hop == fab_count_mad)
		atomic_fetch_add_explicit(&w->ctrs[out].smps, 1, memory_order_relaxed);
	else if (w->p->hop)
		w->p->hop(w->s, out, at, w->p->arg);
	return at;
}

/* A directed-route packet at port `at`: it arrived over its link or by LID, or was made there. */
static uint32_t direct(struct way *w, uint32_t at, bool linked, bool made_here)
{
	struct fab_smp *p = w->p;

	while (at != SEG_NONE) {
		const struct hw_port *port = &w->ports[at];
		const struct fab_node *n = &w->nodes[port->node];
		bool sw = n->type == FAB_SWITCH;
		int go = next_port(p->mad, sw, linked ? port->num : 0, made_here);

		if (go == HERE)
			return at;
		if (go == BY_LID) {
			p->slid = (uint16_t)hw_port(w->s, n->port0)->lid;
			p->dlid = be16_load(LAYOUT_GET(smp, p->mad, d) ? DR_SLID(p->mad)
								       : DR_DLID(p->mad));
			at = by_lid(w, n->port0, p->dlid);
			linked = false;
		} else {
			if (go < 0 || (uint32_t)go > n->nports ||
			    (!sw && (uint32_t)go != port->num))
				return smi_lost(w, at,
						"inwards: the directed route names no port that "
						"leads on from its node");
			p->slid = p->dlid = MAD_LID_PERMISSIVE;
			at = over_link(w, n->port0 + (uint32_t)go);
			linked = true;
		}
		made_here = false;
	}
	return SEG_NONE;
}

static struct way smi_way_of(struct seg *s, struct fab_smp *p)
{
	return (struct way){
		.s = s,
		.p = p,
		.ports = seg_at(s, SEG_T_PORT, 0),
		.nodes = seg_at(s, SEG_T_NODE, 0),
		.ctrs = seg_at(s, SEG_T_CTR, 0),
	};
}

uint32_t fab_smp_send(struct seg *s, uint32_t from, struct fab_smp *p)
{
	struct way w = smi_way_of(s, p);
	bool linked = p->dlid == MAD_LID_PERMISSIVE;
	uint32_t at = linked ? over_link(&w, from) : by_lid(&w, from, p->dlid);

	if (LAYOUT_GET(mad_hdr, p->mad, mgmt_class) != MAD_CLASS_SUBN_DR)
		return at;
	return direct(&w, at, linked, false);
}

uint32_t fab_smp_answer(struct seg *s, uint32_t at, struct fab_smp *p)
{
	struct way w = smi_way_of(s, p);
	uint32_t from = fab_own_port(s, at);
	uint16_t dlid = p->slid;

	p->slid = (uint16_t)hw_port(s, from)->lid;
	p->dlid = dlid;
	if (LAYOUT_GET(mad_hdr, p->mad, mgmt_class) != MAD_CLASS_SUBN_DR)
		return by_lid(&w, from, dlid);
	if (is_open(DR_DLID(p->mad)))
		return direct(&w, at, false, true);
	return direct(&w, by_lid(&w, from, dlid), false, false);
}
