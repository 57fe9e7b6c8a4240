/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Takes the place of decode.c where Zydis was missing at build time: no instruction is known, and
 * doorbells are polled (uar_poll_mode()).
 */
#include "shim/doorbell/fault.h"

#include <errno.h>

int trap_decode_init(void)
{
	return -ELIBACC;
}

int trap_decode(const uint8_t *code, size_t len, struct trap_op *op)
{
	return -EINVAL;
}
