/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Connection identifiers by IP address: what drivers/infiniband/core/cma.c is in the kernel
 * (<rdma/rdma_cm.h>). dev.c and its files, the character device, are the only callers.
 *
 * Functions return 0 or the -errno of the kernel's function (rdma_bind_addr() for cma_bind()). An
 * event is given to the id's handler, never from within a call of one of these functions, but later
 * in the same turn of the loop (cma_run_due()), as the kernel's work queues do.
 */
#ifndef SOFTHCA_CMA_ID_H
#define SOFTHCA_CMA_ID_H

#include <rdma/rdma_user_cm.h>
#include <sys/socket.h>
#include <netinet/in.h>
#include "cm/cm.h"
#include "cma/cma.h"

enum cma_state { /* enum rdma_cm_state */
		 CMA_IDLE,
		 CMA_ADDR_QUERY,
		 CMA_ADDR_RESOLVED,
		 CMA_ROUTE_QUERY,
		 CMA_ROUTE_RESOLVED,
		 CMA_CONNECT,
		 CMA_DISCONNECT,
		 CMA_ADDR_BOUND,
		 CMA_LISTEN,
		 CMA_DEVICE_REMOVAL,
		 CMA_DESTROYING,
};

/* enum rdma_cm_event_type of <rdma/rdma_cma.h>, which excludes <rdma/rdma_user_cm.h>. */
enum cma_event_type {
	RDMA_CM_EVENT_ADDR_RESOLVED,
	RDMA_CM_EVENT_ADDR_ERROR,
	RDMA_CM_EVENT_ROUTE_RESOLVED,
	RDMA_CM_EVENT_ROUTE_ERROR,
	RDMA_CM_EVENT_CONNECT_REQUEST,
	RDMA_CM_EVENT_CONNECT_RESPONSE,
	RDMA_CM_EVENT_CONNECT_ERROR,
	RDMA_CM_EVENT_UNREACHABLE,
	RDMA_CM_EVENT_REJECTED,
	RDMA_CM_EVENT_ESTABLISHED,
	RDMA_CM_EVENT_DISCONNECTED,
	RDMA_CM_EVENT_DEVICE_REMOVAL,
	RDMA_CM_EVENT_MULTICAST_JOIN,
	RDMA_CM_EVENT_MULTICAST_ERROR,
	RDMA_CM_EVENT_ADDR_CHANGE,
	RDMA_CM_EVENT_TIMEWAIT_EXIT,
};

/* Room for every family that a program may name: sockaddr_ib is the largest. */
union cma_addr {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_storage room;
};

struct cma_conn_param { /* struct rdma_conn_param */
	const void *data;
	uint8_t len;
	uint8_t responder_resources, initiator_depth;
	uint8_t flow_control, retry_count, rnr_retry_count, srq;
	uint32_t qpn, qkey;
};

struct cma_event {      /* struct rdma_cm_event */
	uint32_t event; /* enum cma_event_type */
	int status;
	union {
		struct cma_conn_param conn;
		struct {
			const void *data;
			uint8_t len;
			struct cm_path path; /* of the address handle */
			uint8_t port_num;
			bool grh;
			uint16_t dlid; /* a group's MLID, or path.dlid */
			uint32_t qpn, qkey;
			void *context; /* of cma_join() */
		} ud;
	};
	struct cm_ece ece;
};

struct cma_id;
/* Not 0: the id is destroyed after the call. For CONNECT_REQUEST `id` is new (cma_set_context). */
typedef int cma_handler(struct cma_id *id, const struct cma_event *e);

/* `host`: SEG_T_HOST whose addresses and ports it has. */
struct cma_id *cma_id_new(struct cma *c, uint32_t host, uint32_t owner_pid, const char *comm,
			  enum rdma_ucm_port_space ps, uint8_t qp_type, cma_handler *h,
			  void *context);
void cma_id_destroy(struct cma_id *id);
void cma_set_context(struct cma_id *id, cma_handler *h, void *context);
void *cma_context(const struct cma_id *id);

int cma_bind(struct cma_id *id, const union cma_addr *a);
int cma_resolve_addr(struct cma_id *id, const union cma_addr *src, const union cma_addr *dst,
		     uint32_t timeout_ms);
int cma_resolve_route(struct cma_id *id, uint32_t timeout_ms);
int cma_listen(struct cma_id *id, int backlog);
int cma_connect(struct cma_id *id, const struct cma_conn_param *p, const struct cm_ece *ece);
/* p NULL: the active end confirms the peer's REP (RTU) and adds no parameters. */
int cma_accept(struct cma_id *id, const struct cma_conn_param *p, const struct cm_ece *ece);
int cma_reject(struct cma_id *id, const void *data, uint8_t len, uint8_t reason);
int cma_disconnect(struct cma_id *id);
int cma_notify(struct cma_id *id, uint32_t event);
/* qp_state: IBV_QPS_*. */
int cma_init_qp_attr(struct cma_id *id, uint32_t qp_state, struct cm_qp_attr *out);
int cma_join(struct cma_id *id, const union cma_addr *a, uint8_t join_state, void *context);
void cma_leave(struct cma_id *id, const union cma_addr *a);
void cma_set_service_type(struct cma_id *id, uint8_t tos);
int cma_set_reuseaddr(struct cma_id *id, int reuse);
int cma_set_afonly(struct cma_id *id, int afonly);
int cma_set_ack_timeout(struct cma_id *id, uint8_t timeout);
/* rdma_set_ib_path(). -EINVAL if the id is not in state ADDR_RESOLVED. */
int cma_set_path(struct cma_id *id, const struct cm_path *path);
uint64_t cma_service_id(const struct cma_id *id, const union cma_addr *a);

/* ---- what queries show */
const union cma_addr *cma_src(const struct cma_id *id);
const union cma_addr *cma_dst(const struct cma_id *id);
/* SEG_T_PORT it is bound to, or SEG_NONE. */
uint32_t cma_port(const struct cma_id *id);
/* SEG_T_HCA; SEG_NONE: the id has no adapter (id->device of the kernel). */
void cma_gids(const struct cma_id *id, uint8_t sgid[16], uint8_t dgid[16], uint16_t *pkey);
/* Paths that RESOLVE_ROUTE has found: NULL when i is too large. */
const struct cm_path *cma_path(const struct cma_id *id, uint32_t i);
uint32_t cma_npaths(const struct cma_id *id);
uint8_t cma_qp_type(const struct cma_id *id);

#endif
