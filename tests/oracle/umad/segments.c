/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * RMPP in the kernel's role against segments and ACKs that an agent with USER_RMPP makes. The
 * kernel waits for an ACK for 2 s, so a row that took too long, on a busy machine, is made again.
 */
#include "rows.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

enum { CLASS = 0x30, DATA_AT = 40, SEGMENT = MAD - DATA_AT, ACTIVE = 1, FIRST = 2, LAST = 4 };
enum { DATA = 1, ACK, STOP, ABORT };
#define LONG 100000000u
#define SOON_MS 1000

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int peer(bool user, uint64_t methods)
{
	const struct reg r = {.qpn = 1,
			      .mgmt_class = CLASS,
			      .version = 1,
			      .rmpp = 1,
			      .oui = OUI,
			      .flags = user ? IB_USER_MAD_USER_RMPP : 0,
			      .methods = {methods}};
	int fd = umad();

	if (reg(fd, &r, 2) < 0)
		say("no agent");
	return fd;
}

static void set_rmpp(struct packet *p, const uint8_t head[4], uint32_t d1, uint32_t d2)
{
	memcpy(p->mad + 24, head, 4);
	put32(p->mad + 28, d1);
	put32(p->mad + 32, d2);
}

/*
 * Settles twice, because an ACK may cause a segment late: if it came before the last send had
 * ended, the kernel continues when that ends (process_rmpp_ack() of mad_rmpp.c).
 */
static void show(const char *what, int fd)
{
	settle();
	settle();
	say_reads(what, fd);
}

/* ---- the kernel sends */

struct back {
	const char *name;
	uint8_t head[4]; /* version, type, flags, status */
	uint32_t d1, d2;
};
static const struct back backs[] = {
	{"ACK of less than before", {1, ACK, ACTIVE, 0}, 0, 3},
	{"ACK with a smaller window", {1, ACK, ACTIVE, 0}, 2, 2},
	{"the same ACK again", {1, ACK, ACTIVE, 0}, 1, 3},
	{"ACK of a part of the window", {1, ACK, ACTIVE, 0}, 2, 3},
	{"ACK that opens the window only", {1, ACK, ACTIVE, 0}, 1, 4},
	{"ACK that opens all", {1, ACK, ACTIVE, 0}, 3, 200},
	{"ACK with a window before its segment", {1, ACK, ACTIVE, 0}, 3, 2},
	{"ACK with a negative window", {1, ACK, ACTIVE, 0}, 3, UINT32_MAX},
	{"ACK of a negative segment", {1, ACK, ACTIVE, 0}, UINT32_MAX, 5},
	{"ACK beyond the window", {1, ACK, ACTIVE, 0}, 4, 9},
	{"ACK beyond the end", {1, ACK, ACTIVE, 0}, 6, 9},
	{"ACK with a status", {1, ACK, ACTIVE, 5}, 3, 5},
	{"ACK that is not active", {1, ACK, 0, 0}, 3, 5},
	{"ACK with other flags", {1, ACK, 0xff, 0}, 3, 5},
	{"ACK of another version", {2, ACK, ACTIVE, 0}, 3, 5},
	{"ACK of version 0", {0, ACK, ACTIVE, 0}, 3, 5},
	{"STOP", {1, STOP, ACTIVE, 1}, 0, 0},
	{"STOP with another status", {1, STOP, ACTIVE, 0}, 0, 0},
	{"ABORT, lowest status", {1, ABORT, ACTIVE, 118}, 0, 0},
	{"ABORT, highest status", {1, ABORT, ACTIVE, 127}, 0, 0},
	{"ABORT, status too low", {1, ABORT, ACTIVE, 117}, 0, 0},
	{"ABORT, status too high", {1, ABORT, ACTIVE, 128}, 0, 0},
	{"data", {1, DATA, ACTIVE | FIRST | LAST, 0}, 1, 220},
	{"type 0", {1, 0, ACTIVE, 0}, 3, 5},
	{"type 5", {1, 5, ACTIVE, 0}, 3, 5},
};

static void comes_back(const struct back *b, uint32_t timeout_ms)
{
	static const uint8_t ack[] = {1, ACK, ACTIVE, 0};
	uint8_t message[HDR + DATA_AT + 5 * SEGMENT];
	struct packet p, in;
	int k, u;

	row("sending%s: %s", timeout_ms ? ", an answer is wanted" : "", b->name);
	k = peer(false, 0);
	u = peer(true, M(GET_TABLE));
	p = mad(CLASS, GET_TABLE, 0x35, 7);
	p.hdr.timeout_ms = timeout_ms;
	set_rmpp(&p, (const uint8_t[]){1, 0, ACTIVE, 0}, 0, 0);
	memcpy(message, &p, HDR + DATA_AT);
	for (size_t i = HDR + DATA_AT; i < sizeof(message); i++)
		message[i] = (uint8_t)(i * 3 + i / 256);
	if (write(k, message, sizeof(message)) < 0)
		say_result("write=", -1);
	in = take(u);
	say_packet(&in, sizeof(in));
	in.mad[3] ^= RESP;
	in.hdr.timeout_ms = 0;
	p = in;
	set_rmpp(&p, ack, 1, 3);
	put(u, &p);
	show("second", u);
	set_rmpp(&p, b->head, b->d1, b->d2);
	put(u, &p);
	show("back", u);
	set_rmpp(&p, ack, 3, 200);
	put(u, &p);
	show("alive", u);
	set_rmpp(&p, ack, 5, 200);
	put(u, &p);
	show("end", u);
	put(u, &p);
	show("once more", u);
	say_reads("sender", k);
}

/* ---- the kernel receives */

struct segment {
	uint8_t head[4];
	uint32_t num, paylen;
};
#define D(flags, num, paylen)                               \
	{                                                   \
		{1, DATA, ACTIVE | (flags), 0}, num, paylen \
	}
enum { FULL = 220 };
static const struct {
	const char *name;
	struct segment s[6]; /* a segment of version and type 0 ends the list */
} arrivals[] = {
	{"one segment", {D(FIRST | LAST, 1, FULL)}},
	{"one segment, short", {D(FIRST | LAST, 1, 5)}},
	{"one segment, without data", {D(FIRST | LAST, 1, 4)}},
	{"one segment, less than its header", {D(FIRST | LAST, 1, 3)}},
	{"one segment, nothing", {D(FIRST | LAST, 1, 0)}},
	{"one segment, too long", {D(FIRST | LAST, 1, 221)}},
	{"one segment, far too long", {D(FIRST | LAST, 1, UINT32_MAX)}},
	{"three segments", {D(FIRST, 1, 660), D(0, 2, 0), D(LAST, 3, FULL)}},
	{"three segments, the last short", {D(FIRST, 1, 660), D(0, 2, 0), D(LAST, 3, 9)}},
	{"three segments, no length", {D(FIRST, 1, 0), D(0, 2, 0), D(LAST, 3, FULL)}},
	{"three segments, wrong lengths", {D(FIRST, 1, 7), D(0, 2, 99), D(LAST, 3, FULL)}},
	{"the last two exchanged", {D(FIRST, 1, 660), D(LAST, 3, FULL), D(0, 2, 0)}},
	{"the second one first", {D(0, 2, 0), D(FIRST, 1, 660), D(LAST, 3, FULL)}},
	{"one twice", {D(FIRST, 1, 660), D(0, 2, 0), D(0, 2, 0), D(LAST, 3, FULL)}},
	{"the first one twice", {D(FIRST, 1, 660), D(FIRST, 1, 660), D(0, 2, 0), D(LAST, 3, FULL)}},
	{"the last one twice", {D(FIRST, 1, 440), D(LAST, 2, FULL), D(LAST, 2, FULL)}},
	{"one is missing", {D(FIRST, 1, 660), D(LAST, 3, FULL)}},
	{"number 1 without the flag", {D(0, 1, 440), D(LAST, 2, FULL)}},
	{"the flag with number 2", {D(FIRST, 1, 440), D(FIRST, 2, 0), D(LAST, 3, FULL)}},
	{"number 0", {D(FIRST, 0, 440)}},
	{"number 0 later", {D(FIRST, 1, 440), D(0, 0, 0), D(LAST, 2, FULL)}},
	{"a number beyond the window", {D(FIRST, 1, 440), D(0, 100, 0), D(LAST, 2, FULL)}},
	{"a number beyond the end", {D(FIRST, 1, 440), D(LAST, 2, FULL), D(0, 3, 0)}},
	{"not active", {{{1, DATA, FIRST | LAST, 0}, 1, FULL}}},
	{"version 0", {{{0, DATA, ACTIVE | FIRST | LAST, 0}, 1, FULL}}},
	{"version 2", {{{2, DATA, ACTIVE | FIRST | LAST, 0}, 1, FULL}}},
	{"a status", {{{1, DATA, ACTIVE | FIRST | LAST, 3}, 1, FULL}}},
	{"a response time", {{{1, DATA, 0xf8 | ACTIVE | FIRST | LAST, 0}, 1, FULL}}},
	{"type 5", {{{1, 5, ACTIVE | FIRST | LAST, 0}, 1, FULL}}},
	{"version 2 in the middle",
	 {D(FIRST, 1, 440), {{2, DATA, ACTIVE | LAST, 0}, 2, FULL}, D(LAST, 2, FULL)}},
	{"STOP in the middle", {D(FIRST, 1, 440), {{1, STOP, ACTIVE, 1}, 0, 0}, D(LAST, 2, FULL)}},
	{"ABORT in the middle",
	 {D(FIRST, 1, 440), {{1, ABORT, ACTIVE, 118}, 0, 0}, D(LAST, 2, FULL)}},
	{"ACK in the middle", {D(FIRST, 1, 440), {{1, ACK, ACTIVE, 0}, 1, 5}, D(LAST, 2, FULL)}},
};

static void arrives(size_t n)
{
	int k, u;

	row("receiving: %s", arrivals[n].name);
	k = peer(false, M(GET_TABLE));
	u = peer(true, 0);
	for (size_t i = 0; i < 6; i++) {
		const struct segment *s = &arrivals[n].s[i];
		struct packet p = mad(CLASS, GET_TABLE, 0x35, 7);

		if (!s->head[0] && !s->head[1])
			break;
		set_rmpp(&p, s->head, s->num, s->paylen);
		memset(p.mad + DATA_AT, (int)(s->num + 1), SEGMENT);
		put(u, &p);
		show("back", u);
		say_reads("message", k);
	}
}

/* Repeats a row until it was fast enough. */
#define SOON(call)                                                  \
	do {                                                        \
		long begin_;                                        \
                                                                    \
		do {                                                \
			begin_ = now_ms();                          \
			call;                                       \
		} while (row_drop_if(now_ms() - begin_ > SOON_MS)); \
	} while (0)

void rows_of_segments(void)
{
	for (size_t i = 0; i < COUNT(backs); i++) {
		SOON(comes_back(&backs[i], 0));
		SOON(comes_back(&backs[i], LONG));
	}
	for (size_t i = 0; i < COUNT(arrivals); i++)
		SOON(arrives(i));
}
