/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Both keys wrong, lengths of zero, and windows. */
#include "cards.h"

static void both(enum transport t, enum op op, uint32_t len)
{
	int status = op == READ || is_atomic(op) ? IBV_WC_REM_ACCESS_ERR : IBV_WC_LOC_PROT_ERR;
	struct request r;
	struct ibv_wc wc;
	struct pair p;

	if (!pair_make(&p, &(struct options){.t = t}))
		return skip(key_both, transport_names[t]);
	r = good(&p, op, len);
	r.rkey ^= 0xff00ff;
	r.sge[0].lkey ^= 0xff00ff;
	post(&p, &r);
	wc = next_wc(p.a.cq);
	check(key_both, text("%s %s, %u bytes", transport_names[t], op_names[op], len),
	      result(status, status == IBV_WC_REM_ACCESS_ERR ? 0x88 : 0x52), wc_text(&wc, true));
	pair_free(&p);
}

static void zero(enum transport t, enum op op)
{
	struct request r;
	struct ibv_wc wc;
	struct pair p;

	if (!pair_make(&p, &(struct options){.t = t}))
		return skip(key_zero, transport_names[t]);
	r = good(&p, op, 0);
	r.rkey ^= 0xff00ff;
	r.nsge = 0;
	if (op == WRITE_IMM)
		post_receive(&p, 0);
	post(&p, &r);
	wc = next_wc(p.a.cq);
	check(key_zero, text("%s %s, unknown rkey", transport_names[t], op_names[op]),
	      result(IBV_WC_SUCCESS, ANY), wc_text(&wc, true));
	pair_free(&p);
}

static void misaligned(enum transport t, enum op op, uint32_t at, bool rkey_too)
{
	struct request r;
	struct ibv_wc wc;
	int refused;
	struct pair p;

	if (!pair_make(&p, &(struct options){.t = t}))
		return skip(key_align, transport_names[t]);
	r = good(&p, op, 8);
	r.remote += at;
	r.rkey ^= rkey_too ? 0xff00ff : 0;
	refused = try_post(&p, &r, 1);
	if (!refused)
		wc = next_wc(p.a.cq);
	check(key_align,
	      text("%s %s at %u%s", transport_names[t], op_names[op], at,
		   rkey_too ? ", unknown rkey" : ""),
	      text("%s, 0 bytes there", result(IBV_WC_REM_INV_REQ_ERR, ANY)),
	      text("%s, %ld bytes there", refused ? "refused by the library" : wc_text(&wc, false),
		   landed(p.b.mem, p.a.mem, BYTES)));
	pair_free(&p);
}

/* A window of b's, bound by b to `len` bytes at `at`. The responder binds: its send queue, too. */
static struct ibv_wc bind(struct pair *p, enum ibv_mw_type type, struct ibv_mw **mw,
			  struct ibv_mr *mr, const uint8_t *at, uint64_t len, unsigned int rights,
			  uint32_t *rkey)
{
	struct ibv_mw_bind_info info = {
		.mr = mr, .addr = (uintptr_t)at, .length = len, .mw_access_flags = rights};
	int rc;

	*mw = ibv_alloc_mw(ad.pd, type);
	if (!*mw)
		return (struct ibv_wc){.status = (enum ibv_wc_status)NONE};
	if (type == IBV_MW_TYPE_1) {
		struct ibv_mw_bind b = {.send_flags = IBV_SEND_SIGNALED, .bind_info = info};

		rc = ibv_bind_mw(p->b.qp, *mw, &b);
		*rkey = (*mw)->rkey;
	} else {
		struct ibv_send_wr wr = {.opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED},
				   *bad;

		wr.bind_mw.mw = *mw;
		wr.bind_mw.rkey = *rkey = ibv_inc_rkey((*mw)->rkey);
		wr.bind_mw.bind_info = info;
		rc = ibv_post_send(p->b.qp, &wr, &bad);
	}
	if (rc)
		return (struct ibv_wc){.status = (enum ibv_wc_status)NONE};
	return next_wc(p->b.cq);
}

/* A window from `before` bytes before its region to `behind` bytes behind it, used at `at`. */
static void large(enum ibv_mw_type type, uint32_t before, uint32_t behind, int at, uint32_t len)
{
	enum { FROM = 8192, SIZE = 4096 };
	bool inside = at >= 0 && at + (int)len <= SIZE;
	struct ibv_wc bound, used = {0};
	struct ibv_mr *mr;
	struct ibv_mw *mw;
	struct pair p;
	uint32_t rkey = 0;

	NEED(pair_make(&p, &(struct options){0}));
	mr = region(p.b.mem + FROM, SIZE, ALL_RIGHTS | IBV_ACCESS_MW_BIND);
	bound = bind(&p, type, &mw, mr, p.b.mem + FROM - before, SIZE + before + behind,
		     IBV_ACCESS_REMOTE_WRITE, &rkey);
	if (bound.status == IBV_WC_SUCCESS) {
		struct request r = good(&p, WRITE, len);

		r.rkey = rkey;
		r.remote = (uintptr_t)p.b.mem + FROM + (uint64_t)(int64_t)at;
		post(&p, &r);
		used = next_wc(p.a.cq);
	}
	check(win_large,
	      text("type %d, %u bytes before its region, %u behind, WRITE of %u at %d", type,
		   before, behind, len, at),
	      text("bind 0, WRITE %s",
		   inside ? result(IBV_WC_SUCCESS, ANY) : result(IBV_WC_REM_ACCESS_ERR, 0x88)),
	      bound.status ? text("bind %s", wc_text(&bound, true))
			   : text("bind 0, WRITE %s", wc_text(&used, true)));
	events(&p, !bound.status && used.status);
	if (mw)
		NEED(!ibv_dealloc_mw(mw));
	pair_free(&p);
	NEED(!ibv_dereg_mr(mr));
}

/* A window for atomics over memory that nobody may write to. */
static void atomic(enum ibv_mw_type type, enum op op)
{
	struct ibv_wc bound, used = {0};
	struct ibv_mr *mr;
	struct ibv_mw *mw;
	struct pair p;
	uint32_t rkey = 0;

	NEED(pair_make(&p, &(struct options){0}));
	mr = region(p.b.mem, BYTES, IBV_ACCESS_MW_BIND);
	bound = bind(&p, type, &mw, mr, p.b.mem, 64, IBV_ACCESS_REMOTE_ATOMIC, &rkey);
	if (bound.status == IBV_WC_SUCCESS) {
		struct request r = good(&p, op, 8);

		r.rkey = rkey;
		post(&p, &r);
		used = next_wc(p.a.cq);
	}
	check(win_atomic, text("type %d, %s", type, op_names[op]),
	      text("bind 0, %s, the word as before", result(IBV_WC_REM_ACCESS_ERR, 0x88)),
	      bound.status ? text("bind %s", wc_text(&bound, true))
			   : text("bind 0, %s, the word %s", wc_text(&used, true),
				  p.b.mem[0] == FILL ? "as before" : "changed"));
	events(&p, !bound.status && used.status);
	if (mw)
		NEED(!ibv_dealloc_mw(mw));
	pair_free(&p);
	NEED(!ibv_dereg_mr(mr));
}

static void keys_of(enum transport t)
{
	static const uint32_t lengths[] = {1, 1024, 5000};

	for (size_t i = 0; i < COUNT(lengths); i++) {
		both(t, WRITE, lengths[i]);
		both(t, READ, lengths[i]);
	}
	zero(t, WRITE);
	zero(t, WRITE_IMM);
	zero(t, READ);
	for (uint32_t at = 1; at < 8; at += 3)
		for (int too = 0; too < 2; too++) {
			misaligned(t, FAA, at, too);
			misaligned(t, CAS, at, too);
		}
}

void keys_group(void)
{
	static const struct {
		uint32_t before, behind;
		int at;
		uint32_t len;
	} rows[] = {
		{0, 64, 0, 64},      {0, 64, 4096, 8},     {0, 64, 4090, 8},  {64, 0, -8, 8},
		{64, 0, -4, 8},      {64, 0, 0, 8},        {64, 64, 4096, 1}, {64, 64, 0, 4096},
		{4096, 4096, -1, 1}, {0, 8192, 100, 5000}, {1, 1, 4088, 8},
	};

	keys_of(RC);
	keys_of(XRC);
	for (enum ibv_mw_type type = IBV_MW_TYPE_1; type <= IBV_MW_TYPE_2; type++) {
		for (size_t i = 0; i < COUNT(rows); i++)
			large(type, rows[i].before, rows[i].behind, rows[i].at, rows[i].len);
		atomic(type, CAS);
		atomic(type, FAA);
	}
}
