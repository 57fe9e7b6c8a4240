/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * For the tests of the engine between processes: a pair of QPs of which b is the child's once it
 * runs, and what parent and child tell each other.
 */
#ifndef SOFTHCA_ENGINE_TEST_PROCS_H
#define SOFTHCA_ENGINE_TEST_PROCS_H

#include <signal.h>
#include "engine/test.h"
#include "hw/qp_state.h"
#include "util/test_time.h"

/* What the processes tell each other; shared memory, unlike everything else in here. */
struct board {
	uint32_t qpn, key;
	uint64_t mem;
	uint32_t a_qpn, a_key;
	uint64_t a_mem;
};

struct bed {
	struct t_pair p; /* b is the child's once it runs */
	struct board *board;
	pid_t pid;
	int tell[2], go[2];
};

int bed_setup(void **state);
int bed_teardown(void **state);

/* One byte to the other process; false: none came within 10 s. */
void tell(int fd);
bool await(int fd);
/* Run `body` in a child with a memory slot of its own. Failures there exit with a status. */
void spawn(struct bed *e, void (*body)(struct bed *e));
/* Lets the child go and waits for its end; its wait status. */
int reap(struct bed *e);

/* The child's QP, connected to the parent's a. */
struct t_qp *child_qp(struct bed *e, enum prm_st st, struct t_srq *srq);
/* The parent's side of that, when the child has told its QP's number. */
void connect_to_child(struct bed *e);

/* In a child. */
#define CHECK(x)                  \
	do {                      \
		if (!(x))         \
			_exit(1); \
	} while (0)

#define EXPECT_OK(e) assert_int_equal(reap(e), 0)
#define BED_TEST(f) cmocka_unit_test_setup_teardown(f, bed_setup, bed_teardown)

#endif
