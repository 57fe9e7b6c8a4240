/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Hazard 9: memory belongs to the process that registered it. Queues under MADV_DONTFORK are the
 * parent's, also when a child rings their doorbell; memory that a child registers on an inherited
 * descriptor is the child's.
 */
#include "rc.h"

#include <infiniband/mlx5dv.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

static struct rc_pair pair;

static void make(void)
{
	CHECK(!ibv_fork_init()); /* queues and MRs get MADV_DONTFORK */
	rc_pair_make(&pair);
	rc_pair_loop(&pair, 10);
}

static void child_ends_well(pid_t pid)
{
	int status;

	CHECK(waitpid(pid, &status, 0) == pid);
	if (status)
		DIE("the child's status is 0x%x", status);
}

/*
 * Write the send queue and its doorbell record without ringing: returns the value to store in the
 * UAR.
 */
static uint64_t queue_send(struct mlx5dv_qp *qp, uint16_t pi, const void *data, uint32_t len)
{
	uint8_t *wqe = (uint8_t *)qp->sq.buf + (pi % qp->sq.wqe_cnt) * qp->sq.stride;
	uint64_t bell;

	mlx5dv_set_ctrl_seg((struct mlx5_wqe_ctrl_seg *)wqe, pi, MLX5_OPCODE_SEND, 0,
			    pair.a.qp->qp_num, MLX5_WQE_CTRL_CQ_UPDATE, 2, 0, 0);
	mlx5dv_set_data_seg((struct mlx5_wqe_data_seg *)(wqe + 16), len, pair.a.mr->lkey,
			    (uintptr_t)data);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	qp->dbrec[MLX5_SND_DBR] = htobe32((uint16_t)(pi + 1));
	memcpy(&bell, wqe, sizeof(bell));
	return bell;
}

/* The child has only the doorbell page: no queue, buffer or doorbell record. */
static int child_rings(int argc, char **argv)
{
	struct mlx5dv_qp qp = {0};
	struct mlx5dv_obj obj = {.qp = {pair.a.qp, &qp}};
	struct ibv_wc wc;
	uint16_t pi = 0;

	CHECK(!ibv_fork_init());
	rc_pair_make(&pair);
	obj.qp.in = pair.a.qp;
	CHECK(!mlx5dv_init_obj(&obj, MLX5DV_OBJ_QP));
	for (int i = 0; i < 20; i++) {
		uint64_t bell;
		pid_t pid;

		memset(pair.a.buf, i + 1, 64);
		rc_recv(&pair.b, 0, 64);
		bell = queue_send(&qp, pi++, pair.a.buf, 64);
		pid = fork();
		if (!pid) {
			unsigned char in_core;

			CHECK(mincore(qp.sq.buf, 1, &in_core)); /* ENOMEM: not mapped here */
			*(volatile uint64_t *)qp.bf.reg = bell;
			_exit(0);
		}
		child_ends_well(pid);
		wc = rc_wait(&pair.b, RC_HANGS);
		if (wc.status || wc.byte_len != 64)
			DIE("%s", ibv_wc_status_str(wc.status));
		CHECK(pair.b.buf[0] == i + 1 && pair.b.buf[63] == i + 1);
		/* Nobody reads the send's own completion: libmlx5 has not posted the send. */
	}
	return 0;
}

/* The child's memory at an address where the parent has some, too. */
static int child_registers(int argc, char **argv)
{
	static uint8_t mem[4096] __attribute__((aligned(4096)));
	struct rc_addr there;
	int sp[2];
	pid_t pid;

	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, sp));
	make();
	memset(mem, 1, sizeof(mem));
	pid = fork();
	if (!pid) {
		struct ibv_mr *mr;

		memset(mem, 2, sizeof(mem));
		mr = ibv_reg_mr(pair.b.pd, mem, sizeof(mem),
				IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
		CHECK(mr);
		there = (struct rc_addr){.va = (uintptr_t)mem, .rkey = mr->rkey};
		CHECK(write(sp[1], &there, sizeof(there)) == sizeof(there));
		rc_sync(sp[1]);
		CHECK(mem[0] == 3 && mem[4095] == 3);
		CHECK(!ibv_dereg_mr(mr));
		_exit(0);
	}
	CHECK(read(sp[0], &there, sizeof(there)) == sizeof(there));
	pair.a.peer.va = there.va;
	pair.a.peer.rkey = there.rkey;
	memset(pair.a.buf, 3, 4096);
	rc_write(&pair.a, 0, 4096, 0);
	CHECK(!rc_wait(&pair.a, RC_HANGS).status);
	CHECK(mem[0] == 1 && mem[4095] == 1);
	rc_sync(sp[0]);
	child_ends_well(pid);
	rc_pair_loop(&pair, 10);
	return 0;
}

/* Children come and go, some with a device of their own; the parent's traffic is not disturbed. */
static int parent_goes_on(int argc, char **argv)
{
	make();
	for (int i = 0; i < 20; i++) {
		pid_t pid = fork();

		if (!pid) {
			if (i % 4 == 0) {
				struct rc_pair own;

				rc_pair_make(&own);
				rc_pair_loop(&own, 5);
			}
			exit(0); /* runs the exit handlers of the libraries */
		}
		rc_pair_loop(&pair, 20);
		child_ends_well(pid);
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const struct rc_case cases[] = {
		{"child_rings", child_rings},
		{"child_registers", child_registers},
		{"parent_goes_on", parent_goes_on},
		{NULL, NULL},
	};

	return rc_main(cases, argc, argv);
}
