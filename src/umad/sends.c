/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns what was sent and waits for its answer: which send an answer belongs to, and which one is a
 * duplicate. Sends are in chains by transaction ID and class. The rules are those of
 * ib_find_send_mad() in mad.c and is_duplicate() in user_mad.c.
 *
 * A send whose answer comes in the write itself, as that of an SMA does, is never put there: it is
 * a struct umad_req on the stack until a program gets the MAD or nobody has answered.
 */
#include "umad/priv.h"

#include <errno.h>
#include <string.h>

/*
 * ---- chains. Each change is one store, so a dead holder of the lock leaves them whole; only
 * unlinking needs it. Looking waits 2 ms for a holder that is stopped, then goes without.
 */

static struct mad_chain *chain_at(struct seg *s, uint32_t n)
{
	return seg_at(s, SEG_T_MCHAIN, n);
}

static uint32_t chain_of(const uint8_t *mad)
{
	uint64_t tid = LAYOUT_GET(mad_hdr, mad, tid);
	uint32_t salt = (uint32_t)(tid >> 32) ^ (uint32_t)LAYOUT_GET(mad_hdr, mad, mgmt_class)
							<< 24;

	/* Transaction IDs go up one by one: neighbours share pages, and caches look ahead. */
	return ((uint32_t)tid + salt * 0x9e3779b9u) % MAD_CHAINS;
}

static struct mad_send *send_at(struct seg *s, uint32_t i)
{
	return i ? seg_live(s, SEG_T_MSEND, i) : NULL;
}

int umad_send_link(struct seg *s, uint32_t i, struct mad_send *m)
{
	struct mad_chain *c;
	uint32_t head;

	m->chain = chain_of(m->mad);
	c = chain_at(s, m->chain);
	head = atomic_load(&c->head);
	do
		atomic_store(&m->next, head);
	while (!atomic_compare_exchange_weak(&c->head, &head, i));
	return 0;
}

/* What is not in its chain is not found there. */
static void unlink_locked(struct seg *s, struct mad_chain *c, uint32_t i, struct mad_send *m)
{
	_Atomic uint32_t *link = &c->head;
	const uint32_t was = i;
	struct mad_send *at;

	for (uint32_t n = 0; atomic_load(link) && atomic_load(link) != i; n++) {
		at = send_at(s, atomic_load(link));
		if (!at || n > seg_table(s, SEG_T_MSEND)->capacity)
			return;
		link = &at->next;
	}
	/* The head has changed meanwhile: look again. */
	if (atomic_load(link) == i &&
	    !atomic_compare_exchange_strong(link, &i, atomic_load(&m->next)))
		unlink_locked(s, c, was, m);
}

/* Where the chain's lock is not to be had it stays, TAKEN, until its file goes. */
void umad_send_free(struct seg *s, uint32_t i)
{
	struct mad_send *m = seg_at(s, SEG_T_MSEND, i);
	struct mad_chain *c = chain_at(s, m->chain % MAD_CHAINS);

	if (seg_lock(s, &c->lock, 10 * SEG_LOCK_DATA_NS) < 0)
		return;
	unlink_locked(s, c, i, m);
	seg_free(s, SEG_T_MSEND, i);
	seg_unlock(s, &c->lock);
}

typedef bool is_fn(struct seg *s, uint32_t i, const struct mad_send *m, const void *arg);

/* The first with this MAD's transaction ID and class that is it; SEG_NONE. */
static uint32_t look(struct seg *s, const uint8_t *mad, is_fn *is, const void *arg)
{
	struct mad_chain *c = chain_at(s, chain_of(mad));
	const struct mad_send *m;
	uint32_t i, found = SEG_NONE, n = 0;
	bool locked;

	if (!atomic_load(&c->head))
		return SEG_NONE;
	locked = seg_lock(s, &c->lock, SEG_LOCK_DATA_NS) >= 0;
	for (i = atomic_load(&c->head); (m = send_at(s, i)) && found == SEG_NONE;
	     i = atomic_load(&m->next)) {
		if (atomic_load(&m->state) == MAD_SEND_WAITS &&
		    LAYOUT_GET(mad_hdr, m->mad, tid) == LAYOUT_GET(mad_hdr, mad, tid) &&
		    LAYOUT_GET(mad_hdr, m->mad, mgmt_class) ==
			    LAYOUT_GET(mad_hdr, mad, mgmt_class) &&
		    is(s, i, m, arg))
			found = i;
		if (n++ > seg_table(s, SEG_T_MSEND)->capacity)
			break;
	}
	if (locked)
		seg_unlock(s, &c->lock);
	return found;
}

/* ---- answers */

/* Whoever gets true ends the send. */
bool umad_send_take(struct mad_send *m)
{
	uint32_t waits = MAD_SEND_WAITS;

	return atomic_compare_exchange_strong(&m->state, &waits, MAD_SEND_TAKEN);
}

void umad_sends_cancel(struct seg *s, uint32_t file, uint32_t agent)
{
	seg_for_each_owned (s, SEG_T_MSEND, file + 1, i) {
		struct mad_send *m = seg_at(s, SEG_T_MSEND, i);

		if (m->agent == agent && umad_send_take(m))
			umad_send_end(s, i, m);
	}
}

/* mad.c, rcv_has_same_gid() */
static bool same_gid(struct seg *s, uint32_t port, const struct ib_user_mad_hdr *h,
		     const uint8_t *mad, const struct umad_pkt *p)
{
	const struct hw_port *own = hw_port(s, port);
	bool sent_resp = mad_is_response(mad);

	if (sent_resp == mad_is_response(p->mad) || !h->grh_present != !p->grh)
		return false;
	/* An answer to us: it goes where the request came from. */
	if (!sent_resp)
		return p->grh ? !memcmp(own->gid[h->gid_index], p->dgid, 16)
			      : umad_path_bits(own, h->path_bits) == umad_path_bits(own, p->dlid);
	return p->grh ? !memcmp(h->gid, p->sgid, 16) : be16_load(&h->lid) == p->slid;
}

/* mad.c, ib_find_send_mad(); but for the transaction ID and the class */
struct asked {
	uint32_t agent, agent_gen;
	const struct umad_pkt *p;
};

static bool is_answered(struct seg *s, uint32_t i, const struct mad_send *m, const void *arg)
{
	const struct asked *q = arg;

	return m->agent == q->agent && m->agent_gen == q->agent_gen &&
	       (LAYOUT_GET(mad_hdr, q->p->mad, mgmt_class) == MAD_CLASS_SUBN_DR ||
		same_gid(s, m->port, (const struct ib_user_mad_hdr *)m->hdr, m->mad, q->p));
}

uint32_t umad_send_find(struct seg *s, uint32_t agent, const struct mad_agent *a,
			const struct umad_pkt *p)
{
	const struct asked q = {agent, a->gen, p};

	return look(s, p->mad, is_answered, &q);
}

/* The same for a send that is remembered nowhere. */
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
		     const struct umad_pkt *p)
{
	struct umad_req *q = p->req;
	uint32_t i;

	if (q && q->state == UMAD_REQ_OUT && is_request_answered(s, q, agent, a, p)) {
		q->state = UMAD_REQ_ANSWERED;
		return true;
	}
	while ((i = umad_send_find(s, agent, a, p)) != SEG_NONE) {
		struct mad_send *m = seg_at(s, SEG_T_MSEND, i);

		if (!umad_send_take(m))
			continue;
		umad_send_end(s, i, m);
		return true;
	}
	return false;
}

/* ---- duplicates */

struct twin {
	uint32_t owner;
	const struct ib_user_mad_hdr *h;
	bool resp;
};

static bool is_twin(struct seg *s, uint32_t i, const struct mad_send *m, const void *arg)
{
	const struct ib_user_mad_hdr *sent = (const struct ib_user_mad_hdr *)m->hdr;
	const struct twin *t = arg;
	const struct ib_user_mad_hdr *h = t->h;

	if (seg_owner(s, SEG_T_MSEND, i) != t->owner || mad_is_response(m->mad) != t->resp)
		return false;
	return !t->resp || (!h->grh_present && !sent->grh_present && h->lid == sent->lid) ||
	       (h->grh_present && sent->grh_present && !memcmp(h->gid, sent->gid, 16));
}

/* user_mad.c, is_duplicate() */
bool umad_is_duplicate(const struct umad_file *f, const struct ib_user_mad_hdr *h,
		       const uint8_t *mad)
{
	const struct twin t = {f->file + 1, h, mad_is_response(mad)};

	return look(f->s, mad, is_twin, &t) != SEG_NONE;
}
