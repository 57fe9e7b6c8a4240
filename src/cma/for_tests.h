/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Exported for tests alone: the code of the layers does not call these. */
#ifndef SOFTHCA_CMA_FOR_TESTS_H
#define SOFTHCA_CMA_FOR_TESTS_H

#include "cma/id.h"

/* The first address of a port. */
void cma_addr_of_port(struct seg *s, uint32_t port, union cma_addr *a);
enum cma_state cma_id_state(const struct cma_id *id);

#endif
