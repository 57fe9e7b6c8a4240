/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns sends that wait for an answer: finds the send that an answer belongs to, and duplicates of a
 * send. Sends are kept in chains by transaction ID and class. The rules are those of
 * ib_find_send_mad() in mad.c and is_duplicate() in user_mad.c.
 *
 * A send that is answered within the write itself, as an SMA does, is never in a chain: it stays a
 * struct umad_req on the stack until a program gets the MAD or there is no answer.
 */
#include "hw/port.h"
#include "umad/priv.h"

#include <errno.h>
#include <string.h>
#include "util/bug.h"
#include "util/point.h"

/*
 * ---- chains. There are no locks: one compare-and-swap inserts a send at the head. To remove one,
 * its own `next` is marked first, which nobody changes afterwards; the next walk unlinks it. It is
 * freed when it is certainly not in the chain. A walk whose position was unlinked and freed sees
 * another generation and starts again.
 */

#define WALKS 1000 /* after so many walks the chain must be broken */

static struct mad_chain *chain_at(struct seg *s, uint32_t n)
{
	return seg_at(s, SEG_T_MCHAIN, n);
}

static uint32_t pending_chain_of(const uint8_t *mad)
{
	uint64_t tid = LAYOUT_GET(mad_hdr, mad, tid);
	uint32_t salt = (uint32_t)(tid >> 32) ^ LAYOUT_GET32(mad_hdr, mad, mgmt_class) << 24;

	/* Transaction IDs count up: neighbours share pages, and caches prefetch. */
	return ((uint32_t)tid + salt * 0x9e3779b9u) % MAD_CHAINS;
}

struct mad_send *umad_send_at(struct seg *s, uint64_t ref)
{
	uint32_t i = MAD_REF_IDX(ref);
	struct mad_send *m = i ? seg_live(s, SEG_T_MSEND, i) : NULL;

	return m && m->gen == MAD_REF_GEN(ref) ? m : NULL;
}

static void link_in(struct seg *s, uint32_t i, struct mad_send *m)
{
	struct mad_chain *c;
	uint64_t head;

	m->chain = pending_chain_of(m->mad);
	c = chain_at(s, m->chain);
	head = atomic_load(&c->head);
	do
		atomic_store(&m->next, head);
	while (!atomic_compare_exchange_weak(&c->head, &head, MAD_REF(m->gen, i)));
}

typedef bool is_fn(struct seg *s, uint64_t ref, const struct mad_send *m, const void *arg);

enum walk { WALK_END, WALK_FOUND, WALK_AGAIN };

/*
 * Walks the chain from `link` to the first send for which is() holds, and stores it in *found.
 * Unlinks marked sends on the way.
 */
static enum walk pending_walk(struct seg *s, _Atomic uint64_t *link, is_fn *is, const void *arg,
			      uint64_t *found)
{
	uint64_t ref = atomic_load(link), next, was;
	uint32_t left = seg_table(s, SEG_T_MSEND)->capacity;

	for (; ref && left; left--) {
		struct mad_send *m = umad_send_at(s, ref);

		if (!m)
			return WALK_AGAIN;
		next = atomic_load(&m->next);
		if (m->gen != MAD_REF_GEN(ref))
			return WALK_AGAIN;
		if (next & MAD_REF_GOING) {
			was = ref;
			ref = next & ~(uint64_t)MAD_REF_GOING;
			if (!atomic_compare_exchange_strong(link, &was, ref))
				return WALK_AGAIN;
			continue;
		}
		if (is && is(s, ref, m, arg)) {
			*found = ref;
			return WALK_FOUND;
		}
		link = &m->next;
		ref = next;
	}
	return WALK_END;
}

void umad_send_free(struct seg *s, uint32_t i, uint32_t gen)
{
	struct mad_send *m = seg_at(s, SEG_T_MSEND, i);
	struct mad_chain *c = chain_at(s, m->chain % MAD_CHAINS);
	uint64_t none;

	BUG_ON(m->gen != gen);
	atomic_fetch_or(&m->next, (uint64_t)MAD_REF_GOING);
	POINT("mad-going");
	for (int n = 0; n < WALKS; n++)
		if (pending_walk(s, &c->head, NULL, NULL, &none) == WALK_END) {
			POINT("mad-gone");
			seg_free(s, SEG_T_MSEND, i);
			return;
		}
	BUG_ON(true);
}

/* Returns the first send after `link` for which is() holds; 0: none. */
static uint64_t pending_look(struct seg *s, _Atomic uint64_t *link, is_fn *is, const void *arg)
{
	uint64_t found = 0;

	if (!atomic_load(link))
		return 0;
	for (int n = 0; n < WALKS; n++) {
		enum walk w = pending_walk(s, link, is, arg, &found);

		if (w != WALK_AGAIN)
			return w == WALK_FOUND ? found : 0;
	}
	BUG_ON(true);
	return 0;
}

static bool same_transaction(const struct mad_send *m, const uint8_t *mad)
{
	return LAYOUT_GET(mad_hdr, m->mad, tid) == LAYOUT_GET(mad_hdr, mad, tid) &&
	       LAYOUT_GET(mad_hdr, m->mad, mgmt_class) == LAYOUT_GET(mad_hdr, mad, mgmt_class);
}

/* ---- answers */

/* Ends the wait of a send. One process succeeds, and the state names it as the owner from then. */
static bool pending_change(struct seg *s, uint64_t ref, uint64_t was, enum mad_send_state to)
{
	struct mad_send *m = seg_at(s, SEG_T_MSEND, MAD_REF_IDX(ref));
	uint32_t gen = MAD_REF_GEN(ref);

	return was >> 32 == gen &&
	       atomic_compare_exchange_strong(&m->state, &was, mad_send_word(gen, mad_me(s), to));
}

bool umad_send_take(struct seg *s, uint64_t ref, enum mad_send_state how)
{
	if (!pending_change(s, ref, mad_send_word(MAD_REF_GEN(ref), 0, MAD_SEND_WAITS), how))
		return false;
	POINT("mad-taken");
	return true;
}

void umad_send_done(struct seg *s, uint64_t ref)
{
	uint32_t gen = MAD_REF_GEN(ref), me = mad_me(s);

	if (!ref)
		return;
	POINT("mad-delivered");
	if (pending_change(s, ref, mad_send_word(gen, me, MAD_SEND_TAKEN), MAD_SEND_ENDED))
		umad_send_end(s, ref);
}

/*
 * Is the process dead that works on the send, according to its state, or that began the send and
 * did not finish it?
 */
static bool is_left(struct seg *s, const struct mad_send *m, uint64_t word)
{
	if (mad_send_state(word) == MAD_SEND_NEW)
		return umad_looks_after(s, m->slot, m->slot_gen, true);
	return who_dead(s, mad_send_who(word));
}

void umad_send_adopt(struct seg *s, uint32_t i)
{
	struct mad_send *m = seg_at(s, SEG_T_MSEND, i);
	uint64_t word = atomic_load(&m->state), ref = MAD_REF(m->gen, i);
	enum mad_send_state st = mad_send_state(word);
	const struct mad_agent *a;

	if (st == MAD_SEND_WAITS || word >> 32 != MAD_REF_GEN(ref))
		return;
	/* The thread that sends its segments frees it, unless that thread's process has died. */
	if (st == MAD_SEND_ENDED && m->segs && seg_lock_orphaned(s, &m->pump)) {
		umad_send_end(s, ref);
		return;
	}
	if (!is_left(s, m, word) ||
	    !pending_change(s, ref, word, st == MAD_SEND_TAKEN ? MAD_SEND_TAKEN : MAD_SEND_ENDED))
		return;
	if (st != MAD_SEND_TAKEN) {
		umad_send_end(s, ref);
		return;
	}
	a = umad_agent(s, m->agent, m->agent_gen);
	if (a)
		umad_deliver_timeout(s, a, m, ref);
	umad_send_done(s, ref);
}

void umad_sends_gone(struct seg *s, uint32_t file)
{
	seg_for_each_owned (s, SEG_T_MSEND, file + 1, i) {
		uint32_t owner = file + 1;
		const struct mad_send *m = seg_at(s, SEG_T_MSEND, i);
		uint64_t ref = MAD_REF(m->gen, i);

		if (umad_send_take(s, ref, MAD_SEND_ENDED))
			umad_send_end(s, ref);
		else
			umad_send_adopt(s, i);
		/* If another process is working on the send, that process ends it. */
		if (umad_send_at(s, ref))
			atomic_compare_exchange_strong(seg_owner_word(s, SEG_T_MSEND, i), &owner,
						       SEG_OWNER_DEVICE);
	}
}

void umad_sends_cancel(struct seg *s, uint32_t file, uint32_t agent)
{
	seg_for_each_owned (s, SEG_T_MSEND, file + 1, i) {
		const struct mad_send *m = seg_at(s, SEG_T_MSEND, i);
		uint64_t ref = MAD_REF(m->gen, i);

		if (m->agent == agent && umad_send_take(s, ref, MAD_SEND_ENDED))
			umad_send_end(s, ref);
	}
}

void umad_send_waits(struct seg *s, uint32_t i, struct mad_send *m)
{
	uint64_t ref = MAD_REF(m->gen, i);
	uint32_t agent = m->agent, agent_gen = m->agent_gen;

	atomic_store(&m->state, mad_send_word(MAD_REF_GEN(ref), 0, MAD_SEND_WAITS));
	/*
	 * The agent was unregistered meanwhile, perhaps before this send was visible
	 * (umad_sends_cancel()).
	 */
	if (!umad_agent(s, agent, agent_gen) && umad_send_take(s, ref, MAD_SEND_ENDED))
		umad_send_end(s, ref);
}

/*
 * mad.c, rcv_has_same_gid(). It compares GIDs with the bytes of a GRH, where a packet over IPv4 has
 * the end of another header: no answer over IPv4 belongs to a request.
 */
static bool same_gid(struct seg *s, uint32_t port, const struct ib_user_mad_hdr *h,
		     const uint8_t *mad, const struct umad_pkt *p)
{
	const struct hw_port *own = hw_port(s, port);
	bool sent_resp = mad_is_response(mad);

	if (sent_resp == mad_is_response(p->mad) || !h->grh_present != !p->grh || umad_over_ipv4(p))
		return false;
	/*
	 * Compare the address at which the answer arrived with the one from which the request was
	 * sent.
	 */
	if (!sent_resp)
		return p->grh ? !memcmp(hw_gid(own, h->gid_index), p->dgid, 16)
			      : umad_path_bits(own, h->path_bits) == umad_path_bits(own, p->dlid);
	return p->grh ? !memcmp(h->gid, p->sgid, 16) : be16_load(&h->lid) == p->slid;
}

/* What is_answered() compares sends with, as ib_find_send_mad() in mad.c does. */
struct asked {
	uint32_t agent, agent_gen;
	const struct umad_pkt *p;
};

static bool is_answered(struct seg *s, uint64_t ref, const struct mad_send *m, const void *arg)
{
	const struct asked *q = arg;

	return mad_send_is(m, MAD_REF_GEN(ref), MAD_SEND_WAITS) && same_transaction(m, q->p->mad) &&
	       m->agent == q->agent && m->agent_gen == q->agent_gen &&
	       (LAYOUT_GET(mad_hdr, q->p->mad, mgmt_class) == MAD_CLASS_SUBN_DR ||
		same_gid(s, m->port, (const struct ib_user_mad_hdr *)m->hdr, m->mad, q->p));
}

uint64_t umad_send_find(struct seg *s, uint32_t agent, const struct mad_agent *a,
			const struct umad_pkt *p)
{
	const struct asked q = {agent, a->gen, p};

	return pending_look(s, &chain_at(s, pending_chain_of(p->mad))->head, is_answered, &q);
}

/* The same for a send that is in no chain. */
static bool is_request_answered(struct seg *s, const struct umad_req *q, uint32_t agent,
				const struct mad_agent *a, const struct umad_pkt *p)
{
	return q->agent == agent && q->a == a && q->agent_gen == a->gen &&
	       LAYOUT_GET(mad_hdr, q->mad, tid) == LAYOUT_GET(mad_hdr, p->mad, tid) &&
	       LAYOUT_GET(mad_hdr, q->mad, mgmt_class) == LAYOUT_GET(mad_hdr, p->mad, mgmt_class) &&
	       (LAYOUT_GET(mad_hdr, p->mad, mgmt_class) == MAD_CLASS_SUBN_DR ||
		same_gid(s, q->port, q->h, q->mad, p));
}

bool umad_send_match(struct seg *s, uint32_t agent, const struct mad_agent *a,
		     const struct umad_pkt *p, uint64_t *send)
{
	struct umad_req *q = p->req;
	uint64_t ref;

	*send = 0;
	if (q && q->state == UMAD_REQ_OUT && is_request_answered(s, q, agent, a, p)) {
		q->state = UMAD_REQ_ANSWERED;
		return true;
	}
	while ((ref = umad_send_find(s, agent, a, p)))
		if (umad_send_take(s, ref, MAD_SEND_TAKEN)) {
			*send = ref;
			return true;
		}
	return false;
}

/*
 * ---- duplicates
 *
 * If two threads write the same request at once, both insert it; the one inserted later finds the
 * other behind it.
 */

struct twin {
	uint32_t owner;
	const struct ib_user_mad_hdr *h;
	const uint8_t *mad;
};

/* Is its writer still preparing the send? A dead writer never finishes. */
static bool is_begun(struct seg *s, uint64_t ref, const struct mad_send *m)
{
	return mad_send_is(m, MAD_REF_GEN(ref), MAD_SEND_WAITS) ||
	       (mad_send_is(m, MAD_REF_GEN(ref), MAD_SEND_NEW) &&
		!who_gone(s, who_slot(m->slot, m->slot_gen)));
}

static bool is_twin(struct seg *s, uint64_t ref, const struct mad_send *m, const void *arg)
{
	const struct ib_user_mad_hdr *sent = (const struct ib_user_mad_hdr *)m->hdr;
	const struct twin *t = arg;
	const struct ib_user_mad_hdr *h = t->h;
	bool resp = mad_is_response(t->mad);

	if (!same_transaction(m, t->mad) || mad_is_response(m->mad) != resp ||
	    seg_owner(s, SEG_T_MSEND, MAD_REF_IDX(ref)) != t->owner || !is_begun(s, ref, m))
		return false;
	return !resp || (!h->grh_present && !sent->grh_present && h->lid == sent->lid) ||
	       (h->grh_present && sent->grh_present && !memcmp(h->gid, sent->gid, 16));
}

/* user_mad.c, is_duplicate() */
bool umad_is_duplicate(const struct umad_file *f, const struct ib_user_mad_hdr *h,
		       const uint8_t *mad)
{
	const struct twin t = {.owner = f->file + 1, .h = h, .mad = mad};

	return pending_look(f->s, &chain_at(f->s, pending_chain_of(mad))->head, is_twin, &t) != 0;
}

int umad_send_link(const struct umad_file *f, uint32_t i, struct mad_send *m, bool alone)
{
	const struct twin t = {
		.owner = f->file + 1, .h = (const struct ib_user_mad_hdr *)m->hdr, .mad = m->mad};

	link_in(f->s, i, m);
	POINT("mad-linked");
	return alone && pending_look(f->s, &m->next, is_twin, &t) ? -EINVAL : 0;
}
