/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns the deadlines: a binary heap, the earliest first. */
#include "cm/priv.h"

#include <errno.h>
#include <stdlib.h>

int cm_timers_reserve(struct cm_timers *t, uint32_t n)
{
	uint32_t room = t->room ? t->room : 64;
	struct cm_timer **more;

	if (n <= t->room)
		return 0;
	while (room < n)
		room *= 2;
	more = realloc(t->heap, room * sizeof(*more));
	if (!more)
		return -ENOMEM;
	t->heap = more;
	t->room = room;
	return 0;
}

void cm_timers_finish(struct cm_timers *t)
{
	free(t->heap);
	*t = (struct cm_timers){0};
}

static void put(struct cm_timers *t, uint32_t pos, struct cm_timer *timer)
{
	t->heap[pos - 1] = timer;
	timer->pos = pos;
}

/* Moves the timer up or down to where it belongs. */
static void settle(struct cm_timers *t, uint32_t pos, struct cm_timer *timer)
{
	while (pos > 1 && t->heap[pos / 2 - 1]->at > timer->at) {
		put(t, pos, t->heap[pos / 2 - 1]);
		pos /= 2;
	}
	for (uint32_t child; (child = pos * 2) <= t->n; pos = child) {
		if (child < t->n && t->heap[child]->at < t->heap[child - 1]->at)
			child++;
		if (t->heap[child - 1]->at >= timer->at)
			break;
		put(t, pos, t->heap[child - 1]);
	}
	put(t, pos, timer);
}

void cm_timer_set(struct cm_timers *t, struct cm_timer *timer, uint64_t at)
{
	timer->at = at;
	if (timer->pos) {
		settle(t, timer->pos, timer);
		return;
	}
	if (BUG_ON(t->n >= t->room))
		return;
	put(t, ++t->n, timer);
	settle(t, t->n, timer);
}

void cm_timer_stop(struct cm_timers *t, struct cm_timer *timer)
{
	uint32_t pos = timer->pos;
	struct cm_timer *last;

	if (!pos)
		return;
	timer->pos = 0;
	last = t->heap[--t->n];
	if (last != timer)
		settle(t, pos, last);
}

struct cm_timer *cm_timers_first(const struct cm_timers *t)
{
	return t->n ? t->heap[0] : NULL;
}
