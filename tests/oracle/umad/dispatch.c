/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which agent gets a MAD, what the kernel answers itself, and to which request an answer belongs.
 */
#include "rows.h"

#include <string.h>
#include <unistd.h>

/* All waits end by settle(): no request times out. */
#define LONG 100000000u

/* ---- every class */

/* Shows which methods of a class arrive at each file. */
static void each_class(unsigned int c, bool served)
{
	static const uint8_t methods[] = {0,      GET,  SET,  SEND,         TRAP,
					  REPORT, 0x3f, 0x7f, TRAP_REPRESS, GET_RESP};
	const struct reg all = {.qpn = 1,
				.mgmt_class = (uint8_t)c,
				.version = 1,
				.oui = OUI,
				.methods = {UINT64_MAX & ~M(0x3e), UINT64_MAX}};
	int s, fd;

	row("class %#04x, %s: each method", c, served ? "with an agent" : "of nobody");
	s = umad();
	fd = umad();
	agent(fd, VENDOR, 0);
	if (served)
		say_result("registered=", reg(s, &all, 2));
	for (size_t i = 0; i < COUNT(methods); i++) {
		struct packet p = mad((uint8_t)c, methods[i], 0x99, (uint8_t)(i + 1));

		p.hdr.timeout_ms = LONG;
		put(fd, &p);
	}
	settle();
	for (int side = 0; side < 2; side++) {
		struct packet in;

		say(side ? "client" : "server");
		while (read(side ? fd : s, &in, sizeof(in)) > 0)
			say("%02x:%02x%02x,%x", in.mad[15], in.mad[1], in.mad[3],
			    get32(in.mad + 4));
	}
}

/* ---- servers and requests */

struct way {
	const char *name;
	struct reg server;
	uint8_t mgmt_class, version, method;
	uint16_t attr;
	uint32_t oui, mod;
	uint8_t base_version;
};

#define ON(c, v, m, ...)                                                                   \
	{                                                                                  \
		.qpn = 1, .mgmt_class = (c), .version = (v), .methods = {(m)}, __VA_ARGS__ \
	}
static const struct way ways[] = {
	{"its method", ON(VENDOR, 1, M(GET)), VENDOR, 1, GET},
	{"another method", ON(VENDOR, 1, M(GET)), VENDOR, 1, SET},
	{"another version", ON(VENDOR, 1, M(GET)), VENDOR, 2, GET},
	{"version 0", ON(VENDOR, 0, M(GET)), VENDOR, 0, GET},
	{"version 129", ON(VENDOR, 129, M(GET)), VENDOR, 129, GET},
	{"version 130", ON(VENDOR, 130, M(GET)), VENDOR, 130, GET},
	{"a version of nobody", ON(VENDOR, 1, M(GET)), VENDOR, 200, GET},
	{"an agent without methods", ON(VENDOR, 1, 0), VENDOR, 1, GET},
	{"an OUI", ON(VENDOR2, 1, M(GET), .oui = OUI), VENDOR2, 1, GET, 0, OUI},
	{"an OUI of 24 bits", ON(0x4f, 1, M(SEND), .oui = 0xfedcba), 0x4f, 1, SEND, 0, 0xfedcba},
	{"a byte before the OUI", ON(VENDOR2, 1, M(GET), .oui = OUI), VENDOR2, 1, GET, 0,
	 0xff000000 | OUI},
	{"another OUI", ON(VENDOR2, 1, M(GET), .oui = OUI), VENDOR2, 1, GET, 0, OUI + 1},
	{"no OUI", ON(VENDOR2, 1, M(GET), .oui = OUI), VENDOR2, 1, GET, 0, 0},
	{"the OUI of another class", ON(VENDOR2, 1, M(GET), .oui = OUI), VENDOR2 + 1, 1, GET, 0,
	 OUI},
	{"the OUI in another version", ON(VENDOR2, 1, M(GET), .oui = OUI), VENDOR2, 2, GET, 0, OUI},
	{"Send with another OUI", ON(VENDOR2, 1, M(SEND), .oui = OUI), VENDOR2, 1, SEND, 0,
	 OUI + 1},
	{"class 0 of an agent without class", {.qpn = 1, .methods = {M(GET)}}, 0, 0, GET},
	{"an answer as a request", ON(VENDOR, 1, M(GET)), VENDOR, 1, GET_RESP},
	{"TrapRepress", ON(VENDOR, 1, M(TRAP_REPRESS)), VENDOR, 1, TRAP_REPRESS},
	{"baseboard management: a request", ON(BM, 1, M(SEND)), BM, 1, SEND, 1, 0, 0xfffffffe},
	{"baseboard management: an answer", ON(BM, 1, M(SEND)), BM, 1, SEND, 1, 0, 1},
	{"that bit in another class", ON(VENDOR, 1, M(SEND)), VENDOR, 1, SEND, 1, 0, 1},
	{"base version 0", ON(VENDOR, 1, M(GET)), VENDOR, 1, GET, 0, 0, 0, 0xff},
	{"base version 2", ON(VENDOR, 1, M(GET)), VENDOR, 1, GET, 0, 0, 0, 2},
	{"base version 0x80", ON(VENDOR, 1, M(GET)), VENDOR, 1, GET, 0, 0, 0, 0x80},
	{"CM: Get(ClassPortInfo)", ON(CM, 2, M(GET)), CM, 2, GET, 1},
	{"CM: Get(ClassPortInfo) of nobody", ON(CM, 1, M(GET)), CM, 2, GET, 1},
	{"CM: Get of another attribute", ON(CM, 2, M(GET)), CM, 2, GET, 0x10},
	{"CM: Set of another attribute", ON(CM, 2, M(SET)), CM, 2, SET, 0x10},
	{"CM: Send in version 1", ON(CM, 1, M(SEND)), CM, 1, SEND, 0x10},
	{"SA", ON(SA, 2, M(GET)), SA, 2, GET, 0x35},
	{"performance management's Send", ON(PERF, 1, M(SEND)), PERF, 1, SEND, 0x12},
	{"an agent with RMPP, and a plain MAD", ON(SA, 2, M(GET), .rmpp = 1), SA, 2, GET, 0x35},
};

static void dispatched(const struct way *w, uint8_t qpn)
{
	int s, again, stranger, fd;
	struct packet p;

	row("to QP%d: %s", qpn, w->name);
	s = umad();
	again = umad();
	stranger = umad();
	fd = umad();
	say("%d %d", reg(s, &w->server, 2), reg(again, &w->server, 2) >= 0);
	agent(stranger, 0, UINT64_MAX);
	agent(fd, VENDOR, 0);
	p = mad(w->mgmt_class, w->method, w->attr, 7);
	p.hdr.qpn = (uint32_t)qpn << 24;
	p.hdr.timeout_ms = LONG;
	p.mad[0] = w->base_version == 0xff ? 0 : w->base_version ? w->base_version : 1;
	p.mad[2] = w->version;
	put32(p.mad + 20, w->mod);
	put32(p.mad + 36, w->oui);
	put(fd, &p);
	settle();
	say_reads("server", s);
	say_reads("another", again);
	say_reads("stranger", stranger);
	say_reads("client", fd);
}

static void come_and_go(void)
{
	int fd, s = -1;

	row("servers that come and go");
	fd = umad();
	agent(fd, VENDOR, 0);
	for (int i = 0; i < 8; i++) {
		struct packet p = mad(VENDOR, GET, 0x99, (uint8_t)(i + 1));

		if (i == 1 || i == 4)
			s = umad();
		if (i == 1 || i == 4)
			agent(s, VENDOR, M(GET));
		if (i == 3)
			say_result("unregistered=", unreg(s, 0));
		if (i == 6)
			umad_close(s);
		p.hdr.timeout_ms = LONG;
		put(fd, &p);
		settle();
		if (i < 6 && s >= 0)
			say_reads("server", s);
		say_reads("client", fd);
	}
}

/* ---- answers */

struct talk {
	int client, server;
	struct packet answer;
};

static struct talk begun(uint32_t timeout_ms, uint8_t mgmt_class)
{
	struct talk t = {.client = umad(), .server = umad()};
	struct packet p = mad(mgmt_class, GET, 0x99, 3);

	agent(t.client, mgmt_class, 0);
	agent(t.server, mgmt_class, M(GET));
	p.hdr.timeout_ms = timeout_ms;
	put(t.client, &p);
	t.answer = take(t.server);
	t.answer.mad[3] = GET_RESP;
	t.answer.hdr.timeout_ms = 0;
	for (int i = 64; i < MAD; i++)
		t.answer.mad[i] = (uint8_t)(i + 1);
	return t;
}

/* How each row changes the right answer: the bits `flip` of byte `at`, or the sender's GID. */
static const struct {
	const char *name;
	uint8_t at, flip, kind;
} changes[] = {
	{"right", 0, 0, 0},
	{"another class version", 2, 2, 0},
	{"another method of answers", 3, 0x7f, 0},
	{"a request's method", 3, 0x82, 0},
	{"a status", 5, 0xff, 0},
	{"another attribute", 17, 0xff, 0},
	{"another modifier", 23, 0xff, 0},
	{"another class", 1, 0x10, 0},
	{"the highest bit of the transaction ID", 8, 0x80, 0},
	{"the transaction ID's agent", 11, 1, 0},
	{"a byte of the low half", 12, 1, 0},
	{"the last byte", 15, 1, 0},
	{"base version", 0, 3, 0},
	{"from another GID of the port", 0, 0, '4'},
	{"from the link-local GID", 0, 0, 'L'},
};

static void answers(void)
{
	for (size_t i = 0; i < COUNT(changes); i++) {
		struct talk t;

		row("answer: %s", changes[i].name);
		t = begun(LONG, VENDOR);
		t.answer.mad[changes[i].at] ^= changes[i].flip;
		if (changes[i].kind)
			t.answer.hdr.gid_index = own_gid(changes[i].kind, t.answer.hdr.gid);
		put(t.server, &t.answer);
		settle();
		say_reads("client", t.client);
		put(t.server, &t.answer); /* once more */
		settle();
		say_reads("client", t.client);
		say_reads("server", t.server);
	}
}

static void odd_answers(void)
{
	struct talk t;
	struct packet p;
	int other;

	row("answer: of a request without a time-out");
	t = begun(0, VENDOR);
	put(t.server, &t.answer);
	settle();
	say_reads("", t.client);
	row("answer: after the time-out");
	t = begun(1, VENDOR);
	take(t.client);
	put(t.server, &t.answer);
	settle();
	say_reads("", t.client);
	row("answer: the agent has gone, and another has come");
	t = begun(LONG, VENDOR);
	say_result("", unreg(t.client, 0));
	put(t.server, &t.answer);
	settle();
	agent(t.client, VENDOR, 0);
	put(t.server, &t.answer);
	settle();
	say_reads("", t.client);
	row("answer: the file is closed");
	t = begun(LONG, VENDOR);
	umad_close(t.client);
	t.client = umad();
	agent(t.client, VENDOR, 0);
	put(t.server, &t.answer);
	settle();
	say_reads("", t.client);
	row("answer: by a file without that agent");
	t = begun(LONG, VENDOR);
	other = umad();
	agent(other, 0, 0);
	put(other, &t.answer);
	settle();
	say_reads("", t.client);
	row("answer: over IPv4");
	t.client = umad();
	t.server = umad();
	agent(t.client, VENDOR, 0);
	agent(t.server, VENDOR, M(GET));
	p = mad(VENDOR, GET, 0x99, 3);
	p.hdr.gid_index = own_gid('4', p.hdr.gid);
	p.hdr.traffic_class = 0x42;
	p.hdr.timeout_ms = LONG;
	put(t.client, &p);
	p = take(t.server);
	say_packet(&p, sizeof(p));
	p.mad[3] = GET_RESP;
	put(t.server, &p);
	settle();
	say_reads("", t.client);
	row("answer: TrapRepress to a Trap");
	t.client = umad();
	t.server = umad();
	agent(t.client, VENDOR, 0);
	agent(t.server, VENDOR, M(TRAP));
	p = mad(VENDOR, TRAP, 2, 3);
	p.hdr.timeout_ms = LONG;
	put(t.client, &p);
	p = take(t.server);
	p.mad[3] = TRAP_REPRESS;
	put(t.server, &p);
	settle();
	say_reads("", t.client);
	row("answer: two agents of a file with one transaction ID");
	t.client = umad();
	t.server = umad();
	agent(t.server, VENDOR, M(GET));
	for (uint32_t i = 0; i < 2; i++) {
		agent(t.client, VENDOR, 0);
		p = mad(VENDOR, GET, 0x99, 3);
		p.hdr.id = i;
		p.hdr.timeout_ms = LONG;
		put(t.client, &p);
	}
	for (uint32_t i = 0; i < 2; i++) {
		p = take(t.server);
		p.mad[3] = GET_RESP;
		put(t.server, &p);
	}
	settle();
	say_reads("", t.client);
}

void rows_of_dispatch(void)
{
	for (unsigned int c = 0; c < 256; c++) {
		each_class(c, false);
		if (c < 0x50 || c == SMI_DR) /* others cannot be registered */
			each_class(c, true);
	}
	for (size_t i = 0; i < COUNT(ways); i++)
		dispatched(&ways[i], 1);
	for (size_t i = 0; i < 4; i++)
		dispatched(&ways[i], 0);
	come_and_go();
	answers();
	odd_answers();
}
