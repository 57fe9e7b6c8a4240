/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One sweep of the built-in subnet manager. Shared by sm*.c only. */
#ifndef SOFTHCA_SUBNET_SWEEP_H
#define SOFTHCA_SUBNET_SWEEP_H

#include "fabric/fabric.h"

#define SWEEP_NO_SWITCH UINT16_MAX
#define SWEEP_FAR UINT16_MAX
#define SWEEP_LEADS_MAX (160u << 20) /* octets */

/*
 * Switches numbered from 0, their cables to other switches, and every end port (of adapters, and
 * switches' port 0) with its LID.
 */
struct sweep {
	struct seg *s;
	uint32_t nsw, nends;
	uint32_t *sw_node; /* [nsw] SEG_T_NODE */
	uint16_t *of_node; /* [nodes] number of the switch */
	uint32_t *first;   /* [nsw + 1] index of its first cable */
	uint16_t *to;      /* other ends, by cable */
	uint8_t *port;     /* port numbers at this end, by cable */
	uint32_t *end;     /* [nends] SEG_T_PORT */
	uint16_t *end_sw;  /* [nends] the switch that it is connected to */
	uint8_t *end_port; /* ... and that switch's port to it; 0: the switch's own */
	/* End ports by switch: those of switch i are by_sw[at[i]] to by_sw[at[i + 1] - 1]. */
	uint32_t *at, *by_sw;
	/* The LIDs of the ends at switch i are lids[lids_at[i]] to lids[lids_at[i + 1] - 1]. */
	uint16_t *lids;    /* [FAB_LIDS] */
	uint8_t *lid_port; /* [FAB_LIDS] the port of its switch that leads to the LID's end */
	uint32_t *lids_at; /* [nsw + 1] */
	uint16_t *nth;     /* [nsw] number among the switches with adapters, or among the others */
	uint8_t *tier;     /* [nsw] distance to the next switch with adapters */
	uint16_t *order;   /* [nsw] the root of each connected part, then by distance */
	uint16_t *rank;    /* [nsw] position in `order` */
	uint16_t *hops;  /* [nsw] scratch: distance from each switch to the one under examination */
	uint16_t *queue; /* [nsw] scratch */
	uint8_t *down;   /* [nsw] scratch: the switch's path only goes down */
	uint8_t *what;   /* [nends] enum fab_change: changes to report */
	uint8_t *live;   /* [FAB_LIDS] a port with that LID exists, and has a link */
	uint32_t top;    /* highest LID */
	bool updn;       /* see sweep_routes() */
	uint32_t turn;   /* fab_subnet.tables_turn with the tables that this sweep finds or sets */
	/* [sweep_waves()][cables] struct wave.leads of all waves; NULL: too large */
	uint64_t *leads;
	size_t leads_size; /* octets */
};

static inline bool sweep_has_adapters(const struct sweep *w, uint32_t sw)
{
	/* The switch's own port is the last of its ends. */
	return w->at[sw + 1] - w->at[sw] > 1;
}
/* The number of waves (wave.h), which lead to 64 switches each. */
static inline uint32_t sweep_waves(const struct sweep *w)
{
	return (w->nsw + 63) / 64;
}
static inline uint64_t *sweep_leads(const struct sweep *w, uint32_t wave)
{
	return w->leads + (size_t)wave * w->first[w->nsw];
}

/*
 * Sets the forwarding tables of all switches, and the tree for groups (fab_switch.tree_up). Where
 * the tables are still as `last` (may be NULL) has set them, only differences are set. Paths are
 * the shortest (min-hop); the LIDs of a switch's ports are spread over the parallel first cables.
 * If packets that wait for each other's buffers could deadlock (credit loop: the channels of all
 * shortest paths between adapters form a cycle, as in rings and tori), all paths go up a tree and
 * then down it (up/down). 0 or -ENOMEM.
 */
int sweep_routes(struct sweep *w, const struct sweep *last);

#endif
