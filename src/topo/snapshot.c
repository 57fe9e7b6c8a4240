/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns reading the present subnet back from the segment: links that are up, LIDs and descriptions
 * as they are set. Calls the segment only.
 */
#include "topo/snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "fabric/fabric.h"
#include "fabric/ifaddr.h"
#include "hw/port.h"
#include "subnet/subnet.h"

void topo_node_id(const struct fab_node *n, char id[24])
{
	snprintf(id, 24, "%c-%016llx",
		 n->type == FAB_SWITCH ? 'S'
		 : n->type == FAB_CA   ? 'H'
				       : 'R',
		 (unsigned long long)n->guid);
}

struct reader {
	struct seg *s;
	uint32_t *number; /* per SEG_T_NODE: its number in the topology */
	/* Also cables whose links are down, and pulled ones: per SEG_T_PORT the peer of a pulled
	 * cable, 0 none. */
	bool all;
	const uint32_t *pulled;
};

/* SEG_NONE also for a port that is not there; compilers warn where this is not asked. */
static uint32_t cabled_to(const struct reader *r, uint32_t idx)
{
	const struct hw_port *p = hw_port(r->s, idx);

	return p ? atomic_load(&p->peer) : SEG_NONE;
}

/* The other end of the port's cable, or SEG_NONE. */
static uint32_t other_end(const struct reader *r, uint32_t idx)
{
	uint32_t peer;

	if (!r->all)
		return fab_peer(r->s, idx);
	peer = cabled_to(r, idx);
	if (peer != SEG_NONE || !r->pulled || !r->pulled[idx])
		return peer;
	/* The other port may have got another cable. */
	peer = r->pulled[idx];
	return r->pulled[peer] == idx && cabled_to(r, peer) == SEG_NONE ? peer : SEG_NONE;
}

static void read_port(const struct reader *r, uint32_t idx, struct topo_port *out)
{
	const struct hw_port *p = hw_port(r->s, idx);
	uint32_t peer = other_end(r, idx);
	const struct hw_port *to = peer == SEG_NONE ? NULL : hw_port(r->s, peer);

	out->guid = p->guid;
	out->lid = p->lid;
	out->lmc = p->lmc;
	out->peer_node = out->peer_port = TOPO_NONE;
	if (!to)
		return;
	out->width = p->width;
	out->speed = p->speed;
	out->peer_node = r->number[to->node];
	out->peer_port = to->num;
}

static void read_node(const struct reader *r, const struct fab_node *n, struct topo_node *out)
{
	struct seg *s = r->s;

	out->type = (enum topo_type)n->type;
	out->nports = n->nports;
	out->guid = n->guid;
	out->sys_guid = n->sys_guid;
	out->vendor_id = n->vendor_id;
	out->device_id = n->device_id;
	out->revision = n->revision;
	out->host = TOPO_NONE;
	if (n->type == FAB_CA && hw_port_is_eth(hw_port(s, n->port0 + 1)))
		out->link = TOPO_LINK_ETH;
	memcpy(out->desc, n->desc, sizeof(n->desc));
	/*
	 * A description is one line of a topology file: replace control characters by blanks, as
	 * ibnetdiscover does (clean_nodedesc()).
	 */
	for (char *c = out->desc; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = ' ';
	topo_node_id(n, out->id);
	out->port[0].peer_node = out->port[0].peer_port = TOPO_NONE;
	if (n->type == FAB_SWITCH)
		out->enhanced_port0 = fab_switch(s, n->sw)->enhanced_port0;
	for (uint32_t p = n->type == FAB_SWITCH ? 0 : 1; p <= n->nports; p++)
		read_port(r, n->port0 + p, &out->port[p]);
}

static void read_interface(struct seg *s, uint32_t at, uint32_t node, uint32_t port, struct topo *t)
{
	struct fab_given a[FAB_IF_ADDRS];
	uint32_t n = fab_at_place(at) && !fab_at_vlan(s, at) ? 0 : fab_if_given(s, at, a);

	for (uint32_t j = 0; j < n; j++) {
		struct topo_ip *ip = &t->ip[t->nips++];

		*ip = (struct topo_ip){.node = node, .port = port, .vlan = fab_at_vlan(s, at)};
		ip->addr.len = a[j].len;
		ip->addr.prefix = a[j].prefix;
		memcpy(ip->addr.ip, a[j].ip, sizeof(ip->addr.ip));
	}
}

/* The addresses that were given, and the VLANs; the others are a rule. */
static int read_addresses(struct seg *s, const uint32_t *number, struct topo *t)
{
	size_t room = 0;

	seg_for_each_live (s, SEG_T_PORT, i)
		room += FAB_IF_ADDRS + HW_VLANS;
	t->ip = calloc(room + 1, sizeof(*t->ip));
	if (!t->ip)
		return -ENOMEM;
	seg_for_each_live (s, SEG_T_NODE, i) {
		const struct fab_node *node = fab_node(s, i);

		for (uint32_t k = 1; node->type == FAB_CA && k <= node->nports; k++)
			for (uint32_t place = 0; place <= HW_VLANS; place++)
				read_interface(s, fab_at(node->port0 + k, place), number[i], k, t);
	}
	return 0;
}

static int read_nodes(struct reader *r, struct topo *t)
{
	struct seg *s = r->s;
	struct topo_port *port;
	size_t ports = 0;

	*t = (struct topo){0};
	r->number = calloc(seg_table(s, SEG_T_NODE)->high + 1, sizeof(*r->number));
	if (!r->number)
		return -ENOMEM;
	seg_for_each_live (s, SEG_T_NODE, i) {
		r->number[i] = t->nnodes++;
		ports += fab_node(s, i)->nports + 1;
	}
	t->node = calloc(t->nnodes + 1, sizeof(*t->node));
	port = calloc(ports + 1, sizeof(*port));
	if (!t->node || !port || read_addresses(s, r->number, t) < 0) {
		free(port);
		free(t->node);
		*t = (struct topo){0};
		return -ENOMEM;
	}
	t->world = fab_subnet(s)->world;
	t->node[0].port = port;
	seg_for_each_live (s, SEG_T_NODE, i) {
		struct topo_node *n = &t->node[r->number[i]];

		n->port = port;
		port += fab_node(s, i)->nports + 1;
		read_node(r, fab_node(s, i), n);
	}
	return 0;
}

int topo_snapshot(struct seg *s, struct topo *t)
{
	struct reader r = {.s = s};
	int ret = read_nodes(&r, t);

	free(r.number);
	return ret;
}

/* ---- with the state of ports */

/* Names of hosts, and the host of each adapter. */
static int read_hosts(struct reader *r, struct topo *t)
{
	struct seg *s = r->s;
	uint32_t *number = calloc(seg_table(s, SEG_T_HOST)->high + 1, sizeof(*number));

	t->host = calloc(seg_table(s, SEG_T_HOST)->high + 1, sizeof(*t->host));
	if (!number || !t->host) {
		free(number);
		return -ENOMEM;
	}
	seg_for_each_live (s, SEG_T_HOST, i) {
		const struct hw_host *h = seg_at(s, SEG_T_HOST, i);

		memcpy(t->host[t->nhosts], h->name, sizeof(h->name));
		number[i] = t->nhosts++;
	}
	seg_for_each_live (s, SEG_T_NODE, i) {
		const struct fab_node *n = fab_node(s, i);
		const struct hw_hca *h = n->hca == SEG_NONE ? NULL : hw_hca(s, n->hca);

		if (h)
			t->node[r->number[i]].host = number[h->host];
	}
	free(number);
	return 0;
}

static void read_state(const struct reader *r, uint32_t idx, struct picture_port *out)
{
	const struct hw_port *p = hw_port(r->s, idx);
	struct fab_counters c;

	fab_port_counters(r->s, idx, &c);
	out->state = atomic_load(&p->state);
	out->phys = atomic_load(&p->phys_state);
	out->pulled = atomic_load(&p->peer) == SEG_NONE;
	out->n[PICTURE_XMIT_DATA] = c.n[HW_CTR_XMIT_DATA];
	out->n[PICTURE_RCV_DATA] = c.n[HW_CTR_RCV_DATA];
	out->n[PICTURE_XMIT_PKTS] = c.n[HW_CTR_XMIT_PKTS];
	out->n[PICTURE_RCV_PKTS] = c.n[HW_CTR_RCV_PKTS];
	out->n[PICTURE_XMIT_DISCARDS] = c.n[HW_CTR_XMIT_DISCARDS];
	/* As sysfs and perfquery show them: tools and the console can set them. */
	fab_pma_counters(r->s, idx, &c);
#define READ_ERROR(name, text) out->err[PICTURE_ERR_##name] = c.n[HW_CTR_##name];
	PICTURE_ERRORS(READ_ERROR)
}

static void read_states(const struct reader *r, struct picture *p)
{
	seg_for_each_live (r->s, SEG_T_NODE, i) {
		const struct fab_node *n = fab_node(r->s, i);
		uint32_t node = r->number[i];

		if (n->hca != SEG_NONE && hw_hca(r->s, n->hca))
			fab_hca_name(r->s, hw_hca(r->s, n->hca), p->node[node].device);
		for (uint32_t k = 1; k <= n->nports; k++)
			read_state(r, n->port0 + k, picture_port(p, node, k));
	}
}

int topo_snapshot_picture(struct seg *s, const uint32_t *pulled, struct topo *t, struct picture *p)
{
	struct reader r = {.s = s, .all = true, .pulled = pulled};
	int ret = read_nodes(&r, t);

	*p = (struct picture){0};
	if (!ret)
		ret = read_hosts(&r, t);
	if (!ret)
		ret = picture_init(p, t);
	if (!ret)
		read_states(&r, p);
	else
		topo_free(t);
	free(r.number);
	return ret;
}
