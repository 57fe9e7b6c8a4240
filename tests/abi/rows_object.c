/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Handles, descriptors, and the methods of verbs objects. */
#include "abi.h"

#define PD_DESTROY .object = UVERBS_OBJECT_PD, .method = UVERBS_METHOD_PD_DESTROY, .nattr = 1
#define H(h) .attr = {{.id = UVERBS_ATTR_DESTROY_PD_HANDLE, .data = (uint64_t)(h)}}
#define CQ_DESTROY .object = UVERBS_OBJECT_CQ, .method = UVERBS_METHOD_CQ_DESTROY, .nattr = 1
#define CQ_GONE(len_, at_)                                                      \
	{                                                                       \
		.id = UVERBS_ATTR_DESTROY_CQ_RESP, .len = (len_), .data = (at_) \
	}
#define CQ_H(h)                                                  \
	{                                                        \
		.id = UVERBS_ATTR_DESTROY_CQ_HANDLE, .data = (h) \
	}
#define QUERY_MR .object = UVERBS_OBJECT_MR, .method = UVERBS_METHOD_QUERY_MR, .nattr = 1
#define MR_ANSWER(i, n, at)                                                   \
	{                                                                     \
		.id = UVERBS_ATTR_QUERY_MR_RESP_##i, .len = (n), .data = (at) \
	}
#define MR_H(h)                                                \
	{                                                      \
		.id = UVERBS_ATTR_QUERY_MR_HANDLE, .data = (h) \
	}

/* CREATE_CQ: attributes but for one */
#define CQ_CREATE .object = UVERBS_OBJECT_CQ, .method = UVERBS_METHOD_CQ_CREATE, .nattr = 1
#define A_HANDLE                                   \
	{                                          \
		.id = UVERBS_ATTR_CREATE_CQ_HANDLE \
	}
#define A_CQE(n)                                                       \
	{                                                              \
		.id = UVERBS_ATTR_CREATE_CQ_CQE, .len = 4, .data = (n) \
	}
#define A_USER                                                               \
	{                                                                    \
		.id = UVERBS_ATTR_CREATE_CQ_USER_HANDLE, .len = 8, .data = 5 \
	}
#define A_VECTOR(n)                                                            \
	{                                                                      \
		.id = UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, .len = 4, .data = (n) \
	}
#define A_RESP(at)                                                           \
	{                                                                    \
		.id = UVERBS_ATTR_CREATE_CQ_RESP_CQE, .len = 4, .data = (at) \
	}
#define A_CHANNEL(fd)                                                            \
	{                                                                        \
		.id = UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, .data = (uint64_t)(fd) \
	}
#define A_FLAGS(n, f)                                                      \
	{                                                                  \
		.id = UVERBS_ATTR_CREATE_CQ_FLAGS, .len = (n), .data = (f) \
	}
#define A_UHW(...)                                                                           \
	{                                                                                    \
		.id = UVERBS_ATTR_UHW_IN, .len = 24, .in = &(const struct mlx5_ib_create_cq) \
		{                                                                            \
			.db_addr = DBR, .flags = 2, __VA_ARGS__                              \
		}                                                                            \
	}
#define A_OUT(at)                                                 \
	{                                                         \
		.id = UVERBS_ATTR_UHW_OUT, .len = 8, .data = (at) \
	}
#define GOOD_UHW A_UHW(.buf_addr = MEM, .cqe_size = 64)

#define QP_CREATE .object = UVERBS_OBJECT_QP, .method = UVERBS_METHOD_QP_CREATE, .nattr = 1
#define Q_HANDLE                                   \
	{                                          \
		.id = UVERBS_ATTR_CREATE_QP_HANDLE \
	}
#define Q_PD(h)                                                    \
	{                                                          \
		.id = UVERBS_ATTR_CREATE_QP_PD_HANDLE, .data = (h) \
	}
#define Q_SCQ(h)                                                        \
	{                                                               \
		.id = UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, .data = (h) \
	}
#define Q_RCQ(h)                                                        \
	{                                                               \
		.id = UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, .data = (h) \
	}
#define Q_USER                                                    \
	{                                                         \
		.id = UVERBS_ATTR_CREATE_QP_USER_HANDLE, .len = 8 \
	}
#define Q_TYPE(t)                                                       \
	{                                                               \
		.id = UVERBS_ATTR_CREATE_QP_TYPE, .len = 8, .data = (t) \
	}
#define Q_FLAGS(f)                                                       \
	{                                                                \
		.id = UVERBS_ATTR_CREATE_QP_FLAGS, .len = 4, .data = (f) \
	}
#define Q_CAP(n)                                                                       \
	{                                                                              \
		.id = UVERBS_ATTR_CREATE_QP_CAP, .len = (n), .in = &(const uint32_t[]) \
		{                                                                      \
			1, 1, 1, 1, 0, 0, 7, 0                                         \
		}                                                                      \
	}
#define Q_RESP                                                                      \
	{.id = UVERBS_ATTR_CREATE_QP_RESP_CAP, .len = 20, .data = OUT},             \
	{                                                                           \
		.id = UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, .len = 4, .data = OUT + 64 \
	}

const struct ioctl_row object_rows[] = {
	{"handle of nothing", "rdma_core.c lookup_get_idr_uobject: xa_load", ENOENT, PD_DESTROY,
	 H(NONE)},
	{"handle of another object", "rdma_core.c rdma_lookup_get_uobject: uobj->uapi_object",
	 EINVAL, PD_DESTROY, H(CQ)},
	{"negative handle", "rdma_core.c lookup_get_idr_uobject: id < 0", EINVAL, PD_DESTROY,
	 H(-1)},
	{"handle beyond 32 bits", "rdma_core.c lookup_get_idr_uobject: xa_load", ENOENT, PD_DESTROY,
	 H(UINT64_C(1) << 32)},
	{"handle with a length", "uverbs_ioctl.c uverbs_process_attr: uattr->len", EINVAL,
	 PD_DESTROY, .attr = {{.id = UVERBS_ATTR_DESTROY_PD_HANDLE, .len = 4, .data = PD}}},
	{"handle with reserved bytes", "uverbs_ioctl.c uverbs_process_attr: attr_data.reserved",
	 EINVAL, PD_DESTROY,
	 .attr = {{.id = UVERBS_ATTR_DESTROY_PD_HANDLE, .data = PD, .reserved = 1}}},
	{"handle without a context", "rdma_core.c: nothing can be there", ENOENT, FRESH, PD_DESTROY,
	 H(PD)},
	{"PD in use", "verbs.c pd->usecnt", EBUSY, PD_DESTROY, H(PD)},
	{"CQ in use", "verbs.c cq->usecnt", EBUSY, CQ_DESTROY, .attr = {CQ_H(CQ), CQ_GONE(8, OUT)}},
	{"destroying without room for the answer",
	 "uverbs_ioctl.c ib_uverbs_run_method: mandatory: before anything is destroyed", EINVAL,
	 .object = UVERBS_OBJECT_QP, .method = UVERBS_METHOD_QP_DESTROY,
	 .attr = {{.id = UVERBS_ATTR_DESTROY_QP_HANDLE, .data = QP}}},
	{"destroying with too little room",
	 "uverbs_ioctl.c uverbs_process_attr: PTR_OUT length: before anything is destroyed", EINVAL,
	 .object = UVERBS_OBJECT_QP, .method = UVERBS_METHOD_QP_DESTROY,
	 .attr = {{.id = UVERBS_ATTR_DESTROY_QP_HANDLE, .data = QP},
		  {.id = UVERBS_ATTR_DESTROY_QP_RESP, .len = 3, .data = OUT}}},
	{"key of a region", "", 0, QUERY_MR,
	 .attr = {MR_H(MR), MR_ANSWER(LKEY, 4, OUT), MR_ANSWER(RKEY, 4, OUT + 8),
		  MR_ANSWER(LENGTH, 8, OUT + 16)}},
	{"key into kernel memory", "uverbs_ioctl.c uverbs_copy_to: access_ok", EFAULT, QUERY_MR,
	 .attr = {MR_H(MR), MR_ANSWER(LKEY, 4, KERNEL), MR_ANSWER(RKEY, 4, OUT + 8),
		  MR_ANSWER(LENGTH, 8, OUT + 16)}},
	{"key into too many bytes", "uverbs_ioctl.c uverbs_process_attr: PTR_OUT of one size",
	 EINVAL, QUERY_MR,
	 .attr = {MR_H(MR), MR_ANSWER(LKEY, 8, OUT), MR_ANSWER(RKEY, 4, OUT + 8),
		  MR_ANSWER(LENGTH, 8, OUT + 16)}},

	{"channel that is not open", "rdma_core.c lookup_get_fd_uobject: fget", EBADF, CQ_CREATE,
	 .attr = {A_HANDLE, A_CQE(7), A_USER, A_VECTOR(0), A_RESP(OUT), A_CHANNEL(CLOSED),
		  GOOD_UHW}},
	{"channel that is another file", "rdma_core.c lookup_get_fd_uobject: f_op", EBADF,
	 CQ_CREATE,
	 .attr = {A_HANDLE, A_CQE(7), A_USER, A_VECTOR(0), A_RESP(OUT), A_CHANNEL(PLAIN),
		  GOOD_UHW}},
	{"channel that is an async event file", "rdma_core.c lookup_get_fd_uobject: f_op", EBADF,
	 CQ_CREATE,
	 .attr = {A_HANDLE, A_CQE(7), A_USER, A_VECTOR(0), A_RESP(OUT), A_CHANNEL(ASYNC),
		  GOOD_UHW}},
	{"channel of another device file", "rdma_core.c lookup_get_fd_uobject: uobject->ufile",
	 EBADF, FRESH, CQ_CREATE, .attr = {A_CHANNEL(CHANNEL)}},
	{"channel beyond an int", "rdma_core.c lookup_get_fd_uobject: fdno != id", EINVAL,
	 CQ_CREATE,
	 .attr = {A_HANDLE, A_CQE(7), A_USER, A_VECTOR(0), A_RESP(OUT),
		  A_CHANNEL(CHANNEL | UINT64_C(1) << 32), GOOD_UHW}},
	{"channel -1", "rdma_core.c lookup_get_fd_uobject: fget", EBADF, CQ_CREATE,
	 .attr = {A_HANDLE, A_CQE(7), A_USER, A_VECTOR(0), A_RESP(OUT), A_CHANNEL(-1), GOOD_UHW}},
	{"CQ without a context", "rdma_core.c alloc_uobj", EINVAL, FRESH, CQ_CREATE,
	 .attr = {A_HANDLE, A_CQE(7), A_USER, A_VECTOR(0), A_RESP(OUT), GOOD_UHW, A_OUT(OUT + 64)}},
	{"completion vector 1000", "uverbs_std_types_cq.c num_comp_vectors", EINVAL, CQ_CREATE,
	 .attr = {A_HANDLE, A_CQE(7), A_USER, A_VECTOR(1000), A_RESP(OUT), GOOD_UHW,
		  A_OUT(OUT + 64)}},
	{"CQ flags of 5 bytes", "uverbs_ioctl.c uverbs_get_flags32", EINVAL, CQ_CREATE,
	 .attr = {A_HANDLE, A_CQE(7), A_USER, A_VECTOR(0), A_RESP(OUT), A_FLAGS(5, 0), GOOD_UHW,
		  A_OUT(OUT + 64)}},
	{"CQ flags of 2 bytes", "uverbs_ioctl.c uverbs_process_attr: FLAGS_IN has 4 to 8", EINVAL,
	 CQ_CREATE,
	 .attr = {A_HANDLE, A_CQE(7), A_USER, A_VECTOR(0), A_RESP(OUT), A_FLAGS(2, 0), GOOD_UHW,
		  A_OUT(OUT + 64)}},
	{"unknown CQ flag", "uverbs_ioctl.c uverbs_get_flags32", EINVAL, CQ_CREATE,
	 .attr = {A_HANDLE, A_CQE(7), A_USER, A_VECTOR(0), A_RESP(OUT), A_FLAGS(4, 4), GOOD_UHW,
		  A_OUT(OUT + 64)}},
	{"CQ flag in the upper half", "uverbs_ioctl.c uverbs_get_flags64", EINVAL, CQ_CREATE,
	 .attr = {A_HANDLE, A_CQE(7), A_USER, A_VECTOR(0), A_RESP(OUT),
		  A_FLAGS(8, UINT64_C(1) << 40), GOOD_UHW, A_OUT(OUT + 64)}},
	{"CQ too large", "mlx5/cq.c log_max_cq_sz", EINVAL, CQ_CREATE,
	 .attr = {A_HANDLE, A_CQE(1 << 22), A_USER, A_VECTOR(0), A_RESP(OUT), GOOD_UHW,
		  A_OUT(OUT + 64)}},
	{"CQ of -1 entries", "mlx5/cq.c entries < 0", EINVAL, CQ_CREATE,
	 .attr = {A_HANDLE, A_CQE(UINT32_MAX), A_USER, A_VECTOR(0), A_RESP(OUT), GOOD_UHW,
		  A_OUT(OUT + 64)}},
	{"CQ without driver data", "mlx5/cq.c create_cq_user: udata.inlen", EINVAL, CQ_CREATE,
	 .attr = {A_HANDLE, A_CQE(7), A_USER, A_VECTOR(0), A_RESP(OUT), A_OUT(OUT + 64),
		  A_FLAGS(4, 0)}},
	{"CQEs of 32 bytes", "mlx5/cq.c create_cq_user: cqe_size", EINVAL, CQ_CREATE,
	 .attr = {A_HANDLE, A_CQE(7), A_USER, A_VECTOR(0), A_RESP(OUT),
		  A_UHW(.buf_addr = MEM, .cqe_size = 32), A_OUT(OUT + 64)}},
	{"CQ buffer not mapped", "umem.c ib_umem_get", EFAULT, CQ_CREATE,
	 .attr = {A_HANDLE, A_CQE(7), A_USER, A_VECTOR(0), A_RESP(OUT),
		  A_UHW(.buf_addr = NOWHERE, .cqe_size = 64), A_OUT(OUT + 64)}},
	{"CQ buffer read only", "umem.c ib_umem_get: LOCAL_WRITE", EFAULT, CQ_CREATE,
	 .attr = {A_HANDLE, A_CQE(7), A_USER, A_VECTOR(0), A_RESP(OUT),
		  A_UHW(.buf_addr = RDONLY, .cqe_size = 64), A_OUT(OUT + 64)}},
	{"CQ buffer across the end of mapped memory", "umem.c ib_umem_get", EFAULT, CQ_CREATE,
	 .attr = {A_HANDLE, A_CQE(127), A_USER, A_VECTOR(0), A_RESP(OUT),
		  A_UHW(.buf_addr = OUT_END - 4096, .cqe_size = 64), A_OUT(OUT + 64)}},
	{"CQ buffer that wraps", "umem.c ib_umem_get", EINVAL, CQ_CREATE,
	 .attr = {A_HANDLE, A_CQE(127), A_USER, A_VECTOR(0), A_RESP(OUT),
		  A_UHW(.buf_addr = UINT64_C(0xfffffffffffff000), .cqe_size = 64),
		  A_OUT(OUT + 64)}},
	{"UAR page of nobody", "mlx5/core cmd.c: the firmware's BAD_RES or BAD_PARAM", EINVAL,
	 CQ_CREATE,
	 .attr = {A_HANDLE, A_CQE(7), A_USER, A_VECTOR(0), A_RESP(OUT),
		  A_UHW(.buf_addr = MEM, .cqe_size = 64, .uar_page_index = 0xfff0),
		  A_OUT(OUT + 64)}},

	{"capacities cut short", "uverbs_ioctl.c uverbs_process_attr: up to max_inline_data",
	 EINVAL, QP_CREATE,
	 .attr = {Q_HANDLE, Q_PD(PD), Q_SCQ(CQ), Q_RCQ(CQ), Q_USER, Q_TYPE(2), Q_CAP(16), Q_RESP}},
	{"capacities that we do not know", "uverbs_ioctl.c uverbs_is_attr_cleared", EOPNOTSUPP,
	 QP_CREATE,
	 .attr = {Q_HANDLE, Q_PD(PD), Q_SCQ(CQ), Q_RCQ(CQ), Q_USER, Q_TYPE(2), Q_CAP(28), Q_RESP}},
	{
		"QP type 100",
		"uverbs_std_types_qp.c: default of the switch",
		EINVAL,
		QP_CREATE,
		.attr = {Q_HANDLE, Q_PD(PD), Q_SCQ(CQ), Q_RCQ(CQ), Q_USER, Q_TYPE(100), Q_CAP(20)},
	},
	{"QP without a PD", "uverbs_ioctl.h uverbs_attr_get_obj", ENOENT, QP_CREATE,
	 .attr = {Q_HANDLE, Q_USER, Q_SCQ(CQ), Q_RCQ(CQ), Q_TYPE(2), Q_CAP(20), Q_RESP}},
	{"QP on a PD that is a CQ", "rdma_core.c rdma_lookup_get_uobject: uobj->uapi_object",
	 EINVAL, QP_CREATE,
	 .attr = {Q_HANDLE, Q_PD(CQ), Q_SCQ(CQ), Q_RCQ(CQ), Q_USER, Q_TYPE(2), Q_CAP(20), Q_RESP}},
	{"unknown QP flag", "uverbs_ioctl.c uverbs_get_flags32", EINVAL, QP_CREATE,
	 .attr = {Q_HANDLE, Q_PD(PD), Q_SCQ(CQ), Q_RCQ(CQ), Q_USER, Q_TYPE(2), Q_CAP(20),
		  Q_FLAGS(1 << 30), Q_RESP}},
	{"multicast flag on RC",
	 "uverbs_std_types_qp.c check_creation_flags: UD and raw packet only", EINVAL, QP_CREATE,
	 .attr = {Q_HANDLE, Q_PD(PD), Q_SCQ(CQ), Q_RCQ(CQ), Q_USER, Q_TYPE(2), Q_CAP(20),
		  Q_FLAGS(IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK), Q_RESP}},
};
ROWS_END(object_rows);
