// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* See test_fake.h. */
#include "cma/test_fake.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "hw/port.h"

/* ---- a world */

static void must(bool ok)
{
	if (!ok) {
		fprintf(stderr, "the fake's world cannot be made, or something is left in it\n");
		abort();
	}
}

static uint32_t add(struct seg *s, enum seg_table_id t)
{
	uint32_t i = 0;

	must(!seg_alloc(s, t, SEG_OWNER_DEVICE, &i));
	return i;
}

static uint32_t add_port(struct seg *s, uint32_t host, uint32_t n)
{
	uint32_t hca = add(s, SEG_T_HCA), port = add(s, SEG_T_PORT);
	struct hw_port *p = hw_port(s, port);
	struct hw_hca *h = hw_hca(s, hca);

	h->host = host;
	h->dev_index = n;
	h->node_guid = 0x1122334455667700 + n;
	h->nports = 1;
	h->port[0] = port;
	p->hca = hca;
	p->num = 1;
	p->lmc = 2;
	for (int i = 0; i < 2; i++) {
		p->gid[i][0] = 0xfe;
		p->gid[i][15] = (uint8_t)(n * 16 + (uint32_t)i + 1);
	}
	return port;
}

/* A queue that a reader takes from: fake_take(). */
static int on_push(void *ctx, uint32_t file, const void *event, size_t len, uint64_t *ref)
{
	struct cma *c = ctx;

	must(file < 64 && len >= sizeof(struct ucma_event) &&
	     len <= sizeof(c->pushed) + UCMA_AHEAD_MAX);
	if (c->full)
		return -ENOSPC;
	memcpy(&c->pushed, event, sizeof(c->pushed));
	c->npushed = len - sizeof(c->pushed);
	memcpy(c->ahead, (const uint8_t *)event + sizeof(c->pushed), c->npushed);
	c->nready[file]++;
	*ref = ++c->ref;
	return 0;
}

static bool on_waits(void *ctx, uint64_t ref)
{
	const struct cma *c = ctx;

	must(ref && ref <= c->ref);
	return ref > c->taken || c->late;
}

static bool on_drop(void *ctx, uint32_t file, uint64_t ref)
{
	struct cma *c = ctx;

	must(ref && ref <= c->ref && c->nready[file] >= 0);
	if (ref <= c->taken)
		return false;
	c->nready[file]--;
	if (!c->reads || !c->nready[file])
		return true;
	c->taken += ref == c->taken + 1; /* it is passed over */
	fake_take(c, file);
	return true;
}

void fake_take(struct cma *c, uint32_t file)
{
	must(c->nready[file] > 0);
	c->nready[file]--;
	c->taken++;
}

struct cma *fake_new(void)
{
	static const struct cma_ops ops = {.push = on_push, .waits = on_waits, .drop = on_drop};
	struct cma *c = calloc(1, sizeof(*c));

	must(c && !seg_create(&c->s, "fake"));
	c->host = add(&c->s, SEG_T_HOST);
	c->other_host = add(&c->s, SEG_T_HOST);
	for (uint32_t i = 0; i < 2; i++)
		c->port[i] = add_port(&c->s, c->host, i);
	TAILQ_INIT(&c->ids);
	c->dev = cma_dev_new(c, &c->s, &ops, c);
	must(c->dev);
	return c;
}

void fake_free(struct cma *c)
{
	cma_dev_free(c->dev);
	must(!c->nids);
	for (int i = 0; i < 64; i++)
		must(!c->nready[i]);
	seg_unmap(&c->s);
	free(c);
}

struct cma_dev *cma_dev_of(struct cma *c)
{
	return c->dev;
}

bool fake_tell(struct cma_id *id, const struct cma_event *e)
{
	struct cma *c = id->c;
	bool is_left = !id->handler(id, e);

	if (!is_left)
		cma_id_destroy(id);
	dev_queue_fresh(c->dev);
	return is_left;
}

struct cma_id *fake_request(struct cma_id *listener, const struct cma_event *e)
{
	struct cma_id *id = cma_id_new(listener->c, listener->host, listener->pid, "", listener->ps,
				       listener->qp_type, listener->handler, listener->context);

	if (!id)
		return NULL;
	id->port = listener->c->port[0];
	return fake_tell(id, e) ? id : NULL;
}

/* ---- id.h */

struct cma_id *cma_id_new(struct cma *c, uint32_t host, uint32_t owner_pid, const char *comm,
			  enum rdma_ucm_port_space ps, uint8_t qp_type, cma_handler *h,
			  void *context)
{
	struct cma_id *id = calloc(1, sizeof(*id));

	if (!id)
		return NULL;
	id->c = c;
	id->host = host;
	id->pid = owner_pid;
	strncpy(id->comm, comm, sizeof(id->comm) - 1);
	id->ps = ps;
	id->qp_type = qp_type;
	id->handler = h;
	id->context = context;
	id->port = SEG_NONE;
	TAILQ_INSERT_TAIL(&c->ids, id, link);
	c->nids++;
	return id;
}

void cma_id_destroy(struct cma_id *id)
{
	TAILQ_REMOVE(&id->c->ids, id, link);
	id->c->nids--;
	free(id);
}

void cma_set_context(struct cma_id *id, cma_handler *h, void *context)
{
	id->handler = h;
	id->context = context;
}

void *cma_context(const struct cma_id *id)
{
	return id->context;
}

static struct fake_call *called(struct cma_id *id, const char *name)
{
	struct fake_call *l = &id->c->last;

	memset(l, 0, sizeof(*l));
	l->id = id;
	l->name = name;
	return l;
}

static int answer(struct cma_id *id)
{
	int err = id->c->err;

	id->c->err = 0;
	return err;
}

int cma_bind(struct cma_id *id, const union cma_addr *a)
{
	called(id, "bind")->src = *a;
	if (id->c->err)
		return answer(id);
	id->src = *a;
	id->port = id->c->port[0];
	return 0;
}

int cma_resolve_addr(struct cma_id *id, const union cma_addr *src, const union cma_addr *dst,
		     uint32_t timeout_ms)
{
	struct fake_call *l = called(id, "resolve_addr");

	l->src = *src;
	l->dst = *dst;
	l->n = timeout_ms;
	if (id->c->err)
		return answer(id);
	id->src = *src;
	id->dst = *dst;
	id->port = id->c->port[1];
	return 0;
}

int cma_resolve_route(struct cma_id *id, uint32_t timeout_ms)
{
	called(id, "resolve_route")->n = timeout_ms;
	return answer(id);
}

int cma_listen(struct cma_id *id, int backlog)
{
	called(id, "listen")->n = (uint32_t)backlog;
	return answer(id);
}

static void take_param(struct fake_call *l, const struct cma_conn_param *p,
		       const struct cm_ece *ece)
{
	l->ece = *ece;
	l->has_param = p;
	if (!p)
		return;
	l->param = *p;
	memcpy(l->data, p->data, p->len);
}

int cma_connect(struct cma_id *id, const struct cma_conn_param *p, const struct cm_ece *ece)
{
	take_param(called(id, "connect"), p, ece);
	return answer(id);
}

int cma_accept(struct cma_id *id, const struct cma_conn_param *p, const struct cm_ece *ece)
{
	take_param(called(id, "accept"), p, ece);
	return answer(id);
}

int cma_reject(struct cma_id *id, const void *data, uint8_t len, uint8_t reason)
{
	struct fake_call *l = called(id, "reject");

	l->param.len = len;
	memcpy(l->data, data, len);
	l->n = reason;
	return answer(id);
}

int cma_disconnect(struct cma_id *id)
{
	called(id, "disconnect");
	return answer(id);
}

int cma_notify(struct cma_id *id, uint32_t event)
{
	called(id, "notify")->n = event;
	return answer(id);
}

int cma_init_qp_attr(struct cma_id *id, uint32_t qp_state, struct cm_qp_attr *out)
{
	called(id, "init_qp_attr")->n = qp_state;
	*out = id->c->qp_attr;
	return answer(id);
}

int cma_join(struct cma_id *id, const union cma_addr *a, uint8_t join_state, void *context)
{
	struct fake_call *l = called(id, "join");

	l->dst = *a;
	l->n = join_state;
	l->context = context;
	return answer(id);
}

void cma_leave(struct cma_id *id, const union cma_addr *a)
{
	called(id, "leave")->dst = *a;
}

void cma_set_service_type(struct cma_id *id, uint8_t tos)
{
	called(id, "tos")->n = tos;
}

int cma_set_reuseaddr(struct cma_id *id, int reuse)
{
	called(id, "reuseaddr")->n = (uint32_t)reuse;
	return answer(id);
}

int cma_set_afonly(struct cma_id *id, int afonly)
{
	called(id, "afonly")->n = (uint32_t)afonly;
	return answer(id);
}

int cma_set_ack_timeout(struct cma_id *id, uint8_t timeout)
{
	called(id, "ack_timeout")->n = timeout;
	return answer(id);
}

int cma_set_path(struct cma_id *id, const struct cm_path *path)
{
	called(id, "path")->path = *path;
	if (id->c->err)
		return answer(id);
	id->path[0] = *path;
	id->npaths = 1;
	return 0;
}

uint64_t cma_service_id(const struct cma_id *id, const union cma_addr *a)
{
	return ((uint64_t)id->ps << 16) + ntohs(a->in.sin_port);
}

const union cma_addr *cma_src(const struct cma_id *id)
{
	return &id->src;
}

const union cma_addr *cma_dst(const struct cma_id *id)
{
	return &id->dst;
}

uint32_t cma_port(const struct cma_id *id)
{
	return id->port;
}

void cma_gids(const struct cma_id *id, uint8_t sgid[16], uint8_t dgid[16], uint16_t *pkey)
{
	memset(sgid, 0x51, 16);
	memset(dgid, 0xd1, 16);
	*pkey = 0x8001;
}

const struct cm_path *cma_path(const struct cma_id *id, uint32_t i)
{
	return i < id->npaths ? &id->path[i] : NULL;
}

uint32_t cma_npaths(const struct cma_id *id)
{
	return id->npaths;
}

uint8_t cma_qp_type(const struct cma_id *id)
{
	return id->qp_type;
}
