/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Implements rmpp.h. */
#include "rmpp.h"

#include <stdlib.h>

const struct cls vendor = {0x30, 40};
const struct cls classes[CLASSES] = {{0x03, 56}, {0x06, 64}, {0x10, 64},
				     {0x12, 64}, {0x30, 40}, {0x4f, 40}};

/* Open a file with one agent, on one port: kernel (or user) RMPP, with these methods. */
int peer(unsigned int n, const struct cls *c, bool user, uint64_t methods)
{
	const struct reg r = {
		.qpn = 1,
		.mgmt_class = c->id,
		.version = 1,
		.rmpp = 1,
		.oui = OUI,
		.flags = user ? IB_USER_MAD_USER_RMPP : 0,
		.methods = {methods},
	};
	int fd = umad(n);

	assert_int_equal(reg2(fd, &r), 0);
	return fd;
}

void put32(uint8_t *p, uint32_t v)
{
	put16(p, (uint16_t)(v >> 16));
	put16(p + 2, (uint16_t)v);
}

uint32_t get32(const uint8_t *p)
{
	return (uint32_t)get16(p) << 16 | get16(p + 2);
}

/* Make the header of a MAD to `lid`. */
struct packet start(const struct cls *c, uint16_t lid, uint8_t method, uint8_t tid)
{
	struct packet p = {.hdr = {.lid = htons(lid), .qpn = htonl(1)}};

	p.mad[0] = 1;
	p.mad[1] = c->id;
	p.mad[2] = 1;
	p.mad[3] = method;
	p.mad[15] = tid;
	if (c->id >= 0x30)
		put32(p.mad + 36, OUI);
	return p;
}

void set_rmpp(struct packet *p, uint8_t type, uint8_t flags, uint8_t status, uint32_t d1,
	      uint32_t d2)
{
	p->mad[24] = 1;
	p->mad[25] = type;
	p->mad[26] = flags;
	p->mad[27] = status;
	put32(p->mad + 28, d1);
	put32(p->mad + 32, d2);
}

uint8_t pattern(size_t i)
{
	return (uint8_t)(i * 7 + i / 256 + 1);
}

void assert_rmpp(const struct packet *p, uint8_t type, uint8_t status, uint32_t d1, uint32_t d2)
{
	assert_int_equal(p->mad[24], 1);
	assert_int_equal(p->mad[25], type);
	assert_int_equal(p->mad[26] & 7 & ACTIVE, ACTIVE);
	assert_int_equal(p->mad[27], status);
	assert_int_equal(get32(p->mad + 28), d1);
	assert_int_equal(get32(p->mad + 32), d2);
}

/* Answer the sender of `to` with an ACK, STOP or ABORT. */
void reply(int fd, const struct packet *to, uint8_t type, uint8_t status, uint32_t d1, uint32_t d2)
{
	struct packet p = *to;

	p.hdr.timeout_ms = 0;
	p.mad[3] ^= RESP;
	set_rmpp(&p, type, ACTIVE, status, d1, d2);
	put(fd, &p);
}

/* write() a message of `len` bytes after the header; returns the result. */
ssize_t send_message(int fd, const struct cls *c, const struct packet *p, size_t len)
{
	size_t total = HDR + c->hdr + len;
	uint8_t *buf = malloc(total);
	ssize_t r;

	assert_non_null(buf);
	memcpy(buf, p, HDR + c->hdr);
	buf[HDR + 26] |= ACTIVE;
	for (size_t i = 0; i < len; i++)
		buf[HDR + c->hdr + i] = pattern(i);
	step();
	r = write(fd, buf, total);
	if (r >= 0)
		assert_int_equal(r, total);
	free(buf);
	return r;
}

/* Read a message and compare it; returns the start of the packet. */
struct packet read_message(int fd, const struct cls *c, size_t len)
{
	size_t total = HDR + c->hdr + len;
	size_t room = total < sizeof(struct packet) ? sizeof(struct packet) : total;
	uint8_t *buf = calloc(1, room);
	struct packet p;

	assert_non_null(buf);
	wait_readable(fd, HANGS);
	assert_int_equal(read(fd, buf, room), total);
	for (size_t i = 0; i < len; i++)
		if (buf[HDR + c->hdr + i] != pattern(i))
			fail_msg("byte %zu of %zu differs", i, len);
	memcpy(&p, buf, sizeof(p));
	free(buf);
	assert_int_equal(p.hdr.length, total);
	assert_int_equal(p.hdr.status, 0);
	return p;
}

void check_segment(const struct packet *p, const struct cls *c, size_t len, uint32_t n)
{
	size_t size = MAD - c->hdr, segs = len ? (len + size - 1) / size : 1;
	size_t pad = segs * size - len, at = (n - 1) * size;
	uint32_t paylen = n == segs ? (uint32_t)(220 - pad)
			  : n == 1  ? (uint32_t)(segs * 220 - pad)
				    : 0;

	assert_rmpp(p, DATA, 0, n, paylen);
	assert_int_equal(p->mad[26], ACTIVE | (n == 1 ? FIRST : 0) | (n == segs ? LAST : 0));
	for (size_t i = 0; i < size; i++)
		if (p->mad[c->hdr + i] != (at + i < len ? pattern(at + i) : 0))
			fail_msg("segment %u: byte %zu", n, i);
}

void expect(int fd, uint32_t n, size_t len)
{
	struct packet in = waited(fd);

	check_segment(&in, &vendor, len, n);
}
