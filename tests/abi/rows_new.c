/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Requests of libraries newer than the kernel (rdma-core up to 64), and the answers of Linux 6.1:
 * an unknown object or method is EPROTONOSUPPORT, and the library uses an older one; an unknown
 * attribute is EPROTONOSUPPORT if mandatory, else ignored (uverbs_ioctl.c, uverbs_set_attr()).
 * Numbers are those of later uapi headers.
 */
#include "forms.h"

enum { OBJECT_DMAH = 0x11, OBJECT_DMABUF, OBJECT_COMP_CNTR };
enum { METHOD_QUERY_PORT_SPEED = 7, METHOD_QUERY_COMP_CNTR_CAPS = 8 }; /* DEVICE */
enum { METHOD_GET_DATA_DIRECT_SYSFS_PATH = 0x1001 };                   /* DEVICE, mlx5 */
enum { METHOD_REG_MR = 5, METHOD_QP_ATTACH_COMP_CNTR = 2 };            /* MR, QP */
enum {
	ATTR_GET_CONTEXT_FD_ARR = 2,
	ATTR_CREATE_CQ_BUFFER_VA = 8,
	ATTR_CREATE_CQ_BUF_UMEM = 0xc,
	ATTR_CREATE_CQ_UAR_INDEX = 0x1002,
	ATTR_CREATE_QP_BUF_UMEM = 0xf,
	ATTR_REG_DMABUF_MR_ACCESS_FLAGS = 0x1000,
	ATTR_VAR_OBJ_ALLOC_FLAGS = 0x1004,
};
enum { ACCESS_FLUSH_GLOBAL = 1 << 8, MODIFY_QP_OOO_DP = 1 };

#define UNKNOWN "uverbs_ioctl.c ib_uverbs_cmd_verbs: radix tree"
/* Linux 6.18: only with the capability mkey_pcie_tph and a PCI function with TPH. */
#define DMAH_NEEDS \
	"mlx5/main.c mlx5_ib_stage_caps_init: mdev->st; UAPI_DEF_OBJ_NEEDS_FN(alloc_dmah)"
#define MANDATORY "uverbs_ioctl.c uverbs_set_attr: UVERBS_ATTR_F_MANDATORY"
#define NUMBER(i, n, v)                            \
	{                                          \
		.id = (i), .len = (n), .data = (v) \
	}
#define IGNORED(i, n, v)                                             \
	{                                                            \
		.id = (i), .len = (n), .data = (v), .optional = true \
	}
#define CQ_BASE                                                                                  \
	HANDLE(CREATE_CQ_HANDLE, 0), VAL(CREATE_CQ_CQE, 4, 7), VAL(CREATE_CQ_USER_HANDLE, 8, 5), \
		VAL(CREATE_CQ_COMP_VECTOR, 4, 0), VAL(CREATE_CQ_RESP_CQE, 4, OUT), CQ_UHW,       \
		VAL(UHW_OUT, 8, OUT + 16)
#define UCTX                                                                      \
	UHW(mlx5_ib_alloc_ucontext_req_v2, .total_num_bfregs = 2, .lib_caps = 3), \
		VAL(UHW_OUT, 72, OUT + 64)

/* struct mlx5_ib_create_cq, and 8 bytes that it may have in future. */
struct longer_cq {
	struct mlx5_ib_create_cq known;
	uint64_t more;
};
static const struct longer_cq longer_cq = {
	.known = {.buf_addr = MEM + 0x1000,
		  .db_addr = NEXT_DBR,
		  .cqe_size = 64,
		  .flags = MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX,
		  .uar_page_index = UAR_PAGE}};
#define LONGER_CQ_UHW                                                                \
	{                                                                            \
		.id = UVERBS_ATTR_UHW_IN, .len = sizeof(longer_cq), .in = &longer_cq \
	}

const struct ioctl_row new_rows[] = {
	/* ---- objects and methods */
	{"DMA handle", DMAH_NEEDS, EPROTONOSUPPORT, .object = OBJECT_DMAH, .nattr = 1,
	 .attr = {NUMBER(0, 0, 0)}},
	{"DMA handle destroyed", DMAH_NEEDS, EPROTONOSUPPORT, .object = OBJECT_DMAH, .method = 1,
	 .nattr = 1, .attr = {NUMBER(0, 0, 0)}},
	{"dmabuf of a mapping", UNKNOWN, EPROTONOSUPPORT, .object = OBJECT_DMABUF, .nattr = 1,
	 .attr = {NUMBER(0, 0, 0)}},
	{"completion counter", UNKNOWN, EPROTONOSUPPORT, .object = OBJECT_COMP_CNTR, .nattr = 1,
	 .attr = {NUMBER(0, 0, 0)}},
	{"speed of a port", UNKNOWN, EPROTONOSUPPORT, .object = UVERBS_OBJECT_DEVICE,
	 .method = METHOD_QUERY_PORT_SPEED, .nattr = 2,
	 .attr = {NUMBER(0, 4, 1), NUMBER(1, 8, OUT)}},
	{"completion counters that there can be", UNKNOWN, EPROTONOSUPPORT,
	 .object = UVERBS_OBJECT_DEVICE, .method = METHOD_QUERY_COMP_CNTR_CAPS, .nattr = 1,
	 .attr = {NUMBER(0, 4, OUT)}},
	{"path of the data direct function", UNKNOWN, EPROTONOSUPPORT,
	 .object = UVERBS_OBJECT_DEVICE, .method = METHOD_GET_DATA_DIRECT_SYSFS_PATH,
	 .attr = {NUMBER(0x1000, 64, OUT)}},
	{"region by a method", UNKNOWN, EPROTONOSUPPORT, .object = UVERBS_OBJECT_MR,
	 .method = METHOD_REG_MR, .nattr = 2, .attr = {NUMBER(0, 0, 0), NUMBER(1, 0, PD)}},
	{"completion counter of a QP", UNKNOWN, EPROTONOSUPPORT, .object = UVERBS_OBJECT_QP,
	 .method = METHOD_QP_ATTACH_COMP_CNTR, .nattr = 1, .attr = {NUMBER(0, 0, QP)}},

	/* ---- attributes of known methods */
	{"context with descriptors", MANDATORY, EPROTONOSUPPORT, FRESH,
	 .object = UVERBS_OBJECT_DEVICE, .method = UVERBS_METHOD_GET_CONTEXT,
	 .attr = {UCTX, NUMBER(ATTR_GET_CONTEXT_FD_ARR, 4, 1)}},
	{"CQ in a given buffer", MANDATORY, EPROTONOSUPPORT, ON(CQ, CQ_CREATE),
	 .attr = {CQ_BASE, NUMBER(ATTR_CREATE_CQ_BUFFER_VA, 8, MEM)}},
	{"CQ in a described buffer", MANDATORY, EPROTONOSUPPORT, ON(CQ, CQ_CREATE),
	 .attr = {CQ_BASE, NUMBER(ATTR_CREATE_CQ_BUF_UMEM, 32, MEM)}},
	{"CQ with a UAR of 32 bits", MANDATORY, EPROTONOSUPPORT, ON(CQ, CQ_CREATE),
	 .attr = {CQ_BASE, NUMBER(ATTR_CREATE_CQ_UAR_INDEX, 4, UAR_PAGE)}},
	{"CQ with a wish that nobody knows", "uverbs_ioctl.c uverbs_set_attr: ignored", 0,
	 ON(CQ, CQ_CREATE), .attr = {CQ_BASE, IGNORED(ATTR_CREATE_CQ_UAR_INDEX, 4, UAR_PAGE)},
	 .more = true},
	{"it goes", "", 0, RUN(C(DESTROY_CQ), destroy_cq, 8, .cq_handle = NEXT)},
	{"QP in a described buffer", MANDATORY, EPROTONOSUPPORT, ON(QP, QP_CREATE),
	 .attr = {QP_BASE, QP_RESP, NUMBER(ATTR_CREATE_QP_BUF_UMEM, 32, MEM)}},
	{"dmabuf region by the data direct function", MANDATORY, EPROTONOSUPPORT,
	 ON(MR, REG_DMABUF_MR),
	 .attr = {HANDLE(REG_DMABUF_MR_HANDLE, 0), HANDLE(REG_DMABUF_MR_PD_HANDLE, PD),
		  VAL(REG_DMABUF_MR_OFFSET, 8, 0), VAL(REG_DMABUF_MR_LENGTH, 8, 4096),
		  VAL(REG_DMABUF_MR_IOVA, 8, 0), VAL(REG_DMABUF_MR_FD, 4, 0),
		  VAL(REG_DMABUF_MR_ACCESS_FLAGS, 4, 0), VAL(REG_DMABUF_MR_RESP_LKEY, 4, OUT),
		  VAL(REG_DMABUF_MR_RESP_RKEY, 4, OUT + 8),
		  NUMBER(ATTR_REG_DMABUF_MR_ACCESS_FLAGS, 4, 1)}},
	{"VAR for TLPs", MANDATORY, EPROTONOSUPPORT, ON5(VAR, VAR_OBJ_ALLOC),
	 .attr = {HANDLE5(VAR_OBJ_ALLOC_HANDLE, 0), VAL5(VAR_OBJ_ALLOC_MMAP_OFFSET, 8, OUT),
		  VAL5(VAR_OBJ_ALLOC_MMAP_LENGTH, 4, OUT + 8),
		  VAL5(VAR_OBJ_ALLOC_PAGE_ID, 4, OUT + 12),
		  NUMBER(ATTR_VAR_OBJ_ALLOC_FLAGS, 4, 1)}},

	/* ---- bits and longer structures of known commands */
	{"region that may be flushed", "ib_verbs.h ib_check_mr_access: IB_ACCESS_SUPPORTED", EINVAL,
	 RUN(C(REG_MR), reg_mr, 12, AT(MEM, 4096), .pd_handle = PD,
	     .access_flags = 1 | ACCESS_FLUSH_GLOBAL)},
	{"region on demand that wraps", "umem_odp.c ib_init_umem_odp: check_add_overflow",
	 EOVERFLOW,
	 RUN(C(REG_MR), reg_mr, 12, AT(UINT64_C(0) - 4096, 8192), .pd_handle = PD,
	     .access_flags = 1 | IB_UVERBS_ACCESS_ON_DEMAND)},
	{"region on demand of no bytes", "umem_odp.c ib_init_umem_odp: !ndmas", EINVAL,
	 RUN(C(REG_MR), reg_mr, 12, AT(MEM, 0), .pd_handle = PD,
	     .access_flags = 1 | IB_UVERBS_ACCESS_ON_DEMAND)},
	{"region on demand of 2 TiB", "umem_odp.c ib_init_umem_odp: kvcalloc", ENOMEM,
	 RUN(C(REG_MR), reg_mr, 12, AT(MEM, UINT64_C(1) << 41), .pd_handle = PD,
	     .access_flags = 1 | IB_UVERBS_ACCESS_ON_DEMAND)},
	{"everything on demand, but not at 0", "mlx5/mr.c create_user_odp_mr: iova", EINVAL,
	 RUN(C(REG_MR), reg_mr, 12, .start = 0, .length = UINT64_MAX, .hca_va = 4096,
	     .pd_handle = PD, .access_flags = 1 | IB_UVERBS_ACCESS_ON_DEMAND)},
	{"everything on demand", "", 0,
	 RUN(C(REG_MR), reg_mr, 12, .start = 0, .length = UINT64_MAX, .hca_va = 0, .pd_handle = PD,
	     .access_flags = 1 | IB_UVERBS_ACCESS_ON_DEMAND),
	 .more = true},
	{"everything no longer on demand", "mlx5/mr.c mlx5_ib_rereg_user_mr: is_odp_implicit",
	 EOPNOTSUPP,
	 RUN(C(REREG_MR), rereg_mr, 8, .mr_handle = NEXT, .flags = 4, .access_flags = 1,
	     .pd_handle = PD),
	 .more = true},
	{"everything on demand destroyed", "", 0, ON(MR, MR_DESTROY),
	 .attr = {HANDLE(DESTROY_MR_HANDLE, NEXT)}},
	{"region on demand over nothing", "umem_odp.c: no page is looked at", 0,
	 RUN(C(REG_MR), reg_mr, 12, AT(0x10000, 4096), .pd_handle = PD,
	     .access_flags = 1 | IB_UVERBS_ACCESS_ON_DEMAND),
	 .more = true},
	{"region on demand destroyed", "", 0, ON(MR, MR_DESTROY),
	 .attr = {HANDLE(DESTROY_MR_HANDLE, NEXT)}},
	{"QP whose packets may come in any order", "mlx5/qp.c mlx5_ib_modify_qp: ucmd.comp_mask",
	 EOPNOTSUPP,
	 RUN_UHW(EX(MODIFY_QP), ex_modify_qp, 8,
		 UHW(mlx5_ib_modify_qp, .comp_mask = MODIFY_QP_OOO_DP), 24,
		 .base = {.qp_handle = QP,
			  .qp_state = 1,
			  .port_num = 1,
			  .attr_mask = 1 | 1 << 4 | 1 << 5 | 8})},
	{"the same, in a transition that there is not",
	 "mlx5/qp.c mlx5_ib_modify_qp: ucmd.comp_mask before ib_modify_qp_is_ok", EOPNOTSUPP,
	 RUN_UHW(EX(MODIFY_QP), ex_modify_qp, 8,
		 UHW(mlx5_ib_modify_qp, .comp_mask = MODIFY_QP_OOO_DP), 24,
		 .base = {.qp_handle = QP, .qp_state = 3, .attr_mask = 1})},
	{"driver's request for a CQ that is longer, and zero there",
	 "mlx5/cq.c create_cq_user: min(udata->inlen, sizeof(ucmd))", 0,
	 RUN_UHW(C(CREATE_CQ), create_cq, 8, LONGER_CQ_UHW, 8, .cqe = 7, .comp_channel = -1),
	 .more = true},
	{"it goes", "", 0, RUN(C(DESTROY_CQ), destroy_cq, 8, .cq_handle = NEXT)},
};
ROWS_END(new_rows);
