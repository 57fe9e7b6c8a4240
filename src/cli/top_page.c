/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns the form of what `softhca top` shows: lines of text, and JSON. */
#include "cli/top.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "hw/port.h"
#include "util/cleanup.h"
#include "wire/ib/port.h"

static const char *const sort_names[TOP_SORTS] = {"rate", "errors", "depth", "pid", "name"};

/* ---- order */

static int order(double a, double b)
{
	return (a < b) - (a > b); /* the largest first */
}

static int compare_ports(const void *x, const void *y, void *arg)
{
	const struct top_port *a = x, *b = y;
	const struct top_view *v = arg;
	int r = 0;

	if (v->sort == TOP_SORT_RATE)
		r = order(a->sent.rate + a->received.rate, b->sent.rate + b->received.rate);
	else if (v->sort == TOP_SORT_ERRORS)
		r = order((double)a->errors.n, (double)b->errors.n);
	r = r ?: strverscmp(a->name, b->name);
	return v->reverse ? -r : r;
}

static int compare_qps(const void *x, const void *y, void *arg)
{
	const struct top_qp *a = x, *b = y;
	const struct top_view *v = arg;
	int r = 0;

	if (v->sort == TOP_SORT_RATE)
		r = order(a->sent.rate + a->received.rate, b->sent.rate + b->received.rate);
	else if (v->sort == TOP_SORT_ERRORS)
		r = order(2 * a->bad + !!*a->waits, 2 * b->bad + !!*b->waits);
	else if (v->sort == TOP_SORT_DEPTH)
		r = order(a->depth, b->depth);
	else if (v->sort == TOP_SORT_PID)
		r = -order(a->pid, b->pid);
	r = r ?: -order(a->qpn, b->qpn);
	return v->reverse ? -r : r;
}

/* ---- numbers */

/* A rate with at most 4 digits. */
static const char *brief(double n, char text[16])
{
	static const char units[] = " kMGT";
	size_t u = 0;

	for (; n >= 9999.5 && units[u + 1]; u++)
		n /= 1000;
	snprintf(text, 16, n < 9.95 && (u || n - (double)(long)n > 0.05) ? "%.1f%.*s" : "%.0f%.*s",
		 n, u ? 1 : 0, &units[u]);
	return text;
}

/* ---- lines */

static bool put(struct top_page *p, enum top_style style, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static bool put(struct top_page *p, enum top_style style, const char *fmt, ...)
{
	struct top_line *l;
	va_list ap;

	if (p->n == p->room) {
		size_t room = p->room ? 2 * p->room : 64;

		l = reallocarray(p->line, room, sizeof(*l));
		if (!l)
			return false;
		p->line = l;
		p->room = room;
	}
	l = &p->line[p->n++];
	l->style = style;
	va_start(ap, fmt);
	vsnprintf(l->text, sizeof(l->text), fmt, ap);
	va_end(ap);
	return true;
}

static bool has(const struct top_view *v, const char *text)
{
	return !v->filter[0] || strcasestr(text, v->filter);
}

static bool wanted_port(const struct top_view *v, const struct top_port *p)
{
	return (v->all || p->used) && has(v, p->name);
}

static bool wanted_qp(const struct top_view *v, const struct top_qp *q)
{
	char text[160];

	snprintf(text, sizeof(text), "0x%x %s %s %s %u %s %s", q->qpn, q->hca, q->type, q->state,
		 q->pid, q->comm, q->waits);
	return has(v, text);
}

static const char *port_state(uint32_t state)
{
	static const char *const names[] = {"?", "DOWN", "INIT", "ARMED", "ACTIVE"};

	return state < ARRAY_SIZE(names) ? names[state] : "?";
}

static bool put_errors(struct top_page *p, const struct top_sample *t)
{
	const struct {
		const char *what;
		uint64_t n;
	} more[] = {
		{"refused commands", t->refused},      {"refused calls", t->calls_refused},
		{"CQs in error", t->cqs_bad},          {"dropped", t->told[HW_TOLD_DROPPED]},
		{"ignored", t->told[HW_TOLD_IGNORED]}, {"undone", t->told[HW_TOLD_UNDONE]},
	};
	char text[256] = "";
	size_t n = 0;

	for (unsigned int i = 0; i < HW_USE_SYNDROMES && n < sizeof(text); i++)
		if (t->errors[i])
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s %" PRIu64,
					      n ? ", " : "", cqe_syndrome_name((uint8_t)i),
					      t->errors[i]);
	for (size_t i = 0; i < ARRAY_SIZE(more) && n < sizeof(text); i++)
		if (more[i].n)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s %" PRIu64,
					      n ? ", " : "", more[i].what, more[i].n);
	return put(p, n ? TOP_BAD : TOP_PLAIN, "errors: %s", n ? text : "none");
}

#define CAUSES_SHOWN 5 /* the latest */

static bool put_causes(struct top_page *p, const struct top_sample *t)
{
	size_t from = t->ncauses > CAUSES_SHOWN ? t->ncauses - CAUSES_SHOWN : 0;
	bool ok = true;

	if (from)
		ok = put(p, TOP_BAD, "  %zu more: softhca status -j", from);
	for (size_t i = from; ok && i < t->ncauses; i++) {
		const struct top_cause *c = &t->causes[i];

		if (!c->is_error)
			continue;
		ok = c->n == 1 ? put(p, TOP_BAD, "  %s", c->text)
			       : put(p, TOP_BAD, "  %" PRIu64 " x %s", c->n, c->text);
	}
	/* Below the errors, and not among them: a program may end so. */
	for (size_t i = from; ok && i < t->ncauses; i++) {
		const struct top_cause *c = &t->causes[i];

		if (c->is_error)
			continue;
		ok = c->n == 1 ? put(p, TOP_PLAIN, "%s", c->text)
			       : put(p, TOP_PLAIN, "%" PRIu64 " x %s", c->n, c->text);
	}
	return ok;
}

static bool put_head(struct top_page *p, const struct top_sample *t, const struct top_view *v)
{
	char clock[16], a[16], b[16], c[16], d[16];
	time_t now = time(NULL);
	struct tm tm;
	size_t bad = 0;

	for (size_t i = 0; i < t->nqps; i++)
		bad += t->qps[i].bad;
	strftime(clock, sizeof(clock), "%H:%M:%S", localtime_r(&now, &tm));
	return put(p, TOP_HEAD, "softhca top - %s  %s  every %g s%s  sorted by %s%s%s%s%s",
		   v->fabric, clock, v->interval, v->paused ? "  PAUSED" : "", sort_names[v->sort],
		   v->reverse ? ", reversed" : "", v->filter[0] ? "  only '" : "", v->filter,
		   v->filter[0] ? "'" : "") &&
	       put(p, TOP_PLAIN, "%u processes, %zu QPs (%zu in error), %u CQs", t->processes,
		   t->nqps, bad, t->cqs) &&
	       put(p, TOP_PLAIN, "%s packets/s  %s bytes/s  %s doorbells/s  %s commands/s",
		   brief(t->sent.rate, a), brief(t->out.rate, b), brief(t->doorbells.rate, c),
		   brief(t->commands.rate, d)) &&
	       put_errors(p, t) && put_causes(p, t);
}

static bool put_port(struct top_page *p, const struct top_port *t)
{
	bool down = t->state != IB_PORT_ACTIVE;
	char a[16], b[16], c[16], d[16], lid[12] = "-";

	if (!t->eth)
		snprintf(lid, sizeof(lid), "%u", t->lid);
	return put(p, down || t->errors.rate > 0 ? TOP_BAD : TOP_PLAIN,
		   "%-24s %-6s %5s %7s %7s %7s %7s %10" PRIu64, t->name, port_state(t->state), lid,
		   brief(t->sent.rate, a), brief(t->out.rate, b), brief(t->received.rate, c),
		   brief(t->in.rate, d), t->errors.n);
}

static bool put_qp(struct top_page *p, const struct top_qp *q)
{
	char a[16], b[16], pid[12] = "-", depth[24] = "-";

	if (q->pid)
		snprintf(pid, sizeof(pid), "%u", q->pid);
	if (q->size)
		snprintf(depth, sizeof(depth), "%u/%u", q->depth, q->size);
	return put(p, q->bad ? TOP_BAD : TOP_PLAIN,
		   "0x%06x %-14s %-4s %-5s %7s %7s %11s %-8s %7s %s", q->qpn, q->hca, q->type,
		   q->state, q->counts ? brief(q->sent.rate, a) : "-",
		   q->counts ? brief(q->received.rate, b) : "-", depth, *q->waits ? q->waits : "-",
		   pid, q->comm);
}

bool top_page(struct top_sample *t, const struct top_view *v, struct top_page *p)
{
	bool ok;

	*p = (struct top_page){0};
	qsort_r(t->ports, t->nports, sizeof(*t->ports), compare_ports, (void *)v);
	qsort_r(t->qps, t->nqps, sizeof(*t->qps), compare_qps, (void *)v);
	ok = put_head(p, t, v) && put(p, TOP_PLAIN, "%s", "");
	p->fixed = p->n;
	ok = ok && put(p, TOP_HEAD, "%-24s %-6s %5s %7s %7s %7s %7s %10s", "PORT", "STATE", "LID",
		       "SENT/s", "BYTES/s", "RECVD/s", "BYTES/s", "ERRORS");
	for (size_t i = 0; ok && i < t->nports; i++)
		if (wanted_port(v, &t->ports[i]))
			ok = put_port(p, &t->ports[i]);
	ok = ok && put(p, TOP_PLAIN, "%s", "") &&
	     put(p, TOP_HEAD, "%-8s %-14s %-4s %-5s %7s %7s %11s %-8s %7s %s", "QPN", "ADAPTER",
		 "TYPE", "STATE", "SENT/s", "RECVD/s", "QUEUED", "WAITS", "PID", "COMMAND");
	for (size_t i = 0; ok && i < t->nqps; i++)
		if (wanted_qp(v, &t->qps[i]))
			ok = put_qp(p, &t->qps[i]);
	return ok;
}

void top_page_free(struct top_page *p)
{
	free(p->line);
	*p = (struct top_page){0};
}

/* ---- JSON */

static void add_num(struct json_object *o, const char *key, uint64_t n)
{
	json_object_object_add(o, key, json_object_new_uint64(n));
}

static void add_str(struct json_object *o, const char *key, const char *s)
{
	json_object_object_add(o, key, json_object_new_string(s));
}

/* KEY and KEY_rate. */
static void add_count(struct json_object *o, const char *key, const struct top_count *c)
{
	char name[40], text[40];

	add_num(o, key, c->n);
	snprintf(name, sizeof(name), "%s_rate", key);
	snprintf(text, sizeof(text), "%.3f", c->rate);
	json_object_object_add(o, name, json_object_new_double_s(c->rate, text));
}

static struct json_object *port_json(const struct top_port *p)
{
	struct json_object *o = json_object_new_object();

	add_str(o, "port", p->name);
	add_str(o, "state", port_state(p->state));
	if (!p->eth)
		add_num(o, "lid", p->lid);
	add_count(o, "xmit_packets", &p->sent);
	add_count(o, "xmit_bytes", &p->out);
	add_count(o, "rcv_packets", &p->received);
	add_count(o, "rcv_bytes", &p->in);
	add_count(o, "errors", &p->errors);
	return o;
}

static struct json_object *qp_json(const struct top_qp *q)
{
	struct json_object *o = json_object_new_object();

	add_num(o, "qpn", q->qpn);
	add_str(o, "adapter", q->hca);
	add_str(o, "type", q->type);
	add_str(o, "state", q->state);
	if (q->counts) {
		add_count(o, "xmit_packets", &q->sent);
		add_count(o, "rcv_packets", &q->received);
	}
	add_num(o, "queued", q->depth);
	add_num(o, "room", q->size);
	add_str(o, "waits", q->waits);
	add_num(o, "pid", q->pid);
	add_str(o, "comm", q->comm);
	return o;
}

struct json_object *top_json(struct top_sample *t, const struct top_view *v)
{
	struct json_object *o = json_object_new_object(), *ports = json_object_new_array();
	struct json_object *qps = json_object_new_array(), *errors = json_object_new_object();
	struct json_object *causes = json_object_new_object();

	qsort_r(t->ports, t->nports, sizeof(*t->ports), compare_ports, (void *)v);
	qsort_r(t->qps, t->nqps, sizeof(*t->qps), compare_qps, (void *)v);
	add_str(o, "fabric", v->fabric);
	add_num(o, "processes", t->processes);
	add_num(o, "cqs", t->cqs);
	add_num(o, "cqs_in_error", t->cqs_bad);
	add_count(o, "xmit_packets", &t->sent);
	add_count(o, "xmit_bytes", &t->out);
	add_count(o, "doorbells", &t->doorbells);
	add_count(o, "commands", &t->commands);
	add_num(o, "refused", t->refused);
	add_num(o, "calls_refused", t->calls_refused);
	for (unsigned int i = 0; i < HW_USE_SYNDROMES; i++)
		if (t->errors[i])
			add_num(errors, cqe_syndrome_name((uint8_t)i), t->errors[i]);
	json_object_object_add(o, "errors", errors);
	add_num(o, "dropped", t->told[HW_TOLD_DROPPED]);
	for (size_t i = 0; i < t->ncauses; i++)
		add_num(causes, t->causes[i].text, t->causes[i].n);
	json_object_object_add(o, "causes", causes);
	for (size_t i = 0; i < t->nports; i++)
		if (wanted_port(v, &t->ports[i]))
			json_object_array_add(ports, port_json(&t->ports[i]));
	for (size_t i = 0; i < t->nqps; i++)
		if (wanted_qp(v, &t->qps[i]))
			json_object_array_add(qps, qp_json(&t->qps[i]));
	json_object_object_add(o, "ports", ports);
	json_object_object_add(o, "qps", qps);
	return o;
}
