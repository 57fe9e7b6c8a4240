/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the capability table: one row per model. Read by the firmware's checks and QUERY_HCA_CAP
 * (cmd_cap.c), the driver and the supervisor (sysfs). Data only.
 *
 * The models differ in identity, link speed, and in what dumps of cards of that kind show: the same
 * code is their data path.
 */
#include "fw/caps.h"

#include <infiniband/verbs.h>
#include "hw/zip.h"
#include "hw/hca.h"
#include "hw/world.h"
#include "hw/mkey.h"
#include "wire/ib/link.h"
#include "wire/prm/eq.h"
#include "util/bits.h"

/*
 * Capabilities of every model. max_sge and max_recv_sge follow from the WQE sizes as the kernel
 * derives them: (512 - 16 - 16) / 16 and 512 / 16.
 */
#define BIT(n) (UINT64_C(1) << (n))
#define QUEUE_EVENTS                                                                              \
	(BIT(PRM_EVENT_PATH_MIG) | BIT(PRM_EVENT_PATH_MIG_FAILED) | BIT(PRM_EVENT_COMM_EST) |     \
	 BIT(PRM_EVENT_CQ_ERROR) | BIT(PRM_EVENT_WQ_CATAS_ERROR) |                                \
	 BIT(PRM_EVENT_WQ_INVAL_REQ_ERROR) | BIT(PRM_EVENT_WQ_ACCESS_ERROR) |                     \
	 BIT(PRM_EVENT_SRQ_LAST_WQE) | BIT(PRM_EVENT_SRQ_RQ_LIMIT) | BIT(PRM_EVENT_DCT_DRAINED) | \
	 BIT(PRM_EVENT_DCT_KEY_VIOLATION))
#define CAPS_COMMON                                                                               \
	.vendor_id = 0x02c9, .pci_vendor = 0x15b3, .hw_rev = 0, .link_width = IB_WIDTH_4X,        \
	.log_max_qp = 20, .log_max_qp_sz = 15, .log_max_cq = 20, .log_max_cq_sz = 22,             \
	.log_max_srq = 18, .log_max_srq_sz = 15, .log_max_mkey = 20, .log_max_pd = 16,            \
	.log_max_eq = 3, .log_max_xrcd = 15, .log_max_mcg = 12, .max_qp_mcg = 240,                \
	.log_max_xrq = 10, .log_max_msg = 30, .log_max_uctx = 16, .log_max_umem = 20,             \
	.log_max_ra_req_qp = 4, .log_max_ra_res_qp = 4, .max_wqe_sz_sq = 1024,                    \
	.max_wqe_sz_rq = 512, .log_max_klm_list_size = 9, .max_indirection = HW_MAX_INDIRECTION,  \
	.log_pg_sz = 12, .log_bf_reg_size = 0, .cqe_version = 1, .cqe_128_always = true,          \
	.cqe_compression_max_num = HW_ZIP_MAX, .device_frequency_khz = 1000000,                   \
	.local_ca_ack_delay = 16, .max_mtu = IBV_MTU_4096, .num_comp_vectors = HW_COMP_VECTORS,   \
	.max_mr_size = UINT64_MAX, .page_size_cap = ~UINT64_C(0xfff), .max_qp_wr = 1 << 15,       \
	.max_sge = 30, .max_recv_sge = 32, .max_sge_rd = 30,                                      \
	.atomic_operations =                                                                      \
		HW_ATOMIC_CS | HW_ATOMIC_FA | HW_ATOMIC_MASKED_CS | HW_ATOMIC_MASKED_FA,          \
	.atomic_size_qp = 4 | 8, .max_srq_sge = 31, .max_ah = INT32_MAX, .max_mw = (1 << 17) - 1, \
	.srq = true, .mw = true, .odp = true, .rc = true, .tags = true, .memic = true,            \
	.odp_atomic = true, .max_qp_rd_atom = 16, .max_qp_init_rd_atom = 16, .event_cap = true,   \
	.user_affiliated_events = {QUEUE_EVENTS},                                                 \
	.user_unaffiliated_events = {BIT(PRM_EVENT_PORT_CHANGE)},                                 \
	.device_cap_flags =                                                                       \
		IBV_DEVICE_BAD_PKEY_CNTR | IBV_DEVICE_BAD_QKEY_CNTR | IBV_DEVICE_AUTO_PATH_MIG |  \
		IBV_DEVICE_CHANGE_PHY_PORT | IBV_DEVICE_PORT_ACTIVE_EVENT |                       \
		IBV_DEVICE_SYS_IMAGE_GUID | IBV_DEVICE_RC_RNR_NAK_GEN | IBV_DEVICE_MEM_WINDOW |   \
		IBV_DEVICE_MEM_WINDOW_TYPE_2B | IBV_DEVICE_MEM_MGT_EXTENSIONS | IBV_DEVICE_XRC

/* Objects that only commands use, and packet pacing. */
#define CAPS_OBJ                                                                              \
	.log_max_obj = 16, .log_max_rqt_size = 7, .pp_min_rate = 1, .pp_max_rate = 200000000, \
	.pp_table_size = 128, .max_tsar_bw_share = 100

/* Static rates by ads.stat_rate: all that have a bit, up to the link's rate (inferred). */
#define STAT_RATES 0xfffeu
#define STAT_RATE_400 6

static const struct hw_caps caps_table[] = {
	[HW_CX6] = {CAPS_COMMON, CAPS_OBJ, .pci_device = 0x101b, .fw_major = 20, .fw_minor = 31,
		    .fw_sub = 1014, .fw_ver = "20.31.1014", .hca_type = "MT4123",
		    .board_id = "MT_0000000223", .link_speed = IB_SPEED_HDR, .pci_gen = 4,
		    .stat_rate_support = STAT_RATES & ~(1u << STAT_RATE_400)},
	[HW_CX7] = {CAPS_COMMON, CAPS_OBJ, .pci_device = 0x1021, .fw_major = 28, .fw_minor = 35,
		    .fw_sub = 1012, .fw_ver = "28.35.1012", .hca_type = "MT4129",
		    .board_id = "MT_0000000838", .link_speed = IB_SPEED_NDR, .pci_gen = 5,
		    .stat_rate_support = STAT_RATES},
	/*
	 * Worlds' models. Identity, max_qp and capabilities are those of ibv_devinfo -v of such
	 * cards: firmware 12.28.2006 and its 262144 QPs in C. Tung's mail to linux-rdma, June 2022;
	 * open-mpi/ompi#6137 and openucx/ucx#9830; MCX623106AN-CDAT with 131072 QPs, no atomics in
	 * on-demand memory, 131072 bytes of device memory; openucx/ucx#10541. NVIDIA's manuals name
	 * ConnectX-5 as the first with device memory and tag matching.
	 */
	[HW_CX4] = {CAPS_COMMON, CAPS_OBJ, .pci_device = 0x1013, .fw_major = 12, .fw_minor = 28,
		    .fw_sub = 2006, .fw_ver = "12.28.2006", .hca_type = "MT4115",
		    .board_id = "MT_2180110032", .link_speed = IB_SPEED_EDR, .pci_gen = 3,
		    .stat_rate_support = STAT_RATES & ~(1u << STAT_RATE_400)},
	[HW_CX5] = {CAPS_COMMON, CAPS_OBJ, .pci_device = 0x1017, .fw_major = 16, .fw_minor = 23,
		    .fw_sub = 1020, .fw_ver = "16.23.1020", .hca_type = "MT4119",
		    .board_id = "MT_0000000008", .link_speed = IB_SPEED_EDR, .pci_gen = 3,
		    .stat_rate_support = STAT_RATES & ~(1u << STAT_RATE_400)},
	[HW_CX6DX] = {CAPS_COMMON, CAPS_OBJ, .pci_device = 0x101d, .fw_major = 22, .fw_minor = 31,
		      .fw_sub = 1014, .fw_ver = "22.31.1014", .hca_type = "MT4125",
		      .board_id = "MT_0000000359", .link_speed = IB_SPEED_EDR, .pci_gen = 4,
		      .stat_rate_support = STAT_RATES & ~(1u << STAT_RATE_400)},
	[HW_BF2] = {CAPS_COMMON, CAPS_OBJ, .pci_device = 0xa2d6, .fw_major = 24, .fw_minor = 35,
		    .fw_sub = 3502, .fw_ver = "24.35.3502", .hca_type = "MT41686",
		    .board_id = "MT_0000000715", .link_speed = IB_SPEED_EDR, .pci_gen = 4,
		    .stat_rate_support = STAT_RATES & ~(1u << STAT_RATE_400)},
};

/* What the worlds' models have less than CAPS_COMMON. */
static const struct {
	uint32_t log_max_qp;
	bool tags, memic, odp;
} less[HW_MODELS] = {
	[HW_CX4] = {.log_max_qp = 18, .odp = true},
	[HW_CX5] = {.log_max_qp = 18, .tags = true, .memic = true, .odp = true},
	[HW_CX6DX] = {.log_max_qp = 17, .tags = true, .memic = true, .odp = true},
	[HW_BF2] = {.log_max_qp = 17, .tags = true, .memic = true},
};

const struct hw_caps *fw_caps(enum hw_model model)
{
	if ((unsigned int)model >= sizeof(caps_table) / sizeof(caps_table[0]))
		return &caps_table[HW_CX6];
	return &caps_table[model];
}

static void at_most(uint32_t *limit, uint32_t n)
{
	if (*limit > n)
		*limit = n;
}

/* max_sge and max_recv_sge as mlx5_ib_query_device() derives them from the sizes of WQEs. */
static void fewer_sges(struct hw_caps *c)
{
	const uint32_t ctrl = 16, raddr = 16, data = 16, most = 512;
	uint32_t sq = c->max_wqe_sz_sq < most ? c->max_wqe_sz_sq : most;

	at_most(&c->max_sge, (sq - ctrl - raddr) / data);
	at_most(&c->max_recv_sge, c->max_wqe_sz_rq / data);
	at_most(&c->max_sge_rd, c->max_sge);
	at_most(&c->max_srq_sge, c->max_recv_sge - 1);
}

static void fewer_objects(struct hw_caps *c, uint32_t log_qps)
{
	uint32_t *const same[] = {&c->log_max_qp, &c->log_max_cq, &c->log_max_umem},
			*const few[] = {&c->log_max_pd,  &c->log_max_srq,  &c->log_max_xrcd,
					&c->log_max_mcg, &c->log_max_uctx, &c->log_max_xrq,
					&c->log_max_obj};

	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		at_most(same[i], log_qps);
	for (size_t i = 0; i < sizeof(few) / sizeof(few[0]); i++)
		at_most(few[i], log_qps - 2);
	at_most(&c->log_max_mkey, log_qps + 1);
	c->num_comp_vectors = 1;
}

static void less_features(struct hw_caps *c, const uint32_t *v)
{
	if (v[HW_SET_SRQ] == HW_HAS_NOT) {
		c->srq = false;
		c->device_cap_flags &= ~(uint64_t)IBV_DEVICE_XRC;
	}
	if (v[HW_SET_ATOMICS] == HW_HAS_NOT)
		c->atomic_operations = c->atomic_size_qp = 0;
	if (v[HW_SET_ODP] == HW_HAS_NOT)
		c->odp = false;
	if (v[HW_SET_MW] == HW_HAS_NOT) {
		c->mw = false;
		c->max_mw = 0;
		c->device_cap_flags &=
			~(uint64_t)(IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_MEM_WINDOW_TYPE_2B);
	}
	if (v[HW_SET_DEVX] == HW_HAS_NOT)
		c->log_max_uctx = 0;
	if (v[HW_SET_CONNECTED] == HW_CONNECTED_UC)
		c->rc = false;
}

struct hw_caps fw_caps_of(enum hw_model model, const struct hw_world *w)
{
	struct hw_caps c = *fw_caps(model);
	const uint32_t *v = w->value;

	if (less[model].log_max_qp) {
		c.log_max_qp = less[model].log_max_qp;
		c.tags = less[model].tags;
		c.memic = less[model].memic;
		c.odp = less[model].odp;
		c.odp_atomic = false;
		c.hw_rev = model == HW_BF2;
	}
	if (v[HW_SET_DEPTH]) {
		c.max_qp_wr = v[HW_SET_DEPTH];
		c.log_max_srq_sz = bits_log2(v[HW_SET_DEPTH]);
		c.log_max_qp_sz = c.log_max_srq_sz + 2; /* libmlx5's WQEs of RC are 4 blocks */
		c.log_max_cq_sz = c.log_max_srq_sz + 3;
	}
	if (v[HW_SET_RECV_SGES])
		c.max_wqe_sz_rq = 16 * v[HW_SET_RECV_SGES];
	if (v[HW_SET_SEND_WQE])
		c.max_wqe_sz_sq = v[HW_SET_SEND_WQE];
	fewer_sges(&c);
	if (v[HW_SET_READS]) {
		c.log_max_ra_req_qp = c.log_max_ra_res_qp = bits_log2(v[HW_SET_READS]);
		c.max_qp_rd_atom = c.max_qp_init_rd_atom = v[HW_SET_READS];
	}
	if (v[HW_SET_OBJECTS])
		fewer_objects(&c, bits_log2(v[HW_SET_OBJECTS]));
	less_features(&c, v);
	return c;
}
