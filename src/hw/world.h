/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How the hosts, adapters and ports of a fabric differ from the usual ones: its worlds. Each
 * setting is a number, 0 where nothing differs. They are given when the fabric is made and never
 * change. src/world has the table of worlds, which set them; the code whose behaviour a setting
 * changes reads it here.
 */
#ifndef SOFTHCA_HW_WORLD_H
#define SOFTHCA_HW_WORLD_H

#include <stdint.h>
#include "hw/fab.h"

/* The entries that an address has in the GID table. */
enum hw_gid_types { HW_GID_TYPES_BOTH, HW_GID_TYPES_V2, HW_GID_TYPES_V2_FIRST };

/* The P_Key table; HW_PKEY_FULL is the partition that all ports are full members of. */
enum hw_pkeys_like {
	HW_PKEYS_DEFAULT,   /* 0xffff at index 0 */
	HW_PKEYS_SHIFTED,   /* HW_PKEY_FULL at index 0, then 0xffff */
	HW_PKEYS_LIMITED,   /* 0x7fff at index 0, then HW_PKEY_FULL */
	HW_PKEYS_NO_DEFAULT /* HW_PKEY_FULL at index 0, then 0x7fff */
};
#define HW_PKEY_FULL 0x8001

enum hw_has { HW_HAS, HW_HAS_NOT };
enum hw_connected { HW_CONNECTED_ALL, HW_CONNECTED_UC };
/* Who may open uverbsN, umadN and issmN. */
enum hw_dev_owner { HW_DEV_USERS, HW_DEV_ROOT };
/* The port of the built-in subnet manager: the first adapter's, or another node's. */
enum hw_sm_at { HW_SM_AT_FIRST, HW_SM_AT_SWITCH, HW_SM_AT_LAST };

/* Addresses that interfaces have beside the link-local one (ABSENT: not even that). */
enum hw_addrs_like { HW_ADDRS_IP4, HW_ADDRS_NONE, HW_ADDRS_IP6, HW_ADDRS_ABSENT };

/* Ports without a cable. */
enum hw_dark { HW_DARK_NONE, HW_DARK_FIRST_HCA, HW_DARK_FIRST_PORT };

/* Are the Ethernet ports of a fabric in one subnet, or each in its own, behind a router? */
enum hw_routed { HW_SWITCHED, HW_ROUTED };

/* When what a doorbell rang for is executed. */
enum hw_pace {
	HW_PACE_NOW,     /* at once */
	HW_PACE_LATE,    /* up to 1 ms later */
	HW_PACE_SINGLE,  /* later, and each WQE some time after the one before it */
	HW_PACE_BATCHES, /* every 4 ms */
};
/* Does a CQ that is armed without completions raise an event? */
enum hw_wakeups { HW_WAKEUPS_TRUE, HW_WAKEUPS_SPURIOUS };
/* Numbers of QPs, keys, CQs...: ascending, or anywhere in their range. */
enum hw_numbers { HW_NUMBERS_DENSE, HW_NUMBERS_SPARSE };

/*
 * May a WQE without a fence read memory before the answer to the READ or atomic in front of it is
 * there (IBA 10.8.3.3)? LATE: it does if both are posted.
 */
enum hw_answers { HW_ANSWERS_FIRST, HW_ANSWERS_LATE };

/* Names of RDMA devices. */
enum hw_names {
	HW_NAMES_KERNEL, /* mlx5_0, mlx5_1... */
	HW_NAMES_BOND,   /* of mlx5_ib for ports in a LAG: mlx5_bond_0 */
	HW_NAMES_PCI,    /* of rdma-core's rdma_rename by PCI path: roceP23063p0s0, ibP23063p0s0 */
	HW_NAMES_BACKWARDS /* the device that is first has the last number */
};
/* The links of a host's adapters: all alike, or InfiniBand, Ethernet, InfiniBand... */
enum hw_links { HW_LINKS_ALIKE, HW_LINKS_MIXED };

static inline uint32_t hw_setting(const struct seg *s, enum hw_setting what)
{
	return fab_subnet(s)->world.value[what];
}

#endif
