// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The device called mlx5_0; with an argument, the first of the list, as if that were mlx5_0. */
#include "ends.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_device *d = NULL;

	(void)argv;
	for (int i = 0; list && list[i] && !d; i++)
		if (is_right || argc > 1 || !strcmp(ibv_get_device_name(list[i]), "mlx5_0"))
			d = list[i];
	if (is_right && !d)
		lacks("there is no adapter");
	if (!d || (!is_right && strcmp(ibv_get_device_name(d), "mlx5_0") != 0))
		fails("device mlx5_0 is not there", 0);
	printf("%s\n", ibv_get_device_name(d));
	return 0;
}
