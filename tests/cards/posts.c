/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Requests and receives that are posted in every state of a QP, and queues that are full. */
#include "cards.h"

#include <errno.h>

#include <stdlib.h>

static const char *const states[] = {"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};

/* Both ends, of which none is connected. */
static void unconnected(struct pair *p)
{
	*p = (struct pair){.o = {.apart = true}};
	NEED(pair_make(p, &p->o));
	to_state(p->a.qp, IBV_QPS_RESET);
	to_state(p->b.qp, IBV_QPS_RESET);
}

/* From RESET, INIT or RTR on to `to`. */
static void on_to(struct end *e, const struct end *peer, enum ibv_qp_state to,
		  const struct options *o)
{
	if (state_of(e->qp) == IBV_QPS_RESET && to != IBV_QPS_RESET)
		to_init(e->qp, QP_RIGHTS);
	if (state_of(e->qp) == IBV_QPS_INIT && (to == IBV_QPS_RTR || to == IBV_QPS_RTS))
		to_rtr(e->qp, o, peer->qp->qp_num, ad.port.lid, &ad.gid);
	if (state_of(e->qp) == IBV_QPS_RTR && to == IBV_QPS_RTS)
		rtr_to_rts(e->qp, o);
}

/* A receive that is posted before the QP can use it. */
static void early_receive(enum ibv_qp_state in)
{
	struct ibv_wc sent, received;
	struct request r;
	struct pair p;

	unconnected(&p);
	on_to(&p.b, &p.a, in, &p.o);
	post_receive(&p, 64);
	on_to(&p.b, &p.a, IBV_QPS_RTS, &p.o);
	on_to(&p.a, &p.b, IBV_QPS_RTS, &p.o);
	r = good(&p, SEND, 8);
	post(&p, &r);
	sent = next_wc(p.a.cq);
	received = next_wc(p.b.cq);
	check(post_recv_early, text("in %s", states[in]), "SEND 0, receive 0",
	      text("SEND %s, receive %s", wc_text(&sent, false), wc_text(&received, false)));
	pair_free(&p);
}

/* A responder that is in RTR answers. */
static void served(enum op op)
{
	struct request r;
	struct ibv_wc wc;
	struct pair p;

	unconnected(&p);
	on_to(&p.b, &p.a, IBV_QPS_RTR, &p.o);
	on_to(&p.a, &p.b, IBV_QPS_RTS, &p.o);
	if (receives(op))
		post_receive(&p, 64);
	r = good(&p, op, 8);
	post(&p, &r);
	wc = next_wc(p.a.cq);
	check(post_serve_rtr, op_names[op], "0, b RTR",
	      text("%s, b %s", wc_text(&wc, true), state_name(p.b.qp)));
	pair_free(&p);
}

/* Responders that become ready before the retries end: all at once, as each waits for a timer. */
static void late(void)
{
	static const enum op ops[] = {WRITE, READ, WRITE, READ};
	static const enum ibv_qp_state from[] = {IBV_QPS_RESET, IBV_QPS_RESET, IBV_QPS_INIT,
						 IBV_QPS_INIT};
	struct pair p[COUNT(ops)];

	for (size_t i = 0; i < COUNT(ops); i++) {
		struct request r;

		unconnected(&p[i]);
		p[i].o.timeout = 15;
		p[i].o.retries = 7;
		on_to(&p[i].b, &p[i].a, from[i], &p[i].o);
		on_to(&p[i].a, &p[i].b, IBV_QPS_RTS, &p[i].o);
		r = good(&p[i], ops[i], 8);
		post(&p[i], &r);
	}
	for (size_t i = 0; i < COUNT(ops); i++)
		on_to(&p[i].b, &p[i].a, IBV_QPS_RTS, &p[i].o);
	for (size_t i = 0; i < COUNT(ops); i++) {
		struct ibv_wc wc = next_wc(p[i].a.cq);

		check(post_late,
		      text("%s, responder in %s first", op_names[ops[i]], states[from[i]]),
		      "0, a RTS", text("%s, a %s", wc_text(&wc, true), state_name(p[i].a.qp)));
		pair_free(&p[i]);
	}
}

/* In ERR everything that is posted is flushed, however often. */
static void in_err(void)
{
	static const enum op ops[] = {WRITE, READ, SEND, FAA};
	struct ibv_wc wc;
	struct pair p;

	NEED(pair_make(&p, &(struct options){0}));
	to_state(p.a.qp, IBV_QPS_ERR);
	to_state(p.b.qp, IBV_QPS_ERR);
	for (size_t i = 0; i < 2 * COUNT(ops); i++) {
		struct request r = good(&p, ops[i % COUNT(ops)], 8);

		r.id = i + 1;
		post(&p, &r);
		wc = next_wc(p.a.cq);
		check(post_err_send, text("%s, %zu. request", op_names[r.op], i + 1),
		      text("%d, its own", IBV_WC_WR_FLUSH_ERR),
		      text("%s, %s own", wc_text(&wc, false),
			   wc.wr_id == i + 1 ? "its" : "not its"));
	}
	for (int i = 0; i < 2; i++) {
		post_receive(&p, 64);
		wc = next_wc(p.b.cq);
		check(post_err_recv, text("%d. receive", i + 1), text("%d", IBV_WC_WR_FLUSH_ERR),
		      wc_text(&wc, false));
	}
	pair_free(&p);
}

/* ERR, RESET and up again: as a new one. */
static void reuse(enum op op)
{
	struct ibv_wc first, second;
	struct request r;
	struct pair p;

	NEED(pair_make(&p, &(struct options){0}));
	r = good(&p, op, 64);
	r.len = r.sge[0].length = is_atomic(op) ? 8 : 64;
	post(&p, &r);
	first = next_wc(p.a.cq);
	for (int i = 0; i < 2; i++) {
		struct end *e = i ? &p.b : &p.a;

		to_state(e->qp, IBV_QPS_ERR);
		to_state(e->qp, IBV_QPS_RESET);
	}
	on_to(&p.b, &p.a, IBV_QPS_RTS, &p.o);
	on_to(&p.a, &p.b, IBV_QPS_RTS, &p.o);
	post(&p, &r);
	second = next_wc(p.a.cq);
	check(post_reuse, op_names[op], "0, then 0",
	      text("%s, then %s", wc_text(&first, true), wc_text(&second, true)));
	pair_free(&p);
}

/* One request more than the queue holds: the list stops there. */
static void full(void)
{
	struct ibv_qp_init_attr init;
	struct ibv_send_wr *wr, *bad = NULL;
	struct ibv_qp_attr at;
	struct pair p;
	uint32_t n;
	int rc;

	NEED(pair_make(&p, &(struct options){.unsignalled = true}));
	NEED(!ibv_query_qp(p.a.qp, &at, IBV_QP_CAP, &init));
	n = init.cap.max_send_wr;
	NEED(wr = calloc(n + 1, sizeof(*wr)));
	for (uint32_t i = 0; i <= n; i++)
		wr[i] = (struct ibv_send_wr){.next = i < n ? &wr[i + 1] : NULL,
					     .opcode = IBV_WR_RDMA_WRITE,
					     .wr.rdma = {(uintptr_t)p.b.mem, p.b.mr->rkey}};
	rc = ibv_post_send(p.a.qp, wr, &bad);
	check(post_full, "one more than max_send_wr", "ENOMEM, the last is bad",
	      text("%s, %s is bad", rc == ENOMEM ? "ENOMEM" : text("%d", rc),
		   bad == &wr[n] ? "the last" : "another"));
	free(wr);
	pair_free(&p);
}

/* A QP that fails leaves another one of the same PD alone, in the same memory. */
static void alone(enum fact cause)
{
	struct ibv_wc failed, good_one;
	struct pair p, other;
	struct request r;

	NEED(pair_make(&p, &(struct options){0}));
	NEED(pair_make(&other, &(struct options){0}));
	r = good(&p, WRITE, 8);
	if (cause == own_lkey)
		r.sge[0].lkey ^= 0xff00ff;
	else
		r.rkey ^= 0xff00ff;
	post(&p, &r);
	failed = next_wc(p.a.cq);
	r = good(&other, WRITE, 8);
	r.rkey = p.b.mr->rkey;
	r.remote = (uintptr_t)p.b.mem;
	post(&other, &r);
	good_one = next_wc(other.a.cq);
	check(post_alone, cause == own_lkey ? "an unknown lkey" : "an unknown rkey",
	      "fails, the other: 0, RTS, RTS",
	      text("%s, the other: %s, %s, %s", failed.status ? "fails" : "succeeds",
		   wc_text(&good_one, true), state_name(other.a.qp), state_name(other.b.qp)));
	events(&p, cause != own_lkey);
	pair_free(&p);
	pair_free(&other);
}

/* Of both requests only the signalled one is seen. */
static void unsignalled(enum op op)
{
	struct ibv_wc wc;
	struct pair p;

	NEED(pair_make(&p, &(struct options){.unsignalled = true}));
	for (int i = 1; i <= 2; i++) {
		struct request r = good(&p, op, 8);

		r.id = (uint64_t)i;
		r.unsignalled = i == 1;
		post(&p, &r);
	}
	wc = next_wc(p.a.cq);
	check(post_unsignalled, op_names[op], "0 of the 2., no more",
	      text("%s of the %u., %s", wc_text(&wc, true), (unsigned int)wc.wr_id,
		   is_empty(p.a.cq) ? "no more" : "more"));
	pair_free(&p);
}

void posts_group(void)
{
	static const enum op answered[] = {READ, WRITE, SEND, SEND_IMM, WRITE_IMM, FAA, CAS};

	early_receive(IBV_QPS_INIT);
	early_receive(IBV_QPS_RTR);
	for (size_t i = 0; i < COUNT(answered); i++)
		served(answered[i]);
	late();
	in_err();
	reuse(READ);
	reuse(WRITE);
	reuse(CAS);
	full();
	alone(own_lkey);
	alone(ref_key);
	unsignalled(READ);
	unsignalled(WRITE);
	unsignalled(FAA);
}
