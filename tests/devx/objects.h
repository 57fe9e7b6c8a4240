/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Objects of the DEVX tests: a device, a PD, a key for a page of data, a CQ and connected RC queue
 * pairs, all by commands. Each function ends the program when it fails.
 */
#ifndef TESTS_DEVX_OBJECTS_H
#define TESTS_DEVX_OBJECTS_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "devx_device.h"
#include "wire/prm/rmp_srq.h"
#include "wire/prm/umem.h"

#define PAGE 4096
#define LOG_QUEUE 4 /* 16 WQEs and CQEs */

struct region {
	uint8_t *p;
	struct mlx5dv_devx_umem *umem;
};

struct queue_pair {
	struct mlx5dv_devx_obj *obj;
	struct region wq, dbr;
	uint32_t qpn;
	uint16_t rq_pi, sq_pi;
};

struct objects {
	struct ibv_context *ctx;
	struct mlx5dv_devx_uar *uar; /* UAR of all queues */
	struct mlx5dv_devx_obj *pd, *mkey, *cq;
	struct region data, cqe, cq_dbr;
	uint32_t pdn, lkey, cqn, lid, ci, arm_sn;
};

_Noreturn void die(const char *what);

#define CHECK(cond)                 \
	do {                        \
		if (!(cond))        \
			die(#cond); \
	} while (0)

/* Make a page filled with `byte`. */
void region_make(struct objects *o, struct region *r, int byte);
void region_free(struct region *r);

void objects_make(struct objects *o);
void objects_free(struct objects *o);

void qp_make(struct objects *o, struct queue_pair *q);
/* From Reset to Ready to send. */
void qp_connect(struct objects *o, struct queue_pair *q, const struct queue_pair *to);
void qp_free(struct queue_pair *q);
/* Post a receive of 256 bytes at data + 2048; a send of `len` bytes of data. */
void qp_receive(struct objects *o, struct queue_pair *q);
void qp_send(struct objects *o, struct queue_pair *q, uint32_t len);

/* The next completion; NULL: none. */
const struct mlx5_cqe64 *cq_poll(struct objects *o);
/* Request an event for the next completion. */
void cq_arm(struct objects *o);

#endif
