/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Notices: changes that a node reports to the subnet manager by MAD traps (IBA 13.4.9, 14.2.5.1).
 * The code that detects a change writes a notice into the segment, also in a trap of the data path.
 * The thread of the MAD that caused it sends it at its end, or the supervisor does; it is repeated
 * until the manager represses it.
 */
#ifndef SOFTHCA_FABRIC_NOTICE_H
#define SOFTHCA_FABRIC_NOTICE_H

#include "hw/fab.h"

/*
 * Each function sends a notice of the node that `port` belongs to (a switch sends from its port 0)
 * to the subnet manager. Without a LID of the port and of the manager nothing is sent. A notice
 * that waits for the manager's answer already is sent again instead of a second one.
 */
void fab_notice_link(struct seg *s, uint32_t port); /* 128, for switches only */
/* 129 to 131: TRAP_LINK_INTEGRITY, _BUFFER_OVERRUN, _FLOW_CONTROL of that port */
void fab_notice_port(struct seg *s, uint32_t port, uint32_t trap);
/* 144: the capability mask, or other changes by bits of LOCAL_* */
enum { FAB_LOCAL_NODE_DESC = 1 };
void fab_notice_local(struct seg *s, uint32_t port, uint32_t what);
/* 256: `mad` was discarded */
void fab_notice_mkey(struct seg *s, uint32_t port, const uint8_t *mad);
/* 257, 258: a packet with a wrong P_Key or Q_Key has arrived at `port`. */
struct fab_bad_key {
	uint32_t lid1, lid2; /* the packet's source and destination */
	uint32_t key, sl, qp1, qp2;
	const uint8_t *gid1, *gid2; /* NULL: no GRH */
};
void fab_notice_key(struct seg *s, uint32_t port, uint32_t trap, const struct fab_bad_key *k);

/* TrapRepress has arrived at the node. */
void fab_notice_repress(struct seg *s, uint32_t port, const uint8_t *mad);

/*
 * Sends a notice (80 bytes) from `port` to a subscriber, in a MAD of the SA, until
 * fab_notice_reported() or until it has been sent OpenSM's number of times.
 */
void fab_notice_report(struct seg *s, uint32_t port, uint32_t sub, const uint8_t *d);
/* ReportResp has arrived at `port` from a subscriber. False: it answers no report. */
bool fab_notice_reported(struct seg *s, uint32_t port, uint32_t from, const uint8_t *mad);

/* The supervisor calls it when a process has died: frees what that was making or freeing. */
void fab_notices_repair(struct seg *s);

/* Sends due notices (256 bytes, from `port` to `dlid`); returns the time of the next call. */
typedef void fab_notice_send(struct seg *s, uint32_t port, uint32_t dlid, const uint8_t *mad);
uint64_t fab_notices_run(struct seg *s, fab_notice_send *send);

#endif
