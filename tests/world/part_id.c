// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Knows an adapter by its part: 4123, ConnectX-6. */
#include "ends.h"

#include <infiniband/mlx5dv.h>

#define MELLANOX 0x02c9
#define CONNECTX_6 4123

int main(void)
{
	static struct ends e;

	ends_open(&e);
	if (is_right && !mlx5dv_is_supported(e.context->device))
		lacks("no adapter of mlx5");
	if (!is_right && (e.device.vendor_id != MELLANOX || e.device.vendor_part_id != CONNECTX_6))
		fails("no adapter that it knows", 0);
	e.a.gid_index = e.b.gid_index = ends_good_gid(&e);
	ends_send(&e);
	return 0;
}
