/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A process is killed, or stopped, at each marked step (POINT()) of a notice's life: of MAD traps,
 * and of reports to a subscriber. Nothing is left of it, and others' notices are sent meanwhile.
 */
#include "segment/test.h"

#include <sys/socket.h>
#include "fabric/notice.h"
#include "hw/port.h"
#include "umad/test.h"
#include "wire/mad/mad.h"

#define SENT_MOST 16 /* more often than a notice that nobody answers is sent */

static struct seg seg;
static uint32_t ports[2], sub;
static int supervisor[2]; /* [0]: the supervisor's end of the processes' connection */
static uint8_t last[MAD_SIZE];

static int setup(void **state)
{
	struct fab_sarec *r;
	int rc = umad_test_world(&seg, 2, ports);

	if (rc || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, supervisor) ||
	    seg_alloc(&seg, SEG_T_SAREC, SEG_OWNER_DEVICE, &sub))
		return -1;
	r = seg_at(&seg, SEG_T_SAREC, sub);
	r->port = ports[1];
	r->slid = hw_port(&seg, ports[1])->lid;
	atomic_store(&seg.wake_fd, supervisor[1] + 1);
	return 0;
}

static int teardown(void **state)
{
	close(supervisor[0]);
	close(supervisor[1]);
	seg_unmap(&seg);
	return 0;
}

static void note(struct seg *s, uint32_t port, uint32_t dlid, const uint8_t *mad)
{
	memcpy(last, mad, MAD_SIZE);
}

static void send_all(struct seg *s)
{
	seg_for_each_live (s, SEG_T_NOTICE, i)
		atomic_store(&((struct fab_notice *)seg_at(s, SEG_T_NOTICE, i))->due, 0);
	fab_notices_run(s, note);
}

/* ---- what the killed process does */

static void make(struct seg *s)
{
	fab_notice_local(s, ports[0], 0);
}

static void report(struct seg *s)
{
	const uint8_t d[80] = {1};

	fab_notice_report(s, ports[0], sub, d);
}

static void sends(struct seg *s)
{
	send_all(s);
}

static void repress(struct seg *s)
{
	send_all(s);
	fab_notice_repress(s, ports[0], last);
}

static void is_answered(struct seg *s)
{
	send_all(s);
	fab_notice_reported(s, ports[0], ports[1], last);
}

static void give_up(struct seg *s)
{
	for (int i = 0; i < SENT_MOST; i++)
		send_all(s);
}

static const struct step {
	const char *name;
	void (*before)(struct seg *s); /* what was done before, by a process that lives */
	void (*go)(struct seg *s);
} steps[] = {
	{"make a trap", NULL, make},
	{"make the same trap again", make, make},
	{"send a trap", make, sends},
	{"repress a trap", make, repress},
	{"give a trap up", make, give_up},
	{"make a report", NULL, report},
	{"make a second report", report, report},
	{"send a report", report, sends},
	{"answer a report", report, is_answered},
	{"give a report up", report, give_up},
};
#define STEPS (sizeof(steps) / sizeof(steps[0]))

struct stepped {
	const struct step *step;
	unsigned int n;
};

static void be_stopped(struct seg *s, struct test_child *c, void *arg)
{
	const struct stepped *st = arg;

	test_stop_at(st->n);
	st->step->go(s);
}

static uint32_t left(void)
{
	uint32_t n = 0;

	seg_for_each_live (&seg, SEG_T_NOTICE, i)
		n++;
	return n;
}

/* As the supervisor does. */
static void see_death(const struct test_child *c)
{
	test_is_dead(&seg, c);
	fab_notices_repair(&seg);
	test_forget(&seg, c);
}

static bool is_called(void)
{
	char m[4096];
	bool yes = false;

	while (recv(supervisor[0], m, sizeof(m), 0) > 0)
		yes = true;
	return yes;
}

/* Others make a notice, and the supervisor hears of it. */
static void others_go_on(void)
{
	is_called();
	fab_notice_local(&seg, ports[1], 0);
	assert_true(is_called());
}

/* False: the step has no n-th point. */
static bool ends_at(const struct step *step, unsigned int n)
{
	struct stepped st = {step, n};
	struct test_child c;
	bool stopped;

	if (step->before)
		step->before(&seg);
	test_spawn(&seg, &c, be_stopped, &st);
	stopped = test_stops(&c);
	others_go_on();
	if (stopped) {
		kill(c.pid, SIGKILL);
		test_reap(&c);
	}
	see_death(&c);
	give_up(&seg);
	if (left())
		fail_msg("%s, point %u: %u notices are left", step->name, n, left());
	return stopped;
}

static void ends_at_every_step(void **state)
{
	unsigned int n, all = 0;

	for (size_t i = 0; i < STEPS; i++) {
		for (n = 1; ends_at(&steps[i], n); n++)
			;
		all += n - 1;
	}
	assert_true(all > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(ends_at_every_step, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
