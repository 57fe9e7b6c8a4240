/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A subnet as plain data: the content of a topology file or the result of a generator, before it
 * becomes a segment. src/topo makes it in ordinary memory, fab_create() reads it; no behaviour
 * here.
 */
#ifndef SOFTHCA_FABRIC_TOPO_H
#define SOFTHCA_FABRIC_TOPO_H

#include <stdint.h>
#include "hw/setting.h"

#define TOPO_NONE UINT32_MAX
#define TOPO_MAX_PORTS 254 /* ports of a switch, without port 0 */
#define TOPO_DESC 64       /* octets of a NodeDescription */

/* As NodeInfo:NodeType. */
enum topo_type { TOPO_CA = 1, TOPO_SWITCH = 2, TOPO_ROUTER = 3 };

/*
 * Fields that are 0 are filled in by fab_create(): GUIDs from the node's number, the rest from the
 * device.
 */
struct topo_port {
	uint64_t guid;                 /* for CA and router ports, and port 0 of a switch */
	uint32_t lid, lmc;             /* requested by the file; the built-in SM keeps it */
	uint32_t peer_node, peer_port; /* the other end; TOPO_NONE: no cable */
	uint32_t width, speed;         /* link values, codes of hw_port; equal at both ends */
};

/* The link layer of an adapter's ports; by default the fabric's. */
enum topo_link { TOPO_LINK_DEFAULT, TOPO_LINK_IB, TOPO_LINK_ETH };

struct topo_node {
	enum topo_type type;
	enum topo_link link; /* CAs */
	uint32_t nports;     /* without port 0 */
	uint64_t guid, sys_guid;
	uint32_t vendor_id, device_id, revision;
	uint32_t enhanced_port0;  /* switches */
	uint32_t host;            /* CAs: index in topo.host */
	char desc[TOPO_DESC + 1]; /* NodeDescription; a CA's first word names its host */
	char id[65];              /* name in the topology file ("S-0002c9...", ibsim's name) */
	struct topo_port *port;   /* [0, nports] */
};

struct topo_addr {
	uint32_t len, prefix; /* octets of the address, 4 or 16; bits of its subnet */
	uint8_t ip[16];       /* in network byte order */
};

/* An address of the interface of a CA's port. */
struct topo_ip {
	uint32_t vlan; /* VLAN ID of the interface; 0: the port's own */
	uint32_t node, port;
	struct topo_addr addr;
};

struct topo {
	uint32_t nnodes, nhosts, nips;
	struct topo_node *node;
	/* Hosts in the order of their first mention: names for `run --host`. */
	char (*host)[32];
	struct topo_ip *ip; /* addresses of one node are together, in the order of the nodes */
	struct hw_world world;
};

#endif
