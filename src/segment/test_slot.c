/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Requests in shared memory: the process's side, against a supervisor played by a thread. */
#include "segment/test.h"
#include "segment/slot.h"
#include "util/sys.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#define SELF 3u

struct play {
	struct seg seg;
	struct link l;
	struct seg_slot *slot;
	int peer;                             /* the supervisor's end of the socket */
	struct link_msg say;                  /* what it answers */
	void (*then)(struct play *p);         /* called after the supervisor has read the bell */
	uint32_t seen[2], nseen, late, asked; /* requests seen, by `arg`; number of an owed one */
	_Atomic bool ended;                   /* slot_ask() has returned */
};

static int setup(void **state)
{
	static struct play p;
	int pair[2];

	memset(&p, 0, sizeof(p));
	if (seg_create(&p.seg, "lab") || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair))
		return -1;
	p.seg.self = SELF;
	if (seg_alloc_at(&p.seg, SEG_T_PROC, SEG_OWNER_DEVICE, SELF))
		return -1;
	p.slot = seg_at(&p.seg, SEG_T_SLOT, SELF);
	p.l = (struct link){.fd = pair[0],
			    .bell = eventfd(0, EFD_CLOEXEC),
			    .seg = &p.seg,
			    .slot = SELF,
			    .gen = seg_proc(&p.seg, SELF)->gen};
	p.l.bell_id = slot_bell_id(p.l.bell);
	p.peer = pair[1];
	p.say = (struct link_msg){.op = LINK_RDMA_CM, .arg = 4, .more = 8};
	*state = &p;
	return 0;
}

static int teardown(void **state)
{
	struct play *p = *state;

	close(p->l.fd);
	close(p->l.bell);
	if (p->peer >= 0)
		close(p->peer);
	seg_unmap(&p->seg);
	return 0;
}

static void say(struct play *p)
{
	p->slot->out = p->say;
	memcpy(p->slot->out_more, "12345678", 8);
	if (slot_answer(p->slot, p->asked))
		sys_futex_wake(&p->slot->answered, INT_MAX);
}

/* Waits until the process sleeps, or has stopped waiting. */
static void await_sleep(struct play *p)
{
	while (!(atomic_load(&p->slot->answered) & SLOT_SLEEPS) && !atomic_load(&p->ended))
		sched_yield();
}

static void say_when_it_sleeps(struct play *p)
{
	await_sleep(p);
	say(p);
}

static void hang_up(struct play *p)
{
	close(p->peer);
	p->peer = -1;
	sys_futex_wake(&p->slot->answered, INT_MAX);
}

static void *supervise(void *arg)
{
	struct play *p = arg;
	uint64_t n;

	if (p->late) { /* first the answer to a request that was given up */
		atomic_store(&p->slot->answered, p->late);
		sys_futex_wake(&p->slot->answered, INT_MAX);
	}
	if (read(p->l.bell, &n, sizeof(n)) == sizeof(n)) {
		p->seen[p->nseen++] = p->slot->in.arg;
		p->asked = slot_hear(p->slot, p->asked);
		p->then(p);
	}
	return NULL;
}

static int ask(struct play *p, struct link_msg *m, void *in, size_t *room)
{
	pthread_t t;
	int r;

	*m = (struct link_msg){.op = LINK_RDMA_CM, .arg = 77, .more = 5};
	assert_int_equal(pthread_create(&t, NULL, supervise, p), 0);
	r = slot_ask(&p->l, m, "hello", in, room);
	atomic_store(&p->ended, true);
	pthread_join(t, NULL);
	assert_int_equal(p->nseen, 1);
	assert_int_equal(p->seen[0], 77);
	return r;
}

static void an_answer_comes_with_its_bytes(void **state)
{
	struct play *p = *state;
	struct link_msg m;
	char in[16] = "";
	size_t room = sizeof(in);

	p->then = say;
	assert_int_equal(ask(p, &m, in, &room), 0);
	assert_int_equal(room, 8);
	assert_string_equal(in, "12345678");
	assert_int_equal(m.arg, 4);
	assert_memory_equal(p->slot->in_more, "hello", 5);
}

static void an_error_is_returned(void **state)
{
	struct play *p = *state;
	struct link_msg m;
	char in[16];
	size_t room = sizeof(in);

	p->then = say;
	p->say = (struct link_msg){.op = LINK_RDMA_CM, .err = -EAGAIN};
	assert_int_equal(ask(p, &m, in, &room), -EAGAIN);
}

static void nonsense_is_an_error(void **state)
{
	struct play *p = *state;
	struct link_msg m;
	char in[16];
	size_t room = 7;

	p->then = say;
	assert_int_equal(ask(p, &m, in, &room), -EPROTO); /* more than there is room for */
	p->say.op = LINK_OPEN;
	p->nseen = 0;
	room = sizeof(in);
	assert_int_equal(ask(p, &m, in, &room), -EPROTO);
}

static void the_end_of_the_supervisor_ends_the_wait(void **state)
{
	struct play *p = *state;
	struct link_msg m;
	char in[16];
	size_t room = sizeof(in);

	p->then = hang_up;
	assert_int_equal(ask(p, &m, in, &room), -ECONNRESET);
}

/* The supervisor still reads and writes what an earlier request has left there. */
static void a_request_that_was_given_up_comes_first(void **state)
{
	struct play *p = *state;
	struct link_msg m;
	char in[16];
	size_t room = sizeof(in);

	atomic_store(&p->slot->asked, 9);
	atomic_store(&p->slot->answered, 8);
	p->late = 9;
	p->then = say;
	assert_int_equal(ask(p, &m, in, &room), 0);
	assert_int_equal(p->asked, 10);
}

/* The supervisor has ended the connection, and another process has the slot. */
static void anothers_slot_is_left_alone(void **state)
{
	struct play *p = *state;
	struct link_msg m = {.op = LINK_RDMA_CM, .arg = 77, .more = 5};
	char in[16];
	size_t room = sizeof(in);

	p->slot->in.arg = 5;
	seg_free(&p->seg, SEG_T_PROC, SELF);
	assert_int_equal(slot_ask(&p->l, &m, "hello", in, &room), -ECONNRESET);
	assert_int_equal(seg_alloc_at(&p->seg, SEG_T_PROC, SEG_OWNER_DEVICE, SELF), 0);
	assert_int_equal(slot_ask(&p->l, &m, "hello", in, &room), -ECONNRESET);
	assert_int_equal(p->slot->asked, 0);
	assert_int_equal(p->slot->in.arg, 5);
}

/* The program has closed everything by number, and has an eventfd of its own there. */
static void a_lost_bell_is_noticed(void **state)
{
	struct play *p = *state;
	struct link_msg m = {.op = LINK_RDMA_CM, .arg = 77, .more = 5};
	int other = eventfd(0, EFD_CLOEXEC);
	char in[16];
	size_t room = sizeof(in);

	if (!p->l.bell_id)
		skip(); /* eventfd-id is as old as Linux 5.2 */
	assert_int_equal(dup2(other, p->l.bell), p->l.bell);
	close(other);
	assert_int_equal(slot_ask(&p->l, &m, "hello", in, &room), SLOT_NO_BELL);
	assert_int_equal(p->slot->asked, 0);
	assert_int_equal(m.arg, 77);
}

/* Wakes the process three times without its bell: by then it has looked for the bell twice. */
static void lose_bell_and_say(struct play *p)
{
	int other = eventfd(0, EFD_CLOEXEC);

	await_sleep(p);
	dup2(other, p->l.bell);
	close(other);
	for (int woken = 0; woken < 3 && !atomic_load(&p->ended); sched_yield())
		woken += sys_futex_wake(&p->slot->answered, INT_MAX) > 0;
	say(p);
}

/* A request that the supervisor has begun is not sent again through the socket. */
static void a_heard_request_waits_without_its_bell(void **state)
{
	struct play *p = *state;
	struct link_msg m;
	char in[16];
	size_t room = sizeof(in);

	p->then = lose_bell_and_say;
	assert_int_equal(ask(p, &m, in, &room), 0);
	assert_int_equal(m.arg, 4);
}

/* A wake that nobody waits for costs the supervisor a system call. */
static void only_a_sleeper_is_woken(void **state)
{
	struct play *p = *state;
	struct link_msg m;
	char in[16];
	size_t room = sizeof(in);

	atomic_store(&p->slot->asked, 1);
	assert_int_equal(slot_hear(p->slot, 0), 1);
	assert_int_equal(slot_hear(p->slot, 0), 0); /* once */
	assert_false(slot_answer(p->slot, 1));
	p->asked = 1;
	p->then = say_when_it_sleeps;
	assert_int_equal(ask(p, &m, in, &room), 0);
	assert_int_equal(p->slot->answered, 2);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_answer_comes_with_its_bytes),
		TEST(an_error_is_returned),
		TEST(nonsense_is_an_error),
		TEST(the_end_of_the_supervisor_ends_the_wait),
		TEST(a_request_that_was_given_up_comes_first),
		TEST(anothers_slot_is_left_alone),
		TEST(a_lost_bell_is_noticed),
		TEST(a_heard_request_waits_without_its_bell),
		TEST(only_a_sleeper_is_woken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
