/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `softhca ip`: gives an address or a VLAN to an interface, or takes it away, by a request to the
 * fabric.
 */
#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cli/client.h"
#include "fabric/ifaddr.h"
#include "shim/shim.h"
#include "super/program.h"
#include "topo/topo.h"
#include "util/num.h"

struct change {
	struct link_msg m;
	struct link_addr a;
	const char *text; /* the address as it was given */
};

static int parse_vlan(const char *text, struct change *c)
{
	const char *end = NULL;
	uint64_t id = *text >= '0' && *text <= '9' ? num_decimal(text, &end) : 0;

	if (!end || *end || id < FAB_VLAN_MIN || id > FAB_VLAN_MAX)
		return prog_fail("ip: '%s' is not the id of a VLAN, %u to %u", text, FAB_VLAN_MIN,
				 FAB_VLAN_MAX);
	c->text = text;
	c->a.prefix = (uint32_t)id;
	return 0;
}

static int parse_address(const char *text, struct change *c)
{
	struct topo_addr addr;

	c->text = text;
	if (!topo_addr_parse(text, strlen(text), &addr))
		return prog_fail("ip: '%s' is not ADDRESS[/PREFIX]", text);
	c->a.len = addr.len;
	memcpy(c->a.ip, addr.ip, sizeof(c->a.ip));
	/* An address that goes is meant with whatever prefix it has. */
	c->a.prefix = c->m.arg || strchr(text, '/') ? addr.prefix : 0;
	return 0;
}

/*
 * "add 10.0.0.1/24 dev rce0", as ip-address(8) has it, "add vlan 100 dev rce0"; without "dev" the
 * first interface.
 */
static int parse(const struct cli_options *o, struct change *c)
{
	const char *verb = o->argv[0], *dev = "";
	bool vlan = !strcmp(o->argv[1], "vlan");
	int n = vlan ? 3 : 2, r;

	c->m.arg = !strcmp(verb, "add");
	if (!c->m.arg && strcmp(verb, "del"))
		return prog_fail("ip: '%s' is neither 'add' nor 'del'", verb);
	if (o->argc < n)
		return prog_fail("ip: the id of the VLAN is missing");
	r = vlan ? parse_vlan(o->argv[2], c) : parse_address(o->argv[1], c);
	if (r)
		return r;
	if (o->argc > n && strcmp(o->argv[n], "dev"))
		return prog_fail("ip: '%s' is not 'dev'", o->argv[n]);
	if (o->argc == n + 1)
		return prog_fail("ip: the name of the interface is missing");
	if (o->argc > n + 2)
		return prog_fail("ip: '%s' is too much", o->argv[n + 2]);
	if (o->argc > n + 1)
		dev = o->argv[n + 1];
	if (strlen(dev) >= sizeof(c->a.iface))
		return prog_fail("ip: '%s' is not the name of an interface", dev);
	strcpy(c->a.iface, dev);
	return 0;
}

static int explain_vlan(const struct change *c, int err)
{
	switch (err) {
	case -EEXIST:
		return prog_fail("ip: the interface has VLAN %s already", c->text);
	case -EADDRNOTAVAIL:
		return prog_fail("ip: the interface does not have VLAN %s", c->text);
	case -ENOSPC:
		return prog_fail("ip: the interface has too many VLANs");
	default:
		return prog_fail("ip: only an Ethernet port's own interface has VLANs, and the "
				 "machine's kernel must have them with --netns");
	}
}

static int explain(const struct change *c, int err)
{
	const char *host = c->m.host, *dev = c->a.iface;

	if (!c->a.len &&
	    (err == -EEXIST || err == -EADDRNOTAVAIL || err == -ENOSPC || err == -EOPNOTSUPP))
		return explain_vlan(c, err);
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
	m = c.m; /* the answer overwrites the message */
	r = client_send_more(sock, &m, &c.a, sizeof(c.a));
	close(sock);
	return explain(&c, r);
}
