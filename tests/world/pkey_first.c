// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Both ends take index 0, whatever is there. The mended one takes the first full membership. */
#include "ends.h"

int main(void)
{
	static struct ends e;

	ends_open(&e);
	e.a.gid_index = e.b.gid_index = ends_good_gid(&e);
	if (!is_right)
		e.a.pkey_index = e.b.pkey_index = 0;
	ends_send(&e);
	return 0;
}
