/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns the answers that come with an event. Takes no lock and allocates nothing. */
#include "ucma/ahead.h"

#include <string.h>

static struct ucma_ahead_id *place(struct ucma_ahead *a, uint32_t id)
{
	return &a->ids[id % UCMA_AHEAD_IDS];
}

void ucma_ahead_put(struct ucma_ahead *a, struct ucma_whose w, const void *bytes, size_t len)
{
	struct ucma_ahead_id *p = place(a, w.id);

	if (!len || len > sizeof(p->bytes) || atomic_exchange(&p->busy, 1))
		return;
	p->changes = w.changes;
	p->file = w.file;
	p->gen = w.gen;
	p->id = w.id;
	p->len = (uint32_t)len;
	memcpy(p->bytes, bytes, len);
	atomic_store(&p->busy, 0);
}

static size_t find(const struct ucma_ahead_id *p, uint32_t cmd, uint32_t key, void *out,
		   size_t room)
{
	struct ucma_answer a;

	for (size_t at = 0; at + sizeof(a) <= p->len; at += sizeof(a) + a.len) {
		memcpy(&a, p->bytes + at, sizeof(a));
		if (a.len > p->len - at - sizeof(a))
			return 0;
		if (a.cmd != cmd || a.key != key)
			continue;
		if (a.len > room)
			return 0;
		memcpy(out, p->bytes + at + sizeof(a), a.len);
		return a.len;
	}
	return 0;
}

size_t ucma_ahead_get(struct ucma_ahead *a, struct ucma_whose w, uint32_t cmd, uint32_t key,
		      void *out, size_t room)
{
	struct ucma_ahead_id *p = place(a, w.id);
	size_t n = 0;

	if (atomic_exchange(&p->busy, 1))
		return 0;
	if (p->file == w.file && p->gen == w.gen && p->id == w.id && p->changes == w.changes)
		n = find(p, cmd, key, out, room);
	atomic_store(&p->busy, 0);
	return n;
}
