/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Errors in commands, and answers, that depend on the link layer of the ports. */
#include "fw/test_refusals.h"
#include "fabric/eth.h"
#include "hw/port.h"
#include "wire/prm/dct.h"
#include "wire/prm/hca_cap.h"
#include "wire/prm/vport.h"

#define E_ADS(f, v)                                                                         \
	{                                                                                   \
		(LP_create_qp_in_qpc + LP_qpc_primary_address_path) * 8 + LF_ads_##f##_BIT, \
			LF_ads_##f##_WIDTH, (v)                                             \
	}
#define E_DCTC(f, v) E_IN(create_dct_in, dct_context_entry, dctc, f, v)
#define ALT E(rst2init_qp_in, opt_param_mask, 1 << 0)
#define E_ALT(f, v)                                                                           \
	{                                                                                     \
		(LP_create_qp_in_qpc + LP_qpc_secondary_address_path) * 8 + LF_ads_##f##_BIT, \
			LF_ads_##f##_WIDTH, (v)                                               \
	}
#define E_XRQC(f, v) E_IN(create_xrq_in, xrq_context, xrqc, f, v)
#define SPORT E(rts2rts_qp_in, opt_param_mask_95_32, PRM_QP_OPT32_UDP_SPORT)

static void a_ud_qp(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	set_qp_service(e, PRM_ST_UD);
}

/* An XRQ with tag matching; offload 1: the device does the rendezvous. */
static uint32_t tm_xrq(struct env *e, uint32_t offload)
{
	void *xrqc;

	build_shared(e, B_CREATE_XRQ);
	xrqc = LAYOUT_IN(create_xrq_in, xrq_context, e->in);
	LAYOUT_SET(xrqc, xrqc, topology, 1);
	LAYOUT_SET(xrqc, xrqc, offload, offload);
	LAYOUT_SET(xrqc, xrqc, cqn, e->cq);
	return make(e, IN(create_xrq));
}

static void *qp_with(struct env *e, uint32_t xrq)
{
	void *qpc;

	b_create_qp(e);
	qpc = LAYOUT_IN(create_qp_in, qpc, e->in);
	LAYOUT_SET(qpc, qpc, rq_type, 1);
	LAYOUT_SET(qpc, qpc, srqn_rmpn_xrqn, xrq);
	return qpc;
}

static void tm_for_uc(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	LAYOUT_SET(qpc, qp_with(e, tm_xrq(e, 1)), st, PRM_ST_UC);
}

static void tm_for_dct(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	uint32_t xrq = tm_xrq(e, 1);

	b_create_dct(e);
	LAYOUT_SET(dctc, LAYOUT_IN(create_dct_in, dct_context_entry, e->in), srqn_xrqn, xrq);
}

static void owned_without_offload(struct env *e, struct fw_ctx *c, uint32_t *inlen,
				  uint32_t *outlen)
{
	void *qpc = qp_with(e, tm_xrq(e, 0));

	LAYOUT_SET(qpc, qpc, no_sq, 1);
	LAYOUT_SET(qpc, qpc, offload_type, 1);
}

/* The CQ of its messages is in use. */
static void cq_of_tm(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	tm_xrq(e, 1);
	b_id(e, PRM_OP_DESTROY_CQ, e->cq);
}

static const struct refusal_row ib[] = {
	R(VPORT_PORT, QUERY_HCA_VPORT_CONTEXT, E(query_hca_vport_context_in, port_num, 3)),
	R(VPORT_PORT, QUERY_HCA_VPORT_CONTEXT, E(query_hca_vport_context_in, port_num, 0)),
	R(PATH_SGID, INIT2RTR_QP, E_ADS(grh, 1), E_ADS(src_addr_index, 1)),
	R(PATH_SGID, INIT2RTR_QP, E_ADS(grh, 1), E_ADS(src_addr_index, HW_IB_GIDS)),
	R(PATH_PKEY, RTS2RTS_QP, ALT, E_ALT(vhca_port_num, 2), E_ALT(pkey_index, 1)),
	R(PATH_SGID, RTS2RTS_QP, ALT, E_ALT(vhca_port_num, 2), E_ALT(grh, 1),
	  E_ALT(src_addr_index, 1)),
	R(ROCE_OFF, QUERY_ROCE_ADDRESS, {0, 0, 0}),
	R(CONG_OFF, QUERY_CONG_STATISTICS, {0, 0, 0}),
	R(QP_UDP_SPORT, RTS2RTS_QP, SPORT),
	R(XRQC_LIST, CREATE_XRQ, E_XRQC(topology, 1), E_XRQC(offload, 1),
	  E_XRQC(log_matching_list_sz, 8)),
	R(XRQC_CQN, CREATE_XRQ, E_XRQC(topology, 1), E_XRQC(offload, 1), E_XRQC(cqn, NOBODY)),
	M(QPC_SRQN, CREATE_QP, tm_for_uc, {0, 0, 0}),
	M(DCTC_SRQN, CREATE_DCT, tm_for_dct, {0, 0, 0}),
	M(QPC_OFFLOAD, CREATE_QP, owned_without_offload, {0, 0, 0}),
	M(CQ_IN_USE, DESTROY_CQ, cq_of_tm, {0, 0, 0}),
};

/* Without a GRH bit, too: on Ethernet every packet has GIDs or IP addresses. */
static const struct refusal_row eth[] = {
	R(VPORT_ETH, QUERY_HCA_VPORT_CONTEXT, {0, 0, 0}),
	R(PATH_SGID, INIT2RTR_QP, E_ADS(src_addr_index, 4)),
	R(PATH_SGID, INIT2RTR_QP, E_ADS(src_addr_index, HW_GIDS)),
	R(DCTC_SGID, CREATE_DCT, E_DCTC(my_addr_index, 4)),
	R(DCTC_SGID, CREATE_DCT, E_DCTC(my_addr_index, HW_GIDS)),
	R(ROCE_PORT, QUERY_ROCE_ADDRESS, E(query_roce_address_in, vhca_port_num, 3)),
	R(ROCE_INDEX, QUERY_ROCE_ADDRESS, E(query_roce_address_in, roce_address_index, HW_GIDS)),
	R(ALT_LINK, RTS2RTS_QP, ALT, E_ALT(vhca_port_num, 1)),
	R(QP_UDP_SPORT, INIT2INIT_QP, SPORT),
	R(XRQC_OFFLOAD, CREATE_XRQ, E_XRQC(topology, 1)),
	M(QP_UDP_SPORT, RTS2RTS_QP, a_ud_qp, SPORT, E(rts2rts_qp_in, opt_param_mask, 0)),
};

static uint32_t port_of(struct env *e, uint32_t num)
{
	return hw_hca(&e->s, e->hca)->port[num - 1];
}

static void answer(struct env *e, uint32_t index, uint32_t num)
{
	void *in = cmd_init(e, PRM_OP_QUERY_ROCE_ADDRESS, 0);

	LAYOUT_SET(query_roce_address_in, in, roce_address_index, index);
	LAYOUT_SET(query_roce_address_in, in, vhca_port_num, num);
	assert_int_equal(run(e, in, IN(query_roce_address), OUT(query_roce_address)), FW_OK);
}

#define ROCE(f) \
	LAYOUT_GET(roce_addr_layout, LAYOUT_IN(query_roce_address_out, roce_address, e->out), f)

static void entries_are_the_ports(struct env *e)
{
	const struct hw_port *p = hw_port(&e->s, port_of(e, 2));
	uint8_t mac[6];

	fab_eth_mac(port_of(e, 2), mac);
	for (uint32_t i = 0; i < 4; i++) {
		bool v2 = i % 2, ip4 = i >= 2;

		answer(e, i, 2);
		assert_memory_equal(e->out + LP_query_roce_address_out_roce_address, p->gid[i], 16);
		assert_int_equal(ROCE(source_mac_47_32), be16_load(mac));
		assert_int_equal(ROCE(source_mac_31_0), be32_load(mac + 2));
		assert_int_equal(ROCE(roce_version), v2 ? PRM_ROCE_VERSION_2 : PRM_ROCE_VERSION_1);
		assert_int_equal(ROCE(roce_l3_type), v2 && !ip4 ? PRM_ROCE_L3_IPV6 : 0);
		assert_int_equal(ROCE(vlan_valid), 0);
	}
	answer(e, 4, 2);
	assert_int_equal(ROCE(source_mac_31_0), 0);
	answer(e, 0, 0);
	assert_memory_equal(e->out + LP_query_roce_address_out_roce_address,
			    hw_port(&e->s, port_of(e, 1))->gid[0], 16);
}

static void nothing_is_congested(struct env *e)
{
	assert_int_equal(LAYOUT_GET(query_cong_statistics_out, e->out, rp_cnp_handled), 0);
	assert_int_equal(LAYOUT_GET(query_cong_statistics_out, e->out, np_cnp_sent), 0);
}

static const struct valid_row valid_ib[] = {
	V(QUERY_HCA_VPORT_CONTEXT, 0, NULL, E(query_hca_vport_context_in, port_num, 1)),
};

static const struct valid_row valid_eth[] = {
	V(QUERY_CONG_STATISTICS, 0, nothing_is_congested, {0, 0, 0}),
	V(QUERY_ROCE_ADDRESS, 0, entries_are_the_ports, E(query_roce_address_in, vhca_port_num, 1)),
};

const struct refusal_rows rows_ib = {"InfiniBand",         ib,   ARRAY_SIZE(ib), valid_ib,
				     ARRAY_SIZE(valid_ib), ON_IB};
const struct refusal_rows rows_eth = {
	"Ethernet", eth, ARRAY_SIZE(eth), valid_eth, ARRAY_SIZE(valid_eth), ON_ETH};
