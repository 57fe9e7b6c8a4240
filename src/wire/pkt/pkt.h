/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Packets as on an InfiniBand link (IBA vol 1, chapters 7 to 9) or as RoCE on Ethernet (annexes 16
 * and 17), for captures only: the data path has no packets. The engine and umad describe a packet
 * (struct pkt); `softhca pcap` makes its bytes, and the records that tools like tshark read.
 */
#ifndef SOFTHCA_WIRE_PKT_PKT_H
#define SOFTHCA_WIRE_PKT_PKT_H

#include "wire/wqe/wqe.h" /* ib_grh */

#define PKT_MAX_PAYLOAD 4096
#define PKT_MAX_HEADERS \
	128 /* RoCE v2 over IPv6 with a VLAN tag and the longest transport headers needs 110 */
enum { PKT_ICRC = 4, PKT_VCRC = 2, PKT_FCS = 4 }; /* bytes of the checks that end a packet */
#define PKT_MAX (PKT_MAX_HEADERS + PKT_MAX_PAYLOAD + 3 + PKT_ICRC + PKT_FCS)

/* BTH:OpCode has the operation in the low 5 bits, the transport in the high 3. IBA 9.2.1 */
enum pkt_opcode {
	PKT_SEND_FIRST = 0x00,
	PKT_SEND_MIDDLE = 0x01,
	PKT_SEND_LAST = 0x02,
	PKT_SEND_LAST_IMM = 0x03,
	PKT_SEND_ONLY = 0x04,
	PKT_SEND_ONLY_IMM = 0x05,
	PKT_WRITE_FIRST = 0x06,
	PKT_WRITE_MIDDLE = 0x07,
	PKT_WRITE_LAST = 0x08,
	PKT_WRITE_LAST_IMM = 0x09,
	PKT_WRITE_ONLY = 0x0a,
	PKT_WRITE_ONLY_IMM = 0x0b,
	PKT_READ_REQUEST = 0x0c,
	PKT_READ_RESP_FIRST = 0x0d,
	PKT_READ_RESP_MIDDLE = 0x0e,
	PKT_READ_RESP_LAST = 0x0f,
	PKT_READ_RESP_ONLY = 0x10,
	PKT_ACK = 0x11,
	PKT_ATOMIC_ACK = 0x12,
	PKT_COMPARE_SWAP = 0x13,
	PKT_FETCH_ADD = 0x14,
	PKT_SEND_LAST_INV = 0x16,
	PKT_SEND_ONLY_INV = 0x17,
	PKT_OP_MASK = 0x1f,
	PKT_RC = 0x00,
	PKT_UC = 0x20,
	PKT_UD = 0x60,
	PKT_XRC = 0xa0,
};

/* AETH:Syndrome */
enum pkt_syndrome {
	PKT_SYND_ACK = 0x1f, /* ACK without a count of end-to-end credits */
	PKT_SYND_RNR_NAK = 0x20,
	PKT_SYND_NAK_SEQUENCE = 0x60,
	PKT_SYND_NAK_INVALID = 0x61,
	PKT_SYND_NAK_ACCESS = 0x62,
	PKT_SYND_NAK_OPERATION = 0x63,
};

enum pkt_flags {
	PKT_F_SOLICITED = 1,
	PKT_F_ACK_REQ = 2,
	PKT_F_STAYS = 4, /* BTH:MigReq is 0: the sender's path migration is not in state migrated */
};

/* The network header; those of RoCE v2 with the UDP header behind them. */
enum pkt_net { PKT_NET_NONE, PKT_NET_GRH, PKT_NET_IP6, PKT_NET_IP4, PKT_NETS };
extern const uint8_t pkt_net_octets[PKT_NETS];

/* The fields of a network header. An IPv4 address is the last four octets of its GID. */
struct pkt_route {
	uint8_t net; /* enum pkt_net */
	uint8_t hop_limit, tclass;
	uint16_t udp_sport;
	uint32_t flow_label;
	uint8_t sgid[16], dgid[16];
};

enum pkt_mark {
	PKT_PASSES,
	PKT_LOST, /* a rule of --inject loses it behind its port */
	PKT_RULE, /* no packet: its payload is the text of a rule that has fired */
};

/* One packet; numbers are in host byte order, GIDs in network order. */
struct pkt {
	uint64_t time_ns; /* CLOCK_REALTIME */
	bool eth;         /* a frame of Ethernet: RoCE */
	uint16_t slid, dlid;
	uint8_t smac[6], dmac[6];
	uint16_t tci; /* in the 802.1Q tag, PKT_TCI(); 0: no tag */
	uint16_t pkey;
	uint8_t sl, vl;
	uint8_t opcode; /* operation | transport */
	uint8_t flags;  /* enum pkt_flags */
	uint8_t mark;   /* enum pkt_mark */
	uint8_t port;   /* port number of the sender */
	struct pkt_route route;
	uint32_t dest_qpn, src_qpn; /* src_qpn: for UD only */
	uint32_t qkey;              /* UD */
	uint32_t psn;
	uint32_t srqn;          /* for XRC requests */
	uint32_t rkey, dma_len; /* for RDMA and atomics */
	uint64_t va;
	uint64_t swap_add, compare; /* for atomics; in an answer compare is the original value */
	uint32_t syndrome, msn;     /* AETH */
	uint32_t imm;               /* immediate data, or the key to be invalidated */
	uint32_t payload;           /* payload bytes on the wire */
	uint32_t kept;              /* payload bytes that are recorded: the first ones */
};

#define PKT_L_lrh(F)                  \
	F(lrh, vl, 0x00, 4)           \
	F(lrh, link_version, 0x04, 4) \
	F(lrh, sl, 0x08, 4)           \
	F(lrh, lnh, 0x0e, 2)          \
	F(lrh, dlid, 0x10, 16)        \
	F(lrh, length, 0x25, 11)      \
	F(lrh, slid, 0x30, 16)
LAYOUT(lrh, 8, PKT_L_lrh)
enum { LRH_LNH_BTH = 2, LRH_LNH_GRH = 3 };

/*
 * Octets of an Ethernet II header (two addresses, type), and of the VLAN tag before the type (IEEE
 * 802.1Q, 9.6).
 */
#define PKT_ETH 14
#define PKT_VLAN 4
#define PKT_TCI(prio, id) ((uint16_t)(((prio)&7u) << 13 | ((id)&0xfffu)))
enum {
	ETH_TYPE_VLAN = 0x8100,
	ETH_TYPE_ROCE = 0x8915,
	ETH_TYPE_IP4 = 0x0800,
	ETH_TYPE_IP6 = 0x86dd
};

#define PKT_L_ip4(F)                   \
	F(ip4, version, 0x00, 4)       \
	F(ip4, ihl, 0x04, 4)           \
	F(ip4, tos, 0x08, 8)           \
	F(ip4, length, 0x10, 16)       \
	F(ip4, id, 0x20, 16)           \
	F(ip4, dont_fragment, 0x31, 1) \
	F(ip4, fragment_off, 0x33, 13) \
	F(ip4, ttl, 0x40, 8)           \
	F(ip4, protocol, 0x48, 8)      \
	F(ip4, checksum, 0x50, 16)     \
	F(ip4, saddr, 0x60, 32)        \
	F(ip4, daddr, 0x80, 32)
LAYOUT(ip4, 20, PKT_L_ip4)

#define PKT_L_udp(F)             \
	F(udp, sport, 0x00, 16)  \
	F(udp, dport, 0x10, 16)  \
	F(udp, length, 0x20, 16) \
	F(udp, checksum, 0x30, 16)
LAYOUT(udp, 8, PKT_L_udp)
#define ROCE_UDP_PORT 4791

#define PKT_L_bth(F)               \
	F(bth, opcode, 0x00, 8)    \
	F(bth, solicited, 0x08, 1) \
	F(bth, migrated, 0x09, 1)  \
	F(bth, pad, 0x0a, 2)       \
	F(bth, version, 0x0c, 4)   \
	F(bth, pkey, 0x10, 16)     \
	F(bth, dest_qpn, 0x28, 24) \
	F(bth, ack_req, 0x40, 1)   \
	F(bth, psn, 0x48, 24)
LAYOUT(bth, 12, PKT_L_bth)

#define PKT_L_deth(F)           \
	F(deth, qkey, 0x00, 32) \
	F(deth, src_qpn, 0x28, 24)
LAYOUT(deth, 8, PKT_L_deth)

#define PKT_L_reth(F)           \
	F(reth, va, 0x00, 64)   \
	F(reth, rkey, 0x40, 32) \
	F(reth, dma_len, 0x60, 32)
LAYOUT(reth, 16, PKT_L_reth)

#define PKT_L_aeth(F)              \
	F(aeth, syndrome, 0x00, 8) \
	F(aeth, msn, 0x08, 24)
LAYOUT(aeth, 4, PKT_L_aeth)

#define PKT_L_atomic_eth(F)               \
	F(atomic_eth, va, 0x00, 64)       \
	F(atomic_eth, rkey, 0x40, 32)     \
	F(atomic_eth, swap_add, 0x60, 64) \
	F(atomic_eth, compare, 0xa0, 64)
LAYOUT(atomic_eth, 28, PKT_L_atomic_eth)

#define PKT_L_atomic_ack_eth(F) F(atomic_ack_eth, original, 0x00, 64)
LAYOUT(atomic_ack_eth, 8, PKT_L_atomic_ack_eth)

#define PKT_L_xrceth(F) F(xrceth, srqn, 0x08, 24)
LAYOUT(xrceth, 4, PKT_L_xrceth)

/* One word: immediate data, or the key of IETH. */
#define PKT_L_pkt_word(F) F(pkt_word, value, 0x00, 32)
LAYOUT(pkt_word, 4, PKT_L_pkt_word)

#define PKT_LAYOUTS(X)                          \
	X(lrh, PKT_L_lrh)                       \
	X(ip4, PKT_L_ip4)                       \
	X(udp, PKT_L_udp)                       \
	X(bth, PKT_L_bth)                       \
	X(deth, PKT_L_deth)                     \
	X(reth, PKT_L_reth)                     \
	X(aeth, PKT_L_aeth)                     \
	X(atomic_eth, PKT_L_atomic_eth)         \
	X(atomic_ack_eth, PKT_L_atomic_ack_eth) \
	X(xrceth, PKT_L_xrceth)                 \
	X(pkt_word, PKT_L_pkt_word)

/*
 * Writes the network header for `len` octets from the BTH to the ICRC; not the UDP header behind
 * it. Returns its octets.
 */
uint32_t pkt_put_net(const struct pkt_route *r, uint32_t len, uint8_t *h);
/*
 * The invariant CRC (IBA 7.8). The `len` octets begin with the network header, or with the BTH if
 * there is none. `lrh`: the octets of an LRH in front of them, or ones.
 */
uint32_t pkt_icrc(const uint8_t lrh[8], enum pkt_net net, const uint8_t *p, uint32_t len);

/* The file format ERF (Extensible Record Format, Endace), types InfiniBand and Ethernet. */
#define ERF_HDR 16
#define ERF_ETH 2 /* octets between the header and a frame */
#define ERF_MAX (ERF_HDR + ERF_ETH + PKT_MAX)
/*
 * Writes the packet as a record of a capture file and returns the record's length. `lost`: packets
 * lost before it. *wire: the length of the whole packet. erf_record(): any packet; eth_record(): an
 * Ethernet frame without its FCS.
 */
uint32_t erf_record(const struct pkt *p, const uint8_t *payload, uint32_t snap, uint32_t lost,
		    uint8_t *out, uint32_t *wire);
uint32_t eth_record(const struct pkt *p, const uint8_t *payload, uint32_t snap, uint32_t lost,
		    uint8_t *out, uint32_t *wire);

#endif
