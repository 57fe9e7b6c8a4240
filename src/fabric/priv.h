/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Private to ifaddr.c, ifgive.c and iface.c: the addresses of interfaces. */
#ifndef SOFTHCA_FABRIC_PRIV_H
#define SOFTHCA_FABRIC_PRIV_H

#include "fabric/ifaddr.h"

#define RULE_PREFIX 16u

struct if_ip4 {
	uint32_t ip, prefix;
};

/* Finds an address that a port was given, on any of its interfaces; NULL: it was not. */
const struct hw_addr *if_find(const struct hw_port *p, const uint8_t ip[16]);
/* All of an interface, the oldest first; their number. */
uint32_t if_given(const struct seg *s, uint32_t at, const struct hw_addr *out[HW_ADDRS]);
/* The address that a port has by default (ifaddr.h); 0: the host's number is too high for one. */
uint32_t if_rule4(struct seg *s, uint32_t port);
/* The same; 0 also if the address was removed from the interface. */
uint32_t if_own4(struct seg *s, uint32_t port);
/* All of an interface: the default one, then the others in their order. Their number. */
uint32_t if_all4(struct seg *s, uint32_t at, struct if_ip4 out[FAB_IF_ADDRS]);
bool if_same_net4(const struct if_ip4 *a, uint32_t ip);
/* __inet_insert_ifa(): the first address of a subnet is its primary one, others come behind. */
bool if_is_secondary(const struct if_ip4 *a, uint32_t i);
bool if_is_linklocal(const uint8_t ip[16]);

#endif
