/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The way of data packets: which ports they pass, what stops them there, and what they leave in the
 * ports' counters. For the engine, also in a trap.
 */
#ifndef SOFTHCA_FABRIC_PATH_H
#define SOFTHCA_FABRIC_PATH_H

#include "hw/fab.h"

/* Longer ones are walked anew for each message: the same answers, only slower. */
#define FAB_PATH_CABLES 12

/* What becomes of packets at the last cable of a path that ends before its destination. */
enum fab_lost {
	FAB_ARRIVES,
	FAB_LOST_UNSENT,   /* the sending port itself is not ACTIVE: nothing happens at all */
	FAB_LOST_INACTIVE, /* the last port cannot send: PortXmitDiscards */
	FAB_LOST_AWAY,     /* the port behind the cable is not who it is for */
	FAB_LOST_RELAY,    /* the last switch knows no way: PortRcvSwitchRelayErrors */
	FAB_LOST_LOOPING,  /* ... or it is out of the port that they came by */
};

struct fab_path {
	uint32_t to; /* SEG_T_PORT, SEG_NONE: lost */
	uint32_t from, dlid;
	uint16_t mtu;    /* octets: the least NeighborMTU on the way */
	uint8_t lost;    /* enum fab_lost */
	uint8_t n;       /* cables in `cable` */
	uint8_t more;    /* ... and more that are not */
	uint8_t enforce; /* a port of it looks at P_Keys */
	struct fab_cable {
		uint32_t out, in; /* SEG_T_PORT; `in` SEG_NONE: not sent */
	} cable[FAB_PATH_CABLES];
};

/* Packets of one message that go the same way. */
struct fab_pkts {
	uint64_t words; /* octets of all / 4, as PortXmitData counts them */
	uint32_t n;
	uint32_t payload; /* octets of the longest */
	uint16_t pkey;
	bool multicast;
};

/*
 * From port `from` to `dlid`, as things are now. Ports pass data that they send when they are
 * ACTIVE, and take what they receive from ARMED on (IBA 7.2.7).
 */
void fab_path(struct seg *s, uint32_t from, uint32_t dlid, struct fab_path *p);
/* Would they all arrive? */
bool fab_path_passes(const struct seg *s, const struct fab_path *p, const struct fab_pkts *k);
/* They have been sent: counted on each port as far as they came, and where they were lost. */
void fab_path_count(struct seg *s, const struct fab_path *p, const struct fab_pkts *k);

/*
 * Over the cable at port `out`: where they arrive, SEG_NONE when they do not. With `count` as they
 * pass, what became of them is counted.
 */
uint32_t fab_cable(struct seg *s, uint32_t out, const struct fab_pkts *k, bool count);

/*
 * Multicast, along the switches' tables: `end` for each adapter's or router's port where it arrives
 * (the sender's own is none of them), twice where tables lead there twice.
 */
typedef void fab_end(struct seg *s, uint32_t port, void *arg);
void fab_mcast(struct seg *s, uint32_t from, uint32_t mlid, const struct fab_pkts *k, bool count,
	       fab_end *end, void *arg);

#endif
