/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rows of umad on the only port of a host, which is Ethernet's: clients and servers are files on
 * this port, as it receives what it sends to its own GID. No row decides by time that nothing
 * comes: MADs stay in order, so those that settle() sends last arrive last.
 */
#ifndef SOFTHCA_TESTS_ORACLE_UMAD_ROWS_H
#define SOFTHCA_TESTS_ORACLE_UMAD_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rdma/ib_user_mad.h>

#include "../../umad/mads.h"

#define M(method) (UINT64_C(1) << (method))
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

struct reg {
	const char *name;
	uint32_t qpn;
	uint8_t mgmt_class, version, rmpp;
	uint32_t oui, flags;
	uint64_t methods[2];
};

/* ---- a row: its key, and the words of its answer */

/* Ends the row before: its files are closed, after all that is under way has arrived. */
void row(const char *format, ...) __attribute__((format(printf, 1, 2)));
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* "0", or errno by name if `r` is negative. */
void say_result(const char *what, long r);
/* The last row is done. */
void rows_end(void);
/* Forgets the row if `late`, and returns `late`. */
bool row_drop_if(bool late);

/* ---- files and agents */

int umad_open(int flags);
/* For reading and writing, without blocking. */
int umad(void);
int umad_close(int fd);
/* By REGISTER_AGENT (1) or REGISTER_AGENT2 (2): the id; -1 and errno. */
int reg(int fd, const struct reg *r, int ioctl_nr);
int unreg(int fd, uint32_t id);
/* An agent of QP1 and class version 1; classes of vendor range 2 have OUI. Returns the id. */
int agent(int fd, uint8_t mgmt_class, uint64_t methods);

/* ---- MADs */

void put32(uint8_t *p, uint32_t v);
uint32_t get32(const uint8_t *p);
/* A GID of the port of RoCE v2: 'L' link-local, '4' of IPv4, '6' of IPv6. Returns its index. */
uint8_t own_gid(char kind, uint8_t gid[16]);
/* A MAD to the port itself, without a time-out. */
struct packet mad(uint8_t mgmt_class, uint8_t method, uint16_t attr, uint8_t tid);
/* Sends it; a refusal is a word of the answer. */
void put(int fd, const struct packet *p);
/* Returns when everything sent before has arrived, and the kernel's answers to it, too. */
void settle(void);
/* Sleeps until something can be read. */
void await(int fd);
/* Read what is there: a word for each packet, "-" for none. The last one stays in *last. */
void say_reads(const char *what, int fd);
/* Writes such a word for the packet that read(2) has returned. */
void say_packet(const void *buf, long n);
/* Waits for one packet, and reads it without a word. */
struct packet take(int fd);
/* An address that is not mapped. */
extern void *volatile nowhere;

/* ---- groups of rows */
void rows_of_agents(void);
void rows_of_files(void);
void rows_of_headers(void);
void rows_of_dispatch(void);
void rows_of_timeouts(void);
void rows_of_rmpp(void);
void rows_of_segments(void);

#endif
