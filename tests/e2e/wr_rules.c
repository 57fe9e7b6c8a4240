/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The results of wrong work requests, seen through libibverbs: two queue pairs of one process.
 * Prints a line for each case, exits with the number of those that failed. Started by
 * test_wr_rules.py.
 */
#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <infiniband/mlx5dv.h>
#include <sys/mman.h>

#include "must.h"

#define BYTES 65536
#define PATIENCE 60 /* seconds until an awaited event is given up */
#define ALL                                                                          \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
	 IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND)

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static uint16_t lid;

struct end {
	struct ibv_cq *scq, *rcq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint8_t *mem;
};

static struct end a, b;
static uint8_t rate;

static void make(struct end *e, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr init = {.qp_type = type};

	init.cap = (struct ibv_qp_cap){
		.max_send_wr = 64, .max_recv_wr = 64, .max_send_sge = 2, .max_recv_sge = 2};
	MUST(e->mem = calloc(1, BYTES));
	MUST(e->mr = ibv_reg_mr(pd, e->mem, BYTES, ALL));
	MUST(init.send_cq = e->scq = ibv_create_cq(ctx, 128, NULL, NULL, 0));
	MUST(init.recv_cq = e->rcq = ibv_create_cq(ctx, 128, NULL, NULL, 0));
	MUST(e->qp = ibv_create_qp(pd, &init));
}

static void unmake(struct end *e)
{
	MUST(!ibv_destroy_qp(e->qp));
	MUST(!ibv_destroy_cq(e->scq));
	MUST(!ibv_destroy_cq(e->rcq));
	MUST(!ibv_dereg_mr(e->mr));
	free(e->mem);
}

static void init(struct end *e)
{
	struct ibv_qp_attr at = {.qp_state = IBV_QPS_INIT,
				 .port_num = 1,
				 .qkey = 0x1111,
				 .qp_access_flags = ALL & ~IBV_ACCESS_MW_BIND};
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;

	mask |= e->qp->qp_type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;
	MUST(!ibv_modify_qp(e->qp, &at, mask));
}

static void go(struct end *e, const struct end *to)
{
	bool ud = e->qp->qp_type == IBV_QPT_UD;
	struct ibv_qp_attr at = {.qp_state = IBV_QPS_RTR,
				 .path_mtu = IBV_MTU_4096,
				 .dest_qp_num = to->qp->qp_num,
				 .max_dest_rd_atomic = 1,
				 .min_rnr_timer = 12,
				 .ah_attr = {.dlid = lid, .port_num = 1, .static_rate = rate}};

	MUST(!ibv_modify_qp(e->qp, &at,
			    ud ? IBV_QP_STATE
			       : IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
					    IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
					    IBV_QP_MIN_RNR_TIMER));
	at = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
				  .timeout = 14,
				  .retry_cnt = 7,
				  .rnr_retry = 7,
				  .max_rd_atomic = 1};
	MUST(!ibv_modify_qp(e->qp, &at,
			    ud ? IBV_QP_STATE | IBV_QP_SQ_PSN
			       : IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					    IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC));
}

static void up(enum ibv_qp_type type)
{
	make(&a, type);
	make(&b, type);
	init(&a);
	init(&b);
	go(&a, &b);
	go(&b, &a);
}

static void down(void)
{
	unmake(&a);
	unmake(&b);
}

/* The next completion's status. */
static int status(struct ibv_cq *cq, struct ibv_wc *wc)
{
	time_t end = time(NULL) + PATIENCE;
	int n;

	while (!(n = ibv_poll_cq(cq, 1, wc)))
		if (time(NULL) > end)
			return -1;
	return n < 0 ? -2 : (int)wc->status;
}

static bool is(const char *what, int got, int want)
{
	if (got != want)
		printf("  %s: %s, not %s\n", what,
		       got < 0 ? "nothing" : ibv_wc_status_str((enum ibv_wc_status)got),
		       ibv_wc_status_str((enum ibv_wc_status)want));
	return got == want;
}

static bool true_of(const char *what, bool is_true)
{
	if (!is_true)
		printf("  not so: %s\n", what);
	return is_true;
}

static void receive(struct end *e, uint32_t len, uint64_t id)
{
	struct ibv_sge sge = {(uintptr_t)e->mem, len, e->mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = id, .sg_list = &sge, .num_sge = 1}, *bad;

	MUST(!ibv_post_recv(e->qp, &wr, &bad));
}

static enum ibv_qp_state state(struct end *e)
{
	struct ibv_qp_init_attr ia;
	struct ibv_qp_attr at;

	MUST(!ibv_query_qp(e->qp, &at, IBV_QP_STATE, &ia));
	return at.qp_state;
}

/* Post one request of a's, described by `w`. */
static int send(struct ibv_send_wr *w, uint32_t len)
{
	struct ibv_sge sge = {(uintptr_t)a.mem, len, a.mr->lkey};
	struct ibv_send_wr *bad;
	struct ibv_wc wc;

	if (!w->sg_list && w->opcode != IBV_WR_BIND_MW) {
		w->sg_list = &sge;
		w->num_sge = 1;
	}
	w->send_flags = IBV_SEND_SIGNALED;
	MUST(!ibv_post_send(a.qp, w, &bad));
	return status(a.scq, &wc);
}

/*
 * UCX resets a DCI so: the send queue's record keeps its old index, and the queue is empty. Nothing
 * is executed before the doorbell rings; then all posted WQEs, whose number may equal the old
 * index.
 */
static bool stale_record(void)
{
	struct mlx5dv_qp dv = {0};
	struct mlx5dv_obj obj = {.qp = {.out = &dv}};
	struct ibv_qp_attr reset = {.qp_state = IBV_QPS_RESET};
	bool ok = true;

	up(IBV_QPT_RC);
	obj.qp.in = a.qp;
	MUST(!mlx5dv_init_obj(&obj, MLX5DV_OBJ_QP));
	for (uint32_t i = 0; i < 60 && ok; i++) {
		uint32_t left = i % 5, posts = 1 + i % 3;
		struct ibv_send_wr wr[3] = {{0}}, *bad;
		struct ibv_wc wc;

		MUST(!ibv_modify_qp(a.qp, &reset, IBV_QP_STATE));
		MUST(!ibv_modify_qp(b.qp, &reset, IBV_QP_STATE));
		memset(dv.sq.buf, 0, (size_t)dv.sq.wqe_cnt * dv.sq.stride);
		dv.dbrec[MLX5_SND_DBR] = htobe32(left);
		init(&a);
		init(&b);
		go(&b, &a);
		go(&a, &b);
		for (uint32_t n = 0; n < posts; n++)
			wr[n] = (struct ibv_send_wr){.wr_id = i * 10 + n,
						     .opcode = IBV_WR_RDMA_WRITE,
						     .send_flags = IBV_SEND_SIGNALED,
						     .next = n + 1 < posts ? &wr[n + 1] : NULL,
						     .wr.rdma = {(uintptr_t)b.mem, b.mr->rkey}};
		MUST(!ibv_post_send(a.qp, wr, &bad));
		for (uint32_t n = 0; n < posts && ok; n++)
			ok = is("write", status(a.scq, &wc), IBV_WC_SUCCESS) &&
			     true_of("in order", wc.wr_id == i * 10 + n);
		ok = ok && true_of("no more", !ibv_poll_cq(a.scq, 1, &wc)) &&
		     true_of("RTS", state(&a) == IBV_QPS_RTS);
	}
	down();
	return ok;
}

/* Errors of READs and atomics with keys that are wrong locally, remotely, or at both ends. */
static bool answers(void)
{
	static const struct {
		enum ibv_wr_opcode opcode;
		bool lkey, rkey;
		uint32_t off;
		int status;
		bool done; /* the responder has executed it */
	} rows[] = {
		{IBV_WR_RDMA_READ, true, false, 0, IBV_WC_LOC_PROT_ERR, true},
		{IBV_WR_RDMA_READ, true, true, 0, IBV_WC_REM_ACCESS_ERR, false},
		{IBV_WR_ATOMIC_FETCH_AND_ADD, true, false, 0, IBV_WC_LOC_PROT_ERR, true},
		{IBV_WR_ATOMIC_FETCH_AND_ADD, true, true, 0, IBV_WC_REM_ACCESS_ERR, false},
		{IBV_WR_ATOMIC_FETCH_AND_ADD, true, false, 4, IBV_WC_REM_INV_REQ_ERR, false},
		{IBV_WR_RDMA_WRITE, true, true, 0, IBV_WC_LOC_PROT_ERR, false},
	};
	bool ok = true;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ibv_send_wr wr = {.opcode = rows[i].opcode};
		bool atomic = rows[i].opcode == IBV_WR_ATOMIC_FETCH_AND_ADD, changed;
		struct ibv_sge sge;

		up(IBV_QPT_RC);
		sge = (struct ibv_sge){(uintptr_t)a.mem, 8, a.mr->lkey ^ (rows[i].lkey ? 1 : 0)};
		wr.sg_list = &sge;
		wr.num_sge = 1;
		if (atomic) {
			wr.wr.atomic.remote_addr = (uintptr_t)b.mem + rows[i].off;
			wr.wr.atomic.rkey = b.mr->rkey ^ (rows[i].rkey ? 1 : 0);
			wr.wr.atomic.compare_add = 1;
		} else {
			wr.wr.rdma.remote_addr = (uintptr_t)b.mem;
			wr.wr.rdma.rkey = b.mr->rkey ^ (rows[i].rkey ? 1 : 0);
		}
		if (!is(ibv_wc_status_str((enum ibv_wc_status)rows[i].status), send(&wr, 8),
			rows[i].status))
			ok = false;
		changed = *(uint64_t *)b.mem != 0;
		ok = true_of("changed there", changed == (atomic && rows[i].done)) && ok;
		down();
	}
	return ok;
}

static bool cannot_invalidate(void)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND_WITH_INV};
	struct ibv_wc wc;
	bool ok;

	up(IBV_QPT_RC);
	receive(&b, 64, 1);
	receive(&b, 64, 2);
	memcpy(a.mem, "message", 8);
	wr.invalidate_rkey = b.mr->rkey;
	ok = is("send", send(&wr, 8), IBV_WC_RETRY_EXC_ERR); /* neither ACK nor NAK */
	ok = is("receive", status(b.rcq, &wc), IBV_WC_LOC_ACCESS_ERR) && ok;
	ok = is("next receive", status(b.rcq, &wc), IBV_WC_WR_FLUSH_ERR) && ok;
	ok = true_of("the message is there", !memcmp(b.mem, "message", 8)) && ok;
	ok = true_of("a in ERR", state(&a) == IBV_QPS_ERR) && ok;
	ok = true_of("b in ERR", state(&b) == IBV_QPS_ERR) && ok;
	down();
	return ok;
}

static bool write_imm_refused(void)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE_WITH_IMM};
	struct ibv_wc wc;
	bool ok;

	up(IBV_QPT_RC);
	receive(&b, 0, 1);
	wr.wr.rdma.remote_addr = (uintptr_t)b.mem;
	wr.wr.rdma.rkey = b.mr->rkey ^ 1;
	ok = is("write", send(&wr, 8), IBV_WC_REM_ACCESS_ERR);
	ok = is("receive", status(b.rcq, &wc), IBV_WC_LOC_ACCESS_ERR) && ok;
	down();
	return ok;
}

/* A receive that is posted to a QP in ERR rings no doorbell, and is flushed all the same. */
static bool late_receive(void)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};
	struct ibv_sge sge;
	struct ibv_wc wc;
	bool ok;

	up(IBV_QPT_RC);
	sge = (struct ibv_sge){(uintptr_t)a.mem, 8, a.mr->lkey ^ 1};
	wr.sg_list = &sge;
	wr.num_sge = 1;
	ok = is("send", send(&wr, 8), IBV_WC_LOC_PROT_ERR);
	receive(&a, 64, 1);
	ok = is("receive", status(a.rcq, &wc), IBV_WC_WR_FLUSH_ERR) && ok;
	down();
	return ok;
}

static bool window_to_nothing(void)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_BIND_MW};
	struct ibv_mw *mw;
	bool ok;

	up(IBV_QPT_RC);
	MUST(mw = ibv_alloc_mw(pd, IBV_MW_TYPE_2));
	wr.bind_mw.mw = mw;
	wr.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
	wr.bind_mw.bind_info = (struct ibv_mw_bind_info){.mr = a.mr, .addr = (uintptr_t)a.mem};
	ok = is("bind", send(&wr, 0), IBV_WC_MW_BIND_ERR);
	MUST(!ibv_dealloc_mw(mw));
	down();
	return ok;
}

static bool long_datagram(void)
{
	struct ibv_ah_attr attr = {.dlid = lid, .port_num = 1};
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};
	struct ibv_wc wc;
	bool ok;

	up(IBV_QPT_UD);
	MUST(wr.wr.ud.ah = ibv_create_ah(pd, &attr));
	wr.wr.ud.remote_qpn = b.qp->qp_num;
	wr.wr.ud.remote_qkey = 0x1111;
	receive(&b, 40 + 8, 1);
	ok = is("long", send(&wr, 9), IBV_WC_SUCCESS);
	wr.sg_list = NULL;
	ok = is("short", send(&wr, 8), IBV_WC_SUCCESS) && ok;
	ok = is("receive", status(b.rcq, &wc), IBV_WC_SUCCESS) && ok;
	ok = true_of("of the short one", wc.byte_len == 48 && wc.wr_id == 1) && ok;
	ok = true_of("b in RTS", state(&b) == IBV_QPS_RTS) && ok;
	ibv_destroy_ah(wr.wr.ud.ah);
	down();
	return ok;
}

/* The peer of perftest's --use-null-mr uses the null MR's key. */
static bool null_mr_for_others(void)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE};
	struct ibv_mr *null;
	bool ok;

	up(IBV_QPT_RC);
	MUST(null = ibv_alloc_null_mr(pd));
	wr.wr.rdma.rkey = null->lkey;
	memset(a.mem, 0xee, BYTES);
	ok = is("write", send(&wr, BYTES), IBV_WC_SUCCESS);
	wr.opcode = IBV_WR_RDMA_READ;
	wr.sg_list = NULL;
	ok = is("read", send(&wr, BYTES), IBV_WC_SUCCESS) && ok;
	ok = true_of("zeroes", !a.mem[0] && !memcmp(a.mem, a.mem + 1, BYTES - 1)) && ok;
	MUST(!ibv_dereg_mr(null));
	down();
	return ok;
}

static bool static_rates(void)
{
	static const uint8_t rates[] = {IBV_RATE_MAX,     IBV_RATE_2_5_GBPS, IBV_RATE_10_GBPS,
					IBV_RATE_40_GBPS, IBV_RATE_100_GBPS, IBV_RATE_200_GBPS};
	bool ok = true;

	for (size_t i = 0; i < sizeof(rates); i++) {
		struct ibv_qp_init_attr ia;
		struct ibv_qp_attr at;

		rate = rates[i];
		up(IBV_QPT_RC);
		MUST(!ibv_query_qp(a.qp, &at, IBV_QP_AV, &ia));
		ok = true_of("returned", at.ah_attr.static_rate == rates[i]) && ok;
		down();
	}
	rate = IBV_RATE_MAX;
	return ok;
}

/* Maps or unmaps a page. On-demand regions may cover it in both states. */
static uint8_t *page_there(uint8_t *at, bool there)
{
	if (!there) {
		MUST(!munmap(at, 4096));
		return at;
	}
	at = mmap(at, 4096, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);
	MUST(at != MAP_FAILED);
	return at;
}

/* WRITE 64 bytes from a's memory at `from` to b's at `to`. */
static int write_to(struct ibv_mr *lmr, uint8_t *from, uint32_t rkey, uint8_t *to)
{
	struct ibv_sge sge = {(uintptr_t)from, 64, lmr->lkey};
	struct ibv_send_wr w = {.opcode = IBV_WR_RDMA_WRITE, .sg_list = &sge, .num_sge = 1};

	w.wr.rdma.remote_addr = (uintptr_t)to;
	w.wr.rdma.rkey = rkey;
	return send(&w, 0);
}

/* A page fault that cannot be resolved is an error of the work request. */
static bool on_demand(void)
{
	uint8_t *p = page_there(NULL, true);
	struct ibv_mr *mr, *all;
	bool ok;

	up(IBV_QPT_RC);
	page_there(p, false);
	MUST(mr = ibv_reg_mr(pd, p, 4096, (ALL & ~IBV_ACCESS_MW_BIND) | IBV_ACCESS_ON_DEMAND));
	MUST(all = ibv_reg_mr(pd, NULL, SIZE_MAX, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND));
	ok = is("from no page", write_to(mr, p, b.mr->rkey, b.mem), IBV_WC_LOC_PROT_ERR);
	down();
	up(IBV_QPT_RC);
	page_there(p, true);
	memset(p, 0x5a, 64);
	ok = ok && is("from the page", write_to(mr, p, b.mr->rkey, b.mem), IBV_WC_SUCCESS) &&
	     true_of("its bytes", !memcmp(b.mem, p, 64)) &&
	     is("to the page", write_to(a.mr, a.mem, mr->rkey, p), IBV_WC_SUCCESS) &&
	     true_of("their bytes", !memcmp(a.mem, p, 64)) &&
	     is("from anywhere", write_to(all, a.mem, b.mr->rkey, b.mem), IBV_WC_SUCCESS) &&
	     is("beyond the end", write_to(mr, p + 4095, b.mr->rkey, b.mem), IBV_WC_LOC_PROT_ERR);
	down();
	up(IBV_QPT_RC);
	page_there(p, false);
	ok = ok && is("to no page", write_to(a.mr, a.mem, mr->rkey, p), IBV_WC_REM_ACCESS_ERR);
	down();
	MUST(!ibv_dereg_mr(mr) && !ibv_dereg_mr(all));
	return ok;
}

static int advise(uint32_t advice, uint32_t flags, uint32_t lkey, const void *at, uint32_t len)
{
	struct ibv_sge sge = {(uintptr_t)at, len, lkey};

	return ibv_advise_mr(pd, (enum ib_uverbs_advise_mr_advice)advice, flags, &sge, 1);
}

/* odp.c of mlx5_ib: get_prefetchable_mr(), pagefault_mr() */
static bool advice(void)
{
	const int odp = IBV_ACCESS_ON_DEMAND;
	uint8_t *p = page_there(NULL, true);
	struct ibv_mr *ro, *rw, *all, *few;
	unsigned char there = 0;
	struct ibv_pd *other;
	struct ibv_mw *mw;
	struct {
		const char *what;
		int got, want;
	} c[16];
	bool ok = true;
	size_t n = 0;

	MUST(ro = ibv_reg_mr(pd, p, 4096, odp));
	MUST(rw = ibv_reg_mr(pd, p, 4096, odp | IBV_ACCESS_LOCAL_WRITE));
	MUST(few = ibv_reg_mr(pd, p, 100, odp | IBV_ACCESS_LOCAL_WRITE));
	MUST(mw = ibv_alloc_mw(pd, IBV_MW_TYPE_1));
	MUST(other = ibv_alloc_pd(ctx));
	MUST(all = ibv_reg_mr(other, NULL, SIZE_MAX, odp));
	up(IBV_QPT_RC);
#define TRY(what, want, ...) (c[n++] = (typeof(c[0])){what, advise(__VA_ARGS__), want})
	TRY("not on demand", ENOENT, 0, 0, a.mr->lkey, a.mem, 64);
	TRY("a window's", EINVAL, 0, 0, mw->rkey, p, 64);
	TRY("another PD's", EPERM, 0, 0, all->lkey, p, 64);
	TRY("not writable", EPERM, 1, 0, ro->lkey, p, 64);
	TRY("unknown advice", EOPNOTSUPP, 3, 0, rw->lkey, p, 64);
	TRY("unknown flags", EINVAL, 0, 2, rw->lkey, p, 64);
	TRY("beyond the end, later", 0, 0, 0, rw->lkey, p + 4000, 97);
	TRY("beyond the end, now", EFAULT, 0, 1, rw->lkey, p + 4000, 97);
	TRY("without a fault", 0, 2, 1, rw->lkey, p, 4096);
	MUST(!mincore(p, 4096, &there));
	TRY("for writing", 0, 1, 1, rw->lkey, p, 4096);
	ok = true_of("no page before", !there);
	MUST(!mincore(p, 4096, &there));
	ok = ok && true_of("a page after", there);
	TRY("to the end of its last page", 0, 0, 1, few->lkey, p, 4096);
	TRY("beyond its last page", EFAULT, 0, 1, few->lkey, p, 4097);
	TRY("no byte behind its last page", EFAULT, 0, 1, rw->lkey, p + 4096, 0);
	page_there(p, false);
	TRY("no page, later", 0, 0, 0, rw->lkey, p, 64);
	TRY("no page, now", EFAULT, 0, 1, rw->lkey, p, 64);
	TRY("no page, without a fault", 0, 2, 1, rw->lkey, p, 64);
	for (size_t i = 0; i < n; i++)
		if (c[i].got != c[i].want) {
			printf("  %s: %s\n", c[i].what, strerror(c[i].got));
			ok = false;
		}
	down();
	MUST(!ibv_dereg_mr(ro) && !ibv_dereg_mr(rw) && !ibv_dereg_mr(all) && !ibv_dereg_mr(few));
	MUST(!ibv_dealloc_mw(mw) && !ibv_dealloc_pd(other));
	return ok;
}

static const struct {
	const char *name;
	bool (*run)(void);
} cases[] = {
	{"a record that is left over a reset", stale_record},
	{"keys of READs and atomics", answers},
	{"SEND_WITH_INV that cannot", cannot_invalidate},
	{"WRITE_WITH_IMM that is refused", write_imm_refused},
	{"a receive after an error of the sender", late_receive},
	{"a window to no bytes", window_to_nothing},
	{"a datagram that is too long", long_datagram},
	{"the null MR for others", null_mr_for_others},
	{"static rates", static_rates},
	{"regions on demand", on_demand},
	{"advice for them", advice},
};

int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_port_attr port;
	int failed = 0;

	MUST(list && list[0] && (ctx = ibv_open_device(list[0])));
	MUST(pd = ibv_alloc_pd(ctx));
	MUST(!ibv_query_port(ctx, 1, &port));
	lid = port.lid;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool ok = cases[i].run();

		printf("%s %s\n", ok ? "ok" : "FAILED", cases[i].name);
		failed += !ok;
	}
	fflush(stdout);
	return failed;
}
