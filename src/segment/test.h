/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by the tests of this folder: a private segment, and children in it. */
#ifndef SOFTHCA_SEGMENT_TEST_H
#define SOFTHCA_SEGMENT_TEST_H

#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hw/evq.h"
#include "hw/for_tests.h"
#include "segment/lock.h"
#include "segment/proc.h"
#include "segment/seg.h"
#include "util/clock.h"
#include "util/for_tests.h"
#include "util/sys.h"
#include "util/test_cmocka.h"
#include "util/test_time.h"
#include "util/test_tmp.h"

static inline int test_seg_setup(void **state)
{
	struct seg *s = calloc(1, sizeof(*s));

	if (seg_create(s, "test") || seg_proc_register_self(s, 0))
		return -1;
	*state = s;
	return 0;
}

static inline int test_seg_teardown(void **state)
{
	seg_unmap(*state);
	free(*state);
	return 0;
}

/* A private segment with a directory for the FIFOs of event queues. */
static inline int test_ev_setup(void **state)
{
	char path[300];
	struct seg *s;

	if (test_seg_setup(state))
		return -1;
	s = *state;
	if (!test_tmp_make(s->dir))
		return -1;
	snprintf(path, sizeof(path), "%s/ev", s->dir);
	return mkdir(path, 0700);
}

static inline int test_ev_teardown(void **state)
{
	test_tmp_remove(((struct seg *)*state)->dir);
	return test_seg_teardown(state);
}

/* The queue of file `idx` (which has its entry there), and the FIFO's descriptor. */
static inline int test_ev_open(struct seg *s, uint32_t idx, int flags, uint32_t max)
{
	char path[320];
	int fd;

	evq_path(s, idx, seg_file(s, idx)->gen, path);
	assert_int_equal(mkfifo(path, 0600), 0);
	fd = open(path, O_RDWR | O_CLOEXEC | flags);
	assert_true(fd >= 0);
	assert_int_equal(evq_open(s, idx, max), 0);
	return fd;
}

/*
 * A child with its own memory slot; `tell` wakes the parent's test_wait(). It must not be in memory
 * that both share: each side has its own pid.
 */
struct test_child {
	pid_t pid;
	int tell[2], go[2];
};

static inline void test_tell(int fd)
{
	char c = 1;

	while (write(fd, &c, 1) < 0)
		;
}

/* False: the other side ended first. */
static inline bool test_wait(int fd)
{
	char c;

	return read(fd, &c, 1) == 1;
}

static inline void test_spawn(struct seg *s, struct test_child *c,
			      void (*body)(struct seg *s, struct test_child *c, void *arg),
			      void *arg)
{
	assert_int_equal(pipe(c->tell), 0);
	assert_int_equal(pipe(c->go), 0);
	c->pid = fork();
	assert_true(c->pid >= 0);
	if (c->pid) {
		close(c->tell[1]);
		close(c->go[0]);
		return;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* a failed test leaves no child behind */
	close(c->tell[0]);
	close(c->go[1]);
	s->self = SEG_NONE;
	if (seg_proc_register_self(s, 0))
		_exit(99);
	body(s, c, arg);
	_exit(0);
}

static inline int test_reap(struct test_child *c)
{
	int status = 0;

	close(c->go[1]);
	waitpid(c->pid, &status, 0);
	close(c->tell[0]);
	return status;
}

/* Marks the child's slot as the supervisor does after a death. */
static inline void test_is_dead(struct seg *s, const struct test_child *c)
{
	seg_for_each_live (s, SEG_T_PROC, i)
		if (seg_proc(s, i)->pid == (uint32_t)c->pid)
			seg_proc(s, i)->state = SEG_PROC_DEAD;
}

static inline void test_forget(struct seg *s, const struct test_child *c)
{
	seg_for_each_live (s, SEG_T_PROC, i)
		if (seg_proc(s, i)->pid == (uint32_t)c->pid)
			seg_free(s, SEG_T_PROC, i);
}

/* For the child: the process stops at the n-th marked step (POINT()) from here on. */
static inline void test_stop_at(unsigned int n)
{
	static char spec[32]; /* point_set() keeps it */

	snprintf(spec, sizeof(spec), "*:stop:%u", n);
	if (!point_set(spec))
		_exit(77);
}

/* Waits for a child that has called test_stop_at(). False: it has ended before that step. */
static inline bool test_stops(const struct test_child *c)
{
	int status;

	assert_int_equal(waitpid(c->pid, &status, WUNTRACED), c->pid);
	assert_true(WIFSTOPPED(status) || (WIFEXITED(status) && !WEXITSTATUS(status)));
	return WIFSTOPPED(status);
}

#endif
