/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns giving memory of the segment back. Elements that share pages are claimed, as for use, so
 * that nobody else can; then their pages become a hole, in which all is 0, as in a new table. Only
 * the generations are kept: the table remembers the highest. The supervisor calls this.
 */
#include "segment/table.h"
#include "util/sys.h"

#include <errno.h>
#include <linux/falloc.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE 4096u

uint64_t seg_bytes(const struct seg *s, uint64_t *live)
{
	struct stat st;

	*live = 0;
	for (unsigned int t = HW_KIND_FIRST; t < SEG_T_COUNT; t++)
		*live += (uint64_t)atomic_load(&s->hdr->table[t].live) * s->hdr->table[t].elem_size;
	return sys_raw(SYS_fstat, s->fd, (long)&st, 0, 0, 0, 0) ? 0 : (uint64_t)st.st_blocks * 512;
}

/* The elements from `from` on that fill whole pages: `elem_size` is a multiple of 64. */
static uint32_t in_pages(const struct seg_table_hdr *h)
{
	uint32_t n = 1;

	while (n * h->elem_size % PAGE)
		n *= 2;
	return n;
}

/* Claims elements [from, to) if all are free. */
static bool claim_all(struct seg *s, enum seg_table_id t, uint32_t from, uint32_t to)
{
	uint32_t i = from;

	/* Also the word of index 0 and those below `first` are free: nobody claims them. */
	for (; i < to; i++) {
		uint32_t free = SEG_OWNER_FREE;

		if (!atomic_compare_exchange_strong(seg_owner_word(s, t, i), &free, SEG_CLAIMING))
			break;
	}
	if (i == to)
		return true;
	while (i-- > from)
		atomic_store(seg_owner_word(s, t, i), SEG_OWNER_FREE);
	return false;
}

static void keep_gens(struct seg *s, enum seg_table_id t, uint32_t from, uint32_t to)
{
	struct seg_table_hdr *h = seg_table(s, t);
	uint32_t most = atomic_load(&h->gen), gen;

	for (uint32_t i = from; i < to; i++) {
		memcpy(&gen, seg_at(s, t, i), sizeof(gen));
		if (gen > most)
			most = gen;
	}
	atomic_store(&h->gen, most);
}

/* The pages of elements [from, to). */
static void give_back(struct seg *s, enum seg_table_id t, uint32_t from, uint32_t to)
{
	const struct seg_table_hdr *h = seg_table(s, t);

	if (!claim_all(s, t, from, to))
		return;
	keep_gens(s, t, from, to);
	sys_raw(SYS_fallocate, s->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		(long)(h->elems_off + (uint64_t)from * h->elem_size),
		(long)((uint64_t)(to - from) * h->elem_size), 0, 0);
	for (uint32_t i = from; i < to; i++)
		atomic_store_explicit(seg_owner_word(s, t, i), SEG_OWNER_FREE,
				      memory_order_release);
}

void seg_trim(struct seg *s)
{
	for (unsigned int t = HW_KIND_FIRST; t < SEG_T_COUNT; t++) {
		const struct seg_table_hdr *h = &s->hdr->table[t];
		uint32_t n = in_pages(h), from = h->base;

		while (from < atomic_load(&h->high)) {
			long at = (long)(h->elems_off + (uint64_t)from * h->elem_size);
			long data = sys_raw(SYS_lseek, s->fd, at, SEEK_DATA, 0, 0, 0);
			uint32_t to;

			if (data < at) /* -ENXIO: the rest of the file is a hole */
				break;
			from += (uint32_t)((uint64_t)(data - at) / h->elem_size) / n * n;
			if (from >= atomic_load(&h->high))
				break;
			to = from + n < h->capacity ? from + n : h->capacity;
			give_back(s, (enum seg_table_id)t, from, to);
			from = to;
		}
	}
}
