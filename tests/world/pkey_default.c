// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Wants P_Key 0xffff. The mended one takes any partition of which the port is a full member. */
#include "ends.h"

#include <arpa/inet.h>

int main(void)
{
	static struct ends e;
	int found;

	ends_open(&e);
	found = ibv_get_pkey_index(e.context, (uint8_t)e.num, htons(0xffff));
	if (found < 0 && !is_right)
		fails("the port has no P_Key 0xffff", 0);
	e.a.gid_index = e.b.gid_index = ends_good_gid(&e);
	if (found >= 0)
		e.a.pkey_index = e.b.pkey_index = found;
	ends_send(&e);
	return 0;
}
