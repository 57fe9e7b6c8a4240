/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Hosts and their adapters. hw/flags.h says who may write which field. */
#ifndef SOFTHCA_HW_HCA_H
#define SOFTHCA_HW_HCA_H

#include "hw/caps.h"
#include "segment/lock.h"
#include "segment/seg.h"

#define HW_MAX_PORTS 4    /* per HCA */
#define HW_GIDS 16        /* per port; those that a port shows: hw_port_gids() */
#define HW_GIDS_MAX 256   /* of a port in a world with more (HW_SET_GIDS) */
#define HW_IB_GIDS 8      /* of an InfiniBand port; index 0 holds the port GUID */
#define HW_PKEYS 128      /* per port; index 0 holds 0xffff */
#define HW_COMP_VECTORS 8 /* per HCA, each with an EQ */

/* How data encryption keys come to an adapter with crypto (hw_hca.crypto). */
enum hw_crypto {
	HW_CRYPTO_PLAINTEXT = 0,
	HW_CRYPTO_WRAPPED = 1, /* by a key that the adapter has, in a session with its credential */
	HW_CRYPTO_NONE = 2,    /* an adapter without crypto */
};

/* hw_hca.fails: what a rule of --inject has done to the adapter. */
enum hw_fails {
	HW_WORKS,
	HW_FATAL,     /* commands get no answer, queues stand still */
	HW_UNPLUGGED, /* it is not there */
};
enum hw_model { HW_CX6, HW_CX7, HW_CX4, HW_CX5, HW_CX6DX, HW_BF2, HW_MODELS };

struct hw_host {
	uint32_t gen, flags;
	char name[32];
	uint32_t nhcas;
	uint32_t netns;   /* 1: its interfaces are the kernel's, in a namespace */
	uint32_t hca[16]; /* SEG_T_HCA indices, in the order of devices: mlx5_0, mlx5_1... */
} SEG_ELEM;

struct hw_hca {
	uint32_t gen, flags;
	struct seg_lock lock; /* protects the control plane of this HCA */
	uint32_t model;       /* enum hw_model */
	struct hw_caps caps;  /* constant */
	uint32_t crypto;      /* enum hw_crypto */
	uint32_t host;
	uint32_t dev_index; /* the N of mlx5_N and uverbsN on its host */
	uint32_t nports;
	uint32_t port[HW_MAX_PORTS];        /* SEG_T_PORT indices */
	uint64_t node_guid, sys_image_guid; /* in host byte order */
	uint32_t node;                      /* SEG_T_NODE index: the HCA as a node of the subnet */
	/* EQ numbers of this HCA (1 + vector), not SEG_T_EQ indices */
	uint32_t eqn[HW_COMP_VECTORS];
	uint32_t vhca_id;
	uint64_t clock_cycles,
		/* one instant, by the clock of completion timestamps and by wall clock */
		clock_nsec;
	_Atomic uint32_t next_uid; /* the next DEVX uid */
	_Atomic uint32_t mkey_var; /* low byte of the next MR key, which the driver chooses */
	_Atomic uint64_t births;   /* QPs and keys that were made: their `born` */
	_Atomic uint32_t made[HW_KIND_COUNT]; /* number of objects of each kind (fw/limits.c) */
	/* 1 + how many a rule of --inject leaves of it; 0: what the caps say; the supervisor's */
	_Atomic uint32_t left[HW_KIND_COUNT];
	_Atomic uint32_t fails;   /* enum hw_fails; the supervisor's */
	_Atomic uint32_t zombies; /* objects of closed files that a stopped process still holds */
	/*
	 * Protects finding, joining and leaving what several open files share (hw_share); taken
	 * before `lock`. Each step is one store, so a dead holder leaves nothing to repair.
	 */
	struct seg_lock share_lock;
	struct seg_lock reap_lock; /* for freeing zombies: only tried, never waited for */
} SEG_ELEM;

struct hw_eq {
	uint32_t gen, flags;
	uint32_t hca;
	uint32_t vector;
	uint32_t uar, log_size;
} SEG_ELEM;

/*
 * Does its crypto take several data units in one transfer? ConnectX-7 is of BlueField-3's age,
 * which rdma-core names as the first that does (its commit dd8a5576c).
 */
static inline bool hw_hca_multi_block(const struct hw_hca *h)
{
	return h->model == HW_CX7;
}

static inline struct hw_hca *hw_hca(const struct seg *s, uint32_t i)
{
	return seg_live(s, SEG_T_HCA, i);
}

/* Is the adapter there? Unplugged ones keep their element. */
static inline bool hw_hca_is_in(const struct seg *s, uint32_t i)
{
	const struct hw_hca *h = hw_hca(s, i);

	return h && atomic_load_explicit(&h->fails, memory_order_relaxed) != HW_UNPLUGGED;
}

#endif
