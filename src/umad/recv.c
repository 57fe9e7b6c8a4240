/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns what comes out of a umad file: packets in its event queue (a full struct ib_user_mad_hdr,
 * then the MAD), and read(). The rules are those of recv_handler(), send_handler(),
 * copy_recv_mad() and ib_umad_read() in user_mad.c.
 */
#include "umad/priv.h"

#include <errno.h>
#include <string.h>
#include "segment/evq.h"
#include "util/log.h"

static int push(struct seg *s, const struct mad_agent *a, const void *packet, uint32_t len)
{
	const struct seg_evsrc src = {.table = SEG_T_COUNT};
	int r = evq_push_data(s, a->file, a->file_gen, src, 0, packet, len);

	if (r)
		TRACE(LOG_EVENT, "umad file %u: a packet is lost: %d", a->file, r);
	return r;
}

int umad_deliver(struct seg *s, const struct mad_agent *a, const struct umad_pkt *p)
{
	const struct seg_file *sf = seg_file(s, a->file);
	struct {
		struct ib_user_mad_hdr hdr;
		uint8_t mad[MAD_SIZE];
	} packet = {0};

	if (!sf || sf->gen != a->file_gen)
		return -ENOENT;
	packet.hdr.id = a->id;
	packet.hdr.length = (uint32_t)umad_hdr_size(sf) + MAD_SIZE;
	be32_store(&packet.hdr.qpn, p->qpn);
	be16_store(&packet.hdr.lid, p->slid);
	packet.hdr.sl = p->sl;
	packet.hdr.pkey_index = (uint16_t)p->pkey_index;
	if (p->grh) {
		packet.hdr.grh_present = 1;
		packet.hdr.hop_limit = p->hop_limit;
		packet.hdr.traffic_class = p->traffic_class;
		memcpy(packet.hdr.gid, p->sgid, sizeof(packet.hdr.gid));
		be32_store(&packet.hdr.flow_label, p->flow_label);
	}
	memcpy(packet.mad, p->mad, MAD_SIZE);
	return push(s, a, &packet, sizeof(packet));
}

int umad_deliver_timeout(struct seg *s, const struct mad_agent *a, const struct mad_send *m)
{
	uint8_t packet[UMAD_HDR + LAYOUT_SZ(mad_hdr)];
	const uint32_t status = ETIMEDOUT;

	memcpy(packet, m->hdr, UMAD_HDR);
	memcpy(packet + offsetof(struct ib_user_mad_hdr, id), &a->id, sizeof(a->id));
	memcpy(packet + offsetof(struct ib_user_mad_hdr, status), &status, sizeof(status));
	memcpy(packet + UMAD_HDR, m->mad, LAYOUT_SZ(mad_hdr));
	return push(s, a, packet, sizeof(packet));
}

/* ---- read() */

/* A packet that was taken can not be put back: is the buffer writable? Its bytes stay. */
static bool writable(void *buf, size_t len)
{
	return !mem_guarded_copy(buf, buf, len);
}

/* Its pieces, the first `hdr_size` bytes of the header and the rest, to the program. */
static ssize_t copy_packet(struct seg *s, const struct seg_evrec *rec, size_t hdr_size, uint8_t *to)
{
	size_t cut = UMAD_HDR - hdr_size, done = 0;
	uint32_t at = rec->data, left = rec->len;
	bool bad = false;

	while (left) {
		uint32_t n = left < EVQ_PIECE ? left : EVQ_PIECE, first = 0, next = 0;
		const uint8_t *d = evq_data(s, at, &next);

		if (!d)
			break;
		/* The first piece is longer than a header: all of its end is in it. */
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
	evq_data_free(s, rec);
	return bad ? -EFAULT : left ? -EIO : (ssize_t)done;
}

ssize_t umad_read(const struct umad_file *f, int fd, void *buf, size_t count, bool nonblock,
		  const void *sigmask)
{
	const struct seg_file *sf = seg_file(f->s, f->file);
	struct seg_evq *q = seg_live(f->s, SEG_T_EVQ, f->file);
	struct seg_evrec rec;
	size_t hdr;
	int r;

	if (!sf || sf->gen != f->gen || !q)
		return -EIO;
	for (;;) {
		uint32_t seen = atomic_load(&q->wake);

		hdr = umad_hdr_size(sf);
		if (count < hdr)
			return -EINVAL;
		if (!writable(buf, count < hdr + MAD_SIZE ? count : hdr + MAD_SIZE) &&
		    atomic_load(&q->count))
			return -EFAULT;
		r = evq_take(f->s, f->file, f->gen, fd, 0, count + UMAD_HDR - hdr, &rec);
		if (!r)
			return copy_packet(f->s, &rec, hdr, buf);
		if (r == -EMSGSIZE)
			return -EINVAL;
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
