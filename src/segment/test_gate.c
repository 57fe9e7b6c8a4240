/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copies of stopped threads that are revoked, and copies that cannot be. */
#include "segment/test_gate.h"
#include "segment/memfd.h"
#include "segment/table.h"

#define BYTES 65536
#define ROUNDS 300

/*
 * Shared memory of both processes; `buf` is the parent's, at the same address in the child, but not
 * shared.
 */
struct world {
	struct mem_slot parent;
	struct test_gated g;
	uint8_t *buf;
	_Atomic uint32_t canceled;
};

static struct world *world_make(struct seg *s)
{
	struct world *w =
		mmap(NULL, sizeof(*w), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	w->buf = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	w->parent = mem_self(s);
	return w;
}

static void world_free(struct world *w)
{
	munmap(w->buf, BYTES);
	munmap(w, sizeof(*w));
}

static void dawdle(void)
{
	uint64_t end = clock_now_ns() + 20 * NSEC_PER_USEC;

	while (clock_now_ns() < end)
		;
}

/* Write to the parent as long as that is allowed: check, wait, write. */
static void writes(struct seg *s, struct test_child *c, void *arg)
{
	struct world *w = arg;
	struct seg_gate *g = test_gate_of(s, s->self);
	static uint8_t from[BYTES];
	int r;

	w->g.child = mem_self(s);
	memset(from, 0xaa, sizeof(from));
	test_tell(c->tell[1]);
	for (;;) {
		gate_reset(g);
		if (!w->g.valid) {
			w->g.seen_invalid++;
			dawdle();
			continue;
		}
		dawdle();
		mem_gate = g;
		r = mem_write(s, w->parent, (uintptr_t)w->buf, from, BYTES);
		mem_gate = NULL;
		w->g.done += r == 0;
		w->canceled += r == -ECANCELED;
	}
}

/* Wherever the writer is stopped, a copy decided before does not happen after it is continued. */
static void a_stopped_writer_does_not_write(void **state)
{
	struct seg *s = *state;
	struct world *w = world_make(s);
	struct test_child c;

	test_spawn(s, &c, writes, w);
	assert_true(test_wait(c.tell[0]));
	for (uint32_t i = 0; i < ROUNDS; i++)
		test_shut_out(s, &c, &w->g, GATE_MINDS_OWN, w->buf, BYTES);
	/* The writer was stopped between its check and its copy at least once. */
	assert_true(w->canceled > 0);
	kill(c.pid, SIGKILL);
	test_reap(&c);
	world_free(w);
}

static void idles(struct seg *s, struct test_child *c, void *arg)
{
	struct world *w = arg;

	w->g.child = mem_self(s);
	test_tell(c->tell[1]);
	test_wait(c->go[0]);
}

static void stop_and_wait(pid_t pid)
{
	int status;

	kill(pid, SIGSTOP);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
}

static void who_can_be_shut_out(void **state)
{
	struct seg *s = *state;
	struct world *w = world_make(s);
	struct seg_gate *g;
	struct test_child c;
	struct mem_slot m;
	uint64_t ran, again;
	siginfo_t si;

	test_spawn(s, &c, idles, w);
	assert_true(test_wait(c.tell[0]));
	m = w->g.child;
	g = test_gate_of(s, m.slot);
	gate_reset(g);
	assert_int_equal(gate_shut(s, who_slot(m.slot, m.gen), g, GATE_MINDS_OWN), GATE_OPEN);
	assert_int_equal(gate_word(g), 0);
	assert_int_equal(gate_shut(s, who_slot(s->self, s->self_gen), g, GATE_MINDS_OWN),
			 GATE_OPEN);
	stop_and_wait(c.pid);
	assert_int_equal(who_look(s, who_slot(m.slot, m.gen), &ran), WHO_STOPPED);
	assert_int_equal(who_look(s, who_slot(m.slot, m.gen), &again), WHO_STOPPED);
	assert_int_equal(ran, again);
	assert_true(gate_pass(g, GATE_OWN));
	assert_int_equal(gate_shut(s, who_slot(m.slot, m.gen), g, GATE_MINDS_OWN), GATE_OPEN);
	assert_int_equal(gate_shut(s, who_slot(m.slot, m.gen), g, 0), GATE_SHUT);
	assert_false(gate_pass(g, 5));
	gate_reset(g);
	assert_true(gate_pass(g, GATE_BUSY));
	assert_int_equal(gate_shut(s, who_slot(m.slot, m.gen), g, 0), GATE_OPEN);
	gate_reset(g);
	/*
	 * In GATE_STATE, a revoker that minds changes of state has to wait. One that does not mind
	 * them shuts the gate, which stays shut after gate_state_end().
	 */
	assert_true(gate_pass(g, GATE_STATE));
	assert_int_equal(gate_shut(s, who_slot(m.slot, m.gen), g, GATE_MINDS_STATE), GATE_OPEN);
	assert_int_equal(gate_shut(s, who_slot(m.slot, m.gen), g, GATE_MINDS_OWN), GATE_SHUT);
	assert_int_equal(gate_shut(s, who_slot(m.slot, m.gen), g, GATE_MINDS_STATE), GATE_OPEN);
	gate_state_end(g);
	assert_int_equal(gate_shut(s, who_slot(m.slot, m.gen), g, GATE_MINDS_STATE), GATE_SHUT);
	assert_false(gate_pass(g, 5));
	gate_reset(g);
	assert_int_equal(gate_shut(s, who_slot(m.slot, m.gen), g, GATE_MINDS_OWN), GATE_SHUT);
	kill(c.pid, SIGKILL);
	waitid(P_PID, (id_t)c.pid, &si, WEXITED | WNOWAIT);
	gate_reset(g);
	assert_int_equal(gate_shut(s, who_slot(m.slot, m.gen), g, GATE_MINDS_OWN), GATE_GONE);
	test_reap(&c);
	assert_int_equal(gate_shut(s, who_slot(m.slot, m.gen), g, GATE_MINDS_OWN), GATE_GONE);
	assert_int_equal(gate_shut(s, who_slot(m.slot, m.gen + 1), g, GATE_MINDS_OWN), GATE_GONE);
	world_free(w);
}

static void fill(uint8_t *p)
{
	for (uint32_t i = 0; i < BYTES; i++)
		p[i] = (uint8_t)(i * 31 + (i >> 8));
}

/* Make lists of n and m vectors of uneven lengths, with the same total. */
static uint64_t cut_up(uint8_t *at, unsigned int n, uint64_t total, struct iovec *v)
{
	uint64_t done = 0;

	for (unsigned int i = 0; i < n; i++) {
		uint64_t len = i + 1 == n ? total - done : total / n - i % 3;

		v[i] = (struct iovec){at + done, len};
		done += len;
	}
	return done;
}

/* Through a gate and without one, by process_vm_* and by descriptor, the result is the same. */
static void copies_through_a_gate(struct seg *s, struct mem_slot m, struct world *w)
{
	static const unsigned int counts[] = {1, 2, GATE_VECS, GATE_VECS + 1, 20, MEM_MAX_VEC};
	struct seg_gate *g = test_gate_of(s, s->self);
	static uint8_t from[BYTES], back[BYTES];
	struct iovec v[MEM_MAX_VEC], io[MEM_MAX_VEC];

	fill(from);
	mem_gate = g;
	for (unsigned int i = 0; i < 6; i++)
		for (unsigned int k = 0; k < 6; k++) {
			gate_reset(g);
			cut_up(w->buf, counts[i], BYTES - i, v);
			cut_up(from, counts[k], BYTES - i, io);
			memset(back, 0, sizeof(back));
			assert_int_equal(
				mem_writev(s, m, (struct mem_vec *)v, counts[i], io, counts[k]), 0);
			cut_up(back, counts[k], BYTES - i, io);
			assert_int_equal(
				mem_readv(s, m, (struct mem_vec *)v, counts[i], io, counts[k]), 0);
			assert_memory_equal(back, from, BYTES - i);
		}
	g->v[0].iov_len = GATE_REVOKED;
	assert_int_equal(mem_read(s, m, (uintptr_t)w->buf, back, 8), -ECANCELED);
	assert_int_equal(mem_write(s, m, (uintptr_t)w->buf, back, 8), -ECANCELED);
	assert_int_equal(mem_write(s, mem_self(s), (uintptr_t)w->buf, back, 8), -ECANCELED);
	gate_reset(g);
	assert_int_equal(mem_write(s, mem_self(s), (uintptr_t)w->buf, back, 8), 0);
	assert_int_equal(gate_word(g), GATE_OWN);
	assert_int_equal(mem_read(s, m, 0, back, 8), -EFAULT);
	mem_gate = NULL;
}

static uint64_t same_value(uint64_t was, const void *arg)
{
	(void)arg;
	return was;
}

/*
 * A copy from or to the segment itself can be revoked, as one to another process; the gate says so
 * by a length. An atomic is over when it returns.
 */
static void the_segment_is_nobodys_own(void **state)
{
	struct seg *s = *state;
	struct world *w = world_make(s);
	struct seg_gate *g = test_gate_of(s, s->self);
	uint8_t own[16] = {1, 2, 3}, *shared = (uint8_t *)&seg_proc(s, s->self)->ring[1].gate;
	struct mem_vec v = {(uintptr_t)own + 8, 8};
	struct iovec io = {shared, 8};
	uint64_t was;

	mem_gate = g;
	gate_reset(g);
	assert_int_equal(mem_read(s, mem_self(s), (uintptr_t)own, own + 8, 8), 0);
	assert_int_equal(gate_word(g), GATE_OWN);
	gate_reset(g);
	assert_int_equal(mem_write(s, mem_self(s), (uintptr_t)shared, own, 8), 0);
	assert_int_equal(gate_word(g), 8);
	memset(own + 8, 0, 8);
	gate_reset(g);
	assert_int_equal(mem_read(s, mem_self(s), (uintptr_t)shared, own + 8, 8), 0);
	assert_int_equal(gate_word(g), 8);
	assert_memory_equal(own, own + 8, 8);
	memset(own + 8, 0, 8);
	assert_int_equal(mem_writev(s, mem_self(s), &v, 1, &io, 1), 0);
	assert_int_equal(gate_word(g), 8);
	assert_memory_equal(own, own + 8, 8);
	assert_int_equal(mem_atomic(s, mem_self(s), (uintptr_t)shared, 8, same_value, NULL, &was),
			 0);
	assert_int_equal(gate_word(g), 0);
	assert_memory_equal(&was, own, 8);
	g->v[0].iov_len = GATE_REVOKED;
	own[0] = 7;
	assert_int_equal(mem_write(s, mem_self(s), (uintptr_t)shared, own, 8), -ECANCELED);
	assert_int_equal(mem_atomic(s, mem_self(s), (uintptr_t)shared, 8, same_value, NULL, &was),
			 -ECANCELED);
	assert_int_equal(*shared, 1);
	mem_gate = NULL;
	gate_reset(g);
	world_free(w);
}

static void lists_longer_than_a_gate(void **state)
{
	struct seg *s = *state;
	struct world *w = world_make(s);
	struct test_child c;
	char path[64];
	int fd;

	test_spawn(s, &c, idles, w);
	assert_true(test_wait(c.tell[0]));
	copies_through_a_gate(s, w->g.child, w);
	snprintf(path, sizeof(path), "/proc/%d/mem", c.pid);
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	seg_proc(s, w->g.child.slot)->pid_ns++;
	s->memfd[3].key = SEG_MEMFD_KEY(w->g.child.slot, w->g.child.gen, fd);
	copies_through_a_gate(s, w->g.child, w);
	s->memfd[3].key = 0;
	close(fd);
	test_tell(c.go[1]);
	assert_int_equal(test_reap(&c), 0);
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_can_be_shut_out),
		cmocka_unit_test(lists_longer_than_a_gate),
		cmocka_unit_test(the_segment_is_nobodys_own),
		cmocka_unit_test(a_stopped_writer_does_not_write),
	};

	return cmocka_run_group_tests(tests, test_seg_setup, test_seg_teardown);
}
