/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which memory may be adopted: a case for each rule of doc/internals/adoption.md. */
#include "segment/adopt.h"
#include "segment/adopt_priv.h"
#include "segment/mem.h"
#include "segment/test.h"
#include "util/sys.h"

#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>

#define SEG_TEST(f) cmocka_unit_test_setup_teardown(f, test_seg_setup, test_seg_teardown)
#define LEN (16 * ADOPT_PAGE)

static uint8_t *map(int prot, int flags, int fd)
{
	uint8_t *p =
		mmap(NULL, LEN + 2 * ADOPT_PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	/* between two pages without access, so that it merges with nothing */
	assert_ptr_not_equal(p, MAP_FAILED);
	p = mmap(p + ADOPT_PAGE, LEN, prot, flags | MAP_FIXED, fd, 0);
	assert_ptr_not_equal(p, MAP_FAILED);
	if (prot & PROT_WRITE)
		memset(p, 1, LEN);
	return p;
}

static uint8_t *plain_map(void)
{
	return map(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

static bool allowed(const uint8_t *p)
{
	return adopt_maps_allow(NULL, (uintptr_t)p, (uintptr_t)p + LEN) > 0;
}

static void private_memory_is_allowed(void **state)
{
	uint8_t *p = plain_map();

	assert_true(allowed(p));
	assert_int_equal(
		adopt_maps_allow(NULL, (uintptr_t)p + ADOPT_PAGE, (uintptr_t)p + 2 * ADOPT_PAGE),
		1);
	munmap(p + 4 * ADOPT_PAGE, ADOPT_PAGE);
	assert_false(allowed(p)); /* a hole */
	assert_int_equal(adopt_maps_allow(NULL, (uintptr_t)p, (uintptr_t)p + 4 * ADOPT_PAGE), 1);
}

static void the_heap_is_allowed(void **state)
{
	uint8_t *p = malloc(3 * ADOPT_PAGE); /* smaller than what malloc() maps separately */
	uintptr_t at = ((uintptr_t)p + ADOPT_PAGE - 1) & ~(ADOPT_PAGE - 1);

	memset(p, 1, 3 * ADOPT_PAGE);
	assert_int_equal(adopt_maps_allow(NULL, at, at + ADOPT_PAGE), 1);
	free(p);
}

static void other_kinds_of_mappings_are_refused(void **state)
{
	int fd = memfd_create("x", 0);

	assert_int_equal(ftruncate(fd, LEN), 0);
	assert_false(allowed(map(PROT_READ | PROT_WRITE, MAP_SHARED, fd)));
	assert_false(allowed(map(PROT_READ | PROT_WRITE, MAP_PRIVATE, fd)));
	assert_false(allowed(map(PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1)));
	assert_false(allowed(map(PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1)));
	assert_false(
		allowed(map(PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1)));
	close(fd);
}

static void ranges_with_a_property_are_refused(void **state)
{
	static const int advice[] = {MADV_DONTFORK, MADV_WIPEONFORK, MADV_DONTDUMP, MADV_MERGEABLE};
	uint8_t *p;

	for (size_t i = 0; i < sizeof(advice) / sizeof(advice[0]); i++) {
		p = plain_map();
		if (!madvise(p + ADOPT_PAGE, ADOPT_PAGE, advice[i]))
			assert_false(allowed(p));
		assert_int_equal(adopt_maps_allow(NULL, (uintptr_t)p, (uintptr_t)p + ADOPT_PAGE),
				 1);
	}
	p = plain_map();
	/* The address sanitizer replaces mlock() by nothing. */
	if (!sys_call(SYS_mlock, p, ADOPT_PAGE))
		assert_false(allowed(p));
}

static void stacks_are_refused(void **state)
{
	uint8_t here[4 * ADOPT_PAGE];
	uintptr_t at = ((uintptr_t)here + ADOPT_PAGE - 1) & ~(ADOPT_PAGE - 1);

	memset(here, 1, sizeof(here));
	assert_int_equal(adopt_maps_allow(NULL, at, at + ADOPT_PAGE), 0);
}

struct thread {
	uint8_t *buf;
	bool on_stack, above;
};

static void *look_from_thread(void *arg)
{
	uint8_t here[4 * ADOPT_PAGE];
	uintptr_t at = ((uintptr_t)here + ADOPT_PAGE - 1) & ~(ADOPT_PAGE - 1);
	struct thread *t = arg;

	memset(here, 1, sizeof(here));
	t->on_stack = adopt_maps_allow(NULL, at, at + ADOPT_PAGE) > 0;
	t->above = adopt_maps_allow(NULL, (uintptr_t)t->buf, (uintptr_t)t->buf + ADOPT_PAGE) > 0;
	return NULL;
}

static void stacks_of_threads_are_refused(void **state)
{
	const size_t stack = 256 << 10;
	uint8_t *p =
		mmap(NULL, stack + LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct thread t = {.buf = p + stack};
	pthread_attr_t a;
	pthread_t id;

	/* the stack and other memory share one mapping */
	assert_int_equal(pthread_attr_init(&a), 0);
	assert_int_equal(pthread_attr_setstack(&a, p, stack), 0);
	assert_int_equal(pthread_create(&id, &a, look_from_thread, &t), 0);
	assert_int_equal(pthread_join(id, NULL), 0);
	assert_false(t.on_stack);
	assert_true(t.above);
	assert_int_equal(pthread_create(&id, NULL, look_from_thread, &t), 0);
	assert_int_equal(pthread_join(id, NULL), 0);
	assert_false(t.on_stack);
}

static void asynchronous_input_prevents_it(void **state)
{
	uint8_t *p = plain_map();
	unsigned long ctx = 0;

	if (sys_call(SYS_io_setup, 8, &ctx))
		skip();
	assert_false(allowed(p));
	assert_int_equal(sys_call(SYS_io_destroy, ctx), 0);
	assert_true(allowed(p));
}

static void a_replaced_mapping_is_noticed(void **state)
{
	int fd = memfd_create("x", 0);
	uint8_t *p;

	assert_int_equal(ftruncate(fd, 2 * LEN), 0);
	p = map(PROT_READ | PROT_WRITE, MAP_SHARED, fd);
	assert_int_equal(adopt_maps_are((uintptr_t)p, (uintptr_t)p + LEN, fd, 0), 1);
	assert_int_equal(adopt_maps_are((uintptr_t)p, (uintptr_t)p + LEN, fd, ADOPT_PAGE), 0);
	assert_ptr_not_equal(mmap(p + ADOPT_PAGE, ADOPT_PAGE, PROT_READ,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
			     MAP_FAILED);
	assert_int_equal(adopt_maps_are((uintptr_t)p, (uintptr_t)p + LEN, fd, 0), 0);
	assert_int_equal(adopt_maps_are((uintptr_t)p, (uintptr_t)p + ADOPT_PAGE, fd, 0), 1);
	close(fd);
}

/* ---- what the process does besides */

static void devices_and_files_past_the_cache_prevent_it(void **state)
{
	static const char *const devices[] = {"/dev/net/tun", "/dev/fuse", "/dev/loop-control",
					      "/dev/userfaultfd", "/dev/rtc0"};
	int fd = -1, pipes[2];

	assert_int_equal(pipe2(pipes, O_DIRECT), 0); /* it has packets */
	fd = open("/dev/null", O_RDWR);
	assert_int_equal(adopt_look_pins(), ADOPT_PINS_NOT);
	close(fd);
	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
		fd = open(devices[i], O_RDWR | O_CLOEXEC);
		assert_int_equal(adopt_look_pins(), fd >= 0 ? ADOPT_PINS : ADOPT_PINS_NOT);
		close(fd);
	}
	fd = open(".", O_TMPFILE | O_RDWR | O_DIRECT, 0600);
	if (fd >= 0)
		assert_int_equal(adopt_look_pins(), ADOPT_PINS);
	close(fd);
	assert_int_equal(adopt_look_pins(), ADOPT_PINS_NOT);
	close(pipes[0]);
	close(pipes[1]);
}

/* ---- descriptors that change while they are looked at */

static struct {
	int fd, with; /* `with`: the file that the number gets, or -1 */
	int at;       /* at which descriptor's turn */
} change;

static void change_descriptor(const char *name)
{
	if (strcmp(name, "look-descriptor") != 0 || --change.at)
		return;
	if (change.with < 0)
		close(change.fd);
	else
		dup2(change.with, change.fd);
}

/* Whenever it is changed, nothing pins. */
static void changed(int (*make)(void), int with)
{
	point_hook = change_descriptor;
	for (int at = 1;; at++) {
		change.fd = make();
		change.with = with;
		change.at = at;
		assert_true(change.fd >= 0);
		assert_int_equal(adopt_look_pins(), ADOPT_PINS_NOT);
		close(change.fd);
		if (change.at > 0) /* all have been looked at */
			break;
	}
	point_hook = NULL;
}

static int a_file(void)
{
	return open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
}

static int a_socket(void)
{
	return socket(AF_UNIX, SOCK_DGRAM, 0);
}

static int an_eventfd(void)
{
	return eventfd(0, 0);
}

static void a_descriptor_that_is_closed_pins_nothing(void **state)
{
	changed(a_file, -1);
	changed(a_socket, -1);
	changed(an_eventfd, -1);
}

/* Those questions that come later would be answered about another file. */
static void a_descriptor_that_becomes_another_file_is_asked_again(void **state)
{
	int pipes[2];

	assert_int_equal(pipe2(pipes, O_DIRECT), 0); /* it has packets */
	changed(a_file, pipes[1]);                   /* the end with the flag */
	changed(a_socket, pipes[1]);
	close(pipes[0]);
	close(pipes[1]);
}

static void a_device_that_is_closed_pins_nothing(void **state)
{
	int fd = open("/dev/net/tun", O_RDWR);

	point_hook = change_descriptor;
	for (int at = 1; fd >= 0; at++) {
		enum adopt_pins found;

		change.fd = fd;
		change.with = -1;
		change.at = at;
		found = adopt_look_pins();
		assert_int_equal(found, change.at > 0 ? ADOPT_PINS : ADOPT_PINS_NOT);
		close(fd);
		fd = change.at > 0 ? -1 : open("/dev/net/tun", O_RDWR);
	}
	point_hook = NULL;
}

/* Its ioctls fail when the other end has gone. */
static void a_dead_terminal_pins_nothing(void **state)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY), slave;

	if (master < 0)
		skip();
	assert_int_equal(grantpt(master) || unlockpt(master), 0);
	slave = open(ptsname(master), O_RDWR | O_NOCTTY);
	assert_true(slave >= 0);
	assert_int_equal(adopt_look_pins(), ADOPT_PINS_NOT);
	close(master);
	assert_int_equal(adopt_look_pins(), ADOPT_PINS_NOT);
	close(slave);
}

/* Only its name is open. */
static void the_name_of_a_device_pins_nothing(void **state)
{
	int fd = open("/dev/net/tun", O_PATH);

	assert_int_equal(adopt_look_pins(), ADOPT_PINS_NOT);
	close(fd);
}

static int direct_file(void)
{
	return open(".", O_TMPFILE | O_RDWR | O_DIRECT, 0600);
}

static void the_descriptors_are_seen_when_none_is_free(void **state)
{
	struct rlimit was, none;
	int fd;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	none = was;
	none.rlim_cur = 3;
	adopt_look_forked();
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(adopt_look_pins(), ADOPT_PINS_UNKNOWN);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
	adopt_look_keep();
	fd = direct_file();
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(adopt_look_pins(), fd >= 0 ? ADOPT_PINS : ADOPT_PINS_NOT);
	close(fd);
	for (int i = 0; i < 3; i++)
		assert_int_equal(adopt_look_pins(), ADOPT_PINS_NOT);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
	adopt_look_forked();
}

/* ---- the first thread has ended: /proc/self has no descriptors and no mappings */

static void *look_after_the_first(void *arg)
{
	uint8_t *p = plain_map();
	struct stat st;
	int fd, file = memfd_create("x", 0);
	bool ok;

	while (!stat("/proc/self/fd/0", &st) || errno != ENOENT)
		sched_yield();
	ok = adopt_look_pins() == ADOPT_PINS_NOT && allowed(p);
	fd = direct_file();
	ok &= fd < 0 || adopt_look_pins() == ADOPT_PINS;
	ok &= !ftruncate(file, LEN);
	p = map(PROT_READ | PROT_WRITE, MAP_SHARED, file);
	ok &= adopt_maps_are((uintptr_t)p, (uintptr_t)p + LEN, file, 0) == 1;
	_exit(!ok);
}

static void the_first_thread_may_have_ended(void **state)
{
	pthread_t id;
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		dup2(open("/dev/null", O_RDWR), 0);
		if (!pthread_create(&id, NULL, look_after_the_first, NULL))
			sys_call(SYS_exit, 0);
		_exit(2);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void a_limited_address_space_prevents_it(void **state)
{
	struct rlimit r = {UINT64_C(1) << 40, RLIM_INFINITY};
	int status;
	pid_t pid;

	assert_false(adopt_look_limited());
	pid = fork();
	if (!pid)
		_exit(setrlimit(RLIMIT_AS, &r) || !adopt_look_limited());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

struct sleeper {
	uint8_t *mem;
	int op, fd[2]; /* op < 0: read() */
	pthread_t id;
};

static void *sleep_in_call(void *arg)
{
	struct sleeper *x = arg;
	uint32_t *word = (uint32_t *)x->mem;

	if (x->op < 0)
		return (void *)read(x->fd[0], x->mem, 1);
	while (!__atomic_load_n(word, __ATOMIC_SEQ_CST))
		sys_call(SYS_futex, word, x->op, 0, NULL);
	return NULL;
}

static bool sleeps(const uint8_t *p, enum adopt_sleep want)
{
	return adopt_look_asleep(NULL, (uintptr_t)p, (uintptr_t)p + LEN, NULL, NULL) == want;
}

static void begin_sleep(struct sleeper *x, int op)
{
	x->mem = plain_map();
	memset(x->mem, 0, LEN);
	x->op = op;
	assert_int_equal(pipe(x->fd), 0);
	assert_int_equal(pthread_create(&x->id, NULL, sleep_in_call, x), 0);
}

static void end_sleep(struct sleeper *x)
{
	__atomic_store_n((uint32_t *)x->mem, 1, __ATOMIC_SEQ_CST);
	sys_call(SYS_futex, x->mem, FUTEX_WAKE, 1);
	sys_call(SYS_futex, x->mem, FUTEX_WAKE_PRIVATE, 1);
	assert_int_equal(write(x->fd[1], "x", 1), 1);
	assert_int_equal(pthread_join(x->id, NULL), 0);
	close(x->fd[0]);
	close(x->fd[1]);
}

static void sleeping_threads_are_seen(void **state)
{
	struct sleeper call = {0}, shared = {0};

	begin_sleep(&call, -1);
	while (!sleeps(call.mem, ADOPT_SLEEP_CALL))
		sched_yield();
	assert_true(sleeps(call.mem + LEN, ADOPT_SLEEP_NONE));
	begin_sleep(&shared, FUTEX_WAIT);
	while (!sleeps(shared.mem, ADOPT_SLEEP_SHARED))
		sched_yield();
	end_sleep(&call);
	end_sleep(&shared);
}

/* ---- futexes in pages that move */

struct bed {
	struct seg *s;
	struct adopt_run run;
	uint32_t gen;
	_Atomic uint32_t valid;
	struct adopt_key key;
};

/* A thread may touch the pages while they move. */
static void on_fault(int sig, siginfo_t *si, void *uc)
{
	if (!adopt_fault((uintptr_t)si->si_addr) && !mem_guard_fixup(uc))
		signal(sig, SIG_DFL);
}

static void bed_make(struct bed *b, struct seg *s)
{
	struct sigaction sa = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};

	sigaction(SIGSEGV, &sa, NULL);
	*b = (struct bed){.s = s, .gen = 1};
	atomic_store(&b->valid, 1);
	b->key = (struct adopt_key){&b->run, &b->gen, &b->valid, 0, 1, 1};
	mem_guard_armed = true;
	adopt_init(s, true);
}

static bool every(void *arg, uint32_t mkey, uint32_t gen)
{
	return true;
}

static void memory_with_a_shared_futex_stays(void **state)
{
	struct sleeper x = {0};
	struct bed b;

	bed_make(&b, *state);
	begin_sleep(&x, FUTEX_WAIT);
	while (!sleeps(x.mem, ADOPT_SLEEP_SHARED))
		sched_yield();
	assert_int_equal(adopt_take(b.s, &b.key, (uintptr_t)x.mem, LEN), 0);
	assert_false(adopt_any());
	assert_true(atomic_load(&b.run.heat) & ADOPT_BARRED);
	end_sleep(&x);
}

/* The kernel finds waiters of a private futex by address, so a wake works after each move. */
static void a_private_futex_moves(void **state)
{
	struct sleeper x = {0};
	struct bed b;

	bed_make(&b, *state);
	begin_sleep(&x, FUTEX_WAIT_PRIVATE);
	assert_int_equal(adopt_take(b.s, &b.key, (uintptr_t)x.mem, LEN), 0);
	assert_true(adopt_any());
	assert_true(adopt_give_back(every, NULL, true));
	assert_false(adopt_any());
	end_sleep(&x);
}

/* The wait has begun in the pool: the thread is woken, and finds the word where it is now. */
static void a_shared_futex_is_woken_when_memory_returns(void **state)
{
	struct sleeper x = {0};
	struct bed b;

	bed_make(&b, *state);
	x.mem = plain_map();
	memset(x.mem, 0, LEN);
	assert_int_equal(adopt_take(b.s, &b.key, (uintptr_t)x.mem, LEN), 0);
	assert_true(adopt_any());
	x.op = FUTEX_WAIT;
	assert_int_equal(pipe(x.fd), 0);
	assert_int_equal(pthread_create(&x.id, NULL, sleep_in_call, &x), 0);
	while (!sleeps(x.mem, ADOPT_SLEEP_SHARED))
		sched_yield();
	assert_true(adopt_give_back(every, NULL, true));
	assert_false(adopt_any());
	end_sleep(&x); /* wakes the word of private memory */
}

/* ---- causes that pass */

static int take(struct bed *b, uint8_t *p)
{
	return adopt_take(b->s, &b->key, (uintptr_t)p, LEN);
}

/* The key is asked for again: it is not barred. */
static void is_put_off(struct bed *b, uint8_t *p)
{
	assert_int_equal(take(b, p), -EAGAIN);
	assert_false(adopt_any());
	assert_false(atomic_load(&b->run.heat) & ADOPT_BARRED);
}

static void is_taken_later(struct bed *b, uint8_t *p)
{
	int r;

	while ((r = take(b, p)) == -EAGAIN)
		sched_yield();
	assert_int_equal(r, 0);
	assert_true(adopt_any());
	assert_true(adopt_give_back(every, NULL, true));
	assert_false(adopt_any());
}

static void a_key_is_taken_later_if_no_descriptor_is_free(void **state)
{
	uint8_t *p = plain_map();
	struct rlimit was, none;
	struct bed b;

	bed_make(&b, *state);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	none = was;
	none.rlim_cur = 3;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	is_put_off(&b, p);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
	is_taken_later(&b, p);
}

static void a_key_is_taken_later_if_a_descriptor_pins_now(void **state)
{
	int fd = direct_file();
	uint8_t *p = plain_map();
	struct bed b;

	if (fd < 0)
		skip();
	bed_make(&b, *state);
	is_put_off(&b, p);
	close(fd);
	is_taken_later(&b, p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(private_memory_is_allowed),
		cmocka_unit_test(the_heap_is_allowed),
		cmocka_unit_test(other_kinds_of_mappings_are_refused),
		cmocka_unit_test(ranges_with_a_property_are_refused),
		cmocka_unit_test(stacks_are_refused),
		cmocka_unit_test(stacks_of_threads_are_refused),
		cmocka_unit_test(asynchronous_input_prevents_it),
		cmocka_unit_test(a_replaced_mapping_is_noticed),
		cmocka_unit_test(devices_and_files_past_the_cache_prevent_it),
		cmocka_unit_test(a_descriptor_that_is_closed_pins_nothing),
		cmocka_unit_test(a_descriptor_that_becomes_another_file_is_asked_again),
		cmocka_unit_test(a_device_that_is_closed_pins_nothing),
		cmocka_unit_test(a_dead_terminal_pins_nothing),
		cmocka_unit_test(the_name_of_a_device_pins_nothing),
		cmocka_unit_test(the_descriptors_are_seen_when_none_is_free),
		cmocka_unit_test(the_first_thread_may_have_ended),
		cmocka_unit_test(a_limited_address_space_prevents_it),
		cmocka_unit_test(sleeping_threads_are_seen),
		SEG_TEST(memory_with_a_shared_futex_stays),
		SEG_TEST(a_private_futex_moves),
		SEG_TEST(a_shared_futex_is_woken_when_memory_returns),
		SEG_TEST(a_key_is_taken_later_if_no_descriptor_is_free),
		SEG_TEST(a_key_is_taken_later_if_a_descriptor_pins_now),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
