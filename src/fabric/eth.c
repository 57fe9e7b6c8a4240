/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns what Ethernet ports have of their own: MAC addresses, GID tables, links. Calls the segment
 * only; look-ups also run in a trap.
 */
#include "fabric/eth.h"

#include <errno.h>
#include <string.h>
#include "fabric/fabric.h"
#include "fabric/ifaddr.h"
#include "util/bits.h"
#include "wire/ib/gid.h"

void fab_eth_mac(uint32_t port, uint8_t mac[6])
{
	be16_store(mac, (uint16_t)(FAB_ETH_OUI >> 8));
	be32_store(mac + 2, (FAB_ETH_OUI & 0xff) << 24 | (port & 0xffffff));
}

void fab_eth_eui64(uint32_t port, uint8_t out[8])
{
	uint8_t mac[6];

	fab_eth_mac(port, mac);
	memcpy(out, mac, 3);
	out[0] ^= 2;
	out[3] = 0xff;
	out[4] = 0xfe;
	memcpy(out + 5, mac + 3, 3);
}

uint32_t fab_eth_addr(const uint8_t mac[6])
{
	uint32_t low = be32_load(mac + 2);
	bool ours = be16_load(mac) == FAB_ETH_OUI >> 8 && low >> 24 == (FAB_ETH_OUI & 0xff);

	return ours ? fab_eth_addr_of(low) : FAB_ETH_BIT;
}

/* iboe_get_mtu(): GRH, UDP, BTH, XRCETH, AtomicETH and ICRC. */
#define ROCE_HEADERS (40u + 8 + 12 + 4 + 28 + 4)

uint32_t fab_eth_ib_mtu(uint32_t if_mtu)
{
	uint32_t code = 5;

	while (code > 1 && 128u << code > if_mtu - ROCE_HEADERS)
		code--;
	return code;
}

static void gid_put(struct hw_port *to, uint32_t *n, const uint8_t gid[16])
{
	for (int type = HW_GID_ROCE_V1; type <= HW_GID_ROCE_V2 && *n < HW_GIDS; type++, ++*n) {
		memcpy(to->gid[*n], gid, 16);
		to->gid_type[*n] = (uint8_t)type;
	}
}

/* roce_gid_mgmt.c: the link-local address first, which Linux calls the default GID. */
bool fab_eth_gids(struct seg *s, uint32_t port)
{
	struct hw_port *p = hw_port(s, port), new = {0};
	uint32_t n = 0, ip = fab_ip4(s, port);
	uint8_t gid[16], ip4[4];
	bool same;

	if (!p || !hw_port_is_eth(p))
		return false;
	fab_ip6_linklocal(s, port, gid);
	gid_put(&new, &n, gid);
	if (ip) {
		be32_store(ip4, ip);
		ib_gid_of_ip4(ip4, gid);
		gid_put(&new, &n, gid);
	}
	if (be64_load(p->ip6) || be64_load(p->ip6 + 8))
		gid_put(&new, &n, p->ip6);
	same = !memcmp(p->gid, new.gid, sizeof(p->gid)) &&
	       !memcmp(p->gid_type, new.gid_type, sizeof(p->gid_type));
	memcpy(p->gid, new.gid, sizeof(p->gid));
	memcpy(p->gid_type, new.gid_type, sizeof(p->gid_type));
	return !same;
}

int fab_gid_find(const struct hw_port *p, const uint8_t gid[16], int type)
{
	for (uint32_t i = 0; i < hw_port_gids(p); i++)
		if (!memcmp(p->gid[i], gid, 16) && (type < 0 || p->gid_type[i] == type))
			return (int)i;
	return -1;
}

/* With the interface given every address is on the link: ip_route_output_key_hash_rcu(). */
static int neighbour4(struct seg *s, uint32_t port, uint32_t ip, uint32_t *to, uint8_t mac[6])
{
	*to = SEG_NONE;
	if (!ip) /* routed to the loopback, and no interface has it: rdma_set_src_addr_rcu() */
		return -ENODEV;
	if (fab_ip4_is_broadcast(s, port, ip))
		memset(mac, 0xff, 6);
	else
		*to = fab_port_by_ip4(s, ip);
	return 0;
}

/* addr_resolve(); an IPv6 address needs a subnet of the interface. */
int fab_eth_neighbour(struct seg *s, uint32_t port, const uint8_t ip[16], uint8_t mac[6])
{
	static const uint8_t none[6];
	uint32_t to;
	int r = 0;

	memset(mac, 0, 6);
	if (ib_gid_is_ip4(ip))
		r = neighbour4(s, port, be32_load(ip + 12), &to, mac);
	else if (fab_ip6_on_link(s, port, ip))
		to = fab_port_by_ip6(s, ip);
	else
		r = -ENETUNREACH;
	if (r || memcmp(mac, none, 6) != 0)
		return r;
	if (to == SEG_NONE || !hw_port_is_eth(hw_port(s, to)))
		return -ETIMEDOUT;
	fab_eth_mac(to, mac);
	return 0;
}

void fab_eth_init(struct seg *s, uint32_t port, uint32_t if_mtu)
{
	struct hw_port *p = hw_port(s, port);

	p->if_mtu = if_mtu;
	p->active_mtu = fab_eth_ib_mtu(if_mtu);
	if (p->active_mtu > p->max_mtu)
		p->active_mtu = p->max_mtu;
	p->state = IB_PORT_ACTIVE;
	p->phys_state = IB_PHYS_LINK_UP;
	p->lid = p->sm_lid = p->lmc = 0;
	p->cap_mask = FAB_ETH_CAP_MASK;
	fab_eth_gids(s, port);
}

int fab_eth_link(struct seg *s, uint32_t port, bool up)
{
	const struct hw_port *p = hw_port(s, port);

	if (!p || !hw_port_is_eth(p))
		return -EINVAL;
	return fab_port_set_state(s, port, up ? IB_PORT_ACTIVE : IB_PORT_DOWN);
}
