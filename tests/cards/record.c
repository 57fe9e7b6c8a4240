/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The doorbell record of a send queue: what NVSHMEM's proxy shows when it writes another record.
 * WQEs, doorbells and CQEs by hand. c: index of the first WQE without success; P: the record.
 */
#include "cards.h"

#include <endian.h>
#include <infiniband/mlx5dv.h>
#include <sched.h>
#include <time.h>

enum { WQES = 64, WQE_BYTES = 64 };

struct queue {
	struct pair p;
	struct mlx5dv_qp sq;
	struct mlx5dv_cq cq;
	uint16_t pi; /* WQEs written */
	uint32_t ci; /* CQEs read */
	uint32_t bf;
};

static void open_queue_as(struct queue *q, const struct options *o)
{
	struct mlx5dv_obj obj = {.qp = {.out = &q->sq}, .cq = {.out = &q->cq}};

	*q = (struct queue){0};
	NEED(pair_make(&q->p, o));
	obj.qp.in = q->p.a.qp;
	obj.cq.in = q->p.a.cq;
	NEED(!mlx5dv_init_obj(&obj, MLX5DV_OBJ_QP | MLX5DV_OBJ_CQ));
	NEED(q->sq.sq.stride == WQE_BYTES && q->sq.sq.wqe_cnt >= WQES);
}

static void open_queue(struct queue *q)
{
	open_queue_as(q, &(struct options){.timeout = 8});
}

static struct mlx5_wqe_ctrl_seg *wqe_at(const struct queue *q, uint16_t index)
{
	return (void *)((char *)q->sq.sq.buf + index % q->sq.sq.wqe_cnt * WQE_BYTES);
}

/* The next WQE: 8 bytes of a's, to or from b's word `n`. */
static void write_wqe(struct queue *q, uint8_t opcode, uint32_t n, uint32_t bad_lkey,
		      uint32_t bad_rkey)
{
	struct mlx5_wqe_ctrl_seg *c = wqe_at(q, q->pi);
	struct mlx5_wqe_raddr_seg *r = (void *)(c + 1);
	struct mlx5_wqe_data_seg *d = (void *)(r + 1);

	mlx5dv_set_ctrl_seg(c, q->pi, opcode, 0, q->p.a.qp->qp_num, MLX5_WQE_CTRL_CQ_UPDATE, 3, 0,
			    0);
	r->raddr = htobe64((uintptr_t)q->p.b.mem + 8 * n);
	r->rkey = htobe32(q->p.b.mr->rkey ^ bad_rkey);
	r->reserved = 0;
	mlx5dv_set_data_seg(d, 8, q->p.a.mr->lkey ^ bad_lkey, (uintptr_t)q->p.a.mem + 8 * n);
	q->pi++;
}

static void set_record(const struct queue *q, uint32_t value)
{
	__atomic_store_n(&q->sq.dbrec[MLX5_SND_DBR], htobe32(value & 0xffff), __ATOMIC_SEQ_CST);
}

/* The queue is to run as far as the WQE before `index`. */
static void ring(struct queue *q, uint16_t index)
{
	uint64_t word;

	memcpy(&word, wqe_at(q, (uint16_t)(index - 1)), sizeof(word));
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	*(volatile uint64_t *)((char *)q->sq.bf.reg + q->bf) = word;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	q->bf ^= q->sq.bf.size;
}

/* The next CQE, if there is one: "3: 10/0x88 WRITE". */
static const char *look(struct queue *q, uint16_t base)
{
	uint32_t at = q->ci & (q->cq.cqe_cnt - 1);
	struct mlx5_err_cqe *e = (void *)((char *)q->cq.buf + at * q->cq.cqe_size +
					  (q->cq.cqe_size == 128 ? 64 : 0));
	uint8_t own = __atomic_load_n(&e->op_own, __ATOMIC_ACQUIRE), opcode;
	const char *name;

	if (own >> 4 == MLX5_CQE_INVALID || (own & 1) != !!(q->ci & q->cq.cqe_cnt))
		return NULL;
	opcode = (uint8_t)(be32toh(e->s_wqe_opcode_qpn) >> 24);
	name = opcode == MLX5_OPCODE_RDMA_WRITE  ? "WRITE"
	       : opcode == MLX5_OPCODE_RDMA_READ ? "READ"
						 : text("opcode %x", opcode);
	q->ci++;
	q->cq.dbrec[0] = htobe32(q->ci & 0xffffff);
	if (own >> 4 == MLX5_CQE_REQ)
		return text("%u: done %s", (uint16_t)(be16toh(e->wqe_counter) - base), name);
	return text("%u: %x/0x%x %s", (uint16_t)(be16toh(e->wqe_counter) - base), e->syndrome,
		    e->vendor_err_synd, name);
}

/* `n` CQEs, and those that are there behind them. */
static const char *cqes(struct queue *q, uint16_t base, int n)
{
	time_t end = time(NULL) + patience;
	const char *all = "", *one;

	while (n > 0 && time(NULL) < end) {
		one = look(q, base);
		if (!one) {
			sched_yield();
			continue;
		}
		all = text("%s%s, ", all, one);
		n--;
	}
	while ((one = look(q, base)))
		all = text("%s%s, ", all, one);
	return all;
}

static void wait_err(const struct queue *q)
{
	time_t end = time(NULL) + patience;

	while (state_of(q->p.a.qp) != IBV_QPS_ERR && time(NULL) < end)
		sched_yield();
}

/* "sw 5, hw 3", from `base` on; NULL: DEVX is not there. */
static const char *counts(const struct queue *q, uint16_t base)
{
	enum { QPC = 0xc0 / 8, HW = QPC + 0x5a0 / 8, SW = QPC + 0x5b0 / 8, BYTES_OUT = 272 };
	uint8_t in[16] = {0x05, 0x0b}, out[BYTES_OUT] = {0};
	uint32_t qpn = htobe32(q->p.a.qp->qp_num);

	memcpy(in + 8, &qpn, sizeof(qpn));
	if (mlx5dv_devx_qp_query(q->p.a.qp, in, sizeof(in), out, sizeof(out)))
		return NULL;
	return text("sw %u, hw %u", (uint16_t)((out[SW] << 8 | out[SW + 1]) - base),
		    (uint16_t)((out[HW] << 8 | out[HW + 1]) - base));
}

/* So many WQEs before, so that indices wrap. */
static void run_before(struct queue *q, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		write_wqe(q, MLX5_OPCODE_RDMA_WRITE, 0, 0, 0);
		set_record(q, q->pi);
		ring(q, q->pi);
		while (!look(q, 0))
			sched_yield();
	}
}

static const char *good_cqes(int n)
{
	const char *all = "";

	for (int i = 0; i < n; i++)
		all = text("%s%d: done WRITE, ", all, i);
	return all;
}

/* Good traffic: to the doorbell's index, whatever the record. */
static void traffic(uint32_t before, int rung, int record)
{
	struct queue q;
	uint16_t base;
	const char *seen, *n;

	open_queue(&q);
	run_before(&q, before);
	base = q.pi;
	set_record(&q, base + (uint32_t)record);
	for (int i = 0; i < rung + 4; i++) {
		write_wqe(&q, MLX5_OPCODE_RDMA_WRITE, 1 + (uint32_t)i, 0, 0);
		if (i == rung - 1)
			ring(&q, q.pi);
	}
	seen = cqes(&q, base, rung);
	n = counts(&q, base);
	check(rec_run, text("from %u, doorbell %d, record %d", before, rung, record),
	      text("%s%d bytes there", good_cqes(rung), 8 * rung),
	      text("%s%ld bytes there", seen, landed(q.p.b.mem + 8, q.p.a.mem + 8, 8 * WQES)));
	if (n)
		check(rec_count, text("RTS, doorbell %d, record %d", rung, record),
		      text("sw %d, hw %d", rung, rung), n);
	pair_free(&q.p);
}

enum cause { LKEY, RKEY, NOBODY };
static const char *const cause_names[] = {"lkey", "rkey", "nobody answers"};
static const char *const cause_cqes[] = {"4/0x52", "13/0x88", "15/0x81"};

/* CQEs of [from, to): the cause at c, the rest flushed; every third WQE is a READ. */
static const char *bad_cqes(enum cause cause, int c, int from, int to)
{
	const char *all = "";

	for (int i = from; i < to; i++)
		all = text("%s%d: %s %s, ", all, i, i == c ? cause_cqes[cause] : "5/0xf9",
			   i % 3 == 2 && i != c ? "READ" : "WRITE");
	return text("%send", all);
}

/* WQE c fails; the doorbell is `rung`, the record P, and then `raised`. */
static void fault(enum cause cause, uint32_t before, int c, int rung, int record, int raised)
{
	int to = record > c ? record : c, later = raised > to ? raised : to;
	const char *variant, *seen = "", *n;
	struct queue q;
	uint16_t base;

	open_queue(&q);
	run_before(&q, before);
	base = q.pi;
	variant = text("%s, from %u, c %d, doorbell %d, P %d", cause_names[cause], before, c, rung,
		       record);
	for (int i = 0; i < WQES / 2; i++)
		write_wqe(&q, i % 3 == 2 && i > c ? MLX5_OPCODE_RDMA_READ : MLX5_OPCODE_RDMA_WRITE,
			  1 + (uint32_t)i, i == c && cause == LKEY ? 0xff00ff : 0,
			  i == c && cause == RKEY ? 0xff00ff : 0);
	if (cause == NOBODY) {
		/* Those before c have an answer first. */
		if (c) {
			set_record(&q, base);
			ring(&q, (uint16_t)(base + c));
		}
		seen = cqes(&q, base, c);
		to_state(q.p.b.qp, IBV_QPS_ERR);
	}
	set_record(&q, base + (uint32_t)record);
	ring(&q, (uint16_t)(base + rung));
	wait_err(&q);
	seen = text("%s%s", seen, cqes(&q, base, cause == NOBODY ? to - c : to));
	check(rec_err, variant, text("%s%s", good_cqes(c), bad_cqes(cause, c, c, to)),
	      text("%send", seen));
	n = counts(&q, base);
	if (n && record <= c && record >= 0)
		check(rec_count, text("ERR, %s", variant), text("sw %d, hw %d", record, c), n);
	if (raised > record) {
		set_record(&q, base + (uint32_t)raised);
		check(rec_raised, text("%s, raised to %d", variant, raised),
		      bad_cqes(cause, c, to, later), text("%send", cqes(&q, base, later - to)));
	}
	events(&q.p, cause == RKEY);
	pair_free(&q.p);
}

/* A doorbell that rings too early is lost: no later state looks for it. */
static void too_early(enum ibv_qp_state in)
{
	struct options o = {.apart = true};
	struct request r;
	struct pair other;
	struct queue q;
	const char *got;

	open_queue_as(&q, &o);
	if (in == IBV_QPS_RTR)
		to_rtr(q.p.a.qp, &o, q.p.b.qp->qp_num, ad.port.lid, &ad.gid);
	write_wqe(&q, MLX5_OPCODE_RDMA_WRITE, 0, 0, 0);
	set_record(&q, 1);
	ring(&q, 1);
	if (in == IBV_QPS_INIT)
		to_rtr(q.p.a.qp, &o, q.p.b.qp->qp_num, ad.port.lid, &ad.gid);
	to_rts(q.p.b.qp, &o, q.p.a.qp->qp_num, ad.port.lid, &ad.gid);
	rtr_to_rts(q.p.a.qp, &o);
	NEED(pair_make(&other, &(struct options){0}));
	r = good(&other, READ, 8);
	post(&other, &r); /* time has passed when this is done */
	NEED(next_wc(other.a.cq).status == IBV_WC_SUCCESS);
	pair_free(&other);
	got = cqes(&q, 0, 0);
	check(in == IBV_QPS_INIT ? rec_init : rec_rtr, "WRITE, then RTS", "no CQE, a RTS, 0 bytes",
	      text("%s, a %s, %ld bytes", *got ? got : "no CQE", state_name(q.p.a.qp),
		   landed(q.p.b.mem, q.p.a.mem, 64)));
	pair_free(&q.p);
}

void record_group(void)
{
	/* c, doorbell, P, raised */
	static const struct {
		int c, rung, record, raised;
	} rows[] = {
		{0, 1, 0, 1},  {0, 1, 1, 0},  {0, 8, 0, 8},   {0, 8, 5, 8},     {0, 8, 8, 0},
		{0, 8, 12, 0}, {3, 8, 0, 8},  {3, 8, 2, 3},   {3, 8, 3, 8},     {3, 8, 4, 6},
		{3, 8, 7, 8},  {3, 8, 8, 10}, {3, 8, 26, 0},  {7, 8, -1, 8},    {8, 9, 0, 20},
		{9, 20, 8, 0}, {9, 20, 1, 2}, {12, 13, 4, 5}, {19, 20, 18, 20},
	};
	static const uint32_t before[] = {0, 120, 65530};

	if (!ad.mlx5)
		return skip(rec_run, "the queue is mlx5's");
	for (size_t i = 0; i < COUNT(before); i++) {
		traffic(before[i], 1, 0);
		traffic(before[i], 12, 0);
		traffic(before[i], 12, 11);
		traffic(before[i], 12, 15);
		traffic(before[i], 7, 0x8000);
	}
	for (size_t i = 0; i < COUNT(rows); i++)
		/* On Ethernet cards wait for an answer for half a second at least. */
		for (enum cause cause = LKEY; cause <= (ad.ethernet && i % 4 ? RKEY : NOBODY);
		     cause++)
			fault(cause, i % 4 ? 0 : 120, rows[i].c, rows[i].rung, rows[i].record,
			      rows[i].raised);
	too_early(IBV_QPS_INIT);
	too_early(IBV_QPS_RTR);
	fault(RKEY, 65530, 3, 8, 2, 8);
	fault(LKEY, 65530, 3, 8, 7, 8);
	fault(RKEY, 65534, 3, 8, 12, 0);
}
