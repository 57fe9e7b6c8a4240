/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Management of a subnet: making one, the built-in subnet manager, subnet management packets,
 * groups, and the performance agent's counters.
 */
#ifndef SOFTHCA_SUBNET_SUBNET_H
#define SOFTHCA_SUBNET_SUBNET_H

#include "fabric/fabric.h"

/* An address that the user gives to a host. */
struct fab_ip {
	char host[32];
	uint32_t iface; /* the N of ibN */
	struct topo_addr addr;
};

struct sweep;
/* For fab_sm_sweep_kept(). Empty when zeroed; fab_sm_forget() empties it. */
struct fab_sm_kept {
	struct sweep *last;
	/* buffer of an earlier sweep, used again: fresh pages cost more than the search */
	uint64_t *spare;
	size_t spare_size;
};

#define FAB_ALLOW_UIDS 64

struct fab_options {
	/* For fab_create(). */
	uint32_t hosts; /* >= 1; named h1, h2, ... */
	uint32_t hcas;  /* per host, 1..16 */
	uint32_t ports; /* per HCA, 1..HW_MAX_PORTS */
	enum hw_model model;
	enum hw_crypto crypto;
	struct hw_caps caps; /* of each HCA; on InfiniBand max_mtu is also the active one */
	enum hw_link link;
	uint32_t if_mtu; /* Ethernet: octets */
	/* ports stay in INIT: another manager configures the subnet */
	uint32_t no_sm;
	struct hw_world world; /* settled, see src/world */
	bool ipoib;            /* the built-in SA creates IPoIB's broadcast group at its start */
	struct fab_ip *ip;     /* for the supervisor, when the fabric is made */
	uint32_t nips;
	bool netns; /* for the supervisor: a network namespace for each host */
	/* for the supervisor: other users whose processes may use the fabric */
	uint32_t allow_uid[FAB_ALLOW_UIDS], nallow_uids;
	struct hw_fault *faults; /* for the supervisor: rules of --inject */
	uint32_t nfaults;
	uint64_t fault_seed;
	uint32_t time_scale;      /* for the supervisor: fab_subnet.time_scale */
	struct fab_sm_kept *kept; /* of the built-in SM's first sweep; may be NULL */
};

/*
 * Fill an empty segment with hosts whose adapters are on one switch (or a tree of them).
 * fw_hca_init() makes the EQs. With the built-in SM all ports are ACTIVE afterwards, with LIDs from
 * 1, adapters first. 0, -EINVAL, -ENOSPC, -ENOMEM.
 */
int fab_create(struct seg *s, const struct fab_options *o);
/* The same from a description; hosts, hcas and ports of `o` are ignored. */
int fab_build(struct seg *s, const struct topo *t, const struct fab_options *o);

/*
 * The built-in SM examines the whole subnet and sets missing or wrong values. 0, -ENOMEM, -ENOSPC
 * (no LIDs left), -ETIMEDOUT (another process has the lock; sm_dirty still requests the sweep).
 * Slow: linear in switches times LIDs. Does nothing when there is no built-in SM, or another one
 * manages the subnet.
 */
int fab_sm_sweep(struct seg *s);
/*
 * The same. What the SM has set stays in `kept`, and the next sweep changes only what differs, as
 * long as nobody else changes forwarding tables.
 */
int fab_sm_sweep_kept(struct seg *s, struct fab_sm_kept *kept);
void fab_sm_forget(struct fab_sm_kept *kept);

/* Is the built-in SM at that port, and does it manage the subnet? */
bool fab_sm_here(const struct seg *s, uint32_t port);
/*
 * A program has become a subnet manager at a port (it holds its issm device), or has stopped being
 * one: IsSM in its CapabilityMask. The built-in one leaves; when the last program is gone, it
 * manages the subnet again, as the program left it.
 */
void fab_issm_set(struct seg *s, uint32_t port, bool on);
/*
 * Continue work that was left because a process was stopped with the subnet's lock. False: some is
 * still left.
 */
bool fab_issm_retry(struct seg *s);
/*
 * Takes fab_subnet.lock, and repairs it if its holder has died. 0 or -ETIMEDOUT: a holder is
 * stopped. The supervisor, which others wait for, uses fab_subnet_trylock() and tries again.
 */
int fab_subnet_lock(struct seg *s);
int fab_subnet_trylock(struct seg *s);
void fab_subnet_unlock(struct seg *s);

/*
 * A subnet management packet in transit: 256 bytes and the relevant part of its local route header.
 * The walk changes all of it: hop pointer and return path, and the LIDs to those of the last part.
 */
struct fab_smp {
	uint8_t *mad;
	uint16_t slid, dlid;
	fab_hop *hop; /* may be NULL */
	void *arg;
	/* If it is lost: the port where that happened, and why. */
	uint32_t lost_at;
	const char *lost_why;
};
/*
 * Sends it from `from`, a directed-route one after the sender's own step. Returns the SEG_T_PORT
 * where it ends (on a switch the port of its arrival); SEG_NONE: it is lost.
 */
uint32_t fab_smp_send(struct seg *s, uint32_t from, struct fab_smp *p);
/* Sends the answer to a packet that ended at `at`, with that port's LIDs. */
uint32_t fab_smp_answer(struct seg *s, uint32_t at, struct fab_smp *p);

/*
 * Update the forwarding tables for a group of the built-in SA; like the next function, under
 * fab_subnet.lock. 0, -ENOMEM.
 */
int fab_mcast_update(struct seg *s, uint32_t group);
/* Makes the broadcast group of each partition's IPoIB, in a subnet without groups. 0, -ENOSPC. */
int fab_ipoib_group(struct seg *s, uint32_t max_mtu);
/* After a sweep: update the tables for all groups. */
int fab_mcast_sweep(struct seg *s);

/*
 * The same counters as the PMA returns them: since the last reset; error counters stop at their
 * fields' highest value.
 */
void fab_pma_counters(struct seg *s, uint32_t port, struct fab_counters *c);

#endif
