/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns making a subnet in an empty segment, from a description (topo.h), or a plain one: hosts
 * behind the smallest number of switches that suffices. It starts in the state of hardware at
 * power-on: cables are plugged, ports are in INIT without LIDs; a subnet manager does the rest. The
 * supervisor and tests call it.
 */
#include "fabric/eth.h"
#include "fabric/fabric.h"
#include "fabric/ifaddr.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "hw/hca.h"
#include "hw/port.h"
#include "hw/world.h"
#include "util/cleanup.h"
#include "subnet/subnet.h"
#include "util/bits.h"
#include "util/heap.h"
#include "wire/ib/link.h"

/*
 * EUI-64 GUIDs: a locally administered prefix (bit 1 of the first octet is set, so that no vendor's
 * GUID is equal), then host, device and port. The same options give the same GUIDs in every fabric.
 */
#define GUID_PREFIX UINT64_C(0x5a17ca0300000000)
#define GUID_SWITCH UINT64_C(0x0000000080000000) /* set in switches, which have no host number */

#define VENDOR_ID 0x0002c9
#define SWITCH_DEVICE_ID 0xd2f0 /* Quantum */
#define SWITCH_REVISION 0xa0

/* PortInfo:CapabilityMask without an SM, for a ConnectX port and for a switch's port 0. */
#define PORT_CAP_MASK 0x2651e848u
#define PORT0_CAP_MASK 0x4250c848u

#define VL_CAP_CA 3     /* code: virtual lanes 0 to 3 */
#define VL_CAP_SWITCH 4 /* code: virtual lanes 0 to 7 */

#define MAX_HOSTS 0x7fffu /* 15 bits of the GUID */

static uint64_t hca_guid(uint32_t host_no, uint32_t dev_index)
{
	return GUID_PREFIX | (uint64_t)(host_no & MAX_HOSTS) << 16 |
	       (uint64_t)(dev_index & 0xff) << 8;
}

static void port_fill(struct hw_port *p, const struct topo_port *t, const struct fab_options *o)
{
	p->width = t->width ? t->width : o->caps.link_width;
	p->speed = t->speed ? t->speed : o->caps.link_speed;
	p->active_mtu = p->max_mtu = o->caps.max_mtu;
	p->gid_prefix = UINT64_C(0xfe80000000000000);
	p->peer = SEG_NONE;
	p->hca = SEG_NONE;
	p->state = IB_PORT_DOWN;
	p->phys_state = IB_PHYS_POLLING;
	p->lid = t->lid;
	p->lmc = t->lmc;
	p->width_sup = p->width_en = (uint8_t)(p->width | IB_WIDTH_1X);
	/*
	 * PortInfo has no code for XDR. FDR10 is a vendor extension: set for ports without a better
	 * speed.
	 */
	p->speed = p->speed > IB_SPEED_NDR ? IB_SPEED_NDR : p->speed;
	p->speed_sup = p->speed_en = (uint8_t)(p->speed | (p->speed - 1));
	if (p->speed != IB_SPEED_FDR10)
		p->speed_sup = p->speed_en = (uint8_t)(p->speed_sup & ~IB_SPEED_FDR10);
	p->down_default = IB_PHYS_POLLING;
	p->op_vls = p->vl_cap = VL_CAP_CA;
}

/* A worse cable narrows both ends; a switch that can do less does so at every training. */
static void link_limit(const struct seg *s, struct hw_port *p, enum topo_type type)
{
	uint32_t mtu = hw_setting(s, HW_SET_MTU), width = hw_setting(s, HW_SET_WIDTH);
	uint32_t speed = hw_setting(s, HW_SET_SPEED);

	if (type == TOPO_SWITCH && mtu && mtu < p->max_mtu)
		p->active_mtu = p->max_mtu = mtu;
	if (width)
		p->width = width;
	if (speed)
		p->speed = speed;
	if (type == TOPO_SWITCH && width)
		p->width_sup = p->width_en = (uint8_t)width;
	if (type == TOPO_SWITCH && speed)
		p->speed_sup = p->speed_en = (uint8_t)speed;
}

/* Is the port one without a cable? */
static bool is_dark(const struct seg *s, uint32_t port)
{
	const struct hw_port *p = hw_port(s, port);
	const struct hw_hca *hca = p->hca == SEG_NONE ? NULL : seg_at(s, SEG_T_HCA, p->hca);
	uint32_t dark = hca ? hw_setting(s, HW_SET_DARK) : HW_DARK_NONE;

	return (dark == HW_DARK_FIRST_HCA && !hca->dev_index) ||
	       (dark == HW_DARK_FIRST_PORT && p->num == 1);
}

/*
 * An address that came first and is gone leaves free entries in the GID table, before those of the
 * others.
 */
static void addrs_fill(struct seg *s, uint32_t port)
{
	static const uint8_t gone[16] = {0xfd, 0x5a, 0x17, 0xca, [15] = 1};
	uint32_t like = hw_setting(s, HW_SET_ADDRS), ip4 = fab_ip4(s, port);
	bool holes = hw_setting(s, HW_SET_GID_HOLES);
	uint8_t ip[16] = {0xfd, 0x5a, 0x17, 0xca, 0, 3};

	if (hw_port(s, port)->hca == SEG_NONE || (!like && !holes))
		return;
	fab_if_clear4(s, port);
	if (holes)
		fab_if_add(s, port, gone, 16, 64);
	be32_store(ip + 12, ip4);
	if (like == HW_ADDRS_IP6)
		fab_if_add(s, port, ip, 16, 64);
	if (like == HW_ADDRS_IP4)
		fab_if_add(s, port, ip + 12, 4, 16);
	if (holes)
		fab_if_del(s, port, gone, 16, 64);
}

/* A VLAN's interface has an address of its own: 127.1.0.1 has 127.101.0.1 beside it. */
static void vlan_fill(struct seg *s, uint32_t port)
{
	uint32_t id = hw_setting(s, HW_SET_VLAN), ip4 = fab_ip4(s, port);
	uint8_t ip[4], own[4];

	if (!id || fab_vlan_add(s, port, id))
		return;
	be32_store(ip, ip4 + (100 << 16));
	be32_store(own, ip4);
	/* Its entries come first: the interface got its address later. */
	fab_if_clear4(s, port);
	fab_if_set(s, fab_at_by_vlan(s, port, id), ip, 4, 16);
	fab_if_add(s, port, own, 4, 16);
}

/* An adapter's P_Key table at power-on; a switch has the default one. */
static void pkeys_fill(const struct seg *s, struct hw_port *p, enum topo_type type)
{
	static const uint16_t tables[][2] = {
		[HW_PKEYS_DEFAULT] = {0xffff},
		[HW_PKEYS_SHIFTED] = {HW_PKEY_FULL, 0xffff},
		[HW_PKEYS_LIMITED] = {0x7fff, HW_PKEY_FULL},
		[HW_PKEYS_NO_DEFAULT] = {HW_PKEY_FULL, 0x7fff},
	};
	uint32_t like = type == TOPO_CA && p->link == HW_LINK_IB ? hw_setting(s, HW_SET_PKEYS) : 0;

	memcpy(p->pkey, tables[like], sizeof(tables[like]));
}

static enum hw_link link_of(const struct topo_node *t, const struct fab_options *o)
{
	if (t->type != TOPO_CA)
		return HW_LINK_IB;
	if (t->link == TOPO_LINK_DEFAULT)
		return o->link;
	return t->link == TOPO_LINK_ETH ? HW_LINK_ETH : HW_LINK_IB;
}

static void port_guid(struct hw_port *p, uint64_t guid)
{
	p->guid = guid;
	be64_store(p->gid[0], p->gid_prefix);
	be64_store(p->gid[0] + 8, guid);
}

/* Of Ethernet ports; before they have addresses. */
static int gids_create(struct seg *s, struct hw_port *p)
{
	uint32_t i;
	int r;

	if (p->link != HW_LINK_ETH || !hw_setting(s, HW_SET_GIDS))
		return 0;
	r = seg_alloc(s, SEG_T_GIDS, SEG_OWNER_DEVICE, &i);
	if (!r)
		p->more_gids = (int64_t)((uintptr_t)seg_at(s, SEG_T_GIDS, i) - (uintptr_t)p);
	return r;
}

/* Make the table elements of a node's ports, consecutively. */
static int ports_create(struct seg *s, uint32_t node_idx, const struct topo_node *t,
			const struct fab_options *o, uint32_t *next)
{
	struct fab_node *n = seg_at(s, SEG_T_NODE, node_idx);
	uint32_t first = t->type == TOPO_SWITCH ? 0 : 1;

	n->port0 = *next - first;
	for (uint32_t num = first; num <= t->nports; num++, (*next)++) {
		struct hw_port *p;

		if (seg_alloc_at(s, SEG_T_PORT, SEG_OWNER_DEVICE, *next))
			return -ENOSPC;
		p = seg_at(s, SEG_T_PORT, *next);
		p->num = num;
		p->node = node_idx;
		port_fill(p, &t->port[num], o);
		p->link = link_of(t, o);
		p->routed = p->link == HW_LINK_ETH && o->world.value[HW_SET_ROUTED] == HW_ROUTED;
		if (t->type == TOPO_CA && !p->lid && !p->lmc)
			p->lmc = hw_setting(s, HW_SET_LMC);
		pkeys_fill(s, p, t->type);
		link_limit(s, p, t->type);
		if (gids_create(s, p))
			return -ENOSPC;
	}
	return 0;
}

static int switch_create(struct seg *s, uint32_t node_idx, const struct topo_node *t, uint32_t no)
{
	struct fab_node *n = seg_at(s, SEG_T_NODE, node_idx);
	struct fab_switch *sw;
	struct hw_port *p;
	int r = seg_alloc(s, SEG_T_SWITCH, SEG_OWNER_DEVICE, &n->sw);

	if (r)
		return r;
	sw = seg_at(s, SEG_T_SWITCH, n->sw);
	sw->node = node_idx;
	sw->tree_up = SEG_NONE;
	sw->enhanced_port0 = t->enhanced_port0;
	n->device_id = t->device_id ? t->device_id : SWITCH_DEVICE_ID;
	n->revision = t->revision ? t->revision : SWITCH_REVISION;
	n->guid = t->guid ? t->guid : GUID_PREFIX | GUID_SWITCH | (uint64_t)no << 8;
	p = seg_at(s, SEG_T_PORT, n->port0);
	p->cap_mask = PORT0_CAP_MASK;
	for (uint32_t i = 0; i <= t->nports; i++)
		p[i].op_vls = p[i].vl_cap = VL_CAP_SWITCH;
	/* The port to the switch itself has no cable; a base port 0 has no states either. */
	p->state = t->enhanced_port0 ? IB_PORT_INIT : IB_PORT_ACTIVE;
	p->phys_state = IB_PHYS_LINK_UP;
	port_guid(p, t->port[0].guid ? t->port[0].guid : n->guid);
	return 0;
}

static int hca_create(struct seg *s, uint32_t node_idx, const struct topo_node *t,
		      uint32_t host_idx, const struct fab_options *o)
{
	struct fab_node *n = seg_at(s, SEG_T_NODE, node_idx);
	struct hw_host *host = seg_at(s, SEG_T_HOST, host_idx);
	struct hw_hca *hca;
	int r;

	if (host->nhcas == sizeof(host->hca) / sizeof(host->hca[0]) || t->nports > HW_MAX_PORTS)
		return -EINVAL;
	r = seg_alloc(s, SEG_T_HCA, SEG_OWNER_DEVICE, &n->hca);
	if (r)
		return r;
	hca = seg_at(s, SEG_T_HCA, n->hca);
	hca->node = node_idx;
	hca->model = o->model;
	hca->caps = o->caps;
	hca->crypto = o->crypto;
	hca->host = host_idx;
	hca->dev_index = host->nhcas;
	hca->nports = t->nports;
	n->guid = t->guid ? t->guid : hca_guid(t->host + 1, hca->dev_index);
	n->device_id = t->device_id ? t->device_id : o->caps.pci_device;
	n->revision = t->revision ? t->revision : o->caps.hw_rev;
	hca->node_guid = n->guid;
	hca->sys_image_guid = t->sys_guid ? t->sys_guid : n->guid;
	hca->vhca_id = n->hca;
	hca->next_uid = 1;
	for (uint32_t i = 0; i < HW_COMP_VECTORS; i++)
		hca->eqn[i] = SEG_NONE; /* filled in by the firmware's CREATE_EQ */
	for (uint32_t i = 0; i < HW_MAX_PORTS; i++) {
		hca->port[i] = i < t->nports ? n->port0 + i + 1 : SEG_NONE;
		if (i < t->nports) {
			struct hw_port *p = seg_at(s, SEG_T_PORT, hca->port[i]);

			p->hca = n->hca;
			if (hw_port_is_eth(p)) {
				p->guid = n->guid + i;
				continue;
			}
			p->cap_mask = PORT_CAP_MASK;
			port_guid(p, t->port[i + 1].guid ? t->port[i + 1].guid : n->guid + i);
		}
	}
	host->hca[host->nhcas++] = n->hca;
	return 0;
}

/* An end node whose ports lead out of the subnet; no program runs on it. */
static void router_create(struct seg *s, uint32_t node_idx, const struct topo_node *t)
{
	struct fab_node *n = seg_at(s, SEG_T_NODE, node_idx);

	n->device_id = t->device_id;
	n->revision = t->revision;
	n->guid = t->guid;
	for (uint32_t num = 1; num <= t->nports; num++) {
		struct hw_port *p = seg_at(s, SEG_T_PORT, n->port0 + num);

		p->cap_mask = PORT_CAP_MASK;
		port_guid(p, t->port[num].guid);
	}
}

/* The description's node i is element i + 1, whatever is left out. */
static int node_create(struct seg *s, uint32_t idx, const struct topo_node *t, const uint32_t *host,
		       const struct fab_options *o, uint32_t *next_port, uint32_t *switches)
{
	struct fab_node *n;
	int r = seg_alloc_at(s, SEG_T_NODE, SEG_OWNER_DEVICE, idx);

	if (r)
		return r;
	n = seg_at(s, SEG_T_NODE, idx);
	n->type = t->type;
	n->nports = t->nports;
	n->hca = n->sw = SEG_NONE;
	n->vendor_id = t->vendor_id ? t->vendor_id : VENDOR_ID;
	n->partition_cap = HW_PKEYS;
	memcpy(n->desc, t->desc, sizeof(n->desc));
	r = ports_create(s, idx, t, o, next_port);
	if (r)
		return r;
	if (t->type == TOPO_SWITCH)
		r = switch_create(s, idx, t, ++*switches);
	else if (t->type == TOPO_CA)
		r = hca_create(s, idx, t, host[t->host], o);
	else
		router_create(s, idx, t);
	n->sys_guid = t->sys_guid ? t->sys_guid : n->guid;
	return r;
}

/* A cable of an adapter may come later: sup_world_run(). */
static void plug(struct seg *s, uint32_t a, uint32_t b)
{
	bool late = hw_setting(s, HW_SET_LATE_MS);

	if (late && hw_port(s, a)->hca != SEG_NONE)
		hw_port(s, a)->late = b;
	else if (late && hw_port(s, b)->hca != SEG_NONE)
		hw_port(s, b)->late = a;
	else
		fab_plug(s, a, b);
}

static void plug_all(struct seg *s, const struct topo *t)
{
	for (uint32_t i = 0; i < t->nnodes; i++) {
		const struct fab_node *n = fab_node(s, i + 1);

		for (uint32_t num = 1; n && num <= n->nports; num++) {
			const struct topo_port *p = &t->node[i].port[num];
			const struct fab_node *to;

			if (p->peer_node == TOPO_NONE)
				continue;
			to = fab_node(s, p->peer_node + 1);
			if (is_dark(s, n->port0 + num) || is_dark(s, to->port0 + p->peer_port))
				continue;
			/* The loop sees each cable twice. Ethernet ports have none (fab_plug()). */
			if (p->peer_node > i || (p->peer_node == i && p->peer_port > num))
				plug(s, n->port0 + num, to->port0 + p->peer_port);
		}
	}
}

/* A subnet without adapters counts as InfiniBand. */
static bool has_ib(const struct topo *t, const struct fab_options *o)
{
	bool any = false;

	for (uint32_t i = 0; i < t->nnodes; i++) {
		if (t->node[i].type == TOPO_CA && link_of(&t->node[i], o) == HW_LINK_IB)
			return true;
		any |= t->node[i].type == TOPO_CA;
	}
	return !any && o->link == HW_LINK_IB;
}

static void eth_link_init(struct seg *s, uint32_t port)
{
	bool late = hw_setting(s, HW_SET_LATE_MS), dark = is_dark(s, port);

	if (!hw_port_is_eth(hw_port(s, port)) || (!late && !dark))
		return;
	fab_eth_link(s, port, false);
	if (!dark)
		hw_port(s, port)->late = port;
}

/* rdma-ndd's description has the device's name, which the world may have changed. */
static void describe(struct seg *s, uint32_t hca)
{
	const struct hw_hca *h = hw_hca(s, hca);
	const struct hw_host *host = seg_live(s, SEG_T_HOST, h->host);
	char usual[TOPO_DESC], name[FAB_HCA_NAME];
	struct fab_node *n = seg_at(s, SEG_T_NODE, h->node);

	snprintf(usual, sizeof(usual), "%.31s mlx5_%u", host->name, h->dev_index);
	if (hw_setting(s, HW_SET_NAMES) && !strncmp(n->desc, usual, sizeof(n->desc)))
		snprintf(n->desc, sizeof(n->desc), "%.31s %s", host->name,
			 fab_hca_name(s, h, name));
}

/*
 * Which numbers objects get (HW_SET_NUMBERS): QPNs and keys that are not ascending have their
 * highest bit set, too.
 */
#define HIGH_QPNS 0xeff800u /* all of them are below 0xffffff, a group's */
#define HIGH_KEYS 0xc00000u
static void number(struct seg *s, const struct hw_world *w)
{
	static const enum seg_table_id tables[] = {SEG_T_PD,  SEG_T_MKEY, SEG_T_CQ,
						   SEG_T_SRQ, SEG_T_QP,   SEG_T_XRCD};

	for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
		seg_table(s, tables[i])->sparse = w->value[HW_SET_NUMBERS];
	if (w->value[HW_SET_NUMBERS] != HW_NUMBERS_SPARSE)
		return;
	seg_shift(s, SEG_T_QP, HIGH_QPNS);
	seg_shift(s, SEG_T_AHEAD, HIGH_QPNS);
	seg_shift(s, SEG_T_MKEY, HIGH_KEYS);
}

int fab_build(struct seg *s, const struct topo *t, const struct fab_options *o)
{
	uint32_t next_port = 1, switches = 0;
	bool none = o->world.value[HW_SET_ADAPTERS] == HW_HAS_NOT;
	bool ib = !none && has_ib(t, o);
	struct fab_subnet *sub;
	uint32_t *host;
	int r;

	r = seg_alloc_at(s, SEG_T_SUBNET, SEG_OWNER_DEVICE, FAB_SUBNET);
	if (r)
		return r;
	sub = fab_subnet(s);
	sub->sm_state = o->no_sm || !ib ? FAB_SM_OFF : FAB_SM_MASTER;
	sub->sm_port = SEG_NONE;
	sub->world = o->world;
	number(s, &o->world);
	host = heap_zalloc((t->nhosts + 1) * sizeof(*host));
	if (!host)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->nhosts && !r; i++) {
		r = seg_alloc(s, SEG_T_HOST, SEG_OWNER_DEVICE, &host[i]);
		if (!r)
			memcpy(((struct hw_host *)seg_at(s, SEG_T_HOST, host[i]))->name, t->host[i],
			       sizeof(t->host[i]));
	}
	/* A segment joins all Ethernet ports: where there are no others, switches are left out. */
	for (uint32_t i = 0; i < t->nnodes && !r && !none; i++)
		if (ib || t->node[i].type == TOPO_CA)
			r = node_create(s, i + 1, &t->node[i], host, o, &next_port, &switches);
	heap_free(host);
	if (r)
		return r;
	seg_for_each_live (s, SEG_T_PORT, i)
		if (hw_port_is_eth(hw_port(s, i)))
			fab_eth_init(s, i, o->if_mtu);
	seg_for_each_live (s, SEG_T_HCA, i)
		describe(s, i);
	seg_for_each_live (s, SEG_T_PORT, i) {
		if (hw_port_is_eth(hw_port(s, i)))
			vlan_fill(s, i);
		addrs_fill(s, i);
		eth_link_init(s, i);
	}
	if (!ib)
		return 0;
	plug_all(s, t);
	if (!o->no_sm && o->ipoib && fab_ipoib_group(s, o->caps.max_mtu))
		return -ENOSPC;
	if (o->no_sm)
		return 0;
	return o->kept ? fab_sm_sweep_kept(s, o->kept) : fab_sm_sweep(s);
}

/* ---- the plain subnet: hosts of equal adapters, all on one switch, or on a tree of two levels */

#define LEAF_PORTS 200u /* ports of a leaf switch for adapters */

struct plain {
	struct topo t;
	struct topo_port *port; /* ports of all nodes */
	uint32_t ports_used, leaves, per_leaf;
};

static uint32_t radix(uint32_t ports)
{
	static const uint32_t usual[] = {36, 64, 128, TOPO_MAX_PORTS};
	uint32_t i = 0;

	while (usual[i] < ports)
		i++;
	return usual[i];
}

static struct topo_node *add_node(struct plain *b, enum topo_type type, uint32_t nports)
{
	struct topo_node *n = &b->t.node[b->t.nnodes++];

	n->type = type;
	n->nports = nports;
	n->port = b->port + b->ports_used;
	b->ports_used += nports + 1;
	for (uint32_t i = 0; i <= nports; i++)
		n->port[i].peer_node = TOPO_NONE;
	return n;
}

static void cable(struct plain *b, uint32_t na, uint32_t pa, uint32_t nb, uint32_t pb)
{
	b->t.node[na].port[pa].peer_node = nb;
	b->t.node[na].port[pa].peer_port = pb;
	b->t.node[nb].port[pb].peer_node = na;
	b->t.node[nb].port[pb].peer_port = pa;
}

static void add_hosts(struct plain *b, const struct fab_options *o)
{
	uint32_t leaf0 = o->hosts * o->hcas, n = 0;
	bool rails = o->world.value[HW_SET_RAILS];

	for (uint32_t h = 0; h < o->hosts; h++) {
		snprintf(b->t.host[h], sizeof(b->t.host[h]), "h%u", h + 1);
		for (uint32_t d = 0; d < o->hcas; d++) {
			struct topo_node *ca = add_node(b, TOPO_CA, o->ports);

			ca->host = h;
			if (o->world.value[HW_SET_LINKS] == HW_LINKS_MIXED)
				ca->link = d % 2 ? TOPO_LINK_ETH : TOPO_LINK_IB;
			/* The name that rdma-ndd would give: "<host> <device>". */
			snprintf(ca->desc, sizeof(ca->desc), "h%u mlx5_%u", h + 1, d);
		}
	}
	for (uint32_t l = 0; l < b->leaves; l++)
		snprintf(add_node(b, TOPO_SWITCH, radix(b->per_leaf + (b->leaves > 1)))->desc,
			 TOPO_DESC, "softhca switch %u", l + 1);
	for (uint32_t ca = 0; ca < leaf0; ca++)
		for (uint32_t p = 1; p <= o->ports; p++, n++)
			if (rails)
				cable(b, ca, p, leaf0 + ca % o->hcas, ca / o->hcas * o->ports + p);
			else
				cable(b, ca, p, leaf0 + n / b->per_leaf, 1 + n % b->per_leaf);
	if (b->leaves == 1 || rails)
		return;
	snprintf(add_node(b, TOPO_SWITCH, radix(b->leaves))->desc, TOPO_DESC, "softhca root");
	for (uint32_t l = 0; l < b->leaves; l++)
		cable(b, leaf0 + l, b->per_leaf + 1, leaf0 + b->leaves, l + 1);
}

int fab_create(struct seg *s, const struct fab_options *o)
{
	const struct hw_host *none = NULL;
	struct plain b = {0};
	uint32_t ports, nodes;
	int r = -ENOMEM;

	if (o->hosts < 1 || o->hosts > MAX_HOSTS || o->hcas < 1 ||
	    o->hcas > sizeof(none->hca) / sizeof(none->hca[0]) || o->ports < 1 ||
	    o->ports > HW_MAX_PORTS)
		return -EINVAL;
	ports = o->hosts * o->hcas * o->ports;
	b.per_leaf = ports <= TOPO_MAX_PORTS ? ports : LEAF_PORTS;
	b.leaves = (ports + b.per_leaf - 1) / b.per_leaf;
	if (o->world.value[HW_SET_RAILS]) {
		b.leaves = o->hcas;
		b.per_leaf = o->hosts * o->ports;
	}
	if (b.leaves > TOPO_MAX_PORTS || b.per_leaf > TOPO_MAX_PORTS)
		return -ENOSPC;
	nodes = o->hosts * o->hcas + b.leaves + 1;
	b.t.nhosts = o->hosts;
	b.t.host = heap_zalloc(sizeof(*b.t.host) * o->hosts);
	b.t.node = heap_zalloc(sizeof(*b.t.node) * nodes);
	b.port = heap_zalloc(sizeof(*b.port) * (2 * ports + (b.leaves + 1) * (TOPO_MAX_PORTS + 1)));
	if (b.t.host && b.t.node && b.port) {
		add_hosts(&b, o);
		r = fab_build(s, &b.t, o);
	}
	heap_free(b.t.host);
	heap_free(b.t.node);
	heap_free(b.port);
	return r;
}
