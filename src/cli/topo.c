/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `softhca topo`: writes a topology. Also loads the argument of --topo for `up` and `run`. */
#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "cli/client.h"
#include "super/program.h"
#include "topo/topo.h"
#include "util/cleanup.h"

int topo_prepare(const struct cli_options *o, const char *verb, struct topo *t)
{
	char err[TOPO_ERR];

	*t = (struct topo){0};
	return o->topo && topo_load(o->topo, t, err) < 0 ? prog_fail("%s: %s", verb, err) : 0;
}

static int write_fabric(const struct cli_options *o, bool dot)
{
	struct link_msg m = {.op = LINK_TOPO, .arg = dot};
	_cleanup_close_ int fd = -1;
	int sock = client_connect(o, "topo"), r;
	char buf[65536];
	ssize_t n;

	if (sock == PROG_FAILED)
		return PROG_FAILED;
	r = client_request(sock, &m, &fd);
	close(sock);
	if (r < 0 || fd < 0)
		return prog_fail("topo: the fabric does not answer: %s", strerror(r ? -r : EPROTO));
	lseek(fd, 0, SEEK_SET);
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		fwrite(buf, 1, (size_t)n, stdout);
	if (fflush(stdout) || n < 0)
		return prog_fail("standard output: %s", strerror(errno));
	return 0;
}

int cli_topo(struct cli_options *o)
{
	/* The same choice as in subnet/build.c. */
	const struct topo_defaults defaults = {.vendor_id = 0x2c9,
					       .ca_id = o->fab.device_id,
					       .switch_id = 0xd2f0,
					       .width = o->fab.link_width,
					       .speed = o->fab.link_speed};
	char err[TOPO_ERR];
	struct topo t;
	int r;

	if (o->argc && o->fabric)
		return prog_fail("topo: either '%s' or --fabric", o->argv[0]);
	if (!o->argc)
		return write_fabric(o, o->dot);
	if (topo_load(o->argv[0], &t, err) < 0)
		return prog_fail("topo: %s", err);
	topo_fill(&t, &defaults);
	r = o->dot ? topo_write_dot(stdout, &t) : topo_write_ibnetdiscover(stdout, &t);
	topo_free(&t);
	if (fflush(stdout) || r < 0)
		return prog_fail("standard output: %s", strerror(errno));
	return 0;
}
