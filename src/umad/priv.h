/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Private to the files of this folder. */
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

/* Payload bytes of a data segment, as payload lengths count them. */
enum { RMPP_DATA = MAD_SIZE - MAD_RMPP_HDR };

static_assert(UMAD_HDR == sizeof(((struct mad_send *)0)->hdr), "mad_send keeps the header");

/* The SEG_T_PORT index of an open file; SEG_NONE when the file is gone. */
uint32_t umad_port(const struct umad_file *f);
size_t umad_hdr_size(const struct seg_file *sf);
/* Is the adapter gone (user_mad.c, ib_umad_kill_port(): agents_dead)? */
static inline bool umad_dead(const struct umad_file *f)
{
	return seg_file_down(f->s, f->file);
}

/* A MAD that a program has written, while the write lasts. */
enum umad_req_state { UMAD_REQ_NONE, UMAD_REQ_OUT, UMAD_REQ_KEPT, UMAD_REQ_ANSWERED };
struct umad_req {
	const struct umad_file *f;
	const struct ib_user_mad_hdr *h;
	uint32_t port;
	uint32_t agent, agent_gen;
	const struct mad_agent *a;
	/* OUT: the send is in no chain of pending sends, and has no answer so far */
	enum umad_req_state state;
	int err;               /* for KEPT: why it could not be remembered */
	uint8_t mad[MAD_SIZE]; /* the MAD as sent */
};

/* A MAD between its port and its destination. */
struct umad_pkt {
	uint32_t from;    /* SEG_T_PORT */
	uint32_t qpn;     /* QP number at both ends */
	uint32_t dst_qpn; /* destination QPN in the request */
	uint32_t pkey_index;
	uint32_t slid, dlid; /* including path bits; on Ethernet fab_eth_addr() */
	uint8_t sl;
	bool grh;
	uint16_t gid_kind; /* of the GRH, hw_gid_kind() */
	uint8_t hop_limit, traffic_class;
	uint32_t flow_label;
	uint8_t sgid[16], dgid[16];
	/* The pending send that this MAD is part of; else SEG_NONE. */
	uint32_t send, send_gen;
	/*
	 * The request that sends this MAD, or that this MAD answers, while it is not remembered; or
	 * NULL.
	 */
	struct umad_req *req;
	/* The long message that this segment belongs to, once the other end knows it; else none. */
	uint32_t recv, recv_gen;
	uint8_t turns; /* how many times umad_answer() has answered it */
	bool again;    /* its sender repeats it, or it answers such a one */
	uint8_t mad[MAD_SIZE];
};

/* The low LMC bits of a LID: which of the port's LIDs it is. 0 for the permissive LID. */
static inline uint8_t umad_path_bits(const struct hw_port *p, uint32_t lid)
{
	return lid == MAD_LID_PERMISSIVE ? 0 : (uint8_t)(lid & ((1u << p->lmc) - 1));
}

/* ---- trace.c, when LOG_MAD is on */
/* Trace the event `what` of a MAD at a port; `why` may be NULL. */
void umad_trace(struct seg *s, const char *what, uint32_t port, const struct umad_pkt *p,
		const char *why);
/* The last segment has arrived: the agent gets the whole message of `len` bytes. */
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

/* ---- kernel.c */
/* Is that MAD, which no agent takes, for the kernel of the port's host? Then it gets it. */
bool umad_kernel(struct seg *s, uint32_t port, const struct umad_pkt *p);
/* The packet that leaves `from`, or has left it. */
void umad_pkt_of(const struct cm_pkt *pkt, uint32_t from, struct umad_pkt *p);
/*
 * Give a MAD that has arrived at that port to the supervisor: seg.gmp. With `late_ns` it holds it
 * up (umad_late()).
 */
void umad_to_supervisor(struct seg *s, uint32_t port, const struct umad_pkt *p, uint64_t late_ns);

/* ---- roce.c: what differs on Ethernet ports */
/*
 * The destination of a GID (ib_resolve_eth_dmac()). 0; -EINVAL: only one GID is an IPv4 address;
 * -ENETUNREACH, -ETIMEDOUT.
 */
int umad_eth_dest(struct seg *s, uint32_t port, uint32_t gid_kind, const uint8_t sgid[16],
		  const uint8_t dgid[16], uint32_t *dest);
/* Does a packet with this header travel over IPv4: RoCE v2 between IPv4's GIDs? */
bool umad_over_ipv4(const struct umad_pkt *p);
/* The service level that arrives: that of the VLAN's tag (mlx5/cq.c, handle_responder()). */
uint8_t umad_arriving_sl(const struct hw_port *p, uint32_t gid_kind, uint8_t sl);
/* The hop limit of an answer to such a packet (ib_init_ah_attr_from_wc()). */
uint8_t umad_answer_hops(const struct hw_port *p, uint32_t gid_kind, const uint8_t sgid[16]);
/* Does the port accept a packet with this header? */
bool umad_gid_arrives(const struct hw_port *p, const struct umad_pkt *pkt);

/* ---- agent.c */
/* The live agent (index, generation), or NULL. */
struct mad_agent *umad_agent(struct seg *s, uint32_t idx, uint32_t gen);
/* Agent `id` of a file, with its index in *idx. NULL: none. */
struct mad_agent *umad_agent_of(const struct umad_file *f, uint32_t id, uint32_t *idx);
/* The agent that gets this MAD at that port, with its index in *idx; or NULL. */
struct mad_agent *umad_agent_find(struct seg *s, uint32_t port, const uint8_t *mad, uint32_t *idx);
bool umad_kernel_rmpp(const struct mad_agent *a);

/* ---- pending.c */
/* The send of a MAD_REF(); NULL: it is gone. */
struct mad_send *umad_send_at(struct seg *s, uint64_t ref);
/*
 * Insert a send in the chain of its transaction ID and class. 0; with `alone` -EINVAL: the file has
 * sent the same before (umad_is_duplicate()); it is inserted all the same.
 */
int umad_send_link(const struct umad_file *f, uint32_t i, struct mad_send *m, bool alone);
/* The send is filled in: from now on searches find it. */
void umad_send_waits(struct seg *s, uint32_t i, struct mad_send *m);
/* Unlink and free a send: for the process that has ended or made it. */
void umad_send_free(struct seg *s, uint32_t i, uint32_t gen);
/*
 * A file is closed: free its sends; the ones in work are freed by the process that works on them.
 */
void umad_sends_gone(struct seg *s, uint32_t file);
/* Bring the send of a process that died to its end. */
void umad_send_adopt(struct seg *s, uint32_t i);
/* Cancel an agent's sends; its reader is not told. */
void umad_sends_cancel(struct seg *s, uint32_t file, uint32_t agent);
/*
 * Take the send that this answer belongs to; false: there is none. *send: for umad_deliver(), then
 * umad_send_done(); 0: the send is not remembered.
 */
bool umad_send_match(struct seg *s, uint32_t agent, const struct mad_agent *a,
		     const struct umad_pkt *p, uint64_t *send);
/* End a send that was TAKEN; 0: does nothing. */
void umad_send_done(struct seg *s, uint64_t send);
/* Like umad_send_match(), but the send stays: returns its MAD_REF() or 0. */
uint64_t umad_send_find(struct seg *s, uint32_t agent, const struct mad_agent *a,
			const struct umad_pkt *p);
/* TAKEN: the caller that gets true delivers, then umad_send_done(). ENDED: then umad_send_end(). */
bool umad_send_take(struct seg *s, uint64_t ref, enum mad_send_state how);
bool umad_is_duplicate(const struct umad_file *f, const struct ib_user_mad_hdr *h,
		       const uint8_t *mad);

/* ---- send.c */
/*
 * Called before a MAD is given to an agent that may answer later: remember its request. 0, -ENOMEM,
 * or -EINVAL: another thread has sent the same meanwhile.
 */
int umad_req_keep(struct umad_pkt *p);
/* The answer was lost: the request is open again. */
static inline void umad_req_reopen(struct umad_pkt *p)
{
	if (p->req && p->req->state == UMAD_REQ_ANSWERED)
		p->req->state = UMAD_REQ_OUT;
}
int umad_check_address(struct seg *s, uint32_t port, const struct ib_user_mad_hdr *h);
/* Fill in *p, except p->mad, for a MAD with this header from `port`. */
void umad_pkt_fill(struct seg *s, uint32_t port, const struct mad_agent *a,
		   const struct ib_user_mad_hdr *h, struct umad_pkt *p);
/* Set the high half of a request's transaction ID. */
void umad_set_tid(uint32_t agent, const struct mad_agent *a, uint8_t *mad);
/*
 * Make the element for *p, filled in except `state`; p->send is its index. 0, -ENOMEM, or -EINVAL
 * as in umad_send_link().
 */
int umad_send_new(const struct umad_file *f, uint32_t agent, const struct mad_agent *a,
		  const struct ib_user_mad_hdr *h, struct umad_pkt *p, bool alone,
		  struct mad_send **m);
uint64_t umad_deadline_of(const struct seg *s, uint32_t timeout_ms);
/* A send was not answered at once: make the device thread watch its deadline. */
void umad_watch(struct seg *s, const struct umad_pkt *p);
/* Does this process raise time-outs of that process: is it the same or, with `orphans`, dead? */
bool umad_looks_after(struct seg *s, uint32_t slot, uint32_t slot_gen, bool orphans);

/* ---- rmpp_send.c */
/* Is it a message for the kernel's role to cut into segments? */
bool umad_rmpp_wanted(const struct mad_agent *a, const uint8_t *mad);
/* `buf`, `len`: what follows the header; p->mad has the first MAD_RMPP_HDR bytes. */
int umad_rmpp_write(const struct umad_file *f, uint32_t port, const uint8_t *buf, size_t len,
		    const struct ib_user_mad_hdr *h, struct umad_pkt *p);
/* Is a thread still sending the window? Then extends the deadline. */
bool umad_rmpp_sends(struct seg *s, struct mad_send *m);
/* A deadline has passed and retries are left. False: the message is not repeated any more. */
bool umad_rmpp_retry(struct seg *s, uint32_t i, struct mad_send *m);
/* Free a send that is ENDED, of one MAD or several. */
void umad_send_end(struct seg *s, uint64_t ref);
/*
 * Send a message of the fabric itself (the built-in SA) from `port` to the sender of *req: the
 * class header at `hdr`, followed by `data` in pieces of umad_answer_owner(). Takes the data over.
 */
#define UMAD_NO_FILE (SEG_OWNER_DEVICE - 1)
uint32_t umad_answer_owner(struct seg *s, const struct umad_pkt *req);
int umad_rmpp_answer(struct seg *s, uint32_t port, const struct umad_pkt *req, const uint8_t *hdr,
		     struct seg_chain *data);
/* Does the MAD belong to such a message? Then it is handled here. */
bool umad_rmpp_own(struct seg *s, uint32_t port, struct umad_pkt *p);
void umad_rmpp_ack(struct seg *s, uint32_t agent, const struct mad_agent *a,
		   const struct umad_pkt *p);
void umad_rmpp_abort(struct seg *s, uint32_t agent, const struct mad_agent *a,
		     const struct umad_pkt *p);
/* Answer *p with the class header at `hdr`. */
void umad_rmpp_reply(struct seg *s, const struct mad_agent *a, const struct umad_pkt *p,
		     const uint8_t *hdr, uint32_t type, uint32_t status, uint32_t seg_num,
		     uint32_t newwin);

/* ---- rmpp_store.c: `owner` has the pool's pieces */
/* Adds the next segment to the message. 0 or -ENOSPC. */
int umad_rmpp_append(struct seg *s, uint32_t owner, struct mad_recv *r, uint32_t flags,
		     uint32_t paylen, const uint8_t *data);
/* Keeps a segment until the gap before it is filled; without memory it is dropped. */
void umad_rmpp_keep(struct seg *s, uint32_t owner, struct mad_recv *r, int32_t seg_num,
		    const struct umad_pkt *p);
/* update_seg_num(): appends the kept segments that are next. 0 or -ENOSPC. */
int umad_rmpp_close_gap(struct seg *s, uint32_t owner, struct mad_recv *r);

/* ---- rmpp_recv.c */
/* Handle an active RMPP MAD for an agent with RMPP in the kernel's role. */
void umad_rmpp_arrived(struct seg *s, uint32_t agent, struct mad_agent *a, struct umad_pkt *p);
/* Give up the message that the MAD belongs to, and tell the sender why. */
void umad_rmpp_nack(struct seg *s, uint32_t agent, const struct mad_agent *a,
		    const struct umad_pkt *p, uint32_t status);
/* Sets and returns the first window of an answer with segments. */
void umad_rmpp_ds_ack(struct seg *s, uint32_t agent, const struct mad_agent *a,
		      const struct umad_pkt *p, int32_t newwin);
uint32_t umad_rmpp_window(struct seg *s, uint32_t agent, const struct mad_agent *a,
			  const struct umad_pkt *p);
/* An agent, no longer `ready`, is unregistered: drop its messages. */
void umad_rmpp_cancel(struct seg *s, uint32_t agent, struct mad_agent *a);
/* A file is closed: free its messages; locked ones are freed by the lock's holder. */
void umad_recvs_gone(struct seg *s, uint32_t file);
uint64_t umad_rmpp_run_due(struct seg *s, bool orphans);
/* The earliest deadline of messages that this process has begun to receive since the last call. */
uint64_t umad_rmpp_begun(struct seg *s);

/* ---- sa.c */
/*
 * Is the MAD for the built-in SA at that port? Then it is handled, or (*reply) p->mad is now the
 * answer.
 */
bool umad_sa(struct seg *s, uint32_t port, struct umad_pkt *p, bool *reply);

/* ---- route.c */
/* Bring a MAD from its port to its destination: an adapter's agent, a program's, or none. */
void umad_route(struct seg *s, struct umad_pkt *p);
/* Give a MAD that has arrived to whom it is for. True: the port answers, and p->mad is the answer.
 */
bool umad_take(struct seg *s, uint32_t port, struct umad_pkt *p);
void umad_lost(struct seg *s, const struct umad_pkt *p, const char *why);
/* `p` arrived at `port`; send the answer `mad` back to its sender. */
void umad_answer(struct seg *s, uint32_t port, const struct umad_pkt *p, const uint8_t *mad);
/*
 * A directed-route SMP leaves its port (smi.c, smi_handle_dr_smp_send(); handle_outgoing_dr_smp()).
 * -EINVAL no such path; 1 it was for this node, and is handled; 0 it leaves.
 */
int umad_direct(struct seg *s, struct umad_pkt *p, const struct mad_agent *a);

/* ---- fault.c */
/*
 * A MAD has arrived, and rules wait for one. True: one of them has taken it, and (*reply) p->mad is
 * the answer.
 */
bool umad_fault(struct seg *s, uint32_t port, struct umad_pkt *p, bool *reply);

/* ---- notice.c */
/* Send notices that are due; returns when to look again. _new: only if there may be new ones. */
uint64_t umad_traps_run(struct seg *s);
void umad_traps_new(struct seg *s);

/* ---- recv.c */
/* Queue a MAD for an agent's file; `send`: the send that it ends, or 0. 0 or -errno. */
int umad_deliver(struct seg *s, const struct mad_agent *a, const struct umad_pkt *p, uint64_t send);
/* Make the header that the reader gets. 0 or -ENOENT: the file is gone. */
int umad_hdr_of(struct seg *s, const struct mad_agent *a, const struct umad_pkt *p,
		struct ib_user_mad_hdr *h);
/* Queue a header and a MAD of any length, taking them over. */
int umad_deliver_pieces(struct seg *s, const struct mad_agent *a, const struct seg_chain *c,
			uint64_t send);
/* Queue the header of a MAD that got no answer. */
int umad_deliver_timeout(struct seg *s, const struct mad_agent *a, const struct mad_send *m,
			 uint64_t send);

#endif
