/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * SRQs with tag matching: the rules are those of uverbs_std_types_srq.c, __uverbs_create_xsrq() of
 * uverbs_cmd.c and mlx5/srq.c. rxe has none (rxe_create_srq() of rxe_verbs.c).
 */
#include "forms.h"
#include "words.h"

/* Lists have up to 127 entries (log_tag_matching_list_sz 7). */
#define SRQ(buf, ...)                                                                           \
	ON(SRQ, SRQ_CREATE), .attr = {{.id = UVERBS_ATTR_CREATE_SRQ_HANDLE},                    \
				      VAL(CREATE_SRQ_TYPE, 8, IB_UVERBS_SRQT_TM),               \
				      VAL(CREATE_SRQ_USER_HANDLE, 8, 0),                        \
				      VAL(CREATE_SRQ_MAX_WR, 4, 15),                            \
				      VAL(CREATE_SRQ_MAX_SGE, 4, 1),                            \
				      VAL(CREATE_SRQ_LIMIT, 4, 0),                              \
				      VAL(CREATE_SRQ_RESP_MAX_WR, 4, OUT),                      \
				      VAL(CREATE_SRQ_RESP_MAX_SGE, 4, OUT + 8),                 \
				      VAL(CREATE_SRQ_PD_HANDLE, 0, PD),                         \
				      UHW(mlx5_ib_create_srq, .buf_addr = (buf),                \
					  .db_addr = NEXT_DBR + 128, .uidx = 7),                \
				      {.id = UVERBS_ATTR_UHW_OUT, .len = 8, .data = OUT + 512}, \
				      __VA_ARGS__}
#define TAGS(n) VAL(CREATE_SRQ_MAX_NUM_TAGS, 4, n)
#define WITH(n) SRQ(MEM + 0x6000, HANDLE(CREATE_SRQ_CQ_HANDLE, CQ), TAGS(n))
#define GONE(h) \
	ON(SRQ, SRQ_DESTROY), .attr = {HANDLE(DESTROY_SRQ_HANDLE, h), VAL(DESTROY_SRQ_RESP, 4, OUT)}
#define LIMIT(n) \
	RUN(C(MODIFY_SRQ), modify_srq, 0, .srq_handle = NEXT, .attr_mask = 2, .srq_limit = (n))
/* QUERY_XRQ or QUERY_RMP of the number that the first of these SRQs gets. */
enum { SRQN = 9 };
#define DEVX_QUERY(op)                                                                         \
	ON5(DEVX_OBJ, DEVX_OBJ_QUERY),                                                         \
		.attr = {HANDLE5(DEVX_OBJ_QUERY_HANDLE, NEXT),                                 \
			 BYTES5(DEVX_OBJ_QUERY_CMD_IN, 16, (op) >> 8, (op)&0xff, [11] = SRQN), \
			 VAL5(DEVX_OBJ_QUERY_CMD_OUT, 0x200, OUT)}
#define TOO_MANY "mlx5/srq.c mlx5_ib_create_srq: log_tag_matching_list_sz"
#define QP_WITH(type, wr)                                                                  \
	RUN_UHW(C(CREATE_QP), create_qp, 32,                                               \
		UHW(mlx5_ib_create_qp, .buf_addr = MEM + 0x5000, .db_addr = NEXT_DBR + 64, \
		    .sq_wqe_count = (wr), .flags = MLX5_QP_FLAG_UAR_PAGE_INDEX, .uidx = 8, \
		    .bfreg_index = UAR_PAGE),                                              \
		40, .pd_handle = PD, .send_cq_handle = CQ, .recv_cq_handle = CQ,           \
		.max_send_wr = (wr), .max_send_sge = (wr) ? 1 : 0,                         \
		.qp_type = IB_UVERBS_QPT_##type, .is_srq = 1, .srq_handle = NEXT)

const struct ioctl_row tm_rows[] = {
	{"SRQ", "", 0, WITH(15), .more = true, .driver = true, .link = ON_IB},
	{"its limit", "mlx5/srq_cmd.c arm_xrq_cmd", 0, LIMIT(5), .more = true, .link = ON_IB},
	{"a limit that it cannot have", "mlx5/srq.c mlx5_ib_modify_srq: msrq.max", EINVAL,
	 LIMIT(16), .more = true, .link = ON_IB},
	{"query", "mlx5/srq_cmd.c query_xrq_cmd", 0,
	 RUN(C(QUERY_SRQ), query_srq, 16, .srq_handle = NEXT), .more = true, .link = ON_IB},
	{"query by DEVX", "mlx5/devx.c devx_is_valid_obj_id: MLX5_RES_XRQ", 0, DEVX_QUERY(0x719),
	 .more = true, .link = ON_IB},
	{"query as an RMP by DEVX", "mlx5/devx.c devx_is_valid_obj_id: MLX5_RES_XRQ", EINVAL,
	 DEVX_QUERY(0x90f), .more = true, .link = ON_IB},
	{"QP with it", "", 0, QP_WITH(RC, 4), .more = true, .driver = true, .link = ON_IB},
	{"SRQ in use", "verbs.c srq->usecnt", EBUSY, GONE(NEXT), .more = true, .driver = true,
	 .link = ON_IB},
	{"QP destroyed", "", 0, RUN(C(DESTROY_QP), destroy_qp, 4, .qp_handle = NEXT + 1),
	 .more = true, .driver = true, .link = ON_IB},
	{"QP that the device sends by", "mlx5/qp.c create_user_qp: MLX5_QPC_OFFLOAD_TYPE_RNDV", 0,
	 QP_WITH(RC, 0), .more = true, .link = ON_IB},
	{"QP destroyed", "", 0, RUN(C(DESTROY_QP), destroy_qp, 4, .qp_handle = NEXT + 1),
	 .more = true, .driver = true, .link = ON_IB},
	{"UC QP with it", "mlx5: the firmware (inferred from IBV_TM_CAP_RC)", EINVAL,
	 QP_WITH(UC, 4), .more = true, .link = ON_IB},
	{"SRQ destroyed", "", 0, GONE(NEXT), .driver = true, .link = ON_IB},
	{"as many tags as the device has", "", 0, WITH(127), .more = true, .driver = true,
	 .link = ON_IB},
	{"SRQ destroyed", "", 0, GONE(NEXT), .driver = true, .link = ON_IB},
	{"no tag", "mlx5/srq.c mlx5_ib_create_srq: ilog2(0) + 1", 0, WITH(0), .more = true,
	 .link = ON_IB},
	{"SRQ destroyed", "", 0, GONE(NEXT), .driver = true, .link = ON_IB},
	{"SRQ on Ethernet", TOO_MANY " is 0", EINVAL, WITH(15), .link = ON_ETH},
	{"SRQ without tags on Ethernet", "mlx5: the firmware", EINVAL, WITH(0), .link = ON_ETH},
	{"one tag more", TOO_MANY, EINVAL, WITH(128)},
	{"most tags", TOO_MANY, EINVAL, WITH(0xffffffff)},
	{"too many tags, in memory that is not there", "mlx5/srq.c create_srq_user comes first",
	 EFAULT, SRQ(OUT_END, HANDLE(CREATE_SRQ_CQ_HANDLE, CQ), TAGS(128))},
	{"no CQ", "ib_srq_has_cq", ENOENT, SRQ(MEM + 0x6000, TAGS(15))},
	{"CQ that is a PD", "uverbs_ioctl.c: uobj->uapi_object", EINVAL,
	 SRQ(MEM + 0x6000, HANDLE(CREATE_SRQ_CQ_HANDLE, PD), TAGS(15))},
	{"no number of tags", "uverbs_std_types_srq.c: uverbs_copy_from", ENOENT,
	 SRQ(MEM + 0x6000, HANDLE(CREATE_SRQ_CQ_HANDLE, CQ))},
	{"user index of all ones", "mlx5/mlx5_ib.h get_srq_user_index", EINVAL,
	 RUN_UHW(C(CREATE_XSRQ), create_xsrq, 16,
		 UHW(mlx5_ib_create_srq, .buf_addr = MEM + 0x6000, .db_addr = NEXT_DBR + 128,
		     .uidx = 0xffffff),
		 8, .srq_type = IB_UVERBS_SRQT_TM, .pd_handle = PD, .max_wr = 15, .max_sge = 1,
		 .max_num_tags = 15, .cq_handle = CQ)},
};
ROWS_END(tm_rows);

/* ---- the same by write(2) */

#define REQ(pd, tags, cq) 0, 0, IB_UVERBS_SRQT_TM, (pd), 15, 1, 0, (tags), 0, (cq)
#define REQ_UHW U64(MEM + 0x6000), U64(NEXT_DBR + 128), 0, 0, 7, 0

const struct write_row tm_written[] = {
	{"SRQ", "", 0, ASK(CREATE_XSRQ, 6, REQ(PD, 15, CQ), REQ_UHW), .more = true, .driver = true,
	 .link = ON_IB},
	{"SRQ destroyed", "", 0, ASK(DESTROY_SRQ, 1, NEXT, 0), .driver = true, .link = ON_IB},
	{"one tag more", TOO_MANY, EINVAL, ASK(CREATE_XSRQ, 6, REQ(PD, 128, CQ), REQ_UHW)},
	{"no CQ", "uobj_get_obj_read", ENOENT, ASK(CREATE_XSRQ, 6, REQ(PD, 15, NONE), REQ_UHW)},
	{"no PD", "uobj_get_obj_read", ENOENT, ASK(CREATE_XSRQ, 6, REQ(NONE, 15, CQ), REQ_UHW)},
};
ROWS_END(tm_written);
