/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shared by the tests of this folder: an HCA in its own segment with the real firmware, a command
 * file opened through uverbs, and system calls on that file.
 */
#ifndef SOFTHCA_MLX5_TEST_H
#define SOFTHCA_MLX5_TEST_H

#include <stdint.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <rdma/mlx5-abi.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>
#include <rdma/rdma_user_ioctl.h>
#include "fabric/fabric.h"
#include "fw/fw.h"
#include "hw/hca.h"
#include "mlx5/mlx5.h"
#include "segment/proc.h"
#include "subnet/subnet.h"
#include "util/cleanup.h"
#include "util/test_cmocka.h"
#include "uverbs/priv.h" /* uv_api_destroy */
#include "wire/prm/cmd_hdr.h"

#define TEST_PORTS 2

struct test_env {
	struct seg seg;
	struct uv_system sys;
	uint32_t hca;
	struct uv_file *f;
	uint32_t file;
};

/* The last request to the fake mapper; one test at a time. */
static struct {
	uint32_t uar;
	bool mapped;
	int calls;
} test_map;

static void *test_uar_mmap(void *addr, size_t len, int prot, int flags, uint32_t uar, int *err)
{
	test_map.uar = uar;
	test_map.mapped = true;
	test_map.calls++;
	return (void *)(uintptr_t)0x10000;
}

static bool test_uar_mapped(uint32_t uar)
{
	return test_map.mapped && uar == test_map.uar;
}

static inline uint32_t test_file_new(struct test_env *e, struct uv_file **f)
{
	struct seg_file *sf;
	uint32_t i;

	assert_int_equal(seg_alloc(&e->seg, SEG_T_FILE, SEG_OWNER_DEVICE, &i), 0);
	sf = seg_file(&e->seg, i);
	sf->kind = SEG_FILE_UVERBS;
	sf->hca = e->hca;
	assert_int_equal(uv_open(&e->sys, e->hca, i, sf->gen, f), 0);
	return i;
}

static inline int test_setup_on(void **state, enum hw_link link)
{
	const struct hw_caps *c = fw_caps(HW_CX6);
	const struct fab_options o = {.hosts = 1,
				      .hcas = 1,
				      .ports = TEST_PORTS,
				      .model = HW_CX6,
				      .caps = *c,
				      .link = link,
				      .if_mtu = 4200};
	struct test_env *e = calloc(1, sizeof(*e));

	assert_int_equal(seg_create(&e->seg, "test"), 0);
	assert_int_equal(seg_proc_register_self(&e->seg, 0), 0);
	assert_int_equal(fab_create(&e->seg, &o), 0);
	e->hca = seg_next(&e->seg, SEG_T_HCA, SEG_OWNER_ANY, 0);
	assert_int_equal(fw_hca_init(&e->seg, e->hca), 0);
	e->sys.seg = &e->seg;
	e->sys.driver = &mlx5_driver;
	e->sys.uar_mmap = test_uar_mmap;
	e->sys.uar_mapped = test_uar_mapped;
	memset(&test_map, 0, sizeof(test_map));
	e->file = test_file_new(e, &e->f);
	*state = e;
	return 0;
}

static inline int test_setup(void **state)
{
	return test_setup_on(state, HW_LINK_IB);
}

static inline int test_setup_eth(void **state)
{
	return test_setup_on(state, HW_LINK_ETH);
}

static inline int test_teardown(void **state)
{
	struct test_env *e = *state;

	uv_release(e->f, true);
	uv_api_destroy(e->sys.api);
	seg_unmap(&e->seg);
	free(e);
	return 0;
}

/* How many elements of a table the file owns. */
static inline unsigned int test_owned(struct test_env *e, enum seg_table_id t)
{
	unsigned int n = 0;

	seg_for_each_owned (&e->seg, t, e->file + 1, i)
		n++;
	return n;
}

/* ---- one ioctl */

struct test_call {
	struct { /* struct ib_uverbs_ioctl_hdr, without its flexible end */
		uint16_t length, object_id, method_id, num_attrs;
		uint64_t reserved1;
		uint32_t driver_id, reserved2;
	} hdr;
	struct ib_uverbs_attr attrs[12];
};
static_assert(offsetof(struct test_call, attrs) == sizeof(struct ib_uverbs_ioctl_hdr),
	      "attributes follow the header");

static inline struct ib_uverbs_attr *test_attr(struct test_call *c, uint16_t id, uint16_t len,
					       uint64_t data)
{
	struct ib_uverbs_attr *a = &c->attrs[c->hdr.num_attrs++];

	assert_true(c->hdr.num_attrs <= ARRAY_SIZE(c->attrs));
	*a = (struct ib_uverbs_attr){
		.attr_id = id, .len = len, .flags = UVERBS_ATTR_F_MANDATORY, .data = data};
	return a;
}

static inline void test_begin(struct test_call *c, uint16_t object, uint16_t method)
{
	memset(c, 0, sizeof(*c));
	c->hdr.object_id = object;
	c->hdr.method_id = method;
	c->hdr.driver_id = RDMA_DRIVER_MLX5;
}

static inline void test_in(struct test_call *c, uint16_t id, const void *p, size_t len)
{
	uint64_t data = 0;

	if (len <= sizeof(data))
		memcpy(&data, p, len);
	else
		data = (uintptr_t)p;
	test_attr(c, id, (uint16_t)len, data);
}

static inline void test_out(struct test_call *c, uint16_t id, void *p, size_t len)
{
	test_attr(c, id, (uint16_t)len, (uintptr_t)p);
}

/* Returns the attribute in which a new handle comes back. */
static inline struct ib_uverbs_attr *test_idr(struct test_call *c, uint16_t id, uint32_t handle)
{
	return test_attr(c, id, 0, handle);
}

static inline void test_const(struct test_call *c, uint16_t id, uint64_t v)
{
	test_attr(c, id, 8, v);
}

static inline int test_do(struct test_env *e, struct test_call *c)
{
	c->hdr.length = (uint16_t)(sizeof(c->hdr) + c->hdr.num_attrs * sizeof(c->attrs[0]));
	return (int)uv_ioctl(e->f, RDMA_VERBS_IOCTL, c);
}

/* ---- a legacy command through INVOKE_WRITE; lengths 0: absent */
struct test_write {
	uint64_t cmd;
	const void *in;
	size_t inlen;
	void *out;
	size_t outlen;
	const void *uhw_in;
	size_t uhw_inlen;
	void *uhw_out;
	size_t uhw_outlen;
};
/* The members for one of the four: an object, and its size. */
#define WRITE_IN(x) .in = &(x), .inlen = sizeof(x)
#define WRITE_OUT(x) .out = &(x), .outlen = sizeof(x)
#define WRITE_UHW_IN(x) .uhw_in = &(x), .uhw_inlen = sizeof(x)
#define WRITE_UHW_OUT(x) .uhw_out = &(x), .uhw_outlen = sizeof(x)

static inline int test_write(struct test_env *e, const struct test_write *w)
{
	struct test_call c;

	test_begin(&c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);
	test_const(&c, UVERBS_ATTR_WRITE_CMD, w->cmd);
	test_in(&c, UVERBS_ATTR_CORE_IN, w->in, w->inlen);
	if (w->outlen)
		test_out(&c, UVERBS_ATTR_CORE_OUT, w->out, w->outlen);
	if (w->uhw_inlen)
		test_in(&c, UVERBS_ATTR_UHW_IN, w->uhw_in, w->uhw_inlen);
	if (w->uhw_outlen)
		test_out(&c, UVERBS_ATTR_UHW_OUT, w->uhw_out, w->uhw_outlen);
	return test_do(e, &c);
}

/* ---- GET_CONTEXT */

static inline int test_get_context(struct test_env *e, const void *req, size_t reqlen, void *resp,
				   size_t resplen)
{
	uint32_t vectors;
	uint64_t support;
	struct test_call c;

	test_begin(&c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT);
	test_out(&c, UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, &vectors, sizeof(vectors));
	test_out(&c, UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, &support, sizeof(support));
	test_in(&c, UVERBS_ATTR_UHW_IN, req, reqlen);
	test_out(&c, UVERBS_ATTR_UHW_OUT, resp, resplen);
	return test_do(e, &c);
}

/* The request of libmlx5 44. */
static inline struct mlx5_ib_alloc_ucontext_req_v2 test_request(bool devx)
{
	return (struct mlx5_ib_alloc_ucontext_req_v2){
		.total_num_bfregs = 16,
		.num_low_latency_bfregs = 4,
		.flags = devx ? MLX5_IB_ALLOC_UCTX_DEVX : 0,
		.max_cqe_version = 1,
		.lib_caps = MLX5_LIB_CAP_4K_UAR | MLX5_LIB_CAP_DYN_UAR,
	};
}

static inline void test_open_context(struct test_env *e, bool devx)
{
	struct mlx5_ib_alloc_ucontext_req_v2 req = test_request(devx);
	struct mlx5_ib_alloc_ucontext_resp resp;

	assert_int_equal(test_get_context(e, &req, sizeof(req), &resp, sizeof(resp)), 0);
}

/* ---- DEVX */

static inline int test_devx_other(struct test_env *e, void *in, size_t inlen, void *out,
				  size_t outlen)
{
	struct test_call c;

	test_begin(&c, MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_OTHER);
	test_in(&c, MLX5_IB_ATTR_DEVX_OTHER_CMD_IN, in, inlen);
	test_out(&c, MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT, out, outlen);
	return test_do(e, &c);
}

static inline int test_devx_create(struct test_env *e, void *in, size_t inlen, void *out,
				   size_t outlen, uint32_t *handle)
{
	struct ib_uverbs_attr *a;
	struct test_call c;
	int r;

	test_begin(&c, MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_CREATE);
	a = test_idr(&c, MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE, 0);
	test_in(&c, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN, in, inlen);
	test_out(&c, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT, out, outlen);
	r = test_do(e, &c);
	*handle = (uint32_t)a->data;
	return r;
}

static inline int test_devx_destroy(struct test_env *e, uint32_t handle)
{
	struct test_call c;

	test_begin(&c, MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_DESTROY);
	test_idr(&c, MLX5_IB_ATTR_DEVX_OBJ_DESTROY_HANDLE, handle);
	return test_do(e, &c);
}

static inline int test_devx_obj(struct test_env *e, uint16_t method, uint32_t handle, void *in,
				size_t inlen, void *out, size_t outlen)
{
	struct test_call c;

	/* MODIFY and QUERY have the same attribute numbers */
	test_begin(&c, MLX5_IB_OBJECT_DEVX_OBJ, method);
	test_idr(&c, MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE, handle);
	test_in(&c, MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN, in, inlen);
	test_out(&c, MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT, out, outlen);
	return test_do(e, &c);
}

static inline int test_umem_reg(struct test_env *e, uint64_t addr, uint64_t len, uint32_t access,
				uint32_t *id, uint32_t *handle)
{
	struct ib_uverbs_attr *a;
	struct test_call c;
	int r;

	test_begin(&c, MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_REG);
	a = test_idr(&c, MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE, 0);
	test_in(&c, MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR, &addr, sizeof(addr));
	test_in(&c, MLX5_IB_ATTR_DEVX_UMEM_REG_LEN, &len, sizeof(len));
	test_in(&c, MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS, &access, sizeof(access));
	test_out(&c, MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, id, sizeof(*id));
	r = test_do(e, &c);
	*handle = (uint32_t)a->data;
	return r;
}

/* ---- UARs */

static inline int test_uar_alloc(struct test_env *e, uint64_t type, uint64_t *off, uint32_t *page,
				 uint32_t *handle)
{
	struct ib_uverbs_attr *a;
	struct test_call c;
	uint32_t len = 0;
	int r;

	test_begin(&c, MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_ALLOC);
	a = test_idr(&c, MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, 0);
	test_const(&c, MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, type);
	test_out(&c, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, off, sizeof(*off));
	test_out(&c, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, &len, sizeof(len));
	test_out(&c, MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, page, sizeof(*page));
	r = test_do(e, &c);
	*handle = (uint32_t)a->data;
	if (r == 0)
		assert_int_equal(len, 4096);
	return r;
}

static inline int test_uar_destroy(struct test_env *e, uint32_t handle)
{
	struct test_call c;

	test_begin(&c, MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_DESTROY);
	test_idr(&c, MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE, handle);
	return test_do(e, &c);
}

#endif
