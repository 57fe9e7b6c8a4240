// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A time-out of 40 minutes, eight times. */
#include "two.h"

int main(void)
{
	prepare();
	b_side.rts.timeout = is_right ? 18 : 29;
	b_side.rts.retry_cnt = 7;
	connect_ends();
	to_rts(&a_side);
	to_rts(&b_side); /* HERE */
	return end();
}
