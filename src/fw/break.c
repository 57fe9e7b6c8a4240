/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns errors of single objects that have no cause in the fabric: rules of --inject. Called by a
 * job of the supervisor.
 */
#include "fw/priv.h"

#include <errno.h>
#include "engine/engine.h"
#include "hw/hca.h"

uint32_t fw_nth(struct seg *s, enum seg_table_id t, uint32_t idx)
{
	const struct fw_kind *k = fw_kind(t);

	return k->nth ? *(const uint32_t *)((const uint8_t *)fw_elem(s, k, idx) + k->nth) : 0;
}

uint32_t fw_service_of(struct seg *s, uint32_t qpn)
{
	return fw_qp_st(seg_at(s, SEG_T_QP, qpn));
}

int fw_break(struct seg *s, enum seg_table_id t, uint32_t idx, uint32_t ib_event_type)
{
	const struct fw_kind *k = fw_kind(t);
	const struct fw_elem *e = seg_live(s, t, idx);
	struct hw_hca *hca = e ? hw_hca(s, e->hca) : NULL;
	uint64_t mask;
	int lock, r = -EINVAL;

	if (!hca)
		return r;
	mask = fw_sig_block(NULL);
	/* No command frees it meanwhile. */
	lock = seg_lock(s, &hca->lock, SEG_LOCK_CTRL_NS);
	if (lock == SEG_LOCK_INHERITED)
		fw_recount(s, e->hca);
	if (lock < 0)
		r = lock;
	else if (seg_live(s, t, idx) == e && hw_in_service(&fw_elem(s, k, idx)->flags))
		r = t == SEG_T_QP    ? eng_qp_break(s, idx, ib_event_type)
		    : t == SEG_T_SRQ ? eng_srq_break(s, idx)
				     : eng_wq_break(s, idx);
	if (lock >= 0)
		seg_unlock(s, &hca->lock);
	fw_sig_restore(NULL, mask);
	return r;
}
