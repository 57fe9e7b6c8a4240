/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The memory and the objects that rows name, and the conversion of a row to a system call. */
#include "abi.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

static int fds[3] = {-1, -1, -1};

int world_fd(enum which which)
{
	if (fds[which] < 0) {
		fds[which] = open("/dev/infiniband/uverbs0", O_RDWR | O_CLOEXEC);
		if (fds[which] < 0) {
			perror("/dev/infiniband/uverbs0");
			exit(2);
		}
	}
	return fds[which];
}

/* Without a link_layer file this is a unit test, whose ports are InfiniBand. */
bool world_has(enum on_link link)
{
	static int eth = -1;
	char text[16];

	if (eth < 0) {
		int fd = open(driver_is_rxe() ? "/sys/class/infiniband/rxe0/ports/1/link_layer"
					      : "/sys/class/infiniband/mlx5_0/ports/1/link_layer",
			      O_RDONLY | O_CLOEXEC);
		ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text));

		eth = n > 0 && text[0] == 'E';
		if (fd >= 0)
			close(fd);
	}
	return link == ON_ANY || link == (eth ? ON_ETH : ON_IB);
}

void world_row_end(void)
{
	if (fds[NEW] >= 0)
		close(fds[NEW]);
	fds[NEW] = -1;
}

static void *ptr(uint64_t at)
{
	return (void *)(uintptr_t)at;
}

static void need(bool ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(2);
}

static void map(uint64_t at, size_t len, int prot)
{
	need(mmap(ptr(at), len, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) ==
		     ptr(at),
	     "memory at its fixed address");
}

static int fire_as_is(const struct ioctl_row *r, uint64_t *handle)
{
	unsigned int n = 0, real = 0;
	struct call {
		uint16_t length, object, method, num_attrs;
		uint64_t reserved1;
		uint32_t driver_id, reserved2;
		struct ib_uverbs_attr attr[NATTRS];
	} c = {.object = r->object,
	       .method = r->method,
	       .reserved1 = r->reserved1,
	       .driver_id = r->driver_id ? r->driver_id : (uint32_t)RDMA_DRIVER_MLX5,
	       .reserved2 = r->reserved2};
	uint64_t below = IN_END, at = r->at;
	size_t len;
	int ret;

	for (; n < NATTRS && (n < r->nattr || r->attr[n].id || r->attr[n].len || r->attr[n].data);
	     n++) {
		const struct attr *a = &r->attr[n];
		struct ib_uverbs_attr *u = &c.attr[n];

		u->attr_id = a->id;
		u->len = a->len;
		u->flags = a->optional ? 0 : UVERBS_ATTR_F_MANDATORY;
		u->attr_data.reserved = a->reserved;
		u->data = a->data;
		if (a->in && a->len <= sizeof(u->data)) {
			memcpy(&u->data, a->in, a->len);
		} else if (a->in) {
			below -= a->len;
			memcpy(ptr(below), a->in, a->len);
			u->data = below;
			below &= ~UINT64_C(7);
		}
		real++;
	}
	len = offsetof(struct call, attr) + real * sizeof(c.attr[0]);
	c.length = r->length ? r->length : (uint16_t)len;
	c.num_attrs = r->num_attrs ? r->num_attrs : (uint16_t)real;
	if (!at)
		at = below - len;
	/* Copy only what lies below IN_END: the memory behind it cannot be written. */
	if (at >= IN && at < IN_END)
		memcpy(ptr(at), &c, at + len > IN_END ? IN_END - at : len);
	ret = ioctl(world_fd(r->which), r->cmd ? r->cmd : RDMA_VERBS_IOCTL, ptr(at)) ? errno : 0;
	if (handle && !ret) {
		memcpy(&c, ptr(at), len);
		*handle = c.attr[0].data;
	}
	return ret;
}

static int fire(const struct ioctl_row *r, uint64_t *handle)
{
	struct ioctl_row theirs;

	if (!driver_is_rxe())
		return fire_as_is(r, handle);
	theirs = *r;
	driver_ioctl(&theirs);
	return fire_as_is(&theirs, handle);
}

/* A poison value shows whether an answer was written: none of it is left. */
#define POISON 0xa5
#define POISONED UINT32_C(0xa5a5a5a5)
enum { STALE = -2 };

static bool written(uint64_t at, size_t len)
{
	uint32_t v;

	if (at < OUT || at + len > OUT_END)
		return true;
	for (; len >= sizeof(v); at += sizeof(v), len -= sizeof(v)) {
		memcpy(&v, ptr(at), sizeof(v));
		if (v == POISONED)
			return false;
	}
	return true;
}

static bool is_command_out(const struct ioctl_row *r, const struct attr *a)
{
	if (r->object == MLX5_IB_OBJECT_DEVX && r->method == MLX5_IB_METHOD_DEVX_OTHER)
		return a->id == MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT;
	/* CREATE, MODIFY and QUERY have the same attribute number. */
	return r->object == MLX5_IB_OBJECT_DEVX_OBJ &&
	       a->id == MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT;
}

/*
 * Answers that the kernel writes whole: numbers, core answers of the older commands, and outputs of
 * firmware commands, also refused ones.
 */
static bool answered(const struct ioctl_row *r, bool done)
{
	bool invoke = r->object == UVERBS_OBJECT_DEVICE && r->method == UVERBS_METHOD_INVOKE_WRITE;

	for (unsigned int i = 0; i < NATTRS; i++) {
		const struct attr *a = &r->attr[i];
		bool whole = is_command_out(r, a);

		if (done && !a->optional && a->id != UVERBS_ATTR_UHW_OUT)
			whole |= a->len <= 8 || (invoke && a->id == UVERBS_ATTR_CORE_OUT);
		if (whole && !a->in && !written(a->data, a->len))
			return false;
	}
	return true;
}

int world_ioctl(const struct ioctl_row *r)
{
	uint64_t made;
	int ret;

	memset(ptr(OUT), POISON, 8192);
	ret = fire(r, &made);
	if (ret == EREMOTEIO && !answered(r, false))
		return STALE;
	if (ret)
		return ret;
	if (r->closes) {
		if (r->object == UVERBS_OBJECT_DEVICE)
			memcpy(&made, ptr(OUT), 4);
		close((int)made);
	}
	return answered(r, true) ? 0 : STALE;
}

int world_write(const struct write_row *r)
{
	struct write_row theirs;
	size_t count;
	uint64_t at;
	ssize_t n;
	int fd;

	if (driver_is_rxe()) {
		theirs = *r;
		driver_write(&theirs);
		r = &theirs;
	}
	count = r->count ? r->count : r->nwords * 4;
	at = r->at ? r->at : IN_END - r->nwords * 4;
	memset(ptr(OUT), POISON, 8192);
	if (at >= IN && at < IN_END)
		memcpy(ptr(at), r->words,
		       at + r->nwords * 4 > IN_END ? IN_END - at : r->nwords * 4);
	n = write(world_fd(r->which), ptr(at), count);
	if (n < 0)
		return errno;
	if (r->closes) {
		memcpy(&fd, ptr(OUT), sizeof(fd));
		close(fd);
	}
	return n == (ssize_t)count ? 0 : -1;
}

/* How many words from `at` are written: "3", or "3 of 5" if there are gaps. */
static void words_of(uint64_t at, size_t words, char *text, size_t size)
{
	unsigned int n = 0, last = 0;

	for (unsigned int i = 0; i < words; i++)
		if (written(at + 4 * i, 4)) {
			n++;
			last = i + 1;
		}
	if (n == last)
		snprintf(text, size, " %u", n);
	else
		snprintf(text, size, " %u of %u", n, last);
}

void world_answer_ioctl(const struct ioctl_row *r, char *text, size_t size)
{
	size_t at = 0;

	text[0] = '\0';
	for (unsigned int i = 0; i < NATTRS && at + 32 < size; i++) {
		const struct attr *a = &r->attr[i];

		if (a->in || a->data < OUT || a->data > OUT_END - a->len ||
		    a->id == UVERBS_ATTR_UHW_OUT)
			continue;
		words_of(a->data, a->len / 4, text + at, size - at);
		at += strlen(text + at);
	}
}

void world_answer_write(const struct write_row *r, char *text, size_t size)
{
	words_of(OUT, driver_core_answer(r) < 512 ? driver_core_answer(r) : 0, text, size);
}

/* ---- objects */

static void make(const char *what, const struct ioctl_row *r, uint64_t handle)
{
	uint64_t got = handle;
	int err = fire(r, handle == NONE ? NULL : &got);

	if (!err && got == handle)
		return;
	fprintf(stderr, "%s: %s, handle %llu, not %llu\n", what, err ? strerror(err) : "made",
		(unsigned long long)got, (unsigned long long)handle);
	exit(2);
}

static void made(const char *what, uint32_t handle, uint32_t got)
{
	if (handle == got)
		return;
	fprintf(stderr, "%s: handle or number %u, not %u\n", what, got, handle);
	exit(2);
}

static bool any_numbers;

static bool numbers_known(void)
{
	return !any_numbers && !driver_is_rxe();
}

static uint32_t answer(size_t offset)
{
	uint32_t v;

	memcpy(&v, ptr(OUT + offset), sizeof(v));
	return v;
}

#define INVOKE(nr, req, resp, ...)                                                                \
	&(struct ioctl_row)                                                                       \
	{                                                                                         \
		.object = UVERBS_OBJECT_DEVICE, .method = UVERBS_METHOD_INVOKE_WRITE, .nattr = 1, \
		.attr = {                                                                         \
			{.id = UVERBS_ATTR_CORE_IN, .len = sizeof(req), .in = &(req)},            \
			{.id = UVERBS_ATTR_CORE_OUT, .len = sizeof(resp), .data = OUT},           \
			{.id = UVERBS_ATTR_WRITE_CMD, .len = 8, .data = IB_USER_VERBS_CMD_##nr},  \
			__VA_ARGS__                                                               \
		}                                                                                 \
	}

static void make_context(void)
{
	struct mlx5_ib_alloc_ucontext_req_v2 req = {
		.total_num_bfregs = 16,
		.num_low_latency_bfregs = 4,
		.flags = MLX5_IB_ALLOC_UCTX_DEVX,
		.max_cqe_version = 1,
		.lib_caps = MLX5_LIB_CAP_4K_UAR | MLX5_LIB_CAP_DYN_UAR,
	};
	struct ioctl_row r = {
		.object = UVERBS_OBJECT_DEVICE,
		.method = UVERBS_METHOD_GET_CONTEXT,
		.attr = {{.id = UVERBS_ATTR_UHW_IN, .len = sizeof(req), .in = &req},
			 {.id = UVERBS_ATTR_UHW_OUT,
			  .len = sizeof(struct mlx5_ib_alloc_ucontext_resp),
			  .data = OUT}},
	};
	struct ioctl_row async = {
		.object = UVERBS_OBJECT_ASYNC_EVENT,
		.method = UVERBS_METHOD_ASYNC_EVENT_ALLOC,
		.nattr = 1,
		.attr = {{.id = UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE}},
	};
	uint64_t fd = 0;

	make("context", &r, NONE);
	need(!fire(&async, &fd) && dup2((int)fd, ASYNC) == ASYNC, "async event file");
	close((int)fd);
}

/* Open the two kinds of DEVX files that are read, and an eventfd for events that bypass them. */
static void make_files(void)
{
	struct ioctl_row results = {
		.object = MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD,
		.method = MLX5_IB_METHOD_DEVX_ASYNC_CMD_FD_ALLOC,
		.nattr = 1,
		.attr = {{.id = MLX5_IB_ATTR_DEVX_ASYNC_CMD_FD_ALLOC_HANDLE}},
	};
	struct ioctl_row events = {
		.object = MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD,
		.method = MLX5_IB_METHOD_DEVX_ASYNC_EVENT_FD_ALLOC,
		.nattr = 2,
		.attr = {{.id = MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_HANDLE},
			 {.id = MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_FLAGS, .len = 4}},
	};
	uint64_t fd = 0;
	int efd;

	if (!driver_is_rxe()) {
		need(!fire(&results, &fd) && dup2((int)fd, RESULTS) == RESULTS, "file of results");
		close((int)fd);
		fd = 0;
		need(!fire(&events, &fd) && dup2((int)fd, EVENT_FILE) == EVENT_FILE,
		     "file of events");
		close((int)fd);
	}
	efd = eventfd(0, EFD_CLOEXEC);
	need(efd >= 0 && dup2(efd, EVENTFD) == EVENTFD, "eventfd");
	close(efd);
}

/* In place of an object of mlx5: handles of the others are then the same. */
static void make_window(uint32_t handle)
{
	struct ib_uverbs_alloc_mw mw = {.pd_handle = PD, .mw_type = 1};
	struct ib_uverbs_alloc_mw_resp resp;

	make("window", INVOKE(ALLOC_MW, mw, resp), NONE);
	made("window", handle, answer(offsetof(struct ib_uverbs_alloc_mw_resp, mw_handle)));
}

static uint32_t uar_page;

static void make_uar(void)
{
	struct ioctl_row r = {
		.object = MLX5_IB_OBJECT_UAR,
		.method = MLX5_IB_METHOD_UAR_OBJ_ALLOC,
		.attr = {{.id = MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE},
			 {.id = MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE,
			  .len = 8,
			  .data = MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC},
			 {.id = MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, .len = 8, .data = OUT},
			 {.id = MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, .len = 4, .data = OUT + 8},
			 {.id = MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, .len = 4, .data = OUT + 12}},
	};

	make("UAR", &r, UAR);
	uar_page = answer(12);
	if (numbers_known())
		made("UAR page", UAR_PAGE, uar_page);
}

static void make_queues(void)
{
	struct ib_uverbs_create_cq cq = {.cqe = 15, .comp_channel = CHANNEL};
	struct ib_uverbs_create_cq_resp cq_resp;
	struct mlx5_ib_create_cq cq_uhw = {.buf_addr = MEM,
					   .db_addr = DBR,
					   .cqe_size = 64,
					   .flags = MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX,
					   .uar_page_index = (uint16_t)uar_page};
	struct ib_uverbs_create_qp qp = {.pd_handle = PD,
					 .send_cq_handle = CQ,
					 .recv_cq_handle = CQ,
					 .max_send_wr = 4,
					 .max_recv_wr = 4,
					 .max_send_sge = 1,
					 .max_recv_sge = 1,
					 .qp_type = IB_UVERBS_QPT_RC};
	struct ib_uverbs_create_qp_resp qp_resp;
	struct mlx5_ib_create_qp qp_uhw = {.buf_addr = MEM + 0x4000,
					   .db_addr = DBR + 64,
					   .sq_wqe_count = 4,
					   .rq_wqe_count = 4,
					   .rq_wqe_shift = 4,
					   .flags = MLX5_QP_FLAG_UAR_PAGE_INDEX,
					   .bfreg_index = uar_page};

	make("CQ",
	     INVOKE(CREATE_CQ, cq, cq_resp,
		    {.id = UVERBS_ATTR_UHW_IN, .len = sizeof(cq_uhw), .in = &cq_uhw},
		    {.id = UVERBS_ATTR_UHW_OUT, .len = 8, .data = OUT + 256}),
	     NONE);
	made("CQ", CQ, answer(offsetof(struct ib_uverbs_create_cq_resp, cq_handle)));
	if (numbers_known())
		made("cqn", CQN, answer(256));
	make("QP",
	     INVOKE(CREATE_QP, qp, qp_resp,
		    {.id = UVERBS_ATTR_UHW_IN, .len = sizeof(qp_uhw), .in = &qp_uhw},
		    {.id = UVERBS_ATTR_UHW_OUT, .len = 8, .data = OUT + 256}),
	     NONE);
	made("QP", QP, answer(offsetof(struct ib_uverbs_create_qp_resp, qp_handle)));
	if (numbers_known())
		made("qpn", QPN, answer(offsetof(struct ib_uverbs_create_qp_resp, qpn)));
}

static void make_objects(void)
{
	struct ib_uverbs_alloc_pd pd = {0};
	struct ib_uverbs_alloc_pd_resp pd_resp;
	struct ib_uverbs_reg_mr mr = {
		.start = MEM, .length = 4096, .hca_va = MEM, .pd_handle = PD, .access_flags = 1};
	struct ib_uverbs_reg_mr_resp mr_resp;
	struct ib_uverbs_create_comp_channel ch = {0};
	struct ib_uverbs_create_comp_channel_resp ch_resp;
	uint8_t alloc_pd[16] = {0x08, 0x00}; /* ALLOC_PD */
	struct ioctl_row devx = {
		.object = MLX5_IB_OBJECT_DEVX_OBJ,
		.method = MLX5_IB_METHOD_DEVX_OBJ_CREATE,
		.attr = {{.id = MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE},
			 {.id = MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN, .len = 16, .in = alloc_pd},
			 {.id = MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT, .len = 16, .data = OUT}},
	};

	make("PD",
	     INVOKE(ALLOC_PD, pd, pd_resp,
		    {.id = UVERBS_ATTR_UHW_OUT, .len = 4, .data = OUT + 256}),
	     NONE);
	made("PD", PD, answer(0));
	if (numbers_known())
		made("pdn", PDN, answer(256));
	make("MR", INVOKE(REG_MR, mr, mr_resp), NONE);
	made("MR", MR, answer(offsetof(struct ib_uverbs_reg_mr_resp, mr_handle)));
	if (driver_is_rxe())
		make_window(UAR);
	else
		make_uar();
	make("channel", INVOKE(CREATE_COMP_CHANNEL, ch, ch_resp), NONE);
	need(dup2((int)answer(0), CHANNEL) == CHANNEL, "channel");
	close((int)answer(0));
	make_queues();
	if (driver_is_rxe())
		make_window(DEVX_PD);
	else
		make("DEVX PD", &devx, DEVX_PD);
}

static void map_all(void)
{
	static bool done;

	if (done)
		return;
	done = true;
	map(MEM, MEM_LEN, PROT_READ | PROT_WRITE);
	map(IN, 4096, PROT_READ | PROT_WRITE);
	map(IN_END, 4096, PROT_NONE);
	map(OUT, 8192, PROT_READ | PROT_WRITE);
	map(OUT_END, 4096, PROT_NONE);
	map(RDONLY, 4096, PROT_READ);
}

void world_make(void)
{
	map_all();
	world_fd(CTX);
	world_fd(FRESH);
	need(dup2(STDERR_FILENO, PLAIN) == PLAIN, "plain descriptor");
	make_context();
	make_files();
	make_objects();
}

void world_end(void)
{
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		if (fds[i] >= 0)
			close(fds[i]);
		fds[i] = -1;
	}
}

void world_any_numbers(void)
{
	any_numbers = true;
}

bool world_unharmed(const char **what)
{
	static const struct {
		const char *name;
		uint16_t object;
		uint32_t handle[3];
		unsigned int n;
	} all[] = {
		{"PDs", UVERBS_OBJECT_PD, {PD}, 1},
		{"MRs", UVERBS_OBJECT_MR, {MR}, 1},
		{"CQs", UVERBS_OBJECT_CQ, {CQ}, 1},
		{"QPs", UVERBS_OBJECT_QP, {QP}, 1},
		{"UARs", MLX5_IB_OBJECT_UAR, {UAR}, 1},
		{"DEVX objects", MLX5_IB_OBJECT_DEVX_OBJ, {DEVX_PD}, 1},
		{"DEVX umems", MLX5_IB_OBJECT_DEVX_UMEM, {0}, 0},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct ioctl_row r = {
			.object = UVERBS_OBJECT_DEVICE,
			.method = UVERBS_METHOD_INFO_HANDLES,
			.nattr = 3,
			.attr = {{.id = UVERBS_ATTR_INFO_OBJECT_ID,
				  .len = 8,
				  .data = all[i].object},
				 {.id = UVERBS_ATTR_INFO_TOTAL_HANDLES, .len = 4, .data = OUT},
				 {.id = UVERBS_ATTR_INFO_HANDLES_LIST,
				  .len = 64,
				  .data = OUT + 64}},
		};

		*what = all[i].name;
		if (driver_is_rxe() && all[i].object >= 1u << UVERBS_ID_NS_SHIFT)
			continue;
		if (fire(&r, NULL) || answer(0) != all[i].n)
			return false;
		for (unsigned int h = 0; h < all[i].n; h++)
			if (answer(64 + h * 4) != all[i].handle[h])
				return false;
	}
	return true;
}
