/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shared by the files that write a packet's bytes: link.c writes the headers before the BTH, pkt.c
 * the rest.
 */
#ifndef SOFTHCA_WIRE_PKT_PRIV_H
#define SOFTHCA_WIRE_PKT_PRIV_H

#include "wire/pkt/crc.h"
#include "wire/pkt/pkt.h"

/* The differences between link layers: a row each, indexed by pkt.eth. */
struct pkt_link {
	uint32_t header; /* octets in front of the network header */
	uint32_t check;  /* octets behind the ICRC */
	/* Fill in the header of a packet of `len` octets from the header to the ICRC. */
	void (*put)(const struct pkt *p, uint32_t len, uint8_t *h);
	/* Write the check behind `len` octets. */
	void (*put_check)(uint8_t *p, uint32_t len);
	/* The octets that the ICRC covers in front of the network header. */
	const uint8_t *(*lrh)(const uint8_t *h);
};
extern const struct pkt_link pkt_links[2];

/* Octets in front of the network header: the link's header, and the VLAN tag if there is one. */
static inline uint32_t pkt_front(const struct pkt_link *l, const struct pkt *p)
{
	return l->header + (p->tci ? PKT_VLAN : 0);
}

/* pkt_put_net() and the UDP header. */
void pkt_put_route(const struct pkt_route *r, uint32_t len, uint8_t *h);

#endif
