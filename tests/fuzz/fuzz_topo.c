/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Topology files: any text is read, or refused with a place and a reason; a topology that was read
 * can be written and read again, and is the same.
 */
#include "fuzz.h"
#include "topo/for_tests.h"

#include <stdlib.h>
#include <string.h>
#include "topo/topo.h"

static char *written(const struct topo *t)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	fz_check(f && !topo_write_ibnetdiscover(f, t) && !fclose(f));
	return text;
}

static void check_hosts(const struct topo *t)
{
	uint32_t hcas[16384] = {0};

	for (uint32_t i = 0; i < t->nnodes; i++) {
		const struct topo_node *n = &t->node[i];

		fz_check((n->host == TOPO_NONE) == (n->type != TOPO_CA));
		if (n->host == TOPO_NONE)
			continue;
		fz_check(n->host < t->nhosts);
		if (n->host < 16384)
			fz_check(++hcas[n->host] <= 16);
	}
	for (uint32_t i = 0; i < t->nhosts; i++)
		fz_check(t->host[i][0] && t->host[i][0] != '.' && !strchr(t->host[i], '/'));
}

static void check_cables(const struct topo *t)
{
	for (uint32_t i = 0; i < t->nnodes; i++)
		for (uint32_t p = 1; p <= t->node[i].nports; p++) {
			const struct topo_port *a = &t->node[i].port[p], *b;

			if (a->peer_node == TOPO_NONE)
				continue;
			fz_check(a->peer_node < t->nnodes);
			fz_check(a->peer_port >= 1 && a->peer_port <= t->node[a->peer_node].nports);
			b = &t->node[a->peer_node].port[a->peer_port];
			fz_check(b->peer_node == i && b->peer_port == p);
			fz_check(a->width == b->width && a->speed == b->speed);
		}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char err[TOPO_ERR], *one, *two;
	struct topo t, again;

	if (topo_parse("f", (const char *)data, size, &t, err) < 0) {
		fz_check(err[0] && !t.node && strlen(err) < TOPO_ERR);
		return 0;
	}
	check_hosts(&t);
	check_cables(&t);
	one = written(&t);
	if (topo_parse("again", one, strlen(one), &again, err) < 0)
		fprintf(stderr, "%s\n%s", err, one);
	fz_check(again.node);
	two = written(&again);
	fz_check(!strcmp(one, two));
	free(one);
	free(two);
	topo_free(&t);
	topo_free(&again);
	return 0;
}
