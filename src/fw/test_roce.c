/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The firmware of an adapter with Ethernet ports: capabilities, addresses, paths of QPs. */
#include "fw/test.h"
#include "fabric/eth.h"
#include "fabric/ifaddr.h"
#include "hw/port.h"
#include "hw/qp.h"
#include "wire/prm/dct.h"
#include "wire/prm/hca_cap.h"
#include "wire/prm/vport.h"

static int eth_setup(void **state)
{
	struct env *e = calloc(1, sizeof(*e));

	env_up_on(e, HW_LINK_ETH);
	*state = e;
	return 0;
}
#define eth_test(f) cmocka_unit_test_setup_teardown(f, eth_setup, env_teardown)

static uint32_t port_of(struct env *e, uint32_t num)
{
	return hw_hca(&e->s, e->hca)->port[num - 1];
}

static const void *caps(struct env *e, uint32_t group)
{
	cmd_init(e, PRM_OP_QUERY_HCA_CAP, group << 1 | 1);
	assert_int_equal(run(e, e->in, IN(query_hca_cap), OUT(query_hca_cap)), FW_OK);
	return LAYOUT_IN(query_hca_cap_out, capability, e->out);
}

static void caps_say_ethernet(void **state)
{
	struct env *e = *state;
	const void *cap = caps(e, 0);

	assert_int_equal(LAYOUT_GET(cmd_hca_cap, cap, port_type), 1);
	assert_int_equal(LAYOUT_GET(cmd_hca_cap, cap, roce), 1);
	assert_int_equal(LAYOUT_GET(cmd_hca_cap, cap, rts2rts_qp_udp_sport), 1);
	assert_int_equal(LAYOUT_GET(cmd_hca_cap, cap, roce_accl), 1);
	assert_int_equal(LAYOUT_GET(cmd_hca_cap, cap, cc_query_allowed), 1);
	assert_int_equal(LAYOUT_GET(cmd_hca_cap, cap, eth_net_offloads), 0);
	cap = caps(e, 4);
	assert_int_equal(LAYOUT_GET(roce_cap, cap, roce_version), 5);
	assert_int_equal(LAYOUT_GET(roce_cap, cap, l3_type), 6);
	assert_int_equal(LAYOUT_GET(roce_cap, cap, roce_address_table_size), HW_GIDS);
	assert_int_equal(LAYOUT_GET(roce_cap, cap, r_roce_dest_udp_port), 4791);
	assert_int_equal(LAYOUT_GET(roce_cap, cap, r_roce_min_src_udp_port), 0xc000);
}

static void caps_say_infiniband(void **state)
{
	struct env *e = *state;
	const void *cap = caps(e, 0);

	assert_int_equal(LAYOUT_GET(cmd_hca_cap, cap, port_type), 0);
	assert_int_equal(LAYOUT_GET(cmd_hca_cap, cap, roce), 0);
	assert_int_equal(LAYOUT_GET(cmd_hca_cap, cap, rts2rts_qp_udp_sport), 0);
	assert_int_equal(LAYOUT_GET(cmd_hca_cap, cap, roce_accl), 0);
	assert_int_equal(LAYOUT_GET(cmd_hca_cap, cap, cc_query_allowed), 0);
	cap = caps(e, 4);
	assert_int_equal(LAYOUT_GET(roce_cap, cap, roce_version), 0);
	assert_int_equal(LAYOUT_GET(roce_cap, cap, roce_address_table_size), 0);
}

static const uint8_t *nic_vport(struct env *e, uint32_t type, uint32_t room)
{
	void *in = cmd_init(e, PRM_OP_QUERY_NIC_VPORT_CONTEXT, 0);

	LAYOUT_SET(query_nic_vport_context_in, in, allowed_list_type, type);
	assert_int_equal(
		run(e, in, IN(query_nic_vport_context), OUT(query_nic_vport_context) + room),
		FW_OK);
	return LAYOUT_IN(query_nic_vport_context_out, nic_vport_context, e->out);
}

static void is_mac(const uint8_t *layout, const uint8_t *mac)
{
	assert_memory_equal(layout + 2, mac, 6);
}

static void the_vport_has_the_ports_address(void **state)
{
	struct env *e = *state;
	const uint8_t *ctx = nic_vport(e, 0, 8);
	uint8_t mac[6];

	fab_eth_mac(port_of(e, 1), mac);
	assert_int_equal(LAYOUT_GET(nic_vport_context, ctx, roce_en), 1);
	assert_int_equal(LAYOUT_GET(nic_vport_context, ctx, mtu), TEST_IF_MTU + 14 + 4 + 4);
	is_mac(ctx + LP_nic_vport_context_permanent_address, mac);
	assert_int_equal(LAYOUT_GET(nic_vport_context, ctx, allowed_list_size), 1);
	is_mac(ctx + LAYOUT_SZ(nic_vport_context), mac);
}

static void the_multicast_list_has_the_groups_of_each_address(void **state)
{
	static const uint8_t ip6[16] = {0xfd, [13] = 1, 2, 3},
			     all[6] = {255, 255, 255, 255, 255, 255},
			     solicited[6] = {0x33, 0x33, 0xff, 1, 2, 3};
	struct env *e = *state;
	const uint8_t *ctx = nic_vport(e, 1, 64), *list = ctx + LAYOUT_SZ(nic_vport_context);

	assert_int_equal(LAYOUT_GET(nic_vport_context, ctx, allowed_list_size), 4);
	is_mac(list, all);
	assert_int_equal(fab_if_set(&e->s, port_of(e, 1), ip6, 16, 64), 0);
	nic_vport(e, 1, 64);
	assert_int_equal(LAYOUT_GET(nic_vport_context, ctx, allowed_list_size), 5);
	is_mac(list + 4 * 8, solicited);
	/* a caller without room gets the number */
	memset(e->out, 0x55, sizeof(e->out));
	nic_vport(e, 1, 8);
	assert_int_equal(LAYOUT_GET(nic_vport_context, ctx, allowed_list_size), 5);
	is_mac(list, all);
	assert_int_equal(list[8], 0x55);
	nic_vport(e, 2, 64);
	assert_int_equal(LAYOUT_GET(nic_vport_context, ctx, allowed_list_size), 0);
}

/* The path of a connected QP: what INIT2RTR gives the engine. */
static void a_path_names_a_mac_address(void **state)
{
	struct env *e = *state;
	struct hw_qp *qp;
	uint8_t *ads;

	qp_to(e, PRM_QP_STATE_INIT);
	b_init2rtr(e);
	ads = LAYOUT_IN(qpc, primary_address_path, LAYOUT_IN(init2rtr_qp_in, qpc, e->in));
	fab_eth_mac(port_of(e, 2), ads + LF_ads_rmac_47_32_BIT / 8);
	LAYOUT_SET(ads, ads, src_addr_index, 3);
	LAYOUT_SET(ads, ads, eth_prio, 5);
	LAYOUT_SET(ads, ads, sl, 9);
	LAYOUT_SET(ads, ads, udp_sport, 0xc123);
	LAYOUT_SET(ads, ads, dscp, 26);
	assert_int_equal(run(e, e->in, IN(init2rtr_qp), OUT(init2rtr_qp)), FW_OK);
	qp = hw_qp(&e->s, e->qp);
	assert_int_equal(qp->path[0].dlid, fab_eth_addr_of(port_of(e, 2)));
	assert_int_equal(qp->path[0].sl, 5);
	assert_int_equal(qp->path[0].grh, 1);
	assert_int_equal(qp->path[0].sgid_index, 3);
	b_id(e, PRM_OP_QUERY_QP, e->qp);
	assert_int_equal(run(e, e->in, IN(query_qp), OUT(query_qp)), FW_OK);
	ads = LAYOUT_IN(qpc, primary_address_path, LAYOUT_IN(query_qp_out, qpc, e->out));
	assert_int_equal(LAYOUT_GET(ads, ads, udp_sport), 0xc123);
	assert_int_equal(LAYOUT_GET(ads, ads, dscp), 26);
	assert_int_equal(LAYOUT_GET(ads, ads, eth_prio), 5);
	assert_int_equal(fab_eth_addr(ads + LF_ads_rmac_47_32_BIT / 8), qp->path[0].dlid);
}

static void a_foreign_mac_address_leads_nowhere(void **state)
{
	struct env *e = *state;

	qp_to(e, PRM_QP_STATE_RTR); /* with MAC address zero */
	assert_int_equal(fab_eth_port(hw_qp(&e->s, e->qp)->path[0].dlid), SEG_NONE);
	assert_true(fab_is_eth_addr(hw_qp(&e->s, e->qp)->path[0].dlid));
}

static uint64_t sport_of(struct env *e)
{
	b_id(e, PRM_OP_QUERY_QP, e->qp);
	assert_int_equal(run(e, e->in, IN(query_qp), OUT(query_qp)), FW_OK);
	return LAYOUT_GET(
		ads, LAYOUT_IN(qpc, primary_address_path, LAYOUT_IN(query_qp_out, qpc, e->out)),
		udp_sport);
}

static void a_running_qp_changes_its_source_port(void **state)
{
	struct env *e = *state;
	void *qpc;

	qp_to(e, PRM_QP_STATE_RTS);
	assert_int_equal(sport_of(e), 0);
	qpc = b_modify_qp(e, PRM_OP_RTS2RTS_QP, 0);
	LAYOUT_SET(ads, LAYOUT_IN(qpc, primary_address_path, qpc), udp_sport, 0xd00d);
	assert_int_equal(run(e, e->in, IN(rts2rts_qp), OUT(rts2rts_qp)), FW_OK);
	assert_int_equal(sport_of(e), 0); /* not in the mask */
	qpc = b_modify_qp(e, PRM_OP_RTS2RTS_QP, 0);
	LAYOUT_SET(ads, LAYOUT_IN(qpc, primary_address_path, qpc), udp_sport, 0xd00d);
	LAYOUT_SET(rts2rts_qp_in, e->in, opt_param_mask_95_32, PRM_QP_OPT32_UDP_SPORT);
	assert_int_equal(run(e, e->in, IN(rts2rts_qp), OUT(rts2rts_qp)), FW_OK);
	assert_int_equal(sport_of(e), 0xd00d);
}

/* mlx5_ib gives every UD QP the MTU 4096; a datagram must fit its path, not the port. */
static void the_mtu_of_a_ud_qp_may_exceed_the_ports(void **state)
{
	struct env *e = *state;
	void *qpc;

	hw_port(&e->s, port_of(e, 1))->active_mtu = 3;
	qp_to(e, PRM_QP_STATE_INIT);
	b_init2rtr(e);
	qpc = LAYOUT_IN(init2rtr_qp_in, qpc, e->in);
	LAYOUT_SET(qpc, qpc, mtu, 5);
	assert_int_equal(run(e, e->in, IN(init2rtr_qp), OUT(init2rtr_qp)), FW_BAD_PARAM);
	hw_qp(&e->s, e->qp)->st = PRM_ST_UD;
	assert_int_equal(run(e, e->in, IN(init2rtr_qp), OUT(init2rtr_qp)), FW_OK);
}

static void an_ip4_group_is_multicast(void **state)
{
	static const uint8_t group[16] = {[10] = 0xff, 0xff, 239, 1, 2, 3},
			     host[16] = {[10] = 0xff, 0xff, 127, 1, 0, 1};
	struct env *e = *state;

	hw_qp(&e->s, e->qp)->st = PRM_ST_UD;
	b_id(e, PRM_OP_ATTACH_TO_MCG, e->qp);
	memcpy(e->in + 0x10, host, 16);
	assert_int_equal(run(e, e->in, 0x20, 0x10), FW_BAD_PARAM);
	memcpy(e->in + 0x10, group, 16);
	assert_int_equal(run(e, e->in, 0x20, 0x10), FW_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		eth_test(caps_say_ethernet),
		env_test(caps_say_infiniband),
		eth_test(the_vport_has_the_ports_address),
		eth_test(the_multicast_list_has_the_groups_of_each_address),
		eth_test(a_path_names_a_mac_address),
		eth_test(a_foreign_mac_address_leads_nowhere),
		eth_test(a_running_qp_changes_its_source_port),
		eth_test(the_mtu_of_a_ud_qp_may_exceed_the_ports),
		eth_test(an_ip4_group_is_multicast),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
