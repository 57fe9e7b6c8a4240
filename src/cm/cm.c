/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the whole: what arrives and its order, and the clock. A handler may send, and the answer may
 * arrive before that send returns; it waits in the queue until nothing of this layer is running.
 */
#include "cm/priv.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <stdlib.h>
#include <sys/random.h>

static void cm_on_establish(struct cm *cm, struct cm_work *w);

#define FIRST_SERVICE_ID UINT64_C(0x0200000000000000) /* ib_cm_init() */

struct cm *cm_new(const struct cm_ops *ops, void *ctx)
{
	struct cm *cm = calloc(1, sizeof(*cm));
	uint64_t random[2] = {0};

	if (!cm)
		return NULL;
	/* Without a random number the ids are predictable, which does no other harm. */
	if (getrandom(random, sizeof(random), GRND_NONBLOCK) < 0)
		random[0] = 0;
	cm->ops = ops;
	cm->ctx = ctx;
	cm->last = &cm->first;
	cm->random_id = (uint32_t)random[0];
	cm->next_service_id = FIRST_SERVICE_ID;
	if (cm_table_init(&cm->local, random[1]) || cm_table_init(&cm->remote_id, random[1]) ||
	    cm_table_init(&cm->remote_qp, random[1]) || cm_table_init(&cm->sidr, random[1]) ||
	    cm_table_init(&cm->service, random[1])) {
		cm_free(cm);
		return NULL;
	}
	return cm;
}

static struct cm_work *take(struct cm *cm)
{
	struct cm_work *w = cm->first;

	if (!w)
		return NULL;
	cm->first = w->next;
	if (!cm->first)
		cm->last = &cm->first;
	return w;
}

void cm_free(struct cm *cm)
{
	struct cm_work *w;

	if (!cm)
		return;
	while (cm->ids)
		cm_free_id(cm->ids);
	while ((w = take(cm)))
		free(w);
	cm_timers_finish(&cm->timers);
	cm_table_finish(&cm->local);
	cm_table_finish(&cm->remote_id);
	cm_table_finish(&cm->remote_qp);
	cm_table_finish(&cm->sidr);
	cm_table_finish(&cm->service);
	free(cm);
}

uint32_t cm_count(const struct cm *cm)
{
	return cm->nids;
}

/* ---- what arrives */

/* Would ib_mad pass this MAD to ib_cm's agent (cm_add_one(), cm_recv_handler())? */
static bool is_ours(const uint8_t *mad)
{
	return LAYOUT_GET(mad_hdr, mad, base_version) == MAD_BASE_VERSION &&
	       LAYOUT_GET(mad_hdr, mad, mgmt_class) == MAD_CLASS_CM &&
	       LAYOUT_GET(mad_hdr, mad, class_version) == CM_CLASS_VERSION &&
	       LAYOUT_GET(mad_hdr, mad, method) == MAD_METHOD_SEND;
}

static void handle(struct cm *cm, struct cm_work *w)
{
	static void (*const on[])(struct cm * cm, struct cm_work * w) = {
		[CM_ATTR_REQ] = cm_on_req,           [CM_ATTR_MRA] = cm_on_mra,
		[CM_ATTR_REJ] = cm_on_rej,           [CM_ATTR_REP] = cm_on_rep,
		[CM_ATTR_RTU] = cm_on_rtu,           [CM_ATTR_DREQ] = cm_on_dreq,
		[CM_ATTR_DREP] = cm_on_drep,         [CM_ATTR_SIDR_REQ] = cm_on_sidr_req,
		[CM_ATTR_SIDR_REP] = cm_on_sidr_rep, [CM_ATTR_LAP] = cm_on_lap,
	};
	uint64_t attr = LAYOUT_GET(mad_hdr, w->pkt.mad, attr_id);

	if (w->establish)
		cm_on_establish(cm, w);
	/* An APR answers a LAP; ib_cm sends none. */
	else if (attr < sizeof(on) / sizeof(on[0]) && on[attr] &&
		 cm->ops->port(cm->ctx, w->pkt.port, &w->port))
		on[attr](cm, w);
}

void cm_leave(struct cm *cm)
{
	struct cm_work *w;

	while (cm->depth == 1 && (w = take(cm))) {
		handle(cm, w);
		free(w);
	}
	cm->depth--;
}

/* MADs are datagrams: losing one for lack of memory is allowed. */
static struct cm_work *queue(struct cm *cm)
{
	struct cm_work *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	*cm->last = w;
	cm->last = &w->next;
	return w;
}

void cm_arrived(struct cm *cm, const struct cm_pkt *p)
{
	struct cm_work *w;

	if (!is_ours(p->mad))
		return;
	cm_enter(cm);
	w = queue(cm);
	if (w)
		w->pkt = *p;
	cm_leave(cm);
}

/* ---- the user's QP has got a message: it is connected, RTU or not */

/* cm_establish() */
static int establish(struct cm_id *id)
{
	struct cm_work *w;

	if (id->state == CM_ESTABLISHED)
		return -EISCONN;
	if (id->state != CM_REP_SENT && id->state != CM_MRA_REP_RCVD)
		return -EINVAL;
	w = queue(id->cm);
	if (!w)
		return -ENOMEM;
	id->state = CM_ESTABLISHED;
	w->establish = true;
	w->local_id = id->local_id;
	w->remote_id = id->remote_id;
	return 0;
}

/* cm_establish_handler() */
static void cm_on_establish(struct cm *cm, struct cm_work *w)
{
	struct cm_id *id = cm_table_find(&cm->local, (struct cm_key){.b = w->local_id});

	if (!id || id->remote_id != w->remote_id || id->state != CM_ESTABLISHED)
		return;
	cm_cancel(id);
	cm_tell(id, &(struct cm_event){.type = CM_USER_ESTABLISHED});
}

/* cm_migrate() */
static int migrate(struct cm_id *id)
{
	if (id->state != CM_ESTABLISHED ||
	    (id->lap_state != CM_LAP_UNINIT && id->lap_state != CM_LAP_IDLE))
		return -EINVAL;
	id->lap_state = CM_LAP_IDLE;
	id->av = id->alt_av;
	return 0;
}

/* ib_cm_notify() */
int cm_notify(struct cm_id *id, uint32_t event)
{
	struct cm *cm = id->cm;
	int ret = -EINVAL;

	cm_enter(cm);
	if (event == IBV_EVENT_COMM_EST)
		ret = establish(id);
	else if (event == IBV_EVENT_PATH_MIG)
		ret = migrate(id);
	cm_leave(cm);
	return ret;
}

/* ---- the clock */

uint64_t cm_run_due(struct cm *cm)
{
	uint64_t now = cm->ops->now(cm->ctx);
	struct cm_timer *t;

	cm_enter(cm);
	while ((t = cm_timers_first(&cm->timers)) && t->at <= now) {
		struct cm_id *id = (struct cm_id *)((char *)t - offsetof(struct cm_id, timer));

		cm_timer_stop(&cm->timers, t);
		if (id->sending)
			cm_msg_due(id);
		else
			cm_timewait_over(id);
	}
	cm_leave(cm);
	t = cm_timers_first(&cm->timers);
	return t ? t->at : UINT64_MAX;
}
