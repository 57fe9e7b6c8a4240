/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns the process's side of its slot. Calls the kernel below libc, as suplink.c does. */
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

/* The supervisor has ended this connection, and the slot may be another process's by now. */
static bool is_ours(const struct link *l)
{
	const struct seg_proc *p = seg_proc(l->seg, l->slot);

	return p && p->gen == l->gen &&
	       atomic_load_explicit(&p->state, memory_order_acquire) != SEG_PROC_DEAD;
}

uint64_t slot_bell_id(int bell)
{
	static const char name[] = "eventfd-id:";
	char path[40], buf[512], *p;
	uint64_t id = 0;
	long n;
	int fd;

	fmt(path, sizeof(path), "/proc/self/fdinfo/%d", bell);
	fd = sys_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	n = fd < 0 ? 0 : sys_read(fd, buf, sizeof(buf) - 1);
	if (fd >= 0)
		sys_close(fd);
	buf[n > 0 ? n : 0] = 0;
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

static int wait_answer(const struct link *l, struct seg_slot *t, uint32_t number)
{
	uint64_t end = clock_now_ns() + LINK_TIMEOUT_S * NSEC_PER_SEC;
	uint32_t seen;

	while ((seen = atomic_load(&t->answered)) != number) {
		/* A second: the supervisor may be killed, and wake nobody. */
		sys_futex_wait(&t->answered, seen, NSEC_PER_SEC);
		if (atomic_load(&t->answered) == number)
			break;
		if (!is_ours(l) || hung_up(l))
			return -ECONNRESET;
		if (bell_lost(l))
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
	uint32_t number = atomic_load(&t->asked), op = m->op;
	int r;

	if (!is_ours(l))
		return -ECONNRESET;
	/* A request that was given up is still the supervisor's. */
	r = wait_answer(l, t, number);
	if (r)
		return r;
	t->in = *m;
	memcpy(t->in_more, out, m->more);
	atomic_store(&t->asked, ++number);
	r = ring(l);
	if (!r)
		r = wait_answer(l, t, number);
	if (r == SLOT_NO_BELL) /* nobody has heard of it */
		atomic_store(&t->asked, number - 1);
	if (r)
		return r;
	*m = t->out;
	if (m->op != op || m->err > 0 || m->more > *room)
		return -EPROTO;
	memcpy(in, t->out_more, m->more);
	*room = m->more;
	return m->err;
}
