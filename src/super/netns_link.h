/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Requests of rtnetlink for the keeper of network namespaces. Each function returns 0 or -errno. */
#ifndef SOFTHCA_SUPER_NETNS_LINK_H
#define SOFTHCA_SUPER_NETNS_LINK_H

#include <stdbool.h>
#include "fabric/ifaddr.h"

#define NETNS_IFACES 32 /* a host's adapters have no more ports */

/* In the namespace of a host: sets the loopback interface up. */
int netns_link_loopback(void);
/*
 * In the namespace of a host: makes an interface with its addresses and sets it up. Its peer goes
 * to the namespace `home`.
 */
int netns_link_pair(const struct fab_iface *f, uint32_t host, uint32_t n, int home);
/*
 * In the namespace of a host: replaces the addresses of `was` by those of `is`. Makes a VLAN's
 * interface if `was` is empty; deletes it if `is` is empty.
 */
int netns_link_change(const struct fab_iface *was, const struct fab_iface *is);
/*
 * In the namespace of the bridges: makes the bridge of all hosts' n-th interfaces, if it is
 * missing.
 */
int netns_link_bridge(uint32_t n);
/* In the namespace of the bridges: adds the peer of a host's n-th interface to the n-th bridge. */
int netns_link_plug(uint32_t host, uint32_t n);
/*
 * In the namespace of the bridges: sets the peer up or down. Without it the interface has no
 * carrier.
 */
int netns_link_carrier(uint32_t host, uint32_t n, bool on);

#endif
