/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Diagnostics. Two kinds, both off unless asked for, both one line per call, both usable inside a
 * trapped doorbell (no malloc, no stdio, one write(2)), both keep errno.
 *
 * SOFTHCA_TRACE=uverbs,fw,doorbell,cqe,event,mem,shim,link or `all`; SOFTHCA_TRACE_FILE=path
 * (default: standard error). A topic that is off costs one branch.
 */
#ifndef SOFTHCA_UTIL_LOG_H
#define SOFTHCA_UTIL_LOG_H

#include <stdbool.h>
#include <stdint.h>

enum log_topic {
	LOG_UVERBS = 1 << 0,   /* ioctl and write() calls, their attributes and result */
	LOG_FW = 1 << 1,       /* PRM commands: opcode, ids, status, syndrome */
	LOG_DOORBELL = 1 << 2, /* UAR stores */
	LOG_CQE = 1 << 3,      /* completions with error, parking and resuming */
	LOG_EVENT = 1 << 4,    /* async and completion events */
	LOG_MEM = 1 << 5,      /* refused copies between processes */
	LOG_SHIM = 1 << 6,     /* redirected paths, fds, signals */
	LOG_LINK = 1 << 7,     /* the supervisor's socket */
	LOG_ERROR = 1 << 30,   /* always on: our own failures that the program cannot be told */
};

extern uint32_t log_mask;

void log_init(void);   /* reads the environment; may be called again */
void log_finish(void); /* closes the file; only errors are said from here on, on standard error */
void log_line(enum log_topic topic, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define TRACE(topic, ...)                                    \
	do {                                                 \
		if (__builtin_expect(log_mask & (topic), 0)) \
			log_line((topic), __VA_ARGS__);      \
	} while (0)

#endif
