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

/* What RTM_NEWLINK says of it, apart from the addresses. */
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

void rtnl_news(const struct fab_iface *was, const struct fab_iface *is, uint32_t n, rtnl_tell *tell,
	       void *arg)
{
	static const struct nlmsghdr none;
	struct news w = {tell, arg, 0};
	const struct rtnl r = {.to = {.answer = news_answer, .arg = &w}};
	struct nl_out o;
	struct rtn_req q = {.r = &r, .h = &none, .o = &o};

	for (uint32_t i = 0; i < n; i++) {
		if (was[i].index != is[i].index)
			continue;
		if (!same_link(&was[i], &is[i])) {
			w.group = RTNLGRP_LINK;
			rtn_link(&q, &is[i]);
			rtn_send(&q);
		}
		tell_addresses(&q, &w, RTM_DELADDR, &was[i], &is[i]);
		tell_addresses(&q, &w, RTM_NEWADDR, &is[i], &was[i]);
	}
}
