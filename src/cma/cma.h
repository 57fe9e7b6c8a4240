/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rdma_cm character device of all hosts, on the kernel's side: ids, ports, listeners, routes
 * and connections (id.h), and the commands of programs (dev.h). It lives in the supervisor and runs
 * in its loop, in one thread; programs' processes hand it what they write (src/ucma).
 */
#ifndef SOFTHCA_CMA_CMA_H
#define SOFTHCA_CMA_CMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include "cm/cm.h"
#include "segment/seg.h"
#include "ucma/abi.h"

struct cma;

struct cma_ops {
	/*
	 * Queues an event for the reader of `file`: `len` bytes, a struct ucma_event and answers.
	 * *ref is the event's number, not 0. -errno: the queue is full; the reader has to ask the
	 * supervisor.
	 */
	int (*push)(void *ctx, uint32_t file, const void *event, size_t len, uint64_t *ref);
	/* True if no reader has taken the event yet. */
	bool (*waits)(void *ctx, uint64_t ref);
	/* Removes the event from the queue. False: a reader has taken it. */
	bool (*drop)(void *ctx, uint32_t file, uint64_t ref);
	/* Sends from QP1 of p->port; answers may arrive (cma_arrived()) before it returns. */
	void (*send)(void *ctx, const struct cm_pkt *p);
	uint64_t (*now)(void *ctx); /* ns */
};

struct cma *cma_new(struct seg *s, const struct cma_ops *ops, void *ctx);
void cma_free(struct cma *c);
/* A MAD for the kernel: of class 7, or the SA's answer to what we have asked. */
void cma_arrived(struct cma *c, const struct cm_pkt *p);
/* Events and deadlines that are due; the next deadline (ns) or UINT64_MAX. */
uint64_t cma_run_due(struct cma *c);

/* ---- open files of /dev/infiniband/rdma_cm */
/* `file`: SEG_T_FILE, `host`: SEG_T_HOST of the opener. 0 or -ENOMEM. */
int cma_file_open(struct cma *c, uint32_t file, uint32_t host, uint32_t pid, const char *comm);
/*
 * The opener's array of counters: number id % SLOT_CHANGES is incremented whenever something
 * happens to the id. Without it, no answers are sent ahead with events (ucma/ahead.h).
 */
void cma_file_changes(struct cma *c, uint32_t file, _Atomic uint32_t *words);
/* The last reference is gone: ids are destroyed as ucma_close() does. */
void cma_file_gone(struct cma *c, uint32_t file);

/*
 * One write(2), as src/ucma hands it over: `in` has call->len bytes, `aux` call->aux_len. Returns
 * what write(2) does: the count, or -errno; GET_EVENT on an empty file: -EAGAIN, and the caller
 * waits. A reader takes events from the file's queue; GET_EVENT is for one that cannot. *out_len
 * bytes of `out` (UCMA_OUT_MAX at most) are for the response's address, 0 after an error that
 * writes none.
 */
ssize_t cma_write(struct cma *c, const struct ucma_call *call, const void *in, const void *aux,
		  void *out, size_t *out_len);

/* ---- for status and netlink */
struct cma_shown {
	uint32_t host, hca, port; /* SEG_T_HOST, SEG_T_HCA, SEG_T_PORT; SEG_NONE: not bound */
	uint32_t id;              /* its number */
	bool listens;
	uint32_t pid; /* of the opener of its file */
	const char *comm, *state, *ps;
	const char *cm_state; /* state of the id's cm_id, with TIMEWAIT; NULL: no cm_id */
	uint32_t state_number, ps_number, qp_type, qpn;
	uint16_t number; /* port number of src, host order */
	struct sockaddr_storage src, dst;
};
void cma_each(struct cma *c, void (*show)(void *arg, const struct cma_shown *s), void *arg);

/*
 * How many objects all hosts have. When no file is open each count is 0, except that of joins that
 * the SA has not answered yet.
 */
struct cma_counts {
	uint32_t files, ids;  /* ids: a listener on all adapters has more than one */
	uint32_t connections; /* ids of src/cm; a listener that several ids share counts once */
	uint32_t ports;       /* bound ports, in all hosts and port spaces */
	uint32_t events;      /* that wait in files */
	uint32_t queries, groups;
};
void cma_count(const struct cma *c, struct cma_counts *out);

/* ---- the fabric changes */
/* The link of a port or its adapter came or went. Neighbours may answer now; ids may end. */
void cma_port_event(struct cma *c, uint32_t port);

#endif
