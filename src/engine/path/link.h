/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The differences between link layers: one row each, selected by hw_port.link of the requester's
 * port. The engine's code asks the row (eng_run.link), never which link layer it is.
 */
#ifndef SOFTHCA_ENGINE_LINK_H
#define SOFTHCA_ENGINE_LINK_H

#include "engine/path/path.h"
#include "hw/port.h"
#include "wire/pkt/pkt.h"

/* Ports of some members of a multicast group, and whether a datagram reaches each. */
#define ENG_REACH_MAX 64
struct eng_reach {
	uint32_t n;
	uint64_t got;
	uint32_t port[ENG_REACH_MAX];
};

enum eng_count_how {
	ENG_COUNT_FIRST, /* the group's first ports: at the sender, too */
	ENG_COUNT_MORE,  /* further ports */
	ENG_COUNT_NOT,   /* ports where an earlier attempt has counted it */
};

struct eng_link {
	uint32_t headers; /* octets that counters count in front of the network header */
	/* An address vector has on Ethernet the priority above the lowest bit (create_ib_ah()). */
	uint32_t sl_shift;

	/* The destination in an address vector; net is none without GIDs. */
	void (*av)(const struct eng_run *r, const uint8_t *av, struct way_to *to);
	/*
	 * For packets with GIDs: the network header that the GID table's entry `sgid_index` means.
	 */
	enum pkt_net (*net)(const struct hw_port *own, uint32_t sgid_index);
	/* Does the port `at`, where such packets arrive, accept them? */
	bool (*accepts)(const struct hw_port *at, const struct way_to *to);
	/* Does the QP `peer` accept such packets? Its own path has GIDs, too. */
	bool (*expects)(const struct eng_run *r, const struct hw_qp *peer);

	/* The message's origin in the CQE of its receive, at port `at`; sl or the priority. */
	void (*cqe)(const struct eng_run *r, const struct hw_port *at, uint32_t path_bits,
		    uint32_t dlid, uint32_t sl, uint8_t *cqe);
	/* Finds which ports of `x` the datagram reaches, and counts it where it passes. */
	void (*reach)(struct eng_run *r, const uint8_t *av, const struct fab_pkts *k,
		      enum eng_count_how how, struct eng_reach *x);

	/*
	 * For captures: addresses of the packets of a connected QP, and of a datagram. False: it
	 * sends none.
	 */
	bool (*frame)(const struct hw_port *own, const struct hw_qp *qp, const struct hw_qp_path *w,
		      struct pkt *p);
	bool (*frame_av)(const struct hw_port *own, const struct hw_qp *qp, const uint8_t *av,
			 struct pkt *p);
};

extern const struct eng_link eng_links[2];

static inline const struct eng_link *eng_link(const struct hw_port *own)
{
	return &eng_links[own && hw_port_is_eth(own)];
}

uint64_t reach_bit(const struct eng_reach *x, uint32_t port);
/* The network header's fields, from an address vector. */
void link_route_av(const struct hw_port *own, enum pkt_net net, const uint8_t *av,
		   struct pkt_route *to);

#endif
