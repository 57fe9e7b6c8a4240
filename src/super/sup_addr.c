/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns the addresses that the user gives to hosts (--ip), before any host is used. */
#include "super/supervisor.h"

#include <arpa/inet.h>
#include <errno.h>
#include "fabric/ifaddr.h"
#include "super/program.h"

static int set_one(struct seg *s, const struct fab_ip *ip)
{
	uint32_t host = fab_host_by_name(s, ip->host), port;
	char text[INET6_ADDRSTRLEN];
	int r;

	if (host == SEG_NONE)
		return prog_fail("--ip: there is no host '%s'", ip->host);
	port = fab_port_by_umad(s, host, ip->iface);
	if (port == SEG_NONE)
		return prog_fail("--ip: host '%s' has no interface " FAB_IF_STEM "%u", ip->host,
				 ip->iface);
	inet_ntop(ip->len == 4 ? AF_INET : AF_INET6, ip->addr, text, sizeof(text));
	r = fab_if_set(s, port, ip->addr, ip->len, ip->prefix);
	if (r == -EEXIST)
		return prog_fail("--ip: another interface has %s", text);
	if (r < 0)
		return prog_fail("--ip: an interface cannot have %s/%u", text, ip->prefix);
	return 0;
}

int sup_addresses(struct sup *sup)
{
	int r = 0;

	for (uint32_t i = 0; i < sup->fab.nips && !r; i++)
		r = set_one(&sup->seg, &sup->fab.ip[i]);
	return r;
}
