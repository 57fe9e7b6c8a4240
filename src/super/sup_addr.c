/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns the addresses that the user gives to hosts (--topo, --ip), before any host is used. */
#include "super/supervisor.h"

#include <errno.h>
#include "fabric/ifaddr.h"
#include "fabric/topo.h"
#include "super/program.h"
#include "topo/topo.h"
#include "util/bits.h"

#define NETNS_NET 10u

static int set_one(struct seg *s, const char *option, uint32_t port, const struct topo_addr *a)
{
	int r = fab_if_set(s, port, a->ip, a->len, a->prefix);
	char text[TOPO_ADDR_TEXT];

	if (r == -EEXIST)
		return prog_fail("%s: another interface has %s", option, topo_addr_text(a, text));
	if (r < 0)
		return prog_fail("%s: an interface cannot have %s/%u", option,
				 topo_addr_text(a, text), a->prefix);
	return 0;
}

/* By the name that the interface would have beside the host's first. */
static int no_interface(struct seg *s, uint32_t host, const struct fab_ip *ip)
{
	struct fab_iface f;

	fab_iface(s, fab_port_by_umad(s, host, 0), &f);
	return prog_fail("--ip: host '%s' has no interface %.*s%u", ip->host,
			 (int)fab_if_stem(f.name), f.name, ip->iface);
}

static int set_host(struct seg *s, const struct fab_ip *ip)
{
	uint32_t host = fab_host_by_name(s, ip->host), port;

	if (host == SEG_NONE)
		return prog_fail("--ip: there is no host '%s'", ip->host);
	port = fab_port_by_umad(s, host, ip->iface);
	if (port == SEG_NONE)
		return no_interface(s, host, ip);
	return set_one(s, "--ip", port, &ip->addr);
}

/* In a network namespace of its own a host cannot reach another's 127.1.0.1: it becomes 10.1.0.1.
 */
static int leave_loopback(struct seg *s)
{
	uint32_t port;
	int r = 0;

	for (uint32_t host = seg_next(s, SEG_T_HOST, SEG_OWNER_ANY, 0); host != SEG_NONE && !r;
	     host = seg_next(s, SEG_T_HOST, SEG_OWNER_ANY, host + 1))
		for (uint32_t n = 0; !r && (port = fab_port_by_umad(s, host, n)) != SEG_NONE; n++) {
			struct topo_addr a = {.len = 4, .prefix = 16};
			uint32_t ip = fab_ip4(s, port);

			if (ip >> 24 != FAB_IF_NET)
				continue;
			be32_store(a.ip, NETNS_NET << 24 | (ip & 0xffffff));
			r = set_one(s, "--netns", port, &a);
		}
	return r;
}

int sup_addresses(struct sup *sup, const struct topo *t)
{
	struct seg *s = &sup->seg;
	int r = 0;

	/* fab_build() makes node i the element i + 1. */
	for (uint32_t i = 0; t && i < t->nips && !r; i++)
		r = set_one(s, "--topo", fab_node(s, t->ip[i].node + 1)->port0 + t->ip[i].port,
			    &t->ip[i].addr);
	for (uint32_t i = 0; i < sup->fab.nips && !r; i++)
		r = set_host(s, &sup->fab.ip[i]);
	if (!r && sup->fab.netns)
		r = leave_loopback(s);
	return r;
}
