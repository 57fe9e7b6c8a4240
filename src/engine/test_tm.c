/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tag matching: commands of the list, messages, rendezvous and what is owed to its two ends. */
#include "engine/test_tm_bed.h"
#include "hw/cq.h"
#include "hw/qp.h"
#include "hw/qp_state.h"

#include <infiniband/verbs.h>

static void messages_take_entries(void **state)
{
	struct bed *p = *state;
	const uint8_t *c;

	add(p, 5, UINT64_MAX, 1024, 1, -1);
	assert_int_equal(LAYOUT_GET(cqe64, next_cqe(p, CQE_TM_APPEND), app_info), 0);
	add(p, 0, 0, 2048, 2, -1); /* any tag */
	next_cqe(p, CQE_TM_APPEND);
	tm_send(p->a, TMH_EAGER, 9, "any");
	c = next_cqe(p, CQE_TM_CONSUMED_MSG);
	assert_int_equal(LAYOUT_GET(cqe64, c, app_info), 1);
	assert_int_equal(LAYOUT_GET(tmh, c, tag), 9);
	assert_memory_equal(p->b->mem + 2048, "any", 3);
	tm_send(p->a, TMH_EAGER, 5, "five");
	assert_int_equal(LAYOUT_GET(cqe64, next_cqe(p, CQE_TM_CONSUMED_MSG), app_info), 0);
	assert_memory_equal(p->b->mem + 1024, "five", 4);
	for (int i = 0; i < 2; i++)
		assert_int_equal(HW_TM_KIND(p->tm->tag[i].state), HW_TM_FREE);
	assert_int_equal(p->b->hw->rx_srq_wqe, 0);
	assert_int_equal(p->srq.hw->consumed, 0);
}

/* The oldest entry, also where the list has gone round. */
static void the_oldest_entry_first(void **state)
{
	struct bed *p = *state;

	for (uint32_t i = 0; i < 11; i++) {
		add(p, 1, 0, 1024 + i % 4 * 64, (i + 1) % 4, -1);
		next_cqe(p, CQE_TM_APPEND);
		if (i < 2)
			continue;
		tm_send(p->a, TMH_EAGER, i, "x");
		assert_int_equal(LAYOUT_GET(cqe64, next_cqe(p, CQE_TM_CONSUMED_MSG), app_info),
				 (i - 2) % 4);
	}
}

static void an_entry_is_removed_once(void **state)
{
	struct bed *p = *state;

	add(p, 5, UINT64_MAX, 1024, 1, -1);
	next_cqe(p, CQE_TM_APPEND);
	for (uint32_t ok = 1; ok <= 1; ok--) {
		command(p, &(struct command){.op = WQE_TM_REMOVE, .index = 0, .sw = -1});
		assert_int_equal(LAYOUT_GET(tm_cqe, next_cqe(p, CQE_TM_REMOVE), success), ok);
	}
	tm_send(p->a, TMH_EAGER, 5, "x");
	next_cqe(p, CQE_TM_UNEXPECTED);
}

/*
 * The message that has the entry may still fail and return it, so REMOVE waits: programs expect one
 * CQE or the other.
 */
static void a_removal_waits_for_a_message_in_work(void **state)
{
	struct bed *p = *state;
	struct hw_tm_tag *t = &p->tm->tag[0];
	uint64_t posted;

	add(p, 5, UINT64_MAX, 1024, 1, -1);
	next_cqe(p, CQE_TM_APPEND);
	posted = atomic_load(&t->state);
	atomic_store(&t->state, hw_tm_state(posted, HW_TM_TAKEN, p->b->qpn, HW_TM_SEQ(posted)));
	command(p, &(struct command){.op = WQE_TM_REMOVE, .index = 0, .sw = -1});
	due(p);
	t_assert_empty(&p->b->cq);
	atomic_store(&t->state, posted);
	due(p);
	assert_int_equal(LAYOUT_GET(tm_cqe, next_cqe(p, CQE_TM_REMOVE), success), 1);
	assert_int_equal(HW_TM_KIND(t->state), HW_TM_FREE);
}

/*
 * A message waits with a receive of the SRQ in hand. If a matching entry comes, the message takes
 * the entry.
 */
static void a_message_that_waits_gives_its_receive_back(void **state)
{
	struct bed *p = *state;
	struct t_sge to = t_own(p->b, 1024, 64);
	struct hw_cq *cq = p->b->cq.hw;
	struct seg *s = &p->t->s;
	uint32_t head = p->srq.hw->head;

	assert_int_equal(seg_lock(s, &cq->lock, 0), 0);
	tm_send(p->a, TMH_EAGER, 5, "x");
	assert_int_equal(p->a->hw->park, HW_PARK_LOCK);
	assert_int_equal(p->srq.hw->consumed, 1);
	tm_entry(p->tm, 0, 5, &to);
	seg_unlock(s, &cq->lock);
	due(p);
	next_cqe(p, CQE_TM_CONSUMED_MSG);
	assert_int_equal(p->srq.hw->consumed, 0);
	assert_int_equal(p->srq.hw->head, head);
	tm_send(p->a, TMH_EAGER, 5, "y");
	assert_int_equal(LAYOUT_GET(cqe64, next_cqe(p, CQE_TM_UNEXPECTED), wqe_counter), head);
}

/* Two entries stay in the list during so many appends that sequence numbers wrap. */
static void entries_stay_over_many_appends(void **state)
{
	struct bed *p = *state;
	uint32_t next = 0;

	for (uint64_t tag = 5; tag < 7; tag++) {
		add(p, tag, 0, 1024, ++next, -1);
		next_cqe(p, CQE_TM_APPEND);
	}
	for (int i = 0; i < 12; i++) {
		atomic_fetch_or(&p->tm->seq, HW_TM_RENUMBER - 1);
		add(p, 7, 0, 1024, 2, -1); /* append and remove the third entry, again and again */
		next_cqe(p, CQE_TM_APPEND);
		command(p, &(struct command){.op = WQE_TM_REMOVE, .index = 2, .sw = -1});
		next_cqe(p, CQE_TM_REMOVE);
	}
	for (uint32_t i = 0; i < 2; i++) {
		tm_send(p->a, TMH_EAGER, 9, "x");
		assert_int_equal(LAYOUT_GET(cqe64, next_cqe(p, CQE_TM_CONSUMED_MSG), app_info), i);
	}
}

/* The same for two entries that may not be matched yet. */
static void entries_wait_over_many_appends(void **state)
{
	struct bed *p = *state;

	tm_send(p->a, TMH_EAGER, 5, "1");
	next_cqe(p, CQE_TM_UNEXPECTED);
	add(p, 5, 0, 1024, 1, 0);
	next_cqe(p, CQE_TM_APPEND);
	for (int i = 0; i < 12; i++) {
		atomic_fetch_or(&p->tm->seq, HW_TM_RENUMBER - 1);
		add(p, 7, 0, 1024, 1, 0);
		next_cqe(p, CQE_TM_APPEND);
		if (i == 11)
			break;
		command(p, &(struct command){.op = WQE_TM_REMOVE, .index = 1, .sw = 0});
		next_cqe(p, CQE_TM_REMOVE);
	}
	tm_send(p->a, TMH_EAGER, 5, "2");
	next_cqe(p, CQE_TM_UNEXPECTED);
	command(p, &(struct command){.op = WQE_TM_NOP, .sw = 2});
	next_cqe(p, CQE_TM_NOOP);
	tm_send(p->a, TMH_EAGER, 5, "3");
	next_cqe(p, CQE_TM_CONSUMED_MSG);
}

/* Entries may be taken when the program has counted the unexpected messages, too. */
static void unexpected_messages_hold_entries_back(void **state)
{
	struct bed *p = *state;

	tm_send(p->a, TMH_EAGER, 5, "1");
	next_cqe(p, CQE_TM_UNEXPECTED);
	assert_memory_equal(p->b->mem + 16, "1", 1);
	add(p, 5, UINT64_MAX, 1024, 1, 0);
	assert_int_equal(LAYOUT_GET(tm_cqe, next_cqe(p, CQE_TM_APPEND), hw_phase_cnt), 1);
	tm_send(p->a, TMH_EAGER, 5, "2");
	next_cqe(p, CQE_TM_UNEXPECTED);
	command(p, &(struct command){.op = WQE_TM_NOP, .sw = 2});
	assert_int_equal(LAYOUT_GET(tm_cqe, next_cqe(p, CQE_TM_NOOP), hw_phase_cnt), 2);
	tm_send(p->a, TMH_EAGER, 5, "3");
	next_cqe(p, CQE_TM_CONSUMED_MSG);
	assert_int_equal(HW_TM_CLAIMED(p->tm->sync), 0);
}

/*
 * An entry appended now may not be matched before the next command; the CQE tells the program so.
 */
static void an_append_beside_an_unexpected_message(void **state)
{
	struct bed *p = *state;

	atomic_fetch_or(&p->tm->sync, HW_TM_CLAIM(2));
	add(p, 5, UINT64_MAX, 1024, 1, 0);
	assert_int_equal(LAYOUT_GET(tm_cqe, next_cqe(p, CQE_TM_APPEND), hw_phase_cnt), 1);
	atomic_fetch_and(&p->tm->sync, ~HW_TM_CLAIM(2));
	command(p, &(struct command){.op = WQE_TM_NOP, .sw = 0});
	assert_int_equal(LAYOUT_GET(tm_cqe, next_cqe(p, CQE_TM_NOOP), hw_phase_cnt), 0);
}

/* A message that finds no receive is not counted, and entries that came meanwhile may be taken. */
static void a_message_without_a_receive(void **state)
{
	struct bed *p = *state;

	for (int i = 0; i < 4; i++)
		tm_send(p->a, TMH_EAGER, 5, "x");
	assert_int_equal(p->a->hw->park, HW_PARK_RNR);
	assert_int_equal(HW_TM_HW(p->tm->sync), 3);
	assert_int_equal(HW_TM_CLAIMED(p->tm->sync), 0);
	for (int i = 0; i < 3; i++)
		next_cqe(p, CQE_TM_UNEXPECTED);
	add(p, 5, UINT64_MAX, 1024, 1, 3);
	next_cqe(p, CQE_TM_APPEND);
	t_now += 1000000000;
	eng_run_due(&p->t->s);
	next_cqe(p, CQE_TM_CONSUMED_MSG);
}

static void messages_without_a_tag(void **state)
{
	struct bed *p = *state;

	add(p, 0, 0, 1024, 1, -1);
	next_cqe(p, CQE_TM_APPEND);
	tm_send(p->a, TMH_NO_TAG, 0, "x");
	next_cqe(p, CQE_TM_NO_TAG);
	t_post(p->a, &(struct t_wr){.opcode = MLX5_OPCODE_SEND, .inl = "\3", .inl_len = 1});
	next_cqe(p, CQE_TM_NO_TAG);
	assert_int_equal(HW_TM_HW(p->tm->sync), 0);
}

static void a_rendezvous(void **state)
{
	struct bed *p = *state;
	const uint8_t *c;

	offers(p);
	c = next_cqe(p, CQE_TM_CONSUMED);
	assert_int_equal(LAYOUT_GET(cqe64, c, opcode), CQE_NO_PACKET);
	assert_int_equal(LAYOUT_GET(tmh, c, tag), 5);
	c = next_cqe(p, CQE_TM_EXPECTED);
	assert_int_equal(LAYOUT_GET(cqe64, c, byte_cnt), 3000);
	assert_int_equal(LAYOUT_GET(cqe64, c, app_info), 0);
	assert_memory_equal(p->b->mem + 4096, p->a->mem, 3000);
	assert_int_equal(HW_TM_KIND(p->tm->tag[0].state), HW_TM_FREE);
	t_expect_done(p->a, MLX5_OPCODE_SEND, 0);
	c = (const uint8_t *)t_poll(&p->a->cq); /* the FIN */
	assert_non_null(c);
	assert_int_equal(LAYOUT_GET(cqe64, c, opcode), CQE_RESP_SEND);
	assert_int_equal(LAYOUT_GET(tmh, p->a->mem + 8192, opcode), TMH_FIN);
	assert_int_equal(LAYOUT_GET(tmh, p->a->mem + 8192, app_ctx), 0x1234);
	assert_int_equal(LAYOUT_GET(tmh, p->a->mem + 8192, tag), 5);
}

/*
 * The rendezvous names a key that the sender does not allow to read: both QPs fail, the entry stays
 * in the list, no receive is used.
 */
static void a_rendezvous_that_is_refused(void **state)
{
	struct bed *p = *state;

	LAYOUT_SET(qpc, p->b->hw->qpc, offload_type, 1);
	add(p, 5, UINT64_MAX, 4096, 1, -1);
	next_cqe(p, CQE_TM_APPEND);
	tm_offer(p->a, 5, p->a->key ^ 0xff, 64);
	t_assert_empty(&p->b->cq);
	t_expect_error(p->a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_REMOTE_OP_ERR, 0);
	assert_int_equal(t_state(p->b), PRM_QP_STATE_ERR);
	assert_int_equal(HW_TM_KIND(p->tm->tag[0].state), HW_TM_POSTED);
	assert_int_equal(p->b->hw->rx_srq_wqe, 0);
}

/* The header names a QP that the device does not send on: the program does the rendezvous. */
static void a_rendezvous_of_the_program(void **state)
{
	struct bed *p = *state;

	add(p, 5, UINT64_MAX, 4096, 1, -1);
	next_cqe(p, CQE_TM_APPEND);
	tm_offer(p->a, 5, p->a->key, 64);
	next_cqe(p, CQE_TM_CONSUMED_MSG_SW_RNDV);
	t_assert_empty(&p->b->cq);
}

static void a_message_longer_than_its_entry(void **state)
{
	struct bed *p = *state;

	add(p, 5, UINT64_MAX, 4096, 1, -1);
	next_cqe(p, CQE_TM_APPEND);
	p->tm->tag[0].len = 2;
	tm_send(p->a, TMH_EAGER, 5, "long");
	t_assert_empty(&p->b->cq);
	t_expect_error(p->a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR, 0);
}

/* The message fails its QP as on any SRQ, and programs do not count it as unexpected. */
static void an_unexpected_message_longer_than_its_receive(void **state)
{
	struct bed *p = *state;
	uint8_t m[100] = {TMH_EAGER};
	const uint8_t *c;

	t_post(p->a, &(struct t_wr){.opcode = MLX5_OPCODE_SEND, .inl = m, .inl_len = sizeof(m)});
	c = (const uint8_t *)t_poll(&p->b->cq);
	assert_non_null(c);
	assert_int_equal(LAYOUT_GET(cqe64, c, opcode), CQE_RESP_ERR);
	assert_int_equal(LAYOUT_GET(cqe64, c, srqn_uidx), 0x777);
	assert_int_equal(HW_TM_HW(p->tm->sync), 0);
	assert_int_equal(HW_TM_CLAIMED(p->tm->sync), 0);
	assert_int_equal(t_state(p->b), PRM_QP_STATE_ERR);
}

/* While the FIN waits, the sender's queue goes on, except for another rendezvous. */
static void a_fin_waits_for_a_receive(void **state)
{
	struct bed *p = *state;
	const uint8_t *c;

	LAYOUT_SET(qpc, p->b->hw->qpc, offload_type, 1);
	for (uint32_t i = 0; i < 2; i++) {
		add(p, 5, UINT64_MAX, 4096, i + 1, -1);
		next_cqe(p, CQE_TM_APPEND);
	}
	tm_offer(p->a, 5, p->a->key, 64);
	next_cqe(p, CQE_TM_CONSUMED);
	next_cqe(p, CQE_TM_EXPECTED);
	t_expect_done(p->a, MLX5_OPCODE_SEND, 0);
	assert_int_equal(p->a->hw->fin_owed, HW_FIN_PARKED);
	tm_send(p->a, TMH_NO_TAG, 0, "x");
	next_cqe(p, CQE_TM_NO_TAG);
	tm_offer(p->a, 5, p->a->key, 64);
	t_assert_empty(&p->b->cq);
	for (uint32_t i = 0; i < 2; i++)
		t_recv_at(p->a, 8192 + i * 64, 64);
	for (uint32_t i = 0; i < 2; i++) {
		t_now += 2000000;
		eng_run_due(&p->t->s);
	}
	next_cqe(p, CQE_TM_CONSUMED);
	next_cqe(p, CQE_TM_EXPECTED);
	for (uint32_t fins = 0; fins < 2;) {
		c = (const uint8_t *)t_poll(&p->a->cq);
		assert_non_null(c);
		fins += LAYOUT_GET(cqe64, c, opcode) == CQE_RESP_SEND;
	}
	assert_int_equal(p->a->hw->fin_owed, HW_FIN_NONE);
}

/* If the FIN's sender is in error, the FIN is lost. */
static void a_fin_is_lost_with_its_sender(void **state)
{
	struct bed *p = *state;

	LAYOUT_SET(qpc, p->b->hw->qpc, offload_type, 1);
	add(p, 5, UINT64_MAX, 4096, 1, -1);
	tm_offer(p->a, 5, p->a->key, 64);
	assert_int_equal(p->a->hw->fin_owed, HW_FIN_PARKED);
	assert_int_equal(eng_qp_set_state(&p->t->s, p->b->qpn, PRM_QP_STATE_ERR), 0);
	t_now += 2000000;
	eng_run_due(&p->t->s);
	assert_int_equal(p->a->hw->fin_owed, HW_FIN_NONE);
	assert_int_equal(p->a->hw->park, HW_PARK_NO);
}

/* Or is reset: the next connection owes nothing. */
static void a_fin_is_lost_by_a_reset(void **state)
{
	struct bed *p = *state;

	LAYOUT_SET(qpc, p->b->hw->qpc, offload_type, 1);
	add(p, 5, UINT64_MAX, 4096, 1, -1);
	tm_offer(p->a, 5, p->a->key, 64);
	assert_int_equal(p->a->hw->fin_owed, HW_FIN_PARKED);
	assert_int_equal(eng_qp_set_state(&p->t->s, p->a->qpn, PRM_QP_STATE_RST), 0);
	assert_int_equal(p->a->hw->fin_owed, HW_FIN_NONE);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(messages_take_entries),
		T(the_oldest_entry_first),
		T(an_entry_is_removed_once),
		T(a_removal_waits_for_a_message_in_work),
		T(a_message_that_waits_gives_its_receive_back),
		T(entries_stay_over_many_appends),
		T(entries_wait_over_many_appends),
		T(unexpected_messages_hold_entries_back),
		T(an_append_beside_an_unexpected_message),
		T(a_message_without_a_receive),
		T(messages_without_a_tag),
		T(a_rendezvous),
		T(a_rendezvous_that_is_refused),
		T(a_rendezvous_of_the_program),
		T(a_message_longer_than_its_entry),
		T(an_unexpected_message_longer_than_its_receive),
		T(a_fin_waits_for_a_receive),
		T(a_fin_is_lost_with_its_sender),
		T(a_fin_is_lost_by_a_reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
