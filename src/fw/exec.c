/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the command table and fw_exec(), the only way into the firmware. Checks what is common to
 * all commands (sizes, reserved bits, modifiers, uid), takes the HCA's lock, calls the handler and
 * writes status and syndrome. Called by the driver.
 */
#include "fw/cmd.h"

#include <errno.h>
#include <signal.h>
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/sys.h"

#define CMD(op, name, fl, fn, table, what)                                                    \
	{                                                                                     \
		PRM_OP_##op, (fl), &layout_##name##_in, &layout_##name##_out, fn, table, what \
	}
#define LOCKED FW_C_LOCK

const struct fw_cmd fw_cmds[] = {
	CMD(QUERY_HCA_CAP, query_hca_cap, FW_C_OP_MODS | FW_C_CUT, fw_cmd_query_hca_cap, -1, NULL),
	CMD(QUERY_ADAPTER, query_adapter, 0, fw_cmd_query_adapter, -1, NULL),
	CMD(QUERY_ISSI, query_issi, 0, fw_cmd_query_issi, -1, NULL),
	CMD(QUERY_SPECIAL_CONTEXTS, query_special_contexts, 0, fw_cmd_query_special_contexts, -1,
	    NULL),
	CMD(NOP, nop, 0, fw_cmd_nop, -1, NULL),
	CMD(QUERY_HCA_VPORT_CONTEXT, query_hca_vport_context, 0, fw_cmd_query_hca_vport_context, -1,
	    "port"),
	CMD(QUERY_VPORT_STATE, query_vport_state, 0, fw_cmd_query_vport_state, -1, NULL),
	CMD(QUERY_VPORT_COUNTER, query_vport_counter, 0, fw_cmd_query_vport_counter, -1, "port"),
	CMD(QUERY_VNIC_ENV, query_vnic_env, 0, fw_cmd_query_vnic_env, -1, NULL),
	CMD(QUERY_NIC_VPORT_CONTEXT, query_nic_vport_context, 0, fw_cmd_query_nic_vport_context, -1,
	    NULL),
	CMD(QUERY_LAG, query_lag, 0, fw_cmd_query_lag, -1, NULL),

	CMD(ALLOC_UAR, alloc_uar, LOCKED | FW_C_OP_MODS, fw_cmd_alloc_uar, SEG_T_UAR, "uar"),
	CMD(DEALLOC_UAR, dealloc_uar, LOCKED, fw_cmd_dealloc_uar, -1, "uar"),
	CMD(ALLOC_PD, alloc_pd, LOCKED, fw_cmd_alloc_pd, SEG_T_PD, "pd"),
	CMD(DEALLOC_PD, dealloc_pd, LOCKED, fw_cmd_dealloc_pd, -1, "pd"),
	CMD(CREATE_UMEM, create_umem, LOCKED | FW_C_KERNEL, fw_cmd_create_umem, SEG_T_UMEM, "umem"),
	CMD(DESTROY_UMEM, destroy_umem, LOCKED, fw_cmd_destroy_umem, -1, "umem"),
	CMD(CREATE_MKEY, create_mkey, LOCKED | FW_C_LIST, fw_cmd_create_mkey, SEG_T_MKEY,
	    "mkey_index"),
	CMD(QUERY_MKEY, query_mkey, LOCKED, fw_cmd_query_mkey, -1, "mkey_index"),
	CMD(DESTROY_MKEY, destroy_mkey, LOCKED, fw_cmd_destroy_mkey, -1, "mkey_index"),

	CMD(CREATE_EQ, create_eq, LOCKED | FW_C_KERNEL, fw_cmd_create_eq, SEG_T_EQ, "eqn"),
	CMD(QUERY_EQ, query_eq, LOCKED, fw_cmd_query_eq, -1, "eqn"),
	CMD(DESTROY_EQ, destroy_eq, LOCKED | FW_C_KERNEL, fw_cmd_destroy_eq, -1, "eqn"),
	CMD(CREATE_CQ, create_cq, LOCKED, fw_cmd_create_cq, SEG_T_CQ, "cqn"),
	CMD(QUERY_CQ, query_cq, LOCKED, fw_cmd_query_cq, -1, "cqn"),
	CMD(MODIFY_CQ, modify_cq, LOCKED | FW_C_OP_MODS, fw_cmd_modify_cq, -1, "cqn"),
	CMD(DESTROY_CQ, destroy_cq, LOCKED, fw_cmd_destroy_cq, -1, "cqn"),
	CMD(CREATE_RMP, create_rmp, LOCKED, fw_cmd_create_rmp, SEG_T_SRQ, "rmpn"),
	CMD(QUERY_RMP, query_rmp, LOCKED, fw_cmd_query_rmp, -1, "rmpn"),
	CMD(MODIFY_RMP, modify_rmp, LOCKED, fw_cmd_modify_rmp, -1, "rmpn"),
	CMD(DESTROY_RMP, destroy_rmp, LOCKED, fw_cmd_destroy_rmp, -1, "rmpn"),

	CMD(ALLOC_Q_COUNTER, alloc_q_counter, LOCKED, fw_cmd_alloc_q_counter, SEG_T_QCTR,
	    "counter_set_id"),
	CMD(DEALLOC_Q_COUNTER, dealloc_q_counter, LOCKED, fw_cmd_dealloc_q_counter, -1,
	    "counter_set_id"),
	CMD(QUERY_Q_COUNTER, query_q_counter, LOCKED, fw_cmd_query_q_counter, -1, "counter_set_id"),
	CMD(CREATE_DCT, create_dct, LOCKED, fw_cmd_create_dct, SEG_T_QP, "dctn"),
	CMD(QUERY_DCT, query_dct, LOCKED, fw_cmd_query_dct, -1, "dctn"),
	CMD(DRAIN_DCT, drain_dct, LOCKED, fw_cmd_drain_dct, -1, "dctn"),
	CMD(DESTROY_DCT, destroy_dct, LOCKED, fw_cmd_destroy_dct, -1, "dctn"),
	CMD(ARM_DCT_FOR_KEY_VIOLATION, arm_dct, LOCKED, fw_cmd_arm_dct, -1, "dctn"),
	CMD(ATTACH_TO_MCG, attach_to_mcg, LOCKED, fw_cmd_attach_to_mcg, SEG_T_MCG, "qpn"),
	CMD(DETACH_FROM_MCG, detach_from_mcg, LOCKED, fw_cmd_detach_from_mcg, -1, "qpn"),
	CMD(CREATE_XRQ, create_xrq, LOCKED, fw_cmd_create_xrq, SEG_T_SRQ, "xrqn"),
	CMD(QUERY_XRQ, query_xrq, LOCKED, fw_cmd_query_xrq, -1, "xrqn"),
	CMD(ARM_XRQ, arm_xrq, LOCKED, fw_cmd_arm_xrq, -1, "xrqn"),
	CMD(DESTROY_XRQ, destroy_xrq, LOCKED, fw_cmd_destroy_xrq, -1, "xrqn"),
	CMD(CREATE_PSV, create_psv, LOCKED, fw_cmd_create_psv, SEG_T_OBJ, "psvn"),
	CMD(DESTROY_PSV, destroy_psv, LOCKED, fw_cmd_destroy_psv, -1, "psvn"),
	CMD(ALLOC_XRCD, alloc_xrcd, LOCKED, fw_cmd_alloc_xrcd, SEG_T_XRCD, "xrcd"),
	CMD(DEALLOC_XRCD, dealloc_xrcd, LOCKED, fw_cmd_dealloc_xrcd, -1, "xrcd"),
	CMD(CREATE_XRC_SRQ, create_xrc_srq, LOCKED, fw_cmd_create_xrc_srq, SEG_T_SRQ, "xrc_srqn"),
	CMD(QUERY_XRC_SRQ, query_xrc_srq, LOCKED, fw_cmd_query_xrc_srq, -1, "xrc_srqn"),
	CMD(ARM_XRC_SRQ, arm_xrc_srq, LOCKED | FW_C_OP_MODS, fw_cmd_arm_xrc_srq, -1, "xrc_srqn"),
	CMD(DESTROY_XRC_SRQ, destroy_xrc_srq, LOCKED, fw_cmd_destroy_xrc_srq, -1, "xrc_srqn"),

	CMD(CREATE_QP, create_qp, LOCKED, fw_cmd_create_qp, SEG_T_QP, "qpn"),
	CMD(QUERY_QP, query_qp, LOCKED, fw_cmd_query_qp, -1, "qpn"),
	CMD(DESTROY_QP, destroy_qp, LOCKED, fw_cmd_destroy_qp, -1, "qpn"),
	CMD(RST2INIT_QP, rst2init_qp, LOCKED, fw_cmd_modify_qp, -1, "qpn"),
	CMD(INIT2INIT_QP, init2init_qp, LOCKED | FW_C_LIST, fw_cmd_modify_qp, -1, "qpn"),
	CMD(INIT2RTR_QP, init2rtr_qp, LOCKED, fw_cmd_modify_qp, -1, "qpn"),
	CMD(RTR2RTS_QP, rtr2rts_qp, LOCKED, fw_cmd_modify_qp, -1, "qpn"),
	CMD(RTS2RTS_QP, rts2rts_qp, LOCKED | FW_C_LIST, fw_cmd_modify_qp, -1, "qpn"),
	CMD(SQERR2RTS_QP, sqerr2rts_qp, LOCKED, fw_cmd_modify_qp, -1, "qpn"),
	CMD(SQD_RTS_QP, sqd2rts_qp, LOCKED, fw_cmd_modify_qp, -1, "qpn"),
	CMD(2ERR_QP, qp_2err, LOCKED, fw_cmd_qp_2err, -1, "qpn"),
	CMD(2RST_QP, qp_2rst, LOCKED, fw_cmd_qp_2rst, -1, "qpn"),

	CMD(CREATE_GENERAL_OBJECT, create_general_object, LOCKED | FW_C_OP_MODS | FW_C_LIST,
	    fw_cmd_create_general_object, SEG_T_OBJ, "obj_id"),
	CMD(MODIFY_GENERAL_OBJECT, modify_general_object, LOCKED | FW_C_OP_MODS | FW_C_LIST,
	    fw_cmd_modify_general_object, -1, "obj_id"),
	CMD(QUERY_GENERAL_OBJECT, query_general_object, LOCKED | FW_C_OP_MODS,
	    fw_cmd_query_general_object, -1, "obj_id"),
	CMD(DESTROY_GENERAL_OBJECT, destroy_general_object, LOCKED | FW_C_OP_MODS,
	    fw_cmd_destroy_general_object, -1, "obj_id"),
	CMD(CREATE_SCHEDULING_ELEMENT, create_scheduling_element, LOCKED,
	    fw_cmd_create_scheduling_element, SEG_T_OBJ, "scheduling_element_id"),
	CMD(QUERY_SCHEDULING_ELEMENT, query_scheduling_element, LOCKED,
	    fw_cmd_query_scheduling_element, -1, "scheduling_element_id"),
	CMD(MODIFY_SCHEDULING_ELEMENT, modify_scheduling_element, LOCKED,
	    fw_cmd_modify_scheduling_element, -1, "scheduling_element_id"),
	CMD(DESTROY_SCHEDULING_ELEMENT, destroy_scheduling_element, LOCKED,
	    fw_cmd_destroy_scheduling_element, -1, "scheduling_element_id"),
	CMD(SET_PP_RATE_LIMIT, set_pp_rate_limit, LOCKED | FW_C_KERNEL, fw_cmd_set_pp_rate_limit,
	    SEG_T_OBJ, "rate_limit_index"),
	CMD(ALLOC_TRANSPORT_DOMAIN, alloc_transport_domain, LOCKED, fw_cmd_alloc_td, SEG_T_OBJ,
	    "transport_domain"),
	CMD(DEALLOC_TRANSPORT_DOMAIN, dealloc_transport_domain, LOCKED, fw_cmd_dealloc_td, -1,
	    "transport_domain"),
	CMD(CREATE_RQ, create_rq, LOCKED, fw_cmd_create_rq, SEG_T_OBJ, "rqn"),
	CMD(QUERY_RQ, query_rq, LOCKED, fw_cmd_query_rq, -1, "rqn"),
	CMD(MODIFY_RQ, modify_rq, LOCKED, fw_cmd_modify_rq, -1, "rqn"),
	CMD(DESTROY_RQ, destroy_rq, LOCKED, fw_cmd_destroy_rq, -1, "rqn"),
	CMD(ARM_RQ, arm_rq, LOCKED | FW_C_OP_MODS, fw_cmd_arm_rq, -1, "rqn"),
	CMD(CREATE_RQT, create_rqt, LOCKED | FW_C_LIST, fw_cmd_create_rqt, SEG_T_OBJ, "rqtn"),
	CMD(QUERY_RQT, query_rqt, LOCKED, fw_cmd_query_rqt, -1, "rqtn"),
	CMD(MODIFY_RQT, modify_rqt, LOCKED | FW_C_LIST, fw_cmd_modify_rqt, -1, "rqtn"),
	CMD(DESTROY_RQT, destroy_rqt, LOCKED, fw_cmd_destroy_rqt, -1, "rqtn"),
	CMD(CREATE_TIR, create_tir, LOCKED, fw_cmd_create_tir, SEG_T_OBJ, "tirn"),
	CMD(QUERY_TIR, query_tir, LOCKED, fw_cmd_query_tir, -1, "tirn"),
	CMD(MODIFY_TIR, modify_tir, LOCKED, fw_cmd_modify_tir, -1, "tirn"),
	CMD(DESTROY_TIR, destroy_tir, LOCKED, fw_cmd_destroy_tir, -1, "tirn"),
	CMD(CREATE_TIS, create_tis, LOCKED, fw_cmd_create_tis, SEG_T_OBJ, "tisn"),
	CMD(QUERY_TIS, query_tis, LOCKED, fw_cmd_query_tis, -1, "tisn"),
	CMD(MODIFY_TIS, modify_tis, LOCKED, fw_cmd_modify_tis, -1, "tisn"),
	CMD(DESTROY_TIS, destroy_tis, LOCKED, fw_cmd_destroy_tis, -1, "tisn"),
	CMD(CREATE_SQ, create_sq, LOCKED, fw_cmd_create_sq, SEG_T_OBJ, "sqn"),
	CMD(QUERY_SQ, query_sq, LOCKED, fw_cmd_query_sq, -1, "sqn"),
	CMD(MODIFY_SQ, modify_sq, LOCKED, fw_cmd_modify_sq, -1, "sqn"),
	CMD(DESTROY_SQ, destroy_sq, LOCKED, fw_cmd_destroy_sq, -1, "sqn"),
};
const unsigned int fw_ncmds = ARRAY_SIZE(fw_cmds);

static const struct fw_cmd *cmd_find(uint16_t opcode)
{
	for (unsigned int i = 0; i < fw_ncmds; i++)
		if (fw_cmds[i].opcode == opcode)
			return &fw_cmds[i];
	return NULL;
}

bool fw_command_layouts(uint16_t opcode, const struct layout **in, const struct layout **out)
{
	const struct fw_cmd *c = cmd_find(opcode);

	if (!c)
		return false;
	*in = c->in;
	*out = c->out;
	return true;
}

uint64_t fw_sig_block(const struct fw_ctx *c)
{
	/* Synchronous faults stay deliverable: the guarded copies need them. */
	uint64_t mask = ~((UINT64_C(1) << (SIGSEGV - 1)) | (UINT64_C(1) << (SIGBUS - 1)) |
			  (UINT64_C(1) << (SIGFPE - 1)) | (UINT64_C(1) << (SIGILL - 1)) |
			  (UINT64_C(1) << (SIGTRAP - 1)));
	uint64_t old = 0;

	if (c && c->masked)
		return 0;
	sys_raw(SYS_rt_sigprocmask, SIG_BLOCK, (long)&mask, (long)&old, sizeof(old), 0, 0);
	return old;
}

void fw_sig_restore(const struct fw_ctx *c, uint64_t old)
{
	if (c && c->masked)
		return;
	sys_raw(SYS_rt_sigprocmask, SIG_SETMASK, (long)&old, 0, sizeof(old), 0, 0);
}

/* What every command must satisfy before its handler sees it; *bit: the reserved bit that is set.
 */
static enum fw_r check_common(const struct fw_call *k, uint32_t inlen, uint32_t outlen,
			      int32_t *bit)
{
	const uint8_t *in = k->in;
	uint32_t uid = (uint32_t)LAYOUT_GET(cmd_in, in, uid);

	if (inlen < k->cmd->in->bytes)
		return FW_R_INPUT_LEN;
	if (outlen < k->cmd->out->bytes && !(k->cmd->flags & FW_C_CUT))
		return FW_R_OUTPUT_LEN;
	if ((k->cmd->flags & FW_C_KERNEL) && !k->c->kernel)
		return FW_R_KERNEL_ONLY;
	*bit = layout_reserved_set(k->cmd->in, in, k->cmd->in->bytes);
	if (*bit >= 0)
		return FW_R_RESERVED;
	for (uint32_t i = k->cmd->in->bytes; i < inlen && !(k->cmd->flags & FW_C_LIST); i++)
		if (in[i])
			return FW_R_PAGE_LIST;
	if (!(k->cmd->flags & FW_C_OP_MODS) && k->op_mod != 0)
		return FW_R_OP_MOD;
	if (uid != k->c->uid && !(k->c->kernel && uid == 0))
		return FW_R_UID;
	return FW_R_NONE;
}

static int run_locked(struct fw_call *k)
{
	uint64_t mask = fw_sig_block(k->c);
	int r = seg_lock(k->s, &k->hca->lock, SEG_LOCK_CTRL_NS);

	if (r >= 0) {
		if (r == SEG_LOCK_INHERITED)
			fw_recount(k->s, k->c->hca);
		r = k->cmd->handler(k);
		seg_unlock(k->s, &k->hca->lock);
	}
	fw_sig_restore(k->c, mask);
	return r;
}

static int run(struct fw_call *k)
{
	return k->cmd->flags & FW_C_LOCK ? run_locked(k) : k->cmd->handler(k);
}

/* The handler writes its whole answer; the caller of a FW_C_CUT command has room for its start. */
__attribute__((noinline)) static int run_cut(struct fw_call *k, uint32_t outlen)
{
	uint8_t whole[LAYOUT_SZ(query_hca_cap_out)] = {0};
	void *out = k->out;
	int r;

	k->out = whole;
	r = run(k);
	k->out = out;
	memcpy(out, whole, outlen);
	return r;
}

int fw_exec(const struct fw_ctx *c, const void *in, uint32_t inlen, void *out, uint32_t outlen)
{
	struct fw_call k = {
		.c = c, .s = c->seg, .in = in, .inlen = inlen, .out = out, .outlen = outlen};
	uint16_t opcode;
	uint64_t since = TRACE_ON(LOG_FW) ? clock_now_ns() : 0;
	int32_t bit = -1;
	int r;

	/* Without the header there is no command and no room for an answer. */
	if (inlen < LAYOUT_SZ(cmd_in) || outlen < LAYOUT_SZ(cmd_out))
		return -EINVAL;
	k.hca = hw_hca(c->seg, c->hca);
	if (!k.hca)
		return -ENODEV;
	k.caps = fw_caps((enum hw_model)k.hca->model);
	k.owner = c->file == SEG_NONE ? SEG_OWNER_DEVICE : c->file + 1;
	opcode = (uint16_t)LAYOUT_GET(cmd_in, in, opcode);
	k.op_mod = (uint32_t)LAYOUT_GET(cmd_in, in, op_mod);
	k.cmd = cmd_find(opcode);
	memset(out, 0, outlen);
	if (!k.cmd)
		r = FW_R_OPCODE;
	else
		r = (int)check_common(&k, inlen, outlen, &bit);
	if (r == 0)
		r = outlen < k.cmd->out->bytes ? run_cut(&k, outlen) : run(&k);
	if (r > 0) {
		const struct fw_refusal *f = fw_refusal((enum fw_r)r);

		memset(out, 0, outlen);
		LAYOUT_SET(cmd_out, out, status, f->status);
		LAYOUT_SET(cmd_out, out, syndrome, f->syndrome);
	}
	if (TRACE_ON(LOG_FW))
		fw_trace(&k, opcode, inlen, outlen, r, bit, since);
	return r < 0 ? r : 0;
}
