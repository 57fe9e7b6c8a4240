/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns what programs see of an interface (struct fab_iface). Calls the segment only. */
#include "fabric/priv.h"

#include <linux/if.h>
#include <linux/if_arp.h>
#include <stdio.h>
#include <string.h>
#include "fabric/eth.h"
#include "fabric/fabric.h"
#include "hw/world.h"
#include "util/bits.h"
#include "wire/ib/gid.h"
#include "wire/ib/link.h"

#define LINKLOCAL_PREFIX 64u
#define IPOIB_HEADER 4u
#define IPOIB_MTU 2048u /* MTU of the broadcast group, unless the port's is smaller */
/* QPN in an IPoIB hardware address. Programs never get it: IPoIB makes the driver's first QPs. */
#define IPOIB_QPN 0x40u
#define IPOIB_QUEUE 256u  /* ipoib_setup_common(): twice the send queue */
#define ETHER_QUEUE 1000u /* DEFAULT_TX_QUEUE_LEN */

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
	for (uint32_t i = 0; i < HW_VLANS; i++)
		f->vlans |= (p->vlan[i] != 0) << i;
}

/* vlan_setup(), vlan_dev_init(): as the device below; VLAN_NAME_TYPE_RAW_PLUS_VID_NO_PAD. */
static void fill_vlan(struct seg *s, uint32_t at, uint32_t n, struct fab_iface *f)
{
	f->vlan = fab_at_vlan(s, at);
	f->vlans = 0;
	f->link = f->index;
	f->index = fab_if_index(s, at);
	snprintf(f->name, sizeof(f->name), FAB_IF_ETH_STEM "%u.%u", n % FAB_IF_PORTS,
		 f->vlan & 0xfff);
	f->parent[0] = '\0';
}

/* Gb/s times ten of a lane are rounded as a card's name says them: 50 for HDR. */
static int32_t speed_of(const struct hw_port *p)
{
	const struct ib_width *w = ib_width(p->width);
	const struct ib_speed *v = ib_speed(p->speed);

	return w && v ? (int32_t)(v->lane_gb10 * w->lanes * 100) : -1;
}

static void fill_ip4(struct seg *s, uint32_t at, struct fab_iface *f)
{
	struct if_ip4 a[FAB_IF_ADDRS];
	uint32_t n = if_all4(s, at, a);

	for (int secondary = 0; secondary <= 1; secondary++)
		for (uint32_t i = 0; i < n; i++) {
			if (if_is_secondary(a, i) != secondary)
				continue;
			be32_store(f->ip4[f->nip4], a[i].ip);
			f->prefix4[f->nip4++] = (uint8_t)a[i].prefix;
		}
}

static void fill_ip6(struct seg *s, uint32_t at, struct fab_iface *f)
{
	const struct hw_addr *a[HW_ADDRS];
	uint32_t n = if_given(s, at, a);

	if (hw_setting(s, HW_SET_ADDRS) != HW_ADDRS_ABSENT) {
		fab_ip6_linklocal(s, at, f->ip6[f->nip6]);
		f->prefix6[f->nip6++] = LINKLOCAL_PREFIX;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (ib_gid_is_ip4(a[i]->ip))
			continue;
		memcpy(f->ip6[f->nip6], a[i]->ip, 16);
		f->prefix6[f->nip6++] = (uint8_t)a[i]->prefix;
	}
}

bool fab_iface(struct seg *s, uint32_t at, struct fab_iface *f)
{
	uint32_t port = fab_at_port(at);
	const struct hw_port *p = fab_at_hw(s, at);
	uint32_t n = p && p->hca != SEG_NONE && hw_hca_is_in(s, p->hca) ? fab_umad_index(s, port)
									: SEG_NONE;
	bool up;

	memset(f, 0, sizeof(*f));
	if (n == SEG_NONE || (at != port && !fab_at_vlan(s, at)))
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
	if (at != port)
		fill_vlan(s, at, n, f);
	fill_ip4(s, at, f);
	fill_ip6(s, at, f);
	return true;
}
