/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the keeper of network namespaces asks of rtnetlink. Each function returns 0 or -errno. */
#ifndef SOFTHCA_SUPER_NETNS_LINK_H
#define SOFTHCA_SUPER_NETNS_LINK_H

#include <stdbool.h>
#include "fabric/ifaddr.h"

#define NETNS_IFACES 32 /* a host's adapters have no more ports */

/* In the namespace of a host: up. */
int netns_link_loopback(void);
/* In the namespace of a host: the interface, up with its addresses; its peer is in `home`. */
int netns_link_pair(const struct fab_iface *f, uint32_t host, uint32_t n, int home);
/*
 * In the namespace of a host: the interface `was` loses and gets addresses to be as `is`. A VLAN's
 * is made if `was` is empty, and goes if `is` is.
 */
int netns_link_change(const struct fab_iface *was, const struct fab_iface *is);
/* In the namespace of the bridges: the bridge of all n-th interfaces, if there is none yet. */
int netns_link_bridge(uint32_t n);
/* In the namespace of the bridges: the peer of a host's n-th interface becomes a port of it. */
int netns_link_plug(uint32_t host, uint32_t n);
/* In the namespace of the bridges: with its peer down an interface is up without a carrier. */
int netns_link_carrier(uint32_t host, uint32_t n, bool on);

#endif
