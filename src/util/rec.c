/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the form of a trace line, text and JSON. All layers that trace call it, on any stack that
 * has room for a struct rec, also inside a signal handler.
 */
#include "util/rec.h"

#include <string.h>
#include <sys/mman.h>
#include "util/clock.h"
#include "util/fmt.h"
#include "util/for_tests.h"
#include "util/sys.h"
#include "util/utf8.h"

#define TAIL 128         /* reserved for the end of a trace line */
#define TAIL_COUNTED 352 /* the same with the data for `trace -c` */
#define PART_FIRST 2600  /* bytes of REC_TEXT_MAX that the first group may use */
#define PART_MORE 700    /* bytes more for each further group */

static bool grow(struct rec *r, size_t need)
{
	size_t cap = r->cap;
	void *p;

	while (cap < need + r->tail)
		cap *= 2;
	if (cap < 16384)
		cap = 16384;
	if (cap > REC_JSON_MAX)
		return false;
	p = sys_mmap(NULL, cap, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (sys_is_err(p))
		return false;
	memcpy(p, r->buf, r->n);
	if (r->mapped)
		sys_munmap(r->buf, r->cap);
	r->buf = p;
	r->cap = cap;
	r->mapped = true;
	return true;
}

static void put(struct rec *r, const char *s, size_t n)
{
	if (r->cut)
		return;
	if ((!r->json && r->n + n + r->tail > r->limit) ||
	    (r->n + n + r->tail > r->cap && !grow(r, r->n + n))) {
		r->cut = true;
		return;
	}
	memcpy(r->buf + r->n, s, n);
	r->n += n;
}

static void puts_(struct rec *r, const char *s)
{
	put(r, s, strlen(s));
}

/* The end of a trace line always has room: `tail` bytes, and a line has few groups to close. */
static void put_tail(struct rec *r, const char *s)
{
	size_t n = strlen(s);

	if (r->n + n < r->cap) {
		memcpy(r->buf + r->n, s, n);
		r->n += n;
	}
}

static void put_quoted(struct rec *r, const char *s)
{
	size_t len = strlen(s);
	char esc[8];

	put(r, "\"", 1);
	for (size_t i = 0; i < len;) {
		uint8_t c = (uint8_t)s[i];
		size_t n = c < 0x80 ? 0 : utf8_len(s + i, len - i);

		if (n) {
			put(r, s + i, n);
			i += n;
			continue;
		}
		if (c == '"' || c == '\\') {
			esc[0] = '\\';
			esc[1] = (char)c;
			put(r, esc, 2);
		} else if (c < 0x20 || c >= 0x7f) {
			put(r, esc, fmt(esc, sizeof(esc), "\\u%04x", c));
		} else {
			put(r, s + i, 1);
		}
		i++;
	}
	put(r, "\"", 1);
}

/* In text a control character would break the line, or the terminal. */
static void put_plain(struct rec *r, const char *s)
{
	for (; *s; s++)
		put(r, (uint8_t)*s < 0x20 || *s == 0x7f ? "?" : s, 1);
}

/* ---- members: all or nothing */

struct mark {
	size_t n;
	uint32_t filled;
};

static struct mark begin(struct rec *r, const char *name)
{
	struct mark m = {r->n, r->filled};
	uint32_t bit = 1u << r->depth;

	if (r->filled & bit)
		puts_(r, r->json ? "," : ", ");
	r->filled |= bit;
	if (name && r->json) {
		put_quoted(r, name);
		put(r, ":", 1);
	} else if (name) {
		puts_(r, name);
		put(r, "=", 1);
	}
	return m;
}

static void end(struct rec *r, struct mark m)
{
	if (!r->cut)
		return;
	r->n = m.n;
	r->filled = m.filled;
}

static void open_group(struct rec *r, const char *name, const char *text, const char *json)
{
	struct mark m = {r->n, r->filled};

	/*
	 * In text, only "{" and "[" begin a member; "(" and the like follow the name without a
	 * comma.
	 */
	if (r->json || *text == '{' || *text == '[')
		m = begin(r, name);
	puts_(r, r->json ? json : text);
	end(r, m);
	if (r->cut || r->depth == 31) {
		r->skipped++;
		return;
	}
	r->depth++;
	r->filled &= ~(1u << r->depth);
}

static void close_group(struct rec *r, const char *text, const char *json)
{
	if (r->skipped) {
		r->skipped--;
	} else {
		if (r->depth == 1 && r->cut && !r->json)
			put_tail(r, "...");
		put_tail(r, r->json ? json : text);
		r->depth--;
	}
	/* One part of the line was too long; the next may still use its share. */
	if (!r->depth && !r->skipped) {
		r->was_cut |= r->cut;
		r->cut = false;
		r->limit =
			r->limit + PART_MORE < REC_TEXT_MAX ? r->limit + PART_MORE : REC_TEXT_MAX;
	}
}

void rec_group(struct rec *r, const char *name, const char *open)
{
	open_group(r, name, open, "{");
}

void rec_group_end(struct rec *r, const char *close)
{
	close_group(r, close, "}");
}

void rec_list(struct rec *r, const char *name)
{
	open_group(r, name, "[", "[");
}

void rec_list_end(struct rec *r)
{
	close_group(r, "]", "]");
}

static void member(struct rec *r, const char *name, const char *text)
{
	struct mark m = begin(r, name);

	puts_(r, text);
	end(r, m);
}

void rec_u(struct rec *r, const char *name, uint64_t v)
{
	char text[24];

	fmt(text, sizeof(text), "%llu", (unsigned long long)v);
	member(r, name, text);
}

void rec_d(struct rec *r, const char *name, int64_t v)
{
	char text[24];

	fmt(text, sizeof(text), "%lld", (long long)v);
	member(r, name, text);
}

void rec_x(struct rec *r, const char *name, uint64_t v)
{
	char text[24];

	if (v < 10 || r->json)
		fmt(text, sizeof(text), "%llu", (unsigned long long)v);
	else
		fmt(text, sizeof(text), "0x%llx", (unsigned long long)v);
	member(r, name, text);
}

void rec_s(struct rec *r, const char *name, const char *s)
{
	struct mark m = begin(r, name);

	if (r->json)
		put_quoted(r, s);
	else
		put_plain(r, s);
	end(r, m);
}

void rec_bytes(struct rec *r, const char *name, const void *p, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	struct mark m = begin(r, name);
	const uint8_t *b = p;
	char text[32];

	if (r->json)
		put(r, "\"", 1);
	for (size_t i = 0; i < len && !r->cut; i++) {
		const char hex[2] = {digits[b[i] >> 4], digits[b[i] & 15]};

		if (!r->json && i == REC_BYTES_TEXT) {
			put(r, text, fmt(text, sizeof(text), "...[%zu]", len));
			break;
		}
		put(r, hex, 2);
	}
	if (r->json)
		put(r, "\"", 1);
	end(r, m);
}

void rec_code(struct rec *r, const char *name, uint64_t v, const char *value_name)
{
	struct mark m;
	char text[32];

	if (r->json) {
		rec_u(r, name, v);
		fmt(text, sizeof(text), "%s_name", name);
		rec_s(r, text, value_name);
		return;
	}
	m = begin(r, name);
	put_plain(r, value_name);
	put(r, text, fmt(text, sizeof(text), "(0x%llx)", (unsigned long long)v));
	end(r, m);
}

void rec_object(struct rec *r, const char *name, const char *object)
{
	struct mark m = {r->n, r->filled};
	char text[64];

	if (r->json) {
		fmt(text, sizeof(text), "%s_object", name);
		rec_s(r, text, object);
		return;
	}
	puts_(r, "<");
	put_plain(r, object);
	puts_(r, ">");
	end(r, m);
}

void rec_say(struct rec *r, const char *name, const char *before, const char *value)
{
	if (r->json) {
		rec_s(r, name, value);
		return;
	}
	puts_(r, before);
	put_plain(r, value);
}

/* ---- the line */

static void start(struct rec *r, bool json)
{
	memset(r, 0, offsetof(struct rec, small));
	r->buf = r->small;
	r->cap = sizeof(r->small);
	r->json = json;
	r->limit = PART_FIRST;
	r->options = log_options;
	r->tail = r->options & LOG_COUNTED ? TAIL_COUNTED : TAIL;
}

void rec_begin(struct rec *r, enum log_topic topic, const char *what, uint64_t since)
{
	uint64_t now = clock_now_ns();
	long pid = sys_raw(SYS_getpid, 0, 0, 0, 0, 0, 0);
	long tid = sys_raw(SYS_gettid, 0, 0, 0, 0, 0, 0);
	char text[96];

	start(r, log_json);
	r->since = since;
	r->topic = topic;
	r->what = what;
	if (!since)
		since = now;
	if (r->json) {
		put(r, text,
		    fmt(text, sizeof(text), "{\"time\":%llu.%09llu,\"pid\":%ld,\"tid\":%ld",
			(unsigned long long)(since / NSEC_PER_SEC),
			(unsigned long long)(since % NSEC_PER_SEC), pid, tid));
		r->filled = 1;
		rec_s(r, "topic", log_topic_name(topic));
		if (what)
			rec_s(r, "what", what);
		return;
	}
	put(r, text,
	    fmt(text, sizeof(text), pid == tid ? "softhca[%ld] " : "softhca[%ld/%ld] ", pid, tid));
	put(r, text,
	    fmt(text, sizeof(text), "%llu.%06llu %s: ", (unsigned long long)(since / NSEC_PER_SEC),
		(unsigned long long)(since % NSEC_PER_SEC / 1000), log_topic_name(topic)));
	if (what)
		put_plain(r, what);
}

void rec_about(struct rec *r, const char *name)
{
	if (!r->detail)
		r->detail = name;
}

/* Appends the data for `trace -c` to a line (LOG_SEPARATOR). */
static void put_counted(struct rec *r, uint64_t took)
{
	char text[TAIL_COUNTED - TAIL];

	if (r->options & LOG_BARE)
		r->n = 0;
	fmt(text, sizeof(text),
	    LOG_SEPARATOR "%s" LOG_SEPARATOR "%.95s" LOG_SEPARATOR "%.47s" LOG_SEPARATOR
			  "%d" LOG_SEPARATOR,
	    log_topic_name(r->topic), r->what ? r->what : "", r->detail ? r->detail : "",
	    r->failed);
	put_tail(r, text);
	if (!r->since)
		return;
	fmt(text, sizeof(text), "%llu", (unsigned long long)took);
	put_tail(r, text);
}

void rec_end(struct rec *r)
{
	uint64_t took = r->since ? clock_now_ns() - r->since : 0;
	char text[48];

	if (!log_wants(r->topic, r->what, r->detail, r->failed)) {
		rec_free(r);
		return;
	}
	if (r->since) {
		fmt(text, sizeof(text), r->json ? ",\"duration\":%llu.%09llu" : " <%llu.%06llu>",
		    (unsigned long long)(took / NSEC_PER_SEC),
		    (unsigned long long)(took % NSEC_PER_SEC / (r->json ? 1 : 1000)));
		put_tail(r, text);
	}
	if (r->json)
		put_tail(r, r->was_cut || r->cut ? ",\"cut\":true}" : "}");
	else if (r->cut)
		put_tail(r, "...");
	if (r->options & LOG_COUNTED)
		put_counted(r, took);
	put_tail(r, "\n");
	log_write(r->buf, r->n);
	rec_free(r);
}

void rec_free(struct rec *r)
{
	if (r->mapped)
		sys_munmap(r->buf, r->cap);
	r->mapped = false;
}
