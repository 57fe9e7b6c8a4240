/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The valid commands for objects that several QPs share (XRC, multicast, counters) and for the
 * other transports.
 */
#include "fw/test_refusals.h"
#include "hw/qp_state.h"

void b_create_xrc_srq(struct env *e)
{
	uint32_t xrcd = new_id(e, PRM_OP_ALLOC_XRCD);
	void *in = cmd_init(e, PRM_OP_CREATE_XRC_SRQ, 0);
	void *srqc = LAYOUT_IN(create_xrc_srq_in, xrc_srq_context_entry, in);

	LAYOUT_SET(create_xrc_srq_in, in, xrc_srq_umem_valid, 1);
	LAYOUT_SET(create_xrc_srq_in, in, xrc_srq_umem_id, e->umem);
	LAYOUT_SET(create_xrc_srq_in, in, xrc_srq_umem_offset, 0x50000);
	LAYOUT_SET(xrc_srqc, srqc, log_xrc_srq_size, 4);
	LAYOUT_SET(xrc_srqc, srqc, log_rq_stride, 1);
	LAYOUT_SET(xrc_srqc, srqc, xrcd, xrcd);
	LAYOUT_SET(xrc_srqc, srqc, pd, e->pd);
	LAYOUT_SET(xrc_srqc, srqc, cqn, e->cq);
	LAYOUT_SET(xrc_srqc, srqc, user_index, 0x77);
	LAYOUT_SET(xrc_srqc, srqc, dbr_umem_valid, 1);
	LAYOUT_SET(xrc_srqc, srqc, dbr_umem_id, e->dbr);
	LAYOUT_SET(xrc_srqc, srqc, dbr_addr, 0x100);
}

/* An XRC target: no queue, no doorbell record. */
static void b_create_xrc_qp(struct env *e)
{
	uint32_t xrcd = new_id(e, PRM_OP_ALLOC_XRCD);
	void *qpc;

	b_create_qp(e);
	LAYOUT_SET(create_qp_in, e->in, wq_umem_valid, 0);
	qpc = LAYOUT_IN(create_qp_in, qpc, e->in);
	LAYOUT_SET(qpc, qpc, st, PRM_ST_XRC);
	LAYOUT_SET(qpc, qpc, rq_type, 1);
	LAYOUT_SET(qpc, qpc, no_sq, 1);
	LAYOUT_SET(qpc, qpc, xrcd, xrcd);
	LAYOUT_SET(qpc, qpc, dbr_umem_valid, 0);
}

uint32_t new_set(struct env *e)
{
	cmd_init(e, PRM_OP_ALLOC_Q_COUNTER, 0);
	make(e, 0x10);
	return LAYOUT_GET32(alloc_q_counter_out, e->out, counter_set_id);
}

void b_create_dct(struct env *e)
{
	void *dctc = b_dct(e);

	LAYOUT_SET(dctc, dctc, dc_access_key, 0x1122334455667788);
}

void b_mcg(struct env *e, uint16_t opcode)
{
	uint32_t qpn;

	b_create_qp(e);
	LAYOUT_SET(qpc, LAYOUT_IN(create_qp_in, qpc, e->in), st, PRM_ST_UD);
	qpn = make(e, IN(create_qp));
	LAYOUT_SET(attach_to_mcg_in, cmd_init(e, PRM_OP_ATTACH_TO_MCG, 0), qpn, qpn);
	((uint8_t *)LAYOUT_IN(attach_to_mcg_in, multicast_gid, e->in))[0] = 0xff;
	if (opcode == PRM_OP_ATTACH_TO_MCG)
		return;
	assert_int_equal(run(e, e->in, IN(attach_to_mcg), OUT(attach_to_mcg)), FW_OK);
	LAYOUT_SET(cmd_in, e->in, opcode, opcode);
}

static void b_create_xrq(struct env *e)
{
	void *wq = LAYOUT_IN(
		xrqc, wq, LAYOUT_IN(create_xrq_in, xrq_context, cmd_init(e, PRM_OP_CREATE_XRQ, 0)));

	b_wq(e, wq, 1, 5, 0x60000, 0x140);
}

static void b_create_psv(struct env *e)
{
	void *in = cmd_init(e, PRM_OP_CREATE_PSV, 0);

	LAYOUT_SET(create_psv_in, in, num_psv, 1);
	LAYOUT_SET(create_psv_in, in, pd, e->pd);
}

bool build_shared(struct env *e, enum base b)
{
	switch ((int)b) {
	case B_CREATE_XRC_SRQ:
		b_create_xrc_srq(e);
		break;
	case B_QUERY_XRC_SRQ:
		b_id(e, PRM_OP_QUERY_XRC_SRQ, new_from(e, b_create_xrc_srq, IN(create_xrc_srq)));
		break;
	case B_ARM_XRC_SRQ: {
		uint32_t srq = new_from(e, b_create_xrc_srq, IN(create_xrc_srq));

		b_id(e, PRM_OP_ARM_XRC_SRQ, srq);
		LAYOUT_SET(cmd_in, e->in, op_mod, 1);
		LAYOUT_SET(arm_xrc_srq_in, e->in, lwm, 3);
		break;
	}
	case B_DESTROY_XRC_SRQ:
		b_id(e, PRM_OP_DESTROY_XRC_SRQ, new_from(e, b_create_xrc_srq, IN(create_xrc_srq)));
		break;
	case B_CREATE_XRC_QP:
		b_create_xrc_qp(e);
		break;
	case B_ATTACH_TO_MCG:
		b_mcg(e, PRM_OP_ATTACH_TO_MCG);
		break;
	case B_DETACH_FROM_MCG:
		b_mcg(e, PRM_OP_DETACH_FROM_MCG);
		break;
	case B_CREATE_XRQ:
		b_create_xrq(e);
		break;
	case B_QUERY_XRQ:
		b_id(e, PRM_OP_QUERY_XRQ, new_from(e, b_create_xrq, IN(create_xrq)));
		break;
	case B_ARM_XRQ:
		b_id(e, PRM_OP_ARM_XRQ, new_from(e, b_create_xrq, IN(create_xrq)));
		LAYOUT_SET(arm_xrq_in, e->in, lwm, 3);
		break;
	case B_DESTROY_XRQ:
		b_id(e, PRM_OP_DESTROY_XRQ, new_from(e, b_create_xrq, IN(create_xrq)));
		break;
	case B_CREATE_PSV:
		b_create_psv(e);
		break;
	case B_DESTROY_PSV: {
		uint32_t psv;

		b_create_psv(e);
		assert_int_equal(run(e, e->in, IN(create_psv), OUT(create_psv)), FW_OK);
		psv = LAYOUT_GET32(create_psv_out, e->out, psv0_index);
		b_id(e, PRM_OP_DESTROY_PSV, psv);
		break;
	}
	case B_CREATE_DCT:
		b_create_dct(e);
		break;
	case B_QUERY_DCT:
		b_id(e, PRM_OP_QUERY_DCT, new_from(e, b_create_dct, IN(create_dct)));
		break;
	case B_DRAIN_DCT:
		b_id(e, PRM_OP_DRAIN_DCT, new_from(e, b_create_dct, IN(create_dct)));
		break;
	case B_DESTROY_DCT:
		b_id(e, PRM_OP_DESTROY_DCT, new_from(e, b_create_dct, IN(create_dct)));
		break;
	case B_ARM_DCT_FOR_KEY_VIOLATION:
		b_id(e, PRM_OP_ARM_DCT_FOR_KEY_VIOLATION,
		     new_from(e, b_create_dct, IN(create_dct)));
		break;
	case B_ALLOC_Q_COUNTER:
		cmd_init(e, PRM_OP_ALLOC_Q_COUNTER, 0);
		break;
	case B_DEALLOC_Q_COUNTER: {
		uint32_t id = new_set(e);

		LAYOUT_SET(dealloc_q_counter_in, cmd_init(e, PRM_OP_DEALLOC_Q_COUNTER, 0),
			   counter_set_id, id);
		break;
	}
	case B_QUERY_Q_COUNTER: {
		uint32_t id = new_set(e);

		LAYOUT_SET(query_q_counter_in, cmd_init(e, PRM_OP_QUERY_Q_COUNTER, 0),
			   counter_set_id, id);
		break;
	}
	default:
		return false;
	}
	return true;
}
