// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Sends eight messages, and when the first has come all must be there. */
#include "ends.h"

#define N 8

int main(void)
{
	static struct ends e;
	struct ibv_wc wc[N];
	int n, have = 0;

	ends_open(&e);
	e.a.gid_index = e.b.gid_index = ends_good_gid(&e);
	e.count = N;
	ends_connect(&e);
	ends_post(&e);
	do {
		while (!(n = ibv_poll_cq(e.a.cq, N, wc)))
			;
		have += n;
	} while (is_right && n > 0 && have < N);
	if (have != N)
		fails("messages are lost", 0);
	return 0;
}
