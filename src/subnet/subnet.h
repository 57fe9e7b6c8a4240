/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What manages a subnet: making one, the built-in subnet manager, subnet management packets,
 * groups, and the counters as the performance agent tells them.
 */
#ifndef SOFTHCA_SUBNET_SUBNET_H
#define SOFTHCA_SUBNET_SUBNET_H

#include "fabric/fabric.h"

struct fab_options {
	/* For fab_create(). */
	uint32_t hosts; /* >= 1; named h1, h2, ... */
	uint32_t hcas;  /* per host, 1..16 */
	uint32_t ports; /* per HCA, 1..HW_MAX_PORTS */
	enum hw_model model;
	uint32_t link_speed, link_width; /* hw_port codes, from the capability table */
	uint32_t max_mtu;                /* IBV code; also the active one */
	uint32_t device_id, hw_rev;      /* NodeInfo */
	uint32_t no_sm;                  /* ports stay in INIT: somebody else manages the subnet */
};

/*
 * Fill an empty segment with hosts whose adapters are on one switch (or a tree of them). EQs are
 * left to fw_hca_init(). With the built-in SM all ports are ACTIVE then, LIDs from 1, adapters
 * first. 0, -EINVAL, -ENOSPC, -ENOMEM.
 */
int fab_create(struct seg *s, const struct fab_options *o);
/* The same from a description; hosts, hcas and ports of `o` do not matter. */
int fab_build(struct seg *s, const struct topo *t, const struct fab_options *o);

/*
 * The built-in SM looks at everything and sets what is missing or not right any more. 0, -ENOMEM,
 * -ENOSPC (no LIDs left), -ETIMEDOUT (somebody has the lock; sm_dirty still says that it is to be
 * done). Slow: linear in switches times LIDs. Does nothing when there
 * is no built-in SM, or it has left the subnet to another one.
 */
int fab_sm_sweep(struct seg *s);

/* Is it at that port, and has it the subnet? */
bool fab_sm_here(const struct seg *s, uint32_t port);
/*
 * A program has become a subnet manager at a port (it holds its issm device), or is none any more:
 * IsSM in its CapabilityMask. The built-in one leaves; when the last program is gone it takes the
 * subnet again, as that has left it.
 */
void fab_issm_set(struct seg *s, uint32_t port, bool on);
/* What it could not do, as somebody is stopped with the subnet's lock. False: there is some left.
 */
bool fab_issm_retry(struct seg *s);
/*
 * fab_subnet.lock, repaired if its holder has died. 0 or -ETIMEDOUT: a holder is stopped. Not for
 * the supervisor, which others wait for; it tries again: fab_subnet_trylock().
 */
int fab_subnet_lock(struct seg *s);
int fab_subnet_trylock(struct seg *s);
void fab_subnet_unlock(struct seg *s);

/*
 * A subnet management packet on its way: 256 bytes and what of its local route header matters.
 * Walking changes all of it: hop pointer, return path, and the LIDs to those of the last part.
 */
struct fab_smp {
	uint8_t *mad;
	uint16_t slid, dlid;
	fab_hop *hop; /* may be NULL */
	void *arg;
};
/* It leaves `from`, a directed-route one after the sender's own step: SEG_T_PORT where it ends, of
 * a switch the port that it came in by; SEG_NONE: it is lost. */
uint32_t fab_smp_send(struct seg *s, uint32_t from, struct fab_smp *p);
/* The answer to a packet that ended at `at`, with that one's LIDs, leaves. */
uint32_t fab_smp_answer(struct seg *s, uint32_t at, struct fab_smp *p);

/* Forwarding tables for a group of the built-in SA; under fab_subnet.lock, as the next. 0, -ENOMEM.
 */
int fab_mcast_update(struct seg *s, uint32_t group);
/* After a sweep: for all of them. */
int fab_mcast_sweep(struct seg *s);

/* The same as the PMA tells it: since it was reset, errors up to what their fields hold. */
void fab_pma_counters(struct seg *s, uint32_t port, struct fab_counters *c);

#endif
