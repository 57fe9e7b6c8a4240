/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns ids: their life, the tables in which MADs find them, listeners and timewait. */
#include "cm/priv.h"
#include "cm/for_tests.h"

#include <errno.h>
#include <stdlib.h>
#include "util/clock.h"

static void cm_destroy_err(struct cm_id *id, int err);

#define SERVICE_ID_ASSIGN UINT64_C(0x0200000000000000) /* IB_CM_ASSIGN_SERVICE_ID */
#define SERVICE_ID_AGN_MASK UINT64_C(0xff00000000000000)

static struct cm_key key_of_local(uint32_t local_id)
{
	return (struct cm_key){.b = local_id};
}

/* cm_alloc_id_priv(): numbers are used one after the other, so that an old one means nothing. */
struct cm_id *cm_new_id(struct cm *cm, uint32_t hca, cm_handler *h, void *context)
{
	struct cm_id *id;

	if (cm->nids == UINT32_MAX - 1 || cm_timers_reserve(&cm->timers, cm->nids + 1))
		return NULL;
	id = calloc(1, sizeof(*id));
	if (!id)
		return NULL;
	id->cm = cm;
	id->handler = h;
	id->context = context;
	id->hca = hca;
	id->host = CM_NO_PORT;
	id->av.port = id->alt_av.port = CM_NO_PORT;
	id->by_local.id = id->by_remote.id = id->by_qpn.id = id;
	id->by_sidr.id = id->by_service.id = id;
	do
		id->local_id = cm->next_id++ ^ cm->random_id;
	while (!id->local_id || cm_table_find(&cm->local, key_of_local(id->local_id)));
	id->next = cm->ids;
	if (cm->ids)
		cm->ids->prev = id;
	cm->ids = id;
	cm->nids++;
	return id;
}

/* cm_finalize_id(): MADs find it from here on. */
void cm_make_visible(struct cm_id *id)
{
	cm_table_insert(&id->cm->local, &id->by_local, key_of_local(id->local_id));
}

void cm_free_id(struct cm_id *id)
{
	struct cm *cm = id->cm;

	cm_cancel(id);
	cm_timer_stop(&cm->timers, &id->timer);
	cm_remove_remote(id);
	cm_table_remove(&cm->local, &id->by_local);
	cm_table_remove(&cm->sidr, &id->by_sidr);
	cm_table_remove(&cm->service, &id->by_service);
	if (id->prev)
		id->prev->next = id->next;
	else
		cm->ids = id->next;
	if (id->next)
		id->next->prev = id->prev;
	cm->nids--;
	free(id);
}

struct cm_id *cm_create(struct cm *cm, uint32_t hca, cm_handler *h, void *context)
{
	struct cm_id *id = cm_new_id(cm, hca, h, context);

	if (id)
		cm_make_visible(id);
	return id;
}

/* cm_process_work() */
void cm_tell(struct cm_id *id, const struct cm_event *e)
{
	int ret = id->handler(id, e);

	if (ret)
		cm_destroy_err(id, ret);
}

struct cm_id *cm_find_id(const struct cm *cm, uint32_t host, uint32_t local_id, uint32_t remote_id)
{
	struct cm_id *id = cm_table_find(&cm->local, key_of_local(local_id));

	return id && id->host == host && id->remote_id == remote_id ? id : NULL;
}

/* ---- what is known of remote ends */

/* On a collision, sets *other only if cm_acquire_id() would still find that id. */
static bool insert(struct cm_table *t, struct cm_node *n, struct cm_key k, struct cm_id **other)
{
	*other = cm_table_insert(t, n, k);
	if (!*other)
		return true;
	if ((*other)->remote_id != (*other)->tw_remote_id || !(*other)->by_local.in)
		*other = NULL;
	return false;
}

bool cm_insert_remote_id(struct cm_id *id, struct cm_id **other)
{
	return insert(&id->cm->remote_id, &id->by_remote,
		      (struct cm_key){id->tw_ca_guid, id->tw_remote_id, id->host}, other);
}

bool cm_insert_remote_qpn(struct cm_id *id, struct cm_id **other)
{
	return insert(&id->cm->remote_qp, &id->by_qpn,
		      (struct cm_key){id->tw_ca_guid, id->tw_remote_qpn, id->host}, other);
}

void cm_remove_remote(struct cm_id *id)
{
	cm_table_remove(&id->cm->remote_id, &id->by_remote);
	cm_table_remove(&id->cm->remote_qp, &id->by_qpn);
}

void cm_enter_timewait(struct cm_id *id)
{
	struct cm *cm = id->cm;

	cm_cancel(id);
	cm_remove_remote(id);
	id->tw = false;
	id->state = CM_TIMEWAIT;
	cm_timer_set(&cm->timers, &id->timer,
		     cm->ops->now(cm->ctx) + cm_to_ms(id->av.timeout) * NSEC_PER_MSEC);
}

void cm_reset_to_idle(struct cm_id *id)
{
	cm_cancel(id);
	cm_remove_remote(id);
	id->tw = false;
	id->state = CM_IDLE;
}

/* cm_timewait_handler() */
void cm_timewait_over(struct cm_id *id)
{
	if (id->state != CM_TIMEWAIT || id->remote_qpn != id->tw_remote_qpn ||
	    id->remote_id != id->tw_remote_id)
		return;
	id->state = CM_IDLE;
	cm_tell(id, &(struct cm_event){.type = CM_TIMEWAIT_EXIT});
}

/* ---- listeners */

static struct cm_key key_of_service(uint32_t hca, uint64_t service_id)
{
	return (struct cm_key){service_id, hca, 0};
}

struct cm_id *cm_find_listen(const struct cm *cm, uint32_t hca, uint64_t service_id)
{
	return cm_table_find(&cm->service, key_of_service(hca, service_id));
}

/* cm_init_listen(). 0: `id` has its service ID. */
static int init_listen(struct cm_id *id, uint64_t service_id)
{
	if ((service_id & SERVICE_ID_AGN_MASK) == SERVICE_ID_ASSIGN &&
	    service_id != SERVICE_ID_ASSIGN)
		return -EINVAL;
	id->service_id = service_id == SERVICE_ID_ASSIGN ? id->cm->next_service_id++ : service_id;
	return 0;
}

/* Returns NULL if `id` now listens, else the id that already listens for this service. */
static struct cm_id *start_listen(struct cm_id *id)
{
	struct cm_id *other = cm_table_insert(&id->cm->service, &id->by_service,
					      key_of_service(id->hca, id->service_id));

	if (other)
		return other;
	id->users = 1;
	id->state = CM_LISTEN;
	return NULL;
}

/* ib_cm_listen() */
int cm_listen(struct cm_id *id, uint64_t service_id)
{
	int ret;

	if (id->state != CM_IDLE)
		return -EINVAL;
	ret = init_listen(id, service_id);
	if (ret)
		return ret;
	return start_listen(id) ? -EBUSY : 0;
}

/* ib_cm_insert_listen() */
struct cm_id *cm_insert_listen(struct cm *cm, uint32_t hca, cm_handler *h, uint64_t service_id,
			       int *err)
{
	struct cm_id *id = cm_new_id(cm, hca, h, NULL), *other;

	*err = 0;
	if (!id) {
		*err = -ENOMEM;
		return NULL;
	}
	*err = init_listen(id, service_id);
	other = *err ? NULL : start_listen(id);
	if (!*err && !other)
		return id;
	cm_free_id(id);
	if (*err)
		return NULL;
	if (other->handler != h || other->context) {
		*err = -EINVAL;
		return NULL;
	}
	other->users++;
	return other;
}

/* ---- the end */

/* cm_destroy_id(): tells the peer. Returns true if the listener has other users. */
static bool say_goodbye(struct cm_id *id, int err)
{
	uint8_t guid[8];
	struct cm_port port = {0};

	switch (id->state) {
	case CM_LISTEN:
		return --id->users > 0;
	case CM_SIDR_REQ_RCVD:
		cm_sidr_rep(id, &(struct cm_sidr_rep){.status = CM_SIDR_REJECT});
		break;
	case CM_REQ_SENT:
	case CM_MRA_REQ_RCVD:
		id->cm->ops->port(id->cm->ctx, id->av.port, &port);
		be64_store(guid, port.ca_guid);
		cm_rej(id, CM_REJ_TIMEOUT, guid, sizeof(guid), NULL, 0);
		break;
	case CM_REQ_RCVD:
		if (err == -ENOMEM) /* do not answer, so that the peer repeats the REQ */
			break;
		cm_rej(id, CM_REJ_CONSUMER_DEFINED, NULL, 0, NULL, 0);
		break;
	case CM_REP_SENT:
	case CM_MRA_REP_RCVD:
	case CM_MRA_REQ_SENT:
	case CM_REP_RCVD:
	case CM_MRA_REP_SENT:
		cm_rej(id, CM_REJ_CONSUMER_DEFINED, NULL, 0, NULL, 0);
		break;
	case CM_ESTABLISHED:
		if (id->qp_type != CM_QP_XRC_TGT)
			cm_dreq(id, NULL, 0);
		break;
	case CM_DREQ_RCVD:
		cm_drep(id, NULL, 0);
		break;
	case CM_IDLE:
	case CM_SIDR_REQ_SENT:
	case CM_DREQ_SENT:
	case CM_TIMEWAIT:
		break;
	}
	return false;
}

static void cm_destroy_err(struct cm_id *id, int err)
{
	if (!say_goodbye(id, err))
		cm_free_id(id);
}

void cm_destroy(struct cm_id *id)
{
	struct cm *cm;

	if (!id)
		return;
	cm = id->cm;
	cm_enter(cm);
	cm_destroy_err(id, 0);
	cm_leave(cm);
}

/* ---- what an id says of itself */

void cm_set_context(struct cm_id *id, cm_handler *h, void *context)
{
	id->handler = h;
	id->context = context;
}

void *cm_context(const struct cm_id *id)
{
	return id->context;
}

void *cm_ctx(const struct cm_id *id)
{
	return id->cm->ctx;
}

enum cm_state cm_state(const struct cm_id *id)
{
	return id->state;
}

const char *cm_state_name(enum cm_state st)
{
	static const char *const names[] = {
		[CM_IDLE] = "IDLE",
		[CM_LISTEN] = "LISTEN",
		[CM_REQ_SENT] = "REQ_SENT",
		[CM_REQ_RCVD] = "REQ_RCVD",
		[CM_MRA_REQ_SENT] = "MRA_REQ_SENT",
		[CM_MRA_REQ_RCVD] = "MRA_REQ_RCVD",
		[CM_REP_SENT] = "REP_SENT",
		[CM_REP_RCVD] = "REP_RCVD",
		[CM_MRA_REP_SENT] = "MRA_REP_SENT",
		[CM_MRA_REP_RCVD] = "MRA_REP_RCVD",
		[CM_ESTABLISHED] = "ESTABLISHED",
		[CM_DREQ_SENT] = "DREQ_SENT",
		[CM_DREQ_RCVD] = "DREQ_RCVD",
		[CM_TIMEWAIT] = "TIMEWAIT",
		[CM_SIDR_REQ_SENT] = "SIDR_REQ_SENT",
		[CM_SIDR_REQ_RCVD] = "SIDR_REQ_RCVD",
	};

	return (size_t)st < sizeof(names) / sizeof(names[0]) ? names[st] : "?";
}

uint32_t cm_local_id(const struct cm_id *id)
{
	return id->local_id;
}

uint32_t cm_remote_id(const struct cm_id *id)
{
	return id->remote_id;
}

uint32_t cm_hca(const struct cm_id *id)
{
	return id->hca;
}

uint64_t cm_service_id(const struct cm_id *id)
{
	return id->service_id;
}
