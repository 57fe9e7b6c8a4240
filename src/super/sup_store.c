/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the writing of an adapter's node_desc in sysfs: an opener gets a pipe, so that every form of
 * write(2), in any process, arrives here, each as a packet of its own. Readers ask for what is in
 * the pipes (LINK_STORE, `arg` 1) while the file STORES_FILE is in the fabric's directory.
 */
#include "super/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>
#include "fabric/fabric.h"
#include "hw/hca.h"

struct sup_store {
	struct sup_source src; /* must be first: the read end */
	struct sup_store *next;
	uint32_t hca; /* SEG_T_HCA */
};

static void mark(struct sup *sup)
{
	int fd = openat(sup->dir, STORES_FILE, O_CREAT | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0644);

	if (fd >= 0)
		close(fd);
}

static void store_end(struct sup *sup, struct sup_store *st)
{
	struct sup_store **at = &sup->stores;

	while (*at != st)
		at = &(*at)->next;
	*at = st->next;
	sup_unwatch(sup, &st->src);
	free(st);
	if (!sup->stores)
		unlinkat(sup->dir, STORES_FILE, 0);
}

/* False: all writers have closed it. */
static bool store_take(struct sup *sup, const struct sup_store *st)
{
	char text[PIPE_BUF];
	ssize_t n;

	while ((n = read(st->src.fd, text, sizeof(text))) > 0)
		fab_describe(&sup->seg, st->hca, text, (size_t)n);
	sup->mads_at = 0; /* the trap is sent in this turn of the loop */
	return n < 0;
}

static void store_ready(struct sup *sup, struct sup_source *src, uint32_t events)
{
	struct sup_store *st = (struct sup_store *)src;

	if (!store_take(sup, st))
		store_end(sup, st);
}

static int store_open(struct sup *sup, uint32_t hca, int *fd)
{
	struct sup_store *st = calloc(1, sizeof(*st));
	int end[2], r;

	if (!st)
		return -ENOMEM;
	if (pipe2(end, O_DIRECT | O_NONBLOCK | O_CLOEXEC) < 0) {
		r = -errno;
		free(st);
		return r;
	}
	fcntl(end[1], F_SETFL, O_DIRECT);
	st->hca = hca;
	st->src = (struct sup_source){.fd = end[0], .ready = store_ready};
	r = sup_watch(sup, &st->src);
	if (r < 0) {
		close(end[0]);
		close(end[1]);
		free(st);
		return r;
	}
	st->next = sup->stores;
	sup->stores = st;
	mark(sup);
	*fd = end[1];
	return 0;
}

int sup_store(struct sup *sup, struct sup_link *l, struct sup_request *q, struct sup_reply *p)
{
	if (l->slot == SEG_NONE)
		return -ENOTCONN;
	if (sup->sweeping)
		return SUP_LATER;
	if (q->m.arg) { /* the sources end in the loop */
		for (struct sup_store *st = sup->stores; st; st = st->next)
			store_take(sup, st);
		return 0;
	}
	return hw_hca(&sup->seg, q->m.hca) ? store_open(sup, q->m.hca, &p->fd) : -ENODEV;
}

void sup_stores_free(struct sup *sup)
{
	while (sup->stores)
		store_end(sup, sup->stores);
}
