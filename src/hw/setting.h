/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The settings of a fabric's worlds, as they lie in the segment; hw/world.h explains them. */
#ifndef SOFTHCA_HW_SETTING_H
#define SOFTHCA_HW_SETTING_H

#include <stdint.h>

/* Each has a row in src/world/settings.c, with its name and its values. */
enum hw_setting {
	HW_SET_NONE,
	HW_SET_GID_TYPES, /* enum hw_gid_types */
	HW_SET_PKEYS,     /* enum hw_pkeys_like */
	/* What an adapter has; fw_caps_of() takes the rest away. */
	HW_SET_DEPTH,     /* WQEs of a queue, a power of two */
	HW_SET_RECV_SGES, /* of a receive WQE, a power of two */
	HW_SET_SEND_WQE,  /* bytes */
	HW_SET_READS,     /* outstanding at a QP, a power of two */
	HW_SET_OBJECTS,   /* QPs and CQs of an adapter, a power of two; of other kinds in proportion
			   */
	HW_SET_SRQ,       /* enum hw_has, as the next ones */
	HW_SET_ATOMICS,
	HW_SET_ODP,
	HW_SET_MW,
	HW_SET_DEVX,
	HW_SET_CONNECTED, /* enum hw_connected */
	/* What the kernel of the hosts has, and permits. */
	HW_SET_MEMLOCK,   /* KiB of locked memory, for root, too */
	HW_SET_IOCTL,     /* enum hw_has: methods, beside the commands of write() */
	HW_SET_NETLINK,   /* enum hw_has: NETLINK_RDMA */
	HW_SET_EX,        /* enum hw_has: extended commands of write() */
	HW_SET_RDMA_CM,   /* enum hw_has: /dev/infiniband/rdma_cm */
	HW_SET_DEV_OWNER, /* enum hw_dev_owner */
	HW_SET_LMC,       /* of adapters' ports */
	HW_SET_LIDS,      /* the first LID that the built-in manager gives */
	HW_SET_SM_AT,     /* enum hw_sm_at */
	HW_SET_GRH,       /* 1: InfiniBand ports require a GRH */
	HW_SET_ADDRS,     /* enum hw_addrs_like */
	HW_SET_ROUTED,    /* enum hw_routed */
	HW_SET_GID_HOLES, /* 1: free entries lie before that of the usual IPv4 address */
	HW_SET_DARK,      /* enum hw_dark */
	HW_SET_MTU,       /* IBV_MTU code of what switches can do at most */
	HW_SET_WIDTH,     /* links have at most this width, enum ib_width_code */
	HW_SET_SPEED,     /* and this speed, enum ib_speed_code */
	/* When an adapter works, and which numbers objects get. */
	HW_SET_PACE,      /* enum hw_pace */
	HW_SET_WAKEUPS,   /* enum hw_wakeups */
	HW_SET_NUMBERS,   /* enum hw_numbers */
	HW_SET_NAMES,     /* enum hw_names */
	HW_SET_ADAPTERS,  /* enum hw_has */
	HW_SET_LINKS,     /* enum hw_links */
	HW_SET_RAILS,     /* 1: adapter i of a host has a cable to those of number i only */
	HW_SET_VLAN,      /* id of a VLAN of each Ethernet interface */
	HW_SET_LATE_MS,   /* ports get their cable so long after the start */
	HW_SET_NUMA,      /* nodes that the adapters of a host are divided among */
	HW_SET_CHANGE_MS, /* between changes of an interface's addresses */
	HW_SET_MODEL,     /* enum hw_model, which then is not --device's */
	HW_SET_ANSWERS,   /* enum hw_answers */
	HW_SET_GIDS,      /* entries of an Ethernet port's GID table: HW_GIDS_MAX */
	HW_SET_SA_MS,     /* from a query's arrival at the built-in SA to its answer */
	HW_SETTINGS
};

#define HW_WORLDS 16 /* of one fabric */

struct hw_world {
	uint32_t n;
	uint32_t row[HW_WORLDS]; /* world_row() */
	uint32_t value[HW_SETTINGS];
};

#endif
