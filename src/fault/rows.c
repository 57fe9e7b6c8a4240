/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The rows of rows.h. A new place, effect or key is a row here, and the code that asks for it. */
#include "fault/rows.h"
#include "wire/wqe/wqe.h"
#include "util/cleanup.h"

/* clang-format off */
static const struct fault_name ibv_names[] = {
	{"ibv_open_device", "DEVICE.GET_CONTEXT GET_CONTEXT"},
	{"ibv_query_device", "QUERY_DEVICE EX_QUERY_DEVICE"},
	{"ibv_query_device_ex", "EX_QUERY_DEVICE"},
	{"ibv_query_port", "DEVICE.QUERY_PORT QUERY_PORT"},
	{"ibv_query_gid_ex", "DEVICE.QUERY_GID_ENTRY"},
	{"ibv_query_gid_table", "DEVICE.QUERY_GID_TABLE"},
	{"ibv_alloc_pd", "ALLOC_PD"},
	{"ibv_dealloc_pd", "DEALLOC_PD PD.DESTROY"},
	{"ibv_reg_mr", "REG_MR"},
	{"ibv_reg_dm_mr", "MR.DM_REG"},
	{"ibv_rereg_mr", "REREG_MR"},
	{"ibv_dereg_mr", "DEREG_MR MR.DESTROY"},
	{"ibv_advise_mr", "MR.ADVISE"},
	{"ibv_import_mr", "MR.QUERY"},
	{"ibv_alloc_mw", "ALLOC_MW"},
	{"ibv_dealloc_mw", "DEALLOC_MW MW.DESTROY"},
	{"ibv_create_comp_channel", "CREATE_COMP_CHANNEL"},
	{"ibv_create_cq", "CREATE_CQ EX_CREATE_CQ CQ.CREATE"},
	{"ibv_create_cq_ex", "CREATE_CQ EX_CREATE_CQ CQ.CREATE"},
	{"ibv_resize_cq", "RESIZE_CQ"},
	{"ibv_modify_cq", "EX_MODIFY_CQ"},
	{"ibv_destroy_cq", "DESTROY_CQ CQ.DESTROY"},
	{"ibv_create_srq", "CREATE_SRQ CREATE_XSRQ SRQ.CREATE"},
	{"ibv_create_srq_ex", "CREATE_SRQ CREATE_XSRQ SRQ.CREATE"},
	{"ibv_modify_srq", "MODIFY_SRQ"},
	{"ibv_query_srq", "QUERY_SRQ"},
	{"ibv_destroy_srq", "DESTROY_SRQ SRQ.DESTROY"},
	{"ibv_create_qp", "CREATE_QP EX_CREATE_QP QP.CREATE"},
	{"ibv_create_qp_ex", "CREATE_QP EX_CREATE_QP QP.CREATE"},
	{"ibv_open_qp", "OPEN_QP"},
	{"ibv_modify_qp", "MODIFY_QP EX_MODIFY_QP"},
	{"ibv_query_qp", "QUERY_QP"},
	{"ibv_destroy_qp", "DESTROY_QP QP.DESTROY"},
	{"ibv_create_ah", "CREATE_AH"},
	{"ibv_destroy_ah", "DESTROY_AH AH.DESTROY"},
	{"ibv_attach_mcast", "ATTACH_MCAST"},
	{"ibv_detach_mcast", "DETACH_MCAST"},
	{"ibv_open_xrcd", "OPEN_XRCD"},
	{"ibv_close_xrcd", "CLOSE_XRCD XRCD.DESTROY"},
	{"ibv_create_wq", "EX_CREATE_WQ WQ.CREATE"},
	{"ibv_modify_wq", "EX_MODIFY_WQ"},
	{"ibv_destroy_wq", "EX_DESTROY_WQ WQ.DESTROY"},
	{"ibv_create_rwq_ind_table", "EX_CREATE_RWQ_IND_TBL"},
	{"ibv_destroy_rwq_ind_table", "EX_DESTROY_RWQ_IND_TBL RWQ_IND_TBL.DESTROY"},
	{"ibv_alloc_dm", "DM.ALLOC"},
	{"ibv_free_dm", "DM.FREE"},
	{0},
};

static const struct fault_name mlx5dv_names[] = {
	{"mlx5dv_devx_general_cmd", "DEVX.DEVX_OTHER"},
	{"mlx5dv_devx_obj_create", "DEVX_OBJ.DEVX_OBJ_CREATE"},
	{"mlx5dv_devx_obj_modify", "DEVX_OBJ.DEVX_OBJ_MODIFY"},
	{"mlx5dv_devx_obj_query", "DEVX_OBJ.DEVX_OBJ_QUERY"},
	{"mlx5dv_devx_obj_query_async", "DEVX_OBJ.DEVX_OBJ_ASYNC_QUERY"},
	{"mlx5dv_devx_obj_destroy", "DEVX_OBJ.DEVX_OBJ_DESTROY"},
	{"mlx5dv_devx_umem_reg", "DEVX_UMEM.DEVX_UMEM_REG"},
	{"mlx5dv_devx_umem_dereg", "DEVX_UMEM.DEVX_UMEM_DEREG"},
	{"mlx5dv_devx_alloc_uar", "UAR.UAR_OBJ_ALLOC"},
	{"mlx5dv_devx_query_eqn", "DEVX.DEVX_QUERY_EQN"},
	{"mlx5dv_devx_create_cmd_comp", "DEVX_ASYNC_CMD_FD.DEVX_ASYNC_CMD_FD_ALLOC"},
	{"mlx5dv_devx_create_event_channel", "DEVX_ASYNC_EVENT_FD.DEVX_ASYNC_EVENT_FD_ALLOC"},
	{"mlx5dv_devx_subscribe_devx_event", "DEVX.DEVX_SUBSCRIBE_EVENT"},
	{"mlx5dv_alloc_var", "VAR.VAR_OBJ_ALLOC"},
	{"mlx5dv_pp_alloc", "PP.PP_OBJ_ALLOC"},
	{0},
};

static const struct fault_name rdma_names[] = {
	{"rdma_create_id", "CREATE_ID"},
	{"rdma_destroy_id", "DESTROY_ID"},
	{"rdma_bind_addr", "BIND BIND_IP"},
	{"rdma_resolve_addr", "RESOLVE_ADDR RESOLVE_IP"},
	{"rdma_resolve_route", "RESOLVE_ROUTE"},
	{"rdma_connect", "CONNECT"},
	{"rdma_listen", "LISTEN"},
	{"rdma_accept", "ACCEPT"},
	{"rdma_reject", "REJECT"},
	{"rdma_disconnect", "DISCONNECT"},
	{"rdma_set_option", "SET_OPTION"},
	{"rdma_notify", "NOTIFY"},
	{"rdma_join_multicast", "JOIN_MCAST JOIN_IP_MCAST"},
	{"rdma_leave_multicast", "LEAVE_MCAST"},
	{"rdma_migrate_id", "MIGRATE_ID"},
	{0},
};
/* clang-format on */

#define BIT(n) (UINT64_C(1) << (n))
#define OP(name) (UINT64_C(1) << WQE_OP_##name)
#define CALLER (BIT(HW_FK_HOST) | BIT(HW_FK_PID) | BIT(HW_FK_COMM))

#define MESSAGE (CALLER | BIT(HW_FK_DEV) | BIT(HW_FK_QP) | BIT(HW_FK_TYPE) | BIT(HW_FK_SIZE))
#define OBJECT (CALLER | BIT(HW_FK_DEV) | BIT(HW_FK_NTH))
#define ENDS (BIT(HW_FK_HOST) | BIT(HW_FK_DEV) | BIT(HW_FK_PORT) | BIT(HW_FK_LID))
#define LOSSES (BIT(FAULT_LOST) | BIT(FAULT_LATE) | BIT(FAULT_WC) | BIT(FAULT_NAK))
#define REPEATS (BIT(FAULT_UNANSWERED) | BIT(FAULT_DUPLICATED))
#define WORK(n, o, more, ex)                                                                       \
	{                                                                                          \
		.name = n, .at = HW_AT_WR, .ops = (o), .keys = MESSAGE,                            \
		.whats = LOSSES | REPEATS | (more), .extras = BIT(FAULT_VENDOR_ERR), .example = ex \
	}

const struct fault_where fault_wheres[] = {
	{
		.name = "ibv_",
		.at = HW_AT_CALL,
		.names = ibv_names,
		.keys = CALLER | BIT(HW_FK_DEV),
		.whats = BIT(FAULT_ERROR),
		.example = "ibv_create_qp:error=ENOMEM:when=2",
	},
	{
		.name = "mlx5dv_",
		.at = HW_AT_CALL,
		.names = mlx5dv_names,
		.keys = CALLER | BIT(HW_FK_DEV),
		.whats = BIT(FAULT_ERROR),
		.example = "mlx5dv_devx_umem_reg:error=ENOMEM",
	},
	{
		.name = "rdma_",
		.at = HW_AT_CM_CALL,
		.names = rdma_names,
		.keys = CALLER,
		.whats = BIT(FAULT_ERROR),
		.example = "rdma_connect:error=ENOMEM",
	},
	{
		.name = "fw",
		.at = HW_AT_FW,
		.keys = CALLER | BIT(HW_FK_DEV) | BIT(HW_FK_CMD),
		.whats = BIT(FAULT_STATUS),
		.extras = BIT(FAULT_SYNDROME),
		.example = "fw[cmd=CREATE_MKEY]:status=NO_RESOURCES,syndrome=0x1234:when=1+",
	},
	WORK("SEND", OP(SEND) | OP(SEND_IMM) | OP(SEND_INVAL), BIT(FAULT_CUT) | BIT(FAULT_RNR),
	     "SEND:lost:when=3"),
	WORK("WRITE", OP(RDMA_WRITE) | OP(RDMA_WRITE_IMM), BIT(FAULT_CUT) | BIT(FAULT_RNR),
	     "WRITE[size=65536]:cut=3:when=1"),
	WORK("READ", OP(RDMA_READ), 0, "READ:late=50ms:p=0.1"),
	WORK("CAS", OP(ATOMIC_CS) | OP(ATOMIC_MASKED_CS), 0, "CAS:status=REM_ACCESS_ERR"),
	WORK("FADD", OP(ATOMIC_FA) | OP(ATOMIC_MASKED_FA), 0, "FADD:lost:when=1"),
	{
		.name = "UMR",
		.at = HW_AT_WR,
		.ops = OP(UMR),
		.keys = MESSAGE & ~BIT(HW_FK_SIZE),
		.whats = BIT(FAULT_LATE) | BIT(FAULT_WC),
		.extras = BIT(FAULT_VENDOR_ERR),
		.example = "UMR:status=MW_BIND_ERR:when=1",
	},
	{
		.name = "RECV",
		.at = HW_AT_RECV,
		.keys = MESSAGE,
		.whats = BIT(FAULT_RECV_WC),
		.extras = BIT(FAULT_VENDOR_ERR),
		.example = "RECV:status=LOC_LEN_ERR:when=1",
	},
	{
		.name = "process",
		.at = HW_ACT_PROCESS,
		.keys = CALLER,
		.whats = BIT(FAULT_KILL) | BIT(FAULT_STOP),
		.act = true,
		.example = "process[comm=ib_write_bw]:kill:after=ibv_modify_qp*3",
	},
	{
		.name = "port",
		.at = HW_ACT_PORT,
		.keys = BIT(HW_FK_HOST) | BIT(HW_FK_DEV) | BIT(HW_FK_PORT),
		.whats = BIT(FAULT_DOWN) | BIT(FAULT_UP) | BIT(FAULT_FLAP) | BIT(FAULT_PKEY) |
			 BIT(FAULT_LID) | BIT(FAULT_GID) | BIT(FAULT_REREGISTER) |
			 BIT(FAULT_SM_CHANGE),
		.act = true,
		.example = "port[dev=mlx5_0]:flap=200ms:at=1s",
	},
	{
		.name = "device",
		.at = HW_ACT_DEVICE,
		.keys = BIT(HW_FK_HOST) | BIT(HW_FK_DEV),
		.whats = BIT(FAULT_FATAL) | BIT(FAULT_UNPLUG),
		.act = true,
		.example = "device[dev=mlx5_0]:unplug=2s:at=1s",
	},
	{
		.name = "qp",
		.at = HW_ACT_QP,
		.keys = OBJECT | BIT(HW_FK_QP) | BIT(HW_FK_TYPE),
		.whats = BIT(FAULT_QP_EVENT),
		.act = true,
		.example = "qp[type=RC,nth=2]:event=QP_FATAL:at=1s",
	},
	{
		.name = "srq",
		.at = HW_ACT_SRQ,
		.keys = OBJECT | BIT(HW_FK_SRQ),
		.whats = BIT(FAULT_SRQ_EVENT),
		.act = true,
		.example = "srq[nth=1]:event=SRQ_ERR:at=1s",
	},
	{
		.name = "wq",
		.at = HW_ACT_WQ,
		.keys = (OBJECT & ~BIT(HW_FK_NTH)) | BIT(HW_FK_WQ),
		.whats = BIT(FAULT_WQ_EVENT),
		.act = true,
		.example = "wq:event=WQ_FATAL:at=1s",
	},
	{
		.name = "cq",
		.at = HW_AT_CQE,
		.keys = OBJECT | BIT(HW_FK_CQ),
		.whats = BIT(FAULT_OVERRUN),
		.example = "cq[nth=1]:overrun:when=10",
	},
	{
		.name = "cm",
		.at = HW_AT_CM,
		.keys = ENDS | BIT(HW_FK_MSG),
		.whats = BIT(FAULT_MAD_LOST) | BIT(FAULT_LATE) | BIT(FAULT_DUPLICATED) |
			 BIT(FAULT_REJECT),
		.example = "cm[msg=REQ]:reject=consumer:when=1",
	},
	{
		.name = "mad",
		.at = HW_AT_MAD,
		.keys = ENDS | BIT(HW_FK_CLASS) | BIT(HW_FK_METHOD) | BIT(HW_FK_ATTR),
		.whats = BIT(FAULT_MAD_LOST) | BIT(FAULT_LATE) | BIT(FAULT_MAD_STATUS),
		.example = "mad[attr=PathRecord]:lost:when=1..2",
	},
};
const size_t fault_nwheres = ARRAY_SIZE(fault_wheres);

const struct fault_word fault_whats[FAULT_WHATS] = {
	[FAULT_ERROR] = {"error", FAULT_V_ERRNO, "an errno (ENOMEM, EAGAIN...)"},
	[FAULT_STATUS] = {"status", FAULT_V_STATUS, "a status of firmware commands"},
	[FAULT_SYNDROME] = {"syndrome", FAULT_V_NUMBER, "a number"},
	[FAULT_KILL] = {"kill", FAULT_V_NONE, NULL},
	[FAULT_STOP] = {"stop", FAULT_V_TIME, "a time"},
	[FAULT_DOWN] = {"down", FAULT_V_NONE, NULL},
	[FAULT_UP] = {"up", FAULT_V_NONE, NULL},
	[FAULT_FLAP] = {"flap", FAULT_V_TIME, "a time"},
	[FAULT_PKEY] = {"pkey", FAULT_V_ENTRY, "an index and a P_Key: pkey[0]=0x7fff"},
	[FAULT_LID] = {"lid", FAULT_V_NUMBER, "a LID"},
	[FAULT_GID] = {"gid", FAULT_V_GID, "an index and a GID: gid[1]=2001:db8::1"},
	[FAULT_REREGISTER] = {"reregister", FAULT_V_NONE, NULL},
	[FAULT_LOST] = {"lost", FAULT_V_NONE, NULL},
	[FAULT_LATE] = {"late", FAULT_V_TIME, "a time"},
	[FAULT_CUT] = {"cut", FAULT_V_NUMBER, "a number of packets"},
	[FAULT_UNANSWERED] = {"unanswered", FAULT_V_NONE, NULL},
	[FAULT_DUPLICATED] = {"duplicated", FAULT_V_NONE, NULL},
	[FAULT_RNR] = {"rnr", FAULT_V_NONE, NULL},
	[FAULT_WC] = {"status", FAULT_V_WC, "a status of completions"},
	[FAULT_RECV_WC] = {"status", FAULT_V_RECV_WC, "a status of receives"},
	[FAULT_FATAL] = {"fatal", FAULT_V_NONE, NULL},
	[FAULT_UNPLUG] = {"unplug", FAULT_V_MAYBE_TIME, "a time, or nothing"},
	[FAULT_QP_EVENT] = {"event", FAULT_V_QP_EVENT, "an event of QPs"},
	[FAULT_SRQ_EVENT] = {"event", FAULT_V_SRQ_EVENT, "an event of SRQs"},
	[FAULT_WQ_EVENT] = {"event", FAULT_V_WQ_EVENT, "an event of WQs"},
	[FAULT_OVERRUN] = {"overrun", FAULT_V_NONE, NULL},
	[FAULT_MAD_LOST] = {"lost", FAULT_V_TIMES, "how many times"},
	[FAULT_MAD_STATUS] = {"status", FAULT_V_MAD_STATUS, "a status of MADs"},
	[FAULT_SM_CHANGE] = {"sm_change", FAULT_V_NONE, NULL},
	[FAULT_REJECT] = {"reject", FAULT_V_REASON, "a reason of rejects"},
	[FAULT_VENDOR_ERR] = {"vendor_err", FAULT_V_NUMBER, "a number below 256"},
	[FAULT_NAK] = {"nak", FAULT_V_NAK, "a NAK"},
};

const struct fault_word fault_keys[HW_FAULT_KEYS] = {
	[HW_FK_PID] = {"pid", FAULT_V_NUMBER, "a process"},
	[HW_FK_HOST] = {"host", FAULT_V_TEXT, "a host's name"},
	[HW_FK_COMM] = {"comm", FAULT_V_TEXT, "a process's name"},
	[HW_FK_DEV] = {"dev", FAULT_V_TEXT, "an adapter's name (mlx5_0)"},
	[HW_FK_CMD] = {"cmd", FAULT_V_OPCODE, "a firmware command"},
	[HW_FK_PORT] = {"port", FAULT_V_NUMBER, "a port's number"},
	[HW_FK_QP] = {"qp", FAULT_V_NUMBER, "a QP's number"},
	[HW_FK_TYPE] = {"type", FAULT_V_TYPE, "a type of QPs"},
	[HW_FK_SIZE] = {"size", FAULT_V_NUMBER, "a number of bytes"},
	[HW_FK_NTH] = {"nth", FAULT_V_NUMBER, "a number, from 1"},
	[HW_FK_CQ] = {"cq", FAULT_V_NUMBER, "a CQ's number"},
	[HW_FK_SRQ] = {"srq", FAULT_V_NUMBER, "an SRQ's number"},
	[HW_FK_WQ] = {"wq", FAULT_V_NUMBER, "a WQ's number"},
	[HW_FK_MSG] = {"msg", FAULT_V_MSG, "a message of connection managers"},
	[HW_FK_CLASS] = {"class", FAULT_V_CLASS, "a class of MADs"},
	[HW_FK_METHOD] = {"method", FAULT_V_METHOD, "a method of MADs"},
	[HW_FK_ATTR] = {"attr", FAULT_V_ATTR, "an attribute of MADs"},
	[HW_FK_LID] = {"lid", FAULT_V_NUMBER, "a port's LID"},
};
