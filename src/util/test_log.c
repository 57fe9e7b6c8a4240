/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Traces: topics that are on, the destination of lines, and what a call must not change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/log.h"

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
	assert_int_equal(log_mask, UINT32_MAX);
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
	/* too long: cut, still one line */
	memset(longer, 'x', sizeof(longer));
	longer[sizeof(longer) - 1] = 0;
	TRACE(LOG_FW, "%s", longer);
	n = read(fd, text, sizeof(text) - 1);
	assert_in_range(n, 900, 1024);
	assert_ptr_equal(memchr(text, '\n', (size_t)n), text + n - 1);
	log_finish();
	close(fd);
	unlink(path);
	unsetenv("SOFTHCA_TRACE");
	unsetenv("SOFTHCA_TRACE_FILE");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(topics_come_from_the_environment),
		cmocka_unit_test(a_line_is_one_write_and_keeps_errno),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
