/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Two ends of a connection in one process, for programs that are wrong in some world. Each program
 * is built twice, the second time with RIGHT, which mends it: then it works in every world, or ends
 * by lacks().
 */
#ifndef TESTS_WORLD_ENDS_H
#define TESTS_WORLD_ENDS_H

#include <infiniband/verbs.h>
#include <stdbool.h>

#ifdef RIGHT
static const bool is_right = true;
#else
static const bool is_right = false;
#endif

struct end {
	int gid_index;         /* -1: no GRH */
	int pkey_index;        /* that of a full membership, unless the program chooses */
	int num;               /* of its port */
	uint8_t lid_bits;      /* peers send to its LID plus this */
	uint8_t src_path_bits; /* and it sends from its LID plus this */
	struct ibv_qp *qp;
	struct ibv_cq *cq;
	struct ibv_port_attr port;
	union ibv_gid gid;
};

struct ends {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_device_attr device;
	struct ibv_port_attr port;
	int num, last;   /* the first and last port that is ACTIVE */
	struct end a, b; /* b sends to a */
	/* The program may choose: */
	uint32_t length, count; /* of the messages */
	uint32_t cqe;           /* entries of a CQ; 0: enough */
	enum ibv_mtu mtu;
	unsigned int access;              /* of the peer, to the memory */
	struct ibv_comp_channel *channel; /* of a's CQ */
	char buf[16384];
};

/* The program cannot work here: exit status 77. */
void lacks(const char *what) __attribute__((noreturn));
/*
 * The program has failed: exit status 1. For a mended program ENOMEM (RLIMIT_MEMLOCK, or no more
 * objects) and EACCES are something that it lacks.
 */
void fails(const char *what, int err) __attribute__((noreturn));
/*
 * Opens the first adapter that has a port that is ACTIVE, or ends the program; e->num is that port.
 */
void ends_open(struct ends *e);
/* The same with each adapter that has such a port. Their number is at least 1. */
struct ends *ends_open_all(int *n);
/* Opens an adapter, and takes the port as it is. */
void ends_take(struct ends *e, struct ibv_device *device, int num);
/*
 * The index of an entry of RoCE v2, for an IPv4 address if there is one, as programs should look
 * for it. On InfiniBand -1, or 0 if paths need a GRH.
 */
int ends_good_gid(struct ends *e);
/* Connects both ends. */
void ends_connect(struct ends *e);
/* b sends e->count messages, for which a has receives. */
void ends_post(struct ends *e);
/* Waits for a completion; ends the program where it has an error. */
void ends_wait(struct end *t, const char *what);
/* Connects both ends, sends the messages, and waits for them. */
void ends_send(struct ends *e);
/* The same with b of one adapter and a of another, or the same, one. */
void ends_send_to(struct ends *from, struct ends *to);

#endif
