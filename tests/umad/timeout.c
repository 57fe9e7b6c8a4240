/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * MADs without an answer: time-outs, retries, and other ends of a send: timeout_sends(),
 * retry_send(), cancel_mads(), send_handler(). The client is at umad0, the server at umad1.
 */
#include "umad.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#define SLOW 30000 /* ms; limit for a busy machine */

static int client(void)
{
	int fd = umad(0);

	agent(fd, 1, VENDOR, 0);
	return fd;
}

static int server(void)
{
	int fd = umad(1);

	agent(fd, 1, VENDOR, 1 << GET);
	return fd;
}

static struct packet request(uint32_t timeout_ms, uint32_t retries)
{
	struct packet p = mad(1, lid_of(1), VENDOR, GET, 0x99, 3);

	p.hdr.timeout_ms = timeout_ms;
	p.hdr.retries = retries;
	return p;
}

/* ---- number and time of attempts */

struct row {
	const char *name;
	uint32_t timeout_ms, retries;
};
static const struct row rows[] = {
	{"1 ms", 1, 0},
	{"5 ms", 5, 0},
	{"30 ms", 30, 0},
	{"1 ms, once again", 1, 1},
	{"10 ms, twice again", 10, 2},
	{"2 ms, 15 times again", 2, 15},
};

/* retry_send(): an unchanged copy for each retry; then, and not before, the time-out */
static void tried(void **state)
{
	const struct row *r = *state;
	struct packet p = request(r->timeout_ms, r->retries), first, in;
	int fd = client(), s = server();
	long start = now_ms(), took;

	put(fd, &p);
	first = got(s);
	timed_out(fd, &p);
	took = now_ms() - start;
	assert_uint_in_range(took + 1, r->timeout_ms * (r->retries + 1),
			     r->timeout_ms * (r->retries + 1) + SLOW);
	for (uint32_t i = 0; i < r->retries; i++) {
		in = got(s);
		assert_memory_equal(&in, &first, sizeof(in));
	}
	nothing(s);
	nothing(fd);
}

/* Retries to a LID that does not exist. */
static void no_such_lid(void **state)
{
	struct packet p = request(2, 2);
	int fd = client();

	p.hdr.lid = htons(0xbfff);
	put(fd, &p);
	timed_out(fd, &p);
	nothing(fd);
}

static void no_lid(void **state)
{
	struct packet p = request(2, 0);
	int fd = client();

	p.hdr.lid = 0;
	put(fd, &p);
	timed_out(fd, &p);
}

/* mad_send_wr->timeout 0: the send ends at once; retries do not matter. */
static void without_time_out(void **state)
{
	struct packet p = request(0, 5);
	int fd = client(), s = server();

	put(fd, &p);
	got(s);
	put(fd, &p); /* not a duplicate */
	got(s);
	poll(NULL, 0, 10); /* nothing arrives, however long the wait */
	nothing(s);
	nothing(fd);
}

/* msecs_to_jiffies(): a negative number means no time-out */
static void for_ever(void **state)
{
	const uint32_t *ms = *state;
	struct packet p = request(*ms, 0), in;
	int fd = client(), s = server();

	put(fd, &p);
	in = got(s);
	assert_int_equal(poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 20), 0);
	assert_fails(write(fd, &p, sizeof(p)), EINVAL); /* it still waits */
	in.mad[3] = GET_RESP;
	put(s, &in);
	got(fd);
}
static const uint32_t negative[] = {UINT32_MAX, UINT32_C(1) << 31, INT32_MAX};

/* ---- answers and time-outs */

static void answered_at_once(void **state)
{
	struct packet p = request(slowly(50), 3), in;
	int fd = client(), s = server();
	long start = now_ms();

	put(fd, &p);
	in = got(s);
	in.mad[3] = GET_RESP;
	put(s, &in);
	got(fd);
	if (overdue(start, 50)) {
		again(answered_at_once, state);
		return;
	}
	poll(NULL, 0, (int)slowly(60)); /* later than its time-out */
	nothing(s);
	nothing(fd);
}

static void answered_after_a_retry(void **state)
{
	struct packet p = request(10, 6000), in;
	int fd = client(), s = server();

	put(fd, &p);
	got(s);
	in = waited(s);
	in.mad[3] = GET_RESP;
	put(s, &in);
	assert_int_equal(got(fd).mad[3], GET_RESP);
	nothing(fd);
	while (read(s, &in, sizeof(in)) > 0)
		;
	poll(NULL, 0, 25); /* the time of two more attempts */
	nothing(s);
}

/* The wait list is ordered by deadline, not by the time of writing: wait_for_response() */
static bool three_in_order(const uint32_t ms[3], void (*then)(void))
{
	static const uint8_t order[] = {1, 2, 0};
	struct packet in;
	int fd = client();
	long start = now_ms();

	for (uint8_t i = 0; i < 3; i++) {
		struct packet p = request(slowly(ms[i]), 0);

		p.mad[15] = i;
		p.hdr.lid = htons(0xbfff);
		put(fd, &p);
	}
	if (overdue(start, ms[0] - ms[2])) /* after a delay the deadlines may be in another order */
		return false;
	then();
	for (int i = 0; i < 3; i++) {
		wait_readable(fd, HANGS);
		assert_int_equal(read(fd, &in, sizeof(in)), HDR + MAD_HDR);
		assert_int_equal(in.mad[15], order[i]);
	}
	return true;
}

static void at_once(void)
{
}

static void in_the_order_of_deadlines(void **state)
{
	if (!three_in_order((const uint32_t[]){60, 5, 30}, at_once))
		again(in_the_order_of_deadlines, state);
}

/* This process is stopped, and all sends are over when it continues. */
static void stand_still(void)
{
	pid_t me = getpid(), pid = fork();

	if (!pid) {
		kill(me, SIGSTOP);
		poll(NULL, 0, (int)slowly(120)); /* after the last deadline */
		kill(me, SIGCONT);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void in_the_order_of_deadlines_after_all(void **state)
{
	if (!three_in_order((const uint32_t[]){100, 60, 80}, stand_still))
		again(in_the_order_of_deadlines_after_all, state);
}

static void many(void **state)
{
	struct packet p = request(3, 0), in;
	bool seen[256] = {0};
	int fd = client();

	p.hdr.lid = htons(0xbfff);
	for (int i = 0; i < 256; i++) {
		p.mad[15] = (uint8_t)i;
		put(fd, &p);
	}
	for (int i = 0; i < 256; i++) {
		wait_readable(fd, HANGS);
		assert_int_equal(read(fd, &in, sizeof(in)), HDR + MAD_HDR);
		assert_false(seen[in.mad[15]]);
		seen[in.mad[15]] = true;
	}
	nothing(fd);
}

/* An answer (a MAD like any other) that itself waits for an answer. */
static void an_answer_that_waits(void **state)
{
	struct packet p = request(2, 1);
	int fd = client();

	p.mad[3] = GET_RESP;
	put(fd, &p);
	timed_out(fd, &p);
}

/* ---- ends that the reader is not told of: unregister_mad_agent(), cancel_mads() */

static void unregistered(void **state)
{
	struct packet p = request(slowly(50), 5);
	int fd = client(), s = server();
	long start = now_ms();

	put(fd, &p);
	got(s);
	assert_int_equal(unreg(fd, 0), 0);
	if (overdue(start, 50)) {
		again(unregistered, state);
		return;
	}
	assert_int_equal(poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, (int)slowly(60)), 0);
	nothing(s); /* it is not sent again */
	assert_fails(write(fd, &p, sizeof(p)), EIO);
	assert_int_equal(agent(fd, 1, VENDOR, 0), 0);
	put(fd, &p); /* and it is not a duplicate */
	got(s);
}

/* Another agent of the file is not affected. */
static void another_one_unregistered(void **state)
{
	struct packet p = request(10, 0);
	int fd = client();

	agent(fd, 1, VENDOR, 0);
	p.hdr.lid = htons(0xbfff);
	put(fd, &p);
	assert_int_equal(unreg(fd, 1), 0);
	timed_out(fd, &p);
}

static void closed(void **state)
{
	struct packet p = request(slowly(50), 5);
	int fd = client(), s = server();
	long start = now_ms();

	put(fd, &p);
	got(s);
	umad_close(fd);
	if (overdue(start, 50)) {
		again(closed, state);
		return;
	}
	poll(NULL, 0, (int)slowly(60));
	nothing(s);
}

/* local_completions(): a directed SMP for this node ends at once, answered or not. */
static void consumed_at_home(void **state)
{
	/* SMInfo without an SM: no answer */
	struct packet p = mad(0, 0xffff, SMI_DR, GET, 0x20, 1);
	int fd = umad(1);

	agent(fd, 0, SMI_DR, 0);
	p.hdr.timeout_ms = 2;
	p.hdr.retries = 2;
	put(fd, &p);
	put(fd, &p);
	poll(NULL, 0, 15); /* after both time-outs */
	nothing(fd);
}

/* ---- duplicates: is_duplicate() */

struct dup {
	const char *name, *rule;
	int err; /* errno of the second write */
	uint8_t method[2], mgmt_class[2], tid[2], agent[2], grh[2], gid[2];
	uint16_t lid[2];
	int files;
};
#define SAME(x)          \
	{                \
		(x), (x) \
	}
static const struct dup dups[] = {
	{"a request twice", "the same transaction ID and class", EINVAL, SAME(GET), SAME(VENDOR),
	 SAME(1)},
	{"another method", "not looked at", EINVAL, {GET, SET}, SAME(VENDOR), SAME(1)},
	{"another destination of a request", "not looked at", EINVAL, SAME(GET), SAME(VENDOR),
	 SAME(1), .lid = {1, 2}},
	{"another transaction ID", "hdr->tid", 0, SAME(GET), SAME(VENDOR), {1, 2}},
	{"another class", "hdr->mgmt_class", 0, SAME(GET), {VENDOR, VENDOR + 1}, SAME(1)},
	{"another agent of the file",
	 "hdr->tid: its high half",
	 0,
	 SAME(GET),
	 SAME(VENDOR),
	 SAME(1),
	 {0, 1}},
	{"another file", "file->send_list", 0, SAME(GET), SAME(VENDOR), SAME(1), .files = 2},
	{"an answer twice", "same_destination: lid", EINVAL, SAME(GET_RESP), SAME(VENDOR), SAME(1)},
	{"an answer to another LID", "same_destination: lid", 0, SAME(GET_RESP), SAME(VENDOR),
	 SAME(1), .lid = {1, 2}},
	{"an answer by another agent of the file",
	 "same_destination: not the agent",
	 EINVAL,
	 SAME(GET_RESP),
	 SAME(VENDOR),
	 SAME(1),
	 {0, 1}},
	{"answers with a GRH to the same GID", "same_destination: gid", EINVAL, SAME(GET_RESP),
	 SAME(VENDOR), SAME(1), .grh = {1, 1}, .lid = {1, 2}},
	{"answers with a GRH to other GIDs", "same_destination: gid", 0, SAME(GET_RESP),
	 SAME(VENDOR), SAME(1), .grh = {1, 1}, .gid = {1, 2}},
	{"answers with and without a GRH", "same_destination", 0, SAME(GET_RESP), SAME(VENDOR),
	 SAME(1), .grh = {0, 1}},
	{"an answer after a request",
	 "both are requests, or both answers",
	 0,
	 {GET, GET_RESP},
	 SAME(VENDOR),
	 SAME(1)},
	{"TrapRepress twice", "ib_response_mad", EINVAL, SAME(TRAP_REPRESS), SAME(VENDOR), SAME(1)},
};

static void duplicates(void **state)
{
	const struct dup *r = *state;
	int fd[2] = {client(), -1}, err = 0;

	agent(fd[0], 1, VENDOR, 0);
	fd[1] = r->files == 2 ? client() : fd[0];
	for (int i = 0; i < 2; i++) {
		struct packet p = mad(1, (uint16_t)(0xbf00 + r->lid[i]), r->mgmt_class[i],
				      r->method[i], 0x99, r->tid[i]);

		p.hdr.id = r->agent[i];
		p.hdr.timeout_ms = HANGS;
		p.hdr.grh_present = r->grh[i];
		p.hdr.gid[15] = r->gid[i];
		if (!i) {
			put(fd[0], &p);
			continue;
		}
		errno = 0;
		err = write(fd[1], &p, sizeof(p)) < 0 ? errno : 0;
	}
	if (err != r->err)
		fail_msg("%s (%s): errno %d, not %d", r->name, r->rule, err, r->err);
}

static void no_duplicate_of_what_is_over(void **state)
{
	struct packet p = request(1, 0), in;
	int fd = client(), s;

	put(fd, &p); /* no such agent: refused at once */
	got(fd);
	s = server();
	put(fd, &p); /* not answered */
	timed_out(fd, &p);
	got(s);
	p.hdr.timeout_ms = HANGS;
	put(fd, &p);
	assert_fails(write(fd, &p, sizeof(p)), EINVAL);
	in = got(s);
	nothing(s); /* the duplicate was not sent */
	in.mad[3] = GET_RESP;
	put(s, &in);
	got(fd);
	put(fd, &p);
}

/* The second request is refused even if the adapter would answer it at once. */
static void a_duplicate_to_the_adapter(void **state)
{
	struct packet p = mad(1, 0xbfff, PERF, GET, 1, 9);
	int fd = client();

	p.hdr.timeout_ms = HANGS;
	put(fd, &p);
	p.hdr.lid = htons(lid_of(0));
	assert_fails(write(fd, &p, sizeof(p)), EINVAL);
	nothing(fd);
	p.mad[15]++;
	put(fd, &p);
	got(fd);
	put(fd, &p); /* which has ended */
	got(fd);
}

/* A request that waits does not make an answer with the same transaction ID a duplicate. */
static void no_duplicate_of_the_other_kind(void **state)
{
	struct packet p = request(HANGS, 0), in;
	int fd = client(), s = server();

	put(fd, &p);
	in = got(s);
	memcpy(p.mad, in.mad, MAD);
	p.mad[3] = GET_RESP;
	put(fd, &p);
	assert_fails(write(fd, &p, sizeof(p)), EINVAL);
}

/* ib_umad_write(): no check for RMPP in the program */
static void no_duplicates_of_user_rmpp(void **state)
{
	static const struct reg r = {.qpn = 1,
				     .mgmt_class = SA,
				     .version = 2,
				     .rmpp = 1,
				     .flags = IB_USER_MAD_USER_RMPP};
	struct packet p = mad(1, 0xbfff, SA, GET, 0x35, 1);
	int fd = umad(0);

	assert_int_equal(reg2(fd, &r), 0);
	p.hdr.timeout_ms = HANGS;
	p.mad[26] = 1;
	put(fd, &p);
	put(fd, &p);
	p.mad[26] = 0;
	assert_fails(write(fd, &p, sizeof(p)), EINVAL);
}

int main(void)
{
	CASES(rows, tried);
	CASE(no_such_lid);
	CASE(no_lid);
	CASE(without_time_out);
	for (size_t i = 0; i < sizeof(negative) / sizeof(negative[0]); i++)
		add_case(for_ever, &negative[i], "for ever: %u ms", negative[i]);
	CASE(answered_at_once);
	CASE(answered_after_a_retry);
	CASE(in_the_order_of_deadlines);
	CASE(in_the_order_of_deadlines_after_all);
	CASE(many);
	CASE(an_answer_that_waits);
	CASE(unregistered);
	CASE(another_one_unregistered);
	CASE(closed);
	CASE(consumed_at_home);
	for (size_t i = 0; i < sizeof(dups) / sizeof(dups[0]); i++)
		add_case(duplicates, &dups[i], "duplicates: %s", dups[i].name);
	CASE(no_duplicate_of_what_is_over);
	CASE(a_duplicate_to_the_adapter);
	CASE(no_duplicate_of_the_other_kind);
	CASE(no_duplicates_of_user_rmpp);
	return run_cases("timeout");
}
