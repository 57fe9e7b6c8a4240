/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns the hash table of topologies: open addressing, at most half full. Calls nothing. */
#include "topo/hash.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_ROOM 64u

uint64_t topo_hash_u64(uint64_t v)
{
	v ^= v >> 33;
	v *= UINT64_C(0xff51afd7ed558ccd);
	v ^= v >> 33;
	v *= UINT64_C(0xc4ceb9fe1a85ec53);
	return v ^ v >> 33;
}

uint64_t topo_hash_bytes(const void *p, size_t len)
{
	const unsigned char *c = p;
	uint64_t h = UINT64_C(0xcbf29ce484222325); /* FNV-1a, then mixed */

	while (len--)
		h = (h ^ *c++) * UINT64_C(0x100000001b3);
	return topo_hash_u64(h);
}

uint32_t topo_hash_find(const struct topo_hash *h, uint64_t hash, const void *key,
			topo_hash_same *same, const void *arg)
{
	if (!h->room)
		return TOPO_HASH_NONE;
	for (uint32_t i = (uint32_t)hash & (h->room - 1); h->slot[i].value;
	     i = (i + 1) & (h->room - 1))
		if (h->slot[i].hash == hash && same(arg, key, h->slot[i].value - 1))
			return h->slot[i].value - 1;
	return TOPO_HASH_NONE;
}

static void hash_put(struct topo_hash_slot *slot, uint32_t room, uint64_t hash, uint32_t value)
{
	uint32_t i = (uint32_t)hash & (room - 1);

	while (slot[i].value)
		i = (i + 1) & (room - 1);
	slot[i].hash = hash;
	slot[i].value = value;
}

int topo_hash_add(struct topo_hash *h, uint64_t hash, uint32_t value)
{
	if (h->used * 2 >= h->room) {
		uint32_t room = h->room ? h->room * 2 : FIRST_ROOM;
		struct topo_hash_slot *slot = calloc(room, sizeof(*slot));

		if (!slot)
			return -ENOMEM;
		for (uint32_t i = 0; i < h->room; i++)
			if (h->slot[i].value)
				hash_put(slot, room, h->slot[i].hash, h->slot[i].value);
		free(h->slot);
		h->slot = slot;
		h->room = room;
	}
	hash_put(h->slot, h->room, hash, value + 1);
	h->used++;
	return 0;
}

void topo_hash_finish(struct topo_hash *h)
{
	free(h->slot);
	*h = (struct topo_hash){0};
}
