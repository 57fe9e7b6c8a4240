// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Uses the buffer of a SEND again before its completion. */
#include "two.h"

int main(void)
{
	begin();
	receive(e.buf, 64, e.mr->lkey);
	post(IBV_WR_SEND, e.buf + 64, 8, e.mr->lkey, NULL, 0); /* HERE */
	if (is_right)
		done(&e.b);
	memset(e.buf + 64, 'x', 8);
	if (!is_right)
		done(&e.b);
	return end();
}
