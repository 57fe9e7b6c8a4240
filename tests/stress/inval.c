/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * After memory is taken away from its users, nobody writes or reads it. The owner revokes it by one
 * method after another while a writer in another process uses it, overwrites it as soon as the call
 * or the completion reports success, and checks that nothing else appears there; or, with reads,
 * that the reader does not get the new content.
 *
 * inval <seconds> <rc|uc|xrc> <write|read> <run|stop|kill>: the last argument is what happens to
 * the writer meanwhile: nothing; SIGSTOP before and SIGCONT after; SIGKILL. Three processes: a
 * parent that starts writers anew, the owner, the writer. Prints a line for each method; status 1
 * if something appeared.
 */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BYTES (1u << 20)
#define DM_BYTES (64u << 10) /* of device memory: a part of max_dm_size */
#define PATIENCE 60.0        /* seconds after which a wait counts as a hang */
enum { BEFORE = 0x11, SECRET = 0x55, WRITTEN = 0xaa };

#define DIE(...)                                             \
	do {                                                 \
		fprintf(stderr, "inval.c:%d: ", __LINE__);   \
		fprintf(stderr, __VA_ARGS__);                \
		fprintf(stderr, " (%s)\n", strerror(errno)); \
		_exit(2);                                    \
	} while (0)
#define CHECK(x)                       \
	do {                           \
		if (!(x))              \
			DIE("%s", #x); \
	} while (0)

/* The memory that all three share. */
static struct board {
	_Atomic pid_t writer; /* 0: no writer at present */
	_Atomic uint32_t writer_qpn, lid;
	/* written by the owner, for a round */
	_Atomic uint32_t round, stop, halt, owner_qpn, srqn, rkey;
	_Atomic uint64_t va;
	_Atomic uint32_t bytes;    /* of this round's requests */
	_Atomic uint32_t ways_end; /* how this round's writer ends: enum end */
	/* written by the writer */
	_Atomic uint32_t posted, halted, ended;
	_Atomic uint64_t leaked; /* bytes read that should not be readable */
} * board;

enum end { END_SELF, END_HALT, END_SEND_INV };

static enum { RC, UC, XRC } kind;
static bool reading;
static enum { RUN, STOP, KILL } torment;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void until_(bool (*cond)(uint32_t), uint32_t arg, const char *what)
{
	double end = now() + PATIENCE;

	while (!cond(arg)) {
		if (now() > end)
			DIE("waited %g s for %s", PATIENCE, what);
		sched_yield();
	}
}

struct end_point {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	/* for the owner with XRC: its QP is a target, and it posts on a QP of its own */
	struct ibv_xrcd *xrcd;
	struct ibv_srq *srq;
	struct ibv_qp *local;
};

static void open_device(struct end_point *e)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	CHECK(list && list[0]);
	e->ctx = ibv_open_device(list[0]);
	CHECK(e->ctx);
	ibv_free_device_list(list);
	e->pd = ibv_alloc_pd(e->ctx);
	e->cq = ibv_create_cq(e->ctx, 64, NULL, NULL, 0);
	CHECK(e->pd && e->cq);
}

static struct ibv_qp *new_qp(struct end_point *e, enum ibv_qp_type type)
{
	bool target = type == IBV_QPT_XRC_RECV;
	struct ibv_qp_init_attr_ex init = {.qp_type = type,
					   .send_cq = target ? NULL : e->cq,
					   .recv_cq = target ? NULL : e->cq,
					   .cap = {16, 4, 1, 1, 0},
					   .sq_sig_all = 1,
					   .comp_mask = target ? IBV_QP_INIT_ATTR_XRCD
							       : IBV_QP_INIT_ATTR_PD,
					   .pd = e->pd,
					   .xrcd = e->xrcd};
	struct ibv_qp *qp;

	if (target || type == IBV_QPT_XRC_SEND)
		init.cap.max_recv_wr = init.cap.max_recv_sge = 0;
	qp = ibv_create_qp_ex(e->ctx, &init);
	CHECK(qp);
	return qp;
}

static void make_srq(struct end_point *e)
{
	struct ibv_xrcd_init_attr domain = {.comp_mask = IBV_XRCD_INIT_ATTR_FD |
							 IBV_XRCD_INIT_ATTR_OFLAGS,
					    .fd = -1,
					    .oflags = O_CREAT};
	struct ibv_srq_init_attr_ex init = {
		.attr = {.max_wr = 4, .max_sge = 1},
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_XRCD |
			     IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_XRC,
		.cq = e->cq,
		.pd = e->pd};
	uint32_t n;

	init.xrcd = e->xrcd = ibv_open_xrcd(e->ctx, &domain);
	CHECK(e->xrcd);
	e->srq = ibv_create_srq_ex(e->ctx, &init);
	CHECK(e->srq && !ibv_get_srq_num(e->srq, &n));
	board->srqn = n;
}

static void drain(struct end_point *e)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(e->cq, 1, &wc) > 0)
		;
}

static void set_state(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr a = {.qp_state = state};

	if (ibv_modify_qp(qp, &a, IBV_QP_STATE))
		DIE("modify to %d", (int)state);
}

/* From any state to RTS, or an XRC target to RTR. */
static void connect_qp(struct end_point *e, struct ibv_qp *qp, uint32_t dest)
{
	bool rc = qp->qp_type != IBV_QPT_UC;
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT,
				.port_num = 1,
				.qp_access_flags =
					IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ};

	set_state(qp, IBV_QPS_RESET);
	drain(e);
	CHECK(!ibv_modify_qp(qp, &a,
			     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
	a = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR,
				 .path_mtu = IBV_MTU_4096,
				 .dest_qp_num = dest,
				 .max_dest_rd_atomic = 1,
				 .min_rnr_timer = 1,
				 .ah_attr = {.dlid = (uint16_t)board->lid, .port_num = 1}};
	CHECK(!ibv_modify_qp(qp, &a,
			     IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				     IBV_QP_RQ_PSN |
				     (rc ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0)));
	if (qp->qp_type == IBV_QPT_XRC_RECV)
		return;
	a = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
				 .timeout = 10,
				 .retry_cnt = 2,
				 .rnr_retry = 7,
				 .max_rd_atomic = 1};
	CHECK(!ibv_modify_qp(qp, &a,
			     IBV_QP_STATE | IBV_QP_SQ_PSN |
				     (rc ? IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
						      IBV_QP_MAX_QP_RD_ATOMIC
					 : 0)));
}

static enum ibv_wc_status wait_wc(struct end_point *e, struct ibv_wc *wc)
{
	double end = now() + PATIENCE;

	while (!ibv_poll_cq(e->cq, 1, wc)) {
		if (now() > end)
			DIE("no completion in %g s", PATIENCE);
		sched_yield();
	}
	return wc->status;
}

/* ---- the writer: one thread posts, another obeys the owner */

static struct writer {
	struct end_point e;
	struct ibv_mr *mr;
	uint8_t *buf;
	_Atomic uint32_t go, done; /* rounds of the thread that posts */
} writer;

static struct ibv_send_wr the_request(struct writer *w, struct ibv_sge *sge)
{
	*sge = (struct ibv_sge){(uintptr_t)w->buf, board->bytes, w->mr->lkey};
	return (struct ibv_send_wr){.opcode = reading ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE,
				    .sg_list = sge,
				    .num_sge = 1,
				    .wr.rdma = {board->va, board->rkey},
				    .qp_type.xrc.remote_srqn = board->srqn};
}

static void post_round(struct writer *w, uint32_t round)
{
	struct ibv_sge sge;
	struct ibv_send_wr inv = {.opcode = IBV_WR_SEND_WITH_INV}, *bad;
	bool halt = false;
	struct ibv_wc wc;

	while (board->stop < round && !halt) {
		struct ibv_send_wr wr = the_request(w, &sge);

		halt = board->ways_end == END_SEND_INV && board->halt == round;
		inv.invalidate_rkey = board->rkey;
		inv.next = &wr;
		if (ibv_post_send(w->e.qp, halt ? &inv : &wr, &bad))
			break;
		board->posted++;
		if (wait_wc(&w->e, &wc))
			break;
	}
	if (halt && !wc.status && !wait_wc(&w->e, &wc))
		DIE("a request behind SEND_WITH_INV went through");
}

static void *poster(void *arg)
{
	struct writer *w = arg;

	for (uint32_t round = 0;; w->done = round) {
		while (w->go == round)
			sched_yield();
		round = w->go;
		post_round(w, round);
	}
	return NULL;
}

static void writers_round(struct writer *w, uint32_t round)
{
	memset(w->buf, reading ? 0 : WRITTEN, BYTES);
	connect_qp(&w->e, w->e.qp, board->owner_qpn);
	w->go = round;
	while (w->done != round) {
		if (board->ways_end == END_HALT && board->halt == round && board->halted < round) {
			set_state(w->e.qp, IBV_QPS_ERR);
			board->halted = round;
		}
		sched_yield();
	}
	for (uint32_t i = 0; reading && i < BYTES; i++)
		board->leaked += w->buf[i] == SECRET;
	board->ended = round;
}

static void writer_main(void)
{
	struct writer *w = &writer;
	pthread_t t;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	open_device(&w->e);
	w->e.qp = new_qp(&w->e, kind == RC   ? IBV_QPT_RC
				: kind == UC ? IBV_QPT_UC
					     : IBV_QPT_XRC_SEND);
	w->buf = aligned_alloc(4096, BYTES);
	memset(w->buf, 0, BYTES);
	w->mr = ibv_reg_mr(w->e.pd, w->buf, BYTES, IBV_ACCESS_LOCAL_WRITE);
	CHECK(w->mr && !pthread_create(&t, NULL, poster, w));
	board->writer_qpn = w->e.qp->qp_num;
	board->ended = board->round;
	board->writer = getpid();
	for (uint32_t round = board->round;;) {
		while (board->round == round)
			sched_yield();
		round = board->round;
		writers_round(w, round);
	}
}

/* ---- the owner */

static struct owner {
	struct end_point e;
	struct ibv_pd *spare_pd;
	struct ibv_mr *mr;
	struct ibv_mw *mw;
	struct ibv_dm *dm;
	uint8_t *buf, *spare; /* spare: IBV_REREG_MR_CHANGE_TRANSLATION leads a key to it */
	uint64_t wr_id;
} owner;

static struct ibv_qp *posts_to(struct owner *o)
{
	return kind == XRC ? o->e.local : o->e.qp;
}

static struct ibv_mr *reg(struct owner *o)
{
	struct ibv_mr *mr = ibv_reg_mr(o->e.pd, o->buf, BYTES,
				       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
					       IBV_ACCESS_REMOTE_READ | IBV_ACCESS_MW_BIND);

	CHECK(mr);
	return mr;
}

/* Post, and wait for the completion. */
static enum ibv_wc_status do_send(struct owner *o, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;
	struct ibv_wc wc;

	wr->wr_id = ++o->wr_id;
	CHECK(!ibv_post_send(posts_to(o), wr, &bad));
	do
		wait_wc(&o->e, &wc);
	while (wc.wr_id != o->wr_id);
	return wc.status;
}

static struct ibv_mw_bind_info the_bind(struct owner *o, uint64_t len)
{
	return (struct ibv_mw_bind_info){.mr = o->mr,
					 .addr = (uintptr_t)o->buf,
					 .length = len,
					 .mw_access_flags =
						 IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ};
}

static void window_1(struct owner *o)
{
	struct ibv_mw_bind b = {.wr_id = ++o->wr_id, .bind_info = the_bind(o, BYTES)};
	struct ibv_wc wc;

	o->mr = reg(o);
	b.bind_info.mr = o->mr;
	o->mw = ibv_alloc_mw(o->e.pd, IBV_MW_TYPE_1);
	CHECK(o->mw && !ibv_bind_mw(posts_to(o), o->mw, &b) && !wait_wc(&o->e, &wc));
	board->rkey = o->mw->rkey;
}

static void window_2(struct owner *o)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_BIND_MW};

	o->mr = reg(o);
	o->mw = ibv_alloc_mw(o->e.pd, IBV_MW_TYPE_2);
	CHECK(o->mw);
	wr.bind_mw.mw = o->mw;
	wr.bind_mw.rkey = ibv_inc_rkey(o->mw->rkey);
	wr.bind_mw.bind_info = the_bind(o, BYTES);
	CHECK(!do_send(o, &wr));
	o->mw->rkey = wr.bind_mw.rkey;
	board->rkey = wr.bind_mw.rkey;
}

static void region(struct owner *o)
{
	o->mr = reg(o);
	board->rkey = o->mr->rkey;
}

/* The adapter's own memory, where every process's writes are copies inside the segment. */
static void device_memory(struct owner *o)
{
	struct ibv_alloc_dm_attr a = {.length = DM_BYTES};

	o->dm = ibv_alloc_dm(o->e.ctx, &a);
	CHECK(o->dm);
	o->mr = ibv_reg_dm_mr(o->e.pd, o->dm, 0, DM_BYTES,
			      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				      IBV_ACCESS_REMOTE_READ | IBV_ACCESS_ZERO_BASED);
	CHECK(o->mr);
	board->rkey = o->mr->rkey;
}

/* One way to take the memory away. False: it failed, for a harmless reason. */
static bool local_inv(struct owner *o)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_LOCAL_INV, .invalidate_rkey = board->rkey};
	enum ibv_wc_status st = do_send(o, &wr);

	/* The writer's next request may have failed on the revoked key, and the QP with it. */
	if (st && st != IBV_WC_WR_FLUSH_ERR)
		DIE("LOCAL_INV: %s", ibv_wc_status_str(st));
	return !st;
}

static bool bind_1(struct owner *o, uint64_t len)
{
	struct ibv_mw_bind b = {.wr_id = ++o->wr_id, .bind_info = the_bind(o, len)};
	struct ibv_wc wc;

	b.bind_info.addr += BYTES - 64;
	CHECK(!ibv_bind_mw(posts_to(o), o->mw, &b));
	do
		wait_wc(&o->e, &wc);
	while (wc.wr_id != o->wr_id);
	return !wc.status;
}

static bool rebind(struct owner *o)
{
	return bind_1(o, 64);
}

static bool unbind(struct owner *o)
{
	return bind_1(o, 0);
}

static bool halt(struct owner *o)
{
	double end = now() + PATIENCE;

	board->halt = board->round;
	while (board->halted != board->round && board->writer)
		CHECK(now() < end);
	return board->halted == board->round;
}

static bool send_inv(struct owner *o)
{
	double end = now() + PATIENCE;
	struct ibv_wc wc;

	board->halt = board->round;
	while (!ibv_poll_cq(o->e.cq, 1, &wc)) {
		if (!board->writer)
			return false;
		CHECK(now() < end);
	}
	CHECK(wc.opcode == IBV_WC_RECV);
	return !wc.status && wc.wc_flags & IBV_WC_WITH_INV;
}

static bool dereg(struct owner *o)
{
	CHECK(!ibv_dereg_mr(o->mr));
	o->mr = NULL;
	return true;
}

static bool rereg_as(struct owner *o, int flags)
{
	struct ibv_pd *pd = flags & IBV_REREG_MR_CHANGE_PD ? o->spare_pd : NULL;
	uint8_t *to = flags & IBV_REREG_MR_CHANGE_TRANSLATION ? o->spare : NULL;
	int access = flags & IBV_REREG_MR_CHANGE_ACCESS ? IBV_ACCESS_LOCAL_WRITE : 0;

	CHECK(!ibv_rereg_mr(o->mr, flags, pd, to, to ? BYTES : 0, access));
	return true;
}

static bool rereg_access(struct owner *o)
{
	return rereg_as(o, IBV_REREG_MR_CHANGE_ACCESS);
}

static bool rereg_memory(struct owner *o)
{
	return rereg_as(o, IBV_REREG_MR_CHANGE_TRANSLATION);
}

static bool rereg_pd(struct owner *o)
{
	return rereg_as(o, IBV_REREG_MR_CHANGE_PD);
}

static bool rereg_all(struct owner *o)
{
	return rereg_as(o, IBV_REREG_MR_CHANGE_TRANSLATION | IBV_REREG_MR_CHANGE_PD |
				   IBV_REREG_MR_CHANGE_ACCESS);
}

static bool to_err(struct owner *o)
{
	set_state(o->e.qp, IBV_QPS_ERR);
	return true;
}

/* See `slow` of struct way. */
static bool too_long(int r)
{
	CHECK(!r || (r == ETIMEDOUT && torment == STOP));
	return r;
}

static bool to_reset(struct owner *o)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_RESET};

	return !too_long(ibv_modify_qp(o->e.qp, &a, IBV_QP_STATE));
}

static bool destroy(struct owner *o)
{
	if (too_long(ibv_destroy_qp(o->e.qp)))
		return false;
	o->e.qp = NULL;
	return true;
}

static bool close_file(struct owner *o)
{
	CHECK(!ibv_close_device(o->e.ctx));
	memset(&o->e, 0, sizeof(o->e));
	o->spare_pd = NULL;
	o->mr = NULL;
	return true;
}

static struct way {
	const char *name;
	void (*give)(struct owner *o);
	bool (*take)(struct owner *o);
	enum end end;
	uint32_t not_of; /* mask of kinds (1 << kind) without this method */
	bool alive;      /* needs a running writer */
	bool slow;       /* a writer that is stopped with a lock makes it fail after 2 s */
	uint32_t every;  /* used in one of so many passes; 0: in each */
	uint32_t passes, rounds, wrong;
	double longest;
} ways[] = {
	{"LOCAL_INV of a type 2 window", window_2, local_inv, .not_of = 1 << XRC},
	{"rebinding a type 1 window", window_1, rebind},
	{"unbinding a type 1 window", window_1, unbind},
	{"SEND_WITH_INV", window_2, send_inv, END_SEND_INV, .not_of = 1 << UC | 1 << XRC,
	 .alive = true},
	{"dereg_mr", region, dereg},
	{"dereg_mr of device memory", device_memory, dereg},
	{"rereg_mr: access", region, rereg_access},
	{"rereg_mr: other memory", region, rereg_memory},
	{"rereg_mr: PD", region, rereg_pd},
	{"rereg_mr: all three", region, rereg_all},
	{"its QP to ERR", region, to_err},
	{"its QP to RESET", region, to_reset, .slow = true},
	{"destroy_qp", region, destroy, .slow = true},
	{"close_device", region, close_file, .slow = true, .every = 4},
	{"the writer's QP to ERR", region, halt, END_HALT, .alive = true},
};
#define WAYS (sizeof(ways) / sizeof(ways[0]))

static bool have_writer(uint32_t unused)
{
	return board->writer && board->ended >= board->round;
}

static bool has_posted(uint32_t n)
{
	return board->posted >= n || !board->writer;
}

static bool has_ended(uint32_t round)
{
	return board->ended == round || !board->writer;
}

static void wait_randomly(void)
{
	double end = now() + (rand() % 400) / 1e6;

	while (now() < end)
		;
}

static void make_owner(struct owner *o)
{
	struct ibv_recv_wr *bad, recv = {0};
	struct end_point *e = &o->e;

	if (!e->ctx)
		open_device(e);
	if (!o->spare_pd)
		o->spare_pd = ibv_alloc_pd(e->ctx);
	CHECK(o->spare_pd);
	if (kind == XRC && !e->srq) {
		make_srq(e);
		e->local = new_qp(e, IBV_QPT_RC);
		connect_qp(e, e->local, e->local->qp_num);
	}
	if (!e->qp)
		e->qp = new_qp(e, kind == RC   ? IBV_QPT_RC
				  : kind == UC ? IBV_QPT_UC
					       : IBV_QPT_XRC_RECV);
	connect_qp(e, e->qp, board->writer_qpn);
	if (kind != XRC)
		CHECK(!ibv_post_recv(e->qp, &recv, &bad));
}

/* Everything that the writer may use now has this content. */
static void fill(struct owner *o, uint8_t with)
{
	memset(o->buf, with, board->bytes);
	if (o->dm)
		CHECK(!ibv_memcpy_to_dm(o->dm, 0, o->buf, board->bytes));
}

static void begin(struct owner *o, struct way *w)
{
	until_(have_writer, 0, "a writer");
	make_owner(o);
	w->give(o);
	board->va = o->dm ? 0 : (uintptr_t)o->buf;
	board->bytes = o->dm ? DM_BYTES : BYTES;
	fill(o, BEFORE);
	board->owner_qpn = o->e.qp->qp_num;
	board->ways_end = w->end;
}

static void end(struct owner *o)
{
	if (o->mw)
		CHECK(!ibv_dealloc_mw(o->mw));
	o->mw = NULL;
	if (o->mr)
		CHECK(!ibv_dereg_mr(o->mr));
	o->mr = NULL;
	if (o->dm)
		CHECK(!ibv_free_dm(o->dm));
	o->dm = NULL;
}

static uint32_t strangers(struct owner *o)
{
	uint32_t n = 0;

	if (o->dm)
		CHECK(!ibv_memcpy_from_dm(o->buf, o->dm, 0, board->bytes));
	for (uint32_t i = 0; i < board->bytes; i++)
		n += o->buf[i] != SECRET;
	return n;
}

static void one_round(struct owner *o, struct way *w)
{
	uint32_t before = board->posted, wrong;
	uint64_t leaked = board->leaked;
	pid_t pid;
	bool taken, spare = w->alive || (w->slow && torment == STOP && w->passes % 16 != 9);
	double t;

	w->passes++;
	begin(o, w);
	board->round++;
	until_(has_posted, before + 1 + (uint32_t)rand() % 3, "traffic");
	pid = board->writer;
	wait_randomly();
	if (pid && torment != RUN && !spare)
		kill(pid, torment == STOP ? SIGSTOP : SIGKILL);
	t = now();
	taken = w->take(o);
	t = now() - t;
	fill(o, SECRET);
	board->stop = board->round;
	if (pid && torment == STOP)
		kill(pid, SIGCONT);
	until_(has_ended, board->round, "the writer's end");
	wrong = strangers(o) + (uint32_t)(board->leaked - leaked);
	if (taken) {
		w->rounds++;
		w->wrong += wrong != 0;
		w->longest = t > w->longest ? t : w->longest;
	}
	end(o);
}

static int owner_main(double seconds)
{
	struct owner *o = &owner;
	struct ibv_port_attr port;
	double until = now() + seconds;
	uint32_t rounds = 0, wrong = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	open_device(&o->e);
	CHECK(!ibv_query_port(o->e.ctx, 1, &port));
	board->lid = port.lid;
	o->buf = aligned_alloc(4096, BYTES);
	o->spare = aligned_alloc(4096, BYTES);
	for (uint32_t pass = 0; !pass || now() < until; pass++)
		for (size_t i = 0; i < WAYS; i++)
			if (!(ways[i].not_of & 1u << kind) &&
			    !(ways[i].every && pass % ways[i].every))
				one_round(o, &ways[i]);
	for (size_t i = 0; i < WAYS; i++) {
		struct way *w = &ways[i];

		printf("%-30s %6u rounds, %u wrong, longest %.1f ms\n", w->name, w->rounds,
		       w->wrong, w->longest * 1e3);
		rounds += w->rounds;
		wrong += w->wrong;
	}
	printf("%u rounds, %u wrong\n", rounds, wrong);
	return wrong ? 1 : !rounds;
}

/* ---- */

static pid_t start(int (*body)(double), double arg)
{
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid) {
		int status = body(arg);

		fflush(stdout);
		_exit(status);
	}
	return pid;
}

static int writer_body(double unused)
{
	writer_main();
	return 0;
}

int main(int argc, char **argv)
{
	pid_t own, wr;

	if (argc != 5) {
		fprintf(stderr, "inval <seconds> <rc|uc|xrc> <write|read> <run|stop|kill>\n");
		return 2;
	}
	kind = !strcmp(argv[2], "uc") ? UC : !strcmp(argv[2], "xrc") ? XRC : RC;
	reading = !strcmp(argv[3], "read");
	torment = !strcmp(argv[4], "stop") ? STOP : !strcmp(argv[4], "kill") ? KILL : RUN;
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	CHECK(board != MAP_FAILED);
	srand(1);
	own = start(owner_main, atof(argv[1]));
	wr = start(writer_body, 0);
	for (;;) {
		int status;
		pid_t pid = wait(&status);

		if (pid == own) {
			kill(wr, SIGKILL);
			return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
		}
		if (pid != wr)
			continue;
		board->writer = 0;
		if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL) {
			kill(own, SIGKILL);
			fprintf(stderr, "the writer ended: %#x\n", (unsigned int)status);
			return 2;
		}
		wr = start(writer_body, 0);
	}
}
