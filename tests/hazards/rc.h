/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shared by the programs of this folder: one end of an RC connection, two of them in one process,
 * and functions that end the program on errors. Plain verbs, so that it also builds under a
 * sanitizer.
 */
#ifndef SOFTHCA_TESTS_HAZARDS_RC_H
#define SOFTHCA_TESTS_HAZARDS_RC_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#define DIE(...)                                                \
	do {                                                    \
		fprintf(stderr, "%s:%d: ", __FILE__, __LINE__); \
		fprintf(stderr, __VA_ARGS__);                   \
		fputc('\n', stderr);                            \
		_exit(2);                                       \
	} while (0)
#define CHECK(cond)                       \
	do {                              \
		if (!(cond))              \
			DIE("%s", #cond); \
	} while (0)

/* The data that one end sends to the other. */
struct rc_addr {
	uint64_t va;
	uint32_t qpn, rkey;
	uint32_t lid;
};

struct rc_end {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_comp_channel *chan; /* NULL: the CQ is polled */
	struct ibv_cq *cq;             /* for sends and receives */
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint8_t *buf;
	size_t size;
	struct rc_addr me, peer;
};

/* Seconds after which a wait counts as a hang, also on a slow machine. */
#define RC_HANGS 60

enum { RC_DEPTH = 16, RC_EVENTS = 1 /* flag: with a completion channel */ };

/* Open the first device; `buf` NULL: allocates `size` bytes. */
void rc_open(struct rc_end *e);
void rc_make(struct rc_end *e, void *buf, size_t size, int flags);
/* Take the QP from RESET to RTS; timeout 4.096 us * 2^timeout, 0: none. */
void rc_connect(struct rc_end *e, const struct rc_addr *peer, uint8_t timeout, uint8_t retries);
void rc_reset(struct rc_end *e);
/*
 * Exchange addresses over a socket pair's end, and connect. Receives may be posted afterwards, and
 * sends after rc_sync() has shown that the other end is ready, too.
 */
void rc_exchange(struct rc_end *e, int sock);
void rc_sync(int sock);

void rc_recv(struct rc_end *e, size_t off, uint32_t len);
void rc_send(struct rc_end *e, size_t off, uint32_t len);
void rc_write(struct rc_end *e, size_t off, uint32_t len, size_t to);
/* The next completion, within `seconds`. */
struct ibv_wc rc_wait(struct rc_end *e, double seconds);
double rc_now(void);
/* Time without this thread's waits for a CPU: how long a call takes on an idle machine. */
double rc_own(void);
/* The letter of a thread's state: 'S' sleeps, in the call that is to be woken or interrupted. */
char rc_state(pid_t tid);

/*
 * From now on the page is missing (userfaultfd): touching it waits for rc_page_arrives(). Returns a
 * descriptor, or -1: not available here.
 */
int rc_lazy_page(uint8_t *p);
pid_t rc_page_touched(int fd); /* the thread that waits for the page */
void rc_page_arrives(int fd, uint8_t *p);

/* Two ends in one process. */
struct rc_pair {
	struct rc_end a, b;
};
void rc_pair_make(struct rc_pair *p);
/* Send n messages from a to b, and compare each byte by byte. */
void rc_pair_loop(struct rc_pair *p, unsigned int n);

/* A program is a table of named cases; the one in argv[1] is run. */
struct rc_case {
	const char *name;
	int (*fn)(int argc, char **argv); /* exit status */
};
int rc_main(const struct rc_case *c, int argc, char **argv);

#endif
