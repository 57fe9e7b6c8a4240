// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Answers what the kernel would look up about addresses: owners, routes and neighbours. They follow
 * from the addresses of ports (fabric/ifaddr.h). Reads the segment. The files below id.h and the
 * device call it.
 */
#include "cma/addr.h"
#include "cma/for_tests.h"

#include <string.h>
#include "fabric/eth.h"
#include "fabric/fabric.h"
#include "fabric/ifaddr.h"
#include "util/bits.h"
#include "wire/ib/gid.h"

/* ---- what an address is */

static uint32_t ip4(const union cma_addr *a)
{
	return be32_load(&a->in.sin_addr);
}

static const uint8_t *ip6(const union cma_addr *a)
{
	return a->in6.sin6_addr.s6_addr;
}

/* By hand: the macros of <netinet/in.h> do not work behind the kernel's <linux/in6.h>. */
static bool is_mapped(const union cma_addr *a)
{
	return a->sa.sa_family == AF_INET6 && ib_gid_is_ip4(ip6(a));
}

/* The IPv4 address that it is or contains, 0 for another. */
static uint32_t as_ip4(const union cma_addr *a)
{
	if (a->sa.sa_family == AF_INET)
		return ip4(a);
	return is_mapped(a) ? be32_load(ip6(a) + 12) : 0;
}

static bool is_loop4(uint32_t ip)
{
	return ip >> 16 == FAB_IF_NET << 8;
}

bool cma_addr_zero(const union cma_addr *a)
{
	switch (a->sa.sa_family) {
	case AF_INET:
		return !ip4(a); /* ipv4_is_zeronet(), since Linux 5.3 */
	case AF_INET6:
		return !be64_load(ip6(a)) && !be64_load(ip6(a) + 8);
	case AF_IB:
		return ib_addr_any(&cma_ib_const(a)->sib_addr);
	default:
		return false;
	}
}

bool cma_addr_loopback(const union cma_addr *a)
{
	switch (a->sa.sa_family) {
	case AF_INET:
		return is_loop4(ip4(a));
	case AF_INET6:
		return (!be64_load(ip6(a)) && be64_load(ip6(a) + 8) == 1) || is_loop4(as_ip4(a));
	case AF_IB:
		return ib_addr_loopback(&cma_ib_const(a)->sib_addr);
	default:
		return false;
	}
}

bool cma_addr_any(const union cma_addr *a)
{
	return cma_addr_zero(a) || cma_addr_loopback(a);
}

bool cma_addr_linklocal(const union cma_addr *a)
{
	return a->sa.sa_family == AF_INET6 && be16_load(ip6(a)) >> 6 == 0xfe80 >> 6;
}

bool cma_addr_multicast(const union cma_addr *a)
{
	if (a->sa.sa_family == AF_INET)
		return IN_MULTICAST(ip4(a));
	return a->sa.sa_family == AF_INET6 && ip6(a)[0] == 0xff;
}

uint32_t cma_addr_size(const union cma_addr *a)
{
	switch (a->sa.sa_family) {
	case AF_INET:
		return sizeof(struct sockaddr_in);
	case AF_INET6:
		return sizeof(struct sockaddr_in6);
	case AF_IB:
		return sizeof(struct sockaddr_ib);
	default:
		return 0;
	}
}

int cma_addr_cmp(const union cma_addr *a, const union cma_addr *b)
{
	if (a->sa.sa_family != b->sa.sa_family)
		return -1;
	switch (a->sa.sa_family) {
	case AF_INET:
		return ip4(a) != ip4(b);
	case AF_INET6:
		if (memcmp(ip6(a), ip6(b), 16))
			return 1;
		return cma_addr_linklocal(b) && a->in6.sin6_scope_id != b->in6.sin6_scope_id;
	default:
		return ib_addr_cmp(&cma_ib_const(a)->sib_addr, &cma_ib_const(b)->sib_addr);
	}
}

uint16_t cma_addr_port(const union cma_addr *a)
{
	const struct sockaddr_ib *ib = cma_ib_const(a);

	switch (a->sa.sa_family) {
	case AF_INET:
		return be16_load(&a->in.sin_port);
	case AF_INET6:
		return be16_load(&a->in6.sin6_port);
	case AF_IB:
		return (uint16_t)(be64_load(&ib->sib_sid) & be64_load(&ib->sib_sid_mask));
	default:
		return 0;
	}
}

/* ---- ports */

uint32_t cma_ifindex(struct seg *s, uint32_t port)
{
	return fab_if_index(s, port);
}

uint32_t cma_port_by_ifindex(struct seg *s, uint32_t host, uint32_t ifindex)
{
	return fab_port_by_if(s, host, ifindex);
}

uint32_t cma_port_by_gid(struct seg *s, uint32_t host, const uint8_t gid[16])
{
	uint32_t port;

	for (uint32_t n = 0; (port = fab_port_by_umad(s, host, n)) != SEG_NONE; n++)
		if (fab_port_has_gid(hw_port(s, port), gid))
			return port;
	return SEG_NONE;
}

void cma_addr_of_port(struct seg *s, uint32_t port, union cma_addr *a)
{
	memset(a, 0, sizeof(*a));
	a->in.sin_family = AF_INET;
	be32_store(&a->in.sin_addr, fab_ip4(s, port));
}

/* ---- whose it is */

/* The port of any host. */
static uint32_t port_by_ip(struct seg *s, const union cma_addr *a)
{
	if (as_ip4(a))
		return fab_port_by_ip4(s, as_ip4(a));
	return a->sa.sa_family == AF_INET6 ? fab_port_by_ip6(s, ip6(a)) : SEG_NONE;
}

uint32_t cma_port_by_addr(struct seg *s, uint32_t host, const union cma_addr *a)
{
	uint32_t port;

	if (a->sa.sa_family == AF_IB)
		return cma_port_by_gid(s, host, cma_ib_const(a)->sib_addr.sib_raw);
	if (cma_addr_loopback(a))
		return fab_port_by_umad(s, host, 0);
	port = port_by_ip(s, a);
	return port != SEG_NONE && fab_if_host(s, port) == host ? port : SEG_NONE;
}

/* On InfiniBand, ARP is a multicast of the interface's partition. */
static bool reaches(struct seg *s, uint32_t from, uint32_t to)
{
	const struct hw_port *a = fab_at_hw(s, from), *b = fab_at_hw(s, to);

	if (!a || !b || a->state != IB_PORT_ACTIVE || b->state != IB_PORT_ACTIVE)
		return false;
	if (!hw_port_is_eth(a) && fab_if_host(s, from) != fab_if_host(s, to) &&
	    !hw_ports_share_pkey(a, b, a->pkey[0]))
		return false;
	from = fab_at_port(from);
	to = fab_at_port(to);
	return from == to || fab_route(s, from, fab_port_addr(s, to)) == to;
}

/* The interface of every VLAN has a link-local address; loopback addresses have no VLAN. */
static bool same_vlan(const struct seg *s, uint32_t from, uint32_t to, const union cma_addr *a)
{
	uint32_t vlan = fab_at_vlan(s, from);

	if (cma_addr_loopback(a))
		return true;
	if (cma_addr_linklocal(a))
		return fab_at_by_vlan(s, fab_at_port(to), vlan) != SEG_NONE;
	return fab_at_vlan(s, to) == vlan;
}

uint32_t cma_neighbour(struct seg *s, uint32_t from, const union cma_addr *a)
{
	uint32_t to;

	if (cma_addr_loopback(a))
		to = fab_port_by_umad(s, fab_if_host(s, from), 0);
	else
		to = port_by_ip(s, a);
	return to != SEG_NONE && same_vlan(s, from, to, a) && reaches(s, from, to) ? to : SEG_NONE;
}

/* The port of the host whose subnet contains the address. */
static uint32_t port_towards(struct seg *s, uint32_t host, const union cma_addr *dst)
{
	uint32_t own = cma_port_by_addr(s, host, dst);

	if (own != SEG_NONE)
		return own;
	if (dst->sa.sa_family == AF_INET6 && !is_mapped(dst)) {
		if (!cma_addr_linklocal(dst) && !cma_addr_multicast(dst))
			return fab_port_towards_ip6(s, host, ip6(dst));
		return dst->in6.sin6_scope_id ? cma_port_by_ifindex(s, host, dst->in6.sin6_scope_id)
					      : fab_port_by_umad(s, host, 0);
	}
	if (cma_addr_multicast(dst))
		return fab_port_by_umad(s, host, 0);
	return fab_port_towards_ip4(s, host, as_ip4(dst));
}

static void set_source(struct seg *s, uint32_t port, const union cma_addr *dst, union cma_addr *src)
{
	if (dst->sa.sa_family == AF_INET) {
		be32_store(&src->in.sin_addr, fab_ip4_towards(s, port, ip4(dst)));
		return;
	}
	if (is_mapped(dst)) {
		uint8_t ip[4];

		be32_store(ip, fab_ip4_towards(s, port, as_ip4(dst)));
		ib_gid_of_ip4(ip, src->in6.sin6_addr.s6_addr);
		return;
	}
	fab_ip6_towards(s, port, ip6(dst), src->in6.sin6_addr.s6_addr);
	src->in6.sin6_scope_id = cma_addr_linklocal(src) ? cma_ifindex(s, port) : 0;
}

uint32_t cma_route(struct seg *s, uint32_t host, const union cma_addr *dst, union cma_addr *src)
{
	uint32_t port = port_towards(s, host, dst), own;

	if (port == SEG_NONE)
		return SEG_NONE;
	if (cma_addr_zero(src)) {
		set_source(s, port, dst, src);
	} else if (!cma_addr_loopback(src)) {
		own = cma_port_by_addr(s, host, src);
		/* ip6_route_output_flags() does not ask whether the host has the address. */
		if (own != SEG_NONE || src->sa.sa_family != AF_INET6)
			port = own;
	}
	return port;
}

/* ip_ib_mc_map() and ipv6_ib_mc_map(), with link-local scope as IPoIB's broadcast group has it. */
void cma_mgid(struct seg *s, uint32_t port, const union cma_addr *a, uint8_t mgid[16])
{
	const struct hw_port *p = fab_at_hw(s, port);

	memset(mgid, 0, 16);
	mgid[0] = 0xff;
	mgid[1] = 0x12;
	be16_store(mgid + 4, p ? p->pkey[0] | 0x8000 : 0xffff);
	if (a->sa.sa_family == AF_INET6) {
		be16_store(mgid + 2, 0x601b);
		memcpy(mgid + 6, ip6(a) + 6, 10);
		return;
	}
	be16_store(mgid + 2, 0x401b);
	be32_store(mgid + 12, ip4(a) & 0x0fffffff);
}
