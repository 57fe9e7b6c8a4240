/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns the hash tables. Their nodes lie in ids, so that insertion never fails. */
#include "cm/priv.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_BUCKETS 64

static bool same(const struct cm_key *x, const struct cm_key *y)
{
	return x->a == y->a && x->b == y->b && x->c == y->c;
}

/* The seed keeps peers from choosing keys whose hashes collide. */
static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 29;
}

static struct cm_node **place(const struct cm_table *t, const struct cm_key *k)
{
	uint64_t h = mix(mix(t->seed, k->a), (uint64_t)k->b << 32 | k->c);

	return &t->bucket[(h ^ h >> 32) & (t->nbuckets - 1)];
}

int cm_table_init(struct cm_table *t, uint64_t seed)
{
	*t = (struct cm_table){.nbuckets = FIRST_BUCKETS, .seed = seed};
	t->bucket = calloc(t->nbuckets, sizeof(*t->bucket));
	return t->bucket ? 0 : -ENOMEM;
}

void cm_table_finish(struct cm_table *t)
{
	free(t->bucket);
	*t = (struct cm_table){0};
}

static struct cm_node *find(const struct cm_table *t, const struct cm_key *k)
{
	struct cm_node *n = *place(t, k);

	while (n && !same(&n->key, k))
		n = n->next;
	return n;
}

struct cm_id *cm_table_find(const struct cm_table *t, struct cm_key k)
{
	const struct cm_node *n = find(t, &k);

	return n ? n->id : NULL;
}

/* If there is no memory, the chains only get longer. */
static void grow(struct cm_table *t)
{
	struct cm_table more = *t;

	more.nbuckets *= 2;
	more.bucket = calloc(more.nbuckets, sizeof(*more.bucket));
	if (!more.bucket)
		return;
	for (uint32_t i = 0; i < t->nbuckets; i++)
		for (struct cm_node *n = t->bucket[i], *next; n; n = next) {
			struct cm_node **to = place(&more, &n->key);

			next = n->next;
			n->next = *to;
			*to = n;
		}
	free(t->bucket);
	*t = more;
}

struct cm_id *cm_table_insert(struct cm_table *t, struct cm_node *n, struct cm_key k)
{
	struct cm_node *other = find(t, &k), **to;

	if (other)
		return other->id;
	if (t->count >= t->nbuckets && t->nbuckets < UINT32_MAX / 2)
		grow(t);
	to = place(t, &k);
	n->key = k;
	n->next = *to;
	n->in = true;
	*to = n;
	t->count++;
	return NULL;
}

void cm_table_remove(struct cm_table *t, struct cm_node *n)
{
	struct cm_node **p;

	if (!n->in)
		return;
	p = place(t, &n->key);
	while (*p && *p != n)
		p = &(*p)->next;
	if (BUG_ON(!*p))
		return;
	*p = n->next;
	n->in = false;
	t->count--;
}
