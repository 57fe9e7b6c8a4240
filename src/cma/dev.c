// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Open files of the rdma_cm character device, their ids and the events that wait in them. Calls
 * id.h below; the supervisor calls it by cma.h, and dev_cmd*.c by dev.h.
 */
#include "cma/dev.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <infiniband/verbs.h>
#include "segment/slot.h"
#include "util/bug.h"

/* ---- numbers */

static int ids_grow(struct dev_ids *t)
{
	uint32_t room = t->room ? t->room * 2 : 64;
	void **slot;
	uint64_t *used;

	if (room < t->room)
		return -ENOMEM;
	slot = realloc(t->slot, room * sizeof(*slot));
	if (!slot)
		return -ENOMEM;
	t->slot = slot;
	used = realloc(t->used, room / 64 * sizeof(*used));
	if (!used)
		return -ENOMEM;
	t->used = used;
	memset(slot + t->room, 0, (room - t->room) * sizeof(*slot));
	memset(used + t->room / 64, 0, (room - t->room) / 64 * sizeof(*used));
	t->room = room;
	return 0;
}

int dev_ids_take(struct dev_ids *t, uint32_t *id)
{
	while (t->low < t->room / 64 && t->used[t->low] == UINT64_MAX)
		t->low++;
	if (t->low == t->room / 64 && ids_grow(t))
		return -ENOMEM;
	*id = t->low * 64 + (uint32_t)__builtin_ctzll(~t->used[t->low]);
	t->used[t->low] |= UINT64_C(1) << *id % 64;
	return 0;
}

void dev_ids_set(struct dev_ids *t, uint32_t id, void *p)
{
	t->slot[id] = p;
}

void *dev_ids_get(const struct dev_ids *t, uint32_t id)
{
	return id < t->room ? t->slot[id] : NULL;
}

void dev_ids_drop(struct dev_ids *t, uint32_t id)
{
	t->slot[id] = NULL;
	t->used[id / 64] &= ~(UINT64_C(1) << id % 64);
	if (id / 64 < t->low)
		t->low = id / 64;
}

static void dev_ids_finish(struct dev_ids *t)
{
	free(t->slot);
	free(t->used);
	*t = (struct dev_ids){0};
}

/* ---- files */

/* Grows an array of pointers until it has an element `i`. */
static int array_reach(void *array, uint32_t *n, uint32_t i)
{
	void **old = *(void ***)array, **v;
	uint32_t want = i + 1 > 2 * *n ? i + 1 : 2 * *n;

	if (i < *n)
		return 0;
	v = realloc(old, want * sizeof(*v));
	if (!v)
		return -ENOMEM;
	memset(v + *n, 0, (want - *n) * sizeof(*v));
	*(void ***)array = v;
	*n = want;
	return 0;
}

static struct dev_host *host_get(struct cma_dev *d, uint32_t host)
{
	if (array_reach(&d->host, &d->nhost, host))
		return NULL;
	if (!d->host[host])
		d->host[host] = calloc(1, sizeof(*d->host[host]));
	return d->host[host];
}

struct dev_file *dev_file_of(const struct cma_dev *d, uint32_t file)
{
	return file < d->nfile ? d->file[file] : NULL;
}

/* ucma_open() */
int cma_file_open(struct cma *c, uint32_t file, uint32_t host, uint32_t pid, const char *comm)
{
	struct cma_dev *d = cma_dev_of(c);
	struct dev_host *h;
	struct dev_file *f;

	if (file >= seg_table(d->s, SEG_T_FILE)->capacity ||
	    host >= seg_table(d->s, SEG_T_HOST)->capacity || BUG_ON(dev_file_of(d, file)))
		return -EINVAL;
	h = host_get(d, host);
	if (!h || array_reach(&d->file, &d->nfile, file))
		return -ENOMEM;
	f = calloc(1, sizeof(*f));
	if (!f)
		return -ENOMEM;
	f->dev = d;
	f->host = h;
	f->file = file;
	f->host_index = host;
	f->pid = pid;
	strncpy(f->comm, comm, sizeof(f->comm) - 1);
	TAILQ_INIT(&f->ctxs);
	TAILQ_INIT(&f->events);
	d->file[file] = f;
	return 0;
}

static void file_close(struct dev_file *f)
{
	struct dev_ctx *ctx;

	while ((ctx = TAILQ_FIRST(&f->ctxs)))
		dev_ctx_destroy(ctx);
	BUG_ON(!TAILQ_EMPTY(&f->events));
	if (f->fresh)
		TAILQ_REMOVE(&f->dev->fresh, f, in_fresh);
	f->dev->file[f->file] = NULL;
	free(f);
}

void cma_file_changes(struct cma *c, uint32_t file, _Atomic uint32_t *words)
{
	struct dev_file *f = dev_file_of(cma_dev_of(c), file);

	if (f)
		f->changes = words;
}

/* ucma_close() */
void cma_file_gone(struct cma *c, uint32_t file)
{
	struct dev_file *f = dev_file_of(cma_dev_of(c), file);

	if (f)
		file_close(f);
}

struct cma_dev *cma_dev_new(struct cma *c, struct seg *s, const struct cma_ops *ops, void *ctx)
{
	struct cma_dev *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->cma = c;
	d->s = s;
	d->ops = ops;
	d->ctx = ctx;
	TAILQ_INIT(&d->fresh);
	return d;
}

void cma_dev_free(struct cma_dev *d)
{
	if (!d)
		return;
	for (uint32_t i = 0; i < d->nfile; i++)
		if (d->file[i])
			file_close(d->file[i]);
	for (uint32_t i = 0; i < d->nhost; i++) {
		if (!d->host[i])
			continue;
		dev_ids_finish(&d->host[i]->ctx);
		dev_ids_finish(&d->host[i]->mc);
		free(d->host[i]);
	}
	free(d->file);
	free(d->host);
	free(d);
}

void cma_dev_count(const struct cma_dev *d, uint32_t *files, uint32_t *events)
{
	const struct dev_event *e;

	*files = *events = 0;
	for (uint32_t i = 0; i < d->nfile; i++) {
		if (!d->file[i])
			continue;
		++*files;
		TAILQ_FOREACH(e, &d->file[i]->events, in_file)
		++*events;
	}
}

/* ---- events */

static void set_fresh(struct dev_file *f)
{
	if (f->fresh)
		return;
	f->fresh = true;
	TAILQ_INSERT_TAIL(&f->dev->fresh, f, in_fresh);
}

static void event_queue(struct dev_event *e)
{
	struct dev_file *f = e->ctx->file;

	TAILQ_INSERT_TAIL(&f->events, e, in_file);
	TAILQ_INSERT_TAIL(&e->ctx->events, e, in_ctx);
	set_fresh(f);
}

void dev_event_forget(struct dev_event *e)
{
	TAILQ_REMOVE(&e->ctx->file->events, e, in_file);
	TAILQ_REMOVE(&e->ctx->events, e, in_ctx);
	if (e->conn)
		e->conn->request = NULL;
	free(e);
}

void dev_event_told(struct dev_event *e)
{
	e->ctx->events_reported++;
	if (e->mc)
		e->mc->events_reported++;
	if (e->resp.event == RDMA_CM_EVENT_CONNECT_REQUEST)
		e->ctx->backlog++;
	dev_event_forget(e);
}

bool dev_event_take_back(struct dev_event *e)
{
	const struct dev_file *f = e->ctx->file;

	if (e->ref && !f->dev->ops->drop(f->dev->ctx, f->file, e->ref)) {
		dev_event_told(e);
		return false;
	}
	e->ref = 0;
	return true;
}

/*
 * Takes back the newest first: if a reader takes some meanwhile, it gets the older ones, in order.
 */
void dev_events_take_back(struct dev_ctx *ctx, const struct dev_mc *mc)
{
	struct dev_event *e, *before;

	for (e = TAILQ_LAST(&ctx->events, dev_events); e; e = before) {
		before = TAILQ_PREV(e, dev_events, in_ctx);
		if (!mc || e->mc == mc)
			dev_event_take_back(e);
	}
}

static void count_taken(struct dev_file *f)
{
	struct dev_event *e;

	while ((e = TAILQ_FIRST(&f->events)) && e->ref && !f->dev->ops->waits(f->dev->ctx, e->ref))
		dev_event_told(e);
}

void dev_file_sync(struct dev_file *f)
{
	const struct dev_event *e;

	count_taken(f);
	e = TAILQ_LAST(&f->events, dev_events);
	if (e && !e->ref)
		set_fresh(f);
}

void dev_changed(const struct dev_file *f, uint32_t id)
{
	if (f->changes)
		atomic_fetch_add(&f->changes[id % SLOT_CHANGES], 1);
}

void dev_changed_all(struct cma_dev *d)
{
	for (uint32_t i = 0; i < d->nfile; i++)
		for (uint32_t n = 0; d->file[i] && n < SLOT_CHANGES; n++)
			dev_changed(d->file[i], n);
}

/* Queues an event with the answers that are valid now. */
static int queue_one(struct dev_file *f, struct dev_event *e)
{
	struct {
		struct ucma_event event;
		uint8_t ahead[UCMA_AHEAD_MAX];
	} u = {.event.resp = e->resp};
	size_t n = 0;

	if (f->changes) {
		u.event.changes = atomic_load(&f->changes[e->resp.id % SLOT_CHANGES]);
		n = dev_ahead(f, &e->resp, u.ahead, sizeof(u.ahead));
	}
	return f->dev->ops->push(f->dev->ctx, f->file, &u, sizeof(u.event) + n, &e->ref);
}

static void queue_file(struct dev_file *f)
{
	struct dev_event *e, *before;

	count_taken(f); /* a program that never writes commands still reads events */
	e = TAILQ_LAST(&f->events, dev_events);
	if (!e || e->ref)
		return;
	while ((before = TAILQ_PREV(e, dev_events, in_file)) && !before->ref)
		e = before;
	for (; e; e = TAILQ_NEXT(e, in_file)) {
		/*
		 * The queue is full. Stop, to keep the order: the reader will ask for this one
		 * next.
		 */
		if (queue_one(f, e)) {
			e->ref = 0;
			return;
		}
	}
}

void dev_queue_fresh(struct cma_dev *d)
{
	struct dev_file *f;

	while ((f = TAILQ_FIRST(&d->fresh))) {
		TAILQ_REMOVE(&d->fresh, f, in_fresh);
		f->fresh = false;
		queue_file(f);
	}
}

/* ucma_copy_conn_event() */
static void copy_conn(const struct cma_conn_param *p, struct rdma_ucm_conn_param *out)
{
	if (p->len && p->data)
		memcpy(out->private_data, p->data, p->len);
	out->private_data_len = p->len;
	out->responder_resources = p->responder_resources;
	out->initiator_depth = p->initiator_depth;
	out->flow_control = p->flow_control;
	out->retry_count = p->retry_count;
	out->rnr_retry_count = p->rnr_retry_count;
	out->srq = p->srq;
	out->qp_num = p->qpn;
}

/* ucma_copy_ud_event() */
static void copy_ud(const struct seg *s, uint32_t port, const struct cma_event *e,
		    struct rdma_ucm_ud_param *out)
{
	if (e->ud.len && e->ud.data)
		memcpy(out->private_data, e->ud.data, e->ud.len);
	out->private_data_len = e->ud.len;
	dev_ah_attr(s, port, &e->ud.path, e->ud.grh, &out->ah_attr);
	out->ah_attr.dlid = e->ud.dlid;
	out->ah_attr.port_num = e->ud.port_num;
	out->qp_num = e->ud.qpn;
	out->qkey = e->ud.qkey;
}

/*
 * The group that a multicast event is about. A join's context is the group's number, not a pointer,
 * because the event may be read after the group was left and freed (rdma_leave_multicast() of an
 * address leaves either of two joins to it).
 */
static struct dev_mc *event_mc(const struct dev_ctx *ctx, const struct cma_event *e)
{
	uintptr_t n = (uintptr_t)e->ud.context;
	struct dev_mc *mc = n ? dev_ids_get(&ctx->file->host->mc, (uint32_t)(n - 1)) : NULL;

	return mc && mc->ctx == ctx ? mc : NULL;
}

/* ucma_create_uevent(). NULL: the event is lost. */
static struct dev_event *event_new(struct dev_ctx *ctx, const struct cma_event *e)
{
	struct dev_event *u = calloc(1, sizeof(*u));

	if (!u)
		return NULL;
	u->ctx = ctx;
	u->resp.uid = ctx->uid;
	u->resp.id = ctx->id;
	if (e->event == RDMA_CM_EVENT_MULTICAST_JOIN || e->event == RDMA_CM_EVENT_MULTICAST_ERROR) {
		u->mc = event_mc(ctx, e);
		if (!u->mc) {
			free(u);
			return NULL;
		}
		u->resp.uid = u->mc->uid;
		u->resp.id = u->mc->id;
	}
	u->resp.event = e->event;
	u->resp.status = (uint32_t)e->status;
	if (cma_qp_type(ctx->cm_id) == IBV_QPT_UD)
		copy_ud(ctx->file->dev->s, cma_port(ctx->cm_id), e, &u->resp.param.ud);
	else
		copy_conn(&e->conn, &u->resp.param.conn);
	u->resp.ece.vendor_id = e->ece.vendor_id;
	u->resp.ece.attr_mod = e->ece.attr_mod;
	return u;
}

/* ucma_connect_event_handler(); after -ENOMEM the caller destroys `id`. */
static int on_request(struct dev_ctx *listener, struct cma_id *id, const struct cma_event *e)
{
	struct dev_event *u;
	struct dev_ctx *ctx;

	dev_file_sync(listener->file);
	if (!listener->backlog)
		return -ENOMEM;
	ctx = dev_ctx_new(listener->file);
	if (!ctx)
		return -ENOMEM;
	u = event_new(listener, e);
	if (!u) {
		dev_ctx_destroy(ctx);
		return -ENOMEM;
	}
	listener->backlog--;
	ctx->cm_id = id;
	ctx->request = u;
	u->conn = ctx;
	u->resp.id = ctx->id;
	cma_set_context(id, dev_on_event, ctx);
	dev_ctx_finish(ctx);
	event_queue(u);
	return 0;
}

int dev_on_event(struct cma_id *id, const struct cma_event *e)
{
	struct dev_ctx *ctx = cma_context(id);
	struct dev_event *u;

	dev_changed(ctx->file, ctx->id);
	if (e->event == RDMA_CM_EVENT_CONNECT_REQUEST)
		return on_request(ctx, id, e);
	/* A new connection has no uid before ACCEPT; until then its events are dropped. */
	if (ctx->uid) {
		u = event_new(ctx, e);
		if (!u)
			return 0;
		event_queue(u);
	}
	if (e->event != RDMA_CM_EVENT_DEVICE_REMOVAL)
		return 0;
	/* ucma_close_id(): the caller destroys `id`, but the program's number remains valid. */
	ctx->cm_id = NULL;
	return 1;
}

/* ---- ids */

struct dev_ctx *dev_ctx_new(struct dev_file *f)
{
	struct dev_ctx *ctx = calloc(1, sizeof(*ctx));

	if (!ctx)
		return NULL;
	if (dev_ids_take(&f->host->ctx, &ctx->id)) {
		free(ctx);
		return NULL;
	}
	ctx->file = f;
	TAILQ_INIT(&ctx->events);
	TAILQ_INIT(&ctx->mcs);
	TAILQ_INSERT_TAIL(&f->ctxs, ctx, link);
	return ctx;
}

void dev_ctx_finish(struct dev_ctx *ctx)
{
	dev_ids_set(&ctx->file->host->ctx, ctx->id, ctx);
}

/*
 * ucma_cleanup_ctx_events(): destroys new connections whose CONNECT_REQUEST the program has not
 * read.
 */
static void ctx_drop_events(struct dev_ctx *ctx)
{
	struct dev_event *e;
	struct dev_ctx *conn;

	dev_events_take_back(ctx, NULL);
	while ((e = TAILQ_FIRST(&ctx->events))) {
		conn = e->conn;
		dev_event_forget(e);
		if (conn)
			dev_ctx_destroy(conn);
	}
}

uint32_t dev_ctx_destroy(struct dev_ctx *ctx)
{
	struct dev_host *h = ctx->file->host;
	uint32_t reported;
	struct dev_mc *mc;

	dev_ids_set(&h->ctx, ctx->id, NULL);
	if (ctx->cm_id)
		cma_id_destroy(ctx->cm_id);
	ctx_drop_events(ctx);
	reported = ctx->events_reported;
	while ((mc = TAILQ_FIRST(&ctx->mcs))) {
		TAILQ_REMOVE(&ctx->mcs, mc, link);
		dev_ids_drop(&h->mc, mc->id);
		free(mc);
	}
	if (ctx->request)
		ctx->request->conn = NULL;
	dev_ids_drop(&h->ctx, ctx->id);
	TAILQ_REMOVE(&ctx->file->ctxs, ctx, link);
	free(ctx);
	return reported;
}

int dev_ctx_get(struct dev_file *f, uint32_t id, struct dev_ctx **out)
{
	struct dev_ctx *ctx = dev_ids_get(&f->host->ctx, id);

	if (!ctx)
		return -ENOENT;
	if (ctx->file != f)
		return -EINVAL;
	if (!ctx->cm_id)
		return -ENXIO;
	*out = ctx;
	return 0;
}

int dev_ctx_get_bound(struct dev_file *f, uint32_t id, struct dev_ctx **out)
{
	int err = dev_ctx_get(f, id, out);

	return err ? err : cma_port((*out)->cm_id) == SEG_NONE ? -EINVAL : 0;
}

void dev_ctx_move(struct dev_ctx *ctx, struct dev_file *to)
{
	struct dev_file *from = ctx->file;
	struct dev_event *e;

	dev_changed(from, ctx->id);
	dev_changed(to, ctx->id);
	dev_events_take_back(ctx, NULL);
	TAILQ_REMOVE(&from->ctxs, ctx, link);
	TAILQ_INSERT_TAIL(&to->ctxs, ctx, link);
	for (e = TAILQ_FIRST(&ctx->events); e; e = TAILQ_NEXT(e, in_ctx)) {
		TAILQ_REMOVE(&from->events, e, in_file);
		TAILQ_INSERT_TAIL(&to->events, e, in_file);
	}
	ctx->file = to;
	set_fresh(to);
}
