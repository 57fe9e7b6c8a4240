// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Owns ids: making, destroying, options, and what queries show. The rules are those of the kernel's
 * drivers/infiniband/core/cma.c. dev.c's files call it; it calls the other files of priv.h.
 */
#include "cma/priv.h"
#include "cma/for_tests.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <stdlib.h>
#include <string.h>
#include "hw/world.h"
#include "util/bits.h"
#include "wire/ib/pkey.h"

static void cma_id_gone(struct cma *c, struct cma_work *w);

struct cma_id *cma_id_make(struct cma *c, uint32_t host, enum rdma_ucm_port_space ps,
			   uint8_t qp_type, cma_handler *h, void *context)
{
	struct cma_id *id = calloc(1, sizeof(*id));

	if (!id)
		return NULL;
	id->c = c;
	id->host = host;
	id->number = c->last_number++;
	id->ps = ps;
	id->qp_type = qp_type;
	id->handler = h;
	id->context = context;
	id->hca = SEG_NONE;
	id->port = SEG_NONE;
	id->work.fn = cma_resolve_work;
	id->addr_timer.fn = cma_resolve_timer;
	id->gone.fn = cma_id_gone;
	id->seq_num = cma_random(c, 1u << 24);
	/* The kernel's number is a random one, too: it wraps soon. */
	if (hw_setting(c->s, HW_SET_NUMBERS) == HW_NUMBERS_SPARSE)
		id->seq_num |= 0xfffff0;
	TAILQ_INIT(&id->children);
	TAILQ_INIT(&id->mc);
	TAILQ_INSERT_TAIL(&c->ids, id, at);
	return id;
}

struct cma_id *cma_id_new(struct cma *c, uint32_t host, uint32_t owner_pid, const char *comm,
			  enum rdma_ucm_port_space ps, uint8_t qp_type, cma_handler *h,
			  void *context)
{
	struct cma_id *id = cma_id_make(c, host, ps, qp_type, h, context);

	if (!id)
		return NULL;
	id->pid = owner_pid;
	for (size_t i = 0; comm && i + 1 < sizeof(id->comm) && comm[i]; i++)
		id->comm[i] = comm[i];
	return id;
}

/* cma_cancel_operation() */
static void cma_cancel(struct cma_id *id, enum cma_state was)
{
	switch (was) {
	case CMA_ADDR_QUERY:
		cma_timer_stop(id->c, &id->addr_timer);
		break;
	case CMA_ROUTE_QUERY:
		cma_sa_cancel(id->c, id->query);
		id->query = NULL;
		break;
	case CMA_LISTEN:
		if (cma_addr_any(&id->src) && id->hca == SEG_NONE)
			cma_cancel_listens(id);
		break;
	default:
		break;
	}
}

/* _destroy_id(): `was` is the state that the id had. */
static void cma_id_drop(struct cma_id *id, enum cma_state was)
{
	struct cma *c = id->c;

	id->state = CMA_DESTROYING;
	cma_cancel(id, was);
	cma_work_drop(c, &id->work);
	cma_work_drop(c, &id->gone);
	cma_timer_stop(c, &id->addr_timer);
	if (id->cm)
		cm_destroy(id->cm);
	id->cm = NULL;
	cma_leave_all(id);
	cma_release_port(id);
	if (id->parent)
		TAILQ_REMOVE(&id->parent->children, id, child);
	TAILQ_REMOVE(&c->ids, id, at);
	free(id);
}

void cma_id_destroy(struct cma_id *id)
{
	cma_id_drop(id, id->state);
}

bool cma_tell(struct cma_id *id, const struct cma_event *e)
{
	if (!id->handler(id, e))
		return false;
	cma_id_destroy(id);
	return true;
}

/* cma_send_device_removal_put(), run from the queue of works. */
static void cma_id_gone(struct cma *c, struct cma_work *w)
{
	struct cma_id *id = (struct cma_id *)((char *)w - offsetof(struct cma_id, gone));
	const struct cma_event e = {.event = RDMA_CM_EVENT_DEVICE_REMOVAL};
	enum cma_state was = id->state;

	if (was == CMA_DEVICE_REMOVAL)
		return;
	/* A listener's id for one adapter has nobody to tell (cma_listen_handler()). */
	id->state = CMA_DEVICE_REMOVAL;
	if (id->parent || id->handler(id, &e))
		cma_id_drop(id, was);
	else
		cma_cancel(id, was);
}

void cma_attach(struct cma_id *id, uint32_t at)
{
	const struct hw_port *p = fab_at_hw(id->c->s, at);

	id->port = fab_at_port(at);
	id->hca = p->hca;
	id->ifindex = cma_ifindex(id->c->s, at);
	memcpy(id->sgid, p->gid[0], 16);
	/* The interface's P_Key (ib_addr_get_pkey()); an Ethernet interface has none. */
	id->pkey = hw_port_is_eth(p) ? 0 : p->pkey[0] | 0x8000;
}

void cma_release_dev(struct cma_id *id)
{
	id->hca = SEG_NONE;
	id->port = SEG_NONE;
}

int cma_pkey_index(struct seg *s, uint32_t port, uint16_t pkey)
{
	const struct hw_port *p = hw_port(s, port);
	int limited = -ENOENT;

	for (int i = 0; p && i < HW_PKEYS; i++) {
		if (!p->pkey[i] || !ib_pkey_base_same(p->pkey[i], pkey))
			continue;
		if (p->pkey[i] & IB_PKEY_FULL)
			return i;
		if (limited < 0)
			limited = i;
	}
	return limited;
}

/* ---- options */

void cma_set_context(struct cma_id *id, cma_handler *h, void *context)
{
	id->handler = h;
	id->context = context;
}

void *cma_context(const struct cma_id *id)
{
	return id->context;
}

enum cma_state cma_id_state(const struct cma_id *id)
{
	return id->state;
}

void cma_set_service_type(struct cma_id *id, uint8_t tos)
{
	id->tos = tos;
	id->tos_set = true;
}

int cma_set_reuseaddr(struct cma_id *id, int reuse)
{
	if ((!reuse || id->state == CMA_LISTEN) && id->state != CMA_IDLE)
		return -EINVAL;
	id->reuseaddr = reuse;
	return 0;
}

int cma_set_afonly(struct cma_id *id, int afonly)
{
	if (id->state != CMA_IDLE && id->state != CMA_ADDR_BOUND)
		return -EINVAL;
	id->afonly_set = true;
	id->afonly = afonly;
	return 0;
}

int cma_set_ack_timeout(struct cma_id *id, uint8_t timeout)
{
	if (id->qp_type != IBV_QPT_RC && id->qp_type != IBV_QPT_XRC_SEND)
		return -EINVAL;
	id->timeout = timeout;
	id->timeout_set = true;
	return 0;
}

/* rdma_set_ib_path() */
int cma_set_path(struct cma_id *id, const struct cm_path *path)
{
	if (!cma_exch(id, CMA_ADDR_RESOLVED, CMA_ROUTE_RESOLVED))
		return -EINVAL;
	if (cma_is_roce(id) && !id->ifindex) {
		id->state = CMA_ADDR_RESOLVED;
		return -ENODEV;
	}
	id->path[0] = *path;
	if (cma_is_roce(id))
		cma_roce_set_type(id, &id->path[0]);
	id->npaths = 1;
	return 0;
}

uint64_t cma_service_id(const struct cma_id *id, const union cma_addr *a)
{
	if (a->sa.sa_family == AF_IB)
		return be64_load(&cma_ib_const(a)->sib_sid);
	return ((uint64_t)id->ps << 16) + cma_addr_port(a);
}

/* cma_set_qkey(): refuses 0, and a Q_Key that differs from the one the id has. */
int cma_set_qkey(struct cma_id *id, uint32_t qkey)
{
	if (!qkey || (id->qkey && id->qkey != qkey))
		return -EINVAL;
	id->qkey = qkey;
	return 0;
}

void cma_set_default_qkey(struct cma_id *id)
{
	if (id->ps == RDMA_PS_UDP || id->ps == RDMA_PS_IB)
		id->qkey = CMA_UDP_QKEY;
	else if (id->ps == RDMA_PS_IPOIB)
		id->qkey = CMA_IPOIB_QKEY;
}

/* ---- what queries show */

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

/* rdma_read_gids(): the result is zero for an id without adapter. */
void cma_gids(const struct cma_id *id, uint8_t sgid[16], uint8_t dgid[16], uint16_t *pkey)
{
	memset(sgid, 0, 16);
	memset(dgid, 0, 16);
	*pkey = id->pkey;
	if (id->hca == SEG_NONE)
		return;
	memcpy(sgid, id->sgid, 16);
	memcpy(dgid, id->dgid, 16);
	if (cma_is_roce(id)) {
		memset(sgid, 0, 16);
		memset(dgid, 0, 16);
		cma_ip2gid(&id->src, sgid);
		cma_ip2gid(&id->dst, dgid);
	}
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
