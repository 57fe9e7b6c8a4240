/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads the argument of --ip: HOST=ADDR[/PREFIX],... options.c calls it. */
#include "cli/cli.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include "super/program.h"

#define RULE_NET 127 /* its addresses have the prefix that hosts have without --ip */

static uint32_t usual_prefix(const struct fab_ip *ip)
{
	return ip->len == 16 ? 64 : ip->addr[0] == RULE_NET ? 16 : 24;
}

/* "10.0.0.1", "fd00::1/64" */
static bool read_addr(const char *text, size_t len, struct fab_ip *ip)
{
	char buf[INET6_ADDRSTRLEN + 8], *slash, *end;

	if (!len || len >= sizeof(buf))
		return false;
	memcpy(buf, text, len);
	buf[len] = '\0';
	slash = strchr(buf, '/');
	if (slash)
		*slash++ = '\0';
	if (inet_pton(AF_INET, buf, ip->addr) == 1)
		ip->len = 4;
	else if (inet_pton(AF_INET6, buf, ip->addr) == 1)
		ip->len = 16;
	else
		return false;
	ip->prefix = usual_prefix(ip);
	if (!slash)
		return true;
	if (*slash < '0' || *slash > '9')
		return false;
	ip->prefix = (uint32_t)strtoul(slash, &end, 10);
	return !*end && ip->prefix <= 8 * ip->len;
}

int ip_add(struct fab_options *fab, const char *verb, const char *arg)
{
	const char *eq = strchr(arg, '='), *p = eq ? eq + 1 : "";
	uint32_t n4 = 0, n6 = 0;

	for (size_t n; eq; p += n + 1) {
		struct fab_ip ip = {0}, *more;

		n = strcspn(p, ",");
		if (eq == arg || (size_t)(eq - arg) >= sizeof(ip.host) || !read_addr(p, n, &ip))
			break;
		memcpy(ip.host, arg, (size_t)(eq - arg));
		ip.iface = ip.len == 4 ? n4++ : n6++;
		more = reallocarray(fab->ip, fab->nips + 1, sizeof(*more));
		if (!more)
			return prog_fail("%s: no memory", verb);
		fab->ip = more;
		fab->ip[fab->nips++] = ip;
		if (!p[n])
			return 0;
	}
	return prog_fail("%s: --ip: '%s' is not HOST=ADDRESS[/PREFIX],...", verb, arg);
}
