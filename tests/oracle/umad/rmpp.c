/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Messages of RMPP between two agents for which the kernel makes the segments, and their answers.
 */
#include "rows.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* More than any pause of the machine: segments that are lost to a time-out come again. */
#define RETRIES 1000u
#define LONG 100000000u

static const struct {
	uint8_t id;
	size_t hdr;
} classes[] = {{SA, 56}, {DEV_MGMT, 64}, {0x10, 64}, {0x12, 64}, {0x30, 40}, {0x4f, 40}};

static int peer(uint8_t mgmt_class, uint64_t methods)
{
	const struct reg r = {.qpn = 1,
			      .mgmt_class = mgmt_class,
			      .version = 1,
			      .rmpp = 1,
			      .oui = OUI,
			      .methods = {methods}};
	int fd = umad();

	if (reg(fd, &r, 2) < 0)
		say("no agent");
	return fd;
}

static void message(int fd, const struct packet *p, size_t hdr, size_t len)
{
	uint8_t *buf = malloc(HDR + hdr + len);

	if (!buf)
		abort();
	memcpy(buf, p, HDR + hdr);
	for (size_t i = 0; i < len; i++)
		buf[HDR + hdr + i] = (uint8_t)(i * 7 + i / 256 + 1);
	if (write(fd, buf, HDR + hdr + len) < 0)
		say_result("write=", -1);
	free(buf);
}

static struct packet start(uint8_t mgmt_class, uint8_t method, uint32_t timeout_ms)
{
	struct packet p = mad(mgmt_class, method, 0x35, 7);

	p.hdr.timeout_ms = timeout_ms;
	p.hdr.retries = RETRIES;
	p.mad[24] = 1;
	p.mad[26] = 1; /* active */
	return p;
}

static void there(size_t c, size_t len, uint32_t timeout_ms)
{
	struct packet p;
	int a, b;

	row("message: class %#x, %zu bytes%s", classes[c].id, len,
	    timeout_ms ? ", an answer is wanted" : "");
	a = peer(classes[c].id, 0);
	b = peer(classes[c].id, M(GET_TABLE));
	p = start(classes[c].id, GET_TABLE, timeout_ms);
	message(a, &p, classes[c].hdr, len);
	await(b);
	say_reads("", b);
	settle();
	say_reads("sender", a);
}

/* A request of `ask` bytes (0: a MAD without RMPP), and an answer of `len` bytes. */
static void back(size_t c, size_t ask, size_t len)
{
	static uint8_t buf[1 << 17];
	struct packet p;
	int a, b;
	long n;

	row("answer: class %#x, %zu bytes to %zu bytes", classes[c].id, len, ask);
	a = peer(classes[c].id, 0);
	b = peer(classes[c].id, M(GET_TABLE));
	p = start(classes[c].id, GET_TABLE, LONG);
	if (!ask) {
		p.mad[26] = 0;
		put(a, &p);
	} else {
		message(a, &p, classes[c].hdr, ask);
	}
	await(b);
	n = read(b, buf, sizeof(buf));
	say_packet(buf, n);
	memcpy(&p, buf, HDR + classes[c].hdr);
	p.hdr.timeout_ms = 0;
	p.hdr.retries = RETRIES;
	p.mad[3] |= RESP;
	p.mad[26] = 1;
	message(b, &p, classes[c].hdr, len);
	await(a);
	say_reads("", a);
	settle();
	say_reads("server", b);
}

/* A message too large for the reader's buffer stays; the start of it can be read. */
static void rooms(void)
{
	static const size_t rooms[] = {HDR,       HDR + 55,      HDR + 56,       HDR + 255,
				       HDR + MAD, HDR + MAD + 1, HDR + 56 + 999, HDR + 56 + 1000};
	static uint8_t buf[2000];

	for (size_t i = 0; i < COUNT(rooms); i++) {
		struct packet p;
		int a, b;
		long n;

		row("message: room for %zu bytes of %d", rooms[i], HDR + 56 + 1000);
		a = peer(SA, 0);
		b = peer(SA, M(GET_TABLE));
		p = start(SA, GET_TABLE, 0);
		message(a, &p, 56, 1000);
		await(b);
		memset(buf, 0x5a, sizeof(buf));
		n = read(b, buf, rooms[i]);
		say_result("", n);
		/* The number of bytes that read() has written, also if it failed. */
		for (n = (long)sizeof(buf); n && buf[n - 1] == 0x5a; n--)
			;
		say("written=%ld length=%u", n, ((struct ib_user_mad_hdr *)(void *)buf)->length);
		say_reads("then", b);
	}
}

static void refusals(void)
{
	static const size_t lens[] = {HDR + 35, HDR + 36,  HDR + 55,      HDR + 56,
				      HDR + 57, HDR + MAD, HDR + MAD + 1, 8000};
	static uint8_t buf[8192];

	for (int active = 0; active < 2; active++)
		for (size_t i = 0; i < COUNT(lens); i++) {
			struct packet p;
			int a, b;

			row("write of a message: %zu bytes%s", lens[i], active ? ", active" : "");
			a = peer(SA, 0);
			b = peer(SA, M(GET_TABLE));
			p = start(SA, GET_TABLE, 0);
			p.mad[26] = (uint8_t)active;
			memcpy(buf, &p, sizeof(p));
			if (write(a, buf, lens[i]) < 0)
				say_result("", -1);
			else
				await(b);
			settle();
			say_reads("", b);
		}
	row("write of a message: memory ends in it");
	int a = peer(SA, 0);
	struct packet p = start(SA, GET_TABLE, 0);
	uint8_t *at = at_the_end(1000);

	memcpy(at, &p, sizeof(p));
	say_result("", write(a, at, 1001));
	say_result("unmapped=", write(a, nowhere, 8000));
	row("write of a message: no agent takes it");
	a = peer(SA, 0);
	p = start(SA, GET_TABLE, 5);
	p.hdr.retries = 0;
	message(a, &p, 56, 1000);
	await(a);
	say_reads("", a);
}

void rows_of_rmpp(void)
{
	for (size_t c = 0; c < COUNT(classes); c++) {
		const size_t size = MAD - classes[c].hdr;
		const size_t lens[] = {0,    1,    size - 1, size, size + 1, 2 * size, 2 * size + 1,
				       5000, 30000};

		for (size_t i = 0; i < COUNT(lens); i++)
			for (uint32_t wanted = 0; wanted < 2; wanted++)
				there(c, lens[i], wanted ? LONG : 0);
		back(c, 0, 10);
		back(c, 0, 5000);
		back(c, 1, 1);
		back(c, 700, 5000);
		back(c, 20000, 40000);
	}
	rooms();
	refusals();
}
