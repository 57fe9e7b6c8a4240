/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * XRC domains, SRQs and QPs: the rules are those of uverbs_cmd.c (open_xrcd, open_qp, create_xsrq),
 * uverbs_std_types.c (uverbs_free_xrcd), uverbs_std_types_qp.c and _srq.c. These rows come first,
 * while the number of the next QP is known.
 */
#include <fcntl.h>
#include "forms.h"
#include "words.h"

#define OPEN(f, o) RUN(C(OPEN_XRCD), open_xrcd, 4, .fd = (uint32_t)(f), .oflags = (o))
#define CLOSE(h) RUN(C(CLOSE_XRCD), close_xrcd, 0, .xrcd_handle = (h))
#define OPEN_QP(h, n, t)                                                        \
	RUN(C(OPEN_QP), open_qp, RESP(create_qp), .pd_handle = (h), .qpn = (n), \
	    .qp_type = IB_UVERBS_QPT_##t)
#define XRCD_GONE(h) ON(XRCD, XRCD_DESTROY), .attr = {HANDLE(DESTROY_XRCD_HANDLE, h)}
#define QP_GONE(h) \
	ON(QP, QP_DESTROY), .attr = {HANDLE(DESTROY_QP_HANDLE, h), VAL(DESTROY_QP_RESP, 4, OUT)}
#define SRQ_GONE(h) \
	ON(SRQ, SRQ_DESTROY), .attr = {HANDLE(DESTROY_SRQ_HANDLE, h), VAL(DESTROY_SRQ_RESP, 4, OUT)}
#define CAP(n)                                                                        \
	{                                                                             \
		.id = UVERBS_ATTR_CREATE_QP_CAP, .len = 20, .in = &(const uint32_t[]) \
		{                                                                     \
			(n), 0, 1, 0, 0                                               \
		}                                                                     \
	}
/* A target has a domain and the driver's data, and nothing else. */
#define TGT_UHW UHW(mlx5_ib_create_qp, 0), VAL(UHW_OUT, 40, OUT + 512)
#define TGT(...)                                                                   \
	ON(QP, QP_CREATE), .attr = {{.id = UVERBS_ATTR_CREATE_QP_HANDLE},          \
				    VAL(CREATE_QP_USER_HANDLE, 8, 0),              \
				    CAP(0),                                        \
				    VAL(CREATE_QP_TYPE, 8, IB_UVERBS_QPT_XRC_TGT), \
				    VAL(CREATE_QP_RESP_CAP, 20, OUT),              \
				    VAL(CREATE_QP_RESP_QP_NUM, 4, OUT + 64),       \
				    __VA_ARGS__}
#define SRQ(...)                                                                             \
	ON(SRQ, SRQ_CREATE),                                                                 \
		.attr = {{.id = UVERBS_ATTR_CREATE_SRQ_HANDLE},                              \
			 VAL(CREATE_SRQ_TYPE, 8, IB_UVERBS_SRQT_XRC),                        \
			 VAL(CREATE_SRQ_USER_HANDLE, 8, 0),                                  \
			 VAL(CREATE_SRQ_MAX_WR, 4, 3),                                       \
			 VAL(CREATE_SRQ_MAX_SGE, 4, 1),                                      \
			 VAL(CREATE_SRQ_LIMIT, 4, 0),                                        \
			 VAL(CREATE_SRQ_RESP_MAX_WR, 4, OUT),                                \
			 VAL(CREATE_SRQ_RESP_MAX_SGE, 4, OUT + 8),                           \
			 VAL(CREATE_SRQ_RESP_SRQ_NUM, 4, OUT + 16),                          \
			 VAL(CREATE_SRQ_PD_HANDLE, 0, PD),                                   \
			 {.id = UVERBS_ATTR_UHW_IN,                                          \
			  .len = sizeof(struct mlx5_ib_create_srq),                          \
			  .in = &(const struct mlx5_ib_create_srq){.buf_addr = MEM + 0x6000, \
								   .db_addr = DBR + 256,     \
								   .uidx = 7}},              \
			 {.id = UVERBS_ATTR_UHW_OUT, .len = 8, .data = OUT + 512},           \
			 __VA_ARGS__}
#define FIRST_QPN (QPN + 1) /* QPN of the target made here; write(2) makes the next one */

const struct ioctl_row xrc_rows[] = {
	{"private domain", "", 0, OPEN(-1, 0), .more = true},
	{"target without the driver's data", "mlx5/qp.c process_udata_size", EINVAL,
	 TGT(VAL(CREATE_QP_XRCD_HANDLE, 0, NEXT)), .more = true},
	{"target with an index of all ones", "mlx5/mlx5_ib.h get_qp_user_index", EINVAL,
	 TGT(VAL(CREATE_QP_XRCD_HANDLE, 0, NEXT), UHW(mlx5_ib_create_qp, .uidx = 0xffffff)),
	 .more = true},
	{"target", "", 0, TGT(VAL(CREATE_QP_XRCD_HANDLE, 0, NEXT), TGT_UHW), .more = true},
	{"target by number", "", 0, OPEN_QP(NEXT, FIRST_QPN, XRC_TGT), .more = true},
	{"domain in use", "uxrcd->refcnt", EBUSY, XRCD_GONE(NEXT), .more = true},
	{"domain in use, by a command", "uxrcd->refcnt", EBUSY, CLOSE(NEXT), .more = true},
	{"number of nothing", "xa_load(&xrcd->tgt_qps)", EINVAL, OPEN_QP(NEXT, 0xffff, XRC_TGT),
	 .more = true},
	{"number of another kind of QP", "xa_load(&xrcd->tgt_qps)", EINVAL,
	 OPEN_QP(NEXT, QPN, XRC_TGT), .more = true},
	{"no target's type", "qp_type != IB_QPT_XRC_TGT", EINVAL, OPEN_QP(NEXT, FIRST_QPN, RC),
	 .more = true},
	{"SRQ of the domain", "", 0,
	 SRQ(VAL(CREATE_SRQ_XRCD_HANDLE, 0, NEXT), VAL(CREATE_SRQ_CQ_HANDLE, 0, CQ)), .more = true},
	{"SRQ destroyed", "", 0, SRQ_GONE(NEXT + 3), .more = true},
	{"SRQ without a CQ", "ib_srq_has_cq", ENOENT, SRQ(VAL(CREATE_SRQ_XRCD_HANDLE, 0, NEXT)),
	 .more = true},
	{"SRQ without a domain", "IB_UVERBS_SRQT_XRC", ENOENT,
	 SRQ(VAL(CREATE_SRQ_CQ_HANDLE, 0, CQ)), .more = true},
	{"one handle of the target destroyed", "", 0, QP_GONE(NEXT + 1), .more = true},
	{"target by number, still", "", 0, OPEN_QP(NEXT, FIRST_QPN, XRC_TGT), .more = true},
	{"another handle destroyed", "", 0, QP_GONE(NEXT + 2), .more = true},
	{"the last handle destroyed", "", 0, QP_GONE(NEXT + 1), .more = true},
	{"number of a destroyed target", "xa_erase", EINVAL, OPEN_QP(NEXT, FIRST_QPN, XRC_TGT),
	 .more = true},
	{"domain destroyed", "", 0, XRCD_GONE(NEXT)},
	{"domain destroyed twice", "xa_load", ENOENT, XRCD_GONE(NEXT)},
	{"domain destroyed twice, by a command", "xa_load", ENOENT, CLOSE(NEXT)},
	{"PD as a domain", "uobj->uapi_object", EINVAL, XRCD_GONE(PD)},
	{"target without a domain", "uverbs_attr_get_uobject", ENOENT, TGT()},
	{"target with a PD", "XRC_TGT takes no PD", EINVAL, TGT(VAL(CREATE_QP_PD_HANDLE, 0, PD))},
	{"target of no domain, by number", "uobj_get_read: EINVAL whatever is wrong", EINVAL,
	 OPEN_QP(NONE, QPN, XRC_TGT)},

	{"domain of a descriptor that is not open", "fdget", EBADF, OPEN(CLOSED, O_CREAT)},
	{"domain of a file that has none", "!(oflags & O_CREAT)", EAGAIN, OPEN(PLAIN, 0)},
	{"domain of a file", "", 0, OPEN(PLAIN, O_CREAT | O_EXCL), .more = true},
	{"the same again", "", 0, OPEN(PLAIN, 0), .more = true},
	{"the same, exclusively", "oflags & O_EXCL", EINVAL, OPEN(PLAIN, O_CREAT | O_EXCL),
	 .more = true},
	{"first handle closed", "", 0, CLOSE(NEXT), .more = true},
	{"it is still there", "", 0, OPEN(PLAIN, 0), .more = true},
	{"second handle closed", "", 0, CLOSE(NEXT + 1), .more = true},
	{"third handle closed", "", 0, CLOSE(NEXT), .more = true},
	{"it is gone", "xrcd_table_delete", EAGAIN, OPEN(PLAIN, 0)},
	{"domain without a context", "alloc_uobj", EINVAL, FRESH, OPEN(-1, 0)},

	{"RC QP in a group", "uverbs_cmd.c, verbs.c ib_attach_mcast: UD only", EINVAL,
	 RUN(C(ATTACH_MCAST), attach_mcast, 0, .gid = {0xff}, .qp_handle = QP, .mlid = 0xc000)},
	{"RC QP out of a group", "ib_uverbs_detach_mcast: found", EINVAL,
	 RUN(C(DETACH_MCAST), detach_mcast, 0, .gid = {0xff}, .qp_handle = QP, .mlid = 0xc000)},
};
ROWS_END(xrc_rows);

/* ---- the same by write(2) */

/* driver data after the command: struct mlx5_ib_create_qp */
#define TGT_REQ(h)                                                                                \
	0, 0, (h), 0, 0, 0, 0, 0, 0, 0, 0, IB_UVERBS_QPT_XRC_TGT << 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
		0, 0, 0, 0
#define XSRQ_REQ(t, h, cq) 0, 0, (t), PD, 3, 1, 0, 0, (h), (cq)
#define XSRQ_UHW U64(MEM + 0x6000), U64(DBR + 256), 0, 0, 7, 0

#define UD_REQ 0, 0, PD, CQ, CQ, 0, 4, 4, 1, 1, 0, IB_UVERBS_QPT_UD << 8
#define UD_UHW                                                                                   \
	U64(MEM + 0x5000), U64(DBR + 192), 4, 4, 4, MLX5_QP_FLAG_UAR_PAGE_INDEX, 0, UAR_PAGE, 0, \
		0, 0, 0
#define GROUP(first, h, lid) (first), 0, 0, 7, (h), (lid)

const struct write_row xrc_written[] = {
	{"domain of a file", "", 0, ASK(OPEN_XRCD, 1, PLAIN, O_CREAT), .more = true},
	{"target", "", 0, ASK(CREATE_QP, RESP(create_qp) / 4, TGT_REQ(NEXT)), .more = true},
	{"target by number", "", 0,
	 ASK(OPEN_QP, RESP(create_qp) / 4, 0, 0, NEXT, FIRST_QPN + 1, IB_UVERBS_QPT_XRC_TGT, 0),
	 .more = true},
	{"domain in use", "uxrcd->refcnt", EBUSY, TELL(CLOSE_XRCD, NEXT), .more = true},
	{"no target", "xa_load(&xrcd->tgt_qps)", EINVAL,
	 ASK(OPEN_QP, RESP(create_qp) / 4, 0, 0, NEXT, QPN, IB_UVERBS_QPT_XRC_TGT, 0),
	 .more = true},
	{"SRQ", "", 0, ASK(CREATE_XSRQ, 6, XSRQ_REQ(IB_UVERBS_SRQT_XRC, NEXT, CQ), XSRQ_UHW),
	 .more = true},
	{"SRQ destroyed", "", 0, ASK(DESTROY_SRQ, 1, NEXT + 3, 0), .more = true},
	{"SRQ of no domain", "uobj_get_read: EINVAL", EINVAL,
	 ASK(CREATE_XSRQ, 6, XSRQ_REQ(IB_UVERBS_SRQT_XRC, NONE, CQ), XSRQ_UHW), .more = true},
	{"target destroyed", "", 0, ASK(DESTROY_QP, 1, NEXT + 1, 0), .more = true},
	{"its other handle", "", 0, ASK(DESTROY_QP, 1, NEXT + 2, 0), .more = true},
	{"domain closed", "", 0, TELL(CLOSE_XRCD, NEXT)},
	{"domain closed twice", "xa_load", ENOENT, TELL(CLOSE_XRCD, NEXT)},
	{"domain of a descriptor that is not open", "fdget", EBADF,
	 ASK(OPEN_XRCD, 1, CLOSED, O_CREAT)},
	{"target in no domain", "uobj_get_read: EINVAL", EINVAL,
	 ASK(CREATE_QP, RESP(create_qp) / 4, TGT_REQ(NONE))},

	{"UD QP", "", 0, ASK(CREATE_QP, RESP(create_qp) / 4 + 8, UD_REQ, UD_UHW), .more = true},
	{"in a group", "", 0, TELL(ATTACH_MCAST, GROUP(0xff, NEXT, 0xc001)), .more = true},
	{"in the same again", "mcast_list: nothing is done", 0,
	 TELL(ATTACH_MCAST, GROUP(0xff, NEXT, 0xc001)), .more = true},
	{"in no group", "rdma_is_multicast_addr", EINVAL,
	 TELL(ATTACH_MCAST, GROUP(0xfe, NEXT, 0xc001)), .more = true},
	{"in a group without a multicast LID", "is_valid_mcast_lid", EINVAL,
	 TELL(ATTACH_MCAST, GROUP(0xff, NEXT, 0xbfff)), .more = true, .link = ON_IB},
	{"in a group of Ethernet, without a LID", "is_valid_mcast_lid: num_eth_ports", 0,
	 TELL(ATTACH_MCAST, GROUP(0xff, NEXT, 0)), .more = true, .link = ON_ETH},
	{"out of it", "", 0, TELL(DETACH_MCAST, GROUP(0xff, NEXT, 0)), .more = true,
	 .link = ON_ETH},
	{"in a group of another LID, which is another group", "found: gid and lid", EINVAL,
	 TELL(DETACH_MCAST, GROUP(0xff, NEXT, 0)), .more = true},
	{"QP of a group destroyed", "uverbs_free_qp: mcast_list", EBUSY,
	 ASK(DESTROY_QP, 1, NEXT, 0), .more = true},
	{"out of the group", "", 0, TELL(DETACH_MCAST, GROUP(0xff, NEXT, 0xc001)), .more = true},
	{"out of it twice", "found", EINVAL, TELL(DETACH_MCAST, GROUP(0xff, NEXT, 0xc001)),
	 .more = true},
	{"QP destroyed", "", 0, ASK(DESTROY_QP, 1, NEXT, 0)},
};
ROWS_END(xrc_written);
