/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The target of endless WRITEs is killed, and its objects go newest first: a region that was made
 * after the QP goes before it, so that the key is refused; else the QP does not answer any more.
 * order killed|closed newer|older. closed: the process lives, and its file is closed.
 *
 * While newer regions go, the QP answers for some milliseconds, in which the requester may have no
 * processor: one round that finds it in time shows the order. In the other order no round does.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <infiniband/verbs.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define NEED(x)                                                                     \
	do {                                                                        \
		if (!(x)) {                                                         \
			fprintf(stderr, "%s:%d: %s: %m\n", __FILE__, __LINE__, #x); \
			_exit(99);                                                  \
		}                                                                   \
	} while (0)

enum { REGIONS = 32, ROUNDS = 8, LATE = 64, BEFORE = 200 };
#define BYTES (4ul << 20)

struct card { /* What the other side must know. */
	uint32_t qpn, older, newer;
	uint64_t va;
	uint16_t lid;
	union ibv_gid gid;
};

struct side {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr; /* made before the QP */
	uint8_t *mem;
	struct card me;
};

static struct ibv_mr *region(const struct side *s)
{
	struct ibv_mr *mr =
		ibv_reg_mr(s->pd, s->mem, BYTES, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);

	NEED(mr);
	return mr;
}

static void open_side(struct side *s)
{
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC,
					.cap = {.max_send_wr = 4, .max_send_sge = 1}};
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_port_attr port;

	NEED(list && list[0] && (s->ctx = ibv_open_device(list[0])));
	NEED(!ibv_query_port(s->ctx, 1, &port) && !ibv_query_gid(s->ctx, 1, 0, &s->me.gid));
	s->me.lid = port.lid;
	s->mem = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	NEED(s->mem != MAP_FAILED && (s->pd = ibv_alloc_pd(s->ctx)));
	NEED(s->cq = ibv_create_cq(s->ctx, 4, NULL, NULL, 0));
	s->mr = region(s);
	s->me.older = s->mr->rkey;
	init.send_cq = init.recv_cq = s->cq;
	NEED(s->qp = ibv_create_qp(s->pd, &init));
	s->me.qpn = s->qp->qp_num;
	s->me.va = (uintptr_t)s->mem;
}

static void connect_side(const struct side *s, const struct card *to)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT,
				.port_num = 1,
				.qp_access_flags = IBV_ACCESS_REMOTE_WRITE};

	NEED(!ibv_modify_qp(s->qp, &a,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
	a = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = to->qpn,
		.ah_attr = {.dlid = to->lid, .port_num = 1, .is_global = 1, .grh.dgid = to->gid}};
	NEED(!ibv_modify_qp(s->qp, &a,
			    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				    IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				    IBV_QP_MIN_RNR_TIMER));
	a = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 1};
	NEED(!ibv_modify_qp(s->qp, &a,
			    IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
				    IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC));
}

static void target(int sock)
{
	struct side s = {0};
	struct card peer;
	char c;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	open_side(&s);
	for (int i = 0; i < REGIONS; i++)
		s.me.newer = region(&s)->rkey;
	NEED(write(sock, &s.me, sizeof(s.me)) == sizeof(s.me));
	NEED(read(sock, &peer, sizeof(peer)) == sizeof(peer));
	connect_side(&s, &peer);
	NEED(write(sock, "r", 1) == 1);
	NEED(read(sock, &c, 1) == 1);
	/* The file is closed by exec; a mapped page of the device would keep it open. */
	execl("/bin/sleep", "sleep", "1000", NULL);
}

/* WRITEs until one fails, and ends the target meanwhile. */
static struct ibv_wc writes(const struct side *s, const struct card *to, bool newer, pid_t pid,
			    int sock)
{
	struct ibv_sge sge = {(uintptr_t)s->mem, 8, s->mr->lkey};
	struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE,
				 .send_flags = IBV_SEND_SIGNALED,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .wr.rdma = {to->va, newer ? to->newer : to->older}},
			   *bad;
	struct ibv_wc wc = {0};

	for (unsigned int n = 0; wc.status == IBV_WC_SUCCESS; n++) {
		if (n == BEFORE && sock < 0)
			NEED(!kill(pid, SIGKILL));
		else if (n == BEFORE)
			NEED(write(sock, "c", 1) == 1);
		NEED(!ibv_post_send(s->qp, &wr, &bad));
		while (!ibv_poll_cq(s->cq, 1, &wc))
			;
	}
	return wc;
}

/* 0: the end is what cards were measured to show; 1: it may be too late for that; 2: it is wrong.
 */
static int one(bool killed, bool newer)
{
	const enum ibv_wc_status status = newer ? IBV_WC_REM_ACCESS_ERR : IBV_WC_RETRY_EXC_ERR;
	const uint32_t vendor_err = newer ? 0x88 : 0x81;
	struct side s = {0};
	struct card peer;
	struct ibv_wc wc;
	int sv[2];
	pid_t pid;
	char c;

	NEED(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv));
	pid = fork();
	NEED(pid >= 0);
	if (!pid) {
		close(sv[0]);
		target(sv[1]);
		_exit(99);
	}
	close(sv[1]);
	open_side(&s);
	NEED(read(sv[0], &peer, sizeof(peer)) == sizeof(peer));
	NEED(write(sv[0], &s.me, sizeof(s.me)) == sizeof(s.me));
	connect_side(&s, &peer);
	NEED(read(sv[0], &c, 1) == 1);
	wc = writes(&s, &peer, newer, pid, killed ? -1 : sv[0]);
	kill(pid, SIGKILL);
	NEED(waitpid(pid, NULL, 0) == pid);
	close(sv[0]);
	if (wc.status != status || wc.vendor_err != vendor_err)
		printf("%d/0x%x, expected %d/0x%x\n", wc.status, wc.vendor_err, status, vendor_err);
	if (wc.status == status && wc.vendor_err == vendor_err)
		return 0;
	return newer && wc.status == IBV_WC_RETRY_EXC_ERR ? 1 : 2;
}

int main(int argc, char **argv)
{
	bool newer = argc == 3 && !strcmp(argv[2], "newer");
	int shown = 0, late = 0;

	NEED(argc == 3);
	while (shown + late < ROUNDS || (!shown && late < LATE)) {
		pid_t pid = fork(); /* each round has a device of its own to open and close */
		int status;

		NEED(pid >= 0);
		if (!pid)
			_exit(one(!strcmp(argv[1], "killed"), newer));
		NEED(waitpid(pid, &status, 0) == pid);
		NEED(WIFEXITED(status) && WEXITSTATUS(status) < 2);
		shown += !WEXITSTATUS(status);
		late += WEXITSTATUS(status);
	}
	printf("%d rounds show the order, %d came too late\n", shown, late);
	return !shown;
}
