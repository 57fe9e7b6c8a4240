/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every command by write(2) alone, done right once, and refused once, for programs without
 * RDMA_VERBS_IOCTL. Objects as in rows_life.c.
 */
#include "words.h"

#define ZERO8 0, 0, 0, 0, 0, 0, 0, 0

/* The driver's data as words. */
#define CQ_UHW U64(MEM + 0x1000), U64(NEXT_DBR), 64, 2 << 16, UAR_PAGE, 0
#define RESIZE_UHW U64(MEM + 0x2000), 64, 0
#define QP_UHW                                                                                    \
	U64(MEM + 0x5000), U64(NEXT_DBR + 64), 4, 4, 4, MLX5_QP_FLAG_UAR_PAGE_INDEX, 0, UAR_PAGE, \
		0, 0, 0, 0
#define SRQ_UHW U64(MEM + 0x6000), U64(NEXT_DBR + 128), 0, 0, 0, 0
#define UCTX 2, 0, 0, 0, 0, 0, 3, 0
/* handles, capacities; type in the second byte of the last word */
#define QP_REQ(pd) 0, 0, (pd), CQ, CQ, 0, 4, 4, 1, 1, 0, IB_UVERBS_QPT_RC << 8
/* AV_AH as words */
#define AH_REQ(pd, port) \
	0, 0, (pd), 0, 0x80fe, 0, 0xffca1758, 0x010000fe, 0, 0, 1, 1u << 8 | (port) << 16
#define QUERY_QP_RESP (sizeof(struct ib_uverbs_query_qp_resp) / 4)

const struct write_row written_rows[] = {
	{"context", "", 0, NEW, ASK(GET_CONTEXT, 20, UCTX), .closes = true},
	{"query of the port", "", 0, ASK(QUERY_PORT, 10, 1, 0)},
	{"query of port 2", "uverbs_cmd.c: rdma_is_port_valid", EINVAL, ASK(QUERY_PORT, 10, 2, 0)},
	{"completion channel", "", 0, WORDS(HDR(C(CREATE_COMP_CHANNEL), 4, 1), U64(OUT)),
	 .closes = true},
	{"PD", "", 0, WORDS(HDR(C(ALLOC_PD), 4, 2), U64(OUT)), .more = true},
	{"PD destroyed", "", 0, TELL(DEALLOC_PD, NEXT), .more = true},
	{"PD destroyed twice", "rdma_core.c lookup_get_idr_uobject: xa_load", ENOENT,
	 TELL(DEALLOC_PD, NEXT)},
	{"address handle", "", 0, ASK(CREATE_AH, 1 + AV_RESP / 4, AH_REQ(PD, 1)), .more = true},
	{"address handle destroyed", "", 0, TELL(DESTROY_AH, NEXT), .more = true},
	{"address handle destroyed twice", "rdma_core.c lookup_get_idr_uobject: xa_load", ENOENT,
	 TELL(DESTROY_AH, NEXT)},
	{"address handle of port 9", "uverbs_cmd.c: rdma_is_port_valid", EINVAL,
	 ASK(CREATE_AH, 1 + AV_RESP / 4, AH_REQ(PD, 9))},
	{"region", "", 0, ASK(REG_MR, 3, U64(MEM), U64(4096), U64(MEM), PD, 1), .more = true},
	{"region changed", "", 0, ASK(REREG_MR, 2, NEXT, 4, U64(0), U64(0), U64(0), PD, 0),
	 .more = true},
	{"region destroyed", "", 0, TELL(DEREG_MR, NEXT), .more = true},
	{"region destroyed twice", "rdma_core.c lookup_get_idr_uobject: xa_load", ENOENT,
	 TELL(DEREG_MR, NEXT)},
	{"window", "", 0, ASK(ALLOC_MW, 2, PD, 2), .more = true},
	{"window destroyed", "", 0, TELL(DEALLOC_MW, NEXT), .more = true},
	{"window destroyed twice", "rdma_core.c lookup_get_idr_uobject: xa_load", ENOENT,
	 TELL(DEALLOC_MW, NEXT)},
	{"window of no type", "uverbs_cmd.c ib_uverbs_alloc_mw: cmd.mw_type", EINVAL,
	 ASK(ALLOC_MW, 2, PD, 0)},
	{"region of another file's memory", "umem.c ib_umem_get: pin_user_pages_fast", EFAULT,
	 ASK(REG_MR, 3, U64(NOWHERE), U64(4096), U64(NOWHERE), PD, 1)},
	{"no region changed", "uverbs_cmd.c ib_uverbs_rereg_mr: uobj_get_write", ENOENT,
	 ASK(REREG_MR, 2, NONE, 4, U64(0), U64(0), U64(0), PD, 0)},

	{"CQ", "", 0, ASK(CREATE_CQ, 4, 0, 0, 7, 0, UINT32_MAX, 0, CQ_UHW), .more = true},
	{"CQ resized", "", 0, ASK(RESIZE_CQ, 2, NEXT, 31, RESIZE_UHW), .more = true},
	{"CQ moderated", "", 0, EXW(MODIFY_CQ, 2, 0, 0, 0, NEXT, 1, 3 | 5 << 16, 0), .more = true},
	{"CQ destroyed", "", 0, ASK(DESTROY_CQ, 2, NEXT, 0), .more = true},
	{"CQ destroyed twice", "rdma_core.c lookup_get_idr_uobject: xa_load", ENOENT,
	 ASK(DESTROY_CQ, 2, NEXT, 0)},
	{"CQ without entries", "mlx5/cq.c mlx5_ib_create_cq: the firmware has 1 or more", 0,
	 ASK(CREATE_CQ, 4, 0, 0, 0, 0, UINT32_MAX, 0, CQ_UHW), .more = true},
	{"CQ destroyed", "", 0, ASK(DESTROY_CQ, 2, NEXT, 0)},
	{"no CQ resized", "uverbs_cmd.c ib_uverbs_resize_cq: uobj_get_obj_read", ENOENT,
	 ASK(RESIZE_CQ, 2, NONE, 31, RESIZE_UHW)},
	{"no CQ moderated", "uverbs_cmd.c ib_uverbs_ex_modify_cq: uobj_get_obj_read", ENOENT,
	 EXW(MODIFY_CQ, 2, 0, 0, 0, NONE, 1, 0, 0)},
	{"CQ by the extended command", "", 0,
	 EXW(CREATE_CQ, 4, 2, 4, 1, 0, 0, 7, 0, UINT32_MAX, 0, 0, 0, CQ_UHW), .more = true},
	{"CQ destroyed", "", 0, ASK(DESTROY_CQ, 2, NEXT, 0)},
	{"extended CQ with a reserved word", "uverbs_cmd.c ib_uverbs_ex_create_cq: cmd.reserved",
	 EINVAL, EXW(CREATE_CQ, 4, 2, 4, 1, 0, 0, 7, 0, UINT32_MAX, 0, 0, 1, CQ_UHW)},

	{"QP", "", 0, ASK(CREATE_QP, 18, QP_REQ(PD), QP_UHW), .more = true},
	{"QP reset", "", 0,
	 WORDS(HDR(C(MODIFY_QP), 30, 0), ZERO8, ZERO8, NEXT, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
	 .more = true},
	{"QP reset by the extended command", "", 0,
	 EXW(MODIFY_QP, 15, 1, 0, 0, ZERO8, ZERO8, NEXT, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
	 .more = true},
	{"query of the QP", "", 0, ASK(QUERY_QP, QUERY_QP_RESP, NEXT, 1), .more = true},
	{"QP destroyed", "", 0, ASK(DESTROY_QP, 1, NEXT, 0), .more = true},
	{"QP destroyed twice", "rdma_core.c lookup_get_idr_uobject: xa_load", ENOENT,
	 ASK(DESTROY_QP, 1, NEXT, 0)},
	{"query of no QP", "uverbs_cmd.c ib_uverbs_query_qp: uobj_get_obj_read", ENOENT,
	 ASK(QUERY_QP, QUERY_QP_RESP, NONE, 1)},
	{"QP on no PD", "uverbs_cmd.c create_qp: uobj_get_obj_read", ENOENT,
	 ASK(CREATE_QP, 18, QP_REQ(NONE), QP_UHW)},
	{"no QP changed", "uverbs_cmd.c modify_qp: uobj_get_obj_read", ENOENT,
	 WORDS(HDR(C(MODIFY_QP), 30, 0), ZERO8, ZERO8, NONE, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)},
	{"QP by the extended command", "", 0,
	 EXW(CREATE_QP, 8, 5, 7, 5, QP_REQ(PD), 0, 0, 0, 0, QP_UHW), .more = true},
	{"QP destroyed", "", 0, ASK(DESTROY_QP, 1, NEXT, 0)},
	{"extended QP with a comp_mask", "uverbs_cmd.c ib_uverbs_ex_create_qp", EINVAL,
	 EXW(CREATE_QP, 8, 5, 7, 5, QP_REQ(PD), 2, 0, 0, 0, QP_UHW)},

	{"SRQ", "", 0, ASK(CREATE_SRQ, 6, 0, 0, PD, 15, 1, 0, SRQ_UHW), .more = true},
	{"SRQ limit", "", 0, TELL(MODIFY_SRQ, NEXT, 2, 0, 3), .more = true},
	{"query of the SRQ", "", 0, ASK(QUERY_SRQ, 4, NEXT, 0), .more = true},
	{"SRQ destroyed", "", 0, ASK(DESTROY_SRQ, 1, NEXT, 0), .more = true},
	{"SRQ destroyed twice", "rdma_core.c lookup_get_idr_uobject: xa_load", ENOENT,
	 ASK(DESTROY_SRQ, 1, NEXT, 0)},
	{"SRQ on no PD", "uverbs_cmd.c __uverbs_create_xsrq: uobj_get_obj_read", ENOENT,
	 ASK(CREATE_SRQ, 6, 0, 0, NONE, 15, 1, 0, SRQ_UHW)},
	{"limit of no SRQ", "uverbs_cmd.c ib_uverbs_modify_srq: uobj_get_obj_read", ENOENT,
	 TELL(MODIFY_SRQ, NONE, 2, 0, 3)},
	{"query of no SRQ", "uverbs_cmd.c ib_uverbs_query_srq: uobj_get_obj_read", ENOENT,
	 ASK(QUERY_SRQ, 4, NONE, 0)},
	{"basic SRQ by the command for XRC", "", 0,
	 ASK(CREATE_XSRQ, 6, 0, 0, IB_UVERBS_SRQT_BASIC, PD, 15, 1, 0, 0, 0, 0, SRQ_UHW),
	 .more = true},
	{"SRQ destroyed", "", 0, ASK(DESTROY_SRQ, 1, NEXT, 0)},
	{"SRQ of the command for XRC on no PD",
	 "uverbs_cmd.c __uverbs_create_xsrq: uobj_get_obj_read", ENOENT,
	 ASK(CREATE_XSRQ, 6, 0, 0, IB_UVERBS_SRQT_BASIC, NONE, 15, 1, 0, 0, 0, 0, SRQ_UHW)},
};
ROWS_END(written_rows);
