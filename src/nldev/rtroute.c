/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns RTM_GETROUTE of the host's interfaces: the routes that the kernel makes for each address
 * (fib_add_ifaddr(), addrconf_add_linklocal() and addrconf_prefix_route()), and single look-ups.
 * A destination in 127.0.0.0/8 is the kernel's unless the request names one of these interfaces:
 * TCP and UDP go there through lo.
 */
#include "nldev/rtpriv.h"

#include <errno.h>
#include <linux/in_route.h>
#include <string.h>
#include <sys/socket.h>
#include "util/bits.h"
#include "util/cleanup.h"

#define LOOPBACK_INDEX 1 /* LOOPBACK_IFINDEX of the kernel */
#define METRIC 256       /* IP6_RT_PRIO_ADDRCONF */

/* A route as a table has it. */
struct row {
	const struct fab_iface *f;
	uint8_t family, bits, table, scope, type;
	uint8_t dst[16];
	uint32_t metric;
	const uint8_t *src; /* of IPv4 */
};
#define ROWS (3 * FAB_IF_ADDRS + 1) /* of a family: three of each address, multicast */

static bool covers(const struct row *w, const uint8_t *ip)
{
	unsigned int n = w->bits / 8, rest = w->bits % 8;

	return !memcmp(w->dst, ip, n) && (!rest || !((w->dst[n] ^ ip[n]) >> (8 - rest)));
}

static void mask(uint8_t *ip, size_t n, unsigned int bits)
{
	for (unsigned int i = bits; i < n * 8; i++)
		ip[i / 8] &= (uint8_t) ~(0x80 >> i % 8);
}

/* ---- rows: main before local, as each family's dump has them */

/* fib_add_ifaddr(): the subnet and its broadcast address belong to the primary address. */
static size_t rows4(const struct fab_iface *f, struct row *w)
{
	size_t n = 0;

	for (unsigned int k = 0; k < f->nip4; k++) {
		uint32_t ip = be32_load(f->ip4[k]), bits = f->prefix4[k];
		uint32_t first = rtn_primary(f, k), m = UINT32_MAX << (32 - bits);

		if (bits < 32 && first == k) {
			w[n] = (struct row){f,
					    AF_INET,
					    (uint8_t)bits,
					    RT_TABLE_MAIN,
					    RT_SCOPE_LINK,
					    RTN_UNICAST,
					    .src = f->ip4[k]};
			be32_store(w[n++].dst, ip & m);
		}
		w[n] = (struct row){f,
				    AF_INET,
				    32,
				    RT_TABLE_LOCAL,
				    RT_SCOPE_HOST,
				    RTN_LOCAL,
				    .src = f->ip4[first]};
		be32_store(w[n++].dst, ip);
		if (bits < 31 && first == k) {
			w[n] = (struct row){f,
					    AF_INET,
					    32,
					    RT_TABLE_LOCAL,
					    RT_SCOPE_LINK,
					    RTN_BROADCAST,
					    .src = f->ip4[k]};
			be32_store(w[n++].dst, ip | ~m);
		}
	}
	return n;
}

static size_t rows6(const struct fab_iface *f, struct row *w)
{
	size_t n = 0;

	for (unsigned int k = f->nip6; k-- > 0; n++) {
		w[n] = (struct row){f, AF_INET6,    f->prefix6[k],   RT_TABLE_MAIN,
				    0, RTN_UNICAST, .metric = METRIC};
		memcpy(w[n].dst, f->ip6[k], 16);
		mask(w[n].dst, 16, f->prefix6[k]);
	}
	for (unsigned int k = f->nip6; k-- > 0; n++) {
		w[n] = (struct row){f, AF_INET6, 128, RT_TABLE_LOCAL, 0, RTN_LOCAL};
		memcpy(w[n].dst, f->ip6[k], 16);
	}
	w[n++] = (struct row){f, AF_INET6, 8, RT_TABLE_LOCAL, 0, RTN_MULTICAST, {0xff}, METRIC};
	return n;
}

/* ---- messages */

static void put_cache(struct nl_out *o, uint32_t users)
{
	const struct rta_cacheinfo c = {.rta_clntref = users};

	nl_put(o, RTA_CACHEINFO, &c, sizeof(c));
}

/* fib_dump_info(), rt6_fill_node() */
static void begin_row(struct rtn_req *q, const struct row *w)
{
	const struct rtmsg m = {.rtm_family = w->family,
				.rtm_dst_len = w->bits,
				.rtm_table = w->table,
				.rtm_protocol = RTPROT_KERNEL,
				.rtm_scope = w->scope,
				.rtm_type = w->type};
	struct nl_out *o = q->o;

	rtn_begin(q, RTM_NEWROUTE, &m, sizeof(m));
	nl_u32(o, RTA_TABLE, w->table);
	nl_put(o, RTA_DST, w->dst, w->family == AF_INET ? 4 : 16);
	if (w->family == AF_INET) {
		nl_put(o, RTA_PREFSRC, w->src, 4);
		nl_u32(o, RTA_OIF, w->f->index);
		return;
	}
	nl_u32(o, RTA_PRIORITY, w->metric);
	nl_u32(o, RTA_OIF, w->f->index);
	put_cache(o, 0);
	nl_u8(o, RTA_PREF, 0); /* ICMPV6_ROUTER_PREF_MEDIUM */
}

/* rt_fill_info() */
static void begin_result4(struct rtn_req *q, const struct row *w, const uint8_t *dst)
{
	const uint8_t *src = rtn_value(q, RTA_SRC, 4);
	const struct rtmsg *asked = q->body;
	const struct rtmsg m = {.rtm_family = AF_INET,
				.rtm_dst_len = 32,
				.rtm_src_len = src ? 32 : 0,
				.rtm_tos = asked->rtm_tos,
				.rtm_table = RT_TABLE_MAIN,
				.rtm_type = w->type,
				.rtm_flags = RTM_F_CLONED |
					     (w->type == RTN_BROADCAST ? RTCF_BROADCAST : 0u) |
					     (w->type == RTN_UNICAST ? 0u : RTCF_LOCAL)};
	struct nl_out *o = q->o;

	rtn_begin(q, RTM_NEWROUTE, &m, sizeof(m));
	nl_u32(o, RTA_TABLE, RT_TABLE_MAIN);
	nl_put(o, RTA_DST, dst, 4);
	if (src)
		nl_put(o, RTA_SRC, src, 4);
	nl_u32(o, RTA_OIF, w->type == RTN_LOCAL ? LOOPBACK_INDEX : w->f->index);
	if (!src)
		nl_put(o, RTA_PREFSRC, w->src, 4);
	nl_u32(o, RTA_UID, q->tb[RTA_UID] ? rtn_u32(q, RTA_UID) : q->r->uid);
	put_cache(o, 1);
}

/* The address of the interface that has the destination's scope. */
static const uint8_t *source6(const struct fab_iface *f, const uint8_t *dst)
{
	bool local = dst[0] == 0xff || be16_load(dst) >> 6 == 0xfe80 >> 6;

	return f->ip6[local || !f->nip6 ? 0 : f->nip6 - 1];
}

/* as rt6_fill_node() does for a route with a destination */
static void begin_result6(struct rtn_req *q, const struct row *w, const uint8_t *dst)
{
	static const uint8_t any[16];
	const uint8_t *src = rtn_value(q, RTA_SRC, 16);
	const struct rtmsg m = {.rtm_family = AF_INET6,
				.rtm_dst_len = 128,
				.rtm_src_len = 128,
				.rtm_table = w->table,
				.rtm_protocol = RTPROT_KERNEL,
				.rtm_type = w->type};
	struct nl_out *o = q->o;

	rtn_begin(q, RTM_NEWROUTE, &m, sizeof(m));
	nl_u32(o, RTA_TABLE, w->table);
	nl_put(o, RTA_DST, dst, 16);
	nl_put(o, RTA_SRC, src ? src : any, 16);
	nl_put(o, RTA_PREFSRC, source6(w->f, dst), 16);
	nl_u32(o, RTA_PRIORITY, w->metric);
	nl_u32(o, RTA_OIF, w->type == RTN_LOCAL ? LOOPBACK_INDEX : w->f->index);
	put_cache(o, 1);
	nl_u8(o, RTA_PREF, 0);
}

/* ---- dumps */

struct filter {
	const struct fab_iface *only;
	uint32_t table, type, protocol;
	bool none;
};

/* ip_valid_fib_dump_req(): only strict checking makes the fields filters. */
static struct filter filter_of(struct rtn_req *q)
{
	const struct rtmsg *m = q->body;
	struct filter w = {0};

	if (q->len < sizeof(*m))
		return w;
	rtn_parse(q, sizeof(*m));
	w.none = m->rtm_flags & RTM_F_PREFIX;
	if (!q->r->strict)
		return w;
	w.table = q->tb[RTA_TABLE] ? rtn_u32(q, RTA_TABLE) : m->rtm_table;
	w.type = m->rtm_type;
	w.protocol = m->rtm_protocol;
	w.only = rtn_by_index(q, rtn_u32(q, RTA_OIF));
	w.none |= (m->rtm_flags & RTM_F_CLONED) || (rtn_u32(q, RTA_OIF) && !w.only);
	q->flags |= NLM_F_DUMP_FILTERED; /* inet_dump_fib(): exceptions are left out */
	return w;
}

static void send_rows(struct rtn_req *q, const struct filter *w, const struct row *rows, size_t n,
		      uint8_t table)
{
	for (size_t i = 0; i < n; i++) {
		const struct row *r = &rows[i];

		if (r->table != table || (w->only && w->only != r->f) ||
		    (w->table && w->table != r->table) || (w->type && w->type != r->type) ||
		    (w->protocol && w->protocol != RTPROT_KERNEL))
			continue;
		begin_row(q, r);
		rtn_send(q);
	}
}

static void send_family(struct rtn_req *q, const struct filter *w, uint8_t family)
{
	static const uint8_t tables[] = {RT_TABLE_MAIN, RT_TABLE_LOCAL};
	struct row rows[ROWS];

	for (size_t t = 0; t < ARRAY_SIZE(tables); t++)
		for (uint32_t i = 0; i < q->r->n; i++) {
			const struct fab_iface *f = &q->r->iface[i];
			size_t n = family == AF_INET ? rows4(f, rows) : rows6(f, rows);

			send_rows(q, w, rows, n, tables[t]);
		}
}

enum rtnl_who rtn_route_dump(struct rtn_req *q)
{
	uint8_t family = *(const uint8_t *)q->body;
	struct filter w = filter_of(q);

	if (family != AF_UNSPEC && family != AF_INET && family != AF_INET6)
		return RTNL_DUMP;
	if (!w.none && family != AF_INET6)
		send_family(q, &w, AF_INET);
	if (!w.none && family != AF_INET)
		send_family(q, &w, AF_INET6);
	return w.only ? RTNL_DUMP_OURS : RTNL_DUMP;
}

/* ---- look-ups */

/* The longest prefix of an interface's rows that has the destination. */
static bool find(const struct fab_iface *f, uint8_t family, const uint8_t *dst, struct row *out)
{
	struct row rows[ROWS];
	size_t n = family == AF_INET ? rows4(f, rows) : rows6(f, rows);
	bool found = false;

	for (size_t i = 0; i < n; i++)
		if (covers(&rows[i], dst) && (!found || rows[i].bits > out->bits)) {
			*out = rows[i];
			found = true;
		}
	return found;
}

/* A destination that the kernel would look for among its own interfaces, without RTA_OIF. */
static bool is_kernels(uint8_t family, const uint8_t *dst)
{
	return family == AF_INET ? dst[0] == FAB_IF_NET || dst[0] >= 0xe0
				 : dst[0] == 0xff || be16_load(dst) >> 6 == 0xfe80 >> 6;
}

static bool look_up(const struct rtn_req *q, const struct fab_iface *oif, uint8_t family,
		    const uint8_t *dst, struct row *out)
{
	struct row w;
	bool found = false;

	if (oif)
		return find(oif, family, dst, out);
	for (uint32_t i = 0; i < q->r->n && !is_kernels(family, dst); i++)
		if (find(&q->r->iface[i], family, dst, &w) && (!found || w.bits > out->bits)) {
			*out = w;
			found = true;
		}
	/* A link-local IPv6 address of this host is found nevertheless. */
	for (uint32_t i = 0; i < q->r->n && !found && family == AF_INET6; i++)
		if (find(&q->r->iface[i], family, dst, out) && out->type == RTN_LOCAL)
			return true;
	return found;
}

/* inet_rtm_getroute(), inet6_rtm_getroute() */
enum rtnl_who rtn_route_get(struct rtn_req *q)
{
	const struct rtmsg *m = q->body;
	const struct fab_iface *oif;
	const uint8_t *dst;
	struct row w;

	if (q->len < sizeof(*m) || (m->rtm_family != AF_INET && m->rtm_family != AF_INET6))
		return RTNL_KERNEL;
	rtn_parse(q, sizeof(*m));
	oif = rtn_by_index(q, rtn_u32(q, RTA_OIF));
	dst = rtn_value(q, RTA_DST, m->rtm_family == AF_INET ? 4 : 16);
	if (!dst || rtn_u32(q, RTA_IIF) || (rtn_u32(q, RTA_OIF) && !oif))
		return RTNL_KERNEL;
	if (!look_up(q, oif, m->rtm_family, dst, &w)) {
		if (!oif)
			return RTNL_KERNEL;
		if (m->rtm_family == AF_INET6 || !oif->nip4)
			return rtn_end(q, -ENETUNREACH);
		/* ip_route_output_key_hash_rcu(): assume that the destination is on the link */
		w = (struct row){oif,         AF_INET,           32, RT_TABLE_MAIN, RT_SCOPE_LINK,
				 RTN_UNICAST, .src = oif->ip4[0]};
	}
	if (m->rtm_flags & RTM_F_FIB_MATCH)
		begin_row(q, &w);
	else if (m->rtm_family == AF_INET)
		begin_result4(q, &w, dst);
	else
		begin_result6(q, &w, dst);
	return rtn_end(q, 0);
}
