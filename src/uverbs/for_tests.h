/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Exported for tests alone: the code of the layers does not call these. */
#ifndef SOFTHCA_UVERBS_FOR_TESTS_H
#define SOFTHCA_UVERBS_FOR_TESTS_H

#include "uverbs/priv.h"

/*
 * The row of a command; NULL and *err: -EINVAL, -EOPNOTSUPP. `command` as in a header, with flag
 * bits.
 */
const struct uv_cmd *uv_cmd_find(const struct uv_file *f, uint32_t command, int *err);

#endif
