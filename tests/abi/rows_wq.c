/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Work queues, tables of them and counters: by methods, by INVOKE_WRITE and by write(2). A new
 * object has the handle NEXT, the second one NEXT + 1.
 */
#include "forms.h"
#include "words.h"

#define WQ_UHW                                                                                    \
	UHW(mlx5_ib_create_wq, .buf_addr = MEM + 0x7000, .db_addr = DBR + 320, .rq_wqe_count = 4, \
	    .rq_wqe_shift = 6)
#define WQ_BAD(...)                                                                               \
	UHW(mlx5_ib_create_wq, .buf_addr = MEM + 0x7000, .db_addr = DBR + 320, .rq_wqe_count = 4, \
	    .rq_wqe_shift = 6, __VA_ARGS__)

/* A command as words, its answer and its driver data. */
#define RUN_WORDS(c, n, uhw, uout, ...)                                         \
	INVOKE, .attr = {{.id = UVERBS_ATTR_CORE_IN,                            \
			  .len = sizeof((uint32_t[]){__VA_ARGS__}),             \
			  .in = &(const uint32_t[]){__VA_ARGS__}},              \
			 {.id = UVERBS_ATTR_CORE_OUT, .len = (n), .data = OUT}, \
			 {.id = UVERBS_ATTR_WRITE_CMD, .len = 8, .data = (c)},  \
			 uhw,                                                   \
			 {.id = UVERBS_ATTR_UHW_OUT,                            \
			  .len = (uout),                                        \
			  .data = OUT + 512,                                    \
			  .optional = true}}
#define MODIFY_UHW UHW(mlx5_ib_modify_wq, 0)
/* struct ib_uverbs_ex_create_wq */
#define WQ_REQ(pd, cq, flags) 0, IBV_RQ, 5, 0, (pd), (cq), 4, 1, (flags), 0
#define IBV_RQ 0

/* struct ib_uverbs_ex_create_qp: on a table, so without a CQ for receives */
#define TABLE_QP_REQ(recv_wr, table)                                         \
	5, 0, PD, CQ, NONE, 0, 4, (recv_wr), 1, 0, 0, IB_UVERBS_QPT_RC << 8, \
		IB_UVERBS_CREATE_QP_MASK_IND_TABLE, 0, (table), 0

/* ---- by methods */

#define WQ_BASE                                                                                   \
	HANDLE(CREATE_WQ_HANDLE, 0), HANDLE(CREATE_WQ_PD_HANDLE, PD),                             \
		VAL(CREATE_WQ_USER_HANDLE, 8, 5), VAL(CREATE_WQ_MAX_WR, 4, 4),                    \
		VAL(CREATE_WQ_MAX_SGE, 4, 1), VAL(CREATE_WQ_RESP_MAX_WR, 4, OUT),                 \
		VAL(CREATE_WQ_RESP_MAX_SGE, 4, OUT + 8), VAL(CREATE_WQ_RESP_WQ_NUM, 4, OUT + 16), \
		VAL(UHW_OUT, 8, OUT + 512)
#define WQ_DONE(h) \
	ON(WQ, WQ_DESTROY), .attr = {HANDLE(DESTROY_WQ_HANDLE, h), VAL(DESTROY_WQ_RESP, 4, OUT)}
#define TABLE_DONE(h) \
	ON(RWQ_IND_TBL, RWQ_IND_TBL_DESTROY), .attr = {HANDLE(DESTROY_RWQ_IND_TBL_HANDLE, h)}

const struct ioctl_row wq_rows[] = {
	{"work queue", "", 0, ON(WQ, WQ_CREATE),
	 .attr = {WQ_BASE, VAL(CREATE_WQ_TYPE, 8, IBV_RQ), VAL(CREATE_WQ_FLAGS, 4, 0),
		  HANDLE(CREATE_WQ_CQ_HANDLE, CQ), HANDLE(CREATE_WQ_EVENT_FD, ASYNC), WQ_UHW},
	 .more = true},
	{"its CQ is in use", "ib_destroy_cq_user: cq->usecnt", EBUSY, ON(CQ, CQ_DESTROY),
	 .attr = {HANDLE(DESTROY_CQ_HANDLE, CQ), VAL(DESTROY_CQ_RESP, 8, OUT)}, .more = true},
	{"made ready", "", 0, RUN_WORDS(EX(MODIFY_WQ), 0, MODIFY_UHW, 0, 1, NEXT, 1, 0, 0, 0),
	 .more = true},
	{"from a state in which it is not", "mlx5_ib_modify_wq: the firmware's BAD_RES_STATE",
	 EINVAL, RUN_WORDS(EX(MODIFY_WQ), 0, MODIFY_UHW, 0, 3, NEXT, 1, 0, 0, 0), .more = true},
	{"into an error", "", 0, RUN_WORDS(EX(MODIFY_WQ), 0, MODIFY_UHW, 0, 3, NEXT, 2, 1, 0, 0),
	 .more = true},
	{"from there to ready", "the firmware's rule: only reset", EINVAL,
	 RUN_WORDS(EX(MODIFY_WQ), 0, MODIFY_UHW, 0, 1, NEXT, 1, 0, 0, 0), .more = true},
	{"without a mask", "ib_uverbs_ex_modify_wq: cmd.attr_mask", EINVAL,
	 RUN_WORDS(EX(MODIFY_WQ), 0, MODIFY_UHW, 0, 0, NEXT, 1, 0, 0, 0), .more = true},
	{"with an unknown mask", "ib_uverbs_ex_modify_wq: cmd.attr_mask", EINVAL,
	 RUN_WORDS(EX(MODIFY_WQ), 0, MODIFY_UHW, 0, 8, NEXT, 1, 0, 0, 0), .more = true},
	{"to a state that is none", "ib_uverbs_ex_modify_wq: IB_WQS_ERR", EINVAL,
	 RUN_WORDS(EX(MODIFY_WQ), 0, MODIFY_UHW, 0, 1, NEXT, 3, 0, 0, 0), .more = true},
	{"with VLAN stripping", "mlx5_ib_modify_wq: eth_net_offloads", EOPNOTSUPP,
	 RUN_WORDS(EX(MODIFY_WQ), 0, MODIFY_UHW, 0, 4, NEXT, 0, 0, 1, 1), .more = true},
	{"without the driver's data", "mlx5_ib_modify_wq: required_cmd_sz", EINVAL,
	 RUN_WORDS(EX(MODIFY_WQ), 0, NO_UHW, 0, 1, NEXT, 1, 0, 0, 0), .more = true},
	{"with a comp_mask of the driver's", "mlx5_ib_modify_wq: ucmd.comp_mask", EOPNOTSUPP,
	 RUN_WORDS(EX(MODIFY_WQ), 0, UHW(mlx5_ib_modify_wq, 1, 0), 0, 1, NEXT, 1, 0, 0, 0),
	 .more = true},
	{"table of it, twice", "", 0,
	 RUN_WORDS(EX(CREATE_RWQ_IND_TBL), 16, NO_UHW, 8, 0, 1, NEXT, NEXT), .more = true},
	{"QP on a table, with receives", "create_qp: ind_tbl and max_recv_wr", EINVAL,
	 RUN_WORDS(EX(CREATE_QP), 64, NO_UHW, 40, TABLE_QP_REQ(1, NEXT + 1)), .more = true},
	{"QP on a table", "mlx5/qp.c check_valid_flow: raw packets only", EINVAL,
	 RUN_WORDS(EX(CREATE_QP), 64, NO_UHW, 40, TABLE_QP_REQ(0, NEXT + 1)), .more = true},
	{"QP on a table that is a work queue", "create_qp: uobj_get_obj_read", EINVAL,
	 RUN_WORDS(EX(CREATE_QP), 64, NO_UHW, 40, TABLE_QP_REQ(0, NEXT)), .more = true},
	{"work queue in use", "ib_destroy_wq_user: wq->usecnt", EBUSY, WQ_DONE(NEXT), .more = true},
	{"table destroyed", "", 0, TABLE_DONE(NEXT + 1), .more = true},
	{"table destroyed twice", "xa_load", ENOENT, TABLE_DONE(NEXT + 1), .more = true},
	{"table is no work queue", "rdma_lookup_get_uobject: uapi_object", EINVAL, TABLE_DONE(NEXT),
	 .more = true},
	{"table of no queue", "ib_uverbs_ex_create_rwq_ind_table: uobj_get_obj_read", ENOENT,
	 RUN_WORDS(EX(CREATE_RWQ_IND_TBL), 16, NO_UHW, 8, 0, 0, NONE), .more = true},
	{"table of a CQ", "ib_uverbs_ex_create_rwq_ind_table: uobj_get_obj_read", EINVAL,
	 RUN_WORDS(EX(CREATE_RWQ_IND_TBL), 16, NO_UHW, 8, 0, 0, CQ), .more = true},
	{"table without its list", "uverbs_request_next", ENOSPC,
	 RUN_WORDS(EX(CREATE_RWQ_IND_TBL), 16, NO_UHW, 8, 0, 1, NEXT), .more = true},
	{"table with half a request", "uverbs_request_start", ENOSPC,
	 RUN_WORDS(EX(CREATE_RWQ_IND_TBL), 16, NO_UHW, 8, 0), .more = true},
	{"table with a handle too many", "uverbs_request_finish", EOPNOTSUPP,
	 RUN_WORDS(EX(CREATE_RWQ_IND_TBL), 16, NO_UHW, 8, 0, 0, NEXT, NEXT), .more = true},
	{"table of 2^14", "IB_USER_VERBS_MAX_LOG_IND_TBL_SIZE", EINVAL,
	 RUN_WORDS(EX(CREATE_RWQ_IND_TBL), 16, NO_UHW, 8, 0, 14, NEXT), .more = true},
	{"table with a comp_mask", "ib_uverbs_ex_create_rwq_ind_table: cmd.comp_mask", EOPNOTSUPP,
	 RUN_WORDS(EX(CREATE_RWQ_IND_TBL), 16, NO_UHW, 8, 1, 0, NEXT), .more = true},
	{"table with driver data", "mlx5_ib_create_rwq_ind_table: ib_is_udata_cleared", EOPNOTSUPP,
	 RUN_WORDS(EX(CREATE_RWQ_IND_TBL), 16, UHW(mlx5_ib_modify_wq, 1, 0), 8, 0, 0, NEXT),
	 .more = true},
	{"table whose answer has 4 bytes", "mlx5_ib_create_rwq_ind_table: min_resp_len", EINVAL,
	 RUN_WORDS(EX(CREATE_RWQ_IND_TBL), 16, NO_UHW, 4, 0, 0, NEXT), .more = true},
	{"work queue destroyed", "", 0, WQ_DONE(NEXT), .more = true},
	{"work queue destroyed twice", "xa_load", ENOENT, WQ_DONE(NEXT)},

	{"work queue of type 1", "uverbs_std_types_wq.c: wq_type != IB_WQT_RQ", EINVAL,
	 ON(WQ, WQ_CREATE),
	 .attr = {WQ_BASE, VAL(CREATE_WQ_TYPE, 8, 1), VAL(CREATE_WQ_FLAGS, 4, 0),
		  HANDLE(CREATE_WQ_CQ_HANDLE, CQ), WQ_UHW}},
	{"work queue without a CQ", "uverbs_std_types_wq.c: uverbs_attr_get_obj", ENOENT,
	 ON(WQ, WQ_CREATE),
	 .attr = {WQ_BASE, VAL(CREATE_WQ_TYPE, 8, IBV_RQ), VAL(CREATE_WQ_FLAGS, 4, 0), WQ_UHW}},
	{"work queue with an unknown flag", "uverbs_get_flags32", EINVAL, ON(WQ, WQ_CREATE),
	 .attr = {WQ_BASE, VAL(CREATE_WQ_TYPE, 8, IBV_RQ), VAL(CREATE_WQ_FLAGS, 4, 16),
		  HANDLE(CREATE_WQ_CQ_HANDLE, CQ), WQ_UHW}},
	{"work queue without flags", "UA_MANDATORY", EINVAL, ON(WQ, WQ_CREATE),
	 .attr = {WQ_BASE, VAL(CREATE_WQ_TYPE, 8, IBV_RQ), HANDLE(CREATE_WQ_CQ_HANDLE, CQ),
		  WQ_UHW}},
	{"work queue with FCS", "create_rq: scatter_fcs", EOPNOTSUPP, ON(WQ, WQ_CREATE),
	 .attr = {WQ_BASE, VAL(CREATE_WQ_TYPE, 8, IBV_RQ), VAL(CREATE_WQ_FLAGS, 8, 2),
		  HANDLE(CREATE_WQ_CQ_HANDLE, CQ), WQ_UHW}},

	/* ---- by commands */
	{"work queue by a command", "", 0,
	 RUN_WORDS(EX(CREATE_WQ), 24, WQ_UHW, 8, WQ_REQ(PD, CQ, 0)), .more = true},
	{"its PD is in use", "uverbs_free_pd: pd->usecnt", EBUSY, ON(PD, PD_DESTROY),
	 .attr = {HANDLE(DESTROY_PD_HANDLE, PD)}, .more = true},
	{"table by a command", "", 0, RUN_WORDS(EX(CREATE_RWQ_IND_TBL), 16, NO_UHW, 8, 0, 0, NEXT),
	 .more = true},
	{"table destroyed by a command", "", 0,
	 RUN_WORDS(EX(DESTROY_RWQ_IND_TBL), 0, NO_UHW, 0, 0, NEXT + 1), .more = true},
	{"table destroyed twice by a command", "xa_load", ENOENT,
	 RUN_WORDS(EX(DESTROY_RWQ_IND_TBL), 0, NO_UHW, 0, 0, NEXT + 1), .more = true},
	{"destroyed with a comp_mask", "ib_uverbs_ex_destroy_wq: cmd.comp_mask", EOPNOTSUPP,
	 RUN_WORDS(EX(DESTROY_WQ), 16, NO_UHW, 0, 1, NEXT), .more = true},
	{"work queue destroyed by a command", "", 0,
	 RUN_WORDS(EX(DESTROY_WQ), 16, NO_UHW, 0, 0, NEXT)},
	{"table destroyed with a comp_mask", "ib_uverbs_ex_destroy_rwq_ind_table: cmd.comp_mask",
	 EOPNOTSUPP, RUN_WORDS(EX(DESTROY_RWQ_IND_TBL), 0, NO_UHW, 0, 1, NEXT)},
	{"work queue with a comp_mask", "ib_uverbs_ex_create_wq: cmd.comp_mask", EOPNOTSUPP,
	 RUN_WORDS(EX(CREATE_WQ), 24, WQ_UHW, 8, 1, IBV_RQ, 5, 0, PD, CQ, 4, 1, 0, 0)},
	{"work queue on no PD", "ib_uverbs_ex_create_wq: uobj_get_obj_read", ENOENT,
	 RUN_WORDS(EX(CREATE_WQ), 24, WQ_UHW, 8, WQ_REQ(NONE, CQ, 0))},
	{"work queue of type 1 by a command", "mlx5_ib_create_wq: wq_type", EINVAL,
	 RUN_WORDS(EX(CREATE_WQ), 24, WQ_UHW, 8, 0, 1, 5, 0, PD, CQ, 4, 1, 0, 0)},
	{"work queue without driver data", "prepare_user_rq: required_cmd_sz", EINVAL,
	 RUN_WORDS(EX(CREATE_WQ), 24, NO_UHW, 8, WQ_REQ(PD, CQ, 0))},
	{"striding work queue", "prepare_user_rq: striding_rq", EOPNOTSUPP,
	 RUN_WORDS(EX(CREATE_WQ), 24, WQ_BAD(.comp_mask = 1), 8, WQ_REQ(PD, CQ, 0))},
	{"work queue with an unknown comp_mask", "prepare_user_rq: ucmd.comp_mask", EOPNOTSUPP,
	 RUN_WORDS(EX(CREATE_WQ), 24, WQ_BAD(.comp_mask = 2), 8, WQ_REQ(PD, CQ, 0))},
	{"work queue without entries", "set_user_rq_size: rq_wqe_count", EINVAL,
	 RUN_WORDS(EX(CREATE_WQ), 24,
		   UHW(mlx5_ib_create_wq, .buf_addr = MEM, .db_addr = DBR, .rq_wqe_shift = 6), 8,
		   WQ_REQ(PD, CQ, 0))},
	{"work queue whose size overflows", "set_user_rq_size: check_shl_overflow", EINVAL,
	 RUN_WORDS(EX(CREATE_WQ), 24,
		   UHW(mlx5_ib_create_wq, .buf_addr = MEM, .db_addr = DBR, .rq_wqe_count = 4,
		       .rq_wqe_shift = 31),
		   8, WQ_REQ(PD, CQ, 0))},
	{"work queue nowhere", "create_user_rq: buf_addr", EINVAL,
	 RUN_WORDS(EX(CREATE_WQ), 24,
		   UHW(mlx5_ib_create_wq, .db_addr = DBR, .rq_wqe_count = 4, .rq_wqe_shift = 6), 8,
		   WQ_REQ(PD, CQ, 0))},
	{"work queue in memory that is not there", "ib_umem_get", EFAULT,
	 RUN_WORDS(EX(CREATE_WQ), 24,
		   UHW(mlx5_ib_create_wq, .buf_addr = NOWHERE, .db_addr = DBR, .rq_wqe_count = 4,
		       .rq_wqe_shift = 6),
		   8, WQ_REQ(PD, CQ, 0))},

	/* ---- counters */
	{"counters", "", 0, ON(COUNTERS, COUNTERS_CREATE),
	 .attr = {HANDLE(CREATE_COUNTERS_HANDLE, 0)}, .more = true},
	{"unbound counters read", "uverbs_std_types_counters.c: usecnt", EINVAL,
	 ON(COUNTERS, COUNTERS_READ),
	 .attr = {HANDLE(READ_COUNTERS_HANDLE, NEXT), VAL(READ_COUNTERS_BUFF, 16, OUT),
		  VAL(READ_COUNTERS_FLAGS, 4, 1)},
	 .more = true},
	{"counters destroyed", "", 0, ON(COUNTERS, COUNTERS_DESTROY),
	 .attr = {HANDLE(DESTROY_COUNTERS_HANDLE, NEXT)}, .more = true},
	{"counters destroyed twice", "xa_load", ENOENT, ON(COUNTERS, COUNTERS_DESTROY),
	 .attr = {HANDLE(DESTROY_COUNTERS_HANDLE, NEXT)}},
	{"counters with a length", "uverbs_process_attr: uattr->len", EINVAL,
	 ON(COUNTERS, COUNTERS_CREATE), .attr = {VAL(CREATE_COUNTERS_HANDLE, 4, 0)}},
};
ROWS_END(wq_rows);

/* ---- by write(2) */

#define WQ_WORDS U64(MEM + 0x7000), U64(DBR + 320), 4, 6, 0, 0, 0, 0

const struct write_row wq_written_rows[] = {
	{"work queue", "", 0, EXW(CREATE_WQ, 5, 3, 5, 1, WQ_REQ(PD, CQ, 0), WQ_WORDS),
	 .more = true},
	{"made ready", "", 0, EXW(MODIFY_WQ, 3, 0, 1, 0, 1, NEXT, 1, 0, 0, 0, 0, 0), .more = true},
	{"no work queue changed", "ib_uverbs_ex_modify_wq: uobj_get_obj_read", ENOENT,
	 EXW(MODIFY_WQ, 3, 0, 1, 0, 1, NONE, 1, 0, 0, 0, 0, 0), .more = true},
	{"table", "", 0, EXW(CREATE_RWQ_IND_TBL, 2, 2, 0, 1, 0, 1, NEXT, NEXT), .more = true},
	{"table with zeroes behind it", "uverbs_request_finish", 0,
	 EXW(CREATE_RWQ_IND_TBL, 2, 2, 0, 0, 0, 0, NEXT, 0), .more = true},
	{"table destroyed", "", 0, EXW(DESTROY_RWQ_IND_TBL, 1, 0, 0, 0, 0, NEXT + 1), .more = true},
	{"table destroyed", "", 0, EXW(DESTROY_RWQ_IND_TBL, 1, 0, 0, 0, 0, NEXT + 2), .more = true},
	{"table destroyed twice", "xa_load", ENOENT,
	 EXW(DESTROY_RWQ_IND_TBL, 1, 0, 0, 0, 0, NEXT + 1), .more = true},
	{"table without its list", "uverbs_request_next", ENOSPC,
	 EXW(CREATE_RWQ_IND_TBL, 1, 2, 0, 1, 0, 0), .more = true},
	{"work queue destroyed", "", 0, EXW(DESTROY_WQ, 1, 2, 0, 0, 0, NEXT), .more = true},
	{"work queue destroyed twice", "xa_load", ENOENT, EXW(DESTROY_WQ, 1, 2, 0, 0, 0, NEXT)},
	{"work queue on no CQ", "ib_uverbs_ex_create_wq: uobj_get_obj_read", ENOENT,
	 EXW(CREATE_WQ, 5, 3, 5, 1, WQ_REQ(PD, NONE, 0), WQ_WORDS)},
};
ROWS_END(wq_written_rows);
