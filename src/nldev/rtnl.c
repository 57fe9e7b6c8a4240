/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the decision whether a request of NETLINK_ROUTE is about the host's interfaces, and the
 * answers that need no interface's values: rtnetlink_rcv_msg() of the kernel.
 */
#include "nldev/rtpriv.h"

#include <errno.h>
#include <linux/neighbour.h>
#include <string.h>
#include <sys/socket.h>
#include "util/cleanup.h"

void rtn_parse(struct rtn_req *q, size_t head)
{
	size_t at = NLMSG_ALIGN(head);

	while (at < q->len && q->len - at >= sizeof(struct nlattr)) {
		const struct nlattr *a = (const void *)((const uint8_t *)q->body + at);
		uint16_t type = a->nla_type & NLA_TYPE_MASK;

		if (a->nla_len < sizeof(*a) || a->nla_len > q->len - at)
			return;
		if (type < RT_ATTRS)
			q->tb[type] = a;
		at += NLA_ALIGN(a->nla_len);
	}
}

const void *rtn_value(const struct rtn_req *q, uint16_t type, size_t n)
{
	const struct nlattr *a = q->tb[type];

	return a && a->nla_len - sizeof(*a) >= n ? a + 1 : NULL;
}

uint32_t rtn_u32(const struct rtn_req *q, uint16_t type)
{
	const uint32_t *v = rtn_value(q, type, sizeof(*v));

	return v ? *v : 0;
}

const struct fab_iface *rtn_by_index(const struct rtn_req *q, uint32_t index)
{
	for (uint32_t i = 0; i < q->r->n; i++)
		if (q->r->iface[i].index == index)
			return &q->r->iface[i];
	return NULL;
}

const struct fab_iface *rtn_by_name(const struct rtn_req *q, uint16_t type)
{
	const struct nlattr *a = q->tb[type];
	size_t n = a ? strnlen((const char *)(a + 1), a->nla_len - sizeof(*a)) : 0;

	for (uint32_t i = 0; n && i < q->r->n; i++)
		if (strlen(q->r->iface[i].name) == n && !memcmp(q->r->iface[i].name, a + 1, n))
			return &q->r->iface[i];
	return NULL;
}

void rtn_begin(struct rtn_req *q, uint16_t type, const void *head, size_t n)
{
	q->o->n = 0;
	q->o->full = false;
	nl_begin(q->o, &q->r->to, q->h, type, q->flags);
	nl_head(q->o, head, n);
}

void rtn_send(struct rtn_req *q)
{
	nl_end(q->o);
	q->r->to.answer(q->r->to.arg, q->o->data, q->o->n);
}

enum rtnl_who rtn_end(struct rtn_req *q, int err)
{
	if (!err)
		rtn_send(q);
	if (err || (q->h->nlmsg_flags & NLM_F_ACK))
		nl_ack(&q->r->to, q->h, err, &q->ext);
	return RTNL_OURS;
}

/* ---- neighbours: an interface through which nothing is sent has none */

static enum rtnl_who no_neighbours(struct rtn_req *q)
{
	return RTNL_DUMP;
}

/* neigh_get() */
static enum rtnl_who neigh_get(struct rtn_req *q)
{
	const struct ndmsg *n = q->body;

	if (q->len < sizeof(*n) || !rtn_by_index(q, (uint32_t)n->ndm_ifindex) ||
	    (n->ndm_family != AF_INET && n->ndm_family != AF_INET6))
		return RTNL_KERNEL;
	rtn_parse(q, sizeof(*n));
	if (!rtn_value(q, NDA_DST, n->ndm_family == AF_INET ? 4 : 16)) {
		q->ext.msg = "Network address not specified";
		return rtn_end(q, -EINVAL);
	}
	q->ext.msg = "Neighbour entry not found";
	return rtn_end(q, -ENOENT);
}

/* ---- changes */

/* The index is the second word of ifinfomsg, ifaddrmsg, ndmsg and tcmsg. */
static const struct fab_iface *changed(struct rtn_req *q)
{
	const uint32_t *index = q->body;

	if (q->h->nlmsg_type == RTM_NEWROUTE || q->h->nlmsg_type == RTM_DELROUTE) {
		rtn_parse(q, sizeof(struct rtmsg));
		return rtn_by_index(q, rtn_u32(q, RTA_OIF));
	}
	if (q->len < 2 * sizeof(*index))
		return NULL;
	if (index[1] || q->h->nlmsg_type > RTM_SETLINK)
		return rtn_by_index(q, index[1]);
	rtn_parse(q, sizeof(struct ifinfomsg));
	return rtn_by_name(q, IFLA_IFNAME);
}

/* rtnetlink_rcv_msg(), as it answers a user without CAP_NET_ADMIN. */
static enum rtnl_who change(struct rtn_req *q)
{
	return changed(q) ? rtn_end(q, -EPERM) : RTNL_KERNEL;
}

/* ---- requests */

static const struct {
	uint16_t type;
	rtn_fn *get, *dump;
} requests[] = {
	{RTM_NEWLINK, change, change},
	{RTM_DELLINK, change, change},
	{RTM_GETLINK, rtn_link_get, rtn_link_dump},
	{RTM_SETLINK, change, change},
	{RTM_NEWADDR, change, change},
	{RTM_DELADDR, change, change},
	{RTM_GETADDR, rtn_addr_get, rtn_addr_dump},
	{RTM_NEWROUTE, change, change},
	{RTM_DELROUTE, change, change},
	{RTM_GETROUTE, rtn_route_get, rtn_route_dump},
	{RTM_NEWNEIGH, change, change},
	{RTM_DELNEIGH, change, change},
	{RTM_GETNEIGH, neigh_get, no_neighbours},
	{RTM_NEWQDISC, change, change},
	{RTM_DELQDISC, change, change},
	{RTM_NEWTCLASS, change, change},
	{RTM_DELTCLASS, change, change},
	{RTM_NEWTFILTER, change, change},
	{RTM_DELTFILTER, change, change},
};

enum rtnl_who rtnl_request(const struct rtnl *r, const struct nlmsghdr *h)
{
	struct nl_out o;
	struct rtn_req q = {.r = r, .h = h, .body = NLMSG_DATA(h), .o = &o};
	bool dump = (h->nlmsg_flags & NLM_F_DUMP) && (h->nlmsg_type & 3) == 2;

	if (!(h->nlmsg_flags & NLM_F_REQUEST) || h->nlmsg_type < RTM_BASE ||
	    h->nlmsg_len <= NLMSG_HDRLEN)
		return RTNL_KERNEL;
	q.len = h->nlmsg_len - NLMSG_HDRLEN;
	q.flags = dump ? NLM_F_MULTI : 0;
	for (size_t i = 0; i < ARRAY_SIZE(requests); i++)
		if (requests[i].type == h->nlmsg_type)
			return (dump ? requests[i].dump : requests[i].get)(&q);
	return dump ? RTNL_DUMP : RTNL_KERNEL;
}
