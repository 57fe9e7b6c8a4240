/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Ports of adapters and switches, and their counters. hw/flags.h says who may write which field. */
#ifndef SOFTHCA_HW_PORT_H
#define SOFTHCA_HW_PORT_H

#include "hw/hca.h"
#include "segment/seg.h"
#include "wire/ib/link.h"
#include "wire/ib/pkey.h"
#include "wire/ib/port.h"

/*
 * Counters of a port (IBA 16.1.3.5, 16.1.4.11). Those of sent packets, of received packets and of
 * rare events have cache lines of their own, because different processes write them.
 */
enum hw_ctr {
	HW_CTR_XMIT_DATA, /* octets / 4 */
	HW_CTR_XMIT_PKTS,
	HW_CTR_XMIT_MCAST, /* the multicast part of XMIT_PKTS */
	HW_CTR_XMIT_DISCARDS,
	HW_CTR_XMIT_CONSTRAINT,
	HW_CTR_XMIT_WAIT,     /* in ticks; stays 0, as no packet waits for credits */
	HW_CTR_XMIT_INACTIVE, /* part of the discards: the port could not send */
	HW_CTR_XMIT_MTU,      /* part of the discards: packets larger than the MTU */
	HW_CTR_RCV_DATA = 8,
	HW_CTR_RCV_PKTS,
	HW_CTR_RCV_MCAST,
	HW_CTR_RCV_ERRORS,
	HW_CTR_RCV_REMOTE_PHYS,
	HW_CTR_RCV_RELAY,
	HW_CTR_RCV_CONSTRAINT,
	/* part of the relay errors: packets sent back to where they came from */
	HW_CTR_RCV_LOOPING,
	HW_CTR_SYMBOL = 16,
	HW_CTR_RECOVERY,
	HW_CTR_DOWNED,
	HW_CTR_INTEGRITY,
	HW_CTR_OVERRUN,
	HW_CTR_VL15_DROPPED,
	HW_CTR_QP1_DROPPED,
	HW_CTR_MKEY_VIOL, /* counted for PortInfo, not the PMA */
	HW_CTR_PKEY_VIOL,
	HW_CTR_QKEY_VIOL,
	HW_CTR_LOCAL_PHYS, /* these four change only by Set: nothing here causes them */
	HW_CTR_VL_MAPPING,
	HW_CTR_SW_LIFETIME,
	HW_CTR_HOQ_LIFETIME,
	HW_CTR_STORED,
	HW_CTR_RCV_MAPPING = HW_CTR_STORED, /* relay errors that are no loop */
	HW_CTR_XMIT_UCAST,                  /* packets that are not multicast */
	HW_CTR_RCV_UCAST,
	HW_CTR_COUNT
};

enum hw_link { HW_LINK_IB = 0, HW_LINK_ETH = 1 };

/* How packets with a GID of the table travel; numbers as in enum ib_uverbs_gid_type. */
enum hw_gid_type { HW_GID_IB = 0, HW_GID_ROCE_V1 = 1, HW_GID_ROCE_V2 = 2 };

/* hw_port.gid_kind: the type, and the VLAN whose interface has the address; 0: the port's own. */
static inline uint16_t hw_gid_kind(enum hw_gid_type type, uint32_t vlan)
{
	return (uint16_t)(vlan << 4 | type);
}
static inline uint32_t hw_gid_type(uint32_t kind)
{
	return kind & 0xf;
}
static inline uint32_t hw_gid_vlan(uint32_t kind)
{
	return kind >> 4;
}

/* An address that was given to an interface; IPv4 as ::ffff:a.b.c.d. */
struct hw_addr {
	uint8_t ip[16];
	uint32_t vlan;           /* of whose interface, 0: the port's own */
	_Atomic uint32_t prefix; /* bits of its subnet, of 32 for IPv4; 0: the element is free */
	uint32_t order;          /* those that were given later have higher ones */
};
#define HW_ADDRS 8
#define HW_VLANS 4 /* interfaces of VLANs on a port */

/*
 * Bits of hw_port.news, for the kernel's multicast.c. RESET: its groups' memberships are lost
 * (PORT_ERR, LID_CHANGE, CLIENT_REREGISTER). PKEY: the P_Keys have changed. Both are set only
 * beside WANTED.
 */
enum { HW_NEWS_WANTED = 1, HW_NEWS_RESET = 2, HW_NEWS_PKEY = 4 };

/*
 * A port of an adapter or a switch. A switch's port has `hca` SEG_NONE; port 0 is the switch
 * itself.
 */
struct hw_port {
	uint32_t gen, flags;
	uint32_t hca;
	uint32_t routed; /* Ethernet: a router is between it and every other port */
	uint32_t num;    /* starts at 1, on a switch at 0 */
	uint32_t node;   /* SEG_T_NODE */
	uint32_t link;   /* enum hw_link; Ethernet ports have no LIDs and no cable to a port */
	_Atomic uint32_t
		peer;  /* SEG_T_PORT at the other end of the cable, SEG_NONE: there is none */
	uint32_t late; /* its peer (Ethernet: itself) when the cable comes, HW_SET_LATE_MS; 0: none
			*/
	_Atomic uint32_t state;       /* enum ib_port_state */
	_Atomic uint32_t phys_state;  /* enum ib_phys_state */
	_Atomic uint32_t lid, sm_lid; /* decimal in print */
	uint32_t lmc, sm_sl;
	uint32_t cap_mask;
	_Atomic uint32_t issm; /* 1 + the SEG_T_FILE that has issmN open; futex word of who waits */
	_Atomic uint32_t issm_owed;   /* what fab_issm_set() could not do yet: 1 off, 2 on */
	uint32_t width, speed;        /* enum ib_width_code, enum ib_speed_code */
	uint32_t active_mtu, max_mtu; /* IBV_MTU codes */
	uint64_t guid, gid_prefix;    /* in host byte order */
	/*
	 * InfiniBand: index 0 is prefix:guid, the others are zero. Ethernet (fabric/eth.h): the
	 * interface's addresses, each as RoCE v1 and v2; free entries are zero.
	 */
	uint8_t gid[HW_GIDS][16];
	uint16_t gid_kind[HW_GIDS]; /* hw_gid_kind() */
	int64_t more_gids;          /* bytes from here to a SEG_T_GIDS with more; 0: none */
	uint16_t pkey[HW_PKEYS];
	uint32_t enforce; /* switch port's PartitionEnforcement: 1 inbound, 2 outbound */
	uint32_t qctr;    /* SEG_T_QCTR index: the counter set of QPs that verbs made */
	/* MAD_REF() of the fabric's own agent (SEG_T_AGENT, rmpp_send.c) */
	_Atomic uint64_t own_agent;
	_Atomic uint32_t news; /* HW_NEWS_* since the supervisor looked last (src/cma) */
	/*
	 * The command Error of softhca console: percent of arriving MADs to lose, and the attribute
	 * (0: any). err_sum adds the percentages up, so that the losses are evenly spread.
	 */
	_Atomic uint32_t err_rate, err_attr, err_sum;
	/*
	 * Other fields of PortInfo, set under the node's lock. Keys and times exist at ports with a
	 * LID; on a switch at port 0.
	 */
	uint64_t mkey;
	_Atomic uint64_t mkey_until; /* end of the M_Key's lease, hw_timer_now(); 0: not running */
	uint16_t mkey_lease;         /* seconds; 0: without end */
	uint8_t mkey_protect;
	uint8_t width_sup, width_en; /* bits as in PortInfo */
	uint8_t speed_sup, speed_en; /* bits as in `speed` */
	uint8_t down_default;        /* physical state to which a lost link goes */
	uint8_t vl_cap, op_vls, vl_high_limit, vl_stall, hoq_life;
	uint8_t filter_raw, phys_errors, overrun_errors, init_type;
	uint8_t subnet_timeout, trap_suppr, led;
	uint32_t sl2vl, vl_arb; /* SEG_T_SL2VL, SEG_T_VLARB indices; 0: default tables */
	/* Addresses of the interface beside its link-local one, changed by the supervisor alone. */
	struct hw_addr addr[HW_ADDRS];
	_Atomic uint32_t naddrs;   /* in use */
	_Atomic uint32_t no_rule4; /* the IPv4 address of the rule (fabric/ifaddr.h) is gone */
	uint32_t if_mtu;           /* Ethernet: octets of the interface's MTU */
	_Atomic uint32_t vlan[HW_VLANS]; /* Ethernet: ids of the VLANs with an interface; 0: free */
	uint32_t served;                 /* the built-in SM counts the port as in service */
	_Atomic uint64_t owed;           /* the change that a process is making (fabric/owed.c) */
} SEG_ELEM;

/* The entries from HW_GIDS on, of ports that have them. */
struct hw_more_gids { /* SEG_T_GIDS */
	uint32_t gen;
	uint8_t gid[HW_GIDS_MAX - HW_GIDS][16];
	uint16_t kind[HW_GIDS_MAX - HW_GIDS];
} SEG_ELEM;

static inline struct hw_more_gids *hw_more_gids(const struct hw_port *p)
{
	return (struct hw_more_gids *)((uintptr_t)p + (uintptr_t)p->more_gids);
}
/* An entry below hw_port_gids(), or HW_GIDS. */
static inline uint8_t *hw_gid(const struct hw_port *p, uint32_t i)
{
	return i < HW_GIDS ? ((struct hw_port *)(uintptr_t)p)->gid[i]
			   : hw_more_gids(p)->gid[i - HW_GIDS];
}
static inline uint16_t *hw_gid_kind_at(const struct hw_port *p, uint32_t i)
{
	return i < HW_GIDS ? &((struct hw_port *)(uintptr_t)p)->gid_kind[i]
			   : &hw_more_gids(p)->kind[i - HW_GIDS];
}

static inline struct hw_port *hw_port(const struct seg *s, uint32_t i)
{
	return seg_live(s, SEG_T_PORT, i);
}
static inline bool hw_port_is_eth(const struct hw_port *p)
{
	return p->link == HW_LINK_ETH;
}
/*
 * What the driver shows of an adapter's port. Before a subnet manager has given it a LID, the
 * vport's context has its reset value.
 */
static inline uint32_t hw_port_lid(const struct hw_port *p)
{
	uint32_t lid = p->lid;

	return lid || hw_port_is_eth(p) ? lid : 0xffff;
}
/*
 * Without a link mlx5_query_hca_port() finds no width, which translate_active_width() makes 4x, and
 * no speed: 0, which rate_show() takes for SDR. mlx5_query_port_roce() keeps its default, 4x at
 * QDR.
 */
static inline bool hw_port_has_rate(const struct hw_port *p)
{
	return p->phys_state == IB_PHYS_LINK_UP;
}
static inline uint32_t hw_port_width(const struct hw_port *p)
{
	return hw_port_has_rate(p) ? p->width : (uint32_t)IB_WIDTH_4X;
}
static inline uint32_t hw_port_speed(const struct hw_port *p)
{
	return hw_port_has_rate(p) ? p->speed : hw_port_is_eth(p) ? (uint32_t)IB_SPEED_QDR : 0;
}
/* Entries of the port's GID and P_Key tables, as programs see them. */
static inline uint32_t hw_port_gids(const struct hw_port *p)
{
	return !hw_port_is_eth(p) ? HW_IB_GIDS : p->more_gids ? HW_GIDS_MAX : HW_GIDS;
}
static inline uint32_t hw_port_pkeys(const struct hw_port *p)
{
	return hw_port_is_eth(p) ? 1 : HW_PKEYS;
}
/* Is the port a member of the partition, full or limited? */
static inline bool hw_port_has_pkey(const struct hw_port *p, uint16_t pkey)
{
	for (uint32_t i = 0; i < HW_PKEYS; i++)
		if (ib_pkey_same(pkey, p->pkey[i]))
			return true;
	return false;
}
/* Can they talk in the partition: are both members, at least one of them a full one? */
static inline bool hw_ports_share_pkey(const struct hw_port *a, const struct hw_port *b,
				       uint16_t pkey)
{
	for (uint32_t i = 0; i < HW_PKEYS; i++)
		for (uint32_t k = 0; k < HW_PKEYS && ib_pkey_same(pkey, a->pkey[i]); k++)
			if (ib_pkey_match(a->pkey[i], b->pkey[k]))
				return true;
	return false;
}

#endif
