/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* For tests of tag matching: an SRQ's tag list, its entries, and messages with headers. */
#ifndef SOFTHCA_ENGINE_TEST_TM_H
#define SOFTHCA_ENGINE_TEST_TM_H

#include "engine/test.h"
#include "hw/srq.h"
#include "hw/tm.h"
#include "wire/prm/qp.h"
#include "wire/wqe/tm.h"
#include "wire/wqe/wqe.h"

/* Give the SRQ a list whose completions go to this CQ. */
static inline struct hw_tm *tm_make(struct tb *t, struct t_srq *srq, const struct t_cq *cq)
{
	struct hw_tm *tm;
	uint32_t i;

	assert_int_equal(seg_alloc(&t->s, SEG_T_TM, T_OWNER, &i), 0);
	tm = seg_at(&t->s, SEG_T_TM, i);
	tm->log_size = 2;
	tm->srqn = srq->srqn;
	tm->srq_gen = srq->hw->gen;
	srq->hw->cqn = cq->cqn;
	srq->hw->user_index = 0x777;
	srq->hw->tm = (uint16_t)i;
	return tm;
}

/* Post an entry by hand, as a command does. */
static inline void tm_entry(struct hw_tm *tm, uint32_t i, uint64_t tag, const struct t_sge *to)
{
	struct hw_tm_tag *t = &tm->tag[i];

	t->tag = tag;
	t->mask = UINT64_MAX;
	t->addr = to->addr;
	t->lkey = to->key;
	t->len = to->len;
	atomic_store(&t->state, hw_tm_state(0, HW_TM_POSTED, 0, i + 1));
	atomic_store(&tm->seq, i + 1);
	atomic_store(&tm->sync, (uint64_t)(i + 1) << 40);
}

struct tm_msg {
	uint8_t b[48];
	uint32_t len;
};

static inline struct tm_msg tm_header(uint32_t op, uint64_t tag)
{
	struct tm_msg m = {.len = 16};

	LAYOUT_SET(tmh, m.b, opcode, op);
	LAYOUT_SET(tmh, m.b, app_ctx, 0x1234);
	LAYOUT_SET(tmh, m.b, tag, tag);
	return m;
}

static inline void tm_send(struct t_qp *q, uint32_t op, uint64_t tag, const char *text)
{
	struct tm_msg m = tm_header(op, tag);

	memcpy(m.b + 16, text, strlen(text));
	t_post(q, &(struct t_wr){.opcode = MLX5_OPCODE_SEND,
				 .fm_ce_se = T_SIG,
				 .inl = m.b,
				 .inl_len = 16 + (uint32_t)strlen(text)});
}

/* The first `len` bytes of the sender's memory. */
static inline void tm_offer(struct t_qp *q, uint64_t tag, uint32_t key, uint32_t len)
{
	struct tm_msg m = tm_header(TMH_RNDV, tag);

	LAYOUT_SET(rvh, m.b + 16, va, (uintptr_t)q->mem);
	LAYOUT_SET(rvh, m.b + 16, rkey, key);
	LAYOUT_SET(rvh, m.b + 16, len, len);
	t_post(q,
	       &(struct t_wr){
		       .opcode = MLX5_OPCODE_SEND, .fm_ce_se = T_SIG, .inl = m.b, .inl_len = 32});
}

#endif
