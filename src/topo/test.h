/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by the tests of topologies. */
#ifndef SOFTHCA_TOPO_TEST_H
#define SOFTHCA_TOPO_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "topo/topo.h"
#include "topo/for_tests.h"

/* Are both equal, except for the nodes' names in the file? */
static inline void t_same(const struct topo *a, const struct topo *b)
{
	assert_int_equal(a->nnodes, b->nnodes);
	assert_int_equal(a->nhosts, b->nhosts);
	for (uint32_t i = 0; i < a->nhosts; i++)
		assert_string_equal(a->host[i], b->host[i]);
	for (uint32_t i = 0; i < a->nnodes; i++) {
		const struct topo_node *n = &a->node[i], *m = &b->node[i];

		assert_int_equal(n->type, m->type);
		assert_int_equal(n->nports, m->nports);
		assert_true(n->guid == m->guid && n->sys_guid == m->sys_guid);
		assert_int_equal(n->vendor_id, m->vendor_id);
		assert_int_equal(n->device_id, m->device_id);
		assert_int_equal(n->enhanced_port0, m->enhanced_port0);
		assert_int_equal(n->host, m->host);
		assert_string_equal(n->desc, m->desc);
		for (uint32_t p = 0; p <= n->nports; p++)
			assert_memory_equal(&n->port[p], &m->port[p], sizeof(n->port[p]));
	}
	assert_int_equal(a->nips, b->nips);
	for (uint32_t i = 0; i < a->nips; i++)
		assert_memory_equal(&a->ip[i], &b->ip[i], sizeof(a->ip[i]));
}

static inline char *t_written(const struct topo *t, int (*write)(FILE *f, const struct topo *t))
{
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	assert_int_equal(write(f, t), 0);
	fclose(f);
	return text;
}

/* Writing and reading again gives the same topology. */
static inline void t_round_trip(const struct topo *t)
{
	char *text = t_written(t, topo_write_ibnetdiscover), err[TOPO_ERR];
	struct topo again;

	if (topo_parse("again", text, strlen(text), &again, err) < 0)
		fail_msg("%s", err);
	t_same(t, &again);
	topo_free(&again);
	free(text);
}

/* Frees *t, reads the text into it, and writes and reads that again. */
static inline void t_parse(struct topo *t, const char *text)
{
	char err[TOPO_ERR];

	topo_free(t);
	if (topo_parse("f", text, strlen(text), t, err) < 0)
		fail_msg("%s", err);
	t_round_trip(t);
}

#endif
