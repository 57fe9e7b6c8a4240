/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Hot doorbells jump into the engine: fresh copies of code, rung until they are patched. */
#include "child.h"
#include "patch_run.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <ucontext.h>
#include <cmocka.h>

#define UAR 3
#define RINGS 48 /* more rings than patching takes */

static char *page, *bell;
static const char *self;

static int setup(void **state)
{
	page = fake_map(UAR);
	bell = page + 0x800;
	return page == MAP_FAILED ? -1 : 0;
}

static int reset(void **state)
{
	fake_reset();
	return 0;
}

/*
 * Code in a file, as in a library: private, read and execute, `at` bytes into two pages. It is far
 * from everything else, so a short mov finds space for its stub.
 */
static uint8_t *load_at(void *where, const void *code, size_t n, size_t at)
{
	static uintptr_t next = 0x200000000000;
	int fd = memfd_create("code", 0);
	uint8_t *p;

	CHECK(ftruncate(fd, 8192) == 0);
	CHECK(pwrite(fd, code, n, (off_t)at) == (ssize_t)n);
	if (!where)
		where = (void *)(next += 1 << 21);
	p = mmap(where, 8192, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0);
	CHECK(p != MAP_FAILED);
	close(fd);
	return p + at;
}

static uint8_t *load(const void *code, size_t n)
{
	return load_at(NULL, code, n, 256);
}

static void unload(uint8_t *code)
{
	munmap((void *)((uintptr_t)code & ~4095ul), 8192);
}

/* void store(uint64_t v, void *to): mov %rdi,(%rsi); sfence; ret */
static const uint8_t store_code[] = {0x48, 0x89, 0x3e, 0x0f, 0xae, 0xf8, 0xc3};
typedef void store_fn(uint64_t v, void *to);

static bool patched(const uint8_t *code)
{
	return code[0] == 0xe9;
}

static void make_hot(uint8_t *code)
{
	for (int i = 0; i < RINGS; i++)
		((store_fn *)code)((uint64_t)i, bell);
	CHECK(patched(code));
	fake_reset();
}

static uint8_t *hot_store(void)
{
	uint8_t *code = load(store_code, sizeof(store_code));

	make_hot(code);
	return code;
}

/* ---- the patch does not change anything that a program can see */

struct form {
	const char *name;
	uint8_t mov[8], len;
	uint8_t val, base, index; /* registers, 0xff none */
	int32_t disp;
	uint8_t scale;
	bool stays;
};

static const struct form forms[] = {
	{"mov %rdx,(%rax)", {0x48, 0x89, 0x10}, 3, RDX, RAX, 0xff, 0, 0},
	{"mov %r15,(%r14)", {0x4d, 0x89, 0x3e}, 3, R15, R14, 0xff, 0, 0},
	{"mov %rcx,(%rdx,%rax)", {0x48, 0x89, 0x0c, 0x02}, 4, RCX, RDX, RAX, 0, 1},
	{"mov %rax,0x20(%rdx)", {0x48, 0x89, 0x42, 0x20}, 4, RAX, RDX, 0xff, 0x20, 0},
	{"mov %rax,(%rsp,%rcx)", {0x48, 0x89, 0x04, 0x0c}, 4, RAX, RSP, RCX, 0, 1},
	{"mov %rax,8(%rsp,%rcx)", {0x48, 0x89, 0x44, 0x0c, 8}, 5, RAX, RSP, RCX, 8, 1},
	{"mov %r8,0x800(%r11,%rbp,8)",
	 {0x4d, 0x89, 0x84, 0xeb, 0, 8, 0, 0},
	 8,
	 R8,
	 R11,
	 RBP,
	 0x800,
	 8},
	{"mov %rbp,-8(%rbx)", {0x48, 0x89, 0x6b, 0xf8}, 4, RBP, RBX, 0xff, -8, 0},
};

static void aim(struct run *r, const struct form *f, uint64_t value, uint64_t to)
{
	r->g[f->val] = value;
	if (f->index == 0xff) {
		r->g[f->base] = to - (uint64_t)(int64_t)f->disp;
	} else if (f->base == RSP) {
		r->g[f->index] = to - (uint64_t)(int64_t)f->disp - run_rsp();
	} else {
		r->g[f->index] = 16;
		r->g[f->base] = to - (uint64_t)(int64_t)f->disp - 16ul * f->scale;
	}
}

static void all_alike(const struct run *a, const struct run *b, const char *what)
{
	for (int i = 0; i < 16; i++)
		if (i != RSP && a->g[i] != b->g[i])
			fail_msg("%s: register %d: %lx -> %lx", what, i, a->g[i], b->g[i]);
	if (a->flags != b->flags)
		fail_msg("%s: flags %lx -> %lx", what, a->flags, b->flags);
	for (int i = 0; i < 16; i++)
		if (a->red[i] != b->red[i])
			fail_msg("%s: red zone %d", what, i);
	if (memcmp(a->vec, b->vec, sizeof(a->vec)))
		fail_msg("%s: vector registers", what);
	if (memcmp(a->k, b->k, sizeof(a->k)))
		fail_msg("%s: mask registers", what);
}

static void random_run(struct run *r, uint8_t *code, unsigned int seed)
{
	uint8_t *p = (uint8_t *)r;

	for (size_t i = 0; i < sizeof(*r); i++)
		p[i] = (uint8_t)((seed = seed * 1103515245 + 12345) >> 16);
	/* status flags, and direction */
	r->flags = (r->flags & 0xcd5) | 0x202;
	r->code = code;
	r->narrow &= 1;
	for (int i = 0; i < 16 && r->narrow; i++)
		memset(r->vec[i] + 16, 0, sizeof(r->vec[i]) - 16);
}

static void every_form(void **state)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		const struct form *f = &forms[i];
		uint8_t code[32] = {0}, *p;
		struct run in, out;
		uint64_t cell = 0;

		memcpy(code, f->mov, f->len);
		memcpy(code + f->len, "\x0f\xae\xf8\xc3", 4);
		p = load(code, sizeof(code));
		fake_reset();
		for (unsigned int n = 0; n < RINGS; n++) {
			uint64_t v = 0xabcdef0011223344ul + n;

			random_run(&in, p, n);
			aim(&in, f, v, (uint64_t)bell);
			out = in;
			run_site(&out);
			all_alike(&in, &out, f->name);
			assert_int_equal(fake_count(), n + 1);
			assert_true(fake_get(n).be == v);
			assert_int_equal(fake_get(n).uar, UAR);
			assert_int_equal(fake_get(n).off, 0x800);
		}
		if (!patched(p))
			fail_msg("%s: not patched", f->name);
		assert_memory_equal(p + f->len, code + f->len, sizeof(code) - f->len);
		/* not a doorbell, but plain memory */
		random_run(&in, p, 99);
		aim(&in, f, 77, (uint64_t)&cell);
		out = in;
		run_site(&out);
		all_alike(&in, &out, "plain memory");
		assert_true(cell == 77);
		assert_int_equal(fake_count(), RINGS);
		unload(p);
	}
}

static void over_a_page_boundary_it_goes_on_trapping(void **state)
{
	uint8_t *p = load_at(NULL, store_code, sizeof(store_code), 4094);

	for (uint64_t i = 0; i < RINGS; i++)
		((store_fn *)p)(i, bell);
	assert_int_equal(fake_count(), RINGS);
	assert_false(patched(p));
	unload(p);
}

/* BlueFlame copies jump to the fence. */
static void the_fence_stays_a_place_to_jump_to(void **state)
{
	uint8_t *p = hot_store();

	for (int i = 0; i < 10; i++)
		((void (*)(void))(p + 3))();
	assert_int_equal(fake_count(), 0);
	unload(p);
}

/*
 * Copies of 16 bytes, as gcc makes them without optimization: the jump of the first mov ends in the
 * bytes of the second one, which must not change any more. The other way round both may jump.
 */
static void neighbours_do_not_break_each_other(void **state)
{
	/* mov %rdi,(%rsi); mov %rdi,8(%rsi); sfence; ret */
	static const uint8_t pair[] = {0x48, 0x89, 0x3e, 0x48, 0x89, 0x7e,
				       0x08, 0x0f, 0xae, 0xf8, 0xc3};

	for (int second_first = 0; second_first < 2; second_first++) {
		uint8_t *p = load(pair, sizeof(pair));
		uint32_t before = 0;

		fake_reset();
		for (uint64_t i = 0; second_first && i < RINGS; i++)
			((store_fn *)(p + 3))(i, bell - 8);
		before = fake_count();
		assert_true(patched(p + 3) == second_first);
		for (uint64_t i = 0; i < 2 * RINGS; i++)
			((store_fn *)p)(i, bell);
		assert_int_equal(fake_count() - before, 2 * RINGS); /* the second mov is data */
		for (uint32_t i = 0; i < 2 * RINGS; i++)
			assert_true(fake_get(before + i).be == i);
		assert_true(patched(p));
		assert_true(patched(p + 3) == second_first);
		unload(p);
	}
}

static void rip_relative_goes_on_trapping(void **state)
{
	static const uint8_t code[] = {0x48, 0x89, 0x3d, 0xf9, 0xff, 0x00,
				       0x00, 0x0f, 0xae, 0xf8, 0xc3};
	uint8_t *p = load_at(NULL, code, sizeof(code), 0x800);
	int err;
	void *near = fake_map_at(p + 0x10000 - 0x800, MAP_FIXED_NOREPLACE, 9, &err);

	if (near == MAP_FAILED)
		skip();
	for (uint64_t i = 0; i < RINGS; i++)
		((store_fn *)p)(i, NULL);
	assert_int_equal(fake_count(), RINGS);
	assert_false(patched(p));
	fake_unmap(near);
	unload(p);
}

static void errno_is_kept(void **state)
{
	uint8_t *p = hot_store();

	errno = 4711;
	((store_fn *)p)(5, bell);
	assert_int_equal(errno, 4711);
	unload(p);
}

static sigjmp_buf env;
static uintptr_t fault_rip, fault_addr;

static void on_fault(int sig, siginfo_t *si, void *uc)
{
	fault_rip = (uintptr_t)((ucontext_t *)uc)->uc_mcontext.gregs[REG_RIP];
	fault_addr = (uintptr_t)si->si_addr;
	siglongjmp(env, 1);
}

static void own_fault(void)
{
	struct sigaction sa = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
	uint8_t *p = hot_store();

	sigaction(SIGSEGV, &sa, NULL);
	for (int i = 0; i < 3; i++) {
		fault_rip = 0;
		if (!sigsetjmp(env, 1))
			((store_fn *)p)(1, (void *)0x1000);
		CHECK(fault_rip == (uintptr_t)p);
		CHECK(fault_addr == 0x1000);
		((store_fn *)p)(2, bell);
	}
	CHECK(fake_count() == 3);
}

static void own_fault_kills(void)
{
	((store_fn *)hot_store())(1, (void *)0x1000);
}

/* ---- code that is unmapped and mapped again */

static void other_code_at_the_address(void **state)
{
	static const uint8_t other[] = {0x48, 0x89, 0x7e, 0x00, 0x0f, 0xae, 0xf8, 0xc3};
	uint8_t *p = hot_store(), *base = (uint8_t *)((uintptr_t)p & ~4095ul);

	/* dlclose() and dlopen() do not call the wrapped munmap() */
	load_at(base, other, sizeof(other), 256);
	for (uint64_t i = 0; i < RINGS; i++)
		((store_fn *)p)(i, bell);
	assert_int_equal(fake_count(), RINGS);
	for (uint64_t i = 0; i < RINGS; i++)
		((store_fn *)p)(i, bell);
	assert_true(patched(p));
	fake_reset();
	load_at(base, store_code, sizeof(store_code), 256);
	for (uint64_t i = 0; i < 3 * RINGS; i++)
		((store_fn *)p)(i, bell);
	assert_int_equal(fake_count(), 3 * RINGS);
	assert_true(patched(p));
	load_at(base, store_code, sizeof(store_code), 256); /* the same code again */
	for (uint64_t i = 0; i < 3 * RINGS; i++)
		((store_fn *)p)(i, bell);
	assert_true(patched(p));
	unload(p);
}

static void anonymous_code_is_left_alone(void **state)
{
	uint8_t *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(p, store_code, sizeof(store_code));
	for (uint64_t i = 0; i < RINGS; i++)
		((store_fn *)p)(i, bell);
	assert_int_equal(fake_count(), RINGS);
	assert_false(patched(p));
	munmap(p, 4096);
}

static bool refuse_call(uint32_t nr, uint32_t third)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, third, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = {sizeof(f) / sizeof(f[0]), f};

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
}

static void still_works_by_trap(void)
{
	uint8_t *p = load(store_code, sizeof(store_code));

	for (uint64_t i = 0; i < RINGS; i++)
		((store_fn *)p)(i, bell);
	CHECK(fake_count() == RINGS);
	CHECK(!patched(p));
}

static void writable_code_refused(void)
{
	CHECK(refuse_call(SYS_mprotect, PROT_READ | PROT_WRITE | PROT_EXEC));
	still_works_by_trap();
}

static void executable_stub_refused(void)
{
	CHECK(refuse_call(SYS_mprotect, PROT_READ | PROT_EXEC));
	still_works_by_trap();
}

static void membarrier_refused(void)
{
	CHECK(refuse_call(SYS_membarrier, 0));
	still_works_by_trap();
}

/* ---- several threads at one site */

#define THREADS 4

static struct {
	uint8_t *code;
	_Atomic int ready;
	_Atomic bool stop;
} shared;

static void *hammer(void *arg)
{
	volatile uint64_t cell;

	shared.ready++;
	while (shared.ready < THREADS)
		;
	for (uint64_t i = 0; i < 60; i++) {
		((store_fn *)shared.code)(i, bell);
		cell = 0;
		((store_fn *)shared.code)(i + 1, (void *)&cell);
		CHECK(cell == i + 1);
		((void (*)(void))(shared.code + 3))();
	}
	return NULL;
}

static void threads_while_it_changes(void)
{
	for (int rep = 0; rep < 50; rep++) {
		pthread_t t[THREADS];

		fake_reset();
		shared.ready = 0;
		shared.code = load_at(NULL, store_code, sizeof(store_code), rep % 2 ? 256 : 254);
		for (int i = 0; i < THREADS; i++)
			pthread_create(&t[i], NULL, hammer, NULL);
		for (int i = 0; i < THREADS; i++)
			pthread_join(t[i], NULL);
		CHECK(fake_count() == THREADS * 60);
		CHECK(patched(shared.code));
	}
}

static void *small_thread(void *arg)
{
	for (int i = 0; i < 100; i++)
		((store_fn *)arg)(1, bell);
	return NULL;
}

static void a_16_kib_thread(void)
{
	uint8_t *p = hot_store();
	pthread_attr_t attr;
	pthread_t t;

	fake_work(FAKE_DEEP | FAKE_FAULT);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, PTHREAD_STACK_MIN);
	CHECK(pthread_create(&t, &attr, small_thread, p) == 0);
	pthread_join(t, NULL);
	CHECK(fake_count() == 100);
	CHECK(fake_wrong() == 0);
}

static void fork_child(void)
{
	uint8_t *p = hot_store();
	int status;
	pid_t pid = fork();

	if (!pid) {
		for (int i = 0; i < 10; i++)
			((store_fn *)p)(1, bell);
		_exit(fake_count() == 10 ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	CHECK(status == 0);
	((store_fn *)p)(1, bell);
	CHECK(fake_count() == 1);
}

static void fork_in_a_change(bool bare)
{
	for (int rep = 0; rep < 20; rep++) {
		pthread_t t[THREADS];
		int status;
		pid_t pid;

		shared.ready = 0;
		shared.code = load(store_code, sizeof(store_code));
		for (int i = 0; i < THREADS; i++)
			pthread_create(&t[i], NULL, hammer, NULL);
		while (shared.ready < THREADS)
			;
		pid = bare ? (pid_t)syscall(SYS_fork) : fork();
		if (!pid) {
			fake_reset();
			for (int i = 0; i < 100; i++)
				((store_fn *)shared.code)(1, bell);
			_exit(fake_count() == 100 ? 0 : 1);
		}
		for (int i = 0; i < THREADS; i++)
			pthread_join(t[i], NULL);
		waitpid(pid, &status, 0);
		CHECK(status == 0);
	}
}

static void forks_while_it_changes(void)
{
	fork_in_a_change(false);
}

/* A fork by system call does not run pthread_atfork() handlers. */
static void bare_forks_while_it_changes(void)
{
	fork_in_a_change(true);
}

/* ---- signals */

static _Atomic uint32_t ticks, intrusions;
static uint8_t *tick_code;

static void on_tick(int sig)
{
	ticks++;
	if (fake_inside())
		intrusions++;
	((store_fn *)tick_code)(2, bell);
}

static void on_tick_info(int sig, siginfo_t *si, void *uc)
{
	CHECK(si->si_code == SI_KERNEL && si->si_signo == SIGALRM);
	on_tick(sig);
}

static void storm(unsigned int usec)
{
	struct itimerval it = {{0, usec}, {0, usec}};

	setitimer(ITIMER_REAL, &it, NULL);
}

/* Ring until enough signals have come; each handler rings too, none inside the engine. */
static void ring_in_a_storm(void)
{
	uint32_t rings = 0;

	fake_work(FAKE_FAULT);
	storm(40);
	while (ticks < 500) {
		((store_fn *)tick_code)(1, bell);
		rings++;
	}
	storm(0);
	CHECK(intrusions == 0);
	CHECK(fake_count() == rings + ticks);
	CHECK(fake_wrong() == 0);
}

static void by_sigaction(void)
{
	struct sigaction sa = {.sa_sigaction = on_tick_info, .sa_flags = SA_SIGINFO | SA_RESTART};

	tick_code = hot_store();
	sigaction(SIGALRM, &sa, NULL);
	ring_in_a_storm();
}

static void by_signal(void)
{
	tick_code = hot_store();
	signal(SIGALRM, on_tick);
	ring_in_a_storm();
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static void by_sigset(void)
{
	tick_code = hot_store();
	sigset(SIGALRM, on_tick);
	ring_in_a_storm();
}

/* The structure that rt_sigaction(2) takes, unlike libc's. */
static struct {
	void *handler;
	unsigned long flags;
	void *restorer;
	uint64_t mask;
} kernel_action = {(void *)on_tick, 0, NULL, 0};

static void get_restorer(void)
{
	struct {
		void *handler;
		unsigned long flags;
		void *restorer;
		uint64_t mask;
	} k;

	CHECK(syscall(SYS_rt_sigaction, SIGSEGV, NULL, &k, 8) == 0);
	kernel_action.flags = k.flags & 0x04000000; /* SA_RESTORER */
	kernel_action.restorer = k.restorer;
}

static void by_syscall(void)
{
	tick_code = hot_store();
	get_restorer();
	CHECK(fake_syscall(SYS_rt_sigaction, SIGALRM, (long)&kernel_action, 0, 8, 0, 0) == 0);
	ring_in_a_storm();
}

/* Not seen by the library, but before the code is patched. */
static void by_the_bare_instruction(void)
{
	get_restorer();
	CHECK(syscall(SYS_rt_sigaction, SIGALRM, &kernel_action, NULL, 8) == 0);
	tick_code = hot_store();
	ring_in_a_storm();
}

static void *ring_on(void *arg)
{
	while (!shared.stop)
		((store_fn *)tick_code)(1, bell);
	return NULL;
}

/* The program installs its handler while other threads are in the engine. */
static void while_others_ring(void)
{
	pthread_t t[3];

	tick_code = hot_store();
	fake_work(FAKE_FAULT);
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, ring_on, NULL);
	for (int i = 0; i < 1000; i++)
		((store_fn *)tick_code)(1, bell);
	signal(SIGALRM, on_tick);
	storm(40);
	while (ticks < 300)
		for (int i = 0; i < 3; i++)
			pthread_kill(t[i], SIGALRM);
	storm(0);
	shared.stop = true;
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	CHECK(intrusions == 0);
}

/* What would end the program is not kept out with the signals that it handles (test_signals.c). */
static void dies_in_a_doorbell(void)
{
	tick_code = hot_store();
	signal(SIGALRM, on_tick);
	((store_fn *)tick_code)(1, bell);
	fake_work(FAKE_TERM | FAKE_STAY);
	((store_fn *)tick_code)(1, bell);
}

static sigjmp_buf out;
static volatile int jumps;

static void jump_out(int sig)
{
	CHECK(!fake_inside());
	jumps++;
	siglongjmp(out, 1);
}

static void handlers_that_jump_out(void)
{
	tick_code = hot_store();
	fake_work(FAKE_FAULT);
	signal(SIGALRM, jump_out);
	sigsetjmp(out, 1);
	if (jumps == 0)
		storm(60);
	while (jumps < 500)
		((store_fn *)tick_code)(1, bell);
	storm(0);
	CHECK(fake_wrong() == 0);
}

static volatile int queued;

static void on_queued(int sig, siginfo_t *si, void *uc)
{
	CHECK(!fake_inside());
	CHECK(si->si_code == SI_QUEUE && si->si_value.sival_int == queued);
	queued++;
}

static void *send_queued(void *arg)
{
	for (int i = 0; i < 500; i++)
		while (sigqueue(getpid(), SIGRTMIN + 1, (union sigval){.sival_int = i}))
			;
	return NULL;
}

static void queued_signals_come_in_order(void)
{
	struct sigaction sa = {.sa_sigaction = on_queued, .sa_flags = SA_SIGINFO};
	sigset_t set;
	pthread_t t;

	tick_code = hot_store();
	fake_work(FAKE_FAULT);
	sigaction(SIGRTMIN + 1, &sa, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN + 1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	pthread_create(&t, NULL, send_queued, NULL);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	while (queued < 500)
		((store_fn *)tick_code)(1, bell);
	pthread_join(t, NULL);
}

static void once(int sig)
{
	CHECK(!fake_inside());
	ticks++;
}

static void default_action_after_reset(void)
{
	struct sigaction sa = {.sa_handler = once, .sa_flags = SA_RESETHAND};

	tick_code = hot_store();
	fake_work(FAKE_FAULT);
	sigaction(SIGALRM, &sa, NULL);
	storm(50);
	for (int i = 0; i < 1000000; i++)
		((store_fn *)tick_code)(1, bell);
}

/*
 * Ring from a handler on the alternate stack, with a fault inside the engine: frames must survive.
 */
static char alt_stack[65536] __attribute__((aligned(16)));
static volatile int alt_done;

static void on_alt(int sig, siginfo_t *si, void *uc)
{
	volatile uint64_t mark[32];

	for (int i = 0; i < 32; i++)
		mark[i] = 0x1234 + (uint64_t)i;
	CHECK((char *)mark > alt_stack && (char *)mark < alt_stack + sizeof(alt_stack));
	for (int i = 0; i < 10; i++)
		((store_fn *)tick_code)(1, bell);
	for (int i = 0; i < 32; i++)
		CHECK(mark[i] == 0x1234 + (uint64_t)i);
	alt_done++;
}

static void ring_on_the_alternate_stack(void)
{
	stack_t ss = {.ss_sp = alt_stack, .ss_size = sizeof(alt_stack)}, now;
	struct sigaction sa = {.sa_sigaction = on_alt, .sa_flags = SA_SIGINFO | SA_ONSTACK};

	tick_code = hot_store();
	fake_work(FAKE_FAULT);
	CHECK(sigaltstack(&ss, NULL) == 0);
	sigaction(SIGUSR1, &sa, NULL);
	for (int i = 0; i < 10; i++) {
		raise(SIGUSR1);
		((store_fn *)tick_code)(1, bell);
		CHECK(sigaltstack(NULL, &now) == 0);
		CHECK(now.ss_sp == alt_stack && now.ss_flags == 0);
	}
	CHECK(alt_done == 10);
	CHECK(fake_count() == 110);
	CHECK(fake_wrong() == 0);
}

static void everything_blocked(void)
{
	uint8_t *p = hot_store();
	sigset_t all, now;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	fake_work(FAKE_FAULT);
	((store_fn *)p)(1, bell);
	CHECK(fake_count() == 1 && fake_wrong() == 0);
	sigprocmask(SIG_SETMASK, NULL, &now);
	CHECK(sigismember(&now, SIGUSR1) && sigismember(&now, SIGSEGV));
}

static void switched_off(void **state)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		setenv("SOFTHCA_PATCH", "0", 1);
		execl(self, self, "nopatch", NULL);
		_exit(98);
	}
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
}

#define OK(fn)                          \
	static void fn##_(void **state) \
	{                               \
		assert_child_ok(fn);    \
	}
OK(own_fault)
OK(writable_code_refused)
OK(executable_stub_refused)
OK(membarrier_refused)
OK(threads_while_it_changes)
OK(a_16_kib_thread)
OK(fork_child)
OK(forks_while_it_changes)
OK(bare_forks_while_it_changes)
OK(by_sigaction)
OK(by_signal)
OK(by_sigset)
OK(by_syscall)
OK(by_the_bare_instruction)
OK(while_others_ring)
static void dies_in_a_doorbell_(void **state)
{
	assert_child_killed(dies_in_a_doorbell, SIGTERM);
}
OK(handlers_that_jump_out)
OK(queued_signals_come_in_order)
static void default_action_after_reset_(void **state)
{
	assert_child_killed(default_action_after_reset, SIGALRM);
}
OK(ring_on_the_alternate_stack)
OK(everything_blocked)
static void own_fault_kills_(void **state)
{
	assert_child_killed(own_fault_kills, SIGSEGV);
}

#define T(fn) cmocka_unit_test_setup(fn, reset)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		T(every_form),
		T(over_a_page_boundary_it_goes_on_trapping),
		T(the_fence_stays_a_place_to_jump_to),
		T(rip_relative_goes_on_trapping),
		T(errno_is_kept),
		T(own_fault_),
		T(own_fault_kills_),
		T(other_code_at_the_address),
		T(anonymous_code_is_left_alone),
		T(writable_code_refused_),
		T(executable_stub_refused_),
		T(membarrier_refused_),
		T(threads_while_it_changes_),
		T(a_16_kib_thread_),
		T(fork_child_),
		T(forks_while_it_changes_),
		T(bare_forks_while_it_changes_),
		T(by_sigaction_),
		T(by_signal_),
		T(by_sigset_),
		T(by_syscall_),
		T(by_the_bare_instruction_),
		T(while_others_ring_),
		T(dies_in_a_doorbell_),
		T(handlers_that_jump_out_),
		T(queued_signals_come_in_order_),
		T(default_action_after_reset_),
		T(ring_on_the_alternate_stack_),
		T(everything_blocked_),
		T(switched_off),
		T(neighbours_do_not_break_each_other), /* last: the table of sites is small */
	};

	self = argv[0];
	if (argc > 1) {
		setup(NULL);
		still_works_by_trap();
		return 0;
	}
	return cmocka_run_group_tests(tests, setup, NULL);
}
