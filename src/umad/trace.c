/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * MADs as trace lines, and as packets of a capture. Called by the rest of src/umad while these are
 * on.
 */
#include "umad/priv.h"

#include <string.h>
#include <time.h>
#include "fabric/eth.h"
#include "fabric/fabric.h"
#include "fabric/roce.h"
#include "hw/hca.h"
#include "hw/port.h"
#include "util/clock.h"
#include "util/fmt.h"
#include "util/log.h"
#include "util/rec.h"
#include "wire/mad/names.h"

/* The address of an end: a LID, or a MAC address. */
static void rec_end_of(struct rec *r, const char *lid, const char *mac, uint32_t addr)
{
	uint8_t m[6];
	char text[24];

	if (!fab_is_eth_addr(addr)) {
		rec_u(r, lid, addr);
		return;
	}
	if (fab_eth_port(addr) == SEG_NONE)
		return; /* nobody's */
	fab_eth_mac(fab_eth_port(addr), m);
	fmt(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4],
	    m[5]);
	rec_s(r, mac, text);
}

void umad_trace(struct seg *s, const char *what, uint32_t port, const struct umad_pkt *p,
		const char *why)
{
	char name[FAB_PORT_NAME], title[64];
	struct rec r;

	rec_begin(&r, LOG_MAD, what, 0);
	rec_say(&r, "mad", " ", mad_title(p->mad, title, sizeof(title)));
	rec_about(&r, title);
	r.failed = (why && strcmp(what, "received") != 0) ||
		   LAYOUT_GET(mad_hdr, p->mad, status) & ~MAD_STATUS_D;
	rec_group(&r, "at", " (");
	rec_s(&r, "port", fab_port_name(s, port, name));
	if (LAYOUT_GET(mad_hdr, p->mad, mgmt_class) != MAD_CLASS_SUBN_DR ||
	    p->dlid != MAD_LID_PERMISSIVE) {
		rec_end_of(&r, "slid", "smac", p->slid);
		rec_end_of(&r, "dlid", "dmac", p->dlid);
	}
	if (p->qpn)
		rec_u(&r, "qpn", p->dst_qpn);
	mad_rec(&r, p->mad);
	rec_group_end(&r, ")");
	if (why)
		rec_say(&r, "reason", ": ", why);
	rec_end(&r);
}

void umad_trace_timeout(struct seg *s, const struct mad_send *m)
{
	const struct ib_user_mad_hdr *h = (const struct ib_user_mad_hdr *)m->hdr;
	const struct hw_port *port = hw_port(s, m->port);
	struct umad_pkt p = {.from = m->port, .dlid = be16_load(&h->lid)};

	p.slid = fab_port_addr(s, m->port);
	if (hw_port_is_eth(port))
		umad_eth_dest(s, m->port, *hw_gid_kind_at(port, h->gid_index),
			      hw_gid(port, h->gid_index), h->gid, &p.dlid);
	p.dst_qpn = p.qpn = be32_load(&h->qpn);
	memcpy(p.mad, m->mad, MAD_SIZE);
	umad_trace(s, "timed out", m->port, &p, "no answer");
}

void umad_trace_message(struct seg *s, const struct mad_agent *a, const struct umad_pkt *p,
			uint32_t len)
{
	char text[48];

	fmt(text, sizeof(text), "a message of %u bytes", len);
	umad_trace(s, "received", a->port, p, text);
}

#define SMP_VL 15
#define GSI_QKEY 0x80010000u
#define UDP_SPORT_MIN 0xc000u /* IB_ROCE_UDP_ENCAP_VALID_PORT_MIN */

/* mlx5_ah_get_udp_sport() */
static uint16_t udp_sport(uint32_t flow_label)
{
	return (uint16_t)(UDP_SPORT_MIN | ((flow_label ^ flow_label >> 14) & ~UDP_SPORT_MIN));
}

static void put_link(const struct hw_port *port, const struct umad_pkt *p, struct pkt *k)
{
	int gid;

	if (!hw_port_is_eth(port)) {
		k->slid = (uint16_t)p->slid;
		k->dlid = (uint16_t)p->dlid;
		return;
	}
	gid = fab_gid_find(port, p->sgid, p->gid_kind);
	k->eth = true;
	fab_eth_mac(p->from, k->smac);
	fab_eth_mac(fab_eth_port(p->dlid), k->dmac);
	k->route.net = (uint8_t)fab_roce_net(port, gid < 0 ? 0 : (uint32_t)gid);
	if (hw_gid_vlan(p->gid_kind))
		k->tci = PKT_TCI(0, hw_gid_vlan(p->gid_kind));
	k->route.udp_sport = udp_sport(p->flow_label);
}

void umad_capture(struct seg *s, const struct umad_pkt *p)
{
	const struct hw_port *port = hw_port(s, p->from);
	uint64_t turn;
	struct seg_cap_rec *rec = port ? cap_get(s, &turn) : NULL;
	struct timespec ts;

	if (!rec)
		return;
	clock_gettime(CLOCK_REALTIME, &ts);
	rec->pkt = (struct pkt){
		.time_ns = (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec,
		.pkey = !p->qpn                    ? 0xffff
			: p->pkey_index < HW_PKEYS ? port->pkey[p->pkey_index]
						   : 0,
		.sl = p->sl,
		.vl = p->qpn ? 0 : SMP_VL,
		.opcode = PKT_UD | PKT_SEND_ONLY,
		.port = (uint8_t)port->num,
		.route = {.net = p->grh ? PKT_NET_GRH : PKT_NET_NONE,
			  .hop_limit = p->hop_limit,
			  .tclass = p->traffic_class,
			  .flow_label = p->flow_label},
		.dest_qpn = p->dst_qpn,
		.src_qpn = p->qpn,
		.qkey = p->qpn ? GSI_QKEY : 0,
		.payload = MAD_SIZE,
		.kept = cap_snap(s, MAD_SIZE),
	};
	put_link(port, p, &rec->pkt);
	memcpy(rec->pkt.route.sgid, p->sgid, 16);
	memcpy(rec->pkt.route.dgid, p->dgid, 16);
	memcpy(rec->payload, p->mad, rec->pkt.kept);
	cap_put(rec, turn);
}
