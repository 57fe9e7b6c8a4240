/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns the trace mask and its descriptor. Called from everywhere, also inside a signal handler. */
#include "util/log.h"
#include "util/clock.h"
#include "util/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t log_mask = LOG_ERROR;
static int log_fd = 2;

static const struct {
	const char *name;
	uint32_t bit;
} topics[] = {
	{"uverbs", LOG_UVERBS}, {"fw", LOG_FW},       {"doorbell", LOG_DOORBELL},
	{"cqe", LOG_CQE},       {"event", LOG_EVENT}, {"mem", LOG_MEM},
	{"shim", LOG_SHIM},     {"link", LOG_LINK},   {"all", ~(uint32_t)0},
};

static const char *topic_name(uint32_t topic)
{
	if (topic == (uint32_t)LOG_ERROR)
		return "error";
	for (size_t i = 0; i < sizeof(topics) / sizeof(topics[0]); i++)
		if (topics[i].bit == topic)
			return topics[i].name;
	return "?";
}

void log_init(void)
{
	const char *s = getenv("SOFTHCA_TRACE");
	const char *file = getenv("SOFTHCA_TRACE_FILE");

	log_mask = LOG_ERROR;
	while (s && *s) {
		size_t n = strcspn(s, ",");

		for (size_t i = 0; i < sizeof(topics) / sizeof(topics[0]); i++)
			if (strlen(topics[i].name) == n && !strncmp(topics[i].name, s, n))
				log_mask |= topics[i].bit;
		s += n + (s[n] == ',');
	}
	if (file && log_mask != (uint32_t)LOG_ERROR && log_fd == 2) {
		/* Raw: our own open() wrapper is above us. Moved high, out of the program's way. */
		int fd =
			sys_openat(AT_FDCWD, file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

		if (fd >= 0)
			log_fd = sys_fd_high(fd);
	}
}

void log_finish(void)
{
	if (log_fd != 2)
		syscall(SYS_close, log_fd);
	log_fd = 2;
	log_mask = LOG_ERROR;
}

void log_line(enum log_topic topic, const char *fmt, ...)
{
	int saved = errno;
	uint64_t now = clock_now_ns();
	char buf[1024];
	size_t n;
	va_list ap;
	int r;

	r = snprintf(buf, sizeof(buf),
		     "softhca[%ld] %llu.%06llu %s: ", sys_raw(SYS_gettid, 0, 0, 0, 0, 0, 0),
		     (unsigned long long)(now / NSEC_PER_SEC),
		     (unsigned long long)(now % NSEC_PER_SEC / 1000), topic_name((uint32_t)topic));
	n = r > 0 ? (size_t)r : 0;
	va_start(ap, fmt);
	r = vsnprintf(buf + n, sizeof(buf) - n - 1, fmt, ap);
	va_end(ap);
	n += r > 0 ? (size_t)r : 0;
	if (n > sizeof(buf) - 2)
		n = sizeof(buf) - 2;
	buf[n++] = '\n';
	sys_write(log_fd, buf, n);
	errno = saved;
}
