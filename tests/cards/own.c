/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The requester's own keys, and its own move to ERR. */
#include "cards.h"

static const enum op outgoing[] = {WRITE, WRITE_IMM, SEND, SEND_IMM};

/* A receive for what needs one. */
static void ready(const struct pair *p, enum op op)
{
	if (receives(op))
		post_receive(p, BYTES);
}

/* An unknown lkey, in the first or in the second of two segments. */
static void lkey(enum transport t, enum op op, uint32_t packets, int segment)
{
	/* UC: IBA figure 124. */
	const char *card = text("%s, a %s, 0 bytes there", result(IBV_WC_LOC_PROT_ERR, 0x52),
				t == UC ? "SQE" : "ERR");
	struct request r;
	struct ibv_wc wc;
	struct pair p;

	if (!pair_make(&p, &(struct options){.t = t}))
		return skip(own_lkey, transport_names[t]);
	ready(&p, op);
	r = good(&p, op, packets * p.mtu - 8);
	r.sge[1] = (struct ibv_sge){r.sge[0].addr + r.len, 8, r.sge[0].lkey};
	r.nsge = 1 + segment;
	r.sge[segment].lkey ^= 0xff00ff;
	/* All packets of the first segment would go out: here there is not a whole one. */
	if (segment)
		r.sge[0].length = 8;
	post(&p, &r);
	wc = next_wc(p.a.cq);
	check(own_lkey,
	      text("%s %s, %u packets, segment %d", transport_names[t], op_names[op], packets,
		   segment),
	      card,
	      text("%s, a %s, %ld bytes there", wc_text(&wc, true), state_name(p.a.qp),
		   landed(p.b.mem, p.a.mem, BYTES)));
	pair_free(&p);
}

/* A segment of `packets` that is longer than its region, which ends at `edge`. */
static void range(enum transport t, enum op op, uint32_t packets, uint32_t edge)
{
	uint32_t psn, whole;
	struct request r;
	struct ibv_mr *mr;
	struct ibv_wc wc;
	struct pair p;

	if (!pair_make(&p, &(struct options){.t = t}))
		return skip(own_range, transport_names[t]);
	ready(&p, op);
	whole = edge / p.mtu;
	r = good(&p, op, packets * p.mtu - 3);
	mr = region(p.a.mem, edge, IBV_ACCESS_LOCAL_WRITE);
	r.sge[0].lkey = mr->lkey;
	psn = sq_psn(p.a.qp);
	post(&p, &r);
	wc = next_wc(p.a.cq);
	check(own_range,
	      text("%s %s, %u packets, edge at %u", transport_names[t], op_names[op], packets,
		   edge),
	      text("%s, %u bytes there, psn +%u", result(IBV_WC_LOC_PROT_ERR, 0x53), whole * p.mtu,
		   whole),
	      text("%s, %ld bytes there, psn +%u", wc_text(&wc, true),
		   landed(p.b.mem, p.a.mem, BYTES), (sq_psn(p.a.qp) - psn) & 0xffffff));
	pair_free(&p);
	NEED(!ibv_dereg_mr(mr));
}

/* READs into memory that is not for it: the request has gone out (cnt_refused), no byte comes. */
static void read_into(enum fact f, enum transport t, uint32_t packets)
{
	bool right = f == own_read_right;
	struct ibv_mr *mr = NULL;
	struct request r;
	struct ibv_wc wc;
	struct pair p;

	if (!pair_make(&p, &(struct options){.t = t}))
		return skip(f, transport_names[t]);
	r = good(&p, READ, packets * p.mtu);
	memset(p.a.mem, FILL, BYTES);
	memset(p.b.mem, 1, BYTES);
	if (right)
		mr = region(p.a.mem, BYTES, 0);
	r.sge[0].lkey = mr ? mr->lkey : r.sge[0].lkey ^ 0xff00ff;
	post(&p, &r);
	wc = next_wc(p.a.cq);
	check(f, text("%s, %u packets", transport_names[t], packets),
	      text("%s, b RTS, 0 bytes", result(IBV_WC_LOC_PROT_ERR, right ? 0x33 : 0x32)),
	      text("%s, b %s, %ld bytes", wc_text(&wc, true), state_name(p.b.qp),
		   landed(p.a.mem, p.b.mem, BYTES)));
	pair_free(&p);
	if (mr)
		NEED(!ibv_dereg_mr(mr));
}

static void atomic(enum transport t, enum op op)
{
	struct request r;
	struct ibv_wc wc;
	struct pair p;

	if (!pair_make(&p, &(struct options){.t = t}))
		return skip(own_atomic, transport_names[t]);
	r = good(&p, op, 8);
	r.sge[0].lkey ^= 0xff00ff;
	post(&p, &r);
	wc = next_wc(p.a.cq);
	check(own_atomic, text("%s %s, unknown lkey", transport_names[t], op_names[op]),
	      text("%s, the word has changed", result(IBV_WC_LOC_PROT_ERR, ANY)),
	      text("%s, the word has %s", wc_text(&wc, false),
		   p.b.mem[0] == FILL ? "not changed" : "changed"));
	pair_free(&p);
}

/* "3 x 0, 1 x 4/0x52, 2 x 5/0xf9, no more": what `n` requests end with, in order. */
static const char *endings(const struct pair *p, int n)
{
	const char *all = "", *last = "", *now;
	int same = 0;

	for (int i = 0; i <= n; i++) {
		struct ibv_wc wc = {0};

		if (i < n)
			wc = next_wc(p->a.cq);
		now = i == n ? "end"
			     : text("%s%s", wc_text(&wc, true),
				    wc.wr_id == (uint64_t)i ? "" : " out of order");
		if (same && strcmp(now, last)) {
			all = text("%s%d x %s, ", all, same, last);
			same = 0;
		}
		last = now;
		same++;
		if ((int)wc.status == NONE)
			return text("%snothing", all);
	}
	return text("%s%s", all, is_empty(p->a.cq) ? "no more" : "more");
}

/* The program moves the QP to ERR while `n` SENDs wait for receives. */
static void by_program(enum transport t, int n, enum op behind)
{
	const char *card = text("1 x %s", result(IBV_WC_WR_FLUSH_ERR, 0xf5));
	struct pair p;

	if (!pair_make(&p, &(struct options){.t = t, .rnr_retries = 7}))
		return skip(own_err, transport_names[t]);
	if (n > 1 && strcmp(result(1, 1), "1"))
		card = text("%s, %d x %s", card, n - 1, result(IBV_WC_WR_FLUSH_ERR, 0xf9));
	else if (n > 1)
		card = text("%d x %s", n, result(IBV_WC_WR_FLUSH_ERR, ANY));
	for (int i = 0; i < n; i++) {
		struct request r = good(&p, i ? behind : SEND, 8);

		r.id = (uint64_t)i;
		post(&p, &r);
	}
	to_state(p.a.qp, IBV_QPS_ERR);
	check(own_err,
	      text("%s, %d outstanding, %s behind the first", transport_names[t], n,
		   op_names[behind]),
	      text("%s, no more, events: none", card),
	      text("%s, events: %s", endings(&p, n), events(&p, false)));
	pair_free(&p);
}

static void idle(enum transport t, enum op before)
{
	struct request r;
	struct pair p;
	bool none;

	if (!pair_make(&p, &(struct options){.t = t}))
		return skip(own_err_idle, transport_names[t]);
	ready(&p, before);
	r = good(&p, before, 64);
	post(&p, &r);
	NEED(next_wc(p.a.cq).status == IBV_WC_SUCCESS);
	if (receives(before))
		NEED(next_wc(p.b.cq).status == IBV_WC_SUCCESS);
	to_state(p.a.qp, IBV_QPS_ERR);
	none = is_empty(p.a.cq) && is_empty(p.b.cq);
	check(own_err_idle, text("%s, after a %s", transport_names[t], op_names[before]),
	      "no CQE, events: none",
	      text("%s, events: %s", none ? "no CQE" : "a CQE", events(&p, false)));
	pair_free(&p);
}

/* Of `n` requests the one at `k` fails. Unsignalled ones before it have no CQE. */
static void sequence(enum transport t, enum op op, int n, int k, enum fact cause, bool quiet)
{
	struct options o = {.t = t, .unsignalled = quiet};
	const char *card = "";
	int status = IBV_WC_LOC_PROT_ERR, vendor_err = 0x52;
	struct pair p;

	if (!pair_make(&p, &o))
		return skip(own_seq, transport_names[t]);
	if (cause == ref_key) {
		status = IBV_WC_REM_ACCESS_ERR;
		vendor_err = 0x88;
	}
	for (int i = 0; i < n; i++) {
		struct request r = good(&p, op, 8);

		r.id = (uint64_t)(quiet ? i - k : i);
		r.unsignalled = quiet;
		if (i == k && cause == ref_key)
			r.rkey ^= 0xff00ff;
		else if (i == k)
			r.sge[0].lkey ^= 0xff00ff;
		post(&p, &r);
	}
	if (k && !quiet)
		card = text("%d x %s, ", k, result(IBV_WC_SUCCESS, ANY));
	card = text("%s1 x %s", card, result(status, vendor_err));
	if (n - 1 - k)
		card = text("%s, %d x %s", card, n - 1 - k, result(IBV_WC_WR_FLUSH_ERR, 0xf9));
	check(own_seq,
	      text("%s %s, %s, %d of %d%s", transport_names[t], op_names[op],
		   cause == ref_key ? "rkey" : "lkey", k, n, quiet ? ", unsignalled" : ""),
	      text("%s, no more", card), endings(&p, quiet ? n - k : n));
	pair_free(&p);
}

static void sequences(enum transport t)
{
	static const struct {
		int n, k;
	} rows[] = {{1, 0}, {2, 0}, {2, 1}, {5, 2}, {9, 8}, {16, 0}, {16, 7}, {33, 20}};

	for (size_t i = 0; i < COUNT(rows); i++)
		for (int quiet = 0; quiet < 2; quiet++) {
			sequence(t, WRITE, rows[i].n, rows[i].k, own_lkey, quiet);
			sequence(t, WRITE, rows[i].n, rows[i].k, ref_key, quiet);
			sequence(t, READ, rows[i].n, rows[i].k, ref_key, quiet);
			sequence(t, FAA, rows[i].n, rows[i].k, ref_key, quiet);
		}
}

void own_group(void)
{
	static const uint32_t edges[] = {1, 1023, 1024, 1025, 2048, 3000, 4096, 4100, 5000};
	static const int outstanding[] = {1, 2, 3, 32, 100};

	for (enum transport t = RC; t <= XRC; t++)
		for (size_t i = 0; i < COUNT(outgoing); i++) {
			for (uint32_t packets = 1; packets <= 3; packets += 2)
				for (int segment = 0; segment < 2; segment++)
					lkey(t, outgoing[i], packets, segment);
			for (uint32_t packets = 1; packets <= 5; packets++)
				for (size_t k = 0; k < COUNT(edges); k++)
					if (edges[k] < packets * 1024 - 3)
						range(t, outgoing[i], packets, edges[k]);
		}
	for (enum transport t = RC; t <= XRC; t += XRC - RC) {
		for (uint32_t packets = 1; packets <= 4; packets++) {
			read_into(own_read_right, t, packets);
			read_into(own_read_key, t, packets);
		}
		atomic(t, CAS);
		atomic(t, FAA);
		for (size_t i = 0; i < COUNT(outstanding); i++) {
			by_program(t, outstanding[i], SEND);
			by_program(t, outstanding[i], WRITE);
			by_program(t, outstanding[i], READ);
		}
		idle(t, WRITE);
		idle(t, READ);
		idle(t, SEND);
		sequences(t);
	}
}
