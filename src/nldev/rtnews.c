/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the notifications of NETLINK_ROUTE: what has changed between two looks at the host's
 * interfaces, as rtmsg_ifinfo(), rtmsg_ifa() and inet6_ifa_notify() say it.
 */
#include "nldev/rtpriv.h"

#include <string.h>

struct news {
	rtnl_tell *tell;
	void *arg;
	uint32_t group;
};

static int news_answer(void *arg, const void *data, size_t n)
{
	const struct news *w = arg;

	w->tell(w->arg, w->group, data, n);
	return 0;
}

/* Does RTM_NEWLINK say the same of both? Addresses are not compared. */
static bool same_link(const struct fab_iface *a, const struct fab_iface *b)
{
	return a->flags == b->flags && a->mtu == b->mtu && a->pkey == b->pkey &&
	       a->hwlen == b->hwlen && !memcmp(a->hwaddr, b->hwaddr, sizeof(a->hwaddr));
}

/* A message for each address of f that `other` does not have. */
static void tell_addresses(struct rtn_req *q, struct news *w, uint16_t type,
			   const struct fab_iface *f, const struct fab_iface *other)
{
	w->group = RTNLGRP_IPV4_IFADDR;
	for (unsigned int k = 0; k < f->nip4; k++)
		if (!fab_iface_has4(other, f->ip4[k], f->prefix4[k])) {
			rtn_ip4(q, type, f, k);
			rtn_send(q);
		}
	w->group = RTNLGRP_IPV6_IFADDR;
	for (unsigned int k = 0; k < f->nip6; k++)
		if (!fab_iface_has6(other, f->ip6[k], f->prefix6[k])) {
			rtn_ip6(q, type, f, k);
			rtn_send(q);
		}
}

static const struct fab_iface *same_index(const struct fab_iface *f, const struct fab_iface *list,
					  uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (list[i].index == f->index && !strcmp(list[i].name, f->name))
			return &list[i];
	return NULL;
}

static void tell_link(struct rtn_req *q, struct news *w, uint16_t type, const struct fab_iface *f)
{
	w->group = RTNLGRP_LINK;
	rtn_link(q, type, f);
	rtn_send(q);
}

/* Addresses come after their interface and go before it. */
void rtnl_news(const struct fab_iface *was, uint32_t nwas, const struct fab_iface *is, uint32_t nis,
	       rtnl_tell *tell, void *arg)
{
	static const struct fab_iface bare;
	static const struct nlmsghdr none;
	struct news w = {tell, arg, 0};
	const struct rtnl r = {.to = {.answer = news_answer, .arg = &w}};
	struct nl_out o;
	struct rtn_req q = {.r = &r, .h = &none, .o = &o};

	for (uint32_t i = 0; i < nwas; i++) {
		if (same_index(&was[i], is, nis))
			continue;
		tell_addresses(&q, &w, RTM_DELADDR, &was[i], &bare);
		tell_link(&q, &w, RTM_DELLINK, &was[i]);
	}
	for (uint32_t i = 0; i < nis; i++) {
		const struct fab_iface *old = same_index(&is[i], was, nwas);

		if (!old || !same_link(old, &is[i]))
			tell_link(&q, &w, RTM_NEWLINK, &is[i]);
		if (old)
			tell_addresses(&q, &w, RTM_DELADDR, old, &is[i]);
		tell_addresses(&q, &w, RTM_NEWADDR, &is[i], old ? old : &bare);
	}
}
