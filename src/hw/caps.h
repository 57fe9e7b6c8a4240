/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The capabilities of an HCA: those of its model (fw/caps.c), or less in some worlds.
 * QUERY_HCA_CAP, GET_CONTEXT, EX_QUERY_DEVICE, the firmware's checks and sysfs read them; limits
 * are written nowhere else. A capability is on only if its data path exists.
 */
#ifndef SOFTHCA_HW_CAPS_H
#define SOFTHCA_HW_CAPS_H

#include <stdbool.h>
#include <stdint.h>

enum { /* atomic_operations */
       HW_ATOMIC_CS = 1,
       HW_ATOMIC_FA = 2,
       HW_ATOMIC_MASKED_CS = 4,
       HW_ATOMIC_MASKED_FA = 8,
};

#define HW_PP_TABLE_MAX 256
/* Device memory begins at a page: the largest alignment is 64 << 6. */
#define HW_MEMIC_LOG_ALIGN 6

struct hw_caps {
	/* identity */
	uint16_t pci_device;
	uint32_t vendor_id;  /* 0x02c9; ibv_query_device shows it */
	uint16_t pci_vendor; /* 0x15b3 */
	uint32_t hw_rev;
	uint16_t fw_major, fw_minor, fw_sub;
	char fw_ver[16], hca_type[16], board_id[16];
	uint32_t link_speed, link_width; /* codes of hw_port */
	uint32_t pci_gen;
	/* Limits, with the names of cmd_hca_cap; log2 where those are. */
	uint32_t log_max_qp, log_max_qp_sz, log_max_cq, log_max_cq_sz, log_max_srq, log_max_srq_sz;
	uint32_t log_max_mkey, log_max_pd, log_max_eq, log_max_msg, log_max_uctx, log_max_umem,
		log_max_xrcd, log_max_mcg, max_qp_mcg, log_max_xrq;
	/*
	 * for RQs, SQs, RQTs, TIRs, TISs and transport domains: for each kind, and for all together
	 */
	uint32_t log_max_obj;
	uint32_t log_max_rqt_size; /* RQs */
	/* qos: packet pacing in kbit/s; the table's first entry means "no limit". */
	uint32_t max_tsar_bw_share;
	uint32_t pp_min_rate, pp_max_rate, pp_table_size;
	uint32_t log_max_ra_req_qp, log_max_ra_res_qp;
	uint32_t max_wqe_sz_sq, max_wqe_sz_rq; /* bytes */
	uint32_t log_max_klm_list_size, max_indirection;
	uint32_t log_pg_sz, log_bf_reg_size; /* 0: BlueFlame is not advertised */
	uint32_t cqe_version;
	bool cqe_128_always; /* CQEs may be padded to 128 bytes */
	uint32_t cqe_compression_max_num;
	uint32_t device_frequency_khz;
	uint32_t local_ca_ack_delay;
	uint32_t stat_rate_support; /* bit n: ads.stat_rate n is supported */
	uint32_t max_mtu;           /* IBV code */
	uint32_t num_comp_vectors;
	uint64_t max_mr_size;
	uint64_t page_size_cap;
	uint32_t atomic_operations, atomic_size_qp; /* HW_ATOMIC_*, bytes */
	/*
	 * Events that programs may subscribe to, as bits 1 << PRM_EVENT_*: of objects, and of the
	 * HCA.
	 */
	bool event_cap;
	uint64_t user_affiliated_events[4], user_unaffiliated_events[4];
	/* SRQs, and what needs one: XRC, DC, tag matching; windows; on-demand paging; RC */
	bool srq, mw, odp, rc;
	bool tags, memic, odp_atomic; /* tag matching, device memory, atomics in on-demand memory */
	/* Shown by verbs only. */
	uint32_t max_qp_wr, max_sge, max_recv_sge, max_sge_rd, max_srq_sge, max_ah, max_mw,
		max_qp_rd_atom, max_qp_init_rd_atom;
	uint64_t device_cap_flags;
};

#endif
