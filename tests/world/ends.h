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
	int gid_index, pkey_index; /* as the program chooses them; -1: no GRH */
	struct ibv_qp *qp;
	struct ibv_cq *cq;
	union ibv_gid gid;
};

struct ends {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_device_attr device;
	struct ibv_port_attr port;
	int num;         /* of the port */
	struct end a, b; /* b sends to a */
	char buf[64];
};

/* The program cannot work here: exit status 77. */
void lacks(const char *what) __attribute__((noreturn));
/* The program has failed: exit status 1. */
void fails(const char *what, int err) __attribute__((noreturn));
/* Opens the first adapter, or ends the program; its first port that is ACTIVE becomes e->num. */
void ends_open(struct ends *e);
/* An entry of RoCE v2 for an IPv4 address, as programs should look for it; on InfiniBand -1. */
int ends_good_gid(struct ends *e);
/* Connects both ends, sends a message, and waits for it; ends the program where that fails. */
void ends_send(struct ends *e);

#endif
