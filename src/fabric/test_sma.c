/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "fabric/test_net.h"
int main(void)
{
	return 0;
}
