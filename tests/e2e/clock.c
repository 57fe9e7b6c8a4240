/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The clock page: mlx5dv_get_clock_info() lets mlx5dv_ts_to_ns() and
 * ibv_wc_read_completion_wallclock_ns() convert a completion's timestamp to wall-clock time. The
 * page cannot be written, and is the same in every process that has the device open.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <infiniband/mlx5dv.h>
#include <rdma/mlx5-abi.h>

#include "rc.h"

#define SECOND UINT64_C(1000000000)
/* The wall clock may be corrected (by 500 ppm) or stepped a little while the fabric is up. */
#define SLACK SECOND

static uint64_t wall(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

static struct ibv_context *open_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *c = list && list[0] ? ibv_open_device(list[0]) : NULL;

	need(!!c, "opening the first device");
	ibv_free_device_list(list);
	return c;
}

static struct mlx5dv_clock_info info_of(struct ibv_context *ctx)
{
	struct mlx5dv_clock_info i;

	errno = mlx5dv_get_clock_info(ctx, &i);
	need(!errno, "mlx5dv_get_clock_info");
	return i;
}

static struct ibv_qp *loopback(struct ibv_context *ctx, struct ibv_pd *pd, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC,
					.send_cq = cq,
					.recv_cq = cq,
					.cap = {.max_send_wr = 1, .max_recv_wr = 1}};
	struct ibv_qp *qp = ibv_create_qp(pd, &init);

	need(!!qp, "QP");
	rc_init(qp, IBV_ACCESS_REMOTE_WRITE);
	rc_connect(qp, qp->qp_num, rc_lid(ctx), IBV_MTU_1024);
	return qp;
}

static void near(uint64_t ns, uint64_t from, uint64_t to, const char *what)
{
	if (ns + SLACK >= from && ns <= to + SLACK)
		return;
	fprintf(stderr, "clock: %s is %llu, not between %llu and %llu\n", what,
		(unsigned long long)ns, (unsigned long long)from, (unsigned long long)to);
	exit(1);
}

/* A WRITE of 0 bytes to itself: one completion, with both timestamps. */
static void stamps(struct ibv_context *ctx)
{
	struct ibv_cq_init_attr_ex attr = {.cqe = 4,
					   .wc_flags =
						   IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |
						   IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK};
	struct ibv_cq_ex *cq = ibv_create_cq_ex(ctx, &attr);
	struct ibv_poll_cq_attr poll = {0};
	struct mlx5dv_clock_info i = info_of(ctx);
	struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED},
			   *bad;
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	uint64_t before, after, raw;
	struct ibv_qp *qp;
	int r;

	need(cq && pd, "CQ with both stamps, and PD");
	qp = loopback(ctx, pd, ibv_cq_ex_to_cq(cq));
	before = wall();
	need(!ibv_post_send(qp, &wr, &bad), "ibv_post_send");
	do
		r = ibv_start_poll(cq, &poll);
	while (r == ENOENT);
	after = wall();
	need(r == 0 && cq->status == IBV_WC_SUCCESS, "the completion");
	raw = ibv_wc_read_completion_ts(cq);
	near(mlx5dv_ts_to_ns(&i, raw), before, after, "mlx5dv_ts_to_ns()");
	near(ibv_wc_read_completion_wallclock_ns(cq), before, after, "the wall clock's stamp");
	/* older than the page's pair of times */
	near(mlx5dv_ts_to_ns(&i, i.last_cycles - 5 * SECOND), i.nsec - 5 * SECOND,
	     i.nsec - 5 * SECOND, "a time before the page's");
	ibv_end_poll(cq);
	need(!ibv_destroy_qp(qp) && !ibv_destroy_cq(ibv_cq_ex_to_cq(cq)) && !ibv_dealloc_pd(pd),
	     "clean-up");
}

/* The errnos of mlx5_ib_mmap_clock_info_page(); the page stays read only. */
static void page(struct ibv_context *ctx)
{
	const off_t at = (off_t)MLX5_IB_MMAP_CLOCK_INFO << 8 << 12;
	struct mlx5_ib_clock_info *p;
	static const struct {
		int prot, flags, err;
		off_t more;
	} wrong[] = {
		{PROT_READ, MAP_PRIVATE, EINVAL, 0},
		{PROT_READ, MAP_SHARED, EOPNOTSUPP, 4096},
		{PROT_READ | PROT_WRITE, MAP_SHARED, EPERM, 0},
		{PROT_READ | PROT_EXEC, MAP_SHARED, EPERM, 0},
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		need(mmap(NULL, 4096, wrong[i].prot, wrong[i].flags, ctx->cmd_fd,
			  at + wrong[i].more) == MAP_FAILED &&
			     errno == wrong[i].err,
		     "a wrong mapping");
	p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, ctx->cmd_fd, at);
	need(p != MAP_FAILED, "the clock page");
	need(!(p->sign & MLX5_IB_CLOCK_INFO_KERNEL_UPDATING) && p->mult && p->mask, "its content");
	need(mprotect(p, 4096, PROT_READ | PROT_WRITE) && errno == EACCES, "it is read only");
	need(!munmap(p, 4096), "munmap");
}

int main(void)
{
	struct ibv_context *ctx = open_device();
	struct mlx5dv_clock_info mine = info_of(ctx), theirs;
	int status = 1;

	if (!fork()) {
		theirs = info_of(open_device());
		_exit(memcmp(&mine, &theirs, sizeof(mine)) != 0);
	}
	need(wait(&status) > 0 && status == 0, "the same in another process");
	stamps(ctx);
	page(ctx);
	need(!ibv_close_device(ctx), "closing");
	return 0;
}
