/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A sender is killed at each marked step (POINT()) of what it does to its receiver, one after the
 * other: rows list the steps of a scenario in order. Afterwards the receiver has what hardware
 * would give it: the whole message with one event or nothing, a whole failure or none; and it
 * continues to work.
 */
#include "engine/test_steps.h"

/* The receiver's device thread looks at its queues while the sender is stopped. */
static void look_and_kill(struct scene *x)
{
	siginfo_t si;

	assert_int_equal(waitid(P_PID, (id_t)x->e->pid, &si, WSTOPPED | WEXITED | WNOWAIT), 0);
	if (si.si_code != CLD_STOPPED)
		return;
	for (int i = 0; i < 2; i++) {
		atomic_store(&seg_proc(seg_of(x), seg_of(x)->self)->parked, 1);
		eng_run_due(seg_of(x));
		t_now += 20000000;
	}
	kill(x->e->pid, SIGKILL);
}

/* Kill the child at its n-th step. False: it has fewer. */
static bool killed_at(const struct scenario *is, uint32_t n, bool looked)
{
	struct scene x = {.is = is};
	int status;

	scene_start(&x, looked ? "stop" : "kill", n);
	if (looked)
		look_and_kill(&x);
	status = reap(x.e);
	settle(&x);
	is->check(&x, !status);
	goes_on(&x);
	scene_free(&x);
	return WIFSIGNALED(status);
}

static void kill_at_every_step(bool looked)
{
	const char *only = getenv("STEP_SCENARIO"), *from = getenv("STEP_FROM");

	for (size_t i = 0; i < nscenarios; i++) {
		uint32_t n = from ? (uint32_t)atoi(from) : 1;

		if (only && strcmp(only, scenarios[i].name))
			continue;
		for (; killed_at(&scenarios[i], n, looked); n++)
			assert_true(n < MAX_STEPS);
		print_message("%s: killed at %u steps%s\n", scenarios[i].name, n - 1,
			      looked ? " after a look" : "");
		assert_true(n > 5);
	}
}

static void killed_at_every_step(void **state)
{
	kill_at_every_step(false);
}

/*
 * Events that the device thread raised while the sender was stopped are not raised again after its
 * death.
 */
static void looked_at_and_killed_at_every_step(void **state)
{
	kill_at_every_step(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(killed_at_every_step),
		cmocka_unit_test(looked_at_and_killed_at_every_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
