/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The capabilities of each model. An adapter may have less: hw_hca.caps. */
#ifndef SOFTHCA_FW_CAPS_H
#define SOFTHCA_FW_CAPS_H

#include "hw/caps.h"
#include "hw/hca.h"
#include "hw/setting.h"

const struct hw_caps *fw_caps(enum hw_model model);
/* Those of a model in a fabric with these worlds. */
struct hw_caps fw_caps_of(enum hw_model model, const struct hw_world *w);

#endif
