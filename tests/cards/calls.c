/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Calls that are refused: unknown handles, sizes that are too large, transitions of QPs. */
#include "cards.h"

#include <errno.h>

enum { NOBODY = 0xdeadbeef & 0x7fffffff };

static const char *error_name(int error)
{
	return error == 0            ? "0"
	       : error == ENOENT     ? "ENOENT"
	       : error == EINVAL     ? "EINVAL"
	       : error == EBUSY      ? "EBUSY"
	       : error == ENOMEM     ? "ENOMEM"
	       : error == EOPNOTSUPP ? "EOPNOTSUPP"
				     : strerror(error);
}

/* `call` with another number in `handle`. */
#define WITHOUT(handle, call)             \
	({                                \
		uint32_t was_ = (handle); \
		int rc_;                  \
                                          \
		(handle) = NOBODY;        \
		rc_ = (call);             \
		(handle) = was_;          \
		error_name(rc_);          \
	})
/* The same of a call that makes something. */
#define NOT_MADE(handle, call)               \
	({                                   \
		uint32_t was_ = (handle);    \
		void *made_;                 \
                                             \
		(handle) = NOBODY;           \
		made_ = (call);              \
		(handle) = was_;             \
		made_ ? "made" : "not made"; \
	})

static void handles(void)
{
	struct ibv_qp_attr to_init_attr = {.qp_state = IBV_QPS_INIT, .port_num = 1}, at;
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
	struct ibv_context *other = ibv_open_device(ad.ctx->device);
	struct ibv_srq_init_attr srq_init = {.attr = {.max_wr = 1, .max_sge = 1}};
	struct ibv_qp_init_attr init;
	struct ibv_qp_init_attr make;
	struct ibv_mw *mw;
	struct ibv_pd *pd;
	struct pair p;

	NEED(other && pair_make(&p, &(struct options){.srq = true}));
	NEED(pd = ibv_alloc_pd(ad.ctx));
	NEED(mw = ibv_alloc_mw(ad.pd, IBV_MW_TYPE_1));
	check(call_handle, "ibv_dealloc_pd", "ENOENT", WITHOUT(pd->handle, ibv_dealloc_pd(pd)));
	check(call_handle, "ibv_dereg_mr", "ENOENT", WITHOUT(p.a.mr->handle, ibv_dereg_mr(p.a.mr)));
	check(call_handle, "ibv_destroy_cq", "ENOENT",
	      WITHOUT(p.a.cq->handle, ibv_destroy_cq(p.a.cq)));
	check(call_handle, "ibv_destroy_srq", "ENOENT",
	      WITHOUT(p.b.srq->handle, ibv_destroy_srq(p.b.srq)));
	check(call_handle, "ibv_dealloc_mw", "ENOENT", WITHOUT(mw->handle, ibv_dealloc_mw(mw)));
	check(call_qp_handle, "ibv_modify_qp", "ENOENT",
	      WITHOUT(p.a.qp->handle, ibv_modify_qp(p.a.qp, &to_init_attr, mask)));
	check(call_qp_handle, "ibv_query_qp", "ENOENT",
	      WITHOUT(p.a.qp->handle, ibv_query_qp(p.a.qp, &at, IBV_QP_STATE, &init)));
	check(call_qp_handle, "ibv_destroy_qp", "ENOENT",
	      WITHOUT(p.a.qp->handle, ibv_destroy_qp(p.a.qp)));
	make = (struct ibv_qp_init_attr){.qp_type = IBV_QPT_RC,
					 .send_cq = p.a.cq,
					 .recv_cq = p.b.cq,
					 .srq = p.b.srq,
					 .cap = {.max_send_wr = 1, .max_send_sge = 1}};
	check(call_made_of, "a QP, its send CQ", "not made",
	      NOT_MADE(p.a.cq->handle, ibv_create_qp(ad.pd, &make)));
	check(call_made_of, "a QP, its receive CQ", "not made",
	      NOT_MADE(p.b.cq->handle, ibv_create_qp(ad.pd, &make)));
	check(call_made_of, "a QP, its SRQ", "not made",
	      NOT_MADE(p.b.srq->handle, ibv_create_qp(ad.pd, &make)));
	check(call_made_of, "a QP, its PD", "not made",
	      NOT_MADE(pd->handle, ibv_create_qp(pd, &make)));
	check(call_made_of, "a region, its PD", "not made",
	      NOT_MADE(pd->handle, ibv_reg_mr(pd, p.a.mem, 64, 0)));
	check(call_made_of, "a window, its PD", "not made",
	      NOT_MADE(pd->handle, ibv_alloc_mw(pd, IBV_MW_TYPE_1)));
	check(call_made_of, "an SRQ, its PD", "not made",
	      NOT_MADE(pd->handle, ibv_create_srq(pd, &srq_init)));
	pd->context = other;
	check(call_context, "ibv_dealloc_pd", "ENOENT", error_name(ibv_dealloc_pd(pd)));
	pd->context = ad.ctx;
	NEED(!ibv_dealloc_pd(pd) && !ibv_dealloc_mw(mw));
	pair_free(&p);
	NEED(!ibv_close_device(other));
}

static const char *cq_of(int cqe, int vector)
{
	struct ibv_cq *cq = ibv_create_cq(ad.ctx, cqe, NULL, NULL, vector);

	if (cq)
		NEED(!ibv_destroy_cq(cq));
	return cq ? "made" : "not made";
}

static const char *srq_of(uint32_t wr, uint32_t sge)
{
	struct ibv_srq_init_attr init = {.attr = {.max_wr = wr, .max_sge = sge}};
	struct ibv_srq *srq = ibv_create_srq(ad.pd, &init);

	if (srq)
		NEED(!ibv_destroy_srq(srq));
	return srq ? "made" : "not made";
}

static void sizes(void)
{
	struct ibv_device_attr at;

	NEED(!ibv_query_device(ad.ctx, &at));
	check(call_cqe, "-1", "not made", cq_of(-1, 0));
	check(call_cqe, "0", "not made", cq_of(0, 0));
	check(call_cqe, "max_cqe + 1", "not made", cq_of(at.max_cqe + 1, 0));
	check(call_vector, "-1", "not made", cq_of(1, -1));
	check(call_vector, "the last", "made", cq_of(1, ad.ctx->num_comp_vectors - 1));
	check(call_vector, "one more", "not made", cq_of(1, ad.ctx->num_comp_vectors));
	check(call_srq, "the largest", "made",
	      srq_of((uint32_t)at.max_srq_wr, (uint32_t)at.max_srq_sge));
	check(call_srq, "max_srq_wr + 1", "not made", srq_of((uint32_t)at.max_srq_wr + 1, 1));
	check(call_srq, "max_srq_sge + 1", "not made", srq_of(5, (uint32_t)at.max_srq_sge + 1));
}

static void types(void)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp *qp;
	struct pair p;

	NEED(pair_make(&p, &(struct options){0}));
	init = (struct ibv_qp_init_attr){.qp_type = (enum ibv_qp_type)0xf0,
					 .send_cq = p.a.cq,
					 .recv_cq = p.a.cq,
					 .cap = {1, 1, 1, 1, 0}};
	check(call_qp_type, "0xf0", "not made", ibv_create_qp(ad.pd, &init) ? "made" : "not made");
	init.qp_type = IBV_QPT_RC;
	init.cap.max_send_wr = 0;
	qp = ibv_create_qp(ad.pd, &init);
	check(call_no_sends, "max_send_wr 0", "made", qp ? "made" : "not made");
	if (qp)
		NEED(!ibv_destroy_qp(qp));
	pair_free(&p);
}

/* perftest's -I: by ibv_create_qp_ex() with the operations that it will post. */
static void inline_data(uint32_t len, bool made)
{
	struct ibv_qp_init_attr_ex init = {.qp_type = IBV_QPT_RC,
					   .cap = {1, 1, 1, 1, len},
					   .comp_mask = IBV_QP_INIT_ATTR_PD |
							IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
					   .pd = ad.pd,
					   .send_ops_flags = IBV_QP_EX_WITH_SEND};
	struct ibv_qp *qp;
	struct pair p;

	NEED(pair_make(&p, &(struct options){0}));
	init.send_cq = init.recv_cq = p.a.cq;
	qp = ibv_create_qp_ex(ad.ctx, &init);
	check(call_inline, text("%u bytes", len), made ? "made" : "not made",
	      qp ? "made" : "not made");
	if (qp)
		NEED(!ibv_destroy_qp(qp));
	pair_free(&p);
}

/* What a transition needs, each of it left alone; it is whole in the end. */
static void attributes(struct ibv_qp *qp, struct ibv_qp_attr *at, int needs, const char *name)
{
	const char *got = "refused";

	for (int bit = 1; bit <= needs; bit <<= 1)
		if (needs & bit && (bit | IBV_QP_STATE) != (needs | IBV_QP_STATE) &&
		    !ibv_modify_qp(qp, at, bit | IBV_QP_STATE))
			got = text("taken with 0x%x", bit);
	check(call_attributes, name, "refused, all: 0",
	      text("%s, all: %s", got, error_name(ibv_modify_qp(qp, at, needs | IBV_QP_STATE))));
}

static void transitions(void)
{
	struct ibv_qp_attr init = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = QP_RIGHTS};
	struct ibv_qp_attr rtr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.ah_attr = {.dlid = ad.port.lid,
			    .port_num = 1,
			    .is_global = ad.ethernet,
			    .grh = {.dgid = ad.gid, .sgid_index = ad.gid_index, .hop_limit = 1}}};
	struct ibv_qp_attr rts = {.qp_state = IBV_QPS_RTS,
				  .timeout = 14,
				  .retry_cnt = 7,
				  .rnr_retry = 7,
				  .max_rd_atomic = 1};
	const int init_needs = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
	const int rtr_needs = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			      IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	const int rts_needs = IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
			      IBV_QP_MAX_QP_RD_ATOMIC;
	struct pair p;

	NEED(pair_make(&p, &(struct options){.apart = true}));
	to_state(p.a.qp, IBV_QPS_RESET);
	rtr.dest_qp_num = p.b.qp->qp_num;
	check(call_skips, "RESET to RTR", "EINVAL",
	      error_name(ibv_modify_qp(p.a.qp, &rtr, rtr_needs | IBV_QP_STATE)));
	attributes(p.a.qp, &init, init_needs, "RESET to INIT");
	check(call_skips, "INIT to RTS", "EINVAL",
	      error_name(ibv_modify_qp(p.a.qp, &rts, rts_needs | IBV_QP_STATE)));
	attributes(p.a.qp, &rtr, rtr_needs, "INIT to RTR");
	attributes(p.a.qp, &rts, rts_needs, "RTR to RTS");
	check(call_skips, "RTS to RTR", "EINVAL",
	      error_name(ibv_modify_qp(p.a.qp, &rtr, rtr_needs | IBV_QP_STATE)));
	pair_free(&p);
}

void calls_group(void)
{
	handles();
	sizes();
	types();
	if (ad.mlx5 && !for_oracle) {
		inline_data(1004, true);
		inline_data(1005, false);
	}
	transitions();
}
