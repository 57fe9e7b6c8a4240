/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Device memory (MEMIC): memory of the adapter itself, in its BAR. It lies in the segment, so the
 * engine of every process reaches it at an address of its own. hw/flags.h says who may write which
 * field.
 */
#ifndef SOFTHCA_HW_MEMIC_H
#define SOFTHCA_HW_MEMIC_H

#include "segment/mem.h"
#include "segment/seg.h"

#define HW_MEMIC_PAGE 4096u
/* The part of BAR 0 in which device memory appears, and the bytes of memory behind it. */
#define HW_MEMIC_BAR_START UINT64_C(0x1000000)
#define HW_MEMIC_BAR_SIZE (256u * 1024)
#define HW_MEMIC_SIZE (128u * 1024)
/* Adapters of a fabric whose device memory is in use at one time. */
#define HW_MEMIC_BANKS 256

/* An allocation: whole pages of the BAR, so that no page is mapped by two programs. */
struct hw_memic {
	uint32_t gen, flags;
	uint32_t hca, uid;
	uint32_t bank;         /* SEG_T_MEMBANK */
	uint32_t start, len;   /* bytes, from the start of the bank */
	_Atomic uint32_t refs; /* mkeys over it */
} SEG_ELEM;

/* A bank: the memory of one adapter, claimed with its first allocation. */
struct hw_membank {
	uint32_t gen, flags;
	uint32_t hca;
} SEG_ELEM;

struct hw_membank_bytes {
	uint8_t bytes[HW_MEMIC_BAR_SIZE];
} SEG_ELEM;

static inline struct hw_memic *hw_memic(const struct seg *s, uint32_t i)
{
	return seg_live(s, SEG_T_MEMIC, i);
}

/* The bytes of a bank, in this process's mapping of the segment. */
static inline uint8_t *hw_membank_at(const struct seg *s, uint32_t bank, uint64_t offset)
{
	struct hw_membank_bytes *b = seg_at(s, SEG_T_MEMBYTES, bank);

	return b ? b->bytes + offset : NULL;
}

/*
 * A descriptor to map those bytes by, and nothing else: while a mapping made from it is left, in
 * any process, hw_memic_mapped() is true of them. Close it after mmap(). -errno: no /proc.
 */
int hw_memic_open(const struct seg *s, const uint8_t *bytes, uint64_t len);
bool hw_memic_mapped(const struct seg *s, const uint8_t *bytes, uint64_t len);

#endif
