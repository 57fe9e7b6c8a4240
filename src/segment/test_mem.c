/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copies: own memory with and without the guard, and foreign memory in each state of its owner. */
#include "segment/test.h"
#include "segment/look.h"
#include "segment/mem.h"
#include "segment/memfd.h"
#include "segment/table.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <ucontext.h>

#define PAGE 4096

static void on_fault(int sig, siginfo_t *si, void *uc)
{
	if (!mem_guard_fixup(uc)) {
		signal(sig, SIG_DFL);
		raise(sig);
	}
}

/* Called inside the test: cmocka installs its own handlers before each. */
static void with_guard(void (*test)(void **state), void **state)
{
	struct sigaction sa = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};

	sigaction(SIGSEGV, &sa, NULL);
	sigaction(SIGBUS, &sa, NULL);
	mem_guard_armed = true;
	test(state);
	mem_guard_armed = false;
}

/* Two pages; the second has no access. */
static uint8_t *page_and_hole(void)
{
	uint8_t *p =
		mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	mprotect(p + PAGE, PAGE, PROT_NONE);
	return p;
}

static void guarded_copy_is_exact(void **state)
{
	static uint8_t from[9000], to[9000];

	for (size_t i = 0; i < sizeof(from); i++)
		from[i] = (uint8_t)(i * 7 + 1);
	for (size_t n = 0; n < 8500; n += n < 600 ? 1 : 613) {
		memset(to, 0xee, sizeof(to));
		assert_int_equal(mem_guarded_copy(to + 3, from + 5, n), 0);
		assert_memory_equal(to + 3, from + 5, n);
		assert_int_equal(to[2], 0xee);
		assert_int_equal(to[3 + n], 0xee);
	}
}

static void own_bad_page_is_efault(void **state)
{
	struct seg *s = *state;
	uint8_t *p = page_and_hole(), buf[1024] = {0};
	static const size_t lens[] = {1, 2, 3, 4, 6, 8, 9, 64, 100, 256, 257, 1024};

	for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		uint64_t va = (uint64_t)(uintptr_t)(p + PAGE) - lens[i];

		assert_int_equal(mem_read(s, mem_self(s), va, buf, lens[i]), 0);
		assert_int_equal(mem_read(s, mem_self(s), va + 1, buf, lens[i]), -EFAULT);
		assert_int_equal(mem_write(s, mem_self(s), va, buf, lens[i]), 0);
		assert_int_equal(mem_write(s, mem_self(s), va + 1, buf, lens[i]), -EFAULT);
	}
	assert_int_equal(mem_read(s, mem_self(s), 0, buf, 8), -EFAULT);
	assert_int_equal(mem_read(s, mem_self(s), UINT64_MAX - 7, buf, 8), -EFAULT);
	assert_int_equal(mem_read(s, mem_self(s), UINT64_C(1) << 60, buf, 8), -EFAULT);
	munmap(p, 2 * PAGE);
}

/* Past the end of a file: SIGBUS, not SIGSEGV. */
static void own_sigbus_is_efault(void **state)
{
	struct seg *s = *state;
	int fd = memfd_create("x", 0);
	uint8_t *p, b;

	assert_int_equal(ftruncate(fd, PAGE), 0);
	p = mmap(NULL, 2 * PAGE, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	assert_int_equal(mem_read(s, mem_self(s), (uint64_t)(uintptr_t)p + PAGE - 1, &b, 1), 0);
	assert_int_equal(mem_read(s, mem_self(s), (uint64_t)(uintptr_t)p + PAGE, &b, 1), -EFAULT);
	munmap(p, 2 * PAGE);
}

static void own_vectors_scatter_and_gather(void **state)
{
	struct seg *s = *state;
	char a[8] = "abcdefg", b[4] = "xyz", out[16] = {0};
	struct mem_vec v[] = {{(uint64_t)(uintptr_t)a, 3}, {0, 0}, {(uint64_t)(uintptr_t)b, 3}};
	struct mem_vec o[] = {{(uint64_t)(uintptr_t)out, 1}, {(uint64_t)(uintptr_t)out + 1, 5}};
	struct iovec io[] = {{out, 2}, {out + 4, 4}};

	assert_int_equal(mem_readv(s, mem_self(s), v, 3, io, 2), 0);
	assert_memory_equal(out, "ab\0\0cxyz", 8);
	assert_int_equal(mem_copy(s, mem_self(s), o, 2, mem_self(s), v, 3), 0);
	assert_memory_equal(out, "abcxyz", 6);
	memcpy(out, "1234567", 8);
	assert_int_equal(mem_writev(s, mem_self(s), v, 3, io, 2), 0);
	assert_string_equal(a, "125defg");
	assert_string_equal(b, "67");
	assert_int_equal(mem_readv(s, mem_self(s), v, MEM_MAX_VEC + 1, io, 2), -EINVAL);
}

/* ---- a peer: its page and its memory slot are in shared memory */

struct peer {
	struct mem_slot m;
	uint8_t *page; /* private in both processes, at the same address */
};

static struct peer *peer_shared(void)
{
	struct peer *p =
		mmap(NULL, sizeof(*p), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	p->page = page_and_hole();
	memset(p->page, 0x11, PAGE);
	return p;
}

static void peer_run(struct seg *s, struct test_child *c, void *arg)
{
	struct peer *p = arg;

	p->m = mem_self(s);
	memset(p->page, 0x22, PAGE);
	munmap(p->page + PAGE, PAGE); /* unmapped: a mem descriptor would write through PROT_NONE */
	test_tell(c->tell[1]);
	test_wait(c->go[0]);
	/* the bytes that the other side wrote */
	if (p->page[7] != 0x77)
		_exit(1);
}

static void peer_start(struct seg *s, struct peer *p, struct test_child *c)
{
	test_spawn(s, c, peer_run, p);
	assert_true(test_wait(c->tell[0]));
}

static void peer_end(struct peer *p)
{
	munmap(p->page, 2 * PAGE);
	munmap(p, sizeof(*p));
}

static void check_peer_copies(struct seg *s, struct peer *p)
{
	uint64_t va = (uint64_t)(uintptr_t)p->page;
	uint8_t b[PAGE], five[] = {5, 6, 0x77};
	struct iovec io[] = {{five, 1}, {five + 1, 2}};
	struct mem_vec v[] = {{va + 1, 2}, {va + 7, 1}},
		       over[] = {{va + PAGE - 8, 8}, {va + PAGE, 1}};
	struct mem_vec mine = {(uint64_t)(uintptr_t)b, 9};
	struct iovec nine = {b, 9};
	uint32_t w;

	assert_int_equal(mem_read(s, p->m, va, b, PAGE), 0);
	assert_int_equal(b[0], 0x22);
	assert_int_equal(b[PAGE - 1], 0x22);
	assert_int_equal(mem_writev(s, p->m, v, 2, io, 2), 0);
	assert_int_equal(mem_read(s, p->m, va, b, 8), 0);
	assert_memory_equal(b, "\x22\x05\x06\x22\x22\x22\x22\x77", 8);
	/* this process's page is another one */
	assert_int_equal(p->page[1], 0x11);
	/* only a part is mapped */
	assert_int_equal(mem_read(s, p->m, va + PAGE - 8, b, 9), -EFAULT);
	assert_int_equal(mem_readv(s, p->m, over, 2, &nine, 1), -EFAULT);
	assert_int_equal(mem_write(s, p->m, va + PAGE, b, 1), -EFAULT);
	assert_int_equal(mem_read(s, p->m, 0, b, 1), -EFAULT);
	assert_int_equal(mem_read(s, p->m, UINT64_MAX - 3, b, 8), -EFAULT);
	assert_int_equal(mem_write_be32(s, p->m, va + 64, 0x01020304), 0);
	assert_int_equal(mem_read_be32(s, p->m, va + 64, &w), 0);
	assert_int_equal(w, 0x01020304);
	assert_int_equal(mem_write_be32(s, p->m, va + 68, 0x05060708), 0);
	assert_int_equal(mem_read_be32(s, p->m, va + 68, &w), 0);
	assert_int_equal(w, 0x05060708);
	assert_int_equal(mem_read_be32(s, p->m, va + 66, &w), 0);
	assert_int_equal(w, 0x03040506);
	assert_int_equal(mem_read_be32(s, p->m, va + PAGE, &w), -EFAULT);
	mine.va = va + 100; /* foreign to foreign, through the bounce buffer */
	assert_int_equal(mem_copy(s, p->m, &mine, 1, p->m, &(struct mem_vec){va, 9}, 1), 0);
	assert_int_equal(mem_read(s, p->m, va + 107, b, 1), 0);
	assert_int_equal(b[0], 0x77);
}

static void peer_memory_is_read_and_written(void **state)
{
	struct seg *s = *state;
	struct peer *p = peer_shared();
	struct test_child c;

	peer_start(s, p, &c);
	check_peer_copies(s, p);
	assert_int_equal(seg_proc(s, p->m.slot)->in_flight, 0);
	test_tell(c.go[1]);
	assert_int_equal(test_reap(&c), 0);
	peer_end(p);
}

static long faults_now(void)
{
	struct rusage u;

	assert_int_equal(getrusage(RUSAGE_THREAD, &u), 0);
	return u.ru_minflt + u.ru_majflt;
}

/* The page faults of the second of two calls: the first brings code and stack. */
static long faults_of_touch(struct seg *s, struct mem_slot m, uint64_t va, uint64_t len)
{
	long was;

	mem_touch(s, m, va - PAGE, 1);
	was = faults_now();
	mem_touch(s, m, va, len);
	return faults_now() - was;
}

static void every_page_is_touched_once(void **state)
{
	const long n = 700; /* more than one system call brings */
	struct seg *s = *state;
	struct peer *p = peer_shared();
	struct mem_slot slots[2];
	struct test_child c;
	uint64_t va;

	munmap(p->page, 2 * PAGE);
	p->page =
		mmap(NULL, 2048 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(p->page, MAP_FAILED);
	madvise(p->page, 2048 * PAGE, MADV_NOHUGEPAGE);
	va = (uint64_t)(uintptr_t)p->page + 4 * PAGE;
	peer_start(s, p, &c);
	slots[0] = p->m;
	slots[1] = mem_self(s);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(faults_of_touch(s, slots[i], va + 9, n * PAGE - 18), n);
		assert_int_equal(faults_of_touch(s, slots[i], va + 9, n * PAGE - 18), 0);
		assert_int_equal(faults_of_touch(s, slots[i], va + n * PAGE + PAGE - 1, 2), 2);
		assert_int_equal(faults_of_touch(s, slots[i], va + 800 * PAGE, 0), 0);
	}
	/* If process_vm_readv(2) may be refused, the pages are touched one by one. */
	atomic_store(&seg_proc(s, p->m.slot)->refused, 1);
	assert_int_equal(faults_of_touch(s, p->m, va + 1000 * PAGE, 3 * PAGE), 3);
	atomic_store(&seg_proc(s, p->m.slot)->refused, 0);
	assert_int_equal(mem_write(s, p->m, (uintptr_t)p->page + 7, "\x77", 1), 0);
	test_tell(c.go[1]);
	assert_int_equal(test_reap(&c), 0);
	munmap(p->page, 2048 * PAGE);
	munmap(p, sizeof(*p));
}

static void dead_execing_or_replaced_peer_is_esrch(void **state)
{
	struct seg *s = *state;
	struct peer *p = peer_shared();
	struct test_child c;
	struct seg_proc *sp;
	uint64_t va = (uint64_t)(uintptr_t)p->page;
	siginfo_t si;
	uint8_t b = 0x77;

	peer_start(s, p, &c);
	sp = seg_proc(s, p->m.slot);
	p->m.gen++;
	assert_int_equal(mem_write(s, p->m, va, &b, 1), -ESRCH);
	p->m.gen--;
	sp->state = SEG_PROC_EXECING;
	assert_int_equal(mem_write(s, p->m, va, &b, 1), -ESRCH);
	sp->state = SEG_PROC_LIVE;
	assert_int_equal(mem_write(s, p->m, va + 7, &b, 1), 0);
	assert_int_equal(mem_read(s, (struct mem_slot){SEG_NONE, 0}, va, &b, 1), -ESRCH);
	assert_int_equal(mem_read(s, (struct mem_slot){0, 0}, va, &b, 1), -ESRCH);
	/* dead, but not yet marked by the supervisor */
	kill(c.pid, SIGKILL);
	waitid(P_PID, (id_t)c.pid, &si, WEXITED | WNOWAIT);
	assert_int_equal(mem_read(s, p->m, va, &b, 1), -ESRCH);
	test_reap(&c);
	assert_int_equal(mem_read(s, p->m, va, &b, 1), -ESRCH);
	assert_int_equal(seg_proc(s, p->m.slot)->in_flight, 0);
	peer_end(p);
}

static void *pause_for_ever(void *arg)
{
	for (;;)
		pause();
	return NULL;
}

static void peer_lives(struct seg *s, struct test_child *c, void *arg)
{
	static struct seg_life life;

	seg_proc_life_begin(seg_proc(s, s->self), &life);
	peer_run(s, c, arg);
}

/* The supervisor has not run since the death, and another process has got the pid. */
static void a_stranger_with_the_pid_is_not_written(void **state)
{
	struct seg *s = *state;
	struct peer *dead = peer_shared(), *other = peer_shared();
	uint64_t va = (uint64_t)(uintptr_t)other->page + 7;
	struct test_child c, stranger;
	uint8_t b = 0x55;

	test_spawn(s, &c, peer_lives, dead);
	assert_true(test_wait(c.tell[0]));
	peer_start(s, other, &stranger);
	assert_int_equal(mem_write(s, dead->m, (uint64_t)(uintptr_t)dead->page, &b, 1), 0);
	kill(c.pid, SIGKILL);
	test_reap(&c);
	assert_int_equal(seg_proc(s, dead->m.slot)->state, SEG_PROC_LIVE);
	seg_proc(s, dead->m.slot)->pid = (uint32_t)stranger.pid;
	assert_int_equal(mem_write(s, dead->m, va, &b, 1), -ESRCH);
	assert_int_equal(mem_read(s, other->m, va, &b, 1), 0);
	assert_int_equal(b, 0x22);
	kill(stranger.pid, SIGKILL);
	test_reap(&stranger);
	peer_end(dead);
	peer_end(other);
}

static void *lives_beside(void *arg)
{
	static struct seg_life life;
	struct seg *s = arg;

	seg_proc_life_begin(seg_proc(s, s->self), &life);
	return pause_for_ever(NULL);
}

static void peer_execs(struct seg *s, struct test_child *c, void *arg)
{
	char *argv[] = {"cat", NULL}, *none[] = {NULL};
	struct peer *p = arg;
	pthread_t t;

	p->m = mem_self(s);
	fcntl(c->tell[1], F_SETFD, FD_CLOEXEC);
	if (pthread_create(&t, NULL, lives_beside, s))
		_exit(1);
	while (!seg_proc(s, s->self)->life)
		sched_yield();
	dup2(c->go[0], 0);
	test_tell(c->tell[1]);
	sys_call(SYS_execve, "/bin/cat", argv, none);
	_exit(2);
}

/* An exec by the program's own instruction, which no wrapper announces. */
static void an_unannounced_exec_ends_a_life(void **state)
{
	struct seg *s = *state;
	struct peer *p = peer_shared();
	struct test_child c;
	uint8_t b;

	test_spawn(s, &c, peer_execs, p);
	assert_true(test_wait(c.tell[0]));
	assert_false(test_wait(c.tell[0])); /* closed by the exec */
	assert_int_equal(seg_proc(s, p->m.slot)->state, SEG_PROC_LIVE);
	assert_true(seg_proc_life_ended(seg_proc(s, p->m.slot)));
	assert_int_equal(mem_read(s, p->m, (uint64_t)(uintptr_t)p->page, &b, 1), -ESRCH);
	assert_int_equal(test_reap(&c), 0);
	peer_end(p);
}

static void flip(_Atomic uint32_t *w, const _Atomic bool *end)
{
	for (uint32_t v = 0; !atomic_load_explicit(end, memory_order_relaxed);)
		atomic_store_explicit(w, v = ~v, memory_order_relaxed);
}

static void flip_counter(struct seg *s, struct test_child *c, void *arg)
{
	static const _Atomic bool never;
	struct peer *p = arg;

	memset(p->page + 12, 0, 4);
	p->m = mem_self(s);
	test_tell(c->tell[1]);
	flip((_Atomic uint32_t *)(p->page + 12), &never);
}

static void a_record_is_never_seen_half_written(void **state)
{
	struct seg *s = *state;
	struct peer *p = peer_shared();
	struct test_child c;
	uint32_t v;

	test_spawn(s, &c, flip_counter, p);
	assert_true(test_wait(c.tell[0]));
	for (int i = 0; i < 20000; i++) {
		assert_int_equal(mem_read_be32(s, p->m, (uint64_t)(uintptr_t)p->page + 12, &v), 0);
		assert_true(v == 0 || v == UINT32_MAX);
	}
	kill(c.pid, SIGKILL);
	test_reap(&c);
	peer_end(p);
}

static struct {
	_Alignas(8) _Atomic uint32_t other, record;
	_Atomic bool end;
} own;

static void *flip_own(void *arg)
{
	flip(&own.record, &own.end);
	return NULL;
}

/* Poll mode: the device thread reads while the program writes. */
static void an_own_record_is_never_seen_half_written(void **state)
{
	struct seg *s = *state;
	pthread_t t;
	uint32_t v;

	own.end = false;
	assert_int_equal(pthread_create(&t, NULL, flip_own, NULL), 0);
	for (int i = 0; i < 20000; i++) {
		assert_int_equal(mem_read_be32(s, mem_self(s), (uintptr_t)&own.record, &v), 0);
		assert_true(v == 0 || v == UINT32_MAX);
	}
	own.end = true;
	pthread_join(t, NULL);
}

/* Hazard 9: the queue's page is not in the child; the parent has registered it. */
static void child_reads(struct seg *s, struct test_child *c, void *arg)
{
	struct peer *p = arg;
	uint8_t b = 0;

	if (mem_read(s, p->m, (uint64_t)(uintptr_t)p->page, &b, 1) || b != 0x33)
		_exit(1);
	if (mem_read(s, mem_self(s), (uint64_t)(uintptr_t)p->page, &b, 1) != -EFAULT)
		_exit(2);
}

static void dontfork_page_is_read_from_its_registrant(void **state)
{
	struct seg *s = *state;
	struct peer *p = peer_shared();
	struct test_child c;

	madvise(p->page, PAGE, MADV_DONTFORK);
	p->page[0] = 0x33;
	p->m = mem_self(s);
	test_spawn(s, &c, child_reads, p);
	assert_int_equal(test_reap(&c), 0);
	peer_end(p);
}

/* ---- by descriptor */

static void peer_hides(struct seg *s, struct test_child *c, void *arg)
{
	prctl(PR_SET_DUMPABLE, 0);
	peer_run(s, c, arg);
}

/* Is this process refused access to a process that is not dumpable? Root is not. */
static bool may_ptrace_any(void)
{
	return geteuid() == 0;
}

static void memfd_serves_what_process_vm_is_refused(void **state)
{
	struct seg *s = *state;
	struct peer *p = peer_shared();
	struct test_child c;
	uint64_t va = (uint64_t)(uintptr_t)p->page;
	char path[64];
	uint8_t b;
	int fd;

	peer_start(s, p, &c);
	snprintf(path, sizeof(path), "/proc/%d/mem", c.pid);
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	/* Act as if it came from another PID namespace: its pid must not be used. */
	seg_proc(s, p->m.slot)->pid_ns++;
	s->memfd[3].key = SEG_MEMFD_KEY(p->m.slot, p->m.gen, fd);
	check_peer_copies(s, p);
	test_tell(c.go[1]);
	assert_int_equal(test_reap(&c), 0);
	assert_int_equal(mem_read(s, p->m, va, &b, 1), -ESRCH);
	seg_proc(s, p->m.slot)->state = SEG_PROC_DEAD;
	assert_int_equal(mem_read(s, p->m, va, &b, 1), -ESRCH);
	assert_int_equal(s->memfd[3].users, 0);
	s->memfd[3].key = 0;
	close(fd);
	peer_end(p);
}

static void refused_both_ways_is_eacces_not_dead(void **state)
{
	struct seg *s = *state;
	struct peer *p = peer_shared();
	struct test_child c;
	uint8_t b;

	s->said = UINT32_MAX; /* suppress the diagnosis */
	peer_start(s, p, &c);
	seg_proc(s, p->m.slot)->pid_ns++;
	assert_int_equal(mem_read(s, p->m, (uint64_t)(uintptr_t)p->page, &b, 1), -ETIMEDOUT);
	assert_true(mem_fetch(s, 0)); /* there is no supervisor to ask */
	assert_int_equal(mem_read(s, p->m, (uint64_t)(uintptr_t)p->page, &b, 1), -EACCES);
	kill(c.pid, SIGKILL);
	test_reap(&c);
	if (may_ptrace_any())
		goto out;
	test_spawn(s, &c, peer_hides, p);
	assert_true(test_wait(c.tell[0]));
	assert_int_equal(mem_read(s, p->m, (uint64_t)(uintptr_t)p->page, &b, 1), -ETIMEDOUT);
	assert_true(mem_fetch(s, 0));
	assert_int_equal(mem_read(s, p->m, (uint64_t)(uintptr_t)p->page, &b, 1), -EACCES);
	kill(c.pid, SIGKILL);
	test_reap(&c);
out:
	peer_end(p);
}

/* ---- processes that end */

static void peer_leads(struct seg *s, struct test_child *c, void *arg)
{
	struct peer *p = arg;
	pthread_t t;

	p->m = mem_self(s);
	if (pthread_create(&t, NULL, pause_for_ever, NULL))
		_exit(1);
	test_tell(c->tell[1]);
	test_wait(c->go[0]);
	sys_call(SYS_exit, 0); /* ends this thread only */
}

/* The first thread has ended: process_vm_* gives ESRCH, but other threads are alive. */
static void a_process_without_its_first_thread_is_not_gone(void **state)
{
	struct seg *s = *state;
	struct peer *p = peer_shared();
	struct test_child c;
	uint64_t ran;
	uint8_t b;
	int r;

	test_spawn(s, &c, peer_leads, p);
	assert_true(test_wait(c.tell[0]));
	test_tell(c.go[1]);
	do
		r = mem_read(s, p->m, (uint64_t)(uintptr_t)p->page, &b, 1);
	while (!r);
	assert_int_equal(r, -ETIMEDOUT);
	assert_false(who_gone(s, who_slot(p->m.slot, p->m.gen)));
	assert_false(who_stopped(s, who_slot(p->m.slot, p->m.gen)));
	kill(c.pid, SIGSTOP);
	while (who_look(s, who_slot(p->m.slot, p->m.gen), &ran) != WHO_STOPPED)
		usleep(1000);
	assert_true(who_stopped(s, who_slot(p->m.slot, p->m.gen)));
	kill(c.pid, SIGKILL);
	test_reap(&c);
	assert_true(who_gone(s, who_slot(p->m.slot, p->m.gen)));
	s->memget.want = 0;
	peer_end(p);
}

/* Takes every descriptor that is left below the limit, and gives them back. */
static void descriptors(bool take)
{
	static int fd[64], n;

	for (; take && (fd[n] = dup(0)) >= 0; n++)
		;
	assert_true(!take || errno == EMFILE);
	while (!take && n)
		close(fd[--n]);
}

/* Only what is certain counts as stopped, since a lock is taken away from a stopped holder. */
static void what_is_not_seen_is_not_stopped(void **state)
{
	struct seg *s = *state;
	struct peer *p = peer_shared();
	struct test_child c;
	struct seg_proc *proc;
	uint64_t ran;
	int status;
	struct rlimit was;

	peer_start(s, p, &c);
	proc = seg_proc(s, p->m.slot);
	getrlimit(RLIMIT_NOFILE, &was);
	setrlimit(RLIMIT_NOFILE, &(struct rlimit){64, was.rlim_max});
	look_end(s); /* the spare descriptor has to be below the new limit, too */
	look_begin(s);
	descriptors(true);
	assert_false(who_stopped(s, who_slot(p->m.slot, p->m.gen)));
	descriptors(false);
	kill(c.pid, SIGSTOP);
	assert_int_equal(waitpid(c.pid, &status, WUNTRACED), c.pid);
	assert_true(who_stopped(s, who_slot(p->m.slot, p->m.gen)));
	descriptors(true);
	assert_true(who_stopped(s, who_slot(p->m.slot, p->m.gen)));
	assert_int_equal(who_look(s, who_slot(p->m.slot, p->m.gen), &ran), WHO_STOPPED);
	descriptors(false);
	proc->pid_ns++;
	assert_false(who_stopped(s, who_slot(p->m.slot, p->m.gen)));
	setrlimit(RLIMIT_NOFILE, &was);
	kill(c.pid, SIGKILL);
	test_reap(&c);
	peer_end(p);
}

/*
 * At every moment from the kill to the zombie, its memory is either accessible or reported as gone.
 */
static void an_exiting_process_is_gone(void **state)
{
	struct seg *s = *state;
	struct peer *p = peer_shared();
	struct test_child c;
	siginfo_t si;
	uint8_t b;
	int r;

	for (int i = 0; i < 100; i++) {
		test_spawn(s, &c, peer_run, p);
		assert_true(test_wait(c.tell[0]));
		kill(c.pid, SIGKILL);
		do
			r = mem_read(s, p->m, (uint64_t)(uintptr_t)p->page, &b, 1);
		while (!r);
		assert_int_equal(r, -ESRCH);
		waitid(P_PID, (id_t)c.pid, &si, WEXITED | WNOWAIT);
		assert_true(who_gone(s, who_slot(p->m.slot, p->m.gen)));
		test_reap(&c);
	}
	peer_end(p);
}

#define GUARDED(t)                            \
	static void t##_guarded(void **state) \
	{                                     \
		with_guard(t, state);         \
	}
GUARDED(guarded_copy_is_exact)
GUARDED(own_bad_page_is_efault)
GUARDED(own_sigbus_is_efault)
GUARDED(own_vectors_scatter_and_gather)
GUARDED(dontfork_page_is_read_from_its_registrant)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(guarded_copy_is_exact),
		cmocka_unit_test(guarded_copy_is_exact_guarded),
		cmocka_unit_test(own_bad_page_is_efault),
		cmocka_unit_test(own_bad_page_is_efault_guarded),
		cmocka_unit_test(own_sigbus_is_efault),
		cmocka_unit_test(own_sigbus_is_efault_guarded),
		cmocka_unit_test(own_vectors_scatter_and_gather),
		cmocka_unit_test(own_vectors_scatter_and_gather_guarded),
		cmocka_unit_test(peer_memory_is_read_and_written),
		cmocka_unit_test(every_page_is_touched_once),
		cmocka_unit_test(a_record_is_never_seen_half_written),
		cmocka_unit_test(an_own_record_is_never_seen_half_written),
		cmocka_unit_test(dead_execing_or_replaced_peer_is_esrch),
		cmocka_unit_test(a_stranger_with_the_pid_is_not_written),
		cmocka_unit_test(an_unannounced_exec_ends_a_life),
		cmocka_unit_test(dontfork_page_is_read_from_its_registrant),
		cmocka_unit_test(dontfork_page_is_read_from_its_registrant_guarded),
		cmocka_unit_test(memfd_serves_what_process_vm_is_refused),
		cmocka_unit_test(refused_both_ways_is_eacces_not_dead),
		cmocka_unit_test(a_process_without_its_first_thread_is_not_gone),
		cmocka_unit_test(what_is_not_seen_is_not_stopped),
		cmocka_unit_test(an_exiting_process_is_gone),
	};

	return cmocka_run_group_tests(tests, test_seg_setup, test_seg_teardown);
}
