/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Firmware commands from an input, and checks of the firmware afterwards. */
#include "fw/priv.h"
#include "fw/for_tests.h"
#include "fuzz.h"
#include "wire/prm/cmd_hdr.h"

void fz_id_add(struct fz_ids *ids, uint32_t id)
{
	ids->id[ids->n++ % FZ_IDS] = id;
}

static const struct fw_cmd *find(uint16_t opcode)
{
	for (unsigned int i = 0; i < fw_ncmds; i++)
		if (fw_cmds[i].opcode == opcode)
			return &fw_cmds[i];
	return NULL;
}

static unsigned int count_fields(const struct layout *l)
{
	unsigned int n = l->nfields;

	for (uint32_t i = 0; i < l->nplaces; i++)
		n += count_fields(l->places[i].inner);
	return n;
}

/* The n-th field of a layout and of all inside it; bits from the start. */
static bool nth_field(const struct layout *l, unsigned int *n, uint32_t from, uint32_t *bit,
		      uint32_t *width)
{
	if (*n < l->nfields) {
		*bit = from + l->fields[*n].bit;
		*width = l->fields[*n].width;
		return true;
	}
	*n -= l->nfields;
	for (uint32_t i = 0; i < l->nplaces; i++)
		if (nth_field(l->places[i].inner, n, from + l->places[i].byte * 8, bit, width))
			return true;
	return false;
}

static uint64_t value(struct fz *f, const struct fz_ids *ids)
{
	unsigned int n = ids->n < FZ_IDS ? ids->n : FZ_IDS;

	switch (fz_u8(f) % 7) {
	case 0:
		return fz_u8(f);
	case 1:
		return fz_u16(f);
	case 2:
		return fz_u32(f);
	case 3:
		return fz_u64(f);
	case 4:
		return n ? ids->id[fz_u8(f) % n] : 0;
	case 5:
		return UINT64_C(1) << fz_u8(f) % 64;
	default:
		return UINT64_MAX - fz_u8(f);
	}
}

static void patch(struct fz *f, const struct fz_ids *ids, struct fz_cmd *c)
{
	unsigned int n = fz_u8(f);
	uint64_t v = value(f, ids);
	uint32_t bit, width;

	if (!c->row)
		return;
	n %= count_fields(c->row->in);
	if (nth_field(c->row->in, &n, 0, &bit, &width) && bit + width <= FZ_CMD_MAX * 8)
		layout_set(c->in, bit, width, v & bits_max(width));
}

void fz_cmd_read(struct fz *f, const struct fz_ids *ids, struct fz_cmd *c)
{
	uint16_t opcode;
	unsigned int n;

	c->flags = fz_u8(f);
	opcode = fz_u16(f);
	memset(c->in, 0, sizeof(c->in));
	c->row = find(opcode);
	if (!c->row && opcode & 0x8000) {
		c->row = &fw_cmds[opcode % fw_ncmds];
		opcode = c->row->opcode;
	}
	c->inlen = c->row ? c->row->in->bytes : LAYOUT_SZ(cmd_in);
	c->outlen = c->row ? c->row->out->bytes : LAYOUT_SZ(cmd_out);
	if (c->flags & FZ_C_BODY) {
		n = fz_u16(f) % (FZ_CMD_MAX + 1);
		fz_bytes(f, c->in, n);
	}
	LAYOUT_SET(cmd_in, c->in, opcode, opcode);
	for (n = (c->flags & FZ_C_PATCHES) >> 4; n; n--)
		patch(f, ids, c);
	if (c->flags & FZ_C_INLEN)
		c->inlen = fz_u16(f) % (FZ_CMD_MAX + 1);
	if (c->flags & FZ_C_OUTLEN)
		c->outlen = fz_u16(f);
}

void fz_answer_check(const uint8_t *out)
{
	uint32_t status = (uint32_t)LAYOUT_GET(cmd_out, out, status);
	uint32_t syndrome = (uint32_t)LAYOUT_GET(cmd_out, out, syndrome);
	const struct fw_refusal *r = fw_refusal_find(syndrome);

	if (status == FW_OK) {
		fz_check(syndrome == 0);
		return;
	}
	fz_check(r && r->status == status);
}

#define REFS_MAX 4096

/* Collect all reference counts, to compare them before and after a recount. */
static unsigned int refs_all(struct seg *s, uint32_t refs[REFS_MAX])
{
	unsigned int n = 0;

	fw_for_each_kind (k)
		seg_for_each_live (s, k->table, i)
			if (k->refs && n < REFS_MAX)
				refs[n++] = atomic_load(fw_refs_of(s, k->table, i));
	return n;
}

void fz_refs_check(struct seg *s, uint32_t hca)
{
	static uint32_t was[REFS_MAX], is[REFS_MAX];
	unsigned int n = refs_all(s, was);

	fw_recount(s, hca);
	fz_check(refs_all(s, is) == n);
	fz_check(!memcmp(was, is, n * sizeof(was[0])));
}

void fz_owned_check(struct seg *s, uint32_t file)
{
	for (uint32_t t = SEG_T_UAR; t < SEG_T_COUNT; t++)
		fz_check(seg_next(s, (enum seg_table_id)t, file + 1, 0) == SEG_NONE);
}

void fz_hints_save(struct seg *s, struct fz_hints *h)
{
	for (uint32_t t = 0; t < SEG_T_COUNT; t++) {
		h->hint[t] = atomic_load(&seg_table(s, (enum seg_table_id)t)->hint);
		h->high[t] = atomic_load(&seg_table(s, (enum seg_table_id)t)->high);
	}
}

void fz_hints_restore(struct seg *s, const struct fz_hints *h)
{
	for (uint32_t t = 0; t < SEG_T_COUNT; t++) {
		atomic_store(&seg_table(s, (enum seg_table_id)t)->hint, h->hint[t]);
		atomic_store(&seg_table(s, (enum seg_table_id)t)->high, h->high[t]);
	}
}
