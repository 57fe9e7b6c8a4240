// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Forgets a completion queue. */
#include "two.h"

int main(void)
{
	begin();
	struct ibv_cq *cq = ibv_create_cq(e.context, 8, NULL, NULL, 0);

	if (is_right)
		ibv_destroy_cq(cq);
	return end();
}
