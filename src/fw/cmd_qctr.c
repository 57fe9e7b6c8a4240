/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sets of Q counters. QPs name a set by an 8-bit number; the engine counts in it. Each port has a
 * set from bring-up on, for QPs of verbs programs. Called by exec.c under the HCA's lock.
 */
#include "fw/priv.h"

#include <errno.h>
#include "hw/qctr.h"
#include "util/cleanup.h"
#include "wire/prm/qctr.h"

FW_KIND(QCTR, hw_qctr, .name = "qctr", .stage = FW_STAGE_QUEUE, .refs = FW_REFS(hw_qctr));

enum { SET_IDS = 256 }; /* 0 means no set */

static struct hw_qctr *qctr_at(struct fw_call *k, uint32_t id, uint32_t *idx)
{
	k->obj = id;
	seg_for_each_live (k->s, SEG_T_QCTR, i) {
		struct hw_qctr *c = seg_at(k->s, SEG_T_QCTR, i);

		if (!fw_ready(&c->flags) || c->hca != k->c->hca || c->id != id)
			continue;
		*idx = i;
		return c;
	}
	return NULL;
}

struct hw_qctr *fw_qctr(struct fw_call *k, uint32_t id, uint32_t *idx)
{
	struct hw_qctr *c = qctr_at(k, id, idx);

	return c && fw_may_name(k, c->uid) ? c : NULL;
}

/*
 * Finds a set that the caller may free or read. A program may do neither with a shared set. This is
 * inferred: the kernel lets no program try (devx.c, devx_is_valid_obj_id(): the program must have
 * made the object by DEVX).
 */
static struct hw_qctr *qctr_own(struct fw_call *k, uint32_t id, uint32_t *idx)
{
	struct hw_qctr *c = qctr_at(k, id, idx);

	return c && fw_may_change(k, c->uid) ? c : NULL;
}

enum fw_r fw_cmd_alloc_q_counter(struct fw_call *k)
{
	bool used[SET_IDS] = {true};
	uint32_t idx, id = 1;
	struct hw_qctr *c;
	enum fw_r r;

	seg_for_each_live (k->s, SEG_T_QCTR, i) {
		const struct hw_qctr *o = seg_at(k->s, SEG_T_QCTR, i);

		if (o->hca == k->c->hca)
			used[o->id & 0xff] = true;
	}
	while (id < SET_IDS && used[id])
		id++;
	if (id == SET_IDS)
		return FW_R_QCTR_FULL;
	r = fw_alloc(k, SEG_T_QCTR, &idx, &c);
	if (r)
		return r;
	c->hca = k->c->hca;
	c->uid = k->c->uid;
	c->id = id;
	k->obj = id;
	LAYOUT_SET(alloc_q_counter_out, k->out, counter_set_id, id);
	fw_commit(&c->flags);
	return FW_R_NONE;
}

enum fw_r fw_cmd_dealloc_q_counter(struct fw_call *k)
{
	uint32_t id = LAYOUT_GET32(dealloc_q_counter_in, k->in, counter_set_id), idx;
	const struct hw_qctr *c = qctr_own(k, id, &idx);

	if (!c)
		return FW_R_QCTR_NONE;
	if (c->refs)
		return FW_R_QCTR_IN_USE;
	fw_free(k->s, SEG_T_QCTR, idx);
	return FW_R_NONE;
}

/* The output field of each counter. */
#define FIELD(f) LF_query_q_counter_out_##f##_BIT
static const uint16_t fields[HW_QC_COUNT] = {
	[HW_QC_RX_WRITE_REQUESTS] = FIELD(rx_write_requests),
	[HW_QC_RX_READ_REQUESTS] = FIELD(rx_read_requests),
	[HW_QC_RX_ATOMIC_REQUESTS] = FIELD(rx_atomic_requests),
	[HW_QC_RX_DCT_CONNECT] = FIELD(rx_dct_connect),
	[HW_QC_OUT_OF_BUFFER] = FIELD(out_of_buffer),
	[HW_QC_OUT_OF_SEQUENCE] = FIELD(out_of_sequence),
	[HW_QC_DUPLICATE_REQUEST] = FIELD(duplicate_request),
	[HW_QC_RNR_NAK_RETRY_ERR] = FIELD(rnr_nak_retry_err),
	[HW_QC_PACKET_SEQ_ERR] = FIELD(packet_seq_err),
	[HW_QC_IMPLIED_NAK_SEQ_ERR] = FIELD(implied_nak_seq_err),
	[HW_QC_LOCAL_ACK_TIMEOUT_ERR] = FIELD(local_ack_timeout_err),
	[HW_QC_RESP_LOCAL_LENGTH_ERROR] = FIELD(resp_local_length_error),
	[HW_QC_REQ_CQE_ERROR] = FIELD(req_cqe_error),
	[HW_QC_RESP_CQE_ERROR] = FIELD(resp_cqe_error),
	[HW_QC_REQ_CQE_FLUSH_ERROR] = FIELD(req_cqe_flush_error),
	[HW_QC_RESP_CQE_FLUSH_ERROR] = FIELD(resp_cqe_flush_error),
	[HW_QC_REQ_REMOTE_INVALID_REQUEST] = FIELD(req_remote_invalid_request),
	[HW_QC_RESP_REMOTE_ACCESS_ERRORS] = FIELD(resp_remote_access_errors),
	[HW_QC_REQ_REMOTE_ACCESS_ERRORS] = FIELD(req_remote_access_errors),
	[HW_QC_REQ_TRANSPORT_RETRIES_EXCEEDED] = FIELD(req_transport_retries_exceeded),
	[HW_QC_REQ_RNR_RETRIES_EXCEEDED] = FIELD(req_rnr_retries_exceeded),
	[HW_QC_ROCE_ADP_RETRANS] = FIELD(roce_adp_retrans),
	[HW_QC_ROCE_ADP_RETRANS_TO] = FIELD(roce_adp_retrans_to),
	[HW_QC_ROCE_SLOW_RESTART] = FIELD(roce_slow_restart),
	[HW_QC_ROCE_SLOW_RESTART_CNPS] = FIELD(roce_slow_restart_cnps),
	[HW_QC_ROCE_SLOW_RESTART_TRANS] = FIELD(roce_slow_restart_trans),
};

enum fw_r fw_cmd_query_q_counter(struct fw_call *k)
{
	uint32_t id = LAYOUT_GET32(query_q_counter_in, k->in, counter_set_id), idx;
	struct hw_qctr *c = qctr_own(k, id, &idx);

	if (!c)
		return FW_R_QCTR_QUERY_NONE;
	for (size_t i = 0; i < HW_QC_COUNT; i++)
		layout_set(k->out, fields[i], 32,
			   LAYOUT_GET(query_q_counter_in, k->in, clear)
				   ? atomic_exchange(&c->n[i], 0)
				   : atomic_load(&c->n[i]));
	return FW_R_NONE;
}

/* Nothing is congested on these links: no packet is marked, and all counters stay 0. */
enum fw_r fw_cmd_query_cong_statistics(struct fw_call *k)
{
	return fw_is_eth(k) ? FW_R_NONE : FW_R_CONG_OFF;
}
