/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Addresses of hosts: each port of an adapter has a network interface with an IPv4 address (in
 * 127.0.0.0/8 unless the fabric's maker says otherwise) and perhaps others. Read from the segment.
 */
#ifndef SOFTHCA_CMA_ADDR_H
#define SOFTHCA_CMA_ADDR_H

#include "cma/id.h"

/*
 * The port of `host` that has this address: SEG_T_PORT; SEG_NONE none. 127.0.0.1 and ::1 (and an
 * IPv4 address mapped into IPv6) are the first port's.
 */
uint32_t cma_port_by_addr(struct seg *s, uint32_t host, const union cma_addr *a);
/* The port of any host that has it, as seen from `from`: what ARP would say. SEG_NONE: nobody. */
uint32_t cma_neighbour(struct seg *s, uint32_t from_host, const union cma_addr *a);
/* The port of `host` by which it would send to that address, and its own address there. */
uint32_t cma_route(struct seg *s, uint32_t host, const union cma_addr *dst, union cma_addr *src);
/* AF_IB: the port of `host` with this GID. */
uint32_t cma_port_by_gid(struct seg *s, uint32_t host, const uint8_t gid[16]);
/* The first address of a port. */
void cma_addr_of_port(struct seg *s, uint32_t port, union cma_addr *a);
/* The group that an IP address is on this port's interface (IPoIB's MGID). */
void cma_mgid(struct seg *s, uint32_t port, const union cma_addr *a, uint8_t mgid[16]);

#endif
