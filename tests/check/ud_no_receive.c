// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A datagram for which no receive is posted. */
#include "two.h"

int main(void)
{
	begin_datagrams();
	if (is_right)
		receive(e.buf, 40 + 64, e.mr->lkey);
	post_datagram(e.buf + 128, 8, QKEY); /* HERE */
	done(&e.b);
	return end();
}
