// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Spreads connections over all adapters: each one sends to the next one, as if all had a path. */
#include "ends.h"

int main(void)
{
	int n;
	struct ends *all = ends_open_all(&n);

	for (int i = 0; i < n; i++) {
		struct ends *to = is_right ? &all[i] : &all[(i + 1) % n];

		all[i].b.gid_index = ends_good_gid(&all[i]);
		to->a.gid_index = ends_good_gid(to);
		ends_send_to(&all[i], to);
	}
	return 0;
}
