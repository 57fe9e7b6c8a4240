/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the grammar of rules: WHERE[KEY=VALUE,...]:WHAT[=VALUE][,WHAT=VALUE][:WHEN]... It is fixed,
 * because users keep rules in files. For the command line and the supervisor.
 */
#include "fault/rows.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/num.h"
#include "util/suggest.h"
#include "wire/mad/cm.h"
#include "wire/mad/names.h"
#include "wire/pkt/pkt.h"

#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct parse {
	const char *text, *at;
	struct fault_mistake *m;
};

/* ---- mistakes */

__attribute__((format(printf, 3, 4))) static int wrong(struct parse *p, const char *at,
						       const char *fmt, ...)
{
	va_list ap;

	p->m->at = (size_t)(at - p->text);
	va_start(ap, fmt);
	vsnprintf(p->m->text, sizeof(p->m->text), fmt, ap);
	va_end(ap);
	return -EINVAL;
}

static void allow(void *ctx, const char *name, uint64_t n)
{
	struct fault_mistake *m = ctx;
	size_t used = strlen(m->allowed);

	(void)n;
	if (used + strlen(name) + 6 > sizeof(m->allowed)) {
		if (used < 3 || strcmp(m->allowed + used - 3, "..."))
			snprintf(m->allowed + used, sizeof(m->allowed) - used, "...");
		return;
	}
	snprintf(m->allowed + used, sizeof(m->allowed) - used, "%s%s", used ? ", " : "", name);
}

/* A word that is none of those that were looked through. */
static int unknown(struct parse *p, const char *at, size_t len, const char *what,
		   const struct suggest *s)
{
	if (s->best)
		return wrong(p, at, "there is no %s '%.*s'; did you mean '%s'?", what, (int)len, at,
			     s->best);
	return wrong(p, at, "there is no %s '%.*s'", what, (int)len, at);
}

/* ---- words */

static bool word_is(const char *at, size_t len, const char *name)
{
	return strlen(name) == len && !memcmp(at, name, len);
}

static size_t word_len(const char *at)
{
	return strcspn(at, "[]=:,*");
}

struct lookup {
	const char *at;
	size_t len;
	struct suggest s;
	struct fault_mistake *m;
	bool found;
	uint64_t n;
};

static void look_at_name(void *ctx, const char *name, uint64_t n)
{
	struct lookup *l = ctx;

	suggest_add(&l->s, name);
	allow(l->m, name, n);
	if (!word_is(l->at, l->len, name))
		return;
	l->found = true;
	l->n = n;
}

static int read_number(struct parse *p, uint64_t *n, const char *what)
{
	const char *end = p->at;
	int was = errno;

	errno = 0;
	*n = num_digit(*p->at) < 10 ? num_in_base(p->at, !strncmp(p->at, "0x", 2) ? 16 : 10, &end)
				    : 0;
	if (end == p->at || errno)
		return wrong(p, p->at, "%s is a number", what);
	errno = was;
	p->at = end;
	return 0;
}

/* 50ms, 2s, 10us, 1m; *ns. */
static int read_time(struct parse *p, uint64_t *ns)
{
	static const struct {
		const char *unit;
		uint64_t ns;
	} units[] = {{"ns", 1},
		     {"us", NSEC_PER_USEC},
		     {"ms", NSEC_PER_MSEC},
		     {"s", NSEC_PER_SEC},
		     {"m", 60 * NSEC_PER_SEC}};
	const char *at = p->at;
	int r = read_number(p, ns, "a time");
	size_t len = word_len(p->at);

	if (r)
		return r;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (word_is(p->at, len, units[i].unit)) {
			if (__builtin_mul_overflow(*ns, units[i].ns, ns))
				return wrong(p, at, "the time is too long");
			p->at += len;
			return 0;
		}
	return wrong(p, p->at, "a time has a unit: us, ms, s or m");
}

/* 10Gbps; *n: bits in a second */
static int read_rate(struct parse *p, uint64_t *n)
{
	static const struct {
		const char *unit;
		uint64_t bits;
	} units[] = {{"Kbps", 1000}, {"Mbps", 1000000}, {"Gbps", 1000000000}};
	const char *at = p->at;
	int r = read_number(p, n, "a rate");
	size_t len = word_len(p->at);

	if (r)
		return r;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (word_is(p->at, len, units[i].unit)) {
			if (!*n || *n > 1000000)
				return wrong(p, at, "a rate is from 1 to 1000000 of its unit");
			*n *= units[i].bits;
			p->at += len;
			return 0;
		}
	return wrong(p, p->at, "a rate has a unit: Kbps, Mbps or Gbps");
}

static bool by_number(enum fault_value v)
{
	return v == FAULT_V_STATUS || v == FAULT_V_CLASS || v == FAULT_V_METHOD ||
	       v == FAULT_V_ATTR || v == FAULT_V_MAD_STATUS;
}

/* The value behind a key or effect; `text`: where a name goes, `room` bytes. */
static int read_value(struct parse *p, const struct fault_word *w, uint64_t *n, char *text,
		      size_t room)
{
	size_t len = word_len(p->at);
	struct lookup l = {.at = p->at, .len = len, .m = p->m};

	if (w->value == FAULT_V_NUMBER)
		return read_number(p, n, w->name);
	if (w->value == FAULT_V_TIME || w->value == FAULT_V_MAYBE_TIME)
		return read_time(p, n);
	if (w->value == FAULT_V_RATE)
		return read_rate(p, n);
	if (!len)
		return wrong(p, p->at, "%s= wants %s", w->name, w->meaning);
	if (w->value == FAULT_V_TEXT) {
		if (len >= room)
			return wrong(p, p->at, "the name is longer than %zu bytes", room - 1);
		memcpy(text, p->at, len);
		text[len] = '\0';
		p->at += len;
		return 0;
	}
	suggest_begin(&l.s, p->at, len);
	p->m->allowed[0] = '\0';
	fault_value_names(w->value, look_at_name, &l);
	if (!l.found && by_number(w->value) && num_digit(*p->at) < 10)
		return read_number(p, n, w->name);
	if (!l.found)
		return unknown(p, p->at, len, w->meaning + (w->meaning[1] == 'n' ? 3 : 2), &l.s);
	p->m->allowed[0] = '\0';
	*n = l.n;
	p->at += len;
	return 0;
}

/* ---- WHERE[KEY=VALUE,...] */

static char *text_of(struct hw_fault_sel *s, enum hw_fault_key k, size_t *room)
{
	*room = k == HW_FK_COMM ? sizeof(s->comm) : HW_FAULT_NAME;
	return k == HW_FK_HOST ? s->host : k == HW_FK_COMM ? s->comm : s->dev;
}

static int read_key(struct parse *p, const struct fault_where *w, struct hw_fault_sel *s)
{
	const char *at = p->at;
	size_t len = word_len(at), room = 0;
	uint64_t n = 0;
	struct suggest g;
	char *text;
	int r;

	suggest_begin(&g, at, len);
	for (int k = 0; k < HW_FAULT_KEYS; k++) {
		if (!(w->keys >> k & 1))
			continue;
		suggest_add(&g, fault_keys[k].name);
		allow(p->m, fault_keys[k].name, 0);
	}
	for (enum hw_fault_key k = 0; k < HW_FAULT_KEYS; k++) {
		if (!(w->keys >> k & 1) || !word_is(at, len, fault_keys[k].name))
			continue;
		p->m->allowed[0] = '\0';
		if (s->have >> k & 1)
			return wrong(p, at, "%s is given twice", fault_keys[k].name);
		p->at += len;
		if (*p->at++ != '=')
			return wrong(p, p->at - 1, "%s wants a value: %s=...", fault_keys[k].name,
				     fault_keys[k].name);
		text = text_of(s, k, &room);
		r = read_value(p, &fault_keys[k], &n, text, room);
		if (r)
			return r;
		s->have |= 1u << k;
		if (k == HW_FK_PID)
			s->pid = (uint32_t)n;
		if (k == HW_FK_CMD || k == HW_FK_MSG)
			s->id = (uint32_t)n;
		if (k == HW_FK_PORT)
			s->port = (uint32_t)n;
		if (k == HW_FK_QP)
			s->qpn = (uint32_t)n;
		if (k == HW_FK_TYPE)
			s->st = (uint32_t)n;
		if (k == HW_FK_SIZE)
			s->size = n;
		if (k == HW_FK_NTH)
			s->nth = (uint32_t)n;
		if (k >= HW_FK_CQ && k <= HW_FK_WQ)
			s->num = (uint32_t)n;
		if (k == HW_FK_NTH && !n)
			return wrong(p, p->at - 1, "the first one is number 1");
		if (k == HW_FK_CLASS)
			s->mad_class = (uint32_t)n;
		if (k == HW_FK_METHOD)
			s->method = (uint32_t)n;
		if (k == HW_FK_ATTR)
			s->attr = (uint32_t)n;
		if (k == HW_FK_LID)
			s->lid = (uint32_t)n;
		return 0;
	}
	for (int k = 0; k < HW_FAULT_KEYS; k++)
		if (word_is(at, len, fault_keys[k].name))
			return wrong(p, at, "%s= does not narrow %s", fault_keys[k].name, w->name);
	return unknown(p, at, len, "key", &g);
}

/* Every place whose name is not a prefix, and the functions behind the prefixes. */
static const struct fault_where *find_where(struct lookup *l)
{
	const struct fault_where *found = NULL;

	for (size_t i = 0; i < fault_nwheres; i++) {
		const struct fault_where *w = &fault_wheres[i];
		size_t prefix = strlen(w->name);

		if (!w->names) {
			look_at_name(l, w->name, UINT32_MAX);
			if (l->found && !found)
				found = w;
			continue;
		}
		if (l->len < prefix || memcmp(l->at, w->name, prefix)) {
			char any[HW_FAULT_NAME];

			snprintf(any, sizeof(any), "%s...", w->name);
			allow(l->m, any, 0);
		}
		for (uint32_t k = 0; w->names[k].name; k++) {
			suggest_add(&l->s, w->names[k].name);
			if (l->len >= prefix && !memcmp(l->at, w->name, prefix))
				allow(l->m, w->names[k].name, k);
			if (word_is(l->at, l->len, w->names[k].name)) {
				l->found = true;
				l->n = k;
				found = w;
			}
		}
	}
	return found;
}

static bool class_has(uint32_t mad_class, uint32_t attr)
{
	const struct mad_attr_info *a = mad_attr_info(mad_class, attr & UINT16_MAX);

	return a && a->mgmt_class == attr >> 16;
}

static int read_where(struct parse *p, struct hw_fault_sel *s, const struct fault_where **where)
{
	struct lookup l = {.at = p->at, .len = word_len(p->at), .m = p->m};
	const struct fault_where *w;

	suggest_begin(&l.s, p->at, l.len);
	p->m->allowed[0] = '\0';
	w = find_where(&l);
	if (!w)
		return l.len ? unknown(p, p->at, l.len, "place", &l.s)
			     : wrong(p, p->at, "a rule begins with a place");
	p->m->allowed[0] = '\0';
	*where = w;
	s->moment = w->at;
	s->where = (uint32_t)(w - fault_wheres);
	s->id = (uint32_t)l.n;
	p->at += l.len;
	if (*p->at != '[')
		return 0;
	do {
		int r;

		p->at++;
		r = read_key(p, w, s);
		if (r)
			return r;
	} while (*p->at == ',');
	if (*p->at != ']')
		return wrong(p, p->at, "a ',' or ']' is missing");
	if (s->have & 1u << HW_FK_CLASS && s->have & 1u << HW_FK_ATTR && s->attr >> 16 &&
	    !class_has(s->mad_class & 0xff, s->attr))
		return wrong(p, p->at, "the class has no such attribute");
	p->at++;
	return 0;
}

/* ---- WHAT[=VALUE],... */

/*
 * A GID has the character that separates the parts of a rule: the longest part that is one, as no
 * condition begins like more of it.
 */
static int read_gid(struct parse *p, uint8_t gid[16])
{
	char text[INET6_ADDRSTRLEN];
	size_t len = strcspn(p->at, ",[]=*");

	for (; len; len--) {
		if (len >= sizeof(text) || (p->at[len] && !strchr(":,", p->at[len])))
			continue;
		memcpy(text, p->at, len);
		text[len] = '\0';
		if (inet_pton(AF_INET6, text, gid) == 1) {
			p->at += len;
			return 0;
		}
	}
	return wrong(p, p->at, "a GID is written as an IPv6 address: fe80::1, ::ffff:10.0.0.1");
}

/* Behind the name of an effect: [INDEX] of an entry, = and the value, or nothing. */
static int read_effect(struct parse *p, const struct fault_word *w, struct hw_fault_effect *e,
		       uint64_t *n)
{
	const char *at = p->at;
	uint64_t index = 0;
	int r;

	if (w->value == FAULT_V_TIMES && *at != '=') {
		*n = 1;
		return 0;
	}
	if (w->value == FAULT_V_NONE)
		return *at == '=' ? wrong(p, at, "%s has no value", w->name) : 0;
	if (w->value == FAULT_V_MAYBE_TIME && *at != '=')
		return 0;
	if (w->value == FAULT_V_ENTRY || w->value == FAULT_V_GID) {
		if (*p->at++ != '[')
			return wrong(p, at, "%s wants %s", w->name, w->meaning);
		at = p->at;
		r = read_number(p, &index, "the index");
		if (r || index >= 128)
			return r ?: wrong(p, at, "the index is below 128");
		if (*p->at++ != ']')
			return wrong(p, p->at - 1, "a ']' is missing");
	}
	if (*p->at++ != '=')
		return wrong(p, p->at - 1, "%s wants a value: %s=...", w->name, w->name);
	at = p->at;
	if (w->value == FAULT_V_GID) {
		*n = index;
		return read_gid(p, e->gid);
	}
	r = w->value == FAULT_V_ENTRY || w->value == FAULT_V_TIMES ? read_number(p, n, w->name)
								   : read_value(p, w, n, NULL, 0);
	if (!r && w->value == FAULT_V_TIMES && !*n)
		return wrong(p, at, "%s= is at least 1", w->name);
	if (!r && w->value == FAULT_V_ENTRY && *n > UINT16_MAX)
		return wrong(p, at, "a P_Key has 16 bits");
	*n |= index << 32;
	if (!r && w->value == FAULT_V_MAYBE_TIME)
		*n += !*n; /* 0 is "no time" */
	return r;
}

static int check_vendor_err(struct parse *p, const char *at, const struct hw_fault *f, uint64_t n)
{
	uint64_t v;

	if (!fault_does(&f->does, FAULT_WC, &v) && !fault_does(&f->does, FAULT_RECV_WC, &v) &&
	    !(fault_does(&f->does, FAULT_NAK, &v) && v != PKT_SYND_NAK_SEQUENCE))
		return wrong(p, at, "vendor_err= stands beside status=");
	return n > UINT8_MAX ? wrong(p, at, "vendor_err= is below 256") : 0;
}

/* Is there a message of these keys to which the effect can happen? */
static int check_mad(struct parse *p, const char *at, const struct hw_fault_sel *s, uint32_t what,
		     uint64_t n)
{
	bool cm = (s->have & 1u << HW_FK_CLASS && (s->mad_class & 0xff) == MAD_CLASS_CM) ||
		  (s->have & 1u << HW_FK_ATTR && s->attr >> 16 == MAD_CLASS_CM);

	if (what == FAULT_REJECT && s->have & 1u << HW_FK_MSG && s->id != CM_ATTR_REQ &&
	    s->id != CM_ATTR_REP)
		return wrong(p, at, "only a REQ or REP can be rejected");
	if (what == FAULT_REJECT && s->have & 1u << HW_FK_MSG && s->id == CM_ATTR_REQ &&
	    n == CM_REJ_TIMEOUT)
		return wrong(p, at, "reject=timeout answers a REP, not a REQ");
	if (what == FAULT_MAD_STATUS &&
	    (cm || (s->have & 1u << HW_FK_METHOD && !mad_answer_method(s->method))))
		return wrong(p, at, "status answers a request: Get, Set, GetTable...");
	return 0;
}

static int read_what(struct parse *p, const struct fault_where *w, struct hw_fault *f)
{
	uint64_t fit = f->does.n ? w->extras : w->whats;
	const char *at = p->at;
	size_t len = word_len(at);
	struct suggest g;
	int r;

	suggest_begin(&g, at, len);
	for (int k = 0; k < FAULT_WHATS; k++) {
		if (!(fit >> k & 1))
			continue;
		suggest_add(&g, fault_whats[k].name);
		allow(p->m, fault_whats[k].name, 0);
	}
	for (uint32_t k = 0; k < FAULT_WHATS; k++) {
		uint64_t n = 0, was;

		if (!(fit >> k & 1) || !word_is(at, len, fault_whats[k].name))
			continue;
		p->m->allowed[0] = '\0';
		if (f->does.n == HW_FAULT_WHATS || fault_does(&f->does, k, &was))
			return wrong(p, at, "%s is given twice", fault_whats[k].name);
		p->at += len;
		r = read_effect(p, &fault_whats[k], &f->does, &n);
		if (r)
			return r;
		r = k == FAULT_VENDOR_ERR ? check_vendor_err(p, at, f, n)
					  : check_mad(p, at, &f->sel, k, n);
		if (r)
			return r;
		f->does.what[f->does.n] = k;
		f->does.value[f->does.n++] = n;
		return 0;
	}
	for (int k = 0; k < FAULT_WHATS; k++)
		if (word_is(at, len, fault_whats[k].name))
			return wrong(p, at,
				     f->does.n ? "%s cannot stand here" : "%s cannot happen there",
				     fault_whats[k].name);
	return len ? unknown(p, at, len, "effect", &g) : wrong(p, at, "the effect is missing");
}

/* ---- WHEN */

/* N, N+, N+STEP, N..M */
static int read_when(struct parse *p, struct hw_fault *f)
{
	const char *at = p->at;
	int r = read_number(p, &f->when.first, "when=");

	if (r)
		return r;
	f->when.last = f->when.first;
	if (!f->when.first)
		return wrong(p, at, "the first one is number 1");
	if (*p->at == '+') {
		p->at++;
		f->when.last = UINT64_MAX;
		if (num_digit(*p->at) > 9)
			return 0;
		at = p->at;
		r = read_number(p, &f->when.step, "the step");
		return r || f->when.step ? r : wrong(p, at, "a step is at least 1");
	}
	if (strncmp(p->at, "..", 2))
		return 0;
	p->at += 2;
	at = p->at;
	r = read_number(p, &f->when.last, "the last one");
	return r || f->when.last >= f->when.first
		       ? r
		       : wrong(p, at, "the last one is before the first");
}

/* A decimal fraction from 0 to 1. */
static int read_probability(struct parse *p, struct hw_fault *f)
{
	const char *at = p->at;
	uint64_t whole, part = 0, unit = 1;
	int r = read_number(p, &whole, "p=");

	if (r)
		return r;
	if (*p->at == '.')
		for (p->at++; num_digit(*p->at) < 10; p->at++)
			if (unit < UINT64_C(1000000000)) {
				unit *= 10;
				part = part * 10 + num_digit(*p->at);
			}
	if (whole > 1 || (whole == 1 && part) || (!whole && !part))
		return wrong(p, at, "p= is above 0 and at most 1");
	f->when.of_2_32 = whole ? UINT64_C(1) << 32 : (part << 32) / unit;
	if (!f->when.of_2_32)
		f->when.of_2_32 = 1;
	return 0;
}

/* An EVENT[*N]. Without keys of its own it is one of whom the rule is about. */
static int read_event(struct parse *p, const struct hw_fault *f, struct hw_fault_sel *s,
		      uint64_t *n)
{
	const uint32_t who = 1u << HW_FK_HOST | 1u << HW_FK_PID | 1u << HW_FK_COMM;
	const struct fault_where *w = NULL;
	const char *at = p->at;
	int r = read_where(p, s, &w);

	if (r)
		return r;
	if (w->act)
		return wrong(p, at, "%s is no event", w->name);
	if (!s->have) {
		const struct hw_fault_sel event = *s;

		*s = f->sel;
		s->moment = event.moment;
		s->where = event.where;
		s->id = event.id;
		s->have &= who;
	}
	*n = 1;
	if (*p->at != '*')
		return 0;
	p->at++;
	at = p->at;
	r = read_number(p, n, "the number of events");
	return r || *n ? r : wrong(p, at, "the number of events is at least 1");
}

static int when_after(struct parse *p, struct hw_fault *f)
{
	return read_event(p, f, &f->when.after, &f->when.after_n);
}

/* A time, or an event. */
static int when_until(struct parse *p, struct hw_fault *f)
{
	if (num_digit(*p->at) < 10)
		return read_time(p, &f->when.until_ns);
	return read_event(p, f, &f->when.before, &f->when.before_n);
}

static int when_at(struct parse *p, struct hw_fault *f)
{
	int r = read_time(p, &f->when.at_ns);

	f->when.at_ns += !f->when.at_ns; /* 0 is "not given" */
	return r;
}

static int when_count(struct parse *p, struct hw_fault *f)
{
	const char *at = p->at;
	int r = read_number(p, &f->when.budget, "count=");

	return r || f->when.budget ? r : wrong(p, at, "count= is at least 1");
}

static int when_per(struct parse *p, struct hw_fault *f)
{
	static const struct {
		const char *name;
		enum hw_fault_per per;
	} pers[] = {{"host", HW_PER_HOST}, {"process", HW_PER_PROCESS}, {"qp", HW_PER_QP}};
	size_t len = word_len(p->at);
	struct suggest g;

	suggest_begin(&g, p->at, len);
	for (size_t i = 0; i < ARRAY_SIZE(pers); i++) {
		suggest_add(&g, pers[i].name);
		allow(p->m, pers[i].name, 0);
	}
	for (size_t i = 0; i < ARRAY_SIZE(pers); i++)
		if (word_is(p->at, len, pers[i].name)) {
			p->m->allowed[0] = '\0';
			if (pers[i].per != HW_PER_HOST &&
			    (f->sel.moment == HW_AT_CM || f->sel.moment == HW_AT_MAD))
				return wrong(p, p->at, "only per=host is for messages of ports");
			f->when.per = pers[i].per;
			p->at += len;
			return 0;
		}
	return unknown(p, p->at, len, "unit", &g);
}

static const struct {
	const char *name;
	int (*read)(struct parse *p, struct hw_fault *f);
	bool moments, acts; /* whose condition it is */
} whens[] = {
	{"when", read_when, true, false},   {"p", read_probability, true, false},
	{"until", when_until, true, false}, {"after", when_after, true, true},
	{"count", when_count, true, false}, {"per", when_per, true, false},
	{"at", when_at, false, true},
};

static int read_condition(struct parse *p, const struct fault_where *w, struct hw_fault *f,
			  uint32_t *given)
{
	const char *at = p->at;
	size_t len = word_len(at);
	struct suggest g;

	suggest_begin(&g, at, len);
	for (size_t i = 0; i < ARRAY_SIZE(whens); i++) {
		if (!(w->act ? whens[i].acts : whens[i].moments))
			continue;
		suggest_add(&g, whens[i].name);
		allow(p->m, whens[i].name, 0);
	}
	for (size_t i = 0; i < ARRAY_SIZE(whens); i++) {
		if (!word_is(at, len, whens[i].name))
			continue;
		if (!(w->act ? whens[i].acts : whens[i].moments))
			return wrong(p, at, "%s= is no condition of %s", whens[i].name, w->name);
		p->m->allowed[0] = '\0';
		if (*given >> i & 1)
			return wrong(p, at, "%s is given twice", whens[i].name);
		*given |= 1u << i;
		p->at += len;
		if (*p->at++ != '=')
			return wrong(p, p->at - 1, "%s wants a value: %s=...", whens[i].name,
				     whens[i].name);
		return whens[i].read(p, f);
	}
	return unknown(p, at, len, "condition", &g);
}

int fault_parse(const char *text, struct hw_fault *f, struct fault_mistake *m)
{
	struct parse p = {.text = text, .at = text, .m = m};
	const struct fault_where *w = NULL;
	uint32_t given = 0;
	int r;

	memset(f, 0, sizeof(*f));
	*m = (struct fault_mistake){0};
	f->when.first = f->when.step = 1;
	f->when.last = UINT64_MAX;
	if (strlen(text) >= sizeof(f->text))
		return wrong(&p, text, "a rule has at most %zu bytes", sizeof(f->text) - 1);
	r = read_where(&p, &f->sel, &w);
	if (r)
		return r;
	if (*p.at != ':')
		return wrong(&p, p.at,
			     *p.at ? "a ':' is missing" : "the effect is missing: :%s=...",
			     fault_whats[__builtin_ctzll(w->whats)].name);
	do {
		p.at++;
		r = read_what(&p, w, f);
		if (r)
			return r;
	} while (*p.at == ',');
	while (*p.at == ':' || (*p.at == ',' && given)) {
		p.at++;
		r = read_condition(&p, w, f, &given);
		if (r)
			return r;
	}
	if (*p.at)
		return wrong(&p, p.at, "the rule should end here");
	if (w->act && !given)
		return wrong(&p, p.at, "a time or an event is missing: :at=1s or :after=...");
	if (f->when.at_ns && f->when.after.moment)
		return wrong(&p, p.at, "either at= or after=");
	snprintf(f->text, sizeof(f->text), "%s", text);
	return 0;
}
