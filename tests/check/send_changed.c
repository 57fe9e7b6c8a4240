// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Uses the buffer of a SEND again before its completion. */
#include "../world/ends.h"

#include <string.h>

int main(void)
{
	static struct ends e;

	ends_open(&e);
	e.a.gid_index = e.b.gid_index = ends_good_gid(&e);
	ends_connect(&e);
	ends_post(&e);
	if (is_right)
		ends_wait(&e.b, "send");
	memset(e.buf + sizeof(e.buf) / 2, 'x', 8);
	if (!is_right)
		ends_wait(&e.b, "send");
	return 0;
}
