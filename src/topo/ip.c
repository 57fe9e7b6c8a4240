/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Owns the lines of a topology file that give addresses to the interfaces of an adapter's ports,
 * and how an address is written. The parser and the command line (--ip) call it.
 */
#include "topo/parse.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "fabric/ifaddr.h"
#include "util/num.h"

#define RULE_NET 127 /* its addresses have the prefix that hosts have by themselves */

static uint32_t usual_prefix(const struct topo_addr *a)
{
	return a->len == 16 ? 64 : a->ip[0] == RULE_NET ? 16 : 24;
}

static const char none[] = "none";

bool topo_addr_parse(const char *text, size_t len, struct topo_addr *a)
{
	char buf[INET6_ADDRSTRLEN + 8], *slash;
	const char *end;
	uint64_t prefix;

	*a = (struct topo_addr){0};
	if (!len || len >= sizeof(buf))
		return false;
	memcpy(buf, text, len);
	buf[len] = '\0';
	slash = strchr(buf, '/');
	if (slash)
		*slash++ = '\0';
	if (inet_pton(AF_INET, buf, a->ip) == 1)
		a->len = 4;
	else if (inet_pton(AF_INET6, buf, a->ip) == 1)
		a->len = 16;
	else
		return false;
	a->prefix = usual_prefix(a);
	if (!slash)
		return true;
	if (*slash < '0' || *slash > '9')
		return false;
	prefix = num_decimal(slash, &end);
	a->prefix = (uint32_t)prefix;
	return !*end && prefix >= 1 && prefix <= 8 * a->len;
}

const char *topo_addr_text(const struct topo_addr *a, char text[TOPO_ADDR_TEXT])
{
	if (!a->len)
		return none;
	return inet_ntop(a->len == 4 ? AF_INET : AF_INET6, a->ip, text, TOPO_ADDR_TEXT);
}

static bool same_address(const void *arg, const void *key, uint32_t value)
{
	const struct topo_ip *ip = arg;
	const struct topo_addr *a = key;

	return ip[value].addr.len == a->len && !memcmp(ip[value].addr.ip, a->ip, a->len);
}

static int add(struct topo_build *b, const struct topo_ip *ip, const struct topo_where *at)
{
	uint64_t hash = topo_hash_bytes((const char *)ip->addr.ip, ip->addr.len);
	char text[TOPO_ADDR_TEXT];

	if (ip->addr.len &&
	    topo_hash_find(&b->addrs, hash, &ip->addr, same_address, b->ip) != TOPO_HASH_NONE)
		return build_error(b, at, "another port has the address %s",
				   topo_addr_text(&ip->addr, text));
	if (build_grow((void **)&b->ip, b->nips, &b->ip_room, sizeof(*b->ip)) < 0 ||
	    (ip->addr.len && topo_hash_add(&b->addrs, hash, b->nips) < 0))
		return -ENOMEM;
	b->ip[b->nips++] = *ip;
	return 0;
}

/* An address, or "none": the port does not get its default IPv4 address. */
static bool parse_one(const char *p, size_t len, struct topo_addr *a)
{
	if (len != sizeof(none) - 1 || memcmp(p, none, len))
		return topo_addr_parse(p, len, a);
	*a = (struct topo_addr){0};
	return true;
}

/* "#ip[", and after it: PORT[.VLAN]] ADDR[/PREFIX]|none[,ADDR...] [# COMMENT] */
int parse_ip(struct topo_parse *p, struct topo_text *x)
{
	const struct topo_node *n = p->node == TOPO_NONE ? NULL : &p->b.node[p->node];
	struct topo_ip ip = {.node = p->node};
	uint64_t num, vlan = 0;
	size_t len;
	int r;

	if (!n || n->type != TOPO_CA)
		return text_error(x, "addresses without an adapter's line before them");
	r = text_number(x, "the port's number", 1, n->nports, &num);
	if (!r && text_skip(x, "."))
		r = text_number(x, "the VLAN", FAB_VLAN_MIN, FAB_VLAN_MAX, &vlan);
	if (!r && !text_skip(x, "]"))
		r = text_error(x, "']' is missing after the port's number");
	ip.port = (uint32_t)num;
	ip.vlan = (uint32_t)vlan;
	text_blanks(x);
	for (; !r; x->p += len) {
		struct topo_where at = text_at(x, x->p);

		len = strcspn(x->p, ", \t");
		if (!parse_one(x->p, len, &ip.addr))
			return text_error(x, "'%.*s' is not ADDRESS[/PREFIX]", (int)len, x->p);
		r = add(&p->b, &ip, &at);
		if (x->p[len] != ',') {
			x->p += len;
			break;
		}
		len++;
	}
	if (r)
		return r;
	text_blanks(x);
	return *x->p && *x->p != '#' ? text_error(x, "unexpected text after the addresses") : 0;
}
