/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Exported for tests alone: the code of the layers does not call these. */
#ifndef SOFTHCA_MLX5_FOR_TESTS_H
#define SOFTHCA_MLX5_FOR_TESTS_H

#include "mlx5/devx_table.h"
#include "mlx5/priv.h"

/* May a program subscribe to this event? */
bool mlx5_devx_event_ok(const struct hw_caps *c, uint16_t event, bool of_object);
/* The key that evsub_raise() uses for this event of that object: event number and object type. */
uint32_t mlx5_devx_event_key(uint64_t object, uint16_t event);
extern const struct devx_cmd devx_cmds[];
extern const unsigned int devx_cmds_count;

#endif
