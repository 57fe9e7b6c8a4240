/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finding and opening devices. */
#include <stdlib.h>
#include <rdma/mlx5-abi.h>
#include "devx/test_fake.h"

#define CONTEXT UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT
#define UAR MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_ALLOC

static const struct fake_device devices[] = {
	{"uverbs10", "mlx5_b", "231:202", "1", "0x15b3", "0x1021"},
	{"uverbs2", "mlx5_a", "231:194", "1", "0x15b3", "0xa2d6"},
	{"uverbs3", "sf", "231:195", "1", NULL, NULL, "auxiliary/drivers/mlx5_core.sf"},
	{"uverbs4", "mlx4_0", "231:196", "4", "0x15b3", "0x1007"},
	{"uverbs5", "mthca0", "231:197", "1", "0x15b3", "0x6282"},
	{"uverbs6", "siw0", "231:198", "1", NULL, NULL, NULL},
	{"uverbs8", "hfi1_0", "231:200", "1", "0x15b3", "0x101b", "pci/drivers/hfi1"},
	{"uverbs9", "no_node", "231:201", "1", "0x15b3", "0x101b"},
	{"uverbs11", NULL, "231:203", "1", NULL, NULL},
	{"uverbs", "no_number", "231:204", "1", "0x15b3", "0x101b"},
};

static void test_list_has_the_mlx5_devices_in_order(void **state)
{
	struct ibv_device **list;
	int n = -1;

	fake_reset();
	fake_sysfs("6", devices, sizeof(devices) / sizeof(devices[0]));
	list = devx_get_device_list(&n);
	assert_non_null(list);
	assert_int_equal(n, 3);
	assert_string_equal(list[0]->name, "mlx5_a");
	assert_string_equal(list[0]->dev_name, "uverbs2");
	assert_string_equal(list[1]->name, "sf");
	assert_string_equal(list[2]->name, "mlx5_b");
	assert_null(list[3]);
	assert_true(mlx5dv_is_supported(list[0]));
	devx_free_device_list(list);
	fake_sysfs_remove();
}

static void test_list_may_be_empty(void **state)
{
	struct ibv_device **list;
	int n = -1;

	fake_reset();
	fake_sysfs("6", devices + 3, 4);
	list = devx_get_device_list(&n);
	assert_non_null(list);
	assert_int_equal(n, 0);
	assert_null(list[0]);
	devx_free_device_list(list);
	assert_null(devx_open("", 0));
	assert_int_equal(errno, ENODEV);
	fake_sysfs_remove();
}

static void test_list_without_rdma(void **state)
{
	fake_reset();
	fake_sysfs(NULL, NULL, 0);
	assert_null(devx_get_device_list(NULL));
	assert_int_equal(errno, ENOSYS);
	assert_null(devx_open(NULL, 0));
	assert_int_equal(errno, ENOSYS);
	fake_sysfs_remove();
	fake_sysfs("7", devices, 1);
	assert_null(devx_get_device_list(NULL));
	assert_int_equal(errno, EPROTONOSUPPORT);
	fake_sysfs_remove();
	devx_free_device_list(NULL);
}

static void test_list_without_memory(void **state)
{
	fake_reset();
	fake_sysfs("6", devices, 3);
	for (int i = 0; i < 4; i++) {
		fake.fail_calloc = i;
		errno = 0;
		assert_null(devx_get_device_list(NULL));
		assert_int_equal(errno, ENOMEM);
	}
	fake_sysfs_remove();
}

static const struct mlx5_ib_alloc_ucontext_req_v2 *request(const struct ib_uverbs_ioctl_hdr *hdr,
							   uint16_t len)
{
	assert_int_equal(hdr->num_attrs, 4);
	fake_is_attr(hdr, 0, UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, 4);
	fake_is_attr(hdr, 1, UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, 8);
	fake_is_attr(hdr, 2, UVERBS_ATTR_UHW_IN, len);
	fake_is_attr(hdr, 3, UVERBS_ATTR_UHW_OUT, sizeof(struct mlx5_ib_alloc_ucontext_resp));
	return (const void *)(uintptr_t)hdr->attrs[2].data;
}

static void wants_devx(struct ib_uverbs_ioctl_hdr *hdr)
{
	const struct mlx5_ib_alloc_ucontext_req_v2 *req = request(hdr, 32);
	uint32_t vectors = 3;

	assert_int_equal(req->total_num_bfregs, 16);
	assert_int_equal(req->num_low_latency_bfregs, 4);
	assert_int_equal(req->flags, MLX5_IB_ALLOC_UCTX_DEVX);
	assert_int_equal(req->max_cqe_version, 1);
	assert_int_equal(req->lib_caps, MLX5_LIB_CAP_4K_UAR | MLX5_LIB_CAP_DYN_UAR);
	fake_put(hdr, UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, &vectors, 4);
}

static void wants_devx_24(struct ib_uverbs_ioctl_hdr *hdr)
{
	assert_int_equal(request(hdr, 24)->flags, MLX5_IB_ALLOC_UCTX_DEVX);
}

static void wants_devx_16(struct ib_uverbs_ioctl_hdr *hdr)
{
	assert_int_equal(request(hdr, 16)->flags, MLX5_IB_ALLOC_UCTX_DEVX);
}

static void wants_plain(struct ib_uverbs_ioctl_hdr *hdr)
{
	assert_int_equal(request(hdr, 32)->flags, 0);
}

static void test_open(void **state)
{
	struct ibv_context *context;

	fake_reset();
	fake_sysfs_one();
	for (int i = 0; i < 2; i++) {
		/* Kernels without dynamic UARs: there is a context, but no UAR in it. */
		EXPECT({CONTEXT, 0, wants_devx}, {UAR, EPROTONOSUPPORT});
		context = devx_open(i ? "uverbs7" : "mlx5_3", MLX5DV_CONTEXT_FLAGS_DEVX);
		assert_non_null(context);
		assert_string_equal(context->device->name, "mlx5_3");
		assert_int_equal(context->cmd_fd, FAKE_FD);
		assert_int_equal(context->async_fd, -1);
		assert_int_equal(context->num_comp_vectors, 3);
		assert_null(mlx5dv_devx_alloc_uar(context, MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC));
		assert_int_equal(errno, EOPNOTSUPP);
		assert_int_equal(devx_close(context), 0);
		fake_done();
	}
	assert_null(devx_open("mlx5_33", 0));
	assert_int_equal(errno, ENODEV);
	fake_sysfs_remove();
}

static void test_shorter_requests_for_older_kernels(void **state)
{
	struct ibv_context *context;

	fake_reset();
	fake_sysfs_one();
	EXPECT({CONTEXT, EOPNOTSUPP, wants_devx}, {CONTEXT, 0, wants_devx_24}, {UAR, ENOMEM});
	context = devx_open(NULL, MLX5DV_CONTEXT_FLAGS_DEVX);
	assert_non_null(context);
	assert_int_equal(devx_close(context), 0);
	EXPECT({CONTEXT, EOPNOTSUPP, wants_devx}, {CONTEXT, EOPNOTSUPP, wants_devx_24},
	       {CONTEXT, 0, wants_devx_16}, {UAR, ENOMEM});
	context = devx_open(NULL, MLX5DV_CONTEXT_FLAGS_DEVX);
	assert_non_null(context);
	assert_int_equal(devx_close(context), 0);
	fake_done();
	fake_sysfs_remove();
}

static void test_devx_is_wanted_or_tried(void **state)
{
	struct ibv_context *context;

	fake_reset();
	fake_sysfs_one();
	EXPECT({CONTEXT, EINVAL, wants_devx}, {CONTEXT, EINVAL}, {CONTEXT, EPERM});
	assert_null(devx_open(NULL, MLX5DV_CONTEXT_FLAGS_DEVX));
	assert_int_equal(errno, EPERM);
	EXPECT({CONTEXT, EINVAL, wants_devx}, {CONTEXT, EINVAL}, {CONTEXT, EINVAL},
	       {CONTEXT, 0, wants_plain}, {UAR, ENOMEM});
	context = devx_open(NULL, 0);
	assert_non_null(context);
	assert_int_equal(devx_close(context), 0);
	EXPECT({CONTEXT, EINVAL}, {CONTEXT, EINVAL}, {CONTEXT, EINVAL}, {CONTEXT, EINVAL},
	       {CONTEXT, EINVAL}, {CONTEXT, ENOMEM});
	assert_null(devx_open(NULL, 0));
	assert_int_equal(errno, ENOMEM);
	fake_done();
	fake_sysfs_remove();
}

static void test_open_refusals(void **state)
{
	struct mlx5dv_context_attr attr = {.comp_mask = 1};
	struct ibv_device other = {.name = "mlx4_0", .dev_path = "/nonexistent"}, **list;
	struct ibv_context foreign = {.cmd_fd = FAKE_FD};

	fake_reset();
	fake_sysfs_one();
	list = devx_get_device_list(NULL);
	assert_null(mlx5dv_open_device(list[0], &attr));
	assert_int_equal(errno, EINVAL);
	assert_null(devx_open(NULL, 2));
	assert_int_equal(errno, EINVAL);
	assert_false(mlx5dv_is_supported(&other));
	assert_null(mlx5dv_open_device(&other, NULL));
	assert_int_equal(errno, EOPNOTSUPP);
	fake.open_err = EACCES;
	assert_null(mlx5dv_open_device(list[0], NULL));
	assert_int_equal(errno, EACCES);
	fake.open_err = 0;
	fake.rdev = 1;
	assert_null(mlx5dv_open_device(list[0], NULL));
	assert_int_equal(errno, ENODEV);
	fake.fail_calloc = 0;
	assert_null(mlx5dv_open_device(list[0], NULL));
	assert_int_equal(errno, ENOMEM);
	assert_int_equal(devx_close(&foreign), EINVAL);
	devx_free_device_list(list);
	fake_done();
	fake_sysfs_remove();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_list_has_the_mlx5_devices_in_order),
		cmocka_unit_test(test_list_may_be_empty),
		cmocka_unit_test(test_list_without_rdma),
		cmocka_unit_test(test_list_without_memory),
		cmocka_unit_test(test_open),
		cmocka_unit_test(test_shorter_requests_for_older_kernels),
		cmocka_unit_test(test_devx_is_wanted_or_tried),
		cmocka_unit_test(test_open_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
