// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* One end takes an entry of RoCE v1, the other one of v2. */
#include "two.h"

int main(void)
{
	struct ibv_gid_entry entry;

	prepare();
	for (uint32_t i = 0; !is_right && i < (uint32_t)e.port.gid_tbl_len; i++)
		if (!ibv_query_gid_ex(e.context, (uint32_t)e.num, i, &entry, 0) &&
		    entry.gid_type == IBV_GID_TYPE_ROCE_V1)
			e.b.gid_index = (int)i;
	begin();
	post(IBV_WR_RDMA_WRITE, e.buf, 8, e.mr->lkey, e.buf + 64, e.mr->rkey); /* HERE */
	done(&e.b);
	return end();
}
