/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns sending the answers of the built-in subnet administration: as a MAD, or an RMPP message.
 * Called where a MAD arrives; subnet/sa.h makes the answers.
 */
#include "hw/world.h"
#include "subnet/sa.h"
#include "subnet/subnet.h"
#include "umad/priv.h"

#include <string.h>

#define WINDOW 64 /* window_size(), as in rmpp_recv.c */

/*
 * ib_process_rmpp_recv_wc(): what the kernel's RMPP of the manager's host takes before the SA sees
 * it: ACKs of messages that have ended, the window of one that has not begun, and what it does not
 * understand, which it aborts (nack_recv()). True: it is that. A request that is a message
 * (GetMulti) fits into one segment, which the kernel acknowledges.
 */
static bool is_only_rmpp(struct seg *s, uint32_t port, const struct umad_pkt *p)
{
	const uint8_t *in = p->mad;
	struct mad_agent a = {.port = port};
	uint32_t status = MAD_RMPP_STATUS_BADT;

	if (!fab_sm_here(s, port) || mad_is_response(in) ||
	    !(LAYOUT_GET(mad_rmpp, in, flags) & MAD_RMPP_ACTIVE))
		return false;
	if (LAYOUT_GET(mad_rmpp, in, rmpp_version) != 1)
		status = MAD_RMPP_STATUS_UNV;
	else
		switch (LAYOUT_GET(mad_rmpp, in, rmpp_type)) {
		case MAD_RMPP_TYPE_DATA:
			umad_rmpp_reply(s, &a, p, in, MAD_RMPP_TYPE_ACK, 0, 1, 1 + WINDOW);
			return false;
		case MAD_RMPP_TYPE_ACK:
		case MAD_RMPP_TYPE_STOP:
		case MAD_RMPP_TYPE_ABORT:
			return true;
		}
	umad_rmpp_reply(s, &a, p, in, MAD_RMPP_TYPE_ABORT, status, 0, 0);
	return true;
}

static bool answer_now(struct seg *s, uint32_t port, struct umad_pkt *p, bool *reply)
{
	struct fab_sa_answer a;
	struct seg_chain data = {0};
	uint32_t owner;

	switch (fab_sa(s, port, p->from, p->mad, &a)) {
	case FAB_MAD_PASS:
		return false;
	case FAB_MAD_CONSUMED:
		return true;
	case FAB_MAD_REPLY:
		break;
	}
	if (!a.rmpp) {
		memcpy(p->mad, a.mad, MAD_SIZE);
		*reply = true;
		return true;
	}
	owner = umad_answer_owner(s, p);
	if (!chain_append(s, owner, &data, a.data, a.len)) {
		umad_rmpp_answer(s, port, p, a.mad, &data);
	} else {
		chain_free(s, &data);
		LAYOUT_SET(mad_hdr, a.mad, status, SA_STATUS_NO_RESOURCES);
		memcpy(p->mad, a.mad, MAD_SIZE);
		*reply = true;
	}
	fab_sa_free(&a);
	return true;
}

bool umad_sa(struct seg *s, uint32_t port, struct umad_pkt *p, bool *reply)
{
	*reply = false;
	if (LAYOUT_GET(mad_hdr, p->mad, mgmt_class) != MAD_CLASS_SA || p->qpn != 1)
		return false;
	if (is_only_rmpp(s, port, p))
		return true;
	if (!hw_setting(s, HW_SET_SA_MS) || !fab_sm_here(s, port) || !fab_sa_is_request(p->mad))
		return answer_now(s, port, p, reply);
	umad_seen(s, "waits for the manager", port, p);
	umad_to_supervisor(s, port, p, 0);
	return true;
}

bool umad_is_sa_request(const struct cm_pkt *pkt)
{
	return LAYOUT_GET(mad_hdr, pkt->mad, mgmt_class) == MAD_CLASS_SA &&
	       fab_sa_is_request(pkt->mad);
}

/* Its sender may be gone: the elements of a long answer belong to no file (umad_answer_owner()). */
void umad_sa_late(struct seg *s, const struct cm_pkt *pkt)
{
	struct umad_pkt p;
	bool reply = false;

	if (!hw_port(s, pkt->port) || !hw_port(s, pkt->from))
		return;
	umad_pkt_of(pkt, pkt->from, &p);
	if (answer_now(s, pkt->port, &p, &reply) && reply)
		umad_answer(s, pkt->port, &p, p.mad);
}
