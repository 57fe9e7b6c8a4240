/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The opcodes of a card's commands, with names for traces and refusals. The table in src/fw says
 * which of them this firmware executes.
 */
#ifndef SOFTHCA_WIRE_PRM_OPCODES_H
#define SOFTHCA_WIRE_PRM_OPCODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PRM_OPCODES(X)                            \
	X(0x100, QUERY_HCA_CAP)                   \
	X(0x101, QUERY_ADAPTER)                   \
	X(0x102, INIT_HCA)                        \
	X(0x103, TEARDOWN_HCA)                    \
	X(0x104, ENABLE_HCA)                      \
	X(0x105, DISABLE_HCA)                     \
	X(0x107, QUERY_PAGES)                     \
	X(0x108, MANAGE_PAGES)                    \
	X(0x109, SET_HCA_CAP)                     \
	X(0x10a, QUERY_ISSI)                      \
	X(0x10b, SET_ISSI)                        \
	X(0x10d, SET_DRIVER_VERSION)              \
	X(0x111, QUERY_SF_PARTITION)              \
	X(0x113, ALLOC_SF)                        \
	X(0x114, DEALLOC_SF)                      \
	X(0x115, SUSPEND_VHCA)                    \
	X(0x116, RESUME_VHCA)                     \
	X(0x117, QUERY_VHCA_MIGRATION_STATE)      \
	X(0x118, SAVE_VHCA_STATE)                 \
	X(0x119, LOAD_VHCA_STATE)                 \
	X(0x200, CREATE_MKEY)                     \
	X(0x201, QUERY_MKEY)                      \
	X(0x202, DESTROY_MKEY)                    \
	X(0x203, QUERY_SPECIAL_CONTEXTS)          \
	X(0x204, PAGE_FAULT_RESUME)               \
	X(0x205, ALLOC_MEMIC)                     \
	X(0x206, DEALLOC_MEMIC)                   \
	X(0x207, MODIFY_MEMIC)                    \
	X(0x301, CREATE_EQ)                       \
	X(0x302, DESTROY_EQ)                      \
	X(0x303, QUERY_EQ)                        \
	X(0x304, GEN_EQE)                         \
	X(0x400, CREATE_CQ)                       \
	X(0x401, DESTROY_CQ)                      \
	X(0x402, QUERY_CQ)                        \
	X(0x403, MODIFY_CQ)                       \
	X(0x500, CREATE_QP)                       \
	X(0x501, DESTROY_QP)                      \
	X(0x502, RST2INIT_QP)                     \
	X(0x503, INIT2RTR_QP)                     \
	X(0x504, RTR2RTS_QP)                      \
	X(0x505, RTS2RTS_QP)                      \
	X(0x506, SQERR2RTS_QP)                    \
	X(0x507, 2ERR_QP)                         \
	X(0x50a, 2RST_QP)                         \
	X(0x50b, QUERY_QP)                        \
	X(0x50c, SQD_RTS_QP)                      \
	X(0x50d, MAD_IFC)                         \
	X(0x50e, INIT2INIT_QP)                    \
	X(0x600, CREATE_PSV)                      \
	X(0x601, DESTROY_PSV)                     \
	X(0x700, CREATE_SRQ)                      \
	X(0x701, DESTROY_SRQ)                     \
	X(0x702, QUERY_SRQ)                       \
	X(0x703, ARM_RQ)                          \
	X(0x705, CREATE_XRC_SRQ)                  \
	X(0x706, DESTROY_XRC_SRQ)                 \
	X(0x707, QUERY_XRC_SRQ)                   \
	X(0x708, ARM_XRC_SRQ)                     \
	X(0x710, CREATE_DCT)                      \
	X(0x711, DESTROY_DCT)                     \
	X(0x712, DRAIN_DCT)                       \
	X(0x713, QUERY_DCT)                       \
	X(0x714, ARM_DCT_FOR_KEY_VIOLATION)       \
	X(0x717, CREATE_XRQ)                      \
	X(0x718, DESTROY_XRQ)                     \
	X(0x719, QUERY_XRQ)                       \
	X(0x71a, ARM_XRQ)                         \
	X(0x725, QUERY_XRQ_DC_PARAMS_ENTRY)       \
	X(0x726, SET_XRQ_DC_PARAMS_ENTRY)         \
	X(0x727, QUERY_XRQ_ERROR_PARAMS)          \
	X(0x729, RELEASE_XRQ_ERROR)               \
	X(0x72a, MODIFY_XRQ)                      \
	X(0x740, QUERY_ESW_FUNCTIONS)             \
	X(0x750, QUERY_VPORT_STATE)               \
	X(0x751, MODIFY_VPORT_STATE)              \
	X(0x752, QUERY_ESW_VPORT_CONTEXT)         \
	X(0x753, MODIFY_ESW_VPORT_CONTEXT)        \
	X(0x754, QUERY_NIC_VPORT_CONTEXT)         \
	X(0x755, MODIFY_NIC_VPORT_CONTEXT)        \
	X(0x760, QUERY_ROCE_ADDRESS)              \
	X(0x761, SET_ROCE_ADDRESS)                \
	X(0x762, QUERY_HCA_VPORT_CONTEXT)         \
	X(0x763, MODIFY_HCA_VPORT_CONTEXT)        \
	X(0x764, QUERY_HCA_VPORT_GID)             \
	X(0x765, QUERY_HCA_VPORT_PKEY)            \
	X(0x76f, QUERY_VNIC_ENV)                  \
	X(0x770, QUERY_VPORT_COUNTER)             \
	X(0x771, ALLOC_Q_COUNTER)                 \
	X(0x772, DEALLOC_Q_COUNTER)               \
	X(0x773, QUERY_Q_COUNTER)                 \
	X(0x774, SET_MONITOR_COUNTER)             \
	X(0x775, ARM_MONITOR_COUNTER)             \
	X(0x780, SET_PP_RATE_LIMIT)               \
	X(0x781, QUERY_RATE_LIMIT)                \
	X(0x782, CREATE_SCHEDULING_ELEMENT)       \
	X(0x783, DESTROY_SCHEDULING_ELEMENT)      \
	X(0x784, QUERY_SCHEDULING_ELEMENT)        \
	X(0x785, MODIFY_SCHEDULING_ELEMENT)       \
	X(0x786, CREATE_QOS_PARA_VPORT)           \
	X(0x787, DESTROY_QOS_PARA_VPORT)          \
	X(0x800, ALLOC_PD)                        \
	X(0x801, DEALLOC_PD)                      \
	X(0x802, ALLOC_UAR)                       \
	X(0x803, DEALLOC_UAR)                     \
	X(0x804, CONFIG_INT_MODERATION)           \
	X(0x805, ACCESS_REG)                      \
	X(0x806, ATTACH_TO_MCG)                   \
	X(0x807, DETACH_FROM_MCG)                 \
	X(0x80a, GET_DROPPED_PACKET_LOG)          \
	X(0x80b, QUERY_MAD_DEMUX)                 \
	X(0x80c, SET_MAD_DEMUX)                   \
	X(0x80d, NOP)                             \
	X(0x80e, ALLOC_XRCD)                      \
	X(0x80f, DEALLOC_XRCD)                    \
	X(0x816, ALLOC_TRANSPORT_DOMAIN)          \
	X(0x817, DEALLOC_TRANSPORT_DOMAIN)        \
	X(0x822, QUERY_CONG_STATUS)               \
	X(0x823, MODIFY_CONG_STATUS)              \
	X(0x824, QUERY_CONG_PARAMS)               \
	X(0x825, MODIFY_CONG_PARAMS)              \
	X(0x826, QUERY_CONG_STATISTICS)           \
	X(0x827, ADD_VXLAN_UDP_DPORT)             \
	X(0x828, DELETE_VXLAN_UDP_DPORT)          \
	X(0x829, SET_L2_TABLE_ENTRY)              \
	X(0x82a, QUERY_L2_TABLE_ENTRY)            \
	X(0x82b, DELETE_L2_TABLE_ENTRY)           \
	X(0x830, SET_WOL_ROL)                     \
	X(0x831, QUERY_WOL_ROL)                   \
	X(0x840, CREATE_LAG)                      \
	X(0x841, MODIFY_LAG)                      \
	X(0x842, QUERY_LAG)                       \
	X(0x843, DESTROY_LAG)                     \
	X(0x844, CREATE_VPORT_LAG)                \
	X(0x845, DESTROY_VPORT_LAG)               \
	X(0x900, CREATE_TIR)                      \
	X(0x901, MODIFY_TIR)                      \
	X(0x902, DESTROY_TIR)                     \
	X(0x903, QUERY_TIR)                       \
	X(0x904, CREATE_SQ)                       \
	X(0x905, MODIFY_SQ)                       \
	X(0x906, DESTROY_SQ)                      \
	X(0x907, QUERY_SQ)                        \
	X(0x908, CREATE_RQ)                       \
	X(0x909, MODIFY_RQ)                       \
	X(0x90a, DESTROY_RQ)                      \
	X(0x90b, QUERY_RQ)                        \
	X(0x90c, CREATE_RMP)                      \
	X(0x90d, MODIFY_RMP)                      \
	X(0x90e, DESTROY_RMP)                     \
	X(0x90f, QUERY_RMP)                       \
	X(0x910, SET_DELAY_DROP_PARAMS)           \
	X(0x912, CREATE_TIS)                      \
	X(0x913, MODIFY_TIS)                      \
	X(0x914, DESTROY_TIS)                     \
	X(0x915, QUERY_TIS)                       \
	X(0x916, CREATE_RQT)                      \
	X(0x917, MODIFY_RQT)                      \
	X(0x918, DESTROY_RQT)                     \
	X(0x919, QUERY_RQT)                       \
	X(0x92f, SET_FLOW_TABLE_ROOT)             \
	X(0x930, CREATE_FLOW_TABLE)               \
	X(0x931, DESTROY_FLOW_TABLE)              \
	X(0x932, QUERY_FLOW_TABLE)                \
	X(0x933, CREATE_FLOW_GROUP)               \
	X(0x934, DESTROY_FLOW_GROUP)              \
	X(0x935, QUERY_FLOW_GROUP)                \
	X(0x936, SET_FLOW_TABLE_ENTRY)            \
	X(0x937, QUERY_FLOW_TABLE_ENTRY)          \
	X(0x938, DELETE_FLOW_TABLE_ENTRY)         \
	X(0x939, ALLOC_FLOW_COUNTER)              \
	X(0x93a, DEALLOC_FLOW_COUNTER)            \
	X(0x93b, QUERY_FLOW_COUNTER)              \
	X(0x93c, MODIFY_FLOW_TABLE)               \
	X(0x93d, ALLOC_PACKET_REFORMAT_CONTEXT)   \
	X(0x93e, DEALLOC_PACKET_REFORMAT_CONTEXT) \
	X(0x93f, QUERY_PACKET_REFORMAT_CONTEXT)   \
	X(0x940, ALLOC_MODIFY_HEADER_CONTEXT)     \
	X(0x941, DEALLOC_MODIFY_HEADER_CONTEXT)   \
	X(0x942, QUERY_MODIFY_HEADER_CONTEXT)     \
	X(0x960, FPGA_CREATE_QP)                  \
	X(0x961, FPGA_MODIFY_QP)                  \
	X(0x962, FPGA_QUERY_QP)                   \
	X(0x963, FPGA_DESTROY_QP)                 \
	X(0x964, FPGA_QUERY_QP_COUNTERS)          \
	X(0xa00, CREATE_GENERAL_OBJECT)           \
	X(0xa01, MODIFY_GENERAL_OBJECT)           \
	X(0xa02, QUERY_GENERAL_OBJECT)            \
	X(0xa03, DESTROY_GENERAL_OBJECT)          \
	X(0xa04, CREATE_UCTX)                     \
	X(0xa06, DESTROY_UCTX)                    \
	X(0xa08, CREATE_UMEM)                     \
	X(0xa0a, DESTROY_UMEM)                    \
	X(0xb00, SYNC_STEERING)                   \
	X(0xb0d, QUERY_VHCA_STATE)                \
	X(0xb0e, MODIFY_VHCA_STATE)

#define PRM_OP_ENUM(nr, name) PRM_OP_##name = (nr),
enum prm_opcode { PRM_OPCODES(PRM_OP_ENUM) };

/* "CREATE_QP"...; "?" if unknown. */
const char *prm_opcode_name(uint16_t opcode);
/* The n-th opcode with a name, from 0; false: there are no more. */
bool prm_opcode_at(size_t n, uint16_t *opcode);

#endif
