/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Many processes send 64-byte messages to one process that has one SRQ and one CQ; all poll. By
 * softhca, or ("memory") each through a ring of its own in shared memory, which is the floor.
 * "pairs": each sender has a receiver, SRQ and CQ of its own. bench/many runs it. Prints: messages
 * per second; the most and the fewest messages of a sender; the longest time in which no message
 * was completed, in milliseconds.
 *
 * 	softhca run -- build/bench/many_one verbs|pairs SENDERS SECONDS
 * 	build/bench/many_one memory SENDERS SECONDS
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MSG 64
#define SENDERS_MAX 256
#define WINDOW 16   /* messages of one sender under way */
#define POSTED 4096 /* receives */

static void die(const char *what)
{
	fprintf(stderr, "many_one: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

struct ring {
	_Alignas(64) _Atomic uint32_t head; /* messages that the sender has written */
	_Alignas(64) _Atomic uint32_t tail; /* those that the receiver has taken */
	uint8_t msg[WINDOW][MSG];
};

/* Shared by all processes. */
static struct all {
	unsigned int n;
	_Atomic uint32_t ready, listening, go, stop; /* listening: senders that have a peer */
	_Atomic uint64_t last,
		gap; /* when a message was completed last; the longest time without one */
	uint32_t qpn[SENDERS_MAX], peer[SENDERS_MAX];
	uint16_t lid;
	_Atomic uint64_t sent[SENDERS_MAX];
	struct ring ring[SENDERS_MAX];
} * all;

static void completed(unsigned int i, unsigned int n)
{
	uint64_t now, was, gap;

	if (!n)
		return;
	now = now_ns();
	was = atomic_exchange_explicit(&all->last, now, memory_order_relaxed);
	gap = was && now > was ? now - was : 0;
	was = atomic_load_explicit(&all->gap, memory_order_relaxed);
	while (gap > was && !atomic_compare_exchange_weak(&all->gap, &was, gap))
		;
	atomic_store_explicit(&all->sent[i], all->sent[i] + n, memory_order_relaxed);
}

static void await(const _Atomic uint32_t *w, uint32_t value)
{
	while (atomic_load(w) < value)
		usleep(1000);
}

/* ---- verbs */

struct end {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct ibv_mr *mr;
	uint8_t *buf;
};

static void open_end(struct end *e, int entries, size_t len)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	e->ctx = list && list[0] ? ibv_open_device(list[0]) : NULL;
	e->pd = e->ctx ? ibv_alloc_pd(e->ctx) : NULL;
	e->cq = e->pd ? ibv_create_cq(e->ctx, entries, NULL, NULL, 0) : NULL;
	e->buf = aligned_alloc(4096, len);
	e->mr = e->cq && e->buf ? ibv_reg_mr(e->pd, e->buf, len, IBV_ACCESS_LOCAL_WRITE) : NULL;
	if (!e->mr)
		die("device, PD, CQ or MR");
}

static struct ibv_qp *make_qp(struct end *e)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = e->cq,
		.recv_cq = e->cq,
		.srq = e->srq,
		.cap = {.max_send_wr = WINDOW, .max_send_sge = 1},
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_qp *qp = ibv_create_qp(e->pd, &attr);

	if (!qp)
		die("ibv_create_qp");
	return qp;
}

static void connect_qp(struct ibv_qp *qp, uint32_t peer, uint16_t lid)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1};

	if (ibv_modify_qp(qp, &a,
			  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		die("INIT");
	a = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR,
				 .path_mtu = IBV_MTU_1024,
				 .dest_qp_num = peer,
				 .min_rnr_timer = 1,
				 .ah_attr = {.dlid = lid, .port_num = 1}};
	if (ibv_modify_qp(qp, &a,
			  IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				  IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
		die("RTR");
	a = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTS, .timeout = 18, .retry_cnt = 7, .rnr_retry = 7};
	if (ibv_modify_qp(qp, &a,
			  IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				  IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC))
		die("RTS");
}

static int poll_cq(struct end *e, struct ibv_wc *wc, int n)
{
	n = ibv_poll_cq(e->cq, n, wc);
	for (int i = 0; i < n; i++)
		if (wc[i].status) {
			fprintf(stderr, "many_one: %s\n", ibv_wc_status_str(wc[i].status));
			exit(1);
		}
	return n;
}

static void verbs_send(unsigned int i)
{
	struct end e = {0};
	struct ibv_sge sge = {.length = MSG};
	struct ibv_send_wr *bad, wr = {.sg_list = &sge,
				       .num_sge = 1,
				       .opcode = IBV_WR_SEND,
				       .send_flags = IBV_SEND_SIGNALED};
	struct ibv_wc wc[WINDOW];
	struct ibv_qp *qp;
	int room = WINDOW, n;

	open_end(&e, WINDOW, 4096);
	sge.addr = (uintptr_t)e.buf;
	sge.lkey = e.mr->lkey;
	qp = make_qp(&e);
	all->peer[i] = qp->qp_num;
	atomic_fetch_add(&all->ready, 1);
	await(&all->listening, all->n);
	connect_qp(qp, all->qpn[i], all->lid);
	atomic_fetch_add(&all->ready, 1);
	await(&all->go, 2);
	while (!atomic_load_explicit(&all->stop, memory_order_relaxed)) {
		for (; room; room--)
			if (ibv_post_send(qp, &wr, &bad))
				die("ibv_post_send");
		n = poll_cq(&e, wc, WINDOW);
		room += n;
		completed(i, (unsigned int)n);
	}
}

static void post_recv(struct end *e, uint64_t at)
{
	struct ibv_sge sge = {(uintptr_t)e->buf + at * MSG, MSG, e->mr->lkey};
	struct ibv_recv_wr *bad, wr = {.wr_id = at, .sg_list = &sge, .num_sge = 1};

	if (ibv_post_srq_recv(e->srq, &wr, &bad))
		die("ibv_post_srq_recv");
}

/* Receives from `n_senders` senders, of which `first` is the number of the first. */
static void receive_from(unsigned int first, unsigned int n_senders)
{
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = POSTED, .max_sge = 1}};
	struct ibv_qp *qp[SENDERS_MAX];
	struct ibv_port_attr port;
	struct ibv_wc wc[64];
	struct end e = {0};
	int n;

	open_end(&e, POSTED, POSTED * MSG);
	e.srq = ibv_create_srq(e.pd, &attr);
	if (!e.srq || ibv_query_port(e.ctx, 1, &port))
		die("SRQ or port");
	for (uint64_t i = 0; i < POSTED; i++)
		post_recv(&e, i);
	all->lid = port.lid;
	for (unsigned int i = 0; i < n_senders; i++) {
		qp[i] = make_qp(&e);
		all->qpn[first + i] = qp[i]->qp_num;
	}
	await(&all->ready, all->n);
	for (unsigned int i = 0; i < n_senders; i++)
		connect_qp(qp[i], all->peer[first + i], all->lid);
	atomic_fetch_add(&all->listening, n_senders);
	await(&all->ready, 2 * all->n);
	atomic_store(&all->go, 2);
	while (!atomic_load_explicit(&all->stop, memory_order_relaxed)) {
		n = poll_cq(&e, wc, 64);
		for (int i = 0; i < n; i++)
			post_recv(&e, wc[i].wr_id);
	}
}

static void verbs_receive(unsigned int unused)
{
	(void)unused;
	receive_from(0, all->n);
}

static void pair_receive(unsigned int i)
{
	receive_from(i, 1);
}

/* ---- shared memory */

static void memory_send(unsigned int i)
{
	struct ring *r = &all->ring[i];
	uint32_t seen = 0, tail;
	uint8_t msg[MSG] = {0};

	atomic_fetch_add(&all->ready, 2);
	await(&all->go, 2);
	while (!atomic_load_explicit(&all->stop, memory_order_relaxed)) {
		for (tail = atomic_load(&r->tail); r->head - tail < WINDOW;
		     atomic_fetch_add(&r->head, 1))
			memcpy(r->msg[r->head % WINDOW], msg, MSG);
		tail = atomic_load(&r->tail);
		completed(i, tail - seen);
		seen = tail;
	}
}

static void memory_receive(unsigned int unused)
{
	(void)unused;
	uint8_t msg[MSG];

	await(&all->ready, 2 * all->n);
	atomic_store(&all->go, 2);
	while (!atomic_load_explicit(&all->stop, memory_order_relaxed))
		for (unsigned int i = 0; i < all->n; i++) {
			struct ring *r = &all->ring[i];

			for (; r->tail != atomic_load(&r->head); atomic_fetch_add(&r->tail, 1))
				memcpy(msg, r->msg[r->tail % WINDOW], MSG);
			__asm__ volatile("" : : "r"(msg) : "memory");
		}
}

/* ---- */

static void start(void (*fn)(unsigned int), unsigned int i)
{
	pid_t parent = getpid(), pid = fork();

	if (pid < 0)
		die("fork");
	if (pid)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	fn(i);
	_exit(0);
}

int main(int argc, char **argv)
{
	bool pairs = argc == 4 && !strcmp(argv[1], "pairs");
	bool verbs = pairs || (argc == 4 && !strcmp(argv[1], "verbs"));
	unsigned int receivers;
	uint64_t most = 0, fewest = UINT64_MAX, sum = 0, begin, before[SENDERS_MAX];
	int seconds = argc == 4 ? atoi(argv[3]) : 0, status;

	all = mmap(NULL, sizeof(*all), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (argc != 4 || all == MAP_FAILED || (all->n = (unsigned int)atoi(argv[2])) > SENDERS_MAX)
		die("usage: many_one verbs|pairs|memory SENDERS SECONDS");
	for (unsigned int i = 0; i < all->n; i++)
		start(verbs ? verbs_send : memory_send, i);
	receivers = pairs ? all->n : 1;
	for (unsigned int i = 0; i < receivers; i++)
		start(pairs ? pair_receive : verbs ? verbs_receive : memory_receive, i);
	while (atomic_load(&all->go) < 2)
		if (waitpid(-1, &status, WNOHANG))
			die("a process ended before the others were ready");
		else
			usleep(1000);
	sleep(1); /* the first messages of each sender are slower */
	for (unsigned int i = 0; i < all->n; i++)
		before[i] = all->sent[i];
	atomic_store(&all->gap, 0);
	begin = now_ns();
	sleep((unsigned int)seconds);
	for (unsigned int i = 0; i < all->n; i++) {
		uint64_t n = all->sent[i] - before[i];

		most = n > most ? n : most;
		fewest = n < fewest ? n : fewest;
		sum += n;
	}
	printf("%.0f %lu %lu %.2f\n", (double)sum * 1e9 / (double)(now_ns() - begin), most, fewest,
	       (double)all->gap / 1e6);
	atomic_store(&all->stop, 1);
	for (unsigned int i = 0; i < all->n + receivers; i++)
		if (wait(&status) < 0 || status)
			die("a process failed");
	return 0;
}
