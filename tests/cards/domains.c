/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Protection domains, and the memory of regions: which key serves whom, and with which right. */
#include "cards.h"

#include <errno.h>

static const enum op ops[] = {WRITE, READ, SEND, FAA, CAS};

/* A region of another PD, at the requester or at the responder. */
static void other_pd(enum op op, bool own)
{
	struct ibv_pd *pd = ibv_alloc_pd(ad.ctx);
	bool scatters = op == READ || is_atomic(op);
	struct ibv_mr *mr;
	struct request r;
	struct ibv_wc wc;
	struct pair p;

	NEED(pd && pair_make(&p, &(struct options){0}));
	NEED(mr = ibv_reg_mr(pd, own ? p.a.mem : p.b.mem, BYTES, ALL_RIGHTS));
	if (op == SEND)
		post_receive(&p, 64);
	r = good(&p, op, 8);
	if (own)
		r.sge[0].lkey = mr->lkey;
	else
		r.rkey = mr->rkey;
	post(&p, &r);
	wc = next_wc(p.a.cq);
	check(own ? pd_own : pd_remote, op_names[op],
	      own ? text("%s, b RTS", result(IBV_WC_LOC_PROT_ERR, scatters ? ANY : 0x52))
		  : text("%s, b ERR", result(IBV_WC_REM_ACCESS_ERR, 0x88)),
	      text("%s, b %s", wc_text(&wc, !own || !scatters), state_name(p.b.qp)));
	events(&p, !own);
	pair_free(&p);
	NEED(!ibv_dereg_mr(mr) && !ibv_dealloc_pd(pd));
}

/* Rights that the operation does not need are not asked for. */
static void rights(enum op op, bool own, unsigned int lacks)
{
	bool scatters = op == READ || is_atomic(op);
	bool fails = own ? scatters && lacks & IBV_ACCESS_LOCAL_WRITE : lacks & right_of(op);
	unsigned int all = ALL_RIGHTS & ~lacks;
	struct ibv_mr *mr;
	struct request r;
	struct ibv_wc wc;
	struct pair p;

	if (!(all & IBV_ACCESS_LOCAL_WRITE))
		all &= ~(unsigned int)(IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC);
	NEED(pair_make(&p, &(struct options){0}));
	mr = region(own ? p.a.mem : p.b.mem, BYTES, all);
	r = good(&p, op, 64);
	if (own)
		r.sge[0].lkey = mr->lkey;
	else
		r.rkey = mr->rkey;
	post(&p, &r);
	wc = next_wc(p.a.cq);
	check(own ? mr_own_right : mr_right,
	      text("%s, %s region without %s", op_names[op], own ? "own" : "remote",
		   lacks == IBV_ACCESS_LOCAL_WRITE    ? "LOCAL_WRITE"
		   : lacks == IBV_ACCESS_REMOTE_WRITE ? "REMOTE_WRITE"
		   : lacks == IBV_ACCESS_REMOTE_READ  ? "REMOTE_READ"
						      : "REMOTE_ATOMIC"),
	      !fails ? "0"
	      : own  ? text("%d", IBV_WC_LOC_PROT_ERR)
		     : text("%d", IBV_WC_REM_ACCESS_ERR),
	      wc_text(&wc, false));
	events(&p, !own && wc.status);
	pair_free(&p);
	NEED(!ibv_dereg_mr(mr));
}

static const char *error_of(int rc)
{
	return rc == 0 ? "0" : rc == EBUSY ? "EBUSY" : rc == EINVAL ? "EINVAL" : strerror(rc);
}

/* What is in use stays. */
static void busy(void)
{
	struct ibv_srq_init_attr init = {.attr = {.max_wr = 1, .max_sge = 1}};
	struct ibv_ah_attr to = {.dlid = ad.port.lid,
				 .port_num = 1,
				 .is_global = ad.ethernet,
				 .grh = {.dgid = ad.gid, .sgid_index = ad.gid_index}};
	struct ibv_pd *pd = ibv_alloc_pd(ad.ctx);
	uint8_t page[64];
	struct ibv_srq *srq;
	struct ibv_mr *mr;
	struct ibv_mw *mw;
	struct ibv_ah *ah;
	struct pair p;

	NEED(pd && (mr = ibv_reg_mr(pd, page, sizeof(page), 0)));
	check(pd_busy, "a region", "EBUSY", error_of(ibv_dealloc_pd(pd)));
	NEED(!ibv_dereg_mr(mr) && (mw = ibv_alloc_mw(pd, IBV_MW_TYPE_1)));
	check(pd_busy, "a window", "EBUSY", error_of(ibv_dealloc_pd(pd)));
	NEED(!ibv_dealloc_mw(mw) && (srq = ibv_create_srq(pd, &init)));
	check(pd_busy, "an SRQ", "EBUSY", error_of(ibv_dealloc_pd(pd)));
	NEED(!ibv_destroy_srq(srq));
	if (ad.ethernet) { /* InfiniBand: libmlx5 makes it without the kernel */
		NEED(ah = ibv_create_ah(pd, &to));
		check(pd_busy, "an address handle", "EBUSY", error_of(ibv_dealloc_pd(pd)));
		NEED(!ibv_destroy_ah(ah));
	}
	check(pd_busy, "nothing", "0", error_of(ibv_dealloc_pd(pd)));
	NEED(pair_make(&p, &(struct options){.srq = true}));
	check(cq_busy, "a QP", "EBUSY", error_of(ibv_destroy_cq(p.a.cq)));
	check(srq_busy, "a QP", "EBUSY", error_of(ibv_destroy_srq(p.b.srq)));
	pair_free(&p);
}

/* What a registration refuses, and what it does not. */
static void registration(void)
{
	static const struct {
		const char *name, *card;
		unsigned int access;
		size_t len;
	} rows[] = {
		{"REMOTE_WRITE without LOCAL_WRITE", "EINVAL", IBV_ACCESS_REMOTE_WRITE, 4096},
		{"REMOTE_ATOMIC without LOCAL_WRITE", "EINVAL", IBV_ACCESS_REMOTE_ATOMIC, 4096},
		{"REMOTE_READ without LOCAL_WRITE", "0", IBV_ACCESS_REMOTE_READ, 4096},
		{"no right", "0", 0, 4096},
		{"length 0", "0", IBV_ACCESS_LOCAL_WRITE, 0},
	};
	static uint8_t memory[4096];

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct ibv_mr *mr = ibv_reg_mr(ad.pd, memory, rows[i].len, (int)rows[i].access);

		check(rows[i].len ? mr_rights : mr_zero, rows[i].name, rows[i].card,
		      mr ? "0" : error_of(errno));
		if (mr)
			NEED(!ibv_dereg_mr(mr));
	}
}

/* An atomic's answer has 8 bytes, however long its segment is. */
static void answer(enum op op, uint32_t len)
{
	struct request r;
	struct ibv_wc wc;
	uint64_t got;
	struct pair p;

	NEED(pair_make(&p, &(struct options){0}));
	memset(p.a.mem, 0x11, 64);
	r = good(&p, op, 8);
	r.sge[0].length = len;
	post(&p, &r);
	wc = next_wc(p.a.cq);
	memcpy(&got, p.a.mem, sizeof(got));
	check(atomic_long, text("%s, a segment of %u", op_names[op], len),
	      "0, the word as it was, no byte more",
	      text("%s, the word %s, %s", wc_text(&wc, true),
		   got == UINT64_C(0xeeeeeeeeeeeeeeee) ? "as it was" : "not as it was",
		   p.a.mem[8] == 0x11 ? "no byte more" : "more bytes"));
	pair_free(&p);
}

/* All 64 bits are added; a word that does not compare stays. */
static void word(enum op op, uint64_t before, uint64_t compare_add, uint64_t swap, uint64_t after)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = {.opcode = op == FAA ? IBV_WR_ATOMIC_FETCH_AND_ADD
						     : IBV_WR_ATOMIC_CMP_AND_SWP,
				 .send_flags = IBV_SEND_SIGNALED,
				 .sg_list = &sge,
				 .num_sge = 1},
			   *bad;
	uint64_t *there, *here;
	struct ibv_wc wc;
	struct pair p;

	NEED(pair_make(&p, &(struct options){0}));
	there = (uint64_t *)(void *)p.b.mem;
	here = (uint64_t *)(void *)p.a.mem;
	*there = before;
	sge = (struct ibv_sge){(uintptr_t)here, 8, p.a.mr->lkey};
	wr.wr.atomic.remote_addr = (uintptr_t)there;
	wr.wr.atomic.rkey = p.b.mr->rkey;
	wr.wr.atomic.compare_add = compare_add;
	wr.wr.atomic.swap = swap;
	NEED(!ibv_post_send(p.a.qp, &wr, &bad));
	wc = next_wc(p.a.cq);
	check(op == FAA ? atomic_add : atomic_swap,
	      text("%s 0x%llx to 0x%llx", op_names[op], (unsigned long long)compare_add,
		   (unsigned long long)before),
	      text("0, answer 0x%llx, then 0x%llx", (unsigned long long)before,
		   (unsigned long long)after),
	      text("%s, answer 0x%llx, then 0x%llx", wc_text(&wc, true), (unsigned long long)*here,
		   (unsigned long long)*there));
	pair_free(&p);
}

void domains_group(void)
{
	static const unsigned int lacks[] = {IBV_ACCESS_REMOTE_WRITE, IBV_ACCESS_REMOTE_READ,
					     IBV_ACCESS_REMOTE_ATOMIC};
	static const enum op one_sided[] = {WRITE, READ, FAA, CAS};

	for (size_t i = 0; i < COUNT(ops); i++) {
		other_pd(ops[i], true);
		if (ops[i] != SEND)
			other_pd(ops[i], false);
	}
	for (size_t i = 0; i < COUNT(one_sided); i++) {
		for (size_t k = 0; k < COUNT(lacks); k++)
			rights(one_sided[i], false, lacks[k]);
		rights(one_sided[i], true, IBV_ACCESS_LOCAL_WRITE);
	}
	busy();
	registration();
	answer(FAA, 9);
	answer(CAS, 9);
	answer(FAA, 16);
	word(FAA, 2, UINT64_C(1) << 36, 0, (UINT64_C(1) << 36) + 2);
	word(FAA, 2, 0, 0, 2);
	word(FAA, UINT64_MAX, 1, 0, 0);
	word(CAS, 2, 1, 3, 2);
	word(CAS, 2, 2, 3, 3);
	word(CAS, 2, UINT64_C(0x100000002), 3, 2);
}
