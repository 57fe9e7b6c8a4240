/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by tests of gates: a child that works until it is stopped, and is then shut out. */
#ifndef SOFTHCA_SEGMENT_TEST_GATE_H
#define SOFTHCA_SEGMENT_TEST_GATE_H

#include <sched.h>

#include "segment/gate.h"
#include "segment/mem.h"
#include "segment/test.h"

/* Of both processes. The child works while `valid` is set, and counts what it does. */
struct test_gated {
	struct mem_slot child;
	_Atomic uint32_t valid, seen_invalid, done;
};

static inline struct seg_gate *test_gate_of(struct seg *s, uint32_t slot)
{
	struct seg_proc *p = seg_proc(s, slot);

	if (!p)
		abort();
	return &p->ring[0].gate;
}

static inline void test_more(_Atomic uint32_t *n, uint32_t than)
{
	uint64_t end = clock_now_ns() + 60 * NSEC_PER_SEC;

	while (atomic_load(n) <= than && clock_now_ns() < end)
		sched_yield();
	assert_true(atomic_load(n) > than);
}

/* A stopped child may take a moment until it stops. */
static inline void test_shut(struct seg *s, const struct test_gated *w, uint32_t minds)
{
	uint64_t end = clock_now_ns() + 60 * NSEC_PER_SEC;
	enum gate_shut r;

	do
		r = gate_shut(s, who_slot(w->child.slot, w->child.gen),
			      test_gate_of(s, w->child.slot), minds);
	while (r == GATE_OPEN && clock_now_ns() < end);
	assert_int_equal(r, GATE_SHUT);
}

/*
 * Stops the child wherever it is and shuts its gate: when it continues, it writes nothing into the
 * `n` bytes at `at`.
 */
static inline void test_shut_out(struct seg *s, const struct test_child *c, struct test_gated *w,
				 uint32_t minds, uint8_t *at, size_t n)
{
	uint32_t seen, done = w->done;

	w->valid = 1;
	test_more(&w->done, done);
	kill(c->pid, SIGSTOP);
	w->valid = 0;
	test_shut(s, w, minds);
	memset(at, 0x55, n);
	seen = w->seen_invalid;
	kill(c->pid, SIGCONT);
	test_more(&w->seen_invalid, seen);
	assert_int_equal(at[0], 0x55);
	assert_memory_equal(at, at + 1, n - 1);
}

#endif
