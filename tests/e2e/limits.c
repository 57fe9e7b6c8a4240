/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * As many PDs as max_pd says, and no more: then ALLOC_PD gives EXCEED_LIM, which
 * cmd_status_to_err() of mlx5_core's cmd.c turns into ENOMEM. src/fw/test_limits.c has the other
 * limits, for which a program needs gigabytes.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <infiniband/verbs.h>

#include "must.h"

int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = list && list[0] ? ibv_open_device(list[0]) : NULL;
	struct ibv_device_attr attr;
	struct ibv_pd **pd;
	int n = 0;

	need(ctx && !ibv_query_device(ctx, &attr), "opening the first device");
	ibv_free_device_list(list);
	pd = calloc((size_t)attr.max_pd + 1, sizeof(struct ibv_pd *));
	need(!!pd, "memory");
	while (n <= attr.max_pd && (pd[n] = ibv_alloc_pd(ctx)))
		n++;
	if (n != attr.max_pd || errno != ENOMEM) {
		fprintf(stderr, "limits: %d PDs, not %d: %s\n", n, attr.max_pd, strerror(errno));
		return 1;
	}
	need(!ibv_dealloc_pd(pd[7]), "ibv_dealloc_pd");
	pd[7] = ibv_alloc_pd(ctx);
	need(!!pd[7], "one more, in the place of another");
	need(!ibv_alloc_pd(ctx) && errno == ENOMEM, "none more");
	while (n)
		need(!ibv_dealloc_pd(pd[--n]), "ibv_dealloc_pd");
	need(!ibv_close_device(ctx), "ibv_close_device");
	free(pd);
	return 0;
}
