/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the addresses of ports. Those that nobody gave are a rule and not stored: they follow from
 * the numbers of host and port. The tree of files (net.c) and rdma_cm (src/cma) call it.
 */
#include "fabric/ifaddr.h"

#include <errno.h>
#include <linux/if.h>
#include <linux/if_arp.h>
#include <stdio.h>
#include <string.h>
#include "fabric/eth.h"
#include "fabric/fabric.h"
#include "util/bits.h"
#include "wire/ib/gid.h"
#include "wire/ib/link.h"

#define MAX_HOSTS 0xffffu
#define RULE_PREFIX 16u
#define LINKLOCAL_PREFIX 64u
#define LINKLOCAL_NET 0xfe80000000000000
#define IPOIB_HEADER 4u
#define IPOIB_MTU 2048u /* of the broadcast group, unless the port's is smaller */
/* A QP number that a program cannot see: IPoIB's own are the first that a driver makes. */
#define IPOIB_QPN 0x40u
#define IPOIB_QUEUE 256u  /* ipoib_setup_common(): twice the send queue */
#define ETHER_QUEUE 1000u /* DEFAULT_TX_QUEUE_LEN */

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
	const struct hw_port *p = hw_port(s, port);
	const struct hw_hca *hca = p && p->hca != SEG_NONE ? hw_hca(s, p->hca) : NULL;

	return hca ? hca->host : SEG_NONE;
}

uint32_t fab_if_index(struct seg *s, uint32_t port)
{
	uint32_t n = fab_umad_index(s, port);

	return n == SEG_NONE ? 0 : FAB_IF_FIRST + n;
}

uint32_t fab_port_by_if(struct seg *s, uint32_t host, uint32_t ifindex)
{
	return ifindex < FAB_IF_FIRST ? SEG_NONE
				      : fab_port_by_umad(s, host, ifindex - FAB_IF_FIRST);
}

/* ---- addresses that were given */

static const struct hw_addr *given_find(const struct hw_port *p, const uint8_t ip[16])
{
	for (uint32_t i = 0; p && p->naddrs && i < HW_ADDRS; i++)
		if (p->addr[i].prefix && !memcmp(p->addr[i].ip, ip, 16))
			return &p->addr[i];
	return NULL;
}

/* All of a port, the oldest first; their number. */
static uint32_t given(const struct hw_port *p, const struct hw_addr *out[HW_ADDRS])
{
	uint32_t n = 0;

	for (uint32_t i = 0; p && p->naddrs && i < HW_ADDRS; i++) {
		uint32_t k = n;

		if (!p->addr[i].prefix)
			continue;
		for (; k && out[k - 1]->order > p->addr[i].order; k--)
			out[k] = out[k - 1];
		out[k] = &p->addr[i];
		n++;
	}
	return n;
}

static uint32_t port_by_given(struct seg *s, const uint8_t ip[16])
{
	seg_for_each_live (s, SEG_T_PORT, i)
		if (given_find(hw_port(s, i), ip))
			return i;
	return SEG_NONE;
}

/* ---- IPv4 */

static uint32_t mask4(uint32_t prefix)
{
	return prefix ? UINT32_MAX << (32 - prefix) : 0;
}

/* The address of the rule, 0: a host beyond those that have one. */
static uint32_t rule4(struct seg *s, uint32_t port)
{
	uint32_t n = host_number(s, fab_if_host(s, port)), p = fab_umad_index(s, port);

	if (!n || n > MAX_HOSTS || p == SEG_NONE)
		return 0;
	return FAB_IF_NET << 24 | (1 + p) << 16 | n;
}

/* 0: the interface does not have the address of the rule, or no longer. */
static uint32_t own4(struct seg *s, uint32_t port)
{
	const struct hw_port *p = hw_port(s, port);

	return p && !p->no_rule4 ? rule4(s, port) : 0;
}

/* The port that has this address by the rule; SEG_NONE. */
static uint32_t port_by_rule4(struct seg *s, uint32_t ip)
{
	uint32_t p = (ip >> 16 & 0xff) - 1, port, host;

	if (ip >> 24 != FAB_IF_NET || p == UINT32_MAX)
		return SEG_NONE;
	host = host_by_number(s, ip & 0xffff);
	port = host == SEG_NONE ? SEG_NONE : fab_port_by_umad(s, host, p);
	return port != SEG_NONE && own4(s, port) == ip ? port : SEG_NONE;
}

struct ip4 {
	uint32_t ip, prefix;
};

/* All of a port: the rule's, then the others in their order. Their number. */
static uint32_t all4(struct seg *s, uint32_t port, struct ip4 out[FAB_IF_ADDRS])
{
	uint32_t own = own4(s, port), n = 0, k;
	const struct hw_addr *a[HW_ADDRS];

	if (own)
		out[n++] = (struct ip4){own, RULE_PREFIX};
	k = given(hw_port(s, port), a);
	for (uint32_t i = 0; i < k; i++)
		if (ib_gid_is_ip4(a[i]->ip))
			out[n++] = (struct ip4){be32_load(a[i]->ip + 12), a[i]->prefix};
	return n;
}

static bool same_net4(const struct ip4 *a, uint32_t ip)
{
	return !((a->ip ^ ip) & mask4(a->prefix));
}

/* __inet_insert_ifa(): the first address of a subnet is its primary one, others come behind. */
static bool is_secondary(const struct ip4 *a, uint32_t i)
{
	for (uint32_t k = 0; k < i; k++)
		if (a[k].prefix == a[i].prefix && same_net4(&a[k], a[i].ip))
			return true;
	return false;
}

uint32_t fab_ip4(struct seg *s, uint32_t port)
{
	struct ip4 a[FAB_IF_ADDRS];

	return all4(s, port, a) ? a[0].ip : 0;
}

/* fib_result_prefsrc(): the first of the longest subnet that has the destination. */
uint32_t fab_ip4_towards(struct seg *s, uint32_t port, uint32_t dst)
{
	struct ip4 a[FAB_IF_ADDRS];
	uint32_t n = all4(s, port, a), ip = n ? a[0].ip : 0, bits = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (a[i].ip == dst)
			return dst;
		if (same_net4(&a[i], dst) && a[i].prefix > bits) {
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
	return port_by_given(s, mapped);
}

uint32_t fab_port_towards_ip4(struct seg *s, uint32_t host, uint32_t ip)
{
	struct ip4 a[FAB_IF_ADDRS];
	uint32_t port;

	for (uint32_t n = 0; (port = fab_port_by_umad(s, host, n)) != SEG_NONE; n++) {
		uint32_t k = all4(s, port, a);

		for (uint32_t i = 0; i < k; i++)
			if (same_net4(&a[i], ip))
				return port;
	}
	return SEG_NONE;
}

bool fab_ip4_is_broadcast(struct seg *s, uint32_t port, uint32_t ip)
{
	struct ip4 a[FAB_IF_ADDRS];
	uint32_t n = all4(s, port, a);

	for (uint32_t i = 0; i < n; i++)
		if (a[i].prefix < 31 && ip == (a[i].ip | ~mask4(a[i].prefix)))
			return true;
	return ip == UINT32_MAX;
}

/* ---- IPv6 */

/*
 * addrconf_ifid_infiniband(): the GUID, and the bit that says that it is universal;
 * addrconf_ifid_eui48(): the MAC address, that bit inverted.
 */
void fab_ip6_linklocal(const struct seg *s, uint32_t port, uint8_t out[16])
{
	const struct hw_port *p = hw_port(s, port);

	memset(out, 0, 16);
	out[0] = 0xfe;
	out[1] = 0x80;
	if (p && hw_port_is_eth(p)) {
		fab_eth_eui64(port, out + 8);
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

/* The port of any host; a GUID may have that bit by itself. */
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

static bool is_linklocal(const uint8_t ip[16])
{
	return be16_load(ip) >> 6 == 0xfe80 >> 6;
}

uint32_t fab_port_by_ip6(struct seg *s, const uint8_t ip[16])
{
	if (is_linklocal(ip))
		return port_by_linklocal(s, ip);
	return ib_gid_is_ip4(ip) ? SEG_NONE : port_by_given(s, ip);
}

static bool same_prefix(const uint8_t a[16], const uint8_t b[16], uint32_t bits)
{
	uint32_t n = bits / 8, rest = bits % 8;

	return !memcmp(a, b, n) && (!rest || !((a[n] ^ b[n]) >> (8 - rest)));
}

/* The latest one whose subnet has the address, as ipv6_link_dev_addr() sorts them; NULL. */
static const struct hw_addr *in_subnet(const struct hw_port *p, const uint8_t ip[16])
{
	const struct hw_addr *a[HW_ADDRS];

	for (uint32_t n = given(p, a); n-- > 0;)
		if (!ib_gid_is_ip4(a[n]->ip) && same_prefix(a[n]->ip, ip, a[n]->prefix))
			return a[n];
	return NULL;
}

bool fab_ip6_on_link(struct seg *s, uint32_t port, const uint8_t ip[16])
{
	const struct hw_port *p = hw_port(s, port);

	return p && (be64_load(ip) == LINKLOCAL_NET || in_subnet(p, ip));
}

uint32_t fab_port_towards_ip6(struct seg *s, uint32_t host, const uint8_t ip[16])
{
	uint32_t port;

	for (uint32_t n = 0; (port = fab_port_by_umad(s, host, n)) != SEG_NONE; n++)
		if (in_subnet(hw_port(s, port), ip))
			return port;
	return SEG_NONE;
}

/* ipv6_dev_get_saddr(): the address itself, one with its scope, one of its subnet. */
void fab_ip6_towards(struct seg *s, uint32_t port, const uint8_t dst[16], uint8_t out[16])
{
	const struct hw_port *p = hw_port(s, port);
	bool local = is_linklocal(dst) || dst[0] == 0xff;
	const struct hw_addr *best = local ? NULL : given_find(p, dst), *a[HW_ADDRS];

	if (!best && !local)
		best = in_subnet(p, dst);
	for (uint32_t n = local ? 0 : given(p, a); !best && n-- > 0;)
		if (!ib_gid_is_ip4(a[n]->ip))
			best = a[n];
	if (best)
		memcpy(out, best->ip, 16);
	else
		fab_ip6_linklocal(s, port, out);
}

/* ---- giving and taking away */

/* zero, loopback, multicast and reserved ones are no interface's */
static bool may_have4(uint32_t ip)
{
	return ip >> 24 && ip >> 16 != FAB_IF_NET << 8 && ip >> 28 < 0xe;
}

static bool may_have6(const uint8_t ip[16])
{
	return !is_linklocal(ip) && ip[0] != 0xff && be64_load(ip);
}

/* `mapped`: as hw_addr has it. */
static bool is_usable(const uint8_t *ip, size_t len, uint32_t prefix, uint8_t mapped[16])
{
	if (len == 4)
		ib_gid_of_ip4(ip, mapped);
	else
		memcpy(mapped, ip, 16);
	return (len == 4 ? may_have4(be32_load(ip)) : may_have6(ip)) && prefix <= 8 * len;
}

static uint32_t port_by_mapped(struct seg *s, const uint8_t ip[16])
{
	return ib_gid_is_ip4(ip) ? fab_port_by_ip4(s, be32_load(ip + 12)) : fab_port_by_ip6(s, ip);
}

static int put(struct hw_port *p, const uint8_t ip[16], uint32_t prefix)
{
	struct hw_addr *to = NULL;
	uint32_t order = 0;

	for (uint32_t i = 0; i < HW_ADDRS; i++) {
		if (!p->addr[i].prefix && !to)
			to = &p->addr[i];
		else if (p->addr[i].prefix && p->addr[i].order >= order)
			order = p->addr[i].order + 1;
	}
	if (!to)
		return -ENOSPC;
	memcpy(to->ip, ip, 16);
	to->order = order;
	atomic_store(&to->prefix, prefix);
	atomic_fetch_add(&p->naddrs, 1);
	return 0;
}

static void take(struct hw_port *p, const struct hw_addr *a)
{
	atomic_store(&p->addr[a - p->addr].prefix, 0);
	atomic_fetch_sub(&p->naddrs, 1);
}

/* Is it the rule's? Behind another one of its subnet it is like any that was given. */
static bool is_rule4(struct seg *s, uint32_t port, const uint8_t *ip, size_t len, uint32_t prefix)
{
	struct ip4 a[FAB_IF_ADDRS];
	uint32_t n = all4(s, port, a);

	if (len != 4 || be32_load(ip) != rule4(s, port) || prefix != RULE_PREFIX)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (a[i].prefix == prefix && same_net4(&a[i], be32_load(ip)))
			return false;
	return true;
}

/* An event for each entry of the GID table that came or went: dispatch_gid_change_event(). */
static void tell(struct seg *s, uint32_t port)
{
	uint32_t n = fab_eth_gids(s, port);

	if (!n)
		fab_port_changed(s, port, FAB_CHANGED_ADDR);
	while (n-- > 0)
		fab_port_changed(s, port, FAB_CHANGED_GID);
}

int fab_if_add(struct seg *s, uint32_t port, const uint8_t *ip, size_t len, uint32_t prefix)
{
	struct hw_port *p = hw_port(s, port);
	uint8_t mapped[16];
	int r = 0;

	if (!p || p->hca == SEG_NONE || !prefix || !is_usable(ip, len, prefix, mapped))
		return -EINVAL;
	if (port_by_mapped(s, mapped) != SEG_NONE)
		return -EEXIST;
	if (is_rule4(s, port, ip, len, prefix))
		atomic_store(&p->no_rule4, 0);
	else
		r = put(p, mapped, prefix);
	if (!r)
		tell(s, port);
	return r;
}

/* Takes a primary address, and its subnet's secondary ones; true: it was one of the interface's. */
static bool take_ip4(struct seg *s, uint32_t port, uint32_t ip, uint32_t prefix)
{
	struct hw_port *p = hw_port(s, port);
	struct ip4 a[FAB_IF_ADDRS];
	uint32_t n = all4(s, port, a), at = 0;
	bool secondary;

	while (at < n && (a[at].ip != ip || (prefix && prefix != a[at].prefix)))
		at++;
	if (at == n)
		return false;
	secondary = is_secondary(a, at);
	for (uint32_t i = 0; i < n; i++) {
		uint8_t net[4], mapped[16];
		const struct hw_addr *given;

		if (i != at && (secondary || a[i].prefix != a[at].prefix || !same_net4(&a[i], ip)))
			continue;
		be32_store(net, a[i].ip);
		ib_gid_of_ip4(net, mapped);
		given = given_find(p, mapped);
		if (given)
			take(p, given);
		else
			atomic_store(&p->no_rule4, 1);
	}
	return true;
}

int fab_if_del(struct seg *s, uint32_t port, const uint8_t *ip, size_t len, uint32_t prefix)
{
	struct hw_port *p = hw_port(s, port);
	const struct hw_addr *a;
	uint8_t mapped[16];

	if (!p || p->hca == SEG_NONE || !is_usable(ip, len, prefix, mapped))
		return -EINVAL;
	if (len == 4) {
		if (!take_ip4(s, port, be32_load(ip), prefix))
			return -EADDRNOTAVAIL;
	} else {
		a = given_find(p, mapped);
		if (!a || (prefix && prefix != a->prefix))
			return -EADDRNOTAVAIL;
		take(p, a);
	}
	tell(s, port);
	return 0;
}

void fab_if_clear4(struct seg *s, uint32_t port)
{
	struct hw_port *p = hw_port(s, port);

	atomic_store(&p->no_rule4, 1);
	for (uint32_t i = 0; i < HW_ADDRS; i++)
		if (p->addr[i].prefix && ib_gid_is_ip4(p->addr[i].ip))
			take(p, &p->addr[i]);
	tell(s, port);
}

int fab_if_set(struct seg *s, uint32_t port, const uint8_t *ip, size_t len, uint32_t prefix)
{
	struct hw_port *p = hw_port(s, port);
	uint8_t mapped[16];
	uint32_t other;

	if (!p || p->hca == SEG_NONE || !prefix || !is_usable(ip, len, prefix, mapped))
		return -EINVAL;
	other = port_by_mapped(s, mapped);
	if (other != SEG_NONE && other != port)
		return -EEXIST;
	for (uint32_t i = 0; i < HW_ADDRS; i++)
		if (p->addr[i].prefix && ib_gid_is_ip4(p->addr[i].ip) == (len == 4))
			take(p, &p->addr[i]);
	if (len == 4)
		atomic_store(&p->no_rule4, 1);
	put(p, mapped, prefix);
	tell(s, port);
	return 0;
}

uint32_t fab_if_given(struct seg *s, uint32_t port, struct fab_given out[FAB_IF_ADDRS])
{
	const struct hw_addr *a[HW_ADDRS];
	uint32_t n = given(hw_port(s, port), a), k = 0, own = own4(s, port);

	if (!fab_ip4(s, port) && rule4(s, port))
		out[k++] = (struct fab_given){.len = 0};
	/* The rule's is one of them where it has others beside it. */
	for (uint32_t i = 0; own && i < n && !k; i++)
		if (ib_gid_is_ip4(a[i]->ip)) {
			out[k] = (struct fab_given){.len = 4, .prefix = RULE_PREFIX};
			be32_store(out[k++].ip, own);
		}
	for (uint32_t i = 0; i < n; i++, k++) {
		bool is4 = ib_gid_is_ip4(a[i]->ip);

		out[k] = (struct fab_given){.len = is4 ? 4 : 16, .prefix = a[i]->prefix};
		memcpy(out[k].ip, a[i]->ip + (is4 ? 12 : 0), out[k].len);
	}
	return k;
}

/* ---- an interface as programs see it */

/* ipoib_dev_init_default(), ipoib_add_port(): the QP and the port's GID; the group of RFC 4391. */
static void fill_ipoib(const struct hw_port *p, uint32_t n, struct fab_iface *f)
{
	uint32_t mtu = 128u << p->active_mtu;

	snprintf(f->name, sizeof(f->name), FAB_IF_STEM "%u", n);
	f->hwtype = ARPHRD_INFINIBAND;
	f->mtu = (mtu < IPOIB_MTU ? mtu : IPOIB_MTU) - IPOIB_HEADER;
	f->queue_len = IPOIB_QUEUE;
	f->pkey = p->pkey[0] | 0x8000u;
	f->hwlen = FAB_IF_HWADDR;
	be32_store(f->hwaddr, IPOIB_QPN + n);
	memcpy(f->hwaddr + 4, p->gid[0], 16);
	be32_store(f->broadcast, 0x00ffffff);
	be32_store(f->broadcast + 4, 0xff12401b);
	be16_store(f->broadcast + 8, f->pkey);
	be32_store(f->broadcast + 16, 0xffffffff);
}

/* ether_setup() */
static void fill_ether(const struct hw_port *p, uint32_t port, uint32_t n, struct fab_iface *f)
{
	snprintf(f->name, sizeof(f->name), FAB_IF_ETH_STEM "%u", n);
	f->hwtype = ARPHRD_ETHER;
	f->mtu = p->if_mtu;
	f->queue_len = ETHER_QUEUE;
	f->hwlen = FAB_IF_MAC;
	fab_eth_mac(port, f->hwaddr);
	memset(f->broadcast, 0xff, FAB_IF_MAC);
}

/* Gb/s times ten of a lane are rounded as a card's name says them: 50 for HDR. */
static int32_t speed_of(const struct hw_port *p)
{
	const struct ib_width *w = ib_width(p->width);
	const struct ib_speed *v = ib_speed(p->speed);

	return w && v ? (int32_t)(v->lane_gb10 * w->lanes * 100) : -1;
}

static void fill_ip4(struct seg *s, uint32_t port, struct fab_iface *f)
{
	struct ip4 a[FAB_IF_ADDRS];
	uint32_t n = all4(s, port, a);

	for (int secondary = 0; secondary <= 1; secondary++)
		for (uint32_t i = 0; i < n; i++) {
			if (is_secondary(a, i) != secondary)
				continue;
			be32_store(f->ip4[f->nip4], a[i].ip);
			f->prefix4[f->nip4++] = (uint8_t)a[i].prefix;
		}
}

static void fill_ip6(struct seg *s, uint32_t port, struct fab_iface *f)
{
	const struct hw_addr *a[HW_ADDRS];
	uint32_t n = given(hw_port(s, port), a);

	fab_ip6_linklocal(s, port, f->ip6[f->nip6]);
	f->prefix6[f->nip6++] = LINKLOCAL_PREFIX;
	for (uint32_t i = 0; i < n; i++) {
		if (ib_gid_is_ip4(a[i]->ip))
			continue;
		memcpy(f->ip6[f->nip6], a[i]->ip, 16);
		f->prefix6[f->nip6++] = (uint8_t)a[i]->prefix;
	}
}

bool fab_iface(struct seg *s, uint32_t port, struct fab_iface *f)
{
	const struct hw_port *p = hw_port(s, port);
	uint32_t n = p && p->hca != SEG_NONE ? fab_umad_index(s, port) : SEG_NONE;
	bool up;

	memset(f, 0, sizeof(*f));
	if (n == SEG_NONE)
		return false;
	up = p->state == IB_PORT_ACTIVE;
	f->index = FAB_IF_FIRST + n;
	f->port = p->num;
	f->flags = IFF_UP | IFF_BROADCAST | IFF_MULTICAST | (up ? IFF_RUNNING | IFF_LOWER_UP : 0u);
	f->speed = up ? speed_of(p) : -1;
	if (hw_port_is_eth(p))
		fill_ether(p, port, n, f);
	else
		fill_ipoib(p, n, f);
	fab_pci_name(hw_hca(s, p->hca), f->parent);
	fill_ip4(s, port, f);
	fill_ip6(s, port, f);
	return true;
}
