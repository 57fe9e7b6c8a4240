// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* More READs than the peer keeps answers for. */
#include "two.h"

int main(void)
{
	prepare();
	b_side.rts.max_rd_atomic = 8;
	a_side.rtr.max_dest_rd_atomic = is_right ? 8 : 2;
	connect_ends();
	to_rts(&a_side);
	to_rts(&b_side); /* HERE */
	return end();
}
