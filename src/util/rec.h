/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One trace line, built piece by piece and written at once, as text
 *
 * 	softhca[PID/TID] SECONDS topic: CREATE_CQ(uid=1) -> cqn=3 = OK <0.000012>
 *
 * or as one JSON object. Usable inside a trapped doorbell: no malloc, no stdio; a line that does
 * not fit the buffer in struct rec continues in a raw mmap(). In text a line ends at REC_TEXT_MAX
 * with "..."; in JSON it is complete.
 *
 * Members that are added after memory ran out are omitted, and the line says so ("cut"); it stays
 * valid.
 */
#ifndef SOFTHCA_UTIL_REC_H
#define SOFTHCA_UTIL_REC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "util/log.h"

#define REC_SMALL 1024
#define REC_TEXT_MAX 4000       /* below PIPE_BUF: a whole line is one atomic write */
#define REC_JSON_MAX (1u << 20) /* bytes */
#define REC_BYTES_TEXT 64       /* limit of one value, in text */

struct rec {
	char *buf;
	size_t n, cap;
	bool json, mapped;
	bool cut;                /* no memory: further members are omitted */
	bool was_cut;            /* a member is missing */
	uint32_t depth;          /* open groups */
	uint32_t skipped;        /* open groups that are omitted with their members */
	size_t limit;            /* text: bytes up to here */
	uint32_t filled;         /* a bit per depth: the group has a member already */
	uint64_t since;          /* ns; 0: no duration */
	uint32_t topic, options; /* enum log_topic, log_option */
	const char *what;        /* the name, or NULL; valid until rec_end() */
	const char *detail;      /* rec_about() */
	bool failed;             /* the event is a failure */
	size_t tail;             /* bytes that are reserved for the end of the line */
	char small[REC_SMALL];
};

/* `since`: when the event began (clock_now_ns()), 0 if it has no duration. */
void rec_begin(struct rec *r, enum log_topic topic, const char *what, uint64_t since);
/* Sets a second name of the event, by which traces select and count it. Valid until rec_end(). */
void rec_about(struct rec *r, const char *name);
/* Finish the line and write it, if the options of the trace want it. */
void rec_end(struct rec *r);

/*
 * Groups. In text `open` and `close` enclose the members: "(" and ")". A NULL name makes an element
 * of a list.
 */
void rec_group(struct rec *r, const char *name, const char *open);
void rec_group_end(struct rec *r, const char *close);
void rec_list(struct rec *r, const char *name);
void rec_list_end(struct rec *r);

/* Members. Text: name=value. */
void rec_u(struct rec *r, const char *name, uint64_t v); /* decimal */
void rec_d(struct rec *r, const char *name, int64_t v);
void rec_x(struct rec *r, const char *name, uint64_t v); /* text: hexadecimal from 10 on */
void rec_s(struct rec *r, const char *name, const char *s);
void rec_bytes(struct rec *r, const char *name, const void *p, size_t len);
/* A number that has a name: text name(0x3), JSON "field":3,"field_name":"NAME". */
void rec_code(struct rec *r, const char *name, uint64_t v, const char *value_name);
/* Describes the object whose handle was written last: text <...>, JSON "NAME_object":"...". */
void rec_object(struct rec *r, const char *name, const char *object);
/* "field":"value" in JSON; in text `before` and the value, e.g. " = " "OK". */
void rec_say(struct rec *r, const char *name, const char *before, const char *value);

#endif
