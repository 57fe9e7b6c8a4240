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

/*
 * Starts a row named by the format. First ends the one before: waits until all MADs under way have
 * arrived, and closes its files.
 */
void row(const char *format, ...) __attribute__((format(printf, 1, 2)));
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Adds to the row's line: "0", or the name of errno if `r` is negative. */
void say_result(const char *what, long r);
/* The last row is done. */
void rows_end(void);
/* Drops the row's line if `late`, and returns `late`. */
bool row_drop_if(bool late);

/* ---- files and agents */

int umad_open(int flags);
/* Opens a file for reading and writing, without blocking. */
int umad(void);
int umad_close(int fd);
/* Registers an agent by REGISTER_AGENT (1) or REGISTER_AGENT2 (2). Its id, or -1 and errno. */
int reg(int fd, const struct reg *r, int ioctl_nr);
int unreg(int fd, uint32_t id);
/* Registers an agent on QP1, class version 1; for vendor range 2 with OUI. Its id. */
int agent(int fd, uint8_t mgmt_class, uint64_t methods);

/* ---- MADs */

void put32(uint8_t *p, uint32_t v);
uint32_t get32(const uint8_t *p);
/* A RoCE v2 GID of the port: 'L' link-local, '4' IPv4, '6' IPv6. Returns its index. */
uint8_t own_gid(char kind, uint8_t gid[16]);
/* A MAD to the port itself, without a time-out. */
struct packet mad(uint8_t mgmt_class, uint8_t method, uint16_t attr, uint8_t tid);
/* Writes a MAD. If that fails, adds the errno to the row's line. */
void put(int fd, const struct packet *p);
/* Returns when everything sent before has arrived, and the kernel's answers to it, too. */
void settle(void);
/* Sleeps until something can be read. */
void await(int fd);
/* Reads all packets that are there and adds each to the row's line, or "-" if there is none. */
void say_reads(const char *what, int fd);
/* Adds a packet that read(2) has returned to the row's line. */
void say_packet(const void *buf, long n);
/* Waits for one packet and returns it. Adds nothing to the row's line, except an error. */
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
