/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Exported for tests alone: the code of the layers does not call these. */
#ifndef SOFTHCA_TOPO_FOR_TESTS_H
#define SOFTHCA_TOPO_FOR_TESTS_H

#include "topo/topo.h"

/* Loads a file's content; `name` is for messages. It cannot include others. 0; -EINVAL, -ENOMEM. */
int topo_parse(const char *name, const char *text, size_t len, struct topo *t, char err[TOPO_ERR]);

#endif
