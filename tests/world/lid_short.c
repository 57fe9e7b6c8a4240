// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Keeps LIDs in 16 bits with a sign, as if 0x8000 and more were none. */
#include "ends.h"

#include <stdio.h>

int main(void)
{
	static struct ends e;

	ends_open(&e);
	if (e.port.link_layer == IBV_LINK_LAYER_INFINIBAND) {
		int lid = is_right ? e.port.lid : (int16_t)e.port.lid;

		printf("LID %d\n", lid);
		if (lid <= 0)
			fails("the port has no LID", 0);
	}
	e.a.gid_index = e.b.gid_index = ends_good_gid(&e);
	ends_send(&e);
	return 0;
}
