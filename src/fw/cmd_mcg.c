/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Multicast groups: the QPs that receive datagrams for a GID. Called by exec.c under the HCA's
 * lock.
 */
#include "fw/priv.h"
#include "hw/mcg.h"
#include "hw/qp_state.h"
#include "hw/service.h"
#include "wire/ib/gid.h"
#include "wire/prm/mcg.h"

#include <errno.h>

static bool is_of(struct seg *s, uint32_t idx, uint32_t hca)
{
	const struct hw_mcg *m = seg_at(s, SEG_T_MCG, idx);

	return fw_ready(&m->flags) && m->hca == hca;
}

/*
 * The group of `idx` may have lost the attachment by which it is counted. Another one takes its
 * place, but none of `dying`, an owner of which all are being freed.
 */
static void pass_head(struct seg *s, uint32_t idx, uint32_t dying)
{
	const struct hw_mcg *m = seg_at(s, SEG_T_MCG, idx);

	if (!m->head)
		return;
	hw_mcg_for_each(s, m->gid, i)
	{
		struct hw_mcg *to = seg_at(s, SEG_T_MCG, i);

		if (i == idx || !is_of(s, i, m->hca) || seg_owner(s, SEG_T_MCG, i) == dying)
			continue;
		to->head = 1;
		return;
	}
}

static int mcg_free(struct seg *s, uint32_t idx)
{
	pass_head(s, idx, seg_owner(s, SEG_T_MCG, idx));
	fw_free(s, SEG_T_MCG, idx);
	return 0;
}

FW_KIND(MCG, hw_mcg, .name = "mcg", .stage = FW_STAGE_QUEUE, .free = mcg_free);

/* The QP's attachment to the group, or NULL; *members: attachments of this HCA to it. */
static struct hw_mcg *mcg_find(struct fw_call *k, uint32_t qpn, const uint8_t *gid, uint32_t *idx,
			       uint32_t *members)
{
	struct hw_mcg *found = NULL;

	*members = 0;
	hw_mcg_for_each(k->s, gid, i)
	{
		struct hw_mcg *m = seg_at(k->s, SEG_T_MCG, i);

		if (!is_of(k->s, i, k->c->hca))
			continue;
		++*members;
		if (m->qpn == qpn) {
			*idx = i;
			found = m;
		}
	}
	return found;
}

static bool too_many_groups(struct fw_call *k)
{
	uint32_t max = 1u << k->caps->log_max_mcg, n = 0;

	if (atomic_load(&seg_table(k->s, SEG_T_MCG)->live) < max)
		return false;
	seg_for_each_live (k->s, SEG_T_MCG, i)
		n += is_of(k->s, i, k->c->hca) &&
		     ((const struct hw_mcg *)seg_at(k->s, SEG_T_MCG, i))->head;
	return n >= max;
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
	uint32_t qpn = LAYOUT_GET32(attach_to_mcg_in, k->in, qpn), idx, members;
	const struct hw_qp *qp = fw_qp(k, qpn);
	struct hw_mcg *m;
	enum fw_r r;

	if (!qp)
		return FW_R_MCG_QPN;
	if (!hw_service(fw_qp_st(qp))->datagram)
		return FW_R_MCG_QP_ST;
	if (!ib_gid_is_mcast(gid))
		return FW_R_MCG_GID;
	m = mcg_find(k, qpn, gid, &idx, &members);
	if (m) {
		m->times++;
		return FW_R_NONE;
	}
	if (members >= k->caps->max_qp_mcg)
		return FW_R_MCG_FULL;
	if (!members && too_many_groups(k))
		return FW_R_MCG_GROUPS;
	r = fw_alloc(k, SEG_T_MCG, &idx, &m);
	k->obj = qpn;
	if (r)
		return r;
	m->hca = k->c->hca;
	m->uid = k->c->uid;
	m->qpn = qpn;
	m->times = 1;
	m->head = !members;
	memcpy(m->gid, gid, sizeof(m->gid));
	hw_mcg_tag(k->s, idx);
	fw_commit(&m->flags);
	return FW_R_NONE;
}

enum fw_r fw_cmd_detach_from_mcg(struct fw_call *k)
{
	const uint8_t *gid = LAYOUT_IN(detach_from_mcg_in, multicast_gid, k->in);
	uint32_t qpn = LAYOUT_GET32(detach_from_mcg_in, k->in, qpn), idx, members;
	struct hw_mcg *m = fw_qp(k, qpn) ? mcg_find(k, qpn, gid, &idx, &members) : NULL;

	if (!m)
		return FW_R_MCG_NONE;
	if (--m->times == 0) {
		pass_head(k->s, idx, SEG_OWNER_FREE);
		fw_free(k->s, SEG_T_MCG, idx);
	}
	return FW_R_NONE;
}
