// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Framing; the commands of connections, options, queries and groups: as ucma.c of the kernel. */
#include "cma/test_dev.h"

/* ---- framing */

static void test_frame(void **state)
{
	uint8_t buf[UCMA_IN_MAX] = {0};
	struct ucma_call k = {.file = F1, .count = 7, .len = 7};
	struct rdma_ucm_cmd_hdr h = {.cmd = RDMA_USER_CM_CMD_LISTEN, .in = 8};

	IS(cma_write(c, &k, buf, NULL, answer, &answered), -EINVAL);
	k.count = 16;
	IS(cma_write(c, &k, buf, NULL, answer, &answered), -EFAULT);
	k.len = 16;
	h.in = 9;
	memcpy(buf, &h, 8);
	IS(cma_write(c, &k, buf, NULL, answer, &answered), -EINVAL);
	h.in = 8;
	h.cmd = RDMA_USER_CM_CMD_JOIN_MCAST + 1;
	memcpy(buf, &h, 8);
	IS(cma_write(c, &k, buf, NULL, answer, &answered), -EINVAL);
	/* The lengths are checked before a missing handler is noticed. */
	h.cmd = RDMA_USER_CM_CMD_GET_OPTION;
	memcpy(buf, &h, 8);
	IS(cma_write(c, &k, buf, NULL, answer, &answered), -ENOSYS);
	k.count = 15;
	IS(cma_write(c, &k, buf, NULL, answer, &answered), -EINVAL);
	k.file = 9;
	IS(cma_write(c, &k, buf, NULL, answer, &answered), -EBADF);
}

static void test_rows(void **state)
{
	IS(ucma_nrows, RDMA_USER_CM_CMD_JOIN_MCAST + 1);
	IS(ucma_rows[RDMA_USER_CM_CMD_CONNECT].in_min, 280);
	IS(ucma_rows[RDMA_USER_CM_CMD_ACCEPT].in_min, 288);
	for (uint32_t i = 0; i < ucma_nrows; i++) {
		struct rdma_ucm_cmd_hdr h = {.cmd = i};
		const struct ucma_row *row = ucma_row_of(&h, sizeof(h));

		if (i == RDMA_USER_CM_CMD_GET_OPTION) {
			assert_null(row);
			continue;
		}
		assert_ptr_equal(row, &ucma_rows[i]);
		assert_non_null(row->name);
		assert_true(row->in && row->in + sizeof(h) <= UCMA_IN_MAX);
		assert_true(row->out <= UCMA_OUT_MAX && row->in_min <= row->in);
		assert_true(!row->out || row->response + 8u <= row->in);
		assert_null(ucma_row_of(&h, sizeof(h) - 1));
	}
}

/*
 * Each command: a struct whose last byte cannot be read is -EFAULT, also where in_len says that
 * there is less of it; room for an answer that is too short is -ENOSPC, before the struct is read.
 */
static void test_short_and_faulting(void **state)
{
	static const uint8_t zero[512];
	static const struct {
		uint32_t cmd;
		uint16_t room;
	} rooms[] = {
		{RDMA_USER_CM_CMD_CREATE_ID, 4},   {RDMA_USER_CM_CMD_DESTROY_ID, 4},
		{RDMA_USER_CM_CMD_LEAVE_MCAST, 4}, {RDMA_USER_CM_CMD_QUERY_ROUTE, 200},
		{RDMA_USER_CM_CMD_GET_EVENT, 324}, {RDMA_USER_CM_CMD_INIT_QP_ATTR, 144},
	};

	for (uint32_t i = 0; i < ucma_nrows; i++) {
		const struct ucma_row *row = &ucma_rows[i];

		if (!row->name)
			continue;
		IS(call_as(&(struct how){.cut = 1}, i, zero, row->in, 512), -EFAULT);
		IS(answered, 0);
		if (row->in_min)
			IS(call_as(&(struct how){.in = row->in_min - 1u}, i, zero, row->in, 512),
			   -EINVAL);
		else
			IS(call_as(&(struct how){.in = UINT32_MAX, .cut = 1}, i, zero, row->in,
				   512),
			   -EFAULT);
	}
	for (size_t i = 0; i < sizeof(rooms) / sizeof(rooms[0]); i++) {
		IS(call_as(&(struct how){.cut = 1}, rooms[i].cmd, zero, ucma_rows[rooms[i].cmd].in,
			   rooms[i].room - 1u),
		   -ENOSPC);
		IS(call_as(&(struct how){.cut = 1}, rooms[i].cmd, zero, ucma_rows[rooms[i].cmd].in,
			   rooms[i].room),
		   -EFAULT);
	}
	assert_int_equal(c->nids, 0);
}

/* A wrong id is found before the handler looks at anything else. */
static void test_unknown_and_foreign_ids(void **state)
{
	struct rdma_ucm_listen listen = {.id = 3};
	struct rdma_ucm_disconnect disconnect = {.id = 3};
	uint32_t id = make_in(F2, RDMA_PS_TCP);

	IS(id, 0);
	IS(CALL(LISTEN, listen, 0), -ENOENT);
	IS(CALL(DISCONNECT, disconnect, 0), -ENOENT);
	IS(destroy_in(F1, 3), -ENOENT);
	listen.id = disconnect.id = id;
	IS(CALL(LISTEN, listen, 0), -EINVAL);
	IS(CALL(DISCONNECT, disconnect, 0), -EINVAL);
	IS(destroy_in(F1, id), -EINVAL);
	/* It has no adapter. */
	IS(CALL_AS(HOW(.file = F2), DISCONNECT, disconnect, 0), -EINVAL);
	IS(CALL_AS(HOW(.file = F2), LISTEN, listen, 0), 0);
	/* Another host has numbers of its own. */
	IS(make_in(F3, RDMA_PS_TCP), 0);
	IS(newest()->host, c->other_host);
	IS(newest()->pid, 79);
	assert_string_equal(newest()->comm, "far");
}

/* ---- connections */

static void test_connect(void **state)
{
	struct rdma_ucm_connect cmd = {.conn_param = {.qp_num = 0xff123456,
						      .qkey = 5,
						      .private_data_len = 255,
						      .srq = 1,
						      .responder_resources = 2,
						      .initiator_depth = 3,
						      .flow_control = 4,
						      .retry_count = 5,
						      .rnr_retry_count = 6},
				       .ece = {.vendor_id = 7, .attr_mod = 8}};
	const struct how old = {.in = 280}, cut = {.in = 287, .cut = 1},
			 less = {.in = 280, .cut = 9};

	memset(cmd.conn_param.private_data, 0x77, 256);
	cmd.id = make();
	IS(CALL(CONNECT, cmd, 0), -EINVAL); /* not valid */
	cmd.conn_param.valid = 1;
	IS(CALL(CONNECT, cmd, 0), -EINVAL); /* no adapter */
	bind_id(cmd.id);
	IS(CALL(CONNECT, cmd, 0), 0);
	IS(c->last.param.qpn, 0x123456);
	IS(c->last.param.qkey, 0);
	IS(c->last.param.len, 255);
	IS(c->last.data[254], 0x77);
	IS(c->last.param.srq, 1);
	IS(c->last.param.responder_resources, 2);
	IS(c->last.param.initiator_depth, 3);
	IS(c->last.param.flow_control, 4);
	IS(c->last.param.retry_count, 5);
	IS(c->last.param.rnr_retry_count, 6);
	IS(c->last.ece.vendor_id, 7);
	IS(c->last.ece.attr_mod, 8);
	IS(call_as(&old, RDMA_USER_CM_CMD_CONNECT, &cmd, sizeof(cmd), 0), 0);
	IS(c->last.ece.vendor_id, 0);
	IS(call_as(&cut, RDMA_USER_CM_CMD_CONNECT, &cmd, sizeof(cmd), 0), 0);
	IS(c->last.ece.vendor_id, 0);
	IS(call_as(&less, RDMA_USER_CM_CMD_CONNECT, &cmd, sizeof(cmd), 0), -EFAULT);
	newest()->src.sa.sa_family = AF_IB;
	c->err = -EINVAL;
	IS(CALL(CONNECT, cmd, 0), -EINVAL);
	IS(c->last.param.qkey, 5);
}

static void test_accept_reject_disconnect_notify(void **state)
{
	uint32_t id = make_bound();
	struct rdma_ucm_accept acc = {.id = id, .uid = 5, .ece = {.vendor_id = 3}};
	struct rdma_ucm_reject rej = {.id = id, .private_data_len = 255};
	struct rdma_ucm_disconnect dis = {.id = id};
	struct rdma_ucm_notify note = {.id = id, .event = IBV_EVENT_COMM_EST};
	struct rdma_ucm_event_resp e;

	IS(CALL(ACCEPT, acc, 0), 0);
	assert_false(c->last.has_param);
	IS(c->last.ece.vendor_id, 3);
	tell(newest(), RDMA_CM_EVENT_ESTABLISHED);
	IS(get(&e), 0);
	assert_true(e.uid == UID); /* only ACCEPT with parameters sets it */
	IS(call_as(&(struct how){.in = 288}, RDMA_USER_CM_CMD_ACCEPT, &acc, sizeof(acc), 0), 0);
	IS(c->last.ece.vendor_id, 0);

	IS(CALL(REJECT, rej, 0), 0);
	IS(c->last.n, 28);
	IS(c->last.param.len, 255);
	rej.reason = 35;
	IS(CALL(REJECT, rej, 0), 0);
	IS(c->last.n, 35);
	rej.reason = 27;
	rej.id = 9; /* the reason is checked before the id */
	IS(CALL(REJECT, rej, 0), -EINVAL);
	rej.reason = 28;
	IS(CALL(REJECT, rej, 0), -ENOENT);
	c->err = -EINVAL;
	IS(CALL(DISCONNECT, dis, 0), -EINVAL);
	IS(CALL(DISCONNECT, dis, 0), 0);
	IS(CALL(NOTIFY, note, 0), 0);
	IS(c->last.n, IBV_EVENT_COMM_EST);
	note.id = dis.id = make();
	IS(CALL(NOTIFY, note, 0), -EINVAL);
	IS(CALL(DISCONNECT, dis, 0), -EINVAL);
}

/* ---- options */

static int option(uint32_t id, uint32_t level, uint32_t name, const void *v, uint32_t len)
{
	struct rdma_ucm_set_option cmd = {.id = id, .level = level, .optname = name, .optlen = len};
	uint32_t n = len < UCMA_AUX_MAX ? len : UCMA_AUX_MAX;
	void *copy = malloc(n + 1);
	int err;

	if (v)
		memcpy(copy, v, n);
	err = CALL_AS(HOW(.aux = copy, .aux_len = v ? n : 0, .aux_err = v ? 0 : -EFAULT),
		      SET_OPTION, cmd, 0);
	free(copy);
	return err;
}

static void test_options(void **state)
{
	uint32_t id = make();
	int two = 2;

	IS(option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, "\x21", 1), 0);
	assert_string_equal(c->last.name, "tos");
	IS(c->last.n, 0x21);
	IS(option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &two, 4), 0);
	IS(c->last.n, 1);
	assert_string_equal(c->last.name, "reuseaddr");
	IS(option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &two, 4), 0);
	assert_string_equal(c->last.name, "afonly");
	IS(option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, "\x13", 1), 0);
	assert_string_equal(c->last.name, "ack_timeout");
	IS(c->last.n, 0x13);
	c->err = -EINVAL;
	IS(option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &two, 4), -EINVAL);
	IS(option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &two, 4), -EINVAL);
	IS(option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &two, 0), -EINVAL);
	IS(option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, NULL, 0), -EINVAL);
	IS(option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &two, 1), -EINVAL);
	IS(option(id, RDMA_OPTION_ID, 4, &two, 1), -ENOSYS);
	IS(option(id, RDMA_OPTION_IB, 0, &two, 1), -ENOSYS);
	IS(option(id, 2, RDMA_OPTION_ID_TOS, &two, 1), -ENOSYS);
	IS(option(id, 2, 0, NULL, 1), -EFAULT);
	IS(option(8, 2, 0, NULL, 1), -ENOENT);
	IS(option(8, 2, 0, NULL, (4u << 20) + 1), -EINVAL);
}

static void test_option_path(void **state)
{
	struct ib_path_rec_data rec[20] = {0};
	const struct cm_path p = {.dlid = 7, .slid = 8, .pkey = 0xffff, .sl = 3, .mtu = 5};
	struct rdma_ucm_event_resp e;
	uint32_t id = make();

	rec[0].flags = IB_PATH_GMP | IB_PATH_PRIMARY;
	rec[1].flags = IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL;
	dev_path_pack(&p, rec[1].path_rec);
	IS(option(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, rec, sizeof(rec)), -EINVAL);
	bind_id(id);
	IS(option(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, rec, 0), -EINVAL);
	IS(option(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, rec, 71), -EINVAL);
	IS(option(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, rec, 72), -EINVAL);
	c->err = -EINVAL;
	IS(option(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, rec, 144), -EINVAL);
	IS(get(&e), -EAGAIN);
	IS(option(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, rec, sizeof(rec)), 0);
	assert_string_equal(c->last.name, "path");
	assert_memory_equal(&c->last.path, &p, sizeof(p));
	IS(get(&e), 0);
	IS(e.event, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

/* ---- queries */

static const struct cm_path a_path = {
	.sgid = {1},
	.dgid = {2},
	.service_id = 0x1000000000000002,
	.slid = 0x11,
	.dlid = 0x22,
	.pkey = 0x8001,
	.sl = 3,
	.mtu = 5,
	.rate = 16,
	.packet_life_time = 18,
	.hop_limit = 64,
	.traffic_class = 9,
	.flow_label = 0x12345,
	.qos_class = 0x123,
	.reversible = true,
	.numb_path = 4,
	.preference = 6,
};

static void test_query_route(void **state)
{
	struct rdma_ucm_query cmd = {.id = make()};
	struct rdma_ucm_query_route_resp r;
	struct sockaddr_in a = in4(7000);

	IS(CALL(QUERY_ROUTE, cmd, sizeof(r)), 0);
	IS(answered, sizeof(r));
	for (size_t i = 0; i < sizeof(r); i++)
		IS(answer[i], 0);
	bind_id(cmd.id);
	IS(CALL(QUERY_ROUTE, cmd, 200), 0);
	IS(answered, 200);
	IS(CALL(QUERY_ROUTE, cmd, 500), 0);
	memcpy(&r, answer, sizeof(r));
	assert_true(r.node_guid == htobe64(0x1122334455667700));
	IS(r.port_num, 1);
	IS(r.ibdev_index, 0);
	IS(r.num_paths, 0);
	IS(r.ib_route[0].sgid[0], 0x51);
	IS(r.ib_route[0].dgid[0], 0xd1);
	IS(r.ib_route[0].pkey, htobe16(0x8001));
	assert_memory_equal(&r.src_addr, &a, sizeof(a));
	newest()->npaths = 2;
	newest()->path[0] = newest()->path[1] = a_path;
	newest()->path[1].sl = 1;
	newest()->port = c->port[1];
	IS(CALL(QUERY_ROUTE, cmd, 500), 0);
	memcpy(&r, answer, sizeof(r));
	IS(r.ibdev_index, 1);
	IS(r.num_paths, 2);
	IS(r.ib_route[0].dlid, htobe16(0x22));
	IS(r.ib_route[0].slid, htobe16(0x11));
	IS(r.ib_route[0].pkey, htobe16(0x8001));
	IS(r.ib_route[0].flow_label, htobe32(0x12345));
	IS(r.ib_route[0].mtu, 5);
	IS(r.ib_route[0].rate, 16);
	IS(r.ib_route[0].reversible, 1);
	IS(r.ib_route[0].packet_life_time, 18);
	IS(r.ib_route[1].sl, 1);
	IS(CALL_AS(HOW(.no_response = true), QUERY_ROUTE, cmd, 500), -EFAULT);
}

static void test_query_addr_and_gid(void **state)
{
	struct rdma_ucm_query cmd = {.id = make(), .option = RDMA_USER_CM_QUERY_ADDR};
	struct rdma_ucm_query_addr_resp r;
	struct sockaddr_in a = in4(7000);
	uint64_t sid;

	IS(CALL(QUERY, cmd, 271), -ENOSPC);
	IS(CALL(QUERY, cmd, 272), 0);
	IS(answered, 272);
	memcpy(&r, answer, 272);
	IS(r.src_size, 0);
	IS(r.port_num, 0);
	bind_id(cmd.id);
	IS(CALL(QUERY, cmd, 512), 0);
	IS(answered, sizeof(r));
	memcpy(&r, answer, sizeof(r));
	IS(r.src_size, 16);
	IS(r.dst_size, 0);
	IS(r.pkey, htobe16(0x8001));
	IS(r.port_num, 1);
	assert_memory_equal(&r.src_addr, &a, sizeof(a));

	cmd.option = RDMA_USER_CM_QUERY_GID;
	IS(CALL(QUERY, cmd, 271), -ENOSPC);
	IS(CALL(QUERY, cmd, 512), 0);
	memcpy(&r, answer, sizeof(r));
	IS(r.src_size, 48);
	IS(r.src_addr.ss_family, AF_IB);
	IS(((uint8_t *)&r.src_addr)[8], 0x51);
	IS(((uint8_t *)&r.dst_addr)[8], 0xd1);
	memcpy(&sid, (uint8_t *)&r.src_addr + 24, 8);
	assert_true(sid == htobe64((UINT64_C(0x106) << 16) + 7000));
	newest()->dst.sa.sa_family = AF_IB;
	IS(CALL(QUERY, cmd, 512), 0);
	memcpy(&r, answer, sizeof(r));
	IS(((uint8_t *)&r.dst_addr)[8], 0);
	cmd.option = 3;
	IS(CALL(QUERY, cmd, 512), -ENOSYS);
	cmd.id = 9;
	IS(CALL(QUERY, cmd, 512), -ENOENT);
}

static void test_query_path(void **state)
{
	struct rdma_ucm_query cmd = {.id = make(), .option = RDMA_USER_CM_QUERY_PATH};
	struct ib_path_rec_data rec;
	struct cm_path back;

	IS(CALL(QUERY, cmd, 7), -ENOSPC);
	IS(CALL(QUERY, cmd, 8), 0);
	IS(answered, 8);
	newest()->npaths = 2;
	newest()->path[0] = newest()->path[1] = a_path;
	IS(CALL(QUERY, cmd, 8 + 71), 0);
	IS(answered, 8);
	IS(answer[0], 2);
	IS(CALL(QUERY, cmd, 8 + 72), 0);
	IS(answered, 8 + 72);
	IS(CALL(QUERY, cmd, 512), 0);
	IS(answered, 8 + 144);
	memcpy(&rec, answer + 8, sizeof(rec));
	IS(rec.flags, 1 + 2 + 8 + 32);
	IS(LAYOUT_GET(path_record, rec.path_rec, dlid), 0x22);
	IS(LAYOUT_GET(path_record, rec.path_rec, mtu_selector), 2);
	dev_path_unpack(rec.path_rec, &back);
	assert_memory_equal(&back, &a_path, sizeof(back));
	IS(CALL_AS(HOW(.no_response = true), QUERY, cmd, 512), -EFAULT);
}

static void test_init_qp_attr(void **state)
{
	struct rdma_ucm_init_qp_attr cmd = {.id = make(), .qp_state = IBV_QPS_RTR};
	struct ib_uverbs_qp_attr r;

	IS(CALL(INIT_QP_ATTR, cmd, 144), -EINVAL);
	bind_id(cmd.id);
	c->qp_attr = (struct cm_qp_attr){.mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_ALT_PATH,
					 .path = a_path,
					 .alt = a_path,
					 .grh = false,
					 .path_src_bits = 1,
					 .alt_port_num = 2,
					 .alt_pkey_index = 3,
					 .pkey_index = 4,
					 .path_mtu = 5,
					 .dest_qpn = 0x123,
					 .rq_psn = 6,
					 .sq_psn = 7,
					 .qkey = 8,
					 .access = 9,
					 .max_rd_atomic = 10,
					 .max_dest_rd_atomic = 11,
					 .min_rnr_timer = 12,
					 .timeout = 14,
					 .retry_cnt = 15,
					 .rnr_retry = 16,
					 .alt_timeout = 17,
					 .path_mig_state = 1};
	memcpy(c->qp_attr.alt.sgid, hw_port(&c->s, c->port[0])->gid[1], 16);
	c->err = -EINVAL;
	IS(CALL(INIT_QP_ATTR, cmd, 144), -EINVAL);
	IS(answered, 0);
	IS(CALL(INIT_QP_ATTR, cmd, 144), 0);
	IS(c->last.n, IBV_QPS_RTR);
	memcpy(&r, answer, sizeof(r));
	IS(r.qp_attr_mask, c->qp_attr.mask);
	IS(r.qp_state, IBV_QPS_RTR);
	IS(r.ah_attr.dlid, 0x22);
	IS(r.ah_attr.src_path_bits, 1);
	IS(r.ah_attr.static_rate, 16);
	IS(r.ah_attr.port_num, 1);
	IS(r.ah_attr.is_global, 0);
	IS(r.alt_ah_attr.is_global, 1);
	IS(r.alt_ah_attr.grh.sgid_index, 1);
	IS(r.alt_ah_attr.port_num, 2);
	IS(r.pkey_index, 4);
	IS(r.dest_qp_num, 0x123);
	IS(r.rq_psn, 6);
	IS(r.qkey, 8);
	IS(r.qp_access_flags, 9);
	IS(r.max_dest_rd_atomic, 11);
	IS(r.retry_cnt, 15);
	IS(r.alt_timeout, 17);
	IS(r.path_mig_state, 1);
	IS(r.port_num, 0);
	IS(CALL_AS(HOW(.no_response = true), INIT_QP_ATTR, cmd, 144), -EFAULT);
	cmd.qp_state = IBV_QPS_ERR + 1;
	IS(CALL(INIT_QP_ATTR, cmd, 144), -EINVAL);
}

/* ---- groups */

static int leave(uint32_t file, uint32_t mc)
{
	struct rdma_ucm_destroy_id cmd = {.id = mc};

	return CALL_AS(HOW(.file = file), LEAVE_MCAST, cmd, 4);
}

static void test_join_arguments(void **state)
{
	uint32_t id = make_in(F1, RDMA_PS_UDP);
	struct rdma_ucm_join_mcast cmd = {.id = id, .addr_size = 28};
	struct rdma_ucm_join_ip_mcast ip = {.id = id};
	struct sockaddr_in a = in4(0);

	IS(CALL(JOIN_IP_MCAST, ip, 0), -EINVAL);
	memcpy(&ip.addr, &a, sizeof(a));
	IS(CALL(JOIN_IP_MCAST, ip, 3), -ENOSPC);
	IS(CALL(JOIN_IP_MCAST, ip, 4), -EINVAL); /* no adapter */
	IS(CALL(JOIN_MCAST, cmd, 0), -EINVAL);
	memcpy(&cmd.addr, &a, sizeof(a));
	IS(CALL(JOIN_MCAST, cmd, 3), -ENOSPC);
	IS(CALL(JOIN_MCAST, cmd, 4), -EINVAL);
	cmd.addr_size = 16;
	cmd.join_flags = RDMA_MC_JOIN_FLAG_RESERVED;
	bind_id(id);
	IS(CALL(JOIN_MCAST, cmd, 4), -EINVAL);
	cmd.join_flags = RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER;
	IS(CALL(JOIN_MCAST, cmd, 4), 0);
	IS(u32(), 0);
	IS(c->last.n, 8);
	assert_memory_equal(&c->last.dst, &a, sizeof(a));
	IS(CALL(JOIN_IP_MCAST, ip, 4), 0);
	IS(u32(), 1);
	IS(c->last.n, 1);
}

static void test_join_and_leave(void **state)
{
	uint32_t id = make_in(F1, RDMA_PS_UDP), one, two;
	struct cma_event up = {.event = RDMA_CM_EVENT_MULTICAST_JOIN, .ud.dlid = 0xc000};
	struct rdma_ucm_event_resp e;
	void *ctx[2];

	bind_id(id);
	c->err = -EINVAL;
	IS(join(id, 1, false), -EINVAL);
	IS(join(id, 1, true), -EFAULT);
	assert_string_equal(c->last.name, "leave");
	IS(join(id, 11, false), 0);
	one = u32();
	ctx[0] = c->last.context;
	IS(join(id, 22, false), 0);
	two = u32();
	ctx[1] = c->last.context;
	IS(one, 0);
	IS(two, 1);
	up.ud.context = ctx[1];
	assert_true(fake_tell(newest(), &up));
	assert_true(fake_tell(newest(), &up));
	up.ud.context = ctx[0];
	assert_true(fake_tell(newest(), &up));
	IS(get(&e), 0);
	assert_true(e.uid == 22 && e.id == two && e.param.ud.ah_attr.dlid == 0xc000);
	IS(leave(F2, two), -EINVAL);
	IS(leave(F1, 9), -ENOENT);
	IS(leave(F1, two), 0);
	IS(u32(), 1);
	IS(leave(F1, two), -ENOENT);
	IS(c->nready[F1], 1);
	/* A late event of a group that was left is dropped. */
	up.ud.context = ctx[1];
	assert_true(fake_tell(newest(), &up));
	IS(c->nready[F1], 1);
	/* So is an event with a group of another id. */
	make_in(F1, RDMA_PS_UDP);
	up.ud.context = ctx[0];
	assert_true(fake_tell(newest(), &up));
	IS(c->nready[F1], 1);
	IS(get(&e), 0);
	assert_true(e.uid == 11 && e.id == one);
	IS(get(&e), -EAGAIN);
	IS(join(id, 33, false), 0);
	IS(u32(), two);
	IS(destroy_in(F1, id), 0);
	IS(leave(F1, one), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_frame),
		TEST(test_rows),
		TEST(test_short_and_faulting),
		TEST(test_unknown_and_foreign_ids),
		TEST(test_connect),
		TEST(test_accept_reject_disconnect_notify),
		TEST(test_options),
		TEST(test_option_path),
		TEST(test_query_route),
		TEST(test_query_addr_and_gid),
		TEST(test_query_path),
		TEST(test_init_qp_attr),
		TEST(test_join_arguments),
		TEST(test_join_and_leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
