// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A connection without a time-out. */
#include "two.h"

int main(void)
{
	prepare();
	b_side.rts.timeout = is_right ? 14 : 0;
	connect_ends();
	to_rts(&a_side);
	to_rts(&b_side); /* HERE */
	return end();
}
