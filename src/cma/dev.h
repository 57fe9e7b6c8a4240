/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rdma_cm character device on the kernel's side: drivers/infiniband/core/ucma.c. dev.c has open
 * files, their ids and events; dev_cmd*.c the commands. Below it lies id.h. The first part of this
 * header is for the owner of struct cma, the second for dev*.c alone.
 */
#ifndef SOFTHCA_CMA_DEV_H
#define SOFTHCA_CMA_DEV_H

#include <sys/queue.h>
#include "cma/id.h"

struct cma_dev;

/* NULL: no memory. `ops` and `ctx` are those of cma_new(): ready() is called. */
struct cma_dev *cma_dev_new(struct cma *c, struct seg *s, const struct cma_ops *ops, void *ctx);
/* Destroys the ids of all files; id.h's functions must still work. Accepts NULL. */
void cma_dev_free(struct cma_dev *d);
/* Returns the character device of `c`; defined beside struct cma. */
struct cma_dev *cma_dev_of(struct cma *c);

/* Open files, and the events that wait in them. */
void cma_dev_count(const struct cma_dev *d, uint32_t *files, uint32_t *events);

/* ---- for dev*.c */

/* Numbers of one kind from 0 up, the lowest free one first (xa_alloc()), and what has them. */
struct dev_ids {
	void **slot;    /* NULL: free, or reserved for an id under construction (XA_ZERO_ENTRY) */
	uint64_t *used; /* a bit each: taken */
	uint32_t room;  /* size of both, in numbers; a multiple of 64 */
	uint32_t low;   /* all words of `used` before this one are full */
};
/* 0 or -ENOMEM. */
int dev_ids_take(struct dev_ids *t, uint32_t *id);
void dev_ids_set(struct dev_ids *t, uint32_t id, void *p);
void *dev_ids_get(const struct dev_ids *t, uint32_t id);
void dev_ids_drop(struct dev_ids *t, uint32_t id);

/* A host is a kernel of its own: it has the tables that are global in ucma.c. */
struct dev_host {
	struct dev_ids ctx, mc;
};

TAILQ_HEAD(dev_ctxs, dev_ctx);
TAILQ_HEAD(dev_events, dev_event);
TAILQ_HEAD(dev_mcs, dev_mc);
TAILQ_HEAD(dev_files, dev_file);

struct dev_file { /* struct ucma_file */
	struct cma_dev *dev;
	struct dev_host *host;
	uint32_t file, host_index; /* SEG_T_FILE, SEG_T_HOST */
	uint32_t pid;
	char comm[16];
	struct dev_ctxs ctxs;
	struct dev_events events;  /* first those in the file's queue, then those not yet queued */
	_Atomic uint32_t *changes; /* cma_file_changes(); NULL: none */
	bool fresh;                /* it is in cma_dev.fresh */
	TAILQ_ENTRY(dev_file) in_fresh;
};

struct dev_ctx { /* struct ucma_context */
	TAILQ_ENTRY(dev_ctx) link;
	struct dev_file *file;
	struct cma_id *cm_id; /* NULL: the device is gone (ucma_close_id()) */
	uint32_t id, events_reported, backlog;
	uint64_t uid;
	struct dev_events events;  /* this id's part of the file's events, in the same order */
	struct dev_event *request; /* its CONNECT_REQUEST, which waits in the listener's file */
	struct dev_mcs mcs;
};

struct dev_mc { /* struct ucma_multicast */
	TAILQ_ENTRY(dev_mc) link;
	struct dev_ctx *ctx;
	uint32_t id, events_reported;
	uint64_t uid;
	union cma_addr addr;
};

struct dev_event { /* struct ucma_event */
	TAILQ_ENTRY(dev_event) in_file, in_ctx;
	struct dev_ctx *ctx;
	struct dev_ctx *conn; /* CONNECT_REQUEST: the new id, while it lives */
	struct dev_mc *mc;
	uint64_t ref; /* number from cma_ops.push(); 0: not in the file's queue */
	struct rdma_ucm_event_resp resp;
};

struct cma_dev {
	struct cma *cma;
	struct seg *s;
	const struct cma_ops *ops;
	void *ctx;
	struct dev_file **file; /* by SEG_T_FILE */
	struct dev_host **host; /* by SEG_T_HOST */
	uint32_t nfile, nhost;
	struct dev_files fresh; /* files with events that are not in their queue yet */
};

/* A write(2) that is being carried out. */
struct dev_call {
	struct dev_file *file;
	const struct ucma_call *call;
	uint16_t in_len, out_len; /* of its header */
	const void *aux;
	void *out;
	size_t *written; /* bytes in `out` */
};

/* copy_to_user() to the command's response address: 0 or -EFAULT. */
int dev_respond(const struct dev_call *c, const void *data, size_t len);

/* ---- dev.c: files, ids, events */
struct dev_file *dev_file_of(const struct cma_dev *d, uint32_t file);
/* ucma_alloc_ctx(): not public before dev_ctx_finish(). NULL: no memory. */
struct dev_ctx *dev_ctx_new(struct dev_file *f);
void dev_ctx_finish(struct dev_ctx *ctx);
/* ucma_destroy_private_ctx(), whether or not the id was finished. Returns events_reported. */
uint32_t dev_ctx_destroy(struct dev_ctx *ctx);
/* ucma_get_ctx(): 0, -ENOENT, -EINVAL (another file's), -ENXIO (its adapter is gone). */
int dev_ctx_get(struct dev_file *f, uint32_t id, struct dev_ctx **out);
/* ucma_get_ctx_dev(): also -EINVAL for an id without an adapter. */
int dev_ctx_get_bound(struct dev_file *f, uint32_t id, struct dev_ctx **out);
/* The cma_handler of all ids; ucma_event_handler(). */
int dev_on_event(struct cma_id *id, const struct cma_event *e);
/* ucma_get_event(): the program has received the event. */
void dev_event_told(struct dev_event *e);
/*
 * Removes an event from the file's queue. False: a reader was faster, so the event counts as
 * received.
 */
bool dev_event_take_back(struct dev_event *e);
/* Takes all events of an id, or of group `mc`, back from the queue. Those left are in no queue. */
void dev_events_take_back(struct dev_ctx *ctx, const struct dev_mc *mc);
/* It is in no queue. */
void dev_event_forget(struct dev_event *e);
/* Moves an id and its events, in their order, to another file (MIGRATE_ID). */
void dev_ctx_move(struct dev_ctx *ctx, struct dev_file *to);
/* Counts the events that readers have taken; marks the file, so that the rest is queued later. */
void dev_file_sync(struct dev_file *f);
/* Something happened to an id: invalidates the answers that travelled with its event. */
void dev_changed(const struct dev_file *f, uint32_t id);
/* Something happens to a port: what answers say of it may no longer hold. */
void dev_changed_all(struct cma_dev *d);
/* Queues the new events of all files. Called after each request and each arrival. */
void dev_queue_fresh(struct cma_dev *d);

/* ---- dev_ahead.c */
/*
 * Writes the answers to the commands that programs usually issue after that event. Returns their
 * length, `room` at most.
 */
size_t dev_ahead(struct dev_file *f, const struct rdma_ucm_event_resp *e, void *out, size_t room);

/* ---- dev_cmd*.c: `cmd` is the command's struct, zero beyond what was copied; 0 or -errno */
typedef int dev_cmd_fn(struct dev_call *c, const void *cmd);
dev_cmd_fn dev_create_id, dev_destroy_id, dev_bind_ip, dev_bind, dev_resolve_ip, dev_resolve_addr;
dev_cmd_fn dev_resolve_route, dev_listen, dev_get_event, dev_notify, dev_migrate_id;
dev_cmd_fn dev_connect, dev_accept, dev_reject, dev_disconnect;
dev_cmd_fn dev_query_route, dev_query, dev_init_qp_attr, dev_set_option;
dev_cmd_fn dev_join_ip_mcast, dev_join_mcast, dev_leave_mcast;

/* rdma_addr_size(): bytes of the family's address; 0: a family that rdma_cm does not know. */
uint32_t dev_addr_size(const void *a);
/* rdma_addr_size_in6(): only what a struct sockaddr_in6 can hold. */
uint32_t dev_addr_size_in6(const struct sockaddr_in6 *a);

/* ---- dev_path.c: paths as programs see them */
struct dev_port {           /* what the commands tell about a port; zero: the id has none */
	uint64_t node_guid; /* big-endian, as programs get it */
	uint32_t hca_index;
	uint8_t num;
};
bool dev_port_of(const struct dev_ctx *ctx, struct dev_port *out);
/*
 * ib_copy_ah_attr_to_user() of a path from that SEG_T_PORT: all but port_num, with a GRH if `grh`.
 */
void dev_ah_attr(const struct seg *s, uint32_t port, const struct cm_path *p, bool grh,
		 struct ib_uverbs_ah_attr *out);
/* ib_copy_path_rec_to_user() */
void dev_user_path(const struct cm_path *p, struct ib_user_path_rec *out);
/* ib_sa_pack_path() and ib_sa_unpack_path(): the PathRecord of subnet administration. */
void dev_path_pack(const struct cm_path *p, void *rec);
void dev_path_unpack(const void *rec, struct cm_path *p);

#endif
