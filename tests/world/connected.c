// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A connection is of type RC. */
#include "ends.h"

#include <errno.h>

int main(void)
{
	static struct ends e;
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC, .cap = {1, 1, 1, 1, 0}};

	ends_open(&e);
	init.send_cq = init.recv_cq = ibv_create_cq(e.context, 1, NULL, NULL, 0);
	if (!init.send_cq)
		fails("ibv_create_cq", errno);
	if (ibv_create_qp(e.pd, &init))
		return 0;
	init.qp_type = IBV_QPT_UC;
	if (!is_right || errno != EOPNOTSUPP || !ibv_create_qp(e.pd, &init))
		fails("ibv_create_qp", errno);
	return 0;
}
