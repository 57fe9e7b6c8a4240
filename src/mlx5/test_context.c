/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* GET_CONTEXT, QUERY_CONTEXT, EX_QUERY_DEVICE, QUERY_PORT, UARs and mmap offsets. */
#include "fabric/count.h"
#include "fabric/eth.h"
#include "hw/hca.h"
#include "hw/mkey.h"
#include "hw/port.h"
#include "hw/qp_limits.h"
#include "mlx5/test.h"
#include "wire/prm/cmd_hdr.h"

static void test_get_context_answers_libmlx5(void **state)
{
	struct mlx5_ib_alloc_ucontext_req_v2 req = test_request(true);
	struct mlx5_ib_alloc_ucontext_resp r;
	struct test_env *e = *state;
	const struct hw_caps *c = fw_caps(HW_CX6);

	assert_int_equal(test_get_context(e, &req, sizeof(req), &r, sizeof(r)), 0);
	assert_int_equal(r.response_length, 72);
	assert_int_equal(r.bf_reg_size, 0);
	assert_int_equal(r.tot_bfregs, 0);
	assert_int_equal(r.cqe_version, 1);
	assert_int_equal(r.clock_info_versions, 1 << MLX5_IB_CLOCK_INFO_V1);
	assert_int_equal(r.cmds_supp_uhw, 3);
	assert_int_equal(r.log_uar_size, 12);
	assert_int_equal(r.num_uars_per_page, 1);
	assert_int_equal(r.num_ports, TEST_PORTS);
	/* without core clock page and real-time timestamps */
	assert_int_equal(r.comp_mask, MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_DUMP_FILL_MKEY |
					      MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_ECE |
					      MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_SQD2RTS |
					      MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_MKEY_UPDATE_TAG);
	assert_int_equal(r.dump_fill_mkey, HW_KEY_DUMP_FILL);
	assert_int_equal(r.max_send_wqebb, 1 << c->log_max_qp_sz);
	assert_int_equal(r.max_sq_desc_sz, c->max_wqe_sz_sq);
	assert_int_equal(r.cache_line_size, 64);
	assert_int_not_equal(seg_file(&e->seg, e->file)->uid, 0);
}

static void test_get_context_sizes_and_flags(void **state)
{
	struct mlx5_ib_alloc_ucontext_req_v2 good = test_request(true), req;
	struct mlx5_ib_alloc_ucontext_resp r;
	struct test_env *e = *state;

	assert_int_equal(test_get_context(e, &good, 12, &r, sizeof(r)), -EINVAL);
	req = good;
	req.flags |= 2;
	assert_int_equal(test_get_context(e, &req, sizeof(req), &r, sizeof(r)), -EOPNOTSUPP);
	req = good;
	req.comp_mask = 1;
	assert_int_equal(test_get_context(e, &req, sizeof(req), &r, sizeof(r)), -EOPNOTSUPP);
	req = good;
	req.reserved2 = 1;
	assert_int_equal(test_get_context(e, &req, sizeof(req), &r, sizeof(r)), -EOPNOTSUPP);
	req = good;
	req.num_low_latency_bfregs = 16;
	assert_int_equal(test_get_context(e, &req, sizeof(req), &r, sizeof(r)), -EINVAL);

	/* these failures have left nothing behind: the next attempt succeeds */
	assert_int_equal(seg_file(&e->seg, e->file)->uid, 0);
	assert_int_equal(test_get_context(e, &good, sizeof(good), &r, sizeof(r)), 0);
	assert_int_equal(test_get_context(e, &good, sizeof(good), &r, sizeof(r)), -EINVAL);
}

static void test_get_context_answer_may_be_short(void **state)
{
	struct mlx5_ib_alloc_ucontext_req_v2 req = test_request(false);
	struct test_env *e = *state;
	uint8_t r[72];

	memset(r, 0xa5, sizeof(r));
	assert_int_equal(test_get_context(e, &req, sizeof(req), r, 48), 0);
	assert_int_equal(((struct mlx5_ib_alloc_ucontext_resp *)r)->response_length, 48);
	assert_int_equal(r[48], 0xa5);
	assert_int_equal(seg_file(&e->seg, e->file)->uid, 0); /* DEVX was not requested */
}

static void test_unwritable_answer_leaves_nothing(void **state)
{
	struct mlx5_ib_alloc_ucontext_req_v2 req = test_request(true);
	struct mlx5_ib_alloc_ucontext_resp r;
	struct test_env *e = *state;

	assert_int_equal(test_get_context(e, &req, sizeof(req), (void *)8, sizeof(r)), -EFAULT);
	assert_int_equal(seg_file(&e->seg, e->file)->uid, 0);
	assert_int_equal(test_get_context(e, &req, sizeof(req), &r, sizeof(r)), 0);
}

static void test_uids_differ_and_skip_those_in_use(void **state)
{
	struct test_env *e = *state, e2 = *e;
	struct hw_hca *hca = hw_hca(&e->seg, e->hca);
	uint32_t uid;

	test_open_context(e, true);
	uid = seg_file(&e->seg, e->file)->uid;
	/* the counter has wrapped: 0 is no uid, and `uid` is in use */
	atomic_store(&hca->next_uid, 0x10000 | uid);
	e2.file = test_file_new(&e2, &e2.f);
	test_open_context(&e2, true);
	assert_int_not_equal(seg_file(&e->seg, e2.file)->uid, uid);
	assert_int_not_equal(seg_file(&e->seg, e2.file)->uid, 0);
	assert_true(seg_file(&e->seg, e2.file)->uid <= UINT16_MAX);
	uv_release(e2.f, true);
}

static void test_query_context_says_the_same(void **state)
{
	struct mlx5_ib_alloc_ucontext_req_v2 req = test_request(true);
	struct mlx5_ib_alloc_ucontext_resp r, q;
	struct test_env *e = *state;
	uint32_t vectors;
	uint64_t support;
	struct test_call c;

	assert_int_equal(test_get_context(e, &req, sizeof(req), &r, sizeof(r)), 0);
	test_begin(&c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT);
	test_out(&c, UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, &vectors, sizeof(vectors));
	test_out(&c, UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT, &support, sizeof(support));
	test_out(&c, MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX, &q, sizeof(q));
	assert_int_equal(test_do(e, &c), 0);
	assert_memory_equal(&q, &r, sizeof(r));
}

static int query_device(struct test_env *e, struct ib_uverbs_ex_query_device_resp *resp,
			const void *uhw_in, size_t uhw_inlen, void *uhw, size_t len)
{
	const struct ib_uverbs_ex_query_device cmd = {0};
	const struct test_write w = {
		.cmd = IB_USER_VERBS_EX_CMD_QUERY_DEVICE | IB_USER_VERBS_CMD_FLAG_EXTENDED,
		WRITE_IN(cmd),
		WRITE_OUT(*resp),
		.uhw_in = uhw_in,
		.uhw_inlen = uhw_inlen,
		.uhw_out = uhw,
		.uhw_outlen = len,
	};

	return test_write(e, &w);
}

static void test_query_device(void **state)
{
	struct ib_uverbs_ex_query_device_resp resp = {0};
	struct mlx5_ib_query_device_resp uhw = {0};
	const struct hw_caps *c = fw_caps(HW_CX6);
	struct test_env *e = *state;
	const uint64_t zero = 0, one = 1;

	test_open_context(e, true);
	assert_int_equal(query_device(e, &resp, NULL, 0, &uhw, sizeof(uhw)), 0);
	assert_int_equal(resp.base.fw_ver, UINT64_C(20) << 32 | 31 << 16 | 1014);
	assert_int_equal(resp.base.vendor_id, 0x02c9);
	assert_int_equal(resp.base.vendor_part_id, 4123);
	assert_int_equal(resp.base.max_qp, 1 << c->log_max_qp);
	assert_int_equal(resp.base.max_cqe, (1 << c->log_max_cq_sz) - 1);
	assert_int_equal(resp.base.phys_port_cnt, TEST_PORTS);
	assert_int_equal(resp.timestamp_mask, INT64_MAX);
	assert_int_equal(uhw.response_length, 102);
	assert_int_equal(uhw.flags, MLX5_IB_QUERY_DEV_RESP_FLAGS_CQE_128B_PAD |
					    MLX5_IB_QUERY_DEV_RESP_FLAGS_CQE_128B_COMP |
					    MLX5_IB_QUERY_DEV_RESP_FLAGS_SCAT2CQE_DCT);
	assert_int_equal(uhw.cqe_comp_caps.max_num, 32);
	assert_int_equal(uhw.cqe_comp_caps.supported_format,
			 MLX5_IB_CQE_RES_FORMAT_HASH | MLX5_IB_CQE_RES_FORMAT_CSUM |
				 MLX5_IB_CQE_RES_FORMAT_CSUM_STRIDX);
	assert_int_equal(uhw.dci_streams_caps.max_log_num_concurent, HW_LOG_MAX_DCI_STREAMS);
	assert_int_equal(uhw.dci_streams_caps.max_log_num_errored, HW_LOG_MAX_DCI_ERRORED);

	/* parts that do not fit the program's buffer do not count */
	assert_int_equal(query_device(e, &resp, NULL, 0, &uhw, 40), 0);
	assert_int_equal(uhw.response_length, 40);
	assert_int_equal(query_device(e, &resp, NULL, 0, &uhw, 8), 0);
	assert_int_equal(uhw.response_length, 8);
	assert_int_equal(query_device(e, &resp, NULL, 0, &uhw, 4), -EINVAL);
	assert_int_equal(query_device(e, &resp, &zero, 8, &uhw, sizeof(uhw)), 0);
	assert_int_equal(query_device(e, &resp, &one, 8, &uhw, sizeof(uhw)), -EINVAL);
}

static void test_query_port(void **state)
{
	struct ib_uverbs_query_port_resp_ex resp = {0};
	struct test_env *e = *state;
	struct test_call c;
	uint8_t port = 1;

	test_open_context(e, false);
	fab_count(&e->seg, hw_hca(&e->seg, e->hca)->port[0], HW_CTR_QKEY_VIOL, 3);
	fab_count(&e->seg, hw_hca(&e->seg, e->hca)->port[0], HW_CTR_PKEY_VIOL, 2);
	test_begin(&c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT);
	test_attr(&c, UVERBS_ATTR_QUERY_PORT_PORT_NUM, 8, port);
	test_out(&c, UVERBS_ATTR_QUERY_PORT_RESP, &resp, sizeof(resp));
	assert_int_equal(test_do(e, &c), 0);
	assert_int_equal(resp.legacy_resp.state, IBV_PORT_ACTIVE);
	assert_int_equal(resp.legacy_resp.lid, 1);
	assert_int_equal(resp.legacy_resp.max_mtu, IBV_MTU_4096);
	assert_int_equal(resp.legacy_resp.active_speed, 64);
	assert_int_equal(resp.legacy_resp.link_layer, IBV_LINK_LAYER_INFINIBAND);
	assert_int_equal(resp.legacy_resp.gid_tbl_len, HW_IB_GIDS);
	assert_int_equal(resp.legacy_resp.qkey_viol_cntr, 3);
	assert_int_equal(resp.legacy_resp.bad_pkey_cntr, 2);
	assert_int_equal(resp.legacy_resp.subnet_timeout, 18);
	c.attrs[0].data = TEST_PORTS + 1;
	assert_int_equal(test_do(e, &c), -EINVAL);
}

/* As of a card before the subnet manager comes. */
static void a_port_without_link(void **state)
{
	struct ib_uverbs_query_port_resp_ex resp = {0};
	struct test_env *e = *state;
	struct test_call c;
	struct hw_port *p;
	uint8_t port = 1;

	test_open_context(e, false);
	p = hw_port(&e->seg, hw_hca(&e->seg, e->hca)->port[0]);
	p->state = IB_PORT_DOWN;
	p->phys_state = IB_PHYS_POLLING;
	p->lid = p->sm_lid = 0;
	test_begin(&c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT);
	test_attr(&c, UVERBS_ATTR_QUERY_PORT_PORT_NUM, 8, port);
	test_out(&c, UVERBS_ATTR_QUERY_PORT_RESP, &resp, sizeof(resp));
	assert_int_equal(test_do(e, &c), 0);
	assert_int_equal(resp.legacy_resp.lid, 0xffff);
	assert_int_equal(resp.legacy_resp.sm_lid, 0);
	assert_int_equal(resp.legacy_resp.active_width, IB_WIDTH_4X);
	assert_int_equal(resp.legacy_resp.active_speed, 0); /* ucx#9908 */
}

/* mlx5_query_port_roce(). */
static void an_ethernet_port(void **state)
{
	struct ib_uverbs_query_port_resp_ex resp = {0};
	struct ib_uverbs_query_port_resp *r = &resp.legacy_resp;
	struct test_env *e = *state;
	struct test_call c;
	uint8_t port = 1;

	test_open_context(e, false);
	test_begin(&c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT);
	test_attr(&c, UVERBS_ATTR_QUERY_PORT_PORT_NUM, 8, port);
	test_out(&c, UVERBS_ATTR_QUERY_PORT_RESP, &resp, sizeof(resp));
	assert_int_equal(test_do(e, &c), 0);
	assert_int_equal(r->state, IBV_PORT_ACTIVE);
	assert_int_equal(r->phys_state, 5);
	assert_int_equal(r->link_layer, IBV_LINK_LAYER_ETHERNET);
	assert_int_equal(r->port_cap_flags, IBV_PORT_CM_SUP | IBV_PORT_IP_BASED_GIDS);
	assert_int_equal(r->gid_tbl_len, HW_GIDS);
	assert_int_equal(r->pkey_tbl_len, 1);
	assert_int_equal(r->max_mtu, IBV_MTU_4096);
	assert_int_equal(r->active_mtu, IBV_MTU_4096);
	assert_int_equal(r->lid | r->sm_lid | r->lmc | r->max_vl_num | r->subnet_timeout, 0);
	fab_eth_link(&e->seg, hw_hca(&e->seg, e->hca)->port[0], false);
	assert_int_equal(test_do(e, &c), 0);
	assert_int_equal(r->state, IBV_PORT_DOWN);
	assert_int_equal(r->phys_state, 3);
	assert_int_equal(r->lid, 0);
	assert_int_equal(r->active_width, IB_WIDTH_4X);
	assert_int_equal(r->active_speed, IB_SPEED_QDR);
}

static void test_mlx5_query_port(void **state)
{
	struct mlx5_ib_uapi_query_port info;
	struct test_env *e = *state;
	struct test_call c;
	uint32_t port = 2;

	memset(&info, 0xa5, sizeof(info));
	test_open_context(e, false);
	test_begin(&c, UVERBS_OBJECT_DEVICE, MLX5_IB_METHOD_QUERY_PORT);
	test_in(&c, MLX5_IB_ATTR_QUERY_PORT_PORT_NUM, &port, sizeof(port));
	test_out(&c, MLX5_IB_ATTR_QUERY_PORT, &info, sizeof(info));
	assert_int_equal(test_do(e, &c), 0);
	assert_int_equal(info.flags, 0);
	c.attrs[0].data = 3;
	assert_int_equal(test_do(e, &c), -EINVAL);
}

/* ---- UARs */

static int map(struct test_env *e, size_t len, int prot, int flags, uint64_t off)
{
	int err = 0;

	uv_mmap(e->f, NULL, len, prot, flags, (off_t)off, &err);
	return err;
}

#define RW (PROT_READ | PROT_WRITE)

static void test_uar_pages_and_offsets(void **state)
{
	struct test_env *e = *state;
	uint64_t off, off2, offs[300];
	uint32_t page, page2, h, h2;

	test_open_context(e, false);
	assert_int_equal(test_uar_alloc(e, 1, &off, &page, &h), 0);
	assert_int_equal(test_uar_alloc(e, 0, &off2, &page2, &h2), 0);
	assert_int_not_equal(page, 0);
	assert_int_not_equal(page, page2);
	/* dynamic UARs have commands from 9 on; the index is below and above the command's byte */
	assert_int_equal(off, UINT64_C(0x900) << 12);
	assert_int_equal(off2, UINT64_C(0x901) << 12);
	for (int i = 2; i < 300; i++)
		assert_int_equal(test_uar_alloc(e, 1, &offs[i], &page, &h), 0);
	assert_int_equal(offs[255], UINT64_C(0x9ff) << 12);
	assert_int_equal(offs[256], UINT64_C(0x10900) << 12);
	assert_int_equal(test_uar_alloc(e, 2, &off, &page, &h), -EOPNOTSUPP);
	assert_int_equal(test_owned(e, SEG_T_UAR), 300);

	assert_int_equal(map(e, 4096, RW, MAP_SHARED, offs[256]), 0);
	assert_int_equal(test_map.calls, 1);
}

static void test_mmap_refuses_as_the_kernel(void **state)
{
	struct test_env *e = *state;
	uint32_t page, h;
	uint64_t off;

	assert_int_equal(map(e, 4096, RW, MAP_SHARED, UINT64_C(0x900) << 12), -EINVAL);
	test_open_context(e, false);
	assert_int_equal(test_uar_alloc(e, 1, &off, &page, &h), 0);
	assert_int_equal(map(e, 8192, RW, MAP_SHARED, off), -EINVAL);
	assert_int_equal(map(e, 4096, RW, MAP_PRIVATE, off), -EINVAL);
	assert_int_equal(map(e, 4096, RW, MAP_SHARED, off + 4096), -EINVAL);
	assert_int_equal(map(e, 4096, RW, MAP_SHARED, off | UINT64_C(1) << 45), -EINVAL);
	for (unsigned int cmd = 0; cmd < 9; cmd++) {
		int want = cmd == 1 ? -ENOSYS : cmd == 5 || cmd == 7 ? -EPERM : -EINVAL;

		assert_int_equal(map(e, 4096, RW, MAP_SHARED, (uint64_t)cmd << 20), want);
	}
	assert_int_equal(map(e, 4096, PROT_READ, MAP_SHARED, UINT64_C(5) << 20), -EOPNOTSUPP);
	assert_int_equal(map(e, 8192, PROT_READ, MAP_SHARED, UINT64_C(5) << 20), -EINVAL);
	assert_int_equal(map(e, 4096, PROT_READ, MAP_PRIVATE, UINT64_C(7) << 20), -EINVAL);
	assert_int_equal(test_map.calls, 0);
	assert_int_equal(map(e, 4096, RW, MAP_SHARED, off), 0);
	assert_int_equal(test_map.uar, page);
}

static void test_a_mapped_uar_outlives_its_handle(void **state)
{
	struct test_env *e = *state;
	uint32_t page, page2, h, h2;
	uint64_t off, off2;

	test_open_context(e, false);
	assert_int_equal(test_uar_alloc(e, 1, &off, &page, &h), 0);
	assert_int_equal(map(e, 4096, RW, MAP_SHARED, off), 0);
	assert_int_equal(test_uar_destroy(e, h), 0);
	assert_int_equal(test_owned(e, SEG_T_UAR), 1);
	assert_int_equal(map(e, 4096, RW, MAP_SHARED, off), -EINVAL);
	/* no other UAR gets its offset while it is mapped */
	assert_int_equal(test_uar_alloc(e, 1, &off2, &page2, &h2), 0);
	assert_int_not_equal(off2, off);
	/* unmapped: freed when the next UAR is made or destroyed */
	test_map.mapped = false;
	assert_int_equal(test_uar_destroy(e, h2), 0);
	assert_int_equal(test_owned(e, SEG_T_UAR), 0);
	assert_int_equal(test_uar_alloc(e, 1, &off2, &page2, &h2), 0);
	assert_int_equal(off2, off);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, test_setup, test_teardown)
	const struct CMUnitTest tests[] = {
		T(test_get_context_answers_libmlx5),
		T(test_get_context_sizes_and_flags),
		T(test_get_context_answer_may_be_short),
		T(test_unwritable_answer_leaves_nothing),
		T(test_uids_differ_and_skip_those_in_use),
		T(test_query_context_says_the_same),
		T(test_query_device),
		T(test_query_port),
		T(a_port_without_link),
		cmocka_unit_test_setup_teardown(an_ethernet_port, test_setup_eth, test_teardown),
		T(test_mlx5_query_port),
		T(test_uar_pages_and_offsets),
		T(test_mmap_refuses_as_the_kernel),
		T(test_a_mapped_uar_outlives_its_handle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
