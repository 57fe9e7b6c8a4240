/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns RTM_GETADDR of the host's interfaces: devinet.c and addrconf.c of the kernel. */
#include "nldev/rtpriv.h"

#include <errno.h>
#include <linux/if_addr.h>
#include <string.h>
#include <sys/socket.h>
#include "util/bits.h"

static bool is_linklocal(const uint8_t ip[16])
{
	return be16_load(ip) >> 6 == 0xfe80 >> 6;
}

static void put_lifetime(struct nl_out *o)
{
	const struct ifa_cacheinfo forever = {.ifa_prefered = UINT32_MAX, .ifa_valid = UINT32_MAX};

	nl_put(o, IFA_CACHEINFO, &forever, sizeof(forever));
}

uint32_t rtn_primary(const struct fab_iface *f, uint32_t k)
{
	uint32_t mask = UINT32_MAX << (32 - f->prefix4[k]), i = 0;

	while (f->prefix4[i] != f->prefix4[k] ||
	       ((be32_load(f->ip4[i]) ^ be32_load(f->ip4[k])) & mask))
		i++;
	return i;
}

/* inet_fill_ifaddr() */
void rtn_ip4(struct rtn_req *q, uint16_t type, const struct fab_iface *f, unsigned int k)
{
	uint32_t ip = be32_load(f->ip4[k]), mask = UINT32_MAX << (32 - f->prefix4[k]);
	uint8_t flags = IFA_F_PERMANENT | (rtn_primary(f, k) != k ? IFA_F_SECONDARY : 0);
	const struct ifaddrmsg m = {.ifa_family = AF_INET,
				    .ifa_prefixlen = f->prefix4[k],
				    .ifa_flags = flags,
				    .ifa_scope = f->ip4[k][0] == FAB_IF_NET ? RT_SCOPE_HOST
									    : RT_SCOPE_UNIVERSE,
				    .ifa_index = f->index};
	uint8_t broadcast[4];

	be32_store(broadcast, ip | ~mask);
	rtn_begin(q, type, &m, sizeof(m));
	nl_put(q->o, IFA_ADDRESS, f->ip4[k], 4);
	nl_put(q->o, IFA_LOCAL, f->ip4[k], 4);
	nl_put(q->o, IFA_BROADCAST, broadcast, 4);
	nl_str(q->o, IFA_LABEL, f->name);
	nl_u32(q->o, IFA_FLAGS, flags);
	put_lifetime(q->o);
}

/* inet6_fill_ifaddr() */
void rtn_ip6(struct rtn_req *q, uint16_t type, const struct fab_iface *f, unsigned int k)
{
	const struct ifaddrmsg m = {.ifa_family = AF_INET6,
				    .ifa_prefixlen = f->prefix6[k],
				    .ifa_flags = IFA_F_PERMANENT,
				    .ifa_scope = is_linklocal(f->ip6[k]) ? RT_SCOPE_LINK
									 : RT_SCOPE_UNIVERSE,
				    .ifa_index = f->index};

	rtn_begin(q, type, &m, sizeof(m));
	nl_put(q->o, IFA_ADDRESS, f->ip6[k], 16);
	put_lifetime(q->o);
	nl_u32(q->o, IFA_FLAGS, IFA_F_PERMANENT);
	if (is_linklocal(f->ip6[k]))
		nl_u8(q->o, IFA_PROTO, IFAPROT_KERNEL_LL);
}

static void each_ip4(struct rtn_req *q, const struct fab_iface *only)
{
	for (uint32_t i = 0; i < q->r->n; i++) {
		const struct fab_iface *f = &q->r->iface[i];

		for (unsigned int k = 0; (!only || f == only) && k < f->nip4; k++) {
			rtn_ip4(q, RTM_NEWADDR, f, k);
			rtn_send(q);
		}
	}
}

/* The global one first, as ipv6_link_dev_addr() sorts them. */
static void each_ip6(struct rtn_req *q, const struct fab_iface *only)
{
	for (uint32_t i = 0; i < q->r->n; i++) {
		const struct fab_iface *f = &q->r->iface[i];

		for (unsigned int k = f->nip6; (!only || f == only) && k-- > 0;) {
			rtn_ip6(q, RTM_NEWADDR, f, k);
			rtn_send(q);
		}
	}
}

/* inet_dump_ifaddr(), inet6_dump_addr(): only strict checking makes the index a filter. */
enum rtnl_who rtn_addr_dump(struct rtn_req *q)
{
	const struct ifaddrmsg *m = q->body;
	const struct fab_iface *only = NULL;
	uint8_t family = *(const uint8_t *)q->body;

	if (q->len >= sizeof(*m))
		rtn_parse(q, sizeof(*m));
	if (q->tb[IFA_TARGET_NETNSID])
		return RTNL_DUMP;
	if (q->r->strict && q->len >= sizeof(*m) && m->ifa_index) {
		only = rtn_by_index(q, m->ifa_index);
		if (!only)
			return RTNL_DUMP;
		q->flags |= NLM_F_DUMP_FILTERED;
	}
	if (family != AF_INET6)
		each_ip4(q, only);
	if (family != AF_INET)
		each_ip6(q, only);
	return only ? RTNL_DUMP_OURS : RTNL_DUMP;
}

/* inet6_rtm_getaddr(); IPv4 has no such request. */
enum rtnl_who rtn_addr_get(struct rtn_req *q)
{
	const struct ifaddrmsg *m = q->body;
	const uint8_t *ip;

	if (q->len < sizeof(*m) || m->ifa_family != AF_INET6)
		return RTNL_KERNEL;
	rtn_parse(q, sizeof(*m));
	ip = rtn_value(q, q->tb[IFA_LOCAL] ? IFA_LOCAL : IFA_ADDRESS, 16);
	if (!ip || q->tb[IFA_TARGET_NETNSID])
		return RTNL_KERNEL;
	for (uint32_t i = 0; i < q->r->n; i++) {
		const struct fab_iface *f = &q->r->iface[i];

		for (unsigned int k = 0; k < f->nip6; k++) {
			if (memcmp(f->ip6[k], ip, 16) || (m->ifa_index && m->ifa_index != f->index))
				continue;
			rtn_ip6(q, RTM_NEWADDR, f, k);
			return rtn_end(q, 0);
		}
	}
	return RTNL_KERNEL;
}
