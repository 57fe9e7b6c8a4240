/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Objects for DEVX tests, see objects.h. */
#include "objects.h"
#include "wire/prm/opcodes.h"
#include "wire/prm/prm.h"

#define RQ_BYTES (16 << LOG_QUEUE)

void die(const char *what)
{
	fprintf(stderr, "failed: %s (%s)\n", what, strerror(errno));
	exit(1);
}

void region_make(struct objects *o, struct region *r, int byte)
{
	r->p = aligned_alloc(PAGE, PAGE);
	if (!r->p)
		die("memory");
	memset(r->p, byte, PAGE);
	r->umem = mlx5dv_devx_umem_reg(o->ctx, r->p, PAGE, IBV_ACCESS_LOCAL_WRITE);
	if (!r->umem)
		die("mlx5dv_devx_umem_reg");
}

void region_free(struct region *r)
{
	if (mlx5dv_devx_umem_dereg(r->umem))
		die("mlx5dv_devx_umem_dereg");
	free(r->p);
}

static struct mlx5dv_devx_obj *create(struct objects *o, const void *in, size_t inlen, void *out,
				      size_t outlen, const char *what)
{
	struct mlx5dv_devx_obj *obj = mlx5dv_devx_obj_create(o->ctx, in, inlen, out, outlen);

	if (!obj)
		die(what);
	return obj;
}

static void make_pd(struct objects *o)
{
	uint8_t in[LAYOUT_SZ(alloc_pd_in)] = {0}, out[LAYOUT_SZ(alloc_pd_out)];

	LAYOUT_SET(alloc_pd_in, in, opcode, PRM_OP_ALLOC_PD);
	o->pd = create(o, in, sizeof(in), out, sizeof(out), "ALLOC_PD");
	o->pdn = (uint32_t)LAYOUT_GET(alloc_pd_out, out, pd);
}

static void make_mkey(struct objects *o)
{
	uint8_t in[LAYOUT_SZ(create_mkey_in)] = {0}, out[LAYOUT_SZ(create_mkey_out)];
	void *mkc = LAYOUT_IN(create_mkey_in, memory_key_mkey_entry, in);

	region_make(o, &o->data, 0);
	LAYOUT_SET(create_mkey_in, in, opcode, PRM_OP_CREATE_MKEY);
	LAYOUT_SET(create_mkey_in, in, mkey_umem_id, o->data.umem->umem_id);
	LAYOUT_SET(create_mkey_in, in, translations_octword_actual_size, 1);
	LAYOUT_SET(mkc, mkc, access_mode_1_0, 1);
	LAYOUT_SET(mkc, mkc, lr, 1);
	LAYOUT_SET(mkc, mkc, lw, 1);
	LAYOUT_SET(mkc, mkc, qpn, 0xffffff);
	LAYOUT_SET(mkc, mkc, pd, o->pdn);
	LAYOUT_SET(mkc, mkc, start_addr, (uintptr_t)o->data.p);
	LAYOUT_SET(mkc, mkc, len, PAGE);
	LAYOUT_SET(mkc, mkc, log_page_size, 12);
	LAYOUT_SET(mkc, mkc, translations_octword_size, 1);
	o->mkey = create(o, in, sizeof(in), out, sizeof(out), "CREATE_MKEY");
	o->lkey = (uint32_t)LAYOUT_GET(create_mkey_out, out, mkey_index) << 8;
}

static void make_cq(struct objects *o)
{
	uint8_t in[LAYOUT_SZ(create_cq_in)] = {0}, out[LAYOUT_SZ(create_cq_out)];
	void *cqc = LAYOUT_IN(create_cq_in, cq_context, in);
	uint32_t eqn;

	if (mlx5dv_devx_query_eqn(o->ctx, 0, &eqn))
		die("mlx5dv_devx_query_eqn");
	region_make(o, &o->cqe, 0xff);
	region_make(o, &o->cq_dbr, 0);
	LAYOUT_SET(create_cq_in, in, opcode, PRM_OP_CREATE_CQ);
	LAYOUT_SET(create_cq_in, in, cq_umem_id, o->cqe.umem->umem_id);
	LAYOUT_SET(cqc, cqc, log_cq_size, LOG_QUEUE);
	LAYOUT_SET(cqc, cqc, uar_page, o->uar->page_id);
	LAYOUT_SET(cqc, cqc, c_eqn, eqn);
	LAYOUT_SET(cqc, cqc, dbr_umem_id, o->cq_dbr.umem->umem_id);
	o->cq = create(o, in, sizeof(in), out, sizeof(out), "CREATE_CQ");
	o->cqn = (uint32_t)LAYOUT_GET(create_cq_out, out, cqn);
}

static void query_lid(struct objects *o)
{
	uint8_t in[LAYOUT_SZ(query_hca_vport_context_in)] = {0};
	uint8_t out[LAYOUT_SZ(query_hca_vport_context_out)];

	LAYOUT_SET(query_hca_vport_context_in, in, opcode, PRM_OP_QUERY_HCA_VPORT_CONTEXT);
	if (mlx5dv_devx_general_cmd(o->ctx, in, sizeof(in), out, sizeof(out)))
		die("QUERY_HCA_VPORT_CONTEXT");
	o->lid = (uint32_t)LAYOUT_GET(
		hca_vport_context, LAYOUT_IN(query_hca_vport_context_out, hca_vport_context, out),
		lid);
}

void objects_make(struct objects *o)
{
	o->ctx = device_open();
	if (!o->ctx)
		die("opening the first device with DEVX");
	o->uar = mlx5dv_devx_alloc_uar(o->ctx, MLX5DV_UAR_ALLOC_TYPE_NC);
	if (!o->uar)
		die("mlx5dv_devx_alloc_uar");
	query_lid(o);
	make_pd(o);
	make_mkey(o);
	make_cq(o);
}

void objects_free(struct objects *o)
{
	if (mlx5dv_devx_obj_destroy(o->cq) || mlx5dv_devx_obj_destroy(o->mkey) ||
	    mlx5dv_devx_obj_destroy(o->pd))
		die("mlx5dv_devx_obj_destroy");
	region_free(&o->cqe);
	region_free(&o->cq_dbr);
	region_free(&o->data);
	mlx5dv_devx_free_uar(o->uar);
	if (device_close(o->ctx))
		die("closing the device");
}

void qp_make(struct objects *o, struct queue_pair *q)
{
	uint8_t in[LAYOUT_SZ(create_qp_in)] = {0}, out[LAYOUT_SZ(create_qp_out)];
	void *qpc = LAYOUT_IN(create_qp_in, qpc, in);

	*q = (struct queue_pair){0};
	region_make(o, &q->wq, 0);
	region_make(o, &q->dbr, 0);
	LAYOUT_SET(create_qp_in, in, opcode, PRM_OP_CREATE_QP);
	LAYOUT_SET(create_qp_in, in, wq_umem_id, q->wq.umem->umem_id);
	LAYOUT_SET(qpc, qpc, pm_state, 3);
	LAYOUT_SET(qpc, qpc, pd, o->pdn);
	LAYOUT_SET(qpc, qpc, uar_page, o->uar->page_id);
	LAYOUT_SET(qpc, qpc, cqn_snd, o->cqn);
	LAYOUT_SET(qpc, qpc, cqn_rcv, o->cqn);
	LAYOUT_SET(qpc, qpc, log_rq_size, LOG_QUEUE);
	LAYOUT_SET(qpc, qpc, log_sq_size, LOG_QUEUE);
	LAYOUT_SET(qpc, qpc, user_index, 0xffffff);
	LAYOUT_SET(qpc, qpc, dbr_umem_id, q->dbr.umem->umem_id);
	q->obj = create(o, in, sizeof(in), out, sizeof(out), "CREATE_QP");
	q->qpn = (uint32_t)LAYOUT_GET(create_qp_out, out, qpn);
}

static void modify(struct queue_pair *q, const void *in, size_t inlen)
{
	uint8_t out[LAYOUT_SZ(rst2init_qp_out)];

	if (mlx5dv_devx_obj_modify(q->obj, in, inlen, out, sizeof(out)))
		die("modifying a QP");
}

void qp_connect(struct objects *o, struct queue_pair *q, const struct queue_pair *to)
{
	uint8_t init[LAYOUT_SZ(rst2init_qp_in)] = {0}, rtr[LAYOUT_SZ(init2rtr_qp_in)] = {0};
	uint8_t rts[LAYOUT_SZ(rtr2rts_qp_in)] = {0};
	void *qpc = LAYOUT_IN(rst2init_qp_in, qpc, init), *ads;

	LAYOUT_SET(rst2init_qp_in, init, opcode, PRM_OP_RST2INIT_QP);
	LAYOUT_SET(rst2init_qp_in, init, qpn, q->qpn);
	LAYOUT_SET(qpc, qpc, rwe, 1);
	LAYOUT_SET(qpc, qpc, pm_state, 3);
	ads = LAYOUT_IN(qpc, primary_address_path, qpc);
	LAYOUT_SET(ads, ads, vhca_port_num, 1);
	modify(q, init, sizeof(init));

	qpc = LAYOUT_IN(init2rtr_qp_in, qpc, rtr);
	LAYOUT_SET(init2rtr_qp_in, rtr, opcode, PRM_OP_INIT2RTR_QP);
	LAYOUT_SET(init2rtr_qp_in, rtr, qpn, q->qpn);
	LAYOUT_SET(qpc, qpc, mtu, IBV_MTU_4096);
	LAYOUT_SET(qpc, qpc, log_msg_max, 30);
	LAYOUT_SET(qpc, qpc, remote_qpn, to->qpn);
	LAYOUT_SET(qpc, qpc, min_rnr_nak, 12);
	ads = LAYOUT_IN(qpc, primary_address_path, qpc);
	LAYOUT_SET(ads, ads, rlid, o->lid);
	LAYOUT_SET(ads, ads, vhca_port_num, 1);
	modify(q, rtr, sizeof(rtr));

	qpc = LAYOUT_IN(rtr2rts_qp_in, qpc, rts);
	LAYOUT_SET(rtr2rts_qp_in, rts, opcode, PRM_OP_RTR2RTS_QP);
	LAYOUT_SET(rtr2rts_qp_in, rts, qpn, q->qpn);
	LAYOUT_SET(qpc, qpc, retry_count, 7);
	LAYOUT_SET(qpc, qpc, rnr_retry, 7);
	ads = LAYOUT_IN(qpc, primary_address_path, qpc);
	LAYOUT_SET(ads, ads, ack_timeout, 14);
	modify(q, rts, sizeof(rts));
}

void qp_free(struct queue_pair *q)
{
	if (mlx5dv_devx_obj_destroy(q->obj))
		die("DESTROY_QP");
	region_free(&q->wq);
	region_free(&q->dbr);
}

void qp_receive(struct objects *o, struct queue_pair *q)
{
	uint8_t *wqe = q->wq.p + (q->rq_pi % (1 << LOG_QUEUE)) * 16;

	mlx5dv_set_data_seg((void *)wqe, 256, o->lkey, (uintptr_t)o->data.p + 2048);
	q->rq_pi++;
	__atomic_thread_fence(__ATOMIC_RELEASE);
	((__be32 *)q->dbr.p)[MLX5_RCV_DBR] = htobe32(q->rq_pi);
}

static void ring(void *reg, const void *qword)
{
	uint64_t v;

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	memcpy(&v, qword, sizeof(v));
	*(volatile uint64_t *)reg = v;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void qp_send(struct objects *o, struct queue_pair *q, uint32_t len)
{
	uint8_t *wqe = q->wq.p + RQ_BYTES + (q->sq_pi % (1 << LOG_QUEUE)) * 64;
	struct mlx5_wqe_ctrl_seg *ctrl = (void *)wqe;

	mlx5dv_set_ctrl_seg(ctrl, q->sq_pi, MLX5_OPCODE_SEND, 0, q->qpn, MLX5_WQE_CTRL_CQ_UPDATE, 2,
			    0, 0);
	mlx5dv_set_data_seg((void *)(ctrl + 1), len, o->lkey, (uintptr_t)o->data.p);
	q->sq_pi++;
	__atomic_thread_fence(__ATOMIC_RELEASE);
	((__be32 *)q->dbr.p)[MLX5_SND_DBR] = htobe32(q->sq_pi);
	ring(o->uar->reg_addr, ctrl);
}

const struct mlx5_cqe64 *cq_poll(struct objects *o)
{
	struct mlx5_cqe64 *cqe = (struct mlx5_cqe64 *)o->cqe.p + o->ci % (1 << LOG_QUEUE);
	uint8_t op_own = __atomic_load_n(&cqe->op_own, __ATOMIC_ACQUIRE);

	if (op_own >> 4 == MLX5_CQE_INVALID ||
	    (op_own & MLX5_CQE_OWNER_MASK) != (o->ci >> LOG_QUEUE & 1))
		return NULL;
	o->ci++;
	*(__be32 *)o->cq_dbr.p = htobe32(o->ci & 0xffffff);
	return cqe;
}

void cq_arm(struct objects *o)
{
	__be32 db[2] = {htobe32((++o->arm_sn & 3) << 28 | (o->ci & 0xffffff)), htobe32(o->cqn)};

	((__be32 *)o->cq_dbr.p)[1] = db[0];
	ring((char *)o->uar->base_addr + 0x20, db);
}
