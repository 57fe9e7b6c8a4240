/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the addresses of ports. Those that nobody gave are a rule and not stored: they follow from
 * the numbers of host and port. The tree of files (net.c) and rdma_cm (src/cma) call it.
 */
#include "fabric/priv.h"

#include <string.h>
#include "fabric/eth.h"
#include "fabric/fabric.h"
#include "fabric/for_tests.h"
#include "hw/world.h"
#include "util/bits.h"
#include "wire/ib/gid.h"

#define MAX_HOSTS 0xffffu
#define LINKLOCAL_NET 0xfe80000000000000

/* ---- ports and hosts */

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

uint32_t fab_if_host(struct seg *s, uint32_t port)
{
	const struct hw_port *p = fab_at_hw(s, port);
	bool in = p && p->hca != SEG_NONE && hw_hca_is_in(s, p->hca);

	return in ? hw_hca(s, p->hca)->host : SEG_NONE;
}

static bool port_is_in(const struct seg *s, uint32_t port)
{
	const struct hw_port *p = hw_port(s, port);

	return p && hw_hca_is_in(s, p->hca);
}

uint32_t fab_if_index(struct seg *s, uint32_t at)
{
	uint32_t n = fab_umad_index(s, fab_at_port(at));

	return n == SEG_NONE ? 0 : FAB_IF_FIRST + n + fab_at_place(at) * FAB_IF_PORTS;
}

uint32_t fab_port_by_if(struct seg *s, uint32_t host, uint32_t ifindex)
{
	uint32_t n = ifindex - FAB_IF_FIRST, port, at;

	if (ifindex < FAB_IF_FIRST || n / FAB_IF_PORTS > HW_VLANS)
		return SEG_NONE;
	port = fab_port_by_umad(s, host, n % FAB_IF_PORTS);
	if (port == SEG_NONE)
		return SEG_NONE;
	at = fab_at(port, n / FAB_IF_PORTS);
	if (!port_is_in(s, port))
		return SEG_NONE;
	return at == port || fab_at_vlan(s, at) ? at : SEG_NONE;
}

uint32_t fab_at_vlan(const struct seg *s, uint32_t at)
{
	const struct hw_port *p = fab_at_place(at) ? fab_at_hw(s, at) : NULL;

	return p ? p->vlan[(fab_at_place(at) - 1) % HW_VLANS] : 0;
}

uint32_t fab_at_by_vlan(const struct seg *s, uint32_t port, uint32_t vlan)
{
	const struct hw_port *p = hw_port(s, port);

	for (uint32_t i = 0; p && vlan && i < HW_VLANS; i++)
		if (p->vlan[i] == vlan)
			return fab_at(port, i + 1);
	return vlan ? SEG_NONE : port;
}

uint32_t fab_at_first(struct seg *s, uint32_t host)
{
	uint32_t first = fab_port_by_umad(s, host, 0);

	return first == SEG_NONE || port_is_in(s, first) ? first : fab_at_next(s, host, first);
}

/* Order: the interfaces of all ports, then those of VLANs, because they are made later. */
uint32_t fab_at_next(struct seg *s, uint32_t host, uint32_t at)
{
	uint32_t n = fab_umad_index(s, fab_at_port(at)) + 1;

	for (uint32_t place = fab_at_place(at); place <= HW_VLANS; place++, n = 0)
		for (uint32_t port; (port = fab_port_by_umad(s, host, n)) != SEG_NONE; n++)
			if (port_is_in(s, port) && (!place || fab_at_vlan(s, fab_at(port, place))))
				return fab_at(port, place);
	return SEG_NONE;
}

/* ---- addresses that were given */

const struct hw_addr *if_find(const struct hw_port *p, const uint8_t ip[16])
{
	for (uint32_t i = 0; p && p->naddrs && i < HW_ADDRS; i++)
		if (p->addr[i].prefix && !memcmp(p->addr[i].ip, ip, 16))
			return &p->addr[i];
	return NULL;
}

uint32_t if_given(const struct seg *s, uint32_t at, const struct hw_addr *out[HW_ADDRS])
{
	const struct hw_port *p = fab_at_hw(s, at);
	uint32_t n = 0, vlan = fab_at_vlan(s, at);

	for (uint32_t i = 0; p && p->naddrs && i < HW_ADDRS; i++) {
		uint32_t k = n;

		if (!p->addr[i].prefix || p->addr[i].vlan != vlan)
			continue;
		for (; k && out[k - 1]->order > p->addr[i].order; k--)
			out[k] = out[k - 1];
		out[k] = &p->addr[i];
		n++;
	}
	return n;
}

static uint32_t at_by_given(struct seg *s, const uint8_t ip[16])
{
	seg_for_each_live (s, SEG_T_PORT, i) {
		const struct hw_addr *a = if_find(hw_port(s, i), ip);

		if (a)
			return fab_at_by_vlan(s, i, a->vlan);
	}
	return SEG_NONE;
}

/* ---- IPv4 */

static uint32_t mask4(uint32_t prefix)
{
	return prefix ? UINT32_MAX << (32 - prefix) : 0;
}

uint32_t if_rule4(struct seg *s, uint32_t port)
{
	uint32_t n = host_number(s, fab_if_host(s, port)), p = fab_umad_index(s, port);

	if (!n || n > MAX_HOSTS || p == SEG_NONE)
		return 0;
	return FAB_IF_NET << 24 | (1 + p) << 16 | n;
}

uint32_t if_own4(struct seg *s, uint32_t port)
{
	const struct hw_port *p = hw_port(s, port);

	return p && !p->no_rule4 ? if_rule4(s, port) : 0;
}

/* The port that has this address by the rule; SEG_NONE. */
static uint32_t port_by_rule4(struct seg *s, uint32_t ip)
{
	uint32_t p = (ip >> 16 & 0xff) - 1, port, host;

	if (ip >> 24 != FAB_IF_NET || p == UINT32_MAX)
		return SEG_NONE;
	host = host_by_number(s, ip & 0xffff);
	port = host == SEG_NONE ? SEG_NONE : fab_port_by_umad(s, host, p);
	return port != SEG_NONE && if_own4(s, port) == ip ? port : SEG_NONE;
}

uint32_t if_all4(struct seg *s, uint32_t at, struct if_ip4 out[FAB_IF_ADDRS])
{
	uint32_t own = fab_at_place(at) ? 0 : if_own4(s, at), n = 0, k;
	const struct hw_addr *a[HW_ADDRS];

	if (own)
		out[n++] = (struct if_ip4){own, RULE_PREFIX};
	k = if_given(s, at, a);
	for (uint32_t i = 0; i < k; i++)
		if (ib_gid_is_ip4(a[i]->ip))
			out[n++] = (struct if_ip4){be32_load(a[i]->ip + 12), a[i]->prefix};
	return n;
}

bool if_same_net4(const struct if_ip4 *a, uint32_t ip)
{
	return !((a->ip ^ ip) & mask4(a->prefix));
}

bool if_is_secondary(const struct if_ip4 *a, uint32_t i)
{
	for (uint32_t k = 0; k < i; k++)
		if (a[k].prefix == a[i].prefix && if_same_net4(&a[k], a[i].ip))
			return true;
	return false;
}

uint32_t fab_ip4(struct seg *s, uint32_t at)
{
	struct if_ip4 a[FAB_IF_ADDRS];

	return if_all4(s, at, a) ? a[0].ip : 0;
}

/* fib_result_prefsrc(): the first of the longest subnet that has the destination. */
uint32_t fab_ip4_towards(struct seg *s, uint32_t at, uint32_t dst)
{
	struct if_ip4 a[FAB_IF_ADDRS];
	uint32_t n = if_all4(s, at, a), ip = n ? a[0].ip : 0, bits = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (a[i].ip == dst)
			return dst;
		if (if_same_net4(&a[i], dst) && a[i].prefix > bits) {
			bits = a[i].prefix;
			ip = a[i].ip;
		}
	}
	return ip;
}

uint32_t fab_port_by_ip4(struct seg *s, uint32_t ip)
{
	uint32_t port = port_by_rule4(s, ip);
	uint8_t net[4], mapped[16];

	if (port != SEG_NONE || !ip)
		return port;
	be32_store(net, ip);
	ib_gid_of_ip4(net, mapped);
	return at_by_given(s, mapped);
}

uint32_t fab_port_towards_ip4(struct seg *s, uint32_t host, uint32_t ip)
{
	struct if_ip4 a[FAB_IF_ADDRS];

	for (uint32_t at = fab_at_first(s, host); at != SEG_NONE; at = fab_at_next(s, host, at)) {
		uint32_t k = if_all4(s, at, a);

		for (uint32_t i = 0; i < k; i++)
			if (if_same_net4(&a[i], ip))
				return at;
	}
	return SEG_NONE;
}

bool fab_ip4_is_broadcast(struct seg *s, uint32_t at, uint32_t ip)
{
	struct if_ip4 a[FAB_IF_ADDRS];
	uint32_t n = if_all4(s, at, a);

	for (uint32_t i = 0; i < n; i++)
		if (a[i].prefix < 31 && ip == (a[i].ip | ~mask4(a[i].prefix)))
			return true;
	return ip == UINT32_MAX;
}

/* ---- guests: 10.0.0.0/8 has 5 bits of the port, 7 of the guest and 12 of the host */

#define GUEST_NET 10u
#define GUEST_HOSTS 0xfffu
#define GUEST_IF (FAB_IF_FIRST + 1000u) /* beyond all interfaces of a host */

uint32_t fab_guests(const struct seg *s, uint32_t at)
{
	const struct hw_port *p = fab_at_place(at) ? NULL : hw_port(s, at);

	return p && p->more_gids ? FAB_GUESTS : 0;
}

uint32_t fab_guest_ip4(struct seg *s, uint32_t port, uint32_t n)
{
	uint32_t host = host_number(s, fab_if_host(s, port)), p = fab_umad_index(s, port);

	return GUEST_NET << 24 | p << 19 | n << 12 | (host & GUEST_HOSTS);
}

uint32_t fab_port_by_guest(struct seg *s, uint32_t ip)
{
	uint32_t host, port;

	if (!hw_setting(s, HW_SET_GIDS) || ip >> 24 != GUEST_NET)
		return SEG_NONE;
	host = host_by_number(s, ip & GUEST_HOSTS);
	port = host == SEG_NONE ? SEG_NONE : fab_port_by_umad(s, host, ip >> 19 & 0x1f);
	return port != SEG_NONE && (ip >> 12 & 0x7f) < fab_guests(s, port) ? port : SEG_NONE;
}

bool fab_gid_guest(struct seg *s, uint32_t port, const uint8_t gid[16])
{
	return ib_gid_is_ip4(gid) && fab_port_by_guest(s, be32_load(gid + 12)) == port;
}

uint32_t fab_guest_index(struct seg *s, uint32_t port)
{
	return GUEST_IF + fab_umad_index(s, port);
}

uint32_t fab_port_by_guest_index(struct seg *s, uint32_t host, uint32_t ifindex)
{
	uint32_t port =
		ifindex < GUEST_IF ? SEG_NONE : fab_port_by_umad(s, host, ifindex - GUEST_IF);

	return port != SEG_NONE && fab_guests(s, port) ? port : SEG_NONE;
}

/* ---- IPv6 */

/*
 * addrconf_ifid_infiniband(): the GUID, and the bit that says that it is universal;
 * addrconf_ifid_eui48(): the MAC address, that bit inverted.
 */
void fab_ip6_linklocal(const struct seg *s, uint32_t port, uint8_t out[16])
{
	const struct hw_port *p = fab_at_hw(s, port);

	memset(out, 0, 16);
	out[0] = 0xfe;
	out[1] = 0x80;
	if (p && hw_port_is_eth(p)) {
		fab_eth_eui64(fab_at_port(port), out + 8);
		return;
	}
	be64_store(out + 8, p ? p->guid : 0);
	out[8] |= 2;
}

static bool has_linklocal(struct seg *s, uint32_t port, const uint8_t ip[16])
{
	uint8_t own[16];

	if (port == SEG_NONE || !hw_port(s, port))
		return false;
	fab_ip6_linklocal(s, port, own);
	return !memcmp(own, ip, 16);
}

/*
 * Finds the port of any host with this link-local address. Tries the GUID with both values of the
 * universal bit, which a GUID may have set by itself.
 */
static uint32_t port_by_linklocal(struct seg *s, const uint8_t ip[16])
{
	uint8_t gid[16];
	uint32_t port;

	memcpy(gid, ip, 16);
	port = fab_port_by_gid(s, gid);
	if (!has_linklocal(s, port, ip)) {
		gid[8] ^= 2;
		port = fab_port_by_gid(s, gid);
	}
	return has_linklocal(s, port, ip) ? port : SEG_NONE;
}

bool if_is_linklocal(const uint8_t ip[16])
{
	return be16_load(ip) >> 6 == 0xfe80 >> 6;
}

uint32_t fab_port_by_ip6(struct seg *s, const uint8_t ip[16])
{
	if (if_is_linklocal(ip))
		return port_by_linklocal(s, ip);
	return ib_gid_is_ip4(ip) ? SEG_NONE : at_by_given(s, ip);
}

static bool same_prefix(const uint8_t a[16], const uint8_t b[16], uint32_t bits)
{
	uint32_t n = bits / 8, rest = bits % 8;

	return !memcmp(a, b, n) && (!rest || !((a[n] ^ b[n]) >> (8 - rest)));
}

/* The latest one whose subnet has the address, as ipv6_link_dev_addr() sorts them; NULL. */
static const struct hw_addr *in_subnet(const struct seg *s, uint32_t at, const uint8_t ip[16])
{
	const struct hw_addr *a[HW_ADDRS];

	for (uint32_t n = if_given(s, at, a); n-- > 0;)
		if (!ib_gid_is_ip4(a[n]->ip) && same_prefix(a[n]->ip, ip, a[n]->prefix))
			return a[n];
	return NULL;
}

bool fab_ip6_on_link(struct seg *s, uint32_t at, const uint8_t ip[16])
{
	return fab_at_hw(s, at) && (be64_load(ip) == LINKLOCAL_NET || in_subnet(s, at, ip));
}

uint32_t fab_port_towards_ip6(struct seg *s, uint32_t host, const uint8_t ip[16])
{
	for (uint32_t at = fab_at_first(s, host); at != SEG_NONE; at = fab_at_next(s, host, at))
		if (in_subnet(s, at, ip))
			return at;
	return SEG_NONE;
}

/* ipv6_dev_get_saddr(): the address itself, one with its scope, one of its subnet. */
void fab_ip6_towards(struct seg *s, uint32_t at, const uint8_t dst[16], uint8_t out[16])
{
	bool local = if_is_linklocal(dst) || dst[0] == 0xff;
	const struct hw_addr *best = NULL, *a[HW_ADDRS];
	uint32_t n = local ? 0 : if_given(s, at, a);

	for (uint32_t i = 0; i < n && !best; i++)
		if (!memcmp(a[i]->ip, dst, 16))
			best = a[i];
	if (!best && !local)
		best = in_subnet(s, at, dst);
	for (; !best && n-- > 0;)
		if (!ib_gid_is_ip4(a[n]->ip))
			best = a[n];
	if (best)
		memcpy(out, best->ip, 16);
	else
		fab_ip6_linklocal(s, at, out);
}
