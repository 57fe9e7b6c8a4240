/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Datagrams to multicast groups: which QPs receive them. */
#include "engine/test.h"
#include "engine/base/base.h"
#include "fabric/count.h"
#include "hw/flags.h"
#include "hw/mcg.h"
#include "hw/port.h"
#include "hw/qp.h"
#include "hw/qp_state.h"
#include "hw/told.h"
#include "segment/proc.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const uint8_t mgid[16] = {0xff, 0x12, [15] = 7};
#define MLID 0xc001

/* Adds both adapters to the group in the switch's table. */
static void join(struct tb *t)
{
	for (uint32_t side = 0; side < 2; side++) {
		const struct hw_port *at = hw_port(&t->s, hw_port(&t->s, t->port[side])->peer);
		struct fab_mft *mft = seg_at(&t->s, SEG_T_MFT, fab_node(&t->s, at->node)->sw);

		mft->mask[MLID - FAB_MLID_FIRST][0] |= 1u << at->num;
	}
}

static void attach(struct tb *t, struct t_qp *q)
{
	struct hw_mcg *m;
	uint32_t i;

	join(t);

	assert_int_equal(seg_alloc(&t->s, SEG_T_MCG, T_OWNER, &i), 0);
	m = seg_at(&t->s, SEG_T_MCG, i);
	m->qpn = q->qpn;
	memcpy(m->gid, mgid, sizeof(m->gid));
	hw_mcg_tag(&t->s, i);
	m->flags = HW_F_READY;
}

static struct t_qp *member(struct tb *t, uint32_t side)
{
	struct t_qp *q = t_qp_make(t, side, PRM_ST_UD, NULL);

	assert_int_equal(eng_qp_set_state(&t->s, q->qpn, PRM_QP_STATE_RTS), 0);
	t_recv_at(q, 0, 100);
	return q;
}

static void send_sge(struct t_qp *q, const uint8_t *gid, const struct t_sge *sge)
{
	struct mlx5_wqe_av av = {.dqp_dct = htobe32(0x80ffffffu),
				 .rlid = htobe16(MLID),
				 .grh_gid_fl = htobe32(1u << 30)};

	av.key.qkey.qkey = htobe32(0x11111111);
	memcpy(av.rgid, gid, sizeof(av.rgid));
	t_post(q, &(struct t_wr){.opcode = MLX5_OPCODE_SEND,
				 .fm_ce_se = T_SIG,
				 .av = &av,
				 .sge = sge,
				 .nsge = sge != NULL,
				 .inl = sge ? NULL : "hello",
				 .inl_len = sge ? 0 : 5});
}

static void send_to(struct t_qp *q, const uint8_t *gid)
{
	send_sge(q, gid, NULL);
}

static void got(struct t_qp *q)
{
	t_received(q, MLX5_CQE_RESP_SEND, 45, 0);
	assert_memory_equal(q->mem + 24, mgid, 16); /* the destination in the GRH */
	assert_memory_equal(q->mem + 40, "hello", 5);
}

static void all_members_get_it(void **state)
{
	struct tb *t = *state;
	struct t_qp *a = member(t, 0), *b = member(t, 1), *c = member(t, 1), *d = member(t, 1);

	attach(t, a);
	attach(t, b);
	attach(t, c);
	send_to(a, mgid);
	got(a); /* the sender is a member, too */
	t_expect_done(a, MLX5_OPCODE_SEND, 0);
	got(b);
	got(c);
	t_assert_empty(&d->cq);
	t_qp_free(a);
	t_qp_free(b);
	t_qp_free(c);
	t_qp_free(d);
}

static void a_member_may_want_nothing_of_its_own(void **state)
{
	struct tb *t = *state;
	struct t_qp *a = member(t, 0), *b = member(t, 1);

	a->hw->block_lb_mc = b->hw->block_lb_mc = 1;
	attach(t, a);
	attach(t, b);
	send_to(a, mgid);
	t_expect_done(a, MLX5_OPCODE_SEND, 0);
	t_assert_empty(&a->cq);
	got(b);
	t_qp_free(a);
	t_qp_free(b);
}

static void others_do_not_get_it(void **state)
{
	struct tb *t = *state;
	struct t_qp *a = member(t, 0), *b = member(t, 1), *c = member(t, 1);
	const struct hw_told *told;
	unsigned int i = 0;
	uint8_t other[16];

	memcpy(other, mgid, sizeof(other));
	other[15]++;
	attach(t, b);
	b->hw->qkey = 2;
	attach(t, c);
	send_to(a, other);
	t_assert_empty(&c->cq);
	a->sq_pi = 0;
	t_qp_free(a);
	a = member(t, 0);
	send_to(a, mgid);
	t_assert_empty(&b->cq);
	got(c);
	/* What the member did not take is told. */
	told = hw_told_next(hw_tolds(&t->s, t_hca(a)), &i);
	assert_non_null(told);
	assert_int_equal(told->kind, HW_TOLD_DROPPED);
	assert_non_null(strstr(told->text, "Q_Key 0x11111111, QP 0x"));
	assert_null(hw_told_next(hw_tolds(&t->s, t_hca(a)), &i));
	t_qp_free(a);
	t_qp_free(b);
	t_qp_free(c);
}

/* The sender's own memory is unmapped: it gets the error, whatever the members are. */
static void a_sender_hears_of_its_own_fault(void **state)
{
	struct tb *t = *state;
	struct t_qp *a = member(t, 0), *b = member(t, 1);
	struct t_sge sge = t_own(a, 4096, 8);

	attach(t, b);
	assert_int_equal(mprotect(a->mem + 4096, 4096, PROT_NONE), 0);
	send_sge(a, mgid, &sge);
	t_expect_error(a, MLX5_CQE_REQ_ERR, MLX5_CQE_SYNDROME_LOCAL_PROT_ERR, 0);
	t_assert_empty(&b->cq);
	t_qp_free(a);
	t_qp_free(b);
}

/*
 * The locks of two members are held for a while by threads that get no processor: all members get
 * the datagram, each one once, and it is counted once.
 */
static void members_whose_locks_are_held_get_it_late(void **state)
{
	struct tb *t = *state;
	struct t_qp *a = member(t, 0), *b = member(t, 1), *c = member(t, 1), *d = member(t, 0);
	uint64_t sent;

	attach(t, b);
	attach(t, c);
	attach(t, d);
	send_to(a, mgid);
	t_expect_done(a, MLX5_OPCODE_SEND, 0);
	got(b);
	got(c);
	got(d);
	sent = fab_counted(&t->s, t->port[0], HW_CTR_XMIT_PKTS);
	t_recv_at(b, 0, 100);
	t_recv_at(c, 0, 100);
	t_recv_at(d, 0, 100);

	assert_int_equal(seg_lock(&t->s, &c->hw->rq_lock, 0), 0);
	assert_int_equal(seg_lock(&t->s, &d->cq.hw->lock, 0), 0);
	send_to(a, mgid);
	for (int i = 0; i < 3; i++) {
		t_now += NSEC_PER_SEC;
		eng_run_due(&t->s);
	}
	t_assert_empty(&a->cq);
	assert_non_null(t_poll(&b->cq));
	seg_unlock(&t->s, &c->hw->rq_lock);
	t_now += NSEC_PER_SEC;
	eng_run_due(&t->s);
	t_assert_empty(&a->cq);
	assert_non_null(t_poll(&c->cq));
	seg_unlock(&t->s, &d->cq.hw->lock);
	t_now += NSEC_PER_SEC;
	eng_run_due(&t->s);
	assert_non_null(t_poll(&d->cq));
	t_assert_empty(&b->cq);
	t_assert_empty(&c->cq);
	assert_non_null(t_poll(&a->cq));
	assert_int_equal(fab_counted(&t->s, t->port[0], HW_CTR_XMIT_PKTS), 2 * sent);
	assert_int_equal(fab_counted(&t->s, t->port[1], HW_CTR_RCV_PKTS), 2 * sent);

	/* The next datagram begins with the first member again. */
	t_recv_at(b, 0, 100);
	send_to(a, mgid);
	assert_non_null(t_poll(&b->cq));
	t_qp_free(a);
	t_qp_free(b);
	t_qp_free(c);
	t_qp_free(d);
}

static void pass(struct tb *t, uint64_t ns)
{
	t_now += ns;
	eng_run_due(&t->s);
}

/* Is stopped with the responders of both, and releases them when it is continued. */
static pid_t stopped_with(struct tb *t, struct t_qp *b, struct t_qp *c)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		t->s.self = SEG_NONE;
		if (seg_proc_register_self(&t->s, 0) || seg_lock(&t->s, &b->hw->rq_lock, 0) ||
		    seg_lock(&t->s, &c->hw->rq_lock, 0))
			_exit(1);
		raise(SIGSTOP);
		seg_unlock(&t->s, &b->hw->rq_lock);
		seg_unlock(&t->s, &c->hw->rq_lock);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	return pid;
}

/* The time that was spent on the first member is not the second one's. */
static void each_stopped_member_is_waited_for(void **state)
{
	struct tb *t = *state;
	struct t_qp *a = member(t, 0), *b = member(t, 1), *c = member(t, 1);
	pid_t pid = stopped_with(t, b, c);
	int status;

	attach(t, b);
	attach(t, c);
	send_to(a, mgid);
	pass(t, ENG_PATIENCE_NS / 2);
	pass(t, ENG_PATIENCE_NS / 2);
	pass(t, ENG_PATIENCE_NS / 2);
	t_assert_empty(&a->cq);
	kill(pid, SIGCONT);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	pass(t, NSEC_PER_MSEC);
	t_expect_done(a, MLX5_OPCODE_SEND, 0);
	t_assert_empty(&b->cq);
	got(c);
	t_qp_free(a);
	t_qp_free(b);
	t_qp_free(c);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, tb_setup, tb_teardown)
	const struct CMUnitTest tests[] = {
		T(all_members_get_it),
		T(a_member_may_want_nothing_of_its_own),
		T(others_do_not_get_it),
		T(a_sender_hears_of_its_own_fault),
		T(members_whose_locks_are_held_get_it_late),
		T(each_stopped_member_is_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
