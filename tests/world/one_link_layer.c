// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Addresses all adapters as the first one: with LIDs only, or with a GID index. */
#include "ends.h"

int main(void)
{
	int n, gid_index;
	struct ends *all = ends_open_all(&n);

	gid_index = ends_good_gid(&all[0]);
	for (int i = 0; i < n; i++) {
		if (is_right)
			gid_index = ends_good_gid(&all[i]);
		all[i].a.gid_index = all[i].b.gid_index = gid_index;
		ends_send(&all[i]);
	}
	return 0;
}
