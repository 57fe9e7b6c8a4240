/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The steps of UCX when it opens dc_mlx5 and connects rc_mlx5 (uct_ib_mlx5_devx_*): it finds the
 * set of Q counters of a verbs QP, which mlx5_ib has allocated for all uids (counters.c,
 * mlx5_ib_alloc_counters(): MLX5_SHARED_RESOURCE_UID), and lets DEVX objects use it, too. Then
 * QUERY_LAG, which succeeds and reports no LAG.
 */
#include "wire/prm/cmd_hdr.h"
#include "wire/prm/dct.h"
#include "wire/prm/opcodes.h"
#include "wire/prm/qp.h"
#include "wire/prm/umem.h"
#include "wire/prm/vport.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <infiniband/mlx5dv.h>

static struct ibv_context *ctx;

static void need(int ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "shared: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint32_t set_of(struct ibv_qp *qp)
{
	uint8_t in[LAYOUT_SZ(query_qp_in)] = {0}, out[LAYOUT_SZ(query_qp_out)];

	LAYOUT_SET(query_qp_in, in, opcode, PRM_OP_QUERY_QP);
	LAYOUT_SET(query_qp_in, in, qpn, qp->qp_num);
	errno = mlx5dv_devx_qp_query(qp, in, sizeof(in), out, sizeof(out));
	need(!errno, "QUERY_QP");
	return (uint32_t)LAYOUT_GET(qpc, LAYOUT_IN(query_qp_out, qpc, out), counter_set_id);
}

static struct mlx5dv_devx_obj *create(const void *in, size_t inlen, void *out, size_t outlen,
				      const char *what)
{
	struct mlx5dv_devx_obj *obj = mlx5dv_devx_obj_create(ctx, in, inlen, out, outlen);

	if (!obj)
		fprintf(stderr, "syndrome 0x%x\n", (uint32_t)LAYOUT_GET(cmd_out, out, syndrome));
	need(!!obj, what);
	return obj;
}

static void dct(uint32_t set, uint32_t pdn, uint32_t cqn, uint32_t srqn)
{
	uint8_t in[LAYOUT_SZ(create_dct_in)] = {0}, out[LAYOUT_SZ(create_dct_out)] = {0};
	void *dctc = LAYOUT_IN(create_dct_in, dct_context_entry, in);

	LAYOUT_SET(create_dct_in, in, opcode, PRM_OP_CREATE_DCT);
	LAYOUT_SET(dctc, dctc, pd, pdn);
	LAYOUT_SET(dctc, dctc, cqn, cqn);
	LAYOUT_SET(dctc, dctc, srqn_xrqn, srqn);
	LAYOUT_SET(dctc, dctc, port, 1);
	LAYOUT_SET(dctc, dctc, mtu, 5);
	LAYOUT_SET(dctc, dctc, counter_set_id, set);
	mlx5dv_devx_obj_destroy(create(in, sizeof(in), out, sizeof(out), "CREATE_DCT"));
}

static void queue_pair(uint32_t set, uint32_t pdn, uint32_t cqn)
{
	uint8_t in[LAYOUT_SZ(create_qp_in)] = {0}, out[LAYOUT_SZ(create_qp_out)] = {0};
	uint8_t min[LAYOUT_SZ(rst2init_qp_in)] = {0}, mout[LAYOUT_SZ(rst2init_qp_out)];
	struct mlx5dv_devx_uar *uar = mlx5dv_devx_alloc_uar(ctx, MLX5DV_UAR_ALLOC_TYPE_NC);
	void *page = aligned_alloc(4096, 4096), *qpc = LAYOUT_IN(create_qp_in, qpc, in);
	struct mlx5dv_devx_umem *umem = mlx5dv_devx_umem_reg(ctx, page, 4096, 1);
	struct mlx5dv_devx_obj *qp;

	need(uar && umem, "UAR and umem");
	memset(page, 0, 4096);
	LAYOUT_SET(create_qp_in, in, opcode, PRM_OP_CREATE_QP);
	LAYOUT_SET(create_qp_in, in, wq_umem_id, umem->umem_id);
	LAYOUT_SET(qpc, qpc, pm_state, 3);
	LAYOUT_SET(qpc, qpc, pd, pdn);
	LAYOUT_SET(qpc, qpc, uar_page, uar->page_id);
	LAYOUT_SET(qpc, qpc, cqn_snd, cqn);
	LAYOUT_SET(qpc, qpc, cqn_rcv, cqn);
	LAYOUT_SET(qpc, qpc, log_rq_size, 2);
	LAYOUT_SET(qpc, qpc, log_sq_size, 2);
	LAYOUT_SET(qpc, qpc, user_index, 0xffffff);
	LAYOUT_SET(qpc, qpc, dbr_umem_id, umem->umem_id);
	LAYOUT_SET(qpc, qpc, dbr_addr, 2048);
	qp = create(in, sizeof(in), out, sizeof(out), "CREATE_QP");

	LAYOUT_SET(rst2init_qp_in, min, opcode, PRM_OP_RST2INIT_QP);
	LAYOUT_SET(rst2init_qp_in, min, qpn, LAYOUT_GET(create_qp_out, out, qpn));
	qpc = LAYOUT_IN(rst2init_qp_in, qpc, min);
	LAYOUT_SET(qpc, qpc, pm_state, 3);
	LAYOUT_SET(qpc, qpc, counter_set_id, set);
	LAYOUT_SET(ads, LAYOUT_IN(qpc, primary_address_path, qpc), vhca_port_num, 1);
	errno = mlx5dv_devx_obj_modify(qp, min, sizeof(min), mout, sizeof(mout));
	need(!errno, "RST2INIT_QP");
	mlx5dv_devx_obj_destroy(qp);
	mlx5dv_devx_umem_dereg(umem);
	mlx5dv_devx_free_uar(uar);
	free(page);
}

static void no_lag(void)
{
	uint8_t in[LAYOUT_SZ(query_lag_in)] = {0}, out[LAYOUT_SZ(query_lag_out)];

	LAYOUT_SET(query_lag_in, in, opcode, PRM_OP_QUERY_LAG);
	errno = mlx5dv_devx_general_cmd(ctx, in, sizeof(in), out, sizeof(out));
	need(!errno, "QUERY_LAG");
	need(!LAYOUT_GET(lagc, LAYOUT_IN(query_lag_out, ctx, out), lag_state), "no LAG");
}

static struct ibv_context *open_device(void)
{
	struct mlx5dv_context_attr attr = {.flags = MLX5DV_CONTEXT_FLAGS_DEVX};
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *c = list && list[0] ? mlx5dv_open_device(list[0], &attr) : NULL;

	need(!!c, "opening the first device");
	ibv_free_device_list(list);
	return c;
}

int main(void)
{
	struct ibv_srq_init_attr srq_attr = {.attr = {.max_wr = 4, .max_sge = 1}};
	struct ibv_qp_init_attr qp_attr = {
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1}};
	struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	struct mlx5dv_srq srq = {.comp_mask = MLX5DV_SRQ_MASK_SRQN};
	struct mlx5dv_cq cq = {0};
	struct mlx5dv_pd pd = {0};
	struct mlx5dv_obj obj = {.pd = {.out = &pd}, .cq = {.out = &cq}, .srq = {.out = &srq}};
	struct ibv_qp *qp;
	uint32_t set;

	ctx = open_device();
	obj.pd.in = ibv_alloc_pd(ctx);
	obj.cq.in = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	need(obj.pd.in && obj.cq.in, "PD and CQ");
	obj.srq.in = ibv_create_srq(obj.pd.in, &srq_attr);
	qp_attr.send_cq = qp_attr.recv_cq = obj.cq.in;
	qp = ibv_create_qp(obj.pd.in, &qp_attr);
	need(obj.srq.in && qp, "SRQ and QP");
	errno = mlx5dv_init_obj(&obj, MLX5DV_OBJ_PD | MLX5DV_OBJ_CQ | MLX5DV_OBJ_SRQ);
	need(!errno, "mlx5dv_init_obj");
	errno = ibv_modify_qp(qp, &init,
			      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	need(!errno, "INIT");
	set = set_of(qp);
	need(set != 0, "the kernel's set of counters");
	queue_pair(set, pd.pdn, cq.cqn);
	dct(set, pd.pdn, cq.cqn, srq.srqn);
	no_lag();
	need(!ibv_destroy_qp(qp) && !ibv_destroy_srq(obj.srq.in) && !ibv_destroy_cq(obj.cq.in) &&
		     !ibv_dealloc_pd(obj.pd.in) && !ibv_close_device(ctx),
	     "clean-up");
	return 0;
}
