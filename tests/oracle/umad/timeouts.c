/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Time-outs and repetitions. A row waits for the report of a time-out, which always comes; requests
 * that must not end meanwhile wait for a day.
 */
#include "rows.h"

#include <string.h>
#include <unistd.h>

#define LONG 100000000u

static int client(uint8_t mgmt_class)
{
	int fd = umad();

	agent(fd, mgmt_class, 0);
	return fd;
}

static struct packet request(uint32_t timeout_ms, uint32_t retries, uint8_t tid)
{
	struct packet p = mad(VENDOR, SEND, 0x99, tid);

	p.hdr.timeout_ms = timeout_ms;
	p.hdr.retries = retries;
	return p;
}

static void repeats(void)
{
	static const uint32_t retries[] = {0, 1, 2, 7};

	for (size_t i = 0; i < COUNT(retries); i++) {
		struct packet p;
		int fd, s;

		row("time-out: %u retries", retries[i]);
		fd = client(VENDOR);
		s = umad();
		agent(s, VENDOR, M(SEND));
		p = request(3, retries[i], 7);
		put(fd, &p);
		await(fd);
		settle();
		say_reads("server", s);
		say_reads("client", fd);
	}
}

/* The server answers the n-th copy of a request that is repeated. */
static void answered_late(void)
{
	for (int n = 1; n <= 3; n++) {
		struct packet p;
		int fd, s;

		row("time-out: copy %d is answered", n);
		fd = client(VENDOR);
		s = umad();
		agent(s, VENDOR, M(GET));
		p = mad(VENDOR, GET, 0x99, 7);
		p.hdr.timeout_ms = 3;
		p.hdr.retries = 1000000;
		put(fd, &p);
		for (int i = 0; i < n; i++)
			p = take(s);
		p.mad[3] = GET_RESP;
		put(s, &p);
		p = take(fd);
		say_packet(&p, sizeof(p));
		settle();
		say_reads("client", fd);
	}
}

static void cancelled(void)
{
	struct packet p;
	int fd, s;

	row("time-out: the agent goes");
	fd = client(VENDOR);
	agent(fd, VENDOR, 0);
	p = request(LONG, 0, 1);
	put(fd, &p);
	p = request(20, 0, 2);
	p.hdr.id = 1;
	put(fd, &p);
	say_result("", unreg(fd, 0));
	await(fd);
	say_reads("", fd);
	row("time-out: a report of an agent that is gone");
	fd = client(VENDOR);
	p = request(1, 0, 1);
	put(fd, &p);
	await(fd);
	say_result("", unreg(fd, 0));
	say_reads("", fd);
	row("time-out: the file is closed, and no copy comes any more");
	fd = client(VENDOR);
	s = umad();
	agent(s, VENDOR, M(SEND));
	p = request(LONG, 9, 1);
	put(fd, &p);
	umad_close(fd);
	settle();
	say_reads("", s);
}

static void one_of_several(void)
{
	struct packet p;
	int fd;

	row("time-outs: one is over, the others wait");
	fd = client(VENDOR);
	p = request(LONG, 0, 1);
	put(fd, &p);
	p = request(1, 0, 2);
	put(fd, &p);
	p = request(UINT32_MAX, 0, 3); /* a negative number of milliseconds */
	put(fd, &p);
	p = request(0, 5, 4);
	put(fd, &p);
	await(fd);
	say_reads("", fd);
}

/* ---- is_duplicate(): requests of one file that wait */

static const struct {
	const char *name;
	uint8_t at, flip; /* of the second MAD */
	uint32_t first_ms, second_ms;
	uint8_t methods[2];
} pairs[] = {
	{"the same", 0, 0, LONG, LONG, {SEND, SEND}},
	{"the same, the first without a time-out", 0, 0, 0, LONG, {SEND, SEND}},
	{"the same, the second without a time-out", 0, 0, LONG, 0, {SEND, SEND}},
	{"another method", 0, 0, LONG, LONG, {SEND, GET}},
	{"another attribute", 17, 1, LONG, LONG, {SEND, SEND}},
	{"another class", 1, 1, LONG, LONG, {SEND, SEND}},
	{"another class version", 2, 2, LONG, LONG, {SEND, SEND}},
	{"another transaction ID", 15, 1, LONG, LONG, {SEND, SEND}},
	{"another high half of the transaction ID", 8, 1, LONG, LONG, {SEND, SEND}},
	{"other data", 100, 1, LONG, LONG, {SEND, SEND}},
	{"an answer", 0, 0, LONG, LONG, {SEND, GET_RESP}},
	{"an answer, then a request", 0, 0, LONG, LONG, {GET_RESP, SEND}},
	{"two answers", 0, 0, LONG, LONG, {GET_RESP, GET_RESP}},
};

static void duplicates(void)
{
	for (size_t i = 0; i < COUNT(pairs); i++)
		for (int own = 0; own < 2; own++) {
			struct packet p;
			int fd, other;

			row("twice, by %s: %s", own ? "two files" : "one file", pairs[i].name);
			fd = client(VENDOR);
			other = own ? client(VENDOR) : fd;
			p = request(pairs[i].first_ms, 0, 1);
			p.mad[3] = pairs[i].methods[0];
			put(fd, &p);
			settle();
			p.hdr.timeout_ms = pairs[i].second_ms;
			p.mad[3] = pairs[i].methods[1];
			p.mad[pairs[i].at] ^= pairs[i].flip;
			say_result("", write(other, &p, sizeof(p)));
			settle();
			say_reads("", fd);
		}
}

/* A request that has ended, by its answer or its time-out, is no duplicate of a new one. */
static void no_duplicates(void)
{
	struct packet p, in;
	int fd, s;

	row("twice: after the time-out");
	fd = client(VENDOR);
	p = request(1, 0, 1);
	put(fd, &p);
	await(fd);
	p.hdr.timeout_ms = LONG;
	say_result("unread=", write(fd, &p, sizeof(p)));
	say_result("again=", write(fd, &p, sizeof(p)));
	row("twice: after the answer");
	fd = client(VENDOR);
	s = umad();
	agent(s, VENDOR, M(GET));
	p = mad(VENDOR, GET, 0x99, 7);
	p.hdr.timeout_ms = LONG;
	put(fd, &p);
	in = take(s);
	in.mad[3] = GET_RESP;
	put(s, &in);
	await(fd);
	say_result("unread=", write(fd, &p, sizeof(p)));
	in = take(s);
	say("%02x", in.mad[15]);
}

void rows_of_timeouts(void)
{
	repeats();
	answered_late();
	cancelled();
	one_of_several();
	duplicates();
	no_duplicates();
}
