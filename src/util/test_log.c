/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Traces: topics that are on, the destination of lines, and what a call must not change. */
#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/log.h"
#include "util/test_cmocka.h"
#include "util/test_time.h"

static void topics_come_from_the_environment(void **state)
{
	unsetenv("SOFTHCA_TRACE");
	log_init();
	assert_int_equal(log_mask, LOG_ERROR);
	setenv("SOFTHCA_TRACE", "fw,mem,,nonsense,fwx", 1);
	log_init();
	assert_int_equal(log_mask, LOG_ERROR | LOG_FW | LOG_MEM);
	setenv("SOFTHCA_TRACE", "all", 1);
	log_init();
	assert_int_equal(log_mask, ~(uint32_t)LOG_CHECK);
	unsetenv("SOFTHCA_TRACE");
	log_init();
	assert_int_equal(log_mask, LOG_ERROR);
}

static unsigned int calls;

static int count(void)
{
	return (int)++calls;
}

static void a_line_is_one_write_and_keeps_errno(void **state)
{
	char path[] = "/tmp/softhca-test-log-XXXXXX", text[4096] = "", longer[3000];
	int fd = mkstemp(path);
	ssize_t n;

	assert_true(fd >= 0);
	setenv("SOFTHCA_TRACE", "fw", 1);
	setenv("SOFTHCA_TRACE_FILE", path, 1);
	log_init();
	errno = EXDEV;
	TRACE(LOG_FW, "opcode %#x", 0x100);
	TRACE(LOG_MEM, "never evaluated: %d", count());
	assert_int_equal(errno, EXDEV);
	assert_int_equal(calls, 0);
	n = read(fd, text, sizeof(text) - 1);
	assert_true(n > 0 && text[n - 1] == '\n');
	assert_non_null(strstr(text, " fw: opcode 0x100\n"));
	/* a line that is too long is cut and still ends with a newline */
	memset(longer, 'x', sizeof(longer));
	longer[sizeof(longer) - 1] = 0;
	TRACE(LOG_FW, "%s", longer);
	n = read(fd, text, sizeof(text) - 1);
	assert_uint_in_range(n, 900, 1024);
	assert_ptr_equal(memchr(text, '\n', (size_t)n), text + n - 1);
	log_finish();
	close(fd);
	unlink(path);
	unsetenv("SOFTHCA_TRACE");
	unsetenv("SOFTHCA_TRACE_FILE");
}

/* Reads everything that is in the FIFO; `size` is large enough. */
static size_t drain(int fd, char *to, size_t size)
{
	size_t got = 0;
	ssize_t n;

	while ((n = read(fd, to + got, size - 1 - got)) > 0)
		got += (size_t)n;
	to[got] = '\0';
	return got;
}

/* The first line waits a second for the reader, later lines do not wait, and the reader is told. */
static void a_stopped_reader_costs_one_wait(void **state)
{
	static char text[1 << 20], dir[] = "/tmp/softhca-test-log-XXXXXX", path[64];
	uint64_t from, own;
	int fd;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/fifo", dir);
	assert_int_equal(mkfifo(path, 0600), 0);
	fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	assert_true(fd >= 0);
	while (write(fd, text, 4096) == 4096)
		;
	log_finish();
	assert_int_equal(log_live("fw", "", path), 0);
	from = clock_now_ns();
	own = test_own_ns();
	for (int i = 0; i < 20; i++)
		TRACE(LOG_FW, "line %d", i);
	assert_true(clock_now_ns() - from >= 900000000);
	assert_true(test_own_ns() - own < 5000000000);
	drain(fd, text, sizeof(text));
	TRACE(LOG_FW, "the next one");
	TRACE(LOG_FW, "and another");
	drain(fd, text, sizeof(text));
	assert_non_null(strstr(text, "error: 20 lines are missing: the trace was not read\n"));
	assert_non_null(strstr(text, "fw: the next one\n"));
	assert_non_null(strstr(text, "fw: and another\n"));
	log_live_end();
	close(fd);
	unlink(path);
	rmdir(dir);
}

/* The reader reads nothing, and a filter does not let the writer wait for it. */
static void trace_by_a_filter_that_refuses_poll(void)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_poll, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog p = {sizeof(f) / sizeof(f[0]), f};

	alarm(60);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p))
		_exit(1);
	TRACE(LOG_FW, "a line that finds no room");
	_exit(0);
}

static void a_refused_wait_ends(void **state)
{
	static char dir[] = "/tmp/softhca-test-log-XXXXXX", path[64], text[4096];
	int fd, status;
	pid_t pid;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/fifo", dir);
	assert_int_equal(mkfifo(path, 0600), 0);
	fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	assert_true(fd >= 0);
	while (write(fd, text, sizeof(text)) == sizeof(text))
		;
	log_finish();
	assert_int_equal(log_live("fw", "", path), 0);
	pid = fork();
	if (!pid)
		trace_by_a_filter_that_refuses_poll();
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	log_live_end();
	close(fd);
	unlink(path);
	rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(topics_come_from_the_environment),
		cmocka_unit_test(a_line_is_one_write_and_keeps_errno),
		cmocka_unit_test(a_stopped_reader_costs_one_wait),
		cmocka_unit_test(a_refused_wait_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
