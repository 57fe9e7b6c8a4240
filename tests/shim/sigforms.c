/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every function by which a program sets handlers and masks, with the device open (so that the
 * library's handler is installed): each behaves for SIGSEGV and for another signal as libc's does.
 * All pass without the shim, too.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>

static void *fn(const char *name)
{
	void *p = dlsym(RTLD_DEFAULT, name);

	if (!p)
		fail_msg("no function %s", name);
	return p;
}
#define FN(type, name) ((type)fn(name))

static volatile sig_atomic_t caught[65];

static void handler(int sig)
{
	caught[sig]++;
}

static const int sigs[] = {SIGSEGV, SIGBUS, SIGUSR1};

static int reset(void **state)
{
	sigset_t none;

	sigemptyset(&none);
	pthread_sigmask(SIG_SETMASK, &none, NULL);
	for (int i = 0; i < 3; i++) {
		signal(sigs[i], SIG_DFL);
		caught[sigs[i]] = 0;
	}
	return 0;
}

static int open_device(void **state)
{
	return open("/dev/infiniband/uverbs0", O_RDWR) < 0 && getenv("SOFTHCA_DIR") ? -1 : 0;
}

static void expect_handler(const char *name, int sig, void *want)
{
	struct sigaction a;

	assert_int_equal(sigaction(sig, NULL, &a), 0);
	if ((void *)a.sa_handler != want)
		fail_msg("%s: another handler of signal %d", name, sig);
}

typedef void (*handler_fn)(int);

static void handler_setting(void **state)
{
	static const struct {
		const char *name;
		bool once;
	} f[] = {{"signal", false},     {"bsd_signal", false},   {"ssignal", false},
		 {"sysv_signal", true}, {"__sysv_signal", true}, {"sigset", false}};

	for (size_t i = 0; i < sizeof(f) / sizeof(f[0]); i++)
		for (int j = 0; j < 3; j++) {
			handler_fn (*set)(int, handler_fn) = fn(f[i].name);

			reset(NULL);
			assert_true(set(sigs[j], handler) == SIG_DFL);
			expect_handler(f[i].name, sigs[j], handler);
			raise(sigs[j]);
			assert_int_equal(caught[sigs[j]], 1);
			expect_handler(f[i].name, sigs[j], f[i].once ? SIG_DFL : handler);
			/* sigset() takes the value for a handler */
			if (strcmp(f[i].name, "sigset"))
				assert_true(set(sigs[j], SIG_ERR) == SIG_ERR);
		}
}

static void sigaction_forms(void **state)
{
	static const char *const name[] = {"sigaction", "__sigaction"};

	for (int i = 0; i < 2; i++)
		for (int j = 0; j < 3; j++) {
			struct sigaction a = {.sa_handler = handler, .sa_flags = SA_RESTART}, old;
			int (*f)(int, const struct sigaction *, struct sigaction *) = fn(name[i]);

			reset(NULL);
			sigaddset(&a.sa_mask, SIGUSR2);
			sigaddset(&a.sa_mask, SIGSEGV);
			assert_int_equal(f(sigs[j], &a, &old), 0);
			assert_true(old.sa_handler == SIG_DFL);
			assert_int_equal(f(sigs[j], NULL, &old), 0);
			assert_true(old.sa_handler == handler && old.sa_flags & SA_RESTART);
			assert_true(sigismember(&old.sa_mask, SIGSEGV) &&
				    sigismember(&old.sa_mask, SIGUSR2) &&
				    !sigismember(&old.sa_mask, SIGTERM));
			raise(sigs[j]);
			assert_int_equal(caught[sigs[j]], 1);
			assert_int_equal(f(0, &a, NULL), -1);
			assert_int_equal(errno, EINVAL);
		}
}

static void siginterrupt_changes_restart(void **state)
{
	for (int j = 0; j < 3; j++) {
		struct sigaction a;

		signal(sigs[j], handler);
		assert_int_equal(FN(int (*)(int, int), "siginterrupt")(sigs[j], 1), 0);
		sigaction(sigs[j], NULL, &a);
		assert_false(a.sa_flags & SA_RESTART);
		assert_int_equal(FN(int (*)(int, int), "siginterrupt")(sigs[j], 0), 0);
		sigaction(sigs[j], NULL, &a);
		assert_true(a.sa_flags & SA_RESTART);
	}
}

static void one_signal_masks(void **state)
{
	for (int j = 0; j < 3; j++) {
		sigset_t now;

		reset(NULL);
		signal(sigs[j], handler);
		assert_int_equal(FN(int (*)(int), "sighold")(sigs[j]), 0);
		raise(sigs[j]);
		assert_int_equal(caught[sigs[j]], 0);
		assert_int_equal(sigpending(&now), 0);
		assert_true(sigismember(&now, sigs[j]));
		assert_int_equal(FN(int (*)(int), "sigrelse")(sigs[j]), 0);
		assert_int_equal(caught[sigs[j]], 1);
		assert_int_equal(FN(int (*)(int), "sigignore")(sigs[j]), 0);
		raise(sigs[j]);
		assert_int_equal(caught[sigs[j]], 1);
	}
}

static void bsd_masks(void **state)
{
	int (*block)(int) = fn("sigblock"), (*set)(int) = fn("sigsetmask");

	for (int j = 0; j < 3; j++) {
		int bit = 1 << (sigs[j] - 1);

		reset(NULL);
		signal(sigs[j], handler);
		assert_int_equal(block(bit), 0);
		raise(sigs[j]);
		assert_int_equal(caught[sigs[j]], 0);
		assert_int_equal(set(0), bit);
		assert_int_equal(caught[sigs[j]], 1);
	}
}

static void mask_forms(void **state)
{
	static const char *const name[] = {"sigprocmask", "pthread_sigmask"};
	sigset_t all, none, now;

	sigfillset(&all);
	sigemptyset(&none);
	for (int i = 0; i < 2; i++) {
		int (*f)(int, const sigset_t *, sigset_t *) = fn(name[i]);

		assert_int_equal(f(SIG_SETMASK, &all, NULL), 0);
		assert_int_equal(f(SIG_BLOCK, NULL, &now), 0);
		assert_true(sigismember(&now, SIGSEGV) && sigismember(&now, SIGBUS) &&
			    sigismember(&now, SIGUSR1));
		assert_int_equal(f(SIG_SETMASK, &none, NULL), 0);
		assert_int_equal(f(SIG_BLOCK, NULL, &now), 0);
		assert_false(sigismember(&now, SIGSEGV) || sigismember(&now, SIGUSR1));
	}
}

/* A pending signal is delivered by the wait whose mask unblocks it. */
static void waiting_with_a_mask(void **state)
{
	struct pollfd *none = NULL;
	const struct timespec t = {.tv_sec = 2};
	int ep = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event e;
	sigset_t empty, usr1;
	int (*ppoll_chk)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *,
			 size_t) = fn("__ppoll_chk");

	sigemptyset(&empty);
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	signal(SIGUSR1, handler);
	pthread_sigmask(SIG_SETMASK, &usr1, NULL);
	for (int i = 0; i < 6; i++) {
		int r = 0;

		raise(SIGUSR1);
		assert_int_equal(caught[SIGUSR1], i);
		switch (i) {
		case 0:
			r = ppoll(none, 0, &t, &empty);
			break;
		case 1:
			r = ppoll_chk(none, 0, &t, &empty, 0);
			break;
		case 2:
			r = pselect(0, NULL, NULL, NULL, &t, &empty);
			break;
		case 3:
			r = epoll_pwait(ep, &e, 1, 2000, &empty);
			break;
		case 4:
			r = epoll_pwait2(ep, &e, 1, &t, &empty);
			break;
		case 5:
			r = sigsuspend(&empty);
			break;
		}
		assert_int_equal(r, -1);
		assert_int_equal(errno, EINTR);
		assert_int_equal(caught[SIGUSR1], i + 1);
	}
	close(ep);
}

static uint64_t kernels_mask;

/* Asks the kernel, past all wrappers. */
static void note_mask(int sig)
{
#if defined(__x86_64__)
	register uint64_t *old __asm__("rdx") = &kernels_mask;
	register long size __asm__("r10") = 8;
	long nr = SYS_rt_sigprocmask;

	__asm__ volatile("syscall"
			 : "+a"(nr)
			 : "D"(SIG_BLOCK), "S"(NULL), "r"(old), "r"(size)
			 : "rcx", "r11", "memory");
#endif
}

/* No wait leaves SIGSEGV blocked in the kernel: a handler that it lets in may ring a doorbell. */
static void raw_waits_with_a_mask(void **state)
{
	const struct timespec t = {.tv_sec = 20};
	uint64_t mask = UINT64_C(1) << (SIGSEGV - 1);
	struct {
		const uint64_t *mask;
		size_t size;
	} pair = {&mask, 8};
	int ep = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event e;
	sigset_t usr1;

	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	signal(SIGUSR1, note_mask);
	pthread_sigmask(SIG_SETMASK, &usr1, NULL);
	for (int i = 0; i < 5; i++) {
		struct timespec left = t;
		long r = 0;

		raise(SIGUSR1);
		kernels_mask = 0;
		switch (i) {
		case 0:
			r = syscall(SYS_ppoll, NULL, 0, &left, &mask, 8);
			break;
		case 1:
			r = syscall(SYS_pselect6, 0, NULL, NULL, NULL, &left, &pair);
			break;
		case 2:
			r = syscall(SYS_epoll_pwait, ep, &e, 1, 20000, &mask, 8);
			break;
		case 3:
			r = syscall(SYS_epoll_pwait2, ep, &e, 1, &left, &mask, 8);
			break;
		case 4:
			r = syscall(SYS_rt_sigsuspend, &mask, 8);
			break;
		}
		assert_int_equal(r, -1);
		assert_int_equal(errno, EINTR);
		if (getenv("SOFTHCA_DIR"))
			assert_int_equal(kernels_mask & mask, 0);
	}
	close(ep);
}

static void *leave(void *arg)
{
	sigset_t now;

	pthread_sigmask(SIG_BLOCK, NULL, &now);
	FN(void (*)(void *), "pthread_exit")((void *)(long)sigismember(&now, SIGUSR2));
	return NULL;
}

static void thread_masks(void **state)
{
	pthread_attr_t attr;
	sigset_t want, got;
	pthread_t t;
	void *blocked;

	sigemptyset(&want);
	sigaddset(&want, SIGSEGV);
	sigaddset(&want, SIGUSR2);
	pthread_attr_init(&attr);
	assert_int_equal(pthread_attr_setsigmask_np(&attr, &want), 0);
	assert_int_equal(pthread_attr_getsigmask_np(&attr, &got), 0);
	assert_true(sigismember(&got, SIGSEGV) && sigismember(&got, SIGUSR2) &&
		    !sigismember(&got, SIGUSR1));
	assert_int_equal(pthread_create(&t, &attr, leave, NULL), 0);
	pthread_join(t, &blocked);
	assert_int_equal((long)blocked, 1);
	pthread_attr_destroy(&attr);
}

/* Asynchronous cancellation installs a handler of libc: doorbells must know of it. */
static void cancel_types(void **state)
{
	int old = -1;

	assert_int_equal(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old), 0);
	assert_int_equal(old, PTHREAD_CANCEL_DEFERRED);
	assert_int_equal(pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &old), 0);
	assert_int_equal(old, PTHREAD_CANCEL_ASYNCHRONOUS);
	assert_int_equal(pthread_setcanceltype(-1, &old), EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(handler_setting, reset),
		cmocka_unit_test_setup(sigaction_forms, reset),
		cmocka_unit_test_setup(siginterrupt_changes_restart, reset),
		cmocka_unit_test_setup(one_signal_masks, reset),
		cmocka_unit_test_setup(bsd_masks, reset),
		cmocka_unit_test_setup(mask_forms, reset),
		cmocka_unit_test_setup(waiting_with_a_mask, reset),
		cmocka_unit_test_setup(raw_waits_with_a_mask, reset),
		cmocka_unit_test_setup(thread_masks, reset),
		cmocka_unit_test_setup(cancel_types, reset),
	};

	return cmocka_run_group_tests(tests, open_device, NULL);
}
