/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Calls every function of libibverbs and libmlx5 that a rule of --inject can name, once, and prints
 * "NAME: RESULT": ok, the name of errno, or "-" where an earlier failure left nothing to call it
 * with. Started by test_inject.py.
 */
#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void say(const char *name, int err)
{
	printf("%s: %s\n", name, err > 0 ? strerrorname_np(err) : err < 0 ? "-" : "ok");
}

/* A call that makes something, and one that returns an error. `need`: what it works on. */
#define MAKE(name, need, call)                               \
	((need) ? (errno = 0, (call)) : (errno = -1, NULL)); \
	say(name, errno)
#define DO(name, need, call) say(name, (need) ? (call) : -1)

static int plus(int r)
{
	return r < 0 ? errno ? errno : -r : r;
}

int main(void)
{
	static uint8_t buf[8192] __attribute__((aligned(4096)));
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_device_attr da;
	struct ibv_device_attr_ex dax;
	struct ibv_port_attr pa;
	struct ibv_gid_entry ge, table[64];
	struct ibv_context *c;
	struct mlx5dv_context_attr dv = {.flags = MLX5DV_CONTEXT_FLAGS_DEVX};

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!list || !list[0])
		return 77;
	errno = 0;
	c = mlx5dv_open_device(list[0], &dv);
	say("ibv_open_device", c ? 0 : errno);
	if (!c)
		return 0;
	DO("ibv_query_device", c, ibv_query_device(c, &da));
	DO("ibv_query_device_ex", c, ibv_query_device_ex(c, NULL, &dax));
	DO("ibv_query_port", c, ibv_query_port(c, 1, &pa));
	DO("ibv_query_gid_ex", c, ibv_query_gid_ex(c, 1, 0, &ge, 0));
	DO("ibv_query_gid_table", c, ibv_query_gid_table(c, table, 64, 0) > 0 ? 0 : errno);

	struct ibv_pd *pd = MAKE("ibv_alloc_pd", c, ibv_alloc_pd(c));
	struct ibv_mr *mr =
		MAKE("ibv_reg_mr", pd, ibv_reg_mr(pd, buf, 4096, IBV_ACCESS_LOCAL_WRITE));
	struct ibv_sge sge = {(uintptr_t)buf, 64, mr ? mr->lkey : 0};
	struct ibv_mr *odp = pd ? ibv_reg_mr(pd, buf, 4096, IBV_ACCESS_ON_DEMAND) : NULL;
	DO("ibv_rereg_mr", mr,
	   plus(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, 0)));
	if (odp)
		sge.lkey = odp->lkey;
	DO("ibv_advise_mr", odp, ibv_advise_mr(pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, &sge, 1));
	struct ibv_mw *mw = MAKE("ibv_alloc_mw", pd, ibv_alloc_mw(pd, IBV_MW_TYPE_2));
	DO("ibv_dealloc_mw", mw, ibv_dealloc_mw(mw));
	struct ibv_alloc_dm_attr dma = {.length = 4096};
	struct ibv_dm *dm = MAKE("ibv_alloc_dm", c, ibv_alloc_dm(c, &dma));
	struct ibv_mr *dmr = MAKE("ibv_reg_dm_mr", dm && pd,
				  ibv_reg_dm_mr(pd, dm, 0, 4096, IBV_ACCESS_ZERO_BASED));
	DO("ibv_dereg_mr", dmr, ibv_dereg_mr(dmr));
	DO("ibv_free_dm", dm, ibv_free_dm(dm));
	struct ibv_comp_channel *ch =
		MAKE("ibv_create_comp_channel", c, ibv_create_comp_channel(c));
	struct ibv_cq *cq = MAKE("ibv_create_cq", c, ibv_create_cq(c, 16, NULL, ch, 0));
	struct ibv_cq_init_attr_ex cx = {.cqe = 16, .wc_flags = IBV_WC_STANDARD_FLAGS};
	struct ibv_cq_ex *cqx = MAKE("ibv_create_cq_ex", c, ibv_create_cq_ex(c, &cx));
	DO("ibv_resize_cq", cq, ibv_resize_cq(cq, 32));
	struct ibv_modify_cq_attr mc = {.attr_mask = IBV_CQ_ATTR_MODERATE, .moderate = {1, 1}};
	DO("ibv_modify_cq", cq, ibv_modify_cq(cq, &mc));
	struct ibv_srq_init_attr si = {.attr = {.max_wr = 16, .max_sge = 1}}, sj = si;
	struct ibv_srq *srq = MAKE("ibv_create_srq", pd, ibv_create_srq(pd, &si));
	DO("ibv_modify_srq", srq, ibv_modify_srq(srq, &sj.attr, IBV_SRQ_LIMIT));
	DO("ibv_query_srq", srq, ibv_query_srq(srq, &sj.attr));
	DO("ibv_destroy_srq", srq, ibv_destroy_srq(srq));
	struct ibv_qp_init_attr qi = {
		.send_cq = cq, .recv_cq = cq, .cap = {8, 8, 1, 1, 0}, .qp_type = IBV_QPT_UD};
	struct ibv_qp *qp = MAKE("ibv_create_qp", pd && cq, ibv_create_qp(pd, &qi));
	struct ibv_qp_attr qa = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 1};
	DO("ibv_modify_qp", qp,
	   ibv_modify_qp(qp, &qa, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY));
	DO("ibv_query_qp", qp, ibv_query_qp(qp, &qa, IBV_QP_STATE, &qi));
	union ibv_gid mgid = {.raw = {0xff, 0x12, [15] = 1}};
	DO("ibv_attach_mcast", qp, ibv_attach_mcast(qp, &mgid, 0xc001));
	DO("ibv_detach_mcast", qp, ibv_detach_mcast(qp, &mgid, 0xc001));
	DO("ibv_destroy_qp", qp, ibv_destroy_qp(qp));
	struct ibv_ah_attr aa = {.dlid = 1, .port_num = 1, .is_global = 1};
	if (c && ibv_query_gid(c, 1, 0, &aa.grh.dgid))
		return 1;
	struct ibv_ah *ah = MAKE("ibv_create_ah", pd, ibv_create_ah(pd, &aa));
	DO("ibv_destroy_ah", ah, ibv_destroy_ah(ah));
	struct ibv_xrcd_init_attr xi = {.comp_mask =
						IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
					.fd = -1,
					.oflags = 0100};
	struct ibv_xrcd *x = MAKE("ibv_open_xrcd", c, ibv_open_xrcd(c, &xi));
	struct ibv_srq_init_attr_ex sx = {.attr = {.max_wr = 16, .max_sge = 1},
					  .comp_mask = IBV_SRQ_INIT_ATTR_TYPE |
						       IBV_SRQ_INIT_ATTR_XRCD |
						       IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_PD,
					  .srq_type = IBV_SRQT_XRC,
					  .pd = pd,
					  .xrcd = x,
					  .cq = cq};
	struct ibv_srq *xsrq = MAKE("ibv_create_srq_ex", x && pd && cq, ibv_create_srq_ex(c, &sx));
	struct ibv_qp_init_attr_ex qx = {
		.qp_type = IBV_QPT_XRC_RECV, .comp_mask = IBV_QP_INIT_ATTR_XRCD, .xrcd = x};
	struct ibv_qp *tgt = MAKE("ibv_create_qp_ex", x, ibv_create_qp_ex(c, &qx));
	struct ibv_qp_open_attr qo = {.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD |
						   IBV_QP_OPEN_ATTR_TYPE,
				      .qp_num = tgt ? tgt->qp_num : 0,
				      .xrcd = x,
				      .qp_type = IBV_QPT_XRC_RECV};
	struct ibv_qp *opened = MAKE("ibv_open_qp", tgt, ibv_open_qp(c, &qo));
	/* libmlx5 of rdma-core 44 looks for the doorbell record that this QP has not: SIGBUS. */
	(void)opened;
	if (xsrq)
		ibv_destroy_srq(xsrq);
	struct ibv_xrcd *y = c ? ibv_open_xrcd(c, &xi) : NULL;
	DO("ibv_close_xrcd", y, ibv_close_xrcd(y));
	struct ibv_wq_init_attr wi = {
		.wq_type = IBV_WQT_RQ, .max_wr = 8, .max_sge = 1, .pd = pd, .cq = cq};
	struct ibv_wq *wq = MAKE("ibv_create_wq", pd && cq, ibv_create_wq(c, &wi));
	struct ibv_wq_attr wa = {.attr_mask = IBV_WQ_ATTR_STATE, .wq_state = IBV_WQS_RDY};
	DO("ibv_modify_wq", wq, ibv_modify_wq(wq, &wa));
	struct ibv_rwq_ind_table_init_attr ti = {.ind_tbl = &wq};
	struct ibv_rwq_ind_table *it =
		MAKE("ibv_create_rwq_ind_table", wq, ibv_create_rwq_ind_table(c, &ti));
	DO("ibv_destroy_rwq_ind_table", it, ibv_destroy_rwq_ind_table(it));
	DO("ibv_destroy_wq", wq, ibv_destroy_wq(wq));
	struct ibv_mr *im = MAKE("ibv_import_mr", pd && mr, ibv_import_mr(pd, mr->handle));
	if (im)
		ibv_unimport_mr(im);
	DO("ibv_destroy_cq", cqx, ibv_destroy_cq(ibv_cq_ex_to_cq(cqx)));

	struct mlx5dv_devx_umem *um =
		MAKE("mlx5dv_devx_umem_reg", c,
		     mlx5dv_devx_umem_reg(c, buf, 4096, IBV_ACCESS_LOCAL_WRITE));
	DO("mlx5dv_devx_umem_dereg", um, plus(mlx5dv_devx_umem_dereg(um)));
	struct mlx5dv_devx_uar *ua = MAKE("mlx5dv_devx_alloc_uar", c,
					  mlx5dv_devx_alloc_uar(c, MLX5DV_UAR_ALLOC_TYPE_BF));
	if (ua)
		mlx5dv_devx_free_uar(ua);
	uint32_t eqn;
	DO("mlx5dv_devx_query_eqn", c, plus(mlx5dv_devx_query_eqn(c, 0, &eqn)));
	uint8_t cap[16] = {0x01, 0x00}, capo[0x1010] = {0};
	DO("mlx5dv_devx_general_cmd", c,
	   plus(mlx5dv_devx_general_cmd(c, cap, sizeof(cap), capo, sizeof(capo))));
	uint8_t in[16] = {0x08, 0x00}, out[16] = {0}; /* ALLOC_PD */
	struct mlx5dv_devx_obj *o =
		MAKE("mlx5dv_devx_obj_create", c,
		     mlx5dv_devx_obj_create(c, in, sizeof(in), out, sizeof(out)));
	DO("mlx5dv_devx_obj_destroy", o, plus(mlx5dv_devx_obj_destroy(o)));
	struct mlx5dv_devx_cmd_comp *cc =
		MAKE("mlx5dv_devx_create_cmd_comp", c, mlx5dv_devx_create_cmd_comp(c));
	struct mlx5dv_devx_event_channel *ec = MAKE(
		"mlx5dv_devx_create_event_channel", c,
		mlx5dv_devx_create_event_channel(c, MLX5_IB_UAPI_DEVX_CR_EV_CH_FLAGS_OMIT_DATA));
	uint16_t ev = 9;
	DO("mlx5dv_devx_subscribe_devx_event", ec,
	   plus(mlx5dv_devx_subscribe_devx_event(ec, NULL, sizeof(ev), &ev, 1)));
	uint8_t qin[16] = {0x07, 0x71}, qout[16] = {0}; /* ALLOC_Q_COUNTER */
	struct mlx5dv_devx_obj *q = mlx5dv_devx_obj_create(c, qin, sizeof(qin), qout, sizeof(qout));
	uint8_t ask[32] = {0x07, 0x73, [31] = qout[11]}, answer[0x100];
	DO("mlx5dv_devx_obj_query", q,
	   plus(mlx5dv_devx_obj_query(q, ask, sizeof(ask), answer, sizeof(answer))));
	DO("mlx5dv_devx_obj_query_async", q && cc,
	   plus(mlx5dv_devx_obj_query_async(q, ask, sizeof(ask), sizeof(answer), 1, cc)));
	uint8_t rl[48] = {[3] = 100};
	struct mlx5dv_pp *pp = MAKE("mlx5dv_pp_alloc", c, mlx5dv_pp_alloc(c, sizeof(rl), rl, 0));
	if (pp)
		mlx5dv_pp_free(pp);
	struct mlx5dv_var *v = MAKE("mlx5dv_alloc_var", c, mlx5dv_alloc_var(c, 0));
	if (v)
		mlx5dv_free_var(v);
	if (ch && cq)
		ibv_destroy_cq(cq);
	if (mr)
		ibv_dereg_mr(mr);
	if (odp)
		ibv_dereg_mr(odp);
	DO("ibv_dealloc_pd", pd, ibv_dealloc_pd(pd));
	return 0;
}
