/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns pictures for Graphviz. Hosts with the same cables may become one node with their number,
 * parallel cables become one line. A hierarchy gets one rank for each level; other subnets are laid
 * out by forces (layout=neato), because all their switches would stand in one row.
 */
#include "topo/picture.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "util/utf8.h"

#define RANGES 3 /* of port numbers that a label shows */

/* A cable, from `a` to `b`: nodes that are drawn. `a` is the higher one, or the first. */
struct line {
	uint32_t a, b;
	enum picture_cable cable;
	uint32_t width, speed;
	uint32_t a_port, b_port;
	uint64_t a_sent, b_sent, a_lost, b_lost;
};

struct tie { /* a cable of an adapter */
	uint32_t peer;
	uint32_t cable, width, speed;
};

struct dot {
	FILE *f;
	const struct picture *p;
	const struct dot_options *o;
	uint32_t *drawn;   /* per node: the node that stands for it */
	uint32_t *members; /* per drawn node: how many it stands for */
	uint32_t *hosts;   /* the hosts of these */
	uint32_t *last;    /* its last member */
	struct line *line;
	size_t nlines;
	uint32_t width, speed; /* of most cables */
	double *breadth;       /* per level: of its switches in the picture, in inches */
	uint32_t widest;       /* the number of nodes of the widest level */
};

/*
 * A label's text. dot(1) knows the entities of HTML, and wants UTF-8: other octets are shown as
 * Latin-1, control characters as blanks.
 */
static void write_text(FILE *f, const char *s)
{
	for (size_t len = strlen(s), n; len; s += n, len -= n) {
		unsigned char c = (unsigned char)*s;

		n = c < 0x80 ? 0 : utf8_len(s, len);
		if (n) {
			fwrite(s, 1, n, f);
			continue;
		}
		n = 1;
		if (c == '&' || c >= 0x80)
			fprintf(f, "&#%u;", c);
		else if (c == '"' || c == '\\')
			fprintf(f, "\\%c", c);
		else
			fputc(c < ' ' || c == 0x7f ? ' ' : c, f);
	}
}

static const char *name_of(const struct topo_node *n)
{
	return n->desc[0] ? n->desc : n->id;
}

/* One end of "h1 ... h36". */
static const char *host_of(const struct topo *t, uint32_t i)
{
	return t->node[i].host < t->nhosts ? t->host[t->node[i].host] : name_of(&t->node[i]);
}

/* ---- hosts with the same cables */

/* Ties of adapter i, sorted; n: room. */
static uint32_t ties(const struct picture *p, uint32_t i, struct tie *t)
{
	const struct topo_node *n = &p->t->node[i];
	uint32_t count = 0;

	for (uint32_t k = 1; k <= n->nports; k++) {
		uint32_t at = count;
		struct tie new = {.peer = n->port[k].peer_node,
				  .width = n->port[k].width,
				  .speed = n->port[k].speed};

		if (new.peer == TOPO_NONE)
			continue;
		new.cable = picture_cable(p, i, k);
		for (; at && memcmp(&t[at - 1], &new, sizeof(new)) > 0; at--)
			t[at] = t[at - 1];
		t[at] = new;
		count++;
	}
	return count;
}

static int by_ties(const void *a, const void *b, void *arg)
{
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b, n, m;
	struct tie x[TOPO_MAX_PORTS], y[TOPO_MAX_PORTS];
	int r;

	n = ties(arg, i, x);
	m = ties(arg, k, y);
	r = n == m ? memcmp(x, y, n * sizeof(*x)) : n < m ? -1 : 1;
	return r;
}

static int by_ties_and_number(const void *a, const void *b, void *arg)
{
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	int r = by_ties(a, b, arg);

	return r ? r : i < k ? -1 : i > k;
}

/* The `n` adapters from ca[0] on, in their order, are drawn as one node. */
static void join(struct dot *d, const uint32_t *ca, uint32_t n, uint32_t *seen)
{
	d->members[ca[0]] = n;
	d->last[ca[0]] = ca[n - 1];
	for (uint32_t k = 0; k < n; k++) {
		uint32_t host = d->p->t->node[ca[k]].host;

		d->drawn[ca[k]] = ca[0];
		if (host < d->p->t->nhosts && seen[host] == ca[0] + 1)
			continue;
		d->hosts[ca[0]]++;
		if (host < d->p->t->nhosts)
			seen[host] = ca[0] + 1;
	}
}

static int join_hosts(struct dot *d)
{
	const struct topo *t = d->p->t;
	uint32_t *ca = calloc(t->nnodes + 1, sizeof(*ca)), n = 0;
	uint32_t *seen = calloc(t->nhosts + 1, sizeof(*seen));

	if (!ca || !seen) {
		free(ca);
		free(seen);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < t->nnodes; i++)
		if (t->node[i].type == TOPO_CA)
			ca[n++] = i;
	qsort_r(ca, n, sizeof(*ca), by_ties_and_number, (void *)d->p);
	for (uint32_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && !by_ties(&ca[i], &ca[end], (void *)d->p);)
			end++;
		join(d, &ca[i], end - i, seen);
	}
	free(ca);
	free(seen);
	return 0;
}

static int draw_nodes(struct dot *d)
{
	const struct topo *t = d->p->t;

	d->drawn = calloc(t->nnodes + 1, sizeof(*d->drawn));
	d->members = calloc(t->nnodes + 1, sizeof(*d->members));
	d->hosts = calloc(t->nnodes + 1, sizeof(*d->hosts));
	d->last = calloc(t->nnodes + 1, sizeof(*d->last));
	if (!d->drawn || !d->members || !d->hosts || !d->last)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->nnodes; i++) {
		d->drawn[i] = i;
		d->members[i] = 1;
	}
	return t->nhosts > d->o->max_hosts ? join_hosts(d) : 0;
}

/* ---- cables */

static int by_ends(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	const uint32_t v[][2] = {{x->a, y->a},           {x->b, y->b},
				 {x->cable, y->cable},   {x->width, y->width},
				 {x->speed, y->speed},   {x->a_port, y->a_port},
				 {x->b_port, y->b_port}, {0, 0}};

	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++)
		if (v[i][0] != v[i][1])
			return v[i][0] < v[i][1] ? -1 : 1;
	return 0;
}

/* Is it drawn as one line? */
static bool parallel(const struct line *x, const struct line *y)
{
	return x->a == y->a && x->b == y->b && x->cable == y->cable && x->width == y->width &&
	       x->speed == y->speed;
}

static void add_line(struct dot *d, uint32_t i, uint32_t k)
{
	const struct picture *p = d->p;
	const struct topo_port *at = &p->t->node[i].port[k];
	const struct picture_port *a = picture_port(p, i, k);
	const struct picture_port *b = picture_port(p, at->peer_node, at->peer_port);
	struct line l = {.a = d->drawn[i],
			 .b = d->drawn[at->peer_node],
			 .cable = picture_cable(p, i, k),
			 .width = at->width,
			 .speed = at->speed,
			 .a_port = k,
			 .b_port = at->peer_port};

	l.a_sent = a->n[PICTURE_XMIT_PKTS];
	l.a_lost = a->n[PICTURE_XMIT_DISCARDS];
	l.b_sent = b->n[PICTURE_XMIT_PKTS];
	l.b_lost = b->n[PICTURE_XMIT_DISCARDS];
	if (p->levels && p->node[l.a].level < p->node[l.b].level)
		l = (struct line){.a = l.b,
				  .b = l.a,
				  .cable = l.cable,
				  .width = l.width,
				  .speed = l.speed,
				  .a_port = l.b_port,
				  .b_port = l.a_port,
				  .a_sent = l.b_sent,
				  .b_sent = l.a_sent,
				  .a_lost = l.b_lost,
				  .b_lost = l.a_lost};
	d->line[d->nlines++] = l;
}

/* The rate of most cables. Codes are one bit each, at most bit 8; 0: not known. */
static void find_rate(struct dot *d)
{
	size_t n[10][10] = {{0}}, best = 0;

	for (size_t i = 0; i < d->nlines; i++) {
		uint32_t w = (uint32_t)__builtin_ffs((int)d->line[i].width) % 10;
		uint32_t v = (uint32_t)__builtin_ffs((int)d->line[i].speed) % 10;

		if (++n[w][v] <= best)
			continue;
		best = n[w][v];
		d->width = d->line[i].width;
		d->speed = d->line[i].speed;
	}
}

static int draw_cables(struct dot *d)
{
	const struct topo *t = d->p->t;
	size_t n = 0;

	for (uint32_t i = 0; i < t->nnodes; i++)
		for (uint32_t k = 1; k <= t->node[i].nports; k++)
			n += picture_first_end(t, i, k);
	d->line = calloc(n + 1, sizeof(*d->line));
	if (!d->line)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->nnodes; i++)
		for (uint32_t k = 1; k <= t->node[i].nports; k++)
			if (picture_first_end(t, i, k))
				add_line(d, i, k);
	qsort(d->line, d->nlines, sizeof(*d->line), by_ends);
	find_rate(d);
	return 0;
}

/* ---- the text */

/* Does the node have cables, of which none is up? */
static bool lost(const struct picture *p, uint32_t i)
{
	const struct topo_node *n = &p->t->node[i];
	uint32_t cables = 0;

	for (uint32_t k = 1; k <= n->nports; k++) {
		if (n->port[k].peer_node == TOPO_NONE)
			continue;
		if (picture_cable(p, i, k) <= PICTURE_INIT)
			return false;
		cables++;
	}
	return cables;
}

static void write_node(const struct dot *d, uint32_t i)
{
	static const char *const shape[] = {NULL, "ellipse", "box", "diamond"};
	static const char *const fill[] = {NULL, "#e9f5e4", "#dce8f7", "#f7ecd6"};
	const struct topo_node *n = &d->p->t->node[i];
	FILE *f = d->f;

	fprintf(f, "\tn%u [shape=%s, fillcolor=\"%s\", label=\"", i, shape[n->type], fill[n->type]);
	if (d->members[i] == 1) {
		write_text(f, name_of(n));
	} else {
		fprintf(f, "%u host%s", d->hosts[i], d->hosts[i] == 1 ? "" : "s");
		if (d->members[i] != d->hosts[i])
			fprintf(f, ", %u adapters", d->members[i]);
		fprintf(f, "\\n");
		write_text(f, host_of(d->p->t, i));
		fprintf(f, " ... ");
		write_text(f, host_of(d->p->t, d->last[i]));
	}
	fprintf(f, "\"");
	if (d->p->levels && n->type == TOPO_SWITCH)
		fprintf(f, ", width=%.2f", d->breadth[d->p->node[i].level]);
	if (lost(d->p, i))
		fprintf(f, ", style=\"filled,dashed\", color=\"#d62728\"");
	fprintf(f, ", tooltip=\"GUID 0x%016" PRIx64 "\"];\n", n->guid);
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* "1-3,7": the ports at one end of n parallel cables. */
static void write_ports(FILE *f, const struct line *l, size_t n, bool first)
{
	uint32_t num[256], ranges = 0;
	size_t count = n < 256 ? n : 256;

	for (size_t i = 0; i < count; i++)
		num[i] = first ? l[i].a_port : l[i].b_port;
	qsort(num, count, sizeof(num[0]), by_number);
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && num[end] == num[end - 1] + 1;)
			end++;
		if (++ranges > RANGES) {
			fprintf(f, ",...");
			return;
		}
		fprintf(f, "%s%u", i ? "," : "", num[i]);
		if (end - i > 1)
			fprintf(f, "-%u", num[end - 1]);
	}
}

/* The label at one end of n parallel cables. */
static void write_end(const struct dot *d, const struct line *l, size_t n, bool first)
{
	bool ports = d->members[first ? l->a : l->b] == 1;
	uint64_t sent = 0, gone = 0;

	if (!ports && !d->o->counters)
		return;
	fprintf(d->f, ", %s=\"", first ? "taillabel" : "headlabel");
	if (ports)
		write_ports(d->f, l, n, first);
	for (size_t i = 0; i < n; i++) {
		sent += first ? l[i].a_sent : l[i].b_sent;
		gone += first ? l[i].a_lost : l[i].b_lost;
	}
	if (d->o->counters && sent)
		fprintf(d->f, "%s%" PRIu64, ports ? "\\n" : "", sent);
	if (d->o->counters && gone)
		fprintf(d->f, "\\n%" PRIu64 " lost", gone);
	fprintf(d->f, "\"");
}

static void write_line(const struct dot *d, const struct line *l, size_t n)
{
	static const char *const style[] = {
		[PICTURE_UP] = "",
		[PICTURE_INIT] = ", color=\"#d98200\", fontcolor=\"#d98200\"",
		[PICTURE_DOWN] = ", style=dashed, color=\"#d62728\", fontcolor=\"#d62728\"",
		[PICTURE_DISABLED] = ", style=dashed, color=\"#d62728\", fontcolor=\"#d62728\"",
		[PICTURE_PULLED] = ", style=dotted, color=\"#d62728\", fontcolor=\"#d62728\"",
	};
	bool odd = l->cable <= PICTURE_INIT && (l->width != d->width || l->speed != d->speed);
	const char *state = picture_cable_name(l->cable);
	char rate[16];

	fprintf(d->f, "\tn%u -- n%u [", l->a, l->b);
	fprintf(d->f, "penwidth=%s%s", n > 1 ? "2" : "1", style[l->cable]);
	write_end(d, l, n, true);
	write_end(d, l, n, false);
	if (n > 1 || odd || *state) {
		fprintf(d->f, ", label=\"");
		if (n > 1)
			fprintf(d->f, "%zu cables", n);
		if (odd)
			fprintf(d->f, "%s%s", n > 1 ? "\\n" : "",
				picture_rate(l->width, l->speed, rate));
		fprintf(d->f, "%s%s\"", *state && (n > 1 || odd) ? "\\n" : "", state);
	}
	fprintf(d->f, "];\n");
}

/* Few switches above many are drawn wide, so that the cables have room at them. */
static int measure(struct dot *d)
{
	const struct topo *t = d->p->t;
	uint32_t *size = calloc(d->p->levels + 1, sizeof(*size));

	d->breadth = calloc(d->p->levels + 1, sizeof(*d->breadth));
	if (!size || !d->breadth) {
		free(size);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < t->nnodes && d->p->levels; i++)
		size[d->p->node[i].level] += d->drawn[i] == i;
	for (uint32_t l = 0; l < d->p->levels; l++)
		d->widest = size[l] > d->widest ? size[l] : d->widest;
	for (uint32_t l = 0; l < d->p->levels; l++) {
		double share = size[l] ? 0.7 * d->widest / size[l] : 0;

		d->breadth[l] = share < 0.75 ? 0.75 : share > 3 ? 3 : share;
	}
	free(size);
	return 0;
}

/* The name, numbers of all there is, and the rate of most cables. */
static void write_caption(const struct dot *d)
{
	static const char *const word[] = {NULL, "adapters", "switches", "routers"};
	const struct topo *t = d->p->t;
	uint32_t n[TOPO_ROUTER + 1] = {0};
	size_t down = 0;
	char rate[16];

	for (uint32_t i = 0; i < t->nnodes; i++)
		n[t->node[i].type]++;
	for (size_t i = 0; i < d->nlines; i++)
		down += d->line[i].cable > PICTURE_INIT;
	if (d->p->name)
		write_text(d->f, d->p->name);
	fprintf(d->f, "%s%u hosts", d->p->name ? ": " : "", t->nhosts);
	for (uint32_t k = TOPO_CA; k <= TOPO_ROUTER; k++)
		if (n[k] && (k != TOPO_CA || n[k] != t->nhosts))
			fprintf(d->f, ", %u %s", n[k], word[k]);
	fprintf(d->f, ", %zu cables", d->nlines);
	if (d->width && d->speed)
		fprintf(d->f, " (%s where nothing else is said)",
			picture_rate(d->width, d->speed, rate));
	if (down)
		fprintf(d->f, ", %zu not up", down);
	if (d->o->counters)
		fprintf(d->f, "\\nat the ends of cables: port, packets sent");
}

static void write_head(const struct dot *d)
{
	fprintf(d->f, "graph subnet {\n\tgraph [label=\"");
	write_caption(d);
	fprintf(d->f, "\", labelloc=b, fontname=\"sans-serif\", fontsize=12, ");
	if (d->p->levels)
		fprintf(d->f, "ranksep=%.1f, nodesep=0.25, splines=line", 1 + d->widest / 10.0);
	else
		fprintf(d->f, "layout=neato, overlap=false, splines=line, start=1, esep=0.1");
	/* Each crossing costs time: without limits dot takes hours for thousands of lines. */
	if (d->p->levels && d->nlines > 500)
		fprintf(d->f, ", mclimit=0.1, nslimit=0.1, nslimit1=0.1");
	fprintf(d->f,
		"];\n\tnode [style=filled, color=\"#5a6b7b\", fontname=\"sans-serif\", "
		"fontsize=11, margin=\"0.08,0.04\"];\n"
		"\tedge [color=\"#5a6b7b\", fontname=\"sans-serif\", fontsize=9%s];\n",
		d->p->levels ? "" : ", len=1.4");
}

static void write_all(const struct dot *d)
{
	const struct topo *t = d->p->t;

	write_head(d);
	for (uint32_t i = 0; i < t->nnodes; i++)
		if (d->drawn[i] == i)
			write_node(d, i);
	for (uint32_t level = d->p->levels; level--;) {
		fprintf(d->f, "\t{ rank=same;");
		for (uint32_t i = 0; i < t->nnodes; i++)
			if (d->drawn[i] == i && d->p->node[i].level == level)
				fprintf(d->f, " n%u;", i);
		fprintf(d->f, " }\n");
	}
	for (size_t i = 0, end; i < d->nlines; i = end) {
		for (end = i + 1; end < d->nlines && parallel(&d->line[i], &d->line[end]);)
			end++;
		write_line(d, &d->line[i], end - i);
	}
	fprintf(d->f, "}\n");
}

int picture_write_dot(FILE *f, const struct picture *p, const struct dot_options *o)
{
	struct dot d = {.f = f, .p = p, .o = o};
	int r = draw_nodes(&d);

	if (!r)
		r = draw_cables(&d);
	if (!r)
		r = measure(&d);
	if (!r)
		write_all(&d);
	free(d.drawn);
	free(d.members);
	free(d.hosts);
	free(d.last);
	free(d.line);
	free(d.breadth);
	return r ? r : ferror(f) ? -EIO : 0;
}
