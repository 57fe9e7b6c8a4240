/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Dynamically connected targets. A DCT is a QP without queues that takes requests from any
 * initiator that knows its access key; its number comes from the QPs' number space. Called by
 * exec.c under the HCA's lock.
 */
#include "fw/priv.h"

#include <errno.h>
#include "engine/engine.h"
#include "hw/hca.h"
#include "hw/port.h"
#include "hw/qp.h"
#include "hw/qp_state.h"
#include "hw/srq.h"
#include "wire/ib/pkey.h"
#include "wire/prm/dct.h"
#include "wire/prm/eq.h"
#include "wire/prm/qp.h"
#include "wire/wqe/cqe.h"

#define DCTC(f) LAYOUT_GET(dctc, dctc, f)

static struct hw_qp *dct_of(struct fw_call *k, uint32_t dctn)
{
	struct hw_qp *dct = fw_any_qp(k, dctn);

	return dct && dct->st == HW_ST_DCT ? dct : NULL;
}

static enum fw_r check_dctc(struct fw_call *k, const void *dctc, uint32_t *set)
{
	const struct hw_srq *srq = fw_srq(k, (uint32_t)DCTC(srqn_xrqn));
	const struct hw_port *port;

	if (DCTC(state) != PRM_DCT_ACTIVE)
		return FW_R_DCTC_STATE;
	if (!fw_pd(k, (uint32_t)DCTC(pd)))
		return FW_R_DCTC_PD;
	if (!fw_cq(k, (uint32_t)DCTC(cqn)))
		return FW_R_DCTC_CQN;
	if (!srq || srq->type == HW_SRQ_XRC || srq->tm)
		return FW_R_DCTC_SRQN;
	if (DCTC(rlky) && !k->c->kernel)
		return FW_R_DCTC_RLKY;
	if (DCTC(port) < 1 || DCTC(port) > k->hca->nports)
		return FW_R_DCTC_PORT;
	port = hw_port(k->s, k->hca->port[DCTC(port) - 1]);
	if (DCTC(pkey_index) >= HW_PKEYS || !ib_pkey_valid(port->pkey[DCTC(pkey_index)]))
		return FW_R_DCTC_PKEY;
	if (DCTC(mtu) < 1 || DCTC(mtu) > port->active_mtu)
		return FW_R_DCTC_MTU;
	if (hw_port_is_eth(port) && !fw_has_gid(port, (uint32_t)DCTC(my_addr_index)))
		return FW_R_DCTC_SGID;
	if (DCTC(counter_set_id) && !fw_qctr(k, (uint32_t)DCTC(counter_set_id), set))
		return FW_R_DCTC_COUNTERS;
	return FW_R_NONE;
}

/* QUERY_DCT returns the options where they were asked for (wire/prm/dct.h says why in two places).
 */
static void agree_on_ece(struct fw_call *k, struct hw_qp *dct)
{
	void *dctc = dct->qpc;

	if (DCTC(ece_alt)) {
		dct->ece = fw_ece((uint32_t)DCTC(ece_alt));
		LAYOUT_SET(dctc, dctc, ece_alt, dct->ece);
	} else {
		dct->ece = fw_ece((uint32_t)DCTC(ece));
		LAYOUT_SET(dctc, dctc, ece, dct->ece);
	}
	LAYOUT_SET(create_dct_out, k->out, ece, dct->ece);
}

enum fw_r fw_cmd_create_dct(struct fw_call *k)
{
	const void *dctc = LAYOUT_IN(create_dct_in, dct_context_entry, k->in);
	uint32_t dctn, set = 0;
	struct hw_qp *dct;
	enum fw_r r = check_dctc(k, dctc, &set);

	if (!r)
		r = fw_alloc(k, SEG_T_QP, &dctn, &dct);
	if (r)
		return r;
	dct->hca = k->c->hca;
	dct->uid = k->c->uid;
	dct->st = HW_ST_DCT;
	dct->pdn = (uint32_t)DCTC(pd);
	dct->cqn_snd = dct->cqn_rcv = (uint32_t)DCTC(cqn);
	dct->srqn = (uint32_t)DCTC(srqn_xrqn);
	dct->user_index = fw_cqe_name((uint32_t)DCTC(user_index), dct->srqn);
	dct->qctr = set;
	dct->no_rq = dct->no_sq = 1;
	dct->comm_est = 2; /* a DCT does not have that event */
	dct->mem = mem_self(k->s);
	dct->path[0].port = k->hca->port[DCTC(port) - 1];
	dct->port_num = (uint8_t)DCTC(port);
	dct->path[0].pkey_index = (uint16_t)DCTC(pkey_index);
	if (hw_port_is_eth(hw_port(k->s, dct->path[0].port))) {
		dct->path[0].sgid_index = (uint8_t)DCTC(my_addr_index);
		dct->path[0].sl = (uint8_t)DCTC(eth_prio);
	}
	dct->mtu = 128u << DCTC(mtu);
	dct->rre = (uint8_t)DCTC(rre);
	dct->rwe = (uint8_t)DCTC(rwe);
	dct->rae = (uint8_t)DCTC(rae);
	dct->atomic_mode = (uint8_t)DCTC(atomic_mode);
	dct->min_rnr_nak = (uint8_t)DCTC(min_rnr_nak);
	if (DCTC(cs_res) == PRM_CS_RES_DATA64)
		dct->resp_data = CQE_FORMAT_DATA_64;
	atomic_store(&dct->async.evq, SEG_NONE);
	memcpy(dct->qpc, dctc, LAYOUT_SZ(dctc));
	agree_on_ece(k, dct);
	dct->born = fw_born(k);
	eng_qp_created(dct);
	fw_refer(k->s, SEG_T_QP, dct, 1);
	atomic_store(&dct->state, PRM_QP_STATE_RTR);
	LAYOUT_SET(create_dct_out, k->out, dctn, dctn);
	fw_commit(&dct->flags);
	return FW_R_NONE;
}

enum fw_r fw_cmd_query_dct(struct fw_call *k)
{
	void *dctc = LAYOUT_IN(query_dct_out, dct_context_entry, k->out);
	const struct hw_qp *dct = dct_of(k, LAYOUT_GET32(query_dct_in, k->in, dctn));

	if (!dct)
		return FW_R_DCT_QUERY_NONE;
	memcpy(dctc, dct->qpc, LAYOUT_SZ(dctc));
	LAYOUT_SET(dctc, dctc, state,
		   dct->state == PRM_QP_STATE_RTR ? PRM_DCT_ACTIVE : PRM_DCT_DRAINED);
	return FW_R_NONE;
}

/* When this returns no request is half done, so the DCT is drained at once. */
enum fw_r fw_cmd_drain_dct(struct fw_call *k)
{
	uint32_t dctn = LAYOUT_GET32(drain_dct_in, k->in, dctn);

	if (!dct_of(k, dctn))
		return FW_R_DCT_DRAIN_NONE;
	return fw_errno(k, eng_dct_drain(k->s, dctn));
}

enum fw_r fw_cmd_destroy_dct(struct fw_call *k)
{
	uint32_t dctn = LAYOUT_GET32(destroy_dct_in, k->in, dctn);

	if (!dct_of(k, dctn))
		return FW_R_DCT_NONE;
	return fw_errno(k, fw_qp_free(k->s, dctn));
}

enum fw_r fw_cmd_arm_dct(struct fw_call *k)
{
	struct hw_qp *dct = dct_of(k, LAYOUT_GET32(arm_dct_in, k->in, dct_number));

	if (!dct)
		return FW_R_DCT_ARM_NONE;
	atomic_store(&dct->key_armed, 1);
	return FW_R_NONE;
}
