// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* One end looks for its GID; the other takes the first ::ffff:a.b.c.d, up to the first entry that
 * is free. */
#include "ends.h"

#include <string.h>

static int ipv4_gid(struct ends *e)
{
	static const union ibv_gid none;
	static const char prefix[12] = {[10] = (char)0xff, [11] = (char)0xff};
	struct ibv_gid_entry entry;
	union ibv_gid gid;

	for (int i = 0; i < e->port.gid_tbl_len; i++) {
		if (ibv_query_gid(e->context, (uint8_t)e->num, i, &gid) ||
		    !memcmp(&gid, &none, sizeof(gid)))
			break;
		if (!memcmp(&gid, prefix, sizeof(prefix)) &&
		    !ibv_query_gid_ex(e->context, (uint32_t)e->num, (uint32_t)i, &entry, 0) &&
		    entry.gid_type == IBV_GID_TYPE_ROCE_V2)
			return i;
	}
	fails("the port has no IPv4 address", 0);
}

int main(void)
{
	static struct ends e;

	ends_open(&e);
	e.a.gid_index = ends_good_gid(&e);
	e.b.gid_index = is_right ? ends_good_gid(&e) : ipv4_gid(&e);
	ends_send(&e);
	return 0;
}
