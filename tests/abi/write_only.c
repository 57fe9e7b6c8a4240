/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A program from before RDMA_VERBS_IOCTL: it only uses open, write, mmap, read, poll and close of
 * the command file, no library, and the UARs that a context has from the start. Two RC QPs of one
 * port send to each other and wait in a completion channel.
 *
 * While it is inside the device nothing may call malloc: a signal handler that interrupted malloc
 * may open the device (see util/heap.h).
 *
 * usage: write_only: 0 and "passed"; else the first error.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <infiniband/mlx5dv.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>

/* ---- a malloc that refuses calls: these functions replace libc's */

#define EXPORTED __attribute__((visibility("default")))

static _Atomic bool forbidden;

static void *bump(size_t n)
{
	static char room[1 << 20] __attribute__((aligned(16)));
	static size_t at;
	void *p = room + at;

	if (forbidden) {
		static const char said[] = "malloc was called by the device\n";

		forbidden = false;
		if (write(2, said, sizeof(said) - 1) < 0)
			_exit(4);
		abort();
	}
	at += (n + 15) & ~(size_t)15;
	return at <= sizeof(room) ? p : NULL;
}

EXPORTED void *malloc(size_t n)
{
	return bump(n);
}

EXPORTED void *calloc(size_t n, size_t m)
{
	return bump(n * m); /* memory is never reused, so it is zero */
}

EXPORTED void *realloc(void *p, size_t n)
{
	void *q = bump(n);

	return p && q ? memmove(q, p, n) : q;
}

EXPORTED void free(void *p)
{
}

/* ---- errors */

#define NEED(cond)                                                             \
	do {                                                                   \
		if (!(cond)) {                                                 \
			forbidden = false;                                     \
			fprintf(stderr, "line %d: %s (%s)\n", __LINE__, #cond, \
				errno ? strerror(errno) : "");                 \
			exit(1);                                               \
		}                                                              \
	} while (0)
#define FAILS(call, err) NEED((errno = 0, (call) == -1) && errno == (err))

/* ---- commands */

static int fd = -1;

/* A command followed by its driver data; the answers likewise. */
#define COMMAND(name, core_t, drv_t, core_resp_t, drv_resp_t)                                \
	static ssize_t name(core_t core, drv_t drv, core_resp_t *resp, drv_resp_t *drv_resp) \
	{                                                                                    \
		struct {                                                                     \
			struct ib_uverbs_cmd_hdr hdr;                                        \
			core_t core;                                                         \
			drv_t drv;                                                           \
		} __attribute__((packed, aligned(8))) c = {.core = core, .drv = drv};        \
		struct {                                                                     \
			core_resp_t core;                                                    \
			drv_resp_t drv;                                                      \
		} __attribute__((packed, aligned(8))) r;                                     \
		ssize_t n;                                                                   \
                                                                                             \
		memset(&r, 0xa5, sizeof(r));                                                 \
		c.core.response = (uintptr_t)&r;                                             \
		c.hdr.command = command_##name;                                              \
		c.hdr.in_words = sizeof(c) / 4;                                              \
		c.hdr.out_words = sizeof(r) / 4;                                             \
		forbidden = true;                                                            \
		n = write(fd, &c, sizeof(c));                                                \
		forbidden = false;                                                           \
		memcpy(resp, &r.core, sizeof(*resp));                                        \
		memcpy(drv_resp, &r.drv, sizeof(*drv_resp));                                 \
		return n == (ssize_t)sizeof(c) ? 0 : -1;                                     \
	}

enum {
	command_get_context = IB_USER_VERBS_CMD_GET_CONTEXT,
	command_query_port = IB_USER_VERBS_CMD_QUERY_PORT,
	command_alloc_pd = IB_USER_VERBS_CMD_ALLOC_PD,
	command_reg_mr = IB_USER_VERBS_CMD_REG_MR,
	command_create_channel = IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL,
	command_create_cq = IB_USER_VERBS_CMD_CREATE_CQ,
	command_create_qp = IB_USER_VERBS_CMD_CREATE_QP,
	command_query_qp = IB_USER_VERBS_CMD_QUERY_QP,
	command_destroy_qp = IB_USER_VERBS_CMD_DESTROY_QP,
	command_destroy_cq = IB_USER_VERBS_CMD_DESTROY_CQ,
};
struct none {
};
static struct none nothing;

COMMAND(get_context, struct ib_uverbs_get_context, struct mlx5_ib_alloc_ucontext_req_v2,
	struct ib_uverbs_get_context_resp, struct mlx5_ib_alloc_ucontext_resp)
COMMAND(query_port, struct ib_uverbs_query_port, struct none, struct ib_uverbs_query_port_resp,
	struct none)
COMMAND(alloc_pd, struct ib_uverbs_alloc_pd, struct none, struct ib_uverbs_alloc_pd_resp,
	struct mlx5_ib_alloc_pd_resp)
COMMAND(reg_mr, struct ib_uverbs_reg_mr, struct none, struct ib_uverbs_reg_mr_resp, struct none)
COMMAND(create_channel, struct ib_uverbs_create_comp_channel, struct none,
	struct ib_uverbs_create_comp_channel_resp, struct none)
COMMAND(create_cq, struct ib_uverbs_create_cq, struct mlx5_ib_create_cq,
	struct ib_uverbs_create_cq_resp, struct mlx5_ib_create_cq_resp)
COMMAND(create_qp, struct ib_uverbs_create_qp, struct mlx5_ib_create_qp,
	struct ib_uverbs_create_qp_resp, struct mlx5_ib_create_qp_resp)
COMMAND(query_qp, struct ib_uverbs_query_qp, struct none, struct ib_uverbs_query_qp_resp,
	struct none)
COMMAND(destroy_qp, struct ib_uverbs_destroy_qp, struct none, struct ib_uverbs_destroy_qp_resp,
	struct none)
COMMAND(destroy_cq, struct ib_uverbs_destroy_cq, struct none, struct ib_uverbs_destroy_cq_resp,
	struct none)

/* Run a command that has no answer. */
static int command(uint32_t nr, const void *core, size_t len)
{
	char c[512] __attribute__((aligned(8)));
	struct ib_uverbs_cmd_hdr h = {nr, (uint16_t)((sizeof(h) + len) / 4), 0};
	ssize_t n;

	memcpy(c, &h, sizeof(h));
	memcpy(c + sizeof(h), core, len);
	forbidden = true;
	n = write(fd, c, sizeof(h) + len);
	forbidden = false;
	return n == (ssize_t)(sizeof(h) + len) ? 0 : -1;
}

/* ---- memory */

enum {
	PAGE = 4096,
	CQES = 16,
	WQES = 16,
	MMAP_REGULAR = 0,
	MMAP_WC = 2,
	MMAP_NC = 3,
	MMAP_ALLOC_WC = 6,
	NAPS = 60000,
};

static struct {
	struct mlx5_cqe64 cqe[CQES];
	char gap[PAGE - CQES * 64];
	struct {
		char rq[WQES][16]; /* each with one data segment */
		char sq[WQES][64];
	} qp[2];
	char gap2[PAGE];
	__be32 dbr[3][16]; /* records of the CQ and both QPs */
	char from[256], to[256];
} mem __attribute__((aligned(4096)));

static char *uar0, *uar_dyn;

static char *uar_map(uint32_t cmd, uint32_t index)
{
	off_t off = (off_t)((index >> 8) << 16 | cmd << 8 | (index & 0xff)) << 12;
	char *p;

	/* the first mapping starts the device thread, for which libc allocates */
	forbidden = uar0 != NULL;
	p = mmap(NULL, PAGE, PROT_WRITE, MAP_SHARED, fd, off);
	forbidden = false;
	return p;
}

static void ring(char *at, const void *what)
{
	uint64_t v;

	memcpy(&v, what, sizeof(v));
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	*(volatile uint64_t *)at = v;
}

/* ---- the context */

static struct mlx5_ib_alloc_ucontext_resp uctx;
static int async_fd;
static uint16_t lid;

static void open_context(void)
{
	struct mlx5_ib_alloc_ucontext_req_v2 req = {.total_num_bfregs = 15,
						    .num_low_latency_bfregs = 4,
						    .max_cqe_version = 1,
						    .lib_caps = MLX5_LIB_CAP_4K_UAR};
	struct ib_uverbs_query_port_resp port;
	struct ib_uverbs_get_context_resp resp;

	forbidden = true;
	fd = open("/dev/infiniband/uverbs0", O_RDWR | O_CLOEXEC);
	forbidden = false;
	NEED(fd >= 0);
	req.total_num_bfregs = 0;
	FAILS(get_context((struct ib_uverbs_get_context){0}, req, &resp, &uctx), EINVAL);
	req.total_num_bfregs = 514;
	FAILS(get_context((struct ib_uverbs_get_context){0}, req, &resp, &uctx), ENOMEM);
	req.total_num_bfregs = 15;
	NEED(!get_context((struct ib_uverbs_get_context){0}, req, &resp, &uctx));
	async_fd = (int)resp.async_fd;
	FAILS(get_context((struct ib_uverbs_get_context){0}, req, &resp,
			  &(struct mlx5_ib_alloc_ucontext_resp){0}),
	      EINVAL);
	NEED(!query_port((struct ib_uverbs_query_port){.port_num = 1}, nothing, &port, &nothing));
	NEED(port.state == 4);
	lid = port.lid;
}

/* ---- UARs: 16 registers are 8 pages */

static void map_uars(void)
{
	NEED(uctx.tot_bfregs == 16 && uctx.num_dyn_bfregs == 1024 && uctx.num_uars_per_page == 1);
	uar0 = uar_map(MMAP_REGULAR, 0);
	NEED(uar0 != MAP_FAILED);
	for (uint32_t i = 1; i < 8; i++)
		NEED(uar_map(i & 1 ? MMAP_WC : MMAP_NC, i) != MAP_FAILED);
	FAILS((intptr_t)uar_map(MMAP_REGULAR, 8), EINVAL);
	FAILS((intptr_t)uar_map(4, 0), EINVAL);
	uar_dyn = uar_map(MMAP_ALLOC_WC, 3);
	NEED(uar_dyn != MAP_FAILED);
	FAILS((intptr_t)uar_map(MMAP_ALLOC_WC, 3), EINVAL); /* once */
	NEED(uar_map(MMAP_ALLOC_WC, 511) != MAP_FAILED);
	FAILS((intptr_t)uar_map(MMAP_ALLOC_WC, 512), EINVAL);
	errno = 0;
	NEED(mmap(NULL, 2 * PAGE, PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED && errno == EINVAL);
}

/* ---- objects */

static struct ib_uverbs_alloc_pd_resp pd;
static struct ib_uverbs_reg_mr_resp mr;
static struct ib_uverbs_create_cq_resp cq;
static struct mlx5_ib_create_cq_resp cqn;
static struct ib_uverbs_create_comp_channel_resp channel;
static struct {
	struct ib_uverbs_create_qp_resp resp;
	char *doorbell;
} qp[2];

static void make_queue_pair(int i, uint32_t flags, uint32_t bfreg)
{
	struct mlx5_ib_create_qp_resp drv;
	struct mlx5_ib_create_qp req = {
		.buf_addr = (uintptr_t)&mem.qp[i],
		.db_addr = (uintptr_t)mem.dbr[1 + i],
		.sq_wqe_count = WQES,
		.rq_wqe_count = WQES,
		.rq_wqe_shift = 4,
		.flags = flags,
		.bfreg_index = bfreg,
		.uidx = (uint32_t)i,
	};
	struct ib_uverbs_create_qp core = {
		.user_handle = 0x1000u + (uint32_t)i,
		.pd_handle = pd.pd_handle,
		.send_cq_handle = cq.cq_handle,
		.recv_cq_handle = cq.cq_handle,
		.max_send_wr = WQES,
		.max_recv_wr = WQES,
		.max_send_sge = 1,
		.max_recv_sge = 1,
		.qp_type = 2,
	};

	NEED(!create_qp(core, req, &qp[i].resp, &drv));
	if (!flags) { /* the first low-latency register: 16 - 4 = 12, four per page */
		NEED(drv.bfreg_index == 12 / 2 * 4);
		qp[i].doorbell = uar_map(MMAP_REGULAR, drv.bfreg_index / 4);
		NEED(qp[i].doorbell != MAP_FAILED);
	} else {
		NEED(drv.bfreg_index == 1u << 31);
		qp[i].doorbell = uar_dyn;
	}
	req.flags = MLX5_QP_FLAG_BFREG_INDEX;
	req.bfreg_index = 2 * 4; /* a page that is not mapped */
	FAILS(create_qp(core, req, &(struct ib_uverbs_create_qp_resp){0}, &drv), EINVAL);
}

static void make_objects(void)
{
	struct mlx5_ib_create_cq cq_req = {
		.buf_addr = (uintptr_t)mem.cqe, .db_addr = (uintptr_t)mem.dbr[0], .cqe_size = 64};
	struct mlx5_ib_alloc_pd_resp pdn;

	NEED(!alloc_pd((struct ib_uverbs_alloc_pd){0}, nothing, &pd, &pdn));
	NEED(!reg_mr((struct ib_uverbs_reg_mr){.start = (uintptr_t)&mem,
					       .length = sizeof(mem),
					       .hca_va = (uintptr_t)&mem,
					       .pd_handle = pd.pd_handle,
					       .access_flags = 1},
		     nothing, &mr, &nothing));
	NEED(!create_channel((struct ib_uverbs_create_comp_channel){0}, nothing, &channel,
			     &nothing));
	for (int i = 0; i < CQES; i++)
		mem.cqe[i].op_own = MLX5_CQE_INVALID << 4 | 1;
	NEED(!create_cq((struct ib_uverbs_create_cq){.user_handle = 0xcafe,
						     .cqe = CQES - 1,
						     .comp_channel = (int)channel.fd},
			cq_req, &cq, &cqn));
	make_queue_pair(0, 0, 0);
	make_queue_pair(1, MLX5_QP_FLAG_BFREG_INDEX, 3 * 2 + 1);
}

static void connect_one(int i)
{
	struct ib_uverbs_modify_qp m = {.qp_handle = qp[i].resp.qp_handle,
					.attr_mask = 1 << 0 | 1 << 3 | 1 << 4 | 1 << 5,
					.qp_state = 1,
					.port_num = 1};
	struct ib_uverbs_query_qp_resp q;

	NEED(!command(IB_USER_VERBS_CMD_MODIFY_QP, &m, sizeof(m)));
	m.attr_mask = 1 << 0 | 1 << 7 | 1 << 8 | 1 << 12 | 1 << 15 | 1 << 17 | 1 << 20;
	m.qp_state = 2;
	m.path_mtu = 3;
	m.dest_qp_num = qp[!i].resp.qpn;
	m.rq_psn = 100;
	m.min_rnr_timer = 12;
	m.max_dest_rd_atomic = 1;
	m.dest.dlid = lid;
	m.dest.port_num = 1;
	NEED(!command(IB_USER_VERBS_CMD_MODIFY_QP, &m, sizeof(m)));
	m.attr_mask = 1 << 0 | 1 << 9 | 1 << 10 | 1 << 11 | 1 << 13 | 1 << 16;
	m.qp_state = 3;
	m.sq_psn = 100;
	m.timeout = 14;
	m.retry_cnt = m.rnr_retry = 7;
	m.max_rd_atomic = 1;
	NEED(!command(IB_USER_VERBS_CMD_MODIFY_QP, &m, sizeof(m)));
	NEED(!query_qp((struct ib_uverbs_query_qp){.qp_handle = m.qp_handle, .attr_mask = 1},
		       nothing, &q, &nothing));
	NEED(q.qp_state == 3 && q.dest_qp_num == qp[!i].resp.qpn && q.sq_psn == 100);
}

/* ---- traffic */

static struct {
	uint32_t rq[2], sq[2], ci, arm;
} at;

static void post_recv(int i)
{
	mlx5dv_set_data_seg((struct mlx5_wqe_data_seg *)mem.qp[i].rq[at.rq[i] % WQES],
			    sizeof(mem.to), mr.lkey, (uintptr_t)mem.to);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	mem.dbr[1 + i][MLX5_RCV_DBR] = htobe32(++at.rq[i]);
}

static void post_send(int i)
{
	struct mlx5_wqe_ctrl_seg *ctrl = (void *)mem.qp[i].sq[at.sq[i] % WQES];

	mlx5dv_set_ctrl_seg(ctrl, (uint16_t)at.sq[i], MLX5_OPCODE_SEND, 0, qp[i].resp.qpn,
			    MLX5_WQE_CTRL_CQ_UPDATE, 2, 0, 0);
	mlx5dv_set_data_seg((struct mlx5_wqe_data_seg *)(ctrl + 1), sizeof(mem.from), mr.lkey,
			    (uintptr_t)mem.from);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	mem.dbr[1 + i][MLX5_SND_DBR] = htobe32(++at.sq[i]);
	ring(qp[i].doorbell + 0x800, ctrl);
}

static void arm(void)
{
	uint32_t w = (at.arm++ & 3) << 28 | (at.ci & 0xffffff);
	__be32 bell[2] = {htobe32(w), htobe32(cqn.cqn)};

	mem.dbr[0][1] = bell[0];
	ring(uar0 + 0x20, bell);
}

static const struct mlx5_cqe64 *next_cqe(void)
{
	const volatile struct mlx5_cqe64 *e = &mem.cqe[at.ci % CQES];

	for (int i = 0; i < NAPS; i++) {
		uint8_t own = e->op_own;

		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (own >> 4 != MLX5_CQE_INVALID && (own & 1) == !!(at.ci & CQES)) {
			mem.dbr[0][0] = htobe32(++at.ci & 0xffffff);
			return (const struct mlx5_cqe64 *)e;
		}
		usleep(1000);
	}
	return NULL;
}

static void send_one(int i, int value)
{
	struct ib_uverbs_comp_event_desc ev = {0};
	struct pollfd p = {.fd = (int)channel.fd, .events = POLLIN};
	unsigned int seen = 0;

	memset(mem.from, value, sizeof(mem.from));
	memset(mem.to, 0, sizeof(mem.to));
	arm();
	post_recv(!i);
	post_send(i);
	NEED(poll(&p, 1, 60000) == 1 && p.revents == POLLIN);
	forbidden = true;
	NEED(read((int)channel.fd, &ev, sizeof(ev)) == (ssize_t)sizeof(ev));
	forbidden = false;
	NEED(ev.cq_handle == 0xcafe);
	for (int n = 0; n < 2; n++) {
		const struct mlx5_cqe64 *e = next_cqe();

		NEED(e);
		seen |= 1u << (e->op_own >> 4);
		if (e->op_own >> 4 == MLX5_CQE_RESP_SEND)
			NEED(be32toh(e->byte_cnt) == sizeof(mem.to));
	}
	NEED(seen == (1u << MLX5_CQE_REQ | 1u << MLX5_CQE_RESP_SEND));
	NEED(!memcmp(mem.from, mem.to, sizeof(mem.to)));
}

/* ---- the rules of write(2) itself */

struct pd_command {
	struct ib_uverbs_cmd_hdr hdr;
	uint64_t response; /* struct ib_uverbs_alloc_pd */
};

static struct pd_command pd_command(struct ib_uverbs_alloc_pd_resp *resp)
{
	return (struct pd_command){.hdr = {IB_USER_VERBS_CMD_ALLOC_PD,
					   sizeof(struct pd_command) / 4, sizeof(*resp) / 4},
				   .response = (uintptr_t)resp};
}

static void *in_thread(void *arg)
{
	struct pd_command c = pd_command(arg);

	return (void *)(intptr_t)write(fd, &c, sizeof(c));
}

/* Only the process that opened a file may write to it; its threads may, a child may not. */
static void only_the_opener_writes(void)
{
	struct ib_uverbs_alloc_pd_resp r;
	struct pd_command c = pd_command(&r);
	pthread_t t;
	void *n;
	int status;
	pid_t pid;

	NEED(!pthread_create(&t, NULL, in_thread, &r) && !pthread_join(t, &n));
	NEED((intptr_t)n == (ssize_t)sizeof(c));
	NEED(!command(IB_USER_VERBS_CMD_DEALLOC_PD, &r.pd_handle, 4));
	pid = fork();
	if (!pid)
		_exit(write(fd, &c, sizeof(c)) == -1 ? errno : 0);
	NEED(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	errno = WEXITSTATUS(status);
	NEED(errno == EACCES);
	if (geteuid()) /* a process that cannot change its user */
		return;
	NEED(!setresgid((gid_t)-1, 1, (gid_t)-1));
	FAILS(write(fd, &c, sizeof(c)), EACCES);
	NEED(!setresgid((gid_t)-1, 0, (gid_t)-1));
}

static void other_ways_to_write(void)
{
	struct ib_uverbs_alloc_pd_resp r[2];
	struct pd_command c[2] = {pd_command(&r[0]), pd_command(&r[1])};
	struct iovec v[2] = {{&c[0], sizeof(c[0])}, {&c[1], sizeof(c[1])}};
	struct iovec half[2] = {{&c[0], sizeof(c[0]) / 2}, {(char *)&c[0] + 12, 12}};
	/* volatile hides the bad pointers from the compiler */
	const void *volatile nowhere = (void *)8;
	volatile int minus = -1;
	char buf[8];
	int p[2];

	NEED(writev(fd, v, 2) == 2 * (ssize_t)sizeof(c[0])); /* two commands */
	NEED(r[1].pd_handle != r[0].pd_handle);
	NEED(!command(IB_USER_VERBS_CMD_DEALLOC_PD, &r[0].pd_handle, 4));
	NEED(!command(IB_USER_VERBS_CMD_DEALLOC_PD, &r[1].pd_handle, 4));
	/* the same by system call number */
	NEED(syscall(SYS_writev, fd, v, 2) == 2 * (ssize_t)sizeof(c[0]));
	NEED(!command(IB_USER_VERBS_CMD_DEALLOC_PD, &r[0].pd_handle, 4));
	NEED(!command(IB_USER_VERBS_CMD_DEALLOC_PD, &r[1].pd_handle, 4));
	FAILS(writev(fd, half, 2), EINVAL); /* a vector must contain a whole command */
	NEED(writev(fd, v, 0) == 0);
	FAILS(writev(fd, v, minus), EINVAL);
	FAILS(writev(fd, nowhere, 1), EFAULT);
	FAILS(write(fd, c, 0), EINVAL);
	FAILS(write(fd, nowhere, sizeof(c[0])), EFAULT);
	nowhere = (void *)UINT64_C(0xffff888000000000);
	FAILS(write(fd, nowhere, sizeof(c[0])), EFAULT);
	FAILS(pwrite(fd, c, sizeof(c[0]), 0), ESPIPE);
	FAILS(read(fd, buf, sizeof(buf)), EINVAL);
	FAILS(lseek(fd, 0, SEEK_SET), ESPIPE);
	NEED(!pipe(p) && write(p[1], c, sizeof(c[0])) > 0);
	FAILS(splice(p[0], NULL, fd, NULL, sizeof(c[0]), 0), EINVAL);
	FAILS(sendfile(fd, p[0], NULL, sizeof(c[0])), EINVAL);
	close(p[0]);
	close(p[1]);
}

/* ---- the end */

static void destroy_all(void)
{
	struct ib_uverbs_destroy_cq_resp cq_end;
	struct ib_uverbs_destroy_qp_resp qp_end;

	FAILS(destroy_cq((struct ib_uverbs_destroy_cq){.cq_handle = cq.cq_handle}, nothing, &cq_end,
			 &nothing),
	      EBUSY);
	for (int i = 0; i < 2; i++)
		NEED(!destroy_qp((struct ib_uverbs_destroy_qp){.qp_handle = qp[i].resp.qp_handle},
				 nothing, &qp_end, &nothing));
	NEED(!destroy_cq((struct ib_uverbs_destroy_cq){.cq_handle = cq.cq_handle}, nothing, &cq_end,
			 &nothing));
	NEED(cq_end.comp_events_reported == 40 && !cq_end.async_events_reported);
	FAILS(command(IB_USER_VERBS_CMD_DEALLOC_PD, &pd.pd_handle, 4), EBUSY);
	NEED(!command(IB_USER_VERBS_CMD_DEREG_MR, &mr.mr_handle, 4));
	NEED(!command(IB_USER_VERBS_CMD_DEALLOC_PD, &pd.pd_handle, 4));
	forbidden = true;
	NEED(!close((int)channel.fd));
	NEED(!close(async_fd));
	NEED(!close(fd));
	forbidden = false;
}

int main(void)
{
	open_context();
	map_uars();
	make_objects();
	connect_one(0);
	connect_one(1);
	for (int i = 0; i < 40; i++)
		send_one(i & 1, i + 1);
	other_ways_to_write();
	only_the_opener_writes();
	destroy_all();
	puts("passed");
	return 0;
}
