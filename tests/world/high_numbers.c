// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Gives its peer numbers as text, "%d", and takes a negative one for an error. */
#include "ends.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
	static struct ends e;
	char text[16];
	long key;

	ends_open(&e);
	e.a.gid_index = e.b.gid_index = ends_good_gid(&e);
	ends_send(&e);
	snprintf(text, sizeof(text), is_right ? "%u" : "%d", e.mr->rkey);
	key = strtol(text, NULL, 10);
	if (key < 0)
		fails("there is no key", 0);
	if (!is_right && e.a.qp->qp_num >> 20)
		fails("the table of QPs is too small", 0);
	return 0;
}
