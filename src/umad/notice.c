/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns sending the nodes' notices to the subnet manager, and its reports to subscribers: at the end
 * of the write() that caused them, and in the supervisor for other causes and repetitions.
 */
#include "umad/priv.h"

#include <string.h>
#include "fabric/notice.h"
#include "hw/port.h"

/* A trap, from QP0, or a report of the built-in SA, from QP1. */
static void umad_notice_send(struct seg *s, uint32_t port, uint32_t dlid, const uint8_t *mad)
{
	const struct hw_port *from = hw_port(s, port);
	struct umad_pkt p = {0};

	if (!from)
		return;
	p.from = port;
	p.slid = (uint16_t)from->lid;
	p.dlid = (uint16_t)dlid;
	if (mad_is_smi(LAYOUT_GET32(mad_hdr, mad, mgmt_class)))
		p.sl = (uint8_t)from->sm_sl;
	else
		p.qpn = p.dst_qpn = 1;
	p.send = SEG_NONE;
	p.recv = SEG_NONE;
	memcpy(p.mad, mad, MAD_SIZE);
	umad_route(s, &p);
}

uint64_t umad_traps_run(struct seg *s)
{
	return fab_notices_run(s, umad_notice_send);
}

void umad_traps_new(struct seg *s)
{
	if (atomic_load_explicit(&fab_subnet(s)->notices, memory_order_relaxed))
		umad_traps_run(s);
}
