/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The supervisor's loop does not sleep on what it has told itself: MADs that its timers send to the
 * connection manager (which this file stands for), changes, and works of the subnet manager.
 */
#include "super/supervisor.h"

#include <limits.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "cma/cma.h"
#include "fabric/fabric.h"
#include "fw/caps.h"
#include "hw/port.h"
#include "segment/suplink.h"
#include "super/runtime.h"
#include "util/clock.h"
#include "util/test_tmp.h"

#define HANG_S 60 /* a turn that sleeps on work never ends: no process is there to wake it */

/* ---- in place of src/cma */

static struct fake {
	struct seg *s;
	uint32_t runs, arrived, ports, gone;
	uint32_t sends; /* the next run is a timer that sends so many MADs, one after the other */
} fake;

struct cma *cma_new(struct seg *s, const struct cma_ops *ops, void *ctx)
{
	fake = (struct fake){.s = s};
	return (struct cma *)&fake;
}

void cma_free(struct cma *c)
{
}

static void send_to_self(struct seg *s)
{
	static const struct cm_pkt pkt;

	s->gmp(s, &pkt);
}

uint64_t cma_run_due(struct cma *c)
{
	fake.runs++;
	if (fake.sends) {
		fake.sends--;
		send_to_self(fake.s);
	}
	return UINT64_MAX;
}

void cma_arrived(struct cma *c, const struct cm_pkt *pkt)
{
	fake.arrived++;
}

void cma_port_event(struct cma *c, uint32_t port)
{
	fake.ports++;
}

void cma_file_gone(struct cma *c, uint32_t file)
{
	fake.gone++;
}

int cma_file_open(struct cma *c, uint32_t file, uint32_t host, uint32_t pid, const char *comm)
{
	return 0;
}

void cma_file_changes(struct cma *c, uint32_t file, _Atomic uint32_t *changes)
{
}

ssize_t cma_write(struct cma *c, const struct ucma_call *call, const void *in, const void *aux,
		  void *out, size_t *n)
{
	return 0;
}

void cma_each(struct cma *c, void (*show)(void *arg, const struct cma_shown *id), void *arg)
{
}

void cma_count(const struct cma *c, struct cma_counts *n)
{
}

/* ---- the loop */

struct bed {
	struct sup sup;
	struct runtime rt;
	char dir[TEST_TMP_MAX];
	int lock;
};

static int setup(void **state)
{
	const struct hw_caps *caps = fw_caps(HW_CX6);
	struct fab_options fab = {
		.hosts = 2, .hcas = 1, .ports = 1, .model = HW_CX6, .caps = *caps};
	struct bed *b = calloc(1, sizeof(*b));
	int dir;

	assert_non_null(b);
	assert_true(test_tmp_make(b->dir));
	setenv("SOFTHCA_RUNTIME_DIR", b->dir, 1);
	assert_int_equal(runtime_open(&b->rt, true), 0);
	assert_int_equal(runtime_claim(&b->rt, "f1", true, &b->lock, &dir), 0);
	assert_int_equal(sup_init(&b->sup, &b->rt, "f1", dir, &fab, NULL, true), 0);
	alarm(HANG_S);
	/* what the start has left to do */
	for (int i = 0; i < 3; i++)
		assert_int_equal(sup_turn(&b->sup, clock_now_ns()), 0);
	*state = b;
	return 0;
}

static int teardown(void **state)
{
	struct bed *b = *state;

	alarm(0);
	sup_finish(&b->sup);
	runtime_release(&b->rt, "f1", b->lock);
	runtime_close(&b->rt);
	test_tmp_remove(b->dir);
	free(b);
	return 0;
}

/* Sleeps until there is work; with none, until the alarm ends the test. */
static void turn(struct bed *b)
{
	assert_int_equal(sup_turn(&b->sup, UINT64_MAX), 0);
}

static void what_a_timer_sends_arrives_in_the_same_turn(void **state)
{
	struct bed *b = *state;

	fake.sends = 3; /* each answer is followed by another one */
	assert_int_equal(sup_turn(&b->sup, clock_now_ns()), 0);
	assert_int_equal(fake.arrived, 3);
}

/* After the managers' part of a turn: a file's end, a sweep. */
static void what_arrives_later_in_a_turn_does_not_wait(void **state)
{
	struct bed *b = *state;

	send_to_self(&b->sup.seg);
	turn(b);
	assert_int_equal(fake.arrived, 1);
}

static void runs_once_more(struct bed *b)
{
	uint32_t runs = fake.runs;

	turn(b);
	assert_true(fake.runs > runs);
}

static void a_port_that_changes_does_not_wait(void **state)
{
	struct bed *b = *state;

	sup_cm_port(&b->sup, 0);
	assert_int_equal(fake.ports, 1);
	runs_once_more(b);
}

static void a_file_that_ends_does_not_wait(void **state)
{
	struct bed *b = *state;

	sup_cm_gone(&b->sup, 0);
	assert_int_equal(fake.gone, 1);
	runs_once_more(b);
}

static void a_sweep_that_the_loop_asks_for_does_not_wait(void **state)
{
	struct bed *b = *state;

	fab_sm_kick(&b->sup.seg);
	assert_int_equal(fab_subnet(&b->sup.seg)->sm_dirty, 1);
	turn(b);
	assert_int_equal(fab_subnet(&b->sup.seg)->sm_dirty, 0);
}

/* A notice that the loop makes itself is sent by a job, whose end is an event of the loop. */
static void a_notice_that_the_loop_makes_does_not_wait(void **state)
{
	struct bed *b = *state;

	atomic_store(&fab_subnet(&b->sup.seg)->notices, 1);
	assert_int_equal(link_sweep(&b->sup.seg), 0);
	while (atomic_load(&fab_subnet(&b->sup.seg)->notices) || b->sup.sending)
		turn(b);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(what_a_timer_sends_arrives_in_the_same_turn),
		T(what_arrives_later_in_a_turn_does_not_wait),
		T(a_port_that_changes_does_not_wait),
		T(a_file_that_ends_does_not_wait),
		T(a_sweep_that_the_loop_asks_for_does_not_wait),
		T(a_notice_that_the_loop_makes_does_not_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
