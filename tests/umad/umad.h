/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shared by the programs of this folder: open files, agents, MADs, and cases. They use system calls
 * alone, on two adapters of one host (umad0, umad1). Expected results cite the kernel's file and
 * function; without a file's name it is drivers/infiniband/core/user_mad.c (ib_umad_*, hdr_size,
 * is_duplicate, send_handler, recv_handler, copy_*) or mad.c (all others).
 */
#ifndef SOFTHCA_TESTS_UMAD_H
#define SOFTHCA_TESTS_UMAD_H

#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <rdma/ib_user_mad.h>

#include "mads.h"
#include "util/test_cmocka.h"
#include "util/test_time.h"

enum { BAD_ATTR = 0x0c };

/* ---- cases: each is a cmocka test of its own, and counted as one */

/* Adds a case. `name` is copied; the test finds `row` in *state. */
void add_case(CMUnitTestFunction f, const void *row, const char *name, ...)
	__attribute__((format(printf, 3, 4)));
#define CASE(f) add_case(f, NULL, "%s", #f)
/* A case for each row of a table; a row starts with its name. */
#define CASES(rows, f)                                                   \
	for (size_t i_ = 0; i_ < sizeof(rows) / sizeof((rows)[0]); i_++) \
	add_case(f, &(rows)[i_], "%s", (rows)[i_].name)
/* Run all cases, and close files that a case has left open. */
int run_cases(const char *group);

#define assert_fails(call, err)                 \
	do {                                    \
		errno = 0;                      \
		assert_int_equal((call), -1);   \
		assert_int_equal(errno, (err)); \
	} while (0)

/* ---- files */

int umad_open(unsigned int n, int flags);
/* Open for reading and writing, without blocking. */
int umad(unsigned int n);
int umad_close(int fd);
/* The LID of port 1 of the adapter behind umad<n>. */
uint16_t lid_of(unsigned int n);
void gid_of(unsigned int n, uint8_t gid[16]);

/* ---- agents */

struct reg {
	const char *name, *rule;
	int err; /* 0: registered */
	uint32_t qpn;
	uint8_t mgmt_class, version, rmpp;
	uint32_t oui, flags;
	uint64_t methods[2];
};
/* REGISTER_AGENT and REGISTER_AGENT2: the agent's id; -1 and errno. */
int reg1(int fd, const struct reg *r);
int reg2(int fd, const struct reg *r);
int unreg(int fd, uint32_t id);
/* Register by the second ioctl, so with the long header; class version 1. */
int agent(int fd, uint32_t qpn, uint8_t mgmt_class, uint64_t methods);

/* ---- MADs */

/* An address that is not mapped; not a constant, which compilers would check. */
extern void *volatile nowhere;

uint16_t get16(const uint8_t *p);
uint64_t get64(const uint8_t *p);
void put64(uint8_t *p, uint64_t v);

/* A MAD whose transaction ID's low half is `tid`; 20 ms for the answer, no retries. */
struct packet mad(uint32_t qpn, uint16_t lid, uint8_t mgmt_class, uint8_t method, uint16_t attr,
		  uint8_t tid);
void put(int fd, const struct packet *p);
/* Milliseconds after which a wait counts as a hang, also on a slow machine. */
#define HANGS 60000
void wait_readable_at(int fd, int ms, const char *file, int line);
#define wait_readable(fd, ms) wait_readable_at(fd, ms, __FILE__, __LINE__)
/* A whole MAD that is there now, or arrives within 5 s. */
struct packet got(int fd);
struct packet waited(int fd);
/* Expect the time-out of p, within 5 s. */
void timed_out(int fd, const struct packet *p);
void nothing(int fd);
long now_ms(void);
/* Called at each step of a test that does not wait, to notice pauses of the machine. */
void step(void);
/* ... and at the end of a wait of its own. */
void step_waited(void);

/*
 * For cases whose steps must be done before one of their time-outs, which is slowly(ms). If the
 * case sees that its steps took longer, on a busy machine, it calls again(): all files are closed,
 * and the case runs once more with time-outs twice as long.
 */
uint32_t slowly(uint32_t ms);
bool overdue(long start, uint32_t ms);
void again(CMUnitTestFunction f, void **state);

#endif
