/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's end of a NETLINK_RDMA socket: answers requests from the segment (netlink.c, nldev.c
 * of the kernel). It knows messages; sockets and their options are the shim's.
 */
#ifndef SOFTHCA_NLDEV_NLDEV_H
#define SOFTHCA_NLDEV_NLDEV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "segment/seg.h"

/* The longest datagram of an answer, apart from an error's copy of its request: NLMSG_GOODSIZE. */
#define NLDEV_DATAGRAM 3776u

struct nldev {
	struct seg *s;
	uint32_t host; /* SEG_T_HOST */
	uint32_t portid;
	bool admin;            /* CAP_NET_ADMIN */
	bool ext_ack, cap_ack; /* options of the socket */
	bool dumping;          /* an earlier dump has not been read yet */
	/* One datagram for the program. 0 or -errno, which ends a dump. */
	int (*answer)(void *arg, const void *data, size_t n);
	/* A memfd with the host's ids on that adapter (struct link_cm_id), or -errno. */
	int (*cm_ids)(void *arg, uint32_t hca);
	void *arg;
};

/* What was sent to the kernel in one datagram; `buf` is aligned for a struct nlmsghdr. */
void nldev_request(struct nldev *n, const void *buf, size_t len);

#endif
