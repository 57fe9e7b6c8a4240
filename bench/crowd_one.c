/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A crowd that opens one adapter at once, makes a PD, a CQ and an RC QP each, and leaves at once.
 *
 * crowd_one <how many> closed|killed|threads
 *
 * The processes are forks of one that has not opened the device; the threads share one context, one
 * PD and one CQ, and each makes a QP of its own and sends to itself. Prints for both halves: wall
 * time, the crowd's processor time, and how often its members gave up the processor to wait.
 */
#include <infiniband/verbs.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct cost {
	double wall, cpu;
	long waits;
};

/* Shared by the processes. */
struct shared {
	_Atomic int ready, made, failed, gone;
	_Atomic long cpu_us, waits;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* What a thread (each process has one) has used so far. The clock is exacter than getrusage(). */
struct used {
	struct timespec cpu;
	long waits;
};

static struct used used_now(void)
{
	struct rusage u;
	struct used n;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &n.cpu);
	getrusage(RUSAGE_THREAD, &u);
	n.waits = u.ru_nvcsw;
	return n;
}

/* Adds what the caller has used since `from`, which becomes now. */
static void account(struct shared *sh, struct used *from)
{
	struct used u = used_now();

	atomic_fetch_add(&sh->cpu_us, (u.cpu.tv_sec - from->cpu.tv_sec) * 1000000L +
					      (u.cpu.tv_nsec - from->cpu.tv_nsec) / 1000);
	atomic_fetch_add(&sh->waits, u.waits - from->waits);
	*from = u;
}

static struct cost taken(struct shared *sh, double start)
{
	struct cost c = {.wall = now() - start,
			 .cpu = (double)atomic_exchange(&sh->cpu_us, 0) / 1e6,
			 .waits = atomic_exchange(&sh->waits, 0)};

	return c;
}

static void print(const char *what, int n, struct cost c)
{
	printf("%s %d %.3f %.3f %ld\n", what, n, c.wall, c.cpu, c.waits);
	fflush(stdout);
}

static struct ibv_context *open_first(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	return list && *list ? ibv_open_device(*list) : NULL;
}

static struct ibv_qp *make_qp(struct ibv_pd *pd, struct ibv_cq *cq, uint32_t sends)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.send_cq = cq,
		.recv_cq = cq,
		.cap = {.max_send_wr = sends,
			.max_recv_wr = 16,
			.max_send_sge = 1,
			.max_recv_sge = 1},
	};

	return cq ? ibv_create_qp(pd, &attr) : NULL;
}

/* Wait until the other end of the pipe is closed. */
static void wait_for_end(int fd)
{
	char byte;

	while (read(fd, &byte, 1) < 0 && errno == EINTR)
		;
}

static void wait_for_count(_Atomic int *n, int want)
{
	struct timespec t = {.tv_nsec = 1000000};

	while (atomic_load(n) < want)
		nanosleep(&t, NULL);
}

static void child(struct shared *sh, int gate, int end)
{
	struct used used;
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;

	atomic_fetch_add(&sh->ready, 1);
	wait_for_end(gate);
	used = used_now();
	ctx = open_first();
	pd = ctx ? ibv_alloc_pd(ctx) : NULL;
	cq = pd ? ibv_create_cq(ctx, 16, NULL, NULL, 0) : NULL;
	qp = cq ? make_qp(pd, cq, 16) : NULL;
	account(sh, &used);
	if (!qp)
		atomic_fetch_add(&sh->failed, 1);
	atomic_fetch_add(&sh->made, 1);
	wait_for_end(end);
	if (qp && (ibv_destroy_qp(qp) || ibv_destroy_cq(cq) || ibv_dealloc_pd(pd) ||
		   ibv_close_device(ctx)))
		atomic_fetch_add(&sh->failed, 1);
	account(sh, &used);
	atomic_fetch_add(&sh->gone, 1);
}

static int processes(struct shared *sh, int n, int is_killed)
{
	int gate[2], end[2];
	pid_t *pid = calloc((size_t)n, sizeof(*pid));
	double start;

	if (!pid || pipe(gate) || pipe(end))
		return 2;
	for (int i = 0; i < n; i++) {
		pid[i] = fork();
		if (pid[i] < 0)
			return 2;
		if (!pid[i]) {
			close(gate[1]);
			close(end[1]);
			child(sh, gate[0], end[0]);
			_exit(0);
		}
	}
	wait_for_count(&sh->ready, n);
	start = now();
	close(gate[1]);
	wait_for_count(&sh->made, n);
	print("open", n, taken(sh, start));
	/* The parent of this program, which sees when the fabric is empty, takes the time of these.
	 */
	start = now();
	if (is_killed)
		for (int i = 0; i < n; i++)
			kill(pid[i], SIGKILL);
	else
		close(end[1]);
	if (!is_killed) {
		wait_for_count(&sh->gone, n);
		print("close", n, taken(sh, start));
	}
	while (wait(NULL) > 0)
		;
	print("end", n, taken(sh, start));
	return atomic_load(&sh->failed) != 0;
}

struct thread {
	struct shared *sh;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	pthread_barrier_t *all;
	uint16_t lid;
	pthread_t id;
};

static int connect_to_itself(struct ibv_qp *qp, uint16_t lid)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT,
				.port_num = 1,
				.qp_access_flags = IBV_ACCESS_REMOTE_WRITE};

	if (ibv_modify_qp(qp, &a,
			  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		return -1;
	a = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR,
				 .path_mtu = IBV_MTU_1024,
				 .dest_qp_num = qp->qp_num,
				 .max_dest_rd_atomic = 1,
				 .min_rnr_timer = 12,
				 .ah_attr = {.dlid = lid, .port_num = 1}};
	if (ibv_modify_qp(qp, &a,
			  IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				  IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
		return -1;
	a = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
				 .timeout = 14,
				 .retry_cnt = 7,
				 .rnr_retry = 7,
				 .max_rd_atomic = 1};
	return ibv_modify_qp(qp, &a,
			     IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				     IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

#define WRITES 200

/* Each thread waits for as many completions as it has asked for: anybody's, so its may all wait. */
static int write_some(struct thread *t, struct ibv_qp *qp)
{
	struct ibv_sge sge = {(uintptr_t)t->mr->addr, 64, t->mr->lkey};
	struct ibv_send_wr *bad, wr = {.sg_list = &sge,
				       .num_sge = 1,
				       .opcode = IBV_WR_RDMA_WRITE,
				       .send_flags = IBV_SEND_SIGNALED,
				       .wr.rdma = {(uintptr_t)t->mr->addr, t->mr->rkey}};
	struct ibv_wc wc;
	int n;

	for (int i = 0; i < WRITES; i++) {
		if (ibv_post_send(qp, &wr, &bad))
			return -1;
		while (!(n = ibv_poll_cq(t->cq, 1, &wc)))
			sched_yield();
		if (n < 0 || wc.status)
			return -1;
	}
	return 0;
}

static void *thread(void *arg)
{
	struct thread *t = arg;
	struct shared *sh = t->sh;
	struct used used;
	struct ibv_qp *qp;

	pthread_barrier_wait(t->all);
	used = used_now();
	qp = make_qp(t->pd, t->cq, WRITES);
	if (!qp || connect_to_itself(qp, t->lid))
		atomic_fetch_add(&sh->failed, 1);
	account(sh, &used);
	atomic_fetch_add(&sh->made, 1);
	pthread_barrier_wait(t->all);
	pthread_barrier_wait(t->all);
	used = used_now();
	if (qp && write_some(t, qp))
		atomic_fetch_add(&sh->failed, 1);
	account(sh, &used);
	pthread_barrier_wait(t->all);
	pthread_barrier_wait(t->all);
	used = used_now();
	if (qp && ibv_destroy_qp(qp))
		atomic_fetch_add(&sh->failed, 1);
	account(sh, &used);
	pthread_barrier_wait(t->all);
	return NULL;
}

static int threads(struct shared *sh, int n)
{
	static const char *const steps[] = {"open", "write", "close"};
	static char buf[4096];
	struct ibv_context *ctx = open_first();
	struct ibv_port_attr port;
	struct thread *t = calloc((size_t)n, sizeof(*t));
	pthread_barrier_t all;
	pthread_attr_t small;
	struct thread one = {.sh = sh, .all = &all};

	if (!ctx || ibv_query_port(ctx, 1, &port))
		return 2;
	one.lid = port.lid;
	one.pd = ibv_alloc_pd(ctx);
	one.cq = ibv_create_cq(ctx, 4 * n, NULL, NULL, 0);
	one.mr = one.pd ? ibv_reg_mr(one.pd, buf, sizeof(buf),
				     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE)
			: NULL;
	if (!t || !one.cq || !one.mr)
		return 2;
	pthread_barrier_init(&all, NULL, (unsigned int)n + 1);
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	for (int i = 0; i < n; i++) {
		t[i] = one;
		if (pthread_create(&t[i].id, &small, thread, &t[i]))
			return 2;
	}
	for (int i = 0; i < 3; i++) {
		double start = now();

		pthread_barrier_wait(&all);
		pthread_barrier_wait(&all);
		print(steps[i], n, taken(sh, start));
	}
	for (int i = 0; i < n; i++)
		pthread_join(t[i].id, NULL);
	return atomic_load(&sh->failed) != 0;
}

int main(int argc, char **argv)
{
	struct shared *sh =
		mmap(NULL, sizeof(*sh), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int n = argc == 3 ? atoi(argv[1]) : 0;

	if (n < 1 || sh == MAP_FAILED)
		return 2;
	if (!strcmp(argv[2], "threads"))
		return threads(sh, n);
	return processes(sh, n, !strcmp(argv[2], "killed"));
}
