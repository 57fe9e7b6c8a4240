/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * RMPP by system calls: the kernel's role against a peer that makes its segments and ACKs by hand
 * (USER_RMPP), and against itself. The rules cited are in drivers/infiniband/core/mad_rmpp.c where
 * no other file is named.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include "umad.h"

#define GET_TABLE 0x12
#define WINDOW 64

enum { ACTIVE = 1, FIRST = 2, LAST = 4 };
enum { DATA = 1, ACK, STOP, ABORT };
enum { RESX = 1, T2L = 118, BAD_SEG = 120, BADT, W2S, S2B, BAD_STATUS, UNV };

struct cls {
	uint8_t id;
	unsigned int hdr; /* ib_get_mad_data_offset() in mad.c */
};
static const struct cls vendor = {0x30, 40};
static const struct cls classes[] = {{0x03, 56}, {0x06, 64}, {0x10, 64},
				     {0x12, 64}, {0x30, 40}, {0x4f, 40}};

/* A file with one agent, of one port: kernel (or user) RMPP, serving these methods. */
static int peer(unsigned int n, const struct cls *c, bool user, uint64_t methods)
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

#define SERVES (1ull << GET | 1ull << GET_TABLE)

static void put32(uint8_t *p, uint32_t v)
{
	put16(p, (uint16_t)(v >> 16));
	put16(p + 2, (uint16_t)v);
}

static uint32_t get32(const uint8_t *p)
{
	return (uint32_t)get16(p) << 16 | get16(p + 2);
}

/* The header of a MAD from one of us to `lid`. */
static struct packet start(const struct cls *c, uint16_t lid, uint8_t method, uint8_t tid)
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

static void set_rmpp(struct packet *p, uint8_t type, uint8_t flags, uint8_t status, uint32_t d1,
		     uint32_t d2)
{
	p->mad[24] = 1;
	p->mad[25] = type;
	p->mad[26] = flags;
	p->mad[27] = status;
	put32(p->mad + 28, d1);
	put32(p->mad + 32, d2);
}

static uint8_t pattern(size_t i)
{
	return (uint8_t)(i * 7 + i / 256 + 1);
}

static void assert_rmpp(const struct packet *p, uint8_t type, uint8_t status, uint32_t d1,
			uint32_t d2)
{
	assert_int_equal(p->mad[24], 1);
	assert_int_equal(p->mad[25], type);
	assert_int_equal(p->mad[26] & 7 & ACTIVE, ACTIVE);
	assert_int_equal(p->mad[27], status);
	assert_int_equal(get32(p->mad + 28), d1);
	assert_int_equal(get32(p->mad + 32), d2);
}

/* Back to where `to` came from: an ACK, STOP or ABORT of it. */
static void reply(int fd, const struct packet *to, uint8_t type, uint8_t status, uint32_t d1,
		  uint32_t d2)
{
	struct packet p = *to;

	p.hdr.timeout_ms = 0;
	p.mad[3] ^= RESP;
	set_rmpp(&p, type, ACTIVE, status, d1, d2);
	put(fd, &p);
}

/* write() of a message of `len` bytes behind the header; its result. */
static ssize_t send_message(int fd, const struct cls *c, const struct packet *p, size_t len)
{
	size_t total = HDR + c->hdr + len;
	uint8_t *buf = malloc(total);
	ssize_t r;

	assert_non_null(buf);
	memcpy(buf, p, HDR + c->hdr);
	buf[HDR + 26] |= ACTIVE;
	for (size_t i = 0; i < len; i++)
		buf[HDR + c->hdr + i] = pattern(i);
	r = write(fd, buf, total);
	if (r >= 0)
		assert_int_equal(r, total);
	free(buf);
	return r;
}

/* Reads a message and compares it; the packet's beginning. */
static struct packet read_message(int fd, const struct cls *c, size_t len)
{
	size_t total = HDR + c->hdr + len;
	size_t room = total < sizeof(struct packet) ? sizeof(struct packet) : total;
	uint8_t *buf = calloc(1, room);
	struct packet p;

	assert_non_null(buf);
	wait_readable(fd, 5000);
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

/* ---- sending: what segments look like */

/* One segment of a message of `len` bytes: send_next_seg(), alloc_send_rmpp_list() in mad.c */
static void check_segment(const struct packet *p, const struct cls *c, size_t len, uint32_t n)
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
		nothing(u); /* the window is shut */
		win = n + 3;
		reply(u, &in, ACK, 0, n, win);
	}
	nothing(u);
	nothing(k);
	umad_close(k);
	umad_close(u);
}

static void test_segments(void **state)
{
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		size_t size = MAD - classes[i].hdr;
		const size_t lens[] = {0, 1, size - 1, size, size + 1, 3 * size, 11 * size - 1};

		for (size_t k = 0; k < sizeof(lens) / sizeof(lens[0]); k++)
			send_and_check(&classes[i], lens[k]);
	}
}

/* ib_umad_write(), ib_create_send_mad(), copy_rmpp_mad(): refused, and nothing was sent */
static void test_what_write_refuses(void **state)
{
	int k = peer(0, &vendor, false, 0), u = peer(1, &vendor, true, SERVES);
	struct packet p = start(&vendor, lid_of(1), GET_TABLE, 1);
	uint8_t big[HDR + 600] = {0};

	set_rmpp(&p, DATA, ACTIVE, 0, 0, 0);
	memcpy(big, &p, sizeof(p));
	assert_fails(write(k, big, HDR + 35), EINVAL);
	assert_fails(write(k, big, HDR + 36), EINVAL); /* shorter than the class's header */
	assert_fails(write(k, big, HDR + 39), EINVAL);
	big[0] = 1; /* no such agent */
	assert_fails(write(k, big, sizeof(big)), EIO);
	big[0] = 32;
	assert_fails(write(k, big, sizeof(big)), EINVAL);
	big[0] = 0;
	big[HDR + 26] = 0; /* not active: one MAD */
	assert_fails(write(k, big, HDR + MAD + 1), EINVAL);
	big[HDR + 26] = ACTIVE;
	assert_fails(write(u, big, HDR + MAD + 1), EINVAL); /* its segments are its own */
	assert_fails(write(k, nowhere, 8192), EFAULT);
	p.hdr.grh_present = 1;
	p.hdr.gid_index = 200;
	assert_fails(send_message(k, &vendor, &p, 1000), EINVAL);
	nothing(u);
	nothing(k);
}

/* copy_rmpp_mad(): EFAULT in the middle of the data */
static void test_unreadable_data(void **state)
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

/* ---- both ends in the kernel's role */

/* copy_recv_mad() in user_mad.c: the first MAD whole, then the data of the others */
static void test_messages(void **state)
{
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		const struct cls *c = &classes[i];
		size_t size = MAD - c->hdr;
		const size_t lens[] = {0,          1,        size - 1,  size,          size + 1,
				       2 * size,   3 * size, 65 * size, 65 * size + 1, 66 * size,
				       129 * size, 40000,    1000001};
		int k = peer(0, c, false, 0), r = peer(1, c, false, SERVES);

		for (size_t n = 0; n < sizeof(lens) / sizeof(lens[0]); n++) {
			struct packet p = start(c, lid_of(1), GET_TABLE, (uint8_t)n), in;

			assert_true(send_message(k, c, &p, lens[n]) > 0);
			in = read_message(r, c, lens[n]);
			assert_int_equal(in.mad[15], n);
			assert_int_equal(in.hdr.lid, htons(lid_of(0)));
			assert_int_equal(in.hdr.qpn, htonl(1));
			nothing(r);
			nothing(k);
		}
		umad_close(k);
		umad_close(r);
	}
}

int main(void)
{
	CASE(test_segments);
	CASE(test_what_write_refuses);
	CASE(test_unreadable_data);
	CASE(test_messages);
	return run_cases("umad-rmpp");
}
