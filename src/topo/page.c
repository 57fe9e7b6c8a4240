/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the page for browsers: page.html with the topology as JSON in it. Ports are arrays, whose
 * columns `port_columns` names, because a large subnet has tens of thousands of them.
 */
#include "topo/picture.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>
#include "wire/ib/port.h"

static const char page[] = {
#include "topo/page.inc"
	0,
};

/* Octets above 0x7f may be no UTF-8: they are shown as Latin-1. "<" would end the script. */
static void write_string(FILE *f, const char *s)
{
	fputc('"', f);
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c < 0x20 || c > 0x7e || c == '<' || c == '"' || c == '\\' || c == '&')
			fprintf(f, "\\u%04x", c);
		else
			fputc(c, f);
	}
	fputc('"', f);
}

/* As status -j writes it. */
static void write_guid(FILE *f, uint64_t g)
{
	fprintf(f, "\"%04x:%04x:%04x:%04x\"", (unsigned int)(g >> 48),
		(unsigned int)(g >> 32 & 0xffff), (unsigned int)(g >> 16 & 0xffff),
		(unsigned int)(g & 0xffff));
}

static const char *state_word(uint32_t state)
{
	static const char *const word[] = {"NOP", "DOWN", "INIT", "ARMED", "ACTIVE"};

	return state < sizeof(word) / sizeof(word[0]) ? word[state] : "?";
}

static const char *phys_word(uint32_t phys)
{
	return phys == IB_PHYS_LINK_UP    ? "LinkUp"
	       : phys == IB_PHYS_POLLING  ? "Polling"
	       : phys == IB_PHYS_DISABLED ? "Disabled"
					  : "?";
}

/* Those that are not 0, which are few. */
static void write_errors(FILE *f, const struct picture_port *s)
{
#define ERROR_NAME(name, text) text,
	static const char *const names[] = {PICTURE_ERRORS(ERROR_NAME)};
	bool any = false;

	for (uint32_t i = 0; i < PICTURE_NERRORS; i++) {
		if (!s->err[i])
			continue;
		fprintf(f, "%s\"%s\":%" PRIu64, any ? "," : ",{", names[i], s->err[i]);
		any = true;
	}
	fputs(any ? "}" : ",null", f);
}

static void write_port(FILE *f, const struct picture *p, uint32_t node, uint32_t num)
{
	const struct topo_port *at = &p->t->node[node].port[num];
	const struct picture_port *s = picture_port(p, node, num);
	bool cable = at->peer_node != TOPO_NONE;
	char rate[16];

	fprintf(f, "[%u,", num);
	if (s->state)
		fprintf(f, "\"%s\",\"%s\",", state_word(s->state), phys_word(s->phys));
	else
		fprintf(f, "null,null,");
	if (cable)
		fprintf(f, "\"%s\",%u,%u,\"%s\",%u",
			picture_cable_name(picture_cable(p, node, num)), at->peer_node,
			at->peer_port, picture_rate(at->width, at->speed, rate), at->lid);
	else
		fprintf(f, "null,null,null,\"\",%u", at->lid);
	for (uint32_t i = 0; s->state && i < PICTURE_COUNTERS; i++)
		fprintf(f, ",%" PRIu64, s->n[i]);
	if (s->state)
		write_errors(f, s);
	fputc(']', f);
}

static void write_node(FILE *f, const struct picture *p, uint32_t i)
{
	static const char *const type[] = {NULL, "ca", "switch", "router"};
	const struct topo_node *n = &p->t->node[i];
	bool first = true;

	fprintf(f, "%s\n{\"name\":", i ? "," : "");
	write_string(f, n->desc[0] ? n->desc : n->id);
	fprintf(f, ",\"type\":\"%s\",\"guid\":", type[n->type]);
	write_guid(f, n->guid);
	if (n->host < p->t->nhosts) {
		fprintf(f, ",\"host\":");
		write_string(f, p->t->host[n->host]);
		fprintf(f, ",\"device\":\"%s\"", p->node[i].device);
	}
	if (n->type == TOPO_SWITCH)
		fprintf(f, ",\"lid\":%u", n->port[0].lid);
	fprintf(f, ",\"level\":%u,\"nports\":%u,\"ports\":[", p->node[i].level, n->nports);
	for (uint32_t k = 1; k <= n->nports; k++) {
		/* Most ports of many switches have no cable. */
		if (n->type == TOPO_SWITCH && n->port[k].peer_node == TOPO_NONE)
			continue;
		if (!first)
			fputc(',', f);
		first = false;
		write_port(f, p, i, k);
	}
	fprintf(f, "]}");
}

static void write_data(FILE *f, const struct picture *p)
{
	fprintf(f, "{\"fabric\":");
	if (p->name)
		write_string(f, p->name);
	else
		fprintf(f, "null");
	if (p->name)
		fprintf(f, ",\"time\":%lld", (long long)time(NULL));
	fprintf(f,
		",\"levels\":%u,\n\"port_columns\":[\"port\",\"state\",\"phys_state\",\"cable\","
		"\"peer\",\"peer_port\",\"rate\",\"lid\",\"xmit_data\",\"rcv_data\","
		"\"xmit_packets\",\"rcv_packets\",\"xmit_discards\",\"errors\"],\n\"nodes\":[",
		p->levels);
	for (uint32_t i = 0; i < p->t->nnodes; i++)
		write_node(f, p, i);
	fprintf(f, "]}\n");
}

int picture_write_page(FILE *f, const struct picture *p)
{
	static const char mark[] = "@DATA@";
	const char *at = strstr(page, mark);

	fwrite(page, 1, (size_t)(at - page), f);
	write_data(f, p);
	fputs(at + strlen(mark), f);
	return ferror(f) ? -EIO : 0;
}
