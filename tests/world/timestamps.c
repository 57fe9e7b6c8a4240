// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Wants to know when its messages came, in nanoseconds. */
#include "ends.h"

int main(void)
{
	static struct ibv_device_attr_ex a;
	static struct ends e;

	ends_open(&e);
	if (ibv_query_device_ex(e.context, NULL, &a))
		fails("ibv_query_device_ex", 0);
	if (a.hca_core_clock)
		return 0;
	if (is_right)
		lacks("the kernel, or the adapter, does not tell the frequency of timestamps");
	fails("division by zero", 0);
}
