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
#include "hw/qp.h"
#include "hw/world.h"
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

#define WANTED_MAX (2 * FAB_IF_ADDRS + HW_VLANS + FAB_GUESTS)
struct wanted {
	uint8_t gid[16];
	uint32_t vlan;
};

/* Fills in the GIDs of an interface's addresses, the link-local one first; returns their number. */
static uint32_t wanted_at(struct seg *s, uint32_t at, struct wanted *w)
{
	struct fab_iface f;
	uint32_t n = 0;

	if (!fab_iface(s, at, &f))
		return 0;
	/* from the MAC address, whether the interface has it or not: make_default_gid() */
	fab_ip6_linklocal(s, at, w[n++].gid);
	for (uint32_t i = 0; i < fab_guests(s, at); i++) {
		uint8_t ip[4];

		be32_store(ip, fab_guest_ip4(s, at, i));
		ib_gid_of_ip4(ip, w[n++].gid);
	}
	for (uint32_t i = 0; i < f.nip4; i++)
		ib_gid_of_ip4(f.ip4[i], w[n++].gid);
	for (uint32_t i = 0; i < f.nip6; i++)
		if (memcmp(f.ip6[i], w[0].gid, 16) != 0)
			memcpy(w[n++].gid, f.ip6[i], 16);
	for (uint32_t i = 0; i < n; i++)
		w[i].vlan = f.vlan;
	return n;
}

/* VLANs' interfaces have entries in their port's table: is_eth_port_of_netdev_filter(). */
static uint32_t wanted(struct seg *s, uint32_t port, struct wanted w[WANTED_MAX])
{
	uint32_t n = 0;

	for (uint32_t place = 0; place <= HW_VLANS; place++)
		n += wanted_at(s, fab_at(port, place), w + n);
	return n;
}

/* del_gid(): the entry of an address that is gone is not used again while a QP refers to it. */
static bool gid_is_held(const struct seg *s, uint32_t port, uint32_t index)
{
	seg_for_each_live (s, SEG_T_QP, i) {
		const struct hw_qp *qp = seg_at(s, SEG_T_QP, i);

		if (hw_qp_path(qp)->port == port && hw_qp_path(qp)->grh &&
		    hw_qp_path(qp)->sgid_index == index)
			return true;
	}
	return false;
}

static bool gid_put(struct seg *s, uint32_t port, const uint8_t gid[16], uint16_t kind)
{
	static const uint8_t none[16];
	struct hw_port *p = hw_port(s, port);

	for (uint32_t i = 0; i < hw_port_gids(p); i++) {
		if (memcmp(hw_gid(p, i), none, 16) != 0 || gid_is_held(s, port, i))
			continue;
		*hw_gid_kind_at(p, i) = kind;
		memcpy(hw_gid(p, i), gid, 16);
		return true;
	}
	return false; /* as on a kernel, the address has no entry then */
}

static bool is_wanted(const uint8_t gid[16], uint32_t kind, const struct wanted *w, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (!memcmp(gid, w[i].gid, 16) && hw_gid_vlan(kind) == w[i].vlan)
			return true;
	return false;
}

/* The types of each address's entries in their order, up to a 0. */
static const enum hw_gid_type gid_types[][3] = {
	[HW_GID_TYPES_BOTH] = {HW_GID_ROCE_V1, HW_GID_ROCE_V2},
	[HW_GID_TYPES_V2] = {HW_GID_ROCE_V2},
	[HW_GID_TYPES_V2_FIRST] = {HW_GID_ROCE_V2, HW_GID_ROCE_V1},
};

/* ib_cache_gid_add(), ib_cache_gid_del(): an address takes the first free entries. */
uint32_t fab_eth_gids(struct seg *s, uint32_t port)
{
	static const uint8_t none[16];
	struct hw_port *p = hw_port(s, port);
	struct wanted w[WANTED_MAX];
	const enum hw_gid_type *types = gid_types[hw_setting(s, HW_SET_GID_TYPES)];
	uint32_t n, changes = 0;

	if (!p || !hw_port_is_eth(p))
		return 0;
	n = wanted(s, port, w);
	for (uint32_t i = 0; i < hw_port_gids(p); i++) {
		uint8_t *gid = hw_gid(p, i);
		uint16_t *kind = hw_gid_kind_at(p, i);

		if (!memcmp(gid, none, 16) || is_wanted(gid, *kind, w, n))
			continue;
		*kind = 0;
		memset(gid, 0, 16);
		changes++;
	}
	for (uint32_t i = 0; i < n; i++)
		for (const enum hw_gid_type *type = types; *type; type++) {
			uint16_t kind = hw_gid_kind(*type, w[i].vlan);

			if (fab_gid_find(p, w[i].gid, kind) < 0)
				changes += gid_put(s, port, w[i].gid, kind);
		}
	return changes;
}

int fab_gid_find(const struct hw_port *p, const uint8_t gid[16], int kind)
{
	for (uint32_t i = 0; i < hw_port_gids(p); i++)
		if (!memcmp(hw_gid(p, i), gid, 16) && (kind < 0 || *hw_gid_kind_at(p, i) == kind))
			return (int)i;
	return -1;
}

/*
 * ip_route_output_key_hash_rcu(): if the caller names the interface, every address is on its link.
 */
static int neighbour4(struct seg *s, uint32_t at, uint32_t ip, uint32_t *to, uint8_t mac[6])
{
	*to = SEG_NONE;
	if (!ip) /* routed to the loopback, and no interface has it: rdma_set_src_addr_rcu() */
		return -ENODEV;
	if (fab_ip4_is_broadcast(s, at, ip))
		memset(mac, 0xff, 6);
	else
		*to = fab_port_by_ip4(s, ip);
	if (*to == SEG_NONE)
		*to = fab_port_by_guest(s, ip);
	return 0;
}

/* The interface of every VLAN of a port has a link-local address. */
static bool is_in_vlan(const struct seg *s, uint32_t to, const uint8_t ip[16], uint32_t vlan)
{
	if (!hw_port_is_eth(fab_at_hw(s, to)))
		return false;
	if (ib_gid_is_linklocal(ip))
		return fab_at_by_vlan(s, fab_at_port(to), vlan) != SEG_NONE;
	return fab_at_vlan(s, to) == vlan;
}

/* addr_resolve(); an IPv6 address needs a subnet of the interface. */
int fab_eth_neighbour(struct seg *s, uint32_t at, const uint8_t ip[16], uint8_t mac[6])
{
	static const uint8_t none[6];
	uint32_t to;
	int r = 0;

	memset(mac, 0, 6);
	if (at == SEG_NONE) /* the VLAN's interface was removed; the GID table follows soon */
		return -ENODEV;
	if (ib_gid_is_ip4(ip))
		r = neighbour4(s, at, be32_load(ip + 12), &to, mac);
	else if (fab_ip6_on_link(s, at, ip))
		to = fab_port_by_ip6(s, ip);
	else
		r = -ENETUNREACH;
	if (r || memcmp(mac, none, 6) != 0)
		return r;
	if (to == SEG_NONE || !is_in_vlan(s, to, ip, fab_at_vlan(s, at)))
		return -ETIMEDOUT;
	fab_eth_mac(fab_at_port(to), mac);
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
