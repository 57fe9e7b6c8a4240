// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Owns the list of watched ports, and looks for changes in hw_port.news, which any process that
 * changes a port writes (fab_port_changed()). mcast.c watches ports; cma.c calls this in each turn.
 */
#include "cma/priv.h"

#include <errno.h>
#include <stdlib.h>

int cma_news_want(struct cma *c, uint32_t port)
{
	struct hw_port *p = hw_port(c->s, port);
	uint32_t *more;

	if (!p)
		return -ENODEV;
	if (atomic_load(&p->news) & HW_NEWS_WANTED)
		return 0;
	more = realloc(c->wanted, (c->nwanted + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	c->wanted = more;
	c->wanted[c->nwanted++] = port;
	atomic_store(&p->news, HW_NEWS_WANTED);
	return 0;
}

void cma_news_look(struct cma *c)
{
	for (uint32_t i = 0; i < c->nwanted; i++) {
		struct hw_port *p = hw_port(c->s, c->wanted[i]);
		uint32_t news = p ? atomic_load(&p->news) : 0;

		if (!(news & ~HW_NEWS_WANTED))
			continue;
		news = atomic_exchange(&p->news, HW_NEWS_WANTED);
		cma_groups_changed(c, c->wanted[i], news & HW_NEWS_RESET);
	}
}

void cma_news_free(struct cma *c)
{
	for (uint32_t i = 0; i < c->nwanted; i++) {
		struct hw_port *p = hw_port(c->s, c->wanted[i]);

		if (p)
			atomic_store(&p->news, 0);
	}
	free(c->wanted);
}
