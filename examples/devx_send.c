/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * DEVX from end to end, against stock libmlx5: two RC queue pairs made by PRM commands, connected
 *to each other, a send work request written by hand and rung on a UAR, its completions read from a
 * verbs CQ's memory, and one deliberate mistake.
 *
 *	softhca run -- build/examples/devx_send
 *
 * It runs unchanged on a ConnectX with DEVX. Exit status 0: the message arrived as it was sent.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <infiniband/mlx5dv.h>
#include "wire/prm/prm.h"

#define PAGE 4096
#define LOG_RQ_SIZE 4   /* 16 receive WQEs ... */
#define LOG_RQ_STRIDE 0 /* ... of 16 bytes << 0: one data segment */
#define LOG_SQ_SIZE 4   /* 16 send WQE basic blocks of 64 bytes */
#define RQ_BYTES (16 << (LOG_RQ_SIZE + LOG_RQ_STRIDE))
#define DBR_OFFSET 0 /* of the doorbell record in its umem */

static const char message[] = "Sent by a work request written by hand.";

struct qp {
	struct mlx5dv_devx_obj *obj;
	struct mlx5dv_devx_umem *wq_umem, *dbr_umem;
	uint8_t *wq;
	__be32 *dbr; /* [0] receive, [1] send counter */
	uint32_t qpn;
	uint16_t rq_pi, sq_pi;
};

struct demo {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	uint32_t pdn, cqn, eqn, lid;
	uint8_t *cqe; /* the CQ's buffer */
	__be32 *cq_dbr;
	uint32_t cqe_size, cqe_cnt, ci;
	struct mlx5dv_devx_uar *nc, *bf;
	struct qp a, b;
	char *buf;
};

static void die(const char *what)
{
	fprintf(stderr, "devx_send: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void *pages(size_t bytes)
{
	void *p = NULL;

	if (posix_memalign(&p, PAGE, bytes))
		die("memory");
	memset(p, 0, bytes);
	return p;
}

static void open_device(struct demo *d)
{
	struct mlx5dv_context_attr attr = {.flags = MLX5DV_CONTEXT_FLAGS_DEVX};
	struct ibv_device **list = ibv_get_device_list(NULL);

	if (!list || !list[0])
		die("no RDMA device");
	d->ctx = mlx5dv_open_device(list[0], &attr);
	if (!d->ctx)
		die("mlx5dv_open_device with DEVX");
	printf("opened %s\n", ibv_get_device_name(list[0]));
	ibv_free_device_list(list);
}

/* General commands: what the device can do, and our LID. */
static void query_device(struct demo *d)
{
	uint8_t in[LAYOUT_SZ(query_hca_cap_in)] = {0};
	uint8_t out[LAYOUT_SZ(query_hca_cap_out)] = {0};
	uint8_t vin[LAYOUT_SZ(query_hca_vport_context_in)] = {0};
	uint8_t vout[LAYOUT_SZ(query_hca_vport_context_out)] = {0};
	const void *cap = LAYOUT_IN(query_hca_cap_out, capability, out), *vport;
	unsigned int ports;

	LAYOUT_SET(query_hca_cap_in, in, opcode, PRM_OP_QUERY_HCA_CAP);
	LAYOUT_SET(query_hca_cap_in, in, op_mod, 1); /* general capabilities, current values */
	if (mlx5dv_devx_general_cmd(d->ctx, in, sizeof(in), out, sizeof(out)))
		die("QUERY_HCA_CAP");
	ports = (unsigned int)LAYOUT_GET(cmd_hca_cap, cap, num_ports);
	printf("QUERY_HCA_CAP: %u port(s), 2^%u QPs, 2^%u CQs\n", ports,
	       (unsigned int)LAYOUT_GET(cmd_hca_cap, cap, log_max_qp),
	       (unsigned int)LAYOUT_GET(cmd_hca_cap, cap, log_max_cq));

	LAYOUT_SET(query_hca_vport_context_in, vin, opcode, PRM_OP_QUERY_HCA_VPORT_CONTEXT);
	LAYOUT_SET(query_hca_vport_context_in, vin, port_num, ports > 1 ? 1 : 0);
	if (mlx5dv_devx_general_cmd(d->ctx, vin, sizeof(vin), vout, sizeof(vout)))
		die("QUERY_HCA_VPORT_CONTEXT");
	vport = LAYOUT_IN(query_hca_vport_context_out, hca_vport_context, vout);
	d->lid = (uint32_t)LAYOUT_GET(hca_vport_context, vport, lid);
	if (mlx5dv_devx_query_eqn(d->ctx, 0, &d->eqn))
		die("mlx5dv_devx_query_eqn");
	printf("QUERY_HCA_VPORT_CONTEXT: LID %u; completion vector 0 is EQ %u\n", d->lid, d->eqn);
}

/* Objects of plain verbs, and the numbers under which the hardware knows them. */
static void make_verbs_objects(struct demo *d)
{
	struct mlx5dv_cq cq;
	struct mlx5dv_pd pd;
	struct mlx5dv_obj obj = {.cq = {.out = &cq}, .pd = {.out = &pd}};

	d->pd = ibv_alloc_pd(d->ctx);
	d->cq = ibv_create_cq(d->ctx, 16, NULL, NULL, 0);
	d->buf = pages(PAGE);
	if (!d->pd || !d->cq)
		die("verbs PD and CQ");
	d->mr = ibv_reg_mr(d->pd, d->buf, PAGE, IBV_ACCESS_LOCAL_WRITE);
	if (!d->mr)
		die("ibv_reg_mr");
	obj.cq.in = d->cq;
	obj.pd.in = d->pd;
	if (mlx5dv_init_obj(&obj, MLX5DV_OBJ_CQ | MLX5DV_OBJ_PD))
		die("mlx5dv_init_obj");
	d->pdn = pd.pdn;
	d->cqn = cq.cqn;
	d->cqe = cq.buf;
	d->cq_dbr = cq.dbrec;
	d->cqe_size = cq.cqe_size;
	d->cqe_cnt = cq.cqe_cnt;
	d->nc = mlx5dv_devx_alloc_uar(d->ctx, MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC);
	d->bf = mlx5dv_devx_alloc_uar(d->ctx, MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF);
	if (!d->nc || !d->bf)
		die("mlx5dv_devx_alloc_uar");
	printf("verbs PD 0x%x and CQ 0x%x; UAR pages: NC %u, BF %u\n", d->pdn, d->cqn,
	       d->nc->page_id, d->bf->page_id);
}

static int create_qp(struct demo *d, struct qp *q, uint32_t pdn, const struct mlx5dv_devx_uar *uar,
		     uint8_t out[LAYOUT_SZ(create_qp_out)])
{
	uint8_t in[LAYOUT_SZ(create_qp_in)] = {0};
	void *qpc = LAYOUT_IN(create_qp_in, qpc, in);

	LAYOUT_SET(create_qp_in, in, opcode, PRM_OP_CREATE_QP);
	LAYOUT_SET(create_qp_in, in, wq_umem_valid, 1);
	LAYOUT_SET(create_qp_in, in, wq_umem_id, q->wq_umem->umem_id);
	LAYOUT_SET(qpc, qpc, st, 0);       /* RC */
	LAYOUT_SET(qpc, qpc, pm_state, 3); /* migrated */
	LAYOUT_SET(qpc, qpc, pd, pdn);
	LAYOUT_SET(qpc, qpc, uar_page, uar->page_id);
	LAYOUT_SET(qpc, qpc, cqn_snd, d->cqn);
	LAYOUT_SET(qpc, qpc, cqn_rcv, d->cqn);
	LAYOUT_SET(qpc, qpc, log_rq_size, LOG_RQ_SIZE);
	LAYOUT_SET(qpc, qpc, log_rq_stride, LOG_RQ_STRIDE);
	LAYOUT_SET(qpc, qpc, log_sq_size, LOG_SQ_SIZE);
	LAYOUT_SET(qpc, qpc, user_index, 0xffffff);
	LAYOUT_SET(qpc, qpc, cs_req, 0);
	LAYOUT_SET(qpc, qpc, cs_res, 0);
	LAYOUT_SET(qpc, qpc, dbr_umem_valid, 1);
	LAYOUT_SET(qpc, qpc, dbr_umem_id, q->dbr_umem->umem_id);
	LAYOUT_SET(qpc, qpc, dbr_addr, DBR_OFFSET);
	q->obj = mlx5dv_devx_obj_create(d->ctx, in, sizeof(in), out, LAYOUT_SZ(create_qp_out));
	return q->obj ? 0 : -errno;
}

static void make_qp(struct demo *d, struct qp *q, const struct mlx5dv_devx_uar *uar)
{
	uint8_t out[LAYOUT_SZ(create_qp_out)] = {0};

	q->wq = pages(PAGE);
	q->dbr = pages(PAGE);
	q->wq_umem = mlx5dv_devx_umem_reg(d->ctx, q->wq, PAGE, IBV_ACCESS_LOCAL_WRITE);
	q->dbr_umem = mlx5dv_devx_umem_reg(d->ctx, q->dbr, PAGE, IBV_ACCESS_LOCAL_WRITE);
	if (!q->wq_umem || !q->dbr_umem)
		die("mlx5dv_devx_umem_reg");
	if (create_qp(d, q, d->pdn, uar, out))
		die("CREATE_QP");
	q->qpn = (uint32_t)LAYOUT_GET(create_qp_out, out, qpn);
}

static void modify(struct qp *q, const void *in, size_t inlen, const char *what)
{
	uint8_t out[LAYOUT_SZ(rst2init_qp_out)] = {0};

	if (mlx5dv_devx_obj_modify(q->obj, in, inlen, out, sizeof(out)))
		die(what);
}

/* Reset -> Init -> Ready to receive -> Ready to send, connected to QP `to` on our own port. */
static void connect_qp(struct demo *d, struct qp *q, const struct qp *to)
{
	uint8_t init[LAYOUT_SZ(rst2init_qp_in)] = {0}, rtr[LAYOUT_SZ(init2rtr_qp_in)] = {0};
	uint8_t rts[LAYOUT_SZ(rtr2rts_qp_in)] = {0};
	void *qpc = LAYOUT_IN(rst2init_qp_in, qpc, init), *ads;

	LAYOUT_SET(rst2init_qp_in, init, opcode, PRM_OP_RST2INIT_QP);
	LAYOUT_SET(rst2init_qp_in, init, qpn, q->qpn);
	LAYOUT_SET(qpc, qpc, pm_state, 3);
	ads = LAYOUT_IN(qpc, primary_address_path, qpc);
	LAYOUT_SET(ads, ads, vhca_port_num, 1);
	LAYOUT_SET(ads, ads, pkey_index, 0);
	modify(q, init, sizeof(init), "RST2INIT_QP");

	qpc = LAYOUT_IN(init2rtr_qp_in, qpc, rtr);
	LAYOUT_SET(init2rtr_qp_in, rtr, opcode, PRM_OP_INIT2RTR_QP);
	LAYOUT_SET(init2rtr_qp_in, rtr, qpn, q->qpn);
	LAYOUT_SET(qpc, qpc, mtu, IBV_MTU_4096);
	LAYOUT_SET(qpc, qpc, log_msg_max, 30);
	LAYOUT_SET(qpc, qpc, remote_qpn, to->qpn);
	LAYOUT_SET(qpc, qpc, min_rnr_nak, 12);
	LAYOUT_SET(qpc, qpc, next_rcv_psn, 0x123);
	ads = LAYOUT_IN(qpc, primary_address_path, qpc);
	LAYOUT_SET(ads, ads, rlid, d->lid);
	LAYOUT_SET(ads, ads, vhca_port_num, 1);
	modify(q, rtr, sizeof(rtr), "INIT2RTR_QP");

	qpc = LAYOUT_IN(rtr2rts_qp_in, qpc, rts);
	LAYOUT_SET(rtr2rts_qp_in, rts, opcode, PRM_OP_RTR2RTS_QP);
	LAYOUT_SET(rtr2rts_qp_in, rts, qpn, q->qpn);
	LAYOUT_SET(qpc, qpc, next_send_psn, 0x123);
	LAYOUT_SET(qpc, qpc, retry_count, 7);
	LAYOUT_SET(qpc, qpc, rnr_retry, 7);
	ads = LAYOUT_IN(qpc, primary_address_path, qpc);
	LAYOUT_SET(ads, ads, ack_timeout, 14);
	modify(q, rts, sizeof(rts), "RTR2RTS_QP");
}

static void post_receive(struct demo *d, struct qp *q, uint32_t offset)
{
	struct mlx5_wqe_data_seg *seg = (void *)(q->wq + (q->rq_pi % (1 << LOG_RQ_SIZE)) * 16);

	mlx5dv_set_data_seg(seg, 256, d->mr->lkey, (uintptr_t)d->buf + offset);
	q->rq_pi++;
	__atomic_thread_fence(__ATOMIC_RELEASE);
	q->dbr[MLX5_RCV_DBR] = htobe32(q->rq_pi);
}

static void post_send(struct demo *d, struct qp *q, const struct mlx5dv_devx_uar *uar,
		      const char *s)
{
	uint8_t *wqe = q->wq + RQ_BYTES + (q->sq_pi % (1 << LOG_SQ_SIZE)) * 64;
	struct mlx5_wqe_ctrl_seg *ctrl = (void *)wqe;
	uint64_t qword;

	strcpy(d->buf, s);
	mlx5dv_set_ctrl_seg(ctrl, q->sq_pi, MLX5_OPCODE_SEND, 0, q->qpn, MLX5_WQE_CTRL_CQ_UPDATE, 2,
			    0, 0);
	mlx5dv_set_data_seg((void *)(ctrl + 1), (uint32_t)strlen(s) + 1, d->mr->lkey,
			    (uintptr_t)d->buf);
	q->sq_pi++;
	__atomic_thread_fence(__ATOMIC_RELEASE);
	q->dbr[MLX5_SND_DBR] = htobe32(q->sq_pi);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	memcpy(&qword, ctrl, sizeof(qword));
	*(volatile uint64_t *)uar->reg_addr = qword;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* The next completion in the CQ's memory, as the hardware wrote it; waits up to 5 seconds. */
static const struct mlx5_cqe64 *next_cqe(struct demo *d)
{
	uint8_t *slot = d->cqe + (size_t)(d->ci % d->cqe_cnt) * d->cqe_size;
	struct mlx5_cqe64 *cqe = (void *)(slot + d->cqe_size - 64);
	unsigned int owner = !!(d->ci & d->cqe_cnt);
	time_t end = time(NULL) + 5;

	for (;;) {
		uint8_t op_own = __atomic_load_n(&cqe->op_own, __ATOMIC_ACQUIRE);

		if (op_own >> 4 != MLX5_CQE_INVALID && (op_own & MLX5_CQE_OWNER_MASK) == owner)
			break;
		if (time(NULL) > end) {
			errno = ETIMEDOUT;
			die("waiting for a completion");
		}
	}
	d->ci++;
	d->cq_dbr[0] = htobe32(d->ci & 0xffffff);
	return cqe;
}

static void exchange(struct demo *d, const struct mlx5dv_devx_uar *uar, const char *name)
{
	unsigned int sent = 0, received = 0;

	memset(d->buf + 2048, 0, 256);
	post_receive(d, &d->b, 2048);
	post_send(d, &d->a, uar, message);
	for (int i = 0; i < 2; i++) {
		const struct mlx5_cqe64 *cqe = next_cqe(d);

		switch (mlx5dv_get_cqe_opcode((struct mlx5_cqe64 *)cqe)) {
		case MLX5_CQE_REQ:
			sent++;
			break;
		case MLX5_CQE_RESP_SEND:
			received = be32toh(cqe->byte_cnt);
			break;
		default:
			fprintf(stderr, "devx_send: completion with opcode %u, syndrome 0x%02x\n",
				mlx5dv_get_cqe_opcode((struct mlx5_cqe64 *)cqe),
				((const struct mlx5_err_cqe *)cqe)->syndrome);
			exit(1);
		}
	}
	if (sent != 1 || received != sizeof(message) || strcmp(d->buf + 2048, message)) {
		fprintf(stderr, "devx_send: the message did not arrive as it was sent\n");
		exit(1);
	}
	printf("rung on the %s UAR, %u bytes received: \"%s\"\n", name, received, d->buf + 2048);
}

static void query_and_destroy(struct qp *q, const char *name)
{
	uint8_t in[LAYOUT_SZ(query_qp_in)] = {0}, out[LAYOUT_SZ(query_qp_out)] = {0};
	const void *qpc = LAYOUT_IN(query_qp_out, qpc, out);

	LAYOUT_SET(query_qp_in, in, opcode, PRM_OP_QUERY_QP);
	LAYOUT_SET(query_qp_in, in, qpn, q->qpn);
	if (mlx5dv_devx_obj_query(q->obj, in, sizeof(in), out, sizeof(out)))
		die("QUERY_QP");
	printf("QUERY_QP %s: QPN 0x%x, state %u (3 is RTS), remote QPN 0x%x\n", name, q->qpn,
	       (unsigned int)LAYOUT_GET(qpc, qpc, state),
	       (unsigned int)LAYOUT_GET(qpc, qpc, remote_qpn));
	if (mlx5dv_devx_obj_destroy(q->obj))
		die("DESTROY_QP");
	mlx5dv_devx_umem_dereg(q->wq_umem);
	mlx5dv_devx_umem_dereg(q->dbr_umem);
	free(q->wq);
	free(q->dbr);
}

/* A PD that does not exist: the firmware refuses, and says why. */
static void make_a_mistake(struct demo *d)
{
	uint8_t out[LAYOUT_SZ(create_qp_out)] = {0};
	struct qp q = d->a;

	if (!create_qp(d, &q, 0xabcdef, d->nc, out) || errno != EREMOTEIO) {
		fprintf(stderr,
			"devx_send: CREATE_QP with a wrong PD was not refused with EREMOTEIO\n");
		exit(1);
	}
	printf("CREATE_QP with PD 0xabcdef: %s, status 0x%x, syndrome 0x%" PRIx64 "\n",
	       strerror(errno), (unsigned int)LAYOUT_GET(create_qp_out, out, status),
	       LAYOUT_GET(create_qp_out, out, syndrome));
}

int main(void)
{
	struct demo d = {0};

	open_device(&d);
	query_device(&d);
	make_verbs_objects(&d);
	make_qp(&d, &d.a, d.nc);
	make_qp(&d, &d.b, d.nc);
	connect_qp(&d, &d.a, &d.b);
	connect_qp(&d, &d.b, &d.a);
	exchange(&d, d.nc, "NC");
	exchange(&d, d.bf, "BF");
	make_a_mistake(&d);
	query_and_destroy(&d.a, "a");
	query_and_destroy(&d.b, "b");
	mlx5dv_devx_free_uar(d.nc);
	mlx5dv_devx_free_uar(d.bf);
	if (ibv_dereg_mr(d.mr) || ibv_destroy_cq(d.cq) || ibv_dealloc_pd(d.pd) ||
	    ibv_close_device(d.ctx))
		die("clean-up");
	free(d.buf);
	printf("done\n");
	return 0;
}
