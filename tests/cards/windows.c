/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Memory windows: binding, taking away, and other QPs. */
#include "cards.h"

enum { ALL = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC };

struct bed {
	struct pair p, other; /* another pair of the same PD */
	struct ibv_mr *mr;
	struct ibv_mw *mw;
	enum ibv_mw_type type;
};

static void bed_make(struct bed *b, enum ibv_mw_type type)
{
	*b = (struct bed){.type = type};
	NEED(pair_make(&b->p, &(struct options){0}));
	NEED(pair_make(&b->other, &(struct options){0}));
	b->mr = region(b->p.b.mem, BYTES, ALL_RIGHTS | IBV_ACCESS_MW_BIND);
	NEED(b->mw = ibv_alloc_mw(ad.pd, type));
}

static void bed_free(struct bed *b)
{
	events(&b->p, false);
	if (b->mw)
		NEED(!ibv_dealloc_mw(b->mw));
	pair_free(&b->p);
	pair_free(&b->other);
	NEED(!ibv_dereg_mr(b->mr));
}

/* Completions of `qp`'s send queue in `cq`: of what was posted, "4/..." or "refused". */
static const char *done(int rc, struct ibv_cq *cq, int opcode)
{
	struct ibv_wc wc;

	if (rc)
		return "refused";
	wc = next_wc(cq);
	if (wc.status == IBV_WC_SUCCESS && (int)wc.opcode != opcode)
		return text("0 with opcode %d", wc.opcode);
	return wc_text(&wc, false);
}

static const char *bind(struct bed *b, struct end *e, uint32_t len, unsigned int flags)
{
	struct ibv_mw_bind_info info = {
		.mr = b->mr, .addr = (uintptr_t)b->p.b.mem, .length = len, .mw_access_flags = ALL};

	if (b->type == IBV_MW_TYPE_1) {
		struct ibv_mw_bind args = {.send_flags = flags, .bind_info = info};

		return done(ibv_bind_mw(e->qp, b->mw, &args), e->cq, IBV_WC_BIND_MW);
	}
	struct ibv_send_wr wr = {.opcode = IBV_WR_BIND_MW, .send_flags = flags}, *bad;
	const char *got;

	wr.bind_mw.mw = b->mw;
	wr.bind_mw.rkey = ibv_inc_rkey(b->mw->rkey);
	wr.bind_mw.bind_info = info;
	got = done(ibv_post_send(e->qp, &wr, &bad), e->cq, IBV_WC_BIND_MW);
	if (*got == '0')
		b->mw->rkey = wr.bind_mw.rkey;
	return got;
}

static const char *invalidate(struct end *e, uint32_t rkey, unsigned int flags)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_LOCAL_INV, .send_flags = flags}, *bad;

	wr.invalidate_rkey = rkey;
	return done(ibv_post_send(e->qp, &wr, &bad), e->cq, IBV_WC_LOCAL_INV);
}

/* What a's request over the window ends with. */
static const char *use(const struct pair *p, const struct bed *b, enum op op, uint32_t rkey)
{
	struct request r = good(p, op, 8);
	struct ibv_wc wc;

	r.remote = (uintptr_t)b->p.b.mem;
	r.rkey = rkey;
	post(p, &r);
	wc = next_wc(p->a.cq);
	if (wc.status)
		events(p, true);
	return wc_text(&wc, true);
}

static const char *gone_key(void)
{
	return result(IBV_WC_REM_ACCESS_ERR, 0x88);
}

/* Each bind of type 1 gives another key, and ends the old one. */
static void rebind_1(enum op op, uint32_t len)
{
	const char *first, *second, *now, *then;
	uint32_t old;
	struct bed b;

	bed_make(&b, IBV_MW_TYPE_1);
	first = bind(&b, &b.p.b, BYTES, IBV_SEND_SIGNALED);
	old = b.mw->rkey;
	second = bind(&b, &b.p.b, len, IBV_SEND_SIGNALED);
	now = len ? use(&b.p, &b, op, b.mw->rkey) : "-";
	then = use(&b.p, &b, op, old);
	check(len ? mw1_rebind : mw1_zero, op_names[op],
	      text("binds 0, 0, another key: %s, the old one: %s", len ? "0" : "-", gone_key()),
	      text("binds %s, %s, %s key: %s, the old one: %s", first, second,
		   old == b.mw->rkey ? "the same" : "another", now, then));
	bed_free(&b);
}

/* Type 2: once bound, it must be invalidated before another bind; length 0 is none. */
static void bind_2(bool other_qp)
{
	const char *first, *second;
	struct bed b;
	uint32_t key;

	bed_make(&b, IBV_MW_TYPE_2);
	first = bind(&b, &b.p.b, BYTES, IBV_SEND_SIGNALED);
	key = b.mw->rkey;
	second = bind(&b, other_qp ? &b.other.b : &b.p.b, BYTES, IBV_SEND_SIGNALED);
	check(mw2_rebind, other_qp ? "by another QP" : "by the same QP",
	      text("binds 0, %d, the QP ERR", IBV_WC_MW_BIND_ERR),
	      text("binds %s, %s, the QP %s", first, second,
		   state_name(other_qp ? b.other.b.qp : b.p.b.qp)));
	if (other_qp)
		check(mw2_rebind_keeps, "READ", "0", use(&b.p, &b, READ, key));
	bed_free(&b);
	bed_make(&b, IBV_MW_TYPE_2);
	check(mw2_zero, "length 0", text("%d", IBV_WC_MW_BIND_ERR),
	      bind(&b, &b.p.b, 0, IBV_SEND_SIGNALED));
	bed_free(&b);
}

/* A window of type 2 is its QP's alone, one of type 1 the PD's. */
static void of_qp(enum ibv_mw_type type, enum op op)
{
	const char *bound;
	struct bed b;

	bed_make(&b, type);
	bound = bind(&b, &b.p.b, BYTES, IBV_SEND_SIGNALED);
	check(type == IBV_MW_TYPE_1 ? mw1_other_qp : mw2_other_qp, op_names[op],
	      text("bind 0, by another QP %s", type == IBV_MW_TYPE_1 ? "0" : gone_key()),
	      text("bind %s, by another QP %s", bound, use(&b.other, &b, op, b.mw->rkey)));
	bed_free(&b);
}

static void invalidated(enum op op)
{
	const char *bound, *inv, *used;
	struct bed b;

	bed_make(&b, IBV_MW_TYPE_2);
	bound = bind(&b, &b.p.b, BYTES, IBV_SEND_SIGNALED);
	inv = invalidate(&b.p.b, b.mw->rkey, IBV_SEND_SIGNALED);
	used = use(&b.p, &b, op, b.mw->rkey);
	check(mw2_inv, op_names[op], text("bind 0, LOCAL_INV 0, then %s", gone_key()),
	      text("bind %s, LOCAL_INV %s, then %s", bound, inv, used));
	bed_free(&b);
}

/* Only its own QP can invalidate it. */
static void invalidated_wrong(void)
{
	const char *bound;
	struct bed b;

	bed_make(&b, IBV_MW_TYPE_2);
	bound = bind(&b, &b.p.b, BYTES, IBV_SEND_SIGNALED);
	check(mw2_inv_other, "LOCAL_INV by another QP", text("bind 0, %d", IBV_WC_MW_BIND_ERR),
	      text("bind %s, %s", bound, invalidate(&b.other.b, b.mw->rkey, IBV_SEND_SIGNALED)));
	check(mw2_inv_key, "another low byte, by another QP", "an error",
	      *invalidate(&b.other.a, b.mw->rkey + 1, IBV_SEND_SIGNALED) == '0' ? "none"
										: "an error");
	bed_free(&b);
}

/* The window goes: its key, too. */
static void freed_window(enum ibv_mw_type type, enum op op)
{
	const char *bound;
	struct bed b;
	uint32_t key;

	bed_make(&b, type);
	bound = bind(&b, &b.p.b, BYTES, IBV_SEND_SIGNALED);
	key = b.mw->rkey;
	NEED(!ibv_dealloc_mw(b.mw));
	b.mw = NULL;
	check(mw_freed, text("type %d, %s", type, op_names[op]),
	      text("bind 0, then %s", gone_key()),
	      text("bind %s, then %s", bound, use(&b.p, &b, op, key)));
	bed_free(&b);
}

/* SEND with invalidate: the receive names the key, which is no more. */
static void remote(bool empty)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND_WITH_INV, .send_flags = IBV_SEND_SIGNALED},
			   *bad;
	struct ibv_wc sent, received;
	const char *bound;
	struct request r;
	struct bed b;

	bed_make(&b, IBV_MW_TYPE_2);
	bound = bind(&b, &b.p.b, BYTES, IBV_SEND_SIGNALED);
	post_receive(&b.p, 64);
	r = good(&b.p, SEND, 64);
	wr.sg_list = empty ? NULL : r.sge;
	wr.num_sge = !empty;
	wr.invalidate_rkey = b.mw->rkey;
	NEED(!ibv_post_send(b.p.a.qp, &wr, &bad));
	sent = next_wc(b.p.a.cq);
	received = next_wc(b.p.b.cq);
	check(mw2_send_inv, empty ? "without a segment" : "of 64 bytes",
	      text("bind 0, SEND 0, receive 0 with the key, then READ %s", gone_key()),
	      text("bind %s, SEND %s, receive %s with%s the key, then READ %s", bound,
		   wc_text(&sent, true), wc_text(&received, true),
		   received.wc_flags == IBV_WC_WITH_INV && received.invalidated_rkey == b.mw->rkey
			   ? ""
			   : "out",
		   use(&b.p, &b, READ, b.mw->rkey)));
	bed_free(&b);
}

/* A key that cannot be invalidated: the receive fails, and nobody tells the sender meanwhile. */
static void remote_wrong(int how)
{
	static const char *const hows[] = {"an unknown key", "a window of type 1",
					   "the window of another QP"};
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND_WITH_INV, .send_flags = IBV_SEND_SIGNALED},
			   *bad;
	struct ibv_wc received;
	const char *bound;
	struct request r;
	struct bed b;

	bed_make(&b, how == 1 ? IBV_MW_TYPE_1 : IBV_MW_TYPE_2);
	bound = bind(&b, how == 2 ? &b.p.a : &b.p.b, BYTES, IBV_SEND_SIGNALED);
	post_receive(&b.p, 64);
	r = good(&b.p, SEND, 64);
	wr.sg_list = r.sge;
	wr.num_sge = 1;
	wr.invalidate_rkey = how ? b.mw->rkey : b.mw->rkey ^ 0xff00ff;
	NEED(!ibv_post_send(b.p.a.qp, &wr, &bad));
	received = next_wc(b.p.b.cq);
	check(mw2_send_inv_wrong, hows[how], "bind 0, receive: an error",
	      text("bind %s, receive: %s", bound,
		   received.status && (int)received.status != NONE ? "an error"
								   : wc_text(&received, true)));
	bed_free(&b);
}

/* In ERR a bind is flushed; a QP with windows can be destroyed. */
static void of_dead(enum ibv_mw_type type)
{
	const char *bound;
	struct bed b;

	bed_make(&b, type);
	to_state(b.other.b.qp, IBV_QPS_ERR);
	check(mw_flushed, text("type %d", type), text("%d", IBV_WC_WR_FLUSH_ERR),
	      bind(&b, &b.other.b, BYTES, IBV_SEND_SIGNALED));
	if (for_oracle && type == IBV_MW_TYPE_2) {
		skip(mw_destroy_qp, "rxe waits until the window is gone (rxe_do_bind_mw())");
		return bed_free(&b);
	}
	bound = bind(&b, &b.p.b, BYTES, IBV_SEND_SIGNALED);
	check(mw_destroy_qp, text("type %d", type), "bind 0, destroyed",
	      text("bind %s, %s", bound, ibv_destroy_qp(b.p.b.qp) ? "busy" : "destroyed"));
	b.p.b.qp = NULL;
	bed_free(&b);
}

/* The key's low byte is the program's, the index the adapter's. */
static void low_byte(void)
{
	struct ibv_mw_bind_info info;
	struct ibv_send_wr wr = {.opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED}, *bad;
	struct ibv_wc wc;
	uint32_t index;
	struct bed b;

	bed_make(&b, IBV_MW_TYPE_2);
	index = b.mw->rkey >> 8;
	info = (struct ibv_mw_bind_info){
		.mr = b.mr, .addr = (uintptr_t)b.p.b.mem, .length = 64, .mw_access_flags = ALL};
	wr.bind_mw.mw = b.mw;
	wr.bind_mw.rkey = 0x123400 | 0xba;
	wr.bind_mw.bind_info = info;
	NEED(!ibv_post_send(b.p.b.qp, &wr, &bad));
	wc = next_wc(b.p.b.cq);
	check(mw2_low_byte, "0xba", "bind 0, READ by its own index and 0xba 0",
	      text("bind %s, READ by its own index and 0xba %s", wc_text(&wc, true),
		   use(&b.p, &b, READ, index << 8 | 0xba)));
	bed_free(&b);
}

void windows_group(void)
{
	static const enum op ops[] = {READ, WRITE, FAA};

	for (size_t i = 0; i < COUNT(ops); i++) {
		rebind_1(ops[i], BYTES);
		rebind_1(ops[i], 0);
		of_qp(IBV_MW_TYPE_1, ops[i]);
		of_qp(IBV_MW_TYPE_2, ops[i]);
		invalidated(ops[i]);
		freed_window(IBV_MW_TYPE_1, ops[i]);
		freed_window(IBV_MW_TYPE_2, ops[i]);
	}
	bind_2(false);
	bind_2(true);
	invalidated_wrong();
	remote(false);
	remote(true);
	for (int how = 0; how < 3; how++)
		remote_wrong(how);
	of_dead(IBV_MW_TYPE_1);
	of_dead(IBV_MW_TYPE_2);
	low_byte();
}
