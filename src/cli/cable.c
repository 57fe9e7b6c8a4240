/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `softhca link`: pulls a port's cable, or plugs it in, by a request to the fabric's supervisor. */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cli/client.h"
#include "super/program.h"
#include "shim/shim.h"
#include "util/cleanup.h"
#include "util/num.h"

static long link_number(const char *text)
{
	const char *end;
	uint64_t v;

	if (*text < '0' || *text > '9')
		return -1;
	v = num_decimal(text, &end);
	return *end || v > 1000000 ? -1 : (long)v;
}

static int no_adapter(const struct cli_options *o)
{
	return prog_fail("link: '%s' is not an adapter (mlx5_0...); for other nodes use "
			 "%s \"%s\"[%s] in softhca console%s%s",
			 o->argv[0], !strcmp(o->argv[2], "up") ? "ReLink" : "Unlink", o->argv[0],
			 o->argv[1], o->fabric ? " --fabric " : "", o->fabric ? o->fabric : "");
}

int cli_link(struct cli_options *o)
{
	const char *here = getenv(SHIM_ENV_HOST), *state = o->argv[2];
	const char *host = o->host ? o->host : here && !o->fabric ? here : "";
	long port = link_number(o->argv[1]);
	const char *name = o->argv[0];
	struct link_msg m = {.op = LINK_PORT};
	int sock, fd = -1, r;

	if (strlen(name) >= sizeof(m.comm))
		return no_adapter(o);
	if (port < 1)
		return prog_fail("link: '%s' is not a port (1...)", o->argv[1]);
	if (strcmp(state, "up") && strcmp(state, "down"))
		return prog_fail("link: '%s' is neither 'up' nor 'down'", state);
	snprintf(m.host, sizeof(m.host), "%s", host);
	snprintf(m.comm, sizeof(m.comm), "%s", name);
	m.port = (uint32_t)port;
	m.arg = !strcmp(state, "up");
	sock = client_connect(o, "link");
	if (sock == PROG_FAILED)
		return PROG_FAILED;
	r = client_request(sock, &m, &fd);
	close(sock);
	if (fd >= 0)
		close(fd);
	if (r == -ENODEV)
		return prog_fail("link: there is no host '%s'", host);
	if (r == -ENOLINK)
		return prog_fail("link: port %ld of %s has no cable", port, o->argv[0]);
	if (r == -ENXIO && strncmp(name, "mlx5_", 5))
		return no_adapter(o);
	if (r == -ENXIO)
		return prog_fail("link: %s%s has no port %ld of %s",
				 *host ? "host " : "the first host", host, port, o->argv[0]);
	return r < 0 ? prog_fail("link: the fabric does not answer: %s", strerror(-r)) : 0;
}
