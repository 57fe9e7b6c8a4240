/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by tests of this folder: a small subnet without a subnet manager. */
#ifndef SOFTHCA_FABRIC_TEST_NET_H
#define SOFTHCA_FABRIC_TEST_NET_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <infiniband/verbs.h>

#include "fabric/fabric.h"
#include "subnet/mad.h"
#include "hw/port.h"
#include "subnet/subnet.h"
#include "util/test_cmocka.h"

/* h1 -1- S0 -2-1- S1 -2-1- S2 -2- h2; switches of 4 ports. Node i is SEG_T_NODE i. */
enum { H1 = 1, S0, S1, S2, H2, NET_NODES = 5, NET_PORTS = 4 };

static struct seg net;

static void net_cable(struct topo_node *n, uint32_t a, uint32_t pa, uint32_t b, uint32_t pb)
{
	n[a - 1].port[pa].peer_node = b - 1;
	n[a - 1].port[pa].peer_port = pb;
	n[b - 1].port[pb].peer_node = a - 1;
	n[b - 1].port[pb].peer_port = pa;
}

/* Build the subnet in an empty segment. */
static inline int net_fill(struct seg *s, uint32_t no_sm)
{
	static struct topo_port port[NET_NODES][NET_PORTS + 1];
	static char host[2][32] = {"h1", "h2"};
	struct topo_node node[NET_NODES] = {0};
	const struct topo t = {.nnodes = NET_NODES, .nhosts = 2, .node = node, .host = host};
	const struct fab_options o = {.no_sm = no_sm,
				      .caps.link_speed = 64,
				      .caps.link_width = 2,
				      .caps.max_mtu = IBV_MTU_4096};

	memset(port, 0, sizeof(port));
	for (uint32_t i = 0; i < NET_NODES; i++) {
		bool ca = i + 1 == H1 || i + 1 == H2;

		node[i].type = ca ? TOPO_CA : TOPO_SWITCH;
		node[i].nports = ca ? 1 : NET_PORTS;
		node[i].host = i + 1 == H2;
		node[i].port = port[i];
		for (uint32_t p = 0; p <= NET_PORTS; p++)
			port[i][p].peer_node = TOPO_NONE;
	}
	net_cable(node, H1, 1, S0, 1);
	net_cable(node, S0, 2, S1, 1);
	net_cable(node, S1, 2, S2, 1);
	net_cable(node, S2, 2, H2, 1);
	return fab_build(s, &t, &o);
}

static inline int net_make(uint32_t no_sm)
{
	memset(&net, 0, sizeof(net));
	return seg_create(&net, "test") || net_fill(&net, no_sm);
}

static inline int net_bare(void **state)
{
	return net_make(1);
}

static inline int net_managed(void **state)
{
	return net_make(0);
}

static inline int net_drop(void **state)
{
	seg_unmap(&net);
	return 0;
}

static inline uint32_t net_port(uint32_t node, uint32_t num)
{
	return fab_node_port(fab_node(&net, node), num);
}

static inline struct hw_port *net_at(uint32_t port)
{
	struct hw_port *p = hw_port(&net, port);

	if (!p)
		abort();
	return p;
}

/* The LID of a node's port (of a switch: 0). */
static inline uint16_t net_lid(uint32_t node)
{
	return (uint16_t)net_at(net_port(node, node == H1 || node == H2))->lid;
}

#endif
