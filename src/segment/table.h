/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Private to the files of this folder. */
#ifndef SOFTHCA_SEGMENT_TABLE_H
#define SOFTHCA_SEGMENT_TABLE_H

#include "segment/who.h"

/* Owner words are counted in blocks of a page, so that searches skip full and empty ones. */
#define SEG_BLOCK 1024u
#define SEG_BLOCKS(capacity) (((capacity) + SEG_BLOCK - 1) / SEG_BLOCK)

/* seg_memfd.key */
#define SEG_MEMFD_KEY(slot, gen, fd) (who_word(slot, gen, 32) << 17 | (uint64_t)((fd) + 1))
#define SEG_MEMFD_FD(key) ((int)((key)&0x1ffff) - 1)
#define SEG_MEMFD_WHO(key) ((key) >> 17) /* a word of who.h with 32 bits of the generation */

/* The inode of this process's PID namespace; 0 if /proc does not show it. */
uint64_t seg_pid_ns(void);

/* One row per table, defined in hw/tables.c, which knows the types of elements. */
struct seg_table_row {
	uint32_t capacity, elem_size, first;
};
extern const struct seg_table_row seg_table_rows[SEG_T_COUNT];

#endif
