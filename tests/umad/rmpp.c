/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* RMPP by system calls: sending. */
#include <sys/mman.h>
#include "rmpp.h"

/* ---- sending: the form of segments */

static void send_and_check(const struct cls *c, size_t len)
{
	uint32_t segs = (uint32_t)(len ? (len + MAD - c->hdr - 1) / (MAD - c->hdr) : 1);
	int k = peer(0, c, false, 0), u = peer(1, c, true, SERVES);
	struct packet p = start(c, lid_of(1), GET_TABLE, 1), in;
	uint32_t win = 1, n = 0;

	memset(p.mad + 36, 0x5c, c->hdr - 36);
	if (c->id >= 0x30)
		put32(p.mad + 36, OUI);
	p.mad[26] = 0xa8 | ACTIVE; /* the program's response time is not sent */
	assert_true(send_message(k, c, &p, len) > 0);
	while (n < segs) {
		in = got(u);
		check_segment(&in, c, len, ++n);
		assert_memory_equal(in.mad + 36, p.mad + 36, c->hdr - 36);
		assert_int_equal(in.hdr.lid, htons(lid_of(0)));
		if (n < win && n < segs)
			continue;
		nothing(u); /* the window is full */
		win = n + 3;
		reply(u, &in, ACK, 0, n, win);
	}
	nothing(u);
	nothing(k);
	umad_close(k);
	umad_close(u);
}

static void segments(void **state)
{
	for (size_t i = 0; i < CLASSES; i++) {
		size_t size = MAD - classes[i].hdr;
		const size_t lens[] = {0, 1, size - 1, size, size + 1, 3 * size, 11 * size - 1};

		for (size_t k = 0; k < sizeof(lens) / sizeof(lens[0]); k++)
			send_and_check(&classes[i], lens[k]);
	}
}

/* ib_umad_write(), ib_create_send_mad(), copy_rmpp_mad(): refused, and nothing is sent */
static void what_write_refuses(void **state)
{
	int k = peer(0, &vendor, false, 0), u = peer(1, &vendor, true, SERVES);
	struct packet p = start(&vendor, lid_of(1), GET_TABLE, 1);
	uint8_t big[HDR + 600] = {0};

	set_rmpp(&p, DATA, ACTIVE, 0, 0, 0);
	memcpy(big, &p, sizeof(p));
	assert_fails(write(k, big, HDR + 35), EINVAL);
	assert_fails(write(k, big, HDR + 36), EINVAL); /* shorter than the header of the class */
	assert_fails(write(k, big, HDR + 39), EINVAL);
	big[0] = 1; /* no such agent */
	assert_fails(write(k, big, sizeof(big)), EIO);
	big[0] = 32;
	assert_fails(write(k, big, sizeof(big)), EINVAL);
	big[0] = 0;
	big[HDR + 26] = 0; /* not active: a single MAD */
	assert_fails(write(k, big, HDR + MAD + 1), EINVAL);
	big[HDR + 26] = ACTIVE;
	/* with USER_RMPP the program makes the segments */
	assert_fails(write(u, big, HDR + MAD + 1), EINVAL);
	assert_fails(write(k, nowhere, 8192), EFAULT);
	p.hdr.grh_present = 1;
	p.hdr.gid_index = 200;
	assert_fails(send_message(k, &vendor, &p, 1000), EINVAL);
	nothing(u);
	nothing(k);
}

/* copy_rmpp_mad(): EFAULT in the middle of the data */
static void unreadable_data(void **state)
{
	long page = sysconf(_SC_PAGESIZE);
	int k = peer(0, &vendor, false, 0), u = peer(1, &vendor, true, SERVES);
	struct packet p = start(&vendor, lid_of(1), GET_TABLE, 1);
	uint8_t *m = mmap(NULL, 3 * (size_t)page, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(m != MAP_FAILED);
	set_rmpp(&p, DATA, ACTIVE, 0, 0, 0);
	memcpy(m, &p, sizeof(p));
	assert_int_equal(munmap(m + 2 * page, (size_t)page), 0);
	assert_fails(write(k, m, 2 * (size_t)page + 1), EFAULT);
	nothing(u);
	assert_int_equal(write(k, m, 2 * (size_t)page), 2 * page);
	wait_readable(u, 1000);
	munmap(m, 2 * (size_t)page);
}

/* ---- what the receiver sends back during a message */

/* Longer than any step of this test takes, also on a slow machine. */
#define SLOWLY 3000

/* A message of five segments, of which three are sent; the peer has acknowledged the first. */
struct under_way {
	int k, u;
	struct packet p, seg;
};

static struct under_way under_way(uint32_t timeout_ms)
{
	struct under_way w = {.k = peer(0, &vendor, false, 0), .u = peer(1, &vendor, true, SERVES)};

	w.p = start(&vendor, lid_of(1), GET_TABLE, 9);
	w.p.hdr.timeout_ms = timeout_ms;
	assert_true(send_message(w.k, &vendor, &w.p, 5 * 216) > 0);
	w.seg = got(w.u);
	reply(w.u, &w.seg, ACK, 0, 1, 3);
	for (uint32_t n = 2; n <= 3; n++) {
		w.seg = got(w.u);
		check_segment(&w.seg, &vendor, 5 * 216, n);
	}
	nothing(w.u);
	return w;
}

struct back {
	const char *name, *rule;
	uint8_t type, status;
	uint32_t d1, d2;
	uint8_t nack;      /* status of the ABORT that is sent in answer; 0: none */
	uint32_t segments; /* number of segments that are sent in answer */
	bool dead;         /* the message is given up */
};

static const struct back backs[] = {
	{"ACK of less than before", "process_rmpp_ack", ACK, 0, 0, 3},
	{"ACK with a smaller window", "process_rmpp_ack", ACK, 0, 2, 2},
	{"the same ACK again", "process_rmpp_ack", ACK, 0, 1, 3},
	{"ACK of a part of the window", "process_rmpp_ack", ACK, 0, 2, 3},
	{"ACK that opens the window only", "process_rmpp_ack", ACK, 0, 1, 4, 0, 1},
	{"ACK that opens all", "process_rmpp_ack", ACK, 0, 3, 200, 0, 2},
	{"ACK with a window before its segment", "process_rmpp_ack", ACK, 0, 3, 2, W2S, 0, true},
	{"ACK with a negative window", "process_rmpp_ack", ACK, 0, 3, UINT32_MAX, W2S, 0, true},
	{"ACK beyond the window", "process_rmpp_ack", ACK, 0, 4, 9, S2B, 0, true},
	{"ACK beyond the end", "process_rmpp_ack", ACK, 0, 6, 9, S2B, 0, true},
	{"ACK with a status", "process_rmpp_ack", ACK, 5, 3, 5, BAD_STATUS, 0, true},
	{"STOP", "process_rmpp_stop", STOP, RESX, 0, 0, 0, 0, true},
	{"STOP with another status", "process_rmpp_stop", STOP, 0, 0, 0, BAD_STATUS, 0, true},
	{"ABORT, lowest status", "process_rmpp_abort", ABORT, 118, 0, 0, 0, 0, true},
	{"ABORT, highest status", "process_rmpp_abort", ABORT, 127, 0, 0, 0, 0, true},
	{"ABORT, status too low", "process_rmpp_abort", ABORT, 117, 0, 0, BAD_STATUS, 0, true},
	{"ABORT, status too high", "process_rmpp_abort", ABORT, 128, 0, 0, BAD_STATUS, 0, true},
	{"type 0", "ib_process_rmpp_recv_wc", 0, 0, 3, 5, BADT, 0, true},
	{"type 5", "ib_process_rmpp_recv_wc", 5, 0, 3, 5, BADT, 0, true},
};

static void check_after(struct under_way *w, uint8_t nack, uint32_t segments, bool dead)
{
	struct packet in;
	uint32_t n = 3;

	if (nack) {
		in = got(w->u);
		assert_rmpp(&in, ABORT, nack, 0, 0);
		assert_int_equal(in.mad[3], GET_TABLE);
		assert_int_equal(in.mad[15], 9);
	}
	for (; segments; segments--) {
		in = got(w->u);
		check_segment(&in, &vendor, 5 * 216, ++n);
	}
	nothing(w->u);
	reply(w->u, &w->seg, ACK, 0, n < 5 ? 3 : 5, 200);
	while (!dead && n < 5) {
		in = got(w->u);
		check_segment(&in, &vendor, 5 * 216, ++n);
	}
	nothing(w->u);
	nothing(w->k); /* send_handler() in user_mad.c: only time-outs are reported */
}

static void comes_back(void **state)
{
	const struct back *b = *state;
	struct under_way w = under_way(0);

	reply(w.u, &w.seg, b->type, b->status, b->d1, b->d2);
	check_after(&w, b->nack, b->segments, b->dead);
}

/* ib_process_rmpp_recv_wc() */
static void another_version_ends_it(void **state)
{
	struct under_way w = under_way(0);
	struct packet p = w.seg;

	p.mad[3] ^= RESP;
	set_rmpp(&p, ACK, ACTIVE, 0, 3, 5);
	p.mad[24] = 2;
	put(w.u, &p);
	check_after(&w, UNV, 0, true);
}

/* ib_find_send_mad() in mad.c: an ACK of another transaction, or from elsewhere */
static void ack_of_nothing(void **state)
{
	struct under_way w = under_way(0);
	struct packet p = w.seg;
	int other = peer(0, &vendor, true, 0);

	p.mad[15] ^= 1;
	reply(w.u, &p, ACK, 0, 3, 5);
	reply(w.u, &p, ABORT, T2L, 0, 0);
	nothing(w.u);
	(void)other;
	check_after(&w, 0, 0, false);
}

/* process_rmpp_ack(): the last one completes a message that wants no answer */
static void last_ack(void **state)
{
	struct under_way w = under_way(0);

	reply(w.u, &w.seg, ACK, 0, 3, 5);
	got(w.u);
	got(w.u);
	/* is_duplicate(): still being sent */
	assert_fails(send_message(w.k, &vendor, &w.p, 1), EINVAL);
	reply(w.u, &w.seg, ACK, 0, 5, 69);
	reply(w.u, &w.seg, ACK, 0, 5, 69); /* the message is gone: a repeated ACK has no effect */
	nothing(w.u);
	assert_true(send_message(w.k, &vendor, &w.p, 1) > 0);
}

/* ack_ds_ack(): the direction changes; a repeated last ACK is answered again */
static void ack_of_the_last_ack(void **state)
{
	struct under_way w = under_way(SLOWLY);
	struct packet in;

	reply(w.u, &w.seg, ACK, 0, 3, 5);
	got(w.u);
	got(w.u);
	for (int i = 0; i < 2; i++) {
		reply(w.u, &w.seg, ACK, 0, 5, 69);
		in = got(w.u);
		assert_rmpp(&in, ACK, 0, 0, 1);
		assert_int_equal(in.mad[3], GET_TABLE);
		nothing(w.u);
	}
	/* abort_send(): too late */
	reply(w.u, &w.seg, ABORT, T2L, 0, 0);
	assert_fails(send_message(w.k, &vendor, &w.p, 1), EINVAL);
	timed_out(w.k, &w.p);
	nothing(w.u);
}

/* The same for a request of one MAD without RMPP, which has no segments to acknowledge. */
static void ack_of_a_plain_request(void **state)
{
	int k = peer(0, &vendor, false, 0), u = peer(1, &vendor, true, SERVES);
	struct packet p = start(&vendor, lid_of(1), GET, 3), in;

	p.hdr.timeout_ms = SLOWLY;
	put(k, &p);
	in = got(u);
	reply(u, &in, ACK, 0, 0, 1);
	in = got(u);
	assert_rmpp(&in, ACK, 0, 0, 1);
	reply(u, &in, ABORT, T2L, 0, 0);
	nothing(u);
	timed_out(k, &p);
}

/* ib_mad_complete_recv() in mad.c: an answer ends the message, however much of it has arrived */
static void an_answer_ends_it(void **state)
{
	struct under_way w = under_way(20000);
	struct packet p = w.seg, in;

	p.mad[3] ^= RESP;
	set_rmpp(&p, 0, 0, 0, 0, 0);
	put(w.u, &p);
	in = got(w.k);
	assert_int_equal(in.mad[3], GET_TABLE | RESP);
	reply(w.u, &w.seg, ACK, 0, 3, 5);
	nothing(w.u);
	nothing(w.k);
}

/* cancel_mads() in mad.c */
static void unregistering_ends_it(void **state)
{
	struct under_way w = under_way(SLOWLY);

	assert_int_equal(unreg(w.k, 0), 0);
	reply(w.u, &w.seg, ACK, 0, 3, 5);
	nothing(w.u);
	assert_int_equal(poll(&(struct pollfd){.fd = w.k, .events = POLLIN}, 1, SLOWLY + 50), 0);
	step_waited();
}

static void closing_ends_it(void **state)
{
	struct under_way w = under_way(SLOWLY);

	umad_close(w.k);
	reply(w.u, &w.seg, ACK, 0, 3, 5);
	assert_int_equal(poll(&(struct pollfd){.fd = w.u, .events = POLLIN}, 1, SLOWLY + 50), 0);
	step_waited();
}

/* ---- no answer */

/*
 * timeout_sends() in mad.c, ib_retry_rmpp(): repeats from the last acknowledged segment on, within
 * the window
 */
static void repeats(void **state)
{
	int k = peer(0, &vendor, false, 0), u = peer(1, &vendor, true, SERVES);
	struct packet p = start(&vendor, lid_of(1), GET_TABLE, 4), in;
	long begin = now_ms();

	p.hdr.timeout_ms = 20;
	p.hdr.retries = 2;
	assert_true(send_message(k, &vendor, &p, 1000) > 0);
	for (int i = 0; i < 3; i++)
		expect(u, 1, 1000);
	timed_out(k, &p);
	assert_true(now_ms() - begin >= 59);
	nothing(u);
	p.hdr.timeout_ms = SLOWLY;
	p.hdr.retries = 1;
	assert_true(send_message(k, &vendor, &p, 1000) > 0);
	expect(u, 1, 1000);
	in = waited(u);
	check_segment(&in, &vendor, 1000, 1);
	reply(u, &in, ACK, 0, 1, 3); /* progress: the retries start again */
	for (int i = 0; i < 2; i++) {
		expect(u, 2, 1000);
		expect(u, 3, 1000);
	}
	timed_out(k, &p);
	nothing(u);
}

/* ib_retry_rmpp(): a message that has arrived whole is not repeated for lack of an answer */
static void no_answer_no_repeat(void **state)
{
	int k = peer(0, &vendor, false, 0), u = peer(1, &vendor, true, SERVES);
	struct packet p = start(&vendor, lid_of(1), GET_TABLE, 4), in;

	p.hdr.timeout_ms = SLOWLY;
	p.hdr.retries = 7;
	assert_true(send_message(k, &vendor, &p, 10) > 0);
	in = got(u);
	reply(u, &in, ACK, 0, 1, 65);
	in = got(u);
	assert_rmpp(&in, ACK, 0, 0, 1);
	timed_out(k, &p);
	nothing(u);
}

/* ib_send_rmpp_mad(), send_next_seg(): waits 2 s for an ACK even if no answer is expected */
static void two_seconds_for_an_ack(void **state)
{
	int k = peer(0, &vendor, false, 0), u = peer(1, &vendor, true, SERVES);
	struct packet p = start(&vendor, lid_of(1), GET_TABLE, 4);
	long begin = now_ms();

	assert_true(send_message(k, &vendor, &p, 10) > 0);
	p.mad[15] = 5;
	p.hdr.timeout_ms = 60000;
	assert_true(send_message(k, &vendor, &p, 10) > 0);
	wait_readable(k, HANGS);
	assert_true(now_ms() - begin >= 1990);
	p.mad[15] = 4;
	timed_out(k, &p);
	p.mad[15] = 5;
	timed_out(k, &p);
	(void)u;
}

int main(void)
{
	CASE(segments);
	CASE(what_write_refuses);
	CASE(unreadable_data);
	CASES(backs, comes_back);
	CASE(another_version_ends_it);
	CASE(ack_of_nothing);
	CASE(last_ack);
	CASE(ack_of_the_last_ack);
	CASE(ack_of_a_plain_request);
	CASE(an_answer_ends_it);
	CASE(unregistering_ends_it);
	CASE(closing_ends_it);
	CASE(repeats);
	CASE(no_answer_no_repeat);
	CASE(two_seconds_for_an_ack);
	return run_cases("umad-rmpp");
}
