/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Every call: its request to the kernel, its result from the kernel's answer, and failures. */
#include <endian.h>
#include <stdlib.h>
#include "devx/test_fake.h"

#define OBJ(m) MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_##m
#define DEVX(m) MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_##m
#define UMEM(m) MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_##m
#define UAR(m) MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_##m
#define CMD_FD MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD, MLX5_IB_METHOD_DEVX_ASYNC_CMD_FD_ALLOC
#define EVENT_FD MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD, MLX5_IB_METHOD_DEVX_ASYNC_EVENT_FD_ALLOC

static uint8_t in[16] = {1, 2, 3}, out[16];
static const uint8_t refused[16] = {0x08, 0, 0, 0, 0x12, 0x34, 0x56, 0x78};

/* Input at attribute `i`, output at the next. */
static void is_in_out(struct ib_uverbs_ioctl_hdr *hdr, unsigned int i, uint16_t id)
{
	assert_int_equal(hdr->num_attrs, i + 2);
	fake_is(hdr, i, id, sizeof(in), (uintptr_t)in);
	fake_is(hdr, i + 1, (uint16_t)(id + 1), sizeof(out), (uintptr_t)out);
	memcpy(out, refused, sizeof(out));
}

static void answer_create(struct ib_uverbs_ioctl_hdr *hdr)
{
	is_in_out(hdr, 1, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN);
	fake_is(hdr, 0, MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE, 0, 0);
	fake_put_handle(hdr, MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE, 77);
}

static void answer_query(struct ib_uverbs_ioctl_hdr *hdr)
{
	fake_is(hdr, 0, MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE, 0, 77);
	is_in_out(hdr, 1, MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN);
}

static void answer_modify(struct ib_uverbs_ioctl_hdr *hdr)
{
	fake_is(hdr, 0, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_HANDLE, 0, 77);
	is_in_out(hdr, 1, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN);
}

static void answer_destroy(struct ib_uverbs_ioctl_hdr *hdr)
{
	assert_int_equal(hdr->num_attrs, 1);
	fake_is(hdr, 0, MLX5_IB_ATTR_DEVX_OBJ_DESTROY_HANDLE, 0, 77);
}

static void answer_general(struct ib_uverbs_ioctl_hdr *hdr)
{
	is_in_out(hdr, 0, MLX5_IB_ATTR_DEVX_OTHER_CMD_IN);
}

static struct mlx5dv_devx_obj *make_obj(struct ibv_context *context)
{
	struct mlx5dv_devx_obj *obj;

	EXPECT({OBJ(CREATE), 0, answer_create});
	obj = mlx5dv_devx_obj_create(context, in, sizeof(in), out, sizeof(out));
	assert_non_null(obj);
	return obj;
}

static void free_obj(struct mlx5dv_devx_obj *obj)
{
	EXPECT({OBJ(DESTROY), 0, answer_destroy});
	assert_int_equal(mlx5dv_devx_obj_destroy(obj), 0);
}

static void test_objects(void **state)
{
	struct ibv_context *context = fake_open();
	struct mlx5dv_devx_obj *obj = make_obj(context);

	EXPECT({OBJ(QUERY), 0, answer_query}, {OBJ(MODIFY), 0, answer_modify},
	       {DEVX(OTHER), 0, answer_general});
	assert_int_equal(mlx5dv_devx_obj_query(obj, in, sizeof(in), out, sizeof(out)), 0);
	assert_int_equal(mlx5dv_devx_obj_modify(obj, in, sizeof(in), out, sizeof(out)), 0);
	assert_int_equal(mlx5dv_devx_general_cmd(context, in, sizeof(in), out, sizeof(out)), 0);
	/* A destroy that fails leaves the object. */
	EXPECT({OBJ(DESTROY), EREMOTEIO, answer_destroy}, {OBJ(DESTROY), EBUSY, answer_destroy});
	assert_int_equal(mlx5dv_devx_obj_destroy(obj), EREMOTEIO);
	assert_int_equal(mlx5dv_devx_obj_destroy(obj), EBUSY);
	free_obj(obj);
	fake_close(context);
}

static void test_refusals_leave_the_outbox(void **state)
{
	struct ibv_context *context = fake_open();
	struct mlx5dv_devx_obj *obj = make_obj(context);
	uint32_t syndrome = 0;

	EXPECT({OBJ(CREATE), EREMOTEIO, answer_create}, {OBJ(QUERY), EREMOTEIO, answer_query},
	       {OBJ(MODIFY), EREMOTEIO, answer_modify}, {DEVX(OTHER), EREMOTEIO, answer_general});
	memset(out, 0, sizeof(out));
	assert_null(mlx5dv_devx_obj_create(context, in, sizeof(in), out, sizeof(out)));
	assert_int_equal(errno, EREMOTEIO);
	assert_memory_equal(out, refused, sizeof(out));
	assert_int_equal(devx_outbox_errno(out, &syndrome), ENOMEM);
	assert_int_equal(syndrome, 0x12345678);
	memset(out, 0, sizeof(out));
	assert_int_equal(mlx5dv_devx_obj_query(obj, in, sizeof(in), out, sizeof(out)), EREMOTEIO);
	assert_memory_equal(out, refused, sizeof(out));
	memset(out, 0, sizeof(out));
	assert_int_equal(mlx5dv_devx_obj_modify(obj, in, sizeof(in), out, sizeof(out)), EREMOTEIO);
	assert_memory_equal(out, refused, sizeof(out));
	memset(out, 0, sizeof(out));
	assert_int_equal(mlx5dv_devx_general_cmd(context, in, sizeof(in), out, sizeof(out)),
			 EREMOTEIO);
	assert_memory_equal(out, refused, sizeof(out));
	free_obj(obj);
	fake_close(context);
}

static void test_status_to_errno(void **state)
{
	static const struct {
		uint8_t status;
		int err;
	} rows[] = {
		{0, 0},        {1, EIO},       {2, EINVAL},    {3, EINVAL},    {4, EIO},
		{5, EINVAL},   {6, EBUSY},     {8, ENOMEM},    {9, EINVAL},    {0xa, EINVAL},
		{0xf, EAGAIN}, {0x10, EINVAL}, {0x30, EINVAL}, {0x40, EINVAL}, {0x50, EIO},
		{0x51, EIO},   {0xff, EIO},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const uint8_t b[8] = {rows[i].status};

		assert_int_equal(devx_outbox_errno(b, NULL), rows[i].err);
	}
}

/* Lengths are 16 bits wide: a longer buffer is refused, not cut. */
static void test_too_long(void **state)
{
	struct ibv_context *context = fake_open();
	struct mlx5dv_devx_obj *obj = make_obj(context);

	EXPECT({DEVX(OTHER)});
	assert_int_equal(mlx5dv_devx_general_cmd(context, in, 65536, out, sizeof(out)), EINVAL);
	assert_int_equal(mlx5dv_devx_general_cmd(context, in, 16, out, 0x10010), EINVAL);
	assert_null(mlx5dv_devx_obj_create(context, in, 65536, out, sizeof(out)));
	assert_int_equal(errno, EINVAL);
	assert_int_equal(mlx5dv_devx_obj_query(obj, in, 16, out, SIZE_MAX), EINVAL);
	assert_int_equal(mlx5dv_devx_general_cmd(context, in, 65535, out, 65535), 0);
	free_obj(obj);
	fake_close(context);
}

static void inline_in(struct ib_uverbs_ioctl_hdr *hdr)
{
	fake_is(hdr, 0, MLX5_IB_ATTR_DEVX_OTHER_CMD_IN, 8, htole64(0x30201));
}

static void empty_in(struct ib_uverbs_ioctl_hdr *hdr)
{
	fake_is(hdr, 0, MLX5_IB_ATTR_DEVX_OTHER_CMD_IN, 0, 0);
	fake_is(hdr, 1, MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT, 0, 0);
}

static void test_short_input_is_inline(void **state)
{
	struct ibv_context *context = fake_open();

	EXPECT({DEVX(OTHER), EINVAL, inline_in}, {DEVX(OTHER), EINVAL, empty_in});
	assert_int_equal(mlx5dv_devx_general_cmd(context, in, 8, out, sizeof(out)), EINVAL);
	assert_int_equal(mlx5dv_devx_general_cmd(context, NULL, 0, NULL, 0), EINVAL);
	fake_close(context);
}

/* Objects may belong to libibverbs: handle and command descriptor are enough. */
static void test_verbs_objects(void **state)
{
	struct ibv_context foreign = {.cmd_fd = FAKE_FD};
	struct ibv_qp qp = {.context = &foreign, .handle = 77};
	struct ibv_cq cq = {.context = &foreign, .handle = 77};
	struct ibv_srq srq = {.context = &foreign, .handle = 77};
	struct ibv_wq wq = {.context = &foreign, .handle = 77};
	struct ibv_rwq_ind_table tbl = {.context = &foreign, .ind_tbl_handle = 77};

	fake_reset();
	EXPECT({OBJ(QUERY), 1, answer_query}, {OBJ(QUERY), 2, answer_query},
	       {OBJ(QUERY), 3, answer_query}, {OBJ(QUERY), 4, answer_query},
	       {OBJ(QUERY), 5, answer_query});
	assert_int_equal(mlx5dv_devx_qp_query(&qp, in, sizeof(in), out, sizeof(out)), 1);
	assert_int_equal(mlx5dv_devx_cq_query(&cq, in, sizeof(in), out, sizeof(out)), 2);
	assert_int_equal(mlx5dv_devx_srq_query(&srq, in, sizeof(in), out, sizeof(out)), 3);
	assert_int_equal(mlx5dv_devx_wq_query(&wq, in, sizeof(in), out, sizeof(out)), 4);
	assert_int_equal(mlx5dv_devx_ind_tbl_query(&tbl, in, sizeof(in), out, sizeof(out)), 5);
	EXPECT({OBJ(MODIFY), 1, answer_modify}, {OBJ(MODIFY), 2, answer_modify},
	       {OBJ(MODIFY), 3, answer_modify}, {OBJ(MODIFY), 4, answer_modify},
	       {OBJ(MODIFY), 5, answer_modify});
	assert_int_equal(mlx5dv_devx_qp_modify(&qp, in, sizeof(in), out, sizeof(out)), 1);
	assert_int_equal(mlx5dv_devx_cq_modify(&cq, in, sizeof(in), out, sizeof(out)), 2);
	assert_int_equal(mlx5dv_devx_srq_modify(&srq, in, sizeof(in), out, sizeof(out)), 3);
	assert_int_equal(mlx5dv_devx_wq_modify(&wq, in, sizeof(in), out, sizeof(out)), 4);
	assert_int_equal(mlx5dv_devx_ind_tbl_modify(&tbl, in, sizeof(in), out, sizeof(out)), 5);
	fake_done();
}

static void answer_eqn(struct ib_uverbs_ioctl_hdr *hdr)
{
	uint32_t eqn = 12;

	assert_int_equal(hdr->num_attrs, 2);
	fake_is(hdr, 0, MLX5_IB_ATTR_DEVX_QUERY_EQN_USER_VEC, 4, 5);
	fake_put(hdr, MLX5_IB_ATTR_DEVX_QUERY_EQN_DEV_EQN, &eqn, sizeof(eqn));
}

static void test_query_eqn(void **state)
{
	struct ibv_context *context = fake_open();
	uint32_t eqn = 0;

	EXPECT({DEVX(QUERY_EQN), 0, answer_eqn}, {DEVX(QUERY_EQN), ENOENT});
	assert_int_equal(mlx5dv_devx_query_eqn(context, 5, &eqn), 0);
	assert_int_equal(eqn, 12);
	assert_int_equal(mlx5dv_devx_query_eqn(context, 99, &eqn), ENOENT);
	fake_close(context);
}

/* ---- umems ---- */

static void umem_out(struct ib_uverbs_ioctl_hdr *hdr, unsigned int i)
{
	uint32_t id = 9;

	assert_int_equal(hdr->num_attrs, i + 2);
	fake_is_attr(hdr, i, MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, 4);
	fake_is(hdr, i + 1, MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE, 0, 0);
	fake_is(hdr, 0, MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR, 8, (uintptr_t)out);
	fake_is(hdr, 1, MLX5_IB_ATTR_DEVX_UMEM_REG_LEN, 8, sizeof(out));
	fake_is(hdr, 2, MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS, 4, 7);
	fake_put(hdr, MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, &id, sizeof(id));
	fake_put_handle(hdr, MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE, 88);
}

static void answer_umem(struct ib_uverbs_ioctl_hdr *hdr)
{
	umem_out(hdr, 4);
	assert_int_equal(hdr->attrs[3].attr_id, MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP);
	assert_int_equal(hdr->attrs[3].len, 8);
	assert_int_equal(hdr->attrs[3].flags, 0);
	assert_int_equal(hdr->attrs[3].data, ~UINT64_C(0xfff));
}

static void answer_umem_ex(struct ib_uverbs_ioctl_hdr *hdr)
{
	umem_out(hdr, 4);
	fake_is(hdr, 3, MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP, 8, 0x3000);
}

static void answer_umem_dmabuf(struct ib_uverbs_ioctl_hdr *hdr)
{
	umem_out(hdr, 5);
	fake_is(hdr, 3, MLX5_IB_ATTR_DEVX_UMEM_REG_DMABUF_FD, 0, 6);
	fake_is(hdr, 4, MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP, 8, 0x3000);
}

static void answer_dereg(struct ib_uverbs_ioctl_hdr *hdr)
{
	assert_int_equal(hdr->num_attrs, 1);
	fake_is(hdr, 0, MLX5_IB_ATTR_DEVX_UMEM_DEREG_HANDLE, 0, 88);
}

static void test_umems(void **state)
{
	struct mlx5dv_devx_umem_in ex = {.addr = out,
					 .size = sizeof(out),
					 .access = 7,
					 .pgsz_bitmap = 0x3000,
					 .dmabuf_fd = 6};
	struct ibv_context *context = fake_open();
	struct mlx5dv_devx_umem *u[3];

	EXPECT({UMEM(REG), 0, answer_umem}, {UMEM(REG), 0, answer_umem_ex},
	       {UMEM(REG), 0, answer_umem_dmabuf}, {UMEM(REG), EFAULT, answer_umem});
	u[0] = mlx5dv_devx_umem_reg(context, out, sizeof(out), 7);
	u[1] = mlx5dv_devx_umem_reg_ex(context, &ex);
	ex.comp_mask = MLX5DV_UMEM_MASK_DMABUF;
	u[2] = mlx5dv_devx_umem_reg_ex(context, &ex);
	assert_null(mlx5dv_devx_umem_reg(context, out, sizeof(out), 7));
	assert_int_equal(errno, EFAULT);
	ex.dmabuf_fd = -1;
	assert_null(mlx5dv_devx_umem_reg_ex(context, &ex));
	assert_int_equal(errno, EBADF);
	ex.comp_mask = 2;
	assert_null(mlx5dv_devx_umem_reg_ex(context, &ex));
	assert_int_equal(errno, EOPNOTSUPP);
	for (int i = 0; i < 3; i++) {
		assert_non_null(u[i]);
		assert_int_equal(u[i]->umem_id, 9);
		EXPECT({UMEM(DEREG), EBUSY, answer_dereg}, {UMEM(DEREG), 0, answer_dereg});
		assert_int_equal(mlx5dv_devx_umem_dereg(u[i]), EBUSY);
		assert_int_equal(mlx5dv_devx_umem_dereg(u[i]), 0);
	}
	fake_close(context);
}

/* ---- UARs ---- */

static uint64_t uar_type;

static void answer_uar(struct ib_uverbs_ioctl_hdr *hdr)
{
	uint64_t offset = 0x123000;
	uint32_t length = 4096, id = 41;

	assert_int_equal(hdr->num_attrs, 5);
	fake_is(hdr, 0, MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, 0, 0);
	fake_is(hdr, 1, MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, 8, uar_type);
	fake_is_attr(hdr, 2, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, 8);
	fake_is_attr(hdr, 3, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, 4);
	fake_is_attr(hdr, 4, MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, 4);
	fake_put_handle(hdr, MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, 71);
	fake_put(hdr, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, &offset, sizeof(offset));
	fake_put(hdr, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, &length, sizeof(length));
	fake_put(hdr, MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, &id, sizeof(id));
}

static void answer_uar_destroy(struct ib_uverbs_ioctl_hdr *hdr)
{
	assert_int_equal(hdr->num_attrs, 1);
	fake_is(hdr, 0, MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE, 0, 71);
}

static void test_bf_registers_come_from_a_list(void **state)
{
	struct ibv_context *context = fake_open();
	struct mlx5dv_devx_uar *u[3];

	uar_type = MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF;
	EXPECT({UAR(ALLOC), 0, answer_uar});
	u[0] = mlx5dv_devx_alloc_uar(context, uar_type);
	u[1] = mlx5dv_devx_alloc_uar(context, uar_type);
	assert_ptr_equal((char *)u[0]->base_addr + 0x800, u[0]->reg_addr);
	assert_ptr_equal((char *)u[1]->base_addr + 0x800 + 512, u[1]->reg_addr);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(u[i]->page_id, 41);
		assert_int_equal(u[i]->mmap_off, 0x123000);
		assert_int_equal(u[i]->comp_mask, 0);
	}
	mlx5dv_devx_free_uar(u[1]);
	mlx5dv_devx_free_uar(u[0]);
	assert_ptr_equal(mlx5dv_devx_alloc_uar(context, uar_type), u[1]);
	assert_ptr_equal(mlx5dv_devx_alloc_uar(context, uar_type), u[0]);
	EXPECT({UAR(ALLOC), ENOMEM, answer_uar}, {UAR(ALLOC), 0, answer_uar});
	assert_null(mlx5dv_devx_alloc_uar(context, uar_type));
	assert_int_equal(errno, ENOMEM);
	u[2] = mlx5dv_devx_alloc_uar(context, uar_type);
	assert_non_null(u[2]);
	assert_int_equal(fake.maps, 3);
	EXPECT({UAR(DESTROY), 0, answer_uar_destroy}, {UAR(DESTROY), 0, answer_uar_destroy},
	       {UAR(DESTROY)});
	assert_int_equal(devx_close(context), 0);
	fake_done();
	fake_sysfs_remove();
}

static void test_nc_is_shared_or_dedicated(void **state)
{
	struct ibv_context *context = fake_open();
	struct mlx5dv_devx_uar *nc, *own;

	nc = mlx5dv_devx_alloc_uar(context, MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC);
	assert_non_null(nc);
	assert_int_equal(nc->page_id, 40);
	assert_ptr_equal((char *)nc->base_addr + 0x800, nc->reg_addr);
	mlx5dv_devx_free_uar(nc);
	assert_ptr_equal(mlx5dv_devx_alloc_uar(context, MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC), nc);
	uar_type = MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC;
	EXPECT({UAR(ALLOC), 0, answer_uar});
	own = mlx5dv_devx_alloc_uar(context, MLX5DV_UAR_ALLOC_TYPE_NC_DEDICATED);
	assert_non_null(own);
	assert_int_equal(own->page_id, 41);
	EXPECT({UAR(DESTROY), 0, answer_uar_destroy});
	mlx5dv_devx_free_uar(own);
	assert_int_equal(fake.maps, 1);
	assert_null(mlx5dv_devx_alloc_uar(context, 2));
	assert_int_equal(errno, EOPNOTSUPP);
	fake_close(context);
}

static void test_uar_that_cannot_be_mapped(void **state)
{
	struct ibv_context *context = fake_open();

	uar_type = MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF;
	fake.mmap_err = EAGAIN;
	EXPECT({UAR(ALLOC), 0, answer_uar}, {UAR(DESTROY), 0, answer_uar_destroy});
	assert_null(mlx5dv_devx_alloc_uar(context, uar_type));
	assert_int_equal(errno, EAGAIN);
	fake_close(context);
}

static void test_uars_of_another_library(void **state)
{
	struct ibv_context foreign = {.cmd_fd = FAKE_FD};

	fake_reset();
	for (uar_type = 0; uar_type < 2; uar_type++) {
		struct mlx5dv_devx_uar *uar;

		EXPECT({UAR(ALLOC), 0, answer_uar});
		uar = mlx5dv_devx_alloc_uar(&foreign, (uint32_t)uar_type);
		assert_non_null(uar);
		EXPECT({UAR(DESTROY), 0, answer_uar_destroy});
		mlx5dv_devx_free_uar(uar);
	}
	fake_done();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_objects),
		cmocka_unit_test(test_refusals_leave_the_outbox),
		cmocka_unit_test(test_status_to_errno),
		cmocka_unit_test(test_too_long),
		cmocka_unit_test(test_short_input_is_inline),
		cmocka_unit_test(test_verbs_objects),
		cmocka_unit_test(test_query_eqn),
		cmocka_unit_test(test_umems),
		cmocka_unit_test(test_bf_registers_come_from_a_list),
		cmocka_unit_test(test_nc_is_shared_or_dedicated),
		cmocka_unit_test(test_uar_that_cannot_be_mapped),
		cmocka_unit_test(test_uars_of_another_library),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
