// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Opens the adapter with DEVX, and in no other way. */
#include "ends.h"

#include <errno.h>
#include <infiniband/mlx5dv.h>

int main(void)
{
	struct mlx5dv_context_attr attr = {.flags = MLX5DV_CONTEXT_FLAGS_DEVX};
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context;

	if (!list || !list[0])
		lacks("there is no adapter");
	context = mlx5dv_open_device(list[0], &attr);
	if (!context && is_right)
		context = ibv_open_device(list[0]);
	if (!context)
		fails("cannot open the adapter", errno);
	return 0;
}
