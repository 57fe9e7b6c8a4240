/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns which reports this process has made. Called by the layers of the device while the topic is
 * on; it uses neither malloc nor stdio, and reads /proc/thread-self/maps, as only a report needs it.
 */
#include "check/check.h"
#include "util/fmt.h"
#include "util/num.h"
#include "util/rec.h"
#include "util/sys.h"
#include "util/tls.h"

#include <execinfo.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#define SAID 1024u /* a power of 2; a program that breaks more rules has enough to do */

static _Atomic uint64_t said[SAID];

/* Of this thread: where the work request in hand was posted. */
static TLS_IE struct check_stack posted;

#pragma weak backtrace

void check_prepare(void)
{
	void *at[1];

	if (backtrace)
		backtrace(at, 1);
}

void check_stack_take(struct check_stack *t)
{
	void *at[CHECK_FRAMES + 1];
	int n = backtrace ? backtrace(at, CHECK_FRAMES + 1) : 0;

	t->n = 0;
	for (int i = 1; i < n; i++) /* not this function */
		t->at[t->n++] = (uint64_t)(uintptr_t)at[i];
}

void check_posted(const struct check_stack *t)
{
	if (t)
		posted = *t;
	else
		posted.n = 0;
}

/* Is this the first report of its kind? */
static bool is_new(enum check_rule_id rule, const struct check_about *a)
{
	uint64_t key = (rule + 1) * UINT64_C(0x9e3779b97f4a7c15);

	key = (key ^ a->number) * UINT64_C(0xff51afd7ed558ccd);
	key = (key ^ key >> 32 ^ a->key) * UINT64_C(0xc4ceb9fe1a85ec53) | 1;
	for (uint32_t i = 0; i < SAID; i++) {
		uint64_t none = 0;
		_Atomic uint64_t *p = &said[(key + i) & (SAID - 1)];

		if (atomic_compare_exchange_strong(p, &none, key))
			return true;
		if (none == key)
			return false;
	}
	return false;
}

/* ---- where an address is: a file, and the offset in it */

struct maps {
	char text[512];
	size_t n; /* bytes of the part of a line, or of lines, in `text` */
	int fd;
};

/* The next line; NULL: there is none. */
static const char *maps_line(struct maps *m)
{
	for (;;) {
		char *end = memchr(m->text, '\n', m->n);
		ssize_t got;

		if (end)
			return m->text;
		if (m->n == sizeof(m->text))
			m->n = 0; /* a path too long to be shown */
		got = sys_read(m->fd, m->text + m->n, sizeof(m->text) - m->n);
		if (got <= 0)
			return NULL;
		m->n += (size_t)got;
	}
}

static void maps_skip(struct maps *m)
{
	size_t n = (size_t)((char *)memchr(m->text, '\n', m->n) + 1 - m->text);

	m->n -= n;
	memmove(m->text, m->text + n, m->n);
}

#define WHERE 300
struct frames {
	char where[CHECK_FRAMES][WHERE];
};

/* "FILE+0xOFFSET", for the addresses that this line's mapping has. */
static void find_frames(const char *line, const struct check_stack *t, struct frames *f)
{
	const char *p = line, *path;
	uint64_t low = num_in_base(p, 16, &p), high = num_in_base(p + 1, 16, &p), off;

	off = num_in_base(p + 6, 16, &p); /* behind a blank, four rights, a blank */
	path = memchr(p, '/', (size_t)((const char *)strchr(p, '\n') - p));
	for (uint32_t i = 0; path && i < t->n; i++)
		if (t->at[i] >= low && t->at[i] < high)
			fmt(f->where[i], WHERE, "%.*s+0x%llx", (int)strcspn(path, "\n"), path,
			    (unsigned long long)(t->at[i] - low + off));
}

static void put_stack(struct rec *r, const char *name, const struct check_stack *t)
{
	/* too large for a stack of signals */
	struct frames *f;
	struct maps m = {.fd = -1};
	const char *line;

	if (!t || !t->n)
		return;
	f = sys_mmap(NULL, sizeof(*f), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (sys_is_err(f))
		return;
	m.fd = sys_openat(AT_FDCWD, "/proc/thread-self/maps", O_RDONLY | O_CLOEXEC, 0);
	while (m.fd >= 0 && (line = maps_line(&m))) {
		find_frames(line, t, f);
		maps_skip(&m);
	}
	if (m.fd >= 0)
		sys_close(m.fd);
	rec_list(r, name);
	for (uint32_t i = 0; i < t->n; i++)
		rec_s(r, NULL, f->where[i]);
	rec_list_end(r);
	sys_munmap(f, sizeof(*f));
}

void check_say(enum check_rule_id rule, const struct check_about *a, const char *f, ...)
{
	const struct check_rule *row = check_rule_at(rule);
	struct check_stack here;
	char text[700];
	struct rec r;
	va_list ap;

	if (!is_new(rule, a))
		return;
	va_start(ap, f);
	fmt_v(text, sizeof(text), f, ap);
	va_end(ap);
	rec_begin(&r, LOG_CHECK, row->name, 0);
	r.failed = true;
	rec_say(&r, "text", ": ", text);
	if (a->kind) {
		rec_s(&r, "object", a->kind);
		rec_x(&r, "number", a->number);
	}
	if (r.json && posted.n) {
		put_stack(&r, "posted", &posted);
	} else if (r.json && !a->elsewhere) {
		check_stack_take(&here);
		put_stack(&r, "here", &here);
	}
	if (r.json)
		put_stack(&r, "made", a->made);
	rec_end(&r);
}
