/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The mlx5 driver: verbs objects become PRM commands for fw_exec(); DEVX objects, umems and UARs
 * pass through the same table. Exports one ops table to uverbs. It changes hardware state only by
 * commands; it reads from the segment what a driver knows of its card: ports, EQ numbers.
 */
#ifndef SOFTHCA_MLX5_MLX5_H
#define SOFTHCA_MLX5_MLX5_H

#include "uverbs/driver.h"

struct hw_caps;

/* Everything that the driver can do. */
extern const struct uv_driver mlx5_driver;
/* The same for adapters with these capabilities: without the operations and objects that need more.
 */
struct uv_driver mlx5_driver_of(const struct hw_caps *c);

#endif
