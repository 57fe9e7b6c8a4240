/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One sweep of the built-in subnet manager: between sm.c and sm_route.c only. */
#ifndef SOFTHCA_SUBNET_SWEEP_H
#define SOFTHCA_SUBNET_SWEEP_H

#include "fabric/fabric.h"

#define SWEEP_NO_SWITCH UINT16_MAX
#define SWEEP_FAR UINT16_MAX

/*
 * Switches numbered from 0, their cables to other switches, and every end port (of adapters, and
 * switches' port 0) with its LID.
 */
struct sweep {
	struct seg *s;
	uint32_t nsw, nends;
	uint32_t *sw_node; /* [nsw] SEG_T_NODE */
	uint16_t *of_node; /* [nodes] number of the switch */
	uint32_t *first;   /* [nsw + 1] where its cables begin */
	uint16_t *to;      /* other ends, by cable */
	uint8_t *port;     /* our ends */
	uint32_t *load;    /* LIDs sent there */
	uint32_t *end;     /* [nends] SEG_T_PORT */
	uint16_t *end_sw;  /* [nends] the switch it is on */
	uint8_t *end_port; /* ... and that switch's port to it; 0 its own */
	/* End ports by switch: those of switch i are by_sw[at[i]] to by_sw[at[i + 1] - 1]. */
	uint32_t *at, *by_sw;
	uint16_t *lid; /* [nends] in the order of by_sw, and how many: ports are far apart */
	uint16_t *nlids;
	uint16_t *order; /* [nsw] the roots of the parts, and what is farther and farther away */
	uint16_t *rank;  /* [nsw] place in `order` */
	uint16_t *hops;  /* [nsw] scratch: to the switch that is looked at */
	uint16_t *queue; /* [nsw] scratch */
	uint8_t *down;   /* [nsw] scratch: its way only goes down */
	uint8_t *what;   /* [nends] enum fab_change */
	uint8_t *live;   /* [FAB_LIDS] there is a port with that LID, and a link to it */
	uint32_t top;    /* highest LID */
	bool updn;       /* see sweep_routes() */
};

/*
 * Forwarding tables of all switches, and the tree for groups (fab_switch.tree_up). Ways are the
 * shortest (min-hop), the LIDs of a switch's ports spread over the cables that begin one. Where
 * packets that wait for each other's buffers could close a circle (credit loop: the channels of
 * all shortest ways between adapters, each followed by the next, form a cycle, as in rings and
 * tori) all ways go up a tree and then down it (up/down). 0 or -ENOMEM.
 */
int sweep_routes(struct sweep *w);

#endif
