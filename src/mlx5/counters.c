/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counters objects: empty, as nothing can be bound to them. Called by uverbs through the ops table.
 */
#include "mlx5/priv.h"

int mlx5_create_counters(struct uv_counters *c)
{
	return 0;
}

int mlx5_destroy_counters(struct uv_counters *c)
{
	return 0;
}
