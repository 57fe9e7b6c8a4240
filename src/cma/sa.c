// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Owns requests to subnet administration that have no answer yet: real MADs from QP1 of a port to
 * its subnet manager's LID. resolve.c and mcast.c ask, cma.c brings the answers.
 */
#include "cma/priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "util/clock.h"

#define TID_HIGH ((uint64_t)CM_KERNEL_TID)
#define SA_VERSION 2
#define RETRIES 10 /* send_mad(): the query's timeout is divided among them */

struct cma_query {
	TAILQ_ENTRY(cma_query) at;
	struct cma_timer timer;
	uint32_t port, tid, retries;
	uint64_t step; /* ns between two of them */
	cma_sa_done *done;
	void *arg;
	uint8_t mad[MAD_SIZE];
};

static struct cma_queries *chain(struct cma *c, uint32_t tid)
{
	return &c->query[tid % CMA_QUERIES];
}

static void forget(struct cma *c, struct cma_query *q)
{
	cma_timer_stop(c, &q->timer);
	TAILQ_REMOVE(chain(c, q->tid), q, at);
	free(q);
}

static void finish(struct cma *c, struct cma_query *q, int status, const uint8_t *record)
{
	cma_sa_done *done = q->done;
	void *arg = q->arg;

	forget(c, q);
	done(arg, status, record);
}

static void send_query(struct cma *c, const struct cma_query *q, bool repeat)
{
	const struct hw_port *p = hw_port(c->s, q->port);
	struct cm_pkt k = {.port = q->port, .qpn = 1, .again = repeat};
	int pkey = cma_pkey_index(c->s, q->port, 0xffff);

	if (!p)
		return;
	k.dlid = (uint16_t)p->sm_lid;
	k.sl = (uint8_t)p->sm_sl;
	k.pkey_index = (uint16_t)(pkey < 0 ? 0 : pkey);
	memcpy(k.mad, q->mad, MAD_SIZE);
	cma_send(c, &k);
}

static void again(struct cma *c, struct cma_timer *t)
{
	struct cma_query *q = (struct cma_query *)((char *)t - offsetof(struct cma_query, timer));

	if (!q->retries) {
		finish(c, q, -ETIMEDOUT, NULL);
		return;
	}
	q->retries--;
	cma_timer_set(c, t, cma_now(c) + q->step);
	send_query(c, q, true);
}

static void fill(struct cma_query *q, const struct cma_sa_request *r)
{
	uint8_t *m = q->mad;

	LAYOUT_SET(mad_hdr, m, base_version, MAD_BASE_VERSION);
	LAYOUT_SET(mad_hdr, m, mgmt_class, MAD_CLASS_SA);
	LAYOUT_SET(mad_hdr, m, class_version, SA_VERSION);
	LAYOUT_SET(mad_hdr, m, method, r->method);
	LAYOUT_SET(mad_hdr, m, tid, TID_HIGH << 32 | q->tid);
	LAYOUT_SET(mad_hdr, m, attr_id, r->attr);
	LAYOUT_SET(sa_hdr, m, comp_mask, r->mask);
	memcpy(m + SA_DATA, r->record, r->len);
}

int cma_sa_ask(struct cma *c, const struct cma_sa_request *r, struct cma_query **out)
{
	const struct hw_port *p = hw_port(c->s, r->port);
	uint32_t ms = r->timeout_ms / RETRIES;
	struct cma_query *q;

	if (!p || !p->sm_lid)
		return -EAGAIN; /* alloc_mad() */
	q = calloc(1, sizeof(*q));
	if (!q)
		return -ENOMEM;
	q->timer.fn = again;
	q->port = r->port;
	q->tid = c->next_tid++;
	q->done = r->done;
	q->arg = r->arg;
	q->retries = ms ? RETRIES : r->timeout_ms;
	q->step = (ms ? ms : 1) * NSEC_PER_MSEC;
	fill(q, r);
	if (cma_timer_set(c, &q->timer, cma_now(c) + q->step)) {
		free(q);
		return -ENOMEM;
	}
	TAILQ_INSERT_TAIL(chain(c, q->tid), q, at);
	*out = q;
	send_query(c, q, false);
	return 0;
}

void cma_sa_cancel(struct cma *c, struct cma_query *q)
{
	if (q)
		forget(c, q);
}

/* ib_find_send_mad(): is this MAD the answer to the query, at the port that sent it? */
static bool answers(const struct cma_query *q, const struct cm_pkt *p)
{
	uint64_t asked = LAYOUT_GET(mad_hdr, q->mad, method);
	uint64_t method = LAYOUT_GET(mad_hdr, p->mad, method);

	if (asked == MAD_METHOD_SET)
		asked = MAD_METHOD_GET; /* GetResp answers a Set, too */
	return p->port == q->port && method == (asked | MAD_METHOD_RESP) &&
	       LAYOUT_GET(mad_hdr, p->mad, attr_id) == LAYOUT_GET(mad_hdr, q->mad, attr_id);
}

void cma_sa_arrived(struct cma *c, const struct cm_pkt *p)
{
	uint64_t tid = LAYOUT_GET(mad_hdr, p->mad, tid);
	struct cma_query *q;

	if (tid >> 32 != TID_HIGH)
		return;
	TAILQ_FOREACH(q, chain(c, (uint32_t)tid), at)
	{
		if (q->tid != (uint32_t)tid || !answers(q, p))
			continue;
		finish(c, q, LAYOUT_GET(mad_hdr, p->mad, status) ? -EINVAL : 0, p->mad + SA_DATA);
		return;
	}
}

void cma_sa_free(struct cma *c)
{
	for (uint32_t i = 0; i < CMA_QUERIES; i++)
		while (!TAILQ_EMPTY(&c->query[i]))
			forget(c, TAILQ_FIRST(&c->query[i]));
}

uint32_t cma_sa_count(const struct cma *c)
{
	const struct cma_query *q;
	uint32_t n = 0;

	for (uint32_t i = 0; i < CMA_QUERIES; i++)
		TAILQ_FOREACH(q, &c->query[i], at)
	n++;
	return n;
}
