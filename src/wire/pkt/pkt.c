/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the bytes of packets from the BTH on, and records of capture files. Called by `softhca pcap`
 * and by tests.
 */
#include "wire/pkt/priv.h"
#include "wire/for_tests.h"

#define NSEC 1000000000u
#define TABLE(l, list) LAYOUT_TABLE(l, list)
PKT_LAYOUTS(TABLE)

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

/* Write all headers; returns their length. Length fields cover the payload and its padding. */
static uint32_t put_headers(const struct pkt_link *l, const struct pkt *p, uint8_t *h)
{
	uint32_t front = pkt_front(l, p), n = front + pkt_net_octets[p->route.net],
		 pad = -p->payload & 3;
	uint8_t *bth = h + n;
	uint32_t rest;

	memset(h, 0, PKT_MAX_HEADERS);
	rest = LAYOUT_SZ(bth) + put_extended(p, bth + LAYOUT_SZ(bth));
	LAYOUT_SET(bth, bth, opcode, p->opcode);
	LAYOUT_SET(bth, bth, solicited, !!(p->flags & PKT_F_SOLICITED));
	LAYOUT_SET(bth, bth, migrated, !(p->flags & PKT_F_STAYS));
	LAYOUT_SET(bth, bth, pad, pad);
	LAYOUT_SET(bth, bth, pkey, p->pkey);
	LAYOUT_SET(bth, bth, dest_qpn, p->dest_qpn & 0xffffff);
	LAYOUT_SET(bth, bth, ack_req, !!(p->flags & PKT_F_ACK_REQ));
	LAYOUT_SET(bth, bth, psn, p->psn & 0xffffff);
	l->put(p, n + rest + p->payload + pad + PKT_ICRC, h);
	pkt_put_route(&p->route, rest + p->payload + pad + PKT_ICRC, h + front);
	return n + rest;
}

uint32_t pkt_bytes(const struct pkt *p, const uint8_t *payload, uint32_t snap, uint8_t *out,
		   uint32_t *wire)
{
	const struct pkt_link *l = &pkt_links[p->eth];
	uint32_t n = put_headers(l, p, out), pad = -p->payload & 3;
	uint32_t kept = p->kept < p->payload ? p->kept : p->payload;

	*wire = n + p->payload + pad + PKT_ICRC + l->check;
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
	be32_store(out + n, pkt_icrc(l->lrh(out), (enum pkt_net)p->route.net, out + pkt_front(l, p),
				     n - pkt_front(l, p)));
	n += PKT_ICRC;
	l->put_check(out, n);
	n += l->check;
	return n < snap ? n : snap;
}

/* ---- records of capture files */

uint32_t eth_record(const struct pkt *p, const uint8_t *payload, uint32_t snap, uint32_t lost,
		    uint8_t *out, uint32_t *wire)
{
	uint32_t n = pkt_bytes(p, payload, snap, out, wire);

	(void)lost;
	*wire -= PKT_FCS;
	return n < *wire ? n : *wire;
}

/* ERF: the time is in the capture card's byte order, lengths are in network order. */
enum { ERF_TYPE_ETH = 2, ERF_TYPE_INFINIBAND = 21, ERF_VARYING = 0x04, ERF_TRUNCATED = 0x08 };

#define ERF_L_erf_hdr(F)           \
	F(erf_hdr, type, 0x40, 8)  \
	F(erf_hdr, flags, 0x48, 8) \
	F(erf_hdr, rlen, 0x50, 16) \
	F(erf_hdr, lctr, 0x60, 16) \
	F(erf_hdr, wlen, 0x70, 16)
LAYOUT(erf_hdr, ERF_HDR, ERF_L_erf_hdr)
LAYOUT_TABLE(erf_hdr, ERF_L_erf_hdr)

uint32_t erf_record(const struct pkt *p, const uint8_t *payload, uint32_t snap, uint32_t lost,
		    uint8_t *out, uint32_t *wire)
{
	uint64_t part = ((p->time_ns % NSEC) << 32) / NSEC;
	uint64_t time = p->time_ns / NSEC << 32 | part;
	uint32_t head = ERF_HDR + (p->eth ? ERF_ETH : 0);
	uint32_t n = pkt_bytes(p, payload, snap, out + head, wire);

	/* The time: seconds in the high half, little endian. */
	for (unsigned int i = 0; i < 8; i++)
		out[i] = (uint8_t)(time >> (8 * i));
	memset(out + 8, 0, head - 8);
	LAYOUT_SET(erf_hdr, out, type, p->eth ? ERF_TYPE_ETH : ERF_TYPE_INFINIBAND);
	/* Two flag bits name the capturing interface; here they name the port. */
	LAYOUT_SET(erf_hdr, out, flags,
		   ERF_VARYING | (n < *wire ? ERF_TRUNCATED : 0u) | ((p->port - 1u) & 3));
	LAYOUT_SET(erf_hdr, out, rlen, head + n);
	LAYOUT_SET(erf_hdr, out, lctr, lost < UINT16_MAX ? lost : UINT16_MAX);
	LAYOUT_SET(erf_hdr, out, wlen, *wire);
	*wire += head;
	return head + n;
}
