// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A server that gives up root before it opens the adapter. */
#include "ends.h"

#include <errno.h>
#include <unistd.h>

#define NOBODY 65534

int main(void)
{
	static struct ends e;

	if (geteuid() == 0 && setuid(NOBODY))
		fails("setuid", errno);
	ends_open(&e);
	return 0;
}
