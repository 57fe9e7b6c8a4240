/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shared by the files below id.h: cma.c (the turns of the loop), port.c (port spaces), id.c,
 * resolve.c, listen.c, conn.c, mcast.c (groups), sa.c (queries). They all run in one thread.
 *
 * No handler is called from within a call of id.h: an event becomes a work, and cma.c runs works
 * one after the other. A MAD that arrives while another is being sent becomes a work, too.
 */
#ifndef SOFTHCA_CMA_PRIV_H
#define SOFTHCA_CMA_PRIV_H

#include <sys/queue.h>
#include "cma/addr.h"
#include "cma/cma.h"
#include "cma/dev.h"
#include "cma/id.h"
#include "fabric/ifaddr.h"
#include "fabric/fabric.h"
#include "hw/hca.h"
#include "hw/port.h"
#include "wire/mad/common.h"
#include "wire/mad/sa.h"

enum {
	CMA_RESPONSE_TIMEOUT = 20, /* CMA_CM_RESPONSE_TIMEOUT and the others in cma.c */
	CMA_MAX_RETRIES = 15,
	CMA_MRA_SETTING = CM_MRA_DELAY | 24,
	CMA_HDR = 36,          /* bytes of struct cma_hdr */
	CMA_REJ_CONSUMER = 28, /* IB_CM_REJ_CONSUMER_DEFINED */
	CMA_SIDR_SUCCESS = 0,  /* IB_SIDR_SUCCESS, IB_SIDR_REJECT */
	CMA_SIDR_REJECT = 2,
};
#define CMA_UDP_QKEY 0x01234567u /* RDMA_UDP_QKEY */
/* Q_Key of the broadcast group as OpenSM makes it (OSM_IPOIB_BROADCAST_MGRP_QKEY). */
#define CMA_IPOIB_QKEY 0x0b1bu
#define CMA_BINDS 4096u /* chains of bound ports, of queries */
#define CMA_QUERIES 1024u
#define CMA_GROUPS 256u

/* ---- cma.c */

/* A function call that waits for its turn. It is embedded in the object that the call is about. */
struct cma_work {
	TAILQ_ENTRY(cma_work) at;
	bool queued;
	void (*fn)(struct cma *c, struct cma_work *w);
};

/* A deadline, in its owner; `pos` is 0 when it is not set. */
struct cma_timer {
	uint64_t due; /* ns */
	uint32_t pos;
	void (*fn)(struct cma *c, struct cma_timer *t);
};

struct cma_bind;
struct cma_query;
struct cma_group;
TAILQ_HEAD(cma_works, cma_work);
TAILQ_HEAD(cma_ids, cma_id);
TAILQ_HEAD(cma_binds, cma_bind);
TAILQ_HEAD(cma_queries, cma_query);
TAILQ_HEAD(cma_groups, cma_group);
TAILQ_HEAD(cma_members, cma_member);

struct cma {
	struct seg *s;
	const struct cma_ops *ops;
	void *ctx;
	struct cm *cm;
	struct cma_dev *dev;
	uint32_t sending; /* calls of ops->send() that have not returned */
	struct cma_works works;
	struct cma_timer **heap; /* the next deadline first; heap[0] is not used */
	uint32_t ntimers, heap_room;
	struct cma_ids ids;
	struct cma_binds bind[CMA_BINDS];
	struct cma_queries query[CMA_QUERIES];
	struct cma_groups group[CMA_GROUPS];
	uint32_t *wanted, nwanted; /* ports whose changes are watched: SEG_T_PORT */
	uint32_t next_tid, last_port, last_number;
	uint64_t random;
};

void cma_work_put(struct cma *c, struct cma_work *w);
void cma_work_drop(struct cma *c, struct cma_work *w);
/* 0 or -ENOMEM. Cannot fail if the timer is set already, or in the timer's own fn(). */
int cma_timer_set(struct cma *c, struct cma_timer *t, uint64_t due);
void cma_timer_stop(struct cma *c, struct cma_timer *t);
uint64_t cma_now(const struct cma *c);
void cma_send(struct cma *c, const struct cm_pkt *p);
uint32_t cma_random(struct cma *c, uint32_t below);

/* ---- sa.c: requests to subnet administration, repeated as sa_query.c does */

/* `record`: the answer's record if status is 0. The query no longer exists when this is called. */
typedef void cma_sa_done(void *arg, int status, const uint8_t *record);
struct cma_sa_request {
	uint32_t port; /* SEG_T_PORT from which it is sent */
	enum mad_method method;
	enum sa_attr attr;
	uint64_t mask; /* ComponentMask */
	const uint8_t *record;
	uint32_t len, timeout_ms;
	cma_sa_done *done;
	void *arg;
};
/* 0, -ENOMEM, or -EAGAIN if the port does not know a subnet manager. */
int cma_sa_ask(struct cma *c, const struct cma_sa_request *r, struct cma_query **q);
/* Ends a query without calling done(). `q` may be NULL. */
void cma_sa_cancel(struct cma *c, struct cma_query *q);
void cma_sa_arrived(struct cma *c, const struct cm_pkt *p);
void cma_sa_free(struct cma *c);
uint32_t cma_sa_count(const struct cma *c);

/* ---- news.c */
/* From now on cma_groups_changed() is called for the port's changes. 0, -ENODEV, -ENOMEM. */
int cma_news_want(struct cma *c, uint32_t port);
void cma_news_look(struct cma *c);
void cma_news_free(struct cma *c);

/* ---- ids */

struct cma_bind { /* struct rdma_bind_list: a port of a host and port space */
	TAILQ_ENTRY(cma_bind) at;
	uint32_t host;
	enum rdma_ucm_port_space ps;
	uint16_t port;
	struct cma_ids owners; /* the newest first */
};

struct cma_id { /* struct rdma_id_private */
	struct cma *c;
	TAILQ_ENTRY(cma_id) at;
	uint32_t host, pid;
	uint32_t number; /* for those who list ids */
	char comm[16];
	enum cma_state state;
	enum rdma_ucm_port_space ps;
	uint8_t qp_type;
	cma_handler *handler;
	void *context;

	/*
	 * struct rdma_addr. `hca` SEG_NONE: no adapter; `port` SEG_NONE: any port of the adapter.
	 */
	union cma_addr src, dst;
	uint32_t hca, port, ifindex;
	uint8_t sgid[16], dgid[16];
	uint16_t pkey;

	struct cma_bind *bind;
	TAILQ_ENTRY(cma_id) owner;
	/* A listener on all adapters has an id for each. */
	struct cma_id *parent;
	struct cma_ids children;
	TAILQ_ENTRY(cma_id) child;

	struct cm_id *cm;
	struct cm_path path[2];
	uint32_t npaths;
	struct cma_query *query;
	/* Resolving: the old and the new state, and the event to report. */
	struct cma_work work;
	enum cma_state work_old, work_new;
	uint32_t work_event;
	int work_status;
	bool by_ip;          /* rdma_resolve_ip(): its results are the next two members */
	uint32_t found_port; /* SEG_T_PORT */
	union cma_addr found_src;
	struct cma_timer addr_timer; /* when to ask a neighbour again that does not answer */
	uint64_t addr_until;         /* ... until then, ns */
	struct cma_work gone;        /* the adapter's removal */

	struct cma_members mc;
	uint32_t qpn, qkey, seq_num;
	uint8_t tos, timeout;
	bool srq, tos_set, timeout_set, reuseaddr, afonly, afonly_set;
	struct cm_ece ece;
};

struct cma_id *cma_id_make(struct cma *c, uint32_t host, enum rdma_ucm_port_space ps,
			   uint8_t qp_type, cma_handler *h, void *context);
/* cma_comp_exch() */
static inline bool cma_exch(struct cma_id *id, enum cma_state from, enum cma_state to)
{
	if (id->state != from)
		return false;
	id->state = to;
	return true;
}
/* Calls the handler. True: the handler wanted the id destroyed, and it is. */
bool cma_tell(struct cma_id *id, const struct cma_event *e);
/* Binds the id to interface `at`: its port and the port's adapter. */
void cma_attach(struct cma_id *id, uint32_t at);
void cma_release_dev(struct cma_id *id);
int cma_set_qkey(struct cma_id *id, uint32_t qkey);
void cma_set_default_qkey(struct cma_id *id);
/* The index of a partition in a port's table (ib_find_cached_pkey()), or -ENOENT. */
int cma_pkey_index(struct seg *s, uint32_t port, uint16_t pkey);

/* ---- port.c: 0 or -errno */
int cma_get_port(struct cma_id *id);
int cma_check_port(struct cma_id *id, bool reuseaddr);
void cma_release_port(struct cma_id *id);
struct cma_bind *cma_bind_find(struct cma *c, uint32_t host, uint32_t ps, uint16_t port);

/* ---- resolve.c */
void cma_resolve_work(struct cma *c, struct cma_work *w);
void cma_resolve_timer(struct cma *c, struct cma_timer *t);
/* Repeats resolving for ids whose neighbour did not answer: it may exist now. */
void cma_resolve_again(struct cma *c);

/* ---- roce.c: what differs on Ethernet ports */
bool cma_is_roce(const struct cma_id *id);
/* rdma_ip2gid(); nothing for AF_IB. */
void cma_ip2gid(const union cma_addr *a, uint8_t gid[16]);
/* cma_acquire_dev_by_src_ip(): may the id, with its source address, use this interface? 0, -errno.
 */
int cma_may_use(const struct cma_id *id, uint32_t at);
/* The interface that the id is bound to, or its port's own. */
uint32_t cma_at(const struct cma_id *id);
/* How packets of the path travel (cma_iboe_set_path_rec_l2_fields()). */
void cma_roce_set_type(const struct cma_id *id, struct cm_path *p);
/* cma_resolve_iboe_route(): fills the id's path. 0, -ENODEV. */
int cma_roce_route(struct cma_id *id);
/* cma_iboe_join_multicast(). The member has no group at the SA. */
int cma_roce_join(struct cma_id *id, struct cma_member *m);

/* ---- listen.c, conn.c */
cm_handler cma_on_cm;
void cma_cancel_listens(struct cma_id *id);
/* A listener on all adapters listens on this one, too. */
void cma_listen_on(struct cma_id *id, uint32_t hca);
/* The size of struct cma_hdr, with which the private data begin; 0 for AF_IB. */
uint32_t cma_hdr_size(const struct cma_id *id);

/* ---- mcast.c: multicast.c of the kernel */
struct cma_member { /* struct cma_multicast, and mcast_member of ib_sa */
	TAILQ_ENTRY(cma_member) of_id, of_group;
	struct cma_id *id;
	struct cma_group *group; /* NULL on Ethernet, which needs no membership at an SA */
	struct cma_work work;    /* there: the event */
	enum { CMA_JOINING, CMA_MEMBER, CMA_NO_MEMBER } state; /* the first two: in a list */
	void *context;
	union cma_addr addr;
	uint8_t join_state;
	uint64_t mask; /* ComponentMask of `rec`, a MCMemberRecord */
	uint8_t rec[LAYOUT_SZ(mc_member_record)];
};
void cma_leave_all(struct cma_id *id);
/* `reset`: the SA has forgotten the port's memberships; else the port's P_Keys have changed. */
void cma_groups_changed(struct cma *c, uint32_t port, bool reset);
void cma_groups_free(struct cma *c);
uint32_t cma_groups_count(const struct cma *c);

#endif
