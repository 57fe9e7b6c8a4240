// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Loopback is quick: after the post it polls once. */
#include "ends.h"

int main(void)
{
	static struct ends e;
	struct ibv_wc wc;

	ends_open(&e);
	e.a.gid_index = e.b.gid_index = ends_good_gid(&e);
	ends_connect(&e);
	ends_post(&e);
	if (is_right) {
		ends_wait(&e.b, "send");
		ends_wait(&e.a, "receive");
	} else if (ibv_poll_cq(e.a.cq, 1, &wc) != 1)
		fails("the message is not there", 0);
	return 0;
}
