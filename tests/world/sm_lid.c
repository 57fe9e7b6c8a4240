// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Asks the SA for a path; the manager must be on this host, so it asks its own port's LID. */
#include "ends.h"

#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/umad.h>
#include <stdlib.h>
#include <string.h>

#define MAD 256
#define SA_CLASS 3
#define GET 1
#define CLASS_PORT_INFO 1

/* The SA's partition: 0xffff, or a limited membership, 0x7fff. */
static int default_pkey(struct ends *e)
{
	__be16 pkey;

	for (int i = 0; i < e->port.pkey_tbl_len; i++)
		if (!ibv_query_pkey(e->context, (uint8_t)e->num, i, &pkey) &&
		    (ntohs(pkey) & 0x7fff) == 0x7fff)
			return i;
	lacks("the port is not in the partition of the SA");
}

static void add_grh(struct ends *e, void *buf)
{
	struct ib_mad_addr grh = {.grh_present = 1, .hop_limit = 64};
	static const uint8_t sa[8] = {2, 0, 0, 0, 0, 0, 0, 2}; /* its well-known GUID */
	union ibv_gid own;

	if (ibv_query_gid(e->context, (uint8_t)e->num, 0, &own))
		fails("ibv_query_gid", errno);
	memcpy(grh.gid, own.raw, 8);
	memcpy(grh.gid + 8, sa, 8);
	umad_set_grh(buf, &grh);
}

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
	umad_set_pkey(buf, default_pkey(&e));
	if (e.port.flags & IBV_QPF_GRH_REQUIRED)
		add_grh(&e, buf);
	if (umad_send(fd, agent, buf, MAD, is_right ? 5000 : 100, 0) ||
	    umad_recv(fd, buf, &length, -1) < 0)
		fails("umad_send", 0);
	if (umad_status(buf))
		fails("no answer from the SA", umad_status(buf));
	if (mad[4] || mad[5])
		fails("whoever has answered is not the SA", 0);
	return 0;
}
