/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the console's commands that change the subnet, and finds nodes by name. The commands follow
 * ibsim's sim_cmd.c (do_link, do_relink, do_unlink, do_set_guid, do_seterror, do_change_baselid);
 * on this fabric they change the real cables, so that subnet managers and programs see the change
 * and MAD traps report it. Called by sup_link.c for a line of a script.
 */
#include "super/sup_console.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>
#include "fabric/eth.h"
#include "fabric/fabric.h"
#include "hw/hca.h"
#include "hw/port.h"
#include "topo/snapshot.h"
#include "util/bits.h"
#include "util/cleanup.h"
#include "util/num.h"

#define MAX_LMC 7

int con_fail(struct con *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(c->reason, sizeof(c->reason), fmt, ap);
	va_end(ap);
	return -1;
}

bool con_number(char **s, uint64_t *v)
{
	const char *end;

	*s += strspn(*s, " \t");
	if (!isdigit((unsigned char)**s))
		return false;
	errno = 0;
	*v = num_in_base(*s, 0, &end);
	if (errno)
		return false;
	*s += end - *s;
	return true;
}

/* ---- names */

const char *con_id(const struct con *c, uint32_t node, char id[24])
{
	const struct sup_console *k = c->sup->console;

	if (k->id && k->id[node][0])
		return k->id[node];
	topo_node_id(fab_node(&c->sup->seg, node), id);
	return id;
}

/* Is it what `softhca status` shows of an adapter: "h2", "h2 mlx5_0" or its GUID? */
static bool has_status_name(struct seg *s, const struct fab_node *node, const char *name)
{
	const struct hw_hca *hca = node->hca == SEG_NONE ? NULL : hw_hca(s, node->hca);
	const struct hw_host *h = hca ? seg_live(s, SEG_T_HOST, hca->host) : NULL;
	uint64_t g = node->guid;
	char text[80], device[FAB_HCA_NAME];
	size_t n;

	if (!h)
		return false;
	snprintf(text, sizeof(text), "%04x:%04x:%04x:%04x", (unsigned int)(g >> 48),
		 (unsigned int)(g >> 32 & 0xffff), (unsigned int)(g >> 16 & 0xffff),
		 (unsigned int)(g & 0xffff));
	if (!strcmp(text, name))
		return true;
	n = (size_t)snprintf(text, sizeof(text), "%.*s", (int)sizeof(h->name), h->name);
	if (!strcmp(text, name))
		return true;
	snprintf(text + n, sizeof(text) - n, " %s", fab_hca_name(s, hca, device));
	return !strcmp(text, name);
}

/*
 * Finds a node by its name in the file, else by ibnetdiscover's, else by a description that only it
 * has, else by what `softhca status` shows: the host of one adapter, a host and a device, a GUID.
 */
static uint32_t find_node(struct con *c, const char *name)
{
	struct seg *s = &c->sup->seg;
	uint32_t found = SEG_NONE, n = 0, adapter = SEG_NONE, adapters = 0;

	seg_for_each_live (s, SEG_T_NODE, i) {
		const struct fab_node *node = fab_node(s, i);
		char id[24];

		topo_node_id(node, id);
		if (!strcmp(con_id(c, i, id), name))
			return i;
		topo_node_id(node, id);
		if (!strcmp(id, name))
			return i;
		if (!strncmp(node->desc, name, sizeof(node->desc))) {
			found = i;
			n++;
		}
		if (has_status_name(s, node, name)) {
			adapter = i;
			adapters++;
		}
	}
	if (n == 1)
		return found;
	if (n || adapters == 1)
		return n ? SEG_NONE : adapter;
	if (adapters)
		con_fail(c, "host \"%.64s\" has %u adapters: \"%.64s mlx5_N\"", name, adapters,
			 name);
	return SEG_NONE;
}

int con_target(struct con *c, struct con_target *t)
{
	char *name = strchr(c->args, '"'), *end = name ? strchr(name + 1, '"') : NULL;
	uint64_t num;

	if (!end)
		return con_fail(c, "a node name in quotes is missing");
	*end = 0;
	t->given = name + 1;
	t->num = SEG_NONE;
	c->reason[0] = 0;
	t->idx = find_node(c, t->given);
	if (t->idx == SEG_NONE && c->reason[0])
		return -1;
	if (t->idx == SEG_NONE)
		return con_fail(c, "there is no node \"%.64s\"", t->given);
	t->node = fab_node(&c->sup->seg, t->idx);
	c->args = end + 1;
	if (*c->args != '[')
		return 0;
	c->args++;
	if (!con_number(&c->args, &num) || num > t->node->nports ||
	    (!num && t->node->type != FAB_SWITCH))
		return con_fail(c, "\"%.64s\" has no such port: it has %u", t->given,
				t->node->nports);
	t->num = (uint32_t)num;
	if (*c->args != ']')
		return con_fail(c, "']' is missing after the port number");
	c->args++;
	return 0;
}

/* Finds a target with a port that can have a cable; SEG_NONE after con_fail(). */
static uint32_t cable_end(struct con *c, struct con_target *t)
{
	if (con_target(c, t) < 0)
		return SEG_NONE;
	if (t->num == SEG_NONE || !t->num) {
		con_fail(c, "\"%.64s\": a port from 1 to %u is missing", t->given, t->node->nports);
		return SEG_NONE;
	}
	if (hw_port_is_eth(hw_port(&c->sup->seg, t->node->port0 + t->num))) {
		con_fail(c, "\"%.64s\" has Ethernet ports: a cable joins InfiniBand ports",
			 t->given);
		return SEG_NONE;
	}
	return t->node->port0 + t->num;
}

/* The ports that a target selects, all if it has no number: [*first, *last]. */
static void range(const struct con_target *t, bool with_zero, uint32_t *first, uint32_t *last)
{
	uint32_t low = with_zero && t->node->type == FAB_SWITCH ? 0 : 1;

	*first = t->node->port0 + (t->num == SEG_NONE ? low : t->num);
	*last = t->node->port0 + (t->num == SEG_NONE ? t->node->nports : t->num);
}

/* ---- cables */

/* The former peer of a port's cable; NULL: no memory. */
static uint32_t *previous(struct sup *sup, uint32_t port)
{
	if (!sup->console)
		sup->console = calloc(1, sizeof(*sup->console));
	if (sup->console && !sup->console->previous)
		sup->console->previous = calloc(seg_table(&sup->seg, SEG_T_PORT)->high,
						sizeof(*sup->console->previous));
	return sup->console && sup->console->previous ? &sup->console->previous[port] : NULL;
}

static int plug(struct sup *sup, uint32_t a, uint32_t b)
{
	uint32_t *pa = previous(sup, a), *pb = previous(sup, b);
	int r = fab_plug(&sup->seg, a, b);

	if (!r && pa && pb)
		*pa = *pb = 0;
	return r;
}

static int unplug(struct sup *sup, uint32_t port, uint32_t peer)
{
	uint32_t *pa = previous(sup, port), *pb = previous(sup, peer);

	if (!pa || !pb)
		return -ENOMEM;
	*pa = peer;
	*pb = port;
	return fab_unplug(&sup->seg, port);
}

int sup_cable(struct sup *sup, uint32_t port, bool in)
{
	uint32_t peer = hw_port(&sup->seg, port)->peer, *to;

	if (hw_port_is_eth(hw_port(&sup->seg, port)))
		return fab_eth_link(&sup->seg, port, in);
	if (in == (peer != SEG_NONE))
		return 0;
	if (!in)
		return unplug(sup, port, peer);
	to = previous(sup, port);
	return to && *to ? plug(sup, port, *to) : -ENOLINK;
}

static int connect(struct con *c, uint32_t a, uint32_t b)
{
	int r = plug(c->sup, a, b);

	if (r == -EBUSY)
		return con_fail(c, "one of the ports has a cable already");
	return r < 0 ? con_fail(c, "these ports cannot be connected") : 0;
}

static int do_link(struct con *c)
{
	struct con_target t, u;
	uint32_t a = cable_end(c, &t), b = a == SEG_NONE ? SEG_NONE : cable_end(c, &u);

	return b == SEG_NONE ? -1 : connect(c, a, b);
}

/* Reset a port to its state after power-on. */
static void reset(struct con *c, uint32_t port)
{
	struct hw_port *p = hw_port(&c->sup->seg, port);

	if (!p)
		return;
	p->lid = p->sm_lid = 0;
	p->lmc = 0;
	fab_port_changed(&c->sup->seg, port, FAB_CHANGED_LID | FAB_CHANGED_SM);
}

/* Parse the target of a command about cables: the port, or with `all` several. */
static int cabled(struct con *c, struct con_target *t, bool all, uint32_t *first, uint32_t *last)
{
	if (con_target(c, t) < 0)
		return -1;
	if (!t->num)
		return con_fail(c, "port 0 has no cable");
	range(t, all, first, last);
	return 0;
}

static int unlink_ports(struct con *c, bool clear)
{
	struct con_target t;
	uint32_t first = 0, last = 0;

	if (cabled(c, &t, clear, &first, &last) < 0)
		return -1;
	for (uint32_t i = first; i <= last; i++) {
		uint32_t peer = hw_port(&c->sup->seg, i)->peer;

		if (peer != SEG_NONE && unplug(c->sup, i, peer) < 0)
			return con_fail(c, "the cable cannot be pulled");
		if (peer != SEG_NONE && !clear)
			continue;
		if (!clear && t.num != SEG_NONE)
			return con_fail(c, "port %u of \"%.64s\" has no cable", t.num, t.given);
		if (clear)
			reset(c, i);
	}
	return 0;
}

static int do_unlink(struct con *c)
{
	return unlink_ports(c, false);
}

static int do_clear(struct con *c)
{
	return unlink_ports(c, true);
}

static int do_relink(struct con *c)
{
	struct con_target t;
	uint32_t first = 0, last = 0;

	if (cabled(c, &t, false, &first, &last) < 0)
		return -1;
	for (uint32_t i = first; i <= last; i++) {
		const uint32_t *to = previous(c->sup, i);

		if (to && *to && !connect(c, i, *to))
			continue;
		if (t.num == SEG_NONE)
			continue;
		return to && *to ? -1
				 : con_fail(c, "port %u of \"%.64s\" had no cable before", t.num,
					    t.given);
	}
	c->reason[0] = 0;
	return 0;
}

/* ---- ports */

static int do_guid(struct con *c)
{
	struct seg *s = &c->sup->seg;
	struct con_target t;
	struct hw_hca *hca;
	struct hw_port *p;
	uint64_t guid;

	if (con_target(c, &t) < 0)
		return -1;
	if (!con_number(&c->args, &guid))
		return con_fail(c, "the GUID is missing");
	if (t.num != SEG_NONE && t.node->type != FAB_SWITCH) {
		p = hw_port(s, t.node->port0 + t.num);
		p->guid = guid;
		if (hw_port_is_eth(p)) /* GIDs are the interface's addresses */
			return 0;
		be64_store(p->gid[0] + 8, guid);
		fab_port_changed(s, t.node->port0 + t.num, FAB_CHANGED_GID);
		return 0;
	}
	t.node->guid = guid;
	hca = t.node->hca == SEG_NONE ? NULL : hw_hca(s, t.node->hca);
	if (hca)
		hca->node_guid = guid;
	return 0;
}

static int do_error(struct con *c)
{
	uint32_t first = 0, last = 0;
	struct con_target t;
	uint64_t rate, attr = 0;

	if (con_target(c, &t) < 0)
		return -1;
	if (!con_number(&c->args, &rate))
		return con_fail(c, "the error rate is missing");
	if (rate > 100)
		return con_fail(c, "the error rate must be from 0 to 100");
	if (con_number(&c->args, &attr) && attr > 0xffff)
		return con_fail(c, "the number of an attribute must be from 0 to 65535");
	range(&t, true, &first, &last);
	for (uint32_t i = first; i <= last; i++) {
		struct hw_port *p = hw_port(&c->sup->seg, i);

		atomic_store(&p->err_attr, (uint32_t)attr);
		atomic_store(&p->err_rate, (uint32_t)rate);
	}
	return 0;
}

static int do_baselid(struct con *c)
{
	uint64_t lid, lmc = SEG_NONE;
	struct con_target t;
	struct hw_port *p;

	if (con_target(c, &t) < 0)
		return -1;
	if (t.num == SEG_NONE)
		return con_fail(c, "the port is missing");
	if (!con_number(&c->args, &lid) || !lid || lid >= FAB_LIDS)
		return con_fail(c, "a LID from 1 to %u is missing", FAB_LIDS - 1);
	if (con_number(&c->args, &lmc) && lmc > MAX_LMC)
		return con_fail(c, "the LMC must be from 0 to %u", MAX_LMC);
	p = hw_port(&c->sup->seg, t.node->port0 + t.num);
	if (!p)
		return con_fail(c, "there is no such port");
	if (hw_port_is_eth(p))
		return con_fail(c, "an Ethernet port has no LID");
	p->lid = (uint32_t)lid;
	if (lmc && lmc <= MAX_LMC)
		p->lmc = (uint32_t)lmc;
	fab_port_changed(&c->sup->seg, t.node->port0 + t.num, FAB_CHANGED_LID);
	return 0;
}

/* ---- the rest */

static int do_verbose(struct con *c)
{
	uint64_t level;

	if (con_number(&c->args, &level))
		c->sup->console->verbose = (uint32_t)level;
	fprintf(c->out, "verbose level is %u\n", c->sup->console->verbose);
	return 0;
}

/* The process named by a client number loses the fabric: its devices disappear. */
static int do_disconnect(struct con *c)
{
	uint64_t slot;

	if (con_number(&c->args, &slot))
		for (struct sup_link *l = c->sup->links; l; l = l->next)
			if (!l->closed && l->slot == slot && !sup_removed(c->sup, l)) {
				sup_remove(c->sup, l);
				return 0;
			}
	return con_fail(c, "there is no such client");
}

static int do_nothing(struct con *c)
{
	return 0;
}

static int do_help(struct con *c);

/* In ibsim's order: an abbreviation means the first command that matches. */
static const struct command {
	const char *name, *usage;
	int (*run)(struct con *c);
} commands[] = {
	{"Dump", "[\"node\"]", con_dump},
	{"Route", "FROM-LID TO-LID", con_route},
	{"Link", "\"node\"[port] \"node\"[port]", do_link},
	{"Unlink", "\"node\"[[port]]", do_unlink},
	{"Clear", "\"node\"[[port]]", do_clear},
	{"Guid", "\"node\"[[port]] GUID", do_guid},
	{"Error", "\"node\"[[port]] PERCENT [ATTRIBUTE]", do_error},
	{"Baselid", "\"node\"[port] LID [LMC]", do_baselid},
	{"Start", "", do_nothing},
	{"Verbose", "[LEVEL]", do_verbose},
	{"Attached", "(the processes; X takes their numbers)", con_attached},
	{"X", "CLIENT", do_disconnect},
	{"Help", "", do_help},
	{"?", "", do_help},
	{"ReLink", "\"node\"[[port]]", do_relink},
	{"PerformanceSet", "\"node\"[port] ATTRIBUTE.FIELD=VALUE", con_performance_set},
};

static int do_help(struct con *c)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(c->out, "\t%s %s\n", commands[i].name, commands[i].usage);
	fprintf(c->out, "\tWait SECONDS\n\t!FILE\n\t#comment\n\tQuit\n");
	return 0;
}

static int con_run(struct con *c, char *line)
{
	size_t n;

	line += strspn(line, " \t\r");
	n = strcspn(line, " \t\r\"");
	if (!n)
		return 0;
	c->args = line + n;
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (n <= strlen(commands[i].name) && !strncasecmp(line, commands[i].name, n))
			return commands[i].run(c);
	return con_fail(c, "'%.*s' is not a command", n < 32 ? (int)n : 32, line);
}

int sup_console_run(struct sup *sup, char *line, bool *failed, int *fd)
{
	_cleanup_close_ int f = memfd_create("softhca-console", MFD_CLOEXEC);
	struct con c = {.sup = sup};
	char *text = NULL;
	size_t size = 0;
	int r = f < 0 ? -errno : 0;

	if (!sup->console)
		sup->console = calloc(1, sizeof(*sup->console));
	c.out = open_memstream(&text, &size);
	if (!r && (!c.out || !sup->console))
		r = -ENOMEM;
	if (!r) {
		*failed = con_run(&c, line) < 0;
		fflush(c.out);
		if (*failed)
			dprintf(f, "%s", c.reason);
		else if (pwrite(f, text, size, 0) != (ssize_t)size)
			r = -ENOMEM;
	}
	if (c.out)
		fclose(c.out);
	free(text);
	if (!r)
		*fd = take_fd(&f);
	return r;
}

int sup_console_names(struct sup *sup, const struct topo *t)
{
	struct sup_console *k = calloc(1, sizeof(*k));

	sup->console = k;
	if (!k)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->nnodes; i++) {
		const struct fab_node *n = fab_node(&sup->seg, i + 1);
		char id[24];

		if (!n) /* a switch beside Ethernet ports */
			continue;
		topo_node_id(n, id);
		if (!strcmp(id, t->node[i].id))
			continue;
		if (!k->id)
			k->id = calloc(t->nnodes + 1, sizeof(*k->id));
		if (!k->id)
			return -ENOMEM;
		memcpy(k->id[i + 1], t->node[i].id, sizeof(*k->id));
	}
	return 0;
}

void sup_console_free(struct sup *sup)
{
	if (!sup->console)
		return;
	free(sup->console->id);
	free(sup->console->previous);
	free(sup->console);
	sup->console = NULL;
}
