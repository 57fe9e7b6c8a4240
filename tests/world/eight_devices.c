// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Has a table of eight devices. */
#include "ends.h"

#include <errno.h>
#include <stdlib.h>

#define MOST 8

int main(void)
{
	int n, most;
	struct ibv_device **list = ibv_get_device_list(&n);
	struct ibv_context **table;

	if (!list || !n)
		lacks("there is no adapter");
	most = is_right ? n : MOST;
	table = calloc((size_t)most, sizeof(struct ibv_context *));
	for (int i = 0; i < n; i++) {
		if (i == most)
			fails("the table of devices is full", 0);
		table[i] = ibv_open_device(list[i]);
		if (!table[i])
			fails("ibv_open_device", errno);
	}
	return 0;
}
