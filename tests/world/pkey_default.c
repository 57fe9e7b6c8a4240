// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Wants P_Key 0xffff. The mended one takes any partition of which the port is a full member. */
#include "ends.h"

#include <arpa/inet.h>

int main(void)
{
	static struct ends e;
	int found;
	__be16 pkey;

	ends_open(&e);
	found = ibv_get_pkey_index(e.context, (uint8_t)e.num, htons(0xffff));
	for (int i = 0; is_right && found < 0 && i < e.port.pkey_tbl_len; i++)
		if (!ibv_query_pkey(e.context, (uint8_t)e.num, i, &pkey) && ntohs(pkey) & 0x8000)
			found = i;
	if (found < 0)
		fails("the port has no P_Key 0xffff", 0);
	e.a.gid_index = e.b.gid_index = ends_good_gid(&e);
	e.a.pkey_index = e.b.pkey_index = found;
	ends_send(&e);
	return 0;
}
