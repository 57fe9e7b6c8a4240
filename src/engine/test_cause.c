/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Causes of failures in words: each condition that does not hold is named, with its values. */
#include "engine/engine.h"
#include "engine/test.h"
#include "hw/port.h"
#include "hw/qp.h"
#include "hw/qp_state.h"
#include "hw/told.h"
#include <infiniband/verbs.h>

/* The text of that kind which was told last; "": none. */
static const char *told(const struct t_qp *q, enum hw_told_kind kind, uint64_t *n)
{
	const struct hw_told *e, *last = NULL;
	unsigned int i = 0;

	while ((e = hw_told_next(hw_tolds(&q->t->s, t_hca(q)), &i)))
		if (e->kind == kind)
			last = e;
	*n = last ? atomic_load(&last->n) : 0;
	return last ? last->text : "";
}

static void assert_told(const struct t_qp *q, enum hw_told_kind kind, const char *words)
{
	uint64_t n;
	const char *text = told(q, kind, &n);

	if (!strstr(text, words))
		fail_msg("'%s' does not say '%s'", text, words);
	assert_int_equal(n, 1);
}

static void the_rows_are_sound(void **state)
{
	const struct eng_cause *c, *d;

	for (unsigned int i = 0; (c = eng_cause_at(i)); i++) {
		assert_non_null(c->name);
		assert_true(c->next && *c->next);
		for (unsigned int k = 0; k < i && (d = eng_cause_at(k)); k++)
			assert_string_not_equal(c->name, d->name);
		for (const char *p = strchr(c->says, '%'); p; p = strchr(p + 1, '%'))
			assert_non_null(strchr("oqabABijpestg", p[1]));
	}
}

/* ---- requests without an answer */

static void other_qpn(struct t_pair *p)
{
	p->a->hw->dest_qpn = 0x777;
}
static void other_lid(struct t_pair *p)
{
	p->a->hw->path[0].dlid = 99;
}
static void own_port_down(struct t_pair *p)
{
	hw_port(&p->t->s, p->a->hw->path[0].port)->state = IB_PORT_INIT;
	atomic_fetch_add(&fab_subnet(&p->t->s)->epoch, 1);
}
static void other_service(struct t_pair *p)
{
	p->b->hw->st = PRM_ST_UC;
}
static void in_init(struct t_pair *p)
{
	t_set_state(p->b, PRM_QP_STATE_INIT);
}
static void connected_elsewhere(struct t_pair *p)
{
	p->b->hw->dest_qpn = 0x99;
}
static void elsewhere(struct t_pair *p)
{
	p->a->hw->path[0].dlid = hw_port(&p->t->s, p->t->port[0])->lid;
}
static void other_pkey(struct t_pair *p)
{
	hw_port(&p->t->s, p->b->hw->path[0].port)->pkey[0] = 0x8123;
}
static void answers_lost(struct t_pair *p)
{
	p->b->hw->path[0].dlid = 77;
}
static void answers_elsewhere(struct t_pair *p)
{
	p->b->hw->path[0].dlid = hw_port(&p->t->s, p->t->port[1])->lid;
}
static void psn_ahead(struct t_pair *p)
{
	p->a->hw->next_send_psn = 0x500;
	p->b->hw->next_rcv_psn = 0x123;
}

static void each_silence_has_its_cause(void **state)
{
	static const struct {
		void (*change)(struct t_pair *p);
		const char *says;
	} rows[] = {
		{other_qpn, "no answer: QP 0x777 does not exist"},
		{other_lid, "LID 99"},
		{own_port_down, "is INIT: nothing is sent"},
		{other_service, "is of type UC, this one of type RC"},
		{in_init, "is in state INIT and does not receive"},
		{connected_elsewhere, "is connected to QP 0x99, not to QP 0x"},
		{elsewhere, "the packets arrive at port"},
		{other_pkey, "sent with P_Key index 0, which is 0xffff here: QP 0x"},
		{answers_lost, "are lost: its path leads from port"},
		{answers_elsewhere, "this QP is at"},
		{psn_ahead, "PSN 0x500, QP 0x"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct t_pair *p;
		void *own = NULL;

		assert_int_equal(t_pair_setup(&own), 0);
		p = own;
		eng_clock = t_clock;
		p->a->hw->retry_count = 0;
		p->a->hw->path[0].ack_timeout = 1;
		rows[i].change(p);
		t_post(p->a, &(struct t_wr){.opcode = MLX5_OPCODE_SEND, .inl = "x", .inl_len = 1});
		for (int k = 0; k < 3 && t_state(p->a) != PRM_QP_STATE_ERR; k++) {
			t_now += NSEC_PER_SEC;
			eng_run_due(&p->t->s);
		}
		assert_int_equal(t_state(p->a), PRM_QP_STATE_ERR);
		assert_told(p->a, HW_TOLD_FAILED, rows[i].says);
		assert_told(p->a, HW_TOLD_FAILED, "; retry_cnt 0, timeout 1");
		t_pair_teardown(&own);
	}
	eng_clock = clock_now_ns;
}

/* ---- datagrams */

static void datagram(struct t_qp *a, const struct t_qp *b, uint32_t qkey)
{
	struct mlx5_wqe_av av = {
		.key.qkey.qkey = htobe32(qkey),
		.dqp_dct = htobe32(MLX5_EXTENDED_UD_AV | b->qpn),
		.rlid = htobe16((uint16_t)hw_port(&b->t->s, b->hw->path[0].port)->lid),
	};

	t_post(a, &(struct t_wr){.opcode = MLX5_OPCODE_SEND,
				 .fm_ce_se = T_SIG,
				 .av = &av,
				 .inl = "datagram",
				 .inl_len = 8});
}

static struct t_qp *ud_make(struct tb *t, uint32_t side)
{
	struct t_qp *q = t_qp_make(t, side, PRM_ST_UD, NULL);

	t_rts(q, q);
	q->hw->qkey = 0x222;
	return q;
}

static void a_dropped_datagram_has_its_cause(void **state)
{
	struct tb *t = *state;
	struct t_qp *a = ud_make(t, 0), *b = ud_make(t, 1);

	datagram(a, b, 0x222);
	assert_told(a, HW_TOLD_DROPPED, "has no receive posted");
	t_recv_at(b, 0, 40);
	datagram(a, b, 0x111);
	assert_told(a, HW_TOLD_DROPPED, "Q_Key 0x111, QP 0x");
	assert_told(a, HW_TOLD_DROPPED, "has 0x222");
	datagram(a, b, 0x222);
	assert_told(a, HW_TOLD_DROPPED, "48 bytes (40 of them are the GRH), the receive of QP 0x");
	assert_told(a, HW_TOLD_DROPPED, "has room for 40");
	t_set_state(b, PRM_QP_STATE_ERR);
	datagram(a, b, 0x222);
	assert_told(a, HW_TOLD_DROPPED, "is in state ERR");
	t_qp_free(a);
	t_qp_free(b);
}

static void what_differs_finds_an_end_and_all_are_counted(void **state)
{
	struct tb *t = *state;
	struct t_qp *a = ud_make(t, 0), *b = ud_make(t, 1);
	const struct hw_tolds *all = hw_tolds(&t->s, t_hca(a));
	struct mlx5_cqe64 *c;
	uint64_t n;

	for (uint32_t i = 0; i < 3 * HW_TOLDS; i++) {
		datagram(a, b, 0x1000 + i / 3);
		c = t_poll(&a->cq);
		assert_non_null(c);
		t_now++;
	}
	assert_int_equal(atomic_load(&all->n[HW_TOLD_DROPPED]), 3 * HW_TOLDS);
	assert_non_null(strstr(told(a, HW_TOLD_DROPPED, &n), "Q_Key 0x100f"));
	assert_int_equal(n, 3);
	datagram(a, b, 0x5000); /* no room for its words */
	assert_int_equal(atomic_load(&all->n[HW_TOLD_DROPPED]), 3 * HW_TOLDS + 1);
	assert_non_null(strstr(told(a, HW_TOLD_DROPPED, &n), "Q_Key 0x100f"));
	t_qp_free(a);
	t_qp_free(b);
}

static void a_doorbell_before_rts_is_told(void **state)
{
	struct t_pair *p = *state;

	t_set_state(p->a, PRM_QP_STATE_RTR);
	t_post(p->a, &(struct t_wr){.opcode = MLX5_OPCODE_SEND, .inl = "x", .inl_len = 1});
	assert_told(p->a, HW_TOLD_IGNORED, "work was posted in state RTR");
}

static void a_doorbell_on_another_page_is_told(void **state)
{
	struct t_pair *p = *state;
	uint8_t arm[8] = {0};
	uint64_t be, n;

	t_post_quiet(p->a, &(struct t_wr){.opcode = MLX5_OPCODE_NOP, .fm_ce_se = T_SIG});
	memcpy(&be, p->a->sq, sizeof(be));
	eng_uar_write(&p->t->s, T_UAR + 1, 0x800, be);
	assert_told(p->a, HW_TOLD_IGNORED, "rang on UAR page 2, its context has uar_page 1");
	p->a->cq.hw->hca = t_hca(p->a);
	be32_store(arm + 4, p->a->cq.cqn);
	memcpy(&be, arm, sizeof(be));
	eng_uar_write(&p->t->s, T_UAR + 2, 0x20, be);
	if (!strstr(told(p->a, HW_TOLD_IGNORED, &n), "rang on UAR page 3"))
		fail_msg("%s", told(p->a, HW_TOLD_IGNORED, &n));
	assert_int_equal(strncmp(told(p->a, HW_TOLD_IGNORED, &n), "CQ 0x", 5), 0);
}

static void a_message_that_is_too_long_has_a_limit(void **state)
{
	struct tb *t = *state;
	struct t_qp *a = ud_make(t, 0), *b = ud_make(t, 1);

	struct t_sge sge = t_own(a, 0, 8000);
	struct mlx5_wqe_av av = {.dqp_dct = htobe32(MLX5_EXTENDED_UD_AV | b->qpn)};

	t_post(a, &(struct t_wr){.opcode = MLX5_OPCODE_SEND,
				 .fm_ce_se = T_SIG,
				 .av = &av,
				 .sge = &sge,
				 .nsge = 1});
	assert_told(a, HW_TOLD_FAILED, "8000 bytes, allowed: at most 4096, active_mtu of the port");
	t_qp_free(a);
	t_qp_free(b);
}

static void send_again(struct t_pair *p, uint32_t psn, uint16_t wqe)
{
	p->a->hw->next_send_psn = psn;
	t_post(p->a,
	       &(struct t_wr){
		       .opcode = MLX5_OPCODE_SEND, .fm_ce_se = T_SIG, .inl = "x", .inl_len = 1});
	t_expect_done(p->a, MLX5_OPCODE_SEND, wqe);
}

/* Only the last request may come again. */
static void only_a_duplicate_that_was_never_executed_is_told(void **state)
{
	struct t_pair *p = *state;
	const struct hw_tolds *all = hw_tolds(&p->t->s, t_hca(p->a));
	uint32_t psn = p->a->hw->next_send_psn;

	p->b->hw->next_rcv_psn = psn + 1; /* rq_psn: nothing was executed yet */
	send_again(p, psn, 0);
	assert_told(p->a, HW_TOLD_DROPPED, "acknowledged as a duplicate and not executed");
	t_recv_at(p->b, 0, 100);
	send_again(p, psn + 1, 1);
	send_again(p, psn + 1, 2);
	assert_int_equal(atomic_load(&all->n[HW_TOLD_DROPPED]), 1);
	send_again(p, psn, 3);
	assert_int_equal(atomic_load(&all->n[HW_TOLD_DROPPED]), 2);
}

static void a_message_that_arrives_tells_nothing(void **state)
{
	struct t_pair *p = *state;
	const struct hw_tolds *all = hw_tolds(&p->t->s, t_hca(p->a));

	t_recv_at(p->b, 0, 100);
	t_post(p->a,
	       &(struct t_wr){
		       .opcode = MLX5_OPCODE_SEND, .fm_ce_se = T_SIG, .inl = "x", .inl_len = 1});
	t_expect_done(p->a, MLX5_OPCODE_SEND, 0);
	for (unsigned int k = 0; k < HW_TOLD_COUNT; k++)
		assert_int_equal(atomic_load(&all->n[k]), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_rows_are_sound),
		cmocka_unit_test(each_silence_has_its_cause),
		cmocka_unit_test_setup_teardown(a_dropped_datagram_has_its_cause, tb_setup,
						tb_teardown),
		cmocka_unit_test_setup_teardown(what_differs_finds_an_end_and_all_are_counted,
						tb_setup, tb_teardown),
		cmocka_unit_test_setup_teardown(a_doorbell_before_rts_is_told, t_pair_setup,
						t_pair_teardown),
		cmocka_unit_test_setup_teardown(a_doorbell_on_another_page_is_told, t_pair_setup,
						t_pair_teardown),
		cmocka_unit_test_setup_teardown(a_message_that_is_too_long_has_a_limit, tb_setup,
						tb_teardown),
		cmocka_unit_test_setup_teardown(only_a_duplicate_that_was_never_executed_is_told,
						t_pair_setup, t_pair_teardown),
		cmocka_unit_test_setup_teardown(a_message_that_arrives_tells_nothing, t_pair_setup,
						t_pair_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
