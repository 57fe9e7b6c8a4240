/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's end of a NETLINK_RDMA socket: answers requests from the segment (netlink.c, nldev.c
 * of the kernel). It knows messages; sockets and their options are the shim's.
 */
#ifndef SOFTHCA_NLDEV_NLDEV_H
#define SOFTHCA_NLDEV_NLDEV_H

#include "nldev/msg.h"
#include "segment/seg.h"

struct nldev {
	struct seg *s;
	uint32_t host; /* SEG_T_HOST */
	bool admin;    /* CAP_NET_ADMIN */
	bool dumping;  /* an earlier dump has not been read yet */
	struct nl_peer to;
	/* A memfd with the host's ids on that adapter (struct link_cm_id), or -errno; `arg` is the
	 * peer's. */
	int (*cm_ids)(void *arg, uint32_t hca);
};

/* Takes one datagram that was sent to the kernel; `buf` is aligned for a struct nlmsghdr. */
void nldev_request(struct nldev *n, const void *buf, size_t len);

#endif
