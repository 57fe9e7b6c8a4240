/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The part of the PRM (the adapter's Programmer's Reference Manual) that devx_send.c needs: sizes
 * of commands, places of fields, opcodes. Everything is big-endian; a bit is counted from the most
 * significant one of the first byte. Copy it together with the example.
 */
#ifndef EXAMPLES_PRM_H
#define EXAMPLES_PRM_H

#include <stdint.h>

/* PRM_GET(create_cq_out, out, cqn), PRM_SET(cqc, cqc, uar_page, 5): a field of a structure at `p`.
 */
#define PRM_GET(type, p, field) prm_get((p), PRM_##type##_##field)
#define PRM_SET(type, p, field, value) prm_set((p), PRM_##type##_##field, (value))
/* A structure inside another one. */
#define PRM_IN(type, field, p) ((void *)((uintptr_t)(p) + PRM_##type##_##field))
/* Its size in bytes. */
#define PRM_SIZE(type) PRM_##type##_SIZE

static inline uint64_t prm_get(const void *p, unsigned int bit, unsigned int width)
{
	const uint8_t *b = p;
	uint64_t v = 0;

	for (unsigned int i = bit; i < bit + width; i++)
		v = v << 1 | (b[i / 8] >> (7 - i % 8) & 1);
	return v;
}

static inline void prm_set(void *p, unsigned int bit, unsigned int width, uint64_t v)
{
	uint8_t *b = p;

	for (unsigned int i = bit + width; i-- > bit; v >>= 1) {
		uint8_t mask = (uint8_t)(1u << (7 - i % 8));

		b[i / 8] = (uint8_t)(v & 1 ? b[i / 8] | mask : b[i / 8] & ~mask);
	}
}

/* Opcodes. */
#define PRM_OP_QUERY_HCA_CAP 0x100
#define PRM_OP_CREATE_MKEY 0x200
#define PRM_OP_CREATE_CQ 0x400
#define PRM_OP_CREATE_QP 0x500
#define PRM_OP_RST2INIT_QP 0x502
#define PRM_OP_INIT2RTR_QP 0x503
#define PRM_OP_RTR2RTS_QP 0x504
#define PRM_OP_QUERY_QP 0x50b
#define PRM_OP_QUERY_HCA_VPORT_CONTEXT 0x762
#define PRM_OP_ALLOC_PD 0x800

/* Sizes: bytes. Structures inside: bytes from the start. Fields: first bit, number of bits. */
#define PRM_ads_pkey_index 0x10, 16
#define PRM_ads_rlid 0x30, 16
#define PRM_ads_ack_timeout 0x40, 5
#define PRM_ads_vhca_port_num 0x128, 8
#define PRM_alloc_pd_in_SIZE 0x10
#define PRM_alloc_pd_in_opcode 0x0, 16
#define PRM_alloc_pd_out_SIZE 0x10
#define PRM_alloc_pd_out_pd 0x48, 24
#define PRM_cmd_hca_cap_log_max_qp 0x9b, 5
#define PRM_cmd_hca_cap_log_max_cq 0xdb, 5
#define PRM_cmd_hca_cap_num_ports 0x1b8, 8
#define PRM_cqc_dbr_umem_valid 0x6, 1
#define PRM_cqc_dbr_umem_id 0x20, 32
#define PRM_cqc_log_cq_size 0x63, 5
#define PRM_cqc_uar_page 0x68, 24
#define PRM_cqc_c_eqn 0xb8, 8
#define PRM_cqc_dbr_addr 0x1c0, 64
#define PRM_create_cq_in_SIZE 0x110
#define PRM_create_cq_in_cq_context 0x10
#define PRM_create_cq_in_opcode 0x0, 16
#define PRM_create_cq_in_cq_umem_id 0x2c0, 32
#define PRM_create_cq_in_cq_umem_valid 0x2e0, 1
#define PRM_create_cq_out_SIZE 0x10
#define PRM_create_cq_out_cqn 0x48, 24
#define PRM_create_mkey_in_SIZE 0x110
#define PRM_create_mkey_in_memory_key_mkey_entry 0x10
#define PRM_create_mkey_in_opcode 0x0, 16
#define PRM_create_mkey_in_mkey_umem_valid 0x61, 1
#define PRM_create_mkey_in_translations_octword_actual_size 0x300, 32
#define PRM_create_mkey_in_mkey_umem_id 0x320, 32
#define PRM_create_mkey_out_SIZE 0x10
#define PRM_create_mkey_out_mkey_index 0x48, 24
#define PRM_create_qp_in_SIZE 0x110
#define PRM_create_qp_in_qpc 0x18
#define PRM_create_qp_in_opcode 0x0, 16
#define PRM_create_qp_in_wq_umem_id 0x840, 32
#define PRM_create_qp_in_wq_umem_valid 0x860, 1
#define PRM_create_qp_out_SIZE 0x10
#define PRM_create_qp_out_status 0x0, 8
#define PRM_create_qp_out_syndrome 0x20, 32
#define PRM_create_qp_out_qpn 0x48, 24
#define PRM_hca_vport_context_lid 0x300, 16
#define PRM_init2rtr_qp_in_SIZE 0x110
#define PRM_init2rtr_qp_in_qpc 0x18
#define PRM_init2rtr_qp_in_opcode 0x0, 16
#define PRM_init2rtr_qp_in_qpn 0x48, 24
#define PRM_mkc_lw 0x14, 1
#define PRM_mkc_lr 0x15, 1
#define PRM_mkc_access_mode_1_0 0x16, 2
#define PRM_mkc_qpn 0x20, 24
#define PRM_mkc_mkey_7_0 0x38, 8
#define PRM_mkc_pd 0x68, 24
#define PRM_mkc_start_addr 0x80, 64
#define PRM_mkc_len 0xc0, 64
#define PRM_mkc_translations_octword_size 0x1a0, 32
#define PRM_mkc_log_page_size 0x1db, 5
#define PRM_qpc_primary_address_path 0x18
#define PRM_qpc_state 0x0, 4
#define PRM_qpc_st 0x8, 8
#define PRM_qpc_pm_state 0x13, 2
#define PRM_qpc_pd 0x28, 24
#define PRM_qpc_mtu 0x40, 3
#define PRM_qpc_log_msg_max 0x43, 5
#define PRM_qpc_log_rq_size 0x49, 4
#define PRM_qpc_log_rq_stride 0x4d, 3
#define PRM_qpc_log_sq_size 0x51, 4
#define PRM_qpc_uar_page 0x68, 24
#define PRM_qpc_user_index 0x88, 24
#define PRM_qpc_remote_qpn 0xa8, 24
#define PRM_qpc_retry_count 0x38d, 3
#define PRM_qpc_rnr_retry 0x390, 3
#define PRM_qpc_next_send_psn 0x3c8, 24
#define PRM_qpc_cqn_snd 0x3e8, 24
#define PRM_qpc_min_rnr_nak 0x4a3, 5
#define PRM_qpc_next_rcv_psn 0x4a8, 24
#define PRM_qpc_cqn_rcv 0x4e8, 24
#define PRM_qpc_dbr_addr 0x500, 64
#define PRM_qpc_cs_req 0x630, 8
#define PRM_qpc_cs_res 0x638, 8
#define PRM_qpc_dbr_umem_valid 0x683, 1
#define PRM_qpc_dbr_umem_id 0x720, 32
#define PRM_query_hca_cap_in_SIZE 0x10
#define PRM_query_hca_cap_in_opcode 0x0, 16
#define PRM_query_hca_cap_in_op_mod 0x30, 16
#define PRM_query_hca_cap_out_SIZE 0x1010
#define PRM_query_hca_cap_out_capability 0x10
#define PRM_query_hca_vport_context_in_SIZE 0x10
#define PRM_query_hca_vport_context_in_opcode 0x0, 16
#define PRM_query_hca_vport_context_in_port_num 0x4c, 4
#define PRM_query_hca_vport_context_out_SIZE 0x210
#define PRM_query_hca_vport_context_out_hca_vport_context 0x10
#define PRM_query_qp_in_SIZE 0x10
#define PRM_query_qp_in_opcode 0x0, 16
#define PRM_query_qp_in_qpn 0x48, 24
#define PRM_query_qp_out_SIZE 0x110
#define PRM_query_qp_out_qpc 0x18
#define PRM_rst2init_qp_in_SIZE 0x110
#define PRM_rst2init_qp_in_qpc 0x18
#define PRM_rst2init_qp_in_opcode 0x0, 16
#define PRM_rst2init_qp_in_qpn 0x48, 24
#define PRM_rst2init_qp_out_SIZE 0x10
#define PRM_rtr2rts_qp_in_SIZE 0x110
#define PRM_rtr2rts_qp_in_qpc 0x18
#define PRM_rtr2rts_qp_in_opcode 0x0, 16
#define PRM_rtr2rts_qp_in_qpn 0x48, 24

#endif
