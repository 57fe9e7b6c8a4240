/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Address handles and paths of QPs on Ethernet ports: sources, and MAC addresses behind GIDs. */
#include "uverbs/test.h"
#include "util/bits.h"

static const uint8_t local[16] = {0xfe, 0x80, [8] = 0x58, 0x17, 0xca, 0xff, 0xfe, 1, 2, 3},
		     host4[16] = {[10] = 0xff, 0xff, 10, 0, 0, 7},
		     nobody4[16] = {[10] = 0xff, 0xff, 10, 0, 0, 8},
		     group4[16] = {[10] = 0xff, 0xff, 239, 0x81, 2, 3},
		     group6[16] = {0xff, 0x0e, [12] = 0xa, 0xb, 0xc, 0xd};
/* No MAC address behind a link-local GID, as its prefix is longer than fe80::/64. */
static const uint8_t not_local[16] = {0xfe, 0x80, [7] = 1, [15] = 1};

/* Entries 0 to 3 as on a fresh port. */
static int roce_gid(struct seg *s, uint32_t hca, uint32_t port, uint32_t index, struct uv_gid *gid)
{
	*gid = (struct uv_gid){.type = index % 2 ? IBV_GID_TYPE_ROCE_V2 : IBV_GID_TYPE_ROCE_V1,
			       .ifindex = 77};
	if (index < 4)
		memcpy(gid->raw, index < 2 ? local : host4, 16);
	return 0;
}

static int asked; /* questions to the neighbour table */

static int neighbour(struct seg *s, uint32_t hca, uint32_t port, const uint8_t dgid[16],
		     uint8_t mac[6], uint8_t *hop_limit)
{
	asked++;
	*hop_limit = 64;
	if (!memcmp(dgid, nobody4, 16))
		return -ETIMEDOUT;
	if (!memcmp(dgid, not_local, 16))
		return -ENETUNREACH;
	memcpy(mac, "\x02\0\0\0\0\x09", 6);
	return 0;
}

static void roce_device(struct seg *s, uint32_t hca, struct uv_device *d)
{
	*d = (struct uv_device){FAKE_PORTS, FAKE_VECTORS, FAKE_GIDS, 1, true};
}

static uint8_t ah_dmac[6];

static int take_dmac(struct uv_ah *ah, struct uv_udata *u)
{
	memcpy(ah_dmac, ah->dmac, 6);
	return 0;
}

static int setup(void **state)
{
	struct uv_driver d = fake_driver;

	d.query_gid = roce_gid;
	d.find_neighbour = neighbour;
	d.get_device = roce_device;
	d.create_ah = take_dmac;
	asked = 0;
	return env_setup_driver(state, &d) || env_make_context();
}

static void is_mac(const uint8_t *mac, uint64_t want)
{
	assert_int_equal((uint64_t)be16_load(mac) << 32 | be32_load(mac + 2), want);
}

static int resolve(uint32_t sgid, const uint8_t dgid[16], uint8_t mac[6], uint8_t *hop)
{
	memset(mac, 0, 6);
	*hop = 3;
	return uv_av_resolve(env->f, 1, sgid, dgid, mac, hop);
}

static void sources(void **state)
{
	assert_int_equal(uv_av_check(env->f, 1, false, 0), -EINVAL);
	assert_int_equal(uv_av_check(env->f, 1, true, 3), 0);
	assert_int_equal(uv_av_check(env->f, 1, true, 4), -ENODATA);
	assert_int_equal(uv_av_check(env->f, 1, true, FAKE_GIDS), -EINVAL);
	assert_int_equal(uv_av_check(env->f, FAKE_PORTS + 1, true, 0), -EINVAL);
}

static void on_infiniband_an_address_needs_no_gid(void **state)
{
	assert_int_equal(uv_av_check(env->f, 1, false, 0), 0);
	assert_int_equal(uv_av_check(env->f, 1, true, 0), 0);
	assert_int_equal(uv_av_check(env->f, 1, true, 1), -ENODATA);
}

/* rdma_get_ll_mac(), for RoCE v1 alone; the hop limit stays the program's. */
static void link_local_addresses(void **state)
{
	uint8_t mac[6], hop;

	assert_int_equal(resolve(0, local, mac, &hop), 0);
	is_mac(mac, 0x5a17ca010203);
	assert_int_equal(hop, 3);
	assert_int_equal(asked, 0);
	assert_int_equal(resolve(0, not_local, mac, &hop), -ENETUNREACH);
	assert_int_equal(asked, 1);
	assert_int_equal(resolve(1, local, mac, &hop), 0);
	is_mac(mac, 0x020000000009);
	assert_int_equal(hop, 64);
	assert_int_equal(asked, 2);
}

static void ip4_addresses(void **state)
{
	uint8_t mac[6], hop;

	assert_int_equal(resolve(3, host4, mac, &hop), 0);
	is_mac(mac, 0x020000000009);
	assert_int_equal(hop, 64);
	assert_int_equal(resolve(2, host4, mac, &hop), 0); /* RoCE v1 asks, too */
	assert_int_equal(asked, 2);
	assert_int_equal(resolve(3, nobody4, mac, &hop), -ETIMEDOUT);
	assert_int_equal(asked, 3);
	assert_int_equal(resolve(3, local, mac, &hop), -EINVAL);
	assert_int_equal(resolve(1, host4, mac, &hop), -EINVAL);
	assert_int_equal(asked, 3);
}

static void groups(void **state)
{
	uint8_t mac[6], hop;

	assert_int_equal(resolve(0, group6, mac, &hop), 0);
	is_mac(mac, 0x33330a0b0c0d);
	assert_int_equal(resolve(3, group4, mac, &hop), 0);
	is_mac(mac, 0x01005e010203);
	assert_int_equal(resolve(3, group6, mac, &hop), 0); /* before the families are compared */
	assert_int_equal(hop, 3);
	assert_int_equal(asked, 0);
}

static void the_driver_gets_an_address_handles_mac_address(void **state)
{
	struct ib_uverbs_create_ah req = {.pd_handle = make_pd(),
					  .attr = {.port_num = 1, .is_global = 1}};
	struct ib_uverbs_create_ah_resp resp;

	memcpy(req.attr.grh.dgid, local, 16);
	assert_int_equal(COMMAND(CREATE_AH, req, resp), 0);
	is_mac(ah_dmac, 0x5a17ca010203);
	req.attr.grh.sgid_index = 3;
	memcpy(req.attr.grh.dgid, nobody4, 16);
	assert_int_equal(COMMAND(CREATE_AH, req, resp), -ETIMEDOUT);
	req.attr.is_global = 0;
	assert_int_equal(COMMAND(CREATE_AH, req, resp), -EINVAL);
}

static struct ib_uverbs_modify_qp to_rtr(uint32_t qp, uint32_t more)
{
	struct ib_uverbs_modify_qp m = {
		.attr_mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			     IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER |
			     more,
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.qp_handle = qp,
		.dest = {.port_num = 1, .is_global = 1, .sgid_index = 1, .hop_limit = 9},
		.alt_dest = {.port_num = 1, .is_global = 1},
		.alt_port_num = 1,
	};

	memcpy(m.dest.dgid, local, 16);
	the_qp(qp)->port = 1;
	the_qp(qp)->state = IBV_QPS_INIT;
	return m;
}

static void connected_qps_have_a_mac_address(void **state)
{
	uint32_t pd = make_pd(), cq = make_cq(NULL, -1, 0);
	struct ib_uverbs_modify_qp m = to_rtr(make_qp(pd, cq, cq, IBV_QPT_RC), 0);

	assert_int_equal(COMMAND_IN(MODIFY_QP, m), 0);
	is_mac(env->modify.dmac, 0x020000000009);
	assert_int_equal(env->modify.attr.ah_attr.grh.hop_limit, 64);
	assert_int_equal(asked, 1);
	m = to_rtr(m.qp_handle, 0);
	m.dest.is_global = 0;
	assert_int_equal(COMMAND_IN(MODIFY_QP, m), -EINVAL);
	assert_int_equal(asked, 1);
}

static void ethernet_has_no_alternate_paths(void **state)
{
	uint32_t pd = make_pd(), cq = make_cq(NULL, -1, 0);
	struct ib_uverbs_modify_qp m = to_rtr(make_qp(pd, cq, cq, IBV_QPT_RC), IBV_QP_ALT_PATH);

	assert_int_equal(COMMAND_IN(MODIFY_QP, m), -EINVAL);
	m.alt_dest.sgid_index = 5; /* its source is looked up before */
	assert_int_equal(COMMAND_IN(MODIFY_QP, m), -ENODATA);
}

static void entries_have_a_type_and_an_interface(void **state)
{
	struct ib_uverbs_gid_entry e;
	struct call c;

	call_begin(&c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_ENTRY);
	call_const(&c, UVERBS_ATTR_QUERY_GID_ENTRY_PORT, 2);
	call_const(&c, UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, 3);
	call_const(&c, UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, 0);
	call_out(&c, UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, &e, sizeof(e));
	assert_int_equal(call_run(&c), 0);
	assert_int_equal(e.gid_type, IBV_GID_TYPE_ROCE_V2);
	assert_int_equal(e.netdev_ifindex, 77);
	assert_int_equal(e.gid_index, 3);
	assert_int_equal(e.port_num, 2);
	assert_memory_equal(e.gid, host4, 16);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, env_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(sources),
		cmocka_unit_test_setup_teardown(on_infiniband_an_address_needs_no_gid,
						env_setup_context, env_teardown),
		T(link_local_addresses),
		T(ip4_addresses),
		T(groups),
		T(the_driver_gets_an_address_handles_mac_address),
		T(connected_qps_have_a_mac_address),
		T(ethernet_has_no_alternate_paths),
		T(entries_have_a_type_and_an_interface),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
