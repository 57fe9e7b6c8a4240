/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A subnet in the segment: nodes, their ports (struct hw_port, of adapters and switches alike),
 * cables, forwarding tables. All made by fab_build(), owner DEVICE, never freed while the fabric
 * lives; what moves are port states, cables, tables and what subnet managers set.
 */
#ifndef SOFTHCA_HW_FAB_H
#define SOFTHCA_HW_FAB_H

#include "hw/port.h"

enum fab_node_type { FAB_CA = 1, FAB_SWITCH = 2, FAB_ROUTER = 3 }; /* NodeInfo:NodeType */

#define FAB_MAX_PORT 254 /* of a switch */
#define FAB_LIDS 0xc000  /* unicast LIDs: below */
#define FAB_MLID_FIRST 0xc000
#define FAB_MLIDS 1024     /* SwitchInfo:MulticastFDBCap */
#define FAB_CAP_IS_SM 0x2u /* PortInfo:CapabilityMask: there is a subnet manager here */
#define FAB_LFT_NONE 0xff  /* no port: such packets are discarded */

struct fab_node { /* SEG_T_NODE */
	uint32_t gen, flags;
	/* What Set() changes in the node and its ports; before a switch's tables, no other lock but
	 * event queues' is taken under it. */
	struct seg_lock lock;
	uint32_t type;   /* enum fab_node_type */
	uint32_t nports; /* without port 0 */
	/* Port n is SEG_T_PORT element port0 + n: from 1, of a switch from 0. */
	uint32_t port0;
	uint32_t hca; /* SEG_T_HCA; SEG_NONE: not an adapter */
	uint32_t sw;  /* SEG_T_SWITCH, and its tables' index; SEG_NONE: not a switch */
	uint32_t vendor_id, device_id, revision;
	uint32_t partition_cap;
	uint64_t guid, sys_guid; /* host order */
	char desc[64];           /* NodeDescription, padded with zeroes */
} SEG_ELEM;

struct fab_switch { /* SEG_T_SWITCH */
	uint32_t gen, flags;
	uint32_t node;
	uint32_t enhanced_port0;
	/* Port (SEG_T_PORT) towards the root of the tree that groups' packets take, as the built-in
	 * SM has laid it; SEG_NONE: the root. */
	_Atomic uint32_t tree_up;
	_Atomic uint32_t linear_top;   /* SwitchInfo:LinearFDBTop: LIDs above go nowhere */
	_Atomic uint32_t state_change; /* SwitchInfo:PortStateChange */
	/* What is only set and shown. */
	uint32_t mcast_top;
	uint8_t default_port, default_mcast, default_mcast_not, life_time;
} SEG_ELEM;

/*
 * Linear forwarding table of a switch, index as SEG_T_SWITCH's. A byte is the port ^ 0xff, so that
 * pages that nobody wrote say FAB_LFT_NONE.
 */
struct fab_lft { /* SEG_T_LFT; never claimed */
	_Atomic uint8_t port[FAB_LIDS];
} SEG_ELEM;

/* Multicast forwarding table: bit p of group i is port p. */
struct fab_mft { /* SEG_T_MFT; never claimed */
	_Atomic uint64_t mask[FAB_MLIDS][4];
} SEG_ELEM;

/*
 * Virtual lanes of a port, made when somebody sets them first (hw_port.sl2vl, .vl_arb). A
 * SLtoVLMappingTable for each input port, an adapter has one; switches of many ports have a chain.
 */
#define FAB_SL2VL_INPUTS 46
struct fab_sl2vl { /* SEG_T_SL2VL */
	uint32_t gen, flags;
	uint32_t next;  /* 0: none */
	uint32_t first; /* input port of vl[0] */
	uint8_t vl[FAB_SL2VL_INPUTS][8];
} SEG_ELEM;

struct fab_vl_arb { /* SEG_T_VLARB */
	uint32_t gen, flags;
	uint8_t part[4][64]; /* VLArbitrationTable, by attribute modifier - 1 */
} SEG_ELEM;

/* What a port tells the subnet manager until that one represses it (fabric/notice.h). */
struct fab_notice { /* SEG_T_NOTICE */
	uint32_t gen, flags;
	_Atomic uint32_t ready; /* stored last; who takes it back frees it */
	uint32_t port;          /* SEG_T_PORT it goes out of */
	uint32_t tid;
	_Atomic uint32_t tries;
	_Atomic uint64_t due; /* clock_now_ns() */
	uint8_t notice[64];
} SEG_ELEM;

/* Group i has the MLID FAB_MLID_FIRST + i - 1. All of the built-in SA's under fab_subnet.lock. */
struct fab_mcgrp { /* SEG_T_MCGRP */
	uint32_t gen, flags;
	uint8_t mgid[16];
	uint32_t qkey, mtu, rate, life, tclass, pkey, sl, flow, hop, scope;
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
	_Atomic uint32_t attr_id; /* stored last; 0: it is being changed */
	uint64_t deadline;        /* clock_now_ns() when its lease ends; UINT64_MAX never */
	uint8_t record[192];      /* as the SA gives it */
} SEG_ELEM;

/*
 * The built-in SM: there is none; it manages the subnet; it has left it to another one. Changed
 * under fab_subnet.lock.
 */
enum fab_sm_state { FAB_SM_OFF = 0, FAB_SM_MASTER = 1, FAB_SM_LEFT = 2 };

/* A port's counters, index as SEG_T_PORT's; in tables of their own, because most ports of a large
 * subnet never count anything. */
struct fab_ctr { /* SEG_T_CTR; never claimed */
	_Atomic uint64_t n[HW_CTR_STORED];
	/*
	 * Subnet management packets, one addition for a cable: those that have left here, and what
	 * to add to the other end's for those that have come. They are in no other counter.
	 */
	_Atomic uint64_t smps, smps_before;
} SEG_ELEM;

/* What the PMA's counters had when they were last set, less what they were set to. */
struct fab_ctr_base { /* SEG_T_CTRBASE; never claimed */
	/* of PortCounters, PortCountersExtended, the attributes of details */
	_Atomic uint64_t n[3][HW_CTR_COUNT];
} SEG_ELEM;

/* What there is once. */
struct fab_subnet { /* SEG_T_SUBNET, index FAB_SUBNET */
	uint32_t gen, flags;
	struct seg_lock lock;                 /* the built-in SM's */
	_Atomic uint32_t notices, notice_tid; /* there are some to be sent; their numbers */
	struct seg_lock link_lock;            /* training of links; after a node's lock */
	_Atomic uint32_t epoch;    /* goes up after every change of what fab_route() looks at */
	_Atomic uint32_t sm_state; /* enum fab_sm_state */
	_Atomic uint32_t sm_dirty; /* something has changed since its last sweep */
	_Atomic uint32_t sm_port;  /* SEG_T_PORT it lives on */
	_Atomic uint32_t sm_act;   /* SMInfo:ActCount */
	uint32_t sm_again;         /* another one has had the subnet: clients must register again */
	uint32_t mc_top;           /* one more than the highest group ever */
	uint32_t mc_mgids;         /* MGIDs made by the SA */
	_Atomic uint32_t issm_owed; /* some port's, see hw_port.issm_owed */
	uint32_t sm_updn; /* its ways go up and then down a tree: the shortest could block */
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
/* Port n of a node: SEG_T_PORT index, SEG_NONE when it has none of that number. */
static inline uint32_t fab_node_port(const struct fab_node *n, uint32_t num)
{
	return num <= n->nports && (num || n->type == FAB_SWITCH) ? n->port0 + num : SEG_NONE;
}
/* Of a LID below FAB_LIDS. */
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
/* After a change of what routes are made of. */
static inline void fab_moved(const struct seg *s)
{
	atomic_fetch_add(&fab_subnet(s)->epoch, 1);
}

#endif
