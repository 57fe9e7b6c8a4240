// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Knows its peer by the LID that a completion has; the peer sends from its last LID. */
#include "ends.h"

#include <errno.h>

int main(void)
{
	static struct ends e;
	struct ibv_wc wc;
	int n, last;

	ends_open(&e);
	last = (1 << e.port.lmc) - 1;
	e.a.gid_index = e.b.gid_index = ends_good_gid(&e);
	e.a.lid_bits = e.b.src_path_bits = (uint8_t)last;
	ends_connect(&e);
	ends_post(&e);
	while (!(n = ibv_poll_cq(e.a.cq, 1, &wc)))
		;
	if (n < 0 || wc.status)
		fails("receive", 0);
	if (e.port.link_layer != IBV_LINK_LAYER_INFINIBAND)
		return 0;
	if (is_right ? (wc.slid | last) != (e.port.lid | last) : wc.slid != e.port.lid)
		fails("a message from an unknown LID", 0);
	return 0;
}
