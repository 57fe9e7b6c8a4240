/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The names of values in every layout: commands, MADs, WQEs, CQEs and EQEs. */
#ifndef SOFTHCA_WIRE_NAMES_H
#define SOFTHCA_WIRE_NAMES_H

#include "wire/layout.h"

/* The name of a value of the field at this bit ("ACTIVE" for port_info.port_state); or NULL. */
const char *wire_value_name(const struct layout *l, uint32_t bit, uint64_t v);

#endif
