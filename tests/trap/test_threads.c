/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stacks, threads, fork and the device thread beside the doorbells. */
#include "child.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <cmocka.h>

static char *page;
static const char *self;

static int setup(void **state)
{
	page = fake_map(1);
	return page == MAP_FAILED ? -1 : 0;
}

/* ---- stacks */

static pthread_t start(size_t stack, void *(*fn)(void *), void *arg)
{
	pthread_attr_t attr;
	pthread_t t;

	pthread_attr_init(&attr);
	CHECK(pthread_attr_setstacksize(&attr, stack) == 0);
	CHECK(pthread_create(&t, &attr, fn, arg) == 0);
	return t;
}

/* Use the stack until little more than the kernel's own frame fits. */
static __attribute__((noinline)) void ring_below(size_t used)
{
	volatile char *room = __builtin_alloca(used);

	for (size_t i = 0; i < used; i += 256)
		room[i] = 1;
	ring(page);
	room[0] = 2;
}

static void *small_thread(void *arg)
{
	for (int i = 0; i < 100; i++)
		ring_below(5 * 1024);
	return NULL;
}

static void a_16_kib_thread(void)
{
	fake_work(FAKE_DEEP | FAKE_FAULT);
	pthread_join(start(PTHREAD_STACK_MIN, small_thread, NULL), NULL);
	CHECK(fake_count() == 100 && fake_wrong() == 0);
}

static char alt[8192] __attribute__((aligned(16)));

static void arm_alt(void)
{
	stack_t ss = {.ss_sp = alt, .ss_size = sizeof(alt)};

	CHECK(sigaltstack(&ss, NULL) == 0);
}

static void check_alt_armed(void)
{
	stack_t ss;

	CHECK(sigaltstack(NULL, &ss) == 0);
	CHECK(ss.ss_sp == alt && ss.ss_size == sizeof(alt) && !(ss.ss_flags & SS_DISABLE));
}

static void ten_thousand_nested_faults_on_8_kib(void)
{
	arm_alt();
	fake_work(FAKE_DEEP | FAKE_FAULT);
	for (int i = 0; i < 10000; i++)
		ring(page);
	CHECK(fake_count() == 10000 && fake_wrong() == 0);
	check_alt_armed();
}

static void a_refused_store_leaves_the_alternate_stack_armed(void)
{
	/* Not a plain move: a fault of the program, which has no handler. */
	arm_alt();
	__asm__ volatile("lock incl (%0)" : : "r"(page + 0x800) : "memory");
}

static sigjmp_buf jump;
static bool armed_in_handler;

static void jump_out(int sig)
{
	stack_t ss;

	sigaltstack(NULL, &ss);
	armed_in_handler = ss.ss_flags & SS_ONSTACK;
	siglongjmp(jump, 1);
}

static void a_refused_store_reaches_its_handler(void)
{
	struct sigaction a = {.sa_handler = jump_out, .sa_flags = SA_ONSTACK};
	static char big[32768];
	stack_t ss = {.ss_sp = big, .ss_size = sizeof(big)};

	CHECK(sigaltstack(&ss, NULL) == 0 && sigaction(SIGSEGV, &a, NULL) == 0);
	for (volatile int i = 0; i < 100; i++) {
		if (!sigsetjmp(jump, 1)) {
			__asm__ volatile("lock incl (%0)" : : "r"(page + 0x800) : "memory");
			CHECK(false);
		}
		CHECK(armed_in_handler);
		CHECK(sigaltstack(NULL, &ss) == 0 && ss.ss_sp == big && !ss.ss_flags);
		ring(page);
	}
	CHECK(fake_count() == 100);
}

static void ring_on_alt(int sig)
{
	for (int i = 0; i < 10; i++)
		ring(page);
}

static void rings_inside_a_handler_on_the_alternate_stack(void)
{
	struct sigaction a = {.sa_handler = ring_on_alt, .sa_flags = SA_ONSTACK};
	static char big[32768];
	stack_t ss = {.ss_sp = big, .ss_size = sizeof(big)};

	fake_work(FAKE_FAULT);
	CHECK(sigaltstack(&ss, NULL) == 0 && sigaction(SIGUSR1, &a, NULL) == 0);
	for (int i = 0; i < 100; i++)
		raise(SIGUSR1);
	CHECK(fake_count() == 1000 && fake_wrong() == 0);
}

static void trap_ring_keeps_the_alternate_stack(void)
{
	arm_alt();
	fake_work(FAKE_FAULT | FAKE_DEEP);
	for (int i = 0; i < 100; i++)
		fake_trap_ring(1, 0x800, 5);
	CHECK(fake_count() == 100 && fake_wrong() == 0);
	check_alt_armed();
}

/* ---- threads */

static void *ring_many(void *arg)
{
	for (int i = 0; i < 500; i++)
		ring(page);
	return NULL;
}

static void many_threads_ring(void)
{
	pthread_t t[80];

	fake_work(FAKE_FAULT | FAKE_DEEP);
	for (int i = 0; i < 80; i++)
		t[i] = start(65536, ring_many, NULL);
	for (int i = 0; i < 80; i++)
		pthread_join(t[i], NULL);
	CHECK(fake_count() == 80 * 500 && fake_wrong() == 0);
}

static volatile sig_atomic_t alarms;

static void on_alarm(int sig)
{
	alarms++;
	ring(page);
}

static void a_timer_that_rings_while_ringing(void)
{
	struct sigevent ev = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2};
	struct itimerspec it = {{0, 200000}, {0, 200000}};
	uint32_t n = 0;
	timer_t t;

	signal(SIGUSR2, on_alarm);
	fake_work(FAKE_FAULT);
	CHECK(timer_create(CLOCK_MONOTONIC, &ev, &t) == 0 && timer_settime(t, 0, &it, NULL) == 0);
	while (alarms < 50) {
		ring(page);
		n++;
	}
	timer_delete(t);
	CHECK(fake_count() >= n + 50 && fake_wrong() == 0);
}

/* ---- fork and the device thread */

#define HANGS 60000 /* ms */

static bool due_within(uint64_t before, int ms)
{
	while (ms-- > 0 && fake_due_calls() == before)
		usleep(1000);
	return fake_due_calls() != before;
}

static void a_fork_child_rings(void)
{
	int status;
	pid_t pid;

	ring(page);
	pid = fork();
	if (!pid) {
		uint64_t due = fake_due_calls();

		ring(page);
		CHECK(fake_count() == 2 && fake_get(1).uar == 1);
		/* a control call starts the device thread again */
		CHECK(fake_map(4) != MAP_FAILED);
		CHECK(due_within(due, HANGS));
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	ring(page);
	CHECK(fake_count() == 2);
}

static void a_fork_child_that_parks_has_a_device_thread(void)
{
	/* run_child() has forked */
	ring(page);
	CHECK(!due_within(fake_due_calls(), 5));
	fake_work(FAKE_PARK);
	ring(page);
	CHECK(due_within(0, HANGS) && fake_count() == 2);
}

static void the_device_thread_wakes_when_roused(void)
{
	bool sooner = false;
	uint64_t due;

	CHECK(fake_map(2) != MAP_FAILED);
	CHECK(due_within(0, HANGS));
	/*
	 * By itself the thread wakes once a second: at least one wake-up must come sooner, also on
	 * a slow machine.
	 */
	for (int i = 0; i < 10 && !sooner; i++) {
		due = fake_due_calls();
		fake_rouse();
		sooner = due_within(due, 500);
	}
	CHECK(sooner);
}

static void the_device_thread_has_a_name_and_no_signals(void)
{
	char path[64], line[256];
	struct dirent *e;
	bool found = false;
	DIR *d;

	CHECK(fake_map(2) != MAP_FAILED && due_within(0, HANGS));
	d = opendir("/proc/self/task");
	CHECK(d != NULL);
	while ((e = readdir(d))) {
		unsigned long long blocked = 0;
		bool ours = false;
		FILE *f;

		snprintf(path, sizeof(path), "/proc/self/task/%.20s/status", e->d_name);
		f = fopen(path, "r");
		while (f && fgets(line, sizeof(line), f)) {
			ours |= !strcmp(line, "Name:\tsofthca\n");
			sscanf(line, "SigBlk: %llx", &blocked);
		}
		if (f)
			fclose(f);
		if (!ours)
			continue;
		found = true;
		/* all but SIGKILL, SIGSTOP, SIGSEGV, SIGBUS and glibc's two */
		CHECK((~blocked & ~((1ull << 8) | (1ull << 18) | (1ull << 10) | (1ull << 6) |
				    (3ull << 31))) == 0);
	}
	closedir(d);
	CHECK(found);
}

static void setuid_does_not_hang(void)
{
	CHECK(fake_map(2) != MAP_FAILED && due_within(0, HANGS));
	CHECK(setresuid(getuid(), getuid(), getuid()) == 0);
}

static void *last_thread(void *arg)
{
	char path[40], state = 0;

	/* The main thread stays a zombie until all threads have ended. */
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)getpid());
	while (state != 'Z') {
		FILE *f = fopen(path, "r");

		CHECK(f && fscanf(f, "%*d (%*[^)]) %c", &state) == 1);
		fclose(f);
		usleep(1000);
	}
	return NULL;
}

static void exit_without_main(void)
{
	pthread_t t;

	CHECK(fake_map(2) != MAP_FAILED && due_within(0, HANGS));
	pthread_create(&t, NULL, last_thread, NULL);
	pthread_exit(NULL);
}

static volatile bool stop;

static void *spin_map(void *arg)
{
	while (!stop) {
		void *p = fake_map(50);

		ring(p);
		fake_unmap(p);
	}
	return NULL;
}

static void *spin_handlers(void *arg)
{
	while (!stop)
		signal(SIGSEGV, SIG_IGN);
	return NULL;
}

static void forks_while_others_map_and_ring(void)
{
	pthread_t t = start(65536, spin_map, NULL), u = start(65536, spin_handlers, NULL);
	int status;

	for (int i = 0; i < 50; i++) {
		pid_t pid = fork();

		if (!pid) {
			alarm(60);
			void *p = fake_map(3);

			ring(p);
			fake_unmap(p);
			signal(SIGSEGV, SIG_DFL);
			_exit(0);
		}
		CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	}
	stop = true;
	pthread_join(u, NULL);
	pthread_join(t, NULL);
}

/* ---- poll mode: in a new program, because the mode is read once */

static void poll_program(void)
{
	setenv("SOFTHCA_DOORBELL", "poll", 1);
	execl(self, self, "poll", NULL);
	_exit(98);
}

static bool rang_within(uint32_t n, int ms)
{
	while (ms-- > 0 && fake_count() < n)
		usleep(1000);
	return fake_count() == n;
}

static long cpu_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000 + t.tv_nsec;
}

/* CPU time of the process for 200 naps of 1 ms, and the part of the napping thread. */
static long cpu_of_naps(clockid_t all, long *own)
{
	long t = cpu_ns(all);

	*own = cpu_ns(CLOCK_THREAD_CPUTIME_ID);
	for (int i = 0; i < 200; i++)
		usleep(1000);
	*own = cpu_ns(CLOCK_THREAD_CPUTIME_ID) - *own;
	return cpu_ns(all) - t;
}

static int poll_main(void)
{
	struct sigaction a;
	long ns, own;
	char *p = fake_map(6), *q = fake_map(7);

	alarm(300);
	CHECK(p != MAP_FAILED && q != MAP_FAILED);
	*(volatile uint64_t *)(p + 0x800) = 0x1122;
	CHECK(rang_within(1, HANGS));
	CHECK(fake_get(0).uar == 6 && fake_get(0).off == 0x800 && fake_get(0).be == 0x1122);
	CHECK(*(volatile uint64_t *)(p + 0x800) == 0);
	*(volatile uint64_t *)(q + 0x20) = 0x3344;
	CHECK(rang_within(2, HANGS));
	CHECK(fake_get(1).uar == 7 && fake_get(1).off == 0x20 && fake_get(1).be == 0x3344);
	/* no handler has changed */
	CHECK(syscall(SYS_rt_sigaction, SIGSEGV, NULL, &a, 8) == 0 && a.sa_handler == SIG_DFL);
	fake_unmap(p);
	*(volatile uint64_t *)(q + 0x900) = 0x5566;
	CHECK(rang_within(3, HANGS));
	/* idle: waking the thread costs about as much as a nap here, on any machine */
	ns = cpu_of_naps(CLOCK_PROCESS_CPUTIME_ID, &own);
	if (ns > 20 * own)
		fprintf(stderr, "%ld ns beside %ld\n", ns, own);
	CHECK(ns <= 20 * own);
	return 0;
}

#define OK(fn)                          \
	static void fn##_(void **state) \
	{                               \
		assert_child_ok(fn);    \
	}

OK(a_16_kib_thread)
OK(ten_thousand_nested_faults_on_8_kib)
OK(a_refused_store_reaches_its_handler)
OK(rings_inside_a_handler_on_the_alternate_stack)
OK(trap_ring_keeps_the_alternate_stack)
OK(many_threads_ring)
OK(a_timer_that_rings_while_ringing)
OK(a_fork_child_rings)
OK(a_fork_child_that_parks_has_a_device_thread)
OK(the_device_thread_wakes_when_roused)
OK(the_device_thread_has_a_name_and_no_signals)
OK(setuid_does_not_hang)
OK(exit_without_main)
OK(forks_while_others_map_and_ring)
OK(poll_program)

static void a_refused_store_kills_(void **state)
{
	assert_child_killed(a_refused_store_leaves_the_alternate_stack_armed, SIGSEGV);
}

#define T(fn) cmocka_unit_test(fn##_)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		T(a_16_kib_thread),
		T(ten_thousand_nested_faults_on_8_kib),
		T(a_refused_store_kills),
		T(a_refused_store_reaches_its_handler),
		T(rings_inside_a_handler_on_the_alternate_stack),
		T(trap_ring_keeps_the_alternate_stack),
		T(many_threads_ring),
		T(a_timer_that_rings_while_ringing),
		T(a_fork_child_rings),
		T(a_fork_child_that_parks_has_a_device_thread),
		T(the_device_thread_wakes_when_roused),
		T(the_device_thread_has_a_name_and_no_signals),
		T(setuid_does_not_hang),
		T(exit_without_main),
		T(forks_while_others_map_and_ring),
		T(poll_program),
	};

	self = argv[0];
	if (argc > 1 && !strcmp(argv[1], "poll"))
		return poll_main();
	return cmocka_run_group_tests(tests, setup, NULL);
}
