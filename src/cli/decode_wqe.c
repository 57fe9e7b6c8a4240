/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Work requests of a dump: control segment, then the segments of the opcode, then data segments. */
#include "cli/decode.h"

#include "wire/prm/mkey.h"
#include "wire/wqe/tm.h"
#include "wire/wqe/wqe.h"

bool decode_is_wqe(const uint8_t *p, size_t n)
{
	uint64_t ds;

	if (n < WQE_SEG)
		return false;
	ds = LAYOUT_GET(wqe_ctrl, p, ds);
	return ds && ds * WQE_SEG <= n && LAYOUT_GET(wqe_ctrl, p, qpn) &&
	       *wqe_opcode_name(LAYOUT_GET8(wqe_ctrl, p, opcode)) != '?';
}

static void segment(struct json_object *o, const char *name, const struct layout *l,
		    const uint8_t *p, size_t n, size_t *at)
{
	if (*at < n)
		decode_layout(o, l, p + *at, n - *at < l->bytes ? n - *at : l->bytes, *at, name);
	*at += l->bytes;
}

static void data_segments(struct json_object *o, const uint8_t *p, size_t n, size_t at)
{
	while (at + WQE_SEG <= n) {
		uint64_t count = LAYOUT_GET(wqe_data, p + at, byte_count);

		if (LAYOUT_GET(wqe_data, p + at, inline_seg)) {
			size_t len = (size_t)count < n - at - WQE_INLINE_HDR
					     ? (size_t)count
					     : n - at - WQE_INLINE_HDR;

			decode_bytes(o, "inline_data", p + at + WQE_INLINE_HDR, len,
				     at + WQE_INLINE_HDR);
			at += wqe_inline_size((uint32_t)len);
			continue;
		}
		segment(o, "data", &layout_wqe_data, p, n, &at);
	}
}

/* A datagram has an address vector where other transports have data already. */
static bool has_av(const uint8_t *p, size_t n)
{
	return n >= 2 * WQE_SEG + LAYOUT_SZ(wqe_av) && LAYOUT_GET(wqe_av, p + WQE_SEG, ext) &&
	       !be32_load(p + WQE_SEG + 4);
}

/*
 * Operands of a masked atomic: their size; for 8 bytes the masks of a swap are in a second segment.
 */
static void masked_atomic(struct json_object *o, const uint8_t *p, size_t n, size_t *at)
{
	if (LAYOUT_GET(wqe_ctrl, p, opmod) == WQE_OPMOD_ATOMIC32) {
		segment(o, "atomic32", &layout_wqe_atomic32, p, n, at);
		return;
	}
	segment(o, "atomic", &layout_wqe_atomic, p, n, at);
	if (LAYOUT_GET(wqe_ctrl, p, opcode) == WQE_OP_ATOMIC_MASKED_CS)
		segment(o, "atomic", &layout_wqe_atomic, p, n, at);
}

/* One format, of crypto or of signatures. */
static void bsf(struct json_object *o, const uint8_t *p, size_t n, size_t *at)
{
	if (LAYOUT_GET(wqe_crypto_bsf, p + *at, type) == WQE_BSF_TYPE_CRYPTO) {
		segment(o, "bsf_crypto", &layout_wqe_crypto_bsf, p, n, at);
		return;
	}
	segment(o, "bsf", &layout_wqe_bsf, p, n, at);
	segment(o, "bsf_wire", &layout_wqe_bsf_inl, p, n, at);
	segment(o, "bsf_memory", &layout_wqe_bsf_inl, p, n, at);
}

/*
 * The parts of a UMR: its control, the key's new context, and its list; a list that is not inline
 * is a data segment.
 */
static void umr(struct json_object *o, const uint8_t *p, size_t n, size_t *at)
{
	bool is_list = *at + WQE_SEG <= n && LAYOUT_GET(wqe_umr, p + *at, inline_list);
	uint64_t strided = 0, bsfs = 0;
	size_t end = n;

	/*
	 * With the enable bit the offset counts translations; without it, it is the size of the
	 * BSFs.
	 */
	if (is_list && !LAYOUT_GET(wqe_umr, p + *at, translation_offset_en))
		bsfs = LAYOUT_GET(wqe_umr, p + *at, translation_offset) * WQE_SEG / WQE_BSF_BYTES;
	if (bsfs <= 2 && n >= WQE_UMR_LIST + bsfs * WQE_BSF_BYTES)
		end -= bsfs * WQE_BSF_BYTES;
	segment(o, "umr", &layout_wqe_umr, p, n, at);
	segment(o, "mkc", &layout_mkc, p, n, at);
	if (!is_list)
		return;
	if (*at + WQE_SEG <= n && LAYOUT_GET(wqe_repeat, p + *at, op) == WQE_REPEAT_OP) {
		strided = LAYOUT_GET(wqe_repeat, p + *at, num_ent);
		segment(o, "repeat", &layout_wqe_repeat, p, n, at);
	}
	for (; *at + WQE_SEG <= end; strided -= !!strided)
		segment(o, strided ? "repeat_ent" : "klm",
			strided ? &layout_wqe_repeat_ent : &layout_wqe_klm, p, n, at);
	while (*at + WQE_BSF_BYTES <= n)
		bsf(o, p, n, at);
}

static void segments(struct json_object *o, const uint8_t *p, size_t n)
{
	uint8_t opcode = LAYOUT_GET8(wqe_ctrl, p, opcode);
	size_t at = 0;

	segment(o, "ctrl", &layout_wqe_ctrl, p, n, &at);
	switch (opcode) {
	case WQE_OP_SEND:
	case WQE_OP_SEND_IMM:
		if (has_av(p, n))
			segment(o, "av", &layout_wqe_av, p, n, &at);
		break;
	case WQE_OP_RDMA_WRITE:
	case WQE_OP_RDMA_WRITE_IMM:
	case WQE_OP_RDMA_READ:
		segment(o, "raddr", &layout_wqe_raddr, p, n, &at);
		break;
	case WQE_OP_ATOMIC_CS:
	case WQE_OP_ATOMIC_FA:
		segment(o, "raddr", &layout_wqe_raddr, p, n, &at);
		segment(o, "atomic", &layout_wqe_atomic, p, n, &at);
		break;
	case WQE_OP_ATOMIC_MASKED_CS:
	case WQE_OP_ATOMIC_MASKED_FA:
		segment(o, "raddr", &layout_wqe_raddr, p, n, &at);
		masked_atomic(o, p, n, &at);
		break;
	case WQE_OP_UMR:
		umr(o, p, n, &at);
		break;
	case WQE_OP_SET_PSV:
		segment(o, "psv", &layout_wqe_psv, p, n, &at);
		break;
	case WQE_OP_TAG_MATCHING:
		segment(o, "tm", &layout_wqe_tm, p, n, &at);
		break;
	case WQE_OP_MMO:
		segment(o, "mmo", &layout_wqe_mmo, p, n, &at);
		break;
	case WQE_OP_SEND_INVAL:
	case WQE_OP_NOP:
		break;
	default:
		if (at < n)
			decode_bytes(o, "segments", p + at, n - at, at);
		return;
	}
	data_segments(o, p, n, at);
}

/* Receives have no control segment: a list of data segments, ended by the invalid lkey. */
static bool decode_wqe_receive(struct json_object *list, const uint8_t *p, size_t n)
{
	size_t used = 0;

	while (used + WQE_SEG <= n && LAYOUT_GET(wqe_data, p + used, lkey) != WQE_INVALID_LKEY &&
	       LAYOUT_GET(wqe_data, p + used, lkey))
		used += WQE_SEG;
	if (!used)
		return false;
	data_segments(decode_part(list, "wqe", "receive", n), p, used, 0);
	return true;
}

bool decode_wqes(struct json_object *list, const uint8_t *p, size_t n)
{
	size_t at = 0;

	if (!decode_is_wqe(p, n))
		return decode_wqe_receive(list, p, n);
	while (n - at >= WQE_SEG && decode_is_wqe(p + at, n - at)) {
		uint8_t opcode = LAYOUT_GET8(wqe_ctrl, p + at, opcode);
		size_t bytes = (size_t)LAYOUT_GET(wqe_ctrl, p + at, ds) * WQE_SEG;

		segments(decode_part(list, "wqe", wqe_opcode_name(opcode), bytes), p + at, bytes);
		at += (bytes + WQE_BB - 1) / WQE_BB * WQE_BB;
		if (at > n)
			break;
	}
	return true;
}
