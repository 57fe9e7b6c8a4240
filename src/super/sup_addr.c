/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the addresses that the user gives to hosts: --topo, --ip, and `softhca ip` later, also on
 * the interfaces in their network namespaces.
 */
#include "super/supervisor.h"

#include <errno.h>
#include <string.h>
#include "fabric/fabric.h"
#include "fabric/ifaddr.h"
#include "fabric/topo.h"
#include "super/program.h"
#include "topo/topo.h"
#include "util/bits.h"

#define NETNS_NET 10u

/* The first address of a family replaces the port's default one; later ones are added. */
static int set_one(struct seg *s, const char *option, uint32_t port, const struct topo_addr *a,
		   bool beside)
{
	char text[TOPO_ADDR_TEXT];
	int r;

	if (!a->len) {
		fab_if_clear4(s, port);
		return 0;
	}
	r = beside ? fab_if_add(s, port, a->ip, a->len, a->prefix)
		   : fab_if_set(s, port, a->ip, a->len, a->prefix);
	if (r == -EEXIST)
		return prog_fail("%s: another interface has %s", option, topo_addr_text(a, text));
	if (r == -ENOSPC)
		return prog_fail("%s: too many addresses for the interface of %s", option,
				 topo_addr_text(a, text));
	if (r < 0)
		return prog_fail("%s: an interface cannot have %s/%u", option,
				 topo_addr_text(a, text), a->prefix);
	return 0;
}

/* Reports a missing interface by the name that it would have on this host. */
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
	return set_one(s, "--ip", port, &ip->addr, false);
}

static bool is_further(const struct topo *t, uint32_t i)
{
	const struct topo_ip *ip = &t->ip[i];

	while (i-- && t->ip[i].node == ip->node)
		if (t->ip[i].port == ip->port && t->ip[i].vlan == ip->vlan &&
		    t->ip[i].addr.len == ip->addr.len)
			return true;
	return false;
}

/* With network namespaces, 127.1.0.1 would be the host itself: addresses 127.x become 10.x. */
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
			r = set_one(s, "--netns", port, &a, false);
		}
	return r;
}

/* An address of a VLAN makes its interface. */
static int set_topo(struct seg *s, const struct topo_ip *ip, bool further)
{
	uint32_t port = fab_node(s, ip->node + 1)->port0 + ip->port;
	uint32_t at = fab_at_by_vlan(s, port, ip->vlan);
	int r = at == SEG_NONE ? fab_vlan_add(s, port, ip->vlan) : 0;

	if (r == -EOPNOTSUPP)
		return prog_fail("--topo: an InfiniBand port cannot have VLAN %u", ip->vlan);
	if (r)
		return prog_fail("--topo: a port cannot have more than %u VLANs", HW_VLANS);
	at = fab_at_by_vlan(s, port, ip->vlan);
	if (ip->vlan && !ip->addr.len)
		return 0;
	return set_one(s, "--topo", at, &ip->addr, further);
}

int sup_addresses(struct sup *sup, const struct topo *t)
{
	struct seg *s = &sup->seg;
	int r = 0;

	/* fab_build() makes node i the element i + 1. */
	for (uint32_t i = 0; t && i < t->nips && !r; i++)
		r = set_topo(s, &t->ip[i], is_further(t, i));
	for (uint32_t i = 0; i < sup->fab.nips && !r; i++)
		r = set_host(s, &sup->fab.ip[i]);
	if (!r && sup->fab.netns)
		r = leave_loopback(s);
	return r;
}

/* ---- while the fabric is up */

static uint32_t at_by_name(struct seg *s, uint32_t host, const char *name)
{
	struct fab_iface f;

	for (uint32_t at = fab_at_first(s, host); at != SEG_NONE; at = fab_at_next(s, host, at))
		if (fab_iface(s, at, &f) && (!*name || !strcmp(f.name, name)))
			return at;
	return SEG_NONE;
}

/* Restores a port's addresses when the kernel's interface could not be changed. */
static void restore(struct seg *s, uint32_t at, const struct fab_iface *was)
{
	struct fab_iface is;

	fab_iface(s, at, &is);
	for (uint32_t i = 0; i < is.nip4; i++)
		if (!fab_iface_has4(was, is.ip4[i], is.prefix4[i]))
			fab_if_del(s, at, is.ip4[i], 4, is.prefix4[i]);
	for (uint32_t i = 0; i < is.nip6; i++)
		if (!fab_iface_has6(was, is.ip6[i], is.prefix6[i]))
			fab_if_del(s, at, is.ip6[i], 16, is.prefix6[i]);
	for (uint32_t i = 0; i < was->nip4; i++)
		if (!fab_iface_has4(&is, was->ip4[i], was->prefix4[i]))
			fab_if_add(s, at, was->ip4[i], 4, was->prefix4[i]);
	for (uint32_t i = 0; i < was->nip6; i++)
		if (!fab_iface_has6(&is, was->ip6[i], was->prefix6[i]))
			fab_if_add(s, at, was->ip6[i], 16, was->prefix6[i]);
}

/* A VLAN of the interface `at`, with the addresses that it has when it goes. */
static int change_vlan(struct sup *sup, uint32_t host, uint32_t at, uint32_t id, bool add)
{
	uint32_t port = fab_at_port(at), vlan = fab_at_by_vlan(&sup->seg, port, id);
	struct fab_iface was = {0}, is = {0};
	struct seg *s = &sup->seg;
	int r;

	if (at != port)
		return -EOPNOTSUPP; /* no VLANs of VLANs */
	if (!add && (!id || vlan == SEG_NONE))
		return -EADDRNOTAVAIL;
	if (!add) {
		/* Delete the kernel's interface first: if that fails, nothing has changed. */
		fab_iface(s, vlan, &was);
		r = sup->fab.netns ? netns_change(&sup->netns, host, &was, &is) : 0;
		return r ? r : fab_vlan_del(s, vlan);
	}
	r = fab_vlan_add(s, port, id);
	if (r || !sup->fab.netns)
		return r;
	fab_iface(s, fab_at_by_vlan(s, port, id), &is);
	r = netns_change(&sup->netns, host, &was, &is);
	if (r)
		fab_vlan_del(s, fab_at_by_vlan(s, port, id));
	return r;
}

int sup_change_address(struct sup *sup, uint32_t host, uint32_t at, const struct link_addr *a,
		       bool add)
{
	struct seg *s = &sup->seg;
	struct fab_iface was, is;
	int r;

	fab_iface(s, at, &was);
	r = (add ? fab_if_add : fab_if_del)(s, at, a->ip, a->len, a->prefix);
	if (r || !sup->fab.netns)
		return r;
	fab_iface(s, at, &is);
	r = netns_change(&sup->netns, host, &was, &is);
	if (r)
		restore(s, at, &was);
	return r;
}

int sup_addr(struct sup *sup, struct sup_link *l, struct sup_request *q, struct sup_reply *p)
{
	uint32_t host = sup_link_host(sup, &q->m), at;
	struct link_addr *a = (void *)q->more;

	if (q->nmore != sizeof(*a) || (a->len && a->len != 4 && a->len != 16))
		return -EPROTO;
	if (host == SEG_NONE)
		return -ENODEV;
	a->iface[sizeof(a->iface) - 1] = '\0';
	at = at_by_name(&sup->seg, host, a->iface);
	if (at == SEG_NONE)
		return -ENXIO;
	return a->len ? sup_change_address(sup, host, at, a, q->m.arg)
		      : change_vlan(sup, host, at, a->prefix, q->m.arg);
}
