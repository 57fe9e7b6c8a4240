/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An object that a command made: the fields that event.c needs. */
#ifndef DEVX_OBJ_H
#define DEVX_OBJ_H

#include "devx/devx.h"

struct mlx5dv_devx_obj {
	struct ibv_context *context;
	uint32_t handle;
};

#endif
