/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The bed of tests of tag matching: a sender, a receiver with an XRQ, and a QP for its commands. */
#ifndef SOFTHCA_ENGINE_TEST_TM_BED_H
#define SOFTHCA_ENGINE_TEST_TM_BED_H

#include "engine/test_tm.h"
#include "hw/cq.h"
#include "hw/qp.h"
#include "hw/qp_state.h"

struct bed {
	struct tb *t;
	struct t_srq srq;
	struct hw_tm *tm;
	struct t_qp *a, *b; /* b has the XRQ */
	struct t_qp *cmd, *cmd2;
};

static inline int setup(void **state)
{
	struct bed *p = calloc(1, sizeof(*p));

	p->t = tb_create();
	t_srq_make(p->t, &p->srq, p->t->pd[1]);
	p->a = t_qp_make(p->t, 0, PRM_ST_RC, NULL);
	p->b = t_qp_make(p->t, 1, PRM_ST_RC, &p->srq);
	p->cmd = t_qp_make(p->t, 1, PRM_ST_RC, &p->srq);
	p->cmd2 = t_qp_make(p->t, 1, PRM_ST_RC, &p->srq);
	p->tm = tm_make(p->t, &p->srq, &p->b->cq);
	t_connect(p->a, p->b);
	t_connect(p->cmd, p->cmd2);
	for (int i = 0; i < 3; i++)
		t_srq_post(&p->srq, p->b->key, p->b->mem + i * 64, 64);
	*state = p;
	return 0;
}

static inline int teardown(void **state)
{
	struct bed *p = *state;

	t_qp_free(p->a);
	t_qp_free(p->b);
	t_qp_free(p->cmd);
	t_qp_free(p->cmd2);
	tb_destroy(p->t);
	free(p);
	return 0;
}

static inline const uint8_t *next_cqe(struct bed *p, uint32_t app_op)
{
	const uint8_t *c = (const uint8_t *)t_poll(&p->b->cq);

	assert_non_null(c);
	assert_int_equal(LAYOUT_GET(cqe64, c, app), CQE_APP_TAG_MATCHING);
	assert_int_equal(LAYOUT_GET(cqe64, c, app_op), app_op);
	assert_int_equal(LAYOUT_GET(cqe64, c, srqn_uidx), 0x777);
	return c;
}

struct command {
	uint32_t op, index, len;
	int sw; /* -1: none */
	uint64_t tag, mask, addr;
};

static inline void command(struct bed *p, const struct command *c)
{
	uint8_t raw[48] = {0};

	LAYOUT_SET(wqe_tm, raw, opcode, c->op);
	LAYOUT_SET(wqe_tm, raw, cqe_req, 1);
	LAYOUT_SET(wqe_tm, raw, index, c->index);
	LAYOUT_SET(wqe_tm, raw, sw_cnt_valid, c->sw >= 0);
	LAYOUT_SET(wqe_tm, raw, sw_cnt, c->sw & 0xffff);
	LAYOUT_SET(wqe_tm, raw, tag, c->tag);
	LAYOUT_SET(wqe_tm, raw, mask, c->mask);
	LAYOUT_SET(wqe_data, raw + 32, byte_count, c->len);
	LAYOUT_SET(wqe_data, raw + 32, lkey, p->b->key);
	LAYOUT_SET(wqe_data, raw + 32, addr, c->addr);
	t_post(p->cmd, &(struct t_wr){.opcode = WQE_OP_TAG_MATCHING,
				      .raw = raw,
				      .raw_len = c->op == WQE_TM_APPEND ? 48 : 32});
}

static inline void add(struct bed *p, uint64_t tag, uint64_t mask, uint32_t at, uint32_t next,
		       int sw)
{
	command(p, &(struct command){WQE_TM_APPEND, next, 64, sw, tag, mask,
				     (uintptr_t)p->b->mem + at});
}

static inline void due(struct bed *p)
{
	t_now += 2000000;
	eng_run_due(&p->t->s);
}

static inline void offers(struct bed *p)
{
	LAYOUT_SET(qpc, p->b->hw->qpc, offload_type, 1);
	t_recv_at(p->a, 8192, 64);
	memset(p->a->mem, 7, 3000);
	add(p, 5, UINT64_MAX, 4096, 1, -1);
	next_cqe(p, CQE_TM_APPEND);
	p->tm->tag[0].len = 3000;
	tm_offer(p->a, 5, p->a->key, 3000);
}

#endif
