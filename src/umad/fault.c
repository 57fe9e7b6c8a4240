/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns the faults of MADs that rules of --inject make: where a MAD has arrived, before it is taken.
 */
#include "umad/priv.h"

#include <string.h>
#include "fault/fault.h"
#include "hw/hca.h"
#include "util/bits.h"
#include "wire/mad/cm.h"

static struct fault_end end_of(struct seg *s, uint32_t port)
{
	const struct hw_port *p = hw_port(s, port);

	return (struct fault_end){
		.proc = SEG_NONE, .hca = p->hca, .port = p->num, .lid = p->lid & UINT16_MAX};
}

/* ACK, STOP or ABORT of a long message: nobody asks for these. */
static bool is_only_rmpp(const uint8_t *mad)
{
	return mad_has_rmpp(LAYOUT_GET32(mad_hdr, mad, mgmt_class)) &&
	       (LAYOUT_GET(mad_rmpp, mad, flags) & MAD_RMPP_ACTIVE) &&
	       LAYOUT_GET(mad_rmpp, mad, rmpp_type) != MAD_RMPP_TYPE_DATA;
}

/* Which one of a long message; 0: the MAD is none. */
static uint32_t segment_of(const uint8_t *mad)
{
	return mad_has_rmpp(LAYOUT_GET32(mad_hdr, mad, mgmt_class)) &&
			       (LAYOUT_GET(mad_rmpp, mad, flags) & MAD_RMPP_ACTIVE)
		       ? LAYOUT_GET32(mad_rmpp, mad, segment)
		       : 0;
}

static bool hit(struct seg *s, uint32_t port, const struct umad_pkt *p, struct hw_fault_effect *e)
{
	const uint8_t *mad = p->mad;
	struct fault_moment m = {
		.at = HW_AT_CM,
		.id = LAYOUT_GET32(mad_hdr, mad, attr_id),
		.mad_class = LAYOUT_GET32(mad_hdr, mad, mgmt_class),
		.method = LAYOUT_GET32(mad_hdr, mad, method),
		.end = {end_of(s, p->from), end_of(s, port)},
		.again = p->again,
	};

	m.answered = mad_answer_method(m.method);
	m.message = bits_mix(
		LAYOUT_GET(mad_hdr, mad, tid) ^
		bits_mix((uint64_t)p->from << 32 | m.method << 24 | m.mad_class << 16 | m.id) ^
		bits_mix(segment_of(mad)));
	if (m.mad_class == MAD_CLASS_CM && m.method == MAD_METHOD_SEND &&
	    fault_waits(s, HW_AT_CM) && fault_hit(s, &m, e))
		return true;
	m.at = HW_AT_MAD;
	return fault_waits(s, HW_AT_MAD) && fault_hit(s, &m, e);
}

static void hold(struct seg *s, uint32_t port, struct umad_pkt *p, uint64_t ns)
{
	/* Its answer comes after the write: the request must be known by then. */
	if (umad_req_keep(p)) {
		umad_lost(s, p, "no room to remember the request");
		return;
	}
	umad_seen(s, "held up by a rule of --inject", port, p);
	umad_to_supervisor(s, port, p, ns ? ns : 1);
}

static void refuse(struct umad_pkt *p, uint32_t status)
{
	uint32_t class = LAYOUT_GET32(mad_hdr, p->mad, mgmt_class);
	uint32_t method = LAYOUT_GET32(mad_hdr, p->mad, method);

	LAYOUT_SET(mad_hdr, p->mad, method, mad_answer_method(method));
	LAYOUT_SET(mad_hdr, p->mad, status, status & UINT16_MAX);
	if (class == MAD_CLASS_SUBN_DR)
		LAYOUT_SET(smp, p->mad, d, 1);
	if (mad_has_rmpp(class))
		LAYOUT_SET(mad_rmpp, p->mad, flags, 0);
}

/* As cm_issue_rej(): it needs only the fields that all messages have. */
static void reject(struct seg *s, uint32_t port, struct umad_pkt *p, uint32_t reason)
{
	const uint8_t *got = p->mad + CM_MSG;
	bool req = LAYOUT_GET(mad_hdr, p->mad, attr_id) == CM_ATTR_REQ;
	uint64_t to = LAYOUT_GET(cm_rej, got, local_comm_id);
	uint64_t from = req ? 0 : LAYOUT_GET(cm_rej, got, remote_comm_id);
	const struct hw_port *at = hw_port(s, port);
	const struct hw_hca *hca = at->hca == SEG_NONE ? NULL : hw_hca(s, at->hca);
	uint8_t *msg = p->mad + CM_MSG;

	LAYOUT_SET(mad_hdr, p->mad, attr_id, CM_ATTR_REJ);
	LAYOUT_SET(mad_hdr, p->mad, attr_mod, 0);
	memset(msg, 0, CM_MSG_SIZE);
	LAYOUT_SET(cm_rej, msg, remote_comm_id, to);
	LAYOUT_SET(cm_rej, msg, local_comm_id, from);
	LAYOUT_SET(cm_rej, msg, message_rejected, req ? CM_MSG_REQ : CM_MSG_REP);
	LAYOUT_SET(cm_rej, msg, reason, reason);
	if (reason == CM_REJ_TIMEOUT && hca) {
		LAYOUT_SET(cm_rej, msg, rejected_info_length, 8);
		be64_store(msg + CM_AT_REJ_ARI, hca->node_guid);
	}
	p->hop_limit = umad_answer_hops(at, p->gid_kind, p->sgid);
}

bool umad_fault(struct seg *s, uint32_t port, struct umad_pkt *p, bool *reply)
{
	struct hw_fault_effect e;
	struct umad_pkt twin;
	uint64_t v;

	*reply = false;
	if (is_only_rmpp(p->mad) || !hit(s, port, p, &e))
		return false;
	if (fault_does(&e, FAULT_MAD_LOST, &v)) {
		umad_lost(s, p, "a rule of --inject");
		return true;
	}
	if (fault_does(&e, FAULT_LATE, &v)) {
		hold(s, port, p, v);
		return true;
	}
	if (fault_does(&e, FAULT_DUPLICATED, &v)) {
		twin = *p;
		umad_take(s, port, &twin);
		return false;
	}
	*reply = true;
	if (fault_does(&e, FAULT_REJECT, &v))
		reject(s, port, p, (uint32_t)v);
	else if (fault_does(&e, FAULT_MAD_STATUS, &v))
		refuse(p, (uint32_t)v);
	return true;
}
