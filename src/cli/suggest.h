/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The guess at a misspelt name, which topology files need, too. */
#include "util/suggest.h"
