/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * For tests of the engine between processes: a pair of QPs, b in a child, and messages between
 * parent and child.
 */
#ifndef SOFTHCA_ENGINE_TEST_PROCS_H
#define SOFTHCA_ENGINE_TEST_PROCS_H

#include <signal.h>
#include "engine/test.h"
#include "hw/qp_state.h"
#include "util/test_time.h"

/* The only memory that the processes share. */
struct board {
	uint32_t qpn, key;
	uint64_t mem;
	uint32_t a_qpn, a_key;
	uint64_t a_mem;
	uint32_t received; /* CQEs of the child's receives */
};

struct bed {
	struct t_pair p; /* b belongs to the child while it runs */
	struct board *board;
	pid_t pid;
	int tell[2], go[2];
};

int bed_setup(void **state);
int bed_teardown(void **state);

/* Send one byte to the other process, or wait for one; false: none came within 10 s. */
void tell(int fd);
bool await(int fd);
/* Run `body` in a child with a memory slot of its own. A failure there is its exit status. */
void spawn(struct bed *e, void (*body)(struct bed *e));
/* Let the child continue and wait for its end; returns its wait status. */
int reap(struct bed *e);

/* Make the child's QP, connected to the parent's a. */
struct t_qp *child_qp(struct bed *e, enum prm_st st, struct t_srq *srq);
/* The parent's part, after the child has sent its QP number. */
void connect_to_child(struct bed *e);

/* Check in a child. */
#define CHECK(x)                  \
	do {                      \
		if (!(x))         \
			_exit(1); \
	} while (0)

#define EXPECT_OK(e) assert_int_equal(reap(e), 0)
#define BED_TEST(f) cmocka_unit_test_setup_teardown(f, bed_setup, bed_teardown)

#endif
