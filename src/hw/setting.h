/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The settings of a fabric's worlds, as they lie in the segment; hw/world.h explains them. */
#ifndef SOFTHCA_HW_SETTING_H
#define SOFTHCA_HW_SETTING_H

#include <stdint.h>

/* Each has a row in src/world/settings.c, with its name and its values. */
enum hw_setting {
	HW_SET_NONE,
	HW_SET_GID_TYPES, /* enum hw_gid_types */
	HW_SET_PKEYS,     /* enum hw_pkeys_like */
	HW_SETTINGS
};

#define HW_WORLDS 16 /* of one fabric */

struct hw_world {
	uint32_t n;
	uint32_t row[HW_WORLDS]; /* world_row() */
	uint32_t value[HW_SETTINGS];
};

#endif
