/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* MADs as umad files carry them: for the tests of this folder and for tests/oracle/umad. */
#ifndef SOFTHCA_TESTS_UMAD_MADS_H
#define SOFTHCA_TESTS_UMAD_MADS_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <rdma/ib_user_mad.h>

enum { GET = 0x01, SET = 0x02, SEND = 0x03, TRAP = 0x05, REPORT = 0x06, TRAP_REPRESS = 0x07 };
enum { GET_TABLE = 0x12, RESP = 0x80, GET_RESP = 0x81 };
enum {
	SMI = 0x01,
	SMI_DR = 0x81,
	SA = 0x03,
	PERF = 0x04,
	BM = 0x05,
	DEV_MGMT = 0x06,
	CM = 0x07,
	VENDOR = 0x0b,  /* vendor range 1: without RMPP */
	VENDOR2 = 0x31, /* vendor range 2: with an OUI */
};
enum { HDR = 64, HDR_OLD = 56, MAD = 256, MAD_HDR = 24 };
#define OUI 0x1234u

struct packet {
	struct ib_user_mad_hdr hdr;
	uint8_t mad[MAD];
};

static inline void put16(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

/* Fills in the common header of a MAD whose transaction ID's low half is `tid`. */
static inline void put_mad_hdr(uint8_t *mad, uint8_t mgmt_class, uint8_t method, uint16_t attr,
			       uint8_t tid)
{
	mad[0] = 1;
	mad[1] = mgmt_class;
	mad[2] = 1;
	mad[3] = method;
	mad[15] = tid;
	put16(mad + 16, attr);
}

/* The last `n` bytes of a page before an unmapped one. */
static inline uint8_t *at_the_end(size_t n)
{
	static uint8_t *page;
	size_t size = (size_t)sysconf(_SC_PAGESIZE);

	if (!page) {
		page = mmap(NULL, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			    0);
		if (page == MAP_FAILED || mprotect(page + size, size, PROT_NONE))
			abort();
	}
	memset(page, 0, size);
	return page + size - n;
}

#endif
