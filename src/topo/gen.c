/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the generators: regular and random topologies from a few numbers; the same numbers always
 * give the same topology. softhca-topo(5) describes each. Calls the builder.
 */
#include "topo/build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "util/cleanup.h"
#include "util/num.h"
#include "util/bits.h"

#define MAX_ARGS 4
#define MAX_LEVELS 8
#define RANDOM_RADIX 36
#define RANDOM_HCAS 8 /* HCAs per switch, on average */

/* Hosts are numbered as fab_create() does without a topology; switches have their own numbers. */
#define CA_GUID UINT64_C(0x5a17ca0300000000)
#define SWITCH_GUID UINT64_C(0x5a17ca0400000000)

struct gen {
	struct topo_build b;
	const char *spec;
	uint64_t arg[MAX_ARGS];
	uint32_t nargs;
	uint32_t hosts, switches; /* number of hosts and switches made so far */
	uint32_t left;            /* fat-tree: number of HCAs still to be placed */
	uint32_t leaves_left;     /* ... and of leaves still to be made */
	uint64_t random;
};

/* splitmix64 */
static uint32_t random_below(struct gen *g, uint32_t n)
{
	return (uint32_t)(bits_mix(g->random += UINT64_C(0x9e3779b97f4a7c15)) % n);
}

/* Add a switch; *idx: index of its node. */
static int new_switch(struct gen *g, uint32_t nports, const char *name, uint32_t *idx)
{
	struct topo_node n = {.type = TOPO_SWITCH, .nports = nports};

	n.guid = n.sys_guid = SWITCH_GUID | ++g->switches << 8;
	snprintf(n.id, sizeof(n.id), "S-%016llx", (unsigned long long)n.guid);
	snprintf(n.desc, sizeof(n.desc), "%s", name);
	*idx = g->b.nnodes;
	return build_node(&g->b, &n, NULL);
}

/* Add a host with one HCA at a switch's port. */
static int new_host(struct gen *g, uint32_t sw, uint32_t port)
{
	struct topo_node n = {.type = TOPO_CA, .nports = 1};
	struct topo_line *l;
	uint32_t ca = g->b.nnodes;
	int r;

	n.guid = n.sys_guid = CA_GUID | (uint64_t)++g->hosts << 16;
	snprintf(n.id, sizeof(n.id), "H-%016llx", (unsigned long long)n.guid);
	snprintf(n.desc, sizeof(n.desc), "h%u mlx5_0", g->hosts);
	r = build_node(&g->b, &n, NULL);
	if (!r)
		r = build_link(&g->b, sw, port, ca, 1);
	if (r)
		return r;
	l = &g->b.line[g->b.nlines - 1];
	l->guid = n.guid;
	return 0;
}

static int gen_star(struct gen *g)
{
	uint32_t sw;
	int r = new_switch(g, (uint32_t)g->arg[0], "s1", &sw);

	for (uint32_t i = 1; !r && i <= g->arg[0]; i++)
		r = new_host(g, sw, i);
	return r;
}

/* ---- grids: rings are tori of one dimension */

struct grid {
	uint32_t dims, size[3], hcas;
	uint32_t nodes;
};

static int grid_switches(struct gen *g, const struct grid *d, uint32_t *sw)
{
	for (uint32_t i = 0; i < d->nodes; i++) {
		char name[40];
		int r;

		if (d->dims == 1)
			snprintf(name, sizeof(name), "s%u", i + 1);
		else
			snprintf(name, sizeof(name), d->dims == 2 ? "s%u-%u" : "s%u-%u-%u",
				 i % d->size[0], i / d->size[0] % d->size[1],
				 i / d->size[0] / d->size[1]);
		r = new_switch(g, 2 * d->dims + d->hcas, name, &sw[i]);
		for (uint32_t k = 1; !r && k <= d->hcas; k++)
			r = new_host(g, sw[i], 2 * d->dims + k);
		if (r)
			return r;
	}
	return 0;
}

/* Port 1 of a switch leads up in the first dimension, port 2 down, 3 and 4 in the second... */
static int grid_links(struct gen *g, const struct grid *d, const uint32_t *sw)
{
	uint32_t step = 1;
	int r = 0;

	for (uint32_t dim = 0; dim < d->dims; step *= d->size[dim++]) {
		uint32_t size = d->size[dim];

		for (uint32_t i = 0; !r && size > 1 && i < d->nodes; i++) {
			uint32_t at = i / step % size;
			uint32_t next = at + 1 < size ? i + step : i - at * step;

			if (size == 2 && at)
				continue; /* a dimension of two switches has one cable, not two */
			r = build_link(&g->b, sw[i], 2 * dim + 1, sw[next], 2 * dim + 2);
		}
	}
	return r;
}

static int gen_grid(struct gen *g, struct grid *d)
{
	_cleanup_free_ uint32_t *sw = NULL;
	uint64_t nodes = 1;
	int r;

	for (uint32_t i = 0; i < d->dims; i++)
		nodes *= d->size[i];
	if (nodes * (d->hcas + 1) > TOPO_MAX_LIDS)
		return build_error(&g->b, NULL, "%s: a subnet has %u LIDs, too few for these nodes",
				   g->spec, TOPO_MAX_LIDS);
	d->nodes = (uint32_t)nodes;
	sw = calloc(d->nodes, sizeof(*sw));
	if (!sw)
		return -ENOMEM;
	r = grid_switches(g, d, sw);
	return r ? r : grid_links(g, d, sw);
}

static int gen_ring(struct gen *g)
{
	struct grid d = {.dims = 1, .size = {(uint32_t)g->arg[0]}};

	d.hcas = g->nargs > 1 ? (uint32_t)g->arg[1] : 1;
	return gen_grid(g, &d);
}

/* The sizes come from the argument XxYxZ or XxY, which has `dims` numbers. */
static int gen_torus(struct gen *g, uint32_t dims, uint32_t hcas)
{
	struct grid d = {.dims = dims, .hcas = hcas};

	for (uint32_t i = 0; i < dims; i++)
		d.size[i] = (uint32_t)g->arg[i];
	return gen_grid(g, &d);
}

/* ---- fat trees */

struct tree {
	uint32_t *root; /* the roots' nodes; each root has `half` free ports, from half + 1 on */
	uint32_t nroots;
};

static uint32_t div_up(uint32_t a, uint32_t b)
{
	return (a + b - 1) / b;
}

static int tree_switch(struct gen *g, uint32_t level, uint32_t radix, uint32_t *idx)
{
	char name[40];

	snprintf(name, sizeof(name), "l%u-%u", level, g->switches + 1);
	return new_switch(g, radix, name, idx);
}

/* Adds a leaf; hosts are spread evenly on all leaves. */
static int tree_leaf(struct gen *g, uint32_t radix, struct tree *t)
{
	uint32_t hosts = div_up(g->left, g->leaves_left);
	int r;

	t->nroots = 1;
	t->root = calloc(1, sizeof(*t->root));
	if (!t->root)
		return -ENOMEM;
	r = tree_switch(g, 1, radix, &t->root[0]);
	for (uint32_t i = 1; !r && i <= hosts; i++)
		r = new_host(g, t->root[0], i);
	g->left -= hosts;
	g->leaves_left--;
	return r;
}

/*
 * Adds parents over the children's roots: roots with the same number get `width` parents, each
 * connected by `cables` cables to each child.
 */
static int tree_parents(struct gen *g, uint32_t level, uint32_t radix, const struct tree *child,
			uint32_t children, uint32_t width, struct tree *t)
{
	uint32_t half = radix / 2, cables = half / width;
	int r = 0;

	t->nroots = child[0].nroots * width;
	t->root = calloc(t->nroots, sizeof(*t->root));
	if (!t->root)
		return -ENOMEM;
	for (uint32_t i = 0; !r && i < t->nroots; i++) {
		uint32_t from = i / width, parent = i % width;

		r = tree_switch(g, level, radix, &t->root[i]);
		for (uint32_t k = 0; !r && k < children * cables; k++)
			r = build_link(&g->b, child[k / cables].root[from],
				       half + 1 + parent * cables + k % cables, t->root[i], k + 1);
	}
	return r;
}

/* The number of trees of the level below in a tree with that many leaves. */
static uint32_t tree_children(uint32_t level, uint32_t radix, uint32_t leaves)
{
	uint64_t per_child = 1;

	for (uint32_t i = 2; i < level; i++)
		per_child *= radix / 2;
	return (uint32_t)((leaves + per_child - 1) / per_child);
}

static uint32_t tree_leaves(uint32_t level, uint32_t radix, uint32_t leaves)
{
	uint32_t children = level > 1 ? tree_children(level, radix, leaves) : 0;

	return children ? children * tree_leaves(level - 1, radix, div_up(leaves, children)) : 1;
}

/* Make a tree with that many levels and leaves; `top`: it has no parent. */
static int tree_make(struct gen *g, uint32_t level, uint32_t radix, uint32_t leaves, bool top,
		     struct tree *t)
{
	uint32_t half = radix / 2, children, width = half;
	struct tree *child;
	int r = 0;

	if (level == 1)
		return tree_leaf(g, radix, t);
	children = tree_children(level, radix, leaves);
	/*
	 * Roots at the top need no ports upwards: use fewer of them, if all cables can be spread
	 * evenly.
	 */
	if (top)
		for (width = div_up(children * half, radix); half % width; width++)
			;
	child = calloc(children, sizeof(*child));
	if (!child)
		return -ENOMEM;
	for (uint32_t i = 0; !r && i < children; i++)
		r = tree_make(g, level - 1, radix, div_up(leaves, children), false, &child[i]);
	if (!r)
		r = tree_parents(g, level, radix, child, children, width, t);
	for (uint32_t i = 0; i < children; i++)
		free(child[i].root);
	free(child);
	return r;
}

static int gen_fat_tree(struct gen *g)
{
	uint32_t levels = (uint32_t)g->arg[0], radix = (uint32_t)g->arg[1], half = radix / 2;
	uint32_t leaves;
	uint64_t most = 2;
	struct tree t = {0};
	int r;

	if (radix % 2)
		return build_error(&g->b, NULL,
				   "%s: switches of a fat tree have an even number of ports",
				   g->spec);
	for (uint32_t i = 0; i < levels; i++)
		most *= half;
	if (g->nargs < 3)
		g->arg[2] = most;
	if (g->arg[2] > most)
		return build_error(
			&g->b, NULL,
			"%s: %u levels of switches with %u ports connect %llu HCAs at most",
			g->spec, levels, radix, (unsigned long long)most);
	if (g->arg[2] > TOPO_MAX_LIDS)
		return build_error(&g->b, NULL, "%s: a subnet has %u LIDs: %llu HCAs do not fit",
				   g->spec, TOPO_MAX_LIDS, (unsigned long long)g->arg[2]);
	g->left = (uint32_t)g->arg[2];
	leaves = div_up(g->left, half);
	g->leaves_left = tree_leaves(levels, radix, leaves);
	r = tree_make(g, levels, radix, leaves, true, &t);
	free(t.root);
	return r;
}

/* ---- random */

/*
 * A random tree of switches, as many cables again between random pairs, and hosts at random
 * switches.
 */
static int gen_random(struct gen *g)
{
	uint32_t hosts = (uint32_t)g->arg[0], n = div_up(hosts, RANDOM_HCAS);
	_cleanup_free_ uint32_t *sw = calloc(n, sizeof(*sw)), *used = calloc(n, sizeof(*used));
	int r = sw && used ? 0 : -ENOMEM;

	g->random = g->arg[1];
	for (uint32_t i = 0; !r && i < n; i++) {
		char name[16];
		uint32_t to;

		snprintf(name, sizeof(name), "s%u", i + 1);
		r = new_switch(g, RANDOM_RADIX, name, &sw[i]);
		if (r || !i)
			continue;
		do
			to = random_below(g, i);
		while (used[to] >= RANDOM_RADIX / 3);
		r = build_link(&g->b, sw[i], ++used[i], sw[to], ++used[to]);
	}
	for (uint32_t i = 0; !r && n > 1 && i < n; i++) {
		uint32_t a = random_below(g, n), c = random_below(g, n);

		if (a != c && used[a] < RANDOM_RADIX / 2 && used[c] < RANDOM_RADIX / 2)
			r = build_link(&g->b, sw[a], ++used[a], sw[c], ++used[c]);
	}
	for (uint32_t i = 0; !r && i < hosts; i++) {
		uint32_t to;

		do
			to = random_below(g, n);
		while (used[to] >= RANDOM_RADIX);
		r = new_host(g, sw[to], ++used[to]);
	}
	return r;
}

/* ---- the generators' arguments */

static int gen_torus2(struct gen *g)
{
	return gen_torus(g, 2, g->nargs > 2 ? (uint32_t)g->arg[2] : 1);
}

static int gen_torus3(struct gen *g)
{
	return gen_torus(g, 3, g->nargs > 3 ? (uint32_t)g->arg[3] : 1);
}

static const struct generator {
	const char *name, *usage;
	/* Numbers follow ':', dimensions follow 'x': "::" gives three of them. */
	const char *seps;
	uint32_t needed;
	struct {
		const char *what;
		uint64_t min, max;
	} arg[MAX_ARGS];
	int (*make)(struct gen *g);
} generators[] = {
	{"fat-tree",
	 "fat-tree:LEVELS:RADIX[:HCAS]",
	 ":::",
	 2,
	 {{"LEVELS", 1, MAX_LEVELS}, {"RADIX", 2, TOPO_MAX_PORTS}, {"HCAS", 1, TOPO_MAX_LIDS}},
	 gen_fat_tree},
	{"ring", "ring:N[:HCAS]", "::", 1, {{"N", 1, TOPO_MAX_LIDS}, {"HCAS", 1, 240}}, gen_ring},
	{"star", "star:N", ":", 1, {{"N", 1, TOPO_MAX_PORTS}}, gen_star},
	{"random",
	 "random:NODES:SEED",
	 "::",
	 2,
	 {{"NODES", 1, TOPO_MAX_LIDS}, {"SEED", 0, UINT64_MAX}},
	 gen_random},
	{"torus",
	 "torus:XxYxZ[:HCAS]",
	 ":xx:",
	 3,
	 {{"X", 1, 65535}, {"Y", 1, 65535}, {"Z", 1, 65535}, {"HCAS", 1, 240}},
	 gen_torus3},
	{"torus",
	 "torus:XxY[:HCAS]",
	 ":x:",
	 2,
	 {{"X", 1, 65535}, {"Y", 1, 65535}, {"HCAS", 1, 240}},
	 gen_torus2},
};

const char *topo_generator(size_t i, const char **form)
{
	if (i >= ARRAY_SIZE(generators))
		return NULL;
	*form = generators[i].usage;
	return generators[i].name;
}

static const struct generator *find_generator(const char *spec)
{
	for (size_t i = 0; i < ARRAY_SIZE(generators); i++) {
		const struct generator *g = &generators[i];
		size_t n = strlen(g->name);

		/*
		 * The last generator of a name takes the arguments that the others of that name
		 * refuse.
		 */
		if (strncmp(spec, g->name, n) || spec[n] != ':')
			continue;
		if (g->seps[1] != 'x' || g->seps[2] != 'x' ||
		    (strchr(spec, 'x') && strchr(spec, 'x') != strrchr(spec, 'x')))
			return g;
	}
	return NULL;
}

bool topo_is_generator(const char *spec)
{
	return find_generator(spec);
}

static int parse_args(struct gen *g, const struct generator *of)
{
	const char *s = g->spec + strlen(of->name);
	uint32_t n = 0;

	for (; *s && of->seps[n] && *s == of->seps[n]; n++) {
		const char *end;

		errno = 0;
		g->arg[n] = num_in_base(s + 1, 10, &end);
		if (s[1] < '0' || s[1] > '9')
			break;
		if (errno || g->arg[n] < of->arg[n].min || g->arg[n] > of->arg[n].max)
			return build_error(&g->b, NULL, "%s: %s must be a number from %llu to %llu",
					   g->spec, of->arg[n].what,
					   (unsigned long long)of->arg[n].min,
					   (unsigned long long)of->arg[n].max);
		s = end;
	}
	g->nargs = n;
	return !*s && n >= of->needed
		       ? 0
		       : build_error(&g->b, NULL, "%s: the form is %s", g->spec, of->usage);
}

int topo_generate(const char *spec, struct topo *t, char err[TOPO_ERR])
{
	const struct generator *of = find_generator(spec);
	struct gen g = {.spec = spec};
	int r;

	*t = (struct topo){0};
	build_init(&g.b, err);
	r = of ? parse_args(&g, of) : build_error(&g.b, NULL, "%s: not a generator", spec);
	if (!r)
		r = of->make(&g);
	if (!r)
		r = build_topo(&g.b, t);
	if (r == -ENOMEM)
		build_error(&g.b, NULL, "no memory");
	build_finish(&g.b);
	return r;
}
