/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Owns the tables of the MAD layouts. */
#include "wire/mad/mad.h"
#include "wire/for_tests.h"

#include <stddef.h>

#define TABLE(l, list) LAYOUT_TABLE(l, list)
MAD_LAYOUTS(TABLE)
#define NEST_TABLE(l, list) LAYOUT_NEST_TABLE(l, list)
MAD_NEST_LAYOUTS(NEST_TABLE)

#define ENTRY(l, list) &layout_##l,
const struct layout *const mad_layouts[] = {MAD_LAYOUTS(ENTRY) MAD_NEST_LAYOUTS(ENTRY) NULL};
