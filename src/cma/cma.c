// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Owns struct cma and its turns: works, deadlines, arriving MADs and changes of the fabric, one
 * after the other. The supervisor calls it (cma.h); below are the other files and src/cm.
 */
#include "cma/priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include "util/clock.h"

#define ACK_DELAY 16 /* local_ca_ack_delay of every model (fw/caps.c) */

/* ---- works */

void cma_work_put(struct cma *c, struct cma_work *w)
{
	if (w->queued)
		return;
	w->queued = true;
	TAILQ_INSERT_TAIL(&c->works, w, at);
}

void cma_work_drop(struct cma *c, struct cma_work *w)
{
	if (!w->queued)
		return;
	w->queued = false;
	TAILQ_REMOVE(&c->works, w, at);
}

static void run_works(struct cma *c)
{
	struct cma_work *w;

	while ((w = TAILQ_FIRST(&c->works))) {
		cma_work_drop(c, w);
		w->fn(c, w);
	}
}

/* ---- deadlines: a heap */

static void place(struct cma *c, uint32_t pos, struct cma_timer *t)
{
	c->heap[pos] = t;
	t->pos = pos;
}

static void sift(struct cma *c, uint32_t pos, struct cma_timer *t)
{
	for (; pos > 1 && c->heap[pos / 2]->due > t->due; pos /= 2)
		place(c, pos, c->heap[pos / 2]);
	for (uint32_t kid; (kid = 2 * pos) <= c->ntimers; pos = kid) {
		if (kid < c->ntimers && c->heap[kid + 1]->due < c->heap[kid]->due)
			kid++;
		if (c->heap[kid]->due >= t->due)
			break;
		place(c, pos, c->heap[kid]);
	}
	place(c, pos, t);
}

int cma_timer_set(struct cma *c, struct cma_timer *t, uint64_t due)
{
	t->due = due;
	if (t->pos) {
		sift(c, t->pos, t);
		return 0;
	}
	if (c->ntimers + 1 >= c->heap_room) {
		uint32_t room = c->heap_room ? 2 * c->heap_room : 64;
		struct cma_timer **heap = realloc(c->heap, room * sizeof(struct cma_timer *));

		if (!heap)
			return -ENOMEM;
		c->heap = heap;
		c->heap_room = room;
	}
	c->ntimers++;
	sift(c, c->ntimers, t);
	return 0;
}

void cma_timer_stop(struct cma *c, struct cma_timer *t)
{
	uint32_t pos = t->pos;
	struct cma_timer *last;

	if (!pos)
		return;
	t->pos = 0;
	last = c->heap[c->ntimers--];
	if (last != t)
		sift(c, pos, last);
}

static void run_timers(struct cma *c)
{
	uint64_t now = cma_now(c);

	while (c->ntimers && c->heap[1]->due <= now) {
		struct cma_timer *t = c->heap[1];

		cma_timer_stop(c, t);
		t->fn(c, t);
	}
}

/* ---- MADs */

struct arrival {
	struct cma_work work;
	struct cm_pkt pkt;
};

static void dispatch(struct cma *c, const struct cm_pkt *p)
{
	uint64_t mgmt_class = LAYOUT_GET(mad_hdr, p->mad, mgmt_class);

	if (mgmt_class == MAD_CLASS_CM)
		cm_arrived(c->cm, p);
	else if (mgmt_class == MAD_CLASS_SA)
		cma_sa_arrived(c, p);
}

static void arrive(struct cma *c, struct cma_work *w)
{
	struct arrival *a = (struct arrival *)((char *)w - offsetof(struct arrival, work));

	dispatch(c, &a->pkt);
	free(a);
}

/*
 * A MAD may arrive while cma_send() is running. It is then queued for the next run_works(). If
 * there is no memory for that, the MAD is lost, as on a wire.
 */
void cma_arrived(struct cma *c, const struct cm_pkt *p)
{
	struct arrival *a;

	if (!c->sending) {
		run_works(c);
		dispatch(c, p);
		run_works(c);
		return;
	}
	a = calloc(1, sizeof(*a));
	if (!a)
		return;
	a->work.fn = arrive;
	a->pkt = *p;
	cma_work_put(c, &a->work);
}

void cma_send(struct cma *c, const struct cm_pkt *p)
{
	c->sending++;
	c->ops->send(c->ctx, p);
	c->sending--;
}

/* ---- for src/cm */

static void cm_op_send(void *ctx, const struct cm_pkt *p)
{
	cma_send(ctx, p);
}

static bool cm_op_port(void *ctx, uint32_t port, struct cm_port *out)
{
	struct cma *c = ctx;
	const struct hw_port *p = hw_port(c->s, port);
	const struct hw_hca *hca = p && p->hca != SEG_NONE ? hw_hca(c->s, p->hca) : NULL;

	if (!hca)
		return false;
	*out = (struct cm_port){
		.host = hca->host,
		.hca = p->hca,
		.num = p->num,
		.ca_guid = hca->node_guid,
		.lid = (uint16_t)p->lid,
		.lmc = (uint8_t)p->lmc,
		.ack_delay = ACK_DELAY,
		.active = p->state == IB_PORT_ACTIVE,
		.pkey = p->pkey,
		.npkeys = hw_port_pkeys(p),
		.eth = hw_port_is_eth(p),
	};
	memcpy(out->gid, p->gid[0], 16);
	return true;
}

static uint32_t cm_op_find_gid(void *ctx, uint32_t host, const uint8_t gid[16])
{
	return cma_port_by_gid(((struct cma *)ctx)->s, host, gid);
}

static uint64_t cm_op_now(void *ctx)
{
	return cma_now(ctx);
}

static const struct cm_ops cm_ops = {cm_op_send, cm_op_port, cm_op_find_gid, cm_op_now};

/* ---- struct cma */

uint64_t cma_now(const struct cma *c)
{
	return c->ops->now(c->ctx);
}

/* xorshift64*: ports and PSNs, nothing secret. */
uint32_t cma_random(struct cma *c, uint32_t below)
{
	c->random ^= c->random >> 12;
	c->random ^= c->random << 25;
	c->random ^= c->random >> 27;
	return (uint32_t)((c->random * UINT64_C(0x2545f4914f6cdd1d)) >> 32) % below;
}

struct cma_dev *cma_dev_of(struct cma *c)
{
	return c->dev;
}

struct cma *cma_new(struct seg *s, const struct cma_ops *ops, void *ctx)
{
	struct cma *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->s = s;
	c->ops = ops;
	c->ctx = ctx;
	TAILQ_INIT(&c->works);
	TAILQ_INIT(&c->ids);
	for (uint32_t i = 0; i < CMA_BINDS; i++)
		TAILQ_INIT(&c->bind[i]);
	for (uint32_t i = 0; i < CMA_QUERIES; i++)
		TAILQ_INIT(&c->query[i]);
	for (uint32_t i = 0; i < CMA_GROUPS; i++)
		TAILQ_INIT(&c->group[i]);
	if (getrandom(&c->random, sizeof(c->random), 0) != (ssize_t)sizeof(c->random))
		c->random = clock_now_ns();
	c->random |= 1;
	c->next_tid = cma_random(c, UINT32_MAX);
	c->cm = cm_new(&cm_ops, c);
	c->dev = c->cm ? cma_dev_new(c, s, ops, ctx) : NULL;
	if (c->dev)
		return c;
	cma_free(c);
	return NULL;
}

void cma_free(struct cma *c)
{
	struct cma_work *w;

	if (!c)
		return;
	cma_dev_free(c->dev);
	/* The children of an id (one per adapter) are destroyed with it. */
	while (!TAILQ_EMPTY(&c->ids))
		cma_id_destroy(TAILQ_FIRST(&c->ids));
	cma_groups_free(c);
	cma_sa_free(c);
	cma_news_free(c);
	if (c->cm)
		cm_free(c->cm);
	/* Works that still wait here are arrived MADs, which have no other owner. */
	while ((w = TAILQ_FIRST(&c->works))) {
		cma_work_drop(c, w);
		free((char *)w - offsetof(struct arrival, work));
	}
	free(c->heap);
	free(c);
}

uint64_t cma_run_due(struct cma *c)
{
	uint64_t next;

	cma_news_look(c);
	do {
		run_works(c);
		run_timers(c);
		run_works(c);
		next = cm_run_due(c->cm);
	} while (!TAILQ_EMPTY(&c->works));
	dev_queue_fresh(cma_dev_of(c));
	return c->ntimers && c->heap[1]->due < next ? c->heap[1]->due : next;
}

/* ---- the fabric changes */

/* cma_process_remove(). */
static void hca_gone(struct cma *c, uint32_t hca)
{
	struct cma_id *id;

	TAILQ_FOREACH(id, &c->ids, at)
	if (id->hca == hca)
		cma_work_put(c, &id->gone);
}

/* cma_process_add_one()... of cma_add_one(): listeners on all adapters listen on this one, too. */
static void hca_came(struct cma *c, uint32_t hca)
{
	struct cma_id *id;

	TAILQ_FOREACH(id, &c->ids, at)
	if (id->state == CMA_LISTEN && !id->parent && id->hca == SEG_NONE &&
	    id->host == hw_hca(c->s, hca)->host)
		cma_listen_on(id, hca);
}

void cma_port_event(struct cma *c, uint32_t port)
{
	const struct hw_port *p = seg_at(c->s, SEG_T_PORT, port);

	if (!p)
		return;
	if (p->hca != SEG_NONE && !hw_hca_is_in(c->s, p->hca))
		hca_gone(c, p->hca);
	else if (p->hca != SEG_NONE)
		hca_came(c, p->hca);
	dev_changed_all(cma_dev_of(c));
	cma_resolve_again(c);
}
