/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a receive does with messages that fit, and with those that do not. */
#include "cards.h"

enum wrong { UNKNOWN, GONE, OTHER_PD, BEFORE, BEHIND, RIGHT };
static const char *const wrongs[] = {"unknown lkey",           "deregistered region",
				     "region of another PD",   "starts before the region",
				     "ends behind the region", "region without LOCAL_WRITE"};

static void receive_at(const struct pair *p, const void *at, uint32_t len, uint32_t lkey, int nsge)
{
	struct ibv_sge sge = {(uintptr_t)at, len, lkey};
	struct ibv_recv_wr wr = {.sg_list = nsge ? &sge : NULL, .num_sge = nsge}, *bad;

	NEED(!(p->b.srq ? ibv_post_srq_recv(p->b.srq, &wr, &bad)
			: ibv_post_recv(p->b.qp, &wr, &bad)));
}

/* Both completions: "SEND 11/0x89, receive 4/0x32". */
static const char *both(const struct pair *p, bool vendor_err)
{
	struct ibv_wc sent = next_wc(p->a.cq), received = next_wc(p->b.cq);
	const char *s = wc_text(&sent, true);

	return text("%s, receive %s", s, wc_text(&received, vendor_err));
}

/* The receive's memory is not for it: the sender learns that the other end failed. */
static void wrong(enum wrong how, enum op op, uint32_t len, bool srq)
{
	enum { AT = 4096 };
	bool key = how <= OTHER_PD;
	struct ibv_pd *pd = NULL;
	struct ibv_mr *mr;
	struct request r;
	const char *ends;
	struct pair p;
	uint32_t lkey;

	NEED(pair_make(&p, &(struct options){.srq = srq}));
	if (how == OTHER_PD)
		NEED(pd = ibv_alloc_pd(ad.ctx));
	NEED(mr = ibv_reg_mr(pd ? pd : ad.pd, p.b.mem + AT, how == BEHIND ? len - 1 : BYTES - AT,
			     how == RIGHT ? 0 : IBV_ACCESS_LOCAL_WRITE));
	lkey = how == UNKNOWN ? mr->lkey ^ 0xff00ff : mr->lkey;
	receive_at(&p, p.b.mem + AT - (how == BEFORE), len, lkey, 1);
	if (how == GONE) {
		NEED(!ibv_dereg_mr(mr));
		mr = NULL;
	}
	r = good(&p, op, len);
	post(&p, &r);
	ends = both(&p, key);
	check(key            ? recv_key
	      : how == RIGHT ? recv_right
			     : recv_range,
	      text("%s of %u%s: %s", op_names[op], len, srq ? " to an SRQ" : "", wrongs[how]),
	      text("%s, receive %s, a ERR, b ERR, 0 bytes there", result(IBV_WC_REM_OP_ERR, 0x89),
		   result(IBV_WC_LOC_PROT_ERR, key ? 0x32 : ANY)),
	      text("%s, a %s, b %s, %ld bytes there", ends, state_name(p.a.qp), state_name(p.b.qp),
		   landed(p.b.mem + AT - 1, p.a.mem, BYTES - AT)));
	events(&p, false);
	pair_free(&p);
	if (mr)
		NEED(!ibv_dereg_mr(mr));
	if (pd)
		NEED(!ibv_dealloc_pd(pd));
}

/* A segment that is longer than its region, and a message that fits into both. */
static void long_segment(uint32_t len)
{
	struct ibv_mr *mr;
	struct request r;
	const char *ends;
	struct pair p;

	NEED(pair_make(&p, &(struct options){0}));
	mr = region(p.b.mem, 2048, IBV_ACCESS_LOCAL_WRITE);
	receive_at(&p, p.b.mem, 2048 + 32, mr->lkey, 1);
	r = good(&p, SEND, len);
	post(&p, &r);
	ends = both(&p, true);
	check(recv_long_segment, text("SEND of %u", len), text("0, receive 0, %u bytes", len),
	      text("%s, %ld bytes", ends, landed(p.b.mem, p.a.mem, BYTES)));
	pair_free(&p);
	NEED(!ibv_dereg_mr(mr));
}

/* A receive that is too short, by `lacks` bytes. */
static void too_short(enum op op, uint32_t len, uint32_t lacks, bool srq)
{
	struct request r;
	const char *ends;
	struct pair p;

	NEED(pair_make(&p, &(struct options){.srq = srq}));
	receive_at(&p, p.b.mem, len - lacks, p.b.mr->lkey, 1);
	r = good(&p, op, len);
	post(&p, &r);
	ends = both(&p, false);
	check(recv_short,
	      text("%s of %u, receive of %u%s", op_names[op], len, len - lacks,
		   srq ? " of an SRQ" : ""),
	      text("%s, receive %d, a ERR, b ERR", result(IBV_WC_REM_INV_REQ_ERR, 0x8a),
		   IBV_WC_LOC_LEN_ERR),
	      text("%s, a %s, b %s", ends, state_name(p.a.qp), state_name(p.b.qp)));
	events(&p, false);
	pair_free(&p);
}

/* Messages without a byte need no memory at either end. */
static void empty(enum op op)
{
	struct ibv_wc sent, received;
	struct request r;
	struct pair p;

	NEED(pair_make(&p, &(struct options){0}));
	receive_at(&p, p.b.mem, 64, p.b.mr->lkey, op == WRITE_IMM);
	r = good(&p, op, 0);
	r.nsge = 0;
	post(&p, &r);
	sent = next_wc(p.a.cq);
	received = next_wc(p.b.cq);
	check(recv_empty, op_names[op], "0, receive 0, byte_len 0, 0 bytes there",
	      text("%s, receive %s, byte_len %u, %ld bytes there", wc_text(&sent, true),
		   wc_text(&received, true), received.byte_len, landed(p.b.mem, p.a.mem, BYTES)));
	pair_free(&p);
}

/* A WRITE with immediate takes a receive and leaves its memory alone. */
static void write_imm(uint32_t len)
{
	enum { AT = 32 << 10 };
	struct ibv_wc sent, received;
	struct request r;
	struct pair p;

	NEED(pair_make(&p, &(struct options){0}));
	receive_at(&p, p.b.mem + AT, 64, p.b.mr->lkey, 1);
	r = good(&p, WRITE_IMM, len);
	post(&p, &r);
	sent = next_wc(p.a.cq);
	received = next_wc(p.b.cq);
	check(recv_write_imm, text("of %u", len),
	      text("0, receive 0 with immediate, opcode %d, byte_len %u, %u bytes written, its own "
		   "memory untouched",
		   IBV_WC_RECV_RDMA_WITH_IMM, len, len),
	      text("%s, receive %s with%s immediate, opcode %d, byte_len %u, %ld bytes written, "
		   "its "
		   "own memory %s",
		   wc_text(&sent, true), wc_text(&received, true),
		   received.wc_flags & IBV_WC_WITH_IMM ? "" : "out", received.opcode,
		   received.byte_len, landed(p.b.mem, p.a.mem, AT),
		   landed(p.b.mem + AT, p.a.mem, 64) ? "changed" : "untouched"));
	pair_free(&p);
}

/* Its WRITE is refused: the receive fails as well. */
static void write_imm_refused(void)
{
	struct ibv_wc sent, received;
	struct request r;
	struct pair p;

	NEED(pair_make(&p, &(struct options){0}));
	receive_at(&p, p.b.mem, 0, 0, 0);
	r = good(&p, WRITE_IMM, 64);
	r.rkey ^= 0xff00ff;
	post(&p, &r);
	sent = next_wc(p.a.cq);
	received = next_wc(p.b.cq);
	check(recv_write_imm_key, "unknown rkey",
	      text("%s, receive 4 or 8, 0 bytes there", result(IBV_WC_REM_ACCESS_ERR, 0x88)),
	      text("%s, receive %s, %ld bytes there", wc_text(&sent, true),
		   received.status == IBV_WC_LOC_PROT_ERR ||
				   received.status == IBV_WC_LOC_ACCESS_ERR
			   ? "4 or 8"
			   : wc_text(&received, false),
		   landed(p.b.mem, p.a.mem, BYTES)));
	events(&p, false);
	pair_free(&p);
}

/* Inline data has left its memory when the post returns, and nobody looks at its lkey. */
static void inlined(enum ibv_wr_opcode opcode, uint32_t len)
{
	uint8_t source[64];
	struct ibv_sge sge = {(uintptr_t)source, len, 0xdeadbeef};
	struct ibv_send_wr wr = {.opcode = opcode,
				 .send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE,
				 .sg_list = &sge,
				 .num_sge = 1},
			   *bad;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr at;
	struct ibv_wc wc;
	struct pair p;

	NEED(pair_make(&p, &(struct options){.inline_data = sizeof(source)}));
	NEED(!ibv_query_qp(p.a.qp, &at, IBV_QP_CAP, &init));
	NEED(init.cap.max_inline_data >= len);
	receive_at(&p, p.b.mem, 64, p.b.mr->lkey, 1);
	memcpy(source, p.a.mem, sizeof(source));
	wr.wr.rdma.remote_addr = (uintptr_t)p.b.mem;
	wr.wr.rdma.rkey = p.b.mr->rkey;
	NEED(!ibv_post_send(p.a.qp, &wr, &bad));
	memset(source, 0, sizeof(source));
	wc = next_wc(p.a.cq);
	if (opcode == IBV_WR_SEND)
		next_wc(p.b.cq);
	check(recv_inline, text("%s of %u", opcode == IBV_WR_SEND ? "SEND" : "WRITE", len),
	      text("0, %u bytes there", len),
	      text("%s, %ld bytes there", wc_text(&wc, true), landed(p.b.mem, p.a.mem, BYTES)));
	pair_free(&p);
}

/* ---- shared receive queues */

/* The SRQ's PD decides over its receives; that of the QP over remote keys. */
static void srq_pd(bool fits)
{
	struct ibv_pd *pd = ibv_alloc_pd(ad.ctx);
	struct ibv_mr *mr;
	struct request r;
	struct pair p;

	NEED(pd && pair_make(&p, &(struct options){.srq = true, .srq_pd = pd}));
	NEED(mr = ibv_reg_mr(pd, p.b.mem, BYTES, IBV_ACCESS_LOCAL_WRITE));
	receive_at(&p, p.b.mem, 64, fits ? mr->lkey : p.b.mr->lkey, 1);
	r = good(&p, SEND, 64);
	post(&p, &r);
	check(srq_pd_recv, fits ? "a region of the SRQ's PD" : "a region of the QP's PD",
	      fits ? "0, receive 0"
		   : text("%s, receive %s", result(IBV_WC_REM_OP_ERR, 0x89),
			  result(IBV_WC_LOC_PROT_ERR, 0x32)),
	      both(&p, true));
	events(&p, false);
	pair_free(&p);
	NEED(pair_make(&p, &(struct options){.srq = true, .srq_pd = pd}));
	receive_at(&p, p.b.mem, 64, mr->lkey, 1);
	r = good(&p, WRITE_IMM, 64);
	post(&p, &r);
	check(srq_pd_write, "an rkey of the QP's PD", "0, receive 0", both(&p, true));
	pair_free(&p);
	NEED(!ibv_dereg_mr(mr) && !ibv_dealloc_pd(pd));
}

static bool limit_reached(void)
{
	struct ibv_async_event ev;
	bool reached = false;

	while (has_event(0)) {
		NEED(!ibv_get_async_event(ad.ctx, &ev));
		reached |= ev.event_type == IBV_EVENT_SRQ_LIMIT_REACHED;
		ibv_ack_async_event(&ev);
	}
	return reached;
}

/* The event of the limit comes with the first receive below it, not with the one that meets it. */
static void limit(uint32_t receives, uint32_t at)
{
	struct ibv_srq_attr attr = {.srq_limit = at};
	struct request r;
	struct pair p;
	bool early;

	NEED(pair_make(&p, &(struct options){.srq = true}));
	for (uint32_t i = 0; i < receives; i++)
		receive_at(&p, p.b.mem, 64, p.b.mr->lkey, 1);
	NEED(!ibv_modify_srq(p.b.srq, &attr, IBV_SRQ_LIMIT));
	r = good(&p, SEND, 8);
	for (uint32_t i = receives; i > at; i--) {
		post(&p, &r);
		NEED(next_wc(p.a.cq).status == IBV_WC_SUCCESS);
		NEED(next_wc(p.b.cq).status == IBV_WC_SUCCESS);
	}
	early = limit_reached();
	post(&p, &r);
	NEED(next_wc(p.a.cq).status == IBV_WC_SUCCESS);
	has_event(patience);
	check(srq_limit, text("%u receives, limit %u", receives, at), "not at the limit, below it",
	      text("%s, %s", early ? "at the limit" : "not at the limit",
		   limit_reached() ? "below it" : "not below it"));
	NEED(!ibv_query_srq(p.b.srq, &attr));
	check(srq_limit_once, text("%u receives, limit %u", receives, at),
	      "limit 0 after its event", text("limit %u after its event", attr.srq_limit));
	pair_free(&p);
}

/* A QP in ERR leaves the SRQ's receives to the others, and says that it takes no more. */
static void srq_err(void)
{
	struct ibv_async_event ev = {.event_type = IBV_EVENT_QP_FATAL};
	struct ibv_qp_init_attr init;
	struct ibv_qp *other;
	struct request r;
	const char *got;
	struct pair p;

	NEED(pair_make(&p, &(struct options){.srq = true}));
	init = (struct ibv_qp_init_attr){.send_cq = p.b.cq,
					 .recv_cq = p.b.cq,
					 .srq = p.b.srq,
					 .cap = {.max_send_wr = 1, .max_send_sge = 1},
					 .qp_type = IBV_QPT_RC};
	NEED(other = ibv_create_qp(ad.pd, &init));
	to_init(other, QP_RIGHTS);
	to_rts(other, &p.o, other->qp_num, ad.port.lid, &ad.gid);
	receive_at(&p, p.b.mem, 64, p.b.mr->lkey, 1);
	to_state(other, IBV_QPS_ERR);
	if (has_event(patience)) {
		NEED(!ibv_get_async_event(ad.ctx, &ev));
		ibv_ack_async_event(&ev);
	}
	check(srq_last_wqe, "the program's ERR", "LAST_WQE_REACHED of this QP",
	      ev.event_type == IBV_EVENT_QP_LAST_WQE_REACHED && ev.element.qp == other
		      ? "LAST_WQE_REACHED of this QP"
		      : text("event %d", ev.event_type));
	got = is_empty(p.b.cq) ? "no CQE" : "a CQE";
	r = good(&p, SEND, 64);
	post(&p, &r);
	check(srq_err_keeps, "a receive of an SRQ whose other QP fails",
	      "no CQE, then 0, receive 0", text("%s, then %s", got, both(&p, true)));
	NEED(!ibv_destroy_qp(other));
	pair_free(&p);
}

void receives_group(void)
{
	for (enum wrong how = UNKNOWN; how <= RIGHT; how++) {
		wrong(how, SEND, 64, false);
		wrong(how, SEND_IMM, 1000, false);
		wrong(how, SEND, 64, true);
	}
	long_segment(64);
	long_segment(2048);
	too_short(SEND, 4000, 1, false);
	too_short(SEND, 100, 1, false);
	too_short(SEND_IMM, 1000, 999, false);
	too_short(SEND, 64, 32, true);
	empty(SEND);
	empty(SEND_IMM);
	empty(WRITE_IMM);
	write_imm(8);
	write_imm(3000);
	write_imm_refused();
	inlined(IBV_WR_SEND, 64);
	inlined(IBV_WR_SEND, 1);
	inlined(IBV_WR_RDMA_WRITE, 36);
	srq_pd(true);
	srq_pd(false);
	limit(5, 2);
	limit(3, 1);
	srq_err();
}
