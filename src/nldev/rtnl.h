/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers to requests of NETLINK_ROUTE about the host's interfaces, after the kernel's rtnetlink.c,
 * devinet.c, fib_frontend.c and their IPv6 relatives. It knows messages and struct fab_iface; the
 * kernel's own answers, the socket and its options are the shim's (net/rtsock.c).
 */
#ifndef SOFTHCA_NLDEV_RTNL_H
#define SOFTHCA_NLDEV_RTNL_H

#include "fabric/ifaddr.h"
#include "nldev/msg.h"

struct rtnl {
	const struct fab_iface *iface;
	uint32_t n;
	uint32_t uid; /* of the process that asks */
	bool strict;  /* NETLINK_GET_STRICT_CHK */
	/* `answer` gets one message at a time; portid 0: the caller puts it into them later. */
	struct nl_peer to;
};

enum rtnl_who {
	RTNL_KERNEL,    /* the request is not about these interfaces */
	RTNL_OURS,      /* the request is about them; the library answers it, with ACK or error */
	RTNL_DUMP,      /* the kernel's answer; our messages are inserted before its NLMSG_DONE */
	RTNL_DUMP_OURS, /* as RTNL_DUMP, but the request names one of them: end the dump with
			   success */
};

/*
 * Calls `tell` with one notification for each difference between the interfaces `was` and `is`,
 * also for those that only one of the two has. `group`: RTNLGRP_*.
 */
typedef void rtnl_tell(void *arg, uint32_t group, const void *data, size_t n);
void rtnl_news(const struct fab_iface *was, uint32_t nwas, const struct fab_iface *is, uint32_t nis,
	       rtnl_tell *tell, void *arg);

/* `h` is a whole message as the program sends it. */
enum rtnl_who rtnl_request(const struct rtnl *r, const struct nlmsghdr *h);

#endif
