/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shared by the tests of RMPP: the kernel's role against a peer that makes its segments and ACKs by
 * hand (USER_RMPP), and against itself. Rules without a file's name are in
 * drivers/infiniband/core/mad_rmpp.c.
 */
#ifndef SOFTHCA_TESTS_UMAD_RMPP_H
#define SOFTHCA_TESTS_UMAD_RMPP_H

#include "umad.h"

#define SERVES (1ull << GET | 1ull << GET_TABLE)
#define WINDOW 64 /* window_size(): an eighth of the 512 receives of QP1 */

enum { ACTIVE = 1, FIRST = 2, LAST = 4 };
enum { DATA = 1, ACK, STOP, ABORT };
enum { RESX = 1, T2L = 118, BAD_SEG = 120, BADT, W2S, S2B, BAD_STATUS, UNV };

struct cls {
	uint8_t id;
	unsigned int hdr; /* header length: ib_get_mad_data_offset() in mad.c */
};
extern const struct cls vendor;
#define CLASSES 6
extern const struct cls classes[CLASSES]; /* all classes with RMPP */

/* Open a file with one agent, on one port: kernel (or user) RMPP, with these methods. */
int peer(unsigned int n, const struct cls *c, bool user, uint64_t methods);
/* Make the header of a MAD to `lid` that expects no answer. */
struct packet start(const struct cls *c, uint16_t lid, uint8_t method, uint8_t tid);

void put32(uint8_t *p, uint32_t v);
uint32_t get32(const uint8_t *p);
void set_rmpp(struct packet *p, uint8_t type, uint8_t flags, uint8_t status, uint32_t d1,
	      uint32_t d2);
void assert_rmpp(const struct packet *p, uint8_t type, uint8_t status, uint32_t d1, uint32_t d2);
/* Answer the sender of `to` with an ACK, STOP or ABORT. */
void reply(int fd, const struct packet *to, uint8_t type, uint8_t status, uint32_t d1, uint32_t d2);

/* Byte i of each message. */
uint8_t pattern(size_t i);
/* write() a message of `len` bytes after the header; returns the result. */
ssize_t send_message(int fd, const struct cls *c, const struct packet *p, size_t len);
/* Read a message, within 5 s, and compare it; returns the start of the packet. */
struct packet read_message(int fd, const struct cls *c, size_t len);
/* Is that segment `n` of a message of `len` bytes? send_next_seg(), alloc_send_rmpp_list() in mad.c
 */
void check_segment(const struct packet *p, const struct cls *c, size_t len, uint32_t n);
/* Expect that segment, within 5 s (class `vendor`). */
void expect(int fd, uint32_t n, size_t len);

#endif
