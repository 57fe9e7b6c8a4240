/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * CQs, SRQs and MRs through write commands: what the firmware gets, what is refused, what is left.
 */
#include "mlx5/test_verbs.h"
#include "hw/cq.h"
#include "hw/flags.h"
#include "hw/mkey.h"
#include "hw/srq.h"
#include "hw/xrcd.h"
#include "hw/zip.h"
#include "wire/prm/cmd_hdr.h"
#include "wire/prm/cq.h"
#include "wire/prm/mkey.h"

#include <fcntl.h>

enum { IB_CQ_MODERATE = 1 };

static void test_cq_becomes_a_firmware_cq(void **state)
{
	struct mlx5_ib_create_cq uhw;
	struct verbs v;
	const struct hw_cq *cq;
	uint32_t h, cqn;

	verbs_open(&v, *state);
	uhw = cq_request(&v);
	uhw.db_addr += 64;
	assert_int_equal(create_cq(&v, &uhw, 100, &h, &cqn), 0);
	cq = hw_cq(&v.e->seg, cqn);
	assert_non_null(cq);
	assert_int_equal(cq->log_size, 7);
	assert_int_equal(cq->cqe_bytes, 64);
	assert_int_equal(cq->va, (uintptr_t)v.mem);
	assert_int_equal(cq->dbr_va, (uintptr_t)v.mem + DBR_PAGE + 64);
	assert_int_equal(cq->uar, v.uar);
	assert_int_equal(destroy(&v, IB_USER_VERBS_CMD_DESTROY_CQ, h), 0);
	assert_int_equal(test_owned(v.e, SEG_T_CQ), 0);
	assert_int_equal(test_owned(v.e, SEG_T_UMEM), 0);
	verbs_close(&v);
}

static int open_xrcd(struct verbs *v, int fd, uint32_t oflags, uint32_t *xrcd, uint32_t *handle)
{
	struct ib_uverbs_open_xrcd cmd = {.fd = (uint32_t)fd, .oflags = oflags};
	struct ib_uverbs_open_xrcd_resp resp = {0};
	struct test_write w = {
		.cmd = IB_USER_VERBS_CMD_OPEN_XRCD,
		WRITE_IN(cmd),
		WRITE_OUT(resp),
	};
	int r = test_write(v->e, &w);

	*xrcd = seg_table(&v->e->seg, SEG_T_XRCD)->high - 1;
	*handle = resp.xrcd_handle;
	return r;
}

/* A domain of a closed file, which a stopped process still holds, is not joined. */
static void test_a_domain_of_a_closed_file_is_not_found(void **state)
{
	int fd = open(".", O_RDONLY | O_DIRECTORY);
	uint32_t first, second, h;
	struct verbs v;

	verbs_open(&v, *state);
	assert_int_equal(open_xrcd(&v, fd, O_CREAT, &first, &h), 0);
	assert_int_equal(open_xrcd(&v, fd, 0, &second, &h), 0);
	assert_int_equal(second, first);
	hw_xrcd(&v.e->seg, first)->flags |= HW_F_ZOMBIE;
	assert_int_equal(open_xrcd(&v, fd, 0, &second, &h), -EAGAIN);
	assert_int_equal(open_xrcd(&v, fd, O_CREAT, &second, &h), 0);
	assert_int_not_equal(second, first);
	hw_xrcd(&v.e->seg, first)->flags &= ~(uint32_t)HW_F_ZOMBIE;
	close(fd);
	verbs_close(&v);
}

static int create_xrc_target(struct verbs *v, uint32_t xrcd_handle, uint32_t *handle)
{
	struct ib_uverbs_create_qp cmd = {.pd_handle = xrcd_handle,
					  .qp_type = IB_UVERBS_QPT_XRC_TGT};
	struct ib_uverbs_create_qp_resp resp = {0};
	struct mlx5_ib_create_qp uhw = {0};
	struct test_write w = {
		.cmd = IB_USER_VERBS_CMD_CREATE_QP,
		WRITE_IN(cmd),
		WRITE_OUT(resp),
		WRITE_UHW_IN(uhw),
	};
	int r = test_write(v->e, &w);

	*handle = resp.qp_handle;
	return r;
}

/*
 * The target is made, then sharing it fails: neither the target nor its use of the domain is left.
 */
static void test_a_target_that_cannot_be_shared_is_undone(void **state)
{
	struct ib_uverbs_close_xrcd cmd;
	struct test_write w = {.cmd = IB_USER_VERBS_CMD_CLOSE_XRCD, WRITE_IN(cmd)};
	uint32_t xrcd, domain, h, i;
	struct verbs v;
	struct seg *s;

	verbs_open(&v, *state);
	s = &v.e->seg;
	assert_int_equal(open_xrcd(&v, -1, O_CREAT, &xrcd, &domain), 0);
	while (!seg_alloc(s, SEG_T_SHARE, SEG_OWNER_DEVICE, &i))
		;
	assert_int_equal(create_xrc_target(&v, domain, &h), -ENOMEM);
	assert_int_equal(test_owned(v.e, SEG_T_QP), 0);
	seg_for_each_owned (s, SEG_T_SHARE, SEG_OWNER_DEVICE, n)
		seg_free(s, SEG_T_SHARE, n);
	assert_int_equal(create_xrc_target(&v, domain, &h), 0);
	assert_int_equal(test_owned(v.e, SEG_T_QP), 1);
	assert_int_equal(destroy(&v, IB_USER_VERBS_CMD_DESTROY_QP, h), 0);
	cmd.xrcd_handle = domain;
	assert_int_equal(test_write(v.e, &w), 0);
	assert_int_equal(test_owned(v.e, SEG_T_XRCD), 0);
	verbs_close(&v);
}

static void test_bad_cqs_leave_nothing(void **state)
{
	struct mlx5_ib_create_cq good, uhw;
	struct verbs v;
	uint32_t h, cqn;

	verbs_open(&v, *state);
	good = cq_request(&v);
#define BAD(change, cqes, want)                                              \
	do {                                                                 \
		uhw = good;                                                  \
		change;                                                      \
		assert_int_equal(create_cq(&v, &uhw, cqes, &h, &cqn), want); \
	} while (0)
	BAD(uhw.cqe_size = 32, 10, -EINVAL);
	BAD(uhw.reserved1 = 1, 10, -EINVAL);
	BAD(uhw.flags |= 8, 10, -EINVAL);
	BAD(uhw.flags = 0, 10, -EINVAL);
	BAD(uhw.buf_addr += 8, 10, -EINVAL);
	BAD(uhw.cqe_comp_en = 1, 10, -EINVAL); /* in no format */
	BAD(uhw.cqe_comp_en = 1; uhw.cqe_comp_res_format = 3, 10, -EINVAL);
	BAD(uhw.flags |= MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD, 10, -EOPNOTSUPP); /* of 64 bytes */
	BAD(, 1u << 22, -EINVAL);
	BAD(, UINT32_MAX, -EINVAL);
	BAD(uhw.buf_addr = 64, 10, -EFAULT);
	BAD(uhw.db_addr = 64, 10, -EFAULT);
	BAD(uhw.uar_page_index = 0x7777, 10, -EINVAL); /* the firmware refuses this */
#undef BAD
	assert_int_equal(test_owned(v.e, SEG_T_UMEM), 0);
	assert_int_equal(create_cq(&v, &good, 10, &h, &cqn), 0);
	verbs_close(&v);
}

static void test_doorbell_records_share_their_page(void **state)
{
	struct mlx5_ib_create_cq uhw;
	uint32_t h[3], cqn[3];
	struct verbs v;

	verbs_open(&v, *state);
	uhw = cq_request(&v);
	for (int i = 0; i < 3; i++) {
		uhw.db_addr = (uintptr_t)v.mem + DBR_PAGE + 64 * i;
		assert_int_equal(create_cq(&v, &uhw, 10, &h[i], &cqn[i]), 0);
	}
	assert_int_equal(test_owned(v.e, SEG_T_UMEM), 3 + 1);
	for (int i = 0; i < 2; i++)
		assert_int_equal(destroy(&v, IB_USER_VERBS_CMD_DESTROY_CQ, h[i]), 0);
	assert_int_equal(test_owned(v.e, SEG_T_UMEM), 1 + 1);
	assert_int_equal(hw_cq(&v.e->seg, cqn[2])->dbr_va, (uintptr_t)v.mem + DBR_PAGE + 128);
	assert_int_equal(destroy(&v, IB_USER_VERBS_CMD_DESTROY_CQ, h[2]), 0);
	assert_int_equal(test_owned(v.e, SEG_T_UMEM), 0);
	verbs_close(&v);
}

/* More doorbell pages than buckets: each page is found again, and none is left. */
static void test_many_pages_of_doorbell_records(void **state)
{
	enum { PAGES = 300 };
	static uint32_t h[2][PAGES];
	struct mlx5_ib_create_cq uhw;
	struct verbs v;
	uint8_t *m = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);
	uint32_t cqn;

	assert_ptr_not_equal(m, MAP_FAILED);
	verbs_open(&v, *state);
	uhw = cq_request(&v);
	for (int twice = 0; twice < 2; twice++)
		for (int i = 0; i < PAGES; i++) {
			uhw.db_addr = (uintptr_t)m + 4096 * i + 64 * twice;
			assert_int_equal(create_cq(&v, &uhw, 10, &h[twice][i], &cqn), 0);
		}
	assert_int_equal(test_owned(v.e, SEG_T_UMEM), 2 * PAGES + PAGES);
	for (int twice = 0; twice < 2; twice++) {
		for (int i = 0; i < PAGES; i++)
			assert_int_equal(destroy(&v, IB_USER_VERBS_CMD_DESTROY_CQ, h[twice][i]), 0);
		assert_int_equal(test_owned(v.e, SEG_T_UMEM), twice ? 0 : 2 * PAGES);
	}
	verbs_close(&v);
	munmap(m, PAGES * 4096);
}

static int resize_cq(struct verbs *v, uint32_t handle, uint32_t cqe, uint64_t buf)
{
	struct ib_uverbs_resize_cq cmd = {.cq_handle = handle, .cqe = cqe};
	struct mlx5_ib_resize_cq uhw = {.buf_addr = buf, .cqe_size = 64};
	struct ib_uverbs_resize_cq_resp resp;
	struct test_write w = {
		.cmd = IB_USER_VERBS_CMD_RESIZE_CQ,
		WRITE_IN(cmd),
		WRITE_OUT(resp),
		WRITE_UHW_IN(uhw),
	};

	return test_write(v->e, &w);
}

static uint64_t cqe_sz_of(struct verbs *v, uint32_t cqn)
{
	return LAYOUT_GET(cqc, hw_cq(&v->e->seg, cqn)->cqc, cqe_sz);
}

static void test_cqes_are_padded(void **state)
{
	struct mlx5_ib_create_cq uhw;
	struct verbs v;
	uint32_t h, cqn;

	verbs_open(&v, *state);
	uhw = cq_request(&v);
	uhw.cqe_size = 128;
	uhw.flags |= MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD;
	assert_int_equal(create_cq(&v, &uhw, 15, &h, &cqn), 0);
	assert_int_equal(hw_cq(&v.e->seg, cqn)->cqe_bytes, 128);
	assert_int_equal(cqe_sz_of(&v, cqn), PRM_CQE_SZ_128_PAD);
	/* mlx5_ib_resize_cq() keeps the padding, whatever the size: this buffer is too small */
	assert_int_equal(resize_cq(&v, h, 127, (uintptr_t)v.mem + 4096), -EINVAL);
	assert_int_equal(hw_cq(&v.e->seg, cqn)->log_size, 4);
	verbs_close(&v);
}

/* Each format, and places where completions wait are free again with their CQs. */
static void test_compressed_cqs(void **state)
{
	static const uint32_t hw[] = {PRM_MINI_CQE_HASH, PRM_MINI_CQE_CSUM,
				      PRM_MINI_CQE_CSUM_STRIDX};
	struct mlx5_ib_create_cq uhw;
	struct verbs v;
	uint32_t h, cqn, n = 0;

	verbs_open(&v, *state);
	uhw = cq_request(&v);
	uhw.cqe_comp_en = 1;
	for (uint32_t i = 0; i < 3; i++) {
		const struct hw_cq *cq;

		uhw.cqe_comp_res_format = (uint8_t)(1 << i);
		assert_int_equal(create_cq(&v, &uhw, 10, &h, &cqn), 0);
		cq = hw_cq(&v.e->seg, cqn);
		assert_true(cq->zip);
		assert_int_equal(hw_zip(&v.e->seg, cq->zip)->format, hw[i]);
		if (i)
			assert_int_equal(destroy(&v, IB_USER_VERBS_CMD_DESTROY_CQ, h), 0);
	}
	seg_for_each_live (&v.e->seg, SEG_T_ZIP, i)
		n++;
	assert_int_equal(n, 1);
	uhw.cqe_comp_en = 0;
	assert_int_equal(create_cq(&v, &uhw, 10, &h, &cqn), 0);
	assert_int_equal(hw_cq(&v.e->seg, cqn)->zip, 0);
	verbs_close(&v);
}

static void test_resized_cq_lies_elsewhere(void **state)
{
	struct mlx5_ib_create_cq uhw;
	struct verbs v;
	uint32_t h, cqn;

	verbs_open(&v, *state);
	uhw = cq_request(&v);
	assert_int_equal(create_cq(&v, &uhw, 15, &h, &cqn), 0);
	assert_int_equal(resize_cq(&v, h, 40, (uintptr_t)v.mem + 4096), 0);
	assert_int_equal(hw_cq(&v.e->seg, cqn)->va, (uintptr_t)v.mem + 4096);
	assert_int_equal(hw_cq(&v.e->seg, cqn)->log_size, 6);
	assert_int_equal(test_owned(v.e, SEG_T_UMEM), 2);
	assert_int_equal(resize_cq(&v, h, 63, 64), 0); /* the present size: nothing changes */
	assert_int_equal(resize_cq(&v, h, 0, (uintptr_t)v.mem), -EINVAL);
	assert_int_equal(resize_cq(&v, h, 1u << 23, (uintptr_t)v.mem), -EINVAL);
	assert_int_equal(resize_cq(&v, h, 100, 64), -EFAULT);
	assert_int_equal(test_owned(v.e, SEG_T_UMEM), 2);
	assert_int_equal(destroy(&v, IB_USER_VERBS_CMD_DESTROY_CQ, h), 0);
	assert_int_equal(test_owned(v.e, SEG_T_UMEM), 0);
	verbs_close(&v);
}

static int modify_cq(struct verbs *v, uint32_t handle, uint16_t count, uint16_t period)
{
	struct ib_uverbs_ex_modify_cq cmd = {
		.cq_handle = handle,
		.attr_mask = IB_CQ_MODERATE,
		.attr = {.cq_count = count, .cq_period = period},
	};
	struct test_write w = {
		.cmd = IB_USER_VERBS_EX_CMD_MODIFY_CQ | IB_USER_VERBS_CMD_FLAG_EXTENDED,
		WRITE_IN(cmd),
	};

	return test_write(v->e, &w);
}

static void test_moderation_reaches_the_cqc(void **state)
{
	struct mlx5_ib_create_cq uhw;
	const struct hw_cq *cq;
	struct verbs v;
	uint32_t h, cqn;

	verbs_open(&v, *state);
	uhw = cq_request(&v);
	assert_int_equal(create_cq(&v, &uhw, 15, &h, &cqn), 0);
	cq = hw_cq(&v.e->seg, cqn);
	assert_int_equal(modify_cq(&v, h, 0x1234, 0xfff), 0);
	assert_int_equal(LAYOUT_GET(cqc, cq->cqc, cq_max_count), 0x1234);
	assert_int_equal(LAYOUT_GET(cqc, cq->cqc, cq_period), 0xfff);
	assert_int_equal(modify_cq(&v, h, 1, 0x1000), -EINVAL);
	verbs_close(&v);
}

/* ---- SRQs */

static int create_srq(struct verbs *v, uint32_t max_wr, uint32_t max_sge, uint64_t db_addr,
		      struct ib_uverbs_create_srq_resp *resp, uint32_t *srqn)
{
	struct ib_uverbs_create_srq cmd = {
		.pd_handle = v->pd, .max_wr = max_wr, .max_sge = max_sge};
	struct mlx5_ib_create_srq uhw = {.buf_addr = (uintptr_t)v->mem, .db_addr = db_addr};
	struct mlx5_ib_create_srq_resp uhw_resp = {0};
	struct test_write w = {
		.cmd = IB_USER_VERBS_CMD_CREATE_SRQ,
		WRITE_IN(cmd),
		WRITE_OUT(*resp),
		WRITE_UHW_IN(uhw),
		WRITE_UHW_OUT(uhw_resp),
	};
	int r = test_write(v->e, &w);

	*srqn = uhw_resp.srqn;
	return r;
}

static void test_srq_is_an_rmp(void **state)
{
	struct ib_uverbs_query_srq_resp q;
	struct ib_uverbs_create_srq_resp resp = {0};
	struct ib_uverbs_query_srq qcmd = {0};
	struct test_write w = {
		.cmd = IB_USER_VERBS_CMD_QUERY_SRQ,
		WRITE_IN(qcmd),
		WRITE_OUT(q),
	};
	const struct hw_srq *hw;
	struct verbs v;
	uint32_t srqn;
	uint64_t db;

	verbs_open(&v, *state);
	db = (uintptr_t)v.mem + DBR_PAGE;
	assert_int_equal(create_srq(&v, 100, 2, db, &resp, &srqn), 0);
	assert_int_equal(resp.max_wr, 127);
	hw = hw_srq(&v.e->seg, srqn);
	assert_non_null(hw);
	assert_int_equal(hw->log_size, 7);
	/* next segment and two data segments: 48 bytes, rounded up to 64 */
	assert_int_equal(hw->log_stride, 6);
	assert_int_equal(hw->va, (uintptr_t)v.mem);
	assert_int_equal(hw->dbr_va, db);

	/* enough receives are posted; otherwise the limit fires at once */
	be32_store(v.mem + DBR_PAGE, 100);
	assert_int_equal(srq_limit(&v, resp.srq_handle, IBV_SRQ_LIMIT, 20), 0);
	assert_int_equal(srq_limit(&v, resp.srq_handle, IBV_SRQ_LIMIT, 128), -EINVAL);
	assert_int_equal(srq_limit(&v, resp.srq_handle, IBV_SRQ_MAX_WR, 0), -EINVAL);
	qcmd.srq_handle = resp.srq_handle;
	assert_int_equal(test_write(v.e, &w), 0);
	assert_int_equal(q.max_wr, 127);
	assert_int_equal(q.max_sge, 2);
	assert_int_equal(q.srq_limit, 20);

	assert_int_equal(destroy(&v, IB_USER_VERBS_CMD_DESTROY_SRQ, resp.srq_handle), 0);
	assert_int_equal(create_srq(&v, 1u << 15, 1, db, &resp, &srqn), -EINVAL);
	assert_int_equal(create_srq(&v, 10, 33, db, &resp, &srqn), -EINVAL);
	assert_int_equal(create_srq(&v, 10, 1, 4096, &resp, &srqn), -EFAULT);
	assert_int_equal(test_owned(v.e, SEG_T_UMEM), 0);
	assert_int_equal(test_owned(v.e, SEG_T_SRQ), 0);
	verbs_close(&v);
}

/* ---- MRs */

static int reg_mr(struct verbs *v, uint64_t start, uint64_t len, uint32_t access,
		  struct ib_uverbs_reg_mr_resp *resp)
{
	struct ib_uverbs_reg_mr cmd = {
		.start = start,
		.length = len,
		.hca_va = start,
		.pd_handle = v->pd,
		.access_flags = access,
	};
	struct test_write w = {
		.cmd = IB_USER_VERBS_CMD_REG_MR,
		WRITE_IN(cmd),
		WRITE_OUT(*resp),
	};

	return test_write(v->e, &w);
}

static void test_mr_is_an_mkey(void **state)
{
	struct ib_uverbs_reg_mr_resp r1 = {0}, r2 = {0};
	const struct hw_mkey *m;
	struct verbs v;
	uint64_t va;

	verbs_open(&v, *state);
	va = (uintptr_t)v.mem + 100;
	assert_int_equal(
		reg_mr(&v, va, 5000, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE, &r1), 0);
	assert_int_equal(r1.lkey, r1.rkey);
	m = hw_mkey(&v.e->seg, r1.lkey);
	assert_non_null(m);
	assert_int_equal(m->key, r1.lkey);
	assert_int_equal(m->start, va);
	assert_int_equal(m->len, 5000);
	assert_int_equal(m->pdn, v.pdn);
	assert_int_equal(m->access, HW_ACC_LOCAL_READ | HW_ACC_LOCAL_WRITE | HW_ACC_REMOTE_WRITE);
	assert_true(mem_is_self(&v.e->seg, m->mem));
	/* the low byte of keys changes from one to the next */
	assert_int_equal(reg_mr(&v, va, 5000, 0, &r2), 0);
	assert_int_not_equal(r1.lkey & 0xff, r2.lkey & 0xff);
	assert_int_equal(reg_mr(&v, va, 5000, IBV_ACCESS_ON_DEMAND, &r2), 0);
	assert_int_equal(hw_mkey(&v.e->seg, r2.lkey)->odp, HW_ODP_EXPLICIT);
	assert_int_equal(destroy(&v, IB_USER_VERBS_CMD_DEREG_MR, r1.mr_handle), 0);
	assert_null(hw_mkey(&v.e->seg, r1.lkey));
	verbs_close(&v);
}

/* set_mkc_access_pd_addr_fields() in the kernel's mlx5/mr.c. */
static void test_rights_become_bits_of_the_mkey(void **state)
{
	static const struct {
		uint32_t access, rights;
		bool relaxed;
	} t[] = {
		{0, HW_ACC_LOCAL_READ, false},
		{IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC,
		 HW_ACC_LOCAL_READ | HW_ACC_LOCAL_WRITE | HW_ACC_ATOMIC, false},
		{IBV_ACCESS_REMOTE_READ | IBV_ACCESS_RELAXED_ORDERING,
		 HW_ACC_LOCAL_READ | HW_ACC_REMOTE_READ, true},
		{IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND,
		 HW_ACC_LOCAL_READ | HW_ACC_LOCAL_WRITE, false},
	};
	struct verbs v;

	verbs_open(&v, *state);
	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		struct ib_uverbs_reg_mr_resp r = {0};
		const struct hw_mkey *m;

		assert_int_equal(reg_mr(&v, (uintptr_t)v.mem, 5000, t[i].access, &r), 0);
		m = hw_mkey(&v.e->seg, r.lkey);
		assert_int_equal(m->access, t[i].rights);
		assert_int_equal(m->slow, 0);
		assert_int_equal(LAYOUT_GET(mkc, m->mkc, relaxed_ordering_write), t[i].relaxed);
		assert_int_equal(LAYOUT_GET(mkc, m->mkc, relaxed_ordering_read), t[i].relaxed);
	}
	verbs_close(&v);
}

static int rereg_mr(struct verbs *v, struct ib_uverbs_rereg_mr *cmd,
		    struct ib_uverbs_rereg_mr_resp *resp)
{
	struct test_write w = {
		.cmd = IB_USER_VERBS_CMD_REREG_MR,
		WRITE_IN(*cmd),
		WRITE_OUT(*resp),
	};

	return test_write(v->e, &w);
}

static void test_rereg_keeps_the_key(void **state)
{
	struct ib_uverbs_rereg_mr_resp resp = {0};
	struct ib_uverbs_rereg_mr cmd = {0};
	struct ib_uverbs_reg_mr_resp r = {0};
	const struct hw_mkey *m;
	struct verbs v;

	verbs_open(&v, *state);
	assert_int_equal(reg_mr(&v, (uintptr_t)v.mem, 4096, 0, &r), 0);
	m = hw_mkey(&v.e->seg, r.lkey);
	cmd.mr_handle = r.mr_handle;
	cmd.flags = IBV_REREG_MR_CHANGE_ACCESS;
	cmd.access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ;
	assert_int_equal(rereg_mr(&v, &cmd, &resp), 0);
	assert_int_equal(resp.lkey, r.lkey);
	assert_int_equal(m->access, HW_ACC_LOCAL_READ | HW_ACC_LOCAL_WRITE | HW_ACC_REMOTE_READ);
	assert_int_equal(m->start, (uintptr_t)v.mem);
	assert_int_equal(m->valid, 1);

	cmd.flags = IBV_REREG_MR_CHANGE_TRANSLATION;
	cmd.start = cmd.hca_va = (uintptr_t)v.mem + 8192;
	cmd.length = 100;
	assert_int_equal(rereg_mr(&v, &cmd, &resp), 0);
	assert_int_equal(resp.rkey, r.rkey);
	assert_int_equal(m->start, (uintptr_t)v.mem + 8192);
	assert_int_equal(m->va, (uintptr_t)v.mem + 8192);
	assert_int_equal(m->len, 100);
	assert_int_equal(m->access, HW_ACC_LOCAL_READ | HW_ACC_LOCAL_WRITE | HW_ACC_REMOTE_READ);

	/* refused: the region is unchanged */
	cmd.start = cmd.hca_va = 4096;
	assert_int_equal(rereg_mr(&v, &cmd, &resp), -EFAULT);
	assert_int_equal(m->va, (uintptr_t)v.mem + 8192);
	assert_int_equal(m->valid, 1);
	assert_int_equal(destroy(&v, IB_USER_VERBS_CMD_DEREG_MR, r.mr_handle), 0);
	assert_int_equal(test_owned(v.e, SEG_T_MKEY), 0);
	verbs_close(&v);
}

/* The program chooses the page number: it may only name one of its own context. */
static void test_a_uar_of_another_context_is_refused(void **state)
{
	struct mlx5_ib_create_cq uhw;
	struct test_env *e = *state;
	struct uv_file *mine = e->f, *theirs;
	uint32_t handle, cqn, page;
	struct verbs v;
	uint64_t off;

	verbs_open(&v, e);
	test_file_new(e, &theirs);
	e->f = theirs;
	test_open_context(e, true);
	assert_int_equal(test_uar_alloc(e, 1, &off, &page, &handle), 0);
	e->f = mine;
	uhw = cq_request(&v);
	assert_int_equal(create_cq(&v, &uhw, 15, &handle, &cqn), 0);
	uhw.uar_page_index = (uint16_t)page;
	assert_int_equal(create_cq(&v, &uhw, 15, &handle, &cqn), -EINVAL);
	uv_release(theirs, true);
	verbs_close(&v);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, test_setup, test_teardown)
	const struct CMUnitTest tests[] = {
		T(test_cq_becomes_a_firmware_cq),
		T(test_a_domain_of_a_closed_file_is_not_found),
		T(test_a_target_that_cannot_be_shared_is_undone),
		T(test_bad_cqs_leave_nothing),
		T(test_doorbell_records_share_their_page),
		T(test_many_pages_of_doorbell_records),
		T(test_cqes_are_padded),
		T(test_compressed_cqs),
		T(test_resized_cq_lies_elsewhere),
		T(test_moderation_reaches_the_cqc),
		T(test_srq_is_an_rmp),
		T(test_mr_is_an_mkey),
		T(test_rights_become_bits_of_the_mkey),
		T(test_rereg_keeps_the_key),
		T(test_a_uar_of_another_context_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
