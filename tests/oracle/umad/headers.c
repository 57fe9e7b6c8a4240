/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* struct ib_user_mad_hdr, as written and as read; what write() refuses; transaction IDs. */
#include "rows.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

struct pair {
	int client, server;
};

/* The server takes Get and Send of VENDOR; both files have one agent. */
static struct pair two(void)
{
	struct pair t = {umad(), umad()};

	agent(t.client, VENDOR, 0);
	agent(t.server, VENDOR, M(GET) | M(SEND));
	return t;
}

static void show(const struct pair *t)
{
	settle();
	say_reads("server", t->server);
	say_reads("client", t->client);
}

/* ---- bits that are added to a header that is right */

static const struct {
	const char *name;
	struct ib_user_mad_hdr hdr;
} more[] = {
	{"nothing", {0}},
	{"status", {.status = UINT32_MAX}},
	{"length", {.length = UINT32_MAX}},
	{"retries without a time-out", {.retries = 7}},
	{"Q_Key", {.qkey = UINT32_MAX}},
	{"LID", {.lid = 0x1234}},
	{"service level", {.sl = 3}},
	{"all bits of the service level", {.sl = 0xff}},
	{"path bits", {.path_bits = 0x7f}},
	{"GRH: another true", {.grh_present = 0x82}},
	{"hop limit", {.hop_limit = 0xff}},
	{"traffic class", {.traffic_class = 0x42}},
	{"flow label", {.flow_label = 0x05040100}},
	{"all bits of the flow label", {.flow_label = UINT32_MAX}},
	{"reserved bytes", {.reserved = {1, 2, 3, 4, 5, 6}}},
	{"QPN 3", {.qpn = 0x02000000}},
	{"bits above the QPN", {.qpn = 0x000000ff}},
};

static void headers(void)
{
	for (size_t i = 0; i < COUNT(more); i++)
		for (int method = GET; method <= SEND; method += SEND - GET) {
			struct packet p;
			struct pair t;

			row("header, method %d: %s", method, more[i].name);
			t = two();
			p = mad(VENDOR, (uint8_t)method, 0x99, 7);
			for (int k = 0; k < HDR; k++)
				((uint8_t *)&p.hdr)[k] |= ((const uint8_t *)&more[i].hdr)[k];
			put(t.client, &p);
			show(&t);
		}
}

/* The same bits in a request that times out: its header comes back. */
static void of_time_outs(void)
{
	for (size_t i = 0; i < COUNT(more); i++) {
		struct packet p, in;
		struct pair t;

		row("header of a time-out: %s", more[i].name);
		t = two();
		p = mad(VENDOR + 1, SEND, 0x99, 7);
		for (int k = 0; k < HDR; k++)
			((uint8_t *)&p.hdr)[k] |= ((const uint8_t *)&more[i].hdr)[k];
		p.hdr.timeout_ms = 5;
		p.hdr.retries = 0;
		p.hdr.gid_index = own_gid('6', p.hdr.gid);
		put(t.client, &p);
		await(t.client);
		memset(&in, 0, sizeof(in));
		say_packet(&in, read(t.client, &in, sizeof(in)));
		say("res%d%d,%s", in.hdr.reserved[0], in.hdr.reserved[5],
		    memcmp(in.hdr.gid, p.hdr.gid, 16) ? "another GID" : "the GID");
	}
}

/* ---- addresses */

static const struct {
	const char *name, *dgid; /* NULL: the port's */
	char from;
	uint8_t grh;
} addresses[] = {
	{"link-local", NULL, 'L', 1},
	{"IPv4", NULL, '4', 1},
	{"IPv6", NULL, '6', 1},
	{"no GRH", NULL, '4', 0},
	{"from a link-local address to IPv4", "::ffff:10.9.8.7", 'L', 1},
	{"from IPv4 to a link-local address", "fe80::1", '4', 1},
	{"from IPv4 to IPv6", "fd00:7::1", '4', 1},
	{"from IPv4 to the zero GID", "::", '4', 1},
	{"from IPv6 to the zero GID", "::", '6', 1},
	{"an IPv6 group", "ff0e::5", '6', 1},
	{"an IPv4 group", "::ffff:239.1.2.3", '4', 1},
	{"from a link-local address to a group", "ff02::5", 'L', 1},
};

static void gids(void)
{
	for (size_t i = 0; i < COUNT(addresses); i++) {
		struct packet p;
		struct pair t;

		row("address: %s", addresses[i].name);
		t = two();
		p = mad(VENDOR, SEND, 0x99, 7);
		p.hdr.gid_index = own_gid(addresses[i].from, p.hdr.gid);
		p.hdr.grh_present = addresses[i].grh;
		if (addresses[i].dgid)
			inet_pton(AF_INET6, addresses[i].dgid, p.hdr.gid);
		put(t.client, &p);
		show(&t);
	}
	for (int at = 0; at < 2; at++) {
		struct packet p;
		struct pair t;

		row("address: %s", at ? "the last index" : "an empty entry");
		t = two();
		p = mad(VENDOR, SEND, 0x99, 7);
		p.hdr.gid_index = at ? 255 : 15;
		put(t.client, &p);
		show(&t);
	}
}

/* ---- the layout without P_Key index */

static void old_header(void)
{
	struct packet p;
	uint8_t buf[HDR_OLD + MAD];
	struct pair t;
	static const struct reg client = {.qpn = 1, .mgmt_class = VENDOR, .version = 1};

	row("the old header");
	t.client = umad();
	t.server = umad();
	say("%d", reg(t.client, &client, 1));
	agent(t.server, VENDOR, M(SEND));
	p = mad(VENDOR, SEND, 0x99, 7);
	memcpy(buf, &p.hdr, HDR_OLD);
	memcpy(buf + HDR_OLD, p.mad, MAD);
	say("%zd", write(t.client, buf, sizeof(buf)));
	settle();
	say_reads("server", t.server);
	p.mad[1] = VENDOR + 1;
	buf[4 + 4] = 5; /* timeout_ms */
	memcpy(buf + HDR_OLD, p.mad, MAD);
	say("%zd", write(t.client, buf, sizeof(buf)));
	await(t.client);
	say_result("room for the old header=", read(t.client, buf, HDR_OLD + MAD_HDR - 1));
	say("%zd", read(t.client, buf, sizeof(buf)));
	row("the old header, then P_Keys");
	t.client = umad();
	say("%d", reg(t.client, &client, 1));
	say_result("", ioctl(t.client, IB_USER_MAD_ENABLE_PKEY, NULL));
	say_result("short=", read(t.client, buf, HDR_OLD - 1));
	say_result("room=", read(t.client, buf, HDR_OLD));
	for (int nr = 1; nr <= 2; nr++) {
		row("header after REGISTER_AGENT %d and ENABLE_PKEY", nr);
		t.client = umad();
		say_result("", ioctl(t.client, IB_USER_MAD_ENABLE_PKEY, NULL));
		say("%d", reg(t.client, &client, nr));
		say_result("old=", read(t.client, buf, HDR_OLD));
		say_result("new=", read(t.client, buf, HDR));
	}
}

/* ---- what write() refuses */

static void sizes(void)
{
	static const size_t lens[] = {
		0,        HDR_OLD,   HDR,       HDR + 23,      HDR + 24, HDR + 35,
		HDR + 36, HDR + 39,  HDR + 40,  HDR + 55,      HDR + 56, HDR + 63,
		HDR + 64, HDR + 255, HDR + MAD, HDR + MAD + 1, 4096};
	static const uint8_t of[] = {VENDOR, SA, DEV_MGMT, VENDOR2, BM};
	static uint8_t buf[8192];

	for (size_t c = 0; c < COUNT(of); c++)
		for (size_t i = 0; i < COUNT(lens); i++) {
			struct packet p;
			int s, fd;

			row("write: class %#x, %zu bytes", of[c], lens[i]);
			s = umad();
			fd = umad();
			agent(s, of[c], M(SEND));
			agent(fd, of[c], 0);
			p = mad(of[c], SEND, 0x99, 7);
			memcpy(buf, &p, sizeof(p));
			memset(buf + sizeof(p), 0x77, sizeof(buf) - sizeof(p));
			say_result("", write(fd, buf, lens[i]));
			settle();
			say_reads("", s);
		}
}

static void refused(void)
{
	static const uint32_t ids[] = {0, 1, 31, 32, UINT32_MAX};
	static const size_t there[] = {HDR - 1, HDR, HDR + 35, HDR + 36, HDR + MAD - 1, HDR + MAD};
	struct packet p;
	struct pair t;

	for (size_t i = 0; i < COUNT(ids); i++)
		for (int grh = 0; grh < 2; grh++) {
			row("write: agent %u, %s GRH", ids[i], grh ? "with" : "without");
			t = two();
			p = mad(VENDOR, SEND, 0x99, 7);
			p.hdr.id = ids[i];
			p.hdr.grh_present = (uint8_t)grh;
			say_result("", write(t.client, &p, sizeof(p)));
			p.mad[15]++;
			say_result("short=", write(t.client, &p, HDR + 36));
			show(&t);
		}
	for (size_t i = 0; i < COUNT(there); i++) {
		uint8_t *at;

		row("write: %zu bytes are mapped", there[i]);
		t = two();
		p = mad(VENDOR, SEND, 0x99, 7);
		at = at_the_end(there[i]);
		memcpy(at, &p, there[i]);
		say_result("", write(t.client, at, sizeof(p)));
		show(&t);
	}
	row("write: no memory at all");
	t = two();
	say_result("", write(t.client, nowhere, sizeof(p)));
	say_result("short=", write(t.client, nowhere, HDR));
	row("write: a file for reading");
	t.client = umad_open(O_RDONLY);
	agent(t.client, VENDOR, 0);
	p = mad(VENDOR, SEND, 0x99, 7);
	say_result("", write(t.client, &p, sizeof(p)));
	row("write: two vectors for one MAD");
	t = two();
	struct packet other = p;
	struct iovec cut[] = {{&p.hdr, HDR}, {p.mad, MAD}},
		     each[] = {{&p, sizeof(p)}, {&other, sizeof(other)}};

	other.mad[15]++;
	say_result("", writev(t.client, cut, 2));
	say("%zd", writev(t.client, each, 2));
	show(&t);
}

/* ---- transaction IDs */

static void tids(void)
{
	static const struct {
		const char *name;
		uint8_t mgmt_class, method;
		uint32_t mod;
	} ways[] = {
		{"Get", VENDOR, GET},
		{"Send", VENDOR, SEND},
		{"Trap", VENDOR, TRAP},
		{"method 0x7f", VENDOR, 0x7f},
		{"a bit of the modifier", VENDOR, SEND, 1},
		{"GetResp", VENDOR, GET_RESP},
		{"method 0x80", VENDOR, 0x80},
		{"method 0xff", VENDOR, 0xff},
		{"TrapRepress", VENDOR, TRAP_REPRESS},
		{"baseboard management's request", BM, SEND, 0xfffffffe},
		{"baseboard management's answer", BM, SEND, 1},
	};
	static const uint32_t highs[] = {0, 0x12345678, UINT32_MAX};

	for (size_t i = 0; i < COUNT(ways); i++)
		for (size_t k = 0; k < COUNT(highs); k++) {
			struct packet p, in;
			int fd;

			row("transaction ID %#x: %s", highs[k], ways[i].name);
			fd = umad();
			agent(fd, VENDOR, 0);
			p = mad(ways[i].mgmt_class, ways[i].method, 0x99, 3);
			put32(p.mad + 8, highs[k]);
			put32(p.mad + 20, ways[i].mod);
			p.hdr.timeout_ms = 1;
			/* nobody receives it */
			p.hdr.qpn = htonl(0x7ffff0);
			put(fd, &p);
			await(fd);
			memset(&in, 0, sizeof(in));
			if (read(fd, &in, sizeof(in)) < 0)
				say_result("read=", -1);
			say("%s, small %d", get32(in.mad + 8) == highs[k] ? "kept" : "replaced",
			    !(get32(in.mad + 8) >> 24));
		}
}

void rows_of_headers(void)
{
	headers();
	of_time_outs();
	gids();
	old_header();
	sizes();
	refused();
	tids();
}
