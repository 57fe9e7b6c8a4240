// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* One end looks for its GID; the other takes index 3, as "the IPv4 address with RoCE v2". */
#include "ends.h"

int main(void)
{
	static struct ends e;

	ends_open(&e);
	e.a.gid_index = ends_good_gid(&e);
	e.b.gid_index = is_right ? ends_good_gid(&e) : 3;
	ends_send(&e);
	return 0;
}
