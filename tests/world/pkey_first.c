// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Both ends take index 0, whatever is there. */
#include "ends.h"

#include <arpa/inet.h>

int main(void)
{
	static struct ends e;
	int i = 0;
	__be16 pkey;

	ends_open(&e);
	while (is_right &&
	       (ibv_query_pkey(e.context, (uint8_t)e.num, i, &pkey) || !(ntohs(pkey) & 0x8000)))
		if (++i == e.port.pkey_tbl_len)
			lacks("the port is a limited member of all its partitions");
	e.a.gid_index = e.b.gid_index = ends_good_gid(&e);
	e.a.pkey_index = e.b.pkey_index = i;
	ends_send(&e);
	return 0;
}
