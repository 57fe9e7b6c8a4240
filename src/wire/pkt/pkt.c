/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns the bytes of packets and of ERF records. Called by `softhca pcap` and by tests. */
#include "wire/pkt/pkt.h"
#include "wire/pkt/crc.h"

#define NSEC 1000000000u
#define TABLE(l, list) LAYOUT_TABLE(l, list)
PKT_LAYOUTS(TABLE)

#define GRH_NEXT_IBA 0x1b

/* ---- CRCs */

/*
 * Fields that switches change count as ones: VL, GRH's class, flow and hops, BTH's FECN and BECN.
 */
static void mask_variant(uint8_t *p, bool grh)
{
	p[0] |= 0xf0;
	if (grh) {
		p[8] |= 0x0f;
		memset(p + 9, 0xff, 3);
		p[15] = 0xff;
	}
	p[LAYOUT_SZ(lrh) + (grh ? LAYOUT_SZ(ib_grh) : 0) + 4] = 0xff;
}

uint32_t pkt_icrc(const uint8_t *p, uint32_t len)
{
	bool grh = LAYOUT_GET(lrh, p, lnh) == LRH_LNH_GRH;
	uint8_t head[64] = {0};
	uint32_t n = len < sizeof(head) ? len : (uint32_t)sizeof(head), crc;

	memcpy(head, p, n);
	mask_variant(head, grh);
	crc = crc32_add(UINT32_MAX, head, n);
	/* The CRC's lowest byte is sent first. */
	return __builtin_bswap32(~crc32_add(crc, p + n, len - n));
}

uint16_t pkt_vcrc(const uint8_t *p, uint32_t len)
{
	return __builtin_bswap16((uint16_t)~crc16_add(UINT16_MAX, p, len));
}

/* ---- extended transport headers: the ones of each operation, in order */

enum {
	X_XRC = 1,
	X_DETH = 2,
	X_RETH = 4,
	X_ATOMIC = 8,
	X_AETH = 16,
	X_ATOMIC_ACK = 32,
	X_IMM = 64
};

static uint32_t extended(uint8_t opcode)
{
	static const uint8_t rows[32] = {
		[PKT_SEND_LAST_IMM] = X_IMM,
		[PKT_SEND_ONLY_IMM] = X_IMM,
		[PKT_SEND_LAST_INV] = X_IMM,
		[PKT_SEND_ONLY_INV] = X_IMM,
		[PKT_WRITE_FIRST] = X_RETH,
		[PKT_WRITE_LAST_IMM] = X_IMM,
		[PKT_WRITE_ONLY] = X_RETH,
		[PKT_WRITE_ONLY_IMM] = X_RETH | X_IMM,
		[PKT_READ_REQUEST] = X_RETH,
		[PKT_READ_RESP_FIRST] = X_AETH,
		[PKT_READ_RESP_LAST] = X_AETH,
		[PKT_READ_RESP_ONLY] = X_AETH,
		[PKT_ACK] = X_AETH,
		[PKT_ATOMIC_ACK] = X_AETH | X_ATOMIC_ACK,
		[PKT_COMPARE_SWAP] = X_ATOMIC,
		[PKT_FETCH_ADD] = X_ATOMIC,
	};
	uint32_t op = opcode & PKT_OP_MASK, transport = opcode & ~PKT_OP_MASK & 0xff;
	bool answer = op >= PKT_READ_RESP_FIRST && op <= PKT_ATOMIC_ACK;

	return rows[op] | (transport == PKT_UD ? X_DETH : 0) |
	       (transport == PKT_XRC && !answer ? X_XRC : 0);
}

static uint32_t put_extended(const struct pkt *p, uint8_t *h)
{
	uint32_t x = extended(p->opcode), n = 0;

	if (x & X_XRC) {
		LAYOUT_SET(xrceth, h, srqn, p->srqn & 0xffffff);
		n += LAYOUT_SZ(xrceth);
	}
	if (x & X_DETH) {
		LAYOUT_SET(deth, h + n, qkey, p->qkey);
		LAYOUT_SET(deth, h + n, src_qpn, p->src_qpn & 0xffffff);
		n += LAYOUT_SZ(deth);
	}
	if (x & X_RETH) {
		LAYOUT_SET(reth, h + n, va, p->va);
		LAYOUT_SET(reth, h + n, rkey, p->rkey);
		LAYOUT_SET(reth, h + n, dma_len, p->dma_len);
		n += LAYOUT_SZ(reth);
	}
	if (x & X_ATOMIC) {
		LAYOUT_SET(atomic_eth, h + n, va, p->va);
		LAYOUT_SET(atomic_eth, h + n, rkey, p->rkey);
		LAYOUT_SET(atomic_eth, h + n, swap_add, p->swap_add);
		LAYOUT_SET(atomic_eth, h + n, compare, p->compare);
		n += LAYOUT_SZ(atomic_eth);
	}
	if (x & X_AETH) {
		LAYOUT_SET(aeth, h + n, syndrome, p->syndrome & 0xff);
		LAYOUT_SET(aeth, h + n, msn, p->msn & 0xffffff);
		n += LAYOUT_SZ(aeth);
	}
	if (x & X_ATOMIC_ACK) {
		LAYOUT_SET(atomic_ack_eth, h + n, original, p->compare);
		n += LAYOUT_SZ(atomic_ack_eth);
	}
	if (x & X_IMM) {
		LAYOUT_SET(pkt_word, h + n, value, p->imm);
		n += LAYOUT_SZ(pkt_word);
	}
	return n;
}

static uint32_t put_grh(const struct pkt *p, uint8_t *h)
{
	if (!(p->flags & PKT_F_GRH))
		return 0;
	LAYOUT_SET(ib_grh, h, version, 6);
	LAYOUT_SET(ib_grh, h, tclass, p->tclass);
	LAYOUT_SET(ib_grh, h, flow_label, p->flow_label & 0xfffff);
	LAYOUT_SET(ib_grh, h, next_hdr, GRH_NEXT_IBA);
	LAYOUT_SET(ib_grh, h, hop_limit, p->hop_limit);
	memcpy(h + IB_GRH_SGID, p->sgid, 16);
	memcpy(h + IB_GRH_DGID, p->dgid, 16);
	return LAYOUT_SZ(ib_grh);
}

/* Write all headers; returns their length. Length fields cover the payload and its padding. */
static uint32_t put_headers(const struct pkt *p, uint8_t *h)
{
	uint32_t pad = -p->payload & 3, n = LAYOUT_SZ(lrh), grh, rest;
	uint8_t *bth;

	memset(h, 0, PKT_MAX_HEADERS);
	grh = put_grh(p, h + n);
	n += grh;
	bth = h + n;
	n += LAYOUT_SZ(bth);
	n += put_extended(p, h + n);
	rest = p->payload + pad + PKT_ICRC;

	LAYOUT_SET(lrh, h, vl, p->vl & 0xf);
	LAYOUT_SET(lrh, h, sl, p->sl & 0xf);
	LAYOUT_SET(lrh, h, lnh, grh ? LRH_LNH_GRH : LRH_LNH_BTH);
	LAYOUT_SET(lrh, h, dlid, p->dlid);
	LAYOUT_SET(lrh, h, length, (n + rest) / 4 & 0x7ff);
	LAYOUT_SET(lrh, h, slid, p->slid);
	if (grh)
		LAYOUT_SET(ib_grh, h + LAYOUT_SZ(lrh), paylen, n - LAYOUT_SZ(lrh) - grh + rest);
	LAYOUT_SET(bth, bth, opcode, p->opcode);
	LAYOUT_SET(bth, bth, solicited, !!(p->flags & PKT_F_SOLICITED));
	LAYOUT_SET(bth, bth, migrated, 1);
	LAYOUT_SET(bth, bth, pad, pad);
	LAYOUT_SET(bth, bth, pkey, p->pkey);
	LAYOUT_SET(bth, bth, dest_qpn, p->dest_qpn & 0xffffff);
	LAYOUT_SET(bth, bth, ack_req, !!(p->flags & PKT_F_ACK_REQ));
	LAYOUT_SET(bth, bth, psn, p->psn & 0xffffff);
	return n;
}

uint32_t pkt_bytes(const struct pkt *p, const uint8_t *payload, uint32_t snap, uint8_t *out,
		   uint32_t *wire)
{
	uint32_t n = put_headers(p, out), pad = -p->payload & 3;
	uint32_t kept = p->kept < p->payload ? p->kept : p->payload;

	*wire = n + p->payload + pad + PKT_ICRC + PKT_VCRC;
	if (kept > PKT_MAX_PAYLOAD)
		kept = PKT_MAX_PAYLOAD;
	if (n + kept > snap)
		kept = snap > n ? snap - n : 0;
	if (kept)
		memcpy(out + n, payload, kept);
	n += kept;
	if (kept < p->payload)
		return n < snap ? n : snap;
	memset(out + n, 0, pad);
	n += pad;
	be32_store(out + n, pkt_icrc(out, n));
	n += 4;
	be16_store(out + n, pkt_vcrc(out, n));
	n += 2;
	return n < snap ? n : snap;
}

/* ---- ERF: the time is in the capture card's byte order, lengths are in network order */

enum { ERF_TYPE_INFINIBAND = 21, ERF_VARYING = 0x04, ERF_TRUNCATED = 0x08 };

#define ERF_L_erf_hdr(F)           \
	F(erf_hdr, type, 0x40, 8)  \
	F(erf_hdr, flags, 0x48, 8) \
	F(erf_hdr, rlen, 0x50, 16) \
	F(erf_hdr, lctr, 0x60, 16) \
	F(erf_hdr, wlen, 0x70, 16)
LAYOUT(erf_hdr, ERF_HDR, ERF_L_erf_hdr)
LAYOUT_TABLE(erf_hdr, ERF_L_erf_hdr)

uint32_t erf_record(const struct pkt *p, const uint8_t *payload, uint32_t snap, uint32_t lost,
		    uint8_t *out)
{
	uint64_t part = ((p->time_ns % NSEC) << 32) / NSEC;
	uint64_t time = p->time_ns / NSEC << 32 | part;
	uint32_t wire, n = pkt_bytes(p, payload, snap, out + ERF_HDR, &wire);

	/* The time: seconds in the high half, little endian. */
	for (unsigned int i = 0; i < 8; i++)
		out[i] = (uint8_t)(time >> (8 * i));
	memset(out + 8, 0, 8);
	LAYOUT_SET(erf_hdr, out, type, ERF_TYPE_INFINIBAND);
	/* Two bits name the interface of the capturing card; here the port. */
	LAYOUT_SET(erf_hdr, out, flags,
		   ERF_VARYING | (n < wire ? ERF_TRUNCATED : 0u) | ((p->port - 1u) & 3));
	LAYOUT_SET(erf_hdr, out, rlen, ERF_HDR + n);
	LAYOUT_SET(erf_hdr, out, lctr, lost < UINT16_MAX ? lost : UINT16_MAX);
	LAYOUT_SET(erf_hdr, out, wlen, wire);
	return ERF_HDR + n;
}
