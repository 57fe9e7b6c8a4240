/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Trace lines of the data path: doorbells, completions with error, events. Called by the rest of
 * the engine when the topic is on, on the engine's stack and with queue locks held.
 */
#include "engine/base/base.h"
#include "engine/base/cause_text.h"
#include "fabric/fabric.h"
#include "hw/cq.h"
#include "hw/hca.h"
#include "hw/qp.h"
#include "hw/qp_state.h"
#include "util/fmt.h"
#include "util/rec.h"
#include "wire/ib_event.h"
#include "wire/prm/prm.h"

#include <infiniband/verbs.h>

#define UAR_CQ_DOORBELL 0x20

/* "RC QP of mlx5_0" behind a QPN, with LOG_OBJECTS. */
static void rec_qp(struct rec *r, const struct seg *s, uint32_t qpn)
{
	const struct hw_qp *qp = r->options & LOG_OBJECTS ? hw_qp(s, qpn) : NULL;
	const struct hw_hca *hca = qp ? hw_hca(s, qp->hca) : NULL;
	const char *st = qp ? prm_value_name(&layout_qpc, LF_qpc_st_BIT, qp->st) : NULL;
	char text[64], name[FAB_HCA_NAME];

	if (!hca)
		return;
	fmt(text, sizeof(text), "%s QP of %s", st ? st : "DCT", fab_hca_name(s, hca, name));
	rec_object(r, "qpn", text);
}

static void rec_send_doorbell(struct rec *r, struct seg *s, const uint8_t *v)
{
	uint32_t qpn = LAYOUT_GET32(wqe_ctrl, v, qpn), pi;
	uint8_t opcode = LAYOUT_GET8(wqe_ctrl, v, opcode);
	const struct hw_qp *qp = hw_qp(s, qpn);

	rec_x(r, "qpn", qpn);
	rec_qp(r, s, qpn);
	if (!qp)
		rec_s(r, "qp", "unknown");
	rec_u(r, "wqe_index", LAYOUT_GET(wqe_ctrl, v, wqe_index));
	rec_code(r, "opcode", opcode, wqe_opcode_name(opcode));
	/*
	 * Print the doorbell record, which the device obeys; the stored value belongs to the last
	 * WQE only.
	 */
	if (qp && !sq_read_pi(s, qp, &pi)) {
		rec_u(r, "producer_index", pi);
		rec_u(r, "consumer_index",
		      atomic_load_explicit(&qp->sq_ci, memory_order_relaxed) & 0xffff);
	}
}

void eng_trace_doorbell(struct seg *s, uint32_t uar, uint32_t offset, const uint8_t v[8])
{
	uint32_t word = be32_load(v), cqn = be32_load(v + 4) & 0xffffff;
	bool arm = offset == UAR_CQ_DOORBELL;
	struct rec r;

	rec_begin(&r, LOG_DOORBELL, arm ? "arm" : "ring", 0);
	rec_group(&r, "in", "(");
	rec_u(&r, "uar", uar);
	rec_x(&r, "offset", offset);
	if (arm) {
		rec_x(&r, "cqn", cqn);
		if (!hw_cq(s, cqn))
			rec_s(&r, "cq", "unknown");
		rec_u(&r, "consumer_index", word & 0xffffff);
		rec_u(&r, "sequence", word >> 28 & 3);
		rec_s(&r, "for", word >> 24 & 1 ? "solicited" : "next");
	} else {
		rec_send_doorbell(&r, s, v);
	}
	rec_group_end(&r, ")");
	rec_end(&r);
}

/* In a trace of failures, flushed completions of one queue that come together are one line. */
static TLS_IE struct {
	uint32_t n, cqn;
	struct eng_cqe first;
} flushed;

static void trace_error_cqe(const struct seg *s, uint32_t cqn, const struct eng_cqe *c, uint32_t n)
{
	uint8_t opcode = LAYOUT_GET8(err_cqe, c->b, opcode);
	uint8_t syndrome = LAYOUT_GET8(err_cqe, c->b, syndrome);
	uint8_t sent = LAYOUT_GET8(err_cqe, c->b, send_opcode);
	char text[96];
	struct rec r;

	rec_begin(&r, LOG_CQE, opcode == CQE_REQ_ERR ? "send error" : "receive error", 0);
	r.failed = true;
	rec_group(&r, "cqe", "(");
	rec_x(&r, "cqn", cqn);
	rec_x(&r, "qpn", LAYOUT_GET(err_cqe, c->b, qpn));
	rec_qp(&r, s, (uint32_t)LAYOUT_GET(err_cqe, c->b, qpn));
	rec_u(&r, "wqe_counter", LAYOUT_GET(err_cqe, c->b, wqe_counter));
	if (opcode == CQE_REQ_ERR)
		rec_code(&r, "send_opcode", sent, wqe_opcode_name(sent));
	rec_code(&r, "syndrome", syndrome, cqe_syndrome_name(syndrome));
	rec_x(&r, "vendor_err", LAYOUT_GET(err_cqe, c->b, vendor_err));
	if (n > 1)
		rec_u(&r, "times", n);
	rec_group_end(&r, ")");
	if (n > 1) {
		fmt(text, sizeof(text), "and %u flushed", n);
		rec_say(&r, "folded", ": ", text);
	}
	rec_say(&r, "reason", ": ", cause_text((uint32_t)LAYOUT_GET(err_cqe, c->b, qpn), c->why));
	rec_end(&r);
}

void eng_trace_flushed(const struct seg *s)
{
	uint32_t n = flushed.n;

	flushed.n = 0;
	if (n)
		trace_error_cqe(s, flushed.cqn, &flushed.first, n);
}

static bool same_queue(const uint8_t *a, const uint8_t *b)
{
	return LAYOUT_GET(err_cqe, a, qpn) == LAYOUT_GET(err_cqe, b, qpn) &&
	       LAYOUT_GET(err_cqe, a, opcode) == LAYOUT_GET(err_cqe, b, opcode);
}

void eng_trace_error_cqe(const struct seg *s, uint32_t cqn, const struct eng_cqe *c)
{
	if (flushed.n && !same_queue(flushed.first.b, c->b))
		eng_trace_flushed(s);
	if (!(log_options & LOG_FAILED) || eng_failures[c->why].syndrome != CQE_SYND_WR_FLUSH) {
		trace_error_cqe(s, cqn, c, 1);
		return;
	}
	if (!flushed.n++) {
		flushed.cqn = cqn;
		flushed.first = *c;
	}
}

/* Events of errors, which a trace of failures shows. */
static bool is_error(uint32_t type)
{
	return type == IBV_EVENT_CQ_ERR || type == IBV_EVENT_QP_FATAL ||
	       type == IBV_EVENT_QP_REQ_ERR || type == IBV_EVENT_QP_ACCESS_ERR ||
	       type == IBV_EVENT_PATH_MIG_ERR || type == IBV_EVENT_DEVICE_FATAL;
}

void eng_trace_event(const char *what, enum seg_table_id table, uint32_t idx, uint32_t type)
{
	struct rec r;

	rec_begin(&r, LOG_EVENT, what, 0);
	r.failed = is_error(type);
	rec_group(&r, "event", "(");
	if (type != UINT32_MAX)
		rec_code(&r, "type", type, ib_event_name(type));
	rec_x(&r,
	      table == SEG_T_QP    ? "qpn"
	      : table == SEG_T_CQ  ? "cqn"
	      : table == SEG_T_SRQ ? "srqn"
				   : "index",
	      idx);
	rec_group_end(&r, ")");
	rec_end(&r);
}
