// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Polls after each message, so it thinks that a CQ of two entries is enough. */
#include "ends.h"

#include <unistd.h>

#define N 64
#define LIMIT_MS 2000 /* instead of hanging */

static int poll_once(struct end *t)
{
	struct ibv_wc wc;
	int n = ibv_poll_cq(t->cq, 1, &wc);

	if (n < 0 || (n && wc.status))
		fails("completion with error", 0);
	return n;
}

int main(void)
{
	static struct ends e;
	int have = 0;

	ends_open(&e);
	e.a.gid_index = e.b.gid_index = ends_good_gid(&e);
	e.count = N;
	e.cqe = is_right ? N : 2;
	ends_connect(&e);
	e.count = 1;
	for (int i = 0; i < N; i++) {
		ends_post(&e);
		have += poll_once(&e.a) + poll_once(&e.b);
	}
	for (int ms = 0; have < 2 * N; ms++) {
		int n = poll_once(&e.a) + poll_once(&e.b);

		have += n;
		if (!is_right && ms == LIMIT_MS)
			fails("completions are missing", 0);
		if (!n)
			usleep(1000);
	}
	return 0;
}
