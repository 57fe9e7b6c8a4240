/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Memory keys, direct and indirect. hw/flags.h says who may write which field. */
#ifndef SOFTHCA_HW_MKEY_H
#define SOFTHCA_HW_MKEY_H

#include "segment/adopt.h"
#include "segment/mem.h"
#include "segment/seg.h"
#include "wire/prm/mkey.h"

enum { /* hw_mkey.access */
       HW_ACC_LOCAL_READ = 1,
       HW_ACC_LOCAL_WRITE = 2,
       HW_ACC_REMOTE_READ = 4,
       HW_ACC_REMOTE_WRITE = 8,
       HW_ACC_ATOMIC = 16,
};

/* On-demand paging: nothing was checked or counted when the key was made. */
enum hw_odp {
	HW_ODP_NONE,
	HW_ODP_EXPLICIT, /* over a range */
	HW_ODP_IMPLICIT, /* over the whole address space */
};

struct hw_mkey {
	uint32_t gen, flags;
	uint32_t hca, uid;
	uint64_t born; /* 1, 2...: the age among QPs and keys of the HCA */
	uint32_t key;  /* lkey and rkey: idx << 8 | variant */
	uint32_t pdn;
	uint32_t access; /* HW_ACC_* */
	uint32_t mode;   /* enum prm_mkc_mode */
	uint64_t start;  /* I/O virtual address of the first byte */
	uint64_t len;    /* bytes; with length64 the whole address space */
	uint32_t length64;
	_Atomic uint32_t valid; /* 0: free or being destroyed, and eng_mkey_quiesce() follows */
	uint32_t qpn;           /* the only QP that may use the key; 0xffffff: any */
	struct mem_slot mem;
	uint64_t va;     /* address of `start` in the address space of `slot` */
	uint32_t umem;   /* the umem whose pages the key maps, with a reference; 0: none */
	uint32_t memic;  /* the device memory that the key maps, with a reference; 0: none */
	uint32_t odp;    /* enum hw_odp */
	uint8_t mkc[64]; /* as QUERY_MKEY returns it */
	/* For keys over other keys, and keys that UMRs change. */
	uint32_t slow;         /* the key is indirect, or UMRs change it */
	_Atomic uint32_t free; /* mkc.free: not usable until a UMR enables it */
	uint32_t umr_en, en_rinval;
	uint32_t log_entity; /* KSM */
	uint32_t klm;        /* SEG_T_KLM index of the first block of the list; 0: none */
	uint32_t klm_max;    /* number of entries that its blocks can hold */
	_Atomic uint32_t klm_n;
	/* Signatures and crypto: */
	uint8_t bsf_max; /* 16-byte parts of BSFs behind the list, at entry klm_max */
	uint8_t bsf;     /* mkc.bsf_en: the BSFs apply */
	uint8_t crypto;  /* mkc.crypto_en: one of them must be of crypto */
	/* an error was reported since a UMR has set the count of errors */
	_Atomic uint8_t sig_told;
	struct adopt_run run; /* its pages that other processes have mapped */
	/* On-demand paging, as `rdma statistic show mr` tells: */
	_Atomic uint64_t faults;     /* pages that were absent when the data path came to them */
	_Atomic uint64_t prefetched; /* pages that ADVISE_MR was asked for */
	/* address of the access that made it hot; 0: nobody has asked to adopt it */
	_Atomic uint64_t hint;
} SEG_ELEM;

/*
 * Reserved keys. Access by the null key fails; the other key reads zeroes and discards what is
 * written.
 */
#define HW_KEY_NULL 0x200
#define HW_KEY_DUMP_FILL 0x300
#define HW_FIRST_MKEY 0x10

#define HW_MAX_INDIRECTION 4

/*
 * A block of an indirect key's list, with entries in the format of the command (wqe_klm or, for a
 * strided list, wqe_repeat and wqe_repeat_ent). The first block has the indices of the others. The
 * file owns a block until its key refers to it, then the device does, and it is freed with the key.
 */
#define HW_KLM_BYTES 16
#define HW_BSF_ENTRIES 4 /* entries of a BSF, which is behind the list */
#define HW_BSF_MAX 8     /* of both: signatures, crypto */
#define HW_KLM_PER_BLOCK 60
#define HW_KLM_MORE 11
struct hw_klm {
	uint32_t gen, flags;
	uint32_t hca;
	uint32_t mkey, mkey_gen; /* the key that the block belongs to */
	uint32_t more[HW_KLM_MORE];
	uint8_t entry[HW_KLM_PER_BLOCK][HW_KLM_BYTES];
} SEG_ELEM;

static inline struct hw_mkey *hw_mkey(const struct seg *s, uint32_t key)
{
	return seg_live(s, SEG_T_MKEY, key >> 8);
}

/* Is the key a list of other keys? */
static inline bool hw_mkey_indirect(const struct hw_mkey *mk)
{
	return mk->mode == PRM_MKC_KLM || mk->mode == PRM_MKC_KSM;
}

/* Entry i of a key's list; NULL: not there. */
static inline uint8_t *hw_klm_entry(const struct seg *s, const struct hw_mkey *mk, uint32_t i)
{
	struct hw_klm *b = mk->klm ? seg_at(s, SEG_T_KLM, mk->klm) : NULL;
	uint32_t n = i / HW_KLM_PER_BLOCK;

	if (b && n)
		b = n <= HW_KLM_MORE && b->more[n - 1] ? seg_at(s, SEG_T_KLM, b->more[n - 1])
						       : NULL;
	return b ? b->entry[i % HW_KLM_PER_BLOCK] : NULL;
}

#endif
