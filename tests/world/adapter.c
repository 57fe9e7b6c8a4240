/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a program gets from an adapter and its system: a line "name value" each. test_adapters.py
 * compares them between worlds.
 */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <linux/netlink.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_cq *cq;

static void say(const char *name, int value)
{
	printf("%s %d\n", name, value);
}

/* 0, or errno. */
static int got(const void *p)
{
	return p ? 0 : errno;
}

static struct ibv_qp *qp_new(enum ibv_qp_type type, uint32_t wr, uint32_t sge, uint32_t inl)
{
	struct ibv_qp_init_attr a = {.send_cq = cq,
				     .recv_cq = cq,
				     .qp_type = type,
				     .cap = {.max_send_wr = wr,
					     .max_recv_wr = wr,
					     .max_send_sge = sge,
					     .max_recv_sge = sge,
					     .max_inline_data = inl}};

	errno = 0;
	return ibv_create_qp(pd, &a);
}

static int try_qp(enum ibv_qp_type type, uint32_t wr, uint32_t sge, uint32_t inl)
{
	struct ibv_qp *qp = qp_new(type, wr, sge, inl);
	int r = got(qp);

	if (qp)
		ibv_destroy_qp(qp);
	return r;
}

/* To RTR, as responder of so many READs or atomic operations at once. */
static int try_rtr(uint8_t n, unsigned int access)
{
	struct ibv_qp *qp = qp_new(IBV_QPT_RC, 1, 1, 0);
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = access};
	int r;

	if (!qp)
		return -1;
	r = ibv_modify_qp(qp, &a,
			  IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS);
	a = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR,
				 .path_mtu = IBV_MTU_1024,
				 .dest_qp_num = qp->qp_num,
				 .max_dest_rd_atomic = n,
				 .ah_attr = {.dlid = 1, .port_num = 1}};
	if (!r)
		r = ibv_modify_qp(qp, &a,
				  IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
					  IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
					  IBV_QP_MIN_RNR_TIMER);
	ibv_destroy_qp(qp);
	return r;
}

static int try_srq(uint32_t wr)
{
	struct ibv_srq_init_attr a = {.attr = {.max_wr = wr, .max_sge = 1}};
	struct ibv_srq *srq;
	int r;

	errno = 0;
	srq = ibv_create_srq(pd, &a);
	r = got(srq);
	if (srq)
		ibv_destroy_srq(srq);
	return r;
}

static int try_xrcd(void)
{
	struct ibv_xrcd_init_attr a = {.comp_mask =
					       IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
				       .fd = -1,
				       .oflags = O_CREAT};
	struct ibv_xrcd *x;
	int r;

	errno = 0;
	x = ibv_open_xrcd(ctx, &a);
	r = got(x);
	if (x)
		ibv_close_xrcd(x);
	return r;
}

static int try_mr(size_t len, int access)
{
	void *buf = aligned_alloc(4096, len);
	struct ibv_mr *mr;
	int r;

	memset(buf, 0, len);
	errno = 0;
	mr = ibv_reg_mr(pd, buf, len, access);
	r = got(mr);
	if (mr)
		ibv_dereg_mr(mr);
	free(buf);
	return r;
}

static int try_mw(void)
{
	struct ibv_mw *mw;
	int r;

	errno = 0;
	mw = ibv_alloc_mw(pd, IBV_MW_TYPE_1);
	r = got(mw);
	if (mw)
		ibv_dealloc_mw(mw);
	return r;
}

static int try_cq(int cqe, int vector)
{
	struct ibv_cq *c;
	int r;

	errno = 0;
	c = ibv_create_cq(ctx, cqe, NULL, NULL, vector);
	r = got(c);
	if (c)
		ibv_destroy_cq(c);
	return r;
}

/* How many of 200 QPs can be made; the rest is refused with *err. */
static int count_qps(int *err)
{
	struct ibv_qp *qp[200];
	int n = 0;

	*err = 0;
	while (n < 200 && (qp[n] = qp_new(IBV_QPT_UD, 1, 1, 0)))
		n++;
	if (n < 200)
		*err = errno;
	for (int i = 0; i < n; i++)
		ibv_destroy_qp(qp[i]);
	return n;
}

static int try_devx(struct ibv_device *d)
{
	struct mlx5dv_context_attr a = {.flags = MLX5DV_CONTEXT_FLAGS_DEVX};
	struct ibv_context *c;
	int r;

	errno = 0;
	c = mlx5dv_open_device(d, &a);
	r = got(c);
	if (c)
		ibv_close_device(c);
	return r;
}

static int try_ioctl(void)
{
	struct ib_uverbs_ioctl_hdr h = {.length = sizeof(h), .object_id = 0xffff};

	return ioctl(ctx->cmd_fd, RDMA_VERBS_IOCTL, &h) ? errno : 0;
}

static int try_open(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC), r = fd < 0 ? errno : 0;

	if (fd >= 0)
		close(fd);
	return r;
}

static int try_netlink(void)
{
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_RDMA), r = fd < 0 ? errno : 0;

	if (fd >= 0)
		close(fd);
	return r;
}

static void show_limits(void)
{
	struct ibv_device_attr_ex a;

	if (ibv_query_device_ex(ctx, NULL, &a))
		exit(3);
	say("max_qp", a.orig_attr.max_qp);
	say("max_qp_wr", a.orig_attr.max_qp_wr);
	say("max_sge", a.orig_attr.max_sge);
	say("max_srq", a.orig_attr.max_srq);
	say("max_mw", a.orig_attr.max_mw);
	say("max_qp_rd_atom", a.orig_attr.max_qp_rd_atom);
	say("atomic_cap", a.orig_attr.atomic_cap);
	say("odp", a.odp_caps.general_caps != 0);
	say("max_dm_size", a.max_dm_size != 0);
	say("comp_vectors", ctx->num_comp_vectors);
}

static void show_files(void)
{
	struct stat st;

	say("uverbs_mode", stat("/dev/infiniband/uverbs0", &st) ? -errno : (int)st.st_mode & 0777);
	say("uverbs_open", try_open("/dev/infiniband/uverbs0"));
	say("umad_open", try_open("/dev/infiniband/umad0"));
	say("rdma_cm_open", try_open("/dev/infiniband/rdma_cm"));
	say("netlink", try_netlink());
}

int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int err;

	show_files();
	if (!list || !*list)
		return 2;
	ctx = ibv_open_device(*list);
	say("no_device", !ctx); /* errno is that of libibverbs' last attempt */
	if (!ctx)
		return 0;
	show_limits();
	pd = ibv_alloc_pd(ctx);
	cq = ibv_create_cq(ctx, 100, NULL, NULL, 0);
	if (!pd || !cq)
		return 2;
	say("ioctl", try_ioctl());
	say("devx", try_devx(*list));
	say("depth_128", try_qp(IBV_QPT_RC, 128, 1, 0));
	say("depth_129", try_qp(IBV_QPT_RC, 129, 1, 0));
	say("sge_4", try_qp(IBV_QPT_RC, 1, 4, 0));
	say("sge_5", try_qp(IBV_QPT_RC, 1, 5, 0));
	say("inline_60", try_qp(IBV_QPT_RC, 1, 1, 60));
	say("inline_61", try_qp(IBV_QPT_RC, 1, 1, 61));
	say("rc", try_qp(IBV_QPT_RC, 1, 1, 0));
	say("uc", try_qp(IBV_QPT_UC, 1, 1, 0));
	say("srq", try_srq(10));
	say("srq_128", try_srq(128));
	say("xrcd", try_xrcd());
	say("atomic_access", try_rtr(1, IBV_ACCESS_REMOTE_ATOMIC));
	say("reads_1", try_rtr(1, IBV_ACCESS_REMOTE_READ));
	say("reads_2", try_rtr(2, IBV_ACCESS_REMOTE_READ));
	say("mr_odp", try_mr(4096, IBV_ACCESS_ON_DEMAND));
	say("mr_256k", try_mr(256 << 10, 0));
	say("mw", try_mw());
	say("cqe_4096", try_cq(4096, 0));
	say("vector_1", try_cq(1, 1));
	say("qps", count_qps(&err));
	say("qps_errno", err);
	return 0;
}
