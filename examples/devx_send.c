/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * DEVX from end to end: a PD, a memory key, a CQ and two RC queue pairs made by PRM commands, the
 * queue pairs connected to each other, a send work request written by hand and rung on a UAR, its
 * completions read from the CQ's memory, and one deliberate mistake.
 *
 *	softhca run -- build/examples/devx_send
 *	softhca run -- build/examples/devx_send_libdevx
 *
 * The one is built for stock libmlx5, the other for libdevx alone; both run unchanged on a ConnectX
 * with DEVX. Where softhca is installed:
 *
 *	gcc devx_send.c $(pkg-config --cflags --libs libdevx)
 *	gcc devx_send.c -lmlx5 -libverbs
 *
 * Exit status 0: the message arrived as it was sent.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "devx_device.h"
#include "prm.h"

#define PAGE 4096
#define LOG_RQ_SIZE 4   /* 16 receive WQEs ... */
#define LOG_RQ_STRIDE 0 /* ... of 16 bytes << 0: one data segment */
#define LOG_SQ_SIZE 4   /* 16 send WQE basic blocks of 64 bytes */
#define RQ_BYTES (16 << (LOG_RQ_SIZE + LOG_RQ_STRIDE))
#define LOG_CQ_SIZE 4 /* 16 CQEs of 64 bytes */
#define DBR_OFFSET 0  /* of the doorbell record in its umem */

static const char message[] = "Sent by a work request written by hand.";

/* Memory that the device was told of. */
struct region {
	void *p;
	struct mlx5dv_devx_umem *umem;
};

struct qp {
	struct mlx5dv_devx_obj *obj;
	struct region wq, dbr;
	const struct mlx5dv_devx_uar *uar; /* the QP heeds doorbells on this UAR only */
	uint32_t qpn;
	uint16_t rq_pi, sq_pi;
};

struct demo {
	struct ibv_context *ctx;
	struct mlx5dv_devx_obj *pd, *mkey, *cq;
	uint32_t pdn, lkey, cqn, eqn, lid;
	struct region cqe, cq_dbr, data;
	uint32_t ci;
	struct mlx5dv_devx_uar *nc, *bf;
	struct qp a, b;
	char *buf; /* data.p */
};

static void die(const char *what)
{
	fprintf(stderr, "devx_send: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* A page, filled with `byte`. */
static void region_make(struct demo *d, struct region *r, int byte)
{
	if (posix_memalign(&r->p, PAGE, PAGE))
		die("memory");
	memset(r->p, byte, PAGE);
	r->umem = mlx5dv_devx_umem_reg(d->ctx, r->p, PAGE, IBV_ACCESS_LOCAL_WRITE);
	if (!r->umem)
		die("mlx5dv_devx_umem_reg");
}

static void region_free(struct region *r)
{
	if (mlx5dv_devx_umem_dereg(r->umem))
		die("mlx5dv_devx_umem_dereg");
	free(r->p);
}

static void open_device(struct demo *d)
{
	d->ctx = device_open();
	if (!d->ctx) {
		if (errno == ENOSYS || errno == ENODEV)
			fprintf(stderr, "devx_send: there is no InfiniBand device here; one is in "
					"software: softhca run -- ./devx_send\n");
		die("opening the first device with DEVX");
	}
	printf("opened %s\n", d->ctx->device->name);
}

/* General commands: what the device can do, and our LID. */
static void query_device(struct demo *d)
{
	uint8_t in[PRM_SIZE(query_hca_cap_in)] = {0};
	uint8_t out[PRM_SIZE(query_hca_cap_out)] = {0};
	uint8_t vin[PRM_SIZE(query_hca_vport_context_in)] = {0};
	uint8_t vout[PRM_SIZE(query_hca_vport_context_out)] = {0};
	const void *cap = PRM_IN(query_hca_cap_out, capability, out), *vport;
	unsigned int ports;

	PRM_SET(query_hca_cap_in, in, opcode, PRM_OP_QUERY_HCA_CAP);
	PRM_SET(query_hca_cap_in, in, op_mod, 1); /* general capabilities, current values */
	if (mlx5dv_devx_general_cmd(d->ctx, in, sizeof(in), out, sizeof(out)))
		die("QUERY_HCA_CAP");
	ports = (unsigned int)PRM_GET(cmd_hca_cap, cap, num_ports);
	printf("QUERY_HCA_CAP: %u port(s), 2^%u QPs, 2^%u CQs\n", ports,
	       (unsigned int)PRM_GET(cmd_hca_cap, cap, log_max_qp),
	       (unsigned int)PRM_GET(cmd_hca_cap, cap, log_max_cq));

	PRM_SET(query_hca_vport_context_in, vin, opcode, PRM_OP_QUERY_HCA_VPORT_CONTEXT);
	PRM_SET(query_hca_vport_context_in, vin, port_num, ports > 1 ? 1 : 0);
	if (mlx5dv_devx_general_cmd(d->ctx, vin, sizeof(vin), vout, sizeof(vout)))
		die("QUERY_HCA_VPORT_CONTEXT");
	vport = PRM_IN(query_hca_vport_context_out, hca_vport_context, vout);
	d->lid = (uint32_t)PRM_GET(hca_vport_context, vport, lid);
	if (mlx5dv_devx_query_eqn(d->ctx, 0, &d->eqn))
		die("mlx5dv_devx_query_eqn");
	printf("QUERY_HCA_VPORT_CONTEXT: LID %u; completion vector 0 is EQ %u\n", d->lid, d->eqn);
}

static void make_pd(struct demo *d)
{
	uint8_t in[PRM_SIZE(alloc_pd_in)] = {0}, out[PRM_SIZE(alloc_pd_out)] = {0};

	PRM_SET(alloc_pd_in, in, opcode, PRM_OP_ALLOC_PD);
	d->pd = mlx5dv_devx_obj_create(d->ctx, in, sizeof(in), out, sizeof(out));
	if (!d->pd)
		die("ALLOC_PD");
	d->pdn = (uint32_t)PRM_GET(alloc_pd_out, out, pd);
}

/* The key for one page of data, by its addresses in this program. */
static void make_mkey(struct demo *d)
{
	uint8_t in[PRM_SIZE(create_mkey_in)] = {0}, out[PRM_SIZE(create_mkey_out)] = {0};
	void *mkc = PRM_IN(create_mkey_in, memory_key_mkey_entry, in);
	const uint32_t variant = 0x42; /* the key's low byte, ours to choose */

	region_make(d, &d->data, 0);
	d->buf = d->data.p;
	PRM_SET(create_mkey_in, in, opcode, PRM_OP_CREATE_MKEY);
	PRM_SET(create_mkey_in, in, mkey_umem_id, d->data.umem->umem_id);
	PRM_SET(create_mkey_in, in, mkey_umem_valid, 1);
	PRM_SET(create_mkey_in, in, translations_octword_actual_size, 1);
	PRM_SET(mkc, mkc, access_mode_1_0, 1); /* pages */
	PRM_SET(mkc, mkc, lr, 1);
	PRM_SET(mkc, mkc, lw, 1);
	PRM_SET(mkc, mkc, qpn, 0xffffff); /* any QP */
	PRM_SET(mkc, mkc, mkey_7_0, variant);
	PRM_SET(mkc, mkc, pd, d->pdn);
	PRM_SET(mkc, mkc, start_addr, (uintptr_t)d->buf);
	PRM_SET(mkc, mkc, len, PAGE);
	PRM_SET(mkc, mkc, log_page_size, 12);
	PRM_SET(mkc, mkc, translations_octword_size, 1); /* of two pages each */
	d->mkey = mlx5dv_devx_obj_create(d->ctx, in, sizeof(in), out, sizeof(out));
	if (!d->mkey)
		die("CREATE_MKEY");
	d->lkey = (uint32_t)PRM_GET(create_mkey_out, out, mkey_index) << 8 | variant;
}

static void make_cq(struct demo *d)
{
	uint8_t in[PRM_SIZE(create_cq_in)] = {0}, out[PRM_SIZE(create_cq_out)] = {0};
	void *cqc = PRM_IN(create_cq_in, cq_context, in);

	region_make(d, &d->cqe, 0xff); /* 0xf.: no completion; the owner bit is the hardware's */
	region_make(d, &d->cq_dbr, 0);
	PRM_SET(create_cq_in, in, opcode, PRM_OP_CREATE_CQ);
	PRM_SET(create_cq_in, in, cq_umem_id, d->cqe.umem->umem_id);
	PRM_SET(create_cq_in, in, cq_umem_valid, 1);
	PRM_SET(cqc, cqc, log_cq_size, LOG_CQ_SIZE);
	PRM_SET(cqc, cqc, uar_page, d->nc->page_id);
	PRM_SET(cqc, cqc, c_eqn, d->eqn);
	PRM_SET(cqc, cqc, dbr_umem_valid, 1);
	PRM_SET(cqc, cqc, dbr_umem_id, d->cq_dbr.umem->umem_id);
	PRM_SET(cqc, cqc, dbr_addr, DBR_OFFSET);
	d->cq = mlx5dv_devx_obj_create(d->ctx, in, sizeof(in), out, sizeof(out));
	if (!d->cq)
		die("CREATE_CQ");
	d->cqn = (uint32_t)PRM_GET(create_cq_out, out, cqn);
}

static void make_objects(struct demo *d)
{
	d->nc = mlx5dv_devx_alloc_uar(d->ctx, MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC);
	d->bf = mlx5dv_devx_alloc_uar(d->ctx, MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF);
	if (!d->nc || !d->bf)
		die("mlx5dv_devx_alloc_uar");
	make_pd(d);
	make_mkey(d);
	make_cq(d);
	printf("PD 0x%x, mkey 0x%x, CQ 0x%x; UAR pages: NC %u, BF %u\n", d->pdn, d->lkey, d->cqn,
	       d->nc->page_id, d->bf->page_id);
}

static int create_qp(struct demo *d, struct qp *q, uint32_t pdn,
		     uint8_t out[PRM_SIZE(create_qp_out)])
{
	uint8_t in[PRM_SIZE(create_qp_in)] = {0};
	void *qpc = PRM_IN(create_qp_in, qpc, in);

	PRM_SET(create_qp_in, in, opcode, PRM_OP_CREATE_QP);
	PRM_SET(create_qp_in, in, wq_umem_valid, 1);
	PRM_SET(create_qp_in, in, wq_umem_id, q->wq.umem->umem_id);
	PRM_SET(qpc, qpc, st, 0);       /* RC */
	PRM_SET(qpc, qpc, pm_state, 3); /* migrated */
	PRM_SET(qpc, qpc, pd, pdn);
	PRM_SET(qpc, qpc, uar_page, q->uar->page_id);
	PRM_SET(qpc, qpc, cqn_snd, d->cqn);
	PRM_SET(qpc, qpc, cqn_rcv, d->cqn);
	PRM_SET(qpc, qpc, log_rq_size, LOG_RQ_SIZE);
	PRM_SET(qpc, qpc, log_rq_stride, LOG_RQ_STRIDE);
	PRM_SET(qpc, qpc, log_sq_size, LOG_SQ_SIZE);
	PRM_SET(qpc, qpc, user_index, 0xffffff);
	PRM_SET(qpc, qpc, cs_req, 0);
	PRM_SET(qpc, qpc, cs_res, 0);
	PRM_SET(qpc, qpc, dbr_umem_valid, 1);
	PRM_SET(qpc, qpc, dbr_umem_id, q->dbr.umem->umem_id);
	PRM_SET(qpc, qpc, dbr_addr, DBR_OFFSET);
	q->obj = mlx5dv_devx_obj_create(d->ctx, in, sizeof(in), out, PRM_SIZE(create_qp_out));
	return q->obj ? 0 : -errno;
}

static void make_qp(struct demo *d, struct qp *q, const struct mlx5dv_devx_uar *uar)
{
	uint8_t out[PRM_SIZE(create_qp_out)] = {0};

	q->uar = uar;
	region_make(d, &q->wq, 0);
	region_make(d, &q->dbr, 0);
	if (create_qp(d, q, d->pdn, out))
		die("CREATE_QP");
	q->qpn = (uint32_t)PRM_GET(create_qp_out, out, qpn);
}

static void modify(struct qp *q, const void *in, size_t inlen, const char *what)
{
	uint8_t out[PRM_SIZE(rst2init_qp_out)] = {0};

	if (mlx5dv_devx_obj_modify(q->obj, in, inlen, out, sizeof(out)))
		die(what);
}

/* Reset -> Init -> Ready to receive -> Ready to send, connected to QP `to` on our own port. */
static void connect_qp(struct demo *d, struct qp *q, const struct qp *to)
{
	uint8_t init[PRM_SIZE(rst2init_qp_in)] = {0}, rtr[PRM_SIZE(init2rtr_qp_in)] = {0};
	uint8_t rts[PRM_SIZE(rtr2rts_qp_in)] = {0};
	void *qpc = PRM_IN(rst2init_qp_in, qpc, init), *ads;

	PRM_SET(rst2init_qp_in, init, opcode, PRM_OP_RST2INIT_QP);
	PRM_SET(rst2init_qp_in, init, qpn, q->qpn);
	PRM_SET(qpc, qpc, pm_state, 3);
	ads = PRM_IN(qpc, primary_address_path, qpc);
	PRM_SET(ads, ads, vhca_port_num, 1);
	PRM_SET(ads, ads, pkey_index, 0);
	modify(q, init, sizeof(init), "RST2INIT_QP");

	qpc = PRM_IN(init2rtr_qp_in, qpc, rtr);
	PRM_SET(init2rtr_qp_in, rtr, opcode, PRM_OP_INIT2RTR_QP);
	PRM_SET(init2rtr_qp_in, rtr, qpn, q->qpn);
	PRM_SET(qpc, qpc, mtu, IBV_MTU_4096);
	PRM_SET(qpc, qpc, log_msg_max, 30);
	PRM_SET(qpc, qpc, remote_qpn, to->qpn);
	PRM_SET(qpc, qpc, min_rnr_nak, 12);
	PRM_SET(qpc, qpc, next_rcv_psn, 0x123);
	ads = PRM_IN(qpc, primary_address_path, qpc);
	PRM_SET(ads, ads, rlid, d->lid);
	PRM_SET(ads, ads, vhca_port_num, 1);
	modify(q, rtr, sizeof(rtr), "INIT2RTR_QP");

	qpc = PRM_IN(rtr2rts_qp_in, qpc, rts);
	PRM_SET(rtr2rts_qp_in, rts, opcode, PRM_OP_RTR2RTS_QP);
	PRM_SET(rtr2rts_qp_in, rts, qpn, q->qpn);
	PRM_SET(qpc, qpc, next_send_psn, 0x123);
	PRM_SET(qpc, qpc, retry_count, 7);
	PRM_SET(qpc, qpc, rnr_retry, 7);
	ads = PRM_IN(qpc, primary_address_path, qpc);
	PRM_SET(ads, ads, ack_timeout, 14);
	modify(q, rts, sizeof(rts), "RTR2RTS_QP");
}

static void post_receive(struct demo *d, struct qp *q, uint32_t offset)
{
	uint8_t *wqe = (uint8_t *)q->wq.p + (q->rq_pi % (1 << LOG_RQ_SIZE)) * 16;

	mlx5dv_set_data_seg((void *)wqe, 256, d->lkey, (uintptr_t)d->buf + offset);
	q->rq_pi++;
	__atomic_thread_fence(__ATOMIC_RELEASE);
	((__be32 *)q->dbr.p)[MLX5_RCV_DBR] = htobe32(q->rq_pi);
}

static void post_send(struct demo *d, struct qp *q, const char *s)
{
	uint8_t *wqe = (uint8_t *)q->wq.p + RQ_BYTES + (q->sq_pi % (1 << LOG_SQ_SIZE)) * 64;
	struct mlx5_wqe_ctrl_seg *ctrl = (void *)wqe;
	uint64_t qword;

	strcpy(d->buf, s);
	mlx5dv_set_ctrl_seg(ctrl, q->sq_pi, MLX5_OPCODE_SEND, 0, q->qpn, MLX5_WQE_CTRL_CQ_UPDATE, 2,
			    0, 0);
	mlx5dv_set_data_seg((void *)(ctrl + 1), (uint32_t)strlen(s) + 1, d->lkey,
			    (uintptr_t)d->buf);
	q->sq_pi++;
	__atomic_thread_fence(__ATOMIC_RELEASE);
	((__be32 *)q->dbr.p)[MLX5_SND_DBR] = htobe32(q->sq_pi);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	memcpy(&qword, ctrl, sizeof(qword));
	*(volatile uint64_t *)q->uar->reg_addr = qword;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* The next completion in the CQ's memory, as the hardware wrote it; waits up to 5 seconds. */
static const struct mlx5_cqe64 *next_cqe(struct demo *d)
{
	struct mlx5_cqe64 *cqe = (struct mlx5_cqe64 *)d->cqe.p + d->ci % (1 << LOG_CQ_SIZE);
	unsigned int owner = d->ci >> LOG_CQ_SIZE & 1;
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
	*(__be32 *)d->cq_dbr.p = htobe32(d->ci & 0xffffff);
	return cqe;
}

static void exchange(struct demo *d, struct qp *from, struct qp *to, const char *name)
{
	unsigned int sent = 0, received = 0;

	memset(d->buf + 2048, 0, 256);
	post_receive(d, to, 2048);
	post_send(d, from, message);
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
	uint8_t in[PRM_SIZE(query_qp_in)] = {0}, out[PRM_SIZE(query_qp_out)] = {0};
	const void *qpc = PRM_IN(query_qp_out, qpc, out);

	PRM_SET(query_qp_in, in, opcode, PRM_OP_QUERY_QP);
	PRM_SET(query_qp_in, in, qpn, q->qpn);
	if (mlx5dv_devx_obj_query(q->obj, in, sizeof(in), out, sizeof(out)))
		die("QUERY_QP");
	printf("QUERY_QP %s: QPN 0x%x, state %u (3 is RTS), remote QPN 0x%x\n", name, q->qpn,
	       (unsigned int)PRM_GET(qpc, qpc, state), (unsigned int)PRM_GET(qpc, qpc, remote_qpn));
	if (mlx5dv_devx_obj_destroy(q->obj))
		die("DESTROY_QP");
	region_free(&q->wq);
	region_free(&q->dbr);
}

/* A PD that does not exist: the firmware refuses, and says why. */
static void make_a_mistake(struct demo *d)
{
	uint8_t out[PRM_SIZE(create_qp_out)] = {0};
	struct qp q = d->a;

	if (!create_qp(d, &q, 0xabcdef, out) || errno != EREMOTEIO) {
		fprintf(stderr,
			"devx_send: CREATE_QP with a wrong PD was not refused with EREMOTEIO\n");
		exit(1);
	}
	printf("CREATE_QP with PD 0xabcdef: %s, status 0x%x, syndrome 0x%" PRIx64 "\n",
	       strerror(errno), (unsigned int)PRM_GET(create_qp_out, out, status),
	       PRM_GET(create_qp_out, out, syndrome));
}

int main(void)
{
	struct demo d = {0};

	open_device(&d);
	query_device(&d);
	make_objects(&d);
	make_qp(&d, &d.a, d.nc);
	make_qp(&d, &d.b, d.bf);
	connect_qp(&d, &d.a, &d.b);
	connect_qp(&d, &d.b, &d.a);
	exchange(&d, &d.a, &d.b, "NC");
	exchange(&d, &d.b, &d.a, "BF");
	make_a_mistake(&d);
	query_and_destroy(&d.a, "a");
	query_and_destroy(&d.b, "b");
	if (mlx5dv_devx_obj_destroy(d.cq) || mlx5dv_devx_obj_destroy(d.mkey) ||
	    mlx5dv_devx_obj_destroy(d.pd))
		die("clean-up");
	region_free(&d.cqe);
	region_free(&d.cq_dbr);
	region_free(&d.data);
	mlx5dv_devx_free_uar(d.nc);
	mlx5dv_devx_free_uar(d.bf);
	if (device_close(d.ctx))
		die("closing the device");
	printf("done\n");
	return 0;
}
