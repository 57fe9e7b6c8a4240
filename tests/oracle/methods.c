/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Random methods of objects. */
#include "random.h"

static struct ib_uverbs_attr *attr(struct method *m, uint16_t id, uint16_t len, uint64_t data)
{
	m->attr[m->n] = (struct ib_uverbs_attr){
		.attr_id = id, .len = len, .flags = UVERBS_ATTR_F_MANDATORY, .data = data};
	return &m->attr[m->n++];
}

static uint64_t to(size_t at)
{
	return (uintptr_t)out + at;
}

void destroy_method(void)
{
	static const struct {
		enum kind kind;
		const char *name;
		uint16_t method, handle, resp, resp_len;
	} ways[] = {
		{PD, "PD_DESTROY", UVERBS_METHOD_PD_DESTROY, UVERBS_ATTR_DESTROY_PD_HANDLE, 0, 0},
		{MR, "MR_DESTROY", UVERBS_METHOD_MR_DESTROY, UVERBS_ATTR_DESTROY_MR_HANDLE, 0, 0},
		{MW, "MW_DESTROY", UVERBS_METHOD_MW_DESTROY, UVERBS_ATTR_DESTROY_MW_HANDLE, 0, 0},
		{AH, "AH_DESTROY", UVERBS_METHOD_AH_DESTROY, UVERBS_ATTR_DESTROY_AH_HANDLE, 0, 0},
		{CQ, "CQ_DESTROY", UVERBS_METHOD_CQ_DESTROY, UVERBS_ATTR_DESTROY_CQ_HANDLE,
		 UVERBS_ATTR_DESTROY_CQ_RESP, 8},
		{QP, "QP_DESTROY", UVERBS_METHOD_QP_DESTROY, UVERBS_ATTR_DESTROY_QP_HANDLE,
		 UVERBS_ATTR_DESTROY_QP_RESP, 4},
		{SRQ, "SRQ_DESTROY", UVERBS_METHOD_SRQ_DESTROY, UVERBS_ATTR_DESTROY_SRQ_HANDLE,
		 UVERBS_ATTR_DESTROY_SRQ_RESP, 4},
	};
	unsigned int i = below(sizeof(ways) / sizeof(ways[0]));
	struct method m = {.object = objects[ways[i].kind], .method = ways[i].method};
	const uint32_t handle = pick(ways[i].kind);

	attr(&m, ways[i].handle, 0, handle == UINT32_MAX ? UINT64_MAX : handle);
	if (ways[i].resp_len)
		attr(&m, ways[i].resp, ways[i].resp_len, to(0));
	if (!done(ways[i].name, call_method(&m)))
		return;
	say(":%u", answered(8));
	lost(ways[i].kind, handle);
}

void cq_method(void)
{
	struct method m = {
		.object = UVERBS_OBJECT_CQ, .method = UVERBS_METHOD_CQ_CREATE, .data = FOR_CQ};

	attr(&m, UVERBS_ATTR_CREATE_CQ_HANDLE, 0, 0);
	attr(&m, UVERBS_ATTR_CREATE_CQ_CQE, 4, 1 + below(15));
	attr(&m, UVERBS_ATTR_CREATE_CQ_USER_HANDLE, 8, below(100));
	attr(&m, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 4, one_in(10) ? 5000 : 0);
	attr(&m, UVERBS_ATTR_CREATE_CQ_RESP_CQE, 4, to(0));
	if (one_in(3))
		attr(&m, UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, 0, pick_file(CHANNEL));
	if (one_in(3))
		attr(&m, UVERBS_ATTR_CREATE_CQ_EVENT_FD, 0, pick_file(ASYNC));
	if (one_in(8))
		attr(&m, UVERBS_ATTR_CREATE_CQ_FLAGS, 4, 1u << (4 + below(20)));
	if (done("CQ_CREATE", call_method(&m)))
		made(CQ, (uint32_t)m.attr[0].data);
}

void qp_method(void)
{
	static const struct ib_uverbs_qp_cap cap = {4, 4, 1, 1, 0}, of_sender = {4, 0, 1, 0, 0};
	struct method m = {
		.object = UVERBS_OBJECT_QP, .method = UVERBS_METHOD_QP_CREATE, .data = FOR_QP};

	attr(&m, UVERBS_ATTR_CREATE_QP_HANDLE, 0, 0);
	attr(&m, UVERBS_ATTR_CREATE_QP_PD_HANDLE, 0, pick(PD));
	attr(&m, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, 0, pick(CQ));
	attr(&m, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, 0, pick(CQ));
	attr(&m, UVERBS_ATTR_CREATE_QP_USER_HANDLE, 8, below(100));
	attr(&m, UVERBS_ATTR_CREATE_QP_CAP, sizeof(cap), (uintptr_t)&cap);
	attr(&m, UVERBS_ATTR_CREATE_QP_TYPE, 8, qp_type());
	attr(&m, UVERBS_ATTR_CREATE_QP_RESP_CAP, sizeof(cap), to(0));
	attr(&m, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, 4, to(64));
	if (one_in(3))
		attr(&m, UVERBS_ATTR_CREATE_QP_EVENT_FD, 0, pick_file(ASYNC));
	if (one_in(4)) {
		attr(&m, UVERBS_ATTR_CREATE_QP_SRQ_HANDLE, 0, pick(SRQ));
		m.attr[5].data = (uintptr_t)&of_sender;
		m.data = FOR_QP_ON_SRQ;
	}
	if (done("QP_CREATE", call_method(&m)))
		made(QP, (uint32_t)m.attr[0].data);
}

void srq_method(void)
{
	struct method m = {
		.object = UVERBS_OBJECT_SRQ, .method = UVERBS_METHOD_SRQ_CREATE, .data = FOR_SRQ};

	attr(&m, UVERBS_ATTR_CREATE_SRQ_HANDLE, 0, 0);
	attr(&m, UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, 0, pick(PD));
	attr(&m, UVERBS_ATTR_CREATE_SRQ_TYPE, 8, one_in(10) ? 7 : (uint64_t)IB_UVERBS_SRQT_BASIC);
	attr(&m, UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, 8, below(100));
	attr(&m, UVERBS_ATTR_CREATE_SRQ_MAX_WR, 4, 15);
	attr(&m, UVERBS_ATTR_CREATE_SRQ_MAX_SGE, 4, 1);
	attr(&m, UVERBS_ATTR_CREATE_SRQ_LIMIT, 4, 0);
	attr(&m, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, 4, to(0));
	attr(&m, UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, 4, to(8));
	if (one_in(3))
		attr(&m, UVERBS_ATTR_CREATE_SRQ_EVENT_FD, 0, pick_file(ASYNC));
	if (done("SRQ_CREATE", call_method(&m)))
		made(SRQ, (uint32_t)m.attr[0].data);
}

void query_mr(void)
{
	struct method m = {.object = UVERBS_OBJECT_MR, .method = UVERBS_METHOD_QUERY_MR};

	attr(&m, UVERBS_ATTR_QUERY_MR_HANDLE, 0, pick(MR));
	attr(&m, UVERBS_ATTR_QUERY_MR_RESP_LKEY, 4, to(0));
	attr(&m, UVERBS_ATTR_QUERY_MR_RESP_RKEY, 4, to(8));
	attr(&m, UVERBS_ATTR_QUERY_MR_RESP_LENGTH, 8, to(16));
	attr(&m, UVERBS_ATTR_QUERY_MR_RESP_IOVA, 8, to(24));
	if (done("QUERY_MR", call_method(&m)))
		say(":%x,%x,%u", word(16), word(24), answered(32));
}

void info_handles(void)
{
	struct method m = {.object = UVERBS_OBJECT_DEVICE, .method = UVERBS_METHOD_INFO_HANDLES};
	enum kind k = (enum kind)below(AH + 1);

	attr(&m, UVERBS_ATTR_INFO_OBJECT_ID, 8, one_in(10) ? 100 : objects[k]);
	attr(&m, UVERBS_ATTR_INFO_TOTAL_HANDLES, 4, to(0));
	attr(&m, UVERBS_ATTR_INFO_HANDLES_LIST, (uint16_t)(4 * (1 + below(16))), to(64));
	if (!done("INFO_HANDLES", call_method(&m)))
		return;
	say(":%u", word(0));
	for (unsigned int i = 0; i < 16 && word(64 + 4 * i) != 0xa5a5a5a5; i++)
		say(",%u", word(64 + 4 * i));
}

void event_file(void)
{
	struct method m = {.object = UVERBS_OBJECT_ASYNC_EVENT,
			   .method = UVERBS_METHOD_ASYNC_EVENT_ALLOC};

	attr(&m, UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, 0, 0);
	if (done("EVENT_FILE", call_method(&m)))
		made(ASYNC, (uint32_t)m.attr[0].data);
}

void query_methods(void)
{
	struct method m = {.object = UVERBS_OBJECT_DEVICE, .method = UVERBS_METHOD_QUERY_PORT};

	if (one_in(2)) {
		attr(&m, UVERBS_ATTR_QUERY_PORT_PORT_NUM, 1, below(3));
		attr(&m, UVERBS_ATTR_QUERY_PORT_RESP, sizeof(struct ib_uverbs_query_port_resp_ex),
		     to(0));
	} else {
		m.method = UVERBS_METHOD_QUERY_GID_ENTRY;
		attr(&m, UVERBS_ATTR_QUERY_GID_ENTRY_PORT, 4, below(3));
		attr(&m, UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, 4,
		     one_in(3) ? (rxe ? 200u : 12u) : 0);
		attr(&m, UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, 4, one_in(8));
		attr(&m, UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, sizeof(struct ib_uverbs_gid_entry),
		     to(0));
	}
	if (done("QUERY", call_method(&m)))
		say(":%u", answered(64));
}
