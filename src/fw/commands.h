/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* All commands that this firmware executes, and all reasons for refusals. */
#ifndef SOFTHCA_FW_COMMANDS_H
#define SOFTHCA_FW_COMMANDS_H

/*
 * Every command: X(opcode, layout, flags, handler, table, id). The layouts are LAYOUT_in and
 * LAYOUT_out; `table` is for the object that the command makes, else -1; `id` is the trace's name
 * for fw_call.obj.
 */
#define FW_COMMANDS(X)                                                                             \
	/* the adapter and its ports */                                                            \
	X(QUERY_HCA_CAP, query_hca_cap, FW_C_OP_MODS | FW_C_CUT, fw_cmd_query_hca_cap, -1, NULL)   \
	X(QUERY_ADAPTER, query_adapter, 0, fw_cmd_query_adapter, -1, NULL)                         \
	X(QUERY_ISSI, query_issi, 0, fw_cmd_query_issi, -1, NULL)                                  \
	X(QUERY_SPECIAL_CONTEXTS, query_special_contexts, 0, fw_cmd_query_special_contexts, -1,    \
	  NULL)                                                                                    \
	X(NOP, nop, 0, fw_cmd_nop, -1, NULL)                                                       \
	X(QUERY_HCA_VPORT_CONTEXT, query_hca_vport_context, 0, fw_cmd_query_hca_vport_context, -1, \
	  "port")                                                                                  \
	X(QUERY_VPORT_STATE, query_vport_state, 0, fw_cmd_query_vport_state, -1, NULL)             \
	X(QUERY_VPORT_COUNTER, query_vport_counter, 0, fw_cmd_query_vport_counter, -1, "port")     \
	X(QUERY_VNIC_ENV, query_vnic_env, 0, fw_cmd_query_vnic_env, -1, NULL)                      \
	X(QUERY_NIC_VPORT_CONTEXT, query_nic_vport_context, 0, fw_cmd_query_nic_vport_context, -1, \
	  NULL)                                                                                    \
	X(QUERY_ROCE_ADDRESS, query_roce_address, 0, fw_cmd_query_roce_address, -1, "index")       \
	X(QUERY_CONG_STATISTICS, query_cong_statistics, 0, fw_cmd_query_cong_statistics, -1, NULL) \
	X(QUERY_LAG, query_lag, 0, fw_cmd_query_lag, -1, NULL)                                     \
	/* UARs, PDs, umems, mkeys */                                                              \
	X(ALLOC_UAR, alloc_uar, FW_C_LOCK | FW_C_OP_MODS, fw_cmd_alloc_uar, SEG_T_UAR, "uar")      \
	X(DEALLOC_UAR, dealloc_uar, FW_C_LOCK | FW_C_ENDS, fw_cmd_dealloc_uar, -1, "uar")          \
	X(ALLOC_PD, alloc_pd, FW_C_LOCK, fw_cmd_alloc_pd, SEG_T_PD, "pd")                          \
	X(DEALLOC_PD, dealloc_pd, FW_C_LOCK | FW_C_ENDS, fw_cmd_dealloc_pd, -1, "pd")              \
	X(CREATE_UMEM, create_umem, FW_C_LOCK | FW_C_KERNEL, fw_cmd_create_umem, SEG_T_UMEM,       \
	  "umem")                                                                                  \
	X(DESTROY_UMEM, destroy_umem, FW_C_LOCK | FW_C_ENDS, fw_cmd_destroy_umem, -1, "umem")      \
	X(CREATE_MKEY, create_mkey, FW_C_LOCK | FW_C_LIST, fw_cmd_create_mkey, SEG_T_MKEY,         \
	  "mkey_index")                                                                            \
	X(QUERY_MKEY, query_mkey, FW_C_LOCK, fw_cmd_query_mkey, -1, "mkey_index")                  \
	X(DESTROY_MKEY, destroy_mkey, FW_C_LOCK | FW_C_ENDS, fw_cmd_destroy_mkey, -1,              \
	  "mkey_index")                                                                            \
	X(ALLOC_MEMIC, alloc_memic, FW_C_LOCK | FW_C_KERNEL, fw_cmd_alloc_memic, SEG_T_MEMIC,      \
	  "memic")                                                                                 \
	X(DEALLOC_MEMIC, dealloc_memic, FW_C_LOCK | FW_C_ENDS | FW_C_KERNEL, fw_cmd_dealloc_memic, \
	  -1, "memic")                                                                             \
	/* EQs, CQs, SRQs */                                                                       \
	X(CREATE_EQ, create_eq, FW_C_LOCK | FW_C_KERNEL, fw_cmd_create_eq, SEG_T_EQ, "eqn")        \
	X(QUERY_EQ, query_eq, FW_C_LOCK, fw_cmd_query_eq, -1, "eqn")                               \
	X(DESTROY_EQ, destroy_eq, FW_C_LOCK | FW_C_ENDS | FW_C_KERNEL, fw_cmd_destroy_eq, -1,      \
	  "eqn")                                                                                   \
	X(CREATE_CQ, create_cq, FW_C_LOCK, fw_cmd_create_cq, SEG_T_CQ, "cqn")                      \
	X(QUERY_CQ, query_cq, FW_C_LOCK, fw_cmd_query_cq, -1, "cqn")                               \
	X(MODIFY_CQ, modify_cq, FW_C_LOCK | FW_C_OP_MODS, fw_cmd_modify_cq, -1, "cqn")             \
	X(DESTROY_CQ, destroy_cq, FW_C_LOCK | FW_C_ENDS, fw_cmd_destroy_cq, -1, "cqn")             \
	X(CREATE_RMP, create_rmp, FW_C_LOCK, fw_cmd_create_rmp, SEG_T_SRQ, "rmpn")                 \
	X(QUERY_RMP, query_rmp, FW_C_LOCK, fw_cmd_query_rmp, -1, "rmpn")                           \
	X(MODIFY_RMP, modify_rmp, FW_C_LOCK, fw_cmd_modify_rmp, -1, "rmpn")                        \
	X(DESTROY_RMP, destroy_rmp, FW_C_LOCK | FW_C_ENDS, fw_cmd_destroy_rmp, -1, "rmpn")         \
	/* counters, DC, multicast, XRC */                                                         \
	X(ALLOC_Q_COUNTER, alloc_q_counter, FW_C_LOCK, fw_cmd_alloc_q_counter, SEG_T_QCTR,         \
	  "counter_set_id")                                                                        \
	X(DEALLOC_Q_COUNTER, dealloc_q_counter, FW_C_LOCK | FW_C_ENDS, fw_cmd_dealloc_q_counter,   \
	  -1, "counter_set_id")                                                                    \
	X(QUERY_Q_COUNTER, query_q_counter, FW_C_LOCK, fw_cmd_query_q_counter, -1,                 \
	  "counter_set_id")                                                                        \
	X(CREATE_DCT, create_dct, FW_C_LOCK, fw_cmd_create_dct, SEG_T_QP, "dctn")                  \
	X(QUERY_DCT, query_dct, FW_C_LOCK, fw_cmd_query_dct, -1, "dctn")                           \
	X(DRAIN_DCT, drain_dct, FW_C_LOCK, fw_cmd_drain_dct, -1, "dctn")                           \
	X(DESTROY_DCT, destroy_dct, FW_C_LOCK | FW_C_ENDS, fw_cmd_destroy_dct, -1, "dctn")         \
	X(ARM_DCT_FOR_KEY_VIOLATION, arm_dct, FW_C_LOCK, fw_cmd_arm_dct, -1, "dctn")               \
	X(ATTACH_TO_MCG, attach_to_mcg, FW_C_LOCK, fw_cmd_attach_to_mcg, SEG_T_MCG, "qpn")         \
	X(DETACH_FROM_MCG, detach_from_mcg, FW_C_LOCK | FW_C_ENDS, fw_cmd_detach_from_mcg, -1,     \
	  "qpn")                                                                                   \
	X(CREATE_XRQ, create_xrq, FW_C_LOCK, fw_cmd_create_xrq, SEG_T_SRQ, "xrqn")                 \
	X(QUERY_XRQ, query_xrq, FW_C_LOCK, fw_cmd_query_xrq, -1, "xrqn")                           \
	X(ARM_XRQ, arm_xrq, FW_C_LOCK, fw_cmd_arm_xrq, -1, "xrqn")                                 \
	X(DESTROY_XRQ, destroy_xrq, FW_C_LOCK | FW_C_ENDS, fw_cmd_destroy_xrq, -1, "xrqn")         \
	X(CREATE_PSV, create_psv, FW_C_LOCK, fw_cmd_create_psv, SEG_T_OBJ, "psvn")                 \
	X(DESTROY_PSV, destroy_psv, FW_C_LOCK | FW_C_ENDS, fw_cmd_destroy_psv, -1, "psvn")         \
	X(ALLOC_XRCD, alloc_xrcd, FW_C_LOCK, fw_cmd_alloc_xrcd, SEG_T_XRCD, "xrcd")                \
	X(DEALLOC_XRCD, dealloc_xrcd, FW_C_LOCK | FW_C_ENDS, fw_cmd_dealloc_xrcd, -1, "xrcd")      \
	X(CREATE_XRC_SRQ, create_xrc_srq, FW_C_LOCK, fw_cmd_create_xrc_srq, SEG_T_SRQ, "xrc_srqn") \
	X(QUERY_XRC_SRQ, query_xrc_srq, FW_C_LOCK, fw_cmd_query_xrc_srq, -1, "xrc_srqn")           \
	X(ARM_XRC_SRQ, arm_xrc_srq, FW_C_LOCK | FW_C_OP_MODS, fw_cmd_arm_xrc_srq, -1, "xrc_srqn")  \
	X(DESTROY_XRC_SRQ, destroy_xrc_srq, FW_C_LOCK | FW_C_ENDS, fw_cmd_destroy_xrc_srq, -1,     \
	  "xrc_srqn")                                                                              \
	/* QPs */                                                                                  \
	X(CREATE_QP, create_qp, FW_C_LOCK, fw_cmd_create_qp, SEG_T_QP, "qpn")                      \
	X(QUERY_QP, query_qp, FW_C_LOCK, fw_cmd_query_qp, -1, "qpn")                               \
	X(DESTROY_QP, destroy_qp, FW_C_LOCK | FW_C_ENDS, fw_cmd_destroy_qp, -1, "qpn")             \
	X(RST2INIT_QP, rst2init_qp, FW_C_LOCK, fw_cmd_modify_qp, -1, "qpn")                        \
	X(INIT2INIT_QP, init2init_qp, FW_C_LOCK | FW_C_LIST, fw_cmd_modify_qp, -1, "qpn")          \
	X(INIT2RTR_QP, init2rtr_qp, FW_C_LOCK, fw_cmd_modify_qp, -1, "qpn")                        \
	X(RTR2RTS_QP, rtr2rts_qp, FW_C_LOCK, fw_cmd_modify_qp, -1, "qpn")                          \
	X(RTS2RTS_QP, rts2rts_qp, FW_C_LOCK | FW_C_LIST, fw_cmd_modify_qp, -1, "qpn")              \
	X(SQERR2RTS_QP, sqerr2rts_qp, FW_C_LOCK, fw_cmd_modify_qp, -1, "qpn")                      \
	X(SQD_RTS_QP, sqd2rts_qp, FW_C_LOCK, fw_cmd_modify_qp, -1, "qpn")                          \
	X(2ERR_QP, qp_2err, FW_C_LOCK | FW_C_STOPS, fw_cmd_qp_2err, -1, "qpn")                     \
	X(2RST_QP, qp_2rst, FW_C_LOCK | FW_C_STOPS, fw_cmd_qp_2rst, -1, "qpn")                     \
	/* scheduling, and objects for raw packets */                                              \
	X(CREATE_GENERAL_OBJECT, create_general_object, FW_C_LOCK | FW_C_OP_MODS | FW_C_LIST,      \
	  fw_cmd_create_general_object, SEG_T_OBJ, "obj_id")                                       \
	X(MODIFY_GENERAL_OBJECT, modify_general_object, FW_C_LOCK | FW_C_OP_MODS | FW_C_LIST,      \
	  fw_cmd_modify_general_object, -1, "obj_id")                                              \
	X(QUERY_GENERAL_OBJECT, query_general_object, FW_C_LOCK | FW_C_OP_MODS,                    \
	  fw_cmd_query_general_object, -1, "obj_id")                                               \
	X(DESTROY_GENERAL_OBJECT, destroy_general_object, FW_C_LOCK | FW_C_ENDS | FW_C_OP_MODS,    \
	  fw_cmd_destroy_general_object, -1, "obj_id")                                             \
	X(CREATE_SCHEDULING_ELEMENT, create_scheduling_element, FW_C_LOCK,                         \
	  fw_cmd_create_scheduling_element, SEG_T_OBJ, "scheduling_element_id")                    \
	X(QUERY_SCHEDULING_ELEMENT, query_scheduling_element, FW_C_LOCK,                           \
	  fw_cmd_query_scheduling_element, -1, "scheduling_element_id")                            \
	X(MODIFY_SCHEDULING_ELEMENT, modify_scheduling_element, FW_C_LOCK,                         \
	  fw_cmd_modify_scheduling_element, -1, "scheduling_element_id")                           \
	X(DESTROY_SCHEDULING_ELEMENT, destroy_scheduling_element, FW_C_LOCK | FW_C_ENDS,           \
	  fw_cmd_destroy_scheduling_element, -1, "scheduling_element_id")                          \
	X(SET_PP_RATE_LIMIT, set_pp_rate_limit, FW_C_LOCK | FW_C_KERNEL, fw_cmd_set_pp_rate_limit, \
	  SEG_T_OBJ, "rate_limit_index")                                                           \
	X(ALLOC_TRANSPORT_DOMAIN, alloc_transport_domain, FW_C_LOCK, fw_cmd_alloc_td, SEG_T_OBJ,   \
	  "transport_domain")                                                                      \
	X(DEALLOC_TRANSPORT_DOMAIN, dealloc_transport_domain, FW_C_LOCK | FW_C_ENDS,               \
	  fw_cmd_dealloc_td, -1, "transport_domain")                                               \
	X(CREATE_RQ, create_rq, FW_C_LOCK, fw_cmd_create_rq, SEG_T_OBJ, "rqn")                     \
	X(QUERY_RQ, query_rq, FW_C_LOCK, fw_cmd_query_rq, -1, "rqn")                               \
	X(MODIFY_RQ, modify_rq, FW_C_LOCK, fw_cmd_modify_rq, -1, "rqn")                            \
	X(DESTROY_RQ, destroy_rq, FW_C_LOCK | FW_C_ENDS, fw_cmd_destroy_rq, -1, "rqn")             \
	X(ARM_RQ, arm_rq, FW_C_LOCK | FW_C_OP_MODS, fw_cmd_arm_rq, -1, "rqn")                      \
	X(CREATE_RQT, create_rqt, FW_C_LOCK | FW_C_LIST, fw_cmd_create_rqt, SEG_T_OBJ, "rqtn")     \
	X(QUERY_RQT, query_rqt, FW_C_LOCK, fw_cmd_query_rqt, -1, "rqtn")                           \
	X(MODIFY_RQT, modify_rqt, FW_C_LOCK | FW_C_LIST, fw_cmd_modify_rqt, -1, "rqtn")            \
	X(DESTROY_RQT, destroy_rqt, FW_C_LOCK | FW_C_ENDS, fw_cmd_destroy_rqt, -1, "rqtn")         \
	X(CREATE_TIR, create_tir, FW_C_LOCK, fw_cmd_create_tir, SEG_T_OBJ, "tirn")                 \
	X(QUERY_TIR, query_tir, FW_C_LOCK, fw_cmd_query_tir, -1, "tirn")                           \
	X(MODIFY_TIR, modify_tir, FW_C_LOCK, fw_cmd_modify_tir, -1, "tirn")                        \
	X(DESTROY_TIR, destroy_tir, FW_C_LOCK | FW_C_ENDS, fw_cmd_destroy_tir, -1, "tirn")         \
	X(CREATE_TIS, create_tis, FW_C_LOCK, fw_cmd_create_tis, SEG_T_OBJ, "tisn")                 \
	X(QUERY_TIS, query_tis, FW_C_LOCK, fw_cmd_query_tis, -1, "tisn")                           \
	X(MODIFY_TIS, modify_tis, FW_C_LOCK, fw_cmd_modify_tis, -1, "tisn")                        \
	X(DESTROY_TIS, destroy_tis, FW_C_LOCK | FW_C_ENDS, fw_cmd_destroy_tis, -1, "tisn")         \
	X(CREATE_SQ, create_sq, FW_C_LOCK, fw_cmd_create_sq, SEG_T_OBJ, "sqn")                     \
	X(QUERY_SQ, query_sq, FW_C_LOCK, fw_cmd_query_sq, -1, "sqn")                               \
	X(MODIFY_SQ, modify_sq, FW_C_LOCK, fw_cmd_modify_sq, -1, "sqn")                            \
	X(DESTROY_SQ, destroy_sq, FW_C_LOCK | FW_C_ENDS, fw_cmd_destroy_sq, -1, "sqn")

/*
 * Every reason for a refusal: X(name, syndrome, status, field, says). A syndrome is opcode << 8 | n
 * for a reason of one command, 0xf000nn for those of all commands. Numbers are stable: append,
 * never renumber. `says` is one of:
 *
 * ALLOWED(what)         the allowed values, which also say why others are refused
 * BECAUSE(why, what)    why the value is refused, and the allowed values
 * NO_SUCH(object)       no object of this number exists under this uid
 * UNKNOWN(thing)        a selector that this device does not have
 * IN_USE(why)           the object is still referred to
 * MUST_BE_0(why)        the feature is off
 *
 * A trailing CAP(name) names the general capability whose value the trace shows beside it.
 */
#define FW_REFUSALS(X)                                                                             \
	X(OPCODE, 0xf00001, BAD_OP, "cmd_in.opcode",                                               \
	  BECAUSE("not a command of this firmware", "those of doc/SUPPORT.md"))                    \
	X(INPUT_LEN, 0xf00002, BAD_INPUT_LEN, "cmd_in",                                            \
	  BECAUSE("input is shorter than the command", "the whole length of the command"))         \
	X(OUTPUT_LEN, 0xf00003, BAD_OUTPUT_LEN, "cmd_out",                                         \
	  BECAUSE("output is shorter than the answer", "room for all of it"))                      \
	X(RESERVED, 0xf00004, BAD_PARAM, "cmd_in", ALLOWED("reserved bits must be zero"))          \
	X(OP_MOD, 0xf00005, BAD_PARAM, "cmd_in.op_mod", UNKNOWN("modifier of this command"))       \
	X(UID, 0xf00006, BAD_PARAM, "cmd_in.uid", ALLOWED("must be the context's uid"))            \
	X(PAGE_LIST, 0xf00007, BAD_PARAM, "cmd_in", BECAUSE("page lists are not taken", "a umem")) \
	X(TABLE_FULL, 0xf00008, EXCEED_LIM, "cmd_in",                                              \
	  BECAUSE("no more objects of this kind", "as many as the capabilities say"))              \
	X(KERNEL_ONLY, 0xf00009, BAD_PARAM, "cmd_in.opcode",                                       \
	  BECAUSE("the driver sends this one itself", "the commands for programs"))                \
	X(NO_MEMORY, 0xf0000a, BAD_PARAM, "cmd_in",                                                \
	  BECAUSE("the command needs a page list", "with one, which the driver adds"))             \
	/* capabilities and ports */                                                               \
	X(CAP_GROUP, 0x10001, BAD_PARAM, "query_hca_cap_in.op_mod", UNKNOWN("capability group"))   \
	X(CAP_FUNCTION, 0x10002, BAD_PARAM, "query_hca_cap_in.function_id",                        \
	  ALLOWED("own function only"))                                                            \
	X(VPORT_OTHER, 0x76201, BAD_PARAM, "query_hca_vport_context_in.other_vport",               \
	  ALLOWED("own vport only"))                                                               \
	X(VPORT_PORT, 0x76202, BAD_PARAM, "query_hca_vport_context_in.port_num",                   \
	  ALLOWED("a port of the HCA; 0 only when it has one"))                                    \
	X(VPORT_STATE_OTHER, 0x75001, BAD_PARAM, "query_vport_state_in.other_vport",               \
	  ALLOWED("own vport only"))                                                               \
	X(VPORT_COUNTER_OTHER, 0x77001, BAD_PARAM, "query_vport_counter_in.other_vport",           \
	  ALLOWED("own vport only"))                                                               \
	X(VPORT_COUNTER_PORT, 0x77002, BAD_PARAM, "query_vport_counter_in.port_num",               \
	  ALLOWED("a port of the HCA; 0 only when it has one"))                                    \
	X(VPORT_COUNTER_CLEAR, 0x77003, BAD_PARAM, "query_vport_counter_in.clear",                 \
	  ALLOWED("0: counters only go up"))                                                       \
	X(VNIC_ENV_OTHER, 0x76f01, BAD_PARAM, "query_vnic_env_in.other_vport",                     \
	  ALLOWED("own vport only"))                                                               \
	X(NIC_VPORT_OTHER, 0x75401, BAD_PARAM, "query_nic_vport_context_in.other_vport",           \
	  ALLOWED("own vport only"))                                                               \
	X(NIC_VPORT_LIST, 0x75402, BAD_PARAM, "query_nic_vport_context_in.allowed_list_type",      \
	  ALLOWED("unicast (0), multicast (1) or VLAN (2)"))                                       \
	X(VPORT_ETH, 0x76203, BAD_PARAM, "query_hca_vport_context_in",                             \
	  BECAUSE("the ports are Ethernet", "QUERY_NIC_VPORT_CONTEXT"))                            \
	X(ROCE_OFF, 0x76001, BAD_PARAM, "query_roce_address_in",                                   \
	  BECAUSE("cap roce is 0", "Ethernet ports"))                                              \
	X(ROCE_PORT, 0x76002, BAD_PARAM, "query_roce_address_in.vhca_port_num",                    \
	  ALLOWED("0, or a port of the HCA"))                                                      \
	X(ROCE_INDEX, 0x76003, BAD_INDEX, "query_roce_address_in.roce_address_index",              \
	  ALLOWED("below roce_address_table_size"))                                                \
	X(CONG_OFF, 0x82601, BAD_PARAM, "query_cong_statistics_in",                                \
	  BECAUSE("the ports are InfiniBand", "Ethernet ports"))                                   \
	/* UARs, PDs, umems */                                                                     \
	X(UAR_NONE, 0x80301, BAD_RES, "dealloc_uar_in.uar", NO_SUCH("UAR"))                        \
	X(UAR_IN_USE, 0x80302, BAD_RES_STATE, "dealloc_uar_in.uar",                                \
	  IN_USE("queues still use the UAR"))                                                      \
	X(PD_NONE, 0x80101, BAD_RES, "dealloc_pd_in.pd", NO_SUCH("PD"))                            \
	X(PD_IN_USE, 0x80102, BAD_RES_STATE, "dealloc_pd_in.pd",                                   \
	  IN_USE("QPs, SRQs or mkeys are in the PD"))                                              \
	X(UMEM_LEN, 0xa0801, BAD_PARAM, "umem.num_of_mtt",                                         \
	  ALLOWED("the memory must not be empty nor wrap"))                                        \
	X(UMEM_ATS, 0xa0802, BAD_PARAM, "umem.ats", MUST_BE_0("cap ats is 0"))                     \
	X(UMEM_NONE, 0xa0a01, BAD_RES, "destroy_umem_in.umem_id", NO_SUCH("umem"))                 \
	X(UMEM_IN_USE, 0xa0a02, BAD_RES_STATE, "destroy_umem_in.umem_id",                          \
	  IN_USE("objects use the umem"))                                                          \
	/* mkeys */                                                                                \
	X(MKC_FREE, 0x20001, BAD_PARAM, "mkc.free", ALLOWED("0, or umr_en"))                       \
	X(MKC_ACCESS_MODE, 0x20002, BAD_PARAM, "mkc.access_mode_1_0",                              \
	  ALLOWED("MTT (1), KLM (2), KSM (3) or MEMIC (5)"))                                       \
	X(MKC_PD, 0x20003, BAD_RES, "mkc.pd", NO_SUCH("PD"))                                       \
	X(MKC_LENGTH64, 0x20005, BAD_PARAM, "mkc.length64",                                        \
	  ALLOWED("0 for memory: a length is needed"))                                             \
	X(MKC_LEN, 0x20006, BAD_PARAM, "mkc.len", ALLOWED("start_addr + len must not wrap"))       \
	X(MKC_BSF, 0x20007, BAD_PARAM, "mkc.bsf_en",                                               \
	  ALLOWED("0, or 1 in a KLM key with bsf_octword_size 4, or with crypto also 8"))          \
	X(MKC_CRYPTO, 0x20008, BAD_PARAM, "mkc.crypto_en",                                         \
	  ALLOWED("0, or 1 with bsf_en on an adapter with crypto"))                                \
	X(MKC_PAGE_SIZE, 0x2000a, BAD_PARAM, "mkc.log_page_size", ALLOWED("12 to 31"))             \
	X(MKC_PAGE_UMEM, 0x20018, BAD_PARAM, "mkc.log_page_size",                                  \
	  BECAUSE("a page is larger than the umem",                                                \
		  "12 to the logarithm of the umem's length, rounded up"))                         \
	X(MKC_TRANSLATIONS, 0x2000b, BAD_PARAM, "mkc.translations_octword_size",                   \
	  BECAUSE("fewer translations than pages", "one for each page or more"))                   \
	X(MKEY_UMEM_VALID, 0x2000c, BAD_PARAM, "create_mkey_in.mkey_umem_valid",                   \
	  ALLOWED("must be 1"))                                                                    \
	X(MKEY_UMEM, 0x2000d, BAD_RES, "create_mkey_in.mkey_umem_id", NO_SUCH("umem"))             \
	X(MKEY_UMEM_FIT, 0x2000e, BAD_PARAM, "create_mkey_in.mkey_umem_offset",                    \
	  ALLOWED("the region must lie inside the umem"))                                          \
	X(MKEY_MEM_FIT, 0x2000f, BAD_PARAM, "mkc.len",                                             \
	  BECAUSE("longer than the page list", "at most its length"))                              \
	X(MKEY_PG_ACCESS, 0x20010, BAD_PARAM, "create_mkey_in.pg_access",                          \
	  BECAUSE("on-demand keys are the driver's", "0"))                                         \
	X(MKEY_LIST_UMEM, 0x20012, BAD_PARAM, "create_mkey_in.mkey_umem_valid",                    \
	  ALLOWED("0 for KLM and KSM: the list comes with the command"))                           \
	X(MKC_LIST_SIZE, 0x20013, BAD_PARAM, "mkc.translations_octword_size",                      \
	  ALLOWED("for KLM and KSM at most 1 << log_max_klm_list_size",                            \
		  CAP(log_max_klm_list_size)))                                                     \
	X(MKEY_LIST_MOST, 0x20014, BAD_PARAM, "create_mkey_in.translations_octword_actual_size",   \
	  ALLOWED("at most mkc.translations_octword_size"))                                        \
	X(MKEY_LIST_LEN, 0x20015, BAD_INPUT_LEN,                                                   \
	  "create_mkey_in.translations_octword_actual_size",                                       \
	  BECAUSE("the input is too short for the list", "all of it in the input"))                \
	X(MKC_ENTITY, 0x20016, BAD_PARAM, "mkc.log_page_size", ALLOWED("for KSM 12 to 31"))        \
	X(MKEY_QUERY_NONE, 0x20101, BAD_RES, "query_mkey_in.mkey_index", NO_SUCH("mkey"))          \
	X(MKEY_NONE, 0x20201, BAD_RES, "destroy_mkey_in.mkey_index", NO_SUCH("mkey"))              \
	X(MKC_MEMIC, 0x20017, BAD_PARAM, "mkc.start_addr",                                         \
	  BECAUSE("not inside device memory of this file", "addresses of ALLOC_MEMIC"))            \
	/* device memory */                                                                        \
	X(MEMIC_ALIGN, 0x20501, BAD_PARAM, "alloc_memic_in.log_memic_addr_alignment",              \
	  ALLOWED("at most log_max_memic_addr_alignment"))                                         \
	X(MEMIC_SIZE, 0x20502, BAD_PARAM, "alloc_memic_in.memic_size",                             \
	  ALLOWED("a multiple of 64 bytes, not 0"))                                                \
	X(MEMIC_RANGE, 0x20503, BAD_PARAM, "alloc_memic_in.range_start_addr",                      \
	  ALLOWED("pages between memic_bar_start_addr and its end"))                               \
	X(MEMIC_FULL, 0x20504, NO_RESOURCES, "alloc_memic_in.memic_size",                          \
	  BECAUSE("no such run of pages or bytes is free", "up to max_memic_size"))                \
	X(MEMIC_BANKS, 0x20505, NO_RESOURCES, "alloc_memic_in",                                    \
	  BECAUSE("256 adapters of the fabric use their device memory", "fewer at one time"))      \
	X(MEMIC_NONE, 0x20601, BAD_RES, "dealloc_memic_in.memic_start_addr",                       \
	  NO_SUCH("allocation"))                                                                   \
	X(MEMIC_IN_USE, 0x20602, BAD_RES_STATE, "dealloc_memic_in.memic_start_addr",               \
	  IN_USE("mkeys are over the memory"))                                                     \
	/* event queues */                                                                         \
	X(EQ_INTR, 0x30101, BAD_PARAM, "eqc.intr", ALLOWED("a completion vector without EQ"))      \
	X(EQ_UAR, 0x30102, BAD_RES, "eqc.uar_page", NO_SUCH("UAR"))                                \
	X(EQ_SIZE, 0x30103, BAD_PARAM, "eqc.log_eq_size", ALLOWED("at most 22"))                   \
	X(EQ_NONE, 0x30301, BAD_RES, "query_eq_in.eq_number", NO_SUCH("EQ"))                       \
	X(EQ_DESTROY_NONE, 0x30201, BAD_RES, "destroy_eq_in.eq_number", NO_SUCH("EQ"))             \
	/* completion queues */                                                                    \
	X(CQC_EQN, 0x40001, BAD_RES, "cqc.c_eqn", NO_SUCH("EQ"))                                   \
	X(CQC_UAR, 0x40002, BAD_RES, "cqc.uar_page", NO_SUCH("UAR"))                               \
	X(CQC_SIZE, 0x40003, BAD_PARAM, "cqc.log_cq_size",                                         \
	  ALLOWED("at most log_max_cq_sz", CAP(log_max_cq_sz)))                                    \
	X(CQC_CQE_SZ, 0x40004, BAD_PARAM, "cqc.cqe_sz",                                            \
	  ALLOWED("0 (64 bytes), 1 (128 bytes) or 2 (128 bytes, padded)"))                         \
	X(CQC_COMPRESSION, 0x40005, BAD_PARAM, "cqc.mini_cqe_res_format",                          \
	  ALLOWED("0 (hash), 1 (checksum) or 3 (checksum and stride index)"))                      \
	X(CQC_COLLAPSED, 0x40006, BAD_PARAM, "cqc.cc",                                             \
	  ALLOWED("0: collapsed CQs are not supported"))                                           \
	X(CQC_STATUS, 0x40008, BAD_PARAM, "cqc.status", ALLOWED("0 at creation"))                  \
	X(CQ_UMEM_VALID, 0x40009, BAD_PARAM, "create_cq_in.cq_umem_valid", ALLOWED("must be 1"))   \
	X(CQ_UMEM, 0x4000a, BAD_RES, "create_cq_in.cq_umem_id", NO_SUCH("umem"))                   \
	X(CQ_UMEM_FIT, 0x4000b, BAD_PARAM, "create_cq_in.cq_umem_offset",                          \
	  ALLOWED("64-byte aligned, and the CQEs must lie inside the umem"))                       \
	X(CQ_DBR_VALID, 0x4000c, BAD_PARAM, "cqc.dbr_umem_valid", ALLOWED("must be 1"))            \
	X(CQ_DBR_UMEM, 0x4000d, BAD_RES, "cqc.dbr_umem_id", NO_SUCH("umem"))                       \
	X(CQ_DBR_FIT, 0x4000e, BAD_PARAM, "cqc.dbr_addr",                                          \
	  ALLOWED("8 bytes, aligned, inside the umem"))                                            \
	X(CQC_PERIOD_MODE, 0x4000f, BAD_PARAM, "cqc.cq_period_mode", ALLOWED("0, 1"))              \
	X(CQ_QUERY_NONE, 0x40201, BAD_RES, "query_cq_in.cqn", NO_SUCH("CQ"))                       \
	X(CQ_NONE, 0x40101, BAD_RES, "destroy_cq_in.cqn", NO_SUCH("CQ"))                           \
	X(CQ_IN_USE, 0x40102, BAD_RES_STATE, "destroy_cq_in.cqn",                                  \
	  IN_USE("QPs still complete to the CQ"))                                                  \
	X(CQ_MODIFY_NONE, 0x40301, BAD_RES, "modify_cq_in.cqn", NO_SUCH("CQ"))                     \
	X(CQ_MODIFY_SELECT, 0x40302, BAD_PARAM, "modify_cq_in.modify_field_select",                \
	  ALLOWED("period, max_count, oi, eqn, period_mode"))                                      \
	X(CQ_RESIZE_SELECT, 0x40303, BAD_PARAM, "modify_cq_in.resize_field_select",                \
	  ALLOWED("log size, page offset, page size, umem; log size is needed"))                   \
	X(CQ_RESIZE_SMALL, 0x40304, BAD_SIZE_OUTS_CQES, "cqc.log_cq_size",                         \
	  ALLOWED("the unread CQEs must fit"))                                                     \
	X(CQ_RESIZE_STATE, 0x40305, BAD_RES_STATE, "modify_cq_in.cqn",                             \
	  BECAUSE("the CQ is in error", "one that works"))                                         \
	/* receive memory pools */                                                                 \
	X(RMPC_STATE, 0x90c01, BAD_PARAM, "rmpc.state", ALLOWED("ready (1)"))                      \
	X(RMPC_CYCLIC, 0x90c02, BAD_PARAM, "rmpc.basic_cyclic_rcv_wqe", MUST_BE_0("cap is 0"))     \
	X(WQ_TYPE, 0x90c03, BAD_PARAM, "wq.wq_type", ALLOWED("linked list (0) or cyclic (1)"))     \
	X(WQ_PD, 0x90c04, BAD_RES, "wq.pd", NO_SUCH("PD"))                                         \
	X(WQ_STRIDE, 0x90c05, BAD_PARAM, "wq.log_wq_stride",                                       \
	  ALLOWED("32 bytes to max_wqe_sz_rq", CAP(max_wqe_sz_rq)))                                \
	X(WQ_SIZE, 0x90c06, BAD_PARAM, "wq.log_wq_sz",                                             \
	  ALLOWED("at most log_max_srq_sz", CAP(log_max_srq_sz)))                                  \
	X(WQ_SIGNATURE, 0x90c07, BAD_PARAM, "wq.wq_signature",                                     \
	  MUST_BE_0("cap wq_signature is 0", CAP(wq_signature)))                                   \
	X(WQ_UMEM_VALID, 0x90c08, BAD_PARAM, "wq.wq_umem_valid", ALLOWED("must be 1"))             \
	X(WQ_UMEM, 0x90c09, BAD_RES, "wq.wq_umem_id", NO_SUCH("umem"))                             \
	X(WQ_UMEM_FIT, 0x90c0a, BAD_PARAM, "wq.wq_umem_offset",                                    \
	  ALLOWED("16-byte aligned, and the WQEs must lie inside the umem"))                       \
	X(WQ_DBR_VALID, 0x90c0b, BAD_PARAM, "wq.dbr_umem_valid", ALLOWED("must be 1"))             \
	X(WQ_DBR_UMEM, 0x90c0c, BAD_RES, "wq.dbr_umem_id", NO_SUCH("umem"))                        \
	X(WQ_DBR_FIT, 0x90c0d, BAD_PARAM, "wq.dbr_addr",                                           \
	  ALLOWED("4 bytes, aligned, inside the umem"))                                            \
	X(WQ_STRIDING, 0x90c0e, BAD_PARAM, "wq.log_wqe_num_of_strides",                            \
	  MUST_BE_0("cap striding_rq is 0", CAP(striding_rq)))                                     \
	X(WQ_LWM, 0x90c0f, BAD_PARAM, "wq.lwm", ALLOWED("less than the number of WQEs"))           \
	X(RMP_MODIFY_NONE, 0x90d01, BAD_RES, "modify_rmp_in.rmpn", NO_SUCH("RMP"))                 \
	X(RMP_MODIFY_STATE, 0x90d02, BAD_PARAM, "modify_rmp_in.rmp_state", ALLOWED("ready (1)"))   \
	X(RMP_MODIFY_LWM, 0x90d03, BAD_PARAM, "wq.lwm", ALLOWED("less than the number of WQEs"))   \
	X(RMP_NONE, 0x90e01, BAD_RES, "destroy_rmp_in.rmpn", NO_SUCH("RMP"))                       \
	X(RMP_IN_USE, 0x90e02, BAD_RES_STATE, "destroy_rmp_in.rmpn",                               \
	  IN_USE("QPs still use the RMP"))                                                         \
	X(RMP_QUERY_NONE, 0x90f01, BAD_RES, "query_rmp_in.rmpn", NO_SUCH("RMP"))                   \
	/* transport domains, RQs, RQTs, TIRs, TISs, SQs */                                        \
	X(TD_NONE, 0x81701, BAD_RES, "dealloc_transport_domain_in.transport_domain",               \
	  NO_SUCH("transport domain"))                                                             \
	X(TD_IN_USE, 0x81702, BAD_RES_STATE, "dealloc_transport_domain_in.transport_domain",       \
	  IN_USE("TIRs or TISs are in the transport domain"))                                      \
	X(RQC_STATE, 0x90801, BAD_PARAM, "rqc.state", ALLOWED("reset (0) at creation"))            \
	X(RQC_RLKY, 0x90802, BAD_PARAM, "rqc.rlky",                                                \
	  BECAUSE("the reserved lkey is for the driver", "0"))                                     \
	X(RQC_DELAY_DROP, 0x90803, BAD_PARAM, "rqc.delay_drop_en",                                 \
	  MUST_BE_0("cap delay_drop is 0"))                                                        \
	X(RQC_SCATTER_FCS, 0x90804, BAD_PARAM, "rqc.scatter_fcs",                                  \
	  MUST_BE_0("cap scatter_fcs is 0"))                                                       \
	X(RQC_HAIRPIN, 0x90805, BAD_PARAM, "rqc.hairpin", MUST_BE_0("cap hairpin is 0"))           \
	X(RQC_MEM_TYPE, 0x90806, BAD_PARAM, "rqc.mem_rq_type", ALLOWED("inline (0) or RMP (1)"))   \
	X(RQC_TS_FORMAT, 0x90807, BAD_PARAM, "rqc.ts_format",                                      \
	  ALLOWED("free running (0) or default (1)"))                                              \
	X(RQC_CQN, 0x90808, BAD_RES, "rqc.cqn", NO_SUCH("CQ"))                                     \
	X(RQC_RMPN, 0x90809, BAD_RES, "rqc.rmpn", NO_SUCH("RMP"))                                  \
	X(RQ_WQ_TYPE, 0x9080a, BAD_PARAM, "wq.wq_type", ALLOWED("linked list (0) or cyclic (1)"))  \
	X(RQ_STRIDE, 0x9080b, BAD_PARAM, "wq.log_wq_stride",                                       \
	  ALLOWED("16 bytes to max_wqe_sz_rq", CAP(max_wqe_sz_rq)))                                \
	X(RQ_SIZE, 0x9080c, BAD_PARAM, "wq.log_wq_sz",                                             \
	  ALLOWED("at most log_max_wq_sz", CAP(log_max_wq_sz)))                                    \
	X(RQ_END_PADDING, 0x9080d, BAD_PARAM, "wq.end_padding_mode",                               \
	  MUST_BE_0("cap end_pad is 0", CAP(end_pad)))                                             \
	X(RQC_COUNTERS, 0x9080e, BAD_RES, "rqc.counter_set_id",                                    \
	  ALLOWED("0 or a set of Q counters"))                                                     \
	X(RQ_MODIFY_NONE, 0x90901, BAD_RES, "modify_rq_in.rqn", NO_SUCH("RQ"))                     \
	X(RQ_MODIFY_FROM, 0x90902, BAD_RES_STATE, "modify_rq_in.rq_state",                         \
	  ALLOWED("the RQ's state"))                                                               \
	X(RQ_MODIFY_TO, 0x90903, BAD_RES_STATE, "rqc.state",                                       \
	  ALLOWED("reset (0), ready (1), error (3); from error to reset only"))                    \
	X(RQ_MODIFY_MASK, 0x90904, BAD_PARAM, "modify_rq_in.modify_bitmask",                       \
	  ALLOWED("lwm, vsd, scatter_fcs, counter_set_id"))                                        \
	X(RQ_MODIFY_LWM, 0x90905, BAD_PARAM, "wq.lwm", ALLOWED("less than the number of WQEs"))    \
	X(RQ_NONE, 0x90a01, BAD_RES, "destroy_rq_in.rqn", NO_SUCH("RQ"))                           \
	X(RQ_IN_USE, 0x90a02, BAD_RES_STATE, "destroy_rq_in.rqn",                                  \
	  IN_USE("TIRs or RQTs use the RQ"))                                                       \
	X(RQ_QUERY_NONE, 0x90b01, BAD_RES, "query_rq_in.rqn", NO_SUCH("RQ"))                       \
	X(ARM_RQ_NONE, 0x70301, BAD_RES, "arm_rq_in.srq_number", NO_SUCH("RQ or XRQ"))             \
	X(ARM_RQ_LWM, 0x70302, BAD_PARAM, "arm_rq_in.lwm",                                         \
	  ALLOWED("less than the number of WQEs"))                                                 \
	X(RQT_SIZE, 0x91601, BAD_PARAM, "rqtc.rqt_actual_size",                                    \
	  ALLOWED("1 to rqt_max_size, which is at most 1 << log_max_rqt_size",                     \
		  CAP(log_max_rqt_size)))                                                          \
	X(RQT_LIST, 0x91602, BAD_INPUT_LEN, "rqtc.rqt_actual_size",                                \
	  ALLOWED("the input must hold rqt_actual_size numbers"))                                  \
	X(RQT_RQ, 0x91603, BAD_RES, "rqtc.rqt_actual_size",                                        \
	  BECAUSE("one of the numbers is no RQ", "RQs"))                                           \
	X(RQT_Q_TYPE, 0x91604, BAD_PARAM, "rqtc.list_q_type", ALLOWED("RQ (0)"))                   \
	X(RQT_VHCA, 0x91605, BAD_PARAM, "rqtc.rq_vhca_id_format", ALLOWED("0: own function only")) \
	X(RQT_RESERVED, 0x91606, BAD_PARAM, "rqtc.rqt_actual_size",                                \
	  ALLOWED("reserved bits of the numbers must be zero"))                                    \
	X(RQT_MODIFY_NONE, 0x91701, BAD_RES, "modify_rqt_in.rqtn", NO_SUCH("RQT"))                 \
	X(RQT_NONE, 0x91801, BAD_RES, "destroy_rqt_in.rqtn", NO_SUCH("RQT"))                       \
	X(RQT_IN_USE, 0x91802, BAD_RES_STATE, "destroy_rqt_in.rqtn", IN_USE("TIRs use the RQT"))   \
	X(RQT_QUERY_NONE, 0x91901, BAD_RES, "query_rqt_in.rqtn", NO_SUCH("RQT"))                   \
	X(TIRC_DISP_TYPE, 0x90001, BAD_PARAM, "tirc.disp_type",                                    \
	  ALLOWED("direct (0) or indirect (1)"))                                                   \
	X(TIRC_TD, 0x90002, BAD_RES, "tirc.transport_domain", NO_SUCH("transport domain"))         \
	X(TIRC_RQN, 0x90003, BAD_RES, "tirc.inline_rqn", NO_SUCH("RQ"))                            \
	X(TIRC_RQT, 0x90004, BAD_RES, "tirc.indirect_table", NO_SUCH("RQT"))                       \
	X(TIRC_HASH_FN, 0x90005, BAD_PARAM, "tirc.rx_hash_fn",                                     \
	  ALLOWED("none (0), inverted XOR8 (1) or Toeplitz (2); indirect TIRs need one"))          \
	X(TIRC_TLS, 0x90006, BAD_PARAM, "tirc.tls_en", MUST_BE_0("cap tls_rx is 0"))               \
	X(TIRC_MERGE, 0x90007, BAD_PARAM, "tirc.packet_merge_mask", MUST_BE_0("cap lro_cap is 0")) \
	X(TIRC_TUNNEL, 0x90008, BAD_PARAM, "tirc.tunneled_offload_en",                             \
	  MUST_BE_0("caps tunnel_stateless_* are 0"))                                              \
	X(TIR_MODIFY_NONE, 0x90101, BAD_RES, "modify_tir_in.tirn", NO_SUCH("TIR"))                 \
	X(TIR_NONE, 0x90201, BAD_RES, "destroy_tir_in.tirn", NO_SUCH("TIR"))                       \
	X(TIR_QUERY_NONE, 0x90301, BAD_RES, "query_tir_in.tirn", NO_SUCH("TIR"))                   \
	X(TISC_TD, 0x91201, BAD_RES, "tisc.transport_domain", NO_SUCH("transport domain"))         \
	X(TISC_PD, 0x91202, BAD_RES, "tisc.pd", ALLOWED("0 or a PD"))                              \
	X(TISC_UNDERLAY, 0x91203, BAD_RES, "tisc.underlay_qpn", ALLOWED("0 or a QP"))              \
	X(TISC_TLS, 0x91204, BAD_PARAM, "tisc.tls_en", MUST_BE_0("cap tls_tx is 0"))               \
	X(TISC_LAG, 0x91205, BAD_PARAM, "tisc.lag_tx_port_affinity",                               \
	  ALLOWED("0: LAG is not active"))                                                         \
	X(TIS_MODIFY_NONE, 0x91301, BAD_RES, "modify_tis_in.tisn", NO_SUCH("TIS"))                 \
	X(TIS_NONE, 0x91401, BAD_RES, "destroy_tis_in.tisn", NO_SUCH("TIS"))                       \
	X(TIS_IN_USE, 0x91402, BAD_RES_STATE, "destroy_tis_in.tisn", IN_USE("SQs use the TIS"))    \
	X(TIS_QUERY_NONE, 0x91501, BAD_RES, "query_tis_in.tisn", NO_SUCH("TIS"))                   \
	X(GOBJ_TYPE, 0xa0001, BAD_PARAM, "create_general_object_in.op_mod",                        \
	  ALLOWED("a type whose bit is set in general_obj_types", CAP(general_obj_types)))         \
	X(GOBJ_LEN, 0xa0002, BAD_INPUT_LEN, "create_general_object_in",                            \
	  BECAUSE("the input ends before the object does", "all of the object"))                   \
	X(GOBJ_RESERVED, 0xa0003, BAD_PARAM, "create_general_object_in",                           \
	  ALLOWED("reserved bits of the object must be zero"))                                     \
	X(GOBJ_RANGE, 0xa0004, BAD_PARAM, "create_general_object_in.log_obj_range", ALLOWED("0"))  \
	X(GOBJ_ID, 0xa0005, BAD_PARAM, "create_general_object_in.obj_id",                          \
	  ALLOWED("0 at creation"))                                                                \
	X(AV_QPN, 0xa0006, BAD_PARAM, "av_qp_mapping.qpn", ALLOWED("a QPN: 24 bits"))              \
	X(AV_SELECT, 0xa0007, BAD_PARAM, "av_qp_mapping.modify_field_select", ALLOWED("0"))        \
	X(DEK_SELECT, 0xa0008, BAD_PARAM, "encryption_key_obj.modify_field_select",                \
	  ALLOWED("0 at creation; the key (1) later"))                                             \
	X(DEK_PURPOSE, 0xa0009, BAD_PARAM, "encryption_key_obj.key_purpose",                       \
	  ALLOWED("AES-XTS (3)"))                                                                  \
	X(DEK_SIZE, 0xa000a, BAD_PARAM, "encryption_key_obj.key_size",                             \
	  ALLOWED("128 bits (0) or 256 (1)"))                                                      \
	X(DEK_PD, 0xa000b, BAD_RES, "encryption_key_obj.pd", NO_SUCH("PD"))                        \
	X(DEK_LOGIN, 0xa000c, BAD_RES_STATE, "encryption_key_obj",                                 \
	  BECAUSE("wrapped keys need a crypto login of the same context", "a login object"))       \
	X(DEK_WRAP, 0xa000d, BAD_PARAM, "dek_key.word_0",                                          \
	  BECAUSE("it was not wrapped by the import KEK", "keys and key tag, wrapped"))            \
	X(DEK_MODIFY_PD, 0xa0102, BAD_PARAM, "encryption_key_obj.pd", ALLOWED("the key's own PD")) \
	X(LOGIN_SELECT, 0xa000e, BAD_PARAM, "crypto_login_obj.modify_field_select", ALLOWED("0"))  \
	X(LOGIN_CREDENTIAL, 0xa000f, BAD_PARAM, "crypto_login_obj.credential_pointer",             \
	  ALLOWED("0: the only credential"))                                                       \
	X(LOGIN_KEK, 0xa0010, BAD_PARAM, "crypto_login_obj.session_import_kek_ptr",                \
	  ALLOWED("0: the only import KEK"))                                                       \
	X(LOGIN_WRONG, 0xa0011, BAD_PARAM, "credential.word_0",                                    \
	  BECAUSE("it is not the adapter's", "the credential, wrapped by the import KEK"))         \
	X(GOBJ_MODIFY, 0xa0101, BAD_OP, "modify_general_object_in.op_mod",                         \
	  BECAUSE("objects of this type cannot be modified", "scheduling elements (0x26)"))        \
	X(GOBJ_NONE, 0xa0201, BAD_RES, "query_general_object_in.obj_id",                           \
	  NO_SUCH("object of this type"))                                                          \
	X(SCHED_HIERARCHY, 0x78201, BAD_PARAM,                                                     \
	  "create_scheduling_element_in.scheduling_hierarchy", ALLOWED("NIC (3)"))                 \
	X(SCHED_TYPE, 0x78202, BAD_PARAM, "scheduling_context.element_type",                       \
	  ALLOWED("TSAR (0) or queue group (4), as at creation"))                                  \
	X(SCHED_TSAR, 0x78203, BAD_PARAM, "scheduling_context.tsar_type", ALLOWED("DWRR (0)"))     \
	X(SCHED_PARENT, 0x78204, BAD_RES, "scheduling_context.parent_element_id",                  \
	  ALLOWED("a TSAR; 0 for a TSAR at the root"))                                             \
	X(SCHED_SHARE, 0x78205, BAD_PARAM, "scheduling_context.bw_share",                          \
	  ALLOWED("at most max_tsar_bw_share"))                                                    \
	X(SCHED_SELECT, 0x78206, BAD_PARAM, "modify_scheduling_element_in.modify_bitmask",         \
	  ALLOWED("bw_share, max_average_bw"))                                                     \
	X(SCHED_ROOT, 0x78207, BAD_PARAM, "scheduling_context.bw_share",                           \
	  ALLOWED("0, and max_average_bw 0, at the root"))                                         \
	X(SCHED_NONE, 0x78301, BAD_RES, "destroy_scheduling_element_in.scheduling_element_id",     \
	  NO_SUCH("scheduling element"))                                                           \
	X(SCHED_IN_USE, 0x78302, BAD_RES_STATE,                                                    \
	  "destroy_scheduling_element_in.scheduling_element_id",                                   \
	  IN_USE("other elements, QPs or SQs use the element"))                                    \
	X(QP_EXT, 0x50501, BAD_PARAM, "rts2rts_qp_in.opt_param_mask_95_32",                        \
	  ALLOWED("a stream, qos_queue_group_id and mmo, with qpc_ext, and udp_sport"))            \
	X(QP_EXT_RESERVED, 0x50502, BAD_PARAM, "rts2rts_qp_in.qpc_ext",                            \
	  ALLOWED("reserved bits of the extension must be zero"))                                  \
	X(QP_QOS_REQUESTER, 0x50503, BAD_RES, "qpc_ext.qos_queue_group_id_requester",              \
	  ALLOWED("0 or a queue group of the NIC"))                                                \
	X(QP_QOS_RESPONDER, 0x50504, BAD_RES, "qpc_ext.qos_queue_group_id_responder",              \
	  ALLOWED("0 or, for RC, a queue group of the NIC"))                                       \
	X(PP_INDEX, 0x78001, BAD_INDEX, "set_pp_rate_limit_in.rate_limit_index",                   \
	  ALLOWED("1 to packet_pacing_rate_table_size - 1"))                                       \
	X(PP_RATE, 0x78002, BAD_PARAM, "set_pp_rate_limit_context.rate_limit",                     \
	  ALLOWED("0, or packet_pacing_min_rate to packet_pacing_max_rate"))                       \
	X(PP_BUSY, 0x78003, RES_BUSY, "set_pp_rate_limit_in.rate_limit_index",                     \
	  ALLOWED("a free place, or one that has the same limit and is shared"))                   \
	X(PP_NONE, 0x78004, BAD_RES, "set_pp_rate_limit_in.rate_limit_index",                      \
	  NO_SUCH("limit of this file"))                                                           \
	X(SQC_STATE, 0x90401, BAD_PARAM, "sqc.state", ALLOWED("reset (0) at creation"))            \
	X(SQC_RLKY, 0x90402, BAD_PARAM, "sqc.rlky",                                                \
	  BECAUSE("the reserved lkey is for the driver", "0"))                                     \
	X(SQC_CD, 0x90403, BAD_PARAM, "sqc.cd_master", MUST_BE_0("cap cd is 0"))                   \
	X(SQC_MPW, 0x90404, BAD_PARAM, "sqc.allow_multi_pkt_send_wqe",                             \
	  MUST_BE_0("cap multi_pkt_send_wqe is 0"))                                                \
	X(SQC_UMR, 0x90405, BAD_PARAM, "sqc.reg_umr",                                              \
	  BECAUSE("the driver sends this one itself", "the commands for programs"))                \
	X(SQC_SWP, 0x90406, BAD_PARAM, "sqc.allow_swp", MUST_BE_0("cap swp is 0"))                 \
	X(SQC_HAIRPIN, 0x90407, BAD_PARAM, "sqc.hairpin", MUST_BE_0("cap hairpin is 0"))           \
	X(SQC_TS_FORMAT, 0x90408, BAD_PARAM, "sqc.ts_format",                                      \
	  ALLOWED("free running (0) or default (1)"))                                              \
	X(SQC_CQN, 0x90409, BAD_RES, "sqc.cqn", NO_SUCH("CQ"))                                     \
	X(SQC_TS_CQE, 0x9040a, BAD_PARAM, "sqc.ts_cqe_to_dest_cqn", MUST_BE_0("cap is 0"))         \
	X(SQC_TIS_SIZE, 0x9040b, BAD_PARAM, "sqc.tis_lst_sz",                                      \
	  ALLOWED("at most 1 << log_max_tis_per_sq", CAP(log_max_tis_per_sq)))                     \
	X(SQC_TIS, 0x9040c, BAD_RES, "sqc.tis_num_0", NO_SUCH("TIS"))                              \
	X(SQC_PACING, 0x9040d, BAD_INDEX, "sqc.packet_pacing_rate_limit_index",                    \
	  ALLOWED("0 or a rate limit that is set"))                                                \
	X(SQC_QOS_GROUP, 0x9040e, BAD_RES, "sqc.qos_queue_group_id",                               \
	  ALLOWED("0 or a queue group of the NIC"))                                                \
	X(SQ_WQ_TYPE, 0x9040f, BAD_PARAM, "wq.wq_type", ALLOWED("cyclic (1)"))                     \
	X(SQ_STRIDE, 0x90410, BAD_PARAM, "wq.log_wq_stride", ALLOWED("64 bytes (6)"))              \
	X(SQ_SIZE, 0x90411, BAD_PARAM, "wq.log_wq_sz",                                             \
	  ALLOWED("at most log_max_wq_sz", CAP(log_max_wq_sz)))                                    \
	X(SQ_UAR, 0x90412, BAD_RES, "wq.uar_page", NO_SUCH("UAR"))                                 \
	X(SQ_MODIFY_NONE, 0x90501, BAD_RES, "modify_sq_in.sqn", NO_SUCH("SQ"))                     \
	X(SQ_MODIFY_FROM, 0x90502, BAD_RES_STATE, "modify_sq_in.sq_state",                         \
	  ALLOWED("the SQ's state"))                                                               \
	X(SQ_MODIFY_TO, 0x90503, BAD_RES_STATE, "sqc.state",                                       \
	  ALLOWED("reset (0), ready (1), error (3); from error to reset only"))                    \
	X(SQ_MODIFY_MASK, 0x90504, BAD_PARAM, "modify_sq_in.modify_bitmask",                       \
	  ALLOWED("packet_pacing_rate_limit_index, qos_queue_group_id"))                           \
	X(SQ_NONE, 0x90601, BAD_RES, "destroy_sq_in.sqn", NO_SUCH("SQ"))                           \
	X(SQ_QUERY_NONE, 0x90701, BAD_RES, "query_sq_in.sqn", NO_SUCH("SQ"))                       \
	/* DCTs */                                                                                 \
	X(DCTC_STATE, 0x71001, BAD_PARAM, "dctc.state", ALLOWED("active (0) at creation"))         \
	X(DCTC_PD, 0x71002, BAD_RES, "dctc.pd", NO_SUCH("PD"))                                     \
	X(DCTC_CQN, 0x71003, BAD_RES, "dctc.cqn", NO_SUCH("CQ"))                                   \
	X(DCTC_SRQN, 0x71004, BAD_RES, "dctc.srqn_xrqn", NO_SUCH("RMP, SRQ or XRQ"))               \
	X(DCTC_RLKY, 0x71005, BAD_PARAM, "dctc.rlky",                                              \
	  ALLOWED("the reserved lkey is for the driver"))                                          \
	X(DCTC_PORT, 0x71006, BAD_PARAM, "dctc.port", ALLOWED("a port of the HCA, from 1"))        \
	X(DCTC_PKEY, 0x71007, BAD_INDEX, "dctc.pkey_index", ALLOWED("a P_Key of the port"))        \
	X(DCTC_MTU, 0x71008, BAD_PARAM, "dctc.mtu", ALLOWED("256 (1) up to the port's"))           \
	X(DCTC_SGID, 0x7100a, BAD_INDEX, "dctc.my_addr_index",                                     \
	  ALLOWED("a GID of the port, on Ethernet"))                                               \
	X(DCTC_COUNTERS, 0x71009, BAD_RES, "dctc.counter_set_id",                                  \
	  ALLOWED("0 or a set of Q counters"))                                                     \
	X(DCT_NONE, 0x71101, BAD_RES, "destroy_dct_in.dctn", NO_SUCH("DCT"))                       \
	X(DCT_DRAIN_NONE, 0x71201, BAD_RES, "drain_dct_in.dctn", NO_SUCH("DCT"))                   \
	X(DCT_QUERY_NONE, 0x71301, BAD_RES, "query_dct_in.dctn", NO_SUCH("DCT"))                   \
	X(DCT_ARM_NONE, 0x71401, BAD_RES, "arm_dct_in.dct_number", NO_SUCH("DCT"))                 \
	/* multicast groups */                                                                     \
	X(MCG_QPN, 0x80601, BAD_RES, "attach_to_mcg_in.qpn", NO_SUCH("QP"))                        \
	X(MCG_QP_ST, 0x80602, BAD_PARAM, "attach_to_mcg_in.qpn", ALLOWED("a QP of type UD"))       \
	X(MCG_GID, 0x80603, BAD_PARAM, "prm_gid.subnet_prefix", ALLOWED("0xff..."))                \
	X(MCG_FULL, 0x80604, EXCEED_LIM, "prm_gid.subnet_prefix",                                  \
	  BECAUSE("the group has max_qp_mcg QPs", "that many", CAP(max_qp_mcg)))                   \
	X(MCG_GROUPS, 0x80605, EXCEED_LIM, "prm_gid.subnet_prefix",                                \
	  BECAUSE("the HCA has 1 << log_max_mcg groups", "that many", CAP(log_max_mcg)))           \
	X(MCG_NONE, 0x80701, BAD_RES, "detach_from_mcg_in.qpn",                                    \
	  ALLOWED("the QP is not in the group"))                                                   \
	X(QP_ATTACHED, 0x50102, BAD_RES_STATE, "destroy_qp_in.qpn",                                \
	  ALLOWED("the QP is attached to multicast groups"))                                       \
	/* XRQs, PSVs */                                                                           \
	X(XRQC_STATE, 0x71701, BAD_PARAM, "xrqc.state", ALLOWED("good (0) at creation"))           \
	X(XRQC_OFFLOAD, 0x71702, BAD_PARAM, "xrqc.offload",                                        \
	  ALLOWED("0; on InfiniBand 1 (rendezvous) with topology 1 (tag matching)"))               \
	X(XRQC_LIST, 0x71704, BAD_PARAM, "xrqc.log_matching_list_sz",                              \
	  BECAUSE("the list is too long", "up to log_tag_matching_list_sz",                        \
		  CAP(log_tag_matching_list_sz)))                                                  \
	X(XRQC_CQN, 0x71705, BAD_RES, "xrqc.cqn", NO_SUCH("CQ"))                                   \
	X(XRQC_RLKEY, 0x71703, BAD_PARAM, "xrqc.rlkey",                                            \
	  ALLOWED("the reserved lkey is for the driver"))                                          \
	X(XRQ_NONE, 0x71801, BAD_RES, "destroy_xrq_in.xrqn", NO_SUCH("XRQ"))                       \
	X(XRQ_IN_USE, 0x71802, BAD_RES_STATE, "destroy_xrq_in.xrqn",                               \
	  IN_USE("QPs or DCTs use the XRQ"))                                                       \
	X(XRQ_QUERY_NONE, 0x71901, BAD_RES, "query_xrq_in.xrqn", NO_SUCH("XRQ"))                   \
	X(XRQ_ARM_NONE, 0x71a01, BAD_RES, "arm_xrq_in.xrqn", NO_SUCH("XRQ"))                       \
	X(XRQ_ARM_LWM, 0x71a02, BAD_PARAM, "arm_xrq_in.lwm",                                       \
	  ALLOWED("less than the number of WQEs"))                                                 \
	X(PSV_NUM, 0x60001, BAD_PARAM, "create_psv_in.num_psv", ALLOWED("1"))                      \
	X(PSV_PD, 0x60002, BAD_RES, "create_psv_in.pd", NO_SUCH("PD"))                             \
	X(PSV_NONE, 0x60101, BAD_RES, "destroy_psv_in.psvn", NO_SUCH("PSV"))                       \
	/* Q counters */                                                                           \
	X(QCTR_FULL, 0x77101, EXCEED_LIM, "alloc_q_counter_out.counter_set_id",                    \
	  ALLOWED("255 sets at a time"))                                                           \
	X(QCTR_NONE, 0x77201, BAD_RES, "dealloc_q_counter_in.counter_set_id", NO_SUCH("set"))      \
	X(QCTR_IN_USE, 0x77202, BAD_RES_STATE, "dealloc_q_counter_in.counter_set_id",              \
	  IN_USE("QPs count in the set"))                                                          \
	X(QCTR_QUERY_NONE, 0x77301, BAD_RES, "query_q_counter_in.counter_set_id", NO_SUCH("set"))  \
	/* XRC domains and SRQs */                                                                 \
	X(XRCD_NONE, 0x80f01, BAD_RES, "dealloc_xrcd_in.xrcd", NO_SUCH("XRC domain"))              \
	X(XRCD_IN_USE, 0x80f02, BAD_RES_STATE, "dealloc_xrcd_in.xrcd",                             \
	  IN_USE("SRQs or QPs are in the domain"))                                                 \
	X(XRC_SRQC_STATE, 0x70501, BAD_PARAM, "xrc_srqc.state", ALLOWED("0 at creation"))          \
	X(XRC_SRQC_SIGNATURE, 0x70502, BAD_PARAM, "xrc_srqc.wq_signature",                         \
	  MUST_BE_0("cap wq_signature is 0", CAP(wq_signature)))                                   \
	X(XRC_SRQC_CYCLIC, 0x70503, BAD_PARAM, "xrc_srqc.basic_cyclic_rcv_wqe",                    \
	  MUST_BE_0("cap is 0"))                                                                   \
	X(XRC_SRQC_RLKY, 0x70504, BAD_PARAM, "xrc_srqc.rlky",                                      \
	  BECAUSE("the reserved lkey is for the driver", "0"))                                     \
	X(XRC_SRQC_STRIDE, 0x70505, BAD_PARAM, "xrc_srqc.log_rq_stride",                           \
	  ALLOWED("32 bytes to max_wqe_sz_rq", CAP(max_wqe_sz_rq)))                                \
	X(XRC_SRQC_LWM, 0x70506, BAD_PARAM, "xrc_srqc.lwm",                                        \
	  ALLOWED("less than the number of WQEs"))                                                 \
	X(XRC_SRQC_PD, 0x70507, BAD_RES, "xrc_srqc.pd", NO_SUCH("PD"))                             \
	X(XRC_SRQC_CQN, 0x70508, BAD_RES, "xrc_srqc.cqn", NO_SUCH("CQ"))                           \
	X(XRC_SRQC_XRCD, 0x70509, BAD_RES, "xrc_srqc.xrcd", NO_SUCH("XRC domain"))                 \
	X(XRC_SRQ_UMEM_VALID, 0x7050a, BAD_PARAM, "create_xrc_srq_in.xrc_srq_umem_valid",          \
	  ALLOWED("must be 1"))                                                                    \
	X(XRC_SRQ_UMEM, 0x7050b, BAD_RES, "create_xrc_srq_in.xrc_srq_umem_id", NO_SUCH("umem"))    \
	X(XRC_SRQ_UMEM_FIT, 0x7050c, BAD_PARAM, "create_xrc_srq_in.xrc_srq_umem_offset",           \
	  ALLOWED("16-byte aligned, and the WQEs must lie inside the umem"))                       \
	X(XRC_SRQ_DBR_VALID, 0x7050d, BAD_PARAM, "xrc_srqc.dbr_umem_valid", ALLOWED("must be 1"))  \
	X(XRC_SRQ_DBR_UMEM, 0x7050e, BAD_RES, "xrc_srqc.dbr_umem_id", NO_SUCH("umem"))             \
	X(XRC_SRQ_DBR_FIT, 0x7050f, BAD_PARAM, "xrc_srqc.dbr_addr",                                \
	  ALLOWED("4 bytes, aligned, inside the umem"))                                            \
	X(XRC_SRQ_NONE, 0x70601, BAD_RES, "destroy_xrc_srq_in.xrc_srqn", NO_SUCH("XRC SRQ"))       \
	X(XRC_SRQ_QUERY_NONE, 0x70701, BAD_RES, "query_xrc_srq_in.xrc_srqn", NO_SUCH("XRC SRQ"))   \
	X(XRC_SRQ_ARM_NONE, 0x70801, BAD_RES, "arm_xrc_srq_in.xrc_srqn", NO_SUCH("XRC SRQ"))       \
	X(XRC_SRQ_ARM_LWM, 0x70802, BAD_PARAM, "arm_xrc_srq_in.lwm",                               \
	  ALLOWED("less than the number of WQEs"))                                                 \
	/* queue pairs */                                                                          \
	X(QPC_ST, 0x50001, BAD_PARAM, "qpc.st",                                                    \
	  ALLOWED("RC (0), UC (1), UD (2), XRC (3) or DCI (5)"))                                   \
	X(QPC_NO_RC, 0x50024, BAD_PARAM, "qpc.st", ALLOWED("UC or UD, as cap rc is 0"))            \
	X(QPC_PD, 0x50002, BAD_RES, "qpc.pd", NO_SUCH("PD"))                                       \
	X(QPC_CQN_SND, 0x50003, BAD_RES, "qpc.cqn_snd", NO_SUCH("CQ"))                             \
	X(QPC_CQN_RCV, 0x50004, BAD_RES, "qpc.cqn_rcv", NO_SUCH("CQ"))                             \
	X(QPC_UAR, 0x50005, BAD_RES, "qpc.uar_page", NO_SUCH("UAR"))                               \
	X(QPC_RQ_TYPE, 0x50006, BAD_PARAM, "qpc.rq_type",                                          \
	  ALLOWED("own RQ (0), RMP (1) or none (3)"))                                              \
	X(QPC_SRQN, 0x50007, BAD_RES, "qpc.srqn_rmpn_xrqn", NO_SUCH("RMP"))                        \
	X(QPC_RQ_STRIDE, 0x50008, BAD_PARAM, "qpc.log_rq_stride",                                  \
	  ALLOWED("at most max_wqe_sz_rq bytes", CAP(max_wqe_sz_rq)))                              \
	X(QPC_SQ_SIZE, 0x50022, BAD_PARAM, "qpc.log_sq_size",                                      \
	  ALLOWED("at most log_max_qp_sz", CAP(log_max_qp_sz)))                                    \
	X(QPC_RQ_SIZE, 0x50023, BAD_PARAM, "qpc.log_rq_size",                                      \
	  ALLOWED("at most log_max_qp_sz", CAP(log_max_qp_sz)))                                    \
	X(QPC_TS_FORMAT, 0x50009, BAD_PARAM, "qpc.ts_format",                                      \
	  ALLOWED("free running (0) or default (1)"))                                              \
	X(QPC_WQ_SIGNATURE, 0x5000a, BAD_PARAM, "qpc.wq_signature",                                \
	  MUST_BE_0("cap wq_signature is 0", CAP(wq_signature)))                                   \
	X(QPC_RLKY, 0x5000b, BAD_PARAM, "qpc.rlky",                                                \
	  BECAUSE("the reserved lkey is for the driver", "0"))                                     \
	X(QPC_OFFLOAD, 0x5000c, BAD_PARAM, "qpc.offload_type",                                     \
	  ALLOWED("1 (rendezvous) of RC without SQ whose XRQ has tag matching, else 0"))           \
	X(QP_INPUT_QPN, 0x5000d, BAD_PARAM, "create_qp_in.input_qpn",                              \
	  ALLOWED("0: QPNs are not reserved"))                                                     \
	X(QP_CREATE_OPT, 0x5000e, BAD_PARAM, "create_qp_in.opt_param_mask", ALLOWED("0"))          \
	X(QP_UMEM_VALID, 0x5000f, BAD_PARAM, "create_qp_in.wq_umem_valid", ALLOWED("must be 1"))   \
	X(QP_UMEM, 0x50010, BAD_RES, "create_qp_in.wq_umem_id", NO_SUCH("umem"))                   \
	X(QP_UMEM_FIT, 0x50011, BAD_PARAM, "create_qp_in.wq_umem_offset",                          \
	  ALLOWED("64-byte aligned, and RQ then SQ must lie inside the umem"))                     \
	X(QP_DBR_VALID, 0x50012, BAD_PARAM, "qpc.dbr_umem_valid", ALLOWED("must be 1"))            \
	X(QP_DBR_UMEM, 0x50013, BAD_RES, "qpc.dbr_umem_id", NO_SUCH("umem"))                       \
	X(QP_DBR_FIT, 0x50014, BAD_PARAM, "qpc.dbr_addr",                                          \
	  ALLOWED("8 bytes, aligned, inside the umem"))                                            \
	X(QPC_STATE, 0x50015, BAD_PARAM, "qpc.state", ALLOWED("reset (0) at creation"))            \
	X(QPC_END_PADDING, 0x50016, BAD_PARAM, "qpc.end_padding_mode",                             \
	  MUST_BE_0("cap end_pad is 0", CAP(end_pad)))                                             \
	X(QPC_DRAIN_SIGERR, 0x50017, BAD_PARAM, "qpc.drain_sigerr",                                \
	  ALLOWED("0, or 1 if qpc.st is RC, UC or XRC"))                                           \
	X(QPC_DCI_STREAMS, 0x50020, BAD_PARAM, "qpc.log_num_dci_stream_channels",                  \
	  ALLOWED("0, or of a DC initiator at most cap log_max_dci_stream_channels",               \
		  CAP(log_max_dci_stream_channels)))                                               \
	X(QPC_DCI_ERRORED, 0x50021, BAD_PARAM, "qpc.log_num_dci_errored_streams",                  \
	  ALLOWED("0, or of a DC initiator at most cap log_max_dci_errored_streams",               \
		  CAP(log_max_dci_errored_streams)))                                               \
	X(QPC_XRC_RQ, 0x50018, BAD_PARAM, "qpc.rq_type",                                           \
	  ALLOWED("an XRC QP has no RQ of its own"))                                               \
	X(QPC_XRCD, 0x50019, BAD_RES, "qpc.xrcd", NO_SUCH("XRC domain"))                           \
	X(QPC_COUNTERS, 0x50220, BAD_RES, "qpc.counter_set_id",                                    \
	  ALLOWED("0 or a set of Q counters"))                                                     \
	X(QP_DESTROY_NONE, 0x50101, BAD_RES, "destroy_qp_in.qpn", NO_SUCH("QP"))                   \
	X(QP_QUERY_NONE, 0x50b01, BAD_RES, "query_qp_in.qpn", NO_SUCH("QP"))                       \
	X(QP_NONE, 0x50201, BAD_RES, "rst2init_qp_in.qpn", NO_SUCH("QP"))                          \
	X(QP_FROM_STATE, 0x50202, BAD_QP_STATE, "qpc.state",                                       \
	  ALLOWED("the state that the command starts from"))                                       \
	X(QP_OPT_MASK, 0x50203, BAD_PARAM, "rst2init_qp_in.opt_param_mask",                        \
	  ALLOWED("options of this transition for this service type"))                             \
	X(PATH_PORT, 0x50204, BAD_PARAM, "ads.vhca_port_num",                                      \
	  ALLOWED("a port of the HCA, from 1"))                                                    \
	X(PATH_PKEY, 0x50205, BAD_INDEX, "ads.pkey_index", ALLOWED("a P_Key of the port"))         \
	X(PATH_SGID, 0x50206, BAD_INDEX, "ads.src_addr_index", ALLOWED("a GID of the port"))       \
	X(QPC_ATOMIC_MODE, 0x50207, BAD_PARAM, "qpc.atomic_mode",                                  \
	  ALLOWED("none (0), IB compatible (1), CX (2) or up to 8 bytes (3)"))                     \
	X(QP_UDP_SPORT, 0x50221, BAD_PARAM, "rts2rts_qp_in.opt_param_mask_95_32",                  \
	  ALLOWED("UDP_SPORT (4) in RTS2RTS of RC and UC, with cap rts2rts_qp_udp_sport",          \
		  CAP(rts2rts_qp_udp_sport)))                                                      \
	X(QP_MMO, 0x50222, BAD_PARAM, "init2init_qp_in.opt_param_mask_95_32",                      \
	  ALLOWED("MMO (8) in INIT2INIT of RC and DC initiators, with cap dma_mmo_qp",             \
		  CAP(dma_mmo_qp)))                                                                \
	X(QP_STREAM, 0x50505, BAD_PARAM, "qpc_ext.dci_stream_channel_id",                          \
	  ALLOWED("a stream in error of a DC initiator, in RTS2RTS"))                              \
	X(QPC_MTU, 0x50301, BAD_PARAM, "qpc.mtu", ALLOWED("1 (256) to the port's active_mtu"))     \
	X(QPC_MSG_MAX, 0x50302, BAD_PARAM, "qpc.log_msg_max",                                      \
	  ALLOWED("at most cap log_max_msg", CAP(log_max_msg)))                                    \
	X(QPC_RRA_MAX, 0x50303, BAD_PARAM, "qpc.log_rra_max",                                      \
	  ALLOWED("at most cap log_max_ra_res_qp", CAP(log_max_ra_res_qp)))                        \
	X(QPC_SRA_MAX, 0x50401, BAD_PARAM, "qpc.log_sra_max",                                      \
	  ALLOWED("at most cap log_max_ra_req_qp", CAP(log_max_ra_req_qp)))                        \
	X(QPC_PM_STATE, 0x50402, BAD_PARAM, "qpc.pm_state",                                        \
	  ALLOWED("migrated (3) or rearm (1); the QP itself becomes armed"))                       \
	X(ALT_LINK, 0x50403, BAD_PARAM, "ads.vhca_port_num",                                       \
	  ALLOWED("in an alternate path, a port of InfiniBand"))

#endif
