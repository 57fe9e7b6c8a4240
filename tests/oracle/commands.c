/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Random commands of the older interface. */
#include "random.h"

#include <string.h>

#define RUN(n, req, resp, d)                                        \
	call_command(&(struct command){.name = #n,                  \
				       .nr = IB_USER_VERBS_CMD_##n, \
				       .in = &(req),                \
				       .in_len = sizeof(req),       \
				       .out_len = (resp),           \
				       .data = (d)})
#define RUN_EX(n, req, resp, d)                                                \
	call_command(&(struct command){.name = #n,                             \
				       .nr = IB_USER_VERBS_CMD_FLAG_EXTENDED | \
					     IB_USER_VERBS_EX_CMD_##n,         \
				       .in = &(req),                           \
				       .in_len = sizeof(req),                  \
				       .out_len = (resp),                      \
				       .data = (d)})
#define RESP(t) sizeof(struct ib_uverbs_##t##_resp)

void get_context(void)
{
	struct ib_uverbs_get_context r = {0};

	if (done("context", RUN(GET_CONTEXT, r, RESP(get_context), FOR_CONTEXT)) && answered(4))
		made(ASYNC, word(0));
}

void query_device(void)
{
	struct ib_uverbs_query_device r = {0};
	struct ib_uverbs_ex_query_device x = {.comp_mask = one_in(6)};

	if (one_in(2)) {
		if (done("device", RUN(QUERY_DEVICE, r, RESP(query_device), NO_DATA)))
			say(":%u", answered(RESP(query_device)));
	} else if (done("device_ex", RUN_EX(QUERY_DEVICE, x, 8 + 8 * below(30), NO_DATA))) {
		say(":%u", answered(8));
	}
}

void query_port(void)
{
	struct ib_uverbs_query_port r = {.port_num = (uint8_t)(one_in(4) ? below(4) : 1)};

	if (done("port", RUN(QUERY_PORT, r, RESP(query_port), NO_DATA)))
		say(":%u", answered(RESP(query_port)));
}

void alloc_pd(void)
{
	struct ib_uverbs_alloc_pd r = {0};

	if (done("pd", RUN(ALLOC_PD, r, RESP(alloc_pd), FOR_PD)))
		made(PD, word(0));
}

void reg_mr(void)
{
	struct ib_uverbs_reg_mr r = {.start = MEM + 4096 * below(8),
				     .length = 1 + below(8192),
				     .pd_handle = pick(PD),
				     .access_flags = below(16)};

	r.hca_va = r.start;
	if (one_in(10))
		r.hca_va += 4096 * 3;
	if (one_in(12))
		r.hca_va += 8;
	if (one_in(12))
		r.start = r.hca_va = NOWHERE;
	if (one_in(12))
		r.length = one_in(2) ? 0 : UINT64_MAX - below(4096);
	if (one_in(12))
		r.access_flags |= 1u << (8 + below(12));
	if (done("mr", RUN(REG_MR, r, RESP(reg_mr), NO_DATA)))
		made(MR, word(offsetof(struct ib_uverbs_reg_mr_resp, mr_handle)));
}

void alloc_mw(void)
{
	struct ib_uverbs_alloc_mw r = {.pd_handle = pick(PD),
				       .mw_type = (uint8_t)(one_in(4) ? below(5) : 1 + below(2))};

	if (done("mw", RUN(ALLOC_MW, r, RESP(alloc_mw), NO_DATA)))
		made(MW, word(offsetof(struct ib_uverbs_alloc_mw_resp, mw_handle)));
}

void create_channel(void)
{
	struct ib_uverbs_create_comp_channel r = {0};

	if (done("channel", RUN(CREATE_COMP_CHANNEL, r, RESP(create_comp_channel), NO_DATA)))
		made(CHANNEL, word(0));
}

void create_cq(void)
{
	const int channel = one_in(2) ? -1 : (int)pick_file(CHANNEL);
	struct ib_uverbs_create_cq r = {.user_handle = below(100),
					.cqe = 1 + below(15),
					.comp_vector = one_in(10) ? 5000 : 0,
					.comp_channel = channel};
	struct ib_uverbs_ex_create_cq x = {.user_handle = r.user_handle,
					   .cqe = r.cqe,
					   .comp_vector = r.comp_vector,
					   .comp_channel = channel,
					   .comp_mask = one_in(10),
					   .reserved = one_in(10)};

	if (one_in(2)) {
		if (done("cq", RUN(CREATE_CQ, r, RESP(create_cq), FOR_CQ)))
			made(CQ, word(0));
	} else if (done("cq_ex", RUN_EX(CREATE_CQ, x, RESP(ex_create_cq), FOR_CQ))) {
		made(CQ, word(0));
	}
}

void create_qp(void)
{
	enum driver_data data = FOR_QP;
	struct ib_uverbs_create_qp r = {.user_handle = below(100),
					.pd_handle = pick(PD),
					.send_cq_handle = pick(CQ),
					.recv_cq_handle = pick(CQ),
					.max_send_wr = 1 + below(8),
					.max_recv_wr = 1 + below(8),
					.max_send_sge = 1,
					.max_recv_sge = 1,
					.sq_sig_all = (uint8_t)below(2),
					.qp_type = qp_type()};
	struct ib_uverbs_ex_create_qp x = {.user_handle = r.user_handle,
					   .pd_handle = r.pd_handle,
					   .send_cq_handle = r.send_cq_handle,
					   .recv_cq_handle = r.recv_cq_handle,
					   .max_send_wr = r.max_send_wr,
					   .max_recv_wr = r.max_recv_wr,
					   .max_send_sge = 1,
					   .max_recv_sge = 1,
					   .sq_sig_all = r.sq_sig_all,
					   .qp_type = r.qp_type,
					   .comp_mask = one_in(8) ? 2 + below(3) : 0,
					   .create_flags = one_in(8) ? 1u << (16 + below(8)) : 0};

	if (one_in(4)) {
		r.is_srq = x.is_srq = 1;
		r.srq_handle = x.srq_handle = pick(SRQ);
		data = FOR_QP_ON_SRQ;
	}
	if (one_in(2)) {
		if (done("qp", RUN(CREATE_QP, r, RESP(create_qp), data)))
			made(QP, word(0));
	} else if (done("qp_ex", RUN_EX(CREATE_QP, x, RESP(ex_create_qp), data))) {
		made(QP, word(offsetof(struct ib_uverbs_ex_create_qp_resp, base)));
	}
}

void create_srq(void)
{
	struct ib_uverbs_create_srq r = {
		.user_handle = 9, .pd_handle = pick(PD), .max_wr = 15, .max_sge = 1};
	struct ib_uverbs_create_xsrq x = {.user_handle = 9,
					  .srq_type = IB_UVERBS_SRQT_BASIC,
					  .pd_handle = r.pd_handle,
					  .max_wr = 15,
					  .max_sge = 1};

	if (one_in(2)) {
		if (done("srq", RUN(CREATE_SRQ, r, RESP(create_srq), FOR_SRQ)))
			made(SRQ, word(0));
	} else if (done("xsrq", RUN(CREATE_XSRQ, x, RESP(create_srq), FOR_SRQ))) {
		made(SRQ, word(0));
	}
}

void modify_srq(void)
{
	struct ib_uverbs_modify_srq r = {
		.srq_handle = pick(SRQ), .attr_mask = 2, .srq_limit = 1 + below(4)};

	done("limit", RUN(MODIFY_SRQ, r, 0, FOR_SRQ_CHANGE));
}

void query_srq(void)
{
	struct ib_uverbs_query_srq r = {.srq_handle = pick(SRQ)};

	if (done("srq_is", RUN(QUERY_SRQ, r, RESP(query_srq), NO_DATA)))
		say(":%u", answered(RESP(query_srq)));
}

/* The neighbour that tests/oracle/guest makes; on RoCE v1 the MAC address is in it. */
static const uint8_t dgid[16] = {0xfe, 0x80, [8] = 0x58, 0x17, 0xca, 0xff, 0xfe, 0, 0, 1};

static void address(struct ib_uverbs_ah_attr *a)
{
	a->is_global = !one_in(8);
	a->port_num = (uint8_t)(one_in(8) ? below(4) : 1);
	memcpy(a->grh.dgid, dgid, sizeof(dgid));
	if (one_in(8))
		a->grh.sgid_index = rxe ? 200 : 12; /* an empty entry */
}

void create_ah(void)
{
	struct ib_uverbs_create_ah r = {.user_handle = 3, .pd_handle = pick(PD)};

	address(&r.attr);
	if (done("ah", RUN(CREATE_AH, r, RESP(create_ah), FOR_AH)))
		made(AH, word(0));
}

/* ---- states of QPs */

enum {
	STATE = 1,
	CUR_STATE = 1 << 1,
	ACCESS = 1 << 3,
	PKEY = 1 << 4,
	PORT = 1 << 5,
	QKEY = 1 << 6,
	AV = 1 << 7,
	MTU = 1 << 8,
	TIMEOUT = 1 << 9,
	RETRY = 1 << 10,
	RNR_RETRY = 1 << 11,
	RQ_PSN = 1 << 12,
	RD = 1 << 13,
	RNR_TIMER = 1 << 15,
	SQ_PSN = 1 << 16,
	DEST_RD = 1 << 17,
	DEST_QPN = 1 << 20,
};
static const uint32_t masks[] = {
	STATE,
	STATE | PKEY | PORT | ACCESS,
	STATE | PKEY | PORT | QKEY,
	STATE | AV | MTU | DEST_QPN | RQ_PSN | DEST_RD | RNR_TIMER,
	STATE | AV | MTU | DEST_QPN | RQ_PSN,
	STATE | TIMEOUT | RETRY | RNR_RETRY | SQ_PSN | RD,
	STATE | SQ_PSN,
};
static const uint8_t states[] = {0, 1, 1, 2, 2, 3, 3};

void modify_qp(void)
{
	unsigned int t = below(sizeof(states)), ex = below(2);
	struct ib_uverbs_ex_modify_qp x = {.base = {.qp_handle = pick(QP),
						    .attr_mask = masks[t],
						    .qp_state = states[t],
						    .cur_qp_state = (uint8_t)below(7),
						    .path_mtu = 3,
						    .port_num = 1,
						    .dest_qp_num = 17,
						    .qp_access_flags = below(16),
						    .max_rd_atomic = 1,
						    .max_dest_rd_atomic = 1,
						    .min_rnr_timer = 12,
						    .timeout = 14,
						    .retry_cnt = 7,
						    .rnr_retry = 7,
						    .alt_port_num = 1}};

	memcpy(x.base.dest.dgid, dgid, sizeof(dgid));
	x.base.dest.is_global = !one_in(10);
	x.base.dest.port_num = (uint8_t)(one_in(10) ? below(4) : 1);
	if (one_in(6))
		x.base.attr_mask ^= 1u << below(21);
	if (one_in(16))
		x.base.qp_state = (uint8_t)(4 + below(5));
	if (one_in(16))
		x.base.port_num = (uint8_t)below(4);
	if (one_in(30)) /* bit 25 is the rate limit, which drivers have or not */
		x.base.attr_mask |= 1u << (one_in(2) ? 21 + below(4) : 26 + below(3));
	if (ex)
		done("to_ex", RUN_EX(MODIFY_QP, x, RESP(ex_modify_qp), NO_DATA));
	else
		done("to", RUN(MODIFY_QP, x.base, 0, NO_DATA));
}

void query_qp(void)
{
	struct ib_uverbs_query_qp r = {.qp_handle = pick(QP), .attr_mask = 1};

	if (done("qp_is", RUN(QUERY_QP, r, RESP(query_qp), NO_DATA)))
		say(":%u,%u", answered(RESP(query_qp)),
		    out[offsetof(struct ib_uverbs_query_qp_resp, qp_state)]);
}

void multicast(void)
{
	struct ib_uverbs_attach_mcast r = {
		.gid = {0xff, 0x12, [15] = (uint8_t)below(3)}, .qp_handle = pick(QP), .mlid = 0};

	if (one_in(8))
		r.gid[0] = 0xfe;
	if (one_in(2))
		done("attach", RUN(ATTACH_MCAST, r, 0, NO_DATA));
	else
		done("detach", RUN(DETACH_MCAST, r, 0, NO_DATA));
}

/* ---- the end of objects, by commands */

void destroy(void)
{
	static const struct {
		enum kind kind;
		const char *name;
		uint32_t nr;
		uint8_t at, in_len, out_len; /* the handle's place, and lengths */
	} ways[] = {
		{PD, "dealloc_pd", IB_USER_VERBS_CMD_DEALLOC_PD, 0, 4, 0},
		{MR, "dereg_mr", IB_USER_VERBS_CMD_DEREG_MR, 0, 4, 0},
		{MW, "dealloc_mw", IB_USER_VERBS_CMD_DEALLOC_MW, 0, 4, 0},
		{CQ, "destroy_cq", IB_USER_VERBS_CMD_DESTROY_CQ, 8, 16, 8},
		{QP, "destroy_qp", IB_USER_VERBS_CMD_DESTROY_QP, 8, 16, 4},
		{SRQ, "destroy_srq", IB_USER_VERBS_CMD_DESTROY_SRQ, 8, 16, 4},
		{AH, "destroy_ah", IB_USER_VERBS_CMD_DESTROY_AH, 0, 4, 0},
	};
	unsigned int i = below(sizeof(ways) / sizeof(ways[0]));
	const uint32_t handle = pick(ways[i].kind);
	uint8_t in[16] = {0};
	struct command c = {.name = ways[i].name,
			    .nr = ways[i].nr,
			    .in = in,
			    .in_len = ways[i].in_len,
			    .out_len = ways[i].out_len};

	memcpy(in + ways[i].at, &handle, sizeof(handle));
	if (!done(c.name, call_command(&c)))
		return;
	say(":%u", answered(c.out_len));
	lost(ways[i].kind, handle);
}
