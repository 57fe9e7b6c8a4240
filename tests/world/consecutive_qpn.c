// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tells its peer the number of its first QP only: the second one has the next number. */
#include "ends.h"

int main(void)
{
	static struct ends e;

	ends_open(&e);
	e.a.gid_index = e.b.gid_index = ends_good_gid(&e);
	ends_connect(&e);
	if (!is_right && e.b.qp->qp_num != e.a.qp->qp_num + 1)
		fails("the second QP has another number", 0);
	ends_post(&e);
	ends_wait(&e.b, "send");
	ends_wait(&e.a, "receive");
	return 0;
}
