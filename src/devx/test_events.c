/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Readable descriptors: asynchronous queries, events; and every call when memory is short. */
#include "devx/obj.h"
#include "devx/test_fake.h"

#define OBJ(m) MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_##m
#define DEVX(m) MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_##m
#define CMD_FD MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD, MLX5_IB_METHOD_DEVX_ASYNC_CMD_FD_ALLOC
#define EVENT_FD MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD, MLX5_IB_METHOD_DEVX_ASYNC_EVENT_FD_ALLOC

static uint8_t in[16];
static uint16_t events[5] = {0x13, 0x14, 0x05, 0x06, 0x07};

static void answer_cmd_fd(struct ib_uverbs_ioctl_hdr *hdr)
{
	assert_int_equal(hdr->num_attrs, 1);
	fake_is(hdr, 0, MLX5_IB_ATTR_DEVX_ASYNC_CMD_FD_ALLOC_HANDLE, 0, 0);
	fake_put_handle(hdr, MLX5_IB_ATTR_DEVX_ASYNC_CMD_FD_ALLOC_HANDLE, FAKE_NEW_FD);
	fake.fds++;
}

static void answer_async(struct ib_uverbs_ioctl_hdr *hdr)
{
	assert_int_equal(hdr->num_attrs, 5);
	fake_is(hdr, 0, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_HANDLE, 0, 77);
	fake_is(hdr, 1, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_CMD_IN, sizeof(in), (uintptr_t)in);
	fake_is(hdr, 2, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_OUT_LEN, 8, 0x110);
	fake_is(hdr, 3, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_WR_ID, 8, 0xfedcba9876543210);
	fake_is(hdr, 4, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_FD, 0, FAKE_NEW_FD);
}

static void test_asynchronous_queries(void **state)
{
	struct ibv_context *context = fake_open();
	struct mlx5dv_devx_obj obj = {context, 77};
	struct mlx5dv_devx_cmd_comp *comp;

	EXPECT({CMD_FD, EMFILE});
	assert_null(mlx5dv_devx_create_cmd_comp(context));
	assert_int_equal(errno, EMFILE);
	EXPECT({CMD_FD, 0, answer_cmd_fd}, {OBJ(ASYNC_QUERY), 0, answer_async},
	       {OBJ(ASYNC_QUERY), EAGAIN, answer_async});
	comp = mlx5dv_devx_create_cmd_comp(context);
	assert_non_null(comp);
	assert_int_equal(comp->fd, FAKE_NEW_FD);
	for (int i = 0; i < 2; i++)
		assert_int_equal(mlx5dv_devx_obj_query_async(&obj, in, sizeof(in), 0x110,
							     0xfedcba9876543210, comp),
				 i ? EAGAIN : 0);
	mlx5dv_devx_destroy_cmd_comp(comp);
	fake_close(context);
}

static void test_reading_a_completion(void **state)
{
	static const struct {
		long n;
		int err;
	} rows[] = {
		{24, 0},           {8, 0},      {7, EINVAL}, {0, EINVAL}, {-ENOSPC, ENOSPC},
		{-EAGAIN, EAGAIN}, {-EIO, EIO},
	};
	union {
		struct mlx5dv_devx_async_cmd_hdr hdr;
		uint8_t bytes[24];
	} resp, record = {.hdr.wr_id = 0x1122334455667788};
	struct mlx5dv_devx_cmd_comp comp = {.fd = FAKE_NEW_FD};

	fake_reset();
	fake.read = &record;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fake.read_len = rows[i].n;
		memset(&resp, 0, sizeof(resp));
		assert_int_equal(mlx5dv_devx_get_async_cmd_comp(&comp, &resp.hdr, sizeof(resp)),
				 rows[i].err);
		assert_int_equal(fake.read_size, sizeof(resp));
		if (!rows[i].err)
			assert_int_equal(resp.hdr.wr_id, record.hdr.wr_id);
	}
	fake.read = NULL;
}

static void answer_event_fd(struct ib_uverbs_ioctl_hdr *hdr)
{
	assert_int_equal(hdr->num_attrs, 2);
	fake_is(hdr, 0, MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_HANDLE, 0, 0);
	fake_is(hdr, 1, MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_FLAGS, 4, 1);
	fake_put_handle(hdr, MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_HANDLE, FAKE_NEW_FD);
	fake.fds++;
}

static struct mlx5dv_devx_event_channel *make_channel(struct ibv_context *context)
{
	struct mlx5dv_devx_event_channel *ch;

	EXPECT({EVENT_FD, 0, answer_event_fd});
	ch = mlx5dv_devx_create_event_channel(context, MLX5_IB_UAPI_DEVX_CR_EV_CH_FLAGS_OMIT_DATA);
	assert_non_null(ch);
	assert_int_equal(ch->fd, FAKE_NEW_FD);
	return ch;
}

static void subscribe_object(struct ib_uverbs_ioctl_hdr *hdr)
{
	assert_int_equal(hdr->num_attrs, 4);
	fake_is(hdr, 0, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_HANDLE, 0, FAKE_NEW_FD);
	fake_is(hdr, 1, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_COOKIE, 8, 0xabcdef0123456789);
	fake_is(hdr, 2, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_OBJ_HANDLE, 0, 77);
	fake_is(hdr, 3, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_TYPE_NUM_LIST, sizeof(events),
		(uintptr_t)events);
}

static void subscribe_device(struct ib_uverbs_ioctl_hdr *hdr)
{
	assert_int_equal(hdr->num_attrs, 3);
	fake_is(hdr, 1, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_COOKIE, 8, 1);
	/* The attribute has two event numbers. */
	fake_is_attr(hdr, 2, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_TYPE_NUM_LIST, 4);
	assert_memory_equal(&hdr->attrs[2].data, events, 4);
}

static void subscribe_eventfd(struct ib_uverbs_ioctl_hdr *hdr)
{
	assert_int_equal(hdr->num_attrs, 4);
	fake_is(hdr, 0, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_HANDLE, 0, FAKE_NEW_FD);
	fake_is(hdr, 1, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_OBJ_HANDLE, 0, 77);
	fake_is(hdr, 2, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_TYPE_NUM_LIST, 2, 0x13);
	fake_is(hdr, 3, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_NUM, 4, 5);
}

static void subscribe_eventfd_device(struct ib_uverbs_ioctl_hdr *hdr)
{
	assert_int_equal(hdr->num_attrs, 3);
	fake_is(hdr, 2, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_NUM, 4, 0xffffffff);
}

static void test_subscriptions(void **state)
{
	struct ibv_context *context = fake_open();
	struct mlx5dv_devx_event_channel *ch = make_channel(context);
	struct mlx5dv_devx_obj obj = {context, 77};

	EXPECT({DEVX(SUBSCRIBE_EVENT), 0, subscribe_object},
	       {DEVX(SUBSCRIBE_EVENT), EINVAL, subscribe_device},
	       {DEVX(SUBSCRIBE_EVENT), 0, subscribe_eventfd},
	       {DEVX(SUBSCRIBE_EVENT), EBADF, subscribe_eventfd_device});
	assert_int_equal(mlx5dv_devx_subscribe_devx_event(ch, &obj, sizeof(events), events,
							  0xabcdef0123456789),
			 0);
	assert_int_equal(mlx5dv_devx_subscribe_devx_event(ch, NULL, 4, events, 1), EINVAL);
	assert_int_equal(mlx5dv_devx_subscribe_devx_event_fd(ch, 5, &obj, 0x13), 0);
	assert_int_equal(mlx5dv_devx_subscribe_devx_event_fd(ch, -1, NULL, 0x13), EBADF);
	mlx5dv_devx_destroy_event_channel(ch);
	EXPECT({EVENT_FD, EINVAL});
	assert_null(mlx5dv_devx_create_event_channel(context, 0));
	assert_int_equal(errno, EINVAL);
	fake_close(context);
}

static void test_reading_an_event(void **state)
{
	static const struct {
		long n;
		ssize_t result;
		int err;
	} rows[] = {
		{72, 72, 0},
		{8, 8, 0},
		{7, -1, EINVAL},
		{0, -1, EINVAL},
		{-EOVERFLOW, -1, EOVERFLOW},
		{-EAGAIN, -1, EAGAIN},
		{-EIO, -1, EIO},
	};
	union {
		struct mlx5dv_devx_async_event_hdr hdr;
		uint8_t bytes[72];
	} event, record = {.hdr.cookie = 0x1122334455667788};
	struct mlx5dv_devx_event_channel ch = {.fd = FAKE_NEW_FD};

	fake_reset();
	fake.read = &record;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fake.read_len = rows[i].n;
		memset(&event, 0, sizeof(event));
		errno = 0;
		assert_int_equal(mlx5dv_devx_get_event(&ch, &event.hdr, sizeof(event)),
				 rows[i].result);
		assert_int_equal(errno, rows[i].err);
		assert_int_equal(fake.read_size, sizeof(event));
		if (!rows[i].err)
			assert_int_equal(event.hdr.cookie, record.hdr.cookie);
	}
	fake.read = NULL;
}

/*
 * A call that makes an object allocates memory first: if that fails, it does not call the kernel.
 */
static void test_without_memory(void **state)
{
	struct ibv_context *context = fake_open();

#define SHORT(call)                              \
	do {                                     \
		fake.fail_calloc = 0;            \
		errno = 0;                       \
		assert_null(call);               \
		assert_int_equal(errno, ENOMEM); \
	} while (0)
	SHORT(mlx5dv_devx_obj_create(context, in, sizeof(in), in, sizeof(in)));
	SHORT(mlx5dv_devx_umem_reg(context, in, sizeof(in), 0));
	SHORT(mlx5dv_devx_alloc_uar(context, MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF));
	SHORT(mlx5dv_devx_alloc_uar(context, MLX5DV_UAR_ALLOC_TYPE_NC_DEDICATED));
	SHORT(mlx5dv_devx_create_cmd_comp(context));
	SHORT(mlx5dv_devx_create_event_channel(context, 0));
#undef SHORT
	fake_close(context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_asynchronous_queries),
		cmocka_unit_test(test_reading_a_completion),
		cmocka_unit_test(test_subscriptions),
		cmocka_unit_test(test_reading_an_event),
		cmocka_unit_test(test_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
