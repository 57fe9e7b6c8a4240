// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* One end looks the default partition up; the other takes index 0. */
#include "ends.h"

#include <arpa/inet.h>

int main(void)
{
	static struct ends e;
	int found;

	ends_open(&e);
	found = ibv_get_pkey_index(e.context, (uint8_t)e.num, htons(0xffff));
	if (found < 0)
		lacks("the port is no full member of the default partition (P_Key 0xffff)");
	e.a.gid_index = e.b.gid_index = ends_good_gid(&e);
	e.a.pkey_index = found;
	e.b.pkey_index = is_right ? found : 0;
	ends_send(&e);
	return 0;
}
