/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Path migration beside processes that are stopped or killed at a marked step (POINT()) of a
 * message or of a command: a QP migrates once with one event, nothing is refused that was right.
 */
#include "engine/test_steps.h"
#include "hw/qp.h"
#include "hw/port.h"

/*
 * Puts the QP in `state`, with an alternate path that differs from the primary one in its GRH only.
 */
static void load(struct scene *x, struct t_qp *q, const struct hw_qp *peer, uint32_t state)
{
	struct hw_qp_path *w;
	void *ads;

	w = eng_mig_hold(seg_of(x), q->hw, q->qpn, &ads);
	*w = *hw_qp_path(q->hw);
	w->grh = !w->grh;
	memcpy(w->dgid, hw_port(seg_of(x), peer->path[0].port)->gid[0], sizeof(w->dgid));
	eng_mig_end(seg_of(x), q->hw, q->qpn, state);
}

static void command(struct scene *x, struct t_qp *q, uint32_t state)
{
	void *ads;

	eng_mig_hold(seg_of(x), q->hw, q->qpn, &ads);
	eng_mig_end(seg_of(x), q->hw, q->qpn, state);
}

static struct t_qp sender(struct scene *x)
{
	uint32_t qpn = x->e->board->qpn;

	return (struct t_qp){.t = x->e->p.t, .qpn = qpn, .hw = hw_qp(seg_of(x), qpn)};
}

/* The device thread, also after the time for which it waits for a queue's lock. */
static void look(struct scene *x)
{
	for (int i = 0; i < 2; i++) {
		atomic_store(&seg_proc(seg_of(x), seg_of(x)->self)->parked, 1);
		eng_run_due(seg_of(x));
		t_now += 20000000;
	}
}

static bool has_moved(const struct t_qp *q)
{
	return hw_qp_path(q->hw) == &q->hw->path[1];
}

/*
 * The child runs is->act and stops at its n-th step; then `meanwhile` runs; then the child goes on,
 * or is killed (`dies`).
 */
static bool at_step(const struct scenario *is, uint32_t n, bool dies,
		    void (*meanwhile)(struct scene *x))
{
	struct scene x = {.is = is};

	scene_stop(&x, n);
	meanwhile(&x);
	scene_go_on(&x, dies ? SIGKILL : SIGCONT);
	settle(&x);
	is->check(&x, !dies || !x.stopped);
	scene_end(&x);
	return x.stopped;
}

static void at_steps(const struct scenario *is, bool dies, void (*meanwhile)(struct scene *x))
{
	uint32_t n = 1;

	while (at_step(is, n, dies, meanwhile))
		assert_true(++n < MAX_STEPS);
	print_message("%s: %s at %u steps\n", is->name, dies ? "killed" : "stopped", n - 1);
	assert_true(n > 3);
}

/* ---- a message migrates its receiver, which migrates again meanwhile */

static bool moved_before;

static void setup_asking(struct scene *x)
{
	struct t_qp c = sender(x);

	load(x, x->b, c.hw, HW_MIG_ARMED);
	load(x, &c, x->b->hw, HW_MIG_ARMED);
	command(x, &c, HW_MIG_MIGRATED);
}

static void migrate_again(struct scene *x)
{
	look(x);
	moved_before = has_moved(x->b);
	assert_int_equal(count_events(x, x->b->evq, IBV_EVENT_PATH_MIG), moved_before);
	for (int i = 0; moved_before && i < 2; i++) {
		load(x, x->b, sender(x).hw, HW_MIG_ARMED);
		command(x, x->b, HW_MIG_MIGRATED);
		assert_int_equal(count_events(x, x->b->evq, IBV_EVENT_PATH_MIG), 1);
	}
}

static void check_asked(struct scene *x, bool whole)
{
	uint32_t n = count_cqes(x, MLX5_CQE_RESP_SEND);

	assert_true(whole ? n == 1 : n <= has_moved(x->b));
	assert_true(has_moved(x->b) || !whole);
	assert_int_equal(count_events(x, x->b->evq, IBV_EVENT_PATH_MIG),
			 has_moved(x->b) && !moved_before);
	assert_int_equal(atomic_load(&x->b->hw->mig) & HW_MIG_NOTING, 0);
}

static const struct scenario asking = {"migration and others", PRM_ST_RC, false,
				       setup_asking,           send_one,  check_asked};

static void a_receiver_migrates_again(void **state)
{
	(void)state;
	at_steps(&asking, false, migrate_again);
	at_steps(&asking, true, migrate_again);
}

/* ---- a sender is migrated by a command in the middle of a message */

static void setup_armed(struct scene *x)
{
	struct t_qp c = sender(x);

	load(x, x->b, c.hw, HW_MIG_ARMED);
	load(x, &c, x->b->hw, HW_MIG_ARMED);
}

static void migrate_sender(struct scene *x)
{
	struct t_qp c = sender(x);

	command(x, &c, HW_MIG_MIGRATED);
	assert_true(has_moved(&c));
}

/* The packet left before the command, without MigReq. */
static void check_not_refused(struct scene *x, bool whole)
{
	uint32_t n = count_cqes(x, MLX5_CQE_RESP_SEND);

	assert_int_equal(count_events(x, x->b->evq, IBV_EVENT_PATH_MIG_ERR), 0);
	assert_true(whole ? n == 1 : n <= 1);
}

static const struct scenario commanded = {"migrated sender", PRM_ST_RC, false,
					  setup_armed,       send_one,  check_not_refused};

static void a_sender_migrates_in_a_message(void **state)
{
	(void)state;
	at_steps(&commanded, false, migrate_sender);
}

/* ---- a command that migrates */

static void migrate_receiver(struct scene *x, struct t_qp *c)
{
	(void)c;
	command(x, x->b, HW_MIG_MIGRATED);
}

static void check_command(struct scene *x, bool whole)
{
	bool moved = has_moved(x->b);

	assert_true(moved || !whole);
	assert_int_equal(count_events(x, x->b->evq, IBV_EVENT_PATH_MIG), moved);
	load(x, x->b, sender(x).hw, HW_MIG_ARMED);
	command(x, x->b, HW_MIG_MIGRATED);
	assert_int_equal(has_moved(x->b), !moved);
	assert_int_equal(count_events(x, x->b->evq, IBV_EVENT_PATH_MIG), 1);
}

static const struct scenario by_command = {"command",   PRM_ST_RC,        false,
					   setup_armed, migrate_receiver, check_command};

static void a_command_ends_or_is_repeated(void **state)
{
	(void)state;
	at_steps(&by_command, false, look);
	at_steps(&by_command, true, look);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_receiver_migrates_again),
		cmocka_unit_test(a_sender_migrates_in_a_message),
		cmocka_unit_test(a_command_ends_or_is_repeated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
