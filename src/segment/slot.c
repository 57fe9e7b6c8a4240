/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns what both sides do to a process's slot. Calls the kernel below libc, as suplink.c does. */
#include "segment/slot.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include "segment/proc.h"
#include "util/clock.h"
#include "util/fmt.h"
#include "util/sys.h"

/* The supervisor has ended, or has ended this connection. */
static bool hung_up(const struct link *l)
{
	struct pollfd p = {.fd = l->fd};

	return sys_raw(SYS_poll, (long)&p, 1, 0, 0, 0, 0) > 0;
}

/* Is the slot still this process's? The supervisor may have ended the connection and reused it. */
static bool is_ours(const struct link *l)
{
	return !who_dead(l->seg, who_slot(l->slot, l->gen));
}

uint64_t slot_bell_id(int bell)
{
	static const char name[] = "eventfd-id:";
	char path[40], buf[512], *p;
	uint64_t id = 0;

	fmt(path, sizeof(path), "/proc/thread-self/fdinfo/%d", bell);
	sys_read_text(path, buf, sizeof(buf));
	p = strstr(buf, name);
	for (p = p ? p + sizeof(name) - 1 : NULL; p && *p == ' '; p++)
		;
	for (; p && *p >= '0' && *p <= '9'; p++)
		id = id * 10 + (uint64_t)(*p - '0');
	return id;
}

/* The program has closed all descriptors by number, or has something else there. */
static bool bell_lost(const struct link *l)
{
	return l->bell_id && slot_bell_id(l->bell) != l->bell_id;
}

static bool is_answered(const struct seg_slot *t, uint32_t number)
{
	return (atomic_load(&t->answered) & SLOT_NUMBER) == number;
}

/* A second at most: the supervisor may be killed, and wake nobody. */
static void sleep_until_answered(struct seg_slot *t, uint32_t number)
{
	uint32_t seen = atomic_load(&t->answered);

	do
		if ((seen & SLOT_NUMBER) == number)
			return;
	while (!atomic_compare_exchange_weak(&t->answered, &seen, seen | SLOT_SLEEPS));
	sys_futex_wait(&t->answered, seen | SLOT_SLEEPS, NSEC_PER_SEC);
}

/*
 * Takes a request back, because the bell may belong to somebody else. False: the supervisor has the
 * request already.
 */
static bool take_back(struct seg_slot *t, uint32_t number)
{
	return atomic_compare_exchange_strong(&t->asked, &number, (number - 1) & SLOT_NUMBER);
}

static int wait_answer(const struct link *l, struct seg_slot *t, uint32_t number)
{
	uint64_t end = clock_now_ns() + LINK_TIMEOUT_S * NSEC_PER_SEC;

	while (!is_answered(t, number)) {
		sleep_until_answered(t, number);
		if (is_answered(t, number))
			break;
		if (!is_ours(l) || hung_up(l))
			return -ECONNRESET;
		if (bell_lost(l) && take_back(t, number))
			return SLOT_NO_BELL;
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
	return r < 0 ? SLOT_NO_BELL : 0;
}

int slot_ask(const struct link *l, struct link_msg *m, const void *out, void *in, size_t *room)
{
	struct seg_slot *t = seg_at(l->seg, SEG_T_SLOT, l->slot);
	uint32_t number = atomic_load(&t->asked) & SLOT_NUMBER, op = m->op;
	int r;

	if (!is_ours(l))
		return -ECONNRESET;
	/* The supervisor may still work on an earlier request that this process gave up. */
	r = wait_answer(l, t, number);
	if (r)
		return r;
	t->in = *m;
	memcpy(t->in_more, out, m->more);
	number = (number + 1) & SLOT_NUMBER;
	atomic_store(&t->asked, number);
	r = ring(l);
	if (r && !take_back(t, number)) /* heard without the bell */
		r = 0;
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

uint32_t slot_hear(struct seg_slot *t, uint32_t last)
{
	uint32_t n = atomic_load(&t->asked);

	do
		if (n & SLOT_HEARD || n == last)
			return last;
	while (!atomic_compare_exchange_weak(&t->asked, &n, n | SLOT_HEARD));
	return n;
}

bool slot_answer(struct seg_slot *t, uint32_t number)
{
	return atomic_exchange(&t->answered, number) & SLOT_SLEEPS;
}
