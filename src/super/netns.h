/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Network namespaces of hosts (`--netns`): each host in use has one, with an interface of the
 * kernel for each of its ports, and all hosts' first interfaces are on one bridge, the second ones
 * on another. They are made by a child of the supervisor, the keeper, which lives in a user
 * namespace where the user may not make them otherwise.
 */
#ifndef SOFTHCA_SUPER_NETNS_H
#define SOFTHCA_SUPER_NETNS_H

#include <sys/types.h>
#include "fabric/ifaddr.h"

struct netns {
	int sock; /* to the keeper; -1: none */
	pid_t pid;
	uint32_t asked; /* requests to it */
	uint32_t nhosts;
	struct netns_host {
		int fd;       /* the namespace; -1: not made yet */
		uint32_t out; /* a bit for each interface that has no carrier */
	} * host;             /* per SEG_T_HOST */
};

/*
 * Starts the keeper, to be called before the first thread. 0; -EPERM, -ENOSPC...: the machine
 * refuses the namespace, the bridge's modules are absent.
 */
int netns_init(struct netns *n, uint32_t nhosts);
void netns_finish(struct netns *n);
/* The namespace of a host with its interfaces, made at the first call. 0 or -errno. */
int netns_host(struct netns *n, struct seg *s, uint32_t host);
/*
 * Changes an interface of a host: its addresses become those of `is` instead of those of `was`. An
 * empty `was` creates the interface, an empty `is` removes it. Returns 0 (also when the host has no
 * namespace yet) or -errno.
 */
int netns_change(struct netns *n, uint32_t host, const struct fab_iface *was,
		 const struct fab_iface *is);
/* The interfaces of all hosts follow the state of their ports. */
void netns_update(struct netns *n, struct seg *s);

/*
 * Moves the calling process, which has one thread, into a namespace and the user namespace that
 * owns it. The kernel then forgets PR_SET_PDEATHSIG. 0 or -errno.
 */
int netns_enter(int fd);

#endif
