// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Asks the SA for a path; the manager must be on this host, so it asks its own port's LID. */
#include "ends.h"

#include <infiniband/umad.h>
#include <stdlib.h>

#define MAD 256
#define SA_CLASS 3
#define GET 1
#define CLASS_PORT_INFO 1

int main(void)
{
	static struct ends e;
	uint8_t *buf, *mad;
	int fd, agent, length = MAD;

	ends_open(&e);
	if (e.port.link_layer != IBV_LINK_LAYER_INFINIBAND)
		lacks("no InfiniBand, so no SA");
	fd = umad_open_port(e.context->device->name, e.num);
	if (fd < 0)
		fails("umad_open_port", -fd);
	agent = umad_register(fd, SA_CLASS, 2, 0, NULL);
	if (agent < 0)
		fails("umad_register", -agent);
	buf = calloc(1, umad_size() + MAD); /* the layout is known now */
	mad = umad_get_mad(buf);
	mad[0] = 1; /* base version, class, class version, method, attribute at 16 */
	mad[1] = SA_CLASS;
	mad[2] = 2;
	mad[3] = GET;
	mad[17] = CLASS_PORT_INFO;
	umad_set_addr(buf, is_right ? e.port.sm_lid : e.port.lid, 1, is_right ? e.port.sm_sl : 0,
		      0x80010000);
	if (umad_send(fd, agent, buf, MAD, 100, 0) || umad_recv(fd, buf, &length, -1) < 0)
		fails("umad_send", 0);
	if (umad_status(buf))
		fails("no answer from the SA", umad_status(buf));
	return 0;
}
