// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* GID index 0, between the first and the last port. */
#include "ends.h"

int main(void)
{
	static struct ends e;

	ends_open(&e);
	e.b.num = e.last;
	e.a.gid_index = e.b.gid_index = is_right ? ends_good_gid(&e) : 0;
	ends_send(&e);
	return 0;
}
