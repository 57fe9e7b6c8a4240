/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Diagnostics. There are two kinds; both are off by default, write one line per call, work inside a
 * trapped doorbell (no malloc, no stdio) and keep errno. This header has the topics, the
 * destination and free text. util/rec.h makes lines with fields.
 *
 * A topic that is off costs one branch.
 */
#ifndef SOFTHCA_UTIL_LOG_H
#define SOFTHCA_UTIL_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Environment variables of a traced program. */
#define LOG_ENV_TOPICS "SOFTHCA_TRACE"          /* uverbs,fw,... or all */
#define LOG_ENV_FILE "SOFTHCA_TRACE_FILE"       /* path; else standard error */
#define LOG_ENV_FORMAT "SOFTHCA_TRACE_FORMAT"   /* text or json */
#define LOG_ENV_FD "SOFTHCA_TRACE_FD"           /* FD:DEV:INO, inherited; tried before the path */
#define LOG_ENV_NAME "SOFTHCA_TRACE_NAME"       /* the user's name for it, for messages */
#define LOG_ENV_OPTIONS "SOFTHCA_TRACE_OPTIONS" /* words of enum log_option, and cmd=... */

/* Options of the traced topics, as words separated by spaces. */
enum log_option {
	LOG_FAILED = 1 << 0,  /* "failed": only failures */
	LOG_GOOD = 1 << 1,    /* "good": no failures */
	LOG_COUNTED = 1 << 2, /* "counted": data for the counts of `trace -c` follow each line */
	LOG_BARE = 1 << 3,    /* "bare": only that data is written, no text */
	LOG_OBJECTS = 1 << 4, /* "objects": handles and numbers of objects get a name */
};
/*
 * "cmd=NAME,..." lets only these commands pass, "cmd=!NAME,..." all others. It applies to the
 * topics whose lines have names of commands.
 */
#define LOG_NAMED (LOG_UVERBS | LOG_FW | LOG_CM)
#define LOG_NAMES_MAX 1024 /* bytes of that word */
#define LOG_OPTIONS_MAX (LOG_NAMES_MAX + 64)

/*
 * Precedes the data for `trace -c`, and separates its parts: topic, name, second name, 1 for a
 * failure, nanoseconds ("" if the event has no duration).
 */
#define LOG_SEPARATOR "\x1f"

enum log_topic {
	LOG_UVERBS = 1 << 0,   /* ioctl and write() calls, their attributes and result */
	LOG_FW = 1 << 1,       /* PRM commands: opcode, ids, status, syndrome */
	LOG_DOORBELL = 1 << 2, /* UAR stores */
	LOG_CQE = 1 << 3,      /* completions with error, parking and resuming */
	LOG_EVENT = 1 << 4,    /* async and completion events */
	LOG_MEM = 1 << 5,      /* refused copies between processes; page faults */
	LOG_SHIM = 1 << 6,     /* redirected paths, fds, signals */
	LOG_LINK = 1 << 7,     /* states of ports; the supervisor's socket */
	LOG_MAD = 1 << 8,      /* MADs, decoded */
	LOG_CM = 1 << 9,       /* commands and events of rdma_cm */
	LOG_INJECT = 1 << 10,  /* rules of --inject that fire */
	LOG_CHECK = 1 << 11,   /* rules that a program breaks; not in "all" */
	/* always on: our own failures that cannot be reported to the program */
	LOG_ERROR = 1 << 30,
};

extern uint32_t log_mask;
extern bool log_json;        /* trace lines are JSON objects */
extern uint32_t log_options; /* enum log_option */

void log_init(void); /* reads the environment; may be called again */
/* closes the file; from here on only errors are written, to standard error */
void log_finish(void);
/*
 * Starts a trace of the whole fabric in this process, into a FIFO; `options` has the word "json",
 * too. A process that writes a trace of its own is left alone. 0 or -errno.
 */
int log_live(const char *topics, const char *options, const char *fifo);
void log_live_end(void);
/* Do the options let this line pass? `what` and `detail` are names, or NULL. */
bool log_wants(uint32_t topic, const char *what, const char *detail, bool failed);
void log_line(enum log_topic topic, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A line of free text about the command `what`. */
void log_command(enum log_topic topic, const char *what, bool failed, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Writes one whole line, with its newline, undivided. */
void log_write(const char *line, size_t n);
const char *log_topic_name(uint32_t topic);
const char *log_errno_name(int err); /* ENOENT */
/* The bits of a topic's name, 0: no such topic. */
uint32_t log_topic_bits(const char *name, size_t len);

#define TRACE_ON(topic) __builtin_expect(log_mask &(topic), 0)
#define TRACE(topic, ...)                               \
	do {                                            \
		if (TRACE_ON(topic))                    \
			log_line((topic), __VA_ARGS__); \
	} while (0)

#endif
