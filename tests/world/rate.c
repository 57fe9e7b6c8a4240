// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Computes how long a transfer takes; the tables have the widths and speeds that the author has
 * seen. */
#include "ends.h"

#include <stdio.h>

static unsigned int lanes(uint8_t width)
{
	static const unsigned int usual[] = {[2] = 4, [4] = 8};
	static const unsigned int all[] = {[1] = 1, [2] = 4, [4] = 8, [8] = 12, [16] = 2};

	if (is_right)
		return width < sizeof(all) / sizeof(*all) ? all[width] : 0;
	return width < sizeof(usual) / sizeof(*usual) ? usual[width] : 0;
}

/* In Mb/s a lane. */
static unsigned int speed(uint8_t code)
{
	switch (code) {
	case 32:
		return 25000;
	case 64:
		return 50000;
	case 128:
		return 100000;
	case 1:
		return is_right ? 2500 : 0;
	case 2:
		return is_right ? 5000 : 0;
	case 4:
	case 8:
		return is_right ? 10000 : 0;
	case 16:
		return is_right ? 14000 : 0;
	default:
		return 0;
	}
}

int main(void)
{
	static struct ends e;
	unsigned int rate;

	ends_open(&e);
	rate = lanes(e.port.active_width) * speed(e.port.active_speed);
	if (!rate)
		fails("the link has rate 0", 0);
	printf("1 GB takes %u us\n", 8000u * 1000 * 1000 / rate);
	return 0;
}
