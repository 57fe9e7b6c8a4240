/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shared by the files of src/cm. An id is struct cm_id_private of the kernel's cm.c with its struct
 * cm_timewait_info (the members tw_*) in one piece, so that only the creation of an id and the
 * arrival of a MAD need memory.
 */
#ifndef SOFTHCA_CM_PRIV_H
#define SOFTHCA_CM_PRIV_H

#include "cm/cm.h"
#include "wire/mad/cm.h"

/* ---- table.c: a hash table of nodes that lie in ids */

struct cm_key {
	uint64_t a;
	uint32_t b, c;
};

struct cm_node {
	struct cm_key key;
	struct cm_node *next;
	struct cm_id *id;
	bool in;
};

struct cm_table {
	struct cm_node **bucket;
	uint32_t nbuckets, count;
	uint64_t seed;
};

int cm_table_init(struct cm_table *t, uint64_t seed);
void cm_table_finish(struct cm_table *t);
/* The id whose node has that key, or NULL. */
struct cm_id *cm_table_find(const struct cm_table *t, struct cm_key k);
/* Adds `n`. Returns NULL, or the id that already has the key: then `n` is not added. */
struct cm_id *cm_table_insert(struct cm_table *t, struct cm_node *n, struct cm_key k);
/* Removes `n`; does nothing if it is not in the table. */
void cm_table_remove(struct cm_table *t, struct cm_node *n);

/* ---- timer.c: deadlines in a binary heap */

struct cm_timer {
	uint64_t at;
	uint32_t pos; /* index in the heap, from 1; 0: stopped */
};

struct cm_timers {
	struct cm_timer **heap;
	uint32_t n, room;
};

/* Room for `n` timers: cm_timer_set() cannot fail then. */
int cm_timers_reserve(struct cm_timers *t, uint32_t n);
void cm_timers_finish(struct cm_timers *t);
void cm_timer_set(struct cm_timers *t, struct cm_timer *timer, uint64_t at);
void cm_timer_stop(struct cm_timers *t, struct cm_timer *timer);
struct cm_timer *cm_timers_first(const struct cm_timers *t);

/* ---- ids */

enum cm_lap_state {
	CM_LAP_UNINIT,
	CM_LAP_IDLE,
	CM_LAP_SENT,
	CM_LAP_RCVD,
	CM_MRA_LAP_SENT,
	CM_MRA_LAP_RCVD,
};

enum cm_qp_type { CM_QP_NONE, CM_QP_RC, CM_QP_UC, CM_QP_XRC_INI, CM_QP_XRC_TGT };

/* Where to send (struct cm_av). */
struct cm_av {
	uint32_t port; /* CM_NO_PORT: nowhere */
	uint16_t pkey_index, dlid_datapath;
	uint8_t src_bits, timeout;
	bool grh;
	struct cm_path path;
};

struct cm_id {
	struct cm *cm;
	struct cm_id *prev, *next; /* of all */
	cm_handler *handler;
	void *context;
	uint32_t hca, host; /* host: CM_NO_PORT until the id has a port */
	uint64_t service_id;
	enum cm_state state;
	enum cm_lap_state lap_state;
	uint32_t local_id, remote_id;
	uint32_t users; /* of a listener */
	struct cm_node by_local, by_remote, by_qpn, by_sidr, by_service;

	bool tw;
	uint64_t tw_ca_guid;
	uint32_t tw_remote_id, tw_remote_qpn;

	/* The MAD that waits for an answer, or, when not `sending`, the end of timewait. */
	struct cm_timer timer;
	bool sending;
	enum cm_state msg_state;
	uint8_t retries_left;
	uint32_t msg_timeout_ms;
	struct cm_pkt msg;

	struct cm_av av, alt_av;
	uint64_t tid;
	uint32_t local_qpn, remote_qpn, sq_psn, rq_psn;
	enum cm_qp_type qp_type;
	uint32_t timeout_ms;
	uint16_t pkey;
	uint8_t path_mtu, max_retries, responder_resources, initiator_depth;
	uint8_t retry_count, rnr_retry_count, service_timeout, target_ack_delay;

	/* Private data of the last answer, kept to answer a repeated request. */
	uint8_t data_len;
	uint8_t data[CM_RTU_DATA];
};

/* A MAD that has arrived, or an event that the CM gives itself (struct cm_work). */
struct cm_work {
	struct cm_work *next;
	bool establish;
	uint32_t local_id, remote_id; /* of `establish` */
	struct cm_pkt pkt;
	struct cm_port port; /* where it has arrived */
};

struct cm {
	const struct cm_ops *ops;
	void *ctx;
	struct cm_id *ids;
	uint32_t nids;
	uint32_t depth; /* how deep calls of CM functions are nested */
	struct cm_work *first, **last;
	struct cm_timers timers;
	/* remote_id and remote_qp hold connections; their keys contain the host */
	struct cm_table local, remote_id, remote_qp, sidr, service;
	uint32_t next_id, random_id;
	uint64_t next_service_id;
};

/*
 * Every public function that may send is between these two: MADs that arrive in the meantime are
 * handled by the outermost cm_leave(), so that no handler runs inside another's transition. Ids may
 * be gone afterwards.
 */
static inline void cm_enter(struct cm *cm)
{
	cm->depth++;
}
void cm_leave(struct cm *cm);
/*
 * Calls `call` between cm_enter() and cm_leave() and returns its result. Ids that it names may be
 * gone afterwards.
 */
#define CM_CALL(cm_, call)             \
	({                             \
		struct cm *c_ = (cm_); \
		int r_;                \
                                       \
		cm_enter(c_);          \
		r_ = (call);           \
		cm_leave(c_);          \
		r_;                    \
	})

/* id.c */
struct cm_id *cm_new_id(struct cm *cm, uint32_t hca, cm_handler *h, void *context);
void cm_make_visible(struct cm_id *id);
void cm_free_id(struct cm_id *id);
/* Calls the handler, and destroys the id when that says so. */
void cm_tell(struct cm_id *id, const struct cm_event *e);
/* cm_acquire_id(), among the ids of the host where the MAD has arrived. */
struct cm_id *cm_find_id(const struct cm *cm, uint32_t host, uint32_t local_id, uint32_t remote_id);
struct cm_id *cm_find_listen(const struct cm *cm, uint32_t hca, uint64_t service_id);
/* Both return false if another id already has the number (cm_insert_remote_id(), ..._qpn()). */
bool cm_insert_remote_id(struct cm_id *id, struct cm_id **other);
bool cm_insert_remote_qpn(struct cm_id *id, struct cm_id **other);
void cm_remove_remote(struct cm_id *id);
void cm_enter_timewait(struct cm_id *id);
void cm_reset_to_idle(struct cm_id *id);
void cm_timewait_over(struct cm_id *id);

/* av.c */
uint32_t cm_to_ms(uint32_t iba_time);
uint8_t cm_ack_timeout(uint8_t ack_delay, uint8_t packet_life_time);
/*
 * `port` CM_NO_PORT: finds the host's port that has path->sgid; on the port of `w` first, if not
 * NULL.
 */
int cm_av_by_path(struct cm *cm, const struct cm_work *w, uint32_t port, const struct cm_path *path,
		  struct cm_av *av);
int cm_av_for_response(const struct cm_work *w, struct cm_av *av);
uint16_t cm_bth_pkey(const struct cm_work *w);

/* msg.c. They return the message in the packet, or NULL: there is no such port. */
uint8_t *cm_begin(struct cm_id *id, struct cm_pkt *p, uint32_t attr, uint64_t tid);
uint8_t *cm_begin_response(const struct cm_work *w, struct cm_pkt *p, uint32_t attr, uint64_t tid);
uint64_t cm_form_tid(const struct cm_id *id);
void cm_put_data(uint8_t *msg, uint32_t at, const void *data, uint32_t len);
void cm_keep_data(struct cm_id *id, const void *data, uint32_t len);
/* Sends id->msg, and repeats it until cm_cancel() or until no retries are left. */
void cm_post_msg(struct cm_id *id, enum cm_state state, uint32_t timeout_ms);
void cm_modify_msg(struct cm_id *id, uint32_t timeout_ms);
void cm_cancel(struct cm_id *id);
void cm_msg_due(struct cm_id *id);
static inline void cm_post(struct cm *cm, const struct cm_pkt *p)
{
	cm->ops->send(cm->ctx, p);
}
/* Cuts off values that do not fit, as the kernel's IBA_SET() does. */
#define CM_SET(l, p, f, v) LAYOUT_SET(l, p, f, (uint64_t)(v)&bits_max(LF_##l##_##f##_WIDTH))
/* As in the kernel, `len` does not matter when there is no data. */
static inline bool cm_too_long(const void *data, uint32_t len, uint32_t max)
{
	return data && len > max;
}

/* mra.c, leave.c, sidr.c */
void cm_format_mra(uint8_t *msg, const struct cm_id *id, enum cm_msg which);
void cm_format_rej(uint8_t *msg, const struct cm_id *id, uint32_t reason, enum cm_state state);
void cm_issue_rej(struct cm *cm, const struct cm_work *w, uint32_t reason, enum cm_msg which);
int cm_dreq(struct cm_id *id, const void *data, uint32_t len);
int cm_drep(struct cm_id *id, const void *data, uint32_t len);
int cm_rej(struct cm_id *id, uint32_t reason, const void *ari, uint32_t ari_len, const void *data,
	   uint32_t len);
int cm_sidr_rep(struct cm_id *id, const struct cm_sidr_rep *p);

/* What arrives. */
void cm_on_req(struct cm *cm, struct cm_work *w);
void cm_on_mra(struct cm *cm, struct cm_work *w);
void cm_on_rej(struct cm *cm, struct cm_work *w);
void cm_on_rep(struct cm *cm, struct cm_work *w);
void cm_on_rtu(struct cm *cm, struct cm_work *w);
void cm_on_dreq(struct cm *cm, struct cm_work *w);
void cm_on_drep(struct cm *cm, struct cm_work *w);
void cm_on_sidr_req(struct cm *cm, struct cm_work *w);
void cm_on_sidr_rep(struct cm *cm, struct cm_work *w);
void cm_on_lap(struct cm *cm, struct cm_work *w);

#endif
