/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Errors in commands, and answers, that depend on the link layer of the ports. */
#include "fw/test_refusals.h"
#include "fabric/eth.h"
#include "hw/port.h"
#include "hw/qp.h"
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
#define SPORT E(rts2rts_qp_in, opt_param_mask_95_32, PRM_QP_OPT32_UDP_SPORT)

static void a_ud_qp(struct env *e, struct fw_ctx *c, uint32_t *inlen, uint32_t *outlen)
{
	hw_qp(&e->s, e->qp)->st = PRM_ST_UD;
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
	R(QP_UDP_SPORT, RTS2RTS_QP, SPORT),
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

static const struct valid_row valid_ib[] = {
	V(QUERY_HCA_VPORT_CONTEXT, 0, NULL, E(query_hca_vport_context_in, port_num, 1)),
};

static const struct valid_row valid_eth[] = {
	V(QUERY_ROCE_ADDRESS, 0, entries_are_the_ports, E(query_roce_address_in, vhca_port_num, 1)),
};

const struct refusal_rows rows_ib = {"InfiniBand",         ib,   ARRAY_SIZE(ib), valid_ib,
				     ARRAY_SIZE(valid_ib), ON_IB};
const struct refusal_rows rows_eth = {
	"Ethernet", eth, ARRAY_SIZE(eth), valid_eth, ARRAY_SIZE(valid_eth), ON_ETH};
