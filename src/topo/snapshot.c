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

void topo_node_id(const struct fab_node *n, char id[24])
{
	snprintf(id, 24, "%c-%016llx",
		 n->type == FAB_SWITCH ? 'S'
		 : n->type == FAB_CA   ? 'H'
				       : 'R',
		 (unsigned long long)n->guid);
}

static void read_port(struct seg *s, uint32_t idx, const uint32_t *number, struct topo_port *out)
{
	const struct hw_port *p = hw_port(s, idx);
	uint32_t peer = fab_peer(s, idx);
	const struct hw_port *to = peer == SEG_NONE ? NULL : hw_port(s, peer);

	out->guid = p->guid;
	out->lid = p->lid;
	out->lmc = p->lmc;
	out->peer_node = out->peer_port = TOPO_NONE;
	if (!to)
		return;
	out->width = p->width;
	out->speed = p->speed;
	out->peer_node = number[to->node];
	out->peer_port = to->num;
}

static void read_node(struct seg *s, const struct fab_node *n, const uint32_t *number,
		      struct topo_node *out)
{
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
	topo_node_id(n, out->id);
	out->port[0].peer_node = out->port[0].peer_port = TOPO_NONE;
	if (n->type == FAB_SWITCH)
		out->enhanced_port0 = fab_switch(s, n->sw)->enhanced_port0;
	for (uint32_t p = n->type == FAB_SWITCH ? 0 : 1; p <= n->nports; p++)
		read_port(s, n->port0 + p, number, &out->port[p]);
}

/* The addresses that were given; the others are a rule. */
static int read_addresses(struct seg *s, const uint32_t *number, struct topo *t)
{
	size_t room = 0;

	seg_for_each_live (s, SEG_T_PORT, i)
		room += hw_port(s, i)->naddrs ? FAB_IF_ADDRS : 0;
	t->ip = calloc(room + 1, sizeof(*t->ip));
	if (!t->ip)
		return -ENOMEM;
	seg_for_each_live (s, SEG_T_NODE, i) {
		const struct fab_node *node = fab_node(s, i);

		for (uint32_t k = 1; node->type == FAB_CA && k <= node->nports; k++) {
			struct fab_given a[FAB_IF_ADDRS];
			uint32_t n = fab_if_given(s, node->port0 + k, a);

			for (uint32_t j = 0; j < n; j++) {
				struct topo_ip *ip = &t->ip[t->nips++];

				*ip = (struct topo_ip){.node = number[i], .port = k};
				ip->addr.len = a[j].len;
				ip->addr.prefix = a[j].prefix;
				memcpy(ip->addr.ip, a[j].ip, sizeof(ip->addr.ip));
			}
		}
	}
	return 0;
}

int topo_snapshot(struct seg *s, struct topo *t)
{
	uint32_t high = seg_table(s, SEG_T_NODE)->high, *number = calloc(high + 1, sizeof(*number));
	struct topo_port *port;
	size_t ports = 0;

	*t = (struct topo){0};
	seg_for_each_live (s, SEG_T_NODE, i) {
		if (number)
			number[i] = t->nnodes;
		t->nnodes++;
		ports += fab_node(s, i)->nports + 1;
	}
	t->node = calloc(t->nnodes + 1, sizeof(*t->node));
	port = calloc(ports + 1, sizeof(*port));
	if (!number || !t->node || !port || read_addresses(s, number, t) < 0) {
		free(number);
		free(port);
		free(t->node);
		*t = (struct topo){0};
		return -ENOMEM;
	}
	t->node[0].port = port;
	seg_for_each_live (s, SEG_T_NODE, i) {
		struct topo_node *n = &t->node[number[i]];

		n->port = port;
		port += fab_node(s, i)->nports + 1;
		read_node(s, fab_node(s, i), number, n);
	}
	free(number);
	return 0;
}
