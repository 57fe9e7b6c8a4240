/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A subnet in the segment: nodes, their ports (struct hw_port, for adapters and switches alike),
 * cables, forwarding tables. fab_build() makes all of them with owner DEVICE; they live as long as
 * the fabric. Port states, cables, tables and the values that subnet managers set change.
 */
#ifndef SOFTHCA_HW_FAB_H
#define SOFTHCA_HW_FAB_H

#include "hw/port.h"
#include "hw/setting.h"

enum fab_node_type { FAB_CA = 1, FAB_SWITCH = 2, FAB_ROUTER = 3 }; /* NodeInfo:NodeType */

#define FAB_MAX_PORT 254 /* the highest port number of a switch */
#define FAB_LIDS 0xc000  /* unicast LIDs are below this */
#define FAB_MLID_FIRST 0xc000
#define FAB_MLIDS 1024     /* SwitchInfo:MulticastFDBCap */
#define FAB_CAP_IS_SM 0x2u /* PortInfo:CapabilityMask.IsSM: a subnet manager runs at this port */
#define FAB_LFT_NONE 0xff  /* value for "no port": such packets are discarded */

struct fab_node { /* SEG_T_NODE */
	uint32_t gen, flags;
	/*
	 * Protects what Set() changes in the node and its ports. A switch's tables come after it;
	 * of other locks, only event queues' are taken under it.
	 */
	struct seg_lock lock;
	uint32_t type;   /* enum fab_node_type */
	uint32_t nports; /* not counting port 0 */
	/* Port n is the SEG_T_PORT element port0 + n; numbers start at 1, on a switch at 0. */
	uint32_t port0;
	uint32_t hca; /* SEG_T_HCA index; SEG_NONE: not an adapter */
	uint32_t sw;  /* SEG_T_SWITCH index, also of its tables; SEG_NONE: not a switch */
	uint32_t vendor_id, device_id, revision;
	uint32_t partition_cap;
	uint64_t guid, sys_guid; /* in host byte order */
	char desc[64];           /* NodeDescription, padded with zeroes */
} SEG_ELEM;

struct fab_switch { /* SEG_T_SWITCH */
	uint32_t gen, flags;
	uint32_t node;
	uint32_t enhanced_port0;
	/*
	 * The port (SEG_T_PORT) towards the root of the multicast tree that the built-in SM has
	 * made; SEG_NONE: this is the root.
	 */
	_Atomic uint32_t tree_up;
	/* SwitchInfo:LinearFDBTop: packets to higher LIDs are discarded */
	_Atomic uint32_t linear_top;
	_Atomic uint32_t state_change; /* SwitchInfo:PortStateChange */
	/* Fields that a manager sets and that are shown, but have no other effect. */
	uint32_t mcast_top;
	uint8_t default_port, default_mcast, default_mcast_not, life_time;
} SEG_ELEM;

/*
 * Linear forwarding table of a switch, with the index of its SEG_T_SWITCH element. Each byte is
 * port ^ 0xff, so that pages never written say FAB_LFT_NONE.
 */
struct fab_lft { /* SEG_T_LFT; never claimed */
	_Atomic uint8_t port[FAB_LIDS];
} SEG_ELEM;

/* Multicast forwarding table: bit p of group i is port p. */
struct fab_mft { /* SEG_T_MFT; never claimed */
	_Atomic uint64_t mask[FAB_MLIDS][4];
} SEG_ELEM;

/*
 * Virtual lanes of a port, made by the first Set (hw_port.sl2vl, .vl_arb). There is one
 * SLtoVLMappingTable per input port; an adapter has one, switches with many ports have a chain.
 */
#define FAB_SL2VL_INPUTS 46
struct fab_sl2vl { /* SEG_T_SL2VL */
	uint32_t gen, flags;
	uint32_t next;  /* next element of the chain; 0: none */
	uint32_t first; /* input port of vl[0] */
	uint8_t vl[FAB_SL2VL_INPUTS][8];
} SEG_ELEM;

struct fab_vl_arb { /* SEG_T_VLARB */
	uint32_t gen, flags;
	uint8_t part[4][64]; /* VLArbitrationTable, by attribute modifier - 1 */
} SEG_ELEM;

/*
 * A notice that a port sends to the subnet manager until the manager represses it
 * (subnet/notice.h), or that the built-in SA reports to a subscriber until that answers.
 */
struct fab_notice { /* SEG_T_NOTICE */
	uint32_t gen, flags;
	_Atomic uint32_t ready; /* stored last; the process that changes it again frees it */
	uint32_t port;          /* SEG_T_PORT index of the port that sends it */
	uint32_t tid;
	_Atomic uint32_t tries;
	_Atomic uint64_t due;  /* clock_now_ns() */
	uint32_t sub, sub_gen; /* a report: the subscription, SEG_T_SAREC; 0: a trap */
	uint8_t notice[80];    /* 64 bytes, and in a report the issuer's GID */
} SEG_ELEM;

/*
 * Group i has the MLID FAB_MLID_FIRST + i - 1. The built-in SA changes groups under
 * fab_subnet.lock.
 */
struct fab_mcgrp { /* SEG_T_MCGRP */
	uint32_t gen, flags;
	uint8_t mgid[16];
	uint32_t qkey, mtu, rate, life, tclass, pkey, sl, flow, hop, scope;
	uint32_t well_known; /* the subnet's own: it needs no members */
	uint32_t told;       /* subscribers know that it has a full member */
} SEG_ELEM;

struct fab_mcmem { /* SEG_T_MCMEM */
	uint32_t gen, flags;
	uint32_t group, group_gen;
	uint32_t port; /* SEG_T_PORT */
	uint32_t join_state, proxy;
	uint8_t gid[16];
} SEG_ELEM;

/* A ServiceRecord or a subscription. */
struct fab_sarec { /* SEG_T_SAREC */
	uint32_t gen, flags;
	_Atomic uint32_t attr_id; /* stored last; 0: the element is being changed */
	uint64_t deadline;        /* end of its lease, hw_timer_now(); UINT64_MAX: none */
	uint32_t port, slid;      /* the subscriber's address, as in its Set(InformInfo) */
	uint8_t record[192];      /* the record in the SA's format */
} SEG_ELEM;

/*
 * The built-in SM: does not run; manages the subnet; has left it to another SM. Changed under
 * fab_subnet.lock.
 */
enum fab_sm_state { FAB_SM_OFF = 0, FAB_SM_MASTER = 1, FAB_SM_LEFT = 2 };

/*
 * Counters of a port, with the index of its SEG_T_PORT element. They are a table of their own
 * because most ports of a large subnet never count anything.
 */
struct fab_ctr { /* SEG_T_CTR; never claimed */
	_Atomic uint64_t n[HW_CTR_STORED];
	/*
	 * Subnet management packets, counted once per cable: `smps` left this port; `smps_before`
	 * corrects the other end's count to give those received here. No other counter includes
	 * them.
	 */
	_Atomic uint64_t smps, smps_before;
} SEG_ELEM;

/* Values of PMA counters when they were last set, minus the values that they were set to. */
struct fab_ctr_base { /* SEG_T_CTRBASE; never claimed */
	/* for PortCounters, PortCountersExtended, and the attributes with details */
	_Atomic uint64_t n[3][HW_CTR_COUNT];
} SEG_ELEM;

/* State of the whole subnet. */
struct fab_subnet { /* SEG_T_SUBNET, index FAB_SUBNET */
	uint32_t gen, flags;
	uint64_t born;        /* clock_now_ns() at the fabric's start */
	uint64_t fault_seed;  /* of what rules of faults draw (fault.h) */
	uint32_t time_scale;  /* how fast timers are, in thousandths (timer.h); 0: true time */
	struct seg_lock lock; /* the built-in SM's lock */
	/* may a port's `owed` be set? */
	_Atomic uint32_t ports_owed;
	/* are notices waiting to be sent; their last transaction ID */
	_Atomic uint32_t notices, notice_tid;
	struct seg_lock link_lock;    /* for training of links; taken after a node's lock */
	_Atomic uint32_t tables_turn; /* incremented after each change of forwarding tables */
	_Atomic uint32_t epoch;       /* incremented after each change of what fab_route() reads */
	_Atomic uint32_t sm_state;    /* enum fab_sm_state */
	_Atomic uint32_t sm_dirty;    /* something has changed since the SM's last sweep */
	_Atomic uint32_t sm_port;     /* SEG_T_PORT index of the SM's port */
	_Atomic uint32_t sm_act;      /* SMInfo:ActCount */
	uint32_t sm_again; /* another SM has managed the subnet: ask clients to register again */
	uint32_t mc_top;   /* one more than the highest group index ever used */
	uint32_t mc_mgids; /* MGIDs made by the SA */
	_Atomic uint32_t issm_owed; /* some port has hw_port.issm_owed set */
	/* the SM routes up and then down a tree, because shortest paths could deadlock */
	uint32_t sm_updn;
	struct hw_world world; /* set when the fabric is made */
} SEG_ELEM;
#define FAB_SUBNET 1

static inline struct fab_node *fab_node(const struct seg *s, uint32_t i)
{
	return seg_live(s, SEG_T_NODE, i);
}
static inline struct fab_switch *fab_switch(const struct seg *s, uint32_t i)
{
	return seg_live(s, SEG_T_SWITCH, i);
}
static inline struct fab_subnet *fab_subnet(const struct seg *s)
{
	return (struct fab_subnet *)(s->base + seg_table(s, SEG_T_SUBNET)->elems_off) + FAB_SUBNET;
}
/* SEG_T_PORT index of port `num` of a node; SEG_NONE: no such port. */
static inline uint32_t fab_node_port(const struct fab_node *n, uint32_t num)
{
	return num <= n->nports && (num || n->type == FAB_SWITCH) ? n->port0 + num : SEG_NONE;
}
/* The port for a LID below FAB_LIDS. */
static inline uint32_t fab_lft_get(const struct seg *s, uint32_t sw, uint32_t lid)
{
	struct fab_lft *t = seg_at(s, SEG_T_LFT, sw);

	return atomic_load_explicit(&t->port[lid], memory_order_relaxed) ^ FAB_LFT_NONE;
}
static inline void fab_lft_set(const struct seg *s, uint32_t sw, uint32_t lid, uint32_t port)
{
	struct fab_lft *t = seg_at(s, SEG_T_LFT, sw);

	atomic_store_explicit(&t->port[lid], (uint8_t)(port ^ FAB_LFT_NONE), memory_order_relaxed);
}
/* Called after a change of anything that routes depend on. */
static inline void fab_moved(const struct seg *s)
{
	atomic_fetch_add(&fab_subnet(s)->epoch, 1);
}

#endif
