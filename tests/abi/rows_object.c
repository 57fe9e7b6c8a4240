/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Handles, descriptors, and the methods of verbs objects. */
#include "forms.h"

/*
 * Attributes of most rows for CREATE_CQ and CREATE_QP; a CQ's driver data ends before the UAR page.
 */
#define CQ_ATTRS(cqe) CQ_ON_VECTOR(cqe, 0)
#define CQ_ON_VECTOR(cqe, vector)                                                                  \
	HANDLE(CREATE_CQ_HANDLE, 0), VAL(CREATE_CQ_CQE, 4, cqe), VAL(CREATE_CQ_USER_HANDLE, 8, 5), \
		VAL(CREATE_CQ_COMP_VECTOR, 4, vector), VAL(CREATE_CQ_RESP_CQE, 4, OUT)
#define CQ_DATA(...)                                                                         \
	{                                                                                    \
		.id = UVERBS_ATTR_UHW_IN, .len = 24, .in = &(const struct mlx5_ib_create_cq) \
		{                                                                            \
			.db_addr = DBR, .flags = 2, __VA_ARGS__                              \
		}                                                                            \
	}
#define CQ_DATA_GOOD CQ_DATA(.buf_addr = MEM, .cqe_size = 64)
#define CQ_DATA_OUT VAL(UHW_OUT, 8, OUT + 64)
#define QP_ATTRS(pd, type) \
	HANDLE(CREATE_QP_HANDLE, 0), HANDLE(CREATE_QP_PD_HANDLE, pd), QP_CQS, QP_LAST(type)
#define QP_LAST(type) VAL(CREATE_QP_USER_HANDLE, 8, 0), VAL(CREATE_QP_TYPE, 8, type)
#define QP_CAP_OF(n)                                                                   \
	{                                                                              \
		.id = UVERBS_ATTR_CREATE_QP_CAP, .len = (n), .in = &(const uint32_t[]) \
		{                                                                      \
			1, 1, 1, 1, 0, 0, 7, 0                                         \
		}                                                                      \
	}
#define QP_ANSWER VAL(CREATE_QP_RESP_CAP, 20, OUT), VAL(CREATE_QP_RESP_QP_NUM, 4, OUT + 64)

const struct ioctl_row object_rows[] = {
	{"handle of nothing", "rdma_core.c lookup_get_idr_uobject: xa_load", ENOENT,
	 ON(PD, PD_DESTROY), .attr = {HANDLE(DESTROY_PD_HANDLE, NONE)}},
	{"handle of another object", "rdma_core.c rdma_lookup_get_uobject: uobj->uapi_object",
	 EINVAL, ON(PD, PD_DESTROY), .attr = {HANDLE(DESTROY_PD_HANDLE, CQ)}},
	{"negative handle", "rdma_core.c lookup_get_idr_uobject: id < 0", EINVAL,
	 ON(PD, PD_DESTROY), .attr = {HANDLE(DESTROY_PD_HANDLE, -1)}},
	{"handle beyond 32 bits", "rdma_core.c lookup_get_idr_uobject: xa_load", ENOENT,
	 ON(PD, PD_DESTROY), .attr = {HANDLE(DESTROY_PD_HANDLE, UINT64_C(1) << 32)}},
	{"handle with a length", "uverbs_ioctl.c uverbs_process_attr: uattr->len", EINVAL,
	 ON(PD, PD_DESTROY), .attr = {VAL(DESTROY_PD_HANDLE, 4, PD)}},
	{"handle with reserved bytes", "uverbs_ioctl.c uverbs_process_attr: attr_data.reserved",
	 EINVAL, ON(PD, PD_DESTROY),
	 .attr = {{.id = UVERBS_ATTR_DESTROY_PD_HANDLE, .data = PD, .reserved = 1}}},
	{"handle without a context", "rdma_core.c: nothing can be there", ENOENT, FRESH,
	 ON(PD, PD_DESTROY), .attr = {HANDLE(DESTROY_PD_HANDLE, PD)}},
	{"PD in use", "verbs.c pd->usecnt", EBUSY, ON(PD, PD_DESTROY),
	 .attr = {HANDLE(DESTROY_PD_HANDLE, PD)}},
	{"CQ in use", "verbs.c cq->usecnt", EBUSY, ON(CQ, CQ_DESTROY),
	 .attr = {HANDLE(DESTROY_CQ_HANDLE, CQ), VAL(DESTROY_CQ_RESP, 8, OUT)}},
	{"destroying without room for the answer",
	 "uverbs_ioctl.c ib_uverbs_run_method: mandatory: before anything is destroyed", EINVAL,
	 ON(QP, QP_DESTROY), .attr = {HANDLE(DESTROY_QP_HANDLE, QP)}},
	{"destroying with too little room",
	 "uverbs_ioctl.c uverbs_process_attr: PTR_OUT length: before anything is destroyed", EINVAL,
	 ON(QP, QP_DESTROY), .attr = {HANDLE(DESTROY_QP_HANDLE, QP), VAL(DESTROY_QP_RESP, 3, OUT)}},
	{"key of a region", "", 0, ON(MR, QUERY_MR),
	 .attr = {HANDLE(QUERY_MR_HANDLE, MR), VAL(QUERY_MR_RESP_LKEY, 4, OUT),
		  VAL(QUERY_MR_RESP_RKEY, 4, OUT + 8), VAL(QUERY_MR_RESP_LENGTH, 8, OUT + 16)}},
	{"key into kernel memory", "uverbs_ioctl.c uverbs_copy_to: access_ok", EFAULT,
	 ON(MR, QUERY_MR),
	 .attr = {HANDLE(QUERY_MR_HANDLE, MR), VAL(QUERY_MR_RESP_LKEY, 4, KERNEL),
		  VAL(QUERY_MR_RESP_RKEY, 4, OUT + 8), VAL(QUERY_MR_RESP_LENGTH, 8, OUT + 16)}},
	{"key into too many bytes", "uverbs_ioctl.c uverbs_process_attr: PTR_OUT of one size",
	 EINVAL, ON(MR, QUERY_MR),
	 .attr = {HANDLE(QUERY_MR_HANDLE, MR), VAL(QUERY_MR_RESP_LKEY, 8, OUT),
		  VAL(QUERY_MR_RESP_RKEY, 4, OUT + 8), VAL(QUERY_MR_RESP_LENGTH, 8, OUT + 16)}},

	{"channel that is not open", "rdma_core.c lookup_get_fd_uobject: fget", EBADF,
	 ON(CQ, CQ_CREATE),
	 .attr = {CQ_ATTRS(7), HANDLE(CREATE_CQ_COMP_CHANNEL, CLOSED), CQ_DATA_GOOD}},
	{"channel that is another file", "rdma_core.c lookup_get_fd_uobject: f_op", EBADF,
	 ON(CQ, CQ_CREATE),
	 .attr = {CQ_ATTRS(7), HANDLE(CREATE_CQ_COMP_CHANNEL, PLAIN), CQ_DATA_GOOD}},
	{"channel that is an async event file", "rdma_core.c lookup_get_fd_uobject: f_op", EBADF,
	 ON(CQ, CQ_CREATE),
	 .attr = {CQ_ATTRS(7), HANDLE(CREATE_CQ_COMP_CHANNEL, ASYNC), CQ_DATA_GOOD}},
	{"channel of another device file", "rdma_core.c lookup_get_fd_uobject: uobject->ufile",
	 EBADF, FRESH, ON(CQ, CQ_CREATE), .attr = {HANDLE(CREATE_CQ_COMP_CHANNEL, CHANNEL)}},
	{"channel beyond an int", "rdma_core.c lookup_get_fd_uobject: fdno != id", EINVAL,
	 ON(CQ, CQ_CREATE),
	 .attr = {CQ_ATTRS(7), HANDLE(CREATE_CQ_COMP_CHANNEL, CHANNEL | UINT64_C(1) << 32),
		  CQ_DATA_GOOD}},
	{"channel -1", "rdma_core.c lookup_get_fd_uobject: fget", EBADF, ON(CQ, CQ_CREATE),
	 .attr = {CQ_ATTRS(7), HANDLE(CREATE_CQ_COMP_CHANNEL, -1), CQ_DATA_GOOD}},
	{"CQ without a context", "rdma_core.c alloc_uobj", EINVAL, FRESH, ON(CQ, CQ_CREATE),
	 .attr = {CQ_ATTRS(7), CQ_DATA_GOOD, CQ_DATA_OUT}},
	{"completion vector 1000", "uverbs_std_types_cq.c num_comp_vectors", EINVAL,
	 ON(CQ, CQ_CREATE), .attr = {CQ_ON_VECTOR(7, 1000), CQ_DATA_GOOD, CQ_DATA_OUT}},
	{"CQ flags of 5 bytes", "uverbs_ioctl.c uverbs_get_flags32", EINVAL, ON(CQ, CQ_CREATE),
	 .attr = {CQ_ATTRS(7), VAL(CREATE_CQ_FLAGS, 5, 0), CQ_DATA_GOOD, CQ_DATA_OUT}},
	{"CQ flags of 2 bytes", "uverbs_ioctl.c uverbs_process_attr: FLAGS_IN has 4 to 8", EINVAL,
	 ON(CQ, CQ_CREATE),
	 .attr = {CQ_ATTRS(7), VAL(CREATE_CQ_FLAGS, 2, 0), CQ_DATA_GOOD, CQ_DATA_OUT}},
	{"unknown CQ flag", "uverbs_ioctl.c uverbs_get_flags32", EINVAL, ON(CQ, CQ_CREATE),
	 .attr = {CQ_ATTRS(7), VAL(CREATE_CQ_FLAGS, 4, 4), CQ_DATA_GOOD, CQ_DATA_OUT}},
	{"CQ flag in the upper half", "uverbs_ioctl.c uverbs_get_flags64", EINVAL,
	 ON(CQ, CQ_CREATE),
	 .attr = {CQ_ATTRS(7), VAL(CREATE_CQ_FLAGS, 8, UINT64_C(1) << 40), CQ_DATA_GOOD,
		  CQ_DATA_OUT}},
	{"CQ too large", "mlx5/cq.c log_max_cq_sz", EINVAL, ON(CQ, CQ_CREATE),
	 .attr = {CQ_ATTRS(1 << 22), CQ_DATA_GOOD, CQ_DATA_OUT}},
	{"CQ of -1 entries", "mlx5/cq.c entries < 0", EINVAL, ON(CQ, CQ_CREATE),
	 .attr = {CQ_ATTRS(UINT32_MAX), CQ_DATA_GOOD, CQ_DATA_OUT}},
	{"CQ without driver data", "mlx5/cq.c create_cq_user: udata.inlen", EINVAL,
	 ON(CQ, CQ_CREATE), .attr = {CQ_ATTRS(7), CQ_DATA_OUT, VAL(CREATE_CQ_FLAGS, 4, 0)}},
	{"CQEs of 32 bytes", "mlx5/cq.c create_cq_user: cqe_size", EINVAL, ON(CQ, CQ_CREATE),
	 .attr = {CQ_ATTRS(7), CQ_DATA(.buf_addr = MEM, .cqe_size = 32), CQ_DATA_OUT}},
	{"CQ buffer not mapped", "umem.c ib_umem_get", EFAULT, ON(CQ, CQ_CREATE),
	 .attr = {CQ_ATTRS(7), CQ_DATA(.buf_addr = NOWHERE, .cqe_size = 64), CQ_DATA_OUT},
	 .driver = true},
	{"CQ buffer read only", "umem.c ib_umem_get: LOCAL_WRITE", EFAULT, ON(CQ, CQ_CREATE),
	 .attr = {CQ_ATTRS(7), CQ_DATA(.buf_addr = RDONLY, .cqe_size = 64), CQ_DATA_OUT},
	 .driver = true},
	{"CQ buffer across the end of mapped memory", "umem.c ib_umem_get", EFAULT,
	 ON(CQ, CQ_CREATE),
	 .attr = {CQ_ATTRS(127), CQ_DATA(.buf_addr = OUT_END - 4096, .cqe_size = 64), CQ_DATA_OUT},
	 .driver = true},
	{"CQ buffer that wraps", "umem.c ib_umem_get", EINVAL, ON(CQ, CQ_CREATE),
	 .attr = {CQ_ATTRS(127), CQ_DATA(.buf_addr = UINT64_C(0xfffffffffffff000), .cqe_size = 64),
		  CQ_DATA_OUT},
	 .driver = true},
	{"UAR page of nobody", "mlx5/core cmd.c: the firmware's BAD_RES or BAD_PARAM", EINVAL,
	 ON(CQ, CQ_CREATE),
	 .attr = {CQ_ATTRS(7), CQ_DATA(.buf_addr = MEM, .cqe_size = 64, .uar_page_index = 0xfff0),
		  CQ_DATA_OUT}},

	{"capacities cut short", "uverbs_ioctl.c uverbs_process_attr: up to max_inline_data",
	 EINVAL, ON(QP, QP_CREATE), .attr = {QP_ATTRS(PD, 2), QP_CAP_OF(16), QP_ANSWER}},
	{"capacities that we do not know", "uverbs_ioctl.c uverbs_is_attr_cleared", EOPNOTSUPP,
	 ON(QP, QP_CREATE), .attr = {QP_ATTRS(PD, 2), QP_CAP_OF(28), QP_ANSWER}},
	{
		"QP type 100",
		"uverbs_std_types_qp.c: default of the switch",
		EINVAL,
		ON(QP, QP_CREATE),
		.attr = {QP_ATTRS(PD, 100), QP_CAP_OF(20)},
	},
	{"QP without a PD", "uverbs_ioctl.h uverbs_attr_get_obj", ENOENT, ON(QP, QP_CREATE),
	 .attr = {HANDLE(CREATE_QP_HANDLE, 0), QP_CQS, QP_LAST(2), QP_CAP_OF(20), QP_ANSWER}},
	{"QP on a PD that is a CQ", "rdma_core.c rdma_lookup_get_uobject: uobj->uapi_object",
	 EINVAL, ON(QP, QP_CREATE), .attr = {QP_ATTRS(CQ, 2), QP_CAP_OF(20), QP_ANSWER}},
	{"unknown QP flag", "uverbs_ioctl.c uverbs_get_flags32", EINVAL, ON(QP, QP_CREATE),
	 .attr = {QP_ATTRS(PD, 2), QP_CAP_OF(20), VAL(CREATE_QP_FLAGS, 4, 1 << 30), QP_ANSWER}},
	{"multicast flag on RC",
	 "uverbs_std_types_qp.c check_creation_flags: UD and raw packet only", EINVAL,
	 ON(QP, QP_CREATE),
	 .attr = {QP_ATTRS(PD, 2), QP_CAP_OF(20),
		  VAL(CREATE_QP_FLAGS, 4, IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK),
		  QP_ANSWER}},
};
ROWS_END(object_rows);
