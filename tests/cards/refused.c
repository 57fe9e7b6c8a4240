/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the responder refuses, and what a message that fails has done before. */
#include "cards.h"

static const enum op by_key[] = {WRITE, WRITE_IMM, READ, CAS, FAA};

/* The QP's own flags lack the right. It is looked at before the key, and before the receive. */
static void by_qp(enum transport t, enum op op, uint32_t len, bool rkey_too)
{
	struct options o = {.t = t, .no_rights = right_of(op)};
	struct request r;
	struct ibv_wc wc;
	struct pair p;

	if (!pair_make(&p, &o))
		return skip(ref_qp, transport_names[t]);
	r = good(&p, op, len);
	r.rkey ^= rkey_too ? 0xff00ff : 0;
	post(&p, &r);
	wc = next_wc(p.a.cq);
	check(ref_qp,
	      text("%s %s, %u bytes%s", transport_names[t], op_names[op], len,
		   rkey_too ? ", unknown rkey" : ""),
	      text("%s, a ERR, b ERR, events: b REQ_ERR", result(IBV_WC_REM_INV_REQ_ERR, 0x8a)),
	      text("%s, a %s, b %s, events: %s", wc_text(&wc, true), state_name(p.a.qp),
		   state_name(p.b.qp), events(&p, true)));
	pair_free(&p);
}

enum key { UNKNOWN, BEFORE, BEHIND, RIGHT };
static const char *const key_names[] = {"unknown rkey", "before the region", "behind the region",
					"the region lacks the right"};

static void by_rkey(enum transport t, enum op op, uint32_t len, enum key key)
{
	struct ibv_mr *mr = NULL;
	struct request r;
	struct ibv_wc wc;
	struct pair p;

	if (!pair_make(&p, &(struct options){.t = t}))
		return skip(ref_key, transport_names[t]);
	r = good(&p, op, len);
	if (key == UNKNOWN)
		r.rkey ^= 0xff00ff;
	if (key == BEFORE)
		r.remote -= 8;
	if (key == BEHIND)
		r.remote += BYTES;
	if (key == RIGHT) {
		mr = region(p.b.mem, BYTES, ALL_RIGHTS & ~right_of(op));
		r.rkey = mr->rkey;
	}
	post(&p, &r);
	wc = next_wc(p.a.cq);
	check(ref_key,
	      text("%s %s, %u bytes, %s", transport_names[t], op_names[op], len, key_names[key]),
	      text("%s, a ERR, b ERR, 0 bytes there, events: b ACCESS_ERR",
		   result(IBV_WC_REM_ACCESS_ERR, 0x88)),
	      text("%s, a %s, b %s, %ld bytes there, events: %s", wc_text(&wc, true),
		   state_name(p.a.qp), state_name(p.b.qp), landed(p.b.mem, p.a.mem, BYTES),
		   events(&p, true)));
	pair_free(&p);
	if (mr)
		NEED(!ibv_dereg_mr(mr));
}

static void not_ready(enum transport t, enum op op, uint32_t len, uint8_t retries)
{
	struct request r;
	struct ibv_wc wc;
	struct pair p;

	if (!pair_make(&p, &(struct options){.t = t, .rnr_retries = retries}))
		return skip(ref_rnr, transport_names[t]);
	r = good(&p, op, len);
	post(&p, &r);
	wc = next_wc(p.a.cq);
	check(ref_rnr,
	      text("%s %s, %u bytes, rnr_retry %u", transport_names[t], op_names[op], len, retries),
	      text("%s, a ERR, b RTS, events: none", result(IBV_WC_RNR_RETRY_EXC_ERR, 0x87)),
	      text("%s, a %s, b %s, events: %s", wc_text(&wc, true), state_name(p.a.qp),
		   state_name(p.b.qp), events(&p, false)));
	pair_free(&p);
}

/* A message whose remote memory ends `inside` bytes from its start; of one that is read, too. */
static void part(enum transport t, enum op op, enum ibv_mtu mtu, uint32_t packets, uint32_t inside)
{
	enum fact f = op == READ ? ref_part_read : ref_part;
	uint32_t psn, whole;
	struct request r;
	struct ibv_mr *mr;
	struct ibv_wc wc;
	struct pair p;
	long bytes;

	if (!pair_make(&p, &(struct options){.t = t, .mtu = mtu}))
		return skip(f, transport_names[t]);
	whole = inside / p.mtu;
	r = good(&p, op, packets * p.mtu - 5);
	mr = region(p.b.mem, 100 + inside, ALL_RIGHTS);
	if (op == READ) {
		memset(p.b.mem, 1, BYTES);
		memset(p.a.mem, FILL, BYTES);
	}
	r.remote += 100;
	r.rkey = mr->rkey;
	psn = sq_psn(p.a.qp);
	post(&p, &r);
	wc = next_wc(p.a.cq);
	bytes = op == READ ? landed(p.a.mem, p.b.mem, r.len)
			   : landed(p.b.mem + 100, p.a.mem, BYTES - 100);
	check(f,
	      text("%s %s, MTU %u, %u packets, %u bytes inside", transport_names[t], op_names[op],
		   p.mtu, packets, inside),
	      text("%s, %u bytes there, psn +%u, events: b ACCESS_ERR",
		   result(IBV_WC_REM_ACCESS_ERR, 0x88), whole * p.mtu, whole),
	      text("%s, %ld bytes there, psn +%u, events: %s", wc_text(&wc, true), bytes,
		   (sq_psn(p.a.qp) - psn) & 0xffffff, events(&p, true)));
	pair_free(&p);
	NEED(!ibv_dereg_mr(mr));
}

/* At every edge: at the start, inside of a packet, between two, and in the last one. */
static void parts(enum transport t, enum op op, enum ibv_mtu mtu)
{
	const uint32_t m = 128u << mtu;
	const uint32_t edges[] = {1,         m - 1, m,          m + 1,     2 * m,
				  3 * m - 4, 3 * m, 4 * m + 77, 5 * m - 1, 5 * m};

	for (uint32_t packets = 1; packets <= 6; packets++)
		for (size_t i = 0; i < COUNT(edges); i++)
			if (edges[i] < packets * m - 5)
				part(t, op, mtu, packets, edges[i]);
}

/* Nobody answers: `n` requests of `packets` each were sent all the same. */
static void sent(enum transport t, int n, uint32_t packets)
{
	struct options o = {.t = t, .timeout = 8};
	const char *last = "nothing";
	struct request r[DEPTH];
	struct pair p;
	uint32_t psn;

	if (!pair_make(&p, &o))
		return skip(ref_psn, transport_names[t]);
	psn = sq_psn(p.a.qp);
	to_state(p.b.qp, IBV_QPS_ERR);
	for (int i = 0; i < n; i++)
		r[i] = good(&p, WRITE, packets * p.mtu - 1);
	post_all(&p, r, n);
	for (int i = 0; i < n; i++) {
		struct ibv_wc wc = next_wc(p.a.cq);

		last = i ? last : wc_text(&wc, true);
	}
	check(ref_psn, text("%s, %d WRITEs of %u packets", transport_names[t], n, packets),
	      text("%s, psn +%u", result(IBV_WC_RETRY_EXC_ERR, 0x81), (uint32_t)n * packets),
	      text("%s, psn +%u", last, (sq_psn(p.a.qp) - psn) & 0xffffff));
	pair_free(&p);
}

static void refused_by(enum transport t)
{
	static const uint32_t lengths[] = {8, 1024, 4000};

	for (size_t i = 0; i < COUNT(by_key); i++)
		for (size_t k = 0; k < COUNT(lengths); k++) {
			enum op op = by_key[i];

			if (is_atomic(op) && k)
				break;
			by_qp(t, op, lengths[k], false);
			by_qp(t, op, lengths[k], true);
			/* A WRITE_IMM takes a receive, too: cards were not asked. */
			for (enum key key = UNKNOWN; op != WRITE_IMM && key <= RIGHT; key++)
				by_rkey(t, op, lengths[k], key);
		}
}

void refused_group(void)
{
	static const enum op needy[] = {SEND, SEND_IMM, WRITE_IMM};

	for (enum transport t = RC; t <= XRC; t += XRC - RC) {
		refused_by(t);
		for (size_t i = 0; i < COUNT(needy); i++)
			for (uint8_t retries = 0; retries <= 6; retries += 3) {
				not_ready(t, needy[i], 8, retries);
				not_ready(t, needy[i], 3000, retries);
			}
		parts(t, WRITE, IBV_MTU_1024);
		parts(t, WRITE, IBV_MTU_256);
		parts(t, READ, IBV_MTU_1024);
	}
	if (ad.port.active_mtu >= IBV_MTU_4096)
		parts(RC, WRITE, IBV_MTU_4096);
	sent(RC, 4, 1);
	sent(RC, 1, 1);
	sent(RC, 9, 1);
	sent(RC, 3, 5);
	sent(XRC, 4, 2);
}
