/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * DEVX commands on objects that libibverbs made, in its context. The same program is linked to
 * libmlx5 and to libdevx: libdevx uses only the command descriptor and handles, while libibverbs
 * has loaded libmlx5, too.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <infiniband/mlx5dv.h>
#include "devx_device.h"
#include "wire/prm/cq.h"
#include "wire/prm/opcodes.h"
#include "wire/prm/qp.h"
#include "wire/prm/rmp_srq.h"

static struct ibv_context *ctx;

static void die(const char *what)
{
	fprintf(stderr, "verbs_objects: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void ok(const char *what, int err)
{
	errno = err;
	if (err)
		die(what);
}

static void on_cq(struct ibv_cq *cq)
{
	uint8_t in[LAYOUT_SZ(query_cq_in)] = {0}, out[LAYOUT_SZ(query_cq_out)];
	uint8_t min[LAYOUT_SZ(modify_cq_in)] = {0}, mout[LAYOUT_SZ(modify_cq_out)];
	uint32_t cqn = 0;

	LAYOUT_SET(query_cq_in, in, opcode, PRM_OP_QUERY_CQ);
	/* Find the CQ's number: the kernel only accepts a command on this very CQ. */
	do {
		if (++cqn == 4096)
			die("the CQ's number");
		LAYOUT_SET(query_cq_in, in, cqn, cqn);
	} while (mlx5dv_devx_cq_query(cq, in, sizeof(in), out, sizeof(out)) == EINVAL);
	ok("QUERY_CQ", mlx5dv_devx_cq_query(cq, in, sizeof(in), out, sizeof(out)));
	LAYOUT_SET(modify_cq_in, min, opcode, PRM_OP_MODIFY_CQ);
	LAYOUT_SET(modify_cq_in, min, cqn, cqn);
	LAYOUT_SET(modify_cq_in, min, modify_field_select, PRM_CQ_MODIFY_MAX_COUNT);
	LAYOUT_SET(cqc, LAYOUT_IN(modify_cq_in, cq_context, min), cq_max_count, 16);
	ok("MODIFY_CQ", mlx5dv_devx_cq_modify(cq, min, sizeof(min), mout, sizeof(mout)));
}

static void on_qp(struct ibv_qp *qp)
{
	uint8_t in[LAYOUT_SZ(query_qp_in)] = {0}, out[LAYOUT_SZ(query_qp_out)];
	uint8_t min[LAYOUT_SZ(rst2init_qp_in)] = {0}, mout[LAYOUT_SZ(rst2init_qp_out)];
	void *qpc = LAYOUT_IN(rst2init_qp_in, qpc, min),
	     *ads = LAYOUT_IN(qpc, primary_address_path, qpc);

	LAYOUT_SET(rst2init_qp_in, min, opcode, PRM_OP_RST2INIT_QP);
	LAYOUT_SET(rst2init_qp_in, min, qpn, qp->qp_num);
	LAYOUT_SET(qpc, qpc, pm_state, 3);
	LAYOUT_SET(ads, ads, vhca_port_num, 1);
	ok("RST2INIT_QP", mlx5dv_devx_qp_modify(qp, min, sizeof(min), mout, sizeof(mout)));
	LAYOUT_SET(query_qp_in, in, opcode, PRM_OP_QUERY_QP);
	LAYOUT_SET(query_qp_in, in, qpn, qp->qp_num);
	ok("QUERY_QP", mlx5dv_devx_qp_query(qp, in, sizeof(in), out, sizeof(out)));
	qpc = LAYOUT_IN(query_qp_out, qpc, out);
	if (LAYOUT_GET(qpc, qpc, state) != 1)
		die("the QP is not in INIT");
	LAYOUT_SET(query_qp_in, in, qpn, qp->qp_num + 1);
	if (mlx5dv_devx_qp_query(qp, in, sizeof(in), out, sizeof(out)) != EINVAL)
		die("QUERY_QP of another QP's number");
}

static void on_others(struct ibv_srq *srq)
{
	/* A handle of no verbs object. */
	struct ibv_wq wq = {.context = ctx, .handle = 0xffff};
	struct ibv_rwq_ind_table tbl = {.context = ctx, .ind_tbl_handle = 0xffff};
	uint8_t in[16] = {0}, out[64];

	if (mlx5dv_devx_srq_query(srq, in, sizeof(in), out, sizeof(out)) != EINVAL ||
	    mlx5dv_devx_srq_modify(srq, in, sizeof(in), out, sizeof(out)) != EINVAL ||
	    mlx5dv_devx_wq_query(&wq, in, sizeof(in), out, sizeof(out)) != ENOENT ||
	    mlx5dv_devx_wq_modify(&wq, in, sizeof(in), out, sizeof(out)) != ENOENT ||
	    mlx5dv_devx_ind_tbl_query(&tbl, in, sizeof(in), out, sizeof(out)) != ENOENT ||
	    mlx5dv_devx_ind_tbl_modify(&tbl, in, sizeof(in), out, sizeof(out)) != ENOENT)
		die("commands that are none");
}

int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_srq_init_attr srq_attr = {.attr = {.max_wr = 4, .max_sge = 1}};
	struct ibv_qp_init_attr qp_attr = {
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1}};
	struct ibv_srq *srq;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;

	ctx = list && list[0] ? ibv_open_device(list[0]) : NULL;
	if (!ctx)
		die("the first device");
	pd = ibv_alloc_pd(ctx);
	cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	srq = pd ? ibv_create_srq(pd, &srq_attr) : NULL;
	qp_attr.send_cq = qp_attr.recv_cq = cq;
	qp = pd && cq ? ibv_create_qp(pd, &qp_attr) : NULL;
	if (!srq || !qp)
		die("verbs objects");
	device_record("record_start");
	on_cq(cq);
	on_qp(qp);
	on_others(srq);
	device_record("record_stop");
#ifdef HAVE_LIBDEVX
	if (!devx_open(NULL, MLX5DV_CONTEXT_FLAGS_DEVX) || devx_close(ctx) != EINVAL)
		die("a context of libdevx beside libibverbs' one");
#endif
	if (ibv_destroy_qp(qp) || ibv_destroy_srq(srq) || ibv_destroy_cq(cq) ||
	    ibv_dealloc_pd(pd) || ibv_close_device(ctx))
		die("clean-up");
	ibv_free_device_list(list);
	return 0;
}
