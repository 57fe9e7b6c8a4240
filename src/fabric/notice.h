/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Notices: what a node tells the subnet manager by traps (IBA 13.4.9, 14.2.5.1). Whoever sees that
 * something has happened writes a notice into the segment, also in a trap of the data path; it is
 * sent at the end of the MAD that made it happen, or by the supervisor, and again until the manager
 * represses it.
 */
#ifndef SOFTHCA_FABRIC_NOTICE_H
#define SOFTHCA_FABRIC_NOTICE_H

#include "hw/fab.h"

/*
 * `port`: any port of the node; of a switch its port 0 sends. Nothing is kept while no manager has
 * given the port a LID and its own. What is open already is sent again, not twice.
 */
void fab_notice_link(struct seg *s, uint32_t port); /* 128, for switches only */
/* 129 to 131: TRAP_LINK_INTEGRITY, _BUFFER_OVERRUN, _FLOW_CONTROL of that port */
void fab_notice_port(struct seg *s, uint32_t port, uint32_t trap);
/* 144: the capability mask; or, with bits of LOCAL_*, what else has changed */
enum { FAB_LOCAL_NODE_DESC = 1 };
void fab_notice_local(struct seg *s, uint32_t port, uint32_t what);
void fab_notice_sys_guid(struct seg *s, uint32_t port); /* 145 */
/* 256: `mad` was discarded */
void fab_notice_mkey(struct seg *s, uint32_t port, const uint8_t *mad);
/* 257, 258: a packet with a wrong P_Key or Q_Key has arrived at `port`. */
struct fab_bad_key {
	uint32_t lid1, lid2; /* where it comes from, and goes to */
	uint32_t key, sl, qp1, qp2;
	const uint8_t *gid1, *gid2; /* NULL: no GRH */
};
void fab_notice_key(struct seg *s, uint32_t port, uint32_t trap, const struct fab_bad_key *k);

/* TrapRepress has come to the node. */
void fab_notice_repress(struct seg *s, uint32_t port, const uint8_t *mad);
/* Sends what is due (256 bytes, from `port` to its manager); when to call it again. */
typedef void fab_notice_send(struct seg *s, uint32_t port, const uint8_t *mad);
uint64_t fab_notices_run(struct seg *s, fab_notice_send *send);

#endif
