/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns the process's side of its slot. Calls the kernel below libc, as suplink.c does. */
#include "segment/slot.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include "util/clock.h"
#include "util/sys.h"

/* The supervisor has ended, or has ended this connection. */
static bool hung_up(const struct link *l)
{
	struct pollfd p = {.fd = l->fd};

	return sys_raw(SYS_poll, (long)&p, 1, 0, 0, 0, 0) > 0;
}

static int wait_answer(const struct link *l, struct seg_slot *t, uint32_t number)
{
	uint64_t end = clock_now_ns() + LINK_TIMEOUT_S * NSEC_PER_SEC;
	uint32_t seen;

	while ((seen = atomic_load(&t->answered)) != number) {
		/* A second: the supervisor may be killed, and wake nobody. */
		sys_futex_wait(&t->answered, seen, NSEC_PER_SEC);
		if (atomic_load(&t->answered) == number)
			break;
		if (hung_up(l))
			return -ECONNRESET;
		if (clock_now_ns() > end)
			return -ETIMEDOUT;
	}
	return 0;
}

static int ring(const struct link *l)
{
	uint64_t one = 1;
	long r;

	do
		r = sys_write(l->bell, &one, sizeof(one));
	while (r == -EINTR);
	return r < 0 ? (int)r : 0;
}

int slot_ask(const struct link *l, struct link_msg *m, const void *out, void *in, size_t *room)
{
	struct seg_slot *t = seg_at(l->seg, SEG_T_SLOT, l->seg->self);
	uint32_t number = atomic_load(&t->asked), op = m->op;
	/* A request that was given up is still the supervisor's. */
	int r = wait_answer(l, t, number);

	if (r)
		return r;
	t->in = *m;
	memcpy(t->in_more, out, m->more);
	atomic_store(&t->asked, ++number);
	r = ring(l);
	if (!r)
		r = wait_answer(l, t, number);
	if (r)
		return r;
	*m = t->out;
	if (m->op != op || m->err > 0 || m->more > *room)
		return -EPROTO;
	memcpy(in, t->out_more, m->more);
	*room = m->more;
	return m->err;
}
