/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Ids that a test plays, instead of id.c: each function writes down its call and returns what the
 * test says. For tests of the device, with a host of two adapters of one port each.
 */
#ifndef SOFTHCA_CMA_TEST_FAKE_H
#define SOFTHCA_CMA_TEST_FAKE_H

#include <sys/queue.h>
#include "cma/dev.h"

struct cma_id {
	TAILQ_ENTRY(cma_id) link;
	struct cma *c;
	uint32_t host, pid;
	char comm[16];
	enum rdma_ucm_port_space ps;
	uint8_t qp_type;
	cma_handler *handler;
	void *context;
	union cma_addr src, dst;
	uint32_t port;
	uint32_t npaths;
	struct cm_path path[2];
};
TAILQ_HEAD(fake_ids, cma_id);

struct fake_call { /* the last call */
	const char *name;
	struct cma_id *id;
	union cma_addr src, dst;
	uint32_t n; /* timeout, backlog, event, state, option's value */
	struct cma_conn_param param;
	uint8_t data[256];
	bool has_param;
	struct cm_ece ece;
	struct cm_path path;
	void *context;
};

struct cma {
	struct cma_dev *dev;
	struct seg s;
	struct fake_ids ids;
	uint32_t nids;
	int err; /* what the next call returns, all but cma_init_qp_attr() */
	struct fake_call last;
	struct cm_qp_attr qp_attr;
	uint32_t host, other_host, port[2]; /* SEG_T_HOST, SEG_T_PORT */
	int nready[64];                     /* by SEG_T_FILE: events in its queue */
	/* the event that was queued last, and its answers */
	struct ucma_event pushed;
	uint8_t ahead[UCMA_AHEAD_MAX];
	size_t npushed;
	uint64_t ref, taken; /* numbers of the last event queued and of the last event read */
	bool late;           /* the event is taken after the device has checked */
	bool full;           /* no room in the queues */
	bool reads;          /* a reader takes the oldest event after each one that is dropped */
};

/* Plays a reader that takes the oldest event; it must be in that file. */
void fake_take(struct cma *c, uint32_t file);
struct cma *fake_new(void);
/* Frees the device first, then checks that nothing is left. */
void fake_free(struct cma *c);
/* Calls the handler as id.c does. CONNECT_REQUEST: `from` is the listener. False: `id` is gone. */
bool fake_tell(struct cma_id *id, const struct cma_event *e);
/* A connection arrives at a listener: its id, or NULL if that was refused. */
struct cma_id *fake_request(struct cma_id *listener, const struct cma_event *e);

#endif
