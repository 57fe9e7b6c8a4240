// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Takes the greatest MTU that the port can have, from one of its ports to another if it has two. */
#include "ends.h"

int main(void)
{
	static struct ends e;

	ends_open(&e);
	e.a.num = e.last;
	e.mtu = is_right ? e.port.active_mtu : e.port.max_mtu;
	e.length = 4096;
	e.a.gid_index = e.b.gid_index = ends_good_gid(&e);
	ends_send(&e);
	return 0;
}
