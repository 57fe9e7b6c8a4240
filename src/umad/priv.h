/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Between the files of this folder only. */
#ifndef SOFTHCA_UMAD_PRIV_H
#define SOFTHCA_UMAD_PRIV_H

#include <rdma/ib_user_mad.h>
#include "hw/port.h"
#include "hw/cap.h"
#include "hw/fab.h"
#include "hw/mad.h"
#include "segment/proc.h"
#include "umad/umad.h"
#include "util/log.h"
#include "wire/mad/mad.h"
#include "wire/mad/names.h"

#define UMAD_HDR sizeof(struct ib_user_mad_hdr)
#define UMAD_HDR_OLD sizeof(struct ib_user_mad_hdr_old)

/* Of a segment: what payload lengths count. */
enum { RMPP_DATA = MAD_SIZE - MAD_RMPP_HDR };

static_assert(UMAD_HDR == sizeof(((struct mad_send *)0)->hdr), "mad_send keeps the header");

/* The SEG_T_PORT index of an open file; SEG_NONE when the file is gone. */
uint32_t umad_port(const struct umad_file *f);
size_t umad_hdr_size(const struct seg_file *sf);
/* The adapters are gone (user_mad.c, ib_umad_kill_port()): agents_dead. */
static inline bool umad_dead(const struct seg *s)
{
	return atomic_load_explicit(&s->hdr->down, memory_order_relaxed);
}

/* What a program has written, for as long as the write lasts. */
enum umad_req_state { UMAD_REQ_NONE, UMAD_REQ_OUT, UMAD_REQ_KEPT, UMAD_REQ_ANSWERED };
struct umad_req {
	const struct umad_file *f;
	const struct ib_user_mad_hdr *h;
	uint32_t port;
	uint32_t agent, agent_gen;
	const struct mad_agent *a;
	enum umad_req_state state; /* OUT: nobody remembers it, and nobody has answered */
	int err;                   /* of KEPT: it is not remembered after all */
	uint8_t mad[MAD_SIZE];     /* as sent */
};

/* A MAD on its way. */
struct umad_pkt {
	uint32_t from;    /* SEG_T_PORT */
	uint32_t qpn;     /* of both ends */
	uint32_t dst_qpn; /* as asked for */
	uint32_t pkey_index;
	uint16_t slid, dlid; /* with path bits */
	uint8_t sl;
	bool grh;
	uint8_t hop_limit, traffic_class;
	uint32_t flow_label;
	uint8_t sgid[16], dgid[16];
	/* The send that this is, once it is remembered; else SEG_NONE. */
	uint32_t send, send_gen;
	/* The request that this is, or is answered by, while nobody remembers it; or NULL. */
	struct umad_req *req;
	/* The long message that it is a segment of, once known at the other end; else none. */
	uint32_t recv, recv_gen;
	uint8_t turns; /* how often it was answered by umad_answer() */
	uint8_t mad[MAD_SIZE];
};

/* Which of a port's LIDs it is: 0 where LMC is 0, and of the permissive LID. */
static inline uint8_t umad_path_bits(const struct hw_port *p, uint16_t lid)
{
	return lid == MAD_LID_PERMISSIVE ? 0 : (uint8_t)(lid & ((1u << p->lmc) - 1));
}

/* ---- trace.c, when LOG_MAD is on */
/* `what` has happened to a MAD at a port; `why` may be NULL. */
void umad_trace(struct seg *s, const char *what, uint32_t port, const struct umad_pkt *p,
		const char *why);
/* Its last segment has come: all of it, `len` bytes, is the agent's. */
void umad_trace_message(struct seg *s, const struct mad_agent *a, const struct umad_pkt *p,
			uint32_t len);
void umad_trace_timeout(struct seg *s, const struct mad_send *m);
static inline void umad_seen(struct seg *s, const char *what, uint32_t port,
			     const struct umad_pkt *p)
{
	if (TRACE_ON(LOG_MAD))
		umad_trace(s, what, port, p, NULL);
}
/* trace.c, while cap_on() */
void umad_capture(struct seg *s, const struct umad_pkt *p);
/* A MAD leaves its port. */
static inline void umad_leaves(struct seg *s, const struct umad_pkt *p)
{
	umad_seen(s, mad_is_response(p->mad) ? "answered" : "sent", p->from, p);
	if (cap_on(s))
		umad_capture(s, p);
}

/* ---- agent.c */
/* The live agent (index, generation), or NULL. */
struct mad_agent *umad_agent(struct seg *s, uint32_t idx, uint32_t gen);
/* Agent `id` of a file; *idx its number. NULL: none. */
struct mad_agent *umad_agent_of(const struct umad_file *f, uint32_t id, uint32_t *idx);
/* Who gets this MAD at that port: *idx, or NULL. */
struct mad_agent *umad_agent_find(struct seg *s, uint32_t port, const uint8_t *mad, uint32_t *idx);
bool umad_kernel_rmpp(const struct mad_agent *a);

/* ---- pending.c */
/* MAD_REF() of a send; NULL: it is no more. */
struct mad_send *umad_send_at(struct seg *s, uint64_t ref);
/*
 * Into the chain of its transaction ID and class. 0; -EINVAL, `alone`: the file has begun the same
 * before (umad_is_duplicate()); it is in the chain all the same.
 */
int umad_send_link(const struct umad_file *f, uint32_t i, struct mad_send *m, bool alone);
/* All of it is filled in: from now on it is found. */
void umad_send_waits(struct seg *s, uint32_t i, struct mad_send *m);
/* Out of it, and freed: by whoever has ended it, or has just made it. */
void umad_send_free(struct seg *s, uint32_t i, uint32_t gen);
/* A file goes: what nobody is at is freed, the rest by whoever is. */
void umad_sends_gone(struct seg *s, uint32_t file);
/* What a process that died has left of a send is brought to its end. */
void umad_send_adopt(struct seg *s, uint32_t i);
/* Sends of an agent are taken back, without a word to its reader. */
void umad_sends_cancel(struct seg *s, uint32_t file, uint32_t agent);
/*
 * The send that this answer belongs to is taken; false: there is none. *send: for umad_deliver(),
 * then umad_send_done(); 0: it is remembered nowhere.
 */
bool umad_send_match(struct seg *s, uint32_t agent, const struct mad_agent *a,
		     const struct umad_pkt *p, uint64_t *send);
/* A send that was TAKEN is over; 0: nothing. */
void umad_send_done(struct seg *s, uint64_t send);
/* The same, but it stays: its MAD_REF() or 0. */
uint64_t umad_send_find(struct seg *s, uint32_t agent, const struct mad_agent *a,
			const struct umad_pkt *p);
/* TAKEN: whoever gets true delivers, then umad_send_done(). ENDED: umad_send_end(). */
bool umad_send_take(struct seg *s, uint64_t ref, enum mad_send_state how);
bool umad_is_duplicate(const struct umad_file *f, const struct ib_user_mad_hdr *h,
		       const uint8_t *mad);

/* ---- send.c */
/* Before a MAD is given to somebody who may answer later: its request is remembered. 0, -ENOMEM,
 * -EINVAL: another thread has sent the same meanwhile. */
int umad_req_keep(struct umad_pkt *p);
/* Its answer was lost after all. */
static inline void umad_req_reopen(struct umad_pkt *p)
{
	if (p->req && p->req->state == UMAD_REQ_ANSWERED)
		p->req->state = UMAD_REQ_OUT;
}
int umad_check_address(struct seg *s, uint32_t port, const struct ib_user_mad_hdr *h);
/* All but p->mad, of a MAD with this header from `port`. */
void umad_pkt_fill(struct seg *s, uint32_t port, const struct mad_agent *a,
		   const struct ib_user_mad_hdr *h, struct umad_pkt *p);
/* The high half of a request's transaction ID. */
void umad_set_tid(uint32_t agent, const struct mad_agent *a, uint8_t *mad);
/*
 * An element for *p, filled in but for `state`; p->send is its index. 0, -ENOMEM, or -EINVAL as of
 * umad_send_link().
 */
int umad_send_new(const struct umad_file *f, uint32_t agent, const struct mad_agent *a,
		  const struct ib_user_mad_hdr *h, struct umad_pkt *p, bool alone,
		  struct mad_send **m);
uint64_t umad_deadline_of(uint32_t timeout_ms);
/* What was sent is not answered at once: the device thread must know its deadline. */
void umad_watch(struct seg *s, const struct umad_pkt *p);
/* Does this process raise the time-outs of that one: is it the same, or, with `orphans`, dead? */
bool umad_looks_after(struct seg *s, uint32_t slot, uint32_t slot_gen, bool orphans);

/* ---- rmpp_send.c */
/* Is it a message that we cut into segments? */
bool umad_rmpp_wanted(const struct mad_agent *a, const uint8_t *mad);
/* `buf`, `len`: behind the header; p->mad has the first MAD_RMPP_HDR bytes. */
int umad_rmpp_write(const struct umad_file *f, uint32_t port, const uint8_t *buf, size_t len,
		    const struct ib_user_mad_hdr *h, struct umad_pkt *p);
/* Its deadline is over, and retries are left. False: it is not repeated any more. */
bool umad_rmpp_retry(struct seg *s, uint32_t i, struct mad_send *m);
/* Frees a send that is ENDED, of one MAD or of many. */
void umad_send_end(struct seg *s, uint64_t ref);
/*
 * A message of the fabric's own (the built-in SA) from `port`, to whoever sent *req: the header of
 * its class at `hdr`, `data` behind it in pieces of umad_answer_owner(). Takes the data over.
 */
#define UMAD_NO_FILE (SEG_OWNER_DEVICE - 1)
uint32_t umad_answer_owner(struct seg *s, const struct umad_pkt *req);
int umad_rmpp_answer(struct seg *s, uint32_t port, const struct umad_pkt *req, const uint8_t *hdr,
		     struct seg_chain *data);
/* Is it about such a message? Then it is done. */
bool umad_rmpp_own(struct seg *s, uint32_t port, struct umad_pkt *p);
void umad_rmpp_ack(struct seg *s, uint32_t agent, const struct mad_agent *a,
		   const struct umad_pkt *p);
void umad_rmpp_abort(struct seg *s, uint32_t agent, const struct mad_agent *a,
		     const struct umad_pkt *p);
/* An answer to *p with the header (of its class) at `hdr`. */
void umad_rmpp_reply(struct seg *s, const struct mad_agent *a, const struct umad_pkt *p,
		     const uint8_t *hdr, uint32_t type, uint32_t status, uint32_t seg_num,
		     uint32_t newwin);

/* ---- rmpp_recv.c */
/* An active RMPP MAD for an agent whose RMPP is ours. */
void umad_rmpp_arrived(struct seg *s, uint32_t agent, struct mad_agent *a, struct umad_pkt *p);
/* What it belongs to is given up, and its sender is told why. */
void umad_rmpp_nack(struct seg *s, uint32_t agent, const struct mad_agent *a,
		    const struct umad_pkt *p, uint32_t status);
/* How much of an answer with segments may come at first: set, and asked for. */
void umad_rmpp_ds_ack(struct seg *s, uint32_t agent, const struct mad_agent *a,
		      const struct umad_pkt *p, int32_t newwin);
uint32_t umad_rmpp_window(struct seg *s, uint32_t agent, const struct mad_agent *a,
			  const struct umad_pkt *p);
/* The agent, no longer `ready`, goes. */
void umad_rmpp_cancel(struct seg *s, uint32_t agent, struct mad_agent *a);
/* A file goes: what nobody has locked is freed, the rest by whoever has. */
void umad_recvs_gone(struct seg *s, uint32_t file);
uint64_t umad_rmpp_run_due(struct seg *s, bool orphans);
/* The earliest deadline of what this process has begun to receive since last asked. */
uint64_t umad_rmpp_begun(struct seg *s);

/* ---- sa.c */
/* For the built-in SA at that port? Then it is done, or (*reply) p->mad is the answer now. */
bool umad_sa(struct seg *s, uint32_t port, struct umad_pkt *p, bool *reply);

/* ---- route.c */
/* From its port to wherever it leads: an agent inside an adapter, one of a program, or nowhere. */
void umad_route(struct seg *s, struct umad_pkt *p);
/* `p` arrived at `port` and `mad` is the answer: back to where it came from. */
void umad_answer(struct seg *s, uint32_t port, const struct umad_pkt *p, const uint8_t *mad);
/*
 * A directed-route SMP leaves its port (smi.c, smi_handle_dr_smp_send(), and what
 * handle_outgoing_dr_smp() makes of it): -EINVAL no such path; 1 it is for this node, and dealt
 * with; 0 it goes out.
 */
int umad_direct(struct seg *s, struct umad_pkt *p, const struct mad_agent *a);

/* ---- notice.c */
/* Notices that are due, and when to look again; and only if there may be new ones. */
uint64_t umad_traps_run(struct seg *s);
void umad_traps_new(struct seg *s);

/* ---- recv.c */
/* A MAD into the queue of an agent's file; `send`: what it ends, or 0. 0 or -errno. */
int umad_deliver(struct seg *s, const struct mad_agent *a, const struct umad_pkt *p, uint64_t send);
/* The header that its reader sees. 0 or -ENOENT: the file is gone. */
int umad_hdr_of(struct seg *s, const struct mad_agent *a, const struct umad_pkt *p,
		struct ib_user_mad_hdr *h);
/* A header and a MAD of any length, taken over. */
int umad_deliver_pieces(struct seg *s, const struct mad_agent *a, const struct seg_chain *c,
			uint64_t send);
/* The header of a MAD that was not answered. */
int umad_deliver_timeout(struct seg *s, const struct mad_agent *a, const struct mad_send *m,
			 uint64_t send);

#endif
