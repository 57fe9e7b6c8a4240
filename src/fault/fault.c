/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns the decision whether a rule fires. In the preloaded library, so it allocates nothing. */
#include "fault/rows.h"
#include "fabric/fabric.h"
#include "hw/cap.h"
#include "hw/hca.h"
#include "segment/proc.h"
#include "segment/suplink.h"
#include "util/bits.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/sys.h"
#include "wire/mad/cm.h"
#include "wire/mad/names.h"
#include "wire/pkt/pkt.h"

#include <infiniband/verbs.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

/* ---- does a moment fit? */

static bool end_fits(const struct seg *s, const struct hw_fault_sel *sel, const struct fault_end *e)
{
	const struct seg_proc *p = e->proc == SEG_NONE ? NULL : seg_proc(s, e->proc);
	const struct hw_hca *hca = e->hca == SEG_NONE ? NULL : hw_hca(s, e->hca);
	const struct hw_host *host;
	char name[FAB_HCA_NAME];

	if (sel->have & 1u << HW_FK_PID && !(p && p->pid == sel->pid))
		return false;
	if (sel->have & 1u << HW_FK_COMM && !(p && !strncmp(p->comm, sel->comm, sizeof(p->comm))))
		return false;
	if (sel->have & 1u << HW_FK_DEV && !(hca && !strcmp(fab_hca_name(s, hca, name), sel->dev)))
		return false;
	if (sel->have & 1u << HW_FK_PORT && e->port != sel->port)
		return false;
	if (sel->have & 1u << HW_FK_QP && !(e->qp && e->qpn == sel->qpn))
		return false;
	if (sel->have & 1u << HW_FK_TYPE && !(e->qp && e->st == sel->st))
		return false;
	if (sel->have & 1u << HW_FK_NTH && e->nth != sel->nth)
		return false;
	for (uint32_t k = HW_FK_CQ; k <= HW_FK_WQ; k++)
		if (sel->have & 1u << k && !(e->kind == k && e->num == sel->num))
			return false;
	if (sel->have & 1u << HW_FK_LID && e->lid != sel->lid)
		return false;
	if (!(sel->have & 1u << HW_FK_HOST))
		return true;
	host = p || hca ? seg_live(s, SEG_T_HOST, p ? p->host : hca->host) : NULL;
	return host && !strcmp(host->name, sel->host);
}

bool fault_is_of(const struct seg *s, const struct hw_fault *f, const struct fault_end *e)
{
	return end_fits(s, &f->sel, e);
}

/* Is `name` one of the words of this list? */
static bool listed(const char *list, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = list; (at = strstr(at, name)); at += len)
		if ((at == list || at[-1] == ' ') && (at[len] == ' ' || !at[len]))
			return true;
	return false;
}

static bool class_fits(uint32_t sel, uint32_t mad_class)
{
	if (!(sel & HW_FAULT_NAMED))
		return sel == mad_class;
	return !strcmp(mad_class_name(sel & 0xff), mad_class_name(mad_class));
}

/* Without a method answers are not meant. */
static bool mad_fits(const struct hw_fault_sel *sel, const struct fault_moment *m)
{
	uint32_t of = sel->attr >> 16;

	if (sel->have & 1u << HW_FK_METHOD ? sel->method != m->method : m->method & MAD_METHOD_RESP)
		return false;
	if (sel->have & 1u << HW_FK_CLASS && !class_fits(sel->mad_class, m->mad_class))
		return false;
	if (!(sel->have & 1u << HW_FK_ATTR))
		return true;
	if (of && of != m->mad_class && !(mad_is_smi(of) && mad_is_smi(m->mad_class)))
		return false;
	return (sel->attr & UINT16_MAX) == m->id;
}

static bool id_fits(const struct hw_fault_sel *sel, const struct fault_moment *m)
{
	if (m->at == HW_AT_WR)
		return m->id < 64 && fault_wheres[sel->where].ops >> m->id & 1;
	if (m->at == HW_AT_MAD)
		return mad_fits(sel, m);
	if (!m->name)
		return sel->id == UINT32_MAX || sel->id == m->id;
	return listed(fault_wheres[sel->where].names[sel->id].calls, m->name);
}

static bool sel_fits(const struct seg *s, const struct hw_fault_sel *sel,
		     const struct fault_moment *m)
{
	if (sel->moment != m->at || !id_fits(sel, m) ||
	    (sel->have & 1u << HW_FK_SIZE && sel->size != m->size))
		return false;
	/* Keys name one end: all that are given must be of the same. */
	for (size_t i = 0; i < ARRAY_SIZE(m->end); i++)
		if ((!i || m->end[i].proc != SEG_NONE || m->end[i].hca != SEG_NONE ||
		     m->end[i].lid) &&
		    end_fits(s, sel, &m->end[i]))
			return true;
	return false;
}

/* ---- is it its turn? */

static uint64_t whose(const struct seg *s, const struct hw_fault *f, const struct fault_moment *m)
{
	const struct seg_proc *p = m->end[0].proc == SEG_NONE ? NULL : seg_proc(s, m->end[0].proc);
	const struct hw_hca *hca = m->end[0].hca == SEG_NONE ? NULL : hw_hca(s, m->end[0].hca);

	switch (f->when.per) {
	case HW_PER_HOST:
		return p ? p->host : hca ? hca->host : SEG_NONE;
	case HW_PER_PROCESS:
		return p ? (uint64_t)p->gen << 32 | m->end[0].proc : SEG_NONE;
	case HW_PER_QP:
		return m->end[0].qp ? m->end[0].qpn : SEG_NONE;
	default:
		return 0;
	}
}

/* Counts the moment: its number, from 1. Without room for one more count the last ones share it. */
static uint64_t number(const struct seg *s, struct hw_fault *f, const struct fault_moment *m)
{
	uint64_t key = whose(s, f, m) + 1, n = atomic_fetch_add(&f->seen, 1) + 1;

	if (f->when.per == HW_PER_FABRIC)
		return n;
	for (uint32_t i = 0;; i++) {
		uint64_t was = 0;

		if (atomic_load(&f->own[i].key) == key || i == HW_FAULT_COUNTED - 1 ||
		    atomic_compare_exchange_strong(&f->own[i].key, &was, key) || was == key)
			return atomic_fetch_add(&f->own[i].seen, 1) + 1;
	}
}

static bool drawn(const struct hw_fault *f, uint64_t n)
{
	return !f->when.of_2_32 || (bits_mix(f->seed + n) & UINT32_MAX) < f->when.of_2_32;
}

static bool in_time(const struct seg *s, const struct hw_fault *f)
{
	if (f->when.after.moment && atomic_load(&f->after_seen) < f->when.after_n)
		return false;
	if (f->when.before.moment && atomic_load(&f->before_seen) >= f->when.before_n)
		return false;
	return !f->when.until_ns || clock_now_ns() - fab_subnet(s)->born < f->when.until_ns;
}

static bool mad_possible(const struct hw_fault_effect *e, const struct fault_moment *m)
{
	uint64_t v;

	/* A REQ's sender does not know its end of a connection that a REJ "timeout" names. */
	if (fault_does(e, FAULT_REJECT, &v))
		return m->id == CM_ATTR_REP || (m->id == CM_ATTR_REQ && v != CM_REJ_TIMEOUT);
	return m->answered || !fault_does(e, FAULT_MAD_STATUS, &v);
}

/* Can the effect happen to this message? */
static bool possible(const struct hw_fault_effect *e, const struct fault_moment *m)
{
	uint64_t v;

	if (m->at == HW_AT_CM || m->at == HW_AT_MAD)
		return mad_possible(e, m);
	if (m->at == HW_AT_RECV)
		return m->answered;
	if (fault_does(e, FAULT_DUPLICATED, &v))
		return !m->answered || m->sequenced;
	if (fault_does(e, FAULT_UNANSWERED, &v))
		return m->sequenced;
	if (fault_does(e, FAULT_CUT, &v))
		return v < m->packets;
	if (fault_does(e, FAULT_RNR, &v))
		return m->answered && m->received;
	if (fault_does(e, FAULT_NAK, &v))
		return v == PKT_SYND_NAK_SEQUENCE ? m->sequenced : m->answered;
	if (!fault_does(e, FAULT_WC, &v))
		return true;
	if (v == IBV_WC_RNR_RETRY_EXC_ERR)
		return m->answered && m->received;
	return m->answered || v == IBV_WC_LOC_LEN_ERR || v == IBV_WC_LOC_QP_OP_ERR ||
	       v == IBV_WC_LOC_PROT_ERR || v == IBV_WC_MW_BIND_ERR;
}

/* Its next repeats are lost, too. Of more messages than there is room for the oldest arrives. */
static void keep_losing(struct hw_fault *f, const struct fault_moment *m, uint64_t fired)
{
	uint64_t times, i = fired % HW_FAULT_LOSING;

	if (!fault_does(&f->does, FAULT_MAD_LOST, &times) || times < 2)
		return;
	atomic_store(&f->losing[i].left, 0);
	atomic_store(&f->losing[i].message, m->message);
	atomic_store(&f->losing[i].left, times - 1);
}

/* A message that is repeated. Is that lost again? */
static bool loses(struct hw_fault *f, const struct fault_moment *m)
{
	for (uint32_t i = 0; i < HW_FAULT_LOSING; i++) {
		uint64_t left = atomic_load(&f->losing[i].left);

		if (f->sel.moment != m->at || atomic_load(&f->losing[i].message) != m->message)
			continue;
		while (left)
			if (atomic_compare_exchange_weak(&f->losing[i].left, &left, left - 1))
				return true;
	}
	return false;
}

/* Counts the moment, if it fits. `free`: no other rule fires at it. */
static bool fires(const struct seg *s, struct hw_fault *f, const struct fault_moment *m, bool free)
{
	uint64_t n, fired;

	if (!sel_fits(s, &f->sel, m) || !in_time(s, f) ||
	    ((m->at == HW_AT_WR || m->at == HW_AT_RECV) && !possible(&f->does, m)))
		return false;
	n = number(s, f, m);
	if (!free)
		return false;
	if (n < f->when.first || n > f->when.last || (n - f->when.first) % f->when.step ||
	    !drawn(f, n))
		return false;
	fired = atomic_load(&f->fired);
	do
		if (f->when.budget && fired >= f->when.budget)
			return false;
	while (!atomic_compare_exchange_weak(&f->fired, &fired, fired + 1));
	keep_losing(f, m, fired);
	return true;
}

#define ACT_PATIENCE_NS (10 * NSEC_PER_SEC) /* for a supervisor that is stopped */

/*
 * The event of an act has come: the supervisor does it. A process that is meant goes no further
 * until then. It gets its signal here; if it sent one to itself, that might come behind SIGCONT.
 */
static void act(struct seg *s, struct hw_fault *f, const struct fault_end *e)
{
	bool mine =
		f->sel.moment == HW_ACT_PROCESS && e->proc != SEG_NONE && end_fits(s, &f->sel, e);
	const struct seg_proc *p = mine ? seg_proc(s, e->proc) : NULL;
	const struct timespec nap = {.tv_nsec = (long)NSEC_PER_MSEC / 10};
	uint64_t end = clock_now_ns() + ACT_PATIENCE_NS;

	if (p)
		atomic_store(&f->whose, (uint64_t)p->gen << 32 | (e->proc + 1));
	atomic_store(&f->due, 1);
	link_sweep(s); /* its loop looks for what is due */
	while (p && e->proc == s->self && !s->super && !atomic_load(&f->done) &&
	       clock_now_ns() < end)
		sys_raw(SYS_nanosleep, (long)&nap, 0, 0, 0, 0, 0);
}

void fault_fired(const struct seg *s, const struct hw_fault *f)
{
	TRACE(LOG_INJECT, "fired: %s", f->text);
	if (cap_on(s))
		cap_rule(s, f->text);
}

/* The moment is an event of the rule's conditions. */
static void note_event(struct seg *s, struct hw_fault *f, const struct fault_moment *m)
{
	if (sel_fits(s, &f->when.after, m) &&
	    atomic_fetch_add(&f->after_seen, 1) + 1 == f->when.after_n &&
	    f->sel.moment >= HW_MOMENTS)
		act(s, f, &m->end[0]);
	if (sel_fits(s, &f->when.before, m))
		atomic_fetch_add(&f->before_seen, 1);
}

/* The cable sends one message after the other: when this one is sent. */
static uint64_t sent_at(struct hw_fault *f, uint64_t from, uint64_t bytes)
{
	uint64_t rate, was = atomic_load(&f->busy), end;

	if (!fault_does(&f->does, FAULT_RATE, &rate))
		return from;
	do
		end = (was > from ? was : from) +
		      (uint64_t)((unsigned __int128)bytes * 8 * NSEC_PER_SEC / rate);
	while (!atomic_compare_exchange_weak(&f->busy, &was, end));
	return end;
}

uint64_t fault_cable(struct seg *s, const struct fault_moment *m, uint64_t from, uint32_t times)
{
	seg_for_each_live (s, SEG_T_FAULT, i) {
		struct hw_fault *f = hw_fault(s, i);
		uint64_t latency = 0;

		if (!f)
			continue;
		if (fires(s, f, m, true)) {
			fault_does(&f->does, FAULT_LATENCY, &latency);
			from = sent_at(f, from, m->size) + times * latency;
			fault_fired(s, f);
		}
		note_event(s, f, m);
	}
	return from;
}

bool fault_acts(const struct seg *s)
{
	seg_for_each_live (s, SEG_T_FAULT, i) {
		const struct hw_fault *f = hw_fault(s, i);

		if (f && f->sel.moment >= HW_MOMENTS)
			return true;
	}
	return false;
}

bool fault_hit(struct seg *s, const struct fault_moment *m, struct hw_fault_effect *e)
{
	bool hit = false;

	seg_for_each_live (s, SEG_T_FAULT, i) {
		struct hw_fault *f = hw_fault(s, i);
		uint32_t gen = f ? f->gen : 0;

		if (!f)
			continue;
		if (m->again) {
			if (!hit && loses(f, m)) {
				*e = f->does;
				hit = true;
			}
			continue;
		}
		if (fires(s, f, m, !hit)) {
			*e = f->does;
			/* Unless it was just removed, and another one is there. */
			hit = hw_fault(s, i) == f && f->gen == gen;
			if (hit)
				fault_fired(s, f);
		}
		note_event(s, f, m);
	}
	return hit;
}

bool fault_does(const struct hw_fault_effect *e, enum fault_what w, uint64_t *value)
{
	for (uint32_t i = 0; i < e->n; i++)
		if (e->what[i] == w) {
			*value = e->value[i];
			return true;
		}
	return false;
}

void fault_set_waits(struct seg *s)
{
	uint32_t bits = 0;

	seg_for_each_live (s, SEG_T_FAULT, i) {
		const struct hw_fault *f = hw_fault(s, i);

		if (f)
			bits |= (f->sel.moment < HW_MOMENTS ? 1u << f->sel.moment : 0) |
				1u << f->when.after.moment | 1u << f->when.before.moment;
	}
	atomic_store(&s->hdr->faults, bits & ~(1u << HW_AT_NEVER));
}

int fault_call(struct seg *s, enum hw_moment at, const char *name, uint32_t hca)
{
	const struct fault_moment m = {
		.at = at,
		.name = name,
		.end = {{.proc = s->self, .hca = hca}, {.proc = SEG_NONE, .hca = SEG_NONE}}};
	struct hw_fault_effect e;
	uint64_t err;

	return fault_hit(s, &m, &e) && fault_does(&e, FAULT_ERROR, &err) ? -(int)err : 0;
}
