/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The host's network interfaces beside the machine's own. Their values come from files in the
 * host's tree (fabric/ifaddr.h), so that a program that only lists interfaces does not attach.
 */
#ifndef SOFTHCA_SHIM_NET_NET_H
#define SOFTHCA_SHIM_NET_NET_H

#include <stdbool.h>
#include <sys/socket.h>
#include <stdint.h>
#include "shim/calls.h"

struct fab_iface;

/* The interface number n of the host, from 0. */
bool net_iface(uint32_t n, struct fab_iface *f);
bool net_iface_by_name(const char *name, struct fab_iface *f);
bool net_iface_by_index(uint32_t ifindex, struct fab_iface *f);

/* <linux/sockios.h>: requests about interfaces. */
static inline bool net_is_ioctl(unsigned long cmd)
{
	return cmd >> 7 == 0x8900 >> 7;
}
/* Answers a request about an interface of ours or about all; others go to `next`. */
int net_ioctl(int fd, unsigned long cmd, void *arg, next_ioctl *next);
/* Is this setsockopt(2) SO_BINDTODEVICE with the name of one of our interfaces? */
bool net_binds_to_ours(int level, int option, const void *value, socklen_t len);

/* Called before connect(2): gives an unbound IPv4 socket the address of its interface. */
void net_choose_source(int fd, const struct sockaddr *to, socklen_t len);

#endif
