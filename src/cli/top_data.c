/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the samples of `softhca top`. It reads what the segment holds anyway: counters of ports,
 * uses of adapters, indices and sequence numbers of queue pairs; the data path does nothing for it.
 */
#include "cli/top.h"

#include <stdlib.h>
#include <string.h>
#include "fabric/fabric.h"
#include "hw/cq.h"
#include "hw/flags.h"
#include "hw/hca.h"
#include "hw/port.h"
#include "hw/qp.h"
#include "hw/service.h"
#include "hw/use.h"
#include "segment/proc.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "wire/prm/prm.h"

#define PSN_MASK 0xffffffu

static void *grow(void *at, size_t n, size_t size)
{
	/* Grow when n is a power of two: the array's size doubles each time. */
	return n & (n - 1) ? at : reallocarray(at, n ? 2 * n : 1, size);
}

/* ---- ports */

static uint64_t errors_of(const struct fab_counters *c)
{
	static const enum hw_ctr kinds[] = {
		HW_CTR_XMIT_DISCARDS, HW_CTR_XMIT_CONSTRAINT, HW_CTR_RCV_ERRORS,
		HW_CTR_RCV_RELAY,     HW_CTR_RCV_CONSTRAINT,  HW_CTR_VL15_DROPPED,
		HW_CTR_SYMBOL,        HW_CTR_RECOVERY,        HW_CTR_DOWNED,
	};
	uint64_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		n += c->n[kinds[i]];
	return n;
}

static bool host_has_programs(const struct seg *s, uint32_t host)
{
	seg_for_each_live (s, SEG_T_PROC, i) {
		const struct seg_proc *p = seg_proc(s, i);

		if (p && p->host == host && atomic_load(&p->state) == SEG_PROC_LIVE)
			return true;
	}
	return false;
}

static void read_port(struct seg *s, const struct hw_port *p, uint32_t idx, struct top_port *out)
{
	const struct hw_hca *hca = hw_hca(s, p->hca);
	struct fab_counters c;

	fab_port_counters(s, idx, &c);
	*out = (struct top_port){
		.idx = idx,
		.state = atomic_load(&p->state),
		.lid = atomic_load(&p->lid),
		.eth = hw_port_is_eth(p),
		.sent.n = c.n[HW_CTR_XMIT_PKTS],
		.received.n = c.n[HW_CTR_RCV_PKTS],
		.out.n = c.n[HW_CTR_XMIT_DATA] * 4,
		.in.n = c.n[HW_CTR_RCV_DATA] * 4,
		.errors.n = errors_of(&c),
	};
	fab_port_name(s, idx, out->name);
	out->used = out->sent.n || out->received.n || (hca && host_has_programs(s, hca->host));
}

static bool read_ports(struct seg *s, struct top_sample *out)
{
	seg_for_each_live (s, SEG_T_PORT, i) {
		const struct hw_port *p = hw_port(s, i);
		struct top_port *at;

		if (!p || p->hca == SEG_NONE)
			continue;
		at = grow(out->ports, out->nports, sizeof(*at));
		if (!at)
			return false;
		out->ports = at;
		read_port(s, p, i, &at[out->nports]);
		out->sent.n += at[out->nports].sent.n;
		out->out.n += at[out->nports].out.n;
		out->nports++;
	}
	return true;
}

/* ---- queue pairs */

static const char *waits_for(uint32_t park)
{
	return park == HW_PARK_RNR                           ? "receiver"
	       : park == HW_PARK_RETRY                       ? "answer"
	       : park == HW_PARK_LOCK                        ? "lock"
	       : park == HW_PARK_LATE || park == HW_PARK_NAK ? "--inject"
							     : "";
}

static void read_owner(const struct seg *s, uint32_t qpn, struct top_qp *out)
{
	uint32_t owner = seg_owner(s, SEG_T_QP, qpn);
	const struct seg_file *f = owner == SEG_OWNER_FREE || owner == SEG_OWNER_DEVICE
					   ? NULL
					   : seg_file(s, owner - 1);
	const struct seg_proc *p = f ? seg_proc(s, f->opener) : NULL;

	if (!p || p->gen != f->opener_gen)
		return;
	out->pid = p->pid;
	memcpy(out->comm, p->comm, sizeof(out->comm) - 1);
}

static void read_qp(const struct seg *s, const struct hw_qp *qp, uint32_t qpn, struct top_qp *out)
{
	const struct hw_hca *hca = hw_hca(s, qp->hca);
	const struct hw_host *host = hca ? seg_live(s, SEG_T_HOST, hca->host) : NULL;
	uint32_t state = atomic_load(&qp->state);
	const char *name = prm_value_name(&layout_qpc, LF_qpc_state_BIT, state);
	const struct hw_service *sv = hw_service(qp->st);
	char device[FAB_HCA_NAME];

	*out = (struct top_qp){
		.qpn = qpn,
		.gen = qp->gen,
		.type = sv->name,
		.state = name ? name : "?",
		.waits = waits_for(atomic_load(&qp->park)),
		.bad = state == PRM_QP_STATE_ERR || state == PRM_QP_STATE_SQER,
		.counts = sv->connected,
		.send_psn = qp->next_send_psn,
		.rcv_psn = qp->next_rcv_psn,
		.depth = (atomic_load(&qp->sq_pi) - atomic_load(&qp->sq_ci)) & 0xffff,
		.size = qp->no_sq || !sv->made ? 0 : 1u << qp->sq_log_size,
	};
	if (host)
		snprintf(out->hca, sizeof(out->hca), "%s/%s", host->name,
			 fab_hca_name(s, hca, device));
	read_owner(s, qpn, out);
}

static bool read_qps(struct seg *s, struct top_sample *out)
{
	seg_for_each_live (s, SEG_T_QP, i) {
		const struct hw_qp *qp = hw_qp(s, i);
		struct top_qp *at;

		if (!qp || !hw_in_service(&qp->flags))
			continue;
		at = grow(out->qps, out->nqps, sizeof(*at));
		if (!at)
			return false;
		out->qps = at;
		read_qp(s, qp, i, &at[out->nqps++]);
	}
	return true;
}

/* ---- the fabric */

static bool read_causes(const struct seg *s, struct top_sample *out)
{
	seg_for_each_live (s, SEG_T_HCA, i) {
		const struct hw_tolds *t = hw_tolds(s, i);
		const struct hw_told *e;
		unsigned int at = 0;

		for (unsigned int k = 0; k < HW_TOLD_COUNT; k++)
			out->told[k] += atomic_load(&t->n[k]);
		while ((e = hw_told_next(t, &at))) {
			struct top_cause *c = grow(out->causes, out->ncauses, sizeof(*c));

			if (!c)
				return false;
			out->causes = c;
			c += out->ncauses++;
			c->n = atomic_load(&e->n);
			c->is_error = e->kind != HW_TOLD_LEFT;
			snprintf(c->text, sizeof(c->text), "%s: %s", hw_told_words[e->kind],
				 e->text);
		}
	}
	return true;
}

static void read_uses(const struct seg *s, struct top_sample *out)
{
	seg_for_each_live (s, SEG_T_HCA, i) {
		const struct hw_use *u = hw_use(s, i);

		out->commands.n += atomic_load(&u->commands);
		for (unsigned int k = 0; k < HW_USE_STATUSES; k++)
			out->refused += atomic_load(&u->refused[k]);
		out->calls_refused += atomic_load(&u->calls_refused);
		for (unsigned int k = 0; k < HW_USE_SYNDROMES; k++)
			out->errors[k] += atomic_load(&u->errors[k]);
	}
	seg_for_each_live (s, SEG_T_PROC, i) {
		const struct seg_proc *p = seg_proc(s, i);

		if (!p || atomic_load(&p->state) != SEG_PROC_LIVE || p->host == SEG_NONE)
			continue;
		out->processes++;
		for (unsigned int k = 0; k < SEG_RINGS; k++)
			out->doorbells.n += atomic_load(&p->ring[k].rung);
	}
	seg_for_each_live (s, SEG_T_CQ, i) {
		const struct hw_cq *cq = hw_cq(s, i);

		if (!cq || !hw_in_service(&cq->flags))
			continue;
		out->cqs++;
		out->cqs_bad += hw_cq_error(cq) != 0;
	}
}

/* ---- rates */

static void rate(struct top_count *now, const struct top_count *before, double seconds)
{
	/* A process that has ended took its doorbells along. */
	if (seconds > 0 && now->n >= before->n)
		now->rate = (double)(now->n - before->n) / seconds;
}

/* Both arrays are in the order of the tables. */
static void port_rates(struct top_sample *now, const struct top_sample *before, double seconds)
{
	for (size_t i = 0, k = 0; i < now->nports; i++) {
		struct top_port *p = &now->ports[i];
		const struct top_port *q;

		while (k < before->nports && before->ports[k].idx < p->idx)
			k++;
		if (k == before->nports || before->ports[k].idx != p->idx)
			continue;
		q = &before->ports[k];
		rate(&p->sent, &q->sent, seconds);
		rate(&p->received, &q->received, seconds);
		rate(&p->out, &q->out, seconds);
		rate(&p->in, &q->in, seconds);
		rate(&p->errors, &q->errors, seconds);
	}
}

/* How far a PSN has advanced. A step back means that the program set it anew: 0. */
static uint32_t moved(uint32_t from, uint32_t to)
{
	uint32_t by = (to - from) & PSN_MASK;

	return by <= PSN_MASK / 2 ? by : 0;
}

/* Sums what the sequence numbers, which wrap at 2^24, have moved on since the sample before. */
static void qp_rates(struct top_sample *now, const struct top_sample *before, double seconds)
{
	for (size_t i = 0, k = 0; i < now->nqps; i++) {
		struct top_qp *p = &now->qps[i];
		const struct top_qp *q;

		while (k < before->nqps && before->qps[k].qpn < p->qpn)
			k++;
		if (!p->counts || k == before->nqps || before->qps[k].qpn != p->qpn ||
		    before->qps[k].gen != p->gen || before->qps[k].state != p->state)
			continue;
		q = &before->qps[k];
		p->sent.n = q->sent.n + moved(q->send_psn, p->send_psn);
		p->received.n = q->received.n + moved(q->rcv_psn, p->rcv_psn);
		rate(&p->sent, &q->sent, seconds);
		rate(&p->received, &q->received, seconds);
	}
}

static int by_idx(const void *a, const void *b)
{
	uint32_t x = ((const struct top_port *)a)->idx, y = ((const struct top_port *)b)->idx;

	return (x > y) - (x < y);
}

static int by_qpn(const void *a, const void *b)
{
	uint32_t x = ((const struct top_qp *)a)->qpn, y = ((const struct top_qp *)b)->qpn;

	return (x > y) - (x < y);
}

bool top_sample(struct seg *s, struct top_sample *before, struct top_sample *out)
{
	double seconds;

	*out = (struct top_sample){.ns = clock_now_ns()};
	if (!read_ports(s, out) || !read_qps(s, out) || !read_causes(s, out)) {
		top_sample_free(out);
		return false;
	}
	read_uses(s, out);
	if (!before || !before->ns)
		return true;
	/* A page may have sorted them otherwise. */
	qsort(before->ports, before->nports, sizeof(*before->ports), by_idx);
	qsort(before->qps, before->nqps, sizeof(*before->qps), by_qpn);
	seconds = (double)(out->ns - before->ns) / (double)NSEC_PER_SEC;
	port_rates(out, before, seconds);
	qp_rates(out, before, seconds);
	rate(&out->sent, &before->sent, seconds);
	rate(&out->out, &before->out, seconds);
	rate(&out->doorbells, &before->doorbells, seconds);
	rate(&out->commands, &before->commands, seconds);
	return true;
}

void top_sample_free(struct top_sample *t)
{
	free(t->ports);
	free(t->qps);
	free(t->causes);
	*t = (struct top_sample){0};
}
