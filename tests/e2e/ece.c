/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ECE as UCX uses it (uct_ib_md_ece_check(), uct_rc_iface_set_ece()): a QP reports its options,
 * gets the other end's before RTR, and afterwards reports the common ones. For an RC QP, for a DCT,
 * whose options count when it is made in RTR, and refusals.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <infiniband/mlx5dv.h>

#include "must.h"

#define MLX 0x15b3u
#define VERSION(n) ((uint32_t)(n) << 28)

static uint32_t query(struct ibv_qp *qp)
{
	struct ibv_ece ece = {.comp_mask = 7};

	errno = ibv_query_ece(qp, &ece);
	need(!errno && ece.vendor_id == MLX && !ece.comp_mask, "ibv_query_ece");
	return ece.options;
}

static int set(struct ibv_qp *qp, uint32_t vendor, uint32_t options)
{
	struct ibv_ece ece = {.vendor_id = vendor, .options = options};

	return ibv_set_ece(qp, &ece);
}

static void modify(struct ibv_qp *qp, struct ibv_qp_attr a, int mask, const char *what)
{
	errno = ibv_modify_qp(qp, &a, IBV_QP_STATE | mask);
	need(!errno, what);
}

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static uint16_t lid;

static void to_init(struct ibv_qp *qp)
{
	modify(qp, (struct ibv_qp_attr){.qp_state = IBV_QPS_INIT, .port_num = 1},
	       IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, "INIT");
}

static struct ibv_qp *rc_new(void)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.send_cq = cq,
		.recv_cq = cq,
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1}};
	struct ibv_qp *qp = ibv_create_qp(pd, &attr);

	need(!!qp, "RC QP");
	return qp;
}

static void to_rtr(struct ibv_qp *qp, uint32_t dest)
{
	modify(qp,
	       (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR,
				    .path_mtu = IBV_MTU_1024,
				    .dest_qp_num = dest,
				    .min_rnr_timer = 12,
				    .ah_attr = {.dlid = lid, .port_num = 1}},
	       IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
	       "RTR");
}

static void rc(void)
{
	struct ibv_qp *a = rc_new(), *b = rc_new();

	need(query(a) >> 28 != 0, "a version");
	need(set(a, 0, 0) == EOPNOTSUPP, "no vendor");
	need(set(a, 0x1234, 0) == EINVAL, "another vendor");
	to_init(a);
	to_init(b);
	need(!set(b, MLX, query(a)), "ibv_set_ece");
	to_rtr(b, a->qp_num);
	need(query(b) == query(a), "two of a kind agree");
	need(!set(a, MLX, VERSION(1) | 0xffff), "ibv_set_ece");
	to_rtr(a, b->qp_num);
	need(query(a) == VERSION(1), "an older end, and options that this one has not");
	need(!ibv_destroy_qp(a) && !ibv_destroy_qp(b), "destroying");
}

static void dct(void)
{
	struct ibv_srq_init_attr srq_attr = {.attr = {.max_wr = 4, .max_sge = 1}};
	struct ibv_srq *srq = ibv_create_srq(pd, &srq_attr);
	struct ibv_qp_init_attr_ex attr = {.qp_type = IBV_QPT_DRIVER,
					   .comp_mask = IBV_QP_INIT_ATTR_PD,
					   .pd = pd,
					   .send_cq = cq,
					   .recv_cq = cq,
					   .srq = srq};
	struct mlx5dv_qp_init_attr dv = {.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_DC,
					 .dc_init_attr = {.dc_type = MLX5DV_DCTYPE_DCT}};
	struct ibv_qp *qp = mlx5dv_create_qp(ctx, &attr, &dv);

	need(!!qp, "DCT");
	to_init(qp);
	need(!set(qp, MLX, VERSION(2) | 1), "ibv_set_ece of a DCT");
	modify(qp,
	       (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR,
				    .path_mtu = IBV_MTU_1024,
				    .min_rnr_timer = 12,
				    .ah_attr = {.port_num = 1}},
	       IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_MIN_RNR_TIMER, "RTR of a DCT");
	need(query(qp) == VERSION(2), "what a DCT agrees to");
	need(!ibv_destroy_qp(qp) && !ibv_destroy_srq(srq), "destroying the DCT");
}

int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_port_attr port;

	ctx = list && list[0] ? ibv_open_device(list[0]) : NULL;
	need(!!ctx, "opening the first device");
	ibv_free_device_list(list);
	pd = ibv_alloc_pd(ctx);
	cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	need(pd && cq && !ibv_query_port(ctx, 1, &port), "PD, CQ and port");
	lid = port.lid;
	rc();
	dct();
	need(!ibv_destroy_cq(cq) && !ibv_dealloc_pd(pd) && !ibv_close_device(ctx), "clean-up");
	return 0;
}
