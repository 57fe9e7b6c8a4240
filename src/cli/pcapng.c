/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns captures in the format pcapng (draft-ietf-opsawg-pcapng), which libpcap does not write:
 * packets may have comments, and texts of the capture's own stand between them. Such a text is a
 * PDU that Wireshark gives to its dissector of syslog, so that it is a line of the list.
 */
#include "cli/pcapng.h"

#include <string.h>
#include "util/bits.h"
#include "util/cleanup.h"

enum {
	BLOCK_SECTION = 0x0a0d0d0a,
	BLOCK_INTERFACE = 1,
	BLOCK_PACKET = 6, /* Enhanced Packet Block */
	BYTE_ORDER_MAGIC = 0x1a2b3c4d,
	OPT_END = 0,
	OPT_COMMENT = 1,
	OPT_IF_NAME = 2,
	OPT_IF_TSRESOL = 9,
	NANOSECONDS = 9, /* 10^-9 s */
	LINKTYPE_WIRESHARK_UPPER_PDU = 252,
	/* epan/exported_pdu.h */
	PDU_TAG_END = 0,
	PDU_TAG_DISSECTOR_NAME = 12,
};
enum { IF_PACKETS, IF_TEXTS };

#define SYSLOG_NOTICE "<133>" /* facility local0, RFC 3164 */

/* A block in the making: its length stands at both ends. */
struct block {
	FILE *f;
	uint8_t head[32];
	uint32_t nhead;
	const uint8_t *data;
	uint32_t ndata;
	uint8_t opts[512];
	uint32_t nopts;
};

static uint32_t padded(uint32_t n)
{
	return (n + 3) & ~3u;
}

static void put32(struct block *b, uint32_t v)
{
	memcpy(b->head + b->nhead, &v, sizeof(v));
	b->nhead += (uint32_t)sizeof(v);
}

static void option(struct block *b, uint16_t code, const void *value, size_t len)
{
	uint16_t n = (uint16_t)(len < 256 ? len : 256);

	memcpy(b->opts + b->nopts, &code, sizeof(code));
	memcpy(b->opts + b->nopts + 2, &n, sizeof(n));
	memcpy(b->opts + b->nopts + 4, value, n);
	b->nopts += 4 + padded(n);
}

static bool write_block(struct block *b, uint32_t type)
{
	static const uint8_t zero[4];
	uint32_t len;

	if (b->nopts)
		b->nopts += 4; /* OPT_END, and no length */
	len = 8 + b->nhead + padded(b->ndata) + b->nopts + 4;
	fwrite(&type, sizeof(type), 1, b->f);
	fwrite(&len, sizeof(len), 1, b->f);
	fwrite(b->head, 1, b->nhead, b->f);
	if (b->ndata)
		fwrite(b->data, 1, b->ndata, b->f);
	fwrite(zero, 1, padded(b->ndata) - b->ndata, b->f);
	fwrite(b->opts, 1, b->nopts, b->f);
	fwrite(&len, sizeof(len), 1, b->f);
	return !ferror(b->f);
}

static bool interface(FILE *f, uint16_t linktype, const char *name)
{
	struct block b = {.f = f};
	uint8_t resolution = NANOSECONDS;

	put32(&b, linktype); /* and 16 reserved bits */
	put32(&b, 0);        /* no limit of a packet's length */
	option(&b, OPT_IF_NAME, name, strlen(name));
	option(&b, OPT_IF_TSRESOL, &resolution, 1);
	return write_block(&b, BLOCK_INTERFACE);
}

bool pcapng_begin(FILE *f, int linktype)
{
	struct block b = {.f = f};

	put32(&b, BYTE_ORDER_MAGIC);
	put32(&b, 1);          /* version 1.0 */
	put32(&b, UINT32_MAX); /* the section's length is not known */
	put32(&b, UINT32_MAX);
	return write_block(&b, BLOCK_SECTION) && interface(f, (uint16_t)linktype, "ports") &&
	       interface(f, LINKTYPE_WIRESHARK_UPPER_PDU, "rules of --inject");
}

static bool packet(FILE *f, uint32_t iface, const struct pcapng_packet *p)
{
	struct block b = {.f = f, .data = p->bytes, .ndata = p->kept};

	put32(&b, iface);
	put32(&b, (uint32_t)(p->ns >> 32));
	put32(&b, (uint32_t)p->ns);
	put32(&b, p->kept);
	put32(&b, p->wire);
	if (p->comment)
		option(&b, OPT_COMMENT, p->comment, strlen(p->comment));
	return write_block(&b, BLOCK_PACKET);
}

bool pcapng_packet(FILE *f, const struct pcapng_packet *p)
{
	return packet(f, IF_PACKETS, p);
}

bool pcapng_text(FILE *f, uint64_t ns, const char *text)
{
	static const char name[8] = "syslog";
	uint8_t pdu[512];
	struct pcapng_packet p = {.ns = ns, .bytes = pdu};

	be16_store(pdu, PDU_TAG_DISSECTOR_NAME);
	be16_store(pdu + 2, sizeof(name));
	memcpy(pdu + 4, name, sizeof(name));
	be16_store(pdu + 4 + sizeof(name), PDU_TAG_END);
	be16_store(pdu + 6 + sizeof(name), 0);
	p.kept = 8 + sizeof(name);
	p.kept += (uint32_t)snprintf((char *)pdu + p.kept, sizeof(pdu) - p.kept,
				     SYSLOG_NOTICE "softhca: inject: fired: %s", text);
	if (p.kept >= sizeof(pdu))
		p.kept = sizeof(pdu) - 1;
	p.wire = p.kept;
	return packet(f, IF_TEXTS, &p);
}
