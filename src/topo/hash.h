/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A hash table from keys to small numbers, for topologies of ten thousands of nodes. It does not
 * copy keys: a callback compares them.
 */
#ifndef SOFTHCA_TOPO_HASH_H
#define SOFTHCA_TOPO_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TOPO_HASH_NONE UINT32_MAX

struct topo_hash {
	struct topo_hash_slot {
		uint64_t hash;
		uint32_t value; /* the value + 1; 0: the slot is free */
	} * slot;
	uint32_t room, used; /* capacity: a power of two */
};

typedef bool topo_hash_same(const void *arg, const void *key, uint32_t value);

uint64_t topo_hash_bytes(const void *p, size_t len);
uint64_t topo_hash_u64(uint64_t v);
/* The value of an existing key, or TOPO_HASH_NONE. */
uint32_t topo_hash_find(const struct topo_hash *h, uint64_t hash, const void *key,
			topo_hash_same *same, const void *arg);
/* Adds a key that does not exist yet. 0, -ENOMEM. */
int topo_hash_add(struct topo_hash *h, uint64_t hash, uint32_t value);
void topo_hash_finish(struct topo_hash *h);

#endif
