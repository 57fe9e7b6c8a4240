/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns giving addresses to interfaces and taking them away, and making interfaces of VLANs. The
 * supervisor alone does it.
 */
#include "fabric/priv.h"

#include <errno.h>
#include <string.h>
#include "fabric/eth.h"
#include "fabric/fabric.h"
#include "util/bits.h"
#include "wire/ib/gid.h"

/* no interface has a zero, loopback, multicast or reserved address */
static bool may_have4(uint32_t ip)
{
	return ip >> 24 && ip >> 16 != FAB_IF_NET << 8 && ip >> 28 < 0xe;
}

static bool may_have6(const uint8_t ip[16])
{
	return !if_is_linklocal(ip) && ip[0] != 0xff && be64_load(ip);
}

/* `mapped`: the address in the 16-octet form of struct hw_addr. */
static bool is_usable(const uint8_t *ip, size_t len, uint32_t prefix, uint8_t mapped[16])
{
	if (len == 4)
		ib_gid_of_ip4(ip, mapped);
	else
		memcpy(mapped, ip, 16);
	return (len == 4 ? may_have4(be32_load(ip)) : may_have6(ip)) && prefix <= 8 * len;
}

static uint32_t at_by_mapped(struct seg *s, const uint8_t ip[16])
{
	return ib_gid_is_ip4(ip) ? fab_port_by_ip4(s, be32_load(ip + 12)) : fab_port_by_ip6(s, ip);
}

static int put(struct hw_port *p, uint32_t vlan, const uint8_t ip[16], uint32_t prefix)
{
	struct hw_addr *to = NULL;
	uint32_t order = 0;

	for (uint32_t i = 0; i < HW_ADDRS; i++) {
		if (!p->addr[i].prefix && !to)
			to = &p->addr[i];
		else if (p->addr[i].prefix && p->addr[i].order >= order)
			order = p->addr[i].order + 1;
	}
	if (!to)
		return -ENOSPC;
	memcpy(to->ip, ip, 16);
	to->vlan = vlan;
	to->order = order;
	atomic_store(&to->prefix, prefix);
	atomic_fetch_add(&p->naddrs, 1);
	return 0;
}

static void take(struct hw_port *p, const struct hw_addr *a)
{
	atomic_store(&p->addr[a - p->addr].prefix, 0);
	atomic_fetch_sub(&p->naddrs, 1);
}

/*
 * Is it the address that the port's number determines (if_rule4())? Not if an earlier address of
 * the interface has the same subnet: then it counts as one that was given.
 */
static bool is_rule4(struct seg *s, uint32_t at, const uint8_t *ip, size_t len, uint32_t prefix)
{
	struct if_ip4 a[FAB_IF_ADDRS];
	uint32_t n = if_all4(s, at, a);

	if (len != 4 || fab_at_place(at) || be32_load(ip) != if_rule4(s, at) ||
	    prefix != RULE_PREFIX)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (a[i].prefix == prefix && if_same_net4(&a[i], be32_load(ip)))
			return false;
	return true;
}

/* An event for each entry of the GID table that came or went: dispatch_gid_change_event(). */
static void tell(struct seg *s, uint32_t port)
{
	uint32_t n = fab_eth_gids(s, port);

	if (!n)
		fab_port_changed(s, port, FAB_CHANGED_ADDR);
	while (n-- > 0)
		fab_port_changed(s, port, FAB_CHANGED_GID);
}

/* The port of an interface that can have addresses; NULL. */
static struct hw_port *owner(struct seg *s, uint32_t at)
{
	struct hw_port *p = fab_at_hw(s, at);

	if (!p || p->hca == SEG_NONE || (fab_at_place(at) && !fab_at_vlan(s, at)))
		return NULL;
	return p;
}

int fab_if_add(struct seg *s, uint32_t at, const uint8_t *ip, size_t len, uint32_t prefix)
{
	struct hw_port *p = owner(s, at);
	uint8_t mapped[16];
	int r = 0;

	if (!p || !prefix || !is_usable(ip, len, prefix, mapped))
		return -EINVAL;
	if (at_by_mapped(s, mapped) != SEG_NONE)
		return -EEXIST;
	if (is_rule4(s, at, ip, len, prefix))
		atomic_store(&p->no_rule4, 0);
	else
		r = put(p, fab_at_vlan(s, at), mapped, prefix);
	if (!r)
		tell(s, fab_at_port(at));
	return r;
}

/* Removes a primary address and the secondary ones of its subnet. True: the interface had it. */
static bool take_ip4(struct seg *s, uint32_t at, uint32_t ip, uint32_t prefix)
{
	struct hw_port *p = fab_at_hw(s, at);
	struct if_ip4 a[FAB_IF_ADDRS];
	uint32_t n = if_all4(s, at, a), k = 0;
	bool secondary;

	while (k < n && (a[k].ip != ip || (prefix && prefix != a[k].prefix)))
		k++;
	if (k == n)
		return false;
	secondary = if_is_secondary(a, k);
	for (uint32_t i = 0; i < n; i++) {
		uint8_t net[4], mapped[16];
		const struct hw_addr *given;

		if (i != k && (secondary || a[i].prefix != a[k].prefix || !if_same_net4(&a[i], ip)))
			continue;
		be32_store(net, a[i].ip);
		ib_gid_of_ip4(net, mapped);
		given = if_find(p, mapped);
		if (given)
			take(p, given);
		else
			atomic_store(&p->no_rule4, 1);
	}
	return true;
}

int fab_if_del(struct seg *s, uint32_t at, const uint8_t *ip, size_t len, uint32_t prefix)
{
	struct hw_port *p = owner(s, at);
	const struct hw_addr *a;
	uint8_t mapped[16];

	if (!p || !is_usable(ip, len, prefix, mapped))
		return -EINVAL;
	if (len == 4) {
		if (!take_ip4(s, at, be32_load(ip), prefix))
			return -EADDRNOTAVAIL;
	} else {
		a = if_find(p, mapped);
		if (!a || a->vlan != fab_at_vlan(s, at) || (prefix && prefix != a->prefix))
			return -EADDRNOTAVAIL;
		take(p, a);
	}
	tell(s, fab_at_port(at));
	return 0;
}

/* Removes the addresses of one interface: of one family (len 4 or 16), or all (0). */
static void take_all(struct seg *s, uint32_t at, size_t len)
{
	struct hw_port *p = fab_at_hw(s, at);
	const struct hw_addr *a[HW_ADDRS];
	uint32_t n = if_given(s, at, a);

	for (uint32_t i = 0; i < n; i++)
		if (!len || ib_gid_is_ip4(a[i]->ip) == (len == 4))
			take(p, a[i]);
	if (len == 4 && !fab_at_place(at))
		atomic_store(&p->no_rule4, 1);
}

void fab_if_clear4(struct seg *s, uint32_t port)
{
	take_all(s, port, 4);
	tell(s, port);
}

/* Is there a place for an address, once those of its family are gone from the interface? */
static bool has_room(struct seg *s, const struct hw_port *p, uint32_t at, size_t len)
{
	const struct hw_addr *a[HW_ADDRS];
	uint32_t n = if_given(s, at, a);

	for (uint32_t i = 0; i < n; i++)
		if (ib_gid_is_ip4(a[i]->ip) == (len == 4))
			return true;
	return p->naddrs < HW_ADDRS;
}

int fab_if_set(struct seg *s, uint32_t at, const uint8_t *ip, size_t len, uint32_t prefix)
{
	struct hw_port *p = owner(s, at);
	uint8_t mapped[16];
	uint32_t other;
	int r;

	if (!p || !prefix || !is_usable(ip, len, prefix, mapped))
		return -EINVAL;
	other = at_by_mapped(s, mapped);
	if (other != SEG_NONE && other != at)
		return -EEXIST;
	if (!has_room(s, p, at, len))
		return -ENOSPC;
	take_all(s, at, len);
	r = put(p, fab_at_vlan(s, at), mapped, prefix);
	tell(s, fab_at_port(at));
	return r;
}

uint32_t fab_if_given(struct seg *s, uint32_t at, struct fab_given out[FAB_IF_ADDRS])
{
	const struct hw_addr *a[HW_ADDRS];
	uint32_t n = if_given(s, at, a), k = 0, own = fab_at_place(at) ? 0 : if_own4(s, at);

	if (fab_at_place(at) ? !n : !fab_ip4(s, at) && if_rule4(s, at))
		out[k++] = (struct fab_given){.len = 0};
	/* The default address is one of them if the interface has others beside it. */
	for (uint32_t i = 0; own && i < n && !k; i++)
		if (ib_gid_is_ip4(a[i]->ip)) {
			out[k] = (struct fab_given){.len = 4, .prefix = RULE_PREFIX};
			be32_store(out[k++].ip, own);
		}
	for (uint32_t i = 0; i < n; i++, k++) {
		bool is4 = ib_gid_is_ip4(a[i]->ip);

		out[k] = (struct fab_given){.len = is4 ? 4 : 16, .prefix = a[i]->prefix};
		memcpy(out[k].ip, a[i]->ip + (is4 ? 12 : 0), out[k].len);
	}
	return k;
}

/* ---- VLANs */

/* register_vlan_device(), vlan_dev_open() */
int fab_vlan_add(struct seg *s, uint32_t port, uint32_t id)
{
	struct hw_port *p = hw_port(s, port);

	if (!p || p->hca == SEG_NONE || !hw_port_is_eth(p))
		return -EOPNOTSUPP;
	if (id < FAB_VLAN_MIN || id > FAB_VLAN_MAX)
		return -ERANGE;
	if (fab_at_by_vlan(s, port, id) != SEG_NONE)
		return -EEXIST;
	for (uint32_t i = 0; i < HW_VLANS; i++)
		if (!p->vlan[i]) {
			atomic_store(&p->vlan[i], id);
			tell(s, port);
			return 0;
		}
	return -ENOSPC;
}

int fab_vlan_del(struct seg *s, uint32_t at)
{
	struct hw_port *p = owner(s, at);

	if (!p || !fab_at_place(at))
		return -EOPNOTSUPP;
	take_all(s, at, 0);
	atomic_store(&p->vlan[fab_at_place(at) - 1], 0);
	tell(s, fab_at_port(at));
	return 0;
}
