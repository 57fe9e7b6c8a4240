/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns a topology under construction, and checks that its lines agree: both ends of a cable, widths
 * and speeds, GUIDs. Calls hash.c and hosts.c; the parser and the generators call it.
 */
#include "topo/build.h"
#include "hw/hca.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "wire/ib/link.h"

void build_init(struct topo_build *b, char *err)
{
	*b = (struct topo_build){.err = err};
	err[0] = 0;
}

/* Writes the messages to the caller's buffer, and how many there is no room for. */
static void tell(struct topo_build *b)
{
	const size_t room = TOPO_ERR - 64; /* the last line has room, too */
	size_t len = 0;
	uint32_t i;

	for (i = 0; i < b->nmessages; i++) {
		size_t n = strlen(b->message[i].text);

		if (len + 1 + n >= room)
			break;
		if (i)
			b->err[len++] = '\n';
		memcpy(b->err + len, b->message[i].text, n + 1);
		len += n;
	}
	if (b->nerrs > i)
		snprintf(b->err + len, TOPO_ERR - len, "\nand %u more error%s", b->nerrs - i,
			 b->nerrs - i == 1 ? "" : "s");
	for (i = 0; i < b->nmessages; i++)
		free(b->message[i].text);
}

void build_finish(struct topo_build *b)
{
	tell(b);
	free(b->node);
	free(b->at);
	free(b->broken);
	free(b->line);
	free(b->alias);
	free(b->ip);
	topo_hash_finish(&b->ids);
	topo_hash_finish(&b->aliases);
	topo_hash_finish(&b->addrs);
	for (uint32_t i = 0; i < b->nfiles; i++) {
		free(b->file[i]);
		free(b->text[i]);
	}
	free(b->file);
	free(b->text);
	for (uint32_t i = 0; i < b->nkept; i++)
		free(b->kept[i]);
	free(b->kept);
	*b = (struct topo_build){0};
}

/* In the order of files and lines; an error without a place comes last. */
static bool is_before(const struct topo_where *a, const struct topo_where *b)
{
	if (!a->line || !b->line)
		return a->line;
	if (a->file != b->file)
		return a->file < b->file;
	return a->line != b->line ? a->line < b->line : a->col < b->col;
}

int build_error(struct topo_build *b, const struct topo_where *at, const char *fmt, ...)
{
	struct topo_message m = {.at = at ? *at : (struct topo_where){0}};
	char line[TOPO_ERR / 8];
	size_t n = 0;
	uint32_t i;
	va_list ap;

	b->nerrs++;
	for (i = b->nmessages; i && is_before(&m.at, &b->message[i - 1].at); i--)
		;
	if (i == TOPO_ERRORS)
		return -EINVAL;
	if (m.at.line)
		n = (size_t)snprintf(line, sizeof(line), "%.200s:%u:%u: ", b->file[m.at.file],
				     m.at.line, m.at.col);
	va_start(ap, fmt);
	vsnprintf(line + n, sizeof(line) - n, fmt, ap);
	va_end(ap);
	m.text = strdup(line);
	if (!m.text)
		return -EINVAL;
	if (b->nmessages == TOPO_ERRORS)
		free(b->message[--b->nmessages].text);
	memmove(b->message + i + 1, b->message + i, (b->nmessages - i) * sizeof(m));
	b->message[i] = m;
	b->nmessages++;
	return -EINVAL;
}

int build_grow(void **p, uint32_t used, uint32_t *room, size_t size)
{
	uint32_t more = *room ? *room * 2 : 64;
	void *q;

	if (used < *room)
		return 0;
	q = reallocarray(*p, more, size);
	if (!q)
		return -ENOMEM;
	*p = q;
	*room = more;
	return 0;
}

static bool same_id(const void *arg, const void *key, uint32_t value)
{
	const struct topo_node *node = arg;

	return !strcmp(node[value].id, key);
}

uint32_t build_find(const struct topo_build *b, const char *id)
{
	return topo_hash_find(&b->ids, topo_hash_bytes(id, strlen(id)), id, same_id, b->node);
}

/* Counts the LIDs of `n` more ports of adapters and routers, or of n switches. */
static int use_lids(struct topo_build *b, uint32_t n, const struct topo_where *at)
{
	b->nlids += n;
	/* Said once. */
	if (b->nlids > TOPO_MAX_LIDS && b->nlids - n <= TOPO_MAX_LIDS)
		return build_error(b, at, "a subnet has %u LIDs, too few for these nodes",
				   TOPO_MAX_LIDS);
	return 0;
}

static int check_ports(struct topo_build *b, const struct topo_node *n, uint32_t nports,
		       const struct topo_where *at)
{
	if (n->type == TOPO_CA && nports > HW_MAX_PORTS)
		return build_error(b, at, "\"%s\" has %u ports: an adapter has at most %u", n->id,
				   nports, HW_MAX_PORTS);
	if (nports > TOPO_MAX_PORTS)
		return build_error(b, at, "\"%s\" has %u ports: at most %u are possible", n->id,
				   nports, TOPO_MAX_PORTS);
	return 0;
}

static int check_node(struct topo_build *b, const struct topo_node *n, const struct topo_where *at)
{
	uint32_t i = build_find(b, n->id);
	int r;

	if (i != TOPO_NONE)
		return build_error(b, at, "node \"%s\" is already defined (line %u)", n->id,
				   b->at[i].line);
	if (!n->nports)
		return build_error(b, at, "\"%s\" has no ports", n->id);
	r = check_ports(b, n, n->nports, at);
	return r ? r : use_lids(b, n->type == TOPO_SWITCH ? 1 : n->nports, at);
}

int build_ports(struct topo_build *b, uint32_t node, uint32_t num, const struct topo_where *at)
{
	struct topo_node *n = &b->node[node];
	uint32_t more = num > n->nports ? num - n->nports : 0;
	int r = check_ports(b, n, num, at);

	if (r || !more)
		return r;
	n->nports = num;
	return n->type == TOPO_SWITCH ? 0 : use_lids(b, more, at);
}

static int add_node(struct topo_build *b, const struct topo_node *n, const struct topo_where *at,
		    bool broken, bool findable)
{
	uint32_t room = b->node_room, room2 = b->node_room;
	int r = build_grow((void **)&b->node, b->nnodes, &room, sizeof(*b->node));

	if (!r)
		r = build_grow((void **)&b->broken, b->nnodes, &room2, sizeof(*b->broken));
	if (!r)
		r = build_grow((void **)&b->at, b->nnodes, &b->node_room, sizeof(*b->at));
	if (!r && findable)
		r = topo_hash_add(&b->ids, topo_hash_bytes(n->id, strlen(n->id)), b->nnodes);
	if (r)
		return r;
	b->node[b->nnodes] = *n;
	b->node[b->nnodes].host = TOPO_NONE;
	b->node[b->nnodes].port = NULL;
	b->at[b->nnodes] = at ? *at : (struct topo_where){0};
	b->broken[b->nnodes++] = broken;
	return 0;
}

int build_node(struct topo_build *b, const struct topo_node *n, const struct topo_where *at)
{
	int r = check_node(b, n, at);

	return r ? r : add_node(b, n, at, false, true);
}

int build_broken(struct topo_build *b, const struct topo_node *n, const struct topo_where *at)
{
	uint32_t i = n->id[0] ? build_find(b, n->id) : TOPO_NONE;
	struct topo_node copy = *n;

	if (!copy.nports || copy.nports > TOPO_MAX_PORTS)
		copy.nports = TOPO_MAX_PORTS;
	if (!copy.id[0])
		b->incomplete = true;
	/* Cables may mean the ports of either. */
	if (i != TOPO_NONE)
		b->broken[i] = true;
	return add_node(b, &copy, at, true, copy.id[0] && i == TOPO_NONE);
}

struct topo_line *build_line(struct topo_build *b, uint32_t node, uint32_t num,
			     const struct topo_where *at)
{
	struct topo_line *l;

	if (build_grow((void **)&b->line, b->nlines, &b->line_room, sizeof(*b->line)) < 0)
		return NULL;
	l = &b->line[b->nlines++];
	*l = (struct topo_line){.node = node, .num = num, .peer_node = TOPO_NONE};
	if (at)
		l->at = l->peer_at = *at;
	return l;
}

static bool same_alias(const void *arg, const void *key, uint32_t value)
{
	const struct topo_alias *alias = arg;

	return !strcmp(alias[value].name, key);
}

static uint32_t find_alias(const struct topo_build *b, const char *name)
{
	return topo_hash_find(&b->aliases, topo_hash_bytes(name, strlen(name)), name, same_alias,
			      b->alias);
}

int build_alias(struct topo_build *b, const char *name, const struct topo_line *l)
{
	uint32_t i = find_alias(b, name);
	int r;

	if (i != TOPO_HASH_NONE)
		return build_error(b, &l->peer_at, "alias \"%s\" is already defined (line %u)",
				   name, b->line[b->alias[i].line].at.line);
	if (strlen(name) >= sizeof(b->alias[0].name))
		return build_error(b, &l->peer_at, "an alias has at most %zu characters",
				   sizeof(b->alias[0].name) - 1);
	r = build_grow((void **)&b->alias, b->naliases, &b->alias_room, sizeof(*b->alias));
	if (!r)
		r = topo_hash_add(&b->aliases, topo_hash_bytes(name, strlen(name)), b->naliases);
	if (r)
		return r;
	strcpy(b->alias[b->naliases].name, name);
	b->alias[b->naliases++].line = (uint32_t)(l - b->line);
	return 0;
}

const char *build_keep(struct topo_build *b, const char *name)
{
	char *copy = strdup(name);

	if (!copy || build_grow((void **)&b->kept, b->nkept, &b->kept_room, sizeof(*b->kept)) < 0) {
		free(copy);
		return NULL;
	}
	return b->kept[b->nkept++] = copy;
}

int build_link(struct topo_build *b, uint32_t a, uint32_t a_port, uint32_t c, uint32_t c_port)
{
	struct topo_line *l = build_line(b, a, a_port, NULL);

	if (!l)
		return -ENOMEM;
	l->peer_node = c;
	l->peer_port = c_port;
	l = build_line(b, c, c_port, NULL);
	if (!l)
		return -ENOMEM;
	l->peer_node = a;
	l->peer_port = a_port;
	return 0;
}

/* ---- making the topology */

/* While lines are combined: the line that described each port, 1-based, port by port. */
struct join {
	struct topo_build *b;
	struct topo *t;
	uint32_t *line; /* the line of each port, at the port's index in the array of all ports */
	struct topo_hash missing; /* lines that name nodes which do not exist, one of each name */
};

static uint32_t *topo_line_of(const struct join *j, uint32_t node, uint32_t num)
{
	return &j->line[j->t->node[node].port - j->t->node[0].port + num];
}

static int make_ports(struct join *j)
{
	struct topo *t = j->t;
	struct topo_port *port;
	size_t n = 0;

	for (uint32_t i = 0; i < t->nnodes; i++)
		n += t->node[i].nports + 1;
	port = calloc(n + 1, sizeof(*port));
	j->line = calloc(n + 1, sizeof(*j->line));
	if (!port || !j->line) {
		free(port);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++)
		port[i].peer_node = port[i].peer_port = TOPO_NONE;
	for (uint32_t i = 0; i < t->nnodes; i++) {
		t->node[i].port = port;
		port += t->node[i].nports + 1;
	}
	return 0;
}

static bool same_peer(const void *arg, const void *key, uint32_t value)
{
	const struct topo_line *line = arg;

	return !strcmp(line[value].peer, key);
}

/* Finds the node at the other end of a line by its name. One that is missing is reported once. */
static int find_peer(struct join *j, struct topo_line *l)
{
	struct topo_build *b = j->b;
	uint64_t hash = topo_hash_bytes(l->peer, strlen(l->peer));

	l->peer_node = build_find(b, l->peer);
	if (l->peer_node != TOPO_NONE)
		return 0;
	l->broken = true;
	if (b->incomplete ||
	    topo_hash_find(&j->missing, hash, l->peer, same_peer, b->line) != TOPO_HASH_NONE)
		return 0;
	build_error(b, &l->peer_at, "there is no node \"%s\"", l->peer);
	return topo_hash_add(&j->missing, hash, (uint32_t)(l - b->line));
}

/* Enter every line at its port, and find the node at the other end. 0, -ENOMEM. */
static int place_lines(struct join *j)
{
	struct topo_build *b = j->b;

	for (uint32_t i = 0; i < b->nlines; i++) {
		struct topo_line *l = &b->line[i];
		struct topo_port *p = &j->t->node[l->node].port[l->num];
		uint32_t *of = topo_line_of(j, l->node, l->num);
		int r;

		if (*of) {
			l->broken = b->broken[l->node] = true; /* it may mean another port */
			build_error(b, &l->at, "port %u of \"%s\" already has a line (%u)", l->num,
				    b->node[l->node].id, b->line[*of - 1].at.line);
			continue;
		}
		*of = i + 1;
		p->guid = l->guid;
		p->lid = l->lid;
		p->lmc = l->lmc;
		if (!l->peer || l->by_alias || l->broken)
			continue;
		r = find_peer(j, l);
		if (r)
			return r;
	}
	return 0;
}

/* Join a cable to a port that is known by an alias; that port's own line does not name this end. */
static void join_alias(struct join *j, uint32_t line)
{
	struct topo_build *b = j->b;
	struct topo_line *l = &b->line[line], *peer;
	uint32_t i;

	if (l->broken) /* it may have no name */
		return;
	i = find_alias(b, l->peer);
	l->broken = true;
	if (i == TOPO_HASH_NONE) {
		if (!b->incomplete)
			build_error(b, &l->peer_at, "there is no alias \"%s\"", l->peer);
		return;
	}
	peer = &b->line[b->alias[i].line];
	if (peer->peer_node != TOPO_NONE) {
		build_error(b, &l->peer_at, "\"%s\" is already connected (line %u)", l->peer,
			    peer->peer_at.line);
		return;
	}
	l->broken = false;
	l->peer_node = peer->node;
	l->peer_port = peer->num;
	peer->peer_node = l->node;
	peer->peer_port = l->num;
	peer->peer_at = l->at;
}

static uint32_t topo_best_width(uint32_t mask)
{
	uint32_t best = 0;

	for (const struct ib_width *w = ib_widths; w->code; w++)
		if (mask & w->code)
			best = w->code;
	return best;
}

static uint32_t topo_best_speed(uint32_t mask)
{
	return mask ? 1u << (31 - __builtin_clz(mask)) : 0;
}

/* An end that gives no value takes the other end's. */
static uint32_t common(uint32_t a, uint32_t c)
{
	return a && c ? a & c : a | c;
}

static void join_speeds(struct topo_build *b, const struct topo_line *l, const struct topo_line *m,
			struct topo_port *p)
{
	uint32_t speeds = common(l->speeds, m->speeds);

	/* ibnetdiscover prints QDR for an end whose vendor attribute it could not read. */
	if (!speeds && (l->speeds | m->speeds) == (IB_SPEED_QDR | IB_SPEED_FDR10))
		speeds = IB_SPEED_FDR10;
	p->width = topo_best_width(common(l->widths, m->widths));
	p->speed = topo_best_speed(speeds);
	/* The first end reports it. */
	if (l < m && ((l->widths && !p->width) || (l->speeds && !p->speed)))
		build_error(b, &l->at, "port %u of \"%s\", the other end (line %u), has another %s",
			    m->num, b->node[m->node].id, m->at.line,
			    l->widths && !p->width ? "width" : "speed");
}

/* Is this end of a cable possible, whatever the other end's line says? */
static bool end_ok(struct topo_build *b, const struct topo_line *l)
{
	const struct topo_node *peer = &b->node[l->peer_node];

	if (!l->peer_port || l->peer_port > peer->nports)
		build_error(b, &l->peer_at, "\"%s\" has no port %u (it has %u)", peer->id,
			    l->peer_port, peer->nports);
	else if (l->peer_node == l->node && l->peer_port == l->num)
		build_error(b, &l->peer_at, "port %u of \"%s\" is connected to itself", l->num,
			    peer->id);
	else
		return true;
	return false;
}

/* Check one end of a cable; the other end is checked in its turn. */
static void join_line(struct join *j, uint32_t line)
{
	struct topo_build *b = j->b;
	struct topo_line *l = &b->line[line], *m;
	const struct topo_node *n, *peer;
	struct topo_port *p;
	uint32_t other;

	if (l->peer_node == TOPO_NONE || l->broken)
		return;
	if (!end_ok(b, l)) {
		l->broken = true;
		return;
	}
	peer = &b->node[l->peer_node];
	other = *topo_line_of(j, l->peer_node, l->peer_port);
	m = other ? &b->line[other - 1] : NULL;
	/* What is wrong with the other end is reported already, or this line may be right. */
	if (m ? m->broken : b->broken[l->peer_node])
		return;
	if (!m || m->peer_node == TOPO_NONE) {
		build_error(b, &l->at, "port %u of \"%s\" does not mention this cable",
			    l->peer_port, peer->id);
		return;
	}
	if (m->peer_node != l->node || m->peer_port != l->num) {
		if (b->broken[l->node] || b->broken[l->peer_node] || b->broken[m->peer_node])
			return;
		build_error(
			b, &l->at, "port %u of \"%s\" is connected to port %u of \"%s\" (line %u)",
			l->peer_port, peer->id, m->peer_port, b->node[m->peer_node].id, m->at.line);
		return;
	}
	n = &b->node[l->node];
	if (n->link == TOPO_LINK_ETH || peer->link == TOPO_LINK_ETH) {
		/* The first end reports it. */
		if (l < m)
			build_error(b, &l->at,
				    "\"%s\" has Ethernet ports: a cable joins InfiniBand ports",
				    peer->link == TOPO_LINK_ETH ? peer->id : n->id);
		return;
	}
	p = &j->t->node[l->node].port[l->num];
	p->peer_node = l->peer_node;
	p->peer_port = l->peer_port;
	if (!p->guid)
		p->guid = m->peer_guid;
	join_speeds(b, l, m, p);
}

static bool same_guid(const void *arg, const void *key, uint32_t value)
{
	const uint64_t *const *guid = arg;

	return *guid[value] == *(const uint64_t *)key;
}

/*
 * Set the GUIDs of ports that have none in the file: they count from the first port of their node
 * that has one, else from the node's, as in ibsim.
 */
static void fill_guids(struct topo_node *n)
{
	uint32_t known = 1;

	/* Without a cable a port has no known properties: no format has a place for them. */
	for (uint32_t i = 1; i <= n->nports; i++)
		if (n->port[i].peer_node == TOPO_NONE)
			n->port[i].guid = n->port[i].lid = n->port[i].lmc = 0;
	if (n->type == TOPO_SWITCH) {
		for (uint32_t i = 1; i <= n->nports; i++)
			/* every port of a switch answers with the GUID of port 0 */
			n->port[i].guid = 0;
		if (!n->port[0].guid)
			n->port[0].guid = n->guid;
		return;
	}
	while (known <= n->nports && !n->port[known].guid)
		known++;
	for (uint32_t i = 1; i <= n->nports; i++)
		if (!n->port[i].guid)
			n->port[i].guid =
				known <= n->nports ? n->port[known].guid + i - known : n->guid + i;
}

/* Node GUIDs must be unique, and so must port GUIDs; a port may have its node's GUID. */
static int check_guids(struct topo_build *b, const struct topo *t)
{
	struct topo_hash nodes = {0}, ports = {0};
	/* A port whose cable has an error has lost its GUID. */
	bool also_ports = !b->nerrs;
	size_t nports = 0, k = 0;
	const uint64_t **guid;
	int r = 0;

	for (uint32_t i = 0; i < t->nnodes; i++)
		nports += t->node[i].nports + 1;
	guid = calloc(nports + t->nnodes + 1, sizeof(*guid));
	if (!guid)
		return -ENOMEM;
	for (uint32_t i = 0; !r && i < t->nnodes; i++) {
		const struct topo_node *n = &t->node[i];
		uint32_t first = n->type == TOPO_SWITCH ? 0 : 1;
		uint32_t last = n->type == TOPO_SWITCH ? 0 : n->nports;

		if (b->broken[i])
			continue;
		guid[k] = &n->guid;
		if (topo_hash_find(&nodes, topo_hash_u64(n->guid), &n->guid, same_guid, guid) !=
		    TOPO_HASH_NONE) {
			build_error(b, &b->at[i], "another node has the GUID 0x%016llx of \"%s\"",
				    (unsigned long long)n->guid, n->id);
			continue; /* its ports' GUIDs follow from it */
		}
		r = topo_hash_add(&nodes, topo_hash_u64(n->guid), (uint32_t)k);
		k++;
		for (uint32_t p = first; also_ports && !r && p <= last; p++, k++) {
			guid[k] = &n->port[p].guid;
			if (topo_hash_find(&ports, topo_hash_u64(*guid[k]), guid[k], same_guid,
					   guid) != TOPO_HASH_NONE)
				build_error(
					b, &b->at[i],
					"another port has the GUID 0x%016llx of port %u of \"%s\"",
					(unsigned long long)*guid[k], p, n->id);
			else
				r = topo_hash_add(&ports, topo_hash_u64(*guid[k]), (uint32_t)k);
		}
	}
	topo_hash_finish(&nodes);
	topo_hash_finish(&ports);
	free(guid);
	return r;
}

int build_topo(struct topo_build *b, struct topo *t)
{
	struct join j = {.b = b, .t = t};
	int r;

	*t = (struct topo){0};
	if (!b->nnodes && b->nerrs)
		return -EINVAL;
	if (!b->nnodes)
		return build_error(b, NULL, "%s%sthere are no nodes", b->nfiles ? b->file[0] : "",
				   b->nfiles ? ": " : "");
	t->node = malloc(b->nnodes * sizeof(*t->node));
	if (!t->node)
		return -ENOMEM;
	memcpy(t->node, b->node, b->nnodes * sizeof(*t->node));
	t->nnodes = b->nnodes;
	r = make_ports(&j);
	if (!r)
		r = place_lines(&j);
	for (uint32_t i = 0; !r && i < b->nlines; i++)
		if (b->line[i].by_alias)
			join_alias(&j, i);
	for (uint32_t i = 0; !r && i < b->nlines; i++)
		join_line(&j, i);
	for (uint32_t i = 0; !r && i < t->nnodes; i++)
		fill_guids(&t->node[i]);
	if (!r)
		r = check_guids(b, t);
	if (!r && b->nerrs)
		r = -EINVAL;
	if (!r)
		r = topo_name_hosts(t);
	if (!r) {
		t->ip = b->ip;
		t->nips = b->nips;
		t->world = b->world;
		b->ip = NULL;
	}
	topo_hash_finish(&j.missing);
	free(j.line);
	if (r)
		topo_free(t);
	return r;
}

void topo_fill(struct topo *t, const struct topo_defaults *d)
{
	for (uint32_t i = 0; i < t->nnodes; i++) {
		struct topo_node *n = &t->node[i];

		if (!n->vendor_id)
			n->vendor_id = d->vendor_id;
		if (!n->device_id)
			n->device_id = n->type == TOPO_SWITCH ? d->switch_id : d->ca_id;
		for (uint32_t p = 1; p <= n->nports; p++) {
			if (n->port[p].peer_node == TOPO_NONE)
				continue;
			if (!n->port[p].width)
				n->port[p].width = d->width;
			if (!n->port[p].speed)
				n->port[p].speed = d->speed;
		}
	}
}

void topo_free(struct topo *t)
{
	if (t->node)
		free(t->node[0].port);
	free(t->node);
	free(t->host);
	free(t->ip);
	*t = (struct topo){0};
}
