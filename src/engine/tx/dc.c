/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Dynamically connected transport: each WQE of an initiator names its target by an address vector
 * and an access key. Called by rc.c, which treats DC like RC except for sequence numbers: a
 * connection lasts only as long as a message.
 */
#include "engine/path/link.h"
#include "engine/tx/tx.h"
#include "engine/base/words.h"
#include "engine/base/transport.h"
#include "fabric/eth.h"
#include "hw/qctr.h"
#include "hw/qp_state.h"
#include "util/point.h"
#include "wire/prm/dct.h"
#include "wire/prm/qp.h"

struct hw_qp *dc_peer(struct eng_run *r, uint32_t *port)
{
	const uint8_t *av = r->wqe + WQE_SEG;
	struct way_to to;

	r->dest = LAYOUT_GET32(wqe_av, av, dqpn);
	/* Stored before the target's keys are read, so that eng_mkey_quiesce() sees it. */
	atomic_store(&r->qp->ud_dest, r->dest);
	r->link->av(r, av, &to);
	r->net = to.net;
	r->vlan = to.vlan;
	if (!way_find(r, r->qp, &to, &r->path))
		return NULL;
	*port = r->path.to;
	return hw_qp(r->s, r->dest);
}

bool dc_back(struct eng_run *r, const struct hw_qp *dct, uint32_t port)
{
	(void)dct;
	fab_path(r->s, port, fab_port_addr(r->s, r->own->port), &r->back);
	return r->back.to == r->own->port;
}

static uint16_t *stream_find(struct hw_qp *qp, uint16_t id)
{
	for (uint32_t i = 0; i < qp->nerrored; i++)
		if (qp->errored[i] == id)
			return &qp->errored[i];
	return NULL;
}

bool dc_stream_errored(const struct eng_run *r)
{
	return stream_find(r->qp, (uint16_t)LAYOUT_GET(wqe_ctrl, r->wqe, stream_id));
}

/*
 * mlx5dv_dci_stream_id_reset(3): the QP fails when as many streams are in error as the QPC says. A
 * WQE that cannot be read is no stream's error (inferred).
 */
bool dc_stream_stops(struct eng_run *r, enum eng_why why)
{
	uint32_t most = 1u << LAYOUT_GET(qpc, r->qp->qpc, log_num_dci_errored_streams);
	uint16_t id = (uint16_t)LAYOUT_GET(wqe_ctrl, r->wqe, stream_id);

	if (why == ENG_W_WQE_MALFORMED || r->qp->nerrored + 1u >= most)
		return false;
	r->qp->errored[r->qp->nerrored++] = id;
	TRACE(LOG_CQE, "QP 0x%x: stream %u is in error", r->qpn, id);
	return true;
}

int eng_dci_stream_reset(struct seg *s, uint32_t qpn, uint16_t id)
{
	struct hw_qp *qp = hw_qp(s, qpn);
	uint16_t *at;
	int rc;

	if (!qp)
		return -EINVAL;
	rc = seg_lock(s, &qp->sq_lock, SEG_LOCK_CTRL_NS);
	if (rc < 0)
		return rc;
	if (rc == SEG_LOCK_INHERITED)
		sq_inherited(s, qp, qpn);
	at = stream_find(qp, id);
	if (at)
		*at = qp->errored[--qp->nerrored];
	seg_unlock(s, &qp->sq_lock);
	return at ? 0 : -ENOENT;
}

/*
 * Called under the target's lock. A wrong access key is counted and, like a wrong P_Key, not
 * answered.
 */
bool dc_accepts(struct eng_run *r, struct hw_qp *dct, uint32_t port)
{
	uint64_t key = be64_load(r->wqe + WQE_SEG);
	uint64_t n;

	r->theirs = hw_qp_path(dct);
	if (!eng_is_responder(r, dct) || r->theirs->port != port || !way_pkey_match(r, r->theirs))
		return false;
	if (LAYOUT_GET(dctc, dct->qpc, dc_access_key) == key) {
		eng_count(r->s, dct, HW_QC_RX_DCT_CONNECT);
		return true;
	}
	TRACE(LOG_CQE, "DCT 0x%x: wrong access key from QP 0x%x", r->dest, r->qpn);
	if (!resp_busy(dct))
		return false;
	n = LAYOUT_GET(dctc, dct->qpc, dc_access_key_violation_count);
	if (n < UINT32_MAX)
		LAYOUT_SET(dctc, dct->qpc, dc_access_key_violation_count, n + 1);
	POINT("dct-counted");
	dc_key_event(r->s, dct, r->dest);
	resp_busy_end();
	return false;
}
