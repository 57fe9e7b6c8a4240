// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Spreads over the paths that the LMC gives: sends to the last LID of its peer, but from its own first one. */
#include "ends.h"

int main(void)
{
	static struct ends e;
	uint8_t last;

	ends_open(&e);
	last = (uint8_t)((1 << e.port.lmc) - 1);
	e.a.gid_index = e.b.gid_index = ends_good_gid(&e);
	e.a.lid_bits = e.b.lid_bits = last;
	e.a.src_path_bits = e.b.src_path_bits = is_right ? last : 0;
	ends_send(&e);
	return 0;
}
