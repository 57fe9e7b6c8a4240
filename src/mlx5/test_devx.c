/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* DEVX through ioctl(2) to the real firmware: uid, white lists, identity, refusals, destroying. */
#include "hw/hca.h"
#include "hw/pd.h"
#include "hw/umem.h"
#include "mlx5/test.h"
#include "wire/prm/cmd_hdr.h"
#include "wire/prm/cq.h"
#include "wire/prm/mkey.h"
#include "wire/prm/opcodes.h"
#include "wire/prm/pd.h"
#include "wire/prm/qp.h"
#include "wire/prm/umem.h"

#define NO_SUCH_PD 0xabcdef

static void header(void *in, size_t len, uint16_t opcode)
{
	memset(in, 0, len);
	LAYOUT_SET(cmd_in, in, opcode, opcode);
}

static int other(struct test_env *e, uint16_t opcode)
{
	uint8_t in[0x40], out[0x1100];

	header(in, sizeof(in), opcode);
	if (opcode == PRM_OP_QUERY_HCA_CAP)
		LAYOUT_SET(cmd_in, in, op_mod, 1);
	return test_devx_other(e, in, 0x10, out, sizeof(out));
}

static int alloc_pd(struct test_env *e, uint32_t *pdn, uint32_t *handle)
{
	uint8_t in[LAYOUT_SZ(alloc_pd_in)], out[LAYOUT_SZ(alloc_pd_out)];
	int r;

	header(in, sizeof(in), PRM_OP_ALLOC_PD);
	r = test_devx_create(e, in, sizeof(in), out, sizeof(out), handle);
	*pdn = LAYOUT_GET32(alloc_pd_out, out, pd);
	return r;
}

static void test_without_uid_only_harmless_queries(void **state)
{
	struct test_env *e = *state;
	uint32_t pdn, h;

	test_open_context(e, false);
	assert_int_equal(other(e, PRM_OP_QUERY_HCA_CAP), 0);
	/* port 0 of 2 ports */
	assert_int_equal(other(e, PRM_OP_QUERY_HCA_VPORT_CONTEXT), -EREMOTEIO);
	assert_int_equal(other(e, PRM_OP_QUERY_ISSI), -EINVAL);
	assert_int_equal(alloc_pd(e, &pdn, &h), -EINVAL);
}

static void test_methods_take_their_lists_only(void **state)
{
	static const uint16_t modify[] = {PRM_OP_MODIFY_CQ, PRM_OP_2ERR_QP, PRM_OP_MODIFY_RMP};
	uint8_t in[0x110], out[0x110];
	struct test_env *e = *state;
	uint32_t pdn, pd, h;

	test_open_context(e, true);
	assert_int_equal(other(e, PRM_OP_QUERY_ISSI), 0);
	assert_int_equal(other(e, PRM_OP_ALLOC_PD), -EINVAL);
	assert_int_equal(other(e, PRM_OP_QUERY_QP), -EINVAL);
	assert_int_equal(other(e, PRM_OP_ALLOC_UAR), -EINVAL);
	/* the driver allows it, the firmware does not know it */
	assert_int_equal(other(e, PRM_OP_SYNC_STEERING), -EREMOTEIO);

	assert_int_equal(alloc_pd(e, &pdn, &pd), 0);
	header(in, sizeof(in), PRM_OP_QUERY_ISSI);
	assert_int_equal(test_devx_create(e, in, sizeof(in), out, sizeof(out), &h), -EINVAL);
	for (size_t i = 0; i < ARRAY_SIZE(modify); i++) {
		header(in, sizeof(in), modify[i]);
		assert_int_equal(test_devx_create(e, in, sizeof(in), out, sizeof(out), &h),
				 -EINVAL);
		assert_int_equal(test_devx_obj(e, MLX5_IB_METHOD_DEVX_OBJ_QUERY, pd, in, sizeof(in),
					       out, sizeof(out)),
				 -EINVAL);
	}
	header(in, sizeof(in), PRM_OP_CREATE_UMEM); /* CREATE_UMEM has its own method */
	assert_int_equal(test_devx_create(e, in, sizeof(in), out, sizeof(out), &h), -EINVAL);
	assert_int_equal(test_devx_destroy(e, pd), 0);
}

static void test_short_commands_and_tunnels(void **state)
{
	uint8_t in[0x20], out[0x20];
	struct test_env *e = *state;
	uint32_t h;

	test_open_context(e, true);
	header(in, sizeof(in), PRM_OP_QUERY_ISSI);
	assert_int_equal(test_devx_other(e, in, 15, out, sizeof(out)), -EINVAL);
	assert_int_equal(test_devx_other(e, in, 16, out, 15), -EINVAL);
	header(in, sizeof(in), PRM_OP_ALLOC_PD);
	be16_store(in + 4, 1); /* vhca_tunnel_id */
	assert_int_equal(test_devx_create(e, in, 16, out, sizeof(out), &h), -EINVAL);
}

static void test_a_refusal_is_eremoteio_with_the_outbox(void **state)
{
	uint8_t in[LAYOUT_SZ(create_qp_in)], out[LAYOUT_SZ(create_qp_out)];
	const struct fw_refusal *why;
	struct test_env *e = *state;
	uint32_t h;

	test_open_context(e, true);
	header(in, sizeof(in), PRM_OP_CREATE_QP);
	LAYOUT_SET(qpc, LAYOUT_IN(create_qp_in, qpc, in), pd, NO_SUCH_PD);
	memset(out, 0xa5, sizeof(out));
	assert_int_equal(test_devx_create(e, in, sizeof(in), out, sizeof(out), &h), -EREMOTEIO);
	assert_int_equal(LAYOUT_GET(create_qp_out, out, status), FW_BAD_RES);
	why = fw_refusal_find(LAYOUT_GET32(create_qp_out, out, syndrome));
	assert_non_null(why);
	assert_string_equal(why->field, "qpc.pd");
	assert_int_equal(LAYOUT_GET(create_qp_out, out, qpn), 0);
	/* no object was made */
	assert_int_equal(test_devx_destroy(e, h), -ENOENT);
}

static void test_objects_are_made_and_destroyed(void **state)
{
	struct test_env *e = *state;
	uint8_t in[0x10], *ro;
	uint32_t pdn, h, h2;

	test_open_context(e, true);
	assert_int_equal(alloc_pd(e, &pdn, &h), 0);
	assert_non_null(hw_pd(&e->seg, pdn));
	assert_int_equal(hw_pd(&e->seg, pdn)->uid, seg_file(&e->seg, e->file)->uid);
	assert_int_equal(test_devx_destroy(e, h), 0);
	assert_null(hw_pd(&e->seg, pdn));

	/* if its answer cannot be written, the object is destroyed */
	ro = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	header(in, sizeof(in), PRM_OP_ALLOC_PD);
	assert_int_equal(test_devx_create(e, in, sizeof(in), ro, 16, &h2), -EFAULT);
	assert_int_equal(test_owned(e, SEG_T_PD), 0);
	munmap(ro, 4096);
}

static void test_the_uid_is_the_contexts(void **state)
{
	uint8_t in[0x10], out[0x10];
	struct test_env *e = *state;
	uint32_t h;

	test_open_context(e, true);
	header(in, sizeof(in), PRM_OP_ALLOC_PD);
	LAYOUT_SET(cmd_in, in, uid, 0x7777); /* the program's value does not matter */
	assert_int_equal(test_devx_create(e, in, sizeof(in), out, sizeof(out), &h), 0);
	/* the program's own bytes do not change */
	assert_int_equal(LAYOUT_GET(cmd_in, in, uid), 0x7777);
	assert_int_equal(test_devx_destroy(e, h), 0);
}

/* A registered buffer that can hold a CQ or a region. */
struct buf {
	uint8_t *p;
	uint32_t umem, handle;
};

static struct buf buf_new(struct test_env *e, size_t len)
{
	struct buf b;

	b.p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(b.p, MAP_FAILED);
	assert_int_equal(
		test_umem_reg(e, (uintptr_t)b.p, len, IBV_ACCESS_LOCAL_WRITE, &b.umem, &b.handle),
		0);
	return b;
}

/* Leaves mkey_umem_valid to the driver. */
static int create_mkey(struct test_env *e, const struct buf *b, uint32_t pdn, uint32_t *handle)
{
	uint8_t in[LAYOUT_SZ(create_mkey_in)], out[LAYOUT_SZ(create_mkey_out)];
	void *mkc = LAYOUT_IN(create_mkey_in, memory_key_mkey_entry, in);

	header(in, sizeof(in), PRM_OP_CREATE_MKEY);
	LAYOUT_SET(create_mkey_in, in, mkey_umem_id, b->umem);
	LAYOUT_SET(mkc, mkc, access_mode_1_0, 1);
	LAYOUT_SET(mkc, mkc, lr, 1);
	LAYOUT_SET(mkc, mkc, pd, pdn);
	LAYOUT_SET(mkc, mkc, qpn, 0xffffff);
	LAYOUT_SET(mkc, mkc, start_addr, (uintptr_t)b->p);
	LAYOUT_SET(mkc, mkc, len, 4096);
	LAYOUT_SET(mkc, mkc, log_page_size, 12);
	LAYOUT_SET(mkc, mkc, translations_octword_size, 1);
	return test_devx_create(e, in, sizeof(in), out, sizeof(out), handle);
}

static void test_what_the_firmware_keeps_stays(void **state)
{
	struct test_env *e = *state;
	uint32_t pdn, pd, mkey;
	struct buf b;

	test_open_context(e, true);
	b = buf_new(e, 8192);
	assert_int_equal(alloc_pd(e, &pdn, &pd), 0);
	assert_int_equal(create_mkey(e, &b, pdn, &mkey), 0);
	/* in use: the firmware's refusal as an errno, and the handle stays */
	assert_int_equal(test_devx_destroy(e, pd), -EINVAL);
	assert_int_equal(test_devx_destroy(e, mkey), 0);
	assert_int_equal(test_devx_destroy(e, pd), 0);
	assert_int_equal(test_owned(e, SEG_T_MKEY), 0);
	munmap(b.p, 8192);
}

static int create_cq(struct test_env *e, const struct buf *b, uint32_t eqn, uint32_t *cqn,
		     uint32_t *handle)
{
	uint8_t in[LAYOUT_SZ(create_cq_in)], out[LAYOUT_SZ(create_cq_out)];
	void *cqc = LAYOUT_IN(create_cq_in, cq_context, in);
	uint32_t page, h;
	uint64_t off;
	int r;

	assert_int_equal(test_uar_alloc(e, 1, &off, &page, &h), 0);
	header(in, sizeof(in), PRM_OP_CREATE_CQ);
	LAYOUT_SET(create_cq_in, in, cq_umem_id, b->umem);
	LAYOUT_SET(cqc, cqc, dbr_umem_id, b->umem);
	LAYOUT_SET(cqc, cqc, dbr_addr, 4096);
	LAYOUT_SET(cqc, cqc, log_cq_size, 6);
	LAYOUT_SET(cqc, cqc, uar_page, page);
	LAYOUT_SET(cqc, cqc, c_eqn, eqn);
	r = test_devx_create(e, in, sizeof(in), out, sizeof(out), handle);
	*cqn = LAYOUT_GET32(create_cq_out, out, cqn);
	return r;
}

static int query_cq(struct test_env *e, uint32_t handle, uint32_t cqn)
{
	uint8_t in[LAYOUT_SZ(query_cq_in)], out[LAYOUT_SZ(query_cq_out)];

	header(in, sizeof(in), PRM_OP_QUERY_CQ);
	LAYOUT_SET(query_cq_in, in, cqn, cqn);
	return test_devx_obj(e, MLX5_IB_METHOD_DEVX_OBJ_QUERY, handle, in, sizeof(in), out,
			     sizeof(out));
}

static void test_commands_must_name_their_object(void **state)
{
	struct test_env *e = *state;
	uint32_t cqn, cq, cqn2, cq2, pdn, pd;
	struct buf b;

	test_open_context(e, true);
	b = buf_new(e, 8192);
	assert_int_equal(create_cq(e, &b, 1, &cqn, &cq), 0);
	assert_int_equal(create_cq(e, &b, 2, &cqn2, &cq2), 0);
	assert_int_equal(alloc_pd(e, &pdn, &pd), 0);
	assert_int_equal(query_cq(e, cq, cqn), 0);
	assert_int_equal(query_cq(e, cq, cqn2), -EINVAL);
	assert_int_equal(query_cq(e, pd, cqn), -EINVAL);
	assert_int_equal(query_cq(e, b.handle, cqn), -EINVAL);
	assert_int_equal(query_cq(e, 999, cqn), -ENOENT);
	munmap(b.p, 8192);
}

static void test_cqs_need_an_eq_of_the_device(void **state)
{
	struct test_env *e = *state;
	uint32_t cqn, cq;
	struct buf b;

	test_open_context(e, true);
	b = buf_new(e, 8192);
	assert_int_equal(create_cq(e, &b, 0, &cqn, &cq), -ENOENT);
	assert_int_equal(create_cq(e, &b, HW_COMP_VECTORS + 1, &cqn, &cq), -ENOENT);
	assert_int_equal(create_cq(e, &b, HW_COMP_VECTORS, &cqn, &cq), 0);
	munmap(b.p, 8192);
}

static int query_eqn(struct test_env *e, uint32_t vector, uint32_t *eqn)
{
	struct test_call c;

	test_begin(&c, MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_QUERY_EQN);
	test_in(&c, MLX5_IB_ATTR_DEVX_QUERY_EQN_USER_VEC, &vector, sizeof(vector));
	test_out(&c, MLX5_IB_ATTR_DEVX_QUERY_EQN_DEV_EQN, eqn, sizeof(*eqn));
	return test_do(e, &c);
}

static void test_query_eqn_and_uar(void **state)
{
	struct test_env *e = *state;
	struct test_call c;
	uint32_t v = 0, eqn;

	test_open_context(e, true);
	for (v = 0; v < HW_COMP_VECTORS; v++) {
		assert_int_equal(query_eqn(e, v, &eqn), 0);
		assert_int_equal(eqn, hw_hca(&e->seg, e->hca)->eqn[v]);
	}
	assert_int_equal(query_eqn(e, HW_COMP_VECTORS, &eqn), -ENOENT);
	assert_int_equal(query_eqn(e, UINT32_MAX, &eqn), -ENOENT);

	test_begin(&c, MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_QUERY_UAR);
	test_in(&c, MLX5_IB_ATTR_DEVX_QUERY_UAR_USER_IDX, &v, sizeof(v));
	test_out(&c, MLX5_IB_ATTR_DEVX_QUERY_UAR_DEV_IDX, &eqn, sizeof(eqn));
	assert_int_equal(test_do(e, &c), -EINVAL);
}

static int umem_bitmap(struct test_env *e, uint8_t *p, uint64_t len, uint64_t bitmap)
{
	uint64_t addr = (uintptr_t)p;
	struct ib_uverbs_attr *a;
	struct test_call c;
	uint32_t id;
	int r;

	test_begin(&c, MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_REG);
	a = test_idr(&c, MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE, 0);
	test_in(&c, MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR, &addr, sizeof(addr));
	test_in(&c, MLX5_IB_ATTR_DEVX_UMEM_REG_LEN, &len, sizeof(len));
	test_out(&c, MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, &id, sizeof(id));
	test_const(&c, MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP, bitmap);
	r = test_do(e, &c);
	if (r == 0) {
		test_begin(&c, MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_DEREG);
		test_idr(&c, MLX5_IB_ATTR_DEVX_UMEM_DEREG_HANDLE, (uint32_t)a->data);
		assert_int_equal(test_do(e, &c), 0);
	}
	return r;
}

static void test_umems(void **state)
{
	struct test_env *e = *state;
	uint32_t id, h;
	uint8_t *p;

	test_open_context(e, true);
	p = mmap(NULL, 16384, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(p + 8192, 4096);
	mprotect(p + 12288, 4096, PROT_READ);
#define REG(off, len, acc) test_umem_reg(e, (uintptr_t)p + (off), (len), (acc), &id, &h)
	assert_int_equal(REG(0, 8192, IBV_ACCESS_LOCAL_WRITE), 0);
	assert_int_equal(hw_umem(&e->seg, id)->va, (uintptr_t)p);
	assert_int_equal(hw_umem(&e->seg, id)->len, 8192);
	assert_int_equal(REG(0, 0, 0), -EINVAL);
	assert_int_equal(REG(0, 12288, 0), -EFAULT);
	assert_int_equal(REG(12288, 4096, 0), 0);
	assert_int_equal(REG(12288, 4096, IBV_ACCESS_LOCAL_WRITE), -EFAULT);
	assert_int_equal(REG(0, 4096, IBV_ACCESS_REMOTE_WRITE), -EINVAL);
	assert_int_equal(REG(0, 4096, IBV_ACCESS_REMOTE_ATOMIC), -EINVAL);
	assert_int_equal(REG(0, 4096, IBV_ACCESS_REMOTE_READ | IBV_ACCESS_RELAXED_ORDERING), 0);
	/* the size of a page must be allowed, as larger ranges are never contiguous */
	assert_int_equal(umem_bitmap(e, p, 8192, UINT64_C(1) << 12), 0);
	assert_int_equal(umem_bitmap(e, p, 8192, UINT64_MAX), 0);
	assert_int_equal(umem_bitmap(e, p, 8192, 0), -EINVAL);
	assert_int_equal(umem_bitmap(e, p, 8192, UINT64_C(1) << 13), -EINVAL);
	assert_int_equal(umem_bitmap(e, p, 8192, UINT64_C(1) << 14), -EINVAL);
	assert_int_equal(umem_bitmap(e, p, 8192, UINT64_C(1) << 11), -EINVAL);
	assert_int_equal(test_owned(e, SEG_T_UMEM), 3);
	munmap(p, 16384);
}

static void test_umems_need_a_uid(void **state)
{
	struct test_env *e = *state;
	uint32_t id, h;
	uint64_t word;

	test_open_context(e, false);
	assert_int_equal(test_umem_reg(e, (uintptr_t)&word, 8, 0, &id, &h), -EINVAL);
}

static void test_what_is_not_there(void **state)
{
	static const struct {
		uint16_t object, method;
	} t[] = {
		{MLX5_IB_OBJECT_FLOW_MATCHER, MLX5_IB_METHOD_FLOW_MATCHER_CREATE},
	};
	struct test_env *e = *state;
	struct test_call c;

	test_open_context(e, true);
	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		test_begin(&c, t[i].object, t[i].method);
		assert_int_equal(test_do(e, &c), -EPROTONOSUPPORT);
	}
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, test_setup, test_teardown)
	const struct CMUnitTest tests[] = {
		T(test_without_uid_only_harmless_queries),
		T(test_methods_take_their_lists_only),
		T(test_short_commands_and_tunnels),
		T(test_a_refusal_is_eremoteio_with_the_outbox),
		T(test_objects_are_made_and_destroyed),
		T(test_the_uid_is_the_contexts),
		T(test_what_the_firmware_keeps_stays),
		T(test_commands_must_name_their_object),
		T(test_cqs_need_an_eq_of_the_device),
		T(test_query_eqn_and_uar),
		T(test_umems),
		T(test_umems_need_a_uid),
		T(test_what_is_not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
