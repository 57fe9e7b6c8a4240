/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the lines that iblinkinfo prints: a heading for each node and a line for each port, or with
 * -l a line for each port. They have no GUIDs of adapters, only of ports, and name the other end of
 * a cable by LID, port and description: the ends are joined after the last line. Facts:
 * infiniband-diags' iblinkinfo.c (print_node_header, print_port). parse.c calls it.
 */
#include "topo/parse.h"
#include "hw/hca.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "util/cleanup.h"
#include "wire/ib/link.h"

/* One end of a cable, and what its line says of the other end. */
struct parse_link {
	uint32_t line; /* in topo_build */
	uint32_t lid;
	struct topo_where at; /* of the other end */
	uint32_t far_lid, far_num;
	uint64_t far_guid; /* of the port; 0: not given */
	char far_desc[TOPO_DESC + 1];
};

/* The description in quotes, which it may contain: up to the last one before `end`. */
static int quoted(struct topo_text *x, char *end, char desc[TOPO_DESC + 1])
{
	struct topo_node n;
	char *last = *x->p == '"' && end > x->p ? memrchr(x->p, '"', (size_t)(end - x->p)) : NULL;

	if (!last || last == x->p)
		return text_error(x, "a description in quotes is missing");
	x->p++;
	while (x->p < last && *x->p == ' ') /* -l aligns it to the right */
		x->p++;
	parse_desc(&n, x->p, (int)(last - x->p));
	strcpy(desc, n.desc);
	x->p = last + 1;
	return 0;
}

/* "LID PORT[EXT]": the external number of a port in a chassis is blank where there is none. */
static int lid_and_port(struct topo_text *x, uint32_t *lid, uint32_t *num)
{
	uint64_t v = 0;
	int r;

	text_blanks(x);
	r = text_number(x, "the LID", 0, TOPO_MAX_LIDS, &v);
	*lid = (uint32_t)v;
	text_blanks(x);
	if (!r)
		r = text_number(x, "the port's number", 1, TOPO_MAX_PORTS, &v);
	*num = (uint32_t)v;
	if (r)
		return r;
	if (*x->p != '[' || !strchr(x->p, ']'))
		return text_error(x, "'[' and ']' are missing after the port's number");
	x->p = strchr(x->p, ']') + 1;
	text_blanks(x);
	return 0;
}

/* "( 4X 14.0625 Gbps Active/ LinkUp)": what is unknown stays 0. */
static void parse_state(const char *p, const char *end, uint32_t *width, uint32_t *speed)
{
	/* The whole part of the rate of one lane, by the bits of hw_port.speed. */
	static const char *const rates[] = {"2.",  "5.",  "10.",  "?",   "14.",
					    "25.", "53.", "106.", "212."};

	for (const struct ib_width *w = ib_widths; w->code; w++) {
		size_t n = strlen(w->name);

		while (*p == ' ')
			p++;
		if (!strncasecmp(p, w->name, n)) {
			*width = w->code;
			p += n;
			break;
		}
	}
	while (p < end && *p == ' ')
		p++;
	for (uint32_t i = 0; i < ARRAY_SIZE(rates); i++)
		if (!strncmp(p, rates[i], strlen(rates[i])))
			*speed = 1u << i;
	if (memmem(p, (size_t)(end - p), "(FDR10)", 7))
		*speed = IB_SPEED_FDR10;
}

/* ---- nodes */

/* Begins the node of a heading, or of the lines of one GUID. */
static int begin(struct topo_parse *p, struct topo_node *n, uint64_t guid,
		 const struct topo_where *at)
{
	struct topo_line *port0;
	int r;

	n->guid = guid;
	n->nports = n->nports ? n->nports : 1;
	snprintf(n->id, sizeof(n->id), "%c-%016llx", "?HSR"[n->type], (unsigned long long)guid);
	r = build_node(&p->b, n, at);
	if (r)
		return r;
	p->node = p->link_node = p->b.nnodes - 1;
	if (n->type != TOPO_SWITCH)
		return 0;
	port0 = build_line(&p->b, p->node, 0, at);
	if (!port0)
		return -ENOMEM;
	port0->guid = guid;
	p->link_port0 = p->b.nlines - 1;
	return 0;
}

static int heading(struct topo_parse *p, struct topo_text *x, enum topo_type type)
{
	struct topo_where at = text_at(x, x->line);
	char *end = x->end;
	uint64_t guid = 0;
	int r;

	p->node = TOPO_NONE;
	p->link = (struct topo_node){.type = type};
	text_blanks(x);
	if (type == TOPO_SWITCH) {
		r = text_hex(x, "the switch's GUID", &guid);
		if (r)
			return r;
		text_blanks(x);
	}
	while (end > x->p && strchr(" \t\r", end[-1]))
		end--;
	if (end == x->p || end[-1] != ':') {
		x->p = end;
		return text_error(x, "':' is missing after the description");
	}
	parse_desc(&p->link, x->p, (int)(end - 1 - x->p));
	return type == TOPO_SWITCH ? begin(p, &p->link, guid, &at) : 0;
}

int parse_link_switch(struct topo_parse *p, struct topo_text *x)
{
	return heading(p, x, TOPO_SWITCH);
}

int parse_link_ca(struct topo_parse *p, struct topo_text *x)
{
	return heading(p, x, TOPO_CA);
}

int parse_link_router(struct topo_parse *p, struct topo_text *x)
{
	return heading(p, x, TOPO_ROUTER);
}

/*
 * A line of -l does not say what the node is: the ports of a switch have the same GUID, and one
 * follows the other; those of an adapter have their own.
 */
static int begin_line(struct topo_parse *p, struct topo_text *x, const char *guid_text,
		      uint64_t guid, const char *desc, uint32_t num)
{
	struct topo_node *now = p->node == TOPO_NONE ? NULL : &p->b.node[p->node];
	struct topo_where at = text_at(x, x->line);
	struct topo_node n = {.type = TOPO_CA};

	if (now && now->type == TOPO_SWITCH && now->guid == guid)
		return 0;
	if (num > HW_MAX_PORTS ||
	    (x->end < x->limit && !strncmp(x->end + 1 + strspn(x->end + 1, " \t"), guid_text, 18)))
		n.type = TOPO_SWITCH;
	else if (now && now->type == TOPO_CA && now->guid != guid && !strcmp(now->desc, desc) &&
		 p->link_num < num)
		return 0;
	strcpy(n.desc, desc);
	return begin(p, &n, guid, &at);
}

/* ---- ports */

static bool same_lid_port(const void *arg, const void *key, uint32_t value)
{
	const struct topo_parse *p = arg;
	const struct parse_link *k = p->links + value, *want = key;

	return k->lid == want->far_lid && p->b.line[k->line].num == want->far_num;
}

static uint64_t lid_port_hash(uint32_t lid, uint32_t num)
{
	return topo_hash_u64((uint64_t)lid << 32 | num);
}

/* Keeps what a line says of the other end, until all lines are known. */
static int keep(struct topo_parse *p, const struct parse_link *k, uint32_t num,
		const struct topo_where *at)
{
	const struct parse_link self = {.far_lid = k->lid, .far_num = num};
	uint32_t i =
		topo_hash_find(&p->by_lid, lid_port_hash(k->lid, num), &self, same_lid_port, p);

	if (k->lid && i != TOPO_HASH_NONE)
		return build_error(&p->b, at, "port %u of LID %u already has a line (%u)", num,
				   k->lid, p->b.line[p->links[i].line].at.line);
	if (build_grow((void **)&p->links, p->nlinks, &p->link_room, sizeof(*p->links)) < 0 ||
	    (k->lid && topo_hash_add(&p->by_lid, lid_port_hash(k->lid, num), p->nlinks) < 0))
		return -ENOMEM;
	p->links[p->nlinks++] = *k;
	return 0;
}

/* [GUID] ["DESC"] LID PORT[EXT] ==(STATE)==> [[GUID] LID PORT[EXT] "DESC" (...)] */
static int parse_line(struct topo_parse *p, struct topo_text *x)
{
	struct topo_where at = text_at(x, x->p);
	const char *guid_text = x->p;
	char desc[TOPO_DESC + 1] = "";
	struct parse_link k = {.line = 0};
	uint32_t num, width = 0, speed = 0;
	uint64_t guid = 0;
	struct topo_line *l;
	char *state = strstr(x->p, "==("), *arrow = state ? strstr(state, "==>") : NULL;
	bool has_guid = x->p[0] == '0' && x->p[1] == 'x';
	int r = has_guid ? text_hex(x, "the port's GUID", &guid) : 0;

	if (p->node != p->link_node) /* a node of another format has no such lines */
		p->node = TOPO_NONE;

	if (!r && !arrow)
		r = text_error(x, "'==(' and '==>' of a line of iblinkinfo are missing");
	text_blanks(x);
	if (!r && *x->p == '"')
		r = quoted(x, state, desc);
	if (!r)
		r = lid_and_port(x, &k.lid, &num);
	if (!r && *desc)
		r = begin_line(p, x, guid_text, guid, desc, num);
	else if (!r && p->node == TOPO_NONE && p->link.type && has_guid)
		r = begin(p, &p->link, guid, &at);
	if (!r && p->node == TOPO_NONE)
		r = build_error(
			x->b, &at,
			"a port's line without the heading of its node (Switch: GUID NAME:, "
			"CA: NAME:) before it");
	if (!r)
		r = build_ports(&p->b, p->node, num, &at);
	if (r)
		return r;
	p->link_num = num;
	if (p->b.node[p->node].type == TOPO_SWITCH)
		p->b.line[p->link_port0].lid = k.lid;
	x->p = arrow + 3;
	text_blanks(x);
	if (*x->p == '[' || *x->p == '"') /* down, or it could not be asked */
		return 0;
	parse_state(state + 3, arrow, &width, &speed);
	k.at = text_at(x, x->p);
	if (x->p[0] == '0' && x->p[1] == 'x')
		r = text_hex(x, "the other port's GUID", &k.far_guid);
	if (!r)
		r = lid_and_port(x, &k.far_lid, &k.far_num);
	if (!r)
		r = quoted(x, x->end, k.far_desc);
	k.line = p->b.nlines;
	if (!r)
		r = keep(p, &k, num, &at);
	if (r)
		return r;
	l = build_line(&p->b, p->node, num, &at);
	if (!l)
		return -ENOMEM;
	l->peer_at = k.at;
	l->widths = width;
	l->speeds = speed;
	if (p->b.node[p->node].type != TOPO_SWITCH) {
		l->guid = guid;
		l->lid = k.lid;
	}
	return 0;
}

int parse_link(struct topo_parse *p, struct topo_text *x)
{
	int r = parse_line(p, x);

	/* Its port may be any of the node, and the node any that others name. */
	if (r == -EINVAL && p->node != TOPO_NONE)
		p->b.broken[p->node] = true;
	if (r == -EINVAL)
		p->b.incomplete = true;
	return r;
}

/* ---- the other ends */

/* Without LIDs, before a subnet manager has been there, both ends must know each other. */
static struct parse_link *find_described(struct topo_parse *p, const struct parse_link *k,
					 uint32_t *n)
{
	const struct topo_line *l = &p->b.line[k->line];
	struct parse_link *found = NULL;

	*n = 0;
	for (uint32_t i = 0; i < p->nlinks; i++) {
		struct parse_link *m = &p->links[i];
		const struct topo_line *far = &p->b.line[m->line];

		if (far->num != k->far_num || m->far_num != l->num || m == k ||
		    strcmp(p->b.node[far->node].desc, k->far_desc) != 0 ||
		    strcmp(p->b.node[l->node].desc, m->far_desc) != 0)
			continue;
		found = m;
		++*n;
	}
	return found;
}

/* What the lines of others say of a LID without lines of its own (iblinkinfo --switches-only). */
struct parse_lid {
	uint32_t num, node; /* a port, and the node that was added for it; 0: none */
	bool more;          /* there is another port: it is a switch */
};

static bool same_desc(const void *arg, const void *key, uint32_t value)
{
	const struct topo_node *node = arg;

	return !strcmp(node[value].desc, key);
}

static bool same_port(const void *arg, const void *key, uint32_t value)
{
	const struct topo_line *line = arg, *want = key;

	return line[value].node == want->node && line[value].num == want->num;
}

static uint64_t port_hash(uint32_t node, uint32_t num)
{
	return topo_hash_u64((uint64_t)node << 32 | num);
}

/*
 * Finds the adapter with this description that was added: its ports have LIDs of their own.
 * Another one with the same description has the same port.
 */
static uint32_t same_adapter(const struct topo_parse *p, const struct parse_link *k)
{
	uint64_t hash = topo_hash_bytes(k->far_desc, strlen(k->far_desc));
	uint32_t i = topo_hash_find(&p->by_desc, hash, k->far_desc, same_desc, p->b.node);
	const struct topo_line port = {.node = i, .num = k->far_num};

	if (i == TOPO_HASH_NONE || topo_hash_find(&p->cabled, port_hash(i, k->far_num), &port,
						  same_port, p->b.line) != TOPO_HASH_NONE)
		return TOPO_NONE;
	return i;
}

/* Adds a node that only others name, or finds it. */
static int add_far(struct topo_parse *p, const struct parse_link *k, uint32_t *node)
{
	struct parse_lid *lid = &p->lids[k->far_lid];
	bool is_switch = lid->more || k->far_num > HW_MAX_PORTS;
	struct topo_node n = {.type = is_switch ? TOPO_SWITCH : TOPO_CA, .nports = k->far_num};
	uint64_t hash;
	int r;

	*node = lid->node ? lid->node : is_switch ? TOPO_NONE : same_adapter(p, k);
	if (*node != TOPO_NONE)
		return build_ports(&p->b, *node, k->far_num, &k->at);
	strcpy(n.desc, k->far_desc);
	r = begin(p, &n, k->far_guid ? k->far_guid : p->next[n.type], &k->at);
	if (r)
		return r;
	*node = p->node;
	p->next[n.type] += is_switch ? 1 : HW_MAX_PORTS + 1;
	lid->node = is_switch ? *node : 0;
	if (is_switch) {
		p->b.line[p->link_port0].lid = k->far_lid;
		return 0;
	}
	hash = topo_hash_bytes(n.desc, strlen(n.desc));
	if (topo_hash_find(&p->by_desc, hash, n.desc, same_desc, p->b.node) != TOPO_HASH_NONE)
		return 0;
	return topo_hash_add(&p->by_desc, hash, *node);
}

static int join(struct topo_parse *p, struct parse_link *k)
{
	uint32_t i = TOPO_HASH_NONE, n = 0, node;
	struct parse_link *m = NULL;
	struct topo_line *l;
	int r;

	if (k->far_lid)
		i = topo_hash_find(&p->by_lid, lid_port_hash(k->far_lid, k->far_num), k,
				   same_lid_port, p);
	else
		m = find_described(p, k, &n);
	if (n > 1)
		return build_error(
			&p->b, &k->at,
			"without LIDs \"%s\" may be %u nodes: start a subnet manager, or "
			"use ibnetdiscover",
			k->far_desc, n);
	if (i != TOPO_HASH_NONE)
		m = &p->links[i];
	l = &p->b.line[k->line];
	if (m) {
		l->peer_node = p->b.line[m->line].node;
		l->peer_port = p->b.line[m->line].num;
		return 0;
	}
	if (p->b.incomplete) {
		l->broken = true;
		return 0;
	}
	if (!k->far_lid)
		return build_error(&p->b, &k->at,
				   "without LIDs: no line says that port %u of a node \"%s\" has "
				   "this cable",
				   k->far_num, k->far_desc);
	r = add_far(p, k, &node);
	if (r)
		return r;
	l = build_line(&p->b, node, k->far_num, &k->at);
	if (!l)
		return -ENOMEM;
	l->peer_node = p->b.line[k->line].node;
	l->peer_port = p->b.line[k->line].num;
	if (topo_hash_add(&p->cabled, port_hash(node, k->far_num), p->b.nlines - 1) < 0)
		return -ENOMEM;
	if (p->b.node[node].type != TOPO_SWITCH) {
		l->guid = k->far_guid;
		l->lid = k->far_lid;
	}
	p->b.line[k->line].peer_node = node;
	p->b.line[k->line].peer_port = k->far_num;
	return 0;
}

int parse_links_end(struct topo_parse *p)
{
	int r = 0;

	if (!p->nlinks)
		return p->b.nerrs ? -EINVAL : 0;
	p->lids = calloc(TOPO_MAX_LIDS + 1, sizeof(*p->lids));
	if (!p->lids)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->nlinks; i++) {
		struct parse_lid *lid = &p->lids[p->links[i].far_lid];

		lid->more = lid->more || (lid->num && lid->num != p->links[i].far_num);
		lid->num = p->links[i].far_num;
	}
	for (uint32_t i = 0; r != -ENOMEM && i < p->nlinks; i++)
		r = join(p, &p->links[i]);
	return r == -ENOMEM ? r : p->b.nerrs ? -EINVAL : 0;
}

void parse_links_free(struct topo_parse *p)
{
	free(p->links);
	free(p->lids);
	topo_hash_finish(&p->by_lid);
	topo_hash_finish(&p->by_desc);
}
