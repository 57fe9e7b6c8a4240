/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Automatic path migration between two adapters with two ports each, on one switch: the states,
 * what migrates a connection, what is refused, and that each message arrives once.
 */
#include "engine/test.h"
#include "engine/tx/tx.h"
#include "fabric/fabric.h"
#include "fabric/test_net.h"
#include "hw/hca.h"
#include "hw/port.h"
#include "hw/qp.h"
#include "hw/qp_state.h"

#define SWITCH 2
#define ACK_14_NS UINT64_C(67108864) /* 4.096 us << 14 */

static int two_ports(struct seg *s)
{
	static struct topo_port port[3][5];
	static char host[2][32] = {"h1", "h2"};
	struct topo_node node[3] = {0};
	const struct topo t = {.nnodes = 3, .nhosts = 2, .node = node, .host = host};
	const struct fab_options o = {
		.caps.link_speed = 64, .caps.link_width = 2, .caps.max_mtu = IBV_MTU_4096};

	memset(port, 0, sizeof(port));
	for (uint32_t i = 0; i < 3; i++) {
		bool ca = i + 1 != SWITCH;

		node[i].type = ca ? TOPO_CA : TOPO_SWITCH;
		node[i].nports = ca ? 2 : 4;
		node[i].host = i == 2;
		node[i].port = port[i];
		for (uint32_t p = 0; p <= 4; p++)
			port[i][p].peer_node = TOPO_NONE;
	}
	net_cable(node, 1, 1, SWITCH, 1);
	net_cable(node, 1, 2, SWITCH, 2);
	net_cable(node, 3, 1, SWITCH, 3);
	net_cable(node, 3, 2, SWITCH, 4);
	return fab_build(s, &t, &o);
}

static uint32_t second_port(const struct t_qp *q)
{
	return hw_hca(&q->t->s, q->hw->hca)->port[1];
}

static uint32_t lid_of(const struct t_qp *q, uint32_t port)
{
	return atomic_load(&hw_port(&q->t->s, port)->lid);
}

static uint32_t mig(const struct t_qp *q)
{
	return atomic_load(&q->hw->mig) & HW_MIG_STATE;
}

static bool moved(const struct t_qp *q)
{
	return hw_qp_path(q->hw) == &q->hw->path[1];
}

/* Loads the alternate path as the firmware does: from the second port to the peer's second port. */
static void load(struct t_qp *q, const struct t_qp *peer, uint32_t state)
{
	void *ads;
	struct hw_qp_path *w = eng_mig_hold(&q->t->s, q->hw, q->qpn, &ads);

	*w = *hw_qp_path(q->hw);
	w->port = second_port(q);
	w->dlid = lid_of(peer, second_port(peer));
	eng_mig_end(&q->t->s, q->hw, q->qpn, state);
}

static void command(struct t_qp *q, uint32_t state)
{
	void *ads;

	eng_mig_hold(&q->t->s, q->hw, q->qpn, &ads);
	eng_mig_end(&q->t->s, q->hw, q->qpn, state);
}

static int setup_st(void **state, enum prm_st st)
{
	struct t_pair *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	p->t = tb_create_on(two_ports);
	p->a = t_qp_make(p->t, 0, st, NULL);
	p->b = t_qp_make(p->t, 1, st, NULL);
	t_connect(p->a, p->b);
	for (uint32_t i = 0; i < 8; i++) {
		t_recv_at(p->a, i * 64, 64);
		t_recv_at(p->b, i * 64, 64);
	}
	*state = p;
	return 0;
}

static int setup(void **state)
{
	return setup_st(state, PRM_ST_RC);
}

static int setup_uc(void **state)
{
	return setup_st(state, PRM_ST_UC);
}

static void post(struct t_qp *q, const char *text)
{
	t_post(q, &(struct t_wr){.opcode = MLX5_OPCODE_SEND,
				 .fm_ce_se = T_SIG,
				 .inl = text,
				 .inl_len = (uint32_t)strlen(text) + 1});
}

/* One message is sent and received, now, and nothing else. */
static void expect_message(struct t_qp *from, struct t_qp *to)
{
	struct mlx5_cqe64 *c = t_poll(&from->cq);

	assert_non_null(c);
	assert_int_equal(mlx5dv_get_cqe_opcode(c), MLX5_CQE_REQ);
	c = t_poll(&to->cq);
	assert_non_null(c);
	assert_int_equal(mlx5dv_get_cqe_opcode(c), MLX5_CQE_RESP_SEND);
	t_assert_empty(&from->cq);
	t_assert_empty(&to->cq);
}

static void message(struct t_qp *from, struct t_qp *to)
{
	post(from, "m");
	expect_message(from, to);
}

static int event(const struct t_qp *q)
{
	return t_event(q->t, q->evq);
}

static void both_armed(struct t_pair *p)
{
	load(p->a, p->b, HW_MIG_REARM);
	load(p->b, p->a, HW_MIG_REARM);
	message(p->a, p->b);
	if (p->a->hw->st == PRM_ST_UC)
		message(p->b, p->a);
	assert_int_equal(mig(p->a), HW_MIG_ARMED);
	assert_int_equal(mig(p->b), HW_MIG_ARMED);
}

/* Removes that port from the switch's forwarding table. */
static void cut(const struct t_qp *q, uint32_t port)
{
	fab_lft_set(&q->t->s, fab_node(&q->t->s, SWITCH)->sw, lid_of(q, port), FAB_LFT_NONE);
	fab_moved(&q->t->s);
}

static void retries(struct t_pair *p)
{
	for (uint32_t i = 0; i <= p->a->hw->retry_count; i++) {
		t_now += ACK_14_NS;
		eng_run_due(&p->t->s);
	}
}

/* 17.2.8: packets without MigReq arm an end that is in state rearm, a request or its answer. */
static void arms_when_both_ends_are_ready(void **state)
{
	struct t_pair *p = *state;

	load(p->a, p->b, HW_MIG_REARM);
	message(p->a, p->b);
	message(p->b, p->a);
	assert_int_equal(mig(p->a), HW_MIG_REARM);
	assert_int_equal(mig(p->b), HW_MIG_MIGRATED);
	load(p->b, p->a, HW_MIG_REARM);
	message(p->a, p->b);
	assert_int_equal(mig(p->a), HW_MIG_ARMED);
	assert_int_equal(mig(p->b), HW_MIG_ARMED);
	assert_int_equal(event(p->a), -1);
	assert_int_equal(event(p->b), -1);
}

static void migrates_after_the_last_retry(void **state)
{
	struct t_pair *p = *state;

	both_armed(p);
	cut(p->b, p->b->hw->path[0].port);
	post(p->a, "one");
	post(p->a, "two");
	t_assert_empty(&p->a->cq);
	retries(p);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(mlx5dv_get_cqe_opcode(t_poll(&p->a->cq)), MLX5_CQE_REQ);
		assert_int_equal(mlx5dv_get_cqe_opcode(t_poll(&p->b->cq)), MLX5_CQE_RESP_SEND);
	}
	assert_string_equal((char *)p->b->mem + 64, "one");
	assert_string_equal((char *)p->b->mem + 128, "two");
	assert_true(moved(p->a) && moved(p->b));
	assert_int_equal(atomic_load(&p->a->hw->mig) & (HW_MIG_BUSY | HW_MIG_MOVED), HW_MIG_MOVED);
	assert_int_equal(event(p->a), IBV_EVENT_PATH_MIG);
	assert_int_equal(event(p->b), IBV_EVENT_PATH_MIG);
	message(p->b, p->a);
	message(p->a, p->b);
	assert_int_equal(event(p->a), -1);
	assert_int_equal(event(p->b), -1);
}

/* The path of the answers is broken: the peer migrates when the request arrives. */
static void migrates_when_answers_are_lost(void **state)
{
	struct t_pair *p = *state;

	both_armed(p);
	cut(p->a, p->a->hw->path[0].port);
	post(p->a, "one");
	t_assert_empty(&p->b->cq);
	retries(p);
	expect_message(p->a, p->b);
	assert_true(moved(p->a) && moved(p->b));
}

static void migrates_by_command(void **state)
{
	struct t_pair *p = *state;

	both_armed(p);
	command(p->a, HW_MIG_MIGRATED);
	assert_true(moved(p->a) && !moved(p->b));
	assert_int_equal(event(p->a), IBV_EVENT_PATH_MIG);
	message(p->a, p->b);
	assert_true(moved(p->b));
	assert_int_equal(mig(p->b), HW_MIG_MIGRATED);
	assert_int_equal(event(p->b), IBV_EVENT_PATH_MIG);
	/* MIGRATED by command from another state than armed is no migration */
	command(p->a, HW_MIG_REARM);
	command(p->a, HW_MIG_MIGRATED);
	assert_true(moved(p->a));
	assert_int_equal(event(p->a), -1);
}

/* After a migration, loads a new alternate path and migrates again, several times. */
static void migrates_again(void **state)
{
	struct t_pair *p = *state;
	const struct hw_qp_path first[2] = {p->a->hw->path[0], p->b->hw->path[0]};
	struct t_qp *q[2] = {p->a, p->b};

	both_armed(p);
	command(p->a, HW_MIG_MIGRATED);
	message(p->a, p->b);
	for (int i = 0; i < 2; i++) {
		void *ads;
		struct hw_qp_path *w = eng_mig_hold(&p->t->s, q[i]->hw, q[i]->qpn, &ads);

		/* after a migration both paths are the one in use */
		assert_memory_equal(&q[i]->hw->path[0], &q[i]->hw->path[1], sizeof(first[0]));
		*w = first[i];
		eng_mig_end(&p->t->s, q[i]->hw, q[i]->qpn, HW_MIG_REARM);
	}
	message(p->b, p->a);
	assert_int_equal(mig(p->a), HW_MIG_ARMED);
	cut(p->b, second_port(p->b));
	post(p->a, "x");
	retries(p);
	expect_message(p->a, p->b);
	assert_true(!moved(p->a) && !moved(p->b));
}

/* A request for a migration that does not come by the alternate path. */
static void refuses_another_path(void **state)
{
	struct t_pair *p = *state;

	both_armed(p);
	p->b->hw->path[1].dlid = 4711;
	command(p->a, HW_MIG_MIGRATED);
	assert_int_equal(event(p->a), IBV_EVENT_PATH_MIG);
	post(p->a, "x");
	retries(p);
	t_expect_error(p->a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR, 1);
	t_assert_empty(&p->b->cq);
	assert_int_equal(mig(p->b), HW_MIG_ARMED);
	assert_int_equal(event(p->b), IBV_EVENT_PATH_MIG_ERR);
	assert_int_equal(event(p->b), -1); /* once, not for each packet */
}

/* A command loads another path: MigReq in the QP's packets does not change meanwhile. */
static void a_command_is_not_a_migration(void **state)
{
	struct t_pair *p = *state;
	void *ads;

	both_armed(p);
	eng_mig_hold(&p->t->s, p->a->hw, p->a->qpn, &ads);
	message(p->a, p->b);
	message(p->b, p->a);
	eng_mig_end(&p->t->s, p->a->hw, p->a->qpn, ENG_MIG_KEEP);
	assert_int_equal(mig(p->a), HW_MIG_ARMED);
	assert_int_equal(mig(p->b), HW_MIG_ARMED);
	assert_int_equal(event(p->b), -1);
	command(p->a, HW_MIG_MIGRATED);
	message(p->a, p->b);
	assert_true(moved(p->a) && moved(p->b));
}

/*
 * A command is writing the path: a request for a migration is dropped and repeated after the
 * command.
 */
static void does_not_migrate_during_a_command(void **state)
{
	struct t_pair *p = *state;
	void *ads;

	both_armed(p);
	eng_mig_hold(&p->t->s, p->b->hw, p->b->qpn, &ads);
	command(p->a, HW_MIG_MIGRATED);
	post(p->a, "x");
	t_assert_empty(&p->b->cq);
	assert_false(moved(p->b));
	eng_mig_end(&p->t->s, p->b->hw, p->b->qpn, ENG_MIG_KEEP);
	retries(p);
	expect_message(p->a, p->b);
	assert_true(moved(p->b));
	assert_int_equal(event(p->b), IBV_EVENT_PATH_MIG);
	assert_int_equal(event(p->b), -1);
}

/* The end of the retries does not migrate the QP during a command, either. */
static void keeps_trying_during_a_command(void **state)
{
	struct t_pair *p = *state;
	void *ads;

	both_armed(p);
	cut(p->b, p->b->hw->path[0].port);
	post(p->a, "x");
	eng_mig_hold(&p->t->s, p->a->hw, p->a->qpn, &ads);
	retries(p);
	assert_false(moved(p->a));
	t_assert_empty(&p->a->cq);
	eng_mig_end(&p->t->s, p->a->hw, p->a->qpn, ENG_MIG_KEEP);
	retries(p);
	expect_message(p->a, p->b);
	assert_true(moved(p->a) && moved(p->b));
}

/*
 * Both paths lead to the peer's first port; the peer's alternate path leads from there to the
 * second port.
 */
static void an_answer_comes_by_the_alternate_path(void **state)
{
	struct t_pair *p = *state;
	struct hw_qp_path *w;

	load(p->a, p->b, HW_MIG_REARM);
	load(p->b, p->a, HW_MIG_REARM);
	p->a->hw->path[1].dlid = p->a->hw->path[0].dlid;
	w = &p->b->hw->path[1];
	w->port = p->b->hw->path[0].port;
	message(p->a, p->b);
	command(p->b, HW_MIG_MIGRATED);
	message(p->a, p->b);
	assert_true(moved(p->a) && moved(p->b));
	assert_int_equal(event(p->a), IBV_EVENT_PATH_MIG);
	assert_int_equal(event(p->a), -1);
}

/* The answer arrives by a path that is not the alternate one: it is dropped. */
static void an_answer_by_a_strange_path_is_refused(void **state)
{
	struct t_pair *p = *state;

	load(p->a, p->b, HW_MIG_REARM);
	load(p->b, p->a, HW_MIG_REARM);
	p->b->hw->path[1] = p->b->hw->path[0];
	message(p->a, p->b);
	command(p->b, HW_MIG_MIGRATED);
	post(p->a, "x");
	t_assert_empty(&p->a->cq);
	t_assert_empty(&p->b->cq);
	assert_int_equal(event(p->a), IBV_EVENT_PATH_MIG_ERR);
	assert_int_equal(event(p->a), -1);
}

static void fails_when_the_alternate_path_fails(void **state)
{
	struct t_pair *p = *state;

	both_armed(p);
	cut(p->b, p->b->hw->path[0].port);
	cut(p->b, second_port(p->b));
	post(p->a, "x");
	retries(p);
	assert_int_equal(event(p->a), IBV_EVENT_PATH_MIG);
	t_assert_empty(&p->a->cq);
	retries(p);
	t_expect_error(p->a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR, 1);
	assert_int_equal(event(p->a), IBV_EVENT_PATH_MIG_ERR);
	assert_int_equal(event(p->a), -1);
}

static void fails_without_an_alternate_path(void **state)
{
	struct t_pair *p = *state;

	both_armed(p);
	p->a->hw->path[1].port = SEG_NONE;
	cut(p->b, p->b->hw->path[0].port);
	post(p->a, "x");
	retries(p);
	t_expect_error(p->a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR, 1);
	assert_int_equal(event(p->a), IBV_EVENT_PATH_MIG_ERR);
}

static void a_reset_ends_it(void **state)
{
	struct t_pair *p = *state;

	both_armed(p);
	command(p->a, HW_MIG_MIGRATED);
	assert_int_equal(eng_qp_set_state(&p->t->s, p->a->qpn, PRM_QP_STATE_RST), 0);
	assert_false(moved(p->a));
	assert_int_equal(p->a->hw->path[1].port, SEG_NONE);
	assert_int_equal(atomic_load(&p->a->hw->mig) % HW_MIG_SEQ, 0);
}

/* The end of a rendezvous, which the peer sends (tm.c), is a packet of its path. */
static void a_fin_migrates(void **state)
{
	struct t_pair *p = *state;
	struct mlx5_cqe64 *c;

	both_armed(p);
	p->b->hw->path[1].sl = 3;
	command(p->b, HW_MIG_MIGRATED);
	assert_true(moved(p->b) && !moved(p->a));
	assert_int_equal(event(p->b), IBV_EVENT_PATH_MIG);
	p->a->hw->fin_owed = HW_FIN_OWED;
	sq_resume(&p->t->s, p->a->qpn);
	c = t_received(p->a, MLX5_CQE_RESP_SEND, 16, p->a->hw->rq_ci - 1);
	assert_int_equal(LAYOUT_GET(cqe64, c, sl), 3);
	assert_int_equal(LAYOUT_GET(cqe64, c, slid), lid_of(p->b, second_port(p->b)));
	assert_true(moved(p->a));
	assert_int_equal(event(p->a), IBV_EVENT_PATH_MIG);
	assert_int_equal(p->a->hw->fin_owed, HW_FIN_NONE);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, t_pair_teardown)
	const struct CMUnitTest tests[] = {
		T(arms_when_both_ends_are_ready),
		T(migrates_after_the_last_retry),
		T(migrates_when_answers_are_lost),
		T(migrates_by_command),
		cmocka_unit_test_setup_teardown(migrates_by_command, setup_uc, t_pair_teardown),
		T(migrates_again),
		T(refuses_another_path),
		T(a_command_is_not_a_migration),
		T(does_not_migrate_during_a_command),
		T(keeps_trying_during_a_command),
		T(an_answer_comes_by_the_alternate_path),
		T(an_answer_by_a_strange_path_is_refused),
		T(fails_when_the_alternate_path_fails),
		T(fails_without_an_alternate_path),
		T(a_reset_ends_it),
		T(a_fin_migrates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
