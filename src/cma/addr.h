/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Addresses as rdma_cm sees them: what an address is, whose it is, and by which port it is reached.
 * fabric/ifaddr.h has the addresses of ports.
 */
#ifndef SOFTHCA_CMA_ADDR_H
#define SOFTHCA_CMA_ADDR_H

#include <infiniband/ib.h>
#include "cma/id.h"

/* ---- what an address is, as the kernel asks it (cma.c) */
/* cma_zero_addr(), cma_loopback_addr(), cma_any_addr(): one of both */
bool cma_addr_zero(const union cma_addr *a);
bool cma_addr_loopback(const union cma_addr *a);
bool cma_addr_any(const union cma_addr *a);
bool cma_addr_linklocal(const union cma_addr *a);
bool cma_addr_multicast(const union cma_addr *a);
/* rdma_addr_size(); 0: another family. */
uint32_t cma_addr_size(const union cma_addr *a);
/* cma_addr_cmp(): not 0 when they differ, ports aside. */
int cma_addr_cmp(const union cma_addr *a, const union cma_addr *b);
/* cma_port(): host order; of AF_IB the low bits of the service ID that the mask covers. */
uint16_t cma_addr_port(const union cma_addr *a);

static inline struct sockaddr_ib *cma_ib(union cma_addr *a)
{
	return (struct sockaddr_ib *)a;
}
static inline const struct sockaddr_ib *cma_ib_const(const union cma_addr *a)
{
	return (const struct sockaddr_ib *)a;
}

/* ---- whose it is; ports are interfaces here, by their names in fabric/ifaddr.h */
/*
 * The port of `host` that has this address: SEG_T_PORT; SEG_NONE none. Loopback addresses are the
 * first port's; an IPv4 address mapped into IPv6 is that IPv4 address.
 */
uint32_t cma_port_by_addr(struct seg *s, uint32_t host, const union cma_addr *a);
/*
 * The port of any host that has it and can be reached from the port `from`: what ARP or neighbour
 * discovery would say. SEG_NONE: nobody answers.
 */
uint32_t cma_neighbour(struct seg *s, uint32_t from, const union cma_addr *a);
/*
 * The port by which `host` would send to `dst`; SEG_NONE: there is no route. If `src` is an address
 * of a port, that port is used. If it is empty (0.0.0.0), it becomes the port's address; its port
 * number stays.
 */
uint32_t cma_route(struct seg *s, uint32_t host, const union cma_addr *dst, union cma_addr *src);
/* AF_IB: the port of `host` with this GID. */
uint32_t cma_port_by_gid(struct seg *s, uint32_t host, const uint8_t gid[16]);
/* The MGID that IPoIB gives to an IP multicast address on this port's interface. */
void cma_mgid(struct seg *s, uint32_t port, const union cma_addr *a, uint8_t mgid[16]);
/* The index of a port's interface (sin6_scope_id), 0 when there is none; and the reverse. */
uint32_t cma_ifindex(struct seg *s, uint32_t port);
uint32_t cma_port_by_ifindex(struct seg *s, uint32_t host, uint32_t ifindex);

#endif
