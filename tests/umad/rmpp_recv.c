/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* RMPP by system calls: receiving, and read(). */
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include "rmpp.h"

#define SIZE 216 /* bytes of data in a segment of class `vendor` */

/* ---- segments made by hand, and the receiver's answer to each */

struct step {
	uint8_t flags, status;
	uint32_t seg, paylen;
	uint8_t type; /* type of the answer; 0: none */
	uint8_t nack;
	uint32_t d1, d2;
};
#define SAYS_ACK(seg, win) ACK, 0, seg, win
#define SAYS_ABORT(status) ABORT, status, 0, 0

struct story {
	const char *name, *rule;
	struct step step[8]; /* ends with a step whose flags are 0 */
	int len;             /* length of the message that is delivered at the end; -1: none */
};

#define W1 (1 + WINDOW)
static const struct story stories[] = {
	{"one segment", "start_rmpp", {{ACTIVE | FIRST | LAST, 0, 1, 220, SAYS_ACK(1, 1)}}, SIZE},
	{"one segment, partly filled",
	 "get_mad_len",
	 {{ACTIVE | FIRST | LAST, 0, 1, 20, SAYS_ACK(1, 1)}},
	 16},
	{"two segments",
	 "continue_rmpp",
	 {{ACTIVE | FIRST, 0, 1, 440, SAYS_ACK(1, W1)},
	  {ACTIVE | LAST, 0, 2, 220, SAYS_ACK(2, W1)}},
	 2 * SIZE},
	{"out of order",
	 "find_seg_location",
	 {{ACTIVE | FIRST, 0, 1, 0, SAYS_ACK(1, W1)},
	  {ACTIVE, 0, 4, 0},
	  {ACTIVE, 0, 3, 0},
	  {ACTIVE, 0, 2, 0},
	  {ACTIVE | LAST, 0, 5, 100, SAYS_ACK(5, W1)}},
	 5 * SIZE - 120},
	{"the last one early",
	 "update_seg_num",
	 {{ACTIVE | FIRST, 0, 1, 0, SAYS_ACK(1, W1)},
	  {ACTIVE | LAST, 0, 3, 220},
	  {ACTIVE, 0, 2, 0, SAYS_ACK(3, W1)}},
	 3 * SIZE},
	{"behind the last one",
	 "update_seg_num", /* the segment is then ignored */
	 {{ACTIVE | FIRST, 0, 1, 0, SAYS_ACK(1, W1)},
	  {ACTIVE, 0, 3, 0},
	  {ACTIVE | LAST, 0, 2, 220},
	  {ACTIVE | LAST, 0, 4, 220, SAYS_ACK(4, W1)}},
	 4 * SIZE},
	{"the first one again",
	 "continue_rmpp",
	 {{ACTIVE | FIRST, 0, 1, 0, SAYS_ACK(1, W1)},
	  {ACTIVE | FIRST, 0, 1, 0, SAYS_ACK(1, W1)},
	  {ACTIVE | LAST, 0, 2, 220, SAYS_ACK(2, W1)}},
	 2 * SIZE},
	{"twice before its ACK",
	 "find_seg_location",
	 {{ACTIVE | FIRST, 0, 1, 0, SAYS_ACK(1, W1)},
	  {ACTIVE, 0, 2, 0},
	  {ACTIVE, 0, 2, 0},
	  {ACTIVE | LAST, 0, 3, 220, SAYS_ACK(3, W1)}},
	 3 * SIZE},
	{"early, twice",
	 "find_seg_location",
	 {{ACTIVE | FIRST, 0, 1, 0, SAYS_ACK(1, W1)},
	  {ACTIVE | LAST, 0, 3, 220},
	  {ACTIVE | LAST, 0, 3, 1},
	  {ACTIVE, 0, 2, 0, SAYS_ACK(3, W1)}},
	 3 * SIZE},
	{"beyond the window",
	 "continue_rmpp",
	 {{ACTIVE | FIRST, 0, 1, 0, SAYS_ACK(1, W1)},
	  {ACTIVE, 0, W1 + 1, 0},
	  {ACTIVE, 0, 0x7fffffff, 0},
	  {ACTIVE | LAST, 0, 2, 220, SAYS_ACK(2, W1)}},
	 2 * SIZE},
	{"segment 0",
	 "process_rmpp_data",
	 {{ACTIVE | FIRST, 0, 1, 0, SAYS_ACK(1, W1)}, {ACTIVE, 0, 0, 0, SAYS_ACK(1, W1)}},
	 -1},
	{"a negative segment",
	 "continue_rmpp",
	 {{ACTIVE | FIRST, 0, 1, 0, SAYS_ACK(1, W1)}, {ACTIVE, 0, 0x80000002, 0, SAYS_ACK(1, W1)}},
	 -1},
	{"number 1 without FIRST",
	 "process_rmpp_data",
	 {{ACTIVE, 0, 1, 0, SAYS_ABORT(BAD_SEG)}},
	 -1},
	{"FIRST without number 1",
	 "process_rmpp_data",
	 {{ACTIVE | FIRST, 0, 1, 0, SAYS_ACK(1, W1)},
	  {ACTIVE | FIRST, 0, 2, 0, SAYS_ABORT(BAD_SEG)},
	  {ACTIVE | LAST, 0, 2, 220, SAYS_ACK(2, W1)}},
	 2 * SIZE},
	{"with a status",
	 "process_rmpp_data",
	 {{ACTIVE | FIRST, 1, 1, 0, SAYS_ABORT(BAD_STATUS)}},
	 -1},
	{"without a beginning", "continue_rmpp", {{ACTIVE | LAST, 0, 2, 220}}, -1},
	{"the last one again",
	 "continue_rmpp",
	 {{ACTIVE | FIRST, 0, 1, 0, SAYS_ACK(1, W1)},
	  {ACTIVE | LAST, 0, 2, 220, SAYS_ACK(2, W1)},
	  {ACTIVE | LAST, 0, 2, 220, SAYS_ACK(2, W1)},
	  {ACTIVE | FIRST, 0, 1, 0, SAYS_ACK(2, W1)}},
	 2 * SIZE},
	{"after the end, beyond the window",
	 "continue_rmpp",
	 {{ACTIVE | FIRST | LAST, 0, 1, 220, SAYS_ACK(1, 1)}, {ACTIVE, 0, 2, 0}},
	 SIZE},
	{"a payload length that is too long",
	 "get_mad_len",
	 {{ACTIVE | FIRST, 0, 1, 0, SAYS_ACK(1, W1)}, {ACTIVE | LAST, 0, 2, 221, SAYS_ACK(2, W1)}},
	 2 * SIZE},
	{"a negative payload length",
	 "get_mad_len",
	 {{ACTIVE | FIRST, 0, 1, 0, SAYS_ACK(1, W1)},
	  {ACTIVE | LAST, 0, 2, UINT32_MAX, SAYS_ACK(2, W1)}},
	 2 * SIZE},
	{"no payload in the last one",
	 "get_mad_len", /* paylen includes the class's header: the data is four bytes shorter */
	 {{ACTIVE | FIRST, 0, 1, 0, SAYS_ACK(1, W1)}, {ACTIVE | LAST, 0, 2, 0, SAYS_ACK(2, W1)}},
	 SIZE - 4},
	{"no payload in the only one",
	 "get_mad_len",
	 {{ACTIVE | FIRST | LAST, 0, 1, 0, SAYS_ACK(1, 1)}},
	 -4},
};

static struct packet segment(const struct step *st, uint8_t tid)
{
	struct packet p = start(&vendor, lid_of(0), GET_TABLE, tid);

	set_rmpp(&p, DATA, st->flags, st->status, st->seg, st->paylen);
	for (uint32_t i = 0; i < SIZE; i++)
		p.mad[vendor.hdr + i] = pattern((size_t)(st->seg - 1) * SIZE + i);
	return p;
}

static void check_answer(int u, const struct packet *sent, const struct step *st)
{
	struct packet in;

	if (st->type) {
		in = got(u);
		assert_rmpp(&in, st->type, st->nack, st->d1, st->d2);
		assert_int_equal(in.mad[3], GET_TABLE | RESP);
		/* the high half is the agent's number */
		assert_memory_equal(in.mad + 12, sent->mad + 12, 12);
		assert_memory_equal(in.mad + 36, sent->mad + 36, vendor.hdr - 36);
		for (unsigned int i = vendor.hdr; i < MAD; i++)
			assert_int_equal(in.mad[i], 0);
	}
	nothing(u);
}

static void a_story(void **state)
{
	const struct story *s = *state;
	int k = peer(0, &vendor, false, SERVES), u = peer(1, &vendor, true, 0);
	struct packet p, in;
	uint8_t tid = 5;

	for (const struct step *st = s->step; st->flags; st++) {
		p = segment(st, tid);
		put(u, &p);
		check_answer(u, &p, st);
	}
	if (s->len >= 0) {
		in = read_message(k, &vendor, (size_t)s->len);
		assert_int_equal(in.hdr.lid, htons(lid_of(1)));
	} else if (s->len == -4) {
		wait_readable(k, 0);
		assert_int_equal(read(k, &in, sizeof(in)), HDR + vendor.hdr - 4);
		assert_int_equal(in.hdr.length, HDR + vendor.hdr - 4);
	}
	nothing(k);
}

/* The last segment of each window: seg_num == newwin in continue_rmpp() */
static void windows(void **state)
{
	enum { N = 300 };
	int k = peer(0, &vendor, false, SERVES), u = peer(1, &vendor, true, 0);

	for (uint32_t n = 1; n <= N; n++) {
		struct step st = {(uint8_t)(ACTIVE | (n == 1   ? FIRST
						      : n == N ? LAST
							       : 0)),
				  0, n, n == N ? 220 : 0};
		struct packet p;

		if (n % WINDOW == 1 || n == N) {
			st.type = ACK;
			st.d1 = n;
			st.d2 = n == N ? 1 + (N / WINDOW + 1) * WINDOW : n + WINDOW;
		}
		p = segment(&st, 1);
		put(u, &p);
		check_answer(u, &p, &st);
	}
	read_message(k, &vendor, N * SIZE);
}

/* A window's segments from the last to the second: all come early. */
static void backwards(void **state)
{
	int k = peer(0, &vendor, false, SERVES), u = peer(1, &vendor, true, 0);
	struct step st = {ACTIVE | FIRST, 0, 1, 0, SAYS_ACK(1, W1)};
	struct packet p = segment(&st, 1);

	put(u, &p);
	check_answer(u, &p, &st);
	for (uint32_t n = W1; n > 2; n--) {
		st = (struct step){n == W1 ? ACTIVE | LAST : ACTIVE, 0, n, 220};
		p = segment(&st, 1);
		put(u, &p);
		nothing(u);
		put(u, &p); /* repeated */
		nothing(u);
		nothing(k);
	}
	st = (struct step){ACTIVE, 0, 2, 0, SAYS_ACK(W1, W1)};
	p = segment(&st, 1);
	put(u, &p);
	check_answer(u, &p, &st);
	read_message(k, &vendor, W1 * SIZE);
}

/* ib_process_rmpp_recv_wc() */
static void versions_and_types(void **state)
{
	int k = peer(0, &vendor, false, SERVES), u = peer(1, &vendor, true, 0);
	struct step st = {ACTIVE | FIRST | LAST, 0, 1, 220, SAYS_ABORT(UNV)};
	struct packet p = segment(&st, 1);

	p.mad[24] = 2;
	put(u, &p);
	check_answer(u, &p, &st);
	p.mad[24] = 1;
	p.mad[25] = 9;
	st.nack = BADT;
	put(u, &p);
	check_answer(u, &p, &st);
	p.mad[26] = FIRST; /* not active: a MAD like any other */
	put(u, &p);
	nothing(u);
	got(k);
	nothing(k);
}

/* find_rmpp_recv(): by transaction, class, method, and sender */
static void messages_apart(void **state)
{
	int k = peer(0, &vendor, false, SERVES), u = peer(1, &vendor, true, 0),
	    v = peer(0, &vendor, true, 0);
	struct step first = {ACTIVE | FIRST, 0, 1, 0, SAYS_ACK(1, W1)};
	struct step last = {ACTIVE | LAST, 0, 2, 220, SAYS_ACK(2, W1)};
	const int from[] = {u, u, v, u};
	struct packet p[4], in;

	for (int i = 0; i < 4; i++) {
		p[i] = segment(&first, i == 1 ? 2 : 1);
		if (i == 3)
			p[i].mad[3] = GET;
		put(from[i], &p[i]);
		in = got(from[i]);
		assert_rmpp(&in, ACK, 0, 1, W1);
	}
	for (int i = 3; i >= 0; i--) {
		p[i] = segment(&last, i == 1 ? 2 : 1);
		if (i == 3)
			p[i].mad[3] = GET;
		put(from[i], &p[i]);
		in = got(from[i]);
		assert_rmpp(&in, ACK, 0, 2, W1);
		in = read_message(k, &vendor, 2 * SIZE);
		assert_int_equal(in.mad[3], i == 3 ? GET : GET_TABLE);
		assert_int_equal(in.mad[15], i == 1 ? 2 : 1);
		assert_int_equal(in.hdr.lid, htons(lid_of(i == 2 ? 0 : 1)));
	}
	nothing(k);
}

/* is_kernel_rmpp_data_response() in mad.c */
static void an_answer_to_nothing(void **state)
{
	int k = peer(0, &vendor, false, 0), u = peer(1, &vendor, true, SERVES);
	struct step st = {ACTIVE | FIRST, 0, 1, 0};
	struct packet p = start(&vendor, lid_of(1), GET, 1), in;

	p.hdr.timeout_ms = 20000;
	put(k, &p);
	in = got(u);
	p = segment(&st, 1);
	memcpy(p.mad + 8, in.mad + 8, 8);
	p.mad[3] = GET | RESP;
	p.mad[15] ^= 1; /* another transaction: not even an ACK */
	put(u, &p);
	nothing(u);
	p.mad[15] ^= 1;
	put(u, &p);
	in = got(u);
	assert_rmpp(&in, ACK, 0, 1, W1);
	st = (struct step){ACTIVE | LAST, 0, 2, 220};
	memcpy(in.mad, segment(&st, 1).mad, MAD);
	memcpy(in.mad + 3, p.mad + 3, 21);
	put(u, &in);
	read_message(k, &vendor, 2 * SIZE);
	in = got(u);
	assert_rmpp(&in, ACK, 0, 2, W1);
	/* The request is answered: a second answer is refused. */
	put(u, &p);
	nothing(u);
	nothing(k);
}

/* ib_cancel_rmpp_recvs() */
static void unregistering_forgets(void **state)
{
	int k = peer(0, &vendor, false, SERVES), u = peer(1, &vendor, true, 0);
	const struct reg again = {.qpn = 1,
				  .mgmt_class = vendor.id,
				  .version = 1,
				  .rmpp = 1,
				  .oui = OUI,
				  .methods = {SERVES}};
	struct step st = {ACTIVE | FIRST, 0, 1, 0, SAYS_ACK(1, W1)};
	struct packet p = segment(&st, 1);

	put(u, &p);
	check_answer(u, &p, &st);
	assert_int_equal(unreg(k, 0), 0);
	assert_int_equal(reg2(k, &again), 0);
	st = (struct step){ACTIVE | LAST, 0, 2, 220};
	p = segment(&st, 1);
	put(u, &p);
	nothing(u);
	nothing(k);
}

/* is_rmpp_data_mad(): with USER_RMPP segments pass unchanged */
static void user_rmpp(void **state)
{
	int a = peer(0, &vendor, true, SERVES), b = peer(1, &vendor, true, 0);
	struct step st = {ACTIVE | LAST, 3, 77, 99};
	struct packet p = segment(&st, 1), in;

	for (int type = 0; type < 6; type++) {
		p.mad[25] = (uint8_t)type;
		p.hdr.timeout_ms = HANGS; /* ib_umad_write() does not check for duplicates */
		put(b, &p);
		in = got(a);
		assert_memory_equal(in.mad, p.mad, 8);
		assert_memory_equal(in.mad + 12, p.mad + 12, MAD - 12);
		nothing(b);
	}
	/* An active answer arrives although there is no request: ib_mad_complete_recv() in mad.c */
	memcpy(p.mad, in.mad, MAD);
	p.hdr.lid = htons(lid_of(1));
	p.mad[3] |= RESP;
	p.mad[15] ^= 9;
	p.hdr.timeout_ms = 0;
	put(a, &p);
	got(b);
}

/* ---- read(): copy_recv_mad() in user_mad.c */

static uint8_t *deliver(int *k, size_t len)
{
	struct packet p = start(&vendor, lid_of(0), GET_TABLE, 1);
	int other = peer(1, &vendor, false, 0);
	uint8_t *buf = calloc(1, HDR + vendor.hdr + len + MAD);

	assert_non_null(buf);
	*k = peer(0, &vendor, false, SERVES);
	assert_true(send_message(other, &vendor, &p, len) > 0);
	return buf;
}

static void a_buffer_too_small(void **state)
{
	const size_t len = 1000, total = HDR + vendor.hdr + len;
	struct packet in;
	uint8_t *buf;
	int k;

	buf = deliver(&k, len);
	assert_fails(read(k, buf, HDR - 1), EINVAL);
	assert_fails(read(k, buf, HDR), EINVAL);
	assert_fails(read(k, buf, HDR + MAD - 1), EINVAL);
	for (size_t n = HDR + MAD; n < total; n += n == total - 1 ? 1 : total - 1 - n) {
		memset(buf, 0x5a, total);
		assert_fails(read(k, buf, n), ENOSPC);
		memcpy(&in, buf, sizeof(in));
		assert_int_equal(in.hdr.length, total);
		assert_int_equal(in.mad[3], GET_TABLE);
		assert_int_equal(in.mad[vendor.hdr], pattern(0));
		assert_int_equal(in.mad[MAD - 1], pattern(SIZE - 1));
		assert_int_equal(buf[HDR + MAD], 0x5a);
	}
	read_message(k, &vendor, len);
	nothing(k);
	free(buf);
}

/* A message of one segment needs space for its data only. */
static void a_short_message(void **state)
{
	const size_t len = 20, total = HDR + vendor.hdr + len;
	uint8_t *buf;
	int k;

	buf = deliver(&k, len);
	assert_fails(read(k, buf, total - 1), EINVAL);
	assert_int_equal(read(k, buf, total), total);
	free(buf);
}

/* The message is put back at its old place. */
static void an_unwritable_buffer(void **state)
{
	long page = sysconf(_SC_PAGESIZE);
	const size_t len = 4 * (size_t)page;
	uint8_t *buf, *m = mmap(NULL, 8 * (size_t)page, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int k;

	assert_true(m != MAP_FAILED);
	buf = deliver(&k, len);
	assert_int_equal(mprotect(m + 3 * page, (size_t)page, PROT_READ), 0);
	assert_fails(read(k, m, 8 * (size_t)page), EFAULT);
	assert_fails(read(k, nowhere, 8 * (size_t)page), EFAULT);
	assert_fails(read(k, nowhere, HDR + MAD), EFAULT);
	wait_readable(k, 0);
	read_message(k, &vendor, len);
	nothing(k);
	munmap(m, 8 * (size_t)page);
	free(buf);
}

/* hdr_size(): the first ioctl makes the header the short one */
static void the_short_header(void **state)
{
	const struct reg r = {.qpn = 1,
			      .mgmt_class = vendor.id,
			      .version = 1,
			      .rmpp = 1,
			      .oui = OUI,
			      .methods = {SERVES}};
	struct packet p = start(&vendor, lid_of(0), GET_TABLE, 1);
	int other = peer(1, &vendor, false, 0), k = umad(0);
	const size_t total = HDR_OLD + vendor.hdr + 1000;
	uint8_t buf[2000], out[HDR_OLD + 600] = {0};

	assert_int_equal(reg1(k, &r), 0);
	assert_true(send_message(other, &vendor, &p, 1000) > 0);
	assert_fails(read(k, buf, HDR_OLD + MAD), ENOSPC);
	assert_int_equal(((struct ib_user_mad_hdr_old *)buf)->length, total);
	assert_int_equal(read(k, buf, sizeof(buf)), total);
	assert_int_equal(((struct ib_user_mad_hdr_old *)buf)->length, total);
	for (size_t i = 0; i < 1000; i++)
		assert_int_equal(buf[HDR_OLD + vendor.hdr + i], pattern(i));
	/* The same for sending. */
	umad_close(other);
	other = peer(1, &vendor, false, SERVES);
	p = start(&vendor, lid_of(1), GET_TABLE, 2);
	memcpy(out, &p, HDR_OLD);
	memcpy(out + HDR_OLD, p.mad, vendor.hdr);
	out[HDR_OLD + 26] = ACTIVE;
	for (size_t i = 0; i < sizeof(out) - HDR_OLD - vendor.hdr; i++)
		out[HDR_OLD + vendor.hdr + i] = pattern(i);
	assert_int_equal(write(k, out, sizeof(out)), sizeof(out));
	read_message(other, &vendor, sizeof(out) - HDR_OLD - vendor.hdr);
}

/* Messages among other packets are ordered by their completion. */
static void in_order(void **state)
{
	int k = peer(0, &vendor, false, SERVES), other = peer(1, &vendor, false, 0);

	for (uint8_t i = 0; i < 20; i++) {
		struct packet p = start(&vendor, lid_of(0), GET_TABLE, i);

		if (i % 2)
			put(other, &p);
		else
			assert_true(send_message(other, &vendor, &p, 1000u * i) > 0);
	}
	for (uint8_t i = 0; i < 20; i++) {
		struct packet in = i % 2 ? got(k) : read_message(k, &vendor, 1000u * i);

		assert_int_equal(in.mad[15], i);
	}
	nothing(k);
}

/* Half-received messages, made many times, are freed with the file. */
static void left_half_done(void **state)
{
	struct step st = {ACTIVE | FIRST, 0, 1, 0, SAYS_ACK(1, W1)};
	int u = peer(1, &vendor, true, 0);

	for (int i = 0; i < 200; i++) {
		int k = peer(0, &vendor, false, SERVES);

		for (uint8_t tid = 1; tid < 20; tid++) {
			struct packet p = segment(&st, tid);

			put(u, &p);
			got(u);
			for (uint32_t n = 3; n < 20; n++) {
				const struct step early = {ACTIVE, 0, n, 0};

				p = segment(&early, tid);
				put(u, &p);
			}
		}
		umad_close(k);
	}
}

int main(void)
{
	CASES(stories, a_story);
	CASE(windows);
	CASE(backwards);
	CASE(versions_and_types);
	CASE(messages_apart);
	CASE(an_answer_to_nothing);
	CASE(unregistering_forgets);
	CASE(user_rmpp);
	CASE(a_buffer_too_small);
	CASE(a_short_message);
	CASE(an_unwritable_buffer);
	CASE(the_short_header);
	CASE(in_order);
	CASE(left_half_done);
	return run_cases("umad-rmpp-recv");
}
