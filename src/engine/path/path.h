/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A message as packets over the subnet (address.c). link.h has the link layers, cause.h the words
 * for what did not arrive.
 */
#ifndef SOFTHCA_ENGINE_PATH_H
#define SOFTHCA_ENGINE_PATH_H

#include "engine/move/move.h"

/*
 * Does the peer (r->dest), on that path of it, accept the P_Key, or the Q_Key, of r->qp's packets?
 * If not, its port counts them and sends a notice to the subnet manager (257, 258).
 */
bool way_pkey_match(struct eng_run *r, const struct hw_qp_path *w);
bool way_qkey_match(struct eng_run *r, const struct hw_qp *peer, uint32_t qkey);

/* The source LID of packets that r->qp sends. */
uint32_t way_slid(const struct eng_run *r, uint32_t path_bits);
uint32_t way_path_bits(const struct hw_qp *qp, const struct hw_qp_path *w);
struct way_to {
	uint32_t dlid;       /* or an Ethernet address */
	const uint8_t *dgid; /* destination GID; NULL: packets have no GIDs */
	enum pkt_net net;
	uint32_t vlan;  /* 0: none */
	uint32_t index; /* Ethernet: of our own GID */
};

/* The destination of a connected QP, r->qp or its peer. */
struct way_to way_of(const struct eng_run *r, const struct hw_qp *qp);
/* Is the packet lost on a path with a router, as nothing routes its version or its address? */
bool way_needs_router(const struct seg *s, const struct fab_path *path, const struct way_to *to);
/*
 * Find the path out of that QP's port: true if it leads to a port that has the GID, if one is
 * given. Packets with a GRH follow their LID, too; without one (LID 0) they stay in their port.
 */
bool way_find(const struct eng_run *r, const struct hw_qp *qp, const struct way_to *to,
	      struct fab_path *path);
/* Send the packets of the current request, with all its memory in r->local. */
void way_request(struct eng_run *r, const struct eng_op *op, struct fab_pkts *k);
/* Count the packets of the answer on r->back. A plain acknowledgement is not counted. */
void way_count_answer(struct eng_run *r, const struct eng_op *op, const struct hw_qp *peer);
/*
 * Count packets of a peer with tag matching: way_count_fetch() its READ of `len` bytes and the
 * answer, way_count_fin() its FIN.
 */
void way_count_fetch(struct eng_run *r, const struct hw_qp *peer, uint32_t len);
void way_count_fin(struct eng_run *r, const struct hw_qp *peer);

#endif
