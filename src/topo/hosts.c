/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the names of hosts. A CA's host is the first word of its NodeDescription, so CAs with the
 * same first word belong to one host. If the word is no valid name of a host, or too many CAs share
 * it (a factory default), each such CA becomes a separate host with ibnetdiscover's name of the
 * node: H-<16 digits>. Called at the end of build_topo().
 */
#include "topo/build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HOST_LEN sizeof(((struct topo *)NULL)->host[0])
#define HOST_HCAS 16

struct names {
	char (*name)[HOST_LEN];
	uint32_t *cas; /* number of CAs with that name */
	uint32_t n;
	struct topo_hash index;
};

static bool same_name(const void *arg, const void *key, uint32_t value)
{
	const struct names *w = arg;

	return !strcmp(w->name[value], key);
}

/* The rule of options_name_ok() for names that become folders. */
static bool hosts_usable(const char *word, size_t len)
{
	static const char ok[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

	if (!len || len >= HOST_LEN || word[0] == '.' || word[0] == '-')
		return false;
	for (size_t i = 0; i < len; i++)
		if (!word[i] || !strchr(ok, word[i]))
			return false;
	return true;
}

static bool first_word(const struct topo_node *n, char out[HOST_LEN])
{
	size_t start = strspn(n->desc, " \t"), len = strcspn(n->desc + start, " \t");

	if (!hosts_usable(n->desc + start, len))
		return false;
	memcpy(out, n->desc + start, len);
	out[len] = 0;
	return true;
}

/* The index of a host's name, added if it is new; TOPO_NONE: no memory. */
static uint32_t intern(struct names *w, const char *name)
{
	uint64_t hash = topo_hash_bytes(name, strlen(name));
	uint32_t i = topo_hash_find(&w->index, hash, name, same_name, w);

	if (i != TOPO_HASH_NONE)
		return i;
	if (topo_hash_add(&w->index, hash, w->n) < 0)
		return TOPO_NONE;
	strcpy(w->name[w->n], name);
	return w->n++;
}

static int hosts_init(struct names *w, uint32_t room)
{
	*w = (struct names){.name = calloc(room + 1, sizeof(*w->name)),
			    .cas = calloc(room + 1, sizeof(*w->cas))};
	return w->name && w->cas ? 0 : -ENOMEM;
}

static void hosts_finish(struct names *w)
{
	free(w->name);
	free(w->cas);
	topo_hash_finish(&w->index);
}

static int name_of(const struct topo_node *n, const struct names *words, char out[HOST_LEN])
{
	uint32_t i;

	if (first_word(n, out)) {
		i = topo_hash_find(&words->index, topo_hash_bytes(out, strlen(out)), out, same_name,
				   words);
		if (i != TOPO_HASH_NONE && words->cas[i] <= HOST_HCAS)
			return 0;
	}
	return snprintf(out, HOST_LEN, "H-%016llx", (unsigned long long)n->guid) < 0 ? -EINVAL : 0;
}

int topo_name_hosts(struct topo *t)
{
	struct names words, hosts;
	char name[HOST_LEN];
	int r = hosts_init(&words, t->nnodes);

	if (hosts_init(&hosts, t->nnodes) < 0)
		r = -ENOMEM;
	for (uint32_t i = 0; !r && i < t->nnodes; i++) {
		if (t->node[i].type != TOPO_CA || !first_word(&t->node[i], name))
			continue;
		uint32_t w = intern(&words, name);

		if (w == TOPO_NONE)
			r = -ENOMEM;
		else
			words.cas[w]++;
	}
	for (uint32_t i = 0; !r && i < t->nnodes; i++) {
		struct topo_node *n = &t->node[i];

		n->host = TOPO_NONE;
		if (n->type != TOPO_CA)
			continue;
		name_of(n, &words, name);
		n->host = intern(&hosts, name);
		r = n->host == TOPO_NONE ? -ENOMEM : 0;
	}
	if (!r) {
		t->nhosts = hosts.n;
		t->host = hosts.name;
		hosts.name = NULL;
	}
	hosts_finish(&words);
	hosts_finish(&hosts);
	return r;
}
