// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* One end looks for its GID; the other takes the last entry of RoCE v2, "the newest one". */
#include "ends.h"

static int last_gid(struct ends *e)
{
	struct ibv_gid_entry entry;
	int last = -1;

	for (int i = 0; i < e->port.gid_tbl_len; i++)
		if (!ibv_query_gid_ex(e->context, (uint32_t)e->num, (uint32_t)i, &entry, 0) &&
		    entry.gid_type == IBV_GID_TYPE_ROCE_V2)
			last = i;
	return last;
}

int main(void)
{
	static struct ends e;

	ends_open(&e);
	e.a.gid_index = ends_good_gid(&e);
	e.b.gid_index = is_right ? ends_good_gid(&e) : last_gid(&e);
	ends_send(&e);
	return 0;
}
