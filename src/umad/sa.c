/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns sending the answers of the built-in subnet administration: as a MAD, or an RMPP message.
 * Called where a MAD arrives; subnet/sa.h makes the answers.
 */
#include "subnet/sa.h"
#include "umad/priv.h"

#include <string.h>

bool umad_sa(struct seg *s, uint32_t port, struct umad_pkt *p, bool *reply)
{
	struct fab_sa_answer a;
	struct seg_chain data = {0};
	uint32_t owner;

	*reply = false;
	if (LAYOUT_GET(mad_hdr, p->mad, mgmt_class) != MAD_CLASS_SA || p->qpn != 1)
		return false;
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
