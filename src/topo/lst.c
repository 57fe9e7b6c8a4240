/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the lines of .lst files, which ibdiagnet and OpenSM (opensm-subnet.lst) write: a cable each,
 * `{ CA Ports:02 SystemGUID:... {desc} LID:0005 PN:01 } { SW ... } PHY=4x LOG=ACT SPD=10`, listed
 * from one end or from both. Facts: dump_topology_node() in OpenSM's osm_dump.c. parse.c calls it.
 */
#include "topo/parse.h"

#include <errno.h>
#include <string.h>
#include "util/cleanup.h"
#include "wire/ib/link.h"

/* One end of a cable, as a line describes it. */
struct end {
	struct topo_where at;
	struct topo_node n;
	uint64_t guid; /* the port's; a switch's ports have the one of port 0 */
	uint32_t lid, num;
	uint32_t node; /* index */
};

/* " NAME:HEX" */
static int hex_field(struct topo_text *x, const char *name, uint64_t max, uint64_t *v)
{
	char *start;
	int r;

	text_blanks(x);
	if (!text_skip(x, name))
		return text_error(x, "'%s' is missing", name);
	start = x->p;
	r = text_hex(x, name, v);
	if (r || *v <= max)
		return r;
	x->p = start;
	return text_error(x, "%s%llx is more than %llx", name, (unsigned long long)*v,
			  (unsigned long long)max);
}

static int parse_type(struct topo_text *x, struct end *e)
{
	static const char *const word[] = {
		[TOPO_CA] = "CA", [TOPO_SWITCH] = "SW", [TOPO_ROUTER] = "Rt"};

	text_blanks(x);
	e->at = text_at(x, x->p);
	for (uint32_t i = TOPO_CA; i < ARRAY_SIZE(word); i++) {
		if (!text_skip(x, word[i]))
			continue;
		e->n.type = (enum topo_type)i;
		text_skip(x, "-SM"); /* the master's LID is this port's */
		return 0;
	}
	return text_error(x, "'%.*s' is not a type of node (CA, SW, Rt)", (int)strcspn(x->p, " \t"),
			  x->p);
}

/* The numbers of a node, up to its description. */
static int parse_ids(struct topo_text *x, struct end *e)
{
	uint64_t ports = 0, vendor = 0, device = 0, revision = 0;
	int r = hex_field(x, "Ports:", TOPO_MAX_PORTS, &ports);

	if (!r)
		r = hex_field(x, "SystemGUID:", UINT64_MAX, &e->n.sys_guid);
	if (!r)
		r = hex_field(x, "NodeGUID:", UINT64_MAX, &e->n.guid);
	if (!r)
		r = hex_field(x, "PortGUID:", UINT64_MAX, &e->guid);
	if (!r)
		r = hex_field(x, "VenID:", 0xffffff, &vendor);
	if (!r)
		r = hex_field(x, "DevID:", UINT32_MAX, &device);
	if (!r)
		r = hex_field(x, "Rev:", UINT32_MAX, &revision);
	/* OpenSM swaps four bytes of the second end's 16 bits. */
	if (device > 0xffff)
		device >>= 16;
	e->n.nports = (uint32_t)ports;
	e->n.vendor_id = (uint32_t)vendor;
	e->n.device_id = (uint32_t)device;
	e->n.revision = (uint32_t)revision;
	return r;
}

static int parse_end(struct topo_text *x, struct end *e)
{
	uint64_t lid = 0, num = 0;
	char *desc, *end;
	int r = parse_type(x, e);

	if (!r)
		r = parse_ids(x, e);
	if (r)
		return r;
	text_blanks(x);
	if (!text_skip(x, "{"))
		return text_error(x, "'{' and the description are missing");
	desc = x->p;
	end = strstr(desc, "} LID:");
	if (!end)
		return text_error(x, "'} LID:' after the description is missing");
	parse_desc(&e->n, desc, (int)(end - desc));
	x->p = end + 1;
	r = hex_field(x, "LID:", TOPO_MAX_LIDS, &lid);
	if (!r)
		r = hex_field(x, "PN:", e->n.nports, &num);
	if (!r && !num)
		r = text_error(x, "a cable ends at a port from 1 on");
	text_blanks(x);
	if (!r && !text_skip(x, "}"))
		r = text_error(x, "'}' is missing");
	e->lid = (uint32_t)lid;
	e->num = (uint32_t)num;
	snprintf(e->n.id, sizeof(e->n.id), "%c-%016llx", "?HSR"[e->n.type],
		 (unsigned long long)e -> n.guid);
	return r;
}

/* "PHY=4x LOG=ACT SPD=10"; other words are ignored. Masks of one bit, 0: unknown. */
static int parse_values(struct topo_text *x, uint32_t *width, uint32_t *speed)
{
	static const char *const speeds[] = {"2.5", "5",  "10",  "FDR10", "14",
					     "25",  "50", "100", "200"};

	for (text_blanks(x); *x->p; text_blanks(x)) {
		size_t len = strcspn(x->p, " \t");
		size_t i = 0;
		bool is_width = len > 4 && !strncmp(x->p, "PHY=", 4);
		bool is_speed = len > 4 && !strncmp(x->p, "SPD=", 4);
		char *word = x->p + 4;

		len -= is_width || is_speed ? 4 : 0;
		if ((is_width || is_speed) && *word == '?') {
			x->p = word + len;
			continue;
		}
		if (is_width) {
			while (ib_widths[i].code && (strlen(ib_widths[i].name) != len ||
						     strncmp(word, ib_widths[i].name, len)))
				i++;
			*width = ib_widths[i].code;
		} else if (is_speed) {
			while (i < ARRAY_SIZE(speeds) &&
			       (strlen(speeds[i]) != len || strncmp(word, speeds[i], len)))
				i++;
			*speed = i < ARRAY_SIZE(speeds) ? 1u << i : 0;
		}
		x->p = is_width || is_speed ? word : x->p;
		if ((is_width && !*width) || (is_speed && !*speed))
			return text_error(x, "'%.*s' is not a link's %s",
					  (int)(len < 16 ? len : 16), word,
					  is_width ? "width" : "speed");
		x->p += len;
	}
	return 0;
}

/* Finds the node of an end, or adds it. */
static int enter_node(struct topo_parse *p, struct end *e)
{
	struct topo_line *port0;
	int r;

	e->node = build_find(&p->b, e->n.id);
	if (e->node != TOPO_NONE) {
		const struct topo_node *n = &p->b.node[e->node];

		if (n->nports != e->n.nports)
			return build_error(&p->b, &e->at, "\"%s\" has %u ports here, %u in line %u",
					   n->id, e->n.nports, n->nports, p->b.at[e->node].line);
		return 0;
	}
	r = build_node(&p->b, &e->n, &e->at);
	if (r)
		return r;
	e->node = p->b.nnodes - 1;
	if (e->n.type != TOPO_SWITCH)
		return 0;
	port0 = build_line(&p->b, e->node, 0, &e->at);
	if (!port0)
		return -ENOMEM;
	port0->guid = e->guid;
	port0->lid = e->lid;
	return 0;
}

static bool same_port(const void *arg, const void *key, uint32_t value)
{
	const struct topo_line *line = arg;
	const struct end *e = key;

	return line[value].node == e->node && line[value].num == e->num;
}

static uint64_t port_hash(const struct end *e)
{
	return topo_hash_u64((uint64_t)e->node << 32 | e->num);
}

/* Adds the line of one end, or finds it: then it must name the same other end. */
static int enter_end(struct topo_parse *p, const struct end *e, const struct end *other,
		     uint32_t width, uint32_t speed)
{
	struct topo_build *b = &p->b;
	uint32_t i = topo_hash_find(&p->cabled, port_hash(e), e, same_port, b->line);
	struct topo_line *l;
	int r;

	if (i == TOPO_HASH_NONE) {
		l = build_line(b, e->node, e->num, &e->at);
		if (!l)
			return -ENOMEM;
		r = topo_hash_add(&p->cabled, port_hash(e), b->nlines - 1);
		if (r)
			return r;
		l->peer_at = other->at;
		l->peer_node = other->node;
		l->peer_port = other->num;
		l->guid = e->n.type == TOPO_SWITCH ? 0 : e->guid;
		l->lid = e->n.type == TOPO_SWITCH ? 0 : e->lid;
	}
	l = &b->line[i == TOPO_HASH_NONE ? b->nlines - 1 : i];
	if (l->peer_node != other->node || l->peer_port != other->num)
		return build_error(b, &e->at, "port %u of \"%s\" has another cable in line %u",
				   e->num, e->n.id, l->at.line);
	/* OpenSM prints 10 where it takes an end for one without extended speeds: the best counts.
	 */
	l->widths |= width;
	l->speeds |= speed;
	return 0;
}

int parse_cable(struct topo_parse *p, struct topo_text *x)
{
	struct end a = {.num = 0}, c = {.num = 0};
	uint32_t width = 0, speed = 0, nlines = p->b.nlines;
	int r = parse_end(x, &a);

	p->node = TOPO_NONE;
	text_blanks(x);
	if (!r && !text_skip(x, "{"))
		r = text_error(x, "'{' and the cable's other end are missing");
	if (!r)
		r = parse_end(x, &c);
	if (!r)
		r = parse_values(x, &width, &speed);
	if (!r)
		r = enter_node(p, &a);
	if (!r)
		r = enter_node(p, &c);
	if (!r)
		r = enter_end(p, &a, &c, width, speed);
	if (!r)
		r = enter_end(p, &c, &a, width, speed);
	while (r == -EINVAL && nlines < p->b.nlines)
		p->b.line[nlines++].broken = true;
	return r;
}
