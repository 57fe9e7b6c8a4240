// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Owns the table of addresses, which is a rule and not stored: the addresses of ports, the routes
 * and neighbours that follow from them. Reads the segment; id.h's files and the device call it.
 */
#include "cma/addr.h"

#include <string.h>
#include "fabric/fabric.h"
#include "util/bits.h"

#define IFINDEX_FIRST 1001u /* above those of a machine's own interfaces */
#define NET 127u
#define MAX_HOSTS 0xffffu

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
	return a->sa.sa_family == AF_INET6 && !be64_load(ip6(a)) && be32_load(ip6(a) + 8) == 0xffff;
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
	return ip >> 16 == NET << 8;
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

/* ---- the table */

/* Hosts count from 1 in the order of their table. */
static uint32_t host_number(const struct seg *s, uint32_t host)
{
	uint32_t n = 0;

	seg_for_each_live (s, SEG_T_HOST, i) {
		n++;
		if (i == host)
			return n;
	}
	return 0;
}

static uint32_t host_by_number(const struct seg *s, uint32_t number)
{
	uint32_t n = 0;

	seg_for_each_live (s, SEG_T_HOST, i)
		if (++n == number)
			return i;
	return SEG_NONE;
}

static uint32_t host_of(struct seg *s, uint32_t port)
{
	const struct hw_port *p = hw_port(s, port);
	const struct hw_hca *hca = p && p->hca != SEG_NONE ? hw_hca(s, p->hca) : NULL;

	return hca ? hca->host : SEG_NONE;
}

/* 0: a host beyond those that have addresses. */
static uint32_t ip4_of_port(struct seg *s, uint32_t port)
{
	uint32_t n = host_number(s, host_of(s, port)), p = fab_umad_index(s, port);

	if (!n || n > MAX_HOSTS || p == SEG_NONE)
		return 0;
	return NET << 24 | (1 + p) << 16 | n;
}

/* The port number of an address of the table, SEG_NONE: it is in no interface's subnet. */
static uint32_t number_in_ip4(uint32_t ip)
{
	return ip >> 24 == NET && !is_loop4(ip) ? (ip >> 16 & 0xff) - 1 : SEG_NONE;
}

static uint32_t port_by_ip4(struct seg *s, uint32_t ip)
{
	uint32_t p = number_in_ip4(ip), host;

	if (p == SEG_NONE)
		return SEG_NONE;
	host = host_by_number(s, ip & 0xffff);
	return host == SEG_NONE ? SEG_NONE : fab_port_by_umad(s, host, p);
}

/* addrconf_ifid_infiniband(): the GUID, and the bit that says that it is universal. */
static void linklocal_of_port(const struct hw_port *p, uint8_t out[16])
{
	memset(out, 0, 16);
	out[0] = 0xfe;
	out[1] = 0x80;
	be64_store(out + 8, p->guid);
	out[8] |= 2;
}

static bool has_linklocal(struct seg *s, uint32_t port, const union cma_addr *a)
{
	const struct hw_port *p = hw_port(s, port);
	uint8_t own[16];

	if (!p)
		return false;
	linklocal_of_port(p, own);
	return !memcmp(own, ip6(a), 16);
}

/* The port of any host; a GUID may have that bit by itself. */
static uint32_t port_by_linklocal(struct seg *s, const union cma_addr *a)
{
	uint8_t gid[16];
	uint32_t port;

	memcpy(gid, ip6(a), 16);
	port = fab_port_by_gid(s, gid);
	if (port == SEG_NONE || !has_linklocal(s, port, a)) {
		gid[8] ^= 2;
		port = fab_port_by_gid(s, gid);
	}
	return port != SEG_NONE && has_linklocal(s, port, a) ? port : SEG_NONE;
}

uint32_t cma_ifindex(struct seg *s, uint32_t port)
{
	uint32_t n = fab_umad_index(s, port);

	return n == SEG_NONE ? 0 : IFINDEX_FIRST + n;
}

uint32_t cma_port_by_ifindex(struct seg *s, uint32_t host, uint32_t ifindex)
{
	return ifindex < IFINDEX_FIRST ? SEG_NONE
				       : fab_port_by_umad(s, host, ifindex - IFINDEX_FIRST);
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
	be32_store(&a->in.sin_addr, ip4_of_port(s, port));
}

/* ---- whose it is */

uint32_t cma_port_by_addr(struct seg *s, uint32_t host, const union cma_addr *a)
{
	uint32_t port;

	if (a->sa.sa_family == AF_IB)
		return cma_port_by_gid(s, host, cma_ib_const(a)->sib_addr.sib_raw);
	if (cma_addr_loopback(a))
		return fab_port_by_umad(s, host, 0);
	if (as_ip4(a))
		port = port_by_ip4(s, as_ip4(a));
	else if (cma_addr_linklocal(a))
		port = port_by_linklocal(s, a);
	else
		port = SEG_NONE;
	return port != SEG_NONE && host_of(s, port) == host ? port : SEG_NONE;
}

static bool reaches(struct seg *s, uint32_t from, uint32_t to)
{
	const struct hw_port *a = hw_port(s, from), *b = hw_port(s, to);

	if (!a || !b || a->state != IB_PORT_ACTIVE || b->state != IB_PORT_ACTIVE)
		return false;
	return from == to || fab_route(s, from, b->lid) == to;
}

uint32_t cma_neighbour(struct seg *s, uint32_t from, const union cma_addr *a)
{
	uint32_t to;

	if (cma_addr_loopback(a))
		to = fab_port_by_umad(s, host_of(s, from), 0);
	else
		to = as_ip4(a) ? port_by_ip4(s, as_ip4(a)) : port_by_linklocal(s, a);
	return to != SEG_NONE && reaches(s, from, to) ? to : SEG_NONE;
}

/* The port whose subnet has the address. */
static uint32_t port_towards(struct seg *s, uint32_t host, const union cma_addr *dst)
{
	uint32_t own = cma_port_by_addr(s, host, dst);

	if (own != SEG_NONE)
		return own;
	if (dst->sa.sa_family == AF_INET6 && !is_mapped(dst)) {
		if (!cma_addr_linklocal(dst) && !cma_addr_multicast(dst))
			return SEG_NONE;
		return dst->in6.sin6_scope_id ? cma_port_by_ifindex(s, host, dst->in6.sin6_scope_id)
					      : fab_port_by_umad(s, host, 0);
	}
	if (cma_addr_multicast(dst))
		return fab_port_by_umad(s, host, 0);
	own = number_in_ip4(as_ip4(dst));
	return own == SEG_NONE ? SEG_NONE : fab_port_by_umad(s, host, own);
}

static void set_source(struct seg *s, uint32_t port, const union cma_addr *dst, union cma_addr *src)
{
	if (dst->sa.sa_family == AF_INET) {
		be32_store(&src->in.sin_addr, ip4_of_port(s, port));
		return;
	}
	if (is_mapped(dst)) {
		uint8_t *ip = src->in6.sin6_addr.s6_addr;

		memset(ip, 0, 16);
		be16_store(ip + 10, 0xffff);
		be32_store(ip + 12, ip4_of_port(s, port));
		return;
	}
	linklocal_of_port(hw_port(s, port), src->in6.sin6_addr.s6_addr);
	src->in6.sin6_scope_id = cma_ifindex(s, port);
}

uint32_t cma_route(struct seg *s, uint32_t host, const union cma_addr *dst, union cma_addr *src)
{
	uint32_t port = port_towards(s, host, dst);

	if (port == SEG_NONE)
		return SEG_NONE;
	if (cma_addr_zero(src))
		set_source(s, port, dst, src);
	else if (!cma_addr_loopback(src))
		port = cma_port_by_addr(s, host, src);
	return port;
}

/* ip_ib_mc_map() and ipv6_ib_mc_map(), with link-local scope as IPoIB's broadcast group has it. */
void cma_mgid(struct seg *s, uint32_t port, const union cma_addr *a, uint8_t mgid[16])
{
	const struct hw_port *p = hw_port(s, port);

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
