/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns what programs read from a umad file: packets in its event queue (a full struct
 * ib_user_mad_hdr, then the MAD), and read(). The rules are those of recv_handler(),
 * send_handler(), copy_recv_mad() and ib_umad_read() in user_mad.c.
 */
#include "umad/priv.h"

#include <errno.h>
#include <string.h>
#include "fabric/eth.h"
#include "hw/hca.h"
#include "hw/port.h"
#include "hw/evq.h"
#include "segment/mem.h"
#include "segment/tap.h"
#include "util/clock.h"
#include "util/log.h"

/*
 * How long to wait for a queue whose reader has lost the processor: the packet would not be
 * repeated, and no doorbell is held up.
 */
#define PATIENCE_NS (2 * NSEC_PER_SEC)

static bool once_more(int r, uint64_t *until)
{
	uint64_t now;

	if (r != -ETIMEDOUT)
		return false;
	now = clock_now_ns();
	if (!*until)
		*until = now + PATIENCE_NS;
	return now < *until;
}

/* The record that ends a send is pushed exactly once, even if processes die meanwhile. */
static struct seg_evsrc source(uint64_t send)
{
	if (!send)
		return (struct seg_evsrc){.table = SEG_T_COUNT};
	return (struct seg_evsrc){
		.table = SEG_T_MSEND, .idx = MAD_REF_IDX(send), .gen = MAD_REF_GEN(send)};
}

static int recv_push(struct seg *s, const struct mad_agent *a, uint64_t send, const void *packet,
		     uint32_t len)
{
	const struct seg_evsrc src = source(send);
	uint64_t until = 0;
	int r;

	do
		r = send ? evq_push_owed(s, a->file, a->file_gen, src, 0, 0, packet, len, false)
			 : evq_push_data(s, a->file, a->file_gen, src, 0, packet, len);
	while (once_more(r, &until));
	if (r)
		TRACE(LOG_MAD, "umad file %u: a packet is lost: %d", a->file, r);
	return r;
}

int umad_hdr_of(struct seg *s, const struct mad_agent *a, const struct umad_pkt *p,
		struct ib_user_mad_hdr *h)
{
	const struct seg_file *sf = seg_file(s, a->file);
	const struct hw_port *port = hw_port(s, a->port);
	int gid;

	if (!sf || sf->gen != a->file_gen)
		return -ENOENT;
	memset(h, 0, sizeof(*h));
	h->id = a->id;
	h->length = (uint32_t)umad_hdr_size(sf) + MAD_SIZE;
	be32_store(&h->qpn, p->qpn);
	be16_store(&h->lid, hw_port_is_eth(port) ? 0 : (uint16_t)p->slid);
	h->sl = p->sl;
	h->path_bits = umad_path_bits(port, p->dlid);
	h->pkey_index = (uint16_t)p->pkey_index;
	if (p->grh) {
		h->grh_present = 1;
		gid = fab_gid_find(port, p->dgid, p->gid_kind);
		h->gid_index = (uint8_t)(gid < 0 ? 0 : gid);
		h->hop_limit = umad_answer_hops(port, p->gid_kind, p->sgid);
		h->traffic_class = p->traffic_class;
		memcpy(h->gid, p->sgid, sizeof(h->gid));
		be32_store(&h->flow_label, p->flow_label);
	}
	return 0;
}

int umad_deliver(struct seg *s, const struct mad_agent *a, const struct umad_pkt *p, uint64_t send)
{
	struct {
		struct ib_user_mad_hdr hdr;
		uint8_t mad[MAD_SIZE];
	} packet;
	int r = umad_hdr_of(s, a, p, &packet.hdr);

	if (r)
		return r;
	memcpy(packet.mad, p->mad, MAD_SIZE);
	umad_seen(s, "received", a->port, p);
	return recv_push(s, a, send, &packet, sizeof(packet));
}

int umad_deliver_pieces(struct seg *s, const struct mad_agent *a, const struct seg_chain *c,
			uint64_t send)
{
	const struct seg_evsrc src = source(send);
	uint64_t until = 0;
	int r;

	do
		r = send ? evq_push_owed_pieces(s, a->file, a->file_gen, src, c->head, c->len)
			 : evq_push_pieces(s, a->file, a->file_gen, src, 0, c->head, c->len);
	while (once_more(r, &until));
	if (r)
		TRACE(LOG_MAD, "umad file %u: a message of %u bytes is lost: %d", a->file, c->len,
		      r);
	return r;
}

int umad_deliver_timeout(struct seg *s, const struct mad_agent *a, const struct mad_send *m,
			 uint64_t send)
{
	uint8_t packet[UMAD_HDR + LAYOUT_SZ(mad_hdr)];
	const uint32_t status = ETIMEDOUT;

	memcpy(packet, m->hdr, UMAD_HDR);
	memcpy(packet + offsetof(struct ib_user_mad_hdr, id), &a->id, sizeof(a->id));
	memcpy(packet + offsetof(struct ib_user_mad_hdr, status), &status, sizeof(status));
	memcpy(packet + UMAD_HDR, m->mad, LAYOUT_SZ(mad_hdr));
	if (TRACE_ON(LOG_MAD))
		umad_trace_timeout(s, m);
	return recv_push(s, a, send, packet, sizeof(packet));
}

/* ---- read() */

/*
 * Copy the pieces to the program: the first `hdr_size` bytes of the header, then the MAD. If that
 * fails, the packet goes back to the head of the queue.
 */
static ssize_t copy_packet(const struct umad_file *f, const struct seg_evrec *rec, size_t hdr_size,
			   uint8_t *to)
{
	size_t cut = UMAD_HDR - hdr_size, done = 0;
	uint32_t at = rec->data, left = rec->len;
	bool bad = false;

	while (left && !bad) {
		uint32_t n = left < EVQ_PIECE ? left : EVQ_PIECE, first = 0, next = 0;
		const uint8_t *d = evq_data(f->s, at, &next);

		if (!d)
			break;
		/* The first piece is longer than a header, so it contains all of that. */
		if (left == rec->len) {
			bad |= mem_guarded_copy(to, d, hdr_size) != 0;
			done = hdr_size;
			first = (uint32_t)(hdr_size + cut);
		}
		bad |= mem_guarded_copy(to + done, d + first, n - first) != 0;
		done += n - first;
		left -= n;
		at = next;
	}
	if (!bad || evq_untake(f->s, f->file, f->gen, rec))
		evq_data_free(f->s, rec);
	return bad ? -EFAULT : left ? -EIO : (ssize_t)done;
}

/*
 * Show a packet that does not fit, and keep it: the first segment of a long message, whose header
 * says how much space is needed. -EAGAIN: another reader was faster.
 */
static ssize_t copy_first(const struct umad_file *f, uint8_t *to, size_t count, size_t hdr_size)
{
	uint8_t packet[UMAD_HDR + MAD_SIZE];
	struct seg_evrec rec;
	int r = evq_peek(f->s, f->file, f->gen, packet, sizeof(packet), &rec);

	if (r)
		return r;
	if (count >= rec.len - UMAD_HDR + hdr_size)
		return -EAGAIN;
	if (rec.len <= sizeof(packet) || count < hdr_size + MAD_SIZE)
		return -EINVAL;
	if (mem_guarded_copy(to, packet, hdr_size) ||
	    mem_guarded_copy(to + hdr_size, packet + UMAD_HDR, MAD_SIZE))
		return -EFAULT;
	return -ENOSPC;
}

ssize_t umad_read(const struct umad_file *f, int fd, void *buf, size_t count, bool nonblock,
		  const void *sigmask)
{
	const struct seg_file *sf = seg_file(f->s, f->file);
	struct seg_evq *q = seg_live(f->s, SEG_T_EVQ, f->file);
	struct seg_evrec rec;
	size_t hdr;
	ssize_t r;

	if (!sf || sf->gen != f->gen || !q)
		return -EIO;
	for (;;) {
		uint32_t seen = atomic_load(&q->wake);

		tap_look(f->s);

		hdr = umad_hdr_size(sf);
		if (count < hdr)
			return -EINVAL;
		if (umad_dead(f))
			return -EIO;
		r = evq_take(f->s, f->file, f->gen, fd, 0, count + UMAD_HDR - hdr, &rec);
		if (!r)
			return copy_packet(f, &rec, hdr, buf);
		if (r == -EMSGSIZE) {
			r = copy_first(f, buf, count, hdr);
			if (r == -EAGAIN)
				continue;
		}
		if (r == -ENOENT)
			return -EIO;
		if (r != -EAGAIN && r != -ETIMEDOUT)
			return r;
		if (nonblock)
			return -EAGAIN;
		r = evq_wait(q, seen, r == -ETIMEDOUT, sigmask);
		if (r)
			return r;
	}
}
