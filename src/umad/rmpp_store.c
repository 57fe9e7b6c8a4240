/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the segments of an RMPP message that has begun: those in order are the message's chain,
 * early ones wait in a list beside it. The caller (rmpp_recv.c) holds mad_recv.lock.
 */
#include "umad/priv.h"

#include <errno.h>
#include <string.h>

/* A segment that arrived before its turn, in a piece of the pool. */
struct early {
	int32_t seg_num;
	uint32_t flags, paylen;
	uint8_t data[EVQ_PIECE - 12];
};
static_assert(sizeof(struct early) == EVQ_PIECE, "fits a piece");
static_assert(sizeof(((struct early *)0)->data) >= MAD_SIZE - sizeof(uint8_t[24]), "any class");

int umad_rmpp_append(struct seg *s, uint32_t owner, struct mad_recv *r, uint32_t flags,
		     uint32_t paylen, const uint8_t *data)
{
	if (chain_append(s, owner, &r->msg, data, MAD_SIZE - mad_data_offset(r->mgmt_class)))
		return -ENOSPC;
	r->flags = flags;
	r->paylen = paylen;
	r->seg_num++;
	return 0;
}

void umad_rmpp_keep(struct seg *s, uint32_t owner, struct mad_recv *r, int32_t seg_num,
		    const struct umad_pkt *p)
{
	uint32_t off = mad_data_offset(r->mgmt_class), *link = &r->early, i;
	struct seg_evdata *d;
	struct early *e;

	for (; (d = *link ? seg_live(s, SEG_T_EVBUF, *link) : NULL); link = &d->next) {
		e = (struct early *)d->bytes;
		if (e->seg_num == seg_num)
			return;
		if (e->seg_num > seg_num)
			break;
	}
	if (seg_alloc_begin(s, SEG_T_EVBUF, &i))
		return;
	d = seg_at(s, SEG_T_EVBUF, i);
	e = (struct early *)d->bytes;
	e->seg_num = seg_num;
	e->flags = LAYOUT_GET32(mad_rmpp, p->mad, flags);
	e->paylen = LAYOUT_GET32(mad_rmpp, p->mad, payload_length);
	memcpy(e->data, p->mad + off, MAD_SIZE - off);
	d->next = *link;
	*link = i;
	/* from here on evq_close() finds it through the message */
	seg_alloc_end(s, SEG_T_EVBUF, owner, i);
}

int umad_rmpp_close_gap(struct seg *s, uint32_t owner, struct mad_recv *r)
{
	struct seg_evdata *d;
	int err = 0;

	while (!err && (d = r->early ? seg_live(s, SEG_T_EVBUF, r->early) : NULL)) {
		const struct early *e = (const struct early *)d->bytes;
		uint32_t i = r->early;

		if (e->seg_num != r->seg_num + 1)
			break;
		err = umad_rmpp_append(s, owner, r, e->flags, e->paylen, e->data);
		r->early = d->next;
		seg_free_of(s, SEG_T_EVBUF, owner, i);
	}
	return err;
}
