/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* MADs as lines of the trace. Called by the rest of src/umad when the topic is on. */
#include "umad/priv.h"

#include <string.h>
#include "fabric/fabric.h"
#include "util/log.h"
#include "util/rec.h"
#include "wire/mad/names.h"

void umad_trace(struct seg *s, const char *what, uint32_t port, const struct umad_pkt *p,
		const char *why)
{
	char name[FAB_PORT_NAME], title[64];
	struct rec r;

	rec_begin(&r, LOG_MAD, what, 0);
	rec_say(&r, "mad", " ", mad_title(p->mad, title, sizeof(title)));
	rec_group(&r, "at", " (");
	rec_s(&r, "port", fab_port_name(s, port, name));
	if (LAYOUT_GET(mad_hdr, p->mad, mgmt_class) != MAD_CLASS_SUBN_DR ||
	    p->dlid != MAD_LID_PERMISSIVE) {
		rec_u(&r, "slid", p->slid);
		rec_u(&r, "dlid", p->dlid);
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
	struct umad_pkt p = {.from = m->port, .dlid = be16_load(&h->lid)};

	p.slid = (uint16_t)hw_port(s, m->port)->lid;
	p.dst_qpn = p.qpn = be32_load(&h->qpn);
	memcpy(p.mad, m->mad, MAD_SIZE);
	umad_trace(s, "timed out", m->port, &p, "no answer");
}
