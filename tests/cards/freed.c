/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Memory that its program frees or unmaps while a region over it lives: the adapter keeps it. */
#include "cards.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { PAGE = 4096, PAGES = 4, LARGE = 4 << 20, OLD = 0x5a, NEW = 0x77, OTHER = 0x31 };

enum way { UNMAPPED, PART, FREED, WAYS };
static const char *const ways[] = {"unmapped", "its second page unmapped", "freed"};

/* Whole pages, which nobody else has. */
static uint8_t *take(enum way way, void **block, size_t *len)
{
	uint8_t *at;

	*len = way == FREED ? LARGE : PAGES * PAGE;
	if (way == FREED)
		*block = malloc(*len + PAGE);
	else
		*block = mmap(NULL, *len + PAGE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	NEED(*block && *block != MAP_FAILED);
	at = (uint8_t *)(((uintptr_t)*block + PAGE - 1) & ~(uintptr_t)(PAGE - 1));
	return memset(at, OLD, *len);
}

static void give_back(enum way way, void *block, uint8_t *at, size_t len)
{
	switch (way) {
	case UNMAPPED:
		NEED(!munmap(at, len));
		break;
	case PART:
		NEED(!munmap(at + PAGE, PAGE));
		break;
	default:
		free(block);
	}
}

/* What the program gets next, for which an allocator likes to use the place again. */
static uint8_t *next_block(size_t len)
{
	uint8_t *p = malloc(len + PAGE);

	NEED(p);
	return memset(p, NEW, len + PAGE);
}

static bool untouched(const uint8_t *p, size_t len, uint8_t what)
{
	while (len && p[len - 1] == what)
		len--;
	return !len;
}

/* A request to, or from, the second page of memory that is gone. */
static void remote(enum way way, enum op op)
{
	uint32_t bytes = is_atomic(op) ? 8 : 1000;
	struct request r, back;
	uint8_t *at, *later;
	struct ibv_wc wc;
	struct ibv_mr *mr;
	struct pair p;
	void *block;
	size_t len;
	bool kept;

	NEED(pair_make(&p, &(struct options){0}));
	at = take(way, &block, &len);
	mr = region(at, len, ALL_RIGHTS);
	give_back(way, block, at, len);
	later = next_block(len);
	memset(p.a.mem, OTHER, 2 * PAGE);
	r = good(&p, op, bytes);
	r.remote = (uintptr_t)at + PAGE;
	r.rkey = mr->rkey;
	post(&p, &r);
	wc = next_wc(p.a.cq);
	kept = !wc.status;
	if (kept && op == READ) {
		kept = untouched(p.a.mem, bytes, OLD);
	} else if (kept) {
		back = good(&p, READ, PAGE);
		back.remote = (uintptr_t)at + PAGE;
		back.rkey = mr->rkey;
		post(&p, &back);
		kept = !next_wc(p.a.cq).status && untouched(p.a.mem + bytes, PAGE - bytes, OLD) &&
		       (op != WRITE || untouched(p.a.mem, bytes, OTHER));
	}
	check(freed, text("%s of memory that is %s", op_names[op], ways[way]),
	      text("%s, its bytes kept, later memory untouched", result(IBV_WC_SUCCESS, ANY)),
	      text("%s, its bytes %s, later memory %s", wc_text(&wc, true), kept ? "kept" : "lost",
		   untouched(later, len + PAGE, NEW) ? "untouched" : "written"));
	NEED(!ibv_dereg_mr(mr));
	free(later);
	pair_free(&p);
}

/* The requester's own memory, and the receiver's. */
static void local(enum way way, bool receive)
{
	uint8_t *at, *later;
	struct request r;
	struct ibv_wc wc;
	struct ibv_mr *mr;
	struct pair p;
	void *block;
	size_t len;
	bool kept;

	NEED(pair_make(&p, &(struct options){0}));
	at = take(way, &block, &len);
	mr = region(at, len, ALL_RIGHTS);
	memset(p.b.mem, OTHER, PAGE);
	r = good(&p, receive ? SEND : WRITE, 1000);
	if (receive) {
		struct ibv_sge sge = {(uintptr_t)at + PAGE, 1000, mr->lkey};
		struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

		NEED(!ibv_post_recv(p.b.qp, &wr, &bad));
	} else {
		r.sge[0] = (struct ibv_sge){(uintptr_t)at + PAGE, 1000, mr->lkey};
	}
	give_back(way, block, at, len);
	later = next_block(len);
	post(&p, &r);
	wc = next_wc(receive ? p.b.cq : p.a.cq);
	kept = !wc.status && (receive || untouched(p.b.mem, 1000, OLD));
	check(freed,
	      text("%s memory that is %s", receive ? "a receive's" : "a WRITE's own", ways[way]),
	      text("%s, its bytes kept, later memory untouched", result(IBV_WC_SUCCESS, ANY)),
	      text("%s, its bytes %s, later memory %s", wc_text(&wc, true), kept ? "kept" : "lost",
		   untouched(later, len + PAGE, NEW) ? "untouched" : "written"));
	NEED(!ibv_dereg_mr(mr));
	free(later);
	pair_free(&p);
}

/* A region over it ends: the pages go, unless another one needs them. */
static void ends(void)
{
	struct ibv_mr *first, *second;
	unsigned char in[PAGES];
	struct request r;
	struct ibv_wc wc;
	struct pair p;
	void *block;
	uint8_t *at;
	size_t len;

	NEED(pair_make(&p, &(struct options){0}));
	at = take(UNMAPPED, &block, &len);
	first = region(at, len, ALL_RIGHTS);
	second = region(at + PAGE, PAGE, ALL_RIGHTS);
	give_back(UNMAPPED, block, at, len);
	NEED(!ibv_dereg_mr(first));
	r = good(&p, READ, 8);
	r.remote = (uintptr_t)at + PAGE;
	r.rkey = second->rkey;
	post(&p, &r);
	wc = next_wc(p.a.cq);
	check(freed, "READ of unmapped memory with one of two regions left",
	      result(IBV_WC_SUCCESS, ANY), wc_text(&wc, true));
	NEED(!ibv_dereg_mr(second));
	check(freed, "unmapped memory without a region", "gone",
	      mincore(at, len, in) && mincore(at + PAGE, PAGE, in) ? "gone" : "there");
	pair_free(&p);
}

void freed_group(void)
{
	static const enum op ops[] = {WRITE, READ, FAA};

	for (enum way way = UNMAPPED; way < WAYS; way++) {
		for (size_t i = 0; i < COUNT(ops); i++)
			remote(way, ops[i]);
		local(way, false);
		local(way, true);
	}
	ends();
}
