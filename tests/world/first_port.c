// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Device 0, port 1. */
#include "ends.h"

int main(void)
{
	static struct ends e;
	struct ibv_device **list = ibv_get_device_list(NULL);

	if (!list || !list[0])
		lacks("there is no adapter");
	if (is_right)
		ends_open(&e);
	else
		ends_take(&e, list[0], 1);
	e.a.gid_index = e.b.gid_index = ends_good_gid(&e);
	ends_send(&e);
	return 0;
}
