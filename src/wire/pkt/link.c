/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the headers of a packet in front of its BTH, and the checks at its end: those of InfiniBand,
 * and of RoCE v1 and v2 on Ethernet.
 */
#include "wire/pkt/priv.h"
#include "wire/for_tests.h"

#define GRH_NEXT_IBA 0x1b
#define IP_UDP 17

/* ---- network headers */

const uint8_t pkt_net_octets[PKT_NETS] = {
	[PKT_NET_GRH] = LAYOUT_SZ(ib_grh),
	[PKT_NET_IP6] = LAYOUT_SZ(ib_grh) + LAYOUT_SZ(udp),
	[PKT_NET_IP4] = LAYOUT_SZ(ip4) + LAYOUT_SZ(udp),
};

/* IPv6 has GRH's header. */
static uint32_t put_grh(const struct pkt_route *r, uint32_t next, uint32_t len, uint8_t *h)
{
	LAYOUT_SET(ib_grh, h, version, 6);
	LAYOUT_SET(ib_grh, h, tclass, r->tclass);
	LAYOUT_SET(ib_grh, h, flow_label, r->flow_label & 0xfffff);
	LAYOUT_SET(ib_grh, h, paylen, len & 0xffff);
	LAYOUT_SET(ib_grh, h, next_hdr, next);
	LAYOUT_SET(ib_grh, h, hop_limit, r->hop_limit);
	memcpy(h + IB_GRH_SGID, r->sgid, 16);
	memcpy(h + IB_GRH_DGID, r->dgid, 16);
	return LAYOUT_SZ(ib_grh);
}

/* The RFC 1071 checksum of an IPv4 header without options. */
static uint16_t ip4_checksum(const uint8_t *h)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < LAYOUT_SZ(ip4); i += 2)
		sum += be16_load(h + i);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t) ~(sum + (sum >> 16));
}

/* Not fragmented, as in prepare4() of rxe_net.c. */
static uint32_t put_ip4(const struct pkt_route *r, uint32_t len, uint8_t *h)
{
	memset(h, 0, LAYOUT_SZ(ip4));
	LAYOUT_SET(ip4, h, version, 4);
	LAYOUT_SET(ip4, h, ihl, LAYOUT_SZ(ip4) / 4);
	LAYOUT_SET(ip4, h, tos, r->tclass);
	LAYOUT_SET(ip4, h, length, (LAYOUT_SZ(ip4) + len) & 0xffff);
	LAYOUT_SET(ip4, h, dont_fragment, 1);
	LAYOUT_SET(ip4, h, ttl, r->hop_limit);
	LAYOUT_SET(ip4, h, protocol, IP_UDP);
	memcpy(h + LF_ip4_saddr_BIT / 8, r->sgid + 12, 4);
	memcpy(h + LF_ip4_daddr_BIT / 8, r->dgid + 12, 4);
	LAYOUT_SET(ip4, h, checksum, ip4_checksum(h));
	return LAYOUT_SZ(ip4);
}

uint32_t pkt_put_net(const struct pkt_route *r, uint32_t len, uint8_t *h)
{
	switch (r->net) {
	case PKT_NET_GRH:
		return put_grh(r, GRH_NEXT_IBA, len, h);
	case PKT_NET_IP6:
		return put_grh(r, IP_UDP, LAYOUT_SZ(udp) + len, h);
	case PKT_NET_IP4:
		return put_ip4(r, LAYOUT_SZ(udp) + len, h);
	default:
		return 0;
	}
}

/* RoCE v2 leaves UDP's checksum zero, over IPv6, too (prepare_udp_hdr() of rxe_net.c). */
void pkt_put_route(const struct pkt_route *r, uint32_t len, uint8_t *h)
{
	uint32_t n = pkt_put_net(r, len, h);

	if (n == pkt_net_octets[r->net])
		return;
	LAYOUT_SET(udp, h + n, sport, r->udp_sport);
	LAYOUT_SET(udp, h + n, dport, ROCE_UDP_PORT);
	LAYOUT_SET(udp, h + n, length, (LAYOUT_SZ(udp) + len) & 0xffff);
	LAYOUT_SET(udp, h + n, checksum, 0);
}

/* ---- CRCs */

/*
 * Fields that switches and routers change count as ones: VL; class, flow and hops of GRH and IPv6;
 * TOS, TTL and checksum of IPv4; UDP's checksum; BTH's FECN and BECN (rxe_icrc_hdr()).
 */
static void mask_variant(uint8_t *p, enum pkt_net net)
{
	uint32_t n = pkt_net_octets[net];

	p[0] |= 0xf0;
	p += LAYOUT_SZ(lrh);
	if (net == PKT_NET_IP4) {
		p[1] = p[8] = p[10] = p[11] = 0xff;
	} else if (net != PKT_NET_NONE) {
		p[0] |= 0x0f;
		memset(p + 1, 0xff, 3);
		p[7] = 0xff;
	}
	if (net == PKT_NET_IP4 || net == PKT_NET_IP6)
		p[n - 2] = p[n - 1] = 0xff;
	p[n + 4] = 0xff;
}

uint32_t pkt_icrc(const uint8_t lrh[8], enum pkt_net net, const uint8_t *p, uint32_t len)
{
	uint8_t head[LAYOUT_SZ(lrh) + 64] = {0};
	uint32_t n = len < 64 ? len : 64, crc;

	memcpy(head, lrh, LAYOUT_SZ(lrh));
	memcpy(head + LAYOUT_SZ(lrh), p, n);
	mask_variant(head, net);
	crc = crc32_add(UINT32_MAX, head, LAYOUT_SZ(lrh) + n);
	/* The CRC's lowest byte is sent first. */
	return __builtin_bswap32(~crc32_add(crc, p + n, len - n));
}

uint16_t pkt_vcrc(const uint8_t *p, uint32_t len)
{
	return __builtin_bswap16((uint16_t)~crc16_add(UINT16_MAX, p, len));
}

/* ---- InfiniBand */

static void put_lrh(const struct pkt *p, uint32_t len, uint8_t *h)
{
	LAYOUT_SET(lrh, h, vl, p->vl & 0xf);
	LAYOUT_SET(lrh, h, sl, p->sl & 0xf);
	LAYOUT_SET(lrh, h, lnh, p->route.net == PKT_NET_NONE ? LRH_LNH_BTH : LRH_LNH_GRH);
	LAYOUT_SET(lrh, h, dlid, p->dlid);
	LAYOUT_SET(lrh, h, length, len / 4 & 0x7ff);
	LAYOUT_SET(lrh, h, slid, p->slid);
}

static void put_vcrc(uint8_t *p, uint32_t len)
{
	be16_store(p + len, pkt_vcrc(p, len));
}

static const uint8_t *own_lrh(const uint8_t *h)
{
	return h;
}

/* ---- Ethernet */

static void put_eth(const struct pkt *p, uint32_t len, uint8_t *h)
{
	static const uint16_t type[PKT_NETS] = {
		[PKT_NET_GRH] = ETH_TYPE_ROCE,
		[PKT_NET_IP6] = ETH_TYPE_IP6,
		[PKT_NET_IP4] = ETH_TYPE_IP4,
	};

	(void)len;
	memcpy(h, p->dmac, 6);
	memcpy(h + 6, p->smac, 6);
	h += 12;
	if (p->tci) {
		be16_store(h, ETH_TYPE_VLAN);
		be16_store(h + 2, p->tci);
		h += PKT_VLAN;
	}
	be16_store(h, type[p->route.net]);
}

static void put_fcs(uint8_t *p, uint32_t len)
{
	be32_store(p + len, __builtin_bswap32(~crc32_add(UINT32_MAX, p, len)));
}

/* Without an LRH, the CRC covers ones in its place (rxe_icrc_hdr() of rxe_icrc.c). */
static const uint8_t *no_lrh(const uint8_t *h)
{
	static const uint8_t ones[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

	(void)h;
	return ones;
}

const struct pkt_link pkt_links[2] = {
	[false] = {LAYOUT_SZ(lrh), PKT_VCRC, put_lrh, put_vcrc, own_lrh},
	[true] = {PKT_ETH, PKT_FCS, put_eth, put_fcs, no_lrh},
};
