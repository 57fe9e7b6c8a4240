/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns the names of settings and of their values. */
#include "world/world.h"

#include <stdio.h>
#include "hw/world.h"

#define VALUES 5

static const struct {
	const char *name;
	const char *value[VALUES]; /* none: it is a number */
} settings[HW_SETTINGS] = {
	[HW_SET_GID_TYPES] = {"gid-types", {"RoCE v1, then v2", "RoCE v2", "RoCE v2, then v1"}},
	[HW_SET_PKEYS] = {"pkeys", {"0xffff", "0x8001, 0xffff", "0x7fff, 0x8001", "none, 0x8001"}},
};

const char *world_setting(enum hw_setting what)
{
	return settings[what].name;
}

const char *world_value(enum hw_setting what, uint32_t value)
{
	return value < VALUES ? settings[what].value[value] : NULL;
}
