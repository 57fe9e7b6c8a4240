// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* x */
#include "ucma.h"
#include "states.h"

const struct row event_rows[] = {
	{"x", "", 0, NOTHING,
	 "create A\n"},
};
ROWS_END(event);
