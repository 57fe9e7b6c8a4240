/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads the argument of --ip: HOST=ADDR[/PREFIX],... options.c calls it. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>
#include "super/program.h"
#include "topo/topo.h"

int ip_add(struct fab_options *fab, const char *verb, const char *arg)
{
	const char *eq = strchr(arg, '='), *p = eq ? eq + 1 : "";
	uint32_t n4 = 0, n6 = 0;

	for (size_t n; eq; p += n + 1) {
		struct fab_ip ip = {0}, *more;

		n = strcspn(p, ",");
		if (eq == arg || (size_t)(eq - arg) >= sizeof(ip.host) ||
		    !topo_addr_parse(p, n, &ip.addr))
			break;
		memcpy(ip.host, arg, (size_t)(eq - arg));
		ip.iface = ip.addr.len == 4 ? n4++ : n6++;
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
