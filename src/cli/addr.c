/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `softhca ip`: gives an address to an interface, or takes it away, by a request to the fabric. */
#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cli/client.h"
#include "shim/shim.h"
#include "super/program.h"
#include "topo/topo.h"

struct change {
	struct link_msg m;
	struct link_addr a;
	const char *text; /* the address as it was given */
};

/* "add 10.0.0.1/24 dev rce0", as ip-address(8) has it; without "dev" the first interface. */
static int parse(const struct cli_options *o, struct change *c)
{
	const char *verb = o->argv[0], *dev = "";
	struct topo_addr addr;

	c->m.arg = !strcmp(verb, "add");
	if (!c->m.arg && strcmp(verb, "del"))
		return prog_fail("ip: '%s' is neither 'add' nor 'del'", verb);
	c->text = o->argv[1];
	if (!topo_addr_parse(c->text, strlen(c->text), &addr))
		return prog_fail("ip: '%s' is not ADDRESS[/PREFIX]", c->text);
	if (o->argc > 2 && strcmp(o->argv[2], "dev"))
		return prog_fail("ip: '%s' is not 'dev'", o->argv[2]);
	if (o->argc == 3)
		return prog_fail("ip: the name of the interface is missing");
	if (o->argc > 3)
		dev = o->argv[3];
	if (strlen(dev) >= sizeof(c->a.iface))
		return prog_fail("ip: '%s' is not the name of an interface", dev);
	strcpy(c->a.iface, dev);
	c->a.len = addr.len;
	memcpy(c->a.ip, addr.ip, sizeof(c->a.ip));
	/* An address that goes is meant with whatever prefix it has. */
	c->a.prefix = c->m.arg || strchr(c->text, '/') ? addr.prefix : 0;
	return 0;
}

static int explain(const struct change *c, int err)
{
	const char *host = c->m.host, *dev = c->a.iface;

	switch (err) {
	case 0:
		return 0;
	case -ENODEV:
		return prog_fail("ip: there is no host '%s'", host);
	case -ENXIO:
		return prog_fail("ip: %s%s has no interface %s", *host ? "host " : "the first host",
				 host, *dev ? dev : "at all");
	case -EEXIST:
		return prog_fail("ip: an interface of the fabric has %s already", c->text);
	case -EADDRNOTAVAIL:
		return prog_fail("ip: the interface does not have %s", c->text);
	case -ENOSPC:
		return prog_fail("ip: the interface has too many addresses");
	case -EACCES: /* inet6_addr_add() */
		return prog_fail("ip: the host's network namespace has IPv6 switched off");
	case -EINVAL:
		return prog_fail(c->m.arg ? "ip: an interface cannot have %s"
					  : "ip: an interface cannot lose %s",
				 c->text);
	default:
		return prog_fail("ip: the fabric does not answer: %s", strerror(-err));
	}
}

int cli_ip(struct cli_options *o)
{
	const char *here = getenv(SHIM_ENV_HOST);
	const char *host = o->host ? o->host : here && !o->fabric ? here : "";
	struct change c = {.m.op = LINK_ADDR};
	struct link_msg m;
	int sock, r = parse(o, &c);

	if (r)
		return r;
	snprintf(c.m.host, sizeof(c.m.host), "%s", host);
	sock = client_connect(o, "ip");
	if (sock == PROG_FAILED)
		return PROG_FAILED;
	m = c.m; /* the answer takes its place */
	r = client_send_more(sock, &m, &c.a, sizeof(c.a));
	close(sock);
	return explain(&c, r);
}
