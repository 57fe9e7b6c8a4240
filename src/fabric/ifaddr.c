/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the addresses of ports. Those that nobody configured are a rule and not stored: they follow
 * from the numbers of host and port. The tree of files (net.c) and rdma_cm (src/cma) call it.
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

/* The port that has this address by the rule, if none is configured; SEG_NONE. */
static uint32_t port_by_rule4(struct seg *s, uint32_t ip)
{
	uint32_t p = (ip >> 16 & 0xff) - 1, port, host;

	if (ip >> 24 != FAB_IF_NET || p == UINT32_MAX)
		return SEG_NONE;
	host = host_by_number(s, ip & 0xffff);
	port = host == SEG_NONE ? SEG_NONE : fab_port_by_umad(s, host, p);
	return port != SEG_NONE && !hw_port(s, port)->ip4 ? port : SEG_NONE;
}

uint32_t fab_ip4(struct seg *s, uint32_t port)
{
	const struct hw_port *p = hw_port(s, port);

	return p && p->ip4 ? p->ip4 : rule4(s, port);
}

uint32_t fab_port_by_ip4(struct seg *s, uint32_t ip)
{
	uint32_t port = port_by_rule4(s, ip);

	if (port != SEG_NONE || !ip)
		return port;
	seg_for_each_live (s, SEG_T_PORT, i)
		if (hw_port(s, i)->ip4 == ip)
			return i;
	return SEG_NONE;
}

uint32_t fab_port_towards_ip4(struct seg *s, uint32_t host, uint32_t ip)
{
	uint32_t port;

	for (uint32_t n = 0; (port = fab_port_by_umad(s, host, n)) != SEG_NONE; n++) {
		const struct hw_port *p = hw_port(s, port);
		uint32_t own = fab_ip4(s, port);

		if (own && !((own ^ ip) & mask4(p->ip4 ? p->ip4_prefix : RULE_PREFIX)))
			return port;
	}
	return SEG_NONE;
}

bool fab_ip4_is_broadcast(struct seg *s, uint32_t port, uint32_t ip)
{
	const struct hw_port *p = hw_port(s, port);
	uint32_t prefix = p && p->ip4 ? p->ip4_prefix : RULE_PREFIX;

	return ip == UINT32_MAX || (prefix < 31 && ip == (fab_ip4(s, port) | ~mask4(prefix)));
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

static bool is_zero(const uint8_t ip[16])
{
	return !be64_load(ip) && !be64_load(ip + 8);
}

uint32_t fab_port_by_ip6(struct seg *s, const uint8_t ip[16])
{
	if (is_linklocal(ip))
		return port_by_linklocal(s, ip);
	if (is_zero(ip))
		return SEG_NONE;
	seg_for_each_live (s, SEG_T_PORT, i)
		if (!memcmp(hw_port(s, i)->ip6, ip, 16))
			return i;
	return SEG_NONE;
}

static bool same_prefix(const uint8_t a[16], const uint8_t b[16], uint32_t bits)
{
	uint32_t n = bits / 8, rest = bits % 8;

	return !memcmp(a, b, n) && (!rest || !((a[n] ^ b[n]) >> (8 - rest)));
}

static bool in_subnet(const struct hw_port *p, const uint8_t ip[16])
{
	return !is_zero(p->ip6) && same_prefix(p->ip6, ip, p->ip6_prefix);
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

void fab_ip6_towards(struct seg *s, uint32_t port, const uint8_t dst[16], uint8_t out[16])
{
	const struct hw_port *p = hw_port(s, port);

	if (p && !is_zero(p->ip6) && !is_linklocal(dst) && dst[0] != 0xff)
		memcpy(out, p->ip6, 16);
	else
		fab_ip6_linklocal(s, port, out);
}

/* ---- configured addresses */

static int set4(struct seg *s, struct hw_port *p, uint32_t port, uint32_t ip, uint32_t prefix)
{
	uint32_t other = fab_port_by_ip4(s, ip);

	/* zero, loopback, multicast and reserved ones are no interface's */
	if (!(ip >> 24) || ip >> 16 == FAB_IF_NET << 8 || ip >> 28 >= 0xe || prefix < 1 ||
	    prefix > 32)
		return -EINVAL;
	if (other != SEG_NONE && other != port)
		return -EEXIST;
	p->ip4_prefix = (uint8_t)prefix;
	p->ip4 = ip;
	if (fab_eth_gids(s, port))
		fab_port_changed(s, port, FAB_CHANGED_GID);
	return 0;
}

int fab_if_set(struct seg *s, uint32_t port, const uint8_t *ip, size_t len, uint32_t prefix)
{
	struct hw_port *p = hw_port(s, port);
	uint32_t other;

	if (!p || p->hca == SEG_NONE)
		return -EINVAL;
	if (len == 4)
		return set4(s, p, port, be32_load(ip), prefix);
	if (is_linklocal(ip) || ip[0] == 0xff || !be64_load(ip) || prefix < 1 || prefix > 128)
		return -EINVAL;
	other = fab_port_by_ip6(s, ip);
	if (other != SEG_NONE && other != port)
		return -EEXIST;
	memcpy(p->ip6, ip, 16);
	p->ip6_prefix = (uint8_t)prefix;
	if (fab_eth_gids(s, port))
		fab_port_changed(s, port, FAB_CHANGED_GID);
	return 0;
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
	be32_store(f->ip4, fab_ip4(s, port));
	f->prefix4 = p->ip4 ? p->ip4_prefix : RULE_PREFIX;
	fab_ip6_linklocal(s, port, f->ip6[f->nip6]);
	f->prefix6[f->nip6++] = LINKLOCAL_PREFIX;
	if (!is_zero(p->ip6)) {
		memcpy(f->ip6[f->nip6], p->ip6, 16);
		f->prefix6[f->nip6++] = p->ip6_prefix;
	}
	return true;
}
