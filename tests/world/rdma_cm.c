// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Connects by rdma_cm. */
#include "ends.h"

#include <errno.h>
#include <rdma/rdma_cma.h>

int main(void)
{
	static struct ends e;

	ends_open(&e);
	if (rdma_create_event_channel())
		return 0;
	if (is_right && (errno == ENOENT || errno == ENODEV))
		lacks("there is no /dev/infiniband/rdma_cm: load rdma_ucm, or give it to the "
		      "container");
	fails("rdma_create_event_channel", errno);
}
