/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Exported for tests alone: the code of the layers does not call these. */
#ifndef SOFTHCA_FW_FOR_TESTS_H
#define SOFTHCA_FW_FOR_TESTS_H

#include "fw/priv.h"

/* The rows of FW_COMMANDS. */
extern const struct fw_cmd fw_cmds[];
extern const unsigned int fw_ncmds;

#endif
