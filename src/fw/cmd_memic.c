/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Device memory: ALLOC_MEMIC and DEALLOC_MEMIC. Called by exec.c under the HCA's lock.
 *
 * An allocation is a run of pages of the BAR, as the driver asks for pages that it has not given
 * to another program (mlx5_ib dm.c, mlx5_cmd_alloc_memic()). The memory behind the BAR is smaller
 * than the BAR: all allocations together have at most HW_MEMIC_SIZE bytes.
 */
#include "fw/priv.h"

#include <string.h>
#include <sys/param.h>
#include "hw/hca.h"
#include "hw/memic.h"
#include "wire/prm/memic.h"

#define ALIGN_UNIT 64u /* of log_memic_addr_alignment, and of lengths */
#define PAGES_MAX (HW_MEMIC_BAR_SIZE / HW_MEMIC_PAGE)

/* ---- banks ---- */

static uint32_t bank_find(struct seg *s, uint32_t hca)
{
	seg_for_each_live (s, SEG_T_MEMBANK, i)
		if (((const struct hw_membank *)seg_at(s, SEG_T_MEMBANK, i))->hca == hca)
			return i;
	return 0;
}

static enum fw_r bank_get(struct fw_call *k, uint32_t *bank)
{
	int r;

	*bank = bank_find(k->s, k->c->hca);
	if (*bank)
		return FW_R_NONE;
	r = seg_alloc_begin(k->s, SEG_T_MEMBANK, bank);
	if (r < 0)
		return FW_R_MEMIC_BANKS;
	((struct hw_membank *)seg_at(k->s, SEG_T_MEMBANK, *bank))->hca = k->c->hca;
	seg_alloc_end(k->s, SEG_T_MEMBANK, SEG_OWNER_DEVICE, *bank);
	return FW_R_NONE;
}

/* Free the adapter's bank when it has no allocation. */
void fw_memic_recount(struct seg *s, uint32_t hca)
{
	uint32_t bank = bank_find(s, hca);

	seg_for_each_live (s, SEG_T_MEMIC, i)
		if (((const struct hw_memic *)seg_at(s, SEG_T_MEMIC, i))->hca == hca)
			return;
	if (bank)
		seg_free(s, SEG_T_MEMBANK, bank);
}

/* ---- allocations ---- */

static int memic_free(struct seg *s, uint32_t idx)
{
	const struct hw_memic *m = seg_at(s, SEG_T_MEMIC, idx);
	uint32_t hca = m->hca;

	fw_free(s, SEG_T_MEMIC, idx);
	fw_memic_recount(s, hca);
	return 0;
}

FW_KIND(MEMIC, hw_memic, .name = "dm", .stage = FW_STAGE_REST, .refs = FW_REFS(hw_memic),
	.free = memic_free);

struct places {
	uint64_t used; /* a bit per page of the bank */
	uint32_t bytes;
};
static_assert(PAGES_MAX == 64, "a bit per page");

static uint64_t page_bits(uint32_t start, uint32_t len)
{
	uint32_t n = howmany(len, HW_MEMIC_PAGE);

	return (n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX) << start / HW_MEMIC_PAGE;
}

/*
 * Adds pages that were freed with their file but are still mapped, by a fork child or after the
 * program closed the file: no other owner may get them.
 */
static void add_mapped(struct seg *s, uint32_t bank, struct places *p)
{
	if (!hw_memic_mapped(s, hw_membank_at(s, bank, 0), HW_MEMIC_BAR_SIZE))
		return;
	for (uint32_t at = 0; at < HW_MEMIC_BAR_SIZE; at += HW_MEMIC_PAGE) {
		if (p->used & page_bits(at, 1) ||
		    !hw_memic_mapped(s, hw_membank_at(s, bank, at), HW_MEMIC_PAGE))
			continue;
		p->used |= page_bits(at, 1);
		p->bytes += HW_MEMIC_PAGE;
	}
}

static struct places places_of(struct seg *s, uint32_t hca, uint32_t bank)
{
	struct places p = {0};

	seg_for_each_live (s, SEG_T_MEMIC, i) {
		const struct hw_memic *m = seg_at(s, SEG_T_MEMIC, i);

		if (m->hca != hca || !m->len)
			continue;
		p.used |= page_bits(m->start, m->len);
		p.bytes += m->len;
	}
	add_mapped(s, bank, &p);
	return p;
}

/* The first free place of `len` bytes in [from, to) of the bank; UINT32_MAX: none. */
static uint32_t place_find(const struct places *p, uint32_t from, uint32_t to, uint32_t len,
			   uint32_t align)
{
	for (uint32_t at = roundup(from, align); at < to && len <= to - at; at += align)
		if (!(p->used & page_bits(at, len)))
			return at;
	return UINT32_MAX;
}

#define IN(f) LAYOUT_GET(alloc_memic_in, k->in, f)

static enum fw_r memic_check(const struct fw_call *k)
{
	uint64_t from = IN(range_start_addr) - HW_MEMIC_BAR_START, size = IN(range_size);

	if (IN(log_memic_addr_alignment) > HW_MEMIC_LOG_ALIGN)
		return FW_R_MEMIC_ALIGN;
	if (!IN(memic_size) || IN(memic_size) % ALIGN_UNIT)
		return FW_R_MEMIC_SIZE;
	if (IN(range_start_addr) < HW_MEMIC_BAR_START || from > HW_MEMIC_BAR_SIZE ||
	    size > HW_MEMIC_BAR_SIZE - from || from % HW_MEMIC_PAGE)
		return FW_R_MEMIC_RANGE;
	return FW_R_NONE;
}

/* Find a place in the bank and claim it. */
static enum fw_r memic_make(struct fw_call *k, uint32_t bank)
{
	struct places p = places_of(k->s, k->c->hca, bank);
	uint32_t from, len = (uint32_t)IN(memic_size), at, idx;
	struct hw_memic *m;
	enum fw_r r;

	from = (uint32_t)(IN(range_start_addr) - HW_MEMIC_BAR_START);
	if (len > HW_MEMIC_SIZE - MIN(p.bytes, HW_MEMIC_SIZE))
		return FW_R_MEMIC_FULL;
	at = place_find(&p, from, from + (uint32_t)IN(range_size), len,
			MAX(HW_MEMIC_PAGE, ALIGN_UNIT << IN(log_memic_addr_alignment)));
	if (at == UINT32_MAX)
		return FW_R_MEMIC_FULL;
	r = fw_alloc(k, SEG_T_MEMIC, &idx, &m);
	if (r)
		return r;
	m->hca = k->c->hca;
	m->uid = k->c->uid;
	m->bank = bank;
	m->start = at;
	m->len = len;
	/* The pages may have belonged to another program. */
	memset(hw_membank_at(k->s, bank, at), 0, roundup(len, HW_MEMIC_PAGE));
	LAYOUT_SET(alloc_memic_out, k->out, memic_start_addr, HW_MEMIC_BAR_START + at);
	fw_commit(&m->flags);
	return FW_R_NONE;
}

enum fw_r fw_cmd_alloc_memic(struct fw_call *k)
{
	enum fw_r r = memic_check(k);
	uint32_t bank;

	if (!r)
		r = bank_get(k, &bank);
	if (r)
		return r;
	r = memic_make(k, bank);
	if (r)
		fw_memic_recount(k->s, k->c->hca);
	return r;
}

struct hw_memic *fw_memic_at(struct fw_call *k, uint64_t addr, uint64_t len, uint32_t *idx)
{
	uint64_t at = addr - HW_MEMIC_BAR_START;

	seg_for_each_owned (k->s, SEG_T_MEMIC, k->owner, i) {
		struct hw_memic *m = fw_find(k, SEG_T_MEMIC, i);

		if (!m || addr < HW_MEMIC_BAR_START || at < m->start || at - m->start > m->len ||
		    len > m->len - (at - m->start))
			continue;
		*idx = i;
		return m;
	}
	return NULL;
}

enum fw_r fw_cmd_dealloc_memic(struct fw_call *k)
{
	uint64_t addr = LAYOUT_GET(dealloc_memic_in, k->in, memic_start_addr);
	uint64_t len = LAYOUT_GET(dealloc_memic_in, k->in, memic_size);
	uint32_t idx;
	const struct hw_memic *m = fw_memic_at(k, addr, len, &idx);

	if (!m || addr - HW_MEMIC_BAR_START != m->start || len != m->len)
		return FW_R_MEMIC_NONE;
	if (m->refs)
		return FW_R_MEMIC_IN_USE;
	return fw_errno(k, memic_free(k->s, idx));
}
