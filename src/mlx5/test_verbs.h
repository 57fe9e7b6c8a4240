/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by tests of verbs objects: a PD, memory for queues, CQs, and destroying objects. */
#ifndef SOFTHCA_MLX5_TEST_VERBS_H
#define SOFTHCA_MLX5_TEST_VERBS_H

#include "hw/pd.h"
#include "mlx5/test.h"
#include "wire/prm/cmd_hdr.h"
#include "wire/prm/cq.h"

/* A context with a PD, a UAR and memory for queues; the last page has the doorbell records. */
struct verbs {
	struct test_env *e;
	uint32_t pd, pdn, uar;
	uint8_t *mem;
};

#define MEM_LEN (16 * 4096)
/* A forbidden area after it: a queue longer than the memory must not reach other memory. */
#define MEM_GUARD (64u << 20)
#define DBR_PAGE (15 * 4096)

static inline void verbs_open(struct verbs *v, struct test_env *e)
{
	struct ib_uverbs_alloc_pd cmd = {0};
	struct ib_uverbs_alloc_pd_resp resp;
	struct mlx5_ib_alloc_pd_resp uhw;
	struct test_write w = {
		.cmd = IB_USER_VERBS_CMD_ALLOC_PD,
		WRITE_IN(cmd),
		WRITE_OUT(resp),
		WRITE_UHW_OUT(uhw),
	};
	uint64_t off;
	uint32_t h;

	v->e = e;
	test_open_context(e, true);
	assert_int_equal(test_write(e, &w), 0);
	v->pd = resp.pd_handle;
	v->pdn = uhw.pdn;
	assert_non_null(hw_pd(&e->seg, v->pdn));
	assert_int_equal(test_uar_alloc(e, 1, &off, &v->uar, &h), 0);
	v->mem = mmap(NULL, MEM_LEN + MEM_GUARD, PROT_NONE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_ptr_not_equal(v->mem, MAP_FAILED);
	assert_int_equal(mprotect(v->mem, MEM_LEN, PROT_READ | PROT_WRITE), 0);
}

static inline void verbs_close(struct verbs *v)
{
	munmap(v->mem, MEM_LEN + MEM_GUARD);
}

static inline struct mlx5_ib_create_cq cq_request(const struct verbs *v)
{
	return (struct mlx5_ib_create_cq){
		.buf_addr = (uintptr_t)v->mem,
		.db_addr = (uintptr_t)v->mem + DBR_PAGE,
		.cqe_size = 64,
		.flags = MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX,
		.uar_page_index = (uint16_t)v->uar,
	};
}

static inline int create_cq(struct verbs *v, const struct mlx5_ib_create_cq *uhw, uint32_t cqe,
			    uint32_t *handle, uint32_t *cqn)
{
	struct ib_uverbs_create_cq cmd = {.cqe = cqe, .comp_channel = -1};
	struct mlx5_ib_create_cq_resp uhw_resp = {0};
	struct ib_uverbs_create_cq_resp resp = {0};
	struct test_write w = {
		.cmd = IB_USER_VERBS_CMD_CREATE_CQ,
		WRITE_IN(cmd),
		WRITE_OUT(resp),
		WRITE_UHW_IN(*uhw),
		WRITE_UHW_OUT(uhw_resp),
	};
	int r = test_write(v->e, &w);

	*handle = resp.cq_handle;
	*cqn = uhw_resp.cqn;
	if (r == 0)
		assert_int_equal(resp.cqe & (resp.cqe + 1), 0);
	return r;
}

static inline int srq_limit(struct verbs *v, uint32_t handle, uint32_t mask, uint32_t limit)
{
	struct ib_uverbs_modify_srq cmd = {
		.srq_handle = handle, .attr_mask = mask, .srq_limit = limit, .max_wr = 5};
	struct test_write w = {.cmd = IB_USER_VERBS_CMD_MODIFY_SRQ, WRITE_IN(cmd)};

	return test_write(v->e, &w);
}

static inline int destroy(struct verbs *v, uint32_t cmd_nr, uint32_t handle)
{
	union {
		struct ib_uverbs_destroy_cq cq;
		struct ib_uverbs_destroy_qp qp;
		struct ib_uverbs_destroy_srq srq;
		struct ib_uverbs_dereg_mr mr;
	} cmd = {0};
	struct ib_uverbs_destroy_cq_resp resp;
	struct test_write w = {.cmd = cmd_nr, .in = &cmd, .out = &resp};

	switch (cmd_nr) {
	case IB_USER_VERBS_CMD_DESTROY_CQ:
		cmd.cq.cq_handle = handle;
		w.inlen = sizeof(cmd.cq);
		w.outlen = sizeof(resp);
		break;
	case IB_USER_VERBS_CMD_DESTROY_QP:
		cmd.qp.qp_handle = handle;
		w.inlen = sizeof(cmd.qp);
		w.outlen = sizeof(struct ib_uverbs_destroy_qp_resp);
		break;
	case IB_USER_VERBS_CMD_DESTROY_SRQ:
		cmd.srq.srq_handle = handle;
		w.inlen = sizeof(cmd.srq);
		w.outlen = sizeof(struct ib_uverbs_destroy_srq_resp);
		break;
	default:
		cmd.mr.mr_handle = handle;
		w.inlen = sizeof(cmd.mr);
		break;
	}
	return test_write(v->e, &w);
}

#endif
