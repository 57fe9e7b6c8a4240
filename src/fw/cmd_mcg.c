/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Multicast groups: the QPs that receive datagrams for a GID. Called by exec.c under the HCA's
 * lock.
 */
#include "fw/priv.h"
#include "hw/mcg.h"
#include "hw/qp.h"
#include "hw/qp_state.h"
#include "wire/ib/gid.h"
#include "wire/prm/mcg.h"

#include <errno.h>

FW_KIND(MCG, hw_mcg, .name = "mcg", .stage = FW_STAGE_QUEUE);

static struct hw_mcg *mcg_find(struct fw_call *k, uint32_t qpn, const uint8_t *gid, uint32_t *idx)
{
	seg_for_each_live (k->s, SEG_T_MCG, i) {
		struct hw_mcg *m = seg_at(k->s, SEG_T_MCG, i);

		if (fw_ready(&m->flags) && m->hca == k->c->hca && m->qpn == qpn &&
		    !memcmp(m->gid, gid, sizeof(m->gid))) {
			*idx = i;
			return m;
		}
	}
	return NULL;
}

static uint32_t members(struct fw_call *k, const uint8_t *gid)
{
	uint32_t n = 0;

	seg_for_each_live (k->s, SEG_T_MCG, i) {
		const struct hw_mcg *m = seg_at(k->s, SEG_T_MCG, i);

		n += fw_ready(&m->flags) && m->hca == k->c->hca &&
		     !memcmp(m->gid, gid, sizeof(m->gid));
	}
	return n;
}

bool fw_qp_attached(struct fw_call *k, uint32_t qpn)
{
	seg_for_each_live (k->s, SEG_T_MCG, i) {
		const struct hw_mcg *m = seg_at(k->s, SEG_T_MCG, i);

		if (fw_ready(&m->flags) && m->hca == k->c->hca && m->qpn == qpn)
			return true;
	}
	return false;
}

enum fw_r fw_cmd_attach_to_mcg(struct fw_call *k)
{
	const uint8_t *gid = LAYOUT_IN(attach_to_mcg_in, multicast_gid, k->in);
	uint32_t qpn = LAYOUT_GET32(attach_to_mcg_in, k->in, qpn), idx;
	const struct hw_qp *qp = fw_qp(k, qpn);
	struct hw_mcg *m;
	enum fw_r r;

	if (!qp)
		return FW_R_MCG_QPN;
	if (qp->st != PRM_ST_UD)
		return FW_R_MCG_QP_ST;
	if (!ib_gid_is_mcast(gid))
		return FW_R_MCG_GID;
	m = mcg_find(k, qpn, gid, &idx);
	if (m) {
		m->times++;
		return FW_R_NONE;
	}
	if (members(k, gid) >= k->caps->max_qp_mcg)
		return FW_R_MCG_FULL;
	r = fw_alloc(k, SEG_T_MCG, &idx, &m);
	k->obj = qpn;
	if (r)
		return r;
	m->hca = k->c->hca;
	m->uid = k->c->uid;
	m->qpn = qpn;
	m->times = 1;
	memcpy(m->gid, gid, sizeof(m->gid));
	fw_commit(&m->flags);
	return FW_R_NONE;
}

enum fw_r fw_cmd_detach_from_mcg(struct fw_call *k)
{
	const uint8_t *gid = LAYOUT_IN(detach_from_mcg_in, multicast_gid, k->in);
	uint32_t qpn = LAYOUT_GET32(detach_from_mcg_in, k->in, qpn), idx;
	struct hw_mcg *m = fw_qp(k, qpn) ? mcg_find(k, qpn, gid, &idx) : NULL;

	if (!m)
		return FW_R_MCG_NONE;
	if (--m->times == 0)
		fw_free(k->s, SEG_T_MCG, idx);
	return FW_R_NONE;
}
