/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the writing of topologies. Facts of the format: ibnetdiscover.c (dump_topology and its
 * callees). Unknown values are omitted or 0, and are read back so.
 */
#include "topo/build.h"

#include <errno.h>
#include <string.h>
#include "wire/ib/link.h"
#include "world/world.h"

static const char *width_name(uint32_t code)
{
	const struct ib_width *w = ib_width(code);

	return w ? w->name : "??";
}

static const char *speed_name(uint32_t code)
{
	const struct ib_speed *v = ib_speed(code);

	return v ? v->name : "???";
}

static char letter(const struct topo_node *n)
{
	return n->type == TOPO_SWITCH ? 'S' : n->type == TOPO_CA ? 'H' : 'R';
}

static uint32_t lid_of(const struct topo_node *n, uint32_t port)
{
	return n->port[n->type == TOPO_SWITCH ? 0 : port].lid;
}

static void write_head(FILE *f, const struct topo_node *n)
{
	static const char *const guid[] = {NULL, "ca", "switch", "rt"};
	static const char *const word[] = {NULL, "Ca", "Switch", "Rt"};

	fprintf(f, "\nvendid=0x%x\ndevid=0x%x\n", n->vendor_id, n->device_id);
	if (n->sys_guid)
		fprintf(f, "sysimgguid=0x%llx\n", (unsigned long long)n->sys_guid);
	fprintf(f, "%sguid=0x%llx", guid[n->type], (unsigned long long)n->guid);
	if (n->type == TOPO_SWITCH)
		fprintf(f, "(%llx)", (unsigned long long)n->port[0].guid);
	fprintf(f, "\n%s\t%u \"%c-%016llx\"\t\t# \"%s\"", word[n->type], n->nports, letter(n),
		(unsigned long long)n->guid, n->desc);
	if (n->type == TOPO_SWITCH)
		fprintf(f, " %s port 0 lid %u lmc %u", n->enhanced_port0 ? "enhanced" : "base",
			n->port[0].lid, n->port[0].lmc);
	fputc('\n', f);
	if (n->link)
		fprintf(f, "#link\t%s\n", n->link == TOPO_LINK_ETH ? "eth" : "ib");
}

static void write_port(FILE *f, const struct topo *t, const struct topo_node *n, uint32_t num)
{
	const struct topo_port *p = &n->port[num];
	const struct topo_node *peer = &t->node[p->peer_node];

	fprintf(f, "[%u]", num);
	if (n->type != TOPO_SWITCH)
		fprintf(f, "(%llx) ", (unsigned long long)p->guid);
	fprintf(f, "\t\"%c-%016llx\"[%u]", letter(peer), (unsigned long long)peer->guid,
		p->peer_port);
	if (peer->type != TOPO_SWITCH)
		fprintf(f, "%s(%llx) ", n->type == TOPO_SWITCH ? "" : " ",
			(unsigned long long)peer->port[p->peer_port].guid);
	fprintf(f, "\t\t# ");
	if (n->type != TOPO_SWITCH)
		fprintf(f, "lid %u lmc %u ", p->lid, p->lmc);
	fprintf(f, "\"%s\" lid %u %s%s\n", peer->desc, lid_of(peer, p->peer_port),
		width_name(p->width), speed_name(p->speed));
}

/* The addresses of node i, which begin at *k: a line for each port, as they are in t->ip. */
static void write_addresses(FILE *f, const struct topo *t, uint32_t i, uint32_t *k)
{
	uint32_t port = 0, vlan = 0;

	for (; *k < t->nips && t->ip[*k].node == i; ++*k) {
		const struct topo_ip *ip = &t->ip[*k];
		char text[TOPO_ADDR_TEXT];

		if (ip->port == port && ip->vlan == vlan)
			fputc(',', f);
		else if (ip->vlan)
			fprintf(f, "%s#ip[%u.%u]\t", port ? "\n" : "", ip->port, ip->vlan);
		else
			fprintf(f, "%s#ip[%u]\t", port ? "\n" : "", ip->port);
		port = ip->port;
		vlan = ip->vlan;
		fputs(topo_addr_text(&ip->addr, text), f);
		if (ip->addr.len)
			fprintf(f, "/%u", ip->addr.prefix);
	}
	if (port)
		fputc('\n', f);
}

int topo_write_ibnetdiscover(FILE *f, const struct topo *t)
{
	char names[WORLD_NAMES];
	uint32_t k = 0;

	fprintf(f, "#\n# Topology file\n#\n");
	if (t->world.n)
		fprintf(f, "#world\t%s\n", world_names(&t->world, names));
	for (uint32_t i = 0; i < t->nnodes; i++) {
		const struct topo_node *n = &t->node[i];

		write_head(f, n);
		for (uint32_t p = 1; p <= n->nports; p++)
			if (n->port[p].peer_node != TOPO_NONE)
				write_port(f, t, n, p);
		write_addresses(f, t, i, &k);
	}
	return ferror(f) ? -EIO : 0;
}
