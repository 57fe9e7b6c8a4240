/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The communication manager of all hosts of a fabric (IBA 12; in the kernel
 * drivers/infiniband/core/cm.c): connections and service ID resolution by MADs of class 7. It runs
 * in one thread, the supervisor's loop, and keeps nothing in the segment. It sends by cm_ops.send()
 * and receives by cm_arrived(); cm_run_due() handles its deadlines.
 *
 * Functions return 0 or the -errno of the kernel's function of that name (ib_send_cm_req() for
 * cm_send_req()). They do not keep pointers that they are given.
 */
#ifndef SOFTHCA_CM_CM_H
#define SOFTHCA_CM_CM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "wire/mad/common.h"

/*
 * Upper half of the transaction IDs of the kernel's own requests (to the SA): no program's agent
 * has it, so the answers find their way back.
 */
#define CM_KERNEL_TID 0xffffffffu

/* A GMP that leaves the QP1 of a port, or has arrived there. Host order, GIDs as on the wire. */
struct cm_pkt {
	uint32_t port; /* SEG_T_PORT: where it leaves, or has arrived */
	uint32_t from; /* of a request to the SA that has arrived: the port that it left */
	/*
	 * InfiniBand: a sender may leave slid 0, which means the port's base LID. Ethernet: a
	 * sender leaves both 0, the GIDs tell the ends; in a packet that has arrived, slid is the
	 * sender's address (fabric/eth.h).
	 */
	uint32_t slid, dlid;
	uint8_t sl;
	uint32_t qpn; /* of the other end: 1 */
	uint16_t pkey_index;
	bool grh;
	uint16_t gid_kind;   /* hw_gid_kind() of the GIDs in the GRH */
	uint8_t answer_hops; /* on Ethernet: the hop limit to use in an answer to this MAD */
	uint8_t hop_limit, traffic_class;
	uint32_t flow_label;
	uint8_t sgid[16], dgid[16]; /* the GRH's; without a GRH the GIDs of the ends */
	bool again;                 /* the sender repeats it */
	/* Held up for so long by a fault, at `port`, where all checks are done; `turns`: of umad.
	 */
	uint64_t late_ns;
	uint8_t turns;
	uint8_t mad[MAD_SIZE];
};

/* The properties of a port that the communication manager needs. */
struct cm_port {
	uint32_t host, hca, num;
	uint64_t ca_guid; /* node GUID */
	uint16_t lid;
	uint8_t lmc;
	uint8_t gid[16];
	uint8_t ack_delay; /* local_ca_ack_delay of the adapter */
	bool active;
	bool eth;             /* RoCE */
	const uint16_t *pkey; /* all entries of the table; 0: empty */
	uint32_t npkeys;
};

#define CM_NO_PORT UINT32_MAX /* SEG_NONE */

struct cm_ops {
	/* Carries it at once or loses it; an answer may arrive (cm_arrived()) before it returns. */
	void (*send)(void *ctx, const struct cm_pkt *p);
	/* False: there is no such port. */
	bool (*port)(void *ctx, uint32_t port, struct cm_port *out);
	/*
	 * The port of `host` that has this GID, or CM_NO_PORT (rdma_find_gid()). NULL: only the
	 * port where a request has arrived is looked at.
	 */
	uint32_t (*find_gid)(void *ctx, uint32_t host, const uint8_t gid[16]);
	uint64_t (*now)(void *ctx); /* ns */
};

/* One direction of a path between two ports, as a PathRecord describes it. */
struct cm_path {
	uint8_t sgid[16], dgid[16];
	uint64_t service_id;
	uint16_t slid, dlid; /* 0 on Ethernet; the kernel's OPA variant is not used here */
	uint16_t pkey;
	uint8_t sl;
	uint8_t mtu, rate, packet_life_time; /* codes of PathRecord */
	uint8_t hop_limit, traffic_class;
	uint32_t flow_label;
	uint16_t qos_class;
	bool reversible, raw_traffic;
	uint8_t numb_path, preference;
	uint16_t gid_kind; /* hw_gid_kind(): InfiniBand, or the encapsulation of RoCE packets */
};

enum cm_state {
	CM_IDLE,
	CM_LISTEN,
	CM_REQ_SENT,
	CM_REQ_RCVD,
	CM_MRA_REQ_SENT,
	CM_MRA_REQ_RCVD,
	CM_REP_SENT,
	CM_REP_RCVD,
	CM_MRA_REP_SENT,
	CM_MRA_REP_RCVD,
	CM_ESTABLISHED,
	CM_DREQ_SENT,
	CM_DREQ_RCVD,
	CM_TIMEWAIT,
	CM_SIDR_REQ_SENT,
	CM_SIDR_REQ_RCVD,
};

enum cm_event_type {
	CM_REQ_ERROR, /* nobody has answered, after all repetitions */
	CM_REQ_RECEIVED,
	CM_REP_ERROR,
	CM_REP_RECEIVED,
	CM_RTU_RECEIVED,
	CM_USER_ESTABLISHED,
	CM_DREQ_ERROR,
	CM_DREQ_RECEIVED,
	CM_DREP_RECEIVED,
	CM_TIMEWAIT_EXIT,
	CM_MRA_RECEIVED,
	CM_REJ_RECEIVED,
	CM_LAP_RECEIVED,
	CM_SIDR_REQ_ERROR,
	CM_SIDR_REQ_RECEIVED,
	CM_SIDR_REP_RECEIVED,
};

/* IBA 12.6.7.2; the names are those of wire/mad/cm.h. */
enum cm_transport { CM_RC = 0, CM_UC = 1, CM_NONE = 2 /* of a REQ: any other */, CM_XRC = 3 };

/* Room for private data: IBA 12.6. */
enum {
	CM_REQ_DATA = 92,
	CM_MRA_DATA = 222,
	CM_REJ_DATA = 148,
	CM_REJ_ARI = 72,
	CM_REP_DATA = 196,
	CM_RTU_DATA = 224,
	CM_DREQ_DATA = 220,
	CM_DREP_DATA = 224,
	CM_SIDR_REQ_DATA = 216,
	CM_SIDR_REP_DATA = 136,
	CM_SIDR_REP_INFO = 72,
};

struct cm_ece {
	uint32_t vendor_id, attr_mod;
};

struct cm_id;
struct cm;

struct cm_event {
	enum cm_event_type type;
	const void *data; /* private data, or NULL; its room is that of the message's kind */
	uint32_t len;
	union {
		struct {
			struct cm_id *listener; /* the new id is the handler's first argument */
			uint32_t port;          /* SEG_T_PORT where it arrived */
			uint16_t bth_pkey;
			struct cm_path path; /* from here to the sender */
			bool has_alt;
			struct cm_path alt;
			uint64_t service_id, remote_ca_guid;
			uint32_t remote_qkey, remote_qpn, starting_psn;
			enum cm_transport transport;
			uint8_t responder_resources, initiator_depth; /* as this end sees them */
			uint8_t local_response_timeout, remote_response_timeout;
			uint8_t retry_count, rnr_retry_count;
			bool flow_control, srq;
			struct cm_ece ece;
		} req;
		struct {
			uint64_t remote_ca_guid;
			uint32_t remote_qkey, remote_qpn, starting_psn;
			uint8_t responder_resources, initiator_depth;
			uint8_t target_ack_delay, failover_accepted, rnr_retry_count;
			bool flow_control, srq;
			struct cm_ece ece;
		} rep;
		struct {
			uint32_t reason; /* CM_REJ_* of wire/mad/cm.h */
			const void *ari;
			uint8_t ari_len;
		} rej;
		struct {
			uint8_t service_timeout;
		} mra;
		struct {
			struct cm_id *listener;
			uint32_t port;
			uint64_t service_id;
			uint16_t bth_pkey, pkey;
		} sidr_req;
		struct {
			uint32_t status; /* CM_SIDR_* of wire/mad/cm.h */
			uint32_t qkey, qpn;
			const void *info;
			uint8_t info_len;
		} sidr_rep;
	};
};

/*
 * Called for every event of an id. A CM_REQ_RECEIVED or CM_SIDR_REQ_RECEIVED brings a new `id`,
 * which has the listener's handler and context until cm_set_context(). If the handler returns not
 * 0, the id is destroyed (as the kernel rejects or forgets it). The handler may call every function
 * below, except cm_destroy() of this id.
 */
typedef int cm_handler(struct cm_id *id, const struct cm_event *e);

struct cm *cm_new(const struct cm_ops *ops, void *ctx);
/* Destroys all ids without telling their peers. */
void cm_free(struct cm *cm);
/* Handle a MAD of class 7 that arrived at p->port and for which no program has registered. */
void cm_arrived(struct cm *cm, const struct cm_pkt *p);
/*
 * Handles all deadlines that are due (repetitions, failures, ends of timewait). Returns the next
 * deadline (ns) or UINT64_MAX.
 */
uint64_t cm_run_due(struct cm *cm);

/* `hca`: SEG_T_HCA of the adapter it belongs to. NULL: no memory. */
struct cm_id *cm_create(struct cm *cm, uint32_t hca, cm_handler *h, void *context);
/* Rejects or disconnects a connection first, as the kernel's cm_destroy_id() does. */
void cm_destroy(struct cm_id *id);
void cm_set_context(struct cm_id *id, cm_handler *h, void *context);
void *cm_context(const struct cm_id *id);
/* The `ctx` of cm_new(): a request at a shared listener has no context. */
void *cm_ctx(const struct cm_id *id);
enum cm_state cm_state(const struct cm_id *id);
const char *cm_state_name(enum cm_state st);
uint32_t cm_hca(const struct cm_id *id);

/*
 * Gets a listener for `service_id` on `hca` (ib_cm_insert_listen()): shares one that has this
 * handler, else makes one. NULL and *err: -EINVAL (another handler has it), -ENOMEM. A shared
 * listener's context is NULL, so the handler finds its user by the request and cm_ctx(). Each user
 * calls cm_destroy().
 */
struct cm_id *cm_insert_listen(struct cm *cm, uint32_t hca, cm_handler *h, uint64_t service_id,
			       int *err);

struct cm_req {
	uint32_t port;                                   /* SEG_T_PORT that has path->sgid */
	const struct cm_path *path, *inbound, *outbound; /* the last two may be NULL */
	uint64_t service_id;
	uint32_t qpn, starting_psn;
	enum cm_transport transport;
	const void *data;
	uint32_t len;
	uint8_t responder_resources, initiator_depth;
	uint8_t remote_response_timeout, local_response_timeout;
	uint8_t retry_count, rnr_retry_count, max_retries;
	bool flow_control, srq;
	struct cm_ece ece;
};
int cm_send_req(struct cm_id *id, const struct cm_req *p);

struct cm_rep {
	uint32_t qpn, starting_psn;
	const void *data;
	uint32_t len;
	uint8_t responder_resources, initiator_depth;
	uint8_t failover_accepted, rnr_retry_count;
	bool flow_control, srq;
	struct cm_ece ece;
};
int cm_send_rep(struct cm_id *id, const struct cm_rep *p);
int cm_send_rtu(struct cm_id *id, const void *data, uint32_t len);
int cm_send_dreq(struct cm_id *id, const void *data, uint32_t len);
int cm_send_drep(struct cm_id *id, const void *data, uint32_t len);
int cm_send_rej(struct cm_id *id, uint32_t reason, const void *ari, uint32_t ari_len,
		const void *data, uint32_t len);
/* A bit of service_timeout: send the MRA only when the peer repeats its message. */
#define CM_MRA_DELAY 0x80
int cm_send_mra(struct cm_id *id, uint8_t service_timeout, const void *data, uint32_t len);
/* Tells the CM of an event of the id's QP: IBV_EVENT_COMM_EST or IBV_EVENT_PATH_MIG. */
int cm_notify(struct cm_id *id, uint32_t event);

struct cm_sidr_req {
	uint32_t port;
	const struct cm_path *path;
	uint64_t service_id;
	uint32_t timeout_ms;
	const void *data;
	uint32_t len;
	uint8_t max_retries;
};
int cm_send_sidr_req(struct cm_id *id, const struct cm_sidr_req *p);
struct cm_sidr_rep {
	uint32_t qpn, qkey;
	uint32_t status;
	const void *info, *data;
	uint32_t info_len, len;
	struct cm_ece ece;
};
int cm_send_sidr_rep(struct cm_id *id, const struct cm_sidr_rep *p);

/*
 * The result of ib_cm_init_qp_attr(). `mask` (enum ibv_qp_attr_mask) says which members are valid.
 */
struct cm_qp_attr {
	uint32_t mask;
	uint32_t access; /* IBV_ACCESS_* */
	uint16_t pkey_index;
	uint8_t port_num, alt_port_num;
	struct cm_path path, alt; /* valid if mask has IBV_QP_AV, IBV_QP_ALT_PATH */
	uint8_t path_src_bits;    /* of path.slid */
	uint8_t path_mtu, timeout, alt_timeout, retry_cnt, rnr_retry;
	uint8_t max_rd_atomic, max_dest_rd_atomic, min_rnr_timer;
	uint32_t dest_qpn, rq_psn, sq_psn;
	uint32_t qkey; /* IBV_QP_QKEY: only cma_init_qp_attr() for UD sets it */
	uint16_t alt_pkey_index;
	uint8_t path_mig_state;
	bool grh;
};
/* qp_state: IBV_QPS_INIT, RTR or RTS; -EINVAL in a state that has no answer. */
int cm_init_qp_attr(const struct cm_id *id, uint32_t qp_state, struct cm_qp_attr *out);

/* ---- for status, netlink and tests */
/* ids that are not freed yet, timewait included. */
uint32_t cm_count(const struct cm *cm);

#endif
