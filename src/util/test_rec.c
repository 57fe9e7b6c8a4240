/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Trace lines: the small printf, text and JSON, truncation, and a descriptor that fails. */
#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/fmt.h"
#include "util/rec.h"
#include "util/test_cmocka.h"

#define SAME(...)                                                   \
	do {                                                        \
		char ours_[256], libc_[256];                        \
		size_t n_ = fmt(ours_, sizeof(ours_), __VA_ARGS__); \
		snprintf(libc_, sizeof(libc_), __VA_ARGS__);        \
		assert_string_equal(ours_, libc_);                  \
		assert_int_equal(n_, strlen(libc_));                \
	} while (0)

static void formats_as_printf_does(void **state)
{
	SAME("plain %% %s|%10s|%-10s|%.3s|%.*s", "a", "b", "c", "defgh", 2, "xyz");
	SAME("%d %d %i %5d|%-5d|%05d", 0, -1, INT32_MIN, 42, 42, -42);
	SAME("%u %lu %llu %zu %ju", 1u, ~0ul, ~0ull, (size_t)7, (uintmax_t)8);
	SAME("%x %X %#x %#x %08x %#010x %016llx", 0xabcu, 0xabcu, 0xabcu, 0u, 0xabcu, 0xabcu,
	     0x123456789abull);
	SAME("%lld %ld %hhu %c", -5ll, -6l, (unsigned char)7, 'q');
	SAME("%p", (void *)0x1234);
}

static void text_that_does_not_fit_is_cut(void **state)
{
	char buf[8];

	assert_int_equal(fmt(buf, sizeof(buf), "%s", "0123456789"), 7);
	assert_string_equal(buf, "0123456");
}

/* ---- lines, through a file */

static char path[] = "/tmp/softhca-test-rec-XXXXXX";
static int file;

static int open_trace(bool json)
{
	log_finish();
	setenv(LOG_ENV_TOPICS, "fw", 1);
	setenv(LOG_ENV_FILE, path, 1);
	setenv(LOG_ENV_FORMAT, json ? "json" : "text", 1);
	log_init();
	return ftruncate(file, 0);
}

static char *line(void)
{
	static char text[REC_JSON_MAX];
	ssize_t n = pread(file, text, sizeof(text) - 1, 0);

	assert_true(n > 0);
	text[n] = 0;
	assert_ptr_equal(strchr(text, '\n'), text + n - 1);
	text[n - 1] = 0;
	return text;
}

static void one_record(size_t big, uint32_t many)
{
	uint8_t *bytes = calloc(1, big + 1);
	struct rec r;

	rec_begin(&r, LOG_FW, "CREATE", 1);
	rec_group(&r, "in", "(");
	rec_x(&r, "uid", 1);
	rec_group(&r, "ctx", "{");
	for (uint32_t i = 0; i < many; i++)
		rec_x(&r, "key", 0x1000 + i);
	rec_s(&r, "name", "a\"b\\c\n\xff\xc3\xa9");
	rec_group_end(&r, "}");
	rec_bytes(&r, "bytes", bytes, big);
	rec_list(&r, "list");
	rec_u(&r, NULL, 11);
	rec_d(&r, NULL, -1);
	rec_list_end(&r);
	rec_group_end(&r, ")");
	rec_group(&r, "out", " -> ");
	rec_code(&r, "state", 3, "RTS");
	rec_group_end(&r, "");
	rec_say(&r, "result", " = ", "OK");
	rec_end(&r);
	free(bytes);
}

static void a_text_record(void **state)
{
	char *l, *what;

	assert_int_equal(open_trace(false), 0);
	one_record(2, 1);
	l = line();
	what = strstr(l, " fw: ");
	assert_non_null(what);
	*strrchr(l, '<') = 0;
	assert_string_equal(what, " fw: CREATE(uid=1, ctx={key=0x1000, name=a\"b\\c?\xff\xc3\xa9}, "
				  "bytes=0000, list=[11, -1]) -> state=RTS(0x3) = OK ");
}

static struct json_object *get(struct json_object *o, const char *name)
{
	struct json_object *m = NULL;

	assert_true(json_object_object_get_ex(o, name, &m));
	return m;
}

static void a_json_record(void **state)
{
	struct json_object *o, *in;

	assert_int_equal(open_trace(true), 0);
	one_record(5000, 1);
	o = json_tokener_parse(line());
	assert_non_null(o);
	assert_string_equal(json_object_get_string(get(o, "topic")), "fw");
	assert_string_equal(json_object_get_string(get(o, "what")), "CREATE");
	assert_int_equal(json_object_get_int(get(o, "pid")), getpid());
	in = get(o, "in");
	assert_int_equal(json_object_get_int(get(get(in, "ctx"), "key")), 0x1000);
	assert_string_equal(json_object_get_string(get(get(in, "ctx"), "name")),
			    "a\"b\\c\n\xc3\xbf\xc3\xa9");
	assert_int_equal(json_object_get_string_len(get(in, "bytes")), 10000);
	assert_int_equal(json_object_array_length(get(in, "list")), 2);
	assert_string_equal(json_object_get_string(get(get(o, "out"), "state_name")), "RTS");
	assert_string_equal(json_object_get_string(get(o, "result")), "OK");
	assert_false(json_object_object_get_ex(o, "cut", NULL));
	json_object_put(o);
}

/* A line always fits an atomic write to a pipe, and still ends with the result. */
static void long_text_is_cut_in_its_group(void **state)
{
	char *l;

	assert_int_equal(open_trace(false), 0);
	one_record(10, 2000);
	l = line();
	assert_uint_in_range(strlen(l), 2000, REC_TEXT_MAX);
	assert_non_null(strstr(l, "...) -> state=RTS(0x3) = OK <"));
}

/* A JSON object longer than REC_JSON_MAX omits members, says so, and is valid. */
static void too_long_json_is_cut_and_valid(void **state)
{
	struct json_object *o;

	assert_int_equal(open_trace(true), 0);
	one_record(REC_JSON_MAX, 10);
	o = json_tokener_parse(line());
	assert_non_null(o);
	assert_true(json_object_get_boolean(get(o, "cut")));
	assert_false(json_object_object_get_ex(get(o, "in"), "bytes", NULL));
	assert_string_equal(json_object_get_string(get(o, "result")), "OK");
	json_object_put(o);
}

static void free_text_is_json_too(void **state)
{
	struct json_object *o;

	assert_int_equal(open_trace(true), 0);
	TRACE(LOG_FW, "say \"%s\"", "so");
	o = json_tokener_parse(line());
	assert_non_null(o);
	assert_string_equal(json_object_get_string(get(o, "text")), "say \"so\"");
	json_object_put(o);
}

/* ---- failures of the descriptor */

static void in_child(void (*fn)(void))
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		fn();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void full(void)
{
	int fds[2];
	char text[512] = "";

	if (pipe(fds) || dup2(fds[1], 2) != 2)
		_exit(1);
	log_finish();
	setenv(LOG_ENV_FILE, "/dev/full", 1);
	log_init();
	errno = EXDEV;
	TRACE(LOG_FW, "one");
	TRACE(LOG_FW, "two");
	if (errno != EXDEV)
		_exit(2);
	close(fds[1]);
	close(2);
	if (read(fds[0], text, sizeof(text) - 1) <= 0 || read(fds[0], text + 256, 1) != 0)
		_exit(3);
	if (strcmp(text, "softhca: trace: cannot write to /dev/full: No space left on device: "
			 "lines are missing\n"))
		_exit(4);
}

static void a_full_disk_is_said_once(void **state)
{
	in_child(full);
}

/* SIGPIPE would end the program. */
static void gone(void)
{
	int fds[2];
	sigset_t pending;

	if (pipe(fds) || dup2(fds[1], 2) != 2)
		_exit(1);
	close(fds[1]);
	log_finish();
	unsetenv(LOG_ENV_FILE);
	log_init();
	close(fds[0]);
	TRACE(LOG_FW, "to nobody");
	sigpending(&pending);
	if (sigismember(&pending, SIGPIPE))
		_exit(2);
}

static void a_reader_that_is_gone_does_not_end_the_program(void **state)
{
	in_child(gone);
}

static void closed(void)
{
	int fds[2];
	char text[512] = "";

	if (pipe(fds) || dup2(fds[1], 2) != 2)
		_exit(1);
	close(fds[1]);
	log_finish();
	unsetenv(LOG_ENV_FILE);
	log_init();
	close(2);
	TRACE(LOG_FW, "still here");
	if (read(fds[0], text, sizeof(text) - 1) <= 0 || !strstr(text, "still here"))
		_exit(2);
}

static void a_closed_standard_error_does_not_matter(void **state)
{
	in_child(closed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formats_as_printf_does),
		cmocka_unit_test(text_that_does_not_fit_is_cut),
		cmocka_unit_test(a_text_record),
		cmocka_unit_test(a_json_record),
		cmocka_unit_test(long_text_is_cut_in_its_group),
		cmocka_unit_test(too_long_json_is_cut_and_valid),
		cmocka_unit_test(free_text_is_json_too),
		cmocka_unit_test(a_full_disk_is_said_once),
		cmocka_unit_test(a_reader_that_is_gone_does_not_end_the_program),
		cmocka_unit_test(a_closed_standard_error_does_not_matter),
	};
	int r;

	file = mkstemp(path);
	r = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return r;
}
