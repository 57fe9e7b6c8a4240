/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the supervisor's side of the processes' slots (segment/slot.h): requests of rdma_cm that
 * arrive in shared memory. A program can write to its slot at any time, so it is copied before it
 * is checked.
 */
#include "super/supervisor.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/eventfd.h>
#include "segment/slot.h"
#include "util/log.h"
#include "util/sys.h"

static struct seg_slot *slot_of(struct sup *sup, const struct sup_link *l)
{
	return l->slot == SEG_NONE ? NULL : seg_at(&sup->seg, SEG_T_SLOT, l->slot);
}

/*
 * Stores the answer; sup_slots_wake() wakes the process later, after the command's events are
 * queued.
 */
static void answer(struct sup *sup, struct sup_link *l, struct seg_slot *t,
		   const struct sup_reply *p)
{
	t->out = p->m;
	memcpy(t->out_more, p->more, p->nmore);
	if (!slot_answer(t, l->answered) || l->waking)
		return;
	l->waking = true;
	l->next_waking = sup->waking;
	sup->waking = l;
}

void sup_slots_wake(struct sup *sup)
{
	struct sup_link *l;

	while ((l = sup->waking)) {
		sup->waking = l->next_waking;
		l->waking = false;
		if (!l->closed)
			sys_futex_wake(&slot_of(sup, l)->answered, 1);
	}
}

static void bell_ready(struct sup *sup, struct sup_source *src, uint32_t events)
{
	struct sup_link *l = (struct sup_link *)((char *)src - offsetof(struct sup_link, bell));
	struct seg_slot *t = slot_of(sup, l);
	uint32_t number;
	struct sup_request q;
	struct sup_reply p;

	/* A request on the socket that waits for a job comes first: sup_links_again(). */
	number = l->again ? l->answered : slot_hear(t, l->answered);
	if (number == l->answered)
		return;
	q.m = t->in;
	q.fd = -1;
	q.nmore = q.m.more;
	/* Slots carry rdma_cm requests only. */
	if (q.m.op != LINK_RDMA_CM || q.nmore > sizeof(q.more)) {
		TRACE(LOG_LINK, "pid %d does not speak our protocol", l->pid);
		sup_link_close(sup, l);
		return;
	}
	memcpy(q.more, t->in_more, q.nmore);
	l->answered = number;
	sup_link_result(sup, l, &q, &p);
	if (!l->closed)
		answer(sup, l, t, &p);
}

void sup_slot_look(struct sup *sup, struct sup_link *l)
{
	if (l->bell.fd >= 0)
		bell_ready(sup, &l->bell, 0);
}

int sup_slot_bell(struct sup *sup, struct sup_link *l, struct sup_request *q, struct sup_reply *p)
{
	struct seg_slot *t = slot_of(sup, l);
	int r = 0;

	if (!t)
		return -ENOTCONN;
	if (l->bell.fd < 0) {
		l->bell = (struct sup_source){.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
					      .ready = bell_ready};
		if (l->bell.fd < 0)
			return -errno;
		l->answered = 0;
		atomic_store(&t->asked, 0);
		atomic_store(&t->answered, 0);
		r = sup_watch_edges(sup, &l->bell);
		if (r)
			sup_unwatch(sup, &l->bell);
	}
	p->fd = l->bell.fd;
	p->keep = true;
	return r;
}

void sup_slot_close(struct sup *sup, struct sup_link *l)
{
	struct seg_slot *t = slot_of(sup, l);

	if (l->bell.fd < 0)
		return;
	sup_unwatch(sup, &l->bell);
	sys_futex_wake(&t->answered, INT_MAX); /* a waiter wakes and finds the connection ended */
}
