/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The path of data packets: the ports on it, the checks that drop packets, and their effect on the
 * ports' counters. For the engine, also in a trap.
 */
#ifndef SOFTHCA_FABRIC_PATH_H
#define SOFTHCA_FABRIC_PATH_H

#include "hw/fab.h"

/* Longer paths are walked anew for each message, with the same result, only slower. */
#define FAB_PATH_CABLES 12

/* The fate of packets at the last cable of a path that ends before its destination. */
enum fab_lost {
	FAB_ARRIVES,
	FAB_LOST_UNSENT,   /* the sending port itself is not ACTIVE: no packet, no count */
	FAB_LOST_INACTIVE, /* the last port cannot send: PortXmitDiscards */
	FAB_LOST_AWAY,     /* the port behind the cable does not have the destination LID */
	FAB_LOST_RELAY,    /* the last switch has no route to it: PortRcvSwitchRelayErrors */
	FAB_LOST_LOOPING,  /* ... or its route is the port where they arrived */
	FAB_LOST_ON_WIRE,  /* Ethernet: sent, but no port with a link has that MAC address */
};

struct fab_path {
	uint32_t to;         /* SEG_T_PORT, SEG_NONE: lost */
	uint32_t from, dlid; /* dlid: or an Ethernet address, FAB_ETH_ADDR() */
	uint16_t mtu;        /* octets: the least NeighborMTU on the path */
	uint8_t lost;        /* enum fab_lost */
	uint8_t n;           /* cables in `cable` */
	uint8_t more;        /* number of further cables, which `cable` has no room for */
	uint8_t enforce;     /* some port on the path checks P_Keys */
	struct fab_cable {
		uint32_t out, in; /* SEG_T_PORT; `in` SEG_NONE: the port could not send */
	} cable[FAB_PATH_CABLES];
};

/* Packets of one message that take the same path. */
struct fab_pkts {
	uint64_t words; /* sum of their octets / 4, as PortXmitData counts them */
	uint32_t n;
	uint32_t payload; /* octets of the longest packet */
	uint16_t pkey;
	bool multicast;
};

/*
 * The path from port `from` to `dlid` (a LID, or on Ethernet fab_eth_addr()) at present. Ports send
 * data when they are ACTIVE, and accept it from ARMED on (IBA 7.2.7).
 */
void fab_path(struct seg *s, uint32_t from, uint32_t dlid, struct fab_path *p);
/* Would all packets arrive? */
bool fab_path_passes(const struct seg *s, const struct fab_path *p, const struct fab_pkts *k);
/* The port of an open path that stops them, or SEG_NONE; *why: the counter for that (HW_CTR_*). */
uint32_t fab_path_stops(const struct seg *s, const struct fab_path *p, const struct fab_pkts *k,
			uint32_t *why);
/* What such a counter says: by its table of P_Keys, or else its MTU; and which way. */
static inline bool fab_stops_pkey(uint32_t why)
{
	return why == HW_CTR_XMIT_CONSTRAINT || why == HW_CTR_RCV_CONSTRAINT;
}
static inline const char *fab_stops_side(uint32_t why)
{
	return why == HW_CTR_XMIT_CONSTRAINT || why == HW_CTR_XMIT_DISCARDS ? "outwards"
									    : "inwards";
}
/*
 * Where the path loses them: port, direction and rule, in words ("at switch S1/3, inwards: no route
 * to LID 9"). "": nowhere.
 */
void fab_path_say(const struct seg *s, const struct fab_path *p, const struct fab_pkts *k,
		  char *text, size_t size);
/* Counts packets at their destination only. */
void fab_count_received(const struct seg *s, uint32_t port, const struct fab_pkts *k);
/* Count sent packets on each port that they reached, and their loss where they were lost. */
void fab_path_count(struct seg *s, const struct fab_path *p, const struct fab_pkts *k);

/*
 * Sends them over the cable at port `out`: returns the port where they arrive, or SEG_NONE. With
 * `count` it counts them, and their loss.
 */
uint32_t fab_cable(struct seg *s, uint32_t out, const struct fab_pkts *k, bool count);

/*
 * Multicast, along the switches' tables: calls `end` for each adapter's or router's port where the
 * packet arrives (except the sender's own), twice where tables lead there twice.
 */
typedef void fab_end(struct seg *s, uint32_t port, void *arg);
void fab_mcast(struct seg *s, uint32_t from, uint32_t mlid, const struct fab_pkts *k, bool count,
	       fab_end *end, void *arg);

#endif
