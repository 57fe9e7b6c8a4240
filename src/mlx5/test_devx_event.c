/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Readable DEVX files, through ioctl(2) to the real firmware and through read(2). */
#include "mlx5/devx_table.h"
#include "mlx5/for_tests.h"
#include "mlx5/priv.h"
#include "mlx5/test_fds.h"
#include "util/for_tests.h"
#include "util/heap.h"
#include "wire/prm/cmd_hdr.h"
#include "wire/prm/eq.h"
#include "wire/prm/mkey.h"
#include "wire/prm/pd.h"
#include "wire/prm/umem.h"

#include <sys/eventfd.h>

static uint32_t pdn, pd; /* number and handle of a DEVX PD */

static void make_pd(struct test_env *e)
{
	uint8_t in[LAYOUT_SZ(alloc_pd_in)] = {0}, out[LAYOUT_SZ(alloc_pd_out)];

	LAYOUT_SET(cmd_in, in, opcode, PRM_OP_ALLOC_PD);
	assert_int_equal(test_devx_create(e, in, sizeof(in), out, sizeof(out), &pd), 0);
	pdn = LAYOUT_GET32(alloc_pd_out, out, pd);
}

static struct uv_event_file *fd_file(int fd)
{
	for (size_t i = 0; i < FDS; i++)
		if (fds[i].obj && fds[i].fd == fd)
			return fds[i].obj;
	fail_msg("descriptor %d is not one of ours", fd);
	return NULL;
}

static int setup(void **state)
{
	test_setup(state);
	fds_make(*state);
	return 0;
}

static int teardown(void **state)
{
	close_fds();
	return test_teardown(state);
}

static int file_alloc(struct test_env *e, uint16_t object, uint32_t flags)
{
	struct ib_uverbs_attr *handle;
	struct test_call c;
	int r;

	/* both methods use these ids */
	test_begin(&c, object, MLX5_IB_METHOD_DEVX_ASYNC_EVENT_FD_ALLOC);
	handle = test_idr(&c, MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_HANDLE, 0);
	if (object == MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD)
		test_in(&c, MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_FLAGS, &flags, sizeof(flags));
	r = test_do(e, &c);
	return r ? r : (int)handle->data_s64;
}

static void attr_fd(struct test_call *c, uint16_t id, int fd)
{
	test_idr(c, id, 0)->data_s64 = fd;
}

static int subscribe(struct test_env *e, int fd, bool object, uint16_t event, uint64_t cookie,
		     int efd)
{
	struct test_call c;

	test_begin(&c, MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_SUBSCRIBE_EVENT);
	attr_fd(&c, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_HANDLE, fd);
	if (object)
		test_idr(&c, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_OBJ_HANDLE, pd);
	test_in(&c, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_TYPE_NUM_LIST, &event, sizeof(event));
	if (efd >= 0)
		test_in(&c, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_NUM, &efd, sizeof(efd));
	else
		test_in(&c, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_COOKIE, &cookie, sizeof(cookie));
	return test_do(e, &c);
}

static ssize_t event_read(struct test_env *e, int fd, void *buf, size_t n)
{
	struct uv_event_wait w;

	return uv_event_read(fd_file(fd), fd, buf, n, true, &w);
}

static void raise_comm_est(struct test_env *e, uint8_t mark)
{
	uint8_t eqe[EVSUB_EQE] = {0, PRM_EVENT_COMM_EST, [63] = mark};

	/* Objects without queues are told apart like QPs, as by the kernel's key. */
	evsub_raise(&e->seg, e->hca, PRM_EVENT_COMM_EST, pdn, eqe);
}

static unsigned int subs(struct test_env *e)
{
	unsigned int n = 0;

	seg_for_each_live (&e->seg, SEG_T_EVSUB, i)
		n++;
	return n;
}

static void test_events_are_read_as_devx_writes_them(void **state)
{
	struct test_env *e = *state;
	uint8_t buf[80];
	uint64_t cookie;
	int fd;

	test_open_context(e, true);
	make_pd(e);
	fd = file_alloc(e, MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD, 0);
	assert_true(fd >= 0);
	assert_int_equal(event_read(e, fd, buf, sizeof(buf)), -EAGAIN);
	assert_int_equal(subscribe(e, fd, true, PRM_EVENT_COMM_EST, 0x123456789a, -1), 0);
	raise_comm_est(e, 7);
	assert_int_equal(event_read(e, fd, buf, 71), -EINVAL);
	assert_int_equal(event_read(e, fd, buf, sizeof(buf)), 72);
	memcpy(&cookie, buf, 8);
	assert_int_equal(cookie, 0x123456789a);
	assert_int_equal(buf[8 + 1], PRM_EVENT_COMM_EST);
	assert_int_equal(buf[8 + 63], 7);
	/* the subscription ends with the object */
	assert_int_equal(subs(e), 1);
	assert_int_equal(test_devx_destroy(e, pd), 0);
	assert_int_equal(subs(e), 0);
	raise_comm_est(e, 8);
	assert_int_equal(event_read(e, fd, buf, sizeof(buf)), -EAGAIN);
}

static void test_without_data_a_cookie_alone(void **state)
{
	struct test_env *e = *state;
	uint64_t cookie = 0;
	int fd;

	test_open_context(e, true);
	make_pd(e);
	fd = file_alloc(e, MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD,
			MLX5_IB_UAPI_DEVX_CR_EV_CH_FLAGS_OMIT_DATA);
	assert_int_equal(subscribe(e, fd, true, PRM_EVENT_COMM_EST, 5, -1), 0);
	raise_comm_est(e, 1);
	raise_comm_est(e, 2);
	assert_int_equal(event_read(e, fd, &cookie, 7), -EINVAL);
	assert_int_equal(event_read(e, fd, &cookie, 100), 8);
	assert_int_equal(cookie, 5);
	assert_int_equal(event_read(e, fd, &cookie, 8), -EAGAIN);
	assert_int_equal(test_devx_destroy(e, pd), 0);
}

static void test_eventfds(void **state)
{
	struct test_env *e = *state;
	int fd, efd = eventfd(0, EFD_NONBLOCK);
	uint64_t n;

	test_open_context(e, true);
	make_pd(e);
	fd = file_alloc(e, MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD, 0);
	assert_int_equal(subscribe(e, fd, true, PRM_EVENT_COMM_EST, 0, STDIN_FILENO), -EINVAL);
	assert_int_equal(subscribe(e, fd, true, PRM_EVENT_COMM_EST, 0, 12345), -EBADF);
	assert_int_equal(subs(e), 0);
	assert_int_equal(subscribe(e, fd, true, PRM_EVENT_COMM_EST, 0, efd), 0);
	raise_comm_est(e, 1);
	raise_comm_est(e, 2);
	assert_int_equal(read(efd, &n, sizeof(n)), sizeof(n));
	assert_int_equal(n, 2);
	assert_int_equal(event_read(e, fd, &n, sizeof(n)), -EAGAIN);
	assert_int_equal(test_devx_destroy(e, pd), 0);
	close(efd);
}

static void test_only_with_a_uid(void **state)
{
	struct test_env *e = *state;
	int fd;

	test_open_context(e, false);
	fd = file_alloc(e, MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD, 0);
	assert_true(fd >= 0);
	assert_int_equal(subscribe(e, fd, false, PRM_EVENT_PORT_CHANGE, 0, -1), -EINVAL);
}

static void test_a_failed_list_leaves_no_subscription(void **state)
{
	static const uint16_t events[] = {PRM_EVENT_COMM_EST, PRM_EVENT_CQ_ERROR,
					  PRM_EVENT_SRQ_LAST_WQE};
	struct test_env *e = *state;
	struct seg_table_hdr *t = seg_table(&e->seg, SEG_T_EVSUB);
	uint32_t capacity = t->capacity;
	struct test_call c;
	int fd;

	test_open_context(e, true);
	make_pd(e);
	fd = file_alloc(e, MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD, 0);
	test_begin(&c, MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_SUBSCRIBE_EVENT);
	attr_fd(&c, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_HANDLE, fd);
	test_idr(&c, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_OBJ_HANDLE, pd);
	test_in(&c, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_TYPE_NUM_LIST, events, sizeof(events));
	t->capacity = 3; /* space for two */
	assert_int_equal(test_do(e, &c), -ENOMEM);
	t->capacity = capacity;
	assert_int_equal(subs(e), 0);
	assert_int_equal(test_do(e, &c), 0);
	assert_int_equal(subs(e), 3);
	assert_int_equal(test_devx_destroy(e, pd), 0);
}

/* ---- asynchronous queries */

static int query(struct test_env *e, int fd, uint32_t handle, void *in, size_t inlen,
		 uint64_t wr_id, uint16_t outlen)
{
	struct test_call c;

	test_begin(&c, MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_ASYNC_QUERY);
	test_idr(&c, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_HANDLE, handle);
	test_in(&c, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_CMD_IN, in, inlen);
	attr_fd(&c, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_FD, fd);
	test_in(&c, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_WR_ID, &wr_id, sizeof(wr_id));
	test_const(&c, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_OUT_LEN, outlen);
	return test_do(e, &c);
}

/* Makes a memory key by DEVX. */
static uint32_t make_mkey(struct test_env *e, uint32_t *handle)
{
	uint8_t in[LAYOUT_SZ(create_mkey_in)] = {0}, out[LAYOUT_SZ(create_mkey_out)];
	void *mkc = LAYOUT_IN(create_mkey_in, memory_key_mkey_entry, in);
	static uint8_t page[4096] __attribute__((aligned(4096)));
	uint32_t umem, h;

	assert_int_equal(test_umem_reg(e, (uintptr_t)page, sizeof(page), 1, &umem, &h), 0);
	LAYOUT_SET(cmd_in, in, opcode, PRM_OP_CREATE_MKEY);
	LAYOUT_SET(create_mkey_in, in, mkey_umem_id, umem);
	LAYOUT_SET(create_mkey_in, in, translations_octword_actual_size, 1);
	LAYOUT_SET(mkc, mkc, access_mode_1_0, 1);
	LAYOUT_SET(mkc, mkc, lr, 1);
	LAYOUT_SET(mkc, mkc, qpn, 0xffffff);
	LAYOUT_SET(mkc, mkc, pd, pdn);
	LAYOUT_SET(mkc, mkc, start_addr, (uintptr_t)page);
	LAYOUT_SET(mkc, mkc, len, sizeof(page));
	LAYOUT_SET(mkc, mkc, log_page_size, 12);
	LAYOUT_SET(mkc, mkc, translations_octword_size, 1);
	assert_int_equal(test_devx_create(e, in, sizeof(in), out, sizeof(out), handle), 0);
	return LAYOUT_GET32(create_mkey_out, out, mkey_index);
}

static void test_results_of_queries(void **state)
{
	static uint8_t buf[70000], now[0x1000];
	uint8_t in[LAYOUT_SZ(query_mkey_in)] = {0};
	struct test_env *e = *state;
	const struct seg_evq *q;
	uint32_t key, h, len = LAYOUT_SZ(query_mkey_out), n;
	uint64_t wr_id;
	int fd;

	test_open_context(e, true);
	make_pd(e);
	key = make_mkey(e, &h);
	fd = file_alloc(e, MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD, 0);
	assert_true(fd >= 0);
	LAYOUT_SET(cmd_in, in, opcode, PRM_OP_QUERY_MKEY);
	LAYOUT_SET(query_mkey_in, in, mkey_index, key);
	assert_int_equal(
		test_devx_obj(e, MLX5_IB_METHOD_DEVX_OBJ_QUERY, h, in, sizeof(in), now, len), 0);
	assert_int_equal(event_read(e, fd, buf, sizeof(buf)), -EAGAIN);
	assert_int_equal(query(e, fd, h, in, sizeof(in), 0xa1, (uint16_t)len), 0);
	/* the firmware refuses this query */
	assert_int_equal(query(e, fd, h, in, sizeof(in), 0xa2, 15), 0);
	assert_int_equal(event_read(e, fd, buf, 8 + len - 1), -ENOSPC);
	assert_int_equal(event_read(e, fd, buf, 8 + len), 8 + len);
	memcpy(&wr_id, buf, 8);
	assert_int_equal(wr_id, 0xa1);
	assert_memory_equal(buf + 8, now, len);
	assert_int_equal(event_read(e, fd, buf, sizeof(buf)), 8 + 15);
	memcpy(&wr_id, buf, 8);
	assert_int_equal(wr_id, 0xa2);
	assert_int_not_equal(buf[8], FW_OK);
	assert_int_equal(event_read(e, fd, buf, sizeof(buf)), -EAGAIN);
	/* a file may have 1 MiB of unread results */
	q = seg_live(&e->seg, SEG_T_EVQ, fd_file(fd)->evq);
	for (n = 0; !query(e, fd, h, in, sizeof(in), n, 65535); n++)
		;
	assert_int_equal(n, 16);
	assert_int_equal(q->bytes, 16 * 65535);
	assert_int_equal(query(e, fd, h, in, sizeof(in), n, 17), -EAGAIN);
	assert_int_equal(query(e, fd, h, in, sizeof(in), n, 16), 0);
	assert_int_equal(event_read(e, fd, buf, sizeof(buf)), 8 + 65535);
	assert_int_equal(query(e, fd, h, in, sizeof(in), n, 65535), 0);
	heap_fail_at(1);
	while (event_read(e, fd, buf, sizeof(buf)) > 0)
		;
	assert_int_equal(q->bytes, 0);
	heap_fail_at(0);
	assert_int_equal(test_devx_destroy(e, h), 0);
	assert_int_equal(test_devx_destroy(e, pd), 0);
}

/* ---- rules that need no device */

static void test_events_by_capability(void **state)
{
	static const struct hw_caps old, none = {.event_cap = true};
	static const struct hw_caps some = {.event_cap = true,
					    .user_affiliated_events = {0x4, 0, 0, 0x8},
					    .user_unaffiliated_events = {0, 0x2}};

	/* is_valid_events_legacy */
	assert_true(mlx5_devx_event_ok(&old, PRM_EVENT_COMM_EST, true));
	assert_true(mlx5_devx_event_ok(&old, PRM_EVENT_DCT_DRAINED, true));
	assert_false(mlx5_devx_event_ok(&old, 0x27, true));
	assert_false(mlx5_devx_event_ok(&old, PRM_EVENT_COMM_EST, false));
	assert_true(mlx5_devx_event_ok(&old, PRM_EVENT_PORT_CHANGE, false));
	assert_false(mlx5_devx_event_ok(&old, PRM_EVENT_PORT_CHANGE, true));
	/* is_valid_events */
	assert_true(mlx5_devx_event_ok(&none, PRM_EVENT_COMP, true));
	assert_false(mlx5_devx_event_ok(&none, PRM_EVENT_COMP, false));
	assert_false(mlx5_devx_event_ok(&none, PRM_EVENT_COMM_EST, true));
	assert_true(mlx5_devx_event_ok(&some, PRM_EVENT_COMM_EST, true));
	assert_true(mlx5_devx_event_ok(&some, 195, true));
	assert_false(mlx5_devx_event_ok(&some, 194, true));
	assert_true(mlx5_devx_event_ok(&some, 65, false));
	assert_false(mlx5_devx_event_ok(&some, 65, true));
	assert_false(mlx5_devx_event_ok(&some, 256 + 2, true));
}

/* get_dec_obj_type */
static void test_keys_are_the_kernels(void **state)
{
#define KEY(maker, event) mlx5_devx_event_key(devx_object(PRM_OP_##maker, 7), event)
	assert_int_equal(KEY(CREATE_QP, PRM_EVENT_COMM_EST), 0x00002);
	assert_int_equal(KEY(CREATE_RMP, PRM_EVENT_SRQ_RQ_LIMIT), 0x10014);
	assert_int_equal(KEY(CREATE_RQ, PRM_EVENT_WQ_CATAS_ERROR), 0x10005);
	assert_int_equal(KEY(CREATE_SQ, PRM_EVENT_WQ_CATAS_ERROR), 0x20005);
	assert_int_equal(KEY(CREATE_DCT, PRM_EVENT_DCT_DRAINED), 0x6001c);
	assert_int_equal(KEY(CREATE_CQ, PRM_EVENT_CQ_ERROR), 0x00004);
	assert_int_equal(KEY(CREATE_CQ, PRM_EVENT_COMP), 0);
	assert_int_equal(KEY(CREATE_XRC_SRQ, PRM_EVENT_SRQ_RQ_LIMIT), 0x00014);
	assert_int_equal(KEY(CREATE_MKEY, 0x27), 0x00027);
	assert_int_equal(KEY(CREATE_QP, 0x27), 0xff020027);
	assert_int_equal(KEY(CREATE_CQ, 0x27), 0xff100027);
	assert_int_equal(mlx5_devx_event_key(UINT64_C(0x000c) << 48 |
						     devx_object(PRM_OP_CREATE_GENERAL_OBJECT, 7),
					     0x27),
			 0x000c0027);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_events_are_read_as_devx_writes_them),
		T(test_without_data_a_cookie_alone),
		T(test_eventfds),
		T(test_only_with_a_uid),
		T(test_a_failed_list_leaves_no_subscription),
		T(test_results_of_queries),
		cmocka_unit_test(test_events_by_capability),
		cmocka_unit_test(test_keys_are_the_kernels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
