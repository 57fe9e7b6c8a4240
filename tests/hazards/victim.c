/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A peer is killed under traffic, again and again. The sender must get RETRY_EXC if its transport
 * is acknowledged (and nothing else ever), none of its posts may take long, and others who open and
 * close the device meanwhile are served.
 *
 *     victim TRANSPORT VICTIM ROUNDS SECONDS
 *
 * ends after ROUNDS kills or SECONDS, whichever is first, and prints its counts. Its exit status is
 * TOO_SLOW if only a duration is wrong. SUPERVISOR, if set, is the fabric's supervisor: what it did
 * during a slow open is printed.
 */
#include "rc.h"
#include "util/test_time.h"

#include <errno.h>
#include <fcntl.h>
#include <infiniband/mlx5dv.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#define SIZE 65536u
#define DEPTH 16
#define QKEY 0x1ee
#define DC_KEY 0x1eeee
#define SLOW 0.1   /* seconds, without waits for a processor and delays of the machine itself */
#define TOO_SLOW 3 /* test_victims.py */

/* ---- transports ---- */

struct transport {
	const char *name;
	enum ibv_qp_type type, peer; /* QP types of the sender and of the victim */
	enum ibv_wr_opcode opcode;
	bool acked, dc;
	uint32_t len;
	/* attributes from INIT on: sender's and victim's */
	int init, rtr, rts, peer_rtr, peer_rts;
};

#define PORT (IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT)
#define TO (IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU)
#define CONN (TO | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN)
#define RESP (CONN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)
#define PSN (IBV_QP_STATE | IBV_QP_SQ_PSN)
#define REQ (PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC)
#define ACCESS (PORT | IBV_QP_ACCESS_FLAGS)

static const struct transport transports[] = {
	{"write", IBV_QPT_RC, IBV_QPT_RC, IBV_WR_RDMA_WRITE, true, false, SIZE, ACCESS, RESP, REQ,
	 RESP, REQ},
	{"read", IBV_QPT_RC, IBV_QPT_RC, IBV_WR_RDMA_READ, true, false, SIZE, ACCESS, RESP, REQ,
	 RESP, REQ},
	{"send", IBV_QPT_RC, IBV_QPT_RC, IBV_WR_SEND, true, false, 1024, ACCESS, RESP, REQ, RESP,
	 REQ},
	{"uc", IBV_QPT_UC, IBV_QPT_UC, IBV_WR_RDMA_WRITE, false, false, SIZE, ACCESS, CONN, PSN,
	 CONN, PSN},
	{"ud", IBV_QPT_UD, IBV_QPT_UD, IBV_WR_SEND, false, false, 1024, PORT | IBV_QP_QKEY,
	 IBV_QP_STATE, PSN, IBV_QP_STATE, PSN},
	{"xrc", IBV_QPT_XRC_SEND, IBV_QPT_XRC_RECV, IBV_WR_RDMA_WRITE, true, false, SIZE, ACCESS,
	 CONN, REQ, RESP, PSN | IBV_QP_TIMEOUT},
	{"dc", IBV_QPT_DRIVER, IBV_QPT_DRIVER, IBV_WR_RDMA_WRITE, true, true, SIZE, PORT, TO, REQ,
	 TO | IBV_QP_MIN_RNR_TIMER, 0},
};

static const struct transport *tr;

/* Called before anything is made; e->ctx is open. */
static void begin(struct rc_end *e)
{
	struct ibv_port_attr port;

	rc_open(e);
	CHECK(!ibv_query_port(e->ctx, 1, &port));
	e->size = SIZE;
	e->buf = aligned_alloc(4096, SIZE);
	memset(e->buf, 0, SIZE);
	e->pd = ibv_alloc_pd(e->ctx);
	e->cq = ibv_create_cq(e->ctx, 4 * DEPTH, NULL, NULL, 0);
	e->mr = ibv_reg_mr(e->pd, e->buf, SIZE,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				   IBV_ACCESS_REMOTE_READ);
	CHECK(e->pd && e->cq && e->mr);
	e->me = (struct rc_addr){(uintptr_t)e->buf, 0, e->mr->rkey, port.lid};
}

static struct ibv_srq *make_srq(struct rc_end *e)
{
	struct ibv_srq_init_attr a = {.attr = {.max_wr = DEPTH, .max_sge = 1}};
	struct ibv_srq *srq = ibv_create_srq(e->pd, &a);

	CHECK(srq);
	return srq;
}

static struct ibv_qp *make_dc(struct rc_end *e, bool target)
{
	struct ibv_qp_init_attr_ex x = {
		.qp_type = IBV_QPT_DRIVER,
		.send_cq = e->cq,
		.recv_cq = e->cq,
		.pd = e->pd,
		.sq_sig_all = 1,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
	};
	struct mlx5dv_qp_init_attr dv = {.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_DC};

	if (target) {
		x.srq = make_srq(e);
		dv.dc_init_attr.dc_type = MLX5DV_DCTYPE_DCT;
		dv.dc_init_attr.dct_access_key = DC_KEY;
	} else {
		x.cap = (struct ibv_qp_cap){DEPTH, 0, 1, 0, 0};
		x.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
		x.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE;
		dv.dc_init_attr.dc_type = MLX5DV_DCTYPE_DCI;
	}
	return mlx5dv_create_qp(e->ctx, &x, &dv);
}

static struct ibv_qp *make_xrc_target(struct rc_end *e, uint32_t *srqn)
{
	struct ibv_xrcd_init_attr d = {.comp_mask =
					       IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
				       .fd = -1,
				       .oflags = O_CREAT};
	struct ibv_qp_init_attr_ex x = {.qp_type = IBV_QPT_XRC_RECV,
					.comp_mask = IBV_QP_INIT_ATTR_XRCD,
					.xrcd = ibv_open_xrcd(e->ctx, &d)};

	struct ibv_srq_init_attr_ex a = {
		.attr = {.max_wr = DEPTH, .max_sge = 1},
		.srq_type = IBV_SRQT_XRC,
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_XRCD |
			     IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_PD,
		.xrcd = x.xrcd,
		.cq = e->cq,
		.pd = e->pd,
	};
	struct ibv_srq *srq = x.xrcd ? ibv_create_srq_ex(e->ctx, &a) : NULL;

	CHECK(srq && !ibv_get_srq_num(srq, srqn));
	return ibv_create_qp_ex(e->ctx, &x);
}

/* The victim's report to the sender. */
struct hello {
	struct rc_addr at;
	uint32_t srqn; /* number of its XRC SRQ */
};

static void make_queue(struct rc_end *e, bool victim, uint32_t *srqn)
{
	uint32_t receives = tr->type == IBV_QPT_XRC_SEND ? 0 : DEPTH;
	struct ibv_qp_init_attr init = {.qp_type = victim ? tr->peer : tr->type,
					.sq_sig_all = 1,
					.send_cq = e->cq,
					.recv_cq = e->cq,
					.cap = {DEPTH, receives, 1, 1, 0}};

	e->qp = tr->dc                                       ? make_dc(e, victim)
		: victim && init.qp_type == IBV_QPT_XRC_RECV ? make_xrc_target(e, srqn)
							     : ibv_create_qp(e->pd, &init);
	if (!e->qp)
		DIE("create QP: %s", strerror(errno));
	e->me.qpn = e->qp->qp_num;
}

static void connect_to(struct rc_end *e, const struct rc_addr *peer, bool victim)
{
	struct ibv_qp_attr a = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qkey = QKEY,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
	};
	int rts = victim ? tr->peer_rts : tr->rts;

	e->peer = *peer;
	if (ibv_modify_qp(e->qp, &a, tr->dc && victim ? ACCESS : tr->init))
		DIE("INIT: %s", strerror(errno));
	a = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR,
				 .path_mtu = IBV_MTU_1024,
				 .dest_qp_num = peer->qpn,
				 .min_rnr_timer = 1,
				 .max_dest_rd_atomic = 1,
				 .ah_attr = {.dlid = (uint16_t)peer->lid, .port_num = 1}};
	if (ibv_modify_qp(e->qp, &a, victim ? tr->peer_rtr : tr->rtr))
		DIE("RTR: %s", strerror(errno));
	e->me.qpn = e->qp->qp_num; /* a DCT has a number only now */
	a = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
				 .timeout = 8,
				 .retry_cnt = 2,
				 .rnr_retry = 7,
				 .max_rd_atomic = 1};
	if (rts && ibv_modify_qp(e->qp, &a, rts))
		DIE("RTS: %s", strerror(errno));
}

/* ---- the victim ---- */

static void *receive_for_ever(void *arg)
{
	struct rc_end *e = arg;
	struct ibv_wc wc;

	for (;;)
		if (ibv_poll_cq(e->cq, 1, &wc) > 0 && wc.opcode == IBV_WC_RECV)
			rc_recv(e, 0, 4096);
		else
			sched_yield();
	return NULL;
}

static void *sleep_for_ever(void *arg)
{
	for (;;)
		pause();
	return NULL;
}

static void *spin_for_ever(void *arg)
{
	for (;;)
		sched_yield();
	return NULL;
}

static void many_threads(void)
{
	pthread_t t;

	for (int i = 0; i < 32; i++)
		CHECK(!pthread_create(&t, NULL, i % 8 ? sleep_for_ever : spin_for_ever, NULL));
}

static void big(size_t bytes)
{
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED);
	madvise(p, bytes, MADV_NOHUGEPAGE); /* large memory makes its exit slow */
	memset(p, 1, bytes);
}

static void __attribute__((noreturn)) victim(int sock, const char *how)
{
	struct rc_end e = {0};
	struct hello hello = {0};
	struct rc_addr peer;
	pthread_t t;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!strcmp(how, "hidden"))
		CHECK(!prctl(PR_SET_DUMPABLE, 0, 0, 0, 0));
	begin(&e);
	make_queue(&e, true, &hello.srqn);
	if (tr->dc) /* a DCT's number exists from RTR on, which needs nothing of the peer */
		connect_to(&e, &e.me, true);
	hello.at = e.me;
	CHECK(write(sock, &hello, sizeof(hello)) == sizeof(hello));
	if (read(sock, &peer, sizeof(peer)) != sizeof(peer))
		_exit(1);
	if (!tr->dc)
		connect_to(&e, &peer, true);
	if (tr->opcode == IBV_WR_SEND)
		for (int i = 0; i < DEPTH; i++)
			rc_recv(&e, 0, 4096);
	if (!strcmp(how, "threads"))
		many_threads();
	if (!strcmp(how, "big"))
		big(256u << 20);
	CHECK(!pthread_create(&t, NULL,
			      tr->opcode == IBV_WR_SEND ? receive_for_ever : sleep_for_ever, &e));
	rc_sync(sock);
	if (!strcmp(how, "leaderless"))
		pthread_exit(NULL);
	for (;;)
		pause();
}

/*
 * This process forks the victims. It is forked before the device is opened here, so that each
 * victim joins the fabric by itself.
 */
static void __attribute__((noreturn)) nursery(int sock, const char *how)
{
	char c;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGCHLD, SIG_IGN);
	while (read(sock, &c, 1) == 1) {
		int sp[2];
		pid_t pid;
		struct iovec v = {&pid, sizeof(pid)};
		union {
			struct cmsghdr h;
			char room[CMSG_SPACE(sizeof(int))];
		} m = {.h = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
		struct msghdr h = {.msg_iov = &v,
				   .msg_iovlen = 1,
				   .msg_control = &m,
				   .msg_controllen = sizeof(m.room)};

		CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, sp));
		pid = fork();
		if (!pid) {
			close(sp[0]);
			close(sock);
			signal(SIGCHLD, SIG_DFL);
			victim(sp[1], how);
		}
		close(sp[1]);
		memcpy(CMSG_DATA(&m.h), &sp[0], sizeof(int));
		CHECK(pid > 0 && sendmsg(sock, &h, 0) == sizeof(pid));
		close(sp[0]);
	}
	_exit(0);
}

static pid_t new_victim(int sock, int *to)
{
	pid_t pid;
	struct iovec v = {&pid, sizeof(pid)};
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(sizeof(int))];
	} m;
	struct msghdr h = {.msg_iov = &v,
			   .msg_iovlen = 1,
			   .msg_control = &m,
			   .msg_controllen = sizeof(m.room)};

	CHECK(write(sock, "", 1) == 1 && recvmsg(sock, &h, 0) == sizeof(pid));
	memcpy(to, CMSG_DATA(&m.h), sizeof(int));
	return pid;
}

/* ---- the observers ---- */

/*
 * The longest delay of a thread by this machine, and the longest open and close without the time
 * that it waited for a processor.
 */
struct watched {
	_Atomic double worst;
	_Atomic bool stop;
};
static struct watched machine;
static struct {
	struct watched w;
	_Atomic uint32_t count;
	_Atomic double since; /* when its open began; 0: between two */
	_Atomic bool go;
} * opener;
static pid_t opener_pid;

/*
 * How long this thread has waited for a processor. _both: also the supervisor, which serves the
 * thread's opens.
 */
static double starved(void)
{
	return 1e-9 * (double)test_waited_ns();
}

static double starved_both(void)
{
	const char *pid = getenv("SUPERVISOR");

	return starved() + (pid ? 1e-9 * (double)test_starved_ns(atoi(pid)) : 0);
}

static void note(struct watched *w, double t)
{
	if (t > w->worst)
		w->worst = t;
}

/* What a process was found doing during slow opens, and how often. */
struct doing {
	char what[64];
	unsigned int times;
};
static struct doing supervisor_did[8], opener_did[8];

/*
 * Notes the state of a process and where it waits in the kernel ("0": nowhere, or hidden from us).
 */
static void look_at(const char *pid, struct doing *did, size_t n)
{
	char path[64], what[64] = "gone", text[512] = "", at[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%s/stat", pid);
	f = fopen(path, "re");
	if (f) {
		char *p = fgets(text, sizeof(text), f) ? strrchr(text, ')') : NULL;

		fclose(f);
		snprintf(path, sizeof(path), "/proc/%s/wchan", pid);
		f = fopen(path, "re");
		if (f && !fgets(at, sizeof(at), f))
			at[0] = '\0';
		if (f)
			fclose(f);
		if (p && strlen(p) > 2)
			snprintf(what, sizeof(what), "%c %s", p[2], at);
	}
	for (size_t i = 0; i < n; i++) {
		if (did[i].times && strcmp(did[i].what, what))
			continue;
		strcpy(did[i].what, what);
		did[i].times++;
		return;
	}
}

static void show(const char *who, const struct doing *did, size_t n)
{
	for (size_t i = 0; i < n && did[i].times; i++)
		printf("slow open: %s: %s, %u times\n", who, did[i].what, did[i].times);
}

static void look_at_slow_open(void)
{
	const char *supervisor = getenv("SUPERVISOR");
	double since = opener->since;
	char pid[16];

	if (!since || rc_now() - since < 3 * SLOW)
		return;
	snprintf(pid, sizeof(pid), "%d", (int)opener_pid);
	look_at(pid, opener_did, sizeof(opener_did) / sizeof(opener_did[0]));
	if (supervisor)
		look_at(supervisor, supervisor_did,
			sizeof(supervisor_did) / sizeof(supervisor_did[0]));
}

static void *watch_machine(void *arg)
{
	double last = rc_now(), now;

	while (!machine.stop) {
		opener->go = true;
		usleep(1000);
		now = rc_now(); /* without a gap, so that no pause of the machine is missed */
		note(&machine, now - last);
		last = now;
		look_at_slow_open();
	}
	return NULL;
}

static void __attribute__((noreturn)) open_and_close(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (!opener->go) /* the machine's delays are measured from then on */
		sched_yield();
	while (!opener->w.stop) {
		struct rc_end e = {0};
		double was = starved_both(), t = rc_now();

		opener->since = t;
		rc_open(&e);
		CHECK(!ibv_close_device(e.ctx));
		opener->since = 0;
		t = rc_now() - t;
		note(&opener->w, t - (starved_both() - was));
		opener->count++;
	}
	_exit(0);
}

/* ---- the sender ---- */

static double worst_post;

static void post(struct rc_end *e, struct ibv_ah *ah, uint32_t srqn)
{
	struct ibv_sge sge = {(uintptr_t)e->buf, tr->len, e->mr->lkey};
	struct ibv_send_wr *bad, wr = {.opcode = tr->opcode, .sg_list = &sge, .num_sge = 1};
	double t = rc_now();
	int r;

	if (tr->dc) {
		struct ibv_qp_ex *x = ibv_qp_to_qp_ex(e->qp);

		ibv_wr_start(x);
		x->wr_flags = IBV_SEND_SIGNALED;
		ibv_wr_rdma_write(x, e->peer.rkey, e->peer.va);
		mlx5dv_wr_set_dc_addr(mlx5dv_qp_ex_from_ibv_qp_ex(x), ah, e->peer.qpn, DC_KEY);
		ibv_wr_set_sge(x, sge.lkey, sge.addr, sge.length);
		r = ibv_wr_complete(x);
	} else {
		if (tr->type == IBV_QPT_UD) {
			wr.wr.ud.ah = ah;
			wr.wr.ud.remote_qpn = e->peer.qpn;
			wr.wr.ud.remote_qkey = QKEY;
		} else {
			wr.wr.rdma.remote_addr = e->peer.va;
			wr.wr.rdma.rkey = e->peer.rkey;
			wr.qp_type.xrc.remote_srqn = srqn;
		}
		r = ibv_post_send(e->qp, &wr, &bad);
	}
	if (r)
		DIE("post: %s", strerror(r));
	t = rc_now() - t;
	if (t > worst_post)
		worst_post = t;
}

/* Send until `end` and then until an error, or a second without one if none is expected. */
static enum ibv_wc_status send_until_it_fails(struct rc_end *e, struct ibv_ah *ah, uint32_t srqn,
					      pid_t pid, double at)
{
	bool killed = false;
	double end = 0;

	for (;;) {
		struct ibv_wc wc;
		double now = rc_now();

		if (!killed && now >= at) {
			CHECK(!kill(pid, SIGKILL));
			killed = true;
			end = now + (tr->acked ? RC_HANGS : 0.02);
		}
		if (killed && now > end)
			return IBV_WC_SUCCESS;
		post(e, ah, srqn);
		wc = rc_wait(e, RC_HANGS);
		if (wc.status)
			return wc.status;
	}
}

static enum ibv_wc_status one_round(struct rc_end *e, int sock, unsigned int *seed)
{
	struct ibv_ah_attr at = {.port_num = 1};
	struct ibv_ah *ah = NULL;
	enum ibv_wc_status st;
	struct hello peer;
	pid_t pid;
	int to;

	pid = new_victim(sock, &to);
	make_queue(e, false, NULL);
	CHECK(read(to, &peer, sizeof(peer)) == sizeof(peer));
	connect_to(e, &peer.at, false);
	at.dlid = (uint16_t)peer.at.lid;
	if (tr->dc || tr->type == IBV_QPT_UD)
		CHECK(ah = ibv_create_ah(e->pd, &at));
	CHECK(write(to, &e->me, sizeof(e->me)) == sizeof(e->me));
	rc_sync(to);
	st = send_until_it_fails(e, ah, peer.srqn, pid, rc_now() + (rand_r(seed) % 3000) / 1e6);
	close(to);
	CHECK(!ibv_destroy_qp(e->qp));
	if (ah)
		CHECK(!ibv_destroy_ah(ah));
	return st;
}

int main(int argc, char **argv)
{
	unsigned int rounds, n, wrong = 0, slow = 0, seed = (unsigned int)getpid();
	struct rc_end e = {0};
	double end, allowed;
	pthread_t t;
	int sp[2];

	CHECK(argc == 5);
	for (size_t i = 0; i < sizeof(transports) / sizeof(transports[0]); i++)
		if (!strcmp(transports[i].name, argv[1]))
			tr = &transports[i];
	CHECK(tr && !socketpair(AF_UNIX, SOCK_STREAM, 0, sp));
	opener = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!fork()) {
		close(sp[0]);
		nursery(sp[1], argv[2]);
	}
	close(sp[1]);
	opener_pid = fork();
	if (!opener_pid)
		open_and_close();
	pthread_create(&t, NULL, watch_machine, NULL);
	begin(&e);
	rounds = (unsigned int)atoi(argv[3]);
	end = rc_now() + atof(argv[4]);
	/* On a busy machine one round and one open may take longer than the test's time. */
	for (n = 0; n < rounds && (!n || !opener->count || rc_now() < end); n++) {
		enum ibv_wc_status st, want = tr->acked ? IBV_WC_RETRY_EXC_ERR : IBV_WC_SUCCESS;
		double before = worst_post, was = starved();

		worst_post = 0;
		st = one_round(&e, sp[0], &seed);
		worst_post -= starved() - was;
		if (st != want) {
			wrong++;
			printf("kill %u: %s\n", n, ibv_wc_status_str(st));
		}
		if (worst_post > SLOW + 10 * machine.worst) {
			slow++;
			printf("kill %u: a post of %.0f ms\n", n, 1e3 * worst_post);
		}
		if (before > worst_post)
			worst_post = before;
	}
	machine.stop = opener->w.stop = true;
	pthread_join(t, NULL);
	/* It makes several requests, and each may have to wait. */
	allowed = 10 * SLOW + 30 * machine.worst;
	printf("%s to %s: %u kills, %u wrong, %u slow; worst post %.1f ms, worst open and close "
	       "%.1f ms of %u, worst delay of the machine %.1f ms\n",
	       argv[1], argv[2], n, wrong, slow, 1e3 * worst_post, 1e3 * opener->w.worst,
	       opener->count, 1e3 * machine.worst);
	show("the opener", opener_did, sizeof(opener_did) / sizeof(opener_did[0]));
	show("the supervisor", supervisor_did, sizeof(supervisor_did) / sizeof(supervisor_did[0]));
	if (wrong || !opener->count)
		return 1;
	return slow || opener->w.worst > allowed ? TOO_SLOW : 0;
}
